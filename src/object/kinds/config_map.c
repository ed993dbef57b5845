/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_map - v1.ConfigMap
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/schema/schemas.h"

/* clang-format off */
const struct schema config_map_schema = SCHEMA("ConfigMap", NULL,
	SCHEMA_HEAD,
	BYTES_MAP("binaryData", 0, "Entries that are bytes, as base64."),
	STRING_MAP("data", 0, "Entries that are text."),
	BOOL("immutable", 0, "Its entries can no longer be changed."),
);
/* clang-format on */

static bool check_twice(const struct field *data, const struct field *bytes)
{
	FIELD_FOREACH (at, bytes) {
		const struct field *text = FIELD_KEY(data, at.name);

		if (text->item &&
		    !field_invalid(text, at.name, "duplicate of key present in binaryData"))
			return false;
	}
	return true;
}

bool config_map_validate(const struct field *map)
{
	const struct field *data = FIELD(map, "data"), *bytes = FIELD(map, "binaryData");

	if (!entries_check_keys(data) || !entries_check_keys(bytes) || !check_twice(data, bytes))
		return false;
	return entries_bytes(data->item, false) + entries_bytes(bytes->item, true) <=
		       ENTRIES_BYTES_MAX ||
	       field_too_long(map, "may not be more than 1048576 bytes");
}

bool config_map_validate_update(const struct object *old, const struct object *new_object,
				struct violations *found)
{
	static const char *const entries[] = { "data", "binaryData", NULL };

	return entries_check_update(old, new_object, entries, found);
}
