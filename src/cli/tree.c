/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - what lies on what: directory or device, PersistentVolume, claim, pod, container, process
 *
 * Joins the daemon's views with the stored objects; asks only. A process is known where a hold
 * names it.
 */
#include "cli/describe.h"
#include "cli/get.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

enum { PREFIX_BYTES = 128, LINE_BYTES = 1024, PATH_WIDTH_MIN = 20, NAME_WIDTH_MIN = 8 };

/* What the tree is made from, asked once. */
struct forest {
	struct cli *cli;
	struct cJSON *volumes, *pods, *holds;
};

static void forest_done(struct forest *forest)
{
	json_free(forest->volumes);
	json_free(forest->pods);
	json_free(forest->holds);
}

static const struct cJSON *first_item(const struct cJSON *list)
{
	return json_first(json_get(list, "items"));
}

/* ---- lines ---- */

/* What ends a line that has @room columns left for it; 0: all. A path is cut in its middle, words
 * go below. */
static void print_tail(struct cli *cli, const char *tail, size_t room, const char *below)
{
	if (room == 0 || text_width(tail) <= room)
		cli_print_text(cli->out, tail);
	else if (room >= PATH_WIDTH_MIN && !strchr(tail, ' '))
		(void) text_print(cli->out, tail, room);
	else
		text_print_below(cli->out, tail, below, screen_width(cli->out));
}

/* A name, with what stands before and behind it, and a @tail that may be cut or go below. */
struct line {
	const char *before, *name, *behind, *tail;
};

/* A name is cut in its middle: its end tells it from the others of its kind, and what is behind it
 * is to be seen. */
static size_t print_name(FILE *out, const struct line *line, size_t room)
{
	size_t beside = text_width(line->before) + text_width(line->behind), width, used;

	width = room > beside + NAME_WIDTH_MIN ? room - beside : NAME_WIDTH_MIN;
	if (room == 0)
		width = 0;
	used = text_print(out, line->before, 0);
	used += text_print_cut(out, line->name, width, width > 0 ? (width - 1) * 2 / 3 : 0);
	beside = room > used ? room - used : room > 0;
	return used + text_print_cut(out, line->behind, beside, beside * 2 / 3);
}

/* @below: what stands before its children. */
static void print_line(struct cli *cli, const char *prefix, bool is_last, const struct line *line,
		       char below[PREFIX_BYTES])
{
	size_t screen = screen_width(cli->out);
	size_t used = text_width(prefix) + 2, room;

	(void) snprintf(below, PREFIX_BYTES, "%s%s", prefix, is_last ? "  " : "│ ");
	(void) fprintf(cli->out, "%s%s", prefix, is_last ? "└─" : "├─");
	used += print_name(cli->out, line, screen > used ? screen - used : screen > 0);
	room = screen > used ? screen - used : screen > 0;
	print_tail(cli, line->tail, room, below);
	(void) fputc('\n', cli->out);
}

static void print_processes(const struct forest *forest, const char *prefix, const char *uid,
			    const char *container)
{
	const struct cJSON *hold, *found = NULL;
	char text[LINE_BYTES], below[PREFIX_BYTES];

	for (hold = first_item(forest->holds);; hold = json_next(hold)) {
		int64_t pid = 0;

		if (hold && (strcmp(json_text_at(hold, "podUID"), uid) != 0 ||
			     strcmp(json_text_at(hold, "container"), container) != 0))
			continue;
		if (found && json_int64(json_get(found, "pid"), &pid) && pid > 0) {
			(void) snprintf(text, sizeof(text), "process %" PRId64 " ", pid);
			print_line(forest->cli, prefix, !hold,
				   &(struct line){ text, json_text_at(found, "process"), "", "" },
				   below);
		}
		found = hold;
		if (!hold)
			return;
	}
}

/* Where a container has the volume; NULL: it does not. */
static const char *place_in(const struct cJSON *container, const char *volume)
{
	static const char *const lists[][2] = { { "volumeMounts", "mountPath" },
						{ "volumeDevices", "devicePath" } };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		JSON_FOREACH (mount, json_get(container, lists[i][0]))
			if (strcmp(json_text_at(mount, "name"), volume) == 0)
				return json_text_at(mount, lists[i][1]);
	return NULL;
}

static const struct cJSON *next_user(const struct cJSON *container, const char *volume)
{
	while (container && !place_in(container, volume))
		container = json_next(container);
	return container;
}

static void print_containers(const struct forest *forest, const char *prefix,
			     const struct cJSON *row)
{
	static const char *const lists[] = { "spec.initContainers", "spec.containers" };
	const char *volume = json_text_at(row, "volume"), *uid = json_text_at(row, "podUID");
	const struct cJSON *pod = first_item(forest->pods);

	while (pod && strcmp(json_text_at(pod, "metadata.uid"), uid) != 0)
		pod = json_next(pod);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct cJSON *at = json_first(json_get_path(pod, lists[i]));

		at = next_user(at, volume);
		while (at) {
			const struct cJSON *next = next_user(json_next(at), volume);
			const struct line line = { "container ", json_text_at(at, "name"), "  ",
						   place_in(at, volume) };
			char below[PREFIX_BYTES];

			print_line(forest->cli, prefix, !next && i == 1, &line, below);
			print_processes(forest, below, uid, json_text_at(at, "name"));
			at = next;
		}
	}
}

