/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reporter - what the boxes borrow that report about volumes on their own: tables to look at, a
 * loop for their timers, and a way to record events
 *
 * Filled in by its owner; changes nothing that it lends. The loop thread only.
 */
#pragma once

#include "object/object.h"
#include "status/volume_row.h"

#include <systemd/sd-event.h>

struct store;

struct reporter {
	sd_event *event;
	const struct volume_tables *tables;
	struct store *const *store; /* made later; NULL in a drain */
	void (*record)(void *userdata, const struct object *about, const char *type,
		       const char *reason, const char *text);
	void *userdata;
};
