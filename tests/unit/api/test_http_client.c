/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_http_client - calls to an API server: podvold's own with TLS, and one of canned bytes
 *
 * A wrong answer is an error with a reason and never a short good one.
 */
#include "tls_world.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

enum { PATIENCE_USEC = 60 * 1000000, FLOOD_BYTES = 1 << 20 };

/* ---- what came ---- */

struct outcome {
	struct http_call *call;
	unsigned int ends, lines, cancel_at_line;
	int error, status;
	unsigned int retry_after_seconds;
	char body[4096], why[FAILURE_TEXT_BYTES], first_line[4096];
};

static void keep_line(void *userdata, const char *line, size_t length)
{
	struct outcome *outcome = userdata;

	assert_int_equal(strlen(line), length);
	if (outcome->lines++ == 0)
		(void) snprintf(outcome->first_line, sizeof(outcome->first_line), "%s", line);
	if (outcome->lines == outcome->cancel_at_line)
		outcome->call = http_call_cancel(outcome->call);
}

static void keep_end(void *userdata, const struct http_answer *answer)
{
	struct outcome *outcome = userdata;

	assert_int_equal(strlen(answer->body), answer->length);
	assert_true(!answer->error == !answer->why);
	outcome->call = NULL;
	outcome->ends++;
	outcome->error = answer->error;
	outcome->status = answer->status;
	outcome->retry_after_seconds = answer->retry_after_seconds;
	(void) snprintf(outcome->body, sizeof(outcome->body), "%s", answer->body);
	(void) snprintf(outcome->why, sizeof(outcome->why), "%s",
			answer->why ? answer->why->text : "");
}

static void begin(struct http_client *client, const char *path, bool streams,
		  struct outcome *outcome)
{
	const struct http_request request = { .method = "GET",
					      .path = path,
					      .timeout_usec = PATIENCE_USEC,
					      .line = streams ? keep_line : NULL,
					      .done = keep_end,
					      .userdata = outcome };

	assert_int_equal(http_client_call(client, &request, &outcome->call), 0);
}

static void wait_for(sd_event *event, const unsigned int *counter, unsigned int value)
{
	while (*counter < value)
		assert_true(sd_event_run(event, PATIENCE_USEC) > 0);
}

/* ---- podvold's own server, with TLS ---- */

static struct outcome reply; /* of the last get() */

static void get(struct served *served, const char *path)
{
	reply = (struct outcome){ 0 };
	begin(served->client, path, false, &reply);
	wait_for(served->world->event, &reply.ends, 1);
}

#define LIST "/api/v1/persistentvolumes"

static void test_a_token_over_tls_lists_objects(void **state)
{
	struct served *served = *state;

	connect_as(served, NULL, NULL, served->ca_file);
	get(served, LIST);
	assert_string_equal(reply.why, "");
	assert_int_equal(reply.status, 200);
	assert_non_null(strstr(reply.body, "PersistentVolumeList"));
	get(served, LIST "/none");
	assert_int_equal(reply.error, 0);
	assert_int_equal(reply.status, 404);
	assert_non_null(strstr(reply.body, "NotFound"));
}

static void test_a_refused_token_is_an_answer(void **state)
{
	struct served *served = *state;

	connect_as(served, NULL, "another", served->ca_file);
	get(served, LIST);
	assert_int_equal(reply.error, 0);
	assert_int_equal(reply.status, 401);
	assert_non_null(strstr(reply.body, "Unauthorized"));
}

static void test_the_certificate_is_verified(void **state)
{
	struct served *served = *state;

	connect_as(served, "kubernetes.default", NULL, served->ca_file);
	get(served, LIST);
	assert_string_equal(reply.why, "");
	assert_int_equal(reply.status, 200);
	connect_as(served, "another.name", NULL, served->ca_file);
	get(served, LIST);
	assert_int_equal(reply.error, -EKEYREJECTED);
	assert_int_equal(reply.status, 0);
	connect_as(served, NULL, NULL, NULL); /* the system's authorities */
	get(served, LIST);
	assert_int_equal(reply.error, -EKEYREJECTED);
	assert_non_null(strstr(reply.why, LIST ": SSL"));
}

