/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostpath - a path of the host as it is: kubelet's hostPath plugin
 *
 * Nothing is mounted here: the runtime gets the path itself. The one stage checks what the path
 * leads to, following symbolic links, and makes what the ...OrCreate types ask for. Data is never
 * owned, changed or removed, so there is no teardown and nothing to reconstruct.
 */
#include "plugins/plugin.h"

#include "base/cleanup.h"
#include "mount/remove/restore_lock.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#define HOST_PATH_PLUGIN_NAME "kubernetes.io/host-path"

enum create { CREATE_NOTHING, CREATE_DIRECTORY, CREATE_FILE };

struct host_path_type {
	const char *name;
	mode_t format; /* S_IFDIR, ...; 0 any */
	enum create create;
	const char *complaint;
};

static const struct host_path_type types[] = {
	{ "", 0, CREATE_NOTHING, "" },
	{ "DirectoryOrCreate", S_IFDIR, CREATE_DIRECTORY, "is not a directory" },
	{ "Directory", S_IFDIR, CREATE_NOTHING, "is not a directory" },
	{ "FileOrCreate", S_IFREG, CREATE_FILE, "is not a file" },
	{ "File", S_IFREG, CREATE_NOTHING, "is not a file" },
	{ "Socket", S_IFSOCK, CREATE_NOTHING, "is not a socket file" },
	{ "CharDevice", S_IFCHR, CREATE_NOTHING, "is not a character device" },
	{ "BlockDevice", S_IFBLK, CREATE_NOTHING, "is not a block device" },
};

static const struct host_path_type *find_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(types[i].name, name) == 0)
			return &types[i];
	return NULL;
}

static const char *spec_path(const struct volume_spec *spec)
{
	return spec_pv(spec) ? spec_pv(spec)->host_path : spec->source->host_path;
}

static const char *spec_type(const struct volume_spec *spec)
{
	return spec_pv(spec) ? spec_pv(spec)->host_path_type : spec->source->host_path_type;
}

struct host_path_mounter {
	char *path, *type;
	struct own_directories own;
	bool is_persistent; /* a PersistentVolume, which podvolctl restores by its name */
};

static void host_path_mounter_free(void *data)
{
	struct host_path_mounter *mounter = data;

	if (!mounter)
		return;
	free(mounter->path);
	free(mounter->type);
	free(mounter);
}

static int make_missing(const char *path, enum create create, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;

	if (create == CREATE_FILE)
		return make_host_file(path, 0644, reterr);
	fd = make_host_directories(path, 0755, reterr);
	return fd < 0 ? fd : 0;
}

static int check_type(const char *path, const struct host_path_type *type, struct failure *reterr)
{
	cleanup_close int fd = open_host_path(path, O_PATH, reterr);
	struct stat st;
	int r;

	if (fd == -ENOENT && type->create != CREATE_NOTHING) {
		r = make_missing(path, type->create, reterr);
		if (r < 0)
			return failure_prefix(reterr, "hostPath type check failed");
		fd = open_host_path(path, O_PATH, reterr);
	}
	if (fd < 0 && fd != -ENOENT)
		return failure_prefix(reterr, "hostPath type check failed");
	if (fd < 0)
		return failed_plain(reterr, fd, "hostPath type check failed: %s %s", path,
				    type->complaint);
	if (fstat(fd, &st) < 0)
		return failed(reterr, -errno, "hostPath type check failed: %s", path);
	if ((st.st_mode & S_IFMT) != type->format)
		return failed_plain(reterr, -EINVAL, "hostPath type check failed: %s %s", path,
				    type->complaint);
	return 0;
}

/* What is not there, or no directory, is not being restored. */
static int check_restore(const char *path, struct failure *reterr)
{
	cleanup_close int fd = open_host_path(path, O_PATH | O_DIRECTORY, NULL);

	return fd < 0 ? 0 : restore_lock_check(fd, path, reterr);
}

static int check_path(void *data, struct stage_report *report)
{
	const struct host_path_mounter *mounter = data;
	const struct host_path_type *type = find_type(mounter->type);
	int r;

	if (path_has_backstep(mounter->path))
		return failed_plain(&report->failure, -EINVAL,
				    "invalid HostPath '%s': must not contain '..'", mounter->path);
	if (mounter->path[0] != '/')
		return failed_plain(&report->failure, -EINVAL,
				    "invalid HostPath '%s': must be absolute", mounter->path);
	if (!type)
		return failed_plain(&report->failure, -EINVAL,
				    "hostPath type check failed: %s is an invalid volume type",
				    mounter->type);
	r = own_directories_check_path(&mounter->own, mounter->path, true, &report->failure);
	if (r == 0 && type->format != 0)
		r = check_type(mounter->path, type, &report->failure);
	if (r == 0 && mounter->is_persistent)
		r = check_restore(mounter->path, &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

static int host_path_new_mounter(const struct volume_request *request, struct stage_list *ret,
				 struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("check the path", check_path),
	};
	struct host_path_mounter *mounter;

	assert(request->spec);

	mounter = calloc(1, sizeof(*mounter));
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot check volume '%s'", request->spec->name);
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, host_path_mounter_free };
	if (request->host)
		mounter->own = own_directories_ask(&request->host->own);
	mounter->is_persistent = spec_pv(request->spec) != NULL;
	mounter->path = strdup(spec_path(request->spec));
	mounter->type = strdup(spec_type(request->spec));
	if (mounter->path && mounter->type)
		return 0;
	stage_list_done(ret);
	return failed(reterr, -ENOMEM, "cannot check volume '%s'", request->spec->name);
}

static bool host_path_can_support(const struct volume_spec *spec)
{
	if (spec_pv(spec))
		return spec_pv(spec)->source == PV_SOURCE_HOST_PATH;
	return spec->source && spec->source->source == SOURCE_HOST_PATH;
}

static int host_path_get_volume_name(const struct volume_spec *spec, char **ret,
				     struct failure *reterr)
{
	*ret = strdup(spec_path(spec));
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
}

static struct volume_attributes host_path_get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){ .read_only = spec->read_only };
}

static char *host_path_get_path(const struct volume_request *request)
{
	assert(request->spec);
	return strdup(spec_path(request->spec));
}

const struct volume_plugin host_path_volume_plugin = {
	.name = HOST_PATH_PLUGIN_NAME,
	.can_support = host_path_can_support,
	.get_volume_name = host_path_get_volume_name,
	.get_attributes = host_path_get_attributes,
	.get_source = spec_path,
	.new_mounter = host_path_new_mounter,
	.get_path = host_path_get_path,
};
