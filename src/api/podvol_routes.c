/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podvol_routes - every path below /podvol/v1: its handler, and what it takes and answers
 *
 * See route.h. Members of rows stand in view_columns.c.
 */
#include "api/route.h"

#include "base/cleanup.h"
#include "object/schema/schema_rows.h"

#include <assert.h>
#include <string.h>

/* ---- parameters ---- */

static const struct route_parameter parameters[] = {
	/* of every view */
	{ "fieldSelector", SCHEMA_STRING, false, "Only rows with these members: a=b,c!=d." },
	{ "sortBy", SCHEMA_STRING, false, "The member by which rows are ordered." },
	{ "namespace", SCHEMA_STRING, false, "Only rows of this namespace." },
	{ "pod", SCHEMA_STRING, false, "Only rows of this pod: NAMESPACE/NAME." },
	/* of some paths */
	{ "allowWatchBookmarks", SCHEMA_BOOL, false,
	  "Accepted from Kubernetes' clients; views have no labels." },
	{ "after", SCHEMA_INTEGER, false, "The sequence after which a watch begins; 0: with all." },
	{ "container", SCHEMA_STRING, false, "One container of the pod; else all." },
	{ "dryRun", SCHEMA_STRING, false, "Not supported: refused with the reason." },
	{ "fieldValidation", SCHEMA_STRING, false,
	  "What happens to unknown fields: Ignore, Warn or Strict." },
	{ "for", SCHEMA_STRING, false, "mounted (default) or unmounted." },
	{ "format", SCHEMA_STRING, false,
	  "json, which is meant without it; the answers of all others are in the words of the "
	  "runtime that they name, and not described here." },
	{ "ignoreNotFound", SCHEMA_BOOL, false, "A pod that is gone is success." },
	{ "method", SCHEMA_STRING, true, "The RPC, as NodeGetInfo." },
	{ "resourceVersion", SCHEMA_STRING, false, "The version to watch from, from a list." },
	{ "server", SCHEMA_STRING, false,
	  "Where clients reach this server: https://example.com:6443." },
	{ "timeout", SCHEMA_STRING, false, "How long to wait at most: 30s, 2m, 1h30m." },
	{ "timeoutSeconds", SCHEMA_INTEGER, false, "The same in seconds." },
	{ "userNamespace", SCHEMA_STRING, false,
	  "The host ids of the pod's sandbox, for format=cri: FIRST:COUNT." },
	{ "watch", SCHEMA_BOOL, false,
	  "Send changes as they happen, an object on a line, instead of a list." },
};
enum { VIEW_PARAMETERS = 4 };

static const struct route_parameter *parameter_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++)
		if (strcmp(parameters[i].name, name) == 0)
			return &parameters[i];
	assert(!"a route takes an unknown parameter");
	return NULL;
}

/* Rows of pods have a namespace in their pod. */
static bool view_takes(const struct view_columns *rows, const char *name)
{
	bool any = false;

	if (strcmp(name, "pod") != 0 && strcmp(name, "namespace") != 0)
		return true;
	for (size_t i = 0; i < rows->count; i++)
		any = any || strcmp(rows->columns[i].key, "pod") == 0 ||
		      strcmp(rows->columns[i].key, name) == 0;
	return any;
}

const struct route_parameter *route_next_parameter(const struct route *route, size_t *at)
{
	assert(route && at);
	for (; *at < VIEW_PARAMETERS; (*at)++)
		if (route->method == METHOD_GET && route->rows &&
		    view_takes(route->rows, parameters[*at].name))
			return &parameters[(*at)++];
	if (*at - VIEW_PARAMETERS < ROUTE_PARAMETERS_MAX &&
	    route->parameters[*at - VIEW_PARAMETERS])
		return parameter_named(route->parameters[(*at)++ - VIEW_PARAMETERS]);
	return NULL;
}

