/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_registration_watch - which sockets of a directory are reported, and when they come and
 * go
 *
 * Real inotify in a directory of the test's own. What is reported becomes a text: "+path" and
 * "-path".
 */
#include "csi/csi_registration_watch.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <cmocka.h>

struct world {
	char directory[64]; /* what is watched is "r" in it */
	int top_fd;
	sd_event *event;
	struct csi_registration_watch *watch;
	char told[64 * 1024];
	int open_error; /* of the next time that "" is opened */
	unsigned int opens;
};

/* One overflow of the queue, when the next events are read. */
static bool loses_events;

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	const struct inotify_event lost = { .wd = -1, .mask = IN_Q_OVERFLOW };
	ssize_t length = __real_read(fd, buffer, size);

	if (!loses_events || size < 4096 || length <= 0)
		return length;
	loses_events = false;
	memcpy(buffer, &lost, sizeof(lost));
	return sizeof(lost);
}

static void report(struct world *world, char sign, const char *path)
{
	size_t used = strlen(world->told);

	(void) snprintf(world->told + used, sizeof(world->told) - used, "%s%c%s",
			used > 0 ? " " : "", sign, path);
}

static void on_appeared(void *userdata, const char *path)
{
	report(userdata, '+', path);
}

static void on_vanished(void *userdata, const char *path)
{
	report(userdata, '-', path);
}

