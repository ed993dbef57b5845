/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_http - the transport on a real socket: limits, waits, clients that leave, stopping
 */
#include "api/api.h"
#include "base/cleanup.h"
#include "http_world.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

static void test_one_connection_many_requests(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	for (int i = 0; i < 3; i++) {
		put(served, fd, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
		assert_int_equal(get_reply(served, fd), 200);
		assert_non_null(strstr(served->reply, "\r\n\r\nok"));
	}
	put(served, fd,
	    "POST /api/v1/namespaces/default/pods HTTP/1.1\r\n" HOST "Content-Length: 20\r\n\r\n");
	put(served, fd, "{\"kind\":");
	turn(served);
	put(served, fd, "\"Pod\"     }");
	put(served, fd, " ");
	assert_int_equal(get_reply(served, fd), 422);
	put(served, fd, "HEAD /healthz HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
	assert_int_equal(get_reply(served, fd), 200);
	assert_null(strstr(served->reply, "\r\n\r\nok"));
}

static void test_write_and_read(void **state)
{
	struct served *served = *state;
	char text[1024];

	(void) snprintf(text, sizeof(text),
			"POST /api/v1/persistentvolumes HTTP/1.1\r\n" HOST
			"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			strlen(world_pv_json), world_pv_json);
	assert_int_equal(ask(served, text), 201);
	assert_non_null(strstr(served->reply, "Content-Type: application/json\r\n"));
	assert_int_equal(ask(served, "GET /api/v1/persistentvolumes/disk HTTP/1.1\r\n" HOST
				     "Accept: application/yaml\r\n\r\n"),
			 200);
	assert_non_null(strstr(served->reply, "Content-Type: application/yaml\r\n"));
	assert_non_null(strstr(served->reply, "name: disk\n"));
}

/* A request whose path has @length bytes. */
static void long_request(char *text, size_t length)
{
	memcpy(text, "GET /", 5);
	memset(text + 5, 'a', length - 1);
	memcpy(text + 4 + length, " HTTP/1.1\r\n" HOST "\r\n", sizeof(" HTTP/1.1\r\n" HOST "\r\n"));
}

static void test_refused_heads(void **state)
{
	struct served *served = *state;
	cleanup_free char *text = malloc(2 * API_HEAD_BYTES_MAX + 256);

	assert_non_null(text);
	assert_int_equal(ask(served, "GET /a/../b HTTP/1.1\r\n" HOST "\r\n"), 400);
	assert_non_null(strstr(served->reply, "\"kind\":\"Status\""));
	assert_int_equal(
		ask(served, "GET /api/v1/pods HTTP/1.1\r\n" HOST "Accept: text/html\r\n\r\n"), 406);
	assert_int_equal(ask(served, "POST /podvol/v1/apply HTTP/1.1\r\n" HOST
				     "Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx"),
			 415);
	assert_int_equal(ask(served, "BREW /api/v1/persistentvolumes/x HTTP/1.1\r\n" HOST "\r\n"),
			 405);
	long_request(text, API_URI_BYTES_MAX + 1);
	assert_int_equal(ask(served, text), 414);
	/* A head that is longer than its limit: the library refuses it or hangs up. */
	long_request(text, 2 * API_HEAD_BYTES_MAX);
	assert_int_not_equal(ask(served, text), 200);
	assert_int_not_equal(ask(served, "\x01\x02\x03 nonsense\r\n\r\n"), 200);
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
}

static void test_foreign_volumes(void **state)
{
	struct served *served = *state;

	rights_of_peer = 0;
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 403);
	assert_non_null(strstr(served->reply, "\"reason\":\"Forbidden\""));
	assert_int_equal(ask(served, "DELETE /api/v1/persistentvolumes/x HTTP/1.1\r\n" HOST "\r\n"),
			 403);
}

static void test_bodies_are_bounded(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = -EBADF;
	char chunk[600];
	int i;

	assert_int_equal(ask(served, "POST /podvol/v1/apply HTTP/1.1\r\n" HOST
				     "Content-Length: 2001\r\n\r\n"),
			 413);
	/* Without a promised length it shows only on the way. */
	memset(chunk, 'a', sizeof(chunk));
	memcpy(chunk, "1f4\r\n", 5);
	memcpy(chunk + 505, "\r\n", 3);
	fd = client(served);
	put(served, fd,
	    "POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	for (i = 0; i < 5; i++)
		put(served, fd, chunk);
	put(served, fd, "0\r\n\r\n");
	assert_int_equal(get_reply(served, fd), 413);
	(void) close(fd);

	/* Who goes on and on is cut off. */
	fd = client(served);
	put(served, fd,
	    "POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
	for (i = 0; i < 40; i++) {
		put(served, fd, chunk);
		turn(served);
	}
	(void) get_reply(served, fd);
	assert_true(served->closed);
}

/* ---- waits ---- */

#define WAIT "POST /podvol/v1/pods/web/wait?timeout=1h HTTP/1.1\r\n" HOST "\r\n"

static void store_pod(struct served *served)
{
	char text[1024];

	(void) snprintf(text, sizeof(text),
			"POST /api/v1/namespaces/default/pods HTTP/1.1\r\n" HOST
			"Content-Length: %zu\r\n\r\n%s",
			strlen(world_pod_json), world_pod_json);
	assert_int_equal(ask(served, text), 201);
}

static void test_wait_is_answered(void **state)
{
	struct served *served = *state;
	struct agent *agent = &served->world->agent;
	cleanup_close int fd = -EBADF;

	store_pod(served);
	fd = client(served);
	put(served, fd, WAIT);
	wait_for(served, &agent->waits, 1);
	/* Others are served meanwhile. */
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
	world_end_wait(served->world, -ETIMEDOUT, "volume 'v' is at SetUp");
	assert_int_equal(get_reply(served, fd), 504);
	assert_non_null(strstr(served->reply, "volume 'v' is at SetUp"));
	/* The connection goes on. */
	put(served, fd, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
	assert_int_equal(get_reply(served, fd), 200);
}

static void test_client_leaves_a_wait(void **state)
{
	struct served *served = *state;
	struct agent *agent = &served->world->agent;
	int fd;

	store_pod(served);
	fd = client(served);
	put(served, fd, WAIT);
	wait_for(served, &agent->waits, 1);
	assert_int_equal(agent->cancelled, 0);
	assert_int_equal(close(fd), 0);
	wait_for(served, &agent->cancelled, 1);
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
}

/* Who has nothing more to say still reads, as `nc -N` does. */
static void test_client_says_no_more(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = -EBADF;

	store_pod(served);
	fd = client(served);
	put(served, fd, WAIT);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	wait_for(served, &served->world->agent.waits, 1);
	for (int i = 0; i < 10; i++)
		turn(served);
	assert_int_equal(served->world->agent.cancelled, 0);
	world_end_wait(served->world, -ETIMEDOUT, "not yet");
	assert_int_equal(get_reply(served, fd), 504);
}

/* Waits never take the last connections. */
static void test_waits_are_bounded(void **state)
{
	struct served *served = *state;
	int fds[CONNECTIONS];

	store_pod(served);
	for (unsigned int i = 0; i < CONNECTIONS * 3 / 4; i++) {
		fds[i] = client(served);
		put(served, fds[i], WAIT);
		wait_for(served, &served->world->agent.waits, i + 1);
	}
	assert_int_equal(ask(served, WAIT), 429);
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
	for (unsigned int i = 0; i < CONNECTIONS * 3 / 4; i++)
		assert_int_equal(close(fds[i]), 0);
	wait_for(served, &served->world->agent.cancelled, CONNECTIONS * 3 / 4);
}

/* Members of a group whose role is view: their connections are privileged; others were closed. */
static void test_readers_of_the_group_stay(void **state)
{
	struct served *served = *state;
	int fds[CONNECTIONS - 2];

	rights_of_peer = RIGHT_READ;
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = client(served);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		put(served, fds[i], "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
		assert_int_equal(get_reply(served, fds[i]), 200);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		assert_int_equal(close(fds[i]), 0);
}

static void test_stop_with_everything_open(void **state)
{
	struct served *served = *state;
	cleanup_close int idle = -EBADF, half = -EBADF, waiting = -EBADF, writing = -EBADF;
	char text[1024];

	store_pod(served);
	idle = client(served);
	half = client(served);
	put(served, half, "GET /healthz HTT");
	waiting = client(served);
	put(served, waiting, WAIT);
	wait_for(served, &served->world->agent.waits, 1);
	/* Its write is with the store when the api goes. */
	writing = client(served);
	(void) snprintf(text, sizeof(text),
			"POST /api/v1/persistentvolumes HTTP/1.1\r\n" HOST
			"Content-Length: %zu\r\n\r\n%s",
			strlen(world_pv_json), world_pv_json);
	put(served, writing, text);
	(void) sd_event_run(served->world->event, 0);

	served->api = api_free(served->api);
	assert_int_equal(served->world->agent.cancelled, 1);
	assert_int_equal(get_reply(served, waiting), 0);
	assert_true(served->closed);
	assert_int_equal(get_reply(served, idle), 0);
	assert_true(served->closed);
}

static void test_bad_descriptor(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct api_options options = { .event = served->world->event,
				       .agent = &served->world->agent,
				       .listeners = { { API_UNIX, fd } },
				       .listener_count = 1,
				       .connections_max = 1,
				       .request_bytes_max = 1,
				       .idle_seconds = 1,
				       .request_seconds = 1 };
	struct api *api = NULL;
	struct failure why;

	assert_int_equal(api_new(&options, &api, &why), -EINVAL);
	assert_null(api);
	assert_true(fcntl(fd, F_GETFD) >= 0); /* still open */
	assert_null(api_free(NULL));
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, served_set_up, served_tear_down)
	const struct CMUnitTest tests[] = {
		SERVED(test_one_connection_many_requests),
		SERVED(test_write_and_read),
		SERVED(test_refused_heads),
		SERVED(test_foreign_volumes),
		SERVED(test_bodies_are_bounded),
		SERVED(test_wait_is_answered),
		SERVED(test_client_leaves_a_wait),
		SERVED(test_client_says_no_more),
		SERVED(test_waits_are_bounded),
		SERVED(test_readers_of_the_group_stay),
		SERVED(test_stop_with_everything_open),
		SERVED(test_bad_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
