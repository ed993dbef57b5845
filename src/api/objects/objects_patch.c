/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_patch - PATCH: the present object, changed, written back
 *
 * A patch without a resourceVersion of its own means "whatever is there": when another writes in
 * between, it is applied again. One that carries a version means that version: 409 for any other.
 * Server-side apply, which needs an owner for every field, is refused with a hint.
 */
#include "api/objects/aside.h"

#include "base/cleanup.h"
#include "object/patch/patch.h"

#include <string.h>

/* ---- the result ---- */

/* The tree as an object of the same name, its untouchable part as it is now. Takes it. */
static int make_object(struct object_write *write, const struct object *present,
		       struct cJSON **tree, const struct object **ret, struct failure *why)
{
	cleanup_object const struct object *object = NULL;
	int r = object_propose_taken(tree, &object, why);

	if (r == -EOPNOTSUPP)
		return failed_plain(why, -EINVAL, "kind: Invalid value: field is immutable");
	if (r == -EINVAL && write->exchange && write->tries == 0) {
		body_refuse_object(write->exchange, write->row, *tree, r, why);
		return -EALREADY;
	}
	if (r < 0)
		return r;
	if (object->kind != present->kind)
		return failed_plain(why, -EINVAL, "kind: Invalid value: field is immutable");
	if (strcmp(object->meta.name, present->meta.name) != 0 ||
	    strcmp(object->meta.name_space, present->meta.name_space) != 0)
		return failed_plain(why, -EINVAL,
				    "metadata.name: Invalid value: \"%.128s\": field is immutable",
				    object->meta.name);
	if (object->meta.resource_version != 0 &&
	    object->meta.resource_version != present->meta.resource_version)
		return failed_plain(why, -ESTALE, "the patch is for another version");
	r = object_join_present(present, write->status, &object, why);
	if (r == 0)
		r = authorize_object(write->rights, object, why);
	if (r == 0)
		*ret = TAKE_PTR(object);
	return r;
}

static int patched(struct object_write *write, const struct object *present,
		   const struct object **ret, struct failure *why)
{
	cleanup_json struct cJSON *tree = object_tree(present);
	size_t before = json_node_count(tree), after;
	int r;

	if (!tree)
		return failed(why, -ENOMEM, "cannot patch an object");
	r = patch_apply((enum patch_type) write->patch_type, write->row, &tree, write->patch, why);
	if (r < 0)
		return r;
	after = json_node_count(tree);
	if (after > OBJECT_NODES_MAX && after > before)
		return failed_plain(why, -E2BIG, "the object would hold more than %d values",
				    OBJECT_NODES_MAX);
	if (write->exchange && write->tries == 0 &&
	    body_check_fields(write->exchange, write->row, tree) < 0)
		return -EALREADY;
	return make_object(write, present, &tree, ret, why);
}

/* Another wrote in between. */
static int patch_again(void *userdata, const struct object *present, const struct object **ret,
		       struct failure *why)
{
	struct object_write *write = userdata;
	int r;

	write->tries++;
	r = patched(write, present, ret, why);
	if (r < 0)
		return r;
	(void) object_unref(write->object);
	write->object = object_ref(*ret);
	return 0;
}

/* ---- the request ---- */

static bool find_type(struct exchange *exchange, enum patch_type *ret)
{
	switch (exchange->content) {
	case CONTENT_JSON_PATCH:
		*ret = PATCH_JSON;
		return true;
	case CONTENT_MERGE_PATCH:
		*ret = PATCH_MERGE;
		return true;
	case CONTENT_STRATEGIC_PATCH:
		*ret = PATCH_STRATEGIC;
		return true;
	case CONTENT_APPLY_PATCH:
		reply_refusal(exchange, API_UNSUPPORTED_MEDIA_TYPE,
			      "server-side apply is not served: use kubectl apply without "
			      "--server-side, or podvolctl apply");
		return false;
	default:
		reply_refusal(exchange, API_UNSUPPORTED_MEDIA_TYPE,
			      "the body of the request was in an unknown format - accepted media "
			      "types include: application/json-patch+json, "
			      "application/merge-patch+json, "
			      "application/strategic-merge-patch+json");
		return false;
	}
}

static int read_patch(struct exchange *exchange, struct cJSON **ret)
{
	const struct json_limits limits = { .bytes = 2 * OBJECT_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .nodes = PATCH_NODES_MAX };
	struct failure why = { 0 };
	int r;

	if (exchange->body_length == 0)
		r = failed_plain(&why, -EBADMSG, "the request has no body");
	else
		r = json_parse(exchange->body, exchange->body_length, &limits, ret, &why);
	if (r < 0)
		reply_unread(exchange, r, why.text);
	return r;
}

/* A patch that is made out of the present object aside from the loop, before it is queued. */
struct patching {
	struct object_write *write;   /* NULL: the store has it */
	const struct object *present; /* own reference; NULL: there is none */
	int error;                    /* with @why; 0: none */
	struct failure why;
};

static void patching_free(void *work)
{
	struct patching *patching = work;

	if (patching->write)
		object_write_free(patching->write);
	(void) object_unref(patching->present);
	free(patching);
}

/* NULL: no memory, and that was replied. */
static struct patching *patching_new(struct exchange *exchange, const struct target *target)
{
	struct patching *patching = exchange_new_work(exchange, sizeof(*patching));

	if (!patching)
		return NULL;
	patching->write = object_write_new(exchange, target, target->name);
	if (!patching->write) {
		patching_free(patching);
		return NULL;
	}
	patching->present = object_ref(store_get(patching->write->store, target->row->kind,
						 target_namespace(target), target->name));
	return patching;
}

/* So that a patch that cannot be is refused before it is queued. */
static void make_patched(struct exchange *exchange, const struct target *target, void *work)
{
	struct patching *patching = work;
	struct object_write *write = patching->write;

	if (read_patch(exchange, &write->patch) < 0)
		return;
	write->exchange = exchange; /* for what it replies */
	patching->error = patching->present ? patched(write, patching->present, &write->object,
						      &patching->why)
					    : -ENOENT;
}

/* Made again in its turn when there is another version by then. */
static void write_patched(struct exchange *exchange, const struct target *target, void *work)
{
	struct patching *patching = work;
	struct object_write *write = TAKE_PTR(patching->write);
	const struct store_precondition expected = {
		.resource_version =
			patching->present ? patching->present->meta.resource_version : 0,
		.dry_run = write->dry_run,
	};
	int r = patching->error;

	write->exchange = exchange;
	if (r == 0)
		r = store_edit(write->store, write->object, &expected, patch_again,
			       object_write_done, write);
	object_write_queued(exchange, write, r, &patching->why);
}

void objects_patch(struct exchange *exchange, const struct target *target)
{
	static const struct aside_class class = { make_patched, write_patched, patching_free };
	struct patching *patching;
	enum patch_type type;
	size_t bytes = exchange->body_length;
	int trial;

	if (!find_type(exchange, &type))
		return;
	trial = query_dry_run(exchange, "PatchOptions");
	if (trial < 0)
		return;
	patching = patching_new(exchange, target);
	if (!patching)
		return;
	patching->write->dry_run = trial > 0;
	patching->write->patch_type = (int) type;
	bytes += patching->present ? patching->present->json_length : 0;
	aside_begin(exchange, target, &class, bytes, patching);
}
