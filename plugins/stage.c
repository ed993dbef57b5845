/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage - what every plugin does with its list of stages and its report; see plugin.h
 *
 * Runs no stage: that is operation's business.
 */
#include "plugins/plugin.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS_BYTES = offsetof(struct stage_report, failure) };

struct stage_report *stage_report_brief(void)
{
	static const char no_text[] = "out of memory: the text of the error is lost";
	char *brief = calloc(1, offsetof(struct stage_report, failure.text) + sizeof(no_text));

	if (brief)
		memcpy(brief + offsetof(struct stage_report, failure.text), no_text,
		       sizeof(no_text));
	return (struct stage_report *) brief;
}

struct stage_report *stage_report_whole(const struct stage_report *brief)
{
	struct stage_report *whole = malloc(sizeof(*whole));

	if (!whole)
		return NULL;
	memcpy(whole, brief, FACTS_BYTES);
	whole->failure.error = 0;
	whole->failure.text[0] = '\0';
	return whole;
}

bool stage_report_shorten(const struct stage_report *whole, struct stage_report *ret_brief)
{
	if (whole->event_count > 0 || whole->growth_error != 0)
		return false;
	memcpy(ret_brief, whole, FACTS_BYTES);
	return true;
}

void stage_event_add(struct stage_report *report, bool about_pv, const char *type,
		     const char *reason, const char *format, ...)
{
	struct stage_event *event;
	char text[FAILURE_TEXT_BYTES];
	va_list arguments;

	assert(report && type && reason);
	if (report->event_count == STAGE_EVENTS_MAX)
		return; /* the first ones are the reasons of the later ones */

	event = &report->events[report->event_count++];
	event->about_pv = about_pv;
	event->type = type;
	event->reason = reason;
	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_fit(event->text, sizeof(event->text), text);
}

void stage_list_done(struct stage_list *list)
{
	assert(list);
	if (list->free_data)
		list->free_data(list->data);
	*list = (struct stage_list){ 0 };
}
