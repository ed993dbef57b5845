/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_paths - names and places of CSI volumes, to the letter
 */
#include "plugins/csi_paths.h"

#include "base/cleanup.h"
#include "plugins/plugin.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BASE "plugins/kubernetes.io/csi/"

/* case 247: the hash is of the handle alone, so two volumes with one handle share the place */
static void test_staging(void **state)
{
	cleanup_free char *path = NULL, *odd = NULL;
	struct failure failure;

	assert_int_equal(csi_staging_path("d", "vol-1", &path, NULL), 0);
	assert_string_equal(path,
			    BASE "d/d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a87"
				 "31cc49/globalmount");
	assert_true(csi_is_staging_path(path));
	assert_int_equal(csi_staging_path("d", "../../etc", &odd, NULL), 0);
	assert_null(strstr(odd, ".."));
	assert_int_equal(csi_staging_path("..", "vol-1", &path, &failure), -EINVAL);
	assert_int_equal(csi_staging_path("", "vol-1", &path, &failure), -EINVAL);
	assert_int_equal(csi_staging_path("a/b", "vol-1", &path, &failure), -EINVAL);
	assert_int_equal(csi_staging_path("d", "", &path, &failure), -EINVAL);
}

static void test_what_is_no_staging_path(void **state)
{
	static const char *const others[] = {
		"",
		BASE "d/globalmount",
		BASE "d/abc/globalmount",
		BASE "pv/d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49",
		BASE
		"/d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49/globalmount",
		BASE
		"../d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49/globalmount",
		BASE
		"d/d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49/globalmount/x",
		BASE
		"d/e/d2e8363faaac7ae76def3b14091d8eb5755f6b92e9531627aeec833a8731cc49/globalmount",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(csi_is_staging_path(others[i]));
}

/* case 248, case 249 */
static void test_names_that_are_hashes(void **state)
{
	cleanup_free char *attachment = csi_attachment_name("h", "d", "n");
	cleanup_free char *handle = csi_inline_handle("u", "v");
	cleanup_free char *unique = csi_unique_name("d", "h");

	assert_string_equal(attachment,
			    "csi-9072ed11cc1acb5fa433a877ff339b6311d013f33bddd1d0092711a8ace5b16d");
	assert_string_equal(unique, "kubernetes.io/csi/d^h");
	assert_string_equal(handle,
			    "csi-e6184ce10e266134fdcfa401e8f1a95005bcd4f18d16b62b757323e2833fe9a9");
}

static void test_places(void **state)
{
	static const struct {
		enum csi_block_place place;
		const char *path;
	} rows[] = {
		{ CSI_BLOCK_MAP, BASE "volumeDevices/pv/dev" },
		{ CSI_BLOCK_DATA, BASE "volumeDevices/pv/data/vol_data.json" },
		{ CSI_BLOCK_STAGING, BASE "volumeDevices/staging/pv" },
		{ CSI_BLOCK_PUBLISH, BASE "volumeDevices/publish/pv" },
	};
	cleanup_free char *target = NULL, *beside = NULL;
	char *refused;

	assert_int_equal(csi_target_path("uid", "pv", &target, NULL), 0);
	assert_string_equal(target, "pods/uid/volumes/kubernetes.io~csi/pv/mount");
	beside = csi_path_beside(target, "vol_data.json");
	assert_string_equal(beside, "pods/uid/volumes/kubernetes.io~csi/pv/vol_data.json");
	assert_int_equal(csi_target_path("..", "pv", &refused, NULL), -EINVAL);
	assert_int_equal(csi_target_path("uid", "a/b", &refused, NULL), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free char *path = NULL;

		assert_int_equal(csi_block_path(rows[i].place, "pv", &path, NULL), 0);
		assert_string_equal(path, rows[i].path);
		assert_int_equal(csi_block_path(rows[i].place, "..", &refused, NULL), -EINVAL);
	}
}

static void test_unique_names(void **state)
{
	static const char *const others[] = { "kubernetes.io/csi/uid-volume",
					      "kubernetes.io/csi/^handle", "kubernetes.io/csi/d^",
					      "kubernetes.io/local-volume/d^h" };
	cleanup_free char *driver = NULL, *handle = NULL;

	assert_int_equal(
		csi_split_unique_name("kubernetes.io/csi/d.example.com^a^b/c", &driver, &handle),
		0);
	assert_string_equal(driver, "d.example.com");
	assert_string_equal(handle, "a^b/c");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		char *no_driver, *no_handle;

		assert_int_equal(csi_split_unique_name(others[i], &no_driver, &no_handle), -EINVAL);
	}
}

