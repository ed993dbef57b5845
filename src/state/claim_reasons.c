/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_reasons - why a claim is not bound; see claim_reasons.h
 *
 * An entry for each unbound claim that an event was about, by uid. Events are known by a watch, so
 * that a sidecar's count as podvold's do.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/claim_reasons.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "store/reflector.h"

#include <assert.h>
#include <string.h>

struct claim_reason {
	char *uid;
	char *text; /* the event's message */
	bool is_warning;
	UT_hash_handle hh; /* by uid */
};

struct claim_reasons {
	struct claim_reasons_options options;
	struct reflector *reflector;
	struct claim_reason *by_uid;
};

/* ---- the table ---- */

static struct claim_reason *find(const struct claim_reasons *reasons, const char *uid)
{
	struct claim_reason *reason;

	HASH_FIND_STR(reasons->by_uid, uid, reason);
	return reason;
}

static void forget(struct claim_reasons *reasons, struct claim_reason *reason)
{
	HASH_DEL(reasons->by_uid, reason);
	free(reason->uid);
	free(reason->text);
	free(reason);
}

/* NULL: no memory. */
static struct claim_reason *add(struct claim_reasons *reasons, const char *uid)
{
	struct claim_reason *reason = calloc(1, sizeof(*reason));

	if (!reason)
		return NULL;
	reason->uid = strdup(uid);
	if (reason->uid) {
		HASH_ADD_KEYPTR(hh, reasons->by_uid, reason->uid, strlen(reason->uid), reason);
		if (reason->hh.tbl)
			return reason;
	}
	free(reason->uid);
	free(reason);
	return NULL;
}

/* ---- events ---- */

/* An attempt that begins does not undo what made the one before it fail. */
static bool is_news(const struct claim_reason *reason, const char *why, const char *text,
		    bool is_warning)
{
	if (!reason)
		return true;
	if (reason->is_warning && !is_warning && strcmp(why, "Provisioning") == 0)
		return false;
	return reason->is_warning != is_warning || strcmp(reason->text, text) != 0;
}

static int keep(struct claim_reasons *reasons, const char *uid, const char *text, bool is_warning)
{
	struct claim_reason *reason = find(reasons, uid);
	char *copy = strdup(text);

	if (!reason && copy)
		reason = add(reasons, uid);
	if (!reason) {
		free(copy);
		return -ENOMEM;
	}
	free(reason->text);
	reason->text = copy;
	reason->is_warning = is_warning;
	if (copy)
		return 0;
	forget(reasons, reason);
	return -ENOMEM;
}

static bool is_unbound(const struct object *claim)
{
	return claim && claim->claim->phase != CLAIM_BOUND;
}

static int take_event(const struct object *event, void *userdata)
{
	struct claim_reasons *reasons = userdata;
	cleanup_json struct cJSON *tree = object_tree(event);
	const struct cJSON *about = json_get(tree, "involvedObject");
	const char *uid = json_text(about, "uid");
	const char *name = json_text(about, "name");
	const char *text = json_text(tree, "message");
	const char *why = json_text(tree, "reason");
	bool is_warning = json_text_is(tree, "type", "Warning");
	const struct object *claim;
	int r;

	if (!tree)
		return -ENOMEM;
	if (!json_text_is(about, "kind", "PersistentVolumeClaim"))
		return 0;
	claim = store_get(reasons->options.store, KIND_PERSISTENT_VOLUME_CLAIM,
			  event->meta.name_space, name);
	if (!is_unbound(claim) || strcmp(claim->meta.uid, uid) != 0 || !*text ||
	    !is_news(find(reasons, uid), why, text, is_warning))
		return 0;
	r = keep(reasons, uid, text, is_warning);
	if (r == 0)
		populator_claim(reasons->options.populator, claim->meta.name_space, name,
				monotonic_usec());
	return r;
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct claim_reasons *reasons = userdata;
	struct claim_reason *reason;

	if (change->object->kind == KIND_EVENT)
		return change->type == STORE_DELETED ? 0 : take_event(change->object, reasons);
	reason = find(reasons, change->object->meta.uid);
	if (reason && (change->type == STORE_DELETED || !is_unbound(change->object)))
		forget(reasons, reason);
	return 0;
}

static void begin(void *userdata)
{
	struct claim_reasons *reasons = userdata;

	while (reasons->by_uid)
		forget(reasons, reasons->by_uid);
}

static void act(void *userdata)
{
}

/* ---- life ---- */

int claim_reasons_new(const struct claim_reasons_options *options, struct claim_reasons **ret)
{
	static const struct reflector_list lists[] = { { KIND_EVENT, take_event } };
	struct claim_reasons *reasons = calloc(1, sizeof(*reasons));
	int r;

	assert(options && options->store && options->populator && ret);
	if (!reasons)
		return -ENOMEM;
	reasons->options = *options;
	r = reflector_new(&(struct reflector_options){ .event = options->event,
						       .priority = options->priority,
						       .store = options->store,
						       .kinds = 1U << KIND_EVENT |
								1U << KIND_PERSISTENT_VOLUME_CLAIM,
						       .lists = lists,
						       .list_count = ARRAY_SIZE(lists),
						       .what = "reasons of claims",
						       .begin = begin,
						       .take_change = take_change,
						       .act = act,
						       .userdata = reasons },
			  &reasons->reflector);
	if (r < 0) {
		(void) claim_reasons_free(reasons);
		return r;
	}
	*ret = reasons;
	return 0;
}

struct claim_reasons *claim_reasons_free(struct claim_reasons *reasons)
{
	if (!reasons)
		return NULL;
	(void) reflector_free(reasons->reflector);
	begin(reasons);
	free(reasons);
	return NULL;
}

/* ---- answers ---- */

int claim_reasons_explain(const struct claim_reasons *reasons, const char *node_name,
			  const struct object *claim, struct failure *reterr)
{
	const struct persistent_volume_claim *fields = claim->claim;
	const struct claim_reason *reason = reasons ? find(reasons, claim->meta.uid) : NULL;

	assert(claim->kind == KIND_PERSISTENT_VOLUME_CLAIM);
	if (fields->selected_node[0] && strcmp(fields->selected_node, node_name) != 0) {
		(void) failure_append(reterr, ": node '%s' was selected for it, this is node '%s'",
				      fields->selected_node, node_name);
		return -EREMOTE;
	}
	if (reason)
		(void) failure_append(reterr, ": %s", reason->text);
	else if (reasons && *fields->volume_name &&
		 !store_get(reasons->options.store, KIND_PERSISTENT_VOLUME, "",
			    fields->volume_name))
		(void) failure_append(reterr, ": persistentvolumes \"%s\" not found",
				      fields->volume_name);
	return fields->storage_provisioner[0] && !(reason && reason->is_warning) ? -EINPROGRESS
										 : -ENOMEDIUM;
}
