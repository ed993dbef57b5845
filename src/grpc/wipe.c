/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wipe - memory that is overwritten before it goes back
 */
#include "grpc/session.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct piece {
	alignas(max_align_t) size_t size;
	alignas(max_align_t) unsigned char memory[];
};

static struct piece *piece_of(void *memory)
{
	return (struct piece *) ((unsigned char *) memory - offsetof(struct piece, memory));
}

void *wipe_malloc(size_t size)
{
	struct piece *piece;

	if (size > SIZE_MAX / 2)
		return NULL;
	piece = malloc(offsetof(struct piece, memory) + size);
	if (!piece)
		return NULL;
	piece->size = size;
	return piece->memory;
}

void wipe_free(void *memory)
{
	struct piece *piece;

	if (!memory)
		return;
	piece = piece_of(memory);
	explicit_bzero(piece->memory, piece->size);
	free(piece);
}

/* realloc(3) may move a piece and leave the old bytes behind. */
void *wipe_realloc(void *memory, size_t size)
{
	void *moved;
	size_t old;

	if (!memory)
		return wipe_malloc(size);
	old = piece_of(memory)->size;
	moved = wipe_malloc(size);
	if (!moved)
		return NULL;
	memcpy(moved, memory, old < size ? old : size);
	wipe_free(memory);
	return moved;
}