/* ---- what a volume leads to ---- */

static int note_reference(const struct object_reference *reference, void *userdata)
{
	char *text = userdata;
	size_t length = strlen(text);

	(void) snprintf(text + length, 1024 - length, "%d:%s/%s ", reference->kind,
			reference->name_space, reference->name);
	return 0;
}

static void test_references(void **state)
{
	const struct volume_plugin *csi = plugin_by_name("kubernetes.io/csi");
	cleanup_object const struct object *pv = object_of(
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec:\n"
		"  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n"
		"  csi: {driver: d, volumeHandle: h, nodeStageSecretRef: {namespace: a, name: s},\n"
		"    nodePublishSecretRef: {namespace: b, name: p},\n"
		"    nodeExpandSecretRef: {namespace: c, name: e},\n"
		"    controllerPublishSecretRef: {namespace: c, name: x}}\n");
	cleanup_object const struct object *pod =
		object_of("apiVersion: v1\nkind: Pod\nmetadata: {namespace: ns, name: p}\nspec:\n"
			  "  containers: [{name: c, image: i}]\n  volumes:\n"
			  "  - name: v\n    csi: {driver: d, nodePublishSecretRef: {name: s}}\n");
	const struct volume_spec of_pv = { .name = "pv", .pv = pv };
	const struct volume_spec of_pod = { .name = "v",
					    .pod = pod,
					    .source = &pod->pod->volumes[0] };
	char text[1024] = "", expected[1024];

	assert_int_equal(csi->references(&of_pv, "n", note_reference, text), 0);
	(void) snprintf(expected, sizeof(expected),
			"%d:/d %d:/csi-9072ed11cc1acb5fa433a877ff339b6311d013f33bddd1d0092711a8ace5"
			"b16d %d:a/s %d:b/p %d:c/e ",
			KIND_CSI_DRIVER, KIND_VOLUME_ATTACHMENT, KIND_SECRET, KIND_SECRET,
			KIND_SECRET);
	assert_string_equal(text, expected);
	text[0] = '\0';
	assert_int_equal(csi->references(&of_pod, "n", note_reference, text), 0);
	(void) snprintf(expected, sizeof(expected), "%d:/d %d:ns/s %d:ns/default ", KIND_CSI_DRIVER,
			KIND_SECRET, KIND_SERVICE_ACCOUNT);
	assert_string_equal(text, expected);
}

static void test_unique_name_of_a_volume(void **state)
{
	cleanup_object const struct object *pv =
		object_of("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec:\n"
			  "  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n"
			  "  csi: {driver: d, volumeHandle: h}\n");
	const struct volume_spec spec = { .name = "pv", .pv = pv };
	const struct volume_plugin *plugin;
	cleanup_free char *name = NULL;

	assert_int_equal(plugin_for_spec(&spec, &plugin, NULL), 0);
	assert_int_equal(plugin_unique_name(plugin, &spec, "uid", &name, NULL), 0);
	assert_string_equal(name, "kubernetes.io/csi/d^h");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_staging),
		cmocka_unit_test(test_what_is_no_staging_path),
		cmocka_unit_test(test_names_that_are_hashes),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_unique_names),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_unique_name_of_a_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
