/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_holds - the table of holds: by id, by pod, by the name of a pod made again, and its limits
 */
#include "state/holds.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SOME = 200 };

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

/* The nth allocation from now fails, once; 0: none does. */
static unsigned int fail_at;

static bool fails_now(void)
{
	return fail_at > 0 && --fail_at == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

static struct holds *table(size_t max)
{
	struct holds *holds = NULL;

	assert_int_equal(holds_new(max, &holds), 0);
	return holds;
}

static struct hold process_of(const char *uid, pid_t pid)
{
	return (struct hold){
		.kind = HOLD_PROCESS,
		.pod_uid = uid,
		.pod_namespace = "default",
		.pod_name = "web",
		.container = "main",
		.cgroup = "",
		.pid = pid,
		.start_time = 77,
	};
}

static const struct hold *add(struct holds *holds, const char *uid, pid_t pid)
{
	struct hold fields = process_of(uid, pid);
	const struct hold *hold = NULL;

	assert_int_equal(holds_add(holds, &fields, &hold, NULL), 0);
	return hold;
}

static void test_pod_is_held_until_its_last_hold_went(void **state)
{
	struct holds *holds = table(10);
	const struct hold *first = add(holds, "u1", 1), *second = add(holds, "u1", 2);
	char id[HOLD_ID_BYTES];

	assert_true(holds_has_pod(holds, "u1"));
	assert_false(holds_has_pod(holds, "u2"));
	assert_int_equal(holds_of_pod(holds, "u1", 0)->pid, 1);
	assert_int_equal(holds_of_pod(holds, "u1", 1)->pid, 2);
	assert_null(holds_of_pod(holds, "u1", 2));

	memcpy(id, first->id, sizeof(id));
	holds_remove(holds, first->id);
	assert_null(holds_find(holds, id));
	assert_true(holds_has_pod(holds, "u1"));
	assert_int_equal(holds_of_pod(holds, "u1", 0)->pid, 2);
	holds_remove(holds, second->id);
	assert_false(holds_has_pod(holds, "u1"));
	assert_null(holds_of_pod(holds, "u1", 0));
	assert_int_equal(holds_count(holds), 0);
	holds_remove(holds, id);
	holds_free(holds);
}

static void test_everything_is_copied(void **state)
{
	struct holds *holds = table(10);
	char uid[] = "u1", space[] = "kube", name[] = "db", container[] = "c", cgroup[] = "/sys/c";
	struct hold fields = {
		.id = "00000000ab",
		.kind = HOLD_CGROUP,
		.pod_uid = uid,
		.pod_namespace = space,
		.pod_name = name,
		.container = container,
		.cgroup = cgroup,
		.cgroup_id = 9,
		.since_usec = 5,
		.ended_before = 3,
	};
	const struct hold *hold;

	assert_int_equal(holds_add(holds, &fields, &hold, NULL), 0);
	uid[0] = space[0] = name[0] = container[0] = cgroup[0] = 'X';
	assert_ptr_equal(holds_find(holds, "00000000ab"), hold);
	assert_string_equal(hold->pod_uid, "u1");
	assert_string_equal(hold->pod_namespace, "kube");
	assert_string_equal(hold->pod_name, "db");
	assert_string_equal(hold->container, "c");
	assert_string_equal(hold->cgroup, "/sys/c");
	assert_int_equal(hold->cgroup_id, 9);
	assert_int_equal(hold->since_usec, 5);
	assert_int_equal(hold->ended_before, 3);
	assert_true(holds_has_pod(holds, "u1"));
	holds_free(holds);
}

static void test_ids_differ_and_one_that_is_taken_is_refused(void **state)
{
	struct holds *holds = table(SOME);
	struct hold fields = process_of("u", 1);
	const struct hold *hold;
	char uid[16];

	for (int i = 0; i < SOME - 1; i++) {
		(void) snprintf(uid, sizeof(uid), "u%d", i);
		hold = add(holds, uid, i + 1);
		assert_int_equal(strlen(hold->id), HOLD_ID_BYTES - 1);
		assert_int_equal(strspn(hold->id, "0123456789abcdef"), HOLD_ID_BYTES - 1);
	}
	assert_int_equal(holds_count(holds), SOME - 1);
	memcpy(fields.id, holds_first(holds)->id, sizeof(fields.id));
	assert_int_equal(holds_add(holds, &fields, &hold, NULL), -EEXIST);
	assert_int_equal(holds_count(holds), SOME - 1);
	holds_free(holds);
}

static void test_limits_are_told(void **state)
{
	struct holds *holds = table(HOLDS_PER_POD_MAX + 1);
	struct hold fields = process_of("u1", 1);
	struct failure why = { 0 };
	const struct hold *hold;

	for (int i = 0; i < HOLDS_PER_POD_MAX; i++)
		(void) add(holds, "u1", i + 1);
	assert_int_equal(holds_add(holds, &fields, &hold, &why), -ENOSPC);
	assert_string_equal(why.text, "the pod has 64 holds already, the limit of one pod");
	(void) add(holds, "u2", 1);
	fields = process_of("u3", 1);
	assert_int_equal(holds_add(holds, &fields, &hold, &why), -ENOSPC);
	assert_string_equal(why.text, "there are 65 holds already, the limit of holds-max");
	holds_remove(holds, holds_of_pod(holds, "u2", 0)->id);
	(void) add(holds, "u3", 1);
	holds_free(holds);
}

/* Whatever pods they are of; those without a writer have the limit of all. */
static void test_a_writer_has_a_quarter(void **state)
{
	struct holds *holds = table(12);
	struct hold fields = process_of("u1", 1);
	struct failure why = { 0 };
	const struct hold *hold, *first = NULL;
	char uid[16];

	for (int i = 0; i < 3; i++) {
		(void) snprintf(uid, sizeof(uid), "u%d", i);
		fields = process_of(uid, 1);
		fields.writer = "look";
		assert_int_equal(holds_add(holds, &fields, i ? &hold : &first, NULL), 0);
	}
	assert_int_equal(holds_add(holds, &fields, &hold, &why), -ENOSPC);
	assert_string_equal(why.text,
			    "user 'look' has 3 holds already, of pods that were deleted as well: "
			    "the limit of one user, a quarter of holds-max");
	fields.writer = "other";
	assert_int_equal(holds_add(holds, &fields, &hold, NULL), 0);
	for (int i = 0; i < 8; i++)
		(void) add(holds, "u9", i + 1);
	assert_int_equal(holds_count(holds), 12);
	holds_remove(holds, first->id);
	fields.writer = "look";
	assert_int_equal(holds_add(holds, &fields, &hold, NULL), 0);
	holds_free(holds);
}

static void test_earlier_pod_of_the_name(void **state)
{
	struct holds *holds = table(10);
	struct hold other = process_of("u9", 1);
	const struct hold *hold;

	other.pod_name = "else";
	assert_int_equal(holds_add(holds, &other, &hold, NULL), 0);
	assert_null(holds_of_earlier_pod(holds, "default", "web", "u2"));
	(void) add(holds, "u1", 1);
	assert_string_equal(holds_of_earlier_pod(holds, "default", "web", "u2")->pod_uid, "u1");
	assert_null(holds_of_earlier_pod(holds, "default", "web", "u1"));
	assert_null(holds_of_earlier_pod(holds, "other", "web", "u2"));
	holds_free(holds);
}

static void test_walk_allows_removal(void **state)
{
	struct holds *holds = table(10);
	const struct hold *hold, *next;
	unsigned int seen = 0;

	assert_null(holds_first(holds));
	for (int i = 0; i < 5; i++)
		(void) add(holds, i % 2 ? "u1" : "u2", i + 1);
	for (hold = holds_first(holds); hold; hold = next) {
		next = holds_next(hold);
		seen |= 1U << hold->pid;
		holds_remove(holds, hold->id);
	}
	assert_int_equal(seen, 0x3e);
	assert_int_equal(holds_count(holds), 0);
	holds_free(holds);
}

static void test_without_memory_nothing_is_half_kept(void **state)
{
	struct hold fields = process_of("u1", 1);
	unsigned int failures = 0;

	for (unsigned int nth = 1;; nth++) {
		struct holds *holds = table(10);
		const struct hold *hold;
		int r;

		fail_at = nth;
		r = holds_add(holds, &fields, &hold, NULL);
		if (r == 0) {
			fail_at = 0;
			holds_free(holds);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(holds_count(holds), 0);
		assert_false(holds_has_pod(holds, "u1"));
		(void) add(holds, "u1", 1);
		holds_free(holds);
		failures++;
	}
	assert_true(failures >= 4);
	fail_at = 1;
	assert_int_equal(holds_new(1, &(struct holds *){ NULL }), -ENOMEM);
	fail_at = 0;
}

static void test_every_kind_has_a_name(void **state)
{
	assert_string_equal(hold_kind_name(HOLD_EXPLICIT), "explicit");
	assert_string_equal(hold_kind_name(HOLD_PROCESS), "process");
	assert_string_equal(hold_kind_name(HOLD_CGROUP), "cgroup");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_is_held_until_its_last_hold_went),
		cmocka_unit_test(test_everything_is_copied),
		cmocka_unit_test(test_ids_differ_and_one_that_is_taken_is_refused),
		cmocka_unit_test(test_limits_are_told),
		cmocka_unit_test(test_a_writer_has_a_quarter),
		cmocka_unit_test(test_earlier_pod_of_the_name),
		cmocka_unit_test(test_walk_allows_removal),
		cmocka_unit_test(test_without_memory_nothing_is_half_kept),
		cmocka_unit_test(test_every_kind_has_a_name),
	};

	return cmocka_run_group_tests_name("holds", tests, NULL, NULL);
}
