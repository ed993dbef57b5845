/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena - see arena.h
 *
 * Blocks are a list; the newest serves. A piece that does not fit begins a new block, and what was
 * left in the old one is lost: objects are small, one block mostly does.
 */
#include "object/json/arena.h"

#include "object/json/json.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK_BYTES = 480 }; /* 512 with what malloc adds */

struct arena_block {
	struct arena_block *older;
	_Alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *arena)
{
	*arena = (struct arena){ 0 };
}

void arena_init_with(struct arena *arena, void *bytes, size_t length)
{
	*arena = (struct arena){ .next = bytes, .left = length };
}

void arena_done(struct arena *arena)
{
	struct arena_block *older;

	for (struct arena_block *block = arena->blocks; block; block = older) {
		older = block->older;
		free(block);
	}
	arena_init(arena);
}

static bool add_block(struct arena *arena, size_t least)
{
	size_t bytes = least > ARENA_BLOCK_BYTES ? least : ARENA_BLOCK_BYTES;
	struct arena_block *block = NULL;

	if (bytes <= SIZE_MAX - sizeof(*block))
		block = calloc(1, sizeof(*block) + bytes);
	if (!block) {
		arena->exhausted = true;
		return false;
	}
	block->older = arena->blocks;
	arena->blocks = block;
	arena->next = block->bytes;
	arena->left = bytes;
	return true;
}

/* Blocks come zeroed and no byte is handed out twice. A gap counts as used also where a new block
 * makes it needless: so much would have sufficed in one block. */
static void *take(struct arena *arena, size_t bytes, size_t alignment)
{
	size_t gap = (size_t) (-(uintptr_t) arena->next & (alignment - 1));
	char *piece;

	if (arena->left < gap || arena->left - gap < bytes) {
		if (!add_block(arena, bytes))
			return NULL;
		arena->used += gap;
		gap = 0;
	}
	piece = arena->next + gap;
	arena->used += gap + bytes;
	arena->next += gap + bytes;
	arena->left -= gap + bytes;
	return piece;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;

	assert(size > 0);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		arena->exhausted = true;
		return NULL;
	}
	if (bytes == 0)
		return NULL;
	return take(arena, bytes, _Alignof(max_align_t));
}

const char *arena_string_length(struct arena *arena, const char *text, size_t length)
{
	char *copy;

	assert(text || length == 0);
	if (length == 0)
		return "";
	copy = take(arena, length + 1, 1);
	if (!copy)
		return "";
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

const char *arena_string(struct arena *arena, const char *text)
{
	return arena_string_length(arena, text, text ? strlen(text) : 0);
}

const char *arena_text(struct arena *arena, const struct cJSON *object, const char *key)
{
	return arena_string(arena, json_text(object, key));
}

const char *arena_text_at(struct arena *arena, const struct cJSON *object, const char *path)
{
	return arena_string(arena, json_text_at(object, path));
}
