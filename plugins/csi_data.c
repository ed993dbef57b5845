/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_data - vol_data.json and the directory it lies in; see csi_data.h
 *
 * The file goes after the target: while anything is at the target the file says which volume
 * of which driver it was.
 */
#include "plugins/csi_data.h"

#include "base/cleanup.h"
#include "mount/path/small_file.h"

#include <assert.h>
#include <string.h>

enum { DIRECTORY_MODE = 0750, FILE_MODE = 0644 /* kubelet's 0666 under the usual umask */ };

static int open_place(const struct csi_place *place, const char *path, struct place *ret,
		      struct failure *reterr)
{
	return place_open(place->host->root_fd, place->host->root_dir, path, ret, reterr);
}

int csi_data_write(const struct csi_place *place, const struct vol_data *data,
		   struct failure *reterr)
{
	cleanup(place_done) struct place file = PLACE_EMPTY;
	cleanup_free char *text = vol_data_print(data, place->kind);
	int r;

	assert(place && place->host && place->data_path && data);
	if (!text)
		return failed(reterr, -ENOMEM, "cannot write '%s'", place->data_path);
	r = place_make(place->host->root_fd, place->host->root_dir, place->data_path,
		       DIRECTORY_MODE, &file, reterr);
	return r < 0 ? r : small_file_write(&file, text, strlen(text), FILE_MODE, reterr);
}

int csi_place_facts(const struct csi_place *place, struct mount_facts *ret, struct failure *reterr)
{
	cleanup(place_done) struct place target = PLACE_EMPTY;
	int r = open_place(place, place->mount_path, &target, reterr);

	return r < 0 ? r : place_facts(&target, ret, reterr);
}

/* A dead server's mount is something, too. */
static bool is_target_there(const struct csi_place *place)
{
	struct mount_facts facts;

	return csi_place_facts(place, &facts, NULL) != -ENOENT;
}

int csi_data_read(const struct csi_place *place, struct vol_data *ret, struct failure *reterr)
{
	cleanup(place_done) struct place file = PLACE_EMPTY;
	cleanup_free char *text = NULL;
	size_t length;
	int r;

	assert(place && place->host && place->data_path && ret);
	r = open_place(place, place->data_path, &file, reterr);
	if (r == 0)
		r = small_file_read(&file, VOL_DATA_BYTES_MAX, &text, &length, reterr);
	if (r == -ENOENT)
		return is_target_there(place)
			       ? failed_plain(reterr, -ENOENT,
					      "'%s/%s' is missing: it records which volume this is",
					      place->host->root_dir, place->data_path)
			       : -ENODATA;
	return r < 0 ? r : vol_data_parse(text, length, place->kind, ret, reterr);
}

/* What a driver makes to mount on and may leave: an empty directory, or an empty file. Whatever
 * else is there is not judged. */
int csi_target_remove(const struct csi_place *place, struct failure *reterr)
{
	cleanup(place_done) struct place target = PLACE_EMPTY;
	struct mount_facts facts;
	int r = open_place(place, place->mount_path, &target, reterr);

	if (r == 0)
		r = place_facts(&target, &facts, reterr);
	if (r == -ENOENT)
		return 0;
	if (is_corrupted_mount_error(r) || (r == 0 && facts.is_mount_root))
		return failed_plain(reterr, -EBUSY, "'%s' is still a mount point", target.path);
	if (r < 0)
		return r;
	if (S_ISDIR(facts.mode))
		return remove_directory(&target, reterr);
	if (S_ISREG(facts.mode) && facts.bytes == 0)
		return remove_file(&target, reterr);
	return failed_plain(reterr, -ENOTEMPTY, "'%s' is not an empty directory: not removed",
			    target.path);
}

int csi_data_remove(const struct csi_place *place, struct failure *reterr)
{
	cleanup(place_done) struct place file = PLACE_EMPTY;
	int r;

	assert(place && place->host && place->mount_path && place->data_path);
	r = csi_target_remove(place, reterr);
	if (r == 0)
		r = open_place(place, place->data_path, &file, reterr);
	if (r == 0)
		r = small_file_remove(&file, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	return remove_empty_parents(place->host->root_fd, place->data_path, place->kept_levels,
				    reterr);
}
