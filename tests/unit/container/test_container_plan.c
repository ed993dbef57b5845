/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_container_plan - which mounts and devices each container gets, and what is refused
 */
#include "container/container_plan.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: ns, uid: u-1}\nspec:\n"
#define VOLUMES                                                                                    \
	"  volumes: [{name: a}, {name: b}, {name: ro}, {name: claim, persistentVolumeClaim: "      \
	"{claimName: c}}, {name: disk, persistentVolumeClaim: {claimName: d}}]\n"

static const struct container_volume volumes[] = {
	{ .name = "a", .path = "/pods/a", .relabel = true },
	{ .name = "b", .path = "/pods/b", .noexec = true, .nosuid = true, .nodev = true },
	{ .name = "ro", .path = "/pods/ro", .read_only = true },
	{ .name = "claim", .path = "/dev/loop3", .block = true, .major = 7, .minor = 3 },
	{ .name = "disk",
	  .path = "/dev/sdb",
	  .block = true,
	  .major = 8,
	  .minor = 16,
	  .read_only = true },
};

static struct container_plan_request request_of(const struct object *pod)
{
	return (struct container_plan_request){
		.pod = pod,
		.volumes = volumes,
		.volume_count = ARRAY_SIZE(volumes),
	};
}

/* The plan of @yaml, which has one. */
static struct container_plan *plan_of(const char *yaml)
{
	const struct object *pod = object_of(yaml);
	const struct container_plan_request request = request_of(pod);
	struct container_plan *plan = NULL;
	struct failure why = { 0 };

	if (container_plan_make(&request, &plan, &why) < 0)
		fail_msg("%s", why.text);
	(void) object_unref(pod);
	return plan;
}

static void assert_no_plan(const char *yaml, int error, const char *text)
{
	const struct object *pod = object_of(yaml);
	const struct container_plan_request request = request_of(pod);
	struct container_plan *plan = NULL;
	struct failure why = { 0 };

	assert_int_equal(container_plan_make(&request, &plan, &why), error);
	assert_string_equal(why.text, text);
	assert_null(plan);
	(void) object_unref(pod);
}

static void test_every_container(void **state)
{
	static const char *const types[] = { "init", "sidecar", "regular", "ephemeral" };
	static const char yaml[] = HEAD VOLUMES
		"  initContainers: [{name: i, volumeMounts: [{name: a, mountPath: /a}]},\n"
		"    {name: s, restartPolicy: Always, volumeMounts: [{name: a, mountPath: /a}]}]\n"
		"  containers: [{name: m, volumeMounts: [{name: a, mountPath: /a}]}]\n"
		"  ephemeralContainers: [{name: e, volumeMounts: [{name: a, mountPath: /a}]}]\n";
	cleanup_container_plan struct container_plan *plan = plan_of(yaml);

	assert_string_equal(plan->pod, "ns/web");
	assert_string_equal(plan->pod_uid, "u-1");
	assert_int_equal(plan->container_count, ARRAY_SIZE(types));
	for (size_t i = 0; i < plan->container_count; i++) {
		const struct planned_container *container = &plan->containers[i];

		assert_string_equal(container->type, types[i]);
		assert_int_equal(container->mount_count, 1);
		assert_string_equal(container->mounts[0].host_path, "/pods/a");
	}
}

static void test_one_container(void **state)
{
	const struct object *pod =
		object_of(HEAD VOLUMES "  containers: [{name: m}, {name: other,\n"
				       "    volumeMounts: [{name: a, mountPath: /a}]}]\n");
	struct container_plan_request request = request_of(pod);
	cleanup_container_plan struct container_plan *plan = NULL;
	struct container_plan *none = NULL;
	struct failure why;

	/* A volume of the other container need not be known. */
	request.container = "m";
	request.volume_count = 0;
	assert_int_equal(container_plan_make(&request, &plan, NULL), 0);
	assert_int_equal(plan->container_count, 1);
	assert_int_equal(plan->containers[0].mount_count, 0);

	request.container = "x";
	assert_int_equal(container_plan_make(&request, &none, &why), -ENOENT);
	assert_string_equal(why.text, "pod 'ns/web' has no container 'x'");
	request.container = "other";
	assert_int_equal(container_plan_make(&request, &none, &why), -EAGAIN);
	assert_string_equal(why.text,
			    "container 'other', mountPath '/a': volume 'a' is not mounted");
	(void) object_unref(pod);
}

