/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_holds - holds in the ledger's file, so that they survive a kill
 *
 * Unlike rows of volumes they are written at once, each in a transaction of its own: whoever posted
 * a hold starts a container on the answer. Another boot means there are none. The loop thread only.
 */
#pragma once

#include "state/holds.h"
#include "state/ledger.h"

struct sqlite3;

/* Store a hold with all its members, in place of one with the same id. Return: 0; -ENOSPC, -EIO:
 * it is not stored. */
int ledger_put_hold(struct ledger *ledger, const struct hold *hold, struct failure *reterr);

/* It is no more; unknown ids are passed over. Return: 0; -ENOSPC, -EIO: it is there still. */
int ledger_forget_hold(struct ledger *ledger, const char *id, struct failure *reterr);

/* All of them, by id; borrowed for the call. Return: 0, what @visit returned when that was not 0,
 * or a negative errno. */
int ledger_walk_holds(struct ledger *ledger, int (*visit)(const struct hold *hold, void *userdata),
		      void *userdata);

/* For ledger.c: are the rows whole? 0, -EUCLEAN, or another negative errno. */
int ledger_check_holds(struct sqlite3 *database, struct failure *reterr);
