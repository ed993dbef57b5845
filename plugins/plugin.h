/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin - what every kind of volume implements: kubelet's volume plugin interface in C
 *
 * A plugin decides on the loop thread and acts in stages elsewhere. Its new_* slots never block and
 * change nothing: they return a list of stages, each tagged with where it runs. A stage is safe to
 * repeat: after a crash the same list comes again from its beginning. A NULL slot means this kind
 * of volume has no such step.
 *
 * One file per plugin, its table at the end of it, and one line in registry.c. Plugins see neither
 * the store nor any table of state; what they need arrives in the request.
 */
#pragma once

#include "base/failure.h"
#include "mount/bind/stuck_unmount.h"
#include "mount/mount.h"
#include "mount/remove/own_directories.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"
#include "object/kinds/pod_field.h"
#include "object/object.h"
#include "plugins/stage.h"

#include <stdbool.h>

/* What a plugin may know of the node. Owned by the agent, constant while it runs; any thread. */
struct plugin_host {
	const char *root_dir; /* "/var/lib/kubelet", resolved */
	int root_fd;          /* pinned; O_PATH */
	const char *node_name;
	struct node_resources allocatable;
	struct mount_table *mount_table;
	uint64_t tool_limit_usec;   /* for a mkfs or fsck; 0 without end */
	struct idmap_cache *idmaps; /* NULL: fsGroup as a map of the mount is not allowed here */
	struct payload_cache *payloads;  /* NULL: every volume of files reads its objects itself */
	bool has_selinux;                /* it is enabled in this kernel */
	struct csi_drivers *csi_drivers; /* NULL: CSI volumes are not mounted here (direct mode) */
	struct own_directories own;      /* no sources of volumes */
	const struct token_source *tokens; /* token/token_source.h; NULL: no tokens here */
};

/* Sets allocatable, by root_fd for storage; what stays 0 is not known. And has_selinux. */
void plugin_host_measure(struct plugin_host *host);

/* volume.Spec: one volume as one pod or PV means it. Strings live as long as both objects. */
struct volume_spec {
	const char *name;         /* inner name: the PV's, else pod.spec.volumes[].name */
	const struct object *pv;  /* NULL for inline volumes and for volumes known from disk only */
	const struct object *pod; /* holds @source; NULL for PV-backed ones */
	const struct pod_volume *source; /* NULL for PV-backed ones */
	bool read_only; /* persistentVolumeClaim.readOnly; inline: the source's own */
	bool block;     /* volumeMode: Block */
};

static inline const struct persistent_volume *spec_pv(const struct volume_spec *spec)
{
	return spec->pv ? spec->pv->persistent_volume : NULL;
}

/* Another object that a volume is made from: a ConfigMap, a Secret, a CSIDriver, the pod itself. */
struct object_reference {
	enum object_kind kind;
	const char *name_space; /* "" for kinds without */
	const char *name;       /* "": all of a kind without namespaces */
};

/* Where a slot finds such objects while it runs; the loop thread only. */
struct object_finder {
	/* Borrowed until the loop turns; NULL: there is none. */
	const struct object *(*find)(void *userdata, const struct object_reference *reference);
	/* All of a kind without namespaces. Return: 0, or what @visit returned. */
	int (*each)(void *userdata, enum object_kind kind,
		    int (*visit)(const struct object *object, void *visit_userdata),
		    void *visit_userdata);
	/* Of one that find() has not: may it exist all the same, because its server has not
	 * answered yet? NULL: what is not found is absent. */
	bool (*is_unknown)(void *userdata, const struct object_reference *reference);
	void *userdata;
};

/* What a step is about. Which members are set is said at each slot. Borrowed: a slot copies what
 * its stages need, or takes references to the objects. */
struct volume_request {
	const struct plugin_host *host;
	const struct volume_plugin *plugin; /* whose slot is called */
	const struct volume_spec *spec;
	const char *volume_name;          /* inner name; set for every slot */
	const char *unique_name;          /* as the tables have it; set for every list of stages */
	const struct object *pod, *claim; /* claim: NULL for volumes without */
	const char *pod_uid;
	const char *device_path, *device_mount_path; /* as recorded; "" unknown */
	bool is_staged, staged_nothing; /* stages ended well: with a device; and none had one */
	/* Set-ups: it may be there; a failure must not take away what a teardown needs to know. */
	bool keeps_traces;
	/* For set-ups: to look up what references() names alone, as nothing else is followed. */
	const struct object_finder *objects;
};

