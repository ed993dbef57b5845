/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fnv1a - FNV-1a, 64 bits: tells texts apart and finds damage
 *
 *	sum = fnv1a_add_text(fnv1a_add_text(FNV1A_FIRST, namespace), name);
 *
 * Who chooses the texts can make two with one sum: compare what matters. Sums are stored (the
 * ledger, labels of loop devices, names of objects), so they are the same on every machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FNV1A_FIRST UINT64_C(0xcbf29ce484222325)

/* One number, usually a byte. */
static inline uint64_t fnv1a_add(uint64_t sum, uint64_t number)
{
	return (sum ^ number) * UINT64_C(0x100000001b3);
}

static inline uint64_t fnv1a_add_bytes(uint64_t sum, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < length; i++)
		sum = fnv1a_add(sum, at[i]);
	return sum;
}

static inline uint64_t fnv1a_add_text(uint64_t sum, const char *text)
{
	for (; *text; text++)
		sum = fnv1a_add(sum, (unsigned char) *text);
	return sum;
}

/* A word at a time, for long texts: another sum, in this machine's byte order. */
static inline uint64_t fnv1a_add_words(uint64_t sum, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t word;

	for (; length >= sizeof(word); length -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = fnv1a_add(sum, word);
		sum ^= sum >> 32;
	}
	return fnv1a_add_bytes(sum, at, length);
}
