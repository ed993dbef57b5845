/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drivers - the agent's side of CSI drivers: their table for the plugins, registration, what Node
 * and CSINode say of them, and the volumes that wait for one
 *
 * A step that failed and names its driver is remembered under that driver. When the driver is ready
 * again, after its own restart or after podvold's, each of these volumes is due at once: the cost
 * follows what waits for this driver and nothing else. The loop thread only.
 */
#pragma once

#include "csi/csi_drivers.h"
#include "mount/mount.h"
#include "operation/operation.h"
#include "state/state.h"

#include <stdio.h>

struct cJSON;
struct drivers;
struct store;

/* Kubelet's, below the root directory; registrars know it by this name. */
#define DRIVERS_REGISTRY "plugins_registry"

/* How long a drain waits for a driver that is needed and not there. */
enum { DRIVERS_DRAIN_USEC = 30 * 1000 * 1000 };

/* All is borrowed. */
struct drivers_options {
	sd_event *event;
	const struct mount_root *root; /* open before drivers_start() */
	const char *node_name;
	struct desired *desired;
	struct actual *actual;
	struct dirty_set *dirty;
	struct operations **operations; /* made after the drivers */
	/* What this driver can do is known now. */
	void (*capable)(void *userdata, const char *driver);
	/* A drain no longer waits for drivers that are not there. */
	void (*drained)(void *userdata);
	void *userdata;
};

/* The table alone: nothing registers yet. @options is copied. Return: 0 or negative errno. */
int drivers_new(const struct drivers_options *options, struct drivers **ret);
/* Last of all that starts: watch for registrars. @store is borrowed; NULL, in a drain: nothing is
 * written. Return: 0 or negative errno. */
int drivers_start(struct drivers *drivers, struct store *store, struct failure *reterr);
/* Borrowed; what plugins and controllers call drivers by. */
struct csi_drivers *drivers_table(const struct drivers *drivers);
/* No more calls of registration, no more writes; before the store goes. Accepts NULL. */
void drivers_stop(struct drivers *drivers);
/* After the operations, whose calls use the table. Accepts NULL. Return: NULL. */
struct drivers *drivers_free(struct drivers *drivers);

/* The next two are hooks of an observer of steps: @drivers is a struct drivers. A step ended: what
 * failed for want of its driver, or at it, is remembered until that is ready. */
void drivers_note(void *drivers, const struct operation_ended *ended);
/* The volume was planned: what waits in it for a driver, and is wanted no more, is forgotten. */
void drivers_planned(void *drivers, const char *unique_name);
/* While draining: may a driver that is not there still come? */
bool drivers_may_come(const struct drivers *drivers);

/* Borrowed: the volumes that driver_view.c counts. */
const struct actual *drivers_actual(const struct drivers *drivers);
/* The driver of a volume; "" none, or unknown. */
enum { DRIVER_NAME_BYTES = 64 };
void drivers_name_of(const struct drivers *drivers, const char *unique_name,
		     char ret[DRIVER_NAME_BYTES]);

/* Borrowed; the calls of describe and metrics. */
const struct csi_log *drivers_log(const struct drivers *drivers);

/* ---- driver_view.c ---- */

/* Accept NULL: nothing is said of drivers. An item for each driver, or for the one called @name. */
void drivers_view(const struct drivers *drivers, const char *name, struct cJSON *items);
/* An item for each plugin that is built in, or for the one called @name. */
void plugins_view(const char *name, struct cJSON *items);
/* A hook of an observer of steps: the last calls for a volume, newest first, as "calls" of an item;
 * @drivers is a struct drivers. */
void drivers_describe(const void *drivers, struct cJSON *item, const char *unique_name,
		      const char *pod_uid);
void drivers_print_metrics(const struct drivers *drivers, FILE *file);
