/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_keeps_data - random lives of volumes: whatever happens, no byte of a user's is lost
 *
 *   test_keeps_data [SEQUENCES [SEED]]
 *
 * A sequence is some set-ups and teardowns of two pods' volumes (a local directory, an emptyDir on
 * disk, one in memory), each of them perhaps killed at any call that changes the world, mixed with
 * what users and attackers do: files in use, mounts below a volume, mounts made while it is taken
 * down, directories replaced by symbolic links, inside a volume and above it. At its end the
 * obstacles go, everything is taken down, and the trees of users are compared, byte for byte, name
 * for name. A failure prints the number of its sequence: "test_keeps_data 1 NUMBER" replays it.
 */
#include "tests/root/user_trees.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	CHECK_USEC = 8 * USEC_PER_SEC, /* how long it runs when no number is given */
	STEPS_MAX = 14,
	KILL_CALLS_MAX = 24,
	TRIES_MAX = 3,
};

static unsigned long sequences_wanted; /* 0: as many as the time allows */
static unsigned long first_seed = 1;

/* ---- a generator of its own: a sequence is its seed ---- */

static uint64_t random_state;
static unsigned long sequence; /* the present one */

static unsigned int draw(unsigned int below)
{
	random_state += 0x9e3779b97f4a7c15;
	uint64_t z = random_state;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (unsigned int) ((z ^ (z >> 31)) % below);
}

/* ---- a kill before the nth call that changes the world ---- */

static unsigned int calls_left; /* 0: none is killed */

static void count_call(void)
{
	if (calls_left > 0 && --calls_left == 0)
		_exit(9); /* to the kernel the same as a SIGKILL */
}

#define KILLED_BEFORE(type, name, parameters, arguments)                                           \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		count_call();                                                                      \
		return __real_##name arguments;                                                    \
	}

KILLED_BEFORE(int, mkdirat, (int fd, const char *name, mode_t mode), (fd, name, mode))
KILLED_BEFORE(int, unlinkat, (int fd, const char *name, int flags), (fd, name, flags))
KILLED_BEFORE(int, umount2, (const char *path, int flags), (path, flags))
KILLED_BEFORE(int, move_mount,
	      (int from, const char *name, int to, const char *to_name, unsigned int flags),
	      (from, name, to, to_name, flags))
KILLED_BEFORE(int, fsmount, (int fd, unsigned int flags, unsigned int attributes),
	      (fd, flags, attributes))

/* ---- the volumes ---- */

enum { VOLUMES = 6 };

static struct test_volume volumes[VOLUMES];
static const char *const pod_uids[] = { "u1", "u2" };
static char targets[VOLUMES][96]; /* below the sandbox */

static void init_volumes(void)
{
	for (unsigned int i = 0; i < VOLUMES; i++) {
		struct test_volume *volume = &volumes[i];
		const char *uid = pod_uids[i / 3];

		if (i % 3 == 0) {
			test_volume_init(volume, "kubernetes.io/local-volume", true);
			volume->pv.local_path = sandbox_path("users/disk");
			volume->pv.local_path = strdup(volume->pv.local_path);
			volume->pv.source = PV_SOURCE_LOCAL;
		} else {
			test_volume_init(volume, "kubernetes.io/empty-dir", false);
			volume->source.source = SOURCE_EMPTY_DIR;
			volume->source.name = i % 3 == 1 ? "scratch" : "fast";
			volume->source.medium = i % 3 == 1 ? "" : "Memory";
			volume->spec.name = volume->request.volume_name = volume->source.name;
		}
		volume->request.pod_uid = uid;
		(void) snprintf(targets[i], sizeof(targets[i]), "root/pods/%s/volumes/%s/%s", uid,
				i % 3 == 0 ? "kubernetes.io~local-volume"
					   : "kubernetes.io~empty-dir",
				volume->spec.name);
	}
}

static void free_volumes(void)
{
	for (unsigned int i = 0; i < VOLUMES; i++) {
		if (i % 3 == 0)
			free((char *) volumes[i].pv.local_path);
		test_volume_done(&volumes[i]);
	}
}

static int run(struct test_volume *volume, bool up)
{
	struct stage_list list = { 0 };
	int result;

	volume->report = (struct stage_report){ 0 };
	result = (up ? volume->plugin->new_mounter : volume->plugin->new_unmounter)(
		&volume->request, &list, &volume->report.failure);
	if (result < 0)
		return result;
	result = STAGE_NEXT;
	for (size_t i = 0; i < list.count && result == STAGE_NEXT; i++)
		result = list.stages[i].run(list.data, &volume->report);
	stage_list_done(&list);
	return result;
}

