/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_power_loss - the store after a power loss at any moment of its life
 *
 * Lives of a store (made, written to in groups, its log checkpointed and begun again, closed,
 * opened again) are recorded on a disk in memory. Then each moment of them is the last one, with
 * each fate of what was not synced by then, and the real store is opened on what is left. It opens,
 * is whole, holds every group that was answered before that moment and none in parts, and gives no
 * version a second time. POWER_LOSS_SEEDS=200 for more random ones; each disk is opened once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "power_replay.h"

#include "base/cleanup.h"
#include "store/embedded.h"

#include <sched.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	GROUPS = 48,
	LIVES = 3,
	NAMES = 9,
	GROUP_WRITES_MAX = 5,
	TEXT_BYTES_MAX = 5000, /* longer than a page */
	LOG_PAGES = 12,        /* then it is checkpointed; the store's own limit is 1000 */
	LOG_PAGES_REPORTED = 1000,
	SEEDS = 3,
	DEEPER_EVERY = 97,   /* of the disks: the power is lost again while it is recovered */
	REPORT_EVERY = 1000, /* of the disks: with sanitizers on a busy machine half a minute */
};

/* Between two of these a group was under way. */
struct mark {
	size_t began, ended; /* changes of the disk */
	uint64_t version;    /* the newest that was reported */
	uint64_t checksum;   /* of all that is stored */
};

struct history {
	struct mark marks[GROUPS + 2]; /* the first one: nothing was ever written */
	size_t count;
	uint64_t random;
};

struct tally {
	size_t moments, states, opened, deeper;
	uint64_t *known; /* disks that were opened; 0 is none */
	size_t known_size;
};

static sd_event *event;
static char directory[64];
static char place[256]; /* which state of the disk is looked at, for messages */

typedef int log_hook(void *userdata, sqlite3 *connection, const char *name, int pages);

static log_hook *store_hook; /* the store's own */
static atomic_uint checkpoints_due;

void *__real_sqlite3_wal_hook(sqlite3 *connection, log_hook *hook, void *userdata);
void *__wrap_sqlite3_wal_hook(sqlite3 *connection, log_hook *hook, void *userdata);
int __real_sqlite3_wal_checkpoint_v2(sqlite3 *connection, const char *name, int mode,
				     int *ret_pages, int *ret_copied);
int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *connection, const char *name, int mode,
				     int *ret_pages, int *ret_copied);

/* Small lives see many checkpoints. */
static int report_long_log(void *userdata, sqlite3 *connection, const char *name, int pages)
{
	if (pages < LOG_PAGES)
		return store_hook(userdata, connection, name, pages);
	atomic_fetch_add(&checkpoints_due, 1);
	return store_hook(userdata, connection, name, LOG_PAGES_REPORTED);
}

void *__wrap_sqlite3_wal_hook(sqlite3 *connection, log_hook *hook, void *userdata)
{
	store_hook = hook;
	return __real_sqlite3_wal_hook(connection, report_long_log, userdata);
}

int __wrap_sqlite3_wal_checkpoint_v2(sqlite3 *connection, const char *name, int mode,
				     int *ret_pages, int *ret_copied)
{
	int result =
		__real_sqlite3_wal_checkpoint_v2(connection, name, mode, ret_pages, ret_copied);

	atomic_fetch_sub(&checkpoints_due, 1);
	return result;
}

/* ---- what is stored ---- */

static int add_object(const struct object *object, void *userdata)
{
	uint64_t hash = 14695981039346656037U, *sum = userdata;

	for (size_t i = 0; i < object->json_length; i++)
		hash = (hash ^ (unsigned char) object->json[i]) * 1099511628211U;
	*sum += hash;
	return 0;
}

static uint64_t checksum(struct store *store)
{
	uint64_t sum = 0;

	assert_int_equal(store_list(store, KIND_CONFIG_MAP, NULL, add_object, &sum), 0);
	return sum;
}

static uint64_t next_number(struct history *history)
{
	history->random ^= history->random << 13;
	history->random ^= history->random >> 7;
	history->random ^= history->random << 17;
	return history->random >> 20;
}

static const struct object *make_object(const char *json)
{
	const struct object *object = NULL;
	struct failure why;

	if (object_parse_json(json, strlen(json), &object, &why) < 0)
		fail_msg("%s", why.text);
	return object;
}

static const struct object *make_config_map(unsigned int name, size_t bytes, char letter)
{
	char json[TEXT_BYTES_MAX + 256], text[TEXT_BYTES_MAX + 1];

	memset(text, letter, bytes);
	text[bytes] = '\0';
	(void) snprintf(
		json, sizeof(json),
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%u\","
		"\"namespace\":\"n\"},\"data\":{\"k\":\"%s\"}}",
		name, text);
	return make_object(json);
}

