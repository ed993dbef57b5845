/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_copy - snapshots of volumes and volumes filled from others, on real file systems
 *
 * On a tmpfs everything is copied; on a btrfs, where this kernel has it, blocks are shared and a
 * subvolume's snapshot is one of a moment. What is kept of an entry is compared by a system test.
 */
#include "tests/root/loop_image.h"
#include "tests/root/sandbox.h"

#include "base/cleanup.h"
#include "mount/archive/file_copy.h"
#include "mount/archive/volume_copy.h"
#include "mount/remove/volume_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>

static char base[128]; /* longer than one of the sandbox's buffers lives */
static struct copy_progress progress;
static atomic_bool cancel;
static const struct copy_watch watch = { &cancel, &progress, false };

static struct volume_directory directory(const char *name)
{
	(void) snprintf(base, sizeof(base), "%s", sandbox_path("base"));
	return (struct volume_directory){ .base_path = base, .name = name, .mark = name };
}

static struct volume_source source(const char *name, bool is_snapshot)
{
	return (struct volume_source){
		.base_path = base, .name = name, .mark = name, .is_snapshot = is_snapshot
	};
}

/* ---- a writer ---- */

static unsigned int writes; /* of what is to be written while it is copied, once for each copy */

int __real_file_copy(int from_fd, int to_fd, const atomic_bool *stop, _Atomic uint64_t *copied,
		     struct failure *reterr);
int __wrap_file_copy(int from_fd, int to_fd, const atomic_bool *stop, _Atomic uint64_t *copied,
		     struct failure *reterr);

int __wrap_file_copy(int from_fd, int to_fd, const atomic_bool *stop, _Atomic uint64_t *copied,
		     struct failure *reterr)
{
	int r = __real_file_copy(from_fd, to_fd, stop, copied, reterr);

	if (writes > 0) {
		writes--;
		sandbox_write("base/v/file", "new");
	}
	return r;
}

/* Until a change would have another time than those before. */
static void wait_for_tick(void)
{
	struct timespec then = tree_print_since(), now = then;

	while (now.tv_nsec == then.tv_nsec && now.tv_sec == then.tv_sec)
		now = tree_print_since();
}

static int move_to(const char *name, struct failure *why)
{
	const struct volume_directory made = directory(name);
	struct volume_source of = source("v", false);

	of.is_unused = true;
	return volume_directory_make_filled(&made, &of, &watch, why);
}

static int take(const char *name, const char *from, struct volume_snapshot_facts *ret)
{
	const struct volume_directory made = directory(name);
	const struct volume_source of = source(from, false);
	struct failure why = { .error = 0 };

	return volume_snapshot_take(&made, &of, &watch, ret, &why);
}

static int make_filled(const char *name, const char *from, bool is_snapshot)
{
	const struct volume_directory made = directory(name);
	const struct volume_source of = source(from, is_snapshot);
	struct failure why = { .error = 0 };

	return volume_directory_make_filled(&made, &of, &watch, &why);
}

