/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_format - a plan in the words of each runtime, and what each refuses
 */
#include "container/format.h"

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

#define MOUNT(host, container)                                                                     \
	.name = "v", .host_path = host, .container_path = container, .sub_path = ""

static struct planned_mount plain = { MOUNT("/h", "/c") };
static struct planned_device device = {
	.name = "d",
	.host_path = "/dev/loop3",
	.container_path = "/dev/xvda",
	.major = 7,
	.minor = 3,
};
static struct planned_device read_only_device = {
	.name = "d",
	.host_path = "/dev/sdb",
	.container_path = "/dev/xvda",
	.read_only = true,
	.major = 8,
	.minor = 16,
};

static const char POD[] = "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\"},"
			  "\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}";

static const struct object *pod; /* of all plans */

static int read_pod(void **state)
{
	return object_parse_json(POD, strlen(POD), &pod, NULL);
}

static int free_pod(void **state)
{
	pod = object_unref(pod);
	return 0;
}

/* A plan of one container with at most one mount, one device and one group. */
struct small {
	struct planned_mount *mount;
	struct planned_device *device;
	gid_t *group;
};

static int print(const char *name, const struct small *small, char **ret, struct failure *reterr)
{
	const struct container_format *format = container_format_find(name);
	struct planned_container container = {
		.name = "main",
		.type = "regular",
		.mounts = small->mount,
		.mount_count = small->mount ? 1 : 0,
		.devices = small->device,
		.device_count = small->device ? 1 : 0,
	};
	const struct container_plan plan = {
		.object = pod,
		.pod = "ns/web",
		.pod_uid = "u-1",
		.groups = small->group,
		.group_count = small->group ? 1 : 0,
		.containers = &container,
		.container_count = 1,
	};

	assert_non_null(format);
	return container_format_print(format, &plan, ret, reterr);
}

static void assert_prints(const char *name, const struct small *small, const char *text)
{
	cleanup_free char *printed = NULL;
	struct failure why = { 0 };

	if (print(name, small, &printed, &why) < 0)
		fail_msg("%s: %s", name, why.text);
	assert_string_equal(printed, text);
}

static void assert_mount(const char *name, const struct planned_mount *mount, const char *text)
{
	struct planned_mount copy = *mount;

	assert_prints(name, &(struct small){ .mount = &copy }, text);
}

static void assert_refused_by(const char *name, const struct small *small, const char *text)
{
	struct failure why = { 0 };
	char *printed = NULL;

	assert_int_equal(print(name, small, &printed, &why), -EOPNOTSUPP);
	assert_string_equal(why.text, text);
	assert_null(printed);
}

static void assert_mount_refused(const char *name, const struct planned_mount *mount,
				 const char *text)
{
	struct planned_mount copy = *mount;

	assert_refused_by(name, &(struct small){ .mount = &copy }, text);
}

/* ---- images ---- */

static void test_image(void **state)
{
	static const char *const refusing[] = { "oci", "docker", "nspawn" };
	struct planned_mount image = { MOUNT("", "/c"), .image = "registry.example/a,b:1",
				       .read_only = true };
	char text[256];

	assert_mount("podman", &image,
		     "--mount=type=image,\"source=registry.example/a,b:1\",destination=/c\n");
	for (size_t i = 0; i < ARRAY_SIZE(refusing); i++) {
		(void) snprintf(text, sizeof(text),
				"container 'main': format '%s' cannot express image volumes, "
				"which '/c' asks for: 'registry.example/a,b:1'",
				refusing[i]);
		assert_mount_refused(refusing[i], &image, text);
	}
	image.sub_path = "part";
	assert_mount_refused("podman", &image,
			     "container 'main': podman cannot express subPath of an image volume, "
			     "which '/c' asks for");
}

/* ---- hostUsers: false ---- */

