/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume_objects - docker's volumes and mounts as objects of the store, and back
 *
 * The names of docker may be longer than those of objects and hold other characters, so objects
 * have names made of them, and the label and the data say whose they are.
 */
#include "api/docker/docker_volume.h"

#include "base/fnv1a.h"
#include "object/kinds/persistent_volume.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { READABLE_BYTES = 24 };

/* ---- names ---- */

void docker_object_name(const char *name, char ret[DOCKER_OBJECT_NAME_BYTES])
{
	char readable[READABLE_BYTES + 1];
	size_t length = 0;

	for (const char *at = name; *at && length < READABLE_BYTES; at++) {
		char c = *at >= 'A' && *at <= 'Z' ? (char) (*at - 'A' + 'a') : *at;
		bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (fits || length > 0)
			readable[length++] = fits ? c : '-';
	}
	readable[length] = '\0';
	(void) snprintf(ret, DOCKER_OBJECT_NAME_BYTES, "%s%s%016jx", readable,
			length > 0 ? "-" : "", (uintmax_t) fnv1a_add_text(FNV1A_FIRST, name));
}

void docker_pod_name(const char *volume, const char *id, char ret[DOCKER_OBJECT_NAME_BYTES])
{
	size_t used;

	docker_object_name(volume, ret);
	used = strlen(ret);
	(void) snprintf(ret + used, DOCKER_OBJECT_NAME_BYTES - used, "-%016jx",
			(uintmax_t) fnv1a_add_text(FNV1A_FIRST, id));
}

bool docker_is_labelled(const struct object *object, const char *object_name)
{
	const struct labels *labels = &object->meta.labels;

	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->labels[i].key, DOCKER_LABEL) == 0)
			return !object_name || strcmp(labels->labels[i].value, object_name) == 0;
	return false;
}

/* ---- the record of a volume ---- */

static void copy_text(char *to, size_t bytes, const struct cJSON *item)
{
	(void) snprintf(to, bytes, "%s", json_string(item, ""));
}

bool docker_volume_read(const struct object *record, struct docker_volume *ret)
{
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *data;

	assert(record->kind == KIND_CONFIG_MAP);
	if (!docker_is_labelled(record, NULL))
		return false;
	tree = object_tree(record);
	data = json_get(tree, "data");
	*ret = (struct docker_volume){ .creation_usec = record->meta.creation_usec };
	(void) snprintf(ret->object_name, sizeof(ret->object_name), "%s", record->meta.name);
	copy_text(ret->name, sizeof(ret->name), json_get(data, "volume"));
	copy_text(ret->pv, sizeof(ret->pv), json_get(data, "persistentVolume"));
	copy_text(ret->storage_class, sizeof(ret->storage_class), json_get(data, "storageClass"));
	copy_text(ret->size, sizeof(ret->size), json_get(data, "size"));
	copy_text(ret->name_space, sizeof(ret->name_space), json_get(data, "claimNamespace"));
	copy_text(ret->claim, sizeof(ret->claim), json_get(data, "claim"));
	return *ret->name && *ret->name_space && *ret->claim;
}

bool docker_volume_owns_claim(const struct docker_volume *volume)
{
	return *volume->pv || *volume->storage_class;
}

bool docker_volume_find(struct store *store, const char *name, struct docker_volume *ret)
{
	char object_name[DOCKER_OBJECT_NAME_BYTES];
	const struct object *record;

	docker_object_name(name, object_name);
	record = store_get(store, KIND_CONFIG_MAP, DOCKER_NAMESPACE, object_name);
	return record && docker_volume_read(record, ret) && strcmp(ret->name, name) == 0;
}

/* ---- new objects ---- */

static struct cJSON *new_tree(const char *kind, const char *name_space, const char *name,
			      const struct docker_volume *volume)
{
	struct cJSON *tree = json_new_object(), *metadata;

	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", kind);
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "namespace", name_space);
	(void) json_set_string(metadata, "name", name);
	(void) json_set_string(json_add_object(metadata, "labels"), DOCKER_LABEL,
			       volume->object_name);
	return tree;
}

int docker_record_new(const struct docker_volume *volume, const struct object **ret,
		      struct failure *reterr)
{
	cleanup_json struct cJSON *tree =
		new_tree("ConfigMap", DOCKER_NAMESPACE, volume->object_name, volume);
	struct cJSON *data = json_add_object(tree, "data");

