/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provisioning - what the local provisioner of a cluster's node needs: claims for which this node
 * was selected, volumes that were made here, their snapshots, classes
 *
 * Watched as a whole (followed.h), which RBAC has to grant (examples/cluster/rbac.yaml); what
 * concerns other nodes is dropped as it comes. A snapshot concerns the node of its claim, a content
 * the one of its label. That a volume's claim was deleted is proven in deleted_claims.c before a
 * volume is stored as Released.
 */
#include "cluster/provisioning.h"

#include "cluster/cluster_internal.h"
#include "cluster/followed.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/volume_snapshot.h"

static const enum object_kind kinds[] = {
	KIND_STORAGE_CLASS,         KIND_PERSISTENT_VOLUME,       KIND_PERSISTENT_VOLUME_CLAIM,
	KIND_VOLUME_SNAPSHOT_CLASS, KIND_VOLUME_SNAPSHOT_CONTENT, KIND_VOLUME_SNAPSHOT,
};

enum { FOLLOWED_COUNT = ARRAY_SIZE(kinds) };

struct provisioning {
	struct cluster *cluster;
	struct followed *followed[FOLLOWED_COUNT];
	struct deleted_claims *deleted_claims;
	bool has_unmatched; /* a snapshot came whose claim or content may come later */
};

/* ---- what concerns this node ---- */

static const struct object_reference node_map = { KIND_CONFIG_MAP, NODE_MAP_NAMESPACE,
						  NODE_MAP_NAME };

/* Local-path's directories stand in a ConfigMap: before it is read, or known to be absent, a volume
 * would be made in the wrong one. */
static bool is_claim_here(const struct cluster *cluster, const struct object *object)
{
	const struct persistent_volume_claim *claim = object->claim;

	return cluster->options.provisions(claim->storage_provisioner) &&
	       strcmp(claim->selected_node, cluster->options.node_name) == 0 &&
	       (strcmp(claim->storage_provisioner, "rancher.io/local-path") != 0 ||
		claim->volume_name[0] ||
		store_get(cluster->options.store, KIND_CONFIG_MAP, NODE_MAP_NAMESPACE,
			  NODE_MAP_NAME) ||
		!needed_is_unknown(cluster->needed, &node_map));
}

static const struct object *own_node(const struct cluster *cluster)
{
	return store_get(cluster->options.store, KIND_NODE, "", cluster->options.node_name);
}

static bool is_volume_here(const struct cluster *cluster, const struct object *object)
{
	const struct persistent_volume *volume = object->persistent_volume;
	const struct object *node = own_node(cluster);

	return cluster->options.provisions(volume->origin.provisioned_by) &&
	       volume->node_affinity && node &&
	       node_selector_matches(volume->node_affinity, &node->meta.labels);
}

static bool is_snapshot_class_here(const struct cluster *cluster, const struct object *object)
{
	return cluster->options.provisions(object->volume_snapshot_class->driver);
}

static bool is_content_here(const struct cluster *cluster, const struct object *object)
{
	const char *node = label_value(&object->meta.labels, LABEL_SNAPSHOT_MANAGED_BY);

	return cluster->options.provisions(object->volume_snapshot_content->driver) && node &&
	       strcmp(node, cluster->options.node_name) == 0;
}

/* One whose claim or content is not stored may be of this node all the same, later. */
static bool is_unmatched(const struct cluster *cluster, const struct volume_snapshot *snapshot)
{
	return !*snapshot->bound_content &&
	       (!snapshot->has_class ||
		store_get(cluster->options.store, KIND_VOLUME_SNAPSHOT_CLASS, "",
			  snapshot->class_name));
}

/* Once stored it stays, whatever becomes of its claim, until the server has it no more. */
static bool is_snapshot_here(const struct cluster *cluster, const struct object *object)
{
	const struct volume_snapshot *snapshot = object->volume_snapshot;
	const char *content =
		*snapshot->bound_content ? snapshot->bound_content : snapshot->content_name;
	struct store *store = cluster->options.store;
	const struct object *claim = store_get(store, KIND_PERSISTENT_VOLUME_CLAIM,
					       object->meta.name_space, snapshot->claim_name);
	const struct object *known =
		store_get(store, KIND_VOLUME_SNAPSHOT, object->meta.name_space, object->meta.name);

	if ((known && strcmp(known->meta.uid, object->meta.uid) == 0) ||
	    (claim && is_claim_here(cluster, claim)) ||
	    store_get(store, KIND_VOLUME_SNAPSHOT_CONTENT, "", content))
		return true;
	cluster->provisioning->has_unmatched |= is_unmatched(cluster, snapshot);
	return false;
}

