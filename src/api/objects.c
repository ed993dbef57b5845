/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects - Kubernetes' REST verbs on the kinds of the store
 *
 * Paths come from the table of kinds: nothing here names a kind. What this cut does not serve
 * (watch, patch, selectors, paging, dry run) is refused by name, never passed over: a client that
 * asked for a dry run must not get a write.
 */
#include "api/exchange.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* What a path names. */
struct target {
	const struct kind_row *row;
	const char *name_space; /* NULL: all, or a kind without namespaces */
	const char *name;       /* NULL: the collection */
	bool status;            /* the subresource */
};

/* By the table of kinds: a new kind is served without a line here. */
static const struct kind_row *find_row(const char *group, const char *version, const char *plural)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (strcmp(row->plural, plural) == 0 && strcmp(row->group, group) == 0 &&
		    strcmp(row->version, version) == 0)
			return row;
	}
	return NULL;
}

/* "api/v1/..." or "apis/GROUP/VERSION/...", then [namespaces/NS/]PLURAL[/NAME[/status]]. */
static bool find_target(const struct api_path *path, struct target *ret)
{
	const char *const *at = path->segments;
	const char *const *end = at + path->segment_count;
	const char *group = "", *version;

	if (end - at >= 3 && strcmp(at[0], "api") == 0) {
		version = at[1];
		at += 2;
	} else if (end - at >= 4 && strcmp(at[0], "apis") == 0) {
		group = at[1];
		version = at[2];
		at += 3;
	} else {
		return false;
	}
	*ret = (struct target){ 0 };
	if (end - at >= 3 && strcmp(at[0], "namespaces") == 0) {
		ret->name_space = at[1];
		at += 2;
	}
	ret->row = find_row(group, version, at[0]);
	if (!ret->row || (ret->name_space && !ret->row->namespaced))
		return false;
	at++;
	if (at < end)
		ret->name = *at++;
	if (at < end) {
		ret->status = strcmp(*at++, "status") == 0;
		if (!ret->status)
			return false;
	}
	/* A namespaced object has no path without its namespace. */
	return at == end && !(ret->name && ret->row->namespaced && !ret->name_space);
}

static const char *namespace_of(const struct target *target)
{
	return target->name_space ? target->name_space : "";
}

static void details_of(const struct target *target, const char *name, struct reply_details *ret)
{
	*ret = (struct reply_details){ .row = target->row, .name = name };
}

/* ---- reading ---- */

struct collection {
	const struct object **objects;
	size_t count, allocated;
};

/* Pointers only, borrowed for this turn of the loop: the answer is made within it. */
static int collect(const struct object *object, void *userdata)
{
	struct collection *all = userdata;

	if (all->count == all->allocated) {
		size_t allocated = all->allocated ? all->allocated * 2 : 64;
		const struct object **grown =
			reallocarray(all->objects, allocated, sizeof(const struct object *));

		if (!grown)
			return -ENOMEM;
		all->objects = grown;
		all->allocated = allocated;
	}
	all->objects[all->count++] = object;
	return 0;
}

/* The objects' own bytes between a head and a tail: a list costs no tree. */
static void write_list(FILE *file, const struct kind_row *row, const struct collection *all,
		       uint64_t version)
{
	(void) fprintf(file,
		       "{\"kind\":\"%sList\",\"apiVersion\":\"%s%s%s\",\"metadata\":{"
		       "\"resourceVersion\":\"%" PRIu64 "\"},\"items\":[",
		       row->name, row->group, *row->group ? "/" : "", row->version, version);
	for (size_t i = 0; i < all->count; i++) {
		if (i > 0)
			(void) fputc(',', file);
		(void) fwrite(all->objects[i]->json, 1, all->objects[i]->json_length, file);
	}
	(void) fputs("]}", file);
}

static void reply_list(struct exchange *exchange, const struct kind_row *row,
		       const struct collection *all)
{
	uint64_t version = store_resource_version(agent_store(exchange->agent));
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);

	if (file) {
		write_list(file, row, all, version);
		if (fclose(file) != 0) {
			free(text);
			text = NULL;
		}
	}
	if (text && exchange->form == FORM_YAML) {
		const struct json_limits limits = { .bytes = length + 1,
						    .depth = OBJECT_DEPTH_MAX + 4 };
		struct cJSON *tree = NULL;

		(void) json_parse(text, length, &limits, &tree, NULL);
		free(text);
		reply_tree(exchange, 200, tree);
		return;
	}
	reply_bytes(exchange, 200, "application/json", text, length);
}

