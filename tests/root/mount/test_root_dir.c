/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_root_dir - the root directory: made, locked, its own shared mount, never stacked
 */
#include "tests/root/kernel_calls.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void open_root(const char *relative, struct mount_root *root)
{
	struct failure failure = { 0 };

	if (mount_root_open(sandbox_path(relative), root, &failure) != 0)
		fail_msg("%s", failure.text);
}

static unsigned int mounts_at(const char *relative)
{
	return sandbox_mounts_below(sandbox_path(relative));
}

static bool is_shared(const char *relative)
{
	cleanup_fclose FILE *mountinfo = fopen("/proc/self/mountinfo", "re");
	const char *wanted = sandbox_path(relative);
	char line[4096], point[1024], field[64];

	assert_non_null(mountinfo);
	while (fgets(line, sizeof(line), mountinfo))
		if (sscanf(line, "%*s %*s %*s %*s %1023s %*s %63s", point, field) == 2 &&
		    strcmp(point, wanted) == 0)
			return strncmp(field, "shared:", 7) == 0;
	return false;
}

static void undo(struct mount_root *root)
{
	struct failure failure = { 0 };

	if (mount_root_undo(root, &failure) != 0)
		fail_msg("%s", failure.text);
	mount_root_done(root);
}

static void test_a_fresh_directory_becomes_a_shared_mount(void **state)
{
	struct mount_facts facts;
	struct mount_root root;
	struct stat status;

	open_root("state/root", &root);
	assert_return_code(stat(sandbox_path("state/root"), &status), errno);
	assert_int_equal(status.st_mode & 07777, 0750);
	assert_string_equal(root.path, sandbox_path("state/root"));
	assert_int_equal(mounts_at("state/root"), 1);
	assert_true(is_shared("state/root"));

	/* The descriptor is inside the new mount, so that binds below it are cheap. */
	assert_int_equal(fd_facts(root.fd, &facts, NULL), 0);
	assert_true(facts.is_mount_root);
	undo(&root);
	assert_int_equal(mounts_at("state/root"), 0);
}

static void test_a_restart_does_not_stack(void **state)
{
	struct mount_root root;

	sandbox_mkdir("root", 0755);
	open_root("root", &root);
	for (int i = 0; i < 3; i++) {
		mount_root_done(&root);
		assert_int_equal(mounts_at("root"), 1);
		open_root("root", &root);
		assert_int_equal(mounts_at("root"), 1);
	}
	undo(&root);
	assert_int_equal(mounts_at("root"), 0);
}

/* With pods' volumes still mounted, as after a restart of the daemon. */
static void test_a_restart_with_mounts_below(void **state)
{
	struct mount_root root;
	struct failure failure = { 0 };

	open_root("root", &root);
	sandbox_mkdir("root/pod", 0750);
	assert_return_code(mount("none", sandbox_path("root/pod"), "tmpfs", 0, NULL), errno);
	mount_root_done(&root);
	open_root("root", &root);
	assert_int_equal(mounts_at("root"), 2);

	assert_int_equal(mount_root_undo(&root, &failure), -EBUSY);
	assert_int_equal(mounts_at("root"), 2);
	assert_return_code(fcntl(root.fd, F_GETFD), errno);
	assert_return_code(umount2(sandbox_path("root/pod"), 0), errno);
	undo(&root);
}

/* As below a / that systemd made shared: a peer of the mount around it would pass mounts on to
 * that. */
static void test_mounts_below_are_there_once(void **state)
{
	struct mount_root root;

	sandbox_mkdir("around", 0755);
	assert_return_code(mount("none", sandbox_path("around"), "tmpfs", 0, NULL), errno);
	assert_return_code(mount(NULL, sandbox_path("around"), NULL, MS_SHARED, NULL), errno);
	open_root("around/root", &root);
	assert_true(is_shared("around/root"));
	sandbox_mkdir("around/root/pod", 0750);
	assert_return_code(mount("none", sandbox_path("around/root/pod"), "tmpfs", 0, NULL), errno);
	assert_int_equal(mounts_at("around/root"), 2);
	assert_return_code(umount2(sandbox_path("around/root/pod"), 0), errno);
	undo(&root);
	assert_int_equal(mounts_at("around/root"), 0);
	assert_return_code(umount2(sandbox_path("around"), 0), errno);
}

