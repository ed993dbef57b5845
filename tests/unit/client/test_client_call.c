/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_client_call - libpodvol's calls that do not block, against a server of canned answers
 */
#include "base/cleanup.h"
#include "canned_server.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct seen {
	int count, result, status;
	char *body; /* owned */
	char error[256];
	struct podvol *podvol;
	const struct podvol_request *then; /* started from inside; NULL: nothing */
};

static void done(void *userdata, int result, struct podvol_reply *reply)
{
	struct seen *seen = userdata;

	seen->count++;
	seen->result = result;
	seen->status = podvol_status(seen->podvol);
	(void) snprintf(seen->error, sizeof(seen->error), "%s", podvol_error(seen->podvol));
	free(seen->body);
	seen->body = TAKE_PTR(reply->body);
	if (seen->then) {
		const struct podvol_request *then = TAKE_PTR(seen->then);

		assert_int_equal(podvol_call(seen->podvol, then, done, seen, NULL), 0);
	}
}

/* Until no call is under way. */
static void process_all(struct podvol *podvol)
{
	struct pollfd pollfd = { .fd = podvol_fd(podvol), .events = POLLIN };
	int left;

	assert_true(pollfd.fd >= 0);
	while ((left = podvol_process(podvol)) > 0)
		assert_int_equal(poll(&pollfd, 1, 100000), 1);
	assert_int_equal(left, 0);
}

static void test_one_call(void **state)
{
	struct server *server = *state;
	struct seen seen = { .podvol = connected(server) };
	char body[] = "a: b\n";
	struct podvol_request request = { .method = "PUT",
					  .path = "/x",
					  .content_type = "application/yaml",
					  .body = body,
					  .body_length = 5 };

	server->answer = ANSWER("201 Created", "hello");
	assert_int_equal(podvol_call(seen.podvol, &request, done, &seen, NULL), 0);
	memset(body, 'x', 5); /* it was copied */
	assert_int_equal(seen.count, 0);
	process_all(seen.podvol);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.status, 201);
	assert_string_equal(seen.body, "hello");
	assert_string_equal(seen.error, "");
	assert_non_null(strstr(server->request, "PUT /x HTTP/1.1\r\n"));
	assert_non_null(strstr(server->request, "\r\n\r\na: b\n"));
	free(seen.body);
	podvol_free(seen.podvol);
}

static void test_refused_and_again_from_inside(void **state)
{
	struct server *server = *state;
	struct seen seen = { .podvol = connected(server) };
	const struct podvol_request request = { .method = "GET", .path = "/x" };

	server->answer = ANSWER("404 No", "{\"message\":\"no such pod\"}");
	seen.then = &request;
	assert_int_equal(podvol_call(seen.podvol, &request, done, &seen, NULL), 0);
	process_all(seen.podvol);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.result, -ENOENT);
	assert_int_equal(seen.status, 404);
	assert_string_equal(seen.error, "no such pod");
	free(seen.body);
	podvol_free(seen.podvol);
}

static void test_no_daemon(void **state)
{
	const struct podvol_request request = { .method = "GET", .path = "/x" };
	struct seen seen = { .count = 0 };

	assert_int_equal(podvol_connect("/nonexistent/podvol.sock", &seen.podvol), 0);
	assert_int_equal(podvol_call(seen.podvol, &request, done, &seen, NULL), 0);
	process_all(seen.podvol);
	assert_int_equal(seen.result, -ECONNREFUSED);
	assert_null(seen.body);
	assert_non_null(strstr(seen.error, "is podvold running?"));
	podvol_free(seen.podvol);
}

#define NEVER_WHOLE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

static void test_time_limit(void **state)
{
	struct server *server = *state;
	struct seen seen = { .podvol = connected(server) };
	const struct podvol_request request = { .method = "GET", .path = "/x", .timeout_msec = 50 };

	server->answer = NEVER_WHOLE;
	assert_int_equal(podvol_call(seen.podvol, &request, done, &seen, NULL), 0);
	process_all(seen.podvol);
	assert_int_equal(seen.result, -ETIMEDOUT);
	podvol_free(seen.podvol);
}

