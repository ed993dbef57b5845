/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_quantity - quantities of any origin: in order, and negation is the mirror image
 */
#include "fuzz.h"

#include "object/quantity.h"

#include <stdio.h>
#include <string.h>

static void check_negation(const char *text, const struct quantity *quantity)
{
	char negated[600];
	struct quantity mirror;

	(void) snprintf(negated, sizeof(negated), "-%s", text + (*text == '+' ? 1 : 0));
	HOLDS(quantity_parse(negated, &mirror, NULL) == 0);
	HOLDS(mirror.milli == -quantity->milli);
	HOLDS(quantity_compare(&mirror, quantity) == (quantity->milli > 0 ? -1 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct quantity quantity = { 0 }, doubled;
	struct failure failure = { 0 };
	char text[500];
	int64_t value;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (quantity_parse(text, &quantity, &failure) < 0) {
		HOLDS(failure.text[0] != '\0' && !quantity.is_set);
		return 0;
	}
	value = quantity_value(&quantity);
	HOLDS(quantity.is_set);
	HOLDS((value > 0) == (quantity.milli > 0) && (value < 0) == (quantity.milli < 0));
	HOLDS(value == INT64_MAX || (__int128) value * 1000 >= quantity.milli ||
	      quantity.milli < 0);
	doubled = quantity;
	if (quantity.milli > 0 && quantity.milli < ((__int128) 1 << 120)) {
		doubled.milli *= 2;
		HOLDS(quantity_compare(&quantity, &doubled) == -1);
		HOLDS(quantity_value(&doubled) >= value);
	}
	if (*text != '-')
		check_negation(text, &quantity);
	return 0;
}
