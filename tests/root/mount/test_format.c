/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_format - FormatAndMount on real devices: what is formatted, checked, mounted, and what is
 * left alone
 */
#include "tests/root/loop_image.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/filesystem/format.h"
#include "mount/filesystem/tool.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* What was run, and what it is made to answer; without an answer it really runs. */
static struct {
	char commands[4][128];
	bool may_cancel[4]; /* did it get the callback to ask */
	size_t count;
	uint64_t limit_usec;
	bool answered;
	int fsck_status, mkfs_status;
} tools;

int __real_tool_run(const char *const *argv, const struct tool_terms *terms,
		    char ret_output[TOOL_OUTPUT_BYTES]);
int __wrap_tool_run(const char *const *argv, const struct tool_terms *terms,
		    char ret_output[TOOL_OUTPUT_BYTES]);

int __wrap_tool_run(const char *const *argv, const struct tool_terms *terms,
		    char ret_output[TOOL_OUTPUT_BYTES])
{
	char *command = tools.commands[tools.count];

	assert_true(tools.count < ARRAY_SIZE(tools.commands));
	for (size_t i = 0, used = 0; argv[i]; i++)
		used += (size_t) snprintf(command + used, sizeof(tools.commands[0]) - used, "%s%s",
					  i > 0 ? " " : "", argv[i]);
	tools.may_cancel[tools.count++] = terms->cancelled;
	tools.limit_usec = terms->limit_usec;
	if (!tools.answered)
		return __real_tool_run(argv, terms, ret_output);
	snprintf(ret_output, TOOL_OUTPUT_BYTES, "said so");
	return strcmp(argv[0], "fsck") == 0 ? tools.fsck_status : tools.mkfs_status;
}

static int setup(void **state)
{
	memset(&tools, 0, sizeof(tools));
	return sandbox_setup(state);
}

/* The arguments as they were run, without the device. */
static void assert_ran(size_t nth, const char *command, const struct loop_image *image)
{
	char expected[128];

	assert_true(nth < tools.count);
	snprintf(expected, sizeof(expected), "%s %s", command, image->path);
	assert_string_equal(tools.commands[nth], expected);
}

struct outcome {
	int result;
	enum format_error error;
	struct failure failure;
};

static struct outcome format(const struct loop_image *image, const char *type, const char *options)
{
	static const atomic_bool cancelled = false;
	struct outcome outcome = { .error = (enum format_error) 99 };
	struct format_request request = { .device_path = image->path,
					  .type = type,
					  .options = options,
					  .tools = { .limit_usec = 600 * USEC_PER_SEC,
						     .cancelled = &cancelled } };
	cleanup_close int target_fd = -EBADF;

