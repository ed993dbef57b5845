/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_spec - spec of a PersistentVolumeClaim, which ephemeral volumes of pods hold as a template
 *
 * Only src/object/ uses it; also what claims and volumes have in common.
 */
#pragma once

#include "object/kinds/persistent_volume.h"
#include "object/schema/field.h"

int claim_spec_set_defaults(struct cJSON *spec);
bool claim_spec_validate(const struct field *spec);

/* spec.accessModes, spec.volumeMode and spec.storageClassName, of claims and volumes alike. */
bool volume_common_validate(const struct field *spec);
/* 0: absent, or an unknown name. */
enum access_mode access_mode_decode(const struct cJSON *mode);
unsigned int access_modes_decode(const struct cJSON *modes);
enum volume_mode volume_mode_decode(const struct cJSON *mode);
struct quantity quantity_decode(const struct cJSON *item);

/* The class: the beta annotation wins where it is present, as in Kubernetes. NULL: not set. */
const char *storage_class_of(const struct cJSON *tree);

/* The annotation that the binder leaves on what it bound, "" or "yes". */
bool is_bound_by_controller(const struct cJSON *tree);
bool has_finalizer(const struct cJSON *metadata, const char *name);
