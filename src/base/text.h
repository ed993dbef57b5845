/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - formatted texts in memory of their own
 */
#pragma once

#include <stdio.h>

/* As asprintf(3), freed with free(); NULL: no memory. */
#define new_text(...)                                                                              \
	({                                                                                         \
		char *new_text_;                                                                   \
		asprintf(&new_text_, __VA_ARGS__) < 0 ? NULL : new_text_;                          \
	})
