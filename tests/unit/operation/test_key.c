/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_key - which operations exclude each other, and how failures back off; the clock is a number
 */
#include "operation/key.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct back_off kubelets = { .first_usec = 500 * USEC_PER_MSEC,
					  .max_usec = 122 * USEC_PER_SEC };
static const uint64_t begin_usec = 1000 * USEC_PER_SEC;

static int set_up(void **state)
{
	struct key_table *table;

	assert_int_equal(key_table_new(&kubelets, &table), 0);
	*state = table;
	return 0;
}

static int tear_down(void **state)
{
	assert_null(key_table_free(*state));
	return 0;
}

static struct operation_key key(const char *volume, const char *pod, const char *node)
{
	return (struct operation_key){ .volume = volume, .pod = pod, .node = node };
}

static struct key_record *begin(struct key_table *table, struct operation_key wanted,
				const char *name, uint64_t now_usec)
{
	struct key_record *record = NULL;

	assert_int_equal(key_may_begin(table, &wanted, name, now_usec), 0);
	assert_int_equal(key_begin(table, &wanted, name, now_usec, &record), 0);
	assert_non_null(record);
	assert_true(record->pending);
	assert_string_equal(record->key.volume, wanted.volume);
	assert_string_equal(record->key.pod, wanted.pod);
	return record;
}

static void refuse(struct key_table *table, struct operation_key wanted, const char *name,
		   uint64_t now_usec, int error)
{
	struct key_record *record = NULL;

	assert_int_equal(key_may_begin(table, &wanted, name, now_usec), error);
	assert_int_equal(key_begin(table, &wanted, name, now_usec, &record), error);
	assert_null(record);
}

static size_t count_records(const struct key_table *table)
{
	size_t count = 0;

	for (struct key_record *record = key_next(table, NULL); record;
	     record = key_next(table, record))
		count++;
	return count;
}

static struct operation_key alone(const char *volume, const char *pod)
{
	return (struct operation_key){ .volume = volume, .pod = pod, .node = "", .alone = true };
}

struct pair {
	struct operation_key running, wanted;
	int expected;
};

