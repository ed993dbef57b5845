/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_source - what a local volume's path leads to: a directory, a device, or an image of podvold
 *
 * A file is no source, but for the image of a volume that says so, in a directory that bears this
 * volume's mark: what a user wrote into a path is not believed.
 */
#include "plugins/local.h"

#include "base/cleanup.h"
#include "mount/bind/options.h"
#include "mount/capacity/capacity.h"
#include "mount/filesystem/loop_device.h"
#include "plugins/layout.h"

#include <fcntl.h>
#include <string.h>

void local_source_done(struct local_source *source)
{
	free(source->path);
	free(source->fs_type);
	free(source->options);
	free(source->staging);
	free(source->mark);
	*source = (struct local_source){ 0 };
}

/* Copies: a worker reads them while the loop goes on and objects change. */
int local_source_init(const struct volume_request *request, struct local_source *ret,
		      struct failure *reterr)
{
	const struct volume_spec *spec = request->spec;
	cleanup(local_source_done) struct local_source source = { .read_only = spec->read_only };
	const struct persistent_volume *pv = spec_pv(spec);
	const char *capacity;
	int r;

	if (!pv || pv->source != PV_SOURCE_LOCAL || pv->local_path[0] == '\0')
		return failed_plain(
			reterr, -EINVAL,
			"volume '%s': local volume source is nil or local path is not set",
			spec->name);

	r = layout_child(LOCAL_STAGING_BASE, spec->name, &source.staging, reterr);
	if (r < 0)
		return r;
	source.path = strdup(pv->local_path);
	source.fs_type = strdup(pv->fs_type);
	source.options = mount_options_join(pv->mount_options, pv->mount_option_count,
					    spec->read_only ? "ro" : "");
	source.own = own_directories_ask(&request->host->own);
	capacity = pv->origin.capacity ?: "";
	source.is_image = strcmp(capacity, CAPACITY_IMAGE) == 0;
	if (*capacity)
		source.mark = strdup(persistent_volume_mark(pv));
	if (!source.path || !source.fs_type || !source.options || (*capacity && !source.mark))
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", spec->name);

	*ret = source;
	source = (struct local_source){ 0 };
	return 0;
}

/* Which of the kinds it is, and of what device; -ENOTSUP none. */
static int report_kind(const struct local_source *source, struct local_found *found,
		       struct failure *reterr)
{
	if (fstat(found->fd, &found->stat) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", source->path);
	if (source->is_image) {
		found->kind = LOCAL_IMAGE_FILE;
		found->device = loop_device_number(found->fd);
		return 0;
	}
	if (!S_ISDIR(found->stat.st_mode) && !S_ISBLK(found->stat.st_mode))
		return failed_plain(
			reterr, -ENOTSUP,
			"only directory and block device are supported: '%s' is neither",
			source->path);
	found->kind = S_ISBLK(found->stat.st_mode) ? LOCAL_DEVICE : LOCAL_DIRECTORY;
	found->device = found->kind == LOCAL_DEVICE ? found->stat.st_rdev : 0;
	return 0;
}

/* The descriptor stays open: what was looked at is what is bound, also when it is renamed
 * meanwhile. */
static int open_source(const struct local_source *source, struct local_found *ret,
		       struct failure *reterr)
{
	int fd;

	if (path_has_backstep(source->path))
		return failed_plain(reterr, -EINVAL, "invalid path '%s': must not contain '..'",
				    source->path);
	if (source->is_image)
		fd = capacity_image_open(source->path, source->mark, reterr);
	else
		fd = open_host_path(source->path, O_PATH, reterr);
	if (fd == -ENOENT)
		return failed_plain(reterr, -ENOENT, "path \"%s\" does not exist", source->path);
	*ret = (struct local_found){ .fd = fd };
	return fd < 0 ? fd : 0;
}

int local_look_up(const struct local_source *source, bool device_only, struct local_found *ret,
		  struct failure *reterr)
{
	struct local_found found;
	int r = open_source(source, &found, reterr);

	if (r < 0)
		return r;
	r = report_kind(source, &found, reterr);
	/* An image is podvold's own by its mark. */
	if (r == 0 && !source->is_image && !(device_only && found.kind == LOCAL_DIRECTORY))
		r = own_directories_check(&source->own, found.fd, source->path, false, reterr);
	if (r == 0)
		*ret = found;
	else
		(void) close(found.fd);
	return r;
}
