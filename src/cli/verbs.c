/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs - the table of verbs and the options that they take; see verb.h
 *
 * Options stand first, those that verbs share before those of one verb. A value that needs reading
 * is read by the option's own function in option_values.c.
 */
#include "cli/verb.h"

/* Letter or 0, name, help; then what is not usual. */
#define FLAG(row, letter_, name_, ...)                                                             \
	static const struct option_row row = { .letter = letter_,                                  \
					       .name = name_,                                      \
					       .help = __VA_ARGS__ }
/* The same with the value as help calls it. */
#define VALUE(row, letter_, name_, value_, ...)                                                    \
	static const struct option_row row = {                                                     \
		.letter = letter_, .name = name_, .value = value_, .help = __VA_ARGS__             \
	}
#define CHOICES(words) .word = WORD_CHOICE, .choices = words

/* ---- options of every verb ---- */

FLAG(help, 'h', "help", "show help and exit");
VALUE(socket_path, 0, "socket", "PATH",
      "where the daemon listens; else $PODVOL_SOCKET, else " PODVOL_SOCKET_DEFAULT,
      .word = WORD_FILE, .take = option_take_socket);
static const struct option_row list_verbs = {
	.name = "list-verbs",
};

FLAG(version, 0, "version", "show the version of podvolctl and exit");
FLAG(no_pager, 0, "no-pager", "never show what is longer than the terminal by a pager");

const struct option_row *const options_anywhere[] = { &help,        &version,    &no_pager,
						      &socket_path, &list_verbs, NULL };

/* ---- options of some ---- */

VALUE(output, 'o', "output", "FORMAT", "table, wide, json, yaml or name",
      CHOICES("table wide json yaml name"), .take = option_take_format);
VALUE(output_any, 'o', "output", "FORMAT",
      "table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:.path,...",
      CHOICES("table wide json yaml name jsonpath= custom-columns="),
      .take = option_take_any_format);
VALUE(output_tree, 'o', "output", "FORMAT", "json (default) or yaml", CHOICES("json yaml"),
      .take = option_take_tree_format);
VALUE(output_wide, 'o', "output", "FORMAT", "wide: a terminal cuts no names and paths",
      CHOICES("wide"), .take = option_take_wide);
VALUE(endpoint, 0, "endpoint", "PATH", "the driver's own socket, without a daemon",
      .word = WORD_FILE);
VALUE(name_space, 'n', "namespace", "NS", "of objects and pods; else 'default'",
      .word = WORD_NAMESPACE, .take = option_take_namespace);
FLAG(all_namespaces, 'A', "all-namespaces", "objects of every namespace");
VALUE(selector, 'l', "selector", "LABELS", "objects with these labels: app=web,tier!=db");
VALUE(pod_selector, 'l', "selector", "LABELS", "pods of the namespace with these labels: app=web");
VALUE(field_selector, 0, "field-selector", "FIELDS",
      "objects with these fields: spec.nodeName=a; rows of views: state!=mounted");
VALUE(sort_by, 0, "sort-by", "PATH", "sort by a field: .metadata.name, of a view .state");
FLAG(no_headers, 0, "no-headers", "tables without their heading", .take = option_take_no_headers);
FLAG(show_labels, 0, "show-labels", "tables with the objects' labels",
     .take = option_take_show_labels);
VALUE(role, 0, "role", "ROLE", "view (default), edit, operator or admin",
      CHOICES("view edit operator admin"));
VALUE(expires, 0, "expires", "DURATION", "lifetime of the token: 12h");
FLAG(watch, 'w', "watch", "list, then watch for changes until interrupted");
FLAG(watch_only, 0, "watch-only", "watch for changes without listing first");
VALUE(filename, 'f', "filename", "FILE", "manifests, YAML or JSON; - is standard input",
      .word = WORD_FILE);
VALUE(node_file, 0, "node", "FILE", "manifest of another Node", .word = WORD_FILE);
VALUE(filenames, 'f', "filename", "FILE",
      "manifests, or directories of them; - is standard input; may be repeated", .word = WORD_FILE);
FLAG(recursive, 'R', "recursive", "also files in subdirectories");
FLAG(ignore_not_found, 0, "ignore-not-found", "objects that do not exist count as deleted");
FLAG(all, 0, "all", "every object of the kinds");
FLAG(overwrite, 0, "overwrite", "replace values that exist");
VALUE(patch_text, 'p', "patch", "JSON", "the change, as --type says");
VALUE(patch_type, 0, "type", "TYPE", "strategic (default), merge or json",
      CHOICES("strategic merge json"));
