/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_device - what the local plugin decides for block devices, staged or raw; the mount
 * layer is a diary
 */
#include "tests/unit/mount/fake_mount.h"

#include "base/cleanup.h"
#include "plugins/block_map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#define STAGING "plugins/kubernetes.io/local-volume/mounts/pv1"
#define GLOBAL  "plugins/kubernetes.io~local-volume/volumeDevices/pv1"
#define PODMAP  "pods/u1/volumeDevices/kubernetes.io~local-volume"

static struct persistent_volume pv;
static struct object pv_object;
static struct volume_spec spec;
static struct volume_request request;
static const struct volume_plugin *local;

static int setup(void **state)
{
	fake_mount_reset();
	fake_mount.source.st_mode = S_IFBLK | 0660;
	fake_mount.source.st_rdev = fake_mount.staging.device;
	local = plugin_by_name("kubernetes.io/local-volume");
	pv = (struct persistent_volume){ .source = PV_SOURCE_LOCAL,
					 .source_key = "local",
					 .local_path = "/dev/disk/by-id/a",
					 .fs_type = "" };
	pv_object = (struct object){ .persistent_volume = &pv };
	spec = (struct volume_spec){ .name = "pv1", .pv = &pv_object };
	request = (struct volume_request){ .host = &fake_host,
					   .plugin = local,
					   .spec = &spec,
					   .volume_name = "pv1",
					   .pod_uid = "u1",
					   .is_staged = true,
					   .device_path = "",
					   .device_mount_path = "" };
	return 0;
}

static struct ran run(stage_list_fn *slot)
{
	struct failure failure = { 0 };
	struct stage_list list;

	assert_int_equal(slot(&request, &list, &failure), 0);
	return fake_mount_run(&list);
}

/* ---- MountDevice ---- */

/* case 46, a directory has no device to mount */
static void test_directories_are_not_staged(void **state)
{
	struct ran ran;

	fake_mount.source.st_mode = S_IFDIR | 0755;
	ran = run(local->new_device_mounter);
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_string_equal(ran.report.device_path, "");
	assert_string_equal(fake_mount.diary, "open_host_path(/dev/disk/by-id/a)\n");
}

/* case 48, which file system "" means, and that it is made, is format_and_mount()'s business */
static void test_device_is_formatted_and_mounted(void **state)
{
	struct ran ran = run(local->new_device_mounter);

	assert_int_equal(ran.result, STAGE_NEXT);
	assert_string_equal(ran.report.device_path, "/dev/null"); /* where the path leads */
	assert_string_equal(fake_mount.diary, "open_host_path(/dev/disk/by-id/a)\n"
					      "place_make(" STAGING ", 0750)\n"
					      "make_directory(pv1, 0750)\n"
					      "fd_facts(target)\n"
					      "format_and_mount(, )\n"
					      "place_facts(pv1)\n");
	assert_int_equal(fake_mount.tools.limit_usec, fake_host.tool_limit_usec);
}

/* What mkfs begins a kill may leave half done: the ledger notes it before. */
static void test_format_is_noted(void **state)
{
	assert_int_equal(run(local->new_device_mounter).report.unfinished, UNFINISHED_NOTHING);
	fake_mount.device_is_empty = true;
	assert_int_equal(run(local->new_device_mounter).report.unfinished, UNFINISHED_FORMAT);
}

/* case 49, case 53 */
static void test_options_of_a_device(void **state)
{
	static const char *const options[] = { "noatime", "discard", "noatime" };
	struct ran ran;

	pv.fs_type = "xfs";
	pv.mount_options = options;
	pv.mount_option_count = ARRAY_SIZE(options);
	spec.read_only = true;
	fake_mount.fail_name = "format_and_mount";
	fake_mount.fail_error = -EROFS;
	fake_mount.format_error = FORMAT_UNFORMATTED_READ_ONLY;
	ran = run(local->new_device_mounter);
	assert_int_equal(ran.result, -EROFS);
	assert_int_equal(ran.report.error_class, ERROR_FINAL);
	assert_int_equal(ran.report.event_count, 0);
	assert_non_null(strstr(fake_mount.diary, "format_and_mount(xfs, discard,noatime,ro)\n"
						 "remove_directory(pv1)\n"));
}

