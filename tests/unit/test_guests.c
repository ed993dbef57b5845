/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_guests - which connection without credentials is closed, by counts alone
 */
#include "api/auth/guests.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 64, PER_PEER = MAX / GUESTS_PER_PEER_SHARE, ALL = MAX / GUESTS_SHARE };

struct client {
	struct guest guest; /* first */
	bool busy;
};

static bool is_idle(const struct guest *guest)
{
	return !((const struct client *) guest)->busy;
}

static struct guests empty(void)
{
	return (struct guests){ .connections_max = MAX, .is_idle = is_idle };
}

static void arrive(struct guests *guests, struct client *client, unsigned char peer)
{
	client->guest.peer = (struct guest_peer){ .family = AF_INET, .bytes = { 10, 0, 0, peer } };
	guests_add(guests, &client->guest);
	guests->connections++;
}

static void leave(struct guests *guests, struct guest *guest)
{
	guests_remove(guests, guest);
	guests->connections--;
}

static void oldest_of_a_peer_that_is_over_its_limit(void **state)
{
	struct client other = { .busy = false }, clients[PER_PEER + 2] = { { .busy = false } };
	struct guests guests = empty();

	arrive(&guests, &other, 2);
	clients[0].busy = true;
	for (int i = 0; i < PER_PEER; i++) {
		arrive(&guests, &clients[i], 1);
		assert_null(guests_surplus(&guests, &clients[i].guest));
	}
	/* Not the other peer's, though it is older; not the busy one. */
	arrive(&guests, &clients[PER_PEER], 1);
	assert_ptr_equal(guests_surplus(&guests, &clients[PER_PEER].guest), &clients[1].guest);
	leave(&guests, &clients[1].guest);
	assert_null(guests_surplus(&guests, &clients[PER_PEER].guest));
	/* All others are busy: the new one itself. */
	for (int i = 0; i <= PER_PEER; i++)
		clients[i].busy = true;
	arrive(&guests, &clients[PER_PEER + 1], 1);
	assert_ptr_equal(guests_surplus(&guests, &clients[PER_PEER + 1].guest),
			 &clients[PER_PEER + 1].guest);
}

static void all_guests_leave_half(void **state)
{
	struct client clients[ALL + 1] = { { .busy = false } };
	struct guests guests = empty();

	for (int i = 0; i < ALL; i++) {
		arrive(&guests, &clients[i], (unsigned char) i);
		assert_null(guests_surplus(&guests, &clients[i].guest));
	}
	arrive(&guests, &clients[ALL], 200);
	assert_ptr_equal(guests_surplus(&guests, &clients[ALL].guest), &clients[0].guest);
	leave(&guests, &clients[0].guest);
	assert_null(guests_surplus(&guests, &clients[ALL].guest));
	/* Who has shown a credential is counted no more. */
	guests_remove(&guests, &clients[1].guest);
	guests_remove(&guests, &clients[1].guest);
	assert_int_equal(guests.count, ALL - 1);
}

static void members_that_fill_the_rest_push_guests_out(void **state)
{
	struct client clients[2] = { { .busy = false } };
	struct guests guests = empty();

	arrive(&guests, &clients[0], 1);
	guests.connections = MAX - MAX / GUESTS_FREE_SHARE;
	assert_null(guests_surplus(&guests, NULL));
	guests.connections++;
	assert_ptr_equal(guests_surplus(&guests, NULL), &clients[0].guest);
	/* One that has just come has the chance to show what it has. */
	assert_null(guests_surplus(&guests, &clients[0].guest));
	arrive(&guests, &clients[1], 1);
	assert_ptr_equal(guests_surplus(&guests, &clients[1].guest), &clients[0].guest);
}

static void one_connection_is_enough(void **state)
{
	struct guests guests = { .connections_max = 1, .is_idle = is_idle };
	struct client client = { .busy = false };

	arrive(&guests, &client, 1);
	assert_null(guests_surplus(&guests, &client.guest));
}

static struct guest_peer peer_at(const char *address)
{
	struct sockaddr_in6 in = { .sin6_family = AF_INET6 };
	cleanup_close int listening = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int accepted = -EBADF;
	socklen_t bytes = sizeof(in);
	const int off = 0;

	(void) setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	(void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (listening < 0 || bind(listening, (struct sockaddr *) &in, sizeof(in)) < 0)
		skip();
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *) &in, &bytes), 0);
	assert_int_equal(inet_pton(AF_INET6, address, &in.sin6_addr), 1);
	if (connect(fd, (struct sockaddr *) &in, sizeof(in)) < 0)
		skip();
	accepted = accept(listening, NULL, NULL);
	return guest_peer_of(accepted);
}

static void peers_of_sockets(void **state)
{
	const struct guest_peer mapped = peer_at("::ffff:127.0.0.1"), local = peer_at("::1");
	struct guest_peer peer;
	int fds[2];
	uid_t uid;

	assert_int_equal(mapped.family, AF_INET);
	assert_memory_equal(mapped.bytes, "\x7f\0\0\1\0\0\0", 8);
	/* Of ::1 only the /64. */
	assert_int_equal(local.family, AF_INET6);
	assert_memory_equal(local.bytes, "\0\0\0\0\0\0\0", 8);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peer = guest_peer_of(fds[0]);
	assert_int_equal(peer.family, AF_UNIX);
	memcpy(&uid, peer.bytes, sizeof(uid));
	assert_int_equal(uid, getuid());
	(void) close(fds[0]);
	(void) close(fds[1]);
	assert_int_equal(guest_peer_of(fds[0]).family, AF_UNSPEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oldest_of_a_peer_that_is_over_its_limit),
		cmocka_unit_test(all_guests_leave_half),
		cmocka_unit_test(members_that_fill_the_rest_push_guests_out),
		cmocka_unit_test(one_connection_is_enough),
		cmocka_unit_test(peers_of_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
