/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_objects - objects and a plugin made by hand, for tests of what only points at them
 *
 * They have no bytes and are never freed. A test that links this wraps object_ref() and
 * object_unref(); fake_references counts what is held.
 */
#pragma once

#include "plugins/plugin.h"

extern long fake_references;

struct fake_pod {
	struct object object;
	struct pod pod;
	struct pod_volume volume;
};
void fake_pod_init(struct fake_pod *fake, const char *name, const char *uid);

struct fake_pv {
	struct object object;
	struct persistent_volume pv;
};
void fake_pv_init(struct fake_pv *fake, const char *name, unsigned int access_modes);

/* Never remounts, and always does; and one whose set-ups find out whether there is a device. */
extern const struct volume_plugin fake_plugin, fake_remount_plugin, fake_device_plugin;
