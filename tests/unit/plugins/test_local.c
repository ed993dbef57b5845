/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local - what the local plugin decides for directories: which calls, in which order, and what
 * becomes of failures; the mount layer is a diary
 */
#include "tests/unit/mount/fake_mount.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mount.h>

#include <cmocka.h>

#define TARGET "pods/u1/volumes/kubernetes.io~local-volume/pv1"

/* One volume and one pod, as the test wants them; the request points here. */
static struct persistent_volume pv;
static struct object pv_object, pod_object;
static struct pod pod;
static struct volume_spec spec;
static struct volume_request request;
static const struct volume_plugin *local;

static int setup(void **state)
{
	fake_mount_reset();
	local = plugin_by_name("kubernetes.io/local-volume");
	pv = (struct persistent_volume){ .source = PV_SOURCE_LOCAL,
					 .source_key = "local",
					 .local_path = "/mnt/disks/a",
					 .fs_type = "" };
	pv_object = (struct object){ .persistent_volume = &pv };
	pod = (struct pod){ .phase = "" };
	pod_object = (struct object){ .pod = &pod };
	spec = (struct volume_spec){ .name = "pv1", .pv = &pv_object };
	request = (struct volume_request){ .host = &fake_host,
					   .plugin = local,
					   .spec = &spec,
					   .volume_name = "pv1",
					   .pod = &pod_object,
					   .pod_uid = "u1",
					   .device_path = "",
					   .device_mount_path = "" };
	return 0;
}

static void want_fs_group(gid_t gid)
{
	pod.has_fs_group = true;
	pod.fs_group = gid;
}

static struct ran set_up(void)
{
	struct stage_list list;

	assert_int_equal(local->new_mounter(&request, &list, NULL), 0);
	return fake_mount_run(&list);
}

static struct ran tear_down(void)
{
	struct stage_list list;

	assert_int_equal(local->new_unmounter(&request, &list, NULL), 0);
	return fake_mount_run(&list);
}

/* The target is mounted already, with the source unless the test says otherwise. */
static void mount_target(void)
{
	fake_mount.target_exists = true;
	fake_mount.target = (struct mount_facts){ .mount_id = 55,
						  .is_mount_root = true,
						  .device = 7,
						  .inode = 70,
						  .mode = S_IFDIR | 0755 };
}

/* case 46; and the plain way costs one look-up, one mkdir, one bind */
static void test_directory_is_bound(void **state)
{
	struct ran ran = set_up();

	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_string_equal(ran.last_stage, "bind the source");
	assert_string_equal(fake_mount.diary, "open_host_path(/mnt/disks/a)\n"
					      "place_make(" TARGET ", 0750)\n"
					      "make_directory(pv1, 0750)\n"
					      "bind_at(0)\n");
}

/* The watch of mounts has to know it; the fallback of the bind cannot determine which it is, and
 * what is gone when it is looked at would be missed for good. */
static void test_set_up_tells_which_mount_it_is(void **state)
{
	struct ran ran = set_up();

	assert_int_equal(ran.report.mount_id, 77);

	fake_mount_reset();
	fake_mount.bound_id = 0;
	fake_mount.target_exists = true;
	fake_mount.target.mount_id = 5;
	ran = set_up();
	assert_int_equal(ran.result, -ESTALE);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_string_equal(ran.last_stage, "bind the source");
	assert_non_null(
		strstr(ran.report.failure.text, "was unmounted by another process as soon as"));
	assert_non_null(strstr(fake_mount.diary, "bind_at(0)\nplace_facts(pv1)\n"));
}

/* case 42 */
static void test_empty_path_is_no_source(void **state)
{
	struct stage_list list = { 0 };
	struct failure failure;

	pv.local_path = "";
	assert_int_equal(local->new_mounter(&request, &list, &failure), -EINVAL);
	assert_non_null(
		strstr(failure.text, "local volume source is nil or local path is not set"));
	assert_int_equal(local->new_device_mounter(&request, &list, &failure), -EINVAL);
	pv.source = PV_SOURCE_OTHER;
	pv.local_path = "/x";
	assert_int_equal(local->new_mounter(&request, &list, &failure), -EINVAL);
	assert_string_equal(fake_mount.diary, "");
}

