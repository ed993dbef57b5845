/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_http_heads - requests that are malformed, ambiguous, cut, or many in one piece
 *
 * What is behind a refused head must never be taken for a request: each of these has one there,
 * which would create an object.
 */
#include "api/api.h"
#include "base/cleanup.h"
#include "http_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define SMUGGLED "GET /smuggled HTTP/1.1\r\n" HOST "\r\n"

static void put_bytes(struct served *served, int fd, const void *bytes, size_t length)
{
	assert_int_equal(send(fd, bytes, length, MSG_NOSIGNAL), length);
	turn(served);
}

/* Everything until the server hangs up, or is silent for a while. */
static void read_all(struct served *served, int fd)
{
	int silent = 0;

	served->length = 0;
	served->closed = false;
	while (!served->closed && silent < 20) {
		ssize_t n = recv(fd, served->reply + served->length,
				 sizeof(served->reply) - served->length - 1, 0);

		if (n > 0)
			served->length += (size_t) n;
		else if (n == 0 || errno != EAGAIN)
			served->closed = true;
		else
			silent++;
		turn(served);
	}
	served->reply[served->length] = '\0';
}

static unsigned int answers(const struct served *served)
{
	unsigned int count = 0;

	for (const char *at = served->reply; (at = strstr(at, "HTTP/1.1 ")); at++)
		count++;
	return count;
}

/* Refused, and then the end: what followed was not read as a request. Of its own refusals the
 * library sends the head twice sometimes. */
static void assert_refused(struct served *served, const void *bytes, size_t length)
{
	cleanup_close int fd = client(served);

	put_bytes(served, fd, bytes, length);
	read_all(served, fd);
	if (!served->closed || strstr(served->reply, "HTTP/1.1 2"))
		print_message("%.*s\n-> %s\n", (int) length, (const char *) bytes, served->reply);
	assert_true(served->closed);
	assert_null(strstr(served->reply, "HTTP/1.1 2"));
	assert_null(strstr(served->reply, "HTTP/1.1 404"));
}

#define REFUSED(text) assert_refused(served, text, sizeof(text) - 1)

static void test_two_lengths(void **state)
{
	struct served *served = *state;

	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Content-Length: 0\r\nContent-Length: 60\r\n\r\n" SMUGGLED);
	assert_non_null(strstr(served->reply, "\"kind\":\"Status\""));
	assert_non_null(strstr(served->reply, "once occurs twice"));
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"content-length: 5\r\nContent-Length: 5\r\n\r\nhello" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SMUGGLED);
	assert_non_null(strstr(served->reply, "Content-Length cannot be combined"));
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n" SMUGGLED);
	assert_non_null(strstr(served->reply, "only 'chunked' is known"));
}

static void test_bad_lengths(void **state)
{
	struct served *served = *state;

	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Content-Length: 1,1\r\n\r\n" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Content-Length: 0x1\r\n\r\n" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Content-Length: 18446744073709551616\r\n\r\n" SMUGGLED);
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Content-Length: 99999999999\r\n\r\n" SMUGGLED);
}

static void test_bad_chunks(void **state)
{
	static const char *const chunks[] = {
		"zz\r\n",   "-1\r\n", "1 \r\nx\r\n",          "0x1\r\nx\r\n",
		"1\r\nxyz", ";\r\n",  "FFFFFFFFFFFFFFFFF\r\n"
	};
	struct served *served = *state;

	for (size_t i = 0; i < ARRAY_SIZE(chunks); i++) {
		char text[512];
		int n = snprintf(text, sizeof(text),
				 "POST /podvol/v1/apply HTTP/1.1\r\n" HOST
				 "Transfer-Encoding: chunked\r\n\r\n%s" SMUGGLED,
				 chunks[i]);

		assert_refused(served, text, (size_t) n);
	}
	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST
		"Transfer-Encoding: chunked\r\n\r\n1\0\r\nx\r\n0\r\n\r\n" SMUGGLED);
}