static void test_idmap(void **state)
{
	static const char *const rows[][2] = {
		{ "oci", "{\"mounts\":[{\"destination\":\"/c\",\"type\":\"bind\",\"source\":\"/h\","
			 "\"options\":[\"rbind\",\"rprivate\",\"ro\",\"idmap\",\"noexec\"]}]}" },
		{ "podman", "--mount=type=bind,source=/h,destination=/c,bind-propagation=rprivate,"
			    "readonly,noexec,idmap\n" },
		{ "nspawn", "--bind-ro=/h:/c:idmap\n" },
		{ "table", "{\"items\":[{\"container\":\"main\",\"volume\":\"v\","
			   "\"containerPath\":\"/c\",\"hostPath\":\"/h\",\"access\":\"ro\","
			   "\"propagation\":\"None\",\"subPath\":\"\",\"options\":\"idmap,noexec\","
			   "\"type\":\"regular\"}]}" },
	};
	struct planned_mount mount = { MOUNT("/h", "/c"), .idmap = true, .read_only = true,
				       .noexec = true };
	struct planned_mount image = { MOUNT("", "/c"), .image = "a:1", .idmap = true };
	cleanup_free char *json = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_mount(rows[i][0], &mount, rows[i][1]);
	assert_int_equal(print("json", &(struct small){ .mount = &mount }, &json, NULL), 0);
	assert_non_null(strstr(json, "\"options\":[\"idmap\",\"noexec\"]"));
	assert_mount_refused(
		"cri", &mount,
		"container 'main': format 'cri' cannot express idmapped mounts, which "
		"hostUsers: false asks for at '/c': needs the host ids of the pod's sandbox, as "
		"userNamespace=FIRST:COUNT");
	assert_mount_refused(
		"docker", &mount,
		"container 'main': format 'docker' cannot express idmapped mounts, "
		"which hostUsers: false asks for at '/c': docker cannot idmap a mount");
	assert_mount_refused("podman", &image,
			     "container 'main': podman cannot express the idmap (hostUsers: "
			     "false) of an image volume, which '/c' asks for");
}

/* ---- what every mount has ---- */

static void test_plain(void **state)
{
	static const char *const rows[][2] = {
		{ "oci", "{\"mounts\":[{\"destination\":\"/c\",\"type\":\"bind\",\"source\":\"/h\","
			 "\"options\":[\"rbind\",\"rprivate\",\"rw\"]}]}" },
		{ "cri", "{\"metadata\":{\"name\":\"main\"},\"mounts\":[{\"container_path\":\"/c\","
			 "\"host_path\":\"/h\",\"readonly\":false,\"selinux_relabel\":false,"
			 "\"propagation\":0,\"recursive_read_only\":false}],\"devices\":[]}" },
		{ "podman",
		  "--mount=type=bind,source=/h,destination=/c,bind-propagation=rprivate\n" },
		{ "docker", "--mount=type=bind,source=/h,target=/c,bind-propagation=rprivate\n" },
		{ "nspawn", "--bind=/h:/c\n" },
		{ "json", "{\"pod\":\"ns/web\",\"podUID\":\"u-1\",\"supplementalGroups\":[],"
			  "\"containers\":[{\"name\":\"main\",\"type\":\"regular\",\"mounts\":[{"
			  "\"name\":\"v\",\"hostPath\":\"/h\",\"containerPath\":\"/c\","
			  "\"readOnly\":false,\"recursiveReadOnly\":\"Disabled\","
			  "\"propagation\":\"None\",\"selinuxRelabel\":false,\"options\":[]}],"
			  "\"devices\":[]}]}" },
		{ "kube", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\"},"
			  "\"spec\":"
			  "{\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,"
			  "\"containers\":[{\"name\":\"main\",\"image\":\"i\",\"volumeMounts\":[{"
			  "\"name\":\"volume-0\",\"mountPath\":\"/c\",\"readOnly\":false,"
			  "\"mountPropagation\":\"None\"}]}],\"volumes\":[{\"name\":\"volume-0\","
			  "\"hostPath\":{\"path\":\"/h\"}}]}}" },
		{ "table", "{\"items\":[{\"container\":\"main\",\"volume\":\"v\","
			   "\"containerPath\":\"/c\",\"hostPath\":\"/h\",\"access\":\"rw\","
			   "\"propagation\":\"None\",\"subPath\":\"\",\"options\":\"\","
			   "\"type\":\"regular\"}]}" },
	};
	size_t formats = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_mount(rows[i][0], &plain, rows[i][1]);
	while (container_formats[formats].name)
		formats++;
	assert_int_equal(formats, ARRAY_SIZE(rows)); /* a new format gets a row here */
	assert_null(container_format_find("OCI"));
	assert_null(container_format_find(""));
}

