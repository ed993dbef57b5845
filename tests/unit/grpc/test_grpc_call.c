/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grpc_call - calls over real sockets: times, ends, refusals, and a thousand at once
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "grpc_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define LONG_TIME (600 * USEC_PER_SEC)

static struct grpc_world world;

static int begin(void **state)
{
	grpc_world_begin(&world, "csi.sock");
	return 0;
}

static int begin_serving(void **state)
{
	grpc_world_begin(&world, "csi.sock");
	grpc_world_listen(&world, 128);
	grpc_world_accept(&world);
	return 0;
}

static int end(void **state)
{
	grpc_world_end(&world);
	return 0;
}

static void test_a_call(void **state)
{
	struct outcome outcome = { 0 }, again = { 0 };

	world.reply_bytes = 3;
	(void) grpc_world_call(&world, "abc", 3, 2 * USEC_PER_SEC, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_OK);
	assert_true(outcome.result.from_server && outcome.result.was_sent);
	assert_int_equal(outcome.reply_length, 3);
	assert_int_equal(outcome.reply_first, 'r');
	assert_int_equal(world.request_bytes, 5 + 3);
	assert_int_equal(world.request_sum, (3 + 'a' + 'b' + 'c') & 0xff);
	assert_string_equal(world.headers, ":method: POST\n"
					   ":scheme: http\n"
					   ":path: /csi.v1.Identity/Probe\n"
					   ":authority: localhost\n"
					   "te: trailers\n"
					   "content-type: application/grpc\n"
					   "user-agent: podvol\n"
					   "grpc-timeout: 2000000u\n");

	/* The socket's file system is known by now: request and answer are in one turn. */
	grpc_world_until(&world, &world.closed, 1);
	world.late = 0;
	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &again);
	grpc_world_until(&world, &world.closed, 2);
	assert_int_equal(again.result.code, GRPC_OK);
	assert_int_equal(world.late, 0);
}

static void test_an_error(void **state)
{
	struct outcome outcome = { 0 };

	world.answer = ANSWER_STATUS;
	world.status = "6";
	world.text = "gr%C3%B6%C3%9fer";
	(void) grpc_world_call(&world, "", 0, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_ALREADY_EXISTS);
	assert_string_equal(outcome.result.text, "größer");
	assert_true(outcome.result.from_server);
}

static void test_large_both_ways(void **state)
{
	struct outcome outcome = { 0 };
	size_t length = GRPC_MESSAGE_BYTES_MAX;
	cleanup_free char *message = malloc(length);

	assert_non_null(message);
	memset(message, 'q', length);
	world.reply_bytes = GRPC_MESSAGE_BYTES_MAX;
	(void) grpc_world_call(&world, message, length, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_OK);
	assert_int_equal(world.request_bytes, length + 5);
	assert_int_equal(outcome.reply_length, GRPC_MESSAGE_BYTES_MAX);
	assert_int_equal(outcome.reply_last, 'r');
}

static void test_too_large(void **state)
{
	struct outcome outcome = { 0 };
	struct grpc_call *call;
	struct failure failure;
	struct grpc_request request = {
		.socket_path = world.path,
		.method = "/a/b",
		.message = (const uint8_t *) "",
		.message_length = GRPC_MESSAGE_BYTES_MAX + 1,
		.timeout_usec = 1,
		.done = (grpc_done_fn *) abort,
	};

	assert_int_equal(grpc_call(world.event, &request, &call, &failure), -E2BIG);
	assert_string_equal(failure.text, "the request has 4194305 bytes, more than 4194304");

	world.reply_bytes = GRPC_MESSAGE_BYTES_MAX + 1;
	(void) grpc_world_call(&world, "", 0, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_RESOURCE_EXHAUSTED);
	assert_false(outcome.result.from_server);
}

/* A server may refuse before it has read; its word counts, not the broken pipe. */
static void test_refused_before_it_was_read(void **state)
{
	struct outcome outcome = { 0 };
	cleanup_free char *message = calloc(1, 1 << 20);

	assert_non_null(message);
	world.answer = ANSWER_AT_ONCE;
	world.status = "16";
	(void) grpc_world_call(&world, message, 1 << 20, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_UNAUTHENTICATED);
	assert_true(outcome.result.from_server);
}

