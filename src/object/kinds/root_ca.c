/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_ca - see root_ca.h
 */
#include "object/kinds/root_ca.h"

#include "object/json/json.h"
#include "object/metadata.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define KEY                  "ca.crt"
#define ANNOTATION_PUBLISHED "podvol.io/published-ca.crt"

static int write_certificate(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	struct cJSON *annotations = json_ensure_object(metadata, "annotations");
	const char *certificate = userdata;
	int r = json_set_string(annotations, ANNOTATION_PUBLISHED, certificate);

	if (r == 0)
		r = json_set_string(json_ensure_object(tree, "data"), KEY, certificate);
	return r;
}

int root_ca_new(const char *name_space, const char *certificate, const struct object **ret,
		struct failure *reterr)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *metadata = json_add_object(tree, "metadata");

	assert(name_space && certificate && ret);
	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", "ConfigMap");
	(void) json_set_string(metadata, "namespace", name_space);
	(void) json_set_string(metadata, "name", ROOT_CA_CONFIG_MAP);
	if (write_certificate(tree, (void *) (uintptr_t) certificate) < 0)
		return failed(reterr, -ENOMEM, "cannot make ConfigMap " ROOT_CA_CONFIG_MAP);
	return object_from_json(tree, ret, reterr);
}

int root_ca_replace(const struct object *stored, const char *certificate, const struct object **ret,
		    struct failure *reterr)
{
	return object_edit(stored, write_certificate, (void *) (uintptr_t) certificate, ret,
			   reterr);
}

/* The certificate that podvold published; NULL: it did not, or it was changed. */
static const char *published(const struct cJSON *tree)
{
	const char *mark = metadata_annotation(tree, ANNOTATION_PUBLISHED);
	const char *present = json_string(json_get(json_get(tree, "data"), KEY), NULL);

	return mark && present && strcmp(mark, present) == 0 ? present : NULL;
}

static bool is_of_the_name(const struct object *object)
{
	return object->kind == KIND_CONFIG_MAP &&
	       strcmp(object->meta.name, ROOT_CA_CONFIG_MAP) == 0;
}

bool root_ca_is_published(const struct object *object)
{
	cleanup_json struct cJSON *tree = is_of_the_name(object) ? object_tree(object) : NULL;

	return tree && published(tree);
}

bool root_ca_has(const struct object *object, const char *certificate)
{
	cleanup_json struct cJSON *tree = is_of_the_name(object) ? object_tree(object) : NULL;
	const char *present = tree ? published(tree) : NULL;

	return present && strcmp(present, certificate) == 0;
}
