/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hold_cgroup - cgroups that holds name, and a process id that was given to another process
 *
 * Makes a cgroup of its own in the hierarchy of version 2, mounted in the test's own namespace, and
 * removes it.
 */
#include "tests/root/sandbox.h"

#include "inuse/hold_watch.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

struct world {
	sd_event *event;
	struct hold_watch *watch;
	unsigned int ended;
};

static void on_ended(void *userdata, const char *id)
{
	assert_string_equal(id, "a");
	((struct world *) userdata)->ended++;
}

static void world_init(struct world *world)
{
	*world = (struct world){ 0 };
	assert_int_equal(sd_event_new(&world->event), 0);
	assert_int_equal(hold_watch_new(world->event, 0, on_ended, world, &world->watch), 0);
}

static void world_done(struct world *world)
{
	hold_watch_free(world->watch);
	sd_event_unref(world->event);
}

static void idle(void)
{
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		(void) pause();
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static const char *cgroup(const char *below)
{
	static char path[128];

	(void) snprintf(path, sizeof(path), "/sys/fs/cgroup/podvol-test-%d%s", (int) getpid(),
			below);
	return path;
}

/* The kernel removes the dead from it in its own time. */
static void unmake_cgroup(const char *below)
{
	unsigned int moments = 0;

	while (rmdir(cgroup(below)) < 0 && errno == EBUSY)
		assert_true(sandbox_wait(&moments));
}

static void write_pid(const char *file, pid_t pid)
{
	cleanup_close int fd = open(file, O_WRONLY | O_CLOEXEC);
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", (int) pid);

	assert_return_code(fd, errno);
	assert_int_equal(write(fd, text, (size_t) length), length);
}

/* A process in the cgroup, or in one below it. */
static pid_t process_in(const char *below)
{
	pid_t pid = fork();
	char file[160];

	assert_return_code(pid, errno);
	if (pid == 0)
		idle();
	(void) snprintf(file, sizeof(file), "%s/cgroup.procs", cgroup(below));
	write_pid(file, pid);
	return pid;
}

static int mount_cgroups(void **state)
{
	if (sandbox_setup(state) < 0)
		return -1;
	if (mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) < 0)
		return 0;
	return mkdir(cgroup(""), 0755);
}

static int unmount_cgroups(void **state)
{
	unmake_cgroup("");
	(void) umount("/sys/fs/cgroup");
	return sandbox_teardown(state);
}

static void need_cgroups(void)
{
	if (access(cgroup("/cgroup.events"), R_OK) == 0)
		return;
	print_message("# cgroups of version 2 cannot be mounted here\n");
	skip();
}

static int open_target(const char *path, struct hold_identity *ret, struct failure *reterr)
{
	struct hold hold = { .kind = HOLD_CGROUP, .cgroup = path };
	int fd = -EBADF, r = hold_target_open(&hold, ret, &fd, reterr);

	return r < 0 ? r : fd;
}

static void turn_until_ended(struct world *world)
{
	for (int i = 0; i < 60 && world->ended == 0; i++)
		assert_true(sd_event_run(world->event, 2000000) >= 0);
}

static void watch(struct world *world)
{
	struct hold hold = { .id = "a", .kind = HOLD_CGROUP };
	struct hold_identity identity;
	int fd = open_target(cgroup(""), &identity, NULL);

	assert_true(fd >= 0);
	assert_int_equal(hold_watch_add(world->watch, &hold, fd), 0);
}

/* Also of cgroups below it: a container may divide its own. */
static void test_cgroup_ends_with_its_last_process(void **state)
{
	struct world world;
	pid_t first, second;

	need_cgroups();
	assert_return_code(mkdir(cgroup("/below"), 0755), errno);
	first = process_in("");
	second = process_in("/below");
	world_init(&world);
	watch(&world);
	end(first);
	assert_true(sd_event_run(world.event, 20000) >= 0);
	assert_int_equal(world.ended, 0);
	end(second);
	turn_until_ended(&world);
	assert_int_equal(world.ended, 1);
	world_done(&world);
	unmake_cgroup("/below");
}

/* It is removed before the loop turns. */
static void test_removed_cgroup_is_gone(void **state)
{
	struct hold_identity identity;
	struct world world;
	pid_t pid;

	need_cgroups();
	pid = process_in("");
	world_init(&world);
	watch(&world);
	end(pid);
	unmake_cgroup("");
	assert_int_equal(open_target(cgroup(""), &identity, NULL), -ESRCH);
	turn_until_ended(&world);
	assert_int_equal(world.ended, 1);
	world_done(&world);
}

