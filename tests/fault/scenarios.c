/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenarios - see scenarios.h: one for each kind of volume and each turn that its life can take
 */
#include "scenarios.h"

#include "agent/parts.h"
#include "client/podvol.h"
#include "faults.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AFFINITY                                                                                   \
	"  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions:\n"                     \
	"    [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}\n"

/* A volume and its claim of the same name. */
#define VOLUME(name, path, more)                                                                   \
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " name "}\nspec:\n"              \
	"  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteMany]\n  storageClassName: ''\n"     \
	"  local: {path: " path "}\n  claimRef: {namespace: default, name: " name                  \
	"}\n" more AFFINITY                                                                        \
	"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name "}\nspec:\n"    \
	"  accessModes: [ReadWriteMany]\n  storageClassName: ''\n  volumeName: " name "\n"         \
	"  resources: {requests: {storage: 1Gi}}\n" more

#define POD(name, uid, spec, mounts, volumes)                                                      \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", namespace: default, uid: " uid      \
	"}\nspec:\n" spec                                                                          \
	"  containers:\n  - name: main\n    image: none\n    volumeMounts:\n" mounts               \
	"  volumes:\n" volumes

#define MOUNT(name)        "    - {name: " name ", mountPath: /" name "}\n"
#define CLAIMED(name)      "  - {name: " name ", persistentVolumeClaim: {claimName: " name "}}\n"
#define LOCAL_AT(uid, pv)  "pods/" uid "/volumes/kubernetes.io~local-volume/" pv
#define EMPTY_AT(uid, vol) "pods/" uid "/volumes/kubernetes.io~empty-dir/" vol

#define WEB POD("web", "uid-web", "", MOUNT("data"), CLAIMED("data"))

/* ---- manifests come and go ---- */

static void start(struct fault_world *world)
{
	if (!world_start(world))
		fail_msg("it does not start: %s", world->missing);
}

static void add_data(struct fault_world *world)
{
	world_write_manifest("data.yaml", VOLUME("data", "@/theirs/data", ""));
}

static void add_web(struct fault_world *world)
{
	world_write_manifest("web.yaml", WEB);
}

static void remove_web(struct fault_world *world)
{
	world_remove_manifest("web.yaml");
}

static void add_web_and_backup(struct fault_world *world)
{
	add_web(world);
	world_write_manifest("backup.yaml", POD("backup", "uid-backup", "", MOUNT("data"),
						"  - {name: data, persistentVolumeClaim: "
						"{claimName: data, readOnly: true}}\n"));
}

static void remove_backup(struct fault_world *world)
{
	world_remove_manifest("backup.yaml");
}

static uint64_t mount_id_of(const char *relative)
{
	struct statx status;

	assert_return_code(statx(AT_FDCWD, sandbox_path(relative), 0, STATX_MNT_ID, &status),
			   errno);
	return status.stx_mnt_id;
}

static uint64_t mount_id_before;

static void stop_and_start(struct fault_world *world)
{
	mount_id_before = mount_id_of("root/" LOCAL_AT("uid-web", "data"));
	faults_exempt_thread(false);
	world_stop(world);
	faults_exempt_thread(true);
	start(world);
}

/* A restart takes nothing away from a running pod, not even for a moment. */
static void remove_web_of_before(struct fault_world *world)
{
	assert_int_equal(mount_id_of("root/" LOCAL_AT("uid-web", "data")), mount_id_before);
	remove_web(world);
}

static void add_scratch(struct fault_world *world)
{
	world_write_manifest("web.yaml",
			     POD("web", "uid-web", "", MOUNT("disk") MOUNT("fast"),
				 "  - {name: disk, emptyDir: {}}\n"
				 "  - {name: fast, emptyDir: {medium: Memory, sizeLimit: 1Mi}}\n"));
}

