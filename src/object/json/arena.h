/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena - memory of one decoded object: taken piece by piece, freed at once
 *
 * Only src/object/ uses it. Running out of memory is kept in the arena: strings are then "", arrays
 * NULL with count 0, so that a decoder needs no check of its own and its caller asks once,
 * arena_exhausted().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct cJSON;

struct arena {
	struct arena_block *blocks;
	char *next;  /* free bytes of the newest block begin here */
	size_t left; /* and there are so many */
	size_t used; /* bytes handed out, gaps between them included */
	bool exhausted;
};

/* All zero is an empty arena, too. */
void arena_init(struct arena *arena);
/* The first pieces come out of @bytes, which are zero, aligned for any type, the caller's, and
 * there as long as the arena. */
void arena_init_with(struct arena *arena, void *bytes, size_t length);
void arena_done(struct arena *arena);

/* @count elements of @size bytes, zeroed and aligned for any type; NULL when there is no memory. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A copy of @text; "" for "" or NULL (without taking memory) and when there is no memory. */
const char *arena_string(struct arena *arena, const char *text);

/* The text of a member of @object, of the member at a path, as json_text(). */
const char *arena_text(struct arena *arena, const struct cJSON *object, const char *key);
const char *arena_text_at(struct arena *arena, const struct cJSON *object, const char *path);

/* The first @length bytes of @text. */
const char *arena_string_length(struct arena *arena, const char *text, size_t length);

/* So many bytes hold the pieces taken until now. */
static inline size_t arena_size(const struct arena *arena)
{
	return arena->used;
}

static inline bool arena_exhausted(const struct arena *arena)
{
	return arena->exhausted;
}
