/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_idmap - two groups exchanged in a mount: what is seen in it, and what goes to the disk
 *
 * On tmpfs (Linux 6.3) and on ext4 (5.12), with the calls there are; a kernel that cannot skips.
 */
#include "tests/root/kernel_calls.h"
#include "tests/root/loop_image.h"

#include "base/cleanup.h"
#include "mount/bind/idmap.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum { DISK = 2000, WANTED = 3000, OTHER = 2500, PAIR_MOST = 0x7ffffffe };

static struct idmap_cache *cache;

static int setup(void **state)
{
	return idmap_cache_new(&cache) < 0 ? -1 : kernel_calls_setup(state);
}

static int teardown(void **state)
{
	cache = idmap_cache_free(cache);
	return kernel_calls_teardown(state);
}

static int teardown_loop(void **state)
{
	cache = idmap_cache_free(cache);
	return loop_image_teardown(state);
}

static struct stat look(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status;
}

static gid_t group(const char *relative)
{
	return look(relative).st_gid;
}

static void give(const char *relative, gid_t gid, mode_t mode)
{
	assert_return_code(lchown(sandbox_path(relative), 7, gid), errno);
	assert_return_code(chmod(sandbox_path(relative), mode), errno);
}

static void write_as(const char *relative, gid_t gid)
{
	int before = setfsgid(gid);

	sandbox_write(relative, "new");
	(void) setfsgid((gid_t) before);
}

static int bind_mapped(const char *source, const char *target, gid_t one, gid_t other)
{
	struct mount_attributes attributes = { .set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_NODEV };
	cleanup_close int source_fd = open(sandbox_path(source), O_PATH | O_CLOEXEC);
	cleanup_close int target_fd = open(sandbox_path(target), O_PATH | O_CLOEXEC);
	cleanup_close int map_fd = -EBADF;
	struct failure failure = { 0 };
	int r;

	map_fd = idmap_exchange(cache, one, other, &failure);
	if (map_fd < 0)
		fail_msg("%s", failure.text);
	attributes.userns_fd = map_fd;
	r = bind_at(source_fd, target_fd, &attributes, &failure);
	if (r < 0)
		print_message("# %s\n", failure.text);
	return r;
}

/* Before anything is mounted: a kernel may lack the calls, or tmpfs the maps. */
static void need_maps(bool on_tmpfs)
{
	int r;

	sandbox_mkdir("probe", 0755);
	r = bind_mapped("probe", "probe", DISK, WANTED);
	if (r == 0)
		assert_return_code(umount2(sandbox_path("probe"), 0), errno);
	if (r == -ENOSYS || (on_tmpfs && r == -EINVAL))
		skip();
}

/* A directory of the group, with a file of it and of others. */
static void make_source(void)
{
	sandbox_mkdir("disk/source", 0755);
	sandbox_mkdir("disk/source/setgid", 0755);
	sandbox_write("disk/source/own", "data");
	sandbox_write("disk/source/others", "data");
	sandbox_write("disk/source/wanted", "data");
	sandbox_write("disk/source/root", "data");
	assert_return_code(symlink("own", sandbox_path("disk/source/link")), errno);
	assert_return_code(lchown(sandbox_path("disk/source/link"), 7, DISK), errno);
	give("disk/source", DISK, 0775);
	give("disk/source/setgid", DISK, 02770);
	give("disk/source/own", DISK, 0640);
	give("disk/source/others", OTHER, 0640);
	give("disk/source/wanted", WANTED, 0640);
	give("disk/source/root", 0, 0640);
	sandbox_mkdir("target", 0750);
}

static void check_view(void)
{
	static const struct {
		const char *name;
		gid_t seen;
	} entries[] = {
		{ "target", WANTED },      { "target/setgid", WANTED }, { "target/own", WANTED },
		{ "target/link", WANTED }, { "target/others", OTHER },  { "target/root", 0 },
		{ "target/wanted", DISK },
	};
	struct stat before = look("disk/source/own");

	assert_int_equal(bind_mapped("disk/source", "target", DISK, WANTED), 0);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		assert_int_equal(group(entries[i].name), entries[i].seen);
		assert_int_equal(look(entries[i].name).st_uid, 7);
	}
	assert_int_equal(look("target/own").st_mode & 07777, 0640);
	assert_int_equal(group("disk/source/own"), DISK);
	assert_int_equal(look("disk/source/own").st_ctim.tv_nsec, before.st_ctim.tv_nsec);
}

/* What is written in the mount, and what is changed there. */
static void check_disk(void)
{
	write_as("target/by-wanted", WANTED);
	write_as("target/by-disk", DISK);
	write_as("target/by-other", OTHER);
	write_as("target/by-root", 0);
	write_as("target/setgid/inherits", OTHER);
	assert_int_equal(group("disk/source/by-wanted"), DISK);
	assert_int_equal(group("disk/source/by-disk"), WANTED);
	assert_int_equal(group("disk/source/by-other"), OTHER);
	assert_int_equal(group("disk/source/by-root"), 0);
	assert_int_equal(group("disk/source/setgid/inherits"), DISK);
	assert_int_equal(group("target/setgid/inherits"), WANTED);

	/* Every group has a counterpart, the last one too. */
	assert_return_code(chown(sandbox_path("target/own"), 7, 4294967294U), errno);
	assert_int_equal(group("disk/source/own"), 4294967294U);
	assert_return_code(chown(sandbox_path("target/own"), 7, WANTED), errno);
	assert_int_equal(group("disk/source/own"), DISK);
}

