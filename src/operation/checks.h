/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks - may this volume be mounted for this pod on this node at all; pure
 *
 * What kubelet looks at between finding the plugin and the first call to it (spec: volume manager,
 * 4.2): the PV's node affinity, mount options, ReadWriteOncePod. No system call, no clock.
 */
#pragma once

#include "object/select/selector.h"
#include "reconcile/reconcile.h"

/**
 * check_node_affinity - does the PV's required node affinity select this node
 * @spec: inline volumes have no affinity and pass
 *
 * Labels only, as in kubelet: matchFields are ignored, so a term of matchFields alone passes.
 *
 * Return: 0 or -ENXIO.
 */
int check_node_affinity(const struct volume_spec *spec, const struct labels *node_labels,
			struct failure *reterr);

/* PV mount options need a plugin that has them; a block volume has none to apply. 0 or -EOPNOTSUPP.
 */
int check_mount_options(const struct volume_spec *spec, const struct volume_plugin *plugin,
			struct failure *reterr);

/**
 * check_single_pod - a PV whose only access mode is ReadWriteOncePod serves one pod
 * @actual: where another pod with this volume mounted, or perhaps mounted, is looked for
 *
 * Return: 0 or -EBUSY.
 */
int check_single_pod(const struct actual *actual, const char *unique_name, const char *pod_uid,
		     const struct volume_spec *spec, struct failure *reterr);

/**
 * check_step - all checks that a step has to pass
 *
 * Publish: all three. Stage: affinity and options only; which pod a stage names is by chance, the
 * one that must not have the volume is stopped at its publish. Teardowns are never refused.
 *
 * Return: 0 or the first failed check.
 */
int check_step(const struct step *step, const struct labels *node_labels,
	       const struct actual *actual, struct failure *reterr);