static void stage(void)
{
	fake_mount.target_exists = true;
	fake_mount.target = fake_mount.staging;
	fake_mount.target.mount_id = 66;
}

/* case 50 */
static void test_staged_already(void **state)
{
	struct ran ran;

	stage();
	ran = run(local->new_device_mounter);
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_int_equal(ran.report.mount_id, 66);
	assert_null(strstr(fake_mount.diary, "format_and_mount"));
}

/* case 50, a difference: another device is mounted there, the pod would get another volume's data.
 * Whose it is the table knows, and keeps: after a first stage that fails here nothing is unmounted.
 */
static void test_staged_with_another_device(void **state)
{
	struct ran ran;

	stage();
	fake_mount.source.st_rdev = 1234;
	ran = run(local->new_device_mounter);
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_string_equal(ran.report.device_path, "");
	assert_null(strstr(fake_mount.diary, "format_and_mount"));
}

/* The device may have another name than when it was staged: the table keeps the one it has. */
static void test_staging_that_cannot_be_examined(void **state)
{
	struct ran ran;

	stage();
	fake_mount.fail_name = "fd_facts";
	fake_mount.fail_error = -EIO;
	ran = run(local->new_device_mounter);
	assert_int_equal(ran.result, -EIO);
	assert_string_equal(ran.report.device_path, "");
}

/* case 51 */
static void test_failed_mount_keeps_its_type(void **state)
{
	struct ran ran;

	fake_mount.fail_name = "format_and_mount";
	fake_mount.fail_error = -EINVAL;
	fake_mount.format_error = FORMAT_FILESYSTEM_MISMATCH;
	ran = run(local->new_device_mounter);
	assert_int_equal(ran.result, -EINVAL);
	assert_non_null(strstr(fake_mount.diary, "remove_directory(pv1)"));
	assert_int_equal(ran.report.event_count, 1);
	assert_true(ran.report.events[0].about_pv);
	assert_string_equal(ran.report.events[0].reason, "FailedMountOnFilesystemMismatch");
}

/* The pod's mount is a bind of the staging directory. */
static void test_set_up_binds_the_staging_directory(void **state)
{
	assert_int_equal(run(local->new_mounter).result, STAGE_LIST_DONE);
	assert_non_null(strstr(fake_mount.diary, "open_beneath(" STAGING ")\nfd_facts(staging)\n"));
	assert_non_null(strstr(fake_mount.diary, "bind_at(0)"));
}

static void test_set_up_needs_the_staging_mount(void **state)
{
	struct ran ran;

	fake_mount.staging.is_mount_root = false;
	ran = run(local->new_mounter);
	assert_int_equal(ran.result, -ENODEV);
	fake_mount.staging.is_mount_root = true;
	fake_mount.source.st_rdev = 1234;
	assert_int_equal(run(local->new_mounter).result, -ENODEV);
	assert_null(strstr(fake_mount.diary, "bind_at"));
}

/* Whatever is mounted at its staging directory: the stage looks at that. */
static void test_set_up_asks_for_the_stage(void **state)
{
	struct ran ran;

	request.is_staged = false;
	ran = run(local->new_mounter);
	assert_int_equal(ran.result, -ECANCELED);
	assert_true(ran.report.needs_stage);
	assert_string_equal(ran.report.device_path, "/dev/null"); /* the intent has it */
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_null(strstr(fake_mount.diary, STAGING));
	assert_null(strstr(fake_mount.diary, "bind_at"));

	fake_mount.source.st_mode = S_IFDIR | 0755;
	ran = run(local->new_mounter);
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_false(ran.report.needs_stage);
}

/* ---- UnmountDevice ---- */

/* The device is asked for exclusively; which one, is recorded. */
static void test_device_is_unmounted(void **state)
{
	stage();
	request.device_path = fake_mount.entry_source;
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_NEXT);
	assert_string_equal(fake_mount.diary, "place_open(" STAGING ")\n"
					      "place_facts(pv1)\n"
					      "mount_table_refresh()\n"
					      "open_beneath(pv1)\n"
					      "mount_table_references()\n"
					      "cleanup_mount_point(pv1)\n"
					      "open_host_path(/dev/none)\n");
}

