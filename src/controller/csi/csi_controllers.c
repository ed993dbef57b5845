/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_controllers - makes the controllers of CSI drivers and tells them what changed; see
 * csi_controller.h
 *
 * Nothing is decided here: a controller is a row.
 */
#include "controller/csi/csi_controller.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static const struct controller_class *const classes[] = {
	&csi_attacher_class,          &csi_capacity_class, &csi_modifier_class,
	&csi_provisioner_class,       &csi_resizer_class,  &csi_snapshotter_class,
	&csi_group_snapshotter_class,
};

struct csi_controllers {
	struct controller *rows[ARRAY_SIZE(classes)]; /* NULL: not made */
};

static void room_changed(void *userdata, const char *driver)
{
	const struct csi_controllers *controllers = userdata;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		csi_controller_room_changed(controllers->rows[i], driver);
}

/* ---- life ---- */

int csi_controllers_new(const struct csi_controller_options *options, struct csi_controllers **ret)
{
	struct csi_controller_options own = *options;
	struct csi_controllers *controllers = calloc(1, sizeof(*controllers));
	int r = 0;

	assert(options->common.store && options->drivers && ret);
	if (!controllers)
		return -ENOMEM;
	own.room_changed = room_changed;
	own.room_userdata = controllers;
	for (size_t i = 0; i < ARRAY_SIZE(classes) && r >= 0; i++)
		r = csi_controller_new(classes[i], &own, &controllers->rows[i]);
	if (r < 0)
		csi_controllers_free(controllers);
	else
		*ret = controllers;
	return r;
}

void csi_controllers_driver_changed(struct csi_controllers *controllers, const char *driver)
{
	assert(driver);
	for (size_t i = 0; controllers && i < ARRAY_SIZE(classes); i++)
		csi_controller_driver_changed(controllers->rows[i], driver);
}

void csi_controllers_resync(struct csi_controllers *controllers)
{
	for (size_t i = 0; controllers && i < ARRAY_SIZE(classes); i++)
		csi_controller_resync(controllers->rows[i]);
}

struct csi_controllers *csi_controllers_free(struct csi_controllers *controllers)
{
	if (!controllers)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		(void) controller_free(controllers->rows[i]);
	free(controllers);
	return NULL;
}
