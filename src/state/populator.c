/* SPDX-License-Identifier: Apache-2.0 */
/*
 * populator - pods of the store become entries of the desired state; see populator.h
 *
 * Keeps the pods it knows and an index from what they are made of to them, so that a change of a
 * claim or a ConfigMap leads to its pods and to no others; a PV leads to pods through its claimRef,
 * because one without it cannot be used. A want that was added stays until its pod is gone or
 * finished: what fails later is an error of the pod and takes nothing away. Decides nothing about
 * mounts.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/populator.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "state/pod_index.h"
#include "state/volume_lookup.h"

#include <assert.h>
#include <string.h>

struct known_pod {
	const struct object *pod; /* a reference to the newest version seen */
	struct pod_references references;
	unsigned int pass;     /* the newest full pass that met it */
	uint64_t seen_version; /* the store's when its volumes were looked up last */
	UT_hash_handle hh;     /* by uid */
	char uid[];
};

struct populator {
	struct populator_options options;
	struct known_pod *pods;
	struct pod_index index;
	unsigned int pass;
	bool has_added_pods; /* the first full pass is over */
};

int populator_new(const struct populator_options *options, struct populator **ret)
{
	struct populator *populator;

	assert(options && ret);
	assert(options->store && options->desired && options->actual && options->node_name);
	populator = calloc(1, sizeof(*populator));
	if (!populator)
		return -ENOMEM;

	populator->options = *options;
	populator->index.changed = options->uses;
	populator->index.userdata = options->userdata;
	*ret = populator;
	return 0;
}

/* ---- pods that are known ---- */

/* By uid: a pod made again under the same name is another one. */
static struct known_pod *find_known(const struct populator *populator, const char *pod_uid)
{
	struct known_pod *known;

	HASH_FIND_STR(populator->pods, pod_uid, known);
	return known;
}

static void drop_known(struct populator *populator, struct known_pod *known)
{
	struct pod_references none = { .count = 0 };

	/* With nothing to add this needs no memory. */
	(void) pod_index_replace(&populator->index, known->uid, &known->references, &none);
	HASH_DEL(populator->pods, known);
	object_unref(known->pod);
	free(known);
}

static struct known_pod *insert_known(struct populator *populator, const char *uid)
{
	size_t length = strlen(uid);
	struct known_pod *known = calloc(1, sizeof(*known) + length + 1);

	if (!known)
		return NULL;
	memcpy(known->uid, uid, length);
	HASH_ADD_KEYPTR(hh, populator->pods, known->uid, length, known);
	if (known->hh.tbl)
		return known;
	free(known);
	return NULL;
}

/* For want of memory something was not looked at as it should have been. */
static void lose(const struct populator *populator)
{
	if (populator->options.lost)
		populator->options.lost(populator->options.userdata);
}

static struct known_pod *ensure_known(struct populator *populator, const struct object *pod)
{
	struct known_pod *known = find_known(populator, pod->meta.uid);

	if (!known)
		known = insert_known(populator, pod->meta.uid);
	if (!known) {
		log_about(LOG_ERR, &(struct log_subject){ .pod_uid = pod->meta.uid },
			  "out of memory: the volumes of pod '%s/%s' are looked up again later",
			  pod->meta.name_space, pod->meta.name);
		lose(populator);
		return NULL;
	}
	object_ref(pod);
	object_unref(known->pod);
	known->pod = pod;
	return known;
}

/* ---- what a pod wants ---- */

static bool is_used(const struct pod *pod, const struct pod_volume *volume)
{
	struct pod_volume_use use = pod_volume_use(pod, volume->name);

	return use.mounted || use.as_device;
}

/* A pod without a node is of this one: there is no scheduler to ask. */
static bool is_elsewhere(const struct populator *populator, const struct object *pod)
{
	return pod->pod->node_name[0] != '\0' &&
	       strcmp(pod->pod->node_name, populator->options.node_name) != 0;
}

