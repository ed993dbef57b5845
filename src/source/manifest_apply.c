/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_apply - writes that follow from manifests; see manifest_apply.h
 */
#include "source/manifest_apply.h"

#include "base/clock.h"
#include "base/log.h"
#include "object/kind.h"

#include <assert.h>
#include <string.h>

enum {
	CONFLICTS_MAX = 16, /* in a row, before it is reported and left to the timer */
	RETRY_USEC = 1 * USEC_PER_SEC,
	RETRY_USEC_MAX = 30 * USEC_PER_SEC,
	/* Under way at a time: one group of the store, and the next. A file may define thousands of
	 * objects, and a proposal takes ten times the memory of what it becomes. */
	WRITES_MAX = 2 * STORE_GROUP_MAX,
};

/* A write under way: outlives the source if the store answers later. */
struct manifest_pending {
	struct manifest_pending *previous, *next;
	struct manifest_apply *apply; /* NULL: the source is gone */
	struct manifest_key *key;
	enum manifest_step step;
};

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata);

int manifest_apply_init(struct manifest_apply *apply, sd_event *event)
{
	int r;

	assert(apply->store && apply->catalog && apply->unread && apply->answered);
	apply->retry_usec = RETRY_USEC;
	r = sd_event_add_time(event, &apply->retry_timer, CLOCK_MONOTONIC, UINT64_MAX, 0, on_retry,
			      apply);
	return r < 0 ? r : sd_event_source_set_enabled(apply->retry_timer, SD_EVENT_OFF);
}

void manifest_apply_done(struct manifest_apply *apply)
{
	for (struct manifest_pending *pending = apply->pendings; pending; pending = pending->next)
		pending->apply = NULL;
	apply->pendings = NULL;
	apply->retry_timer = sd_event_source_disable_unref(apply->retry_timer);
}

static void link_pending(struct manifest_pending *pending)
{
	struct manifest_apply *apply = pending->apply;

	pending->next = apply->pendings;
	if (pending->next)
		pending->next->previous = pending;
	apply->pendings = pending;
	apply->pending_count++;
}

static void unlink_pending(struct manifest_pending *pending)
{
	struct manifest_apply *apply = pending->apply;

	if (pending->previous)
		pending->previous->next = pending->next;
	else
		apply->pendings = pending->next;
	if (pending->next)
		pending->next->previous = pending->previous;
	apply->pending_count--;
}

/* ---- problems ---- */

static void report(struct manifest_apply *apply, struct manifest_key *key, const char *text)
{
	const char *file = key->definitions ? key->definitions->entry->name : "?";

	if (!manifest_key_refuse(key, text, realtime_usec()))
		return;
	apply->has_news = true;
	if (text)
		log_message(LOG_NOTICE, "manifest '%s': %s '%s%s%s': %s", file,
			    kind_row(key->kind)->singular, key->name_space,
			    key->name_space[0] ? "/" : "", key->name, text);
}

static void retry_later(struct manifest_apply *apply, struct manifest_key *key, const char *text)
{
	report(apply, key, text);
	key->retries = true;
	if (sd_event_source_get_enabled(apply->retry_timer, NULL) > 0)
		return;
	(void) sd_event_source_set_time(apply->retry_timer, monotonic_usec() + apply->retry_usec);
	(void) sd_event_source_set_enabled(apply->retry_timer, SD_EVENT_ONESHOT);
	if (apply->retry_usec < RETRY_USEC_MAX)
		apply->retry_usec *= 2;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct manifest_apply *apply = userdata;
	struct manifest_key *key, *next;

	HASH_ITER (hh, apply->catalog->keys, key, next) {
		if (!key->retries)
			continue;
		key->retries = false;
		manifest_apply_key(apply, key);
	}
	apply->answered(apply->userdata);
	return 0;
}

/* ---- uids in use ---- */

static const char *uid_of(const struct manifest_key *key)
{
	return key->kind == KIND_POD && key->definitions ? key->definitions->object->meta.uid : "";
}

static void wait_for_uid(struct manifest_apply *apply, struct manifest_key *key, bool waits)
{
	if (key->waits_for_uid == waits)
		return;
	key->waits_for_uid = waits;
	apply->uid_waiters += waits ? 1 : (size_t) -1;
}

void manifest_apply_uid_freed(struct manifest_apply *apply, const char *uid)
{
	struct manifest_key *key, *next;

	assert(apply);
	if (apply->uid_waiters == 0)
		return;
	HASH_ITER (hh, apply->catalog->keys, key, next)
		if (key->waits_for_uid && (!uid || strcmp(uid_of(key), uid) == 0))
			manifest_catalog_affect(apply->catalog, key);
}

/* ---- results of writes ---- */