/* What a container leaves in its emptyDir goes with it. */
static void fill_scratch(struct fault_world *world)
{
	sandbox_mkdir("root/" EMPTY_AT("uid-web", "disk") "/directory", 0755);
	sandbox_write("root/" EMPTY_AT("uid-web", "disk") "/directory/file", "text");
	sandbox_write("root/" EMPTY_AT("uid-web", "fast") "/file", "text");
}

static void add_host_paths(struct fault_world *world)
{
	world_write_manifest(
		"web.yaml",
		POD("web", "uid-web", "", MOUNT("host") MOUNT("made"),
		    "  - {name: host, hostPath: {path: @/theirs/data, type: Directory}}\n"
		    "  - {name: made, hostPath: {path: @/made/deep, type: "
		    "DirectoryOrCreate}}\n"));
}

static void add_owned(struct fault_world *world)
{
	world_write_manifest("owned.yaml", VOLUME("owned", "@/owned", ""));
	world_write_manifest("web.yaml",
			     POD("web", "uid-web", "  securityContext: {fsGroup: 4321}\n",
				 MOUNT("owned") MOUNT("disk"),
				 CLAIMED("owned") "  - {name: disk, emptyDir: {}}\n"));
}

static void add_device(struct fault_world *world)
{
	world_write_manifest("disk.yaml", VOLUME("disk", "@/device", ""));
	world_write_manifest("web.yaml", POD("web", "uid-web", "", MOUNT("disk"), CLAIMED("disk")));
}

static void add_raw_device(struct fault_world *world)
{
	world_write_manifest("disk.yaml", VOLUME("disk", "@/device", "  volumeMode: Block\n"));
	world_write_manifest(
		"web.yaml",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, uid: uid-web}\nspec:\n"
		"  containers:\n  - name: main\n    image: none\n    volumeDevices:\n"
		"    - {name: disk, devicePath: /dev/disk}\n  volumes:\n" CLAIMED("disk"));
}

static void add_settings(struct fault_world *world)
{
	world_write_manifest("settings.yaml",
			     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
			     "data: {color: blue, size: large}\n---\n"
			     "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n"
			     "stringData: {token: hush}\n");
	world_write_manifest("web.yaml", POD("web", "uid-web", "", MOUNT("conf") MOUNT("key"),
					     "  - {name: conf, configMap: {name: settings}}\n"
					     "  - {name: key, secret: {secretName: key}}\n"));
}

#define STAGED_AT                                                                                  \
	"plugins/kubernetes.io/csi/d/"                                                             \
	"aaa9402664f1a41f40ebbc52c9993eb66aeb366602958fdfaa283b71e64db123/globalmount"
#define PUBLISHED_AT "pods/uid-web/volumes/kubernetes.io~csi/net/mount"

static void add_csi(struct fault_world *world)
{
	world_write_manifest(
		"net.yaml",
		"apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: d}\n"
		"spec: {attachRequired: false, podInfoOnMount: true, fsGroupPolicy: File}\n---\n"
		"apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n"
		"stringData: {user: me}\n---\n"
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: net}\nspec:\n"
		"  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteMany]\n"
		"  storageClassName: ''\n  claimRef: {namespace: default, name: net}\n"
		"  csi:\n    driver: d\n    volumeHandle: h\n    volumeAttributes: {a: b}\n"
		"    nodeStageSecretRef: {namespace: default, name: key}\n"
		"    nodePublishSecretRef: {namespace: default, name: key}\n---\n"
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: net}\nspec:\n"
		"  accessModes: [ReadWriteMany]\n  storageClassName: ''\n  volumeName: net\n"
		"  resources: {requests: {storage: 1Gi}}\n");
	world_write_manifest("web.yaml",
			     POD("web", "uid-web", "  securityContext: {fsGroup: 4321}\n",
				 MOUNT("net"), CLAIMED("net")));
}

