/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_busy_holders - who keeps a mount from being unmounted, with real processes
 *
 * Each user is a child that takes hold of the volume as a test says, or of nothing. That the kernel
 * says EBUSY is asserted beside what the search finds: a search that finds what is no reason would
 * be as wrong as one that finds nothing.
 */
#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/holders/busy_holders.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { CROWD = 300 };

#define VOLUME "root/volume"

/* A process that did @take, and lives until it is ended. */
static pid_t user(bool (*take)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_return_code(pipe2(ready, O_CLOEXEC), errno);
	pid = fork();
	assert_return_code(pid, errno);
	if (pid == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void) prctl(PR_SET_NAME, "user");
		byte = take() ? 1 : 0;
		(void) !write(ready[1], &byte, 1);
		for (;;)
			(void) pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 1);
	(void) close(ready[0]);
	(void) close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void mount_volume(void)
{
	sandbox_mkdir("root", 0755);
	assert_return_code(mount(sandbox_path("root"), sandbox_path("root"), NULL, MS_BIND, NULL),
			   errno);
	assert_return_code(mount(NULL, sandbox_path("root"), NULL, MS_SHARED, NULL), errno);
	sandbox_mkdir(VOLUME, 0755);
	assert_return_code(mount("volume", sandbox_path(VOLUME), "tmpfs", 0, NULL), errno);
	sandbox_mkdir(VOLUME "/logs", 0755);
	sandbox_write(VOLUME "/logs/a", "text");
	sandbox_write(VOLUME "/logs/b", "text");
}

static void unmount_volume(void)
{
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_return_code(umount2(sandbox_path("root"), MNT_DETACH), errno);
}

static void search(struct busy_holders *ret)
{
	struct busy_query query = { .mount_point = sandbox_path(VOLUME) };
	struct failure why = { .error = 0 };

	if (busy_holders_search(&query, 1, NULL, &why) < 0)
		fail_msg("%s", why.text);
	*ret = query.holders;
}

static void expect_busy(void)
{
	assert_int_equal(umount2(sandbox_path(VOLUME), 0), -1);
	assert_int_equal(errno, EBUSY);
}

static void expect_nobody(void)
{
	struct busy_holders holders;
	char text[BUSY_TEXT_BYTES];

	search(&holders);
	if (holders.total > 0) {
		busy_holder_print(&holders.list[0], text);
		fail_msg("%s", text);
	}
	assert_false(holders.cut_short);
	busy_holders_done(&holders);
}

/* Exactly one holder, in these words; "%d" in them is the process. */
static void expect_one(pid_t pid, const char *words)
{
	struct busy_holders holders;
	char text[BUSY_TEXT_BYTES], wanted[BUSY_TEXT_BYTES] = "";
	const char *number = strstr(words, "%d");

	expect_busy();
	search(&holders);
	assert_int_equal(holders.count, 1);
	assert_int_equal(holders.total, 1);
	busy_holder_print(&holders.list[0], text);
	if (number)
		(void) snprintf(wanted, sizeof(wanted), "%.*s%d%s", (int) (number - words), words,
				(int) pid, number + 2);
	assert_string_equal(text, number ? wanted : words);
	if (pid > 0) {
		struct pollfd poll_fd = { .fd = holders.list[0].pid_fd, .events = POLLIN };

		assert_true(holders.list[0].pid_fd >= 0);
		assert_int_equal(poll(&poll_fd, 1, 0), 0);
	}
	busy_holders_done(&holders);
}

static void check_use(bool (*take)(void), const char *words)
{
	pid_t pid;

	mount_volume();
	expect_nobody();
	pid = user(take);
	expect_one(pid, words);
	end(pid);
	expect_nobody();
	unmount_volume();
}

/* ---- one process ---- */

static bool stand_in_it(void)
{
	return chdir(sandbox_path(VOLUME "/logs")) == 0;
}

static void test_working_directory(void **state)
{
	check_use(stand_in_it, "process %d 'user': working directory 'logs'");
}

static bool live_in_it(void)
{
	return chroot(sandbox_path(VOLUME)) == 0;
}

static void test_root_directory(void **state)
{
	check_use(live_in_it, "process %d 'user': root directory");
}

static bool open_one(void)
{
	return open(sandbox_path(VOLUME "/logs/a"), O_RDONLY) >= 0;
}

