/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration - what kubelet's plugin manager does: registers the drivers whose registrars
 * have a socket in plugins_registry
 *
 * Watches (csi_registration_watch.h), asks registrar and driver, has Node and CSINode written, and
 * fills the table of drivers. When a socket goes its driver is taken out of all of them; when it is
 * made again the driver is registered again. Mounted volumes are not touched. Event-driven: timers
 * run only while something failed. The loop thread only.
 */
#pragma once

#include "csi/csi_drivers.h"

struct csi_registration_options {
	sd_event *event;
	struct csi_drivers *drivers; /* filled */
	struct csi_log *log;
	const char *directory; /* absolute path of plugins_registry, as drivers know it */
	/* As csi_registration_watch.h has it. */
	int (*open_directory)(void *userdata, const char *path, struct failure *reterr);
	/* Write what Node and CSINode say of a driver, and take it back. @driver and @name are
	 * borrowed; csi_registration_written() is called with @token when it is done, never from
	 * inside, and not after a negative errno. NULL: no such objects are kept. */
	int (*install)(void *userdata, const struct csi_driver *driver, void *token);
	int (*uninstall)(void *userdata, const char *name, void *token);
	/* Calls to this driver can be made from now on. */
	void (*ready)(void *userdata, const char *name);
	/* What it can do beyond that is known from now on (struct csi_capabilities): some time
	 * after ready(), after each registration. NULL: not reported. */
	void (*capable)(void *userdata, const char *name);
	void *userdata;
};

struct csi_registration;

/* Begins with the sockets that are there. @options is copied, what it points to is borrowed.
 * Return: 0; negative errno when nothing can be watched. */
int csi_registration_new(const struct csi_registration_options *options,
			 struct csi_registration **ret, struct failure *reterr);
/* Leaves drivers and objects as they are; no install or uninstall may be under way. Accepts NULL.
 * Return: NULL. */
struct csi_registration *csi_registration_free(struct csi_registration *registration);

/* What options.install or options.uninstall began is over. */
void csi_registration_written(void *token, int error, const struct failure *why);
