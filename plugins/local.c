/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local - a directory or block device of this node as a volume: kubelet's local plugin
 *
 * The pod's mount is a bind of the directory, or of the staging directory when the source is a
 * block device; which of the two it is only a worker can find out, so the stages do. The source is
 * opened once and named by its descriptor from then on.
 *
 * Unlike kubelet, a repeated set-up checks that what is mounted is this volume's source, and
 * finishes an ownership change that was interrupted. Nothing here removes anything but an empty
 * target directory, and nothing is mounted over what is mounted already.
 */
#include "plugins/local.h"

#include "base/cleanup.h"
#include "mount/bind/options.h"
#include "mount/capacity/capacity.h"
#include "mount/remove/restore_lock.h"
#include "plugins/layout.h"
#include "plugins/pod_target.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>

/* ---- SetUpAt ---- */

struct local_mounter {
	const struct plugin_host *host;
	struct local_source source;
	struct mount_attributes attributes;
	char *target_path; /* relative to the root directory */
	char *volume_name;
	bool is_staged; /* a device, if it is one */
	bool has_fs_group, wants_map;
	bool idmapped_later;  /* by the runtime: see local.h */
	int64_t expand_bytes; /* the claim is to become so large; 0 it is */
	struct pod_target_group group;

	int source_fd; /* what is bound: the directory, or the staging directory */
	dev_t source_device;
	ino_t source_inode;
	struct mount_origin origin;   /* of the source, where a group is to be given */
	gid_t source_gid, target_gid; /* of the directory; as the pod sees it, once mounted */
	struct place target;
	int target_fd;
	bool already_mounted;
	bool must_own; /* ownership is wanted and no other pod uses the volume */
	int map_fd;    /* the group is a map of the mount, so nothing is to be owned; or -EBADF */
};

static void local_mounter_free(void *data)
{
	struct local_mounter *mounter = data;

	if (!mounter)
		return;
	pod_target_group_done(&mounter->group);
	local_source_done(&mounter->source);
	free(mounter->origin.path);
	free(mounter->target_path);
	free(mounter->volume_name);
	(void) close_keep_errno(mounter->source_fd);
	(void) close_keep_errno(mounter->target_fd);
	(void) close_keep_errno(mounter->map_fd);
	place_done(&mounter->target);
	free(mounter);
}

static bool gives_group(const struct local_mounter *mounter)
{
	return mounter->has_fs_group && !(mounter->attributes.set & MOUNT_ATTR_RDONLY);
}

/* What a stage does is noted before, and of which device, which only the loop can do. */
static int ask_for_stage(const struct local_mounter *mounter, const struct local_found *found,
			 struct stage_report *report)
{
	int r = local_name_device(&mounter->source, found, report);

	report->error_class = ERROR_TRANSIENT;
	if (r < 0)
		return r;
	report->needs_stage = true;
	return failed_plain(&report->failure, -ECANCELED, "the device '%s' is staged first",
			    mounter->source.path);
}

/* A device is not bound itself: its staging directory is. */
static int use_staging_directory(struct local_mounter *mounter, const struct local_found *device,
				 struct failure *reterr)
{
	struct mount_facts facts;
	int r;

	mounter->source_fd = open_beneath(mounter->host->root_fd, mounter->source.staging,
					  O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	if (mounter->source_fd < 0)
		return mounter->source_fd;
	r = fd_facts(mounter->source_fd, &facts, reterr);
	if (r < 0)
		return r;
	if (!facts.is_mount_root || device->device == 0 ||
	    !local_staged_device_matches(mounter->host, &facts, device->device))
		return failed_plain(reterr, -ENODEV, "device '%s' is not mounted at '%s'",
				    mounter->source.path, mounter->source.staging);
	mounter->source_device = facts.device;
	mounter->source_inode = facts.inode;
	return 0;
}

/* Its limit may have been raised when its object was; here it is known to be. However it fails, the
 * volume is used as large as it is. */
static void expand(const struct local_mounter *mounter, const struct local_found *found,
		   struct stage_report *report)
{
	int r = 0;