/* A kind that is never stored, whose versions count all the same. */
static const struct object *make_lease(unsigned int number)
{
	char json[256];

	(void) snprintf(
		json, sizeof(json),
		"{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":"
		"{\"name\":\"l%u\",\"namespace\":\"n\"},\"spec\":{}}",
		number);
	return make_object(json);
}

/* ---- a life ---- */

struct waiting {
	unsigned int left;
	int error; /* the last one */
};

static void on_done(void *userdata, int error, const struct object *result,
		    const struct failure *why)
{
	struct waiting *waiting = userdata;

	waiting->left--;
	if (error < 0)
		waiting->error = error;
}

static void write_one(struct store *store, struct history *history, unsigned int name,
		      struct waiting *waiting)
{
	size_t bytes = next_number(history) % (next_number(history) % 4 ? 400 : TEXT_BYTES_MAX);
	cleanup_object const struct object *object =
		make_config_map(name, bytes, (char) ('a' + next_number(history) % 26));
	const struct store_key key = { KIND_CONFIG_MAP, "n", object->meta.name };
	bool is_there = store_get(store, KIND_CONFIG_MAP, "n", key.name) != NULL;
	int r;

	if (is_there && next_number(history) % 4 == 0)
		r = store_delete(store, &key, NULL, on_done, waiting);
	else if (is_there)
		r = store_update(store, object, NULL, on_done, waiting);
	else
		r = store_create(store, object, on_done, waiting);
	assert_int_equal(r, 0);
	waiting->left++;
}

/* What is queued within one turn of the loop is one group. A checkpoint that follows it is over
 * when the next change comes: the disk is used by one thread at a time. Return: 0, or why it was
 * not stored. */
static int write_group(struct store *store, struct history *history, bool only_in_memory)
{
	cleanup_object const struct object *lease = make_lease((unsigned int) history->count);
	unsigned int name = (unsigned int) next_number(history) % NAMES;
	unsigned int count =
		only_in_memory ? 0 : (unsigned int) next_number(history) % (GROUP_WRITES_MAX + 1);
	struct waiting waiting = { .left = 1 };

	atomic_store(&checkpoints_due, 0);
	for (unsigned int i = 0; i < count; i++)
		write_one(store, history, (name + i) % NAMES, &waiting);
	assert_int_equal(store_create(store, lease, on_done, &waiting), 0);
	while (waiting.left > 0)
		assert_return_code(sd_event_run(event, UINT64_MAX), 0);
	while (atomic_load(&checkpoints_due) > 0)
		(void) sched_yield();
	return waiting.error;
}

/* Return: 0, or what it met. */
static int open_store(struct store **ret, struct failure *why)
{
	*why = (struct failure){ 0 };
	return store_open_embedded(event, store_open_begin(directory), ret, why);
}

/* A group that was not stored leaves no mark: the next one's begins where it began. */
static void live(struct power_disk *disk, struct history *history, size_t groups)
{
	struct store *store = NULL;
	struct failure why;

	if (open_store(&store, &why) < 0)
		return;
	for (size_t i = 0; i < groups; i++) {
		struct mark *mark = &history->marks[history->count];

		if (mark->began == 0)
			mark->began = disk->change_count;
		if (write_group(store, history, i == 0) < 0)
			continue;
		mark->ended = disk->change_count;
		mark->version = store_resource_version(store);
		mark->checksum = checksum(store);
		history->count++;
	}
	(void) store_free(store);
}

static void record(struct power_disk *disk, struct history *history, uint64_t seed)
{
	*history = (struct history){ .count = 1, .random = seed * 2862933555777941757U + 1 };
	power_disk_use(disk);
	for (size_t i = 0; i < LIVES; i++)
		live(disk, history, GROUPS / LIVES);
	power_disk_use(NULL);
}

/* ---- what must hold ---- */

/* What was promised before a moment: one of two states. */
struct promise {
	const struct mark *least, *most;
};

static struct promise promise_at(const struct history *history, size_t moment)
{
	struct promise promise = { &history->marks[0], &history->marks[0] };

	for (size_t i = 1; i <= history->count; i++) {
		const struct mark *mark = &history->marks[i];

		if (i < history->count && mark->ended <= moment)
			promise.least = mark;
		/* The last one may have begun and never ended. */
		if (mark->began > 0 && mark->began <= moment)
			promise.most = mark;
	}
	return promise;
}

