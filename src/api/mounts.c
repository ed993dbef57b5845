/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts - the mounts of a pod's containers, in a runtime's format
 *
 * Waits for the volumes as a mount does where a time is given, has the sub-paths bound, and replies
 * with the plan in one of the formats of container/format.h. A POST and not a GET, because it
 * binds.
 */
#include "api/named_pod.h"

#include "api/view_table.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "container/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { CONTAINER_NAME_BYTES = 128, TIMEOUT_SECONDS_MAX = 30 * 24 * 3600 };

struct mounts_call {
	struct exchange *exchange;
	const struct container_format *format;
	struct named_pod pod;
	char container[CONTAINER_NAME_BYTES]; /* "" all */
	struct id_range user_namespace;       /* count 0: none was named */
	bool waits;                           /* false: a pod that is not mounted is a conflict */
	/* What runs: one of the two. */
	struct mount_wait *wait;
	struct container_mounts_call *plan;
};

static void call_abandon(void *work)
{
	struct mounts_call *call = work;

	if (call->wait)
		mount_wait_cancel(call->wait);
	if (call->plan)
		container_mounts_cancel(call->plan);
	free(call);
}

/* The question is refused for what it asks: a look-up for the pod failed, or the runtime's format
 * cannot express it. */
static void refuse(struct mounts_call *call, int error, const struct failure *why)
{
	if (error == -EIO || error == -EOPNOTSUPP)
		error = -EINVAL;
	named_pod_failed(call->exchange, &call->pod, error, why);
}

/* ---- the reply ---- */

static const struct view_column mount_columns[] = {
	{ "Container", VIEW_ALWAYS, "container", NULL, SCHEMA_STRING, NULL },
	{ "Container Path", VIEW_ALWAYS, "containerPath", NULL, SCHEMA_STRING, NULL },
	{ "Volume", VIEW_ALWAYS, "volume", NULL, SCHEMA_STRING, NULL },
	{ "Access", VIEW_ALWAYS, "access", NULL, SCHEMA_STRING, NULL },
	{ "Propagation", VIEW_ALWAYS, "propagation", NULL, SCHEMA_STRING, NULL },
	{ "Host Path", VIEW_ALWAYS, "hostPath", NULL, SCHEMA_STRING, NULL },
	{ "Sub Path", VIEW_WIDE, "subPath", NULL, SCHEMA_STRING, NULL },
	{ "Options", VIEW_WIDE, "options", NULL, SCHEMA_STRING, NULL },
	{ "Type", VIEW_WIDE, "type", NULL, SCHEMA_STRING, NULL },
};

static const struct view_columns columns = { mount_columns, ARRAY_SIZE(mount_columns), NULL };

static void reply_table(struct exchange *exchange, const struct container_plan *plan)
{
	cleanup_json struct cJSON *tree = table_format_tree(plan, NULL);

	reply_tree(exchange, 200, tree ? view_table(tree, &columns, realtime_usec()) : NULL);
}

static void reply_text(struct mounts_call *call, const struct container_plan *plan)
{
	struct failure why;
	char *text = NULL;
	int r = container_format_print(call->format, plan, &text, &why);

	if (r < 0)
		refuse(call, r, &why);
	else
		reply_bytes(call->exchange, 200, "text/plain", text, strlen(text));
}

static void reply_plan(struct mounts_call *call, const struct container_plan *plan)
{
	struct exchange *exchange = call->exchange;
	const struct planned_container *one = NULL;
	struct failure why;
	int r = container_format_choose(call->format, plan, &one, &why);

	if (r == -EOPNOTSUPP)
		refuse(call, r, &why);
	else if (r < 0)
		reply_refusal(exchange, API_BAD_REQUEST, "container: %s", why.text);
	else if (strcmp(call->format->name, "table") == 0)
		reply_table(exchange, plan);
	else if (call->format->words)
		reply_text(call, plan);
	else
		reply_tree(exchange, 200, call->format->tree(plan, one));
}

static void on_planned(void *userdata, int error, const struct container_plan *plan,
		       const struct failure *why)
{
	struct mounts_call *call = userdata;

	if (error < 0) {
		refuse(call, error, why);
	} else {
		struct container_plan known = *plan;

		known.user_namespace = call->user_namespace;
		reply_plan(call, &known);
	}
	free(call);
}

/* ---- one step after the other ---- */

/* Replies and frees the call, or leaves it to on_planned(). */
static void begin_plan(struct mounts_call *call)
{
	const struct container_mounts_request request = {
		.name_space = call->pod.name_space,
		.name = call->pod.name,
		.container = *call->container ? call->container : NULL,
		.done = on_planned,
		.userdata = call,
	};
	struct exchange *exchange = call->exchange;
	int r = agent_plan_containers(exchange->agent, &request, &call->plan);
	struct failure why = { .error = 0 };

	if (r == 0)
		return;
	exchange->work = NULL;
	exchange->abandon = NULL;
	if (r == -ENOENT && *call->container)
		(void) failed_plain(&why, r, "pod '%s/%s' has no container '%s'",
				    call->pod.name_space, call->pod.name, call->container);
	refuse(call, r, &why);
	free(call);
}