/* A list comes from the cache and never waits for a write. */
static void handle_list(struct exchange *exchange, const struct target *target)
{
	struct collection all = { 0 };
	int r;

	r = store_list(agent_store(exchange->agent), target->row->kind, target->name_space, collect,
		       &all);
	if (r < 0)
		reply_bytes(exchange, 500, NULL, NULL, 0);
	else if (exchange->form == FORM_TABLE)
		reply_tree(exchange, 200,
			   table_from_objects(target->row->kind, all.objects, all.count,
					      realtime_usec()));
	else
		reply_list(exchange, target->row, &all);
	free(all.objects);
}

static void handle_get(struct exchange *exchange, const struct target *target)
{
	const struct object *object = store_get(agent_store(exchange->agent), target->row->kind,
						namespace_of(target), target->name);
	struct reply_details details;

	if (object) {
		reply_object(exchange, 200, object);
		return;
	}
	details_of(target, target->name, &details);
	reply_error(exchange, -ENOENT, &details, NULL);
}

/* ---- writing ---- */

/* A write that the store was given. The client may leave; the write happens all the same. */
struct write {
	struct exchange *exchange; /* NULL: nobody waits any more */
	enum api_method method;
	const struct kind_row *row;
	char *name_space, *name;
};

static void write_free(struct write *write)
{
	free(write->name_space);
	free(write->name);
	free(write);
}

static void write_abandon(void *work)
{
	struct write *write = work;

	write->exchange = NULL;
}

static struct write *write_new(struct exchange *exchange, const struct target *target,
			       const char *name)
{
	struct write *write = calloc(1, sizeof(*write));

	if (!write)
		return NULL;
	write->exchange = exchange;
	write->method = exchange->method;
	write->row = target->row;
	write->name_space = strdup(namespace_of(target));
	write->name = strdup(name);
	if (!write->name_space || !write->name) {
		write_free(write);
		return NULL;
	}
	return write;
}

/* Gone at once is a Status; held back by finalizers is the object, with its deletionTimestamp, and
 * 202: it was accepted and is not done. */
static void reply_deleted(const struct write *write, const struct object *result)
{
	struct store *store = agent_store(write->exchange->agent);
	const struct object *left =
		store_get(store, write->row->kind, write->name_space, write->name);
	const struct reply_details details = { .row = write->row,
					       .name = write->name,
					       .uid = result->meta.uid };

	if (left && strcmp(left->meta.uid, result->meta.uid) == 0)
		reply_object(write->exchange, 202, left);
	else
		reply_success(write->exchange, 200, &details, NULL);
}

static void write_done(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct write *write = userdata;
	const struct reply_details details = { .row = write->row, .name = write->name };

	if (!write->exchange)
		; /* nobody to tell: the client left, and the store logs what matters */
	else if (error < 0)
		reply_error(write->exchange, error, &details, why);
	else if (write->method == METHOD_DELETE)
		reply_deleted(write, result);
	else
		reply_object(write->exchange, write->method == METHOD_POST ? 201 : 200, result);
	write_free(write);
}

/* @r: what queueing the write gave. */
static void write_queued(struct exchange *exchange, struct write *write, int r)
{
	const struct reply_details details = { .row = write->row, .name = write->name };

	if (r < 0) {
		reply_error(exchange, r, &details, NULL);
		write_free(write);
		return;
	}
	exchange->work = write;
	exchange->abandon = write_abandon;
}

