/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_map - v1.ConfigMap
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/schema/schemas.h"

#include <assert.h>

/* clang-format off */
const struct schema config_map_schema = SCHEMA("ConfigMap", NULL,
	SCHEMA_HEAD,
	BYTES_MAP("binaryData", 0, "Entries that are bytes, as base64."),
	STRING_MAP("data", 0, "Entries that are text."),
	BOOL("immutable", 0, "Its entries can no longer be changed."),
);
/* clang-format on */

static int check_twice(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *bytes = json_get(tree, "binaryData");

	JSON_FOREACH (item, bytes) {
		const char *key = json_key(item);
		int r = 0;

		if (json_get(json_get(tree, "data"), key))
			r = field_invalid(FIELD_KEY(FIELD(NULL, "data"), key), key,
					  "duplicate of key present in binaryData", found);
		if (r < 0)
			return r;
	}
	return 0;
}

int config_map_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *data = json_get(tree, "data"), *bytes = json_get(tree, "binaryData");
	int r;

	assert(tree);
	r = entries_check_keys(data, FIELD(NULL, "data"), found);
	if (r == 0)
		r = entries_check_keys(bytes, FIELD(NULL, "binaryData"), found);
	if (r == 0)
		r = check_twice(tree, found);
	if (r == 0 && entries_bytes(data, false) + entries_bytes(bytes, true) > ENTRIES_BYTES_MAX)
		r = field_too_long(FIELD(NULL, ""), "may not be more than 1048576 bytes", found);
	return r;
}

int config_map_validate_update(const struct object *old, const struct object *new_object,
			       struct violations *found)
{
	static const char *const entries[] = { "data", "binaryData", NULL };

	return entries_check_update(old, new_object, entries, found);
}