static bool is_there(const char *relative)
{
	return faccessat(sandbox_fd(), relative, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A volume "v" with a file and a directory. */
static void make_volume(void)
{
	const struct volume_directory made = directory("v");

	atomic_store(&cancel, false);
	if (!is_there("base"))
		sandbox_mkdir("base", 0755);
	assert_int_equal(volume_directory_make(&made, 0751, NULL), 0);
	sandbox_write("base/v/file", "one");
	sandbox_mkdir("base/v/directory", 0750);
	sandbox_write("base/v/directory/below", "two");
}

static void a_snapshot_is_taken_once(void **state)
{
	struct volume_snapshot_facts facts, again;
	struct stat status;

	make_volume();
	assert_int_equal(take("s", "v", &facts), 0);
	assert_true(facts.creation_nsec > 0);
	assert_false(facts.is_atomic);
	sandbox_write("base/v/file", "changed");
	assert_int_equal(take("s", "v", &again), 0); /* as after a kill */
	assert_true(again.creation_nsec == facts.creation_nsec);
	assert_true(sandbox_has("base/s/data/file", "one"));
	assert_true(sandbox_has("base/s/data/directory/below", "two"));
	assert_return_code(stat(sandbox_path("base/s/data"), &status), errno);
	assert_int_equal(status.st_mode & 07777, 0751);
	assert_return_code(stat(sandbox_path("base/s"), &status), errno);
	assert_int_equal(status.st_mode & 07777, 0700);
	/* The copy belongs to no volume. */
	assert_true(getxattr(sandbox_path("base/s/data"), VOLUME_DIRECTORY_MARK, NULL, 0) < 0);
}

static void a_part_is_begun_anew(void **state)
{
	const struct volume_directory part = directory("s");
	struct volume_snapshot_facts facts;

	make_volume();
	assert_int_equal(volume_directory_make(&part, 0700, NULL), 0);
	sandbox_mkdir("base/s/data", 0700);
	sandbox_write("base/s/data/left-over", "old");
	assert_int_equal(volume_snapshot_sync(&part, &facts, NULL), -EPERM);
	assert_int_equal(take("s", "v", &facts), 0);
	assert_false(is_there("base/s/data/left-over"));
	assert_true(sandbox_has("base/s/data/file", "one"));
}

static void what_is_not_ours_is_no_snapshot(void **state)
{
	struct volume_snapshot_facts facts;

	make_volume();
	sandbox_mkdir("base/s", 0700);
	sandbox_write("base/s/precious", "x");
	assert_int_equal(take("s", "v", &facts), -EEXIST);
	assert_true(sandbox_has("base/s/precious", "x"));
	assert_int_equal(take("t", "nothing", &facts), -ENOENT);
	assert_false(is_there("base/t"));
	/* A link in the volume's place leads nowhere. */
	assert_return_code(symlink("s", sandbox_path("base/link")), errno);
	assert_true(take("t", "link", &facts) < 0);
	assert_false(is_there("base/t"));
}

static void one_that_is_broken_off_is_gone(void **state)
{
	struct volume_snapshot_facts facts;

	make_volume();
	atomic_store(&cancel, true);
	assert_int_equal(take("s", "v", &facts), -ECANCELED);
	assert_false(is_there("base/s"));
	assert_int_equal(make_filled("w", "v", false), -ECANCELED);
	atomic_store(&cancel, false);
	assert_int_equal(make_filled("w", "v", false), 0);
	assert_true(sandbox_has("base/w/directory/below", "two"));
}

static void a_source_that_is_held_waits(void **state)
{
	struct volume_snapshot_facts facts;
	cleanup_close int fd = -EBADF;
	int lock_fd = -EBADF;

	make_volume();
	fd = open(sandbox_path("base/v"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(volume_lock_take(fd, VOLUME_LOCK_EXCLUSIVE, "v", &lock_fd, NULL), 0);
	assert_int_equal(take("s", "v", &facts), -EBUSY);
	assert_int_equal(make_filled("w", "v", false), -EBUSY);
	lock_fd = volume_lock_release(lock_fd);
	assert_int_equal(take("s", "v", &facts), 0);
}

static void a_volume_is_filled_and_settled(void **state)
{
	const struct volume_directory made = directory("w");
	struct volume_snapshot_facts facts;
	struct stat status;

	make_volume();
	assert_int_equal(take("s", "v", &facts), 0);
	assert_int_equal(make_filled("w", "s", true), 0);
	assert_return_code(stat(sandbox_path("base/w"), &status), errno);
	assert_int_equal(status.st_mode & 07777, 0751);
	assert_int_equal(make_filled("w", "s", true), 0); /* as after a kill */
	assert_int_equal(volume_directory_settle(&made, NULL), 0);
	sandbox_write("base/w/file", "used");
	/* Neither filled again nor taken back with what is in it. */
	assert_int_equal(make_filled("w", "s", true), 0);
	assert_true(sandbox_has("base/w/file", "used"));
	assert_int_equal(volume_directory_unmake_filled(&made, false, NULL), -EALREADY);
	assert_true(sandbox_has("base/w/file", "used"));
	assert_int_equal(volume_directory_unmake_filled(&made, true, NULL), 0);
	assert_false(is_there("base/w"));
}

static void one_that_was_never_used_is_taken_back(void **state)
{
	const struct volume_directory made = directory("w");
	struct failure why = { .error = 0 };

	make_volume();
	assert_int_equal(make_filled("w", "v", false), 0);
	(void) volume_directory_unmake_filled(&made, false, &why);
	assert_string_equal(why.text, "");
	assert_false(is_there("base/w"));
	assert_true(sandbox_has("base/v/file", "one"));
}

static void what_is_written_meanwhile_is_copied_again(void **state)
{
	struct volume_directory other;
	struct failure why = { .error = 0 };

	make_volume();
	other = directory("x");
	wait_for_tick();
	writes = 1;
	assert_int_equal(move_to("w", &why), 0);
	assert_int_equal(writes, 0);
	assert_true(sandbox_has("base/w/file", "new"));
	writes = 100;
	assert_int_equal(move_to("x", &why), -EBUSY);
	assert_string_equal(why.text, "it was written to while it was copied, 'file' for one: stop "
				      "what writes there");
	writes = 0;
	assert_int_equal(volume_directory_unmake_filled(&other, false, NULL), 0);
	assert_false(is_there("base/x"));
}

/* As after a kill. */
static void what_was_written_since_is_copied_again(void **state)
{
	const struct volume_directory made = directory("w");
	struct failure why = { .error = 0 };

	make_volume();
	wait_for_tick();
	assert_int_equal(move_to("w", &why), 0);
	sandbox_write("base/w/copy", "the first");
	assert_int_equal(move_to("w", &why), 0);
	assert_true(sandbox_has("base/w/copy", "the first"));
	sandbox_write("base/v/directory/below", "now");
	wait_for_tick();
	assert_int_equal(move_to("w", &why), 0);
	assert_true(sandbox_has("base/w/directory/below", "now"));
	assert_false(is_there("base/w/copy"));
	assert_int_equal(volume_directory_settle(&made, &why), 0);
	sandbox_write("base/v/later", "later");
	wait_for_tick();
	assert_int_equal(move_to("w", &why), 0);
	assert_true(sandbox_has("base/w/later", "later"));
}

/* ---- btrfs ---- */

static struct loop_image disk;

static void mount_btrfs(void)
{
	disk = loop_image_new("disk", 128);
	loop_image_format("disk", "/usr/sbin/mkfs.btrfs");
	sandbox_mkdir("base", 0755);
	if (mount(disk.path, sandbox_path("base"), "btrfs", 0, "") < 0) {
		loop_image_done(&disk);
		print_message("# no btrfs here\n");
		skip();
	}
}

static void make_subvolume(const char *name)
{
	struct btrfs_ioctl_vol_args arguments = { .fd = 0 };
	cleanup_close int fd = open(sandbox_path("base"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void) snprintf(arguments.name, sizeof(arguments.name), "%s", name);
	assert_return_code(ioctl(fd, BTRFS_IOC_SUBVOL_CREATE, &arguments), errno);
}

static void a_subvolume_is_of_one_moment(void **state)
{
	const struct volume_directory gone = directory("s");
	struct volume_snapshot_facts facts;

	mount_btrfs();
	make_subvolume("v");
	make_volume();
	assert_int_equal(take("s", "v", &facts), 0);
	assert_true(facts.is_atomic);
	assert_int_equal(take("s", "v", &facts), 0);
	assert_true(facts.is_atomic);
	sandbox_write("base/v/file", "changed");
	assert_true(sandbox_has("base/s/data/file", "one"));
	assert_true(getxattr(sandbox_path("base/s/data"), VOLUME_DIRECTORY_MARK, NULL, 0) < 0);
	assert_int_equal(make_filled("w", "s", true), 0);
	assert_true(sandbox_has("base/w/directory/below", "two"));
	assert_int_equal(volume_directory_remove(&gone, NULL), 0);
	assert_false(is_there("base/s"));
	assert_return_code(umount(sandbox_path("base")), errno);
	loop_image_done(&disk);
}

static void files_share_their_blocks(void **state)
{
	cleanup_close int from_fd = -EBADF, to_fd = -EBADF;
	struct failure why = { .error = 0 };

	mount_btrfs();
	sandbox_write("base/file", "shared");
	from_fd = open(sandbox_path("base/file"), O_RDONLY | O_CLOEXEC);
	to_fd = open(sandbox_path("base/copy"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(file_copy(from_fd, to_fd, NULL, NULL, &why), 1);
	assert_true(sandbox_has("base/copy", "shared"));
	from_fd = close_keep_errno(from_fd);
	to_fd = close_keep_errno(to_fd);
	assert_return_code(umount(sandbox_path("base")), errno);
	loop_image_done(&disk);
}

#define DISK_TEST(function)                                                                        \
	cmocka_unit_test_setup_teardown(function, sandbox_setup, loop_image_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(a_snapshot_is_taken_once),
		SANDBOX_TEST(a_part_is_begun_anew),
		SANDBOX_TEST(what_is_not_ours_is_no_snapshot),
		SANDBOX_TEST(one_that_is_broken_off_is_gone),
		SANDBOX_TEST(a_source_that_is_held_waits),
		SANDBOX_TEST(a_volume_is_filled_and_settled),
		SANDBOX_TEST(one_that_was_never_used_is_taken_back),
		SANDBOX_TEST(what_is_written_meanwhile_is_copied_again),
		SANDBOX_TEST(what_was_written_since_is_copied_again),
		DISK_TEST(a_subvolume_is_of_one_moment),
		DISK_TEST(files_share_their_blocks),
	};

	return sandbox_run("volume_copy", tests, ARRAY_SIZE(tests));
}
