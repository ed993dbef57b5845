/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach_internal - what the files of the attach/detach controller share; no other
 * file includes it
 *
 * attach_detach.c watches; attach_detach_wants.c keeps which pod wants which volume;
 * attach_detach_item.c takes the next step for a volume on a node; attach_detach_node.c writes
 * volumesAttached into Nodes.
 */
#pragma once

#include "controller/attach/attach_detach.h"
#include "controller/controller_class.h"
#include "object/kinds/node.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"

struct attach_item;
struct attach_pod;

/* A pod wants a volume where it runs. */
struct attach_want {
	struct attach_pod *pod;
	struct attach_item *item;
	struct attach_want *prev, *next; /* of the item */
	struct attach_want *next_of_pod;
};

struct attach_pod {
	UT_hash_handle hh;                   /* by namespace and name, with NUL between */
	const char *name_space, *name, *uid; /* in @bytes, one behind the other */
	struct attach_want *wants;
	bool is_incomplete;             /* some claim of it is not bound yet, or not there */
	struct attach_pod *prev, *next; /* of those that are incomplete */
	char bytes[];
};

/* A Node, as an item of its own queue. */
struct attach_node {
	struct work_item work;            /* by name; first */
	struct attach_detach *controller; /* NULL: freed */
	struct attach_item *items;
	struct attach_node *prev, *next; /* of the controller */
};

/* A volume on a node. */
struct attach_item {
	struct work_item work; /* by the name of its VolumeAttachment; first */
	struct attach_node *node;
	struct attach_item *prev, *next; /* of the node */
	char *unique_name, *driver, *handle, *volume_name;
	struct attach_want *wants;
	bool reports;      /* its entry in the Node */
	bool is_attaching; /* made, and not yet seen attached */
	bool assumes_use;  /* attached since the node last said what it uses */
	bool is_let_go;    /* the Node is gone, and did not list it as in use before */
	bool is_refused;   /* another one has to go first */
	uint64_t unwanted_usec;
};

enum { ITEMS, NODES }; /* its queues */

struct attach_detach {
	struct controller base;
	struct attach_detach_options options;
	struct attach_node *node_list;
	struct attach_pod *pods, *incomplete;
	sd_event_source *deadline; /* the soonest that a detach may be forced */
	uint64_t deadline_usec;    /* 0: none */
	bool has_refused;          /* some item may be */
	/* Of one batch of changes. */
	bool sync_pods, sync_incomplete, sync_attachments;
};

/* ---- attach_detach.c ---- */

/* An attachment is gone: items that wait for it are due. */
void attach_refused_due(struct attach_detach *controller);
/* Process unwanted volumes at that time, even if nothing changes. */
void attach_resync_at(struct attach_detach *controller, uint64_t usec);

/* ---- attach_detach_wants.c ---- */

/* Look up what it wants. Return: 0 or -ENOMEM. */
int attach_pod_changed(struct attach_detach *controller, const struct object *pod);
void attach_pod_gone(struct attach_detach *controller, const struct object *pod);
/* All of them, or those whose claims were not bound. */
void attach_pods_sync(struct attach_detach *controller, bool all);
void attach_pod_free(struct attach_detach *controller, struct attach_pod *pod);

/* ---- attach_detach_item.c ---- */

static inline struct attach_detach *attach_controller(const struct attach_item *item)
{
	return work_queue_userdata(item->work.queue);
}

/* The item of a volume on a node, made when there is none. NULL: out of memory. */
struct attach_item *attach_item_of(struct attach_detach *controller,
				   const struct persistent_volume *volume, const char *node_name);
bool attach_item_sync(struct work_item *work);
void attach_item_clear(struct work_item *work);
/* One event for each pod that wants it. */
void attach_item_report(struct attach_item *item, const char *type, const char *reason,
			const char *text);

/* ---- attach_detach_refusal.c ---- */

/* Has a node other than this one the volume, or may it? */
bool attach_is_elsewhere(const struct attach_item *item);
/* Does one more volume of the driver fit the node, by its CSINode? */
bool attach_has_room(const struct attach_item *item);
void attach_refuse_multi(struct attach_item *item);
void attach_refuse_limit(struct attach_item *item);

/* ---- attach_detach_node.c ---- */

/* Made when there is none. NULL: out of memory. */
struct attach_node *attach_node_of(struct attach_detach *controller, const char *name);
/* NULL: there is no such Node. */
const struct node *attach_node_object(const struct attach_node *node);
void attach_node_changed(struct attach_detach *controller, const struct store_change *change);
bool attach_node_sync(struct work_item *work);
void attach_node_clear(struct work_item *work);
