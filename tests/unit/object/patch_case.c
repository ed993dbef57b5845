/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_case - see patch_case.h
 */
#include "patch_case.h"

#include "base/cleanup.h"
#include "object/object.h"
#include "object/schema/schema_rows.h"
#include "object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
static const struct schema item_schema = SCHEMA("Item", NULL,
	STRING("name"),
	OBJECTS_BY(item_schema, "name", "items"),
	{ .type = SCHEMA_OBJECTS, .merge_key = "port", .name = "ports" },
	STRINGS("words"),
	STRING_SET("tags"),
	OBJECT(item_schema, "spec"),
);
/* clang-format on */

const struct kind_row patch_case_row = { .name = "Case", .schema = &item_schema };

int apply_patch(enum patch_type type, const char *object, const char *patch, char **ret,
		struct failure *why)
{
	cleanup_json struct cJSON *tree = tree_of_json(object), *change = tree_of_json(patch);
	int r = patch_apply(type, &patch_case_row, &tree, change, why);

	*ret = NULL;
	if (r == 0) {
		*ret = json_print(tree);
		assert_non_null(*ret);
	}
	return r;
}

/* -EINVAL for "EINVAL". */
static int refusal_of(const struct cJSON *test)
{
	const char *name = json_string(json_get(test, "error"), "");

	return strcmp(name, "EINVAL") == 0 ? -EINVAL : strcmp(name, "EBADMSG") == 0 ? -EBADMSG : 0;
}

static void run_case(const struct cJSON *test, enum patch_type type)
{
	const struct cJSON *patch = json_get(test, "patch"), *original = json_get(test, "original");
	const struct cJSON *modified = json_get(test, "modified"),
			   *result = json_get(test, "result");
	const char *what = json_string(json_get(test, "what"), NULL);
	cleanup_json struct cJSON *tree = json_copy(json_get(test, "object"));
	cleanup_free char *printed = NULL, *wanted = NULL;
	struct failure why = { 0 };
	int r;

	if (!what || !tree || !patch == !modified || !result == !refusal_of(test))
		fail_msg("%s is not a whole case", what ? what : "a case without a name");
	r = patch ? patch_apply(type, &patch_case_row, &tree, patch, &why)
		  : patch_three_way(&patch_case_row, tree, modified, original, &why);
	if (r != refusal_of(test))
		fail_msg("%s: %d (%s)", what, r, why.text);
	if (r < 0) {
		if (why.text[0] == '\0')
			fail_msg("%s: refused without a reason", what);
		return;
	}
	printed = json_print(tree);
	wanted = json_print(result);
	if (strcmp(printed, wanted) != 0)
		fail_msg("%s:\n%s\ninstead of\n%s", what, printed, wanted);
}

void assert_patches(const char *path, enum patch_type type)
{
	cleanup_json struct cJSON *cases = tree_of_file(path);

	assert_non_null(json_first(cases));
	for (const struct cJSON *test = json_first(cases); test; test = json_next(test))
		run_case(test, type);
}
