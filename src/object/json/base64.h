/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64 - bytes as text in Secrets and ConfigMaps: RFC 4648, with padding, line breaks passed over
 *
 * The URL alphabet is another one and refused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Does @text stand for bytes, and for how many? @ret_bytes is written only when it does. */
bool base64_measure(const char *text, size_t *ret_bytes);

/* The bytes, with a NUL behind them that does not count; to be freed with free(). Return: 0;
 * -EINVAL no base64; -ENOMEM. */
int base64_decode(const char *text, char **ret, size_t *ret_length);

/* @length bytes as text, to be freed with free(); NULL: no memory. */
char *base64_encode(const char *bytes, size_t length);

/* ---- base64_text.c ---- */

/* A Secret's value as a text: RFC 4648, with padding, line breaks passed over. */

/* Return: 0 and the text, to be freed; -EINVAL no base64; -EILSEQ the bytes are no text, because
 * one is NUL; -ENOMEM. */
int base64_decode_text(const char *encoded, char **ret);
