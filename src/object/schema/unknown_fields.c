/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unknown_fields - what an object has that no schema names; see schema.h
 *
 * A misspelt field is kept like any foreign one, so only its writer can tell that it does nothing:
 * reported on request.
 */
#include "object/schema/schema.h"

#include "object/kind.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct walk {
	int (*visit)(const char *path, void *userdata);
	void *userdata;
	unsigned int left;
};

static int walk_object(struct walk *walk, const struct schema *schema, const struct cJSON *object,
		       const struct field *field);

static const struct schema_field *find(const struct schema *schema, const char *name)
{
	const struct schema_field *known = schema->fields;

	while (known->name && strcmp(known->name, name) != 0)
		known++;
	return known->name ? known : NULL;
}

static int report(struct walk *walk, const struct field *field)
{
	char path[FIELD_PATH_BYTES];
	int r;

	field_spell(field, path);
	r = walk->visit(path, walk->userdata);
	if (r != 0)
		return r;
	return --walk->left > 0 ? 0 : -E2BIG;
}

static int walk_elements(struct walk *walk, const struct schema *schema, const struct cJSON *list,
			 const struct field *field)
{
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = walk_object(walk, schema, item, FIELD_AT(field, index++));
	return r;
}

/* Values of another type than their field's are refused elsewhere. */
static int walk_object(struct walk *walk, const struct schema *schema, const struct cJSON *object,
		       const struct field *field)
{
	int r = 0;

	if (!json_is_object(object))
		return 0;
	for (const struct cJSON *item = json_first(object); item && r == 0;
	     item = json_next(item)) {
		const struct schema_field *known = find(schema, json_key(item));

		if (!known)
			r = report(walk, FIELD(field, json_key(item)));
		else if (known->type == SCHEMA_OBJECT && known->of)
			r = walk_object(walk, known->of, item, FIELD(field, known->name));
		else if (known->type == SCHEMA_OBJECTS && known->of && json_is_array(item))
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
	r = walk_object(&walk, kind_row(kind)->schema, tree, NULL);
	return walk.left > 0 ? r : 0;
}
