/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_table - every option, key and limit of podvold, one row each; see config.h
 *
 * Reading them is config.c. A new row needs a member of struct config, and its entry in the manual
 * page: a test compares the two.
 */
#include "config.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stddef.h>

/* Name, argument, member of struct config, default, help; then what is not usual. */
#define STRING(name_, argument_, field, default_, ...)                                             \
	{                                                                                          \
		.kind = CONFIG_STRING, .name = name_, .argument = argument_,                       \
		.offset = offsetof(struct config, field), .default_text = default_,                \
		.help = __VA_ARGS__                                                                \
	}
/* The same with the least and the greatest value in place of the argument, which is "N". */
#define NUMBER(name_, field, default_, minimum_, maximum_, ...)                                    \
	{                                                                                          \
		.kind = CONFIG_INTEGER, .name = name_, .argument = "N",                            \
		.offset = offsetof(struct config, field), .default_text = default_,                \
		.minimum = minimum_, .maximum = maximum_, .help = __VA_ARGS__                      \
	}
/* Off unless it is set. */
#define FLAG(name_, field, ...)                                                                    \
	{                                                                                          \
		.kind = CONFIG_FLAG, .name = name_, .offset = offsetof(struct config, field),      \
		.default_text = "false", .help = __VA_ARGS__                                       \
	}

