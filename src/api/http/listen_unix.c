/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_unix - the unix socket where no service manager made it
 *
 * Replaces a socket on which no server answers, nothing else. The socket's directory is pinned, so
 * that what was checked is what is replaced.
 */
#include "api/http/listen.h"

#include "api/auth/peer.h"
#include "base/cleanup.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Where the socket goes: its directory is pinned, so that what was checked is what is replaced. */
struct place {
	int directory_fd;
	const char *name;
	struct sockaddr_un address;
};

static int open_place(const char *path, struct place *ret, struct failure *reterr)
{
	const char *slash = strrchr(path, '/');
	char directory[sizeof(ret->address.sun_path)];

	if (strlen(path) >= sizeof(ret->address.sun_path))
		return failed_plain(reterr, -ENAMETOOLONG,
				    "the socket path '%s' is longer than %zu bytes", path,
				    sizeof(ret->address.sun_path) - 1);
	if (!slash || slash[1] == '\0')
		return failed_plain(reterr, -EINVAL, "'%s' is not an absolute path of a socket",
				    path);
	(void) snprintf(directory, sizeof(directory), "%.*s", (int) (slash - path + 1), path);
	ret->address.sun_family = AF_UNIX;
	memcpy(ret->address.sun_path, path, strlen(path) + 1);
	ret->name = slash + 1;
	ret->directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->directory_fd < 0)
		return failed(reterr, -errno, "cannot open the socket's directory '%s'", directory);
	return 0;
}

static int make_socket(struct failure *reterr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? failed(reterr, -errno, "cannot create a unix socket") : fd;
}

/* Was it killed, and only a thread of it is left that waits for a server inside the kernel? Its
 * sockets stay open as long, and no one will ever accept. */
static bool is_dead(pid_t pid)
{
	char path[32], line[256];
	cleanup_fclose FILE *file = NULL;
	const char *state;

	(void) snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return errno == ENOENT || errno == ESRCH;
	state = strrchr(line, ')'); /* the name before it may hold anything */
	return state && (strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0);
}

static bool listener_is_dead(int fd)
{
	struct ucred listener;
	socklen_t size = sizeof(listener);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 && listener.pid > 0 &&
	       is_dead(listener.pid);
}

/* Takes away a socket on which no server answers; refuses anything else that is in the place. */
static int clear_place(const struct place *place, struct failure *reterr)
{
	const char *path = place->address.sun_path;
	cleanup_close int fd = -EBADF;
	struct stat status;

	if (fstatat(place->directory_fd, place->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : failed(reterr, -errno, "cannot inspect '%s'", path);
	if (!S_ISSOCK(status.st_mode))
		return failed_plain(
			reterr, -EEXIST,
			"'%s' exists and is not a socket: move it away, or name another "
			"place",
			path);
	fd = make_socket(reterr);
	if (fd < 0)
		return fd;
	/* EAGAIN: its queue is full, so a server listens. */
	if (connect(fd, (const struct sockaddr *) &place->address, sizeof(place->address)) == 0) {
		if (!listener_is_dead(fd))
			return failed_plain(reterr, -EADDRINUSE, "another process answers on '%s'",
					    path);
	} else if (errno == EAGAIN) {
		return failed_plain(reterr, -EADDRINUSE, "another process answers on '%s'", path);
	} else if (errno != ECONNREFUSED) {
		return failed(reterr, -errno, "cannot determine who uses '%s'", path);
	}
	if (unlinkat(place->directory_fd, place->name, 0) < 0 && errno != ENOENT)
		return failed(reterr, -errno, "cannot remove the stale socket '%s'", path);
	return 0;
}

/* Group and mode come before listen(2), so that no client connects before they are right. */
static int bind_socket(int fd, const struct place *place, enum listen_access access,
		       struct failure *reterr)
{
	static const mode_t masks[] = {
		[LISTEN_GROUP] = 0117,
		[LISTEN_ALL] = 0111,
		[LISTEN_OWNER] = 0177,
	};
	const char *path = place->address.sun_path;
	gid_t group = access == LISTEN_OWNER ? PEER_NO_GROUP : peer_group_id();
	mode_t old_mask = umask(masks[access]);
	int r = bind(fd, (const struct sockaddr *) &place->address, sizeof(place->address)) < 0
			? -errno
			: 0;

	(void) umask(old_mask);
	if (r < 0)
		return failed(reterr, r, "cannot create the socket '%s'", path);
	if (group != PEER_NO_GROUP && geteuid() == 0 &&
	    fchownat(place->directory_fd, place->name, (uid_t) -1, group, AT_SYMLINK_NOFOLLOW) < 0)
		return failed(reterr, -errno, "cannot give '%s' to group " API_GROUP, path);
	if (listen(fd, SOMAXCONN) < 0)
		return failed(reterr, -errno, "cannot listen on '%s'", path);
	return 0;
}

int listen_unix(const char *path, enum listen_access access, struct failure *reterr)
{
	struct place place = { .directory_fd = -EBADF };
	cleanup_close int directory_fd = -EBADF, fd = -EBADF;
	int r;

	assert(path && (unsigned int) access <= LISTEN_OWNER);
	r = open_place(path, &place, reterr);
	if (r < 0)
		return r;
	directory_fd = place.directory_fd;

	r = clear_place(&place, reterr);
	if (r < 0)
		return r;
	fd = make_socket(reterr);
	if (fd < 0)
		return fd;
	r = bind_socket(fd, &place, access, reterr);
	if (r < 0)
		return r;
	return TAKE_FD(fd);
}
