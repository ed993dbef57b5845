/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger - rows of the actual state in a file that outlives the process; see ledger.h
 *
 * Changes wait in a table by unique name and pod uid and go to SQLite in one transaction per turn
 * of the loop. What a commit could not store stays in that table. Which file it is and whether it
 * may be believed is ledger_file.c's business.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/ledger.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "base/uuid.h"
#include "state/ledger_file.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

/* The order of columns in both statements; texts first. */
enum column {
	COLUMN_UNIQUE_NAME,
	COLUMN_POD_UID,
	COLUMN_PLUGIN_NAME,
	COLUMN_SPEC_NAME,
	COLUMN_POD_KEY,
	COLUMN_OUTER_NAME,
	COLUMN_PATH,
	COLUMN_DEVICE_PATH,
	COLUMN_DEVICE_MOUNT_PATH,
	TEXT_COLUMN_COUNT,

	COLUMN_STATE = TEXT_COLUMN_COUNT,
	COLUMN_DEVICE_MOUNTABLE,
	COLUMN_BLOCK,
	COLUMN_READ_ONLY,
	COLUMN_SINGLE_WRITER,
	COLUMN_UNFINISHED, /* last: see row_checksum() */
	NUMBER_COLUMN_END,

	COLUMN_MOUNT_MARK = NUMBER_COLUMN_END,
	COLUMN_SERVED,
	MARK_COLUMN_END,

	COLUMN_CHECKSUM = MARK_COLUMN_END,
	COLUMN_COUNT
};

enum {
	NUMBER_COLUMN_COUNT = NUMBER_COLUMN_END - TEXT_COLUMN_COUNT,
	MARK_COLUMN_COUNT = MARK_COLUMN_END - NUMBER_COLUMN_END
};

#define COLUMNS                                                                                    \
	"unique_name, pod_uid, plugin_name, spec_name, pod_key, outer_name, path, device_path, "   \
	"device_mount_path, state, device_mountable, block, read_only, single_writer, "            \
	"unfinished, mount_mark, served, "                                                         \
	"checksum"

static const char select_all[] = "SELECT " COLUMNS " FROM entry ORDER BY unique_name, pod_uid";

/* A row in memory: the texts of all columns one after the other, so that the first two, which are
 * its key, lie together. */
struct row {
	UT_hash_handle hh; /* while it waits for the next commit */
	struct row *next;  /* while it is one of those read */
	bool forget;
	int numbers[NUMBER_COLUMN_COUNT];
	uint64_t marks[MARK_COLUMN_COUNT];
	const char *texts[TEXT_COLUMN_COUNT];
	size_t length;
	char bytes[];
};

struct ledger {
	sqlite3 *database;
	sqlite3_stmt *put, *forget;
	struct row *waiting; /* by key */
	struct row *read;    /* in order; they are what the file has until a commit */
	bool is_read;
};

/* ---- rows in memory ---- */

/* One allocation for a row, whatever texts it has; NULL becomes "". */
static struct row *row_new(const char *const texts[TEXT_COLUMN_COUNT])
{
	size_t lengths[TEXT_COLUMN_COUNT], total = 0;
	struct row *row;
	char *at;

	for (size_t i = 0; i < TEXT_COLUMN_COUNT; i++) {
		lengths[i] = texts[i] ? strlen(texts[i]) : 0;
		total += lengths[i] + 1;
	}

	row = calloc(1, sizeof(*row) + total);
	if (!row)
		return NULL;

	row->length = total;
	at = row->bytes;
	for (size_t i = 0; i < TEXT_COLUMN_COUNT; i++) {
		memcpy(at, texts[i] ? texts[i] : "", lengths[i] + 1);
		row->texts[i] = at;
		at += lengths[i] + 1;
	}
	return row;
}

static int row_number(const struct row *row, enum column column)
{
	assert(column >= TEXT_COLUMN_COUNT && column < NUMBER_COLUMN_END);

	return row->numbers[column - TEXT_COLUMN_COUNT];
}

static void row_set_number(struct row *row, enum column column, int number)
{
	assert(column >= TEXT_COLUMN_COUNT && column < NUMBER_COLUMN_END);

	row->numbers[column - TEXT_COLUMN_COUNT] = number;
}

/* FNV-1a over the whole row: SQLite notices damage to its structure, not to a text. The last number
 * and marks count only when they say something, so that sums of versions 2 and 3 stay right. */
static int64_t row_checksum(const struct row *row)
{
	uint64_t sum = fnv1a_add_bytes(FNV1A_FIRST, row->bytes, row->length);

	for (size_t i = 0; i < NUMBER_COLUMN_COUNT - (row_number(row, COLUMN_UNFINISHED) == 0); i++)
		sum = fnv1a_add(sum, (unsigned int) row->numbers[i]);
	for (size_t i = 0; i < MARK_COLUMN_COUNT; i++)
		if (row->marks[i] != 0)
			sum = fnv1a_add(sum, row->marks[i] + i);
	return (int64_t) sum;
}

