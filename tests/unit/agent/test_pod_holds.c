/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pod_holds - posting, ending and finding again of holds: what the agent does about them
 *
 * With real tables, a real ledger and real processes; the operations are made up. Whole nodes:
 * tests/system/inuse/test_holds.
 */
#include "agent_world.h"

#include "base/cleanup.h"
#include "tests/unit/state/ledger_directory.h"
#include "object/json/json.h"
#include "state/ledger.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name);

static const struct object *stored_pod; /* NULL: it left the store */

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name)
{
	return stored_pod;
}

static const struct pod_container container = { .name = "main" };
static char json[1024];

/* The pod of the world as the store has it, with a status. */
static void store_pod(struct agent_world *world, const char *phase, const char *status)
{
	(void) snprintf(json, sizeof(json), "{\"status\":{%s}}", status);
	world->pod.object.json = json;
	world->pod.object.json_length = strlen(json);
	world->pod.pod.phase = phase;
	world->pod.pod.node_name = "";
	world->pod.pod.containers = &container;
	world->pod.pod.container_count = 1;
	stored_pod = &world->pod.object;
}

static pid_t process(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void) pause();
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int post(struct agent_world *world, int64_t pid, char id[HOLD_ID_BYTES],
		struct failure *reterr)
{
	const struct hold_request request = {
		.name_space = "default",
		.name = "web",
		.uid = POD,
		.container = "main",
		.pid = pid,
		.cgroup = "",
	};

	return pod_holds_add(&world->agent.holds, &request, id, reterr);
}

static void mount_it(struct agent_world *world)
{
	want_data(world);
	turn(world);
	end_step(world, STEP_PUBLISH, "volume_mount", 0, ERROR_FINAL);
	turn(world);
}

static int count(const struct hold *hold, void *userdata)
{
	(*(unsigned int *) userdata)++;
	return 0;
}

static unsigned int holds_on_disk(struct agent_world *world)
{
	unsigned int found = 0;

	assert_int_equal(ledger_walk_holds(world->agent.ledger, count, &found), 0);
	return found;
}

static void test_teardown_waits_for_the_process(void **state)
{
	struct agent_world *world = *state;
	char id[HOLD_ID_BYTES];
	pid_t pid = process();

	store_pod(world, "Running", "");
	mount_it(world);
	assert_int_equal(post(world, pid, id, NULL), 0);
	assert_int_equal(holds_on_disk(world), 1);
	want_no_more(world);
	turn(world);
	expect_calls(world, "commit ");

	end(pid);
	assert_true(sd_event_run(world->agent.event, 10000000) > 0);
	assert_int_equal(holds_on_disk(world), 0);
	turn(world);
	assert_non_null(strstr(world->calls, "submit:unpublish"));
}

static void test_release_lets_the_teardown_go_on(void **state)
{
	struct agent_world *world = *state;
	char id[HOLD_ID_BYTES];
	struct failure why;

	store_pod(world, "Running", "");
	mount_it(world);
	assert_int_equal(post(world, 0, id, NULL), 0);
	assert_true(pod_holds_explain(&world->agent.holds, POD, &why));
	assert_non_null(strstr(why.text, "container 'main' is held until hold "));
	want_no_more(world);
	turn(world);
	expect_calls(world, "commit ");
	assert_int_equal(pod_holds_remove(&world->agent.holds, "another", id, &why), -ENOENT);
	assert_int_equal(pod_holds_remove(&world->agent.holds, POD, id, NULL), 0);
	assert_int_equal(pod_holds_remove(&world->agent.holds, POD, id, NULL), -ENOENT);
	assert_false(pod_holds_explain(&world->agent.holds, POD, &why));
	assert_int_equal(holds_on_disk(world), 0);
	turn(world);
	assert_non_null(strstr(world->calls, "submit:unpublish"));
}

