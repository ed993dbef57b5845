/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_table - uthash for tables inside each volume: most have one pod
 *
 * uthash begins each table with 32 places, 512 bytes. With this header, behind all others, tables
 * of the including file begin with one place and double as they grow. For .c files alone.
 */
#pragma once

#include "base/hash_table.h"

#undef HASH_INITIAL_NUM_BUCKETS
#undef HASH_INITIAL_NUM_BUCKETS_LOG2
#define HASH_INITIAL_NUM_BUCKETS      1U
#define HASH_INITIAL_NUM_BUCKETS_LOG2 0U
