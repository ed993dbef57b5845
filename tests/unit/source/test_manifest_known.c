/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_known - a start parses only manifests whose text was not applied
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"
#include "source/manifest_known.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static atomic_uint parsed;

int __real_documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
				  struct document_list *ret, struct failure *reterr);
int __wrap_documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
				  struct document_list *ret, struct failure *reterr);
int __wrap_documents_parse_edited(const char *text, size_t length, const struct document_edit *edit,
				  struct document_list *ret, struct failure *reterr)
{
	atomic_fetch_add(&parsed, 1);
	return __real_documents_parse_edited(text, length, edit, ret, reterr);
}

static bool has_new_library;

int __real_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status)
{
	int r = __real_stat(path, status);

	if (has_new_library && strstr(path, "libyaml"))
		status->st_ino++;
	return r;
}

static void put_pods(struct manifest_world *world)
{
	put_file(world, "a.yaml", POD("a", "/a"));
	put_file(world, "b.yaml", POD("b", "/b") "---\n" CLAIM("claim"));
	(void) wait_for_object(world, KIND_POD, "a");
	(void) wait_for_object(world, KIND_POD, "b");
	(void) wait_for_object(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim");
}

static void path_in(const char *directory, const char *name, char path[160])
{
	(void) snprintf(path, 160, "%s/%s", directory, name);
}

/* In place, so that the inode stays; the times become those of @times. */
static void write_in_place(const char *path, const char *text, const struct stat *times)
{
	cleanup_close int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_return_code(fd, errno);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	if (times)
		assert_return_code(
			futimens(fd, (struct timespec[]){ times->st_atim, times->st_mtim }), 0);
}

/* Return: how many files were parsed. */
static unsigned int start(struct manifest_world *world)
{
	store_world_reopen(&world->store);
	atomic_store(&parsed, 0);
	manifest_world_start(world);
	manifest_world_wait_ready(world);
	return atomic_load(&parsed);
}

static unsigned int restart(struct manifest_world *world)
{
	manifest_world_stop(world);
	return start(world);
}

/* ---- what is not parsed ---- */

static void applied_texts_are_not_parsed_again(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;
	uint64_t version;

	put_pods(world);
	uid = uid_of(world, "a");
	version = store_resource_version(world->store.store);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(restart(world), 0);
		assert_int_equal(store_resource_version(world->store.store), version);
		assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
		assert_string_equal(
			manifest_source_file_of(world->source, stored(world, KIND_POD, "b")),
			"b.yaml");
	}
}

static void replaced_file_with_the_same_text_is_not_parsed(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	manifest_world_stop(world);
	put_file(world, "a.yaml", POD("a", "/a"));
	assert_int_equal(start(world), 0);
}

/* ---- what is ---- */

static void edit_of_the_same_size_and_time_is_seen(void **state)
{
	struct manifest_world *world = *state;
	struct stat before;
	char path[160];

	put_pods(world);
	manifest_world_stop(world);
	path_in(world->directory, "a.yaml", path);
	assert_return_code(stat(path, &before), 0);
	write_in_place(path, POD("a", "/z"), &before);
	assert_int_equal(start(world), 1);
	(void) wait_for_text(world, KIND_POD, "a", "\"/z\"");
}

static void document_removed_while_down_deletes_its_pod(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	manifest_world_stop(world);
	put_file(world, "b.yaml", CLAIM("claim"));
	assert_int_equal(start(world), 1);
	wait_for_absence(world, KIND_POD, "b");
	assert_non_null(stored(world, KIND_POD, "a"));
}

static void object_missing_in_the_store_is_made_again(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	manifest_world_stop(world);
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "b"), 0);
	assert_int_equal(start(world), 1);
	(void) wait_for_object(world, KIND_POD, "b");
}

