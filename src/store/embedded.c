/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded - the store of one node: a cache, a queue, one writer thread and SQLite; see store.h
 *
 * The way of a write: queued -> a group takes up to STORE_GROUP_MAX of them, each is admitted ->
 * the writer thread commits -> cache, ring, watches, callbacks, in this order -> the next group.
 * One group is under way at a time: what gathers meanwhile is the next one, so that groups grow
 * with the load and a lone write waits for nothing but its own sync.
 *
 * Kinds that are not synced go the same way: leases make no row, events make one in a file of their
 * own, without a sync. Their versions must not come again after a power loss all the same: the
 * database has a version ahead of them, once per RESERVED_VERSIONS. An event that the disk refuses
 * stays in memory: what is wrong with the disk is what it says.
 */
#include "store/embedded.h"

#include "base/beside.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/program_id.h"
#include "base/text.h"
#include "object/json/json.h"
#include "store/cache.h"
#include "store/group.h"
#include "store/load.h"
#include "store/watch.h"
#include "store/writer.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { RESERVED_VERSIONS = 65536 };

struct store {
	struct cache cache;
	struct change_ring ring;
	struct unreadable *unreadables;
	uint64_t program;                   /* program_id() when it was opened */
	struct database *database, *events; /* the writer's, but at the beginning and the end */
	struct writer *writer;
	sd_event_source *result_source; /* a group is over */
	sd_event_source *start_source;  /* the first write after a pause: once per turn */

	struct write *queue, **queue_end;
	size_t queue_count;
	uint64_t stored_version; /* the database says so: no later start begins below it */
	struct group group;
	bool is_writing; /* the group is under way, or being answered */
	bool is_failing; /* the last group could not be stored: said once */
	bool is_closing;
};

/* ---- opening ---- */

bool store_is_unreadable(const struct store *store, const struct store_key *key)
{
	assert(store && key);
	return unreadable_has(store->unreadables, key);
}

static bool is_taken(const struct store *store, const struct write *write)
{
	return store_is_unreadable(
		store, &(struct store_key){ write->kind, write->name_space, write->name });
}

static struct load load_of(struct store *store)
{
	return (struct load){ .cache = &store->cache,
			      .unreadables = &store->unreadables,
			      .program = store->program };
}

static int load(struct store *store, struct database *database, struct failure *reterr)
{
	const struct load load = load_of(store);
	uint64_t version = 0;
	int r;

	r = load_objects(&load, database, &version, reterr);
	if (r < 0)
		return r;
	store->stored_version = version;
	ring_init(&store->ring, version);
	return 0;
}

static void store_open_cancel_pointer(struct store_opening **opening)
{
	(void) store_open_cancel(*opening);
}

static void close_database_pointer(struct database **database)
{
	(void) database_close(*database);
}

/* Events are no reason to refuse a start. NULL: they are in memory only. */
static struct database *open_events(struct store *store, const char *path)
{
	cleanup(close_database_pointer) struct database *database = NULL;
	struct failure reason = { .error = 0 };
	const struct load load = load_of(store);
	int r = database_open(path, false, &database, &reason);

	if (r == 0)
		r = load_events(&load, database, store->stored_version, &reason);
	if (r == 0)
		return TAKE_PTR(database);
	log_message(LOG_WARNING, "events will not survive a restart: %s", reason.text);
	return NULL;
}

struct store_opening {
	struct beside beside;
	char *path, *events_path;
	struct store *store;
	struct database *database, *events;
	int result;
	struct failure failure;
};

/* On a thread: both files are read, and nothing else has seen the store yet. */
static void run_opening(void *userdata)
{
	struct store_opening *opening = userdata;
	struct failure *reterr = &opening->failure;
	int r = database_open(opening->path, true, &opening->database, reterr);

	if (r == 0)
		r = load(opening->store, opening->database, reterr);
	if (r == 0)
		opening->events = open_events(opening->store, opening->events_path);
	opening->result = r;
}

static struct store_opening *opening_new(const char *state_dir)
{
	struct store_opening *opening = calloc(1, sizeof(*opening));

