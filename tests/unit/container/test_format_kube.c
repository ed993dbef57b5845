/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_format_kube - a plan as the pod for "podman kube play", and what that refuses
 */
#include "container/format.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MOUNT(host, container)                                                                     \
	.name = "v", .host_path = host, .container_path = container, .sub_path = ""

static const char KUBE_POD[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":"
	"\"ns\","
	"\"uid\":\"u-1\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"main\","
	"\"image\":\"i\",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/c\"}]},"
	"{\"name\":\"other\",\"image\":\"i\"}],\"securityContext\":{\"fsGroup\":7},"
	"\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"v\"}}]}}";

static const struct object *pod;
static bool no_text;

int __wrap_vasprintf(char **ret, const char *format, va_list arguments);
int __real_vasprintf(char **ret, const char *format, va_list arguments);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments)
{
	return no_text ? -1 : __real_vasprintf(ret, format, arguments);
}

/* As FORTIFY's, which the C library of tests brings to vasprintf(). */
int __wrap_asprintf(char **ret, const char *format, ...);
int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = __wrap_vasprintf(ret, format, arguments);
	va_end(arguments);
	return r;
}

static int read_pod(void **state)
{
	return object_parse_json(KUBE_POD, strlen(KUBE_POD), &pod, NULL);
}

static int free_pod(void **state)
{
	pod = object_unref(pod);
	return 0;
}

static int print_kube(struct planned_mount *mount, struct planned_device *disk, char **ret,
		      struct failure *reterr)
{
	struct planned_container container = { .name = "main",
					       .mounts = mount,
					       .mount_count = mount ? 1 : 0,
					       .devices = disk,
					       .device_count = disk ? 1 : 0 };
	gid_t group = 7;
	const struct container_plan plan = { .object = pod,
					     .groups = &group,
					     .group_count = 1,
					     .containers = &container,
					     .container_count = 1 };

	return container_format_print(container_format_find("kube"), &plan, ret, reterr);
}

/* Claims become host paths, the container that is not in the plan goes, fsGroup is a group. */
static void test_kube(void **state)
{
	struct planned_mount mount = { MOUNT("/h", "/c"), .read_only = true, .noexec = true,
				       .propagation = PROPAGATION_HOST_TO_CONTAINER };
	cleanup_free char *json = NULL;

	assert_int_equal(print_kube(&mount, NULL, &json, NULL), 0);
	assert_non_null(strstr(json, "\"metadata\":{\"name\":\"web\",\"labels\":{\"a\":\"b\"}}"));
	assert_non_null(
		strstr(json, "\"volumeMounts\":[{\"name\":\"volume-0\",\"mountPath\":\"/c:noexec\","
			     "\"readOnly\":true,\"mountPropagation\":\"HostToContainer\"}]"));
	assert_non_null(strstr(
		json, "\"volumes\":[{\"name\":\"volume-0\",\"hostPath\":{\"path\":\"/h\"}}]"));
	assert_non_null(strstr(json, "\"supplementalGroups\":[7]"));
	assert_null(strstr(json, "fsGroup"));
	assert_null(strstr(json, "other"));
	assert_null(strstr(json, "claimName"));
}

static void test_no_memory(void **state)
{
	struct planned_mount mount = { MOUNT("/h", "/c") };
	char *json = NULL;

	no_text = true;
	assert_int_equal(print_kube(&mount, NULL, &json, NULL), -ENOMEM);
	no_text = false;
	assert_null(json);
}

static void test_kube_refuses(void **state)
{
	struct planned_device disk = { .container_path = "/dev/x" };
	struct planned_mount mounts[] = {
		{ MOUNT("/h", "/a:b") },
		{ MOUNT("/h", "/c"), .read_only = true,
		  .recursive_read_only = RECURSIVE_READ_ONLY_ENABLED },
		{ MOUNT("/h", "/c"), .idmap = true },
	};
	static const char *const texts[] = {
		"container 'main': format 'kube' cannot write the colon of '/a:b'",
		("container 'main': format 'kube' cannot express recursiveReadOnly Enabled, "
		 "which '/c' asks for"),
		("container 'main': format 'kube' cannot express idmapped mounts, which "
		 "hostUsers: false asks for at '/c': podman kube play cannot idmap a mount"),
	};
	struct failure why = { 0 };
	char *json = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		assert_int_equal(print_kube(&mounts[i], NULL, &json, &why), -EOPNOTSUPP);
		assert_string_equal(why.text, texts[i]);
	}
	assert_int_equal(print_kube(NULL, &disk, &json, &why), -EOPNOTSUPP);
	assert_string_equal(why.text, "container 'main': format 'kube' cannot express block "
				      "devices, which '/dev/x' asks for");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kube),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_kube_refuses),
	};

	return cmocka_run_group_tests(tests, read_pod, free_pod);
}
