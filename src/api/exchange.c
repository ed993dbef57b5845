/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange - finds the handler of a request: one table of routes, objects for all other paths
 *
 * Knows no sockets.
 */
#include "api/route.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_REQUESTS "api/v1/namespaces/*/serviceaccounts/*/token"

#define REVIEWS "apis/authorization.k8s.io/v1/"
#define WHOAMI  "apis/authentication.k8s.io/v1/selfsubjectreviews"

#define ROUTE(METHOD, PATTERN, HANDLER)                                                            \
	{                                                                                          \
		.method = METHOD, .pattern = PATTERN, .handler = HANDLER                           \
	}

/* Paths of other APIs; podvol_routes.c has podvol's own. */
static const struct route foreign_routes[] = {
	ROUTE(METHOD_GET, "healthz", health_ok),
	ROUTE(METHOD_GET, "livez", health_alive),
	ROUTE(METHOD_GET, "readyz", health_ready),
	ROUTE(METHOD_GET, "version", views_version),
	ROUTE(METHOD_GET, "metrics", views_metrics),
	ROUTE(METHOD_GET, "", discovery_index),
	ROUTE(METHOD_GET, "api", discovery_versions),
	ROUTE(METHOD_GET, "api/*", discovery_resources),
	ROUTE(METHOD_GET, "apis", discovery_groups),
	ROUTE(METHOD_GET, "apis/*", discovery_group),
	ROUTE(METHOD_GET, "apis/*/*", discovery_resources),
	ROUTE(METHOD_GET, "openapi/v2", openapi_v2),
	ROUTE(METHOD_GET, "openapi/v3", openapi_v3),
	ROUTE(METHOD_GET, "openapi/v3/podvol/v1", openapi_v3_podvol),
	ROUTE(METHOD_GET, "openapi/v3/api/*", openapi_v3_group),
	ROUTE(METHOD_GET, "openapi/v3/apis/*/*", openapi_v3_group),
	ROUTE(METHOD_GET, ".well-known/openid-configuration", service_keys_configuration),
	ROUTE(METHOD_GET, "openid/v1/jwks", service_keys_set),
	ROUTE(METHOD_POST, TOKEN_REQUESTS, service_tokens_post),
	ROUTE(METHOD_POST, "apis/authentication.k8s.io/v1/tokenreviews", service_tokens_review),
	ROUTE(METHOD_POST, REVIEWS "selfsubjectaccessreviews", self_review_access),
	ROUTE(METHOD_POST, REVIEWS "selfsubjectrulesreviews", self_review_rules),
	ROUTE(METHOD_POST, WHOAMI, self_review_user),
};

const char *api_method_name(enum api_method method)
{
	static const char *const names[] = {
		[METHOD_GET] = "get",     [METHOD_POST] = "post",     [METHOD_PUT] = "put",
		[METHOD_PATCH] = "patch", [METHOD_DELETE] = "delete", [METHOD_OTHER] = "other"
	};
	static_assert(ARRAY_SIZE(names) == METHOD_OTHER + 1, "name every method");

	return names[method];
}

/* POSTs that change nothing. */
static const char *const questions[] = {
	"apis/authentication.k8s.io/v1/tokenreviews",
	REVIEWS "*",
	WHOAMI,
	"podvol/v1/check",
	"podvol/v1/pods/*/wait",
	"podvol/v1/pods/*/*/wait",
};

bool api_writes(enum api_method method, const struct api_path *path)
{
	if (method == METHOD_GET)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		if (method == METHOD_POST && api_path_matches(path, questions[i]))
			return false;
	return true;
}

bool api_takes_protobuf(const struct api_path *path)
{
	return api_path_matches(path, TOKEN_REQUESTS) || api_is_self_review(path) ||
	       objects_take_protobuf(path);
}

bool api_is_self_review(const struct api_path *path)
{
	return api_path_matches(path, REVIEWS "*") || api_path_matches(path, WHOAMI);
}

/* Of any API; NULL: past the last. */
static const struct route *route_at(size_t index)
{
	const size_t foreign = ARRAY_SIZE(foreign_routes);
	const struct route *route =
		index < foreign ? &foreign_routes[index] : &podvol_routes[index - foreign];

	return route->pattern ? route : NULL;
}

const char *api_route(size_t index)
{
	const struct route *route = route_at(index);

	return route ? route->pattern : NULL;
}