	if (!opening)
		return NULL;
	opening->store = calloc(1, sizeof(*opening->store));
	opening->path = new_text("%s/store.db", state_dir);
	opening->events_path = new_text("%s/events.db", state_dir);
	if (!opening->store || !opening->path || !opening->events_path)
		return store_open_cancel(opening);
	opening->store->queue_end = &opening->store->queue;
	opening->store->program = program_id();
	return opening;
}

struct store_opening *store_open_begin(const char *state_dir)
{
	struct store_opening *opening = opening_new(state_dir);

	if (opening)
		beside_start(&opening->beside, "store-load", run_opening, opening);
	return opening;
}

struct store_opening *store_open_cancel(struct store_opening *opening)
{
	if (!opening)
		return NULL;
	beside_wait(&opening->beside);
	(void) database_close(opening->events);
	(void) database_close(opening->database);
	(void) store_free(opening->store);
	free(opening->events_path);
	free(opening->path);
	free(opening);
	return NULL;
}

static int on_result(sd_event_source *source, int fd, uint32_t revents, void *userdata);
static int on_start(sd_event_source *source, void *userdata);

static int add_sources(struct store *store, sd_event *event)
{
	int r;

	r = sd_event_add_io(event, &store->result_source, writer_event_fd(store->writer), EPOLLIN,
			    on_result, store);
	if (r < 0)
		return r;
	r = sd_event_add_defer(event, &store->start_source, on_start, store);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(store->start_source, SD_EVENT_OFF);
}

int store_open_embedded(sd_event *event, struct store_opening *opening_taken, struct store **ret,
			struct failure *reterr)
{
	cleanup(store_open_cancel_pointer) struct store_opening *opening = opening_taken;
	struct store *store;
	int r;

	assert(event && ret);
	if (!opening)
		return failed(reterr, -ENOMEM, "cannot open the store");
	beside_wait(&opening->beside);
	if (opening->result < 0) {
		*reterr = opening->failure;
		return opening->result;
	}
	store = opening->store;
	r = writer_new(opening->database, opening->events, &store->writer);
	if (r < 0)
		return failed(reterr, r, "cannot start the writer of the store '%s'",
			      opening->path);
	store->database = TAKE_PTR(opening->database);
	store->events = TAKE_PTR(opening->events);
	r = add_sources(store, event);
	if (r < 0)
		return failed(reterr, r, "cannot watch the writer of the store '%s'",
			      opening->path);
	*ret = TAKE_PTR(opening->store);
	return 0;
}

/* ---- a group ends ---- */

static void apply(struct store *store, const struct admitted *member)
{
	struct store_change change = {
		.type = !member->result ? STORE_DELETED
			: member->old   ? STORE_MODIFIED
					: STORE_ADDED,
		.resource_version = member->resource_version,
		.object = member->result ? member->result : member->old,
		.previous = member->old,
		.touched = member->write->touches,
	};
	const struct write *write = member->write;

	ring_append(&store->ring, &change);
	/* The ring keeps what the cache lets go, so borrowed pointers live on for this turn. */
	if (member->result && !write->touches)
		(void) object_unref(cache_put(&store->cache, member->result));
	else if (!member->result)
		(void) object_unref(
			cache_remove(&store->cache, write->kind, write->name_space, write->name));
}

/* After the change is visible: a callback that reads finds what it wrote. */
static void answer(const struct admitted *member)
{
	const struct write *write = member->write;
	bool refused = member->verdict == VERDICT_REFUSED;
	const struct object *result = member->result ? member->result : member->old;

	if (!write->done) {
		if (refused)
			log_message(LOG_WARNING, "not stored: %s", member->failure->text);
		return;
	}
	if (refused)
		write->done(write->userdata, member->failure->error, NULL, member->failure);
	else
		write->done(write->userdata, 0,
			    member->verdict == VERDICT_UNCHANGED ? member->old : result, NULL);
}

/* A full disk fails every group; logged once, and when it is over.
 */
static void note_outcome(struct store *store, int error, const struct failure *reason)
{
	if (error < 0 && !store->is_failing)
		log_message(LOG_ERR, "writes are not stored now: %s", reason->text);
	if (error == 0 && store->is_failing)
		log_message(LOG_NOTICE, "writes are stored again");
	store->is_failing = error < 0;
}

