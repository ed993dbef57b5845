/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_volume - what configMap, secret, downwardAPI and projected volumes have in common
 *
 * Each of the four has a file with its table of slots; the slots are these functions, with what is
 * particular to the kind in front.
 */
#ifndef PODVOL_PLUGINS_FILE_VOLUME_H
#define PODVOL_PLUGINS_FILE_VOLUME_H

#include "plugins/plugin.h"

struct file_volume_kind {
	const char *plugin_name;
	bool in_memory; /* on a tmpfs, and overwritten at teardown; else on disk */
};

int file_volume_new_mounter(const struct file_volume_kind *kind,
			    const struct volume_request *request, struct stage_list *ret,
			    struct failure *reterr);
int file_volume_new_unmounter(const struct file_volume_kind *kind,
			      const struct volume_request *request, struct stage_list *ret,
			      struct failure *reterr);
char *file_volume_get_path(const struct file_volume_kind *kind,
			   const struct volume_request *request);

/* Slots as they are. */
int file_volume_get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr);
struct volume_attributes file_volume_get_attributes(const struct volume_spec *spec);
bool file_volume_requires_remount(const struct volume_spec *spec);
int file_volume_references(const struct volume_spec *spec,
			   int (*visit)(const struct object_reference *reference, void *userdata),
			   void *userdata);
int file_volume_construct_volume_spec(const struct plugin_host *host, const char *pod_uid,
				      const char *volume_name, bool block, struct volume_spec *ret,
				      struct failure *reterr);

#endif
