/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect - a unix socket by a path of any length
 *
 * A socket address holds 107 bytes, and below kubelet's root paths are longer. Such a socket is
 * named by its directory's descriptor, which lives as long as the connect.
 */
#include "grpc/connect.h"

#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SHOWN_BYTES = 100 };

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

int grpc_connect(const char *path, struct failure *reterr)
{
	struct sockaddr_un address = { 0 };
	cleanup_close int directory_fd = -EBADF, fd = -EBADF;
	int r;

	assert(path && path[0] == '/');

	r = make_address(path, &address, &directory_fd, reterr);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return failed(reterr, -errno, "cannot make a unix socket");
	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
		return no_connection(reterr, -errno, path);
	return TAKE_FD(fd);
}
