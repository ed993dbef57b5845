/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_delete - one object, or the selected ones of a collection
 *
 * No garbage collection: propagationPolicy is validated and ignored, as no object of this API owns
 * another. Two deletions are refused that a cluster would carry out: of an object of a manifest,
 * which would be stored again with the next read of the file, and of a Namespace with objects in
 * it, which would take pods and claims from volumes at once. The second lists what is left, to be
 * deleted first.
 */
#include "api/objects/objects.h"

#include "agent.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/root_ca.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- DeleteOptions ---- */

struct delete_options {
	struct cJSON *tree; /* owned; what the strings below point into; NULL: no body */
	struct store_precondition expected;
};

static void options_done(struct delete_options *options)
{
	json_free(options->tree);
}

#define cleanup_options cleanup(options_done)

static int read_body(struct exchange *exchange, struct cJSON **ret)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX, .depth = OBJECT_DEPTH_MAX };
	struct failure why = { 0 };
	int r;

	if (exchange->body_length == 0)
		return 0;
	if (exchange->content != CONTENT_JSON)
		r = failed_plain(&why, -EINVAL, "it is not JSON");
	else
		r = json_parse(exchange->body, exchange->body_length, &limits, ret, &why);
	if (r == 0 && !json_is_object(*ret))
		r = failed_plain(&why, -EINVAL, "it is not a map");
	if (r < 0) {
		(void) failure_prefix(&why, "the body is not a DeleteOptions");
		reply_unread(exchange, r, why.text);
	}
	return r;
}

/* From the body, else from the query; NULL: neither. */
static const char *option_of(const struct exchange *exchange, const struct cJSON *tree,
			     const char *name)
{
	return json_string(json_get(tree, name), api_path_parameter(&exchange->path, name));
}

static bool is_grace_period(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0' && *text && strlen(text) < 19;
}

static int check_options(struct exchange *exchange, const struct cJSON *tree,
			 struct store_precondition *ret)
{
	const char *policy = option_of(exchange, tree, "propagationPolicy");
	const char *grace = api_path_parameter(&exchange->path, "gracePeriodSeconds");
	const struct cJSON *grace_item = json_get(tree, "gracePeriodSeconds");
	int64_t seconds = 0;
	char why[256];

	if (policy && *policy && strcmp(policy, "Orphan") != 0 &&
	    strcmp(policy, "Background") != 0 && strcmp(policy, "Foreground") != 0)
		(void) snprintf(why, sizeof(why),
				"propagationPolicy: Unsupported value: \"%.64s\": supported "
				"values: \"Background\", \"Foreground\", \"Orphan\"",
				policy);
	else if (policy && *policy && json_get(tree, "orphanDependents"))
		(void) snprintf(why, sizeof(why),
				"propagationPolicy: Invalid value: \"%.64s\": orphanDependents and "
				"deletionPropagation cannot be both set",
				policy);
	else if ((grace && !is_grace_period(grace)) ||
		 (grace_item && !json_is_null(grace_item) &&
		  (!json_int64(grace_item, &seconds) || seconds < 0)))
		(void) snprintf(why, sizeof(why),
				"gracePeriodSeconds: Invalid value: must be a number of seconds");
	else {
		ret->has_grace = grace || (grace_item && !json_is_null(grace_item));
		ret->grace_seconds = grace && !grace_item ? strtoll(grace, NULL, 10) : seconds;
		return 0;
	}
	refuse_options(exchange, "DeleteOptions", why);
	return -EINVAL;
}

static int check_dry_run(struct exchange *exchange, const struct cJSON *list, bool *ret)
{
	JSON_FOREACH (item, list) {
		if (strcmp(json_string(item, ""), "All") != 0) {
			refuse_options(exchange, "DeleteOptions",
				       "dryRun: Unsupported value: supported values: \"All\"");
			return -EINVAL;
		}
		*ret = true;
	}
	return 0;
}

