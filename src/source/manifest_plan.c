/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_plan - decisions about objects and deletion batches; see manifest_plan.h
 */
#include "source/manifest_plan.h"

#include "object/kinds/pod.h"
#include "object/kinds/root_ca.h"

#include <assert.h>
#include <string.h>

/* Volumes, and the node, are what a pod cannot change: with others it is another pod. */
static int is_another_pod(const struct manifest_facts *facts)
{
	const struct object *wanted = facts->wanted, *stored = facts->stored;
	int same;

	if (facts->names_node && strcmp(wanted->pod->node_name, stored->pod->node_name) != 0)
		return 1;
	same = manifest_has_same_volumes(wanted, stored);
	return same < 0 ? same : !same;
}

static enum manifest_step decide_wanted(const struct manifest_facts *facts)
{
	const struct object *stored = facts->stored;
	const struct manifest_mark *mark = &facts->mark;
	int is_another = 0;
	bool is_applied = mark->hash == facts->hash && strcmp(mark->file, facts->file) == 0;

	if (!stored)
		return MANIFEST_STEP_CREATE;
	if (!mark->is_marked)
		return root_ca_is_published(stored) ? MANIFEST_STEP_UPDATE : MANIFEST_STEP_REFUSE;
	if (stored->meta.deletes)
		return MANIFEST_STEP_WAIT;
	if (is_applied && !mark->is_gone)
		return MANIFEST_STEP_NONE;
	/* The file that it came from may have it still. */
	if (facts->is_starting && !mark->is_gone && strcmp(mark->file, facts->file) != 0)
		return MANIFEST_STEP_WAIT;
	/* The same document cannot make another pod. */
	if (stored->kind == KIND_POD && mark->hash != facts->hash)
		is_another = is_another_pod(facts);
	if (is_another < 0)
		return MANIFEST_STEP_AGAIN;
	return is_another ? MANIFEST_STEP_REPLACE : MANIFEST_STEP_UPDATE;
}

static enum manifest_step decide_absent(const struct manifest_facts *facts)
{
	const struct object *stored = facts->stored;

	if (!stored || !facts->mark.is_marked || facts->mark.is_gone || stored->meta.deletes)
		return MANIFEST_STEP_NONE;
	switch (facts->absence) {
	case MANIFEST_ABSENCE_UNJUDGED:
		return MANIFEST_STEP_NONE;
	case MANIFEST_ABSENCE_REMOVED:
		return stored->kind == KIND_POD ? MANIFEST_STEP_DELETE : MANIFEST_STEP_MARK_GONE;
	case MANIFEST_ABSENCE_LOST:
		return MANIFEST_STEP_MARK_GONE;
	}
	assert(!"an absence without a rule");
	return MANIFEST_STEP_NONE;
}

enum manifest_step manifest_decide(const struct manifest_facts *facts)
{
	enum manifest_step step = facts->wanted ? decide_wanted(facts) : decide_absent(facts);

	if (facts->wanted && facts->is_unread && step != MANIFEST_STEP_NONE &&
	    step != MANIFEST_STEP_WAIT)
		return MANIFEST_STEP_READ;
	return step;
}

static bool is_lost(const struct manifest_deletion_batch_facts *facts)
{
	if (!facts->directory_is_readable || !facts->directory_is_same)
		return true;
	if (facts->is_start)
		return facts->known_left == 0;
	if (facts->pod_files_gone < facts->pod_files_before)
		return false;
	return facts->pod_files_before > 1 ||
	       (facts->files_before > 1 && facts->files_gone == facts->files_before);
}

enum manifest_absence
manifest_judge_deletion_batch(const struct manifest_deletion_batch_facts *facts)
{
	return is_lost(facts) ? MANIFEST_ABSENCE_LOST : MANIFEST_ABSENCE_REMOVED;
}
