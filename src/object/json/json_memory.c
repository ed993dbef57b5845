/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_memory - memory of trees: small pieces are kept by the thread that freed them
 *
 * A tree is two or three small allocations for each member and lives for microseconds. glibc keeps
 * seven of a size for a thread; an object has fifty, and a group of writes has hundreds of objects,
 * so that most went the long way. Here a thread keeps some thousand of each size while it is busy.
 * Larger pieces, and those beyond, are malloc()'s and free()'s as before. The sizes are those that
 * malloc() gives, so a piece needs no header.
 */
#include "object/json/json.h"

#include <cjson/cJSON.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef __has_feature
#define HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#else
#define HAS_ADDRESS_SANITIZER 0
#endif

enum {
	STEP_BYTES = 16,  /* between two sizes that malloc() gives */
	LEAST_BYTES = 24, /* the first of them */
	SIZES = 8,        /* 24 to 136: texts, and cJSON's item of 64, alone or with its text */
	KEPT_MAX = 8192,  /* of a size, for a thread: 1.1 MiB of the largest */
	KEPT_IDLE = 256,  /* when it has nothing to do: 34 KiB of the largest */
};

struct kept_piece {
	struct kept_piece *next;
};

struct kept_pieces {
	struct kept_piece *first;
	unsigned int count;
};

static _Thread_local struct kept_pieces kept[SIZES];
static _Thread_local bool is_registered;
static pthread_key_t thread_end;

/* Return: the index of the size that holds so many bytes; SIZES or more: it is not kept. */
static size_t size_for(size_t bytes)
{
	return bytes <= LEAST_BYTES ? 0 : (bytes - LEAST_BYTES + STEP_BYTES - 1) / STEP_BYTES;
}

static void *take(size_t bytes)
{
	size_t size = size_for(bytes);
	struct kept_piece *piece;

	if (size >= SIZES)
		return malloc(bytes);
	piece = kept[size].first;
	if (!piece)
		return malloc(LEAST_BYTES + size * STEP_BYTES);
	kept[size].first = piece->next;
	kept[size].count--;
	return piece;
}

static void give_back(void *bytes)
{
	size_t usable = bytes ? malloc_usable_size(bytes) : 0;
	size_t size = usable < LEAST_BYTES ? SIZES : (usable - LEAST_BYTES) / STEP_BYTES;
	struct kept_piece *piece = bytes;

	if (size >= SIZES || kept[size].count >= KEPT_MAX) {
		free(bytes);
		return;
	}
	if (!is_registered)
		is_registered = pthread_setspecific(thread_end, kept) == 0;
	if (!is_registered) {
		free(bytes);
		return;
	}
	piece->next = kept[size].first;
	kept[size].first = piece;
	kept[size].count++;
}

static void free_down_to(struct kept_pieces *pieces, unsigned int count)
{
	while (pieces->count > count) {
		struct kept_piece *piece = pieces->first;

		pieces->first = piece->next;
		pieces->count--;
		free(piece);
	}
}

static void free_kept(void *userdata)
{
	struct kept_pieces *pieces = userdata;

	for (size_t size = 0; size < SIZES; size++)
		free_down_to(&pieces[size], 0);
	is_registered = false;
}

void json_memory_trim(void)
{
	for (size_t size = 0; size < SIZES; size++)
		free_down_to(&kept[size], KEPT_IDLE);
}

void json_memory_begin(void)
{
	static cJSON_Hooks hooks = { .malloc_fn = take, .free_fn = give_back };

	if (!HAS_ADDRESS_SANITIZER && pthread_key_create(&thread_end, free_kept) == 0)
		cJSON_InitHooks(&hooks);
}