	if (mounter->expand_bytes == 0)
		return;
	r = capacity_grow_at(mounter->source.path, mounter->source.mark,
			     (uint64_t) mounter->expand_bytes, &report->not_grown);
	if (r == 0 && found->kind == LOCAL_IMAGE_FILE)
		r = local_image_settle(&mounter->source, found->fd, mounter->source_fd,
				       &report->not_grown);
	if (r == 0)
		report->grown_bytes = mounter->expand_bytes;
	report->growth_error = r;
	report->grows_later = r < 0;
}

/* Other volumes may have the same files, or some of them: their set-ups come before or after. */
static int name_source(struct local_mounter *mounter, struct stage_report *report)
{
	int r;

	if (!gives_group(mounter))
		return STAGE_NEXT;
	r = mount_table_origin(mounter->host->mount_table, mounter->source_fd, &mounter->origin,
			       &report->failure);
	if (r < 0)
		return r;
	report->source = (struct stage_source){ .device = mounter->origin.device,
						.inode = mounter->source_inode,
						.path = mounter->origin.path };
	return STAGE_NEXT;
}

/* Once for directory and device alike; from here on the source is a descriptor. */
static int look_up_source(void *data, struct stage_report *report)
{
	struct local_mounter *mounter = data;
	cleanup_free char *file_system_options = NULL;
	struct local_found found;
	int r;

	/* Options that only a file system understands have no meaning on a bind; they reached it
	 * when its device was mounted. */
	r = mount_options_split(mounter->source.options, &mounter->attributes, &file_system_options,
				&report->failure);
	if (r < 0)
		return r;

	r = local_look_up(&mounter->source, false, &found, &report->failure);
	if (r < 0)
		return r;
	if (found.kind != LOCAL_DIRECTORY) {
		r = mounter->is_staged ? use_staging_directory(mounter, &found, &report->failure)
				       : ask_for_stage(mounter, &found, report);
		if (r == 0)
			expand(mounter, &found, report);
		(void) close(found.fd);
		return r < 0 ? r : name_source(mounter, report);
	}
	r = restore_lock_check(found.fd, mounter->source.path, &report->failure);
	if (r < 0) {
		(void) close(found.fd);
		return r;
	}
	expand(mounter, &found, report);

	mounter->source_fd = found.fd;
	mounter->source_device = found.stat.st_dev;
	mounter->source_inode = found.stat.st_ino;
	return name_source(mounter, report);
}

/* The target was there before: is it mounted, and with the right source? */
static int check_target(struct local_mounter *mounter, struct stage_report *report)
{
	struct mount_facts facts;
	int r = fd_facts(mounter->target_fd, &facts, &report->failure);

	if (r < 0)
		return r;
	if (!facts.is_mount_root)
		return 0;
	if (facts.device != mounter->source_device || facts.inode != mounter->source_inode) {
		/* Something is mounted: a teardown must take it away. */
		report->error_class = ERROR_UNCERTAIN;
		return failed_plain(&report->failure, -EBUSY,
				    "'%s' is mounted already, but not with '%s'",
				    mounter->target.path, mounter->source.path);
	}
	mounter->already_mounted = true;
	mounter->target_gid = facts.gid;
	report->mount_id = facts.mount_id;
	report->mount_mark = mount_mark(facts.mount_id, facts.device, facts.inode);
	return 0;
}

struct user_search {
	const char *own_pod; /* its directory, with a slash at the end */
};

/* What the pod itself has mounted, its sub-paths too, is of the same group. */
static int visit_user(const struct mount_entry *entry, void *userdata)
{
	const struct user_search *search = userdata;

	return strncmp(entry->mount_point, search->own_pod, strlen(search->own_pod)) != 0;
}

/* May the group be changed? Not while another pod uses the volume. */
static int check_other_users(struct local_mounter *mounter, struct stage_report *report)
{
	cleanup_free char *prefix = layout_absolute(mounter->host->root_dir, "pods/");
	cleanup_free char *own_pod = NULL;
	struct user_search search;
	int r;

	if (prefix)
		own_pod = strndup(mounter->target.path,
				  strlen(prefix) +
					  strcspn(mounter->target.path + strlen(prefix), "/") + 1);
	if (!own_pod)
		return failed(&report->failure, -ENOMEM, "cannot search for other users of '%s'",
			      mounter->source.path);
	search = (struct user_search){ own_pod };
	r = mount_table_overlaps(mounter->host->mount_table, mounter->source_fd, prefix, visit_user,
				 &search, &report->failure);
	if (r < 0)
		return r;
	mounter->must_own = r == 0;
	if (r > 0 && !mounter->already_mounted &&
	    mounter->source_gid != mounter->group.ownership.gid)
		stage_event_add(report, false, "Warning", "AlreadyMountedVolume",
				"fsGroup %lu is wanted for volume '%s', but another pod has it "
				"mounted with group %lu: the volume may not be shareable",
				(unsigned long) mounter->group.ownership.gid, mounter->volume_name,
				(unsigned long) mounter->source_gid);
	return 0;
}

/* By a map where the pod asks for it, else by a walk. What is mounted already stays as it is: its
 * map shows in the group that its root has there. */
static int plan_ownership(struct local_mounter *mounter, struct stage_report *report)
{
	struct stat source;
	gid_t seen;

	/* Only now: another set-up of the same files may just have changed it. */
	if (fstat(mounter->source_fd, &source) < 0)
		return failed(&report->failure, -errno, "cannot inspect '%s'",
			      mounter->source.path);
	mounter->source_gid = source.st_gid;
	seen = mounter->already_mounted ? mounter->target_gid : mounter->source_gid;
	if (mounter->wants_map && seen == mounter->group.ownership.gid)
		return 0;
	if (mounter->wants_map && !mounter->already_mounted)
		mounter->map_fd = fs_group_map_open(mounter->host, mounter->volume_name, seen,
						    mounter->group.ownership.gid,
						    mounter->idmapped_later, report);
	return mounter->map_fd >= 0 ? 0 : check_other_users(mounter, report);
}

static int prepare_target(void *data, struct stage_report *report)
{
	struct local_mounter *mounter = data;
	const struct plugin_host *host = mounter->host;
	bool made;
	int r;

	r = place_make(host->root_fd, host->root_dir, mounter->target_path, 0750, &mounter->target,
		       &report->failure);
	if (r < 0)
		return r;
	mounter->target_fd = make_directory(&mounter->target, 0750, &made, &report->failure);
	if (mounter->target_fd < 0)
		return mounter->target_fd;
	if (!made) {
		r = check_target(mounter, report);
		if (r < 0)
			return r;
	}

	if (gives_group(mounter)) {
		r = plan_ownership(mounter, report);
		if (r < 0)
			return r;
	}
	if (mounter->already_mounted && !mounter->must_own)
		return STAGE_LIST_DONE;
	return STAGE_NEXT;
}

static void note_bind(const struct local_mounter *mounter, struct stage_report *report)
{
	if (report->mount_id != 0)
		report->mount_mark =
			mount_mark(report->mount_id, mounter->source_device, mounter->source_inode);
	/* With attributes of its own the mount may be read-only where its source is not. */
	if (!mounter->attributes.set && !mounter->attributes.clear)
		report->file_system =
			file_system_identify(mounter->source_fd, (uint64_t) mounter->source_device);
}

static int bind_with_map(struct local_mounter *mounter, struct stage_report *report)
{
	struct mount_attributes mapped = mounter->attributes;

	mapped.set |= MOUNT_ATTR_IDMAP;
	mapped.userns_fd = mounter->map_fd;
	return bind_at_with_id(mounter->source_fd, mounter->target_fd, &mapped, &report->mount_id,
			       &report->failure);
}

/* The mount is there, without its map: what would have been done without one comes now. */
static int own_without_map(struct local_mounter *mounter, struct stage_report *report)
{
	int r;

	fs_group_map_refused(mounter->volume_name, &report->failure, report);
	report->failure.error = 0; /* the set-up goes on, and may fail for another reason */
	report->failure.text[0] = '\0';
	r = check_other_users(mounter, report);
	if (r < 0) {
		report->error_class = ERROR_UNCERTAIN;
		return r;
	}
	return mounter->must_own ? STAGE_NEXT : STAGE_LIST_DONE;
}

static int take_target_back(struct local_mounter *mounter, struct stage_report *report)
{
	/* A descriptor inside would keep the mount busy. */
	mounter->target_fd = close_keep_errno(mounter->target_fd);
	if (cleanup_mount_point(&mounter->target, NULL) < 0)
		report->error_class = ERROR_UNCERTAIN;
	return failure_prefix(&report->failure, "cannot bind '%s' to '%s'", mounter->source.path,
			      mounter->target.path);
}

static int bind_source(void *data, struct stage_report *report)
{
	struct local_mounter *mounter = data;
	int r;

	if (mounter->already_mounted)
		return STAGE_NEXT;
	if (mounter->map_fd >= 0 && bind_with_map(mounter, report) == 0) {
		note_bind(mounter, report);
		return STAGE_LIST_DONE;
	}
	r = bind_at_with_id(mounter->source_fd, mounter->target_fd, &mounter->attributes,
			    &report->mount_id, &report->failure);
	if (r < 0)
		return take_target_back(mounter, report);
	note_bind(mounter, report);
	if (report->mount_id == 0) /* the fallback cannot tell */
		r = pod_target_note_mount(&mounter->target, report);
	if (r < 0)
		return r;
	if (mounter->map_fd >= 0)
		return own_without_map(mounter, report);
	return mounter->must_own ? STAGE_NEXT : STAGE_LIST_DONE;
}

static int apply_ownership(void *data, struct stage_report *report)
{
	struct local_mounter *mounter = data;
	cleanup_close int fd = -EBADF;

	/* Whatever happens here, the mount is there. */
	report->error_class = ERROR_UNCERTAIN;

	/* The pod's own mount and not the source: its attributes hold for this walk too. */
	fd = open_beneath(mounter->target.parent_fd, mounter->target.name, O_PATH | O_DIRECTORY,
			  PATH_NO_SYMLINKS_ANY_MOUNT, &report->failure);
	return fd < 0 ? fd
		      : pod_target_give_group(&mounter->group, fd, mounter->source_device,
					      mounter->source.path, report);
}

/* A large one: in an IO slot of its device. */
static int finish_ownership(void *data, struct stage_report *report)
{
	struct local_mounter *mounter = data;

	return pod_target_finish_group(&mounter->group, mounter->source.path, report);
}

/* Only where the size means something. */
static int64_t expand_bytes(const struct volume_request *request)
{
	const struct persistent_volume *pv = spec_pv(request->spec);

	return pv && *(pv->origin.capacity ?: "") ? pod_target_growth(request) : 0;
}

static int local_new_mounter(const struct volume_request *request, struct stage_list *ret,
			     struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("look up the source", look_up_source),
		WORKER_STAGE("prepare the target", prepare_target),
		WORKER_STAGE("bind the source", bind_source),
		WORKER_STAGE("apply ownership", apply_ownership),
		{ .name = "apply ownership to a large volume",
		  .place = STAGE_LONG,
		  .run = finish_ownership },
	};
	const struct pod *pod = request->pod ? request->pod->pod : NULL;
	struct local_mounter *mounter;
	int r;

