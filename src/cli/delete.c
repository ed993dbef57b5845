/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete - takes objects out of the store: by kind and names, all of a kind or those with labels,
 * or as files name them
 *
 * Of a file only kind, namespace and name of each document count: what is invalid by now can be
 * deleted all the same. An object that is not there is said, and the others are deleted.
 */
#include "cli/cli.h"
#include "cli/get.h"
#include "cli/kinds.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "object/object.h"

#include <limits.h>

enum { STATUS_ACCEPTED = 202 /* HTTP's: begun, not done */ };

static int delete_one(struct cli *cli, const struct kind *kind, const char *name_space,
		      const char *name)
{
	cleanup_free char *path = NULL;
	struct podvol_request request = { .method = "DELETE" };
	int r;

	path = kinds_path(kind, name_space, name, NULL);
	if (!path)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	request.path = path;
	cli_about(cli, kind->singular, kind->namespaced ? name_space : "", name);
	r = podvol_request(cli->podvol, &request, NULL);
	progress_end(cli);
	if (r == -ENOENT && podvol_status(cli->podvol) > 0 && cli_flag(cli, "ignore-not-found"))
		return EXIT_DONE;
	if (r < 0)
		return cli_failed(cli, r);
	(void) fprintf(cli->out, "%s '", kind->singular);
	cli_print_text(cli->out, name);
	(void) fprintf(cli->out, "' %s\n",
		       podvol_status(cli->podvol) == STATUS_ACCEPTED
			       ? "is being deleted: its finalizers hold it while it is in use"
			       : "deleted");
	(void) fflush(cli->out);
	return EXIT_DONE;
}

static int delete_named(struct cli *cli)
{
	cleanup(get_request_done) struct get_request request = { 0 };
	int status = get_named_read(cli, cli->arguments, &request);

	if (status != EXIT_DONE)
		return status;
	for (size_t i = 0; i < request.count && status != EXIT_UNREACHABLE; i++) {
		int one = delete_one(cli, request.wanted[i].kind, request.name_space,
				     request.wanted[i].name);

		if (status == EXIT_DONE)
			status = one;
	}
	return status;
}

/* ---- all, or those with labels ---- */

/* Each by its name, so that one that cannot be deleted is named and the others go. */
static int delete_each(struct cli *cli, const struct get_request *request, const struct kind *kind,
		       size_t *deleted)
{
	const struct get_target all = { .kind = kind };
	cleanup_free char *path = get_path(request, &all);
	cleanup_json struct cJSON *list = NULL;
	int status = path ? get_tree(cli, path, &list) : EXIT_FAILED;

	for (const struct cJSON *item = json_first(json_get(list, "items"));
	     item && status != EXIT_UNREACHABLE; item = json_next(item)) {
		int one = delete_one(cli, kind, request->name_space,
				     json_text_at(item, "metadata.name"));

		(*deleted)++;
		if (status == EXIT_DONE)
			status = one;
	}
	return status;
}

static int delete_all(struct cli *cli)
{
	cleanup(get_request_done) struct get_request request = { 0 };
	int status = get_targets_read(cli, cli->arguments, &request);
	const char *option = cli_flag(cli, "all") ? "--all" : "--selector";
	size_t deleted = 0;

	if (status == EXIT_DONE)
		status = get_selector_read(cli, &request);
	for (size_t i = 0; status == EXIT_DONE && i < request.count; i++) {
		if (request.wanted[i].name)
			return cli_end(cli, EXIT_USAGE, "%s cannot be combined with a name: '%s'",
				       option, request.wanted[i].name);
		if (kind_is_view(request.wanted[i].kind))
			return cli_end(cli, EXIT_USAGE, "'%s' is not a kind of stored object",
				       request.wanted[i].kind->singular);
	}
	if (status != EXIT_DONE)
		return status;
	for (size_t i = 0; i < request.count && status != EXIT_UNREACHABLE; i++) {
		int one = delete_each(cli, &request, request.wanted[i].kind, &deleted);

		if (status == EXIT_DONE)
			status = one;
	}
	if (status == EXIT_DONE && deleted == 0)
		get_say_none(cli, &request);
	return status;
}

/* ---- files ---- */

static int delete_document(struct cli *cli, const struct document *document)
{
	const char *name_space = document->name_space;
	const struct kind *kind = NULL;
	int status;

	if (*document->kind == '\0' || *document->name == '\0')
		return cli_end(cli, EXIT_FAILED, "%s",
			       document->failure ? document->failure->text
						 : "the document names no object");
	status = kinds_find_name(cli, document->kind, &kind);
	if (status != EXIT_DONE)
		return status;
	if (*name_space == '\0')
		name_space = cli->name_space ? cli->name_space : "default";
	return delete_one(cli, kind, name_space, document->name);
}

/* Backwards, so that pods go before the claims and volumes that they use. */
static int delete_file(struct cli *cli, const char *name)
{
	struct document_list list = { 0 };
	struct failure why = { 0 };
	cleanup_free char *bytes = NULL;
	int status = EXIT_DONE;
	size_t length;

	if (file_read(cli, name, &bytes, &length) < 0)
		return EXIT_FAILED;
	if (documents_parse(bytes, length, &list, &why) < 0) {
		cli_complain(cli, "%s: %s", file_where(name), why.text);
		document_list_done(&list);
		return EXIT_FAILED;
	}
	for (size_t i = list.count; i > 0 && status != EXIT_UNREACHABLE; i--) {
		const struct document *document = &list.documents[i - 1];
		char text[512], where[PATH_MAX + 16];
		int one;

		(void) snprintf(where, sizeof(where), "%s:%u", file_where(name), document->line);
		(void) snprintf(text, sizeof(text), "delete %zu of %zu: %s", list.count - i + 1,
				list.count, name);
		progress_show(cli, text);
		cli->where = where;
		one = delete_document(cli, document);
		cli->where = NULL;
		if (status == EXIT_DONE)
			status = one;
	}
	progress_end(cli);
	document_list_done(&list);
	return status;
}

static bool is_all(const struct cli *cli)
{
	return cli_flag(cli, "all") || cli_flag(cli, "selector");
}

int verb_delete(struct cli *cli)
{
	cleanup(file_list_done) struct file_list files = { 0 };
	int status;

	if (!cli_value(cli, "filename")) {
		if (cli->argument_count > 0)
			return is_all(cli) ? delete_all(cli) : delete_named(cli);
		return cli_end(cli, EXIT_USAGE,
			       "must specify KIND NAME, KIND --all, KIND -l LABELS or -f FILE");
	}
	if (is_all(cli))
		return cli_end(cli, EXIT_USAGE, "%s cannot be combined with -f",
			       cli_flag(cli, "all") ? "--all" : "--selector");
	if (cli->argument_count > 0)
		return cli_end(cli, EXIT_USAGE, "-f cannot be combined with '%s'",
			       cli->arguments[0]);
	status = file_list_read(cli, &files);
	for (size_t i = files.count; i > 0 && status != EXIT_UNREACHABLE; i--) {
		int one = delete_file(cli, files.names[i - 1]);

		if (status == EXIT_DONE)
			status = one;
	}
	return status;
}
