/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply - answers: bytes, trees, objects and Kubernetes' Status
 *
 * Every handler ends in one of these functions, once. An answer that cannot be built for want of
 * memory becomes a constant Status, which needs none.
 */
#include "api/exchange.h"

#include "agent.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "object/schema/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct refusal_row {
	int code;
	const char *reason; /* metav1.StatusReason */
} refusals[API_REFUSAL_COUNT] = {
	[API_BAD_REQUEST] = { 400, "BadRequest" },
	[API_UNAUTHORIZED] = { 401, "Unauthorized" },
	[API_FORBIDDEN] = { 403, "Forbidden" },
	[API_NOT_FOUND] = { 404, "NotFound" },
	[API_METHOD_NOT_ALLOWED] = { 405, "MethodNotAllowed" },
	[API_NOT_ACCEPTABLE] = { 406, "NotAcceptable" },
	[API_EXPIRED] = { 410, "Expired" },
	[API_CONFLICT] = { 409, "Conflict" },
	[API_ALREADY_EXISTS] = { 409, "AlreadyExists" },
	[API_TOO_LARGE] = { 413, "RequestEntityTooLarge" },
	[API_URI_TOO_LONG] = { 414, "BadRequest" },
	[API_UNSUPPORTED_MEDIA_TYPE] = { 415, "UnsupportedMediaType" },
	[API_INVALID] = { 422, "Invalid" },
	[API_TOO_MANY_REQUESTS] = { 429, "TooManyRequests" },
	[API_INTERNAL_ERROR] = { 500, "InternalError" },
	[API_SERVICE_UNAVAILABLE] = { 503, "ServiceUnavailable" },
	[API_TIMEOUT] = { 504, "Timeout" },
};

/* A sentence of its own around a whole failure. */
enum { REPLY_TEXT_BYTES = FAILURE_TEXT_BYTES + 1024 };

static const char type_json[] = "application/json";
static const char type_yaml[] = "application/yaml";

/* Sent when not even a Status could be made; never freed as it is not copied. */
static const char no_memory_text[] =
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
	"\"message\":\"out of memory\",\"reason\":\"InternalError\",\"code\":500}\n";

static void finish(struct exchange *exchange)
{
	exchange->work = NULL;
	exchange->abandon = NULL;
	exchange->answered(exchange);
}

void reply_bytes(struct exchange *exchange, int status, const char *type, char *bytes,
		 size_t length)
{
	assert(exchange->status == 0);
	if (!bytes) {
		/* A reply without bytes and with this status means the constant text above. */
		exchange->status = 500;
		exchange->reply_type = type_json;
		exchange->reply = strdup(no_memory_text);
		exchange->reply_length = exchange->reply ? strlen(no_memory_text) : 0;
		finish(exchange);
		return;
	}
	exchange->status = status;
	exchange->reply = bytes;
	exchange->reply_length = length;
	exchange->reply_type = type;
	finish(exchange);
}

void reply_tree(struct exchange *exchange, int status, struct cJSON *tree)
{
	const char *type = type_json;
	char *text = NULL;

	if (exchange->form == FORM_YAML)
		type = type_yaml;
	else if (exchange->form == FORM_DOCKER)
		type = api_form_type(FORM_DOCKER);
	if (tree)
		text = type == type_yaml ? json_print_yaml(tree) : json_print(tree);
	json_free(tree);
	reply_bytes(exchange, status, type, text, text ? strlen(text) : 0);
}

int print_object(struct agent *agent, const struct object *object, char **ret)
{
	*ret = NULL;
	return object->kind == KIND_POD ? agent_pod_print(agent, object, ret) : 0;
}

struct cJSON *shown_tree(struct agent *agent, const struct object *object)
{
	const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX + FAILURE_TEXT_BYTES * 8,
					    .depth = OBJECT_DEPTH_MAX,
					    .is_own = true };
	cleanup_free char *text = NULL;
	struct cJSON *tree = NULL;

	if (print_object(agent, object, &text) < 0)
		return NULL;
	if (!text)
		return object_tree(object);
	return json_parse(text, strlen(text), &limits, &tree, NULL) < 0 ? NULL : tree;
}

static void reply_object_json(struct exchange *exchange, int status, const struct object *object)
{
	char *text;
	int r = print_object(exchange->agent, object, &text);

	if (r == 0 && !text)
		text = strndup(object->json, object->json_length);
	reply_bytes(exchange, status, type_json, text, text ? strlen(text) : 0);
}

static const char *pod_volumes(void *userdata, const struct object *pod)
{
	return agent_pod_volumes(userdata, pod);
}

