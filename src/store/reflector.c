/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector - lists, watches, and lists again; see reflector.h
 */
#include "store/reflector.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define RETRY_USEC USEC_PER_SEC

struct reflector {
	struct reflector_options options;
	struct store_watch *watch; /* NULL: there was no memory for it */
	sd_event_source *retry;    /* off but while it is behind */
	bool is_behind;
};

static void on_changes(void *userdata);

/* The watch first: what changes during the lists is delivered twice rather than never. */
static int list_and_watch(struct reflector *reflector)
{
	const struct reflector_options *options = &reflector->options;
	int r;

	reflector->watch = store_watch_free(reflector->watch);
	if (options->begin)
		options->begin(options->userdata);
	r = store_watch_new(options->store, options->kinds, store_resource_version(options->store),
			    on_changes, reflector, &reflector->watch);
	for (size_t i = 0; i < options->list_count && r == 0; i++)
		r = store_list(options->store, options->lists[i].kind, NULL, options->lists[i].take,
			       options->userdata);
	reflector->is_behind = r < 0;
	return r;
}

void reflector_list_again(struct reflector *reflector)
{
	if (list_and_watch(reflector) == 0)
		return;
	log_message(LOG_ERR, "out of memory: %s are listed again in a second",
		    reflector->options.what);
	(void) sd_event_source_set_time_relative(reflector->retry, RETRY_USEC);
	(void) sd_event_source_set_enabled(reflector->retry, SD_EVENT_ONESHOT);
}

void reflector_catch_up(struct reflector *reflector)
{
	const struct reflector_options *options = &reflector->options;
	const struct store_change *change;
	int r = 0;

	while (reflector->watch && (r = store_watch_next(reflector->watch, &change)) > 0)
		if (options->take_change(change, options->userdata) < 0)
			log_message(LOG_ERR, "out of memory: '%s' waits for its next change",
				    change->object->meta.name);
	if (r < 0)
		reflector_list_again(reflector);
}

static void on_changes(void *userdata)
{
	struct reflector *reflector = userdata;

	reflector_catch_up(reflector);
	reflector->options.act(reflector->options.userdata);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct reflector *reflector = userdata;

	reflector_list_again(reflector);
	reflector->options.act(reflector->options.userdata);
	return 0;
}

bool reflector_is_behind(const struct reflector *reflector)
{
	return reflector->is_behind;
}

int reflector_new(const struct reflector_options *options, struct reflector **ret)
{
	struct reflector *reflector = calloc(1, sizeof(*reflector));
	int r;

	assert(options->event && options->store && options->what && ret);
	assert(options->take_change && options->act);
	if (!reflector)
		return -ENOMEM;
	reflector->options = *options;
	r = sd_event_add_time(options->event, &reflector->retry, CLOCK_MONOTONIC, UINT64_MAX, 0,
			      on_retry, reflector);
	if (r >= 0)
		r = sd_event_source_set_priority(reflector->retry, options->priority);
	if (r >= 0)
		r = sd_event_source_set_enabled(reflector->retry, SD_EVENT_OFF);
	if (r >= 0)
		r = list_and_watch(reflector);
	if (r < 0) {
		(void) reflector_free(reflector);
		return r;
	}
	*ret = reflector;
	return 0;
}

struct reflector *reflector_free(struct reflector *reflector)
{
	if (!reflector)
		return NULL;
	(void) store_watch_free(reflector->watch);
	(void) sd_event_source_disable_unref(reflector->retry);
	free(reflector);
	return NULL;
}