static void test_open_file(void **state)
{
	check_use(open_one, "process %d 'user': open file 'logs/a'");
}

/* A path alone keeps the mount as well as an open file does. */
static bool open_path(void)
{
	return open(sandbox_path(VOLUME), O_PATH) >= 0;
}

static void test_descriptor_of_a_path(void **state)
{
	check_use(open_path, "process %d 'user': open file");
}

static bool open_three(void)
{
	return open_one() && open_one() && open(sandbox_path(VOLUME "/logs/b"), O_RDONLY) >= 0;
}

static void test_several_files_are_one_entry(void **state)
{
	check_use(open_three, "process %d 'user': open file 'logs/a' and 2 more");
}

static bool open_deleted(void)
{
	return open_one() && unlink(sandbox_path(VOLUME "/logs/a")) == 0;
}

static void test_deleted_file(void **state)
{
	check_use(open_deleted, "process %d 'user': open file 'logs/a (deleted)'");
}

static bool map_one(void)
{
	int fd = open(sandbox_path(VOLUME "/logs/b"), O_RDONLY);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	return fd >= 0 && map != MAP_FAILED && close(fd) == 0;
}

static void test_mapped_file(void **state)
{
	check_use(map_one, "process %d 'user': mapped file 'logs/b'");
}

static bool bind_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s",
			sandbox_path(VOLUME "/logs/socket"));
	return bind(fd, &address, sizeof(address)) == 0;
}

static void test_bound_socket(void **state)
{
	check_use(bind_socket, "process %d 'user': socket 'logs/socket'");
}

/* ---- threads ---- */

static void *stand_alone(void *userdata)
{
	int *ready = userdata;
	char byte = unshare(CLONE_FS) == 0 && stand_in_it();

	(void) !write(ready[1], &byte, 1);
	for (;;)
		(void) pause();
	return NULL;
}

static bool let_a_thread_stand_in_it(void)
{
	static int ready[2];
	pthread_t thread;
	char byte = 0;

	return pipe(ready) == 0 && pthread_create(&thread, NULL, stand_alone, ready) == 0 &&
	       read(ready[0], &byte, 1) == 1 && byte == 1;
}

/* Its first thread is elsewhere. */
static void test_thread_of_its_own(void **state)
{
	check_use(let_a_thread_stand_in_it, "process %d 'user': working directory 'logs'");
}

/* ---- programs ---- */

static void copy_program(const char *from, const char *to)
{
	cleanup_close int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT, 0755);
	char bytes[65536];
	ssize_t got;

	while ((got = read(in, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(out, bytes, (size_t) got), got);
	assert_int_equal(got, 0);
}

/* What is mapped of it is not listed a second time. */
static void test_executable(void **state)
{
	const char *words = "process %d 'nap': executable 'nap'";
	char link[PATH_MAX], path[64];
	pid_t pid;

	mount_volume();
	copy_program("/usr/bin/sleep", sandbox_path(VOLUME "/nap"));
	pid = fork();
	assert_return_code(pid, errno);
	if (pid == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void) execl(sandbox_path(VOLUME "/nap"), "nap", "1000", NULL);
		_exit(1);
	}
	(void) snprintf(path, sizeof(path), "/proc/%d/exe", (int) pid);
	for (int i = 0; i < 60000; i++) {
		ssize_t length = readlink(path, link, sizeof(link) - 1);

		if (length > 4 && memcmp(link + length - 4, "/nap", 4) == 0)
			break;
		(void) poll(NULL, 0, 1);
	}
	expect_one(pid, words);
	end(pid);
	unmount_volume();
}

/* ---- the kernel itself ---- */

static void test_nested_mount(void **state)
{
	pid_t pid;

	mount_volume();
	sandbox_mkdir(VOLUME "/in", 0755);
	assert_return_code(mount("nested", sandbox_path(VOLUME "/in"), "tmpfs", 0, NULL), errno);
	expect_one(0, "'in' (tmpfs) is mounted in it");
	sandbox_mkdir(VOLUME "/in/logs", 0755);
	assert_return_code(umount2(sandbox_path(VOLUME "/in"), 0), errno);
	expect_nobody();
	pid = user(open_one);
	end(pid);
	unmount_volume();
}

/* Who uses what is nested is listed beside it, by the name in the volume. */
static bool stand_in_nested(void)
{
	return chdir(sandbox_path(VOLUME "/in/deep")) == 0;
}

