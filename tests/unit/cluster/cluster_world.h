/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_world - src/cluster's pods, absence, identity, writes and requests with a clock, a
 * transport and a store of the test
 *
 * Time is what the test says: timers and answers come in the order of their times, at once. A test
 * links it with cluster_world.wrap. No socket, no disk, no sleep; the same each time.
 */
#pragma once

#include "cluster/cluster_internal.h"
#include "store/mirror.h"
#include "tests/unit/state/fake_store.h"

struct reply {
	int error;  /* negative: no whole answer */
	int status; /* of HTTP */
	unsigned int retry_after_seconds;
	char *body; /* freed after use; NULL: "" */
};

/* A call under way. */
struct http_call {
	struct http_call *prev, *next;
	struct http_request request; /* path: owned */
	uint64_t due_usec;           /* when it is answered */
	bool is_open;                /* a watch that the server has taken */
	bool is_reset;
	uint64_t sent; /* of a watch: the version that it has come to */
};

struct cluster_world {
	struct cluster cluster;
	struct store store;
	uint64_t clock_usec;
	struct sd_event_source *timers;
	struct http_call *calls;
	struct stored_write *writes; /* not committed */
	uint64_t commit_usec;
	store_upstream_fn *upstream; /* takes what is to be written at the server */
	void *upstream_userdata;
	unsigned int log_lines, refusals; /* of credentials */
	/* What the server answers; a watch that it takes has status 200 and no body. */
	struct reply (*serve)(const struct http_call *call);
	void (*opened)(struct http_call *watch);
	uint64_t (*latency_usec)(void);
	/* Pods that the store has now, and has no more. */
	void (*put)(const struct object *pod);
	void (*removed)(const struct object *pod);
	bool is_complete;
	bool is_takeover; /* the next start is one */
};

/* The functions above are set by the caller first. */
void cluster_world_open(struct cluster_world *world);
void cluster_world_close(struct cluster_world *world);
/* podvold starts, and stops, with what the store has. */
void cluster_world_start(struct cluster_world *world, const char *node_name);
void cluster_world_stop(struct cluster_world *world);
void cluster_world_run(struct cluster_world *world, uint64_t usec);
/* Every connection breaks. */
void cluster_world_reset(struct cluster_world *world);
/* A number of a view, such as writes_view(). */
int64_t cluster_world_counted(const struct cluster_world *world,
			      void (*view)(const struct cluster *cluster, struct cJSON *view),
			      const char *member);
/* The watch that is open; NULL: none. */
struct http_call *cluster_world_watch(const struct cluster_world *world);
