/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_id - a number for this program with the libraries that are loaded
 *
 * What this very program has checked or understood need not be checked again by its next process.
 * Another version has other files, even under the same names: their device, inode, size and times
 * count, and their content does not. It says nothing of who wrote a record that has the number.
 */
#pragma once

#include <stdint.h>

/* At the beginning of a process: a file may be replaced while the program runs. Blocks on the disk.
 * Return: 0: unknown, which no record may have. */
uint64_t program_id(void);