FLAG(wait_done, 0, "wait", "wait until it is done, or say why it is not");
VALUE(wait_for, 0, "for", "WHAT", "mounted (default) or unmounted", CHOICES("mounted unmounted"),
      .take = option_take_wait_for);
VALUE(for_pod, 0, "for", "POD|KIND/NAME", "events of this pod or object only", .word = WORD_POD);
VALUE(timeout, 0, "timeout", "D", "how long to wait: 30s (default), 2m, 1h",
      .take = option_take_timeout);
VALUE(interval, 0, "interval", "D", "how often top looks: 2s (default), 1m; a second at least");
FLAG(direct, 0, "direct", "one volume, by its plugin, without a daemon");
VALUE(root_dir, 0, "root-dir", "DIR", "whose lock --direct takes; else /var/lib/kubelet",
      .word = WORD_DIRECTORY);

VALUE(server, 0, "server", "URL", "how clients reach it; else where podvold listens");
VALUE(token_name, 0, "token-name", "NAME", "make a token for it; else admin's");
FLAG(directory, 0, "directory", "VOLUME is a directory; without a daemon");
VALUE(since_snapshot, 0, "since", "SNAPSHOT",
      "only what changed since: a VolumeSnapshot, or its directory", .word = WORD_FREE);
FLAG(with_devices, 0, "devices", "device files, too");
FLAG(with_links_out, 0, "links-out", "symbolic links that lead out of the volume, too");
FLAG(with_setuid, 0, "setuid",
     "setuid and setgid bits, file capabilities, security and trusted attributes, too");
FLAG(into_content, 0, "overwrite",
     "into a volume that is not empty; files of the same name are replaced");
FLAG(into_used, 0, "in-use", "also a volume that is mounted somewhere");

VALUE(move_to, 0, "to", "CLASS|PATH", "a StorageClass of podvol/local, or a new directory",
      .word = WORD_DIRECTORY);
FLAG(dry_run, 0, "dry-run", "only print what would be done, or why it cannot be");
VALUE(move_timeout, 0, "timeout", "D", "how long to wait: 2m, 1h; without end by default",
      .take = option_take_timeout);

VALUE(container, 'c', "container", "NAME", "of the pod");
VALUE(pid, 0, "pid", "N", "its process; the hold ends with it");
VALUE(cgroup, 0, "cgroup", "PATH", "its cgroup, version 2; the hold ends with its last process",
      .word = WORD_DIRECTORY);

VALUE(user_namespace, 0, "user-namespace", "FIRST:COUNT",
      "host ids of the pod's sandbox, for format cri");
VALUE(mounts_format, 0, "format", "F",
      "table, wide, json, oci, cri, podman, kube, docker or nspawn",
      CHOICES("table wide json oci cri podman kube docker nspawn"));

/* ---- verbs ---- */

#define OPTIONS(...)                                                                               \
	.options = (const struct option_row *const[])                                              \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define WORDS(...) .words = { __VA_ARGS__ }
/* As help writes its arguments, the least and the greatest number of them (-1: any), help. */
#define VERB(name_, arguments_, min_, max_, run_, ...)                                             \
	{                                                                                          \
		.name = name_, .arguments = arguments_, .min = min_, .max = max_, .run = run_,     \
		.help = __VA_ARGS__                                                                \
	}

