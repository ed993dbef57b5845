/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling - VolumeBinding, and all plug-ins together; see scheduling.h
 */
#include "controller/scheduling/scheduling.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "controller/binding/volume_match.h"
#include "controller/csi/topology.h"
#include "object/json/json.h"
#include "object/kinds/csi_driver.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGIN "VolumeBinding"

#define REASON_NODE_CONFLICT "node(s) had volume node affinity conflict"
#define REASON_BIND_CONFLICT "node(s) didn't find available persistent volumes to bind"
#define REASON_NO_VOLUME     "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
#define REASON_NO_ROOM       "node(s) did not have enough free storage"

enum { CLAIMS_MAX = 64 };

/* ---- look-ups ---- */

bool scheduling_has_claim(const struct pod_volume *volume)
{
	return volume->source == SOURCE_CLAIM || volume->source == SOURCE_EPHEMERAL;
}

const struct object *scheduling_claim(const struct scheduling_query *question,
				      const struct pod_volume *volume)
{
	if (!scheduling_has_claim(volume))
		return NULL;
	return store_get(question->store, KIND_PERSISTENT_VOLUME_CLAIM,
			 question->pod->object->meta.name_space, volume->claim_name);
}

const struct persistent_volume *scheduling_volume(const struct scheduling_query *question,
						  const struct object *claim)
{
	const char *name = claim->claim->volume_name;
	const struct object *object =
		name[0] ? store_get(question->store, KIND_PERSISTENT_VOLUME, "", name) : NULL;

	return object ? object->persistent_volume : NULL;
}

const struct storage_class *scheduling_class(const struct scheduling_query *question,
					     const struct object *claim)
{
	const char *name = claim->claim->storage_class;
	const struct object *object =
		name[0] ? store_get(question->store, KIND_STORAGE_CLASS, "", name) : NULL;

	return object ? object->storage_class : NULL;
}

void scheduling_add(struct scheduling_verdict *verdict, const char *plugin, bool is_resolvable,
		    const char *format, ...)
{
	struct scheduling_reason *reason = &verdict->reasons[verdict->count];
	va_list arguments;

	if (verdict->count == SCHEDULING_REASONS_MAX)
		return;
	*reason = (struct scheduling_reason){ .plugin = plugin, .is_resolvable = is_resolvable };
	va_start(arguments, format);
	(void) vsnprintf(reason->text, sizeof(reason->text), format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < verdict->count; i++)
		if (strcmp(verdict->reasons[i].text, reason->text) == 0)
			return;
	verdict->count++;
}

/* ---- what is wrong whatever the node ---- */

/* For the scheduler a claim is bound when both sides are written. */
static bool is_bound(const struct persistent_volume_claim *claim)
{
	return claim->volume_name[0] && claim->bind_completed;
}

static bool is_decided(const struct scheduling_query *question, const struct object *claim)
{
	const struct scheduling_assumed *assumed = question->assumed;

	return is_bound(claim->claim) || claim->claim->selected_node[0] ||
	       (assumed && assumed->has(assumed->userdata, claim));
}

bool scheduling_has_node(const struct scheduling_query *question, const struct pod *pod)
{
	const struct scheduling_query of = { question->store, pod, NULL, NULL };

	for (size_t i = 0; i < pod->volume_count; i++) {
		const struct object *claim = scheduling_claim(&of, &pod->volumes[i]);

		if (scheduling_has_claim(&pod->volumes[i]) &&
		    (!claim || !is_decided(question, claim)))
			return false;
	}
	return true;
}

static bool is_delayed(const struct scheduling_query *question, const struct object *claim)
{
	const struct storage_class *class = scheduling_class(question, claim);

	return class && class->waits_for_first_consumer && !claim->claim->volume_name[0];
}

static bool is_owned(const struct pod *pod, const struct object *claim)
{
	return strcmp(claim->claim->controller_owner_uid, pod->object->meta.uid) == 0;
}

/* Return: false: no node would help. */
static bool check_claim(const struct scheduling_query *question, const struct pod_volume *volume,
			struct scheduling_verdict *ret)
{
	const struct object *claim = scheduling_claim(question, volume);
	const struct object_meta *pod = &question->pod->object->meta;
	size_t before = ret->count;

