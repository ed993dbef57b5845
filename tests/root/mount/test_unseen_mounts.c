/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_unseen_mounts - neither a volume's data nor its device goes while a mount of it cannot be
 * seen: a process sees a part of its namespace, its first thread ended, or a call fails
 *
 * Each is tried for the deletion of a volume (policy Delete) and for the search before an unstage.
 */
#include "tests/root/file_systems.h"
#include "tests/root/foreign_namespaces.h"

#include "base/cleanup.h"
#include "mount/remove/volume_directory.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#define MARK "uid-1"

/* ---- calls that fail ---- */

int __real_openat(int fd, const char *name, int flags, ...);
int __wrap_openat(int fd, const char *name, int flags, ...);
int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);
ssize_t __real_readlinkat(int fd, const char *name, char *text, size_t size);
ssize_t __wrap_readlinkat(int fd, const char *name, char *text, size_t size);
struct dirent *__real_readdir(DIR *directory);
struct dirent *__wrap_readdir(DIR *directory);

static const char *unopened; /* of every thread but the test's own when it is "mountinfo" */
static int unopened_error;
static pthread_t own_thread;
static unsigned int failed_calls;
static unsigned int entries_left; /* 0: readdir(3) does not fail */

int __wrap_openat(int fd, const char *name, int flags, ...)
{
	bool spares_own = strcmp(name, "mountinfo") == 0;

	if (unopened && strcmp(name, unopened) == 0 &&
	    !(spares_own && pthread_equal(pthread_self(), own_thread))) {
		failed_calls++;
		errno = unopened_error;
		return -1;
	}
	return __real_openat(fd, name, flags, 0);
}

/* As before Linux 6.12: mount namespaces cannot be listed. */
static bool lists_nothing;

int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	if (lists_nothing && _IOC_TYPE(request) == NSIO && _IOC_NR(request) >= 10) {
		errno = ENOTTY;
		return -1;
	}
	return __real_ioctl(fd, request, argument);
}

enum { REUSED = 777 };

/* A number of a descriptor that was a namespace's a moment ago. */
static unsigned int lies;

ssize_t __wrap_readlinkat(int fd, const char *name, char *text, size_t size)
{
	if (lies > 0 && strcmp(name, "777") == 0) {
		failed_calls++;
		lies--;
		return snprintf(text, size, "mnt:[4026530000]");
	}
	return __real_readlinkat(fd, name, text, size);
}

struct dirent *__wrap_readdir(DIR *directory)
{
	if (entries_left > 0 && --entries_left == 0) {
		failed_calls++;
		errno = EIO;
		return NULL;
	}
	return __real_readdir(directory);
}

/* ---- the situations ---- */

/* What it sees from there is a mount of its own and looks like all of a namespace. */
static int chroot_away(void)
{
	if (mount("jail", sandbox_path("jail"), "tmpfs", 0, NULL) < 0 ||
	    chroot(sandbox_path("jail")) < 0)
		return -1;
	return chdir("/");
}

struct situation {
	const char *name;
	int (*change)(void);
	bool end_first_thread;
};

static const struct situation situations[] = {
	{ .name = "as it is" },
	{ .name = "chrooted", .change = chroot_away },
	{ .name = "first thread ended", .change = start_thread, .end_first_thread = true },
};

static pid_t enter_situation(const struct situation *situation)
{
	pid_t pid;

	print_message("# %s\n", situation->name);
	pid = foreign_volume("stranger", MS_PRIVATE, situation->change);
	if (situation->end_first_thread)
		end_first_thread(pid);
	return pid;
}

static void expect_named(const char *text, pid_t pid)
{
	char name[64];

	(void) snprintf(name, sizeof(name), "process %d 'stranger'", (int) pid);
	if (!strstr(text, name))
		fail_msg("'%s' does not name %s", text, name);
}

/* ---- deletion ---- */

static int remove_volume(struct failure *why)
{
	const struct volume_directory volume = { .base_path = sandbox_path("base"),
						 .name = "v",
						 .mark = MARK };

	return volume_directory_remove(&volume, why);
}

static void make_volume(void)
{
	const struct volume_directory volume = { .base_path = sandbox_path("base"),
						 .name = "v",
						 .mark = MARK };

	assert_int_equal(volume_directory_make(&volume, 0770, NULL), 0);
}

/* In the namespace of its own alone. */
static void make_used_volume(void)
{
	make_volume();
	sandbox_write("base/v/file", "data");
	sandbox_mkdir("used", 0755);
	sandbox_mkdir("jail", 0755);
	assert_return_code(mount(sandbox_path("base/v"), sandbox_path("used"), NULL, MS_BIND, NULL),
			   errno);
}

