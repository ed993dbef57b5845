/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_world - a directory of manifests and a store, for tests; see manifest_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SETTLE_USEC = 20 * USEC_PER_MSEC };

static void on_ready(void *userdata)
{
	struct manifest_world *world = userdata;

	assert_false(world->is_ready);
	world->is_ready = true;
}

static void on_changed(void *userdata)
{
	((struct manifest_world *) userdata)->changes++;
}

void manifest_world_start(struct manifest_world *world)
{
	const struct manifest_source_options options = {
		.directory = world->directory,
		.node_name = "this-node",
		.run_dir = world->parent,
		.settle_usec = SETTLE_USEC,
		.ready = on_ready,
		.changed = on_changed,
		.userdata = world,
	};
	struct failure failure = { .error = 0 };

	world->is_ready = false;
	if (manifest_source_new(world->store.event, world->store.store, &options, &world->source,
				&failure) < 0)
		fail_msg("%s", failure.text);
}

void manifest_world_stop(struct manifest_world *world)
{
	world->source = manifest_source_free(world->source);
}

static bool is_ready(void *userdata)
{
	return ((struct manifest_world *) userdata)->is_ready;
}

void manifest_world_wait_ready(struct manifest_world *world)
{
	store_world_run(&world->store, is_ready, world);
}

void manifest_world_open(struct manifest_world *world)
{
	store_world_open(&world->store);
	(void) snprintf(world->parent, sizeof(world->parent), "/tmp/podvol-manifests.XXXXXX");
	assert_non_null(mkdtemp(world->parent));
	(void) snprintf(world->directory, sizeof(world->directory), "%s/manifests", world->parent);
	assert_return_code(mkdir(world->directory, 0755), 0);
	manifest_world_start(world);
	manifest_world_wait_ready(world);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

void remove_everything(const char *directory)
{
	assert_return_code(nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void manifest_world_close(struct manifest_world *world)
{
	manifest_world_stop(world);
	store_world_close(&world->store);
	remove_everything(world->parent);
}

int manifest_world_setup(void **state)
{
	struct manifest_world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	manifest_world_open(world);
	*state = world;
	return 0;
}

int manifest_world_teardown(void **state)
{
	manifest_world_close(*state);
	free(*state);
	return 0;
}

void put_file(struct manifest_world *world, const char *name, const char *text)
{
	char from[160], to[160];
	FILE *file;

	(void) snprintf(from, sizeof(from), "%s/new", world->parent);
	(void) snprintf(to, sizeof(to), "%s/%s", world->directory, name);
	file = fopen(from, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
	assert_return_code(rename(from, to), 0);
}

void remove_file(struct manifest_world *world, const char *name)
{
	char path[160];

	(void) snprintf(path, sizeof(path), "%s/%s", world->directory, name);
	assert_return_code(unlink(path), 0);
}

/* ---- waiting ---- */

struct wanted {
	struct manifest_world *world;
	enum object_kind kind;
	const char *name, *text; /* text NULL: any */
	bool is_found;
};

const struct object *stored(struct manifest_world *world, enum object_kind kind, const char *name)
{
	bool namespaced = kind == KIND_POD || kind == KIND_PERSISTENT_VOLUME_CLAIM;

	return store_get(world->store.store, kind, namespaced ? "default" : "", name);
}

static bool is_there(void *userdata)
{
	const struct wanted *wanted = userdata;
	const struct object *object = stored(wanted->world, wanted->kind, wanted->name);

	return object && (!wanted->text || strstr(object->json, wanted->text));
}

static bool is_absent(void *userdata)
{
	return !is_there(userdata);
}

const struct object *wait_for_text(struct manifest_world *world, enum object_kind kind,
				   const char *name, const char *text)
{
	struct wanted wanted = { .world = world, .kind = kind, .name = name, .text = text };

	store_world_run(&world->store, is_there, &wanted);
	return stored(world, kind, name);
}

const struct object *wait_for_object(struct manifest_world *world, enum object_kind kind,
				     const char *name)
{
	return wait_for_text(world, kind, name, NULL);
}

void wait_for_absence(struct manifest_world *world, enum object_kind kind, const char *name)
{
	struct wanted wanted = { .world = world, .kind = kind, .name = name };

	store_world_run(&world->store, is_absent, &wanted);
}

static int match_problem(const struct manifest_problem *problem, void *userdata)
{
	const struct wanted *wanted = userdata;
	char text[512];

	(void) snprintf(text, sizeof(text), "%s:%s/%s/%s:%s", problem->file, problem->kind,
			problem->name_space, problem->name, problem->text);
	return strstr(text, wanted->text) != NULL;
}

static bool has_problem(void *userdata)
{
	const struct wanted *wanted = userdata;

	return manifest_source_problems(wanted->world->source, match_problem, userdata) > 0;
}

void wait_for_problem(struct manifest_world *world, const char *text)
{
	struct wanted wanted = { .world = world, .text = text };

	store_world_run(&world->store, has_problem, &wanted);
}

static int count_problem(const struct manifest_problem *problem, void *userdata)
{
	++*(size_t *) userdata;
	return 0;
}

char *uid_of(struct manifest_world *world, const char *pod)
{
	return strdup(stored(world, KIND_POD, pod)->meta.uid);
}

size_t problem_count(struct manifest_world *world)
{
	size_t count = 0;

	assert_int_equal(manifest_source_problems(world->source, count_problem, &count), 0);
	return count;
}

static bool has_no_problems(void *userdata)
{
	return problem_count(userdata) == 0;
}

void wait_for_no_problems(struct manifest_world *world)
{
	store_world_run(&world->store, has_no_problems, world);
}

/* A class put after them is stored after them; what vanished is judged when a stroke that began
 * later is. */
void settle(struct manifest_world *world)
{
	static unsigned int count;
	uint64_t until = monotonic_usec() + 2 * SETTLE_USEC;
	char text[256], name[32];

	(void) snprintf(name, sizeof(name), "settle-%u", ++count);
	(void) snprintf(text, sizeof(text),
			"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s}\n"
			"provisioner: example.com/p\n",
			name);
	put_file(world, "zzz-settle.yaml", text);
	(void) wait_for_object(world, KIND_STORAGE_CLASS, name);
	while (monotonic_usec() < until)
		assert_return_code(sd_event_run(world->store.event, USEC_PER_MSEC), 0);
}