/* case 43 */
static void test_missing_path_fails_before_anything_is_made(void **state)
{
	struct ran ran;

	fake_mount.fail_name = "open_host_path";
	fake_mount.fail_error = -ENOENT;
	ran = set_up();
	assert_int_equal(ran.result, -ENOENT);
	assert_string_equal(ran.report.failure.text, "path \"/mnt/disks/a\" does not exist");
	assert_string_equal(fake_mount.diary, "open_host_path(/mnt/disks/a)\n");
	assert_int_equal(ran.report.error_class, ERROR_FINAL);
}

/* case 44 */
static void test_files_are_no_source(void **state)
{
	struct ran ran;

	fake_mount.source.st_mode = S_IFREG | 0644;
	ran = set_up();
	assert_int_equal(ran.result, -ENOTSUP);
	assert_non_null(
		strstr(ran.report.failure.text, "only directory and block device are supported"));
	assert_string_equal(fake_mount.diary, "open_host_path(/mnt/disks/a)\n");
}

/* case 45 */
static void test_backsteps_are_refused(void **state)
{
	struct ran ran;

	pv.local_path = "/mnt/x/../vol";
	ran = set_up();
	assert_int_equal(ran.result, -EINVAL);
	assert_non_null(strstr(ran.report.failure.text, "must not contain '..'"));
	assert_string_equal(fake_mount.diary, "");
}

static void test_uids_that_lead_elsewhere_are_refused(void **state)
{
	struct stage_list list = { 0 };

	request.pod_uid = "../..";
	assert_int_equal(local->new_mounter(&request, &list, NULL), -EINVAL);
	assert_int_equal(local->new_unmounter(&request, &list, NULL), -EINVAL);
}

/* case 47 */
static void test_second_set_up_mounts_nothing(void **state)
{
	struct ran ran;

	mount_target();
	ran = set_up();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_int_equal(ran.report.mount_id, 55);
	assert_null(strstr(fake_mount.diary, "bind_at"));
}

/* case 47, a difference: something else is mounted there. Never stacked, and what tears down
 * must look. */
static void test_another_source_is_not_covered(void **state)
{
	struct ran ran;

	mount_target();
	fake_mount.target.inode = 71;
	ran = set_up();
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_null(strstr(fake_mount.diary, "bind_at"));
}

/* A directory that is there but not mounted is used. */
static void test_left_over_directory_is_used(void **state)
{
	fake_mount.target_exists = true;
	assert_int_equal(set_up().result, STAGE_LIST_DONE);
	assert_non_null(strstr(fake_mount.diary, "bind_at(0)"));
}

/* case 52 */
static void test_read_only_claim_is_bound_read_only(void **state)
{
	char expected[64];

	spec.read_only = true;
	want_fs_group(1000);
	assert_int_equal(set_up().result, STAGE_LIST_DONE);
	(void) snprintf(expected, sizeof(expected), "bind_at(%#x)", MOUNT_ATTR_RDONLY);
	assert_non_null(strstr(fake_mount.diary, expected));
	assert_null(strstr(fake_mount.diary, "ownership_begin"));
	assert_null(strstr(fake_mount.diary, "mount_table_overlaps"));
}