/* Nothing is taken from a container because podvold has no descriptor left to watch it with. */
static void test_without_descriptors_nothing_ends(void **state)
{
	struct hold hold = { .id = "b", .kind = HOLD_CGROUP };
	struct hold_identity identity;
	struct rlimit limit, tight;
	struct world world;
	pid_t pid;
	int fd, next_fd, r;

	need_cgroups();
	pid = process_in("");
	world_init(&world);
	watch(&world);
	fd = open_target(cgroup(""), &identity, NULL);
	assert_true(fd >= 0);
	assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), errno);
	next_fd = dup(fd); /* it need not be the one after that */
	assert_return_code(next_fd, errno);
	(void) close(next_fd);
	tight = (struct rlimit){ (rlim_t) next_fd, limit.rlim_max };
	assert_return_code(setrlimit(RLIMIT_NOFILE, &tight), errno);
	r = hold_watch_add(world.watch, &hold, fd);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
	assert_int_equal(r, -EMFILE);
	assert_false(hold_watch_has(world.watch, "b"));
	assert_true(hold_watch_has(world.watch, "a"));
	end(pid);
	turn_until_ended(&world);
	assert_int_equal(world.ended, 1);
	world_done(&world);
}

static void test_cgroup_made_anew_is_another_one(void **state)
{
	struct hold_identity first, second;
	pid_t pid;
	int fd;

	need_cgroups();
	pid = process_in("");
	fd = open_target(cgroup(""), &first, NULL);
	assert_true(fd >= 0);
	(void) close(fd);
	end(pid);
	unmake_cgroup("");
	assert_return_code(mkdir(cgroup(""), 0755), errno);
	pid = process_in("");
	fd = open_target(cgroup(""), &second, NULL);
	assert_true(fd >= 0);
	(void) close(fd);
	end(pid);
	assert_true(first.cgroup_id != second.cgroup_id);
}

static void test_what_cannot_be_held_is_refused(void **state)
{
	struct hold_identity identity;
	struct failure why = { 0 };

	need_cgroups();
	assert_int_equal(open_target(cgroup(""), &identity, &why), -ESRCH);
	assert_non_null(strstr(why.text, "there is no process in cgroup"));
	assert_int_equal(open_target(cgroup("/none"), &identity, &why), -ESRCH);
	assert_non_null(strstr(why.text, "not found"));
	/* Something else that is mounted there. */
	assert_return_code(mount("none", cgroup(""), "tmpfs", 0, NULL), errno);
	assert_int_equal(open_target(cgroup(""), &identity, &why), -EINVAL);
	assert_return_code(mkdir(cgroup("/c"), 0755), errno);
	assert_return_code(symlink("c", cgroup("/link")), errno);
	assert_int_equal(open_target(cgroup("/link"), &identity, &why), -EINVAL);
	assert_return_code(umount(cgroup("")), errno);
}

/* A process under a number of our choice, as when numbers have gone round. */
static pid_t process_with_id(pid_t id)
{
	struct clone_args arguments = { .exit_signal = SIGCHLD,
					.set_tid = (uintptr_t) &id,
					.set_tid_size = 1 };
	long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (pid == 0)
		idle();
	return (pid_t) pid;
}

static void test_reused_id_is_another_process(void **state)
{
	struct hold hold = { .kind = HOLD_PROCESS, .cgroup = "" };
	struct hold_identity first, second;
	int fd;

	hold.pid = fork();
	assert_return_code(hold.pid, errno);
	if (hold.pid == 0)
		idle();
	assert_int_equal(hold_target_open(&hold, &first, &fd, NULL), 0);
	(void) close(fd);
	end(hold.pid);
	/* Start times differ by at least 10 ms. */
	(void) nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
	if (process_with_id(hold.pid) < 0) {
		print_message("# no process id can be chosen here: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(hold_target_open(&hold, &second, &fd, NULL), 0);
	(void) close(fd);
	end(hold.pid);
	assert_true(first.start_time < second.start_time);
}

#define CGROUP_TEST(function)                                                                      \
	cmocka_unit_test_setup_teardown(function, mount_cgroups, unmount_cgroups)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CGROUP_TEST(test_cgroup_ends_with_its_last_process),
		CGROUP_TEST(test_removed_cgroup_is_gone),
		CGROUP_TEST(test_without_descriptors_nothing_ends),
		CGROUP_TEST(test_cgroup_made_anew_is_another_one),
		CGROUP_TEST(test_what_cannot_be_held_is_refused),
		SANDBOX_TEST(test_reused_id_is_another_process),
	};

	return sandbox_run("hold_cgroup", tests, ARRAY_SIZE(tests));
}
