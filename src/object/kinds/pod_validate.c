/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_validate - the rules for v1.Pod that concern volumes and who may use them
 *
 * Kubernetes also wants an image of each container and checks what only starting one needs. Pods
 * come here to have their volumes mounted, also from people who start containers without images
 * (crun on a directory, systemd units), so a container needs a name and no more.
 */
#include "object/kinds.h"
#include "object/kinds/pod_field.h"

#include "base/cleanup.h"
#include "object/json/json_tree.h"
#include "object/metadata.h"
#include "object/schema/field.h"
#include "object/select/name_index.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { ID_MAX = INT32_MAX };

/* What the containers' rules need to know about their pod. */
struct context {
	const struct name_index *volumes;
	struct violations *found;
};

static int no_memory(struct violations *found)
{
	return violations_broken(found, -ENOMEM);
}

/* ---- mounts ---- */

/* Both lead below the volume: ".." in either would lead out of it. */
static int check_sub_path(const struct cJSON *mount, const struct field *field,
			  struct violations *found)
{
	const char *path = json_text(mount, "subPath");
	const char *expression = json_text(mount, "subPathExpr");
	int r;

	r = field_check_descending(FIELD(field, "subPath"), path, found);
	if (r == 0 && *path != '\0' && *expression != '\0')
		r = field_invalid(FIELD(field, "subPathExpr"), expression,
				  "subPathExpr and subPath are mutually exclusive", found);
	if (r == 0)
		r = field_check_descending(FIELD(field, "subPathExpr"), expression, found);
	return r;
}

/* Mounts that a container makes would reach the host: only a privileged one may. */
static int check_propagation(const struct cJSON *mount, const struct cJSON *container,
			     const struct field *field, struct violations *found)
{
	static const char *const modes[] = { "Bidirectional", "HostToContainer", "None", NULL };
	const struct field *at = FIELD(field, "mountPropagation");
	const char *mode = json_text(mount, "mountPropagation");
	const struct cJSON *security = json_get(container, "securityContext");
	int r = field_check_one_of(at, mode, modes, true, found);

	if (r < 0)
		return r;
	if (strcmp(mode, "Bidirectional") == 0 &&
	    !json_bool(json_get(security, "privileged"), false))
		return field_forbidden(at,
				       "Bidirectional mount propagation is available only to "
				       "privileged containers",
				       found);
	return 0;
}

/* It promises that nothing below is writable: the mount is read-only and nothing may come into it.
 */
static int check_recursive_read_only(const struct cJSON *mount, const struct field *field,
				     struct violations *found)
{
	static const char *const modes[] = { "Disabled", "Enabled", "IfPossible", NULL };
	const struct field *at = FIELD(field, "recursiveReadOnly");
	const char *mode = json_text(mount, "recursiveReadOnly");
	const char *propagation = json_text(mount, "mountPropagation");
	int r = field_check_one_of(at, mode, modes, true, found);

	if (r < 0 || *mode == '\0' || strcmp(mode, "Disabled") == 0)
		return r;
	if (!json_bool(json_get(mount, "readOnly"), false))
		return field_forbidden(at, "may only be specified when readOnly is true", found);
	if (*propagation != '\0' && strcmp(propagation, "None") != 0)
		return field_forbidden(at,
				       "may only be specified when mountPropagation is None or not "
				       "specified",
				       found);
	return 0;
}

static int check_mount(const struct cJSON *mount, const struct cJSON *container,
		       const struct field *field, const struct context *context)
{
	const char *name = json_text(mount, "name");
	struct violations *found = context->found;
	int r;

	if (*name == '\0')
		return field_required(FIELD(field, "name"), "", found);
	if (!name_index_find(context->volumes, name))
		return field_not_found(FIELD(field, "name"), name, found);
	if (*json_text(mount, "mountPath") == '\0')
		return field_required(FIELD(field, "mountPath"), "", found);
	r = check_sub_path(mount, field, found);
	if (r == 0)
		r = check_propagation(mount, container, field, found);
	if (r == 0)
		r = check_recursive_read_only(mount, field, found);
	return r;
}