static void test_what_cannot_be_held_is_refused(void **state)
{
	struct agent_world *world = *state;
	char id[HOLD_ID_BYTES];
	struct failure why;
	pid_t pid = process();

	store_pod(world, "Running", "");
	end(pid);
	assert_int_equal(post(world, pid, id, &why), -ESRCH);
	assert_int_equal(post(world, -1, id, &why), -EINVAL);
	assert_int_equal(post(world, 1LL << 40, id, &why), -EINVAL);
	store_pod(world, "Succeeded", "");
	assert_int_equal(post(world, 0, id, &why), -ESTALE);
	stored_pod = NULL;
	assert_int_equal(post(world, 0, id, &why), -ESTALE);
	assert_non_null(strstr(why.text, "is being taken down"));
	store_pod(world, "Running", "");
	world->pod.pod.node_name = "elsewhere";
	assert_int_equal(post(world, 0, id, &why), -EINVAL);
	world->pod.pod.node_name = "node";
	world->pod.pod.container_count = 0;
	assert_int_equal(post(world, 0, id, &why), -EINVAL);
	assert_string_equal(why.text, "pod 'default/web' has no container 'main'");
	assert_int_equal(holds_on_disk(world), 0);
	assert_int_equal(holds_count(world->agent.holds.table), 0);
}

/* Nothing was taken yet, and nothing will be while the first lives. */
static void test_pod_that_goes_is_held_while_it_is_held(void **state)
{
	struct agent_world *world = *state;
	char first[HOLD_ID_BYTES], second[HOLD_ID_BYTES];

	store_pod(world, "Running", "");
	assert_int_equal(post(world, 0, first, NULL), 0);
	stored_pod = NULL;
	assert_int_equal(post(world, 0, second, NULL), 0);
	assert_int_equal(pod_holds_remove(&world->agent.holds, POD, first, NULL), 0);
	assert_int_equal(pod_holds_remove(&world->agent.holds, POD, second, NULL), 0);
	assert_int_equal(post(world, 0, second, NULL), -ESTALE);
}

#define ENDED(time)                                                                                \
	"\"containerStatuses\":[{\"name\":\"main\",\"state\":{\"terminated\":{\"finishedAt\":"     \
	"\"" time "\"}}}]"

/* Its own end, and not that of the run before it. */
static void test_status_ends_what_names_no_process(void **state)
{
	struct agent_world *world = *state;
	char explicit[HOLD_ID_BYTES], process_id[HOLD_ID_BYTES];
	struct holds *holds = world->agent.holds.table;

	store_pod(world, "Running", ENDED("10:00"));
	assert_int_equal(post(world, 0, explicit, NULL), 0);
	assert_int_equal(post(world, getpid(), process_id, NULL), 0);
	pod_holds_pod_changed(&world->agent.holds, stored_pod);
	assert_int_equal(holds_count(holds), 2);
	store_pod(world, "Running",
		  "\"containerStatuses\":[{\"name\":\"main\",\"state\":{\"running\":{}}}]");
	pod_holds_pod_changed(&world->agent.holds, stored_pod);
	assert_int_equal(holds_count(holds), 2);

	store_pod(world, "Running", ENDED("11:00"));
	pod_holds_pod_changed(&world->agent.holds, stored_pod);
	assert_null(holds_find(holds, explicit));
	assert_non_null(holds_find(holds, process_id));
	store_pod(world, "Failed", "");
	pod_holds_pod_changed(&world->agent.holds, stored_pod);
	assert_non_null(holds_find(holds, process_id));
}

/* As after a kill: what is in the ledger alone decides. */
static void restart(struct agent_world *world)
{
	hold_watch_free(world->agent.holds.watch);
	holds_free(world->agent.holds.table);
	assert_int_equal(pod_holds_open(&world->agent.holds, NULL), 0);
}

static void test_restart_keeps_what_lives(void **state)
{
	struct agent_world *world = *state;
	char id[HOLD_ID_BYTES], explicit[HOLD_ID_BYTES], gone[HOLD_ID_BYTES];
	pid_t lives = process(), ends = process();

	store_pod(world, "Running", "");
	assert_int_equal(post(world, lives, id, NULL), 0);
	assert_int_equal(post(world, ends, gone, NULL), 0);
	assert_int_equal(post(world, 0, explicit, NULL), 0);
	end(ends);
	restart(world);
	assert_non_null(holds_find(world->agent.holds.table, id));
	assert_true(hold_watch_has(world->agent.holds.watch, id));
	assert_non_null(holds_find(world->agent.holds.table, explicit));
	assert_null(holds_find(world->agent.holds.table, gone));
	assert_int_equal(holds_on_disk(world), 2);
	end(lives);
	assert_true(sd_event_run(world->agent.event, 10000000) > 0);
	assert_int_equal(holds_on_disk(world), 1);
}

