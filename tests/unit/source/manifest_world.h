/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_world - a directory of manifests, a store and a source between them, for tests
 *
 * Real inotify in a directory made by mkdtemp(); waiting is running the loop until a condition
 * holds, bounded.
 */
#pragma once

#include "source/source.h"
#include "tests/unit/store/store_world.h"

struct manifest_world {
	struct store_world store;
	char parent[64], directory[96]; /* @parent is the run directory, too */
	struct manifest_source *source;
	bool is_ready;
	unsigned int changes; /* calls of changed() */
};

/* The directory exists and is empty; the source is ready. */
void manifest_world_open(struct manifest_world *world);
void manifest_world_close(struct manifest_world *world);
/* The same for cmocka: the test's *state is the world. */
int manifest_world_setup(void **state);
int manifest_world_teardown(void **state);

/* Begin a source on the directory as it is; does not wait. */
void manifest_world_start(struct manifest_world *world);
void manifest_world_stop(struct manifest_world *world);
void manifest_world_wait_ready(struct manifest_world *world);

/* Write a file as a whole and rename it to @name. */
void put_file(struct manifest_world *world, const char *name, const char *text);
void remove_file(struct manifest_world *world, const char *name);
void remove_everything(const char *directory);

/* A pod with one hostPath volume. */
#define POD(name, path)                                                                            \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec:\n"                           \
	"  containers: [{name: c, image: i}]\n"                                                    \
	"  volumes: [{name: v, hostPath: {path: " path "}}]\n"
#define CLAIM(name)                                                                                \
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name "}\nspec:\n"         \
	"  accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n"

/* Run the loop until the object is there, or is not. */
const struct object *wait_for_object(struct manifest_world *world, enum object_kind kind,
				     const char *name);
void wait_for_absence(struct manifest_world *world, enum object_kind kind, const char *name);
/* Run the loop until the object's bytes contain @text. */
const struct object *wait_for_text(struct manifest_world *world, enum object_kind kind,
				   const char *name, const char *text);
/* Run the loop until a problem's "file:text" contains @text. */
void wait_for_problem(struct manifest_world *world, const char *text);
void wait_for_no_problems(struct manifest_world *world);
/* Run the loop until everything that was put before was looked at and written. */
void settle(struct manifest_world *world);

const struct object *stored(struct manifest_world *world, enum object_kind kind, const char *name);
/* A copy; the caller frees it. */
char *uid_of(struct manifest_world *world, const char *pod);
size_t problem_count(struct manifest_world *world);
