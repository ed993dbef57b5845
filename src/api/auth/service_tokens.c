/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_tokens - POST .../serviceaccounts/NAME/token: a TokenRequest, answered with a token
 *
 * kubectl create token asks so. The token is written into the answer's text at the end, so that no
 * copy of it stays in a tree; the text is overwritten when it was sent.
 */
#include "api/auth/service_tokens.h"

#include "agent.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "object/kinds/pod.h"
#include "object/timestamp.h"
#include "store/store.h"
#include "token/token_issuer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { BODY_DEPTH_MAX = 8, MESSAGE_BYTES = 600 };

static const int64_t seconds_most = 1LL << 32; /* as Kubernetes; cut to the issuer's own bound */

/* ---- what both kinds of requests need ---- */

struct token_issuer *service_tokens_issuer(struct exchange *exchange)
{
	struct token_issuer *issuer = agent_tokens(exchange->agent);

	if (!issuer)
		reply_refusal(exchange, API_SERVICE_UNAVAILABLE,
			      "service account tokens are not issued here: see the journal");
	return issuer;
}

static bool is_or_absent(const struct cJSON *body, const char *key, const char *value)
{
	return strcmp(json_string(json_get(body, key), value), value) == 0;
}

static int parse_protobuf(const struct exchange *exchange, struct cJSON **ret,
			  struct failure *reterr)
{
	int r = token_request_parse(exchange->body ?: "", exchange->body_length, ret);

	return r < 0 ? failed_plain(reterr, r, "the body is not a TokenRequest in protocol buffers")
		     : 0;
}

struct cJSON *service_tokens_body(struct exchange *exchange, const char *kind)
{
	const struct json_limits limits = { .bytes = API_URI_BYTES_MAX + 2 * TOKEN_BYTES_MAX,
					    .depth = BODY_DEPTH_MAX };
	struct failure why = { .error = 0 };
	struct cJSON *body = NULL;
	int r;

	if (exchange->content != CONTENT_JSON && exchange->content != CONTENT_PROTOBUF) {
		reply_refusal(exchange, API_UNSUPPORTED_MEDIA_TYPE,
			      "the body of the request was in an unknown format - accepted media "
			      "types include: application/json");
		return NULL;
	}
	if (exchange->content == CONTENT_JSON)
		r = json_parse(exchange->body ?: "", exchange->body_length, &limits, &body, &why);
	else
		r = parse_protobuf(exchange, &body, &why);
	if (r < 0) {
		reply_unread(exchange, r, why.text);
		return NULL;
	}
	if (is_or_absent(body, "apiVersion", AUTHENTICATION_VERSION) &&
	    is_or_absent(body, "kind", kind) && json_is_object(body))
		return body;
	json_free(body);
	reply_refusal(exchange, API_BAD_REQUEST, "the body is not a %s of " AUTHENTICATION_VERSION,
		      kind);
	return NULL;
}

/* ---- the request ---- */

/* A request on its way through the checks. */
struct token_call {
	struct exchange *exchange;
	const char *name_space, *name;
	const struct cJSON *spec;
	struct token_grant grant;
	const char *audiences[TOKEN_AUDIENCES_MAX];
};

static bool refuse(const struct token_call *call, enum api_refusal refusal, const char *message)
{
	const struct reply_details details = { .row = kind_row(KIND_SERVICE_ACCOUNT),
					       .name = call->name };

	reply_refusal_about(call->exchange, refusal, &details, message);
	return false;
}

/* As Kubernetes validates: 422 with the field. */
static bool refuse_field(const struct token_call *call, const char *field, const char *why)
{
	char message[MESSAGE_BYTES];
	const struct reply_details details = { .name = call->name, .field = field };

	(void) snprintf(message, sizeof(message),
			"TokenRequest.authentication.k8s.io \"%.253s\" is invalid: %s: %s",
			call->name, field, why);
	reply_refusal_about(call->exchange, API_INVALID, &details, message);
	return false;
}