static struct row *row_read(sqlite3_stmt *statement)
{
	const char *texts[TEXT_COLUMN_COUNT];
	struct row *row;

	for (int i = 0; i < TEXT_COLUMN_COUNT; i++)
		texts[i] = (const char *) sqlite3_column_text(statement, i);
	row = row_new(texts);
	for (int i = TEXT_COLUMN_COUNT; row && i < NUMBER_COLUMN_END; i++)
		row_set_number(row, (enum column) i, sqlite3_column_int(statement, i));
	for (int i = NUMBER_COLUMN_END; row && i < MARK_COLUMN_END; i++)
		row->marks[i - NUMBER_COLUMN_END] = (uint64_t) sqlite3_column_int64(statement, i);
	return row;
}

/* ---- opening ---- */

static void drop_read(struct ledger *ledger)
{
	struct row *row;

	while ((row = ledger->read)) {
		ledger->read = row->next;
		free(row);
	}
	ledger->is_read = false;
}

static int read_rows(struct ledger *ledger, sqlite3 *database, struct failure *reterr)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	struct row **end = &ledger->read;
	int code;

	drop_read(ledger);
	if (sqlite3_prepare_v2(database, select_all, -1, &statement, NULL) != SQLITE_OK)
		return ledger_file_failed(database, reterr, "cannot read the ledger");

	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct row *row = row_read(statement);

		if (!row)
			return failed(reterr, -ENOMEM, "cannot read the ledger");
		*end = row;
		end = &row->next;
		if (row_checksum(row) != sqlite3_column_int64(statement, COLUMN_CHECKSUM))
			return failed_plain(
				reterr, -EUCLEAN,
				"the ledger is damaged: the checksum of a row is wrong");
	}
	ledger->is_read = code == SQLITE_DONE;
	return ledger->is_read ? 0 : ledger_file_failed(database, reterr, "cannot read the ledger");
}

/* What is read here is not read again by the walk of a start. */
static int check_rows(sqlite3 *database, void *userdata, struct failure *reterr)
{
	int r = read_rows(userdata, database, reterr);

	return r < 0 ? r : ledger_check_holds(database, reterr);
}

/* The kernel's own words for this boot and this namespace: after either ends no row is true. */
static int read_identity(struct ledger_identity *ret, struct failure *reterr)
{
	struct stat namespace;
	int r = uuid_of_boot(ret->boot_id);

	if (r < 0)
		return failed(reterr, r, "cannot read '/proc/sys/kernel/random/boot_id'");
	if (stat("/proc/self/ns/mnt", &namespace) < 0)
		return failed(reterr, -errno, "cannot inspect '/proc/self/ns/mnt'");
	ret->mount_namespace = namespace.st_ino;
	return 0;
}

int ledger_open(const char *run_dir, struct ledger **ret, struct failure *reterr)
{
	struct ledger_identity identity;
	int error = read_identity(&identity, reterr);

	return error < 0 ? error : ledger_open_as(run_dir, &identity, ret, reterr);
}

/* Once: a turn with a thousand rows parses nothing. */
static int prepare_statements(struct ledger *ledger, struct failure *reterr)
{
	static const char put[] = "INSERT OR REPLACE INTO entry (" COLUMNS
				  ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
				  "?)";
	static const char forget[] = "DELETE FROM entry WHERE unique_name = ? AND pod_uid = ?";

	if (sqlite3_prepare_v3(ledger->database, put, -1, SQLITE_PREPARE_PERSISTENT, &ledger->put,
			       NULL) != SQLITE_OK ||
	    sqlite3_prepare_v3(ledger->database, forget, -1, SQLITE_PREPARE_PERSISTENT,
			       &ledger->forget, NULL) != SQLITE_OK)
		return ledger_file_failed(ledger->database, reterr, "cannot use the ledger");

	assert(sqlite3_bind_parameter_count(ledger->put) == COLUMN_COUNT);
	return 0;
}

int ledger_open_as(const char *run_dir, const struct ledger_identity *identity, struct ledger **ret,
		   struct failure *reterr)
{
	struct ledger_file_check check = { .run = check_rows };
	struct ledger *ledger;
	int opened, error;

	assert(run_dir && identity && ret);

	ledger = calloc(1, sizeof(*ledger));
	if (!ledger)
		return failed(reterr, -ENOMEM, "cannot open the ledger");

	check.userdata = ledger;
	opened = ledger_file_open(run_dir, identity, &check, &ledger->database, reterr);
	error = opened < 0 ? opened : prepare_statements(ledger, reterr);
	if (error < 0) {
		ledger_free(ledger);
		return error;
	}
	*ret = ledger;
	return opened;
}

