/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz - what every fuzz target has: its entry, and how it says that something is wrong
 *
 * Knows no target.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>

/* One input. Return: 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has to be true of any input; else the program ends, and the fuzzer keeps the input. */
#define HOLDS(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)
