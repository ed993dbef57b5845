/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_account - v1.ServiceAccount
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/schema/schemas.h"

/* clang-format off */
const struct schema service_account_schema = SCHEMA("ServiceAccount", NULL,
	SCHEMA_HEAD,
	BOOL("automountServiceAccountToken", 0, "Whether its pods get a token automatically."),
	OBJECTS(local_object_reference_schema, "imagePullSecrets", 0, "Secrets for pulling images."),
	OBJECTS_BY(object_reference_schema, "name", "secrets", 0, "Secrets that its pods may use."),
);