static void try_deletion(const char *type)
{
	struct failure why = { .error = 0 };

	sandbox_mkdir("base", 0755);
	file_system_mount(type, "base");
	make_used_volume();
	for (size_t i = 0; i < ARRAY_SIZE(situations); i++) {
		pid_t pid;

		if (i > 0)
			assert_return_code(mount(sandbox_path("base/v"), sandbox_path("used"), NULL,
						 MS_BIND, NULL),
					   errno);
		pid = enter_situation(&situations[i]);
		assert_return_code(umount2(sandbox_path("used"), 0), errno);
		assert_int_equal(remove_volume(&why), -EBUSY);
		expect_named(why.text, pid);
		assert_true(sandbox_has("base/v/file", "data"));
		end(pid);
	}
	assert_int_equal(remove_volume(&why), 0);
	assert_return_code(rmdir(sandbox_path("used")), errno);
	assert_return_code(rmdir(sandbox_path("jail")), errno);
	(void) umount2(sandbox_path("base"), MNT_DETACH);
	assert_return_code(rmdir(sandbox_path("base")), errno);
	file_system_clean(type);
}

static void test_deletion_waits_for_every_namespace_case_462(void **state)
{
	for (const char *const *type = file_systems; *type; type++) {
		print_message("# %s\n", *type);
		try_deletion(*type);
	}
}

/* ---- deletion, while the only mount is in no namespace ---- */

static int work_in(void)
{
	return chdir(sandbox_path("used/sub"));
}

static int work_at_its_root(void)
{
	return chdir(sandbox_path("used"));
}

static int open_file(void)
{
	return open(sandbox_path("used/sub/file"), O_RDWR | O_CLOEXEC);
}

static int run_in(void)
{
	return chroot(sandbox_path("used")) < 0 ? -1 : chdir("/");
}

/* A mount of its own that is in no namespace from the start; the other one goes. */
static int copy_tree(void)
{
	if (open_tree(AT_FDCWD, sandbox_path("used"), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC) < 0)
		return -1;
	return umount2(sandbox_path("used"), MNT_DETACH);
}

static int copy_subtree(void)
{
	if (open_tree(AT_FDCWD, sandbox_path("used/sub"), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC) < 0)
		return -1;
	return umount2(sandbox_path("used"), MNT_DETACH);
}

static const struct situation uses[] = {
	{ .name = "works in it", .change = work_in },
	{ .name = "works at its root", .change = work_at_its_root },
	{ .name = "has a file open", .change = open_file },
	{ .name = "has it as its root", .change = run_in },
	{ .name = "has a copy of its mount", .change = copy_tree },
	{ .name = "has a copy of a part", .change = copy_subtree },
};

/* As a pod's teardown does. The kernel detaches every other mount from a directory that is removed:
 * @user's mount is in no table then. */
static pid_t leave_to_user(const struct situation *use)
{
	pid_t pid = enter_situation(use);

	assert_return_code(umount2(sandbox_path("used"), 0), errno);
	assert_return_code(rmdir(sandbox_path("used")), errno);
	return pid;
}

static void bind_used(const char *source)
{
	sandbox_mkdir("used", 0755);
	assert_return_code(mount(sandbox_path(source), sandbox_path("used"), NULL, MS_BIND, NULL),
			   errno);
}

/* Has the kernel no answer for this file system, or for a file before Linux 6.13? */
static bool is_undecided(const char *type, const struct situation *use, const char *text)
{
	const char *why = strstr(text, "the kernel does not say whether that is in it: ");

	if (!why)
		return false;
	if (strcmp(type, "overlay") == 0)
		return true;
	return use->change == open_file &&
	       (strcmp(type, "tmpfs") == 0 || strstr(why, strerror(EINVAL)));
}

/* Who works elsewhere in the file system, in a mount that is detached in the same way. */
static void expect_removed_beside(const char *type, const char *beside, const struct situation *use)
{
	struct failure why = { .error = 0 };
	pid_t pid;
	int r;

	bind_used(beside);
	pid = leave_to_user(use);
	r = remove_volume(&why);
	end(pid);
	if (r < 0 && !is_undecided(type, use, why.text))
		fail_msg("%s: %s", type, why.text);
	if (r < 0)
		assert_int_equal(remove_volume(&why), 0);
}

