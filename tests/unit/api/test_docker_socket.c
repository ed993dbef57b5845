/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_docker_socket - docker's socket: whose requests it takes, how long, and how it refuses
 */
#include "http_world.h"

#include "api/auth/peer.h"
#include "api/http/listen.h"
#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { LONG_BODIES = 1 << 20 };

gid_t __wrap_peer_group_id(void);

/* There is a group, with members. */
gid_t __wrap_peer_group_id(void)
{
	return 12345;
}

/* As http_world has it, with docker's socket in place of the other. */
static int set_up(void **state)
{
	struct api_options options = { .connections_max = CONNECTIONS,
				       .request_bytes_max = LONG_BODIES,
				       .watches_max = CONNECTIONS,
				       .idle_seconds = IDLE_SECONDS,
				       .request_seconds = IDLE_SECONDS };
	struct served *served;
	struct failure why;
	struct stat status;
	size_t used;

	assert_int_equal(served_set_up(state), 0);
	served = *state;
	served->api = api_free(served->api);
	used = strlen(served->path);
	(void) snprintf(served->path + used, sizeof(served->path) - used, ".docker");
	options.event = served->world->event;
	options.agent = &served->world->agent;
	options.listeners[0].kind = API_DOCKER;
	options.listeners[0].fd = listen_unix(served->path, LISTEN_OWNER, &why);
	options.listener_count = 1;
	assert_true(options.listeners[0].fd >= 0);
	assert_int_equal(stat(served->path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(api_new(&options, &served->api, &why), 0);
	return 0;
}

static int post(struct served *served, const char *path, const char *headers, const char *body)
{
	char text[512];

	(void) snprintf(text, sizeof(text), "POST %s HTTP/1.1\r\n%sContent-Length: %zu\r\n\r\n%s",
			path, headers, strlen(body), body);
	return ask(served, text);
}

/* As the engines write it: docker's empty Host and line feed, podman's media type. */
static void test_heads_of_the_engines(void **state)
{
	static const struct {
		const char *headers, *body;
	} rows[] = {
		{ "Host: \r\nAccept: application/vnd.docker.plugins.v1.2+json\r\n", "{}\n" },
		{ "Host: plugin\r\nContent-Type: application/vnd.docker.plugins.v1.1+json\r\n",
		  "{}" },
		{ "Host: plugin\r\nContent-Type: application/json\r\n", "{}" },
		{ "Host: plugin\r\nAccept: text/html\r\n", "" },
	};
	struct served *served = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(post(served, "/Plugin.Activate", rows[i].headers, rows[i].body),
				 200);
		assert_non_null(strstr(served->reply, "{\"Implements\":[\"VolumeDriver\"]}"));
		assert_non_null(
			strstr(served->reply,
			       "Content-Type: application/vnd.docker.plugins.v1.2+json\r\n"));
	}
}

static void test_refusals_are_dockers(void **state)
{
	struct served *served = *state;

	assert_int_equal(post(served, "/api/v1/secrets", HOST, "{}"), 404);
	assert_non_null(strstr(served->reply, "{\"Err\":\"this socket serves docker's"));
	assert_int_equal(post(served, "/VolumeDriver.Get", HOST, "{\"Name\":\"a\"}"), 500);
	assert_non_null(strstr(served->reply, "{\"Err\":\"volume 'a' not found\"}"));
	assert_int_equal(post(served, "/VolumeDriver.Get", "", "{\"Name\":\"a\"}"), 400);
	assert_non_null(strstr(served->reply, "{\"Err\":\"a Host header is missing\"}"));
}

static void test_bodies_are_bounded(void **state)
{
	struct served *served = *state;
	char text[256];

	(void) snprintf(text, sizeof(text),
			"POST /VolumeDriver.Get HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n",
			API_DOCKER_BODY_BYTES_MAX + 1);
	assert_int_equal(ask(served, text), 413);
	assert_non_null(
		strstr(served->reply, "{\"Err\":\"the request body is longer than 16384 bytes\"}"));
}

/* Members of the group may do much on the other socket, and nothing here. */
static void test_only_root(void **state)
{
	static const unsigned int rights[] = { 0, RIGHT_READ };
	static const int statuses[] = { 403, 403 };
	struct served *served = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		rights_of_peer = rights[i];
		assert_int_equal(post(served, "/Plugin.Activate", HOST, "{}"), statuses[i]);
		assert_non_null(strstr(served->reply, "{\"Err\":\""));
	}
	assert_int_equal(group_of_peer, PEER_NO_GROUP);
	assert_false(others_of_peer);
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, set_up, served_tear_down)
	const struct CMUnitTest tests[] = {
		SERVED(test_heads_of_the_engines),
		SERVED(test_refusals_are_dockers),
		SERVED(test_bodies_are_bounded),
		SERVED(test_only_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