/* case 53 */
static void test_options_become_attributes(void **state)
{
	static const char *const options[] = { "noexec", "ro", "noexec" };
	char expected[64];

	pv.mount_options = options;
	pv.mount_option_count = ARRAY_SIZE(options);
	want_fs_group(1000);
	assert_int_equal(set_up().result, STAGE_LIST_DONE);
	(void) snprintf(expected, sizeof(expected), "bind_at(%#x)",
			MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
	assert_non_null(strstr(fake_mount.diary, expected));
	/* Read-only by its options: the group cannot be changed. */
	assert_null(strstr(fake_mount.diary, "ownership_begin"));
}

static void test_options_that_ask_for_more_than_a_mount_fail_first(void **state)
{
	static const char *const options[] = { "remount" };

	pv.mount_options = options;
	pv.mount_option_count = 1;
	assert_int_equal(set_up().result, -EINVAL);
	assert_string_equal(fake_mount.diary, "");
}

/* case 54 */
static void test_first_pod_owns(void **state)
{
	struct ran ran;

	want_fs_group(1000);
	ran = set_up();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_string_equal(ran.last_stage, "apply ownership");
	assert_int_equal(ran.report.event_count, 0);
	assert_string_equal(fake_mount.diary, "open_host_path(/mnt/disks/a)\n"
					      "mount_table_origin()\n"
					      "place_make(" TARGET ", 0750)\n"
					      "make_directory(pv1, 0750)\n"
					      "mount_table_overlaps(/r/pods/)\n"
					      "bind_at(0)\n"
					      "open_beneath(pv1)\n"
					      "ownership_begin(1000)\n");
}

/* In an IO slot of its device, on threads of its own. */
static void test_large_volume_has_a_stage_of_its_own(void **state)
{
	struct ran ran;

	want_fs_group(1000);
	fake_mount.is_large = true;
	ran = set_up();
	assert_int_equal(ran.result, STAGE_NEXT);
	assert_string_equal(ran.last_stage, "apply ownership to a large volume");
	assert_int_equal(ran.report.unfinished, UNFINISHED_OWNERSHIP); /* before it begins */
	assert_non_null(strstr(fake_mount.diary, "ownership_finish()"));

	fake_mount_reset();
	fake_mount.is_large = true;
	fake_mount.fail_name = "ownership_finish";
	fake_mount.fail_error = -EIO;
	ran = set_up();
	assert_int_equal(ran.result, -EIO);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_non_null(strstr(ran.report.failure.text, "to group 1000"));
}

static void test_change_policy_is_handed_on(void **state)
{
	want_fs_group(1000);
	pod.fs_group_change_policy = FS_GROUP_CHANGE_ON_ROOT_MISMATCH;
	assert_int_equal(set_up().result, STAGE_LIST_DONE);
	assert_non_null(strstr(fake_mount.diary, "ownership_begin(1000, on root mismatch)"));
}

/* case 55 */
static void test_second_pod_with_the_same_group(void **state)
{
	struct ran ran;

	want_fs_group(1000);
	fake_mount.source.st_gid = 1000;
	fake_mount.references[0] = "/r/pods/u0/volumes/kubernetes.io~local-volume/pv1";
	ran = set_up();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_int_equal(ran.report.event_count, 0);
	assert_null(strstr(fake_mount.diary, "ownership_begin"));
	assert_non_null(strstr(fake_mount.diary, "bind_at(0)"));
}

/* case 56 */
static void test_second_pod_with_another_group(void **state)
{
	const struct stage_event *event;
	struct ran ran;

	want_fs_group(2000);
	fake_mount.source.st_gid = 1000;
	fake_mount.references[0] = "/r/pods/u0/volumes/kubernetes.io~local-volume/pv1";
	ran = set_up();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_int_equal(ran.report.event_count, 1);
	event = &ran.report.events[0];
	assert_false(event->about_pv);
	assert_string_equal(event->type, "Warning");
	assert_string_equal(event->reason, "AlreadyMountedVolume");
	assert_non_null(strstr(event->text, "2000"));
	assert_non_null(strstr(event->text, "1000"));
	assert_non_null(strstr(event->text, "'pv1'"));
	assert_null(strstr(fake_mount.diary, "ownership_begin"));
	assert_non_null(strstr(fake_mount.diary, "bind_at(0)"));
}

/* case 57 */
static void test_second_pod_without_a_group(void **state)
{
	struct ran ran;

	fake_mount.source.st_gid = 1000;
	fake_mount.references[0] = "/r/pods/u0/volumes/kubernetes.io~local-volume/pv1";
	ran = set_up();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_int_equal(ran.report.event_count, 0);
}

/* case 58, case 59 */
static void test_other_references_are_no_pods(void **state)
{
	want_fs_group(1000);
	fake_mount.references[0] = "/mnt/outside";
	fake_mount.references[1] = "/r/podsx/vol";
	assert_int_equal(set_up().result, STAGE_LIST_DONE);
	assert_non_null(strstr(fake_mount.diary, "ownership_begin(1000)"));
}

static void test_references_that_cannot_be_read_are_fatal(void **state)
{
	want_fs_group(1000);
	fake_mount.fail_name = "mount_table_overlaps";
	fake_mount.fail_error = -EIO;
	assert_int_equal(set_up().result, -EIO);
	assert_null(strstr(fake_mount.diary, "bind_at"));
}

/* case 47, a difference: an ownership change that broke off is finished by the next set-up. */
static void test_interrupted_ownership_is_finished(void **state)
{
	struct ran ran;

	want_fs_group(1000);
	fake_mount.fail_name = "ownership_begin";
	fake_mount.fail_error = -EIO;
	ran = set_up();
	assert_int_equal(ran.result, -EIO);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);

	fake_mount_reset();
	mount_target();
	fake_mount.references[0] = "/r/" TARGET; /* our own mount is no other user */
	assert_int_equal(set_up().result, STAGE_LIST_DONE);
	assert_null(strstr(fake_mount.diary, "bind_at"));
	assert_non_null(strstr(fake_mount.diary, "ownership_begin(1000)"));
}