/* What the database has to say of versions when this group is over. */
static uint64_t version_to_store(const struct store *store)
{
	const struct group *group = &store->group;

	if (group->resource_version <= store->stored_version)
		return store->stored_version;
	return group->resource_version + (group->has_unsynced ? RESERVED_VERSIONS : 0);
}

static bool needs_commit(const struct store *store)
{
	return store->group.row_count > 0 || version_to_store(store) > store->stored_version;
}

/* In this order watchers and callbacks see the whole group, never half of it. */
static void end_group(struct store *store, int error, const struct failure *reason)
{
	struct group *group = &store->group;

	if (needs_commit(store))
		note_outcome(store, error, reason);
	if (error < 0)
		group_fail(group, reason);
	else
		store->stored_version = version_to_store(store);
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].verdict == VERDICT_CHANGES)
			apply(store, &group->members[i]);
	ring_wake(&store->ring);
	for (size_t i = 0; i < group->count; i++)
		answer(&group->members[i]);
	group_end(group);
	store->is_writing = false;
}

static struct write *take_queued(struct store *store)
{
	struct write *write = store->queue;

	store->queue = write->next;
	if (!store->queue)
		store->queue_end = &store->queue;
	store->queue_count--;
	return write;
}

static void start_group(struct store *store)
{
	struct group *group = &store->group;
	uint64_t now_usec = realtime_usec();
	size_t bytes = 0;

	assert(!store->is_writing);
	store->is_writing = true;
	group_begin(group, store->ring.newest_version);
	while (store->queue && group->count < STORE_GROUP_MAX && bytes < STORE_GROUP_BYTES_MAX) {
		struct write *write = take_queued(store);

		bytes += write->object ? write->object->json_length : 0;
		group_add(group, &store->cache, write, is_taken(store, write), now_usec);
	}
	if (needs_commit(store) || group->unsynced_count > 0)
		writer_start(store->writer,
			     &(struct writer_group){
				     .prepare = group->bind ? group_bind_pairs : NULL,
				     .group = group,
				     .commits = needs_commit(store),
				     .writes = group->rows,
				     .count = group->row_count,
				     .resource_version = version_to_store(store),
				     .unsynced = group->unsynced_rows,
				     .unsynced_count = group->unsynced_count,
			     });
	else
		end_group(store, 0, NULL);
}

/* The next turn of the loop takes what is queued by then; while a group is under way its end does.
 */
static void schedule(struct store *store)
{
	if (store->queue && !store->is_writing)
		(void) sd_event_source_set_enabled(store->start_source, SD_EVENT_ONESHOT);
}

static int on_start(sd_event_source *source, void *userdata)
{
	struct store *store = userdata;

	if (store->queue && !store->is_writing)
		start_group(store);
	schedule(store);
	return 0;
}

static int on_result(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct store *store = userdata;
	struct failure reason;
	int error;

	if (!writer_take_result(store->writer, false, &error, &reason))
		return 0;
	end_group(store, error, &reason);
	if (store->queue)
		start_group(store);
	schedule(store);
	return 0;
}

/* ---- closing ---- */

/* Blocks, for the only time: what was accepted is written before the store closes. */
static void finish_queued(struct store *store)
{
	struct failure reason;
	int error;

	for (;;) {
		if (store->is_writing) {
			(void) writer_take_result(store->writer, true, &error, &reason);
			end_group(store, error, &reason);
		}
		if (!store->queue)
			return;
		start_group(store);
	}
}

struct store *store_free(struct store *store)
{
	if (!store)
		return NULL;
	/* Callbacks that write once more get -ECANCELED. */
	store->is_closing = true;
	if (store->writer)
		finish_queued(store);
	(void) sd_event_source_disable_unref(store->result_source);
	(void) sd_event_source_disable_unref(store->start_source);
	(void) writer_free(store->writer);
	if (store->database)
		load_record(&store->cache, store->group.unstored_kinds, store->program,
			    store->database);
	(void) database_close(store->database);
	(void) database_close(store->events);
	ring_done(&store->ring);
	cache_done(&store->cache);
	(void) unreadable_free(store->unreadables);
	free(store);
	return NULL;
}

/* ---- reading ---- */

const struct object *store_get(struct store *store, enum object_kind kind, const char *name_space,
			       const char *name)
{
	return cache_get(&store->cache, kind, name_space, name);
}