/* By the time it would be asked its number may be another's. */
static void test_device_that_goes_by_itself_is_not_asked_for(void **state)
{
	stage();
	request.device_path = fake_mount.entry_source = "/dev/loop9";
	fake_mount.goes_by_itself = true;
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_NEXT);
	assert_null(strstr(fake_mount.diary, "/dev/loop9"));
}

/* case 65 */
static void test_other_paths_are_left_alone(void **state)
{
	static const char *const others[] = { "/mnt/disks/a", "/r/" STAGING "/deeper",
					      "/r/plugins/kubernetes.io/local-volume/mounts/",
					      "/r/plugins/kubernetes.io/local-volume/mounts/.." };

	stage();
	request.device_path = fake_mount.entry_source;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		request.device_mount_path = others[i];
		assert_int_equal(run(local->new_device_unmounter).result, STAGE_LIST_DONE);
	}
	assert_string_equal(fake_mount.diary, "");
	request.device_mount_path = "/r/" STAGING;
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_NEXT);
	assert_non_null(strstr(fake_mount.diary, "cleanup_mount_point(pv1)"));
}

/* A directory source, or one unmounted before: nothing was staged. */
static void test_nothing_staged(void **state)
{
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_LIST_DONE);
	fake_mount.fail_name = "place_open";
	fake_mount.fail_error = -ENOENT;
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_LIST_DONE);
}

/* The attempt before unmounted and found the device open: the next one asks again. */
static void test_unmounted_before_but_open_then(void **state)
{
	request.device_path = "/dev/loop8";
	fake_mount.fail_name = "place_open";
	fake_mount.fail_error = -ENOENT;
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_NEXT);
	assert_string_equal(fake_mount.diary, "place_open(" STAGING ")\n"
					      "open_host_path(/dev/loop8)\n");
}

static void test_device_in_use_is_refused(void **state)
{
	struct ran ran;

	stage();
	request.device_path = fake_mount.entry_source;
	fake_mount.references[0] = "/r/pods/u1/volumes/kubernetes.io~local-volume/pv1";
	ran = run(local->new_device_unmounter);
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT); /* no state changes */
	assert_non_null(strstr(ran.report.failure.text, "still mounted by other references"));
	assert_non_null(strstr(ran.report.failure.text, "/r/pods/u1/"));
	assert_null(strstr(fake_mount.diary, "cleanup_mount_point"));
}

/* Neither what shows no device or another one, nor a device where a stage mounted none, or where no
 * record says which. */
static void test_mounts_of_others_stay(void **state)
{
	struct ran ran;

	stage();
	assert_int_equal(run(local->new_device_unmounter).result, -ENOTEMPTY);
	request.device_path = fake_mount.entry_source;
	request.staged_nothing = true;
	assert_int_equal(run(local->new_device_unmounter).result, -ENOTEMPTY);
	request.staged_nothing = false;
	request.device_path = "/dev/null";
	assert_int_equal(run(local->new_device_unmounter).result, -ENOTEMPTY);
	request.device_path = fake_mount.image = "/base/volume.img";
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_NEXT);
	fake_mount.diary[0] = '\0';
	request.device_path = "/base/another.img";
	assert_int_equal(run(local->new_device_unmounter).result, -ENOTEMPTY);
	fake_mount.staging.device = fake_mount.target.device = makedev(0, 9);
	fake_mount.entry_source = "tmpfs";
	ran = run(local->new_device_unmounter);
	assert_int_equal(ran.result, -ENOTEMPTY);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_non_null(strstr(ran.report.failure.text, "/r/" STAGING));
	fake_mount.fail_name = "place_facts";
	fake_mount.fail_error = -ESTALE;
	assert_int_equal(run(local->new_device_unmounter).result, -ENOTEMPTY);
	assert_null(strstr(fake_mount.diary, "cleanup_mount_point"));
}

/* btrfs has no number of a device, and the node of one that was pulled out is gone. */
static void test_btrfs_is_known_by_its_source(void **state)
{
	stage();
	fake_mount.staging.device = fake_mount.target.device = makedev(0, 9);
	fake_mount.entry_type = "btrfs";
	assert_int_equal(run(local->new_device_unmounter).result, -ENOTEMPTY);
	request.device_path = fake_mount.entry_source;
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_NEXT);
}