static void test_nothing(void **state)
{
	const struct small nothing = { 0 };

	assert_prints("oci", &nothing, "{\"mounts\":[]}");
	assert_prints("podman", &nothing, "");
	assert_prints("nspawn", &nothing, "");
	assert_prints("table", &nothing, "{\"items\":[]}");
}

/* ---- modes ---- */

#define OCI(options)                                                                               \
	"{\"mounts\":[{\"destination\":\"/c\",\"type\":\"bind\",\"source\":\"/h\",\"options\":["   \
	"\"rbind\"," options "]}]"

static void test_read_only(void **state)
{
	struct planned_mount mount = plain;

	mount.read_only = true;
	assert_mount("oci", &mount, OCI("\"rprivate\",\"ro\"") "}");
	assert_mount("podman", &mount,
		     "--mount=type=bind,source=/h,destination=/c,bind-propagation=rprivate,"
		     "readonly\n");
	assert_mount("docker", &mount,
		     "--mount=type=bind,source=/h,target=/c,bind-propagation=rprivate,readonly\n");
	assert_mount("nspawn", &mount, "--bind-ro=/h:/c\n");
}

static void test_recursive_read_only(void **state)
{
	struct planned_mount mount = plain;

	mount.read_only = true;
	mount.recursive_read_only = RECURSIVE_READ_ONLY_IF_POSSIBLE;
	assert_mount("oci", &mount, OCI("\"rprivate\",\"ro\",\"rro\"") "}");
	assert_mount("podman", &mount,
		     "--mount=type=bind,source=/h,destination=/c,bind-propagation=rprivate,"
		     "readonly\n");
	assert_mount("docker", &mount,
		     "--mount=type=bind,source=/h,target=/c,bind-propagation=rprivate,readonly\n");
	assert_mount("nspawn", &mount, "--bind-ro=/h:/c\n");

	mount.recursive_read_only = RECURSIVE_READ_ONLY_ENABLED;
	assert_mount("oci", &mount, OCI("\"rprivate\",\"ro\",\"rro\"") "}");
	assert_mount("docker", &mount,
		     "--mount=type=bind,source=/h,target=/c,bind-propagation=rprivate,readonly,"
		     "bind-recursive=readonly\n");
	assert_mount("nspawn", &mount, "--bind-ro=/h:/c\n");
	assert_mount_refused("podman", &mount,
			     "container 'main': podman cannot express recursiveReadOnly Enabled, "
			     "which '/c' asks for");
	assert_mount("cri", &mount,
		     "{\"metadata\":{\"name\":\"main\"},\"mounts\":[{\"container_path\":\"/c\","
		     "\"host_path\":\"/h\",\"readonly\":true,\"selinux_relabel\":false,"
		     "\"propagation\":0,\"recursive_read_only\":true}],\"devices\":[]}");
}

static void test_propagation(void **state)
{
	struct planned_mount mount = plain;

	mount.propagation = PROPAGATION_HOST_TO_CONTAINER;
	assert_mount("oci", &mount,
		     OCI("\"rslave\",\"rw\"") ",\"linux\":{\"rootfsPropagation\":\"rslave\"}}");
	assert_mount("podman", &mount,
		     "--mount=type=bind,source=/h,destination=/c,bind-propagation=rslave\n");
	assert_mount("docker", &mount,
		     "--mount=type=bind,source=/h,target=/c,bind-propagation=rslave\n");
	assert_mount("nspawn", &mount, "--bind=/h:/c\n");

	mount.propagation = PROPAGATION_BIDIRECTIONAL;
	assert_mount("oci", &mount,
		     OCI("\"rshared\",\"rw\"") ",\"linux\":{\"rootfsPropagation\":\"rshared\"}}");
	assert_mount("podman", &mount,
		     "--mount=type=bind,source=/h,destination=/c,bind-propagation=rshared\n");
	assert_mount("cri", &mount,
		     "{\"metadata\":{\"name\":\"main\"},\"mounts\":[{\"container_path\":\"/c\","
		     "\"host_path\":\"/h\",\"readonly\":false,\"selinux_relabel\":false,"
		     "\"propagation\":2,\"recursive_read_only\":false}],\"devices\":[]}");
	assert_mount_refused("nspawn", &mount,
			     "container 'main': systemd-nspawn cannot express mountPropagation "
			     "Bidirectional, which '/c' asks for");
}