typedef int stage_list_fn(const struct volume_request *request, struct stage_list *ret,
			  struct failure *reterr);

struct volume_attributes {
	bool read_only, managed, selinux_relabel; /* volume.Attributes */
};

enum { VOLUME_CONDITION_BYTES = 256 };

/* How full a volume is and whether it is well, as a plugin knows beside its file system. */
struct volume_metrics {
	bool has_bytes, has_inodes; /* these figures are known */
	uint64_t capacity, used, available, inodes, inodes_used, inodes_free;
	bool has_condition, abnormal;
	char condition[VOLUME_CONDITION_BYTES]; /* the driver's words; cut */
};

/* @failure: NULL, or why there is no answer; -EOPNOTSUPP the file system is to be asked. */
typedef void volume_metrics_fn(void *userdata, const struct volume_metrics *metrics,
			       const struct failure *failure);

/* A question under way, freed by its @free: also before it is answered, and from inside done(). */
struct volume_metrics_call {
	void (*free)(struct volume_metrics_call *call);
};

/* What is true of all volumes of a plugin. */
enum volume_trait {
	/* A set-up makes a volume as large as its PV says: worth another one when that grew. */
	VOLUME_GROWS = 1 << 0,
	/* What a pod has of it need not be a mount: that is the driver's business. */
	VOLUME_MAY_LACK_MOUNT = 1 << 1,
	/* A teardown removes files at get_path(): it begins only after no other process has that
	 * directory mounted. */
	VOLUME_REMOVES_FILES = 1 << 2,
	/* A set-up leaves a mount and, but for a group or a size, nothing else to be repeated. */
	VOLUME_IS_ITS_MOUNT = 1 << 3,
	/* A stage is due when a set-up reports that there is a device; it may find none. */
	VOLUME_STAGES_DEVICE = 1 << 4,
};

struct volume_plugin {
	const char *name; /* "kubernetes.io/local-volume"; '/' is '~' in directory names */

	bool (*can_support)(const struct volume_spec *spec);
	/* The part of the unique name after the plugin's; free(). */
	int (*get_volume_name)(const struct volume_spec *spec, char **ret, struct failure *reterr);
	struct volume_attributes (*get_attributes)(const struct volume_spec *spec);
	/* What to look for on the node: a path, an export, a medium; borrowed from @spec. NULL slot
	 * or "": the source's key says enough. */
	const char *(*get_source)(const struct volume_spec *spec);
	/* readOnly of an inline source. Pure. NULL: it has none. */
	bool (*inline_read_only)(const struct volume_spec *spec);
	/* NULL: never. @objects as in struct volume_request; NULL: none is known. */
	bool (*requires_remount)(const struct volume_spec *spec,
				 const struct object_finder *objects);
	/* The objects beside pod, claim and PV that the volume is made from; the pod itself when
	 * its own fields are in it. When one of them changes, a set-up that failed is tried at
	 * once, and one that succeeded is done again where requires_remount says so. @node_name:
	 * this node's, for objects that are there once for each node. Pure; a reference is borrowed
	 * for the call of @visit. NULL: none. Return: 0, or what @visit returned. */
	int (*references)(const struct volume_spec *spec, const char *node_name,
			  int (*visit)(const struct object_reference *reference, void *userdata),
			  void *userdata);
	bool supports_mount_options;
	/* What it mounts for a pod may be any file system. Else it is memory or nothing, and a
	 * foreign mount at the volume's place is not the volume's: an enforced unmount
	 * leaves it. */
	bool mounts_any_type;
	/* Attachable or device-mountable: one volume for all pods of the node (unique name without
	 * pod). */
	bool (*can_device_mount)(const struct volume_spec *spec); /* NULL: never */

