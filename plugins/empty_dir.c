/* SPDX-License-Identifier: Apache-2.0 */
/*
 * empty_dir - a pod's own scratch space on disk, in memory or in huge pages: kubelet's emptyDir
 *
 * A "ready" file outside the volume says that set-up was finished, so that a repetition after a
 * crash neither mounts twice nor changes owners again under a running pod. Teardown goes by what is
 * there and not by what a manifest says: a tmpfs or hugetlbfs is unmounted first; any other mount
 * on the directory is somebody else's and is refused. The content goes by
 * remove_empty_dir_contents() alone, which never leaves the directory's file system.
 */
#include "plugins/empty_dir.h"

#include "base/cleanup.h"
#include "plugins/layout.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#define EMPTY_DIR_PLUGIN_NAME "kubernetes.io/empty-dir"
#define HUGE_PAGES_PREFIX     "HugePages-"

enum { STACKED_MOUNTS_MAX = 16 }; /* how many mounts on one directory are taken away */

/* ---- what the medium says: pure ---- */

/* What is unknown is refused: silently writing to disk would be worse. */
int empty_dir_medium_parse(const char *medium, enum empty_dir_medium *ret, struct failure *reterr)
{
	assert(medium && ret);
	if (medium[0] == '\0')
		*ret = MEDIUM_DEFAULT;
	else if (strcmp(medium, "Memory") == 0)
		*ret = MEDIUM_MEMORY;
	else if (strcmp(medium, "HugePages") == 0 ||
		 strncmp(medium, HUGE_PAGES_PREFIX, strlen(HUGE_PAGES_PREFIX)) == 0)
		*ret = MEDIUM_HUGE_PAGES;
	else
		return failed_plain(reterr, -EINVAL, "unknown storage medium \"%s\"", medium);
	return 0;
}

/* Limits come from manifests: their sum may be more than there are numbers. */
static int64_t saturated_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* What the pod's cgroup would get: known only when every container declares a limit. */
static int64_t pod_memory_limit(const struct pod *pod)
{
	int64_t regular = 0, init = 0;

	for (size_t i = 0; i < pod->container_count; i++) {
		const struct pod_container *container = &pod->containers[i];
		int64_t limit = container->memory_limit_bytes;

		if (container->type == CONTAINER_EPHEMERAL)
			continue;
		if (limit <= 0)
			return 0;
		if (container->type == CONTAINER_REGULAR)
			regular = saturated_sum(regular, limit);
		else if (limit > init)
			init = limit;
	}
	return init > regular ? init : regular;
}

/* A limit counts when it is set and not above what is already known; 0 stands for unknown. */
static int64_t lower_bound(int64_t current, int64_t limit)
{
	return limit > 0 && (current == 0 || limit <= current) ? limit : current;
}

/* The least of what the node, the pod and the volume allow; 0 when none of them says. */
int64_t empty_dir_memory_size(const struct pod *pod, const struct pod_volume *source,
			      int64_t allocatable_bytes)
{
	int64_t size = allocatable_bytes;

	if (pod)
		size = lower_bound(size, pod_memory_limit(pod));
	if (source->has_size_limit)
		size = lower_bound(size, source->size_limit_bytes);
	return size;
}

/* Compared as numbers: "2Mi" and "2048Ki" are the same size. */
static int64_t page_bytes(const char *page_size)
{
	struct quantity quantity;

	return quantity_parse(page_size, &quantity, NULL) < 0 ? 0 : quantity_value(&quantity);
}

/* As the container wrote it, which is what kubelet gives to the mount. */
int empty_dir_page_size(const struct pod *pod, const char *medium, const char **ret,
			struct failure *reterr)
{
	bool any = strcmp(medium, "HugePages") == 0;
	const char *wanted = any ? NULL : medium + strlen(HUGE_PAGES_PREFIX);
	const char *found = NULL;

