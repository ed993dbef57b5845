/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_mode - what differs on a node of a cluster: where objects come from, and who controls
 * them
 *
 * The store has a directory of its own then, below the state directory: objects of a node alone and
 * those of a cluster never meet. The loop thread only.
 */
#pragma once

#include "base/failure.h"
#include "plugins/plugin.h"

struct agent;

bool cluster_mode(const struct agent *agent);

/* agent->own.store_dir, made when absent. Return: 0 or negative errno. */
int cluster_mode_make_directory(struct agent *agent, struct failure *reterr);

/* Begin to mirror, when there is a cluster: after the store, before the populator looks. Return: as
 * cluster_new(). */
int cluster_mode_open(struct agent *agent, struct failure *reterr);

/* populator_options.uses; @userdata is the agent. */
void cluster_mode_uses(void *userdata, const struct object_reference *reference, bool is_used);
/* volumes_in_use_options.attachment; so, too. */
void cluster_mode_attachment(void *userdata, const char *name, bool is_used);