	if (!claim && volume->source == SOURCE_EPHEMERAL)
		scheduling_add(ret, PLUGIN, false,
			       "waiting for ephemeral volume controller to create the "
			       "persistentvolumeclaim \"%s\"",
			       volume->claim_name);
	else if (!claim)
		scheduling_add(ret, PLUGIN, false, "persistentvolumeclaim \"%s\" not found",
			       volume->claim_name);
	else if (claim->claim->phase == CLAIM_LOST)
		scheduling_add(ret, PLUGIN, false,
			       "persistentvolumeclaim \"%s\" bound to non-existent "
			       "persistentvolume \"%s\"",
			       volume->claim_name, claim->claim->volume_name);
	else if (claim->meta.deletes)
		scheduling_add(ret, PLUGIN, false, "persistentvolumeclaim \"%s\" is being deleted",
			       volume->claim_name);
	else if (volume->source == SOURCE_EPHEMERAL && !is_owned(question->pod, claim))
		scheduling_add(ret, PLUGIN, false,
			       "PVC %s/%s was not created for pod %s/%s (pod is not owner)",
			       claim->meta.name_space, claim->meta.name, pod->name_space,
			       pod->name);
	else if (!is_bound(claim->claim) && !is_delayed(question, claim))
		scheduling_add(ret, PLUGIN, false,
			       "pod has unbound immediate PersistentVolumeClaims");
	return ret->count == before;
}

/* ---- what can be provisioned ---- */

struct capacity_search {
	const struct persistent_volume_claim *claim;
	const struct labels *node;
};

/* Return: 1 it has room. */
static int has_room(const struct object *object, void *userdata)
{
	const struct capacity_search *search = userdata;
	cleanup_json struct cJSON *tree = object_tree(object);
	const char *largest = json_text(tree, "maximumVolumeSize");
	const char *capacity = json_text(tree, "capacity");
	const char *class = json_text(tree, "storageClassName");
	struct quantity quantity;

	if (strcmp(class, search->claim->storage_class) != 0 ||
	    quantity_parse(largest[0] ? largest : capacity, &quantity, NULL) < 0)
		return 0;
	return quantity_compare(&quantity, &search->claim->request) >= 0 &&
	       topology_selects(json_get(tree, "nodeTopology"), search->node);
}

const char *scheduling_provisionable(struct store *store,
				     const struct persistent_volume_claim *claim,
				     const struct storage_class *storage_class,
				     const struct labels *node)
{
	struct capacity_search search = { claim, node };
	const struct object *driver;

	if (!storage_class || !storage_class->provisioner[0] ||
	    strcmp(storage_class->provisioner, "kubernetes.io/no-provisioner") == 0 ||
	    !topology_allows(storage_class, node))
		return REASON_BIND_CONFLICT;
	driver = store_get(store, KIND_CSI_DRIVER, "", storage_class->provisioner);
	if (driver && driver->csi_driver->storage_capacity &&
	    store_list(store, KIND_CSI_STORAGE_CAPACITY, NULL, has_room, &search) == 0)
		return REASON_NO_ROOM;
	return NULL;
}

/* ---- what is free ---- */

/* Of a node with thousands of volumes only those are kept that some claim may get. */
struct pool {
	const struct object *const *claims; /* that look for one */
	size_t claim_count;
	const struct persistent_volume **volumes; /* NULL: taken */
	size_t count, room;
	bool is_incomplete; /* no memory */
};

static bool names(const struct persistent_volume *volume, const struct object_meta *claim)
{
	return volume->has_claim_ref && strcmp(volume->claim_namespace, claim->name_space) == 0 &&
	       strcmp(volume->claim_name, claim->name) == 0 &&
	       (!volume->claim_uid[0] || strcmp(volume->claim_uid, claim->uid) == 0);
}

static bool may_be_taken(const struct pool *pool, const struct persistent_volume *volume)
{
	if (!volume->has_claim_ref)
		return volume_is_free(volume);
	for (size_t i = 0; i < pool->claim_count; i++)
		if (names(volume, &pool->claims[i]->meta))
			return true;
	return false;
}

static int take_volume(const struct object *object, void *userdata)
{
	struct pool *pool = userdata;

	if (!may_be_taken(pool, object->persistent_volume))
		return 0;
	pool->is_incomplete = ARRAY_ROOM(pool->volumes, pool->count, pool->room, 16) < 0;
	if (pool->is_incomplete)
		return -ENOMEM;
	pool->volumes[pool->count++] = object->persistent_volume;
	return 0;
}

static void pool_done(struct pool *pool)
{
	free((void *) pool->volumes);
}

static bool is_reachable(const struct persistent_volume *volume, const struct labels *node)
{
	return !volume->node_affinity || node_selector_matches(volume->node_affinity, node);
}

