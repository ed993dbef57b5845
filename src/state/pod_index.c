/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_index - which pods a change of another object concerns; see pod_index.h
 */
#include "state/pod_index.h"

#include "object/kinds/environment.h"

#include "base/array.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { REFERENCE_KEY_BYTES = 4 + 64 + 254, REFERENCES_FIRST_CAPACITY = 4 };

/* "23:namespace/name", by hand: each change of any object asks for its key. */
static void print_key(const struct object_reference *reference, char key[REFERENCE_KEY_BYTES])
{
	size_t space = strnlen(reference->name_space, 63), name = strnlen(reference->name, 253);
	unsigned int kind = (unsigned int) reference->kind;

	assert(kind < 100);
	key[0] = (char) ('0' + kind / 10);
	key[1] = (char) ('0' + kind % 10);
	key[2] = ':';
	memcpy(key + 3, reference->name_space, space);
	key[3 + space] = '/';
	memcpy(key + 4 + space, reference->name, name);
	key[4 + space + name] = '\0';
}

static bool has_key(const struct pod_references *references, const char *key)
{
	for (size_t i = 0; i < references->count; i++)
		if (strcmp(references->keys[i], key) == 0)
			return true;
	return false;
}

int pod_references_add(struct pod_references *references, const struct object_reference *reference)
{
	char key[REFERENCE_KEY_BYTES];
	char *copy;

	assert(references && reference && reference->name_space && reference->name);
	print_key(reference, key);
	if (has_key(references, key))
		return 0;
	if (ARRAY_ROOM(references->keys, references->count, references->capacity,
		       REFERENCES_FIRST_CAPACITY) < 0)
		return -ENOMEM;
	copy = strdup(key);
	if (!copy)
		return -ENOMEM;
	references->keys[references->count++] = copy;
	return 0;
}

struct environment_target {
	struct pod_references *references;
	const char *name_space;
};

static int add_environment_object(void *userdata, enum object_kind kind, const char *name)
{
	const struct environment_target *target = userdata;

	return pod_references_add(target->references,
				  &(struct object_reference){ kind, target->name_space, name });
}

int pod_references_add_environment(struct pod_references *references, const struct object *pod)
{
	struct environment_target target = { references, pod->meta.name_space };

	return environment_objects(pod, add_environment_object, &target);
}

void pod_references_done(struct pod_references *references)
{
	assert(references);
	for (size_t i = 0; i < references->count; i++)
		free(references->keys[i]);
	free(references->keys);
	*references = (struct pod_references){ .count = 0 };
}

/* After a pod was added to the key's set, or removed from it. */
static void note(const struct pod_index *index, const char *key, bool was_added)
{
	struct object_reference reference;
	char name_space[REFERENCE_KEY_BYTES];
	const char *colon = strchr(key, ':'), *slash = strchr(key, '/');

	if (!index->changed || name_sets_at(&index->pods, key, was_added ? 1 : 0))
		return;
	(void) snprintf(name_space, sizeof(name_space), "%.*s", (int) (slash - colon - 1),
			colon + 1);
	reference = (struct object_reference){ (enum object_kind) strtol(key, NULL, 10), name_space,
					       slash + 1 };
	index->changed(index->userdata, &reference, was_added);
}

/* The first @count keys. */
static void remove_keys(struct pod_index *index, const char *pod_uid,
			const struct pod_references *references, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		name_sets_remove(&index->pods, references->keys[i], pod_uid);
		note(index, references->keys[i], false);
	}
}

static bool are_equal(const struct pod_references *a, const struct pod_references *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->keys[i], b->keys[i]) != 0)
			return false;
	return true;
}

int pod_index_replace(struct pod_index *index, const char *pod_uid, struct pod_references *old,
		      struct pod_references *next)
{
	assert(index && pod_uid && old && next);
	if (are_equal(old, next)) {
		pod_references_done(next);
		return 0;
	}
	for (size_t i = 0; i < next->count; i++) {
		if (name_sets_add(&index->pods, next->keys[i], pod_uid) == 0) {
			note(index, next->keys[i], true);
			continue;
		}
		remove_keys(index, pod_uid, next, i);
		pod_references_done(next);
		return -ENOMEM;
	}
	remove_keys(index, pod_uid, old, old->count);
	pod_references_done(old);
	*old = *next;
	*next = (struct pod_references){ .count = 0 };
	return 0;
}

const char *pod_index_at(const struct pod_index *index, const struct object_reference *reference,
			 size_t position)
{
	char key[REFERENCE_KEY_BYTES];

	assert(index && reference);
	print_key(reference, key);
	return name_sets_at(&index->pods, key, position);
}
