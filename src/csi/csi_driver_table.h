/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_driver_table - how registration fills the table of drivers; no other file includes it
 *
 * An entry is known by its registration socket: two sockets may speak of one driver for a while.
 */
#pragma once

#include "csi/csi_drivers.h"

/* Drivers that are GONE and still remembered; the oldest are forgotten. */
enum { CSI_DRIVERS_GONE_MAX = 64 };

/* Add, or replace what is known of this socket; copied, since_usec is set here. A driver that
 * becomes ready puts an end to what is remembered of the name. Return: 0 or -ENOMEM: as it was. */
int csi_drivers_put(struct csi_drivers *drivers, const struct csi_driver *driver);

/* The socket is gone. One that is not ready is forgotten, one that was stays as GONE. */
void csi_drivers_drop(struct csi_drivers *drivers, const char *registration_socket);

/* As csi_drivers_find(), by socket and in any state but GONE. */
const struct csi_driver *csi_drivers_at(const struct csi_drivers *drivers,
					const char *registration_socket);

/* What a driver said of itself; as struct csi_driver has them. */
struct csi_capabilities {
	bool is_known, has_controller, takes_group_snapshots;
	uint32_t node, controller, plugin;
};
void csi_drivers_note_capabilities(struct csi_drivers *drivers, const char *registration_socket,
				   const struct csi_capabilities *capabilities);