	assert(request->host && request->spec && request->pod_uid);

	mounter = calloc(1, sizeof(*mounter));
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	mounter->host = request->host;
	mounter->source_fd = mounter->target_fd = mounter->map_fd = -EBADF;
	mounter->target = PLACE_EMPTY;
	mounter->is_staged = request->is_staged;
	mounter->has_fs_group = pod && pod->has_fs_group;
	mounter->wants_map = pod && pod->fs_group_idmap;
	mounter->idmapped_later = pod && pod->user_namespace;
	pod_target_take_group(&mounter->group, pod);
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, local_mounter_free };

	mounter->expand_bytes = expand_bytes(request);
	r = local_source_init(request, &mounter->source, reterr);
	if (r == 0)
		r = layout_pod_path(request->pod_uid, "volumes", LOCAL_PLUGIN_NAME,
				    request->spec->name, &mounter->target_path, reterr);
	if (r == 0 && !(mounter->volume_name = strdup(request->spec->name)))
		r = failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

/* ---- queries of the loop ---- */

static const char *local_get_source(const struct volume_spec *spec)
{
	return spec_pv(spec)->local_path;
}

static bool local_can_support(const struct volume_spec *spec)
{
	return spec_pv(spec) && spec_pv(spec)->source == PV_SOURCE_LOCAL;
}