static void add_token(struct fault_world *world)
{
	world_write_manifest("web.yaml", POD("web", "uid-web", "", MOUNT("token"),
					     "  - {name: token, projected: {sources: "
					     "[{serviceAccountToken: {path: token}}]}}\n"));
}

/* Another pod of the same name, with another volume beside the first. */
static void replace_web(struct fault_world *world)
{
	world_write_manifest("web.yaml", POD("web", "uid-new", "", MOUNT("data") MOUNT("disk"),
					     CLAIMED("data") "  - {name: disk, emptyDir: {}}\n"));
}

/* ---- sub-paths ---- */

struct subpath_answer {
	bool came;
	int error;
};

static void on_subpaths(void *userdata, int error, const struct bound_subpaths *ret,
			const struct failure *why)
{
	struct subpath_answer *answer = userdata;

	if (error < 0)
		print_message("sub-paths: %s\n", why->text);
	*answer = (struct subpath_answer){ true, error };
}

static void add_sub_paths(struct fault_world *world)
{
	world_write_manifest("owned.yaml", VOLUME("owned", "@/owned", ""));
	world_write_manifest("web.yaml",
			     POD("web", "uid-web", "",
				 "    - {name: owned, mountPath: /a, subPath: new/deep}\n"
				 "    - {name: owned, mountPath: /b, subPath: directory/inner}\n",
				 CLAIMED("owned")));
}

/* Asks again and again, as a runtime does before it starts a container. */
static void bind_sub_paths(struct fault_world *world)
{
	enum { ATTEMPTS = 10, WAIT_MSEC = 1000 };
	struct subpath_answer answer = { .error = -1 };

	for (int attempt = 0; answer.error < 0 && attempt < ATTEMPTS; attempt++) {
		struct subpath_call *call;
		int r;

		answer = (struct subpath_answer){ .error = -1 };
		faults_exempt_thread(false);
		r = subpaths_prepare(&world->agent->pod_mounts, "uid-web", NULL, on_subpaths,
				     &answer, &call);
		faults_exempt_thread(true);
		for (int i = 0; r == 0 && !answer.came && i < WAIT_MSEC; i++)
			world_turn(world, 1);
		if (r == 0 && !answer.came)
			fail_msg("nobody answers for the sub-paths");
	}
	if (answer.error < 0)
		fail_msg("the sub-paths cannot be bound: %s", strerror(-answer.error));
}

/* ---- holds ---- */

static void hold_web(struct fault_world *world)
{
	enum { ATTEMPTS = 5 };
	char id[HOLD_ID_BYTES];
	struct failure failure = { .error = 0 };
	int r = -1;

	world->container = fork();
	assert_return_code(world->container, errno);
	if (world->container == 0) {
		(void) close_range(3, ~0U, 0);
		for (;;)
			(void) pause();
	}
	for (int attempt = 0; r < 0 && attempt < ATTEMPTS; attempt++) {
		const struct hold_request request = {
			.name_space = "default",
			.name = "web",
			.uid = "uid-web",
			.container = "main",
			.pid = world->container,
			.cgroup = "",
		};

		faults_exempt_thread(false);
		r = agent_hold_add(world->agent, &request, id, &failure);
		faults_exempt_thread(true);
		if (r < 0)
			print_message("the hold: %s\n", failure.text);
	}
	assert_return_code(r, -r);
}

static void end_container(struct fault_world *world)
{
	assert_return_code(kill(world->container, SIGKILL), errno);
	assert_int_equal(waitpid(world->container, NULL, 0), world->container);
	world->container = 0;
}

/* ---- the API ---- */

enum { CLIENT_ATTEMPTS = 20, CLIENT_WAIT_MSEC = 3000 };

