/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_device - MountDevice and UnmountDevice of a local volume whose source is a block device
 *
 * The device's file system is mounted once per node, at the staging directory, and pods get binds
 * of it. Unmounting refuses while any other mount shows the file system, acts only inside the
 * staging base, and afterwards the device must open exclusively. A set-up (local.c) asks for the
 * mount when it finds a device. A directory has none; where the source is one by then, the first
 * stage says so.
 */
#include "plugins/local.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "mount/filesystem/loop_device.h"
#include "mount/path/safe_path.h"
#include "plugins/block_map.h"
#include "plugins/layout.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Where the descriptor's file really lies: "/dev/loop7"; of an image its path. */
int local_name_device(const struct local_source *source, const struct local_found *found,
		      struct stage_report *report)
{
	char *ret = report->device_path;
	ssize_t length;

	if (found->kind == LOCAL_IMAGE_FILE)
		length = snprintf(ret, sizeof(report->device_path), "%s", source->path);
	else
		length = readlink(fd_path(found->fd).text, ret, sizeof(report->device_path));
	if (length > 0 && (size_t) length < sizeof(report->device_path)) {
		ret[length] = '\0';
		return 0;
	}
	ret[0] = '\0';
	return failed_plain(&report->failure, -ENAMETOOLONG,
			    "the path of the device '%s' is too long", source->path);
}

struct staged_search {
	uint64_t mount_id;
	dev_t device;
};

/* Is it the mount, and the device its source, or of one btrfs with that? */
static int visit_staged(const struct mount_entry *entry, void *userdata)
{
	const struct staged_search *search = userdata;
	struct stat st;

	if (entry->mount_id != search->mount_id || entry->source[0] != '/' ||
	    stat(entry->source, &st) < 0 || !S_ISBLK(st.st_mode))
		return 0;
	return st.st_rdev == search->device ||
	       (strcmp(entry->type, "btrfs") == 0 && btrfs_has_devices(st.st_rdev, search->device));
}

/* btrfs shows a number of its own for each subvolume, and another in the mount table: neither is
 * the device's. So the mount is found by its id, and its source decides. */
bool local_staged_device_matches(const struct plugin_host *host, const struct mount_facts *facts,
				 dev_t device)
{
	struct staged_search search = { facts->mount_id, device };

	if (facts->device == device)
		return true;
	if (mount_table_refresh(host->mount_table, NULL) < 0)
		return false;
	return mount_table_walk(host->mount_table, visit_staged, &search) > 0;
}

/* ---- MountDevice ---- */

struct device_mounter {
	const struct plugin_host *host;
	struct local_source source;
	char device[LOCAL_DEVICE_BYTES]; /* where local.path leads, links resolved */
	dev_t device_number;
	struct place staging;
	int staging_fd;
	int image_fd, loop_fd; /* of an image; else -EBADF */
};

static void device_mounter_free(void *data)
{
	struct device_mounter *mounter = data;

	if (!mounter)
		return;
	local_source_done(&mounter->source);
	(void) close_keep_errno(mounter->staging_fd);
	(void) close_keep_errno(mounter->image_fd);
	(void) close_keep_errno(mounter->loop_fd);
	place_done(&mounter->staging);
	free(mounter);
}

/* A directory needs no device mounted: that ends the list, and well. */
static int find_device(void *data, struct stage_report *report)
{
	struct device_mounter *mounter = data;
	struct local_found found;
	int r;

	r = local_look_up(&mounter->source, true, &found, &report->failure);
	if (r < 0)
		return r;
	if (found.kind == LOCAL_IMAGE_FILE)
		mounter->image_fd = found.fd;
	mounter->device_number = found.device;
	r = found.kind == LOCAL_DIRECTORY ? STAGE_LIST_DONE
					  : local_name_device(&mounter->source, &found, report);
	if (found.kind != LOCAL_IMAGE_FILE)
		(void) close(found.fd);
	if (r != 0)
		return r;
	(void) snprintf(mounter->device, sizeof(mounter->device), "%s", report->device_path);
	report->device_path[0] = '\0';
	return STAGE_NEXT;
}

/* Mounted already by podvold means done; foreign, refused. Nothing is stacked. Until it is known
 * that nothing else is mounted what the table says of the device stays, its path too: by that the
 * teardown knows what podvold staged. */
