/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server - starts and stops the listeners and what they share
 *
 * The library aborts when it is stopped with a connection suspended, so api_free() wakes all first.
 */
#include "api/http/transport.h"

#include "api/auth/peer.h"
#include "api/auth/refusals.h"
#include "api/docker/docker_volume.h"
#include "api/http/listen.h"
#include "api/objects/watches.h"
#include "base/clock.h"
#include "base/timer.h"

#include <assert.h>

/* An answer of full length may take so many times as long to read as a request to write. */
enum { ANSWER_TIMES = 5 };

/* A watch outlives its token's end by so long at most. */
#define TOKENS_CHECK_USEC (2 * USEC_PER_SEC)

/* One body at a time bounds the memory; but behind one that takes long no short one waits. What
 * comes back takes its turn among requests: later, and who asks all the time could stop it. */
static int start_readers(struct api *api, struct failure *reterr)
{
	const struct worker_limits limits = { .threads = 1,
					      .threads_max = API_READERS_MAX,
					      .set_aside_usec = API_READER_USEC_MAX };
	int r;

	r = worker_return_new(api->options.event, SD_EVENT_PRIORITY_NORMAL, &api->from_readers);
	if (r == 0)
		r = worker_pool_new("api-reader", api->from_readers, &limits, &api->readers);
	return r < 0 ? failed(reterr, r, "cannot prepare the reading of requests") : 0;
}

static int start_deadlines(struct api *api, struct failure *reterr)
{
	const struct api_options *options = &api->options;
	const uint64_t length_usec[DEADLINE_PHASES] = {
		[DEADLINE_UNAUTHENTICATED] = API_UNAUTHENTICATED_SECONDS_MAX * USEC_PER_SEC,
		[DEADLINE_IDLE] = options->idle_seconds * USEC_PER_SEC,
		[DEADLINE_REQUEST] = options->request_seconds * USEC_PER_SEC,
		[DEADLINE_ANSWER] = options->request_seconds * USEC_PER_SEC * ANSWER_TIMES,
	};
	int r = deadlines_new(options->event, length_usec, &api->deadlines);

	return r < 0 ? failed(reterr, r, "cannot prepare the deadlines of requests") : 0;
}

static int on_tokens_check(sd_event_source *source, uint64_t usec, void *userdata)
{
	if (http_check_tokens(userdata))
		api_check_tokens_later(userdata);
	return 0;
}

/* One timer for all; while it is on, there is nothing to do. */
void api_check_tokens_later(struct api *api)
{
	if (!timer_is_set(api->tokens_check))
		timer_set_in(api->tokens_check, TOKENS_CHECK_USEC);
}

static int start_tokens_check(struct api *api, struct failure *reterr)
{
	int r = timer_new(api->options.event, 0, on_tokens_check, api, &api->tokens_check);

	return r < 0 ? failed(reterr, r, "cannot prepare the check of tokens") : 0;
}

static int start_listeners(struct api *api, struct failure *reterr)
{
	int r = 0;

	for (size_t i = 0; i < api->options.listener_count && r == 0; i++) {
		api->listeners[i] =
			(struct listener){ .api = api, .kind = api->options.listeners[i].kind };
		api->listener_count++;
		r = listener_start(&api->listeners[i], api->options.listeners[i].fd, reterr);
	}
	return r;
}

static int check_listeners(const struct api_options *options, struct failure *reterr)
{
	for (size_t i = 0; i < options->listener_count; i++) {
		int r = listen_check(&options->listeners[i], reterr);

		if (r < 0)
			return r;
	}
	return 0;
}

int api_new(const struct api_options *options, struct api **ret, struct failure *reterr)
{
	struct api *api;
	int r;

	assert(options && options->event && options->agent && options->connections_max > 0);
	assert(options->listener_count <= API_LISTENER_COUNT);
	assert(options->idle_seconds > 0 && options->request_seconds > 0);
	r = check_listeners(options, reterr);
	if (r < 0)
		return r;
	api = calloc(1, sizeof(*api));
	if (!api)
		return failed(reterr, -ENOMEM, "cannot start the HTTP server");
	api->options = *options;
	api->group = peer_group_id();

	r = start_readers(api, reterr);
	if (r == 0)
		r = start_tokens_check(api, reterr);
	if (r == 0)
		r = start_deadlines(api, reterr);
	if (r == 0 && watches_new(options->event, options->watches_max, &api->watches) < 0)
		r = failed(reterr, -ENOMEM, "cannot prepare watches");
	if (r == 0 && refusals_new(options->event, &api->refusals) < 0)
		r = failed(reterr, -ENOMEM, "cannot prepare the count of refusals");
	if (r == 0)
		r = start_listeners(api, reterr);
	if (r == 0)
		r = docker_volume_start(options->agent, reterr);
	if (r < 0) {
		for (size_t i = 0; i < api->listener_count; i++)
			listener_give_back(&api->listeners[i]);
		(void) api_free(api);
		return r;
	}
	*ret = api;
	return 0;
}

struct api *api_free(struct api *api)
{
	if (!api)
		return NULL;
	api->stopping = true;
	http_abandon_all(api);
	for (size_t i = 0; i < api->listener_count; i++)
		listener_stop(&api->listeners[i]);
	assert(!api->requests && api->body_bytes == 0 && api->reply_bytes == 0);
	api->tokens_check = sd_event_source_disable_unref(api->tokens_check);
	api->watches = watches_free(api->watches);
	api->refusals = refusals_free(api->refusals);
	api->deadlines = deadlines_free(api->deadlines);
	/* What they still read belongs to none now and frees itself. */
	api->readers = worker_pool_free(api->readers);
	api->from_readers = worker_return_free(api->from_readers);
	free(api);
	return NULL;
}
