/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_queue - sort the pods, then their claims; see scheduling.h
 */
#include "controller/scheduling/scheduling.h"

#include "controller/scheduling/consumers.h"
#include "object/kinds/pod.h"

#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { ROOM_FIRST = 16 };

struct queue {
	struct bound_pairs *bound_pairs;
	const struct object **pods; /* borrowed: nothing is written meanwhile */
	size_t count, room;
};

/* NULL: the volume is no claim's, or unknown. */
static struct bound_pair *claim_of(const struct bound_pairs *bound_pairs, const struct object *pod,
				   size_t volume)
{
	const char *name = pod->pod->volumes[volume].claim_name;

	return name && name[0] ? bound_pairs_get(bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM,
						 pod->meta.name_space, name)
			       : NULL;
}

static int add_pod(struct queue *queue, const struct object *pod)
{
	if (ARRAY_ROOM(queue->pods, queue->count, queue->room, ROOM_FIRST) < 0)
		return -ENOMEM;
	queue->pods[queue->count++] = pod;
	return 0;
}

static int add_if_due(const struct object *pod, void *userdata)
{
	struct queue *queue = userdata;

	for (size_t i = 0; i < pod->pod->volume_count; i++) {
		const struct bound_pair *claim = claim_of(queue->bound_pairs, pod, i);

		if (claim && bound_pair_is_due(claim))
			return add_pod(queue, pod);
	}
	return 0;
}

static int compare(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

/* Times of creation are whole seconds: within one, versions say who was written first. */
static int compare_pods(const void *a, const void *b)
{
	const struct object *left = *(const struct object *const *) a;
	const struct object *right = *(const struct object *const *) b;
	int r = compare(left->meta.creation_usec, right->meta.creation_usec);

	if (left->pod->priority != right->pod->priority)
		return left->pod->priority > right->pod->priority ? -1 : 1;
	return r != 0 ? r : compare(left->meta.resource_version, right->meta.resource_version);
}

/* Can what it gets be what another claim wants? */
static bool competes(struct store *store, const struct bound_pair *due, bool has_free_volumes)
{
	const struct bound_pair_name name = bound_pair_name(due);
	const struct object *object =
		store_get(store, KIND_PERSISTENT_VOLUME_CLAIM, name.name_space, name.name);
	const struct object *class;

	if (!object || object->claim->volume_name[0] || object->claim->bind_completed)
		return false;
	class = store_get(store, KIND_STORAGE_CLASS, "", object->claim->storage_class);
	return has_free_volumes || (class && class->storage_class->waits_for_first_consumer);
}

/* Of one claim alone the order is known. */
static bool has_competitors(struct store *store, const struct bound_pairs *bound_pairs,
			    bool has_free_volumes)
{
	const struct bound_pair *due = NULL;
	int count = 0;

	while (count < 2 && (due = bound_pairs_next_claim(bound_pairs, due)))
		count += competes(store, due, has_free_volumes);
	return count == 2;
}

void scheduling_queue_order(struct store *store, struct bound_pairs *bound_pairs,
			    bool has_free_volumes)
{
	struct queue queue = { .bound_pairs = bound_pairs };

	assert(store && bound_pairs);
	if (!has_competitors(store, bound_pairs, has_free_volumes))
		return;
	(void) store_list(store, KIND_POD, NULL, add_if_due, &queue);
	if (queue.count > 1)
		qsort(queue.pods, queue.count, sizeof(queue.pods[0]), compare_pods);
	/* The first pod's claims are put first at last, also those that later pods have, too. */
	for (size_t i = queue.count; i-- > 0;) {
		const struct object *pod = queue.pods[i];

		for (size_t j = pod->pod->volume_count; j-- > 0;) {
			struct bound_pair *claim = claim_of(bound_pairs, pod, j);

			if (claim)
				bound_pairs_put_first(bound_pairs, claim);
		}
	}
	free(queue.pods);
}

void scheduling_queue_pod_due(struct bound_pairs *bound_pairs, const struct object *pod)
{
	assert(bound_pairs && pod && pod->kind == KIND_POD);
	for (size_t i = 0; i < pod->pod->volume_count; i++) {
		struct bound_pair *claim = claim_of(bound_pairs, pod, i);

		if (claim)
			bound_pairs_make_due(bound_pairs, claim);
	}
}

struct user_search {
	struct bound_pairs *bound_pairs;
	const char *claim;
};

static int take_user(const struct object *pod, void *userdata)
{
	const struct user_search *search = userdata;

	if (consumers_has_claim(pod->pod, search->claim))
		scheduling_queue_pod_due(search->bound_pairs, pod);
	return 0;
}

void scheduling_queue_users_due(struct store *store, struct bound_pairs *bound_pairs,
				const struct object *claim)
{
	struct user_search search = { bound_pairs, claim->meta.name };

	assert(store && bound_pairs && claim->kind == KIND_PERSISTENT_VOLUME_CLAIM);
	(void) store_list(store, KIND_POD, claim->meta.name_space, take_user, &search);
}
