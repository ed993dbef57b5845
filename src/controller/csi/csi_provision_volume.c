/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_provision_volume - the PersistentVolume of what a driver made; see csi_provision_plan.h
 */
#include "controller/csi/csi_provision_plan.h"
#include "controller/controller.h"

#include "object/json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- is it what was asked for ---- */

/* No term: anywhere. */
static bool is_reachable(const struct csi_provision_plan *plan, const Csi__V1__Volume *made)
{
	for (size_t i = 0; i < made->n_accessible_topology; i++) {
		const Csi__V1__Topology *term = made->accessible_topology[i];
		size_t found = 0;

		for (size_t j = 0; j < term->n_segments; j++)
			for (size_t k = 0; k < plan->segments.count; k++)
				found += strcmp(term->segments[j]->key,
						plan->segments.pairs[k].key) == 0 &&
					 strcmp(term->segments[j]->value,
						plan->segments.pairs[k].value) == 0;
		if (found == term->n_segments)
			return true;
	}
	return made->n_accessible_topology == 0 || plan->segments.count == 0;
}

int csi_provision_plan_check(const struct csi_provision_plan *plan, const Csi__V1__Volume *made,
			     struct failure *reterr)
{
	if (made->capacity_bytes > 0 && made->capacity_bytes < plan->bytes)
		return failed_plain(reterr, -EPROTO,
				    "the driver made a volume of %" PRId64 " bytes where %" PRId64
				    " were asked for",
				    made->capacity_bytes, plan->bytes);
	if (plan->content_kind != DATA_SOURCE_NONE && !made->content_source)
		return failed_plain(reterr, -EPROTO,
				    "the driver made an empty volume where a copy was asked for: "
				    "volume content source missing");
	if (!is_reachable(plan, made))
		return failed_plain(reterr, -EPROTO,
				    "the driver made a volume that cannot be reached from here");
	return 0;
}

/* ---- the volume ---- */

static void write_attributes(const struct csi_provision_plan *plan, const Csi__V1__Volume *made,
			     struct cJSON *source)
{
	struct cJSON *attributes = json_add_object(source, "volumeAttributes");
	char identity[320];

	for (size_t i = 0; i < made->n_volume_context; i++)
		(void) json_set_string(attributes, made->volume_context[i]->key,
				       made->volume_context[i]->value);
	(void) snprintf(identity, sizeof(identity), "podvol-%s-%s", plan->node_name, plan->driver);
	(void) json_set_string(attributes, ATTRIBUTE_IDENTITY, identity);
}

static void write_source(const struct csi_provision_plan *plan, const Csi__V1__Volume *made,
			 struct cJSON *spec)
{
	struct cJSON *source = json_add_object(spec, "csi");

	(void) json_set_string(source, "driver", plan->driver);
	(void) json_set_string(source, "volumeHandle", made->volume_id);
	if (!plan->is_block && plan->fs_type[0])
		(void) json_set_string(source, "fsType", plan->fs_type);
	if (plan->is_read_only)
		(void) json_set_bool(source, "readOnly", true);
	write_attributes(plan, made, source);
	for (size_t use = 0; use < CSI_SECRET_USE_COUNT; use++) {
		const char *member = csi_secret_member((enum csi_secret_use) use);
		struct cJSON *ref;

		if (!member || !plan->secrets[use].name[0])
			continue;
		ref = json_add_object(source, member);
		(void) json_set_string(ref, "name", plan->secrets[use].name);
		(void) json_set_string(ref, "namespace", plan->secrets[use].name_space);
	}
}

static void write_term(const Csi__V1__Topology *topology, struct cJSON *terms)
{
	struct cJSON *expressions =
		json_add_array(json_add_object(terms, NULL), "matchExpressions");

	for (size_t i = 0; i < topology->n_segments; i++) {
		struct cJSON *expression = json_add_object(expressions, NULL);

		(void) json_set_string(expression, "key", topology->segments[i]->key);
		(void) json_set_string(expression, "operator", "In");
		(void) json_set_string(json_add_array(expression, "values"), NULL,
				       topology->segments[i]->value);
	}
}

/* A term without segments would match nothing, and says nothing. */
static void write_affinity(const Csi__V1__Volume *made, struct cJSON *spec)
{
	struct cJSON *terms = NULL;

	for (size_t i = 0; i < made->n_accessible_topology; i++) {
		if (made->accessible_topology[i]->n_segments == 0)
			continue;
		if (!terms)
			terms = json_add_array(
				json_add_object(json_add_object(spec, "nodeAffinity"), "required"),
				"nodeSelectorTerms");
		write_term(made->accessible_topology[i], terms);
	}
}

static void write_metadata(const struct csi_provision_plan *plan, struct cJSON *tree)
{
	const struct csi_secret_name *secret = &plan->secrets[CSI_SECRET_PROVISIONER];
	struct cJSON *metadata = json_add_object(tree, "metadata");
	struct cJSON *annotations = json_add_object(metadata, "annotations");

	(void) json_set_string(metadata, "name", plan->name);
	(void) json_set_string(annotations, ANNOTATION_PROVISIONED_BY, plan->driver);
	if (secret->name[0]) {
		(void) json_set_string(annotations, ANNOTATION_DELETION_SECRET_NAME, secret->name);
		(void) json_set_string(annotations, ANNOTATION_DELETION_SECRET_SPACE,
				       secret->name_space);
	}
	if (plan->reclaim_policy == RECLAIM_DELETE)
		(void) json_set_string(json_add_array(metadata, "finalizers"), NULL,
				       FINALIZER_PROVISIONER);
}

int csi_provision_plan_volume(const struct csi_provision_plan *plan, const Csi__V1__Volume *made,
			      const struct object **ret, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = json_new_object();
	const struct cJSON *options = json_get(plan->storage_class, "mountOptions");
	char capacity[QUANTITY_TEXT_BYTES];
	struct cJSON *spec;

	assert(made->volume_id && plan->driver);
	(void) json_set_string(tree, "apiVersion", "v1");
	(void) json_set_string(tree, "kind", "PersistentVolume");
	write_metadata(plan, tree);
	spec = json_add_object(tree, "spec");
	(void) json_set(spec, "accessModes",
			json_copy(json_get_path(plan->claim, "spec.accessModes")));
	quantity_print_bytes(made->capacity_bytes > 0 ? made->capacity_bytes : plan->bytes,
			     capacity);
	(void) json_set_string(json_add_object(spec, "capacity"), "storage", capacity);
	(void) json_set_string(spec, "persistentVolumeReclaimPolicy",
			       reclaim_policy_name(plan->reclaim_policy));
	(void) json_set_string(spec, "storageClassName",
			       json_text_at(plan->storage_class, "metadata.name"));
	if (plan->attributes_class[0])
		(void) json_set_string(spec, "volumeAttributesClassName", plan->attributes_class);
	(void) json_set_string(spec, "volumeMode", plan->is_block ? "Block" : "Filesystem");
	if (options && !plan->is_block)
		(void) json_set(spec, "mountOptions", json_copy(options));
	(void) json_set(spec, "claimRef", json_copy(plan->claim_ref));
	write_source(plan, made, spec);
	write_affinity(made, spec);
	return object_propose(tree, ret, reterr);
}
