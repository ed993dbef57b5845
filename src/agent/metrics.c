/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - what /metrics answers: the counters of all boxes, one after the other
 */
#include "agent/parts.h"

#include "base/clock.h"
#include "build-config.h"
#include "plugins/payload_cache.h"
#include "status/volume_health.h"

#include <inttypes.h>
#include <stdio.h>

static void print_gauge(FILE *file, const char *name, const char *help, size_t value)
{
	(void) fprintf(file, "# HELP %s %s\n# TYPE %s gauge\n%s %zu\n", name, help, name, name,
		       value);
}

static void print_health(FILE *file, const struct agent *agent)
{
	struct volume_health health;

	volume_health_count(&agent->views.tables, monotonic_usec(), &health);
	volume_health_print(&health, file);
	print_gauge(file, "podvol_unresolved_pods",
		    "Pods with a volume that cannot be looked up, such as one of an unbound claim.",
		    desired_pods_with_errors(agent->desired));
	print_gauge(file, "podvol_holds", "Holds of running containers.",
		    holds_count(agent->holds.table));
	(void) fputs("# HELP podvol_build_info Always 1; its label is the version.\n"
		     "# TYPE podvol_build_info gauge\n"
		     "podvol_build_info{version=\"" PACKAGE_VERSION "\"} 1\n",
		     file);
}

static void print_all(FILE *file, struct agent *agent)
{
	print_health(file, agent);
	metrics_print_volumes(agent->views.metrics, file);
	(void) fprintf(file,
		       "# HELP podvol_sync_loops_total Turns of the sync loop that are complete.\n"
		       "# TYPE podvol_sync_loops_total counter\n"
		       "podvol_sync_loops_total %" PRIu64 "\n",
		       agent->own.sync_loops);
	metrics_print_walks(agent->views.metrics, file);
	copies_print_metrics(&agent->views.copies, file);
	reconstruct_print_metrics(&agent->reconstructed, file);
	foreign_volumes_print_metrics(agent->foreign_volumes, file);
	metrics_print_enforced(agent->views.metrics, file);
	drift_print_metrics(agent->mounts.drift, file);
	volume_faults_print_metrics(agent->mounts.faults, file);
	size_limits_print_metrics(agent->views.size_limits, file);
	directory_usage_print_metrics(agent->views.directory_usage, file);
	drivers_print_metrics(agent->drivers, file);
	statistics_print_metrics(agent->views.statistics, file);
	payload_cache_print_metrics(agent->host.payloads, file);
	metrics_print_databases(file, agent->store, agent->own.store_dir, agent->config->run_dir);
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