static void record_of_another_program_is_not_used(void **state)
{
	struct manifest_world *world = *state;
	cleanup_close int fd = -EBADF;
	char path[160];

	put_pods(world);
	manifest_world_stop(world);
	path_in(world->parent, "manifests.known", path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(pwrite(fd, "0123456789abcdef", 16, 0), 16);
	assert_int_equal(start(world), 2);
	assert_int_equal(restart(world), 0);
}

/* Also when it is replaced while the process runs that writes the record. */
static void record_of_another_library_is_not_used(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	manifest_world_stop(world);
	has_new_library = true;
	assert_int_equal(start(world), 2);
	assert_int_equal(restart(world), 0);
	has_new_library = false;
	assert_int_equal(restart(world), 2);
}

static void damaged_record_is_not_used(void **state)
{
	struct manifest_world *world = *state;
	struct stat status;
	char path[160];

	put_pods(world);
	path_in(world->parent, "manifests.known", path);
	for (off_t length = 0, size = 1; length < size; length++) {
		manifest_world_stop(world);
		assert_return_code(stat(path, &status), 0);
		size = status.st_size;
		assert_return_code(truncate(path, length), 0);
		assert_in_range(start(world), 0, 2);
		assert_string_equal(
			manifest_source_file_of(world->source, stored(world, KIND_POD, "a")),
			"a.yaml");
		assert_int_equal(problem_count(world), 0);
	}
}

/* A process that is killed leaves the record of the one before. */
static void old_record_is_not_believed(void **state)
{
	struct manifest_world *world = *state;
	char path[160], saved[160];

	put_pods(world);
	manifest_world_stop(world);
	path_in(world->parent, "manifests.known", path);
	path_in(world->parent, "saved", saved);
	assert_return_code(link(path, saved), 0);
	assert_int_equal(start(world), 0);
	put_file(world, "a.yaml", POD("a", "/z"));
	(void) wait_for_text(world, KIND_POD, "a", "\"/z\"");
	manifest_world_stop(world);
	assert_return_code(rename(saved, path), 0);
	assert_int_equal(start(world), 1);
	assert_non_null(strstr(stored(world, KIND_POD, "a")->json, "\"/z\""));

	/* The text of the record again, while what is stored is of another. */
	manifest_world_stop(world);
	put_file(world, "a.yaml", POD("a", "/a"));
	assert_int_equal(start(world), 1);
	(void) wait_for_text(world, KIND_POD, "a", "\"/a\"");
}

static void files_with_problems_are_reported_at_each_start(void **state)
{
	struct manifest_world *world = *state;

	cleanup_free char *uid = NULL;

	put_pods(world);
	uid = uid_of(world, "a");
	put_file(world, "c.yaml", POD("a", "/other"));
	put_file(world, "d.yaml", POD("d", "/d") "---\nkind: [\n");
	wait_for_problem(world, "c.yaml");
	wait_for_problem(world, "d.yaml");
	assert_int_equal(restart(world), 2);
	wait_for_problem(world, "c.yaml");
	wait_for_problem(world, "d.yaml");
	/* c.yaml came later and may be listed first. */
	assert_string_equal(stored(world, KIND_POD, "a")->meta.uid, uid);
}

/* A touched file is looked at again before the first look is handed on: both know its text. */
static void second_look_at_an_applied_text_is_parsed(void **state)
{
	struct manifest_world *world = *state;
	struct manifest_known known = { .files = NULL };
	struct manifest_file *looks[2];
	cleanup_close int fd = open(world->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	put_pods(world);
	manifest_world_stop(world);
	store_world_reopen(&world->store);
	assert_int_equal(manifest_known_load(&known, world->store.store, world->parent), 0);
	for (size_t i = 0; i < 2; i++) {
		looks[i] = manifest_file_read(fd, "b.yaml", "node-1",
					      manifest_known_text(&known, "b.yaml"), NULL);
		assert_non_null(looks[i]);
		assert_true(looks[i]->is_as_applied);
	}
	assert_int_equal(manifest_known_take(&known, looks[0]), 0);
	assert_int_equal(looks[0]->documents.count, 2);
	assert_int_equal(manifest_known_take(&known, looks[1]), -EAGAIN);
	for (size_t i = 0; i < 2; i++)
		(void) manifest_file_free(looks[i]);
	manifest_known_done(&known);
	manifest_world_start(world);
	manifest_world_wait_ready(world);
}

/* ---- when more than what is stored is needed ---- */

static void object_deleted_later_comes_back_from_its_text(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;

	put_pods(world);
	uid = uid_of(world, "b");
	assert_int_equal(restart(world), 0);
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "b"), 0);
	(void) wait_for_object(world, KIND_POD, "b");
	assert_int_equal(atomic_load(&parsed), 1);
	assert_string_not_equal(stored(world, KIND_POD, "b")->meta.uid, uid);
	assert_int_equal(restart(world), 0);
}

/* What is stored is in memory once; the document is read again when it is needed. */
static void applied_document_is_not_kept(void **state)
{
	struct manifest_world *world = *state;
	cleanup_free char *uid = NULL;

	put_pods(world);
	uid = uid_of(world, "b");
	atomic_store(&parsed, 0);
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "b"), 0);
	(void) wait_for_object(world, KIND_POD, "b");
	assert_string_not_equal(stored(world, KIND_POD, "b")->meta.uid, uid);
	assert_int_equal(atomic_load(&parsed), 1);
}

static void file_that_breaks_later_keeps_what_it_had(void **state)
{
	struct manifest_world *world = *state;

	put_pods(world);
	assert_int_equal(restart(world), 0);
	put_file(world, "b.yaml", "kind: [\n");
	wait_for_problem(world, "b.yaml");
	assert_non_null(stored(world, KIND_POD, "b"));
	assert_int_equal(world_delete(&world->store, KIND_POD, "default", "b"), 0);
	(void) wait_for_object(world, KIND_POD, "b");
	assert_int_equal(restart(world), 1);
	wait_for_problem(world, "b.yaml");
	assert_non_null(stored(world, KIND_POD, "b"));
}

int main(void)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, manifest_world_setup, manifest_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(applied_texts_are_not_parsed_again),
		TEST(replaced_file_with_the_same_text_is_not_parsed),
		TEST(edit_of_the_same_size_and_time_is_seen),
		TEST(document_removed_while_down_deletes_its_pod),
		TEST(object_missing_in_the_store_is_made_again),
		TEST(record_of_another_program_is_not_used),
		TEST(record_of_another_library_is_not_used),
		TEST(damaged_record_is_not_used),
		TEST(old_record_is_not_believed),
		TEST(files_with_problems_are_reported_at_each_start),
		TEST(second_look_at_an_applied_text_is_parsed),
		TEST(object_deleted_later_comes_back_from_its_text),
		TEST(applied_document_is_not_kept),
		TEST(file_that_breaks_later_keeps_what_it_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