static void test_failed_unmount_is_uncertain(void **state)
{
	struct ran ran;

	stage();
	request.device_path = fake_mount.entry_source;
	fake_mount.fail_name = "cleanup_mount_point";
	fake_mount.fail_error = -EBUSY;
	ran = run(local->new_device_unmounter);
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
}

static void test_dead_mount_is_not_looked_at(void **state)
{
	stage();
	request.device_path = fake_mount.entry_source;
	fake_mount.fail_name = "place_facts";
	fake_mount.fail_error = -ESTALE;
	assert_int_equal(run(local->new_device_unmounter).result, STAGE_NEXT);
	assert_null(strstr(fake_mount.diary, "mount_table_references"));
	assert_non_null(strstr(fake_mount.diary, "cleanup_mount_point(pv1)"));
}

/* ---- block mode ---- */

/* case 66 */
static void test_device_is_mapped(void **state)
{
	struct ran ran;

	fake_mount.target.mode = S_IFREG | 0750;
	ran = run(local->new_block_mapper);
	assert_int_equal(ran.result, STAGE_NEXT);
	assert_string_equal(ran.report.device_path, "/dev/disk/by-id/a");
	assert_string_equal(fake_mount.diary, "open_host_path(/dev/disk/by-id/a)\n"
					      "open_host_path(/dev/disk/by-id/a)\n"
					      "place_make(" GLOBAL "/u1, 0750)\n"
					      "make_file(u1, 0750)\n"
					      "fd_facts(target)\n"
					      "bind_at(0)\n"
					      "place_make(" PODMAP "/pv1, 0750)\n"
					      "make_link(pv1 -> /dev/disk/by-id/a)\n"
					      "open_beneath(u1)\n"
					      "loop_device_attach(/r/" GLOBAL "/u1)\n");
}

static void test_mapping_again_binds_nothing(void **state)
{
	fake_mount.target.mode = S_IFBLK | 0660;
	fake_mount.target.special = fake_mount.source.st_rdev;
	fake_mount.target.is_mount_root = true;
	assert_int_equal(run(local->new_block_mapper).result, STAGE_NEXT);
	assert_null(strstr(fake_mount.diary, "bind_at"));
	assert_non_null(strstr(fake_mount.diary, "loop_device_attach"));
}

static void test_bind_file_of_another_device(void **state)
{
	struct ran ran;

	fake_mount.target.mode = S_IFBLK | 0660;
	fake_mount.target.special = 4321;
	fake_mount.target.is_mount_root = true;
	ran = run(local->new_block_mapper);
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_null(strstr(fake_mount.diary, "make_link"));
}

static void test_directories_cannot_be_mapped(void **state)
{
	struct ran ran;

	fake_mount.source.st_mode = S_IFDIR | 0755;
	ran = run(local->new_block_mapper);
	assert_int_equal(ran.result, -ENOTBLK);
	assert_int_equal(ran.report.error_class, ERROR_FINAL);
	assert_string_equal(fake_mount.diary, "open_host_path(/dev/disk/by-id/a)\n");
}

/* Loop device, link, bind file: the lock goes first, the file last. */
static void test_device_is_unmapped(void **state)
{
	fake_mount.target_exists = true;
	fake_mount.target.mode = S_IFLNK | 0777;
	assert_int_equal(run(local->new_block_unmapper).result, STAGE_NEXT);
	assert_string_equal(fake_mount.diary, "place_open(" GLOBAL "/u1)\n"
					      "open_beneath(u1)\n"
					      "loop_device_detach(/r/" GLOBAL "/u1)\n"
					      "place_open(" PODMAP "/pv1)\n"
					      "place_facts(pv1)\n"
					      "remove_file(pv1)\n"
					      "remove_empty_parents(" PODMAP "/pv1)\n"
					      "place_facts(u1)\n"
					      "remove_file(u1)\n"
					      "open_beneath(" GLOBAL ")\n");
}

static void test_what_is_no_link_is_left_alone(void **state)
{
	fake_mount.target_exists = true;
	fake_mount.target.mode = S_IFBLK | 0660;
	fake_mount.target.is_mount_root = true;
	assert_int_equal(run(local->new_block_unmapper).result, STAGE_NEXT);
	assert_null(strstr(fake_mount.diary, "remove_file(pv1)"));
	assert_non_null(strstr(fake_mount.diary, "unmount_place(u1)\nremove_file(u1)\n"));
}

