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

/* clang-format off */
const struct schema volume_attributes_class_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeAttributesClass", NULL,
	SCHEMA_HEAD,
	STRING("driverName", REQUIRED, "The driver that knows the parameters."),
	STRING_MAP( "parameters", 0, "Attributes of volumes of the class, by the driver's keys."),
);
/* clang-format on */

bool volume_attributes_class_validate(const struct field *class)
{
	const struct field *parameters = FIELD(class, "parameters");

	return csi_driver_name_validate(FIELD(class, "driverName")) &&
	       (json_count(parameters->item) > 0 ||
		field_required(parameters, "must contain at least one key/value pair"));
}

/* Volumes were changed by these: other parameters need another class. */
const struct fixed_field volume_attributes_class_fixed[] = {
	{ "driverName", VIOLATION_FORBIDDEN, "updates to driverName are forbidden." },
	{ "parameters", VIOLATION_FORBIDDEN, "updates to parameters are forbidden." },
	{ 0 },
};
