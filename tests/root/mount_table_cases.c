/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_table_cases - what the mount table answers; see mount_table_cases.h
 */
#include "mount_table_cases.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct mount_table *new_table(void)
{
	struct failure failure = { 0 };
	struct mount_table *table;

	assert_int_equal(mount_table_new(&table, &failure), 0);
	assert_int_equal(mount_table_refresh(table, &failure), 0);
	return table;
}

/* What was visited, as "point point ..." relative to the sandbox. */
struct visited {
	char text[512];
	unsigned int count, stop_after;
};

static int note(const struct mount_entry *entry, void *userdata)
{
	struct visited *visited = userdata;
	size_t used = strlen(visited->text);
	const char *dir = sandbox_dir();

	if (strncmp(entry->mount_point, dir, strlen(dir)) != 0)
		return 0;
	(void) snprintf(visited->text + used, sizeof(visited->text) - used, "%s%s",
			used > 0 ? " " : "", entry->mount_point + strlen(dir));
	visited->count++;
	return visited->stop_after && visited->count == visited->stop_after ? 77 : 0;
}

static void bind_dir(const char *source, const char *target)
{
	if (access(sandbox_path(target), F_OK) < 0)
		sandbox_mkdir(target, 0755);
	assert_return_code(mount(sandbox_path(source), sandbox_path(target), NULL, MS_BIND, NULL),
			   errno);
}

static void unmount_dir(const char *relative)
{
	assert_return_code(umount2(sandbox_path(relative), 0), errno);
}

static int references_of(struct mount_table *table, const char *relative, const char *prefix,
			 struct visited *ret)
{
	int fd = open(sandbox_path(relative), O_PATH | O_CLOEXEC);
	struct failure failure = { 0 };
	int result;

	assert_return_code(fd, errno);
	result = mount_table_references(table, fd, prefix, note, ret, &failure);
	(void) close(fd);
	return result;
}

static int count_all(const struct mount_entry *entry, void *userdata)
{
	unsigned int *count = userdata;

	assert_int_equal(*entry->mount_point, '/');
	assert_true(strlen(entry->root) > 0);
	assert_true(strlen(entry->type) > 0);
	(*count)++;
	return 0;
}

void case_walk_agrees_with_mountinfo(void **state)
{
	cleanup_fclose FILE *mountinfo = fopen("/proc/self/mountinfo", "re");
	struct mount_table *table = new_table();
	unsigned int lines = 0, entries = 0;
	char line[8192];

	assert_non_null(mountinfo);
	while (fgets(line, sizeof(line), mountinfo))
		lines++;
	assert_int_equal(mount_table_walk(table, count_all, &entries), 0);
	assert_int_equal(entries, lines);
	(void) mount_table_free(table);
}

void case_refresh_sees_what_changed(void **state)
{
	struct mount_table *table = new_table();
	struct visited none = { 0 }, one = { 0 }, two = { 0 }, gone = { 0 };

	sandbox_mkdir("source", 0755);
	bind_dir("source", "a");
	assert_int_equal(mount_table_walk(table, note, &none), 0);
	assert_string_equal(none.text, ""); /* not before a refresh */
	assert_int_equal(mount_table_refresh(table, NULL), 0);
	assert_int_equal(mount_table_walk(table, note, &one), 0);
	assert_string_equal(one.text, "/a");
	bind_dir("source", "b");
	assert_int_equal(mount_table_refresh(table, NULL), 0);
	assert_int_equal(mount_table_refresh(table, NULL), 0);
	assert_int_equal(mount_table_walk(table, note, &two), 0);
	assert_string_equal(two.text, "/a /b"); /* in mount order */
	unmount_dir("a");
	assert_int_equal(mount_table_refresh(table, NULL), 0);
	assert_int_equal(mount_table_walk(table, note, &gone), 0);
	assert_string_equal(gone.text, "/b");
	unmount_dir("b");
	(void) mount_table_free(table);
}

struct by_id {
	uint64_t mount_id;
	char mount_point[512];
	dev_t device;
};

