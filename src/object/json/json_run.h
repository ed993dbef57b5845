/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_run - how many bytes of a string stand for themselves in JSON
 *
 * Eight bytes at a time: nearly all strings need no escape. Looks at bytes only; what is not ASCII
 * is the caller's to judge.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSON_ONES UINT64_C(0x0101010101010101)

/* The highest bit of each byte that is less than @limit, for limits and bytes up to 0x80; bytes
 * from 0x80 on are never less. */
static inline uint64_t json_bytes_below(uint64_t word, unsigned char limit)
{
	return (word - JSON_ONES * limit) & ~word & (JSON_ONES * 0x80);
}

/* Not zero: some byte is a quote, a backslash or a control character. */
static inline uint64_t json_escapes(uint64_t word)
{
	return json_bytes_below(word, 0x20) | json_bytes_below(word ^ JSON_ONES * '"', 1) |
	       json_bytes_below(word ^ JSON_ONES * '\\', 1);
}

/* Does no byte need an escape? Up to seven bytes behind them are looked at, too. */
static inline bool json_is_plain(const char *text, size_t length)
{
	uint64_t found = 0, word;

	for (size_t at = 0; at < length; at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		found |= json_escapes(word);
	}
	return found == 0;
}

static inline bool json_needs_escape(unsigned char byte)
{
	return byte < 0x20 || byte == '"' || byte == '\\';
}

/* Bytes from @text on without quote, backslash and control character; with @ascii only such. */
static inline size_t json_plain_run(const char *text, size_t length, bool ascii)
{
	const unsigned char high = ascii ? 0x80 : 0;
	size_t run = 0;

	while (length - run >= sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, text + run, sizeof(word));
		word = (word & JSON_ONES * high) | json_escapes(word);
		/* The lowest one is exact: a borrow reaches only those above it. */
		if (word != 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			return run + (size_t) __builtin_ctzll(word) / 8;
		if (word != 0)
			break;
		run += sizeof(word);
	}
	while (run < length && !json_needs_escape((unsigned char) text[run]) &&
	       !((unsigned char) text[run] & high))
		run++;
	return run;
}
