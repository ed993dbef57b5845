/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_holds - rows of holds in the ledger, of any content and with bytes changed
 *
 * The input is six texts on lines of their own (id, pod's uid, namespace and name, container,
 * cgroup) and numbers; the last line, if there is one, is put into a column behind the ledger's
 * back. What was written is read as it was; a row that no hold can be, or that was changed, makes
 * the ledger begin again, and never a hold of something else.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "state/holds.h"
#include "state/ledger.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

enum { TEXTS = 6 };

static const struct ledger_identity identity = { .boot_id = "b00t", .mount_namespace = 1 };
static char directory[64];

static void empty_directory(void)
{
	cleanup_closedir DIR *stream = opendir(directory);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (entry->d_name[0] != '.')
			HOLDS(unlinkat(dirfd(stream), entry->d_name, 0) == 0);
}

static void remove_own_directory(void)
{
	empty_directory();
	(void) unlinkat(AT_FDCWD, directory, AT_REMOVEDIR);
}

static void make_own_directory(void)
{
	const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	(void) snprintf(directory, sizeof(directory), "%s/podvol-fuzz-XXXXXX", memory);
	HOLDS(mkdtemp(directory));
	HOLDS(atexit(remove_own_directory) == 0);
}

struct found {
	const struct hold *written;
	unsigned int count;
};

/* A process or a cgroup that is not the one that was held would be watched in its place. */
static int check_hold(const struct hold *hold, void *userdata)
{
	struct found *found = userdata;
	const struct hold *written = found->written;

	found->count++;
	HOLDS(strcmp(hold->id, written->id) == 0 && hold->kind == written->kind);
	HOLDS(strcmp(hold->pod_uid, written->pod_uid) == 0 && hold->pod_uid[0] != '\0');
	HOLDS(strcmp(hold->pod_namespace, written->pod_namespace) == 0);
	HOLDS(strcmp(hold->pod_name, written->pod_name) == 0);
	HOLDS(strcmp(hold->container, written->container) == 0);
	HOLDS(strcmp(hold->cgroup, written->cgroup) == 0);
	HOLDS(hold->pid == written->pid && hold->start_time == written->start_time);
	HOLDS(hold->cgroup_id == written->cgroup_id && hold->since_usec == written->since_usec);
	return 0;
}

/* Return: whether anything was changed that counts. */
static bool change_row(const char *text, unsigned int which)
{
	static const char *const columns[] = { "pod_uid",    "container", "cgroup", "pid",
					       "start_time", "cgroup_id", "since",  "checksum" };
	char path[128], sql[128];
	sqlite3 *database = NULL;
	sqlite3_stmt *statement = NULL;
	int changed;

	(void) snprintf(path, sizeof(path), "%s/ledger.db", directory);
	(void) snprintf(sql, sizeof(sql), "UPDATE hold SET %1$s = ?1 WHERE %1$s <> ?1",
			columns[which % ARRAY_SIZE(columns)]);
	HOLDS(sqlite3_open(path, &database) == SQLITE_OK);
	HOLDS(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK);
	HOLDS(sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC) == SQLITE_OK);
	(void) sqlite3_step(statement); /* the schema may refuse */
	changed = sqlite3_changes(database);
	HOLDS(sqlite3_finalize(statement) >= 0);
	HOLDS(sqlite3_close(database) == SQLITE_OK);
	return changed > 0;
}

/* Return: as ledger_open_as(). */
static int read_again(const struct hold *written, unsigned int *ret_count)
{
	struct found found = { .written = written };
	struct ledger *ledger = NULL;
	struct failure why = { 0 };
	int r = ledger_open_as(directory, &identity, &ledger, &why);

	HOLDS(r == 0 || (r == 1 && why.text[0] != '\0'));
	HOLDS(ledger_walk_holds(ledger, check_hold, &found) == 0);
	ledger_free(ledger);
	*ret_count = found.count;
	return r;
}

static void live(const struct hold *hold, const char *change, unsigned int which)
{
	struct ledger *ledger = NULL;
	struct failure why = { 0 };
	unsigned int count;
	bool is_possible = strlen(hold->id) == HOLD_ID_BYTES - 1 && hold->kind < HOLD_KIND_COUNT;
	bool was_written;

	HOLDS(ledger_open_as(directory, &identity, &ledger, NULL) >= 0);
	was_written = ledger_put_hold(ledger, hold, &why) == 0;
	HOLDS(was_written || why.text[0] != '\0');
	ledger_free(ledger);
	if (change && was_written && change_row(change, which))
		is_possible = false;
	if (!was_written) {
		HOLDS(read_again(hold, &count) == 0 && count == 0);
		return;
	}
	HOLDS((read_again(hold, &count) == 0) == is_possible);
	HOLDS(count == is_possible);
}

static char *take_line(const char **at, size_t *left)
{
	const char *end = *left > 0 ? memchr(*at, '\n', *left) : NULL;
	size_t length = end ? (size_t) (end - *at) : *left;
	char *line = strndup(*at, length);

	*at += length + (end ? 1 : 0);
	*left -= length + (end ? 1 : 0);
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *) data;
	char *texts[TEXTS];
	int64_t numbers[5] = { 0 };
	cleanup_free char *change = NULL;
	struct hold hold;

	if (directory[0] == '\0')
		make_own_directory();
	for (int i = 0; i < TEXTS; i++)
		texts[i] = take_line(&at, &size);
	memcpy(numbers, at, size < sizeof(numbers) ? size : sizeof(numbers));
	at += size < sizeof(numbers) ? size : sizeof(numbers);
	size -= size < sizeof(numbers) ? size : sizeof(numbers);
	change = size > 1 ? strndup(at + 1, size - 1) : NULL;
	hold = (struct hold){ .kind = (enum hold_kind)((uint64_t) numbers[0] % 4),
			      .pod_uid = texts[1],
			      .pod_namespace = texts[2],
			      .pod_name = texts[3],
			      .container = texts[4],
			      .cgroup = texts[5],
			      .pid = (pid_t) numbers[1],
			      .start_time = (uint64_t) numbers[2],
			      .cgroup_id = (uint64_t) numbers[3],
			      .since_usec = (uint64_t) numbers[4] };
	(void) snprintf(hold.id, sizeof(hold.id), "%s", texts[0]);
	if (hold.id[0] != '\0')
		live(&hold, change, size > 0 ? (uint8_t) *at : 0);
	for (int i = 0; i < TEXTS; i++)
		free(texts[i]);
	empty_directory();
	return 0;
}
