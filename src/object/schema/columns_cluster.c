/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_cluster - what kubectl shows of settings, nodes, namespaces, events and leases
 */
#include "object/schema/table.h"
#include "object/timestamp.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void put_count(char text[TABLE_CELL_BYTES], const struct cJSON *tree, const char *path)
{
	(void) snprintf(text, TABLE_CELL_BYTES, "%zu", json_count(json_get_path(tree, path)));
}

void put_strings(char text[TABLE_CELL_BYTES], const struct cJSON *list, const char *when_empty)
{
	size_t used = 0;

	(void) snprintf(text, TABLE_CELL_BYTES, "%s", when_empty);
	for (const struct cJSON *item = json_first(list); item && used < TABLE_CELL_BYTES;
	     item = json_next(item))
		used += (size_t) snprintf(text + used, TABLE_CELL_BYTES - used, "%s%s",
					  used ? "," : "", json_string(item, ""));
}

void put_since(char text[TABLE_CELL_BYTES], const struct cJSON *time, uint64_t now_usec,
	       const char *when_absent)
{
	uint64_t usec = timestamp_parse(json_string(time, ""));

	if (usec == 0)
		(void) snprintf(text, TABLE_CELL_BYTES, "%s", when_absent);
	else
		table_age(usec, now_usec, text);
}

/* ---- settings ---- */

static void cell_config_map_data(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	(void) snprintf(text, TABLE_CELL_BYTES, "%zu",
			json_count(json_get(source->tree, "data")) +
				json_count(json_get(source->tree, "binaryData")));
}

const struct table_column config_map_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_BY("Data", cell_config_map_data),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column secret_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Type", "type"),
	COLUMN_AT("Data", "data", .type = CELL_COUNT),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column service_account_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Secrets", "secrets", .type = CELL_COUNT),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

/* ---- nodes ---- */

static void cell_node_status(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct cJSON *ready =
		json_find(json_get_path(source->tree, "status.conditions"), "type", "Ready");
	const char *word = "Unknown";

	if (ready)
		word = json_text_is(ready, "status", "True") ? "Ready" : "NotReady";
	(void) snprintf(text, TABLE_CELL_BYTES, "%s%s", word,
			json_bool(json_get_path(source->tree, "spec.unschedulable"), false)
				? ",SchedulingDisabled"
				: "");
}

/* From the labels, as in a cluster. */
static void cell_node_roles(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	static const char prefix[] = "node-role.kubernetes.io/";
	const struct labels *labels = &source->object->meta.labels;
	size_t used = 0;

	(void) snprintf(text, TABLE_CELL_BYTES, "<none>");
	for (size_t i = 0; i < labels->count && used < TABLE_CELL_BYTES; i++) {
		const char *role = NULL;

		if (strncmp(labels->labels[i].key, prefix, strlen(prefix)) == 0)
			role = labels->labels[i].key + strlen(prefix);
		else if (strcmp(labels->labels[i].key, "kubernetes.io/role") == 0)
			role = labels->labels[i].value;
		if (role && *role)
			used += (size_t) snprintf(text + used, TABLE_CELL_BYTES - used, "%s%s",
						  used ? "," : "", role);
	}
}

static void put_address(const struct table_source *source, const char *type,
			char text[TABLE_CELL_BYTES])
{
	const struct cJSON *address =
		json_find(json_get_path(source->tree, "status.addresses"), "type", type);

	(void) snprintf(text, TABLE_CELL_BYTES, "%s",
			json_string(json_get(address, "address"), "<none>"));
}

static void cell_node_internal(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put_address(source, "InternalIP", text);
}

static void cell_node_external(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	put_address(source, "ExternalIP", text);
}

#define NODE_INFO(member) .path = "status.nodeInfo." member, .when_absent = "<unknown>"