static void test_flags(void **state)
{
	struct planned_mount mount = plain;

	mount.noexec = mount.nosuid = mount.nodev = true;
	assert_mount("oci", &mount, OCI("\"rprivate\",\"rw\",\"noexec\",\"nosuid\",\"nodev\"") "}");
	assert_mount("podman", &mount,
		     "--mount=type=bind,source=/h,destination=/c,bind-propagation=rprivate,"
		     "noexec,nosuid,nodev\n");
	assert_mount("docker", &mount,
		     "--mount=type=bind,source=/h,target=/c,bind-propagation=rprivate\n");
	mount.read_only = true;
	assert_mount("nspawn", &mount, "--bind-ro=/h:/c\n");
	assert_mount_refused("docker", &mount,
			     "container 'main': docker cannot keep noexec of the read-only "
			     "mount '/c'");
	mount.noexec = mount.nosuid = false;
	assert_mount_refused("docker", &mount,
			     "container 'main': docker cannot keep nodev of the read-only "
			     "mount '/c'");
}

static void test_relabel(void **state)
{
	struct planned_mount mount = plain;

	mount.relabel = true;
	assert_mount("oci", &mount, OCI("\"rprivate\",\"rw\"") "}");
	assert_mount("podman", &mount,
		     "--mount=type=bind,source=/h,destination=/c,bind-propagation=rprivate,"
		     "relabel=shared\n");
	assert_mount("docker", &mount, "--volume=/h:/c:rw,rprivate,z\n");
	assert_mount_refused("nspawn", &mount,
			     "container 'main': systemd-nspawn cannot express SELinux labels of "
			     "volumes, which '/c' asks for");
	mount.read_only = true;
	mount.propagation = PROPAGATION_HOST_TO_CONTAINER;
	assert_mount("docker", &mount, "--volume=/h:/c:ro,rslave,z\n");
	mount.container_path = "/c:d";
	assert_mount_refused("docker", &mount,
			     "container 'main': docker cannot label a mount whose path has a "
			     "colon: '/c:d'");
	mount.container_path = "/c";
	mount.recursive_read_only = RECURSIVE_READ_ONLY_ENABLED;
	assert_mount_refused("docker", &mount,
			     "container 'main': docker cannot label a mount with recursiveReadOnly "
			     "Enabled: '/c'");
}

/* ---- paths of every kind ---- */

