/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_world - the attach/detach controller on a real store with two Nodes, "here" and "there"
 *
 * The test is the driver's attacher and the nodes: it writes what they would write. Volume "a" is
 * there from the beginning.
 */
#pragma once

#include "tests/unit/store/store_world.h"

#include "controller/attach/attach_detach.h"
#include "object/kinds/node.h"
#include "object/kinds/volume_attachment.h"

struct world {
	struct store_world store;
	struct attach_detach *controller;
	bool is_incomplete, is_staged;
	char events[2048];
};

/* So many of the controller's writes of Nodes fail. */
extern unsigned int node_writes_that_fail;

int attach_world_setup(void **state);
int attach_world_teardown(void **state);

/* Another controller in the same store. */
void restart(struct world *world);
/* Until it writes no more. */
void run(struct world *world);

/* Create or replace; a format with ' for ". */
void put(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_node(struct world *world, const char *name);
/* With a claim of that name, bound to it; the volume is "pv-<name>", its handle "h-<name>". */
void put_volume(struct world *world, const char *name, const char *modes);
void put_pod(struct world *world, const char *name, const char *claim, const char *node);
void remove_pod(struct world *world, const char *name);

/* NULL: there is none. */
const struct volume_attachment *attachment(struct world *world, const char *volume,
					   const char *node);
/* Freed with free(). */
char *attachment_name(const char *volume, const char *node);
const struct node *node_of(struct world *world, const char *name);
bool is_reported(struct world *world, const char *volume, const char *node);

/* As the attacher: it is attached, it could not be, it is detached. */
void attach(struct world *world, const char *volume, const char *node);
void fail_attach(struct world *world, const char *volume, const char *node, const char *text);
void detach(struct world *world, const char *volume, const char *node);
/* As the node: "" nothing is in use. */
void use(struct world *world, const char *volume, const char *node);
