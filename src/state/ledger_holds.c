/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_holds - holds in the ledger's file; see ledger.h
 *
 * A row that does not read back as what was written makes the whole ledger unbelievable: a hold
 * that is lost takes volumes from a container that lives.
 */
#include "state/ledger.h"

#include "base/fnv1a.h"
#include "state/ledger_file.h"

#include <assert.h>
#include <string.h>

/* The order of columns in all statements; texts first. */
enum column {
	COLUMN_ID,
	COLUMN_POD_UID,
	COLUMN_POD_NAMESPACE,
	COLUMN_POD_NAME,
	COLUMN_CONTAINER,
	COLUMN_CGROUP,
	TEXT_COLUMN_COUNT,

	COLUMN_KIND = TEXT_COLUMN_COUNT,
	COLUMN_PID,
	COLUMN_START_TIME,
	COLUMN_CGROUP_ID,
	COLUMN_SINCE,
	COLUMN_ENDED_BEFORE,
	NUMBER_COLUMN_END,

	COLUMN_CHECKSUM = NUMBER_COLUMN_END,
	COLUMN_COUNT
};

enum { NUMBER_COLUMN_COUNT = NUMBER_COLUMN_END - TEXT_COLUMN_COUNT };

#define COLUMNS                                                                                    \
	"id, pod_uid, pod_namespace, pod_name, container, cgroup, kind, pid, start_time, "         \
	"cgroup_id, since, ended_before, checksum"

static const char select_all[] = "SELECT " COLUMNS " FROM hold ORDER BY id";

/* A hold as columns; the texts are borrowed. */
struct row {
	const char *texts[TEXT_COLUMN_COUNT];
	int64_t numbers[NUMBER_COLUMN_COUNT];
};

static struct row make_row(const struct hold *hold)
{
	return (struct row){
		.texts = {
			[COLUMN_ID] = hold->id,
			[COLUMN_POD_UID] = hold->pod_uid,
			[COLUMN_POD_NAMESPACE] = hold->pod_namespace,
			[COLUMN_POD_NAME] = hold->pod_name,
			[COLUMN_CONTAINER] = hold->container,
			[COLUMN_CGROUP] = hold->cgroup,
		},
		.numbers = {
			[COLUMN_KIND - TEXT_COLUMN_COUNT] = hold->kind,
			[COLUMN_PID - TEXT_COLUMN_COUNT] = hold->pid,
			[COLUMN_START_TIME - TEXT_COLUMN_COUNT] = (int64_t) hold->start_time,
			[COLUMN_CGROUP_ID - TEXT_COLUMN_COUNT] = (int64_t) hold->cgroup_id,
			[COLUMN_SINCE - TEXT_COLUMN_COUNT] = (int64_t) hold->since_usec,
			[COLUMN_ENDED_BEFORE - TEXT_COLUMN_COUNT] = (int64_t) hold->ended_before,
		},
	};
}

/* FNV-1a over the whole row: SQLite notices damage to its structure, not to a text. */
static int64_t row_checksum(const struct row *row)
{
	uint64_t sum = FNV1A_FIRST;

	for (size_t i = 0; i < TEXT_COLUMN_COUNT; i++)
		sum = fnv1a_add_bytes(sum, row->texts[i], strlen(row->texts[i]) + 1);
	return (int64_t) fnv1a_add_bytes(sum, row->numbers, sizeof(row->numbers));
}

/* ---- writing ---- */

static int bind_row(sqlite3_stmt *statement, const struct row *row)
{
	int code = SQLITE_OK;

	for (int i = 0; i < TEXT_COLUMN_COUNT && code == SQLITE_OK; i++)
		code = sqlite3_bind_text(statement, i + 1, row->texts[i], -1, SQLITE_STATIC);
	for (int i = TEXT_COLUMN_COUNT; i < NUMBER_COLUMN_END && code == SQLITE_OK; i++)
		code = sqlite3_bind_int64(statement, i + 1, row->numbers[i - TEXT_COLUMN_COUNT]);
	if (code == SQLITE_OK)
		code = sqlite3_bind_int64(statement, COLUMN_CHECKSUM + 1, row_checksum(row));
	return code;
}

