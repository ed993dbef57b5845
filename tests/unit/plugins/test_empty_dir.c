/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_empty_dir - what an emptyDir decides: medium, size, page size, ready file, teardown by what
 * is mounted; the mount layer is a diary
 */
#include "tests/unit/mount/fake_mount.h"

#include "base/cleanup.h"
#include "plugins/scratch.h"

#include <errno.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define GIB    (1024LL * 1024 * 1024)
#define PLUGIN "pods/u1/volumes/kubernetes.io~empty-dir"
#define DIR    PLUGIN "/scratch"
#define READY  "pods/u1/plugins/kubernetes.io~empty-dir/scratch/ready"

enum { CONTAINERS_MAX = 3 };

static struct pod_container containers[CONTAINERS_MAX];
static struct huge_page_request huge_pages[CONTAINERS_MAX][2];
static struct pod pod;
static struct pod_volume source;
static struct object pod_object;
static struct volume_spec spec;
static struct plugin_host host;
static struct volume_request request;
static const struct volume_plugin *plugin;

static int setup(void **state)
{
	fake_mount_reset();
	plugin = plugin_by_name("kubernetes.io/empty-dir");
	memset(containers, 0, sizeof(containers));
	memset(huge_pages, 0, sizeof(huge_pages));
	for (size_t i = 0; i < CONTAINERS_MAX; i++) {
		containers[i].type = CONTAINER_REGULAR;
		containers[i].huge_pages = huge_pages[i];
	}
	pod = (struct pod){ .containers = containers, .container_count = 1 };
	pod_object = (struct object){ .pod = &pod };
	source = (struct pod_volume){ .name = "scratch", .source = SOURCE_EMPTY_DIR, .medium = "" };
	spec = (struct volume_spec){ .name = "scratch", .pod = &pod_object, .source = &source };
	host = fake_host;
	request = (struct volume_request){ .host = &host,
					   .plugin = plugin,
					   .spec = &spec,
					   .volume_name = "scratch",
					   .pod = &pod_object,
					   .pod_uid = "u1" };
	return 0;
}

static void request_pages(size_t container, const char *size)
{
	struct pod_container *asking = &containers[container];

	huge_pages[container][asking->huge_page_count++] = (struct huge_page_request){ size, 1 };
	if (pod.container_count <= container)
		pod.container_count = container + 1;
}

static struct ran set_up(void)
{
	struct stage_list list;

	assert_int_equal(plugin->new_mounter(&request, &list, NULL), 0);
	return fake_mount_run(&list);
}

/* The mounter cannot even be made; the text says why. */
static struct failure refused(void)
{
	struct stage_list list;
	struct failure failure = { 0 };

	assert_int_equal(plugin->new_mounter(&request, &list, &failure), -EINVAL);
	assert_string_equal(fake_mount.diary, "");
	return failure;
}

static struct ran tear_down(void)
{
	struct stage_list list;

	assert_int_equal(plugin->new_unmounter(&request, &list, NULL), 0);
	return fake_mount_run(&list);
}

/* case 115, 0777 is forced after the directory was made */
static void test_default_medium(void **state)
{
	assert_int_equal(set_up().result, STAGE_NEXT);
	assert_string_equal(fake_mount.diary, "place_make(" PLUGIN ", 0750)\n"
					      "place_make(" DIR ", 0755)\n"
					      "place_facts(scratch)\n"
					      "open_beneath(" READY ")\n"
					      "make_directory(scratch, 0777)\n"
					      "change_mode(0777)\n"
					      "place_make(" READY ", 0750)\n"
					      "make_file(ready, 0644)\n");
}

/* case 116 */
static void test_second_set_up_changes_nothing(void **state)
{
	fake_mount.target_exists = fake_mount.ready_exists = true;
	assert_int_equal(set_up().result, STAGE_LIST_DONE);
	assert_null(strstr(fake_mount.diary, "make_directory"));
	assert_null(strstr(fake_mount.diary, "change_mode"));
}

/* case 117 */
static void test_directory_deleted_by_hand(void **state)
{
	fake_mount.ready_exists = true;
	assert_int_equal(set_up().result, STAGE_NEXT);
	assert_non_null(strstr(fake_mount.diary, "place_open(" READY ")\n"
						 "remove_file(ready)\n"
						 "remove_empty_parents(" READY ")\n"
						 "make_directory(scratch, 0777)\n"));
	assert_non_null(strstr(fake_mount.diary, "make_file(ready, 0644)"));
}

