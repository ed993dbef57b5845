/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller - store to store: what a cluster's controllers would write, on one node without a
 * cluster
 *
 * Event-driven by a watch; each decision is a pure function of objects, apart from the write that
 * follows it. Every write is repeatable, so a crash between two of them is finished by the next
 * look at the object.
 */
#pragma once

#include "base/failure.h"
#include "object/json/json.h"
#include "store/store.h"

struct persistent_volume;
struct pv_binder;
struct root_ca_publisher;
struct work_item;

/* An event about an object, to be recorded by the controller's owner. */
typedef void controller_event_fn(void *userdata, const struct object *about, const char *type,
				 const char *reason, const char *text);

/* What controllers have in common, all of it borrowed; NULL where a controller does not ask. */
struct controller_options {
	sd_event *event;
	int64_t priority;
	struct store *store;
	const char *node_name; /* of this node */
	controller_event_fn *event_fn;
	/* May something of this volume still be mounted or used here? */
	bool (*is_in_use)(void *userdata, const struct persistent_volume *volume);
	/* Have all sources of objects delivered all they have? Nothing is deleted before. */
	bool (*is_complete)(void *userdata);
	void *userdata; /* of these three */
};

/**
 * pv_binder_new - bind claims to volumes
 * @options: copied; asks nothing; without node_name no claim is given to a node
 *
 * Claims and volumes that name each other or were matched become Bound by the writes
 * of the specification's section 2.3, in that order; phases follow sections 2.2 and 3 of
 * the controllers. The finalizers kubernetes.io/pvc-protection and pv-protection come off objects
 * that are being deleted when no pod with a node uses the claim, or the volume is not Bound.
 * A claim that names no volume gets the one made for it, else the best free one
 * (volume_match.h). A claim whose class waits for its first consumer is given to this node when a
 * pod without a node, or of this one, wants it: what a scheduler does in a cluster, and in its
 * order (scheduling.h). Claims that no
 * volume fits are marked for their class's provisioner, who is not part of this. No system call, no
 * clock.
 *
 * Return: 0 or -ENOMEM.
 */
int pv_binder_new(const struct controller_options *options, struct pv_binder **ret);
/* Leaves objects as they are; a queued write of it ends in the store. Accepts NULL. Return: NULL.
 */
struct pv_binder *pv_binder_free(struct pv_binder *binder);

/* ---- metadata_edit.c ---- */

/*
 * Finalizers and annotations of any object, as controllers change them; pure
 *
 * Those with a void pointer are edits for object_edit() and work_item_edit(), given the name.
 */

bool metadata_has_finalizer(const struct cJSON *tree, const char *name);
/* The same without a tree at hand. */
bool object_has_finalizer(const struct object *object, const char *name);
/* At the end; one that is there moves to it. Return: 0 or -ENOMEM, as the others. */
int metadata_add_finalizer(struct cJSON *tree, void *name);
int metadata_remove_finalizer(struct cJSON *tree, void *name);
int metadata_set_annotation(struct cJSON *tree, const char *key, const char *value);
int metadata_remove_annotation(struct cJSON *tree, void *key);

/* ---- root_ca_publisher.c ---- */

/*
 * Keeps the ConfigMap kube-root-ca.crt in every namespace: a cluster's
 * root-ca-cert-publisher
 *
 * It holds the certificate of this node's authority. One from elsewhere, such as a
 * cluster's from an exported file, is left as it is; one that is deleted comes back; one whose
 * namespace was deleted goes with it. All is decided from stored objects. The loop thread only.
 */

struct root_ca_publisher_options {
	struct controller_options common;
	const char *certificate; /* PEM; copied */
};

/* Return: 0 or -ENOMEM. */
int root_ca_publisher_new(const struct root_ca_publisher_options *options,
			  struct root_ca_publisher **ret);
/* Before the store is freed. Leaves objects as they are. Accepts NULL. Return: NULL. */
struct root_ca_publisher *root_ca_publisher_free(struct root_ca_publisher *publisher);

/* ---- volume_finalizer.c ---- */

/*
 * A made volume's object outlives what is behind it (HonorPVReclaimPolicy)
 *
 * Under policy Delete it bears external-provisioner's finalizer, so that a volume which is deleted
 * before its claim still leads to its data when that claim is deleted. Decides about no data.
 */

#define FINALIZER_PROVISIONER "external-provisioner.volume.kubernetes.io/finalizer"

bool volume_finalizer_is_there(const struct object *volume);
/* It comes when the volume is bound under policy Delete, and goes under another one. Return: true:
 * a write of it is under way. */
bool volume_finalizer_keep(struct work_item *item, const struct persistent_volume *volume);
/* Nothing keeps the object any more: it is deleted, or its finalizer goes when it was. */
void volume_finalizer_forget(struct work_item *item, const struct object *volume);
