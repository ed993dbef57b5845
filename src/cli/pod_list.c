/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_list - the pods that wait and unmount are about: by their names, or by labels
 */
#include "cli/cli.h"

#include "cli/kinds.h"

#include "base/cleanup.h"

#include <string.h>

/* "pod/NAME" as kubectl writes it; a namespace of such a name is given by -n. */
static const char *without_kind(const char *word)
{
	static const char *const kinds[] = { "pod/", "pods/", "po/" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(word, kinds[i], strlen(kinds[i])) == 0 && word[strlen(kinds[i])])
			return word + strlen(kinds[i]);
	return word;
}

/* A uid has no namespace. */
static bool is_uid(const char *word)
{
	return strlen(word) == 36 && strspn(word, "0123456789abcdef-") == 36;
}

void cli_about_pod(struct cli *cli, const char *pod)
{
	cli_about(cli, "pod", strchr(pod, '/') || is_uid(pod) ? "" : "default", pod);
}

char *cli_pod(struct cli *cli, const char *word)
{
	char *pod;

	word = without_kind(word);
	if (!cli->name_space || strchr(word, '/'))
		pod = strdup(word);
	else if (asprintf(&pod, "%s/%s", cli->name_space, word) < 0)
		pod = NULL;
	if (pod)
		cli_about_pod(cli, pod);
	return pod;
}

void pod_list_done(struct pod_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	free(list->status);
	*list = (struct pod_list){ 0 };
}

static int make_room(struct pod_list *list, size_t count)
{
	list->names = calloc(count + 1, sizeof(*list->names));
	list->status = calloc(count + 1, sizeof(*list->status));
	return list->names && list->status ? 0 : -ENOMEM;
}

static int add_selected(struct pod_list *list, const struct podvol_table *table)
{
	int r = make_room(list, podvol_table_rows(table));

	for (size_t row = 0; r == 0 && row < podvol_table_rows(table); row++) {
		if (asprintf(&list->names[row], "%s/%s", podvol_table_row_namespace(table, row),
			     podvol_table_row_name(table, row)) < 0)
			return -ENOMEM;
		list->count++;
	}
	return r;
}

static int read_selected(struct cli *cli, const char *labels, struct pod_list *ret)
{
	cleanup_free char *escaped = podvol_escape(labels), *query = NULL, *path = NULL;
	struct podvol_table *table = NULL;
	const struct kind *kind;
	int status = kinds_find(cli, "pods", &kind), r;

	if (status != EXIT_DONE)
		return status;
	if (!escaped || asprintf(&query, "labelSelector=%s", escaped) < 0) {
		query = NULL;
		return EXIT_FAILED;
	}
	path = kinds_path(kind, cli->name_space ? cli->name_space : "default", NULL, query);
	r = path ? podvol_table_get(cli->podvol, path, &table) : -ENOMEM;
	if (r < 0)
		return cli_get_failed(cli, r);
	r = add_selected(ret, table);
	podvol_table_free(table);
	if (r == 0 && ret->count > 0)
		return EXIT_DONE;
	cli_complain(cli, r == 0 ? "no pod in namespace '%s' has labels '%s'" : "out of memory",
		     cli->name_space ? cli->name_space : "default", labels);
	return r == 0 ? EXIT_NOT_FOUND : EXIT_FAILED;
}

int pod_list_read(struct cli *cli, struct pod_list *ret)
{
	const char *labels = cli_value(cli, "selector");
	int count = cli->argument_count;

	if ((count > 0) == (labels != NULL)) {
		cli_complain(cli, labels ? "--selector cannot be combined with a name"
					 : "must specify POD... or --selector");
		return EXIT_USAGE;
	}
	if (labels)
		return read_selected(cli, labels, ret);
	if (make_room(ret, (size_t) count) < 0)
		return EXIT_FAILED;
	for (int i = 0; i < count; i++) {
		ret->names[i] = cli_pod(cli, cli->arguments[i]);
		if (!ret->names[i])
			return EXIT_FAILED;
		ret->count++;
	}
	return EXIT_DONE;
}
