/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects - what the files of Kubernetes' verbs share
 *
 * objects.c finds what a path names and which verb is meant; objects_list.c, objects_read.c,
 * objects_watch.c, objects_write.c, objects_patch.c and objects_delete.c do it. Paths come from the
 * table of kinds: nothing here names a kind but where Kubernetes treats one as special.
 */
#pragma once

#include "api/exchange.h"
#include "object/select/selector_match.h"

/* What a path names. */
struct target {
	const struct kind_row *row;
	const char *name_space; /* NULL: all, or a kind without namespaces */
	const char *name;       /* NULL: the collection */
	bool status;            /* the subresource */
};

typedef void objects_verb(struct exchange *exchange, const struct target *target);

objects_verb objects_get, objects_list, objects_watch, objects_create, objects_update,
	objects_patch, objects_delete, objects_delete_collection;

/* Where @path is that of a kind; its names stay the path's. */
bool target_find(const struct api_path *path, struct target *ret);
/* "" for kinds without namespaces. */
const char *target_namespace(const struct target *target);
struct reply_details target_details(const struct target *target, const char *name);

/* labelSelector and fieldSelector. Replies and returns a negative errno when they are wrong. */
int target_selector_match(struct exchange *exchange, const struct target *target,
			  struct selector_match **ret);

/* Does the selection mean the object, as a GET shows it? */
bool object_is_meant(struct agent *agent, const struct selector_match *selector_match,
		     const struct object *object);

/* A parameter that is a flag; Kubernetes takes "1", "t", "true". */
bool query_flag(const struct exchange *exchange, const char *name);

/* What is wrong with the options of a request, as Kubernetes says it: 422. @options:
 * "ListOptions"; @why: "FIELD: Forbidden: ...". */
void refuse_options(struct exchange *exchange, const char *options, const char *why);

/* A resourceVersion of the query: 0 for "", absent and "0". Replies and returns a negative errno
 * when it is none. */
int query_version(struct exchange *exchange, uint64_t *ret);

/* "that version is not kept any more": 410. */
void refuse_expired(struct exchange *exchange, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* dryRun=All of the query: 1; 0 absent. Replies and returns a negative errno for anything else. */
int query_dry_run(struct exchange *exchange, const char *options);

/* ---- objects_write.c: a write that the store was given; the client may leave, it happens all the
 * same ---- */

struct object_write {
	struct exchange *exchange; /* NULL: the client left */
	struct store *store;
	enum api_method method;
	const struct kind_row *row;
	char *name_space, *name;
	bool dry_run;
	unsigned int rights; /* of who writes: authorize_object() */
	/* What a create needs to be tried again; NULL and 0: it is tried once. */
	int (*again)(struct object_write *write, struct failure *why);
	int retry_error; /* at which it is */
	unsigned int tries;
	const struct object *object; /* own reference; the store's while it writes */
	struct cJSON *patch;         /* owned */
	int patch_type;
	bool status;
};

/* NULL: no memory, and that was replied. */
struct object_write *object_write_new(struct exchange *exchange, const struct target *target,
				      const char *name);
void object_write_free(struct object_write *write);
/* @r: what queueing it gave. Takes @write. */
void object_write_queued(struct exchange *exchange, struct object_write *write, int r,
			 const struct failure *why);
/* For the store: answers, or tries again. */
void object_write_done(void *userdata, int error, const struct object *result,
		       const struct failure *why);

/* What a write must not touch is taken from the present object: without the subresource its status,
 * with it all else. @object is replaced. */
int object_join_present(const struct object *present, bool status_only,
			const struct object **object, struct failure *why);

/* ---- body.c ---- */

/*
 * The one object of a create, an update or a patch, as its sender made it
 *
 * Only the handlers of objects use it.
 */

/* The one object of a request body; its namespace becomes @name_space where it names none.
 * generateName gives it a name, fieldValidation may refuse it or warn. Replies and returns a
 * negative errno when there is no such object; 1: its name was made here and may be made again. */
int body_object(struct exchange *exchange, const struct kind_row *row, const char *name_space,
		const struct object **ret);

/* fieldValidation for a tree as its writer made it: an unknown field is refused or warned
 * of. Replies and returns a negative errno when it is refused. */
int body_check_fields(struct exchange *exchange, const struct kind_row *row,
		      const struct cJSON *tree);
/* Replies to a body or the result of a patch that is no object: @error and @why are what
 * object_from_json() gave for @tree. */
void body_refuse_object(struct exchange *exchange, const struct kind_row *row,
			const struct cJSON *tree, int error, const struct failure *why);
/* "@base" and five characters at random, as the API machinery makes them. Return: 0 or a negative
 * errno. */
enum { BODY_NAME_BYTES = 254 };
int body_make_name(const char *base, char name[BODY_NAME_BYTES]);

/* ---- apply_merge.c: as `kubectl apply` does it, in three ways; pure ---- */

/**
 * apply_merge - what is to be stored
 * @document: with an object and its source
 * @present:  NULL: there is none, the object is to be created
 * @ret:      a new reference
 *
 * Any thread. Return: 0; -ESTALE the document names another version; -EINVAL the result is no valid
 * object; -ENOMEM.
 */
int apply_merge(const struct document *document, const struct object *present,
		const struct object **ret, struct failure *reterr);
