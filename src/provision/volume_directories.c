/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_directories - orders of the local provisioner as jobs; see volume_directories.h
 */
#include "provision/volume_directories.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/log.h"
#include "controller/local/local_capacity.h"
#include "controller/local/local_plan.h"
#include "controller/snapshot/local_snapshotter.h"
#include "mount/archive/volume_copy.h"
#include "mount/remove/volume_directory.h"
#include "object/json/json.h"
#include "object/kinds/volume_source.h"
#include "operation/io_slot.h"
#include "plugins/exec_class.h"
#include "status/copies.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum {
	THREADS = 4,              /* directories are metadata: more would wait for each other */
	THREADS_MAX = 16,         /* with those that hang */
	SET_ASIDE_USEC = 1000000, /* as for the other pools */
	COPY_THREADS = 8,         /* of four base paths: two keep a disk busy, and more hinder */
	BASE_PATHS_MAX = 16,
};

/* Threads, and who waits for one: of one base path so many at once as have an IO slot of it, so
 * that one which hangs, or is full of large volumes that go, leaves threads to the others. */
struct crew {
	struct worker_pool *pool; /* NULL: podvold stops */
	struct io_slots *io_slots;
};

struct volume_directories {
	struct volume_directories_options with;
	struct crew makers, copiers;
	struct local_provisioner *provisioner;
	struct local_snapshotter *snapshotter;
	struct local_capacity *capacity; /* NULL: no cluster schedules by it */
	atomic_bool is_stopping;         /* read by the threads that copy */
};

static_assert((int) VOLUME_MARK_BYTES > (int) OBJECT_UID_BYTES_MAX, "a volume's uid is its mark");

/* Belongs to a thread until it is over; owns its strings. */
struct directory_job {
	struct worker_job job;
	struct crew *crew;
	const struct own_directories *own;
	struct io_slot_place place;
	enum directory_deed deed;
	char *base_paths[BASE_PATHS_MAX];
	size_t base_count;
	char *name, *mark, *capacity, *fs_type;
	mode_t mode;
	uint64_t bytes;
	bool is_named, is_unused;
	struct {
		char *base_path, *name, *mark, *capacity; /* NULL: nothing is copied */
		bool is_snapshot, is_unused;
		const atomic_bool *cancel;
	} source;
	struct {
		const struct plugin_host *host;
		char *storage_class, *fs_type;
		struct cJSON *options;
	} plugin; /* whose base path is one */
	struct copies *copies;
	struct copy copy; /* with a source */
	directory_done_fn *done;
	void *userdata;
	bool was_run;
	int error;
	struct volume_choice choice;
	struct volume_snapshot_facts facts;
	struct failure why;
};

static struct directory_job *job_free(struct directory_job *job)
{
	for (size_t i = 0; i < job->base_count; i++)
		free(job->base_paths[i]);
	free(job->name);
	free(job->mark);
	free(job->capacity);
	free(job->fs_type);
	free(job->source.base_path);
	free(job->source.name);
	free(job->source.mark);
	free(job->source.capacity);
	free(job->plugin.storage_class);
	free(job->plugin.fs_type);
	json_free(job->plugin.options);
	free(job);
	return NULL;
}

static int choose(struct directory_job *job)
{
	const struct volume_order wish = {
		.base_paths = (const char *const *) job->base_paths,
		.count = job->base_count,
		.name = job->name,
		.capacity = job->capacity,
		.bytes = job->bytes,
		.own = job->own,
		.is_named = job->is_named,
	};

	return volume_directory_choose(&wish, &job->choice, &job->why);
}

/* With a source: what may take hours. */
static int run_copy(struct directory_job *job, const struct volume_directory *directory)
{
	const struct volume_source source = { .base_path = job->source.base_path,
					      .name = job->source.name,
					      .mark = job->source.mark,
					      .is_snapshot = job->source.is_snapshot,
					      .is_unused = job->source.is_unused,
					      .capacity = job->source.capacity };
	const struct copy_watch watch = { job->source.cancel, &job->copy.progress, false };

	copy_begins(&job->copy);
	if (job->deed == DIRECTORY_SNAPSHOT)
		return volume_snapshot_take(directory, &source, &watch, &job->facts, &job->why);
	assert(job->deed == DIRECTORY_MAKE);
	return volume_directory_make_filled(directory, &source, &watch, &job->why);
}

/* ---- volumes of executable plugins ---- */

