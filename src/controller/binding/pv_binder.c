/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pv_binder - watch claims and volumes, look at who is concerned, write; see controller.h
 *
 * A claim and the volume that it names, created by one commit, are bound by it (store/pairs.h). A
 * write expects the version it was decided on, so two looks that cross end in a conflict, which
 * is one more reason to sync. The writes of a binding are queued back to back, so that the store
 * may commit them together: each is decided on what the one before makes, and refused when that one
 * is. What could not be stored for another reason is tried again when anything changes: a full disk
 * has no event of its own.
 */
#include "controller/controller.h"

#include "base/log.h"
#include "controller/binding/binding.h"
#include "controller/binding/bound_pairs.h"
#include "controller/binding/volume_match.h"
#include "controller/controller_class.h"
#include "controller/scheduling/consumers.h"
#include "controller/scheduling/scheduling.h"
#include "object/kinds/pod.h"
#include "store/pairs.h"

#include <assert.h>
#include <string.h>

enum { CANDIDATES_MAX = 64 }; /* volumes that name the same claim; more are not asked */

/* Writes of one look under way: outlives the binder if the store answers later. */
struct pending {
	struct pending *previous, *next;
	struct pv_binder *binder; /* NULL: the binder is gone */
	struct bound_pair *bound_pair;
	struct bound_pair *volume; /* that @partner, a claim, is being bound to; NULL: none */
	unsigned int left;         /* answers to come */
	unsigned int kinds;        /* set of 1 << enum object_kind: written so far */
	int error;                 /* of the first that failed: the others follow from it */
};

/* What a look at a claim is decided on. */
struct claim_sync {
	struct claim_facts facts;
	const struct persistent_volume *candidates[CANDIDATES_MAX];
	struct consumers consumers;
};

struct pv_binder {
	struct controller base;
	struct controller_options options;
	struct bound_pairs bound_pairs;
	struct free_volumes free;
	struct pending *pendings;
	bool has_stuck;    /* something could not be stored */
	bool has_offer;    /* a volume became free, or a class changed */
	bool has_helped;   /* a claim came, or was bound, that a pod which cannot be here may use */
	bool has_refused;  /* some pod cannot be here for want of one of its claims */
	bool has_crowded;  /* or because of other pods */
	unsigned int came; /* pods since the last turn */
};

static void work(struct pv_binder *binder);

/* ---- sync ---- */

static const struct object *object_of(struct pv_binder *binder, const struct bound_pair *bound_pair)
{
	const struct bound_pair_name name = bound_pair_name(bound_pair);

	return store_get(binder->options.store, bound_pair_kind(bound_pair), name.name_space,
			 name.name);
}

static const struct persistent_volume *volume_named(struct pv_binder *binder, const char *name)
{
	const struct object *object =
		name[0] ? store_get(binder->options.store, KIND_PERSISTENT_VOLUME, "", name) : NULL;

	return object ? object->persistent_volume : NULL;
}

/* A pod without a node counts: it is this node's, as there is no scheduler. */
static int uses_claim(const struct object *pod, void *userdata)
{
	return consumers_may_use(pod->pod, userdata);
}

/* A walk over the pods: only claims that are being deleted pay for it. */
static bool is_used(struct pv_binder *binder, const struct object *claim)
{
	return claim->meta.deletes &&
	       store_list(binder->options.store, KIND_POD, claim->meta.name_space, uses_claim,
			  (void *) claim) > 0;
}

/* ---- first consumers ---- */

/* A claim that waits and is being written gets a node, or a volume. */
static bool is_assumed(void *userdata, const struct object *claim)
{
	const struct pv_binder *binder = userdata;
	const struct bound_pair *bound_pair =
		bound_pairs_get(&binder->bound_pairs, KIND_PERSISTENT_VOLUME_CLAIM,
				claim->meta.name_space, claim->meta.name);

	return bound_pair && bound_pair_is_busy(bound_pair);
}

/* Which node is the claim's? Asked only of those whose class waits for a consumer. */
static void find_consumers(struct pv_binder *binder, const struct object *claim,
			   struct claim_sync *sync)
{
	const char *selected = claim->claim->selected_node, *node_name = binder->options.node_name;
	const struct scheduling_assumed assumed = { is_assumed, binder };
	struct claim_facts *facts = &sync->facts;

