/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_volume - what a step knows of its CSI volume: who it is, and the objects it is made from
 *
 * For set-ups it is filled on the loop from spec and objects, for teardowns by a worker from
 * vol_data.json, or from the unique name where that file was lost. The messages to the driver are
 * made from it (csi_message.h).
 */
#pragma once

#include "object/kinds/csi_driver.h"
#include "object/kinds/csi_source.h"
#include "object/kinds/volume_attachment.h"
#include "plugins/csi_caller.h"
#include "plugins/csi_data.h"
#include "plugins/csi_paths.h"

struct csi_volume {
	const struct plugin_host *host;
	char *unique_name, *name; /* of the whole volume; inner name */
	char *driver, *handle;    /* NULL for teardowns until csi_volume_recall() */
	char *pod_uid;            /* NULL: the device */
	bool is_ephemeral;        /* written out in its pod */

	/* Set-ups only; references. NULL: there is none. */
	const struct object *pv, *pod, *driver_object, *attachment, *account;
	const struct object *secret;     /* that this step is to send; NULL also when missing */
	const struct csi_source *source; /* of pv or pod */
	struct csi_secret_reference secret_reference; /* name "": none is wanted */
	const struct object *expand_secret;
	int64_t expand_bytes; /* to make it so large; 0: it is as large as it should be */
	bool read_only, block;
	char *selinux_label; /* to mount it with; NULL: none */
	char **mount_flags;  /* the source's, and the label as the last; NULL: the source's alone */
	bool keeps_traces;   /* as struct volume_request */
};

/* Which of the secrets a step sends. */
enum csi_secret { CSI_SECRET_STAGE, CSI_SECRET_PUBLISH, CSI_SECRET_EXPAND };

/* Of a set-up: everything but what a worker has to find out. Given to csi_volume_done() in any
 * case. Return: 0; -EINVAL; -ENOMEM. [loop] */
int csi_volume_init(struct csi_volume *volume, const struct volume_request *request,
		    enum csi_secret secret, struct failure *reterr);
/* Of a teardown: names alone. */
int csi_volume_init_names(struct csi_volume *volume, const struct volume_request *request,
			  struct failure *reterr);
void csi_volume_done(struct csi_volume *volume);

/**
 * csi_volume_recall - driver and handle of what is to be taken away [worker]
 *
 * From the file; where that was lost, from the unique name, which kubelet does not have: so a
 * volume of a claim is unpublished and unstaged all the same.
 *
 * Return: 0; -ENODATA nothing of it is there, so nothing is to be done; else why not.
 */
int csi_volume_recall(struct csi_volume *volume, const struct csi_place *place,
		      struct failure *reterr);

/* CSIDriver says so; what kubelet takes for granted where there is no such object. */
static inline const struct csi_driver_spec *csi_volume_driver(const struct csi_volume *volume)
{
	return volume->driver_object ? volume->driver_object->csi_driver : NULL;
}
static inline bool csi_volume_needs_attach(const struct csi_volume *volume)
{
	const struct csi_driver_spec *driver = csi_volume_driver(volume);

	return !volume->is_ephemeral && (!driver || driver->attach_required);
}

/* Lifecycle mode, attachment, policy: what has to be right before the driver is asked anything. All
 * transient: nothing was started. Return: 0 or a negative errno. */
int csi_volume_check(const struct csi_volume *volume, struct failure *reterr);

/* The secret that is referenced exists, or none is. Return: 0 or -ENOKEY. */
int csi_volume_check_secret(const struct csi_volume *volume, struct failure *reterr);
/* The same for the secret of NodeExpandVolume, which no set-up waits for. */
int csi_volume_check_expand_secret(const struct csi_volume *volume, struct failure *reterr);

/* Must podvold give the volume to the pod's group, or is that done, or left, by others? The table
 * of kubelet's fsGroupPolicy. Pure. */
bool csi_volume_wants_ownership(const struct csi_volume *volume, uint32_t capabilities);
