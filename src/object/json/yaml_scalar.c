/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_scalar - see yaml.h
 *
 * The first byte decides what a scalar may be, as in go-yaml: a digit or a sign a number, '.' a
 * fraction, a few letters a word of the table. Anything else, and whatever fits nowhere, is a
 * string.
 */
#include "object/json/yaml.h"

#include "base/cleanup.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { PLAIN_BYTES = 400 }; /* longer than any number that is not infinite or zero by its size */

static const struct {
	const char *text;
	enum yaml_scalar_type type;
} words[] = {
	{ "y", YAML_SCALAR_TRUE },
	{ "Y", YAML_SCALAR_TRUE },
	{ "yes", YAML_SCALAR_TRUE },
	{ "Yes", YAML_SCALAR_TRUE },
	{ "YES", YAML_SCALAR_TRUE },
	{ "true", YAML_SCALAR_TRUE },
	{ "True", YAML_SCALAR_TRUE },
	{ "TRUE", YAML_SCALAR_TRUE },
	{ "on", YAML_SCALAR_TRUE },
	{ "On", YAML_SCALAR_TRUE },
	{ "ON", YAML_SCALAR_TRUE },
	{ "n", YAML_SCALAR_FALSE },
	{ "N", YAML_SCALAR_FALSE },
	{ "no", YAML_SCALAR_FALSE },
	{ "No", YAML_SCALAR_FALSE },
	{ "NO", YAML_SCALAR_FALSE },
	{ "false", YAML_SCALAR_FALSE },
	{ "False", YAML_SCALAR_FALSE },
	{ "FALSE", YAML_SCALAR_FALSE },
	{ "off", YAML_SCALAR_FALSE },
	{ "Off", YAML_SCALAR_FALSE },
	{ "OFF", YAML_SCALAR_FALSE },
	{ "", YAML_SCALAR_NULL },
	{ "~", YAML_SCALAR_NULL },
	{ "null", YAML_SCALAR_NULL },
	{ "Null", YAML_SCALAR_NULL },
	{ "NULL", YAML_SCALAR_NULL },
	{ ".nan", YAML_SCALAR_NOT_FINITE },
	{ ".NaN", YAML_SCALAR_NOT_FINITE },
	{ ".NAN", YAML_SCALAR_NOT_FINITE },
	{ ".inf", YAML_SCALAR_NOT_FINITE },
	{ ".Inf", YAML_SCALAR_NOT_FINITE },
	{ ".INF", YAML_SCALAR_NOT_FINITE },
	{ "+.inf", YAML_SCALAR_NOT_FINITE },
	{ "+.Inf", YAML_SCALAR_NOT_FINITE },
	{ "+.INF", YAML_SCALAR_NOT_FINITE },
	{ "-.inf", YAML_SCALAR_NOT_FINITE },
	{ "-.Inf", YAML_SCALAR_NOT_FINITE },
	{ "-.INF", YAML_SCALAR_NOT_FINITE },
	{ "<<", YAML_SCALAR_MERGE },
};

enum { LONGEST_WORD = 5 };

/* ---- integers, as Go's ParseInt with base 0 reads them ---- */

static int digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return 99;
}

/* The base that the prefix of @digits says; @digits moves behind it. */
static int take_base(const char **digits)
{
	const char *text = *digits;

	if (text[0] != '0' || text[1] == '\0')
		return 10;
	*digits += 2;
	switch (text[1]) {
	case 'x':
	case 'X':
		return 16;
	case 'o':
	case 'O':
		return 8;
	case 'b':
	case 'B':
		return 2;
	default:
		*digits -= 1; /* 012 */
		return 8;
	}
}

enum integer_result { INTEGER_NONE, INTEGER_DONE, INTEGER_TOO_BIG };

static enum integer_result resolve_integer(const char *plain, char number[YAML_NUMBER_BYTES])
{
	bool has_sign = plain[0] == '-' || plain[0] == '+', negative = plain[0] == '-';
	const char *digits = plain + (has_sign ? 1 : 0);
	int base = take_base(&digits);
	uint64_t value = 0, limit;
	bool overflow = false;

	if (*digits == '\0')
		return INTEGER_NONE;
	for (; *digits; digits++) {
		int digit = digit_value(*digits);

		if (digit >= base)
			return INTEGER_NONE;
		overflow = overflow || __builtin_mul_overflow(value, (uint64_t) base, &value) ||
			   __builtin_add_overflow(value, (uint64_t) digit, &value);
	}
	limit = !has_sign ? UINT64_MAX : (uint64_t) INT64_MAX + (negative ? 1 : 0);
	if (overflow || value > limit)
		return base == 10 ? INTEGER_NONE : INTEGER_TOO_BIG; /* decimal: a fraction's turn */
	(void) snprintf(number, YAML_NUMBER_BYTES, "%s%" PRIu64, negative && value ? "-" : "",
			value);
	return INTEGER_DONE;
}

