/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics - how full each mounted volume is
 *
 * statfs() on a dead server never returns, so it is called on threads of a pool of its own: what
 * hangs there does not delay mounting. One query per path at a time, however many callers; one that
 * hangs is reported to each of them and keeps its thread, up to the pool's number of threads. A
 * caller waits no longer than STATISTICS_WAIT_USEC.
 *
 * A plugin comes first, since a CSI driver may know more than the file system; without figures from
 * it statfs() follows, where kubelet has none at all.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/statistics.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/worker.h"
#include "object/json/json.h"
#include "plugins/plugin.h"
#include "status/directory_usage.h"
#include "status/fullness.h"
#include "status/status.h"
#include "status/volume_row.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

enum {
	THREADS = 2,
	THREADS_MAX = 16,   /* with those that hang */
	SLOW_USEC = 500000, /* a thread that takes longer is replaced */
};

struct waiter;

/* One query of a path. */
struct probe {
	struct worker_job job; /* first: the pool hands it back */
	struct statistics *statistics;
	char *path;
	bool block;
	bool is_directory; /* by its specification */
	bool is_counted;   /* statfs() returned: waits for the count of files */
	uint64_t since_usec;
	struct fullness fullness;
	struct waiter *waiters;
	struct volume_metrics_call *call; /* the plugin's call; NULL: a thread has it */
	/* A plugin that is called on the thread, and its arguments; copies. */
	const struct volume_plugin *plugin;
	char *unique_name, *volume_name, *pod_uid;
	UT_hash_handle hh; /* by path */
};

/* One item of one call that waits for a probe; in both their lists. */
struct waiter {
	struct statistics_call *call;
	struct probe *probe;
	struct cJSON *item;                             /* the call's */
	struct waiter *previous, *next;                 /* of the probe */
	struct waiter *previous_of_call, *next_of_call; /* of the call */
};

struct statistics_call {
	struct statistics *statistics;
	struct cJSON *tree, *items; /* items lies in tree */
	struct waiter *waiters;
	sd_event_source *timer;
	statistics_fn *done;
	void *userdata;
	bool claims_only, no_memory;
};

struct statistics {
	struct statistics_options options;
	struct worker_pool *pool;
	struct probe *probes;
	size_t calls;
	struct claim_statistics *claims;
};

/* ---- queries, on a thread ---- */

/* False: call statfs(). */
static bool query_plugin_here(struct probe *probe)
{
	const struct volume_request request = {
		.host = probe->statistics->options.host,
		.plugin = probe->plugin,
		.volume_name = probe->volume_name,
		.unique_name = probe->unique_name,
		.pod_uid = probe->pod_uid,
	};
	struct volume_metrics metrics = { 0 };
	struct failure failure = { .error = 0 };
	int r;

	if (!probe->plugin)
		return false;
	r = probe->plugin->ask_metrics(&request, &metrics, &failure);
	if (r == -EOPNOTSUPP)
		return false;
	fullness_take_metrics(&probe->fullness, &metrics, r < 0 ? &failure : NULL);
	return true;
}

static void probe_run(struct worker_job *job)
{
	struct probe *probe = (struct probe *) job;

	if (query_plugin_here(probe))
		return;
	if (probe->block)
		fullness_query_device(probe->path, &probe->fullness);
	else if (probe->is_directory)
		fullness_query_directory(probe->statistics->options.host->mount_table, probe->path,
					 &probe->fullness);
	else
		fullness_query_file_system(probe->path, &probe->fullness);
}

/* ---- results ---- */

/* As directory_usage_want(). */
static int check_count(struct probe *probe)
{
	struct fullness *fullness = &probe->fullness;
	struct usage_view view;
	int r = directory_usage_want(*probe->statistics->options.usage, probe->unique_name,
				     probe->path, &view);

	if (r < 0) {
		fullness->error = r; /* what all of the file system has is not the volume's */
		return r;
	}
	fullness->used = view.usage.bytes;
	fullness->inodes_used = view.usage.inodes;
	fullness->counted_usec = view.counted_usec;
	fullness->count_error = view.error;
	fullness->is_more = view.counted_usec == 0;
	return r;
}

