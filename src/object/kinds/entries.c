/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries - see kinds.h
 */
#include "object/kinds.h"

#include "object/build.h"
#include "object/json/base64.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { KEY_BYTES_MAX = 253 };

static const char *wrong_key(const char *key)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	if (strlen(key) > KEY_BYTES_MAX)
		return "must be no more than 253 characters";
	if (*key == '\0' || key[strspn(key, allowed)] != '\0')
		return "a valid config key must consist of alphanumeric characters, '-', '_' or "
		       "'.'";
	if (strcmp(key, ".") == 0)
		return "must not be '.'";
	if (strcmp(key, "..") == 0)
		return "must not be '..'";
	return strncmp(key, "..", 2) == 0 ? "must not start with '..'" : NULL;
}

bool entries_check_keys(const struct field *map)
{
	FIELD_FOREACH (at, map) {
		const char *detail = wrong_key(at.name);

		if (detail && !field_invalid(map->found->is_secret ? map : &at, at.name, detail))
			return false;
	}
	return true;
}

size_t entries_bytes(const struct cJSON *map, bool are_base64)
{
	size_t sum = 0;

	JSON_FOREACH (item, map) {
		const char *value = json_string(item, "");
		size_t bytes = 0;

		if (are_base64)
			(void) base64_measure(value, &bytes); /* its schema was checked */
		sum += are_base64 ? bytes : strlen(value);
	}
	return sum;
}

bool entries_check_update(const struct object *old, const struct object *new_object,
			  const char *const *members, struct violations *found)
{
	static const char detail[] = "field is immutable when `immutable` is set";
	cleanup_json struct cJSON *before = NULL, *now = NULL, *own = NULL;
	const struct field *root = FIELD_ROOT(NULL, found);
	const struct cJSON *immutable;
	int r = object_member(old, "immutable", &own, &immutable);

	assert(members);
	if (r < 0)
		return violations_broken(found, r);
	if (!json_bool(immutable, false))
		return true; /* mostly: neither is parsed */
	before = object_tree(old);
	now = object_tree(new_object);
	if (!before || !now)
		return violations_broken(found, -ENOMEM);
	if (!json_bool(json_get(now, "immutable"), false) &&
	    !field_forbidden(FIELD(root, "immutable"), detail))
		return false;
	for (; *members; members++) {
		if (!json_equal(json_get(before, *members), json_get(now, *members)) &&
		    !field_forbidden(FIELD(root, *members), detail))
			return false;
	}
	return true;
}