const char *route_refused_parameter(const struct route *route, const struct api_path *path)
{
	for (size_t i = 0; i < path->parameter_count && route->operation; i++) {
		const struct route_parameter *known;
		const char *name = path->parameters[i].name;
		size_t at = 0;

		do
			known = route_next_parameter(route, &at);
		while (known && strcmp(known->name, name) != 0);
		if (!known && strcmp(name, "timeout") != 0)
			return name;
	}
	return NULL;
}

/* ---- bodies and answers that are no rows ---- */

/* clang-format off */
static const struct schema documents_schema = SCHEMA_OF(PODVOL_PACKAGE, "Documents",
	"Objects of Kubernetes, one or, as YAML or as a List, several.",
);

static const struct schema paths_schema = SCHEMA_OF(PODVOL_PACKAGE, "Paths",
	"The paths that are served.",
	STRINGS("paths", REQUIRED, "Each, with {name} for a word that varies."),
);

static const struct schema version_schema = SCHEMA_OF(PODVOL_PACKAGE, "Version",
	"Versions, and which store there is.",
	STRING("podvol", REQUIRED, "The version of podvold."),
	STRING("kubernetes", REQUIRED, "The Kubernetes whose behaviour it follows."),
	STRING("nodeName", REQUIRED, "The name of this node."),
	STRING("rootDir", REQUIRED, "Where the volumes are."),
	STRING("store", REQUIRED, "embedded or kube-apiserver."),
	STRING("server", 0, "The address of the kube-apiserver."),
	MICRO_TIME("lastContact", 0, "When it last answered."),
	MICRO_TIME("lastFailureTime", 0, "When a request to it last failed."),
	STRING("lastFailure", 0, "Why."),
	INTEGER("requestsQueued", 0, "Requests to it that wait."),
	INTEGER("requestsRunning", 0, "Requests to it that have no answer yet."),
	INTEGER("requestsPerSecondMax", 0, "The most single requests sent to it in a second, by how it answers."),
);

static const struct schema config_schema = SCHEMA_OF(PODVOL_PACKAGE, "Kubeconfig",
	"What kubectl reads.",
);

static const struct schema message_schema = SCHEMA_OF(PODVOL_PACKAGE, "DriverMessage",
	"A message of CSI in proto3's JSON mapping.",
);

static const struct schema driver_answer_schema = SCHEMA_OF(PODVOL_PACKAGE, "DriverAnswer",
	"What a driver answered, an error too.",
	STRING("method", REQUIRED, "The RPC."),
	INTEGER("code", REQUIRED, "The status code of gRPC; 0 is OK."),
	STRING("codeName", REQUIRED, "Its name."),
	STRING("message", REQUIRED, "The message of an error."),
	BOOL("fromDriver", REQUIRED, "False: podvold made the code."),
	BOOL("sent", REQUIRED, "False: nothing of it reached the driver."),
	INTEGER("tookMicroseconds", REQUIRED, "How long it took."),
	OBJECT(message_schema, "reply", 0, "With code 0."),
);

static const struct schema hold_schema = SCHEMA_OF(PODVOL_PACKAGE, "NewHold",
	"Which container holds the pod; without pid and cgroup until it is deleted.",
	STRING("container", REQUIRED, "Its name."),
	INTEGER("pid", 0, "The hold ends with this process."),
	STRING("cgroup", 0, "The hold ends when this cgroup is empty."),
);

static const struct schema new_token_schema = SCHEMA_OF(PODVOL_PACKAGE, "NewToken",
	"A token to be made.",
	STRING("name", REQUIRED, "What it is called."),
	STRING("role", 0, "view, edit or admin; view without it."),
	INTEGER("seconds", 0, "Its lifetime; without it unlimited."),
);

static const struct schema made_token_schema = SCHEMA_OF(PODVOL_PACKAGE, "MadeToken",
	"A token, which is shown only this once.",
	STRING("name", REQUIRED, "What it is called."),
	STRING("role", REQUIRED, "What it may do."),
	STRING("token", REQUIRED, "What a client sends."),
);

