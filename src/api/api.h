/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api - HTTP on a unix socket: Kubernetes objects at their Kubernetes paths, node views beside them
 *
 *  - /api/v1/..., /apis/storage.k8s.io/v1/...: list, get, create, update, delete, as JSON, YAML or
 *    Table, with Kubernetes' Status answers;
 *  - /podvol/v1/...: what no store holds: volumes and their states, operations, manifests; apply;
 *    mount, unmount and wait for a pod, answered when it is done or with the reason why not;
 *  - /version, /healthz, /livez, /readyz.
 *
 * Everything but the parsing of long bodies runs on the loop thread; nothing here blocks. Who may
 * write is decided here, by the peer credentials of the socket: uid 0 and members of group podvol;
 * everybody else is refused. What is written is decided by object_admit() behind the store.
 * Whatever a stranger can grow is bounded: connections, bytes of a head and of a body, parameters,
 * idle time, waits.
 */
#ifndef PODVOL_API_API_H
#define PODVOL_API_API_H

#include "agent.h"
#include "base/failure.h"

#include <stddef.h>
#include <systemd/sd-event.h>

/* Members of this group may use the socket. */
#define API_GROUP "podvol"

struct api;

struct api_options {
	sd_event *event;     /* borrowed; must outlive the api */
	struct agent *agent; /* borrowed; must outlive the api */
	int listen_fd; /* a listening unix socket: the service manager's or api_listen()'s; the
			  api owns it from a successful api_new() on */
	size_t connections_max;   /* more wait in the socket's queue; at least 1 */
	size_t request_bytes_max; /* of a body; more is answered 413 */
};

/**
 * api_new - serve
 * @options: copied
 * @ret:     to be given to api_free()
 *
 * Looks the group up, which may block (start-up only).
 *
 * Return: 0; -ENOMEM; -EINVAL the descriptor is no listening unix socket.
 */
int api_new(const struct api_options *options, struct api **ret, struct failure *reterr);

/**
 * api_free - stop: waits are cancelled, requests in flight lose their connection
 * @api: may be NULL
 *
 * Writes that were handed to the store still happen; their answers are lost. Call before
 * agent_free(), whose store calls back for them. Return: NULL.
 */
struct api *api_free(struct api *api);

/**
 * api_listen - make the listening socket where no service manager did
 * @path: absolute; at most 107 bytes; its directory exists
 *
 * The socket gets mode 0660 and the group podvol where there is one. A socket file that is there
 * already is replaced only when nobody answers on it; anything else in its place is refused.
 *
 * Return: the descriptor, the caller's; -EADDRINUSE somebody answers there; -EEXIST something that
 * is no socket is there; -ENAMETOOLONG; else what the system call gave.
 */
int api_listen(const char *path, struct failure *reterr);

/* Limits of one request; the manual's table of limits is made from these. */
enum {
	API_URI_BYTES_MAX = 4096,    /* path and query, as sent; 414 */
	API_HEAD_BYTES_MAX = 32768,  /* request line and headers, with what is kept of the reply */
	API_SEGMENTS_MAX = 12,       /* parts of a path */
	API_PARAMETERS_MAX = 16,     /* of a query; 400 */
	API_IDLE_SECONDS = 60,       /* a connection that neither sends nor reads */
	API_READ_HERE_BYTES = 65536, /* a longer stream of documents is parsed on a thread */
	API_APPLY_IN_FLIGHT = 64,    /* writes of one apply that are queued at a time */
	API_WAIT_DEFAULT_SECONDS = 30,
};

#endif
