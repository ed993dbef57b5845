/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_server - a model of a kube-apiserver with its etcd, as one node sees it
 *
 * Answers what src/cluster asks for pods and for who it is: lists in pages, watches, single
 * objects, with the texts of a real server. It never fails by itself: faults are the caller's.
 */
#pragma once

#include "tests/unit/cluster/cluster_world.h"

enum {
	SERVER_PODS = 12, /* names */
	SERVER_UIDS_MAX = 40000,
	SERVER_LOG = 32, /* events that a watch can begin with */
	SERVER_PAGE = 5,
};

struct server_pod {
	unsigned int uid; /* 0: there is none of this name */
	uint64_t version;
};

/* What a snapshot of etcd holds. */
struct etcd {
	uint64_t version;
	struct server_pod pods[SERVER_PODS];
};

struct server_change {
	const char *type;
	uint64_t version;
	unsigned int name;
	struct server_pod pod;
};

struct server {
	const char *cluster;      /* part of every uid */
	struct etcd etcd, listed; /* the latter: what the pages of a list are of */
	struct etcd cached;       /* at the list before: the watch cache has come to no more */
	struct server_change log[SERVER_LOG];
	unsigned int log_count;
	uint64_t forgotten;      /* a watch from an older version is answered with 410 */
	bool may_read_namespace; /* kube-system */
	bool hides_absent;       /* a pod that is not there is 403 and not 404 */
	bool has_watch_list;
	void (*listed_all)(const struct server *server); /* also by initial events */
};

/* The next uid of the whole test. */
extern unsigned int server_last_uid;

/* What an API server does; server_send() sends it to the watch. */
void server_put(struct server *server, unsigned int name, bool is_new);
void server_delete(struct server *server, unsigned int name);
/* etcd has the snapshot again; the server has forgotten all changes. */
void server_restore(struct server *server, const struct etcd *snapshot);

struct reply server_answer(struct server *server, const char *path);
/* Does a watch begin with initial events? Then they are sent: of so many pods at most, and the
 * bookmark behind them unless it was cut off. */
bool server_is_initial(const struct http_call *watch);
void server_send_initial(struct server *server, struct http_call *watch, unsigned int pods);
void server_end_initial(const struct server *server, struct http_call *watch);
/* Every change that the open watch was not sent, while it is open. */
void server_send(struct server *server, struct cluster_world *world);
void server_send_bookmark(struct server *server, struct cluster_world *world);

/* Which name, and which number of uid. */
unsigned int server_name_of(const struct object *pod);
unsigned int server_uid_of(const struct object *pod);
/* A v1.Status. */
struct reply server_status(int status, const char *reason, const char *kind, const char *name);
struct reply server_empty_list(uint64_t version);