/* Without a time to wait, "not yet" is what is wrong with the question and no time-out. */
static void on_mounted(void *userdata, int error, const struct failure *why)
{
	struct mounts_call *call = userdata;

	call->wait = NULL;
	if (error == 0) {
		begin_plan(call);
		return;
	}
	refuse(call, error == -ETIMEDOUT && !call->waits ? -EAGAIN : error, why);
	free(call);
}

static void begin_wait(struct mounts_call *call, uint64_t timeout_usec)
{
	const struct mount_wait_request request = {
		.what = WAIT_MOUNTED,
		.name_space = call->pod.name_space,
		.name = call->pod.name,
		.uid = call->pod.uid,
		.timeout_usec = timeout_usec,
		.done = on_mounted,
		.userdata = call,
	};
	struct exchange *exchange = call->exchange;
	int r = agent_wait_pod(exchange->agent, &request, &call->wait);

	if (r == 0) {
		exchange_wait(exchange, call, call_abandon);
		return;
	}
	refuse(call, r, NULL);
	free(call);
}

/* ---- the question ---- */

/* timeoutSeconds=N or timeout=1m30s; neither does not wait. Replies when it is none. */
static bool read_timeout(struct exchange *exchange, uint64_t *ret_usec)
{
	const char *seconds = api_path_parameter(&exchange->path, "timeoutSeconds");
	char *end = NULL;
	long number;

	*ret_usec = 0;
	if (seconds) {
		number = strtol(seconds, &end, 10);
		if (*seconds >= '0' && *seconds <= '9' && *end == '\0' &&
		    number <= TIMEOUT_SECONDS_MAX) {
			*ret_usec = (uint64_t) number * USEC_PER_SEC;
			return true;
		}
		reply_refusal(exchange, API_BAD_REQUEST,
			      "timeoutSeconds: '%s' is not a number of seconds of at most 30 days",
			      seconds);
		return false;
	}
	return exchange_timeout(exchange, ret_usec);
}

static bool read_number(const char *text, char end, uint64_t max, const char **ret_end,
			uint64_t *ret)
{
	char *stopped = NULL;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &stopped, 10);
	*ret_end = stopped + 1;
	return errno == 0 && *stopped == end && *ret <= max;
}

/* userNamespace=FIRST:COUNT, host ids of the pod's sandbox. Replies when it is none. */
static bool read_user_namespace(struct exchange *exchange, struct id_range *ret)
{
	const char *text = api_path_parameter(&exchange->path, "userNamespace"), *rest = NULL;
	uint64_t first = 0, count = 0;

	*ret = (struct id_range){ 0 };
	if (!text)
		return true;
	/* The last id of all stands for none. */
	if (read_number(text, ':', UINT32_MAX - 1, &rest, &first) &&
	    read_number(rest, '\0', UINT32_MAX - first, &rest, &count) && count > 0) {
		*ret = (struct id_range){ (uint32_t) first, (uint32_t) count };
		return true;
	}
	reply_refusal(exchange, API_BAD_REQUEST,
		      "userNamespace: '%s' is not a range of host ids: write FIRST:COUNT", text);
	return false;
}

/* By name; else by the Accept header. Replies when there is none. */
static const struct container_format *read_format(struct exchange *exchange)
{
	const char *name = api_path_parameter(&exchange->path, "format");
	const struct container_format *format;
	char names[128] = "";
	size_t used = 0;

	if (!name)
		name = exchange->form == FORM_TABLE ? "table" : "json";
	format = container_format_find(name);
	if (format)
		return format;
	for (format = container_formats; format->name && used < sizeof(names); format++)
		used += (size_t) snprintf(names + used, sizeof(names) - used, "%s%s",
					  used > 0 ? ", " : "", format->name);
	reply_refusal(exchange, API_BAD_REQUEST, "format: '%s' is none of %s", name, names);
	return NULL;
}

void mounts_post(struct exchange *exchange)
{
	const char *container = api_path_parameter(&exchange->path, "container");
	const struct container_format *format = read_format(exchange);
	struct mounts_call *call;
	struct named_pod pod;
	struct id_range user_namespace;
	uint64_t timeout_usec;

	if (!format || !read_timeout(exchange, &timeout_usec) ||
	    !read_user_namespace(exchange, &user_namespace))
		return;
	if (!named_pod_find(exchange, 1, &pod) || !pod.is_stored) {
		named_pod_refuse(exchange, &pod);
		return;
	}
	if (timeout_usec > 0 && !exchange_may_wait(exchange))
		return;
	call = exchange_new_work(exchange, sizeof(*call));
	if (!call)
		return;
	call->exchange = exchange;
	call->format = format;
	call->pod = pod;
	call->user_namespace = user_namespace;
	call->waits = timeout_usec > 0;
	(void) snprintf(call->container, sizeof(call->container), "%s", container ?: "");
	begin_wait(call, timeout_usec);
}
