/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_writer - files of a volume that change all at once; see atomic_writer.h
 *
 * Everything is done by names directly in the volume's directory, which is pinned, or beneath a
 * directory that this file has just made. Names that begin with ".." are the writer's own; of those
 * only directories named after a time, and the link that a kill left, are ever removed.
 */
#include "mount/files/atomic_writer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/directory.h"
#include "mount/mount.h"
#include "mount/ownership/tree_walk.h"
#include "mount/path/safe_path.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>

#define DATA_LINK     "..data"
#define NEW_DATA_LINK "..data_tmp"

enum { DIRECTORY_NAME_BYTES = sizeof("..2006_01_02_15_04_05.4294967295"), NAME_TRIES_MAX = 16 };

/* ---- names ---- */

/* "..2006_01_02_15_04_05.": how every such directory begins, kubelet's as well. */
static bool is_directory_name(const char *name)
{
	static const char pattern[] = "..dddd_dd_dd_dd_dd_dd.";

	for (size_t i = 0; pattern[i] != '\0'; i++)
		if (pattern[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != pattern[i])
			return false;
	return strchr(name, '/') == NULL;
}

static void make_directory_name(char name[DIRECTORY_NAME_BYTES])
{
	char stamp[sizeof("2006_01_02_15_04_05")];
	const time_t now = (time_t) (realtime_usec() / USEC_PER_SEC);
	uint32_t number = 0;
	struct tm utc;

	(void) gmtime_r(&now, &utc);
	(void) strftime(stamp, sizeof(stamp), "%Y_%m_%d_%H_%M_%S", &utc);
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint32_t) getpid();
	(void) snprintf(name, DIRECTORY_NAME_BYTES, "..%s.%u", stamp, number);
}

/* A name in the volume; nothing to be freed. */
static struct place name_in(const struct atomic_write *write, const char *name)
{
	return (struct place){ .parent_fd = write->directory_fd,
			       .name = (char *) name,
			       .path = (char *) name };
}

/* What "..data" points to; "" when there is no such link, or it was not made by a writer. */
static int read_data_link(const struct atomic_write *write, char target[NAME_MAX + 1],
			  struct failure *reterr)
{
	ssize_t length = readlinkat(write->directory_fd, DATA_LINK, target, NAME_MAX);

	if (length < 0 && errno != ENOENT)
		return failed(reterr, -errno, "cannot read the link '" DATA_LINK "' in '%s'",
			      write->path);
	target[length > 0 ? length : 0] = '\0';
	if (!is_directory_name(target))
		target[0] = '\0';
	return 0;
}

/* ---- the new directory ---- */

static int write_bytes(int fd, const struct payload_file *file)
{
	size_t at = 0;

	while (at < file->length) {
		ssize_t length = write(fd, file->data + at, file->length - at);

		if (length < 0 && errno != EINTR)
			return -errno;
		at += length > 0 ? (size_t) length : 0;
	}
	return 0;
}

