/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_patch - merge patch (the examples of RFC 7386) and the three ways of apply
 */
#include "patch_case.h"

#include "base/cleanup.h"
#include "object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Those whose target and patch are objects: others make no object of Kubernetes. */
static void test_the_examples_of_the_rfc(void **state)
{
	static const struct patch_case cases[] = {
		{ "1", "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", 0 },
		{ "2", "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}", 0 },
		{ "3", "{\"a\":\"b\"}", "{\"a\":null}", "{}", 0 },
		{ "4", "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}", 0 },
		{ "5", "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", 0 },
		{ "6", "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}", 0 },
		{ "7", "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
		  "{\"a\":{\"b\":\"d\"}}", 0 },
		{ "8", "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}", 0 },
		{ "9: no object", "{\"a\":\"b\"}", "[\"c\"]", NULL, -EBADMSG },
		{ "12: no object", "{\"a\":\"foo\"}", "null", NULL, -EBADMSG },
		{ "13: no object", "{\"a\":\"foo\"}", "\"bar\"", NULL, -EBADMSG },
		{ "14", "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}", 0 },
		{ "16", "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}", 0 },
		{ "section 3",
		  "{\"title\":\"Goodbye!\",\"author\":{\"givenName\":\"John\",\"familyName\":"
		  "\"Doe\"},\"tags\":[\"example\",\"sample\"],\"content\":\"unchanged\"}",
		  "{\"title\":\"Hello!\",\"phoneNumber\":\"+01\",\"author\":{\"familyName\":null},"
		  "\"tags\":[\"example\"]}",
		  "{\"title\":\"Hello!\",\"author\":{\"givenName\":\"John\"},\"tags\":[\"example\"]"
		  ",\"content\":\"unchanged\",\"phoneNumber\":\"+01\"}",
		  0 },
		{ "lists with a merge key are replaced too",
		  "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
		  "{\"items\":[{\"name\":\"c\"}]}", "{\"items\":[{\"name\":\"c\"}]}", 0 },
	};

	assert_patches(PATCH_MERGE, cases, ARRAY_SIZE(cases));
}

static void test_three_ways(void **state)
{
	static const struct {
		const char *what, *present, *original, *modified, *result;
	} cases[] = {
		{ "what the document names is set", "{\"a\":1,\"b\":2}", "{}", "{\"a\":5,\"c\":3}",
		  "{\"a\":5,\"b\":2,\"c\":3}" },
		{ "what it names no more goes", "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}",
		  "{\"b\":2}", "{\"b\":2}" },
		{ "what other people set stays", "{\"a\":1,\"x\":{\"theirs\":1,\"ours\":2}}",
		  "{\"a\":1,\"x\":{\"ours\":2}}", "{\"a\":1,\"x\":{}}",
		  "{\"a\":1,\"x\":{\"theirs\":1}}" },
		{ "nothing goes when it is not known what was", "{\"a\":1,\"b\":2}", NULL,
		  "{\"b\":3}", "{\"a\":1,\"b\":3}" },
		{ "null takes away", "{\"a\":1,\"b\":2}", NULL, "{\"a\":null}", "{\"b\":2}" },
		{ "what went on both sides", "{\"b\":2}", "{\"a\":1}", "{}", "{\"b\":2}" },
		{ "elements by their key",
		  "{\"items\":[{\"name\":\"side\",\"by\":\"other\"},"
		  "{\"name\":\"a\",\"x\":1,\"set\":\"default\"},{\"name\":\"b\"}]}",
		  "{\"items\":[{\"name\":\"a\",\"x\":1},{\"name\":\"b\"}]}",
		  "{\"items\":[{\"name\":\"a\",\"x\":2},{\"name\":\"c\"}]}",
		  "{\"items\":[{\"name\":\"side\",\"by\":\"other\"},"
		  "{\"name\":\"a\",\"x\":2,\"set\":\"default\"},{\"name\":\"c\"}]}" },
		{ "a member of an element goes",
		  "{\"items\":[{\"name\":\"a\",\"x\":1,\"set\":\"default\"}]}",
		  "{\"items\":[{\"name\":\"a\",\"x\":1}]}", "{\"items\":[{\"name\":\"a\"}]}",
		  "{\"items\":[{\"name\":\"a\",\"set\":\"default\"}]}" },
		{ "plain values", "{\"tags\":[\"theirs\",\"old\"]}", "{\"tags\":[\"old\"]}",
		  "{\"tags\":[\"new\"]}", "{\"tags\":[\"new\",\"theirs\"]}" },
		{ "other lists are replaced", "{\"words\":[\"x\",\"y\"]}", "{\"words\":[\"x\"]}",
		  "{\"words\":[\"z\"]}", "{\"words\":[\"z\"]}" },
		{ "another type replaces", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}", "{\"a\":[1]}",
		  "{\"a\":[1]}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_json struct cJSON *tree = tree_of_json(cases[i].present);
		cleanup_json struct cJSON *modified = tree_of_json(cases[i].modified);
		cleanup_json struct cJSON *original =
			cases[i].original ? tree_of_json(cases[i].original) : NULL;
		cleanup_free char *result = NULL;
		struct failure why = { 0 };
		int r = patch_three_way(&patch_case_row, tree, modified, original, &why);

		if (r < 0)
			fail_msg("%s: %s", cases[i].what, why.text);
		result = json_print(tree);
		if (strcmp(result, cases[i].result) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", cases[i].what, result, cases[i].result);
	}
}

/* {"k0":0,...} up, or down; NULL: no memory. */
static struct cJSON *many_keys(int count, bool down)
{
	struct cJSON *tree = json_new_object(), *data = json_add_object(tree, "data");
	char key[16];

	for (int i = 0; i < count; i++) {
		(void) snprintf(key, sizeof(key), "k%d", down ? count - 1 - i : i);
		assert_int_equal(json_append_string(data, key, down ? "new" : "old"), 0);
	}
	return tree;
}

/* As many as an object can have, in the other order: each look-up by itself would be 70 million
 * steps. Then the upper half is taken away. */
static void test_many_members_in_any_order(void **state)
{
	enum { MANY = 11900 };
	cleanup_json struct cJSON *tree = many_keys(MANY, false), *down = many_keys(MANY, true);
	cleanup_json struct cJSON *merged = json_copy(tree), *half = many_keys(MANY / 2, true);
	struct failure why = { 0 };

	assert_int_equal(patch_apply(PATCH_MERGE, &patch_case_row, &merged, down, &why), 0);
	assert_true(json_equal(merged, down));
	assert_int_equal(patch_three_way(&patch_case_row, tree, half, down, &why), 0);
	assert_true(json_equal(tree, half));
}

static void test_three_ways_want_the_key(void **state)
{
	cleanup_json struct cJSON *tree = tree_of_json("{\"items\":[{\"name\":\"a\"}]}");
	cleanup_json struct cJSON *modified = tree_of_json("{\"items\":[{\"x\":1}]}");
	struct failure why = { 0 };

	assert_int_equal(patch_three_way(&patch_case_row, tree, modified, NULL, &why), -EINVAL);
	assert_non_null(strstr(why.text, "merge key 'name'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_examples_of_the_rfc),
		cmocka_unit_test(test_three_ways),
		cmocka_unit_test(test_many_members_in_any_order),
		cmocka_unit_test(test_three_ways_want_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
