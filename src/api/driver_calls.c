/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_calls - any RPC to a CSI driver, for root: a body of JSON goes, a tree of JSON comes
 *
 * A driver's error is an answer like any other: 200, with its code inside. Refused is what never
 * became a call.
 */
#include "agent.h"
#include "api/exchange.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>

enum {
	CALL_BODY_DEPTH_MAX = 32,
	CALL_DEFAULT_USEC = 30 * 1000 * 1000,
	CALL_MINUTES_MAX = 10,
};

static void abandon(void *call)
{
	driver_call_cancel(call);
}

static void on_answer(void *exchange, struct cJSON *tree)
{
	reply_tree(exchange, 200, tree);
}

/* False after a reply: it is no duration. */
static bool read_timeout(struct exchange *exchange, uint64_t *ret_usec)
{
	const char *text = api_path_parameter(&exchange->path, "timeout");

	*ret_usec = CALL_DEFAULT_USEC;
	if (!text || (duration_parse(text, ret_usec) == 0 && *ret_usec > 0 &&
		      *ret_usec <= CALL_MINUTES_MAX * 60 * USEC_PER_SEC))
		return true;
	reply_refusal(exchange, API_BAD_REQUEST,
		      "timeout: '%s' is not a duration of at most %d minutes: write 30s or 2m",
		      text, CALL_MINUTES_MAX);
	return false;
}

/* An empty body is the empty message. False after a reply: it is no JSON. */
static bool read_body(struct exchange *exchange, struct cJSON **ret)
{
	static const struct json_limits limits = { .bytes = API_DRIVER_CALL_BYTES_MAX,
						   .depth = CALL_BODY_DEPTH_MAX,
						   .nodes = OBJECT_NODES_MAX };
	struct failure why = { .error = 0 };
	int r = 0;

	if (exchange->body_length > 0)
		r = json_parse(exchange->body, exchange->body_length, &limits, ret, &why);
	if (r < 0)
		reply_unread(exchange, r, why.text);
	return r >= 0;
}

static void refuse(struct exchange *exchange, int error, const struct failure *why)
{
	static const struct {
		int error;
		enum api_refusal refusal;
	} rows[] = {
		{ -EINVAL, API_BAD_REQUEST },
		{ -E2BIG, API_TOO_LARGE },
		{ -ENOTCONN, API_NOT_FOUND },
		{ -ENOBUFS, API_TOO_MANY_REQUESTS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].error == error) {
			reply_refusal(exchange, rows[i].refusal, "%s", why->text);
			return;
		}
	}
	reply_refusal(exchange, API_INTERNAL_ERROR, "%s", why->text);
}

static void start_call(struct exchange *exchange, const struct cJSON *body, uint64_t timeout_usec)
{
	const char *method = api_path_parameter(&exchange->path, "method");
	const struct driver_call_request request = {
		.driver = exchange->path.segments[exchange->path.segment_count - 2],
		.method = method ? method : "",
		.message = body,
		.timeout_usec = timeout_usec,
		.done = on_answer,
		.userdata = exchange,
	};
	struct driver_call *call;
	struct failure why = { .error = 0 };
	int r = agent_call_driver(exchange->agent, &request, &call, &why);

	if (r < 0)
		refuse(exchange, r, &why);
	else
		exchange_wait(exchange, call, abandon);
}

void driver_calls_post(struct exchange *exchange)
{
	cleanup_json_secret struct cJSON *body = NULL;
	uint64_t timeout_usec;

	assert(exchange);
	exchange->is_secret = true;
	if (!exchange_may_wait(exchange))
		return;
	if (read_timeout(exchange, &timeout_usec) && read_body(exchange, &body))
		start_call(exchange, body, timeout_usec);
}
