/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit - one line of the log for each refusal, each write and each read of a Secret
 *
 * The journal has the fields API_USER, API_CLIENT, API_VERB, API_PATH, API_OBJECT, API_STATUS,
 * API_REASON and API_RESULT; the sentence has the same for people. What a request or an answer
 * holds is in none of them: names only.
 */
#pragma once

struct object;

/* Strings may be NULL: unknown. */
struct audit {
	const char *user;       /* "admin"; NULL: not known, @credential says why */
	const char *credential; /* what is wrong with it: "an expired token" */
	const char *client;     /* "192.0.2.1:4242", "uid 0, process 4242" */
	const char *verb, *path;
	const char *object; /* the name that the path does not have */
	int status;         /* of HTTP; 0: no answer went out */
	const char *reason; /* of a refusal: "Forbidden" */
	const char *result; /* "done", "refused", "failed", "unknown" */
};

/* A connection was closed on which no request came in time. */
void audit_log_silence(const char *client);

enum { AUDIT_NAME_BYTES = 64 };
/* Of a user or client, for a line after the request is over. @name: NULL: unknown. */
void audit_copy(const char *name, char ret[AUDIT_NAME_BYTES]);

/* One of several objects that a request writes. @result: "created", "failed". */
void audit_log_object(const char *user, const char *client, const struct object *object,
		      const char *result);