static int find_id(const struct mount_entry *entry, void *userdata)
{
	struct by_id *wanted = userdata;

	if (entry->mount_id != wanted->mount_id)
		return 0;
	(void) snprintf(wanted->mount_point, sizeof(wanted->mount_point), "%s", entry->mount_point);
	wanted->device = entry->device;
	return 1;
}

void case_facts_and_entries_have_the_same_ids(void **state)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct mount_table *table;
	struct mount_facts facts;
	struct by_id found = { 0 };

	sandbox_mkdir("source", 0755);
	bind_dir("source", "a");
	table = new_table();
	assert_int_equal(place_open(sandbox_fd(), sandbox_dir(), "a", &place, NULL), 0);
	assert_int_equal(place_facts(&place, &facts, NULL), 0);
	assert_true(facts.is_mount_root);
	assert_true(S_ISDIR(facts.mode));
	found.mount_id = facts.mount_id;
	assert_int_equal(mount_table_walk(table, find_id, &found), 1);
	assert_string_equal(found.mount_point, sandbox_path("a"));
	assert_int_equal(found.device, facts.device);
	unmount_dir("a");
	assert_int_equal(place_facts(&place, &facts, NULL), 0);
	assert_false(facts.is_mount_root);
	(void) mount_table_free(table);
}

void case_references_of_a_directory(void **state)
{
	struct mount_table *table = new_table();
	struct visited before = { 0 }, both = { 0 }, through = { 0 };

	sandbox_mkdir("source", 0755);
	sandbox_mkdir("source/below", 0755);
	bind_dir("source/below", "other");
	assert_int_equal(references_of(table, "source", "", &before), 0);
	assert_string_equal(before.text, ""); /* what shows a part of it is no reference */

	bind_dir("source", "a");
	bind_dir("source", "b");
	assert_int_equal(references_of(table, "source", "", &both), 0);
	assert_int_equal(both.count, 2);
	assert_non_null(strstr(both.text, "/a"));
	assert_non_null(strstr(both.text, "/b"));

	/* Asked through one of them, that one is left out. */
	assert_int_equal(references_of(table, "a", "", &through), 0);
	assert_string_equal(through.text, "/b");
	unmount_dir("a");
	unmount_dir("b");
	unmount_dir("other");
	(void) mount_table_free(table);
}

void case_references_of_a_mount_s_root(void **state)
{
	struct mount_table *table = new_table();
	struct visited root = { 0 }, below = { 0 };

	sandbox_mkdir("disk", 0755);
	assert_return_code(mount("none", sandbox_path("disk"), "tmpfs", 0, NULL), errno);
	sandbox_mkdir("disk/dir", 0755);
	bind_dir("disk", "a");
	bind_dir("disk/dir", "b");
	assert_int_equal(references_of(table, "disk", "", &root), 0);
	assert_string_equal(root.text, "/a");
	assert_int_equal(references_of(table, "a/dir", "", &below), 0);
	assert_string_equal(below.text, "/b");
	unmount_dir("a");
	unmount_dir("b");
	unmount_dir("disk");
	(void) mount_table_free(table);
}

/* A prefix ends in a slash, so that "pods" does not mean "pods2". */
void case_references_by_prefix(void **state)
{
	struct mount_table *table = new_table();
	struct visited pods = { 0 };

	sandbox_mkdir("source", 0755);
	sandbox_mkdir("pods", 0755);
	bind_dir("source", "pods/a");
	bind_dir("source", "pods2");
	assert_int_equal(references_of(table, "source", sandbox_path("pods/"), &pods), 0);
	assert_string_equal(pods.text, "/pods/a");
	unmount_dir("pods/a");
	unmount_dir("pods2");
	(void) mount_table_free(table);
}

void case_references_end_when_told(void **state)
{
	struct mount_table *table = new_table();
	struct visited visited = { .stop_after = 2 };

	sandbox_mkdir("source", 0755);
	bind_dir("source", "a");
	bind_dir("source", "b");
	bind_dir("source", "c");
	assert_int_equal(references_of(table, "source", "", &visited), 77);
	assert_int_equal(visited.count, 2);
	unmount_dir("a");
	unmount_dir("b");
	unmount_dir("c");
	(void) mount_table_free(table);
}