static int check_mounts(const struct cJSON *container, const struct name_index *paths,
			const struct field *field, const struct context *context)
{
	const struct cJSON *list = json_get(container, "volumeMounts");
	const struct field *mounts = FIELD(field, "volumeMounts");
	const struct name_entry *again;
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = check_mount(item, container, FIELD_AT(mounts, index++), context);
	if (r < 0)
		return r;
	again = name_index_duplicate(paths);
	if (again)
		return field_invalid(FIELD(FIELD_AT(mounts, again->position), "mountPath"),
				     again->name, "must be unique", context->found);
	return 0;
}

/* ---- devices ---- */

/* By which the devices of a container are compared with its mounts. */
struct mounts_index {
	struct name_index names, paths;
};

static int check_device(const struct cJSON *device, const struct mounts_index *mounts,
			const struct field *field, const struct context *context)
{
	const struct field *name_field = FIELD(field, "name"),
			   *path_field = FIELD(field, "devicePath");
	const char *name = json_text(device, "name");
	const char *path = json_text(device, "devicePath");
	const struct name_entry *volume = name_index_find(context->volumes, name);
	struct violations *found = context->found;

	if (*name == '\0')
		return field_required(name_field, "", found);
	if (!volume)
		return field_not_found(name_field, name, found);
	if (!pod_volume_may_be_block(volume->item))
		return field_invalid(name_field, name,
				     "can only use volume source type of PersistentVolumeClaim or "
				     "Ephemeral for block mode",
				     found);
	if (*path == '\0')
		return field_required(path_field, "", found);
	if (name_index_find(&mounts->paths, path))
		return field_invalid(path_field, path,
				     "must not already exist as a path in volumeMounts", found);
	if (name_index_find(&mounts->names, name))
		return field_invalid(name_field, name, "must not already exist in volumeMounts",
				     found);
	return field_check_no_backsteps(path_field, path, found);
}

static int check_unique(const struct cJSON *list, const char *key, const struct field *field,
			struct violations *found)
{
	cleanup_name_index struct name_index index = { 0 };
	const struct name_entry *again;

	if (name_index_init(&index, list, key) < 0)
		return no_memory(found);
	again = name_index_duplicate(&index);
	if (again)
		return field_invalid(FIELD(FIELD_AT(field, again->position), key), again->name,
				     "must be unique", found);
	return 0;
}

static int check_devices(const struct cJSON *container, const struct mounts_index *mounts,
			 const struct field *field, const struct context *context)
{
	const struct cJSON *list = json_get(container, "volumeDevices");
	const struct field *devices = FIELD(field, "volumeDevices");
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = check_device(item, mounts, FIELD_AT(devices, index++), context);
	if (r == 0)
		r = check_unique(list, "name", devices, context->found);
	if (r == 0)
		r = check_unique(list, "devicePath", devices, context->found);
	return r;
}

/* ---- containers ---- */

static int check_quantities(const struct cJSON *map, const struct field *field,
			    struct violations *found)
{
	int r = 0;

	if (json_count(map) > POD_RESOURCES_MAX)
		return field_invalid(field, NULL, "must have at most 128 entries", found);
	for (const struct cJSON *item = json_first(map); item && r == 0; item = json_next(item))
		r = field_check_quantity(FIELD_KEY(field, json_key(item)), item, false, found);
	return r;
}

static int check_resources(const struct cJSON *container, const struct field *field,
			   struct violations *found)
{
	const struct cJSON *resources = json_get(container, "resources");
	const struct field *at = FIELD(field, "resources");
	int r;

	r = check_quantities(json_get(resources, "limits"), FIELD(at, "limits"), found);
	if (r == 0)
		r = check_quantities(json_get(resources, "requests"), FIELD(at, "requests"), found);
	return r;
}