	if (!selected[0]) {
		consumers_find(binder->options.store, node_name, claim, &assumed, &sync->consumers);
		facts->node = sync->consumers.node;
		facts->this_node =
			node_name ? store_get(binder->options.store, KIND_NODE, "", node_name)
				  : NULL;
		binder->has_crowded |= !facts->node && sync->consumers.is_crowded;
		if (!facts->node && sync->consumers.reason[0])
			facts->no_provision = sync->consumers.reason;
	} else if (node_name && strcmp(selected, node_name) == 0) {
		facts->node = store_get(binder->options.store, KIND_NODE, "", node_name);
	}
	if (facts->node)
		facts->no_provision =
			scheduling_provisionable(binder->options.store, claim->claim,
						 facts->storage_class, &facts->node->meta.labels);
	binder->has_refused |= facts->no_provision != NULL;
}

/* The newest of those that are marked; the first by name of equally old ones. */
static int take_default(const struct object *object, void *userdata)
{
	const struct storage_class **best = userdata, *class = object->storage_class;

	if (class->is_default &&
	    (!*best || object->meta.creation_usec > (*best)->object->meta.creation_usec))
		*best = class;
	return 0;
}

static bool looks_for_volume(const struct persistent_volume_claim *claim)
{
	return !claim->volume_name[0] && !claim->bind_completed;
}

/* What a claim that names no volume is matched with. */
static void offer(struct pv_binder *binder, struct claim_facts *facts)
{
	facts->free = binder->free.volumes;
	facts->free_count = binder->free.count;
	if (!facts->claim->has_storage_class)
		(void) store_list(binder->options.store, KIND_STORAGE_CLASS, NULL, take_default,
				  (void *) &facts->default_class);
}

static void sync_claim(struct pv_binder *binder, const struct bound_pair *bound_pair,
		       const struct object *object, struct claim_sync *ret)
{
	struct claim_facts *facts = &ret->facts;
	const struct object *storage_class;
	struct bound_pair *const *namers;
	size_t count;

	*facts = (struct claim_facts){
		.claim = object->claim,
		.named = volume_named(binder, object->claim->volume_name),
		.candidates = ret->candidates,
		.is_used = is_used(binder, object),
		.waiting_pods = ret->consumers.names,
	};
	ret->consumers.names[0] = '\0';
	ret->consumers.refused = NULL;
	namers = bound_pair_namers(bound_pair, &count);
	for (size_t i = 0; i < count && facts->candidate_count < CANDIDATES_MAX; i++) {
		const struct object *volume = object_of(binder, namers[i]);

		if (volume)
			ret->candidates[facts->candidate_count++] = volume->persistent_volume;
	}
	storage_class = store_get(binder->options.store, KIND_STORAGE_CLASS, "",
				  object->claim->storage_class);
	if (storage_class)
		facts->storage_class = storage_class->storage_class;
	if (!looks_for_volume(object->claim))
		return;
	offer(binder, facts);
	if (facts->storage_class && facts->storage_class->waits_for_first_consumer)
		find_consumers(binder, object, ret);
}

static void sync_volume(struct pv_binder *binder, const struct object *object,
			struct binding_step *ret)
{
	const struct persistent_volume *volume = object->persistent_volume;
	struct volume_facts facts = { .volume = volume };
	const struct object *claim;

	if (volume->has_claim_ref) {
		claim = store_get(binder->options.store, KIND_PERSISTENT_VOLUME_CLAIM,
				  volume->claim_namespace, volume->claim_name);
		if (claim)
			facts.claim = claim->claim;
	}
	binding_decide_volume(&facts, ret);
}

/* ---- reports ---- */