static void expect_tmpfs(const char *options)
{
	char expected[128];

	source.medium = "Memory";
	assert_int_equal(set_up().result, STAGE_NEXT);
	(void) snprintf(expected, sizeof(expected), "mount_filesystem(tmpfs, tmpfs, %s)\n",
			options);
	assert_non_null(strstr(fake_mount.diary, expected));
	assert_non_null(strstr(fake_mount.diary, "make_file(ready, 0644)"));
}

/* case 118 */
static void test_memory_is_bounded_by_the_node(void **state)
{
	host.allocatable.memory_bytes = 16 * GIB;
	expect_tmpfs("size=17179869184,noswap");
}

/* case 119 */
static void test_memory_is_bounded_by_the_size_limit(void **state)
{
	host.allocatable.memory_bytes = 16 * GIB;
	containers[0].memory_limit_bytes = 10 * GIB;
	source.has_size_limit = true;
	source.size_limit_bytes = 5 * GIB;
	expect_tmpfs("size=5368709120,noswap");
}

/* case 120 */
static void test_memory_is_bounded_by_the_pod(void **state)
{
	host.allocatable.memory_bytes = 16 * GIB;
	containers[0].memory_limit_bytes = 10 * GIB;
	source.has_size_limit = true;
	source.size_limit_bytes = 20 * GIB;
	expect_tmpfs("size=10737418240,noswap");
}

/* case 121 */
static void test_size_limit_zero_is_none(void **state)
{
	host.allocatable.memory_bytes = 16 * GIB;
	containers[0].memory_limit_bytes = 10 * GIB;
	source.has_size_limit = true;
	expect_tmpfs("size=10737418240,noswap");
}

static void test_memory_without_any_bound(void **state)
{
	expect_tmpfs("noswap");
}

/* A pod has a limit when every container has one; init containers run one by one before. */
static void test_pod_limits(void **state)
{
	source.medium = "Memory";
	pod.container_count = 3;
	containers[0].type = CONTAINER_INIT;
	containers[0].memory_limit_bytes = 5 * GIB;
	containers[1].memory_limit_bytes = 1 * GIB;
	containers[2].memory_limit_bytes = 2 * GIB;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 5 * GIB);
	containers[0].memory_limit_bytes = 1 * GIB;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 3 * GIB);
	containers[2].memory_limit_bytes = 0;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 16 * GIB);
	containers[2].type = CONTAINER_EPHEMERAL;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 1 * GIB);
	containers[1].memory_limit_bytes = INT64_MAX;
	containers[2] = containers[1];
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 16 * GIB);
	assert_int_equal(empty_dir_memory_size(NULL, &source, 0), 0);
}

/* case 469: sidecars run beside all that starts after them, the overhead comes on top */
static void test_pod_limits_with_sidecars_case_469(void **state)
{
	source.medium = "Memory";
	pod.container_count = 3;
	pod.memory_overhead_bytes = GIB / 4;
	for (size_t i = 0; i < 3; i++)
		containers[i].memory_limit_bytes = GIB;
	containers[0].type = containers[1].type = CONTAINER_INIT;
	containers[0].sidecar = containers[1].sidecar = true;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 3 * GIB + GIB / 4);
	containers[1].sidecar = false;
	containers[1].memory_limit_bytes = 5 * GIB;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 6 * GIB + GIB / 4);
	containers[1].memory_limit_bytes = 0;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 16 * GIB);
	pod.memory_limit_bytes = 2 * GIB;
	assert_int_equal(empty_dir_memory_size(&pod, &source, 16 * GIB), 2 * GIB + GIB / 4);
}

/* case 122 */
static void test_mounted_and_ready(void **state)
{
	source.medium = "Memory";
	fake_mount.target_exists = fake_mount.ready_exists = true;
	fake_mount.target.is_mount_root = true;
	fake_mount.target.mount_id = 77;
	struct ran ran = set_up();

	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_int_equal(ran.report.mount_id, 77);
	assert_null(strstr(fake_mount.diary, "mount_filesystem"));
}

/* Killed between mount and ready file: not mounted twice. */
static void test_mounted_but_not_ready(void **state)
{
	source.medium = "Memory";
	fake_mount.target_exists = true;
	fake_mount.target.is_mount_root = true;
	fake_mount.fs_type = TMPFS_MAGIC;
	assert_int_equal(set_up().result, STAGE_NEXT);
	assert_null(strstr(fake_mount.diary, "mount_filesystem"));
	assert_null(strstr(fake_mount.diary, "change_mode"));
	assert_non_null(strstr(fake_mount.diary, "make_file(ready, 0644)"));
}

