/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cluster_pods - pods of one name that follow each other at the server, and in which order the
 * store has them
 *
 * Each answer takes a millisecond. A pod leaves the store only when the server deleted it; the one
 * that the server has stays, whatever it is asked by name meanwhile. Faults at random are in
 * test_cluster_flaps.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/cluster/cluster_server.h"

#include "base/clock.h"

#include <string.h>

static struct {
	struct cluster_world world;
	struct server server;
	bool is_mute; /* pods by name */
	bool no_node; /* it is not answered for */
	unsigned int lists;
	bool is_cached;    /* the list that completed the start was asked of the watch cache */
	char removed[256]; /* uids, each with a blank behind it */
} sim;

/* ---- the server ---- */

static uint64_t millisecond(void)
{
	return USEC_PER_MSEC;
}

static struct reply serve(const struct http_call *call)
{
	if ((sim.is_mute && strstr(call->request.path, "/pods/")) ||
	    (sim.no_node && strstr(call->request.path, "/nodes/")))
		return server_status(500, "InternalError", "", "");
	if (strstr(call->request.path, "/api/v1/pods?") && !strstr(call->request.path, "watch=") &&
	    !sim.world.is_complete)
		sim.is_cached = strstr(call->request.path, "NotOlderThan") != NULL;
	return server_answer(&sim.server, call->request.path);
}

static void opened(struct http_call *watch)
{
	(void) watch; /* it has no initial events */
}

static void listed_all(const struct server *server)
{
	sim.lists++;
}

/* ---- the store ---- */

static void put(const struct object *pod)
{
}

static void removed(const struct object *pod)
{
	size_t length = strlen(sim.removed);

	(void) snprintf(sim.removed + length, sizeof(sim.removed) - length, "%s ", pod->meta.uid);
}

static const char *stored_uid(const char *name)
{
	for (size_t i = 0; i < sim.world.store.count; i++)
		if (sim.world.store.objects[i]->kind == KIND_POD &&
		    strcmp(sim.world.store.objects[i]->meta.name, name) == 0)
			return sim.world.store.objects[i]->meta.uid;
	return "none";
}

static int64_t absences(void)
{
	return cluster_world_counted(&sim.world, pods_view, "podsBeingProven");
}

/* ---- life ---- */

static int set_up(void **state)
{
	memset(&sim, 0, sizeof(sim));
	sim.world.serve = serve;
	sim.world.opened = opened;
	sim.world.latency_usec = millisecond;
	sim.world.put = put;
	sim.world.removed = removed;
	sim.server = (struct server){ .cluster = "a", .listed_all = listed_all };
	sim.server.etcd.version = 1000;
	server_last_uid = 0;
	server_put(&sim.server, 0, true);
	cluster_world_open(&sim.world);
	cluster_world_start(&sim.world, "node");
	cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
	assert_string_equal(stored_uid("pod-0"), "a-1");
	return 0;
}

static int tear_down(void **state)
{
	cluster_world_stop(&sim.world);
	cluster_world_close(&sim.world);
	return 0;
}

/* A list lacks pod-0; it is asked for by name, and will be once more, within a second. */
static void delete_unseen(void)
{
	sim.is_mute = true;
	server_delete(&sim.server, 0);
	sim.server.cached = sim.server.etcd;
	cluster_world_reset(&sim.world);
	for (unsigned int i = 0; i < 1000 && absences() == 0; i++)
		cluster_world_run(&sim.world, 10 * USEC_PER_MSEC);
	cluster_world_run(&sim.world, 100 * USEC_PER_MSEC);
	assert_int_equal(absences(), 1);
	assert_non_null(cluster_world_watch(&sim.world));
	sim.is_mute = false;
}

/* Events of its predecessor wait for the identity of the cluster while it is asked for by name. */
static void test_a_pod_whose_predecessor_waits(void **state)
{
	delete_unseen();
	sim.no_node = true;
	server_put(&sim.server, 0, true);
	server_delete(&sim.server, 0);
	server_put(&sim.server, 0, true);
	server_send(&sim.server, &sim.world);
	cluster_world_run(&sim.world, 100 * USEC_PER_MSEC);
	assert_string_equal(sim.removed, "");
	sim.no_node = false;
	cluster_world_run(&sim.world, 2 * USEC_PER_SEC);
	assert_int_equal(absences(), 0);
	cluster_world_run(&sim.world, 30 * USEC_PER_SEC);
	assert_string_equal(stored_uid("pod-0"), "a-3");
	assert_null(strstr(sim.removed, "a-3 "));
}

/* What is stored must show how far the server was, or the restore does not look like one. */
static void test_a_restore_to_before_a_pod_seen_by_name(void **state)
{
	struct etcd snapshot;

	delete_unseen();
	snapshot = sim.server.etcd;
	server_put(&sim.server, 0, true);
	cluster_world_run(&sim.world, 2 * USEC_PER_SEC);
	assert_int_equal(absences(), 0);
	cluster_world_stop(&sim.world);
	cluster_world_start(&sim.world, "node");
	server_restore(&sim.server, &snapshot);
	cluster_world_run(&sim.world, 600 * USEC_PER_SEC);
	assert_string_equal(sim.removed, "a-1 ");
}

/* Both events come before the first one is committed. */
static void test_a_pod_that_is_deleted_at_once(void **state)
{
	unsigned int lists = sim.lists;

	server_put(&sim.server, 1, true);
	server_delete(&sim.server, 1);
	server_send(&sim.server, &sim.world);
	cluster_world_run(&sim.world, USEC_PER_SEC);
	assert_int_equal(sim.lists, lists);
	assert_string_equal(stored_uid("pod-1"), "none");
	assert_string_equal(sim.removed, "a-2 ");
}

/* A kubelet mounted pods that the store lacks: a stale list, without them, would orphan their
 * mounts. */
static void test_a_takeover_lists_from_etcd(void **state)
{
	for (int takeover = 0; takeover < 2; takeover++) {
		cluster_world_stop(&sim.world);
		sim.world.is_takeover = takeover;
		cluster_world_start(&sim.world, "node");
		cluster_world_run(&sim.world, 10 * USEC_PER_SEC);
		assert_true(sim.world.is_complete);
		assert_int_equal(sim.is_cached, !takeover);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_pod_whose_predecessor_waits, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_restore_to_before_a_pod_seen_by_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_pod_that_is_deleted_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_takeover_lists_from_etcd, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
