/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_call - one RPC to a CSI driver, typed by protobuf-c's generated structs
 *
 * Those who ask a driver the same within one iteration of the loop share one RPC: nothing is sent
 * before the loop turns, so its answer is as new as one to an RPC of their own. Only what changes
 * nothing and has no fields is shared.
 */
#include "csi/csi_call.h"

#include "base/cleanup.h"
#include "csi/csi_json.h"
#include "csi/csi_log.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

/* An RPC under way, and the calls that it answers. */
struct exchange {
	struct grpc_call *grpc; /* NULL: it ended, and is being reported */
	enum csi_method method;
	struct csi_call *calls; /* in the order in which they came */
	char *socket_path;
	uint64_t timeout_usec, iteration;
	struct exchange *next_fresh;
};

struct csi_call {
	struct exchange *exchange;
	struct csi_log *log; /* NULL: calls are not logged */
	struct csi_log_record *record;
	csi_done_fn *done;
	void *userdata;
	struct csi_call *prev, *next;
};

/* What may be shared and was begun in this iteration of this loop. The loop thread's. */
static struct {
	const sd_event *event;
	uint64_t iteration;
	struct exchange *exchanges;
} fresh;

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

/* ---- exchanges ---- */

/* One of an earlier iteration left the list with the list. */
static void leave_fresh(const struct exchange *exchange)
{
	struct exchange **at = &fresh.exchanges;

	if (exchange->iteration != fresh.iteration)
		return;
	while (*at && *at != exchange)
		at = &(*at)->next_fresh;
	if (*at)
		*at = exchange->next_fresh;
}

static struct exchange *exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return NULL;
	leave_fresh(exchange);
	(void) grpc_cancel(exchange->grpc);
	free(exchange->socket_path);
	free(exchange);
	return NULL;
}

static void cleanup_exchange(struct exchange **exchange)
{
	(void) exchange_free(*exchange);
}

/* Whatever done() does to the calls that are left is fine. */
static void report(struct exchange *exchange, const struct csi_reply *reply)
{
	struct csi_call *call;

	while ((call = exchange->calls)) {
		DL_DELETE(exchange->calls, call);
		csi_log_end(call->log, call->record, &reply->status);
		call->done(call->userdata, reply);
		free(call);
	}
}

static void on_done(void *userdata, const struct grpc_result *result)
{
	cleanup(cleanup_exchange) struct exchange *exchange = userdata;
	const ProtobufCMessageDescriptor *type = csi_method_row(exchange->method)->reply;
	ProtobufCMessage *message = NULL;
	struct csi_reply reply;

	exchange->grpc = NULL;
	grpc_result_copy(&reply.status, result);
	reply.message = NULL;
	reply.status.reply = NULL;
	reply.status.reply_length = 0;
	if (result->code == GRPC_OK) {
		message =
			protobuf_c_message_unpack(type, NULL, result->reply_length, result->reply);
		reply.message = message && csi_message_is_text(message) ? message : NULL;
	}
	if (result->code == GRPC_OK && !reply.message) {
		reply.status.code = GRPC_INTERNAL;
		reply.status.from_server = false;
		(void) snprintf(reply.status.text, sizeof(reply.status.text),
				"the reply is not a %s", type->name);
	}
	report(exchange, &reply);
	csi_message_free(message);
}

/* Return: as grpc_call(). */
static int exchange_new(sd_event *event, const struct csi_call_request *request,
			struct exchange **ret, struct failure *reterr)
{
	cleanup(cleanup_exchange) struct exchange *exchange = NULL;
	cleanup(cleanup_packed) struct packed packed = { 0 };
	int r = pack(request->message, &packed, reterr);

	if (r < 0)
		return r;
	exchange = calloc(1, sizeof(*exchange));
	if (exchange)
		exchange->socket_path = strdup(request->socket_path);
	if (!exchange || !exchange->socket_path)
		return failed(reterr, -ENOMEM, "cannot begin a call");
	exchange->method = request->method;
	exchange->timeout_usec = request->timeout_usec;

	const struct grpc_request grpc = {
		.socket_path = request->socket_path,
		.method = csi_method_row(request->method)->path,
		.message = packed.bytes,
		.message_length = packed.length,
		.timeout_usec = request->timeout_usec,
		.done = on_done,
		.userdata = exchange,
	};
	r = grpc_call(event, &grpc, &exchange->grpc, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(exchange);
	return 0;
}

static bool may_share(const struct csi_call_request *request)
{
	return csi_method_row(request->method)->is_read_only_call &&
	       protobuf_c_message_get_packed_size(request->message) == 0;
}

static struct exchange *find_fresh(const struct csi_call_request *request)
{
	struct exchange *exchange = fresh.exchanges;

	while (exchange && (exchange->method != request->method ||
			    exchange->timeout_usec != request->timeout_usec ||
			    strcmp(exchange->socket_path, request->socket_path) != 0))
		exchange = exchange->next_fresh;
	return exchange;
}

/* Return: as exchange_new(). */
static int exchange_share(sd_event *event, const struct csi_call_request *request,
			  struct exchange **ret, struct failure *reterr)
{
	uint64_t iteration = 0;
	int r;

	(void) sd_event_get_iteration(event, &iteration);
	if (fresh.event != event || fresh.iteration != iteration)
		fresh.exchanges = NULL;
	fresh.event = event;
	fresh.iteration = iteration;
	*ret = find_fresh(request);
	if (*ret)
		return 0;
	r = exchange_new(event, request, ret, reterr);
	if (r < 0)
		return r;
	(*ret)->iteration = iteration;
	(*ret)->next_fresh = fresh.exchanges;
	fresh.exchanges = *ret;
	return 0;
}

/* ---- calls ---- */

int csi_call_start(sd_event *event, struct csi_log *log, const struct csi_call_request *request,
		   struct csi_call **ret, struct failure *reterr)
{
	cleanup_free struct csi_call *call = NULL;
	struct exchange *exchange;
	int r;

	assert(event && request->driver && request->message && request->done && ret);
	assert(request->message->descriptor == csi_method_row(request->method)->request);

	call = calloc(1, sizeof(*call));
	if (!call)
		return failed(reterr, -ENOMEM, "cannot begin a call");
	r = may_share(request) ? exchange_share(event, request, &exchange, reterr)
			       : exchange_new(event, request, &exchange, reterr);
	if (r < 0)
		return r;
	*call = (struct csi_call){
		.exchange = exchange,
		.log = log,
		.record = csi_log_begin(log, request->driver, request->about, request->method),
		.done = request->done,
		.userdata = request->userdata,
	};
	DL_APPEND(exchange->calls, call);
	*ret = TAKE_PTR(call);
	return 0;
}

/* The last of those who asked takes the RPC along. */
struct csi_call *csi_call_cancel(struct csi_call *call)
{
	const struct grpc_result left = { .code = GRPC_CANCELLED, .text = "cancelled" };
	struct exchange *exchange;

	if (!call)
		return NULL;
	exchange = call->exchange;
	DL_DELETE(exchange->calls, call);
	if (!exchange->calls && exchange->grpc)
		(void) exchange_free(exchange);
	csi_log_end(call->log, call->record, &left);
	free(call);
	return NULL;
}
