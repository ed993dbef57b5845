/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment_objects - what the variables of containers with a subPathExpr come from; see
 * environment.h
 *
 * A pod without a subPathExpr is not parsed. Which variable a text names is not asked: each may
 * name those before it, and kubelet needs all of them, too.
 */
#include "object/kinds/environment.h"

#include "object/json/json.h"
#include "object/kinds/pod.h"
#include "object/kinds/pod_field.h"

#include <assert.h>

static bool needs_environment(const struct pod_container *container)
{
	for (size_t i = 0; i < container->mount_count; i++)
		if (*container->mounts[i].sub_path_expr)
			return true;
	return false;
}

struct search {
	environment_object_fn *add;
	void *userdata;
	unsigned int count;
};

/* @parent: an item of envFrom, or a valueFrom. */
static int add_one(struct search *search, const struct cJSON *parent, const char *key,
		   enum object_kind kind)
{
	const char *name = json_text(json_get(parent, key), "name");

	if (*name == '\0' || search->count >= ENVIRONMENT_OBJECTS_MAX)
		return 0;
	search->count++;
	return search->add(search->userdata, kind, name);
}

static int add_container(struct search *search, const struct cJSON *container)
{
	const struct cJSON *item;
	int r = 0;

	for (item = json_first(json_get(container, "envFrom")); item && r == 0;
	     item = json_next(item)) {
		r = add_one(search, item, "configMapRef", KIND_CONFIG_MAP);
		if (r == 0)
			r = add_one(search, item, "secretRef", KIND_SECRET);
	}
	for (item = json_first(json_get(container, "env")); item && r == 0;
	     item = json_next(item)) {
		const struct cJSON *from = json_get(item, "valueFrom");

		r = add_one(search, from, "configMapKeyRef", KIND_CONFIG_MAP);
		if (r == 0)
			r = add_one(search, from, "secretKeyRef", KIND_SECRET);
	}
	return r;
}

int environment_objects(const struct object *pod, environment_object_fn *add, void *userdata)
{
	struct search search = { .add = add, .userdata = userdata };
	cleanup_json struct cJSON *tree = NULL;
	int r = 0;

	assert(pod && pod->kind == KIND_POD && add);
	for (size_t i = 0; i < pod->pod->container_count && r == 0; i++) {
		const struct pod_container *container = &pod->pod->containers[i];

		if (!needs_environment(container))
			continue;
		if (!tree)
			tree = object_tree(pod);
		r = tree ? add_container(&search, pod_find_container(tree, container->name))
			 : -ENOMEM;
	}
	return r;
}
