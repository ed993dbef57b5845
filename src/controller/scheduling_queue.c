/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_queue - sort the pods, then their claims; see scheduling_queue.h
 */
#include "controller/scheduling_queue.h"

#include "base/cleanup.h"
#include "controller/consumers.h"
#include "object/pod.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { ROOM_FIRST = 16 };

struct queue {
	struct partners *partners;
	const struct object **pods; /* borrowed: nothing is written meanwhile */
	size_t count, room;
};

/* NULL: the volume is no claim's, or nobody knows of it. */
static struct partner *claim_of(const struct partners *partners, const struct object *pod,
				size_t volume)
{
	const char *name = pod->pod->volumes[volume].claim_name;

	return name && name[0] ? partners_get(partners, KIND_PERSISTENT_VOLUME_CLAIM,
					      pod->meta.name_space, name)
			       : NULL;
}

static int add_pod(struct queue *queue, const struct object *pod)
{
	if (queue->count == queue->room) {
		size_t room = queue->room ? queue->room * 2 : ROOM_FIRST;
		const struct object **pods =
			reallocarray(queue->pods, room, sizeof(queue->pods[0]));

		if (!pods)
			return -ENOMEM;
		queue->pods = pods;
		queue->room = room;
	}
	queue->pods[queue->count++] = pod;
	return 0;
}

static int add_if_due(const struct object *pod, void *userdata)
{
	struct queue *queue = userdata;

	for (size_t i = 0; i < pod->pod->volume_count; i++) {
		const struct partner *claim = claim_of(queue->partners, pod, i);

		if (claim && partner_is_due(claim))
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

void scheduling_queue_order(struct store *store, struct partners *partners)
{
	struct queue queue = { .partners = partners };

	assert(store && partners);
	(void) store_list(store, KIND_POD, NULL, add_if_due, &queue);
	if (queue.count > 1)
		qsort(queue.pods, queue.count, sizeof(queue.pods[0]), compare_pods);
	/* The first pod's claims are put first at last, also those that later pods have, too. */
	for (size_t i = queue.count; i-- > 0;) {
		const struct object *pod = queue.pods[i];

		for (size_t j = pod->pod->volume_count; j-- > 0;) {
			struct partner *claim = claim_of(partners, pod, j);

			if (claim)
				partners_put_first(partners, claim);
		}
	}
	free(queue.pods);
}

void scheduling_queue_pod_due(struct partners *partners, const struct object *pod)
{
	assert(partners && pod && pod->kind == KIND_POD);
	for (size_t i = 0; i < pod->pod->volume_count; i++) {
		struct partner *claim = claim_of(partners, pod, i);

		if (claim)
			partners_make_due(partners, claim);
	}
}

struct user_search {
	struct partners *partners;
	const char *claim;
};

static int take_user(const struct object *pod, void *userdata)
{
	const struct user_search *search = userdata;

	if (consumers_has_claim(pod->pod, search->claim))
		scheduling_queue_pod_due(search->partners, pod);
	return 0;
}

void scheduling_queue_users_due(struct store *store, struct partners *partners,
				const struct object *claim)
{
	struct user_search search = { partners, claim->meta.name };

	assert(store && partners && claim->kind == KIND_PERSISTENT_VOLUME_CLAIM);
	(void) store_list(store, KIND_POD, claim->meta.name_space, take_user, &search);
}
