/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api - HTTP: Kubernetes objects at their Kubernetes paths, node views beside them
 *
 *  - /api/v1/..., /apis/storage.k8s.io/v1/...: list, get, watch, create, update, patch, delete, as
 *    JSON, YAML or Table, with Kubernetes' Status answers;
 *  - /podvol/v1/...: what no store holds: volumes and their states, operations, manifests; apply;
 *    mount, unmount and wait for a pod, answered when it is done or with the reason why not;
 *  - /version, /healthz, /livez, /readyz;
 *  - on a socket of its own, docker's protocol of volume plugins: see docker_volume.h.
 *
 * Everything but the parsing of long bodies runs on the loop thread; nothing here blocks. Who may
 * do what is decided here, by where a connection comes in: the unix socket by the kernel's word on
 * the peer, TLS by a bearer token, plain TCP on loopback by nothing at all, so that it only reads.
 * What is written is decided by object_admit() behind the store. Whatever a client can grow is
 * bounded: connections, bytes of a head and of a body, parameters, the time for a request, waits.
 */
#pragma once

#include "agent.h"
#include "base/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

/* Members of this group may use the socket. */
#define API_GROUP "podvol"

struct api;
struct api_credentials;

enum api_listener_kind {
	API_UNIX,   /* rights by peer credentials */
	API_TLS,    /* every right with the token, none without */
	API_PLAIN,  /* loopback only: reads, no Secrets */
	API_DOCKER, /* a unix socket for docker's protocol of volume plugins; root alone */
	API_LISTENER_COUNT
};

struct api_listener {
	enum api_listener_kind kind;
	int fd; /* listening */
};

struct api_options {
	sd_event *event;     /* borrowed; must outlive the api */
	struct agent *agent; /* borrowed; must outlive the api */
	/* At most one of a kind; the api owns the descriptors from a successful api_new() on. */
	struct api_listener listeners[API_LISTENER_COUNT];
	size_t listener_count;
	/* Borrowed; must outlive the api. NULL without a listener for TLS. */
	struct api_credentials *credentials;
	unsigned int group_rights; /* of the group's role; see api/auth/authorize.h */
	bool local_is_bounded;     /* by volume-paths: role edit may write local volumes */
	bool others_may_read; /* peers of the unix socket that are neither root nor in the group */
	size_t connections_max;   /* of each listener; more wait in its queue; at least 1 */
	size_t request_bytes_max; /* of a body; more is answered 413 */
	size_t watches_max;       /* of collections, over all listeners; more are answered 429 */
	/* At least 1. Until a request begins, and of unread bytes of an answer. */
	unsigned int idle_seconds;
	unsigned int request_seconds; /* at least 1: from a request's line to its last byte */
};

/**
 * api_new - serve
 * @options: copied
 * @ret:     to be given to api_free()
 *
 * Looks the group up, which may block (start-up only).
 *
 * Return: 0; -ENOMEM; -EINVAL a descriptor is no listening socket of its kind.
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

/* Where to listen. */
struct api_listen_options {
	const char *socket_path;   /* absolute; at most 107 bytes; its directory exists */
	const char *tls_address;   /* "127.0.0.1:6443", "[::1]:6443", ":6443" any; "" not at all */
	const char *plain_address; /* the same; loopback only */
	const char *docker_path;   /* as @socket_path, for docker and podman; "" not at all */
	bool others_may_read;      /* then others may also connect to the unix socket */
};

/**
 * api_listen - make the listening sockets, or take those that the service manager hands over
 * @ret: the unix socket first; descriptors are the caller's, not blocking
 *
 * Sockets that are handed over are distinguished by FileDescriptorName=: "tls", "plain", "docker",
 * and a unix socket by any other name. What was not handed over is made here. The unix socket gets
 * mode 0660 (0666 with others_may_read) and the group podvol where there is one, docker's 0600; a
 * socket file that is there already is replaced only when no server answers on it; anything else in
 * its place is refused.
 *
 * Return: 0; -EADDRINUSE a server answers there; -EEXIST something that is no socket is there;
 * -ENAMETOOLONG; -EINVAL no such address, or not a loopback one where it must be; else what the
 * system call gave.
 */
