/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_list - the pods that wait and unmount are about: by their names, their units or labels;
 * the unit of a pod
 */
#include "cli/pod_wait.h"

#include "cli/kinds.h"
#include "cli/verb.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

/* A uid has no namespace. */
static bool is_uid(const char *word)
{
	return strlen(word) == 36 && strspn(word, "0123456789abcdef-") == 36;
}

void cli_about_pod(struct cli *cli, const char *pod)
{
	cli_about(cli, "pod", strchr(pod, '/') || is_uid(pod) ? "" : "default", pod);
}

char *cli_full_pod(const char *pod)
{
	return strchr(pod, '/') || is_uid(pod) ? strdup(pod) : new_text("default/%s", pod);
}

int cli_pod(struct cli *cli, const char *word, char **ret)
{
	struct kind kind;
	const char *name = kind_of_word(word, &kind);
	char *pod;

	if (name && strcmp(kind.name, "Pod") != 0)
		return cli_end(cli, EXIT_USAGE,
			       "'%s' takes no %s: for a pod in namespace '%.*s' use -n",
			       cli->verb->name, kind.singular, (int) (name - word - 1), word);
	word = name ?: word;
	pod = cli->name_space && !strchr(word, '/') ? new_text("%s/%s", cli->name_space, word)
						    : strdup(word);
	if (!pod)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	cli_about_pod(cli, pod);
	*ret = pod;
	return EXIT_DONE;
}

/* Can a pod, or a namespace and a pod, have this name, as Kubernetes allows them? A word without a
 * namespace may be a uid. False after a complaint. */
static bool check_pod(struct cli *cli, const char *pod)
{
	static const char of_names[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
	static const char of_uids[] = "abcdefghijklmnopqrstuvwxyz0123456789-."
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
	const char *slash = strchr(pod, '/'), *name = slash ? slash + 1 : pod;
	const char *allowed = slash ? of_names : of_uids;

	if (*name && name[strspn(name, allowed)] == '\0' && slash != pod &&
	    (!slash || pod + strspn(pod, of_names) == slash))
		return true;
	cli_complain(cli, "'%s' is not a pod's name: [NAMESPACE/]NAME of a-z, 0-9, '-' and '.'",
		     pod);
	return false;
}

/* ---- units of pods ---- */

/* Namespace and name are each escaped as systemd-escape(1) does: a dash is written as \x2d, so that
 * "--" between them is found once however many dashes a name has. */

static const char prefix[] = "podvol-pod@", suffix[] = ".service";

enum { ESCAPED_BYTES = 4 }; /* \x2d */

static bool is_plain(char c)
{
	return isalnum((unsigned char) c) || c == '.';
}

static void escape(FILE *to, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (is_plain(*c) && (c > text || *c != '.'))
			(void) fputc(*c, to);
		else
			(void) fprintf(to, "\\x%02x", (unsigned char) *c);
	}
}

/* "podvol-pod@default--web.service"; NULL: no memory. */
static char *unit_name_of(const char *name_space, const char *name)
{
	size_t length;
	char *text = NULL;
	FILE *to = open_memstream(&text, &length);

	if (!to)
		return NULL;
	(void) fputs(prefix, to);
	escape(to, name_space);
	(void) fputs("--", to);
	escape(to, name);
	(void) fputs(suffix, to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* No pod's name is such a word. */
static bool unit_name_is(const char *word)
{
	size_t length = strlen(word);

	return strncmp(word, prefix, strlen(prefix)) == 0 &&
	       length >= strlen(prefix) + strlen(suffix) &&
	       strcmp(word + length - strlen(suffix), suffix) == 0;
}

/* In place; false: not what systemd-escape makes. */
static bool unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned int byte;

		if (*from != '\\') {
			*to = *from++;
			continue;
		}
		if (strlen(from) < ESCAPED_BYTES || from[1] != 'x' ||
		    !isxdigit((unsigned char) from[2]) || !isxdigit((unsigned char) from[3]) ||
		    sscanf(from + 2, "%2x", &byte) != 1 || byte == 0)
			return false;
		*to = (char) byte;
		from += ESCAPED_BYTES;
	}
	*to = '\0';
	return true;
}

/* Where the name begins, @text ending before it; NULL: at none, or several places. */
static char *split(char *text)
{
	char *dashes = strstr(text, "--");

	if (!dashes || dashes == text || !dashes[2] || strstr(dashes + 1, "--"))
		return NULL;
	*dashes = '\0';
	return dashes + 2;
}

