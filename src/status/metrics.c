/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - how long operations take and how many volumes there are; see status.h
 *
 * The names and labels are those of kubelet's volume manager, so that dashboards made for kubelet
 * show podvol. What is counted is bounded by the operations and plugins there are. Labels hold a
 * pod or a volume only for the walks of fsGroup that are under way, which kubelet does not show: a
 * bounded number, forgotten when they end. Mounts and unmounts of each plugin are there from the
 * start, as zeros: a rate over a series that appears with its first failure misses that failure.
 */
#include "status/status.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "operation/operation.h"
#include "plugins/plugin.h"
#include "status/volume_row.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

/* Upper bounds, kubelet's; the last bucket has none. */
static const struct {
	unsigned int msec;
	const char *label;
} bounds[] = {
	{ 100, "0.1" },    { 250, "0.25" },   { 500, "0.5" },    { 1000, "1" },   { 2500, "2.5" },
	{ 5000, "5" },     { 10000, "10" },   { 15000, "15" },   { 25000, "25" }, { 50000, "50" },
	{ 120000, "120" }, { 300000, "300" }, { 600000, "600" },
};

enum { BUCKETS = ARRAY_SIZE(bounds) + 1 };

/* What a series is of. "Total" is from when the mount was first wanted, over all attempts. */
enum outcome { OUTCOME_SUCCESS, OUTCOME_FAILURE, OUTCOME_TOTAL };

/* One histogram: all operations of one name, plugin and end. */
struct series {
	const char *name; /* static */
	char *plugin;
	enum outcome outcome;
	uint64_t buckets[BUCKETS]; /* each alone; they are summed up when they are printed */
	uint64_t count, sum_usec;
	struct series *next;
};

struct metrics {
	const struct volume_tables *tables; /* borrowed */
	struct series *series;
	uint64_t enforced[2]; /* unmounts of what was in use: by force, lazily */
};

/* ---- series ---- */

static struct series *add_series(struct metrics *metrics, const char *name, const char *plugin,
				 enum outcome outcome)
{
	struct series *series = calloc(1, sizeof(*series));

	if (!series)
		return NULL;
	series->plugin = strdup(plugin);
	if (!series->plugin) {
		free(series);
		return NULL;
	}
	series->name = name;
	series->outcome = outcome;
	LL_PREPEND(metrics->series, series);
	return series;
}

static struct series *find_series(struct metrics *metrics, const char *name, const char *plugin,
				  enum outcome outcome)
{
	struct series *series;

	LL_FOREACH (metrics->series, series) {
		if (series->outcome == outcome && strcmp(series->plugin, plugin) == 0 &&
		    strcmp(series->name, name) == 0)
			return series;
	}
	return add_series(metrics, name, plugin, outcome);
}

static const char overall_mount[] = "overall_volume_mount";

/* Return: 0 or -ENOMEM. */
static int add_zeros(struct metrics *metrics, const char *plugin)
{
	static const struct {
		const char *name;
		enum outcome outcome;
	} zeros[] = {
		{ "volume_mount", OUTCOME_SUCCESS },   { "volume_mount", OUTCOME_FAILURE },
		{ "volume_unmount", OUTCOME_SUCCESS }, { "volume_unmount", OUTCOME_FAILURE },
		{ overall_mount, OUTCOME_TOTAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(zeros); i++)
		if (!add_series(metrics, zeros[i].name, plugin, zeros[i].outcome))
			return -ENOMEM;
	return 0;
}

int metrics_new(const struct volume_tables *tables, struct metrics **ret)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return -ENOMEM;
	metrics->tables = tables;
	for (const struct volume_plugin *const *at = plugin_list(); *at; at++) {
		if (add_zeros(metrics, (*at)->name) < 0) {
			metrics_free(metrics);
			return -ENOMEM;
		}
	}
	*ret = metrics;
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

static void count(struct series *series, uint64_t usec)
{
	size_t bucket = 0;

	if (!series) /* no memory: one is missing */
		return;
	while (bucket < ARRAY_SIZE(bounds) && usec > (uint64_t) bounds[bucket].msec * 1000)
		bucket++;
	series->buckets[bucket]++;
	series->count++;
	series->sum_usec += usec;
}

static enum outcome outcome_of(const struct operation_ended *ended)
{
	return ended->result.error < 0 ? OUTCOME_FAILURE : OUTCOME_SUCCESS;
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
	count(find_series(metrics, "volume_apply_access_control", plugin, outcome_of(ended)),
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
	count(find_series(metrics, ended->name, plugin, outcome_of(ended)), ended->ran_usec);
	if (ended->result.took_usec > 0)
		count(find_series(metrics, overall_mount, plugin, OUTCOME_TOTAL),
		      ended->result.took_usec);
	note_walk(metrics, plugin, ended);
}

/* ---- printing ---- */

static bool is_total(const struct series *series)
{
	return series->outcome == OUTCOME_TOTAL;
}

static void print_labels(FILE *file, const char *suffix, const struct series *series)
{
	if (is_total(series))
		(void) fprintf(file,
			       "volume_operation_total_seconds%s{operation_name=\"%s\","
			       "plugin_name=\"%s\"",
			       suffix, series->name, series->plugin);
	else
		(void) fprintf(
			file,
			"storage_operation_duration_seconds%s{migrated=\"false\",operation_name="
			"\"%s\",status=\"%s\",volume_plugin=\"%s\"",
			suffix, series->name,
			series->outcome == OUTCOME_SUCCESS ? "success" : "fail-unknown",
			series->plugin);
}

static void print_series(FILE *file, const struct series *series)
{
	uint64_t below = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		below += series->buckets[i];
		print_labels(file, "_bucket", series);
		(void) fprintf(file, ",le=\"%s\"} %" PRIu64 "\n", bounds[i].label, below);
	}
	print_labels(file, "_bucket", series);
	(void) fprintf(file, ",le=\"+Inf\"} %" PRIu64 "\n", series->count);
	print_labels(file, "_sum", series);
	(void) fprintf(file, "} %g\n", (double) series->sum_usec / 1e6);
	print_labels(file, "_count", series);
	(void) fprintf(file, "} %" PRIu64 "\n", series->count);
}

static void print_histogram(FILE *file, const struct metrics *metrics, bool totals)
{
	const struct series *series;

	LL_FOREACH (metrics->series, series)
		if (is_total(series) == totals)
			print_series(file, series);
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
	(void) fputs("# HELP storage_operation_duration_seconds How long operations on volumes "
		     "take.\n# TYPE storage_operation_duration_seconds histogram\n",
		     file);
	print_histogram(file, metrics, false);
	(void) fputs("# HELP volume_operation_total_seconds How long it takes from when a volume "
		     "was first wanted until it is mounted.\n"
		     "# TYPE volume_operation_total_seconds histogram\n",
		     file);
	print_histogram(file, metrics, true);
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
