/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_deadline - who is late is shut down, no other, at any time that the test names
 */
#include "api/http/deadline.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include <cmocka.h>

enum { CLIENTS = 4 };

static const uint64_t lengths[DEADLINE_PHASES] = {
	[DEADLINE_UNAUTHENTICATED] = 5 * USEC_PER_SEC,
	[DEADLINE_IDLE] = 60 * USEC_PER_SEC,
	[DEADLINE_REQUEST] = 20 * USEC_PER_SEC,
	[DEADLINE_ANSWER] = 300 * USEC_PER_SEC,
};

struct fixture {
	sd_event *event;
	struct deadlines *deadlines;
	struct deadline clients[CLIENTS];
	int far[CLIENTS]; /* the clients' ends */
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_int_equal(sd_event_new(&fixture->event), 0);
	assert_int_equal(deadlines_new(fixture->event, lengths, &fixture->deadlines), 0);
	for (int i = 0; i < CLIENTS; i++) {
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
		deadline_init(&fixture->clients[i], fds[0]);
		fixture->far[i] = fds[1];
	}
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < CLIENTS; i++) {
		deadline_enter(fixture->deadlines, &fixture->clients[i], DEADLINE_NONE);
		assert_int_equal(close(fixture->clients[i].fd), 0);
		assert_int_equal(close(fixture->far[i]), 0);
	}
	assert_null(deadlines_free(fixture->deadlines));
	sd_event_unref(fixture->event);
	free(fixture);
	return 0;
}

static bool is_shut_down(const struct fixture *fixture, int client)
{
	char byte;

	return recv(fixture->far[client], &byte, 1, 0) == 0;
}

static void test_each_phase_has_its_length(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now = monotonic_usec();

	deadline_enter(fixture->deadlines, &fixture->clients[0], DEADLINE_IDLE);
	deadline_enter(fixture->deadlines, &fixture->clients[1], DEADLINE_REQUEST);
	deadline_enter(fixture->deadlines, &fixture->clients[2], DEADLINE_ANSWER);
	assert_int_equal(deadlines_pass(fixture->deadlines, now + 19 * USEC_PER_SEC), 0);
	assert_int_equal(deadlines_pass(fixture->deadlines, now + 30 * USEC_PER_SEC), 1);
	assert_true(is_shut_down(fixture, 1));
	assert_false(is_shut_down(fixture, 0));
	assert_int_equal(deadlines_pass(fixture->deadlines, now + 90 * USEC_PER_SEC), 1);
	assert_true(is_shut_down(fixture, 0));
	assert_int_equal(deadlines_pass(fixture->deadlines, now + 301 * USEC_PER_SEC), 1);
	assert_true(is_shut_down(fixture, 2));
	assert_false(is_shut_down(fixture, 3));
	/* Each once. */
	assert_int_equal(deadlines_pass(fixture->deadlines, UINT64_MAX), 0);
}

static void test_a_phase_ends_with_the_next(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now = monotonic_usec();

	deadline_enter(fixture->deadlines, &fixture->clients[0], DEADLINE_REQUEST);
	deadline_enter(fixture->deadlines, &fixture->clients[0], DEADLINE_NONE);
	assert_int_equal(deadlines_pass(fixture->deadlines, UINT64_MAX), 0);
	deadline_enter(fixture->deadlines, &fixture->clients[0], DEADLINE_REQUEST);
	deadline_enter(fixture->deadlines, &fixture->clients[0], DEADLINE_ANSWER);
	assert_int_equal(deadlines_pass(fixture->deadlines, now + 200 * USEC_PER_SEC), 0);
	assert_false(is_shut_down(fixture, 0));
}

/* The queue is in the order of the ends, also when the first or one in the middle goes. */
static void test_the_first_and_the_middle_leave(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now = monotonic_usec();

	for (int i = 0; i < CLIENTS; i++)
		deadline_enter(fixture->deadlines, &fixture->clients[i], DEADLINE_IDLE);
	deadline_enter(fixture->deadlines, &fixture->clients[0], DEADLINE_NONE);
	deadline_enter(fixture->deadlines, &fixture->clients[2], DEADLINE_NONE);
	assert_int_equal(deadlines_pass(fixture->deadlines, now + 61 * USEC_PER_SEC), 2);
	assert_true(is_shut_down(fixture, 1) && is_shut_down(fixture, 3));
	assert_false(is_shut_down(fixture, 0) || is_shut_down(fixture, 2));
}

/* The timer does it without being asked, and is off when there is no connection. */
static void test_the_timer(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t soon[DEADLINE_PHASES] = { 1000, 2000, 3000 };
	struct deadlines *deadlines;

	assert_int_equal(deadlines_new(fixture->event, soon, &deadlines), 0);
	deadline_enter(deadlines, &fixture->clients[1], DEADLINE_ANSWER);
	deadline_enter(deadlines, &fixture->clients[0], DEADLINE_IDLE);
	for (int i = 0; i < 100 && fixture->clients[1].phase != DEADLINE_NONE; i++)
		assert_true(sd_event_run(fixture->event, 100000) >= 0);
	assert_true(is_shut_down(fixture, 0));
	assert_true(is_shut_down(fixture, 1));
	assert_null(deadlines_free(deadlines));
}

int main(void)
{
#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		FIXTURE(test_each_phase_has_its_length),
		FIXTURE(test_a_phase_ends_with_the_next),
		FIXTURE(test_the_first_and_the_middle_leave),
		FIXTURE(test_the_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
