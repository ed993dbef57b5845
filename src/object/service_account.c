/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_account - v1.ServiceAccount
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/shapes.h"

static const struct shape_field service_account_fields[] = {
	SHAPE_HEAD,
	{ .name = "automountServiceAccountToken",
	  .type = SHAPE_BOOL,
	  .description = "Whether its pods get a token unasked." },
	{ .name = "imagePullSecrets",
	  .type = SHAPE_OBJECTS,
	  .of = &local_object_reference_shape,
	  .description = "Secrets for pulling images." },
	{ .name = "secrets",
	  .type = SHAPE_OBJECTS,
	  .of = &object_reference_shape,
	  .merge_key = "name",
	  .description = "Secrets that its pods may use." },
	{ 0 },
};

const struct shape service_account_shape = {
	.name = "ServiceAccount",
	.fields = service_account_fields,
};