	/* MakeDir, SetUpAt: the pod's own mount. spec, pod, pod_uid, device_mount_path. */
	stage_list_fn *new_mounter;
	/* TearDownAt: volume_name and pod_uid only, so that it works after a restart. */
	stage_list_fn *new_unmounter;
	/* MountDevice: spec. UnmountDevice: volume_name, device_path, device_mount_path. */
	stage_list_fn *new_device_mounter;
	stage_list_fn *new_device_unmounter;
	/* Block mode. SetUpDevice: spec. MapPodDevice with the common mapping of block_map.h: spec,
	 * pod, pod_uid. UnmapPodDevice: volume_name, pod_uid. TearDownDevice: volume_name,
	 * device_path, device_mount_path. */
	stage_list_fn *new_device_mapper;
	stage_list_fn *new_block_mapper;
	stage_list_fn *new_block_unmapper;
	stage_list_fn *new_device_unmapper;

	/* Paths as people, drivers and runtimes get them; absolute; freed with free(); NULL when
	 * out of memory. get_path: where a pod's containers find the volume (the host path itself
	 * for hostPath; the symbolic link to the device in block mode). get_device_mount_path: the
	 * global mount path or global map path; NULL slot or "" when there is none. */
	char *(*get_path)(const struct volume_request *request);
	char *(*get_device_mount_path)(const struct volume_request *request);

	/* Do the data go with the pod's mount? Then a mount that went is not made again under a
	 * running container. Not what a set-up fills again (tokens). Pure. NULL: never. */
	bool (*lives_in_mount)(const struct volume_spec *spec);
	/* GetMetrics of what is mounted at @path: volume_name, pod_uid, and spec where it is
	 * wanted.
	 * @done is called once, never from inside; strings are copied. Return: 0 or negative errno,
	 * and the file system is asked. NULL: it is asked at once. */
	int (*start_metrics)(const struct volume_request *request, const char *path,
			     volume_metrics_fn *done, void *userdata,
			     struct volume_metrics_call **ret);
	/* The same in one call that may block; a name is a copy. NULL: no such call. [worker] */
	int (*ask_metrics)(const struct volume_request *request, struct volume_metrics *ret,
			   struct failure *reterr);
	unsigned int traits; /* of enum volume_trait */
	/* The name of a staged file system in state/found.h; free(); NULL: no memory. NULL slot:
	 * the inner name. */
	char *(*get_found_name)(const char *unique_name);
	/* ConstructVolumeSpec: what a directory <root>/pods/<pod_uid>/volumes/<name>/<volume_name>
	 * (or volumeDevices/ for @block) says; with pod_uid "" what is staged under a found name.
	 * ret->pv is a new reference, of a volume made from what is known, or NULL. [worker] NULL:
	 * never reconstructed (hostPath). */
	int (*construct_volume_spec)(const struct plugin_host *host, const char *pod_uid,
				     const char *volume_name, bool block, struct volume_spec *ret,
				     struct failure *reterr);
};

/* ---- registry.c ---- */

/**
 * plugin_for_spec - the one plugin that claims a spec
 *
 * Return: 0; -ENOENT no plugin claims it, -ENOTUNIQ several do; the text names source or plugins.
 */
int plugin_for_spec(const struct volume_spec *spec, const struct volume_plugin **ret,
		    struct failure *reterr);

/* The same among other plugins; @list ends with NULL. */
int plugin_claim(const struct volume_plugin *const *list, const struct volume_spec *spec,
		 const struct volume_plugin **ret, struct failure *reterr);

/* By "kubernetes.io/local-volume"; NULL when unknown. */
const struct volume_plugin *plugin_by_name(const char *name);

/* All plugins in table order, ended by NULL. */
const struct volume_plugin *const *plugin_list(void);

/* "<plugin>/<name>" for device-mountable volumes, else "<plugin>/<pod uid>-<spec name>";
 * section 1.1. */
int plugin_unique_name(const struct volume_plugin *plugin, const struct volume_spec *spec,
		       const char *pod_uid, char **ret, struct failure *reterr);

/* ---- source_paths.c ---- */

/* A store_check_fn for new pods and persistent volumes: podvold's own directories, as text; what
 * links lead to is seen when they are mounted. @host is a struct plugin_host. */
int source_paths_check(void *host, const struct object *object, struct failure *why);