static bool is_plugin(const char *base_path)
{
	return base_path && base_path[0] != '/';
}

static int run_slot(struct directory_job *job, enum exec_slot slot)
{
	bool is_snapshot = slot == EXEC_SNAPSHOT || slot == EXEC_DELETE_SNAPSHOT;
	bool is_clone = slot == EXEC_CLONE;
	const struct exec_class_call call = {
		.host = job->plugin.host,
		.driver = job->base_paths[0],
		.storage_class = job->plugin.storage_class,
		.volume = is_snapshot ? job->source.name : job->name,
		.snapshot = is_snapshot ? job->name : NULL,
		.source_volume = is_clone && !job->source.is_snapshot ? job->source.name : NULL,
		.source_snapshot = is_clone && job->source.is_snapshot ? job->source.name : NULL,
		.fs_type = job->plugin.fs_type,
		.options = job->plugin.options,
		.bytes = (int64_t) job->bytes,
	};

	if (job->source.name)
		copy_begins(&job->copy);
	if (job->deed == DIRECTORY_CHOOSE)
		return exec_class_probe(&call, &job->why);
	return exec_class_run(&call, slot, &job->facts.is_atomic, &job->why);
}

static int run_plugin(struct directory_job *job)
{
	if (job->source.name && strcmp(job->source.base_path, job->base_paths[0]) != 0)
		return failed_plain(&job->why, -EINVAL,
				    "class '%s': its plugin '%s' can make no volume of what is in "
				    "'%s'",
				    job->plugin.storage_class, job->base_paths[0],
				    job->source.base_path);
	switch (job->deed) {
	case DIRECTORY_CHOOSE:
		job->choice.capacity = LOCAL_PLUGIN;
		return run_slot(job, EXEC_CREATE);
	case DIRECTORY_MAKE:
		return run_slot(job, job->source.name ? EXEC_CLONE : EXEC_CREATE);
	case DIRECTORY_SETTLE: /* what the plugin made is whole */
		return 0;
	case DIRECTORY_GROW:
		return run_slot(job, EXEC_EXPAND);
	case DIRECTORY_UNMAKE:
		return run_slot(job, EXEC_DELETE);
	case DIRECTORY_REMOVE: /* the mark of a snapshot is its name */
		return run_slot(job, strcmp(job->mark, job->name) == 0 ? EXEC_DELETE_SNAPSHOT
								       : EXEC_DELETE);
	case DIRECTORY_SNAPSHOT:
		job->facts.creation_nsec = (int64_t) realtime_usec() * 1000;
		return run_slot(job, EXEC_SNAPSHOT);
	case DIRECTORY_SNAPSHOT_QUERY:
		return failed_plain(&job->why, -EOPNOTSUPP,
				    "'%s': snapshots that an executable plugin has already cannot "
				    "be imported",
				    job->base_paths[0]);
	}
	assert(!"an unknown deed");
	return -EINVAL;
}

static int run(struct directory_job *job)
{
	const struct volume_directory directory = { .base_path = job->base_paths[0],
						    .name = job->name,
						    .mark = job->mark,
						    .capacity = job->capacity,
						    .bytes = job->bytes,
						    .fs_type = job->fs_type,
						    .own = job->own };

	if (is_plugin(job->base_paths[0]))
		return run_plugin(job);
	if (is_plugin(job->source.base_path))
		return failed_plain(&job->why, -EINVAL,
				    "the volume is one of '%s': only a class of this plugin can "
				    "make one of it",
				    job->source.base_path);
	if (job->source.name)
		return run_copy(job, &directory);
	switch (job->deed) {
	case DIRECTORY_CHOOSE:
		return choose(job);
	case DIRECTORY_MAKE:
		return volume_directory_make(&directory, job->mode, &job->why);
	case DIRECTORY_SETTLE:
		return volume_directory_settle(&directory, &job->why);
	case DIRECTORY_GROW:
		return volume_directory_grow(&directory, &job->why);
	case DIRECTORY_UNMAKE:
		return volume_directory_unmake_filled(&directory, job->is_unused, &job->why);
	case DIRECTORY_REMOVE:
		return volume_directory_remove(&directory, &job->why);
	case DIRECTORY_SNAPSHOT_QUERY:
		return volume_snapshot_sync(&directory, &job->facts, &job->why);
	case DIRECTORY_SNAPSHOT:
		break; /* it has a source */
	}
	assert(!"an unknown deed");
	return -EINVAL;
}