int ledger_put_hold(struct ledger *ledger, const struct hold *hold, struct failure *reterr)
{
	static const char put[] = "INSERT OR REPLACE INTO hold (" COLUMNS
				  ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	cleanup_statement sqlite3_stmt *statement = NULL;
	sqlite3 *database;
	struct row row;

	assert(ledger && hold && hold->id[0]);

	database = ledger_database(ledger);
	row = make_row(hold);
	if (sqlite3_prepare_v2(database, put, -1, &statement, NULL) != SQLITE_OK ||
	    bind_row(statement, &row) != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE)
		return ledger_file_failed(database, reterr, "cannot write a hold to the ledger");
	return 0;
}

int ledger_forget_hold(struct ledger *ledger, const char *id, struct failure *reterr)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	sqlite3 *database;

	assert(ledger && id);

	database = ledger_database(ledger);
	if (sqlite3_prepare_v2(database, "DELETE FROM hold WHERE id = ?", -1, &statement, NULL) !=
		    SQLITE_OK ||
	    sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_DONE)
		return ledger_file_failed(database, reterr, "cannot take a hold from the ledger");
	return 0;
}

/* ---- reading ---- */

static int read_row(sqlite3_stmt *statement, struct row *ret)
{
	for (int i = 0; i < TEXT_COLUMN_COUNT; i++) {
		ret->texts[i] = (const char *) sqlite3_column_text(statement, i);
		if (!ret->texts[i])
			return -ENOMEM;
	}
	for (int i = TEXT_COLUMN_COUNT; i < NUMBER_COLUMN_END; i++)
		ret->numbers[i - TEXT_COLUMN_COUNT] = sqlite3_column_int64(statement, i);
	return 0;
}

static int64_t row_number(const struct row *row, enum column column)
{
	return row->numbers[column - TEXT_COLUMN_COUNT];
}

/* Return: 0; -EUCLEAN what no hold can be. */
static int describe_row(const struct row *row, struct hold *ret)
{
	int64_t kind = row_number(row, COLUMN_KIND);

	if (strlen(row->texts[COLUMN_ID]) != HOLD_ID_BYTES - 1 || kind < 0 ||
	    kind >= HOLD_KIND_COUNT || row->texts[COLUMN_POD_UID][0] == '\0')
		return -EUCLEAN;
	*ret = (struct hold){
		.kind = (enum hold_kind) kind,
		.pod_uid = row->texts[COLUMN_POD_UID],
		.pod_namespace = row->texts[COLUMN_POD_NAMESPACE],
		.pod_name = row->texts[COLUMN_POD_NAME],
		.container = row->texts[COLUMN_CONTAINER],
		.cgroup = row->texts[COLUMN_CGROUP],
		.pid = (pid_t) row_number(row, COLUMN_PID),
		.start_time = (uint64_t) row_number(row, COLUMN_START_TIME),
		.cgroup_id = (uint64_t) row_number(row, COLUMN_CGROUP_ID),
		.since_usec = (uint64_t) row_number(row, COLUMN_SINCE),
		.ended_before = (uint64_t) row_number(row, COLUMN_ENDED_BEFORE),
	};
	memcpy(ret->id, row->texts[COLUMN_ID], HOLD_ID_BYTES);
	return 0;
}

static int walk(sqlite3 *database, int (*visit)(const struct hold *hold, void *userdata),
		void *userdata)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	int code;

	if (sqlite3_prepare_v2(database, select_all, -1, &statement, NULL) != SQLITE_OK)
		return ledger_file_error(database);

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct hold hold;
		struct row row;
		int r = read_row(statement, &row);

		if (r >= 0 &&
		    row_checksum(&row) != sqlite3_column_int64(statement, COLUMN_CHECKSUM))
			r = -EUCLEAN;
		if (r >= 0)
			r = describe_row(&row, &hold);
		if (r >= 0)
			r = visit(&hold, userdata);
		if (r != 0)
			return r;
	}
	return code == SQLITE_DONE ? 0 : ledger_file_error(database);
}

int ledger_walk_holds(struct ledger *ledger, int (*visit)(const struct hold *hold, void *userdata),
		      void *userdata)
{
	assert(ledger && visit);

	return walk(ledger_database(ledger), visit, userdata);
}

static int pass_over(const struct hold *hold, void *userdata)
{
	return 0;
}

int ledger_check_holds(sqlite3 *database, struct failure *reterr)
{
	int r = walk(database, pass_over, NULL);

	if (r == -EUCLEAN)
		return failed_plain(reterr, r, "the ledger is damaged: the row of a hold is wrong");
	return r < 0 ? failed(reterr, r, "cannot read the ledger") : 0;
}
