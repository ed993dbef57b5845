/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange - one request and its answer, as the handlers see them: no sockets, no library
 *
 * http.c fills in the request, calls api_dispatch() and sends the answer when there is one, at once
 * or later. A handler that must wait leaves its work in the exchange; if the client leaves first,
 * the work is abandoned and never answers. Tests make exchanges of their own.
 */
#pragma once

#include "api/auth/authorize.h"
#include "api/form.h"
#include "api/path.h"
#include "base/failure.h"
#include "base/worker.h"
#include "object/json/json.h"
#include "object/kind.h"
#include "object/object.h"
#include "object/schema/violation.h"

enum api_method {
	METHOD_GET,
	METHOD_POST,
	METHOD_PUT,
	METHOD_PATCH,
	METHOD_DELETE,
	METHOD_OTHER, /* 405 */
};

struct reply_details;

/* Why a request was refused: HTTP code and Kubernetes' reason in one. */
enum api_refusal {
	API_BAD_REQUEST,
	API_UNAUTHORIZED,
	API_FORBIDDEN,
	API_NOT_FOUND,
	API_METHOD_NOT_ALLOWED,
	API_NOT_ACCEPTABLE,
	API_EXPIRED, /* 410: that version is not kept any more, list again */
	API_CONFLICT,
	API_ALREADY_EXISTS,
	API_TOO_LARGE,
	API_URI_TOO_LONG,
	API_UNSUPPORTED_MEDIA_TYPE,
	API_INVALID,
	API_TOO_MANY_REQUESTS,
	API_INTERNAL_ERROR,
	API_SERVICE_UNAVAILABLE,
	API_TIMEOUT,
	API_REFUSAL_COUNT
};

/* What the log says of a request beside its path; see audit.h. */
struct exchange_record {
	const char *client; /* "192.0.2.1:4242", "uid 0, process 4242"; NULL: not known */
	const char *verb;   /* static; "list", "create", of a route the method; NULL: not known */
	bool needs_secrets; /* RIGHT_SECRETS was asked for */
	char object[256];   /* the name of what a POST made, which no path has */
	const char *reason; /* static: of a refusal; NULL: it is none */
};

struct exchange {
	/* ---- the request; the strings are the transport's ---- */
	struct agent *agent;
	struct worker_pool *readers; /* where long bodies are parsed; NULL: here, at once */
	enum api_method method;
	unsigned int rights; /* set of enum api_right */
	const char *user;    /* name, for reviews; NULL: none is known */
	const char *peer;    /* who, for the record: "uid 0, process 4242"; NULL: unknown */
	struct api_credentials *credentials; /* for a kubeconfig; NULL: TLS is not served */
	struct api_path path;
	const char *accept; /* header; NULL: none, @form stands as it is */
	enum api_form form; /* of the answer; api_dispatch() finds it by @accept */
	enum api_content content;
	char *body; /* NUL-terminated; NULL: none */
	size_t body_length;
	bool may_wait;           /* false: so many requests wait already that this one must not */
	struct watches *watches; /* bounds and times the watches; NULL: none are served */

	/* ---- the answer ---- */
	int status;                 /* 0 until there is one */
	char *reply;                /* owned */
	size_t reply_length;        /* of a stream, too; 0: not known before its end */
	const char *reply_type;     /* static */
	unsigned int retry_seconds; /* of a 429; 0: not said */
	bool is_secret;             /* body and reply are overwritten when they are freed */
	char *warnings;             /* owned; lines for Warning headers; NULL: none */
	/* A streamed answer; see reply_stream(). */
	ssize_t (*pull)(void *work, char *buffer, size_t size);
	/* There is something to pull again; NULL until the transport pulls. */
	void (*pull_ready)(struct exchange *exchange);
	/* Called once, when the answer is complete or its stream begins; may be inside
	 * api_dispatch(). */
	void (*answered)(struct exchange *exchange);