/* "Content-Length : 5" is another name to the library, and a length to other readers. */
static void test_bad_names(void **state)
{
	struct served *served = *state;

	REFUSED("POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Content-Length : 60\r\n\r\n" SMUGGLED);
	assert_non_null(strstr(served->reply, "no name may hold"));
	REFUSED("GET /healthz HTTP/1.1\r\n" HOST "X\tY: 1\r\n\r\n" SMUGGLED);
	REFUSED("GET /healthz HTTP/1.1\r\n" HOST "no colon\r\n\r\n" SMUGGLED);
	REFUSED("GET /healthz HTTP/1.1\r\n" HOST "X: a\x01z\r\n\r\n" SMUGGLED);
	assert_non_null(strstr(served->reply, "control character"));
	REFUSED("GET /healthz HTTP/1.1\r\n" HOST "X\0Y: 1\r\n\r\n" SMUGGLED);
}

/* The library takes what comes before a NUL for the whole; others read on. Lines that are joined
 * are a difference from Kubernetes. */
static void test_nul(void **state)
{
	static const struct {
		const char *headers;
		size_t length;
	} heads[] = {
#define HEAD(text) { text, sizeof(text) - 1 }
		HEAD("X: a\0b\r\n"),
		HEAD("X: a\0\r\n"),
		HEAD("X: \0\r\n"),
		HEAD("X: a\0\0\0b\r\n"),
		HEAD("X: a\0b\r\nY: c\r\n"),
		HEAD("Y: c\r\nX: a\0Content-Length: 5\r\n"),
		HEAD("Authorization: Bearer a\0b\r\n"),
		HEAD("X: a\0b\n"),
		HEAD("X: a\r\n b\r\n"),
		HEAD("X: a\r\n\tb\r\nY: c\r\n"),
	};
	struct served *served = *state;

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		char text[256];
		size_t used =
			(size_t) snprintf(text, sizeof(text), "GET /healthz HTTP/1.1\r\n" HOST);

		memcpy(text + used, heads[i].headers, heads[i].length);
		used += heads[i].length;
		memcpy(text + used, "\r\n" SMUGGLED, sizeof("\r\n" SMUGGLED) - 1);
		used += sizeof("\r\n" SMUGGLED) - 1;
		assert_refused(served, text, used);
		assert_non_null(strstr(served->reply, "HTTP/1.1 400"));
	}
	/* Blanks at either end, no value, lines that end in LF alone. */
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST
				     "X:   a  \r\nY:\r\nZ: \r\nCookie: a=b; c\r\n\r\n"),
			 200);
	assert_int_equal(ask(served, "GET /healthz?a=b&c HTTP/1.1\nHost: x\nX: a\n\n"), 200);
}

/* No client needs any, and the library ends their values at a NUL. */
static void test_trailers(void **state)
{
	struct served *served = *state;
	int fd = client(served);

#define CHUNKED                                                                                    \
	"POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"             \
	"2\r\n{}\r\n0\r\n"
	put_bytes(served, fd, CHUNKED "X: a\0b\r\n\r\n", sizeof(CHUNKED "X: a\0b\r\n\r\n") - 1);
	read_all(served, fd);
	assert_memory_equal(served->reply, "HTTP/1.1 400", 12);
	assert_non_null(strstr(served->reply, "trailers"));
	(void) close(fd);
	fd = client(served);
	put_bytes(served, fd, CHUNKED "\r\n", sizeof(CHUNKED "\r\n") - 1);
	read_all(served, fd);
	assert_null(strstr(served->reply, "trailers"));
	(void) close(fd);
}

/* What the library takes for the line is what comes before the NUL: another path, or a write that
 * lost its dryRun. */
