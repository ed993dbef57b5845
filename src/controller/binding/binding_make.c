/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding_make - the objects that the steps of a binding write; see binding.h
 *
 * The spec and the status of a binding are one write each for volume and claim. An API server takes
 * over the spec alone of such a write; then the next look finds the status missing and writes that.
 * Those of a claim and a volume that one commit creates are made in place, by the same edits.
 */
#include "controller/binding/binding.h"

#include "controller/controller.h"
#include "object/edit_new.h"
#include "object/json/json.h"
#include "object/object_text.h"

#include <assert.h>

#define BIND_COMPLETED      "pv.kubernetes.io/bind-completed"
#define BOUND_BY_CONTROLLER "pv.kubernetes.io/bound-by-controller"

struct make {
	const struct binding_step *step;
	const struct object *about;
};

static void annotate(struct cJSON *tree, const char *key)
{
	(void) metadata_set_annotation(tree, key, "yes");
}

static void set_phase(struct cJSON *tree, const char *phase)
{
	(void) json_set_string(json_ensure_object(tree, "status"), "phase", phase);
}

static void write_claim_ref(struct cJSON *tree, const struct make *make)
{
	struct cJSON *spec = json_ensure_object(tree, "spec");
	bool was_named = json_get(spec, "claimRef") != NULL;

	object_write_reference(make->about, json_ensure_object(spec, "claimRef"));
	if (!was_named)
		annotate(tree, BOUND_BY_CONTROLLER);
}

static void write_volume_name(struct cJSON *tree, const struct make *make)
{
	struct cJSON *spec = json_ensure_object(tree, "spec");
	bool was_named = json_text(spec, "volumeName")[0] != '\0';

	(void) json_set_string(spec, "volumeName", make->step->volume->object->meta.name);
	annotate(tree, BIND_COMPLETED);
	if (!was_named)
		annotate(tree, BOUND_BY_CONTROLLER);
}

static int write_claim_status(struct cJSON *tree, const struct make *make)
{
	static const char *const taken[] = { "accessModes", "capacity", "volumeAttributesClassName",
					     NULL };
	static const char *const in_claim[] = { "accessModes", "capacity",
						"currentVolumeAttributesClassName" };
	static_assert(ARRAY_SIZE(taken) == ARRAY_SIZE(in_claim) + 1, "two names of each");
	struct cJSON *status = json_ensure_object(tree, "status");
	cleanup_json struct cJSON *spec = NULL;
	int r = object_copy_members(make->step->volume->object, "spec", taken, &spec);

	if (r < 0)
		return r;
	set_phase(tree, "Bound");
	for (size_t i = 0; taken[i]; i++)
		if (json_get(spec, taken[i]))
			(void) json_set(status, in_claim[i], json_copy(json_get(spec, taken[i])));
	return 0;
}

static void write_provisioner(struct cJSON *tree, const char *name)
{
	(void) metadata_set_annotation(tree, ANNOTATION_PROVISIONER, name);
	(void) metadata_set_annotation(tree, ANNOTATION_PROVISIONER_BETA, name);
}

static void write_deletion(struct cJSON *tree, const struct object *claim)
{
	(void) metadata_set_annotation(tree, ANNOTATION_CLAIM_DELETED, claim->meta.uid);
	(void) metadata_set_annotation(tree, ANNOTATION_DELETED_BY, claim->claim->deleted_by);
}

static void unbind(struct cJSON *tree)
{
	json_remove(json_ensure_object(tree, "spec"), "claimRef");
	(void) metadata_remove_annotation(tree, BOUND_BY_CONTROLLER);
}

static void unbind_uid(struct cJSON *tree)
{
	struct cJSON *ref = json_ensure_object(json_ensure_object(tree, "spec"), "claimRef");

	json_remove(ref, "uid");
	json_remove(ref, "resourceVersion");
}

static int edit(struct cJSON *tree, void *userdata)
{
	static const char *const phases[BINDING_WRITE_COUNT] = {
		[BINDING_VOLUME_STATUS] = "Bound",  [BINDING_CLAIM_PENDING] = "Pending",
		[BINDING_CLAIM_LOST] = "Lost",      [BINDING_VOLUME_AVAILABLE] = "Available",
		[BINDING_VOLUME_BOUND] = "Bound",   [BINDING_VOLUME_RELEASED] = "Released",
		[BINDING_VOLUME_FAILED] = "Failed",
	};
	const struct make *make = userdata;
	enum binding_write write = make->step->write;

	switch (write) {
	case BINDING_VOLUME_SPEC:
		write_claim_ref(tree, make);
		set_phase(tree, "Bound");
		break;
	case BINDING_CLAIM_SPEC:
		write_volume_name(tree, make);
		return write_claim_status(tree, make);
	case BINDING_CLAIM_STATUS:
		return write_claim_status(tree, make);
	case BINDING_VOLUME_UNBIND:
		unbind(tree);
		break;
	case BINDING_VOLUME_UNBIND_UID:
		unbind_uid(tree);
		break;
	case BINDING_CLAIM_CLASS:
		(void) json_set_string(json_ensure_object(tree, "spec"), "storageClassName",
				       make->step->storage_class->object->meta.name);
		break;
	case BINDING_CLAIM_SELECT:
		(void) metadata_set_annotation(tree, ANNOTATION_SELECTED_NODE,
					       make->step->node_name);
		write_provisioner(tree, make->step->storage_class->provisioner);
		break;
	case BINDING_CLAIM_PROVISIONER:
		write_provisioner(tree, make->step->storage_class->provisioner);
		break;
	case BINDING_CLAIM_DELETED:
		write_deletion(tree, make->about);
		break;
	case BINDING_CLAIM_UNPROTECT:
		(void) metadata_remove_finalizer(tree, (void *) FINALIZER_CLAIM);
		break;
	case BINDING_VOLUME_UNPROTECT:
		(void) metadata_remove_finalizer(tree, (void *) FINALIZER_VOLUME);
		break;
	default:
		assert(phases[write]);
		set_phase(tree, phases[write]);
	}
	return 0;
}

int binding_make(const struct binding_step *step, const struct object *about,
		 const struct object **ret, struct failure *reterr)
{
	struct make make = { .step = step, .about = about };
	const struct object *target = about;

	assert(step->write != BINDING_NOTHING);
	if (step->write == BINDING_VOLUME_SPEC || step->write == BINDING_VOLUME_STATUS ||
	    step->write == BINDING_CLAIM_DELETED)
		target = step->volume->object;
	return object_edit_checked(target, edit, &make, ret, reterr);
}

/* The claim last: where a volume names it alone, the binder does the rest. */
void binding_bind_new(const struct object *claim, const struct object *volume, char **claim_before,
		      char **volume_before)
{
	struct claim_facts facts = { .claim = claim->claim, .named = volume->persistent_volume };
	struct binding_step step;
	struct make make = { .step = &step, .about = claim };
	bool is_binding;

	binding_decide_claim(&facts, &step);
	is_binding = step.volume == volume->persistent_volume;
	while (is_binding) {
		bool is_volume = step.write <= BINDING_VOLUME_STATUS;
		const struct object *target = is_volume ? volume : claim;
		char **before = is_volume ? volume_before : claim_before;

		assert(step.write >= BINDING_VOLUME_SPEC && step.write <= BINDING_CLAIM_STATUS);
		assert(!*before); /* one that is bound is bound to nothing else */
		if (object_edit_new(target, edit, &make, before) < 0)
			return;
		is_binding = binding_decide_next(&facts, target, &step);
	}
}
