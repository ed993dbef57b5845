/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_registry - exactly one plugin claims a volume; names and directories follow kubelet's
 */
#include "base/cleanup.h"
#include "plugins/layout.h"
#include "plugins/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct persistent_volume local_pv = { .source = PV_SOURCE_LOCAL,
						   .source_key = "local",
						   .local_path = "/mnt/x" };
static const struct persistent_volume host_path_pv = { .source = PV_SOURCE_HOST_PATH,
						       .source_key = "hostPath",
						       .host_path = "/x" };
static const struct persistent_volume other_pv = { .source = PV_SOURCE_OTHER,
						   .source_key = "iscsi" };
static const struct object local_object = { .persistent_volume = &local_pv };
static const struct object host_path_object = { .persistent_volume = &host_path_pv };
static const struct object other_object = { .persistent_volume = &other_pv };

static const struct pod_volume empty_dir = {
	.name = "scratch", .source = SOURCE_EMPTY_DIR, .source_key = "emptyDir", .medium = ""
};
static const struct pod_volume host_path = { .name = "logs",
					     .source = SOURCE_HOST_PATH,
					     .source_key = "hostPath",
					     .host_path = "/var/log",
					     .host_path_type = "" };
static const struct pod_volume git_repo = { .name = "code",
					    .source = SOURCE_OTHER,
					    .source_key = "gitRepo" };

static void expect_plugin(const struct volume_spec *spec, const char *name)
{
	const struct volume_plugin *plugin;
	struct failure failure;

	assert_int_equal(plugin_for_spec(spec, &plugin, &failure), 0);
	assert_string_equal(plugin->name, name);
	assert_ptr_equal(plugin_by_name(name), plugin);
}

/* case 40, case 41 */
static void test_each_source_has_its_plugin(void **state)
{
	expect_plugin(&(struct volume_spec){ .name = "pv1", .pv = &local_object },
		      "kubernetes.io/local-volume");
	expect_plugin(&(struct volume_spec){ .name = "pv2", .pv = &host_path_object },
		      "kubernetes.io/host-path");
	expect_plugin(&(struct volume_spec){ .name = "logs", .source = &host_path },
		      "kubernetes.io/host-path");
	expect_plugin(&(struct volume_spec){ .name = "scratch", .source = &empty_dir },
		      "kubernetes.io/empty-dir");
}

static void test_nobody_claims_what_we_do_not_have(void **state)
{
	const struct volume_spec inline_spec = { .name = "code", .source = &git_repo };
	const struct volume_spec pv_spec = { .name = "pv3", .pv = &other_object };
	const struct volume_plugin *plugin = NULL;
	struct failure failure;

	assert_int_equal(plugin_for_spec(&inline_spec, &plugin, &failure), -ENOENT);
	assert_non_null(strstr(failure.text, "'code'"));
	assert_non_null(strstr(failure.text, "'gitRepo'"));
	assert_int_equal(plugin_for_spec(&pv_spec, &plugin, &failure), -ENOENT);
	assert_non_null(strstr(failure.text, "'iscsi'"));
	assert_null(plugin);
}

static bool claim_everything(const struct volume_spec *spec)
{
	return spec != NULL;
}

static void test_two_claims_are_an_error(void **state)
{
	static const struct volume_plugin one = { .name = "one", .can_support = claim_everything };
	static const struct volume_plugin two = { .name = "two", .can_support = claim_everything };
	const struct volume_plugin *const list[] = { &one, &two, NULL };
	const struct volume_spec spec = { .name = "scratch", .source = &empty_dir };
	const struct volume_plugin *plugin = NULL;
	struct failure failure;

	assert_int_equal(plugin_claim(list, &spec, &plugin, &failure), -ENOTUNIQ);
	assert_string_equal(failure.text,
			    "volume 'scratch' is claimed by two plugins: one and two");
	assert_null(plugin);
	assert_int_equal(plugin_claim(&list[1], &spec, &plugin, &failure), 0);
	assert_ptr_equal(plugin, &two);
}

static void test_no_two_plugins_claim_the_same(void **state)
{
	const struct volume_spec specs[] = {
		{ .name = "a", .pv = &local_object },  { .name = "b", .pv = &host_path_object },
		{ .name = "c", .source = &host_path }, { .name = "d", .source = &empty_dir },
		{ .name = "e", .pv = &other_object },  { .name = "f", .source = &git_repo },
	};

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		int claims = 0;

		for (const struct volume_plugin *const *plugin = plugin_list(); *plugin; plugin++)
			claims += (*plugin)->can_support(&specs[i]);
		assert_int_equal(claims, i < 4 ? 1 : 0);
	}
}

/* case 353, a directory of a foreign plugin finds none, so nothing touches it */
static void test_unknown_names_find_nothing(void **state)
{
	assert_null(plugin_by_name("kubernetes.io/nothing"));
	assert_null(plugin_by_name(""));
	assert_null(plugin_by_name("kubernetes.io~local-volume"));
}