static void test_unmapping_nothing(void **state)
{
	fake_mount.fail_name = "place_open";
	fake_mount.fail_error = -ENOENT;
	assert_int_equal(run(local->new_block_unmapper).result, STAGE_NEXT);
	assert_null(strstr(fake_mount.diary, "remove_file"));
	/* A loop device may be there without its bind file. */
	assert_non_null(strstr(fake_mount.diary, "loop_device_detach(/r/" GLOBAL "/u1)\n"));
}

static void test_failed_unlock_keeps_the_bind_file(void **state)
{
	struct ran ran;

	fake_mount.target_exists = true;
	fake_mount.fail_name = "loop_device_detach";
	fake_mount.fail_error = -EBUSY;
	ran = run(local->new_block_unmapper);
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_null(strstr(fake_mount.diary, "remove_file"));
}

static void test_device_is_released(void **state)
{
	request.device_path = "/dev/loop8";
	assert_int_equal(run(local->new_device_unmapper).result, STAGE_NEXT);
	assert_string_equal(fake_mount.diary, "open_beneath(" GLOBAL ")\n"
					      "remove_empty_parents(" GLOBAL ")\n"
					      "open_host_path(/dev/loop8)\n");
	assert_null(local->new_device_mapper);
}

static void test_block_paths(void **state)
{
	cleanup_free char *path = NULL, *global = NULL;

	spec.block = true;
	path = local->get_path(&request);
	global = local->get_device_mount_path(&request);
	assert_string_equal(path, "/r/" PODMAP "/pv1");
	assert_string_equal(global, "/r/" GLOBAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_directories_are_not_staged, setup),
		cmocka_unit_test_setup(test_device_is_formatted_and_mounted, setup),
		cmocka_unit_test_setup(test_format_is_noted, setup),
		cmocka_unit_test_setup(test_options_of_a_device, setup),
		cmocka_unit_test_setup(test_staged_already, setup),
		cmocka_unit_test_setup(test_staged_with_another_device, setup),
		cmocka_unit_test_setup(test_staging_that_cannot_be_examined, setup),
		cmocka_unit_test_setup(test_failed_mount_keeps_its_type, setup),
		cmocka_unit_test_setup(test_set_up_binds_the_staging_directory, setup),
		cmocka_unit_test_setup(test_set_up_needs_the_staging_mount, setup),
		cmocka_unit_test_setup(test_device_is_unmounted, setup),
		cmocka_unit_test_setup(test_device_that_goes_by_itself_is_not_asked_for, setup),
		cmocka_unit_test_setup(test_other_paths_are_left_alone, setup),
		cmocka_unit_test_setup(test_set_up_asks_for_the_stage, setup),
		cmocka_unit_test_setup(test_nothing_staged, setup),
		cmocka_unit_test_setup(test_unmounted_before_but_open_then, setup),
		cmocka_unit_test_setup(test_device_in_use_is_refused, setup),
		cmocka_unit_test_setup(test_mounts_of_others_stay, setup),
		cmocka_unit_test_setup(test_btrfs_is_known_by_its_source, setup),
		cmocka_unit_test_setup(test_failed_unmount_is_uncertain, setup),
		cmocka_unit_test_setup(test_dead_mount_is_not_looked_at, setup),
		cmocka_unit_test_setup(test_device_is_mapped, setup),
		cmocka_unit_test_setup(test_mapping_again_binds_nothing, setup),
		cmocka_unit_test_setup(test_bind_file_of_another_device, setup),
		cmocka_unit_test_setup(test_directories_cannot_be_mapped, setup),
		cmocka_unit_test_setup(test_device_is_unmapped, setup),
		cmocka_unit_test_setup(test_what_is_no_link_is_left_alone, setup),
		cmocka_unit_test_setup(test_unmapping_nothing, setup),
		cmocka_unit_test_setup(test_failed_unlock_keeps_the_bind_file, setup),
		cmocka_unit_test_setup(test_device_is_released, setup),
		cmocka_unit_test_setup(test_block_paths, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
