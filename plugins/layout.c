/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout - kubelet's directory names; see layout.h
 */
#include "plugins/layout.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>

bool layout_is_component(const char *name)
{
	assert(name);
	return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !strchr(name, '/');
}

static int check_component(const char *what, const char *name, struct failure *reterr)
{
	if (!name || !layout_is_component(name))
		return failed_plain(reterr, -EINVAL, "%s '%s' cannot be a directory name", what,
				    name ? name : "");
	return 0;
}

int layout_pod_path(const char *pod_uid, const char *folder, const char *plugin, const char *volume,
		    char **ret, struct failure *reterr)
{
	cleanup_free char *escaped = NULL;
	char *slash;
	int r;

	assert(folder && plugin && ret);

	r = check_component("pod uid", pod_uid, reterr);
	if (r < 0)
		return r;
	if (volume) {
		r = check_component("volume name", volume, reterr);
		if (r < 0)
			return r;
	}

	escaped = strdup(plugin);
	if (!escaped)
		return failed(reterr, -ENOMEM, "cannot build the directory path of volume '%s'",
			      volume);
	while ((slash = strchr(escaped, '/')))
		*slash = '~';
	if (asprintf(ret, "pods/%s/%s/%s%s%s", pod_uid, folder, escaped, volume ? "/" : "",
		     volume ? volume : "") < 0)
		return failed(reterr, -ENOMEM, "cannot build the directory path of volume '%s'",
			      volume ? volume : "");
	return 0;
}

int layout_child(const char *base, const char *name, char **ret, struct failure *reterr)
{
	size_t length;
	int r;

	assert(base && ret);
	r = check_component("name", name, reterr);
	if (r < 0)
		return r;
	*ret = new_pair(base, '/', name, &length);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name '%s/%s'", base, name);
}

char *layout_absolute(const char *root_dir, const char *relative)
{
	assert(root_dir);
	return relative ? new_text("%s/%s", root_dir, relative) : NULL;
}
