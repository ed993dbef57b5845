/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity - see quantity.h
 *
 * <sign><number><suffix>: number is digits with at most one point; the suffix is binary (Ki to Ei),
 * decimal (n, u, m, k to E) or an exponent (e3, E-2). Like Kubernetes, anything finer than the
 * resolution is rounded away from zero, there to a billionth, here to a thousandth.
 */
#include "object/quantity.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 wide;

static const wide WIDE_MAX = ((wide) 1 << 127) - 1; /* what the signed count can hold */

struct number {
	wide digits;    /* all digits without the point */
	int fraction;   /* how many of them stand behind it */
	bool saturated; /* more digits before the point than fit */
	bool lost;      /* digits behind it that did not fit were not zero */
};

static int malformed(const char *text, struct failure *reterr)
{
	return failed_plain(reterr, -EINVAL,
			    "quantities must match the regular expression "
			    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': \"%.60s\"",
			    text);
}

static void add_digit(struct number *number, int digit, bool behind_point)
{
	wide grown;
	bool overflow = __builtin_mul_overflow(number->digits, (wide) 10, &grown) ||
			grown > WIDE_MAX - (wide) digit;

	if (overflow && behind_point) {
		number->lost = number->lost || digit > 0; /* far too fine to matter */
		return;
	}
	number->saturated = number->saturated || overflow;
	if (!number->saturated)
		number->digits = grown + (wide) digit;
	number->fraction += behind_point ? 1 : 0;
}

static const char *parse_digits(const char *text, struct number *ret)
{
	bool behind_point = false, any = false;

	*ret = (struct number){ 0 };
	for (;; text++) {
		if (*text == '.' && !behind_point) {
			behind_point = true;
		} else if (*text >= '0' && *text <= '9') {
			add_digit(ret, *text - '0', behind_point);
			any = true;
		} else {
			return any ? text : NULL;
		}
	}
}

struct scale {
	int binary;  /* 2 to the power of */
	int decimal; /* 10 to the power of */
};

/* "e3", "E-2"; a bare "E" is the suffix. */
static bool parse_exponent(const char *text, struct scale *ret)
{
	bool negative = text[1] == '-';
	int exponent = 0;

	text += text[1] == '-' || text[1] == '+' ? 2 : 1;
	if (*text == '\0')
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		if (exponent < 1000) /* beyond any range here; go on reading only */
			exponent = exponent * 10 + (*text - '0');
	}
	*ret = (struct scale){ .decimal = negative ? -exponent : exponent };
	return true;
}

static bool parse_suffix(const char *text, struct scale *ret)
{
	static const struct {
		char suffix[3];
		struct scale scale;
	} suffixes[] = {
		{ "", { 0, 0 } },    { "n", { 0, -9 } },  { "u", { 0, -6 } },  { "m", { 0, -3 } },
		{ "k", { 0, 3 } },   { "M", { 0, 6 } },   { "G", { 0, 9 } },   { "T", { 0, 12 } },
		{ "P", { 0, 15 } },  { "E", { 0, 18 } },  { "Ki", { 10, 0 } }, { "Mi", { 20, 0 } },
		{ "Gi", { 30, 0 } }, { "Ti", { 40, 0 } }, { "Pi", { 50, 0 } }, { "Ei", { 60, 0 } },
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strcmp(text, suffixes[i].suffix) == 0) {
			*ret = suffixes[i].scale;
			return true;
		}
	}
	return (*text == 'e' || *text == 'E') && parse_exponent(text, ret);
}

/* @value times 2^binary times 10^decimal, rounded up, saturated. */
static wide scale_up(wide value, struct scale scale, bool lost)
{
	bool remainder = lost;

	if (value == 0)
		return lost ? 1 : 0;
	for (; scale.binary > 0; scale.binary--) {
		if (value > WIDE_MAX / 2)
			return WIDE_MAX;
		value *= 2;
	}
	for (; scale.decimal > 0; scale.decimal--) {
		if (value > WIDE_MAX / 10)
			return WIDE_MAX;
		value *= 10;
	}
	for (; scale.decimal < 0 && value > 0; scale.decimal++) {
		remainder = remainder || value % 10 != 0;
		value /= 10;
	}
	return value + (remainder && value < WIDE_MAX ? 1 : 0);
}

int quantity_parse(const char *text, struct quantity *ret, struct failure *reterr)
{
	bool negative = text && *text == '-';
	struct number number;
	struct scale scale;
	const char *suffix;
	wide value;

	assert(text && ret);
	if (strnlen(text, QUANTITY_BYTES_MAX + 1) > QUANTITY_BYTES_MAX)
		return failed_plain(reterr, -EINVAL, "a quantity has at most %d bytes",
				    QUANTITY_BYTES_MAX);
	suffix = parse_digits(text + (*text == '-' || *text == '+' ? 1 : 0), &number);
	if (!suffix || !parse_suffix(suffix, &scale))
		return malformed(text, reterr);
	scale.decimal += 3 - number.fraction; /* counted in thousandths */
	value = number.saturated ? WIDE_MAX : scale_up(number.digits, scale, number.lost);
	ret->milli = negative ? -(__int128) value : (__int128) value;
	ret->is_set = true;
	return 0;
}

int64_t quantity_value(const struct quantity *quantity)
{
	__int128 whole;

	assert(quantity);
	if (!quantity->is_set)
		return 0;
	whole = quantity->milli / 1000;
	if (quantity->milli % 1000 != 0)
		whole += quantity->milli > 0 ? 1 : -1; /* away from zero, as ScaledValue() */
	if (whole > INT64_MAX)
		return INT64_MAX;
	return whole < INT64_MIN ? INT64_MIN : (int64_t) whole;
}

int quantity_compare(const struct quantity *a, const struct quantity *b)
{
	__int128 left = a && a->is_set ? a->milli : 0, right = b && b->is_set ? b->milli : 0;

	return left < right ? -1 : left > right;
}

void quantity_print_bytes(int64_t bytes, char ret[QUANTITY_TEXT_BYTES])
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	size_t unit = 0;

	for (; bytes > 0 && bytes % 1024 == 0 && unit + 1 < ARRAY_SIZE(units); unit++)
		bytes /= 1024;
	(void) snprintf(ret, QUANTITY_TEXT_BYTES, "%" PRId64 "%s", bytes, units[unit]);
}
