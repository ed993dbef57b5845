/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply - one stream of documents: every object created, or brought to what the document says
 *
 * All documents are read and validated before the first is written; volumes, claims and classes
 * come before the pods that use them. An existing object is changed as `kubectl apply` does it, in
 * three ways: what the document names is set, what it named the last time and names no more goes,
 * all else stays (controllers' fields, status, other people's annotations). What it said the last
 * time stands in kubectl's own annotation, so that both can be used on the same objects. Manifests
 * have a rule of their own. A long stream holds up no other: it is parsed on a thread, where large
 * objects are merged as well, and only so many writes are queued at a time.
 *
 * Not atomic: the first object that is not admitted ends it, and the answer says how many were
 * stored before. A client that leaves ends it as well.
 */
#include "api/objects/objects.h"

#include "api/auth/audit.h"
#include "base/cleanup.h"

#include <assert.h>
#include <stdio.h>

enum {
	CONFLICT_RETRIES = 5,
	SLICE_BYTES =
		32768, /* of documents that are merged in one turn of the loop, and one more */
	DOCUMENT_TEXT_BYTES = 512,
};

enum apply_result { APPLY_CREATED, APPLY_CONFIGURED, APPLY_UNCHANGED };

static const char *const result_names[] = {
	[APPLY_CREATED] = "created",
	[APPLY_CONFIGURED] = "configured",
	[APPLY_UNCHANGED] = "unchanged",
};
static_assert(ARRAY_SIZE(result_names) == APPLY_UNCHANGED + 1, "name every result");

struct apply;

struct apply_item {
	struct apply *apply;
	const struct document *document;
	const struct object *object;  /* the document's; owned by the list of documents */
	uint64_t present_version;     /* of the object before this write; 0: there was none */
	const struct object *written; /* a reference, once it is stored */
	unsigned int conflicts;
	struct apply_item *next_again; /* of those that another wrote in between */
	enum apply_result result;
};

/* An object that is made out of a document and the present one, here or on a thread. */
struct merge {
	struct apply_item *item;
	const struct object *present, *merged; /* own references; NULL: there is none */
	int error;                             /* with @why; 0: @merged is there */
	struct failure why;
};

struct apply {
	struct worker_job job; /* first: reads the body; later merges, and lets the loop turn */
	struct merge merge;    /* what a thread merges */
	struct worker_pool *readers;
	size_t slice_bytes;        /* merged in this turn */
	bool pauses;               /* until the loop has turned */
	struct exchange *exchange; /* NULL: the client left */
	struct store *store;
	char *body; /* owned; the exchange may go while a thread reads it */
	size_t body_length;
	int read_error;
	struct document_list documents;
	const struct document *forbidden; /* the first; @why says why; NULL: none */
	unsigned int rights;              /* the exchange may go */
	char user[AUDIT_NAME_BYTES], client[AUDIT_NAME_BYTES]; /* the same */
	struct apply_item *items;                              /* in the order of writing */
	size_t count, next, in_flight, stored;
	struct apply_item *again;        /* to be merged once more, before @next */
	const struct apply_item *failed; /* the first */
	int error;
	struct failure why;
};

static void apply_free(struct apply *apply)
{
	for (size_t i = 0; i < apply->count; i++)
		(void) object_unref(apply->items[i].written);
	free(apply->items);
	free(apply->body);
	document_list_done(&apply->documents);
	free(apply);
}

/* What is queued is written all the same; the rest is not begun. */
static void apply_abandon(void *work)
{
	struct apply *apply = work;

	apply->exchange = NULL;
}

/* ---- one object ---- */

static void item_done(void *userdata, int error, const struct object *result,
		      const struct failure *why);

static void merge_init(struct merge *merge, struct apply_item *item)
{
	const struct object_meta *meta = &item->object->meta;

	*merge = (struct merge){ .item = item };
	merge->present = object_ref(
		store_get(item->apply->store, item->object->kind, meta->name_space, meta->name));
}

static void merge_done(struct merge *merge)
{
	(void) object_unref(merge->present);
	(void) object_unref(merge->merged);
	*merge = (struct merge){ 0 };
}

/* On the loop, or on a thread. */
static void merge_make(struct merge *merge)
{
	const struct apply_item *item = merge->item;
	int r = apply_merge(item->document, merge->present, &merge->merged, &merge->why);

	if (r == 0)
		r = authorize_object(item->apply->rights, merge->merged, &merge->why);
	merge->error = r;
}

