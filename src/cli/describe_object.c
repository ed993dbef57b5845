/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe_object - any object by its fields, as kubectl describes what it does not know
 *
 * "claimRef" is shown as "Claim Ref". Contents of a kind that keeps secrets are shown as their
 * size.
 */
#include "cli/describe.h"

#include "cli/kinds.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* The whole object once more, with a Secret's contents: kubectl does not describe it, either. */
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

enum { LABEL_BYTES = 128, INDENT = 2, DEPTH_MAX = 32 };

static void make_label(const char *key, char label[LABEL_BYTES])
{
	size_t length = 0;

	for (; *key && length + 2 < LABEL_BYTES; key++) {
		if (isupper((unsigned char) *key) && length > 0 && islower((unsigned char) key[-1]))
			label[length++] = ' ';
		label[length] = length == 0 ? (char) toupper((unsigned char) *key) : *key;
		length++;
	}
	label[length] = '\0';
}

static bool is_scalar(const struct cJSON *value)
{
	return !json_is_object(value) && !json_is_array(value);
}

static void print_scalar(struct cli *cli, int indent, const char *label, const struct cJSON *value)
{
	cleanup_free char *text = json_is_string(value) ? NULL : json_print(value);

	describe_field(cli, indent, label, text ? text : json_string(value, ""));
}

static void print_members(struct cli *cli, int indent, const struct cJSON *object, bool as_labels);

/* Lists of words are one line each, lists of maps a block each. */
static void print_items(struct cli *cli, int indent, const struct cJSON *list)
{
	JSON_FOREACH (item, list) {
		if (is_scalar(item)) {
			cleanup_free char *text = json_is_string(item) ? NULL : json_print(item);

			(void) fprintf(cli->out, "%*s", indent, "");
			cli_print_text(cli->out, text ? text : json_string(item, ""));
			(void) fputc('\n', cli->out);
			continue;
		}
		if (item != json_first(list))
			(void) fputc('\n', cli->out);
		print_members(cli, indent, item, true);
	}
}

static void print_value(struct cli *cli, int indent, const char *label, const struct cJSON *value)
{
	if (is_scalar(value)) {
		print_scalar(cli, indent, label, value);
		return;
	}
	if (json_count(value) == 0 || indent > DEPTH_MAX * INDENT) {
		describe_field(cli, indent, label, "");
		return;
	}
	describe_heading(cli, indent, label);
	if (json_is_array(value))
		print_items(cli, indent + INDENT, value);
	else
		print_members(cli, indent + INDENT, value, true);
}

/* @as_labels: keys are fields of the API and not the user's own words. */
static void print_members(struct cli *cli, int indent, const struct cJSON *object, bool as_labels)
{
	char label[LABEL_BYTES];

	JSON_FOREACH (member, object) {
		if (strcmp(json_key(member), LAST_APPLIED) == 0)
			continue;
		make_label(json_key(member), label);
		print_value(cli, indent, as_labels ? label : json_key(member), member);
	}
}

/* Labels, annotations: the user's own keys, as they are. */
static void print_map(struct cli *cli, const char *label, const struct cJSON *map)
{
	if (json_count(map) == 0) {
		describe_field(cli, 0, label, "none");
		return;
	}
	(void) fprintf(cli->out, "%s:\n", label);
	print_members(cli, INDENT, map, false);
}

static void print_sizes(struct cli *cli, const char *label, const struct cJSON *map)
{
	(void) fprintf(cli->out, "%s:\n", label);
	JSON_FOREACH (member, map) {
		char text[64];

		(void) snprintf(text, sizeof(text), "%zu characters",
				strlen(json_string(member, "")));
		describe_field(cli, INDENT, json_key(member), text);
	}
}

