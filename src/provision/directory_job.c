/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_job - one order of the local provisioner as a job of a thread; see directory_job.h
 */
#include "provision/directory_job.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/local/local_plan.h"
#include "mount/holders/users_below.h"
#include "object/json/json.h"
#include "object/kinds/volume_source.h"
#include "plugins/exec_class.h"

#include <assert.h>
#include <string.h>

static_assert((int) VOLUME_MARK_BYTES > (int) OBJECT_UID_BYTES_MAX, "a volume's uid is its mark");

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
						    .own = job->own,
						    .users = job->search ? job->search->users
									 : NULL };

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

/* The first of those that a search serves goes on, with a search of its own where it comes too
 * late: however slow all is, each search leads to a removal. */
static bool is_too_late(struct directory_search *search)
{
	return search && search->users && atomic_exchange(&search->has_served, true) &&
	       !users_below_is_current(search->users);
}

static void run_job(struct worker_job *worker_job)
{
	struct directory_job *job = (struct directory_job *) worker_job;

	job->state = JOB_TOO_LATE;
	if (is_too_late(job->search))
		return;
	job->state = JOB_RAN;
	job->error = run(job);
}

/* After a failure each removal searches by itself, and says why nothing can be removed. */
static void run_search(struct worker_job *worker_job)
{
	struct directory_search *search = (struct directory_search *) worker_job;

	(void) users_below_search(search->job.base_paths[0], &search->users, NULL);
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

int directory_job_new(const struct directory_job_options *options,
		      const struct directory_order *order, directory_done_fn *done, void *userdata,
		      struct directory_job **ret)
{
	struct directory_job *job = calloc(1, sizeof(*job));
	bool complete = true;

	assert(order->base_count > 0 && order->base_count <= BASE_PATHS_MAX);
	if (!job)
		return -ENOMEM;
	job->job.run = run_job;
	job->own = options->own;
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
	job->userdata = userdata;
	job->source.cancel = options->is_stopping;
	job->copies = options->copies;
	if (is_plugin(order->base_paths[0]))
		complete &= keep_plugin(job, order, options->host);
	if (order->source)
		complete &= keep_source(job, order->source) &&
			    copies_add(job->copies, &job->copy, &order->about, order->name) == 0;
	if (!complete || !job->name || !job->mark || !job->capacity || !job->fs_type) {
		copies_remove(job->copies, &job->copy, -ECANCELED);
		(void) job_free(job);
		return -ENOMEM;
	}
	*ret = job;
	return 0;
}

int directory_search_new(const char *base_path, struct directory_search **ret)
{
	struct directory_search *search = calloc(1, sizeof(*search));
	char *copy = strdup(base_path);

	if (!search || !copy) {
		free(search);
		free(copy);
		return -ENOMEM;
	}
	search->job.job.run = run_search;
	search->job.is_search = true;
	search->job.deed = DIRECTORY_REMOVE; /* whose IO slots it takes */
	search->job.base_paths[search->job.base_count++] = copy;
	search->references = 1;
	*ret = search;
	return 0;
}

void directory_search_release(struct directory_search *search)
{
	if (!search || --search->references > 0)
		return;
	(void) users_below_free(search->users);
	(void) job_free(&search->job);
}

void directory_job_use_search(struct directory_job *job, struct directory_search *search)
{
	assert(!job->search);
	job->search = search;
	search->references++;
}

void directory_job_leave_search(struct directory_job *job)
{
	directory_search_release(TAKE_PTR(job->search));
}

void directory_job_end(struct directory_job *job)
{
	const struct directory_choice choice = { job->choice.index, job->choice.capacity,
						 job->facts.creation_nsec, job->facts.is_atomic,
						 job->choice.room_bytes };

	if (job->state != JOB_RAN)
		job->error = failed_plain(&job->why, -ECANCELED, "podvold is shutting down");
	copies_remove(job->copies, &job->copy, job->error);
	directory_job_leave_search(job);
	job->done(job->userdata, job->error, job->error < 0 ? NULL : &choice, &job->why);
	(void) job_free(job);
}
