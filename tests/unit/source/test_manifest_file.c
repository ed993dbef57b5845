/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_file - which names are manifests, and what one look at a name gives
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/cleanup.h"
#include "source/manifest_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void names_are_taken_by_their_ending(void **state)
{
	static const struct {
		const char *name;
		bool is_taken;
	} names[] = {
		{ "pod.yaml", true },
		{ "pod.yml", true },
		{ "pod.json", true },
		{ "a.b.yaml", true },
		{ "Pod with space.yaml", true },
		{ "pod.YAML", false },
		{ "pod", false },
		{ "yaml", false },
		{ ".yaml", false },
		{ ".pod.yaml", false },
		{ "..data", false },
		{ "pod.yaml~", false },
		{ "#pod.yaml#", false },
		{ "#pod.yaml", false },
		{ ".pod.yaml.swp", false },
		{ "pod.yaml.swp", false },
		{ "pod.yaml.bak", false },
		{ "pod.yaml.dpkg-new", false },
		{ "4913", false },
		{ "pod.txt", false },
		{ "json", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (manifest_name_is_taken(names[i].name) != names[i].is_taken)
			fail_msg("%s", names[i].name);
}

struct place {
	char path[64];
	int fd;
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	(void) snprintf(place->path, sizeof(place->path), "/tmp/podvol-file.XXXXXX");
	assert_non_null(mkdtemp(place->path));
	place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(place->fd >= 0);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	(void) close(place->fd);
	remove_everything(place->path);
	free(place);
	return 0;
}

static void write_file(const struct place *place, const char *name, const char *text)
{
	cleanup_close int fd =
		openat(place->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static struct manifest_file *look(const struct place *place, const char *name)
{
	struct manifest_file *file = manifest_file_read(place->fd, name, "node-1", 0, NULL);

	assert_non_null(file);
	assert_string_equal(file->name, name);
	return file;
}

static void documents_come_with_hashes_of_their_content(void **state)
{
	struct place *place = *state;
	struct manifest_file *file, *again;

	write_file(place, "a.yaml", POD("a", "/a") "---\n" POD("b", "/b") "---\n{kind: 7\n");
	file = look(place, "a.yaml");
	assert_true(file->is_present);
	assert_int_equal(file->failure.error, 0);
	assert_true(file->documents.count >= 2);
	assert_int_not_equal(file->sources[0].hash, file->sources[1].hash);

	/* Comments and another place do not make another document. */
	write_file(place, "b.yaml", "# hello\n" POD("x", "/x") "---\n# more\n" POD("a", "/a"));
	again = look(place, "b.yaml");
	assert_int_equal(again->sources[1].hash, file->sources[0].hash);
	assert_false(manifest_identity_is_same(&again->identity, &file->identity));
	(void) manifest_file_free(file);
	(void) manifest_file_free(again);
}

static void identity_changes_with_the_content(void **state)
{
	struct place *place = *state;
	struct manifest_file *file, *same, *changed;

	write_file(place, "a.yaml", POD("a", "/a"));
	file = look(place, "a.yaml");
	same = look(place, "a.yaml");
	write_file(place, "a.yaml", POD("a", "/ab"));
	changed = look(place, "a.yaml");
	assert_true(manifest_identity_is_same(&file->identity, &same->identity));
	assert_false(manifest_identity_is_same(&file->identity, &changed->identity));
	(void) manifest_file_free(file);
	(void) manifest_file_free(same);
	(void) manifest_file_free(changed);
}

/* It was not removed: what it had before must not go. */
static void what_is_no_regular_file_is_there_and_says_so(void **state)
{
	static const struct {
		const char *name;
		int error;
	} rows[] = { { "dir.yaml", -EINVAL },
		     { "fifo.yaml", -EINVAL },
		     { "dangling.yaml", -ENOENT } };
	struct place *place = *state;
	struct manifest_file *file = look(place, "none.yaml");

	assert_false(file->is_present);
	(void) manifest_file_free(file);
	assert_return_code(mkdirat(place->fd, "dir.yaml", 0755), 0);
	assert_return_code(mkfifoat(place->fd, "fifo.yaml", 0644), 0);
	assert_return_code(symlinkat("nowhere", place->fd, "dangling.yaml"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		file = look(place, rows[i].name);
		assert_true(file->is_present);
		assert_int_equal(file->failure.error, rows[i].error);
		(void) manifest_file_free(file);
	}
}

static void file_that_cannot_be_opened_is_present_and_says_why(void **state)
{
	struct place *place = *state;
	struct manifest_file *file;

	/* ELOOP: for root nothing else is unreadable. */
	assert_return_code(symlinkat("loop.yaml", place->fd, "loop.yaml"), 0);
	file = look(place, "loop.yaml");
	assert_true(file->is_present);
	assert_int_equal(file->failure.error, -ELOOP);
	(void) manifest_file_free(file);
}

static void link_is_followed(void **state)
{
	struct place *place = *state;
	struct manifest_file *file;

	write_file(place, "content", POD("a", "/a"));
	assert_return_code(symlinkat("content", place->fd, "a.yaml"), 0);
	file = look(place, "a.yaml");
	assert_true(file->is_present);
	assert_int_equal(file->documents.count, 1);
	assert_non_null(file->documents.documents[0].object);
	(void) manifest_file_free(file);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_taken_by_their_ending),
		TEST(documents_come_with_hashes_of_their_content),
		TEST(identity_changes_with_the_content),
		TEST(what_is_no_regular_file_is_there_and_says_so),
		TEST(file_that_cannot_be_opened_is_present_and_says_why),
		TEST(link_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
