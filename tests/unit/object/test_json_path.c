/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json_path - templates over JSON: what they print, and what is refused by name
 */
#include "base/cleanup.h"
#include "cli/get.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "{\"metadata\":{\"name\":\"web\",\"labels\":{\"a.b/"
			   "c\":\"x\"}},\"n\":9007199254740993,\"t\":true,"
			   "\"items\":[{\"name\":\"one\",\"tags\":[1,2]},{\"name\":\"two\","
			   "\"tags\":[3]},{\"other\":{}}]}";

static char *printed(const char *template, int error, struct failure *why)
{
	const struct json_limits limits = { .bytes = sizeof(text), .depth = 16 };
	cleanup_json struct cJSON *tree = NULL;
	char *out_text = NULL;
	size_t length;
	FILE *out = open_memstream(&out_text, &length);

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	assert_int_equal(json_path_print(out, template, tree, why), error);
	assert_int_equal(fclose(out), 0);
	return out_text;
}

static void test_prints(void **state)
{
	static const struct {
		const char *template, *output;
	} rows[] = {
		{ ".metadata.name", "web" },
		{ "{.metadata.name}", "web" },
		{ "{ .metadata.name }", "web" },
		{ "{$.metadata.name}/{@.n}", "web/9007199254740993" },
		{ "name={.metadata.name}{\"\\n\"}", "name=web\n" },
		{ "{'a\\tb'}", "a\tb" },
		{ "{.metadata.labels.a\\.b/c}", "x" },
		{ "{.metadata.labels['a.b/c']}", "x" },
		{ "{.metadata['name']}", "web" },
		{ "{.t}", "true" },
		{ "{.items[0].name} {.items[-2].name}", "one two" },
		{ "{.items[*].name}", "one two" },
		{ "{.items[*].tags}", "[1,2] [3]" },
		{ "{.items[0].tags[*]}", "1 2" },
		{ "{.items[9].name}{.items[-9].name}{.none.at.all}{.n.name}{.n[0]}", "" },
		{ "{.items[2]}", "{\"other\":{}}" },
		{ "{range .items[*]}<{.name}>{end}!", "<one><two><>!" },
		{ "{range .items[*]}{range .tags[*]}{.}{\",\"}{end};{end}", "1,2,;3,;;" },
		{ "{range .items[*]}{$.metadata.name}{end}", "webwebweb" },
		{ "{range .none[*]}no{end}yes", "yes" },
		{ "plain", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failure why = { 0 };
		cleanup_free char *output =
			printed(rows[i].template, rows[i].output ? 0 : -EINVAL, &why);

		if (rows[i].output)
			assert_string_equal(output, rows[i].output);
		/* What can be printed passes the check beforehand, and the other way round. */
		assert_int_equal(json_path_print(NULL, rows[i].template, NULL, &why),
				 rows[i].output ? 0 : -EINVAL);
	}
}

static void test_refuses(void **state)
{
	static const struct {
		const char *template;
		int error;
		const char *why;
	} rows[] = {
		{ "{..name}", -EOPNOTSUPP, "'..'" },
		{ "{.items..name}", -EOPNOTSUPP, "'..'" },
		{ "{.items[?(@.name==\"one\")]}", -EOPNOTSUPP, "a filter" },
		{ "{.items[0:1]}", -EOPNOTSUPP, "a slice or union" },
		{ "{.items[0,1]}", -EOPNOTSUPP, "a slice or union" },
		{ "{.items[0}", -EINVAL, "']' is missing at '}'" },
		{ "{.items[x]}", -EINVAL, "an index is missing at 'x]}'" },
		{ "{.items['x]}", -EINVAL, "the quote does not end" },
		{ "{.items", -EINVAL, "'}' is missing" },
		{ "{\"x}", -EINVAL, "the quote does not end" },
		{ "{items}", -EINVAL, "no path begins at 'items}'" },
		{ "{}", -EINVAL, "no path begins" },
		{ "{", -EINVAL, "no path begins" },
		{ "{range .items[*]}x", -EINVAL, "{end} is missing" },
		{ "{range .none}x", -EINVAL, "{end} is missing" },
		{ "{range .items[*]", -EINVAL, "'}' is missing" },
		{ "{end}", -EINVAL, "there is no range to end" },
		{ "{.a.}{.b .c}", -EINVAL, "'}' is missing" },
		{ ".metadata name", -EINVAL, "no path goes on at ' name'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failure why = { 0 };

		free(printed(rows[i].template, rows[i].error, &why));
		assert_non_null(strstr(why.text, rows[i].why));
		assert_int_equal(json_path_print(NULL, rows[i].template, NULL, &why),
				 rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prints),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
