/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event - v1.Event
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/shapes.h"

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
