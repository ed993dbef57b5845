/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens - see wiring.h
 */
#include "agent/wiring.h"
#include "agent/parts.h"

#include "base/clock.h"
#include "base/log.h"
#include "token/token_issuer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DAY_SECONDS = 86400 };

/* As when one of its objects changed; the plugin keeps tokens that are still good, and one
 * that did not grow tries again. */
static void on_due(void *userdata, const char *unique_name, const char *pod_uid)
{
	struct agent *agent = userdata;

	desired_repeat_set_up(agent->desired, unique_name, pod_uid);
}

int agent_open_tokens(struct agent *agent, struct failure *reterr)
{
	const struct config *config = agent->config;
	const struct renewals_options renewals = {
		.event = agent->event, .priority = PRIORITY_STORE, .due = on_due, .userdata = agent
	};
	struct failure why = { .error = 0 };
	char url[512];
	const struct token_issuer_options options = {
		.state_dir = config->state_dir,
		.url = *config->tokens.issuer ? config->tokens.issuer : url,
		.node_name = config->node_name,
		.longest_seconds = config->tokens.seconds_max,
		.key_seconds = config->tokens.key_days * DAY_SECONDS,
	};
	int r;

	if (config->drain)
		return 0;
	(void) snprintf(url, sizeof(url), "https://%s", config->node_name);
	r = renewals_new(&renewals, &agent->own.tokens.renewals);
	if (r < 0)
		return failed(reterr, r, "cannot keep the times of renewals");
	if (cluster_mode(agent))
		return 0; /* its server issues them */
	r = token_issuer_new(&options, &agent->own.tokens.issuer, &why);
	if (r < 0) {
		log_message(LOG_ERR, "no tokens of service accounts are issued: %s", why.text);
		return 0;
	}
	agent->host.tokens = token_issuer_source(agent->own.tokens.issuer);
	return 0;
}

void agent_close_tokens(struct agent *agent)
{
	agent->own.tokens.renewals = renewals_free(agent->own.tokens.renewals);
	agent->host.tokens = NULL;
	agent->own.tokens.issuer = token_issuer_free(agent->own.tokens.issuer);
}

void agent_note_renewal(void *userdata, const struct operation_ended *ended)
{
	struct agent *agent = userdata;
	const struct step_result *result = &ended->result;
	uint64_t due_usec = result->kind == STEP_PUBLISH ? ended->report->renew_usec : 0;

	if (!result->pod_uid || result->error < 0)
		return;
	if (renewals_set(agent->own.tokens.renewals, result->unique_name, result->pod_uid,
			 due_usec) < 0)
		log_message(LOG_ERR,
			    "out of memory: the tokens in volume '%s' are renewed when "
			    "podvold restarts",
			    result->unique_name);
}

/* Its own Node, which others may have deleted and made again. */
void agent_tokens_object_changed(struct agent *agent, const struct object *object)
{
	if (agent->own.tokens.issuer && object->kind == KIND_NODE &&
	    strcmp(object->meta.name, agent->config->node_name) == 0)
		token_issuer_set_node_uid(agent->own.tokens.issuer, object->meta.uid);
}

struct token_issuer *agent_tokens(struct agent *agent)
{
	return agent->own.tokens.issuer;
}
