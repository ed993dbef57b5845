/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_log - the last calls, newest first, and sums of all of them
 */
#include "base/cleanup.h"
#include "csi/csi_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t now_usec; /* what the log believes */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ .tv_sec = (time_t) (now_usec / 1000000),
				  .tv_nsec = (long) (now_usec % 1000000 * 1000) };
	return 0;
}

static int begin(void **state)
{
	struct csi_log *log;

	now_usec = 1000000;
	assert_int_equal(csi_log_new(&log), 0);
	*state = log;
	return 0;
}

static int end(void **state)
{
	assert_null(csi_log_free(*state));
	return 0;
}

static void call(struct csi_log *log, const char *driver, const char *about, enum grpc_code code)
{
	struct csi_log_record *record = csi_log_begin(log, driver, about, CSI_NODE_STAGE_VOLUME);
	const struct grpc_result result = { .code = code };

	csi_log_end(log, record, &result);
}

struct seen {
	size_t count;
	struct csi_log_entry entries[8];
	char drivers[8][64], abouts[8][64], texts[8][GRPC_STATUS_TEXT_BYTES];
	int answer;
};

static int see(const struct csi_log_entry *entry, void *userdata)
{
	struct seen *seen = userdata;

	assert_true(seen->count < ARRAY_SIZE(seen->entries));
	(void) snprintf(seen->drivers[seen->count], 64, "%s", entry->driver);
	(void) snprintf(seen->abouts[seen->count], 64, "%s", entry->about);
	(void) snprintf(seen->texts[seen->count], GRPC_STATUS_TEXT_BYTES, "%s", entry->text);
	seen->entries[seen->count++] = *entry;
	return seen->answer;
}

static void test_newest_first(void **state)
{
	struct seen all = { 0 }, a = { 0 }, v1 = { 0 }, none = { 0 };

	call(*state, "a", "v1", GRPC_OK);
	call(*state, "b", "v1", GRPC_ABORTED);
	call(*state, "a", NULL, GRPC_OK);
	assert_int_equal(csi_log_walk(*state, NULL, NULL, see, &all), 0);
	assert_int_equal(all.count, 3);
	assert_string_equal(all.abouts[0], "");
	assert_string_equal(all.drivers[1], "b");
	assert_int_equal(all.entries[1].code, GRPC_ABORTED);
	assert_int_equal(csi_log_walk(*state, "a", NULL, see, &a), 0);
	assert_int_equal(a.count, 2);
	assert_int_equal(csi_log_walk(*state, NULL, "v1", see, &v1), 0);
	assert_int_equal(v1.count, 2);
	assert_int_equal(csi_log_walk(*state, "a", "v2", see, &none), 0);
	assert_int_equal(none.count, 0);
	none.answer = 7;
	assert_int_equal(csi_log_walk(*state, NULL, NULL, see, &none), 7);
	assert_int_equal(none.count, 1);
}

static void test_times_and_texts(void **state)
{
	struct csi_log_record *record = csi_log_begin(*state, "a", "v", CSI_NODE_GET_INFO);
	struct grpc_result result = { .code = GRPC_INTERNAL };
	struct seen running = { 0 }, over = { 0 };

	assert_int_equal(csi_log_walk(*state, NULL, NULL, see, &running), 0);
	assert_true(running.entries[0].running);
	assert_string_equal(running.texts[0], "");
	assert_int_equal(running.entries[0].took_usec, 0);
	now_usec += 250;
	/* case 471: the longest that a call hands on; longer ones are cut in the middle before. */
	memset(result.text, 'x', sizeof(result.text) - 1);
	csi_log_end(*state, record, &result);
	assert_int_equal(csi_log_walk(*state, NULL, NULL, see, &over), 0);
	assert_false(over.entries[0].running);
	assert_int_equal(over.entries[0].began_usec, 1000000);
	assert_int_equal(over.entries[0].took_usec, 250);
	assert_int_equal(over.entries[0].method, CSI_NODE_GET_INFO);
	assert_string_equal(over.texts[0], result.text);
}