/* Return: true when the plan is to be evaluated again now. */
static bool take_answer(struct manifest_apply *apply, struct manifest_key *key, int error,
			const struct failure *why)
{
	bool ask_again = key->ask_again;

	key->ask_again = false;
	switch (error) {
	case 0:
		key->conflicts = 0;
		apply->retry_usec = RETRY_USEC;
		report(apply, key, NULL);
		return ask_again;
	case -EEXIST:
	case -ENOENT:
	case -ESTALE:
		if (++key->conflicts <= CONFLICTS_MAX)
			return true;
		key->conflicts = 0;
		retry_later(apply, key, why->text);
		return false;
	case -EINVAL:
		report(apply, key, why->text);
		wait_for_uid(apply, key, *uid_of(key));
		return ask_again;
	case -ECANCELED:
		return false;
	default:
		retry_later(apply, key, why->text);
		return false;
	}
}

/* Repeated requests are one while it waits. */
static void wait_for_others(struct manifest_apply *apply, struct manifest_key *key)
{
	if (key->is_waiting)
		return;
	key->is_waiting = true;
	key->next_waiting = NULL;
	if (apply->waiting)
		apply->last_waiting->next_waiting = key;
	else
		apply->waiting = key;
	apply->last_waiting = key;
}

static void start_waiting(struct manifest_apply *apply)
{
	while (apply->waiting && apply->pending_count < WRITES_MAX) {
		struct manifest_key *key = apply->waiting;

		apply->waiting = key->next_waiting;
		key->is_waiting = false;
		manifest_apply_key(apply, key);
	}
}

/* While nothing is to be written the stored object replaces the document's: one object in memory
 * instead of two. */
static void drop_document(const struct manifest_pending *pending, const struct object *result)
{
	struct manifest_definition *definition = pending->key->definitions;

	if (pending->step != MANIFEST_STEP_CREATE && pending->step != MANIFEST_STEP_UPDATE)
		return;
	if (!definition || (!definition->entry->text && definition->object != result))
		return;
	/* Another document would have been evaluated again; one that was handed over is stored. */
	if (pending->key->ask_again && definition->object != result)
		return;
	definition->is_unread = true;
	manifest_apply_stored(pending->apply, result);
}

void manifest_apply_stored(struct manifest_apply *apply, const struct object *stored)
{
	const struct manifest_key *key = manifest_catalog_key(apply->catalog, stored);
	struct manifest_definition *definition = key ? key->definitions : NULL;

	if (!definition || !definition->is_unread || definition->object == stored)
		return;
	(void) object_unref(definition->object);
	definition->object = object_ref(stored);
}

static void on_answer(void *userdata, int error, const struct object *result,
		      const struct failure *why)
{
	struct manifest_pending *pending = userdata;
	struct manifest_apply *apply = pending->apply;
	struct manifest_key *key = pending->key;

	if (!apply) {
		free(pending);
		return;
	}
	key->is_writing = false;
	if (error == 0 && pending->step == MANIFEST_STEP_CREATE) {
		free(key->used_uid);
		key->used_uid = NULL;
	}
	if (error == 0 && result)
		drop_document(pending, result);
	/* A created object was deleted first, so this one is due again; so is a pod to replace. */
	if (error == 0 && pending->step == MANIFEST_STEP_REPLACE)
		key->ask_again = true;
	unlink_pending(pending);
	free(pending);
	if (take_answer(apply, key, error, why))
		manifest_apply_key(apply, key);
	else
		manifest_catalog_forget(apply->catalog, key);
	start_waiting(apply);
	apply->answered(apply->userdata);
}

/* ---- writes ---- */

/* Takes the result of the store_*() call for @pending. */
static void started(struct manifest_pending *pending, int r)
{
	struct manifest_apply *apply = pending->apply;
	struct manifest_key *key = pending->key;

	if (r == 0) {
		key->is_writing = true;
		link_pending(pending);
		return;
	}
	free(pending);
	if (r != -ECANCELED)
		retry_later(apply, key,
			    r == -ENOBUFS ? "the store has too many queued writes"
					  : "out of memory");
}

static struct manifest_pending *new_pending(struct manifest_apply *apply, struct manifest_key *key,
					    enum manifest_step step)
{
	struct manifest_pending *pending = calloc(1, sizeof(*pending));

	if (!pending) {
		retry_later(apply, key, "out of memory");
		return NULL;
	}
	pending->apply = apply;
	pending->key = key;
	pending->step = step;
	return pending;
}

static struct manifest_origin origin_of(const struct manifest_apply *apply,
					const struct manifest_definition *definition)
{
	return (struct manifest_origin){
		.file = definition->entry->name,
		.hash = definition->hash,
		.node_name = apply->node_name,
	};
}

/* An object that cannot be made waits for its file to change, or for memory. */
static void not_made(struct manifest_apply *apply, struct manifest_key *key, int error,
		     const struct failure *failure)
{
	if (error == -ENOMEM)
		retry_later(apply, key, "out of memory");
	else
		report(apply, key, failure->text);
}