static void describe_silence(struct cJSON *item, struct probe *probe)
{
	char text[64];

	if (probe->is_counted) {
		(void) check_count(probe);
		fullness_describe(item, &probe->fullness, false);
		return;
	}
	(void) snprintf(text, sizeof(text), "no answer for %.1f s",
			(double) (monotonic_usec() - probe->since_usec) / 1e6);
	(void) json_set_string(item, "error", text);
}

static void waiter_free(struct waiter *waiter)
{
	DL_DELETE2(waiter->probe->waiters, waiter, previous, next);
	DL_DELETE2(waiter->call->waiters, waiter, previous_of_call, next_of_call);
	free(waiter);
}

/* It has a result, or no caller is left. */
static void leave_plugin(struct probe *probe)
{
	if (probe->call)
		probe->call->free(probe->call);
	probe->call = NULL;
}

static void probe_release(struct probe *probe)
{
	free(probe->path);
	free(probe->unique_name);
	free(probe->volume_name);
	free(probe->pod_uid);
	fullness_done(&probe->fullness);
	free(probe);
}

static void probe_free(struct probe *probe)
{
	assert(!probe->waiters);
	leave_plugin(probe);
	HASH_DEL(probe->statistics->probes, probe);
	probe_release(probe);
}

static void call_free(struct statistics_call *call)
{
	while (call->waiters) {
		struct probe *probe = call->waiters->probe;

		waiter_free(call->waiters);
		if (probe->is_counted && !probe->waiters)
			probe_free(probe);
	}
	(void) sd_event_source_disable_unref(call->timer);
	json_free(call->tree);
	assert(call->statistics->calls > 0);
	call->statistics->calls--;
	free(call);
}

static void call_end(struct statistics_call *call)
{
	struct cJSON *tree = TAKE_PTR(call->tree);
	statistics_fn *done = call->done;
	void *userdata = call->userdata;

	if (call->no_memory) {
		json_free(tree);
		tree = NULL;
	}
	call_free(call);
	done(userdata, tree);
}

/* None is left to wait for, or it takes too long. */
static int on_call_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct statistics_call *call = userdata;

	for (const struct waiter *waiter = call->waiters; waiter; waiter = waiter->next_of_call)
		describe_silence(waiter->item, waiter->probe);
	call_end(call);
	return 0;
}

static void probe_over(struct probe *probe)
{
	while (probe->waiters) {
		struct waiter *waiter = probe->waiters;
		struct statistics_call *call = waiter->call;

		fullness_describe(waiter->item, &probe->fullness, probe->block);
		waiter_free(waiter);
		if (!call->waiters)
			call_end(call);
	}
	probe_free(probe);
}

/* The first caller waits for the count, within the same limit; later ones get the last one. */
static void probe_done(struct worker_job *job)
{
	struct probe *probe = (struct probe *) job;

	probe->is_counted =
		probe->is_directory && probe->fullness.is_shared && check_count(probe) > 0;
	if (!probe->is_counted)
		probe_over(probe);
	else if (!probe->waiters)
		probe_free(probe);
}

void statistics_counted(void *userdata, const char *path)
{
	struct statistics *statistics = userdata;
	struct probe *probe;

	HASH_FIND_STR(statistics->probes, path, probe);
	if (!probe || !probe->is_counted)
		return;
	(void) check_count(probe);
	probe_over(probe);
}

/* ---- query of a plugin ---- */

static void on_plugin_metrics(void *userdata, const struct volume_metrics *metrics,
			      const struct failure *failure)
{
	struct probe *probe = userdata;
	bool ask_files = failure && failure->error == -EOPNOTSUPP;

	if (!ask_files)
		fullness_take_metrics(&probe->fullness, metrics, failure);
	leave_plugin(probe); /* and what both point to */
	if (ask_files)
		worker_submit(probe->statistics->pool, &probe->job);
	else
		probe_over(probe);
}

