/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiring - what each box borrows from the agent, and whom its call-backs reach
 *
 * Nothing is decided here. A box outside this folder knows no agent: what it may use and whom it
 * notifies stands in its options, which are filled in here and nowhere else.
 */
#include "agent/parts.h"

#include "agent/wiring.h"
#include "agent/observers.h"
#include "agent.h"
#include "base/clock.h"
#include "base/log.h"
#include "token/token_issuer.h"

#include <stdio.h>

enum { DAY_SECONDS = 86400 };

void agent_record_event(void *userdata, const struct object *about, const char *type,
			const char *reason, const char *text)
{
	struct agent *agent = userdata;

	events_record(agent->events, about, type, reason, text, realtime_usec());
	if (pod_conditions_reported(agent->views.pods, about))
		agent_request_turn(agent);
}

bool agent_uses_volume(void *userdata, const struct persistent_volume *volume)
{
	const struct agent *agent = userdata;

	return actual_has_named(agent->actual, volume->object->meta.name) ||
	       foreign_volumes_have(agent->foreign_volumes, volume);
}

bool agent_wants_volume(void *userdata, const struct persistent_volume *volume)
{
	return desired_has_pv(((const struct agent *) userdata)->desired,
			      volume->object->meta.name);
}

static bool has_all_sources(void *userdata)
{
	return ((const struct agent *) userdata)->sources_complete;
}

struct controller_options agent_controller_options(struct agent *agent)
{
	return (struct controller_options){
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.store = agent->store,
		.node_name = agent->config->node_name,
		.event_fn = agent_record_event,
		.is_in_use = agent_uses_volume,
		.is_complete = has_all_sources,
		.userdata = agent,
	};
}

static void request_turn(void *userdata)
{
	agent_request_turn(userdata);
}

static void pod_changed(void *userdata, const char *pod_uid)
{
	agent_pod_changed(userdata, pod_uid);
}

static void mount_lost(void *userdata, const char *unique_name)
{
	const struct agent *agent = userdata;

	volume_faults_lost(agent->mounts.faults, unique_name);
}

int agent_open_drift(struct agent *agent, struct failure *reterr)
{
	const struct drift_options options = {
		.event = agent->event,
		.priority = PRIORITY_TURN - 5,
		.root = &agent->root,
		.heals = &agent->config->drift.heals,
		.actual = agent->actual,
		.desired = agent->desired,
		.dirty = agent->dirty,
		.holds = agent->holds.table,
		.operations = agent->operations,
		.workers = &agent->pools.workers,
		.record = agent_record_event,
		.changed = pod_changed,
		.lost = mount_lost,
		.checked = request_turn,
		.userdata = agent,
	};

	return drift_new(&options, &agent->mounts.drift, reterr);
}

/* ---- status/ ---- */

static void fill_inuse_options(struct agent *agent);

static bool explain_idle(void *userdata, const struct object *pod, struct failure *ret)
{
	const struct agent *agent = userdata;

	return pod_idle_explain(agent->desired, agent->config->node_name, pod, ret);
}

static bool explain_wait(void *userdata, const struct object *pod, struct failure *ret)
{
	return pod_holds_explain_wait(&((const struct agent *) userdata)->holds, pod, ret);
}

static void add_users(void *userdata, const struct volume_row *row, struct failure *text)
{
	volume_users_append(&((const struct agent *) userdata)->holds, row->unique_name,
			    row->pod_uid, text);
}

void agent_fill_options(struct agent *agent)
{
	fill_inuse_options(agent);
	agent->views.tables = (struct volume_tables){ .desired = agent->desired,
						      .actual = agent->actual,
						      .operations = &agent->operations,
						      .is_held = observers_explain,
						      .add_users = add_users,
						      .userdata = agent };
	agent->reporter = (struct reporter){ .event = agent->event,
					     .tables = &agent->views.tables,
					     .store = &agent->store,
					     .record = agent_record_event,
					     .is_behind = cluster_mode_is_behind,
					     .userdata = agent };
	agent->views.with = (struct volume_view){ .tables = &agent->views.tables,
						  .store = &agent->store,
						  .faults = &agent->mounts.faults,
						  .size_limits = &agent->views.size_limits,
						  .look_up_errors = &agent->look_up_errors,
						  .events = &agent->views.events,
						  .describe = observers_describe,
						  .explain_idle = explain_idle,
						  .explain_wait = explain_wait,
						  .userdata = agent };
	agent->intents = (struct intents){ .host = &agent->host,
					   .actual = agent->actual,
					   .ledger = &agent->ledger };
	agent->node_expand =
		(struct node_expand_options){ .reporter = &agent->reporter,
					      .renewals = &agent->own.tokens.renewals };
}