/* Read-only is the volume's or the mount's; flags are the volume's. */
static void test_modes(void **state)
{
	static const char yaml[] = HEAD VOLUMES
		"  containers: [{name: m, securityContext: {privileged: true}, volumeMounts: [\n"
		"    {name: a, mountPath: /1},\n"
		"    {name: a, mountPath: /2, readOnly: true},\n"
		"    {name: ro, mountPath: /3},\n"
		"    {name: a, mountPath: /4, readOnly: true, recursiveReadOnly: Enabled},\n"
		"    {name: ro, mountPath: /5, readOnly: true, recursiveReadOnly: IfPossible,\n"
		"     mountPropagation: None},\n"
		"    {name: b, mountPath: /6, mountPropagation: HostToContainer},\n"
		"    {name: b, mountPath: /7, mountPropagation: Bidirectional,\n"
		"     recursiveReadOnly: Disabled}]}]\n";
	static const struct {
		bool read_only;
		enum recursive_read_only recursive;
		enum mount_propagation propagation;
		bool relabel, flags;
	} rows[] = {
		{ false, RECURSIVE_READ_ONLY_DISABLED, PROPAGATION_NONE, true, false },
		{ true, RECURSIVE_READ_ONLY_DISABLED, PROPAGATION_NONE, true, false },
		{ true, RECURSIVE_READ_ONLY_DISABLED, PROPAGATION_NONE, false, false },
		{ true, RECURSIVE_READ_ONLY_ENABLED, PROPAGATION_NONE, true, false },
		{ true, RECURSIVE_READ_ONLY_IF_POSSIBLE, PROPAGATION_NONE, false, false },
		{ false, RECURSIVE_READ_ONLY_DISABLED, PROPAGATION_HOST_TO_CONTAINER, false, true },
		{ false, RECURSIVE_READ_ONLY_DISABLED, PROPAGATION_BIDIRECTIONAL, false, true },
	};
	cleanup_container_plan struct container_plan *plan = plan_of(yaml);

	assert_int_equal(plan->containers[0].mount_count, ARRAY_SIZE(rows));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct planned_mount *mount = &plan->containers[0].mounts[i];

		assert_int_equal(mount->read_only, rows[i].read_only);
		assert_int_equal(mount->recursive_read_only, rows[i].recursive);
		assert_int_equal(mount->propagation, rows[i].propagation);
		assert_int_equal(mount->relabel, rows[i].relabel);
		assert_int_equal(mount->noexec, rows[i].flags);
		assert_int_equal(mount->nosuid, rows[i].flags);
		assert_int_equal(mount->nodev, rows[i].flags);
	}
	assert_string_equal(mount_propagation_name(PROPAGATION_HOST_TO_CONTAINER),
			    "HostToContainer");
	assert_string_equal(recursive_read_only_name(RECURSIVE_READ_ONLY_IF_POSSIBLE),
			    "IfPossible");
}

/* What admission refuses is refused here as well: a cluster's pod did not pass podvold's. */
/* Every mount of a pod with a user namespace, a read-only one too. */
static void test_host_users(void **state)
{
	static const char *const rows[] = { "hostUsers: true", "hostUsers: false" };
	char yaml[1024];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_container_plan struct container_plan *plan = NULL;

		(void) snprintf(yaml, sizeof(yaml),
				HEAD VOLUMES "  %s\n  containers: [{name: m, volumeMounts: [\n"
					     "    {name: a, mountPath: /a},\n"
					     "    {name: ro, mountPath: /ro}]}]\n",
				rows[i]);
		plan = plan_of(yaml);
		assert_int_equal(plan->containers[0].mount_count, 2);
		assert_int_equal(plan->containers[0].mounts[0].idmap, i == 1);
		assert_int_equal(plan->containers[0].mounts[1].idmap, i == 1);
	}
}