static void test_cancelled_calls_are_silent(void **state)
{
	struct server *server = *state;
	struct seen seen = { .podvol = connected(server) };
	const struct podvol_request request = { .method = "GET", .path = "/x" };
	struct podvol_call *call = NULL;

	server->answer = NEVER_WHOLE;
	assert_int_equal(podvol_call(seen.podvol, &request, done, &seen, &call), 0);
	(void) podvol_process(seen.podvol); /* on its way */
	podvol_call_cancel(call);
	assert_int_equal(podvol_process(seen.podvol), 0);
	podvol_call_cancel(NULL);
	/* And one that the handle takes with it. */
	assert_int_equal(podvol_call(seen.podvol, &request, done, &seen, NULL), 0);
	podvol_free(seen.podvol);
	assert_int_equal(seen.count, 0);
}

static void test_limits_and_mistakes(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	struct seen seen = { .podvol = podvol };
	const struct podvol_request request = { .method = "GET", .path = "/x" };
	const struct podvol_request wrong = { .method = "GET", .path = "x" };
	struct podvol_request *made = NULL;

	assert_int_equal(podvol_call(NULL, &request, done, NULL, NULL), -EINVAL);
	assert_int_equal(podvol_call(podvol, &request, NULL, NULL, NULL), -EINVAL);
	assert_int_equal(podvol_call(podvol, &wrong, done, NULL, NULL), -EINVAL);
	assert_int_equal(podvol_process(podvol), 0);
	assert_int_equal(podvol_fd(NULL), -EINVAL);
	assert_int_equal(podvol_pod_mount_request(podvol, "a/b/c", 0, &made), -EINVAL);
	assert_int_equal(podvol_hold_add_request(podvol, "a", NULL, &made), -EINVAL);
	assert_null(made);
	podvol_request_free(NULL);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(podvol_call(podvol, &request, done, &seen, NULL), 0);
	assert_int_equal(podvol_call(podvol, &request, done, &seen, NULL), -EAGAIN);
	assert_string_equal(podvol_error(podvol), "1000 calls are under way");
	podvol_free(podvol);
	assert_int_equal(seen.count, 0);
}

static void test_requests(void **state)
{
	struct server *server = *state;
	struct podvol *podvol = connected(server);
	const struct podvol_hold hold = { .container = "main", .pid = 7 };
	struct podvol_request *request = NULL;

	assert_int_equal(podvol_pod_unmount_request(podvol, "a/b c", 5, &request), 0);
	assert_string_equal(request->path,
			    "/podvol/v1/pods/a/b%20c/unmount?ignoreNotFound=true&timeout=5ms");
	podvol_request_free(request);
	assert_int_equal(podvol_pod_wait_request(podvol, "b", PODVOL_UNMOUNTED, 0, &request), 0);
	assert_string_equal(request->path, "/podvol/v1/pods/b/wait?for=unmounted&timeout=0ms");
	podvol_request_free(request);
	assert_int_equal(podvol_container_mounts_request(podvol, "b", "c", "oci", 0, &request), 0);
	assert_string_equal(request->path,
			    "/podvol/v1/pods/b/mounts?timeout=0ms&format=oci&container=c");
	podvol_request_free(request);
	assert_int_equal(podvol_hold_add_request(podvol, "b", &hold, &request), 0);
	assert_non_null(strstr(request->body, "\"pid\":7"));
	podvol_request_free(request);
	assert_int_equal(podvol_hold_remove_request(podvol, "b", "x/y", &request), 0);
	assert_string_equal(request->path, "/podvol/v1/pods/b/holds/x%2Fy");
	assert_string_equal(request->method, "DELETE");
	podvol_request_free(request);
	podvol_free(podvol);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, server_set_up, server_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_one_call),
		TEST(test_refused_and_again_from_inside),
		TEST(test_no_daemon),
		TEST(test_time_limit),
		TEST(test_cancelled_calls_are_silent),
		TEST(test_limits_and_mistakes),
		TEST(test_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
