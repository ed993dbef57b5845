/* SPDX-License-Identifier: Apache-2.0 */
/*
 * persistent_volume - v1.PersistentVolume and v1.PersistentVolumeClaim, decoded
 *
 * Strings are "" where absent, arrays NULL with count 0; all live as long as the object they came
 * from.
 */
#pragma once

#include "object/kinds/csi_source.h"
#include "object/object.h"
#include "object/quantity.h"
#include "object/select/selector.h"

#include <sys/types.h>

#define FINALIZER_VOLUME            "kubernetes.io/pv-protection"
#define FINALIZER_CLAIM             "kubernetes.io/pvc-protection"
#define ANNOTATION_SELECTED_NODE    "volume.kubernetes.io/selected-node"
#define ANNOTATION_PROVISIONER      "volume.kubernetes.io/storage-provisioner"
#define ANNOTATION_PROVISIONER_BETA "volume.beta.kubernetes.io/storage-provisioner"
#define ANNOTATION_PROVISIONED_BY   "pv.kubernetes.io/provisioned-by"
#define ANNOTATION_UNFINISHED       "podvol.io/unfinished"
#define ANNOTATION_BASE_PATH        "podvol.io/base-path"
#define ANNOTATION_CAPACITY         "podvol.io/capacity"
#define ANNOTATION_CLAIM_DELETED    "podvol.io/claim-deleted"
#define ANNOTATION_DELETED_BY       "podvol.io/deleted-by"
#define ANNOTATION_MARKED_BY        "podvol.io/marked-by"
/* Of a claim: the class or the path that its data are to be moved to, and what came of the last
 * move. Of the two volumes of a move: each other's name. */
#define ANNOTATION_MOVE_TO    "podvol.io/move-to"
#define ANNOTATION_LAST_MOVE  "podvol.io/last-move"
#define ANNOTATION_MOVED_FROM "podvol.io/moved-from"
#define ANNOTATION_MOVED_TO   "podvol.io/moved-to"
#define UNFINISHED_CALLED_OFF "called-off" /* of ANNOTATION_UNFINISHED */

enum access_mode {
	ACCESS_READ_WRITE_ONCE = 1 << 0,
	ACCESS_READ_ONLY_MANY = 1 << 1,
	ACCESS_READ_WRITE_MANY = 1 << 2,
	ACCESS_READ_WRITE_ONCE_POD = 1 << 3,
};

enum volume_mode { VOLUME_MODE_UNSET, VOLUME_MODE_FILESYSTEM, VOLUME_MODE_BLOCK };

enum reclaim_policy { RECLAIM_RETAIN, RECLAIM_DELETE, RECLAIM_RECYCLE };

enum volume_phase {
	VOLUME_PHASE_UNSET,
	VOLUME_PENDING,
	VOLUME_AVAILABLE,
	VOLUME_BOUND,
	VOLUME_RELEASED,
	VOLUME_FAILED,
};

enum pv_source_kind {
	PV_SOURCE_LOCAL,
	PV_SOURCE_HOST_PATH,
	PV_SOURCE_CSI,
	PV_SOURCE_NFS,
	PV_SOURCE_FLEX,
	PV_SOURCE_OTHER
};

/* Where a volume came from and where it goes; annotations, "" none. All but the first are those of
 * podvol's own provisioner. */
struct volume_origin {
	const char *provisioned_by; /* pv.kubernetes.io/provisioned-by */
	bool is_unfinished;         /* nothing may be bound to it: its directory is being made */
	bool is_called_off;         /* and what is in it is out of date: it is to go */
	const char *base_path;      /* that its directory was made below */
	const char *capacity;       /* how its size is enforced: "quota", "image"; "" not */
	const char *claim_deleted;  /* uid of the claim, once that was deleted */
	const char *deleted_by;     /* who did, in words */
	bool is_marked_by_claim;    /* see persistent_volume_mark() */
	const char *moved_from;     /* the volume that it is a copy of, for the same claim */
	const char *moved_to;       /* the volume that its claim got in its place */
};

/* Sources that a program mounts. */
struct program_source {
	const struct nfs_source *nfs;   /* PV_SOURCE_NFS; else NULL */
	const struct flex_source *flex; /* PV_SOURCE_FLEX; else NULL */
};

struct persistent_volume {
	const struct object *object;
	enum pv_source_kind source;
	const char *source_key; /* "local", as the manifest has it */
	const char *local_path; /* PV_SOURCE_LOCAL */
	const char *fs_type;    /* local.fsType; "" unset */
	const char *host_path;  /* PV_SOURCE_HOST_PATH */
	const char *host_path_type;
	const struct csi_source *csi; /* PV_SOURCE_CSI; else NULL */
	struct program_source program;

