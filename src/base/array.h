/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array - room at the end of an array that grows by doubling
 *
 * Not for secrets: growing leaves copies behind.
 */
#pragma once

#include <stddef.h>

/* For one item more than @count: @items is the array, NULL at first, @room how many fit in it,
 * @first how many do at first. Return: 0; -ENOMEM, and nothing changed. */
#define ARRAY_ROOM(items, count, room, first)                                                      \
	((count) < (room) ? 0 : array_grow(&(items), sizeof(*(items)), count, &(room), first))

/* That where none is left. @items: a pointer to the pointer to the array, whatever it is an array
 * of. */
int array_grow(void *items, size_t item_bytes, size_t count, size_t *room, size_t first);
