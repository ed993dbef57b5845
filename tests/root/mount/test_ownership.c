/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ownership - fsGroup: what the walk changes, and what it leaves alone
 */
#include "tests/root/kernel_calls.h"

#include "base/cleanup.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define GROUP 1000

static const struct ownership always = { .gid = GROUP };
static const struct ownership on_mismatch = { .gid = GROUP, .on_root_mismatch = true };
static const struct ownership read_only = { .gid = GROUP, .read_only_volume = true };

static struct ownership_counts counts;

static int apply_to(const char *relative, const struct ownership *ownership)
{
	int fd = open(sandbox_path(relative), O_PATH | O_CLOEXEC);
	struct failure failure = { 0 };
	int result;

	assert_return_code(fd, errno);
	result = ownership_apply(fd, ownership, NULL, &counts, &failure);
	(void) close(fd);
	if (result < 0)
		fail_msg("%s", failure.text);
	return result;
}

static unsigned int mode_of(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status.st_mode & 07777;
}

static unsigned int group_of(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status.st_gid;
}

static void set(const char *relative, unsigned int mode, gid_t gid)
{
	assert_return_code(lchown(sandbox_path(relative), (uid_t) -1, gid), errno);
	assert_return_code(chmod(sandbox_path(relative), mode), errno);
}

static void make_file_with(const char *relative, unsigned int mode)
{
	sandbox_write(relative, "");
	set(relative, mode, 0);
}

/* A root that needs nothing, with a child that needs something. */
static void make_volume(unsigned int mode, gid_t gid)
{
	sandbox_mkdir("volume", 0755);
	make_file_with("volume/wrong", 0600);
	set("volume", mode, gid);
}

static bool was_walked(void)
{
	return group_of("volume/wrong") == GROUP;
}

/* ---- the change policy ---- */

static void test_policy(void **state)
{
	static const struct {
		const char *label;
		unsigned int mode;
		gid_t gid;
		const struct ownership *ownership;
		bool walked;
	} rows[] = {
		{ "case 69, policy unset", 02770, GROUP, &always, true },
		{ "case 70, Always, root correct", 02770, GROUP, &always, true },
		{ "case 71, another group", 02770, GROUP + 1, &on_mismatch, true },
		{ "case 72, too few permissions", 02750, GROUP, &on_mismatch, true },
		{ "case 73, no setgid", 0770, GROUP, &on_mismatch, true },
		{ "case 74, all as wanted", 02770, GROUP, &on_mismatch, false },
		{ "case 75, more than wanted", 02775, GROUP, &on_mismatch, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		make_volume(rows[i].mode, rows[i].gid);
		if (apply_to("volume", rows[i].ownership) != rows[i].walked ||
		    was_walked() != rows[i].walked)
			fail_msg("%s", rows[i].label);
		assert_return_code(unlink(sandbox_path("volume/wrong")), errno);
		assert_return_code(rmdir(sandbox_path("volume")), errno);
	}
}

static void test_case_076_a_file_is_never_skipped(void **state)
{
	make_file_with("file", 0640);
	set("file", 02770, GROUP);
	assert_int_equal(apply_to("file", &on_mismatch), 1);
	set("file", 0600, 0);
	assert_int_equal(apply_to("file", &on_mismatch), 1);
	assert_int_equal(mode_of("file"), 0660);
	assert_int_equal(group_of("file"), GROUP);
}

static void test_read_only_volumes_match_with_less(void **state)
{
	const struct ownership ownership = {
		.gid = GROUP,
		.read_only_volume = true,
		.on_root_mismatch = true,
	};

	make_volume(02550, GROUP);
	assert_int_equal(apply_to("volume", &ownership), 0);
	assert_int_equal(apply_to("volume", &on_mismatch), 1);
}

/* ---- bits ---- */

static void test_bits(void **state)
{
	static const struct {
		const char *label;
		bool directory;
		unsigned int before;
		const struct ownership *ownership;
		unsigned int after;
	} rows[] = {
		{ "case 77, file 0644", false, 0644, &always, 0664 },
		{ "case 78, file 0600", false, 0600, &always, 0660 },
		{ "case 79, file 0777", false, 0777, &always, 0777 },
		{ "case 80, file 0400, read-only", false, 0400, &read_only, 0440 },
		{ "case 81, file 0644, read-only", false, 0644, &read_only, 0644 },
		{ "case 82, directory 0755", true, 0755, &always, 02775 },
		{ "case 83, directory 0700", true, 0700, &always, 02770 },
		{ "case 84, directory 0700, read-only", true, 0700, &read_only, 02750 },
		{ "setuid and setgid are put back", false, 06755, &always, 06775 },
		{ "setuid that needs no other bit", false, 04660, &always, 04660 },
		{ "a sticky directory", true, 01777, &always, 03777 },
		{ "no bits at all", false, 0, &always, 0660 },
	};

	sandbox_mkdir("volume", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].directory)
			sandbox_mkdir("volume/entry", rows[i].before);
		else
			make_file_with("volume/entry", rows[i].before);
		assert_int_equal(apply_to("volume", rows[i].ownership), 1);
		if (mode_of("volume/entry") != rows[i].after)
			fail_msg("%s: %04o", rows[i].label, mode_of("volume/entry"));
		assert_int_equal(group_of("volume/entry"), GROUP);
		assert_return_code(rows[i].directory ? rmdir(sandbox_path("volume/entry"))
						     : unlink(sandbox_path("volume/entry")),
				   errno);
	}
}

