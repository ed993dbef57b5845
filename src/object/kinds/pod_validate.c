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

/* ---- mounts ---- */

/* Both lead below the volume: ".." in either would lead out of it. */
static bool check_sub_path(const struct field *mount)
{
	const struct field *path = FIELD(mount, "subPath"),
			   *expression = FIELD(mount, "subPathExpr");

	if (!field_check_descending(path))
		return false;
	if (*field_text(path) != '\0' && *field_text(expression) != '\0' &&
	    !field_invalid(expression, field_text(expression),
			   "subPathExpr and subPath are mutually exclusive"))
		return false;
	return field_check_descending(expression);
}

/* Mounts that a container makes would reach the host: only a privileged one may. */
static bool check_propagation(const struct field *mount, const struct cJSON *container)
{
	static const char *const modes[] = { "Bidirectional", "HostToContainer", "None", NULL };
	const struct field *at = FIELD(mount, "mountPropagation");

	if (!field_check_one_of(at, modes, true))
		return false;
	if (strcmp(field_text(at), "Bidirectional") == 0 &&
	    !json_bool(json_get_path(container, "securityContext.privileged"), false))
		return field_forbidden(at, "Bidirectional mount propagation is available only to "
					   "privileged containers");
	return true;
}

/* It promises that nothing below is writable: the mount is read-only and nothing may come into it.
 */
static bool check_recursive_read_only(const struct field *mount)
{
	static const char *const modes[] = { "Disabled", "Enabled", "IfPossible", NULL };
	const struct field *at = FIELD(mount, "recursiveReadOnly");
	const char *mode = field_text(at);
	const char *propagation = json_text(mount->item, "mountPropagation");

	if (!field_check_one_of(at, modes, true))
		return false;
	if (*mode == '\0' || strcmp(mode, "Disabled") == 0)
		return true;
	if (!json_bool(json_get(mount->item, "readOnly"), false))
		return field_forbidden(at, "may only be specified when readOnly is true");
	if (*propagation != '\0' && strcmp(propagation, "None") != 0)
		return field_forbidden(
			at, "may only be specified when mountPropagation is None or not specified");
	return true;
}

static bool check_mount(const struct field *mount, const struct cJSON *container,
			const struct name_index *volumes)
{
	const char *name = json_text(mount->item, "name");

	if (*name == '\0')
		return field_required(FIELD(mount, "name"), "");
	if (!name_index_find(volumes, name))
		return field_not_found(FIELD(mount, "name"), name);
	if (*json_text(mount->item, "mountPath") == '\0')
		return field_required(FIELD(mount, "mountPath"), "");
	return check_sub_path(mount) && check_propagation(mount, container) &&
	       check_recursive_read_only(mount);
}

static bool refuse_again(const struct field *list, const struct name_index *index, const char *key)
{
	const struct name_entry *again = name_index_duplicate(index);
	struct field at = field_first(list);

	if (!again)
		return true;
	at.index = again->position;
	return field_invalid(FIELD_OF(&at, key, NULL), again->name, "must be unique");
}

static bool check_mounts(const struct field *container, const struct name_index *paths,
			 const struct name_index *volumes)
{
	const struct field *mounts = FIELD(container, "volumeMounts");

	FIELD_FOREACH (at, mounts)
		if (!check_mount(&at, container->item, volumes))
			return false;
	return refuse_again(mounts, paths, "mountPath");
}

/* ---- devices ---- */

/* By which the devices of a container are compared with its mounts. */
struct mounts_index {
	struct name_index names, paths;
};

static bool check_device(const struct field *device, const struct mounts_index *mounts,
			 const struct name_index *volumes)
{
	const struct field *name_field = FIELD(device, "name"),
			   *path_field = FIELD(device, "devicePath");
	const char *name = field_text(name_field), *path = field_text(path_field);
	const struct name_entry *volume = name_index_find(volumes, name);

	if (*name == '\0')
		return field_required(name_field, "");
	if (!volume)
		return field_not_found(name_field, name);
	if (!pod_volume_may_be_block(volume->item))
		return field_invalid(name_field, name,
				     "can only use volume source type of PersistentVolumeClaim or "
				     "Ephemeral for block mode");
	if (*path == '\0')
		return field_required(path_field, "");
	if (name_index_find(&mounts->paths, path))
		return field_invalid(path_field, path,
				     "must not already exist as a path in volumeMounts");
	if (name_index_find(&mounts->names, name))
		return field_invalid(name_field, name, "must not already exist in volumeMounts");
	return field_check_no_backsteps(path_field);
}

static bool check_unique(const struct field *list, const char *key)
{
	cleanup_name_index struct name_index index = { 0 };

	if (name_index_init(&index, list->item, key) < 0)
		return violations_broken(list->found, -ENOMEM);
	return refuse_again(list, &index, key);
}

static bool check_devices(const struct field *container, const struct mounts_index *mounts,
			  const struct name_index *volumes)
{
	const struct field *devices = FIELD(container, "volumeDevices");

	FIELD_FOREACH (at, devices)
		if (!check_device(&at, mounts, volumes))
			return false;
	return check_unique(devices, "name") && check_unique(devices, "devicePath");
}

/* ---- containers ---- */

static bool check_not_negative(const struct field *quantity)
{
	return field_check_quantity(quantity, false);
}