static void test_deadline(void **state)
{
	struct outcome outcome = { 0 };
	uint64_t began = monotonic_usec();

	world.answer = ANSWER_NEVER;
	(void) grpc_world_call(&world, "", 0, 50 * USEC_PER_MSEC, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_DEADLINE_EXCEEDED);
	assert_false(outcome.result.from_server);
	assert_true(outcome.result.was_sent);
	assert_true(outcome.result.took_usec >= 50 * USEC_PER_MSEC);
	assert_true(monotonic_usec() - began >= 50 * USEC_PER_MSEC);
	grpc_world_until(&world, &world.resets, 1);
	assert_int_equal(world.reset_code, 8);
	grpc_world_until(&world, &world.closed, 1);
}

/* The server's clock says it in its own way when the client's is due: the client's decides. */
static void test_deadline_told_as_unknown(void **state)
{
	struct outcome outcome = { 0 };

	world.answer = ANSWER_STATUS;
	world.status = "2";
	world.text = "context deadline exceeded";
	(void) grpc_world_call(&world, "", 0, 1, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_DEADLINE_EXCEEDED);
}

static void test_cancel(void **state)
{
	struct outcome outcome = { 0 };
	struct grpc_call *call;

	world.answer = ANSWER_NEVER;
	call = grpc_world_call(&world, "", 0, LONG_TIME, &outcome);
	grpc_world_until(&world, &world.requests, 1);
	assert_null(grpc_cancel(call));
	grpc_world_until(&world, &world.closed, 1);
	assert_int_equal(world.resets, 1);
	assert_int_equal(world.reset_code, 8);
	assert_int_equal(outcome.done, 0);
	assert_null(grpc_cancel(NULL));
}

static void test_cancel_before_it_began(void **state)
{
	struct outcome outcome = { 0 };

	(void) grpc_cancel(grpc_world_call(&world, "", 0, LONG_TIME, &outcome));
	assert_int_equal(sd_event_run(world.event, 0), 0);
	assert_int_equal(outcome.done, 0);
	assert_int_equal(world.connected, 0);
}

static void test_done_cancels_another(void **state)
{
	struct outcome first = { 0 }, second = { 0 };

	world.answer = ANSWER_NEVER;
	(void) grpc_world_call(&world, "", 0, 20 * USEC_PER_MSEC, &first);
	first.cancel_next = grpc_world_call(&world, "", 0, LONG_TIME, &second);
	grpc_world_until(&world, &first.done, 1);
	grpc_world_until(&world, &world.closed, 2);
	assert_int_equal(second.done, 0);
}

static void test_hung_up(void **state)
{
	struct outcome outcome = { 0 };

	world.answer = ANSWER_HANG_UP;
	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_UNAVAILABLE);
	assert_false(outcome.result.from_server);
	assert_true(outcome.result.was_sent);
	assert_non_null(strstr(outcome.result.text, "closed the connection"));
}

static void nobody(enum grpc_code code, const char *text)
{
	struct outcome outcome = { 0 };

	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, code);
	assert_false(outcome.result.was_sent);
	assert_false(outcome.result.from_server);
	assert_non_null(strstr(outcome.result.text, text));
}

static void test_nobody_there(void **state)
{
	nobody(GRPC_UNAVAILABLE, "No such file or directory");
	grpc_world_listen(&world, 1);
	world.listen_fd = close_keep_errno(world.listen_fd);
	nobody(GRPC_UNAVAILABLE, "Connection refused"); /* a stale socket */
	assert_int_equal(unlink(world.path), 0);
	assert_int_equal(mknod(world.path, S_IFREG | 0600, 0), 0);
	nobody(GRPC_UNAVAILABLE, "Connection refused"); /* no socket at all */
}

static void test_long_paths(void **state)
{
	static const char directory[] =
		"plugins.of.a.driver.whose.name.is.as.long.as.names.may.be/";
	char name[400] = "";
	struct outcome outcome = { 0 };

	for (int i = 0; i < 4; i++)
		(void) snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s", directory);
	(void) snprintf(name + strlen(name), sizeof(name) - strlen(name), "csi.sock");
	grpc_world_end(&world);
	grpc_world_begin(&world, name);
	grpc_world_listen(&world, 8);
	grpc_world_accept(&world);
	assert_true(strlen(world.path) > 220);
	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_OK);

	(void) snprintf(strrchr(world.path, '/'), 16, "/absent.sock");
	nobody(GRPC_UNAVAILABLE, "/absent.sock': No such file or directory");
	memset(strrchr(world.path, '/') + 1, 'n', 110);
	nobody(GRPC_UNAVAILABLE, "File name too long");
}

