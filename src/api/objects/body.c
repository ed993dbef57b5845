/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body - the one object of a create or update, from JSON or YAML, made to fit its path
 *
 * Syntax errors are 400, a well-formed object that breaks a rule is 422, as kube-apiserver has it.
 * The path decides kind, namespace and (for updates) name; a body that says something else is
 * refused, never bent.
 */
#include "api/objects/objects.h"

#include "api/objects/protobuf.h"
#include "base/secret_file.h"

#include "object/schema/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static int parse_json_text(struct exchange *exchange, const char *text, size_t length,
			   struct cJSON **ret)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX,
					    .depth = OBJECT_DEPTH_MAX,
					    .nodes = OBJECT_NODES_MAX };
	struct failure why = { 0 };
	int r;

	r = json_parse(text, length, &limits, ret, &why);
	if (r < 0) {
		(void) failure_prefix(&why, "the body is not valid JSON");
		reply_unread(exchange, r, why.text);
	}
	return r;
}

/* Its keys are looked at, and its values counted, as those of JSON. */
static int parse_protobuf_body(struct exchange *exchange, const struct kind_row *row,
			       struct cJSON **ret)
{
	char *text = NULL;
	int r = object_protobuf_print(row->kind, exchange->body, exchange->body_length, &text);

	if (r == 0) {
		r = parse_json_text(exchange, text, strlen(text), ret);
		(void) secret_text_free(text);
		return r;
	}
	if (r == -EOPNOTSUPP)
		reply_refusal(exchange, API_UNSUPPORTED_MEDIA_TYPE,
			      "the %s in protocol buffers has a field that podvold does not know: "
			      "send it as application/json or application/yaml",
			      row->name);
	else
		reply_unread(exchange, r == -ENOMEM ? r : -EBADMSG,
			     "the body is not an object of this kind in protocol buffers");
	return r;
}

/* YAML goes through the reader of manifests and on as the JSON that it made. */
static int parse_yaml_body(struct exchange *exchange, const struct kind_row *row,
			   struct cJSON **ret)
{
	struct document_list list = { 0 };
	struct failure why = { 0 };
	int r;

	r = documents_parse_few(exchange->body, exchange->body_length, &list, &why);
	if (r == 0 && list.failure.error < 0) {
		r = list.failure.error;
		why = list.failure;
	}
	if (r == 0 && list.count != 1)
		r = failed_plain(&why, -EBADMSG, "the body holds %zu documents and must hold one",
				 list.count);
	if (r < 0) {
		reply_unread(exchange, r, why.text);
	} else if (list.documents[0].failure) {
		const struct document *document = &list.documents[0];
		const struct reply_details details = { .row = row, .name = document->name };

		r = document->failure->error;
		if (r == -EINVAL && document->kind[0] != '\0')
			reply_error(exchange, r, &details, document->failure);
		else
			reply_unread(exchange, r, document->failure->text);
	} else {
		const struct object *object = list.documents[0].object;

		*ret = object_tree(object);
		r = *ret ? 0 : -ENOMEM;
		if (r < 0)
			reply_unread(exchange, r, NULL);
	}
	document_list_done(&list);
	return r;
}

/* The API machinery knows kind and version from the path; a body may leave them out. */
static int fit_to_path(struct exchange *exchange, const struct kind_row *row,
		       const char *name_space, struct cJSON *tree)
{
	char api_version[API_VERSION_BYTES];
	struct cJSON *metadata;
	const char *has;

	(void) kind_api_version(row, api_version);
	has = json_string(json_get(tree, "kind"), row->name);
	if (strcmp(has, row->name) != 0 ||
	    strcmp(json_string(json_get(tree, "apiVersion"), api_version), api_version) != 0) {
		reply_refusal(exchange, API_BAD_REQUEST,
			      "the object in the body is not a %s of %s, which is what the path "
			      "names",
			      row->name, api_version);
		return -EBADMSG;
	}
	metadata = json_ensure_object(tree, "metadata");
	if (!metadata && json_get(tree, "metadata"))
		return 0; /* no map: the decoder of the object says so */
	has = json_string(json_get(metadata, "namespace"), name_space);
	if (row->namespaced && strcmp(has, name_space) != 0) {
		reply_refusal(exchange, API_BAD_REQUEST,
			      "the namespace of the provided object does not match the namespace "
			      "sent on the request");
		return -EBADMSG;
	}
	if (!metadata || json_set_string(tree, "kind", row->name) < 0 ||
	    json_set_string(tree, "apiVersion", api_version) < 0 ||
	    (row->namespaced && json_set_string(metadata, "namespace", name_space) < 0)) {
		reply_unread(exchange, -ENOMEM, NULL);
		return -ENOMEM;
	}
	return 0;
}

/* ---- names ---- */

/* Without vowels no words come out; without 0, 1 and 3 none is misread. */
int body_make_name(const char *base, char name[BODY_NAME_BYTES])
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	enum { RANDOM = 5, BASE_MAX = 63 - RANDOM };
	unsigned char bytes[RANDOM];
	char end[RANDOM + 1] = "";

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes))
		return -errno;
	for (size_t i = 0; i < RANDOM; i++)
		end[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	(void) snprintf(name, BODY_NAME_BYTES, "%.*s%s", BASE_MAX, base, end);
	return 0;
}