/* Owner before mode: a change of owner may take bits of the mode away. */
static int write_file(int parent_fd, const char *name, const struct payload_file *file)
{
	cleanup_close int fd =
		openat(parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = write_bytes(fd, file);
	if (r < 0)
		return r;
	if (file->has_owner && fchown(fd, file->owner, (gid_t) -1) < 0)
		return -errno;
	return fchmod(fd, file->mode) < 0 ? -errno : 0;
}

static int add_file(const struct atomic_write *write, int directory_fd,
		    const struct payload_file *file, struct failure *reterr)
{
	const char *slash = strrchr(file->path, '/');
	cleanup_close int parent_fd = -EBADF;
	int r;

	if (slash) {
		cleanup_free char *parent = strndup(file->path, (size_t) (slash - file->path));

		parent_fd = parent ? make_directories(directory_fd, parent, ATOMIC_DIRECTORY_MODE,
						      reterr)
				   : failed(reterr, -ENOMEM, "cannot make '%s'", file->path);
		if (parent_fd < 0)
			return parent_fd;
	}
	r = write_file(slash ? parent_fd : directory_fd, slash ? slash + 1 : file->path, file);
	return r < 0 ? failed(reterr, r, "cannot write '%s' in '%s'", file->path, write->path) : 0;
}

/* Its name is not published yet, and until the end it is closed to others. */
static int make_new_directory(const struct atomic_write *write, char name[DIRECTORY_NAME_BYTES],
			      struct failure *reterr)
{
	int fd;

	for (int i = 0; i < NAME_TRIES_MAX; i++) {
		make_directory_name(name);
		if (mkdirat(write->directory_fd, name, 0700) == 0) {
			fd = path_open(write->directory_fd, name, O_RDONLY | O_DIRECTORY,
				       PATH_NO_SYMLINKS);
			return fd < 0 ? failed(reterr, fd, "cannot open '%s' in '%s'", name,
					       write->path)
				      : fd;
		}
		if (errno != EEXIST)
			break;
	}
	return failed(reterr, -errno, "cannot create a directory in '%s'", write->path);
}

/* Files, then the group, then the directory opens: right before it is visible. */
static int fill_directory(const struct atomic_write *write, int fd, struct failure *reterr)
{
	const struct ownership ownership = { .gid = write->group, .read_only_volume = true };
	struct ownership_counts counts;
	int r = 0;

	for (size_t i = 0; i < write->payload->count && r == 0; i++)
		r = add_file(write, fd, &write->payload->files[i], reterr);
	if (r == 0)
		r = change_mode(fd, ATOMIC_DIRECTORY_MODE, reterr);
	if (r == 0 && write->has_group) {
		r = ownership_apply(fd, &ownership, NULL, &counts, reterr);
		r = r < 0 ? r : 0;
	}
	return r;
}

/* ---- the switch ---- */

static int remove_left_link(const struct atomic_write *write, struct failure *reterr)
{
	const struct place place = name_in(write, NEW_DATA_LINK);
	char target[2];

	if (readlinkat(write->directory_fd, NEW_DATA_LINK, target, sizeof(target)) < 0)
		return 0; /* none, or no link: making it says so */
	return remove_file(&place, reterr);
}

/* @file: that it leads to; NULL: to none alone */
static int give_link_away(const struct atomic_write *write, const char *name,
			  const struct payload_file *file)
{
	bool has_owner = file && file->has_owner;

	if (!write->has_group && !has_owner)
		return 0;
	return fchownat(write->directory_fd, name, has_owner ? file->owner : (uid_t) -1,
			write->has_group ? write->group : (gid_t) -1, AT_SYMLINK_NOFOLLOW);
}

static int switch_to(const struct atomic_write *write, const char *name, struct failure *reterr)
{
	int fd = write->directory_fd;
	int r = remove_left_link(write, reterr);

	if (r < 0)
		return r;
	if (symlinkat(name, fd, NEW_DATA_LINK) == 0 &&
	    give_link_away(write, NEW_DATA_LINK, NULL) == 0 &&
	    renameat(fd, NEW_DATA_LINK, fd, DATA_LINK) == 0)
		return 0;
	r = failed(reterr, -errno, "cannot switch '%s' to its new files", write->path);
	(void) remove_left_link(write, NULL);
	return r;
}

/* A link of such a name is no data directory: the link itself goes. */
static int remove_data_directory(const struct atomic_write *write, const char *name,
				 struct failure *reterr)
{
	const struct place place = name_in(write, name);
	int r = remove_empty_dir_contents(&place, reterr);

	return r == -ELOOP ? remove_file(&place, reterr) : r;
}

static int write_anew(const struct atomic_write *write, struct failure *reterr)
{
	char name[DIRECTORY_NAME_BYTES];
	cleanup_close int fd = make_new_directory(write, name, reterr);
	int r = fd;

	if (fd >= 0) {
		r = fill_directory(write, fd, reterr);
		if (r == 0)
			r = switch_to(write, name, reterr);
		if (r < 0)
			(void) remove_data_directory(write, name, NULL);
	}
	return r < 0 ? r : 1;
}

/* ---- the names that people see ---- */

static int show_name(const struct atomic_write *write, const struct payload_file *file,
		     struct failure *reterr)
{
	cleanup_free char *name = strndup(file->path, payload_top_length(file->path));
	cleanup_free char *target = NULL;
	struct place place;
	int r;

	if (!name || asprintf(&target, DATA_LINK "/%s", name) < 0)
		return failed(reterr, -ENOMEM, "cannot show '%s'", file->path);
	place = name_in(write, name);
	r = make_link(&place, target, reterr);
	if (r == 0 && give_link_away(write, name, file) < 0)
		r = failed(reterr, -errno, "cannot change the owner of the link '%s'", name);
	return r < 0 ? failure_prefix(reterr, "'%s'", write->path) : 0;
}

/* Sorted by path, those with one first component stand together. */
static int show_names(const struct atomic_write *write, struct failure *reterr)
{
	const struct payload *payload = write->payload;
	const char *shown = NULL;
	int r = 0;

	for (size_t i = 0; i < payload->count && r == 0; i++) {
		const char *path = payload->files[i].path;
		size_t length = payload_top_length(path);

		if (shown && payload_top_length(shown) == length &&
		    memcmp(shown, path, length) == 0)
			continue;
		r = show_name(write, &payload->files[i], reterr);
		shown = path;
	}
	return r;
}

/* A name that people see is stale when its link leads to nothing in the files of now. */
static bool is_stale_link(const struct atomic_write *write, int data_fd, const char *name)
{
	char target[sizeof(DATA_LINK "/") + NAME_MAX];
	ssize_t length = readlinkat(write->directory_fd, name, target, sizeof(target) - 1);
	struct stat st;

	if (length < 0)
		return false;
	target[length] = '\0';
	if (strncmp(target, DATA_LINK "/", strlen(DATA_LINK "/")) != 0 ||
	    strcmp(target + strlen(DATA_LINK "/"), name) != 0)
		return false;
	return fstatat(data_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* Own directories but the one of now, and links to files that are there no more. */
static int tidy_name(const struct atomic_write *write, int data_fd, const char *current,
		     const char *name, struct failure *reterr)
{
	const struct place place = name_in(write, name);

	if (is_directory_name(name))
		return strcmp(name, current) == 0 ? 0 : remove_data_directory(write, name, reterr);
	if (is_stale_link(write, data_fd, name))
		return remove_file(&place, reterr);
	return 0;
}

/* What cannot be removed is reported and stays; the next write tries again. */
static int tidy(const struct atomic_write *write, struct failure *reterr)
{
	char current[NAME_MAX + 1];
	cleanup_closedir DIR *directory = NULL;
	cleanup_close int data_fd = -EBADF;
	int more = 0;
	const struct dirent *entry;
	int fd, r = read_data_link(write, current, reterr);

	if (r < 0)
		return r;
	data_fd = path_open(write->directory_fd, current, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS);
	fd = openat(write->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (data_fd < 0 || !directory) {
		r = failed(reterr, data_fd < 0 ? data_fd : -errno, "cannot read '%s'", write->path);
		if (fd >= 0 && !directory)
			(void) close(fd);
		return r;
	}
	while (r == 0 && (more = directory_next(directory, &entry)) > 0)
		r = tidy_name(write, data_fd, current, entry->d_name, reterr);
	return more < 0 ? failed(reterr, more, "cannot read '%s'", write->path) : r;
}

/* ---- all of it ---- */

static int shows_already(const struct atomic_write *write, struct failure *reterr)
{
	char current[NAME_MAX + 1];
	cleanup_close int fd = -EBADF;
	int r = read_data_link(write, current, reterr);

	if (r < 0 || current[0] == '\0')
		return r;
	fd = path_open(write->directory_fd, current, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS);
	return fd < 0 ? 0 : atomic_compare(fd, write);
}

/* The volume's own directory, last: what is in it is right by then. */
static int own_root(const struct atomic_write *write, struct failure *reterr)
{
	struct stat st;
	mode_t mode;

	if (!write->has_group)
		return 0;
	if (fstat(write->directory_fd, &st) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", write->path);
	mode = (st.st_mode & 07777) | S_ISGID | 0550;
	if (st.st_gid == write->group && (st.st_mode & 07777) == mode)
		return 0;
	if (fchown(write->directory_fd, (uid_t) -1, write->group) < 0 ||
	    fchmod(write->directory_fd, mode) < 0)
		return failed(reterr, -errno, "cannot give '%s' to its group", write->path);
	return 0;
}

int atomic_write(const struct atomic_write *write, struct failure *reterr)
{
	int written = 0, r;

	assert(write && write->directory_fd >= 0 && write->path && write->payload);
	r = shows_already(write, reterr);
	if (r == 0)
		r = written = write_anew(write, reterr);
	if (r >= 0)
		r = show_names(write, reterr);
	if (r >= 0)
		r = tidy(write, reterr);
	if (r >= 0)
		r = own_root(write, reterr);
	return r < 0 ? r : written;
}

/* ---- reading ---- */

static int read_all(int fd, char *buffer, size_t size)
{
	size_t at = 0;
	ssize_t length;

	while (at < size && (length = read(fd, buffer + at, size - at)) != 0) {
		if (length < 0 && errno != EINTR)
			return -errno;
		at += length > 0 ? (size_t) length : 0;
	}
	return at == size && !memchr(buffer, '\0', size) ? 0 : -ENOENT;
}

static int read_plain(int fd, size_t bytes_max, char **ret)
{
	struct stat st;
	char *text;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || (size_t) st.st_size > bytes_max)
		return -ENOENT;
	text = calloc(1, (size_t) st.st_size + 1);
	if (!text)
		return -ENOMEM;
	r = read_all(fd, text, (size_t) st.st_size);
	if (r < 0) {
		explicit_bzero(text, (size_t) st.st_size);
		free(text);
		return r;
	}
	*ret = text;
	return 0;
}

int atomic_read(int directory_fd, const char *path, size_t bytes_max, char **ret)
{
	const struct atomic_write volume = { .directory_fd = directory_fd, .path = "" };
	char current[NAME_MAX + 1];
	cleanup_close int data_fd = -EBADF, fd = -EBADF;
	int r = read_data_link(&volume, current, NULL);

	assert(path && bytes_max > 0 && ret);
	*ret = NULL;
	if (r < 0 || current[0] == '\0')
		return r;
	data_fd = path_open(directory_fd, current, O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS);
	fd = data_fd < 0
		     ? data_fd
		     : path_open(data_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, PATH_NO_SYMLINKS);
	r = fd < 0 ? fd : read_plain(fd, bytes_max, ret);
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? 0 : r;
}

/* ---- wiping ---- */

static int wipe_file(const struct tree_entry *entry)
{
	static const char zeros[16384];
	cleanup_close int fd = -EBADF;
	struct stat st;
	off_t at = 0;

	if (!S_ISREG(entry->status.stx_mode) || entry->other_mount)
		return 0;
	fd = openat(entry->parent_fd, entry->name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	while (at < st.st_size) {
		off_t left = st.st_size - at;
		ssize_t length = write(
			fd, zeros, left < (off_t) sizeof(zeros) ? (size_t) left : sizeof(zeros));

		if (length < 0)
			return -errno;
		at += length;
	}
	return 0;
}

static int wipe_directory(int volume_fd, const char *name)
{
	cleanup(tree_walk_freep) struct tree_walk *walk = NULL;
	cleanup_close int fd = path_open(volume_fd, name, O_RDONLY | O_DIRECTORY, PATH_NO_SYMLINKS);
	struct tree_entry entry;
	int first = 0, r = fd < 0 ? fd : tree_walk_new(fd, &walk);

	while (r == 0 && (r = tree_walk_next(walk, &entry)) > 0) {
		r = wipe_file(&entry);
		first = first == 0 ? r : first;
		r = 0;
	}
	return r < 0 ? r : first;
}

int atomic_write_wipe(int directory_fd, const char *path, struct failure *reterr)
{
	int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), first = 0, more;
	cleanup_closedir DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory) {
		first = failed(reterr, -errno, "cannot read '%s'", path);
		(void) close_keep_errno(fd);
		return first;
	}
	while ((more = directory_next(directory, &entry)) > 0) {
		int r = is_directory_name(entry->d_name)
				? wipe_directory(directory_fd, entry->d_name)
				: 0;

		if (r < 0 && first == 0)
			first = failed(reterr, r, "cannot overwrite '%s' in '%s'", entry->d_name,
				       path);
	}
	if (more < 0 && first == 0)
		first = failed(reterr, more, "cannot read '%s'", path);
	return first;
}