/* ... unless another pod uses the volume by now; and each is reported once. */
static void test_repetition_beside_another_pod_owns_nothing(void **state)
{
	struct ran ran;

	want_fs_group(2000);
	mount_target();
	fake_mount.source.st_gid = 1000;
	fake_mount.references[0] = "/r/" TARGET;
	fake_mount.references[1] = "/r/pods/u0/volumes/kubernetes.io~local-volume/pv1";
	ran = set_up();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_int_equal(ran.report.event_count, 0);
	assert_null(strstr(fake_mount.diary, "ownership_begin"));
}

/* case 60, case 61 */
static void test_failed_bind_is_taken_back(void **state)
{
	struct ran ran;

	want_fs_group(1000);
	fake_mount.fail_name = "bind_at";
	fake_mount.fail_error = -ENOSPC;
	ran = set_up();
	assert_int_equal(ran.result, -ENOSPC);
	assert_int_equal(ran.report.error_class, ERROR_FINAL);
	assert_non_null(strstr(ran.report.failure.text, "cannot bind '/mnt/disks/a'"));
	assert_non_null(strstr(fake_mount.diary, "bind_at(0)\ncleanup_mount_point(pv1)\n"));
	assert_null(strstr(fake_mount.diary, "ownership_begin"));
}

static void test_target_that_cannot_be_made(void **state)
{
	struct ran ran;

	fake_mount.fail_name = "make_directory";
	fake_mount.fail_error = -EROFS;
	ran = set_up();
	assert_int_equal(ran.result, -EROFS);
	assert_string_equal(ran.last_stage, "prepare the target");
}

/* case 62 */
static void test_tear_down(void **state)
{
	assert_int_equal(tear_down().result, STAGE_NEXT);
	assert_string_equal(fake_mount.diary, "place_open(" TARGET ")\n"
					      "cleanup_mount_point(pv1)\n"
					      "remove_empty_parents(" TARGET ")\n");
}

/* case 63, what is in the directory decides, and it stays */
static void test_tear_down_keeps_data(void **state)
{
	struct ran ran;

	fake_mount.fail_name = "cleanup_mount_point";
	fake_mount.fail_error = -ENOTEMPTY;
	ran = tear_down();
	assert_int_equal(ran.result, -ENOTEMPTY);
	assert_null(strstr(fake_mount.diary, "remove_empty_parents"));
}