static const struct schema reason_schema = SCHEMA_OF(PODVOL_PACKAGE, "UnfitReason",
	"Why a pod does not fit a node.",
	STRING("plugin", REQUIRED, "The scheduler plugin that reports it."),
	STRING("reason", REQUIRED, "In its words."),
	BOOL("resolvable", REQUIRED, "Whether removing other pods could help."),
);

static const struct schema warning_schema = SCHEMA_OF(PODVOL_PACKAGE, "WriteWarning",
	"A user that cannot write into a directory.",
	STRING("container", REQUIRED, "Whose user it is."),
	STRING("volume", REQUIRED, "The volume."),
	STRING("text", REQUIRED, "Who cannot write where."),
);

static const struct schema verdict_schema = SCHEMA_OF(PODVOL_PACKAGE, "Verdict",
	"Whether a pod could have its volumes on a node.",
	STRING("pod", REQUIRED, "NAMESPACE/NAME."),
	STRING("node", REQUIRED, "The name of the node."),
	BOOL("fits", REQUIRED, "It could."),
	OBJECTS(reason_schema, "reasons", REQUIRED, "Why not."),
	OBJECTS(warning_schema, "warnings", 0, "Of this node alone."),
);

static const struct schema mount_schema = SCHEMA_OF(PODVOL_PACKAGE, "ContainerMount",
	"What to mount where in a container.",
	STRING("name", REQUIRED, "The volume."),
	STRING("hostPath", REQUIRED, "What to mount; empty for an image that podvold does not mount."),
	STRING("image", 0, "The image that the runtime has to mount."),
	STRING("containerPath", REQUIRED, "Where."),
	BOOL("readOnly", REQUIRED, "Mount it read only."),
	STRING("recursiveReadOnly", REQUIRED, "Disabled, IfPossible or Enabled."),
	STRING("propagation", REQUIRED, "None, HostToContainer or Bidirectional."),
	STRING("subPath", 0, "The part of the volume that it is."),
	BOOL("selinuxRelabel", REQUIRED, "Set the label of SELinux."),
	STRINGS("options", REQUIRED, "idmap, noexec, nosuid, nodev."),
);

static const struct schema search_schema = SCHEMA_OF(PODVOL_PACKAGE, "VolumeUserSearch",
	"Who uses a volume now.",
	STRING("result", REQUIRED, "N users; no users; unknown, and why."),
	OBJECTS(view_user_schema, "users", REQUIRED, "32 of each mount of the volume at most."),
	INTEGER("total", REQUIRED, "How many there are."),
	INTEGER("hidden", REQUIRED, "Processes that could not be inspected."),
	BOOL("cutShort", REQUIRED, "A limit ended the search."),
	STRING("failure", 0, "What could not be searched."),
);

static const struct schema device_schema = SCHEMA_OF(PODVOL_PACKAGE, "ContainerDevice",
	"A device to create in a container.",
	STRING("name", REQUIRED, "The volume."),
	STRING("hostPath", REQUIRED, "The device of the host."),
	STRING("containerPath", REQUIRED, "Where."),
	STRING("permissions", REQUIRED, "r or mrw."),
	STRING("type", REQUIRED, "b."),
	INTEGER("major", REQUIRED, "Its major number."),
	INTEGER("minor", REQUIRED, "Its minor number."),
);

static const struct schema container_schema_ = SCHEMA_OF(PODVOL_PACKAGE, "ContainerMounts",
	"The mounts and devices of one container.",
	STRING("name", REQUIRED, "The container."),
	STRING("type", REQUIRED, "container, init, sidecar or ephemeral."),
	OBJECTS(mount_schema, "mounts", REQUIRED, "In the order in which to mount them."),
	OBJECTS(device_schema, "devices", REQUIRED, "Of block volumes."),
);

