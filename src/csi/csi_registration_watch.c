/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration_watch - see csi_registration_watch.h
 *
 * A directory is watched through the descriptor by which it is listed, so that both are about one
 * and the same inode. The watch comes before the listing: nothing falls in between, and what both
 * report is known by its inode and its times. No descriptor is kept: the removal of a directory
 * that is held open is not reported.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "csi/csi_registration_watch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/path.h"
#include "base/timer.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <utlist.h>

enum {
	EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
		 IN_MOVE_SELF | IN_ONLYDIR,
	ENDS = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED,
	RETRY_FIRST_MSEC = 100,
	RETRY_LAST_MSEC = 60 * 1000,
};

/* Which file it is: another one under the same name differs in this. */
struct identity {
	uint64_t inode;
	struct statx_timestamp born, changed;
};

struct socket {
	struct identity identity;
	bool seen; /* by the listing that runs */
	UT_hash_handle hh;
	char path[];
};

struct directory {
	int watch;
	int fd; /* until it is listed */
	struct directory *prev, *next;
	char path[]; /* "" or "sub", "sub/sub" */
};

struct csi_registration_watch {
	struct csi_registration_watch_options options;
	int inotify_fd;
	sd_event_source *source, *timer;
	struct directory *directories;
	size_t directory_count;
	struct socket *sockets;
	unsigned int retry_msec;
	bool told_limit;
	bool incomplete; /* a directory could not be listed to its end */
};

/* ---- limits ---- */

static void report_limit(struct csi_registration_watch *watch, const char *what, const char *path)
{
	if (!watch->told_limit)
		log_message(
			LOG_WARNING,
			"there are too many %s in plugins_registry: '%s' and others are skipped",
			what, path);
	watch->told_limit = true;
}

/* ---- sockets ---- */

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->inode == b->inode && a->born.tv_sec == b->born.tv_sec &&
	       a->born.tv_nsec == b->born.tv_nsec && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec;
}

static struct socket *find_socket(const struct csi_registration_watch *watch, const char *path)
{
	struct socket *socket;

	HASH_FIND(hh, watch->sockets, path, strlen(path), socket);
	return socket;
}

static void lose_socket(struct csi_registration_watch *watch, struct socket *socket)
{
	HASH_DEL(watch->sockets, socket);
	watch->options.vanished(watch->options.userdata, socket->path);
	free(socket);
}

static struct socket *add_socket(struct csi_registration_watch *watch, const char *path)
{
	size_t length = strlen(path);
	struct socket *socket;

	if (HASH_COUNT(watch->sockets) >= REGISTRY_SOCKETS_MAX) {
		report_limit(watch, "sockets", path);
		return NULL;
	}
	socket = calloc(1, sizeof(*socket) + length + 1);
	if (!socket)
		return NULL;
	memcpy(socket->path, path, length);
	HASH_ADD(hh, watch->sockets, path, length, socket);
	if (socket->hh.tbl)
		return socket;
	free(socket);
	return NULL;
}

static void note_socket(struct csi_registration_watch *watch, const char *path,
			const struct identity *identity)
{
	struct socket *socket = find_socket(watch, path);

	if (socket && is_same(&socket->identity, identity)) {
		socket->seen = true;
		return;
	}
	if (socket)
		lose_socket(watch, socket);
	socket = add_socket(watch, path);
	if (!socket)
		return;
	socket->identity = *identity;
	socket->seen = true;
	watch->options.appeared(watch->options.userdata, path);
}

/* ---- directories ---- */

static void directory_free(struct csi_registration_watch *watch, struct directory *directory)
{
	DL_DELETE(watch->directories, directory);
	watch->directory_count--;
	(void) inotify_rm_watch(watch->inotify_fd, directory->watch);
	(void) close_keep_errno(directory->fd);
	free(directory);
}

static void forget_directories(struct csi_registration_watch *watch, const char *above)
{
	struct directory *directory, *next;

	DL_FOREACH_SAFE (watch->directories, directory, next)
		if (path_is_at_or_below(directory->path, above))
			directory_free(watch, directory);
}

/* What is below @above and was not @seen just now. */
static void lose_sockets(struct csi_registration_watch *watch, const char *above, bool all)
{
	struct socket *socket, *next;

	HASH_ITER (hh, watch->sockets, socket, next)
		if ((all || !socket->seen) && path_is_at_or_below(socket->path, above))
			lose_socket(watch, socket);
}

static struct directory *find_watch(const struct csi_registration_watch *watch, int number)
{
	struct directory *directory;

