/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_file - the SQLite file behind the ledger: opened, judged, replaced by a new one
 *
 * Only ledger.c and ledger_holds.c use this. It decides whether what is in the file may be
 * believed: the right schema, no damage, this boot and this mount namespace. What the rows mean is
 * theirs.
 */
#pragma once

#include "base/cleanup.h"
#include "state/ledger.h"

#include <sqlite3.h>

/* Are the rows whole? 0, -EUCLEAN, or another negative errno. Run again when rows were emptied. */
struct ledger_file_check {
	int (*run)(sqlite3 *database, void *userdata, struct failure *reterr);
	void *userdata;
};

/**
 * ledger_file_open - run_dir/ledger.db, ready for statements
 * @check: the last time it runs it sees the rows that the file has afterwards
 * @ret:   owned by the caller; sqlite3_close()
 *
 * Rows of another identity are gone afterwards. Blocks (start-up only).
 *
 * Return: 0 as it was, emptied or new; 1 a new one, the old file was moved aside and @reterr says
 * why; -EBUSY another process has it open; else a negative errno.
 */
int ledger_file_open(const char *run_dir, const struct ledger_identity *identity,
		     const struct ledger_file_check *check, sqlite3 **ret, struct failure *reterr);

/* ledger.c: the file of an open ledger; its own. */
sqlite3 *ledger_database(struct ledger *ledger);

/* What SQLite's answer means as an errno; -EUCLEAN is damage. */
int ledger_file_error(sqlite3 *database);

/* failed() with SQLite's own words and ledger_file_error(). */
int ledger_file_failed(sqlite3 *database, struct failure *reterr, const char *what);

/* Statements without results. 0 or as ledger_file_failed(). */
int ledger_file_execute(sqlite3 *database, const char *sql, struct failure *reterr);

/* For variables of type sqlite3_stmt *. */
void ledger_file_finalize(sqlite3_stmt **statement);
#define cleanup_statement cleanup(ledger_file_finalize)