/* The machine started again: the ready file is there, the tmpfs is not. */
static void test_ready_but_not_mounted(void **state)
{
	source.medium = "Memory";
	fake_mount.target_exists = fake_mount.ready_exists = true;
	assert_int_equal(set_up().result, STAGE_NEXT);
	assert_non_null(strstr(fake_mount.diary, "remove_file(ready)"));
	assert_non_null(strstr(fake_mount.diary, "mount_filesystem(tmpfs"));
}

static void test_somebody_elses_mount_is_refused(void **state)
{
	struct ran ran;

	source.medium = "Memory";
	fake_mount.target_exists = true;
	fake_mount.target.is_mount_root = true;
	fake_mount.fs_type = EXT4_SUPER_MAGIC;
	ran = set_up();
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_null(strstr(fake_mount.diary, "ready, 0644"));
}

/* An older kernel does not know noswap. */
static void test_noswap_is_left_out_where_unknown(void **state)
{
	source.medium = "Memory";
	source.has_size_limit = true;
	source.size_limit_bytes = GIB;
	fake_mount.fail_name = "mount_filesystem";
	fake_mount.fail_error = -EINVAL;
	fake_mount.fail_nth = 1;
	assert_int_equal(set_up().result, STAGE_NEXT);
	assert_non_null(strstr(fake_mount.diary,
			       "mount_filesystem(tmpfs, tmpfs, size=1073741824,noswap)\n"
			       "mount_filesystem(tmpfs, tmpfs, size=1073741824)\n"));
}

static void test_failed_mount_is_not_ready(void **state)
{
	struct ran ran;

	source.medium = "Memory";
	fake_mount.fail_name = "mount_filesystem";
	fake_mount.fail_error = -EPERM;
	ran = set_up();
	assert_int_equal(ran.result, -EPERM);
	assert_non_null(strstr(ran.report.failure.text, "cannot mount a tmpfs"));
	assert_null(strstr(fake_mount.diary, "ready, 0644"));
}

static void expect_pages(const char *medium, const char *options)
{
	char expected[128];

	source.medium = medium;
	assert_int_equal(set_up().result, STAGE_NEXT);
	(void) snprintf(expected, sizeof(expected), "mount_filesystem(hugetlbfs, nodev, %s)\n",
			options);
	assert_non_null(strstr(fake_mount.diary, expected));
}

/* case 123 */
static void test_huge_pages(void **state)
{
	request_pages(0, "2Mi");
	expect_pages("HugePages", "pagesize=2Mi");
}

/* case 124 */
static void test_huge_pages_of_two_containers(void **state)
{
	request_pages(0, "1Gi");
	request_pages(1, "1Gi");
	expect_pages("HugePages", "pagesize=1Gi");
}

/* case 125 */
static void test_huge_pages_of_two_sizes(void **state)
{
	request_pages(0, "2Mi");
	request_pages(0, "1Gi");
	source.medium = "HugePages";
	assert_non_null(strstr(refused().text, "multiple huge page sizes"));
}

/* case 126 */
static void test_huge_pages_of_an_init_container(void **state)
{
	request_pages(0, "2Mi");
	containers[0].type = CONTAINER_INIT;
	request_pages(1, "1Gi");
	source.medium = "HugePages";
	assert_non_null(strstr(refused().text, "multiple huge page sizes"));
}

/* case 127 */
static void test_huge_pages_without_a_request(void **state)
{
	source.medium = "HugePages";
	assert_non_null(strstr(refused().text, "no container requests huge pages"));
}

/* case 128 */
static void test_huge_pages_of_a_named_size(void **state)
{
	request_pages(0, "2Mi");
	request_pages(0, "1Gi");
	expect_pages("HugePages-1Gi", "pagesize=1Gi");
}

/* case 129 */
static void test_huge_pages_of_a_size_nobody_requests(void **state)
{
	request_pages(0, "2Mi");
	request_pages(1, "1Gi");
	source.medium = "HugePages-1Mi";
	assert_non_null(strstr(refused().text, "HugePages-1Mi"));
	source.medium = "HugePages-";
	(void) refused();
}