	DL_FOREACH (watch->directories, directory)
		if (directory->watch == number)
			return directory;
	return NULL;
}

/* Watched, and last in the list. @fd is taken, also on failure. */
static int add_directory(struct csi_registration_watch *watch, const char *path, int fd)
{
	size_t length = strlen(path);
	struct directory *directory;
	char link[32];
	int number;

	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	number = inotify_add_watch(watch->inotify_fd, link, EVENTS);
	if (number < 0 || find_watch(watch, number)) {
		int error = number < 0 ? -errno : -EEXIST;

		(void) close(fd);
		return error;
	}
	directory = calloc(1, sizeof(*directory) + length + 1);
	if (!directory) {
		(void) inotify_rm_watch(watch->inotify_fd, number);
		(void) close(fd);
		return -ENOMEM;
	}
	directory->watch = number;
	directory->fd = fd;
	memcpy(directory->path, path, length);
	DL_APPEND(watch->directories, directory);
	watch->directory_count++;
	return 0;
}

/* A directory that is gone meanwhile, or cannot be entered, does not affect the others. */
static void enter(struct csi_registration_watch *watch, const char *path)
{
	struct failure why = { .error = 0 };
	int fd, r;

	if (watch->directory_count >= REGISTRY_DIRECTORIES_MAX) {
		report_limit(watch, "directories", path);
		return;
	}
	fd = watch->options.open_directory(watch->options.userdata, path, &why);
	r = fd < 0 ? fd : add_directory(watch, path, fd);
	if (r < 0 && r != -ENOENT && r != -EEXIST)
		log_message(LOG_WARNING, "drivers in 'plugins_registry/%s' are not seen: %s", path,
			    fd < 0 ? why.text : strerror(-r));
}

/* ---- checks ---- */

