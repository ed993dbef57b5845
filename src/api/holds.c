/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holds - who starts containers says which of a pod's live, asks, and takes back
 *
 * POST {"container", "pid" | "cgroup"}, GET, and DELETE of one. Which process a hold names is not
 * compared with who asks: a client with the right to write may also hold a pod without naming any,
 * and a hold takes nothing from anybody. Decides nothing: agent_hold_add() knows what can be held.
 */
#include "api/api.h"
#include "api/named_pod.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

enum { HOLD_BODY_DEPTH_MAX = 8 };

/* As the list shows it. */
static void reply_hold(struct exchange *exchange, const char *uid, const char *id)
{
	cleanup_json struct cJSON *tree = agent_view_holds(exchange->agent, uid);
	const struct cJSON *item = json_find(json_get(tree, "items"), "id", id);

	reply_tree(exchange, 201, item ? json_copy(item) : NULL);
}

/* Members of the body, and no others: a misspelt "pid" must not become a hold that never ends. */
static int read_body(const struct cJSON *body, struct hold_request *ret, struct failure *reterr)
{
	ret->container = "";
	ret->cgroup = "";
	JSON_FOREACH (item, body) {
		const char *key = json_key(item);

		if (strcmp(key, "container") == 0 && json_is_string(item))
			ret->container = json_string(item, "");
		else if (strcmp(key, "cgroup") == 0 && json_is_string(item) &&
			 *json_string(item, ""))
			ret->cgroup = json_string(item, "");
		else if (strcmp(key, "pid") == 0 && json_int64(item, &ret->pid) && ret->pid > 0)
			continue;
		else
			return failed_plain(reterr, -EINVAL,
					    "%s: not a member of a hold, or of another type: it "
					    "has \"container\" and \"pid\" or \"cgroup\"",
					    key);
	}
	if (!json_is_object(body) || *ret->container == '\0')
		return failed_plain(reterr, -EINVAL, "container: required");
	return 0;
}

static void add(struct exchange *exchange, const struct named_pod *pod, const struct cJSON *body)
{
	struct hold_request request = {
		.name_space = pod->name_space,
		.name = pod->name,
		.uid = pod->uid,
		.writer = (exchange->rights & RIGHTS_ALL) == RIGHTS_ALL ? NULL : exchange->user,
	};
	char id[HOLD_ID_BYTES];
	struct failure why = { .error = 0 };
	int r = read_body(body, &request, &why);

	if (r < 0) {
		reply_refusal(exchange, API_BAD_REQUEST, "%s", why.text);
		return;
	}
	r = agent_hold_add(exchange->agent, &request, id, &why);
	if (r < 0)
		named_pod_failed(exchange, pod, r, &why);
	else
		reply_hold(exchange, pod->uid, id);
}

void holds_post(struct exchange *exchange)
{
	static const struct json_limits limits = { .bytes = API_HOLD_BYTES_MAX,
						   .depth = HOLD_BODY_DEPTH_MAX };
	cleanup_json struct cJSON *body = NULL;
	struct failure why = { .error = 0 };
	struct named_pod pod;
	int r;

	if (!named_pod_find(exchange, 1, &pod)) {
		named_pod_refuse(exchange, &pod);
		return;
	}
	r = json_parse(exchange->body ?: "", exchange->body_length, &limits, &body, &why);
	if (r < 0)
		reply_unread(exchange, r, why.text);
	else
		add(exchange, &pod, body);
}

void holds_get(struct exchange *exchange)
{
	struct named_pod pod;

	if (named_pod_find(exchange, 1, &pod))
		views_reply_holds(exchange, agent_view_holds(exchange->agent, pod.uid));
	else
		named_pod_refuse(exchange, &pod);
}

void holds_get_all(struct exchange *exchange)
{
	views_reply_holds(exchange, agent_view_holds(exchange->agent, NULL));
}

void holds_delete(struct exchange *exchange)
{
	const struct api_path *path = &exchange->path;
	struct failure why = { .error = 0 };
	struct named_pod pod;
	int r;

	if (!named_pod_find(exchange, 2, &pod)) {
		named_pod_refuse(exchange, &pod);
		return;
	}
	r = agent_hold_remove(exchange->agent, pod.uid, path->segments[path->segment_count - 1],
			      &why);
	if (r < 0)
		named_pod_failed(exchange, &pod, r, &why);
	else
		named_pod_done(exchange, 200, &pod, "the hold was released");
}