static void test_nul_in_the_line(void **state)
{
	static const struct {
		const char *line;
		size_t length;
	} lines[] = {
		HEAD("DELETE /api/v1/namespaces/default/pods/x\0?dryRun=All HTTP/1.1\r\n"),
		HEAD("GET /healthz\0 HTTP/1.1\r\n"),
		HEAD("GET /healthz\0/x HTTP/1.1\r\n"),
		HEAD("GET /healthz?a=b\0c HTTP/1.1\r\n"),
		HEAD("GET /healthz?a\0=b HTTP/1.1\r\n"),
		HEAD("GET /healthz?\0 HTTP/1.1\r\n"),
		HEAD("GET \0/healthz HTTP/1.1\r\n"),
		HEAD("GET\0 /healthz HTTP/1.1\r\n"),
		HEAD("GET\0X /healthz HTTP/1.1\r\n"),
		HEAD("GET /healthz HTTP/1.1\0\r\n"),
		HEAD("GET /healthz HTTP/1.1\0x\r\n"),
		HEAD("GET /healthz\0 HTTP/1.1\n"),
		HEAD("GET  /healthz HTTP/1.1\r\n"),
		HEAD("GET /healthz%00 HTTP/1.1\r\n"),
		HEAD("GET /healthz?a%00=b HTTP/1.1\r\n"),
		HEAD("GET /api/v1/pods?fieldSelector=metadata.name%3Dx%00 HTTP/1.1\r\n"),
		HEAD("GET /healthz%0d%0aX:%20y HTTP/1.1\r\n"),
		HEAD("GET /health\tz HTTP/1.1\r\n"),
		HEAD("GET /healthz?a=\x7f HTTP/1.1\r\n"),
	};
	struct served *served = *state;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char text[256];
		size_t used = lines[i].length;

		memcpy(text, lines[i].line, used);
		memcpy(text + used, HOST "\r\n" SMUGGLED, sizeof(HOST "\r\n" SMUGGLED) - 1);
		used += sizeof(HOST "\r\n" SMUGGLED) - 1;
		assert_refused(served, text, used);
		if (!strstr(served->reply, "HTTP/1.1 400"))
			print_message("line %zu: %s\n", i, served->reply);
		assert_non_null(strstr(served->reply, "HTTP/1.1 400"));
	}
	assert_int_equal(ask(served, "GET /health%7a?a=%20b&c=d+e HTTP/1.1\r\n" HOST "\r\n"), 200);
}

static void test_bad_lines(void **state)
{
	struct served *served = *state;

	REFUSED("GET /healthz HTTP/1.1\r\n\r\n" SMUGGLED);
	assert_non_null(strstr(served->reply, "a Host header is missing"));
	assert_int_equal(answers(served), 1);
	REFUSED("GET /healthz HTTP/1.1\r\n" HOST HOST "\r\n" SMUGGLED);
	REFUSED("GET /healthz HTTP/2.0\r\n" HOST "\r\n" SMUGGLED);
	REFUSED("GET /healthz\r\n" HOST "\r\n" SMUGGLED);
	REFUSED("GET\r\n\r\n" SMUGGLED);
	REFUSED("GET  HTTP/1.1\r\n" HOST "\r\n" SMUGGLED);
	REFUSED("GET /health z HTTP/1.1\r\n" HOST "\r\n" SMUGGLED);
	REFUSED("GET http://podvol/healthz HTTP/1.1\r\n" HOST "\r\n" SMUGGLED);
	REFUSED("GET * HTTP/1.1\r\n" HOST "\r\n" SMUGGLED);
	REFUSED("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" SMUGGLED);
	REFUSED("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n");
}