static void test_user_of_a_nested_mount(void **state)
{
	struct busy_holders holders;
	char text[BUSY_TEXT_BYTES];
	pid_t pid;

	mount_volume();
	sandbox_mkdir(VOLUME "/in", 0755);
	assert_return_code(mount("nested", sandbox_path(VOLUME "/in"), "tmpfs", 0, NULL), errno);
	sandbox_mkdir(VOLUME "/in/deep", 0755);
	pid = user(stand_in_nested);
	search(&holders);
	assert_int_equal(holders.count, 2);
	busy_holder_print(&holders.list[1], text);
	assert_non_null(strstr(text, "working directory 'in/deep'"));
	busy_holders_done(&holders);
	end(pid);
	assert_return_code(umount2(sandbox_path(VOLUME "/in"), 0), errno);
	unmount_volume();
}

/* A mount that was there before lies below the volume and is no reason, nor is who uses it. */
static void test_hidden_mount_is_no_reason(void **state)
{
	pid_t pid;

	sandbox_mkdir("root", 0755);
	sandbox_mkdir(VOLUME, 0755);
	sandbox_mkdir(VOLUME "/in", 0755);
	assert_return_code(mount("hidden", sandbox_path(VOLUME "/in"), "tmpfs", 0, NULL), errno);
	sandbox_mkdir(VOLUME "/in/deep", 0755);
	pid = user(stand_in_nested);
	assert_return_code(mount("volume", sandbox_path(VOLUME), "tmpfs", 0, NULL), errno);
	expect_nobody();
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	end(pid);
	assert_return_code(umount2(sandbox_path(VOLUME "/in"), 0), errno);
}

static void test_loop_device_on_a_file(void **state)
{
	struct loop_image image;
	unsigned int moments = 0;
	char words[BUSY_TEXT_BYTES];

	mount_volume();
	image = loop_image_new(VOLUME "/disk.img", 1);
	(void) snprintf(words, sizeof(words), "loop device %s on 'disk.img'",
			strrchr(image.path, '/') + 1);
	expect_one(0, words);
	loop_image_done(&image);
	while (umount2(sandbox_path(VOLUME), 0) < 0)
		assert_true(sandbox_wait(&moments));
	assert_return_code(umount2(sandbox_path("root"), MNT_DETACH), errno);
}

/* ---- other mount namespaces ---- */

static bool stand_in_a_slave(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
	       stand_in_it();
}

/* Its copy of the mount would go with podvold's, and cannot. */
static void test_user_of_a_copy_that_goes_with_ours(void **state)
{
	struct busy_holders holders;
	char text[BUSY_TEXT_BYTES], path[64], wanted[BUSY_TEXT_BYTES];
	struct stat st;
	pid_t pid;

	mount_volume();
	pid = user(stand_in_a_slave);
	expect_busy();
	search(&holders);
	assert_int_equal(holders.total, 1);
	(void) snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int) pid);
	assert_return_code(stat(path, &st), errno);
	(void) snprintf(wanted, sizeof(wanted),
			"process %d 'user' in mount namespace %" PRIu64
			": working directory 'logs'",
			(int) pid, (uint64_t) st.st_ino);
	busy_holder_print(&holders.list[0], text);
	assert_string_equal(text, wanted);
	busy_holders_done(&holders);
	end(pid);
	unmount_volume();
}

static bool stand_in_a_private_copy(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && stand_in_it();
}

/* As a container has it: the kernel lets podvold's go, so it is no reason of EBUSY. */
static void test_private_copy_keeps_nothing(void **state)
{
	pid_t pid;

	mount_volume();
	pid = user(stand_in_a_private_copy);
	expect_nobody();
	unmount_volume();
	end(pid);
}

/* ---- what is looked through ---- */

static bool open_beside(void)
{
	return open(sandbox_path("root"), O_RDONLY) >= 0 && chdir(sandbox_path("root")) == 0;
}

/* A file on the same file system by another mount is none of the volume. */
static void test_others_are_no_reason(void **state)
{
	pid_t pid;

	sandbox_mkdir("root", 0755);
	sandbox_mkdir(VOLUME, 0755);
	assert_return_code(mount(sandbox_path("root"), sandbox_path(VOLUME), NULL, MS_BIND, NULL),
			   errno);
	pid = user(open_beside);
	expect_nobody();
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	end(pid);
}