/* What is no version of an object is given, and so none that it has: that is a conflict, too. */
static uint64_t read_version(const struct cJSON *item)
{
	const char *text = json_string(item, "");
	uint64_t version = 0;

	if (!item || json_is_null(item))
		return 0;
	if (text[strspn(text, "0123456789")] == '\0' && strlen(text) < 20)
		version = strtoull(text, NULL, 10);
	return version ? version : UINT64_MAX;
}

static const char *read_uid(const struct cJSON *item)
{
	const char *text = json_string(item, "");

	if (!item || json_is_null(item))
		return NULL;
	return *text ? text : "?";
}

/* Replies and returns a negative errno when they are wrong. */
static int read_options(struct exchange *exchange, struct delete_options *ret)
{
	const struct cJSON *preconditions;
	int r = query_dry_run(exchange, "DeleteOptions");

	if (r < 0)
		return r;
	ret->expected.dry_run = r > 0;
	r = read_body(exchange, &ret->tree);
	if (r == 0)
		r = check_options(exchange, ret->tree, &ret->expected);
	if (r == 0)
		r = check_dry_run(exchange, json_get(ret->tree, "dryRun"), &ret->expected.dry_run);
	if (r < 0)
		return r;
	preconditions = json_get(ret->tree, "preconditions");
	ret->expected.uid = read_uid(json_get(preconditions, "uid"));
	ret->expected.resource_version = read_version(json_get(preconditions, "resourceVersion"));
	return 0;
}

/* ---- what must not go ---- */

static int count_one(const struct object *object, void *userdata)
{
	size_t *count = userdata;

	*count += root_ca_is_published(object) ? 0 : 1;
	return 0;
}

/* Events and leases are about other objects and do not count. The certificate that podvold
 * publishes in each namespace is deleted with it. */
static size_t count_contents(struct store *store, const char *name_space, char *text, size_t size)
{
	size_t total = 0, used = 0;

	text[0] = '\0';
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);
		size_t count = 0;

		if (!row->namespaced || row->durability != KIND_SYNCED)
			continue;
		(void) store_list(store, row->kind, name_space, count_one, &count);
		if (count > 0 && used < size)
			used += (size_t) snprintf(text + used, size - used, "%s%zu %s",
						  total ? ", " : "", count, row->plural);
		total += count;
	}
	return total;
}

static bool refuse_namespace(struct exchange *exchange, const struct object *object)
{
	const struct reply_details details = { .row = kind_row(KIND_NAMESPACE),
					       .name = object->meta.name };
	char contents[512], message[1024];

	if (object->kind != KIND_NAMESPACE)
		return false;
	if (strcmp(object->meta.name, "default") == 0) {
		reply_refusal_about(exchange, API_FORBIDDEN, &details,
				    "namespaces \"default\" is forbidden: this namespace may not "
				    "be deleted");
		return true;
	}
	if (count_contents(agent_store(exchange->agent), object->meta.name, contents,
			   sizeof(contents)) == 0)
		return false;
	(void) snprintf(message, sizeof(message),
			"namespace \"%.253s\" still holds %s: it is deleted when it is empty, so "
			"that no volume loses its pod or claim unasked",
			object->meta.name, contents);
	reply_refusal_about(exchange, API_CONFLICT, &details, message);
	return true;
}

static bool refuse_held(struct exchange *exchange, const struct object *object)
{
	const struct kind_row *row = kind_row(object->kind);
	const struct reply_details details = { .row = row, .name = object->meta.name };
	const char *file = agent_manifest_file_of(exchange->agent, object);
	char message[1024];

	if (!file)
		return false;
	(void) snprintf(message, sizeof(message),
			"%s '%s%s%s' comes from the manifest '%.400s' and would come back: "
			"remove it from the manifest instead",
			row->singular, object->meta.name_space, *object->meta.name_space ? "/" : "",
			object->meta.name, file);
	reply_refusal_about(exchange, API_CONFLICT, &details, message);
	return true;
}

