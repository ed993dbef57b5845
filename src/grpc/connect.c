/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect - see connect.h
 *
 * A socket address holds 107 bytes, and below kubelet's root paths are longer. Such a socket is
 * named by its directory's descriptor, which lives as long as the connect; on the loop each is
 * named by its own, which a look-up in the kernel's cache gave.
 */
#include "grpc/connect.h"

#include "base/cleanup.h"
#include "base/syscalls.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/vfs.h>

enum { SHOWN_BYTES = 100, TRUSTED_MAX = 8 };

/* Paths of this kind differ at their end, and a failure's text holds no whole one. */
static int no_connection(struct failure *reterr, int error, const char *path)
{
	size_t length = strlen(path);
	bool whole = length <= SHOWN_BYTES;

	return failed(reterr, error, "cannot connect to '%s%s'", whole ? "" : "...",
		      path + (whole ? 0 : length - SHOWN_BYTES));
}

/* @ret_directory_fd keeps the address valid; -EBADF: it needs none. */
static int make_address(const char *path, struct sockaddr_un *ret, int *ret_directory_fd,
			struct failure *reterr)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *directory = NULL;
	cleanup_close int fd = -EBADF;

	ret->sun_family = AF_UNIX;
	if (strlen(path) < sizeof(ret->sun_path)) {
		memcpy(ret->sun_path, path, strlen(path) + 1);
		return 0;
	}
	directory = strndup(path, (size_t) (slash - path) + 1);
	if (!directory)
		return no_connection(reterr, -ENOMEM, path);
	fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return no_connection(reterr, -errno, path);
	if ((size_t) snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", fd,
			      slash + 1) >= sizeof(ret->sun_path))
		return no_connection(reterr, -ENAMETOOLONG, path);
	*ret_directory_fd = TAKE_FD(fd);
	return 0;
}

static int connect_to(const struct sockaddr_un *address, const char *path, struct failure *reterr)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return failed(reterr, -errno, "cannot create a unix socket");
	if (connect(fd, (const struct sockaddr *) address, sizeof(*address)) < 0)
		return no_connection(reterr, -errno, path);
	return TAKE_FD(fd);
}

/* ---- which file systems ask no server ---- */

/* The kernel gives a number again once its file system is unmounted. What is cached of another one
 * that got it still comes without asking, but for a server that wants to judge each access again.
 */
static struct {
	dev_t devices[TRUSTED_MAX];
	size_t next; /* the oldest is forgotten */
} trusted;

static bool is_trusted(dev_t device)
{
	for (size_t i = 0; i < TRUSTED_MAX; i++)
		if (device != 0 && trusted.devices[i] == device)
			return true;
	return false;
}

void grpc_connect_trust(dev_t device)
{
	if (device == 0 || is_trusted(device))
		return;
	trusted.devices[trusted.next] = device;
	trusted.next = (trusted.next + 1) % TRUSTED_MAX;
}

static bool is_local(const struct statfs *file_system)
{
	switch (file_system->f_type) {
	case BTRFS_SUPER_MAGIC:
	case EXT4_SUPER_MAGIC: /* ext2 and ext3, too */
	case OVERLAYFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case XFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

static dev_t local_device(const char *path)
{
	cleanup_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct statfs file_system;
	struct stat stat;

	if (fd < 0 || fstatfs(fd, &file_system) < 0 || !is_local(&file_system) ||
	    fstat(fd, &stat) < 0)
		return 0;
	return stat.st_dev;
}

/* ---- connecting ---- */

int grpc_connect(const char *path, dev_t *ret_device, struct failure *reterr)
{
	struct sockaddr_un address = { 0 };
	cleanup_close int directory_fd = -EBADF;
	int r;

	assert(path && path[0] == '/' && ret_device);
	r = make_address(path, &address, &directory_fd, reterr);
	if (r < 0)
		return r;
	r = connect_to(&address, path, reterr);
	if (r >= 0)
		*ret_device = local_device(path);
	return r;
}

int grpc_connect_now(const char *path, struct failure *reterr)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_close int fd = -EBADF;
	struct statx facts;

	assert(path && path[0] == '/');
	fd = openat2(AT_FDCWD, path, &how, sizeof(how));
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &facts) < 0 ||
	    !is_trusted(makedev(facts.stx_dev_major, facts.stx_dev_minor)))
		return -EINPROGRESS;
	(void) snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", fd);
	return connect_to(&address, path, reterr);
}
