/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_writes - of which object an update is made that is written while a watch shows a newer one
 *
 * Each answer takes a millisecond, and so does each commit. The server has one pod, whose phase is
 * Running since its last change; an update takes the phase away.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/cluster/cluster_server.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"
#include "store/group.h"

#include <inttypes.h>
#include <string.h>

static struct {
	struct cluster_world world;
	struct server server;
	int status;         /* of answers to patches; 0: the pod */
	char patches[1024]; /* each in a line */
	char ended[64];     /* errors, each with a blank behind it */
} sim;

/* ---- the server ---- */

static uint64_t millisecond(void)
{
	return USEC_PER_MSEC;
}

static char *pod_text(const char *status)
{
	char *text;

	assert_return_code(
		asprintf(&text,
			 "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pod-0\","
			 "\"namespace\":\"n\",\"uid\":\"a-1\",\"resourceVersion\":\"%" PRIu64
			 "\"},\"spec\":{\"nodeName\":\"node\",\"containers\":[{\"name\":\"c\","
			 "\"image\":\"i\"}]},\"status\":{%s}}",
			 sim.server.etcd.version, status),
		0);
	return text;
}

static struct reply serve(const struct http_call *call)
{
	size_t length = strlen(sim.patches);

	if (strcmp(call->request.method, "PATCH") != 0)
		return server_answer(&sim.server, call->request.path);
	(void) snprintf(sim.patches + length, sizeof(sim.patches) - length, "%s\n",
			call->request.body);
	if (sim.status != 0)
		return server_status(sim.status, "Fault", "pods", "pod-0");
	server_put(&sim.server, 0, false);
	return (struct reply){ .status = 200, .body = pod_text("") };
}

static void opened(struct http_call *watch)
{
	(void) watch; /* it has no initial events */
}

static void listed_all(const struct server *server)
{
	(void) server;
}

static void ignore_pod(const struct object *pod)
{
	(void) pod;
}

/* The watch shows it; the store has it a millisecond later. */
static void show(const char *status)
{
	struct http_call *watch = cluster_world_watch(&sim.world);
	cleanup_free char *pod = NULL, *line = NULL;

	server_put(&sim.server, 0, false);
	pod = pod_text(status);
	assert_return_code(asprintf(&line, "{\"type\":\"MODIFIED\",\"object\":%s}", pod), 0);
	watch->request.line(watch->request.userdata, line, strlen(line));
}

/* ---- the writer ---- */

static const struct object *stored(void)
{
	for (size_t i = 0; i < sim.world.store.count; i++)
		if (sim.world.store.objects[i]->kind == KIND_POD)
			return sim.world.store.objects[i];
	fail();
	return NULL;
}

static int take_away_phase(struct cJSON *tree, void *userdata)
{
	(void) userdata;
	json_remove(json_ensure_object(tree, "status"), "phase");
	return json_set_string(json_ensure_object(tree, "status"), "reason", "written");
}

static int make(void *userdata, const struct object *present, const struct object **ret,
		struct failure *reterr)
{
	(void) userdata;
	return object_edit(present, take_away_phase, NULL, ret, reterr);
}

static void on_done(void *userdata, int error, const struct object *result,
		    const struct failure *why)
{
	size_t length = strlen(sim.ended);

	(void) userdata;
	(void) result;
	(void) why;
	(void) snprintf(sim.ended + length, sizeof(sim.ended) - length, "%d ", error);
}

/* As store_edit() hands it to the server. */
static void edit(void)
{
	const struct store_precondition seen = { .resource_version =
							 stored()->meta.resource_version };
	cleanup_object const struct object *wanted = NULL;
	struct write *write;

	assert_int_equal(make(NULL, stored(), &wanted, NULL), 0);
	write = write_of(ADMIT_UPDATE, wanted, &seen);
	assert_non_null(write);
	write->edit = make;
	write->done = on_done;
	assert_int_equal(sim.world.upstream(sim.world.upstream_userdata, write), 0);
}

static void pass(unsigned int milliseconds)
{
	cluster_world_run(&sim.world, milliseconds * USEC_PER_MSEC);
}