/* The smallest that fits, taken from the pool; one that was made for the claim comes before all,
 * and when it is elsewhere nothing else will do. */
static bool take_match(struct pool *pool, const struct object *claim, const struct labels *node)
{
	const struct persistent_volume **best = NULL;

	for (size_t i = 0; i < pool->count; i++) {
		const struct persistent_volume **at = &pool->volumes[i];

		if (!*at)
			continue;
		if (names(*at, &claim->meta) && !(*at)->origin.is_unfinished &&
		    !volume_misfit(claim->claim, *at, RELATION_MADE)) {
			bool fits = is_reachable(*at, node);

			*at = fits ? NULL : *at;
			return fits;
		}
		if (volume_match_on_node(claim->claim, at, 1, node, NULL) &&
		    (!best || quantity_compare(&(*at)->capacity, &(*best)->capacity) < 0))
			best = at;
	}
	if (best)
		*best = NULL;
	return best != NULL;
}

/* ---- the claims of a pod on a node ---- */

static void check_bound(const struct scheduling_query *question, const struct object *claim,
			struct scheduling_verdict *ret)
{
	const struct persistent_volume *volume = scheduling_volume(question, claim);

	if (!volume)
		scheduling_add(ret, PLUGIN, false, REASON_NO_VOLUME);
	else if (!is_reachable(volume, &question->node->meta.labels))
		scheduling_add(ret, PLUGIN, false, REASON_NODE_CONFLICT);
}

static void check_delayed(const struct scheduling_query *question, const struct object *claim,
			  struct pool *pool, struct scheduling_verdict *ret)
{
	const struct labels *node = &question->node->meta.labels;
	const char *selected = claim->claim->selected_node, *reason;

	if (selected[0]) {
		if (strcmp(selected, question->node->meta.name) != 0)
			scheduling_add(ret, PLUGIN, true, REASON_BIND_CONFLICT);
		return;
	}
	if (take_match(pool, claim, node))
		return;
	reason = scheduling_provisionable(question->store, claim->claim,
					  scheduling_class(question, claim), node);
	if (reason)
		scheduling_add(ret, PLUGIN, true, "%s", reason);
}

/* The smallest claim first, so that it does not take what a larger one needs. */
static void insert_by_size(const struct object **claims, size_t count, const struct object *claim)
{
	while (count > 0 &&
	       quantity_compare(&claims[count - 1]->claim->request, &claim->claim->request) > 0) {
		claims[count] = claims[count - 1];
		count--;
	}
	claims[count] = claim;
}

static void filter(const struct scheduling_query *question, struct scheduling_verdict *ret)
{
	const struct object *delayed[CLAIMS_MAX];
	const struct pod *pod = question->pod;
	cleanup(pool_done) struct pool pool = { .claims = delayed };
	size_t count = 0;

	for (size_t i = 0; i < pod->volume_count; i++) {
		const struct object *claim = scheduling_claim(question, &pod->volumes[i]);

		if (claim && is_bound(claim->claim))
			check_bound(question, claim, ret);
		else if (claim && count < CLAIMS_MAX)
			insert_by_size(delayed, count++, claim);
	}
	pool.claim_count = count;
	if (count > 0)
		(void) store_list(question->store, KIND_PERSISTENT_VOLUME, NULL, take_volume,
				  &pool);
	if (pool.is_incomplete)
		scheduling_add(ret, PLUGIN, true, "out of memory");
	for (size_t i = 0; i < count && !pool.is_incomplete; i++)
		check_delayed(question, delayed[i], &pool, ret);
}

void scheduling_volume_binding(const struct scheduling_query *question,
			       struct scheduling_verdict *ret)
{
	const struct pod *pod = question->pod;
	bool goes_on = true;

	assert(question->node && question->node->kind == KIND_NODE);
	for (size_t i = 0; i < pod->volume_count; i++)
		if (scheduling_has_claim(&pod->volumes[i]))
			goes_on &= check_claim(question, &pod->volumes[i], ret);
	if (goes_on)
		filter(question, ret);
}

void scheduling_check(const struct scheduling_query *question, struct scheduling_verdict *ret)
{
	*ret = (struct scheduling_verdict){ .count = 0 };
	scheduling_volume_restrictions(question, ret);
	scheduling_volume_limits(question, ret);
	scheduling_volume_binding(question, ret);
	scheduling_volume_zone(question, ret);
}
