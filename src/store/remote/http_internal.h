/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_internal - a call and a client as http_client.c and http_setup.c know them; no other file
 * includes it
 */
#pragma once

#include "store/remote/http_client.h"

#include "base/byte_buffer.h"
#include "store/remote/curl_library.h"

struct http_call {
	struct http_call *prev, *next;
	struct http_client *client;
	CURL *easy;
	struct curl_slist *headers;
	char *path;
	void (*line)(void *userdata, const char *line, size_t length);
	void (*done)(void *userdata, const struct http_answer *answer);
	void *userdata;
	struct byte_buffer received; /* and not handed on */
	int receive_error;           /* why bytes were refused; 0 */
	bool is_over;                /* ended or cancelled */
	bool is_dropped;             /* its connection is gone, and it will be over in this turn */
	char error_text[CURL_ERROR_SIZE];
};

struct http_client {
	sd_event *event;
	CURLM *multi;
	sd_event_source *timer;
	char *url;                     /* what paths are appended to */
	struct curl_slist *connect_to; /* where that is, when it has another name */
	char *proxy_url;
	bool disable_compression;
	struct client_credentials credentials;
	struct http_call *calls;
	unsigned int call_count; /* not over */
	uint64_t received_usec;
	bool in_turn;
	bool awaits_credentials;
};

/* ---- http_client.c ---- */

/* CURLOPT_WRITEFUNCTION of a call. */
size_t http_call_received(char *data, size_t size, size_t count, void *userdata);

/* ---- http_setup.c ---- */

/* The handle of a new call gets all that it asks for. False: no memory, or a URL that is none. */
bool http_call_set_up(struct http_call *call, const struct http_request *request);
