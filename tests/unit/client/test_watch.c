/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_watch - libpodvol's watches against a server that plays a script: one answer per request
 *
 * What is reported is kept as one line per event and compared whole, together with what was asked.
 */
#include "base/cleanup.h"
#include "client/podvol.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

enum { TEXT_BYTES = 16384, TURNS_MAX = 400, TURN_MSEC = 50 };

/* What the server sends for the next request, whole; then it closes, unless a body is promised. */
struct script {
	const char *const *answers; /* ended by NULL, after which no server listens */
	bool hang_last;             /* the last answer's connection stays open */
};

struct server {
	char directory[32], path[64];
	int listen_fd;
	pthread_t thread;
	struct script script;
	char asked[TEXT_BYTES]; /* the first line of each request */
};

#define HEAD        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define WHOLE(text) "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" text
#define REFUSED(line, text)                                                                        \
	"HTTP/1.1 " line "\r\nConnection: close\r\n\r\n{\"kind\":\"Status\",\"message\":\"" text   \
	"\"}"

#define LIST(version)                                                                              \
	WHOLE("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version "\"}}")
#define POD(name, version)                                                                         \
	"{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

static bool read_request(struct server *server, int fd)
{
	char text[TEXT_BYTES];
	size_t length = 0, used = strlen(server->asked);

	do {
		ssize_t n = recv(fd, text + length, sizeof(text) - 1 - length, 0);

		if (n <= 0)
			return false;
		length += (size_t) n;
		text[length] = '\0';
	} while (!strstr(text, "\r\n\r\n"));
	(void) snprintf(server->asked + used, sizeof(server->asked) - used, "%.*s\n",
			(int) strcspn(text, "\r"), text);
	return true;
}

static void *serve(void *userdata)
{
	struct server *server = userdata;
	const char *const *answer = server->script.answers;
	cleanup_close int kept = -EBADF;

	while (*answer) {
		cleanup_close int fd = accept(server->listen_fd, NULL, NULL);

		if (fd < 0)
			return NULL;
		if (!read_request(server, fd))
			continue;
		(void) send(fd, *answer, strlen(*answer), MSG_NOSIGNAL);
		answer++;
		if (!*answer && server->script.hang_last)
			kept = TAKE_FD(fd);
	}
	if (kept >= 0) {
		char byte;

		(void) recv(kept, &byte, 1, 0); /* until the client leaves */
	}
	return NULL;
}

static int set_up(void **state)
{
	struct server *server = calloc(1, sizeof(*server));

	(void) snprintf(server->directory, sizeof(server->directory), "/tmp/podvol-watch-XXXXXX");
	assert_non_null(mkdtemp(server->directory));
	(void) snprintf(server->path, sizeof(server->path), "%s/sock", server->directory);
	*state = server;
	return 0;
}

static void start(struct server *server, const char *const *answers, bool hang_last)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", server->path);
	server->script = (struct script){ .answers = answers, .hang_last = hang_last };
	server->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->listen_fd, &address, sizeof(address)), 0);
	assert_int_equal(listen(server->listen_fd, 8), 0);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server)
{
	(void) shutdown(server->listen_fd, SHUT_RDWR);
	assert_int_equal(pthread_join(server->thread, NULL), 0);
	(void) close(server->listen_fd);
	(void) unlink(server->path);
}

static int tear_down(void **state)
{
	struct server *server = *state;

	assert_int_equal(rmdir(server->directory), 0);
	free(server);
	return 0;
}

/* ---- what was reported ---- */

struct told {
	char text[TEXT_BYTES]; /* "added 7 {...}\n" */
	size_t count;
};

static void keep(void *userdata, const struct podvol_event *event)
{
	static const char *const names[] = {
		[PODVOL_LISTED] = "listed",           [PODVOL_ADDED] = "added",
		[PODVOL_MODIFIED] = "modified",       [PODVOL_DELETED] = "deleted",
		[PODVOL_INTERRUPTED] = "interrupted",
	};
	struct told *told = userdata;
	size_t used = strlen(told->text);

	assert_int_equal(strlen(event->object), event->length);
	(void) snprintf(told->text + used, sizeof(told->text) - used, "%s %s %s%s\n",
			names[event->type], event->version, event->object, event->error);
	told->count++;
}

/* Until @count events were reported, or it is over. Return: the watch's last result. */
static int run_turns(struct podvol_watch *watch, const struct told *told, size_t count, int turns)
{
	struct pollfd poll_fd = { .fd = podvol_watch_fd(watch), .events = POLLIN };
	int r = 0;

	for (int i = 0; i < turns && r == 0 && told->count < count; i++) {
		(void) poll(&poll_fd, 1, TURN_MSEC);
		r = podvol_watch_process(watch);
	}
	return r;
}