/* A container runtime binds the pod's mount once more, perhaps a directory below it. */
static void check_copies(void)
{
	sandbox_mkdir("copy", 0750);
	assert_return_code(
		mount(sandbox_path("target/setgid"), sandbox_path("copy"), NULL, MS_BIND, NULL),
		errno);
	assert_int_equal(group("copy"), WANTED);
	assert_int_equal(group("copy/inherits"), WANTED);
	assert_return_code(umount2(sandbox_path("copy"), 0), errno);
	assert_return_code(umount2(sandbox_path("target"), 0), errno);
}

static void test_on_tmpfs(void **state)
{
	need_maps(true);
	sandbox_mkdir("disk", 0755);
	make_source();
	check_view();
	check_disk();
	check_copies();
}

static void test_on_ext4(void **state)
{
	struct loop_image image;

	need_maps(false);
	image = loop_image_new("image", 8);
	loop_image_format("image", "/usr/sbin/mkfs.ext4");
	sandbox_mkdir("disk", 0755);
	assert_return_code(mount(image.path, sandbox_path("disk"), "ext4", 0, NULL), errno);
	make_source();
	check_view();
	check_disk();
	check_copies();
	assert_return_code(umount2(sandbox_path("disk"), 0), errno);
	loop_image_done(&image);
}

/* Groups that are neighbours, and the ends of the range. */
static void test_pairs(void **state)
{
	static const gid_t pairs[][2] = {
		{ DISK, DISK + 1 }, { DISK + 1, DISK }, { 1, PAIR_MOST }, { 1, 4294967294U }
	};

	need_maps(true);
	sandbox_mkdir("source", 0755);
	sandbox_mkdir("target", 0750);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		give("source", pairs[i][0], 0755);
		assert_int_equal(bind_mapped("source", "target", pairs[i][0], pairs[i][1]), 0);
		assert_int_equal(group("target"), pairs[i][1]);
		assert_return_code(umount2(sandbox_path("target"), 0), errno);
	}
}

static void test_root_s_group_is_never_mapped(void **state)
{
	struct failure failure = { 0 };

	assert_int_equal(idmap_exchange(cache, 0, WANTED, &failure), -EINVAL);
	assert_string_equal(failure.text, "group 0 is never mapped");
	assert_int_equal(idmap_exchange(cache, WANTED, 0, &failure), -EINVAL);
	assert_int_equal(idmap_exchange(cache, WANTED, (gid_t) -1, &failure), -EINVAL);
}

static ino_t namespace_of(gid_t one, gid_t other)
{
	cleanup_close int fd = idmap_exchange(cache, one, other, NULL);
	struct stat status;

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_return_code(fstat(fd, &status), errno);
	return status.st_ino;
}

static void test_namespaces_are_kept_but_not_all(void **state)
{
	unsigned int before = sandbox_open_fds();
	ino_t first = namespace_of(DISK, WANTED);

	assert_int_equal(namespace_of(DISK, WANTED), first);
	assert_int_equal(namespace_of(WANTED, DISK), first);
	assert_int_not_equal(namespace_of(DISK, OTHER), first);
	assert_int_equal(sandbox_open_fds(), before + 2);
	for (unsigned int i = 0; i < 2 * IDMAP_NAMESPACES_MAX; i++)
		(void) namespace_of(DISK, 10000 + i);
	assert_int_equal(sandbox_open_fds(), before + IDMAP_NAMESPACES_MAX);
}

/* None of the older ways makes such a mount; nothing is left behind. */
static void test_without_the_calls(void **state)
{
	sandbox_mkdir("source", 0755);
	sandbox_mkdir("target", 0750);
	assert_int_equal(bind_mapped("source", "target", DISK, WANTED), -ENOSYS);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

static void test_a_file_system_that_cannot(void **state)
{
	int r;

	sandbox_mkdir("target", 0750);
	sandbox_mkdir("source", 0750);
	assert_return_code(mount("proc", sandbox_path("source"), "proc", 0, NULL), errno);
	r = bind_mapped("source", "target", DISK, WANTED);
	assert_true(r == -EINVAL || r == -ENOSYS);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
	assert_return_code(umount2(sandbox_path("source"), 0), errno);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
#define TEST_WITHOUT(calls)                                                                        \
	{                                                                                          \
		"test_without_the_calls (" #calls ")", test_without_the_calls, setup, teardown,    \
			(void *) (uintptr_t) (calls)                                               \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_on_tmpfs),
		cmocka_unit_test_setup_teardown(test_on_ext4, setup, teardown_loop),
		TEST(test_pairs),
		TEST(test_root_s_group_is_never_mapped),
		TEST(test_namespaces_are_kept_but_not_all),
		TEST_WITHOUT(WITHOUT_OPEN_TREE),
		TEST_WITHOUT(WITHOUT_MOUNT_SETATTR),
		TEST_WITHOUT(WITHOUT_MOVE_MOUNT),
		TEST(test_a_file_system_that_cannot),
	};

	return sandbox_run("idmap", tests, ARRAY_SIZE(tests));
}
