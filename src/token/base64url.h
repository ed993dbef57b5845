/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64url - bytes as text in tokens: RFC 4648, section 5, without padding
 *
 * Only what an encoder writes is taken: another alphabet, padding, blanks or bits that are left
 * over are refused, so that a token has one spelling.
 */
#ifndef PODVOL_TOKEN_BASE64URL_H
#define PODVOL_TOKEN_BASE64URL_H

#include <stddef.h>

/* Characters for so many bytes, the NUL included. */
#define BASE64URL_BYTES(length) (((length) *4 + 2) / 3 + 1)

/* @ret has BASE64URL_BYTES(@length). Return: characters written, without the NUL. */
size_t base64url_encode(const void *bytes, size_t length, char *ret);

/* @ret has room for @length * 3 / 4 bytes. Return: 0 and how many; -EINVAL. */
int base64url_decode(const char *text, size_t length, void *ret, size_t *ret_length);

#endif
