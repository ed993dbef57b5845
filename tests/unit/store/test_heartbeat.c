/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_heartbeat - when a silent server is asked, and which answer ends its connections
 *
 * The HTTP client and the clock are taken over. No test waits.
 */
#include "store/remote/heartbeat.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { START_USEC = 1000000000, SILENT_USEC = HEARTBEAT_SILENT_MSEC * 1000 };

static struct world {
	sd_event *event;
	struct heartbeat *heartbeat;
	struct http_request request; /* the one under way */
	unsigned int asked, drops, calls;
	uint64_t clock_usec, received_usec, due_usec; /* of the timer */
} world;

int __wrap_http_client_call(struct http_client *client, const struct http_request *request,
			    struct http_call **ret);
struct http_call *__wrap_http_call_cancel(struct http_call *call);
uint64_t __wrap_http_client_received_usec(const struct http_client *client);
unsigned int __wrap_http_client_call_count(const struct http_client *client);
void __wrap_http_client_drop_connections(struct http_client *client);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __real_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __real_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_http_client_call(struct http_client *client, const struct http_request *request,
			    struct http_call **ret)
{
	assert_string_equal(request->path, "/livez");
	world.asked++;
	world.request = *request;
	*ret = (struct http_call *) &world;
	return 0;
}

struct http_call *__wrap_http_call_cancel(struct http_call *call)
{
	return NULL;
}

uint64_t __wrap_http_client_received_usec(const struct http_client *client)
{
	return world.received_usec;
}

unsigned int __wrap_http_client_call_count(const struct http_client *client)
{
	return world.calls;
}

void __wrap_http_client_drop_connections(struct http_client *client)
{
	world.drops++;
}

int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec)
{
	world.due_usec = usec;
	return __real_sd_event_source_set_time(source, 0);
}

int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	return __wrap_sd_event_source_set_time(source, world.clock_usec + usec);
}

int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata)
{
	assert_int_equal(usec, SILENT_USEC);
	return __real_sd_event_add_time_relative(event, ret, clock, 0, accuracy, callback,
						 userdata);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ .tv_sec = (time_t) (world.clock_usec / 1000000),
				  .tv_nsec = (long) (world.clock_usec % 1000000 * 1000) };
	return 0;
}

static int set_up(void **state)
{
	world = (struct world){ .clock_usec = START_USEC, .received_usec = START_USEC, .calls = 1 };
	assert_true(sd_event_new(&world.event) >= 0);
	assert_int_equal(heartbeat_new(world.event, (struct http_client *) &world,
				       HEARTBEAT_SILENT_MSEC, HEARTBEAT_ANSWER_MSEC,
				       &world.heartbeat),
			 0);
	return 0;
}

static int tear_down(void **state)
{
	world.heartbeat = heartbeat_free(world.heartbeat);
	(void) sd_event_unref(world.event);
	return 0;
}

/* The timer, whenever it is due. */
static void turn(void)
{
	assert_true(sd_event_run(world.event, 0) > 0);
}

static void be_silent(void)
{
	world.clock_usec = world.received_usec + SILENT_USEC;
	turn();
	assert_int_equal(world.asked, 1);
	assert_int_equal(world.request.timeout_usec, HEARTBEAT_ANSWER_MSEC * 1000);
}

static void answer(int error, int status)
{
	world.request.done(world.request.userdata,
			   &(struct http_answer){ .error = error, .status = status, .body = "" });
	assert_int_equal(world.drops, 0); /* not from within libcurl */
	turn();
}

static void test_silence_is_asked_about(void **state)
{
	world.clock_usec += SILENT_USEC / 2;
	turn();
	assert_int_equal(world.asked, 0);
	assert_int_equal(world.due_usec, START_USEC + SILENT_USEC);
	be_silent();
}

static void test_without_calls_nothing_is_asked(void **state)
{
	world.calls = 0;
	world.clock_usec += 10L * SILENT_USEC;
	turn();
	assert_int_equal(world.asked, 0);
	assert_int_equal(world.due_usec, world.clock_usec + SILENT_USEC);
}

static void test_no_answer_drops_the_connections(void **state)
{
	be_silent();
	answer(-ETIMEDOUT, 0);
	assert_int_equal(world.drops, 1);
}

static void test_any_answer_will_do(void **state)
{
	static const struct {
		int error, status;
	} rows[] = { { 0, 200 },           { 0, 401 },          { 0, 403 },
		     { 0, 500 },           { -EPROTO, 200 },    { -ECONNRESET, 0 },
		     { -ECONNREFUSED, 0 }, { -EKEYREJECTED, 0 } };

	be_silent();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		answer(rows[i].error, rows[i].status);
		assert_int_equal(world.drops, 0);
		assert_int_equal(world.asked, i + 2); /* it is as silent as before */
	}
}

static void test_what_another_connection_says_counts(void **state)
{
	be_silent();
	world.received_usec = world.clock_usec + 1;
	answer(-ETIMEDOUT, 0);
	assert_int_equal(world.drops, 0);
	assert_int_equal(world.due_usec, world.received_usec + SILENT_USEC);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_silence_is_asked_about),
		TEST(test_without_calls_nothing_is_asked),
		TEST(test_no_answer_drops_the_connections),
		TEST(test_any_answer_will_do),
		TEST(test_what_another_connection_says_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
