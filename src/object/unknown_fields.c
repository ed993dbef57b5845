/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unknown_fields - what somebody wrote that no shape names; see shape.h
 *
 * A misspelt field is kept like any foreign one, so only its writer can tell that it does nothing:
 * he is told when he asked to be.
 */
#include "object/shape.h"

#include "object/kind.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct walk {
	int (*visit)(const char *path, void *userdata);
	void *userdata;
	unsigned int left;
};

static int walk_object(struct walk *walk, const struct shape *shape, const struct cJSON *object,
		       const struct field *field);

static const struct shape_field *find(const struct shape *shape, const char *name)
{
	const struct shape_field *known = shape->fields;

	while (known->name && strcmp(known->name, name) != 0)
		known++;
	return known->name ? known : NULL;
}

static int tell(struct walk *walk, const struct field *field)
{
	char path[FIELD_PATH_BYTES];
	int r;

	field_spell(field, path);
	r = walk->visit(path, walk->userdata);
	if (r != 0)
		return r;
	return --walk->left > 0 ? 0 : -E2BIG;
}

static int walk_elements(struct walk *walk, const struct shape *shape, const struct cJSON *list,
			 const struct field *field)
{
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = walk_object(walk, shape, item, FIELD_AT(field, index++));
	return r;
}

/* Values of another type than their field's are refused elsewhere. */
static int walk_object(struct walk *walk, const struct shape *shape, const struct cJSON *object,
		       const struct field *field)
{
	int r = 0;

	if (!json_is_object(object))
		return 0;
	for (const struct cJSON *item = json_first(object); item && r == 0;
	     item = json_next(item)) {
		const struct shape_field *known = find(shape, json_key(item));

		if (!known)
			r = tell(walk, FIELD(field, json_key(item)));
		else if (known->type == SHAPE_OBJECT && known->of)
			r = walk_object(walk, known->of, item, FIELD(field, known->name));
		else if (known->type == SHAPE_OBJECTS && known->of && json_is_array(item))
			r = walk_elements(walk, known->of, item, FIELD(field, known->name));
	}
	return r;
}

int object_unknown_fields(const struct cJSON *tree, enum object_kind kind,
			  int (*visit)(const char *path, void *userdata), void *userdata)
{
	struct walk walk = { .visit = visit, .userdata = userdata, .left = UNKNOWN_FIELDS_MAX };
	int r;

	assert(visit);
	r = walk_object(&walk, kind_row(kind)->shape, tree, NULL);
	return walk.left > 0 ? r : 0;
}
