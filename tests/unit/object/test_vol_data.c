/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_vol_data - kubelet's own files are read, everything else is refused with a reason
 */
#include "object/kinds/vol_data.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* As a kubelet 1.32 wrote it. */
static const char pod_file[] =
	"{\"attachmentID\":\"csi-7f6ddc6a16ab\",\"driverName\":\"hostpath.csi.k8s.io\",\"nodeName\""
	":\"node-1\",\"specVolID\":\"pvc-7e3c\",\"volumeHandle\":\"8e2c5b\",\"volumeLifecycleMode\""
	":\"Persistent\"}";

static int parse(const char *text, enum vol_data_place place, struct vol_data *ret,
		 struct failure *reterr)
{
	return vol_data_parse(text, strlen(text), place, ret, reterr);
}

static void test_pod_file(void **state)
{
	struct vol_data data;

	assert_int_equal(parse(pod_file, VOL_DATA_POD, &data, NULL), 0);
	assert_string_equal(data.spec_name, "pvc-7e3c");
	assert_string_equal(data.volume_handle, "8e2c5b");
	assert_string_equal(data.driver_name, "hostpath.csi.k8s.io");
	assert_string_equal(data.node_name, "node-1");
	assert_string_equal(data.attachment_id, "csi-7f6ddc6a16ab");
	assert_string_equal(data.lifecycle_mode, "Persistent");
	assert_string_equal(data.selinux_mount_context, "");
	vol_data_done(&data);
	assert_null(data.driver_name);
}

/* What each place needs, and no more; a member that a newer kubelet writes is passed over. */
static void test_accepted(void **state)
{
	static const struct {
		const char *text;
		enum vol_data_place place;
	} files[] = {
		{ "{\"driverName\":\"d\",\"volumeHandle\":\"h\"}", VOL_DATA_STAGING },
		{ "{\"driverName\":\"d\",\"volumeHandle\":\"h\",\"seLinuxMountContext\":\"\"}",
		  VOL_DATA_STAGING },
		{ "{\"driverName\":\"d\",\"volumeHandle\":\"h\",\"specVolID\":\"pv\"}",
		  VOL_DATA_BLOCK },
		{ " {\"driverName\":\"d\",\"volumeHandle\":\"a/b\\u00e9\",\"specVolID\":\"pv\","
		  "\"volumeLifecycleMode\":\"Ephemeral\",\"later\":\"x\"}\n",
		  VOL_DATA_POD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct vol_data data;

		assert_int_equal(parse(files[i].text, files[i].place, &data, NULL), 0);
		assert_string_equal(data.driver_name, "d");
		vol_data_done(&data);
	}
}

#define WITH(members)                                                                              \
	"{\"driverName\":\"d\",\"volumeHandle\":\"h\",\"specVolID\":\"pv\"," members "}"

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} files[] = {
		{ "", "vol_data.json" },
		{ "[]", "holds no object" },
		{ "{\"driverName\":\"d\"", "line 1" },
		{ WITH("\"nodeName\":7"), "'nodeName' is not a string" },
		{ WITH("\"more\":{\"a\":\"b\"}"), "'more' is not a string" },
		{ WITH("\"nodeName\":null"), "'nodeName' is not a string" },
		{ "{\"driverName\":\"d\",\"specVolID\":\"pv\"}", "'volumeHandle' is missing" },
		{ "{\"volumeHandle\":\"h\",\"specVolID\":\"pv\"}", "'driverName' is missing" },
		{ "{\"driverName\":\"d\",\"volumeHandle\":\"h\"}", "'specVolID' is missing" },
		{ "{\"driverName\":\"d\",\"volumeHandle\":\"\",\"specVolID\":\"pv\"}",
		  "'volumeHandle' is missing" },
		{ "{\"driverName\":\"../x\",\"volumeHandle\":\"h\",\"specVolID\":\"pv\"}",
		  "not a driver name" },
		{ "{\"driverName\":\"a/b\",\"volumeHandle\":\"h\",\"specVolID\":\"pv\"}",
		  "not a driver name" },
		{ "{\"driverName\":\"d\",\"volumeHandle\":\"h\",\"specVolID\":\"..\"}",
		  "not a volume name" },
		{ "{\"driverName\":\"d\",\"volumeHandle\":\"h\",\"specVolID\":\"a/b\"}",
		  "not a volume name" },
		{ WITH("\"volumeLifecycleMode\":\"Forever\""), "not a lifecycle mode" },
		{ WITH("\"driverName\":\"e\""), "vol_data.json" }, /* twice */
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct failure failure = { 0 };
		struct vol_data data = { .driver_name = NULL };

		assert_int_equal(parse(files[i].text, VOL_DATA_POD, &data, &failure), -EINVAL);
		assert_non_null(strstr(failure.text, files[i].why));
		assert_null(data.driver_name);
	}
}

