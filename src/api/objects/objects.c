/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects - Kubernetes' REST verbs on the kinds of the store: what a path names, which verb is
 * meant, and who may
 *
 * Paths come from the table of kinds: a new kind is served without a line here. What is not served
 * (the deprecated /watch/ paths, subresources other than status) is no resource: 404.
 */
#include "api/objects/objects.h"

#include "api/objects/protobuf.h"
#include "base/cleanup.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct kind_row *find_row(const char *group, const char *version, const char *plural)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		if (strcmp(row->plural, plural) == 0 && strcmp(row->group, group) == 0 &&
		    strcmp(row->version, version) == 0)
			return row;
	}
	return NULL;
}

/* [namespaces/NS/]PLURAL[/NAME[/status]]; "namespaces/NS/status" is of the Namespace itself. */
static bool find_object(const char *const *at, const char *const *end, const char *group,
			const char *version, struct target *ret)
{
	if (end - at >= 3 && strcmp(at[0], "namespaces") == 0 && strcmp(at[2], "status") != 0) {
		ret->name_space = at[1];
		at += 2;
	}
	ret->row = find_row(group, version, at[0]);
	if (!ret->row || (ret->name_space && !ret->row->namespaced))
		return false;
	at++;
	if (at < end)
		ret->name = *at++;
	if (at < end) {
		ret->status = strcmp(*at++, "status") == 0;
		if (!ret->status || !ret->row->has_status)
			return false;
	}
	/* A namespaced object has no path without its namespace. */
	return at == end && !(ret->name && ret->row->namespaced && !ret->name_space);
}

/* "api/v1/..." or "apis/GROUP/VERSION/..." */
bool target_find(const struct api_path *path, struct target *ret)
{
	const char *const *at = path->segments;
	const char *const *end = at + path->segment_count;

	*ret = (struct target){ 0 };
	if (end - at >= 3 && strcmp(at[0], "api") == 0)
		return find_object(at + 2, end, "", at[1], ret);
	if (end - at >= 4 && strcmp(at[0], "apis") == 0)
		return find_object(at + 3, end, at[1], at[2], ret);
	return false;
}

bool objects_take_protobuf(const struct api_path *path)
{
	struct target target;

	return target_find(path, &target) && object_protobuf_has(target.row->kind);
}

const char *target_namespace(const struct target *target)
{
	return target->name_space ? target->name_space : "";
}

struct reply_details target_details(const struct target *target, const char *name)
{
	return (struct reply_details){ .row = target->row, .name = name };
}

/* ---- the query ---- */

int target_selector_match(struct exchange *exchange, const struct target *target,
			  struct selector_match **ret)
{
	const char *labels = api_path_parameter(&exchange->path, "labelSelector");
	const char *fields = api_path_parameter(&exchange->path, "fieldSelector");
	struct failure why = { 0 };
	int r = selector_match_parse(target->row, labels, fields, ret, &why);

	if (r < 0)
		reply_unread(exchange, r, why.text);
	return r;
}

bool object_is_meant(struct agent *agent, const struct selector_match *selector_match,
		     const struct object *object)
{
	bool asks = selector_match && object->kind == KIND_POD &&
		    selector_match_has_field(selector_match, "status.phase");

	return selector_match_shown(selector_match, object,
				    asks ? agent_pod_phase(agent, object) : NULL);
}

bool query_flag(const struct exchange *exchange, const char *name)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	const char *value = api_path_parameter(&exchange->path, name);

	for (size_t i = 0; value && i < ARRAY_SIZE(yes); i++)
		if (strcmp(value, yes[i]) == 0)
			return true;
	return false;
}

void refuse_options(struct exchange *exchange, const char *options, const char *why)
{
	char message[512];

	(void) snprintf(message, sizeof(message), "%s.meta.k8s.io \"\" is invalid: %s", options,
			why);
	reply_refusal_about(exchange, API_INVALID, NULL, message);
}

int query_version(struct exchange *exchange, uint64_t *ret)
{
	const char *text = api_path_parameter(&exchange->path, "resourceVersion");

	*ret = 0;
	if (!text || *text == '\0')
		return 0;
	if (text[strspn(text, "0123456789")] != '\0' || strlen(text) > 19) {
		reply_refusal(exchange, API_BAD_REQUEST, "invalid resource version \"%.64s\"",
			      text);
		return -EBADMSG;
	}
	*ret = strtoull(text, NULL, 10);
	return 0;
}

void refuse_expired(struct exchange *exchange, const char *format, ...)
{
	char message[512];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	reply_refusal_about(exchange, API_EXPIRED, NULL, message);
}

/* Who asks for a trial in a word that we do not know must not get a write. */
int query_dry_run(struct exchange *exchange, const char *options)
{
	const struct api_path *path = &exchange->path;
	int found = 0;

	for (size_t i = 0; i < path->parameter_count; i++) {
		char why[256];

		if (strcmp(path->parameters[i].name, "dryRun") != 0)
			continue;
		found = 1;
		if (strcmp(path->parameters[i].value, "All") == 0)
			continue;
		(void) snprintf(why, sizeof(why),
				"dryRun: Unsupported value: \"%.64s\": supported values: \"All\"",
				path->parameters[i].value);
		refuse_options(exchange, options, why);
		return -EINVAL;
	}
	return found;
}

/* ---- which verb, and who may ---- */

static const struct {
	enum api_method method;
	bool collection, status; /* what it is for; status: also the subresource */
	const char *name;        /* as in rules of Kubernetes' RBAC */
	objects_verb *run;
} verbs[] = {
	{ METHOD_GET, false, true, "get", objects_get },
	{ METHOD_GET, true, false, "list", objects_list },
	{ METHOD_POST, true, false, "create", objects_create },
	{ METHOD_PUT, false, true, "update", objects_update },
	{ METHOD_PATCH, false, true, "patch", objects_patch },
	{ METHOD_DELETE, false, false, "delete", objects_delete },
	{ METHOD_DELETE, true, false, "deletecollection", objects_delete_collection },
};

static bool is_allowed(struct exchange *exchange, const struct target *target, const char *verb)
{
	const struct reply_details details = target_details(target, target->name);
	const struct access access = { .verb = verb,
				       .group = target->row->group,
				       .resource = target->row->plural,
				       .subresource = target->status ? "status" : NULL,
				       .name_space = target->name_space,
				       .name = target->name };

	return api_is_allowed(exchange, &access, &details);
}

/* The collection of a namespaced kind over all namespaces can only be read. */
static bool fits(const struct target *target, bool collection, bool status, objects_verb *run)
{
	if (collection != !target->name || (target->status && !status))
		return false;
	return run == objects_list || !collection || target->name_space || !target->row->namespaced;
}

bool objects_handle(struct exchange *exchange)
{
	struct target target;

	assert(exchange);
	if (!target_find(&exchange->path, &target))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		bool watch = verbs[i].run == objects_list && query_flag(exchange, "watch");

		if (verbs[i].method != exchange->method ||
		    !fits(&target, verbs[i].collection, verbs[i].status, verbs[i].run))
			continue;
		if (!is_allowed(exchange, &target, watch ? "watch" : verbs[i].name))
			return true;
		if (watch)
			objects_watch(exchange, &target);
		else
			verbs[i].run(exchange, &target);
		return true;
	}
	reply_refusal(exchange, API_METHOD_NOT_ALLOWED,
		      "the server does not allow this method on the requested resource");
	return true;
}
