/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_paths - names and places of CSI volumes; see csi_paths.h
 */
#include "plugins/csi_paths.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "object/kinds/vol_data.h"
#include "plugins/layout.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

char *csi_inline_handle(const char *pod_uid, const char *volume_name)
{
	cleanup_free char *text = NULL;

	assert(pod_uid && volume_name);
	text = new_text("%s%s", pod_uid, volume_name);
	if (!text)
		return NULL;
	return csi_hashed_name(text);
}

int csi_staging_path(const char *driver, const char *handle, char **ret, struct failure *reterr)
{
	char hash[CSI_HASH_TEXT_BYTES];

	assert(driver && handle && ret);
	if (!layout_is_component(driver) || *handle == '\0')
		return failed_plain(reterr, -EINVAL, "volume '%s' of driver '%s': both need a name",
				    handle, driver);
	if (csi_hash_text(handle, hash) < 0 ||
	    asprintf(ret, CSI_BASE "/%s/%s/globalmount", driver, hash) < 0)
		return failed(reterr, -ENOMEM, "cannot build the staging path of '%s'", handle);
	return 0;
}

bool csi_is_staging_path(const char *path)
{
	static const char base[] = CSI_BASE "/", last[] = "/globalmount";
	const char *driver, *hash;

	assert(path);
	if (strncmp(path, base, strlen(base)) != 0)
		return false;
	driver = path + strlen(base);
	hash = strchr(driver, '/');
	if (!hash || hash == driver || *driver == '.')
		return false;
	hash++;
	return strspn(hash, "0123456789abcdef") == CSI_HASH_TEXT_BYTES - 1 &&
	       strcmp(hash + CSI_HASH_TEXT_BYTES - 1, last) == 0;
}

int csi_target_path(const char *pod_uid, const char *volume_name, char **ret,
		    struct failure *reterr)
{
	cleanup_free char *directory = NULL;
	int r;

	assert(volume_name && ret);
	r = layout_pod_path(pod_uid, "volumes", CSI_PLUGIN_NAME, volume_name, &directory, reterr);
	if (r < 0)
		return r;
	if (asprintf(ret, "%s/mount", directory) < 0)
		return failed(reterr, -ENOMEM, "cannot build the target path of '%s'", volume_name);
	return 0;
}

int csi_block_path(enum csi_block_place place, const char *volume_name, char **ret,
		   struct failure *reterr)
{
	static const struct {
		const char *before, *behind;
	} parts[] = {
		[CSI_BLOCK_MAP] = { "", "/dev" },
		[CSI_BLOCK_DATA] = { "", "/data/" VOL_DATA_FILE },
		[CSI_BLOCK_STAGING] = { "staging/", "" },
		[CSI_BLOCK_PUBLISH] = { "publish/", "" },
	};

	assert((size_t) place < ARRAY_SIZE(parts) && volume_name && ret);
	if (!layout_is_component(volume_name))
		return failed_plain(reterr, -EINVAL, "volume name '%s' cannot be a directory name",
				    volume_name);
	if (asprintf(ret, CSI_BLOCK_BASE "/%s%s%s", parts[place].before, volume_name,
		     parts[place].behind) < 0)
		return failed(reterr, -ENOMEM, "cannot build the path of a directory of '%s'",
			      volume_name);
	return 0;
}

char *csi_path_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	assert(slash && name);
	return new_text("%.*s/%s", (int) (slash - path), path, name);
}

int csi_split_unique_name(const char *unique_name, char **ret_driver, char **ret_handle)
{
	static const char prefix[] = CSI_PLUGIN_NAME "/";
	const char *driver, *caret;

	assert(unique_name && ret_driver && ret_handle);
	driver = unique_name + strlen(prefix);
	if (strncmp(unique_name, prefix, strlen(prefix)) != 0)
		return -EINVAL;
	caret = strchr(driver, '^'); /* a driver's name has none */
	if (!caret || caret == driver || caret[1] == '\0')
		return -EINVAL;
	*ret_driver = strndup(driver, (size_t) (caret - driver));
	*ret_handle = strdup(caret + 1);
	if (*ret_driver && *ret_handle)
		return 0;
	free(TAKE_PTR(*ret_driver));
	free(TAKE_PTR(*ret_handle));
	return -ENOMEM;
}
