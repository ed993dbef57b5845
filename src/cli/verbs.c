/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs - the table of verbs and the options that they take; see verb.h
 *
 * Options stand first, those that verbs share before those of one verb. A value that needs reading
 * is read by the option's own function in option_values.c.
 */
#include "cli/verb.h"

#include "base/cleanup.h"

/* ---- options of every verb ---- */

static const struct option_row help = {
	.name = "help",
	.letter = 'h',
	.help = "print what there is and exit",
};
static const struct option_row socket_path = {
	.name = "socket",
	.value = "PATH",
	.take = option_take_socket,
	.help = "where the daemon listens; else $PODVOL_SOCKET, else " PODVOL_SOCKET_DEFAULT,
	.word = WORD_FILE,
};
static const struct option_row list_verbs = {
	.name = "list-verbs",
};

const struct option_row *const options_anywhere[] = { &help, &socket_path, &list_verbs, NULL };

/* ---- options of some ---- */

static const struct option_row output = {
	.name = "output",
	.letter = 'o',
	.value = "FORMAT",
	.help = "table, wide, json, yaml or name",
	.word = WORD_CHOICE,
	.choices = "table wide json yaml name",
	.take = option_take_format,
};
static const struct option_row output_any = {
	.name = "output",
	.letter = 'o',
	.value = "FORMAT",
	.help = "table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:.path,...",
	.word = WORD_CHOICE,
	.choices = "table wide json yaml name jsonpath= custom-columns=",
	.take = option_take_any_format,
};
static const struct option_row output_tree = {
	.name = "output",
	.letter = 'o',
	.value = "FORMAT",
	.help = "json (default) or yaml",
	.word = WORD_CHOICE,
	.choices = "json yaml",
	.take = option_take_tree_format,
};
static const struct option_row endpoint = {
	.name = "endpoint",
	.value = "PATH",
	.help = "the driver's own socket, without a daemon",
	.word = WORD_FILE,
};
static const struct option_row name_space = {
	.name = "namespace",
	.letter = 'n',
	.value = "NS",
	.help = "of objects and pods; else 'default'",
	.word = WORD_NAMESPACE,
	.take = option_take_namespace,
};
static const struct option_row all_namespaces = {
	.name = "all-namespaces",
	.letter = 'A',
	.help = "objects of every namespace",
};
static const struct option_row selector = {
	.name = "selector",
	.letter = 'l',
	.value = "LABELS",
	.help = "objects with these labels: app=web,tier!=db",
};
static const struct option_row field_selector = {
	.name = "field-selector",
	.value = "FIELDS",
	.help = "objects with these fields: spec.nodeName=a",
};
static const struct option_row sort_by = {
	.name = "sort-by",
	.value = "PATH",
	.help = "in the order of a field: .metadata.name",
};
static const struct option_row role = { .name = "role",
					.value = "ROLE",
					.help = "view (default), edit, operator or admin",
					.word = WORD_CHOICE,
					.choices = "view edit operator admin" };
static const struct option_row expires = { .name = "expires",
					   .value = "DURATION",
					   .help = "after that the token opens nothing: 12h" };
static const struct option_row watch = {
	.name = "watch",
	.letter = 'w',
	.help = "then every change, until interrupted",
};
static const struct option_row watch_only = {
	.name = "watch-only",
	.help = "changes only, not what is there already",
};
static const struct option_row filename = {
	.name = "filename",
	.letter = 'f',
	.value = "FILE",
	.help = "manifests, YAML or JSON; - is standard input",
	.word = WORD_FILE,
};
static const struct option_row node_file = { "node", .value = "FILE",
					     .help = "manifest of another Node",
					     .word = WORD_FILE };
