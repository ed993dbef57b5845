/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_subpath - a directory or file in a volume bound for a container
 *
 * With every system call that an older kernel lacks, and without.
 */
#include "tests/root/subpath_world.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>

static bool same_inode(const char *a, const char *b)
{
	struct stat one, other;

	return stat(sandbox_path(a), &one) == 0 && stat(sandbox_path(b), &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static unsigned int mounts_at_target(void)
{
	return sandbox_mounts_below(sandbox_path(TARGET));
}

/* The target's own mode, which a mount hides. */
static unsigned int mode_beneath(void)
{
	assert_return_code(umount(sandbox_path(TARGET)), errno);
	return sandbox_mode(TARGET);
}

static void expect_refused(const char *sub_path, int error)
{
	assert_int_equal(subpath_world_bind(sub_path), error);
	assert_int_equal(subpath_world_failure()->error, error);
	assert_false(sandbox_is_there(SUBPATHS));
}

static void test_case_10_an_absolute_path(void **state)
{
	expect_refused("/abs", -EINVAL);
	assert_string_equal(subpath_world_failure()->text,
			    "error SubPath `/abs` must not be an absolute path");
}

static void test_case_11_a_backstep(void **state)
{
	sandbox_mkdir(VOLUME "/b", 0755);
	expect_refused("a/../b", -EINVAL);
	assert_string_equal(subpath_world_failure()->text,
			    "unable to provision SubPath `a/../b`: must not contain '..'");
}

/* As the atomic writer of a configMap lays its files out. */
static void test_case_12_a_link_of_the_atomic_writer(void **state)
{
	sandbox_mkdir(VOLUME "/..2026_11_21", 0755);
	sandbox_write(VOLUME "/..2026_11_21/key", "value");
	subpath_world_link("..2026_11_21", VOLUME "/..data");
	assert_int_equal(subpath_world_bind("..data/key"), 0);
	assert_true(sandbox_has(TARGET, "value"));
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_case_193_a_directory(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0700);
	sandbox_write(VOLUME "/dir/file", "text");
	assert_int_equal(subpath_world_bind("dir"), 0);
	assert_true(same_inode(TARGET, VOLUME "/dir"));
	assert_true(sandbox_has(TARGET "/file", "text"));
	assert_int_equal(mounts_at_target(), 1);
	assert_int_equal(sandbox_mode(SUBPATHS), 0750);
	assert_int_equal(sandbox_mode(SUBPATHS "/data/main"), 0750);
	assert_int_equal(mode_beneath(), 0750);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_case_194_a_file(void **state)
{
	sandbox_write(VOLUME "/file", "text");
	assert_int_equal(subpath_world_bind("file"), 0);
	assert_true(sandbox_has(TARGET, "text"));
	assert_int_equal(mode_beneath(), 0640);
	assert_true(sandbox_has(TARGET, ""));
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_true(sandbox_has(VOLUME "/file", "text"));
}

static void make_socket(const char *relative)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", sandbox_path(relative));
	assert_return_code(bind(fd, &address, sizeof(address)), errno);
	(void) close(fd);
}

static void test_case_195_a_socket(void **state)
{
	struct stat status;

	make_socket(VOLUME "/socket");
	assert_int_equal(subpath_world_bind("socket"), 0);
	assert_return_code(stat(sandbox_path(TARGET), &status), errno);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(subpath_world_clean("data"), 0);
}

/* What is missing is made, unless it cannot be. */
static void test_case_196_a_missing_path(void **state)
{
	assert_return_code(mount("none", sandbox_path(VOLUME), "tmpfs", MS_RDONLY, NULL), errno);
	expect_refused("missing", -EROFS);
	assert_return_code(umount(sandbox_path(VOLUME)), errno);
	assert_int_equal(subpath_world_bind("missing"), 0);
	assert_int_equal(sandbox_mode(VOLUME "/missing"), 0777);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_case_197_a_link_inside(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	subpath_world_link("dir", VOLUME "/link");
	assert_int_equal(subpath_world_bind("link"), 0);
	assert_true(same_inode(TARGET, VOLUME "/dir"));
	assert_int_equal(subpath_world_clean("data"), 0);
}

/* case 197, a difference: kubelet compares path strings, and takes an absolute link that names the
 * volume's own place on the host. */
static void test_case_197_an_absolute_link_inside(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	subpath_world_link(sandbox_path(VOLUME "/dir"), VOLUME "/link");
	expect_refused("link", -EXDEV);
	assert_non_null(strstr(subpath_world_failure()->text, "leads out of the volume"));
}

static void test_case_198_a_link_to_the_host(void **state)
{
	subpath_world_link("/", VOLUME "/link");
	expect_refused("link", -EXDEV);
	assert_non_null(strstr(subpath_world_failure()->text, "leads out of the volume"));
}

static void test_case_199_a_child_of_such_a_link(void **state)
{
	subpath_world_link(sandbox_path("outside"), VOLUME "/link");
	expect_refused("link/dir", -EXDEV);
	expect_refused("link/new", -EXDEV);
}

static void test_case_200_a_link_out_in_the_middle(void **state)
{
	sandbox_mkdir(VOLUME "/a", 0755);
	subpath_world_link("../../../../../../../outside", VOLUME "/a/b");
	expect_refused("a/b/dir", -EXDEV);
}

static void test_case_201_a_link_upwards(void **state)
{
	subpath_world_link("../../..", VOLUME "/up");
	expect_refused("up", -EXDEV);
	expect_refused("up/volumes", -EXDEV);
}

static void test_case_202_an_unmounted_target(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	sandbox_mkdir(SUBPATHS, 0750);
	sandbox_mkdir(SUBPATHS "/data", 0750);
	sandbox_mkdir(SUBPATHS "/data/main", 0750);
	sandbox_mkdir(TARGET, 0701);
	assert_int_equal(subpath_world_bind("dir"), 0);
	assert_true(same_inode(TARGET, VOLUME "/dir"));
	assert_int_equal(mode_beneath(), 0701);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_case_203_bound_already(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	assert_int_equal(subpath_world_bind("dir"), 0);
	kernel_calls_counts()->attached = 0;
	assert_int_equal(subpath_world_bind("dir"), 0);
	assert_int_equal(kernel_calls_counts()->attached, 0);
	assert_int_equal(mounts_at_target(), 1);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_case_204_bound_to_something_else(void **state)
{
	sandbox_mkdir(VOLUME "/old", 0755);
	sandbox_write(VOLUME "/old/file", "kept");
	sandbox_mkdir(VOLUME "/new", 0755);
	assert_int_equal(subpath_world_bind("old"), 0);
	assert_int_equal(subpath_world_bind("new"), 0);
	assert_true(same_inode(TARGET, VOLUME "/new"));
	assert_int_equal(mounts_at_target(), 1);
	assert_true(sandbox_has(VOLUME "/old/file", "kept"));

	/* a file where a directory was, and back */
	sandbox_write(VOLUME "/file", "text");
	assert_int_equal(subpath_world_bind("file"), 0);
	assert_true(sandbox_has(TARGET, "text"));
	assert_int_equal(subpath_world_bind("old"), 0);
	assert_true(sandbox_has(TARGET "/file", "kept"));
	assert_int_equal(mounts_at_target(), 1);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_the_source_was_made_anew(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	assert_int_equal(subpath_world_bind("dir"), 0);
	assert_return_code(rename(sandbox_path(VOLUME "/dir"), sandbox_path(VOLUME "/gone")),
			   errno);
	sandbox_mkdir(VOLUME "/dir", 0755);
	assert_int_equal(subpath_world_bind("dir"), 0);
	assert_true(same_inode(TARGET, VOLUME "/dir"));
	assert_int_equal(mounts_at_target(), 1);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_case_205_a_socket_in_the_middle(void **state)
{
	make_socket(VOLUME "/socket");
	expect_refused("socket/x", -ENOTDIR);
}

/* The directories of kubelet's layout are opened without any link, whatever it points to. */
static void test_case_206_no_link_where_none_may_be(void **state)
{
	sandbox_mkdir("outside-of-root", 0755);
	sandbox_mkdir(VOLUME "/dir", 0755);
	subpath_world_link("../../../outside-of-root", SUBPATHS);
	assert_int_equal(subpath_world_bind("dir"), -ELOOP);
	assert_non_null(strstr(subpath_world_failure()->text, "symbolic link where none may be"));
	assert_return_code(unlink(sandbox_path(SUBPATHS)), errno);

	assert_return_code(rename(sandbox_path(VOLUME), sandbox_path(VOLUME "2")), errno);
	subpath_world_link("data2", VOLUME);
	expect_refused("dir", -ELOOP);
}

static void test_case_207_a_backstep_in_a_name(void **state)
{
	struct subpath_request request = subpath_world_request("dir");

	sandbox_mkdir(VOLUME "/dir", 0755);
	request.container = "..";
	assert_int_equal(subpath_world_bind_request(&request), -EINVAL);
	request = subpath_world_request("dir");
	request.volume_name = "a/b";
	assert_int_equal(subpath_world_bind_request(&request), -EINVAL);
	request = subpath_world_request("dir");
	request.pod_uid = "";
	assert_int_equal(subpath_world_bind_request(&request), -EINVAL);
	expect_refused("dir/..", -EINVAL);
}

/* case 208, a file and a socket as the last component, are cases 194 and 195 here: there is one
 * open, and it ends at whatever is there. */
static void test_a_fifo_and_a_device_do_not_hang(void **state)
{
	assert_return_code(mkfifo(sandbox_path(VOLUME "/fifo"), 0644), errno);
	assert_int_equal(subpath_world_bind("fifo"), 0);
	assert_true(same_inode(TARGET, VOLUME "/fifo"));
	assert_int_equal(subpath_world_clean("data"), 0);
}

/* Opens, has the world change, then binds. */
static void bind_after(const char *sub_path, void (*change)(void))
{
	const struct subpath_request request = subpath_world_request(sub_path);
	cleanup(subpath_done) struct subpath subpath = SUBPATH_EMPTY;

	assert_int_equal(subpath_open(&request, &subpath, NULL), 0);
	change();
	assert_int_equal(subpath_bind(&subpath, NULL), 0);
}

static void swap_for_a_link(void)
{
	assert_return_code(renameat2(sandbox_fd(), VOLUME "/dir", sandbox_fd(), VOLUME "/link",
				     RENAME_EXCHANGE),
			   errno);
}

/* case 209, a difference: there is no mount command, nothing to canonicalise: a descriptor is
 * bound, whatever its path has become. */
static void test_case_211_swapped_after_the_open(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	sandbox_write(VOLUME "/dir/file", "opened");
	subpath_world_link(sandbox_path("outside/dir"), VOLUME "/link");
	bind_after("dir", swap_for_a_link);
	assert_true(sandbox_has(TARGET "/file", "opened"));
	assert_false(sandbox_is_there(TARGET "/secret"));
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void move_parent_away(void)
{
	assert_return_code(rename(sandbox_path(VOLUME "/a"), sandbox_path(VOLUME "/elsewhere")),
			   errno);
	subpath_world_link(sandbox_path("outside"), VOLUME "/a");
}

static void test_parent_moved_after_the_open(void **state)
{
	sandbox_mkdir(VOLUME "/a", 0755);
	sandbox_mkdir(VOLUME "/a/dir", 0755);
	bind_after("a/dir", move_parent_away);
	assert_true(same_inode(TARGET, VOLUME "/elsewhere/dir"));
	assert_int_equal(subpath_world_clean("data"), 0);
}

/* case 210: what was a directory at the look is a link when it is opened. The one look is
 * the open; test_path_races swaps it all the time. */
static void test_swapped_before_the_open(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	subpath_world_link("/", VOLUME "/link");
	swap_for_a_link();
	expect_refused("dir", -EXDEV);
}

static void test_case_212_a_link_made_by_a_container(void **state)
{
	struct subpath_request second = subpath_world_request("link");

	sandbox_mkdir(VOLUME "/own", 0777);
	assert_int_equal(subpath_world_bind("own"), 0);
	subpath_world_link("/etc", VOLUME "/link"); /* by the first container */
	second.container = "second";
	assert_int_equal(subpath_world_bind_request(&second), -EXDEV);
	assert_false(sandbox_is_there(SUBPATHS "/data/second"));
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_a_read_only_volume_stays_so(void **state)
{
	struct statvfs facts;

	sandbox_mkdir("data", 0755);
	sandbox_mkdir("data/dir", 0755);
	assert_return_code(mount(sandbox_path("data"), sandbox_path(VOLUME), NULL, MS_BIND, NULL),
			   errno);
	assert_return_code(
		mount(NULL, sandbox_path(VOLUME), NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL),
		errno);
	assert_int_equal(subpath_world_bind("dir"), 0);
	assert_return_code(statvfs(sandbox_path(TARGET), &facts), errno);
	assert_true(facts.f_flag & ST_RDONLY);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_return_code(umount(sandbox_path(VOLUME)), errno);
}

/* The author of a hostPath may name any place; what is in it may not lead out of it. */
static void test_a_host_path(void **state)
{
	struct subpath_request request = subpath_world_request("dir");

	sandbox_mkdir("host", 0755);
	sandbox_mkdir("host/dir", 0755);
	subpath_world_link("host", "link-to-host");
	subpath_world_link("../outside", "host/out");
	request.volume_path = sandbox_path("link-to-host");
	assert_int_equal(subpath_world_bind_request(&request), 0);
	assert_true(same_inode(TARGET, "host/dir"));
	request.sub_path = "out";
	assert_int_equal(subpath_world_bind_request(&request), -EXDEV);
	sandbox_write("file", "");
	request.volume_path = sandbox_path("file");
	assert_int_equal(subpath_world_bind_request(&request), -ENOTDIR);
	assert_int_equal(subpath_world_clean("data"), 0);
}

static void test_the_volume_is_not_mounted_any_more(void **state)
{
	struct subpath_request request = subpath_world_request("dir");
	struct mount_facts facts;
	cleanup_close int fd = -EBADF;

	assert_return_code(mount("none", sandbox_path(VOLUME), "tmpfs", 0, NULL), errno);
	fd = open(sandbox_path(VOLUME), O_PATH | O_CLOEXEC);
	assert_int_equal(fd_facts(fd, &facts, NULL), 0);
	fd = close_keep_errno(fd);
	request.mount_id = facts.mount_id;
	assert_int_equal(subpath_world_bind_request(&request), 0);
	assert_int_equal(subpath_world_clean("data"), 0);
	assert_return_code(umount(sandbox_path(VOLUME)), errno);
	assert_int_equal(subpath_world_bind_request(&request), -ESTALE);
	assert_false(sandbox_is_there(VOLUME "/dir"));
}

static void test_a_foreign_volume_s_file_is_not_covered(void **state)
{
	sandbox_mkdir(VOLUME "/dir", 0755);
	sandbox_mkdir(SUBPATHS, 0750);
	sandbox_mkdir(SUBPATHS "/data", 0750);
	sandbox_mkdir(SUBPATHS "/data/main", 0750);
	sandbox_write(TARGET, "mine");
	assert_int_equal(subpath_world_bind("dir"), -EEXIST);
	assert_true(sandbox_has(TARGET, "mine"));
	sandbox_write(TARGET, ""); /* as podvold's are */
	assert_int_equal(subpath_world_bind("dir"), 0);
	assert_int_equal(subpath_world_clean("data"), 0);
}

#define BOTH(function)                                                                             \
	SUBPATH_TEST(function),                                                                    \
		SUBPATH_TEST_WITHOUT(WITHOUT_OPENAT2 | WITHOUT_OPEN_TREE | WITHOUT_MOUNT_SETATTR | \
					     WITHOUT_MOVE_MOUNT,                                   \
				     function)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SUBPATH_TEST(test_case_10_an_absolute_path),
		SUBPATH_TEST(test_case_11_a_backstep),
		BOTH(test_case_12_a_link_of_the_atomic_writer),
		BOTH(test_case_193_a_directory),
		BOTH(test_case_194_a_file),
		BOTH(test_case_195_a_socket),
		BOTH(test_case_196_a_missing_path),
		BOTH(test_case_197_a_link_inside),
		BOTH(test_case_197_an_absolute_link_inside),
		BOTH(test_case_198_a_link_to_the_host),
		BOTH(test_case_199_a_child_of_such_a_link),
		BOTH(test_case_200_a_link_out_in_the_middle),
		BOTH(test_case_201_a_link_upwards),
		BOTH(test_case_202_an_unmounted_target),
		BOTH(test_case_203_bound_already),
		BOTH(test_case_204_bound_to_something_else),
		BOTH(test_the_source_was_made_anew),
		BOTH(test_case_205_a_socket_in_the_middle),
		BOTH(test_case_206_no_link_where_none_may_be),
		SUBPATH_TEST(test_case_207_a_backstep_in_a_name),
		BOTH(test_a_fifo_and_a_device_do_not_hang),
		BOTH(test_case_211_swapped_after_the_open),
		BOTH(test_parent_moved_after_the_open),
		BOTH(test_swapped_before_the_open),
		BOTH(test_case_212_a_link_made_by_a_container),
		BOTH(test_a_read_only_volume_stays_so),
		BOTH(test_a_host_path),
		BOTH(test_the_volume_is_not_mounted_any_more),
		BOTH(test_a_foreign_volume_s_file_is_not_covered),
	};

	return sandbox_run("subpath", tests, ARRAY_SIZE(tests));
}
