/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_registration_capabilities - what a registered driver can do, asked once after each
 * registration
 *
 * Calls one after the other: what it does on this node, which services it has, and what its
 * controller and its group controller do where it has them. A driver that does not know a call
 * cannot do what that would tell; any other failure is tried again after a while, for as long as
 * its socket stays. Registration waits for none of it.
 */
#include "csi/csi_registration_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "csi/csi.pb-c.h"
#include "csi/csi_driver_table.h"

#include <assert.h>

#define CAPABILITIES_LIMIT_USEC (120 * USEC_PER_SEC)

static void send_request(struct registration *one);

/* ---- answers ---- */

static uint32_t bit(unsigned int number)
{
	return number < 32 ? UINT32_C(1) << number : 0;
}

static void take_node(struct csi_capabilities *answer, const ProtobufCMessage *message)
{
	const Csi__V1__NodeGetCapabilitiesResponse *reply = (const void *) message;

	answer->node = 0;
	for (size_t i = 0; i < reply->n_capabilities; i++)
		if (reply->capabilities[i]->type_case == CSI__V1__NODE_SERVICE_CAPABILITY__TYPE_RPC)
			answer->node |= bit((unsigned int) reply->capabilities[i]->rpc->type);
}

static void take_plugin(struct csi_capabilities *answer, const ProtobufCMessage *message)
{
	const Csi__V1__GetPluginCapabilitiesResponse *reply = (const void *) message;

	answer->plugin = 0;
	for (size_t i = 0; i < reply->n_capabilities; i++) {
		const Csi__V1__PluginCapability *item = reply->capabilities[i];

		if (item->type_case == CSI__V1__PLUGIN_CAPABILITY__TYPE_SERVICE)
			answer->plugin |= bit((unsigned int) item->service->type);
		else if (item->type_case == CSI__V1__PLUGIN_CAPABILITY__TYPE_VOLUME_EXPANSION)
			answer->plugin |= bit(CSI_PLUGIN_EXPANSION_SHIFT +
					      (unsigned int) item->volume_expansion->type);
	}
}

static void take_controller(struct csi_capabilities *answer, const ProtobufCMessage *message)
{
	const Csi__V1__ControllerGetCapabilitiesResponse *reply = (const void *) message;

	answer->controller = 0;
	for (size_t i = 0; i < reply->n_capabilities; i++)
		if (reply->capabilities[i]->type_case ==
		    CSI__V1__CONTROLLER_SERVICE_CAPABILITY__TYPE_RPC)
			answer->controller |= bit((unsigned int) reply->capabilities[i]->rpc->type);
	answer->has_controller = true;
}

static void take_group_controller(struct csi_capabilities *answer, const ProtobufCMessage *message)
{
	const Csi__V1__GroupControllerGetCapabilitiesResponse *reply = (const void *) message;

	for (size_t i = 0; i < reply->n_capabilities; i++)
		if (reply->capabilities[i]->rpc &&
		    reply->capabilities[i]->rpc->type ==
			    CSI__V1__GROUP_CONTROLLER_SERVICE_CAPABILITY__RPC__TYPE__CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT)
			answer->takes_group_snapshots = true;
}

/* ---- the calls ---- */

static const struct {
	enum csi_method method;
	uint32_t service; /* of enum csi_plugin_capability; 0: every driver is asked */
	void (*take)(struct csi_capabilities *answer, const ProtobufCMessage *message);
} questions[] = {
	{ CSI_NODE_GET_CAPABILITIES, 0, take_node },
	{ CSI_GET_PLUGIN_CAPABILITIES, 0, take_plugin },
	{ CSI_CONTROLLER_GET_CAPABILITIES, CSI_PLUGIN_CONTROLLER_SERVICE, take_controller },
	{ CSI_GROUP_CONTROLLER_GET_CAPABILITIES, CSI_PLUGIN_GROUP_CONTROLLER_SERVICE,
	  take_group_controller },
};

