/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_lost - every way in which a file or the directory can fail: no pod is taken away
 *
 * A table of ways, each tried under a running source and while none runs. What is wrong is
 * reported, every pod stays with its uid, and when the directory is as it was, so is everything.
 * File systems that go are in tests/root/agent/test_manifest_mount.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "manifest_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TWO_PODS POD("a", "/a") "---\n" POD("a2", "/a2")

/* What the system calls of the thread that reads are to say; 0: the truth. */
static atomic_int open_error, open_file_error, read_error, readdir_error;

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __real_openat(int fd, const char *path, int flags, mode_t mode);
int __wrap_openat(int fd, const char *path, int flags, mode_t mode);
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);

static _Thread_local int manifest_fd = -1; /* of this thread: what it reads next */

int __wrap_open(const char *path, int flags, mode_t mode)
{
	errno = open_error;
	return errno && (flags & O_DIRECTORY) ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int fd, const char *path, int flags, mode_t mode)
{
	bool is_manifest = (flags & O_NOCTTY) && strcmp(path, "a.yaml") == 0;
	int opened;

	errno = open_file_error;
	if (errno && is_manifest)
		return -1;
	opened = __real_openat(fd, path, flags, mode);
	manifest_fd = is_manifest ? opened : -1;
	return opened;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	errno = read_error;
	return errno && fd == manifest_fd ? -1 : __real_read(fd, buffer, size);
}

/* One name is read, then the disk fails. */
struct dirent *__wrap_readdir(DIR *dir)
{
	static _Thread_local unsigned int told;

	if (readdir_error && ++told % 2 == 0) {
		errno = readdir_error;
		return NULL;
	}
	return __real_readdir(dir);
}

int __real_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec);

/* What is tried again after seconds is tried again soon. */
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec)
{
	uint64_t soon_usec = monotonic_usec() + 10 * USEC_PER_MSEC;
	bool is_far = usec != UINT64_MAX && usec > soon_usec + USEC_PER_SEC / 2;

	return __real_sd_event_source_set_time(source, is_far ? soon_usec : usec);
}

/* ---- ways to fail ---- */

struct way {
	const char *name;
	void (*damage)(struct manifest_world *world, const struct way *way);
	const char *text; /* of a.yaml */
	int error;
};

static char *path_of(const struct manifest_world *world, const char *name, char path[160])
{
	(void) snprintf(path, 160, "%s/%s", world->directory, name);
	return path;
}

static void rewrite(struct manifest_world *world, const struct way *way)
{
	put_file(world, "a.yaml", way->text);
}

/* In place, as `>` does, and not by a rename. */
static void overwrite(struct manifest_world *world, const struct way *way)
{
	char path[160];
	FILE *file = fopen(path_of(world, "a.yaml", path), "we");

	assert_non_null(file);
	assert_int_equal(fwrite(way->text, 1, strlen(way->text), file), strlen(way->text));
	assert_int_equal(fclose(file), 0);
}

static void write_zeros(struct manifest_world *world, const struct way *way)
{
	static const char zeros[512];
	char path[160];
	FILE *file = fopen(path_of(world, "a.yaml", path), "we");

	assert_non_null(file);
	assert_int_equal(fwrite(zeros, 1, sizeof(zeros), file), sizeof(zeros));
	assert_int_equal(fclose(file), 0);
}

static void grow(struct manifest_world *world, const struct way *way)
{
	char path[160];

	assert_return_code(truncate(path_of(world, "a.yaml", path), 1L << 32), 0);
	assert_return_code(chmod(path, 0600), 0); /* an event */
}

static void become_link(struct manifest_world *world, const struct way *way)
{
	char path[160], new[160];

	assert_return_code(symlink(way->text, path_of(world, "new", new)), 0);
	assert_return_code(rename(new, path_of(world, "a.yaml", path)), 0);
}

static void become_directory(struct manifest_world *world, const struct way *way)
{
	char path[160];

	assert_return_code(unlink(path_of(world, "a.yaml", path)), 0);
	assert_return_code(mkdir(path, 0755), 0);
}

static void become_pipe(struct manifest_world *world, const struct way *way)
{
	char path[160], new[160];

	assert_return_code(mkfifo(path_of(world, "new", new), 0644), 0);
	assert_return_code(rename(new, path_of(world, "a.yaml", path)), 0);
}

