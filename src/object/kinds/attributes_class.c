/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attributes_class - storage.k8s.io/v1 VolumeAttributesClass: parameters that a driver can
 * change of a volume that is there
 *
 * Only checked, kept and given out again: the caller of a driver reads the object.
 */
#include "object/kinds.h"
#include "object/schema/schemas.h"
#include "object/update.h"

#include <assert.h>

/* clang-format off */
const struct schema volume_attributes_class_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeAttributesClass", NULL,
	SCHEMA_HEAD,
	STRING("driverName", REQUIRED, "The driver that knows the parameters."),
	STRING_MAP( "parameters", 0, "Attributes of volumes of the class, by the driver's keys."),
);
/* clang-format on */

int volume_attributes_class_validate(const struct cJSON *tree, struct violations *found)
{
	int r;

	assert(tree);
	r = csi_driver_name_validate(json_text(tree, "driverName"), FIELD(NULL, "driverName"),
				     found);
	if (r == 0 && json_count(json_get(tree, "parameters")) == 0)
		r = field_required(FIELD(NULL, "parameters"),
				   "must contain at least one key/value pair", found);
	return r;
}

/* Volumes were changed by these: other parameters need another class. */
int volume_attributes_class_validate_update(const struct object *old,
					    const struct object *new_object,
					    struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ "driverName", VIOLATION_FORBIDDEN, "updates to driverName are forbidden." },
		{ "parameters", VIOLATION_FORBIDDEN, "updates to parameters are forbidden." },
		{ 0 },
	};

	assert(old->kind == KIND_VOLUME_ATTRIBUTES_CLASS && new_object->kind == old->kind);
	return update_check_fixed(old, new_object, fixed, found);
}