static void test_modes_that_admission_refuses(void **state)
{
	static const struct {
		bool privileged, read_only;
		const char *recursive, *propagation, *text;
	} rows[] = {
		{ false, false, "", "Bidirectional",
		  "mountPropagation Bidirectional needs a privileged container" },
		{ false, false, "Enabled", "", "recursiveReadOnly needs readOnly: true" },
		{ false, false, "IfPossible", "", "recursiveReadOnly needs readOnly: true" },
		{ false, true, "Enabled", "HostToContainer",
		  "recursiveReadOnly needs mountPropagation None" },
		{ true, true, "IfPossible", "Bidirectional",
		  "recursiveReadOnly needs mountPropagation None" },
		{ false, true, "Always", "", "unknown recursiveReadOnly 'Always'" },
		{ true, true, "", "Shared", "unknown mountPropagation 'Shared'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pod_volume_mount mount = { .name = "a",
							.mount_path = "/a",
							.sub_path = "",
							.sub_path_expr = "",
							.read_only = rows[i].read_only,
							.recursive_read_only = rows[i].recursive,
							.mount_propagation = rows[i].propagation };
		const struct pod_container container = { .name = "m",
							 .type = CONTAINER_REGULAR,
							 .privileged = rows[i].privileged,
							 .mounts = &mount,
							 .mount_count = 1 };
		struct pod pod = { .containers = &container, .container_count = 1 };
		const struct object object = {
			.kind = KIND_POD,
			.meta = { .name = "p", .name_space = "n", .uid = "u" },
			.pod = &pod
		};
		const struct container_plan_request request = request_of(&object);
		struct container_plan *plan = NULL;
		struct failure why;
		char text[256];

		pod.object = &object;
		(void) snprintf(text, sizeof(text), "container 'm', mountPath '/a': %s",
				rows[i].text);
		assert_int_equal(container_plan_make(&request, &plan, &why), -EINVAL);
		assert_string_equal(why.text, text);
	}
}

static void test_parents_come_first(void **state)
{
	static const char yaml[] =
		HEAD VOLUMES "  containers: [{name: m, volumeMounts: [\n"
			     "    {name: a, mountPath: /x/y/z}, {name: b, mountPath: /x/y},\n"
			     "    {name: ro, mountPath: deep/er}, {name: a, mountPath: /x/},\n"
			     "    {name: b, mountPath: /w/../v}]}]\n";
	static const char *const paths[] = { "/x", "/v", "/x/y", "/deep/er", "/x/y/z" };
	static const char *const names[] = { "a", "b", "b", "ro", "a" };
	cleanup_container_plan struct container_plan *plan = plan_of(yaml);

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_string_equal(plan->containers[0].mounts[i].container_path, paths[i]);
		assert_string_equal(plan->containers[0].mounts[i].name, names[i]);
	}
}

static void test_a_place_is_taken_once(void **state)
{
	assert_no_plan(HEAD VOLUMES "  containers: [{name: m, volumeMounts: [\n"
				    "    {name: a, mountPath: /x}, {name: b, mountPath: x/.}]}]\n",
		       -EINVAL, "container 'm': two mounts or devices at '/x'");
	assert_no_plan(HEAD VOLUMES "  containers: [{name: m, volumeMounts: [\n"
				    "    {name: a, mountPath: /x/}], volumeDevices: [\n"
				    "    {name: claim, devicePath: /x}]}]\n",
		       -EINVAL, "container 'm': two mounts or devices at '/x'");
	assert_no_plan(HEAD VOLUMES "  containers: [{name: m, volumeDevices: [\n"
				    "    {name: disk, devicePath: /x/}, {name: claim, devicePath: "
				    "/x}]}]\n",
		       -EINVAL, "container 'm': two mounts or devices at '/x'");
	assert_no_plan(HEAD VOLUMES "  containers: [{name: m, volumeMounts: [\n"
				    "    {name: a, mountPath: /..}]}]\n",
		       -EINVAL,
		       "container 'm', mountPath '/..': nothing can be mounted over the root");
}

static void test_devices(void **state)
{
	static const char yaml[] = HEAD VOLUMES "  containers: [{name: m, volumeDevices: [\n"
						"    {name: claim, devicePath: /dev/xvda},\n"
						"    {name: disk, devicePath: dev//./xvdb}]}]\n";
	cleanup_container_plan struct container_plan *plan = plan_of(yaml);
	const struct planned_device *devices = plan->containers[0].devices;

	assert_int_equal(plan->containers[0].device_count, 2);
	assert_string_equal(devices[0].name, "claim");
	assert_string_equal(devices[0].host_path, "/dev/loop3");
	assert_string_equal(devices[0].container_path, "/dev/xvda");
	assert_false(devices[0].read_only);
	assert_int_equal(devices[0].major, 7);
	assert_int_equal(devices[0].minor, 3);
	assert_string_equal(devices[1].container_path, "/dev/xvdb");
	assert_true(devices[1].read_only);
	assert_int_equal(devices[1].major, 8);
	assert_int_equal(devices[1].minor, 16);
}

