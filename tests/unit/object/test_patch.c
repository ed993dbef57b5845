/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_patch - merge patch (RFC 7386) and the three-way patch of kubectl apply
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

static void test_merge_patch(void **state)
{
	assert_patches("tests/patch/merge-patch.json", PATCH_MERGE);
}

static void test_three_ways(void **state)
{
	assert_patches("tests/patch/apply.json", PATCH_MERGE);
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
		cmocka_unit_test(test_merge_patch),
		cmocka_unit_test(test_three_ways),
		cmocka_unit_test(test_many_members_in_any_order),
		cmocka_unit_test(test_three_ways_want_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
