/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_control - makes the controllers of CSI drivers and tells them what changed; see csi_control.h
 *
 * Nothing is decided here: a controller is a row.
 */
#include "agent/csi_control.h"

#include "agent/parts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/csi/csi_controller.h"

#include <assert.h>

static const struct controller_class *const classes[] = {
	&csi_attacher_class,    &csi_capacity_class, &csi_modifier_class,
	&csi_provisioner_class, &csi_resizer_class,  &csi_snapshotter_class,
};

struct csi_control {
	struct agent *agent;
	struct controller *controllers[ARRAY_SIZE(classes)]; /* NULL: not made */
};

/* ---- what they ask ---- */

static bool is_in_use(void *userdata, const struct persistent_volume *volume)
{
	const struct csi_control *control = userdata;

	return volume_is_in_use(control->agent, volume);
}

static bool is_complete(void *userdata)
{
	const struct csi_control *control = userdata;

	return control->agent->sources_complete;
}

static void on_room_changed(void *userdata, const char *driver)
{
	struct csi_control *control = userdata;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		csi_controller_room_changed(control->controllers[i], driver);
}

static void on_event(void *userdata, const struct object *about, const char *type,
		     const char *reason, const char *text)
{
	struct csi_control *control = userdata;

	events_record(control->agent->events, about, type, reason, text, realtime_usec());
}

/* ---- life ---- */

int csi_control_open(struct agent *agent, struct failure *reterr)
{
	struct csi_controller_options options = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.store = agent->store,
		.drivers = agent->host.csi_drivers,
		.node_name = agent->config->node_name,
		.event_fn = on_event,
		.is_in_use = is_in_use,
		.is_complete = is_complete,
		.room_changed = on_room_changed,
	};
	struct csi_control *control;
	int r = 0;

	if (agent->config->csi_controllers.external)
		return 0;
	assert(options.store && options.drivers);
	control = calloc(1, sizeof(*control));
	if (!control)
		return failed(reterr, -ENOMEM, "cannot start the controllers of CSI drivers");
	control->agent = agent;
	agent->controllers.csi = control;
	options.userdata = control;
	for (size_t i = 0; i < ARRAY_SIZE(classes) && r >= 0; i++)
		r = csi_controller_new(classes[i], &options, &control->controllers[i]);
	return r < 0 ? failed(reterr, r, "cannot start the controllers of CSI drivers") : 0;
}

void csi_control_driver_changed(struct csi_control *control, const char *driver)
{
	assert(driver);
	for (size_t i = 0; control && i < ARRAY_SIZE(classes); i++)
		csi_controller_driver_changed(control->controllers[i], driver);
}

void csi_control_changed(struct csi_control *control)
{
	for (size_t i = 0; control && i < ARRAY_SIZE(classes); i++)
		csi_controller_look_again(control->controllers[i]);
}

struct csi_control *csi_control_free(struct csi_control *control)
{
	if (!control)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		(void) controller_free(control->controllers[i]);
	free(control);
	return NULL;
}