static void report(struct pv_binder *binder, struct bound_pair *bound_pair,
		   const struct object *object, const struct binding_step *step)
{
	const struct object *other = NULL;

	if (!step->event_reason) {
		if (step->write != BINDING_NOTHING)
			(void) bound_pair_says_again(bound_pair, NULL, NULL);
		return;
	}
	if (bound_pair_says_again(bound_pair, step->event_reason, step->event_text))
		return;
	binder->options.event_fn(binder->options.userdata, object, step->event_type,
				 step->event_reason, step->event_text);
	if (step->event_on_bound_pair && object->kind == KIND_PERSISTENT_VOLUME)
		other = store_get(binder->options.store, KIND_PERSISTENT_VOLUME_CLAIM,
				  object->persistent_volume->claim_namespace,
				  object->persistent_volume->claim_name);
	if (other)
		binder->options.event_fn(binder->options.userdata, other, step->event_type,
					 step->event_reason, step->event_text);
}

/* The pod's own event, as a scheduler's. */
static void report_refused(struct pv_binder *binder, struct bound_pair *bound_pair,
			   const struct consumers *consumers)
{
	if (!bound_pair_refuses_again(bound_pair, consumers->why))
		binder->options.event_fn(binder->options.userdata, consumers->refused, "Warning",
					 "FailedScheduling", consumers->why);
}

/* ---- writing ---- */

static void unlink_pending(struct pending *pending)
{
	if (pending->previous)
		pending->previous->next = pending->next;
	else
		pending->binder->pendings = pending->next;
	if (pending->next)
		pending->next->previous = pending->previous;
}

static void link_pending(struct pending *pending)
{
	struct pv_binder *binder = pending->binder;

	pending->next = binder->pendings;
	if (pending->next)
		pending->next->previous = pending;
	binder->pendings = pending;
	bound_pair_set_busy(&binder->bound_pairs, pending->bound_pair, true);
	if (pending->volume)
		bound_pair_set_busy(&binder->bound_pairs, pending->volume, true);
}

static void end_pending(struct pending *pending)
{
	struct pv_binder *binder = pending->binder;

	bound_pair_set_busy(&binder->bound_pairs, pending->bound_pair, false);
	if (pending->volume)
		bound_pair_set_busy(&binder->bound_pairs, pending->volume, false);
	if (pending->error == -ESTALE || pending->error == -ENOENT) {
		bound_pairs_make_due(&binder->bound_pairs, pending->bound_pair);
		/* It may have kept others out, and does not come. */
		binder->has_offer |= binder->has_crowded;
	}
	unlink_pending(pending);
	free(pending);
	work(binder);
}

static void on_answer(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct pending *pending = userdata;
	bool is_first_error = error < 0 && pending->error == 0;

	pending->left--;
	if (is_first_error)
		pending->error = error;
	if (!pending->binder) {
		if (pending->left == 0)
			free(pending);
		return;
	}
	if (is_first_error && error != -ESTALE && error != -ENOENT && error != -ECANCELED) {
		log_message(LOG_WARNING, "binding: %s", why->text);
		/* What is not valid now is valid only after a change of its own. */
		pending->binder->has_stuck |= error != -EINVAL;
	}
	if (pending->left == 0)
		end_pending(pending);
}

static struct pending *new_pending(struct pv_binder *binder, struct bound_pair *bound_pair,
				   const struct binding_step *step)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	if (!pending)
		return NULL;
	pending->binder = binder;
	pending->bound_pair = bound_pair;
	if (step->volume)
		pending->volume = bound_pairs_get(&binder->bound_pairs, KIND_PERSISTENT_VOLUME, "",
						  step->volume->object->meta.name);
	/* Its own write comes first and tells whether this one still fits. */
	if (pending->volume && bound_pair_is_busy(pending->volume))
		pending->volume = NULL;
	return pending;
}

/* @ret: borrowed; the store holds what it has queued. */
static int queue_write(struct pending *pending, const struct object *about,
		       const struct binding_step *step, const struct object **ret)
{
	cleanup_object const struct object *made = NULL;
	struct failure failure = { .error = 0 };
	struct store_precondition expected;
	int r;

	r = binding_make(step, about, &made, &failure);
	if (r < 0) {
		log_message(LOG_WARNING, "binding: %s", failure.text);
		return r;
	}
	/* The version that an earlier write of this look makes is not known yet. */
	expected = (struct store_precondition){
		.uid = made->meta.uid,
		.resource_version =
			pending->kinds & 1U << made->kind ? 0 : made->meta.resource_version,
		.follows = pending->left > 0,
	};
	r = store_update(pending->binder->options.store, made, &expected, on_answer, pending);
	if (r < 0)
		return r;
	pending->left++;
	pending->kinds |= 1U << made->kind;
	*ret = made;
	return 0;
}