static int open_directory(void *userdata, const char *path, struct failure *reterr)
{
	struct world *world = userdata;
	char below[2048];
	int error = world->open_error, fd;

	if (*path == '\0') {
		world->opens++;
		world->open_error = 0;
		if (error < 0)
			return failed(reterr, error, "cannot open it");
		(void) mkdirat(world->top_fd, "r", 0755);
	}
	(void) snprintf(below, sizeof(below), "r/%s", path);
	fd = openat(world->top_fd, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? failed(reterr, -errno, "cannot open '%s'", path) : fd;
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	(void) snprintf(world->directory, sizeof(world->directory), "/tmp/podvol-test.XXXXXX");
	assert_non_null(mkdtemp(world->directory));
	world->top_fd = open(world->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(world->top_fd >= 0);
	assert_int_equal(sd_event_new(&world->event), 0);
	loses_events = false;
	*state = world;
	return 0;
}

static void remove_below(int fd, const char *name);

static void remove_all(int fd)
{
	DIR *stream = fdopendir(dup(fd));
	const struct dirent *entry;

	rewinddir(stream);
	while ((entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_below(fd, entry->d_name);
	(void) closedir(stream);
}

static void remove_below(int fd, const char *name)
{
	int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (below >= 0) {
		remove_all(below);
		(void) close(below);
	}
	assert_int_equal(unlinkat(fd, name, below >= 0 ? AT_REMOVEDIR : 0), 0);
}

static int tear_down(void **state)
{
	struct world *world = *state;

	assert_null(csi_registration_watch_free(world->watch));
	sd_event_unref(world->event);
	remove_all(world->top_fd);
	(void) close(world->top_fd);
	assert_int_equal(rmdir(world->directory), 0);
	free(world);
	return 0;
}

/* ---- what happens in the directory ---- */

static void make_directory(struct world *world, const char *path)
{
	assert_int_equal(mkdirat(world->top_fd, path, 0755), 0);
}

/* By the directory's descriptor: its path may be long. */
static void make_socket(struct world *world, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
			world->top_fd, path);
	assert_int_equal(bind(fd, &address, sizeof(address)), 0);
	(void) close(fd);
}

static void make_file(struct world *world, const char *path)
{
	int fd = openat(world->top_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	(void) close(fd);
}

static void take_away(struct world *world, const char *path, int flags)
{
	assert_int_equal(unlinkat(world->top_fd, path, flags), 0);
}

static void start(struct world *world)
{
	const struct csi_registration_watch_options options = {
		.event = world->event,
		.open_directory = open_directory,
		.appeared = on_appeared,
		.vanished = on_vanished,
		.userdata = world,
	};

	assert_int_equal(csi_registration_watch_new(&options, &world->watch, NULL), 0);
}

/* All events that are there: inotify has them as soon as the call that makes them returned. */
static const char *told(struct world *world)
{
	static char copy[sizeof(world->told)];

	while (sd_event_run(world->event, 0) > 0)
		;
	(void) snprintf(copy, sizeof(copy), "%s", world->told);
	world->told[0] = '\0';
	return copy;
}

/* ---- tests ---- */

/* case 233 */
static void test_what_is_there_at_the_start(void **state)
{
	struct world *world = *state;

	make_directory(world, "r");
	make_directory(world, "r/sub");
	make_directory(world, "r/sub/sub");
	make_socket(world, "r/sub/sub/b.sock");
	make_socket(world, "r/a-reg.sock");
	start(world);
	assert_string_equal(told(world), "+a-reg.sock +sub/sub/b.sock");
}

static void test_directory_is_made(void **state)
{
	struct world *world = *state;

	start(world);
	make_socket(world, "r/a");
	assert_string_equal(told(world), "+a");
}

static void test_what_is_passed_over(void **state)
{
	struct world *world = *state;

	make_directory(world, "r");
	make_directory(world, "outside");
	make_socket(world, "outside/a.sock");
	for (int again = 0; again < 2; again++) {
		make_socket(world, "r/.foo-reg.sock"); /* case 230 */
		make_file(world, "r/foo-reg.sock");    /* case 231 */
		make_directory(world, "r/.hidden");
		make_socket(world, "r/.hidden/a.sock");
		assert_int_equal(symlinkat("../outside", world->top_fd, "r/link"), 0);
		assert_int_equal(symlinkat("../outside/a.sock", world->top_fd, "r/a.sock"), 0);
		assert_int_equal(mkfifoat(world->top_fd, "r/fifo", 0600), 0);
		if (!world->watch)
			start(world);
		assert_string_equal(told(world), "");
		take_away(world, "r/.foo-reg.sock", 0);
		take_away(world, "r/foo-reg.sock", 0);
		take_away(world, "r/.hidden/a.sock", 0);
		take_away(world, "r/.hidden", AT_REMOVEDIR);
		take_away(world, "r/link", 0);
		take_away(world, "r/a.sock", 0);
		take_away(world, "r/fifo", 0);
		assert_string_equal(told(world), "");
	}
}

/* case 232 */
static void test_new_directories_are_watched(void **state)
{
	struct world *world = *state;

	start(world);
	make_directory(world, "r/sub");
	make_socket(world, "r/sub/first"); /* before the directory was seen */
	assert_string_equal(told(world), "+sub/first");
	make_socket(world, "r/sub/second");
	make_directory(world, "r/sub/deep");
	assert_string_equal(told(world), "+sub/second");
	make_socket(world, "r/sub/deep/third");
	assert_string_equal(told(world), "+sub/deep/third");
}

/* case 234, case 235 */
static void test_sockets_come_and_go(void **state)
{
	struct world *world = *state;

	start(world);
	make_socket(world, "r/a");
	assert_string_equal(told(world), "+a");
	take_away(world, "r/a", 0);
	assert_string_equal(told(world), "-a");
	make_socket(world, "r/a");
	assert_string_equal(told(world), "+a");
	take_away(world, "r/a", 0);
	make_socket(world, "r/a");
	assert_string_equal(told(world), "-a +a");
	make_socket(world, "r/b");
	assert_int_equal(renameat(world->top_fd, "r/b", world->top_fd, "r/a"), 0);
	assert_string_equal(told(world), "-a +a");
	assert_int_equal(renameat(world->top_fd, "r/a", world->top_fd, "r/c"), 0);
	assert_string_equal(told(world), "-a +c");
}

static void test_directories_go_with_all_below(void **state)
{
	struct world *world = *state;

	start(world);
	make_directory(world, "r/sub");
	make_directory(world, "r/sub/deep");
	make_directory(world, "r/subway");
	make_socket(world, "r/sub/deep/a");
	make_socket(world, "r/subway/b");
	(void) told(world);
	assert_int_equal(renameat(world->top_fd, "r/sub", world->top_fd, "moved"), 0);
	assert_string_equal(told(world), "-sub/deep/a");
	make_socket(world, "moved/deep/b"); /* is not watched any more */
	assert_string_equal(told(world), "");
	assert_int_equal(renameat(world->top_fd, "moved", world->top_fd, "r/back"), 0);
	assert_non_null(strstr(told(world), "+back/deep/b"));
	make_socket(world, "r/back/deep/c");
	assert_string_equal(told(world), "+back/deep/c");
}

/* What was missed is found, what was seen before is not reported again. */
static void test_overflow(void **state)
{
	struct world *world = *state;

	start(world);
	make_socket(world, "r/stays");
	make_socket(world, "r/goes");
	make_socket(world, "r/changes");
	(void) told(world);
	loses_events = true;
	take_away(world, "r/goes", 0);
	take_away(world, "r/changes", 0);
	make_socket(world, "r/comes");
	make_socket(world, "r/changes");
	make_directory(world, "r/sub");
	make_socket(world, "r/sub/a");
	{
		const char *text = told(world);

		assert_false(loses_events);
		assert_null(strstr(text, "stays"));
		assert_non_null(strstr(text, "-goes"));
		assert_non_null(strstr(text, "-changes"));
		assert_true(strstr(text, "+changes") > strstr(text, "-changes"));
		assert_non_null(strstr(text, "+comes"));
		assert_non_null(strstr(text, "+sub/a"));
	}
	make_socket(world, "r/sub/b");
	assert_string_equal(told(world), "+sub/b");
}

static void test_directory_is_replaced(void **state)
{
	struct world *world = *state;

	start(world);
	make_socket(world, "r/a");
	assert_string_equal(told(world), "+a");
	assert_int_equal(renameat(world->top_fd, "r", world->top_fd, "old"), 0);
	assert_string_equal(told(world), "-a");
	make_socket(world, "r/b");
	make_socket(world, "old/c");
	assert_string_equal(told(world), "+b");
	take_away(world, "r/b", 0);
	take_away(world, "r", AT_REMOVEDIR);
	assert_string_equal(told(world), "-b");
	make_socket(world, "r/d");
	assert_string_equal(told(world), "+d");
}

/* Tried again by a timer that runs only then. */
static void test_directory_that_cannot_be_opened(void **state)
{
	struct world *world = *state;

	world->open_error = -EACCES;
	start(world);
	assert_int_equal(world->opens, 1);
	make_directory(world, "r");
	make_socket(world, "r/a");
	assert_string_equal(told(world), "");
	while (world->opens < 2)
		assert_true(sd_event_run(world->event, 60 * USEC_PER_SEC) > 0);
	assert_string_equal(told(world), "+a");
	assert_int_equal(sd_event_run(world->event, 0), 0);
}

/* A process that makes too many harms none of those that are there. */
static void test_limits(void **state)
{
	struct world *world = *state;
	unsigned int count = 0;
	char path[64];

	make_directory(world, "r");
	for (int i = 0; i < REGISTRY_DIRECTORIES_MAX + 5; i++) {
		(void) snprintf(path, sizeof(path), "r/%03d", i);
		make_directory(world, path);
		(void) snprintf(path, sizeof(path), "r/%03d/s", i);
		make_socket(world, path);
	}
	start(world);
	for (const char *at = told(world); *at; at++)
		count += *at == '+';
	assert_int_equal(count, REGISTRY_DIRECTORIES_MAX - 1); /* "r" itself is one */
	for (int i = 0; i < REGISTRY_SOCKETS_MAX; i++) {
		(void) snprintf(path, sizeof(path), "r/s%d", i);
		make_socket(world, path);
	}
	count = 0;
	for (const char *at = told(world); *at; at++)
		count += *at == '+';
	assert_int_equal(count, REGISTRY_SOCKETS_MAX - (REGISTRY_DIRECTORIES_MAX - 1));
	take_away(world, "r/s0", 0);
	make_socket(world, "r/s0");
	assert_string_equal(told(world), "-s0 +s0");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_there_at_the_start),
		TEST(test_directory_is_made),
		TEST(test_what_is_passed_over),
		TEST(test_new_directories_are_watched),
		TEST(test_sockets_come_and_go),
		TEST(test_directories_go_with_all_below),
		TEST(test_overflow),
		TEST(test_directory_is_replaced),
		TEST(test_directory_that_cannot_be_opened),
		TEST(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
