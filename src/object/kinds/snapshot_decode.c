/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_decode - snapshots, group snapshots, their classes and contents as structs; see
 * volume_snapshot.h
 */
#include "object/kinds/volume_snapshot.h"

#include "object/json/arena.h"
#include "object/json/json.h"
#include "object/kinds.h"
#include "object/kinds/claim_spec.h"
#include "object/metadata.h"
#include "object/select/selector_json.h"
#include "object/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define GROUP_PREFIX "groupsnapshot.storage.kubernetes.io/"

const struct snapshot_words *snapshot_words(enum object_kind kind)
{
	static const struct snapshot_words single = {
		KIND_VOLUME_SNAPSHOT,
		KIND_VOLUME_SNAPSHOT_CLASS,
		KIND_VOLUME_SNAPSHOT_CONTENT,
		.api_version = "snapshot.storage.k8s.io/v1",
		.bound_finalizer = FINALIZER_SNAPSHOT_BOUND,
		.source_finalizer = FINALIZER_SNAPSHOT_SOURCE,
		.content_finalizer = FINALIZER_CONTENT,
		.default_class = ANNOTATION_SNAPSHOT_DEFAULT_CLASS,
		.being_created = ANNOTATION_SNAPSHOT_BEING_CREATED,
		.being_deleted = ANNOTATION_SNAPSHOT_BEING_DELETED,
		.secret_name = ANNOTATION_SNAPSHOT_SECRET_NAME,
		.secret_space = ANNOTATION_SNAPSHOT_SECRET_SPACE,
		.secret_parameter = "csi.storage.k8s.io/snapshotter-secret",
		.class_field = "volumeSnapshotClassName",
		.content_field = "volumeSnapshotContentName",
		.bound_field = "boundVolumeSnapshotContentName",
		.ref_field = "volumeSnapshotRef",
		.handle_field = "snapshotHandle",
		.content_prefix = "snapcontent-",
		.name_prefix = "snapshot-",
	};
	static const struct snapshot_words group = {
		KIND_VOLUME_GROUP_SNAPSHOT,
		KIND_VOLUME_GROUP_SNAPSHOT_CLASS,
		KIND_VOLUME_GROUP_SNAPSHOT_CONTENT,
		.api_version = "groupsnapshot.storage.k8s.io/v1",
		.bound_finalizer = GROUP_PREFIX "volumegroupsnapshot-bound-protection",
		.content_finalizer = GROUP_PREFIX "volumegroupsnapshotcontent-bound-protection",
		.default_class = GROUP_PREFIX "is-default-class",
		.being_created = GROUP_PREFIX "volumegroupsnapshot-being-created",
		.being_deleted = GROUP_PREFIX "volumegroupsnapshot-being-deleted",
		.secret_name = GROUP_PREFIX "deletion-secret-name",
		.secret_space = GROUP_PREFIX "deletion-secret-namespace",
		.secret_parameter = "csi.storage.k8s.io/group-snapshotter-secret",
		.class_field = "volumeGroupSnapshotClassName",
		.content_field = "volumeGroupSnapshotContentName",
		.bound_field = "boundVolumeGroupSnapshotContentName",
		.ref_field = "volumeGroupSnapshotRef",
		.handle_field = "volumeGroupSnapshotHandle",
		.content_prefix = "groupsnapcontent-",
		.name_prefix = "groupsnapshot-",
	};
	bool is_single = kind == single.snapshot || kind == single.class || kind == single.content;

	assert(is_single || kind == group.snapshot || kind == group.class || kind == group.content);
	return is_single ? &single : &group;
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
		.error = arena_text_at(arena, error, "message"),
		.error_time = arena_text_at(arena, error, "time"),
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
	const struct snapshot_words *words = snapshot_words(object->kind);
	const struct cJSON *metadata = json_get(tree, "metadata");
	struct volume_snapshot *snapshot = arena_array(arena, 1, sizeof(*snapshot));

	assert(tree && object->kind == words->snapshot);
	if (!snapshot)
		return failed(reterr, -ENOMEM, "cannot decode a VolumeSnapshot");
	*snapshot = (struct volume_snapshot){
		.object = object,
		.claim_name = arena_text_at(arena, tree, "spec.source.persistentVolumeClaimName"),
		.selector =
			label_selector_decode(json_get_path(tree, "spec.source.selector"), arena),
		.group_name = arena_text_at(arena, tree, "status.volumeGroupSnapshotName"),
		.content_name =
			arena_text(arena, json_get_path(tree, "spec.source"), words->content_field),
		.has_class = json_get(json_get(tree, "spec"), words->class_field) != NULL,
		.class_name = arena_text(arena, json_get(tree, "spec"), words->class_field),
		.bound_content = arena_text(arena, json_get(tree, "status"), words->bound_field),
		.creation_time = arena_text_at(arena, tree, "status.creationTime"),
		.state = decode_state(json_get(tree, "status"), arena),
		.has_bound_finalizer = has_finalizer(metadata, words->bound_finalizer),
		.has_source_finalizer =
			words->source_finalizer && has_finalizer(metadata, words->source_finalizer),
		.deleted_by = annotation(tree, ANNOTATION_DELETED_BY, arena),
	};
	object->volume_snapshot = snapshot;
	return 0;
}

