/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration_watch - which sockets are in plugins_registry and below it, by inotify
 *
 * A socket that is made again under the same name is a new one: it goes and comes. Names that begin
 * with a dot, files that are no sockets, symbolic links and what is mounted there are passed over.
 * An overflow of inotify, and the directory being replaced, are looked at again as a whole. Waits
 * for events only; a timer runs while the directory cannot be opened.
 *
 * The loop thread only, which lists here although a listing can hang: no mount is entered, so this
 * is the file system of the root directory, and where that hangs no pod's directory can be made,
 * looked at or removed, by whichever thread. What a driver serves is somewhere else. Of sockets
 * nothing but their entries is looked at.
 */
#pragma once

#include "base/failure.h"

#include <systemd/sd-event.h>

/* What any local program can make there. Logged once when it is too much. */
enum {
	REGISTRY_DIRECTORIES_MAX = 256,
	REGISTRY_SOCKETS_MAX = 1024,
	REGISTRY_NAMES_MAX = 16384, /* looked at in one directory */
	REGISTRY_PATH_MAX = 1024,   /* bytes, below plugins_registry */
};

struct csi_registration_watch_options {
	sd_event *event;
	/* Opens a directory below plugins_registry to be read, "" itself, which is made when
	 * missing. No link is followed, no mount entered. Return: a descriptor, or negative errno.
	 */
	int (*open_directory)(void *userdata, const char *path, struct failure *reterr);
	/* @path: below plugins_registry, "sub/a-reg.sock". Neither may free the watch. */
	void (*appeared)(void *userdata, const char *path);
	void (*vanished)(void *userdata, const char *path);
	void *userdata;
};

struct csi_registration_watch;

/* Tells of all that is there already from inside this call. A directory that cannot be opened is
 * logged and tried again. Return: 0; negative errno: no inotify, no memory. */
int csi_registration_watch_new(const struct csi_registration_watch_options *options,
			       struct csi_registration_watch **ret, struct failure *reterr);
/* Tells nothing more. Accepts NULL. Return: NULL. */
struct csi_registration_watch *csi_registration_watch_free(struct csi_registration_watch *watch);
