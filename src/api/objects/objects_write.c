/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_write - create and update; how every write is answered
 *
 * The answer comes when the write is committed, not when it is queued. A trial (dryRun=All) goes
 * the same way through the store and is not stored.
 */
#include "api/objects/objects.h"

#include "agent.h"
#include "base/cleanup.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { TRIES_MAX = 5 };

void object_write_free(struct object_write *write)
{
	free(write->name_space);
	free(write->name);
	(void) object_unref(write->object);
	json_free(write->patch);
	free(write);
}

static void write_abandon(void *work)
{
	struct object_write *write = work;

	write->exchange = NULL;
}

struct object_write *object_write_new(struct exchange *exchange, const struct target *target,
				      const char *name)
{
	struct object_write *write = calloc(1, sizeof(*write));

	if (write) {
		write->exchange = exchange;
		write->store = agent_store(exchange->agent);
		write->method = exchange->method;
		write->row = target->row;
		write->status = target->status;
		write->rights = exchange->rights;
		write->name_space = strdup(target_namespace(target));
		write->name = strdup(name);
	}
	if (!write || !write->name_space || !write->name) {
		if (write)
			object_write_free(write);
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return NULL;
	}
	return write;
}

/* Gone at once is a Status; held back by finalizers is the object, with its deletionTimestamp, and
 * 202: it was accepted and is not done. A trial gets the same. */
static void reply_deleted(const struct object_write *write, const struct object *result)
{
	const struct object *left =
		store_get(write->store, write->row->kind, write->name_space, write->name);
	const struct reply_details details = { .row = write->row,
					       .name = write->name,
					       .uid = result->meta.uid };

	if (write->dry_run && result->meta.deletes)
		reply_object(write->exchange, 202, result);
	else if (!write->dry_run && left && strcmp(left->meta.uid, result->meta.uid) == 0)
		reply_object(write->exchange, 202, left);
	else if (write->row->returns_deleted)
		reply_object(write->exchange, 200, result);
	else
		reply_success(write->exchange, 200, &details, NULL);
}

/* What an update may not change is reported all at once; the store reported the first. */
static void reply_refused(const struct object_write *write, int error, const struct failure *why)
{
	const struct reply_details details = { .row = write->row, .name = write->name };
	const struct object *present =
		store_get(write->store, write->row->kind, write->name_space, write->name);
	struct violations found;

	if (error == -EINVAL && present && write->object && write->method != METHOD_POST &&
	    object_update_violations(present, write->object, &found) == 0 && found.count > 0)
		reply_violations(write->exchange, &details, &found);
	else
		reply_error(write->exchange, error, &details, why);
}

/* The path of a create has no name. */
static void note_name(const struct object_write *write, const char *name)
{
	if (write->exchange && write->method == METHOD_POST)
		(void) snprintf(write->exchange->record.object,
				sizeof(write->exchange->record.object), "%s", name);
}

void object_write_done(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct object_write *write = userdata;
	struct failure again = { 0 };

	if (error < 0 && error == write->retry_error && write->exchange && write->again &&
	    write->tries++ < TRIES_MAX) {
		error = write->again(write, &again);
		if (error == 0)
			return;
		why = &again;
	}
	note_name(write, error < 0 ? write->name : result->meta.name);
	if (!write->exchange)
		; /* the client left, and the store logs what matters */
	else if (error < 0)
		reply_refused(write, error, why);
	else if (write->method == METHOD_DELETE)
		reply_deleted(write, result);
	else
		reply_object(write->exchange, write->method == METHOD_POST ? 201 : 200, result);
	object_write_free(write);
}

void object_write_queued(struct exchange *exchange, struct object_write *write, int r,
			 const struct failure *why)
{
	const struct reply_details details = { .row = write->row, .name = write->name };

	note_name(write, write->name);
	if (r < 0) {
		reply_error(exchange, r, &details, why);
		object_write_free(write);
		return;
	}
	exchange->work = write;
	exchange->abandon = write_abandon;
}

/* ---- create ---- */

static int set_name(struct cJSON *tree, void *userdata)
{
	return json_set_string(json_ensure_object(tree, "metadata"), "name", userdata);
}

static int create(struct object_write *write, struct failure *why)
{
	const struct store_precondition expected = { .dry_run = write->dry_run };

	return store_create_expecting(write->store, write->object, &expected, object_write_done,
				      write);
}

static int take_name(struct cJSON *tree, void *userdata)
{
	char **base = userdata;

	*base = strdup(json_string(json_get(json_get(tree, "metadata"), "generateName"), ""));
	return *base ? 0 : -ENOMEM;
}