static int local_get_volume_name(const struct volume_spec *spec, char **ret, struct failure *reterr)
{
	*ret = strdup(spec->name);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
}

static struct volume_attributes local_get_attributes(const struct volume_spec *spec)
{
	return (struct volume_attributes){
		.read_only = spec->read_only,
		.managed = !spec->read_only,
		.selinux_relabel = true,
	};
}

static bool local_can_device_mount(const struct volume_spec *spec)
{
	return true;
}

static char *local_get_device_mount_path(const struct volume_request *request)
{
	cleanup_free char *relative = NULL;
	bool block = request->spec && request->spec->block;

	if (layout_child(block ? LOCAL_MAP_BASE : LOCAL_STAGING_BASE, request->volume_name,
			 &relative, NULL) < 0)
		return NULL;
	return layout_absolute(request->host->root_dir, relative);
}

const struct volume_plugin local_volume_plugin = {
	.name = LOCAL_PLUGIN_NAME,
	.can_support = local_can_support,
	.get_volume_name = local_get_volume_name,
	.get_attributes = local_get_attributes,
	.get_source = local_get_source,
	.supports_mount_options = true,
	.mounts_any_type = true,
	.traits = VOLUME_GROWS | VOLUME_IS_ITS_MOUNT | VOLUME_STAGES_DEVICE,
	.can_device_mount = local_can_device_mount,
	.new_mounter = local_new_mounter,
	.new_unmounter = pod_target_new_unmounter,
	.new_device_mounter = local_new_device_mounter,
	.new_device_unmounter = local_new_device_unmounter,
	.new_block_mapper = local_new_block_mapper,
	.new_block_unmapper = local_new_block_unmapper,
	.new_device_unmapper = local_new_device_unmapper,
	.get_path = pod_target_get_path,
	.get_device_mount_path = local_get_device_mount_path,
	.construct_volume_spec = pod_target_construct_volume_spec,
};