/* Reads the entry only: nothing is opened, no link followed, no server contacted. */
static void check_socket(struct csi_registration_watch *watch, const struct directory *directory,
			 int fd, const char *name)
{
	char path[REGISTRY_PATH_MAX];
	struct identity identity;
	struct statx facts;
	int length;

	if (name[0] == '.')
		return;
	length = snprintf(path, sizeof(path), "%s%s%s", directory->path,
			  *directory->path ? "/" : "", name);
	if (length >= (int) sizeof(path)) {
		report_limit(watch, "levels", name);
		return;
	}
	if (statx(fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		  STATX_TYPE | STATX_INO | STATX_MTIME | STATX_BTIME, &facts) < 0 ||
	    (facts.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return;
	if (S_ISDIR(facts.stx_mode)) {
		enter(watch, path);
	} else if (S_ISSOCK(facts.stx_mode)) {
		identity = (struct identity){ .inode = facts.stx_ino,
					      .born = facts.stx_btime,
					      .changed = facts.stx_mtime };
		note_socket(watch, path, &identity);
	}
}

static void retry_later(struct csi_registration_watch *watch)
{
	watch->retry_msec = watch->retry_msec == 0 ? RETRY_FIRST_MSEC : watch->retry_msec * 2;
	if (watch->retry_msec > RETRY_LAST_MSEC)
		watch->retry_msec = RETRY_LAST_MSEC;
	timer_set_in(watch->timer, watch->retry_msec * USEC_PER_MSEC);
}

/* Sockets that were not listed may be there all the same: none is lost. */
static void listing_failed(struct csi_registration_watch *watch, const char *path, int error)
{
	watch->incomplete = true;
	log_message(LOG_WARNING, "cannot list 'plugins_registry/%s', retrying: %s", path,
		    strerror(-error));
	retry_later(watch);
}

static void list(struct csi_registration_watch *watch, struct directory *directory)
{
	int fd = TAKE_FD(directory->fd), r;
	cleanup_closedir DIR *stream = fdopendir(fd);
	const struct dirent *entry;
	size_t count = 0;

	if (!stream) {
		listing_failed(watch, directory->path, -errno);
		(void) close(fd);
		return;
	}
	while ((r = directory_next(stream, &entry)) > 0) {
		if (count++ == REGISTRY_NAMES_MAX) {
			report_limit(watch, "names", directory->path);
			return;
		}
		check_socket(watch, directory, fd, entry->d_name);
	}
	if (r < 0)
		listing_failed(watch, directory->path, r);
}

/* Directories that are found are appended: the walk comes to them, too. */
static void list_from(struct csi_registration_watch *watch, struct directory *first)
{
	struct directory *directory;

	for (directory = first; directory; directory = directory->next)
		list(watch, directory);
}

/* From the beginning: what is there still is not reported again. */
static void check_all(struct csi_registration_watch *watch)
{
	struct failure why = { .error = 0 };
	struct socket *socket;
	int fd, r;

	forget_directories(watch, "");
	for (socket = watch->sockets; socket; socket = socket->hh.next)
		socket->seen = false;
	watch->told_limit = watch->incomplete = false;
	fd = watch->options.open_directory(watch->options.userdata, "", &why);
	r = fd < 0 ? fd : add_directory(watch, "", fd);
	if (r < 0) {
		if (watch->retry_msec == 0)
			log_message(LOG_ERR,
				    "no CSI driver can be registered until 'plugins_registry' can "
				    "be watched: %s",
				    fd < 0 ? why.text : strerror(-r));
		retry_later(watch);
	} else {
		watch->retry_msec = 0;
		list_from(watch, watch->directories);
	}
	if (!watch->incomplete)
		lose_sockets(watch, "", false);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	check_all(userdata);
	return 0;
}

/* ---- events ---- */

static void entry_came(struct csi_registration_watch *watch, const struct directory *directory,
		       const char *name)
{
	struct directory *last = watch->directories->prev;
	cleanup_close int fd =
		watch->options.open_directory(watch->options.userdata, directory->path, NULL);

	if (fd < 0) /* the directory was removed: that event comes next */
		return;
	check_socket(watch, directory, fd, name);
	list_from(watch, last->next);
}

static void entry_went(struct csi_registration_watch *watch, const struct directory *directory,
		       const char *name)
{
	char path[REGISTRY_PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s%s", directory->path, *directory->path ? "/" : "",
		     name) >= (int) sizeof(path))
		return;
	lose_sockets(watch, path, true);
	forget_directories(watch, path);
}

/* Events of watches that are gone are still in the queue: their number is no longer known. */
static int on_inotify(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct csi_registration_watch *watch = userdata;
	struct directory *directory = find_watch(watch, event->wd);

	if (event->mask & IN_Q_OVERFLOW) {
		check_all(watch);
		return 0;
	}
	if (!directory)
		return 0;
	if (event->mask & ENDS) {
		/* The parent reports it. */
		if (*directory->path == '\0')
			check_all(watch);
		return 0;
	}
	if (event->len == 0)
		return 0;
	if (event->mask & (IN_DELETE | IN_MOVED_FROM))
		entry_went(watch, directory, event->name);
	else
		entry_came(watch, directory, event->name);
	return 0;
}

/* ---- reading ---- */

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct csi_registration_watch *watch = userdata;
	char buffer[16 * 1024] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t length = read(fd, buffer, sizeof(buffer));

	for (ssize_t at = 0; at < length;) {
		const struct inotify_event *event = (const void *) (buffer + at);

		(void) on_inotify(source, event, watch);
		at += (ssize_t) (sizeof(*event) + event->len);
	}
	return 0;
}

int csi_registration_watch_new(const struct csi_registration_watch_options *options,
			       struct csi_registration_watch **ret, struct failure *reterr)
{
	struct csi_registration_watch *watch = calloc(1, sizeof(*watch));
	int r;

	assert(options && options->event && options->open_directory && ret);
	assert(options->appeared && options->vanished);
	if (!watch)
		return failed(reterr, -ENOMEM, "cannot watch for CSI drivers");
	watch->options = *options;
	watch->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	r = watch->inotify_fd < 0 ? -errno
				  : sd_event_add_io(options->event, &watch->source,
						    watch->inotify_fd, EPOLLIN, on_readable, watch);
	if (r >= 0)
		r = timer_new(options->event, 0, on_timer, watch, &watch->timer);
	if (r < 0) {
		(void) csi_registration_watch_free(watch);
		return failed(reterr, r, "cannot watch for CSI drivers");
	}
	check_all(watch);
	*ret = watch;
	return 0;
}

struct csi_registration_watch *csi_registration_watch_free(struct csi_registration_watch *watch)
{
	struct socket *socket, *next;

	if (!watch)
		return NULL;
	forget_directories(watch, "");
	HASH_ITER (hh, watch->sockets, socket, next) {
		HASH_DEL(watch->sockets, socket);
		free(socket);
	}
	sd_event_source_disable_unref(watch->source);
	sd_event_source_disable_unref(watch->timer);
	if (watch->inotify_fd >= 0)
		(void) close(watch->inotify_fd);
	free(watch);
	return NULL;
}