static void keys_exclude_each_other(void **state)
{
	const struct pair pairs[] = {
		{ key("", "", ""), key("v", "", ""), 0 },         /* case 294 */
		{ key("v", "", ""), key("v", "p", ""), -EBUSY },  /* case 295 */
		{ key("v", "", ""), key("v", "", "n"), -EBUSY },  /* case 296 */
		{ key("v", "p", ""), key("v", "", ""), -EBUSY },  /* case 297 */
		{ key("v", "p1", ""), key("v", "p2", ""), 0 },    /* case 298 */
		{ key("v", "", "n"), key("v", "", "n"), -EBUSY }, /* case 299 */
		{ key("v", "p", ""), key("v", "", "n"), -EBUSY }, /* case 300 */
		{ alone("v", "p1"), alone("v", "p2"), -EBUSY },
		{ alone("v", "p1"), key("v", "p2", ""), -EBUSY },
		{ key("v", "p1", ""), alone("v", "p2"), -EBUSY },
		{ alone("v", "p1"), key("v", "", ""), -EBUSY },
		{ alone("v", "p1"), alone("w", "p1"), 0 },
		{ key("v", "", "n1"), key("v", "", "n2"), 0 },
		{ key("v", "p", ""), key("w", "p", ""), 0 },
		{ key("", "", ""), key("", "", ""), 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct key_table *table;

		assert_int_equal(key_table_new(&kubelets, &table), 0);
		(void) begin(table, pairs[i].running, "volume_mount", begin_usec);
		if (pairs[i].expected == 0)
			(void) begin(table, pairs[i].wanted, "volume_mount", begin_usec);
		else
			refuse(table, pairs[i].wanted, "volume_mount", begin_usec,
			       pairs[i].expected);
		/* Another name changes nothing while one runs. */
		if (pairs[i].expected != 0)
			refuse(table, pairs[i].wanted, "volume_unmount", begin_usec, -EBUSY);
		(void) key_table_free(table);
	}
}

static void the_same_operation_backs_off(void **state)
{
	struct key_table *table = *state;
	struct operation_key v = key("v", "p", "");
	struct key_record *record = begin(table, v, "volume_mount", begin_usec);
	uint64_t failed_usec = begin_usec + 7;

	assert_int_equal(key_end(table, record, false, failed_usec), failed_usec + 500000);
	assert_int_equal(record->failures, 1);
	refuse(table, v, "volume_mount", failed_usec + 100000, -EAGAIN); /* case 301 */
	refuse(table, v, "volume_mount", failed_usec + 499999, -EAGAIN);

	record = begin(table, v, "volume_mount", failed_usec + 600000); /* case 302 */
	assert_int_equal(key_end(table, record, false, 0), USEC_PER_SEC);
}

static void another_operation_need_not_wait(void **state)
{
	struct key_table *table = *state;
	struct operation_key v = key("v", "p", "");
	struct key_record *record;
	uint64_t now = begin_usec;

	for (unsigned int i = 0; i < 3; i++) {
		record = begin(table, v, "volume_mount", now);
		now = key_end(table, record, false, now);
	}
	/* case 303, a difference: its own delay starts again */
	record = begin(table, v, "volume_unmount", now - 1);
	assert_int_equal(record->failures, 0);
	assert_int_equal(key_end(table, record, false, now), now + 500000);
	/* The first name was forgotten with its delay. */
	record = begin(table, v, "volume_mount", now);
	assert_int_equal(key_end(table, record, false, now), now + 500000);
}

static void delays_double_up_to_their_maximum(void **state)
{
	static const uint64_t expected_msec[] = { 500,   1000,  2000,  4000,   8000,
						  16000, 32000, 64000, 122000, 122000 };
	struct key_table *table = *state;
	struct operation_key v = key("v", "", "");
	uint64_t now = begin_usec;

	/* case 304 */
	for (size_t i = 0; i < ARRAY_SIZE(expected_msec); i++) {
		struct key_record *record = begin(table, v, "mount_device", now);
		uint64_t retry = key_end(table, record, false, now);

		assert_int_equal(retry - now, expected_msec[i] * USEC_PER_MSEC);
		assert_int_equal(record->failures, i + 1);
		now = retry;
	}
}

static void success_forgets_everything(void **state)
{
	struct key_table *table = *state;
	struct operation_key v = key("v", "p", "");
	struct key_record *record = begin(table, v, "volume_mount", begin_usec);
	uint64_t now = key_end(table, record, false, begin_usec);

	/* case 306 */
	record = begin(table, v, "volume_mount", now);
	assert_int_equal(key_end(table, record, true, now), 0);
	assert_int_equal(count_records(table), 0);
	assert_null(key_records(table, "v"));
	record = begin(table, v, "volume_mount", now);
	assert_int_equal(key_end(table, record, false, now), now + 500000);
}

static void the_exact_record_decides(void **state)
{
	struct key_table *table = *state;
	struct key_record *whole, *pod, *other;
	uint64_t now = begin_usec;

	/* Two pods fail; the whole volume takes the first record over and fails, too. */
	pod = begin(table, key("v", "p1", ""), "volume_unmount", now);
	other = begin(table, key("v", "p", ""), "volume_unmount", now);
	(void) key_end(table, pod, false, now);
	(void) key_end(table, other, false, now);
	whole = begin(table, key("v", "", ""), "volume_mount", now);
	assert_ptr_equal(whole, pod);
	(void) key_end(table, whole, false, now);
	assert_int_equal(count_records(table), 2);

	/* case 307, (v,-,-) and (v,p,-) back off, a new (v,p,-) is judged by its own record: that
	 * is of the same name. The one of the whole volume would have let it pass. */
	refuse(table, key("v", "p", ""), "volume_unmount", now + 1, -EAGAIN);
	assert_ptr_equal(begin(table, key("v", "p", ""), "volume_unmount", now + 500000), other);
}

/* case 301, a difference: kubelet has one key for these, so that one pod's back-off is the other's.
 */
static void alone_is_not_one_back_off(void **state)
{
	struct key_table *table = *state;
	struct key_record *first = begin(table, alone("v", "p1"), "volume_mount", begin_usec);
	struct key_record *second;

	(void) key_end(table, first, false, begin_usec);
	refuse(table, alone("v", "p1"), "volume_mount", begin_usec, -EAGAIN);
	second = begin(table, alone("v", "p2"), "volume_mount", begin_usec);
	assert_ptr_not_equal(first, second);
	/* Its time has come, and the other one is at work. */
	refuse(table, alone("v", "p1"), "volume_mount", begin_usec + USEC_PER_SEC, -EBUSY);
	(void) key_end(table, second, false, begin_usec);
	assert_int_equal(count_records(table), 2);
	/* The one that is taken over by the whole volume keeps out no other pod's operation. */
	first = begin(table, key("v", "", ""), "mount_device", begin_usec);
	(void) key_end(table, first, true, begin_usec);
	assert_int_equal(count_records(table), 1);
}

static void a_pending_match_comes_before_an_exact_one(void **state)
{
	struct key_table *table = *state;
	struct key_record *failed = begin(table, key("v", "p", ""), "volume_unmount", begin_usec);

	(void) key_end(table, failed, false, begin_usec);
	(void) begin(table, key("v", "q", ""), "volume_unmount", begin_usec);
	refuse(table, key("v", "", ""), "unmount_device", begin_usec, -EBUSY);
	(void) begin(table, key("v", "p", ""), "volume_unmount", begin_usec + USEC_PER_SEC);
}

static void owners_move_with_their_record(void **state)
{
	struct key_table *table = *state;
	struct key_record *record = begin(table, key("v", "p", ""), "volume_unmount", begin_usec);
	int owner;

	assert_null(record->owner);
	record->owner = &owner;
	(void) key_end(table, record, false, begin_usec);
	record = begin(table, key("v", "", ""), "unmount_device", begin_usec);
	assert_ptr_equal(record->owner, &owner);
	assert_string_equal(record->key.pod, "");
}

static void a_failed_record_can_be_dropped(void **state)
{
	struct key_table *table = *state;
	struct operation_key v = key("v", "p", "");
	struct key_record *record = begin(table, v, "volume_mount", begin_usec);

	(void) key_end(table, record, false, begin_usec);
	key_drop(table, record);
	assert_int_equal(count_records(table), 0);
	(void) begin(table, v, "volume_mount", begin_usec);
}

static void all_records_are_walked(void **state)
{
	struct key_table *table = *state;

	assert_null(key_next(table, NULL));
	(void) begin(table, key("v", "p", ""), "volume_mount", begin_usec);
	(void) begin(table, key("v", "q", ""), "volume_mount", begin_usec);
	(void) begin(table, key("w", "", ""), "mount_device", begin_usec);
	(void) begin(table, key("", "", ""), "volume_mount", begin_usec);
	(void) begin(table, key("", "", ""), "volume_mount", begin_usec);
	assert_int_equal(count_records(table), 5);
}

#define TABLE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TABLE(keys_exclude_each_other),
		TABLE(the_same_operation_backs_off),
		TABLE(another_operation_need_not_wait),
		TABLE(delays_double_up_to_their_maximum),
		TABLE(success_forgets_everything),
		TABLE(the_exact_record_decides),
		TABLE(alone_is_not_one_back_off),
		TABLE(a_pending_match_comes_before_an_exact_one),
		TABLE(owners_move_with_their_record),
		TABLE(a_failed_record_can_be_dropped),
		TABLE(all_records_are_walked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
