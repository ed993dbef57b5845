/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs - the table of verbs and the options that they take; see verb.h
 *
 * Options stand first, those that verbs share before those of one verb. A value that needs reading
 * is read by the option's own function, so that a wrong one is refused before anything is sent.
 */
#include "cli/verb.h"

#include "base/cleanup.h"
#include "base/duration.h"

#include <limits.h>
#include <string.h>

/* ---- reading values ---- */

static bool take_format(struct cli *cli, const char *text)
{
	static const char *const names[] = {
		[OUTPUT_TABLE] = "table", [OUTPUT_WIDE] = "wide", [OUTPUT_JSON] = "json",
		[OUTPUT_YAML] = "yaml",   [OUTPUT_NAME] = "name",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], text) == 0) {
			cli->format = (enum cli_format) i;
			return true;
		}
	}
	cli_complain(cli, "--output '%s' is none of table, wide, json, yaml, name", text);
	return false;
}

static bool take_namespace(struct cli *cli, const char *text)
{
	if (*text == '\0')
		cli_complain(cli, "--namespace is empty: name one, or leave it out");
	cli->name_space = text;
	return *text != '\0';
}

static bool take_timeout(struct cli *cli, const char *text)
{
	uint64_t usec;

	if (duration_parse(text, &usec) < 0 || usec / 1000 > INT_MAX) {
		cli_complain(cli, "--timeout '%s' is no duration: write 30s, 2m or 1h", text);
		return false;
	}
	cli->timeout_msec = (unsigned int) (usec / 1000);
	return true;
}

static bool take_wait_for(struct cli *cli, const char *text)
{
	if (strcmp(text, "mounted") != 0 && strcmp(text, "unmounted") != 0) {
		cli_complain(cli, "--for '%s' is neither 'mounted' nor 'unmounted'", text);
		return false;
	}
	cli->wait_for = *text == 'm' ? PODVOL_MOUNTED : PODVOL_UNMOUNTED;
	return true;
}

/* ---- options of every verb ---- */

static const struct option_row help = { "help", 'h', NULL, "print what there is and exit",
					.word = WORD_NONE },
			       socket_path = { "socket", 0, "PATH",
					       "where the daemon listens; else $PODVOL_SOCKET, "
					       "else " PODVOL_SOCKET_DEFAULT,
					       .word = WORD_FILE },
			       list_verbs = { "list-verbs", 0, NULL, NULL, .word = WORD_NONE };

const struct option_row *const options_anywhere[] = { &help, &socket_path, &list_verbs, NULL };

/* ---- options of some ---- */

static const struct option_row output = { "output",
					  'o',
					  "FORMAT",
					  "table, wide, json, yaml or name",
					  .word = WORD_CHOICE,
					  .choices = "table wide json yaml name",
					  .take = take_format },
			       name_space = { "namespace",
					      'n',
					      "NS",
					      "of objects and pods; else 'default'",
					      .word = WORD_NAMESPACE,
					      .take = take_namespace },
			       all_namespaces = { "all-namespaces", 'A', NULL,
						  "objects of every namespace", .word = WORD_NONE },
			       filename = { "filename", 'f', "FILE",
					    "manifests, YAML or JSON; - is standard input",
					    .word = WORD_FILE },
			       wait_done = { "wait", 0, NULL,
					     "return when it is done, or say why it is not",
					     .word = WORD_NONE },
			       wait_for = { "for",
					    0,
					    "WHAT",
					    "mounted (default) or unmounted",
					    .word = WORD_CHOICE,
					    .choices = "mounted unmounted",
					    .take = take_wait_for },
			       timeout = { "timeout",
					   0,
					   "D",
					   "how long to wait: 30s (default), 2m, 1h",
					   .word = WORD_NONE,
					   .take = take_timeout },
			       direct = { "direct", 0, NULL,
					  "one volume, by its plugin, without a daemon",
					  .word = WORD_NONE },
			       root_dir = { "root-dir", 0, "DIR",
					    "whose lock --direct takes; else /var/lib/kubelet",
					    .word = WORD_DIRECTORY };

static const struct option_row server = { "server", 0, "URL",
					  "how clients reach it; else where podvold listens",
					  .word = WORD_NONE };

/* ---- verbs ---- */

#define OPTIONS(...) ((const struct option_row *const[]){ __VA_ARGS__, NULL })

const struct verb verbs[] = {
	{
		.name = "get",
		.arguments = "KIND [NAME]",
		.min = 1,
		.max = 2,
		.options = OPTIONS(&output, &name_space, &all_namespaces),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_get,
		.help = "list pods, volumes, pv, pvc, sc, events, manifests or operations",
	},
	{
		.name = "describe",
		.arguments = "KIND NAME",
		.min = 2,
		.max = 2,
		.options = OPTIONS(&name_space),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_describe,
		.help = "all that is known about a pod or a volume",
	},
	{
		.name = "mounts",
		.arguments = "POD",
		.min = 1,
		.max = 1,
		.options = OPTIONS(&output, &name_space),
		.words = { WORD_POD, WORD_NONE },
		.run = verb_mounts,
		.help = "the volumes of a pod: which path, how, since when",
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
		.name = "apply",
		.arguments = "-f FILE",
		.min = 0,
		.max = 0,
		.options = OPTIONS(&filename),
		.run = verb_apply,
		.help = "create or update the objects of a file",
	},
	{
		.name = "delete",
		.arguments = "KIND NAME",
		.min = 2,
		.max = 2,
		.options = OPTIONS(&name_space),
		.words = { WORD_KIND, WORD_NAME },
		.run = verb_delete,
		.help = "delete a stored object",
	},
	{
		.name = "events",
		.arguments = "",
		.min = 0,
		.max = 0,
		.options = OPTIONS(&output, &name_space),
		.run = verb_events,
		.help = "what happened to pods and volumes, newest last",
	},
	{
		.name = "kubeconfig",
		.arguments = "",
		.min = 0,
		.max = 0,
		.options = OPTIONS(&server),
		.run = verb_kubeconfig,
		.help = "what kubectl needs to come in by TLS, token included",
	},
	{
		.name = "version",
		.arguments = "",
		.min = 0,
		.max = 0,
		.options = OPTIONS(&output),
		.run = verb_version,
		.help = "versions of command and daemon",
	},
	{ .name = NULL },
};

/* ---- looking up ---- */

const struct verb *verb_find(const char *name)
{
	for (const struct verb *verb = verbs; verb->name; verb++)
		if (strcmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

static const struct option_row *find_option(const struct option_row *const *rows, const char *name)
{
	for (; rows && *rows; rows++)
		if (strcmp((*rows)->name, name) == 0)
			return *rows;
	return NULL;
}

const struct option_row *verb_option(const struct verb *verb, const char *name)
{
	const struct option_row *row = verb ? find_option(verb->options, name) : NULL;

	return row ? row : find_option(options_anywhere, name);
}

static bool is_among(const struct option_row *row, const struct verb *end)
{
	for (const struct verb *verb = verbs; verb != end; verb++)
		if (find_option(verb->options, row->name))
			return true;
	return false;
}

size_t options_of_all(const struct option_row **ret)
{
	size_t count = 0;

	for (const struct option_row *const *row = options_anywhere; *row; row++, count++)
		if (ret)
			ret[count] = *row;
	for (const struct verb *verb = verbs; verb->name; verb++) {
		for (const struct option_row *const *row = verb->options; *row; row++) {
			if (is_among(*row, verb))
				continue;
			if (ret)
				ret[count] = *row;
			count++;
		}
	}
	return count;
}
