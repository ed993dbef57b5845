/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_file - the SQLite file behind the ledger; see ledger_file.h
 *
 * WAL without synchronous writes: what was committed is in the page cache and survives a kill,
 * which is all that it has to. Exclusive locking keeps SQLite's index of the WAL in memory, so that
 * a full tmpfs is an error code and not a SIGBUS. Nothing is ever deleted: a file that cannot be
 * believed is renamed.
 */
#include "state/ledger_file.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "state/holds.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* 1: without holds; 2: without what is unfinished; 3: without marks */
#define SCHEMA_VERSION        4
#define DATABASE_HEADER_BYTES 100 /* of every SQLite file */
#define TEXT_OF(number)       TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(number) #number

/* A believable file holds these three tables, word for word, and nothing else. */
#define HEADER_TABLE                                                                               \
	"CREATE TABLE header (boot_id TEXT NOT NULL, mount_namespace INTEGER NOT NULL) STRICT"
#define ENTRY_COLUMNS                                                                              \
	" unique_name TEXT NOT NULL CHECK (unique_name <> ''),"                                    \
	" pod_uid TEXT NOT NULL," /* '' in the row of a device */                                  \
	" plugin_name TEXT NOT NULL,"                                                              \
	" spec_name TEXT NOT NULL,"                                                                \
	" pod_key TEXT NOT NULL,"                                                                  \
	" outer_name TEXT NOT NULL,"                                                               \
	" path TEXT NOT NULL,"                                                                     \
	" device_path TEXT NOT NULL,"                                                              \
	" device_mount_path TEXT NOT NULL,"                                                        \
	" state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),"                                   \
	" device_mountable INTEGER NOT NULL CHECK (device_mountable IN (0, 1)),"                   \
	" block INTEGER NOT NULL CHECK (block IN (0, 1)),"                                         \
	" read_only INTEGER NOT NULL CHECK (read_only IN (0, 1)),"                                 \
	" single_writer INTEGER NOT NULL CHECK (single_writer IN (0, 1)),"
#define ENTRY_END                                                                                  \
	" checksum INTEGER NOT NULL,"                                                              \
	" PRIMARY KEY (unique_name, pod_uid)) STRICT, WITHOUT ROWID"
#define ENTRY_UNFINISHED " unfinished INTEGER NOT NULL CHECK (unfinished BETWEEN 0 AND 4),"
#define ENTRY_MARKS      " mount_mark INTEGER NOT NULL, served INTEGER NOT NULL,"
#define ENTRY_TABLE      "CREATE TABLE entry (" ENTRY_COLUMNS ENTRY_UNFINISHED ENTRY_MARKS ENTRY_END
#define ENTRY_TABLE_3    "CREATE TABLE entry (" ENTRY_COLUMNS ENTRY_UNFINISHED ENTRY_END
#define ENTRY_TABLE_2    "CREATE TABLE entry (" ENTRY_COLUMNS ENTRY_END
#define HOLD_TABLE                                                                                 \
	"CREATE TABLE hold ("                                                                      \
	" id TEXT PRIMARY KEY NOT NULL,"                                                           \
	" pod_uid TEXT NOT NULL CHECK (pod_uid <> ''),"                                            \
	" pod_namespace TEXT NOT NULL,"                                                            \
	" pod_name TEXT NOT NULL,"                                                                 \
	" container TEXT NOT NULL,"                                                                \
	" cgroup TEXT NOT NULL,"                                                                   \
	" kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),"                                     \
	" pid INTEGER NOT NULL,"                                                                   \
	" start_time INTEGER NOT NULL,"                                                            \
	" cgroup_id INTEGER NOT NULL,"                                                             \
	" since INTEGER NOT NULL,"                                                                 \
	" ended_before INTEGER NOT NULL,"                                                          \
	" checksum INTEGER NOT NULL) STRICT, WITHOUT ROWID"
#define SET_VERSION "PRAGMA user_version = " TEXT_OF(SCHEMA_VERSION) ";"
static const char schema[] = "BEGIN IMMEDIATE;" HEADER_TABLE ";" ENTRY_TABLE ";" HOLD_TABLE ";"
			     "INSERT INTO header VALUES ('', 0);" SET_VERSION "COMMIT;";
