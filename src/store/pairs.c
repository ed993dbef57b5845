/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs - binds what a group creates; see pairs.h
 */
#include "store/pairs.h"

#include "store/group.h"

#include "object/kind.h"
#include "object/kinds/persistent_volume.h"

#include <assert.h>
#include <string.h>

static bool is_new(const struct admitted *member, enum object_kind kind)
{
	const struct write *write = member->write;

	return write->kind == kind && write->verb == ADMIT_CREATE && !write->mirrors &&
	       !write->touches && member->verdict == VERDICT_CHANGES && !member->is_relied_on;
}

static struct admitted *find_volume(struct group *group, const char *name)
{
	unsigned int hash = group_hash(KIND_PERSISTENT_VOLUME, "", name);

	for (size_t i = group_may_have(group, hash) ? group->count : 0; i-- > 0;) {
		struct admitted *member = &group->members[i];

		if (member->hash == hash && is_new(member, KIND_PERSISTENT_VOLUME) &&
		    strcmp(member->write->name, name) == 0)
			return member;
	}
	return NULL;
}

/* Of claims that name one volume the last that came gets it, as in the binder's list of who is due:
 * of a manifest, whose last document is created first, the first one. */
void group_bind_pairs(struct group *group)
{
	for (size_t i = group->count; i-- > 0;) {
		struct admitted *claim = &group->members[i], *volume = NULL;

		if (!is_new(claim, KIND_PERSISTENT_VOLUME_CLAIM))
			continue;
		if (claim->result->claim->volume_name[0] != '\0')
			volume = find_volume(group, claim->result->claim->volume_name);
		if (volume)
			group->bind(claim->result, volume->result, &claim->unbound,
				    &volume->unbound);
	}
}

void store_bind_new(struct store *store, store_bind_fn *bind)
{
	store_group(store)->bind_new = bind;
}
