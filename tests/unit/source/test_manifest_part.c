/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_part - a new file's first documents are stored while the rest is read
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/cleanup.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PODS = 200 };

/* A file that is parsed does not come to the loop while this is held. */
static atomic_bool holds, is_parsed;
static sem_t let_go;

int __real_documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
				  struct document_list *ret, struct failure *reterr);
int __wrap_documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
				  struct document_list *ret, struct failure *reterr);
int __wrap_documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
				  struct document_list *ret, struct failure *reterr)
{
	int r = __real_documents_parse_edited(text, length, edit, ret, reterr);

	atomic_store(&is_parsed, true);
	while (atomic_load(&holds) && sem_wait(&let_go) < 0)
		;
	return r;
}

static void hold(void)
{
	assert_return_code(sem_init(&let_go, 0, 0), errno);
	atomic_store(&is_parsed, false);
	atomic_store(&holds, true);
}

static void release(void)
{
	atomic_store(&holds, false);
	assert_return_code(sem_post(&let_go), errno);
}

/* Pods "p-0" and on, and @end behind them. */
static void put_pods_in(struct manifest_world *world, const char *file, int first, const char *end)
{
	cleanup_free char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	for (int i = first; i < PODS; i++)
		(void) fprintf(stream,
			       "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%d}\nspec:\n"
			       "  containers: [{name: c, image: i}]\n",
			       i);
	(void) fputs(end, stream);
	assert_int_equal(fclose(stream), 0);
	put_file(world, file, text);
}

static void put_pods(struct manifest_world *world, int first, const char *end)
{
	put_pods_in(world, "a.yaml", first, end);
}

static void first_documents_are_stored_while_the_rest_is_read(void **state)
{
	struct manifest_world *world = *state;
	uint64_t version;

	hold();
	put_pods(world, 0, "");
	version = wait_for_object(world, KIND_POD, "p-0")->meta.resource_version;
	(void) wait_for_object(world, KIND_POD, "p-127");
	assert_null(stored(world, KIND_POD, "p-199"));
	release();
	(void) wait_for_object(world, KIND_POD, "p-199");
	settle(world);
	assert_int_equal(problem_count(world), 0);
	assert_int_equal(stored(world, KIND_POD, "p-0")->meta.resource_version, version);
}

static bool has_parsed(void *userdata)
{
	return atomic_load(&is_parsed);
}

static void a_known_file_says_something_as_a_whole(void **state)
{
	cleanup_object const struct object *first = make_class("first");
	cleanup_object const struct object *second = make_class("second");
	struct manifest_world *world = *state;

	put_pods(world, 100, "");
	(void) wait_for_object(world, KIND_POD, "p-199");
	settle(world);
	hold();
	put_pods(world, 0, "");
	store_world_run(&world->store, has_parsed, NULL);
	/* Its parts are with the loop by now: these writes come behind what would follow. */
	assert_int_equal(world_create(&world->store, first), 0);
	assert_int_equal(world_create(&world->store, second), 0);
	assert_null(stored(world, KIND_POD, "p-0"));
	release();
	(void) wait_for_object(world, KIND_POD, "p-0");
	settle(world);
	assert_int_equal(problem_count(world), 0);
}

/* The first document that is no YAML ends the file; what stands before it is in force. */
static void a_broken_end_takes_nothing_back(void **state)
{
	struct manifest_world *world = *state;
	uint64_t version;

	put_pods(world, 0, "---\nkind: Pod\nmetadata: [\n");
	(void) wait_for_object(world, KIND_POD, "p-199");
	version = stored(world, KIND_POD, "p-0")->meta.resource_version;
	wait_for_problem(world, "a.yaml");
	settle(world);
	assert_int_equal(problem_count(world), 1);
	assert_int_equal(stored(world, KIND_POD, "p-0")->meta.resource_version, version);
	/* What was stored from a part is read again where it has to be made again. */
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "p-3"), 0);
	(void) wait_for_object(world, KIND_POD, "p-3");
	/* And stays in force while the file is broken. */
	put_file(world, "a.yaml", "kind: Pod\nmetadata: [\n");
	wait_for_problem(world, "stays in force");
	settle(world);
	assert_non_null(stored(world, KIND_POD, "p-3"));
	assert_non_null(stored(world, KIND_POD, "p-199"));
}

/* As a start after a kill finds them, which leaves no record: both are read by one job. */
static void parts_do_not_come_before_an_earlier_file(void **state)
{
	struct manifest_world *world = *state;
	char record[sizeof(world->parent) + 32];
	uint64_t version;

	put_file(world, "a.yaml", POD("p-0", "/srv/of-a"));
	(void) wait_for_text(world, KIND_POD, "p-0", "/srv/of-a");
	put_pods_in(world, "b.yaml", 0, "");
	wait_for_problem(world, "b.yaml");
	settle(world);
	version = stored(world, KIND_POD, "p-0")->meta.resource_version;
	manifest_world_stop(world);
	(void) snprintf(record, sizeof(record), "%s/manifests.known", world->parent);
	assert_return_code(unlink(record), errno);
	manifest_world_start(world);
	manifest_world_wait_ready(world);
	settle(world);
	assert_int_equal(stored(world, KIND_POD, "p-0")->meta.resource_version, version);
	assert_non_null(stored(world, KIND_POD, "p-199"));
}

int main(void)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, manifest_world_setup, manifest_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(first_documents_are_stored_while_the_rest_is_read),
		TEST(a_known_file_says_something_as_a_whole),
		TEST(a_broken_end_takes_nothing_back),
		TEST(parts_do_not_come_before_an_earlier_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
