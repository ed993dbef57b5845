/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request - one request of the library, and the exchange that the handlers see of it
 *
 * http.c reads it, answer.c replies. It exists from the request line to the library's "request
 * completed"; so does its hang-up source, which is gone before the descriptor may be another
 * client's.
 */
#pragma once

#include "api/auth/token_list.h"
#include "api/exchange.h"
#include "api/http/transport.h"

enum body_state {
	BODY_KEPT,
	/* Read on, keep nothing, then refuse. */
	BODY_TOO_LARGE,
	BODY_TOO_MANY /* all bodies together */
};

struct request {
	struct exchange exchange; /* first: handlers hold &request->exchange */
	struct api *api;
	struct connection *connection; /* NULL: there was no memory for one */
	struct MHD_Connection *library;
	struct request *previous, *next;   /* in api->requests */
	sd_event_source *hang_up;          /* once it was suspended */
	const char *uri;                   /* where it is in the library's memory, decoded since */
	size_t uri_bytes;                  /* as it was sent, up to its first NUL */
	const struct failure *uri_failure; /* of api_path_parse(), kept; NULL: none */
	enum body_state body_state;
	size_t body_allocated, body_discarded;
	size_t reply_bytes; /* counted in api->reply_bytes */
	/* The digest of the named token that it came with. */
	unsigned char token[TOKEN_DIGEST_BYTES];
	char user[TOKEN_NAME_BYTES]; /* the name of that token, or certificate; "": neither */
	char peer[PEER_NAME_BYTES + TOKEN_NAME_BYTES]; /* of TCP: "admin at 192.0.2.1:4242" */
	bool has_certificate;                          /* of its connection, and no token */
	const char *credential; /* static: what is wrong with it; NULL: nothing */
	bool is_throttled;      /* and so its credential was not compared */
	bool ran;               /* a handler began */
	bool audited;           /* in the log */
	bool seen;              /* the headers were checked */
	bool running;           /* a handler is on the stack */
	bool suspended;
	bool waits;      /* counted in listener->waiting: it was suspended, or streams */
	bool pulling;    /* a stream's pull is on the stack */
	bool pull_again; /* and was notified meanwhile that there is more */
	bool left;       /* the client is gone: close without a reply */
};

/* NULL: the request has no such header. */
const char *request_header(const struct request *request, const char *name);

/* ---- authenticate.c ---- */

/* Finds out who it is and what it may do by the head; refuses what it may not do. Return: may it go
 * on? */
bool authenticate(struct request *request);

/* ---- audit.c ---- */

/* A reply is sent, or begins: one line when it refuses a credential or a right, or when the request
 * is a write or reads a Secret. */
void audit_answer(struct request *request);
/* The request ended: the same for a write whose client left before the reply. */
void audit_end(struct request *request);

/* ---- answer.c ---- */

/* The exchange's answered(). */
void answer_is_there(struct exchange *exchange);
/* Hands the finished reply to the library. Return: for the library. */
enum MHD_Result answer_send(struct request *request);
/* No reply yet: the library must not poll until then. Return: 0; else a negative errno, nothing
 * waits. */
int answer_suspend(struct request *request);
/* Resumes a suspended request. */
void answer_resume(struct request *request);
/* The request is over: what is counted for it is no more. */
void answer_done(struct request *request);
