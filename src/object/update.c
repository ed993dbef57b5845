/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update - see update.h
 */
#include "object/update.h"

#include "base/cleanup.h"
#include "object/json_tree.h"

#include <assert.h>

int update_is_same(const struct object *old, const struct object *new_object, const char *member,
		   int (*hide)(struct cJSON *value, const struct cJSON *old_value), bool *ret)
{
	cleanup_json struct cJSON *before = object_tree(old), *now = object_tree(new_object);
	cleanup_json struct cJSON *original = NULL;
	int r = 0;

	assert(member && ret);
	if (!before || !now)
		return -ENOMEM;
	if (hide) {
		original = json_copy(json_get(before, member));
		if (!original)
			return -ENOMEM;
		r = hide(json_member(before, member), original);
		if (r == 0)
			r = hide(json_member(now, member), original);
	}
	if (r == 0)
		*ret = json_equal(json_get(before, member), json_get(now, member));
	return r;
}