static void test_huge_pages_where_the_kernel_has_none(void **state)
{
	struct ran ran;

	request_pages(0, "2Mi");
	source.medium = "HugePages";
	fake_mount.fail_name = "mount_filesystem";
	fake_mount.fail_error = -ENODEV;
	ran = set_up();
	assert_int_equal(ran.result, -ENODEV);
	assert_non_null(strstr(ran.report.failure.text, "cannot mount huge pages"));
}

static void test_huge_pages_mounted_with_another_size(void **state)
{
	request_pages(0, "2Mi");
	source.medium = "HugePages";
	fake_mount.target_exists = fake_mount.ready_exists = true;
	fake_mount.target.is_mount_root = true;
	fake_mount.fs_type = HUGETLBFS_MAGIC;
	fake_mount.fs_block_size = 1024 * 1024 * 1024;
	assert_int_equal(set_up().result, -EBUSY);
	fake_mount.fs_block_size = 2 * 1024 * 1024;
	assert_int_equal(set_up().result, STAGE_NEXT);
	assert_null(strstr(fake_mount.diary, "mount_filesystem"));
}

/* case 130 */
static void test_unknown_medium(void **state)
{
	source.medium = "foo";
	assert_string_equal(refused().text, "unknown storage medium \"foo\"");
}

static void test_what_lives_in_its_mount(void **state)
{
	source.medium = "";
	assert_false(plugin->lives_in_mount(&spec));
	source.medium = "Memory";
	assert_true(plugin->lives_in_mount(&spec));
	source.medium = "HugePages-2Mi";
	assert_true(plugin->lives_in_mount(&spec));
	spec.source = NULL; /* reconstructed */
	assert_false(plugin->lives_in_mount(&spec));
}

/* case 131, the spec says default, a tmpfs is there */
static void test_tear_down_by_what_is_mounted(void **state)
{
	fake_mount.target_exists = true;
	fake_mount.target.is_mount_root = true;
	fake_mount.fs_type = TMPFS_MAGIC;
	assert_int_equal(tear_down().result, STAGE_NEXT);
	assert_non_null(strstr(fake_mount.diary, "unmount_place(scratch)\n"
						 "place_facts(scratch)\n"
						 "place_open(" READY ")\n"
						 "remove_file(ready)\n"
						 "remove_empty_parents(" READY ")\n"
						 "remove_empty_dir_contents(scratch)\n"
						 "remove_empty_parents(" DIR ")\n"));
}

/* case 132 */
static void test_tear_down_of_a_directory(void **state)
{
	fake_mount.target_exists = true;
	assert_int_equal(tear_down().result, STAGE_NEXT);
	assert_string_equal(fake_mount.diary, "place_open(" DIR ")\n"
					      "open_beneath(" READY ")\n"
					      "place_facts(scratch)\n"
					      "place_open(" READY ")\n"
					      "remove_file(ready)\n"
					      "remove_empty_parents(" READY ")\n"
					      "remove_empty_dir_contents(scratch)\n"
					      "remove_empty_parents(" DIR ")\n");
}

/* case 133 */
static void test_tear_down_of_nothing(void **state)
{
	assert_int_equal(tear_down().result, STAGE_NEXT);
	assert_non_null(strstr(fake_mount.diary, "remove_file(ready)"));
	assert_null(strstr(fake_mount.diary, "remove_empty_dir_contents"));
}

/* case 132, a difference: a disk that was mounted on the directory; kubelet would remove what
 * is on it. */
static void test_tear_down_refuses_somebody_elses_mount(void **state)
{
	struct ran ran;

	fake_mount.target_exists = true;
	fake_mount.target.is_mount_root = true;
	fake_mount.fs_type = EXT4_SUPER_MAGIC;
	ran = tear_down();
	assert_int_equal(ran.result, -EBUSY);
	assert_non_null(strstr(ran.report.failure.text, "not an emptyDir's"));
	assert_null(strstr(fake_mount.diary, "unmount_place"));
	assert_null(strstr(fake_mount.diary, "remove_empty_dir_contents"));
}

/* case 134 */
static void test_ownership_ignores_the_policy(void **state)
{
	pod.has_fs_group = true;
	pod.fs_group = 1000;
	pod.fs_group_change_policy = FS_GROUP_CHANGE_ON_ROOT_MISMATCH;
	assert_int_equal(set_up().result, STAGE_NEXT);
	assert_non_null(strstr(fake_mount.diary, "open_beneath(scratch)\n"
						 "ownership_apply(1000)\n"
						 "place_make(" READY ", 0750)\n"));
}

