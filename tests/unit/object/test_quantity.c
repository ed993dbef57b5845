/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quantity - quantities are exact, ordered beyond 64 bits, and rounded up
 */
#include "object/quantity.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct quantity quantity_of(const char *text)
{
	struct quantity quantity = { 0 };

	assert_int_equal(quantity_parse(text, &quantity, NULL), 0);
	assert_true(quantity.is_set);
	return quantity;
}

static void test_values_are_whole_units(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} values[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "+7", 7 },
		{ "-3", -3 },
		{ "10Gi", 10LL << 30 },
		{ "1Ki", 1024 },
		{ "1k", 1000 },
		{ "1.5Gi", 1610612736 },
		{ "0.5Ki", 512 },
		{ "2Ei", 2LL << 60 },
		{ "7M", 7000000 },
		{ "5G", 5000000000 },
		{ "3T", 3000000000000 },
		{ "2P", 2000000000000000 },
		{ "1Mi", 1 << 20 },
		{ "1Ti", 1LL << 40 },
		{ "1Pi", 1LL << 50 },
		{ "1e3", 1000 },
		{ "1E3", 1000 },
		{ "12e-1", 2 },
		{ "1E", 1000000000000000000 },
		{ "1e+2", 100 },
		{ "1500m", 2 },
		{ "1m", 1 },
		{ "1u", 1 },
		{ "1n", 1 },
		{ "-1m", -1 },
		{ "-1500m", -2 },
		{ "1.", 1 },
		{ ".5", 1 },
		{ "9223372036854775807", INT64_MAX },
		{ "000000000000000000000000000000000000000000000000001", 1 },
		{ "1.0000000000000000000000000000000000000000000000000001", 2 },
		{ "0.0000000000000001Ei", 116 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		struct quantity quantity = quantity_of(values[i].text);

		if (quantity_value(&quantity) != values[i].value)
			print_message("%s\n", values[i].text);
		assert_true(quantity_value(&quantity) == values[i].value);
	}
}

static void test_values_saturate(void **state)
{
	static const char *const big[] = { "9223372036854775808",
					   "1000E",
					   "8Ei",
					   "1e400",
					   "1e99999999999",
					   "99999999999999999999999999999999999999999999999" };
	static const char *const low[] = { "-9223372036854775809", "-1000E", "-1e400" };

	for (size_t i = 0; i < ARRAY_SIZE(big); i++) {
		struct quantity quantity = quantity_of(big[i]);

		assert_true(quantity_value(&quantity) == INT64_MAX);
	}
	for (size_t i = 0; i < ARRAY_SIZE(low); i++) {
		struct quantity quantity = quantity_of(low[i]);

		assert_true(quantity_value(&quantity) == INT64_MIN);
	}
}

static int compare(const char *a, const char *b)
{
	struct quantity left = quantity_of(a), right = quantity_of(b);

	assert_int_equal(quantity_compare(&left, &right), -quantity_compare(&right, &left));
	return quantity_compare(&left, &right);
}

/* case 376: a request of 1E fits a volume of 1000E, although both are near or beyond 64 bits. */
static void test_order_holds_beyond_64_bits_case_376(void **state)
{
	assert_int_equal(compare("1E", "1000E"), -1);
	assert_int_equal(compare("1000E", "1001E"), -1);
	assert_int_equal(compare("8Ei", "9223372036854775808"), 0);
	assert_int_equal(compare("10E", "10Ei"), -1);
	assert_int_equal(compare("1e400", "1e300"), 0); /* both saturated */
}

static void test_different_spellings_are_equal(void **state)
{
	assert_int_equal(compare("1Gi", "1024Mi"), 0);
	assert_int_equal(compare("1", "1000m"), 0);
	assert_int_equal(compare("1.5k", "1500"), 0);
	assert_int_equal(compare("1e3", "1k"), 0);
	assert_int_equal(compare("1G", "1Gi"), -1);
	assert_int_equal(compare("1m", "2m"), -1);
	assert_int_equal(compare("-1", "1"), -1);
}

static void test_unset_counts_as_zero(void **state)
{
	const struct quantity unset = { 0 }, one = quantity_of("1"), zero = quantity_of("0");

	assert_int_equal(quantity_value(&unset), 0);
	assert_int_equal(quantity_compare(&unset, &one), -1);
	assert_int_equal(quantity_compare(&unset, &zero), 0);
	assert_int_equal(quantity_compare(NULL, &one), -1);
}

static void test_what_is_no_quantity(void **state)
{
	static const char *const bad[] = { "",     "x",     "Gi",   "1 Gi", " 1",    "1Gi ",
					   "1gi",  "1K",    "1KiB", "--1",  "1.2.3", "1e",
					   "1e+",  "1e1.5", ".",    "+",    "1mm",   "0x1",
					   "1E3k", "1,5",   "1ki",  "inf" };
	struct failure failure;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct quantity quantity = { .milli = 42 };

		if (quantity_parse(bad[i], &quantity, &failure) == 0)
			print_message("taken: '%s'\n", bad[i]);
		assert_int_equal(quantity_parse(bad[i], &quantity, &failure), -EINVAL);
		assert_true(quantity.milli == 42 && !quantity.is_set);
	}
	assert_string_equal(failure.text,
			    "quantities must match the regular expression "
			    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': \"inf\"");
}

/* A difference from Kubernetes: each reading of it takes the loop's time. */
static void test_length_is_bounded(void **state)
{
	char text[QUANTITY_BYTES_MAX + 2];
	struct quantity quantity = { .milli = 42 };
	struct failure failure;

	memset(text, '0', sizeof(text));
	text[QUANTITY_BYTES_MAX] = '\0';
	assert_int_equal(quantity_parse(text, &quantity, &failure), 0);
	text[QUANTITY_BYTES_MAX] = '0';
	text[QUANTITY_BYTES_MAX + 1] = '\0';
	assert_int_equal(quantity_parse(text, &quantity, &failure), -EINVAL);
	assert_string_equal(failure.text, "a quantity has at most 1024 bytes");
}

static void test_bytes_are_printed(void **state)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} rows[] = { { 0, "0" },
		     { 1000, "1000" },
		     { 1024, "1Ki" },
		     { INT64_C(1536) << 20, "1536Mi" },
		     { INT64_C(1) << 30, "1Gi" },
		     { INT64_MAX, "9223372036854775807" } };
	char text[QUANTITY_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		quantity_print_bytes(rows[i].bytes, text);
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_whole_units),
		cmocka_unit_test(test_values_saturate),
		cmocka_unit_test(test_order_holds_beyond_64_bits_case_376),
		cmocka_unit_test(test_different_spellings_are_equal),
		cmocka_unit_test(test_unset_counts_as_zero),
		cmocka_unit_test(test_what_is_no_quantity),
		cmocka_unit_test(test_length_is_bounded),
		cmocka_unit_test(test_bytes_are_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