static bool read_seconds(struct token_call *call)
{
	const struct cJSON *item = json_get(call->spec, "expirationSeconds");

	call->grant.seconds = TOKEN_SECONDS_DEFAULT;
	if (item && !json_is_null(item) && !json_int64(item, &call->grant.seconds))
		return refuse_field(call, "spec.expirationSeconds", "Invalid value: no integer");
	if (call->grant.seconds < TOKEN_SECONDS_LEAST)
		return refuse_field(call, "spec.expirationSeconds",
				    "Invalid value: may not specify a duration less than 10 "
				    "minutes");
	if (call->grant.seconds > seconds_most)
		return refuse_field(call, "spec.expirationSeconds",
				    "Invalid value: may not specify a duration larger than 2^32 "
				    "seconds");
	return true;
}

static bool read_audiences(struct token_call *call)
{
	const struct cJSON *list = json_get(call->spec, "audiences");

	JSON_FOREACH (item, list) {
		if (!json_is_string(item))
			return refuse_field(call, "spec.audiences", "Invalid value: no string");
		if (call->grant.audience_count == TOKEN_AUDIENCES_MAX)
			return refuse_field(call, "spec.audiences", "Too many: at most 32");
		call->audiences[call->grant.audience_count++] = json_string(item, "");
	}
	call->grant.audiences = call->audiences;
	return true;
}

static const struct kind_row *bindable(const struct cJSON *reference)
{
	static const enum object_kind kinds[] = { KIND_POD, KIND_SECRET, KIND_NODE };
	const char *kind = json_text(reference, "kind");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kind_row(kinds[i])->name, kind) == 0 &&
		    json_text_is(reference, "apiVersion", "v1"))
			return kind_row(kinds[i]);
	return NULL;
}

/* A token speaks for a pod: one of another account would not be that pod's. */
static bool check_bound(struct token_call *call, const struct kind_row *row, const char *uid)
{
	const struct object *bound = call->grant.bound;
	char message[MESSAGE_BYTES];

	if (*uid && strcmp(uid, bound->meta.uid) != 0) {
		(void) snprintf(message, sizeof(message),
				"Operation cannot be fulfilled on %s \"%.253s\": the UID in the "
				"bound object reference (%.64s) does not match the UID in record. "
				"The object might have been deleted and then recreated",
				row->plural, bound->meta.name, uid);
		return refuse(call, API_CONFLICT, message);
	}
	if (bound->kind == KIND_POD && strcmp(bound->pod->service_account_name, call->name) != 0) {
		(void) snprintf(message, sizeof(message),
				"cannot bind token for serviceaccount \"%.253s\" to pod running "
				"with different serviceaccount name.",
				call->name);
		return refuse(call, API_BAD_REQUEST, message);
	}
	return true;
}

static bool read_bound(struct token_call *call)
{
	const struct cJSON *reference = json_get(call->spec, "boundObjectRef");
	const struct kind_row *row = bindable(reference);
	const char *name = json_text(reference, "name");
	char message[MESSAGE_BYTES];

	if (!reference || json_is_null(reference))
		return true;
	if (!row) {
		(void) snprintf(message, sizeof(message),
				"cannot bind token to object of type %.64s %.64s: it is Pod, "
				"Secret or Node of v1",
				json_text(reference, "apiVersion"), json_text(reference, "kind"));
		return refuse(call, API_BAD_REQUEST, message);
	}
	call->grant.bound = store_get(agent_store(call->exchange->agent), row->kind,
				      row->namespaced ? call->name_space : "", name);
	if (!call->grant.bound) {
		(void) snprintf(message, sizeof(message), "%s \"%.253s\" not found", row->plural,
				name);
		return refuse(call, API_NOT_FOUND, message);
	}
	return check_bound(call, row, json_text(reference, "uid"));
}