static void try_detached(const char *type)
{
	sandbox_mkdir("base", 0755);
	file_system_mount(type, "base");
	sandbox_mkdir("base/beside", 0755);
	sandbox_mkdir("base/beside/sub", 0755);
	sandbox_write("base/beside/sub/file", "data");
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		struct failure why = { .error = 0 };
		pid_t pid;

		make_volume();
		sandbox_mkdir("base/v/sub", 0755);
		sandbox_write("base/v/sub/file", "data");
		bind_used("base/v");
		pid = leave_to_user(&uses[i]);
		assert_int_equal(remove_volume(&why), -EBUSY);
		expect_named(why.text, pid);
		assert_true(sandbox_has("base/v/sub/file", "data"));
		end(pid);
		expect_removed_beside(type, "base/beside", &uses[i]);
	}
	(void) umount2(sandbox_path("base"), MNT_DETACH);
	assert_return_code(rmdir(sandbox_path("base")), errno);
	file_system_clean(type);
}

static void test_deletion_waits_for_users_of_detached_mounts(void **state)
{
	for (const char *const *type = file_systems; *type; type++) {
		print_message("# %s\n", *type);
		try_detached(*type);
	}
}

/* The volume lies in a mount of a part of the file system, and the file beside that part: crun has
 * its own program mounted like that for as long as a container is created and not started. */
static void try_beside_its_mount(const char *type)
{
	const struct situation use = { .name = "beside", .change = open_file };

	sandbox_mkdir("whole", 0755);
	file_system_mount(type, "whole");
	sandbox_mkdir("whole/part", 0755);
	sandbox_mkdir("base", 0755);
	assert_return_code(
		mount(sandbox_path("whole/part"), sandbox_path("base"), NULL, MS_BIND, NULL),
		errno);
	sandbox_mkdir("whole/beside", 0755);
	sandbox_mkdir("whole/beside/sub", 0755);
	sandbox_write("whole/beside/sub/file", "data");
	make_volume();
	expect_removed_beside(type, "whole/beside", &use);
	(void) umount2(sandbox_path("base"), MNT_DETACH);
	(void) umount2(sandbox_path("whole"), MNT_DETACH);
	assert_return_code(rmdir(sandbox_path("base")), errno);
	assert_return_code(rmdir(sandbox_path("whole")), errno);
	file_system_clean(type);
}

static void test_a_file_beside_the_mount_keeps_nothing(void **state)
{
	for (const char *const *type = file_systems; *type; type++) {
		print_message("# %s\n", *type);
		try_beside_its_mount(*type);
	}
}

struct unreadable {
	const char *name;
	int error;
};

static const struct unreadable unreadables[] = {
	{ "mountinfo", EMFILE }, { "mountinfo", EACCES }, { "mountinfo", EIO },
	{ "ns/mnt", EMFILE },    { "ns/mnt", EACCES },    { "ns/mnt", EIO },
};

static void take_away(const struct unreadable *unreadable)
{
	print_message("# %s: %s\n", unreadable->name, strerror(unreadable->error));
	own_thread = pthread_self();
	failed_calls = 0;
	unopened_error = unreadable->error;
	unopened = unreadable->name;
	lists_nothing = strcmp(unreadable->name, "ns/mnt") == 0;
}

static void give_back(void)
{
	unopened = NULL;
	lists_nothing = false;
}

static void test_deletion_waits_while_mounts_are_unreadable_case_462(void **state)
{
	struct failure why = { .error = 0 };
	pid_t pid;

	make_used_volume();
	pid = enter_situation(&situations[0]);
	assert_return_code(umount2(sandbox_path("used"), 0), errno);
	for (size_t i = 0; i < ARRAY_SIZE(unreadables); i++) {
		take_away(&unreadables[i]);
		assert_int_equal(remove_volume(&why), -unreadables[i].error);
		give_back();
		assert_true(failed_calls > 0);
		assert_non_null(strstr(why.text, "cannot read the mount namespace of process"));
		assert_true(sandbox_has("base/v/file", "data"));
	}
	end(pid);
	assert_int_equal(remove_volume(&why), 0);
}

