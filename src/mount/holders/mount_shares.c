/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_shares - how much is read of one local user's mount namespaces, and of what that user's
 * processes have open; see mount_search.h
 *
 * Anybody may make user namespaces and in them mount namespaces, thousands of them with thousands
 * of mounts. So each owner has a share, and what is beyond it is unread: a reason to keep every
 * volume that is asked about, with a sentence that names the owner. Namespaces of our own user
 * namespace, and those that root made for its containers, have no share: all of them are read.
 *
 * Descriptors and processes are as easily made. What reading them takes of a processor counts for
 * the uid that they are of, and for all local users together; beyond root's own bound the search
 * ends.
 */
#include "mount/holders/mount_search.h"

#include "mount/holders/process.h"

#include "base/array.h"

#include <errno.h>

static bool has_share(const struct mount_holder *holder)
{
	return holder->has_owner && holder->user_namespace != 0 && holder->owner != 0;
}

/* NULL: nothing was read of it so far. */
static struct owner_share *find_share(const struct mount_search *search, uid_t owner)
{
	for (size_t i = 0; i < search->share_count; i++)
		if (search->shares[i].owner == owner)
			return &search->shares[i];
	return NULL;
}

static struct owner_share *add_share(struct mount_search *search, uid_t owner)
{
	struct owner_share *share = find_share(search, owner);

	if (share)
		return share;
	if (ARRAY_ROOM(search->shares, search->share_count, search->share_capacity, 16) < 0)
		return NULL;
	share = &search->shares[search->share_count++];
	*share = (struct owner_share){ .owner = owner };
	return share;
}

size_t mount_share_left(struct mount_search *search, const struct mount_holder *holder)
{
	const struct owner_share *share =
		has_share(holder) ? find_share(search, holder->owner) : NULL;

	if (!share)
		return MOUNT_TABLE_BYTES_MAX;
	if (share->namespaces >= OWNER_NAMESPACES_MAX || share->bytes >= MOUNT_TABLE_BYTES_MAX)
		return 0;
	return MOUNT_TABLE_BYTES_MAX - share->bytes;
}

int mount_share_use(struct mount_search *search, const struct mount_holder *holder, size_t bytes)
{
	struct owner_share *share;

	if (!has_share(holder))
		return 0;
	share = add_share(search, holder->owner);
	if (!share)
		return -ENOMEM;
	share->namespaces++;
	share->bytes += bytes;
	return 0;
}

/* Each is judged for a forced search: one of them may be a container's. */
int mount_share_unread(struct mount_search *search, const struct mount_holder *holder)
{
	struct mount_holder found = *holder;
	struct owner_share *share;
	int r = 0;

	if (!has_share(holder))
		return -E2BIG;
	share = add_share(search, holder->owner);
	if (!share)
		return -ENOMEM;
	share->bytes = MOUNT_TABLE_BYTES_MAX;
	share->unread++;
	found.how = HELD_UNREAD;
	for (size_t i = 0; i < search->count && r >= 0; i++)
		if (search->holders[i].device != 0)
			r = mount_search_add(search, i, &found);
	return r;
}

/* ---- what processes have open ---- */

bool mount_share_has_time(const struct mount_search *search, uid_t owner)
{
	const struct owner_share *share = find_share(search, owner);

	return owner == 0 || (search->open_usec < OPEN_USEC_MAX &&
			      (!share || share->open_usec < OWNER_OPEN_USEC_MAX));
}

int mount_share_use_time(struct mount_search *search, const struct mount_holder *process,
			 uint64_t usec)
{
	struct owner_share *share = add_share(search, process->owner);

	if (!share)
		return -ENOMEM;
	share->open_usec += usec;
	if (share->owner != 0)
		search->open_usec += usec;
	if (share->owner != 0 || share->open_usec < OPEN_USEC_MAX)
		return 0;
	return failed(search->reterr, -ETIMEDOUT,
		      "processes of root have more open than %d seconds of a processor can read; "
		      "the last one read was process %d '%s'",
		      OPEN_USEC_MAX / 1000000, (int) process->pid, process->command);
}

int mount_share_unsearched(struct mount_search *search, const struct mount_holder *process,
			   int error)
{
	struct owner_share *share = add_share(search, process->owner);
	struct mount_holder found = *process;
	int r = 0;

	if (!share)
		return -ENOMEM;
	share->unsearched++;
	found.how = HELD_UNSEARCHED;
	found.undecided = error;
	for (size_t i = 0; i < search->count && r >= 0; i++)
		if (search->holders[i].device != 0)
			r = mount_search_add(search, i, &found);
	return r;
}
