/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds - the functions of each kind, for its row in kind.c
 *
 * Only src/object/ uses it; what the functions do is said at struct kind_row.
 */
#pragma once

#include "object/kind.h"
#include "object/schema/schema.h"
#include "object/schema/table.h"
#include "object/kinds/persistent_volume.h"
#include "object/schema/violation.h"
#include "object/schema/field.h"
#include "object/json/arena.h"

extern const struct schema pod_schema, persistent_volume_schema, claim_schema, storage_class_schema,
	config_map_schema, secret_schema, node_schema, namespace_schema, event_schema,
	service_account_schema, csi_driver_schema, csi_node_schema, volume_attachment_schema,
	csi_storage_capacity_schema, volume_snapshot_schema, volume_snapshot_class_schema,
	volume_snapshot_content_schema, volume_group_snapshot_schema,
	volume_group_snapshot_class_schema, volume_group_snapshot_content_schema, lease_schema,
	cluster_trust_bundle_schema, volume_attributes_class_schema;

int pod_set_defaults(struct cJSON *tree);
int pod_validate(const struct cJSON *tree, struct violations *found);
int pod_validate_update(const struct object *old, const struct object *new_object,
			struct violations *found);
int pod_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
	       struct failure *reterr);

int persistent_volume_set_defaults(struct cJSON *tree);
int persistent_volume_validate(const struct cJSON *tree, struct violations *found);
int persistent_volume_validate_update(const struct object *old, const struct object *new_object,
				      struct violations *found);
int persistent_volume_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			     struct failure *reterr);
void persistent_volume_decode_finalizers(const struct cJSON *metadata, struct object *object);

int claim_set_defaults(struct cJSON *tree);
int claim_validate(const struct cJSON *tree, struct violations *found);
int claim_validate_update(const struct object *old, const struct object *new_object,
			  struct violations *found);
int claim_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
		 struct failure *reterr);
void claim_decode_finalizers(const struct cJSON *metadata, struct object *object);

int storage_class_set_defaults(struct cJSON *tree);
int storage_class_validate(const struct cJSON *tree, struct violations *found);
int storage_class_validate_update(const struct object *old, const struct object *new_object,
				  struct violations *found);
int storage_class_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			 struct failure *reterr);

int config_map_validate(const struct cJSON *tree, struct violations *found);
int config_map_validate_update(const struct object *old, const struct object *new_object,
			       struct violations *found);

int secret_set_defaults(struct cJSON *tree);
int secret_validate(const struct cJSON *tree, struct violations *found);
int secret_validate_update(const struct object *old, const struct object *new_object,
			   struct violations *found);

int node_validate(const struct cJSON *tree, struct violations *found);
int node_validate_update(const struct object *old, const struct object *new_object,
			 struct violations *found);
int node_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
		struct failure *reterr);

int namespace_set_defaults(struct cJSON *tree);
int namespace_validate(const struct cJSON *tree, struct violations *found);

int event_validate(const struct cJSON *tree, struct violations *found);

int csi_driver_set_defaults(struct cJSON *tree);
int csi_driver_validate(const struct cJSON *tree, struct violations *found);
int csi_driver_validate_update(const struct object *old, const struct object *new_object,
			       struct violations *found);
int csi_driver_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
		      struct failure *reterr);

int csi_node_validate(const struct cJSON *tree, struct violations *found);
int csi_node_validate_update(const struct object *old, const struct object *new_object,
			     struct violations *found);

int volume_attachment_validate(const struct cJSON *tree, struct violations *found);
int volume_attachment_validate_update(const struct object *old, const struct object *new_object,
				      struct violations *found);
int volume_attachment_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			     struct failure *reterr);

int csi_storage_capacity_validate(const struct cJSON *tree, struct violations *found);
int csi_storage_capacity_validate_update(const struct object *old, const struct object *new_object,
					 struct violations *found);

int volume_snapshot_validate(const struct cJSON *tree, struct violations *found);
int volume_snapshot_validate_update(const struct object *old, const struct object *new_object,
				    struct violations *found);

int volume_snapshot_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			   struct failure *reterr);

int volume_snapshot_class_validate(const struct cJSON *tree, struct violations *found);
int volume_snapshot_class_decode(const struct cJSON *tree, struct arena *arena,
				 struct object *object, struct failure *reterr);

