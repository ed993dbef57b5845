/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - how long operations take and how many volumes there are, for Prometheus
 *
 * The names and labels are those of kubelet's volume manager, so that dashboards made for kubelet
 * show podvol. What is counted is bounded by the operations and plugins there are: no label holds a
 * pod or a volume.
 */
#include "agent/parts.h"

#include "base/cleanup.h"

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
	struct series *series;
};

int metrics_new(struct metrics **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
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

void metrics_note(struct agent *agent, const struct operation_ended *ended)
{
	const struct actual_volume *volume = actual_find(agent->actual, ended->result.unique_name);
	struct series *series;
	size_t bucket = 0;

	assert(agent->views.metrics && ended->name);
	if (ended->result.error == -ECANCELED) /* says nothing of how long the work takes */
		return;
	series = find_series(agent->views.metrics, ended->name, volume ? volume->plugin_name : "",
			     ended->result.error < 0);
	if (!series)
		return;
	while (bucket < ARRAY_SIZE(bounds_msec) &&
	       ended->ran_usec > (uint64_t) bounds_msec[bucket] * 1000)
		bucket++;
	series->buckets[bucket]++;
	series->count++;
	series->sum_usec += ended->ran_usec;
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

static size_t count_wanted(const struct agent *agent, const struct volume_plugin *plugin)
{
	const struct desired_volume *volume = desired_first(agent->desired);
	size_t count = 0;

	for (; volume; volume = volume->hh.next)
		if (volume->plugin == plugin)
			count += HASH_COUNT(volume->pods);
	return count;
}

static size_t count_mounted(const struct agent *agent, const struct volume_plugin *plugin)
{
	const struct actual_volume *volume = actual_first(agent->actual);
	const struct actual_pod *pod;
	size_t count = 0;

	for (; volume; volume = volume->hh.next)
		for (pod = volume->pods; volume->plugin == plugin && pod; pod = pod->hh.next)
			count += pod->state == MOUNT_DONE;
	return count;
}

static void print_total(FILE *file, const char *plugin, const char *state, size_t count)
{
	if (count > 0)
		(void) fprintf(
			file, "volume_manager_total_volumes{plugin_name=\"%s\",state=\"%s\"} %zu\n",
			plugin, state, count);
}

static void print_all(FILE *file, const struct agent *agent)
{
	const struct series *series;

	(void) fputs("# HELP storage_operation_duration_seconds How long operations on volumes "
		     "take.\n# TYPE storage_operation_duration_seconds histogram\n",
		     file);
	LL_FOREACH (agent->views.metrics->series, series)
		print_series(file, series);
	(void) fputs("# HELP volume_manager_total_volumes Volumes of pods, as wanted and as "
		     "mounted.\n# TYPE volume_manager_total_volumes gauge\n",
		     file);
	for (const struct volume_plugin *const *at = plugin_list(); *at; at++) {
		print_total(file, (*at)->name, "desired_state_of_world", count_wanted(agent, *at));
		print_total(file, (*at)->name, "actual_state_of_world", count_mounted(agent, *at));
	}
}

char *agent_metrics(struct agent *agent)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	int failed_write;

	if (!file)
		return NULL;
	print_all(file, agent);
	failed_write = ferror(file);
	if (fclose(file) != 0 || failed_write) {
		free(text);
		return NULL;
	}
	return text;
}