/* Exact or refused: never another path than the one meant. */
static void test_paths(void **state)
{
	static const struct {
		const char *format, *text;
		struct planned_mount mount;
	} rows[] = {
#define CSV(field) "--mount=type=bind," field ",bind-propagation=rprivate\n"
		{ "podman", CSV("source=/a b,destination=/c d"), { MOUNT("/a b", "/c d") } },
		{ "podman",
		  CSV("\"source=/a,b\",\"destination=/c,d\""),
		  { MOUNT("/a,b", "/c,d") } },
		{ "podman",
		  CSV("\"source=/a\"\"b\",destination=/c'd"),
		  { MOUNT("/a\"b", "/c'd") } },
		{ "podman", CSV("source=/a:b,destination=/c=d"), { MOUNT("/a:b", "/c=d") } },
		{ "podman", CSV("source=/a\\b,destination=/$c\t"), { MOUNT("/a\\b", "/$c\t") } },
		{ "docker", CSV("\"source=/a,b\",target=/c:d"), { MOUNT("/a,b", "/c:d") } },
		{ "docker", CSV("\"source=/a\"\"b\",target=/c d"), { MOUNT("/a\"b", "/c d") } },
		{ "docker", CSV("\"source=/a\rb\",target=/c"), { MOUNT("/a\rb", "/c") } },
		{ "nspawn", "--bind=/a\\:b:/c d\n", { MOUNT("/a:b", "/c d") } },
		{ "nspawn", "--bind=/a,b:/c\\\\d\n", { MOUNT("/a,b", "/c\\d") } },
		{ "nspawn", "--bind=/a\\\\\\:b:/c\"'\n", { MOUNT("/a\\:b", "/c\"'") } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_mount(rows[i].format, &rows[i].mount, rows[i].text);
}

static void test_line_breaks(void **state)
{
	static const char *const words[] = { "podman", "docker", "nspawn" };
	static const char refused[] = "container 'main': a path with a line break cannot be an "
				      "argument on a line of its own: use format json";
	const struct planned_mount mount = { MOUNT("/a\nb", "/c\n--privileged") };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		assert_mount_refused(words[i], &mount, refused);
	assert_mount("oci", &mount,
		     "{\"mounts\":[{\"destination\":\"/c\\n--privileged\",\"type\":\"bind\","
		     "\"source\":\"/a\\nb\",\"options\":[\"rbind\",\"rprivate\",\"rw\"]}]}");
}

/* ---- devices ---- */

static void test_devices(void **state)
{
	static const char *const rows[][3] = {
		{ "oci",
		  "{\"mounts\":[],\"linux\":{\"devices\":[{\"path\":\"/dev/xvda\",\"type\":\"b\","
		  "\"major\":7,\"minor\":3,\"fileMode\":432,\"uid\":0,\"gid\":0}],\"resources\":{"
		  "\"devices\":[{\"allow\":true,\"type\":\"b\",\"major\":7,\"minor\":3,"
		  "\"access\":\"rwm\"}]}}}",
		  "{\"mounts\":[],\"linux\":{\"devices\":[{\"path\":\"/dev/xvda\",\"type\":\"b\","
		  "\"major\":8,\"minor\":16,\"fileMode\":288,\"uid\":0,\"gid\":0}],"
		  "\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"b\",\"major\":8,"
		  "\"minor\":16,\"access\":\"r\"}]}}}" },
		{ "cri",
		  "{\"metadata\":{\"name\":\"main\"},\"mounts\":[],\"devices\":[{"
		  "\"container_path\":\"/dev/xvda\",\"host_path\":\"/dev/loop3\","
		  "\"permissions\":\"mrw\"}]}",
		  "{\"metadata\":{\"name\":\"main\"},\"mounts\":[],\"devices\":[{"
		  "\"container_path\":\"/dev/xvda\",\"host_path\":\"/dev/sdb\","
		  "\"permissions\":\"r\"}]}" },
		{ "podman", "--device=/dev/loop3:/dev/xvda:rwm\n",
		  "--device=/dev/sdb:/dev/xvda:r\n" },
		{ "docker", "--device=/dev/loop3:/dev/xvda:rwm\n",
		  "--device=/dev/sdb:/dev/xvda:r\n" },
		{ "nspawn",
		  "--bind=/dev/loop3:/dev/xvda\n--property=DeviceAllow=/dev/block/7:3 rwm\n",
		  "--bind-ro=/dev/sdb:/dev/xvda\n--property=DeviceAllow=/dev/block/8:16 r\n" },
		{ "json",
		  "{\"pod\":\"ns/web\",\"podUID\":\"u-1\",\"supplementalGroups\":[],"
		  "\"containers\":[{\"name\":\"main\",\"type\":\"regular\",\"mounts\":[],"
		  "\"devices\":[{\"name\":\"d\",\"hostPath\":\"/dev/loop3\","
		  "\"containerPath\":\"/dev/xvda\",\"permissions\":\"mrw\",\"type\":\"b\","
		  "\"major\":7,\"minor\":3}]}]}",
		  NULL },
		{ "table",
		  "{\"items\":[{\"container\":\"main\",\"volume\":\"d\","
		  "\"containerPath\":\"/dev/xvda\",\"hostPath\":\"/dev/loop3\","
		  "\"access\":\"mrw\",\"options\":\"b 7:3\",\"type\":\"regular\"}]}",
		  NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_prints(rows[i][0], &(struct small){ .device = &device }, rows[i][1]);
		if (rows[i][2])
			assert_prints(rows[i][0], &(struct small){ .device = &read_only_device },
				      rows[i][2]);
	}
}

static void test_devices_with_a_colon(void **state)
{
	struct planned_device by_id = device;

	by_id.host_path = "/dev/disk/by-path/pci-0:1";
	assert_refused_by("podman", &(struct small){ .device = &by_id },
			  "container 'main': podman cannot express a device whose path has a "
			  "colon: '/dev/disk/by-path/pci-0:1'");
	assert_refused_by("docker", &(struct small){ .device = &by_id },
			  "container 'main': docker cannot express a device whose path has a "
			  "colon: '/dev/disk/by-path/pci-0:1'");
	assert_prints("nspawn", &(struct small){ .device = &by_id },
		      "--bind=/dev/disk/by-path/pci-0\\:1:/dev/xvda\n"
		      "--property=DeviceAllow=/dev/block/7:3 rwm\n");
}

/* ---- groups ---- */

/* case 346: the group of a volume reaches the process, or the format says that it cannot. */
static void test_groups(void **state)
{
	gid_t group = 1234;
	const struct small small = { .group = &group };

	assert_prints("oci", &small,
		      "{\"mounts\":[],\"process\":{\"user\":{\"additionalGids\":[1234]}}}");
	assert_prints("cri", &small,
		      "{\"metadata\":{\"name\":\"main\"},\"mounts\":[],\"devices\":[],\"linux\":{"
		      "\"security_context\":{\"supplemental_groups\":[1234]}}}");
	assert_prints("podman", &small, "--group-add=1234\n");
	assert_prints("docker", &small, "--group-add=1234\n");
	assert_refused_by("nspawn", &small,
			  "container 'main': systemd-nspawn cannot express supplementary groups, "
			  "which the pod needs for its volumes: 1234");
}

/* ---- which container ---- */

static void test_one_of_several(void **state)
{
	struct planned_container containers[] = {
		{ .name = "first", .type = "init" },
		{ .name = "main", .type = "regular" },
	};
	const struct container_plan plan = {
		.object = pod,
		.pod = "ns/web",
		.pod_uid = "u",
		.containers = containers,
		.container_count = ARRAY_SIZE(containers),
	};
	struct failure why = { 0 };
	char *printed = NULL;

	for (const struct container_format *format = container_formats; format->name; format++) {
		int r = container_format_print(format, &plan, &printed, &why);

		assert_int_equal(r, format->of_one ? -EINVAL : 0);
		if (format->of_one)
			assert_string_equal(why.text, "this format is for one container, name it: "
						      "first, main");
		free(printed);
		printed = NULL;
	}
}

static void test_access_words(void **state)
{
	static const char *const words[] = { "ro", "ro+", "rro" };
	struct planned_mount mount = plain;

	mount.read_only = mount.relabel = mount.nodev = true;
	for (int i = 0; i < RECURSIVE_READ_ONLY_COUNT; i++) {
		cleanup_json struct cJSON *tree = NULL;
		cleanup_free char *printed = NULL;
		const struct cJSON *item;

		mount.recursive_read_only = (enum recursive_read_only) i;
		assert_int_equal(print("table", &(struct small){ .mount = &mount }, &printed, NULL),
				 0);
		tree = tree_of_json(printed);
		item = json_first(json_get(tree, "items"));
		assert_string_equal(json_string(json_get(item, "access"), ""), words[i]);
		assert_string_equal(json_string(json_get(item, "options"), ""), "nodev,relabel");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_idmap),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_recursive_read_only),
		cmocka_unit_test(test_propagation),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_relabel),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_line_breaks),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_devices_with_a_colon),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_one_of_several),
		cmocka_unit_test(test_access_words),
	};

	return cmocka_run_group_tests(tests, read_pod, free_pod);
}