static void test_a_watch_brings_lines_until_it_is_cancelled(void **state)
{
	struct served *served = *state;
	struct outcome watch = { .cancel_at_line = 1 }, *outcome = &watch;

	connect_as(served, NULL, NULL, served->ca_file);
	begin(served->client, LIST "?watch=1&resourceVersion=0", true, outcome);
	assert_int_equal(world_request(served->world, METHOD_POST, LIST, world_pv_json), 201);
	wait_for(served->world->event, &outcome->lines, 1);
	assert_non_null(strstr(outcome->first_line, "\"type\":\"ADDED\""));
	assert_null(outcome->call);
	get(served, LIST);
	assert_int_equal(reply.status, 200);
	assert_int_equal(outcome->lines, 1);
	assert_int_equal(outcome->ends, 0);
}

static void test_connections_are_dropped_and_made_again(void **state)
{
	struct served *served = *state;
	struct outcome watch = { 0 }, again = { 0 };

	connect_as(served, NULL, NULL, served->ca_file);
	begin(served->client, LIST "?watch=1&resourceVersion=0", true, &watch);
	assert_int_equal(world_request(served->world, METHOD_POST, LIST, world_pv_json), 201);
	wait_for(served->world->event, &watch.lines, 1);
	assert_true(http_client_received_usec(served->client) > 0);
	begin(served->client, LIST, false, &reply);
	reply.ends = 0;
	assert_int_equal(http_client_call_count(served->client), 2);
	http_client_drop_connections(served->client);
	assert_int_equal(watch.ends, 1);
	assert_int_equal(watch.error, -ETIMEDOUT);
	assert_int_equal(reply.ends, 1);
	assert_int_equal(reply.error, -ETIMEDOUT);
	assert_int_equal(http_client_call_count(served->client), 0);
	begin(served->client, LIST, false, &again);
	wait_for(served->world->event, &again.ends, 1);
	assert_string_equal(again.why, "");
	assert_int_equal(again.status, 200);
}

/* ---- a server of canned bytes ---- */

struct canned {
	sd_event *event;
	int listen_fd;
	pthread_t thread;
	const char *answer; /* bytes as they are; NULL: nothing, and the connection stays */
	bool floods;        /* and then blanks without an end */
	char request[4096]; /* the last one */
	struct http_client *client;
	struct outcome outcome;
};

static void flood(int fd)
{
	static char blanks[FLOOD_BYTES];

	memset(blanks, ' ', sizeof(blanks));
	while (send(fd, blanks, sizeof(blanks), MSG_NOSIGNAL) > 0)
		;
}

static void *serve(void *userdata)
{
	struct canned *canned = userdata;

	for (;;) {
		cleanup_close int fd = accept(canned->listen_fd, NULL, NULL);
		size_t length = 0;
		ssize_t n = 1;

		if (fd < 0)
			return NULL;
		while (n > 0 && !strstr(canned->request, "\r\n\r\n")) {
			n = recv(fd, canned->request + length, sizeof(canned->request) - 1 - length,
				 0);
			length += n > 0 ? (size_t) n : 0;
			canned->request[length] = '\0';
		}
		if (!canned->answer) /* until the client leaves */
			(void) recv(fd, canned->request, 1, 0);
		else
			(void) send(fd, canned->answer, strlen(canned->answer), MSG_NOSIGNAL);
		if (canned->floods)
			flood(fd);
	}
}

