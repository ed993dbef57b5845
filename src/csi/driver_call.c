/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_call - any RPC to a registered CSI driver, for people who debug it
 *
 * Nothing that podvold knows changes by it: who unstages a volume by hand has unstaged it behind
 * podvold's back.
 */
#include "csi/driver_call.h"

#include "csi/csi_call.h"
#include "csi/csi_drivers.h"
#include "csi/csi_json.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct driver_call {
	struct csi_call *call;
	enum csi_method method;
	driver_call_fn *done;
	void *userdata;
};

static void on_done(void *userdata, const struct csi_reply *reply)
{
	struct driver_call *call = userdata;
	driver_call_fn *done = call->done;
	void *to = call->userdata;
	struct cJSON *tree = csi_answer(call->method, reply);

	free(call);
	done(to, tree);
}

static int start(struct csi_drivers *drivers, const struct driver_call_request *request,
		 struct driver_call *call, struct failure *reterr)
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
	r = csi_drivers_call(drivers, &csi, &call->call, reterr);
	csi_message_free(message);
	return r;
}

int driver_call_start(struct csi_drivers *drivers, const struct driver_call_request *request,
		      struct driver_call **ret, struct failure *reterr)
{
	struct driver_call *call;
	enum csi_method method;
	int r;

	assert(request && request->done && request->timeout_usec > 0 && ret);

	if (csi_method_by_name(request->method, &method) < 0)
		return failed_plain(reterr, -EINVAL,
				    "'%.80s' is not a method of CSI, such as "
				    "NodeGetInfo",
				    request->method);
	if (!drivers)
		return failed_plain(reterr, -ENOTCONN, "no CSI drivers are served");
	call = calloc(1, sizeof(*call));
	if (!call)
		return failed(reterr, -ENOMEM, "cannot call the driver");
	*call = (struct driver_call){ .method = method,
				      .done = request->done,
				      .userdata = request->userdata };
	r = start(drivers, request, call, reterr);
	if (r < 0)
		free(call);
	else
		*ret = call;
	return r;
}

void driver_call_cancel(struct driver_call *call)
{
	assert(call);
	(void) csi_call_cancel(call->call);
	free(call);
}
