/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wipe - memory that is overwritten before it goes back
 *
 * Requests carry secrets, and nghttp2 copies them into frames of its own. Each piece knows its size
 * by a word in front of it. A piece from here goes back here and nowhere else.
 */
#ifndef PODVOL_GRPC_WIPE_H
#define PODVOL_GRPC_WIPE_H

#include <nghttp2/nghttp2.h>
#include <stddef.h>

void *wipe_malloc(size_t size);
void *wipe_realloc(void *memory, size_t size);
void wipe_free(void *memory); /* accepts NULL */

/* The same for nghttp2. */
nghttp2_mem *wipe_nghttp2(void);

#endif
