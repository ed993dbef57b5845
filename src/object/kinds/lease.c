/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease - coordination.k8s.io/v1 Lease
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"

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

bool lease_validate(const struct field *lease)
{
	const struct field *seconds = FIELD(lease, "spec.leaseDurationSeconds");
	const struct field *transitions = FIELD(lease, "spec.leaseTransitions");
	int64_t number;

	if (json_int64(seconds->item, &number) && number <= 0 &&
	    !field_invalid_number(seconds, number, "must be greater than 0"))
		return false;
	return !json_int64(transitions->item, &number) || number >= 0 ||
	       field_invalid_number(transitions, number, "must be greater than or equal to 0");
}