	struct exchange_record record;

	/* ---- what goes on for it meanwhile ---- */
	void *work;
	void (*abandon)(void *work); /* must see to it that the work never answers */
};

/* Else it is refused, with the reason; @details may be NULL. */
bool api_is_allowed(struct exchange *exchange, const struct access *access,
		    const struct reply_details *details);

/* Finds the handler and runs it. The answer comes now or later; never both, never none. */
void api_dispatch(struct exchange *exchange);
/* The pattern of the route at @index, as api_path_matches() takes it; NULL past the last. A path
 * that has several methods has several routes. */
const char *api_route(size_t index);

/* "get", "post", ...; static. */
const char *api_method_name(enum api_method method);
/* May such a request change anything, here or at a CSI driver? */
bool api_writes(enum api_method method, const struct api_path *path);
/* May a body come in protocol buffers there? */
bool api_takes_protobuf(const struct api_path *path);
/* Does it ask what the client itself may do? Who may only read may POST there. */
bool api_is_self_review(const struct api_path *path);

/* ?timeout=1m30s; without it @ret_usec stays as it is. False, and refused: it is none. */
bool exchange_timeout(struct exchange *exchange, uint64_t *ret_usec);
/* For a handler that answers later. False, and refused: so many wait already. */
bool exchange_may_wait(struct exchange *exchange);
/* Zeroed memory for what goes on meanwhile; NULL, and answered: there is none. */
void *exchange_new_work(struct exchange *exchange, size_t bytes);
/* Leaves work in the exchange; @abandon as the member. */
void exchange_wait(struct exchange *exchange, void *work, void (*abandon)(void *work));
/* Gives up waiting: what goes on for this exchange is abandoned. */
void exchange_abandon(struct exchange *exchange);
/* Frees body and reply. */
void exchange_done(struct exchange *exchange);

/* ---- reply.c: every handler ends in exactly one of these ---- */

/* @bytes is taken; NULL is answered as "out of memory". @type is static. */
void reply_bytes(struct exchange *exchange, int status, const char *type, char *bytes,
		 size_t length);
/* In the form asked for, Table apart (a tree is as it is). @tree is taken; NULL: no memory. */
void reply_tree(struct exchange *exchange, int status, struct cJSON *tree);
/* As table_from_objects(), with what @agent knows of pods. */
struct cJSON *table_of_objects(struct agent *agent, enum object_kind kind,
			       const struct object *const *objects, size_t count,
			       uint64_t now_usec);
/* An object's JSON with what @agent knows of it, freed with free(); NULL in @ret: as it is stored.
 * Return: 0 or -ENOMEM. */
int print_object(struct agent *agent, const struct object *object, char **ret);
/* The same as a tree, freed with json_free(); NULL: no memory. */
struct cJSON *shown_tree(struct agent *agent, const struct object *object);
/* One object; as Table a table of one row. */
void reply_object(struct exchange *exchange, int status, const struct object *object);
#define REPLY_BUSY "too many pending requests: try again later"
#define REPLY_NO_TLS                                                                               \
	"podvold does not listen for TLS: start it with --listen=127.0.0.1:6443, or put "          \
	"'listen: 127.0.0.1:6443' into its configuration"
