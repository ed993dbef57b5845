/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_text - an event of the store as the server wants it, in events.k8s.io/v1 or v1; pure
 *
 * In the newer API a series has the count, and the server refuses a note that is too long, so it is
 * cut. Versions, uids and what else is the store's own are not sent.
 */
#include "cluster/event_text.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <string.h>

#define CONTROLLER "podvol.io/podvold"
#define ACTION     "ManageVolumes"

static void set_micro_time(struct cJSON *parent, const char *key, const struct cJSON *from)
{
	char text[TIMESTAMP_BYTES];

	timestamp_print_micro(timestamp_parse(json_string(from, "")), text);
	(void) json_set_string(parent, key, text);
}

/* Between two characters of UTF-8. */
static void set_note(struct cJSON *tree, const char *message)
{
	char note[EVENT_NOTE_BYTES + 1];
	size_t length = strlen(message);

	if (length > EVENT_NOTE_BYTES) {
		length = EVENT_NOTE_BYTES - 3;
		while (length > 0 && ((unsigned char) message[length] & 0xc0) == 0x80)
			length--;
		(void) snprintf(note, sizeof(note), "%.*s...", (int) length, message);
		message = note;
	}
	(void) json_set_string(tree, "note", message);
}

int64_t event_count(const struct cJSON *event)
{
	int64_t count = 1;

	(void) json_int64(json_get(event, "count"), &count);
	return count;
}

/* One that happened once is none. */
static void add_series(struct cJSON *tree, const struct cJSON *event)
{
	struct cJSON *series;

	if (event_count(event) < 2)
		return;
	series = json_add_object(tree, "series");
	(void) json_set_int(series, "count", event_count(event));
	set_micro_time(series, "lastObservedTime", json_get(event, "lastTimestamp"));
}

static void copy(struct cJSON *tree, const struct cJSON *event, const char *key)
{
	const struct cJSON *member = json_get(event, key);

	if (member)
		(void) json_set(tree, key, json_copy(member));
}

static struct cJSON *reference_of(const struct cJSON *event)
{
	struct cJSON *reference = json_copy(json_get(event, "involvedObject"));

	json_remove(reference, "resourceVersion"); /* of the store */
	return reference;
}

static void add_core(struct cJSON *tree, const struct cJSON *event)
{
	static const char *const keys[] = { "type",
					    "reason",
					    "message",
					    "source",
					    "firstTimestamp",
					    "lastTimestamp",
					    "count",
					    "reportingComponent",
					    "reportingInstance" };

	(void) json_set(tree, "involvedObject", reference_of(event));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		copy(tree, event, keys[i]);
}

static void add_newer(struct cJSON *tree, const struct cJSON *event)
{
	set_micro_time(tree, "eventTime", json_get(event, "firstTimestamp"));
	copy(tree, event, "type");
	copy(tree, event, "reason");
	(void) json_set_string(tree, "action", ACTION);
	set_note(tree, json_text(event, "message"));
	(void) json_set(tree, "regarding", reference_of(event));
	(void) json_set_string(tree, "reportingController", CONTROLLER);
	copy(tree, event, "reportingInstance");
	add_series(tree, event);
}

char *event_text(const struct cJSON *event, bool is_core)
{
	cleanup_json struct cJSON *tree = json_new_object();
	const struct cJSON *metadata = json_get(event, "metadata");
	struct cJSON *own;

	(void) json_set_string(tree, "apiVersion", is_core ? "v1" : "events.k8s.io/v1");
	(void) json_set_string(tree, "kind", "Event");
	own = json_add_object(tree, "metadata");
	copy(own, metadata, "name");
	copy(own, metadata, "namespace");
	if (is_core)
		add_core(tree, event);
	else
		add_newer(tree, event);
	return json_print(tree);
}

char *event_series_text(const struct cJSON *event, bool is_core)
{
	cleanup_json struct cJSON *tree = json_new_object();

	if (is_core) {
		copy(tree, event, "count");
		copy(tree, event, "lastTimestamp");
	} else {
		add_series(tree, event);
	}
	return json_print(tree);
}