struct cJSON *table_of_objects(struct agent *agent, enum object_kind kind,
			       const struct object *const *objects, size_t count, uint64_t now_usec)
{
	const struct table_words words = { .pod_volumes = pod_volumes, .userdata = agent };

	return table_from_objects(kind, objects, count, now_usec, &words);
}

void reply_object(struct exchange *exchange, int status, const struct object *object)
{
	if (exchange->form == FORM_TABLE)
		reply_tree(exchange, status,
			   table_of_objects(exchange->agent, object->kind, &object, 1,
					    realtime_usec()));
	else if (exchange->form == FORM_YAML)
		reply_tree(exchange, status, shown_tree(exchange->agent, object));
	else
		reply_object_json(exchange, status, object);
}

/* "Required value: ..." says of which kind the fault is. */
static const char *cause_of(const char *message)
{
	static const struct {
		const char *begins, *reason; /* metav1.CauseType */
	} causes[] = {
		{ "Required value", "FieldValueRequired" },
		{ "Unsupported value", "FieldValueNotSupported" },
		{ "Forbidden", "FieldValueForbidden" },
		{ "Duplicate value", "FieldValueDuplicate" },
		{ "Not found", "FieldValueNotFound" },
		{ "Too long", "FieldValueTooLong" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (strncmp(message, causes[i].begins, strlen(causes[i].begins)) == 0)
			return causes[i].reason;
	return "FieldValueInvalid";
}

/* @message: "...: FIELD: what is wrong"; a cause has the last part. */
static void add_cause(struct cJSON *details, const char *field, const char *message)
{
	struct cJSON *cause = json_add_object(json_add_array(details, "causes"), NULL);
	const char *at = strstr(message, field);

	if (at && at[strlen(field)] == ':')
		message = at + strlen(field) + 1 + (at[strlen(field) + 1] == ' ');
	(void) json_set_string(cause, "reason", cause_of(message));
	(void) json_set_string(cause, "message", message);
	(void) json_set_string(cause, "field", field);
}

static void add_causes(struct cJSON *details, const struct violations *violations)
{
	struct cJSON *causes = json_add_array(details, "causes");

	for (size_t i = 0; i < violations->count; i++) {
		const struct violation *violation = &violations->list[i];
		struct cJSON *cause = json_add_object(causes, NULL);

		(void) json_set_string(cause, "reason", violation_reason(violation->type));
		(void) json_set_string(cause, "message", violation->message);
		(void) json_set_string(cause, "field", violation->field);
	}
}

static void add_details(struct cJSON *status, const struct reply_details *details,
			const char *message)
{
	struct cJSON *tree = json_add_object(status, "details");

	if (details->name && *details->name)
		(void) json_set_string(tree, "name", details->name);
	if (details->row && *details->row->group)
		(void) json_set_string(tree, "group", details->row->group);
	if (details->row)
		(void) json_set_string(tree, "kind", details->row->plural);
	if (details->uid && *details->uid)
		(void) json_set_string(tree, "uid", details->uid);
	if (details->violations)
		add_causes(tree, details->violations);
	else if (details->field)
		add_cause(tree, details->field, message);
	if (details->retry_seconds > 0)
		(void) json_set_int(tree, "retryAfterSeconds", details->retry_seconds);
}

static void reply_status(struct exchange *exchange, int code, const char *reason,
			 const struct reply_details *details, const char *message)
{
	struct cJSON *status = json_new_object();

	(void) json_set_string(status, "kind", "Status");
	(void) json_set_string(status, "apiVersion", "v1");
	(void) json_add_object(status, "metadata");
	(void) json_set_string(status, "status", reason ? "Failure" : "Success");
	if (message)
		(void) json_set_string(status, "message", message);
	if (reason)
		(void) json_set_string(status, "reason", reason);
	if (details)
		add_details(status, details, message ? message : "");
	if (reason)
		(void) json_set_int(status, "code", code);
	reply_tree(exchange, code, status);
}

void reply_refusal_about(struct exchange *exchange, enum api_refusal refusal,
			 const struct reply_details *details, const char *message)
{
	assert((unsigned int) refusal < API_REFUSAL_COUNT && message);
	exchange->record.reason = refusals[refusal].reason;
	if (exchange->form == FORM_DOCKER) {
		struct cJSON *tree = json_new_object();

		(void) json_set_string(tree, "Err", message);
		reply_tree(exchange, refusals[refusal].code, tree);
		return;
	}
	reply_status(exchange, refusals[refusal].code, refusals[refusal].reason, details, message);
}

void reply_refusal(struct exchange *exchange, enum api_refusal refusal, const char *format, ...)
{
	char message[REPLY_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	reply_refusal_about(exchange, refusal, NULL, message);
}

void reply_success(struct exchange *exchange, int status, const struct reply_details *details,
		   const char *message)
{
	reply_status(exchange, status, NULL, details, message);
}

void reply_unread(struct exchange *exchange, int error, const char *text)
{
	if (error == -ENOMEM)
		reply_bytes(exchange, 500, NULL, NULL, 0);
	else
		reply_refusal(exchange, error == -E2BIG ? API_TOO_LARGE : API_BAD_REQUEST, "%s",
			      text);
}

/* "spec.volumes[0].name: required" begins with a field; "out of memory" does not. */
static const char *field_of(const char *text, char field[FAILURE_TEXT_BYTES])
{
	size_t length = strcspn(text, ": ");

	if (text[length] != ':' || length == 0)
		return NULL;
	(void) snprintf(field, FAILURE_TEXT_BYTES, "%.*s", (int) length, text);
	return field;
}

static void reply_invalid(struct exchange *exchange, const struct reply_details *details,
			  const char *why)
{
	struct reply_details with_field = *details;
	char field[FAILURE_TEXT_BYTES], message[REPLY_TEXT_BYTES];

	with_field.field = field_of(why, field);
	(void) snprintf(message, sizeof(message), "%s \"%s\" is invalid: %s", details->row->name,
			details->name ? details->name : "", why);
	reply_refusal_about(exchange, API_INVALID, &with_field, message);
}

/* "Pod "web" is invalid: [spec.a: Required value, spec.b: Forbidden]" */
void reply_violations(struct exchange *exchange, const struct reply_details *details,
		      const struct violations *violations)
{
	char message[512 + VIOLATIONS_MAX * sizeof(struct violation)];
	struct reply_details with_causes = *details;
	bool are_many = violations->count > 1;
	size_t used;

	assert(violations->count > 0);
	used = (size_t) snprintf(message, sizeof(message), "%s \"%.253s\" is invalid: %s",
				 details->row->name, details->name ? details->name : "",
				 are_many ? "[" : "");
	for (size_t i = 0; i < violations->count; i++)
		used += (size_t) snprintf(message + used, sizeof(message) - used, "%s%s: %s",
					  i ? ", " : "", violations->list[i].field,
					  violations->list[i].message);
	(void) snprintf(message + used, sizeof(message) - used, "%s", are_many ? "]" : "");
	with_causes.violations = violations;
	reply_refusal_about(exchange, API_INVALID, &with_causes, message);
}

void reply_error(struct exchange *exchange, int error, const struct reply_details *details,
		 const struct failure *why)
{
	const char *text = why && why->text[0] ? why->text : strerror(-error);
	const char *name = details->name ? details->name : "";
	const char *dot = *details->row->group ? "." : "";
	enum api_refusal refusal = API_INTERNAL_ERROR;
	char message[REPLY_TEXT_BYTES];

	assert(error < 0);
	switch (error) {
	case -EINVAL:
		reply_invalid(exchange, details, text);
		return;
	case -EEXIST:
		refusal = API_ALREADY_EXISTS;
		(void) snprintf(message, sizeof(message), "%s%s%s \"%s\" already exists",
				details->row->plural, dot, details->row->group, name);
		break;
	case -ENOENT:
		refusal = API_NOT_FOUND;
		(void) snprintf(message, sizeof(message), "%s%s%s \"%s\" not found",
				details->row->plural, dot, details->row->group, name);
		break;
	case -ESTALE:
		refusal = API_CONFLICT;
		(void) snprintf(message, sizeof(message),
				"Operation cannot be fulfilled on %s%s%s \"%s\": the object has "
				"been modified; please apply your changes to the latest version "
				"and try again",
				details->row->plural, dot, details->row->group, name);
		break;
	case -EACCES:
	case -EDQUOT:
		refusal = API_FORBIDDEN;
		(void) snprintf(message, sizeof(message), "%s%s%s \"%s\" is forbidden: %s",
				details->row->plural, dot, details->row->group, name, text);
		break;
	case -EBADMSG:
	case -E2BIG:
		refusal = error == -E2BIG ? API_TOO_LARGE : API_BAD_REQUEST;
		(void) snprintf(message, sizeof(message), "%s", text);
		break;
	case -ENOBUFS:
		refusal = API_TOO_MANY_REQUESTS;
		(void) snprintf(message, sizeof(message), "too many writes are queued: try again");
		break;
	case -ECANCELED:
		refusal = API_SERVICE_UNAVAILABLE;
		(void) snprintf(message, sizeof(message), "podvold is shutting down");
		break;
	default:
		(void) snprintf(message, sizeof(message), "%s \"%s\" was not stored: %s",
				details->row->plural, name, text);
	}
	reply_refusal_about(exchange, refusal, details, message);
}