/* Containers that have all ended may be started again, unless their pod is over or goes. */
bool populator_is_finished(const struct object *pod)
{
	assert(pod && pod->kind == KIND_POD);
	return strcmp(pod->pod->phase, "Succeeded") == 0 ||
	       strcmp(pod->pod->phase, "Failed") == 0 ||
	       (pod->meta.deletes && pod->pod->containers_terminated);
}

/* A pod that is being deleted gets nothing new. At start its containers may have run all along:
 * then what they use is its own still. */
static bool may_get_volumes(const struct populator *populator, const struct object *pod)
{
	return !pod->meta.deletes || !populator->has_added_pods ||
	       actual_pod_may_be_mounted(populator->options.actual, pod->meta.uid);
}

/* What is known of a pod's volumes, in the pod's order. */
struct found_volumes {
	struct volume_lookup *volumes; /* no unique name: not used, or not to be had */
	const char **names;            /* room for the names of one of them */
	size_t count;
};

static int found_new(size_t count, struct found_volumes *ret)
{
	*ret = (struct found_volumes){
		.volumes = calloc(count + 1, sizeof(*ret->volumes)),
		.names = calloc(count + 1, sizeof(*ret->names)),
		.count = count,
	};
	return ret->volumes && ret->names ? 0 : -ENOMEM;
}

static void found_done(struct found_volumes *found)
{
	for (size_t i = 0; found->volumes && i < found->count; i++)
		free(found->volumes[i].unique_name);
	free(found->volumes);
	free(found->names);
}

/* All names that the pod has for its volume @which: those that lead to the same unique name. */
static size_t collect_names(const struct found_volumes *found, const struct object *pod,
			    size_t which)
{
	size_t count = 0;

	for (size_t i = 0; i < found->count; i++)
		if (found->volumes[i].unique_name &&
		    strcmp(found->volumes[i].unique_name, found->volumes[which].unique_name) == 0)
			found->names[count++] = pod->pod->volumes[i].name;
	return count;
}

static int want_volume(struct populator *populator, const struct object *pod,
		       const struct found_volumes *found, size_t which, uint64_t now_usec)
{
	const struct volume_lookup *volume = &found->volumes[which];
	size_t name_count = collect_names(found, pod, which);

	return desired_add(populator->options.desired,
			   &(struct desired_want){
				   .unique_name = volume->unique_name,
				   .plugin = volume->plugin,
				   .device_mountable = volume->device_mountable,
				   .spec = &volume->spec,
				   .pod = pod,
				   .claim = volume->claim,
				   .outer_names = found->names,
				   .outer_name_count = name_count,
				   .now_usec = now_usec,
			   });
}

static void add_error(const struct populator *populator, const struct object *pod,
		      const char *outer_name, const struct failure *failure)
{
	(void) desired_add_error(populator->options.desired, pod->meta.uid, outer_name,
				 failure->error, failure->text);
	if (failure->error == -ENOMEM)
		lose(populator);
}

static int look_up(const struct populator *populator, const struct object *pod,
		   const struct pod_volume *volume, struct volume_lookup *ret,
		   struct failure *reterr)
{
	const struct populator_options *options = &populator->options;
	int r = volume_lookup(options->store, options->waits_for_moves, pod, volume, ret, reterr);

	if (r == -EAGAIN && options->explain_claim)
		reterr->error = options->explain_claim(
			options->userdata,
			store_get(options->store, KIND_PERSISTENT_VOLUME_CLAIM,
				  pod->meta.name_space, volume->claim_name),
			reterr);
	return r;
}

/* One volume that cannot be looked up does not keep the others from the pod. */
static void look_up_volumes(const struct populator *populator, const struct object *pod,
			    struct found_volumes *found)
{
	const struct pod_volume *volumes = pod->pod->volumes;