/* Expects the version that was merged with: a write in between is a conflict, not a loss. */
static int merge_write(struct merge *merge)
{
	struct apply_item *item = merge->item;
	struct store *store = item->apply->store;
	struct store_precondition expected;

	if (merge->error < 0)
		return merge->error;
	item->present_version = merge->present ? merge->present->meta.resource_version : 0;
	if (!merge->present)
		return store_create(store, merge->merged, item_done, item);
	expected = (struct store_precondition){ .uid = merge->present->meta.uid,
						.resource_version = item->present_version };
	return store_update(store, merge->merged, &expected, item_done, item);
}

/* ---- the whole stream ---- */

static void add_warning(struct cJSON *row, const struct document *document)
{
	cleanup_free char *text = NULL;

	if (!document->unknown_fields || asprintf(&text, "unknown fields, which have no effect: %s",
						  document->unknown_fields) < 0)
		return;
	(void) json_set_string(row, "warning", text);
}

static void add_result(struct cJSON *items, const struct apply_item *item)
{
	const struct object_meta *meta = &item->written->meta;
	struct cJSON *row = json_add_object(items, NULL);

	(void) json_set_string(row, "kind", kind_row(item->object->kind)->name);
	(void) json_set_string(row, "namespace", meta->name_space);
	(void) json_set_string(row, "name", meta->name);
	(void) json_set_string(row, "uid", meta->uid);
	(void) json_set_string(row, "result", result_names[item->result]);
	add_warning(row, item->document);
}

/* Passed over: a kind of Kubernetes that a node has no use for. */
static void add_skipped(struct cJSON *items, const struct document *document)
{
	struct cJSON *row = json_add_object(items, NULL);

	(void) json_set_string(row, "kind", document->kind);
	(void) json_set_string(row, "namespace", document->name_space);
	(void) json_set_string(row, "name", document->name);
	(void) json_set_string(row, "result", "skipped");
	(void) json_set_string(row, "warning", "podvol does not serve this kind");
}

static bool is_namespaced(const char *kind)
{
	for (int i = 0; i < KIND_COUNT; i++)
		if (strcmp(kind_row((enum object_kind) i)->name, kind) == 0)
			return kind_row((enum object_kind) i)->namespaced;
	return false;
}

/* "document 2 (line 3, Pod default/web)": as far as it could be read, with the namespace that it
 * would have. */
static const char *document_text(const struct document_list *list, const struct document *document,
				 char text[DOCUMENT_TEXT_BYTES])
{
	const char *space = document->name_space;

	if (*space == '\0' && document->name[0] && is_namespaced(document->kind))
		space = "default";
	(void) snprintf(text, DOCUMENT_TEXT_BYTES, "document %zu (line %u%s%s%s%s%s%s)",
			(size_t) (document - list->documents) + 1, document->line,
			document->kind[0] ? ", " : "", document->kind, document->name[0] ? " " : "",
			space, *space ? "/" : "", document->name);
	return text;
}

/* Says how far it came: the documents before are stored and stay so. */
static void answer_failure(struct apply *apply)
{
	const struct apply_item *item = apply->failed;
	const struct reply_details details = { .row = kind_row(item->object->kind),
					       .name = item->object->meta.name };
	struct failure why = apply->why;
	char text[DOCUMENT_TEXT_BYTES];

	if (why.text[0])
		(void) failed_plain(&why, apply->error,
				    "%s: %s is not stored (%zu of %zu documents were stored)",
				    apply->why.text,
				    document_text(&apply->documents, item->document, text),
				    apply->stored, apply->documents.count);
	reply_error(apply->exchange, apply->error, &details, &why);
}

static void answer(struct apply *apply)
{
	struct cJSON *tree = json_new_object();
	struct cJSON *items = json_add_array(tree, "items");

	for (size_t i = 0; i < apply->count; i++)
		add_result(items, &apply->items[i]);
	for (size_t i = 0; i < apply->documents.count; i++)
		if (apply->documents.documents[i].is_foreign_kind)
			add_skipped(items, &apply->documents.documents[i]);
	views_reply_applied(apply->exchange, tree);
}

/* The first one is reported; what follows from it is noise. */
static void note_failure(struct apply_item *item, int error, const struct failure *why)
{
	struct apply *apply = item->apply;

	if (apply->failed)
		return;
	apply->failed = item;
	apply->error = error;
	if (why)
		apply->why = *why;
}

static void go_on(struct apply *apply);

static void pass(struct worker_job *job)
{
}

static void loop_turned(struct worker_job *job)
{
	struct apply *apply = (struct apply *) job;

	apply->pauses = false;
	apply->slice_bytes = 0;
	go_on(apply);
}

