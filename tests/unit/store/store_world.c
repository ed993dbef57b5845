/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_world - a store in a directory of its own, for tests; see store_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/clock.h"
#include "store/embedded.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEADLINE_USEC = 100 * USEC_PER_SEC };

static void open_store(struct store_world *world)
{
	struct failure failure = { .error = 0 };

	if (store_open_embedded(world->event, store_open_begin(world->directory), &world->store,
				&failure) < 0)
		fail_msg("%s", failure.text);
}

void store_world_open(struct store_world *world)
{
	/* In memory where there is a place: these objects need not survive a power loss. */
	(void) snprintf(world->directory, sizeof(world->directory), "%s/podvol-store.XXXXXX",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(world->directory));
	assert_return_code(sd_event_new(&world->event), 0);
	open_store(world);
}

static void remove_files(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			assert_return_code(unlinkat(dirfd(dir), entry->d_name, 0), 0);
	(void) closedir(dir);
	assert_return_code(rmdir(directory), 0);
}

void store_world_close(struct store_world *world)
{
	world->store = store_free(world->store);
	world->event = sd_event_unref(world->event);
	remove_files(world->directory);
}

int store_world_setup(void **state)
{
	struct store_world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(world);
	*state = world;
	return 0;
}

int store_world_teardown(void **state)
{
	store_world_close(*state);
	free(*state);
	return 0;
}

void store_world_reopen(struct store_world *world)
{
	world->store = store_free(world->store);
	open_store(world);
}

void store_world_run(struct store_world *world, bool (*is_done)(void *userdata), void *userdata)
{
	uint64_t deadline = monotonic_usec() + DEADLINE_USEC;

	while (!is_done(userdata)) {
		assert_true(monotonic_usec() < deadline);
		assert_return_code(sd_event_run(world->event, 100 * USEC_PER_MSEC), 0);
	}
}

const struct object *object_of(const char *text)
{
	struct failure failure = { .error = 0 };
	const struct object *object = NULL;
	char *json = strdup(text);

	assert_non_null(json);
	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	if (object_parse_json(json, strlen(json), &object, &failure) < 0)
		fail_msg("%s: %s", json, failure.text);
	free(json);
	return object;
}

const struct object *make_volume(const char *name, const char *label)
{
	char text[1024];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'%s',"
			"'labels':{'test':'%s'}},'spec':{'capacity':{'storage':'1Gi'},"
			"'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/data'}}}",
			name, label);
	return object_of(text);
}

/* The kind that gets no finalizer. */
const struct object *make_class(const char *name)
{
	char text[256];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
			"'metadata':{'name':'%s'},'provisioner':'example.com/p'}",
			name);
	return object_of(text);
}

const struct object *make_claim(const char *name_space, const char *name, const char *finalizer)
{
	char text[1024], finalizers[128] = "";

	if (finalizer)
		(void) snprintf(finalizers, sizeof(finalizers), ",'finalizers':['%s']", finalizer);
	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'%s',"
			"'namespace':'%s'%s},'spec':{'accessModes':['ReadWriteOnce'],"
			"'resources':{'requests':{'storage':'1Gi'}}}}",
			name, name_space, finalizers);
	return object_of(text);
}

void answer_take(void *userdata, int error, const struct object *result, const struct failure *why)
{
	static unsigned int order;
	struct answer *answer = userdata;

	assert_false(answer->came);
	answer->came = true;
	answer->error = error;
	answer->order = ++order;
	if (error < 0) {
		assert_null(result);
		(void) snprintf(answer->text, sizeof(answer->text), "%s", why->text);
		return;
	}
	answer->resource_version = result->meta.resource_version;
	(void) snprintf(answer->uid, sizeof(answer->uid), "%s", result->meta.uid);
}

static bool has_come(void *userdata)
{
	return ((struct answer *) userdata)->came;
}

int answer_wait(struct store_world *world, struct answer *answer)
{
	store_world_run(world, has_come, answer);
	return answer->error;
}

int world_create(struct store_world *world, const struct object *object)
{
	struct answer answer = { .came = false };

	assert_int_equal(store_create(world->store, object, answer_take, &answer), 0);
	return answer_wait(world, &answer);
}

int world_update(struct store_world *world, const struct object *object)
{
	struct answer answer = { .came = false };

	assert_int_equal(store_update(world->store, object, NULL, answer_take, &answer), 0);
	return answer_wait(world, &answer);
}

int world_delete(struct store_world *world, enum object_kind kind, const char *name_space,
		 const char *name)
{
	struct answer answer = { .came = false };

	assert_int_equal(store_delete(world->store, &(struct store_key){ kind, name_space, name },
				      NULL, answer_take, &answer),
			 0);
	return answer_wait(world, &answer);
}

void world_put(struct store_world *world, const struct object *object)
{
	bool exists =
		store_get(world->store, object->kind, object->meta.name_space, object->meta.name);

	assert_int_equal(exists ? world_update(world, object) : world_create(world, object), 0);
}

void store_world_settle(struct store_world *world)
{
	uint64_t before;

	do {
		before = store_resource_version(world->store);
		for (unsigned int i = 0; i < 8; i++)
			(void) world_delete(world, KIND_POD, "ns", "none");
	} while (store_resource_version(world->store) != before);
}