/* A move keeps the id: what was cached says the old place. */
void case_references_after_a_move(void **state)
{
	struct mount_table *table = new_table();
	struct visited before = { 0 }, after = { 0 }, gone = { 0 };

	sandbox_mkdir("source", 0755);
	bind_dir("source", "a");
	assert_int_equal(references_of(table, "source", "", &before), 0);
	assert_string_equal(before.text, "/a");
	sandbox_mkdir("b", 0755);
	assert_return_code(mount(sandbox_path("a"), sandbox_path("b"), NULL, MS_MOVE, NULL), errno);
	assert_int_equal(references_of(table, "source", "", &after), 0);
	assert_string_equal(after.text, "/b");
	unmount_dir("b");
	assert_int_equal(references_of(table, "source", "", &gone), 0);
	assert_string_equal(gone.text, "");
	(void) mount_table_free(table);
}

/* The same path in another file system is another directory. */
void case_references_of_another_file_system(void **state)
{
	struct mount_table *table = new_table();
	struct visited visited = { 0 };

	sandbox_mkdir("one", 0755);
	sandbox_mkdir("two", 0755);
	assert_return_code(mount("none", sandbox_path("one"), "tmpfs", 0, NULL), errno);
	assert_return_code(mount("none", sandbox_path("two"), "tmpfs", 0, NULL), errno);
	sandbox_mkdir("one/dir", 0755);
	sandbox_mkdir("two/dir", 0755);
	bind_dir("one/dir", "a");
	assert_int_equal(references_of(table, "two/dir", "", &visited), 0);
	assert_string_equal(visited.text, "");
	unmount_dir("a");
	unmount_dir("one");
	unmount_dir("two");
	(void) mount_table_free(table);
}

void case_references_of_nothing_mounted(void **state)
{
	struct mount_table *table = new_table();
	struct failure failure = { 0 };
	cleanup_close int fd = -EBADF;
	int pipe_fds[2];

	assert_return_code(pipe2(pipe_fds, O_CLOEXEC), errno);
	fd = pipe_fds[0];
	(void) close(pipe_fds[1]);
	assert_int_equal(mount_table_references(table, fd, "", note, NULL, &failure), -ENOENT);
	assert_int_equal(failure.error, -ENOENT);
	(void) mount_table_free(table);
}

void case_awkward_names(void **state)
{
	static const char *const names[] = { "with space", "back\\slash", "new\nline", "#hash",
					     "\\040" };
	struct mount_table *table = new_table();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct visited visited = { 0 };
		char expected[64];

		sandbox_mkdir(names[i], 0755);
		bind_dir(names[i], "a");
		assert_int_equal(references_of(table, names[i], "", &visited), 0);
		assert_string_equal(visited.text, "/a");
		unmount_dir("a");

		bind_dir("a", names[i]);
		memset(&visited, 0, sizeof(visited));
		snprintf(expected, sizeof(expected), "/%s", names[i]);
		assert_int_equal(references_of(table, "a", "", &visited), 0);
		assert_string_equal(visited.text, expected);
		unmount_dir(names[i]);
	}
	(void) mount_table_free(table);
}

static int note_options(const struct mount_entry *entry, void *userdata)
{
	(void) snprintf(userdata, 128, "%s %s %s", entry->options, entry->type, entry->source);
	return 0;
}

void case_attributes_as_words(void **state)
{
	struct mount_table *table = new_table();
	struct failure failure = { 0 };
	cleanup_close int fd = -EBADF;
	char options[128] = "";

	sandbox_mkdir("source", 0755);
	bind_dir("source", "a");
	assert_return_code(mount(NULL, sandbox_path("a"), NULL,
				 MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL),
			   errno);
	fd = open(sandbox_path("source"), O_PATH | O_CLOEXEC);
	assert_int_equal(mount_table_references(table, fd, "", note_options, options, &failure), 0);
	assert_string_equal(options, "ro,nosuid,noexec,relatime tmpfs podvol-test");
	unmount_dir("a");
	(void) mount_table_free(table);
}
