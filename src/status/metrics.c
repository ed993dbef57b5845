/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - how long operations take and how many volumes there are; see status.h
 *
 * The names and labels are those of kubelet's volume manager, so that dashboards made for kubelet
 * show podvol. What is counted is bounded by the operations and plugins there are. Labels hold a
 * pod or a volume only for the walks of fsGroup that are under way, which kubelet does not show: a
 * bounded number, forgotten when they end.
 */
#include "status/status.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "operation/operation.h"
#include "plugins/plugin.h"
#include "state/state.h"
#include "status/volume_row.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

/* Upper bounds in milliseconds, kubelet's; the last bucket has none. */
static const unsigned int bounds_msec[] = { 100,   250,   500,   1000,   2500,   5000,  10000,
					    15000, 25000, 50000, 120000, 300000, 600000 };

enum { BUCKETS = ARRAY_SIZE(bounds_msec) + 1 };

/* One histogram: all operations of one name, plugin and end. */
struct series {
	const char *name; /* static */
	char *plugin;
	bool failed;
	uint64_t buckets[BUCKETS]; /* each alone; they are summed up when they are printed */
	uint64_t count, sum_usec;
	struct series *next;
};

struct metrics {
	const struct volume_tables *tables; /* borrowed */
	struct series *series;
	uint64_t enforced[2]; /* unmounts of what was in use: by force, lazily */
};

int metrics_new(const struct volume_tables *tables, struct metrics **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->tables = tables;
	return 0;
}

struct metrics *metrics_free(struct metrics *metrics)
{
	struct series *series, *next;

	if (!metrics)
		return NULL;
	LL_FOREACH_SAFE (metrics->series, series, next) {
		free(series->plugin);
		free(series);
	}
	free(metrics);
	return NULL;
}

/* ---- counting ---- */

static struct series *find_series(struct metrics *metrics, const char *name, const char *plugin,
				  bool failed)
{
	struct series *series;

	LL_FOREACH (metrics->series, series) {
		if (strcmp(series->name, name) == 0 && strcmp(series->plugin, plugin) == 0 &&
		    series->failed == failed)
			return series;
	}
	series = calloc(1, sizeof(*series));
	if (!series)
		return NULL;
	series->plugin = strdup(plugin);
	if (!series->plugin) {
		free(series);
		return NULL;
	}
	series->name = name;
	series->failed = failed;
	LL_APPEND(metrics->series, series);
	return series;
}

static void count(struct series *series, uint64_t usec)
{
	size_t bucket = 0;

	if (!series) /* no memory: one is missing */
		return;
	while (bucket < ARRAY_SIZE(bounds_msec) && usec > (uint64_t) bounds_msec[bucket] * 1000)
		bucket++;
	series->buckets[bucket]++;
	series->count++;
	series->sum_usec += usec;
}

/* What changing the group took, as kubelet counts it beside the operation it is part of. */
static void note_walk(struct metrics *metrics, const char *plugin,
		      const struct operation_ended *ended)
{
	const struct ownership_progress *progress = ended->report->progress;
	uint64_t begun_usec = progress ? atomic_load(&progress->begun_usec) : 0;
	uint64_t ended_usec = progress ? atomic_load(&progress->ended_usec) : 0;

	if (begun_usec == 0 || ended_usec < begun_usec) /* none wanted, or nothing to do */
		return;
	count(find_series(metrics, "volume_apply_access_control", plugin, ended->result.error < 0),
	      ended_usec - begun_usec);
}

void metrics_note(void *userdata, const struct operation_ended *ended)
{
	struct metrics *metrics = userdata;
	const struct actual_volume *volume =
		actual_find(metrics->tables->actual, ended->result.unique_name);
	const char *plugin = volume ? volume->plugin_name : "";

	assert(ended->name && ended->report);
	if (ended->result.error == -ECANCELED) /* says nothing of how long the work takes */
		return;
	count(find_series(metrics, ended->name, plugin, ended->result.error < 0), ended->ran_usec);
	note_walk(metrics, plugin, ended);
}

/* ---- printing ---- */

static void print_labels(FILE *file, const char *suffix, const struct series *series)
{
	(void) fprintf(file,
		       "storage_operation_duration_seconds%s{migrated=\"false\",operation_name="
		       "\"%s\",status=\"%s\",volume_plugin=\"%s\"",
		       suffix, series->name, series->failed ? "fail-unknown" : "success",
		       series->plugin);
}

static void print_series(FILE *file, const struct series *series)
{
	uint64_t below = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bounds_msec); i++) {
		below += series->buckets[i];
		print_labels(file, "_bucket", series);
		(void) fprintf(file, ",le=\"%g\"} %" PRIu64 "\n", bounds_msec[i] / 1e3, below);
	}
	print_labels(file, "_bucket", series);
	(void) fprintf(file, ",le=\"+Inf\"} %" PRIu64 "\n", series->count);
	print_labels(file, "_sum", series);
	(void) fprintf(file, "} %g\n", (double) series->sum_usec / 1e6);
	print_labels(file, "_count", series);
	(void) fprintf(file, "} %" PRIu64 "\n", series->count);
}

static size_t count_wanted(const struct volume_tables *tables, const struct volume_plugin *plugin)
{
	const struct desired_volume *volume = desired_first(tables->desired);
	size_t count = 0;

	for (; volume; volume = volume->hh.next)
		if (volume->plugin == plugin)
			count += HASH_COUNT(volume->pods);
	return count;
}

static size_t count_mounted(const struct volume_tables *tables, const struct volume_plugin *plugin)
{
	const struct actual_volume *volume = actual_first(tables->actual);
	const struct actual_pod *pod;
	size_t count = 0;

	for (; volume; volume = volume->hh.next)
		for (pod = volume->pods; volume->plugin == plugin && pod; pod = pod->hh.next)
			count += pod->state == MOUNT_DONE;
	return count;
}

