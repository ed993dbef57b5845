/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration_calls - the calls of registration: to the registrar, and to the driver itself
 *
 * Each answer becomes one event of the machine. What peers tell is checked before it is kept; it is
 * borrowed from the reply until then.
 */
#include "csi/csi_registration_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "csi/csi.pb-c.h"
#include "csi/plugin_registration.pb-c.h"

#include <assert.h>

#define INFO_LIMIT_USEC   USEC_PER_SEC
#define NODE_LIMIT_USEC   (120 * USEC_PER_SEC)
#define NOTIFY_LIMIT_USEC (5 * USEC_PER_SEC)

/* The call ended. Return: true: with an error, which is the event. */
static bool has_failed(struct registration *one, const char *what, const struct grpc_result *status)
{
	one->call = NULL;
	if (status->code == GRPC_OK)
		return false;
	(void) failed_plain(&one->last_error, -EIO, "%s: %s: %s", what,
			    grpc_code_name(status->code), status->text);
	registration_move(one, REGISTRATION_FAILED);
	return true;
}

static int begin_call(struct registration *one, const struct csi_call_request *what,
		      struct csi_call **ret)
{
	struct csi_call_request request = *what;

	assert(!*ret);
	request.driver = one->name ?: "";
	request.userdata = one;
	return csi_call_start(one->all->options.event, one->all->options.log, &request, ret,
			      &one->last_error);
}

/* ---- the registrar ---- */

static bool is_unserved(const struct grpc_result *status)
{
	return status->code == GRPC_UNAVAILABLE && !status->was_sent;
}

static void on_info(void *userdata, const struct csi_reply *reply)
{
	const Pluginregistration__PluginInfo *answer =
		(const Pluginregistration__PluginInfo *) reply->message;
	struct registration *one = userdata;
	struct registration_info info;
	int r;

	one->is_dialling = is_unserved(&reply->status);
	if (has_failed(one, "the registrar does not answer GetInfo", &reply->status))
		return;
	info = (struct registration_info){
		.type = answer->type,
		.name = answer->name,
		.endpoint = answer->endpoint,
		.versions = (const char *const *) answer->supported_versions,
		.version_count = answer->n_supported_versions,
	};
	r = registration_claim(one, &info);
	if (r < 0)
		registration_move(one, r == -EBUSY ? REGISTRATION_FAILED : REGISTRATION_REFUSED);
	else
		registration_move(one, REGISTRATION_SUCCEEDED);
}

int registration_call(struct registration *one)
{
	Pluginregistration__InfoRequest message = PLUGINREGISTRATION__INFO_REQUEST__INIT;
	struct csi_call_request request = {
		.socket_path = one->socket,
		.method = REGISTRATION_GET_INFO,
		.message = &message.base,
		.timeout_usec = INFO_LIMIT_USEC,
		.done = on_info,
	};

	one->is_dialling = false;
	return begin_call(one, &request, &one->call);
}

/* A protobuf string is UTF-8, and what is cut in the middle of a character is none. */
static void keep_ascii(char *text)
{
	for (; *text; text++)
		if ((unsigned char) *text >= 0x80)
			*text = '?';
}

static void on_notified(void *userdata, const struct csi_reply *reply)
{
	struct registration *one = userdata;

	one->call = NULL;
	if (reply->status.code != GRPC_OK)
		log_message(LOG_WARNING,
			    "cannot report the result to the registrar at '%s', ignoring: %s",
			    one->socket, reply->status.text);
	registration_move(one, REGISTRATION_SUCCEEDED);
}

int registration_report(struct registration *one, bool registered)
{
	Pluginregistration__RegistrationStatus message =
		PLUGINREGISTRATION__REGISTRATION_STATUS__INIT;
	struct failure why = one->last_error;
	struct csi_call_request request = {
		.socket_path = one->socket,
		.method = REGISTRATION_NOTIFY_STATUS,
		.message = &message.base,
		.timeout_usec = NOTIFY_LIMIT_USEC,
		.done = on_notified,
	};
	int r;

	keep_ascii(why.text);
	message.plugin_registered = registered;
	if (!registered)
		message.error = why.text;
	why.error = one->last_error.error;
	r = begin_call(one, &request, &one->call);
	one->last_error = why; /* why it is notified, not that it cannot be */
	return r;
}

/* ---- the driver ---- */

/* The segments are borrowed from the message; the array is the caller's to free. */
static struct csi_topology_segment *segments_of(const Csi__V1__Topology *topology)
{
	size_t count = topology ? topology->n_segments : 0;
	struct csi_topology_segment *segments = calloc(count + 1, sizeof(*segments));

	for (size_t i = 0; segments && i < count; i++)
		segments[i] = (struct csi_topology_segment){ topology->segments[i]->key,
							     topology->segments[i]->value };
	return segments;
}

static void on_node_info(void *userdata, const struct csi_reply *reply)
{
	struct registration *one = userdata;
	const Csi__V1__NodeGetInfoResponse *answer =
		(const Csi__V1__NodeGetInfoResponse *) reply->message;
	cleanup_free struct csi_topology_segment *segments = NULL;
	struct csi_driver driver = { .name = one->name };

	if (has_failed(one, "the driver does not answer NodeGetInfo", &reply->status))
		return;
	segments = segments_of(answer->accessible_topology);
	if (!segments || *answer->node_id == '\0') {
		(void) failed_plain(&one->last_error, segments ? -EPROTO : -ENOMEM, "%s",
				    segments ? "the driver reports no node id" : "out of memory");
		registration_move(one, REGISTRATION_FAILED);
		return;
	}
	driver.node_id = answer->node_id;
	driver.max_volumes = answer->max_volumes_per_node;
	driver.segments = segments;
	driver.segment_count =
		answer->accessible_topology ? answer->accessible_topology->n_segments : 0;
	one->answer = &driver;
	registration_move(one, REGISTRATION_SUCCEEDED);
}

int registration_call_node(struct registration *one)
{
	Csi__V1__NodeGetInfoRequest message = CSI__V1__NODE_GET_INFO_REQUEST__INIT;
	struct csi_call_request request = {
		.socket_path = one->endpoint,
		.method = CSI_NODE_GET_INFO,
		.message = &message.base,
		.timeout_usec = NODE_LIMIT_USEC,
		.done = on_node_info,
	};

	return begin_call(one, &request, &one->call);
}