	for (size_t i = 0; pod && i < pod->container_count; i++) {
		const struct pod_container *container = &pod->containers[i];

		for (size_t k = 0; k < container->huge_page_count; k++) {
			const char *size = container->huge_pages[k].page_size;

			if (!any && page_bytes(size) != page_bytes(wanted))
				continue;
			if (found && page_bytes(size) != page_bytes(found))
				return failed_plain(reterr, -EINVAL,
						    "medium HugePages cannot tell between requests "
						    "for multiple huge page sizes: %s and %s",
						    found, size);
			found = size;
		}
	}
	if (!found || page_bytes(found) <= 0)
		return failed_plain(reterr, -EINVAL,
				    "no container requests huge pages for medium %s", medium);
	*ret = found;
	return 0;
}

/* ---- SetUpAt ---- */

struct empty_dir_mounter {
	const struct plugin_host *host;
	char *path;       /* relative: the volume */
	char *ready_path; /* relative: the ready file */
	enum empty_dir_medium medium;
	char options[64]; /* of the mount, for tmpfs and hugetlbfs */
	int64_t page_bytes;
	bool has_fs_group;
	gid_t fs_group;
	struct place place;
	int fd; /* the directory, then what is mounted on it */
	bool mounted;
};

static void empty_dir_mounter_free(void *data)
{
	struct empty_dir_mounter *mounter = data;

	if (!mounter)
		return;
	free(mounter->path);
	free(mounter->ready_path);
	(void) close_keep_errno(mounter->fd);
	place_done(&mounter->place);
	free(mounter);
}

/* The ready file and its directory; a stranger's file in there keeps the directory. */
static int remove_ready(const struct plugin_host *host, const char *ready_path,
			struct failure *reterr)
{
	cleanup(place_done) struct place ready = PLACE_EMPTY;
	int r = place_open(host->root_fd, host->root_dir, ready_path, &ready, reterr);