static void test_every_plugin_fills_what_everybody_calls(void **state)
{
	size_t count = 0;

	for (const struct volume_plugin *const *plugin = plugin_list(); *plugin; plugin++) {
		assert_non_null((*plugin)->name);
		assert_non_null((*plugin)->can_support);
		assert_non_null((*plugin)->get_volume_name);
		assert_non_null((*plugin)->get_attributes);
		assert_non_null((*plugin)->new_mounter);
		assert_non_null((*plugin)->get_path);
		count++;
	}
	assert_int_equal(count, 11);
}

static void expect_unique_name(const struct volume_spec *spec, const char *expected)
{
	const struct volume_plugin *plugin;
	cleanup_free char *name = NULL;

	assert_int_equal(plugin_for_spec(spec, &plugin, NULL), 0);
	assert_int_equal(plugin_unique_name(plugin, spec, "uid-1", &name, NULL), 0);
	assert_string_equal(name, expected);
}

/* case 40 */
static void test_unique_names(void **state)
{
	expect_unique_name(&(struct volume_spec){ .name = "pv1", .pv = &local_object },
			   "kubernetes.io/local-volume/pv1");
	expect_unique_name(&(struct volume_spec){ .name = "scratch", .source = &empty_dir },
			   "kubernetes.io/empty-dir/uid-1-scratch");
	expect_unique_name(&(struct volume_spec){ .name = "pv2", .pv = &host_path_object },
			   "kubernetes.io/host-path/uid-1-pv2");
}

/* case 37, operation refuses mount options by this slot before any stage runs */
static void test_who_takes_mount_options(void **state)
{
	assert_true(plugin_by_name("kubernetes.io/local-volume")->supports_mount_options);
	assert_true(plugin_by_name("kubernetes.io/nfs")->supports_mount_options);
	assert_false(plugin_by_name("kubernetes.io/host-path")->supports_mount_options);
	assert_false(plugin_by_name("kubernetes.io/empty-dir")->supports_mount_options);
}

static void test_layout_names_kubelets_directories(void **state)
{
	cleanup_free char *path = NULL, *holder = NULL, *child = NULL, *absolute = NULL;

	assert_int_equal(
		layout_pod_path("u", "volumes", "kubernetes.io/empty-dir", "v", &path, NULL), 0);
	assert_string_equal(path, "pods/u/volumes/kubernetes.io~empty-dir/v");
	assert_int_equal(layout_pod_path("u", "volumeDevices", "kubernetes.io/local-volume", NULL,
					 &holder, NULL),
			 0);
	assert_string_equal(holder, "pods/u/volumeDevices/kubernetes.io~local-volume");
	assert_int_equal(layout_child("plugins/x", "pv", &child, NULL), 0);
	absolute = layout_absolute("/var/lib/kubelet", child);
	assert_string_equal(absolute, "/var/lib/kubelet/plugins/x/pv");
	assert_null(layout_absolute("/var/lib/kubelet", NULL));
}

static void test_layout_refuses_names_that_lead_elsewhere(void **state)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "/", "../../etc" };
	struct failure failure;
	char *path = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(layout_pod_path(bad[i], "volumes", "p", "v", &path, &failure),
				 -EINVAL);
		assert_non_null(strstr(failure.text, "pod uid"));
		assert_int_equal(layout_pod_path("u", "volumes", "p", bad[i], &path, &failure),
				 -EINVAL);
		assert_non_null(strstr(failure.text, "volume name"));
		assert_int_equal(layout_child("base", bad[i], &path, &failure), -EINVAL);
	}
	assert_int_equal(layout_pod_path(NULL, "volumes", "p", "v", &path, NULL), -EINVAL);
	assert_true(layout_is_component("..foo"));
	assert_true(layout_is_component("..."));
}

static void test_events_are_kept_up_to_their_limit(void **state)
{
	struct stage_report report = { 0 };

	for (int i = 0; i < STAGE_EVENTS_MAX + 2; i++)
		stage_event_add(&report, i == 0, "Warning", "Reason", "number %d", i);
	assert_int_equal(report.event_count, STAGE_EVENTS_MAX);
	assert_true(report.events[0].about_pv);
	assert_false(report.events[1].about_pv);
	assert_string_equal(report.events[0].text, "number 0");
	assert_string_equal(report.events[STAGE_EVENTS_MAX - 1].text, "number 3");
}

static void test_an_empty_list_is_done_too(void **state)
{
	struct stage_list list = { 0 };

	stage_list_done(&list);
	list = (struct stage_list){ .data = malloc(1), .free_data = free };
	stage_list_done(&list);
	assert_null(list.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_source_has_its_plugin),
		cmocka_unit_test(test_nobody_claims_what_we_do_not_have),
		cmocka_unit_test(test_two_claims_are_an_error),
		cmocka_unit_test(test_no_two_plugins_claim_the_same),
		cmocka_unit_test(test_unknown_names_find_nothing),
		cmocka_unit_test(test_every_plugin_fills_what_everybody_calls),
		cmocka_unit_test(test_unique_names),
		cmocka_unit_test(test_who_takes_mount_options),
		cmocka_unit_test(test_layout_names_kubelets_directories),
		cmocka_unit_test(test_layout_refuses_names_that_lead_elsewhere),
		cmocka_unit_test(test_events_are_kept_up_to_their_limit),
		cmocka_unit_test(test_an_empty_list_is_done_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
