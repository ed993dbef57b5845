/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared - see shared.h
 */
#include "object/shared.h"

#include "object/json/json_tree.h"
#include "object/printed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void add(atomic_uint *count)
{
	unsigned int before = atomic_fetch_add_explicit(count, 1, memory_order_relaxed);

	assert(before > 0);
	(void) before;
}

/* Return: it was the last one. */
static bool drop(atomic_uint *count)
{
	unsigned int before = atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel);

	assert(before > 0);
	return before == 1;
}

void shared_use(struct shared_object *shared)
{
	add(&shared->uses);
}

static void drop_use(struct shared_object *shared)
{
	while (shared && drop(&shared->uses)) {
		struct shared_object *next = shared->decoded;

		arena_done(&shared->arena);
		free(shared);
		shared = next;
	}
}

const struct object *object_ref(const struct object *object)
{
	if (object)
		add(&shared(object)->references);
	return object;
}

const struct object *object_unref(const struct object *object)
{
	struct shared_object *own = shared(object);

	if (!object || !drop(&own->references))
		return NULL;
	json_free(own->object.tree);
	free(own->apart);
	drop_use(own);
	return NULL;
}

void object_unref_pointer(const struct object **object)
{
	(void) object_unref(*object);
}

struct shared_object *shared_new(enum object_kind kind, size_t room, const struct printed *printed,
				 size_t apart_size)
{
	const struct text_buffer *text = &printed->text;
	char *apart = apart_size > 0 ? malloc(apart_size) : NULL, *json;
	struct shared_object *made = NULL;

	if (apart_size == 0 || apart)
		made = malloc(sizeof(*made) + room + (apart ? 0 : text->used + 1));
	if (!made) {
		free(apart);
		return NULL;
	}
	memset(made, 0, sizeof(*made) + room);
	json = apart ? apart : made->bytes + room;
	memcpy(json, text->bytes, text->used);
	json[text->used] = '\0';
	made->apart = apart;
	made->apart_size = (uint32_t) apart_size;
	made->proposed_length = (uint32_t) text->used;
	made->object.kind = kind;
	made->object.json = json;
	made->object.json_length = text->used;
	made->object.metadata = printed->metadata;
	made->object.spec = printed->spec;
	arena_init_with(&made->arena, made->bytes, room);
	atomic_init(&made->references, 1);
	atomic_init(&made->uses, 1);
	return made;
}
