/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe - all that is known about one pod or one volume, for whoever is on call
 */
#include "cli/cli.h"

#include "base/cleanup.h"

#include <string.h>
#include <strings.h>

struct field {
	const char *label, *column;
};

/* What concerns one pod's use of a volume, in the order in which one asks. */
static const struct field use_fields[] = {
	{ "State", "State" },       { "Path", "Path" },
	{ "Access", "Access" },     { "Step", "Step" },
	{ "Stage", "Stage" },       { "Since", "Since" },
	{ "Took", "Took" },         { "Error", "Error" },
	{ "Attempts", "Attempts" }, { "Next retry", "Next Retry" },
	{ "Progress", "Progress" },
};

static const struct field volume_fields[] = {
	{ "Plugin", "Plugin" },
	{ "Source", "Source" },
	{ "Unique name", "Unique Name" },
};

static const struct field device_fields[] = {
	{ "Device", "Device" },
	{ "Device mount path", "Device Mount Path" },
};

static void print_field(struct cli *cli, int indent, const char *label, const char *text)
{
	int pad = 20 - indent - (int) strlen(label) - 1;

	(void) fprintf(cli->out, "%*s%s:%*s", indent, "", label, pad > 1 ? pad : 1, "");
	cli_print_text(cli->out, *text ? text : "-");
	(void) fputc('\n', cli->out);
}

static void print_fields(struct cli *cli, int indent, const struct podvol_table *table, size_t row,
			 const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_field(
			cli, indent, fields[i].label,
			podvol_table_cell(table, row, podvol_table_find(table, fields[i].column)));
}

/* ---- events ---- */

/* The API filters: one pod's events and not all that there are. */
static char *events_path(const char *pod)
{
	const char *slash = strchr(pod, '/');
	cleanup_free char *name_space = strndup(pod, slash ? (size_t) (slash - pod) : 0);
	cleanup_free char *selector = NULL, *escaped = NULL, *escaped_space = NULL;
	char *path;

	if (!slash || !name_space ||
	    asprintf(&selector, "involvedObject.kind=Pod,involvedObject.name=%s", slash + 1) < 0) {
		selector = NULL;
		return NULL;
	}
	escaped = podvol_escape(selector);
	escaped_space = podvol_escape(name_space);
	if (!escaped || !escaped_space ||
	    asprintf(&path, "/api/v1/namespaces/%s/events?fieldSelector=%s", escaped_space,
		     escaped) < 0)
		return NULL;
	return path;
}

static int print_events(struct cli *cli, const char *pod)
{
	cleanup_free char *path = events_path(pod);
	struct podvol_table *events = NULL;
	int r;

	if (!path)
		return -ENOMEM;
	r = podvol_table_get(cli->podvol, path, &events);
	if (r < 0)
		return r;
	if (podvol_table_rows(events) == 0) {
		print_field(cli, 0, "Events", "none");
	} else {
		(void) fputs("Events:\n", cli->out);
		cli_print_table(cli, events, 0, false);
	}
	podvol_table_free(events);
	return 0;
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

/* ---- a pod ---- */

static void print_pod_head(struct cli *cli, const char *pod, const char *uid)
{
	const char *slash = strchr(pod, '/');
	cleanup_free char *name_space =
		strndup(slash ? pod : "default", slash ? (size_t) (slash - pod) : 7);

	print_field(cli, 0, "Name", slash ? slash + 1 : pod);
	print_field(cli, 0, "Namespace", name_space ? name_space : "");
	print_field(cli, 0, "UID", uid);
}

static void print_pod_volumes(struct cli *cli, const struct podvol_table *volumes)
{
	size_t name = podvol_table_find(volumes, "Volume");

	if (podvol_table_rows(volumes) == 0) {
		print_field(cli, 0, "Volumes", "none");
		return;
	}
	(void) fputs("Volumes:\n", cli->out);
	for (size_t row = 0; row < podvol_table_rows(volumes); row++) {
		(void) fputs("  ", cli->out);
		cli_print_text(cli->out, podvol_table_cell(volumes, row, name));
		(void) fputs(":\n", cli->out);
		print_fields(cli, 4, volumes, row, volume_fields, ARRAY_SIZE(volume_fields));
		print_fields(cli, 4, volumes, row, use_fields, ARRAY_SIZE(use_fields));
	}
}

/* Facts first, then what is wrong with its manifest, then what happened. */
static int describe_pod(struct cli *cli)
{
	cleanup_free char *asked = cli_pod(cli, cli->arguments[1]);
	struct podvol_table *volumes = NULL;
	cleanup_free char *pod = NULL;
	const char *known_as, *uid;
	int r;

	if (!asked)
		return EXIT_FAILED;
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
		r = print_problems(cli, pod);
		if (r >= 0)
			r = print_events(cli, pod);
	} else {
		r = -ENOMEM;
	}
	podvol_table_free(volumes);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}

/* ---- a volume ---- */

static int describe_volume(struct cli *cli)
{
	cleanup_free char *escaped = podvol_escape(cli->arguments[1]), *path = NULL;
	struct podvol_table *uses = NULL;
	size_t pod;
	int r;

	if (!escaped || asprintf(&path, "/podvol/v1/volumes/%s", escaped) < 0) {
		path = NULL;
		cli_complain(cli, "out of memory");
		return EXIT_FAILED;
	}
	r = podvol_table_get(cli->podvol, path, &uses);
	if (r < 0)
		return cli_failed(cli, r);
	print_field(cli, 0, "Name",
		    podvol_table_cell(uses, 0, podvol_table_find(uses, "Spec Name")));
	print_fields(cli, 0, uses, 0, volume_fields, ARRAY_SIZE(volume_fields));
	print_fields(cli, 0, uses, 0, device_fields, ARRAY_SIZE(device_fields));
	(void) fputs("Pods:\n", cli->out);
	pod = podvol_table_find(uses, "Pod");
	for (size_t row = 0; row < podvol_table_rows(uses); row++) {
		(void) fputs("  ", cli->out);
		cli_print_text(cli->out, podvol_table_cell(uses, row, pod));
		(void) fputs(":\n", cli->out);
		print_fields(cli, 4, uses, row, use_fields, ARRAY_SIZE(use_fields));
	}
	podvol_table_free(uses);
	return EXIT_DONE;
}

int verb_describe(struct cli *cli)
{
	const char *kind = cli->arguments[0];

	if (strcasecmp(kind, "pod") == 0 || strcasecmp(kind, "pods") == 0 ||
	    strcasecmp(kind, "po") == 0)
		return describe_pod(cli);
	if (strcasecmp(kind, "volume") == 0 || strcasecmp(kind, "volumes") == 0 ||
	    strcasecmp(kind, "pv") == 0)
		return describe_volume(cli);
	cli_complain(cli, "'%s' cannot be described: pod and volume can", kind);
	return EXIT_USAGE;
}
