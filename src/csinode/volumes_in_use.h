/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volumes_in_use - this node's side of attaching: what it says to use, and when it may
 *
 * As kubelet: a volume that needs attaching is in Node.status.volumesInUse before anything of it
 * is staged, and leaves it after the last of it was unstaged. A stage begins when that is stored
 * and the volume is in status.volumesAttached, where the attach/detach controller
 * (controller/attach/attach_detach.h) puts it and takes it from before it looks for the last time
 * whether it is used. That controller is made here, too. The loop thread only.
 */
#pragma once

#include "controller/controller.h"
#include "reconcile/reconcile.h"
#include "state/state.h"

#include <systemd/sd-event.h>

struct found_list;
struct volumes_in_use;

/* All is borrowed. */
struct volumes_in_use_options {
	struct controller_options common; /* is_complete(): is every pod known that there is? */
	bool attaches;  /* make the attach/detach controller, too; else a cluster has one */
	bool may_force; /* as for that controller */
	struct actual *actual;
	struct desired *desired;
	struct dirty_set *dirty;
	struct operations *operations;
	const struct found_list *found; /* staged, and not in the ledger; NULL: nothing */
	/* The VolumeAttachment of this name is waited for, or no more. NULL: it is in the store. */
	void (*attachment)(void *userdata, const char *name, bool is_used);
};

/* After the Node, the ledger and the events; before pods are looked at. @options is copied. Return:
 * 0 or negative errno. */
int volumes_in_use_new(const struct volumes_in_use_options *options, struct volumes_in_use **ret);
/* Before the store and the events go. Accepts NULL, as all of these. Return: NULL. */
struct volumes_in_use *volumes_in_use_free(struct volumes_in_use *volumes_in_use);

/* The next ones are hooks of an observer of steps: @volumes_in_use is a struct volumes_in_use. */

/* May this step of a plan begin? Only a stage is ever held back; the volume is looked at again when
 * it may. */
bool volumes_in_use_pass(void *volumes_in_use, const struct step *step);
/* Why a stage is held back, as a sentence about the volume that people call @name. False: it is
 * not.
 */
bool volumes_in_use_explain(void *volumes_in_use, const char *unique_name, const char *pod_uid,
			    const char *name, struct failure *ret);
/* The volume was planned; an entry of it left the tables. */
void volumes_in_use_sync(void *volumes_in_use, const char *unique_name);
void volumes_in_use_forget(void *volumes_in_use, const char *unique_name, const char *pod_uid);
/* A turn ends: what is used is written where it changed. @may_drop: every pod is known. */
void volumes_in_use_settle(struct volumes_in_use *volumes_in_use, bool may_drop);
/* An object changed: a Node, a VolumeAttachment. */
void volumes_in_use_object_changed(struct volumes_in_use *volumes_in_use,
				   const struct object *object);

/* Every pod is known from now on. */
void volumes_in_use_sources_ready(struct volumes_in_use *volumes_in_use);
