/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_expand - may a claim ask for more than it did; see kinds.h
 */
#include "object/kinds.h"

#include "object/kinds/persistent_volume.h"
#include "object/schema/field.h"

#include <assert.h>

bool claim_check_expand(const struct persistent_volume_claim *old,
			const struct persistent_volume_claim *proposed,
			const struct object *storage_class, struct violations *found)
{
	const struct field *request =
		FIELD_KEY(FIELD(FIELD_ROOT(NULL, found), "spec.resources.requests"), "storage");

	assert(old && proposed && found);
	if (quantity_compare(&proposed->request, &old->request) <= 0)
		return true;
	if (old->phase != CLAIM_BOUND)
		return field_forbidden(request,
				       "Only bound persistent volume claims can be expanded");
	if (!storage_class || !storage_class->storage_class->allow_volume_expansion)
		return field_forbidden(request,
				       "only dynamically provisioned pvc can be resized and the "
				       "storageclass that provisions the pvc must support resize");
	return true;
}
