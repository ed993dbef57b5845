/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room - see room.h
 *
 * Two threads that note at once may lose a note: the next object brings it again.
 */
#include "object/room.h"

#include <stdatomic.h>

enum {
	DECODED_BYTES_MAX = 2048, /* what one large object may cost the next, small one */
	GROWN_BYTES_MAX = 512,    /* the same of texts */
};

static atomic_uint decoded_bytes[KIND_COUNT];

/* At first what is usual: of a burst hundreds are read before the first one is stored. */
static atomic_uint grown_bytes[KIND_COUNT] = {
	[KIND_POD] = 136, [KIND_PERSISTENT_VOLUME] = 424, [KIND_PERSISTENT_VOLUME_CLAIM] = 312
};

/* A claim's namespace, name and uid. Of a burst hundreds are decoded before one is bound. */
static const unsigned short bound_bytes[KIND_COUNT] = { [KIND_PERSISTENT_VOLUME] = 96 };

static unsigned int load(const atomic_uint *bytes)
{
	return atomic_load_explicit(bytes, memory_order_relaxed);
}

static void store(atomic_uint *bytes, unsigned int now)
{
	atomic_store_explicit(bytes, now, memory_order_relaxed);
}

size_t room_decoded(enum object_kind kind)
{
	return load(&decoded_bytes[kind]);
}

/* Up at once and down by steps: a claim before and after it is bound needs one allocation. */
void room_note_decoded(enum object_kind kind, size_t bytes)
{
	unsigned int now = bytes < DECODED_BYTES_MAX ? (unsigned int) bytes : DECODED_BYTES_MAX;
	unsigned int before = load(&decoded_bytes[kind]);

	store(&decoded_bytes[kind], now >= before ? now : before - (before - now) / 8);
}

size_t room_bound(enum object_kind kind)
{
	return bound_bytes[kind];
}

size_t room_grown(enum object_kind kind)
{
	return load(&grown_bytes[kind]);
}

/* Never down: a text grows by the stamp first and by the binding then, which would be too low. */
void room_note_grown(enum object_kind kind, size_t bytes)
{
	unsigned int now = bytes < GROWN_BYTES_MAX ? (unsigned int) bytes : GROWN_BYTES_MAX;

	if (now > load(&grown_bytes[kind]))
		store(&grown_bytes[kind], now);
}