static const struct option_row filenames = {
	.name = "filename",
	.letter = 'f',
	.value = "FILE",
	.help = "manifests, or directories of them; - is standard input; may be repeated",
	.word = WORD_FILE,
};
static const struct option_row recursive = {
	.name = "recursive",
	.letter = 'R',
	.help = "files of the directories below, too",
};
static const struct option_row ignore_not_found = {
	.name = "ignore-not-found",
	.help = "what is not there counts as deleted",
};
static const struct option_row all = { .name = "all", .help = "every object of the kinds" };
static const struct option_row overwrite = {
	.name = "overwrite",
	.help = "also what has another value already",
};
static const struct option_row patch_text = {
	.name = "patch",
	.letter = 'p',
	.value = "JSON",
	.help = "the change, as --type says",
};
static const struct option_row patch_type = {
	.name = "type",
	.value = "TYPE",
	.help = "strategic (default), merge or json",
	.word = WORD_CHOICE,
	.choices = "strategic merge json",
};
static const struct option_row wait_done = {
	.name = "wait",
	.help = "return when it is done, or say why it is not",
};
static const struct option_row wait_for = {
	.name = "for",
	.value = "WHAT",
	.help = "mounted (default) or unmounted",
	.word = WORD_CHOICE,
	.choices = "mounted unmounted",
	.take = option_take_wait_for,
};
static const struct option_row for_pod = {
	.name = "for",
	.value = "POD",
	.help = "events of this pod only",
	.word = WORD_POD,
};
static const struct option_row timeout = {
	.name = "timeout",
	.value = "D",
	.help = "how long to wait: 30s (default), 2m, 1h",
	.take = option_take_timeout,
};
static const struct option_row direct = {
	.name = "direct",
	.help = "one volume, by its plugin, without a daemon",
};
static const struct option_row root_dir = {
	.name = "root-dir",
	.value = "DIR",
	.help = "whose lock --direct takes; else /var/lib/kubelet",
	.word = WORD_DIRECTORY,
};

static const struct option_row server = {
	.name = "server",
	.value = "URL",
	.help = "how clients reach it; else where podvold listens",
};
static const struct option_row token_name = { .name = "token-name",
					      .value = "NAME",
					      .help = "make a token for it; else admin's" };
static const struct option_row directory = {
	.name = "directory",
	.help = "VOLUME is a directory; without a daemon",
};
static const struct option_row with_devices = {
	.name = "devices",
	.help = "device files, too",
};
static const struct option_row with_links_out = {
	.name = "links-out",
	.help = "symbolic links that lead out of the volume, too",
};
static const struct option_row with_setuid = {
	.name = "setuid",
	.help = "setuid and setgid bits of files, and file capabilities, too",
};
static const struct option_row into_content = {
	.name = "overwrite",
	.help = "into a volume that is not empty; files of the same name are replaced",
};
static const struct option_row into_used = {
	.name = "in-use",
	.help = "also a volume that is mounted somewhere",
};

static const struct option_row container = {
	.name = "container",
	.letter = 'c',
	.value = "NAME",
	.help = "of the pod",
};
static const struct option_row pid = {
	.name = "pid",
	.value = "N",
	.help = "its process; the hold ends with it",
};
static const struct option_row cgroup = {
	.name = "cgroup",
	.value = "PATH",
	.help = "its cgroup, version 2; the hold ends with its last process",
	.word = WORD_DIRECTORY,
};

static const struct option_row user_namespace = {
	.name = "user-namespace",
	.value = "FIRST:COUNT",
	.help = "host ids of the pod's sandbox, for format cri",
};
static const struct option_row mounts_format = {
	.name = "format",
	.value = "F",
	.help = "table, wide, json, oci, cri, podman, docker or nspawn",
	.word = WORD_CHOICE,
	.choices = "table wide json oci cri podman docker nspawn",
};

/* ---- verbs ---- */

#define OPTIONS(...) ((const struct option_row *const[]){ __VA_ARGS__, NULL })