/* What older versions lack: what they knew is as true after an upgrade as before. */
#define OLD_COLUMNS                                                                                \
	"unique_name, pod_uid, plugin_name, spec_name, pod_key, outer_name, path, device_path,"    \
	" device_mount_path, state, device_mountable, block, read_only, single_writer"
#define RENEW_ENTRIES(unfinished)                                                                  \
	"CREATE TEMP TABLE old AS SELECT * FROM main.entry;"                                       \
	"DROP TABLE main.entry;" ENTRY_TABLE ";"                                                   \
	"INSERT INTO main.entry SELECT " OLD_COLUMNS ", " unfinished                               \
	", 0, 0, checksum FROM temp.old;"                                                          \
	"DROP TABLE temp.old;"
static const char schema_from_1[] =
	"BEGIN IMMEDIATE;" HOLD_TABLE ";" RENEW_ENTRIES("0") SET_VERSION "COMMIT;";
static const char schema_from_2[] = "BEGIN IMMEDIATE;" RENEW_ENTRIES("0") SET_VERSION "COMMIT;";
static const char schema_from_3[] =
	"BEGIN IMMEDIATE;" RENEW_ENTRIES("unfinished") SET_VERSION "COMMIT;";
static_assert(HOLD_KIND_COUNT == 3, "the schema's check on kind has its limits from this");
static_assert(MOUNT_STATE_COUNT == 3, "the schema's check on state has its limits from this");
static_assert(UNFINISHED_COUNT == 5, "the schema's check on unfinished has its limits from this");

static const char settings[] = "PRAGMA locking_mode = EXCLUSIVE;"
			       /* Of a new file. Each page that a turn changes is two writes, and a
				* checkpoint's read and write; rows lie by name, and those of
				* claims' volumes have random names. */
			       "PRAGMA page_size = 16384;"
			       "PRAGMA journal_mode = WAL;"
			       "PRAGMA synchronous = OFF;"
			       /* Pages: the run directory may be small, and the default lets
				* the log grow to 16 MiB before it begins again. */
			       "PRAGMA wal_autocheckpoint = 16;"
			       /* KiB: all rows of some 1,000 pods. A row is written in a page, so
				* that one which is not here is read. */
			       "PRAGMA cache_size = -1024;"
			       "PRAGMA temp_store = MEMORY;"
			       "PRAGMA trusted_schema = OFF;"
			       "PRAGMA cell_size_check = ON;";

/* What the world around the file may answer. All else means that the file is not what it should be:
 * the statements are always the same. */
static const struct {
	int code, error;
} errors[] = {
	{ SQLITE_BUSY, -EBUSY },  { SQLITE_CANTOPEN, -EIO },   { SQLITE_FULL, -ENOSPC },
	{ SQLITE_IOERR, -EIO },   { SQLITE_LOCKED, -EBUSY },   { SQLITE_NOMEM, -ENOMEM },
	{ SQLITE_PERM, -EACCES }, { SQLITE_READONLY, -EROFS },
};

int ledger_file_error(sqlite3 *database)
{
	int code = sqlite3_errcode(database) & 0xff;
	int error = -EUCLEAN;

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].code == code)
			error = errors[i].error;
	return error == -EIO && sqlite3_system_errno(database) == ENOSPC ? -ENOSPC : error;
}

int ledger_file_failed(sqlite3 *database, struct failure *reterr, const char *what)
{
	return failed_plain(reterr, ledger_file_error(database), "%s: %s", what,
			    sqlite3_errmsg(database));
}

int ledger_file_execute(sqlite3 *database, const char *sql, struct failure *reterr)
{
	if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
		return ledger_file_failed(database, reterr, "cannot write the ledger");
	return 0;
}

void ledger_file_finalize(sqlite3_stmt **statement)
{
	(void) sqlite3_finalize(*statement);
}

static int prepare(sqlite3 *database, const char *sql, sqlite3_stmt **ret, struct failure *reterr)
{
	if (sqlite3_prepare_v2(database, sql, -1, ret, NULL) != SQLITE_OK)
		return ledger_file_failed(database, reterr, "cannot read the ledger");
	return 0;
}

/* ---- may what is in the file be believed? ---- */