static void test_a_volume_of_the_other_mode(void **state)
{
	assert_no_plan(HEAD VOLUMES "  containers: [{name: m, volumeMounts: [\n"
				    "    {name: disk, mountPath: /x}]}]\n",
		       -EINVAL, "container 'm', mountPath '/x': volume 'disk' is a block device");
	assert_no_plan("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
		       "  volumes: [{name: a, persistentVolumeClaim: {claimName: c}}]\n"
		       "  containers: [{name: m, volumeDevices: [{name: a, devicePath: /x}]}]\n",
		       -EINVAL, "container 'm', devicePath '/x': volume 'a' is not a block device");
	assert_no_plan("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
		       "  volumes: [{name: z, persistentVolumeClaim: {claimName: c}}]\n"
		       "  containers: [{name: m, volumeDevices: [{name: z, devicePath: /x}]}]\n",
		       -EAGAIN, "container 'm', devicePath '/x': volume 'z' is not mapped");
}

static void test_sub_paths(void **state)
{
	const struct object *pod =
		object_of(HEAD VOLUMES "  containers: [{name: m, env: [{name: NR, value: seven}], "
				       "volumeMounts: [\n"
				       "    {name: ro, mountPath: /x/y, subPath: s/t},\n"
				       "    {name: a, mountPath: /z, subPathExpr: n-$(NR)},\n"
				       "    {name: a, mountPath: /x}]}]\n");
	static const struct container_sub_path bound[] = {
		{ "other", 0, "/bound/of-other" },
		{ "m", 0, "/bound/0" },
		{ "m", 1, "/bound/1" },
	};
	struct container_plan_request request = request_of(pod);
	cleanup_container_plan struct container_plan *plan = NULL;
	struct container_plan *none = NULL;
	const struct planned_mount *mounts;
	struct failure why;

	request.sub_paths = bound;
	request.sub_path_count = ARRAY_SIZE(bound);
	if (container_plan_make(&request, &plan, &why) < 0)
		fail_msg("%s", why.text);
	mounts = plan->containers[0].mounts;
	assert_string_equal(mounts[0].sub_path, "n-$(NR)");
	assert_string_equal(mounts[0].host_path, "/bound/1");
	assert_string_equal(mounts[1].sub_path, "");
	assert_string_equal(mounts[1].host_path, "/pods/a");
	assert_string_equal(mounts[2].sub_path, "s/t");
	assert_string_equal(mounts[2].host_path, "/bound/0");
	assert_true(mounts[2].read_only);

	/* Never the whole volume in place of a part of it. */
	request.sub_path_count = 2;
	assert_int_equal(container_plan_make(&request, &none, &why), -EAGAIN);
	assert_string_equal(why.text, "container 'm', mountPath '/z': subPath 'n-$(NR)' of volume "
				      "'a' is not prepared");
	(void) object_unref(pod);
}

/* case 346: a volume's group comes on top of the pod's, once. */
static void test_groups(void **state)
{
	const struct object *pod = object_of(
		HEAD "  volumes: [{name: a}, {name: b}]\n  containers: [{name: m}]\n"
		     "  securityContext: {fsGroup: 2000, supplementalGroups: [7, 1234]}\n");
	static const struct container_volume with_groups[] = {
		{ .name = "a", .path = "/a", .has_group = true, .group = 1234 },
		{ .name = "b", .path = "/b", .has_group = true, .group = 77 },
		{ .name = "c", .path = "/c", .has_group = true, .group = 77 },
		{ .name = "d", .path = "/d" },
	};
	static const gid_t wanted[] = { 2000, 7, 1234, 77 };
	struct container_plan_request request = request_of(pod);
	cleanup_container_plan struct container_plan *plan = NULL;

	request.volumes = with_groups;
	request.volume_count = ARRAY_SIZE(with_groups);
	assert_int_equal(container_plan_make(&request, &plan, NULL), 0);
	assert_int_equal(plan->group_count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_int_equal(plan->groups[i], wanted[i]);
	(void) object_unref(pod);
}

static void test_a_path_that_json_cannot_hold(void **state)
{
	const struct object *pod =
		object_of(HEAD VOLUMES "  containers: [{name: m, volumeMounts: [\n"
				       "    {name: a, mountPath: /x}]}]\n");
	const struct container_volume bad = { .name = "a", .path = "/srv/\xff" };
	struct container_plan_request request = request_of(pod);
	struct container_plan *plan = NULL;

	request.volumes = &bad;
	request.volume_count = 1;
	assert_int_equal(container_plan_make(&request, &plan, NULL), -EINVAL);
	(void) object_unref(pod);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_container),
		cmocka_unit_test(test_one_container),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_host_users),
		cmocka_unit_test(test_modes_that_admission_refuses),
		cmocka_unit_test(test_parents_come_first),
		cmocka_unit_test(test_a_place_is_taken_once),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_a_volume_of_the_other_mode),
		cmocka_unit_test(test_sub_paths),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_a_path_that_json_cannot_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
