/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cluster_flaps - ten thousand flaps and restarts of a kube-apiserver, and what the pods of
 * the node did meanwhile
 *
 * At each step something happens, to the server, the way to it, its etcd, the rights, the pods or
 * podvold itself, chosen by a generator with a fixed seed. A pod leaves the store only when it was
 * deleted at the server, or when another of its name was made: else it is a wrong unmount. Each
 * time that all is well for a while the store has every pod of the server, and none that was
 * deleted.
 *
 * After a restore the server changes no pod until podvold has seen that it went back: what a
 * resourceVersion does not show, nothing shows. A server that has just sent a list without what it
 * has is not restored before it has sent a good one.
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

#include <stdlib.h>
#include <string.h>

enum { STEPS_UNTIL_CALM = 25, CALM_SECONDS = 600 };

static struct {
	struct cluster_world world;
	struct server server, other;
	struct etcd snapshot;
	bool is_down, is_other;
	bool is_mute;                   /* pods by name */
	bool no_node;                   /* it is not answered for */
	bool cuts_initial, no_bookmark; /* the server goes away after two pods; it sends none */
	bool is_stale;                  /* the watch cache */
	bool hides_items;               /* a list that comes whole may lack all that it has */
	unsigned int fault_percent, retry_after_seconds, refused;
	bool may_go[SERVER_UIDS_MAX];
	unsigned int name_of[SERVER_UIDS_MAX];
	unsigned int step, wrong_unmounts, missed_pods, left_over;
	unsigned int puts, removals, faults, stale, lists, streams, asked_initial, calms, kept;
	uint64_t random;
} sim;

/* ---- chance ---- */

static unsigned int chance(unsigned int below)
{
	sim.random = sim.random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int) (sim.random >> 33) % below;
}

static uint64_t latency_usec(void)
{
	return 1 + chance(chance(8) == 0 ? 3000000 : 20000);
}

/* ---- what the server answers ---- */

static struct reply half(struct reply reply)
{
	if (reply.body)
		reply.body[strlen(reply.body) / 2] = '\0';
	reply.error = chance(2) ? -ECONNRESET : 0;
	if (!reply.body)
		reply.error = -ECONNRESET;
	return reply;
}

static struct reply html(int status)
{
	return (struct reply){ .status = status, .body = strdup("<html>no</html>") };
}

/* A list that has lost its items; or of a watch cache that is behind: not what was asked for. */
static struct reply empty_list(struct reply reply, bool is_stale)
{
	if (reply.status != 200)
		return reply;
	sim.stale += is_stale;
	free(reply.body);
	return server_empty_list(is_stale ? 900 : sim.server.etcd.version);
}

static struct reply faulty(struct reply reply, const char *path)
{
	static const int statuses[] = { 401, 403, 404, 410, 429, 500, 503, 504 };
	static const char *const reasons[] = { "Unauthorized",       "Forbidden",
					       "NotFound",           "Expired",
					       "TooManyRequests",    "InternalError",
					       "ServiceUnavailable", "Timeout" };
	unsigned int i = chance(ARRAY_SIZE(statuses));
	bool lists_all = strncmp(path, "/api/v1/pods?", 13) == 0 && !strstr(path, "watch=1");
	bool hides = lists_all && sim.hides_items && !sim.is_other;
	bool is_cached = strstr(path, "&resourceVersionMatch=") && lists_all;

	sim.faults++;
	switch (chance(hides || is_cached ? 10 : 5)) {
	case 0:
		reply.error = -ECONNRESET;
		return reply;
	case 1:
		return half(reply);
	case 2:
		free(reply.body);
		return html(statuses[i]);
	case 3:
		free(reply.body);
		return html(200);
	case 4:
		free(reply.body);
		reply = server_status(statuses[i], reasons[i], "", "");
		reply.retry_after_seconds = statuses[i] == 429 ? chance(4) : 0;
		return reply;
	default:
		return empty_list(reply, is_cached && (!hides || chance(2)));
	}
}

static struct reply serve(const struct http_call *call)
{
	struct server *server = sim.is_other ? &sim.other : &sim.server;
	struct reply reply;

	if (sim.is_down)
		return (struct reply){ .error = -ECONNREFUSED };
	if (sim.retry_after_seconds > 0) {
		sim.refused++;
		reply = server_status(429, "TooManyRequests", "", "");
		reply.retry_after_seconds = sim.retry_after_seconds;
		return reply;
	}
	if (sim.is_mute && strstr(call->request.path, "/pods/"))
		return html(500);
	if (sim.no_node && strstr(call->request.path, "/nodes/"))
		return html(500);
	if (sim.is_stale && !call->request.line &&
	    strstr(call->request.path, "&resourceVersionMatch="))
		return empty_list((struct reply){ .status = 200 }, true);
	sim.asked_initial += call->request.line && server_is_initial(call);
	reply = server_answer(server, call->request.path);
	return chance(100) < sim.fault_percent ? faulty(reply, call->request.path) : reply;
}

