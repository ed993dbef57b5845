/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_race - a directory and a symbolic link to outside are exchanged all the time
 *
 * The attack of CVE-2021-25741: a path that is checked and mounted by name later mounts what the
 * attacker chose. podvold must never; a naive way must be caught now and then, so that the test is
 * known to be able to fail.
 */
#include "tests/root/kernel_calls.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#define RACE_USEC     (2 * USEC_PER_SEC)
#define RACE_MAX_USEC (200 * USEC_PER_SEC) /* on a machine that has better things to do */

static atomic_bool stop;

static void *attack(void *unused)
{
	int fd = open(sandbox_path("volume"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (!atomic_load(&stop))
		(void) renameat2(fd, "sub", fd, "link", RENAME_EXCHANGE);
	(void) close(fd);
	return NULL;
}

struct result {
	unsigned int attempts, mounted, escaped;
};

static bool is_outside(void)
{
	return access(sandbox_path("target/secret"), F_OK) == 0;
}

/* Mount in one way or the other, again and again, while the attacker is at it; for a while, and
 * until it met the attacker often enough to tell. */
static struct result race(int (*bind)(int volume_fd, int target_fd),
			  bool (*is_enough)(const struct result *result))
{
	cleanup_close int volume_fd = -EBADF, target_fd = -EBADF;
	struct result result = { 0 };
	uint64_t begin_usec, past_usec = 0;
	pthread_t attacker;

	sandbox_mkdir("volume", 0777);
	sandbox_mkdir("volume/sub", 0777);
	sandbox_mkdir("outside", 0755);
	sandbox_write("outside/secret", "secret");
	sandbox_mkdir("target", 0750);
	assert_return_code(symlink("../outside", sandbox_path("volume/link")), errno);
	volume_fd = open(sandbox_path("volume"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	target_fd = open(sandbox_path("target"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&attacker, NULL, attack, NULL), 0);
	begin_usec = monotonic_usec();
	while (past_usec < RACE_USEC || (!is_enough(&result) && past_usec < RACE_MAX_USEC)) {
		past_usec = monotonic_usec() - begin_usec;
		result.attempts++;
		if (bind(volume_fd, target_fd) < 0)
			continue;
		result.mounted++;
		result.escaped += is_outside();
		assert_return_code(umount2(sandbox_path("target"), MNT_DETACH), errno);
	}
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(attacker, NULL), 0);
	print_message("# %u attempts, %u mounted, %u escaped\n", result.attempts, result.mounted,
		      result.escaped);
	return result;
}

static int bind_ours(int volume_fd, int target_fd)
{
	const struct mount_attributes read_only = { .set = MOUNT_ATTR_RDONLY };
	cleanup_close int fd =
		open_beneath(volume_fd, "sub", O_PATH | O_DIRECTORY, PATH_BENEATH, NULL);

	return fd < 0 ? fd : bind_at(fd, target_fd, &read_only, NULL);
}

/* Look first, mount by name later; with a pause, as a busy machine makes one sooner or later. */
static int bind_naively(int volume_fd, int target_fd)
{
	struct stat status;

	if (lstat(sandbox_path("volume/sub"), &status) < 0 || !S_ISDIR(status.st_mode))
		return -ELOOP;
	(void) nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
	return mount(sandbox_path("volume/sub"), sandbox_path("target"), NULL, MS_BIND, NULL);
}

static bool some_were_mounted_and_some_refused(const struct result *result)
{
	return result->mounted >= 100 && result->attempts > result->mounted;
}

static bool one_escaped(const struct result *result)
{
	return result->escaped > 0;
}

static void test_ours_never_escapes(void **state)
{
	struct result result = race(bind_ours, some_were_mounted_and_some_refused);

	assert_true(some_were_mounted_and_some_refused(&result));
	assert_int_equal(result.escaped, 0);
}

static void test_a_naive_way_is_caught(void **state)
{
	struct result result = race(bind_naively, one_escaped);

	assert_true(one_escaped(&result));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST_WITHOUT(0, test_ours_never_escapes),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2 | WITHOUT_OPEN_TREE, test_ours_never_escapes),
		SANDBOX_TEST(test_a_naive_way_is_caught),
	};

	return sandbox_run("race", tests, ARRAY_SIZE(tests));
}
