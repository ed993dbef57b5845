/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_driver_calls - a driver is called by root, within limits, and its answer comes later
 */
#include "agent.h"
#include "api_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CALL "/podvol/v1/drivers/csi.example.com/call"

static struct {
	int result;
	const char *words; /* of the failure */
	char asked[256];   /* "driver method message usec" */
	driver_call_fn *done;
	void *userdata;
	unsigned int left;
} driver;

int agent_call_driver(struct agent *agent, const struct driver_call_request *request,
		      struct driver_call **ret, struct failure *reterr)
{
	cleanup_free char *message = request->message ? json_print(request->message) : NULL;

	(void) snprintf(driver.asked, sizeof(driver.asked), "%s %s %s %llu", request->driver,
			request->method, message ? message : "none",
			(unsigned long long) request->timeout_usec);
	if (driver.result < 0)
		return failed_plain(reterr, driver.result, "%s", driver.words);
	driver.done = request->done;
	driver.userdata = request->userdata;
	*ret = (struct driver_call *) &driver;
	return 0;
}

void driver_call_cancel(struct driver_call *call)
{
	assert_ptr_equal(call, &driver);
	driver.left++;
}

static int set_up(void **state)
{
	memset(&driver, 0, sizeof(driver));
	return world_set_up(state);
}

static struct cJSON *answer(void)
{
	struct cJSON *tree = json_new_object();

	(void) json_set_int(tree, "code", 5);
	return tree;
}

static void test_an_answer_comes_later(void **state)
{
	struct world *world = *state;

	world_begin(world, METHOD_POST, CALL "?method=NodeGetInfo&timeout=2m", "{\"a\":1}");
	assert_string_equal(driver.asked, "csi.example.com NodeGetInfo {\"a\":1} 120000000");
	assert_true(world->exchange.is_secret);
	assert_int_equal(world->answers, 0);
	driver.done(driver.userdata, answer());
	assert_int_equal(world->answers, 1);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_reply(world), "{\"code\":5}");
}

static void test_what_is_left_out(void **state)
{
	struct world *world = *state;

	world_begin(world, METHOD_POST, CALL, NULL);
	assert_string_equal(driver.asked, "csi.example.com  none 30000000");
	driver.done(driver.userdata, NULL); /* no memory */
	assert_int_equal(world->exchange.status, 500);
}

/* Requests hold secrets, and act. */
static void test_root_alone(void **state)
{
	struct world *world = *state;

	world_rights = RIGHT_READ | RIGHT_WRITE;
	assert_int_equal(world_request(world, METHOD_POST, CALL "?method=Probe", "{}"), 403);
	assert_string_equal(driver.asked, "");
}

static void test_refused(void **state)
{
	static const struct {
		int error, status;
	} rows[] = {
		{ -EINVAL, 400 },  { -E2BIG, 413 },  { -ENOTCONN, 404 },
		{ -ENOBUFS, 429 }, { -ENOMEM, 500 },
	};
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		driver.result = rows[i].error;
		driver.words = "because of this";
		assert_int_equal(world_request(world, METHOD_POST, CALL "?method=Probe", "{}"),
				 rows[i].status);
		assert_string_equal(world_string(world, "message"), "because of this");
	}
}

static void test_never_asked(void **state)
{
	static const struct {
		const char *path, *body;
	} rows[] = {
		{ CALL "?timeout=0s", "{}" },   { CALL "?timeout=11m", "{}" },
		{ CALL "?timeout=soon", "{}" }, { CALL, "{" },
		{ CALL, "{\"a\":1,\"a\":2}" },
	};
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(world_request(world, METHOD_POST, rows[i].path, rows[i].body),
				 400);
		assert_string_equal(driver.asked, "");
	}
	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_POST, CALL "?method=Probe", "{}"), 429);
	assert_string_equal(driver.asked, "");
	assert_int_equal(world_request(world, METHOD_GET, CALL, NULL), 405);
}

static void test_a_client_that_leaves(void **state)
{
	struct world *world = *state;

	world_begin(world, METHOD_POST, CALL "?method=Probe", "{}");
	world_leave(world);
	assert_int_equal(driver.left, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_an_answer_comes_later),
		TEST(test_what_is_left_out),
		TEST(test_root_alone),
		TEST(test_refused),
		TEST(test_never_asked),
		TEST(test_a_client_that_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
