/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change - small changes to stored objects: label, annotate, patch
 *
 * Labels and annotations go over as a merge patch with the version that was looked at: what
 * others changed meanwhile is a conflict and not lost.
 */
#include "cli/get.h"

#include "cli/kinds.h"

#include "base/cleanup.h"

#include <string.h>

static void say_changed(struct cli *cli, const struct get_target *target, const char *what)
{
	(void) fprintf(cli->out, "%s/", target->kind->singular);
	cli_print_text(cli->out, target->name);
	(void) fprintf(cli->out, " %s\n", what);
}

/* ---- labels and annotations ---- */

/* The first word that is "key=value" or "key-"; the number of words when there is none. */
static int first_change(const struct cli *cli)
{
	int i;

	for (i = 1; i < cli->argument_count; i++) {
		const char *word = cli->arguments[i];

		if (strchr(word, '=') || word[strlen(word) - 1] == '-')
			break;
	}
	return i;
}

/* One word into the patch. False after a complaint: another value is there. */
static bool add_change(struct cli *cli, const char *word, const struct cJSON *present,
		       struct cJSON *members)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t) (equals - word) : strlen(word) - 1;
	cleanup_free char *key = strndup(word, length);
	const char *there = json_string(json_get(present, key), NULL);

	if (!key || (!equals && word[length] != '-') || length == 0) {
		cli_complain(cli, "'%s' is neither KEY=VALUE nor KEY-", word);
		return false;
	}
	if (!equals) {
		(void) json_set_null(members, key);
		return true;
	}
	if (there && strcmp(there, equals + 1) != 0 && !cli_flag(cli, "overwrite")) {
		cli_complain(cli, "%s: '%s' is already '%s': use --overwrite to replace it",
			     cli->about, key, there);
		return false;
	}
	(void) json_set_string(members, key, equals + 1);
	return true;
}

static int change_one(struct cli *cli, const struct get_request *request,
		      const struct get_target *target, const char *map)
{
	cleanup_free char *path = get_path(request, target), *text = NULL;
	cleanup_json struct cJSON *object = NULL, *patch = json_new_object();
	struct cJSON *metadata = json_add_object(patch, "metadata");
	const struct cJSON *is;
	struct cJSON *members = json_add_object(metadata, map);
	int status;

	get_about(cli, request, target);
	status = path ? get_tree(cli, path, &object) : EXIT_FAILED;
	if (status != EXIT_DONE)
		return status;
	is = json_get(object, "metadata");
	(void) json_set_string(metadata, "resourceVersion", json_text(is, "resourceVersion"));
	for (char **word = cli->arguments + first_change(cli); *word; word++)
		if (!add_change(cli, *word, json_get(is, map), members))
			return EXIT_FAILED;
	text = json_print(patch);
	status = cli_send_patch(cli, path, TYPE_MERGE_PATCH, text);
	if (status == EXIT_DONE)
		say_changed(cli, target, strcmp(map, "labels") == 0 ? "labeled" : "annotated");
	return status;
}

static int change_all(struct cli *cli, const char *map)
{
	cleanup(get_request_done) struct get_request request = { 0 };
	int first = first_change(cli), status;
	cleanup_free char **words = calloc((size_t) first + 1, sizeof(*words));

	if (first == cli->argument_count)
		return cli_end(cli, EXIT_USAGE, "must specify KEY=VALUE, or KEY- to remove it");
	if (!words)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	memcpy(words, cli->arguments, (size_t) first * sizeof(*words));
	status = get_named_read(cli, words, &request);
	for (size_t i = 0; status == EXIT_DONE && i < request.count; i++)
		status = change_one(cli, &request, &request.wanted[i], map);
	return status;
}

int verb_label(struct cli *cli)
{
	return change_all(cli, "labels");
}

int verb_annotate(struct cli *cli)
{
	return change_all(cli, "annotations");
}

/* ---- patch ---- */

int verb_patch(struct cli *cli)
{
	static const struct {
		const char *name, *type;
	} types[] = { { "strategic", "application/strategic-merge-patch+json" },
		      { "merge", TYPE_MERGE_PATCH },
		      { "json", "application/json-patch+json" } };
	cleanup(get_request_done) struct get_request request = { 0 };
	const char *patch = cli_value(cli, "patch"), *type = cli_value(cli, "type");
	int status;

	if (!patch)
		return cli_end(cli, EXIT_USAGE, "must specify the change with -p, as JSON");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(type ? type : "strategic", types[i].name) != 0)
			continue;
		status = get_named_read(cli, cli->arguments, &request);
		for (size_t k = 0; status == EXIT_DONE && k < request.count; k++) {
			cleanup_free char *path = get_path(&request, &request.wanted[k]);

			get_about(cli, &request, &request.wanted[k]);
			status = cli_send_patch(cli, path, types[i].type, patch);
			if (status == EXIT_DONE)
				say_changed(cli, &request.wanted[k], "patched");
		}
		return status;
	}
	return cli_end(cli, EXIT_USAGE, "--type '%s' is none of strategic, merge, json", type);
}