	if (r == 0)
		r = remove_file(&ready, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	remove_empty_parents(host->root_fd, ready_path, 1);
	return 0;
}

/* Return: 1 ready, 0 not. */
static int look_for_ready(const struct empty_dir_mounter *mounter, struct failure *reterr)
{
	cleanup_close int fd = open_beneath(mounter->host->root_fd, mounter->ready_path, O_PATH,
					    PATH_NO_SYMLINKS, reterr);

	if (fd >= 0)
		return 1;
	return fd == -ENOENT ? 0 : fd;
}

/* A ready volume is done with; one that lost its mount begins anew. */
static int look_at_directory(void *data, struct stage_report *report)
{
	struct empty_dir_mounter *mounter = data;
	const struct plugin_host *host = mounter->host;
	struct mount_facts facts = { 0 };
	bool exists;
	int ready, r;

	r = place_make(host->root_fd, host->root_dir, mounter->path, 0750, &mounter->place,
		       &report->failure);
	if (r < 0)
		return r;
	r = place_facts(&mounter->place, &facts, &report->failure);
	if (r < 0 && r != -ENOENT)
		return r;
	exists = r == 0;
	mounter->mounted = exists && facts.is_mount_root;
	if (mounter->mounted)
		report->mount_id = facts.mount_id;

	ready = look_for_ready(mounter, &report->failure);
	if (ready <= 0)
		return ready;
	if (mounter->medium == MEDIUM_DEFAULT ? exists : mounter->mounted)
		return mounter->medium == MEDIUM_HUGE_PAGES ? STAGE_NEXT : STAGE_LIST_DONE;
	/* Somebody deleted the directory, or its mount went: begin anew, and say so by no file. */
	return remove_ready(host, mounter->ready_path, &report->failure);
}

/* What is mounted on the directory already: right, or somebody else's? */
static int check_mounted(const struct empty_dir_mounter *mounter, struct failure *reterr)
{
	struct statfs fs;

	if (fstatfs(mounter->fd, &fs) < 0)
		return failed(reterr, -errno, "cannot look at '%s'", mounter->place.path);
	if (mounter->medium == MEDIUM_MEMORY && fs.f_type == TMPFS_MAGIC)
		return 0;
	if (mounter->medium != MEDIUM_HUGE_PAGES || fs.f_type != HUGETLBFS_MAGIC)
		return failed_plain(reterr, -EBUSY, "another file system is mounted at '%s'",
				    mounter->place.path);
	if (fs.f_bsize != mounter->page_bytes)
		return failed_plain(reterr, -EBUSY,
				    "'%s' is mounted already with another page size: %ld bytes",
				    mounter->place.path, (long) fs.f_bsize);
	return 0;
}

static int mount_medium(struct empty_dir_mounter *mounter, struct failure *reterr)
{
	const char *path = mounter->place.path;
	char *noswap;
	int r;

	if (mounter->medium == MEDIUM_HUGE_PAGES) {
		r = mount_filesystem("hugetlbfs", "nodev", mounter->options, mounter->fd, reterr);
		return r < 0 ? failure_prefix(reterr, "cannot mount huge pages at '%s'", path) : 0;
	}

	/* Linux before 6.4 and user namespaces do not know "noswap"; the volume may then be swapped
	 * out, as it always could there. */
	r = mount_filesystem("tmpfs", "tmpfs", mounter->options, mounter->fd, reterr);
	noswap = strstr(mounter->options, "noswap");
	if (r == -EINVAL && noswap) {
		*(noswap > mounter->options ? noswap - 1 : noswap) = '\0';
		r = mount_filesystem("tmpfs", "tmpfs", mounter->options, mounter->fd, reterr);
	}
	return r < 0 ? failure_prefix(reterr, "cannot mount a tmpfs at '%s'", path) : 0;
}

/* 0777, whatever the umask: every container of the pod writes here, as any user. */
static int make_volume(void *data, struct stage_report *report)
{
	struct empty_dir_mounter *mounter = data;
	struct failure *reterr = &report->failure;
	int r;

	mounter->fd = make_directory(&mounter->place, 0777, NULL, reterr);
	if (mounter->fd < 0)
		return mounter->fd;
	if (mounter->mounted) {
		report->error_class = ERROR_UNCERTAIN; /* there is a mount, whoever made it */
		return check_mounted(mounter, reterr);
	}
	r = change_mode(mounter->fd, 0777, reterr);
	if (r < 0 || mounter->medium == MEDIUM_DEFAULT)
		return r;
	return mount_medium(mounter, reterr);
}

static int own_volume(void *data, struct stage_report *report)
{
	struct empty_dir_mounter *mounter = data;
	struct ownership ownership = { .gid = mounter->fs_group, .progress = report->progress };
	struct ownership_counts counts;
	cleanup_close int fd = -EBADF;
	int r;

	report->error_class = ERROR_UNCERTAIN;
	if (!mounter->has_fs_group)
		return STAGE_NEXT;

	/* What the pod will see: the descriptor from before shows the directory below the mount. */
	fd = open_beneath(mounter->place.parent_fd, mounter->place.name, O_PATH | O_DIRECTORY,
			  PATH_NO_SYMLINKS_ANY_MOUNT, &report->failure);
	if (fd < 0)
		return fd;
	r = ownership_apply(fd, &ownership, report->cancelled, &counts, &report->failure);
	return r < 0 ? r : STAGE_NEXT;
}

/* Which mount it is now; not knowing it only means that nobody watches it. */
static void note_mount_id(const struct empty_dir_mounter *mounter, struct stage_report *report)
{
	struct mount_facts facts;

	if (mounter->medium != MEDIUM_DEFAULT && !mounter->mounted &&
	    place_facts(&mounter->place, &facts, NULL) == 0 && facts.is_mount_root)
		report->mount_id = facts.mount_id;
}

/* Last of all: a set-up that broke off before is repeated as a whole. */
static int write_ready(void *data, struct stage_report *report)
{
	struct empty_dir_mounter *mounter = data;
	const struct plugin_host *host = mounter->host;
	cleanup(place_done) struct place ready = PLACE_EMPTY;
	cleanup_close int fd = -EBADF;
	int r;

	r = place_make(host->root_fd, host->root_dir, mounter->ready_path, 0750, &ready,
		       &report->failure);
	if (r < 0)
		return r;
	fd = make_file(&ready, 0644, NULL, &report->failure);
	note_mount_id(mounter, report);
	return fd < 0 ? fd : STAGE_NEXT;
}

/* Medium, and the options it needs. */
static int choose_medium(struct empty_dir_mounter *mounter, const struct volume_request *request,
			 struct failure *reterr)
{
	const struct pod_volume *source = request->spec->source;
	const struct pod *pod = request->pod ? request->pod->pod : NULL;
	const char *page_size;
	int64_t size;
	int r;

