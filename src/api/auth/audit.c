/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit - which requests have a line in the log, and what is in it; see audit.h
 *
 * Refusals of one peer beyond a number are counted and summed up: see refusals.h.
 */
#include "api/auth/audit.h"

#include "api/auth/refusals.h"
#include "api/docker/docker_volume.h"
#include "api/request.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 512, OBJECT_BYTES = 640 };

static void audit_log(const struct audit *audit)
{
	char status[12];
	const struct log_field fields[] = {
		{ "API_USER", audit->user },     { "API_CLIENT", audit->client },
		{ "API_VERB", audit->verb },     { "API_PATH", audit->path },
		{ "API_OBJECT", audit->object }, { "API_STATUS", audit->status ? status : NULL },
		{ "API_REASON", audit->reason }, { "API_RESULT", audit->result },
	};
	bool is_refused = strcmp(audit->result, "refused") == 0;
	bool is_known = audit->user;

	static_assert(ARRAY_SIZE(fields) <= LOG_FIELDS_MAX, "as many fields as a line may have");
	(void) snprintf(status, sizeof(status), "%d", audit->status);
	log_fields(is_refused ? LOG_NOTICE : LOG_INFO, fields, ARRAY_SIZE(fields),
		   "api: %s %s%s%s%s %s %s%s%s at %s: %s%s%s%s%s", audit->verb, audit->path,
		   audit->object ? " '" : "", audit->object ? audit->object : "",
		   audit->object ? "'" : "", is_known ? "by" : "with", is_known ? "'" : "",
		   is_known ? audit->user : audit->credential, is_known ? "'" : "", audit->client,
		   audit->result, audit->status ? ", " : "", audit->status ? status : "",
		   audit->reason ? " " : "", audit->reason ? audit->reason : "");
}

void audit_log_silence(const char *client)
{
	const struct log_field fields[] = { { "API_CLIENT", client }, { "API_RESULT", "refused" } };

	log_fields(LOG_NOTICE, fields, ARRAY_SIZE(fields),
		   "api: connection closed at %s: no request came in time", client);
}

void audit_copy(const char *name, char ret[AUDIT_NAME_BYTES])
{
	(void) snprintf(ret, AUDIT_NAME_BYTES, "%s", name ? name : "unknown");
}

void audit_log_object(const char *user, const char *client, const struct object *object,
		      const char *result)
{
	const struct object_meta *meta = &object->meta;
	char name[OBJECT_BYTES];

	(void) snprintf(name, sizeof(name), "%s %s%s%s", kind_row(object->kind)->name,
			meta->name_space, *meta->name_space ? "/" : "", meta->name);
	audit_log(&(struct audit){ .user = user,
				   .client = client,
				   .verb = "apply",
				   .path = "/podvol/v1/apply",
				   .object = name,
				   .result = result });
}

/* ---- requests ---- */

/* With what changes the meaning of a write, or chooses among objects. */
static void print_path(const struct api_path *path, char ret[PATH_BYTES])
{
	static const char *const recorded[] = { "dryRun", "labelSelector", "fieldSelector" };
	char separator = '?';
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < path->segment_count && used < PATH_BYTES; i++)
		used += (size_t) snprintf(ret + used, PATH_BYTES - used, "/%s", path->segments[i]);
	for (size_t i = 0; i < ARRAY_SIZE(recorded) && used < PATH_BYTES; i++) {
		const char *value = api_path_parameter(path, recorded[i]);

		if (!value)
			continue;
		used += (size_t) snprintf(ret + used, PATH_BYTES - used, "%c%s=%s", separator,
					  recorded[i], value);
		separator = '&';
	}
}

static bool is_refused(const struct request *request)
{
	int status = request->exchange.status;

	return request->is_throttled || status == 401 || status == 403;
}

static bool writes(const struct request *request)
{
	const struct exchange *exchange = &request->exchange;

	return request->connection->listener->kind == API_DOCKER
		       ? docker_volume_writes(&exchange->path)
		       : api_writes(exchange->method, &exchange->path);
}

static void log_request(struct request *request, const char *result)
{
	const struct exchange *exchange = &request->exchange;
	char path[PATH_BYTES];

	print_path(&exchange->path, path);
	audit_log(&(struct audit){
		.user = request->credential ? NULL : exchange->user,
		.credential = request->credential,
		.client = request->connection->peer,
		.verb = exchange->record.verb ? exchange->record.verb
					      : api_method_name(exchange->method),
		.path = *path ? path : "/",
		.object = *exchange->record.object ? exchange->record.object : NULL,
		.status = exchange->status,
		.reason = exchange->record.reason,
		.result = result });
}

void audit_answer(struct request *request)
{
	const struct exchange *exchange = &request->exchange;
	struct api *api = request->api;

	if (request->audited)
		return;
	request->audited = true;
	if (is_refused(request)) {
		if (refusals_log(api->refusals, &request->connection->unprivileged.peer,
				 monotonic_usec()))
			log_request(request, "refused");
	} else if (exchange->rights != 0 && (writes(request) || exchange->record.needs_secrets)) {
		log_request(request, exchange->status < 400 ? "done" : "failed");
	}
}

void audit_end(struct request *request)
{
	if (request->audited || !request->ran || !writes(request))
		return;
	request->audited = true;
	log_request(request, "unknown");
}