static void set_down(bool is_down)
{
	sim.is_down = is_down;
	cluster_world_reset(&sim.world);
}

/* Of initial events that are cut off some came, then nothing or a reset; or the end alone comes. */
static void opened(struct http_call *watch)
{
	struct server *server = sim.is_other ? &sim.other : &sim.server;

	if (!server_is_initial(watch))
		return;
	sim.streams++;
	if (sim.cuts_initial || sim.no_bookmark) {
		server_send_initial(server, watch, 2);
		if (sim.cuts_initial)
			set_down(true);
		return;
	}
	if (chance(100) >= sim.fault_percent) {
		server_send_initial(server, watch, SERVER_PODS);
		return;
	}
	sim.faults++;
	if (sim.hides_items && !sim.is_other && chance(2)) {
		watch->sent = server->etcd.version;
		server_end_initial(server, watch);
		return;
	}
	server_send_initial(server, watch, chance(SERVER_PODS / 2));
	watch->is_reset = chance(4) > 0;
	if (watch->is_reset)
		watch->due_usec = sim.world.clock_usec + latency_usec();
}

/* ---- what the store did ---- */

/* A list that came whole shows what a restore brought back. */
static void listed_all(const struct server *server)
{
	sim.lists++;
	for (unsigned int i = 0; i < SERVER_PODS; i++)
		sim.may_go[server->listed.pods[i].uid] =
			server->listed.pods[i].uid != server->etcd.pods[i].uid;
}

static void put(const struct object *pod)
{
	sim.puts++;
	assert_int_equal(pod->meta.uid[0], 'a');
}

static void removed(const struct object *pod)
{
	sim.removals++;
	if (sim.may_go[server_uid_of(pod)])
		return;
	sim.wrong_unmounts++;
	print_error("# step %u: %s (%s) went\n", sim.step, pod->meta.name, pod->meta.uid);
}

/* ---- what happens ---- */

static void supersede(unsigned int name)
{
	for (unsigned int uid = 1; uid <= server_last_uid; uid++)
		if (sim.name_of[uid] == name && uid != sim.server.etcd.pods[name].uid)
			sim.may_go[uid] = true;
}

static void create_or_change(unsigned int name)
{
	bool is_new = sim.server.etcd.pods[name].uid == 0 || chance(4) == 0;

	server_put(&sim.server, name, is_new);
	if (!is_new)
		return;
	sim.name_of[server_last_uid] = name;
	supersede(name);
}

static void change_pods(void)
{
	unsigned int name = chance(SERVER_PODS);

	if (identity_newest(sim.world.cluster.identity) > sim.server.etcd.version)
		return;
	if (sim.server.etcd.pods[name].uid == 0 || chance(3) > 0) {
		create_or_change(name);
		return;
	}
	sim.may_go[sim.server.etcd.pods[name].uid] = true;
	server_delete(&sim.server, name);
}

static void restore(void)
{
	server_restore(&sim.server, &sim.snapshot);
	for (unsigned int name = 0; name < SERVER_PODS; name++)
		if (sim.server.etcd.pods[name].uid)
			supersede(name);
	cluster_world_reset(&sim.world);
}

static void restart_podvold(void)
{
	cluster_world_stop(&sim.world);
	cluster_world_start(&sim.world, "node");
}

/* It takes longer than any answer. */
static void set_other(bool is_other)
{
	if (sim.is_other == is_other)
		return;
	set_down(true);
	cluster_world_run(&sim.world, 40 * USEC_PER_SEC);
	sim.is_other = is_other;
	set_down(false);
}

static void change_rights(void)
{
	sim.server.may_read_namespace = chance(2);
	sim.server.hides_absent = chance(2);
	sim.server.has_watch_list = chance(4) > 0;
}

/* One of each: a flap, and the life of pods beside it. */
static void happen(void)
{
	switch (chance(12)) {
	case 0:
	case 1:
		set_down(!sim.is_down);
		break;
	case 2:
	case 3:
		set_down(true);
		set_down(false);
		break;
	case 4:
	case 5:
		sim.fault_percent = chance(3) * 40;
		break;
	case 6:
		sim.snapshot = sim.server.etcd;
		break;
	case 7:
		if (!sim.hides_items)
			restore();
		break;
	case 8:
		set_other(!sim.is_other);
		break;
	case 9:
		restart_podvold();
		break;
	case 10:
		change_rights();
		break;
	default:
		sim.server.forgotten = sim.server.etcd.version;
		break;
	}
	for (unsigned int i = chance(4); i > 0; i--)
		change_pods();
}