/* The answer comes when the write is committed, not when it is queued. */
static void handle_create(struct exchange *exchange, const struct target *target)
{
	cleanup_object const struct object *object = NULL;
	struct write *write;
	int r;

	r = body_object(exchange, target->row, namespace_of(target), &object);
	if (r < 0)
		return;
	write = write_new(exchange, target, object->meta.name);
	if (!write) {
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	write_queued(exchange, write,
		     store_create(agent_store(exchange->agent), object, write_done, write));
}

/* Status has a path of its own: a write to the object leaves it alone, a write to the subresource
 * leaves all else alone. */
static int take_over_status(struct cJSON *tree, void *userdata)
{
	const struct cJSON *other = userdata;
	const struct cJSON *status = json_get(other, "status");

	json_remove(tree, "status");
	return status ? json_set(tree, "status", json_copy(status)) : 0;
}

/* What the request may not touch is taken from the present object before the write. */
static int join_with_present(const struct object *present, bool status_only,
			     const struct object **object, struct failure *why)
{
	const struct object *base = status_only ? present : *object;
	const struct object *status_from = status_only ? *object : present;
	const struct json_limits limits = { .bytes = status_from->json_length + 1,
					    .depth = OBJECT_DEPTH_MAX + 1 };
	cleanup_json struct cJSON *tree = NULL;
	const struct object *joined;
	int r;

	r = json_parse(status_from->json, status_from->json_length, &limits, &tree, why);
	if (r < 0)
		return r;
	r = object_edit(base, take_over_status, tree, &joined, why);
	if (r < 0)
		return r;
	(void) object_unref(*object);
	*object = joined;
	return 0;
}

static void handle_update(struct exchange *exchange, const struct target *target)
{
	struct store *store = agent_store(exchange->agent);
	cleanup_object const struct object *object = NULL;
	struct store_precondition expected = { 0 };
	const struct object *present;
	struct reply_details details;
	struct failure why = { 0 };
	struct write *write;
	int r;

	r = body_object(exchange, target->row, namespace_of(target), &object);
	if (r < 0)
		return;
	if (strcmp(object->meta.name, target->name) != 0) {
		reply_refusal(exchange, API_BAD_REQUEST,
			      "the name of the object (%s) does not match the name on the URL (%s)",
			      object->meta.name, target->name);
		return;
	}
	present = store_get(store, target->row->kind, namespace_of(target), target->name);
	expected.resource_version = object->meta.resource_version;
	details_of(target, target->name, &details);
	if (!present)
		r = -ENOENT;
	else if (*object->meta.uid && strcmp(object->meta.uid, present->meta.uid) != 0)
		r = -ESTALE;
	else
		r = join_with_present(present, target->status, &object, &why);
	write = r < 0 ? NULL : write_new(exchange, target, target->name);
	if (r < 0 || !write) {
		reply_error(exchange, r < 0 ? r : -ENOMEM, &details, &why);
		return;
	}
	write_queued(exchange, write, store_update(store, object, &expected, write_done, write));
}

/* DeleteOptions.preconditions; all else in them concerns a cluster. Strings point into @tree. */
static int read_delete_options(struct exchange *exchange, struct cJSON **tree,
			       struct store_precondition *ret)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX, .depth = OBJECT_DEPTH_MAX };
	const struct cJSON *preconditions;
	struct failure why = { 0 };
	const char *version, *uid;
	int r;

	if (exchange->body_length == 0)
		return 0;
	if (exchange->content != CONTENT_JSON)
		r = failed_plain(&why, -EINVAL, "it is not JSON");
	else
		r = json_parse(exchange->body, exchange->body_length, &limits, tree, &why);
	if (r < 0) {
		(void) failure_prefix(&why, "the body is no DeleteOptions");
		reply_unread(exchange, r, why.text);
		return r;
	}
	preconditions = json_get(*tree, "preconditions");
	uid = json_string(json_get(preconditions, "uid"), NULL);
	version = json_string(json_get(preconditions, "resourceVersion"), "0");
	*ret = (struct store_precondition){ .uid = uid,
					    .resource_version = strtoull(version, NULL, 10) };
	if (json_count(json_get(*tree, "dryRun")) == 0)
		return 0;
	reply_refusal(exchange, API_BAD_REQUEST, "dryRun is not served");
	return -EBADMSG;
}

static void handle_delete(struct exchange *exchange, const struct target *target)
{
	cleanup_json struct cJSON *tree = NULL;
	struct store_precondition expected = { 0 };
	struct write *write;

	if (read_delete_options(exchange, &tree, &expected) < 0)
		return;
	write = write_new(exchange, target, target->name);
	if (!write) {
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	write_queued(exchange, write,
		     store_delete(agent_store(exchange->agent),
				  &(struct store_key){ target->row->kind, namespace_of(target),
						       target->name },
				  &expected, write_done, write));
}

/* ---- which verb ---- */

/* Parameters that change what a request means and that nobody here acts on. */
static bool refuse_unserved(struct exchange *exchange)
{
	static const char *const unserved[] = {
		"watch",    "labelSelector", "fieldSelector",       "limit",
		"continue", "dryRun",        "resourceVersionMatch"
	};

	for (size_t i = 0; i < ARRAY_SIZE(unserved); i++) {
		const char *value = api_path_parameter(&exchange->path, unserved[i]);

		/* kubectl sends limit=500 always: more than that may come all the same. */
		if (!value || *value == '\0' || strcmp(unserved[i], "limit") == 0 ||
		    strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
			continue;
		reply_refusal(exchange, API_BAD_REQUEST, "%s is not served", unserved[i]);
		return true;
	}
	return false;
}

bool objects_handle(struct exchange *exchange)
{
	struct target target;

	assert(exchange);
	if (!find_target(&exchange->path, &target))
		return false;
	if (refuse_unserved(exchange))
		return true;

	if (exchange->method == METHOD_GET && target.name)
		handle_get(exchange, &target);
	else if (exchange->method == METHOD_GET)
		handle_list(exchange, &target);
	else if (exchange->method == METHOD_POST && !target.name &&
		 (target.name_space || !target.row->namespaced))
		handle_create(exchange, &target);
	else if (exchange->method == METHOD_PUT && target.name)
		handle_update(exchange, &target);
	else if (exchange->method == METHOD_DELETE && target.name && !target.status)
		handle_delete(exchange, &target);
	else
		reply_refusal(exchange, API_METHOD_NOT_ALLOWED,
			      "the server does not allow this method on the requested resource");
	return true;
}
