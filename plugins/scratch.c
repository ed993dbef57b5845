/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch - the directory or memory behind emptyDirs and volumes of files; see scratch.h
 */
#include "plugins/scratch.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "plugins/layout.h"
#include "plugins/pod_target.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

enum { STACKED_MOUNTS_MAX = 16 }; /* how many mounts on one directory are taken away */

void scratch_done(struct scratch *scratch)
{
	free(scratch->path);
	free(scratch->ready_path);
	(void) close_keep_errno(scratch->fd);
	place_done(&scratch->place);
	*scratch = SCRATCH_EMPTY;
}

/* The ready file lies outside the volume, where no container can remove it. */
static int scratch_init(struct scratch *scratch, const struct plugin_host *host,
			const struct scratch_name *name, struct failure *reterr)
{
	cleanup_free char *ready_name = NULL, *ready_directory = NULL;
	int r;

	assert(scratch && host && name);
	scratch->host = host;
	ready_name = new_text("%s%s", name->ready_prefix, name->volume_name);
	if (!ready_name)
		return failed(reterr, -ENOMEM, "cannot name volume '%s'", name->volume_name);
	r = layout_pod_path(name->pod_uid, "volumes", name->plugin_name, name->volume_name,
			    &scratch->path, reterr);
	if (r == 0)
		r = layout_pod_path(name->pod_uid, "plugins", EMPTY_DIR_PLUGIN_NAME, ready_name,
				    &ready_directory, reterr);
	if (r == 0)
		r = layout_child(ready_directory, "ready", &scratch->ready_path, reterr);
	return r;
}

int scratch_init_for(struct scratch *scratch, const struct volume_request *request,
		     const char *ready_prefix, struct failure *reterr)
{
	const struct scratch_name name = { .pod_uid = request->pod_uid,
					   .plugin_name = request->plugin->name,
					   .volume_name = request->volume_name,
					   .ready_prefix = ready_prefix };

	return scratch_init(scratch, request->host, &name, reterr);
}

/* Linux before 6.4 and user namespaces do not know "noswap"; see mount_medium(). */
void scratch_use_memory(struct scratch *scratch, int64_t bytes)
{
	scratch->medium = MEDIUM_MEMORY;
	if (bytes > 0)
		(void) snprintf(scratch->options, sizeof(scratch->options), "size=%lld,noswap",
				(long long) bytes);
	else
		(void) snprintf(scratch->options, sizeof(scratch->options), "noswap");
}

/* ---- whose memory it is ---- */

/* What the ready file says: "tmpfs" and the number that the kernel gives each tmpfs by chance. */
enum { IDENTITY_BYTES = sizeof("tmpfs 0123456789abcdef\n") - 1 };

/* 0: no tmpfs, or a kernel that tells none (before 5.14). */
static uint64_t identity_of(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return 0;
	return (uint64_t) (uint32_t) fs.f_fsid.__val[1] << 32 | (uint32_t) fs.f_fsid.__val[0];
}

/* 0: the ready file does not say, as kubelet's. */
static uint64_t noted_identity(const struct scratch *scratch)
{
	cleanup_close int fd =
		open_beneath(scratch->host->root_fd, scratch->ready_path,
			     O_RDONLY | O_NONBLOCK | O_NOCTTY, PATH_NO_SYMLINKS, NULL);
	char text[IDENTITY_BYTES + 1] = "";
	unsigned long long identity = 0;

	if (fd < 0 || read(fd, text, IDENTITY_BYTES) != IDENTITY_BYTES ||
	    sscanf(text, "tmpfs %16llx", &identity) != 1)
		return 0;
	return identity;
}

/* Not knowing it only means that another tmpfs in its place is taken for it. */
static void note_identity(const struct scratch *scratch)
{
	cleanup_close int at = open_beneath(scratch->place.parent_fd, scratch->place.name,
					    O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS_ANY_MOUNT, NULL);
	cleanup_close int fd =
		open_beneath(scratch->host->root_fd, scratch->ready_path,
			     O_WRONLY | O_NONBLOCK | O_NOCTTY, PATH_NO_SYMLINKS, NULL);
	uint64_t identity = at < 0 ? 0 : identity_of(at);
	char text[IDENTITY_BYTES + 1];

	(void) snprintf(text, sizeof(text), "tmpfs %016llx\n", (unsigned long long) identity);
	if (fd >= 0 && identity != 0 && pwrite(fd, text, IDENTITY_BYTES, 0) != IDENTITY_BYTES)
		log_message(LOG_WARNING, "cannot record the tmpfs at '%s': %s", scratch->place.path,
			    strerror(errno));
}

