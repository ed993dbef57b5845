/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_file - files for root alone, written beside their place and renamed into it
 *
 * The new file and then the directory are flushed, so that after a crash the old state or the whole
 * new one is found. A file left behind by a crash is removed by the next write.
 */
#include "base/secret_file.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

int secret_directory_open(const char *path, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	struct stat status;

	assert(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot open the directory '%s'", path);
	if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))
		return failed_plain(reterr, -EPERM,
				    "'%s' holds keys, but others than its owner, or another user "
				    "than root, can write in it: chown root and chmod go-w",
				    path);
	return TAKE_FD(fd);
}

static int check_file(int fd, const char *name, struct failure *reterr)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", name);
	if (!S_ISREG(status.st_mode) || status.st_size == 0 || status.st_size > SECRET_FILE_BYTES)
		return failed_plain(
			reterr, -EINVAL,
			"'%s' is not a file of 1 to %d bytes: move it away, then a new one "
			"is made",
			name, SECRET_FILE_BYTES);
	if (status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)))
		return failed_plain(
			reterr, -EPERM,
			"'%s' can be read or written by others (mode %04o, uid %u): it is "
			"not secret; remove it, or chmod 0600 it if it was not read",
			name, (unsigned int) status.st_mode & 07777, status.st_uid);
	return 0;
}

int secret_file_read(int directory_fd, const char *name, char **ret, struct failure *reterr)
{
	cleanup_free char *text = NULL;
	cleanup_close int fd = -EBADF;
	size_t length = 0;
	ssize_t n;
	int r;

	assert(name && ret);
	/* O_NONBLOCK: a pipe in its place must not hold the start up. */
	fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return failed(reterr, -errno, "cannot open '%s'", name);
	r = check_file(fd, name, reterr);
	if (r < 0)
		return r;
	text = malloc(SECRET_FILE_BYTES + 1);
	if (!text)
		return failed(reterr, -ENOMEM, "cannot read '%s'", name);
	while ((n = read(fd, text + length, SECRET_FILE_BYTES - length)) > 0)
		length += (size_t) n;
	text[length] = '\0';
	if (n < 0 || memchr(text, '\0', length)) {
		r = n < 0 ? failed(reterr, -errno, "cannot read '%s'", name)
			  : failed_plain(reterr, -EINVAL, "'%s' is not text", name);
		explicit_bzero(text, length);
		return r;
	}
	*ret = TAKE_PTR(text);
	return 0;
}

static int write_all(int fd, const char *text)
{
	size_t length = strlen(text);

	while (length > 0) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		length -= (size_t) n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

static int put_in_place(int directory_fd, const char *hidden, const char *name)
{
	if (renameat(directory_fd, hidden, directory_fd, name) < 0)
		return -errno;
	return fsync(directory_fd) < 0 ? -errno : 0;
}

int secret_file_write(int directory_fd, const char *name, const char *text, struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	char hidden[NAME_MAX + 1];
	int r;

	assert(directory_fd >= 0 && name && text && !strchr(name, '/'));
	(void) snprintf(hidden, sizeof(hidden), ".%s.new", name);
	(void) unlinkat(directory_fd, hidden, 0); /* of a crash; else O_EXCL says so */
	fd = openat(directory_fd, hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    S_IRUSR | S_IWUSR);
	if (fd < 0)
		return failed(reterr, -errno, "cannot make '%s'", name);
	r = write_all(fd, text);
	if (r == 0)
		r = put_in_place(directory_fd, hidden, name);
	if (r < 0) {
		(void) unlinkat(directory_fd, hidden, 0);
		return failed(reterr, r, "cannot write '%s'", name);
	}
	return 0;
}

char *secret_text_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	return NULL;
}