/* One header line after the other until the limit of a head. */
static void test_a_bomb_of_headers(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);
	int i;

	put(served, fd, "GET /healthz HTTP/1.1\r\n" HOST);
	for (i = 0; i < 4096; i++)
		if (send(fd, "a: b\r\n", 6, MSG_NOSIGNAL) != 6)
			break;
	read_all(served, fd);
	assert_true(served->closed);
	assert_null(strstr(served->reply, "HTTP/1.1 2"));
	assert_int_equal(ask(served, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"), 200);
}

static void test_many_in_one_piece(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	put(served, fd,
	    "GET /healthz HTTP/1.1\r\n" HOST "\r\n"
	    "GET /livez HTTP/1.1\r\n" HOST "\r\n"
	    "POST /podvol/v1/apply HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}"
	    "GET /readyz HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
	read_all(served, fd);
	assert_true(served->closed);
	assert_int_equal(answers(served), 4);
	assert_string_equal(served->reply + served->length - strlen("\r\n\r\nok"), "\r\n\r\nok");
}

static void test_a_byte_at_a_time(void **state)
{
	static const char text[] = "GET /healthz HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n";
	struct served *served = *state;
	cleanup_close int fd = client(served);

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		put_bytes(served, fd, text + i, 1);
	assert_int_equal(get_reply(served, fd), 200);
	assert_null(strcasestr(served->reply, "Content-Encoding"));
}

/* The body is asked for only when the head is good. */
static void test_expect_continue(void **state)
{
	struct served *served = *state;
	cleanup_close int fd = client(served);

	put(served, fd,
	    "POST /podvol/v1/apply HTTP/1.1\r\n" HOST
	    "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	read_all(served, fd);
	assert_string_equal(served->reply, "HTTP/1.1 100 Continue\r\n\r\n");
	put(served, fd, "{}");
	assert_int_not_equal(get_reply(served, fd), 0);

	rights_of_peer = RIGHT_READ;
	assert_int_equal(ask(served, "POST /podvol/v1/apply HTTP/1.1\r\n" HOST
				     "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
			 403);
	rights_of_peer |= RIGHT_WRITE;
	assert_int_equal(ask(served, "POST /podvol/v1/apply HTTP/1.1\r\n" HOST
				     "Expect: 100-continue\r\nContent-Length: 99999\r\n\r\n"),
			 413);
}

/* ---- rights ---- */

static void test_who_may_only_read(void **state)
{
	static const char *const writes[] = {
		"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"
	};
	struct served *served = *state;
	char text[256];

	rights_of_peer = RIGHT_READ;
	assert_int_equal(ask(served, "GET /api/v1/pods HTTP/1.1\r\n" HOST "\r\n"), 200);
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		(void) snprintf(text, sizeof(text),
				"%s /api/v1/namespaces/default/pods/x HTTP/1.1\r\n" HOST "\r\n",
				writes[i]);
		assert_int_equal(ask(served, text), 403);
		assert_non_null(strstr(served->reply, "this address is read-only"));
	}
}

static void test_a_kubeconfig_is_for_root(void **state)
{
	struct served *served = *state;

	rights_of_peer = RIGHT_READ | RIGHT_WRITE;
	assert_int_equal(ask(served, "GET /podvol/v1/kubeconfig HTTP/1.1\r\n" HOST "\r\n"), 403);
	rights_of_peer |= RIGHT_SECRETS;
	assert_int_equal(ask(served, "GET /podvol/v1/kubeconfig HTTP/1.1\r\n" HOST "\r\n"), 404);
	assert_non_null(strstr(served->reply, "--listen=127.0.0.1:6443"));
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, served_set_up, served_tear_down)
	const struct CMUnitTest tests[] = {
		SERVED(test_two_lengths),       SERVED(test_bad_lengths),
		SERVED(test_bad_chunks),        SERVED(test_bad_names),
		SERVED(test_bad_lines),         SERVED(test_nul),
		SERVED(test_trailers),          SERVED(test_nul_in_the_line),
		SERVED(test_a_bomb_of_headers), SERVED(test_many_in_one_piece),
		SERVED(test_a_byte_at_a_time),  SERVED(test_expect_continue),
		SERVED(test_who_may_only_read), SERVED(test_a_kubeconfig_is_for_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