	if (access(sandbox_path("target"), F_OK) < 0)
		sandbox_mkdir("target", 0750);
	target_fd = open(sandbox_path("target"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(target_fd, errno);
	request.target_fd = target_fd;
	outcome.result = format_and_mount(&request, &outcome.error, &outcome.failure);
	return outcome;
}

static void assert_mounted(const struct outcome *outcome)
{
	if (outcome->result != 0)
		fail_msg("%s", outcome->failure.text);
	assert_int_equal(outcome->error, FORMAT_OK);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
}

static void assert_refused(const struct outcome *outcome, enum format_error error)
{
	assert_true(outcome->result < 0);
	assert_int_equal(outcome->failure.error, outcome->result);
	assert_int_equal(outcome->error, error);
	assert_true(strlen(outcome->failure.text) > 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

static void unmount_target(void)
{
	assert_return_code(umount2(sandbox_path("target"), 0), errno);
}

static int probe(const struct loop_image *image, char content[PROBE_CONTENT_BYTES])
{
	return device_probe(image->fd, content);
}

/* ---- probing ---- */

static void test_case_099_nothing_at_all(void **state)
{
	struct loop_image image = loop_image_new("image", 8);
	char content[PROBE_CONTENT_BYTES];

	assert_int_equal(probe(&image, content), 0);
	assert_string_equal(content, "");
	loop_image_done(&image);
}

static void test_case_100_a_file_system_by_its_name(void **state)
{
	struct loop_image image = loop_image_new("image", 320);
	char content[PROBE_CONTENT_BYTES];

	loop_image_format("image", "/usr/sbin/mkfs.xfs");
	loop_image_done(&image);
	image = loop_image_over("image", false);
	assert_int_equal(probe(&image, content), 1);
	assert_string_equal(content, "xfs");
	loop_image_done(&image);
}

/* One Linux partition in a table of the old kind. */
static void write_partition_table(const char *relative)
{
	static const unsigned char entry[16] = { [4] = 0x83, [9] = 0x08, [13] = 0x10 };
	static const unsigned char signature[2] = { 0x55, 0xaa };
	int fd = open(sandbox_path(relative), O_RDWR | O_CLOEXEC);

	assert_return_code(fd, errno);
	assert_int_equal(pwrite(fd, entry, sizeof(entry), 446), sizeof(entry));
	assert_int_equal(pwrite(fd, signature, sizeof(signature), 510), sizeof(signature));
	(void) close(fd);
}

static void test_case_101_partitions_are_never_formatted(void **state)
{
	struct loop_image image = loop_image_new("image", 8);
	char content[PROBE_CONTENT_BYTES];
	struct outcome outcome;

	loop_image_done(&image);
	write_partition_table("image");
	image = loop_image_over("image", false);
	assert_int_equal(probe(&image, content), 1);
	assert_string_equal(content, "unknown data, probably partitions");

	outcome = format(&image, "ext4", "");
	assert_refused(&outcome, FORMAT_FILESYSTEM_MISMATCH);
	assert_non_null(strstr(outcome.failure.text, "probably partitions"));
	assert_int_equal(tools.count, 0); /* no fsck either: there is nothing to check */
	assert_int_equal(probe(&image, content), 1);
	loop_image_done(&image);
}

/* case 102 and case 103, there is no exit status and no text to misread, libblkid is asked; what
 * it cannot read is an error all the same. Here the backing file became shorter, so reads fail. */
static void test_a_device_that_cannot_be_read(void **state)
{
	struct loop_image image = loop_image_new("image", 8);
	char content[PROBE_CONTENT_BYTES];
	struct outcome outcome;

	assert_return_code(truncate(sandbox_path("image"), 0), errno);
	assert_true(probe(&image, content) < 0);
	assert_return_code(truncate(sandbox_path("image"), 32768),
			   errno); /* the start reads well */
	assert_true(probe(&image, content) < 0);
	outcome = format(&image, "ext4", "");
	assert_refused(&outcome, FORMAT_GET_DISK_FORMAT_FAILED);
	assert_int_equal(tools.count, 0);
	loop_image_done(&image);
}

static void test_what_is_no_device(void **state)
{
	struct loop_image image = { .fd = -EBADF, .path = "/dev/podvol-no-such-device" };
	struct outcome outcome = format(&image, "ext4", "");

	assert_refused(&outcome, FORMAT_GET_DISK_FORMAT_FAILED);
	assert_int_equal(outcome.result, -ENOENT);
	snprintf(image.path, sizeof(image.path), "/dev/null");
	outcome = format(&image, "ext4", "");
	assert_refused(&outcome, FORMAT_GET_DISK_FORMAT_FAILED);
	assert_int_equal(outcome.result, -ENOTBLK);
	assert_int_equal(tools.count, 0);
}

static void copy_bytes(const char *from, const char *to, off_t offset, size_t length)
{
	cleanup_close int from_fd = open(sandbox_path(from), O_RDONLY | O_CLOEXEC);
	cleanup_close int to_fd = open(sandbox_path(to), O_RDWR | O_CLOEXEC);
	char bytes[4096];

	assert_true(length <= sizeof(bytes));
	assert_int_equal(pread(from_fd, bytes, length, offset), length);
	assert_int_equal(pwrite(to_fd, bytes, length, offset), length);
}

/* The superblocks of two file systems: one of them holds data. */
static void test_contradicting_signatures_are_left_alone(void **state)
{
	struct loop_image image = loop_image_new("image", 320);
	struct loop_image other = loop_image_new("other", 320);
	struct outcome outcome;

	loop_image_done(&image);
	loop_image_done(&other);
	loop_image_format("image", "/usr/sbin/mkfs.xfs");
	loop_image_format("other", "/usr/sbin/mkfs.ext4");
	copy_bytes("other", "image", 1024, 1024);
	image = loop_image_over("image", false);
	outcome = format(&image, "ext4", "");
	assert_refused(&outcome, FORMAT_GET_DISK_FORMAT_FAILED);
	assert_non_null(strstr(outcome.failure.text, "contradicting"));
	assert_int_equal(tools.count, 0);
	loop_image_done(&image);
}

/* ---- formatting ---- */

static void format_empty(const char *type, const char *real_type, const char *command,
			 unsigned int mebibytes)
{
	struct loop_image image = loop_image_new("image", mebibytes);
	char content[PROBE_CONTENT_BYTES];
	struct outcome outcome = format(&image, type, "");

	assert_mounted(&outcome);
	assert_int_equal(tools.count, 1);
	assert_ran(0, command, &image);
	sandbox_write("target/file", "data");
	unmount_target();
	assert_int_equal(probe(&image, content), 1);
	assert_string_equal(content, real_type);

	/* Again: now it is checked, and what is on it stays. */
	outcome = format(&image, type, "");
	assert_mounted(&outcome);
	assert_int_equal(tools.count, 2);
	assert_ran(1, "fsck -a", &image);
	assert_true(sandbox_has("target/file", "data"));
	unmount_target();
	loop_image_done(&image);
}

static void test_empty_becomes_ext4(void **state)
{
	format_empty("", "ext4", "mkfs.ext4 -F -m0", 16);
}

static void test_case_104_empty_becomes_xfs(void **state)
{
	format_empty("xfs", "xfs", "mkfs.xfs -f", 320);
}

static void test_case_105_empty_becomes_ext3(void **state)
{
	format_empty("ext3", "ext3", "mkfs.ext3 -F -m0", 16);
}

static void test_empty_becomes_btrfs(void **state)
{
	format_empty("btrfs", "btrfs", "mkfs.btrfs", 128);
}

static void test_a_read_only_volume_is_not_formatted(void **state)
{
	struct loop_image image = loop_image_new("image", 16);
	char content[PROBE_CONTENT_BYTES];
	struct outcome outcome = format(&image, "ext4", "noatime,ro");

	assert_refused(&outcome, FORMAT_UNFORMATTED_READ_ONLY);
	assert_int_equal(tools.count, 0);
	assert_int_equal(probe(&image, content), 0);
	loop_image_done(&image);
}

static void test_a_device_in_use_is_not_formatted(void **state)
{
	struct loop_image image = loop_image_new("image", 16);
	cleanup_close int claim_fd = open(image.path, O_RDWR | O_EXCL | O_CLOEXEC);
	struct outcome outcome;

	assert_return_code(claim_fd, errno);
	outcome = format(&image, "ext4", "");
	assert_refused(&outcome, FORMAT_FAILED);
	assert_int_equal(outcome.result, -EBUSY);
	assert_non_null(strstr(outcome.failure.text, "in use"));
	assert_int_equal(tools.count, 0);
	loop_image_done(&image);
}

static void test_a_failing_mkfs(void **state)
{
	struct loop_image image = loop_image_new("image", 16);
	struct outcome outcome;

	tools.answered = true;
	tools.mkfs_status = 1;
	outcome = format(&image, "ext4", "");
	assert_refused(&outcome, FORMAT_FAILED);
	assert_non_null(strstr(outcome.failure.text, "status 1: said so"));
	tools.mkfs_status = -ENOENT;
	outcome = format(&image, "minix", "");
	assert_refused(&outcome, FORMAT_FAILED);
	assert_non_null(strstr(outcome.failure.text, "no mkfs.minix here"));
	loop_image_done(&image);
}

static void test_types_that_are_none(void **state)
{
	static const char *const types[] = { "../ext4", "ext4 -F", "EXT4", "ext4/", "a;b" };
	struct loop_image image = loop_image_new("image", 16);

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct outcome outcome = format(&image, types[i], "");

		assert_refused(&outcome, FORMAT_FAILED);
		assert_int_equal(outcome.result, -EINVAL);
	}
	assert_int_equal(tools.count, 0);
	loop_image_done(&image);
}

/* ---- what exists already ---- */

static struct loop_image image_with(const char *program, unsigned int mebibytes)
{
	struct loop_image image = loop_image_new("image", mebibytes);

	loop_image_done(&image);
	loop_image_format("image", program);
	return loop_image_over("image", false);
}

/* ext3 asked for as ext4, which the kernel's ext4 mounts. */
static void test_case_106_another_type_that_can_be_mounted(void **state)
{
	struct loop_image image = image_with("/usr/sbin/mkfs.ext3", 16);
	struct outcome outcome = format(&image, "ext4", "");

	assert_mounted(&outcome);
	unmount_target();
	loop_image_done(&image);
}

static void test_case_107_another_type_that_cannot(void **state)
{
	struct loop_image image = image_with("/usr/sbin/mkfs.ext4", 16);
	char content[PROBE_CONTENT_BYTES];
	struct outcome outcome = format(&image, "xfs", "");

	assert_refused(&outcome, FORMAT_FILESYSTEM_MISMATCH);
	assert_non_null(strstr(outcome.failure.text, "holds ext4, not xfs"));
	assert_int_equal(tools.count, 1);
	assert_ran(0, "fsck -a", &image);
	assert_int_equal(probe(&image, content), 1);
	assert_string_equal(content, "ext4");
	loop_image_done(&image);
}

static void test_the_right_type_that_cannot_be_mounted(void **state)
{
	struct loop_image image = image_with("/usr/sbin/mkfs.ext4", 16);
	struct outcome outcome = format(&image, "ext4", "no_such_option");

	assert_refused(&outcome, FORMAT_MOUNT_FAILED);
	if (fsopen("", 0) < 0 && errno != ENOSYS) /* mount(2) names no option */
		assert_non_null(strstr(outcome.failure.text, "no_such_option"));
	loop_image_done(&image);
}

/* case 108, corrected, and case 110, an operational error, and no fsck at all. */
static void test_answers_of_fsck_that_go_on(void **state)
{
	static const int statuses[] = { 0, 1, 2, 8, -ENOENT };
	struct loop_image image = image_with("/usr/sbin/mkfs.ext4", 16);

	tools.answered = true;
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		struct outcome outcome;

		tools.count = 0;
		tools.fsck_status = statuses[i];
		outcome = format(&image, "ext4", "");
		assert_mounted(&outcome);
		assert_int_equal(tools.count, 1);
		unmount_target();
	}
	loop_image_done(&image);
}

/* case 109, difference: errors are left. The status is a sum, so 5 and 12 say that, too. */
static void test_case_109_errors_that_fsck_leaves(void **state)
{
	static const int statuses[] = { 4, 5, 12 };
	struct loop_image image = image_with("/usr/sbin/mkfs.ext4", 16);

	tools.answered = true;
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		struct outcome outcome;

		tools.count = 0;
		tools.fsck_status = statuses[i];
		outcome = format(&image, "ext4", "");
		assert_refused(&outcome, FORMAT_HAS_FILESYSTEM_ERRORS);
		assert_non_null(strstr(outcome.failure.text, "said so"));
	}
	loop_image_done(&image);
}

static void test_case_111_read_only_is_not_checked(void **state)
{
	struct loop_image image = image_with("/usr/sbin/mkfs.ext4", 16);
	struct outcome outcome;
	struct statvfs status;

	loop_image_done(&image);
	image = loop_image_over("image", true); /* nor could it be: the device is read-only */
	outcome = format(&image, "ext4", "ro,nosuid");
	assert_mounted(&outcome);
	assert_int_equal(tools.count, 0);
	assert_return_code(statvfs(sandbox_path("target"), &status), errno);
	assert_int_equal(status.f_flag & (ST_RDONLY | ST_NOSUID), ST_RDONLY | ST_NOSUID);
	unmount_target();
	loop_image_done(&image);
}

#define FORMAT_TEST(function) cmocka_unit_test_setup_teardown(function, setup, loop_image_teardown)

/* Half a file system may show a signature and would never be formatted again; e2fsck stops where
 * nothing is half written, and others stay unknown. */
static void test_only_checks_of_ext_end_early(void **state)
{
	struct loop_image image = loop_image_new("image", 16), other = loop_image_new("other", 320);
	struct outcome outcome;

	for (size_t i = 0; i < 2; i++) {
		outcome = format(&image, "ext4", "");
		assert_mounted(&outcome);
		assert_int_equal(tools.may_cancel[i], i == 1); /* mkfs, then fsck */
		assert_int_equal(tools.limit_usec, 600 * USEC_PER_SEC);
		unmount_target();
	}
	for (size_t i = 2; i < 4; i++) {
		outcome = format(&other, "xfs", "");
		assert_mounted(&outcome);
		assert_false(tools.may_cancel[i]);
		unmount_target();
	}
	loop_image_done(&other);
	loop_image_done(&image);
}

/* What was ended is neither mounted nor taken for a file system with errors. */
static void test_tools_that_were_ended(void **state)
{
	static const int results[] = { -ETIMEDOUT, -ECANCELED };
	struct loop_image image = loop_image_new("empty", 16);
	struct outcome outcome;

	tools.answered = true;
	tools.mkfs_status = -ETIMEDOUT;
	outcome = format(&image, "ext4", "");
	assert_refused(&outcome, FORMAT_FAILED);
	assert_int_equal(outcome.result, -ETIMEDOUT);
	assert_non_null(strstr(outcome.failure.text, "was ended after 600 s (tool-seconds)"));
	assert_non_null(strstr(outcome.failure.text, "wipefs"));
	loop_image_done(&image);

	image = image_with("/usr/sbin/mkfs.ext4", 16);
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		tools.fsck_status = results[i];
		outcome = format(&image, "ext4", "");
		assert_refused(&outcome, FORMAT_HAS_FILESYSTEM_ERRORS);
		assert_int_equal(outcome.result, results[i]);
	}
	loop_image_done(&image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FORMAT_TEST(test_case_099_nothing_at_all),
		FORMAT_TEST(test_case_100_a_file_system_by_its_name),
		FORMAT_TEST(test_case_101_partitions_are_never_formatted),
		FORMAT_TEST(test_a_device_that_cannot_be_read),
		FORMAT_TEST(test_what_is_no_device),
		FORMAT_TEST(test_contradicting_signatures_are_left_alone),
		FORMAT_TEST(test_empty_becomes_ext4),
		FORMAT_TEST(test_case_104_empty_becomes_xfs),
		FORMAT_TEST(test_case_105_empty_becomes_ext3),
		FORMAT_TEST(test_empty_becomes_btrfs),
		FORMAT_TEST(test_a_read_only_volume_is_not_formatted),
		FORMAT_TEST(test_a_device_in_use_is_not_formatted),
		FORMAT_TEST(test_a_failing_mkfs),
		FORMAT_TEST(test_types_that_are_none),
		FORMAT_TEST(test_case_106_another_type_that_can_be_mounted),
		FORMAT_TEST(test_case_107_another_type_that_cannot),
		FORMAT_TEST(test_the_right_type_that_cannot_be_mounted),
		FORMAT_TEST(test_answers_of_fsck_that_go_on),
		FORMAT_TEST(test_case_109_errors_that_fsck_leaves),
		FORMAT_TEST(test_case_111_read_only_is_not_checked),
		FORMAT_TEST(test_only_checks_of_ext_end_early),
		FORMAT_TEST(test_tools_that_were_ended),
	};

	return sandbox_run("format", tests, ARRAY_SIZE(tests));
}
