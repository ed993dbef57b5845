/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_detach_rule - what is next for one volume on one node; see attach_detach_rule.h
 */
#include "controller/attach/attach_detach_rule.h"

#include "object/kinds/persistent_volume.h"

#include <assert.h>
#include <stddef.h>

const char *detach_force_name(enum detach_force force)
{
	switch (force) {
	case DETACH_FORCED_TIMEOUT:
		return "timeout";
	case DETACH_FORCED_OUT_OF_SERVICE:
		return "out-of-service";
	default:
		return NULL;
	}
}

static struct attach_verdict step(enum attach_step what)
{
	return (struct attach_verdict){ .step = what };
}

/* Without modes it is unknown: the driver is to refuse it if it must. */
static bool is_for_one_node(const struct attach_facts *facts)
{
	return facts->access_modes != 0 &&
	       !(facts->access_modes & (ACCESS_READ_WRITE_MANY | ACCESS_READ_ONLY_MANY));
}

static struct attach_verdict attach(const struct attach_facts *facts)
{
	if (facts->is_elsewhere && is_for_one_node(facts))
		return step(ATTACH_REFUSED_MULTI);
	return step(facts->has_room ? ATTACH_CREATE : ATTACH_REFUSED_LIMIT);
}

/* One that others deleted comes back when it is gone. It is listed for the node at once, unless it
 * has it: the list would then say what is not so. */
static struct attach_verdict wanted(const struct attach_facts *facts)
{
	switch (facts->state) {
	case ATTACHMENT_NONE:
		return attach(facts);
	case ATTACHMENT_ATTACHED:
		return step(facts->is_reported ? ATTACH_NOTHING : ATTACH_REPORT);
	case ATTACHMENT_LEAVING:
		return step(facts->is_reported && !facts->is_in_use ? ATTACH_UNREPORT
								    : ATTACH_NOTHING);
	default:
		return step(ATTACH_NOTHING);
	}
}

static uint64_t deadline(const struct attach_facts *facts)
{
	return (facts->unwanted_usec ?: facts->now_usec) + DETACH_TIMEOUT_USEC;
}

static bool may_time_out(const struct attach_facts *facts)
{
	return facts->may_force && !facts->is_ready && !facts->is_own_node;
}

static enum detach_force force_of(const struct attach_facts *facts)
{
	if (!facts->is_in_use || facts->is_own_node)
		return DETACH_SAFE;
	if (facts->is_out_of_service)
		return DETACH_FORCED_OUT_OF_SERVICE;
	return may_time_out(facts) && facts->now_usec > deadline(facts) ? DETACH_FORCED_TIMEOUT
									: DETACH_SAFE;
}

/* What was taken out of the list before goes back: the node uses it after all, or pods are not all
 * known yet. */
static struct attach_verdict keep(const struct attach_facts *facts)
{
	bool put_back = facts->state == ATTACHMENT_ATTACHED && !facts->is_reported;
	struct attach_verdict verdict = step(put_back ? ATTACH_REPORT : ATTACH_NOTHING);

	if (may_time_out(facts))
		verdict.resync_usec = deadline(facts) + 1;
	return verdict;
}

static struct attach_verdict detach(const struct attach_facts *facts)
{
	enum detach_force force = force_of(facts);
	struct attach_verdict verdict;

	if (!facts->may_take_away || (facts->is_in_use && force == DETACH_SAFE))
		return keep(facts);
	if (facts->is_reported)
		verdict = step(ATTACH_UNREPORT);
	else
		verdict = step(facts->state == ATTACHMENT_LEAVING ? ATTACH_NOTHING : ATTACH_DELETE);
	verdict.force = force;
	return verdict;
}

struct attach_verdict attach_decide(const struct attach_facts *facts)
{
	assert(facts && facts->now_usec > 0);
	if (facts->is_wanted)
		return wanted(facts);
	if (facts->state == ATTACHMENT_NONE)
		return step(facts->is_reported ? ATTACH_UNREPORT : ATTACH_FORGET);
	return detach(facts);
}