static void drop_waiting(struct ledger *ledger)
{
	struct row *row, *next;

	HASH_ITER (hh, ledger->waiting, row, next) {
		HASH_DEL(ledger->waiting, row);
		free(row);
	}
}

struct ledger *ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return NULL;

	drop_waiting(ledger);
	drop_read(ledger);
	ledger_file_finalize(&ledger->put);
	ledger_file_finalize(&ledger->forget);
	(void) sqlite3_close(ledger->database);
	free(ledger);
	return NULL;
}

sqlite3 *ledger_database(struct ledger *ledger)
{
	return ledger->database;
}

/* ---- rows that wait ---- */

/* The last word on a row replaces the one before, which stays when there is no memory for more:
 * hence first in, then out. */
static int enqueue(struct ledger *ledger, struct row *row)
{
	size_t key_length = (size_t) (row->texts[COLUMN_POD_UID + 1] - row->bytes);
	struct row *earlier;

	HASH_FIND(hh, ledger->waiting, row->bytes, key_length, earlier);
	HASH_ADD_KEYPTR(hh, ledger->waiting, row->bytes, key_length, row);
	if (!row->hh.tbl) {
		free(row);
		return -ENOMEM;
	}
	if (earlier) {
		HASH_DEL(ledger->waiting, earlier);
		free(earlier);
	}
	return 0;
}

int ledger_put(struct ledger *ledger, const struct ledger_row *row)
{
	const struct actual_entry *entry;
	struct row *waiting;

	assert(ledger && row && row->entry.unique_name && row->entry.unique_name[0] != '\0');

	entry = &row->entry;
	waiting = row_new((const char *const[]){
		[COLUMN_UNIQUE_NAME] = entry->unique_name,
		[COLUMN_POD_UID] = entry->pod_uid,
		[COLUMN_PLUGIN_NAME] = entry->plugin ? entry->plugin->name : entry->plugin_name,
		[COLUMN_SPEC_NAME] = entry->spec_name,
		[COLUMN_POD_KEY] = entry->pod_key,
		[COLUMN_OUTER_NAME] = entry->outer_name,
		[COLUMN_PATH] = entry->path,
		[COLUMN_DEVICE_PATH] = row->device_path,
		[COLUMN_DEVICE_MOUNT_PATH] = row->device_mount_path,
	});
	if (!waiting)
		return -ENOMEM;

	row_set_number(waiting, COLUMN_STATE, (int) row->state);
	row_set_number(waiting, COLUMN_DEVICE_MOUNTABLE, entry->device_mountable);
	row_set_number(waiting, COLUMN_BLOCK, entry->block);
	row_set_number(waiting, COLUMN_READ_ONLY, entry->read_only);
	row_set_number(waiting, COLUMN_SINGLE_WRITER, entry->single_writer);
	row_set_number(waiting, COLUMN_UNFINISHED, (int) row->unfinished);
	waiting->marks[COLUMN_MOUNT_MARK - NUMBER_COLUMN_END] = entry->mount_mark;
	waiting->marks[COLUMN_SERVED - NUMBER_COLUMN_END] = entry->served;
	return enqueue(ledger, waiting);
}

int ledger_forget(struct ledger *ledger, const char *unique_name, const char *pod_uid)
{
	struct row *waiting;

	assert(ledger && unique_name);

	waiting = row_new((const char *const[TEXT_COLUMN_COUNT]){
		[COLUMN_UNIQUE_NAME] = unique_name, [COLUMN_POD_UID] = pod_uid });
	if (!waiting)
		return -ENOMEM;

	waiting->forget = true;
	return enqueue(ledger, waiting);
}

/* ---- commit ---- */

/* Texts are bound without a copy: the row outlives the step. */
static int bind_row(sqlite3_stmt *statement, const struct row *row)
{
	int text_count = row->forget ? COLUMN_POD_UID + 1 : TEXT_COLUMN_COUNT;

	for (int i = 0; i < text_count; i++)
		if (sqlite3_bind_text(statement, i + 1, row->texts[i], -1, SQLITE_STATIC) !=
		    SQLITE_OK)
			return -ENOMEM;
	if (row->forget)
		return 0;
	for (int i = TEXT_COLUMN_COUNT; i < NUMBER_COLUMN_END; i++)
		if (sqlite3_bind_int(statement, i + 1, row_number(row, (enum column) i)) !=
		    SQLITE_OK)
			return -ENOMEM;
	for (int i = NUMBER_COLUMN_END; i < MARK_COLUMN_END; i++)
		if (sqlite3_bind_int64(statement, i + 1,
				       (sqlite3_int64) row->marks[i - NUMBER_COLUMN_END]) !=
		    SQLITE_OK)
			return -ENOMEM;
	return sqlite3_bind_int64(statement, COLUMN_CHECKSUM + 1, row_checksum(row)) == SQLITE_OK
		       ? 0
		       : -ENOMEM;
}

