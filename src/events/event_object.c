/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_object - see event_object.h
 */
#include "events/event_object.h"

#include "base/text.h"
#include "events/events.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <stdio.h>
#include <string.h>

/* ---- what makes two events the same ---- */

/* All but what EVENT_ATTEMPT begins, which has to end the text. */
static int compared_length(const char *text)
{
	const char *end = strrchr(text, '('), *cut = NULL;

	if (end && end > text && text[strlen(text) - 1] == ')')
		cut = strncmp(end - 1, EVENT_ATTEMPT, strlen(EVENT_ATTEMPT)) == 0 ? end - 1 : NULL;
	return (int) (cut ? (size_t) (cut - text) : strlen(text));
}

char *event_key(const char *kind, const char *name, const char *uid, const char *reason,
		const char *text)
{
	return new_text("%s/%s/%s/%s/%.*s", kind, name, uid, reason, compared_length(text), text);
}

char *event_stored_key(const struct cJSON *tree)
{
	const struct cJSON *about = json_get(tree, "involvedObject");

	return event_key(json_text(about, "kind"), json_text(about, "name"),
			 json_text(about, "uid"), json_text(tree, "reason"),
			 json_text(tree, "message"));
}

/* ---- as an object ---- */

const char *event_namespace(const struct object *about)
{
	return *about->meta.name_space ? about->meta.name_space : "default";
}

static void set_time(struct cJSON *parent, const char *key, uint64_t usec)
{
	char text[TIMESTAMP_BYTES];

	timestamp_print(usec, text);
	(void) json_set_string(parent, key, text);
}

struct cJSON *event_tree(const char *node_name, const char *path, const struct event_record *record)
{
	struct cJSON *tree = json_new_object(), *metadata, *source;

	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", "Event");
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "name", strchr(path, '/') + 1);
	(void) json_set_string(metadata, "namespace", event_namespace(record->about));
	object_write_reference(record->about, json_add_object(tree, "involvedObject"));
	(void) json_set_string(tree, "type", record->type);
	(void) json_set_string(tree, "reason", record->reason);
	(void) json_set_string(tree, "message", record->text);
	source = json_add_object(tree, "source");
	(void) json_set_string(source, "component", "podvold");
	(void) json_set_string(source, "host", node_name);
	(void) json_set_int(tree, "count", (int64_t) record->count);
	set_time(tree, "firstTimestamp", record->first_usec);
	set_time(tree, "lastTimestamp", record->last_usec);
	(void) json_set_string(tree, "reportingComponent", "podvold");
	(void) json_set_string(tree, "reportingInstance", node_name);
	return tree;
}
