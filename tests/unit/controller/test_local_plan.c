/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_plan - which directory a claim gets, by the words of three provisioners
 *
 * The texts use ' for ".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/csi/csi_provision_plan.h"
#include "controller/local/local_plan.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define UID "11111111-2222-3333-4444-000000000001"
#define PV  "pvc-" UID

#define CLAIM_OF(size, annotations, spec, modes)                                                   \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':"    \
	"'ns','uid':'" UID "','labels':{'team':'a'},'annotations':{" annotations "}},'spec':{"     \
	"'storageClassName':'s','accessModes':[" modes                                             \
	"],'resources':{'requests':{'storage':'" size "'}}" spec "}}"
#define CLAIM_MODES(annotations, spec, modes) CLAIM_OF("1Gi", annotations, spec, modes)
#define SMALL_CLAIM                           CLAIM_OF("1Mi", "", "", "'ReadWriteOnce'")
#define CLAIM(annotations, spec)              CLAIM_MODES(annotations, spec, "'ReadWriteOnce'")
#define SELECTED                              "'volume.kubernetes.io/selected-node':'n'"
#define ASKS(name)                            "'volume.kubernetes.io/storage-provisioner':'" name "'"
#define ASKS_BETA(name)                       "'volume.beta.kubernetes.io/storage-provisioner':'" name "'"
#define CLASS(provisioner, annotations, rest)                                                      \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s',"          \
	"'annotations':{" annotations "}},'provisioner':'" provisioner "'" rest "}"
#define PARAMETERS(text) ",'parameters':{" text "}"
#define WAITS            ",'volumeBindingMode':'WaitForFirstConsumer'"
#define CONFIG(text)     "'cas.openebs.io/config':'" text "'"
#define NODE(labels)                                                                               \
	"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','labels':{" labels "}}}"
#define HOST               "'kubernetes.io/hostname':'h'"
#define MAP(entries)       "{\"nodePathMap\":[" entries "]}"
#define ENTRY(node, paths) "{\"node\":\"" node "\",\"paths\":[" paths "]}"
#define OTHERS             "DEFAULT_PATH_FOR_NON_LISTED_NODES"

struct expectation {
	const char *claim, *storage_class, *node, *map;
	const char *base, *name, *affinity_key, *affinity_value; /* base NULL: refused */
	const char *says; /* in the refusal, or in the volume */
	int error;
};

static int plan(const struct expectation *wanted, struct local_plan *ret, struct failure *why)
{
	cleanup_object const struct object *claim = object_of(wanted->claim);
	cleanup_object const struct object *class = object_of(wanted->storage_class);
	cleanup_object const struct object *node = wanted->node ? object_of(wanted->node) : NULL;
	cleanup_json struct cJSON *map = NULL;
	struct local_request request = { .claim = claim->claim,
					 .storage_class = class->storage_class,
					 .node = node };

	if (wanted->map)
		assert_int_equal(local_node_map_parse(wanted->map, &map, why), 0);
	request.node_map = map;
	return local_plan_make(&request, ret, why);
}

static void assert_volume(const struct local_plan *made, const struct expectation *wanted)
{
	cleanup_object const struct object *volume = NULL;
	char path[256];

	assert_int_equal(local_plan_volume(made, 0, made->capacity, &volume, NULL), 0);
	(void) snprintf(path, sizeof(path), "%s/%s", wanted->base, wanted->name);
	assert_string_equal(made->is_host_path       ? volume->persistent_volume->host_path
			    : wanted->base[0] == '/' ? volume->persistent_volume->local_path
						     : path,
			    path);
	assert_string_equal(volume->persistent_volume->origin.base_path, wanted->base);
	assert_true(volume->persistent_volume->origin.is_unfinished);
	assert_string_equal(volume->persistent_volume->claim_uid, UID);
	assert_string_equal(volume->meta.name, PV);
	if (wanted->affinity_key) {
		const struct label labels[] = {
			{ wanted->affinity_key, wanted->affinity_value },
		};
		const struct labels here = { labels, 1 }, nowhere = { NULL, 0 };

		assert_non_null(volume->persistent_volume->node_affinity);
		assert_true(node_selector_matches(volume->persistent_volume->node_affinity, &here));
		assert_false(
			node_selector_matches(volume->persistent_volume->node_affinity, &nowhere));
	}
	if (wanted->says && !strstr(volume->json, wanted->says))
		fail_msg("no '%s' in %s", wanted->says, volume->json);
}

