/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested_mounts - where containers mount something else inside a volume; see pod_target.h
 */
#include "plugins/pod_target.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

/* The paths below one mount of the volume; texts of their own. */
struct nested {
	char **paths;
	size_t count;
};

static void nested_done(struct nested *nested)
{
	for (size_t i = 0; i < nested->count; i++)
		free(nested->paths[i]);
	free(nested->paths);
}

/* filepath.Clean: no empty component, no ".", and ".." only in front. A leading slash stays. */
static char *clean(const char *path)
{
	char *result = calloc(1, strlen(path) + 2), *end = result, *floor;
	size_t length;

	if (!result)
		return NULL;
	if (*path == '/')
		*end++ = '/';
	floor = end; /* behind what a ".." cannot take away */
	for (; *path; path += length) {
		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (length == 0 || (length == 1 && *path == '.'))
			continue;
		if (length == 2 && strncmp(path, "..", 2) == 0 && end > floor) {
			while (end > floor && *--end != '/')
				;
			*end = '\0';
			continue;
		}
		if (length == 2 && strncmp(path, "..", 2) == 0 && *result == '/')
			continue;
		if (end > result && end[-1] != '/')
			*end++ = '/';
		memcpy(end, path, length);
		end += length;
		*end = '\0';
		if (length == 2 && strncmp(path, "..", 2) == 0)
			floor = end;
	}
	return result;
}

/* The part of @path that lies below @base; NULL: none does. */
static const char *below(const char *path, const char *base)
{
	size_t length = strlen(base);

	if (strcmp(base, "/") == 0)
		return path[0] == '/' && path[1] != '\0' ? path + 1 : NULL;
	if (strncmp(path, base, length) != 0 || path[length] != '/' || path[length + 1] == '\0')
		return NULL;
	return path + length + 1;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int collect(const struct pod_container *container, const char *base, struct nested *ret)
{
	ret->paths = calloc(container->mount_count, sizeof(*ret->paths));
	if (!ret->paths)
		return -ENOMEM;
	for (size_t i = 0; i < container->mount_count; i++) {
		cleanup_free char *path = clean(container->mounts[i].mount_path);
		const char *relative;

		if (!path)
			return -ENOMEM;
		relative = below(path, base);
		if (!relative)
			continue;
		ret->paths[ret->count] = strdup(relative);
		if (!ret->paths[ret->count])
			return -ENOMEM;
		ret->count++;
	}
	qsort(ret->paths, ret->count, sizeof(*ret->paths), compare);
	return 0;
}

static int visit_one(const struct pod_container *container, const char *base,
		     int (*visit)(const char *path, void *userdata), void *userdata)
{
	cleanup(nested_done) struct nested nested = { .count = 0 };
	int r = collect(container, base, &nested);

	for (size_t i = 0; i < nested.count && r == 0; i++) {
		bool is_covered = false;

		for (size_t k = 0; k < i && !is_covered; k++)
			is_covered = strcmp(nested.paths[k], nested.paths[i]) == 0 ||
				     below(nested.paths[i], nested.paths[k]);
		if (!is_covered)
			r = visit(nested.paths[i], userdata);
	}
	return r;
}

int nested_mounts(const struct pod *pod, const char *volume_name,
		  int (*visit)(const char *path, void *userdata), void *userdata,
		  struct failure *reterr)
{
	int r = 0;

	assert(pod && volume_name && visit);
	for (size_t c = 0; c < pod->container_count && r == 0; c++) {
		const struct pod_container *container = &pod->containers[c];

		for (size_t i = 0; i < container->mount_count && r == 0; i++) {
			cleanup_free char *base = NULL;

			if (strcmp(container->mounts[i].name, volume_name) != 0)
				continue;
			base = clean(container->mounts[i].mount_path);
			if (!base)
				return failed(reterr, -ENOMEM, "cannot read the mounts");
			if (strcmp(base, "..") == 0 || strncmp(base, "../", 3) == 0)
				return failed_plain(reterr, -EINVAL,
						    "invalid container mount point '%s' of "
						    "container '%s'",
						    container->mounts[i].mount_path,
						    container->name);
			r = visit_one(container, base, visit, userdata);
		}
	}
	return r;
}
