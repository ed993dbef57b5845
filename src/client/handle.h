/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle - what the files of the client library know of each other
 */
#pragma once

#include "client/podvol.h"

/* How much longer than the daemon the library waits, so that the daemon's sentence arrives. */
struct outcome; /* transport.h */
struct server;  /* transport.h */

enum { MARGIN_MSEC = 10000 };

#define TYPE_TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"

/* Sets the handle's sentence. Return: @error. */
int handle_failed(struct podvol *podvol, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Where podvold is. */
const struct server *handle_server(const struct podvol *podvol);

/* Of the last call: for calls that end later. */
struct outcome *handle_outcome(struct podvol *podvol);

/* A request of the library's own making, with what it points to; podvol_request_free() frees it. */
struct owned_request {
	struct podvol_request request; /* first: callers have its address */
	char *path, *body;
};

/* A POST about a pod, for a Table; @words: the rest of the path. */
int handle_new_request(struct podvol *podvol, const char *pod, const char *words,
		       unsigned int timeout_msec, struct owned_request **ret);

/* podvol_request() and, where @ret is wanted, its answer as a table. */
int handle_request_table(struct podvol *podvol, const struct podvol_request *request,
			 struct podvol_table **ret);

/* ---- refusal.c ---- */

/* The errno that a status of 400 or more stands for, and its sentence in @text of @size bytes.
 * @body: NUL-terminated; a Status, or any text. */
int refusal_read(int status, const char *body, size_t length, char *text, size_t size);

/* ---- table.c ---- */

/* A Table from the bytes of an answer. Return: 0; -EPROTO with @podvol's sentence; -ENOMEM. */
int table_parse(struct podvol *podvol, const char *text, size_t length, struct podvol_table **ret);