/* Return: 1 when a name was made; 0; a negative errno, and that was replied. */
static int generate_name(struct exchange *exchange, struct cJSON *tree)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	const char *base = json_text(metadata, "generateName");
	char name[BODY_NAME_BYTES];
	int r;

	if (exchange->method != METHOD_POST || *base == '\0' ||
	    *json_text(metadata, "name") != '\0')
		return 0;
	r = body_make_name(base, name);
	if (r == 0)
		r = json_set_string(metadata, "name", name);
	if (r < 0)
		reply_unread(exchange, -ENOMEM, NULL);
	return r < 0 ? r : 1;
}

/* ---- status ---- */

/* Drops the status of a created object, but a Node's, which its reporter sends. As in
 * kube-apiserver its types are checked first, its values are not. Return: 0; -ENOMEM, and that was
 * replied. */
static int begin_status(struct exchange *exchange, const struct kind_row *row, struct cJSON *tree)
{
	int r = 0;

	if (exchange->method != METHOD_POST || !row->has_status || row->kind == KIND_NODE)
		return 0;
	if (json_get(tree, "status") && !object_types_fit(tree, row->kind))
		return 0; /* the proposal is refused for it */
	json_remove(tree, "status");
	if (row->initial_phase)
		r = json_set_string(json_add_object(tree, "status"), "phase", row->initial_phase);
	if (r < 0)
		reply_unread(exchange, r, NULL);
	return r;
}

/* ---- unknown fields ---- */

struct unknown {
	struct exchange *exchange;
	bool strict;
	char first[512];
	size_t count;
};

static int note_unknown(const char *path, void *userdata)
{
	struct unknown *unknown = userdata;
	char text[512];

	(void) snprintf(text, sizeof(text), "unknown field \"%.400s\"", path);
	if (unknown->count++ == 0)
		(void) snprintf(unknown->first, sizeof(unknown->first), "%s", text);
	if (!unknown->strict)
		exchange_warn(unknown->exchange, text);
	return 0;
}

int body_check_fields(struct exchange *exchange, const struct kind_row *row,
		      const struct cJSON *tree)
{
	const char *mode = api_path_parameter(&exchange->path, "fieldValidation");
	struct unknown unknown = { .exchange = exchange };

	if (!mode || *mode == '\0')
		mode = "Warn"; /* as kube-apiserver does unasked */
	unknown.strict = strcmp(mode, "Strict") == 0;
	if (strcmp(mode, "Ignore") == 0)
		return 0;
	if (!unknown.strict && strcmp(mode, "Warn") != 0) {
		reply_refusal(exchange, API_INVALID,
			      "fieldValidation: Unsupported value: \"%.64s\": supported values: "
			      "\"Ignore\", \"Strict\", \"Warn\"",
			      mode);
		return -EINVAL;
	}
	(void) object_unknown_fields(tree, row->kind, note_unknown, &unknown);
	if (!unknown.strict || unknown.count == 0)
		return 0;
	reply_refusal(exchange, API_BAD_REQUEST, "strict decoding error: %.400s%s", unknown.first,
		      unknown.count > 1 ? " and others" : "");
	return -EBADMSG;
}

/* ---- the object ---- */

void body_refuse_object(struct exchange *exchange, const struct kind_row *row,
			const struct cJSON *tree, int error, const struct failure *why)
{
	const struct reply_details details = { .row = row,
					       .name = json_text_at(tree, "metadata.name") };
	struct violations found;

	/* What was refused for another reason, its size, breaks no rule of a field. */
	if (error == -EINVAL && object_violations(tree, &found) == 0 && found.count > 0)
		reply_violations(exchange, &details, &found);
	else
		reply_error(exchange, error, &details, why);
}

int body_object(struct exchange *exchange, const struct kind_row *row, const char *name_space,
		const struct object **ret)
{
	cleanup_json_secret struct cJSON *tree = NULL;
	struct failure why = { 0 };
	int r, generated;

	assert(exchange && row && name_space && ret);
	exchange->is_secret = exchange->is_secret || row->kind == KIND_SECRET;
	if (exchange->body_length == 0) {
		reply_refusal(exchange, API_BAD_REQUEST, "the request has no body");
		return -EBADMSG;
	}
	if (exchange->body_length > OBJECT_BYTES_MAX) {
		reply_refusal(exchange, API_TOO_LARGE, "an object has at most %d bytes",
			      OBJECT_BYTES_MAX);
		return -E2BIG;
	}
	if (exchange->content == CONTENT_YAML)
		r = parse_yaml_body(exchange, row, &tree);
	else if (exchange->content == CONTENT_PROTOBUF)
		r = parse_protobuf_body(exchange, row, &tree);
	else
		r = parse_json_text(exchange, exchange->body, exchange->body_length, &tree);
	if (r < 0)
		return r;
	if (!json_is_object(tree)) {
		reply_refusal(exchange, API_BAD_REQUEST, "the body is not an object");
		return -EBADMSG;
	}
	r = fit_to_path(exchange, row, name_space, tree);
	if (r == 0)
		r = body_check_fields(exchange, row, tree);
	if (r == 0)
		r = begin_status(exchange, row, tree);
	generated = r < 0 ? r : generate_name(exchange, tree);
	if (generated < 0)
		return generated;

	r = object_propose_taken(&tree, ret, &why);
	if (r < 0) {
		body_refuse_object(exchange, row, tree, r, &why);
		return r;
	}
	return generated;
}
