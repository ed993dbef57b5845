/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_stages - which slot of the plugin does a step, and what the step is called
 *
 * The one place that knows the difference between file system and block volumes; loop thread only.
 */
#pragma once

#include "operation/key.h"
#include "reconcile/reconcile.h"

/* "volume_mount", "unmap_device", ...: metrics label and back-off identity. */
const char *step_operation_name(const struct step *step);

/* kubelet's keys: the whole volume for stage, unstage and forget, else volume and pod; alone for
 * publish of a device-mountable volume. Points into @step. */
struct operation_key step_key(const struct step *step);

/**
 * step_stages - ask the step's plugin for its stages
 * @objects: lent to the plugin for this call
 * @ret_device_mount_path: of a stage: the plugin's global path, freed with free(); else NULL
 *
 * A step other than publish that the plugin does not have is an empty list: nothing to do.
 *
 * Return: 0; -EOPNOTSUPP no such plugin, or it cannot publish this kind of volume; -ENOMEM; what
 * the slot says.
 */
int step_stages(const struct plugin_host *host, const struct object_finder *objects,
		const struct step *step, struct stage_list *ret, char **ret_device_mount_path,
		struct failure *reterr);

/**
 * step_stages_before - what podvold itself does before the plugin's stages
 *
 * An unpublish first takes the volume's sub-paths of the pod away, also those of another program:
 * nothing of a volume may be in use when the plugin takes it down.
 *
 * Return: 0, also with an empty list; -ENOMEM.
 */
int step_stages_before(const struct plugin_host *host, const struct step *step,
		       struct stage_list *ret, struct failure *reterr);
