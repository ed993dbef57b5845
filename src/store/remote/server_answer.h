/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_answer - lists and watch events of a kube-apiserver, as objects
 *
 * A list is taken whole or refused: another kind, no items or no version mean that what answered is
 * not what was asked for. An object that this podvold does not understand is handed on by its name,
 * for it is there all the same. metadata.managedFields are left out. Pure.
 */
#pragma once

#include "object/kind.h"

enum {
	SERVER_VERSION_BYTES = 24,    /* a resourceVersion: an integer of 64 bits in decimal */
	SERVER_CONTINUE_BYTES = 4096, /* where the next page begins; 200 bytes are usual */
};

struct server_object {
	const struct object *object; /* NULL: not understood */
	const char *name_space, *name;
	const struct failure *why; /* it is not understood */
};

enum server_event_type {
	SERVER_ADDED,
	SERVER_MODIFIED,
	SERVER_DELETED,
	SERVER_BOOKMARK,
	SERVER_ERROR,
};

struct server_event {
	enum server_event_type type;
	const char *version;         /* "" with SERVER_ERROR */
	struct server_object object; /* of the first three */
	bool ends_initial;           /* a SERVER_BOOKMARK behind the initial events */
	int code;                    /* of SERVER_ERROR: an HTTP status */
	const char *message;         /* of SERVER_ERROR */
};

/* Where what was read goes; what is handed on is borrowed. */
struct server_taker {
	void (*object)(void *userdata, const struct server_object *object); /* of a list */
	void (*event)(void *userdata, const struct server_event *event);
	void *userdata;
};

/* One page. */
struct server_list {
	char version[SERVER_VERSION_BYTES];
	char next[SERVER_CONTINUE_BYTES]; /* "" on the last page */
};

/**
 * server_list_read - a page of a list
 * @taker: object() for each item, when the whole page is known to be good
 *
 * Return: 0; -EPROTO with the reason, and nothing was handed on; -ENOMEM.
 */
int server_list_read(const struct kind_row *kind, const char *text, size_t length,
		     const struct server_taker *taker, struct server_list *ret,
		     struct failure *reterr);

/**
 * server_event_read - a line of a watch
 * @taker: event() once
 *
 * Return: 0; -EPROTO with the reason, and nothing was handed on; -ENOMEM.
 */
int server_event_read(const struct kind_row *kind, const char *line, size_t length,
		      const struct server_taker *taker, struct failure *reterr);

/**
 * server_object_read - the answer to a GET of one object, or to a write
 * @ret: a new reference; its version is the server's
 *
 * Return: 0; -EPROTO another kind or name than @kind and @name, or not understood; -ENOMEM.
 */
int server_object_read(const struct kind_row *kind, const char *name, const char *text,
		       size_t length, const struct object **ret, struct failure *reterr);

/* What a refusal says: a v1.Status. Strings are cut to fit; "" where absent. */
struct server_status {
	char reason[64], message[512], kind[64], name[254];
};

/* Return: 0; -EPROTO it is no v1.Status, as when a proxy answers; -ENOMEM. */
int server_status_read(const char *text, size_t length, struct server_status *ret);