const struct table_column node_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_BY("Status", cell_node_status),
	COLUMN_BY("Roles", cell_node_roles),
	COLUMN_BY("Age", cell_age),
	COLUMN_AT("Version", "status.nodeInfo.kubeletVersion"),
	COLUMN_BY("Internal-IP", cell_node_internal, WIDE),
	COLUMN_BY("External-IP", cell_node_external, WIDE),
	COLUMN("OS-Image", NODE_INFO("osImage"), WIDE),
	COLUMN("Kernel-Version", NODE_INFO("kernelVersion"), WIDE),
	COLUMN("Container-Runtime", NODE_INFO("containerRuntimeVersion"), WIDE),
	{ 0 },
};

const struct table_column namespace_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Status", "status.phase"),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

/* ---- events ---- */

static void cell_event_first(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct cJSON *first = json_get(source->tree, "firstTimestamp");

	put_since(text, first ? first : json_get(source->tree, "eventTime"), source->now_usec,
		  "<unknown>");
}

static void cell_event_last(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct cJSON *last = json_get_path(source->tree, "series.lastObservedTime");

	if (!last)
		last = json_get(source->tree, "lastTimestamp");
	if (last)
		put_since(text, last, source->now_usec, "<unknown>");
	else
		cell_event_first(source, text);
}

/* "pod/web" */
static void cell_event_object(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const struct cJSON *object = json_get(source->tree, "involvedObject");
	const char *kind = json_text(object, "kind");

	(void) snprintf(text, TABLE_CELL_BYTES, "%s%s%s", kind, *kind ? "/" : "",
			json_text(object, "name"));
	for (char *at = text; *at && *at != '/'; at++)
		*at = (char) tolower((unsigned char) *at);
}

/* "podvold, node-1" */
static void cell_event_source(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const char *component = json_text_at(source->tree, "source.component");
	const char *host = json_text_at(source->tree, "source.host");

	if (*component == '\0')
		component = json_text(source->tree, "reportingComponent");
	if (*host == '\0')
		host = json_text(source->tree, "reportingInstance");
	(void) snprintf(text, TABLE_CELL_BYTES, "%s%s%s", component, *host ? ", " : "", host);
}

/* Blanks at its ends would tear the table. */
static void cell_event_message(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	const char *message = json_text(source->tree, "message");
	size_t length;

	message += strspn(message, " \t\r\n");
	(void) snprintf(text, TABLE_CELL_BYTES, "%s", message);
	for (length = strlen(text); length > 0 && strchr(" \t\r\n", text[length - 1]); length--)
		text[length - 1] = '\0';
}

static void cell_event_count(const struct table_source *source, char text[TABLE_CELL_BYTES])
{
	int64_t count = 0;

	if (!json_int64(json_get_path(source->tree, "series.count"), &count))
		(void) json_int64(json_get(source->tree, "count"), &count);
	(void) snprintf(text, TABLE_CELL_BYTES, "%" PRId64, count > 0 ? count : 1);
}

const struct table_column event_columns[] = {
	COLUMN_BY("Last Seen", cell_event_last),
	COLUMN_AT("Type", "type"),
	COLUMN_AT("Reason", "reason"),
	COLUMN_BY("Object", cell_event_object),
	COLUMN_AT("Subobject", "involvedObject.fieldPath", WIDE),
	COLUMN_BY("Source", cell_event_source, WIDE),
	COLUMN_BY("Message", cell_event_message),
	COLUMN_BY("First Seen", cell_event_first, WIDE),
	COLUMN_BY("Count", cell_event_count, WIDE),
	COLUMN_BY("Name", cell_name, WIDE),
	{ 0 },
};

const struct table_column lease_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("Holder", "spec.holderIdentity"),
	COLUMN_BY("Age", cell_age),
	{ 0 },
};

const struct table_column cluster_trust_bundle_columns[] = {
	COLUMN_BY("Name", cell_name),
	COLUMN_AT("SignerName", "spec.signerName"),
	{ 0 },
};
