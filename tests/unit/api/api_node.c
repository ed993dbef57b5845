/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_node - see api_node.h
 */
#include "api_node.h"

#include "agent.h"
#include "object/json/json.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct api_node world_node;

static struct cJSON *canned(const char *text)
{
	const struct json_limits limits = { .bytes = 65536, .depth = 16 };
	struct cJSON *tree = NULL;
	int r;

	if (!text)
		text = "{\"items\":[]}";
	r = json_parse(text, strlen(text), &limits, &tree, NULL);
	assert(r == 0);
	return tree;
}

struct cJSON *agent_view_drivers(struct agent *agent, const char *name)
{
	(void) snprintf(world_node.driver_name, sizeof(world_node.driver_name), "%s", name ?: "");
	return canned(world_node.drivers);
}

struct cJSON *agent_view_foreign_volumes(struct agent *agent)
{
	return canned(world_node.foreign_volumes);
}

struct cJSON *agent_view_threads(struct agent *agent)
{
	return canned(world_node.threads);
}

struct cJSON *agent_view_steps(struct agent *agent)
{
	return canned(world_node.steps);
}

struct cJSON *agent_view_volume_events(struct agent *agent)
{
	return canned(world_node.volume_events);
}

char *agent_metrics(struct agent *agent)
{
	return world_node.metrics ? strdup(world_node.metrics) : NULL;
}

int agent_statistics(struct agent *agent, const struct statistics_about *about, statistics_fn *done,
		     void *userdata, struct statistics_call **ret)
{
	if (world_node.result < 0)
		return world_node.result;
	world_node.statistics_done = done;
	world_node.statistics_userdata = userdata;
	*ret = (struct statistics_call *) &world_node;
	return 0;
}

void statistics_cancel(struct statistics_call *call)
{
	struct api_node *node = (struct api_node *) call;

	node->statistics_done = NULL;
	node->statistics_left++;
}

int agent_watch_volumes(struct agent *agent, uint64_t after, void (*changed)(void *userdata),
			void *userdata, struct volume_watch **ret)
{
	if (world_node.result < 0)
		return world_node.result;
	world_node.watches++;
	world_node.after = after;
	world_node.changed = changed;
	world_node.changed_userdata = userdata;
	*ret = (struct volume_watch *) &world_node;
	return 0;
}

struct volume_watch *volume_watch_free(struct volume_watch *watch)
{
	if (watch)
		world_node.watches--;
	return NULL;
}

const char *volume_watch_next(struct volume_watch *watch)
{
	return world_node.lines && *world_node.lines ? *world_node.lines++ : NULL;
}

/* ---- what one test alone answers; not reached in the others ---- */

#define ANSWERED_BY_ONE_TEST __attribute__((weak))

ANSWERED_BY_ONE_TEST struct token_issuer *agent_tokens(struct agent *agent)
{
	return NULL;
}

ANSWERED_BY_ONE_TEST const char *agent_pod_volumes(struct agent *agent, const struct object *pod)
{
	return NULL;
}

ANSWERED_BY_ONE_TEST const char *agent_pod_phase(struct agent *agent, const struct object *pod)
{
	return NULL;
}

ANSWERED_BY_ONE_TEST bool agent_shows_phases(struct agent *agent)
{
	return false;
}

ANSWERED_BY_ONE_TEST int agent_pod_print(struct agent *agent, const struct object *pod, char **ret)
{
	return 0;
}

ANSWERED_BY_ONE_TEST struct cJSON *agent_check(struct agent *agent, const struct object *pod,
					       const struct object *node)
{
	return NULL;
}

ANSWERED_BY_ONE_TEST int agent_check_writes(struct agent *agent, const struct object *pod,
					    struct write_check **ret)
{
	return -ENOMEM;
}

ANSWERED_BY_ONE_TEST void write_check_run(struct write_check *check)
{
}

ANSWERED_BY_ONE_TEST void write_check_report(const struct write_check *check, struct cJSON *tree)
{
}

ANSWERED_BY_ONE_TEST struct write_check *write_check_free(struct write_check *check)
{
	return NULL;
}

ANSWERED_BY_ONE_TEST int agent_call_driver(struct agent *agent,
					   const struct driver_call_request *request,
					   struct driver_call **ret, struct failure *reterr)
{
	return -ENOENT;
}

ANSWERED_BY_ONE_TEST void driver_call_cancel(struct driver_call *call)
{
}

ANSWERED_BY_ONE_TEST int agent_force_unstage(struct agent *agent,
					     const struct unstage_call_request *request,
					     struct unstage_call **ret)
{
	return -ENOENT;
}

ANSWERED_BY_ONE_TEST int agent_search_users(struct agent *agent, const char *volume,
					    volume_users_search_fn *done, void *userdata,
					    struct volume_users_search **ret)
{
	return -ENOENT;
}

ANSWERED_BY_ONE_TEST void volume_users_search_cancel(struct volume_users_search *ask)
{
}

ANSWERED_BY_ONE_TEST void unstage_call_cancel(struct unstage_call *call)
{
}