/* A full queue is no refusal: the call waits its turn, and its deadline counts. */
static void test_full_queue(void **state)
{
	struct outcome outcomes[4] = { 0 };

	grpc_world_listen(&world, 0); /* room for one */
	for (size_t i = 0; i < 3; i++)
		(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcomes[i]);
	(void) grpc_world_call(&world, "abc", 3, 30 * USEC_PER_MSEC, &outcomes[3]);
	grpc_world_until(&world, &outcomes[3].done, 1);
	assert_int_equal(outcomes[3].result.code, GRPC_DEADLINE_EXCEEDED);
	assert_false(outcomes[3].result.was_sent);
	assert_non_null(strstr(outcomes[3].result.text, "accepted no connection"));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(outcomes[i].done, 0);
	grpc_world_accept(&world);
	for (size_t i = 0; i < 3; i++) {
		grpc_world_until(&world, &outcomes[i].done, 1);
		assert_int_equal(outcomes[i].result.code, GRPC_OK);
	}
}

/* A server that sends without end, never reads what it is sent, and may say so. */
struct flooder {
	int fd;
	bool shuts;
	size_t sent;
	unsigned int others; /* turns that an API's client of the same loop got meanwhile */
};

static int on_room(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	static const uint8_t frame[9 + 16384] = { 0, 0x40, 0, 0xfa };
	struct flooder *flooder = userdata;
	size_t at = flooder->sent % sizeof(frame);
	ssize_t sent = send(fd, frame + at, sizeof(frame) - at, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent > 0)
		flooder->sent += (size_t) sent;
	else if (errno != EAGAIN)
		(void) sd_event_source_set_enabled(source, SD_EVENT_OFF);
	assert_true(flooder->sent < 8 * GRPC_BYTES_MAX); /* else the call takes all there is */
	return 0;
}

static int on_flooded(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	static const uint8_t settings[9] = { 0, 0, 0, 4 };
	struct flooder *flooder = userdata;
	size_t sent = SIZE_MAX;

	flooder->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(flooder->fd >= 0);
	assert_int_equal(send(flooder->fd, settings, sizeof(settings), 0), sizeof(settings));
	while (flooder->shuts && on_room(NULL, flooder->fd, EPOLLOUT, flooder) == 0 &&
	       flooder->sent != sent)
		sent = flooder->sent;
	if (flooder->shuts)
		assert_int_equal(shutdown(flooder->fd, SHUT_RD), 0);
	assert_true(sd_event_add_io(world.event, NULL, flooder->fd, EPOLLOUT, on_room, flooder) >=
		    0);
	return 0;
}

static int on_other(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	((struct flooder *) userdata)->others++;
	return 0;
}

/* case 479: counted, not timed: others of the lowest priority have a turn for each 16 KiB. */
static void meet_flood(bool shuts)
{
	struct flooder flooder = { .fd = -EBADF, .shuts = shuts };
	struct outcome outcome = { 0 };
	cleanup_close int ready_fd = eventfd(1, EFD_CLOEXEC); /* and stays so */
	sd_event_source *other;

	assert_true(ready_fd >= 0);
	grpc_world_listen(&world, 1);
	assert_true(sd_event_add_io(world.event, NULL, world.listen_fd, EPOLLIN, on_flooded,
				    &flooder) >= 0);
	assert_true(sd_event_add_io(world.event, &other, ready_fd, EPOLLIN, on_other, &flooder) >=
		    0);
	assert_true(sd_event_source_set_priority(other, SD_EVENT_PRIORITY_IDLE) >= 0);
	(void) grpc_world_call(&world, "", 0, LONG_TIME, &outcome);
	grpc_world_until(&world, &outcome.done, 1);
	(void) sd_event_source_disable_unref(other);
	assert_int_equal(outcome.result.code, GRPC_RESOURCE_EXHAUSTED);
	assert_non_null(strstr(outcome.result.text, "call cancelled"));
	assert_true(outcome.result.was_sent);
	assert_in_range(flooder.others, GRPC_BYTES_MAX / 16384 - 16, SIZE_MAX); /* case 479 */
	(void) close_keep_errno(flooder.fd);
}

