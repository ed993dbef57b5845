/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds - the functions of each kind, for its row in kind.c
 *
 * Only src/object/ uses it; what the functions do is said at struct kind_row.
 */
#ifndef PODVOL_OBJECT_KINDS_H
#define PODVOL_OBJECT_KINDS_H

#include "object/kind.h"
#include "object/shape.h"
#include "object/table.h"

extern const struct shape pod_shape, persistent_volume_shape, claim_shape, storage_class_shape;

int pod_set_defaults(struct cJSON *tree);
int pod_validate(const struct cJSON *tree, struct failure *reterr);
int pod_validate_update(const struct object *old, const struct object *new_object,
			struct failure *reterr);
int pod_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
	       struct failure *reterr);

int persistent_volume_set_defaults(struct cJSON *tree);
int persistent_volume_validate(const struct cJSON *tree, struct failure *reterr);
int persistent_volume_validate_update(const struct object *old, const struct object *new_object,
				      struct failure *reterr);
int persistent_volume_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			     struct failure *reterr);

int claim_set_defaults(struct cJSON *tree);
int claim_validate(const struct cJSON *tree, struct failure *reterr);
int claim_validate_update(const struct object *old, const struct object *new_object,
			  struct failure *reterr);
int claim_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
		 struct failure *reterr);

int storage_class_set_defaults(struct cJSON *tree);
int storage_class_validate(const struct cJSON *tree, struct failure *reterr);
int storage_class_validate_update(const struct object *old, const struct object *new_object,
				  struct failure *reterr);
int storage_class_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			 struct failure *reterr);

/* kubectl's columns; columns.c. */
enum {
	POD_COLUMN_COUNT = 6,
	PERSISTENT_VOLUME_COLUMN_COUNT = 11,
	CLAIM_COLUMN_COUNT = 9,
	STORAGE_CLASS_COLUMN_COUNT = 6,
};
extern const struct table_column pod_columns[POD_COLUMN_COUNT],
	persistent_volume_columns[PERSISTENT_VOLUME_COLUMN_COUNT],
	claim_columns[CLAIM_COLUMN_COUNT], storage_class_columns[STORAGE_CLASS_COLUMN_COUNT];

#endif