/* A process of its own: it blocks, and nothing of it may fail. */
static void be_client(struct fault_world *world, int (*talk)(struct podvol *podvol))
{
	world->client = fork();
	assert_return_code(world->client, errno);
	if (world->client == 0) {
		struct podvol *podvol = NULL;
		int r = -1;

		(void) close_range(3, ~0U, 0);
		for (int attempt = 0; r < 0 && attempt < CLIENT_ATTEMPTS; attempt++) {
			podvol_free(podvol);
			podvol = NULL;
			r = podvol_connect(sandbox_path("run/podvol.sock"), &podvol);
			if (r == 0)
				r = talk(podvol);
			if (r < 0)
				(void) fprintf(stderr, "client: %s\n", podvol_error(podvol));
		}
		_exit(r < 0);
	}
}

static int apply_and_wait(struct podvol *podvol)
{
	static const char text[] = WEB;
	int r = podvol_apply(podvol, text, strlen(text), NULL);

	return r < 0 ? r : podvol_pod_mount(podvol, "default/web", CLIENT_WAIT_MSEC, NULL);
}

/* Gone already, because an answer was lost, is as good. */
static int delete_and_wait(struct podvol *podvol)
{
	int r = podvol_pod_unmount(podvol, "default/web", CLIENT_WAIT_MSEC);

	return r == -ENOENT ? 0 : r;
}

static void apply_web(struct fault_world *world)
{
	be_client(world, apply_and_wait);
}

static void delete_web(struct fault_world *world)
{
	be_client(world, delete_and_wait);
}

/* ---- the table ---- */

#define NOTHING                                                                                    \
	{                                                                                          \
		"none pods/uid-web", "rows 0"                                                      \
	}