static int check_container(const struct cJSON *container, const struct field *field,
			   const struct context *context)
{
	const struct cJSON *mounts = json_get(container, "volumeMounts");
	const struct cJSON *user = json_get(json_get(container, "securityContext"), "runAsUser");
	struct mounts_index index = { 0 };
	int r;

	r = field_check_label(FIELD(field, "name"), json_text(container, "name"), context->found);
	if (r == 0)
		r = field_check_range(FIELD(FIELD(field, "securityContext"), "runAsUser"), user, 0,
				      ID_MAX, context->found);
	if (r == 0)
		r = check_resources(container, field, context->found);
	if (r < 0)
		return r;
	if (name_index_init(&index.names, mounts, "name") < 0 ||
	    name_index_init(&index.paths, mounts, "mountPath") < 0)
		r = no_memory(context->found);
	if (r == 0)
		r = check_mounts(container, &index.paths, field, context);
	if (r == 0)
		r = check_devices(container, &index, field, context);
	name_index_done(&index.names);
	name_index_done(&index.paths);
	return r;
}

static int check_containers(const struct cJSON *list, const struct field *field,
			    const struct context *context)
{
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = check_container(item, FIELD_AT(field, index++), context);
	return r;
}

/* Names are unique in each list and no later list repeats one of an earlier. */
static int check_container_names(const struct cJSON *spec, const char *const *lists,
				 struct violations *found)
{
	struct name_index indexes[3] = { 0 };
	const struct name_entry *again = NULL;
	size_t made = 0;
	int r = 0;

	for (; lists[made] && r == 0 && !again; made++) {
		r = name_index_init(&indexes[made], json_get(spec, lists[made]), "name");
		if (r < 0)
			break;
		again = name_index_duplicate(&indexes[made]);
		for (size_t i = 0; i < made * indexes[made].count && !again; i++) {
			const struct name_entry *entry = &indexes[made].entries[i / made];

			if (name_index_find(&indexes[i % made], entry->name))
				again = entry;
		}
	}
	if (r < 0)
		r = no_memory(found);
	else if (again)
		r = field_duplicate(FIELD(FIELD_AT(FIELD(FIELD(NULL, "spec"), lists[made - 1]),
						   again->position),
					  "name"),
				    again->name, found);
	for (size_t i = 0; i < ARRAY_SIZE(indexes); i++)
		name_index_done(&indexes[i]);
	return r;
}

static int check_all_containers(const struct cJSON *spec, const struct context *context)
{
	static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers",
					     NULL };
	const struct field *field = FIELD(NULL, "spec");
	int r = 0;

	if (json_count(json_get(spec, "containers")) == 0)
		return field_required(FIELD(field, "containers"), "", context->found);
	for (size_t i = 0; lists[i] && r == 0; i++)
		r = check_containers(json_get(spec, lists[i]), FIELD(field, lists[i]), context);
	return r < 0 ? r : check_container_names(spec, lists, context->found);
}

/* ---- the pod ---- */

static int check_security(const struct cJSON *security, const struct field *field,
			  struct violations *found)
{
	static const char *const policies[] = { "Always", "OnRootMismatch", NULL };
	const struct cJSON *groups = json_get(security, "supplementalGroups");
	const struct field *at = FIELD(field, "supplementalGroups");
	size_t index = 0;
	int r;

	r = field_check_range(FIELD(field, "fsGroup"), json_get(security, "fsGroup"), 0, ID_MAX,
			      found);
	if (r == 0)
		r = field_check_range(FIELD(field, "runAsUser"), json_get(security, "runAsUser"), 0,
				      ID_MAX, found);
	if (r == 0)
		r = field_check_one_of(FIELD(field, "fsGroupChangePolicy"),
				       json_text(security, "fsGroupChangePolicy"), policies, true,
				       found);
	for (const struct cJSON *item = json_first(groups); item && r == 0; item = json_next(item))
		r = field_check_range(FIELD_AT(at, index++), item, 0, ID_MAX, found);
	return r;
}

static int check_group_annotation(const struct cJSON *tree, struct violations *found)
{
	static const char *const policies[] = { "Idmap", NULL };
	const char *policy = metadata_annotation(tree, POD_FS_GROUP_ANNOTATION);

	if (!policy)
		return 0;
	return field_check_one_of(
		FIELD_KEY(FIELD(FIELD(NULL, "metadata"), "annotations"), POD_FS_GROUP_ANNOTATION),
		policy, policies, false, found);
}

