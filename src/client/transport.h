/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport - one request on one libcurl handle: its options, what comes back, what went wrong
 *
 * Used by the calls that block (client.c) and by those that do not (call.c). With watch.c these are
 * the files that know curl.
 */
#pragma once

#include "base/byte_buffer.h"
#include "client/podvol.h"

#include <curl/curl.h>
#include <stdbool.h>

struct calls;

enum { ERROR_BYTES = 8192 }; /* a whole failure of podvold in a sentence */

enum { PLACE_BYTES = 512 };

/* Where podvold is; may be copied. */
struct server {
	char address[PLACE_BYTES];    /* path of the socket, or "https://example.com:8443" */
	char ca_file[PLACE_BYTES];    /* "": the system's authorities */
	char token_file[PLACE_BYTES]; /* read for each request; "": none */
};

/* What is known of the last call. */
struct outcome {
	char error[ERROR_BYTES]; /* "": none */
	int status;              /* of HTTP; 0: there was no answer */
};

/* An answer while it arrives; all zero at first. The bytes are freed with free(). */
struct receiver {
	struct byte_buffer answer;
	bool too_long;
};

/* Callers' mistakes are theirs to fix: an error code, never an assertion. */
bool transport_is_valid(const struct podvol_request *request);

/**
 * transport_set_up - give a handle everything that it needs to send a request
 * @curl:        loses the options of the request before, keeps its connection
 * @server:      copied, as is all of @request but its body, which must stay until the end
 * @receiver:    must stay where it is until the transfer has ended
 * @ret_headers: the caller's, to be freed with curl_slist_free_all() when the transfer has ended,
 *               also after a failure
 *
 * Return: 0; -EINVAL a header or the path is not valid; -ENOMEM; else why the token cannot be read.
 */
int transport_set_up(CURL *curl, const struct server *server, const struct podvol_request *request,
		     struct receiver *receiver, struct curl_slist **ret_headers);

/* The part of it that says where, by whom and in which form (@accept NULL: JSON): for the watch,
 * which has options of its own, and for the next request over again. The path follows the base.
 * Return: as transport_set_up(). */
int transport_set_server(CURL *curl, const struct server *server, const char *accept,
			 struct curl_slist **ret_headers);
const char *transport_base(const struct server *server);

/**
 * transport_end - what a transfer that has ended means
 * @code: how it ended
 * @ret:  the answer, whatever its status; not written when there was none; may be NULL
 *
 * Takes the receiver's bytes. Return: 0, or an errno as podvol.h lists them.
 */
int transport_end(CURL *curl, CURLcode code, const struct server *server, struct receiver *receiver,
		  struct outcome *outcome, struct podvol_reply *ret);

/* ---- what a curl multi handle waits for, as one descriptor that a caller polls ---- */

/* Of CURLMOPT_SOCKETFUNCTION: @what is CURL_POLL_... Return: 0; -1 as curl wants it. */
int transport_poll_socket(int epoll_fd, curl_socket_t fd, int what);
/* Of CURLMOPT_TIMERFUNCTION; negative: never. Return: 0; -1. */
int transport_set_timer(int timer_fd, long msec);

/* ---- call.c ---- */

/*
 * The calls of one handle that do not block; see podvol_call() in podvol.h
 *
 * All of them are transfers of one curl multi handle. What curl waits for (sockets, a time) is in
 * one epoll descriptor, so that the caller's loop needs to know nothing but that.
 */

typedef void podvol_call_done(void *userdata, int result, struct podvol_reply *reply);

enum { CALLS_MAX = 1000 }; /* under way at once, of one handle */

/* @podvol outlives it. Return: 0; -ENOMEM, -EMFILE, ... */
int calls_new(struct podvol *podvol, struct calls **ret);
/* Calls under way end without being called back. Accepts NULL. Return: NULL. */
struct calls *calls_free(struct calls *calls);
int calls_fd(const struct calls *calls);
/* Return: how many are under way; negative errno. */
int calls_process(struct calls *calls);
/* Return: 0; -EAGAIN CALLS_MAX are under way; -EINVAL, -ENOMEM. */
int calls_start(struct calls *calls, const struct podvol_request *request, podvol_call_done *done,
		void *userdata, struct podvol_call **ret);
