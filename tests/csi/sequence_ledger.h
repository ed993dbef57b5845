/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_ledger - the ledger of sequence_world; see sequence_ledger.c
 */
#pragma once

#include "state/ledger.h"

extern bool sequence_ledger_fails; /* commits do */

void sequence_ledger_clear(void);
/* The daemon is gone: what it had not committed goes, too. */
void sequence_ledger_kill(void);
/* The committed rows, as ledger_walk() sorts them; borrowed until the next commit. */
size_t sequence_ledger_rows(struct ledger_row *ret, size_t capacity);
