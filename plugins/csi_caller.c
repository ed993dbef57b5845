/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_caller - the calls to one driver for one step; see csi_caller.h
 */
#include "plugins/csi_caller.h"

#include "base/clock.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_drivers.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* For programs; people get the driver's own words. Neither -ECANCELED nor -ENOTCONN, which mean
 * that it is no longer wanted and that the driver is not there. */
static int error_of(enum grpc_code code)
{
	static const int errors[GRPC_CODE_COUNT] = {
		[GRPC_CANCELLED] = -EINTR,
		[GRPC_UNKNOWN] = -EIO,
		[GRPC_INVALID_ARGUMENT] = -EINVAL,
		[GRPC_DEADLINE_EXCEEDED] = -ETIMEDOUT,
		[GRPC_NOT_FOUND] = -ENXIO,
		[GRPC_ALREADY_EXISTS] = -EEXIST,
		[GRPC_PERMISSION_DENIED] = -EACCES,
		[GRPC_RESOURCE_EXHAUSTED] = -ENOBUFS,
		[GRPC_FAILED_PRECONDITION] = -EBADFD,
		[GRPC_ABORTED] = -EINPROGRESS,
		[GRPC_OUT_OF_RANGE] = -ERANGE,
		[GRPC_UNIMPLEMENTED] = -EOPNOTSUPP,
		[GRPC_INTERNAL] = -EIO,
		[GRPC_UNAVAILABLE] = -EHOSTDOWN,
		[GRPC_DATA_LOSS] = -EIO,
		[GRPC_UNAUTHENTICATED] = -EACCES,
	};

	return (size_t) code < GRPC_CODE_COUNT && errors[code] < 0 ? errors[code] : -EIO;
}

/* Unlike kubelet: a call of which not a byte left us did nothing, whatever came before it. The
 * entry keeps its state, and one that was in doubt stays so. */
static enum error_class class_of(const struct csi_caller *caller, const struct grpc_result *status)
{
	if (caller->method == CSI_NODE_GET_CAPABILITIES || !status->was_sent)
		return ERROR_TRANSIENT;
	return csi_classify(status) == CSI_FINAL ? ERROR_FINAL : ERROR_UNCERTAIN;
}

static int call_failed(struct csi_caller *caller, const struct grpc_result *status)
{
	struct stage_report *report = caller->report;
	int error = failed_plain(&report->failure, error_of(status->code),
				 "%s by driver '%s' failed: rpc error: code = %s desc = %s",
				 csi_method_row(caller->method)->name, caller->driver,
				 grpc_code_name(status->code), status->text);

	report->failed_at = csi_method_row(caller->method)->name;
	caller->code = status->code;
	caller->error_class = report->error_class = class_of(caller, status);
	/* One that is published is so, however its growth ends: the next stage judges that. */
	if (caller->method != CSI_NODE_EXPAND_VOLUME &&
	    (report->error_class != ERROR_FINAL || !caller->keeps_final))
		return error;
	(void) failure_drop(caller->final);
	caller->final = failure_keep(&report->failure);
	return STAGE_NEXT;
}

static void note_capabilities(struct csi_caller *caller, const ProtobufCMessage *message)
{
	const Csi__V1__NodeGetCapabilitiesResponse *reply =
		(const Csi__V1__NodeGetCapabilitiesResponse *) message;

	caller->capabilities = 0;
	for (size_t i = 0; i < reply->n_capabilities; i++) {
		const Csi__V1__NodeServiceCapability *one = reply->capabilities[i];

		if (one->type_case == CSI__V1__NODE_SERVICE_CAPABILITY__TYPE_RPC && one->rpc &&
		    (unsigned int) one->rpc->type < 32)
			caller->capabilities |= 1U << one->rpc->type;
	}
}

/* Only the stage that this call belongs to may be ended, and @then may have begun another call. */
static int answered(struct csi_caller *caller, const ProtobufCMessage *message)
{
	int (*then)(void *data, const ProtobufCMessage *reply) = caller->then;

	if (caller->method == CSI_NODE_GET_CAPABILITIES)
		note_capabilities(caller, message);
	caller->then = NULL;
	return then ? then(caller->data, message) : STAGE_NEXT;
}

static void on_done(void *userdata, const struct csi_reply *reply)
{
	struct csi_caller *caller = userdata;
	int r;

	caller->call = NULL;
	if (reply->status.code == GRPC_OK)
		r = answered(caller, reply->message);
	else
		r = call_failed(caller, &reply->status);
	if (r > 0 && caller->call)
		return;
	caller->finish(caller->token, r);
}

/* Return: what is left of the step's time; 0 nothing. */
static uint64_t time_left(struct csi_caller *caller)
{
	uint64_t now_usec = monotonic_usec();

	if (caller->deadline_usec == 0)
		caller->deadline_usec = now_usec + CSI_TIME_LIMIT_USEC;
	return now_usec < caller->deadline_usec ? caller->deadline_usec - now_usec : 0;
}

static int start(struct csi_caller *caller, const ProtobufCMessage *message)
{
	struct failure *failure = &caller->report->failure;
	const struct csi_call_request request = {
		.driver = caller->driver,
		.method = caller->method,
		.message = message,
		.timeout_usec = time_left(caller),
		.about = caller->about,
		.done = on_done,
		.userdata = caller,
	};
	int r;

	caller->report->error_class = ERROR_TRANSIENT;
	(void) snprintf(caller->report->driver, sizeof(caller->report->driver), "%s",
			caller->driver);
	if (!caller->drivers)
		return failed_plain(failure, -EOPNOTSUPP,
				    "CSI drivers are called by podvold alone");
	if (request.timeout_usec == 0)
		return failed_plain(failure, -ETIMEDOUT, "no time is left for %s by driver '%s'",
				    csi_method_row(caller->method)->name, caller->driver);
	r = csi_drivers_call(caller->drivers, &request, &caller->call, failure);
	if (r == 0)
		caller->report->error_class = ERROR_FINAL;
	return r;
}

int csi_caller_call(struct csi_caller *caller, enum csi_method method,
		    const ProtobufCMessage *message, const struct csi_stage_end *end,
		    int (*then)(void *data, const ProtobufCMessage *reply), void *data)
{
	assert(caller && !caller->call && caller->driver && message);
	if (end) {
		caller->report = end->report;
		caller->finish = end->finish;
		caller->token = end->token;
	}
	caller->method = method;
	caller->final = failure_drop(caller->final);
	caller->code = GRPC_OK;
	caller->then = then;
	caller->data = data;
	return start(caller, message);
}

int csi_caller_start(struct csi_caller *caller, const struct csi_stage_end *end,
		     int (*then)(void *data, const ProtobufCMessage *reply), void *data)
{
	const Csi__V1__NodeGetCapabilitiesRequest message =
		CSI__V1__NODE_GET_CAPABILITIES_REQUEST__INIT;

	assert(end);
	return csi_caller_call(caller, CSI_NODE_GET_CAPABILITIES, &message.base, end, then, data);
}

void csi_caller_done(struct csi_caller *caller)
{
	assert(caller);
	caller->call = csi_call_cancel(caller->call);
	caller->final = failure_drop(caller->final);
}
