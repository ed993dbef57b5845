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
#include "object/update.h"
#include "object/json/arena.h"

extern const struct schema pod_schema, persistent_volume_schema, claim_schema, storage_class_schema,
	config_map_schema, secret_schema, node_schema, namespace_schema, event_schema,
	service_account_schema, csi_driver_schema, csi_node_schema, volume_attachment_schema,
	csi_storage_capacity_schema, volume_snapshot_schema, volume_snapshot_class_schema,
	volume_snapshot_content_schema, volume_group_snapshot_schema,
	volume_group_snapshot_class_schema, volume_group_snapshot_content_schema, lease_schema,
	cluster_trust_bundle_schema, volume_attributes_class_schema;

kind_set_defaults pod_set_defaults, persistent_volume_set_defaults, claim_set_defaults,
	storage_class_set_defaults, secret_set_defaults, namespace_set_defaults,
	csi_driver_set_defaults;
kind_validate pod_validate, persistent_volume_validate, claim_validate, storage_class_validate,
	config_map_validate, secret_validate, node_validate, namespace_validate, event_validate,
	csi_driver_validate, csi_node_validate, volume_attachment_validate,
	csi_storage_capacity_validate, volume_snapshot_validate, volume_snapshot_class_validate,
	volume_snapshot_content_validate, volume_group_snapshot_validate,
	volume_group_snapshot_content_validate, lease_validate, cluster_trust_bundle_validate,
	volume_attributes_class_validate;
kind_validate_update pod_validate_update, persistent_volume_validate_update, claim_validate_update,
	config_map_validate_update, secret_validate_update, node_validate_update,
	csi_node_validate_update, volume_snapshot_content_validate_update,
	cluster_trust_bundle_validate_update;
kind_decode pod_decode, persistent_volume_decode, claim_decode, storage_class_decode, node_decode,
	csi_driver_decode, volume_attachment_decode, volume_snapshot_decode,
	volume_snapshot_class_decode, volume_snapshot_content_decode, cluster_trust_bundle_decode;
kind_decode_binding persistent_volume_decode_binding, claim_decode_binding;
kind_derive persistent_volume_derive, claim_derive;
kind_note_protection persistent_volume_note_protection, claim_note_protection;

/* What no update may change. */
extern const struct fixed_field csi_driver_fixed[], storage_class_fixed[],
	csi_storage_capacity_fixed[], volume_snapshot_fixed[], volume_attachment_fixed[],
	volume_group_snapshot_fixed[], volume_group_snapshot_content_fixed[],
	volume_attributes_class_fixed[], secret_fixed[], volume_snapshot_content_fixed[];

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

/* @storage_class: of @old; NULL: none. Return: as in field.h. */
bool claim_check_expand(const struct persistent_volume_claim *old,
			const struct persistent_volume_claim *proposed,
			const struct object *storage_class, struct violations *found);

/* ---- claim.c ---- */

/* Does a bound claim keep its volume? claim_validate_update() lets it have the one that a move
 * made, which only podvold itself may give it. Return: as in field.h. */
bool claim_check_rebound(const struct object *old, const struct object *new_object,
			 struct violations *found);

/* ---- csi.c: the rule for names of CSI drivers, which many kinds hold ---- */

/* At most 63 bytes, a subdomain but for upper case letters. Absent: required. */
bool csi_driver_name_validate(const struct field *driver);

/* ---- data_source.c ---- */

/* DataSource and dataSourceRef of a claim: what its new volume is filled from.
 *
 * Only src/object/ uses it; what is decoded is struct data_source of persistent_volume.h. */

/* Whichever of the two is missing is made from the other, as the API machinery does; a source of
 * another namespace has no place in dataSource. Return: 0 or -ENOMEM. */
int data_source_set_defaults(struct cJSON *spec);
bool data_source_validate(const struct field *spec);
struct data_source data_source_decode(const struct cJSON *spec, struct arena *arena);

/* ---- entries.c ---- */

/* What ConfigMaps and Secrets hold: the same rules for keys, size and immutability. */

enum { ENTRIES_BYTES_MAX = 1024 * 1024 }; /* of one object, decoded */

/* Keys that can be file names: alphanumeric, '-', '_' and '.', not beginning with "..". */
bool entries_check_keys(const struct field *map);

/* Bytes of all values; @are_base64: as which they are written. */
size_t entries_bytes(const struct cJSON *map, bool are_base64);

/* Once immutable: the flag and these members, ended by NULL, are what they were. */
bool entries_check_update(const struct object *old, const struct object *new_object,
			  const char *const *members, struct violations *found);

/* ---- snapshot.c: what groups have in common with it ---- */

/* Exactly one of two members is set. @counts_empty: also by "". */
bool snapshot_check_source(const struct field *source, const char *one, const char *other,
			   bool counts_empty);
/* Absent, or not "". */
bool snapshot_check_class_name(const struct field *name);