/* Paths whose answers have other forms than objects and views do. */
static const struct {
	const char *pattern;
	unsigned int forms; /* set of FORM_BIT()s, or FORMS_ANY */
} path_forms[] = {
	{ "healthz", FORMS_ANY },
	{ "livez", FORMS_ANY },
	{ "readyz", FORMS_ANY },
	{ "metrics", FORMS_ANY },
	{ ".well-known/openid-configuration", FORMS_ANY },
	{ "openid/v1/jwks", FORMS_ANY },
	{ TOKEN_REQUESTS, FORM_BIT(FORM_JSON) },
	{ "api", FORMS_DISCOVERY },
	{ "apis", FORMS_DISCOVERY },
	{ "openapi/v2", FORMS_OPENAPI },
	{ "openapi/v3", FORM_BIT(FORM_JSON) },
	{ "openapi/v3/podvol/v1", FORM_BIT(FORM_JSON) },
	{ "openapi/v3/api/*", FORM_BIT(FORM_JSON) },
	{ "openapi/v3/apis/*/*", FORM_BIT(FORM_JSON) },
};

static unsigned int forms_of(const struct api_path *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(path_forms); i++)
		if (api_path_matches(path, path_forms[i].pattern))
			return path_forms[i].forms;
	return FORMS_COMMON;
}

/* The names of what is offered, for a request of something else. */
static void refuse_forms(struct exchange *exchange, unsigned int offered)
{
	char text[512] = "";
	size_t used = 0;

	for (unsigned int form = 0; form < FORM_COUNT && used < sizeof(text); form++)
		if (offered & FORM_BIT(form))
			used += (size_t) snprintf(text + used, sizeof(text) - used, "%s%s",
						  used > 0 ? ", " : "",
						  api_form_type((enum api_form) form));
	reply_refusal(exchange, API_NOT_ACCEPTABLE,
		      "only the following media types are accepted: %s", text);
}

/* False: refused. Tests that set the form themselves bring no header. */
static bool choose_form(struct exchange *exchange)
{
	unsigned int offered = forms_of(&exchange->path);

	if (!exchange->accept || offered == FORMS_ANY ||
	    api_form_parse(exchange->accept, offered, &exchange->form) == 0)
		return true;
	refuse_forms(exchange, offered);
	return false;
}

/* ---- rights ---- */

bool api_is_allowed(struct exchange *exchange, const struct access *access,
		    const struct reply_details *details)
{
	static const struct reply_details nothing = { .row = NULL };
	const char *why, *group = access->group ? access->group : "", *on = "";
	char message[1024];

	exchange->record.verb = access->verb;
	exchange->record.needs_secrets = !authorize(RIGHTS_ALL & ~RIGHT_SECRETS, access, &why);
	if (authorize(exchange->rights, access, &why))
		return true;
	if (details && details->name)
		on = details->name;
	if (access->path)
		(void) snprintf(message, sizeof(message),
				"this client cannot %s path \"/%.512s\"%s%s", access->verb,
				access->path, *why ? ": " : "", why);
	else
		(void) snprintf(
			message, sizeof(message),
			"%s%s%s%s%s%s%s%.253s%s is forbidden: this client cannot %s resource "
			"\"%s%s%s\" in API group \"%s\"%s%s",
			access->resource, access->subresource ? "/" : "",
			access->subresource ? access->subresource : "", *group ? "." : "", group,
			*on ? " " : "", *on ? "\"" : "", on, *on ? "\"" : "", access->verb,
			access->resource, access->subresource ? "/" : "",
			access->subresource ? access->subresource : "", group, *why ? ": " : "",
			why);
	reply_refusal_about(exchange, API_FORBIDDEN, details ? details : &nothing, message);
	return false;
}

/* Rules count segments: a slash inside one, as of a volume's unique name, stays escaped. It was
 * sent so, and there is room for it. */
static void add_segment(char text[API_URI_BYTES_MAX + 1], const char *segment)
{
	size_t used = strlen(text);

	if (used > 0)
		text[used++] = '/';
	for (; *segment && used + 3 <= API_URI_BYTES_MAX; segment++)
		used += (size_t) snprintf(text + used, API_URI_BYTES_MAX + 1 - used,
					  *segment == '/' ? "%%2F" : "%c", *segment);
	text[used] = '\0';
}