/* By name, as the query below has them. */
static const struct {
	int version;
	const char *tables, *upgrade;
} schemas[] = {
	{ 1, ENTRY_TABLE_2 ";" HEADER_TABLE, schema_from_1 },
	{ 2, ENTRY_TABLE_2 ";" HEADER_TABLE ";" HOLD_TABLE, schema_from_2 },
	{ 3, ENTRY_TABLE_3 ";" HEADER_TABLE ";" HOLD_TABLE, schema_from_3 },
	{ SCHEMA_VERSION, ENTRY_TABLE ";" HEADER_TABLE ";" HOLD_TABLE, NULL },
};

/* Return: 0 our tables; -EUCLEAN something else; @ret: what makes them complete, or NULL. */
static int check_schema(sqlite3 *database, const char **ret, struct failure *reterr)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	const char *tables;
	int version;

	if (prepare(database,
		    "SELECT user_version, (SELECT group_concat(sql, ';') FROM"
		    " (SELECT sql FROM sqlite_schema ORDER BY name)) FROM pragma_user_version",
		    &statement, reterr) < 0 ||
	    sqlite3_step(statement) != SQLITE_ROW)
		return ledger_file_failed(database, reterr, "cannot read the ledger");

	version = sqlite3_column_int(statement, 0);
	tables = (const char *) sqlite3_column_text(statement, 1);
	*ret = NULL;
	if (!tables && version == 0) {
		*ret = schema;
		return 0;
	}
	if (version > SCHEMA_VERSION)
		return failed_plain(reterr, -EUCLEAN,
				    "the ledger has schema version %d, this program knows %d",
				    version, SCHEMA_VERSION);
	for (size_t i = 0; tables && i < ARRAY_SIZE(schemas); i++)
		if (version == schemas[i].version && strcmp(tables, schemas[i].tables) == 0) {
			*ret = schemas[i].upgrade;
			return 0;
		}
	return failed_plain(reterr, -EUCLEAN, "the file holds no ledger");
}

/* Cheap for a file of this size, and done once for each start. */
static int check_pages(sqlite3 *database, struct failure *reterr)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	const char *verdict;

	if (prepare(database, "PRAGMA quick_check(1)", &statement, reterr) < 0 ||
	    sqlite3_step(statement) != SQLITE_ROW)
		return ledger_file_failed(database, reterr, "cannot read the ledger");

	verdict = (const char *) sqlite3_column_text(statement, 0);
	if (!verdict || strcmp(verdict, "ok") != 0)
		return failed_plain(reterr, -EUCLEAN, "the ledger is damaged: %s",
				    verdict ? verdict : "no verdict");
	return 0;
}

/* Return: 1 its rows are of another boot or namespace; 0 of this one; -EUCLEAN damaged. */
static int check_header(sqlite3 *database, const struct ledger_identity *identity,
			struct failure *reterr)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	const char *boot_id;

	if (prepare(database, "SELECT boot_id, mount_namespace FROM header", &statement, reterr) <
		    0 ||
	    sqlite3_step(statement) != SQLITE_ROW)
		return ledger_file_failed(database, reterr, "cannot read the ledger");

	boot_id = (const char *) sqlite3_column_text(statement, 0);
	return !boot_id || strcmp(boot_id, identity->boot_id) != 0 ||
	       (uint64_t) sqlite3_column_int64(statement, 1) != identity->mount_namespace;
}

/* Emptied and renamed in one transaction: never our name on rows of another boot. */
static int take_over(sqlite3 *database, const struct ledger_identity *identity,
		     struct failure *reterr)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	int error;

	error = ledger_file_execute(
		database, "BEGIN IMMEDIATE; DELETE FROM entry; DELETE FROM hold;", reterr);
	if (error < 0)
		return error;

	error = prepare(database, "UPDATE header SET boot_id = ?, mount_namespace = ?", &statement,
			reterr);
	if (error < 0)
		return error;
	if (sqlite3_bind_text(statement, 1, identity->boot_id, -1, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_bind_int64(statement, 2, (sqlite3_int64) identity->mount_namespace) !=
		    SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_DONE)
		return ledger_file_failed(database, reterr, "cannot write the ledger");
	return ledger_file_execute(database, "COMMIT", reterr);
}

/* From the outside in: each check relies on the one before. */
static int check_identity(sqlite3 *database, const struct ledger_identity *identity,
			  const struct ledger_file_check *check, struct failure *reterr)
{
	const char *missing = NULL;
	int error;

	error = check_schema(database, &missing, reterr);
	if (error == 0 && missing)
		error = ledger_file_execute(database, missing, reterr);
	if (error == 0)
		error = check_pages(database, reterr);
	if (error == 0)
		error = check->run(database, check->userdata, reterr);
	if (error == 0)
		error = check_header(database, identity, reterr);
	if (error != 1)
		return error;
	error = take_over(database, identity, reterr);
	return error < 0 ? error : check->run(database, check->userdata, reterr);
}

