/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_commit - the commits of a store, counted, and failing when a test wants it
 *
 * Link with -Wl,--wrap=database_commit. They come from the store's thread.
 */
#pragma once

#include <stdatomic.h>

extern atomic_int next_error; /* of the next commit alone; 0: it is made */
extern atomic_uint commits;   /* asked for, those that failed included */
