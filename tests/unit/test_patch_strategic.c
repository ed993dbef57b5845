/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_patch_strategic - Kubernetes' strategic merge patch: lists by key, directives, orders
 */
#include "patch_case.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_maps(void **state)
{
	static const struct patch_case cases[] = {
		{ "maps are joined", "{\"spec\":{\"a\":1,\"b\":{\"c\":1}}}",
		  "{\"spec\":{\"b\":{\"d\":2}}}", "{\"spec\":{\"a\":1,\"b\":{\"c\":1,\"d\":2}}}",
		  0 },
		{ "null removes", "{\"a\":1,\"b\":2}", "{\"a\":null,\"z\":null}", "{\"b\":2}", 0 },
		{ "nulls of what is new are dropped", "{}", "{\"a\":{\"b\":null,\"c\":1}}",
		  "{\"a\":{\"c\":1}}", 0 },
		{ "another type replaces", "{\"a\":{\"b\":1}}", "{\"a\":\"x\"}", "{\"a\":\"x\"}",
		  0 },
		{ "$patch: replace", "{\"spec\":{\"a\":1,\"b\":2}}",
		  "{\"spec\":{\"$patch\":\"replace\",\"c\":3}}", "{\"spec\":{\"c\":3}}", 0 },
		{ "$patch: delete", "{\"a\":1,\"spec\":{\"b\":2}}",
		  "{\"spec\":{\"$patch\":\"delete\"}}", "{\"a\":1,\"spec\":{}}", 0 },
		{ "$patch: merge is what happens anyhow", "{\"spec\":{\"a\":1}}",
		  "{\"spec\":{\"$patch\":\"merge\",\"b\":2}}", "{\"spec\":{\"a\":1,\"b\":2}}", 0 },
		{ "$patch in what is new leaves no trace", "{}",
		  "{\"spec\":{\"$patch\":\"replace\",\"b\":2}}", "{\"spec\":{\"b\":2}}", 0 },
		{ "no such $patch", "{\"spec\":{}}", "{\"spec\":{\"$patch\":\"explode\"}}", NULL,
		  -EBADMSG },
		{ "no map", "{}", "[]", NULL, -EBADMSG },
		{ "$retainKeys: a union changes its member",
		  "{\"spec\":{\"type\":\"rolling\",\"rolling\":{\"n\":1}}}",
		  "{\"spec\":{\"$retainKeys\":[\"type\"],\"type\":\"recreate\"}}",
		  "{\"spec\":{\"type\":\"recreate\"}}", 0 },
		{ "$retainKeys must list what is set", "{\"spec\":{\"type\":\"rolling\"}}",
		  "{\"spec\":{\"$retainKeys\":[\"type\"],\"other\":1}}", NULL, -EBADMSG },
		{ "$retainKeys is a list", "{\"spec\":{}}", "{\"spec\":{\"$retainKeys\":1}}", NULL,
		  -EBADMSG },
	};

	assert_patches(PATCH_STRATEGIC, cases, ARRAY_SIZE(cases));
}