const struct verb verbs[] = {
	VERB("get", "KIND[,KIND...] [NAME...] | KIND/NAME...", 1, -1, verb_get,
	     "list objects, or volumes, operations and manifests; see 'kinds'",
	     OPTIONS(&output_any, &name_space, &all_namespaces, &selector, &field_selector,
		     &sort_by, &watch, &watch_only, &no_headers, &show_labels),
	     WORDS(WORD_KIND, WORD_NAME), .is_paged = true),
	VERB("describe", "KIND NAME... | KIND/NAME... | PATH", 1, -1, verb_describe,
	     "show details of pods, volumes or any objects, or of what is at a path or device",
	     OPTIONS(&name_space, &output_wide), WORDS(WORD_KIND, WORD_NAME), .is_paged = true),
	VERB("tree", "[POD | PATH]", 0, 1, verb_tree,
	     "show directory or device, volume, claim, pod, container and process as a tree",
	     OPTIONS(&name_space), WORDS(WORD_POD, WORD_NONE), .is_paged = true),
	VERB("explain-state", "POD | VOLUME | CLAIM", 1, 1, verb_explain_state,
	     "show desired and actual state, what blocks it and what happens next",
	     OPTIONS(&name_space, &output_wide), WORDS(WORD_POD, WORD_NONE), .is_paged = true),
	VERB("top", "", 0, 0, verb_top,
	     "show operations, rates and how full volumes are, until interrupted",
	     OPTIONS(&interval, &no_headers)),
	VERB("analyze", "blame [POD] | critical-chain POD | plot POD", 1, 2, verb_analyze,
	     "show which steps took how long, what a pod waited for, or both as an SVG",
	     OPTIONS(&name_space, &no_headers), WORDS(WORD_CHOICE, WORD_POD, WORD_NONE),
	     .choices = "blame critical-chain plot", .is_paged = true),
	VERB("drivers", "[NAME]", 0, 1, verb_drivers,
	     "CSI drivers and volume plugins: state, socket, node id, last error",
	     OPTIONS(&output, &no_headers), WORDS(WORD_DRIVER), .is_paged = true),
	VERB("mounts", "POD", 1, 1, verb_mounts,
	     "show the mounts and devices for a pod's containers",
	     OPTIONS(&container, &mounts_format, &user_namespace, &name_space, &wait_done,
		     &timeout),
	     WORDS(WORD_POD, WORD_NONE), .is_paged = true),
	VERB("mount", "-f FILE | --direct -f FILE TARGET", 0, 1, verb_mount,
	     "store claims and volumes of a file, then its pods, which mounts them",
	     OPTIONS(&filename, &wait_done, &timeout, &direct, &root_dir),
	     WORDS(WORD_DIRECTORY, WORD_NONE), .without_daemon = "direct"),
	VERB("unmount", "POD... | -l LABELS | --direct TARGET", 0, -1, verb_unmount,
	     "delete pods, so that their volumes are unmounted",
	     OPTIONS(&name_space, &pod_selector, &wait_done, &timeout, &direct, &root_dir),
	     WORDS(WORD_POD, WORD_NONE), .without_daemon = "direct"),
	VERB("wait", "POD... | -l LABELS", 0, -1, verb_wait,
	     "return when the volumes of pods are mounted, or gone",
	     OPTIONS(&name_space, &pod_selector, &wait_for, &timeout), WORDS(WORD_POD, WORD_NONE)),
	VERB("unit-name", "POD", 1, 1, verb_unit_name,
	     "print the systemd unit that is active once a pod's volumes are mounted",
	     OPTIONS(&name_space), WORDS(WORD_POD, WORD_NONE), .without_daemon = ""),
	VERB("hold", "POD --container NAME [--pid N | --cgroup PATH]", 1, 1, verb_hold,
	     "keep a pod's volumes mounted while a container of it lives",
	     OPTIONS(&name_space, &container, &pid, &cgroup), WORDS(WORD_POD, WORD_NONE)),
	VERB("release", "POD ID", 2, 2, verb_release, "end a hold, by the id that hold printed",
	     OPTIONS(&name_space), WORDS(WORD_POD, WORD_NONE)),
	VERB("force-unstage", "VOLUME", 1, 1, verb_force_unstage,
	     "unstage past mounts of local users' processes outside of containers", OPTIONS(NULL),
	     WORDS(WORD_FREE)),
	VERB("check", "-f FILE [--node FILE]", 0, 0, verb_check,
	     "check whether a pod could have its volumes on a node", OPTIONS(&filename, &node_file),
	     .is_paged = true),
	VERB("doctor", "", 0, 0, verb_doctor,
	     "check what podvold needs of this node, and say what to do", OPTIONS(NULL),
	     .is_paged = true),
	VERB("report", "[POD]", 0, 1, verb_report,
	     "print one HTML file for a ticket: states, tree, events, configuration",
	     OPTIONS(&name_space), WORDS(WORD_POD, WORD_NONE)),
	VERB("apply", "-f FILE...", 0, 0, verb_apply, "create or update the objects of files",
	     OPTIONS(&filenames, &recursive)),
	VERB("delete",
	     "KIND NAME... | KIND/NAME... | KIND[,KIND...] --all | KIND[,KIND...] -l LABELS | -f "
	     "FILE...",
	     0, -1, verb_delete, "delete stored objects, by name or as files name them",
	     OPTIONS(&filenames, &recursive, &name_space, &ignore_not_found, &all, &selector),
	     WORDS(WORD_KIND, WORD_NAME)),
	VERB("edit", "KIND NAME | KIND/NAME", 1, 2, verb_edit,
	     "change an object in $VISUAL, $EDITOR or vi", OPTIONS(&name_space),
	     WORDS(WORD_KIND, WORD_NAME)),
	VERB("label", "KIND NAME... | KIND/NAME... KEY=VALUE|KEY-...", 2, -1, verb_label,
	     "set and remove labels", OPTIONS(&name_space, &overwrite),
	     WORDS(WORD_KIND, WORD_NAME)),
	VERB("annotate", "KIND NAME... | KIND/NAME... KEY=VALUE|KEY-...", 2, -1, verb_annotate,
	     "set and remove annotations", OPTIONS(&name_space, &overwrite),
	     WORDS(WORD_KIND, WORD_NAME)),
	VERB("patch", "KIND NAME... | KIND/NAME... -p JSON", 1, -1, verb_patch,
	     "change fields of an object", OPTIONS(&name_space, &patch_text, &patch_type),
	     WORDS(WORD_KIND, WORD_NAME)),
	VERB("events", "", 0, 0, verb_events, "show events of pods and volumes, newest last",
	     OPTIONS(&output, &name_space, &all_namespaces, &for_pod, &watch, &watch_only,
		     &no_headers, &show_labels),
	     .is_paged = true),
	VERB("history", "POD | CLAIM | VOLUME | PATH", 1, 1, verb_history,
	     "show what happened to a pod, claim or volume and to those joined with it",
	     OPTIONS(&name_space, &no_headers), WORDS(WORD_POD, WORD_NONE), .is_paged = true),
	VERB("csi", "call DRIVER | --endpoint PATH  METHOD [JSON | @FILE | -]", 2, 4, verb_csi,
	     "make any RPC to a CSI driver and print its reply",
	     OPTIONS(&endpoint, &output_tree, &timeout), WORDS(WORD_CHOICE, WORD_DRIVER, WORD_FREE),
	     .choices = "call", .without_daemon = "endpoint"),
	VERB("plugin", "test NAME DIRECTORY [-f FILE]", 3, 3, verb_plugin,
	     "try an executable plugin: one volume's life, below a directory", OPTIONS(&filename),
	     WORDS(WORD_CHOICE, WORD_FREE, WORD_DIRECTORY), .choices = "test",
	     .without_daemon = ""),
	VERB("backup", "VOLUME | pvc/CLAIM | vs/SNAPSHOT | --directory DIR [PART...]", 1, -1,
	     verb_backup,
	     "write what is in a local volume, or changed in it, to standard output, as a tar "
	     "archive",
	     OPTIONS(&name_space, &directory, &since_snapshot), WORDS(WORD_FREE, WORD_FILE),
	     .without_daemon = "directory"),
	VERB("restore", "VOLUME | pvc/CLAIM | --directory DIR [PART...]", 1, -1, verb_restore,
	     "fill a local volume from a tar archive on standard input, or from parts in order",
	     OPTIONS(&name_space, &directory, &into_content, &into_used, &with_devices,
		     &with_links_out, &with_setuid, &timeout),
	     WORDS(WORD_FREE, WORD_FILE), .without_daemon = "directory"),
	VERB("move", "VOLUME | pvc/CLAIM --to CLASS|PATH", 1, 1, verb_move,
	     "move a claim's data to a new volume of another StorageClass, or at a path",
	     OPTIONS(&name_space, &move_to, &dry_run, &move_timeout), WORDS(WORD_FREE)),
	VERB("kubeconfig", "", 0, 0, verb_kubeconfig,
	     "print a kubeconfig with address, certificate and token",
	     OPTIONS(&server, &token_name, &role, &expires)),
	VERB("token", "create NAME | list | revoke NAME", 1, 2, verb_token,
	     "tokens of TLS clients: each has a role, and may expire",
	     OPTIONS(&role, &expires, &output), WORDS(WORD_CHOICE, WORD_FREE),
	     .choices = "create list revoke"),
	VERB("renew-token-key", "", 0, 0, verb_renew_token_key,
	     "sign service accounts' tokens with a new key from now on", OPTIONS(NULL)),
	VERB("kinds", "", 0, 0, verb_kinds, "list kinds and their short names",
	     OPTIONS(&no_headers), .is_paged = true),
	VERB("completion", "bash | zsh | fish", 1, 1, verb_completion,
	     "print the shell completion script", OPTIONS(NULL), WORDS(WORD_CHOICE),
	     .choices = "bash zsh fish", .without_daemon = ""),
	VERB("help", "[VERB]", 0, 1, verb_help, "show what a verb does and takes", OPTIONS(NULL),
	     WORDS(WORD_VERB, WORD_NONE), .without_daemon = "", .is_paged = true),
	VERB("version", "", 0, 0, verb_version, "show versions of command and daemon",
	     OPTIONS(&output)),
	{ .name = NULL },
};