static bool refuse_forbidden(struct exchange *exchange, const struct object *object)
{
	const struct reply_details details = { .row = kind_row(object->kind),
					       .name = object->meta.name };
	struct failure why = { .error = 0 };
	int r = authorize_name(exchange->rights, "delete", object, &why);

	if (r < 0)
		reply_error(exchange, r, &details, &why);
	return r < 0;
}

/* ---- the client that deletes ---- */

static void note_done(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	if (error < 0 && error != -ESTALE && error != -ENOENT)
		log_message(LOG_WARNING,
			    "the client that deleted a claim could not be recorded: %s", why->text);
}

static int write_peer(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "annotations"), ANNOTATION_DELETED_BY,
			       userdata);
}

/* The deletion of a claim, VolumeSnapshot or VolumeGroupSnapshot may end in that of its data: the
 * client is recorded first, and the deletion then is of that version or none. It costs no other
 * write: with another version there the claim is deleted without the note. */
static void note_peer(const struct exchange *exchange, struct store *store,
		      const struct object *claim)
{
	const struct store_precondition expected = { .uid = claim->meta.uid,
						     .resource_version =
							     claim->meta.resource_version };
	cleanup_object const struct object *noted = NULL;

	if ((claim->kind != KIND_PERSISTENT_VOLUME_CLAIM && claim->kind != KIND_VOLUME_SNAPSHOT &&
	     claim->kind != KIND_VOLUME_GROUP_SNAPSHOT) ||
	    claim->meta.deletes || !exchange->peer)
		return;
	if (object_edit(claim, write_peer, (void *) exchange->peer, &noted, NULL) == 0)
		(void) store_update(store, noted, &expected, note_done, NULL);
}

/* ---- one ---- */

void objects_delete(struct exchange *exchange, const struct target *target)
{
	cleanup_options struct delete_options options = { 0 };
	struct store *store = agent_store(exchange->agent);
	const char *name_space = target_namespace(target);
	const struct object *present;
	struct object_write *write;
	int r;

	if (read_options(exchange, &options) < 0)
		return;
	present = store_get(store, target->row->kind, name_space, target->name);
	if (present && (refuse_held(exchange, present) || refuse_namespace(exchange, present)))
		return;
	write = object_write_new(exchange, target, target->name);
	if (!write)
		return;
	write->dry_run = options.expected.dry_run;
	if (present && !options.expected.dry_run && !options.expected.resource_version &&
	    (!options.expected.uid || strcmp(options.expected.uid, present->meta.uid) == 0))
		note_peer(exchange, store, present);
	r = store_delete(store, &(struct store_key){ target->row->kind, name_space, target->name },
			 &options.expected, object_write_done, write);
	object_write_queued(exchange, write, r, NULL);
}

/* ---- all that are selected ---- */

/* So many are queued at a time, so that others get their turn. */
enum { IN_FLIGHT_MAX = 64 };

struct sweep_item {
	struct sweep *sweep;
	const struct object *object; /* own reference */
};

struct sweep {
	struct agent *agent;       /* borrowed */
	struct exchange *exchange; /* NULL: the client left; what is queued still happens */
	struct store *store;
	struct selector_match *selector_match;
	const struct kind_row *row;
	bool dry_run;
	struct sweep_item *items;
	size_t count, allocated, next, in_flight;
	const struct object *failed; /* borrowed; the first */
	int error;
	struct failure why;
};

static void sweep_free(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++)
		(void) object_unref(sweep->items[i].object);
	free(sweep->items);
	(void) selector_match_free(sweep->selector_match);
	free(sweep);
}

static void sweep_abandon(void *work)
{
	struct sweep *sweep = work;

	sweep->exchange = NULL;
}

static int sweep_collect(const struct object *object, void *userdata)
{
	struct sweep *sweep = userdata;

	if (!object_is_meant(sweep->agent, sweep->selector_match, object))
		return 0;
	if (ARRAY_ROOM(sweep->items, sweep->count, sweep->allocated, 64) < 0)
		return -ENOMEM;
	sweep->items[sweep->count++] = (struct sweep_item){ sweep, object_ref(object) };
	return 0;
}

