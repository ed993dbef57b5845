/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe - all that is known about one pod, one volume or any object, for the person on call
 *
 * Pods and volumes are described by what is mounted, everything else by the fields of the object.
 */
#include "cli/describe.h"

#include "cli/get.h"
#include "cli/kinds.h"
#include "cli/output/screen.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <strings.h>

enum { VALUE_COLUMN = 20 };

struct field {
	const char *label, *column;
};

/* What a volume has for all of its pods; all other columns are of one pod's use of it. */
static const char *const volume_columns[] = {
	"Plugin", "Claim",       "Source", "Unique Name", "Device", "Device Mount Path",
	"Limit",  "Enforced By",
};

/* The heading says these, or a column beside them says them in full. */
static const char *const heading_columns[] = {
	"Pod", "Pod UID", "Volume", "Spec Name", "Kind", "Why", "Age", "Wanted",
};

static bool is_in(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

void describe_field(struct cli *cli, int indent, const char *label, const char *text)
{
	int pad = VALUE_COLUMN - indent - (int) strlen(label) - 1;
	struct text_wrap wrap = { .indent = VALUE_COLUMN, .width = screen_wrap_width(cli) };

	/* A label may be a key of the server's; without one the line goes on with the field before.
	 */
	(void) fprintf(cli->out, "%*s", indent, "");
	cli_print_text(cli->out, label);
	(void) fprintf(cli->out, "%c%*s", *label ? ':' : ' ', pad > 1 ? pad : 1, "");
	wrap.column = pad > 1 ? VALUE_COLUMN : (size_t) indent + text_width(label) + 2;
	text_print_wrapped(cli->out, *text ? text : "-", wrap);
	(void) fputc('\n', cli->out);
}

void describe_heading(struct cli *cli, int indent, const char *text)
{
	const size_t width = screen_wrap_width(cli), beside = (size_t) indent + 1;
	const size_t room = width > beside ? width - beside : 0;

	(void) fprintf(cli->out, "%*s", indent, "");
	(void) text_print_cut(cli->out, text, room, room * 2 / 3);
	(void) fputs(":\n", cli->out);
}

static void print_fields(struct cli *cli, int indent, const struct podvol_table *table, size_t row,
			 const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		describe_field(
			cli, indent, fields[i].label,
			podvol_table_cell(table, row, podvol_table_find(table, fields[i].column)));
}

/* A cell may have several lines: who keeps it from being unmounted, what its driver was asked. */
static void print_lines(struct cli *cli, int indent, const char *label, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		cleanup_free char *line = strndup(text, length);

		describe_field(cli, indent, label, line ?: "");
		label = "";
		text += length + (text[length] == '\n');
	}
}

/* "Unique Name" as "Unique name". */
static void print_column(struct cli *cli, int indent, const struct podvol_table *table, size_t row,
			 size_t column)
{
	const char *text = podvol_table_cell(table, row, column);
	cleanup_free char *label = strdup(podvol_table_name(table, column));

	if (strcmp(text, "-") == 0 || !label || !*label)
		return;
	for (char *at = label + 1; *at; at++)
		*at = (char) tolower((unsigned char) *at);
	print_lines(cli, indent, label, text);
}

/* The daemon's columns in its order, as far as they say something. */
static void print_columns(struct cli *cli, int indent, const struct podvol_table *table, size_t row,
			  bool of_volume)
{
	for (size_t i = 0; i < podvol_table_columns(table); i++) {
		const char *name = podvol_table_name(table, i);

		if (!is_in(name, heading_columns, ARRAY_SIZE(heading_columns)) &&
		    is_in(name, volume_columns, ARRAY_SIZE(volume_columns)) == of_volume)
			print_column(cli, indent, table, row, i);
	}
}

void describe_row(struct cli *cli, const struct podvol_table *table, size_t row)
{
	for (size_t i = 0; i < podvol_table_columns(table); i++)
		print_column(cli, 0, table, row, i);
}

/* ---- events ---- */

char *describe_events_path(const char *kind, const char *name_space, const char *name)
{
	cleanup_free char *selector =
		new_text("involvedObject.kind=%s,involvedObject.name=%s", kind, name);

	return cli_path("/api/v1/namespaces/%s/events?fieldSelector=%s", name_space, selector);
}