static int store_row(struct ledger *ledger, const struct row *row, struct failure *reterr)
{
	sqlite3_stmt *statement = row->forget ? ledger->forget : ledger->put;
	bool stored = bind_row(statement, row) == 0 && sqlite3_step(statement) == SQLITE_DONE;
	int error =
		stored ? 0
		       : ledger_file_failed(ledger->database, reterr, "cannot write the ledger");

	(void) sqlite3_reset(statement); /* says again what step said */
	return error;
}

/* All or nothing: a transaction that breaks off is rolled back by the caller. */
static int store_waiting(struct ledger *ledger, struct failure *reterr)
{
	const struct row *row;
	int error;

	error = ledger_file_execute(ledger->database, "BEGIN IMMEDIATE", reterr);
	if (error < 0)
		return error;

	for (row = ledger->waiting; row; row = row->hh.next) {
		error = store_row(ledger, row, reterr);
		if (error < 0)
			return error;
	}
	return ledger_file_execute(ledger->database, "COMMIT", reterr);
}

int ledger_commit(struct ledger *ledger, struct failure *reterr)
{
	int error;

	assert(ledger);

	drop_read(ledger);
	if (!ledger->waiting)
		return 0;

	error = store_waiting(ledger, reterr);
	if (error < 0) {
		/* Some errors have rolled back already; then this one is refused, and no matter. */
		(void) ledger_file_execute(ledger->database, "ROLLBACK", NULL);
		/* What the log holds already moves to its place, so that the next try finds room
		 * at the log's beginning; a full disk may refuse that, too. */
		if (error == -ENOSPC)
			(void) ledger_file_execute(ledger->database,
						   "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
		return error;
	}
	drop_waiting(ledger);
	return 0;
}

void ledger_release_memory(struct ledger *ledger)
{
	(void) sqlite3_db_release_memory(ledger->database);
}

/* ---- walk ---- */

static void describe_row(const struct row *row, struct ledger_row *ret)
{
	const char *pod_uid = row->texts[COLUMN_POD_UID];

	*ret = (struct ledger_row){
		.entry = {
			.unique_name = row->texts[COLUMN_UNIQUE_NAME],
			.plugin_name = row->texts[COLUMN_PLUGIN_NAME],
			.spec_name = row->texts[COLUMN_SPEC_NAME],
			.device_mountable = row_number(row, COLUMN_DEVICE_MOUNTABLE),
			.block = row_number(row, COLUMN_BLOCK),
			.pod_uid = *pod_uid ? pod_uid : NULL,
			.pod_key = row->texts[COLUMN_POD_KEY],
			.outer_name = row->texts[COLUMN_OUTER_NAME],
			.path = row->texts[COLUMN_PATH],
			.read_only = row_number(row, COLUMN_READ_ONLY),
			.single_writer = row_number(row, COLUMN_SINGLE_WRITER),
			.mount_mark = row->marks[COLUMN_MOUNT_MARK - NUMBER_COLUMN_END],
			.served = row->marks[COLUMN_SERVED - NUMBER_COLUMN_END],
		},
		.state = (enum mount_state) row_number(row, COLUMN_STATE),
		.device_path = row->texts[COLUMN_DEVICE_PATH],
		.device_mount_path = row->texts[COLUMN_DEVICE_MOUNT_PATH],
		.unfinished = (enum unfinished) row_number(row, COLUMN_UNFINISHED),
	};
}

int ledger_walk(struct ledger *ledger, int (*visit)(const struct ledger_row *row, void *userdata),
		void *userdata)
{
	struct ledger_row described;
	int result = 0;

	assert(ledger && visit);

	if (!ledger->is_read)
		result = read_rows(ledger, ledger->database, NULL);
	for (const struct row *row = ledger->read; row && result == 0; row = row->next) {
		describe_row(row, &described);
		result = visit(&described, userdata);
	}
	return result;
}

const char *unfinished_text(enum unfinished unfinished)
{
	static const char *const texts[] = {
		[UNFINISHED_NOTHING] = "",
		[UNFINISHED_SET_UP] = "podvold ended while this was being set up",
		[UNFINISHED_FORMAT] = "podvold ended while a file system was being made: if the "
				      "device cannot be mounted now, it may hold half of one",
		[UNFINISHED_OWNERSHIP] =
			"podvold ended while owners were being changed: some files "
			"may still have their old group",
		[UNFINISHED_TEARDOWN] = "podvold ended while this was being taken down",
	};
	static_assert(ARRAY_SIZE(texts) == UNFINISHED_COUNT, "say what each means");

	assert((size_t) unfinished < ARRAY_SIZE(texts));
	return texts[unfinished];
}