	struct quantity capacity;  /* capacity.storage */
	unsigned int access_modes; /* set of enum access_mode */
	enum access_mode
		first_access_mode; /* of the list; 0 when it is empty or of no name we know */
	enum volume_mode mode;
	const char *storage_class, *attributes_class;
	enum reclaim_policy reclaim_policy;
	/* The annotation volume.beta.kubernetes.io/mount-options, where present even if empty, else
	 * spec.mountOptions; in their order. */
	const char *const *mount_options;
	size_t mount_option_count;
	const struct node_selector *node_affinity; /* NULL: none; required terms only */

	bool has_claim_ref;
	const char *claim_namespace, *claim_name,
		*claim_uid; /* claim_uid "" while pre-bound by a user */
	bool has_gid;       /* annotation pv.beta.kubernetes.io/gid, numeric */
	gid_t gid;
	bool bound_by_controller;
	bool has_protection_finalizer; /* kubernetes.io/pv-protection */
	struct volume_origin origin;
	enum volume_phase phase;
	const char *reason; /* status.reason */
};

/* What its directory bears, for one that podvol made: the uid of its claim where the directory was
 * made before a cluster's server gave the volume its uid, else its own. */
const char *persistent_volume_mark(const struct persistent_volume *volume);

/* As the API writes them; "" for the values UNSET. */
const char *volume_phase_name(enum volume_phase phase);
const char *reclaim_policy_name(enum reclaim_policy policy);
const char *volume_mode_name(enum volume_mode mode);

enum data_source_kind {
	DATA_SOURCE_NONE,
	DATA_SOURCE_CLAIM,
	DATA_SOURCE_SNAPSHOT,
	DATA_SOURCE_OTHER
};

/* What the new volume of a claim is filled from. */
struct data_source {
	enum data_source_kind kind;
	const char *name_space; /* "": the claim's own */
	const char *name;
};

enum claim_phase { CLAIM_PHASE_UNSET, CLAIM_PENDING, CLAIM_BOUND, CLAIM_LOST };

struct persistent_volume_claim {
	const struct object *object;
	const char *volume_name;
	bool has_storage_class; /* "" counts as set */
	const char *storage_class, *attributes_class;
	/* status.currentVolumeAttributesClassName and .modifyVolumeStatus. */
	const char *attributes_current, *modify_status, *modify_target;
	unsigned int access_modes;
	enum volume_mode mode;
	struct quantity request;               /* resources.requests.storage */
	struct quantity status_capacity;       /* status.capacity.storage; zero when absent */
	const struct label_selector *selector; /* NULL: none */
	enum claim_phase phase;
	bool bind_completed, bound_by_controller;
	bool has_protection_finalizer;    /* kubernetes.io/pvc-protection */
	struct data_source data_source;   /* of dataSourceRef, else of dataSource */
	const char *selected_node;        /* annotation volume.kubernetes.io/selected-node */
	const char *storage_provisioner;  /* annotation of that name, else the beta one */
	const char *deleted_by;           /* annotation podvol.io/deleted-by: who, in words */
	const char *move_to;              /* podvol.io/move-to: a class or a path; "" none */
	const char *controller_owner_uid; /* of ownerReferences[] with controller: true; "" none */
};

/* "pvc-", the claim's uid, and a number from the volume that it has: that of the volume its data
 * are moved to, the same however often the move begins again. */
#define CLAIM_MOVE_NAME_BYTES (4 + OBJECT_UID_BYTES_MAX + 1 + 16 + 1)
const char *claim_move_name(const struct object *claim, char buffer[CLAIM_MOVE_NAME_BYTES]);

/* Is what its volume is filled from, if anything, in its own namespace? Return: 0; -EINVAL. */
int claim_check_data_source(const struct persistent_volume_claim *claim, struct failure *reterr);

/* The path that its data are to be moved to; NULL: a class, or nothing. */
const char *claim_move_path(const struct persistent_volume_claim *claim);

/* As the API writes it; "" for CLAIM_PHASE_UNSET. */
const char *claim_phase_name(enum claim_phase phase);

/* ---- storage_class.c: storage.k8s.io/v1 StorageClass ---- */

/* The ConfigMap of rancher.io/local-path that says where its directories are made. */
#define NODE_MAP_NAMESPACE "local-path-storage"
#define NODE_MAP_NAME      "local-path-config"

struct storage_class {
	const struct object *object;
	const char *provisioner;
	enum reclaim_policy reclaim_policy;
	bool waits_for_first_consumer;
	bool is_default; /* annotation storageclass.kubernetes.io/is-default-class: "true" */
	bool allow_volume_expansion;
};
