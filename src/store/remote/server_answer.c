/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_answer - JSON of a kube-apiserver, its frame checked before any object is handed on
 */
#include "store/remote/server_answer.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <assert.h>
#include <string.h>

enum { AROUND = 8 /* levels of a list or an event around an object */ };

static int parse(const char *text, size_t length, struct cJSON **ret, struct failure *reterr)
{
	const struct json_limits limits = { .bytes = length + 1,
					    .depth = OBJECT_DEPTH_MAX + AROUND };
	struct failure why = { 0 };
	int r = json_parse(text, length, &limits, ret, &why);

	if (r == 0)
		return 0;
	return failed_plain(reterr, r == -ENOMEM ? r : -EPROTO, "not JSON: %s", why.text);
}

/* metadata.resourceVersion of an object, list or bookmark. */
static bool take_version(const struct cJSON *object, char ret[SERVER_VERSION_BYTES])
{
	const struct cJSON *metadata = json_get(object, "metadata");
	const char *version = json_text(metadata, "resourceVersion");
	size_t length = strlen(version);

	if (length == 0 || length >= SERVER_VERSION_BYTES ||
	    strspn(version, "0123456789") != length)
		return false;
	memcpy(ret, version, length + 1);
	return true;
}

static struct server_object name_of(const struct cJSON *item)
{
	const struct cJSON *metadata = json_get(item, "metadata");

	return (struct server_object){
		.name_space = json_text(metadata, "namespace"),
		.name = json_text(metadata, "name"),
	};
}

static bool is_kind(const struct kind_row *kind, const struct cJSON *tree, const char *suffix)
{
	char version[API_VERSION_BYTES], name[128];

	(void) snprintf(name, sizeof(name), "%s%s", kind->name, suffix);
	return json_text_is(tree, "kind", name) &&
	       json_text_is(tree, "apiVersion", kind_api_version(kind, version));
}

/* Items of a list have neither kind nor apiVersion. Return: 0, and @why says what is not
 * understood; -ENOMEM. */
static int decode(const struct kind_row *kind, const struct cJSON *item, const struct object **ret,
		  struct failure *why)
{
	cleanup_json struct cJSON *tree = json_copy(item);
	char version[API_VERSION_BYTES];
	int r;

	if (!tree)
		return -ENOMEM;
	json_remove(json_ensure_object(tree, "metadata"), "managedFields");
	(void) json_set_string(tree, "kind", kind->name);
	(void) json_set_string(tree, "apiVersion", kind_api_version(kind, version));
	if (json_node_count(tree) > OBJECT_NODES_MAX) {
		(void) failed_plain(why, -E2BIG, "the object holds more than %d values",
				    OBJECT_NODES_MAX);
		return 0;
	}
	r = object_from_json(tree, ret, why);
	return r == -ENOMEM ? r : 0;
}

/* ---- lists ---- */

static int check_list(const struct kind_row *kind, const struct cJSON *tree,
		      struct server_list *ret, struct failure *reterr)
{
	const struct cJSON *items = json_get(tree, "items"), *item;
	const char *next = json_text(json_get(tree, "metadata"), "continue");

	if (!is_kind(kind, tree, "List"))
		return failed_plain(reterr, -EPROTO, "the answer is not a %sList", kind->name);
	if (!json_is_array(items) && !json_is_null(items))
		return failed_plain(reterr, -EPROTO, "the list has no items");
	if (!take_version(tree, ret->version))
		return failed_plain(reterr, -EPROTO, "the list has no resourceVersion");
	if (strlen(next) >= sizeof(ret->next))
		return failed_plain(reterr, -EPROTO, "the list's continue token is too long");
	memcpy(ret->next, next, strlen(next) + 1);
	for (item = json_first(items); item; item = json_next(item))
		if (*name_of(item).name == '\0')
			return failed_plain(reterr, -EPROTO, "an item of the list has no name");
	return 0;
}

static int take_item(const struct kind_row *kind, const struct cJSON *item,
		     const struct server_taker *taker, struct failure *reterr)
{
	cleanup_object const struct object *object = NULL;
	struct server_object found = name_of(item);
	struct failure why = { 0 };

	if (decode(kind, item, &object, &why) < 0)
		return failed(reterr, -ENOMEM, "%s '%s'", kind->singular, found.name);
	found.object = object;
	found.why = object ? NULL : &why;
	taker->object(taker->userdata, &found);
	return 0;
}