/* Is the tmpfs at @fd another one than the volume's? */
static int check_identity(uint64_t noted, int fd, const char *path, struct failure *reterr)
{
	uint64_t identity = noted ? identity_of(fd) : 0;

	if (identity == 0 || identity == noted)
		return 0;
	return failed_plain(reterr, -EBUSY,
			    "'%s' carries a tmpfs that is not this volume's: not used, not removed",
			    path);
}

/* ---- set-up ---- */

/* The ready file and its directory; a foreign file in there keeps the directory. */
static int remove_ready(const struct plugin_host *host, const char *ready_path,
			struct failure *reterr)
{
	cleanup(place_done) struct place ready = PLACE_EMPTY;
	int r = place_open(host->root_fd, host->root_dir, ready_path, &ready, reterr);

	if (r == 0)
		r = remove_file(&ready, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	return remove_empty_parents(host->root_fd, ready_path, 1, reterr);
}

/* Return: 1 ready, 0 not. */
static int check_ready(const struct scratch *scratch, struct failure *reterr)
{
	cleanup_close int fd = open_beneath(scratch->host->root_fd, scratch->ready_path, O_PATH,
					    PATH_NO_SYMLINKS, reterr);

	if (fd >= 0)
		return 1;
	return fd == -ENOENT ? 0 : fd;
}

int scratch_check_ready(const struct plugin_host *host, const struct scratch_name *name,
			struct failure *reterr)
{
	cleanup(scratch_done) struct scratch scratch = SCRATCH_EMPTY;
	int r = scratch_init(&scratch, host, name, reterr);