static void test_a_flood_leaves_turns_to_others(void **state)
{
	meet_flood(false);
}

static void test_a_flood_of_a_server_that_reads_nothing(void **state)
{
	meet_flood(true);
}

/* Two descriptors for each call, for both ends live here. */
static void want_descriptors(rlim_t count)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < count && limit.rlim_max >= count) {
		limit.rlim_cur = count;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	}
	if (limit.rlim_cur < count) {
		print_message("only %lu descriptors are allowed\n", (unsigned long) limit.rlim_cur);
		skip();
	}
}

/* How many descriptors the kernel named to the loop, and how often the loop said what it waits for.
 * sd-event's own calls come here. */
static size_t named, controlled;

__attribute__((visibility("default"))) int epoll_wait(int fd, struct epoll_event *events, int room,
						      int timeout)
{
	int count = epoll_pwait(fd, events, room, timeout, NULL);

	named += count > 0 ? (size_t) count : 0;
	return count;
}

__attribute__((visibility("default"))) int epoll_ctl(int fd, int operation, int of,
						     struct epoll_event *event)
{
	controlled++;
	return (int) syscall(SYS_epoll_ctl, fd, operation, of, event);
}

static int accept_next(void)
{
	int fd = -EBADF;

	while ((fd = accept4(world.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0)
		assert_true(sd_event_run(world.event, 10 * USEC_PER_SEC) > 0);
	return fd;
}

static const uint8_t settings[9] = { 0, 0, 0, 4 };

/* A driver greets all who call it at once. Each greeting is one event, and not one in each turn
 * that the loop takes for the others; the loop waits for more as before. */
static void test_greetings_of_many(void **state)
{
	enum { CALLS = 100 };
	struct outcome outcomes[CALLS] = { 0 };
	int fds[CALLS];

	grpc_world_listen(&world, CALLS);
	for (size_t i = 0; i < CALLS; i++)
		(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcomes[i]);
	for (size_t i = 0; i < CALLS; i++)
		fds[i] = accept_next();
	while (sd_event_run(world.event, 0) > 0)
		;
	named = controlled = 0;
	for (size_t i = 0; i < CALLS; i++)
		assert_int_equal(send(fds[i], settings, sizeof(settings), 0), sizeof(settings));
	while (sd_event_run(world.event, 0) > 0)
		;
	if (named > 0)
		assert_in_range(named, CALLS, 2 * CALLS);
	assert_int_equal(controlled, 0);
	for (size_t i = 0; i < CALLS; i++)
		assert_int_equal(close(fds[i]), 0);
	for (size_t i = 0; i < CALLS; i++)
		grpc_world_until(&world, &outcomes[i].done, 1);
	if (named > 0)
		return;
	print_message("this sd-event waits by another call than epoll_wait()\n");
	skip();
}

/* A frame that needs no answer and the end are one event, of which one read takes the frame alone.
 */
static void test_more_window_and_hung_up(void **state)
{
	static const uint8_t window[13] = { 0, 0, 4, 8, [11] = 1 };
	struct outcome outcome = { 0 };
	int fd;

	grpc_world_listen(&world, 1);
	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcome);
	fd = accept_next();
	while (sd_event_run(world.event, 0) > 0)
		;
	assert_int_equal(send(fd, settings, sizeof(settings), 0), sizeof(settings));
	while (sd_event_run(world.event, 0) > 0)
		;
	assert_int_equal(send(fd, window, sizeof(window), 0), sizeof(window));
	assert_int_equal(close(fd), 0);
	grpc_world_until(&world, &outcome.done, 1);
	assert_int_equal(outcome.result.code, GRPC_UNAVAILABLE);
}

static int keep_on(sd_event_source *source, void *userdata)
{
	return sd_event_source_set_enabled(source, SD_EVENT_ON);
}

static bool ends_within(unsigned int turns, const unsigned int *done)
{
	while (*done == 0 && turns-- > 0)
		assert_true(sd_event_run(world.event, 0) > 0);
	return *done > 0;
}

/* A loop that has always more to do, such as operations that end and begin calls. */
static void test_a_busy_loop_keeps_no_server_waiting(void **state)
{
	static const uint8_t reply[] = "\0\0\x10\1\5\0\0\0\1\x88\0\x0bgrpc-status\1"
				       "5";
	struct outcome outcome = { 0 };
	sd_event_source *busy;
	int fd;

	grpc_world_listen(&world, 1);
	/* Its file system is known from now on. */
	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcome);
	assert_int_equal(close(accept_next()), 0);
	grpc_world_until(&world, &outcome.done, 1);

	assert_true(sd_event_add_defer(world.event, &busy, keep_on, NULL) >= 0);
	assert_true(sd_event_source_set_priority(busy, GRPC_PRIORITY + 1) >= 0);
	outcome.done = 0;
	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcome);
	for (unsigned int turn = 0; turn < 10; turn++)
		assert_true(sd_event_run(world.event, 0) > 0);
	fd = accept4(world.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(send(fd, settings, sizeof(settings), 0), sizeof(settings));
	assert_int_equal(send(fd, reply, sizeof(reply) - 1, 0), sizeof(reply) - 1);
	assert_true(ends_within(10, &outcome.done));
	assert_int_equal(outcome.result.code, GRPC_NOT_FOUND);
	(void) sd_event_source_disable_unref(busy);
	assert_int_equal(close(fd), 0);
}

