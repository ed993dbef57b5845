/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity - resource.Quantity: "10Gi", "1500m", "1e3"; exact, never a double
 *
 * Values beyond 64 bits keep their order (1E against 1000E, case 376): a quantity is a 128-bit
 * count of thousandths, saturated at its ends.
 */
#pragma once

#include "base/failure.h"

#include <stdbool.h>
#include <stdint.h>

struct quantity {
	__int128 milli;
	bool is_set;
};

enum {
	QUANTITY_BYTES_MAX = 1024, /* of its text: more digits say nothing */
};

/* @text as the API writes it. Return: 0, or -EINVAL with what is wrong. */
int quantity_parse(const char *text, struct quantity *ret, struct failure *reterr);

/* Whole units, rounded up as Kubernetes' Value() does, saturated to int64_t. */
int64_t quantity_value(const struct quantity *quantity);

/* Bytes as the API writes them: "1Gi", "1500Mi", "1000". */
enum { QUANTITY_TEXT_BYTES = 24 };
void quantity_print_bytes(int64_t bytes, char ret[QUANTITY_TEXT_BYTES]);

/* < 0, 0, > 0; an unset quantity counts as zero. */
int quantity_compare(const struct quantity *a, const struct quantity *b);