	(void) json_set_string(data, "volume", volume->name);
	if (*volume->pv)
		(void) json_set_string(data, "persistentVolume", volume->pv);
	if (*volume->storage_class) {
		(void) json_set_string(data, "storageClass", volume->storage_class);
		(void) json_set_string(data, "size", volume->size);
	}
	(void) json_set_string(data, "claimNamespace", volume->name_space);
	(void) json_set_string(data, "claim", volume->claim);
	return object_from_json(tree, ret, reterr);
}

/* Asks for exactly what the PersistentVolume is, so that the binder cannot but match them. */
static void set_request(const struct object *pv, struct cJSON *spec, struct cJSON *requests)
{
	cleanup_json struct cJSON *pv_tree = object_tree(pv);

	assert(pv->kind == KIND_PERSISTENT_VOLUME);
	(void) json_set_string(spec, "volumeName", pv->meta.name);
	(void) json_set_string(spec, "storageClassName", pv->persistent_volume->storage_class);
	(void) json_set(spec, "accessModes", json_copy(json_get_path(pv_tree, "spec.accessModes")));
	(void) json_set(requests, "storage",
			json_copy(json_get_path(pv_tree, "spec.capacity.storage")));
}

int docker_claim_new(const struct docker_volume *volume, const struct object *pv,
		     const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree =
		new_tree("PersistentVolumeClaim", volume->name_space, volume->claim, volume);
	struct cJSON *spec = json_add_object(tree, "spec");
	struct cJSON *requests = json_add_object(json_add_object(spec, "resources"), "requests");

	if (pv) {
		set_request(pv, spec, requests);
	} else {
		(void) json_set_string(spec, "storageClassName", volume->storage_class);
		(void) json_set_string(json_add_array(spec, "accessModes"), NULL, "ReadWriteOnce");
		(void) json_set_string(requests, "storage", volume->size);
	}
	return object_from_json(tree, ret, reterr);
}

static void add_pod_spec(struct cJSON *spec, const struct docker_volume *volume)
{
	struct cJSON *container = json_add_object(json_add_array(spec, "containers"), NULL);
	struct cJSON *mount = json_add_object(json_add_array(container, "volumeMounts"), NULL);
	struct cJSON *used = json_add_object(json_add_array(spec, "volumes"), NULL);

	(void) json_set_string(container, "name", DOCKER_CONTAINER);
	(void) json_set_string(container, "image", "none");
	(void) json_set_string(mount, "name", "volume");
	(void) json_set_string(mount, "mountPath", "/volume");
	(void) json_set_string(used, "name", "volume");
	(void) json_set_string(json_add_object(used, "persistentVolumeClaim"), "claimName",
			       volume->claim);
}

int docker_pod_new(const struct docker_volume *volume, const char *id, const char *boot_id,
		   const struct object **ret, struct failure *reterr)
{
	char name[DOCKER_OBJECT_NAME_BYTES];
	cleanup_json struct cJSON *tree = NULL;
	struct cJSON *annotations;

	docker_pod_name(volume->name, id, name);
	tree = new_tree("Pod", volume->name_space, name, volume);
	annotations = json_add_object(json_ensure_object(tree, "metadata"), "annotations");
	(void) json_set_string(annotations, "podvol.io/docker-volume-name", volume->name);
	(void) json_set_string(annotations, DOCKER_ID_ANNOTATION, id);
	(void) json_set_string(annotations, DOCKER_BOOT_ANNOTATION, boot_id);
	add_pod_spec(json_add_object(tree, "spec"), volume);
	return object_from_json(tree, ret, reterr);
}

void docker_annotation(const struct object *pod, const char *key, char *buffer, size_t bytes)
{
	cleanup_json struct cJSON *tree = object_tree(pod);

	copy_text(buffer, bytes, json_get(json_get_path(tree, "metadata.annotations"), key));
}

/* ---- this node ---- */

bool docker_mounted_path(struct agent *agent, const struct object *pod, char *buffer, size_t bytes)
{
	cleanup_json struct cJSON *tree = agent_view_volumes(agent, pod);
	const struct cJSON *item = json_first(json_get(tree, "items"));

	if (!json_text_is(item, "state", "mounted"))
		return false;
	copy_text(buffer, bytes, json_get(item, "path"));
	return *buffer != '\0';
}
