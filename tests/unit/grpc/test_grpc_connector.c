/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_grpc_connector - who waits for a look-up that hangs, and who does not
 *
 * A look-up on a thread takes as long as the test says; the loop's own is the real one.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "grpc/connect.h"
#include "grpc_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define LONG_TIME (600 * USEC_PER_SEC)

static struct grpc_world world;
static atomic_uint look_ups, released;
static int gate[2]; /* a byte of it lets one look-up go on */

int __real_grpc_connect(const char *path, dev_t *ret_device, struct failure *reterr);
int __wrap_grpc_connect(const char *path, dev_t *ret_device, struct failure *reterr);
int __wrap_grpc_connect(const char *path, dev_t *ret_device, struct failure *reterr)
{
	char byte;

	atomic_fetch_add(&look_ups, 1);
	if (read(gate[0], &byte, 1) != 1)
		abort();
	atomic_fetch_add(&released, 1);
	return __real_grpc_connect(path, ret_device, reterr);
}

/* What is trusted stays so until the process ends: only some tests want to be asked. */
static bool forgets;
static unsigned int tries; /* on the loop */
int __real_grpc_connect_now(const char *path, struct failure *reterr);
int __wrap_grpc_connect_now(const char *path, struct failure *reterr);
int __wrap_grpc_connect_now(const char *path, struct failure *reterr)
{
	tries++;
	return forgets ? -EINPROGRESS : __real_grpc_connect_now(path, reterr);
}

static void release(unsigned int count)
{
	while (count-- > 0)
		assert_int_equal(write(gate[1], "g", 1), 1);
}

static int begin(void **state)
{
	look_ups = released = tries = 0;
	forgets = true;
	assert_int_equal(pipe2(gate, 0), 0);
	grpc_world_begin(&world, "csi.sock");
	grpc_world_listen(&world, 128);
	grpc_world_accept(&world);
	return 0;
}

static int end(void **state)
{
	grpc_world_end(&world);
	(void) close_keep_errno(gate[0]);
	(void) close_keep_errno(gate[1]);
	return 0;
}

/* First on a thread, for nothing is known of the file system; then on the loop. */
static void test_a_local_file_system_is_known_after_one(void **state)
{
	struct outcome first = { 0 }, second = { 0 };

	forgets = false;
	release(1);
	(void) grpc_world_call(&world, "", 0, LONG_TIME, &first);
	grpc_world_until(&world, &first.done, 1);
	assert_int_equal(first.result.code, GRPC_OK);
	assert_int_equal(look_ups, 1);
	(void) grpc_world_call(&world, "", 0, LONG_TIME, &second);
	grpc_world_until(&world, &second.done, 1);
	assert_int_equal(second.result.code, GRPC_OK);
	assert_int_equal(look_ups, 1);
}

static void test_the_deadline_ends_a_call_whose_look_up_hangs(void **state)
{
	struct outcome hung = { 0 }, late = { 0 };
	unsigned int threads;

	(void) grpc_world_call(&world, "", 0, 20 * USEC_PER_MSEC, &hung);
	grpc_world_until(&world, &hung.done, 1);
	assert_int_equal(hung.result.code, GRPC_DEADLINE_EXCEEDED);
	assert_false(hung.result.was_sent);
	assert_non_null(strstr(hung.result.text, "not even found"));
	threads = count_entries("/proc/self/task");
	(void) grpc_world_call(&world, "", 0, LONG_TIME, &late);
	assert_true(sd_event_run(world.event, 0) >= 0);
	assert_int_equal(count_entries("/proc/self/task"), threads); /* one waits for all */
	release(1);
	grpc_world_until(&world, &late.done, 1);
	assert_int_equal(late.result.code, GRPC_OK);
	assert_int_equal(look_ups, 1);
}

/* Each gets a connection of its own, one after the other. */
static void test_many_wait_for_one(void **state)
{
	struct outcome outcomes[5] = { 0 };
	unsigned int descriptors = count_entries("/proc/self/fd");

	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
		(void) grpc_world_call(&world, "", 0, LONG_TIME, &outcomes[i]);
	release(ARRAY_SIZE(outcomes));
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		grpc_world_until(&world, &outcomes[i].done, 1);
		assert_int_equal(outcomes[i].result.code, GRPC_OK);
	}
	assert_int_equal(world.connected, ARRAY_SIZE(outcomes));
	assert_int_equal(released, ARRAY_SIZE(outcomes));
	/* Each when it began, and one of those that still waited after each look-up. */
	assert_int_equal(tries, 2 * ARRAY_SIZE(outcomes) - 1);
	grpc_world_until(&world, &world.closed, ARRAY_SIZE(outcomes));
	assert_true(count_entries("/proc/self/fd") <= descriptors + 1); /* the loop's timer */
}

static void test_an_error_is_for_all(void **state)
{
	struct outcome outcomes[3] = { 0 };

	(void) snprintf(strrchr(world.path, '/'), 16, "/absent.sock");
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
		(void) grpc_world_call(&world, "", 0, LONG_TIME, &outcomes[i]);
	release(1);
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++) {
		grpc_world_until(&world, &outcomes[i].done, 1);
		assert_int_equal(outcomes[i].result.code, GRPC_UNAVAILABLE);
		assert_non_null(strstr(outcomes[i].result.text, "No such file or directory"));
	}
	assert_int_equal(look_ups, 1);
}

/* The connection that is no longer wanted is closed, and nothing of it is left. */
static void test_who_waited_has_left(void **state)
{
	struct outcome left = { 0 };

	(void) grpc_cancel(grpc_world_call(&world, "", 0, LONG_TIME, &left));
	assert_int_equal(look_ups, 0); /* it had not begun */
	struct grpc_call *call = grpc_world_call(&world, "", 0, LONG_TIME, &left);

	assert_true(sd_event_run(world.event, 0) >= 0);
	(void) grpc_cancel(call);
	release(1);
	grpc_world_until(&world, &world.connected, 1);
	grpc_world_until(&world, &world.closed, 1);
	assert_int_equal(left.done, 0);
	assert_int_equal(world.requests, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_local_file_system_is_known_after_one),
		TEST(test_the_deadline_ends_a_call_whose_look_up_hangs),
		TEST(test_many_wait_for_one),
		TEST(test_an_error_is_for_all),
		TEST(test_who_waited_has_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