int volume_snapshot_class_decode(const struct cJSON *tree, struct arena *arena,
				 struct object *object, struct failure *reterr)
{
	const struct snapshot_words *words = snapshot_words(object->kind);
	const char *is_default = metadata_annotation(tree, words->default_class);
	struct volume_snapshot_class *class = arena_array(arena, 1, sizeof(*class));

	assert(tree && object->kind == words->class);
	if (!class)
		return failed(reterr, -ENOMEM, "cannot decode a VolumeSnapshotClass");
	*class = (struct volume_snapshot_class){
		.object = object,
		.driver = arena_text_at(arena, tree, "driver"),
		.deletion_policy = decode_policy(json_get(tree, "deletionPolicy")),
		.is_default = is_default && strcmp(is_default, "true") == 0,
		.parameters = labels_decode(json_get(tree, "parameters"), arena),
	};
	object->volume_snapshot_class = class;
	return 0;
}

/* As the driver reported them, else as they were asked for. */
static int decode_members(const struct cJSON *tree, struct arena *arena,
			  struct volume_snapshot_content *content)
{
	const struct cJSON *list = json_get_path(tree, "status.volumeSnapshotInfoList");
	const struct cJSON *given =
		json_get_path(tree, "spec.source.groupSnapshotHandles.volumeSnapshotHandles");
	const struct cJSON *volumes = json_get_path(tree, "spec.source.volumeHandles");
	struct snapshot_member *member;

	if (!list)
		list = given ? given : volumes;
	content->member_count = json_count(list);
	content->members = member = arena_array(arena, content->member_count + 1, sizeof(*member));
	if (!member)
		return -ENOMEM;
	for (const struct cJSON *i = json_first(list); i; i = json_next(i), member++) {
		const char *handle = arena_string(arena, json_string(i, ""));

		member->volume_handle =
			list == volumes ? handle : arena_text_at(arena, i, "volumeHandle");
		member->handle = list == given ? handle : arena_text_at(arena, i, "snapshotHandle");
		(void) json_int64(json_get(i, "creationTime"), &member->creation_nsec);
		(void) json_int64(json_get(i, "restoreSize"), &member->bytes);
		member->is_ready = json_bool(json_get(i, "readyToUse"), false);
	}
	return 0;
}

static int64_t decode_time(const struct cJSON *item)
{
	int64_t nsec = 0;

	if (!json_int64(item, &nsec) && json_is_string(item))
		nsec = (int64_t) timestamp_parse(json_string(item, "")) * 1000;
	return nsec;
}

static void decode_marks(const struct cJSON *tree, const struct snapshot_words *words,
			 struct arena *arena, struct volume_snapshot_content *content)
{
	content->is_being_created = metadata_annotation(tree, words->being_created) != NULL;
	content->is_being_deleted = metadata_annotation(tree, words->being_deleted) != NULL;
	content->secret_name = annotation(tree, words->secret_name, arena);
	content->secret_namespace = annotation(tree, words->secret_space, arena);
	content->base_path = annotation(tree, ANNOTATION_BASE_PATH, arena);
	content->deleted_by = annotation(tree, ANNOTATION_DELETED_BY, arena);
}

int volume_snapshot_content_decode(const struct cJSON *tree, struct arena *arena,
				   struct object *object, struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec"), *status = json_get(tree, "status");
	const struct snapshot_words *words = snapshot_words(object->kind);
	const char *source = object->kind == KIND_VOLUME_SNAPSHOT_CONTENT
				     ? "source.snapshotHandle"
				     : "source.groupSnapshotHandles.volumeGroupSnapshotHandle";
	const struct cJSON *ref = json_get(spec, words->ref_field);
	struct volume_snapshot_content *content = arena_array(arena, 1, sizeof(*content));

	assert(tree && object->kind == words->content);
	if (!content || decode_members(tree, arena, content) < 0)
		return failed(reterr, -ENOMEM, "cannot decode a VolumeSnapshotContent");
	*content = (struct volume_snapshot_content){
		.object = object,
		.members = content->members,
		.member_count = content->member_count,
		.driver = arena_text_at(arena, spec, "driver"),
		.deletion_policy = decode_policy(json_get(spec, "deletionPolicy")),
		.volume_handle = arena_text_at(arena, spec, "source.volumeHandle"),
		.given_handle = arena_text_at(arena, spec, source),
		.source_volume_mode = arena_text_at(arena, spec, "sourceVolumeMode"),
		.class_name = arena_text(arena, json_get(tree, "spec"), words->class_field),
		.snapshot_namespace = arena_text_at(arena, ref, "namespace"),
		.snapshot_name = arena_text_at(arena, ref, "name"),
		.snapshot_uid = arena_text_at(arena, ref, "uid"),
		.snapshot_handle = arena_text(arena, json_get(tree, "status"), words->handle_field),
		.group_handle = object->kind == KIND_VOLUME_SNAPSHOT_CONTENT
					? arena_text_at(arena, status, "volumeGroupSnapshotHandle")
					: "",
		.creation_nsec = decode_time(json_get(status, "creationTime")),
		.state = decode_state(status, arena),
		.has_finalizer =
			has_finalizer(json_get(tree, "metadata"), words->content_finalizer),
	};
	decode_marks(tree, words, arena, content);
	object->volume_snapshot_content = content;
	return 0;
}
