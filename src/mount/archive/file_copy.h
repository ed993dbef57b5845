/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_copy - the content of one file into another, holes kept [worker]
 *
 * Where the file system can share blocks nothing is copied; what cannot be shared is copied by the
 * kernel where it can.
 */
#pragma once

#include "base/failure.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct file_extent {
	uint64_t start, length;
};

/* The next stretch of data at or after @from in a file of @size bytes; of length 0 at @size where
 * only a hole is left. A file system that knows no holes has one stretch. Return: 0; as lseek(2).
 */
int file_next_extent(int fd, uint64_t from, uint64_t size, struct file_extent *ret);

/**
 * file_copy - @to_fd is empty
 * @cancel: looked at between portions; may be NULL
 * @copied: raised by the bytes that were written, not by those that are shared; may be NULL
 *
 * A file that is written to meanwhile is copied as it is found, portion by portion.
 *
 * Return: 1 all blocks are shared; 0 copied; -ECANCELED; as the calls.
 */
int file_copy(int from_fd, int to_fd, const atomic_bool *cancel, _Atomic uint64_t *copied,
	      struct failure *reterr);
