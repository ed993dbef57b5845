/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_decode - VolumeSnapshot, its class and its content as structs; see volume_snapshot.h
 */
#include "object/kinds/volume_snapshot.h"

#include "object/json/arena.h"
#include "object/json/json.h"
#include "object/kinds.h"
#include "object/kinds/claim_spec.h"
#include "object/metadata.h"
#include "object/select/selector_json.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const char *text_at(const struct cJSON *tree, const char *path, struct arena *arena)
{
	return arena_string(arena, json_string(json_get_path(tree, path), ""));
}

static const char *annotation(const struct cJSON *tree, const char *key, struct arena *arena)
{
	return arena_string(arena, metadata_annotation(tree, key));
}

/* A quantity in a VolumeSnapshot, a number of bytes in its content. */
static struct quantity decode_size(const struct cJSON *item)
{
	int64_t bytes;

	if (json_int64(item, &bytes))
		return (struct quantity){ .milli = (__int128) bytes * 1000, .is_set = true };
	return quantity_decode(item);
}

static struct snapshot_state decode_state(const struct cJSON *status, struct arena *arena)
{
	const struct cJSON *error = json_get(status, "error"), *ready;

	ready = json_get(status, "readyToUse");
	return (struct snapshot_state){
		.is_ready = json_bool(ready, false),
		.has_ready = json_is_bool(ready),
		.has_error = json_is_object(error),
		.error = text_at(error, "message", arena),
		.error_time = text_at(error, "time", arena),
		.restore_size = decode_size(json_get(status, "restoreSize")),
	};
}

static enum snapshot_deletion decode_policy(const struct cJSON *item)
{
	return strcmp(json_string(item, ""), "Delete") == 0 ? SNAPSHOT_DELETE : SNAPSHOT_RETAIN;
}

int volume_snapshot_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			   struct failure *reterr)
{
	const struct cJSON *metadata = json_get(tree, "metadata");
	struct volume_snapshot *snapshot = arena_array(arena, 1, sizeof(*snapshot));

	assert(tree && object->kind == KIND_VOLUME_SNAPSHOT);
	if (!snapshot)
		return failed(reterr, -ENOMEM, "cannot decode a VolumeSnapshot");
	*snapshot = (struct volume_snapshot){
		.object = object,
		.claim_name = text_at(tree, "spec.source.persistentVolumeClaimName", arena),
		.content_name = text_at(tree, "spec.source.volumeSnapshotContentName", arena),
		.has_class = json_get_path(tree, "spec.volumeSnapshotClassName") != NULL,
		.class_name = text_at(tree, "spec.volumeSnapshotClassName", arena),
		.bound_content = text_at(tree, "status.boundVolumeSnapshotContentName", arena),
		.creation_time = text_at(tree, "status.creationTime", arena),
		.state = decode_state(json_get(tree, "status"), arena),
		.has_bound_finalizer = has_finalizer(metadata, FINALIZER_SNAPSHOT_BOUND),
		.has_source_finalizer = has_finalizer(metadata, FINALIZER_SNAPSHOT_SOURCE),
		.deleted_by = annotation(tree, ANNOTATION_DELETED_BY, arena),
	};
	object->volume_snapshot = snapshot;
	return 0;
}

int volume_snapshot_class_decode(const struct cJSON *tree, struct arena *arena,
				 struct object *object, struct failure *reterr)
{
	const char *is_default = metadata_annotation(tree, ANNOTATION_SNAPSHOT_DEFAULT_CLASS);
	struct volume_snapshot_class *class = arena_array(arena, 1, sizeof(*class));

	assert(tree && object->kind == KIND_VOLUME_SNAPSHOT_CLASS);
	if (!class)
		return failed(reterr, -ENOMEM, "cannot decode a VolumeSnapshotClass");
	*class = (struct volume_snapshot_class){
		.object = object,
		.driver = text_at(tree, "driver", arena),
		.deletion_policy = decode_policy(json_get(tree, "deletionPolicy")),
		.is_default = is_default && strcmp(is_default, "true") == 0,
		.parameters = labels_decode(json_get(tree, "parameters"), arena),
	};
	object->volume_snapshot_class = class;
	return 0;
}

static void decode_marks(const struct cJSON *tree, struct arena *arena,
			 struct volume_snapshot_content *content)
{
	content->is_being_created =
		metadata_annotation(tree, ANNOTATION_SNAPSHOT_BEING_CREATED) != NULL;
	content->is_being_deleted =
		metadata_annotation(tree, ANNOTATION_SNAPSHOT_BEING_DELETED) != NULL;
	content->secret_name = annotation(tree, ANNOTATION_SNAPSHOT_SECRET_NAME, arena);
	content->secret_namespace = annotation(tree, ANNOTATION_SNAPSHOT_SECRET_SPACE, arena);
	content->base_path = annotation(tree, ANNOTATION_BASE_PATH, arena);
	content->deleted_by = annotation(tree, ANNOTATION_DELETED_BY, arena);
}

int volume_snapshot_content_decode(const struct cJSON *tree, struct arena *arena,
				   struct object *object, struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec"), *status = json_get(tree, "status");
	struct volume_snapshot_content *content = arena_array(arena, 1, sizeof(*content));

	assert(tree && object->kind == KIND_VOLUME_SNAPSHOT_CONTENT);
	if (!content)
		return failed(reterr, -ENOMEM, "cannot decode a VolumeSnapshotContent");
	*content = (struct volume_snapshot_content){
		.object = object,
		.driver = text_at(spec, "driver", arena),
		.deletion_policy = decode_policy(json_get(spec, "deletionPolicy")),
		.volume_handle = text_at(spec, "source.volumeHandle", arena),
		.given_handle = text_at(spec, "source.snapshotHandle", arena),
		.source_volume_mode = text_at(spec, "sourceVolumeMode", arena),
		.class_name = text_at(spec, "volumeSnapshotClassName", arena),
		.snapshot_namespace = text_at(spec, "volumeSnapshotRef.namespace", arena),
		.snapshot_name = text_at(spec, "volumeSnapshotRef.name", arena),
		.snapshot_uid = text_at(spec, "volumeSnapshotRef.uid", arena),
		.snapshot_handle = text_at(status, "snapshotHandle", arena),
		.state = decode_state(status, arena),
		.has_finalizer = has_finalizer(json_get(tree, "metadata"), FINALIZER_CONTENT),
	};
	(void) json_int64(json_get(status, "creationTime"), &content->creation_nsec);
	decode_marks(tree, arena, content);
	object->volume_snapshot_content = content;
	return 0;
}