int describe_events(struct cli *cli, const char *kind, const char *name_space, const char *name)
{
	cleanup_free char *path = describe_events_path(kind, name_space, name);
	struct podvol_table *events = NULL;
	int r;

	if (!path)
		return -ENOMEM;
	r = podvol_table_get(cli->podvol, path, &events);
	if (r < 0)
		return r;
	if (podvol_table_rows(events) == 0) {
		describe_field(cli, 0, "Events", "none");
	} else {
		(void) fputs("Events:\n", cli->out);
		(void) events_print(cli, path, events, false);
	}
	podvol_table_free(events);
	return 0;
}

static int print_events_of_pod(struct cli *cli, const char *pod)
{
	const char *slash = strchr(pod, '/');
	cleanup_free char *name_space = strndup(pod, slash ? (size_t) (slash - pod) : 0);

	if (!slash || !name_space)
		return -ENOMEM;
	return describe_events(cli, "Pod", name_space, slash + 1);
}

/* ---- manifests ---- */

/* A document that was refused may lack its namespace; then it is the default one. */
static bool is_about(const struct podvol_table *problems, size_t row, const char *pod)
{
	const char *kind = podvol_table_cell(problems, row, podvol_table_find(problems, "Kind"));
	const char *name = podvol_table_cell(problems, row, podvol_table_find(problems, "Name"));
	const char *name_space =
		podvol_table_cell(problems, row, podvol_table_find(problems, "Namespace"));
	const char *slash = strchr(pod, '/');

	if (strcmp(kind, "Pod") != 0 || !slash || strcmp(name, slash + 1) != 0)
		return false;
	if (*name_space == '\0' || strcmp(name_space, "-") == 0)
		name_space = "default";
	return strlen(name_space) == (size_t) (slash - pod) &&
	       strncmp(name_space, pod, (size_t) (slash - pod)) == 0;
}

static void print_problem(struct cli *cli, const struct podvol_table *problems, size_t row)
{
	const struct field fields[] = { { "File", "File" },
					{ "Line", "Line" },
					{ "Since", "Since" },
					{ "Problem", "Problem" } };

	(void) fputs("Manifest refused:\n", cli->out);
	print_fields(cli, 2, problems, row, fields, ARRAY_SIZE(fields));
}

/* What is in force is then older than what the file says. */
static int print_problems(struct cli *cli, const char *pod)
{
	struct podvol_table *problems = NULL;
	int r = podvol_table_get(cli->podvol, "/podvol/v1/manifests", &problems);

	if (r < 0)
		return r;
	for (size_t row = 0; row < podvol_table_rows(problems); row++)
		if (is_about(problems, row, pod))
			print_problem(cli, problems, row);
	podvol_table_free(problems);
	return 0;
}

/* ---- holds ---- */

/* Nothing where the pod has no hold: most people have never heard of holds. */
static int print_holds(struct cli *cli, const char *pod)
{
	cleanup_free char *path = cli_pod_path(pod, "/holds");
	struct podvol_table *holds = NULL;
	int r;

	if (!path)
		return -ENOMEM;
	r = podvol_table_get(cli->podvol, path, &holds);
	if (r < 0)
		return r;
	if (podvol_table_rows(holds) > 0) {
		(void) fputs("Holds:\n", cli->out);
		cli_print_table(cli, holds, 0, false);
	}
	podvol_table_free(holds);
	return 0;
}

/* ---- a pod ---- */

static void print_pod_head(struct cli *cli, const char *pod, const char *uid)
{
	const char *slash = strchr(pod, '/');
	cleanup_free char *name_space =
		strndup(slash ? pod : "default", slash ? (size_t) (slash - pod) : 7);

	describe_field(cli, 0, "Name", slash ? slash + 1 : pod);
	describe_field(cli, 0, "Namespace", name_space ? name_space : "");
	describe_field(cli, 0, "UID", uid);
}