static void print_total(FILE *file, const char *plugin, const char *state, size_t count)
{
	(void) fprintf(file, "volume_manager_total_volumes{plugin_name=\"%s\",state=\"%s\"} %zu\n",
		       plugin, state, count);
}

/* ---- walks under way ---- */

enum { WALKS_MAX = 64 }; /* shown; the rest is only counted */

enum walk_gauge { WALK_ENTRIES, WALK_ENTRIES_MOST, WALK_SECONDS, WALK_GAUGES };

static const struct {
	const char *name, *help;
} walk_gauges[] = {
	[WALK_ENTRIES] = { "entries", "Entries that a walk under way has looked at" },
	[WALK_ENTRIES_MOST] = { "entries_at_most", "Entries of its file system" },
	[WALK_SECONDS] = { "seconds", "Seconds since it began" },
};
static_assert(ARRAY_SIZE(walk_gauges) == WALK_GAUGES, "name every gauge");

struct walk_list {
	const struct volume_tables *tables;
	struct {
		const struct desired_pod *pod;
		const struct ownership_progress *progress;
	} walks[WALKS_MAX];
	size_t count, waiting; /* of all */
};

static int add_walk(const struct operation_view *view, void *userdata)
{
	struct walk_list *list = userdata;
	struct desired_volume *volume = desired_find(list->tables->desired, view->unique_name);
	const struct desired_pod *pod = volume ? desired_find_pod(volume, view->pod_uid) : NULL;

	if (!progress_runs(view) || !pod)
		return 0;
	if (list->count < WALKS_MAX) {
		list->walks[list->count].pod = pod;
		list->walks[list->count].progress = view->progress;
	}
	list->count++;
	list->waiting += view->waits_for_io_slot;
	return 0;
}

static double walk_value(const struct ownership_progress *progress, enum walk_gauge gauge)
{
	switch (gauge) {
	case WALK_ENTRIES:
		return (double) atomic_load(&progress->entries);
	case WALK_ENTRIES_MOST:
		return (double) atomic_load(&progress->expected);
	default:
		return (double) ((monotonic_usec() - atomic_load(&progress->begun_usec)) / 1000) /
		       1e3;
	}
}

/* All lines of one gauge together, as the format wants them. */
static void print_walk_gauge(FILE *file, const struct walk_list *list, enum walk_gauge gauge)
{
	const char *name = walk_gauges[gauge].name;

	(void) fprintf(
		file,
		"# HELP podvol_ownership_walk_%s %s.\n# TYPE podvol_ownership_walk_%s gauge\n",
		name, walk_gauges[gauge].help, name);
	for (size_t i = 0; i < list->count && i < WALKS_MAX; i++) {
		const struct desired_pod *pod = list->walks[i].pod;

		(void) fprintf(
			file,
			"podvol_ownership_walk_%s{namespace=\"%s\",pod=\"%s\",volume=\"%s\"} "
			"%.15g\n",
			name, pod->pod->meta.name_space, pod->pod->meta.name, pod->outer_names[0],
			walk_value(list->walks[i].progress, gauge));
	}
}

void metrics_print_walks(const struct metrics *metrics, FILE *file)
{
	struct walk_list list = { .tables = metrics->tables };

	(void) operation_walk(*list.tables->operations, add_walk, &list);
	(void) fprintf(file,
		       "# HELP podvol_ownership_walks Walks that change the group of a volume.\n"
		       "# TYPE podvol_ownership_walks gauge\n"
		       "podvol_ownership_walks{state=\"running\"} %zu\n"
		       "podvol_ownership_walks{state=\"waiting\"} %zu\n",
		       list.count - list.waiting, list.waiting);
	for (enum walk_gauge gauge = 0; gauge < WALK_GAUGES; gauge++)
		print_walk_gauge(file, &list, gauge);
}

void metrics_note_enforced(struct metrics *metrics, bool lazy, unsigned int count)
{
	metrics->enforced[lazy] += count;
}

void metrics_print_enforced(const struct metrics *metrics, FILE *file)
{
	(void) fprintf(file,
		       "# HELP podvol_enforced_unmounts_total Mounts that were taken away although "
		       "they were in use.\n# TYPE podvol_enforced_unmounts_total counter\n"
		       "podvol_enforced_unmounts_total{manner=\"force\"} %" PRIu64 "\n"
		       "podvol_enforced_unmounts_total{manner=\"lazy\"} %" PRIu64 "\n",
		       metrics->enforced[false], metrics->enforced[true]);
}

void metrics_print_volumes(const struct metrics *metrics, FILE *file)
{
	const struct series *series;

	(void) fputs("# HELP storage_operation_duration_seconds How long operations on volumes "
		     "take.\n# TYPE storage_operation_duration_seconds histogram\n",
		     file);
	LL_FOREACH (metrics->series, series)
		print_series(file, series);
	(void) fputs("# HELP volume_manager_total_volumes Volumes of pods, as wanted and as "
		     "mounted.\n# TYPE volume_manager_total_volumes gauge\n",
		     file);
	for (const struct volume_plugin *const *at = plugin_list(); *at; at++) {
		print_total(file, (*at)->name, "desired_state_of_world",
			    count_wanted(metrics->tables, *at));
		print_total(file, (*at)->name, "actual_state_of_world",
			    count_mounted(metrics->tables, *at));
	}
	(void) fprintf(
		file,
		"# HELP podvol_known_volumes Volumes with anything of them on this node, those "
		"whose last pod went as well.\n# TYPE podvol_known_volumes gauge\n"
		"podvol_known_volumes %zu\n",
		actual_count(metrics->tables->actual));
}
