/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ephemeral_volumes - see ephemeral_volumes.h
 *
 * Two queues: pods, whose claims are created, and claims with a controller, which are deleted.
 */
#include "controller/binding/ephemeral_volumes.h"

#include "base/log.h"
#include "controller/controller_class.h"
#include "controller/controller.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"

#include <assert.h>
#include <string.h>

enum {
	KEY_BYTES = 512,   /* of a namespace and a name */
	OWNER_BYTES = 512, /* the client that deleted a claim */
};

enum { PODS, CLAIMS }; /* its queues */

struct ephemeral_volumes {
	struct controller base;
	struct ephemeral_volumes_options options;
};

struct claim_item {
	struct work_item work; /* first */
	bool waits;            /* for unmounts, or for the sources */
};

/* ---- names ---- */

static void print_key(const char *name_space, const char *name, char key[KEY_BYTES])
{
	(void) snprintf(key, KEY_BYTES, "%s/%s", name_space, name);
}

static const struct object *object_of_key(struct store *store, enum object_kind kind,
					  const char *key)
{
	const char *slash = strchr(key, '/');
	char name_space[KEY_BYTES];

	assert(slash);
	(void) snprintf(name_space, sizeof(name_space), "%.*s", (int) (slash - key), key);
	return store_get(store, kind, name_space, slash + 1);
}

static int make_due(struct work_queue *queue, const char *name_space, const char *name)
{
	char key[KEY_BYTES];

	print_key(name_space, name, key);
	return work_queue_due(queue, key);
}

/* ---- claims of a pod ---- */

struct creation {
	const struct object *pod;
	const struct pod_volume *volume;
};

static void copy_member(struct cJSON *to, const struct cJSON *from, const char *key)
{
	if (json_get(from, key))
		(void) json_set(to, key, json_copy(json_get(from, key)));
}

static void write_metadata(struct cJSON *metadata, const struct cJSON *template,
			   const struct creation *of)
{
	const struct object_meta *pod = &of->pod->meta;
	struct cJSON *owner;

	copy_member(metadata, template, "labels");
	copy_member(metadata, template, "annotations");
	(void) json_set_string(metadata, "name", of->volume->claim_name);
	(void) json_set_string(metadata, "namespace", pod->name_space);
	(void) json_set_string(json_ensure_object(metadata, "annotations"),
			       ANNOTATION_EPHEMERAL_OWNER, pod->uid);
	owner = json_add_object(json_add_array(metadata, "ownerReferences"), NULL);
	(void) json_set_string(owner, "apiVersion", "v1");
	(void) json_set_string(owner, "kind", "Pod");
	(void) json_set_string(owner, "name", pod->name);
	(void) json_set_string(owner, "uid", pod->uid);
	(void) json_set_bool(owner, "controller", true);
	(void) json_set_bool(owner, "blockOwnerDeletion", true);
}

static int make_claim(const struct creation *of, const struct object **ret, struct failure *why)
{
	cleanup_json struct cJSON *pod = object_tree(of->pod), *claim = json_new_object();
	const struct cJSON *template = json_get_path(
		json_find(json_get_path(pod, "spec.volumes"), "name", of->volume->name),
		"ephemeral.volumeClaimTemplate");

	if (!pod || !claim)
		return failed(why, -ENOMEM, "cannot make the claim");
	(void) json_set_string(claim, "apiVersion", "v1");
	(void) json_set_string(claim, "kind", "PersistentVolumeClaim");
	write_metadata(json_add_object(claim, "metadata"), json_get(template, "metadata"), of);
	copy_member(claim, template, "spec");
	return object_propose(claim, ret, why);
}

static void create_claim(struct ephemeral_volumes *controller, struct work_item *work,
			 const struct creation *of)
{
	cleanup_object const struct object *made = NULL;
	struct failure why = { .error = 0 };
	int r = make_claim(of, &made, &why);

	if (r == 0)
		r = store_create(controller->options.common.store, made, work_item_written, work);
	else
		log_message(LOG_WARNING, "claim '%s/%s' of pod '%s' cannot be created: %s",
			    of->pod->meta.name_space, of->volume->claim_name, of->pod->meta.name,
			    why.text);
	work_item_queued(work, r);
}

/* A name that an unreadable object has is not free: creating the claim would fail for ever. */
static bool is_missing(struct store *store, const struct object *pod,
		       const struct pod_volume *volume)
{
	const struct store_key key = { KIND_PERSISTENT_VOLUME_CLAIM, pod->meta.name_space,
				       volume->claim_name };

	return volume->source == SOURCE_EPHEMERAL &&
	       !store_get(store, key.kind, key.name_space, key.name) &&
	       !store_is_unreadable(store, &key);
}

