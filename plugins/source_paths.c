/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_paths - podvold's own directories are refused as sources when an object is written; see
 * plugin.h
 */

#include "plugins/plugin.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

static int check(const struct own_directories *own, const char *field, const char *path,
		 bool for_root, struct failure *why)
{
	struct failure refused = { .error = 0 };

	if (!path || *path != '/' || own_directories_check_text(own, path, for_root, &refused) == 0)
		return 0;
	return failed_plain(why, -EINVAL, "%s: Invalid value: \"%s\": %s", field, path,
			    refused.text);
}

int source_paths_check(void *host, const struct object *object, struct failure *why)
{
	const struct own_directories *own = &((const struct plugin_host *) host)->own;
	const struct persistent_volume *pv;
	int r = 0;

	assert(host && object);
	if (object->kind == KIND_PERSISTENT_VOLUME) {
		pv = object->persistent_volume;
		r = check(own, "spec.local.path", pv->local_path, false, why);
		return r < 0 ? r : check(own, "spec.hostPath.path", pv->host_path, true, why);
	}
	for (size_t i = 0; i < object->pod->volume_count && r == 0; i++) {
		char field[64];

		(void) snprintf(field, sizeof(field), "spec.volumes[%zu].hostPath.path", i);
		r = check(own, field, object->pod->volumes[i].host_path, true, why);
	}
	return r;
}