static int run(struct podvol_watch *watch, const struct told *told, size_t count)
{
	return run_turns(watch, told, count, TURNS_MAX);
}

static struct podvol_watch *opened(const struct server *server, const char *path, struct told *told)
{
	const struct podvol_watch_request request = { .path = path,
						      .changed = keep,
						      .userdata = told };
	struct podvol_watch *watch = NULL;
	struct podvol *podvol = NULL;

	assert_int_equal(podvol_connect(server->path, &podvol), 0);
	assert_int_equal(podvol_watch_open(podvol, &request, &watch), 0);
	podvol_free(podvol); /* the watch lives on */
	return watch;
}

#define FIRST_LIST "GET /api/v1/pods HTTP/1.1\n"
#define STREAM(version)                                                                            \
	"GET /api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=" version            \
	" HTTP/1.1\n"

static void test_list_and_changes(void **state)
{
	/* Two events in one piece, one in two pieces, one unknown, one bookmark. */
	static const char *const answers[] = {
		LIST("5"),
		HEAD "a3\r\n" EVENT("ADDED", POD("a", "6"))
			EVENT("MODIFIED", POD("a", "7")) "{\"type\":\"DEL\r\n4\r\nETED\r\n",
		NULL
	};
	struct server *server = *state;
	struct told told = { 0 };
	struct podvol_watch *watch;

	assert_int_equal(strlen(EVENT("ADDED", POD("a", "6"))
					EVENT("MODIFIED", POD("a", "7")) "{\"type\":\"DEL"),
			 0xa3);
	start(server, answers, true);
	watch = opened(server, "/api/v1/pods", &told);
	assert_int_equal(run(watch, &told, 3), 0);
	assert_string_equal(told.text,
			    "listed 5 {\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":"
			    "\"5\"}}\n"
			    "added 6 " POD("a", "6") "\nmodified 7 " POD("a", "7") "\n");
	assert_string_equal(server->asked, FIRST_LIST STREAM("5"));
	assert_string_equal(podvol_watch_error(watch), "");
	podvol_watch_free(watch);
	stop(server);
}

/* The stream ends twice, at its time and in the middle: it goes on from the last version. */
static void test_goes_on(void **state)
{
	static const char *const answers[] = {
		LIST("5"),
		WHOLE(EVENT("ADDED", POD("a", "6")) EVENT("BOOKMARK", POD("", "9"))),
		HEAD "ffff\r\n" EVENT("DELETED", POD("a", "10")),
		WHOLE(EVENT("ADDED",
			    "{\"kind\":\"Table\",\"rows\":[{\"object\":" POD("b", "11") "}]}")),
		WHOLE(""),
		NULL,
	};
	struct server *server = *state;
	struct told told = { 0 };
	struct podvol_watch *watch;

	start(server, answers, true);
	watch = opened(server, "/api/v1/pods", &told);
	assert_int_equal(run(watch, &told, 5), 0);
	assert_non_null(strstr(
		told.text,
		"added 6 " POD("a", "6") "\n"
					 "deleted 10 " POD(
						 "a", "10") "\n"
							    "interrupted 10 the connection to '"));
	assert_non_null(strstr(told.text, "added 11 {\"kind\":\"Table\""));
	for (int i = 0; i < 5 && !strstr(server->asked, STREAM("11")); i++)
		assert_int_equal(run_turns(watch, &told, told.count + 1, 20), 0);
	assert_string_equal(server->asked,
			    FIRST_LIST STREAM("5") STREAM("9") STREAM("10") STREAM("11"));
	podvol_watch_free(watch);
	stop(server);
}

static void test_lists_again_after_410(void **state)
{
	static const char *const answers[] = {
		LIST("5"),
		REFUSED("410 Gone", "too old resource version"),
		LIST("20"),
		WHOLE(EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"message\":\"too old\"}")),
		LIST("30"),
		WHOLE(""),
		NULL,
	};
	struct server *server = *state;
	struct told told = { 0 };
	struct podvol_watch *watch;

	start(server, answers, true);
	watch = opened(server, "/api/v1/pods?a=b", &told);
	assert_int_equal(run(watch, &told, 3), 0);
	assert_int_equal(told.count, 3);
	assert_non_null(strstr(told.text, "\nlisted 20 "));
	assert_non_null(strstr(told.text, "\nlisted 30 "));
	assert_null(strstr(told.text, "interrupted"));
	assert_non_null(strstr(server->asked, "GET /api/v1/pods?a=b&watch=true&"));
	podvol_watch_free(watch);
	stop(server);
}

