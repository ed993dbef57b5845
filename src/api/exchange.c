/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange - finds the handler of a request: one table of routes, objects for all other paths
 *
 * Also reads the two headers that say in which form things come and go. Knows no sockets.
 */
#include "api/exchange.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

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

/* ---- headers ---- */

/* The next word up to one of @ends, without blanks around it. */
static const char *next_word(const char **at, const char *ends, size_t *ret_length)
{
	const char *word = *at + strspn(*at, " \t");
	size_t length = strcspn(word, ends);

	*at = word + length;
	while (length > 0 && (word[length - 1] == ' ' || word[length - 1] == '\t'))
		length--;
	*ret_length = length;
	return word;
}

static bool word_is(const char *word, size_t length, const char *expected)
{
	return strlen(expected) == length && strncasecmp(word, expected, length) == 0;
}

/* One media range: "application/json;as=Table;v=v1;g=meta.k8s.io". Other parameters are passed
 * over, but a form of "as" that we do not speak makes the whole range one that we do not speak. */
static int read_range(const char **at, enum api_form *ret)
{
	size_t length;
	const char *type = next_word(at, ";,", &length);
	bool yaml = word_is(type, length, "application/yaml");
	bool json = word_is(type, length, "application/json") || word_is(type, length, "*/*") ||
		    word_is(type, length, "application/*");
	bool table = false, known = json || yaml;

	while (**at == ';') {
		const char *parameter;

		(*at)++;
		parameter = next_word(at, ";,", &length);
		if (word_is(parameter, length, "as=Table"))
			table = true;
		else if (length >= 3 && strncasecmp(parameter, "as=", 3) == 0)
			known = false;
		else if (length >= 2 && strncasecmp(parameter, "v=", 2) == 0)
			known = known && word_is(parameter, length, "v=v1");
	}
	if (**at == ',')
		(*at)++;
	if (!known || (table && yaml))
		return -ENOENT;
	*ret = table ? FORM_TABLE : yaml ? FORM_YAML : FORM_JSON;
	return 0;
}

int api_form_parse(const char *accept, enum api_form *ret)
{
	const char *at = accept;

	assert(ret);
	if (!accept || *accept == '\0') {
		*ret = FORM_JSON;
		return 0;
	}
	while (*at)
		if (read_range(&at, ret) == 0)
			return 0;
	return -ENOENT;
}

enum api_content api_content_parse(const char *content_type)
{
	const char *at = content_type;
	size_t length;
	const char *type;

	if (!content_type)
		return CONTENT_JSON;
	type = next_word(&at, ";", &length);
	if (length == 0 || word_is(type, length, "application/json"))
		return CONTENT_JSON;
	if (word_is(type, length, "application/yaml") || word_is(type, length, "text/yaml") ||
	    word_is(type, length, "application/x-yaml"))
		return CONTENT_YAML;
	return CONTENT_OTHER;
}
