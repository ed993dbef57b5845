/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event - v1.Event
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"

#include <string.h>

/* clang-format off */
static const struct schema event_source_schema = SCHEMA("EventSource", "What reports an event.",
	STRING("component"),
	STRING("host"),
);

static const struct schema event_series_schema = SCHEMA("EventSeries",
	"How often an event came again.",
	INTEGER("count"),
	MICRO_TIME("lastObservedTime"),
);

const struct schema event_schema = SCHEMA("Event", NULL,
	SCHEMA_HEAD,
	STRING("action", 0, "What was being done."),
	INTEGER("count", 0, "How often."),
	MICRO_TIME("eventTime", 0, "When it happened, exactly."),
	TIME("firstTimestamp", 0, "When it happened first."),
	OBJECT(object_reference_schema, "involvedObject", REQUIRED, "What it happened to."),
	TIME("lastTimestamp", 0, "When it happened last."),
	STRING("message", 0, "What happened, for people."),
	STRING("reason", 0, "What happened, in one word."),
	OBJECT(object_reference_schema, "related", 0, "Another object that has to do with it."),
	STRING("reportingComponent", 0, "What reports it."),
	STRING("reportingInstance", 0, "Which one of them."),
	OBJECT(event_series_schema, "series", 0, "How often it came again."),
	OBJECT(event_source_schema, "source", 0, "What reports it."),
	STRING("type", 0, "Normal or Warning."),
);
/* clang-format on */

enum { EVENT_MESSAGE_MAX = 1024, EVENT_WORD_MAX = 128 };

/* An event stands where its object does; what has no namespace has its events in "default". */
static bool check_namespace(const struct field *event, bool is_new)
{
	const struct field *field = FIELD(event, "involvedObject.namespace");
	const char *own = json_text_at(event->item, "metadata.namespace");
	const char *involved = field_text(field);

	if (*involved == '\0' &&
	    (strcmp(own, "default") == 0 || (is_new && strcmp(own, "kube-system") == 0)))
		return true;
	return strcmp(own, involved) == 0 ||
	       field_invalid(field, involved, "does not match event.namespace");
}

static bool check_word(const struct field *word)
{
	return field_check_present(word) &&
	       (strlen(field_text(word)) <= EVENT_WORD_MAX ||
		field_invalid(word, "", "can have at most 128 characters"));
}

/* Those with eventTime are of the newer form, of which more is asked. */
bool event_validate(const struct field *event)
{
	static const char *const words[] = { "reportingComponent", "reportingInstance", "action",
					     "reason", NULL };
	const struct field *message = FIELD(event, "message");
	bool is_new = json_get(event->item, "eventTime") != NULL;

	if (!check_namespace(event, is_new))
		return false;
	for (size_t i = 0; words[i] && is_new; i++)
		if (!check_word(FIELD(event, words[i])))
			return false;
	return !is_new || strlen(field_text(message)) <= EVENT_MESSAGE_MAX ||
	       field_invalid(message, "", "can have at most 1024 characters");
}