/* @facts: of a claim, changed on the way; NULL for a volume, which has one write at a time. */
static int start_writes(struct pv_binder *binder, struct bound_pair *bound_pair,
			const struct object *about, struct claim_facts *facts,
			struct binding_step *step)
{
	const struct persistent_volume *chosen = step->volume;
	struct pending *pending = new_pending(binder, bound_pair, step);
	const struct object *made;
	int r;

	if (!pending)
		return -ENOMEM;
	do {
		r = queue_write(pending, facts ? facts->claim->object : about, step, &made);
	} while (r == 0 && facts && binding_decide_next(facts, made, step));
	/* No other claim chooses it. When the writes fail it has changed, which makes it free
	 * again, or it is not valid. */
	if (chosen)
		free_volumes_remove(&binder->free, chosen);
	if (pending->left > 0)
		link_pending(pending);
	else
		free(pending);
	return r == -EINVAL ? 0 : r;
}

static void sync_pair(struct pv_binder *binder, struct bound_pair *bound_pair)
{
	const struct object *object = object_of(binder, bound_pair);
	struct claim_facts *facts = NULL;
	struct binding_step step;
	struct claim_sync sync;

	if (!object) {
		bound_pairs_forget(&binder->bound_pairs, bound_pair);
		return;
	}
	if (object->kind == KIND_PERSISTENT_VOLUME_CLAIM) {
		facts = &sync.facts;
		sync_claim(binder, bound_pair, object, &sync);
		bound_pair_set_waiting(&binder->bound_pairs, bound_pair,
				       looks_for_volume(object->claim));
		binding_decide_claim(facts, &step);
	} else {
		sync_volume(binder, object, &step);
	}
	if (facts && sync.consumers.refused)
		report_refused(binder, bound_pair, &sync.consumers);
	report(binder, bound_pair, object, &step);
	if (step.write != BINDING_NOTHING &&
	    start_writes(binder, bound_pair, object, facts, &step) < 0)
		binder->has_stuck = true;
}

static void work(struct pv_binder *binder)
{
	bool has_order = binder->has_offer || binder->has_helped || binder->came > 1;
	struct bound_pair *bound_pair;

	if (binder->has_offer) {
		binder->has_refused = binder->has_crowded = false;
		bound_pairs_make_waiting_due(&binder->bound_pairs);
	}
	binder->has_offer = binder->has_helped = false;
	binder->came = 0;
	if (has_order)
		scheduling_queue_order(binder->options.store, &binder->bound_pairs,
				       binder->free.count > 0);
	while ((bound_pair = bound_pairs_take_due(&binder->bound_pairs)))
		sync_pair(binder, bound_pair);
}

/* ---- watching ---- */

static int put_if_free(struct pv_binder *binder, const struct object *object)
{
	return volume_is_free(object->persistent_volume)
		       ? free_volumes_put(&binder->free, object->persistent_volume)
		       : 0;
}

/* Everything again: at the start, and when the ring went on without us. */
static void begin(void *userdata)
{
	struct pv_binder *binder = userdata;

	binder->has_offer = true;
	free_volumes_done(&binder->free);
}

static int add_object(const struct object *object, void *userdata)
{
	struct pv_binder *binder = userdata;
	int r = bound_pairs_set(&binder->bound_pairs, object, NULL);

	if (r == 0 && object->kind == KIND_PERSISTENT_VOLUME)
		r = put_if_free(binder, object);
	return r;
}

/* One that goes, or that has ended, leaves room to those that were kept out. */
static void take_pod_change(struct pv_binder *binder, const struct store_change *change)
{
	const struct object *pod = change->object;
	bool has_ended = pod->pod->containers_terminated &&
			 !(change->previous && change->previous->pod->containers_terminated);

	binder->came += change->type == STORE_ADDED;
	binder->has_offer |= binder->has_crowded && (change->type == STORE_DELETED || has_ended);
	/* It may have been the last one that a deleted claim waited for, or is the first consumer
	 * of another. */
	if (change->type != STORE_MODIFIED || pod->meta.deletes)
		scheduling_queue_pod_due(&binder->bound_pairs, pod);
}

