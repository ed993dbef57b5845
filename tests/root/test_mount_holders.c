/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_holders - who has a file system in another mount namespace, on the real kernel
 *
 * Each stranger is a child with a mount namespace of its own that changes it as a test says.
 */
#include "sandbox.h"

#include "base/cleanup.h"
#include "mount/mount_holders.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

enum { CROWD = 300 };

int __real_openat(int fd, const char *name, int flags, ...);
int __wrap_openat(int fd, const char *name, int flags, ...);

static const char *unopened; /* names that begin so cannot be opened: no descriptor is left */

int __wrap_openat(int fd, const char *name, int flags, ...)
{
	if (unopened && strncmp(name, unopened, strlen(unopened)) == 0) {
		errno = EMFILE;
		return -1;
	}
	return __real_openat(fd, name, flags, 0);
}

/* A namespace whose mounts get @propagation, then @change; waits for its end. */
static pid_t stranger(const char *name, unsigned long propagation, int (*change)(void))
{
	int ready[2];
	char byte = 1;
	pid_t pid;

	assert_return_code(pipe2(ready, O_CLOEXEC), errno);
	pid = fork();
	assert_return_code(pid, errno);
	if (pid == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void) prctl(PR_SET_NAME, name);
		if (propagation && unshare(CLONE_NEWNS) == 0 &&
		    mount(NULL, "/", NULL, MS_REC | propagation, NULL) == 0)
			byte = 0;
		if (!propagation)
			byte = 0;
		if (change && change() < 0)
			byte = 2;
		(void) !write(ready[1], &byte, 1);
		for (;;)
			(void) pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 0);
	(void) close(ready[0]);
	(void) close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A shared directory with a file system mounted in it, as the root directory and a stage are. */
static void mount_volume(void)
{
	sandbox_mkdir("root", 0755);
	assert_return_code(mount(sandbox_path("root"), sandbox_path("root"), NULL, MS_BIND, NULL),
			   errno);
	assert_return_code(mount(NULL, sandbox_path("root"), NULL, MS_SHARED, NULL), errno);
	sandbox_mkdir("root/stage", 0755);
	sandbox_mkdir("inside", 0755);
	assert_return_code(mount("volume", sandbox_path("root/stage"), "tmpfs", 0, NULL), errno);
}

static void unmount_volume(void)
{
	(void) umount2(sandbox_path("root/stage"), MNT_DETACH);
	assert_return_code(umount2(sandbox_path("root"), MNT_DETACH), errno);
}

static struct mount_holder search(const char *mount_point)
{
	struct mount_holder holder = { .mount_point = mount_point };
	struct failure why = { 0 };

	if (mount_holders_search(&holder, 1, &why) < 0)
		fail_msg("%s", why.text);
	return holder;
}

static void expect_nobody(void)
{
	struct mount_holder holder = search(sandbox_path("root/stage"));

	if (holder.found)
		fail_msg("process %d '%s' at '%s'", (int) holder.pid, holder.command, holder.where);
	assert_int_equal(holder.pid_fd, -EBADF);
}

static void expect_holder(pid_t pid, const char *where)
{
	struct mount_holder holder = search(sandbox_path("root/stage"));
	struct pollfd poll_fd = { .fd = holder.pid_fd, .events = POLLIN };

	assert_true(holder.found);
	assert_int_equal(holder.pid, pid);
	assert_string_equal(holder.where, where);
	assert_string_equal(holder.command, "stranger");
	assert_true(holder.mount_namespace > 0);
	assert_true(holder.pid_fd >= 0);
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	(void) close(holder.pid_fd);
}

static void test_private_copy_is_found(void **state)
{
	pid_t pid;

	mount_volume();
	expect_nobody();
	pid = stranger("stranger", MS_PRIVATE, NULL);
	expect_holder(pid, sandbox_path("root/stage"));
	end(pid);
	expect_nobody();
	unmount_volume();
}

static void end_this_thread(int number)
{
	(void) syscall(SYS_exit, 0);
}

static void *live_on(void *userdata)
{
	for (;;)
		(void) pause();
	return NULL;
}

/* SIGUSR1 ends the first thread alone. */
static int start_thread(void)
{
	sigset_t signals;
	pthread_t thread;

	(void) sigemptyset(&signals);
	(void) sigaddset(&signals, SIGUSR1);
	(void) pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (pthread_create(&thread, NULL, live_on, NULL) != 0)
		return -1;
	(void) signal(SIGUSR1, end_this_thread);
	(void) pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	return 0;
}

