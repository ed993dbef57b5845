/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks - may this volume be mounted for this pod on this node at all; see checks.h
 */
#include "operation/checks.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

int check_node_affinity(const struct volume_spec *spec, const struct labels *node_labels,
			struct failure *reterr)
{
	const struct persistent_volume *pv;

	assert(spec && node_labels);
	pv = spec_pv(spec);
	if (!pv || !pv->node_affinity || node_selector_matches(pv->node_affinity, node_labels))
		return 0;
	return failed_plain(reterr, -ENXIO,
			    "node affinity of persistent volume '%s' does not select this node: no "
			    "matching NodeSelectorTerms",
			    spec->name);
}

int check_mount_options(const struct volume_spec *spec, const struct volume_plugin *plugin,
			struct failure *reterr)
{
	const struct persistent_volume *pv;

	assert(spec && plugin);
	pv = spec_pv(spec);
	if (!pv || spec->block || pv->mount_option_count == 0 || plugin->supports_mount_options)
		return 0;
	return failed_plain(reterr, -EOPNOTSUPP,
			    "mount options are not supported for this volume type ('%s')",
			    plugin->name);
}

int check_single_pod(const struct actual *actual, const char *unique_name, const char *pod_uid,
		     const struct volume_spec *spec, struct failure *reterr)
{
	const struct persistent_volume *pv;
	const struct actual_volume *volume;

	assert(actual && unique_name && pod_uid && spec);
	pv = spec_pv(spec);
	if (!pv || pv->access_modes != ACCESS_READ_WRITE_ONCE_POD)
		return 0;
	volume = actual_find(actual, unique_name);
	if (!volume)
		return 0;

	for (const struct actual_pod *pod = volume->pods; pod; pod = pod->hh.next)
		if (strcmp(pod->pod_uid, pod_uid) != 0 && pod->state != MOUNT_ABSENT)
			return failed_plain(
				reterr, -EBUSY,
				"volume uses the ReadWriteOncePod access mode and is already in "
				"use by pod '%s'",
				*pod->pod_key ? pod->pod_key : pod->pod_uid);
	return 0;
}

int check_step(const struct step *step, const struct labels *node_labels,
	       const struct actual *actual, struct failure *reterr)
{
	const struct volume_spec *spec;
	int r;

	assert(step && node_labels && actual);
	if (step->kind != STEP_STAGE && step->kind != STEP_PUBLISH)
		return 0;

	assert(step->want && step->want_pod);
	spec = &step->want_pod->spec;
	r = check_node_affinity(spec, node_labels, reterr);
	if (r >= 0)
		r = check_mount_options(spec, step->want->plugin, reterr);
	if (r >= 0 && step->kind == STEP_PUBLISH)
		r = check_single_pod(actual, step->unique_name, step->pod_uid, spec, reterr);
	return r;
}