static bool find_account(struct token_call *call)
{
	char message[MESSAGE_BYTES];

	call->grant.service_account = store_get(agent_store(call->exchange->agent),
						KIND_SERVICE_ACCOUNT, call->name_space, call->name);
	if (call->grant.service_account)
		return true;
	(void) snprintf(message, sizeof(message), "serviceaccounts \"%.253s\" not found",
			call->name);
	return refuse(call, API_NOT_FOUND, message);
}

/* ---- the answer ---- */

/* All but the token; status is the last member. */
static struct cJSON *make_answer(const struct token_call *call, const struct issued_token *token)
{
	struct cJSON *tree = json_new_object(), *metadata, *spec, *audiences;
	const struct cJSON *bound = json_get(call->spec, "boundObjectRef");
	char text[TIMESTAMP_BYTES];

	(void) json_set_string(tree, "kind", "TokenRequest");
	(void) json_set_string(tree, "apiVersion", AUTHENTICATION_VERSION);
	metadata = json_add_object(tree, "metadata");
	(void) json_set_string(metadata, "name", call->name);
	(void) json_set_string(metadata, "namespace", call->name_space);
	timestamp_print(realtime_usec(), text);
	(void) json_set_string(metadata, "creationTimestamp", text);
	spec = json_add_object(tree, "spec");
	audiences = json_add_array(spec, "audiences");
	for (size_t i = 0; i < call->grant.audience_count; i++)
		(void) json_set_string(audiences, NULL, call->audiences[i]);
	if (call->grant.audience_count == 0)
		(void) json_set_string(audiences, NULL,
				       token_issuer_url(agent_tokens(call->exchange->agent)));
	(void) json_set_int(spec, "expirationSeconds", call->grant.seconds);
	if (call->grant.bound)
		(void) json_set(spec, "boundObjectRef", json_copy(bound));
	timestamp_print(token->expires_usec, text);
	(void) json_set_string(json_add_object(tree, "status"), "expirationTimestamp", text);
	return tree;
}

/* The end of a tree that ends with its status is "}}"; a token needs no escapes. */
static char *print_answer(const struct token_call *call, const struct issued_token *token)
{
	cleanup_json struct cJSON *tree = make_answer(call, token);
	cleanup_free char *rest = json_print(tree);
	size_t length = rest ? strlen(rest) : 0;
	char *text;

	if (!rest)
		return NULL;
	assert(length > 2 && strcmp(rest + length - 2, "}}") == 0);
	if (asprintf(&text, "%.*s,\"token\":\"%s\"}}", (int) length - 2, rest, token->text) < 0)
		return NULL;
	return text;
}

static void answer(struct token_call *call, struct token_issuer *issuer)
{
	struct issued_token token = { .text = NULL };
	struct failure why = { .error = 0 };
	char *text;
	int r = token_issuer_issue(issuer, &call->grant, &token, &why);

	if (r < 0) {
		(void) refuse(call, r == -E2BIG ? API_BAD_REQUEST : API_INTERNAL_ERROR, why.text);
		return;
	}
	text = print_answer(call, &token);
	issued_token_done(&token);
	call->exchange->is_secret = true;
	reply_bytes(call->exchange, 201, api_form_type(FORM_JSON), text, text ? strlen(text) : 0);
}

void service_tokens_post(struct exchange *exchange)
{
	struct token_call call = { .exchange = exchange,
				   .name_space = exchange->path.segments[3],
				   .name = exchange->path.segments[5] };
	struct token_issuer *issuer;
	cleanup_json struct cJSON *body = NULL;

	issuer = service_tokens_issuer(exchange);
	body = issuer ? service_tokens_body(exchange, "TokenRequest") : NULL;
	if (!body)
		return;
	call.spec = json_get(body, "spec");
	if (find_account(&call) && read_seconds(&call) && read_audiences(&call) &&
	    read_bound(&call))
		answer(&call, issuer);
}
