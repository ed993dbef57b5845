/* SPDX-License-Identifier: Apache-2.0 */
/*
 * populator_world - a populator between a store of YAML objects and the tables; see
 * populator_world.h
 *
 * Everything but the store is the real thing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "populator_world.h"

#include "base/cleanup.h"

#include <string.h>

static void deliver(const struct store_change *change, void *userdata)
{
	struct populator_world *world = userdata;

	populator_change(world->populator, change, world->now_usec);
}

static void count_sync(void *userdata, const struct object *pod)
{
	struct populator_world *world = userdata;

	assert_int_equal(pod->kind, KIND_POD);
	world->looks++;
}

static void note_renewed(void *userdata, const char *unique_name)
{
	struct populator_world *world = userdata;
	size_t length = strlen(world->renewed);

	(void) snprintf(world->renewed + length, sizeof(world->renewed) - length, "%s ",
			unique_name);
}

int new_world(void **state)
{
	struct populator_world *world = calloc(1, sizeof(*world));
	struct populator_options options = { .node_name = "here",
					     .waits_for_moves = true,
					     .synced = count_sync,
					     .renewed = note_renewed,
					     .userdata = world };

	assert_non_null(world);
	assert_int_equal(dirty_set_new(NULL, NULL, &world->dirty), 0);
	assert_int_equal(desired_new(world->dirty, &world->desired), 0);
	assert_int_equal(actual_new(world->dirty, &world->actual), 0);
	options.store = &world->store;
	options.desired = world->desired;
	options.actual = world->actual;
	assert_int_equal(populator_new(&options, &world->populator), 0);
	world->store.listener = deliver;
	world->store.userdata = world;
	*state = world;
	return 0;
}

int started_world(void **state)
{
	(void) new_world(state);
	populator_full_pass(((struct populator_world *) *state)->populator, 0);
	return 0;
}

int free_world(void **state)
{
	struct populator_world *world = *state;

	assert_null(populator_free(world->populator));
	actual_free(world->actual);
	desired_free(world->desired);
	dirty_set_free(world->dirty);
	fake_store_done(&world->store);
	free(world);
	return 0;
}

void put_pod(struct populator_world *world, const char *name, const char *metadata,
	     const char *container, const char *volumes, const char *status)
{
	fake_store_put(&world->store,
		       "apiVersion: v1\n"
		       "kind: Pod\n"
		       "metadata: {name: %s, namespace: default, uid: uid-%s%s}\n"
		       "spec:\n"
		       "  containers:\n"
		       "  - {name: main, image: none%s}\n"
		       "  volumes: [%s]\n"
		       "status: {%s}\n",
		       name, name, metadata, container, volumes, status);
}

void put_claim_pod(struct populator_world *world, const char *name, const char *claim)
{
	char volume[256];

	assert_true(snprintf(volume, sizeof(volume),
			     "{name: data, persistentVolumeClaim: {claimName: %s}}",
			     claim) < (int) sizeof(volume));
	put_pod(world, name, "", ", volumeMounts: [{name: data, mountPath: /data}]", volume, "");
}

void put_claim(struct populator_world *world, const char *name, const char *pv)
{
	fake_store_put(&world->store,
		       "apiVersion: v1\n"
		       "kind: PersistentVolumeClaim\n"
		       "metadata: {name: %s, namespace: default, uid: uid-%s}\n"
		       "spec: {volumeName: %s, accessModes: [ReadWriteOnce],"
		       " resources: {requests: {storage: 1Gi}}}\n"
		       "status: {phase: Bound}\n",
		       name, name, pv);
}

void put_pv(struct populator_world *world, const char *name, const char *claim, const char *mode)
{
	fake_store_put(&world->store,
		       "apiVersion: v1\n"
		       "kind: PersistentVolume\n"
		       "metadata: {name: %s, uid: uid-%s}\n"
		       "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],"
		       " volumeMode: %s, local: {path: /srv/%s},"
		       " nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions:"
		       " [{key: kubernetes.io/hostname, operator: In, values: [here]}]}]}},"
		       " claimRef: {namespace: default, name: %s, uid: uid-%s}}\n",
		       name, name, mode, name, claim, claim);
}

void put_bound(struct populator_world *world, const char *claim, const char *pv)
{
	put_claim(world, claim, pv);
	put_pv(world, pv, claim, "Filesystem");
}

void expect_wants(struct populator_world *world, const char *pod_uid, const char *unique_names)
{
	char text[1024] = "";
	const char *name;
	size_t length = 0;

	for (size_t i = 0; (name = desired_volume_of_pod(world->desired, pod_uid, i)); i++)
		length += (size_t) snprintf(text + length, sizeof(text) - length, "%s ", name);
	assert_true(length < sizeof(text));
	assert_string_equal(text, unique_names);
}

void expect_error(struct populator_world *world, const char *pod_uid, const char *text)
{
	const struct desired_errors *errors = desired_errors(world->desired, pod_uid);

	if (!text) {
		if (errors)
			print_error("# %s\n", errors->texts[0]);
		assert_null(errors);
		return;
	}
	assert_non_null(errors);
	assert_int_equal(errors->count, 1);
	assert_string_equal(errors->texts[0], text);
}
