/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_edit - finalizers and annotations of any object, as controllers change them; pure
 *
 * Those with a void pointer are edits for object_edit() and work_item_edit(), given the name.
 */
#pragma once

#include "object/json/json.h"

bool metadata_has_finalizer(const struct cJSON *tree, const char *name);
/* At the end; one that is there moves to it. Return: 0 or -ENOMEM, as the others. */
int metadata_add_finalizer(struct cJSON *tree, void *name);
int metadata_remove_finalizer(struct cJSON *tree, void *name);
int metadata_set_annotation(struct cJSON *tree, const char *key, const char *value);
int metadata_remove_annotation(struct cJSON *tree, void *key);
