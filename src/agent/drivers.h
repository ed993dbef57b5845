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
#include "operation/operation.h"

#include <stdio.h>

struct agent;
struct cJSON;
struct drivers;

/* Kubelet's, below the root directory; registrars know it by this name. */
#define DRIVERS_REGISTRY "plugins_registry"

/* How long a drain waits for a driver that is needed and not there. */
enum { DRIVERS_DRAIN_USEC = 30 * 1000 * 1000 };

/* The table, which plugins see from now on. @agent is borrowed. Return: 0 or negative errno. */
int drivers_new(struct agent *agent, struct drivers **ret);
/* Last of all that starts: watch for registrars. Without a store nothing is written. Return: 0 or
 * negative errno. */
int drivers_start(struct drivers *drivers, struct failure *reterr);
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

/* The driver of a volume; "" none, or unknown. */
enum { DRIVER_NAME_BYTES = 64 };
void drivers_name_of(const struct agent *agent, const char *unique_name,
		     char ret[DRIVER_NAME_BYTES]);

/* Borrowed; the calls of describe and metrics. */
const struct csi_log *drivers_log(const struct drivers *drivers);

/* ---- driver_view.c ---- */

/* An item for each driver, or for the one called @name. */
void drivers_view(struct agent *agent, const char *name, struct cJSON *items);
/* The last calls for a volume, newest first, as "calls" of an item. */
void drivers_add_calls(const struct agent *agent, const char *unique_name, struct cJSON *item);
void drivers_print_metrics(struct agent *agent, FILE *file);
