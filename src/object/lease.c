/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease - coordination.k8s.io/v1 Lease
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/field.h"
#include "object/kinds.h"
#include "object/shapes.h"

#include <assert.h>

static const struct shape_field lease_spec_fields[] = {
	{ .name = "acquireTime",
	  .type = SHAPE_MICRO_TIME,
	  .description = "Since when its holder has it." },
	{ .name = "holderIdentity", .type = SHAPE_STRING, .description = "Who has it." },
	{ .name = "leaseDurationSeconds",
	  .type = SHAPE_INTEGER,
	  .description = "How long after renewTime others must wait." },
	{ .name = "leaseTransitions",
	  .type = SHAPE_INTEGER,
	  .description = "How often it passed on." },
	{ .name = "preferredHolder", .type = SHAPE_STRING },
	{ .name = "renewTime",
	  .type = SHAPE_MICRO_TIME,
	  .description = "When its holder last said so." },
	{ .name = "strategy", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape lease_spec_shape = {
	.name = "LeaseSpec",
	.package = SHAPE_COORDINATION,
	.description = "Who holds a lease and until when.",
	.fields = lease_spec_fields,
};

static const struct shape_field lease_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &lease_spec_shape,
	  .description = "Who holds it and until when." },
	{ 0 },
};

const struct shape lease_shape = {
	.name = "Lease",
	.package = SHAPE_COORDINATION,
	.fields = lease_fields,
};

int lease_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *spec = json_get(tree, "spec");
	const struct field *field = FIELD(NULL, "spec");
	int64_t number;
	int r = 0;

	assert(tree);
	if (json_int64(json_get(spec, "leaseDurationSeconds"), &number) && number <= 0)
		r = field_invalid_number(FIELD(field, "leaseDurationSeconds"), number,
					 "must be greater than 0", found);
	if (r == 0 && json_int64(json_get(spec, "leaseTransitions"), &number) && number < 0)
		r = field_invalid_number(FIELD(field, "leaseTransitions"), number,
					 "must be greater than or equal to 0", found);
	return r;
}
