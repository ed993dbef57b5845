/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client - requests to one kube-apiserver, on the event loop
 *
 * libcurl's multi interface: HTTP/2 where the server has it, TLS 1.2 or later with the kubeconfig's
 * authority alone, gzip, the kubeconfig's proxy (else those of the environment). An answer is whole
 * or an error; a stream is whole lines. Redirects are not followed: they would carry the
 * credentials elsewhere. Knows nothing of objects, tries nothing a second time and keeps no answer.
 * Looking up the server's name is done on a thread of libcurl. All functions on the loop thread;
 * none blocks.
 */
#pragma once

#include "store/remote/client_credentials.h"

#include <stdint.h>
#include <systemd/sd-event.h>

struct http_client;
struct http_call;

enum {
	HTTP_CALLS_MAX = 512,                 /* at a time */
	HTTP_BODY_BYTES_MAX = 64 << 20,       /* of an answer, uncompressed; a page of a list */
	HTTP_LINE_BYTES_MAX = 16 << 20,       /* of a stream: an object of 1.5 MiB, escaped */
	HTTP_CONNECT_SECONDS = 10,            /* name, TCP and TLS */
	HTTP_DEAD_PEER_SECONDS = 30,          /* unacknowledged bytes or keepalives */
	HTTP_RETRY_AFTER_SECONDS_MAX = 5 * 60 /* a server that asks for more is asked sooner */
};

/* How a call ended. Borrowed until done() returns. */
struct http_answer {
	/* 0: an answer came whole, whatever its status. -ETIMEDOUT; -E2BIG too long; -EKEYREJECTED
	 * TLS or a certificate; -EPROTO not JSON; -EBADMSG a line of a stream cut off; -ECONNRESET
	 * an answer cut off; -EHOSTUNREACH no such name; else what connecting gave. */
	int error;
	const struct failure *why; /* with an error: for people; names server and path */
	int status;                /* of HTTP; 0: none came */
	bool is_multiplexed;       /* HTTP/2: other calls use its connection, too */
	/* A NUL behind it; of a stream with status 200 "". With an error incomplete or "". */
	const char *body;
	size_t length;
	unsigned int retry_after_seconds; /* 0: not asked for */
	const char *local_address;        /* of this machine, numeric; NULL, "": not known */
};

struct http_request {
	const char *method, *path; /* "GET", "/api/v1/pods?limit=500"; escaped by the caller */
	const char *content_type, *body; /* NULL: no body */
	uint64_t timeout_usec;           /* until the whole answer, or the end of the stream */
	/* Each whole line of an answer with status 200, without its end; NULL: no stream. It may
	 * begin calls and cancel any, its own too. */
	void (*line)(void *userdata, const char *line, size_t length);
	/* Once, and the call is gone; never from within http_client_call(). It may begin and cancel
	 * calls. */
	void (*done)(void *userdata, const struct http_answer *answer);
	void *userdata;
};

/**
 * http_client_new - for the server of a kubeconfig
 * @kubeconfig: copied, what is needed of it
 *
 * Loads libcurl.
 *
 * Return: 0; -EINVAL the server's URL; -ELIBACC there is no libcurl; -ENOMEM, -EMFILE.
 */
int http_client_new(sd_event *event, const struct kubeconfig *kubeconfig, struct http_client **ret,
		    struct failure *reterr);
/* Calls under way are cancelled. Not from line() or done(). Accepts NULL. Return: NULL. */
struct http_client *http_client_free(struct http_client *client);

/* For calls from now on; taken over, and empty afterwards. A connection that was made with another
 * certificate or authority is not used for them. */
void http_client_set_credentials(struct http_client *client,
				 struct client_credentials *credentials);

/* No call begins until there are credentials: without any the server would refuse what it allows
 * later, or take the caller for anonymous. */
void http_client_await_credentials(struct http_client *client);

/**
 * http_client_call - begin a call
 * @request: copied, body included
 * @ret:     for http_call_cancel(); may be NULL
 *
 * Return: 0; -ENOBUFS HTTP_CALLS_MAX are under way; -ENOKEY there are no credentials yet; -ENOMEM.
 * Then done() is not called.
 */
int http_client_call(struct http_client *client, const struct http_request *request,
		     struct http_call **ret);

/* Monotonic, when a byte of any answer came last; 0: none did. */
uint64_t http_client_received_usec(const struct http_client *client);
/* How many calls are under way. */
unsigned int http_client_call_count(const struct http_client *client);
/* Every call under way ends with -ETIMEDOUT, and later ones have new connections: for a server that
 * has these and answers nothing on them. Not from line() or done(). */
void http_client_drop_connections(struct http_client *client);

/* Neither line() nor done() is called any more; the server may have done what it was asked for.
 * Accepts NULL. Return: NULL. */
struct http_call *http_call_cancel(struct http_call *call);
