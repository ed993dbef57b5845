/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct - one volume mounted and unmounted by its plugin, in this process, with no daemon
 *
 * For rescue and for scripts: what a PersistentVolume says (source, file system, mount options) is
 * done by the same stages as the daemon's. There is no pod, so no ownership is changed, and nothing
 * is remembered: what is mounted afterwards is the target and nothing else.
 */
#pragma once

#include "base/failure.h"

#include <limits.h>
#include <stdint.h>
#include <stdbool.h>

struct object;

/* The one PersistentVolume of a file, as direct_mount() reads it: a new reference. */
int direct_read_volume(const char *file, const struct object **ret, struct failure *reterr);

/* Where a descriptor really is: "" when that is unknown. */
void direct_real_path(int fd, char ret[PATH_MAX]);

/**
 * direct_mount - mount the one PersistentVolume of a file at a target
 * @file:     a manifest with exactly one PersistentVolume; other objects in it are passed over; "-"
 *            reads standard input
 * @target:   an existing directory (a file, where the volume is one) on which nothing is mounted
 * @root_dir: of a daemon that may run; NULL means the default. Where the target lies below it, its
 *            lock is held meanwhile.
 *
 * Blocks. Needs root. On failure nothing is left mounted.
 *
 * Return: 0; -EINVAL not one PersistentVolume, or one in block mode; -EBUSY the target is mounted
 * already, or a daemon uses the root directory; -EOPNOTSUPP the plugin needs a daemon; else as the
 * plugin's stages.
 */
int direct_mount(const char *file, const char *target, const char *root_dir,
		 struct failure *reterr);

/**
 * direct_unmount - take the topmost mount of a target away, also a foreign one
 *
 * The target itself stays. Return: 0; -EINVAL nothing is mounted there; -EBUSY in use, or a daemon
 * uses the root directory that it lies below; else as umount2(2).
 */
int direct_unmount(const char *target, const char *root_dir, struct failure *reterr);

/* ---- csi_direct.c: one RPC to a CSI driver's socket, for drivers that are debugged; what is sent
 * may hold secrets, and is not shown ---- */

struct cJSON;

/* Where and what. */
struct csi_direct {
	const char *endpoint; /* absolute path of a socket */
	const char *method;   /* "NodeGetInfo" */
	const char *text;     /* JSON; "" the empty message */
	uint64_t timeout_usec;
};

/**
 * csi_direct_call - call and wait
 * @ret: as the daemon answers, see docs/api.md; freed with json_free()
 *
 * Blocks. Return: 0 whatever the driver answered; -EINVAL no such method, or no such message;
 * -E2BIG; -ENOMEM; as sd_event_new().
 */
int csi_direct_call(const struct csi_direct *direct, struct cJSON **ret, struct failure *reterr);

/* ---- plugin_direct.c: which executable plugins there are, and the test of one ---- */

typedef void plugin_direct_fn(void *userdata, bool is_wrong, const char *name, const char *text);

/* @fn: for each plugin that root installed, whether podvold would run it. Return: 0, also where
 * there is no directory of plugins; else as opendir(3). */
int plugin_direct_list(plugin_direct_fn *fn, void *userdata, struct failure *reterr);

struct plugin_test {
	const char *name;      /* of the plugin */
	const char *directory; /* an existing one, below which the volume is mounted meanwhile */
	const char *file;      /* with the PersistentVolume; NULL: one without options */
	plugin_direct_fn *fn;  /* for each call, and what is wrong with it */
	void *userdata;
};

/**
 * plugin_direct_test - the life of one volume of a plugin
 *
 * Blocks. Needs root. The process gets a mount namespace of its own, which nothing leaves.
 *
 * Return: how many things are wrong; -EINVAL not one PersistentVolume, or one of another driver;
 * else as the calls.
 */
int plugin_direct_test(const struct plugin_test *test, struct failure *reterr);