static void check_volume(void *userdata, const char *unique_name)
{
	const struct agent *agent = userdata;

	volume_faults_check(agent->mounts.faults, unique_name);
	size_limits_check(agent->views.size_limits);
}

int agent_open_statistics(struct agent *agent)
{
	const struct statistics_options options = {
		.event = agent->event,
		.to_loop = agent->to_loop,
		.host = &agent->host,
		.tables = &agent->views.tables,
		.usage = &agent->views.directory_usage,
		.asked = check_volume,
		.userdata = agent,
	};
	int r = statistics_new(&options, &agent->views.statistics);

	if (r >= 0)
		agent->pools.statistics = statistics_pool(agent->views.statistics);
	return r;
}

int agent_open_volume_faults(struct agent *agent, struct failure *reterr)
{
	const struct volume_faults_options options = {
		.reporter = &agent->reporter,
		.pool = &agent->pools.statistics,
		.priority = PRIORITY_RESULTS,
		.check_usec = (uint64_t) agent->config->seconds.fault_check * USEC_PER_SEC,
	};
	int r = volume_faults_new(&options, &agent->mounts.faults);

	return r < 0 ? failed(reterr, r, "cannot watch volumes for faults") : 0;
}

static bool is_held(void *userdata, const char *pod_uid)
{
	return holds_of_pod(((const struct agent *) userdata)->holds.table, pod_uid, 0) != NULL;
}

int agent_open_pod_conditions(struct agent *agent)
{
	const struct pod_conditions_options options = {
		.reporter = &agent->reporter,
		.faults = &agent->mounts.faults,
		.is_held = is_held,
		.with_phase = !cluster_mode(agent),
		.userdata = agent,
	};

	return pod_conditions_new(&options, &agent->views.pods);
}

/* Who drains waits for a stuck operation no longer. */
void agent_on_slow(void *userdata, const struct operation_view *view)
{
	struct agent *agent = userdata;

	hung_operations_report(&agent->reporter, view);
	if (view->pace == PACE_STUCK)
		agent_request_turn(agent);
	agent_pod_changed(agent, view->pod_uid);
	if (pod_conditions_volume_changed(agent->views.pods, view->unique_name))
		agent_request_turn(agent);
}

int agent_statistics(struct agent *agent, const struct statistics_about *about, statistics_fn *done,
		     void *userdata, struct statistics_call **ret)
{
	return statistics_request(agent->views.statistics, about, done, userdata, ret);
}

struct cJSON *agent_view_volume_events(struct agent *agent)
{
	return volume_events_view(agent->views.events);
}

struct cJSON *agent_view_steps(struct agent *agent)
{
	return step_log_view(agent->views.steps);
}

int agent_watch_volumes(struct agent *agent, uint64_t after, void (*changed)(void *userdata),
			void *userdata, struct volume_watch **ret)
{
	return volume_events_watch(agent->views.events, after, changed, userdata, ret);
}

/* The store and the populator are made after the tables. */
static const struct object *find_pod(void *userdata, const char *name_space, const char *name)
{
	return store_get(((const struct agent *) userdata)->store, KIND_POD, name_space, name);
}

static void look_up_pod(void *userdata, const char *name_space, const char *name, uint64_t now_usec)
{
	populator_pod(((struct agent *) userdata)->populator, name_space, name, now_usec);
}

int agent_open_mount_waiters(struct agent *agent)
{
	const struct mount_waiters_options options = {
		.event = agent->event,
		.waits_max = &agent->config->waits_max,
		.tables = &agent->views.tables,
		.find_pod = find_pod,
		.look_up = look_up_pod,
		.explain_idle = explain_idle,
		.explain_wait = explain_wait,
		.look_up_errors = &agent->look_up_errors,
		.userdata = agent,
	};

	return mount_waiters_new(&options, &agent->waits);
}

int agent_wait_pod(struct agent *agent, const struct mount_wait_request *request,
		   struct mount_wait **ret)
{
	return mount_waiters_add(agent->waits, request, ret);
}

/* ---- csinode/, and the controllers of CSI drivers ---- */

static void driver_capable(void *userdata, const char *driver)
{
	csi_controllers_driver_changed(((struct agent *) userdata)->controllers.csi, driver);
}

static void check_drained(void *userdata)
{
	agent_check_drained(userdata);
}

