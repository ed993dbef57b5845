/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_case - see patch_case.h
 */
#include "patch_case.h"

#include "base/cleanup.h"
#include "object/object.h"
#include "object/schema/schema_rows.h"

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

static struct cJSON *tree_of_text(const char *text)
{
	const struct json_limits limits = { .bytes = 8 << 20, .depth = OBJECT_DEPTH_MAX };
	struct cJSON *tree = NULL;
	struct failure why = { 0 };

	if (json_parse(text, strlen(text), &limits, &tree, &why) < 0)
		fail_msg("%s: %.200s", why.text, text);
	return tree;
}

int apply_patch(enum patch_type type, const char *object, const char *patch, char **ret,
		struct failure *why)
{
	cleanup_json struct cJSON *tree = tree_of_text(object), *change = tree_of_text(patch);
	int r = patch_apply(type, &patch_case_row, &tree, change, why);

	*ret = NULL;
	if (r == 0) {
		*ret = json_print(tree);
		assert_non_null(*ret);
	}
	return r;
}

void assert_patches(enum patch_type type, const struct patch_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct patch_case *one = &cases[i];
		struct failure why = { 0 };
		char *result;
		int r = apply_patch(type, one->object, one->patch, &result, &why);

		if (r != (one->result ? 0 : one->error))
			fail_msg("%s: %d (%s)", one->what, r, why.text);
		if (one->result && strcmp(result, one->result) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", one->what, result, one->result);
		if (!one->result && why.text[0] == '\0')
			fail_msg("%s: refused without a reason", one->what);
		free(result);
	}
}
