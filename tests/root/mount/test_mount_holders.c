/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_holders - who has a file system in another mount namespace, on the real kernel
 *
 * Each foreign process is a child with a mount namespace of its own that changes it as a test says.
 */
#include "tests/root/foreign_namespaces.h"

#include "base/cleanup.h"

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
int __real_name_to_handle_at(int fd, const char *name, struct file_handle *handle, int *mount_id,
			     int flags);
int __wrap_name_to_handle_at(int fd, const char *name, struct file_handle *handle, int *mount_id,
			     int flags);

static const char *unopened; /* names that begin so cannot be opened: no descriptor is left */

int __wrap_openat(int fd, const char *name, int flags, ...)
{
	if (unopened && strncmp(name, unopened, strlen(unopened)) == 0) {
		errno = EMFILE;
		return -1;
	}
	return __real_openat(fd, name, flags, 0);
}

int __wrap_name_to_handle_at(int fd, const char *name, struct file_handle *handle, int *mount_id,
			     int flags)
{
	if (unopened && strncmp(name, unopened, strlen(unopened)) == 0) {
		errno = EMFILE;
		return -1;
	}
	return __real_name_to_handle_at(fd, name, handle, mount_id, flags);
}

static void expect_holder(pid_t pid, const char *where)
{
	struct mount_holder holder = search_for(pid);
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
	pid = foreign_volume("stranger", MS_PRIVATE, NULL);
	expect_holder(pid, sandbox_path("root/stage"));
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* A process whose first thread ended looks like one that ended, and its others hold on. */
static void test_thread_that_lives_on_is_found(void **state)
{
	struct mount_holder holder;
	pid_t pid;

	mount_volume();
	pid = foreign_volume("stranger", MS_PRIVATE, start_thread);
	end_first_thread(pid);
	holder = search(sandbox_path("root/stage"));
	assert_true(holder.found);
	assert_int_equal(holder.pid, pid);
	(void) close_keep_errno(holder.pid_fd);
	end(pid);
	expect_nobody();
	unmount_volume();
}

static pid_t *visiting; /* the thread that visits; shared */

static void *visit(void *userdata)
{
	pid_t number = (pid_t) syscall(SYS_gettid);

	*visiting = unshare(CLONE_NEWNS) < 0 ? -1 : number;
	for (;;)
		(void) pause();
	return NULL;
}

static int start_visit(void)
{
	unsigned int moments = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, visit, NULL) != 0)
		return -1;
	while (*(volatile pid_t *) visiting == 0 && sandbox_wait(&moments))
		;
	return *visiting > 0 ? umount2(sandbox_path("root/stage"), MNT_DETACH) : -1;
}

static int join_visited(void)
{
	cleanup_close int fd = -EBADF;
	char path[64];

	(void) snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) *visiting);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -1 : setns(fd, CLONE_NEWNS);
}

/* Another search, with a lower pid than who lives in the namespace. */
static void test_visiting_thread_does_not_hide_who_has_it(void **state)
{
	pid_t visitor, pid;

	visiting = mmap(NULL, sizeof(*visiting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_ptr_not_equal(visiting, MAP_FAILED);
	mount_volume();
	visitor = foreign_volume("visitor", MS_PRIVATE, start_visit);
	pid = foreign_volume("stranger", MS_PRIVATE, join_visited);
	expect_holder(pid, sandbox_path("root/stage"));
	end(visitor);
	end(pid);
	expect_nobody();
	unmount_volume();
	assert_int_equal(munmap(visiting, sizeof(*visiting)), 0);
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
	pid = foreign_volume("stranger", MS_PRIVATE, bind_inside);
	expect_holder(pid, sandbox_path("inside"));
	end(pid);
	unmount_volume();
}

static int drop_stage(void)
{
	return umount2(sandbox_path("root/stage"), MNT_DETACH);
}

static int keep_a_part(void)
{
	if (mount(sandbox_path("root/stage/part"), sandbox_path("other"), NULL, MS_BIND, NULL) < 0)
		return -1;
	return drop_stage();
}

/* A volume that is a directory of a file system that everybody has: only who has the directory, or
 * something in it, has the volume. */
static void test_directory_of_a_large_file_system(void **state)
{
	pid_t pid;

	mount_volume();
	assert_return_code(umount2(sandbox_path("root/stage"), 0), errno);
	assert_return_code(mount("large", sandbox_path("inside"), "tmpfs", 0, NULL), errno);
	sandbox_mkdir("inside/vol", 0700);
	sandbox_mkdir("inside/vol/part", 0700);
	sandbox_mkdir("other", 0700);
	assert_return_code(
		mount(sandbox_path("inside/vol"), sandbox_path("root/stage"), NULL, MS_BIND, NULL),
		errno);

	pid = foreign_volume("stranger", MS_PRIVATE, drop_stage);
	expect_nobody();
	end(pid);
	pid = foreign_volume("stranger", MS_PRIVATE, NULL);
	expect_holder(pid, sandbox_path("root/stage"));
	end(pid);
	pid = foreign_volume("stranger", MS_PRIVATE, keep_a_part);
	expect_holder(pid, sandbox_path("other"));
	end(pid);

	unmount_volume();
	assert_return_code(umount2(sandbox_path("inside"), MNT_DETACH), errno);
}

/* What the kernel takes away with podvold's: after its unmount it is gone. */
static void test_slave_goes_with_ours(void **state)
{
	pid_t pid;

	mount_volume();
	pid = foreign_volume("stranger", MS_SLAVE, NULL);
	expect_nobody();
	end(pid);
	unmount_volume();
}

static int become_slave_of_slave(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) < 0)
		return -1;
	(void) foreign_volume("slave", MS_SLAVE, NULL);
	return 0;
}

