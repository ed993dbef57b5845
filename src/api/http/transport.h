/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport - what the files of the transport share: the api, its listeners, their connections
 *
 * listener.c drives the library on the loop, handshake.c its TLS clients, http.c makes exchanges of
 * its requests, server.c starts and stops all of it. No other file includes this.
 */
#pragma once

#include "api/api.h"
#include "api/auth/unprivileged.h"
#include "api/auth/peer.h"
#include "api/client_certificate.h"
#include "api/http/deadline.h"
#include "base/worker.h"

#include <microhttpd.h>

struct request;

struct listener {
	struct api *api;
	enum api_listener_kind kind;
	struct MHD_Daemon *daemon;
	sd_event_source *ready, *timer, *again;
	size_t waiting;                /* requests that wait or stream */
	struct connection *handshakes; /* those that wait for their client; see handshake.c */
	struct unprivileged_list unprivileged;
};

/* How far TLS has begun; see handshake.c. */
struct handshake {
	struct MHD_Connection *library;
	sd_event_source *readable; /* while it waits: in listener->handshakes */
	struct connection *previous, *next;
	bool sent, received; /* the last message of each side */
	bool is_certificate_read;
	struct client_certificate certificate;
};

/* One connection: the library's socket context. */
struct connection {
	struct listener *listener;
	struct deadline deadline; /* and the descriptor */
	unsigned int rights; /* set of enum api_right; of each request, where a token decides */
	char peer[PEER_NAME_BYTES]; /* who, for the record; of TCP address and port */
	char user[PEER_NAME_BYTES]; /* the same as reviews call it */
	bool authenticated;         /* a credential was seen that allows something */
	bool closing;               /* shut down: the library has yet to see it */
	bool asked;                 /* the line of a request was there */
	struct unprivileged unprivileged;
	struct handshake handshake;
};

struct api {
	struct api_options options;
	gid_t group;
	struct deadlines *deadlines;
	struct listener listeners[API_LISTENER_COUNT];
	size_t listener_count;
	struct worker_return *from_readers;
	struct worker_pool *readers;
	struct watches *watches;
	struct refusals *refusals;
	struct request *requests;
	sd_event_source *tokens_check;  /* on while requests came with named tokens */
	size_t body_bytes, reply_bytes; /* of all requests, in memory */
	bool stopping;
};

/* ---- server.c ---- */

/* In a few seconds, http_check_tokens(). */
void api_check_tokens_later(struct api *api);

/* ---- listener.c ---- */

/**
 * listener_start - let the library serve a descriptor, on the loop
 * @listener: zeroed but for api and kind
 *
 * The descriptor is the library's from then on. Return: 0; -ENOMEM; -EIO; what sd-event says.
 */
int listener_start(struct listener *listener, int fd, struct failure *reterr);
/* Ends every connection; none may be suspended. A listener that was not started is fine. */
void listener_stop(struct listener *listener);
/* Before listener_stop(): the descriptor is the caller's again. */
void listener_give_back(struct listener *listener);
/* The library has something to do that no descriptor shows. */
void listener_run_again(struct listener *listener);

/* The connection enters a phase; one that is not authenticated stays in its own, whose time goes
 * on. */
void connection_enter(struct connection *connection, enum deadline_phase phase);
/* The head of a request was allowed: by a token, or where none is needed. */
void connection_authenticated(struct connection *connection);

/* ---- handshake.c ---- */

/* A connection on which TLS begins. */
void handshake_begin(struct connection *connection, struct MHD_Connection *library);
/* What the client has shown in its handshake, which is over; verified once. */
const struct client_certificate *handshake_certificate(struct connection *connection);
/* The connection ends, in its handshake or after it. */
void handshake_end(struct connection *connection);
/* Before listener_stop(): the library must not be stopped while one waits. */
void handshake_wake_all(struct listener *listener);

/* ---- http.c ---- */

/* The library's callbacks; userdata is the listener. */
void *http_on_uri(void *userdata, const char *uri, struct MHD_Connection *connection);
enum MHD_Result http_on_request(void *userdata, struct MHD_Connection *connection, const char *url,
				const char *method, const char *version, const char *data,
				size_t *data_length, void **request_slot);
void http_on_completed(void *userdata, struct MHD_Connection *connection, void **request_slot,
		       enum MHD_RequestTerminationCode code);
/* Ends waits and streams whose named token or certificate was revoked or has expired. True: there
 * are others. */
bool http_check_tokens(struct api *api);
/* Wakes every suspended request without an answer; the library ends them in its next run. */
void http_abandon_all(struct api *api);
/* The connection that the library's belongs to; NULL: there was no memory for it. */
struct connection *http_connection(struct MHD_Connection *connection);