/* A process whose first thread ended looks like one that ended, and its others hold on. */
static void test_thread_that_lives_on_is_found(void **state)
{
	struct mount_holder holder;
	char path[64], link[64];
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", MS_PRIVATE, start_thread);
	assert_return_code(kill(pid, SIGUSR1), errno);
	(void) snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) pid);
	for (int i = 0; i < 1000 && readlink(path, link, sizeof(link)) >= 0; i++)
		(void) nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	assert_int_equal(readlink(path, link, sizeof(link)), -1);
	holder = search(sandbox_path("root/stage"));
	assert_true(holder.found);
	assert_int_equal(holder.pid, pid);
	(void) close_keep_errno(holder.pid_fd);
	end(pid);
	expect_nobody();
	unmount_volume();
}

static int bind_inside(void)
{
	if (mount(sandbox_path("root/stage"), sandbox_path("inside"), NULL, MS_BIND, NULL) < 0)
		return -1;
	return umount2(sandbox_path("root/stage"), MNT_DETACH);
}

/* As a container has it: bound elsewhere, and the host's copy taken away. */
static void test_bind_elsewhere_is_found(void **state)
{
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", MS_PRIVATE, bind_inside);
	expect_holder(pid, sandbox_path("inside"));
	end(pid);
	unmount_volume();
}

/* What the kernel takes away with ours: after our unmount it is gone. */
static void test_slave_goes_with_ours(void **state)
{
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", MS_SLAVE, NULL);
	expect_nobody();
	end(pid);
	unmount_volume();
}

static int become_slave_of_slave(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) < 0)
		return -1;
	if (fork() == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
			_exit(1);
		for (;;)
			(void) pause();
	}
	return 0;
}

static void test_slave_of_a_slave_goes_with_ours(void **state)
{
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", MS_SLAVE, become_slave_of_slave);
	(void) nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	expect_nobody();
	end(pid);
	unmount_volume();
}

static int bind_in_slave(void)
{
	return mount(sandbox_path("root/stage"), sandbox_path("inside"), NULL, MS_BIND, NULL);
}

/* Its copy of the stage goes with ours, what it bound elsewhere does not. */
static void test_bind_in_a_slave_is_found(void **state)
{
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", MS_SLAVE, bind_in_slave);
	expect_holder(pid, sandbox_path("inside"));
	end(pid);
	unmount_volume();
}

static int leave_all(void)
{
	return umount2(sandbox_path("root/stage"), MNT_DETACH);
}

static void test_namespace_without_it_is_none(void **state)
{
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", MS_PRIVATE, leave_all);
	expect_nobody();
	end(pid);
	unmount_volume();
}

static void test_no_mount_is_found_nowhere(void **state)
{
	pid_t pid = stranger("stranger", MS_PRIVATE, NULL);
	struct mount_holder holder;

	holder = search(sandbox_path("never"));
	assert_false(holder.found);
	holder = (struct mount_holder){ .device = 0 };
	assert_true(mount_holders_search(&holder, 1, NULL) >= 0);
	assert_false(holder.found);
	end(pid);
}

static void test_several_at_once(void **state)
{
	struct mount_holder holders[3] = { 0 };
	struct stat st;
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", MS_PRIVATE, NULL);
	assert_return_code(stat(sandbox_path("root/stage"), &st), errno);
	holders[0].mount_point = sandbox_path("never");
	holders[1].mount_point = sandbox_path("root/stage");
	holders[2].device = st.st_dev;
	assert_true(mount_holders_search(holders, 3, NULL) >= 0);
	assert_false(holders[0].found);
	for (int i = 1; i < 3; i++) {
		assert_true(holders[i].found);
		assert_int_equal(holders[i].pid, pid);
		(void) close(holders[i].pid_fd);
	}
	end(pid);
	unmount_volume();
}

/* ---- namespaces that no process is in ---- */

/* Another program that searches just now has the namespace open for a moment, too: again then. */
static struct mount_holder search_for(pid_t pid)
{
	struct mount_holder holder = search(sandbox_path("root/stage"));

	for (int i = 0; i < 100 && holder.found && holder.pid != pid; i++) {
		(void) close_keep_errno(holder.pid_fd);
		holder = search(sandbox_path("root/stage"));
	}
	return holder;
}

