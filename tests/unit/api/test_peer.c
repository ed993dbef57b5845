/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_peer - what the kernel says about a peer, and what the peer may do
 */
#include "api/auth/peer.h"

#include "api/exchange.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

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

enum { ALL = RIGHTS_ALL, MOST = RIGHT_READ | RIGHT_WRITE | RIGHT_HOST };

static unsigned int rights(gid_t group)
{
	return peer_rights(0, group, MOST, false);
}

static void test_root_may_all(void **state)
{
	set_peer(0, 0, 0, 0);
	assert_int_equal(rights(GROUP), ALL);
	assert_int_equal(rights(PEER_NO_GROUP), ALL);
}

static void test_the_group_may_not_see_secrets(void **state)
{
	set_peer(1000, GROUP, 0, 0);
	assert_int_equal(rights(GROUP), MOST);
	set_peer(1000, 1000, 3, GROUP);
	assert_int_equal(rights(GROUP), MOST);
}

static void test_others_may_nothing(void **state)
{
	set_peer(1000, 1000, 0, 0);
	assert_int_equal(rights(GROUP), 0);
	set_peer(1000, 1000, 3, 7);
	assert_int_equal(rights(GROUP), 0);
	/* No such group: gid -1 must not let in a process whose gid shows as -1. */
	set_peer(1000, PEER_NO_GROUP, 1, PEER_NO_GROUP);
	assert_int_equal(rights(PEER_NO_GROUP), 0);
	/* A peer that this user namespace cannot name. */
	set_peer((uid_t) -1, GROUP, 1, GROUP);
	assert_int_equal(rights(GROUP), 0);
	set_peer(0, 0, 0, 0);
	peer_error = ENOTSOCK;
	assert_int_equal(rights(GROUP), 0);
}

static void test_names(void **state)
{
	char name[PEER_NAME_BYTES];

	set_peer(1000, GROUP, 0, 0);
	peer_name(0, name);
	assert_string_equal(name, "uid 1000, process 1");
	peer_error = ENOTSOCK;
	peer_name(0, name);
	assert_string_equal(name, "an unknown process");
}

static void test_others_may_read_when_told_so(void **state)
{
	set_peer(1000, 1000, 0, 0);
	assert_int_equal(peer_rights(0, GROUP, MOST, true), RIGHT_READ);
	set_peer((uid_t) -1, GROUP, 1, GROUP);
	assert_int_equal(peer_rights(0, GROUP, MOST, true), RIGHT_READ);
	/* The others lose nothing by it; who cannot be known gets nothing. */
	set_peer(1000, GROUP, 0, 0);
	assert_int_equal(peer_rights(0, GROUP, MOST, true), MOST);
	peer_error = ENOTSOCK;
	assert_int_equal(peer_rights(0, GROUP, MOST, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root_may_all),
		cmocka_unit_test(test_the_group_may_not_see_secrets),
		cmocka_unit_test(test_others_may_nothing),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_others_may_read_when_told_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