static int canned_set_up(void **state)
{
	struct canned *canned = calloc(1, sizeof(*canned));
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	struct kubeconfig kubeconfig = { .token = (char *) (uintptr_t) "secret" };
	struct client_credentials credentials;
	char server[64];

	canned->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(canned->listen_fd, &address, length), 0);
	assert_int_equal(listen(canned->listen_fd, 8), 0);
	assert_int_equal(getsockname(canned->listen_fd, &address, &length), 0);
	(void) snprintf(server, sizeof(server), "http://127.0.0.1:%u",
			(unsigned int) ntohs(address.sin_port));
	kubeconfig.server = server;
	assert_true(sd_event_new(&canned->event) >= 0);
	assert_int_equal(http_client_new(canned->event, &kubeconfig, &canned->client, NULL), 0);
	assert_int_equal(client_credentials_read(&kubeconfig, &credentials, NULL), 0);
	http_client_set_credentials(canned->client, &credentials);
	*state = canned;
	return 0;
}

static int canned_tear_down(void **state)
{
	struct canned *canned = *state;

	canned->client = http_client_free(canned->client);
	(void) shutdown(canned->listen_fd, SHUT_RDWR);
	if (canned->thread)
		assert_int_equal(pthread_join(canned->thread, NULL), 0);
	(void) close(canned->listen_fd);
	(void) sd_event_unref(canned->event);
	free(canned);
	return 0;
}

/* Asks and waits; the server answers so. */
static const struct outcome *ask(struct canned *canned, const char *answer, bool streams)
{
	canned->answer = answer;
	canned->request[0] = '\0';
	canned->outcome = (struct outcome){ 0 };
	if (!canned->thread)
		assert_int_equal(pthread_create(&canned->thread, NULL, serve, canned), 0);
	begin(canned->client, "/api", streams, &canned->outcome);
	wait_for(canned->event, &canned->outcome.ends, 1);
	return &canned->outcome;
}

#define JSON "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

static void test_what_is_sent(void **state)
{
	struct canned *canned = *state;
	const struct outcome *outcome = ask(canned, JSON "Content-Length: 2\r\n\r\n{}", false);

	assert_int_equal(outcome->error, 0);
	assert_string_equal(outcome->body, "{}");
	assert_non_null(strstr(canned->request, "GET /api HTTP/1.1\r\n"));
	assert_non_null(strstr(canned->request, "\r\nAuthorization: Bearer secret\r\n"));
	assert_non_null(strstr(canned->request, "\r\nAccept: application/json\r\n"));
	assert_non_null(strstr(canned->request, "\r\nAccept-Encoding: gzip\r\n"));
	assert_non_null(strstr(canned->request, "\r\nUser-Agent: podvold/"));
}

static void test_a_server_may_ask_for_patience(void **state)
{
	struct canned *canned = *state;
	const struct outcome *outcome;

	outcome = ask(canned, "HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
		      false);
	assert_int_equal(outcome->error, 0);
	assert_int_equal(outcome->status, 429);
	assert_int_equal(outcome->retry_after_seconds, 7);
	outcome = ask(canned, "HTTP/1.1 503 No\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n",
		      true);
	assert_int_equal(outcome->status, 503);
	assert_int_equal(outcome->retry_after_seconds, HTTP_RETRY_AFTER_SECONDS_MAX);
}

struct fault {
	const char *answer;
	bool streams;
	int error;
	unsigned int lines;
};

static const struct fault faults[] = {
	{ "", false, -ECONNRESET, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-", false, -EPROTO, 0 },
	{ JSON "Content-Length: 20\r\n\r\n{\"items\":[", false, -ECONNRESET, 0 },
	{ JSON "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n", false, -ECONNRESET, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n{}", false,
	  -EPROTO, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Type: application/json-seq\r\nContent-Length: 2\r\n\r\n{}",
	  true, -EPROTO, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, -EPROTO, 0 },
	{ JSON "\r\n{\"a\":1}\n{\"b\":", true, -EBADMSG, 1 },
	{ JSON "\r\n{\"a\":1}\n\n{\"b\":2}\n", true, 0, 2 },
	{ JSON "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", false, -ECONNRESET, 0 },
	{ "HTTP/1.1 302 No\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", false, 0, 0 },
};

static void test_a_half_answer_is_an_error(void **state)
{
	struct canned *canned = *state;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const struct outcome *outcome = ask(canned, faults[i].answer, faults[i].streams);

		assert_int_equal(outcome->error, faults[i].error);
		assert_int_equal(outcome->lines, faults[i].lines);
		assert_null(strstr(canned->request, "elsewhere"));
	}
}