static struct worker_pool *run_job(struct worker_job *worker_job)
{
	struct directory_job *job = (struct directory_job *) worker_job;

	job->was_run = true;
	job->error = run(job);
	return NULL;
}

static void end_job(struct directory_job *job)
{
	const struct directory_choice choice = { job->choice.index, job->choice.capacity,
						 job->facts.creation_nsec, job->facts.is_atomic,
						 job->choice.room_bytes };

	if (!job->was_run)
		job->error = failed_plain(&job->why, -ECANCELED, "podvold is shutting down");
	copies_remove(job->copies, &job->copy, job->error);
	job->done(job->userdata, job->error, job->error < 0 ? NULL : &choice, &job->why);
	(void) job_free(job);
}

static struct directory_job *job_of(struct io_slot_place *place)
{
	return place ? (struct directory_job *) ((char *) place -
						 offsetof(struct directory_job, place))
		     : NULL;
}

static void job_done(struct worker_job *worker_job)
{
	struct directory_job *job = (struct directory_job *) worker_job, *next;
	struct crew *crew = job->crew;

	for (; job; job = crew->pool ? NULL : next) {
		next = job_of(io_slot_release(crew->io_slots, &job->place));
		end_job(job);
		if (next && crew->pool)
			worker_submit(crew->pool, &next->job);
	}
}

/* Removals have IO slots of their own: large volumes that go keep none from being made. */
static uint64_t io_slot_of(const struct directory_job *job)
{
	uint64_t io_slot = job->deed == DIRECTORY_REMOVE;

	for (size_t i = 0; i < job->base_count; i++)
		io_slot = fnv1a_add_text(io_slot, job->base_paths[i]);
	return io_slot;
}

static void submit(struct directory_job *job)
{
	if (io_slot_enter(job->crew->io_slots, &job->place, io_slot_of(job)))
		worker_submit(job->crew->pool, &job->job);
}

static bool keep_source(struct directory_job *job, const struct directory_source *source)
{
	job->source.base_path = strdup(source->base_path);
	job->source.name = strdup(source->name);
	job->source.mark = strdup(source->mark);
	job->source.capacity = strdup(source->capacity);
	job->source.is_snapshot = source->is_snapshot;
	job->source.is_unused = source->is_unused;
	return job->source.base_path && job->source.name && job->source.mark &&
	       job->source.capacity;
}

static bool keep_plugin(struct directory_job *job, const struct directory_order *order,
			const struct plugin_host *host)
{
	job->plugin.host = host;
	job->plugin.storage_class = strdup(order->storage_class ?: "");
	job->plugin.fs_type = strdup(order->flex ? order->flex->fs_type : "");
	job->plugin.options = order->flex ? flex_source_options(order->flex) : json_new_object();
	return job->plugin.storage_class && job->plugin.fs_type && job->plugin.options;
}

static int start(void *userdata, const struct directory_order *order, directory_done_fn *done,
		 void *done_userdata)
{
	struct volume_directories *directories = userdata;
	struct directory_job *job = calloc(1, sizeof(*job));
	bool complete = true;

	assert(order->base_count > 0 && order->base_count <= BASE_PATHS_MAX);
	if (!job)
		return -ENOMEM;
	job->job = (struct worker_job){ .run = run_job, .done = job_done };
	job->own = directories->with.own;
	job->deed = order->deed;
	for (; job->base_count < order->base_count; job->base_count++) {
		job->base_paths[job->base_count] = strdup(order->base_paths[job->base_count]);
		complete &= job->base_paths[job->base_count] != NULL;
	}
	job->name = strdup(order->name);
	job->mark = strdup(order->mark ? order->mark : "");
	job->capacity = strdup(order->capacity ? order->capacity : "none");
	job->fs_type = strdup(order->fs_type ? order->fs_type : "");
	job->mode = order->mode;
	job->bytes = order->bytes;
	job->is_named = order->is_named;
	job->is_unused = order->is_unused;
	job->done = done;
	job->userdata = done_userdata;
	job->source.cancel = &directories->is_stopping;
	job->copies = directories->with.copies;
	if (is_plugin(order->base_paths[0]))
		complete &= keep_plugin(job, order, directories->with.host);
	if (order->source)
		complete &= keep_source(job, order->source) &&
			    copies_add(job->copies, &job->copy, &order->about, order->name) == 0;
	if (!complete || !job->name || !job->mark || !job->capacity || !job->fs_type) {
		copies_remove(job->copies, &job->copy, -ECANCELED);
		(void) job_free(job);
		return -ENOMEM;
	}
	job->crew = order->source ? &directories->copiers : &directories->makers;
	submit(job);
	return 0;
}