/* Sub-paths lie elsewhere than their volume; each volume of a search has its own answer. */
static void test_folder_of_subpaths(void **state)
{
	struct busy_query queries[2] = { 0 };
	pid_t pid;

	mount_volume();
	sandbox_mkdir("other", 0755);
	assert_return_code(mount("other", sandbox_path("other"), "tmpfs", 0, NULL), errno);
	queries[0].mount_point = sandbox_path("other");
	queries[1].mount_point = sandbox_path("none");
	queries[1].folder = sandbox_path("root");
	assert_int_equal(busy_holders_search(queries, 2, NULL, NULL), 0);
	assert_int_equal(queries[0].holders.total, 0);
	assert_int_equal(queries[1].holders.total, 0);
	pid = user(open_one);
	assert_int_equal(busy_holders_search(queries, 2, NULL, NULL), 0);
	assert_int_equal(queries[0].holders.total, 0);
	assert_int_equal(queries[1].holders.total, 1);
	assert_string_equal(queries[1].holders.list[0].name, "logs/a");
	busy_holders_done(&queries[1].holders);
	end(pid);
	assert_return_code(umount2(sandbox_path("other"), 0), errno);
	unmount_volume();
}

static void test_cancelled(void **state)
{
	atomic_bool cancelled = true;
	struct busy_query query = { 0 };
	struct failure why = { .error = 0 };
	pid_t pid;

	mount_volume();
	pid = user(open_one);
	query.mount_point = sandbox_path(VOLUME);
	assert_int_equal(busy_holders_search(&query, 1, &cancelled, &why), -ECANCELED);
	assert_int_equal(query.holders.count, 0);
	end(pid);
	unmount_volume();
}

/* Nothing is mounted there: nothing is looked through. */
static void test_no_mount(void **state)
{
	struct busy_query query = { .mount_point = sandbox_path("never") };

	assert_int_equal(busy_holders_search(&query, 1, NULL, NULL), 0);
	assert_int_equal(query.holders.total, 0);
}

/* The list is bounded, the number is not. The time is printed, and judged only against a hang. */
static void test_crowd(void **state)
{
	static pid_t crowd[CROWD];
	struct busy_holders holders;
	uint64_t before;
	double alone, many;

	mount_volume();
	before = monotonic_usec();
	expect_nobody();
	alone = (double) (monotonic_usec() - before) / 1e3;
	for (int i = 0; i < CROWD; i++)
		crowd[i] = user(open_one);
	before = monotonic_usec();
	search(&holders);
	many = (double) (monotonic_usec() - before) / 1e3;
	assert_int_equal(holders.count, BUSY_HOLDERS_MAX);
	assert_int_equal(holders.total, CROWD);
	busy_holders_done(&holders);
	for (int i = 0; i < CROWD; i++)
		end(crowd[i]);
	print_message("# a search: %.1f ms; with %d more processes %.1f ms\n", alone, CROWD, many);
	expect_nobody();
	unmount_volume();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_working_directory),
		SANDBOX_TEST(test_root_directory),
		SANDBOX_TEST(test_open_file),
		SANDBOX_TEST(test_descriptor_of_a_path),
		SANDBOX_TEST(test_several_files_are_one_entry),
		SANDBOX_TEST(test_deleted_file),
		SANDBOX_TEST(test_mapped_file),
		SANDBOX_TEST(test_bound_socket),
		SANDBOX_TEST(test_thread_of_its_own),
		SANDBOX_TEST(test_executable),
		SANDBOX_TEST(test_nested_mount),
		SANDBOX_TEST(test_user_of_a_nested_mount),
		SANDBOX_TEST(test_hidden_mount_is_no_reason),
		cmocka_unit_test_setup_teardown(test_loop_device_on_a_file, sandbox_setup,
						loop_image_teardown),
		SANDBOX_TEST(test_user_of_a_copy_that_goes_with_ours),
		SANDBOX_TEST(test_private_copy_keeps_nothing),
		SANDBOX_TEST(test_others_are_no_reason),
		SANDBOX_TEST(test_folder_of_subpaths),
		SANDBOX_TEST(test_cancelled),
		SANDBOX_TEST(test_no_mount),
		SANDBOX_TEST(test_crowd),
	};

	return sandbox_run("busy_holders", tests, ARRAY_SIZE(tests));
}
