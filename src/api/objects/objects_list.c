/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_list - collections: selected, paged, and written piece by piece
 *
 * A list is a snapshot: references to the objects as they are now, which later writes do not
 * change. Its bytes are made when the client takes them, so that a long list neither stalls the
 * loop nor fills the memory; the length of a list in JSON is known before: that of stored texts,
 * and of some hundred pods whose conditions are printed at once. A page beyond the first is served
 * from what is there now and carries the first page's resourceVersion, so that a watch from it
 * repairs what changed meanwhile; once that version has left the ring the token is 410 Expired.
 */
#include "api/objects/objects.h"

#include "agent.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "object/json/text_buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	AT_ONCE_BYTES = 128 * 1024, /* of objects: a shorter list is one answer with its length */
	ROWS_AT_ONCE = 32,          /* of a Table */
	READ_BYTES_AT_ONCE = 65536, /* of objects, for rows or YAML; and one object more */
	PODS_AT_ONCE = 512,         /* printed before the first byte: 5 ms of the loop */
	TOKEN_BYTES = 640,
	FRAME_BYTES = 1024, /* of a list in JSON without its items, mostly */
};

enum list_stage { STAGE_HEAD, STAGE_ITEMS, STAGE_TAIL, STAGE_END };

struct list {
	struct agent *agent; /* borrowed */
	const struct kind_row *row;
	enum api_form form;
	const struct object **objects; /* own references */
	size_t count, allocated, next;
	char **printed;    /* of each, what differs from its own text; NULL: printed when sent */
	size_t bytes;      /* of the objects */
	size_t read_bytes; /* of those that became rows or YAML, in one pull */
	uint64_t version;
	uint64_t now_usec;
	char token[TOKEN_BYTES]; /* "": this is the last page */
	size_t remaining;        /* 0: not known, or none */
	enum list_stage stage;
	/* What is being sent: an object's own bytes, or made for this list. */
	const char *piece;
	size_t piece_length;
	char *made; /* owned */
	bool comma; /* before it */
};

static void drop_printed(struct list *list)
{
	for (size_t i = 0; list->printed && i < list->count; i++)
		free(list->printed[i]);
	free(list->printed);
	list->printed = NULL;
}

static void list_free(void *work)
{
	struct list *list = work;

	for (size_t i = 0; i < list->count; i++)
		(void) object_unref(list->objects[i]);
	drop_printed(list);
	free(list->objects);
	free(list->made);
	free(list);
}

/* ---- the request ---- */

struct question {
	struct list *list;
	struct selector_match *selector_match;
	size_t limit; /* 0: none */
	uint64_t version;
	bool match_exact;
	/* Of a continue token; NULL: the first page. */
	char *after_name_space, *after_name;
	char token[TOKEN_BYTES];
	bool is_cut; /* the walk found more than @limit */
};

static void question_done(struct question *question)
{
	(void) selector_match_free(question->selector_match);
	if (question->list)
		list_free(question->list);
}

#define cleanup_question cleanup(question_done)

static int read_limit(struct exchange *exchange, size_t *ret)
{
	const char *text = api_path_parameter(&exchange->path, "limit");

	*ret = 0;
	if (!text || *text == '\0')
		return 0;
	if (text[strspn(text, "0123456789")] != '\0' || strlen(text) > 18) {
		reply_refusal(exchange, API_BAD_REQUEST,
			      "limit: '%.64s' is not a number of objects", text);
		return -EBADMSG;
	}
	*ret = strtoull(text, NULL, 10);
	return 0;
}

/* "v1:VERSION:NAMESPACE/NAME" of the last object of the page before. */
static int read_token(struct exchange *exchange, const char *text, struct question *question)
{
	char *end, *slash;

	(void) snprintf(question->token, sizeof(question->token), "%s", text);
	question->version = strncmp(text, "v1:", 3) == 0 && text[3] >= '0' && text[3] <= '9'
				    ? strtoull(question->token + 3, &end, 10)
				    : 0;
	if (question->version == 0 || *end != ':' || !(slash = strchr(end, '/')) ||
	    strlen(text) >= sizeof(question->token)) {
		reply_refusal(exchange, API_BAD_REQUEST, "continue key is not valid");
		return -EBADMSG;
	}
	*slash = '\0';
	question->after_name_space = end + 1;
	question->after_name = slash + 1;
	return 0;
}