static void expect_text(const char *format, pid_t pid)
{
	struct mount_holder holder = search_for(pid);
	char text[MOUNT_HOLDER_TEXT_BYTES], wanted[MOUNT_HOLDER_TEXT_BYTES];
	uint64_t mount_namespace = holder.mount_namespace;

	assert_true(holder.found);
	assert_int_equal(holder.pid, pid);
	assert_true(pid == 0 || holder.pid_fd >= 0);
	(void) close_keep_errno(holder.pid_fd);
	mount_holder_print(&holder, text);
	if (pid > 0 && mount_namespace)
		(void) snprintf(wanted, sizeof(wanted), format, (int) pid, mount_namespace,
				sandbox_path("root/stage"));
	else if (pid > 0)
		(void) snprintf(wanted, sizeof(wanted), format, (int) pid);
	else
		(void) snprintf(wanted, sizeof(wanted), format, mount_namespace,
				sandbox_path("namespace"), sandbox_path("root/stage"));
	assert_string_equal(text, wanted);
}

static int namespace_of_ended; /* a descriptor */

/* In the child: a namespace of somebody who ended, kept by a descriptor alone. */
static int keep_by_descriptor(void)
{
	pid_t pid = stranger("maker", MS_PRIVATE, NULL);
	char path[64];

	(void) snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) pid);
	namespace_of_ended = open(path, O_RDONLY | O_CLOEXEC);
	end(pid);
	return namespace_of_ended;
}

static void test_namespace_kept_by_a_descriptor(void **state)
{
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", 0, keep_by_descriptor);
	expect_text("process %d 'stranger' keeps mount namespace %" PRIu64
		    ", which has it mounted at '%s'",
		    pid);
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* Kernels refuse to mount the file of a namespace whose number is not above ours, and recent ones
 * give each processor a batch of numbers: above ours is surely what our own processor gives next.
 */
static int keep_namespace_of_processor(int processor)
{
	pid_t pid;
	cpu_set_t only;
	char path[64];
	int r;

	CPU_ZERO(&only);
	CPU_SET(processor, &only);
	assert_return_code(sched_setaffinity(0, sizeof(only), &only), errno);
	pid = stranger("stranger", MS_PRIVATE, NULL);
	(void) snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) pid);
	r = mount(path, sandbox_path("namespace"), NULL, MS_BIND, NULL);
	end(pid);
	return r;
}

/* We do not know on which of the processors our own namespace was made: each in turn. */
static void keep_by_mount(void)
{
	cpu_set_t allowed;
	int r = -1;

	assert_return_code(sched_getaffinity(0, sizeof(allowed), &allowed), errno);
	for (int i = 0; i < CPU_SETSIZE && r < 0; i++)
		if (CPU_ISSET(i, &allowed))
			r = keep_namespace_of_processor(i);
	assert_return_code(sched_setaffinity(0, sizeof(allowed), &allowed), errno);
	assert_return_code(r, errno);
}

static void test_namespace_kept_by_a_mount(void **state)
{
	mount_volume();
	sandbox_write("namespace", "");
	keep_by_mount();
	expect_text("mount namespace %" PRIu64 ", kept at '%s', has it mounted at '%s'", 0);
	assert_return_code(umount2(sandbox_path("namespace"), 0), errno);
	expect_nobody();
	unmount_volume();
}

static void *leave_alone(void *userdata)
{
	int *ready = userdata;
	char byte = unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;

	(void) !write(ready[1], &byte, 1);
	for (;;)
		(void) pause();
	return NULL;
}

static int let_a_thread_leave(void)
{
	static int ready[2];
	pthread_t thread;
	char byte = 0;

	if (pipe(ready) < 0 || pthread_create(&thread, NULL, leave_alone, ready) != 0)
		return -1;
	return read(ready[0], &byte, 1) == 1 && byte == 1 ? 0 : -1;
}

