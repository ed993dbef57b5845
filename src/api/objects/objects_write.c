/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_write - create and update; how every write is answered
 *
 * The answer comes when the write is committed, not when it is queued. A trial (dryRun=All) goes
 * the same way through the store and is not stored.
 */
#include "api/objects/aside.h"

#include "agent.h"
#include "base/cleanup.h"
#include "object/json/json_text.h"

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
	if (write->object)
		object_hand_over(write->object);
	exchange_wait(exchange, write, write_abandon);
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

	*base = strdup(json_text(json_get(tree, "metadata"), "generateName"));
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

/* What is made of a body, aside from the loop. */
struct proposal {
	/* References: of an update what the body says, and what that was joined with. */
	const struct object *object, *body, *present;
	bool dry_run, made_name;
	unsigned int rights;
	int error; /* why it is refused, with @why; 0: it is not */
	struct failure why;
};

static void proposal_free(void *work)
{
	struct proposal *proposal = work;

	(void) object_unref(proposal->object);
	(void) object_unref(proposal->body);
	(void) object_unref(proposal->present);
	free(proposal);
}

static struct proposal *proposal_new(const struct exchange *exchange, bool dry_run)
{
	struct proposal *proposal = calloc(1, sizeof(*proposal));

	if (proposal) {
		proposal->dry_run = dry_run;
		proposal->rights = exchange->rights;
	}
	return proposal;
}

static void propose_create(struct exchange *exchange, const struct target *target, void *work)
{
	struct proposal *proposal = work;
	int r = body_object(exchange, target->row, target_namespace(target), &proposal->object);

	if (r < 0)
		return;
	proposal->made_name = r > 0;
	proposal->error = authorize_object(proposal->rights, proposal->object, &proposal->why);
}

static void create_proposed(struct exchange *exchange, const struct target *target, void *work)
{
	struct proposal *proposal = work;
	struct object_write *write =
		object_write_new(exchange, target, proposal->object->meta.name);
	int r = proposal->error;

	if (!write)
		return;
	write->dry_run = proposal->dry_run;
	write->object = TAKE_PTR(proposal->object);
	if (proposal->made_name) {
		write->again = create_again;
		write->retry_error = -EEXIST;
	}
	if (r == 0)
		r = create(write, &proposal->why);
	object_write_queued(exchange, write, r, &proposal->why);
}

void objects_create(struct exchange *exchange, const struct target *target)
{
	static const struct aside_class class = { propose_create, create_proposed, proposal_free };
	int trial = query_dry_run(exchange, "CreateOptions");

	if (trial < 0)
		return;
	aside_begin(exchange, target, &class, exchange->body_length,
		    proposal_new(exchange, trial > 0));
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

static bool have_same_status(const struct object *one, const struct object *other)
{
	struct json_bytes a = json_text_member(one->json, "status");
	struct json_bytes b = json_text_member(other->json, "status");

	return json_bytes_equal(&a, &b);
}

int object_join_present(const struct object *present, bool status_only,
			const struct object **object, struct failure *why)
{
	const struct object *base = status_only ? present : *object;
	cleanup_json struct cJSON *tree = NULL;
	const struct object *joined;
	int r;

	/* Most writes are of another part, and a join checks and prints the object once more. */
	if (!kind_row(present->kind)->has_status ||
	    (!status_only && have_same_status(*object, present)))
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

static int join_body(struct proposal *proposal, const struct target *target)
{
	const struct object *present = proposal->present;
	const char *uid = proposal->body->meta.uid;

	(void) object_unref(proposal->object);
	proposal->object = object_ref(proposal->body);
	if (!present)
		return -ENOENT;
	if (*uid && strcmp(uid, present->meta.uid) != 0)
		return -ESTALE;
	return object_join_present(present, target->status, &proposal->object, &proposal->why);
}

/* Rights are those to what is written, the part that stays included. */
static void join(struct proposal *proposal, const struct target *target)
{
	int r = join_body(proposal, target);

	if (r == 0)
		r = authorize_object(proposal->rights, proposal->object, &proposal->why);
	proposal->error = r;
}

static void propose_update(struct exchange *exchange, const struct target *target, void *work)
{
	struct proposal *proposal = work;

	if (body_object(exchange, target->row, target_namespace(target), &proposal->body) >= 0 &&
	    is_named_by(exchange, proposal->body, target->name))
		join(proposal, target);
}

static const struct object *present_of(struct exchange *exchange, const struct target *target)
{
	return store_get(agent_store(exchange->agent), target->row->kind, target_namespace(target),
			 target->name);
}

static void update_proposed(struct exchange *exchange, const struct target *target, void *work)
{
	struct proposal *proposal = work;
	const struct object *present = present_of(exchange, target);
	const struct store_precondition expected = {
		.resource_version = proposal->body->meta.resource_version,
		.dry_run = proposal->dry_run,
	};
	struct object_write *write = object_write_new(exchange, target, target->name);
	int r;

	if (!write)
		return;
	if (present != proposal->present) { /* another wrote meanwhile */
		(void) object_unref(proposal->present);
		proposal->present = object_ref(present);
		proposal->why = (struct failure){ 0 };
		join(proposal, target);
	}
	write->dry_run = proposal->dry_run;
	write->object = object_ref(proposal->object);
	r = proposal->error;
	if (r == 0)
		r = store_update(write->store, write->object, &expected, object_write_done, write);
	object_write_queued(exchange, write, r, &proposal->why);
}

static size_t bytes_of(const struct object *object)
{
	return object ? object->json_length : 0;
}

void objects_update(struct exchange *exchange, const struct target *target)
{
	static const struct aside_class class = { propose_update, update_proposed, proposal_free };
	const struct object *present = present_of(exchange, target);
	struct proposal *proposal;
	int trial = query_dry_run(exchange, "UpdateOptions");

	if (trial < 0)
		return;
	proposal = proposal_new(exchange, trial > 0);
	if (proposal)
		proposal->present = object_ref(present);
	aside_begin(exchange, target, &class, exchange->body_length + bytes_of(present), proposal);
}
