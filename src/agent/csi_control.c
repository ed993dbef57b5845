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
#include "controller/attach/csi_attacher.h"
#include "controller/csi/csi_capacity.h"
#include "controller/csi/csi_controller.h"
#include "controller/csi/csi_modifier.h"
#include "controller/csi/csi_provisioner.h"
#include "controller/csi/csi_resizer.h"
#include "controller/snapshot/csi_snapshotter.h"

#include <assert.h>

/* A controller's functions with their own pointers. */
struct controller_row {
	int (*new_one)(const struct csi_controller_options *options, void **ret);
	/* A driver told what it can do. */
	void (*driver_changed)(void *controller, const char *driver);
	/* Something that is_in_use() or is_complete() asks has changed; NULL: nothing to it. */
	void (*look_again)(void *controller);
	/* A driver may have more or less room than before; NULL: nothing to it. */
	void (*room_changed)(void *controller, const char *driver);
	/* Its calls are broken off; its writes end in the store. */
	void (*free_one)(void *controller);
};

/* The functions of a controller, which knows its own pointer. */
#define ADAPT(name)                                                                                \
	static int name##_new(const struct csi_controller_options *options, void **ret)            \
	{                                                                                          \
		return csi_##name##_new(options, (struct csi_##name **) ret);                      \
	}                                                                                          \
	static void name##_driver_changed(void *controller, const char *driver)                    \
	{                                                                                          \
		csi_##name##_driver_changed(controller, driver);                                   \
	}                                                                                          \
	static void name##_free(void *controller)                                                  \
	{                                                                                          \
		(void) csi_##name##_free(controller);                                              \
	}
#define ADAPT_LOOK_AGAIN(name)                                                                     \
	static void name##_look_again(void *controller)                                            \
	{                                                                                          \
		csi_##name##_look_again(controller);                                               \
	}
#define ROW(name)                                                                                  \
	.new_one = name##_new, .driver_changed = name##_driver_changed, .free_one = name##_free

ADAPT(attacher)
ADAPT_LOOK_AGAIN(attacher)
ADAPT(capacity)
ADAPT(modifier)
ADAPT(provisioner)
ADAPT_LOOK_AGAIN(provisioner)
ADAPT(resizer)
ADAPT_LOOK_AGAIN(resizer)
ADAPT(snapshotter)
ADAPT_LOOK_AGAIN(snapshotter)

static void capacity_room_changed(void *controller, const char *driver)
{
	csi_capacity_room_changed(controller, driver);
}

static const struct controller_row rows[] = {
	{ ROW(attacher), .look_again = attacher_look_again },
	{ ROW(capacity), .room_changed = capacity_room_changed },
	{ ROW(modifier) },
	{ ROW(provisioner), .look_again = provisioner_look_again },
	{ ROW(resizer), .look_again = resizer_look_again },
	{ ROW(snapshotter), .look_again = snapshotter_look_again },
};

struct csi_control {
	struct agent *agent;
	void *controllers[ARRAY_SIZE(rows)]; /* NULL: not made */
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

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].room_changed)
			rows[i].room_changed(control->controllers[i], driver);
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
	for (size_t i = 0; i < ARRAY_SIZE(rows) && r >= 0; i++)
		r = rows[i].new_one(&options, &control->controllers[i]);
	return r < 0 ? failed(reterr, r, "cannot start the controllers of CSI drivers") : 0;
}

void csi_control_driver_changed(struct csi_control *control, const char *driver)
{
	assert(driver);
	for (size_t i = 0; control && i < ARRAY_SIZE(rows); i++)
		rows[i].driver_changed(control->controllers[i], driver);
}

void csi_control_changed(struct csi_control *control)
{
	for (size_t i = 0; control && i < ARRAY_SIZE(rows); i++)
		if (rows[i].look_again)
			rows[i].look_again(control->controllers[i]);
}

struct csi_control *csi_control_free(struct csi_control *control)
{
	if (!control)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (control->controllers[i])
			rows[i].free_one(control->controllers[i]);
	free(control);
	return NULL;
}
