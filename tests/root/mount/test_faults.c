/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_faults - each single call of a volume's life fails once; nothing is lost, nothing is left
 *
 * Up and down of a root directory, a bind, a tmpfs with an owner, and what is in use elsewhere.
 * Whatever fails: the data stays, no descriptor leaks, and a second try without a failure takes
 * away what is left.
 */
#include "tests/root/sandbox.h"
#include "tests/fault/faults.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

#define BIND_PATH  "pods/uid/volumes/plugin/bind"
#define TMPFS_PATH "pods/uid/volumes/plugin/tmpfs"

struct life {
	struct mount_root root;
	struct mount_table *table;
	bool opened;
};

static int ignore_entry(const struct mount_entry *entry, void *userdata)
{
	return 0;
}

static int open_life(struct life *life, const char *path)
{
	int result = mount_root_open(path, &life->root, NULL);

	life->opened = result == 0;
	return result == 0 ? mount_table_new(&life->table, NULL) : result;
}

static int set_up_bind(struct life *life, const char *source)
{
	const struct mount_attributes attributes = {
		.set = MOUNT_ATTR_RDONLY,
		.propagation = MS_PRIVATE,
	};
	cleanup(place_done) struct place place = PLACE_EMPTY;
	cleanup_close int source_fd = -EBADF, target_fd = -EBADF;
	int result;

	source_fd = open_host_path(source, O_PATH | O_DIRECTORY, NULL);
	if (source_fd < 0)
		return source_fd;
	result = mount_table_references(life->table, source_fd, "", ignore_entry, NULL, NULL);
	if (result < 0)
		return result;
	result = place_make(life->root.fd, life->root.path, BIND_PATH, 0750, &place, NULL);
	if (result < 0)
		return result;
	target_fd = make_directory(&place, 0750, NULL, NULL);
	return target_fd < 0 ? target_fd : bind_at(source_fd, target_fd, &attributes, NULL);
}

static int set_up_tmpfs(struct life *life)
{
	const struct ownership ownership = { .gid = 1000 };
	cleanup_close int target_fd = -EBADF, mounted_fd = -EBADF;
	int result;

	target_fd = make_directories(life->root.fd, TMPFS_PATH, 0750, NULL);
	if (target_fd < 0)
		return target_fd;
	result = mount_filesystem("tmpfs", "tmpfs", "size=1m,mode=0700,nosuid", target_fd, NULL);
	if (result < 0)
		return result;
	mounted_fd = open_beneath(life->root.fd, TMPFS_PATH, O_PATH | O_DIRECTORY,
				  PATH_NO_SYMLINKS_ANY_MOUNT, NULL);
	if (mounted_fd < 0)
		return mounted_fd;
	result = ownership_apply(mounted_fd, &ownership, NULL, NULL, NULL);
	return result < 0 ? result : 0;
}

static int take_down(struct life *life, const char *path)
{
	cleanup(place_done) struct place place = PLACE_EMPTY;
	int result = place_open(life->root.fd, life->root.path, path, &place, NULL);

	if (result == 0)
		result = cleanup_mount_point(&place, NULL);
	if (result == -ENOENT)
		result = 0;
	if (result == 0)
		(void) remove_empty_parents(life->root.fd, path, 0, NULL);
	return result;
}

static int close_life(struct life *life)
{
	int result = mount_root_undo(&life->root, NULL);

	life->table = mount_table_free(life->table);
	mount_root_done(&life->root);
	life->opened = false;
	return result;
}

/* Up and down; ends at the first failure, as a daemon that is killed there would. */
static int live(struct life *life, const char *root, const char *source)
{
	int result = open_life(life, root);

	if (result == 0)
		result = set_up_bind(life, source);
	if (result == 0)
		result = set_up_tmpfs(life);
	if (result == 0)
		result = mount_table_refresh(life->table, NULL);
	if (result == 0)
		result = take_down(life, TMPFS_PATH);
	if (result == 0)
		result = take_down(life, BIND_PATH);
	return result;
}

/* What the next start does: without a failure it must find and take down all that is left. */
static void recover(struct life *life, const char *root)
{
	if (life->opened) {
		life->table = mount_table_free(life->table);
		mount_root_done(&life->root);
	}
	*life = (struct life){ 0 };
	assert_int_equal(open_life(life, root), 0);
	assert_int_equal(take_down(life, TMPFS_PATH), 0);
	assert_int_equal(take_down(life, BIND_PATH), 0);
	assert_int_equal(close_life(life), 0);
}

static void test_each_call_fails_once(void **state)
{
	char root[256], source[256];
	struct mount_facts facts;
	unsigned int nth = 0, fds, failures = 0;
	bool failed_one;

	sandbox_mkdir("source", 0755);
	sandbox_write("source/file", "data");
	sandbox_mkdir("root", 0750);
	snprintf(root, sizeof(root), "%s", sandbox_path("root"));
	snprintf(source, sizeof(source), "%s", sandbox_path("source"));
	assert_int_equal(fd_facts(sandbox_fd(), &facts, NULL), 0); /* learns what ids there are */
	fds = sandbox_open_fds();

	do {
		struct life life = { 0 };
		int result;

		faults_arm(++nth);
		result = live(&life, root, source);
		failed_one = faults_disarm();
		failures += result < 0;
		if (!failed_one)
			assert_int_equal(result, 0);

		assert_true(sandbox_has("source/file", "data"));
		recover(&life, root);
		if (sandbox_mounts_below(root) != 0 || sandbox_open_fds() != fds)
			fail_msg("call %u, %s: %u mounts and %u descriptors (%u before) are left",
				 nth, faults_last(), sandbox_mounts_below(root), sandbox_open_fds(),
				 fds);
		assert_int_equal(access(sandbox_path("root/pods"), F_OK), -1);
	} while (failed_one);
	print_message("# %u calls, %u of them ended it\n", nth - 1, failures);
	assert_in_range(nth, 60, 1000);
	assert_in_range(failures, nth / 2, nth); /* most failures are reported */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_each_call_fails_once),
	};

	return sandbox_run("faults", tests, ARRAY_SIZE(tests));
}