const struct verb verbs[] = {
	{
		.name = "get",
		.arguments = "KIND[,KIND...] [NAME...] | KIND/NAME...",
		.min = 1,
		.max = -1,
		.options = OPTIONS(&output_any, &name_space, &all_namespaces, &selector,
				   &field_selector, &sort_by, &watch, &watch_only),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_get,
		.help = "list objects, or volumes, operations and manifests; see 'kinds'",
	},
	{
		.name = "describe",
		.arguments = "KIND NAME... | KIND/NAME...",
		.min = 1,
		.max = -1,
		.options = OPTIONS(&name_space),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_describe,
		.help = "all that is known about pods, volumes or any objects",
	},
	{
		.name = "explain-state",
		.arguments = "POD | VOLUME | CLAIM",
		.min = 1,
		.max = 1,
		.options = OPTIONS(&name_space),
		.words = { WORD_POD, WORD_NONE },
		.run = verb_explain_state,
		.help = "what is wanted, what is, what blocks it and what happens next",
	},
	{
		.name = "drivers",
		.arguments = "[NAME]",
		.min = 0,
		.max = 1,
		.options = OPTIONS(&output),
		.words = { WORD_DRIVER },
		.run = verb_drivers,
		.help = "CSI drivers and volume plugins: state, socket, node id, last error",
	},
	{
		.name = "mounts",
		.arguments = "POD",
		.min = 1,
		.max = 1,
		.options = OPTIONS(&container, &mounts_format, &user_namespace, &name_space,
				   &wait_done, &timeout),
		.words = { WORD_POD, WORD_NONE },
		.run = verb_mounts,
		.help = "what the containers of a pod are to be given: mounts and devices",
	},
	{
		.name = "mount",
		.arguments = "-f FILE | --direct -f FILE TARGET",
		.min = 0,
		.max = 1,
		.options = OPTIONS(&filename, &wait_done, &timeout, &direct, &root_dir),
		.words = { WORD_DIRECTORY, WORD_NONE },
		.run = verb_mount,
		.without_daemon = "direct",
		.help = "store claims and volumes of a file, then its pods, which mounts them",
	},
	{
		.name = "unmount",
		.arguments = "POD | --direct TARGET",
		.min = 1,
		.max = 1,
		.options = OPTIONS(&name_space, &wait_done, &timeout, &direct, &root_dir),
		.words = { WORD_POD, WORD_NONE },
		.run = verb_unmount,
		.without_daemon = "direct",
		.help = "delete a pod, so that its volumes are unmounted",
	},
	{
		.name = "wait",
		.arguments = "POD",
		.min = 1,
		.max = 1,
		.options = OPTIONS(&name_space, &wait_for, &timeout),
		.words = { WORD_POD, WORD_NONE },
		.run = verb_wait,
		.help = "return when a pod's volumes are mounted, or gone",
	},
	{
		.name = "hold",
		.arguments = "POD --container NAME [--pid N | --cgroup PATH]",
		.min = 1,
		.max = 1,
		.options = OPTIONS(&name_space, &container, &pid, &cgroup),
		.words = { WORD_POD, WORD_NONE },
		.run = verb_hold,
		.help = "keep a pod's volumes mounted while a container of it lives",
	},
	{
		.name = "release",
		.arguments = "POD ID",
		.min = 2,
		.max = 2,
		.options = OPTIONS(&name_space),
		.words = { WORD_POD, WORD_NONE },
		.run = verb_release,
		.help = "end a hold, by the id that hold printed",
	},
	{
		.name = "force-unstage",
		.arguments = "VOLUME",
		.min = 1,
		.max = 1,
		.options = OPTIONS(NULL),
		.words = { WORD_FREE },
		.run = verb_force_unstage,
		.help = "unstage past mounts of local users' processes outside of containers",
	},
	{
		.name = "check",
		.arguments = "-f FILE [--node FILE]",
		.min = 0,
		.max = 0,
		.options = OPTIONS(&filename, &node_file),
		.run = verb_check,
		.help = "could a pod have its volumes on a node, and why not",
	},
	{
		.name = "apply",
		.arguments = "-f FILE...",
		.min = 0,
		.max = 0,
		.options = OPTIONS(&filenames, &recursive),
		.run = verb_apply,
		.help = "create or update the objects of files",
	},
	{
		.name = "delete",
		.arguments = "KIND NAME... | KIND/NAME... | KIND[,KIND...] --all | -f FILE...",
		.min = 0,
		.max = -1,
		.options = OPTIONS(&filenames, &recursive, &name_space, &ignore_not_found, &all),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_delete,
		.help = "delete stored objects, by name or as files name them",
	},
	{
		.name = "edit",
		.arguments = "KIND NAME | KIND/NAME",
		.min = 1,
		.max = 2,
		.options = OPTIONS(&name_space),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_edit,
		.help = "change an object in $VISUAL, $EDITOR or vi",
	},
	{
		.name = "label",
		.arguments = "KIND NAME... | KIND/NAME... KEY=VALUE|KEY-...",
		.min = 2,
		.max = -1,
		.options = OPTIONS(&name_space, &overwrite),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_label,
		.help = "set and take away labels",
	},
	{
		.name = "annotate",
		.arguments = "KIND NAME... | KIND/NAME... KEY=VALUE|KEY-...",
		.min = 2,
		.max = -1,
		.options = OPTIONS(&name_space, &overwrite),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_annotate,
		.help = "set and take away annotations",
	},
	{
		.name = "patch",
		.arguments = "KIND NAME... | KIND/NAME... -p JSON",
		.min = 1,
		.max = -1,
		.options = OPTIONS(&name_space, &patch_text, &patch_type),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_patch,
		.help = "change fields of an object",
	},
	{ .name = "events",
	  .arguments = "",
	  .min = 0,
	  .max = 0,
	  .options = OPTIONS(&output, &name_space, &all_namespaces, &for_pod, &watch, &watch_only),
	  .run = verb_events,
	  .help = "what happened to pods and volumes, newest last" },
	{ .name = "csi",
	  .arguments = "call DRIVER | --endpoint PATH  METHOD [JSON | @FILE | -]",
	  .min = 2,
	  .max = 4,
	  .options = OPTIONS(&endpoint, &output_tree, &timeout),
	  .words = { WORD_CHOICE, WORD_DRIVER, WORD_FREE },
	  .choices = "call",
	  .run = verb_csi,
	  .without_daemon = "endpoint",
	  .help = "make any RPC to a CSI driver and print its reply" },
	{ .name = "backup",
	  .arguments = "VOLUME | pvc/CLAIM | --directory DIR",
	  .min = 1,
	  .max = 1,
	  .options = OPTIONS(&name_space, &directory),
	  .run = verb_backup,
	  .without_daemon = "directory",
	  .help = "write what is in a local volume to standard output, as a tar archive" },
	{ .name = "restore",
	  .arguments = "VOLUME | pvc/CLAIM | --directory DIR",
	  .min = 1,
	  .max = 1,
	  .options = OPTIONS(&name_space, &directory, &into_content, &into_used, &with_devices,
			     &with_links_out, &with_setuid),
	  .run = verb_restore,
	  .without_daemon = "directory",
	  .help = "fill a local volume from a tar archive on standard input" },
	{ .name = "kubeconfig",
	  .arguments = "",
	  .min = 0,
	  .max = 0,
	  .options = OPTIONS(&server, &token_name, &role, &expires),
	  .run = verb_kubeconfig,
	  .help = "what kubectl needs to come in by TLS, token included" },
	{ .name = "token",
	  .arguments = "create NAME | list | revoke NAME",
	  .min = 1,
	  .max = 2,
	  .options = OPTIONS(&role, &expires, &output),
	  .words = { WORD_CHOICE, WORD_FREE },
	  .choices = "create list revoke",
	  .run = verb_token,
	  .help = "tokens of TLS clients: each has a role, and may expire" },
	{ .name = "renew-token-key",
	  .arguments = "",
	  .min = 0,
	  .max = 0,
	  .options = OPTIONS(NULL),
	  .run = verb_renew_token_key,
	  .help = "sign service accounts' tokens with a new key from now on" },
	{ .name = "kinds",
	  .arguments = "",
	  .min = 0,
	  .max = 0,
	  .options = OPTIONS(NULL),
	  .run = verb_kinds,
	  .help = "the kinds that can be named, and their short names" },
	{ .name = "completion",
	  .arguments = "bash | zsh | fish",
	  .min = 1,
	  .max = 1,
	  .options = OPTIONS(NULL),
	  .words = { WORD_CHOICE },
	  .choices = "bash zsh fish",
	  .run = verb_completion,
	  .without_daemon = "",
	  .help = "the script by which a shell completes podvolctl's words" },
	{ .name = "version",
	  .arguments = "",
	  .min = 0,
	  .max = 0,
	  .options = OPTIONS(&output),
	  .run = verb_version,
	  .help = "versions of command and daemon" },
	{ .name = NULL },
};
