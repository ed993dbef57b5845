/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unprivileged - which connection without credentials is closed, by counts alone
 */
#include "api/auth/unprivileged.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 64, PER_PEER = MAX / UNPRIVILEGED_PER_PEER_SHARE, ALL = MAX / UNPRIVILEGED_SHARE };

struct client {
	struct unprivileged unprivileged; /* first */
	bool busy;
};

static bool is_idle(const struct unprivileged *one)
{
	return !((const struct client *) one)->busy;
}

static struct unprivileged_list empty(void)
{
	return (struct unprivileged_list){ .connections_max = MAX, .is_idle = is_idle };
}

static void arrive(struct unprivileged_list *list, struct client *client, unsigned char peer)
{
	client->unprivileged.peer =
		(struct remote_peer){ .family = AF_INET, .bytes = { 10, 0, 0, peer } };
	unprivileged_add(list, &client->unprivileged);
	list->connections++;
}

static void leave(struct unprivileged_list *list, struct unprivileged *one)
{
	unprivileged_remove(list, one);
	list->connections--;
}

static void oldest_of_a_peer_that_is_over_its_limit(void **state)
{
	struct client other = { .busy = false }, clients[PER_PEER + 2] = { { .busy = false } };
	struct unprivileged_list list = empty();

	arrive(&list, &other, 2);
	clients[0].busy = true;
	for (int i = 0; i < PER_PEER; i++) {
		arrive(&list, &clients[i], 1);
		assert_null(unprivileged_surplus(&list, &clients[i].unprivileged));
	}
	/* Not the other peer's, though it is older; not the busy one. */
	arrive(&list, &clients[PER_PEER], 1);
	assert_ptr_equal(unprivileged_surplus(&list, &clients[PER_PEER].unprivileged),
			 &clients[1].unprivileged);
	leave(&list, &clients[1].unprivileged);
	assert_null(unprivileged_surplus(&list, &clients[PER_PEER].unprivileged));
	/* All others are busy: the new one itself. */
	for (int i = 0; i <= PER_PEER; i++)
		clients[i].busy = true;
	arrive(&list, &clients[PER_PEER + 1], 1);
	assert_ptr_equal(unprivileged_surplus(&list, &clients[PER_PEER + 1].unprivileged),
			 &clients[PER_PEER + 1].unprivileged);
}

static void all_of_them_leave_half(void **state)
{
	struct client clients[ALL + 1] = { { .busy = false } };
	struct unprivileged_list list = empty();

	for (int i = 0; i < ALL; i++) {
		arrive(&list, &clients[i], (unsigned char) i);
		assert_null(unprivileged_surplus(&list, &clients[i].unprivileged));
	}
	arrive(&list, &clients[ALL], 200);
	assert_ptr_equal(unprivileged_surplus(&list, &clients[ALL].unprivileged),
			 &clients[0].unprivileged);
	leave(&list, &clients[0].unprivileged);
	assert_null(unprivileged_surplus(&list, &clients[ALL].unprivileged));
	/* Who has shown a credential is counted no more. */
	unprivileged_remove(&list, &clients[1].unprivileged);
	unprivileged_remove(&list, &clients[1].unprivileged);
	assert_int_equal(list.count, ALL - 1);
}

static void members_that_fill_the_rest_close_unprivileged_ones(void **state)
{
	struct client clients[2] = { { .busy = false } };
	struct unprivileged_list list = empty();

	arrive(&list, &clients[0], 1);
	list.connections = MAX - MAX / UNPRIVILEGED_FREE_SHARE;
	assert_null(unprivileged_surplus(&list, NULL));
	list.connections++;
	assert_ptr_equal(unprivileged_surplus(&list, NULL), &clients[0].unprivileged);
	/* One that has just come has the chance to show what it has. */
	assert_null(unprivileged_surplus(&list, &clients[0].unprivileged));
	arrive(&list, &clients[1], 1);
	assert_ptr_equal(unprivileged_surplus(&list, &clients[1].unprivileged),
			 &clients[0].unprivileged);
}

static void one_connection_is_enough(void **state)
{
	struct unprivileged_list list = { .connections_max = 1, .is_idle = is_idle };
	struct client client = { .busy = false };

	arrive(&list, &client, 1);
	assert_null(unprivileged_surplus(&list, &client.unprivileged));
}

static struct remote_peer peer_at(const char *address)
{
	struct sockaddr_in6 in = { .sin6_family = AF_INET6 };
	cleanup_close int listening = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int accepted = -EBADF;
	socklen_t bytes = sizeof(in);
	const int off = 0;

	(void) setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	(void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (listening < 0 || bind(listening, &in, sizeof(in)) < 0)
		skip();
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, &in, &bytes), 0);
	assert_int_equal(inet_pton(AF_INET6, address, &in.sin6_addr), 1);
	if (connect(fd, &in, sizeof(in)) < 0)
		skip();
	accepted = accept(listening, NULL, NULL);
	return remote_peer_of(accepted);
}

static void peers_of_sockets(void **state)
{
	const struct remote_peer mapped = peer_at("::ffff:127.0.0.1"), local = peer_at("::1");
	struct remote_peer peer;
	int fds[2];
	uid_t uid;

	assert_int_equal(mapped.family, AF_INET);
	assert_memory_equal(mapped.bytes, "\x7f\0\0\1\0\0\0", 8);
	/* Of ::1 only the /64. */
	assert_int_equal(local.family, AF_INET6);
	assert_memory_equal(local.bytes, "\0\0\0\0\0\0\0", 8);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer = remote_peer_of(fds[0]);
	assert_int_equal(peer.family, AF_UNIX);
	memcpy(&uid, peer.bytes, sizeof(uid));
	assert_int_equal(uid, getuid());
	(void) close(fds[0]);
	(void) close(fds[1]);
	assert_int_equal(remote_peer_of(fds[0]).family, AF_UNSPEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_of_a_peer_that_is_over_its_limit),
		cmocka_unit_test(all_of_them_leave_half),
		cmocka_unit_test(members_that_fill_the_rest_close_unprivileged_ones),
		cmocka_unit_test(one_connection_is_enough),
		cmocka_unit_test(peers_of_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