	r = empty_dir_medium_parse(source->medium, &mounter->medium, reterr);
	if (r < 0)
		return r;
	if (mounter->medium == MEDIUM_HUGE_PAGES) {
		r = empty_dir_page_size(pod, source->medium, &page_size, reterr);
		if (r < 0)
			return r;
		mounter->page_bytes = page_bytes(page_size);
		(void) snprintf(mounter->options, sizeof(mounter->options), "pagesize=%s",
				page_size);
	} else if (mounter->medium == MEDIUM_MEMORY) {
		size = empty_dir_memory_size(pod, source, request->host->allocatable_memory_bytes);
		if (size > 0)
			(void) snprintf(mounter->options, sizeof(mounter->options),
					"size=%lld,noswap", (long long) size);
		else
			(void) snprintf(mounter->options, sizeof(mounter->options), "noswap");
	}
	return 0;
}

/* The ready file lies outside the volume, where no container can remove it. */
static int layout_paths(const char *pod_uid, const char *volume_name, char **ret_path,
			char **ret_ready_path, struct failure *reterr)
{
	cleanup_free char *ready_directory = NULL;
	int r;

	r = layout_pod_path(pod_uid, "volumes", EMPTY_DIR_PLUGIN_NAME, volume_name, ret_path,
			    reterr);
	if (r == 0)
		r = layout_pod_path(pod_uid, "plugins", EMPTY_DIR_PLUGIN_NAME, volume_name,
				    &ready_directory, reterr);
	if (r == 0)
		r = layout_child(ready_directory, "ready", ret_ready_path, reterr);
	return r;
}

static int empty_dir_new_mounter(const struct volume_request *request, struct stage_list *ret,
				 struct failure *reterr)
{
	static const struct stage stages[] = {
		{ .name = "look at the directory",
		  .place = STAGE_WORKER,
		  .run = look_at_directory },
		{ .name = "make the volume", .place = STAGE_WORKER, .run = make_volume },
		{ .name = "apply ownership", .place = STAGE_WORKER, .run = own_volume },
		{ .name = "mark it ready", .place = STAGE_WORKER, .run = write_ready },
	};
	const struct pod *pod = request->pod ? request->pod->pod : NULL;
	struct empty_dir_mounter *mounter;
	int r;

	assert(request->host && request->spec && request->spec->source && request->pod_uid);