static bool is_elsewhere(const struct ephemeral_volumes *controller, const struct pod *pod)
{
	return pod->node_name[0] &&
	       strcmp(pod->node_name, controller->options.common.node_name) != 0;
}

/* One claim at a time: the result makes the pod due again. */
static bool sync_pod(struct work_item *work)
{
	struct ephemeral_volumes *controller = work_queue_userdata(work->queue);
	struct store *store = controller->options.common.store;
	const struct object *pod = object_of_key(store, KIND_POD, work->name);

	if (!pod)
		return false;
	if (pod->meta.deletes || is_elsewhere(controller, pod->pod) || work_item_backs_off(work))
		return true;
	for (size_t i = 0; i < pod->pod->volume_count; i++) {
		const struct creation of = { pod, &pod->pod->volumes[i] };

		if (is_missing(store, pod, of.volume)) {
			create_claim(controller, work, &of);
			return true;
		}
	}
	work_item_succeeded(work);
	return true;
}

/* ---- claims whose pod is gone ---- */

enum owner_state {
	OWNER_OTHER, /* no pod, or an unknown one: the claim stays */
	OWNER_PRESENT,
	OWNER_GONE,
};

struct owner {
	char name[254];
	const char *uid; /* of the claim */
	bool was_seen;   /* while the claim was stored */
};

/* Return: false: the claim's controller is no pod. */
static bool read_owner(const struct object *claim, struct owner *ret)
{
	cleanup_json struct cJSON *tree = object_tree(claim);
	const struct cJSON *metadata = json_get(tree, "metadata");
	const struct cJSON *owners = json_get(metadata, "ownerReferences");
	const char *seen = json_text(json_get(metadata, "annotations"), ANNOTATION_EPHEMERAL_OWNER);

	JSON_FOREACH (i, owners) {
		if (!json_bool(json_get(i, "controller"), false))
			continue;
		ret->uid = claim->claim->controller_owner_uid;
		ret->was_seen = strcmp(seen, ret->uid) == 0;
		(void) snprintf(ret->name, sizeof(ret->name), "%s", json_text(i, "name"));
		return json_text_is(i, "kind", "Pod") && json_text_is(i, "apiVersion", "v1");
	}
	return false;
}

static enum owner_state find_owner(struct store *store, const struct object *claim,
				   const struct owner *owner)
{
	const struct store_key key = { KIND_POD, claim->meta.name_space, owner->name };
	const struct object *pod = store_get(store, key.kind, key.name_space, key.name);

	if (pod && strcmp(pod->meta.uid, owner->uid) == 0)
		return OWNER_PRESENT;
	/* A pod that cannot be read may be the owner. */
	if (!owner->was_seen || store_is_unreadable(store, &key))
		return OWNER_OTHER;
	return OWNER_GONE;
}

struct note {
	const char *annotation, *text;
};

static int edit_note(struct cJSON *tree, void *userdata)
{
	const struct note *note = userdata;

	return metadata_set_annotation(tree, note->annotation, note->text);
}

static void write_note(struct ephemeral_volumes *controller, struct work_item *work,
		       const struct object *claim, struct note note)
{
	const struct store_precondition expected = { .uid = claim->meta.uid,
						     .resource_version =
							     claim->meta.resource_version };
	cleanup_object const struct object *noted = NULL;
	struct failure why = { .error = 0 };
	int r = object_edit(claim, edit_note, &note, &noted, &why);

	if (r == 0)
		r = store_update(controller->options.common.store, noted, &expected,
				 work_item_written, work);
	work_item_queued(work, r);
}

/* The client that deleted it is recorded first: the data of its volume is deleted only then
 * (binding.h). */
static void delete_claim(struct ephemeral_volumes *controller, struct work_item *work,
			 const struct object *claim, const struct owner *owner)
{
	const struct store_key key = { claim->kind, claim->meta.name_space, claim->meta.name };
	const struct store_precondition expected = { .uid = claim->meta.uid,
						     .resource_version =
							     claim->meta.resource_version };
	char by[OWNER_BYTES];

	(void) snprintf(by, sizeof(by), "podvold: pod '%s/%s' (uid %s), which owned it, is gone",
			key.name_space, owner->name, owner->uid);
	if (strcmp(claim->claim->deleted_by, by) != 0) {
		write_note(controller, work, claim, (struct note){ ANNOTATION_DELETED_BY, by });
		return;
	}
	log_message(LOG_INFO, "deleting ephemeral claim '%s/%s': pod '%s' is gone", key.name_space,
		    key.name, owner->name);
	work_item_queued(work, store_delete(controller->options.common.store, &key, &expected,
					    work_item_written, work));
}