static void assert_patches(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void assert_patches(const char *format, ...)
{
	cleanup_free char *wanted = NULL;
	va_list arguments;

	va_start(arguments, format);
	assert_return_code(vasprintf(&wanted, format, arguments), 0);
	va_end(arguments);
	assert_string_equal(sim.patches, wanted);
}

static int64_t counted(void)
{
	return cluster_world_counted(&sim.world, writes_view, "writes");
}

/* ---- life ---- */

static int set_up(void **state)
{
	(void) state;
	memset(&sim, 0, sizeof(sim));
	sim.world.serve = serve;
	sim.world.opened = opened;
	sim.world.latency_usec = millisecond;
	sim.world.put = ignore_pod;
	sim.world.removed = ignore_pod;
	sim.server = (struct server){ .cluster = "a", .listed_all = listed_all };
	sim.server.etcd.version = 1000;
	server_last_uid = 0;
	server_put(&sim.server, 0, true);
	cluster_world_open(&sim.world);
	cluster_world_start(&sim.world, "node");
	cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
	return 0;
}

static int tear_down(void **state)
{
	(void) state;
	cluster_world_stop(&sim.world);
	cluster_world_close(&sim.world);
	return 0;
}

#define PATCH_OF(status)                                                                           \
	"{\"status\":{" status "},\"metadata\":{\"uid\":\"a-1\",\"resourceVersion\":\"%u\"}}\n"
#define WHOLE "\"phase\":null,\"reason\":\"written\""

/* No event comes, and none is needed. */
static void test_an_update_of_what_is_stored(void **state)
{
	(void) state;
	edit();
	pass(10);
	assert_patches(PATCH_OF("\"reason\":\"written\""), 1001U);
	assert_string_equal(sim.ended, "0 ");
	assert_int_equal(counted(), 1);
}

/* The watch has shown the phase, which the store does not have yet when the update is begun. */
static void test_an_update_while_a_newer_object_is_stored(void **state)
{
	(void) state;
	show("\"phase\":\"Running\"");
	assert_int_equal(stored()->meta.resource_version, 1001);
	edit();
	pass(10);
	assert_patches(PATCH_OF(WHOLE), 1002U);
	assert_string_equal(sim.ended, "0 ");
	assert_int_equal(counted(), 1);
}

/* And once more while it waits for that. */
static void test_an_update_while_two_newer_objects_are_stored(void **state)
{
	(void) state;
	show("");
	edit();
	pass(0); /* it waits */
	assert_int_equal(stored()->meta.resource_version, 1001);
	show("\"phase\":\"Running\"");
	pass(10);
	assert_patches(PATCH_OF(WHOLE), 1003U);
	assert_string_equal(sim.ended, "0 ");
}

/* The second is made of what the first left. */
static void test_updates_of_one_object_are_made_in_their_order(void **state)
{
	(void) state;
	show("\"phase\":\"Running\"");
	edit();
	edit();
	pass(20);
	assert_patches(PATCH_OF(WHOLE) PATCH_OF("\"reason\":\"written\""), 1002U, 1003U);
	assert_string_equal(sim.ended, "0 0 ");
	assert_int_equal(counted(), 2);
}

static void test_an_update_of_an_object_that_goes_meanwhile(void **state)
{
	(void) state;
	show("");
	edit();
	pass(0);
	server_delete(&sim.server, 0);
	server_send(&sim.server, &sim.world);
	pass(10);
	assert_patches("%s", "");
	assert_string_equal(sim.ended, "-2 ");
}

static void test_updates_that_are_refused(void **state)
{
	static const int statuses[] = { 403, 404, 422, 500 };

	(void) state;
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		sim.status = statuses[i];
		sim.ended[0] = '\0';
		show("");
		edit();
		cluster_world_run(&sim.world, 60 * USEC_PER_SEC);
		assert_int_equal(strchr(sim.ended, ' ') - sim.ended, strlen(sim.ended) - 1);
		assert_int_equal(sim.ended[0], '-');
	}
}

/* The writer hears of it once, by the store's answer. */
static void test_the_end_while_an_update_waits(void **state)
{
	char canceled[16];

	(void) state;
	show("");
	edit();
	edit();
	pass(0);
	assert_string_equal(sim.ended, "");
	cluster_world_stop(&sim.world);
	(void) snprintf(canceled, sizeof(canceled), "%d %d ", -ECANCELED, -ECANCELED);
	assert_string_equal(sim.ended, canceled);
	assert_patches("%s", "");
	cluster_world_start(&sim.world, "node");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_update_of_what_is_stored, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_an_update_while_a_newer_object_is_stored,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_update_while_two_newer_objects_are_stored,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_updates_of_one_object_are_made_in_their_order,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_update_of_an_object_that_goes_meanwhile,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_updates_that_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_end_while_an_update_waits, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
