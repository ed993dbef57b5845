/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_start - a source that begins again, and directories that come, go and change places
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void put_pods(struct manifest_world *world)
{
	put_file(world, "a.yaml", POD("a", "/a"));
	put_file(world, "b.yaml", POD("b", "/b") "---\n" CLAIM("claim"));
	(void) wait_for_object(world, KIND_POD, "a");
	(void) wait_for_object(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim");
}

static void restart(struct manifest_world *world)
{
	manifest_world_stop(world);
	store_world_reopen(&world->store);
	manifest_world_start(world);
	manifest_world_wait_ready(world);
}

static void move(struct manifest_world *world, const char *from, const char *to)
{
	char old[160], new[160];

	(void) snprintf(old, sizeof(old), "%s/%s", world->parent, from);
	(void) snprintf(new, sizeof(new), "%s/%s", world->parent, to);
	assert_return_code(rename(old, new), 0);
}

static void make_directory(struct manifest_world *world, const char *name)
{
	char path[160];

	(void) snprintf(path, sizeof(path), "%s/%s", world->parent, name);
	assert_return_code(mkdir(path, 0755), 0);
}

/* ---- restarts ---- */

static void restart_writes_nothing_and_keeps_uids(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;
	uint64_t version;

	put_pods(world);
	uid = uid_of(world, "a");
	version = store_resource_version(world->store.store);
	restart(world);
	assert_int_equal(store_resource_version(world->store.store), version);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
	assert_string_equal(manifest_source_file_of(world->source, stored(world, KIND_POD, "a")),
			    "a.yaml");
}

static void file_removed_while_down_deletes_its_pod(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	manifest_world_stop(world);
	remove_file(world, "b.yaml");
	manifest_world_start(world);
	manifest_world_wait_ready(world);
	/* Judged before the source calls itself ready. */
	assert_null(stored(world, KIND_POD, "b"));
	assert_non_null(stored(world, KIND_POD, "a"));
	assert_non_null(strstr(stored(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim")->json,
			       "\"podvol.io/manifest-state\":\"gone\""));
}

static void directory_emptied_while_down_keeps_pods(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	manifest_world_stop(world);
	remove_file(world, "a.yaml");
	remove_file(world, "b.yaml");
	manifest_world_start(world);
	manifest_world_wait_ready(world);
	assert_non_null(strstr(stored(world, KIND_POD, "a")->json, "gone"));
	assert_non_null(strstr(stored(world, KIND_POD, "b")->json, "gone"));
	assert_int_equal(problem_count(world), 1);

	/* The next process knows, even when the directory has another manifest by then. */
	put_file(world, "c.yaml", POD("c", "/c"));
	(void) wait_for_object(world, KIND_POD, "c");
	restart(world);
	settle(world);
	assert_non_null(stored(world, KIND_POD, "a"));
	assert_non_null(stored(world, KIND_POD, "b"));
	assert_int_equal(problem_count(world), 1);
}

static void only_pod_is_kept_when_the_directory_is_empty_at_start(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	manifest_world_stop(world);
	remove_file(world, "a.yaml");
	manifest_world_start(world);
	manifest_world_wait_ready(world);
	/* This looks like a directory that is not mounted yet. */
	assert_non_null(stored(world, KIND_POD, "a"));
}

static void changed_while_down_is_applied(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;

	put_pods(world);
	uid = uid_of(world, "a");
	manifest_world_stop(world);
	put_file(world, "a.yaml", POD("a", "/elsewhere"));
	manifest_world_start(world);
	(void) wait_for_text(world, KIND_POD, "a", "/elsewhere");
	assert_string_not_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
	manifest_world_wait_ready(world);
}

#define BROKEN_POD(name) "apiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {}\n"

/* a.yaml has pod a and cannot be parsed, b.yaml has another pod a. Return: the uid of the first. */
static char *break_first_of_two(struct manifest_world *world, const char *broken)
{
	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	put_file(world, "b.yaml", POD("a", "/other") "---\n" POD("b", "/b"));
	(void) wait_for_object(world, KIND_POD, "b");
	put_file(world, "a.yaml", broken);
	wait_for_problem(world, "; what was read before stays in force");
	return uid_of(world, "a");
}

static void assert_second_is_not_used(struct manifest_world *world, const char *uid)
{
	wait_for_problem(world, "; what is stored of it stays in force");
	wait_for_problem(world, "b.yaml:Pod/default/a:'a.yaml' defines it as well");
	settle(world);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
	assert_string_equal(manifest_source_file_of(world->source, stored(world, KIND_POD, "a")),
			    "a.yaml");
}

static void second_manifest_gets_no_pod_of_a_broken_first(void **state)
{
	static const char *const broken[] = { BROKEN_POD("a"), "kind: [\n", "" };
	struct manifest_world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		cleanup_free char *uid = break_first_of_two(world, broken[i]);

		for (unsigned int starts = 0; starts < 2; starts++) {
			restart(world);
			assert_second_is_not_used(world, uid);
		}
		put_file(world, "a.yaml", POD("a", "/a"));
		settle(world);
		assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
	}
	remove_file(world, "a.yaml");
	(void) wait_for_text(world, KIND_POD, "a", "\"/other\"");
}

/* The first of them is gone, does not have it any more, or is not the first any more. */
static void second_manifest_gets_what_the_first_lost_while_down(void **state)
{
	static const struct {
		const char *file, *text;
	} edits[] = { { "a.yaml", NULL },
		      { "a.yaml", BROKEN_POD("c") },
		      { "0.yaml", POD("a", "/other") } };
	struct manifest_world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		cleanup_free char *uid = break_first_of_two(world, BROKEN_POD("a"));

		manifest_world_stop(world);
		if (edits[i].text)
			put_file(world, edits[i].file, edits[i].text);
		else
			remove_file(world, edits[i].file);
		store_world_reopen(&world->store);
		manifest_world_start(world);
		(void) wait_for_text(world, KIND_POD, "a", "\"/other\"");
		manifest_world_wait_ready(world);
		assert_string_not_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
		put_file(world, "a.yaml", POD("a", "/a"));
		if (i + 1 < ARRAY_SIZE(edits))
			(void) wait_for_text(world, KIND_POD, "a", "\"/a\"");
	}
}

