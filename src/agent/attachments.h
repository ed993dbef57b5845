/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attachments - this node's side of attaching: what it says to use, and when it may
 *
 * As kubelet: a volume that needs attaching is in Node.status.volumesInUse before anything of it
 * is staged, and leaves it after the last of it was unstaged. A stage begins when that is stored
 * and the volume is in status.volumesAttached, where the attach/detach controller
 * (controller/attach_detach.h) puts it and takes it from before it looks for the last time whether
 * it is used. That controller is made here, too. The loop thread only.
 */
#ifndef PODVOL_AGENT_ATTACHMENTS_H
#define PODVOL_AGENT_ATTACHMENTS_H

#include "reconcile/reconcile.h"

struct agent;
struct attachments;

/* After the Node, the ledger and the events; before pods are looked at. Return: 0 or negative
 * errno. */
int attachments_open(struct agent *agent, struct failure *reterr);
/* Before the store and the events go. Accepts NULL, as all of these. Return: NULL. */
struct attachments *attachments_free(struct attachments *attachments);

/* May this step of a plan begin? Only a stage is ever held back; the volume is looked at again when
 * it may. */
bool attachments_pass(struct attachments *attachments, const struct step *step);
/* Why a stage is held back, as a sentence about the volume that people call @name. False: it is
 * not.
 */
bool attachments_explain(const struct attachments *attachments, const char *unique_name,
			 const char *name, struct failure *ret);
/* The volume was planned, or left the tables. */
void attachments_look(struct attachments *attachments, const char *unique_name);
/* A turn ends: what is used is written where it changed. @may_drop: every pod is known. */
void attachments_settle(struct attachments *attachments, bool may_drop);
/* An object changed: a Node, a VolumeAttachment. */
void attachments_object_changed(struct attachments *attachments, const struct object *object);

/* Every pod is known from now on. */
void attachments_sources_ready(struct attachments *attachments);

#endif
