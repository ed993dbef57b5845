/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_requests - how many requests a second a server gets, by how it answers
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/cluster/cluster_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <string.h>

static const char asked[] = "/api/v1/persistentvolumes/asked";

static struct {
	struct cluster_world world;
	struct reply reply;
	uint64_t latency_usec;
	unsigned int answered;
	size_t running_most;
} sim;

static uint64_t latency_usec(void)
{
	return sim.latency_usec;
}

static int64_t viewed(const char *name)
{
	cleanup_json struct cJSON *view = json_new_object();
	int64_t number = -1;

	requests_view(sim.world.cluster.requests, view);
	assert_true(json_int64(json_get(view, name), &number));
	return number;
}

/* Pods are refused: they do not count here. */
static struct reply serve(const struct http_call *call)
{
	if (strcmp(call->request.path, asked) != 0)
		return (struct reply){ .error = -ECONNREFUSED };
	if (viewed("requestsRunning") > (int64_t) sim.running_most)
		sim.running_most = (size_t) viewed("requestsRunning");
	return sim.reply;
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	(void) userdata;
	(void) answer;
	sim.answered++;
}

static void ask(unsigned int count)
{
	const struct http_request request = { .method = "GET", .path = asked, .done = on_answer };
	struct request *sent;

	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(requests_send(sim.world.cluster.requests, &request, &sent), 0);
}

/* How many are answered in so many seconds. */
static unsigned int answered_in(unsigned int seconds)
{
	unsigned int before = sim.answered;

	cluster_world_run(&sim.world, seconds * USEC_PER_SEC);
	return sim.answered - before;
}

static int set_up(void **state)
{
	(void) state;
	memset(&sim, 0, sizeof(sim));
	sim.world.serve = serve;
	sim.world.latency_usec = latency_usec;
	sim.latency_usec = 5 * USEC_PER_MSEC;
	sim.reply.status = 200;
	cluster_world_open(&sim.world);
	cluster_world_start(&sim.world, "node");
	return 0;
}

static int tear_down(void **state)
{
	(void) state;
	cluster_world_stop(&sim.world);
	cluster_world_close(&sim.world);
	return 0;
}

static void test_a_quick_server_is_asked_more_often(void **state)
{
	(void) state;
	ask(3000);
	assert_true(answered_in(1) >= REQUESTS_PER_SECOND_MAX / 2);
	assert_in_range(answered_in(1), REQUESTS_PER_SECOND_MAX - 50, REQUESTS_PER_SECOND_MAX);
	assert_int_equal(viewed("requestsPerSecondMax"), REQUESTS_PER_SECOND_MAX);
	assert_true(answered_in(2) > 0);
	assert_int_equal(sim.answered, 3000);
	assert_int_equal(sim.running_most, REQUESTS_IN_FLIGHT_MAX);
}

static void test_a_slow_server_is_not(void **state)
{
	(void) state;
	sim.latency_usec = (REQUESTS_QUICK_MSEC + 1) * USEC_PER_MSEC;
	ask(3000);
	assert_in_range(answered_in(10), 10 * REQUESTS_PER_SECOND_MIN,
			REQUESTS_BURST_MAX + 10 * REQUESTS_PER_SECOND_MIN);
}

/* Whatever went well before. */
static void test_errors_slow_it_down(void **state)
{
	static const struct reply errors[] = { { .status = 500 }, { .error = -ECONNRESET } };

	(void) state;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		sim.reply = (struct reply){ .status = 404 };
		ask(1000);
		assert_int_equal(answered_in(10), 1000);
		assert_int_equal(viewed("requestsPerSecondMax"), REQUESTS_PER_SECOND_MAX);
		sim.reply = errors[i];
		ask(REQUESTS_IN_FLIGHT_MAX);
		assert_int_equal(answered_in(1), REQUESTS_IN_FLIGHT_MAX);
		assert_int_equal(viewed("requestsPerSecondMax"), REQUESTS_PER_SECOND_MAX / 2);
		for (unsigned int again = 0; again < 4; again++) {
			ask(1);
			assert_int_equal(answered_in(1), 1);
		}
		assert_int_equal(viewed("requestsPerSecondMax"), REQUESTS_PER_SECOND_MIN);
	}
}

static void test_429_holds_all_back(void **state)
{
	(void) state;
	ask(1000);
	assert_int_equal(answered_in(10), 1000);
	sim.reply = (struct reply){ .status = 429, .retry_after_seconds = 20 };
	ask(100);
	assert_in_range(answered_in(20), 1, REQUESTS_IN_FLIGHT_MAX);
	assert_int_equal(viewed("requestsPerSecondMax"), REQUESTS_PER_SECOND_MAX / 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_quick_server_is_asked_more_often, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_slow_server_is_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_errors_slow_it_down, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_429_holds_all_back, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