/* ---- volumes ---- */

static const struct cJSON *next_use(const struct cJSON *row, const char *unique_name)
{
	while (row && strcmp(json_text_at(row, "uniqueName"), unique_name) != 0)
		row = json_next(row);
	return row;
}

static void print_pods(const struct forest *forest, const char *prefix, const struct cJSON *first)
{
	const char *unique_name = json_text_at(first, "uniqueName");
	const struct cJSON *row = first, *next;

	for (; row; row = next) {
		const char *error = json_text_at(row, "error");
		char text[LINE_BYTES], below[PREFIX_BYTES];
		const struct line line = { "pod ", json_text_at(row, "pod"), text,
					   *error ? error : json_text_at(row, "waitsFor") };

		next = next_use(json_next(row), unique_name);
		(void) snprintf(text, sizeof(text), "  %s  %s, %s%s", json_text_at(row, "volume"),
				json_text_at(row, "state"),
				json_bool(json_get(row, "readOnly"), false) ? "ro" : "rw",
				*line.tail ? ": " : "");
		print_line(forest->cli, prefix, !next, &line, below);
		print_containers(forest, below, row);
	}
}

/* PersistentVolume and claim, each below the one before. */
static void print_stored(const struct forest *forest, const struct cJSON *row,
			 char prefix[PREFIX_BYTES])
{
	const struct line stored[] = {
		{ "persistentvolume ", json_text_at(row, "specName"), "", "" },
		{ "persistentvolumeclaim ", json_text_at(row, "claim"), "", "" },
	};
	char above[PREFIX_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(stored) && *json_text_at(row, "claim"); i++) {
		memcpy(above, prefix, sizeof(above));
		print_line(forest->cli, above, true, &stored[i], prefix);
	}
}

/* What it is made from; its unique name once no pod that wants it says so. */
static const char *origin_of(const struct cJSON *row)
{
	static const char *const keys[] = { "device", "source", "uniqueName" };
	const char *origin = "";

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !*origin; i++)
		origin = json_text_at(row, keys[i]);
	return origin;
}

static void print_volume(const struct forest *forest, const struct cJSON *first)
{
	FILE *out = forest->cli->out;
	const char *plugin = json_text_at(first, "plugin");
	size_t screen = screen_width(out), behind = text_width(plugin) + 2;
	char prefix[PREFIX_BYTES] = "";

	(void) text_print(out, origin_of(first), screen > behind ? screen - behind : screen);
	(void) fputs("  ", out);
	cli_print_text(out, plugin);
	(void) fputc('\n', out);
	print_stored(forest, first, prefix);
	print_pods(forest, prefix, first);
}

/* ---- which of them ---- */

static bool is_of_pod(const struct cJSON *row, const char *pod)
{
	static const char space[] = "default/";
	const char *known_as = json_text_at(row, "pod");

	if (strcmp(json_text_at(row, "podUID"), pod) == 0 || strcmp(known_as, pod) == 0)
		return true;
	return strncmp(known_as, space, strlen(space)) == 0 &&
	       strcmp(known_as + strlen(space), pod) == 0;
}

static bool is_wanted(const struct cJSON *row, const char *word)
{
	if (*json_text_at(row, "uniqueName") == '\0')
		return false; /* its claim or volume is missing: nothing lies below it */
	if (!word)
		return true;
	return *word == '/' ? describe_is_at(row, word) : is_of_pod(row, word);
}

static size_t print_all(const struct forest *forest, const char *word)
{
	const struct cJSON *rows = first_item(forest->volumes), *row;
	size_t count = 0;

	for (row = rows; row; row = json_next(row)) {
		const struct cJSON *first = next_use(rows, json_text_at(row, "uniqueName")), *use;

		/* Once, where its first pod is; whichever of its pods was asked for. */
		if (first != row)
			continue;
		for (use = row; use && !is_wanted(use, word);
		     use = next_use(json_next(use), json_text_at(row, "uniqueName")))
			;
		if (!use)
			continue;
		print_volume(forest, row);
		count++;
	}
	return count;
}

int verb_tree(struct cli *cli)
{
	cleanup(forest_done) struct forest forest = { .cli = cli };
	cleanup_free char *word = NULL, *full = NULL;
	int status = EXIT_DONE;

	if (cli->argument_count > 0 && *cli->arguments[0] == '/')
		word = strdup(cli->arguments[0]);
	else if (cli->argument_count > 0)
		status = cli_pod(cli, cli->arguments[0], &word);
	cli->about[0] = '\0';
	if (status == EXIT_DONE)
		status = get_tree(cli, "/podvol/v1/volumes", &forest.volumes);
	if (status == EXIT_DONE)
		status = get_tree(cli, "/api/v1/pods", &forest.pods);
	if (status == EXIT_DONE)
		status = get_tree(cli, "/podvol/v1/holds", &forest.holds);
	if (status != EXIT_DONE || print_all(&forest, word) > 0)
		return status;
	if (!word) {
		(void) fprintf(cli->err, "No volumes found.\n");
		return EXIT_DONE;
	}
	full = *word == '/' ? strdup(word) : cli_full_pod(word);
	return cli_end(cli, EXIT_NOT_FOUND, "no volume of this node is %s '%s'",
		       *word == '/' ? "at" : "of pod", full ?: word);
}
