/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_edit - finalizers and annotations of any object; see controller.h
 */
#include "controller/controller.h"

#include "object/json/json.h"

#include <string.h>

bool metadata_has_finalizer(const struct cJSON *tree, const char *name)
{
	return json_has_string(json_get_path(tree, "metadata.finalizers"), name);
}

bool object_has_finalizer(const struct object *object, const char *name)
{
	cleanup_json struct cJSON *tree = NULL;

	if (!strstr(object->json, name))
		return false;
	tree = object_tree(object);
	return metadata_has_finalizer(tree, name);
}

/* All but the one; with it at the end when it is to be there. */
static int set_finalizer(struct cJSON *tree, const char *name, bool is_there)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata"), *list = json_new_array();
	const struct cJSON *old = json_get(metadata, "finalizers");

	JSON_FOREACH (i, old)
		if (strcmp(json_string(i, ""), name) != 0)
			(void) json_set(list, NULL, json_copy(i));
	if (is_there)
		(void) json_set_string(list, NULL, name);
	return json_set(metadata, "finalizers", list);
}

int metadata_add_finalizer(struct cJSON *tree, void *name)
{
	return set_finalizer(tree, name, true);
}

int metadata_remove_finalizer(struct cJSON *tree, void *name)
{
	return set_finalizer(tree, name, false);
}

static struct cJSON *annotations_of(struct cJSON *tree)
{
	return json_ensure_object(json_ensure_object(tree, "metadata"), "annotations");
}

int metadata_set_annotation(struct cJSON *tree, const char *key, const char *value)
{
	return json_set_string(annotations_of(tree), key, value);
}

int metadata_remove_annotation(struct cJSON *tree, void *key)
{
	json_remove(annotations_of(tree), key);
	return 0;
}