/* The documentation's own: containers by name, tolerations replaced. */
static void test_lists(void **state)
{
	static const struct patch_case cases[] = {
		{ "an element is added, the patch's first",
		  "{\"items\":[{\"name\":\"nginx\",\"image\":\"nginx\"}]}",
		  "{\"items\":[{\"name\":\"redis\",\"image\":\"redis\"}]}",
		  "{\"items\":[{\"name\":\"redis\",\"image\":\"redis\"},"
		  "{\"name\":\"nginx\",\"image\":\"nginx\"}]}",
		  0 },
		{ "an element is merged",
		  "{\"items\":[{\"name\":\"a\",\"x\":1,\"y\":1},{\"name\":\"b\"}]}",
		  "{\"items\":[{\"name\":\"a\",\"x\":2}]}",
		  "{\"items\":[{\"name\":\"a\",\"x\":2,\"y\":1},{\"name\":\"b\"}]}", 0 },
		{ "a list without a merge key is replaced", "{\"words\":[\"a\",\"b\"]}",
		  "{\"words\":[\"c\"]}", "{\"words\":[\"c\"]}", 0 },
		{ "an unknown list is replaced", "{\"foreign\":[{\"name\":\"a\"}]}",
		  "{\"foreign\":[{\"name\":\"b\"}]}", "{\"foreign\":[{\"name\":\"b\"}]}", 0 },
		{ "plain values are joined", "{\"tags\":[\"a\",\"b\"]}", "{\"tags\":[\"c\",\"a\"]}",
		  "{\"tags\":[\"c\",\"a\",\"b\"]}", 0 },
		{ "a list within an element",
		  "{\"items\":[{\"name\":\"a\",\"ports\":[{\"port\":80,\"p\":\"x\"}]}]}",
		  "{\"items\":[{\"name\":\"a\",\"ports\":[{\"port\":80,\"p\":\"y\"},"
		  "{\"port\":81}]}]}",
		  "{\"items\":[{\"name\":\"a\",\"ports\":[{\"port\":80,\"p\":\"y\"},"
		  "{\"port\":81}]}]}",
		  0 },
		{ "an element is deleted", "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
		  "{\"items\":[{\"$patch\":\"delete\",\"name\":\"a\"}]}",
		  "{\"items\":[{\"name\":\"b\"}]}", 0 },
		{ "one that is not there", "{\"items\":[{\"name\":\"b\"}]}",
		  "{\"items\":[{\"$patch\":\"delete\",\"name\":\"a\"}]}",
		  "{\"items\":[{\"name\":\"b\"}]}", 0 },
		{ "in a list that is not there", "{}",
		  "{\"items\":[{\"$patch\":\"delete\",\"name\":\"a\"},{\"name\":\"c\"}]}",
		  "{\"items\":[{\"name\":\"c\"}]}", 0 },
		{ "the list is replaced", "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
		  "{\"items\":[{\"name\":\"c\"},{\"$patch\":\"replace\"}]}",
		  "{\"items\":[{\"name\":\"c\"}]}", 0 },
		{ "the list is emptied", "{\"items\":[{\"name\":\"a\"}]}",
		  "{\"items\":[{\"$patch\":\"replace\"}]}", "{\"items\":[]}", 0 },
		{ "no key", "{\"items\":[{\"name\":\"a\"}]}", "{\"items\":[{\"x\":1}]}", NULL,
		  -EINVAL },
		{ "no key to delete by", "{\"items\":[{\"name\":\"a\"}]}",
		  "{\"items\":[{\"$patch\":\"delete\"}]}", NULL, -EINVAL },
		{ "no map", "{\"items\":[{\"name\":\"a\"}]}", "{\"items\":[\"a\"]}", NULL,
		  -EINVAL },
		{ "$deleteFromPrimitiveList", "{\"tags\":[\"a\",\"b\",\"c\"]}",
		  "{\"$deleteFromPrimitiveList/tags\":[\"a\",\"c\",\"z\"]}", "{\"tags\":[\"b\"]}",
		  0 },
		{ "and of a list that is not there", "{\"a\":1}",
		  "{\"$deleteFromPrimitiveList/tags\":[\"a\"]}", "{\"a\":1}", 0 },
		{ "which is a list", "{\"tags\":[\"a\"]}",
		  "{\"$deleteFromPrimitiveList/tags\":\"a\"}", NULL, -EBADMSG },
	};

	assert_patches(PATCH_STRATEGIC, cases, ARRAY_SIZE(cases));
}

static void test_orders(void **state)
{
	static const struct patch_case cases[] = {
		{ "kubectl's own: one added, one taken away",
		  "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}",
		  "{\"$setElementOrder/"
		  "items\":[{\"name\":\"c\"},{\"name\":\"d\"},{\"name\":\"b\"}],"
		  "\"items\":[{\"name\":\"d\"},{\"$patch\":\"delete\",\"name\":\"a\"}]}",
		  "{\"items\":[{\"name\":\"c\"},{\"name\":\"d\"},{\"name\":\"b\"}]}", 0 },
		{ "the order alone", "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
		  "{\"$setElementOrder/items\":[{\"name\":\"b\"},{\"name\":\"a\"}]}",
		  "{\"items\":[{\"name\":\"b\"},{\"name\":\"a\"}]}", 0 },
		{ "what others added keeps its place",
		  "{\"items\":[{\"name\":\"theirs\"},{\"name\":\"a\"},{\"name\":\"b\"}]}",
		  "{\"$setElementOrder/items\":[{\"name\":\"b\"},{\"name\":\"a\"}]}",
		  "{\"items\":[{\"name\":\"theirs\"},{\"name\":\"b\"},{\"name\":\"a\"}]}", 0 },
		{ "or stands behind",
		  "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"theirs\"}]}",
		  "{\"$setElementOrder/items\":[{\"name\":\"b\"},{\"name\":\"a\"}]}",
		  "{\"items\":[{\"name\":\"b\"},{\"name\":\"a\"},{\"name\":\"theirs\"}]}", 0 },
		{ "plain values", "{\"tags\":[\"1\",\"2\",\"3\",\"4\"]}",
		  "{\"$setElementOrder/tags\":[\"4\",\"2\",\"5\"],\"tags\":[\"5\"],"
		  "\"$deleteFromPrimitiveList/tags\":[\"1\",\"3\"]}",
		  "{\"tags\":[\"4\",\"2\",\"5\"]}", 0 },
		{ "a list that is not there", "{}",
		  "{\"$setElementOrder/items\":[{\"name\":\"b\"}]}", "{}", 0 },
		{ "what is set has a place in the order", "{\"items\":[{\"name\":\"a\"}]}",
		  "{\"$setElementOrder/items\":[{\"name\":\"a\"}],\"items\":[{\"name\":\"b\"}]}",
		  NULL, -EBADMSG },
		{ "of a list that is not merged", "{\"words\":[\"a\"]}",
		  "{\"$setElementOrder/words\":[\"a\"]}", NULL, -EBADMSG },
		{ "which is a list", "{\"items\":[]}", "{\"$setElementOrder/items\":{}}", NULL,
		  -EBADMSG },
	};

	assert_patches(PATCH_STRATEGIC, cases, ARRAY_SIZE(cases));
}