int agent_open_drivers(struct agent *agent)
{
	const struct drivers_options options = {
		.event = agent->event,
		.root = &agent->root,
		.node_name = agent->config ? agent->config->node_name : NULL,
		.desired = agent->desired,
		.actual = agent->actual,
		.dirty = agent->dirty,
		.operations = &agent->operations,
		.capable = driver_capable,
		.drained = check_drained,
		.userdata = agent,
	};
	int r = drivers_new(&options, &agent->drivers);

	if (r >= 0)
		agent->host.csi_drivers = drivers_table(agent->drivers);
	return r;
}

int agent_call_driver(struct agent *agent, const struct driver_call_request *request,
		      struct driver_call **ret, struct failure *reterr)
{
	return driver_call_start(agent->host.csi_drivers, request, ret, reterr);
}

int agent_open_csi_controllers(struct agent *agent, struct failure *reterr)
{
	const struct csi_controller_options options = {
		.common = agent_controller_options(agent),
		.drivers = agent->host.csi_drivers,
	};
	int r = 0;

	if (!agent->config->csi_controllers.external)
		r = csi_controllers_new(&options, &agent->controllers.csi);
	return r < 0 ? failed(reterr, r, "cannot start the controllers of CSI drivers") : 0;
}

int agent_open_volumes_in_use(struct agent *agent, struct failure *reterr)
{
	const struct volumes_in_use_options options = {
		.common = agent_controller_options(agent),
		.attaches = !cluster_mode(agent),
		.attachment = cluster_mode_attachment,
		.may_force = agent->config->force_detach,
		.actual = agent->actual,
		.desired = agent->desired,
		.dirty = agent->dirty,
		.operations = agent->operations,
		.found = agent->foreign_volumes ? foreign_volumes_found(agent->foreign_volumes)
						: NULL,
	};
	int r = volumes_in_use_new(&options, &agent->controllers.volumes_in_use);

	return r < 0 ? failed(reterr, r, "cannot keep what is attached") : 0;
}

/* ---- inuse/ ---- */

static void pod_released(void *userdata, const char *uid, const char *name_space, const char *name)
{
	struct agent *agent = userdata;

	agent_pod_changed(agent, uid);
	manifest_source_uid_freed(agent->manifests, uid);
	if (agent->populator)
		populator_pod(agent->populator, name_space, name, monotonic_usec());
	agent_request_turn(agent);
}

static void uid_freed(void *userdata, const char *uid)
{
	manifest_source_uid_freed(((const struct agent *) userdata)->manifests, uid);
}

static void enforced(void *userdata, bool lazy, unsigned int count)
{
	metrics_note_enforced(((struct agent *) userdata)->views.metrics, lazy, count);
}

static void fill_inuse_options(struct agent *agent)
{
	agent->holds.with = (struct inuse_options){
		.event = agent->event,
		.priority = PRIORITY_RESULTS,
		.holds_priority = PRIORITY_HOLDS,
		.config = agent->config,
		.root = &agent->root,
		.workers = &agent->pools.workers,
		.store = &agent->store,
		.ledger = &agent->ledger,
		.operations = &agent->operations,
		.actual = agent->actual,
		.desired = agent->desired,
		.dirty = agent->dirty,
		.is_complete = has_all_sources,
		.record = agent_record_event,
		.pod_released = pod_released,
		.uid_freed = uid_freed,
		.turn = request_turn,
		.retry = agent_on_retry,
		.lost = agent_resync,
		.enforced = enforced,
		.userdata = agent,
	};
}

bool agent_pod_must_wait(void *userdata, const struct object *pod)
{
	return pod_holds_must_wait(&((struct agent *) userdata)->holds, pod);
}

int agent_hold_add(struct agent *agent, const struct hold_request *request,
		   char ret_id[HOLD_ID_BYTES], struct failure *reterr)
{
	int r = pod_holds_add(&agent->holds, request, ret_id, reterr);

	if (r >= 0)
		agent_pod_changed(agent, request->uid);
	return r;
}

int agent_hold_remove(struct agent *agent, const char *pod_uid, const char *id,
		      struct failure *reterr)
{
	return pod_holds_remove(&agent->holds, pod_uid, id, reterr);
}

struct cJSON *agent_view_holds(struct agent *agent, const char *pod_uid)
{
	return pod_holds_view(&agent->holds, pod_uid);
}

