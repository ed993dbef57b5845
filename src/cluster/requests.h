/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests - single requests to the server: so many at a time, so many a second, the rest in order
 *
 * How many a second follows what the server answers: each quick answer adds to it, one that is
 * slow, an error or 429 halves it. Lists and watches do not pass here: they are few and have pauses
 * of their own. An answer 429 holds all of them back for the time that the server asks for. The
 * loop thread only.
 */
#pragma once

#include "store/remote/http_client.h"

enum {
	REQUESTS_IN_FLIGHT_MAX = 16,
	REQUESTS_PER_SECOND_MIN = 50, /* kubelet's kubeAPIQPS */
	REQUESTS_PER_SECOND_MAX = 1000,
	REQUESTS_BURST_MAX = 100, /* kubelet's kubeAPIBurst */
	REQUESTS_QUICK_MSEC = 200,
	REQUESTS_QUEUED_MAX = 20000,
	REQUEST_SECONDS = 30,
};

struct cJSON;
struct requests;
struct request;

int requests_new(sd_event *event, struct http_client *client, struct requests **ret);
/* Nothing is called any more. Accepts NULL. Return: NULL. */
struct requests *requests_free(struct requests *requests);

/* As http_client_call(), in its turn; a timeout of 0 is REQUEST_SECONDS. @ret is gone when done()
 * is called. Return: 0; -ENOBUFS, -ENOMEM: then done() is not called. */
int requests_send(struct requests *requests, const struct http_request *request,
		  struct request **ret);
/* done() is not called any more. Accepts NULL. Return: NULL. */
struct request *request_cancel(struct request *request);

/* Has not every request been sent? */
bool requests_are_waiting(const struct requests *requests);
/* For people; added to @view. */
void requests_view(const struct requests *requests, struct cJSON *view);