static void test_a_line_without_end_is_too_long(void **state)
{
	struct canned *canned = *state;
	const struct outcome *outcome;

	canned->floods = true;
	outcome = ask(canned, JSON "\r\n", true);
	assert_int_equal(outcome->error, -E2BIG);
	outcome = ask(canned, JSON "\r\n", false);
	assert_int_equal(outcome->error, -E2BIG);
	assert_non_null(strstr(outcome->why, "/api: the answer is too long"));
}

static void test_a_silent_server_ends_the_call_at_its_time(void **state)
{
	struct canned *canned = *state;
	const struct http_request request = { .method = "PATCH",
					      .path = "/api",
					      .content_type = "application/merge-patch+json",
					      .body = "{}",
					      .timeout_usec = 50000,
					      .done = keep_end,
					      .userdata = &canned->outcome };

	assert_int_equal(pthread_create(&canned->thread, NULL, serve, canned), 0);
	assert_int_equal(http_client_call(canned->client, &request, NULL), 0);
	wait_for(canned->event, &canned->outcome.ends, 1);
	assert_int_equal(canned->outcome.error, -ETIMEDOUT);
	assert_int_equal(canned->outcome.status, 0);
}

static void test_no_server_is_an_error(void **state)
{
	struct canned *canned = *state;

	(void) shutdown(canned->listen_fd, SHUT_RDWR);
	begin(canned->client, "/api", false, &canned->outcome);
	wait_for(canned->event, &canned->outcome.ends, 1);
	assert_int_equal(canned->outcome.error, -ECONNREFUSED);
	assert_non_null(strstr(canned->outcome.why, "http://127.0.0.1:"));
}

static void test_calls_at_a_time_are_bounded(void **state)
{
	struct canned *canned = *state;
	struct outcome outcomes[HTTP_CALLS_MAX] = { 0 };
	const struct http_request request = { .method = "GET", .path = "/", .done = keep_end };
	struct http_call *call = NULL;

	for (size_t i = 0; i < HTTP_CALLS_MAX; i++)
		begin(canned->client, "/api", i % 2 == 0, &outcomes[i]);
	assert_int_equal(http_client_call(canned->client, &request, &call), -ENOBUFS);
	assert_null(call);
	outcomes[7].call = http_call_cancel(outcomes[7].call);
	begin(canned->client, "/api", false, &outcomes[7]);
	canned->client = http_client_free(canned->client);
	for (size_t i = 0; i < HTTP_CALLS_MAX; i++)
		assert_int_equal(outcomes[i].ends, 0);
}

#define TEST(name, world) cmocka_unit_test_setup_teardown(name, world##_set_up, world##_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_a_token_over_tls_lists_objects, served),
		TEST(test_a_refused_token_is_an_answer, served),
		TEST(test_the_certificate_is_verified, served),
		TEST(test_a_watch_brings_lines_until_it_is_cancelled, served),
		TEST(test_connections_are_dropped_and_made_again, served),
		TEST(test_what_is_sent, canned),
		TEST(test_a_server_may_ask_for_patience, canned),
		TEST(test_a_half_answer_is_an_error, canned),
		TEST(test_a_line_without_end_is_too_long, canned),
		TEST(test_a_silent_server_ends_the_call_at_its_time, canned),
		TEST(test_no_server_is_an_error, canned),
		TEST(test_calls_at_a_time_are_bounded, canned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
