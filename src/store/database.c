/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database - rows in SQLite; see database.h
 *
 * A foreign file is recognised by its application id before anything is written to it.
 * The lock is SQLite's exclusive mode: it also keeps the WAL index in memory, so that a kill leaves
 * two files, store.db and store.db-wal, and nothing shared.
 */
#include "store/database.h"

#include "base/cleanup.h"
#include "store/embedded.h"
#include "store/store.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define APPLICATION_ID 0x70766f6c /* "pvol" */
#define SCHEMA_VERSION 1
#define TEXT_OF(value) #value
#define TEXT(value)    TEXT_OF(value)

enum { LOG_PAGES_MAX = 1000 }; /* SQLite's own limit, which a commit would wait for */

struct database {
	sqlite3 *connection;
	int log_pages; /* after the last commit; 0: checkpointed */
	sqlite3_stmt *put, *remove, *position;
	char *path;
};

/* One transaction: a kill leaves an empty file or a whole store. */
static const char schema_sql[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE objects(kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,"
	" json BLOB NOT NULL, UNIQUE(kind, namespace, name));"
	"CREATE TABLE position(resource_version INTEGER NOT NULL);"
	"INSERT INTO position VALUES(0);"
	"PRAGMA application_id=" TEXT(APPLICATION_ID) ";"
						      "PRAGMA user_version=" TEXT(
							      SCHEMA_VERSION) ";"
									      "COMMIT";

static const char put_sql[] =
	"INSERT INTO objects VALUES(?1, ?2, ?3, ?4)"
	" ON CONFLICT(kind, namespace, name) DO UPDATE SET json=excluded.json";
static const char remove_sql[] = "DELETE FROM objects WHERE kind=?1 AND namespace=?2 AND name=?3";
static const char position_sql[] = "UPDATE position SET resource_version=?1";
static const char load_sql[] = "SELECT kind, namespace, name, json FROM objects ORDER BY rowid";

/* SQLITE_FULL is a write that met ENOSPC; a quota or a failed extension comes as an I/O error. */
static int error_of(sqlite3 *connection, int result)
{
	int system_error = connection ? sqlite3_system_errno(connection) : 0;

	switch (result & 0xff) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_IOERR:
		return system_error == ENOSPC || system_error == EDQUOT ? -ENOSPC : -EIO;
	default:
		return -EIO;
	}
}

/* What people can fix gets a sentence that says how; the rest is SQLite's own text. */
static int database_failed(const struct database *database, int result, struct failure *reterr)
{
	int error = error_of(database->connection, result);

	switch (error) {
	case -EUCLEAN:
		return failed_plain(reterr, error,
				    "the store '%s' is damaged (%s); it was left as it is: put a "
				    "copy back or move it away",
				    database->path, sqlite3_errstr(result & 0xff));
	case -EBUSY:
		return failed_plain(reterr, error, "the store '%s' is in use by another process",
				    database->path);
	default:
		return failed_plain(reterr, error, "the store '%s': %s", database->path,
				    sqlite3_errmsg(database->connection));
	}
}

static int run(struct database *database, const char *sql, struct failure *reterr)
{
	int result = sqlite3_exec(database->connection, sql, NULL, NULL, NULL);

	return result == SQLITE_OK ? 0 : database_failed(database, result, reterr);
}

static int query_int(struct database *database, const char *sql, int64_t *ret,
		     struct failure *reterr)
{
	sqlite3_stmt *statement = NULL;
	int result;

	result = sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		*ret = sqlite3_column_int64(statement, 0);
	(void) sqlite3_finalize(statement);
	return result == SQLITE_ROW ? 0 : database_failed(database, result, reterr);
}

/* Return: 1 the file is empty, 0 it is a store, -EUCLEAN, -EPROTO, or what SQLite met. */
static int check_owner(struct database *database, struct failure *reterr)
{
	int64_t application = 0, version = 0, tables = 0;
	int r;

	r = query_int(database, "PRAGMA application_id", &application, reterr);
	if (r == 0)
		r = query_int(database, "PRAGMA user_version", &version, reterr);
	if (r == 0)
		r = query_int(database, "SELECT count(*) FROM sqlite_schema", &tables, reterr);
	if (r < 0)
		return r;

	if (application == 0 && version == 0 && tables == 0)
		return 1;
	if (application != APPLICATION_ID)
		return failed_plain(reterr, -EUCLEAN,
				    "'%s' is not a store of podvol; it was left as it is",
				    database->path);
	if (version > SCHEMA_VERSION)
		return failed_plain(reterr, -EPROTO,
				    "the store '%s' was made by a newer podvol (its version is %d, "
				    "this one knows %d)",
				    database->path, (int) version, SCHEMA_VERSION);
	return 0;
}

static int prepare(struct database *database, const char *sql, sqlite3_stmt **ret,
		   struct failure *reterr)
{
	int result = sqlite3_prepare_v3(database->connection, sql, -1, SQLITE_PREPARE_PERSISTENT,
					ret, NULL);

	return result == SQLITE_OK ? 0 : database_failed(database, result, reterr);
}

/* Instead of SQLite's own, which makes a checkpoint as a part of the commit. */
static int on_commit(void *userdata, sqlite3 *connection, const char *name, int log_pages)
{
	struct database *database = userdata;

	database->log_pages = log_pages;
	return SQLITE_OK;
}

/* The first look takes the lock, and comes before the first change. */
static int set_up(struct database *database, bool syncs, struct failure *reterr)
{
	int r;

	(void) sqlite3_wal_hook(database->connection, on_commit, database);
	r = run(database, "PRAGMA locking_mode=EXCLUSIVE", reterr);
	if (r < 0)
		return r;
	r = check_owner(database, reterr);
	if (r < 0)
		return r;
	if (r > 0) {
		r = run(database, schema_sql, reterr);
		if (r < 0)
			return r;
	}
	r = run(database,
		syncs ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL"
		      : "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
		reterr);
	if (r < 0)
		return r;
	/* KiB of pages: the cache has all objects, and what is read here are the way to rows. */
	r = run(database, "PRAGMA cache_size=-256", reterr);
	if (r == 0)
		r = prepare(database, put_sql, &database->put, reterr);
	if (r == 0)
		r = prepare(database, remove_sql, &database->remove, reterr);
	if (r == 0)
		r = prepare(database, position_sql, &database->position, reterr);
	return r;
}

/* SQLite would make the file with the umask's mode; its WAL copies the mode of the file. */
static int make_file(const char *path, struct failure *reterr)
{
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? failed(reterr, -errno, "cannot open the store '%s'", path) : 0;
}

static void close_pointer(struct database **database)
{
	(void) database_close(*database);
}

void store_memory_begin(void)
{
	(void) sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

int database_open(const char *path, bool syncs, struct database **ret, struct failure *reterr)
{
	cleanup(close_pointer) struct database *database = NULL;
	int r, result;

	assert(path && ret);
	r = make_file(path, reterr);
	if (r < 0)
		return r;

	database = calloc(1, sizeof(*database));
	if (!database || !(database->path = strdup(path)))
		return failed(reterr, -ENOMEM, "cannot open the store '%s'", path);

	result = sqlite3_open_v2(
		path, &database->connection,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (result != SQLITE_OK)
		return database_failed(database, result, reterr);
	/* What SQLite does by itself when it could not open for writing, for whatever moment. */
	if (sqlite3_db_readonly(database->connection, "main") > 0)
		return failed_plain(reterr, -EROFS, "cannot open the store '%s' for writing", path);
	r = set_up(database, syncs, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(database);
	return 0;
}

int database_clear(struct database *database, struct failure *reterr)
{
	return run(database, "DELETE FROM objects", reterr);
}

struct database *database_close(struct database *database)
{
	if (!database)
		return NULL;
	(void) sqlite3_finalize(database->put);
	(void) sqlite3_finalize(database->remove);
	(void) sqlite3_finalize(database->position);
	(void) sqlite3_close(database->connection);
	free(database->path);
	free(database);
	return NULL;
}

/* Borrowed from the statement until its next step. */
static void read_row(sqlite3_stmt *statement, struct database_row *ret)
{
	ret->kind = (const char *) sqlite3_column_text(statement, 0);
	ret->name_space = (const char *) sqlite3_column_text(statement, 1);
	ret->name = (const char *) sqlite3_column_text(statement, 2);
	ret->json = sqlite3_column_blob(statement, 3);
	ret->json_length = (size_t) sqlite3_column_bytes(statement, 3);
}

/* By the index, which finds what is written again or removed, and which the walk does not read. */
static int check_count(struct database *database, int64_t count, struct failure *reterr)
{
	int64_t indexed = 0;
	int r = query_int(database,
			  "SELECT count(*) FROM objects INDEXED BY sqlite_autoindex_objects_1",
			  &indexed, reterr);

	return r == 0 && indexed != count ? database_failed(database, SQLITE_CORRUPT, reterr) : r;
}

static int load_rows(struct database *database, sqlite3_stmt *statement,
		     int (*visit)(const struct database_row *row, void *userdata), void *userdata,
		     struct failure *reterr)
{
	struct database_row row;
	int64_t count = 0;
	int result, r = 0;

	for (; (result = sqlite3_step(statement)) == SQLITE_ROW; count++) {
		read_row(statement, &row);
		if (!row.kind || !row.name_space || !row.name)
			return failed(reterr, -ENOMEM, "cannot load the store");
		r = visit(&row, userdata);
		if (r != 0)
			return r;
	}
	return result == SQLITE_DONE ? check_count(database, count, reterr)
				     : database_failed(database, result, reterr);
}

int database_load(struct database *database,
		  int (*visit)(const struct database_row *row, void *userdata), void *userdata,
		  uint64_t *ret_resource_version, struct failure *reterr)
{
	sqlite3_stmt *statement = NULL;
	int64_t version = 0;
	int r;

	assert(database && visit && ret_resource_version);
	r = query_int(database, "SELECT resource_version FROM position", &version, reterr);
	if (r < 0)
		return r;
	r = prepare(database, load_sql, &statement, reterr);
	if (r < 0)
		return r;
	r = load_rows(database, statement, visit, userdata, reterr);
	(void) sqlite3_finalize(statement);
	if (r == 0)
		*ret_resource_version = (uint64_t) version;
	return r;
}

static int step_write(struct database *database, const struct database_write *write)
{
	const struct object *object = write->object;
	sqlite3_stmt *statement = object ? database->put : database->remove;
	int result;

	/* Nothing is copied: the group outlives the step. The lengths are limited, far below 2^31.
	 */
	result = sqlite3_bind_text(statement, 1, write->kind, -1, SQLITE_STATIC);
	if (result == SQLITE_OK)
		result = sqlite3_bind_text(statement, 2, write->name_space, -1, SQLITE_STATIC);
	if (result == SQLITE_OK)
		result = sqlite3_bind_text(statement, 3, write->name, -1, SQLITE_STATIC);
	if (result == SQLITE_OK && object)
		result = sqlite3_bind_blob(statement, 4, object->json, (int) object->json_length,
					   SQLITE_STATIC);
	if (result == SQLITE_OK)
		result = sqlite3_step(statement);
	(void) sqlite3_reset(statement);
	(void) sqlite3_clear_bindings(statement);
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* In the same transaction as the rows: the version and what it counts stay together. */
static int step_position(struct database *database, uint64_t resource_version)
{
	int result;

	result = sqlite3_bind_int64(database->position, 1, (sqlite3_int64) resource_version);
	if (result == SQLITE_OK)
		result = sqlite3_step(database->position);
	(void) sqlite3_reset(database->position);
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

int database_commit(struct database *database, const struct database_write *writes, size_t count,
		    uint64_t resource_version, struct failure *reterr)
{
	sqlite3 *connection = database->connection;
	int result, r = 0;

	assert(writes || count == 0);
	result = sqlite3_exec(connection, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	for (size_t i = 0; i < count && result == SQLITE_OK; i++)
		result = step_write(database, &writes[i]);
	if (result == SQLITE_OK)
		result = step_position(database, resource_version);
	if (result == SQLITE_OK)
		result = sqlite3_exec(connection, "COMMIT", NULL, NULL, NULL);
	if (result != SQLITE_OK)
		r = database_failed(database, result, reterr);
	/* Some failures end the transaction by themselves. */
	if (!sqlite3_get_autocommit(connection))
		(void) sqlite3_exec(connection, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

void database_checkpoint(struct database *database)
{
	if (database->log_pages < LOG_PAGES_MAX)
		return;
	database->log_pages = 0;
	(void) sqlite3_wal_checkpoint_v2(database->connection, "main", SQLITE_CHECKPOINT_PASSIVE,
					 NULL, NULL);
}

/* Of older podvolds nothing is known: they have no such table, and leave it as it is. */
bool database_checked(struct database *database, uint64_t program, uint64_t *ret_sum)
{
	sqlite3_stmt *statement = NULL;
	bool found = false;

	if (sqlite3_prepare_v2(database->connection, "SELECT sum FROM checked WHERE program=?1", -1,
			       &statement, NULL) == SQLITE_OK &&
	    sqlite3_bind_int64(statement, 1, (sqlite3_int64) program) == SQLITE_OK)
		found = sqlite3_step(statement) == SQLITE_ROW;
	if (found)
		*ret_sum = (uint64_t) sqlite3_column_int64(statement, 0);
	(void) sqlite3_finalize(statement);
	return found;
}

void database_note_check(struct database *database, uint64_t program, uint64_t sum)
{
	char sql[256];

	(void) snprintf(sql, sizeof(sql),
			"BEGIN IMMEDIATE;"
			"CREATE TABLE IF NOT EXISTS checked(program INTEGER, sum INTEGER);"
			"DELETE FROM checked;"
			"INSERT INTO checked VALUES(%" PRId64 ", %" PRId64 ");"
			"COMMIT",
			(int64_t) program, (int64_t) sum);
	(void) sqlite3_exec(database->connection, sql, NULL, NULL, NULL);
	if (!sqlite3_get_autocommit(database->connection))
		(void) sqlite3_exec(database->connection, "ROLLBACK", NULL, NULL, NULL);
}

void store_take_no_locks(void)
{
	if (strcmp(sqlite3_vfs_find(NULL)->zName, "unix") == 0)
		(void) sqlite3_vfs_register(sqlite3_vfs_find("unix-none"), true);
}
