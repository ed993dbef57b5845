/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_patch - a patch of any origin on an object of any origin
 *
 * The input is a letter for the type ('j', 'm', 's', 't' for three ways), the object on the rest of
 * the line and the patch behind it. What comes out is a tree that prints, reads back the same and
 * is nested no deeper than objects may be; a merge patch that is applied twice changes nothing
 * more.
 */
#include "fuzz.h"

#include "object/object.h"
#include "object/patch/patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct json_limits limits = { .bytes = 1 << 20, .depth = OBJECT_DEPTH_MAX };
static const struct json_limits wide = { .bytes = 1 << 26, .depth = OBJECT_DEPTH_MAX };

/* The object itself as what was said the last time: what the document does not name goes. */
static int three_way(struct cJSON *tree, const struct cJSON *patch, struct failure *why)
{
	struct cJSON *original = json_copy(tree);
	int r = json_is_object(patch)
			? patch_three_way(kind_row(KIND_POD), tree, patch, original, why)
			: -EBADMSG;

	json_free(original);
	return r;
}

static int apply(char type, struct cJSON **tree, const struct cJSON *patch, struct failure *why)
{
	const struct kind_row *row = kind_row(KIND_POD);

	switch (type) {
	case 'j':
		return patch_apply(PATCH_JSON, row, tree, patch, why);
	case 'm':
		return patch_apply(PATCH_MERGE, row, tree, patch, why);
	case 's':
		return patch_apply(PATCH_STRATEGIC, row, tree, patch, why);
	default:
		return three_way(*tree, patch, why);
	}
}

static void check_result(const struct cJSON *tree)
{
	char *printed = json_print(tree);
	struct cJSON *again = NULL;

	HOLDS(json_is_object(tree) && printed);
	HOLDS(json_parse(printed, strlen(printed), &wide, &again, NULL) == 0);
	HOLDS(json_equal(tree, again));
	json_free(again);
	free(printed);
}

static void check_twice(struct cJSON **tree, const struct cJSON *patch)
{
	struct cJSON *once = json_copy(*tree);

	HOLDS(patch_apply(PATCH_MERGE, NULL, tree, patch, NULL) == 0);
	HOLDS(json_equal(once, *tree));
	json_free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *) data;
	const char *line = size > 1 ? memchr(text, '\n', size) : NULL;
	struct cJSON *tree = NULL, *patch = NULL;
	struct failure why = { 0 };
	int r;

	if (!line || json_parse(text + 1, (size_t) (line - text) - 1, &limits, &tree, NULL) < 0)
		return 0;
	if (json_is_object(tree) &&
	    json_parse(line + 1, size - (size_t) (line - text) - 1, &limits, &patch, NULL) == 0) {
		r = apply(*text, &tree, patch, &why);
		HOLDS(r == 0 || r == -EBADMSG || (r < 0 && why.error == r && why.text[0] != '\0'));
		if (r == 0)
			check_result(tree);
		if (r == 0 && *text == 'm')
			check_twice(&tree, patch);
	}
	json_free(tree);
	json_free(patch);
	return 0;
}