/* A large stream must not hold the loop for the whole of its writes. */
static void leave_loop(struct apply *apply, void (*run)(struct worker_job *job),
		       void (*done)(struct worker_job *job))
{
	apply->pauses = true;
	apply->job.run = run;
	apply->job.done = done;
	worker_submit(apply->readers, &apply->job);
}

static void write_merged(struct merge *merge)
{
	struct apply *apply = merge->item->apply;
	int r = merge_write(merge);

	if (r < 0)
		note_failure(merge->item, r, &merge->why);
	else
		apply->in_flight++;
	merge_done(merge);
}

static void merge_run(struct worker_job *job)
{
	merge_make(&((struct apply *) job)->merge);
}

static void merged_elsewhere(struct worker_job *job)
{
	struct apply *apply = (struct apply *) job;

	if (apply->exchange)
		write_merged(&apply->merge);
	else
		merge_done(&apply->merge);
	loop_turned(job);
}

/* A large object is merged on a thread. */
static void begin_item(struct apply *apply, struct apply_item *item)
{
	struct merge merge;
	size_t bytes = item->object->json_length;

	merge_init(&merge, item);
	bytes += merge.present ? merge.present->json_length : 0;
	if (apply->readers && bytes > API_READ_HERE_BYTES) {
		apply->merge = merge;
		leave_loop(apply, merge_run, merged_elsewhere);
		return;
	}
	merge_make(&merge);
	write_merged(&merge);
	apply->slice_bytes += bytes;
	if (apply->readers && apply->slice_bytes >= SLICE_BYTES)
		leave_loop(apply, pass, loop_turned);
}

static struct apply_item *take_item(struct apply *apply)
{
	struct apply_item *item = apply->again;

	if (!item)
		return apply->next < apply->count ? &apply->items[apply->next++] : NULL;
	apply->again = item->next_again;
	return item;
}

/* Queue what may be queued; answer when nothing is left. */
static void go_on(struct apply *apply)
{
	struct apply_item *item;

	while (!apply->pauses && apply->exchange && !apply->failed &&
	       apply->in_flight < API_APPLY_IN_FLIGHT && (item = take_item(apply)))
		begin_item(apply, item);
	if (apply->in_flight > 0 || apply->pauses)
		return;
	if (apply->exchange && apply->failed)
		answer_failure(apply);
	else if (apply->exchange)
		answer(apply);
	apply_free(apply);
}

/* Another wrote between our look and our write: look again. */
static bool is_conflict(int error)
{
	return error == -ESTALE || error == -EEXIST || error == -ENOENT;
}

static void item_done(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct apply_item *item = userdata;
	struct apply *apply = item->apply;

	assert(apply->in_flight > 0);
	apply->in_flight--;
	if (is_conflict(error) && apply->exchange && item->conflicts++ < CONFLICT_RETRIES) {
		item->next_again = apply->again;
		apply->again = item;
	} else if (error < 0) {
		note_failure(item, error, why);
		audit_log_object(apply->user, apply->client, item->object, "failed");
	} else {
		apply->stored++;
		item->written = object_ref(result);
		if (item->present_version == 0)
			item->result = APPLY_CREATED;
		else if (item->present_version == result->meta.resource_version)
			item->result = APPLY_UNCHANGED;
		else
			item->result = APPLY_CONFIGURED;
		audit_log_object(apply->user, apply->client, result, result_names[item->result]);
	}
	go_on(apply);
}

/* Pods last, each group in its order. */
static int order_items(struct apply *apply)
{
	assert(!apply->items);
	apply->items = calloc(apply->documents.count + 1, sizeof(*apply->items));
	if (!apply->items)
		return -ENOMEM;
	for (int pods = 0; pods <= 1; pods++) {
		for (size_t i = 0; i < apply->documents.count; i++) {
			const struct object *object = apply->documents.documents[i].object;

			if (!object || (object->kind == KIND_POD) != (pods == 1))
				continue;
			apply->items[apply->count++] = (struct apply_item){
				.apply = apply,
				.document = &apply->documents.documents[i],
				.object = object,
			};
		}
	}
	return 0;
}

static enum api_refusal refusal_of(const struct document *document)
{
	if (document->failure->error == -E2BIG)
		return API_TOO_LARGE;
	return document->failure->error == -EINVAL && document->kind[0] ? API_INVALID
									: API_BAD_REQUEST;
}

