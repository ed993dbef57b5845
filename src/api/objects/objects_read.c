/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects_read - one object, from the cache
 */
#include "api/objects/objects.h"

#include "agent.h"

#include <errno.h>

/* Always the newest: no version asked for can be newer than what is there, or it was of another
 * store. A watch of one object is a watch of its collection. */
void objects_get(struct exchange *exchange, const struct target *target)
{
	const struct object *object = store_get(agent_store(exchange->agent), target->row->kind,
						target_namespace(target), target->name);
	const struct reply_details details = target_details(target, target->name);

	if (query_flag(exchange, "watch"))
		reply_refusal(exchange, API_BAD_REQUEST,
			      "one object is watched at its collection, with "
			      "fieldSelector=metadata.name=%s",
			      target->name);
	else if (object)
		reply_object(exchange, 200, object);
	else
		reply_error(exchange, -ENOENT, &details, NULL);
}