/* case 134, a difference: the walk that could not be done is not passed over. */
static void test_ownership_that_failed_is_not_ready(void **state)
{
	struct ran ran;

	pod.has_fs_group = true;
	fake_mount.fail_name = "ownership_apply";
	fake_mount.fail_error = -EIO;
	ran = set_up();
	assert_int_equal(ran.result, -EIO);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_null(strstr(fake_mount.diary, "make_file"));
}

static void test_reconstruction(void **state)
{
	struct failure failure = { 0 };
	struct volume_spec rebuilt;

	/* Without its ready file it may be anybody's data. */
	assert_int_equal(
		plugin->construct_volume_spec(&host, "u1", "scratch", false, &rebuilt, &failure),
		-EINVAL);
	assert_non_null(strstr(failure.text, "empty-dir/scratch/ready"));

	fake_mount.ready_exists = true;
	assert_int_equal(
		plugin->construct_volume_spec(&host, "u1", "scratch", false, &rebuilt, NULL), 0);
	assert_string_equal(rebuilt.name, "scratch");
	assert_int_equal(
		plugin->construct_volume_spec(&host, "u1", "scratch", true, &rebuilt, NULL),
		-EINVAL);
}

static void test_path_and_attributes(void **state)
{
	cleanup_free char *path = plugin->get_path(&request);

	assert_string_equal(path, "/r/" DIR);
	assert_true(plugin->get_attributes(&spec).managed);
	assert_false(plugin->get_attributes(&spec).read_only);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_default_medium, setup),
		cmocka_unit_test_setup(test_second_set_up_changes_nothing, setup),
		cmocka_unit_test_setup(test_directory_deleted_by_hand, setup),
		cmocka_unit_test_setup(test_memory_is_bounded_by_the_node, setup),
		cmocka_unit_test_setup(test_memory_is_bounded_by_the_size_limit, setup),
		cmocka_unit_test_setup(test_memory_is_bounded_by_the_pod, setup),
		cmocka_unit_test_setup(test_size_limit_zero_is_none, setup),
		cmocka_unit_test_setup(test_memory_without_any_bound, setup),
		cmocka_unit_test_setup(test_pod_limits, setup),
		cmocka_unit_test_setup(test_pod_limits_with_sidecars_case_469, setup),
		cmocka_unit_test_setup(test_mounted_and_ready, setup),
		cmocka_unit_test_setup(test_mounted_but_not_ready, setup),
		cmocka_unit_test_setup(test_ready_but_not_mounted, setup),
		cmocka_unit_test_setup(test_somebody_elses_mount_is_refused, setup),
		cmocka_unit_test_setup(test_noswap_is_left_out_where_unknown, setup),
		cmocka_unit_test_setup(test_failed_mount_is_not_ready, setup),
		cmocka_unit_test_setup(test_huge_pages, setup),
		cmocka_unit_test_setup(test_huge_pages_of_two_containers, setup),
		cmocka_unit_test_setup(test_huge_pages_of_two_sizes, setup),
		cmocka_unit_test_setup(test_huge_pages_of_an_init_container, setup),
		cmocka_unit_test_setup(test_huge_pages_without_a_request, setup),
		cmocka_unit_test_setup(test_huge_pages_of_a_named_size, setup),
		cmocka_unit_test_setup(test_huge_pages_of_a_size_nobody_requests, setup),
		cmocka_unit_test_setup(test_huge_pages_where_the_kernel_has_none, setup),
		cmocka_unit_test_setup(test_huge_pages_mounted_with_another_size, setup),
		cmocka_unit_test_setup(test_unknown_medium, setup),
		cmocka_unit_test_setup(test_what_lives_in_its_mount, setup),
		cmocka_unit_test_setup(test_tear_down_by_what_is_mounted, setup),
		cmocka_unit_test_setup(test_tear_down_of_a_directory, setup),
		cmocka_unit_test_setup(test_tear_down_of_nothing, setup),
		cmocka_unit_test_setup(test_tear_down_refuses_somebody_elses_mount, setup),
		cmocka_unit_test_setup(test_ownership_ignores_the_policy, setup),
		cmocka_unit_test_setup(test_ownership_that_failed_is_not_ready, setup),
		cmocka_unit_test_setup(test_reconstruction, setup),
		cmocka_unit_test_setup(test_path_and_attributes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