/* A driver that is not there is not waited for: the file system may know. */
static bool query_plugin(struct probe *probe, const struct volume_row *row)
{
	const struct volume_plugin *plugin = row->have->plugin;
	const struct volume_request request = {
		.host = probe->statistics->options.host,
		.plugin = plugin,
		.spec = row->want_pod ? &row->want_pod->spec : NULL,
		.volume_name = row->have->spec_name,
		.unique_name = row->unique_name,
		.pod_uid = row->pod_uid,
	};
	const char *path = row->have->block ? row->have->device_path : row->have_pod->path;

	return plugin && plugin->start_metrics && path &&
	       plugin->start_metrics(&request, path, on_plugin_metrics, probe, &probe->call) == 0;
}

/* ---- calls ---- */

/* For a plugin that is called on the thread, and for the count. False: no memory. */
static bool name_volume(struct probe *probe, const struct volume_row *row)
{
	const struct volume_plugin *plugin = row->have->plugin;

	if (!probe->is_directory && (!plugin || !plugin->ask_metrics))
		return true;
	probe->plugin = plugin && plugin->ask_metrics ? plugin : NULL;
	probe->unique_name = strdup(row->unique_name);
	probe->volume_name = strdup(row->have->spec_name);
	probe->pod_uid = strdup(row->pod_uid);
	return probe->unique_name && probe->volume_name && probe->pod_uid;
}

static struct probe *probe_new(struct statistics *statistics, const struct volume_row *row)
{
	const char *path = row->have_pod->path;
	struct probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return NULL;
	probe->path = strdup(path);
	probe->is_directory = !row->have->block && *statistics->options.usage &&
			      directory_usage_takes(row->want_pod);
	if (!probe->path || !name_volume(probe, row)) {
		probe_release(probe);
		return NULL;
	}
	probe->statistics = statistics;
	probe->block = row->have->block;
	probe->since_usec = monotonic_usec();
	probe->fullness.error = -ECANCELED;
	probe->job.run = probe_run;
	probe->job.done = probe_done;
	HASH_ADD_KEYPTR(hh, statistics->probes, probe->path, strlen(probe->path), probe);
	if (!probe->hh.tbl) {
		probe_release(probe);
		return NULL;
	}
	if (!query_plugin(probe, row))
		worker_submit(statistics->pool, &probe->job);
	return probe;
}

static int wait_for(struct statistics_call *call, struct cJSON *item, const struct volume_row *row)
{
	struct statistics *statistics = call->statistics;
	struct waiter *waiter;
	struct probe *probe;

	HASH_FIND_STR(statistics->probes, row->have_pod->path, probe);
	/* The first caller has waited for it long enough. */
	if (probe && monotonic_usec() - probe->since_usec >= STATISTICS_WAIT_USEC) {
		describe_silence(item, probe);
		return 0;
	}
	waiter = calloc(1, sizeof(*waiter));
	if (waiter && !probe)
		probe = probe_new(statistics, row);
	if (!waiter || !probe) {
		free(waiter);
		return -ENOMEM;
	}
	*waiter = (struct waiter){ .call = call, .probe = probe, .item = item };
	DL_APPEND2(probe->waiters, waiter, previous, next);
	DL_APPEND2(call->waiters, waiter, previous_of_call, next_of_call);
	return 0;
}

