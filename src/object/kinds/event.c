/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event - v1.Event
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"

#include <assert.h>
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
static int check_namespace(const struct cJSON *tree, bool is_new, struct violations *found)
{
	const struct field *field = FIELD(FIELD(NULL, "involvedObject"), "namespace");
	const char *own = json_text_at(tree, "metadata.namespace");
	const char *involved = json_text_at(tree, "involvedObject.namespace");

	if (*involved == '\0' &&
	    (strcmp(own, "default") == 0 || (is_new && strcmp(own, "kube-system") == 0)))
		return 0;
	if (strcmp(own, involved) == 0)
		return 0;
	return field_invalid(field, involved, "does not match event.namespace", found);
}

static int check_word(const struct cJSON *tree, const char *name, struct violations *found)
{
	const char *word = json_text(tree, name);

	if (*word == '\0')
		return field_required(FIELD(NULL, name), "", found);
	if (strlen(word) > EVENT_WORD_MAX)
		return field_invalid(FIELD(NULL, name), "", "can have at most 128 characters",
				     found);
	return 0;
}

/* Those with eventTime are of the newer form, of which more is asked. */
int event_validate(const struct cJSON *tree, struct violations *found)
{
	static const char *const words[] = { "reportingComponent", "reportingInstance", "action",
					     "reason", NULL };
	bool is_new = json_get(tree, "eventTime") != NULL;
	int r;

	assert(tree);
	r = check_namespace(tree, is_new, found);
	for (size_t i = 0; words[i] && is_new && r == 0; i++)
		r = check_word(tree, words[i], found);
	if (r == 0 && is_new && strlen(json_text(tree, "message")) > EVENT_MESSAGE_MAX)
		r = field_invalid(FIELD(NULL, "message"), "", "can have at most 1024 characters",
				  found);
	return r;
}
