/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests - a queue and a bucket of tokens before the HTTP client; see requests.h
 */
#include "cluster/requests.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timer.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

struct request {
	struct request *prev, *next;
	struct requests *requests;
	struct http_request http; /* path and body are owned */
	struct http_call *call;   /* NULL: it waits */
	uint64_t sent_usec;       /* monotonic, once it does not */
	void (*done)(void *userdata, const struct http_answer *answer);
	void *userdata;
};

struct requests {
	struct http_client *client;
	sd_event_source *timer; /* when the next token is there */
	struct request *waiting, *running;
	size_t waiting_count, running_count;
	unsigned int per_second;
	uint64_t halved_usec; /* monotonic, when per_second was */
	uint64_t tokens;      /* in TOKENths */
	uint64_t filled_usec; /* monotonic, when tokens was right */
	uint64_t held_usec;   /* until then nothing is sent */
};

enum {
	TOKEN = 1000000, /* a request; per_second of these parts are added in a microsecond */
	QUICK_STEP = 10, /* a second, for each quick answer */
};

static void request_free(struct request *request)
{
	free((char *) (uintptr_t) request->http.path);
	free((char *) (uintptr_t) request->http.body);
	free(request);
}

static void leave(struct request *request)
{
	struct requests *requests = request->requests;

	if (request->call) {
		DL_DELETE(requests->running, request);
		requests->running_count--;
	} else {
		DL_DELETE(requests->waiting, request);
		requests->waiting_count--;
	}
}

static void send_waiting(struct requests *requests);

static void fill(struct requests *requests, uint64_t now_usec)
{
	const uint64_t most = (uint64_t) REQUESTS_BURST_MAX * TOKEN;
	uint64_t missing_usec = (most - requests->tokens) / requests->per_second + 1;

	if (now_usec - requests->filled_usec >= missing_usec)
		requests->tokens = most;
	else
		requests->tokens += (now_usec - requests->filled_usec) * requests->per_second;
	requests->filled_usec = now_usec;
}

static bool is_quick(const struct request *request, const struct http_answer *answer,
		     uint64_t now_usec)
{
	return answer->error == 0 && answer->status != 429 && answer->status < 500 &&
	       now_usec - request->sent_usec < REQUESTS_QUICK_MSEC * USEC_PER_MSEC;
}

/* A server that answers late has enough to do, whatever its answer is. Those that were under way
 * together say it once, as with TCP. */
static void adapt(struct requests *requests, const struct request *request,
		  const struct http_answer *answer)
{
	uint64_t now_usec = monotonic_usec();

	fill(requests, now_usec);
	if (is_quick(request, answer, now_usec)) {
		requests->per_second += QUICK_STEP;
		if (requests->per_second > REQUESTS_PER_SECOND_MAX)
			requests->per_second = REQUESTS_PER_SECOND_MAX;
	} else if (request->sent_usec >= requests->halved_usec) {
		requests->halved_usec = now_usec;
		requests->per_second /= 2;
		if (requests->per_second < REQUESTS_PER_SECOND_MIN)
			requests->per_second = REQUESTS_PER_SECOND_MIN;
	}
}

static void answered(void *userdata, const struct http_answer *answer)
{
	struct request *request = userdata;
	struct requests *requests = request->requests;

	leave(request);
	request->call = NULL;
	adapt(requests, request, answer);
	if (answer->status == 429)
		requests->held_usec =
			monotonic_usec() + (answer->retry_after_seconds + 1) * USEC_PER_SEC;
	request->done(request->userdata, answer);
	request_free(request);
	send_waiting(requests);
}

static int send_first(struct requests *requests, uint64_t now_usec)
{
	struct request *request = requests->waiting;
	int r = http_client_call(requests->client, &request->http, &request->call);

	if (r < 0)
		return r;
	request->sent_usec = now_usec;
	requests->tokens -= TOKEN;
	DL_DELETE(requests->waiting, request);
	requests->waiting_count--;
	DL_APPEND(requests->running, request);
	requests->running_count++;
	return 0;
}

/* A client that has no room now is asked again with the next token. */
static void send_waiting(struct requests *requests)
{
	uint64_t now_usec = monotonic_usec();
	int r;

	fill(requests, now_usec);
	while (requests->waiting && requests->running_count < REQUESTS_IN_FLIGHT_MAX) {
		if (now_usec < requests->held_usec) {
			timer_set(requests->timer, requests->held_usec);
			return;
		}
		r = requests->tokens < TOKEN ? -EAGAIN : send_first(requests, now_usec);
		if (r < 0) {
			timer_set(requests->timer,
				  now_usec + (r == -ENOKEY ? USEC_PER_SEC
							   : USEC_PER_SEC / requests->per_second));
			return;
		}
	}
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	send_waiting(userdata);
	return 0;
}

int requests_send(struct requests *requests, const struct http_request *http, struct request **ret)
{
	struct request *request;

	assert(requests && http && http->method && http->path && http->done && ret);
	if (requests->waiting_count >= REQUESTS_QUEUED_MAX)
		return -ENOBUFS;
	request = calloc(1, sizeof(*request));
	if (!request)
		return -ENOMEM;
	request->requests = requests;
	request->done = http->done;
	request->userdata = http->userdata;
	request->http = *http;
	request->http.path = strdup(http->path);
	request->http.body = http->body ? strdup(http->body) : NULL;
	if (http->timeout_usec == 0)
		request->http.timeout_usec = REQUEST_SECONDS * USEC_PER_SEC;
	request->http.done = answered;
	request->http.userdata = request;
	if (!request->http.path || (http->body && !request->http.body)) {
		request_free(request);
		return -ENOMEM;
	}
	DL_APPEND(requests->waiting, request);
	requests->waiting_count++;
	timer_set_in(requests->timer, 0);
	*ret = request;
	return 0;
}

struct request *request_cancel(struct request *request)
{
	if (!request)
		return NULL;
	leave(request);
	(void) http_call_cancel(request->call);
	request_free(request);
	return NULL;
}

int requests_new(sd_event *event, struct http_client *client, struct requests **ret)
{
	struct requests *requests = calloc(1, sizeof(*requests));
	int r;

	if (!requests)
		return -ENOMEM;
	requests->client = client;
	requests->per_second = REQUESTS_PER_SECOND_MIN;
	requests->tokens = (uint64_t) REQUESTS_BURST_MAX * TOKEN;
	requests->filled_usec = monotonic_usec();
	r = timer_new(event, 1000, on_timer, requests, &requests->timer);
	if (r < 0) {
		(void) requests_free(requests);
		return r;
	}
	*ret = requests;
	return 0;
}

struct requests *requests_free(struct requests *requests)
{
	if (!requests)
		return NULL;
	while (requests->waiting)
		(void) request_cancel(requests->waiting);
	while (requests->running)
		(void) request_cancel(requests->running);
	(void) sd_event_source_disable_unref(requests->timer);
	free(requests);
	return NULL;
}

bool requests_are_waiting(const struct requests *requests)
{
	return requests->waiting != NULL;
}

void requests_view(const struct requests *requests, struct cJSON *view)
{
	(void) json_set_int(view, "requestsQueued", (int64_t) requests->waiting_count);
	(void) json_set_int(view, "requestsRunning", (int64_t) requests->running_count);
	(void) json_set_int(view, "requestsPerSecondMax", (int64_t) requests->per_second);
}