const struct scenario scenarios[] = {
	{ .name = "start, local directory, stop",
	  .world = WORLD_PLAIN,
	  .armed_from = 0,
	  .steps = { { start, { NULL }, 0 },
		     { add_data, { NULL }, 0 },
		     { add_web, { "mount " LOCAL_AT("uid-web", "data") }, 0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "local directory",
	  .world = WORLD_FOREIGN_MOUNT,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_data, { NULL }, 0 },
		     { add_web, { "mount " LOCAL_AT("uid-web", "data") }, 0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "local device, formatted",
	  .world = WORLD_EMPTY_DEVICE,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_device,
		       { "mount " LOCAL_AT("uid-web", "disk"),
			 "mount plugins/kubernetes.io/local-volume/mounts/disk",
			 "dir " LOCAL_AT("uid-web", "disk") "/lost+found" },
		       0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "local device with data",
	  .world = WORLD_FULL_DEVICE,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_device,
		       { "mount " LOCAL_AT("uid-web", "disk"),
			 "mount plugins/kubernetes.io/local-volume/mounts/disk",
			 "text " LOCAL_AT("uid-web", "disk") "/precious keep me" },
		       0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "raw block device",
	  .world = WORLD_EMPTY_DEVICE,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_raw_device,
		       { "mount plugins/kubernetes.io~local-volume/volumeDevices/disk/uid-web" },
		       0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "emptyDir on disk and in memory",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_scratch,
		       { "dir " EMPTY_AT("uid-web", "disk"), "mount " EMPTY_AT("uid-web", "fast") },
		       0 },
		     { fill_scratch, { "mount " EMPTY_AT("uid-web", "fast") }, 0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "hostPath",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_host_paths, { "rows 2", "dir ../made/deep" }, 0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "configMap and secret",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_settings,
		       { "text pods/uid-web/volumes/kubernetes.io~configmap/conf/color blue",
			 "mount pods/uid-web/volumes/kubernetes.io~secret/key",
			 "text pods/uid-web/volumes/kubernetes.io~secret/key/token hush" },
		       0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "fsGroup",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_owned,
		       { "mount " LOCAL_AT("uid-web", "owned"),
			 "gid " LOCAL_AT("uid-web", "owned") " 4321",
			 "gid " LOCAL_AT("uid-web", "owned") "/directory/inner 4321",
			 "gid " EMPTY_AT("uid-web", "disk") " 4321" },
		       0 },
		     { remove_web, NOTHING, 0 } },
	  .passed_over = { "fchownat", "fchmodat2" } },
	{ .name = "CSI driver",
	  .world = WORLD_CSI,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_csi,
		       { "mount " STAGED_AT, "mount " PUBLISHED_AT, "gid " PUBLISHED_AT " 4321" },
		       0 },
		     { remove_web,
		       { "none pods/uid-web", "none " STAGED_AT, "rows 0", "driver empty" },
		       0 } },
	  .passed_over = { "fchownat", "fchmodat2" } },
	{ .name = "service account token",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_token,
		       { "mount pods/uid-web/volumes/kubernetes.io~projected/token",
			 "gid pods/uid-web/volumes/kubernetes.io~projected/token/token 0" },
		       0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "sub-paths",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_sub_paths, { "mount " LOCAL_AT("uid-web", "owned") }, 0 },
		     { bind_sub_paths,
		       { "mount " LOCAL_AT("uid-web", "owned"),
			 "mount pods/uid-web/volume-subpaths/owned/main/0",
			 "mount pods/uid-web/volume-subpaths/owned/main/1",
			 "text pods/uid-web/volume-subpaths/owned/main/1 more" },
		       0 },
		     { remove_web, NOTHING, 0 } } },
	{ .name = "two pods share",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_data, { NULL }, 0 },
		     { add_web_and_backup,
		       { "mount " LOCAL_AT("uid-web", "data"),
			 "mount " LOCAL_AT("uid-backup", "data") },
		       0 },
		     { remove_web,
		       { "none pods/uid-web", "mount " LOCAL_AT("uid-backup", "data") },
		       0 },
		     { remove_backup, { "none pods/uid-backup", "rows 0" }, 0 } } },
	{ .name = "pod replaced",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_data, { NULL }, 0 },
		     { add_web, { "mount " LOCAL_AT("uid-web", "data") }, 0 },
		     { replace_web,
		       { "none pods/uid-web", "mount " LOCAL_AT("uid-new", "data"),
			 "dir " EMPTY_AT("uid-new", "disk") },
		       0 },
		     { remove_web, { "none pods/uid-new", "rows 0" }, 0 } } },
	{ .name = "restart",
	  .world = WORLD_FOREIGN_MOUNT,
	  .armed_from = 3,
	  .steps = { { start, { NULL }, 0 },
		     { add_data, { NULL }, 0 },
		     { add_web_and_backup,
		       { "mount " LOCAL_AT("uid-web", "data"),
			 "mount " LOCAL_AT("uid-backup", "data") },
		       0 },
		     { stop_and_start,
		       { "mount " LOCAL_AT("uid-web", "data"),
			 "mount " LOCAL_AT("uid-backup", "data") },
		       20 },
		     { remove_web_of_before,
		       { "none pods/uid-web", "mount " LOCAL_AT("uid-backup", "data") },
		       0 },
		     { remove_backup, { "none pods/uid-backup", "rows 0" }, 0 } } },
	{ .name = "hold",
	  .world = WORLD_PLAIN,
	  .armed_from = 1,
	  .steps = { { start, { NULL }, 0 },
		     { add_data, { NULL }, 0 },
		     { add_web, { "mount " LOCAL_AT("uid-web", "data") }, 0 },
		     { hold_web, { "mount " LOCAL_AT("uid-web", "data") }, 0 },
		     { remove_web, { "mount " LOCAL_AT("uid-web", "data") }, 60 },
		     { end_container, NOTHING, 0 } } },
	{ .name = "API: apply, wait, unmount",
	  .world = WORLD_API,
	  .armed_from = 2,
	  .steps = { { start, { NULL }, 0 },
		     { add_data, { NULL }, 0 },
		     { apply_web, { "mount " LOCAL_AT("uid-web", "data") }, 0 },
		     { delete_web, NOTHING, 0 } } },
};
const size_t scenario_count = ARRAY_SIZE(scenarios);