static void test_namespace_of_a_single_thread(void **state)
{
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", 0, let_a_thread_leave);
	expect_text("process %d 'stranger' has it mounted at '%3$s' in mount namespace %2$" PRIu64,
		    pid);
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* ---- mounts that are in no namespace ---- */

/* A second mount of the same file system, whose users stay when it is detached. */
static int open_there(void)
{
	return open(sandbox_path("inside/file"), O_RDONLY | O_CLOEXEC);
}

static int stand_there(void)
{
	return chdir(sandbox_path("inside"));
}

static int map_there(void)
{
	int fd = open_there();
	void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? -1 : close(fd);
}

static void check_detached(int (*take)(void), const char *text)
{
	pid_t pid;

	mount_volume();
	sandbox_write("root/stage/file", "text");
	assert_int_equal(bind_in_slave(), 0);
	pid = stranger("stranger", 0, take);
	expect_nobody(); /* our own namespace has it: the kernel would say EBUSY there */
	assert_return_code(umount2(sandbox_path("inside"), MNT_DETACH), errno);
	expect_text(text, pid);
	end(pid);
	expect_nobody();
	unmount_volume();
}

static void test_open_file_of_a_detached_mount(void **state)
{
	check_detached(open_there,
		       "process %d 'stranger' uses '/file' of it, which is mounted nowhere any "
		       "more");
}

static void test_directory_of_a_detached_mount(void **state)
{
	check_detached(stand_there,
		       "process %d 'stranger' uses '/' of it, which is mounted nowhere any more");
}

static void test_map_of_a_detached_mount(void **state)
{
	check_detached(map_there,
		       "process %d 'stranger' uses '/file' of it, which is mounted nowhere any "
		       "more");
}

/* Whatever cannot be opened, the answer is never "nobody". */
static void test_without_descriptors_nobody_is_no_answer(void **state)
{
	static const char *const names[] = { "cwd", "root", "fd", "fdinfo/", "maps", "mountinfo" };
	struct mount_holder holder = { 0 };
	pid_t pid;

	mount_volume();
	pid = stranger("stranger", 0, NULL);
	holder.mount_point = sandbox_path("root/stage");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		unopened = names[i];
		assert_int_equal(mount_holders_search(&holder, 1, NULL), -EMFILE);
		assert_false(holder.found);
	}
	unopened = NULL;
	expect_nobody();
	end(pid);
	unmount_volume();
}

static double milliseconds_of_search(void)
{
	struct timespec before, after;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &before), 0);
	expect_nobody();
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &after), 0);
	return (double) (after.tv_sec - before.tv_sec) * 1e3 +
	       (double) (after.tv_nsec - before.tv_nsec) / 1e6;
}

/* Told, not judged: a busy machine must not fail a test. */
static void test_cost_among_many_processes(void **state)
{
	pid_t crowd[CROWD];
	double alone, many, apart;

	mount_volume();
	alone = milliseconds_of_search();
	for (int i = 0; i < CROWD; i++)
		crowd[i] = stranger("crowd", 0, NULL);
	many = milliseconds_of_search();
	for (int i = 0; i < CROWD; i++)
		end(crowd[i]);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = stranger("crowd", MS_PRIVATE, leave_all);
	apart = milliseconds_of_search();
	for (int i = 0; i < CROWD; i++)
		end(crowd[i]);
	print_message("# a search: %.1f ms; with %d more processes %.1f ms; each in a namespace of "
		      "its own %.1f ms\n",
		      alone, CROWD, many, apart);
	assert_true(apart < 5000);
	unmount_volume();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_private_copy_is_found),
		SANDBOX_TEST(test_thread_that_lives_on_is_found),
		SANDBOX_TEST(test_bind_elsewhere_is_found),
		SANDBOX_TEST(test_slave_goes_with_ours),
		SANDBOX_TEST(test_slave_of_a_slave_goes_with_ours),
		SANDBOX_TEST(test_bind_in_a_slave_is_found),
		SANDBOX_TEST(test_namespace_without_it_is_none),
		SANDBOX_TEST(test_no_mount_is_found_nowhere),
		SANDBOX_TEST(test_several_at_once),
		SANDBOX_TEST(test_namespace_kept_by_a_descriptor),
		SANDBOX_TEST(test_namespace_kept_by_a_mount),
		SANDBOX_TEST(test_namespace_of_a_single_thread),
		SANDBOX_TEST(test_open_file_of_a_detached_mount),
		SANDBOX_TEST(test_directory_of_a_detached_mount),
		SANDBOX_TEST(test_map_of_a_detached_mount),
		SANDBOX_TEST(test_without_descriptors_nobody_is_no_answer),
		SANDBOX_TEST(test_cost_among_many_processes),
	};

	return sandbox_run("mount_holders", tests, ARRAY_SIZE(tests));
}