static void test_slave_of_a_slave_goes_with_ours(void **state)
{
	pid_t pid;

	mount_volume();
	pid = foreign_volume("stranger", MS_SLAVE, become_slave_of_slave);
	expect_nobody();
	end(pid);
	unmount_volume();
}

/* Its copy of the stage goes with podvold's, what it bound elsewhere does not. */
static void test_bind_in_a_slave_is_found(void **state)
{
	pid_t pid;

	mount_volume();
	pid = foreign_volume("stranger", MS_SLAVE, bind_in_slave);
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
	pid = foreign_volume("stranger", MS_PRIVATE, leave_all);
	expect_nobody();
	end(pid);
	unmount_volume();
}

static void test_no_mount_is_found_nowhere(void **state)
{
	pid_t pid = foreign_volume("stranger", MS_PRIVATE, NULL);
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
	pid = foreign_volume("stranger", MS_PRIVATE, NULL);
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

static void bind_here(const char *name)
{
	assert_return_code(
		mount(sandbox_path("root/stage"), sandbox_path(name), NULL, MS_BIND, NULL), errno);
}

/* As kubelet's "still mounted by other references". */
static void test_another_mount_of_ours_is_found(void **state)
{
	struct mount_holder holder;

	mount_volume();
	sandbox_mkdir("other", 0755);
	bind_here("other");
	holder = search(sandbox_path("root/stage"));
	assert_true(holder.found);
	assert_int_equal(holder.how, HELD_HERE);
	assert_int_equal(holder.pid_fd, -EBADF);
	assert_string_equal(holder.where, sandbox_path("other"));
	assert_return_code(umount(sandbox_path("other")), errno);
	expect_nobody();
	/* Another volume over the same file system. */
	sandbox_mkdir("plugins", 0755);
	sandbox_mkdir("plugins/kubernetes.io", 0755);
	sandbox_mkdir("plugins/kubernetes.io/x", 0755);
	bind_here("plugins/kubernetes.io/x");
	expect_nobody();
	assert_return_code(umount(sandbox_path("plugins/kubernetes.io/x")), errno);
	unmount_volume();
}

/* It goes when podvold's goes. */
static void test_a_propagated_mount_of_ours_is_none(void **state)
{
	sandbox_mkdir("again", 0755);
	sandbox_mkdir("twice", 0755);
	assert_return_code(mount(sandbox_path("again"), sandbox_path("again"), NULL, MS_BIND, NULL),
			   errno);
	assert_return_code(mount(NULL, sandbox_path("again"), NULL, MS_SHARED, NULL), errno);
	assert_return_code(mount(sandbox_path("again"), sandbox_path("twice"), NULL, MS_BIND, NULL),
			   errno);
	sandbox_mkdir("again/stage", 0755);
	assert_return_code(mount("volume", sandbox_path("again/stage"), "tmpfs", 0, NULL), errno);
	assert_false(search(sandbox_path("again/stage")).found);
	assert_return_code(umount(sandbox_path("again/stage")), errno);
	assert_return_code(umount(sandbox_path("twice")), errno);
	assert_return_code(umount(sandbox_path("again")), errno);
}

/* Whatever cannot be opened, the answer is never "no process". */
static void test_without_descriptors_nobody_is_no_answer(void **state)
{
	static const char *const names[] = { "cwd", "root", "fd", "fdinfo/", "maps", "mountinfo" };
	struct mount_holder holder = { 0 };
	pid_t pid;

	mount_volume();
	pid = foreign_volume("stranger", 0, NULL);
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

/* Printed, not judged: a busy machine must not fail a test. */
static void test_cost_among_many_processes(void **state)
{
	pid_t crowd[CROWD];
	double alone, many, apart;

	mount_volume();
	alone = milliseconds_of_search();
	for (int i = 0; i < CROWD; i++)
		crowd[i] = foreign_volume("crowd", 0, NULL);
	many = milliseconds_of_search();
	for (int i = 0; i < CROWD; i++)
		end(crowd[i]);
	for (int i = 0; i < CROWD; i++)
		crowd[i] = foreign_volume("crowd", MS_PRIVATE, leave_all);
	apart = milliseconds_of_search();
	for (int i = 0; i < CROWD; i++)
		end(crowd[i]);
	print_message("# a search: %.1f ms; with %d more processes %.1f ms; each in a namespace of "
		      "its own %.1f ms\n",
		      alone, CROWD, many, apart);
	unmount_volume();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_private_copy_is_found),
		SANDBOX_TEST(test_thread_that_lives_on_is_found),
		SANDBOX_TEST(test_visiting_thread_does_not_hide_who_has_it),
		SANDBOX_TEST(test_bind_elsewhere_is_found),
		SANDBOX_TEST(test_directory_of_a_large_file_system),
		SANDBOX_TEST(test_slave_goes_with_ours),
		SANDBOX_TEST(test_slave_of_a_slave_goes_with_ours),
		SANDBOX_TEST(test_bind_in_a_slave_is_found),
		SANDBOX_TEST(test_namespace_without_it_is_none),
		SANDBOX_TEST(test_no_mount_is_found_nowhere),
		SANDBOX_TEST(test_several_at_once),
		SANDBOX_TEST(test_another_mount_of_ours_is_found),
		SANDBOX_TEST(test_a_propagated_mount_of_ours_is_none),
		SANDBOX_TEST(test_without_descriptors_nobody_is_no_answer),
		SANDBOX_TEST(test_cost_among_many_processes),
	};

	return sandbox_run("mount_holders", tests, ARRAY_SIZE(tests));
}
