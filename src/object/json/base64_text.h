/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64_text - a Secret's value as a text: RFC 4648, with padding, line breaks passed over
 */
#ifndef PODVOL_OBJECT_BASE64_TEXT_H
#define PODVOL_OBJECT_BASE64_TEXT_H

/* Return: 0 and the text, to be freed; -EINVAL no base64; -EILSEQ the bytes are no text, because
 * one is NUL; -ENOMEM. */
int base64_decode_text(const char *encoded, char **ret);

#endif