static void check(const struct expectation *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct failure why = { .error = 0 };
		struct local_plan made;
		int r = plan(&wanted[i], &made, &why);

		if (r != (wanted[i].base ? 0 : wanted[i].error))
			fail_msg("%zu: %d, %s", i, r, why.text);
		if (wanted[i].base) {
			assert_string_equal(made.base_paths[0], wanted[i].base);
			assert_memory_equal(made.name, wanted[i].name, strlen(made.name));
			assert_volume(&made, &wanted[i]);
		} else if (!strstr(why.text, wanted[i].says)) {
			fail_msg("%zu: '%s' does not say '%s'", i, why.text, wanted[i].says);
		}
		local_plan_done(&made);
	}
}

/* ---- when ---- */

static void who_is_provisioned_and_when(void **state)
{
	static const struct {
		const char *claim, *storage_class;
		bool wanted;
	} rows[] = {
		{ CLAIM(ASKS("podvol/local"), ""), CLASS("podvol/local", "", ""), true },
		{ CLAIM("", ""), CLASS("podvol/local", "", ""), false },
		{ CLAIM(ASKS("podvol/local"), ""), CLASS("other/one", "", ""), false },
		{ CLAIM(ASKS("other/one"), ""), CLASS("other/one", "", ""), false },
		/* case 435 */
		{ CLAIM(ASKS("podvol/local"), ",'volumeName':'v'"), CLASS("podvol/local", "", ""),
		  false },
		/* case 436 */
		{ CLAIM(ASKS("podvol/local"), ""), CLASS("podvol/local", "", WAITS), false },
		{ CLAIM(ASKS("podvol/local") ",'volume.kubernetes.io/selected-node':''", ""),
		  CLASS("podvol/local", "", WAITS), false },
		{ CLAIM(ASKS("podvol/local") "," SELECTED, ""), CLASS("podvol/local", "", WAITS),
		  true },
		{ CLAIM(ASKS("podvol/local") ",'volume.kubernetes.io/selected-node':'far'", ""),
		  CLASS("podvol/local", "", WAITS), false },
		/* case 437 */
		{ CLAIM(ASKS_BETA("podvol/local"), ""), CLASS("podvol/local", "", ""), true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *claim = object_of(rows[i].claim);
		cleanup_object const struct object *class = object_of(rows[i].storage_class);

		if (local_should_provision(claim->claim, class->storage_class, "n") !=
		    rows[i].wanted)
			fail_msg("row %zu", i);
		assert_false(local_should_provision(claim->claim, NULL, "n"));
	}
}

static void a_node_that_is_not_there_is_selected_again(void **state)
{
	cleanup_object const struct object *class = object_of(CLASS("podvol/local", "", WAITS));
	cleanup_object const struct object *selected =
		object_of(CLAIM(ASKS("podvol/local") "," SELECTED, ""));
	cleanup_object const struct object *free = object_of(CLAIM(ASKS("podvol/local"), ""));

	assert_true(local_should_reschedule(selected->claim, class->storage_class, false));
	assert_false(local_should_reschedule(selected->claim, class->storage_class, true));
	assert_false(local_should_reschedule(free->claim, class->storage_class, false));
}

/* A hand-made uid may begin as another's does, and be as long as it may be. */
static void each_claim_has_its_own_volume(void **state)
{
	char text[1024], uid[OBJECT_UID_BYTES_MAX + 1], name[LOCAL_VOLUME_NAME_BYTES];
	char csi_name[CSI_VOLUME_NAME_BYTES];

	memset(uid, 'a', sizeof(uid) - 1);
	uid[sizeof(uid) - 1] = '\0';
	for (size_t i = 0; i < 2; i++) {
		cleanup_object const struct object *claim = NULL;

		uid[sizeof(uid) - 2] = (char) ('a' + i);
		(void) snprintf(text, sizeof(text),
				"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{"
				"'name':'c','uid':'%s'},'spec':{'accessModes':['ReadWriteOnce'],"
				"'resources':{'requests':{'storage':'1Gi'}}}}",
				uid);
		claim = object_of(text);
		assert_string_equal(local_volume_name(claim, name) + 4, uid);
		assert_string_equal(csi_volume_name(claim, csi_name), name);
	}
}

/* ---- podvol/local ---- */

static void podvol_local(void **state)
{
	static const struct expectation rows[] = {
		{ CLAIM("", ""), CLASS("podvol/local", "", PARAMETERS("'basePaths':'/a//b/'")),
		  NODE(HOST), NULL, "/a/b", PV, "kubernetes.io/hostname", "h",
		  "\"storage\":\"1Gi\"", 0 },
		{ CLAIM("", ""), CLASS("podvol/local", "", ""), NODE(""), NULL,
		  "/var/lib/podvol/volumes", PV, "kubernetes.io/hostname", "n",
		  "\"persistentVolumeReclaimPolicy\":\"Delete\"", 0 },
		{ CLAIM("", ""),
		  CLASS("podvol/local", "", ",'reclaimPolicy':'Retain','mountOptions':['noexec']"),
		  NODE(HOST), NULL, "/var/lib/podvol/volumes", PV, NULL, NULL, "noexec", 0 },
		{ CLAIM_MODES("", "", "'ReadWriteOncePod'"), CLASS("podvol/local", "", ""),
		  NODE(HOST), NULL, "/var/lib/podvol/volumes", PV, NULL, NULL, NULL, 0 },
		{ CLAIM_MODES("", "", "'ReadWriteMany'"), CLASS("podvol/local", "", ""), NODE(HOST),
		  NULL, NULL, NULL, NULL, NULL, "ReadWriteOnce", -EINVAL },
		{ CLAIM("", ",'volumeMode':'Block'"), CLASS("podvol/local", "", ""), NODE(HOST),
		  NULL, NULL, NULL, NULL, NULL, "Block", -EINVAL },
		{ CLAIM("", ",'selector':{'matchLabels':{'a':'b'}}"), CLASS("podvol/local", "", ""),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "selector", -EINVAL },
		{ CLAIM("", ",'dataSource':{'kind':'PersistentVolumeClaim','name':'d'}"),
		  CLASS("openebs.io/local", "", ""), NODE(HOST), NULL, NULL, NULL, NULL, NULL,
		  "dataSource", -EINVAL },
		{ CLAIM("", ""), CLASS("podvol/local", "", PARAMETERS("'basePaths':'/a,/b/../c'")),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "'..'", -EINVAL },
		{ CLAIM("", ""), CLASS("podvol/local", "", PARAMETERS("'basePaths':'/a,,/b'")),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "a base path is empty", -EINVAL },
		{ CLAIM("", ""), CLASS("podvol/local", "", PARAMETERS("'basePaths':'a'")),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "not absolute", -EINVAL },
		{ CLAIM("", ""), CLASS("podvol/local", "", PARAMETERS("'basePaths':'/./'")),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "directly below the root", -EINVAL },
		{ CLAIM("", ""), CLASS("podvol/local", "", ""), NULL, NULL, NULL, NULL, NULL, NULL,
		  "no Node", -ENODEV },
		{ CLAIM("", ""),
		  CLASS("podvol/local", "", PARAMETERS("'podvol.io/directory-mode':'99'")),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "not a mode", -EINVAL },
		{ CLAIM("", ""), CLASS("podvol/local", "", PARAMETERS("'basePath':'/srv'")),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "unknown parameter 'basePath'",
		  -EINVAL },
	};

	check(rows, ARRAY_SIZE(rows));
}

static void several_base_paths_and_a_mode(void **state)
{
	const struct expectation wanted = {
		.claim = CLAIM("", ""),
		.storage_class = CLASS("podvol/local", "",
				       PARAMETERS("'basePaths':'/a, /b','podvol.io/directory-mode':"
						  "'0755'")),
		.node = NODE(HOST),
	};
	cleanup(local_plan_done) struct local_plan made;

	assert_int_equal(plan(&wanted, &made, NULL), 0);
	assert_int_equal(made.base_count, 2);
	assert_string_equal(made.base_paths[1], "/b");
	assert_int_equal(made.mode, 0755);
	assert_int_equal(made.bytes, 1 << 30);
}

#define SIZED(parameters) CLASS("podvol/local", "", PARAMETERS(parameters))

static void sizes_that_are_enforced(void **state)
{
	static const struct expectation rows[] = {
		{ CLAIM("", ""), SIZED("'capacity':'quota'"), NODE(HOST), NULL,
		  "/var/lib/podvol/volumes", PV, NULL, NULL, "\"podvol.io/capacity\":\"quota\"",
		  0 },
		{ CLAIM("", ""), SIZED("'capacity':'image'"), NODE(HOST), NULL,
		  "/var/lib/podvol/volumes", PV "/volume.img", NULL, NULL, "\"fsType\":\"ext4\"",
		  0 },
		{ CLAIM("", ""), SIZED("'capacity':'image','fsType':'xfs'"), NODE(HOST), NULL,
		  "/var/lib/podvol/volumes", PV "/volume.img", NULL, NULL, "\"fsType\":\"xfs\"",
		  0 },
		{ CLAIM("", ""), SIZED("'capacity':'all'"), NODE(HOST), NULL, NULL, NULL, NULL,
		  NULL, "none, quota, image, auto", -EINVAL },
		{ CLAIM("", ""), SIZED("'capacity':'image','fsType':'vfat'"), NODE(HOST), NULL,
		  NULL, NULL, NULL, NULL, "ext4, xfs", -EINVAL },
		{ CLAIM("", ""), SIZED("'capacity':'auto','fsType':'much too long a type'"),
		  NODE(HOST), NULL, NULL, NULL, NULL, NULL, "too long", -EINVAL },
		{ SMALL_CLAIM, SIZED("'capacity':'auto','fsType':'xfs'"), NODE(HOST), NULL, NULL,
		  NULL, NULL, NULL, "at least 300Mi, and 1048576 bytes", -EINVAL },
		{ SMALL_CLAIM, SIZED("'capacity':'image'"), NODE(HOST), NULL, NULL, NULL, NULL,
		  NULL, "at least 4Mi", -EINVAL },
		{ SMALL_CLAIM, SIZED("'capacity':'quota'"), NODE(HOST), NULL,
		  "/var/lib/podvol/volumes", PV, NULL, NULL, NULL, 0 },
	};

	check(rows, ARRAY_SIZE(rows));
}

/* ---- openebs.io/local ---- */

#define BASE(path)      "- {name: BasePath, value: \\\"" path "\\\"}\\n"
#define QUOTA(data)     "- {name: XFSQuota, enabled: \\\"true\\\", data: {" data "}}\\n"
#define OPENEBS(config) CLASS("openebs.io/local", CONFIG(config), WAITS)
#define REFUSED         NULL, NULL, NULL, NULL

static void executable_plugins(void **state)
{
	static const struct expectation rows[] = {
		{ CLAIM("", ""), SIZED("'plugin':'p','fsType':'xfs','pool':'a'"), NODE(HOST), NULL,
		  "podvol.io/p", PV, "kubernetes.io/hostname", "h",
		  "\"flexVolume\":{\"driver\":\"podvol.io/p\",\"fsType\":\"xfs\",\"options\":{"
		  "\"pool\":\"a\"}}",
		  0 },
		{ CLAIM("", ""), SIZED("'plugin':'p','capacity':'quota'"), NODE(HOST), NULL, NULL,
		  NULL, NULL, NULL, "parameter capacity cannot be combined with plugin", -EINVAL },
	};
	cleanup_object const struct object *class = object_of(SIZED("'plugin':'p'"));
	cleanup(local_plan_done) struct local_plan room;

	check(rows, ARRAY_SIZE(rows));
	assert_int_equal(local_plan_room(class->storage_class, &room, NULL), -EOPNOTSUPP);
}

static void openebs_hostpath(void **state)
{
	static const struct expectation rows[] = {
		/* case 439 */
		{ CLAIM_MODES(SELECTED, "", "'ReadWriteMany'"), OPENEBS(""), NODE(HOST), NULL,
		  REFUSED, "ReadWriteOnce", -EINVAL },
		{ CLAIM_MODES(SELECTED, "", "'ReadWriteOncePod'"), OPENEBS(""), NODE(HOST), NULL,
		  REFUSED, "ReadWriteOnce", -EINVAL },
		/* case 440 */
		{ CLAIM("", ""), OPENEBS(""), NODE(HOST), NULL, REFUSED, "no node was selected",
		  -ENODEV },
		/* case 441 */
		{ CLAIM(SELECTED, ""), OPENEBS(BASE("/")), NODE(HOST), NULL, REFUSED,
		  "directly below the root", -EINVAL },
		/* case 442 */
		{ CLAIM(SELECTED, ""), CLASS("openebs.io/local", "", WAITS), NODE(HOST), NULL,
		  "/var/openebs/local", PV, "kubernetes.io/hostname", "h",
		  "\"openebs.io/cas-type\":\"local-hostpath\"", 0 },
		{ CLAIM(SELECTED, ""), OPENEBS(BASE("/srv/x/")), NODE(HOST), NULL, "/srv/x", PV,
		  NULL, NULL, NULL, 0 },
		/* The claim's settings win, one by one. */
		{ CLAIM(SELECTED "," CONFIG("- {name: StorageType, value: device}"), ""),
		  OPENEBS("- {name: StorageType, value: hostpath}\\n"), NODE(HOST), NULL, REFUSED,
		  "device", -EINVAL },
		/* But a claim chooses no directory of the host, and switches no limit off. */
		{ CLAIM(SELECTED "," CONFIG(BASE("/etc")), ""), OPENEBS(BASE("/srv/x")), NODE(HOST),
		  NULL, REFUSED, "BasePath '/etc' is not the class's", -EINVAL },
		{ CLAIM(SELECTED "," CONFIG(BASE("/etc")), ""), OPENEBS(""), NODE(HOST), NULL,
		  REFUSED, "BasePath '/etc' is not the class's", -EINVAL },
		{ CLAIM(SELECTED "," CONFIG(BASE("/srv/x")), ""), OPENEBS(BASE("/srv/x")),
		  NODE(HOST), NULL, "/srv/x", PV, NULL, NULL, NULL, 0 },
		{ CLAIM(SELECTED "," CONFIG("- {name: XFSQuota, enabled: false}"), ""),
		  OPENEBS(QUOTA("")), NODE(HOST), NULL, "/var/openebs/local", PV, NULL, NULL,
		  "\"podvol.io/capacity\":\"quota\"", 0 },
		{ CLAIM(SELECTED, ""), OPENEBS("- {name: StorageType, value: device}"), NODE(HOST),
		  NULL, REFUSED, "device", -EINVAL },
		{ CLAIM(SELECTED, ""), OPENEBS(BASE("")), NODE(HOST), NULL, REFUSED, "empty",
		  -EINVAL },
		{ CLAIM(SELECTED, ""), OPENEBS("{"), NODE(HOST), NULL, REFUSED, "of the class",
		  -EINVAL },
		{ CLAIM(SELECTED, ""), OPENEBS("a: b"), NODE(HOST), NULL, REFUSED, "not a list",
		  -EINVAL },
		{ CLAIM(SELECTED, ""), OPENEBS("- {name: NodeAffinityLabels, list: [rack]}"),
		  NODE(HOST ",'rack':'r1'"), NULL, "/var/openebs/local", PV, "rack", "r1", NULL,
		  0 },
		{ CLAIM(SELECTED, ""), OPENEBS("- {name: NodeAffinityLabels, list: [rack]}"),
		  NODE(HOST ",'rack':''"), NULL, REFUSED, "NodeAffinityLabels", -EINVAL },
		{ CLAIM(SELECTED, ""), OPENEBS(""), NODE(""), NULL, REFUSED, "no label", -EINVAL },
		/* case 444 */
		{ CLAIM(SELECTED, ""), OPENEBS(QUOTA("softLimitGrace: 50%, hardLimitGrace: 20%")),
		  NODE(HOST), NULL, REFUSED, "below the soft limit", -EINVAL },
		{ CLAIM(SELECTED, ""), OPENEBS(QUOTA("softLimitGrace: much")), NODE(HOST), NULL,
		  REFUSED, "'much'", -EINVAL },
		{ CLAIM(SELECTED, ""), OPENEBS(QUOTA("softLimitGrace: 10%")), NODE(HOST), NULL,
		  "/var/openebs/local", PV, NULL, NULL, "\"podvol.io/capacity\":\"quota\"", 0 },
		{ CLAIM(SELECTED, ""), OPENEBS("- {name: EXT4Quota, enabled: true}"), NODE(HOST),
		  NULL, "/var/openebs/local", PV, NULL, NULL, "\"podvol.io/capacity\":\"quota\"",
		  0 },
		{ CLAIM(SELECTED, ""), OPENEBS("- {name: XFSQuota, enabled: \\\"false\\\"}"),
		  NODE(HOST), NULL, "/var/openebs/local", PV, NULL, NULL, NULL, 0 },
	};

	check(rows, ARRAY_SIZE(rows));
}

/* ---- rancher.io/local-path ---- */

#define RANCHER(annotations, parameters)                                                           \
	CLASS("rancher.io/local-path", annotations, PARAMETERS(parameters) WAITS)
#define ALL    MAP(ENTRY(OTHERS, "\"/opt/x\""))
#define FOLDER PV "_ns_c"

static void rancher_local_path(void **state)
{
	static const struct expectation rows[] = {
		{ CLAIM(SELECTED, ""), RANCHER("", ""), NODE(HOST), ALL, "/opt/x", FOLDER,
		  "kubernetes.io/hostname", "h", "\"type\":\"Directory\"", 0 },
		{ CLAIM(SELECTED, ""), RANCHER("", ""), NODE(""), ALL, "/opt/x", FOLDER,
		  "kubernetes.io/hostname", "n", "\"local.path.provisioner/selected-node\":\"n\"",
		  0 },
		{ CLAIM(SELECTED, ""), RANCHER("'defaultVolumeType':'LOCAL'", ""), NODE(HOST), ALL,
		  "/opt/x", FOLDER, NULL, NULL, "\"local\":{", 0 },
		{ CLAIM(SELECTED ",'volumeType':'hostpath'", ""),
		  RANCHER("'defaultVolumeType':'local'", ""), NODE(HOST), ALL, "/opt/x", FOLDER,
		  NULL, NULL, "\"hostPath\":{", 0 },
		{ CLAIM(SELECTED ",'volumeType':'nfs'", ""), RANCHER("", ""), NODE(HOST), ALL,
		  REFUSED, "'nfs'", -EINVAL },
		{ CLAIM(SELECTED, ""), RANCHER("", "'nodePath':'/b'"), NODE(HOST),
		  MAP(ENTRY("n", "\"/a\",\"/b\"")), "/b", FOLDER, NULL, NULL, NULL, 0 },
		{ CLAIM(SELECTED, ""), RANCHER("", "'nodePath':'/c'"), NODE(HOST),
		  MAP(ENTRY("n", "\"/a\",\"/b\"")), REFUSED, "not listed", -EINVAL },
		/* case 445 */
		{ CLAIM(SELECTED, ""), RANCHER("", ""), NODE(HOST), MAP(ENTRY("m", "\"/a\"")),
		  REFUSED, "not listed", -EINVAL },
		/* case 446 */
		{ CLAIM(SELECTED, ""), RANCHER("", ""), NODE(HOST),
		  MAP(ENTRY("n", "") "," ENTRY(OTHERS, "\"/opt/x\"")), REFUSED, "without a path",
		  -EINVAL },
		/* case 447 */
		{ CLAIM(SELECTED, ""), RANCHER("", "'pathPattern':'../../x'"), NODE(HOST), ALL,
		  REFUSED, "'../../x'", -EINVAL },
		{ CLAIM(SELECTED, ""),
		  RANCHER("", "'pathPattern':'../../x','allowUnsafePathPattern':'true'"),
		  NODE(HOST), ALL, REFUSED, "'../../x'", -EINVAL },
		{ CLAIM(SELECTED, ""),
		  RANCHER("", "'pathPattern':'/etc','allowUnsafePathPattern':'true'"), NODE(HOST),
		  ALL, REFUSED, "'/etc'", -EINVAL },
		{ CLAIM(SELECTED, ""),
		  RANCHER("", "'pathPattern':'{{ .PVC.Namespace }}/{{.PVC.Name}}/x'"), NODE(HOST),
		  ALL, "/opt/x", "ns/c/x", NULL, NULL, NULL, 0 },
		{ CLAIM(SELECTED, ""), RANCHER("", "'pathPattern':'{{ .PVC.labels.team }}'"),
		  NODE(HOST), ALL, REFUSED, "'ns/c/'", -EINVAL },
		{ CLAIM(SELECTED, ""),
		  RANCHER("", "'pathPattern':'{{ .PVC.labels.team }}/{{ .PVName }}',"
			      "'allowUnsafePathPattern':'true'"),
		  NODE(HOST), ALL, "/opt/x", "a/" PV, NULL, NULL, NULL, 0 },
		{ CLAIM(SELECTED ",'up':'..'", ""),
		  RANCHER("", "'pathPattern':'ns/c/{{ .PVC.annotations.up }}/../x'"), NODE(HOST),
		  ALL, REFUSED, "not the name", -EINVAL },
		/* Not one line in the journal. */
		{ CLAIM(SELECTED ",'up':'a\\n<5>b'", ""),
		  RANCHER("", "'pathPattern':'ns/c/{{ .PVC.annotations.up }}'"), NODE(HOST), ALL,
		  REFUSED, "not the name", -EINVAL },
		{ CLAIM(SELECTED, ""), RANCHER("", "'pathPattern':'{{ range .PVC }}'"), NODE(HOST),
		  ALL, REFUSED, "not understood", -EINVAL },
		{ CLAIM(SELECTED, ""), RANCHER("", "'pathPattern':'{{ .PVName '"), NODE(HOST), ALL,
		  REFUSED, "without '}}'", -EINVAL },
		{ CLAIM_MODES(SELECTED, "", "'ReadWriteMany'"), RANCHER("", ""), NODE(HOST), ALL,
		  REFUSED, "ReadWriteOncePod", -EINVAL },
		{ CLAIM_MODES(SELECTED, "", "'ReadWriteMany'"), RANCHER("", ""), NODE(HOST),
		  "{\"sharedFileSystemPath\":\"/shared\"}", "/shared", FOLDER, NULL, NULL, NULL,
		  0 },
		{ CLAIM(SELECTED, ""), RANCHER("", ""), NODE(HOST),
		  "{\"storageClassConfigs\":{\"s\":" MAP(ENTRY("n", "\"/mine\"")) "}}", "/mine",
		  FOLDER, NULL, NULL, NULL, 0 },
		{ CLAIM(SELECTED, ""), RANCHER("", ""), NODE(HOST), NULL, REFUSED, "config.json",
		  -EINVAL },
	};

	check(rows, ARRAY_SIZE(rows));
}

static void node_maps_that_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		/* case 449: and who asked keeps the map before */
		{ MAP(ENTRY("n", "\"/a\"") "," ENTRY("n", "\"/b\"")), "node 'n' is listed twice" },
		{ MAP(ENTRY("n", "\"/a\",\"/a\"")), "'/a' is listed twice" },
		{ MAP(ENTRY("n", "\"a\"")), "not absolute" },
		{ MAP(ENTRY("n", "\"//\"")), "directly below the root" },
		{ "{}", "exactly one" },
		{ "{\"nodePathMap\":[" ENTRY("n", "\"/a\"") "],\"sharedFileSystemPath\":\"/s\"}",
		  "exactly one" },
		{ "{", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failure why = { .error = 0 };
		struct cJSON *map = NULL;

		assert_int_equal(local_node_map_parse(rows[i].text, &map, &why), -EINVAL);
		assert_null(map);
		if (!strstr(why.text, rows[i].says))
			fail_msg("'%s' does not say '%s'", why.text, rows[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_provisioned_and_when),
		cmocka_unit_test(a_node_that_is_not_there_is_selected_again),
		cmocka_unit_test(each_claim_has_its_own_volume),
		cmocka_unit_test(podvol_local),
		cmocka_unit_test(several_base_paths_and_a_mode),
		cmocka_unit_test(sizes_that_are_enforced),
		cmocka_unit_test(executable_plugins),
		cmocka_unit_test(openebs_hostpath),
		cmocka_unit_test(rancher_local_path),
		cmocka_unit_test(node_maps_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