static bool check_quantities(const struct field *map)
{
	if (json_count(map->item) > POD_RESOURCES_MAX)
		return field_invalid(map, NULL, "must have at most 128 entries");
	return field_check_each(map, check_not_negative);
}

static bool check_container(const struct field *container, const struct name_index *volumes)
{
	const struct cJSON *mounts = json_get(container->item, "volumeMounts");
	struct mounts_index index = { 0 };
	bool goes_on;

	if (!field_check_label(FIELD(container, "name")) ||
	    !field_check_range(FIELD(container, "securityContext.runAsUser"), 0, ID_MAX) ||
	    !check_quantities(FIELD(container, "resources.limits")) ||
	    !check_quantities(FIELD(container, "resources.requests")))
		return false;
	if (name_index_init(&index.names, mounts, "name") < 0 ||
	    name_index_init(&index.paths, mounts, "mountPath") < 0)
		goes_on = violations_broken(container->found, -ENOMEM);
	else
		goes_on = check_mounts(container, &index.paths, volumes) &&
			  check_devices(container, &index, volumes);
	name_index_done(&index.names);
	name_index_done(&index.paths);
	return goes_on;
}

/* Names are unique in each list and no later list repeats one of an earlier. */
static bool check_container_names(const struct field *spec, const char *const *lists)
{
	struct name_index indexes[3] = { 0 };
	const struct name_entry *again = NULL;
	bool goes_on = true;
	size_t made = 0;

	for (; lists[made] && goes_on && !again; made++) {
		if (name_index_init(&indexes[made], json_get(spec->item, lists[made]), "name") <
		    0) {
			goes_on = violations_broken(spec->found, -ENOMEM);
			break;
		}
		again = name_index_duplicate(&indexes[made]);
		for (size_t i = 0; i < made * indexes[made].count && !again; i++) {
			const struct name_entry *entry = &indexes[made].entries[i / made];

			if (name_index_find(&indexes[i % made], entry->name))
				again = entry;
		}
	}
	if (again) {
		struct field at = field_first(FIELD(spec, lists[made - 1]));

		at.index = again->position;
		goes_on = field_duplicate(FIELD_OF(&at, "name", NULL), again->name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(indexes); i++)
		name_index_done(&indexes[i]);
	return goes_on;
}

static bool check_all_containers(const struct field *spec, const struct name_index *volumes)
{
	static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers",
					     NULL };

	if (json_count(json_get(spec->item, "containers")) == 0)
		return field_required(FIELD(spec, "containers"), "");
	for (size_t i = 0; lists[i]; i++)
		FIELD_FOREACH (at, FIELD(spec, lists[i]))
			if (!check_container(&at, volumes))
				return false;
	return check_container_names(spec, lists);
}

/* ---- the pod ---- */

static bool check_id(const struct field *id)
{
	return field_check_range(id, 0, ID_MAX);
}

static bool check_security(const struct field *security)
{
	static const char *const policies[] = { "Always", "OnRootMismatch", NULL };

	return check_id(FIELD(security, "fsGroup")) && check_id(FIELD(security, "runAsUser")) &&
	       field_check_one_of(FIELD(security, "fsGroupChangePolicy"), policies, true) &&
	       field_check_each(FIELD(security, "supplementalGroups"), check_id);
}

static bool check_group_annotation(const struct field *pod)
{
	static const char *const policies[] = { "Idmap", NULL };
	const struct field *policy =
		FIELD_KEY(FIELD(pod, "metadata.annotations"), POD_FS_GROUP_ANNOTATION);

	return !policy->item || field_check_one_of(policy, policies, false);
}

static bool check_volumes(const struct field *pod, const struct name_index *index)
{
	const char *name = json_text_at(pod->item, "metadata.name");
	const struct field *volumes = FIELD(pod, "spec.volumes");

	FIELD_FOREACH (at, volumes)
		if (!pod_volume_validate(&at, name))
			return false;
	return !name_index_duplicate(index) || field_check_unique(volumes, "name");
}

bool pod_validate(const struct field *pod)
{
	static const char *const restarts[] = { "Always", "Never", "OnFailure", NULL };
	static const char *const phases[] = { "Failed",    "Pending", "Running",
					      "Succeeded", "Unknown", NULL };
	const struct field *spec = FIELD(pod, "spec"), *node = FIELD(spec, "nodeName");
	cleanup_name_index struct name_index volumes = { 0 };

	if (name_index_init(&volumes, json_get(spec->item, "volumes"), "name") < 0)
		return violations_broken(pod->found, -ENOMEM);
	return check_volumes(pod, &volumes) && check_all_containers(spec, &volumes) &&
	       check_security(FIELD(spec, "securityContext")) && check_group_annotation(pod) &&
	       field_check_one_of(FIELD(spec, "restartPolicy"), restarts, true) &&
	       (*field_text(node) == '\0' || field_check_subdomain(node)) &&
	       field_check_one_of(FIELD(pod, "status.phase"), phases, true);
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
bool pod_validate_update(const struct object *old, const struct object *new_object,
			 struct violations *found)
{
	const struct field *spec = FIELD(FIELD_ROOT(NULL, found), "spec");
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
				       "the volumes of a pod may not be changed");
	return *old->pod->node_name == '\0' ||
	       strcmp(old->pod->node_name, new_object->pod->node_name) == 0 ||
	       field_invalid(FIELD(spec, "nodeName"), new_object->pod->node_name,
			     "field is immutable");
}