int server_list_read(const struct kind_row *kind, const char *text, size_t length,
		     const struct server_taker *taker, struct server_list *ret,
		     struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *item;
	int r;

	assert(kind && text && taker && ret);
	*ret = (struct server_list){ 0 };
	r = parse(text, length, &tree, reterr);
	if (r == 0)
		r = check_list(kind, tree, ret, reterr);
	item = json_first(json_get(tree, "items"));
	for (; r == 0 && item; item = json_next(item))
		r = take_item(kind, item, taker, reterr);
	return r;
}

/* ---- events ---- */

static const char *const types[] = {
	[SERVER_ADDED] = "ADDED",     [SERVER_MODIFIED] = "MODIFIED",
	[SERVER_DELETED] = "DELETED", [SERVER_BOOKMARK] = "BOOKMARK",
	[SERVER_ERROR] = "ERROR",
};

static int type_of(const struct cJSON *tree, enum server_event_type *ret)
{
	const char *name = json_text(tree, "type");

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i], name) == 0) {
			*ret = (enum server_event_type) i;
			return 0;
		}
	}
	return -EPROTO;
}

static void take_error(const struct cJSON *status, const struct server_taker *taker)
{
	struct server_event event = { .type = SERVER_ERROR,
				      .version = "",
				      .message = json_text(status, "message") };
	int64_t code = 0;

	(void) json_int64(json_get(status, "code"), &code);
	event.code = code >= 100 && code < 600 ? (int) code : 500;
	taker->event(taker->userdata, &event);
}

static bool ends_initial(const struct cJSON *bookmark)
{
	const struct cJSON *annotations = json_get(json_get(bookmark, "metadata"), "annotations");

	return json_text_is(annotations, "k8s.io/initial-events-end", "true");
}

int server_event_read(const struct kind_row *kind, const char *line, size_t length,
		      const struct server_taker *taker, struct failure *reterr)
{
	cleanup_object const struct object *object = NULL;
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *item;
	char version[SERVER_VERSION_BYTES];
	struct server_event event = { .version = version };
	struct failure why = { 0 };
	int r;

	assert(kind && line && taker);
	r = parse(line, length, &tree, reterr);
	if (r < 0)
		return r;
	item = json_get(tree, "object");
	if (type_of(tree, &event.type) < 0)
		return failed_plain(reterr, -EPROTO, "the event is of no known type");
	if (event.type == SERVER_ERROR) {
		take_error(item, taker);
		return 0;
	}
	event.object = name_of(item);
	event.ends_initial = event.type == SERVER_BOOKMARK && ends_initial(item);
	if (!is_kind(kind, item, "") || !take_version(item, version) ||
	    (event.type != SERVER_BOOKMARK && *event.object.name == '\0'))
		return failed_plain(reterr, -EPROTO,
				    "the event's object is not a %s with name and resourceVersion",
				    kind->name);
	if (event.type != SERVER_BOOKMARK && decode(kind, item, &object, &why) < 0)
		return failed(reterr, -ENOMEM, "%s '%s'", kind->singular, event.object.name);
	event.object.object = object;
	event.object.why = object ? NULL : &why;
	taker->event(taker->userdata, &event);
	return 0;
}

/* ---- one object ---- */

int server_object_read(const struct kind_row *kind, const char *name, const char *text,
		       size_t length, const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = NULL;
	const struct object *object = NULL;
	struct failure why = { 0 };
	int r;

	assert(kind && name && text && ret);
	r = parse(text, length, &tree, reterr);
	if (r < 0)
		return r;
	if (!is_kind(kind, tree, "") || strcmp(name_of(tree).name, name) != 0)
		return failed_plain(reterr, -EPROTO, "the answer is not %s '%s'", kind->singular,
				    name);
	r = decode(kind, tree, &object, &why);
	if (r < 0)
		return failed(reterr, r, "%s '%s'", kind->singular, name);
	if (!object)
		return failed_plain(reterr, -EPROTO, "%s '%s' is not understood: %s",
				    kind->singular, name, why.text);
	*ret = object;
	return 0;
}

static void copy(const struct cJSON *from, const char *key, char *to, size_t size)
{
	(void) snprintf(to, size, "%s", json_text(from, key));
}

int server_status_read(const char *text, size_t length, struct server_status *ret)
{
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *details;
	struct failure why;
	int r;

	assert(text && ret);
	*ret = (struct server_status){ 0 };
	r = parse(text, length, &tree, &why);
	if (r < 0)
		return r;
	if (!json_text_is(tree, "kind", "Status") || !json_text_is(tree, "apiVersion", "v1"))
		return -EPROTO;
	details = json_get(tree, "details");
	copy(tree, "reason", ret->reason, sizeof(ret->reason));
	copy(tree, "message", ret->message, sizeof(ret->message));
	copy(details, "kind", ret->kind, sizeof(ret->kind));
	copy(details, "name", ret->name, sizeof(ret->name));
	return 0;
}
