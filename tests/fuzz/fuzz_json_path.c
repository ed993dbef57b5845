/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json_path - templates of any origin over answers of any origin, as podvolctl prints them
 *
 * The input is the template, a NUL and JSON. What can be served without an object can be served
 * with one, whatever is in it; a refusal has a text.
 */
#include "fuzz.h"

#include "cli/get.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <string.h>

static const struct json_limits limits = { .bytes = 1 << 20, .depth = 64 };

/* Ranges in ranges make much out of little. */
enum { TEMPLATE_BYTES_MAX = 256, JSON_BYTES_MAX = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *template = (const char *) data;
	const char *json = size > 0 ? memchr(template, '\0', size) : NULL;
	struct failure why = { 0 };
	struct cJSON *tree = NULL;
	char *printed = NULL;
	size_t length;
	FILE *out;
	int r;

	if (!json || json++ - template > TEMPLATE_BYTES_MAX)
		return 0;
	size -= (size_t) (json - template);
	if (size > JSON_BYTES_MAX || json_parse(json, size, &limits, &tree, NULL) < 0)
		return 0;
	r = json_path_print(NULL, template, NULL, &why);
	HOLDS(r == 0 || ((r == -EINVAL || r == -EOPNOTSUPP) && why.text[0] != '\0'));
	out = open_memstream(&printed, &length);
	HOLDS(out);
	if (r == 0)
		HOLDS(json_path_print(out, template, tree, &why) == 0);
	HOLDS(fclose(out) == 0);
	free(printed);
	json_free(tree);
	return 0;
}