static void run_and_kill(struct test_volume *volume, bool up)
{
	unsigned int calls = 1 + draw(KILL_CALLS_MAX);
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		calls_left = calls;
		(void) run(volume, up);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* ---- what users and attackers do ---- */

enum { OBSTACLES_MAX = STEPS_MAX };

static int held_fds[OBSTACLES_MAX];
static size_t held_count;
static char replaced[OBSTACLES_MAX][128]; /* directories that are symbolic links now */
static size_t replaced_count;

static bool is_directory(const char *relative)
{
	struct stat status;

	return lstat(sandbox_path(relative), &status) == 0 && S_ISDIR(status.st_mode);
}

/* Is the volume's directory there, and reached without a link of podvold's? */
static bool is_there(unsigned int index)
{
	for (size_t i = 0; i < replaced_count; i++)
		if (strncmp(targets[index], replaced[i], strlen(replaced[i])) == 0)
			return false;
	return is_directory(targets[index]);
}

static void use_a_file(unsigned int index)
{
	int fd = open(sandbox_path(targets[index]), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		held_fds[held_count++] = fd;
}

static void mount_below(unsigned int index)
{
	char below[128];

	(void) snprintf(below, sizeof(below), "%s/nested", targets[index]);
	if (index % 3 == 0 || !is_there(index))
		return; /* users' own directory: nothing is made in there */
	(void) mkdir(sandbox_path(below), 0755);
	(void) mount(sandbox_path("users/outside"), sandbox_path(below), NULL, MS_BIND, NULL);
}

static void write_files(unsigned int index)
{
	static const char *const names[] = { "a", "b", "deep/c" };
	char path[128];

	if (index % 3 == 0 || !is_there(index))
		return;
	(void) snprintf(path, sizeof(path), "%s/deep", targets[index]);
	(void) mkdir(sandbox_path(path), 0755);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", targets[index], names[i]);
		int fd =
			open(sandbox_path(path), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

		if (fd >= 0)
			(void) close(fd);
	}
}

/* Within an emptyDir: its content is podvol's to remove, what it leads to is not. */
static void link_inside(unsigned int index)
{
	char path[128];

	if (index % 3 == 0 || !is_there(index))
		return;
	(void) snprintf(path, sizeof(path), "%s/link%u", targets[index], draw(3));
	(void) symlink(sandbox_path("users/outside"), sandbox_path(path));
}

/* The volume's own directory, or the one above it, leads to a user's now. */
static void replace_by_link(unsigned int index)
{
	char path[128], aside[136];

	(void) snprintf(path, sizeof(path), "%s", targets[index]);
	if (draw(2) == 0)
		*strrchr(path, '/') = '\0';
	if (!is_there(index) || !is_directory(path) || sandbox_mounts_below(sandbox_path(path)) > 0)
		return;
	(void) snprintf(aside, sizeof(aside), "%s.aside", path);
	if (rename(sandbox_path(path), sandbox_path(aside)) < 0)
		return;
	assert_return_code(symlink(sandbox_path("users/outside"), sandbox_path(path)), errno);
	(void) snprintf(replaced[replaced_count++], sizeof(replaced[0]), "%s", path);
}

static atomic_bool stop_mounting;

static void *mount_and_unmount(void *userdata)
{
	const char *below = userdata;

	while (!atomic_load(&stop_mounting)) {
		if (mount("users", below, NULL, MS_BIND, NULL) == 0)
			(void) umount2(below, MNT_DETACH | UMOUNT_NOFOLLOW);
		(void) sched_yield();
	}
	return NULL;
}

/* A user's directory is mounted in the emptyDir again and again while it is removed. */
static void take_down_while_mounting(unsigned int index)
{
	char below[160], source[128];
	pthread_t thread;

	if (index % 3 == 0 || !is_there(index))
		return;
	(void) snprintf(below, sizeof(below), "%s/%s/race", sandbox_dir(), targets[index]);
	(void) snprintf(source, sizeof(source), "%s", sandbox_path("users"));
	(void) mkdir(below, 0755);
	atomic_store(&stop_mounting, false);
	assert_return_code(chdir(sandbox_dir()), errno); /* "users" */
	assert_int_equal(pthread_create(&thread, NULL, mount_and_unmount, below), 0);
	(void) run(&volumes[index], false);
	atomic_store(&stop_mounting, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_return_code(chdir("/"), errno);
}

/* Everything that stands in the way of a teardown, undone. */
static void clear_obstacles(void)
{
	while (held_count > 0)
		(void) close(held_fds[--held_count]);
	while (replaced_count > 0) {
		const char *path = replaced[--replaced_count];
		char aside[136];

		(void) snprintf(aside, sizeof(aside), "%s.aside", path);
		if (unlink(sandbox_path(path)) < 0)
			fail_msg("sequence %lu: the link '%s' is gone: %s", sequence, path,
				 strerror(errno));
		if (rename(sandbox_path(aside), sandbox_path(path)) < 0)
			fail_msg("sequence %lu: '%s' cannot be put back: %s", sequence, aside,
				 strerror(errno));
	}
	for (unsigned int i = 0; i < VOLUMES; i++) {
		char below[sizeof(targets) + 16];

		(void) snprintf(below, sizeof(below), "%s/nested", targets[i]);
		while (umount2(sandbox_path(below), MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
			;
	}
}

/* ---- a sequence ---- */

static void step(void)
{
	unsigned int index = draw(VOLUMES);
	struct test_volume *volume = &volumes[index];

	switch (draw(12)) {
	case 0:
	case 1:
	case 2:
		(void) run(volume, true);
		break;
	case 3:
	case 4:
		(void) run(volume, false);
		break;
	case 5:
		run_and_kill(volume, true);
		break;
	case 6:
		run_and_kill(volume, false);
		break;
	case 7:
		use_a_file(index);
		break;
	case 8:
		mount_below(index);
		break;
	case 9:
		write_files(index);
		link_inside(index);
		break;
	case 10:
		replace_by_link(index);
		break;
	case 11:
		take_down_while_mounting(index);
		break;
	}
}

static bool take_all_down(void)
{
	bool done = true;

	for (unsigned int i = 0; i < VOLUMES; i++) {
		int result = -EBUSY;

		/* A mount below may have been hidden by the volume's own until that went. */
		for (int try = 0; try < TRIES_MAX && result < 0; try++) {
			clear_obstacles();
			result = run(&volumes[i], false);
		}
		if (result < 0) {
			print_message("# '%s' does not go: %s\n", targets[i],
				      volumes[i].report.failure.text);
			done = false;
		}
	}
	return done;
}

static void run_sequence(unsigned long seed, const char *before)
{
	unsigned int steps;
	bool gone;

	sequence = random_state = seed;
	steps = 3 + draw(STEPS_MAX - 3);
	while (steps-- > 0)
		step();
	gone = take_all_down();
	if (!gone || sandbox_mounts_below(sandbox_path("root")) > 0 ||
	    is_directory("root/pods/u1") || is_directory("root/pods/u2"))
		fail_msg("sequence %lu: something of it is left", seed);
	if (!user_trees_same(before, sandbox_path("users")))
		fail_msg("sequence %lu: a tree of a user has changed", seed);
}

static void test_random_lives(void **state)
{
	uint64_t until_usec = monotonic_usec() + CHECK_USEC;
	unsigned long count = 0;
	char *before;

	sandbox_mkdir("users", 0755);
	user_trees_make("users/disk");
	user_trees_make("users/outside");
	user_trees_make("users/outside/scratch"); /* what a followed link would lead to */
	user_trees_make("users/outside/fast");
	user_trees_make("users/outside/pv1");
	before = user_trees_print(sandbox_path("users"));
	init_volumes();
	while (sequences_wanted > 0 ? count < sequences_wanted : monotonic_usec() < until_usec)
		run_sequence(first_seed + count++, before);
	print_message("# %lu sequences from number %lu, nothing lost\n", count, first_seed);
	free_volumes();
	free(before);
}

/* The comparison itself: a byte, a mode, a name, a link that differ are seen. */
static void test_a_change_is_seen(void **state)
{
	char *before;

	sandbox_mkdir("users", 0755);
	user_trees_make("users/disk");
	before = user_trees_print(sandbox_path("users"));
	assert_true(user_trees_same(before, sandbox_path("users")));
	sandbox_write("users/disk/file1", "other");
	assert_false(user_trees_same(before, sandbox_path("users")));
	user_trees_make("users/disk");
	assert_true(user_trees_same(before, sandbox_path("users")));
	assert_return_code(chmod(sandbox_path("users/disk/file1"), 0600), errno);
	assert_false(user_trees_same(before, sandbox_path("users")));
	assert_return_code(chmod(sandbox_path("users/disk/file1"), 0644), errno);
	assert_return_code(unlink(sandbox_path("users/disk/link")), errno);
	assert_false(user_trees_same(before, sandbox_path("users")));
	free(before);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_a_change_is_seen),
		SANDBOX_TEST(test_random_lives),
	};

	if (argc > 1)
		sequences_wanted = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = strtoul(argv[2], NULL, 10);
	return sandbox_run("keeps_data", tests, ARRAY_SIZE(tests));
}