int agent_search_users(struct agent *agent, const char *volume, volume_users_search_fn *done,
		       void *userdata, struct volume_users_search **ret)
{
	return volume_users_search(&agent->holds, volume, done, userdata, ret);
}

int agent_force_unstage(struct agent *agent, const struct unstage_call_request *request,
			struct unstage_call **ret)
{
	return unstage_call_new(&agent->holds, request, ret);
}

/* ---- container/ ---- */

int agent_open_pod_mounts(struct agent *agent)
{
	agent->pod_mounts.with = (struct pod_mounts_options){
		.event = agent->event,
		.priority = PRIORITY_SUBPATHS,
		.tables = &agent->views.tables,
		.host = &agent->host,
		.store = &agent->store,
		.workers = &agent->pools.workers,
		.dirty = agent->dirty,
		.record = agent_record_event,
		.turn = request_turn,
		.userdata = agent,
	};
	return subpaths_new(&agent->pod_mounts, &agent->pod_mounts.subpaths);
}

int agent_plan_containers(struct agent *agent, const struct container_mounts_request *request,
			  struct container_mounts_call **ret)
{
	return container_mounts_plan(&agent->pod_mounts, request, ret);
}

/* ---- state/ ---- */

int agent_open_claim_reasons(struct agent *agent)
{
	const struct claim_reasons_options options = {
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.store = agent->store,
		.populator = agent->populator,
	};

	return claim_reasons_new(&options, &agent->controllers.claim_reasons);
}

int agent_explain_claim(void *userdata, const struct object *claim, struct failure *reterr)
{
	const struct agent *agent = userdata;

	return claim_reasons_explain(agent->controllers.claim_reasons, agent->config->node_name,
				     claim, reterr);
}

/* ---- reconstruct/ ---- */

int agent_note_unfinished(void *userdata, const char *unique_name, const char *pod_uid,
			  enum unfinished unfinished, struct failure *reterr)
{
	const struct agent *agent = userdata;

	return intent_note_unfinished(&agent->intents, unique_name, pod_uid, unfinished, reterr);
}

int agent_open_ledger(struct agent *agent, struct failure *reterr)
{
	const struct reconstruct_options options = {
		.config = agent->config,
		.root = &agent->root,
		.host = &agent->host,
		.actual = agent->actual,
		.foreign = { .root = &agent->root,
			     .workers = &agent->pools.workers,
			     .store = &agent->store,
			     .desired = agent->desired,
			     .actual = agent->actual,
			     .removes = agent->config->takeover.how == CONFIG_TAKEOVER_REMOVE,
			     .is_complete = has_all_sources,
			     .userdata = agent },
		.ledger = &agent->ledger,
		.foreign_volumes = &agent->foreign_volumes,
		.counts = &agent->reconstructed,
	};
	int r = reconstruct(&options, reterr);

	if (r < 0)
		return r;
	r = takeover_new(&agent->holds, &agent->takeover);
	return r < 0 ? failed(reterr, r, "cannot record foreign volumes") : 0;
}

int agent_end_hand_back(struct agent *agent, struct failure *reterr)
{
	return reconstruct_remove_mark(agent->config, agent->ledger, reterr);
}

struct cJSON *agent_view_foreign_volumes(struct agent *agent)
{
	return foreign_volumes_view(agent->foreign_volumes);
}

/* ---- token/ ---- */

/* As when one of its objects changed; the plugin keeps tokens that are still good, and one
 * that did not grow tries again. */
static void renew_tokens(void *userdata, const char *unique_name, const char *pod_uid)
{
	struct agent *agent = userdata;

	desired_repeat_set_up(agent->desired, unique_name, pod_uid);
}

int agent_open_tokens(struct agent *agent, struct failure *reterr)
{
	const struct config *config = agent->config;
	const struct renewals_options renewals = { .event = agent->event,
						   .priority = PRIORITY_STORE,
						   .due = renew_tokens,
						   .userdata = agent };
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

	if (config_has_no_store(config))
		return 0;
	(void) snprintf(url, sizeof(url), "https://%s", config->node_name);
	r = renewals_new(&renewals, &agent->own.tokens.renewals);
	if (r < 0)
		return failed(reterr, r, "cannot schedule token renewals");
	if (cluster_mode(agent))
		return 0; /* its server issues them */
	r = token_issuer_new(&options, &agent->own.tokens.issuer, &why);
	if (r < 0) {
		log_message(LOG_ERR, "service account tokens are not issued here: %s", why.text);
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

struct token_issuer *agent_tokens(struct agent *agent)
{
	return agent->own.tokens.issuer;
}