	for (size_t i = 0; i < found->count; i++) {
		struct volume_lookup lookup = { 0 };
		struct failure failure = { 0 };

		if (!is_used(pod->pod, &volumes[i]))
			continue;
		if (look_up(populator, pod, &volumes[i], &lookup, &failure) < 0)
			add_error(populator, pod, volumes[i].name, &failure);
		else
			found->volumes[i] = lookup;
	}
}

static int add_reference(const struct object_reference *reference, void *userdata)
{
	return pod_references_add(userdata, reference);
}

/* Claims also while they cannot be used: their change is what the pod waits for. */
static int collect_references(const char *node_name, const struct object *pod,
			      const struct found_volumes *found, struct pod_references *ret)
{
	int r = pod_references_add_environment(ret, pod);

	for (size_t i = 0; i < found->count && r == 0; i++) {
		const struct pod_volume *volume = &pod->pod->volumes[i];
		const struct volume_lookup *lookup = &found->volumes[i];

		if (volume_has_claim(volume) && is_used(pod->pod, volume))
			r = pod_references_add(
				ret, &(struct object_reference){ KIND_PERSISTENT_VOLUME_CLAIM,
								 pod->meta.name_space,
								 volume->claim_name });
		if (r == 0 && lookup->unique_name && lookup->plugin->references)
			r = lookup->plugin->references(&lookup->spec, node_name, add_reference,
						       ret);
	}
	return r;
}

static int index_references(struct populator *populator, struct known_pod *known,
			    const struct found_volumes *found)
{
	struct pod_references references = { .count = 0 };

	if (collect_references(populator->options.node_name, known->pod, found, &references) == 0)
		return pod_index_replace(&populator->index, known->uid, &known->references,
					 &references);
	pod_references_done(&references);
	return -ENOMEM;
}

static void want_volumes(struct populator *populator, struct known_pod *known, uint64_t now_usec)
{
	const struct object *pod = known->pod;
	cleanup(found_done) struct found_volumes found = { 0 };
	struct failure failure = { 0 };

	desired_clear_errors(populator->options.desired, pod->meta.uid);
	if (found_new(pod->pod->volume_count, &found) < 0) {
		(void) failed(&failure, -ENOMEM, "cannot look up the volumes of the pod");
		add_error(populator, pod, "", &failure);
		return;
	}
	look_up_volumes(populator, pod, &found);
	if (index_references(populator, known, &found) < 0) {
		(void) failed(&failure, -ENOMEM, "cannot follow the objects of the pod");
		add_error(populator, pod, "", &failure);
	}
	for (size_t i = 0; i < found.count; i++) {
		const char *name = pod->pod->volumes[i].name;

		if (!found.volumes[i].unique_name ||
		    want_volume(populator, pod, &found, i, now_usec) >= 0)
			continue;
		(void) failed(&failure, -ENOMEM, "cannot keep volume '%s'", name);
		add_error(populator, pod, name, &failure);
	}
}

/* Removing changes the list that is walked, so always its first. */
static void want_nothing(struct populator *populator, const char *pod_uid)
{
	struct desired *desired = populator->options.desired;
	const char *unique_name;

	desired_clear_errors(desired, pod_uid);
	while ((unique_name = desired_volume_of_pod(desired, pod_uid, 0)))
		desired_remove(desired, unique_name, pod_uid);
}

static void report(const struct populator *populator, const struct object *pod)
{
	if (populator->options.synced)
		populator->options.synced(populator->options.userdata, pod);
}

/* What it wants already it keeps. */
static bool must_wait(const struct populator *populator, const struct object *pod)
{
	const struct populator_options *options = &populator->options;

	return options->must_wait && !desired_volume_of_pod(options->desired, pod->meta.uid, 0) &&
	       options->must_wait(options->userdata, pod);
}

/* An error keeps what was wanted before: a claim that vanished does not unmount a running pod. */
static void resolve_pod(struct populator *populator, struct known_pod *known, uint64_t now_usec)
{
	const struct object *pod = known->pod;

	known->seen_version = store_resource_version(populator->options.store);
	if (populator_is_finished(pod))
		want_nothing(populator, pod->meta.uid);
	else if (may_get_volumes(populator, pod) && !must_wait(populator, pod))
		want_volumes(populator, known, now_usec);
	report(populator, pod);
}