/* The name that was made is taken: another one. */
static int create_again(struct object_write *write, struct failure *why)
{
	cleanup_json struct cJSON *tree = object_tree(write->object);
	cleanup_free char *base = NULL;
	const struct object *renamed;
	char name[BODY_NAME_BYTES], *copy;
	int r = tree ? take_name(tree, &base) : -ENOMEM;

	if (r == 0)
		r = body_make_name(base, name);
	if (r == 0)
		r = object_edit(write->object, set_name, name, &renamed, why);
	if (r < 0)
		return r;
	(void) object_unref(write->object);
	write->object = renamed;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(write->name);
	write->name = copy;
	return create(write, why);
}

/* A client cannot make what only comes about: the claim that it sends as Bound is bound to nothing
 * here. The reporter of a Node is the one who knows its status. */
static int begin_status(struct cJSON *tree, void *userdata)
{
	const struct kind_row *row = userdata;

	json_remove(tree, "status");
	if (!row->initial_phase)
		return 0;
	return json_set_string(json_add_object(tree, "status"), "phase", row->initial_phase);
}

static int object_begin(const struct kind_row *row, const struct object **object,
			struct failure *why)
{
	const struct object *begun;
	int r;

	if (!row->has_status || row->kind == KIND_NODE)
		return 0;
	r = object_edit(*object, begin_status, (void *) row, &begun, why);
	if (r < 0)
		return r;
	(void) object_unref(*object);
	*object = begun;
	return 0;
}

void objects_create(struct exchange *exchange, const struct target *target)
{
	cleanup_object const struct object *object = NULL;
	struct object_write *write;
	struct failure why = { 0 };
	int trial = query_dry_run(exchange, "CreateOptions");
	int made_name, r;

	if (trial < 0)
		return;
	made_name = body_object(exchange, target->row, target_namespace(target), &object);
	if (made_name < 0)
		return;
	r = object_begin(target->row, &object, &why);
	write = object_write_new(exchange, target, object->meta.name);
	if (!write)
		return;
	write->dry_run = trial > 0;
	write->object = TAKE_PTR(object);
	if (made_name > 0) {
		write->again = create_again;
		write->retry_error = -EEXIST;
	}
	if (r == 0)
		r = authorize_object(write->rights, write->object, &why);
	if (r == 0)
		r = create(write, &why);
	object_write_queued(exchange, write, r, &why);
}

/* ---- update ---- */

/* Status has a path of its own: a write to the object leaves it alone, a write to the subresource
 * leaves all else alone. */
static int take_over_status(struct cJSON *tree, void *userdata)
{
	const struct cJSON *other = userdata;
	const struct cJSON *status = json_get(other, "status");

	json_remove(tree, "status");
	return status ? json_set(tree, "status", json_copy(status)) : 0;
}

int object_join_present(const struct object *present, bool status_only,
			const struct object **object, struct failure *why)
{
	const struct object *base = status_only ? present : *object;
	cleanup_json struct cJSON *tree = NULL;
	const struct object *joined;
	int r;

	if (!kind_row(present->kind)->has_status)
		return 0;
	tree = object_tree(status_only ? *object : present);
	if (!tree)
		return failed(why, -ENOMEM, "cannot join an object with the present one");
	r = object_edit(base, take_over_status, tree, &joined, why);
	if (r < 0)
		return r;
	(void) object_unref(*object);
	*object = joined;
	return 0;
}

static bool is_named_by(struct exchange *exchange, const struct object *object, const char *name)
{
	if (strcmp(object->meta.name, name) == 0)
		return true;
	reply_refusal(exchange, API_BAD_REQUEST,
		      "the name of the object (%s) does not match the name on the URL (%s)",
		      object->meta.name, name);
	return false;
}

void objects_update(struct exchange *exchange, const struct target *target)
{
	struct store *store = agent_store(exchange->agent);
	cleanup_object const struct object *object = NULL;
	struct store_precondition expected = { 0 };
	const struct object *present;
	struct object_write *write;
	struct failure why = { 0 };
	int trial = query_dry_run(exchange, "UpdateOptions");
	int r;

	if (trial < 0 ||
	    body_object(exchange, target->row, target_namespace(target), &object) < 0 ||
	    !is_named_by(exchange, object, target->name))
		return;
	present = store_get(store, target->row->kind, target_namespace(target), target->name);
	expected.resource_version = object->meta.resource_version;
	expected.dry_run = trial > 0;
	if (!present)
		r = -ENOENT;
	else if (*object->meta.uid && strcmp(object->meta.uid, present->meta.uid) != 0)
		r = -ESTALE;
	else
		r = object_join_present(present, target->status, &object, &why);
	write = object_write_new(exchange, target, target->name);
	if (!write)
		return;
	write->dry_run = expected.dry_run;
	write->object = object_ref(object);
	if (r == 0)
		r = authorize_object(write->rights, object, &why);
	if (r == 0)
		r = store_update(store, object, &expected, object_write_done, write);
	object_write_queued(exchange, write, r, &why);
}