static int prepare_staging(void *data, struct stage_report *report)
{
	struct device_mounter *mounter = data;
	const struct plugin_host *host = mounter->host;
	struct mount_facts facts;
	int r;

	r = place_make(host->root_fd, host->root_dir, mounter->source.staging, 0750,
		       &mounter->staging, &report->failure);
	if (r < 0)
		return r;
	mounter->staging_fd = make_directory(&mounter->staging, 0750, NULL, &report->failure);
	if (mounter->staging_fd < 0)
		return mounter->staging_fd;
	r = fd_facts(mounter->staging_fd, &facts, &report->failure);
	if (r < 0)
		return r;
	if (facts.is_mount_root &&
	    (mounter->device_number == 0 ||
	     !local_staged_device_matches(host, &facts, mounter->device_number))) {
		report->error_class = ERROR_TRANSIENT;
		return failed_plain(&report->failure, -EBUSY,
				    "'%s' is mounted already, but not with '%s'",
				    mounter->staging.path, mounter->source.path);
	}
	(void) snprintf(report->device_path, sizeof(report->device_path), "%s", mounter->device);
	if (!facts.is_mount_root)
		return STAGE_NEXT;
	report->mount_id = facts.mount_id;
	report->mount_mark = mount_mark(facts.mount_id, facts.device, facts.inode);
	return STAGE_LIST_DONE;
}

/* Not knowing it only means that the mount is not watched. */
static void note_staged_mount(const struct device_mounter *mounter, struct stage_report *report)
{
	struct mount_facts facts;

	if (place_facts(&mounter->staging, &facts, NULL) < 0 || !facts.is_mount_root)
		return;
	report->mount_id = facts.mount_id;
	report->mount_mark = mount_mark(facts.mount_id, facts.device, facts.inode);
}

/* What is not known now the mount says. */
static int probe_content(void *data, struct stage_report *report)
{
	struct device_mounter *mounter = data;
	int r = 0;

	/* What is recorded is the image: the number of its device means nothing once that went. */
	if (mounter->image_fd >= 0)
		r = local_image_attach(&mounter->source, mounter->image_fd, &mounter->loop_fd,
				       mounter->device, &report->failure);
	if (r < 0)
		return r;
	if (format_is_due(mounter->device, NULL) > 0)
		report->unfinished = UNFINISHED_FORMAT;
	return STAGE_NEXT;
}

/* A file system that is smaller than its image is of use all the same. */
static void settle_image(const struct device_mounter *mounter)
{
	struct failure failure = { .error = 0 };
	cleanup_close int fd = -EBADF;
	int r;

	if (mounter->image_fd < 0 || mounter->source.read_only)
		return;
	fd = open_beneath(mounter->staging.parent_fd, mounter->staging.name, O_PATH | O_DIRECTORY,
			  PATH_NO_SYMLINKS_ANY_MOUNT, &failure);
	r = fd < 0 ? fd : local_image_settle(&mounter->source, mounter->image_fd, fd, &failure);
	if (r < 0)
		log_message(LOG_WARNING, "cannot grow the file system in '%s': %s",
			    mounter->source.path, failure.text);
}

static int mount_device(void *data, struct stage_report *report)
{
	struct device_mounter *mounter = data;
	const struct format_request request = {
		.device_path = mounter->device,
		.type = mounter->source.fs_type,
		.options = mounter->source.options,
		.target_fd = mounter->staging_fd,
		.tools = { .limit_usec = mounter->host->tool_limit_usec,
			   .cancelled = report->cancelled,
			   .pid = report->tool_pid },
	};
	enum format_error kind = FORMAT_OK;
	int r;

	r = format_and_mount(&request, &kind, &report->failure);
	if (r == 0) {
		note_staged_mount(mounter, report);
		settle_image(mounter);
		return STAGE_NEXT;
	}

	mounter->staging_fd = close_keep_errno(mounter->staging_fd);
	(void) remove_directory(&mounter->staging, NULL);
	if (kind == FORMAT_FILESYSTEM_MISMATCH)
		stage_event_add(report, true, "Warning", "FailedMountOnFilesystemMismatch", "%s",
				report->failure.text);
	return r;
}

