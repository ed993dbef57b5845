/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_image_content - an image is looked into and filled without being mounted anywhere
 */
#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/archive/image_content.h"
#include "mount/archive/volume_copy.h"
#include "mount/capacity/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MIB (1 << 20)

static char base[64], path[96];

/* A blank one of 8 MiB; its descriptor. */
static int new_image(void)
{
	int fd;

	if (access("/dev/loop-control", W_OK) < 0) {
		print_message("# no loop devices here\n");
		skip();
	}
	(void) snprintf(path, sizeof(path), "%s", sandbox_path("image"));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_return_code(fd, errno);
	assert_return_code(ftruncate(fd, 8 * MIB), errno);
	return fd;
}

static struct image_content open_content(int fd, enum image_content_use use)
{
	struct image_content content = IMAGE_CONTENT_NONE;
	struct failure why = { .error = 0 };
	int r = image_content_open(fd, path, use, "", &content, &why);

	if (r == -EOPNOTSUPP) {
		print_message("# %s\n", why.text);
		skip();
	}
	if (r < 0)
		fail_msg("%s", why.text);
	return content;
}

static void write_at(int directory_fd, const char *name, const char *text)
{
	cleanup_close int fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_return_code(fd, errno);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void it_is_filled_and_looked_into(void **state)
{
	cleanup_close int fd = new_image();
	struct image_content content = open_content(fd, IMAGE_CONTENT_FILL);
	struct stat status;

	write_at(content.fd, "file", "kept");
	/* Its mount is nowhere, and its blocks are all there. */
	assert_int_equal(loop_image_count(), 1);
	assert_return_code(fstat(fd, &status), errno);
	assert_true(status.st_blocks * 512 >= 8 * MIB);
	image_content_done(&content);
	assert_int_equal(loop_image_count(), 0);

	content = open_content(fd, IMAGE_CONTENT_READ);
	assert_return_code(faccessat(content.fd, "file", F_OK, 0), errno);
	assert_true(openat(content.fd, "other", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0);
	assert_int_equal(errno, EROFS);
	image_content_done(&content);
	assert_int_equal(loop_image_count(), 0);
	/* A second filling keeps what is there: a filling that begins again makes the image again.
	 */
	content = open_content(fd, IMAGE_CONTENT_FILL);
	assert_return_code(faccessat(content.fd, "file", F_OK, 0), errno);
	image_content_done(&content);
}

static void a_blank_one_is_not_formatted_by_looking(void **state)
{
	struct image_content content = IMAGE_CONTENT_NONE;
	cleanup_close int fd = new_image();
	struct failure why = { .error = 0 };

	assert_int_equal(image_content_open(fd, path, IMAGE_CONTENT_READ, "", &content, &why),
			 -ENODATA);
	assert_int_equal(image_content_open(fd, path, IMAGE_CONTENT_READ, "", &content, &why),
			 -ENODATA);
	assert_int_equal(loop_image_count(), 0);
}

/* A mount of the same device shows what is written, and one that is read-only decides. */
static void it_is_shared_with_a_mount(void **state)
{
	cleanup_close int fd = new_image();
	struct image_content content = open_content(fd, IMAGE_CONTENT_FILL);
	char device[64];

	(void) snprintf(device, sizeof(device), "/proc/self/fd/%d", content.loop_fd);
	sandbox_mkdir("m", 0755);
	for (unsigned long flags = 0; flags <= MS_RDONLY; flags += MS_RDONLY) {
		struct image_content seen;

		if (flags == MS_RDONLY) { /* no longer writable for anybody */
			content.fd = close_keep_errno(content.fd);
			content.tree_fd = close_keep_errno(content.tree_fd);
		}
		assert_return_code(mount(device, sandbox_path("m"), "ext4", flags, ""), errno);
		if (flags == 0)
			sandbox_write("m/file", "seen");
		seen = open_content(fd, IMAGE_CONTENT_READ);
		assert_return_code(faccessat(seen.fd, "file", F_OK, 0), errno);
		assert_int_equal(loop_image_count(), 1);
		assert_return_code(umount(sandbox_path("m")), errno);
		assert_return_code(faccessat(seen.fd, "file", F_OK, 0), errno);
		image_content_done(&seen);
	}
	image_content_done(&content);
	assert_int_equal(loop_image_count(), 0);
}

static void a_kill_leaves_nothing(void **state)
{
	cleanup_close int fd = new_image();
	int ends[2];
	pid_t pid;
	char byte;

	assert_return_code(pipe(ends), errno);
	pid = fork();
	assert_return_code(pid, errno);
	if (pid == 0) {
		struct image_content content = open_content(fd, IMAGE_CONTENT_FILL);

		write_at(content.fd, "file", "x");
		(void) !write(ends[1], "x", 1);
		(void) pause();
		_exit(1);
	}
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(loop_image_count(), 1);
	assert_return_code(kill(pid, SIGKILL), errno);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(loop_image_count(), 0);
}

static void what_somebody_else_attached_is_refused(void **state)
{
	struct image_content content = IMAGE_CONTENT_NONE;
	cleanup_close int fd = new_image();
	struct loop_image others = loop_image_over("image", false);
	struct failure why = { .error = 0 };

	assert_int_equal(image_content_open(fd, path, IMAGE_CONTENT_FILL, "", &content, &why),
			 -EBUSY);
	assert_non_null(strstr(why.text, "by another program"));
	loop_image_done(&others);
}

/* ---- several at once ---- */

enum { THREADS = 4, ROUNDS = 10 };

static pthread_barrier_t all_open;
static atomic_uint most, failures;

static void *open_at_once(void *userdata)
{
	cleanup_close int fd = open(path, O_RDWR | O_CLOEXEC);
	struct image_content content = IMAGE_CONTENT_NONE;
	struct failure why = { .error = 0 };

	(void) pthread_barrier_wait(&all_open);
	if (image_content_open(fd, path, IMAGE_CONTENT_READ, "", &content, &why) < 0)
		atomic_fetch_add(&failures, 1);
	if (pthread_barrier_wait(&all_open) == PTHREAD_BARRIER_SERIAL_THREAD) {
		unsigned int count = loop_image_count();

		atomic_store(&most, count > most ? count : most);
	}
	(void) pthread_barrier_wait(&all_open);
	image_content_done(&content);
	return NULL;
}

/* Two devices over one file would each have their own idea of what is in it. */
static void there_is_one_device_whoever_asks(void **state)
{
	cleanup_close int fd = new_image();
	struct image_content content = open_content(fd, IMAGE_CONTENT_FILL);
	pthread_t threads[THREADS];

	image_content_done(&content);
	assert_int_equal(pthread_barrier_init(&all_open, NULL, THREADS), 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, open_at_once, NULL), 0);
		for (size_t i = 0; i < THREADS; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
	assert_int_equal(pthread_barrier_destroy(&all_open), 0);
	assert_int_equal(atomic_load(&failures), 0);
	assert_int_equal(atomic_load(&most), 1);
}

/* ---- copies ---- */

static struct copy_progress progress;
static const struct copy_watch watch = { NULL, &progress, false };

static void make_filled(const char *name, const char *capacity, const char *from,
			const char *from_capacity)
{
	const struct volume_directory made = { .base_path = base,
					       .name = name,
					       .mark = name,
					       .capacity = capacity,
					       .bytes = 8 * MIB };
	const struct volume_source source = {
		.base_path = base, .name = from, .mark = from, .capacity = from_capacity
	};
	struct failure why = { .error = 0 };

	if (volume_directory_make_filled(&made, &source, &watch, &why) < 0 ||
	    volume_directory_settle(&made, &why) < 0)
		fail_msg("%s", why.text);
}

/* A directory with a file, and an image "boxed" that was filled from it. */
static void make_boxed(void)
{
	const struct volume_directory directory = { .base_path = base, .name = "v", .mark = "v" };
	cleanup_close int fd = new_image();
	struct image_content content = open_content(fd, IMAGE_CONTENT_FILL); /* or skipped */

	image_content_done(&content);
	(void) snprintf(base, sizeof(base), "%s", sandbox_path("base"));
	sandbox_mkdir("base", 0755);
	assert_int_equal(volume_directory_make(&directory, 0751, NULL), 0);
	sandbox_write("base/v/file", "one");
	make_filled("boxed", CAPACITY_IMAGE, "v", CAPACITY_NONE);
}

static void one_kind_fills_the_other(void **state)
{
	make_boxed();
	assert_int_equal(faccessat(sandbox_fd(), "base/boxed/volume.img", F_OK, 0), 0);
	make_filled("again", CAPACITY_IMAGE, "boxed", CAPACITY_IMAGE);
	make_filled("w", CAPACITY_NONE, "again", CAPACITY_IMAGE);
	assert_true(sandbox_has("base/w/file", "one"));
	assert_int_equal(loop_image_count(), 0);
	/* What is in a directory is its pods' business, whatever it is called. */
	make_filled("plain", CAPACITY_NONE, "boxed", CAPACITY_NONE);
	assert_int_equal(faccessat(sandbox_fd(), "base/plain/volume.img", F_OK, 0), 0);
}

/* The loop device goes with the last descriptor, and a search for users, of any podvold here, may
 * have a copy of it for a moment. */
static int make_filled_once_free(const struct volume_directory *to,
				 const struct volume_source *source, struct failure *reterr)
{
	int r = -EBUSY;

	for (int tries = 0; tries < 500 && r == -EBUSY; tries++) {
		r = volume_directory_make_filled(to, source, &watch, reterr);
		if (r == -EBUSY)
			(void) poll(NULL, 0, 10);
	}
	return r;
}

/* Who has it mounted elsewhere has no mount of its directory. */
static void what_is_moved_is_attached_nowhere(void **state)
{
	const struct volume_directory to = { .base_path = base, .name = "to", .mark = "to" };
	const struct volume_source source = { .base_path = base,
					      .name = "boxed",
					      .mark = "boxed",
					      .capacity = CAPACITY_IMAGE,
					      .is_unused = true };
	cleanup_close int boxed_fd = -EBADF;
	struct image_content content;
	struct failure why = { .error = 0 };

	make_boxed();
	boxed_fd = openat(sandbox_fd(), "base/boxed/volume.img", O_RDWR | O_CLOEXEC);
	(void) snprintf(path, sizeof(path), "%s", sandbox_path("base/boxed/volume.img"));
	content = open_content(boxed_fd, IMAGE_CONTENT_READ);
	assert_int_equal(volume_directory_make_filled(&to, &source, &watch, &why), -EBUSY);
	assert_non_null(strstr(why.text, "is attached to a loop device"));
	image_content_done(&content);
	assert_int_equal(make_filled_once_free(&to, &source, &why), 0);
	assert_true(sandbox_has("base/to/file", "one"));
}

#define DISK_TEST(function)                                                                        \
	cmocka_unit_test_setup_teardown(function, sandbox_setup, loop_image_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		DISK_TEST(it_is_filled_and_looked_into),
		DISK_TEST(a_blank_one_is_not_formatted_by_looking),
		DISK_TEST(it_is_shared_with_a_mount),
		DISK_TEST(a_kill_leaves_nothing),
		DISK_TEST(what_somebody_else_attached_is_refused),
		DISK_TEST(there_is_one_device_whoever_asks),
		DISK_TEST(one_kind_fills_the_other),
		DISK_TEST(what_is_moved_is_attached_nowhere),
	};

	return sandbox_run("image_content", tests, ARRAY_SIZE(tests));
}