static void absent_directory_is_ready_and_waited_for(void **state)
{
	struct manifest_world *world = *state;

	manifest_world_stop(world);
	move(world, "manifests", "elsewhere");
	manifest_world_start(world);
	manifest_world_wait_ready(world);
	wait_for_problem(world, ".://:cannot open the manifest directory");
	move(world, "elsewhere", "manifests");
	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	wait_for_no_problems(world);
}

static void directory_several_levels_away_is_waited_for(void **state)
{
	struct manifest_world *world = *state;

	manifest_world_stop(world);
	(void) snprintf(world->directory, sizeof(world->directory), "%s/x/y/z", world->parent);
	manifest_world_start(world);
	manifest_world_wait_ready(world);
	make_directory(world, "x");
	make_directory(world, "x/y");
	make_directory(world, "x/y/z");
	put_file(world, "a.yaml", POD("a", "/a"));
	(void) wait_for_object(world, KIND_POD, "a");
	wait_for_no_problems(world);
}

/* ---- directories that change under a running source ---- */

static void removed_directory_keeps_everything(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	remove_everything(world->directory);
	wait_for_problem(world, ".://:cannot open the manifest directory");
	assert_non_null(stored(world, KIND_POD, "a"));
	assert_non_null(stored(world, KIND_POD, "b"));

	make_directory(world, "manifests");
	put_file(world, "a.yaml", POD("a", "/a"));
	wait_for_problem(world, "manifests of 1 pods vanished all at once");
	settle(world);
	assert_null(strstr(stored(world, KIND_POD, "a")->json, "gone"));
	assert_non_null(stored(world, KIND_POD, "b"));
}

static void replaced_directory_keeps_what_it_lacks(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;

	put_pods(world);
	put_file(world, "c.yaml", POD("c", "/c"));
	(void) wait_for_object(world, KIND_POD, "c");
	uid = uid_of(world, "a");
	move(world, "manifests", "old");
	make_directory(world, "manifests");
	put_file(world, "a.yaml", POD("a", "/a"));
	put_file(world, "d.yaml", POD("d", "/d"));
	(void) wait_for_object(world, KIND_POD, "d");
	wait_for_problem(world, "manifests of 2 pods vanished all at once");
	settle(world);
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
	assert_non_null(strstr(stored(world, KIND_POD, "b")->json, "gone"));
	assert_non_null(strstr(stored(world, KIND_POD, "c")->json, "gone"));

	/* What goes one by one from the new one was meant to go. */
	remove_file(world, "d.yaml");
	wait_for_absence(world, KIND_POD, "d");
}