static void test_mounts_below_are_not_hidden(void **state)
{
	struct mount_root root;

	sandbox_mkdir("root", 0755);
	sandbox_mkdir("root/pod", 0750);
	assert_return_code(mount("none", sandbox_path("root/pod"), "tmpfs", 0, NULL), errno);
	sandbox_write("root/pod/file", "of another agent");
	open_root("root", &root);
	assert_int_equal(mounts_at("root"), 1);
	assert_true(sandbox_has("root/pod/file", "of another agent"));
	undo(&root);
	assert_int_equal(mounts_at("root"), 1);
	assert_return_code(umount2(sandbox_path("root/pod"), 0), errno);
}

/* A neighbour whose name begins alike is not below. */
static void test_a_neighbour_s_mount_does_not_matter(void **state)
{
	struct mount_root root;

	sandbox_mkdir("root", 0755);
	sandbox_mkdir("root2", 0755);
	assert_return_code(mount("none", sandbox_path("root2"), "tmpfs", 0, NULL), errno);
	open_root("root", &root);
	assert_int_equal(mounts_at("root"), 1);
	undo(&root);
	assert_int_equal(mounts_at("root"), 0);
	assert_return_code(umount2(sandbox_path("root2"), 0), errno);
}

static void test_a_disk_of_its_own_is_used_as_it_is(void **state)
{
	struct mount_root root;

	sandbox_mkdir("root", 0755);
	assert_return_code(mount("none", sandbox_path("root"), "tmpfs", 0, NULL), errno);
	open_root("root", &root);
	assert_int_equal(mounts_at("root"), 1);
	undo(&root); /* takes away only what a bind onto itself made */
	assert_int_equal(mounts_at("root"), 1);
	assert_return_code(umount2(sandbox_path("root"), 0), errno);
}

/* Another directory bound there is no bind onto itself. */
static void test_another_bind_is_not_ours(void **state)
{
	struct mount_root root;

	sandbox_mkdir("root", 0755);
	sandbox_mkdir("elsewhere", 0755);
	assert_return_code(
		mount(sandbox_path("elsewhere"), sandbox_path("root"), NULL, MS_BIND, NULL), errno);
	open_root("root", &root);
	undo(&root);
	assert_int_equal(mounts_at("root"), 1);
	assert_return_code(umount2(sandbox_path("root"), 0), errno);
}

/* The first one opened the directory before it was bound, the second one opens it after. */
static void test_a_second_instance_is_told_who_is_first(void **state)
{
	struct mount_root root, second;
	struct failure failure = { 0 };
	char pid[32];
	int status;
	pid_t child;

	open_root("root", &root);
	snprintf(pid, sizeof(pid), "process %d ", (int) getpid());
	child = fork();
	assert_return_code(child, errno);
	if (child == 0)
		_exit(mount_root_open(sandbox_path("root"), &second, &failure) == -EBUSY &&
				      strstr(failure.text, pid)
			      ? 0
			      : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);

	assert_int_equal(mount_root_open(sandbox_path("root"), &second, &failure), -EBUSY);
	assert_int_equal(mounts_at("root"), 1);
	undo(&root);
	open_root("root", &second);
	undo(&second);
}

/* By another name of the same directory: the lock is the directory's. */
static void test_a_link_leads_to_the_same_lock(void **state)
{
	struct mount_root root, second;
	struct failure failure = { 0 };

	sandbox_mkdir("root", 0755);
	assert_return_code(symlink("root", sandbox_path("link")), errno);
	open_root("link", &root);
	assert_string_equal(root.path, sandbox_path("root"));
	assert_int_equal(mount_root_open(sandbox_path("root"), &second, &failure), -EBUSY);
	undo(&root);
}

static void test_what_cannot_be_a_root(void **state)
{
	struct mount_root root;
	struct failure failure = { 0 };

	sandbox_write("file", "");
	assert_int_equal(mount_root_open("relative", &root, &failure), -EINVAL);
	assert_int_equal(mount_root_open("/", &root, &failure), -EINVAL);
	assert_int_equal(mount_root_open(sandbox_path("file"), &root, &failure), -ENOTDIR);
	assert_int_equal(mount_root_open(sandbox_path("file/below"), &root, &failure), -ENOTDIR);
}