static void fail_open(struct manifest_world *world, const struct way *way)
{
	char path[160];

	open_file_error = way->error;
	assert_return_code(chmod(path_of(world, "a.yaml", path), 0600), 0);
}

static void fail_read(struct manifest_world *world, const struct way *way)
{
	char path[160];

	read_error = way->error;
	assert_return_code(chmod(path_of(world, "a.yaml", path), 0600), 0);
}

/* A name like that of a ConfigMap's link asks for a listing. */
static void ask_for_listing(struct manifest_world *world)
{
	char path[160];

	assert_return_code(mkdir(path_of(world, "..data", path), 0755), 0);
}

static void fail_directory(struct manifest_world *world, const struct way *way)
{
	open_error = way->error;
	ask_for_listing(world);
}

static void fail_listing(struct manifest_world *world, const struct way *way)
{
	readdir_error = way->error;
	ask_for_listing(world);
}

static void empty_directory(struct manifest_world *world, const struct way *way)
{
	static const char *const names[] = { "a.yaml", "b.yaml", "claim.yaml", "other.yaml" };
	char path[160];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void) unlink(path_of(world, names[i], path));
}

static void move_directory(struct manifest_world *world, const struct way *way)
{
	char to[160];

	(void) snprintf(to, sizeof(to), "%s.away", world->directory);
	assert_return_code(rename(world->directory, to), 0);
}

static void remove_directory(struct manifest_world *world, const struct way *way)
{
	remove_everything(world->directory);
}

static void replace_by_directory(struct manifest_world *world, const struct way *way)
{
	move_directory(world, way);
	assert_return_code(mkdir(world->directory, 0755), 0);
	if (way->text)
		put_file(world, "other.yaml", way->text);
}

static void replace_by_file(struct manifest_world *world, const struct way *way)
{
	FILE *file;

	move_directory(world, way);
	file = fopen(world->directory, "we");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
}

static void replace_by_link(struct manifest_world *world, const struct way *way)
{
	char other[160];

	move_directory(world, way);
	(void) snprintf(other, sizeof(other), "%s/other", world->parent);
	if (!way->text)
		assert_return_code(mkdir(other, 0755), 0);
	assert_return_code(symlink(way->text ? way->text : other, world->directory), 0);
}

#define WAY(called, how, ...)                                                                      \
	{                                                                                          \
		.name = called, .damage = how, __VA_ARGS__                                         \
	}
static const struct way ways[] = {
	WAY("zero bytes", rewrite, .text = ""),
	WAY("zero bytes in place", overwrite, .text = ""),
	WAY("comments only", rewrite, .text = "# nothing\n---\n"),
	WAY("NULs after a power loss", write_zeros),
	WAY("no text", rewrite,
	    .text = "\x7f"
		    "ELF\x02\x01\x01\xff\xfe"),
	WAY("cut in a document", overwrite, .text = "apiVersion: v1\nkind: Pod\nmetadata: {name"),
	WAY("cut before the kind", overwrite, .text = "apiVersion: v1\n"),
	WAY("cut in the second document", overwrite,
	    .text = POD("a", "/a") "---\napiVersion: v1\nki"),
	WAY("the second document names nobody", rewrite,
	    .text = POD("a", "/a") "---\napiVersion: v1\nkind: Pod\n"),
	WAY("a stranger's text", rewrite, .text = "Dear Sir or Madam,\n"),
	WAY("a list of nothing", rewrite, .text = "[]\n"),
	WAY("an invalid pod", rewrite,
	    .text = POD("a2", "/a2") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
				     "spec: {volumes: 7}\n"),
	WAY("too large", grow),
	WAY("a link to nowhere", become_link, .text = "/nonexistent/a.yaml"),
	WAY("a link to itself", become_link, .text = "a.yaml"),
	WAY("a link into a file", become_link, .text = "/dev/null/a.yaml"),
	WAY("a link to a device", become_link, .text = "/dev/null"),
	WAY("a directory", become_directory),
	WAY("a pipe", become_pipe),
	WAY("open: EACCES", fail_open, .error = EACCES),
	WAY("open: EIO", fail_open, .error = EIO),
	WAY("open: ESTALE", fail_open, .error = ESTALE),
	WAY("open: ENOTCONN", fail_open, .error = ENOTCONN),
	WAY("open: EMFILE", fail_open, .error = EMFILE),
	WAY("read: EIO", fail_read, .error = EIO),
	WAY("read: ESTALE", fail_read, .error = ESTALE),
	WAY("directory: EACCES", fail_directory, .error = EACCES),
	WAY("directory: EIO", fail_directory, .error = EIO),
	WAY("directory: ESTALE", fail_directory, .error = ESTALE),
	WAY("directory: ENOTCONN", fail_directory, .error = ENOTCONN),
	WAY("directory: ENOENT", fail_directory, .error = ENOENT),
	WAY("readdir: EIO", fail_listing, .error = EIO),
	WAY("readdir: ESTALE", fail_listing, .error = ESTALE),
	WAY("directory emptied", empty_directory),
	WAY("directory renamed", move_directory),
	WAY("directory removed", remove_directory),
	WAY("another directory, empty", replace_by_directory),
	WAY("another directory with another pod", replace_by_directory, .text = POD("o", "/o")),
	WAY("a file in place of the directory", replace_by_file),
	WAY("a link to another directory", replace_by_link),
	WAY("a link to no directory", replace_by_link, .text = "/nonexistent/manifests"),
};