/* Return: false: there is none. */
static bool take_next_question(struct registration *one)
{
	do
		one->capabilities_asked++;
	while (one->capabilities_asked < ARRAY_SIZE(questions) &&
	       questions[one->capabilities_asked].service &&
	       !(questions[one->capabilities_asked].service & one->reported_capabilities.plugin));
	return one->capabilities_asked < ARRAY_SIZE(questions);
}

static void end(struct registration *one)
{
	const struct csi_registration_options *options = &one->all->options;

	one->reported_capabilities.is_known = true;
	csi_drivers_note_capabilities(options->drivers, one->socket, &one->reported_capabilities);
	if (options->capable)
		options->capable(options->userdata, one->name);
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	send_request(userdata);
	return 0;
}

static void try_again(struct registration *one, const char *why)
{
	uint64_t delay_usec = registration_delay_usec(++one->capabilities_attempts);

	if (one->capabilities_attempts == 1)
		log_message(LOG_WARNING, "driver '%s' did not report its capabilities: %s",
			    one->name, why);
	one->capabilities_timer = sd_event_source_disable_unref(one->capabilities_timer);
	if (sd_event_add_time(one->all->options.event, &one->capabilities_timer, CLOCK_MONOTONIC,
			      monotonic_usec() + delay_usec, USEC_PER_MSEC, on_again, one) < 0)
		log_message(LOG_ERR,
			    "out of memory: capabilities of driver '%s' are not queried again",
			    one->name);
}

static void on_answer(void *userdata, const struct csi_reply *reply)
{
	struct registration *one = userdata;

	one->capabilities_call = NULL;
	if (reply->status.code != GRPC_OK && reply->status.code != GRPC_UNIMPLEMENTED) {
		try_again(one, reply->status.text);
		return;
	}
	if (reply->message)
		questions[one->capabilities_asked].take(&one->reported_capabilities,
							reply->message);
	one->capabilities_attempts = 0;
	/* What the node's part can do is shown at once: the rest may take its time. */
	csi_drivers_note_capabilities(one->all->options.drivers, one->socket,
				      &one->reported_capabilities);
	if (take_next_question(one))
		send_request(one);
	else
		end(one);
}

/* The requests have no fields. */
static void send_request(struct registration *one)
{
	const Csi__V1__NodeGetCapabilitiesRequest node =
		CSI__V1__NODE_GET_CAPABILITIES_REQUEST__INIT;
	const Csi__V1__GetPluginCapabilitiesRequest plugin =
		CSI__V1__GET_PLUGIN_CAPABILITIES_REQUEST__INIT;
	const Csi__V1__ControllerGetCapabilitiesRequest controller =
		CSI__V1__CONTROLLER_GET_CAPABILITIES_REQUEST__INIT;
	const Csi__V1__GroupControllerGetCapabilitiesRequest group =
		CSI__V1__GROUP_CONTROLLER_GET_CAPABILITIES_REQUEST__INIT;
	const ProtobufCMessage *const messages[] = { &node.base, &plugin.base, &controller.base,
						     &group.base };
	struct csi_call_request request = {
		.driver = one->name,
		.socket_path = one->endpoint,
		.method = questions[one->capabilities_asked].method,
		.message = messages[one->capabilities_asked],
		.timeout_usec = CAPABILITIES_LIMIT_USEC,
		.done = on_answer,
		.userdata = one,
	};
	struct failure failure;

	static_assert(ARRAY_SIZE(messages) == ARRAY_SIZE(questions), "a message for each question");
	assert(!one->capabilities_call && one->name);
	if (csi_call_start(one->all->options.event, one->all->options.log, &request,
			   &one->capabilities_call, &failure) < 0)
		try_again(one, failure.text);
}

void registration_call_capabilities(struct registration *one)
{
	registration_end_capabilities(one);
	one->reported_capabilities = (struct csi_capabilities){ .node = 0 };
	one->capabilities_asked = one->capabilities_attempts = 0;
	send_request(one);
}

void registration_end_capabilities(struct registration *one)
{
	one->capabilities_call = csi_call_cancel(one->capabilities_call);
	one->capabilities_timer = sd_event_source_disable_unref(one->capabilities_timer);
}