/* case 64 */
static void test_tear_down_of_nothing(void **state)
{
	fake_mount.fail_name = "place_open";
	fake_mount.fail_error = -ENOENT;
	assert_int_equal(tear_down().result, STAGE_NEXT);
}

/* case 67, the name is all there is, and teardown needs no more */
static void test_reconstruction_of_a_directory(void **state)
{
	struct volume_spec rebuilt;

	assert_int_equal(
		local->construct_volume_spec(&fake_host, "u1", "pv1", false, &rebuilt, NULL), 0);
	assert_string_equal(rebuilt.name, "pv1");
	assert_null(rebuilt.pv);
	assert_false(rebuilt.block);
	assert_true(local->can_device_mount(&rebuilt));
	request.spec = &rebuilt;
	request.pod = NULL;
	assert_int_equal(tear_down().result, STAGE_NEXT);
	assert_int_equal(
		local->construct_volume_spec(&fake_host, "u1", "..", false, &rebuilt, NULL),
		-EINVAL);
}

static void test_paths_and_attributes(void **state)
{
	cleanup_free char *path = local->get_path(&request);
	cleanup_free char *global = local->get_device_mount_path(&request);

	assert_string_equal(path, "/r/" TARGET);
	assert_string_equal(global, "/r/plugins/kubernetes.io/local-volume/mounts/pv1");
	assert_true(local->get_attributes(&spec).managed);
	assert_false(local->get_attributes(&spec).read_only);
	spec.read_only = true;
	assert_false(local->get_attributes(&spec).managed);
	assert_true(local->get_attributes(&spec).read_only);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_directory_is_bound, setup),
		cmocka_unit_test_setup(test_set_up_tells_which_mount_it_is, setup),
		cmocka_unit_test_setup(test_empty_path_is_no_source, setup),
		cmocka_unit_test_setup(test_missing_path_fails_before_anything_is_made, setup),
		cmocka_unit_test_setup(test_files_are_no_source, setup),
		cmocka_unit_test_setup(test_backsteps_are_refused, setup),
		cmocka_unit_test_setup(test_uids_that_lead_elsewhere_are_refused, setup),
		cmocka_unit_test_setup(test_second_set_up_mounts_nothing, setup),
		cmocka_unit_test_setup(test_another_source_is_not_covered, setup),
		cmocka_unit_test_setup(test_left_over_directory_is_used, setup),
		cmocka_unit_test_setup(test_read_only_claim_is_bound_read_only, setup),
		cmocka_unit_test_setup(test_options_become_attributes, setup),
		cmocka_unit_test_setup(test_options_that_ask_for_more_than_a_mount_fail_first,
				       setup),
		cmocka_unit_test_setup(test_first_pod_owns, setup),
		cmocka_unit_test_setup(test_large_volume_has_a_stage_of_its_own, setup),
		cmocka_unit_test_setup(test_change_policy_is_handed_on, setup),
		cmocka_unit_test_setup(test_second_pod_with_the_same_group, setup),
		cmocka_unit_test_setup(test_second_pod_with_another_group, setup),
		cmocka_unit_test_setup(test_second_pod_without_a_group, setup),
		cmocka_unit_test_setup(test_other_references_are_no_pods, setup),
		cmocka_unit_test_setup(test_references_that_cannot_be_read_are_fatal, setup),
		cmocka_unit_test_setup(test_interrupted_ownership_is_finished, setup),
		cmocka_unit_test_setup(test_repetition_beside_another_pod_owns_nothing, setup),
		cmocka_unit_test_setup(test_failed_bind_is_taken_back, setup),
		cmocka_unit_test_setup(test_target_that_cannot_be_made, setup),
		cmocka_unit_test_setup(test_tear_down, setup),
		cmocka_unit_test_setup(test_tear_down_keeps_data, setup),
		cmocka_unit_test_setup(test_tear_down_of_nothing, setup),
		cmocka_unit_test_setup(test_reconstruction_of_a_directory, setup),
		cmocka_unit_test_setup(test_paths_and_attributes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
