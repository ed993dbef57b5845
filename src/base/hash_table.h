/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_table - uthash, whose tables hash a word at a time
 *
 * Keys are names of 40 to 90 bytes, and a restart looks up fifty for each pod: uthash's own hash
 * was a tenth of all its instructions. The sums differ between machines and are not stored. Keys
 * can be chosen to fall in one bucket, as with uthash's own, so what clients can add has limits.
 */
#pragma once

#include "base/fnv1a.h"

#define HASH_FUNCTION(key, length, hash) ((hash) = hash_of_bytes((key), (length)))
#include <uthash.h>

/* uthash takes the lowest bits, which the last bytes of a word have not reached in the sum: the
 * finalizer of splitmix64 makes each bit depend on all. */
static inline unsigned int hash_of_bytes(const void *bytes, size_t length)
{
	uint64_t sum = fnv1a_add_words(FNV1A_FIRST, bytes, length);

	sum = (sum ^ sum >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	sum = (sum ^ sum >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned int) (sum ^ sum >> 31);
}