/* ---- fractions ---- */

static const char *skip_digits(const char *text)
{
	return text + strspn(text, "0123456789");
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_fraction(const char *text)
{
	const char *after;

	if (*text == '-' || *text == '+')
		text++;
	after = skip_digits(text);
	if (after == text) {
		if (*text != '.' || skip_digits(text + 1) == text + 1)
			return false;
		after = skip_digits(text + 1);
	} else if (*after == '.') {
		after = skip_digits(after + 1);
	}
	if (*after == 'e' || *after == 'E') {
		text = after + 1;
		if (*text == '-' || *text == '+')
			text++;
		after = skip_digits(text);
		if (after == text)
			return false;
	}
	return *after == '\0';
}

/* The fewest digits that read back as @value, without the point, and its decimal exponent. */
static int shortest_digits(double value, char digits[20], int *ret_exponent)
{
	char text[40];
	int used = 0;

	for (int precision = 0; precision <= 16; precision++) {
		(void) snprintf(text, sizeof(text), "%.*e", precision, value);
		if (strtod(text, NULL) == value)
			break;
	}
	for (const char *at = text; *at != 'e'; at++) {
		if (*at != '.')
			digits[used++] = *at;
	}
	digits[used] = '\0';
	*ret_exponent = (int) strtol(strchr(text, 'e') + 1, NULL, 10);
	return used;
}

/* As Go's JSON encoder: positional between 1e-6 and 1e21, else with an exponent. */
static void print_fraction(double value, char number[YAML_NUMBER_BYTES])
{
	const char *sign = signbit(value) ? "-" : "";
	char digits[20];
	int exponent, used = shortest_digits(fabs(value), digits, &exponent);

	assert(used >= 1 && used <= 17);
	if (value != 0 && (exponent < -6 || exponent >= 21)) {
		(void) snprintf(number, YAML_NUMBER_BYTES, "%s%c%s%se%+d", sign, digits[0],
				used > 1 ? "." : "", digits + 1, exponent);
	} else if (exponent < 0) {
		(void) snprintf(number, YAML_NUMBER_BYTES, "%s0.%.*s%s", sign, -exponent - 1,
				"000000", digits);
	} else if (used <= exponent + 1) {
		(void) snprintf(number, YAML_NUMBER_BYTES, "%s%s%.*s", sign, digits,
				exponent + 1 - used, "00000000000000000000");
	} else {
		(void) snprintf(number, YAML_NUMBER_BYTES, "%s%.*s.%s", sign, exponent + 1, digits,
				digits + exponent + 1);
	}
}

static enum yaml_scalar_type resolve_fraction(const char *plain, char number[YAML_NUMBER_BYTES])
{
	double value;

	if (!looks_like_fraction(plain))
		return YAML_SCALAR_STRING;
	value = strtod(plain, NULL);
	if (!isfinite(value))
		return YAML_SCALAR_STRING; /* out of range: go-yaml leaves it a string */
	print_fraction(value, number);
	return YAML_SCALAR_NUMBER;
}

static enum yaml_scalar_type resolve_number(const char *text, char number[YAML_NUMBER_BYTES])
{
	char plain[PLAIN_BYTES];
	size_t used = 0;

	for (; *text; text++) {
		if (*text == '_')
			continue;
		if (used + 1 >= sizeof(plain))
			return YAML_SCALAR_STRING;
		plain[used++] = *text;
	}
	plain[used] = '\0';
	switch (resolve_integer(plain, number)) {
	case INTEGER_DONE:
		return YAML_SCALAR_NUMBER;
	case INTEGER_TOO_BIG:
		return YAML_SCALAR_TOO_BIG;
	default:
		return resolve_fraction(plain, number);
	}
}

enum yaml_scalar_type yaml_scalar_type(const char *text, char number[YAML_NUMBER_BYTES])
{
	assert(text && number);
	if (*text != '\0' && !strchr("+-.0123456789yYnNtTfFoO~<", *text))
		return YAML_SCALAR_STRING;
	if (strnlen(text, LONGEST_WORD + 1) <= LONGEST_WORD) {
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			if (*text == *words[i].text && strcmp(text, words[i].text) == 0)
				return words[i].type;
		}
	}
	if (*text == '.')
		return resolve_fraction(text, number);
	if (*text != '\0' && strchr("+-0123456789", *text))
		return resolve_number(text, number);
	return YAML_SCALAR_STRING;
}