/* ---- trying them ---- */

static bool is_over(void *userdata)
{
	return monotonic_usec() > *(uint64_t *) userdata;
}

/* Long enough for a stroke to be judged, and for what is decided then to be written. */
static void settle_time(struct manifest_world *world)
{
	uint64_t until_usec = monotonic_usec() + 30 * USEC_PER_MSEC;

	store_world_run(&world->store, is_over, &until_usec);
}

static const char *const pods[] = { "a", "a2", "b" };
static char *uids[ARRAY_SIZE(pods)];

static void put_all(struct manifest_world *world)
{
	put_file(world, "a.yaml", TWO_PODS);
	put_file(world, "b.yaml", POD("b", "/b"));
	put_file(world, "claim.yaml", CLAIM("claim"));
}

static void assert_all_stay(struct manifest_world *world)
{
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		const struct object *pod = stored(world, KIND_POD, pods[i]);

		if (!pod || pod->meta.deletes || strcmp(pod->meta.uid, uids[i]) != 0)
			fail_msg("pod '%s' was taken away", pods[i]);
	}
	assert_non_null(stored(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim"));
}

/* What was moved away or linked to, for the next time. */
static void remove_away(struct manifest_world *world)
{
	static const char *const names[] = { "manifests.away", "other" };
	char path[160];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", world->parent, names[i]);
		if (access(path, F_OK) == 0)
			remove_everything(path);
	}
}

static void clear_errors(void)
{
	open_error = open_file_error = read_error = readdir_error = 0;
}

/* Whatever is in the way is put aside, and the files are there again. */
static void mend(struct manifest_world *world)
{
	static unsigned int count;
	char aside[160];

	clear_errors();
	(void) snprintf(aside, sizeof(aside), "%s/aside.%u", world->parent, count++);
	if (rename(world->directory, aside) < 0)
		assert_int_equal(errno, ENOENT);
	remove_away(world);
	assert_return_code(mkdir(world->directory, 0755), 0);
	put_all(world);
	put_file(world, "other.yaml", POD("o", "/o"));
}

static void try_way(struct manifest_world *world, const struct way *way, bool while_stopped)
{
	print_message("# %s%s\n", way->name, while_stopped ? ", found at the start" : "");
	if (while_stopped)
		manifest_world_stop(world);
	way->damage(world, way);
	if (while_stopped) {
		manifest_world_start(world);
		manifest_world_wait_ready(world);
	}
	wait_for_problem(world, "");
	settle_time(world);
	assert_all_stay(world);
	mend(world);
	wait_for_no_problems(world);
	assert_all_stay(world);
}

static void try_all(struct manifest_world *world, bool while_stopped)
{
	put_all(world);
	(void) wait_for_object(world, KIND_PERSISTENT_VOLUME_CLAIM, "claim");
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		(void) wait_for_object(world, KIND_POD, pods[i]);
		uids[i] = uid_of(world, pods[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		try_way(world, &ways[i], while_stopped);
	for (size_t i = 0; i < ARRAY_SIZE(pods); i++)
		free(uids[i]);
}

static void no_way_takes_a_pod_from_a_running_source(void **state)
{
	try_all(*state, false);
}

static void no_way_takes_a_pod_at_the_start(void **state)
{
	try_all(*state, true);
}

int main(void)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, manifest_world_setup, manifest_world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(no_way_takes_a_pod_from_a_running_source),
		TEST(no_way_takes_a_pod_at_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
