/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_plan - which directory a claim gets as its volume, and what the volume says of it; pure
 *
 * For three provisioners: podvol/local, and openebs.io/local and rancher.io/local-path as their
 * StorageClasses are found in the wild. What their helper pods would do is done by descriptors
 * elsewhere; here is only what is to be done. Refused are claims that a directory of one node
 * cannot serve, and paths that lead out of their base path.
 */
#pragma once

#include "object/kinds/persistent_volume.h"

struct cJSON;

#define LOCAL_IMAGE "/volume.img" /* in its directory */

/* Begins the base path of volumes that an executable plugin makes, which is their driver's name. */
#define LOCAL_PLUGIN_PREFIX "podvol.io/"
#define LOCAL_PLUGIN        "plugin" /* how it enforces sizes: by itself */

/* Begins the name of a snapshot, and of no volume of an executable plugin. */
#define LOCAL_SNAPSHOT_PREFIX "snapshot-"

/* podvol/local by a name that a CSIDriver may have, so that a scheduler knows the room. */
#define LOCAL_DRIVER_NAME "local.podvol.io"

enum {
	LOCAL_BASE_PATHS_MAX = 16,
	LOCAL_NAME_BYTES = 768, /* of a path below a base path */
	LOCAL_DIRECTORY_MODE = 0770,
};

struct local_request {
	const struct persistent_volume_claim *claim;
	const struct storage_class *storage_class;
	const struct object *node;    /* the selected one, this one; NULL: there is no such Node */
	const struct cJSON *node_map; /* local_node_map_parse()'s; NULL: none */
	bool in_cluster;              /* the directory is made before the volume has its uid */
	/* Of the volume that the claim's data are moved to: at a path that the claim may name, as a
	 * volume that is retained. NULL: local_volume_name(), of no move. */
	const char *move_name;
};

struct local_plan {
	char *base_paths[LOCAL_BASE_PATHS_MAX]; /* one of them is chosen by the room it has */
	size_t base_count;
	char name[LOCAL_NAME_BYTES]; /* below the base path */
	mode_t mode;
	uint64_t bytes;       /* asked for */
	char capacity[8];     /* how that is enforced: "none", "quota", "image", "auto", "plugin" */
	char fs_type[16];     /* of an image */
	bool is_named;        /* the one base path is what is above the path that a claim names */
	bool is_host_path;    /* the volume's source is hostPath, not local */
	struct cJSON *volume; /* all of it but what depends on the base path */
};

/* Is it one of them? */
bool local_is_provisioner(const char *provisioner);

/* Is this claim to be provisioned here, and now? (The library of external provisioners asks the
 * same; @node_name is this node.) */
bool local_should_provision(const struct persistent_volume_claim *claim,
			    const struct storage_class *storage_class, const char *node_name);

/* Was a node selected that does not exist (any more)? Then another must be: the annotation goes. */
bool local_should_reschedule(const struct persistent_volume_claim *claim,
			     const struct storage_class *storage_class, bool node_exists);

/**
 * local_plan_make - what to make for a claim
 * @ret: to be given to local_plan_done(), also after a failure
 *
 * Return: 0; -EINVAL it cannot be served, ever; -ENODEV there is no such node: another must be
 * selected; -ENOMEM.
 */
int local_plan_make(const struct local_request *request, struct local_plan *ret,
		    struct failure *reterr);
/* What any claim of a class of podvol/local gets: base paths and capacity. @ret and errors: as
 * local_plan_make(). */
int local_plan_room(const struct storage_class *storage_class, struct local_plan *ret,
		    struct failure *reterr);
void local_plan_done(struct local_plan *plan);

/* The volume at the base path that was chosen, with the capacity that is enforced there; unfinished
 * until its directory is there. Return: 0; -EINVAL; -ENOMEM. */
int local_plan_volume(const struct local_plan *plan, size_t base_index, const char *capacity,
		      const struct object **ret, struct failure *reterr);

/* "pvc-" and all of the claim's uid, in a buffer of the caller: a part of it may be another's. */
#define LOCAL_VOLUME_NAME_BYTES (4 + OBJECT_UID_BYTES_MAX + 1)
const char *local_volume_name(const struct object *claim, char buffer[LOCAL_VOLUME_NAME_BYTES]);

/**
 * local_node_map_parse - local-path's config.json, checked
 * @ret: json_free() it
 *
 * Return: 0; -EINVAL, and what was valid before stays so; -ENOMEM.
 */
int local_node_map_parse(const char *text, struct cJSON **ret, struct failure *reterr);