/* What is not mounted has no fullness. */
static int add_row(const struct volume_row *row, void *userdata)
{
	struct statistics_call *call = userdata;
	const struct statistics_options *options = &call->statistics->options;
	const struct actual_pod *pod = row->have_pod;
	struct cJSON *item;

	if (!pod || pod->state != MOUNT_DONE)
		return 0;
	options->asked(options->userdata, row->unique_name);
	if (call->claims_only && !(row->want_pod && spec_pv(&row->want_pod->spec)))
		return 0;
	item = json_add_object(call->items, NULL);
	if (!item)
		return -ENOMEM;
	(void) json_set_string(item, "pod", pod->pod_key);
	(void) json_set_string(item, "podUID", row->pod_uid);
	(void) json_set_string(item, "volume", row->outer_name);
	(void) json_set_string(item, "uniqueName", row->unique_name);
	(void) json_set_string(item, "plugin", row->have->plugin_name);
	claim_statistics_name(item, row);
	(void) json_set_string(item, "path", pod->path);
	(void) json_set_bool(item, "block", row->have->block);
	return wait_for(call, item, row);
}

int statistics_request(struct statistics *statistics, const struct statistics_about *about,
		       statistics_fn *done, void *userdata, struct statistics_call **ret)
{
	const struct volume_tables *tables = statistics->options.tables;
	struct statistics_call *call;
	uint64_t end;
	int r;

	assert(statistics && about && done);
	if (statistics->calls == STATISTICS_CALLS_MAX)
		return -ENOBUFS;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	statistics->calls++;
	*call = (struct statistics_call){ .statistics = statistics,
					  .claims_only = about->claims_only,
					  .tree = json_new_object(),
					  .done = done,
					  .userdata = userdata };
	call->items = json_add_array(call->tree, "items");
	r = about->pod_uid ? volume_rows_of_pod(tables, about->pod_uid, add_row, call)
			   : volume_rows_of_all(tables, add_row, call);
	call->no_memory = r < 0;
	/* With nothing to wait for the result comes with the next turn of the loop. */
	end = monotonic_usec() + (call->waiters ? STATISTICS_WAIT_USEC : 0);
	r = sd_event_add_time(statistics->options.event, &call->timer, CLOCK_MONOTONIC, end, 1000,
			      on_call_time, call);
	if (r < 0) {
		call_free(call);
		return r;
	}
	*ret = call;
	return 0;
}

void statistics_cancel(struct statistics_call *call)
{
	call_free(call);
}

void statistics_print_metrics(struct statistics *statistics, FILE *file)
{
	if (statistics) /* else in tests */
		claim_statistics_print(statistics->claims, file);
}

/* ---- start and stop ---- */

int statistics_new(const struct statistics_options *options, struct statistics **ret)
{
	const struct worker_limits limits = { .threads = THREADS,
					      .threads_max = THREADS_MAX,
					      .set_aside_usec = SLOW_USEC };
	struct statistics *statistics = calloc(1, sizeof(*statistics));
	int r;

	if (!statistics)
		return -ENOMEM;
	statistics->options = *options;
	r = worker_pool_new("statistics", options->to_loop, &limits, &statistics->pool);
	if (r < 0) {
		free(statistics);
		return r;
	}
	r = claim_statistics_new(statistics, &statistics->claims);
	if (r < 0) {
		statistics_stop(statistics);
		free(statistics);
		return r;
	}
	*ret = statistics;
	return 0;
}

struct worker_pool *statistics_pool(const struct statistics *statistics)
{
	return statistics->pool;
}

/* Calls of drivers are on no thread: cancelled. */
void statistics_stop(struct statistics *statistics)
{
	struct probe *probe, *next;

	if (!statistics)
		return;
	statistics->claims = claim_statistics_free(statistics->claims);
	HASH_ITER (hh, statistics->probes, probe, next)
		if (probe->call || probe->is_counted)
			probe_free(probe);
	statistics->pool = worker_pool_free(statistics->pool);
}

/* A query whose thread hangs belongs to the thread, until the process ends. */
struct statistics *statistics_free(struct statistics *statistics)
{
	if (!statistics)
		return NULL;
	assert(!statistics->pool && statistics->calls == 0);
	free(statistics);
	return NULL;
}