/* The document itself, when it is new and can be read again: it becomes what is stored. */
static int proposal_of(const struct manifest_apply *apply, const struct manifest_key *key,
		       const struct object **ret, struct failure *reterr)
{
	const struct manifest_definition *definition = key->definitions;
	const struct manifest_origin origin = origin_of(apply, definition);

	if (key->used_uid || !definition->entry->text ||
	    definition->object->meta.resource_version > 0)
		return manifest_object_new(definition->object, &origin, key->used_uid, ret, reterr);
	object_hand_over(definition->object);
	*ret = object_ref(definition->object);
	return 0;
}

static void create(struct manifest_apply *apply, struct manifest_key *key)
{
	cleanup_object const struct object *object = NULL;
	struct failure failure = { .error = 0 };
	struct manifest_pending *pending;
	int r;

	r = proposal_of(apply, key, &object, &failure);
	if (r < 0) {
		not_made(apply, key, r, &failure);
		return;
	}
	pending = new_pending(apply, key, MANIFEST_STEP_CREATE);
	if (pending)
		started(pending, store_create(apply->store, object, on_answer, pending));
}

static void update(struct manifest_apply *apply, struct manifest_key *key,
		   const struct object *stored, enum manifest_step step)
{
	const struct store_precondition precondition = { .uid = stored->meta.uid,
							 .resource_version =
								 stored->meta.resource_version };
	cleanup_object const struct object *object = NULL;
	struct failure failure = { .error = 0 };
	struct manifest_pending *pending;
	struct manifest_origin origin;
	int r;

	if (step == MANIFEST_STEP_MARK_GONE) {
		r = manifest_object_gone(stored, &object, &failure);
	} else {
		origin = origin_of(apply, key->definitions);
		r = manifest_object_update(key->definitions->object, stored, &origin, &object,
					   &failure);
	}
	if (r < 0) {
		not_made(apply, key, r, &failure);
		return;
	}
	pending = new_pending(apply, key, step);
	if (pending)
		started(pending,
			store_update(apply->store, object, &precondition, on_answer, pending));
}

static void remove_stored(struct manifest_apply *apply, struct manifest_key *key,
			  const struct object *stored, enum manifest_step step)
{
	const struct store_precondition precondition = { .uid = stored->meta.uid };
	const struct store_key stored_key = { key->kind, key->name_space, key->name };
	struct manifest_pending *pending = new_pending(apply, key, step);

	if (!pending)
		return;
	started(pending,
		store_delete(apply->store, &stored_key, &precondition, on_answer, pending));
}

/* A deletion takes no memory to speak of, and a removed pod does not wait for marks of claims. */
static bool makes_proposal(enum manifest_step step)
{
	return step == MANIFEST_STEP_CREATE || step == MANIFEST_STEP_UPDATE ||
	       step == MANIFEST_STEP_MARK_GONE;
}

void manifest_apply_key(struct manifest_apply *apply, struct manifest_key *key)
{
	const struct manifest_definition *definition = key->definitions;
	struct manifest_facts facts = {
		.wanted = definition ? definition->object : NULL,
		.file = definition ? definition->entry->name : NULL,
		.hash = definition ? definition->hash : 0,
		.names_node = definition && definition->names_node,
		.is_unread = definition && definition->is_unread,
		.stored = store_get(apply->store, key->kind, key->name_space, key->name),
		.absence = key->absence,
		.is_starting = !apply->has_started,
	};
	enum manifest_step step;

	wait_for_uid(apply, key, false);
	if (key->is_writing) {
		key->ask_again = true;
		return;
	}
	if (facts.stored && manifest_mark_read(facts.stored, &facts.mark) < 0) {
		retry_later(apply, key, "out of memory");
		return;
	}
	step = manifest_decide(&facts);
	if (makes_proposal(step) && apply->pending_count >= WRITES_MAX) {
		wait_for_others(apply, key);
		return;
	}
	switch (step) {
	case MANIFEST_STEP_CREATE:
		create(apply, key);
		break;
	case MANIFEST_STEP_UPDATE:
	case MANIFEST_STEP_MARK_GONE:
		update(apply, key, facts.stored, step);
		break;
	case MANIFEST_STEP_DELETE:
	case MANIFEST_STEP_REPLACE:
		remove_stored(apply, key, facts.stored, step);
		break;
	case MANIFEST_STEP_READ:
		apply->unread(definition->entry, apply->userdata);
		break;
	case MANIFEST_STEP_AGAIN:
		retry_later(apply, key, "out of memory");
		break;
	case MANIFEST_STEP_REFUSE:
		report(apply, key,
		       "it was not made from a manifest; what is stored stays in force until it is "
		       "deleted");
		break;
	case MANIFEST_STEP_WAIT:
	case MANIFEST_STEP_NONE:
		report(apply, key, NULL);
		manifest_catalog_forget(apply->catalog, key);
		break;
	}
}
