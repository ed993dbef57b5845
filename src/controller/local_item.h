/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_item - what the two files of the local provisioner share; nobody else includes it
 *
 * local_provisioner.c keeps the items and watches; local_item.c does what is next for one of them.
 */
#ifndef PODVOL_CONTROLLER_LOCAL_ITEM_H
#define PODVOL_CONTROLLER_LOCAL_ITEM_H

#include "controller/local_plan.h"
#include "controller/local_provisioner.h"

#include <uthash.h>

/* One volume that is or will be made. While an order or a write of it is under way it is busy and
 * looked at by nobody. */
struct item {
	struct local_provisioner *provisioner; /* NULL: it is gone; free when the answer comes */
	UT_hash_handle hh;
	struct item *next_due;
	bool is_due, is_busy;
	bool waits;     /* for what look_again() tells of */
	bool must_go;   /* its directory could not be made: take the volume back */
	bool is_unmade; /* and that is done: the volume is being deleted */
	unsigned int failures;
	uint64_t retry_usec; /* monotonic; 0: when something changes */
	enum directory_deed deed;
	struct local_plan plan; /* of the choice under way */
	char said[FAILURE_TEXT_BYTES];
	char *claim_space, *claim_name; /* of a volume that is not there yet */
	char name[];
};

struct local_provisioner {
	struct local_provisioner_options options;
	struct store_watch *watch;
	sd_event_source *timer;
	struct item *items, *due;
	struct cJSON *node_map; /* the last valid one; NULL: there never was one */
	bool is_stopped, is_working;
	bool has_waiting; /* some item waits for what look_again() tells of */
};

/* Decide from the stored objects what is next, and begin it. Return: false: there is nothing the
 * item stands for any more. */
bool local_item_look(struct item *item);
void local_item_free(struct item *item);

/* ---- local_provisioner.c ---- */

/* To be looked at in the next round. */
void local_make_due(struct local_provisioner *provisioner, struct item *item);
/* Look at all that are due; nothing while it runs already. */
void local_work(struct local_provisioner *provisioner);
/* Some item's retry_usec was set. */
void local_arm(struct local_provisioner *provisioner);

#endif