int store_list(struct store *store, enum object_kind kind, const char *name_space,
	       int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	return cache_walk(&store->cache, kind, name_space, visit, userdata);
}

int store_list_after(struct store *store, const char *name_space, const struct store_key *after,
		     uint64_t bits, int (*visit)(const struct object *object, void *userdata),
		     void *userdata)
{
	return cache_walk_after(&store->cache, name_space, after, bits, visit, userdata);
}

size_t store_count_after(struct store *store, const char *name_space, const struct store_key *after)
{
	return cache_count_after(&store->cache, name_space, after);
}

uint64_t store_oldest_version(struct store *store)
{
	return store->ring.forgotten_version;
}

uint64_t store_resource_version(struct store *store)
{
	return store->ring.newest_version;
}

int store_watch_new(struct store *store, unsigned int kinds, uint64_t since,
		    void (*wake)(void *userdata), void *userdata, struct store_watch **ret)
{
	return ring_watch_new(&store->ring, kinds, since, wake, userdata, ret);
}

void store_trim(struct store *store)
{
	assert(store);
	ring_trim(&store->ring);
	json_memory_trim();
}

/* ---- writing ---- */

size_t store_bytes(const struct store *store, enum store_place place)
{
	return store->cache.bytes[place];
}

struct group *store_group(struct store *store)
{
	return &store->group;
}

void store_queue_write(struct store *store, struct write *write)
{
	*store->queue_end = write;
	store->queue_end = &write->next;
	store->queue_count++;
	schedule(store);
}

static int enqueue(struct store *store, struct write *write, store_done_fn *done, void *userdata)
{
	if (!write)
		return -ENOMEM;
	write->done = done;
	write->userdata = userdata;
	if (store->group.upstream.kinds & 1U << write->kind) {
		int r = store->group.upstream.take(store->group.upstream.userdata, write);

		if (r < 0)
			(void) write_free(write);
		return r;
	}
	store_queue_write(store, write);
	return 0;
}

/* Before any memory is taken for a write that will not be done. */
int store_check_open(const struct store *store)
{
	if (store->is_closing)
		return -ECANCELED;
	return store->queue_count >= STORE_QUEUE_MAX ? -ENOBUFS : 0;
}

static int put(struct store *store, enum admit_verb verb, const struct object *object,
	       const struct store_precondition *precondition, store_done_fn *done, void *userdata)
{
	int r;

	assert(store && object);
	r = store_check_open(store);
	if (r < 0)
		return r;
	return enqueue(store, write_of(verb, object, precondition), done, userdata);
}

int store_create_expecting(struct store *store, const struct object *object,
			   const struct store_precondition *precondition, store_done_fn *done,
			   void *userdata)
{
	return put(store, ADMIT_CREATE, object, precondition, done, userdata);
}

int store_create(struct store *store, const struct object *object, store_done_fn *done,
		 void *userdata)
{
	return put(store, ADMIT_CREATE, object, NULL, done, userdata);
}

int store_update(struct store *store, const struct object *object,
		 const struct store_precondition *precondition, store_done_fn *done, void *userdata)
{
	return put(store, ADMIT_UPDATE, object, precondition, done, userdata);
}

int store_delete(struct store *store, const struct store_key *key,
		 const struct store_precondition *precondition, store_done_fn *done, void *userdata)
{
	struct write *write;
	int r;

	assert(store && key && key->name_space && key->name && key->kind < KIND_COUNT);
	r = store_check_open(store);
	if (r < 0)
		return r;
	write = write_new(ADMIT_DELETE, key->kind, key->name_space, key->name, precondition);
	return enqueue(store, write, done, userdata);
}

int store_edit(struct store *store, const struct object *object,
	       const struct store_precondition *precondition, store_edit_fn *edit,
	       store_done_fn *done, void *userdata)
{
	struct write *write;
	int r;

	assert(store && object && precondition && precondition->resource_version > 0 && edit);
	r = store_check_open(store);
	if (r < 0)
		return r;
	write = write_of(ADMIT_UPDATE, object, precondition);
	if (write)
		write->edit = edit;
	return enqueue(store, write, done, userdata);
}