/* To the byte what kubelet's own encoder writes. */
static void test_written_as_kubelet_writes(void **state)
{
	const struct vol_data data = { .spec_name = "pvc-7e3c",
				       .volume_handle = "8e2c5b",
				       .driver_name = "hostpath.csi.k8s.io",
				       .node_name = "node-1",
				       .attachment_id = "csi-7f6ddc6a16ab",
				       .lifecycle_mode = "Persistent" };
	const struct vol_data labelled = { .volume_handle = "h",
					   .driver_name = "d",
					   .selinux_mount_context = "a:b:c:d" };
	cleanup_free char *pod = vol_data_print(&data, VOL_DATA_POD);
	cleanup_free char *staging = vol_data_print(&labelled, VOL_DATA_STAGING);
	cleanup_free char *block = vol_data_print(&labelled, VOL_DATA_BLOCK);

	assert_memory_equal(pod, pod_file, strlen(pod_file));
	assert_string_equal(pod + strlen(pod_file), "\n");
	assert_string_equal(staging, "{\"driverName\":\"d\",\"seLinuxMountContext\":\"a:b:c:d\","
				     "\"volumeHandle\":\"h\"}\n");
	assert_string_equal(block, "{\"attachmentID\":\"\",\"driverName\":\"d\",\"nodeName\":\"\","
				   "\"seLinuxMountContext\":\"a:b:c:d\",\"specVolID\":\"\","
				   "\"volumeHandle\":\"h\"}\n");
}

static void test_sizes(void **state)
{
	static char text[VOL_DATA_BYTES_MAX + 2];
	struct failure failure = { 0 };
	struct vol_data data;
	int used;

	used = snprintf(text, sizeof(text), WITH("\"nodeName\":\"%*s\""), VOL_DATA_VALUE_BYTES_MAX,
			"x");
	assert_int_equal(vol_data_parse(text, (size_t) used, VOL_DATA_POD, &data, NULL), 0);
	vol_data_done(&data);
	used = snprintf(text, sizeof(text), WITH("\"nodeName\":\"%*s\""),
			VOL_DATA_VALUE_BYTES_MAX + 1, "x");
	assert_int_equal(vol_data_parse(text, (size_t) used, VOL_DATA_POD, &data, &failure),
			 -E2BIG);
	assert_non_null(strstr(failure.text, "'nodeName' is longer than"));

	memset(text, ' ', sizeof(text));
	memcpy(text, pod_file, strlen(pod_file));
	assert_int_equal(vol_data_parse(text, VOL_DATA_BYTES_MAX, VOL_DATA_POD, &data, NULL), 0);
	vol_data_done(&data);
	assert_int_equal(vol_data_parse(text, VOL_DATA_BYTES_MAX + 1, VOL_DATA_POD, &data, NULL),
			 -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_file), cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_refused),  cmocka_unit_test(test_written_as_kubelet_writes),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests_name("vol_data", tests, NULL, NULL);
}