static void pass_time(void)
{
	static const uint64_t most_msec[] = { 20, 1000, 5000, 60000 };

	if (!sim.is_down && !sim.is_other && chance(3) > 0)
		server_send(&sim.server, &sim.world);
	if (!sim.is_down && !sim.is_other && chance(8) == 0)
		server_send_bookmark(&sim.server, &sim.world);
	cluster_world_run(&sim.world, chance((unsigned int) most_msec[chance(4)]) * USEC_PER_MSEC);
}

/* ---- what must be true ---- */

static void look_at_store(void)
{
	bool is_known[SERVER_PODS] = { false };

	for (size_t i = 0; i < sim.world.store.count; i++) {
		const struct object *pod = sim.world.store.objects[i];
		unsigned int name;

		if (pod->kind != KIND_POD)
			continue;
		name = server_name_of(pod);
		is_known[name] = sim.server.etcd.pods[name].uid == server_uid_of(pod) &&
				 sim.server.etcd.pods[name].version == pod->meta.resource_version;
		if (sim.server.etcd.pods[name].uid != 0)
			continue;
		if (pods_is_kept(sim.world.cluster.pods, pod->meta.uid))
			sim.kept++;
		else
			sim.left_over++;
	}
	for (unsigned int name = 0; name < SERVER_PODS; name++)
		sim.missed_pods += sim.server.etcd.pods[name].uid && !is_known[name];
}

static void calm(void)
{
	sim.calms++;
	sim.fault_percent = 0;
	sim.hides_items = chance(2);
	set_other(false);
	if (sim.is_down)
		set_down(false);
	cluster_world_run(&sim.world, CALM_SECONDS * USEC_PER_SEC);
	server_send(&sim.server, &sim.world);
	cluster_world_run(&sim.world, CALM_SECONDS * USEC_PER_SEC);
	assert_true(sim.world.is_complete);
	look_at_store();
}

static int64_t absences_of(const struct cluster_world *world)
{
	cleanup_json struct cJSON *view = json_new_object();
	int64_t count = -1;

	pods_view(&world->cluster, view);
	assert_true(json_int64(json_get(view, "podsBeingProven"), &count));
	return count;
}

static int set_up(void **state)
{
	memset(&sim, 0, sizeof(sim));
	sim.random =
		getenv("PODVOL_TEST_SEED") ? strtoull(getenv("PODVOL_TEST_SEED"), NULL, 10) : 2;
	sim.world.serve = serve;
	sim.world.opened = opened;
	sim.world.latency_usec = latency_usec;
	sim.world.put = put;
	sim.world.removed = removed;
	sim.server = (struct server){ .cluster = "a", .listed_all = listed_all };
	sim.server.etcd.version = 1000;
	sim.other = (struct server){ .cluster = "b" };
	sim.other.etcd.version = 1500;
	server_last_uid = 0;
	for (unsigned int name = 0; name < SERVER_PODS; name += 2) {
		server_put(&sim.other, name, true);
		server_put(&sim.server, name, true);
		sim.name_of[server_last_uid] = name;
	}
	sim.snapshot = sim.server.etcd;
	cluster_world_open(&sim.world);
	cluster_world_start(&sim.world, "node");
	return 0;
}

static int tear_down(void **state)
{
	cluster_world_stop(&sim.world);
	cluster_world_close(&sim.world);
	return 0;
}

static void test_ten_thousand_flaps(void **state)
{
	const char *given = getenv("PODVOL_TEST_STEPS");
	unsigned int steps = given ? (unsigned int) strtoul(given, NULL, 10) : 10000;

	calm();
	assert_int_equal(sim.missed_pods, 0);
	for (sim.step = 1; sim.step <= steps; sim.step++) {
		happen();
		pass_time();
		if (sim.step % STEPS_UNTIL_CALM == 0)
			calm();
	}
	print_message("# %u wrong unmounts, %u missed pods, %u left over; %u puts, %u removals, %u "
		      "faults, %u stale, %u lists, %u streams, %u calms, %u kept\n",
		      sim.wrong_unmounts, sim.missed_pods, sim.left_over, sim.puts, sim.removals,
		      sim.faults, sim.stale, sim.lists, sim.streams, sim.calms, sim.kept);
	assert_int_equal(sim.wrong_unmounts, 0);
	assert_int_equal(sim.missed_pods, 0);
	assert_int_equal(sim.left_over, 0);
}

/* What a restore lost stays, although the server was being asked for it before. */
static void test_a_restore_while_pods_are_asked_for(void **state)
{
	cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
	create_or_change(1);
	server_send(&sim.server, &sim.world);
	cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
	assert_int_equal(sim.puts, SERVER_PODS / 2 + 1);
	sim.is_mute = true;
	sim.server.etcd.pods[1].uid = 0; /* for one list */
	set_down(false);
	cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
	assert_int_equal(absences_of(&sim.world), 1);
	restore();
	cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
	assert_int_equal(absences_of(&sim.world), 0);
	sim.is_mute = false;
	calm();
	assert_int_equal(sim.removals, 0);
	assert_int_equal(sim.kept, 1);
}

