/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views - what the API shows of this node beside the objects: volumes, operations, health,
 * manifests, events, version
 *
 * Trees are made for each request and belong to its caller; nothing here changes a table.
 */
#include "agent/parts.h"

#include "base/clock.h"
#include "build-config.h"
#include "controller/scheduling/scheduling.h"
#include "object/json/json.h"

#include <assert.h>

struct cJSON *agent_view_volumes(struct agent *agent, const struct object *pod)
{
	return volume_view_list(&agent->views.with, pod);
}

struct cJSON *agent_view_volume(struct agent *agent, const char *word)
{
	return volume_view_named(&agent->views.with, word);
}

const char *agent_pod_volumes(struct agent *agent, const struct object *pod)
{
	return pod_conditions_word(agent->views.pods, pod->meta.uid);
}

const char *agent_pod_phase(struct agent *agent, const struct object *pod)
{
	return pod_conditions_phase(agent->views.pods, pod);
}

bool agent_shows_phases(struct agent *agent)
{
	return pod_conditions_show_phases(agent->views.pods);
}

int agent_pod_print(struct agent *agent, const struct object *pod, char **ret)
{
	return pod_conditions_print(agent->views.pods, pod, ret);
}

int agent_open_directory_usage(struct agent *agent)
{
	const struct directory_usage_options options = {
		.event = agent->event,
		.actual = agent->actual,
		.pool = &agent->pools.statistics,
		.files_per_second = (uint64_t) agent->config->usage_files_per_second,
		.counted = statistics_counted,
		.userdata = agent->views.statistics,
	};

	return options.files_per_second == 0
		       ? 0
		       : directory_usage_new(&options, &agent->views.directory_usage);
}

void agent_close_views(struct agent *agent)
{
	pod_conditions_free(agent->views.pods);
	volume_events_free(agent->views.events);
	step_log_free(agent->views.steps);
	volume_links_free(agent->views.links);
	metrics_free(agent->views.metrics);
}

struct cJSON *agent_check(struct agent *agent, const struct object *pod, const struct object *node)
{
	return scheduling_view(agent->store, agent->config->node_name, pod, node);
}

int agent_check_writes(struct agent *agent, const struct object *pod, struct write_check **ret)
{
	return write_check_new(agent->store, pod, ret);
}

struct cJSON *agent_view_operations(struct agent *agent)
{
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	assert(agent);
	operation_list_fill(&agent->views.with, items);
	unstage_calls_view(&agent->holds, items);
	copies_view(&agent->views.copies, items);
	return list;
}

struct cJSON *agent_view_threads(struct agent *agent)
{
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	assert(agent);
	threads_view_add(items, "worker", agent->pools.workers);
	threads_view_add(items, "unmount", agent->pools.unmounters);
	threads_view_add(items, "walker", agent->pools.walkers);
	threads_view_add(items, "statistics", agent->pools.statistics);
	threads_view_add(items, "directories",
			 volume_directories_pool(agent->controllers.directories));
	threads_view_add(items, "copies",
			 volume_directories_copy_pool(agent->controllers.directories));
	return list;
}

struct cJSON *agent_view_drivers(struct agent *agent, const char *name)
{
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");

	assert(agent);
	drivers_view(agent->drivers, name, items);
	plugins_view(name, items);
	return list;
}

/* ---- health ---- */

void agent_check_health(struct agent *agent,
			void (*check)(void *userdata, const struct health_check *check),
			void *userdata)
{
	struct health_check checks[] = {
		{ .name = "sources", .concerns = HEALTH_READY },
		{ .name = "operations", .concerns = HEALTH_OK },
		{ .name = "threads", .concerns = HEALTH_OK },
	};

	assert(agent && check);
	if (!agent->sources_complete)
		(void) failed_plain(&checks[0].why, -EAGAIN,
				    "a source has not delivered everything yet");
	operation_list_explain_stuck(agent->operations, &checks[1].why);
	threads_explain_hang(agent->pools.unmounters, &checks[2].why);
	threads_explain_hang(agent->pools.workers, &checks[2].why);
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		check(userdata, &checks[i]);
}

bool agent_explain_ready(const struct agent *agent, struct failure *ret)
{
	return volume_rows_explain_untried(&agent->views.tables, ret);
}

/* ---- manifests, version ---- */

struct cJSON *agent_view_manifests(struct agent *agent)
{
	return manifest_source_view(agent->manifests);
}

const char *agent_manifest_file_of(struct agent *agent, const struct object *object)
{
	return manifest_source_file_of(agent->manifests, object);
}

struct cJSON *agent_view_version(struct agent *agent)
{
	struct cJSON *view = json_new_object();

	if (!view)
		return NULL;
	(void) json_set_string(view, "podvol", PACKAGE_VERSION);
	(void) json_set_string(view, "kubernetes", "v1.32.0"); /* whose behaviour it follows */
	(void) json_set_string(view, "nodeName", agent->config->node_name);
	(void) json_set_string(view, "rootDir", agent->root.path);
	(void) json_set_string(view, "store", agent->cluster ? "kube-apiserver" : "embedded");
	cluster_view(agent->cluster, view);
	return view;
}
