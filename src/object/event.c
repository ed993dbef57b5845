/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event - v1.Event
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/field.h"
#include "object/kinds.h"
#include "object/shapes.h"

#include <assert.h>
#include <string.h>

static const struct shape_field event_source_fields[] = {
	{ .name = "component", .type = SHAPE_STRING },
	{ .name = "host", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape event_source_shape = {
	.name = "EventSource",
	.description = "Who tells of an event.",
	.fields = event_source_fields,
};

static const struct shape_field event_series_fields[] = {
	{ .name = "count", .type = SHAPE_INTEGER },
	{ .name = "lastObservedTime", .type = SHAPE_MICRO_TIME },
	{ 0 },
};

static const struct shape event_series_shape = {
	.name = "EventSeries",
	.description = "How often an event came again.",
	.fields = event_series_fields,
};

static const struct shape_field event_fields[] = {
	SHAPE_HEAD,
	{ .name = "action", .type = SHAPE_STRING, .description = "What was being done." },
	{ .name = "count", .type = SHAPE_INTEGER, .description = "How often." },
	{ .name = "eventTime",
	  .type = SHAPE_MICRO_TIME,
	  .description = "When it happened, exactly." },
	{ .name = "firstTimestamp", .type = SHAPE_TIME, .description = "When it happened first." },
	{ .name = "involvedObject",
	  .type = SHAPE_OBJECT,
	  .of = &object_reference_shape,
	  .description = "What it happened to.",
	  .required = true },
	{ .name = "lastTimestamp", .type = SHAPE_TIME, .description = "When it happened last." },
	{ .name = "message", .type = SHAPE_STRING, .description = "What happened, for people." },
	{ .name = "reason", .type = SHAPE_STRING, .description = "What happened, in one word." },
	{ .name = "related",
	  .type = SHAPE_OBJECT,
	  .of = &object_reference_shape,
	  .description = "Another object that has to do with it." },
	{ .name = "reportingComponent", .type = SHAPE_STRING, .description = "Who tells of it." },
	{ .name = "reportingInstance", .type = SHAPE_STRING, .description = "Which one of them." },
	{ .name = "series",
	  .type = SHAPE_OBJECT,
	  .of = &event_series_shape,
	  .description = "How often it came again." },
	{ .name = "source",
	  .type = SHAPE_OBJECT,
	  .of = &event_source_shape,
	  .description = "Who tells of it." },
	{ .name = "type", .type = SHAPE_STRING, .description = "Normal or Warning." },
	{ 0 },
};

const struct shape event_shape = {
	.name = "Event",
	.fields = event_fields,
};

enum { EVENT_MESSAGE_MAX = 1024, EVENT_WORD_MAX = 128 };

/* An event stands where its object does; what has no namespace has its events in "default". */
static int check_namespace(const struct cJSON *tree, bool is_new, struct violations *found)
{
	const struct field *field = FIELD(FIELD(NULL, "involvedObject"), "namespace");
	const char *own = json_string(json_get_path(tree, "metadata.namespace"), "");
	const char *involved = json_string(json_get_path(tree, "involvedObject.namespace"), "");

	if (*involved == '\0' &&
	    (strcmp(own, "default") == 0 || (is_new && strcmp(own, "kube-system") == 0)))
		return 0;
	if (strcmp(own, involved) == 0)
		return 0;
	return field_invalid(field, involved, "does not match event.namespace", found);
}

static int check_word(const struct cJSON *tree, const char *name, struct violations *found)
{
	const char *word = json_string(json_get(tree, name), "");

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
	if (r == 0 && is_new &&
	    strlen(json_string(json_get(tree, "message"), "")) > EVENT_MESSAGE_MAX)
		r = field_invalid(FIELD(NULL, "message"), "", "can have at most 1024 characters",
				  found);
	return r;
}
