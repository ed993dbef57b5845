/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_version - which of the offered versions is used (cases 221 and following)
 */
#include "csi/csi_version.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* NULL: refused. */
static void assert_chosen(const char *const *offered, const char *expected)
{
	struct failure why = { .error = 0 };
	struct csi_version version;
	char text[CSI_VERSION_BYTES];
	size_t count = 0;

	while (offered[count])
		count++;
	if (!expected) {
		assert_int_equal(csi_version_choose(offered, count, &version, &why), -EPROTO);
		assert_string_not_equal(why.text, "");
		return;
	}
	assert_int_equal(csi_version_choose(offered, count, &version, &why), 0);
	csi_version_print(&version, text);
	assert_string_equal(text, expected);
}

#define OFFERED(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_rows(void **state)
{
	assert_chosen(OFFERED("v1.0.0"), "1.0.0");                 /* case 221 */
	assert_chosen(OFFERED("0.3.0"), NULL);                     /* case 222 */
	assert_chosen(OFFERED("0.2.0", "v1.2.3"), "1.2.3");        /* case 223 */
	assert_chosen(OFFERED("v1.2.3", "boo", "2.0.1"), "1.2.3"); /* case 224 */
	assert_chosen(OFFERED("4.9.12", "2.0.1"), NULL);           /* case 225 */
	assert_chosen((const char *const[]){ NULL }, NULL);        /* case 226 */
	assert_chosen(OFFERED("v1.2.3", "4.9.12", "v0.3.0", "2.0.1", "boo"), "1.2.3");
	assert_chosen(OFFERED("var"), NULL);
	assert_chosen(OFFERED(""), NULL);
}

static void test_the_highest_wins_wherever_it_stands(void **state)
{
	assert_chosen(OFFERED("1.10.0", "1.9.9", "1.2"), "1.10.0");
	assert_chosen(OFFERED("1.2", "1.10.0"), "1.10.0");
	assert_chosen(OFFERED("0.9", "1.0"), "1.0");
}

static void test_refusal_names_what_was_offered(void **state)
{
	const char *many[64];
	struct failure why;
	struct csi_version version;

	(void) csi_version_choose(OFFERED("0.3.0", "2.0.1"), 2, &version, &why);
	assert_non_null(strstr(why.text, "0.3.0, 2.0.1"));
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = "0.123456789012345678901234567890";
	assert_int_equal(csi_version_choose(many, ARRAY_SIZE(many), &version, &why), -EPROTO);
}

static void test_what_is_a_version(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ "1.0", "1.0" },
		{ " v1.2.3-rc.1+x", "1.2.3" },
		{ "1.02", "1.2" },
		{ "1.2.", "1.2" },
		{ "1.2.3.4.5.6.7.8", "1.2.3.4.5.6.7.8" },
		{ "1.2.3.4.5.6.7.8.9", NULL },
		{ "18446744073709551615.0", "18446744073709551615.0" },
		{ "18446744073709551616.0", NULL },
		{ "99999999999999999999.0", NULL },
		{ "1", NULL },
		{ "01.2", NULL },
		{ "vv1.2", NULL },
		{ "V1.2", NULL },
		{ "-1.2", NULL },
		{ ".1", NULL },
		{ "", NULL },
	};
	struct csi_version version;
	char text[CSI_VERSION_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = csi_version_parse(rows[i].text, &version);

		assert_int_equal(r, rows[i].expected ? 0 : -EINVAL);
		if (r < 0)
			continue;
		csi_version_print(&version, text);
		assert_string_equal(text, rows[i].expected);
	}
}

static void test_zeros_at_the_end_change_nothing(void **state)
{
	struct csi_version a, b;

	assert_int_equal(csi_version_parse("1.0", &a), 0);
	assert_int_equal(csi_version_parse("1.0.0", &b), 0);
	assert_int_equal(csi_version_compare(&a, &b), 0);
	assert_int_equal(csi_version_parse("1.0.1", &b), 0);
	assert_true(csi_version_compare(&a, &b) < 0);
	assert_true(csi_version_compare(&b, &a) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_the_highest_wins_wherever_it_stands),
		cmocka_unit_test(test_refusal_names_what_was_offered),
		cmocka_unit_test(test_what_is_a_version),
		cmocka_unit_test(test_zeros_at_the_end_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