static void print_metadata(struct cli *cli, const struct cJSON *metadata)
{
	static const struct {
		const char *key, *label;
	} rows[] = { { "name", "Name" },
		     { "namespace", "Namespace" },
		     { "uid", "UID" },
		     { "creationTimestamp", "Created" },
		     { "deletionTimestamp", "Being deleted since" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (json_get(metadata, rows[i].key))
			print_scalar(cli, 0, rows[i].label, json_get(metadata, rows[i].key));
	print_map(cli, "Labels", json_get(metadata, "labels"));
	print_map(cli, "Annotations", json_get(metadata, "annotations"));
	if (json_count(json_get(metadata, "finalizers")) > 0)
		print_value(cli, 0, "Finalizers", json_get(metadata, "finalizers"));
}

static void print_content(struct cli *cli, const struct kind *kind, const struct cJSON *object)
{
	static const char *const omitted[] = { "apiVersion", "kind", "metadata" };
	bool is_secret = strcmp(kind->name, "Secret") == 0;
	char label[LABEL_BYTES];

	JSON_FOREACH (member, object) {
		const char *key = json_key(member);
		bool skip = false;

		for (size_t i = 0; i < ARRAY_SIZE(omitted); i++)
			skip |= strcmp(omitted[i], key) == 0;
		if (skip)
			continue;
		make_label(key, label);
		if (is_secret && (strcmp(key, "data") == 0 || strcmp(key, "stringData") == 0))
			print_sizes(cli, label, member);
		else if (strcmp(key, "data") == 0 && json_is_object(member))
			print_map(cli, label, member);
		else
			print_value(cli, 0, label, member);
	}
}

/* The volume that an object stands for: itself, or that of a claim; NULL: none. */
static const char *volume_of(const struct kind *kind, const struct cJSON *object)
{
	const char *name = "";

	if (strcmp(kind->name, "PersistentVolume") == 0)
		name = json_text(json_get(object, "metadata"), "name");
	else if (strcmp(kind->name, "PersistentVolumeClaim") == 0)
		name = json_text(json_get(object, "spec"), "volumeName");
	/* A claim that is not bound may have the name "": of all volumes, were it asked for. */
	return *name ? name : NULL;
}

/* Is the row of a copy about this object, or the volume that it makes? */
static bool is_copy_of(const struct podvol_table *operations, size_t row, const char *about,
		       const char *volume)
{
	const char *is_about =
		podvol_table_cell(operations, row, podvol_table_find(operations, "About"));
	const char *makes =
		podvol_table_cell(operations, row, podvol_table_find(operations, "Unique Name"));

	return strcmp(is_about, about) == 0 ||
	       (volume && strcmp(is_about, "-") != 0 && strcmp(makes, volume) == 0);
}

/* How far a volume is that is being filled, or a snapshot that is being taken. */
static int print_copy(struct cli *cli, const struct kind *kind, const struct cJSON *object,
		      const char *volume)
{
	const struct cJSON *metadata = json_get(object, "metadata");
	struct podvol_table *operations = NULL;
	cleanup_free char *about = NULL;
	int r;

	if (!volume && strcmp(kind->name, "PersistentVolumeClaim") != 0 &&
	    strcmp(kind->name, "VolumeSnapshot") != 0)
		return 0;
	about = new_text("%s %s/%s", kind->name, json_text(metadata, "namespace"),
			 json_text(metadata, "name"));
	if (!about)
		return -ENOMEM;
	r = podvol_table_get(cli->podvol, "/podvol/v1/operations", &operations);
	for (size_t row = 0; r == 0 && row < podvol_table_rows(operations); row++)
		if (is_copy_of(operations, row, about, volume))
			describe_field(
				cli, 0, "Copy",
				podvol_table_cell(operations, row,
						  podvol_table_find(operations, "Progress")));
	podvol_table_free(operations);
	return r;
}

int describe_object(struct cli *cli, const struct get_request *request,
		    const struct get_target *target)
{
	cleanup_free char *path = get_path(request, target);
	cleanup_json struct cJSON *object = NULL;
	const char *volume;
	int status, r = 0;

	get_about(cli, request, target);
	status = path ? get_tree(cli, path, &object) : EXIT_FAILED;
	if (status != EXIT_DONE)
		return status;
	print_metadata(cli, json_get(object, "metadata"));
	print_content(cli, target->kind, object);
	volume = volume_of(target->kind, object);
	r = print_copy(cli, target->kind, object, volume);
	if (r == 0 && volume)
		r = describe_uses(cli, volume);
	/* Events about what has no namespace are in the default one. */
	if (r == 0)
		r = describe_events(cli, target->kind->name,
				    target->kind->namespaced ? request->name_space : "default",
				    target->name);
	return r < 0 ? cli_failed(cli, r) : EXIT_DONE;
}