/* resourceVersion and resourceVersionMatch. There is one version to list: the present one. */
static int check_version(struct exchange *exchange, const struct question *question, bool given)
{
	const char *match = api_path_parameter(&exchange->path, "resourceVersionMatch");
	uint64_t present = store_resource_version(agent_store(exchange->agent));
	const struct reply_details soon = { .retry_seconds = 1 };
	char text[160];

	match = match ? match : "";
	if (*match && question->after_name)
		refuse_options(exchange, "ListOptions",
			       "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
			       "when continue is provided");
	else if (given && question->after_name)
		reply_refusal(exchange, API_BAD_REQUEST,
			      "specifying resource version is not allowed when using continue");
	else if (*match && !given)
		refuse_options(exchange, "ListOptions",
			       "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
			       "unless resourceVersion is provided");
	else if (*match && strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
		refuse_options(exchange, "ListOptions",
			       "resourceVersionMatch: Unsupported value: supported values: "
			       "\"Exact\", \"NotOlderThan\"");
	else if (strcmp(match, "Exact") == 0 && question->version == 0)
		refuse_options(exchange, "ListOptions",
			       "resourceVersionMatch: Forbidden: resourceVersionMatch \"Exact\" is "
			       "forbidden for resourceVersion \"0\"");
	else if (!question->after_name && question->version > present) {
		(void) snprintf(text, sizeof(text),
				"Too large resource version: %" PRIu64 ", current: %" PRIu64,
				question->version, present);
		reply_refusal_about(exchange, API_TIMEOUT, &soon, text);
	} else if (strcmp(match, "Exact") == 0 && question->version < present)
		refuse_expired(exchange, "The resourceVersion for the provided list is too old.");
	else if (question->after_name &&
		 (question->version > present ||
		  question->version < store_oldest_version(agent_store(exchange->agent))))
		refuse_expired(exchange,
			       "The provided continue parameter is too old to display a consistent "
			       "list result. You can start a new list without the continue "
			       "parameter.");
	else
		return 0;
	return -EBADMSG;
}

static int read_question(struct exchange *exchange, const struct target *target,
			 struct question *question)
{
	const char *token = api_path_parameter(&exchange->path, "continue");
	const char *version = api_path_parameter(&exchange->path, "resourceVersion");
	int r = read_limit(exchange, &question->limit);

	if (r == 0)
		r = query_version(exchange, &question->version);
	if (r == 0 && token && *token)
		r = read_token(exchange, token, question);
	if (r == 0)
		r = check_version(exchange, question, version && *version);
	return r < 0 ? r : target_selector_match(exchange, target, &question->selector_match);
}

/* ---- the snapshot ---- */

static int collect(const struct object *object, void *userdata)
{
	struct question *question = userdata;
	struct list *list = question->list;

	if (question->selector_match &&
	    !object_is_meant(list->agent, question->selector_match, object))
		return 0;
	if (question->limit > 0 && list->count == question->limit) {
		question->is_cut = true;
		return 1;
	}
	if (ARRAY_ROOM(list->objects, list->count, list->allocated, 64) < 0)
		return -ENOMEM;
	list->objects[list->count++] = object_ref(object);
	list->bytes += object->json_length;
	return 0;
}

static int take_snapshot(struct exchange *exchange, const struct target *target,
			 struct question *question)
{
	struct store *store = agent_store(exchange->agent);
	struct list *list = question->list = calloc(1, sizeof(*list));
	const struct store_key after = { target->row->kind, question->after_name_space ?: "",
					 question->after_name ?: "" };
	const struct object_meta *last;
	int r;

	if (!list)
		return -ENOMEM;
	list->agent = exchange->agent;
	list->row = target->row;
	list->form = exchange->form;
	list->now_usec = realtime_usec();
	list->version = question->after_name ? question->version : store_resource_version(store);
	r = store_list_after(store, target->name_space, &after,
			     selector_match_bits(question->selector_match), collect, question);
	if (r < 0 || !question->is_cut)
		return r;
	last = &list->objects[list->count - 1]->meta;
	(void) snprintf(list->token, sizeof(list->token), "v1:%" PRIu64 ":%s/%s", list->version,
			last->name_space, last->name);
	/* How many remain is reported only where nothing must be compared to count them. */
	if (!question->selector_match)
		list->remaining = store_count_after(
			store, target->name_space,
			&(struct store_key){ after.kind, last->name_space, last->name });
	return 0;
}

/* ---- its bytes ---- */

static void fill_metadata(const struct list *list, struct cJSON *metadata)
{
	char version[24];

	(void) snprintf(version, sizeof(version), "%" PRIu64, list->version);
	(void) json_set_string(metadata, "resourceVersion", version);
	if (list->token[0])
		(void) json_set_string(metadata, "continue", list->token);
	if (list->remaining > 0)
		(void) json_set_int(metadata, "remainingItemCount", (int64_t) list->remaining);
}

/* A list without its items; a Table without its rows. */
static struct cJSON *frame(const struct list *list)
{
	const struct kind_row *row = list->row;
	struct cJSON *tree;
	char text[API_VERSION_BYTES];

	if (list->form == FORM_TABLE) {
		tree = table_of_objects(list->agent, row->kind, NULL, 0, list->now_usec);
		fill_metadata(list, json_ensure_object(tree, "metadata"));
		return tree;
	}
	tree = json_new_object();
	(void) snprintf(text, sizeof(text), "%sList", row->name);
	(void) json_set_string(tree, "kind", text);
	(void) json_set_string(tree, "apiVersion", kind_api_version(row, text));
	fill_metadata(list, json_add_object(tree, "metadata"));
	/* Last, so that the items can follow. */
	if (list->form != FORM_YAML)
		(void) json_add_array(tree, "items");
	return tree;
}

/* In YAML items begin with "- " in the first column; an empty list is written out. */
static char *yaml_head(const struct cJSON *tree, bool empty)
{
	cleanup_free char *text = json_print_yaml(tree);

	return text ? new_text("%sitems:%s\n", text, empty ? " []" : "") : NULL;
}

static bool make_head(struct list *list)
{
	cleanup_json struct cJSON *tree = frame(list);

	if (!tree)
		return false;
	if (list->form == FORM_YAML) {
		list->made = yaml_head(tree, list->count == 0);
	} else {
		list->made = json_print(tree);
		/* Without the "]}" that closes it. */
		if (list->made)
			list->made[strlen(list->made) - 2] = '\0';
	}
	return list->made != NULL;
}

/* A row needs the tree of its object: large ones are few at a time. */
static size_t row_count(const struct list *list)
{
	size_t count = 0, bytes = 0;

	while (list->next + count < list->count && count < ROWS_AT_ONCE &&
	       bytes < READ_BYTES_AT_ONCE)
		bytes += list->objects[list->next + count++]->json_length;
	return count;
}

/* Some rows as they stand between the brackets. */
static bool make_rows(struct list *list)
{
	size_t count = row_count(list);
	cleanup_json struct cJSON *table = table_of_objects(
		list->agent, list->row->kind, &list->objects[list->next], count, list->now_usec);
	char *text = json_print(json_get(table, "rows"));

	if (!text)
		return false;
	text[0] = ',';
	text[strlen(text) - 1] = '\0';
	list->made = text;
	list->piece = list->next > 0 ? text : text + 1;
	for (size_t i = 0; i < count; i++)
		list->read_bytes += list->objects[list->next++]->json_length;
	return true;
}

static bool make_yaml_item(struct list *list)
{
	cleanup_json struct cJSON *items = json_new_array();

	list->read_bytes += list->objects[list->next]->json_length;
	if (items)
		(void) json_set(items, NULL, shown_tree(list->agent, list->objects[list->next++]));
	list->made = json_print_yaml(items);
	return list->made != NULL;
}

static int print_item(struct list *list)
{
	if (!list->printed)
		return print_object(list->agent, list->objects[list->next], &list->made);
	list->made = TAKE_PTR(list->printed[list->next]);
	return 0;
}

/* The object's own bytes, where nothing is added to them: a list costs no tree. */
static bool take_item(struct list *list)
{
	const struct object *object = list->objects[list->next];

	if (print_item(list) < 0)
		return false;
	list->piece = list->made ?: object->json;
	list->piece_length = list->made ? strlen(list->made) : object->json_length;
	list->comma = list->next++ > 0;
	return true;
}

static bool make_items(struct list *list)
{
	if (list->form == FORM_TABLE)
		return make_rows(list);
	return list->form == FORM_YAML ? make_yaml_item(list) : take_item(list);
}

/* False: no memory. At the end no piece is left. */
static bool next_piece(struct list *list)
{
	bool made = true;

	free(list->made);
	list->made = NULL;
	list->piece = NULL;
	if (list->stage == STAGE_ITEMS && list->next == list->count)
		list->stage = STAGE_TAIL;
	switch (list->stage) {
	case STAGE_HEAD:
		made = make_head(list);
		list->stage = STAGE_ITEMS;
		break;
	case STAGE_ITEMS:
		made = make_items(list);
		break;
	case STAGE_TAIL:
		list->piece = list->form == FORM_YAML ? "" : "]}";
		list->stage = STAGE_END;
		break;
	case STAGE_END:
		return true;
	}
	if (made && !list->piece)
		list->piece = list->made;
	if (made && (list->made || list->stage == STAGE_END))
		list->piece_length = strlen(list->piece);
	return made;
}

/* Of objects, rows and YAML cost a tree each: what few of them make is enough for one turn of the
 * loop, however short it is. */
static ssize_t list_pull(void *work, char *buffer, size_t size)
{
	struct list *list = work;
	size_t used = 0;

	list->read_bytes = 0;
	while (used < size) {
		size_t take = list->piece_length < size - used ? list->piece_length : size - used;

		if (list->comma) {
			buffer[used++] = ',';
			list->comma = false;
			continue;
		}
		if (take > 0) {
			memcpy(buffer + used, list->piece, take);
			list->piece += take;
			list->piece_length -= take;
			used += take;
			continue;
		}
		if (used > 0 && list->read_bytes >= READ_BYTES_AT_ONCE)
			break;
		/* Cut short, the client sees that it is no whole list. */
		if (!next_piece(list))
			return used > 0 ? (ssize_t) used : -1;
		if (!list->piece)
			break;
	}
	return used > 0 ? (ssize_t) used : -1;
}

/* What would change while the list is sent; none where it would be too much at once. */
static int print_pods(struct list *list)
{
	size_t printed = 0;
	int r = 0;

	list->printed = calloc(list->count, sizeof(*list->printed));
	if (!list->printed)
		return -ENOMEM;
	for (size_t i = 0; i < list->count && r == 0 && printed <= PODS_AT_ONCE; i++) {
		r = print_object(list->agent, list->objects[i], &list->printed[i]);
		printed += list->printed[i] != NULL;
	}
	if (printed > PODS_AT_ONCE)
		drop_printed(list);
	return r;
}

/* 0: known at its end alone. */
static int find_length(struct list *list, size_t *ret)
{
	size_t length = list->bytes + list->count - 1 + strlen("]}");
	bool are_pods = list->row->kind == KIND_POD;

	*ret = 0;
	if (list->form != FORM_JSON)
		return 0;
	if (are_pods && print_pods(list) < 0)
		return -ENOMEM;
	if (are_pods && !list->printed)
		return 0;
	if (!next_piece(list))
		return -ENOMEM;
	for (size_t i = 0; list->printed && i < list->count; i++)
		if (list->printed[i])
			length += strlen(list->printed[i]) - list->objects[i]->json_length;
	*ret = length + list->piece_length;
	return 0;
}

/* ---- the answer ---- */

static const char *type_of(enum api_form form)
{
	return api_form_type(form == FORM_YAML ? FORM_YAML : FORM_JSON);
}

static void reply_at_once(struct exchange *exchange, struct list *list)
{
	struct text_buffer text = { 0 };
	size_t length, more = list->bytes + list->count + FRAME_BYTES;
	char *to;
	ssize_t n = 1;

	while (n > 0 && (to = text_buffer_room(&text, more))) {
		n = list_pull(list, to, text.size - text.used);
		text.used += n > 0 ? (size_t) n : 0;
		more = FRAME_BYTES;
	}
	length = text.used;
	text.failed = text.failed || list->stage != STAGE_END;
	reply_bytes(exchange, 200, type_of(list->form), text_buffer_take(&text), length);
}

/* A list comes from the cache and never waits for a write. */
void objects_list(struct exchange *exchange, const struct target *target)
{
	cleanup_question struct question question = { 0 };

	if (read_question(exchange, target, &question) < 0)
		return;
	if (take_snapshot(exchange, target, &question) < 0) {
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	/* Streams are for those who may hold a connection; a list is no wait and comes anyhow. */
	if (question.list->bytes <= AT_ONCE_BYTES || !exchange->may_wait) {
		reply_at_once(exchange, question.list);
		return;
	}
	if (find_length(question.list, &exchange->reply_length) < 0) {
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	exchange_wait(exchange, TAKE_PTR(question.list), list_free);
	reply_stream(exchange, 200, type_of(exchange->form), list_pull);
}