static bool may_delete(struct ephemeral_volumes *controller, const struct object *claim,
		       const struct owner *owner)
{
	const struct ephemeral_volumes_options *options = &controller->options;

	return options->common.is_complete(options->common.userdata) &&
	       !options->is_in_use(options->common.userdata, claim, owner->uid);
}

static bool sync_claim(struct work_item *work)
{
	struct ephemeral_volumes *controller = work_queue_userdata(work->queue);
	struct store *store = controller->options.common.store;
	const struct object *claim = object_of_key(store, KIND_PERSISTENT_VOLUME_CLAIM, work->name);
	struct claim_item *item = (struct claim_item *) work;
	enum owner_state state;
	struct owner owner;

	if (!claim || claim->meta.deletes || !read_owner(claim, &owner))
		return false;
	state = find_owner(store, claim, &owner);
	item->waits = state == OWNER_GONE;
	if (work_item_backs_off(work))
		return true;
	if (state == OWNER_PRESENT && !owner.was_seen)
		write_note(controller, work, claim,
			   (struct note){ ANNOTATION_EPHEMERAL_OWNER, owner.uid });
	else if (state == OWNER_GONE && may_delete(controller, claim, &owner))
		delete_claim(controller, work, claim, &owner);
	return true;
}

/* ---- watching ---- */

static bool has_ephemeral(const struct pod *pod)
{
	for (size_t i = 0; i < pod->volume_count; i++)
		if (pod->volumes[i].source == SOURCE_EPHEMERAL)
			return true;
	return false;
}

/* The pod, and the claims that it owns or has owned. */
static int take_pod(const struct object *object, void *userdata)
{
	struct ephemeral_volumes *controller = userdata;
	const struct pod *pod = object->pod;
	int r;

	if (!has_ephemeral(pod))
		return 0;
	r = make_due(controller->base.queues[PODS], object->meta.name_space, object->meta.name);
	for (size_t i = 0; i < pod->volume_count && r == 0; i++)
		if (pod->volumes[i].source == SOURCE_EPHEMERAL)
			r = make_due(controller->base.queues[CLAIMS], object->meta.name_space,
				     pod->volumes[i].claim_name);
	return r;
}

static int take_claim(const struct object *object, void *userdata)
{
	struct ephemeral_volumes *controller = userdata;

	if (!object->claim->controller_owner_uid[0])
		return 0;
	return make_due(controller->base.queues[CLAIMS], object->meta.name_space,
			object->meta.name);
}

static int take_change(const struct store_change *change, void *userdata)
{
	struct ephemeral_volumes *controller = userdata;

	if (change->object->kind == KIND_POD)
		return take_pod(change->object, controller);
	/* Its name is free: a pod may need a claim of that name. */
	if (change->type == STORE_DELETED)
		work_queue_walk(controller->base.queues[PODS], work_item_due);
	return take_claim(change->object, controller);
}

/* ---- life ---- */

static const struct controller_class ephemeral_volumes_class = {
	CONTROLLER_OF(ephemeral_volumes),
	.what = "ephemeral claims",
	.kinds = 1 << KIND_POD | 1 << KIND_PERSISTENT_VOLUME_CLAIM,
	.lists = { { KIND_POD, take_pod }, { KIND_PERSISTENT_VOLUME_CLAIM, take_claim } },
	.queues = { [PODS] = { .what = "ephemeral volumes of pod",
			       .item_bytes = sizeof(struct claim_item),
			       .sync = sync_pod },
		    [CLAIMS] = { .what = "ephemeral claim",
				 .item_bytes = sizeof(struct claim_item),
				 .sync = sync_claim } },
	.take_change = take_change,
};

int ephemeral_volumes_new(const struct ephemeral_volumes_options *options,
			  struct ephemeral_volumes **ret)
{
	assert(options->common.node_name && options->is_in_use && options->common.is_complete);
	return controller_new(&ephemeral_volumes_class, options, ret);
}

static void make_waiting_due(struct work_item *work)
{
	if (((const struct claim_item *) work)->waits)
		work_item_due(work);
}

void ephemeral_volumes_resync(struct ephemeral_volumes *controller)
{
	if (!controller)
		return;
	work_queue_walk(controller->base.queues[CLAIMS], make_waiting_due);
	work_queue_run(controller->base.queues[CLAIMS]);
}

struct ephemeral_volumes *ephemeral_volumes_free(struct ephemeral_volumes *controller)
{
	return controller_free(controller);
}