int api_listen(const struct api_listen_options *options,
	       struct api_listener ret[static API_LISTENER_COUNT], size_t *ret_count,
	       struct failure *reterr);

/* What TLS needs: an authority of our own, a server certificate by it, a token. */
struct api_credentials_options {
	const char *state_dir; /* holds ca.pem and token, mode 0600; made when they are not there */
	const char *token_file;     /* "": the one in state_dir; else it must be there */
	const char *client_ca_file; /* who signs certificates of clients; "": none are asked for */
	const char *node_name;
	const char *names; /* more names and addresses of the certificate: "a,b"; "" none */
	int listen_fd;     /* its address is in the certificate, too */
};

/**
 * api_credentials_new - read or make them
 *
 * The server's key is never stored: each start has a new one, and a new one is made in time before
 * its certificate expires. Blocks on the disk (start-up only).
 *
 * Return: 0; -EPERM a file or its directory can be changed or read by others; -EINVAL a file holds
 * something else; -EKEYEXPIRED the authority's time is over; else what a system call gave.
 */
int api_credentials_new(const struct api_credentials_options *options, struct api_credentials **ret,
			struct failure *reterr);
/* After api_free(). @credentials may be NULL. Return: NULL. */
struct api_credentials *api_credentials_free(struct api_credentials *credentials);

/**
 * api_root_certificate - the certificate of this node's authority, which is made when there is none
 * @published: the ConfigMap that has it; NULL: there is none
 * @ret:       PEM without the key; the caller's
 *
 * The one that signs the server certificate of TLS, also where TLS is not served. What is published
 * already was checked before: GnuTLS is needed for another one only. Blocks on the disk (start-up
 * only).
 *
 * Return: 0, else as api_credentials_new().
 */
int api_root_certificate(const char *state_dir, const char *node_name,
			 const struct object *published, char **ret, struct failure *reterr);

/* Limits of one request; the manual's table of limits is made from these. */
enum {
	API_URI_BYTES_MAX = 4096,   /* path and query, as sent; 414 */
	API_HEAD_BYTES_MAX = 16384, /* request line and headers, with what is kept of the reply */
	/* From accept until a credential was seen; then, or when there are too many: closed. */
	API_UNAUTHENTICATED_SECONDS_MAX = 5,
	API_GUESSES_MAX = 10,               /* credentials that one client may guess at once; 429 */
	API_REFUSED_PEERS_MAX = 256,        /* clients whose guesses and refusals are counted */
	API_REFUSAL_LINES_MAX = 200,        /* of the log in a minute: refusals */
	API_REFUSAL_LINES_OF_PEER_MAX = 20, /* the same of one client */
	API_GUESS_SECONDS = 6,              /* until it may guess one more */
	API_SEGMENTS_MAX = 12,              /* parts of a path */
	API_PARAMETERS_MAX = 16,            /* of a query; 400 */
	API_BODIES_IN_FLIGHT_MAX = 16,      /* bodies of full length, in all that is read; 429 */
	API_REPLY_BYTES_MAX = 268435456,    /* of answers that wait for their readers; 429 */
	API_READ_HERE_BYTES = 8192,         /* what is longer is read and changed on a thread */
	API_READERS_MAX = 4,                /* such threads */
	API_READER_USEC_MAX = 100000,       /* of one request, before another thread is started */
	API_DRIVER_CALL_BYTES_MAX = 1048576, /* of a body that calls a CSI driver */
	API_HOLD_BYTES_MAX = 8192,           /* of a body that posts a hold */
	API_APPLY_DOCUMENTS_MAX = 10000,     /* of one apply; 413 */
	API_APPLY_IN_FLIGHT = 64,            /* writes of one apply that are queued at a time */
	API_WAIT_DEFAULT_SECONDS = 30,
	API_DOCKER_BODY_BYTES_MAX = 16384, /* of a request on docker's socket; 413 */
	API_DOCKER_NAME_BYTES_MAX = 255,   /* of a docker volume, and of the ID of a mount */
	API_DOCKER_VOLUMES_MAX = 1000,
};
