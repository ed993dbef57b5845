/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_memory - memory of trees: small pieces are kept by the thread that freed them
 *
 * A tree is three small allocations for each member and lives for microseconds. glibc keeps seven
 * of a size for a thread; an object has fifty, and a group of writes has hundreds of objects, so
 * that most went the long way. Here a thread keeps some thousand of each size while it is busy.
 * Larger pieces, and those beyond, are malloc()'s and free()'s as before. The sizes are those that
 * malloc() gives, so a piece needs no header.
 */
#pragma once

/* Of this whole process, whose cJSON must have no other user: for the daemon's main(), not for the
 * library. With an address sanitizer nothing changes: it would not see what is used after its end.
 */
void json_memory_begin(void);

/* This thread has nothing to do: keep some hundred pieces of each size. */
void json_memory_trim(void);