static void print_pod_volumes(struct cli *cli, const struct podvol_table *volumes)
{
	size_t name = podvol_table_find(volumes, "Volume");

	if (podvol_table_rows(volumes) == 0) {
		describe_field(cli, 0, "Volumes", "none");
		return;
	}
	(void) fputs("Volumes:\n", cli->out);
	for (size_t row = 0; row < podvol_table_rows(volumes); row++) {
		describe_heading(cli, 2, podvol_table_cell(volumes, row, name));
		print_columns(cli, 4, volumes, row, true);
		print_columns(cli, 4, volumes, row, false);
	}
}

/* Facts first, then what is wrong with its manifest, then what happened. */
static int describe_pod(struct cli *cli, const char *word)
{
	cleanup_free char *asked = NULL, *pod = NULL;
	struct podvol_table *volumes = NULL;
	const char *known_as, *uid;
	int r, status = cli_pod(cli, word, &asked);

	if (status != EXIT_DONE)
		return status;
	r = podvol_volumes(cli->podvol, asked, &volumes);
	if (r < 0)
		return cli_failed(cli, r);
	/* The daemon knows the pod behind a uid. */
	known_as = podvol_table_cell(volumes, 0, podvol_table_find(volumes, "Pod"));
	uid = podvol_table_cell(volumes, 0, podvol_table_find(volumes, "Pod UID"));
	if (*known_as)
		pod = strdup(known_as);
	else if (strchr(asked, '/'))
		pod = strdup(asked);
	else if (asprintf(&pod, "default/%s", asked) < 0)
		pod = NULL;
	if (pod) {
		print_pod_head(cli, pod, uid);
		print_pod_volumes(cli, volumes);
		r = print_holds(cli, asked);
		if (r >= 0)
			r = print_problems(cli, pod);
		if (r >= 0)
			r = print_events_of_pod(cli, pod);
	} else {
		r = -ENOMEM;
	}
	podvol_table_free(volumes);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

/* ---- a volume ---- */

static void print_uses(struct cli *cli, const struct podvol_table *uses)
{
	size_t pod = podvol_table_find(uses, "Pod");

	(void) fputs("Pods:\n", cli->out);
	for (size_t row = 0; row < podvol_table_rows(uses); row++) {
		const char *name = podvol_table_cell(uses, row, pod);

		describe_heading(cli, 2, strcmp(name, "-") != 0 ? name : "none");
		print_columns(cli, 4, uses, row, false);
	}
}

int describe_uses(struct cli *cli, const char *volume)
{
	cleanup_free char *path = cli_path("/podvol/v1/volumes/%s", volume);
	struct podvol_table *uses = NULL;
	int r;

	if (!path)
		return -ENOMEM;
	r = podvol_table_get(cli->podvol, path, &uses);
	if (r == 0)
		print_uses(cli, uses);
	else if (r == -ENOENT)
		describe_field(cli, 0, "Pods", "none");
	podvol_table_free(uses);
	return r == -ENOENT ? 0 : r;
}

/* Nothing where the daemon knows no volume, or no such request. */
static void print_users(struct cli *cli, const char *volume)
{
	cleanup_json struct cJSON *tree = users_search(cli, volume);

	if (!tree)
		return;
	describe_field(cli, 0, "Users", json_string(json_get(tree, "result"), "unknown"));
	JSON_FOREACH (user, json_get(tree, "users"))
		describe_field(cli, 0, "", json_text(user, "text"));
	if (json_get(tree, "failure"))
		describe_field(cli, 2, "Not searched", json_text(tree, "failure"));
}

static int describe_volume(struct cli *cli, const char *word)
{
	cleanup_free char *path = cli_path("/podvol/v1/volumes/%s", word);
	struct podvol_table *uses = NULL;
	int r;

	if (!path)
		return cli_end(cli, EXIT_FAILED, "out of memory");
	cli_about(cli, "volume", "", word);
	r = podvol_table_get(cli->podvol, path, &uses);
	if (r < 0)
		return cli_failed(cli, r);
	describe_field(cli, 0, "Name",
		       podvol_table_cell(uses, 0, podvol_table_find(uses, "Spec Name")));
	print_columns(cli, 0, uses, 0, true);
	print_uses(cli, uses);
	print_users(cli, podvol_table_cell(uses, 0, podvol_table_find(uses, "Unique Name")));
	podvol_table_free(uses);
	return EXIT_DONE;
}

/* ---- a path ---- */

/* "/srv" and "/srv/x" are; "/srv" and "/srvx" are not. */
static bool is_above(const char *above, const char *path)
{
	size_t length = strlen(above);

	while (length > 1 && above[length - 1] == '/')
		length--;
	return strncmp(path, above, length) == 0 &&
	       (length == 1 || path[length] == '/' || path[length] == '\0');
}

/* The same device by another name, as links in /dev/disk/by-id are. Below /dev alone: a look-up on
 * a file system whose server is silent would not return. */
static bool is_same_device(const char *one, const char *other)
{
	struct stat a, b;

	return is_above("/dev", one) && is_above("/dev", other) && stat(one, &a) == 0 &&
	       stat(other, &b) == 0 && (S_ISBLK(a.st_mode) || S_ISCHR(a.st_mode)) &&
	       (a.st_mode & S_IFMT) == (b.st_mode & S_IFMT) && a.st_rdev == b.st_rdev;
}

static bool is_at(const char *value, const char *path)
{
	return is_above(value, path) || is_above(path, value) || is_same_device(value, path);
}

bool describe_is_at(const struct cJSON *row, const char *path)
{
	static const char *const keys[] = { "path", "source", "device", "deviceMountPath" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *value = json_text(row, keys[i]);

		if (*value == '/' && is_at(value, path))
			return true;
	}
	return false;
}

/* Every volume that is there, each once: rows are of pods. */
static int describe_path(struct cli *cli, const char *path)
{
	cleanup_json struct cJSON *tree = NULL;
	int status = get_tree(cli, "/podvol/v1/volumes", &tree);
	const struct cJSON *rows = json_first(json_get(tree, "items")), *row, *before;
	bool found = false;

	for (row = rows; status == EXIT_DONE && row; row = json_next(row)) {
		const char *name = json_text(row, "uniqueName");

		if (!describe_is_at(row, path))
			continue;
		for (before = rows; before != row; before = json_next(before))
			if (json_text_is(before, "uniqueName", name) &&
			    describe_is_at(before, path))
				break;
		if (before != row)
			continue;
		if (found)
			(void) fputc('\n', cli->out);
		found = true;
		status = describe_volume(cli, name);
	}
	if (status != EXIT_DONE || found)
		return status;
	return cli_end(cli, EXIT_NOT_FOUND, "no volume of this node is at '%s'", path);
}

/* Of views alone: an object has a description made from its fields. */
static bool is_view(const struct kind *kind, const char *singular)
{
	return kind_is_view(kind) && strcmp(kind->singular, singular) == 0;
}

static bool has_description(const struct kind *kind)
{
	return !kind_is_view(kind) || is_view(kind, "volume") || is_view(kind, "driver");
}

static int describe_one(struct cli *cli, const struct get_request *request,
			const struct get_target *target)
{
	if (strcmp(target->kind->name, "Pod") == 0)
		return describe_pod(cli, target->name);
	if (is_view(target->kind, "volume"))
		return describe_volume(cli, target->name);
	if (is_view(target->kind, "driver"))
		return describe_driver(cli, target->name);
	return describe_object(cli, request, target);
}

int verb_describe(struct cli *cli)
{
	cleanup(get_request_done) struct get_request request = { 0 };
	int status;

	if (*cli->arguments[0] == '/' && cli->argument_count == 1)
		return describe_path(cli, cli->arguments[0]);
	status = get_targets_read(cli, cli->arguments, &request);
	if (status != EXIT_DONE)
		return status;
	for (size_t i = 0; i < request.count && status != EXIT_UNREACHABLE; i++) {
		const struct get_target *target = &request.wanted[i];
		int one;

		if (!target->name || !has_description(target->kind)) {
			cli_complain(cli,
				     target->name ? "'%s' cannot be described: get shows them"
						  : "must specify a name of '%s'",
				     target->kind->singular);
			return EXIT_USAGE;
		}
		if (i > 0)
			(void) fputc('\n', cli->out);
		one = describe_one(cli, &request, target);
		if (status == EXIT_DONE)
			status = one;
	}
	return status;
}
