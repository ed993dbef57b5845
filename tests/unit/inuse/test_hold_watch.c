/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hold_watch - processes that holds name: who they are, and that their end is reported once
 *
 * Cgroups need root: tests/root/inuse/test_hold_cgroup.c.
 */
#include "inuse/hold_watch.h"

#include "base/cleanup.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

int __real_pidfd_open(pid_t pid, unsigned int flags);
int __wrap_pidfd_open(pid_t pid, unsigned int flags);

static int refused_with; /* errno of pidfd_open; 0: as the kernel says */

int __wrap_pidfd_open(pid_t pid, unsigned int flags)
{
	if (refused_with == 0)
		return __real_pidfd_open(pid, flags);
	errno = refused_with;
	return -1;
}

struct world {
	sd_event *event;
	struct hold_watch *watch;
	char ended[64];
};

static void on_ended(void *userdata, const char *id)
{
	struct world *world = userdata;
	size_t used = strlen(world->ended);

	(void) snprintf(world->ended + used, sizeof(world->ended) - used, "%s ", id);
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

/* What is ready, or becomes so soon when @wait says that something will. */
static void turn(struct world *world, bool wait)
{
	assert_true(sd_event_run(world->event, wait ? 10000000 : 0) >= 0);
}

/* A process that does nothing until it is killed. Its name may be anything. */
static pid_t process(const char *name)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void) prctl(PR_SET_NAME, name);
	for (;;)
		(void) pause();
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static struct hold hold_of(pid_t pid, const char *id)
{
	struct hold hold = { .kind = HOLD_PROCESS, .pid = pid, .cgroup = "" };

	(void) snprintf(hold.id, sizeof(hold.id), "%s", id);
	return hold;
}

static int open_target(pid_t pid, struct hold_identity *ret, struct failure *reterr)
{
	struct hold hold = hold_of(pid, "");
	int fd = -EBADF, r = hold_target_open(&hold, ret, &fd, reterr);

	return r < 0 ? r : fd;
}

static void watch(struct world *world, pid_t pid, const char *id)
{
	struct hold hold = hold_of(pid, id);
	struct hold_identity identity;
	int fd = open_target(pid, &identity, NULL);

	assert_true(fd >= 0);
	assert_int_equal(hold_watch_add(world->watch, &hold, fd), 0);
	assert_true(hold_watch_has(world->watch, id));
}

static void test_end_of_a_process_is_told_once(void **state)
{
	pid_t first = process("first"), second = process("second");
	struct world world;

	world_init(&world);
	watch(&world, first, "a");
	watch(&world, second, "b");
	turn(&world, false);
	assert_string_equal(world.ended, "");

	end(first);
	turn(&world, true);
	turn(&world, false);
	assert_string_equal(world.ended, "a ");
	assert_false(hold_watch_has(world.watch, "a"));
	end(second);
	turn(&world, true);
	assert_string_equal(world.ended, "a b ");
	world_done(&world);
}

/* A zombie is a process that ended, too: it holds nothing any more. */
static void test_zombie_is_gone(void **state)
{
	pid_t pid = process("zombie");
	struct hold_identity identity;
	struct failure why = { 0 };
	siginfo_t info;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(open_target(pid, &identity, &why), -ESRCH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(open_target(pid, &identity, &why), -ESRCH);
	assert_non_null(strstr(why.text, "not found"));
}

static void test_removed_watch_tells_nothing(void **state)
{
	pid_t pid = process("quiet");
	struct world world;

	world_init(&world);
	watch(&world, pid, "a");
	hold_watch_remove(world.watch, "a");
	hold_watch_remove(world.watch, "unknown");
	end(pid);
	turn(&world, false);
	assert_string_equal(world.ended, "");
	world_done(&world);
}

/* The name stands before the start time in /proc/PID/stat and may look like anything. */
static void test_start_time_tells_processes_apart(void **state)
{
	pid_t odd = process(") R 1 (x) 9 9");
	struct hold_identity first, again, own;
	uint64_t ticks = (uint64_t) sysconf(_SC_CLK_TCK), uptime;
	struct timespec now;
	int fd = open_target(odd, &first, NULL);

	assert_true(fd >= 0);
	(void) close(fd);
	fd = open_target(odd, &again, NULL);
	(void) close(fd);
	fd = open_target(getpid(), &own, NULL);
	(void) close(fd);
	end(odd);
	assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &now), 0);
	uptime = (uint64_t) now.tv_sec * ticks;
	assert_int_equal(first.start_time, again.start_time);
	assert_in_range(first.start_time, own.start_time, uptime + ticks);
	assert_in_range(first.start_time, uptime - 60 * ticks, uptime + ticks);
}

static void *idle(void *userdata)
{
	*(pid_t *) userdata = gettid();
	(void) pause();
	return NULL;
}

static void test_thread_is_no_process(void **state)
{
	_Atomic pid_t id = 0;
	struct hold_identity identity;
	struct failure why = { 0 };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, idle, &id), 0);
	while (id == 0)
		(void) sched_yield();
	assert_true(open_target(id, &identity, &why) < 0);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_missing_call_is_told(void **state)
{
	static const int errors[] = { ENOSYS, EPERM };
	struct hold_identity identity;
	struct failure why = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		refused_with = errors[i];
		assert_int_equal(open_target(getpid(), &identity, &why), -EOPNOTSUPP);
		assert_non_null(strstr(why.text, "has no pidfd_open; hold by cgroup instead"));
	}
	refused_with = EMFILE;
	assert_int_equal(open_target(getpid(), &identity, &why), -EMFILE);
	refused_with = 0;
}

static void test_only_paths_beneath_the_root_of_cgroups(void **state)
{
	static const char *const paths[] = { "/tmp",
					     "relative",
					     "/sys/fs/cgroup",
					     "/sys/fs/cgroup/",
					     "/sys/fs/cgroups/x",
					     "/sys/fs/cgroup/../../../tmp",
					     "/sys/fs/cgroup//" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct hold hold = { .kind = HOLD_CGROUP, .cgroup = paths[i] };
		struct hold_identity identity;
		struct failure why = { 0 };
		int fd = -EBADF;

		assert_int_equal(hold_target_open(&hold, &identity, &fd, &why), -EINVAL);
		assert_non_null(strstr(why.text, "is not a cgroup of version 2"));
		assert_int_equal(fd, -EBADF);
	}
}

static void test_process_name_now(void **state)
{
	pid_t pid = process("fifteen-letters-and-more");
	char name[PROCESS_NAME_BYTES];

	/* The child names itself; until then it has its parent's. */
	do
		process_name(pid, name);
	while (strncmp(name, "fifteen", 7) != 0);
	assert_string_equal(name, "fifteen-letters");
	end(pid);
	process_name(pid, name);
	assert_string_equal(name, "?");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end_of_a_process_is_told_once),
		cmocka_unit_test(test_zombie_is_gone),
		cmocka_unit_test(test_removed_watch_tells_nothing),
		cmocka_unit_test(test_start_time_tells_processes_apart),
		cmocka_unit_test(test_thread_is_no_process),
		cmocka_unit_test(test_missing_call_is_told),
		cmocka_unit_test(test_only_paths_beneath_the_root_of_cgroups),
		cmocka_unit_test(test_process_name_now),
	};

	return cmocka_run_group_tests_name("hold_watch", tests, NULL, NULL);
}