static const struct schema mounts_schema = SCHEMA_OF(PODVOL_PACKAGE, "PodMounts",
	"What to mount where in each container of a pod.",
	STRING("pod", REQUIRED, "NAMESPACE/NAME."),
	STRING("podUID", REQUIRED, "The uid of the pod."),
	INTEGERS("supplementalGroups", REQUIRED, "Groups that each process needs."),
	OBJECTS(container_schema_, "containers", REQUIRED, "All, or the one asked for."),
);
/* clang-format on */

/* ---- the paths ---- */

#define ROUTE(METHOD, PATTERN, HANDLER, OPERATION, SUMMARY, ...)                                   \
	{                                                                                          \
		.method = METHOD_##METHOD, .pattern = PATTERN, .handler = HANDLER,                 \
		.operation = OPERATION, .summary = SUMMARY, __VA_ARGS__                            \
	}
#define TAKES(...) .parameters = { __VA_ARGS__ }
/* A pod by uid, or by name in namespace "default"; and by namespace and name. */
#define POD_ROUTES(METHOD, TAIL, HANDLER, BEFORE, AFTER, SUMMARY, ...)                             \
	ROUTE(METHOD, "podvol/v1/pods/{pod}/" TAIL, HANDLER, BEFORE "Pod" AFTER, SUMMARY,          \
	      __VA_ARGS__),                                                                        \
		ROUTE(METHOD, "podvol/v1/pods/{namespace}/{pod}/" TAIL, HANDLER,                   \
		      BEFORE "NamespacedPod" AFTER, SUMMARY, __VA_ARGS__)

