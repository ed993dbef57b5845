/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_work_queue - items are looked at once, one at a time, and again after a while
 *
 * The clock of the loop is real, the while is a millisecond; nothing here judges a time.
 */
#include "controller/work_queue.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct thing {
	struct work_item item;
	unsigned int looks;
	char *own;
};

struct world {
	sd_event *event;
	struct work_queue *queue;
	char looked[64]; /* names, in order */
	unsigned int cleared;
	bool begins, fails, knows_nothing;
};

static struct world world;

static bool look(struct work_item *item)
{
	struct thing *thing = (struct thing *) item;

	assert_ptr_equal(work_queue_userdata(item->queue), &world);
	(void) strncat(world.looked, item->name, sizeof(world.looked) - strlen(world.looked) - 1);
	thing->looks++;
	if (!thing->own)
		thing->own = strdup(item->name);
	if (world.begins)
		work_item_begin(item);
	if (world.fails && !work_item_backs_off(item))
		work_item_failed(item);
	return !world.knows_nothing;
}

static void clear(struct work_item *item)
{
	free(((struct thing *) item)->own);
	world.cleared++;
}

static void open_queue(size_t busy_max)
{
	const struct work_queue_options options = {
		.event = world.event,
		.item_bytes = sizeof(struct thing),
		.busy_max = busy_max,
		.retry_first_usec = USEC_PER_MSEC,
		.retry_max_usec = 4 * USEC_PER_MSEC,
		.what = "thing",
		.sync = look,
		.clear = clear,
		.userdata = &world,
	};

	assert_int_equal(work_queue_new(&options, &world.queue), 0);
}

static int set_up(void **state)
{
	world = (struct world){ .event = NULL };
	assert_true(sd_event_new(&world.event) >= 0);
	return 0;
}

static int tear_down(void **state)
{
	assert_null(work_queue_free(world.queue));
	sd_event_unref(world.event);
	return 0;
}

static struct work_item *due(const char *name)
{
	struct work_item *item = work_queue_item(world.queue, name);

	assert_non_null(item);
	work_item_due(item);
	return item;
}

static void many_changes_are_one_look(void **state)
{
	open_queue(0);
	(void) due("b");
	(void) due("a");
	(void) due("b");
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "ba");
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "ba");
	work_queue_all_due(world.queue);
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "baba");
}

static void what_stands_for_nothing_is_forgotten(void **state)
{
	open_queue(0);
	world.knows_nothing = true;
	(void) due("a");
	work_queue_run(world.queue);
	assert_int_equal(world.cleared, 1);
	assert_null(work_queue_find(world.queue, "a"));
}

static void nobody_looks_at_a_busy_item(void **state)
{
	struct work_item *item;

	open_queue(0);
	world.begins = true;
	world.knows_nothing = true; /* and it is not forgotten either */
	item = due("a");
	work_queue_run(world.queue);
	(void) due("a");
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "a");
	world.begins = false;
	assert_true(work_item_end(item));
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "aa");
	assert_int_equal(world.cleared, 1);
}

static void so_many_are_busy_at_once(void **state)
{
	struct work_item *first;

	open_queue(2);
	world.begins = true;
	first = due("a");
	(void) due("b");
	(void) due("c");
	(void) due("d");
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "ab");
	assert_true(work_item_end(first));
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "abc");
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "abc");
	assert_true(work_item_end(work_queue_find(world.queue, "b")));
	assert_true(work_item_end(work_queue_find(world.queue, "c")));
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "abcda");
	assert_true(work_item_end(work_queue_find(world.queue, "d")));
	assert_true(work_item_end(first));
}

static void what_failed_is_looked_at_again(void **state)
{
	struct work_item *item;

	open_queue(0);
	world.fails = true;
	item = due("a");
	work_queue_run(world.queue);
	assert_true(item->failures == 1 && item->retry_usec > 0);
	while (item->failures < 5)
		assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
	assert_string_equal(world.looked, "aaaaa");
	/* It doubles no further than the most. */
	assert_true(item->retry_usec <= monotonic_usec() + 4 * USEC_PER_MSEC);

	work_item_succeeded(item);
	assert_int_equal(item->failures, 0);
	assert_false(work_item_backs_off(item));
	assert_int_equal(sd_event_run(world.event, 20 * USEC_PER_MSEC), 0);
}

/* What others did to the object meanwhile is seen by the next look; only what was not stored backs
 * off. */
static void a_write_that_ended_is_looked_after(void **state)
{
	static const int harmless[] = { 0, -ESTALE, -EEXIST, -ECANCELED };
	const struct failure why = { .text = "no room" };
	struct work_item *item;

	open_queue(0);
	item = due("a");
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
		work_item_queued(item, 0);
		assert_true(item->is_busy);
		work_item_written(item, harmless[i], NULL, &why);
		assert_int_equal(item->failures, 0);
	}
	assert_string_equal(world.looked, "aaaa");
	/* Looked at once, since it may be gone here, too; if not, a server would say so each time.
	 */
	work_item_queued(item, 0);
	work_item_written(item, -ENOENT, NULL, &why);
	assert_string_equal(world.looked, "aaaaa");
	assert_int_equal(item->failures, 1);
	work_item_queued(item, 0);
	work_item_written(item, -ENOSPC, NULL, &why);
	assert_int_equal(item->failures, 2);
	work_item_queued(item, -ENOMEM);
	assert_int_equal(item->failures, 3);
	assert_false(item->is_busy);
}

static void each_thing_is_news_once(void **state)
{
	struct work_item *a, *b;

	open_queue(0);
	a = work_queue_item(world.queue, "a");
	b = work_queue_item(world.queue, "b");
	assert_true(work_item_is_news(a, "no room"));
	assert_false(work_item_is_news(a, "no room"));
	assert_true(work_item_is_news(b, "no room"));
	assert_true(work_item_is_news(a, "no class"));
	assert_true(work_item_is_news(a, "no room"));
}

static void nothing_is_looked_at_after_a_stop(void **state)
{
	open_queue(0);
	(void) due("a");
	work_queue_stop(world.queue);
	work_queue_run(world.queue);
	assert_string_equal(world.looked, "");
}

static void a_busy_item_outlives_its_queue(void **state)
{
	struct work_item *a, *b;

	open_queue(0);
	world.begins = true;
	a = due("a");
	b = due("b");
	work_queue_run(world.queue);
	world.begins = false;
	(void) due("c");
	work_queue_run(world.queue);
	(void) due("c");
	world.queue = work_queue_free(world.queue);
	assert_int_equal(world.cleared, 1);
	assert_false(work_item_end(a));
	assert_int_equal(world.cleared, 2);
	assert_false(work_item_end(b));
	assert_int_equal(world.cleared, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(many_changes_are_one_look),      TEST(what_stands_for_nothing_is_forgotten),
		TEST(nobody_looks_at_a_busy_item),    TEST(so_many_are_busy_at_once),
		TEST(what_failed_is_looked_at_again), TEST(a_write_that_ended_is_looked_after),
		TEST(each_thing_is_news_once),        TEST(nothing_is_looked_at_after_a_stop),
		TEST(a_busy_item_outlives_its_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
