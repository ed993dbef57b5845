/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_snapshot - VolumeSnapshot, VolumeGroupSnapshot, their classes and contents, decoded
 *
 * A VolumeSnapshot is to its content what a claim is to its volume; one of a group is a
 * VolumeSnapshot with several sources, and differs in the words of struct snapshot_words. Strings
 * are "" where absent; all live as long as the object.
 */
#pragma once

#include "object/kinds/persistent_volume.h"

#define FINALIZER_SNAPSHOT_BOUND "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection"
#define FINALIZER_SNAPSHOT_SOURCE                                                                  \
	"snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection"
#define FINALIZER_CONTENT "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
/* Of a claim whose volume a snapshot is being taken of. */
#define FINALIZER_CLAIM_AS_SOURCE "snapshot.storage.kubernetes.io/pvc-as-source-protection"

/* Of a content: the node that makes it, as external-snapshotter has it for distributed drivers. */
#define LABEL_SNAPSHOT_MANAGED_BY "snapshot.storage.kubernetes.io/managed-by"

#define ANNOTATION_SNAPSHOT_DEFAULT_CLASS "snapshot.storage.kubernetes.io/is-default-class"
#define ANNOTATION_SNAPSHOT_BEING_CREATED                                                          \
	"snapshot.storage.kubernetes.io/volumesnapshot-being-created"
#define ANNOTATION_SNAPSHOT_BEING_DELETED                                                          \
	"snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
#define ANNOTATION_SNAPSHOT_SECRET_NAME  "snapshot.storage.kubernetes.io/deletion-secret-name"
#define ANNOTATION_SNAPSHOT_SECRET_SPACE "snapshot.storage.kubernetes.io/deletion-secret-namespace"

/* Where the three kinds of a snapshot and those of a group snapshot differ. */
struct snapshot_words {
	enum object_kind snapshot, class, content;
	const char *api_version;
	const char *bound_finalizer, *source_finalizer; /* of the snapshot; NULL: it has none */
	const char *content_finalizer;
	const char *default_class, *being_created, *being_deleted; /* annotations */
	const char *secret_name, *secret_space;                    /* so are these */
	const char *secret_parameter;                              /* of the class; and "-name" */
	const char *class_field, *content_field, *bound_field, *ref_field, *handle_field;
	const char *content_prefix, *name_prefix;
};
/* @kind: any of the six. */
const struct snapshot_words *snapshot_words(enum object_kind kind);

/* A volume of a group and its snapshot; what is not known is "", 0 or false. */
struct snapshot_member {
	const char *volume_handle, *handle;
	int64_t creation_nsec, bytes;
	bool is_ready;
};

/* status.error of both; what no status says is not set. */
struct snapshot_state {
	bool is_ready, has_ready;
	bool has_error;
	const char *error; /* its message */
	const char *error_time;
	struct quantity restore_size; /* bytes */
};

struct volume_snapshot {
	const struct object *object;
	const char *claim_name;                /* spec.source: one of the two */
	const struct label_selector *selector; /* of a group; NULL: it names a content */
	const char *group_name; /* status.volumeGroupSnapshotName: it is one of a group */
	const char *content_name;
	bool has_class;
	const char *class_name;
	const char *bound_content; /* status.boundVolumeSnapshotContentName */
	const char *creation_time; /* status.creationTime: RFC 3339 */
	struct snapshot_state state;
	bool has_bound_finalizer, has_source_finalizer;
	const char *deleted_by; /* annotation podvol.io/deleted-by: who, in words */
};

enum snapshot_deletion { SNAPSHOT_RETAIN, SNAPSHOT_DELETE };

struct volume_snapshot_class {
	const struct object *object;
	const char *driver;
	enum snapshot_deletion deletion_policy;
	bool is_default;
	struct labels parameters; /* in their order, those of snapshotters included */
};

struct volume_snapshot_content {
	const struct object *object;
	const char *driver;
	enum snapshot_deletion deletion_policy;
	const char *volume_handle;             /* spec.source: one of the two */
	const char *given_handle;              /* spec.source.snapshotHandle */
	const struct snapshot_member *members; /* of a group */
	size_t member_count;
	const char *group_handle; /* status.volumeGroupSnapshotHandle of one of a group */
	const char *source_volume_mode;
	const char *class_name;
	const char *snapshot_namespace, *snapshot_name, *snapshot_uid; /* spec.volumeSnapshotRef */
	const char *snapshot_handle;                                   /* status.snapshotHandle */
	int64_t creation_nsec; /* status.creationTime; 0: not known */
	struct snapshot_state state;
	bool has_finalizer;
	bool is_being_created; /* a CreateSnapshot may be under way, or has failed in doubt */
	bool is_being_deleted; /* its VolumeSnapshot is: what exists may be deleted */
	const char *secret_name, *secret_namespace; /* for DeleteSnapshot and ListSnapshots */
	const char *base_path; /* of one of podvol's own; annotation podvol.io/base-path */
	const char *deleted_by;
};
