/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get - verbs that show what there is: get, mounts, events, version
 */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "build-config.h"

#include <string.h>
#include <strings.h>

/* What people type after get and delete. A kind of object is one row. */
static const struct kind_word {
	const char *words[4]; /* singular, plural as in paths, short; ended by NULL */
	const char *prefix;   /* of its paths */
	bool namespaced, can_delete;
} kinds[] = {
	{ { "pod", "pods", "po" }, "/api/v1", true, true },
	{ { "persistentvolume", "persistentvolumes", "pv" }, "/api/v1", false, true },
	{ { "persistentvolumeclaim", "persistentvolumeclaims", "pvc" }, "/api/v1", true, true },
	{ { "storageclass", "storageclasses", "sc" }, "/apis/storage.k8s.io/v1", false, true },
	{ { "event", "events", "ev" }, "/api/v1", true, false },
	{ { "volume", "volumes", "vol" }, "/podvol/v1", false, false },
	{ { "operation", "operations", "op" }, "/podvol/v1", false, false },
	{ { "manifest", "manifests" }, "/podvol/v1", false, false },
};

static const struct kind_word *find_kind(struct cli *cli, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (size_t k = 0; k < ARRAY_SIZE(kinds[i].words) && kinds[i].words[k]; k++)
			if (strcasecmp(kinds[i].words[k], word) == 0)
				return &kinds[i];
	cli_complain(cli,
		     "there is no kind '%s': pods, volumes, pv, pvc, sc, events, manifests "
		     "and operations are known",
		     word);
	return NULL;
}

/* "/api/v1/namespaces/default/pods[/NAME]" */
static char *kind_path(struct cli *cli, const struct kind_word *kind, const char *name,
		       bool everywhere)
{
	cleanup_free char *name_space =
		podvol_escape(cli->name_space ? cli->name_space : "default");
	cleanup_free char *escaped = podvol_escape(name ? name : "");
	bool in_namespace = kind->namespaced && (name || !everywhere);
	char *path;

	if (!name_space || !escaped ||
	    asprintf(&path, "%s%s%s/%s%s%s", kind->prefix, in_namespace ? "/namespaces/" : "",
		     in_namespace ? name_space : "", kind->words[1], name ? "/" : "", escaped) < 0)
		return NULL;
	return path;
}

char *cli_object_path(struct cli *cli, const char *word, const char *name,
		      const char **ret_singular)
{
	const struct kind_word *kind = find_kind(cli, word);
	char *path;

	if (!kind)
		return NULL;
	if (!kind->can_delete) {
		cli_complain(cli, "'%s' is no kind of stored object", word);
		return NULL;
	}
	path = kind_path(cli, kind, name, false);
	if (!path)
		cli_complain(cli, "out of memory");
	*ret_singular = kind->words[0];
	return path;
}

char *cli_pod(struct cli *cli, const char *word)
{
	char *pod;

	if (!cli->name_space || strchr(word, '/'))
		return strdup(word);
	return asprintf(&pod, "%s/%s", cli->name_space, word) < 0 ? NULL : pod;
}

static int show_raw(struct cli *cli, const char *path, const char *type)
{
	const struct podvol_request request = { .method = "GET", .path = path, .accept = type };
	struct podvol_reply reply = { 0 };
	int r;

	r = podvol_request(cli->podvol, &request, &reply);
	if (r == 0) {
		(void) fwrite(reply.body, 1, reply.length, cli->out);
		if (reply.length > 0 && reply.body[reply.length - 1] != '\n')
			(void) fputc('\n', cli->out);
	}
	podvol_reply_done(&reply);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

/* Rows that show no object, such as volumes, are named by their unique name, or first column. */
static void print_names(struct cli *cli, const struct podvol_table *table, const char *singular)
{
	size_t unique = podvol_table_find(table, "Unique Name");

	if (unique == podvol_table_columns(table))
		unique = 0;
	for (size_t row = 0; row < podvol_table_rows(table); row++) {
		const char *name = podvol_table_row_name(table, row);

		(void) fprintf(cli->out, "%s/", singular);
		cli_print_text(cli->out, *name ? name : podvol_table_cell(table, row, unique));
		(void) fputc('\n', cli->out);
	}
}

int cli_show_path(struct cli *cli, const char *path, const char *singular, bool with_namespace)
{
	struct podvol_table *table = NULL;
	int r;

	if (cli->format == OUTPUT_JSON)
		return show_raw(cli, path, "application/json");
	if (cli->format == OUTPUT_YAML)
		return show_raw(cli, path, "application/yaml");

	r = podvol_table_get(cli->podvol, path, &table);
	if (r < 0)
		return cli_failed(cli, r);
	if (cli->format == OUTPUT_NAME)
		print_names(cli, table, singular);
	else if (podvol_table_rows(table) == 0)
		(void) fprintf(cli->err, "Nothing found.\n");
	else
		cli_print_table(cli->out, table, cli->format == OUTPUT_WIDE ? 1 : 0,
				with_namespace);
	podvol_table_free(table);
	return EXIT_DONE;
}

int verb_get(struct cli *cli)
{
	const struct kind_word *kind = find_kind(cli, cli->arguments[0]);
	bool everywhere = cli_flag(cli, "all-namespaces");
	cleanup_free char *path = NULL;

	if (!kind)
		return EXIT_USAGE;
	path = kind_path(cli, kind, cli->argument_count > 1 ? cli->arguments[1] : NULL, everywhere);
	if (!path) {
		cli_complain(cli, "out of memory");
		return EXIT_FAILED;
	}
	return cli_show_path(cli, path, kind->words[0], kind->namespaced && everywhere);
}

/* The volumes of one pod: what a runtime has to bind where. */
int verb_mounts(struct cli *cli)
{
	cleanup_free char *pod = cli_pod(cli, cli->arguments[0]), *path = NULL;
	cleanup_free char *name = NULL, *name_space = NULL;
	char *slash = pod ? strchr(pod, '/') : NULL;

	if (slash)
		*slash = '\0';
	name_space = podvol_escape(slash ? pod : "");
	name = podvol_escape(slash ? slash + 1 : pod);
	if (!name || !name_space ||
	    asprintf(&path, "/podvol/v1/pods/%s%s%s/volumes", name_space, slash ? "/" : "", name) <
		    0) {
		path = NULL;
		cli_complain(cli, "out of memory");
		return EXIT_FAILED;
	}
	return cli_show_path(cli, path, "volume", false);
}

/* What happened anywhere, unless a namespace is named. */
int verb_events(struct cli *cli)
{
	cleanup_free char *path = NULL;

	path = kind_path(cli, find_kind(cli, "events"), NULL, !cli->name_space);
	if (!path) {
		cli_complain(cli, "out of memory");
		return EXIT_FAILED;
	}
	return cli_show_path(cli, path, "event", !cli->name_space);
}

/* The command's own version is told also when nobody answers. */
int verb_version(struct cli *cli)
{
	if (cli->format != OUTPUT_JSON && cli->format != OUTPUT_YAML) {
		(void) fprintf(cli->out, "podvolctl %s\n", PACKAGE_VERSION);
		(void) fflush(cli->out);
	}
	return cli_show_path(cli, "/podvol/v1/version", "version", false);
}