/* A thousand unanswered calls, on one thread; then all are answered, and nothing stays. */
static void test_a_thousand_at_once(void **state)
{
	enum { CALLS = GRPC_CALLS_MAX };
	static struct outcome outcomes[CALLS];
	unsigned int descriptors, threads = count_entries("/proc/self/task");
	struct outcome more = { 0 };
	struct grpc_request request = { .socket_path = world.path,
					.method = "/a/b",
					.timeout_usec = 1,
					.done = (grpc_done_fn *) abort };
	struct grpc_call *call;
	struct failure failure;

	want_descriptors(2 * CALLS + 64);
	(void) grpc_world_call(&world, "", 0, LONG_TIME, &more); /* the loop makes itself a timer */
	grpc_world_until(&world, &more.done, 1);
	grpc_world_until(&world, &world.closed, 1);
	world.requests = 0;
	more = (struct outcome){ 0 };
	descriptors = count_entries("/proc/self/fd");
	world.answer = ANSWER_NEVER;
	for (size_t i = 0; i < CALLS; i++)
		(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &outcomes[i]);
	assert_int_equal(grpc_call(world.event, &request, &call, &failure), -ENOBUFS);
	grpc_world_until(&world, &world.requests, CALLS);
	assert_int_equal(count_entries("/proc/self/task"), threads);
	assert_int_equal(count_entries("/proc/self/fd"), descriptors + 2 * CALLS);

	while (world.connections) /* the server dies */
		grpc_world_hang_up(&world);
	for (size_t i = 0; i < CALLS; i++) {
		grpc_world_until(&world, &outcomes[i].done, 1);
		assert_int_equal(outcomes[i].result.code, GRPC_UNAVAILABLE);
	}
	assert_int_equal(count_entries("/proc/self/fd"), descriptors);
	world.answer = ANSWER_OK;
	(void) grpc_world_call(&world, "abc", 3, LONG_TIME, &more);
	grpc_world_until(&world, &more.done, 1);
	assert_int_equal(more.result.code, GRPC_OK);
}

#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_call, begin_serving),
		TEST(test_an_error, begin_serving),
		TEST(test_large_both_ways, begin_serving),
		TEST(test_too_large, begin_serving),
		TEST(test_refused_before_it_was_read, begin_serving),
		TEST(test_deadline, begin_serving),
		TEST(test_deadline_told_as_unknown, begin_serving),
		TEST(test_cancel, begin_serving),
		TEST(test_cancel_before_it_began, begin_serving),
		TEST(test_done_cancels_another, begin_serving),
		TEST(test_hung_up, begin_serving),
		TEST(test_nobody_there, begin),
		TEST(test_long_paths, begin),
		TEST(test_a_flood_leaves_turns_to_others, begin),
		TEST(test_a_flood_of_a_server_that_reads_nothing, begin),
		TEST(test_full_queue, begin),
		TEST(test_greetings_of_many, begin),
		TEST(test_more_window_and_hung_up, begin),
		TEST(test_a_busy_loop_keeps_no_server_waiting, begin),
		TEST(test_a_thousand_at_once, begin_serving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