/* Routes below /apis are resources without a kind of object: NAME, or their accounts' tokens. */
static bool route_is_allowed(struct exchange *exchange)
{
	const struct api_path *path = &exchange->path;
	struct access access = { .verb = api_method_name(exchange->method) };
	char text[API_URI_BYTES_MAX + 1] = "";

	if (exchange->method == METHOD_POST && strncmp(path->segments[0], "api", 3) == 0) {
		bool is_token = api_path_matches(path, TOKEN_REQUESTS);

		access = (struct access){ .verb = "create",
					  .group = is_token ? "" : path->segments[1],
					  .resource =
						  is_token ? "serviceaccounts" : path->segments[3],
					  .subresource = is_token ? "token" : NULL };
		return api_is_allowed(exchange, &access, NULL);
	}
	for (size_t i = 0; i < path->segment_count; i++)
		add_segment(text, path->segments[i]);
	access.path = text;
	return api_is_allowed(exchange, &access, NULL);
}

/* A parameter that is misspelt would be passed over in silence. */
static void refuse_parameter(struct exchange *exchange, const struct route *route, const char *name)
{
	const struct route_parameter *parameter;
	char known[512] = "none";
	size_t at = 0, used = 0;

	while ((parameter = route_next_parameter(route, &at)) && used < sizeof(known))
		used += (size_t) snprintf(known + used, sizeof(known) - used, "%s%s",
					  used > 0 ? ", " : "", parameter->name);
	reply_refusal(exchange, API_BAD_REQUEST,
		      "%.64s: not a query parameter of this path; it takes %s", name, known);
}

static void run_route(struct exchange *exchange, const struct route *route)
{
	const char *refused = route_refused_parameter(route, &exchange->path);

	if (!route_is_allowed(exchange))
		return;
	if (refused)
		refuse_parameter(exchange, route, refused);
	else
		route->handler(exchange);
}

void api_dispatch(struct exchange *exchange)
{
	const struct route *route;
	bool known_path = false;

	assert(exchange && exchange->agent && exchange->answered && exchange->status == 0);
	if (!choose_form(exchange))
		return;
	for (size_t i = 0; (route = route_at(i)); i++) {
		if (!api_path_matches(&exchange->path, route->pattern))
			continue;
		if (route->method == exchange->method) {
			run_route(exchange, route);
			return;
		}
		known_path = true;
	}
	if (known_path)
		reply_refusal(exchange, API_METHOD_NOT_ALLOWED,
			      "the server does not allow this method on the requested resource");
	else if (!objects_handle(exchange))
		reply_refusal(exchange, API_NOT_FOUND,
			      "the server could not find the requested resource");
}

bool exchange_timeout(struct exchange *exchange, uint64_t *ret_usec)
{
	const char *text = api_path_parameter(&exchange->path, "timeout");

	if (!text || duration_parse(text, ret_usec) == 0)
		return true;
	reply_refusal(exchange, API_BAD_REQUEST,
		      "timeout: '%s' is not a duration of at most 30 days: write 30s, 2m or 1h30m",
		      text);
	return false;
}

bool exchange_may_wait(struct exchange *exchange)
{
	bool may_wait = exchange->may_wait;

	if (!may_wait)
		reply_refusal(exchange, API_TOO_MANY_REQUESTS, REPLY_BUSY);
	return may_wait;
}

void *exchange_new_work(struct exchange *exchange, size_t bytes)
{
	void *work = calloc(1, bytes);

	if (!work)
		reply_bytes(exchange, 500, NULL, NULL, 0);
	return work;
}

void exchange_wait(struct exchange *exchange, void *work, void (*abandon)(void *work))
{
	exchange->work = work;
	exchange->abandon = abandon;
}

void exchange_abandon(struct exchange *exchange)
{
	if (exchange->abandon)
		exchange->abandon(exchange->work);
	exchange->abandon = NULL;
	exchange->work = NULL;
}

void exchange_done(struct exchange *exchange)
{
	assert(!exchange->work);
	if (exchange->is_secret && exchange->body)
		explicit_bzero(exchange->body, exchange->body_length);
	if (exchange->is_secret && exchange->reply)
		explicit_bzero(exchange->reply, exchange->reply_length);
	free(exchange->body);
	exchange->body = NULL;
	free(exchange->reply);
	exchange->reply = NULL;
	free(exchange->warnings);
	exchange->warnings = NULL;
}

void exchange_warn(struct exchange *exchange, const char *text)
{
	char *warnings;

	if (asprintf(&warnings, "%s%s%s", exchange->warnings ? exchange->warnings : "",
		     exchange->warnings ? "\n" : "", text) < 0)
		return;
	free(exchange->warnings);
	exchange->warnings = warnings;
}
