/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_heap_trim - one look at the heap for each burst, and none for less
 */
#include "base/heap_trim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static unsigned int trims, releases;

/* ld --wrap */
// NOLINTBEGIN(bugprone-reserved-identifier)
int __wrap_malloc_trim(size_t pad);

int __wrap_malloc_trim(size_t pad)
{
	assert_int_equal(pad, 0);
	trims++;
	assert_int_equal(releases, trims);
	return 1;
}
// NOLINTEND(bugprone-reserved-identifier)

static void release(void *userdata)
{
	++*(unsigned int *) userdata;
}

static void run_what_is_due(sd_event *event)
{
	while (sd_event_run(event, 0) > 0)
		;
}

static void test_bursts(void **state)
{
	struct heap_trim *trim = NULL;
	sd_event *event = NULL;

	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(heap_trim_new(event, 0, release, &releases, &trim), 0);
	heap_trim_note(trim, HEAP_TRIM_BURST - 1);
	run_what_is_due(event);
	assert_int_equal(trims, 0);

	heap_trim_note(trim, 1);
	run_what_is_due(event);
	assert_int_equal(trims, 1);
	run_what_is_due(event);
	assert_int_equal(trims, 1);

	/* What comes before the moment is over puts it off. */
	heap_trim_note(trim, HEAP_TRIM_BURST);
	heap_trim_note(trim, HEAP_TRIM_BURST);
	assert_true(sd_event_run(event, UINT64_MAX) > 0);
	assert_int_equal(trims, 1);
	run_what_is_due(event);
	assert_int_equal(trims, 2);

	heap_trim_note(NULL, HEAP_TRIM_BURST);
	assert_null(heap_trim_free(trim));
	sd_event_unref(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_bursts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