int volume_snapshot_content_validate(const struct cJSON *tree, struct violations *found);
int volume_snapshot_content_validate_update(const struct object *old,
					    const struct object *new_object,
					    struct violations *found);
int volume_snapshot_content_decode(const struct cJSON *tree, struct arena *arena,
				   struct object *object, struct failure *reterr);

int volume_group_snapshot_validate(const struct cJSON *tree, struct violations *found);
int volume_group_snapshot_validate_update(const struct object *old, const struct object *new_object,
					  struct violations *found);
int volume_group_snapshot_content_validate(const struct cJSON *tree, struct violations *found);
int volume_group_snapshot_content_validate_update(const struct object *old,
						  const struct object *new_object,
						  struct violations *found);

int lease_validate(const struct cJSON *tree, struct violations *found);

int cluster_trust_bundle_validate(const struct cJSON *tree, struct violations *found);
int cluster_trust_bundle_validate_update(const struct object *old, const struct object *new_object,
					 struct violations *found);
int cluster_trust_bundle_decode(const struct cJSON *tree, struct arena *arena,
				struct object *object, struct failure *reterr);

int volume_attributes_class_validate(const struct cJSON *tree, struct violations *found);
int volume_attributes_class_validate_update(const struct object *old,
					    const struct object *new_object,
					    struct violations *found);

/* kubectl's columns; columns.c, columns_cluster.c, columns_storage.c. */
extern const struct table_column pod_columns[], persistent_volume_columns[], claim_columns[],
	storage_class_columns[], config_map_columns[], secret_columns[], node_columns[],
	namespace_columns[], event_columns[], service_account_columns[], csi_driver_columns[],
	csi_node_columns[], volume_attachment_columns[], csi_storage_capacity_columns[],
	volume_snapshot_columns[], volume_snapshot_class_columns[],
	volume_snapshot_content_columns[], volume_group_snapshot_columns[],
	volume_group_snapshot_class_columns[], volume_group_snapshot_content_columns[],
	lease_columns[], cluster_trust_bundle_columns[], volume_attributes_class_columns[];

/* ---- claim_expand.c ---- */

/* May a claim ask for more than it did: Kubernetes' admission of resizes; pure. */

/* @storage_class: of @old; NULL: none. Return: 0; -EINVAL. */
int claim_check_expand(const struct persistent_volume_claim *old,
		       const struct persistent_volume_claim *proposed,
		       const struct object *storage_class, struct violations *found);

/* ---- claim.c ---- */

/* Does a bound claim keep its volume? claim_validate_update() lets it have the one that a move
 * made, which only podvold itself may give it. Return: 0; -EINVAL. */
int claim_check_rebound(const struct object *old, const struct object *new_object,
			struct violations *found);

/* ---- csi.c: the rule for names of CSI drivers, which many kinds hold ---- */

/* At most 63 bytes, a subdomain but for upper case letters. Absent: required. */
int csi_driver_name_validate(const char *name, const struct field *field, struct violations *found);

/* ---- data_source.c ---- */

/* DataSource and dataSourceRef of a claim: what its new volume is filled from.
 *
 * Only src/object/ uses it; what is decoded is struct data_source of persistent_volume.h. */

/* Whichever of the two is missing is made from the other, as the API machinery does; a source of
 * another namespace has no place in dataSource. Return: 0 or -ENOMEM. */
int data_source_set_defaults(struct cJSON *spec);
int data_source_validate(const struct cJSON *spec, const struct field *field,
			 struct violations *found);
struct data_source data_source_decode(const struct cJSON *spec, struct arena *arena);

/* ---- entries.c ---- */

/* What ConfigMaps and Secrets hold: the same rules for keys, size and immutability. */

enum { ENTRIES_BYTES_MAX = 1024 * 1024 }; /* of one object, decoded */

/* Keys that can be file names: alphanumeric, '-', '_' and '.', not beginning with "..". */
int entries_check_keys(const struct cJSON *map, const struct field *field,
		       struct violations *found);

/* Bytes of all values; @are_base64: as which they are written. */
size_t entries_bytes(const struct cJSON *map, bool are_base64);

/* Once immutable: the flag and these members, ended by NULL, are what they were. */
int entries_check_update(const struct object *old, const struct object *new_object,
			 const char *const *members, struct violations *found);