/* Replies and returns false when a document is bad: then nothing is written. */
static bool check_documents(struct exchange *exchange, const struct document_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct document *document = &list->documents[i];
		char text[DOCUMENT_TEXT_BYTES];

		if (!document->failure || document->is_foreign_kind)
			continue;
		if (document->failure->error == -ENOMEM)
			reply_unread(exchange, -ENOMEM, NULL);
		else
			reply_refusal(exchange, refusal_of(document),
				      "%s is refused, nothing was stored: %s",
				      document_text(list, document, text), document->failure->text);
		return false;
	}
	if (list->failure.error < 0)
		reply_unread(exchange, list->failure.error, list->failure.text);
	else if (list->count == 0 && !list->has_empty_list)
		reply_refusal(exchange, API_BAD_REQUEST,
			      "there is no document: the file or request is empty");
	return list->failure.error == 0 && (list->count > 0 || list->has_empty_list);
}

/* As at each object's own path; what it may hold is looked at as well, so that nothing is stored.
 */
static void find_forbidden(struct apply *apply)
{
	for (size_t i = 0; i < apply->documents.count; i++) {
		const struct document *document = &apply->documents.documents[i];
		const struct kind_row *row =
			document->object ? kind_row(document->object->kind) : NULL;
		const struct access create = { .verb = "create",
					       .group = row ? row->group : "",
					       .resource = row ? row->plural : "" };
		struct failure content = { .error = 0 };
		const char *why;

		if (!row) /* a kind that is passed over */
			continue;
		if (!authorize(apply->rights, &create, &why))
			;
		else if (authorize_object(apply->rights, document->object, &content) < 0)
			why = content.text;
		else
			continue;
		apply->forbidden = document;
		(void) failed_plain(&apply->why, -EACCES, "%s", why);
		return;
	}
}

/* Replies and returns false when a document is not for this client. */
static bool check_rights(const struct apply *apply)
{
	const struct document *document = apply->forbidden;
	char text[DOCUMENT_TEXT_BYTES];

	if (document)
		reply_refusal(apply->exchange, API_FORBIDDEN,
			      "%s is refused, nothing was stored: %s",
			      document_text(&apply->documents, document, text), apply->why.text);
	return !document;
}

/* On the loop, the documents were read: check them and begin. */
static void begin(struct apply *apply)
{
	struct exchange *exchange = apply->exchange;
	int r = apply->read_error;

	assert(exchange);
	if (r < 0)
		reply_unread(exchange, r, apply->why.text);
	if (r < 0 || !check_documents(exchange, &apply->documents) || !check_rights(apply)) {
		apply_free(apply);
		return;
	}
	if (order_items(apply) < 0) {
		apply_free(apply);
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	go_on(apply);
}

/* What each of many documents costs the loop, for its row of the answer, would add up. */
static void refuse_many(struct apply *apply)
{
	size_t count = apply->documents.count;

	if (count <= API_APPLY_DOCUMENTS_MAX)
		return;
	document_list_done(&apply->documents);
	apply->read_error = failed_plain(&apply->why, -E2BIG,
					 "the request holds %zu documents, at most %d are applied "
					 "at a time: divide it",
					 count, API_APPLY_DOCUMENTS_MAX);
}

/* On the loop, or on a thread. */
static void read_documents(struct worker_job *job)
{
	struct apply *apply = (struct apply *) job;

	apply->read_error = documents_parse_sources(
		apply->body ? apply->body : "", apply->body_length, &apply->documents, &apply->why);
	if (apply->read_error == 0)
		refuse_many(apply);
	if (apply->read_error == 0)
		find_forbidden(apply);
}

static void documents_read(struct worker_job *job)
{
	struct apply *apply = (struct apply *) job;

	if (apply->exchange)
		begin(apply);
	else
		apply_free(apply); /* the client left meanwhile: nothing was begun */
}

void apply_post(struct exchange *exchange)
{
	int trial = query_dry_run(exchange, "ApplyOptions");
	struct apply *apply;

	assert(exchange && !exchange->work);
	/* A request for a trial must not write. */
	if (trial > 0)
		reply_refusal(exchange, API_BAD_REQUEST,
			      "dryRun is not served here: try each object at its own path");
	if (trial != 0)
		return;
	apply = exchange_new_work(exchange, sizeof(*apply));
	if (!apply)
		return;
	apply->job.run = read_documents;
	apply->job.done = documents_read;
	apply->exchange = exchange;
	apply->rights = exchange->rights;
	apply->readers = exchange->readers;
	audit_copy(exchange->user, apply->user);
	audit_copy(exchange->record.client, apply->client);
	apply->store = agent_store(exchange->agent);
	apply->body = TAKE_PTR(exchange->body);
	apply->body_length = exchange->body_length;
	exchange_wait(exchange, apply, apply_abandon);
	if (exchange->readers && apply->body_length > API_READ_HERE_BYTES) {
		worker_submit(exchange->readers, &apply->job);
		return;
	}
	(void) read_documents(&apply->job);
	begin(apply);
}
