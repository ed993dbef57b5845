/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_state - which entries a tree has, by path, and a digest of all of them
 *
 * What an increment of a backup is compared with, and what the parts of a backup lead to. An entry
 * is a node with one name, or several (hard links). Holds digests (entry_digest.h), never contents.
 */
#pragma once

#include "base/hash_table.h"
#include "mount/archive/entry_digest.h"

#include <stdbool.h>

enum { TREE_STATE_ENTRIES_MAX = 64 * 1024 * 1024 };

struct state_name {
	struct state_node *node;
	struct state_name *prev, *next; /* the other names of the node */
	bool is_met;                    /* by tree_state_meet() */
	UT_hash_handle hh;
	char path[];
};

struct state_node {
	unsigned char digest[ENTRY_DIGEST_BYTES];
	mode_t mode;
	bool leads_out;              /* a symbolic link, out of the tree */
	bool is_claimed;             /* of a base: an entry of the tree is this one, unchanged */
	const struct state_node *is; /* which entry of the base it is, unchanged; or NULL */
	size_t part;                 /* where an archive has it: which part, */
	uint64_t entry;              /* and which entry of that */
	struct state_name *names;    /* at least one */
	const char *first_path;      /* of tree_state_digest() */
};

struct tree_state;

struct tree_state *tree_state_new(void);
void tree_state_freep(struct tree_state **state);

/* In place of what has that name; names below it stay. Copied; its names are set by this call.
 * Return: 0; -E2BIG more than TREE_STATE_ENTRIES_MAX; -ENOMEM. */
int tree_state_put(struct tree_state *state, const char *path, const struct state_node *node,
		   struct state_node **ret, struct failure *reterr);
/* A further name of a node. As tree_state_put(). */
int tree_state_link(struct tree_state *state, const char *path, struct state_node *node,
		    struct failure *reterr);
/* Return: 0; -ENOENT. */
int tree_state_remove(struct tree_state *state, const char *path);

/* NULL: none of that name. */
struct state_node *tree_state_find(const struct tree_state *state, const char *path);
/* The same, and the name counts as met. */
struct state_node *tree_state_meet(struct tree_state *state, const char *path);

/* All names by their paths, bytewise; freed with free(). Return: 0; -ENOMEM. */
int tree_state_sort(const struct tree_state *state, struct state_name ***ret, size_t *ret_count);

/* Return: 0; -ENOTDIR a name whose directory is not there, or is none; -ENOMEM. */
int tree_state_check(const struct tree_state *state, struct failure *reterr);

/* Of paths, entries, and which of them are one. Return: 0; -ENOMEM. */
int tree_state_digest(const struct tree_state *state, char ret[ENTRY_DIGEST_TEXT],
		      struct failure *reterr);

/**
 * tree_state_read - what is below a directory now, without sockets and what is mounted there
 * @cancel: looked at between portions; may be NULL
 *
 * Reads all contents [worker]. Return: 0; -ECANCELED; else as the calls.
 */
int tree_state_read(int root_fd, const atomic_bool *cancel, struct tree_state **ret,
		    struct failure *reterr);