static void test_restart_knows_a_reused_id(void **state)
{
	struct agent_world *world = *state;
	const struct hold fields = {
		.id = "00000000aa",
		.kind = HOLD_PROCESS,
		.pod_uid = POD,
		.pod_namespace = "default",
		.pod_name = "web",
		.container = "main",
		.cgroup = "",
		.pid = getpid(),
		.start_time = 1,
	};

	assert_int_equal(ledger_put_hold(world->agent.ledger, &fields, NULL), 0);
	restart(world);
	assert_int_equal(holds_count(world->agent.holds.table), 0);
	assert_int_equal(holds_on_disk(world), 0);
}

static void test_limit_is_told(void **state)
{
	struct agent_world *world = *state;
	char id[HOLD_ID_BYTES];
	struct failure why;

	store_pod(world, "Running", "");
	for (int i = 0; i < HOLDS_PER_POD_MAX; i++)
		assert_int_equal(post(world, 0, id, NULL), 0);
	assert_int_equal(post(world, getpid(), id, &why), -EDQUOT);
	assert_int_equal(holds_on_disk(world), HOLDS_PER_POD_MAX);
}

/* Only a pod of a manifest waits for one before it. */
static void test_changed_manifest_waits(void **state)
{
	struct agent_world *world = *state;
	char id[HOLD_ID_BYTES];
	struct failure why;

	store_pod(world, "Running", "");
	assert_int_equal(post(world, getpid(), id, NULL), 0);
	assert_false(pod_holds_must_wait(&world->agent.holds, stored_pod));
	world->pod.object.meta.uid = "uid-2";
	assert_false(pod_holds_must_wait(&world->agent.holds, stored_pod));
	world->pod.object.json = "{\"metadata\":{\"annotations\":{\"podvol.io/manifest\":\"a\"}}}";
	world->pod.object.json_length = strlen(world->pod.object.json);
	world->pod.object.metadata = (struct object_span){
		(uint32_t) strlen("{\"metadata\":"),
		(uint32_t) strlen("{\"annotations\":{\"podvol.io/manifest\":\"a\"}}")
	};
	assert_true(pod_holds_must_wait(&world->agent.holds, stored_pod));
	assert_true(pod_holds_explain_wait(&world->agent.holds, stored_pod, &why));
	assert_non_null(
		strstr(why.text, "waits for the pod before the manifest changed: container"));
	assert_int_equal(pod_holds_remove(&world->agent.holds, POD, id, NULL), 0);
	assert_false(pod_holds_must_wait(&world->agent.holds, stored_pod));
}

static void test_view_of_a_pod(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *view = NULL;
	char id[HOLD_ID_BYTES];
	const struct cJSON *item;
	int64_t pid = 0;

	store_pod(world, "Running", "");
	assert_int_equal(post(world, getpid(), id, NULL), 0);
	view = pod_holds_view(&world->agent.holds, POD);
	item = json_at(json_get(view, "items"), 0);
	assert_string_equal(json_string(json_get(item, "id"), ""), id);
	assert_string_equal(json_string(json_get(item, "container"), ""), "main");
	assert_string_equal(json_string(json_get(item, "kind"), ""), "process");
	assert_true(json_int64(json_get(item, "pid"), &pid));
	assert_int_equal(pid, getpid());
	assert_true(json_bool(json_get(item, "watched"), false));
	json_free(view);
	view = pod_holds_view(&world->agent.holds, "another");
	assert_int_equal(json_count(json_get(view, "items")), 0);
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, new_agent_world, free_agent_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WORLD_TEST(test_teardown_waits_for_the_process),
		WORLD_TEST(test_release_lets_the_teardown_go_on),
		WORLD_TEST(test_what_cannot_be_held_is_refused),
		WORLD_TEST(test_pod_that_goes_is_held_while_it_is_held),
		WORLD_TEST(test_status_ends_what_names_no_process),
		WORLD_TEST(test_restart_keeps_what_lives),
		WORLD_TEST(test_restart_knows_a_reused_id),
		WORLD_TEST(test_limit_is_told),
		WORLD_TEST(test_changed_manifest_waits),
		WORLD_TEST(test_view_of_a_pod),
	};

	return cmocka_run_group_tests_name("pod_holds", tests, NULL, NULL);
}
