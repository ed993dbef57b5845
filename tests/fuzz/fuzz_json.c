/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json - JSON of any origin: what is taken prints, and the print reads back the same
 */
#include "fuzz.h"

#include "object/json/json.h"

#include <stdlib.h>
#include <string.h>

static const struct json_limits limits = { .bytes = 1 << 20, .depth = 16 };
static const struct json_limits wide = { .bytes = 1 << 24, .depth = 16 };

static void check_copy(const struct cJSON *tree, const char *printed)
{
	struct cJSON *copy = json_copy(tree);
	char *again = json_print(copy), *yaml = json_print_yaml(copy);

	HOLDS(json_equal(tree, copy));
	HOLDS(again && strcmp(again, printed) == 0);
	HOLDS(yaml);
	free(again);
	free(yaml);
	json_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure failure = { 0 };
	struct cJSON *tree = NULL, *again = NULL;
	char *printed, *twice;

	if (json_parse((const char *) data, size, &limits, &tree, &failure) < 0) {
		HOLDS(!tree && failure.error < 0 && failure.text[0] != '\0');
		return 0;
	}
	printed = json_print(tree);
	HOLDS(printed);
	HOLDS(json_parse(printed, strlen(printed), &wide, &again, NULL) == 0);
	HOLDS(json_equal(tree, again));
	twice = json_print(again);
	HOLDS(twice && strcmp(twice, printed) == 0);
	check_copy(tree, printed);
	free(printed);
	free(twice);
	json_free(tree);
	json_free(again);
	return 0;
}