static int count_entry(const struct csi_log_entry *entry, void *userdata)
{
	(*(size_t *) userdata)++;
	return 0;
}

static int sum_up(const struct csi_log_sum *sum, void *userdata)
{
	struct csi_log_sum *ret = userdata;

	if (sum->code == ret->code)
		*ret = *sum;
	return 0;
}

/* Thousands of calls pass while one hangs: it is out of the ring, and still counted. */
static void test_a_call_that_outlasts_the_ring(void **state)
{
	struct csi_log_record *slow = csi_log_begin(*state, "slow", "v", CSI_NODE_STAGE_VOLUME);
	const struct grpc_result late = { .code = GRPC_DEADLINE_EXCEEDED };
	struct csi_log_sum sum = { .code = GRPC_DEADLINE_EXCEEDED };
	size_t count = 0, slow_count = 0;

	for (int i = 0; i < CSI_LOG_ENTRIES; i++)
		call(*state, "quick", "w", GRPC_OK);
	assert_int_equal(csi_log_walk(*state, NULL, NULL, count_entry, &count), 0);
	assert_int_equal(count, CSI_LOG_ENTRIES);
	assert_int_equal(csi_log_walk(*state, "slow", NULL, count_entry, &slow_count), 0);
	assert_int_equal(slow_count, 0);
	now_usec += 120000000;
	csi_log_end(*state, slow, &late);
	assert_int_equal(csi_log_walk_sums(*state, sum_up, &sum), 0);
	assert_int_equal(sum.count, 1);
	assert_int_equal(sum.total_usec, 120000000);
}

static void test_sums(void **state)
{
	static const uint64_t times[] = { 0, 100000, 100001, 1000000, 400000000 };
	static const uint64_t wanted[] = { 2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5 };
	const struct grpc_result ok = { .code = GRPC_OK };
	struct csi_log_sum sum = { .code = GRPC_OK }, failed = { .code = GRPC_ABORTED };

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct csi_log_record *record =
			csi_log_begin(*state, "a", NULL, CSI_NODE_PUBLISH_VOLUME);

		now_usec += times[i];
		csi_log_end(*state, record, &ok);
	}
	call(*state, "a", NULL, GRPC_ABORTED);
	assert_int_equal(csi_log_walk_sums(*state, sum_up, &sum), 0);
	assert_string_equal(sum.driver, "a");
	assert_int_equal(sum.method, CSI_NODE_PUBLISH_VOLUME);
	assert_int_equal(sum.count, 5);
	assert_int_equal(sum.total_usec, 401200001);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(sum.buckets[i], wanted[i]);
	assert_int_equal(csi_log_walk_sums(*state, sum_up, &failed), 0);
	assert_int_equal(failed.count, 1);
	assert_int_equal(failed.method, CSI_NODE_STAGE_VOLUME);
}

static int count_sum(const struct csi_log_sum *sum, void *userdata)
{
	(*(size_t *) userdata)++;
	return 0;
}

/* Drivers under ever new names cannot fill the memory. */
static void test_sums_have_a_limit(void **state)
{
	size_t count = 0;

	for (int i = 0; i < 5000; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "driver-%d", i);
		call(*state, name, NULL, GRPC_OK);
	}
	assert_int_equal(csi_log_walk_sums(*state, count_sum, &count), 0);
	assert_int_equal(count, 4096);
}

static void test_nobody_wants_to_know(void **state)
{
	const struct grpc_result ok = { .code = GRPC_OK };

	assert_null(csi_log_begin(NULL, "a", NULL, CSI_PROBE));
	csi_log_end(NULL, NULL, &ok);
	assert_null(csi_log_free(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_newest_first),
		TEST(test_times_and_texts),
		TEST(test_a_call_that_outlasts_the_ring),
		TEST(test_sums),
		TEST(test_sums_have_a_limit),
		TEST(test_nobody_wants_to_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