bool provisioning_keeps(const struct cluster *cluster, const struct object *object)
{
	if (!cluster->provisioning)
		return false;
	switch (object->kind) {
	case KIND_STORAGE_CLASS:
		return true;
	case KIND_PERSISTENT_VOLUME:
		return is_volume_here(cluster, object);
	case KIND_PERSISTENT_VOLUME_CLAIM:
		return is_claim_here(cluster, object);
	case KIND_VOLUME_SNAPSHOT_CLASS:
		return is_snapshot_class_here(cluster, object);
	case KIND_VOLUME_SNAPSHOT_CONTENT:
		return is_content_here(cluster, object);
	case KIND_VOLUME_SNAPSHOT:
		return is_snapshot_here(cluster, object);
	default:
		return false;
	}
}

/* ---- lists and watches ---- */

/* What a snapshot may have waited for. */
static void on_stored(struct cluster *cluster, const struct object *object)
{
	if (!cluster->provisioning->has_unmatched)
		return;
	cluster->provisioning->has_unmatched = false;
	provisioning_list_again(cluster, KIND_VOLUME_SNAPSHOT);
}

void provisioning_begin(struct cluster *cluster)
{
	if (!cluster->provisioning)
		return;
	for (size_t i = 0; i < FOLLOWED_COUNT; i++)
		followed_begin(cluster->provisioning->followed[i]);
}

void provisioning_learned(struct cluster *cluster, enum object_kind kind, const char *name_space,
			  const char *name)
{
	if (kind == node_map.kind && strcmp(name, node_map.name) == 0 &&
	    strcmp(name_space, node_map.name_space) == 0)
		provisioning_list_again(cluster, KIND_PERSISTENT_VOLUME_CLAIM);
}

void provisioning_list_again(struct cluster *cluster, enum object_kind kind)
{
	if (!cluster->provisioning)
		return;
	for (size_t i = 0; i < FOLLOWED_COUNT; i++)
		if (kinds[i] == kind)
			followed_list_again(cluster->provisioning->followed[i]);
}

bool provisioning_holds_back(struct cluster *cluster, const struct object *object)
{
	return cluster->provisioning && object->kind == KIND_PERSISTENT_VOLUME &&
	       provisioning_keeps(cluster, object) &&
	       deleted_claims_prove(cluster->provisioning->deleted_claims, object);
}

/* ---- life ---- */

static int follow(struct provisioning *provisioning, size_t i)
{
	bool is_of_snapshots = kinds[i] == KIND_VOLUME_SNAPSHOT_CLASS ||
			       kinds[i] == KIND_VOLUME_SNAPSHOT_CONTENT ||
			       kinds[i] == KIND_VOLUME_SNAPSHOT;
	const struct followed_options options = {
		.cluster = provisioning->cluster,
		.kind = kinds[i],
		.selector = "",
		.keeps = provisioning_keeps,
		.stored = kinds[i] == KIND_VOLUME_SNAPSHOT ? NULL : on_stored,
		.needs_node = true,
		.is_granted = true,
		.is_optional = is_of_snapshots,
	};

	return followed_new(&options, &provisioning->followed[i]);
}

int provisioning_new(struct cluster *cluster)
{
	struct provisioning *provisioning;
	int r = 0;

	if (!cluster->options.provisions)
		return 0;
	provisioning = calloc(1, sizeof(*provisioning));
	if (!provisioning)
		return -ENOMEM;
	provisioning->cluster = cluster;
	cluster->provisioning = provisioning;
	for (size_t i = 0; i < FOLLOWED_COUNT && r >= 0; i++)
		r = follow(provisioning, i);
	if (r >= 0)
		r = deleted_claims_new(cluster, &provisioning->deleted_claims);
	if (r >= 0)
		needed_use(cluster->needed, &node_map, true);
	return r;
}

struct provisioning *provisioning_free(struct provisioning *provisioning)
{
	if (!provisioning)
		return NULL;
	for (size_t i = 0; i < FOLLOWED_COUNT; i++)
		(void) followed_free(provisioning->followed[i]);
	(void) deleted_claims_free(provisioning->deleted_claims);
	free(provisioning);
	return NULL;
}

void provisioning_view(const struct cluster *cluster, struct cJSON *view)
{
	struct cJSON *refused;

	if (!cluster->provisioning)
		return;
	refused = json_add_array(view, "provisionerLacks");
	for (size_t i = 0; i < FOLLOWED_COUNT; i++)
		if (followed_is_refused(cluster->provisioning->followed[i]))
			(void) json_append_string(refused, NULL, kind_row(kinds[i])->plural);
}