/* ---- opening ---- */

/* SQLite would make the file readable for everyone, and take one that is cut to a few bytes for a
 * new one. */
static int create_private(const char *path, struct failure *reterr)
{
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot open '%s'", path);
	if (status.st_size > 0 && status.st_size < DATABASE_HEADER_BYTES)
		return failed_plain(reterr, -EUCLEAN, "the ledger is cut off");
	return 0;
}

static int open_database(const char *path, sqlite3 **ret, struct failure *reterr)
{
	sqlite3 *database = NULL;
	int error = create_private(path, reterr);

	if (error < 0)
		return error;

	if (sqlite3_open_v2(path, &database,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK) {
		error = database ? ledger_file_failed(database, reterr, path)
				 : failed(reterr, -ENOMEM, "cannot open '%s'", path);
		(void) sqlite3_close(database);
		return error;
	}
	/* What SQLite does by itself when it could not open for writing, for whatever moment. */
	if (sqlite3_db_readonly(database, "main") > 0) {
		(void) sqlite3_close(database);
		return failed_plain(reterr, -EROFS, "cannot open '%s' for writing", path);
	}
	(void) sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	*ret = database;
	return 0;
}

static int open_and_check(const char *path, const struct ledger_identity *identity,
			  const struct ledger_file_check *check, sqlite3 **ret,
			  struct failure *reterr)
{
	sqlite3 *database = NULL;
	int error = open_database(path, &database, reterr);

	if (error < 0)
		return error;

	error = ledger_file_execute(database, settings, reterr);
	if (error == 0)
		error = check_identity(database, identity, check, reterr);
	if (error < 0) {
		/* What cannot be believed is kept as it is, the WAL apart from the file. */
		(void) sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		(void) sqlite3_close(database);
		return error;
	}
	*ret = database;
	return 0;
}

static const char *const endings[] = { "-wal", "-journal", "-shm", "" };

/* Is anything there that was moved aside under this number? */
static bool is_taken(int run_fd, unsigned long long number)
{
	struct stat status;
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		(void) snprintf(name, sizeof(name), "ledger.db.unreadable-%llu%s", number,
				endings[i]);
		if (fstatat(run_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

/* The WAL goes along: beside a new file it would be applied to that one. Named after the time, and
 * never over what was moved aside before: the clock may have been set back. */
static int move_aside(const char *run_dir, struct failure *reterr)
{
	cleanup_close int fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned long long number = realtime_usec() / USEC_PER_SEC;
	char from[64], to[64];

	if (fd < 0)
		return failed(reterr, -errno, "cannot open '%s'", run_dir);

	while (is_taken(fd, number))
		number++;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		(void) snprintf(from, sizeof(from), "ledger.db%s", endings[i]);
		(void) snprintf(to, sizeof(to), "ledger.db.unreadable-%llu%s", number, endings[i]);
		if (renameat(fd, from, fd, to) < 0 && errno != ENOENT)
			return failed(reterr, -errno, "cannot move '%s/%s' aside", run_dir, from);
	}
	return 0;
}

int ledger_file_open(const char *run_dir, const struct ledger_identity *identity,
		     const struct ledger_file_check *check, sqlite3 **ret, struct failure *reterr)
{
	char path[PATH_MAX];
	int error;

	assert(run_dir && identity && check && ret);

	if ((size_t) snprintf(path, sizeof(path), "%s/ledger.db", run_dir) >= sizeof(path))
		return failed(reterr, -ENAMETOOLONG, "cannot open the ledger in '%s'", run_dir);

	error = open_and_check(path, identity, check, ret, reterr);
	if (error != -EUCLEAN)
		return error;

	/* From here on @reterr keeps why the old one is not believed, unless this fails too. */
	(void) failure_prefix(reterr, "'%s' is moved aside; starting a new one", path);
	error = move_aside(run_dir, reterr);
	if (error < 0)
		return error;
	error = open_and_check(path, identity, check, ret, NULL);
	return error < 0 ? failed(reterr, error, "cannot create a new ledger '%s'", path) : 1;
}
