/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease - coordination.k8s.io/v1 Lease
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"

#include <assert.h>

/* clang-format off */
static const struct schema lease_spec_schema = SCHEMA_OF(SCHEMA_COORDINATION, "LeaseSpec",
	"Who holds a lease and until when.",
	MICRO_TIME("acquireTime", 0, "Since when its holder has it."),
	STRING("holderIdentity", 0, "Who has it."),
	INTEGER("leaseDurationSeconds", 0, "How long after renewTime others must wait."),
	INTEGER("leaseTransitions", 0, "How often it passed on."),
	STRING("preferredHolder"),
	MICRO_TIME("renewTime", 0, "When its holder last renewed it."),
	STRING("strategy"),
);

const struct schema lease_schema = SCHEMA_OF(SCHEMA_COORDINATION, "Lease", NULL,
	SCHEMA_HEAD,
	OBJECT(lease_spec_schema, "spec", 0, "Who holds it and until when."),
);
/* clang-format on */

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