/* One that is gone meanwhile counts as deleted. */
static void note_failure(struct sweep *sweep, const struct object *object, int error,
			 const struct failure *why)
{
	if (error == -ENOENT || error == -ESTALE || sweep->failed)
		return;
	sweep->failed = object;
	sweep->error = error;
	if (why)
		sweep->why = *why;
}

static void sweep_done(void *userdata, int error, const struct object *result,
		       const struct failure *why);

static void sweep_answer(struct sweep *sweep)
{
	struct exchange *exchange = sweep->exchange;
	const struct reply_details details = { .row = sweep->row,
					       .name = sweep->failed ? sweep->failed->meta.name
								     : NULL };

	if (exchange && sweep->failed)
		reply_error(exchange, sweep->error, &details, &sweep->why);
	else if (exchange)
		reply_success(exchange, 200, &details, NULL);
	sweep_free(sweep);
}

/* Queues what may be queued; replies when nothing is left. */
static void sweep_on(struct sweep *sweep)
{
	while (sweep->exchange && !sweep->failed && sweep->next < sweep->count &&
	       sweep->in_flight < IN_FLIGHT_MAX) {
		struct sweep_item *item = &sweep->items[sweep->next++];
		const struct object *object = item->object;
		const struct store_precondition expected = { .uid = object->meta.uid,
							     .dry_run = sweep->dry_run };
		const struct store_key key = { object->kind, object->meta.name_space,
					       object->meta.name };
		int r;

		if (!sweep->dry_run)
			note_peer(sweep->exchange, sweep->store, object);
		r = store_delete(sweep->store, &key, &expected, sweep_done, item);
		if (r < 0)
			note_failure(sweep, object, r, NULL);
		else
			sweep->in_flight++;
	}
	if (sweep->in_flight == 0)
		sweep_answer(sweep);
}

static void sweep_done(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct sweep_item *item = userdata;
	struct sweep *sweep = item->sweep;

	assert(sweep->in_flight > 0);
	sweep->in_flight--;
	if (error < 0)
		note_failure(sweep, item->object, error, why);
	sweep_on(sweep);
}

/* All or nothing, as far as known beforehand: one that must stay refuses all. */
static bool refuse_any(struct exchange *exchange, const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++)
		if (refuse_forbidden(exchange, sweep->items[i].object) ||
		    refuse_held(exchange, sweep->items[i].object) ||
		    refuse_namespace(exchange, sweep->items[i].object))
			return true;
	return false;
}

void objects_delete_collection(struct exchange *exchange, const struct target *target)
{
	cleanup_options struct delete_options options = { 0 };
	struct selector_match *selector_match = NULL;
	struct sweep *sweep;

	if (read_options(exchange, &options) < 0)
		return;
	/* One uid or version for many objects: such a client expects few deletions. */
	if (options.expected.uid || options.expected.resource_version) {
		refuse_options(exchange, "DeleteOptions",
			       "preconditions: Forbidden: may not be set for a collection");
		return;
	}
	if (target_selector_match(exchange, target, &selector_match) < 0)
		return;
	sweep = calloc(1, sizeof(*sweep));
	if (!sweep) {
		(void) selector_match_free(selector_match);
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	sweep->agent = exchange->agent;
	sweep->store = agent_store(exchange->agent);
	sweep->selector_match = selector_match;
	sweep->row = target->row;
	sweep->dry_run = options.expected.dry_run;
	if (store_list(sweep->store, target->row->kind, target->name_space, sweep_collect, sweep) <
	    0)
		reply_bytes(exchange, 500, NULL, NULL, 0);
	if (exchange->status != 0 || refuse_any(exchange, sweep)) {
		sweep_free(sweep);
		return;
	}
	sweep->exchange = exchange;
	exchange_wait(exchange, sweep, sweep_abandon);
	sweep_on(sweep);
}
