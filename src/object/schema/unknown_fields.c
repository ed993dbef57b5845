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

static int walk_object(struct walk *walk, const struct schema *schema, const struct field *object);

static const struct schema_field *find(const struct schema *schema, const char *name)
{
	const struct schema_field *known = schema->fields;

	while (known->name && (known->name[0] != name[0] || strcmp(known->name, name) != 0))
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

/* Values of another type than their field's are refused elsewhere. */
static int walk_member(struct walk *walk, const struct schema *schema, const struct field *member)
{
	const struct schema_field *known = find(schema, member->name);
	int r = 0;

	if (!known)
		return report(walk, member);
	if (known->type == SCHEMA_OBJECT && known->of)
		return walk_object(walk, known->of, member);
	if (known->type != SCHEMA_OBJECTS || !known->of || !json_is_array(member->item))
		return 0;
	for (struct field at = field_first(member); at.item && r == 0; field_next(&at))
		r = walk_object(walk, known->of, &at);
	return r;
}

static int walk_object(struct walk *walk, const struct schema *schema, const struct field *object)
{
	int r = 0;

	if (!json_is_object(object->item))
		return 0;
	for (const struct cJSON *item = json_first(object->item); item && r == 0;
	     item = json_next(item))
		r = walk_member(walk, schema, FIELD_OF(object, json_key(item), item));
	return r;
}

int object_unknown_fields(const struct cJSON *tree, enum object_kind kind,
			  int (*visit)(const char *path, void *userdata), void *userdata)
{
	struct walk walk = { .visit = visit, .userdata = userdata, .left = UNKNOWN_FIELDS_MAX };
	int r;

	assert(visit);
	r = walk_object(&walk, kind_row(kind)->schema, FIELD_ROOT(tree, NULL));
	return walk.left > 0 ? r : 0;
}
