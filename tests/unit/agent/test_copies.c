/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_copies - what is said of a copy: in words, in rows, in metrics and in events
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"
#include "fake_events.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name);

static const struct object claim = { .kind = KIND_PERSISTENT_VOLUME_CLAIM, .meta.name = "c" };

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name)
{
	return kind == KIND_PERSISTENT_VOLUME_CLAIM && strcmp(name_space, "ns") == 0 &&
			       strcmp(name, "c") == 0
		       ? &claim
		       : NULL;
}

static const struct store_key key = { KIND_PERSISTENT_VOLUME_CLAIM, "ns", "c" };

static void begin(struct agent_world *world, struct copy *copy)
{
	assert_int_equal(copies_add(&world->agent.views.copies, copy, &key, "pvc-1"), 0);
}

static void expect_metric(struct agent_world *world, const char *line, bool is_there)
{
	cleanup_free char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	copies_print_metrics(&world->agent.views.copies, file);
	assert_int_equal(fclose(file), 0);
	if ((strstr(text, line) != NULL) != is_there)
		fail_msg("%s%s in:\n%s", is_there ? "no " : "", line, text);
}

static void test_words(void **state)
{
	struct copy copy = { .begun_usec = 0 };
	char text[COPY_TEXT_BYTES];

	copy_text(&copy, 5000000, text);
	assert_string_equal(text, "waiting: other copies are under way");
	copy.begun_usec = 1000000;
	copy_text(&copy, 1000000, text);
	assert_string_equal(text, "0 entries, 0 bytes copied");
	copy.progress.entries = 120000;
	copy.progress.bytes = (3ULL << 30) / 2;
	copy_text(&copy, 3000000, text);
	assert_string_equal(text, "120000 entries, 1.5 GiB copied, 60000 entries a second");
}

static void test_metrics(void **state)
{
	struct agent_world *world = *state;
	struct copy copy = { .begun_usec = 0 };

	expect_metric(world, "\npodvol_copies{state=\"running\"} 0\n", true);
	begin(world, &copy);
	expect_metric(world, "\npodvol_copies{state=\"waiting\"} 1\n", true);
	expect_metric(world, "podvol_copy_entries{", false);
	copy_begins(&copy);
	copy.progress.entries = 7;
	copy.progress.bytes = 4096;
	expect_metric(world, "\npodvol_copies{state=\"running\"} 1\n", true);
	expect_metric(world, "\npodvol_copy_entries{deed=\"fill\",namespace=\"ns\",name=\"c\"} 7\n",
		      true);
	expect_metric(world,
		      "\npodvol_copy_bytes{deed=\"fill\",namespace=\"ns\",name=\"c\"} 4096\n",
		      true);
	expect_metric(world, "\npodvol_copy_seconds{deed=\"fill\",namespace=\"ns\",name=\"c\"} ",
		      true);
	copies_remove(&world->agent.views.copies, &copy, 0);
	expect_metric(world, "podvol_copy_entries{", false);
	expect_metric(world, "\npodvol_copies_total{result=\"done\"} 1\n", true);
	expect_metric(world, "\npodvol_copied_entries_total 7\n", true);
	expect_metric(world, "\npodvol_copied_bytes_total 4096\n", true);
	copies_remove(&world->agent.views.copies, &copy, 0); /* once is enough */
	expect_metric(world, "\npodvol_copies_total{result=\"done\"} 1\n", true);
}

static void test_what_failed(void **state)
{
	struct agent_world *world = *state;
	struct copy copy = { .begun_usec = 0 }, other = { .begun_usec = 0 };

	begin(world, &copy);
	copies_remove(&world->agent.views.copies, &copy, -ENOSPC);
	begin(world, &other);
	copies_remove(&world->agent.views.copies, &other, -ECANCELED);
	expect_metric(world, "\npodvol_copies_total{result=\"failed\"} 1\n", true);
	expect_metric(world, "\npodvol_copies_total{result=\"done\"} 0\n", true);
}

static void test_rows_and_events(void **state)
{
	struct agent_world *world = *state;
	cleanup_json struct cJSON *list = json_new_object();
	struct cJSON *items = json_add_array(list, "items");
	struct copy copy = { .begun_usec = 0 };

	fake_events.count = 0;
	assert_false(copies_report(&world->agent.views.copies, &world->agent.reporter));
	begin(world, &copy);
	copy_begins(&copy);
	copies_view(&world->agent.views.copies, items);
	assert_int_equal(json_count(items), 1);
	assert_string_equal(json_string(json_get(json_first(items), "about"), ""),
			    "PersistentVolumeClaim ns/c");
	assert_string_equal(json_string(json_get(json_first(items), "uniqueName"), ""), "pvc-1");
	assert_string_equal(json_string(json_get(json_first(items), "step"), ""), "fill");
	assert_string_equal(json_string(json_get(json_first(items), "progress"), ""),
			    "0 entries, 0 bytes copied");
	assert_true(copies_report(&world->agent.views.copies, &world->agent.reporter));
	assert_int_equal(fake_events.count, 1);
	assert_string_equal(fake_events.list[0].about, "c");
	assert_string_equal(fake_events.list[0].reason, "VolumeCopyInProgress");
	assert_string_equal(fake_events.list[0].text,
			    "filling the volume: 0 entries, 0 bytes copied");
	copies_remove(&world->agent.views.copies, &copy, 0);
	assert_false(copies_report(&world->agent.views.copies, &world->agent.reporter));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, new_agent_world, free_agent_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_words),
		TEST(test_metrics),
		TEST(test_what_failed),
		TEST(test_rows_and_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
