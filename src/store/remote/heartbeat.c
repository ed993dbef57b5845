/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heartbeat - one timer and at most one call; see heartbeat.h
 */
#include "store/remote/heartbeat.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct heartbeat {
	struct http_client *client;
	sd_event_source *timer;
	struct http_call *call;
	uint64_t asked_usec;
	unsigned int silent_msec, answer_msec;
	bool is_over; /* the server did not answer */
};

static void wait_again(struct heartbeat *heartbeat)
{
	timer_set_in(heartbeat->timer, heartbeat->silent_msec * USEC_PER_MSEC);
}

/* What came meanwhile on another connection shows that the server is there. */
static void answered(void *userdata, const struct http_answer *answer)
{
	struct heartbeat *heartbeat = userdata;

	heartbeat->call = NULL;
	heartbeat->is_over = answer->error == -ETIMEDOUT &&
			     http_client_received_usec(heartbeat->client) < heartbeat->asked_usec;
	if (heartbeat->is_over)
		timer_set(heartbeat->timer, 0); /* not from here */
	else
		wait_again(heartbeat);
}

static void drop(struct heartbeat *heartbeat)
{
	heartbeat->is_over = false;
	log_message(LOG_WARNING,
		    "the kube-apiserver has answered nothing for %u seconds: its "
		    "connections are made again",
		    (heartbeat->silent_msec + heartbeat->answer_msec) / 1000);
	http_client_drop_connections(heartbeat->client);
}

static void send_ping(struct heartbeat *heartbeat)
{
	const struct http_request request = { .method = "GET",
					      .path = "/livez",
					      .timeout_usec =
						      heartbeat->answer_msec * USEC_PER_MSEC,
					      .done = answered,
					      .userdata = heartbeat };

	heartbeat->asked_usec = monotonic_usec();
	if (http_client_call(heartbeat->client, &request, &heartbeat->call) < 0)
		wait_again(heartbeat);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct heartbeat *heartbeat = userdata;
	uint64_t due_usec = http_client_received_usec(heartbeat->client) +
			    heartbeat->silent_msec * USEC_PER_MSEC;

	if (heartbeat->is_over)
		drop(heartbeat);
	if (http_client_call_count(heartbeat->client) == 0)
		wait_again(heartbeat);
	else if (monotonic_usec() < due_usec)
		timer_set(heartbeat->timer, due_usec);
	else
		send_ping(heartbeat);
	return 0;
}

int heartbeat_new(sd_event *event, struct http_client *client, unsigned int silent_msec,
		  unsigned int answer_msec, struct heartbeat **ret)
{
	struct heartbeat *heartbeat = calloc(1, sizeof(*heartbeat));
	int r;

	assert(event && client && ret);
	if (!heartbeat)
		return -ENOMEM;
	heartbeat->client = client;
	heartbeat->silent_msec = silent_msec;
	heartbeat->answer_msec = answer_msec;
	r = sd_event_add_time_relative(event, &heartbeat->timer, CLOCK_MONOTONIC,
				       silent_msec * USEC_PER_MSEC, 0, on_timer, heartbeat);
	if (r < 0) {
		free(heartbeat);
		return r;
	}
	(void) sd_event_source_set_description(heartbeat->timer, "kube-apiserver-heartbeat");
	*ret = heartbeat;
	return 0;
}

struct heartbeat *heartbeat_free(struct heartbeat *heartbeat)
{
	if (!heartbeat)
		return NULL;
	(void) http_call_cancel(heartbeat->call);
	(void) sd_event_source_disable_unref(heartbeat->timer);
	free(heartbeat);
	return NULL;
}
