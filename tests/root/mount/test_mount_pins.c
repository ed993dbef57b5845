/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mount_pins - who keeps a file system in a mount namespace without a process, or in none, on
 * the real kernel
 */
#include "tests/root/file_systems.h"
#include "tests/root/foreign_namespaces.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- namespaces that no process is in ---- */

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

/* In the child: a namespace of a process that ended, kept by a descriptor alone. */
static int keep_by_descriptor(void)
{
	pid_t pid = foreign_volume("maker", MS_PRIVATE, NULL);
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
	pid = foreign_volume("stranger", 0, keep_by_descriptor);
	expect_text("process %d 'stranger' keeps mount namespace %" PRIu64
		    ", which has it mounted at '%s'",
		    pid);
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* Kernels refuse to mount the file of a namespace whose number is not above its own, and recent
 * ones give each processor a batch of numbers: above it is surely what this processor gives next.
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
	pid = foreign_volume("stranger", MS_PRIVATE, NULL);
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
	pid = foreign_volume("stranger", 0, let_a_thread_leave);
	expect_text("process %d 'stranger' has it mounted at '%3$s' in mount namespace %2$" PRIu64,
		    pid);
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* ---- of local users ---- */

enum { OTHER_UID = 65534, FLOOD = 8300 };

static int leave_as_user(void)
{
	if (setgid(OTHER_UID) < 0 || setuid(OTHER_UID) < 0 ||
	    unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -1;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* As "unshare -Um" makes it. */
static void test_user_namespace_and_owner_are_named(void **state)
{
	struct mount_holder holder;
	char text[MOUNT_HOLDER_TEXT_BYTES], wanted[160];
	pid_t pid;

	mount_volume();
	assert_return_code(chmod(sandbox_dir(), 0755), errno);
	pid = foreign_volume("stranger", 0, leave_as_user);
	holder = search_for(pid);
	assert_true(holder.found);
	assert_int_equal(holder.uid, OTHER_UID);
	assert_true(holder.has_owner);
	assert_int_equal(holder.owner, OTHER_UID);
	assert_true(holder.user_namespace > 0);
	(void) close_keep_errno(holder.pid_fd);
	mount_holder_print(&holder, text);
	(void) snprintf(wanted, sizeof(wanted),
			"process %d 'stranger' (uid %d, user namespace %" PRIu64 " of uid %d) has",
			(int) pid, OTHER_UID, holder.user_namespace, OTHER_UID);
	assert_non_null(strstr(text, wanted));
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* Thousands of namespaces, each kept by a descriptor alone. */
static int make_flood(void)
{
	const struct rlimit limit = { FLOOD + 64, FLOOD + 64 };

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	for (int i = 0; i < FLOOD; i++)
		if (unshare(CLONE_NEWNS) < 0 ||
		    open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC) < 0)
			return -1;
	return 0;
}

/* With sanitizers on a busy machine it takes minutes, and says how far it is. */
static void test_flood_of_namespaces_fails_no_search(void **state)
{
	struct mount_holder holder;
	pid_t pid;

	mount_volume();
	assert_return_code(umount2(sandbox_path("root/stage"), 0), errno);
	pid = foreign_volume("flood", MS_PRIVATE, make_flood);
	assert_return_code(mount("volume", sandbox_path("root/stage"), "tmpfs", 0, NULL), errno);
	print_message("# %d namespaces\n", FLOOD);
	expect_nobody();
	print_message("# no holder was found\n");
	end(pid);
	pid = foreign_volume("flood", MS_PRIVATE, make_flood);
	print_message("# %d others\n", FLOOD);
	holder = search_for(pid);
	assert_true(holder.found);
	assert_int_equal(holder.pid, pid);
	print_message("# their process was found\n");
	(void) close_keep_errno(holder.pid_fd);
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* Slower by far than it is: in searches meanwhile each of a process's many descriptors takes so
 * long that one such process is a flood. Others of this machine have no more than LINKS_A_TIME at
 * once. */
enum { DESCRIPTORS = 4000, LINKS_A_TIME = 250 };
static bool is_slow;
static time_t slow_seconds;
static unsigned int links;

/* Whose descriptors cannot be read; 0: all can. */
static pid_t unreadable;

/* Of a directory "/proc/PID/fd"; 0: it is another one. */
static pid_t fd_process(int fd)
{
	char name[32], path[64] = "";
	int pid;

	(void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (readlink(name, path, sizeof(path) - 1) < 0 || !strstr(path, "/fd"))
		return 0;
	return sscanf(path, "/proc/%d/fd", &pid) == 1 ? (pid_t) pid : 0;
}

ssize_t __real_readlinkat(int fd, const char *path, char *text, size_t size);
ssize_t __wrap_readlinkat(int fd, const char *path, char *text, size_t size);
ssize_t __wrap_readlinkat(int fd, const char *path, char *text, size_t size)
{
	links++;
	if (unreadable == fd_process(fd) && unreadable > 0) {
		errno = EIO;
		return -1;
	}
	return __real_readlinkat(fd, path, text, size);
}

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);

	if (clock != CLOCK_THREAD_CPUTIME_ID || !is_slow)
		return r;
	slow_seconds += links >= LINKS_A_TIME;
	links = 0;
	ret->tv_sec += slow_seconds;
	return r;
}

/* By a user who may do no more than open files. */
static int open_many(void)
{
	int fd = open(sandbox_path("."), O_PATH | O_CLOEXEC);

	if (fd < 0 || setresuid(OTHER_UID, OTHER_UID, OTHER_UID) < 0)
		return -1;
	for (int i = 0; i < DESCRIPTORS; i++)
		if (fcntl(fd, F_DUPFD_CLOEXEC, 0) < 0)
			return -1;
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Another process with as many may use up the whole search: then again. */
static struct mount_holder search_slowly(void)
{
	struct mount_holder holder = { .mount_point = sandbox_path("root/stage") };
	struct failure why = { .error = 0 };
	unsigned int moments = 0;
	int r;

	do {
		is_slow = true;
		r = mount_holders_search(&holder, 1, &why);
		is_slow = false;
		assert_true(r >= 0 || r == -ETIMEDOUT);
	} while ((r < 0 || !holder.found) && sandbox_wait(&moments));
	return holder;
}

static void test_flood_of_descriptors_is_of_its_user(void **state)
{
	char text[MOUNT_HOLDER_TEXT_BYTES], wanted[96];
	struct mount_holder holder;
	pid_t pid;

	mount_volume();
	pid = foreign_volume("flood", 0, open_many);
	holder = search_slowly();
	assert_true(holder.found);
	assert_int_equal(holder.how, HELD_UNSEARCHED);
	assert_int_equal(holder.owner, OTHER_UID);
	(void) close_keep_errno(holder.pid_fd);
	mount_holder_print(&holder, text);
	(void) snprintf(wanted, sizeof(wanted),
			"processes of uid %d have more open than is searched", OTHER_UID);
	assert_non_null(strstr(text, wanted));
	assert_non_null(strstr(text, "'flood' (uid"));
	expect_nobody();
	end(pid);
	unmount_volume();
}

static int become_user(void)
{
	if (setresuid(OTHER_UID, OTHER_UID, OTHER_UID) < 0)
		return -1;
	return prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Such as one that puts another file at a descriptor's number at each look. */
static void test_unreadable_process_of_a_user_fails_no_search(void **state)
{
	struct mount_holder holder = { .mount_point = sandbox_path("root/stage") };
	char text[MOUNT_HOLDER_TEXT_BYTES], wanted[160];
	struct failure why = { .error = 0 };
	pid_t pids[2];

	mount_volume();
	pids[0] = foreign_volume("user", 0, become_user);
	pids[1] = foreign_volume("root", 0, NULL);
	unreadable = pids[0];
	holder = search_for(pids[0]);
	(void) close_keep_errno(holder.pid_fd);
	mount_holder_print(&holder, text);
	(void) snprintf(wanted, sizeof(wanted),
			"what process %d 'user' (uid %d) has open cannot be read, and may be in "
			"the volume: Input/output error",
			(int) pids[0], OTHER_UID);
	assert_string_equal(text, wanted);
	unreadable = pids[1];
	holder = (struct mount_holder){ .mount_point = sandbox_path("root/stage") };
	assert_int_equal(mount_holders_search(&holder, 1, &why), -EIO);
	unreadable = 0;
	end(pids[0]);
	end(pids[1]);
	expect_nobody();
	unmount_volume();
}

/* Directories nested until no path names them; returns the innermost. */
static int open_deep(void)
{
	char name[201];
	int fd = open(sandbox_path("root"), O_PATH | O_DIRECTORY | O_CLOEXEC);

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned int i = 0; i < 2 * PATH_MAX / sizeof(name); i++) {
		int next = -EBADF;

		if (fd >= 0 && mkdirat(fd, name, 0700) == 0)
			next = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		(void) close_keep_errno(fd);
		fd = next;
	}
	return fd;
}

/* readlink(2) of such a descriptor says ENAMETOOLONG, and any user can make one. */
static void test_descriptor_without_a_path_fails_no_search(void **state)
{
	pid_t pid;

	mount_volume();
	pid = foreign_volume("deep", MS_SHARED, open_deep);
	expect_nobody();
	end(pid);
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

static void check_detached(const char *type, int (*take)(void), const char *text)
{
	struct mount_holder holder;
	pid_t pid;

	print_message("# %s\n", type);
	mount_volume_of(type);
	sandbox_write("root/stage/file", "text");
	assert_int_equal(bind_in_slave(), 0);
	pid = foreign_volume("stranger", 0, take);
	holder = search(sandbox_path("root/stage"));
	assert_int_equal(holder.how, HELD_HERE);
	assert_string_equal(holder.where, sandbox_path("inside"));
	assert_return_code(umount2(sandbox_path("inside"), MNT_DETACH), errno);
	expect_text(text, pid);
	end(pid);
	expect_nobody();
	unmount_volume();
	file_system_clean(type);
}

static void check_every_kind(int (*take)(void), const char *text)
{
	for (size_t i = 0; file_systems[i]; i++)
		check_detached(file_systems[i], take, text);
}

static void test_open_file_of_a_detached_mount_case_463(void **state)
{
	check_every_kind(open_there,
			 "process %d 'stranger' uses '/file' of it, which is mounted nowhere any "
			 "more");
}

static void test_directory_of_a_detached_mount_case_463(void **state)
{
	check_every_kind(stand_there,
			 "process %d 'stranger' uses '/' of it, which is mounted nowhere any more");
}

static void test_map_of_a_detached_mount_case_463(void **state)
{
	check_every_kind(map_there,
			 "process %d 'stranger' uses '/file' of it, which is mounted nowhere any "
			 "more");
}

/* Where the kernel does not say which directory it is of, the sentence says so. */
static void expect_user_of_part(const char *type, const char *part, bool is_of_it)
{
	pid_t pid;
	struct mount_holder holder;

	assert_return_code(mount(sandbox_path(part), sandbox_path("inside"), NULL, MS_BIND, NULL),
			   errno);
	pid = foreign_volume("stranger", 0, stand_there);
	assert_return_code(umount2(sandbox_path("inside"), MNT_DETACH), errno);
	holder = search(sandbox_path("root/staged"));
	if (is_of_it || holder.undecided) {
		assert_true(holder.found);
		assert_int_equal(holder.how, HELD_DETACHED);
		assert_int_equal(holder.pid, pid);
		(void) close_keep_errno(holder.pid_fd);
	} else {
		assert_false(holder.found);
	}
	if (strcmp(type, "overlay") != 0)
		assert_int_equal(holder.undecided, 0);
	end(pid);
}

/* What is staged is a directory of a larger file system, as of some CSI drivers. */
static void test_detached_mount_of_a_part_case_463(void **state)
{
	for (const char *const *type = file_systems; *type; type++) {
		print_message("# %s\n", *type);
		mount_volume_of(*type);
		sandbox_mkdir("root/stage/part", 0755);
		sandbox_mkdir("root/stage/beside", 0755);
		sandbox_mkdir("root/staged", 0755);
		assert_return_code(mount(sandbox_path("root/stage/part"),
					 sandbox_path("root/staged"), NULL, MS_BIND, NULL),
				   errno);
		expect_user_of_part(*type, "root/stage/part", true);
		expect_user_of_part(*type, "root/stage/beside", false);
		assert_return_code(umount2(sandbox_path("root/staged"), MNT_DETACH), errno);
		assert_return_code(rmdir(sandbox_path("root/staged")), errno);
		unmount_volume();
		file_system_clean(*type);
	}
}

static void expect_no_map(const struct process_map *map, void *userdata)
{
	fail_msg("'%s'", map->path);
}

/* A file that can be opened and not be read. */
static void test_unreadable_map_is_no_empty_one(void **state)
{
	cleanup_close int fd = -EBADF;

	sandbox_mkdir("process", 0755);
	sandbox_mkdir("process/maps", 0755);
	fd = open(sandbox_path("process"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(fd, errno);
	assert_int_equal(process_walk_maps(fd, expect_no_map, NULL), -EISDIR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_namespace_kept_by_a_descriptor),
		SANDBOX_TEST(test_namespace_kept_by_a_mount),
		SANDBOX_TEST(test_namespace_of_a_single_thread),
		SANDBOX_TEST(test_user_namespace_and_owner_are_named),
		SANDBOX_TEST(test_flood_of_namespaces_fails_no_search),
		SANDBOX_TEST(test_flood_of_descriptors_is_of_its_user),
		SANDBOX_TEST(test_unreadable_process_of_a_user_fails_no_search),
		SANDBOX_TEST(test_descriptor_without_a_path_fails_no_search),
		SANDBOX_TEST(test_open_file_of_a_detached_mount_case_463),
		SANDBOX_TEST(test_directory_of_a_detached_mount_case_463),
		SANDBOX_TEST(test_map_of_a_detached_mount_case_463),
		SANDBOX_TEST(test_detached_mount_of_a_part_case_463),
		SANDBOX_TEST(test_unreadable_map_is_no_empty_one),
	};

	return sandbox_run("mount_pins", tests, ARRAY_SIZE(tests));
}
