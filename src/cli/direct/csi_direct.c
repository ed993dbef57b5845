/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_direct - one RPC to a CSI driver's socket, from this process, with no daemon; see direct.h
 */
#include "cli/direct/direct.h"

#include "csi/csi_call.h"
#include "csi/csi_json.h"

#include <assert.h>
#include <string.h>

struct waiting {
	sd_event *event;
	enum csi_method method;
	struct cJSON *answer;
};

static void on_done(void *userdata, const struct csi_reply *reply)
{
	struct waiting *waiting = userdata;

	waiting->answer = csi_answer(waiting->method, reply);
	(void) sd_event_exit(waiting->event, 0);
}

static int read_message(const struct csi_direct *direct, enum csi_method method,
			ProtobufCMessage **ret, struct failure *reterr)
{
	static const struct json_limits limits = { .bytes = GRPC_MESSAGE_BYTES_MAX, .depth = 32 };
	cleanup_json struct cJSON *tree = NULL;
	int r = 0;

	if (*direct->text)
		r = json_parse(direct->text, strlen(direct->text), &limits, &tree, reterr);
	return r < 0 ? r : csi_json_read(tree, csi_method_row(method)->request, ret, reterr);
}

static int call_and_wait(const struct csi_direct *direct, struct waiting *waiting,
			 struct failure *reterr)
{
	struct csi_call_request request = {
		.driver = direct->endpoint,
		.socket_path = direct->endpoint,
		.method = waiting->method,
		.timeout_usec = direct->timeout_usec,
		.done = on_done,
		.userdata = waiting,
	};
	ProtobufCMessage *message = NULL;
	struct csi_call *call;
	int r = read_message(direct, waiting->method, &message, reterr);

	if (r < 0)
		return r;
	request.message = message;
	r = csi_call_start(waiting->event, NULL, &request, &call, reterr);
	csi_message_free(message);
	if (r < 0)
		return r;
	r = sd_event_loop(waiting->event);
	return r < 0 ? failed(reterr, r, "cannot wait for the driver") : 0;
}

int csi_direct_call(const struct csi_direct *direct, struct cJSON **ret, struct failure *reterr)
{
	struct waiting waiting = { 0 };
	int r;

	assert(direct && direct->endpoint && direct->method && direct->text && ret);

	if (csi_method_by_name(direct->method, &waiting.method) < 0)
		return failed_plain(reterr, -EINVAL,
				    "'%.80s' is not a method of CSI, such as NodeGetInfo",
				    direct->method);
	r = sd_event_new(&waiting.event);
	if (r < 0)
		return failed(reterr, r, "cannot wait for the driver");
	r = call_and_wait(direct, &waiting, reterr);
	(void) sd_event_unref(waiting.event);
	if (r == 0 && !waiting.answer)
		r = failed(reterr, -ENOMEM, "cannot show the answer");
	if (r == 0)
		*ret = waiting.answer;
	return r;
}