static void test_undo_leaves_what_is_in_use(void **state)
{
	cleanup_close int in_use_fd = -EBADF;
	struct mount_root root;
	struct failure failure = { 0 };

	open_root("root", &root);
	sandbox_write("root/file", "");
	in_use_fd = open(sandbox_path("root/file"), O_RDONLY | O_CLOEXEC);
	assert_return_code(in_use_fd, errno);
	assert_int_equal(mount_root_undo(&root, &failure), -EBUSY);
	assert_return_code(fcntl(root.fd, F_GETFD), errno);
	(void) close(TAKE_FD(in_use_fd));
	undo(&root);
}

/* Also after a restart, when the lock lies inside the mount that goes. */
static void test_an_unmounted_root_is_bound_anew(void **state)
{
	struct mount_root root, second;
	struct mount_facts old, new;
	struct failure failure = { 0 };
	int fd;

	for (int restarted = 0; restarted < 2; restarted++) {
		open_root("root", &root);
		if (restarted) {
			mount_root_done(&root);
			open_root("root", &root);
		}
		fd = root.fd;
		assert_int_equal(fd_facts(root.fd, &old, NULL), 0);
		assert_return_code(umount2(sandbox_path("root"), MNT_DETACH), errno);
		assert_int_equal(mounts_at("root"), 0);
		if (mount_root_renew(&root, &failure) != 0)
			fail_msg("%s", failure.text);
		assert_int_equal(root.fd, fd);
		assert_int_equal(fd_facts(root.fd, &new, NULL), 0);
		assert_true(new.is_mount_root);
		assert_int_not_equal(new.mount_id, old.mount_id);
		assert_true(is_shared("root"));
		assert_int_equal(mount_root_renew(&root, &failure), 0); /* nothing is stacked */
		assert_int_equal(mounts_at("root"), 1);
		assert_int_equal(mount_root_open(sandbox_path("root"), &second, NULL), -EBUSY);
		mount_root_done(&root);
		assert_return_code(umount2(sandbox_path("root"), 0), errno);
	}
}

static void test_another_directory_is_no_root_to_renew(void **state)
{
	struct mount_root root;
	struct failure failure = { 0 };

	sandbox_mkdir("root", 0755);
	assert_return_code(mount("none", sandbox_path("root"), "tmpfs", 0, NULL), errno);
	open_root("root", &root);
	assert_return_code(umount2(sandbox_path("root"), MNT_DETACH), errno);
	assert_int_equal(mount_root_renew(&root, &failure), -ESTALE);
	assert_non_null(strstr(failure.text, "was unmounted"));
	assert_int_equal(mounts_at("root"), 0);
	mount_root_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST_WITHOUT(0, test_a_fresh_directory_becomes_a_shared_mount),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPEN_TREE | WITHOUT_OPENAT2,
				     test_a_fresh_directory_becomes_a_shared_mount),
		SANDBOX_TEST(test_a_restart_does_not_stack),
		SANDBOX_TEST_WITHOUT(WITHOUT_MOUNT_SETATTR, test_a_restart_does_not_stack),
		SANDBOX_TEST(test_a_restart_with_mounts_below),
		SANDBOX_TEST(test_mounts_below_are_there_once),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPEN_TREE, test_mounts_below_are_there_once),
		SANDBOX_TEST(test_mounts_below_are_not_hidden),
		SANDBOX_TEST(test_a_neighbour_s_mount_does_not_matter),
		SANDBOX_TEST(test_a_disk_of_its_own_is_used_as_it_is),
		SANDBOX_TEST(test_another_bind_is_not_ours),
		SANDBOX_TEST(test_a_second_instance_is_told_who_is_first),
		SANDBOX_TEST(test_a_link_leads_to_the_same_lock),
		SANDBOX_TEST(test_what_cannot_be_a_root),
		SANDBOX_TEST(test_an_unmounted_root_is_bound_anew),
		SANDBOX_TEST(test_another_directory_is_no_root_to_renew),
		SANDBOX_TEST(test_undo_leaves_what_is_in_use),
	};

	return sandbox_run("root_dir", tests, ARRAY_SIZE(tests));
}
