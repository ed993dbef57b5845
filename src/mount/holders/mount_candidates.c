/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_candidates - mounts elsewhere that a search found: which of them go with the volume's,
 * which a forced unstage goes past, and which are reported; see mount_search.h
 *
 * Only one holder of a volume is reported, so all of them are judged: a holder that may be
 * passed never hides one that may not.
 */
#include "mount/holders/mount_search.h"

#include "base/array.h"
#include "mount/holders/mount_force.h"
#include "mount/holders/process.h"

enum { CANDIDATES_MAX = 65536 }; /* that may go with the volume's: some 60 MB */

/* What keeps a namespace that nothing leads to may be a process that cannot be looked at. */
static bool passes(const struct mount_search *search, const struct candidate *candidate)
{
	const struct mount_passed *passed = search->holders[candidate->holder].passed;

	return passed && !(candidate->found.how == HELD_UNSEEN && search->hidden_count > 0) &&
	       mount_force_passes(passed->containers, &candidate->found);
}

/* What a local user made up counts as a mount of its own: that keeps the volume. */
static bool is_too_many(const struct mount_search *search, const struct candidate *candidate)
{
	return search->candidate_count >= CANDIDATES_MAX && candidate->found.has_owner &&
	       candidate->found.user_namespace != 0;
}

/* However many namespaces have it by themselves, one of them is enough. */
int mount_search_add_candidate(struct mount_search *search, const struct candidate *candidate)
{
	struct position *own = &search->positions[candidate->holder];
	bool stays = (candidate->peer_group == 0 && candidate->master_group == 0) ||
		     is_too_many(search, candidate);
	struct candidate *added;
	int r;

	if (stays && own->is_held)
		return 0;
	if (stays && passes(search, candidate)) {
		mount_passed_note(search->holders[candidate->holder].passed, &candidate->found);
		return 0;
	}
	r = ARRAY_ROOM(search->candidates, search->candidate_count, search->candidate_capacity, 16);
	if (r < 0)
		return r;
	own->is_held |= stays;
	added = &search->candidates[search->candidate_count++];
	*added = *candidate;
	if (stays)
		added->peer_group = added->master_group = 0;
	added->passes = !stays && passes(search, candidate);
	return 0;
}

/* No parent: nothing takes it away. */
int mount_search_add(struct mount_search *search, size_t holder, const struct mount_holder *found)
{
	return mount_search_add_candidate(search,
					  &(struct candidate){ .holder = holder, .found = *found });
}

/* ---- what goes with the volume's, and what stays ---- */

/* Does the group receive what happens in the other one? Bounded: each pair leads one step up. */
static bool is_below(const struct mount_search *search, uint64_t group, uint64_t ancestor)
{
	for (size_t steps = 0; steps <= search->pair_count; steps++) {
		size_t i = 0;

		if (group == ancestor)
			return true;
		while (i < search->pair_count && search->pairs[i].group != group)
			i++;
		if (group == 0 || i == search->pair_count)
			return false;
		group = search->pairs[i].master;
	}
	return false;
}

bool mount_search_goes_with_ours(const struct mount_search *search,
				 const struct candidate *candidate)
{
	uint64_t group = search->positions[candidate->holder].parent_peer_group;

	return group != 0 && (is_below(search, candidate->peer_group, group) ||
			      is_below(search, candidate->master_group, group));
}

/* ---- what is reported ---- */

/* Of its owner; of all owners for what was found in no namespace. */
static size_t count_unread(const struct mount_search *search, const struct mount_holder *holder)
{
	size_t count = 0;

	for (size_t i = 0; i < search->share_count; i++) {
		const struct owner_share *share = &search->shares[i];

		if (holder->how == HELD_DETACHED || share->owner == holder->owner)
			count += holder->how == HELD_UNSEARCHED ? share->unsearched : share->unread;
	}
	return count;
}

static void report_holder(struct mount_search *search, const struct candidate *candidate)
{
	struct mount_holder *holder = &search->holders[candidate->holder];
	const struct mount_holder asked = *holder;

	*holder = candidate->found;
	holder->mount_point = asked.mount_point;
	holder->root = asked.root;
	holder->directory = asked.directory;
	holder->sub_paths_of = asked.sub_paths_of;
	holder->device = asked.device;
	holder->note_shown = asked.note_shown;
	holder->shown_userdata = asked.shown_userdata;
	holder->passed = asked.passed;
	if (holder->pid > 0)
		holder->pid_fd = process_pin(holder->pid, 0);
	holder->unread = count_unread(search, holder);
}

void mount_search_report(struct mount_search *search)
{
	for (size_t i = 0; i < search->candidate_count; i++) {
		const struct candidate *candidate = &search->candidates[i];
		struct mount_holder *holder = &search->holders[candidate->holder];

		if (mount_search_goes_with_ours(search, candidate))
			continue;
		if (candidate->passes)
			mount_passed_note(holder->passed, &candidate->found);
		else if (!holder->found)
			report_holder(search, candidate);
	}
}