void reply_refusal(struct exchange *exchange, enum api_refusal refusal, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * reply_stream - an answer whose bytes come over time, as of a watch
 * @type: static
 * @pull: called on the loop whenever the client can take bytes, with exchange->work. Returns how
 *        many it wrote to @buffer (at most @size); 0 nothing now, reply_stream_ready() will be
 *        called; -1 the end.
 *
 * Set exchange->work and abandon before, and reply_length where it is known: then @pull has exactly
 * so many bytes and never waits, or the client sees that they are cut short. The transport pulls,
 * so a client that does not read holds no memory here but its cursor. At the end, and when the
 * client leaves, abandon(work) is called once.
 */
void reply_stream(struct exchange *exchange, int status, const char *type,
		  ssize_t (*pull)(void *work, char *buffer, size_t size));
/* After @pull returned 0: pull again soon. Any number of calls; never calls @pull itself. */
void reply_stream_ready(struct exchange *exchange);

/* What a refusal is about: status.details. Strings may be NULL. */
struct reply_details {
	const struct kind_row *row;
	const char *name, *uid;
	const char *field;                   /* of an invalid object: "spec.volumes[0].name" */
	const struct violations *violations; /* all of them, in place of @field; NULL: none */
	unsigned int retry_seconds;          /* 0: not said */
};
void reply_refusal_about(struct exchange *exchange, enum api_refusal refusal,
			 const struct reply_details *details, const char *message);
/* {"kind": "Status", "status": "Success"} */
void reply_success(struct exchange *exchange, int status, const struct reply_details *details,
		   const char *message);
/* 422: all that is wrong with an object, a cause each; there is one at least. */
void reply_violations(struct exchange *exchange, const struct reply_details *details,
		      const struct violations *violations);
/* What could not be read: @error says whether it is the client's fault or podvol's. */
void reply_unread(struct exchange *exchange, int error, const char *text);
/* A failed write or parse in Kubernetes' words: -EEXIST, -ENOENT, -ESTALE, -EINVAL, ... */
void reply_error(struct exchange *exchange, int error, const struct reply_details *details,
		 const struct failure *why);

/* ---- handlers of other files ---- */

typedef void api_handler(struct exchange *exchange);

/* objects.c: any path below /api/v1 and /apis that no route claims. False: no such resource. */
bool objects_handle(struct exchange *exchange);
/* Is it the path of a kind that is read in protocol buffers? */
bool objects_take_protobuf(const struct api_path *path);

/* apply.c, check.c, kubeconfig.c, named_tokens.c, self_review.c */
api_handler health_alive, health_ok, health_ready;
api_handler apply_post, check_post, kubeconfig_get;
api_handler named_tokens_get, named_tokens_post, named_tokens_delete,
	named_tokens_revoke_certificates;
api_handler self_review_access, self_review_rules, self_review_user;
/* driver_calls.c */
api_handler driver_calls_post;
/* mounts.c */
api_handler mounts_post;
/* pods.c */
api_handler pods_mount, pods_wait, pods_unmount, pods_volumes;
/* holds.c */
api_handler holds_post, holds_get, holds_get_all, holds_delete;
/* views.c */
api_handler views_volumes, views_volume, views_operations, views_steps, views_manifests,
	views_version, views_podvol_version, views_drivers, views_driver, views_threads,
	views_foreign_volumes, views_metrics;
/* force_unstage.c, views_statistics.c, views_stream.c, views_users.c */
api_handler force_unstage_post, views_statistics, views_volume_events, views_volume_users;
/* service_tokens.c, service_token_review.c, service_keys.c */
api_handler service_tokens_post, service_tokens_review, service_keys_configuration,
	service_keys_set, service_keys_get, service_keys_renew;
/* discovery.c */
api_handler discovery_versions, discovery_groups, discovery_group, discovery_resources,
	discovery_index, discovery_views_index;
/* openapi.c */
api_handler openapi_v2, openapi_v3, openapi_v3_group, openapi_v3_podvol;
struct view_columns;
/* {"items": [...]} of any view, in the form asked for; @tree is taken; NULL: no memory. */
void views_reply(struct exchange *exchange, int status, struct cJSON *tree,
		 const struct view_columns *columns);
/* The same of volumes, of holds, of apply's results. */
void views_reply_volumes(struct exchange *exchange, int status, struct cJSON *tree);
void views_reply_holds(struct exchange *exchange, struct cJSON *tree);
void views_reply_applied(struct exchange *exchange, struct cJSON *tree);

/* One more line for a Warning header; lost without memory. */
void exchange_warn(struct exchange *exchange, const char *text);