/* "default/web" of such a name. What systemd-escape makes of the whole "default--web" is read, too,
 * where it means one pod. Return: 0; -EINVAL it means none, or several; -ENOMEM. */
static int unit_name_pod(const char *unit, char **ret)
{
	cleanup_free char *text = strdup(unit + strlen(prefix));
	char *name;

	if (!text)
		return -ENOMEM;
	text[strlen(text) - strlen(suffix)] = '\0';
	name = split(text);
	if (name ? !unescape(text) || !unescape(name) : !unescape(text) || !(name = split(text)))
		return -EINVAL;
	return asprintf(ret, "%s/%s", text, name) < 0 ? -ENOMEM : 0;
}

int verb_unit_name(struct cli *cli)
{
	cleanup_free char *word = NULL, *pod = NULL, *unit = NULL;
	int status = cli_pod(cli, cli->arguments[0], &word);
	char *name;

	if (status != EXIT_DONE)
		return status;
	pod = cli_full_pod(word);
	if (!pod)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	if (!check_pod(cli, pod))
		return EXIT_USAGE;
	name = strchr(pod, '/');
	if (name)
		*name++ = '\0';
	unit = unit_name_of(name ? pod : "default", name ? name : pod);
	if (!unit)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	(void) fprintf(cli->out, "%s\n", unit);
	return EXIT_DONE;
}

/* ---- several pods ---- */

void pod_list_done(struct pod_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	free(list->status);
	*list = (struct pod_list){ 0 };
}

int pod_list_make_room(struct pod_list *list, size_t count)
{
	list->names = calloc(count + 1, sizeof(*list->names));
	list->status = calloc(count + 1, sizeof(*list->status));
	return list->names && list->status ? 0 : -ENOMEM;
}

int pod_list_add(struct pod_list *list, const char *name_space, const char *name)
{
	assert(list->names);
	if (asprintf(&list->names[list->count], "%s/%s", name_space, name) < 0)
		return -ENOMEM;
	list->count++;
	return 0;
}

int pod_list_status(const struct pod_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->status[i] != EXIT_DONE)
			return list->status[i];
	return EXIT_DONE;
}

static int add_selected(struct pod_list *list, const struct podvol_table *table)
{
	int r = pod_list_make_room(list, podvol_table_rows(table));

	for (size_t row = 0; r == 0 && row < podvol_table_rows(table); row++)
		r = pod_list_add(list, podvol_table_row_namespace(table, row),
				 podvol_table_row_name(table, row));
	return r;
}

static int read_selected(struct cli *cli, const char *labels, struct pod_list *ret)
{
	cleanup_free char *query = cli_path("labelSelector=%s", labels), *path = NULL;
	struct podvol_table *table = NULL;
	const struct kind *kind;
	int status = kinds_find(cli, "pods", &kind), r;

	if (status != EXIT_DONE)
		return status;
	if (!query)
		return EXIT_FAILED;
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

/* A pod, or the unit that waits for it. Return: an exit status. */
static int add_named(struct cli *cli, const char *word, struct pod_list *list)
{
	cleanup_free char *of_unit = NULL;
	char **pod = &list->names[list->count];
	int status = EXIT_DONE;

	if (unit_name_is(word) && unit_name_pod(word, &of_unit) < 0) {
		cli_complain(cli,
			     "unit '%s' does not name one pod: 'podvolctl unit-name POD' prints "
			     "the unit of a pod",
			     word);
		return EXIT_USAGE;
	}
	/* A unit has its namespace. */
	if (of_unit) {
		*pod = TAKE_PTR(of_unit);
		cli_about_pod(cli, *pod);
	} else {
		status = cli_pod(cli, word, pod);
	}
	if (status != EXIT_DONE)
		return status;
	list->count++;
	return check_pod(cli, *pod) ? EXIT_DONE : EXIT_USAGE;
}

int pod_list_read(struct cli *cli, struct pod_list *ret)
{
	const char *labels = cli_value(cli, "selector");
	int count = cli->argument_count, status = EXIT_DONE;

	if ((count > 0) == (labels != NULL))
		return cli_end(cli, EXIT_USAGE,
			       labels ? "--selector cannot be combined with a name"
				      : "must specify POD... or --selector");
	if (labels)
		return read_selected(cli, labels, ret);
	if (pod_list_make_room(ret, (size_t) count) < 0)
		return EXIT_FAILED;
	for (int i = 0; i < count && status == EXIT_DONE; i++)
		status = add_named(cli, cli->arguments[i], ret);
	return status;
}