static void on_threads_hang(void *userdata, const struct worker_counts *counts)
{
	if (counts->all_hang)
		log_message(LOG_ERR,
			    "all %u threads that make and remove directories of volumes hang: is a "
			    "base path on a server that is gone? %u wait, those of other base "
			    "paths as well",
			    counts->threads_max, counts->queued);
	else
		log_message(LOG_NOTICE, "directories of volumes are made and removed again");
}

static int open_crew(struct crew *crew, const char *name, struct worker_return *to_loop,
		     const struct worker_limits *limits)
{
	int r = io_slots_new(&crew->io_slots);

	return r < 0 ? r : worker_pool_new(name, to_loop, limits, &crew->pool);
}

/* Those that wait for an IO slot end with the pool; those behind a thread that hangs here. */
static void close_crew(struct crew *crew)
{
	struct worker_pool *pool = TAKE_PTR(crew->pool);
	struct io_slot_place *place;

	if (!pool)
		return;
	(void) worker_pool_free(pool);
	while ((place = io_slots_first_waiting(crew->io_slots))) {
		(void) io_slot_give_up(crew->io_slots, place);
		end_job(job_of(place));
	}
}

int volume_directories_new(const struct volume_directories_options *options,
			   struct volume_directories **ret)
{
	const struct worker_limits limits = { .threads = THREADS,
					      .threads_max = THREADS_MAX,
					      .set_aside_usec = SET_ASIDE_USEC };
	const struct worker_limits copy_limits = { .threads = COPY_THREADS,
						   .threads_max = COPY_THREADS,
						   .set_aside_usec = SET_ASIDE_USEC };
	struct volume_directories *directories = calloc(1, sizeof(*directories));
	const struct local_provisioner_options local = {
		.common = options->common,
		.in_cluster = options->in_cluster,
		.is_wanted = options->is_wanted,
		.start = start,
		.start_userdata = directories,
	};
	int r;

	if (!directories)
		return -ENOMEM;
	directories->with = *options;
	r = open_crew(&directories->makers, "directories", options->to_loop, &limits);
	if (r >= 0)
		worker_pool_on_hang(directories->makers.pool, on_threads_hang, directories);
	if (r >= 0)
		r = open_crew(&directories->copiers, "copies", options->to_loop, &copy_limits);
	if (r >= 0)
		r = local_provisioner_new(&local, &directories->provisioner);
	if (r >= 0)
		r = local_snapshotter_new(&local, &directories->snapshotter);
	if (r >= 0 && options->in_cluster)
		r = local_capacity_new(
			&(struct local_capacity_options){ local, options->uses_capacity },
			&directories->capacity);
	if (r < 0) {
		volume_directories_stop(directories);
		return volume_directories_free(directories), r;
	}
	*ret = directories;
	return 0;
}

struct worker_pool *volume_directories_pool(const struct volume_directories *directories)
{
	return directories ? directories->makers.pool : NULL;
}

struct worker_pool *volume_directories_copy_pool(const struct volume_directories *directories)
{
	return directories ? directories->copiers.pool : NULL;
}

void volume_directories_changed(struct volume_directories *directories, const char *volume)
{
	if (!directories)
		return;
	local_provisioner_resync(directories->provisioner, volume);
	local_snapshotter_resync(directories->snapshotter);
}

void volume_directories_stop(struct volume_directories *directories)
{
	if (!directories)
		return;
	local_provisioner_stop(directories->provisioner);
	local_snapshotter_stop(directories->snapshotter);
	local_capacity_stop(directories->capacity);
	atomic_store(&directories->is_stopping, true);
	close_crew(&directories->makers);
	close_crew(&directories->copiers);
}

struct volume_directories *volume_directories_free(struct volume_directories *directories)
{
	if (!directories)
		return NULL;
	(void) local_provisioner_free(directories->provisioner);
	(void) local_snapshotter_free(directories->snapshotter);
	(void) local_capacity_free(directories->capacity);
	(void) io_slots_free(directories->makers.io_slots);
	(void) io_slots_free(directories->copiers.io_slots);
	free(directories);
	return NULL;
}
