/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_zone - VolumeZone: labels of zone and region, of volumes and of the node; see
 * scheduling.h
 *
 * For volumes without a node affinity, as they were before there was one. A claim that waits for
 * its first consumer has no volume yet, and is left to the node affinity of the one that it gets.
 */
#include "controller/scheduling/scheduling.h"

#include "base/cleanup.h"
#include "controller/csi/topology.h"

#include <string.h>

#define PLUGIN "VolumeZone"

static const struct {
	const char *key;
	const char *fallback; /* of the node, for a volume that has the old word */
} keys[] = {
	{ "topology.kubernetes.io/zone", NULL },
	{ "topology.kubernetes.io/region", NULL },
	{ "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone" },
	{ "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region" },
};

/* "a__b" is a set; with an empty element it is no set, and passed over. */
static bool is_set(const char *set)
{
	for (;;) {
		const char *end = strstr(set, "__");
		size_t length = end ? (size_t) (end - set) : strlen(set);

		if (length == 0)
			return false;
		if (!end)
			return true;
		set = end + 2;
	}
}

static bool set_has(const char *set, const char *value)
{
	size_t wanted = strlen(value);

	for (;;) {
		const char *end = strstr(set, "__");
		size_t length = end ? (size_t) (end - set) : strlen(set);

		if (length == wanted && memcmp(set, value, length) == 0)
			return true;
		if (!end)
			return false;
		set = end + 2;
	}
}

static bool is_in_zone(const struct persistent_volume *volume, const struct labels *node)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *set = topology_label(&volume->object->meta.labels, keys[i].key);
		const char *value = topology_label(node, keys[i].key);

		if (!value && keys[i].fallback)
			value = topology_label(node, keys[i].fallback);
		if (set && is_set(set) && (!value || !set_has(set, value)))
			return false;
	}
	return true;
}

/* Why a claim has no volume whose labels could be looked at. Waiting for a consumer is no reason.
 */
static void check_unbound(const struct scheduling_query *question, const struct object *claim,
			  struct scheduling_verdict *ret)
{
	const struct storage_class *class = scheduling_class(question, claim);

	if (!claim->claim->storage_class[0])
		scheduling_add(ret, PLUGIN, false,
			       "PersistentVolumeClaim had no pv name and storageClass name");
	else if (!class)
		scheduling_add(ret, PLUGIN, false, "storageclass.storage.k8s.io \"%s\" not found",
			       claim->claim->storage_class);
	else if (!class->waits_for_first_consumer)
		scheduling_add(ret, PLUGIN, false, "PersistentVolume had no name");
}

static void check_volume(const struct scheduling_query *question,
			 const struct pod_volume *pod_volume, struct scheduling_verdict *ret)
{
	const struct object *claim = scheduling_claim(question, pod_volume);
	const struct persistent_volume *volume = claim ? scheduling_volume(question, claim) : NULL;

	if (!pod_volume->claim_name[0])
		scheduling_add(ret, PLUGIN, false, "PersistentVolumeClaim had no name");
	else if (!claim)
		scheduling_add(ret, PLUGIN, false, "persistentvolumeclaim \"%s\" not found",
			       pod_volume->claim_name);
	else if (!claim->claim->volume_name[0])
		check_unbound(question, claim, ret);
	else if (!volume)
		scheduling_add(ret, PLUGIN, false, "persistentvolume \"%s\" not found",
			       claim->claim->volume_name);
	else if (!is_in_zone(volume, &question->node->meta.labels))
		scheduling_add(ret, PLUGIN, false, "node(s) had no available volume zone");
}

void scheduling_volume_zone(const struct scheduling_query *question, struct scheduling_verdict *ret)
{
	const struct pod *pod = question->pod;
	bool is_anywhere = true;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		is_anywhere &= !topology_label(&question->node->meta.labels, keys[i].key);
	for (size_t i = 0; i < pod->volume_count && !is_anywhere; i++)
		if (pod->volumes[i].source == SOURCE_CLAIM)
			check_volume(question, &pod->volumes[i], ret);
}
