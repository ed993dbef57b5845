/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange - finds the handler of a request: one table of routes, objects for all other paths
 *
 * Knows no sockets.
 */
#include "api/exchange.h"

#include "base/cleanup.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_REQUESTS "api/v1/namespaces/*/serviceaccounts/*/token"

#define REVIEWS "apis/authorization.k8s.io/v1/"
#define WHOAMI  "apis/authentication.k8s.io/v1/selfsubjectreviews"

static const struct route {
	enum api_method method;
	const char *pattern; /* see api_path_matches() */
	api_handler *handler;
} routes[] = {
	{ METHOD_GET, "healthz", health_ok },
	{ METHOD_GET, "livez", health_alive },
	{ METHOD_GET, "readyz", health_ready },
	{ METHOD_GET, "version", views_version },
	{ METHOD_GET, "metrics", views_metrics },
	{ METHOD_GET, "", discovery_index },
	{ METHOD_GET, "api", discovery_versions },
	{ METHOD_GET, "api/*", discovery_resources },
	{ METHOD_GET, "apis", discovery_groups },
	{ METHOD_GET, "apis/*", discovery_group },
	{ METHOD_GET, "apis/*/*", discovery_resources },
	{ METHOD_GET, "openapi/v2", openapi_v2 },
	{ METHOD_GET, "openapi/v3", openapi_v3 },
	{ METHOD_GET, "openapi/v3/api/*", openapi_v3_group },
	{ METHOD_GET, "openapi/v3/apis/*/*", openapi_v3_group },
	{ METHOD_GET, ".well-known/openid-configuration", service_keys_configuration },
	{ METHOD_GET, "openid/v1/jwks", service_keys_set },
	{ METHOD_POST, TOKEN_REQUESTS, service_tokens_post },
	{ METHOD_POST, "apis/authentication.k8s.io/v1/tokenreviews", service_tokens_review },
	{ METHOD_POST, REVIEWS "selfsubjectaccessreviews", self_review_access },
	{ METHOD_POST, REVIEWS "selfsubjectrulesreviews", self_review_rules },
	{ METHOD_POST, WHOAMI, self_review_user },
	{ METHOD_GET, "podvol/v1", discovery_views_index },
	{ METHOD_GET, "podvol/v1/version", views_podvol_version },
	{ METHOD_GET, "podvol/v1/kubeconfig", kubeconfig_get },
	{ METHOD_GET, "podvol/v1/volumes", views_volumes },
	{ METHOD_GET, "podvol/v1/volumes/*", views_volume },
	{ METHOD_POST, "podvol/v1/volumes/*/force", force_unstage_post },
	{ METHOD_GET, "podvol/v1/operations", views_operations },
	{ METHOD_GET, "podvol/v1/steps", views_steps },
	{ METHOD_GET, "podvol/v1/manifests", views_manifests },
	{ METHOD_GET, "podvol/v1/statistics", views_statistics },
	{ METHOD_GET, "podvol/v1/drivers", views_drivers },
	{ METHOD_GET, "podvol/v1/drivers/*", views_driver },
	{ METHOD_POST, "podvol/v1/drivers/*/call", driver_calls_post },
	{ METHOD_GET, "podvol/v1/threads", views_threads },
	{ METHOD_GET, "podvol/v1/strangers", views_foreign_volumes },
	{ METHOD_GET, "podvol/v1/events", views_volume_events },
	{ METHOD_GET, "podvol/v1/keys", service_keys_get },
	{ METHOD_POST, "podvol/v1/keys", service_keys_renew },
	{ METHOD_GET, "podvol/v1/tokens", named_tokens_get },
	{ METHOD_POST, "podvol/v1/tokens", named_tokens_post },
	{ METHOD_DELETE, "podvol/v1/tokens/*", named_tokens_delete },
	{ METHOD_DELETE, "podvol/v1/certificates/*", named_tokens_revoke_certificates },
	{ METHOD_POST, "podvol/v1/apply", apply_post },
	{ METHOD_POST, "podvol/v1/check", check_post },
	/* A pod by uid, or by name in namespace "default"; and by namespace and name. */
	{ METHOD_GET, "podvol/v1/pods/*/volumes", pods_volumes },
	{ METHOD_GET, "podvol/v1/pods/*/*/volumes", pods_volumes },
	{ METHOD_POST, "podvol/v1/pods/*/mount", pods_mount },
	{ METHOD_POST, "podvol/v1/pods/*/*/mount", pods_mount },
	{ METHOD_POST, "podvol/v1/pods/*/mounts", mounts_post },
	{ METHOD_POST, "podvol/v1/pods/*/*/mounts", mounts_post },
	{ METHOD_POST, "podvol/v1/pods/*/wait", pods_wait },
	{ METHOD_POST, "podvol/v1/pods/*/*/wait", pods_wait },
	{ METHOD_POST, "podvol/v1/pods/*/unmount", pods_unmount },
	{ METHOD_POST, "podvol/v1/pods/*/*/unmount", pods_unmount },
	{ METHOD_GET, "podvol/v1/holds", holds_get_all },
	{ METHOD_GET, "podvol/v1/pods/*/holds", holds_get },
	{ METHOD_GET, "podvol/v1/pods/*/*/holds", holds_get },
	{ METHOD_POST, "podvol/v1/pods/*/holds", holds_post },
	{ METHOD_POST, "podvol/v1/pods/*/*/holds", holds_post },
	{ METHOD_DELETE, "podvol/v1/pods/*/holds/*", holds_delete },
	{ METHOD_DELETE, "podvol/v1/pods/*/*/holds/*", holds_delete },
};

const char *api_method_name(enum api_method method)
{
	static const char *const names[] = {
		[METHOD_GET] = "get",     [METHOD_POST] = "post",     [METHOD_PUT] = "put",
		[METHOD_PATCH] = "patch", [METHOD_DELETE] = "delete", [METHOD_OTHER] = "other"
	};

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

const char *api_route(size_t index)
{
	return index < ARRAY_SIZE(routes) ? routes[index].pattern : NULL;
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

void api_dispatch(struct exchange *exchange)
{
	bool known_path = false;

	assert(exchange && exchange->agent && exchange->answered && exchange->status == 0);
	if (!choose_form(exchange))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!api_path_matches(&exchange->path, routes[i].pattern))
			continue;
		if (routes[i].method == exchange->method) {
			if (route_is_allowed(exchange))
				routes[i].handler(exchange);
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
