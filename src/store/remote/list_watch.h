/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_watch - all objects of one kind that a kube-apiserver has for this node, kept up to date
 *
 * The reflector of client-go: a list in pages, then a watch from its resourceVersion, with
 * bookmarks, begun again when its time is over; after a broken connection, when the server ends it
 * earlier (it is being stopped), or has forgotten the version (410), the objects are listed again.
 * A server with WatchList sends the objects as the initial events of a watch instead, which a
 * bookmark ends; where it refuses that (400, 422), or the bookmark does not come, they are listed
 * in pages. Where the selector leaves few of many, each page costs the server a read of all: its
 * watch cache is asked for the whole list, not older than what was seen. Where nothing was seen, or
 * the cache has not come to it (410, 504, 400, an older answer), the whole list is read as new as
 * etcd, and in pages when that fails. Between tries it waits, longer each time, with jitter, and at
 * least what Retry-After asks.
 *
 * An object is gone when the server said so: by a DELETED event, or by a list, or initial events
 * up to their bookmark, that came whole and do not have it. No error (401, 403, 404, 410, 429, 5xx,
 * a broken connection, half an answer) is ever more than failed(). A list that is older than what
 * was seen before says so, too: etcd was restored, or another cluster answers, and what it lacks
 * may have to stay. The loop thread only.
 */
#pragma once

#include "store/remote/http_client.h"
#include "store/remote/server_answer.h"

enum {
	LIST_WATCH_PAGE = 100,             /* objects of a page: some milliseconds of the loop */
	LIST_WATCH_PAUSE_MIN_MSEC = 800,   /* client-go's */
	LIST_WATCH_PAUSE_MAX_MSEC = 30000, /* twice as long with jitter */
	LIST_WATCH_LIST_SECONDS = 60,      /* for a page, or for all initial events */
	LIST_WATCH_SECONDS = 300,          /* of a watch; twice as long with jitter */
	/* The same of one that has a connection to itself (HTTP/1.1): nothing else shows that this
	 * one is dead. */
	LIST_WATCH_ALONE_SECONDS = 60,
	LIST_WATCH_GRACE_SECONDS = 30, /* until a watch that should be over is given up */
};

struct list_watch_options {
	sd_event *event;
	struct http_client *client; /* borrowed */
	const struct kind_row *kind;
	const char *path;     /* "/api/v1/pods"; copied */
	const char *selector; /* "fieldSelector=spec.nodeName%3Dnode1"; "" none; copied */
	bool is_selective;    /* few of many: lists come whole, and first from the watch cache */
	uint64_t newest;      /* that was seen by a process before; 0: none */
	/* Of a watch, twice as long with jitter; 0: LIST_WATCH_SECONDS. */
	unsigned int watch_seconds;
	/* Set when the server has no WatchList, for all its list_watches; NULL: lists in pages. */
	bool *has_no_watch_list;
	/* A list begins, or begins again after an error: nothing of it is known to be missing. */
	void (*begin_list)(void *userdata);
	void (*take)(void *userdata, const struct server_object *object); /* of the list */
	/* The list, or the initial events, came whole: what it did not have is not there.
	 * @went_back: see above. */
	void (*end_list)(void *userdata, bool went_back);
	/* SERVER_ADDED, SERVER_MODIFIED and SERVER_DELETED. */
	void (*change)(void *userdata, const struct server_event *event);
	/* Every try that failed; @status of HTTP, 0: none came. What is known stays as it is. */
	void (*failed)(void *userdata, int status, const struct failure *why);
	void *userdata;
};

struct list_watch;

/* Begins with the loop. @options: copied. Return: 0; -ENOMEM, -EMFILE. */
int list_watch_new(const struct list_watch_options *options, struct list_watch **ret);
/* The newest version that was seen; after a list that went back, that list's. */
uint64_t list_watch_newest(const struct list_watch *list_watch);
/* From inside failed(): what was seen does not count. What comes next is a list, after the pause
 * that the failure leads to. */
void list_watch_list_next(struct list_watch *list_watch);
/* Not from inside its functions; before the client. Accepts NULL. Return: NULL. */
struct list_watch *list_watch_free(struct list_watch *list_watch);
