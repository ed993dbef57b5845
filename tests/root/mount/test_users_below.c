/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_users_below - one search tells of many directories whether they are used, and is never the
 * proof for one that is, or that it does not know
 */
#include "tests/root/foreign_namespaces.h"

#include "base/clock.h"
#include "mount/holders/users_below.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

static uint64_t later_usec;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);

	if (clock == CLOCK_MONOTONIC)
		ret->tv_sec += (time_t) (later_usec / USEC_PER_SEC);
	return r;
}

static bool proves(struct users_below *users, const char *relative)
{
	cleanup_close int fd = open(sandbox_path(relative), O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_return_code(fd, errno);
	return users_below_proves_none(users, fd);
}

static struct users_below *search_base(void)
{
	struct users_below *users = NULL;
	struct failure why = { .error = 0 };

	if (users_below_search(sandbox_path("base"), &users, &why) < 0)
		fail_msg("%s", why.text);
	return users;
}

/* Directories "one", "two", "a/deep" and "a/other". */
static void make_volumes(void)
{
	static const char *const names[] = { "base",        "base/one",     "base/two",   "base/a",
					     "base/a/deep", "base/a/other", "base/one/in" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		sandbox_mkdir(names[i], 0755);
}

static void bind_here(const char *from, const char *to)
{
	assert_return_code(mount(sandbox_path(from), sandbox_path(to), NULL, MS_BIND, NULL), errno);
}

static void test_nobody_has_any(void **state)
{
	struct users_below *users;

	make_volumes();
	users = search_base();
	assert_true(proves(users, "base/one"));
	assert_true(proves(users, "base/two"));
	assert_true(proves(users, "base/a"));
	assert_true(proves(users, "base/a/deep"));
	(void) users_below_free(users);
}

/* What it was not asked about, it does not know. */
static void test_what_is_elsewhere_is_unknown(void **state)
{
	struct users_below *users;

	make_volumes();
	sandbox_mkdir("other", 0755);
	sandbox_mkdir("base/disk", 0755);
	assert_return_code(mount("disk", sandbox_path("base/disk"), "tmpfs", 0, NULL), errno);
	users = search_base();
	assert_false(proves(users, "other"));
	assert_false(proves(users, "."));
	assert_false(proves(users, "base"));
	assert_false(proves(users, "base/disk"));
	assert_true(proves(users, "base/one"));
	assert_return_code(umount2(sandbox_path("base/disk"), 0), errno);
	(void) users_below_free(users);
}

/* In our own namespace: a mount of it, of something in it, and on something in it. */
static void test_mounts_here(void **state)
{
	static const char *const shown[] = { "base/one", "base/one/in" };
	struct users_below *users;

	make_volumes();
	sandbox_mkdir("at", 0755);
	sandbox_mkdir("elsewhere", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		bind_here(shown[i], "at");
		users = search_base();
		assert_false(proves(users, "base/one"));
		assert_true(proves(users, "base/two"));
		(void) users_below_free(users);
		assert_return_code(umount2(sandbox_path("at"), 0), errno);
	}
	bind_here("elsewhere", "base/one/in");
	bind_here("base/a/deep", "at");
	users = search_base();
	assert_false(proves(users, "base/one"));
	assert_false(proves(users, "base/a"));
	assert_false(proves(users, "base/a/deep"));
	assert_true(proves(users, "base/a/other"));
	assert_true(proves(users, "base/two"));
	(void) users_below_free(users);
	assert_return_code(umount2(sandbox_path("base/one/in"), 0), errno);
	assert_return_code(umount2(sandbox_path("at"), 0), errno);
}

static int bind_one(void)
{
	return mount(sandbox_path("base/one"), sandbox_path("at"), NULL, MS_BIND, NULL);
}

static void test_mounts_of_another_namespace(void **state)
{
	struct users_below *users;
	pid_t pid;

	make_volumes();
	sandbox_mkdir("at", 0755);
	pid = foreign_volume("stranger", MS_PRIVATE, bind_one);
	users = search_base();
	assert_false(proves(users, "base/one"));
	assert_true(proves(users, "base/two"));
	(void) users_below_free(users);
	end(pid);
}

static int open_detached(const char *relative)
{
	int fd;

	if (mount(sandbox_path(relative), sandbox_path("at"), NULL, MS_BIND, NULL) < 0)
		return -1;
	fd = open(sandbox_path("at"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fd : umount2(sandbox_path("at"), MNT_DETACH);
}

static int open_one_detached(void)
{
	return open_detached("base/one");
}

static int open_other_detached(void)
{
	return open_detached("other");
}

/* The kernel does not say what such a mount shows: then nothing below the base path is proven. */
static void test_detached_mounts(void **state)
{
	struct users_below *users;
	pid_t pid;

	make_volumes();
	sandbox_mkdir("at", 0755);
	sandbox_mkdir("other", 0755);
	pid = foreign_volume("stranger", MS_PRIVATE, open_one_detached);
	users = search_base();
	assert_false(proves(users, "base/one"));
	assert_false(proves(users, "base/two"));
	(void) users_below_free(users);
	end(pid);
	pid = foreign_volume("stranger", MS_PRIVATE, open_other_detached);
	users = search_base();
	assert_true(proves(users, "base/one"));
	(void) users_below_free(users);
	end(pid);
}

static void test_a_base_path_that_was_renamed(void **state)
{
	struct users_below *users;

	make_volumes();
	users = search_base();
	assert_return_code(rename(sandbox_path("base"), sandbox_path("moved")), errno);
	assert_false(proves(users, "moved/one"));
	make_volumes();
	assert_false(proves(users, "base/one"));
	(void) users_below_free(users);
}

/* Here it is seen at once: of it, on it, and moved to it. */
static void test_mounts_since_the_search(void **state)
{
	struct users_below *users;

	make_volumes();
	sandbox_mkdir("at", 0755);
	sandbox_mkdir("elsewhere", 0755);
	users = search_base();
	assert_true(proves(users, "base/one"));
	bind_here("elsewhere", "base/one/in");
	assert_false(proves(users, "base/one"));
	assert_true(proves(users, "base/two"));
	bind_here("base/two", "at");
	assert_false(proves(users, "base/two"));
	assert_true(proves(users, "base/a"));
	assert_return_code(umount2(sandbox_path("at"), 0), errno);
	assert_return_code(mount("disk", sandbox_path("elsewhere"), "tmpfs", 0, NULL), errno);
	assert_return_code(mount(NULL, sandbox_path("elsewhere"), NULL, MS_PRIVATE, NULL), errno);
	assert_true(proves(users, "base/a"));
	assert_return_code(
		mount(sandbox_path("elsewhere"), sandbox_path("base/a/deep"), NULL, MS_MOVE, NULL),
		errno);
	assert_false(proves(users, "base/a"));
	assert_true(proves(users, "base/a/other"));
	assert_return_code(umount2(sandbox_path("base/a/deep"), 0), errno);
	assert_return_code(umount2(sandbox_path("base/one/in"), 0), errno);
	(void) users_below_free(users);
}

static void test_it_tells_for_a_moment(void **state)
{
	struct users_below *users;

	make_volumes();
	users = search_base();
	assert_true(users_below_is_current(users));
	later_usec = 2 * USEC_PER_SEC;
	assert_false(users_below_is_current(users));
	assert_false(proves(users, "base/one"));
	later_usec = 0;
	assert_true(proves(users, "base/one"));
	(void) users_below_free(users);
}

static void test_too_deep_is_unknown(void **state)
{
	char path[256] = "base/one";
	size_t length = strlen(path);
	struct users_below *users;

	make_volumes();
	for (int i = 0; i < 40; i++) {
		length += (size_t) snprintf(path + length, sizeof(path) - length, "/d");
		sandbox_mkdir(path, 0755);
	}
	sandbox_mkdir("at", 0755);
	bind_here(path, "at");
	users = search_base();
	assert_false(proves(users, path));
	assert_false(proves(users, "base/one"));
	assert_false(proves(users, "base/one/d/d"));
	assert_true(proves(users, "base/two"));
	(void) users_below_free(users);
	assert_return_code(umount2(sandbox_path("at"), 0), errno);
}

static void test_what_cannot_be_seen_is_an_error(void **state)
{
	struct users_below *users = NULL;

	assert_int_equal(users_below_search(sandbox_path("missing"), &users, NULL), -ENOENT);
	assert_null(users);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_nobody_has_any),
		SANDBOX_TEST(test_what_is_elsewhere_is_unknown),
		SANDBOX_TEST(test_mounts_here),
		SANDBOX_TEST(test_mounts_of_another_namespace),
		SANDBOX_TEST(test_detached_mounts),
		SANDBOX_TEST(test_a_base_path_that_was_renamed),
		SANDBOX_TEST(test_mounts_since_the_search),
		SANDBOX_TEST(test_it_tells_for_a_moment),
		SANDBOX_TEST(test_too_deep_is_unknown),
		SANDBOX_TEST(test_what_cannot_be_seen_is_an_error),
	};

	return sandbox_run("users_below", tests, ARRAY_SIZE(tests));
}