static int check_volumes(const struct cJSON *tree, const struct name_index *index,
			 struct violations *found)
{
	const char *name = json_text(json_get(tree, "metadata"), "name");
	const struct cJSON *list = json_get(json_get(tree, "spec"), "volumes");
	const struct field *field = FIELD(FIELD(NULL, "spec"), "volumes");
	const struct name_entry *again;
	size_t position = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = pod_volume_validate(item, name, FIELD_AT(field, position++), found);
	if (r < 0)
		return r;
	again = name_index_duplicate(index);
	if (again)
		return field_duplicate(FIELD(FIELD_AT(field, again->position), "name"), again->name,
				       found);
	return 0;
}

int pod_validate(const struct cJSON *tree, struct violations *found)
{
	static const char *const restarts[] = { "Always", "Never", "OnFailure", NULL };
	static const char *const phases[] = { "Failed",    "Pending", "Running",
					      "Succeeded", "Unknown", NULL };
	const struct cJSON *spec = json_get(tree, "spec");
	const struct field *field = FIELD(NULL, "spec");
	cleanup_name_index struct name_index volumes = { 0 };
	const struct context context = { .volumes = &volumes, .found = found };
	const char *node = json_text(spec, "nodeName");
	int r;

	assert(tree);
	if (name_index_init(&volumes, json_get(spec, "volumes"), "name") < 0)
		return no_memory(found);
	r = check_volumes(tree, &volumes, found);
	if (r == 0)
		r = check_all_containers(spec, &context);
	if (r == 0)
		r = check_security(json_get(spec, "securityContext"),
				   FIELD(field, "securityContext"), found);
	if (r == 0)
		r = check_group_annotation(tree, found);
	if (r == 0)
		r = field_check_one_of(FIELD(field, "restartPolicy"),
				       json_text(spec, "restartPolicy"), restarts, true, found);
	if (r == 0 && *node != '\0')
		r = field_check_subdomain(FIELD(field, "nodeName"), node, found);
	if (r == 0)
		r = field_check_one_of(FIELD(FIELD(NULL, "status"), "phase"),
				       json_text(json_get(tree, "status"), "phase"), phases, true,
				       found);
	return r;
}

/* ---- updates ---- */

/* All that is compared of a spec: detached first, because the walk removes the rest. */
static int keep_volumes(struct cJSON *spec, const struct cJSON *old_spec)
{
	struct cJSON *volumes = json_member(spec, "volumes");

	if (volumes)
		(void) cJSON_DetachItemViaPointer(spec, volumes);
	while (json_first(spec))
		json_remove(spec, json_key(json_first(spec)));
	if (volumes && json_count(volumes) > 0)
		return json_set(spec, "volumes", volumes);
	json_free(volumes);
	return 0;
}

/* Kubernetes forbids nearly all changes of a spec. Here the writer of a manifest may change what
 * does not concern volumes without its pod becoming another one; the volumes of a pod are fixed. */
int pod_validate_update(const struct object *old, const struct object *new_object,
			struct violations *found)
{
	const struct field *spec = FIELD(NULL, "spec");
	cleanup_update_member struct update_member pair;
	bool same = false;
	int r;

	assert(old->kind == KIND_POD && new_object->kind == KIND_POD);
	r = update_member_init(&pair, old, new_object, "spec");
	if (r == 0)
		r = update_is_same(&pair, keep_volumes, &same);
	if (r < 0)
		return violations_broken(found, r);
	if (!same)
		return field_forbidden(FIELD(spec, "volumes"),
				       "the volumes of a pod may not be changed", found);
	if (*old->pod->node_name != '\0' &&
	    strcmp(old->pod->node_name, new_object->pod->node_name) != 0)
		return field_invalid(FIELD(spec, "nodeName"), new_object->pod->node_name,
				     "field is immutable", found);
	return 0;
}
