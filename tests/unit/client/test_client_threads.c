/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_client_threads - what podvol.h says of threads: handles do not know each other, and one
 * belongs to a thread at a time, also with calls under way
 *
 * Asserts nothing in a thread: cmocka's assertions are the main thread's.
 */
#include "base/cleanup.h"
#include "canned_server.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 300 };

static const struct podvol_request request = { .method = "GET",
					       .path = "/x",
					       .timeout_msec = 100000 };

/* ---- handles of their own ---- */

/* One that asks again and again, blocking and not, and what it is to hear. */
struct asker {
	struct podvol *podvol;
	int result;
	const char *body, *error;
	int wrong, answered;
	pthread_t thread;
};

static void note(struct asker *asker, int result, const char *body)
{
	bool is_right = result == asker->result &&
			strcmp(podvol_error(asker->podvol), asker->error) == 0 &&
			(result < 0 || strcmp(body ? body : "", asker->body) == 0);

	asker->answered++;
	asker->wrong += !is_right;
}

static void done(void *userdata, int result, struct podvol_reply *reply)
{
	note(userdata, result, reply->body);
}

static bool process_all(struct podvol *podvol)
{
	struct pollfd pollfd = { .fd = podvol_fd(podvol), .events = POLLIN };
	int left;

	while ((left = podvol_process(podvol)) > 0)
		if (poll(&pollfd, 1, 100000) != 1)
			return false;
	return left == 0;
}

/* A connection of the handle for these, and another for those: the server has one at a time. */
static void *ask(void *userdata)
{
	struct asker *asker = userdata;

	for (int i = 0; i < ROUNDS; i++) {
		struct podvol_reply reply = { 0 };
		int r = podvol_request(asker->podvol, &request, &reply);

		note(asker, r, reply.body);
		podvol_reply_done(&reply);
	}
	return NULL;
}

static void *ask_asynchronously(void *userdata)
{
	struct asker *asker = userdata;

	for (int i = 0; i < ROUNDS; i++) {
		asker->wrong += podvol_call(asker->podvol, &request, done, asker, NULL) != 0;
		asker->wrong += !process_all(asker->podvol);
	}
	return NULL;
}

/* @state: the server of the one; another is made for the other. */
static void ask_two_at_once(void **state, void *(*run)(void *) )
{
	struct server *well = *state, *ill;
	struct asker askers[] = { { .result = 0, .body = "hello", .error = "" },
				  { .result = -ENOENT, .error = "there is none" } };
	void *other = NULL;

	assert_int_equal(server_set_up(&other), 0);
	ill = other;
	well->answer = ANSWER("200 OK", "hello");
	ill->answer = ANSWER("404 Not Found", "{\"message\":\"there is none\"}");
	askers[0].podvol = connected(well);
	askers[1].podvol = connected(ill);
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++)
		assert_int_equal(pthread_create(&askers[i].thread, NULL, run, &askers[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
		assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
		podvol_free(askers[i].podvol);
	}
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
		assert_int_equal(askers[i].answered, ROUNDS);
		assert_int_equal(askers[i].wrong, 0);
	}
	assert_int_equal(server_tear_down(&other), 0);
}

static void handles_do_not_know_each_other(void **state)
{
	ask_two_at_once(state, ask);
}

static void calls_of_two_threads(void **state)
{
	ask_two_at_once(state, ask_asynchronously);
}

/* ---- one handle ---- */

static void *finish(void *userdata)
{
	struct asker *asker = userdata;

	asker->wrong += !process_all(asker->podvol);
	podvol_free(asker->podvol);
	return NULL;
}

static void a_handle_goes_to_another_thread(void **state)
{
	struct server *server = *state;
	struct asker asker = { .podvol = connected(server), .body = "hello", .error = "" };

	server->answer = ANSWER("200 OK", "hello");
	assert_int_equal(podvol_call(asker.podvol, &request, done, &asker, NULL), 0);
	assert_int_equal(pthread_create(&asker.thread, NULL, finish, &asker), 0);
	assert_int_equal(pthread_join(asker.thread, NULL), 0);
	assert_int_equal(asker.answered, 1);
	assert_int_equal(asker.wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(handles_do_not_know_each_other, server_set_up,
						server_tear_down),
		cmocka_unit_test_setup_teardown(calls_of_two_threads, server_set_up,
						server_tear_down),
		cmocka_unit_test_setup_teardown(a_handle_goes_to_another_thread, server_set_up,
						server_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
