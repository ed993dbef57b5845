/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_look_up_errors - what heals is not reported, what stands is reported once until it changes
 */
#include "agent/parts.h"
#include "fake_events.h"
#include "tests/unit/state/fake_objects.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOMENT_USEC = 1100000 }; /* a little more than an error has to stand */

static struct fake_pod pod;
static const struct object *stored_pod;
static uint64_t skipped_usec;

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
bool __wrap_cluster_is_behind(const struct cluster *cluster);

static bool is_behind;

bool __wrap_cluster_is_behind(const struct cluster *cluster)
{
	return is_behind;
}

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name)
{
	return stored_pod;
}

/* When the timer was last set to fire, from now. */
int __real_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec)
{
	skipped_usec = usec - monotonic_usec();
	return __real_sd_event_source_set_time(source, usec);
}

static int setup(void **state)
{
	struct agent *agent = calloc(1, sizeof(*agent));

	assert_non_null(agent);
	fake_pod_init(&pod, "web", "uid-1");
	stored_pod = &pod.object;
	assert_return_code(sd_event_new(&agent->event), errno);
	assert_int_equal(dirty_set_new(NULL, NULL, &agent->dirty), 0);
	assert_int_equal(desired_new(agent->dirty, &agent->desired), 0);
	fake_events.count = 0;
	skipped_usec = 0;
	agent_fill_options(agent);
	assert_int_equal(look_up_errors_new(&agent->reporter, &agent->look_up_errors), 0);
	*state = agent;
	return 0;
}

static int teardown(void **state)
{
	struct agent *agent = *state;

	look_up_errors_free(agent->look_up_errors);
	desired_free(agent->desired);
	dirty_set_free(agent->dirty);
	sd_event_unref(agent->event);
	free(agent);
	return 0;
}

static void fail_look_up(struct agent *agent, const char *text)
{
	desired_clear_errors(agent->desired, "uid-1");
	if (text)
		assert_int_equal(desired_add_error(agent->desired, "uid-1", "data", -ENOENT, text),
				 0);
	look_up_errors_note(agent->look_up_errors, &pod.object);
}

static void let_stand(struct agent *agent)
{
	uint64_t end = monotonic_usec() + MOMENT_USEC, now;

	while ((now = monotonic_usec()) < end)
		assert_return_code(sd_event_run(agent->event, end - now), errno);
}

static void test_what_stands_is_told_once(void **state)
{
	struct agent *agent = *state;

	fail_look_up(agent, "PVC is not bound");
	fail_look_up(agent, "PVC is not bound");
	assert_int_equal(fake_events.count, 0);
	assert_in_range(skipped_usec, 1, 1000000);
	let_stand(agent);
	assert_int_equal(fake_events.count, 1);
	fail_look_up(agent, "PVC is not bound");
	let_stand(agent);
	assert_int_equal(fake_events.count, 1);
	fail_look_up(agent, "PVC is being deleted");
	let_stand(agent);
	assert_int_equal(fake_events.count, 2);
}

/* case 464: a volume that is being made is no failure of the pod's; the attempt that fails is. */
static void test_case_464_provisioning_is_not_told(void **state)
{
	struct agent *agent = *state;

	assert_int_equal(desired_add_error(agent->desired, "uid-1", "data", -EINPROGRESS,
					   "PVC is not bound: Waiting for a volume to be created"),
			 0);
	look_up_errors_note(agent->look_up_errors, &pod.object);
	assert_int_equal(skipped_usec, 0); /* nothing is queued */
	fail_look_up(agent, "PVC is not bound: no space left");
	let_stand(agent);
	assert_int_equal(fake_events.count, 1);
}

/* Thousands of requests may be before that of its claim. */
static void test_nothing_is_told_while_requests_wait(void **state)
{
	struct agent *agent = *state;

	is_behind = true;
	fail_look_up(agent, "PVC not found");
	let_stand(agent);
	assert_int_equal(fake_events.count, 0);
	is_behind = false;
	let_stand(agent);
	assert_int_equal(fake_events.count, 1);
}

static void test_what_heals_is_not_told(void **state)
{
	struct agent *agent = *state;

	fail_look_up(agent, "PVC is not bound");
	fail_look_up(agent, NULL);
	let_stand(agent);
	assert_int_equal(fake_events.count, 0);
}

static void test_a_pod_that_is_gone_is_not_told(void **state)
{
	struct agent *agent = *state;

	fail_look_up(agent, "PVC is not bound");
	stored_pod = NULL;
	let_stand(agent);
	assert_int_equal(fake_events.count, 0);
}

#define WITH_AGENT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_AGENT(test_what_stands_is_told_once),
		WITH_AGENT(test_case_464_provisioning_is_not_told),
		WITH_AGENT(test_nothing_is_told_while_requests_wait),
		WITH_AGENT(test_what_heals_is_not_told),
		WITH_AGENT(test_a_pod_that_is_gone_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