/* Wants first: they may be left of a pod that there was no memory to know. */
static void forget(struct populator *populator, const struct object *pod)
{
	struct known_pod *known = find_known(populator, pod->meta.uid);

	want_nothing(populator, pod->meta.uid);
	if (!known)
		return;
	report(populator, pod);
	drop_known(populator, known);
}

static void change_pod(struct populator *populator, const struct object *pod, uint64_t now_usec)
{
	struct known_pod *known;

	if (is_elsewhere(populator, pod)) {
		forget(populator, pod);
		return;
	}
	known = ensure_known(populator, pod);
	if (!known)
		return;
	known->pass = populator->pass;
	resolve_pod(populator, known, now_usec);
}

/* ---- what changed ---- */

struct change {
	const struct object_reference *reference;
	bool concerns; /* the volume that is asked about */
};

static int compare_reference(const struct object_reference *reference, void *userdata)
{
	struct change *change = userdata;

	change->concerns = reference->kind == change->reference->kind &&
			   strcmp(reference->name_space, change->reference->name_space) == 0 &&
			   strcmp(reference->name, change->reference->name) == 0;
	return change->concerns;
}

static bool is_made_from(const struct populator *populator, const struct desired_volume *volume,
			 const struct desired_pod *pod, const struct object_reference *reference)
{
	struct change change = { .reference = reference };

	if (volume->plugin->references)
		(void) volume->plugin->references(&pod->spec, populator->options.node_name,
						  compare_reference, &change);
	return change.concerns;
}

/* The volumes of one pod that are made from an object that changed; NULL: from any object. */
static void renew_volumes(const struct populator *populator, const char *pod_uid,
			  const struct object_reference *reference)
{
	const struct populator_options *options = &populator->options;
	const char *unique_name;

	for (size_t i = 0; (unique_name = desired_volume_of_pod(options->desired, pod_uid, i));
	     i++) {
		const struct desired_volume *volume = desired_find(options->desired, unique_name);

		if (reference &&
		    !is_made_from(populator, volume, desired_find_pod(volume, pod_uid), reference))
			continue;
		desired_request_remount(options->desired, unique_name, pod_uid);
		if (reference && options->renewed)
			options->renewed(options->userdata, unique_name);
	}
}

/* Looking at a pod may change what it leads to: so the pods are noted first. */
static size_t pods_of(const struct populator *populator, const struct object_reference *reference,
		      struct known_pod ***ret)
{
	struct known_pod **pods;
	size_t count = 0;