const struct config_row config_rows[] = {
	STRING("config", "FILE", config_file, "/etc/podvol/podvold.conf",
	       "configuration file; may be missing unless named", .command_line_only = true),
	STRING("root-dir", "DIR", root_dir, "/var/lib/kubelet",
	       "where volumes are mounted, in kubelet's layout"),
	STRING("state-dir", "DIR", state_dir, "/var/lib/podvol", "where the objects are stored"),
	STRING("run-dir", "DIR", run_dir, "/run/podvol",
	       "the socket and the ledger of what is mounted"),
	STRING("manifest-dir", "DIR", manifest_dir, "/etc/podvol/manifests",
	       "manifests of pods, claims and volumes"),
	STRING("kubeconfig", "FILE", kubeconfig, "",
	       "be a node of this cluster: its objects in place of manifests"),
	FLAG("keep-secrets", keep_secrets,
	     "store a cluster's Secrets on disk, for a start without its server"),
	FLAG("provisioner", provisioner,
	     "make volumes for a cluster's claims for which this node was selected"),
	FLAG("register-node", register_node,
	     "register the cluster's Node and keep it Ready: no other agent does"),
	FLAG("new-cluster", new_cluster, "take another cluster's objects in place of those stored",
	     .command_line_only = true),
	STRING("volume-paths", "LIST", volume_paths, "",
	       "hostPath and local volumes lie below these: /a,/b; default: anywhere"),
	STRING("node-name", "NAME", node_name, NULL, "name of this node; default: the host name"),
	STRING("node-labels", "LIST", node_labels, "", "labels of this node: key=value,key=value"),
	STRING("log-level", "LEVEL", log_level, "info", "error, warning, notice, info or debug",
	       .reloads = true),
	STRING("listen", "ADDRESS:PORT", listen.tls, "",
	       "serve TLS there, to clients with the token"),
	STRING("listen-names", "LIST", listen.names, "",
	       "more names and addresses of the TLS server: name,address"),
	STRING("listen-plain", "ADDRESS:PORT", listen.plain, "",
	       "serve reads without TLS and token there; loopback only"),
	STRING("docker-plugin-socket", "PATH", docker_plugin_socket, "",
	       "serve docker and podman volumes there, to root"),
	STRING("client-ca-file", "FILE", listen.client_ca, "",
	       "authorities whose certificates TLS clients may show; default: none"),
	STRING("token-file", "FILE", token_file, "",
	       "the token of TLS clients; default: one is made in state-dir"),
	STRING("token-issuer", "URL", tokens.issuer, "",
	       "who issues service accounts' tokens; default: by the node's name"),
	NUMBER("token-seconds-max", tokens.seconds_max, "604800", 600, 31536000,
	       "longest life of a service account's token; more is cut"),
	NUMBER("token-key-days", tokens.key_days, "0", 0, 36500,
	       "age at which the key that signs them is replaced; 0 never"),
	STRING("group-role", "ROLE", group_role, "operator",
	       "of group podvol on the socket: view, edit, operator, admin"),
	FLAG("others-may-read", others_may_read,
	     "who is neither root nor in group podvol may read, no Secrets"),
	FLAG("idmapped-fs-group", idmapped_fs_group,
	     "pods may have fsGroup as a map of the mount; docs/ownership.md"),
	NUMBER("worker-threads", worker_threads, "2", 1, 64,
	       "threads that look up and make files at the same time"),
	NUMBER("worker-threads-max", worker_threads_max, "64", 1, 1024,
	       "threads in all, those stuck on dead servers included"),
	NUMBER("operation-seconds", operation_seconds, "120", 1, 86400,
	       "without a sign of life until an operation is stuck"),
	NUMBER("tool-seconds", tool_seconds, "7200", 1, 2592000,
	       "for a mkfs or fsck; then it is ended"),
	NUMBER("fault-check-seconds", seconds.fault_check, "60", 0, 86400,
	       "between looks at file systems whose errors the kernel does not report; 0 none"),
	NUMBER("usage-files-per-second", usage_files_per_second, "5000", 0, 1000000,
	       "looked at to count what a directory takes, when asked; 0 none"),
	NUMBER("connections-max", connections_max, "256", 1, 65536,
	       "connections to the socket at the same time"),
	NUMBER("request-bytes-max", input_max.request_bytes, "16777216", 1024, 268435456,
	       "body of one request"),
	NUMBER("manifest-objects-max", input_max.manifest_objects, "0", 0, 1000000,
	       "objects in one manifest; 0 as memory allows"),
	NUMBER("waits-max", waits_max, "20000", 1, 1000000, "waits for pods at the same time",
	       .reloads = true),
	NUMBER("watches-max", watches_max, "1024", 1, 65536,
	       "watches of collections at the same time"),
	NUMBER("events-max", events.max, "1000", 1, 1000000,
	       "events kept; older ones are forgotten"),
	NUMBER("events-seconds-max", events.seconds_max, "604800", 60, 315360000,
	       "after an event's last occurrence it is forgotten"),
	NUMBER("idle-seconds", seconds.idle, "60", 1, 86400,
	       "until a connection's next request begins; of unread answers"),
	NUMBER("request-seconds", seconds.request, "60", 1, 86400,
	       "from a request's first line to its last byte"),
	NUMBER("holds-max", holds_max, "4096", 1, 1000000,
	       "holds of containers at the same time; a descriptor each"),
	NUMBER("objects-bytes-max", objects_bytes_max.stored, "268435456", 1048576, 1099511627776,
	       "JSON of all stored objects; more are refused"),
	NUMBER("memory-objects-bytes-max", objects_bytes_max.in_memory, "67108864", 1048576,
	       1099511627776, "the same of events and leases, which are not stored"),
	STRING("takeover", "WHAT", takeover.what, "none",
	       "none, adopt or remove: volumes that the ledger does not know; podvold(8)",
	       .implied = "adopt"),
	STRING("stuck-unmount", "HOW", stuck_unmount.how, "wait",
	       "volumes that stay in use: wait, lazy or force; podvold(8)", .reloads = true),
	NUMBER("stuck-unmount-seconds", stuck_unmount.seconds, "300", 1, 604800,
	       "after that, and not before, lazy or force is done", .reloads = true),
	STRING("drift", "POLICY", drift.policy, "heal",
	       "heal or report mounts that others changed; docs/drift.md", .reloads = true),
	STRING("csi-controllers", "WHO", csi_controllers.who, "podvol",
	       "podvol or external: who makes, attaches and grows CSI volumes"),
	FLAG("force-detach", force_detach,
	     "detach from other nodes that are not ready after six minutes"),
	FLAG("drain", drain, "unmount everything that podvold mounted, then exit",
	     .command_line_only = true),
	FLAG("hand-back", hand_back, "leave all volumes mounted, to a kubelet; then exit",
	     .command_line_only = true),
};

const size_t config_row_count = ARRAY_SIZE(config_rows);
static_assert(ARRAY_SIZE(config_rows) <= CONFIG_ROWS_MAX, "room for every option");