/* The daemon is gone for a while, then busy: reported once, and it goes on by itself. */
static void test_daemon_restarts(void **state)
{
	static const char *const before[] = { LIST("5"), NULL };
	static const char *const after[] = { REFUSED("503 Service Unavailable", "stopping"),
					     WHOLE(EVENT("ADDED", POD("a", "6"))), NULL };
	struct server *server = *state;
	struct told told = { 0 };
	struct podvol_watch *watch;

	start(server, before, false);
	watch = opened(server, "/api/v1/pods", &told);
	assert_int_equal(run(watch, &told, 1), 0);
	stop(server);
	assert_int_equal(run(watch, &told, 2), 0);
	assert_non_null(strstr(told.text, "\ninterrupted 5 "));
	start(server, after, true);
	assert_int_equal(run(watch, &told, 3), 0);
	assert_int_equal(told.count, 3);
	assert_non_null(strstr(told.text, "\nadded 6 "));
	podvol_watch_free(watch);
	stop(server);
}

static void test_is_over(void **state)
{
	static const struct {
		const char *answers[3];
		int error, status;
		const char *why;
	} rows[] = {
		{ { REFUSED("403 Forbidden", "secrets are for root"), NULL },
		  -EACCES,
		  403,
		  "secrets are for root" },
		{ { WHOLE("{\"items\":[]}"), NULL },
		  -EOPNOTSUPP,
		  0,
		  "this cannot be watched: its list has no version" },
		{ { LIST("1&a=b"), NULL },
		  -EOPNOTSUPP,
		  0,
		  "this cannot be watched: its list has no version" },
		{ { WHOLE("hello"), NULL }, -EPROTO, 0, "the answer is not a list" },
		{ { LIST("5"), LIST("5"), NULL },
		  -EOPNOTSUPP,
		  0,
		  "this cannot be watched: it has a list only" },
		{ { LIST("5"), WHOLE("garbage\n"), NULL },
		  -EPROTO,
		  0,
		  "the watch returned something that is not an event" },
	};
	struct server *server = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct told told = { 0 };
		struct podvol_watch *watch;

		start(server, rows[i].answers, false);
		watch = opened(server, "/api/v1/pods", &told);
		assert_int_equal(run(watch, &told, SIZE_MAX), rows[i].error);
		assert_string_equal(podvol_watch_error(watch), rows[i].why);
		assert_int_equal(podvol_watch_status(watch), rows[i].status);
		/* It stays over, and readable. */
		assert_int_equal(podvol_watch_process(watch), rows[i].error);
		assert_int_equal(
			poll(&(struct pollfd){ .fd = podvol_watch_fd(watch), .events = POLLIN }, 1,
			     1000),
			1);
		podvol_watch_free(watch);
		stop(server);
	}
}

static void test_nobody_there(void **state)
{
	struct told told = { 0 };
	struct podvol_watch *watch = opened(*state, "/api/v1/pods", &told);

	assert_int_equal(run(watch, &told, SIZE_MAX), -ECONNREFUSED);
	assert_non_null(strstr(podvol_watch_error(watch), "is podvold running?"));
	assert_int_equal(told.count, 0);
	podvol_watch_free(watch);
}

static void test_arguments(void **state)
{
	const struct podvol_watch_request no_function = { .path = "/api" };
	const struct podvol_watch_request no_path = { .changed = keep };
	const struct podvol_watch_request bad_path = { .path = "/a b", .changed = keep };
	const struct podvol_watch_request bad_header = { .path = "/a",
							 .accept = "a\r\nb: c",
							 .changed = keep };
	struct podvol_watch *watch = NULL;
	struct podvol *podvol = NULL;

	assert_int_equal(podvol_connect("/nowhere", &podvol), 0);
	assert_int_equal(podvol_watch_open(NULL, &bad_path, &watch), -EINVAL);
	assert_int_equal(podvol_watch_open(podvol, NULL, &watch), -EINVAL);
	assert_int_equal(podvol_watch_open(podvol, &no_function, &watch), -EINVAL);
	assert_int_equal(podvol_watch_open(podvol, &no_path, &watch), -EINVAL);
	assert_int_equal(podvol_watch_open(podvol, &bad_path, &watch), -EINVAL);
	assert_int_equal(podvol_watch_open(podvol, &bad_header, &watch), -EINVAL);
	assert_int_equal(podvol_watch_fd(NULL), -EINVAL);
	assert_int_equal(podvol_watch_process(NULL), -EINVAL);
	assert_string_equal(podvol_watch_error(NULL), "");
	assert_int_equal(podvol_watch_status(NULL), 0);
	podvol_watch_free(NULL);
	podvol_free(podvol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_list_and_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_goes_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lists_again_after_410, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_daemon_restarts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_is_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nobody_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_arguments, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