static void test_sockets_fifos_devices(void **state)
{
	sandbox_mkdir("volume", 0755);
	assert_return_code(mknod(sandbox_path("volume/fifo"), S_IFIFO | 0600, 0), errno);
	assert_return_code(mknod(sandbox_path("volume/socket"), S_IFSOCK | 0600, 0), errno);
	assert_return_code(mknod(sandbox_path("volume/node"), S_IFCHR | 0600, 0), errno);
	assert_int_equal(apply_to("volume", &always), 1);
	assert_int_equal(mode_of("volume/fifo"), 0660);
	assert_int_equal(mode_of("volume/socket"), 0660);
	assert_int_equal(mode_of("volume/node"), 0660);
	assert_int_equal(group_of("volume/node"), GROUP);
}

static void test_case_091_owners_never_change(void **state)
{
	struct stat status;

	sandbox_mkdir("volume", 0755);
	make_file_with("volume/file", 0600);
	assert_return_code(chown(sandbox_path("volume/file"), 4711, 0), errno);
	assert_return_code(chown(sandbox_path("volume"), 4712, 0), errno);
	assert_int_equal(apply_to("volume", &always), 1);
	assert_return_code(stat(sandbox_path("volume/file"), &status), errno);
	assert_int_equal(status.st_uid, 4711);
	assert_return_code(stat(sandbox_path("volume"), &status), errno);
	assert_int_equal(status.st_uid, 4712);
}

/* case 90, without an fsGroup nothing is called; with one, what matches is not touched, so that
 * neither its ctime nor a journal changes. */
static void test_what_matches_is_not_touched(void **state)
{
	struct stat before, after;

	sandbox_mkdir("volume", 0755);
	make_file_with("volume/file", 0600);
	assert_int_equal(apply_to("volume", &always), 1);
	assert_int_equal(counts.entries, 2);
	assert_int_equal(counts.changed, 2);
	assert_return_code(stat(sandbox_path("volume/file"), &before), errno);
	assert_int_equal(apply_to("volume", &always), 1);
	assert_return_code(stat(sandbox_path("volume/file"), &after), errno);
	assert_int_equal(counts.entries, 2);
	assert_int_equal(counts.changed, 0);
	assert_int_equal(counts.ignored, 0);
	assert_memory_equal(&before.st_ctim, &after.st_ctim, sizeof(before.st_ctim));
}

/* ---- links and mounts ---- */

static void test_case_085_a_link_to_a_file(void **state)
{
	sandbox_mkdir("volume", 0755);
	make_file_with("outside", 0600);
	assert_return_code(symlink("../outside", sandbox_path("volume/link")), errno);
	assert_return_code(symlink("nowhere", sandbox_path("volume/dangling")), errno);
	assert_int_equal(apply_to("volume", &always), 1);
	assert_int_equal(group_of("volume/link"), GROUP);
	assert_int_equal(group_of("volume/dangling"), GROUP);
	assert_int_equal(group_of("outside"), 0);
	assert_int_equal(mode_of("outside"), 0600);
}

static void test_case_086_a_link_to_a_directory(void **state)
{
	sandbox_mkdir("volume", 0755);
	sandbox_mkdir("outside", 0700);
	make_file_with("outside/file", 0600);
	assert_return_code(symlink("../outside", sandbox_path("volume/link")), errno);
	assert_int_equal(apply_to("volume", &always), 1);
	assert_int_equal(group_of("volume/link"), GROUP);
	assert_int_equal(group_of("outside"), 0);
	assert_int_equal(group_of("outside/file"), 0);
}

static void test_mounts_are_not_entered(void **state)
{
	sandbox_mkdir("volume", 0755);
	sandbox_mkdir("volume/mounted", 0700);
	make_file_with("volume/bound", 0600);
	make_file_with("outside", 0600);
	assert_return_code(mount("none", sandbox_path("volume/mounted"), "tmpfs", 0, "mode=0700"),
			   errno);
	make_file_with("volume/mounted/file", 0600);
	assert_return_code(
		mount(sandbox_path("outside"), sandbox_path("volume/bound"), NULL, MS_BIND, NULL),
		errno);

	assert_int_equal(apply_to("volume", &always), 1);
	assert_int_equal(group_of("volume"), GROUP);
	assert_int_equal(group_of("volume/mounted"), 0);
	assert_int_equal(group_of("volume/mounted/file"), 0);
	assert_int_equal(group_of("outside"), 0);
	assert_return_code(umount2(sandbox_path("volume/mounted"), 0), errno);
	assert_return_code(umount2(sandbox_path("volume/bound"), 0), errno);
}

#define WITH_AND_WITHOUT(function)                                                                 \
	SANDBOX_TEST(function), SANDBOX_TEST_WITHOUT(WITHOUT_OPENAT2 | WITHOUT_FCHMODAT2, function)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_policy),
		SANDBOX_TEST(test_case_076_a_file_is_never_skipped),
		SANDBOX_TEST(test_read_only_volumes_match_with_less),
		WITH_AND_WITHOUT(test_bits),
		WITH_AND_WITHOUT(test_sockets_fifos_devices),
		SANDBOX_TEST(test_case_091_owners_never_change),
		SANDBOX_TEST(test_what_matches_is_not_touched),
		WITH_AND_WITHOUT(test_case_085_a_link_to_a_file),
		WITH_AND_WITHOUT(test_case_086_a_link_to_a_directory),
		WITH_AND_WITHOUT(test_mounts_are_not_entered),
	};

	return sandbox_run("ownership", tests, ARRAY_SIZE(tests));
}