int local_new_device_mounter(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("look up the source", find_device),
		WORKER_STAGE("prepare the staging directory", prepare_staging),
		WORKER_STAGE("probe the device", probe_content),
		WORKER_STAGE("mount the device", mount_device),
	};
	struct device_mounter *mounter;
	int r;

	assert(request->host && request->spec);

	mounter = calloc(1, sizeof(*mounter));
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	mounter->host = request->host;
	mounter->staging_fd = mounter->image_fd = mounter->loop_fd = -EBADF;
	mounter->staging = PLACE_EMPTY;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, device_mounter_free };
	r = local_source_init(request, &mounter->source, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

/* ---- UnmountDevice ---- */

struct device_unmounter {
	const struct plugin_host *host;
	bool staged_nothing; /* known: any mount at its place is another's */
	char *staging_path;  /* relative; NULL: the recorded path is not a staging path */
	char *device;        /* recorded; "" none */
	struct place staging;
};

static void device_unmounter_free(void *data)
{
	struct device_unmounter *unmounter = data;

	if (!unmounter)
		return;
	free(unmounter->staging_path);
	free(unmounter->device);
	place_done(&unmounter->staging);
	free(unmounter);
}

struct reference_search {
	const char *staging;
	struct failure *reterr;
};

/* One at our own place goes with our mount: what was stacked there, and what a peer of the mount
 * around it got by propagation, beneath our mount. */
static int note_reference(const struct mount_entry *entry, void *userdata)
{
	const struct reference_search *search = userdata;

	if (strcmp(entry->mount_point, search->staging) == 0)
		return 0;
	return failed_plain(search->reterr, -EBUSY,
			    "the device is still mounted by other references: '%s'",
			    entry->mount_point);
}

struct origin_search {
	uint64_t mount_id; /* 0: it cannot be asked, and its place decides */
	const char *mount_point, *device;
	bool shows_device;
};

/* btrfs has one behind numbers of its own; the source of another type without is any text. */
static bool has_device(const struct mount_entry *entry)
{
	return major(entry->device) != 0 || strcmp(entry->type, "btrfs") == 0;
}

/* The number of its device; 0: none is known. Only nodes in /dev are looked at: a server behind
 * another's source may hang. */
static dev_t number_of(const struct mount_entry *entry)
{
	struct stat st;

	if (major(entry->device) != 0)
		return entry->device;
	if (strncmp(entry->source, "/dev/", strlen("/dev/")) != 0 || stat(entry->source, &st) < 0)
		return 0;
	return S_ISBLK(st.st_mode) ? st.st_rdev : 0;
}

/* The node may have gone; of an image its path is recorded; btrfs shows any of its devices. Without
 * a record no mount matches: the source of one may be empty, too. */
static bool is_origin(const struct mount_entry *entry, const char *device)
{
	struct stat st;
	dev_t number;

	if (device[0] == '\0' || !has_device(entry))
		return false;
	number = number_of(entry);
	if (strcmp(entry->source, device) == 0 ||
	    (number != 0 && loop_device_has_image(entry->source, number, device)))
		return true;
	if (number == 0 || stat(device, &st) < 0 || !S_ISBLK(st.st_mode))
		return false;
	return st.st_rdev == number ||
	       (major(entry->device) == 0 && btrfs_has_devices(number, st.st_rdev));
}

static int note_origin(const struct mount_entry *entry, void *userdata)
{
	struct origin_search *search = userdata;

	if (search->mount_id != 0 ? entry->mount_id == search->mount_id
				  : strcmp(entry->mount_point, search->mount_point) == 0)
		search->shows_device = is_origin(entry, search->device);
	return 0;
}

/* What is staged shows the device that was recorded before its stage. */
static int check_origin(const struct device_unmounter *unmounter, uint64_t mount_id,
			struct failure *reterr)
{
	struct origin_search search = { .mount_id = mount_id,
					.mount_point = unmounter->staging.path,
					.device = unmounter->device };
	int r = mount_table_refresh(unmounter->host->mount_table, reterr);

	if (r < 0)
		return r;
	(void) mount_table_walk(unmounter->host->mount_table, note_origin, &search);
	if (search.shows_device && !unmounter->staged_nothing)
		return 0;
	return failed_plain(reterr, -ENOTEMPTY,
			    "a mount on '%s' was not made by podvold, which does not unmount what "
			    "it did not mount; to do: unmount it",
			    unmounter->staging.path);
}

static int check_references(void *data, struct stage_report *report)
{
	struct device_unmounter *unmounter = data;
	struct reference_search references = { .reterr = &report->failure };
	const struct plugin_host *host = unmounter->host;
	cleanup_close int fd = -EBADF;
	struct mount_facts facts;
	int r;

	/* Nothing has been touched yet: whatever fails here changes no state. */
	report->error_class = ERROR_TRANSIENT;
	if (!unmounter->staging_path)
		return STAGE_LIST_DONE;

	r = place_open(host->root_fd, host->root_dir, unmounter->staging_path, &unmounter->staging,
		       &report->failure);
	if (r == 0)
		r = place_facts(&unmounter->staging, &facts, &report->failure);
	if (r == -ENOENT) /* a directory, or unmounted by the attempt that found the device open */
		return unmounter->device[0] == '\0' ? STAGE_LIST_DONE : STAGE_NEXT;
	if (r == 0 && !facts.is_mount_root)
		return STAGE_NEXT;
	if (is_corrupted_mount_error(r))
		return check_origin(unmounter, 0, &report->failure) ?: STAGE_NEXT;
	if (r == 0)
		r = check_origin(unmounter, facts.mount_id, &report->failure);
	if (r < 0)
		return r;

	fd = open_beneath(unmounter->staging.parent_fd, unmounter->staging.name,
			  O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS_ANY_MOUNT, &report->failure);
	if (fd < 0)
		return fd;
	references.staging = unmounter->staging.path;
	r = mount_table_references(host->mount_table, fd, "", note_reference, &references,
				   &report->failure);
	if (r < 0 && r != -ENOENT)
		return r;
	/* Its number may be another's as soon as it went. */
	if (loop_device_goes_by_itself(unmounter->device))
		unmounter->device[0] = '\0';
	return STAGE_NEXT;
}

static int unmount_device(void *data, struct stage_report *report)
{
	struct device_unmounter *unmounter = data;

	report->error_class = ERROR_UNCERTAIN;
	if (unmounter->staging.parent_fd < 0)
		return STAGE_NEXT;
	return cleanup_mount_point(&unmounter->staging, &report->failure);
}

static int check_device_is_free(void *data, struct stage_report *report)
{
	const struct device_unmounter *unmounter = data;

	report->error_class = ERROR_UNCERTAIN;
	return block_device_check_free(unmounter->device, &report->failure);
}

/* The recorded path decides where there is one; only a direct child of the staging base is used. */
static int find_staging_path(const struct volume_request *request, char **ret,
			     struct failure *reterr)
{
	cleanup_free char *base = layout_absolute(request->host->root_dir, LOCAL_STAGING_BASE "/");
	const char *recorded = request->device_mount_path ? request->device_mount_path : "";

	if (!base)
		return failed(reterr, -ENOMEM, "cannot unmount volume '%s'", request->volume_name);
	if (recorded[0] == '\0')
		return layout_child(LOCAL_STAGING_BASE, request->volume_name, ret, reterr);
	if (strncmp(recorded, base, strlen(base)) != 0 ||
	    !layout_is_component(recorded + strlen(base))) {
		*ret = NULL;
		return 0;
	}
	return layout_child(LOCAL_STAGING_BASE, recorded + strlen(base), ret, reterr);
}

int local_new_device_unmounter(const struct volume_request *request, struct stage_list *ret,
			       struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("check for other mounts of the device", check_references),
		WORKER_STAGE("unmount the device", unmount_device),
		WORKER_STAGE("check that the device is free", check_device_is_free),
	};
	struct device_unmounter *unmounter;
	int r;

	assert(request->host && request->volume_name);

	unmounter = calloc(1, sizeof(*unmounter));
	if (!unmounter)
		return failed(reterr, -ENOMEM, "cannot unmount volume '%s'", request->volume_name);
	unmounter->host = request->host;
	unmounter->staging = PLACE_EMPTY;
	unmounter->staged_nothing = request->staged_nothing;
	unmounter->device = strdup(request->device_path ?: "");
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), unmounter, device_unmounter_free };
	r = unmounter->device
		    ? find_staging_path(request, &unmounter->staging_path, reterr)
		    : failed(reterr, -ENOMEM, "cannot unmount volume '%s'", request->volume_name);
	if (r < 0)
		stage_list_done(ret);
	return r;
}