static void assert_whole(void)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *connection = NULL;
	char path[80];

	(void) snprintf(path, sizeof(path), "%s/store.db", directory);
	assert_int_equal(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(connection, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(connection, "PRAGMA integrity_check", -1, &statement, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	assert_string_equal(sqlite3_column_text(statement, 0), "ok");
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
	assert_int_equal(sqlite3_close(connection), SQLITE_OK);
}

/* Life goes on: what is written now is stored, and its version is a new one. */
static void assert_goes_on(struct store *store, const struct promise *promise)
{
	cleanup_object const struct object *object = make_config_map(NAMES, 10, 'z');
	struct waiting waiting = { .left = 1 };

	assert_int_equal(store_create(store, object, on_done, &waiting), 0);
	while (waiting.left > 0)
		assert_return_code(sd_event_run(event, UINT64_MAX), 0);
	assert_int_equal(waiting.error, 0);
	assert_true(store_resource_version(store) > promise->least->version);
}

/* @disk is in use. */
static void assert_kept(const struct promise *promise, bool goes_on)
{
	struct store *store = NULL;
	struct failure why;
	uint64_t found;

	if (open_store(&store, &why) < 0)
		fail_msg("%s: the store does not open: %s", place, why.text);
	found = checksum(store);
	if (found != promise->least->checksum && found != promise->most->checksum)
		fail_msg("%s: what is stored is none of what it may be", place);
	if (store_resource_version(store) < promise->least->version)
		fail_msg("%s: versions go back to %llu, and %llu was told", place,
			 (unsigned long long) store_resource_version(store),
			 (unsigned long long) promise->least->version);
	if (goes_on)
		assert_goes_on(store, promise);
	(void) store_free(store);
	assert_whole();
}

/* ---- every moment, every fate ---- */

static bool is_known(struct tally *tally, uint64_t key)
{
	size_t at = key % tally->known_size;

	while (tally->known[at] != 0 && tally->known[at] != key)
		at = (at + 1) % tally->known_size;
	if (tally->known[at] == key)
		return true;
	assert_true(tally->opened < tally->known_size / 2);
	tally->known[at] = key;
	return false;
}

static struct tally tally_new(void)
{
	struct tally tally = { .known_size = 1 << 22 };

	tally.known = calloc(tally.known_size, sizeof(*tally.known));
	assert_non_null(tally.known);
	return tally;
}

/* The power is lost once more, at each moment of the recovery. */
static void assert_kept_again(const struct power_disk *disk, const struct power_disk *before,
			      const struct promise *promise, struct tally *tally)
{
	struct power_replay replay;

	power_replay_init(&replay, disk, before);
	do {
		for (int fate = FATE_ALL_LANDED; fate <= FATE_ALL_LOST; fate++) {
			const struct power_cut cut = { .fate = (enum power_fate) fate };
			struct power_disk *left = power_replay_cut(&replay, &cut);

			tally->deeper++;
			power_disk_use(left);
			assert_kept(promise, false);
			power_disk_use(NULL);
			(void) power_disk_free(left);
		}
	} while (power_replay_next(&replay));
	power_replay_done(&replay);
}

static void note_place(const struct power_replay *replay, const struct power_cut *cut)
{
	char last[128] = "nothing";

	if (replay->at > 0)
		power_disk_describe(replay->disk, replay->at - 1, last, sizeof(last));
	(void) snprintf(
		place, sizeof(place),
		"after %s; fate %d of %zu that wait, which %zu, seed %llu, failing sync %zu", last,
		(int) cut->fate, replay->pending_count, cut->which, (unsigned long long) cut->seed,
		replay->disk->failing_sync);
}

static void visit(const struct power_replay *replay, const struct power_cut *cut,
		  const struct promise *promise, struct tally *tally)
{
	struct power_disk *disk = power_replay_cut(replay, cut);
	uint64_t key = power_disk_checksum(disk) * 31 + promise->least->checksum * 7 +
		       promise->most->checksum;
	bool goes_deeper;

	note_place(replay, cut);
	tally->states++;
	if (is_known(tally, key | 1)) {
		(void) power_disk_free(disk);
		return;
	}
	goes_deeper = ++tally->opened % DEEPER_EVERY == 0;
	if (tally->opened % REPORT_EVERY == 0) {
		printf("# %zu disks opened\n", tally->opened);
		(void) fflush(stdout);
	}
	power_disk_use(disk);
	assert_kept(promise, tally->opened % 8 == 0 && !goes_deeper);
	power_disk_use(NULL);
	if (goes_deeper) {
		struct power_disk *before = power_replay_cut(replay, cut);

		assert_kept_again(disk, before, promise, tally);
		(void) power_disk_free(before);
	}
	(void) power_disk_free(disk);
}

/* At one moment: all, none, all but one, one alone, and by chance. */
static void visit_fates(const struct power_replay *replay, const struct promise *promise,
			uint64_t seeds, struct tally *tally)
{
	struct power_cut cut = { .fate = FATE_ALL_LANDED };

	visit(replay, &cut, promise, tally);
	cut.fate = FATE_ALL_LOST;
	visit(replay, &cut, promise, tally);
	for (cut.which = 0; cut.which < replay->pending_count; cut.which++) {
		cut.fate = FATE_ONE_MISSING;
		visit(replay, &cut, promise, tally);
		cut.fate = FATE_ONE_LANDED;
		visit(replay, &cut, promise, tally);
	}
	cut.fate = FATE_TORN;
	for (uint64_t seed = 0; seed < seeds && replay->pending_count > 0; seed++) {
		cut.seed = seed * 1000003 + replay->at;
		cut.sector_size = seed % 2 ? 4096 : 512;
		visit(replay, &cut, promise, tally);
	}
}

/* @settled_only: moments at which no group was under way. */
static void visit_all(const struct power_disk *disk, const struct history *history, uint64_t seeds,
		      bool settled_only, struct tally *tally)
{
	struct power_replay replay;

	power_replay_init(&replay, disk, NULL);
	do {
		struct promise promise = promise_at(history, replay.at);

		if (settled_only && promise.least != promise.most)
			continue;
		tally->moments++;
		visit_fates(&replay, &promise, seeds, tally);
	} while (power_replay_next(&replay));
	power_replay_done(&replay);
}

static void print_row(const char *scenario, const struct tally *tally)
{
	printf("# %s | %zu moments, %zu states of the disk, %zu of them different, %zu after a "
	       "second loss | all open, whole, nothing lost, no version twice\n",
	       scenario, tally->moments, tally->states, tally->opened, tally->deeper);
}

static uint64_t seeds_wanted(void)
{
	const char *text = getenv("POWER_LOSS_SEEDS");

	return text ? strtoull(text, NULL, 10) : SEEDS;
}

static void every_moment_of_three_lives(void **state)
{
	struct power_disk *disk = power_disk_new();
	struct tally tally = tally_new();
	struct history history;

	record(disk, &history, 1);
	assert_int_equal(history.count, GROUPS + 1);
	visit_all(disk, &history, seeds_wanted(), false, &tally);
	assert_true(tally.opened > 1000 && tally.deeper > 100);
	print_row("power loss of the store", &tally);
	(void) power_disk_free(disk);
	free(tally.known);
}

/* The kernel forgets what a failed sync was about, and says so once. */
static void every_sync_fails_once(void **state)
{
	struct tally tally = tally_new();
	size_t syncs = SIZE_MAX;

	for (size_t failing = 1; failing <= syncs; failing++) {
		struct power_disk *disk = power_disk_new();
		struct history history;

		disk->failing_sync = failing;
		record(disk, &history, 2);
		syncs = disk->syncs;
		assert_true(history.count > GROUPS - GROUPS / LIVES);
		visit_all(disk, &history, 0, true, &tally);
		(void) power_disk_free(disk);
	}
	assert_true(syncs > GROUPS);
	print_row("power loss after a sync that failed", &tally);
	free(tally.known);
}

/* ---- the disk is as SQLite's own says ---- */

static void devices_promise_the_same(void **state)
{
	sqlite3_vfs *own = sqlite3_vfs_find(NULL);
	struct power_disk *disk = power_disk_new();
	int result[2][2];

	for (int i = 0; i < 2; i++) {
		sqlite3_file *file;
		char path[80];

		(void) snprintf(path, sizeof(path), "%s/%s", directory, i ? "store.db" : "other");
		if (i == 1)
			power_disk_use(disk);
		own = sqlite3_vfs_find(NULL);
		file = calloc(1, (size_t) own->szOsFile);
		assert_non_null(file);
		assert_int_equal(
			own->xOpen(own, path, file,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB,
				   NULL),
			SQLITE_OK);
		result[i][0] = file->pMethods->xSectorSize(file);
		result[i][1] = file->pMethods->xDeviceCharacteristics(file) &
			       ~SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN;
		assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
		free(file);
	}
	power_disk_use(NULL);
	assert_int_equal(result[0][0], result[1][0]);
	assert_int_equal(result[0][1], result[1][1]);
	(void) power_disk_free(disk);
}

/* ---- around ---- */

static int set_up(void **state)
{
	/* Only an empty file is ever made there. */
	(void) snprintf(directory, sizeof(directory), "%s/podvol-power-XXXXXX",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	return mkdtemp(directory) && sd_event_new(&event) >= 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "store.db", "events.db", "other" };
	char path[80];

	event = sd_event_unref(event);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		(void) remove(path);
	}
	return remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_promise_the_same),
		cmocka_unit_test(every_moment_of_three_lives),
		cmocka_unit_test(every_sync_fails_once),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