/* What another claim of a pod was waited for may be there: those of its pods, and of no others, so
 * that thousands that cannot be here do not make every claim dear. */
static void take_help(struct pv_binder *binder, const struct object *claim,
		      const struct object *before)
{
	if (!binder->has_refused ||
	    (before && (!claim->claim->bind_completed || before->claim->bind_completed)))
		return;
	binder->has_helped = true;
	scheduling_queue_users_due(binder->options.store, &binder->bound_pairs, claim);
}

static int take_bound_pair(struct pv_binder *binder, const struct object *now,
			   const struct object *before)
{
	int r = bound_pairs_set(&binder->bound_pairs, now, before);

	if (before && before->kind == KIND_PERSISTENT_VOLUME)
		free_volumes_remove(&binder->free, before->persistent_volume);
	if (now && now->kind == KIND_PERSISTENT_VOLUME_CLAIM)
		take_help(binder, now, before);
	if (r < 0 || !now || now->kind != KIND_PERSISTENT_VOLUME)
		return r;
	binder->has_offer |= volume_is_free(now->persistent_volume);
	return put_if_free(binder, now);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct pv_binder *binder = userdata;
	bool is_gone = change->type == STORE_DELETED;

	switch (change->object->kind) {
	case KIND_POD:
		take_pod_change(binder, change);
		return 0;
	case KIND_NODE: /* what it reports of itself later changes nothing here */
		binder->has_offer |= change->type == STORE_ADDED;
		return 0;
	case KIND_CSI_NODE: /* a driver takes more volumes, maybe */
		binder->has_offer |= binder->has_crowded;
		return 0;
	case KIND_CSI_STORAGE_CAPACITY: /* or has more room */
		binder->has_offer |= binder->has_refused;
		return 0;
	case KIND_STORAGE_CLASS:
	case KIND_CSI_DRIVER:
		binder->has_offer = true;
		return 0;
	default:
		break;
	}
	return take_bound_pair(binder, is_gone ? NULL : change->object,
			       is_gone ? change->object : change->previous);
}

static void act(void *userdata)
{
	struct pv_binder *binder = userdata;

	if (binder->has_stuck) {
		binder->has_stuck = false;
		reflector_list_again(binder->base.reflector);
	}
	work(binder);
}

/* ---- life ---- */

static void close_all(void *userdata)
{
	struct pv_binder *binder = userdata;

	store_bind_new(binder->options.store, NULL);
	for (struct pending *pending = binder->pendings; pending; pending = pending->next)
		pending->binder = NULL;
	bound_pairs_done(&binder->bound_pairs);
	free_volumes_done(&binder->free);
}

/* No queue: an item here is a pair of claim and volume. */
static const struct controller_class pv_binder_class = {
	CONTROLLER_OF(pv_binder),
	.what = "claims",
	.kinds = 1 << KIND_PERSISTENT_VOLUME | 1 << KIND_PERSISTENT_VOLUME_CLAIM | 1 << KIND_POD |
		 1 << KIND_STORAGE_CLASS | 1 << KIND_NODE | 1 << KIND_CSI_NODE |
		 1 << KIND_CSI_DRIVER | 1 << KIND_CSI_STORAGE_CAPACITY,
	.lists = { { KIND_PERSISTENT_VOLUME_CLAIM, add_object },
		   { KIND_PERSISTENT_VOLUME, add_object } },
	.begin = begin,
	.take_change = take_change,
	.act = act,
	.close = close_all,
};

int pv_binder_new(const struct controller_options *options, struct pv_binder **ret)
{
	int r;

	assert(options->event_fn && ret);
	r = controller_new(&pv_binder_class, options, ret);
	if (r == 0)
		store_bind_new(options->store, binding_bind_new);
	return r;
}

struct pv_binder *pv_binder_free(struct pv_binder *binder)
{
	return controller_free(binder);
}