const struct route podvol_routes[] = {
	ROUTE(GET, "podvol/v1", discovery_views_index, "listPaths", "The paths below /podvol/v1.",
	      .answer = &paths_schema),
	ROUTE(GET, "podvol/v1/version", views_podvol_version, "getVersion", "Versions.",
	      .answer = &version_schema),
	ROUTE(GET, "podvol/v1/kubeconfig", kubeconfig_get, "getKubeconfig",
	      "A kubeconfig for --listen.", TAKES("server"), .answer = &config_schema),
	ROUTE(GET, "podvol/v1/volumes", views_volumes, "listVolumes", "Each volume of each pod.",
	      TAKES("watch", "resourceVersion", "allowWatchBookmarks"),
	      .rows = &view_volume_columns),
	ROUTE(GET, "podvol/v1/volumes/{volume}", views_volume, "getVolume",
	      "One volume by unique name, name of the PV or path.", .rows = &view_volume_columns),
	ROUTE(GET, "podvol/v1/volumes/{volume}/users", views_volume_users, "listVolumeUsers",
	      "Search now for who uses a volume.", .answer = &search_schema),
	ROUTE(POST, "podvol/v1/volumes/{volume}/force", force_unstage_post, "forceVolume",
	      "Go past holders outside of containers with an unstage that is held back.",
	      .answer = NULL),
	ROUTE(GET, "podvol/v1/operations", views_operations, "listOperations",
	      "What runs, and what waits for its retry.", .rows = &view_operation_columns),
	ROUTE(GET, "podvol/v1/steps", views_steps, "listSteps", "The last steps that ended.",
	      .rows = &view_step_columns),
	ROUTE(GET, "podvol/v1/manifests", views_manifests, "listManifests",
	      "Manifests that were refused.", .rows = &view_manifest_columns),
	ROUTE(GET, "podvol/v1/statistics", views_statistics, "listStatistics",
	      "How full each mounted volume is.", .rows = &view_statistics_columns),
	ROUTE(GET, "podvol/v1/drivers", views_drivers, "listDrivers",
	      "Volume plugins and CSI drivers.", .rows = &view_driver_columns),
	ROUTE(GET, "podvol/v1/drivers/{driver}", views_driver, "getDriver", "One of them.",
	      .rows = &view_driver_columns),
	ROUTE(POST, "podvol/v1/drivers/{driver}/call", driver_calls_post, "callDriver",
	      "Any RPC to a CSI driver.", TAKES("method", "timeout"), .body = &message_schema,
	      .answer = &driver_answer_schema),
	ROUTE(GET, "podvol/v1/threads", views_threads, "listThreads",
	      "Threads whose work may hang.", .rows = &view_thread_columns),
	ROUTE(GET, "podvol/v1/strangers", views_foreign_volumes, "listForeignVolumes",
	      "Foreign volumes that were there at the start.",
	      .rows = &view_foreign_volume_columns),
	ROUTE(GET, "podvol/v1/events", views_volume_events, "listVolumeEvents",
	      "What happened to volumes.", TAKES("watch", "after", "allowWatchBookmarks"),
	      .rows = &view_volume_event_columns),
	ROUTE(GET, "podvol/v1/keys", service_keys_get, "listKeys",
	      "Keys of service accounts' tokens.", .rows = &view_token_key_columns),
	ROUTE(POST, "podvol/v1/keys", service_keys_renew, "renewKey",
	      "Sign with a new key from now on.", .rows = &view_token_key_columns,
	      .code = CODE_201),
	ROUTE(GET, "podvol/v1/tokens", named_tokens_get, "listTokens",
	      "Named tokens of TLS clients.", .rows = &view_token_columns),
	ROUTE(POST, "podvol/v1/tokens", named_tokens_post, "createToken", "Make a named token.",
	      .body = &new_token_schema, .answer = &made_token_schema, .code = CODE_201),
	ROUTE(DELETE, "podvol/v1/tokens/{token}", named_tokens_delete, "deleteToken", "Revoke it.",
	      .answer = NULL),
	ROUTE(DELETE, "podvol/v1/certificates/{name}", named_tokens_revoke_certificates,
	      "deleteCertificates", "Revoke the client certificates of this common name.",
	      .answer = NULL),
	ROUTE(POST, "podvol/v1/apply", apply_post, "apply",
	      "Create or update every object of the body.", TAKES("fieldValidation", "dryRun"),
	      .body = &documents_schema, .takes_yaml = 1, .rows = &view_applied_columns),
	ROUTE(POST, "podvol/v1/check", check_post, "check",
	      "Could the Pod of the body have its volumes on its Node, or on this one?",
	      .body = &documents_schema, .takes_yaml = 1, .answer = &verdict_schema),
	ROUTE(GET, "podvol/v1/holds", holds_get_all, "listHolds",
	      "What keeps pods from being unmounted.", .rows = &view_hold_columns),
	POD_ROUTES(GET, "volumes", pods_volumes, "list", "Volumes", "The volumes of a pod.",
		   .rows = &view_volume_columns),
	POD_ROUTES(POST, "mount", pods_mount, "mount", "",
		   "Wait until all volumes of a pod are mounted.", TAKES("timeout"),
		   .rows = &view_volume_columns, .code = CODE_202),
	POD_ROUTES(POST, "mounts", mounts_post, "list", "Mounts",
		   "What to mount where in each container.",
		   TAKES("container", "format", "timeout", "timeoutSeconds", "userNamespace"),
		   .answer = &mounts_schema),
	POD_ROUTES(POST, "wait", pods_wait, "waitFor", "",
		   "Wait and change nothing; the answer is a Status with for=unmounted.",
		   TAKES("for", "timeout"), .rows = &view_volume_columns, .or_status = 1),
	POD_ROUTES(POST, "unmount", pods_unmount, "unmount", "",
		   "Delete a pod and wait until its volumes are gone.",
		   TAKES("timeout", "ignoreNotFound"), .code = CODE_202),
	POD_ROUTES(GET, "holds", holds_get, "list", "Holds",
		   "What keeps a pod from being unmounted.", .rows = &view_hold_columns),
	POD_ROUTES(POST, "holds", holds_post, "hold", "", "Hold a pod.", .body = &hold_schema,
		   .rows = &view_hold_columns, .one_row = 1, .code = CODE_201),
	POD_ROUTES(DELETE, "holds/{hold}", holds_delete, "release", "", "End a hold.",
		   .answer = NULL),
	{ .pattern = NULL },
};