/* One answer that does not come does not make its own cluster another. */
static void test_the_node_that_could_not_be_read_once(void **state)
{
	sim.server.may_read_namespace = true;
	calm();
	sim.no_node = true;
	set_down(false);
	cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
	sim.no_node = false;
	sim.server.may_read_namespace = false;
	restart_podvold();
	calm();
	assert_int_equal(sim.missed_pods, 0);
}

/* A pod that is deleted meanwhile is missing behind the bookmark, and never before. */
static void test_initial_events_that_break_off(void **state)
{
	sim.server.has_watch_list = true;
	restart_podvold();
	calm();
	assert_true(sim.streams > 0);
	assert_int_equal(sim.missed_pods, 0);
	sim.streams = 0;
	sim.is_mute = true;
	sim.cuts_initial = true;
	sim.may_go[sim.server.etcd.pods[0].uid] = true;
	server_delete(&sim.server, 0);
	set_down(false);
	cluster_world_run(&sim.world, 100 * USEC_PER_SEC);
	assert_int_equal(sim.streams, 1);
	assert_int_equal(absences_of(&sim.world), 0);
	assert_int_equal(sim.removals, 0);
	sim.cuts_initial = false;
	set_down(false);
	cluster_world_run(&sim.world, 80 * USEC_PER_SEC);
	assert_int_equal(absences_of(&sim.world), 1);
	assert_int_equal(sim.removals, 0);
	sim.is_mute = false;
	calm();
	assert_int_equal(sim.removals, 1);
}

/* It is asked once, and never again. */
static void test_a_server_without_watch_list(void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		set_down(false);
		calm();
	}
	assert_int_equal(sim.asked_initial, 1);
	assert_int_equal(sim.missed_pods, 0);
}

static void test_a_bookmark_that_does_not_come(void **state)
{
	sim.server.has_watch_list = true;
	sim.no_bookmark = true;
	restart_podvold();
	cluster_world_run(&sim.world, 59 * USEC_PER_SEC);
	assert_false(sim.world.is_complete);
	calm();
	set_down(false);
	calm();
	assert_int_equal(sim.streams, 1);
	assert_int_equal(sim.missed_pods + sim.removals, 0);
}

/* It is not asked before a version is known: pods that the first list lacks are not known either,
 * so their volumes would belong to none. */
static void test_a_watch_cache_that_is_behind(void **state)
{
	sim.is_stale = true;
	for (int i = 0; i < 1000 && !sim.world.is_complete; i++)
		cluster_world_run(&sim.world, 10 * USEC_PER_MSEC);
	assert_int_equal(sim.stale, 0);
	assert_int_equal(sim.puts, SERVER_PODS / 2);
	restart_podvold();
	calm();
	assert_true(sim.stale > 0);
	assert_false(pods_are_kept(sim.world.cluster.pods));
	assert_int_equal(sim.missed_pods + sim.removals, 0);
	assert_int_equal(absences_of(&sim.world), 0);
}

/* Retry-After of 429 is longer than the first pauses. */
static void test_pauses_that_are_asked_for(void **state)
{
	calm();
	sim.retry_after_seconds = 20;
	set_down(false);
	cluster_world_run(&sim.world, 20 * USEC_PER_SEC);
	assert_int_equal(sim.refused, 1);
	cluster_world_run(&sim.world, 100 * USEC_PER_SEC);
	assert_in_range(sim.refused, 2, 1 + 100 / 20);
	sim.retry_after_seconds = 0;
	calm();
	assert_int_equal(sim.missed_pods + sim.removals, 0);
}

/* A list whose pods wait for the identity of the cluster is lost with the watch behind it. */
static void test_pauses_that_are_asked_for_while_pods_wait(void **state)
{
	(void) state;
	calm();
	sim.no_node = true;
	set_down(false);
	cluster_world_run(&sim.world, 30 * USEC_PER_SEC);
	sim.retry_after_seconds = 20;
	set_down(false);
	cluster_world_run(&sim.world, 20 * USEC_PER_SEC);
	assert_int_equal(sim.refused, 1);
	sim.no_node = false;
	sim.retry_after_seconds = 0;
	calm();
	assert_int_equal(sim.missed_pods + sim.removals, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_restore_while_pods_are_asked_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_the_node_that_could_not_be_read_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_initial_events_that_break_off, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_server_without_watch_list, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_bookmark_that_does_not_come, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_watch_cache_that_is_behind, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_pauses_that_are_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pauses_that_are_asked_for_while_pods_wait,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ten_thousand_flaps, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
