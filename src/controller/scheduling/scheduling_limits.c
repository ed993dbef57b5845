/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_limits - what a volume or a node cannot be shared by: VolumeRestrictions and
 * NodeVolumeLimits; see scheduling.h
 *
 * Of the disks that only clouds have nothing is asked.
 */
#include "controller/scheduling/scheduling.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <stdio.h>
#include <string.h>

#define RESTRICTIONS "VolumeRestrictions"
#define LIMITS       "NodeVolumeLimits"

enum { VOLUMES_MAX = 1024, HANDLE_BYTES = 512 };

/* Another pod that counts. */
static bool is_other_pod(const struct scheduling_query *question, const struct object *pod)
{
	const struct object_meta *own = &question->pod->object->meta;

	return !pod->pod->containers_terminated &&
	       (strcmp(pod->meta.name_space, own->name_space) != 0 ||
		strcmp(pod->meta.name, own->name) != 0) &&
	       scheduling_has_node(question, pod->pod);
}

/* ---- VolumeRestrictions ---- */

struct user_search {
	const struct scheduling_query *question;
	const char *claim;
};

static int uses_claim(const struct object *object, void *userdata)
{
	const struct user_search *search = userdata;
	const struct pod *pod = object->pod;

	for (size_t i = 0; i < pod->volume_count; i++)
		if (scheduling_has_claim(&pod->volumes[i]) &&
		    strcmp(pod->volumes[i].claim_name, search->claim) == 0)
			return is_other_pod(search->question, object);
	return 0;
}

void scheduling_volume_restrictions(const struct scheduling_query *question,
				    struct scheduling_verdict *ret)
{
	const struct pod *pod = question->pod;

	for (size_t i = 0; i < pod->volume_count; i++) {
		const struct object *claim = scheduling_claim(question, &pod->volumes[i]);
		struct user_search search = { question, pod->volumes[i].claim_name };

		if (!claim || !(claim->claim->access_modes & ACCESS_READ_WRITE_ONCE_POD))
			continue;
		if (store_list(question->store, KIND_POD, claim->meta.name_space, uses_claim,
			       &search) > 0)
			scheduling_add(ret, RESTRICTIONS, true,
				       "node has pod using PersistentVolumeClaim with the same "
				       "name and ReadWriteOncePod access mode");
	}
}

/* ---- NodeVolumeLimits ---- */

/* The different volumes of one driver. */
struct volume_set {
	const struct scheduling_query *question;
	const char *driver;
	size_t count;
	char handles[VOLUMES_MAX][HANDLE_BYTES];
};

static void add_handle(struct volume_set *set, const char *handle)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->handles[i], handle) == 0)
			return;
	if (set->count < VOLUMES_MAX)
		(void) snprintf(set->handles[set->count++], HANDLE_BYTES, "%s", handle);
}

/* Which driver a claim's volume is or will be of, and which volume that is. */
static const char *driver_of(const struct scheduling_query *question, const struct object *claim,
			     char handle[HANDLE_BYTES])
{
	const struct persistent_volume *volume = scheduling_volume(question, claim);
	const struct storage_class *class = scheduling_class(question, claim);

	if (volume) {
		(void) snprintf(handle, HANDLE_BYTES, "%s",
				volume->csi ? volume->csi->volume_handle : "");
		return volume->csi ? volume->csi->driver : NULL;
	}
	(void) snprintf(handle, HANDLE_BYTES, "claim %s/%s", claim->meta.name_space,
			claim->meta.name);
	return class ? class->provisioner : NULL;
}

static void add_volumes(struct volume_set *set, const struct pod *pod)
{
	const struct scheduling_query of = { set->question->store, pod, NULL, NULL };
	char handle[HANDLE_BYTES];

	for (size_t i = 0; i < pod->volume_count; i++) {
		const struct object *claim = scheduling_claim(&of, &pod->volumes[i]);
		const char *driver = claim ? driver_of(&of, claim, handle) : NULL;

		if (driver && strcmp(driver, set->driver) == 0)
			add_handle(set, handle);
	}
}

/* Pods without a node are this node's. */
static int take_pod(const struct object *object, void *userdata)
{
	struct volume_set *set = userdata;
	const char *node = object->pod->node_name;

	if ((!node[0] || strcmp(node, set->question->node->meta.name) == 0) &&
	    is_other_pod(set->question, object))
		add_volumes(set, object->pod);
	return 0;
}

static void check_driver(const struct scheduling_query *question, const char *driver, int64_t limit,
			 struct scheduling_verdict *ret)
{
	cleanup_free struct volume_set *set = calloc(1, sizeof(*set));
	size_t before;

	if (!set)
		return;
	set->question = question;
	set->driver = driver;
	add_volumes(set, question->pod);
	if (set->count == 0)
		return;
	set->count = 0;
	(void) store_list(question->store, KIND_POD, NULL, take_pod, set);
	before = set->count;
	add_volumes(set, question->pod);
	if (set->count > before && (int64_t) set->count > limit)
		scheduling_add(ret, LIMITS, true, "node(s) exceed max volume count");
}

void scheduling_volume_limits(const struct scheduling_query *question,
			      struct scheduling_verdict *ret)
{
	const struct object *csi_node =
		store_get(question->store, KIND_CSI_NODE, "", question->node->meta.name);
	cleanup_json struct cJSON *tree = csi_node ? object_tree(csi_node) : NULL;
	const struct cJSON *drivers = json_get_path(tree, "spec.drivers");

	JSON_FOREACH (i, drivers) {
		const char *name = json_text(i, "name");
		int64_t limit;

		if (json_int64(json_get_path(i, "allocatable.count"), &limit))
			check_driver(question, name, limit, ret);
	}
}

bool scheduling_is_crowded(const struct scheduling_verdict *verdict)
{
	for (size_t i = 0; i < verdict->count; i++)
		if (strcmp(verdict->reasons[i].plugin, RESTRICTIONS) == 0 ||
		    strcmp(verdict->reasons[i].plugin, LIMITS) == 0)
			return true;
	return false;
}