	mounter = calloc(1, sizeof(*mounter));
	if (!mounter)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->spec->name);
	mounter->host = request->host;
	mounter->fd = -EBADF;
	mounter->place = PLACE_EMPTY;
	mounter->has_fs_group = pod && pod->has_fs_group;
	mounter->fs_group = mounter->has_fs_group ? pod->fs_group : 0;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), mounter, empty_dir_mounter_free };
	r = layout_paths(request->pod_uid, request->spec->name, &mounter->path,
			 &mounter->ready_path, reterr);
	if (r == 0)
		r = choose_medium(mounter, request, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

/* ---- TearDownAt ---- */

struct empty_dir_unmounter {
	const struct plugin_host *host;
	char *path, *ready_path;
};

static void empty_dir_unmounter_free(void *data)
{
	struct empty_dir_unmounter *unmounter = data;

	if (!unmounter)
		return;
	free(unmounter->path);
	free(unmounter->ready_path);
	free(unmounter);
}

/* Only what an emptyDir mounts is ours to take away. */
static int check_medium(const struct place *place, struct failure *reterr)
{
	cleanup_close int fd = open_beneath(place->parent_fd, place->name, O_PATH | O_DIRECTORY,
					    PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	struct statfs fs;

	if (fd < 0)
		return fd;
	if (fstatfs(fd, &fs) < 0)
		return failed(reterr, -errno, "cannot look at '%s'", place->path);
	if (fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC)
		return failed_plain(reterr, -EBUSY,
				    "'%s' carries a mount that is not an emptyDir's: not removed",
				    place->path);
	return 0;
}

static int unmount_medium(const struct place *place, struct failure *reterr)
{
	struct mount_facts facts;
	int r;

	for (int i = 0; i < STACKED_MOUNTS_MAX; i++) {
		r = place_facts(place, &facts, reterr);
		if (r < 0 || !facts.is_mount_root)
			return r;
		r = check_medium(place, reterr);
		if (r == 0)
			r = unmount_place(place, 0, reterr);
		if (r < 0)
			return r;
	}
	return failed_plain(reterr, -EBUSY, "'%s' is still mounted", place->path);
}

static int remove_volume(void *data, struct stage_report *report)
{
	const struct empty_dir_unmounter *unmounter = data;
	const struct plugin_host *host = unmounter->host;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	int r;

	r = remove_ready(host, unmounter->ready_path, &report->failure);
	if (r < 0)
		return r;
	r = place_open(host->root_fd, host->root_dir, unmounter->path, &place, &report->failure);
	if (r == 0)
		r = unmount_medium(&place, &report->failure);
	if (r == 0)
		r = remove_empty_dir_contents(&place, &report->failure);
	if (r < 0 && r != -ENOENT)
		return r;
	remove_empty_parents(host->root_fd, unmounter->path, 1);
	return STAGE_NEXT;
}

static int empty_dir_new_unmounter(const struct volume_request *request, struct stage_list *ret,
				   struct failure *reterr)
{
	static const struct stage stages[] = {
		{ .name = "remove the volume", .place = STAGE_WORKER, .run = remove_volume },
	};
	struct empty_dir_unmounter *unmounter;
	int r;

	assert(request->host && request->volume_name && request->pod_uid);

	unmounter = calloc(1, sizeof(*unmounter));
	if (!unmounter)
		return failed(reterr, -ENOMEM, "cannot remove volume '%s'", request->volume_name);
	unmounter->host = request->host;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), unmounter,
				    empty_dir_unmounter_free };
	r = layout_paths(request->pod_uid, request->volume_name, &unmounter->path,
			 &unmounter->ready_path, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

/* ---- what the loop asks ---- */

static bool empty_dir_can_support(const struct volume_spec *spec)
{
	return !spec->pv && spec->source && spec->source->source == SOURCE_EMPTY_DIR;
}

/* Unique within its pod only; plugin_unique_name() adds the pod. */
static int empty_dir_get_volume_name(const struct volume_spec *spec, char **ret,
				     struct failure *reterr)
{
	*ret = strdup(spec->name);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot name volume '%s'", spec->name);
}

static struct volume_attributes empty_dir_get_attributes(const struct volume_spec *spec)
{
	(void) spec;
	return (struct volume_attributes){ .managed = true, .selinux_relabel = true };
}

static char *empty_dir_get_path(const struct volume_request *request)
{
	cleanup_free char *relative = NULL;

	if (layout_pod_path(request->pod_uid, "volumes", EMPTY_DIR_PLUGIN_NAME,
			    request->volume_name, &relative, NULL) < 0)
		return NULL;
	return layout_absolute(request->host->root_dir, relative);
}

/* The name is all there is to know: teardown goes by what is mounted. */
static int empty_dir_construct_volume_spec(const struct plugin_host *host, const char *pod_uid,
					   const char *volume_name, bool block,
					   struct volume_spec *ret, struct failure *reterr)
{
	(void) host;
	(void) pod_uid;
	if (block || !layout_is_component(volume_name))
		return failed_plain(reterr, -EINVAL, "'%s' is no emptyDir", volume_name);
	*ret = (struct volume_spec){ .name = volume_name };
	return 0;
}

const struct volume_plugin empty_dir_volume_plugin = {
	.name = EMPTY_DIR_PLUGIN_NAME,
	.can_support = empty_dir_can_support,
	.get_volume_name = empty_dir_get_volume_name,
	.get_attributes = empty_dir_get_attributes,
	.new_mounter = empty_dir_new_mounter,
	.new_unmounter = empty_dir_new_unmounter,
	.get_path = empty_dir_get_path,
	.construct_volume_spec = empty_dir_construct_volume_spec,
};
