/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race - hostile threads exchange directories and links, rename parents, mount and unmount, while
 * something is done again and again beneath them
 *
 * A kind is a row: what the threads do, what is attempted, and how it begins. After it "outside"
 * must be as it was: every entry with its inode, owner, mode, links, size and times, ctime
 * included, so that even what was changed and changed back is seen. A row that is naive on purpose
 * must fail, and soon: otherwise the harness proves nothing.
 *
 * All paths are relative to the sandbox. No pair may lie below what another pair exchanges, or the
 * threads themselves would reach outside.
 */
#pragma once

#include "sandbox.h"

struct race_pair {
	const char *one, *other;
};

enum { RACE_PAIRS_MAX = 4 };

struct race {
	const char *name;
	bool is_naive;
	unsigned int share;                     /* of all attempts: the cheaper, the more */
	struct race_pair swaps[RACE_PAIRS_MAX]; /* exchanged with each other */
	struct race_pair moves[RACE_PAIRS_MAX]; /* renamed to the other name, and back */
	struct race_pair cover; /* @other is mounted on @one, and detached; NULL: nothing is */
	void (*prepare)(void);
	/* Once; negative: it was refused. Calls race_escaped() when it sees what is outside. */
	int (*attempt)(unsigned int number);
	void (*finish)(void); /* NULL: nothing to do */
};

void race_escaped(void);

/* What is naive pauses between its look and its deed, as a busy machine makes it do sooner or
 * later: to be caught must not need luck. */
void race_pause(void);

/* Before any: so many attempts for each share of a row that is not naive, instead of a moment's. */
void race_set_attempts(uint64_t attempts_per_share);

/* A cmocka test of the row that is its initial state, and its fixtures. */
int race_setup(void **state);
int race_teardown(void **state);
void race_test(void **state);

/* What was attempted in all by now. */
uint64_t race_total(void);
