/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange - finds the handler of a request: one table of routes, objects for all other paths
 *
 * Knows no sockets.
 */
#include "api/exchange.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

static void health_ok(struct exchange *exchange)
{
	reply_bytes(exchange, 200, "text/plain", strdup("ok"), 2);
}

static void health_ready(struct exchange *exchange)
{
	static const char not_ready[] = "not ready: a source has not delivered everything yet\n";

	if (agent_is_ready(exchange->agent))
		health_ok(exchange);
	else
		reply_bytes(exchange, 500, "text/plain", strdup(not_ready), strlen(not_ready));
}

static const struct route {
	enum api_method method;
	const char *pattern; /* see api_path_matches() */
	api_handler *handler;
} routes[] = {
	{ METHOD_GET, "healthz", health_ok },
	{ METHOD_GET, "livez", health_ok },
	{ METHOD_GET, "readyz", health_ready },
	{ METHOD_GET, "version", views_version },
	{ METHOD_GET, "api/v1/events", views_events },
	{ METHOD_GET, "api/v1/namespaces/*/events", views_events },
	{ METHOD_GET, "podvol/v1/version", views_podvol_version },
	{ METHOD_GET, "podvol/v1/volumes", views_volumes },
	{ METHOD_GET, "podvol/v1/volumes/*", views_volume },
	{ METHOD_GET, "podvol/v1/operations", views_operations },
	{ METHOD_GET, "podvol/v1/manifests", views_manifests },
	{ METHOD_POST, "podvol/v1/apply", apply_post },
	/* A pod by uid, or by name in namespace "default"; and by namespace and name. */
	{ METHOD_GET, "podvol/v1/pods/*/volumes", pods_volumes },
	{ METHOD_GET, "podvol/v1/pods/*/*/volumes", pods_volumes },
	{ METHOD_POST, "podvol/v1/pods/*/mount", pods_mount },
	{ METHOD_POST, "podvol/v1/pods/*/*/mount", pods_mount },
	{ METHOD_POST, "podvol/v1/pods/*/wait", pods_wait },
	{ METHOD_POST, "podvol/v1/pods/*/*/wait", pods_wait },
	{ METHOD_POST, "podvol/v1/pods/*/unmount", pods_unmount },
	{ METHOD_POST, "podvol/v1/pods/*/*/unmount", pods_unmount },
};

void api_dispatch(struct exchange *exchange)
{
	bool known_path = false;

	assert(exchange && exchange->agent && exchange->answered && exchange->status == 0);
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!api_path_matches(&exchange->path, routes[i].pattern))
			continue;
		if (routes[i].method == exchange->method) {
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
	free(exchange->body);
	exchange->body = NULL;
	free(exchange->reply);
	exchange->reply = NULL;
}