	if (r == 0)
		r = check_ready(&scratch, reterr);
	if (r != 0)
		return r < 0 ? r : 0;
	return failed_plain(reterr, -EINVAL,
			    "'%s' is missing, which is there once such a volume "
			    "is made",
			    scratch.ready_path);
}

/* What was mounted when it became ready, or what was put there since. */
static int recheck_mounted(const struct scratch *scratch, struct stage_report *report)
{
	cleanup_close int fd =
		open_beneath(scratch->place.parent_fd, scratch->place.name, O_PATH | O_DIRECTORY,
			     PATH_NO_SYMLINKS_ANY_MOUNT, &report->failure);

	report->error_class = ERROR_UNCERTAIN; /* there is a mount, of any program */
	return fd < 0 ? fd
		      : check_identity(noted_identity(scratch), fd, scratch->place.path,
				       &report->failure);
}

/* The plugin's directory is kubelet's 0755, because it comes with the volume's; those above are
 * 0750. */
static int make_parents(struct scratch *scratch, struct failure *reterr)
{
	const struct plugin_host *host = scratch->host;
	cleanup(place_done) struct place plugin = PLACE_EMPTY;
	cleanup_free char *path = strdup(scratch->path);
	int r;

	if (!path)
		return failed(reterr, -ENOMEM, "cannot make '%s'", scratch->path);
	*strrchr(path, '/') = '\0';
	r = place_make(host->root_fd, host->root_dir, path, 0750, &plugin, reterr);
	if (r < 0)
		return r;
	return place_make(host->root_fd, host->root_dir, scratch->path, 0755, &scratch->place,
			  reterr);
}

/* A ready volume is done with; one that lost its mount begins again. */
int scratch_check(struct scratch *scratch, struct stage_report *report)
{
	const struct plugin_host *host = scratch->host;
	struct mount_facts facts = { 0 };
	bool exists;
	int ready, r;

	assert(scratch && report);

	r = make_parents(scratch, &report->failure);
	if (r < 0)
		return r;
	r = place_facts(&scratch->place, &facts, &report->failure);
	if (r < 0 && r != -ENOENT)
		return r;
	exists = r == 0;
	scratch->mounted = exists && facts.is_mount_root;
	if (scratch->mounted)
		report->mount_id = facts.mount_id;

	ready = check_ready(scratch, &report->failure);
	if (ready <= 0)
		return ready;
	if (scratch->medium == MEDIUM_MEMORY && scratch->mounted) {
		r = recheck_mounted(scratch, report);
		if (r < 0)
			return r;
	}
	if (scratch->medium == MEDIUM_DEFAULT ? exists : scratch->mounted)
		return scratch->medium == MEDIUM_HUGE_PAGES ? STAGE_NEXT : STAGE_LIST_DONE;
	/* The directory was deleted, or its mount went: begin again, and say so by no file. */
	return remove_ready(host, scratch->ready_path, &report->failure);
}

/* What is mounted on the directory already: right, or foreign? */
static int check_mounted(const struct scratch *scratch, struct failure *reterr)
{
	struct statfs fs;

	if (fstatfs(scratch->fd, &fs) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", scratch->place.path);
	if (scratch->medium == MEDIUM_MEMORY && fs.f_type == TMPFS_MAGIC)
		return 0;
	if (scratch->medium != MEDIUM_HUGE_PAGES || fs.f_type != HUGETLBFS_MAGIC)
		return failed_plain(reterr, -EBUSY, "another file system is mounted at '%s'",
				    scratch->place.path);
	if (fs.f_bsize != scratch->page_bytes)
		return failed_plain(reterr, -EBUSY,
				    "'%s' is mounted already with another page size: %ld bytes",
				    scratch->place.path, (long) fs.f_bsize);
	return 0;
}

static int mount_medium(struct scratch *scratch, struct failure *reterr)
{
	const char *path = scratch->place.path;
	char *noswap;
	int r;

	if (scratch->medium == MEDIUM_HUGE_PAGES) {
		r = mount_filesystem("hugetlbfs", "nodev", scratch->options, scratch->fd, reterr);
		return r < 0 ? failure_prefix(reterr, "cannot mount huge pages at '%s'", path) : 0;
	}

	/* Linux before 6.4 and user namespaces do not know "noswap"; the volume may then be swapped
	 * out, as it always could there. */
	r = mount_filesystem("tmpfs", "tmpfs", scratch->options, scratch->fd, reterr);
	noswap = strstr(scratch->options, "noswap");
	if (r == -EINVAL && noswap) {
		*(noswap > scratch->options ? noswap - 1 : noswap) = '\0';
		r = mount_filesystem("tmpfs", "tmpfs", scratch->options, scratch->fd, reterr);
	}
	return r < 0 ? failure_prefix(reterr, "cannot mount a tmpfs at '%s'", path) : 0;
}

/* 0777, whatever the umask: every container of the pod writes here, as any user. */
int scratch_make(struct scratch *scratch, struct stage_report *report)
{
	struct failure *reterr = &report->failure;
	int r;

	scratch->fd = make_directory(&scratch->place, 0777, NULL, reterr);
	if (scratch->fd < 0)
		return scratch->fd;
	if (scratch->mounted) {
		report->error_class = ERROR_UNCERTAIN; /* there is a mount, of any program */
		return check_mounted(scratch, reterr);
	}
	r = change_mode(scratch->fd, 0777, reterr);
	if (r < 0 || scratch->medium == MEDIUM_DEFAULT)
		return r;
	return mount_medium(scratch, reterr);
}

static int note_mount_id(const struct scratch *scratch, struct stage_report *report)
{
	if (scratch->medium == MEDIUM_DEFAULT || scratch->mounted)
		return 0;
	return pod_target_note_mount(&scratch->place, report);
}

int scratch_check_memory(const struct scratch *scratch, int fd, struct failure *reterr)
{
	struct mount_facts facts;
	int r;

	if (scratch->medium == MEDIUM_DEFAULT)
		return 0;
	r = fd_facts(fd, &facts, reterr);
	if (r < 0)
		return r;
	if (facts.is_mount_root)
		return 0;
	return failed_plain(reterr, -ESTALE,
			    "'%s' is not in memory: another process unmounted it as soon as "
			    "it was mounted; nothing is written there",
			    scratch->place.path);
}

/* Last of all: a set-up that broke off before is repeated as a whole. */
int scratch_mark_ready(struct scratch *scratch, struct stage_report *report)
{
	const struct plugin_host *host = scratch->host;
	cleanup(place_done) struct place ready = PLACE_EMPTY;
	cleanup_close int fd = -EBADF;
	int r = note_mount_id(scratch, report);

	if (r == 0)
		r = place_make(host->root_fd, host->root_dir, scratch->ready_path, 0750, &ready,
			       &report->failure);
	if (r < 0)
		return r;
	fd = make_file(&ready, 0644, NULL, &report->failure);
	if (fd >= 0 && scratch->medium == MEDIUM_MEMORY)
		note_identity(scratch);
	return fd < 0 ? fd : STAGE_NEXT;
}

/* ---- teardown ---- */

/* Only what an emptyDir mounts is taken away, and of tmpfs only the one that was noted. */
static int check_medium(const struct place *place, uint64_t noted, struct failure *reterr)
{
	cleanup_close int fd = open_beneath(place->parent_fd, place->name, O_PATH | O_DIRECTORY,
					    PATH_NO_SYMLINKS_ANY_MOUNT, reterr);
	struct statfs fs;

	if (fd < 0)
		return fd;
	if (fstatfs(fd, &fs) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", place->path);
	if (fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC)
		return failed_plain(reterr, -EBUSY,
				    "'%s' carries a mount that is not an emptyDir's: not removed",
				    place->path);
	return check_identity(noted, fd, place->path, reterr);
}

/* @before: only with podvold's own on top, never with foreign files. */
static int unmount_medium(const struct place *place, uint64_t noted,
			  void (*before)(const struct place *place), struct failure *reterr)
{
	struct mount_facts facts;
	int r;

	for (int i = 0; i < STACKED_MOUNTS_MAX; i++) {
		r = place_facts(place, &facts, reterr);
		if (r < 0 || !facts.is_mount_root)
			return r;
		r = check_medium(place, noted, reterr);
		if (r == 0 && before)
			before(place);
		if (r == 0)
			r = unmount_place(place, 0, reterr);
		if (r < 0)
			return r;
	}
	return failed_plain(reterr, -EBUSY, "'%s' is still mounted", place->path);
}

struct scratch_unmounter {
	struct scratch scratch;
	void (*before)(const struct place *place);
};

static void unmounter_free(void *data)
{
	struct scratch_unmounter *unmounter = data;

	scratch_done(&unmounter->scratch);
	free(unmounter);
}

/* The ready file goes after the memory, whose name is in it, and before the content, so that what
 * is half removed is not taken for whole. */
static int remove_volume(void *data, struct stage_report *report)
{
	const struct scratch_unmounter *unmounter = data;
	const struct scratch *scratch = &unmounter->scratch;
	const struct plugin_host *host = scratch->host;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct failure *reterr = &report->failure;
	int r = place_open(host->root_fd, host->root_dir, scratch->path, &place, reterr);
	bool exists;

	if (r == 0)
		r = unmount_medium(&place, noted_identity(scratch), unmounter->before, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	exists = r == 0;
	r = remove_ready(host, scratch->ready_path, reterr);
	if (r == 0 && exists)
		r = remove_empty_dir_contents(&place, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	return remove_empty_parents(host->root_fd, scratch->path, 1, reterr);
}

int scratch_new_unmounter(const struct volume_request *request, const char *ready_prefix,
			  void (*before)(const struct place *place), struct stage_list *ret,
			  struct failure *reterr)
{
	static const struct stage stages[] = {
		WORKER_STAGE("remove the volume", remove_volume),
	};
	struct scratch_unmounter *unmounter;
	int r;

	assert(request->host && request->volume_name && request->pod_uid);

	unmounter = calloc(1, sizeof(*unmounter));
	if (!unmounter)
		return failed(reterr, -ENOMEM, "cannot remove volume '%s'", request->volume_name);
	unmounter->scratch = SCRATCH_EMPTY;
	unmounter->before = before;
	*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), unmounter, unmounter_free };
	r = scratch_init_for(&unmounter->scratch, request, ready_prefix, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}
