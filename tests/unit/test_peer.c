/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_peer - who may use the socket, and how the socket comes to be where nobody is in its way
 */
#include "api/api.h"
#include "api/peer.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>

enum { GROUP = 4711, GROUPS_MAX = 3 };

/* What the kernel shall say about the peer. */
static struct ucred peer;
static gid_t peer_groups[GROUPS_MAX];
static size_t peer_group_count;
static int peer_error;

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	socklen_t needed = (socklen_t) (peer_group_count * sizeof(gid_t));

	if (name != SO_PEERCRED && name != SO_PEERGROUPS)
		return __real_getsockopt(fd, level, name, value, bytes);
	if (peer_error) {
		errno = peer_error;
		return -1;
	}
	if (name == SO_PEERCRED) {
		memcpy(value, &peer, sizeof(peer));
		return 0;
	}
	if (*bytes < needed) {
		*bytes = needed;
		errno = ERANGE;
		return -1;
	}
	*bytes = needed;
	if (needed > 0)
		memcpy(value, peer_groups, needed);
	return 0;
}

static void set_peer(uid_t uid, gid_t gid, size_t count, gid_t last)
{
	peer = (struct ucred){ .pid = 1, .uid = uid, .gid = gid };
	peer_group_count = count;
	for (size_t i = 0; i < count; i++)
		peer_groups[i] = i + 1 == count ? last : 5;
	peer_error = 0;
}

static void test_who_may(void **state)
{
	set_peer(0, 0, 0, 0);
	assert_true(peer_may_use(0, GROUP));
	assert_true(peer_may_use(0, PEER_NO_GROUP));
	set_peer(1000, GROUP, 0, 0);
	assert_true(peer_may_use(0, GROUP));
	set_peer(1000, 1000, 3, GROUP);
	assert_true(peer_may_use(0, GROUP));
}

static void test_who_may_not(void **state)
{
	set_peer(1000, 1000, 0, 0);
	assert_false(peer_may_use(0, GROUP));
	set_peer(1000, 1000, 3, 7);
	assert_false(peer_may_use(0, GROUP));
	/* No such group: gid -1 must not open the door to somebody whose gid shows as -1. */
	set_peer(1000, PEER_NO_GROUP, 1, PEER_NO_GROUP);
	assert_false(peer_may_use(0, PEER_NO_GROUP));
	/* A peer that this user namespace cannot name. */
	set_peer((uid_t) -1, GROUP, 1, GROUP);
	assert_false(peer_may_use(0, GROUP));
	set_peer(0, 0, 0, 0);
	peer_error = ENOTSOCK;
	assert_false(peer_may_use(0, GROUP));
}

/* ---- the listening socket ---- */

struct room {
	char directory[32], path[64];
};

static int set_up(void **state)
{
	struct room *room = calloc(1, sizeof(*room));

	(void) snprintf(room->directory, sizeof(room->directory), "/tmp/podvol-peer-XXXXXX");
	assert_non_null(mkdtemp(room->directory));
	(void) snprintf(room->path, sizeof(room->path), "%s/sock", room->directory);
	*state = room;
	return 0;
}

static int tear_down(void **state)
{
	struct room *room = *state;

	(void) unlink(room->path);
	assert_int_equal(rmdir(room->directory), 0);
	free(room);
	return 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ? -errno : 0;
}

static void test_listen(void **state)
{
	const struct room *room = *state;
	struct stat status;
	struct failure why;
	int fd;

	fd = api_listen(room->path, &why);
	assert_true(fd >= 0);
	assert_int_equal(stat(room->path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 07777, 0660);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(connect_to(room->path), 0);

	/* Somebody answers: it stays. */
	assert_int_equal(api_listen(room->path, &why), -EADDRINUSE);
	assert_non_null(strstr(why.text, room->path));
	assert_int_equal(connect_to(room->path), 0);

	/* Nobody answers any more: it is replaced. */
	assert_int_equal(close(fd), 0);
	assert_int_equal(connect_to(room->path), -ECONNREFUSED);
	fd = api_listen(room->path, &why);
	assert_true(fd >= 0);
	assert_int_equal(connect_to(room->path), 0);
	assert_int_equal(close(fd), 0);
}

static void test_something_else_is_there(void **state)
{
	const struct room *room = *state;
	cleanup_close int fd = open(room->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	struct stat status;
	struct failure why;

	assert_true(fd >= 0);
	assert_int_equal(api_listen(room->path, &why), -EEXIST);
	assert_int_equal(stat(room->path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	assert_int_equal(unlink(room->path), 0);

	/* A link to a socket is no socket. */
	assert_int_equal(symlink("elsewhere", room->path), 0);
	assert_int_equal(api_listen(room->path, &why), -EEXIST);
}

static void test_bad_places(void **state)
{
	struct failure why;
	char path[256];

	assert_int_equal(api_listen("relative", &why), -EINVAL);
	assert_int_equal(api_listen("/tmp/", &why), -EINVAL);
	assert_int_equal(api_listen("/nonexistent-podvol/sock", &why), -ENOENT);
	(void) snprintf(path, sizeof(path), "/tmp/%0110d", 0);
	assert_int_equal(api_listen(path, &why), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_may),
		cmocka_unit_test(test_who_may_not),
		cmocka_unit_test_setup_teardown(test_listen, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_something_else_is_there, set_up, tear_down),
		cmocka_unit_test(test_bad_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