static uint64_t version_of(struct manifest_world *world, enum object_kind kind, const char *name)
{
	const struct object *object = store_get(world->store.store, kind, "default", name);

	assert_non_null(object);
	return object->meta.resource_version;
}

/* Not the store's own version: what settle() itself writes may come a little later. */
static void pause_of_the_directory_costs_nothing(void **state)
{
	struct manifest_world *world = *state;
	uint64_t a, b, claim;

	put_pods(world);
	settle(world);
	a = version_of(world, KIND_POD, "a");
	b = version_of(world, KIND_POD, "b");
	claim = version_of(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim");
	move(world, "manifests", "away");
	wait_for_problem(world, ".://:cannot open");
	move(world, "away", "manifests");
	wait_for_no_problems(world);
	settle(world);
	assert_int_equal(version_of(world, KIND_POD, "a"), a);
	assert_int_equal(version_of(world, KIND_POD, "b"), b);
	assert_int_equal(version_of(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim"), claim);
}

static void lost_events_mean_a_listing(void **state)
{
	struct manifest_world *world = *state;

	/* More events than the kernel queues (fs.inotify.max_queued_events, 16384 by default). */
	put_pods(world);
	for (unsigned int i = 0; i < 4500; i++) {
		move(world, "manifests/a.yaml", "manifests/x.yaml");
		move(world, "manifests/x.yaml", "manifests/a.yaml");
	}
	put_file(world, "late.yaml", POD("late", "/late"));
	remove_file(world, "b.yaml");
	(void) wait_for_object(world, KIND_POD, "late");
	wait_for_absence(world, KIND_POD, "b");
	assert_non_null(stored(world, KIND_POD, "a"));
	assert_int_equal(problem_count(world), 0);
}

static void full_queue_of_problems_is_counted(void **state)
{
	enum { FILES = MANIFEST_PROBLEMS_MAX + 5 };
	struct manifest_world *world = *state;
	char name[32];

	for (unsigned int i = 0; i < FILES; i++) {
		(void) snprintf(name, sizeof(name), "%u.yaml", i);
		put_file(world, name, "a: [\n");
	}
	wait_for_problem(world, ".://:5 more problems");
	for (unsigned int i = 0; i < FILES; i++) {
		(void) snprintf(name, sizeof(name), "%u.yaml", i);
		remove_file(world, name);
	}
	wait_for_no_problems(world);
}

static void freed_source_leaves_writes_to_the_store(void **state)
{
	struct manifest_world *world = *state;

	put_file(world, "a.yaml", POD("a", "/a"));
	for (unsigned int i = 0; i < 20 && !stored(world, KIND_POD, "a"); i++) {
		assert_return_code(sd_event_run(world->store.event, 10 * USEC_PER_MSEC), 0);
		manifest_world_stop(world);
		manifest_world_start(world);
	}
	(void) wait_for_object(world, KIND_POD, "a");
}

int main(void)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, manifest_world_setup, manifest_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(restart_writes_nothing_and_keeps_uids),
		TEST(file_removed_while_down_deletes_its_pod),
		TEST(directory_emptied_while_down_keeps_pods),
		TEST(only_pod_is_kept_when_the_directory_is_empty_at_start),
		TEST(changed_while_down_is_applied),
		TEST(second_manifest_gets_no_pod_of_a_broken_first),
		TEST(second_manifest_gets_what_the_first_lost_while_down),
		TEST(absent_directory_is_ready_and_waited_for),
		TEST(directory_several_levels_away_is_waited_for),
		TEST(removed_directory_keeps_everything),
		TEST(replaced_directory_keeps_what_it_lacks),
		TEST(pause_of_the_directory_costs_nothing),
		TEST(lost_events_mean_a_listing),
		TEST(full_queue_of_problems_is_counted),
		TEST(freed_source_leaves_writes_to_the_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
