/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_call - one RPC to a CSI driver, typed by protobuf-c's generated structs
 */
#include "csi/csi_call.h"

#include "base/cleanup.h"
#include "csi/csi_json.h"
#include "csi/csi_log.h"

#include <assert.h>
#include <string.h>

struct csi_call {
	struct grpc_call *grpc;
	enum csi_method method;
	struct csi_log *log; /* NULL: calls are not logged */
	struct csi_log_record *record;
	csi_done_fn *done;
	void *userdata;
};

enum csi_class csi_classify(const struct grpc_result *result)
{
	assert(result);

	if (result->code == GRPC_OK)
		return CSI_DONE;
	if (!result->from_server)
		return CSI_UNCERTAIN;
	switch (result->code) {
	case GRPC_CANCELLED:
	case GRPC_DEADLINE_EXCEEDED:
	case GRPC_RESOURCE_EXHAUSTED:
	case GRPC_ABORTED:
	case GRPC_UNAVAILABLE:
		return CSI_UNCERTAIN;
	default:
		return CSI_FINAL;
	}
}

/* Packed bytes may hold secrets, and so may what is left of them on the heap. */
struct packed {
	uint8_t *bytes;
	size_t length;
};

static void cleanup_packed(struct packed *packed)
{
	if (packed->bytes)
		explicit_bzero(packed->bytes, packed->length);
	free(packed->bytes);
}

static int pack(const ProtobufCMessage *message, struct packed *ret, struct failure *reterr)
{
	ret->length = protobuf_c_message_get_packed_size(message);
	if (ret->length > GRPC_MESSAGE_BYTES_MAX)
		return failed_plain(reterr, -E2BIG, "the request has %zu bytes, more than %d",
				    ret->length, GRPC_MESSAGE_BYTES_MAX);
	ret->bytes = malloc(ret->length + 1);
	if (!ret->bytes)
		return failed(reterr, -ENOMEM, "cannot pack a request");
	(void) protobuf_c_message_pack(message, ret->bytes);
	return 0;
}

static void on_done(void *userdata, const struct grpc_result *result)
{
	cleanup_free struct csi_call *call = userdata;
	struct csi_reply reply = { .status = *result };
	ProtobufCMessage *message = NULL;

	reply.status.reply = NULL;
	reply.status.reply_length = 0;
	if (result->code == GRPC_OK) {
		message = protobuf_c_message_unpack(csi_method_row(call->method)->reply, NULL,
						    result->reply_length, result->reply);
		reply.message = message && csi_message_is_text(message) ? message : NULL;
	}
	if (result->code == GRPC_OK && !reply.message) {
		reply.status.code = GRPC_INTERNAL;
		reply.status.from_server = false;
		(void) snprintf(reply.status.text, sizeof(reply.status.text),
				"the reply is not a %s", csi_method_row(call->method)->reply->name);
	}
	csi_log_end(call->log, call->record, &reply.status);
	call->done(call->userdata, &reply);
	csi_message_free(message);
}

int csi_call_start(sd_event *event, struct csi_log *log, const struct csi_call_request *request,
		   struct csi_call **ret, struct failure *reterr)
{
	cleanup_free struct csi_call *call = NULL;
	cleanup(cleanup_packed) struct packed packed = { 0 };
	const struct csi_method_row *row = csi_method_row(request->method);
	int r;

	assert(event && request->driver && request->message && request->done && ret);
	assert(request->message->descriptor == row->request);

	r = pack(request->message, &packed, reterr);
	if (r < 0)
		return r;
	call = calloc(1, sizeof(*call));
	if (!call)
		return failed(reterr, -ENOMEM, "cannot begin a call");
	*call = (struct csi_call){
		.method = request->method,
		.log = log,
		.done = request->done,
		.userdata = request->userdata,
	};

	const struct grpc_request grpc = {
		.socket_path = request->socket_path,
		.method = row->path,
		.message = packed.bytes,
		.message_length = packed.length,
		.timeout_usec = request->timeout_usec,
		.done = on_done,
		.userdata = call,
	};
	r = grpc_call(event, &grpc, &call->grpc, reterr);
	if (r < 0)
		return r;
	call->record = csi_log_begin(log, request->driver, request->about, request->method);
	*ret = TAKE_PTR(call);
	return 0;
}

struct csi_call *csi_call_cancel(struct csi_call *call)
{
	const struct grpc_result left = { .code = GRPC_CANCELLED, .text = "cancelled" };

	if (!call)
		return NULL;
	(void) grpc_cancel(call->grpc);
	csi_log_end(call->log, call->record, &left);
	free(call);
	return NULL;
}
