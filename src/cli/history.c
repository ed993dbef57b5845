/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history - what happened to a pod, a claim, a volume or what is at a path, newest last
 *
 * The stored events of the object and of what it is joined with in the view of volumes: a pod with
 * its claims and PersistentVolumes, a volume or a path with its pods. Also of objects that are
 * gone, by name: their events outlive them. Below them the steps that podvold remembers: what went
 * well has no events. Asks only.
 */
#include "cli/describe.h"
#include "cli/get.h"
#include "cli/kinds.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>

static const char events_path[] = "/api/v1/events", steps_path[] = "/podvol/v1/steps";

/* What was asked for. */
struct subject {
	const char *word; /* as it was typed, without its kind: a name or a path */
	struct kind kind; /* all of it NULL: of any */
	char *full_name;  /* "default/web" */
	struct cJSON *volumes;
};

static void subject_done(struct subject *subject)
{
	free(subject->full_name);
	json_free(subject->volumes);
}

static bool may_be(const struct subject *subject, const char *singular)
{
	return !subject->kind.singular || strcmp(subject->kind.singular, singular) == 0;
}

/* Is a row of the view of volumes about it? */
static bool is_joined(const struct subject *subject, const struct cJSON *row)
{
	if (*subject->word == '/')
		return describe_is_at(row, subject->word);
	return (may_be(subject, "pod") && json_text_is(row, "pod", subject->full_name)) ||
	       (may_be(subject, "persistentvolumeclaim") &&
		json_text_is(row, "claim", subject->full_name)) ||
	       ((may_be(subject, "persistentvolume") || may_be(subject, "volume")) &&
		(json_text_is(row, "specName", subject->word) ||
		 json_text_is(row, "uniqueName", subject->word)));
}

/* @name: "default/web", or "disk" of an object without a namespace. */
static bool is_in_row(const struct cJSON *row, const char *kind, const char *name)
{
	static const char *const columns[][2] = { { "Pod", "pod" },
						  { "PersistentVolumeClaim", "claim" },
						  { "PersistentVolume", "specName" } };

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (strcmp(kind, columns[i][0]) == 0)
			return strcmp(json_text_at(row, columns[i][1]), name) == 0;
	return false;
}

/* Of whatever kind it is: the object of this name may be gone. */
static bool is_about(const struct subject *subject, const struct cJSON *event)
{
	const char *space = json_text_at(event, "involvedObject.namespace");
	const char *kind = json_text_at(event, "involvedObject.kind");
	cleanup_free char *name = NULL;

	name = new_text("%s%s%s", space, *space ? "/" : "",
			json_text_at(event, "involvedObject.name"));
	if (!name)
		return false;
	if (strcmp(name, *space ? subject->full_name : subject->word) == 0 &&
	    (!subject->kind.name || strcmp(subject->kind.name, kind) == 0))
		return true;
	JSON_FOREACH (row, json_get(subject->volumes, "items"))
		if (is_in_row(row, kind, name) && is_joined(subject, row))
			return true;
	return false;
}

static void keep_those_about(const struct subject *subject, struct cJSON *list)
{
	struct cJSON *kept = json_new_array();

	JSON_FOREACH (event, json_get(list, "items"))
		if (is_about(subject, event))
			(void) json_set(kept, NULL, json_copy(event));
	(void) json_set(list, "items", kept);
}

static int read_subject(struct cli *cli, struct subject *ret)
{
	const char *word = cli->arguments[0];

	ret->word = kind_of_word(word, &ret->kind) ?: word;
	ret->full_name = cli->name_space && !strchr(ret->word, '/')
				 ? new_text("%s/%s", cli->name_space, ret->word)
				 : cli_full_pod(ret->word);
	if (!ret->full_name)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	return get_tree(cli, "/podvol/v1/volumes", &ret->volumes);
}

/* ---- events ---- */

/* @ret_any: there are some. */
static int show_events(struct cli *cli, const struct subject *subject, bool *ret_any)
{
	cleanup_json struct cJSON *list = NULL;
	struct podvol_table *events = NULL;
	int r, status = get_tree(cli, events_path, &list);

	if (status != EXIT_DONE)
		return status;
	keep_those_about(subject, list);
	*ret_any = json_count(json_get(list, "items")) > 0;
	if (!*ret_any)
		return EXIT_DONE;
	r = podvol_table_get(cli->podvol, events_path, &events);
	if (r < 0)
		return cli_failed(cli, r);
	status = events_print_list(cli, list, events, true);
	podvol_table_free(events);
	return status;
}

/* ---- steps ---- */

/* A step of a device has no pod. */
static bool is_step_about(const struct subject *subject, const char *pod, const char *unique_name)
{
	if (may_be(subject, "pod") && strcmp(pod, subject->full_name) == 0)
		return true;
	if (may_be(subject, "volume") && strcmp(unique_name, subject->word) == 0)
		return true;
	JSON_FOREACH (row, json_get(subject->volumes, "items"))
		if (strcmp(json_text_at(row, "uniqueName"), unique_name) == 0 &&
		    (!strchr(pod, '/') || json_text_is(row, "pod", pod)) && is_joined(subject, row))
			return true;
	return false;
}

/* Below a heading of their own. */
static void print_steps(struct cli *cli, const struct podvol_table *table, struct sheet *sheet,
			bool is_below)
{
	if (sheet_rows(sheet) > 0) {
		if (!cli->no_headers)
			(void) fprintf(cli->out,
				       "%sSteps since podvold was started, %zu of the last %zu:\n",
				       is_below ? "\n" : "", sheet_rows(sheet),
				       podvol_table_rows(table));
		sheet_print(cli, sheet);
	}
	sheet_free(sheet);
}

static int show_steps(struct cli *cli, const struct subject *subject, bool *any)
{
	struct table_view view = { .prefix = "" };
	struct podvol_table *steps = NULL;
	struct sheet *sheet;
	size_t pod, unique_name, count;
	int r = podvol_table_get(cli->podvol, steps_path, &steps);

	if (r < 0)
		return cli_failed(cli, r);
	view.columns = steps;
	sheet = cli_table_sheet(&view);
	pod = podvol_table_find(steps, "Pod");
	unique_name = podvol_table_find(steps, "Unique Name");
	for (size_t row = 0; row < podvol_table_rows(steps); row++)
		if (is_step_about(subject, podvol_table_cell(steps, row, pod),
				  podvol_table_cell(steps, row, unique_name)))
			cli_table_row(sheet, &view, steps, row);
	count = sheet_rows(sheet);
	print_steps(cli, steps, sheet, *any);
	*any = *any || count > 0;
	podvol_table_free(steps);
	return EXIT_DONE;
}

static void say_none(struct cli *cli, const struct subject *subject)
{
	cleanup_free char *text = NULL;

	if (*subject->word == '/')
		text = new_text("No events found for volumes at '%s'.", subject->word);
	else
		text = new_text("No events found for pod or claim '%s' or volume '%s'.",
				subject->full_name, subject->word);
	cli_print_text(cli->err, text ?: "out of memory");
	(void) fputc('\n', cli->err);
}

int verb_history(struct cli *cli)
{
	cleanup(subject_done) struct subject subject = { .word = NULL };
	bool any = false;
	int status = read_subject(cli, &subject);

	if (status == EXIT_DONE)
		status = show_events(cli, &subject, &any);
	if (status == EXIT_DONE)
		status = show_steps(cli, &subject, &any);
	if (status == EXIT_DONE && !any)
		say_none(cli, &subject);
	return status;
}
