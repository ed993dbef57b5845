/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_search - what mount_holders.c and mount_pins.c share while one search runs; no other
 * file includes it
 */
#pragma once

#include "mount/holders/mount_holders.h"
#include "mount/holders/mount_namespace.h"

enum { PLACE_BYTES = 2 * PATH_MAX };

/* A mount within its parent: what propagation goes by. */
struct position {
	dev_t parent_device;
	uint64_t parent_peer_group, parent_master_group;
	char place[PLACE_BYTES]; /* in the file system of the parent: its root and the way from it
				  */
	char root[PATH_MAX];     /* what of its own file system it shows: "/" all; "" unknown */
	bool is_held;            /* by one whom no propagation takes away: more need not be kept */
};

/* A mount elsewhere that may or may not go with the volume's. */
struct candidate {
	size_t holder; /* index of what it is a mount of */
	uint64_t mount_id, peer_group, master_group;
	bool passes; /* a forced unstage goes past it */
	struct mount_holder found;
};

/* What was read for one uid: of its namespaces, and of what its processes have open. Of namespaces
 * of our own user namespace, and of what is root's, all is read. */
struct owner_share {
	uid_t owner;
	size_t namespaces, bytes, unread;
	uint64_t open_usec; /* of a processor, for what its processes have open */
	size_t unsearched;  /* processes of which not all of that was read */
};

struct group_pair {
	uint64_t group, master;
};

/* A mount namespace that a file of its own is mounted for: "ip netns" does it with another kind. */
struct kept_namespace {
	uint64_t mount_namespace;
	char *path;
};

struct mount_search {
	struct mount_holder *holders;
	struct position *positions; /* of the holders; no parent_peer_group: nothing goes with it */
	size_t count;
	bool with_own; /* is our own namespace searched, too? */
	uint64_t own_namespace;
	struct namespace_set seen; /* read in full, or counted as unread */
	struct owner_share *shares;
	size_t share_count, share_capacity;
	uint64_t open_usec; /* of all shares but root's */
	struct candidate *candidates;
	size_t candidate_count, candidate_capacity;
	struct group_pair *pairs; /* of mounts like the parents of the volume's */
	size_t pair_count, pair_capacity;
	struct kept_namespace *kept; /* as our own table has them */
	size_t kept_count, kept_capacity;
	unsigned char *known; /* one bit for each mount of all tables, by its small id */
	size_t known_bytes;
	struct failure *reterr; /* what could not be seen */
	int hidden;             /* errno of the first task that may not be looked at; 0 none */
	int hidden_count;
};

/* Ends the search, for what could not be seen may be what is looked for. Return: @error. */
int mount_search_failed(struct mount_search *search, int error, const struct mount_holder *process,
			const char *what);

/* Does our mount show its whole file system, as those of devices do? */
bool mount_search_shows_all(const struct position *own);

bool mount_search_is_seen(const struct mount_search *search, uint64_t mount_namespace);

/* All mounts of one namespace; what is found is @process's, who keeps it. Return: 0, or what ends
 * the search. */
int mount_search_scan(struct mount_search *search, int namespace_fd,
		      const struct mount_holder *process);

/* ---- mount_candidates.c ---- */

/* Something of a holder's file system that no propagation takes away. */
int mount_search_add(struct mount_search *search, size_t holder, const struct mount_holder *found);
/* The same of what may go with the volume's. */
int mount_search_add_candidate(struct mount_search *search, const struct candidate *candidate);
bool mount_search_goes_with_ours(const struct mount_search *search,
				 const struct candidate *candidate);
/* After all is known: one holder for each volume, and what a forced search went past. */
void mount_search_report(struct mount_search *search);

/* ---- mount_shares.c ---- */

/* How many bytes of @holder's namespace may be read; 0: the share of its owner is used up. */
size_t mount_share_left(struct mount_search *search, const struct mount_holder *holder);
/* A namespace was read. Return: 0 or -ENOMEM. */
int mount_share_use(struct mount_search *search, const struct mount_holder *holder, size_t bytes);
/* It was not, for its owner has too much: whatever is looked for may be in it. Return: 0 or
 * -ENOMEM; -E2BIG it has no share, which ends the search. */
int mount_share_unread(struct mount_search *search, const struct mount_holder *holder);

/* Is there time left for what processes of the owner have open? */
bool mount_share_has_time(const struct mount_search *search, uid_t owner);
/* So much of it, of a processor, was used for @process. Return: 0; -ENOMEM; -ETIMEDOUT root used up
 * what a search has, which ends it. */
int mount_share_use_time(struct mount_search *search, const struct mount_holder *process,
			 uint64_t usec);
/* Not all that a process has open was read, for want of time or by @error (0: time): whatever is
 * looked for may be open there. Return: 0 or -ENOMEM. */
int mount_share_unsearched(struct mount_search *search, const struct mount_holder *process,
			   int error);

/* Is the mount in a table that was read? */
bool mount_search_knows(const struct mount_search *search, uint64_t mount_id);

/**
 * mount_pins_search - mount namespaces that no process is in, and mounts that are in no namespace
 *
 * After all tables of processes. A namespace is kept by a descriptor or a mount of its own file,
 * and looked into by a thread that enters it (CAP_SYS_CHROOT). A mount that was detached lives on
 * with who has something open there.
 *
 * Return: 0, or what ends the search.
 */
int mount_pins_search(struct mount_search *search);
