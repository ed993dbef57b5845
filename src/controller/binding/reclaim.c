/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim - may what is behind a volume be deleted; see binding.h
 */
#include "controller/binding/binding.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* What may still change by itself. */
static enum reclaim_verdict check_users(const struct reclaim_facts *facts, struct failure *why)
{
	if (!facts->sources_complete) {
		(void) failed_plain(why, -EAGAIN, "not every source of objects has been read yet");
		return RECLAIM_WAIT;
	}
	if (facts->is_in_use) {
		(void) failed_plain(why, -EBUSY, "volume \"%s\" is still in use",
				    facts->volume->object->meta.name);
		return RECLAIM_WAIT;
	}
	return RECLAIM_REMOVE;
}

enum reclaim_verdict reclaim_decide(const struct reclaim_facts *facts, struct failure *why)
{
	const struct persistent_volume *volume = facts->volume;

	assert(volume && volume->object);
	if (volume->origin.is_unfinished || volume->phase != VOLUME_RELEASED ||
	    volume->reclaim_policy != RECLAIM_DELETE || facts->claim_exists)
		return RECLAIM_NOT_OURS;
	if (!volume->claim_uid[0] || strcmp(volume->origin.claim_deleted, volume->claim_uid) != 0) {
		(void) failed_plain(
			why, -EPERM,
			"its claim is missing, and no deletion of it is on record: the data "
			"is kept. Delete the volume and its data by hand");
		return RECLAIM_REFUSED;
	}
	return check_users(facts, why);
}