/* Where all keys of a list are equal, each element of the patch walks through the list. */
static void test_steps_are_bounded(void **state)
{
	enum { MANY = 9000 };
	cleanup_free char *object = malloc(MANY * 24 + 64), *patch = malloc(MANY * 24 + 64);
	cleanup_free char *result = NULL;
	struct failure why = { 0 };
	static const char head[] = "{\"items\":[";
	size_t o = sizeof(head) - 1, p = sizeof(head) - 1;

	assert_true(object && patch);
	memcpy(object, head, sizeof(head));
	memcpy(patch, head, sizeof(head));
	for (int i = 0; i < MANY; i++) {
		o += (size_t) snprintf(object + o, 24, "%s{\"name\":\"a\"}", i ? "," : "");
		p += (size_t) snprintf(patch + p, 24, "%s{\"name\":\"b%d\"}", i ? "," : "", i);
	}
	memcpy(object + o, "]}", 3);
	memcpy(patch + p, "]}", 3);
	assert_int_equal(apply_patch(PATCH_STRATEGIC, object, patch, &result, &why), -E2BIG);
	assert_non_null(strstr(why.text, "too large"));
}

/* As many as an object can have, merged, ordered and reordered within the budget; each with each
 * would be 14 million steps. */
static void assert_many_merged(bool reversed)
{
	enum { MANY = 3800 };
	cleanup_free char *object = malloc(MANY * 24 + 64), *patch = malloc(MANY * 40 + 64);
	cleanup_free char *result = NULL;
	struct failure why = { 0 };
	static const char head[] = "{\"items\":[";
	size_t o = sizeof(head) - 1, p = sizeof(head) - 1;

	assert_true(object && patch);
	memcpy(object, head, sizeof(head));
	memcpy(patch, head, sizeof(head));
	for (int i = 0; i < MANY; i++) {
		int other = reversed ? MANY - 1 - i : i;

		o += (size_t) snprintf(object + o, 24, "%s{\"name\":\"a%d\"}", i ? "," : "", i);
		p += (size_t) snprintf(patch + p, 40, "%s{\"name\":\"a%d\",\"v\":%d}", i ? "," : "",
				       other, other);
	}
	memcpy(object + o, "]}", 3);
	memcpy(patch + p, "]}", 3);
	assert_int_equal(apply_patch(PATCH_STRATEGIC, object, patch, &result, &why), 0);
	assert_string_equal(result, patch);
}

static void test_many_elements_in_any_order(void **state)
{
	assert_many_merged(false);
	assert_many_merged(true);
}

/* Of two elements with one key the first is meant, wherever the last search ended. */
static void test_equal_keys(void **state)
{
	static const struct patch_case cases[] = {
		{ "the first of two",
		  "{\"ports\":[{\"port\":1},{\"port\":2,\"a\":1},{\"port\":2},{\"port\":3},"
		  "{\"port\":4},{\"port\":5},{\"port\":6},{\"port\":7},{\"port\":8},"
		  "{\"port\":9}]}",
		  "{\"ports\":[{\"port\":2,\"b\":1},{\"port\":2,\"c\":1}]}",
		  "{\"ports\":[{\"port\":1},{\"port\":2,\"a\":1,\"b\":1,\"c\":1},{\"port\":2},"
		  "{\"port\":3},{\"port\":4},{\"port\":5},{\"port\":6},{\"port\":7},"
		  "{\"port\":8},{\"port\":9}]}",
		  0 },
	};

	assert_patches(PATCH_STRATEGIC, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_steps_are_bounded),
		cmocka_unit_test(test_many_elements_in_any_order),
		cmocka_unit_test(test_equal_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
