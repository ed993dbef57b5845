/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database_sizes - bytes of the store and the ledger, in Prometheus' form
 *
 * Files are found by name and not opened.
 */
#include "status/status.h"

#include "base/cleanup.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

/* Bytes of a database, or of the log beside it, which may be absent: 0. By name, of an inode that
 * SQLite keeps open: no server is asked, and nothing is read. NaN: it cannot be looked at. */
static void print_database(FILE *file, const char *directory, const char *name)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	cleanup_free char *path = NULL;
	struct statx facts = { .stx_size = 0 };
	bool is_known = false;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		path = NULL;
	else
		is_known = statx(AT_FDCWD, path, flags, STATX_SIZE, &facts) == 0 || errno == ENOENT;
	(void) fprintf(file, "podvol_database_bytes{file=\"%s\"} ", name);
	if (is_known)
		(void) fprintf(file, "%" PRIu64 "\n", (uint64_t) facts.stx_size);
	else
		(void) fputs("NaN\n", file);
}

void metrics_print_databases(FILE *file, const struct store *store, const char *store_dir,
			     const char *run_dir)
{
	static const char *const of_store[] = { "store.db", "store.db-wal", "events.db",
						"events.db-wal" };
	static const char *const of_ledger[] = { "ledger.db", "ledger.db-wal" };

	(void) fputs("# HELP podvol_store_object_bytes JSON of all objects of the store, as "
		     "objects-bytes-max and memory-objects-bytes-max limit it.\n"
		     "# TYPE podvol_store_object_bytes gauge\n",
		     file);
	for (int place = 0; store && place < STORE_PLACES; place++)
		(void) fprintf(file, "podvol_store_object_bytes{place=\"%s\"} %zu\n",
			       place == STORE_ON_DISK ? "disk" : "memory",
			       store_bytes(store, place));
	(void) fputs("# HELP podvol_database_bytes Files of the store and the ledger.\n"
		     "# TYPE podvol_database_bytes gauge\n",
		     file);
	for (size_t i = 0; store_dir && i < ARRAY_SIZE(of_store); i++)
		print_database(file, store_dir, of_store[i]);
	for (size_t i = 0; run_dir && i < ARRAY_SIZE(of_ledger); i++)
		print_database(file, run_dir, of_ledger[i]);
}