/* A security module hides every process, and the kernel lists their namespaces all the same. */
static void test_hidden_processes_hide_no_mount_case_462(void **state)
{
	static const struct unreadable hidden = { "ns/mnt", EACCES };
	struct failure why = { .error = 0 };
	pid_t pid;
	int r;

	make_used_volume();
	pid = enter_situation(&situations[1]);
	assert_return_code(umount2(sandbox_path("used"), 0), errno);
	take_away(&hidden);
	lists_nothing = false;
	r = remove_volume(&why);
	give_back();
	assert_true(sandbox_has("base/v/file", "data"));
	assert_true(r == -EBUSY || r == -EACCES); /* -EACCES: before Linux 6.12 */
	/* Another search on this machine has the namespace open for a moment. */
	if (!strstr(why.text, "keeps mount namespace"))
		assert_non_null(strstr(why.text, r == -EBUSY ? "of a process that cannot be seen"
							     : "cannot read the mount namespace"));
	end(pid);
	assert_int_equal(remove_volume(&why), 0);
}

/* A directory that cannot be read to its end has no end: at whichever entry. */
static void test_deletion_waits_for_the_whole_of_proc(void **state)
{
	struct failure why = { .error = 0 };

	make_used_volume();
	assert_return_code(umount2(sandbox_path("used"), 0), errno);
	for (unsigned int entry = 1; entry < 200; entry += 13) {
		failed_calls = 0;
		entries_left = entry;
		assert_int_equal(remove_volume(&why), -EIO);
		assert_int_equal(failed_calls, 1);
		assert_true(sandbox_has("base/v/file", "data"));
	}
	entries_left = 0;
	assert_int_equal(remove_volume(&why), 0);
}

static int open_as_777(void)
{
	return dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), REUSED);
}

/* Each search opens and closes namespaces, too: between a look at a number and its opening it
 * may stand for another file. */
static void test_descriptor_that_is_reused_fails_no_search(void **state)
{
	struct failure why = { .error = 0 };
	pid_t pid;

	make_used_volume();
	assert_return_code(umount2(sandbox_path("used"), 0), errno);
	pid = foreign_volume("opener", MS_PRIVATE, open_as_777);
	failed_calls = 0;
	lies = 1000;
	assert_int_equal(remove_volume(&why), -EAGAIN);
	lies = 3;
	if (remove_volume(&why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(lies, 0);
	end(pid);
}

/* ---- unstage ---- */

static void try_unstage(const char *type, const struct situation *situation)
{
	struct mount_holder holder;
	char text[MOUNT_HOLDER_TEXT_BYTES];
	pid_t pid;

	print_message("# %s\n", type);
	mount_volume_of(type);
	pid = enter_situation(situation);
	holder = search_for(pid);
	assert_true(holder.found);
	assert_int_equal(holder.pid, pid);
	assert_string_equal(holder.where, sandbox_path("root/stage"));
	(void) close_keep_errno(holder.pid_fd);
	mount_holder_print(&holder, text);
	expect_named(text, pid);
	end(pid);
	expect_nobody();
	unmount_volume();
	file_system_clean(type);
}

static void test_unstage_waits_for_every_namespace_case_463(void **state)
{
	sandbox_mkdir("jail", 0755);
	for (const char *const *type = file_systems; *type; type++)
		for (size_t i = 0; i < ARRAY_SIZE(situations); i++)
			try_unstage(*type, &situations[i]);
}

static void test_unstage_waits_while_mounts_are_unreadable_case_463(void **state)
{
	struct failure why = { .error = 0 };
	pid_t pid;

	mount_volume();
	pid = enter_situation(&situations[0]);
	for (size_t i = 0; i < ARRAY_SIZE(unreadables); i++) {
		struct mount_holder holder = { .mount_point = sandbox_path("root/stage") };

		take_away(&unreadables[i]);
		assert_int_equal(mount_holders_search(&holder, 1, &why), -unreadables[i].error);
		give_back();
		assert_true(failed_calls > 0);
		assert_non_null(strstr(why.text, "cannot read the mount namespace of process"));
		assert_false(holder.found);
	}
	end(pid);
	expect_nobody();
	unmount_volume();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_deletion_waits_for_every_namespace_case_462),
		SANDBOX_TEST(test_deletion_waits_for_users_of_detached_mounts),
		SANDBOX_TEST(test_a_file_beside_the_mount_keeps_nothing),
		SANDBOX_TEST(test_deletion_waits_while_mounts_are_unreadable_case_462),
		SANDBOX_TEST(test_hidden_processes_hide_no_mount_case_462),
		SANDBOX_TEST(test_deletion_waits_for_the_whole_of_proc),
		SANDBOX_TEST(test_descriptor_that_is_reused_fails_no_search),
		SANDBOX_TEST(test_unstage_waits_for_every_namespace_case_463),
		SANDBOX_TEST(test_unstage_waits_while_mounts_are_unreadable_case_463),
	};

	return sandbox_run("unseen_mounts", tests, ARRAY_SIZE(tests));
}
