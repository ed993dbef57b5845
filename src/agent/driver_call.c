/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_call - any RPC to a registered CSI driver, for people who debug it
 *
 * Nothing that podvold knows changes by it: who unstages a volume by hand has unstaged it behind
 * podvold's back.
 */
#include "agent_driver_call.h"

#include "agent/parts.h"

#include "csi/csi_call.h"
#include "csi/csi_drivers.h"
#include "csi/csi_json.h"

#include <assert.h>
#include <string.h>

struct agent_driver_call {
	struct csi_call *call;
	enum csi_method method;
	agent_driver_call_fn *done;
	void *userdata;
};

static void on_done(void *userdata, const struct csi_reply *reply)
{
	struct agent_driver_call *call = userdata;
	agent_driver_call_fn *done = call->done;
	void *to = call->userdata;
	struct cJSON *tree = csi_answer(call->method, reply);

	free(call);
	done(to, tree);
}

static int start(struct agent *agent, const struct agent_driver_request *request,
		 struct agent_driver_call *call, struct failure *reterr)
{
	struct csi_call_request csi = {
		.driver = request->driver,
		.method = call->method,
		.timeout_usec = request->timeout_usec,
		.done = on_done,
		.userdata = call,
	};
	ProtobufCMessage *message = NULL;
	int r = csi_json_read(request->message, csi_method_row(call->method)->request, &message,
			      reterr);

	if (r < 0)
		return r;
	csi.message = message;
	r = csi_drivers_call(agent->host.csi_drivers, &csi, &call->call, reterr);
	csi_message_free(message);
	return r;
}

int agent_call_driver(struct agent *agent, const struct agent_driver_request *request,
		      struct agent_driver_call **ret, struct failure *reterr)
{
	struct agent_driver_call *call;
	enum csi_method method;
	int r;

	assert(agent && request && request->done && request->timeout_usec > 0 && ret);

	if (csi_method_by_name(request->method, &method) < 0)
		return failed_plain(reterr, -EINVAL,
				    "'%.80s' is not a method of CSI, such as "
				    "NodeGetInfo",
				    request->method);
	if (!agent->host.csi_drivers)
		return failed_plain(reterr, -ENOTCONN, "no CSI drivers are served");
	call = calloc(1, sizeof(*call));
	if (!call)
		return failed(reterr, -ENOMEM, "cannot call the driver");
	*call = (struct agent_driver_call){ .method = method,
					    .done = request->done,
					    .userdata = request->userdata };
	r = start(agent, request, call, reterr);
	if (r < 0)
		free(call);
	else
		*ret = call;
	return r;
}

void agent_driver_call_leave(struct agent_driver_call *call)
{
	assert(call);
	(void) csi_call_cancel(call->call);
	free(call);
}