	while (pod_index_at(&populator->index, reference, count))
		count++;
	*ret = pods = calloc(count + 1, sizeof(*pods));
	if (!pods) {
		log_message(LOG_ERR, "out of memory: users of '%s/%s' are looked up again later",
			    reference->name_space, reference->name);
		lose(populator);
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		pods[i] = find_known(populator, pod_index_at(&populator->index, reference, i));
	return count;
}

/* Pods that lead to it and no others. Of several changes that are taken at once the first finds
 * what the last has made, so each pod is looked at once, unless what is not stored changed
 * (@always). */
static void change_reference(struct populator *populator, const struct object_reference *reference,
			     bool always, uint64_t now_usec)
{
	cleanup_free struct known_pod **pods = NULL;
	size_t count = pods_of(populator, reference, &pods);
	uint64_t version = store_resource_version(populator->options.store);

	for (size_t i = 0; i < count; i++) {
		if (always || pods[i]->seen_version != version)
			resolve_pod(populator, pods[i], now_usec);
		renew_volumes(populator, pods[i]->uid, reference);
	}
}

static void change_claim(struct populator *populator, const char *name_space, const char *name,
			 bool always, uint64_t now_usec)
{
	change_reference(
		populator,
		&(struct object_reference){ KIND_PERSISTENT_VOLUME_CLAIM, name_space, name },
		always, now_usec);
}

static void change_pv(struct populator *populator, const struct object *pv, uint64_t now_usec)
{
	const struct persistent_volume *volume = pv->persistent_volume;

	if (volume->has_claim_ref)
		change_claim(populator, volume->claim_namespace, volume->claim_name, false,
			     now_usec);
}

static bool is_of_same_claim(const struct object *a, const struct object *b)
{
	const struct persistent_volume *pv_a = a->persistent_volume, *pv_b = b->persistent_volume;

	return pv_a->has_claim_ref == pv_b->has_claim_ref &&
	       strcmp(pv_a->claim_namespace, pv_b->claim_namespace) == 0 &&
	       strcmp(pv_a->claim_name, pv_b->claim_name) == 0;
}

void populator_change(struct populator *populator, const struct store_change *change,
		      uint64_t now_usec)
{
	const struct object *object;
	struct object_reference reference;

	assert(populator && change && change->object);
	object = change->object;
	reference = (struct object_reference){ object->kind, object->meta.name_space,
					       object->meta.name };
	switch (object->kind) {
	case KIND_POD:
		/* The same name with another uid is another pod. */
		if (change->previous && strcmp(change->previous->meta.uid, object->meta.uid) != 0)
			forget(populator, change->previous);
		if (change->type == STORE_DELETED) {
			forget(populator, object);
			return;
		}
		change_pod(populator, object, now_usec);
		renew_volumes(populator, object->meta.uid, &reference);
		return;
	case KIND_PERSISTENT_VOLUME:
		if (change->previous && !is_of_same_claim(change->previous, object))
			change_pv(populator, change->previous, now_usec);
		change_pv(populator, object, now_usec);
		return;
	case KIND_CLUSTER_TRUST_BUNDLE:
		change_reference(populator, &reference, false, now_usec);
		/* And those that want all with certain labels. */
		change_reference(populator, &(struct object_reference){ object->kind, "", "" },
				 false, now_usec);
		return;
	default:
		change_reference(populator, &reference, false, now_usec);
		return;
	}
}

void populator_claim(struct populator *populator, const char *name_space, const char *name,
		     uint64_t now_usec)
{
	assert(populator && name_space && name);
	change_claim(populator, name_space, name, true, now_usec);
}

struct pass {
	struct populator *populator;
	uint64_t now_usec;
};

static int visit_pod(const struct object *pod, void *userdata)
{
	struct pass *pass = userdata;

	change_pod(pass->populator, pod, pass->now_usec);
	renew_volumes(pass->populator, pod->meta.uid, NULL);
	return 0;
}

void populator_full_pass(struct populator *populator, uint64_t now_usec)
{
	struct pass pass = { .populator = populator, .now_usec = now_usec };
	struct known_pod *known, *next;

	assert(populator);
	populator->pass++;
	(void) store_list(populator->options.store, KIND_POD, NULL, visit_pod, &pass);
	HASH_ITER (hh, populator->pods, known, next)
		if (known->pass != populator->pass)
			forget(populator, known->pod);
	populator->has_added_pods = true;
}

void populator_pod(struct populator *populator, const char *name_space, const char *name,
		   uint64_t now_usec)
{
	const struct object *pod;

	assert(populator && name_space && name);
	pod = store_get(populator->options.store, KIND_POD, name_space, name);
	if (!pod)
		return;
	change_pod(populator, pod, now_usec);
	if (!desired_errors(populator->options.desired, pod->meta.uid))
		renew_volumes(populator, pod->meta.uid, NULL);
}

struct populator *populator_free(struct populator *populator)
{
	struct known_pod *known, *next;

	if (!populator)
		return NULL;

	HASH_ITER (hh, populator->pods, known, next)
		drop_known(populator, known);
	free(populator);
	return NULL;
}
