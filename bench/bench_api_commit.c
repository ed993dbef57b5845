/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_api_commit - one row in a database of its own: what a durable write costs without podvold
 *
 * With the journal, the syncs and the locking of podvold's store, on the same file system.
 */
#include "bench/bench_api.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static char row[1 << 20];

static void run(sqlite3 *database, const char *sql)
{
	if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
		api_bench_fail("%s: %s", sql, sqlite3_errmsg(database));
}

static sqlite3_stmt *prepare(const char *path)
{
	sqlite3 *database;
	sqlite3_stmt *insert;

	if (sqlite3_open(path, &database) != SQLITE_OK)
		api_bench_fail("cannot open '%s'", path);
	run(database, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
		      "PRAGMA synchronous=FULL; CREATE TABLE row (id INTEGER PRIMARY KEY, value)");
	if (sqlite3_prepare_v2(database,
			       "INSERT OR REPLACE INTO row VALUES (abs(random()) % 1000, ?)", -1,
			       &insert, NULL) != SQLITE_OK)
		api_bench_fail("%s", sqlite3_errmsg(database));
	memset(row, 'x', sizeof(row));
	return insert;
}

double bare_commit(const char *path, size_t bytes)
{
	static sqlite3_stmt *insert;
	double begun;

	if (!insert)
		insert = prepare(path);
	begun = client_now_usec();
	(void) sqlite3_bind_text(insert, 1, row, (int) (bytes < sizeof(row) ? bytes : sizeof(row)),
				 SQLITE_STATIC);
	if (sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
		api_bench_fail("a bare commit failed");
	return client_now_usec() - begun;
}
