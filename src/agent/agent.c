/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent - builds every box, wires them, takes them down in reverse; see agent.h
 *
 * Nothing is decided here. What is mounted when it starts comes from the ledger and the directories
 * below the root; nothing is unmounted before every source has delivered a complete snapshot.
 */
#include "agent/parts.h"

#include "agent/wiring.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/heap_trim.h"
#include "base/log.h"
#include "mount/bind/idmap.h"
#include "other_kubelet.h"
#include "plugins/payload_cache.h"
#include "store/embedded.h"
#include "token/token_issuer.h"

#include <assert.h>

enum {
	HEAP_QUIET_USEC = 1000000,
	SET_ASIDE_USEC = 1000000, /* a job older than this is stuck: another thread starts */
	UNMOUNTERS = 8,           /* tear-downs at the same time */
	WALKERS_MAX = 16,         /* long stages at the same time on all devices */
	SLOW_USEC = 3000000,      /* a stage that takes longer is reported */
	MANIFEST_SETTLE_USEC = 500000,
};

/* ---- the node ---- */

/* Before the lock is tried: a kubelet does not know of it, and works on the same directories. */
static int open_root(struct agent *agent, struct failure *reterr)
{
	int r = other_kubelet_check("/proc", agent->config->root_dir, reterr);

	if (r >= 0 && agent->config->takeover.how != CONFIG_TAKEOVER_NONE)
		r = other_kubelet_check_socket(agent->config->root_dir, reterr);
	if (r < 0)
		return r;
	r = mount_root_open(agent->config->root_dir, &agent->root, reterr);
	if (r < 0)
		return r;
	r = mount_table_new(&agent->mounts.table, reterr);
	if (r < 0)
		return r;
	agent->host = (struct plugin_host){
		.root_dir = agent->root.path,
		.root_fd = agent->root.fd,
		.node_name = agent->config->node_name,
		.tool_limit_usec = (uint64_t) agent->config->tool_seconds * USEC_PER_SEC,
		.mount_table = agent->mounts.table,
		.own = { .state = agent->config->state_dir,
			 .run = agent->config->run_dir,
			 .manifests = agent->config->manifest_dir,
			 .root = agent->root.path,
			 .allowed = agent->config->volume_paths },
	};
	plugin_host_measure(&agent->host);
	r = way_memory_new(&agent->host.own.asked.memory);
	if (r < 0)
		return failed(reterr, r, "cannot keep the ways to podvold's directories");
	if (agent->config->idmapped_fs_group)
		r = idmap_cache_new(&agent->host.idmaps);
	if (r < 0)
		return failed(reterr, r, "cannot keep maps of groups");
	r = payload_cache_new(&agent->host.payloads);
	if (r < 0)
		return failed(reterr, r, "cannot keep the files of volumes");
	return 0;
}

static int make_own_directories(struct agent *agent, struct failure *reterr)
{
	return own_directories_make(agent->config->state_dir, agent->config->run_dir, reterr);
}

static int lock_own_directories(struct agent *agent, struct failure *reterr)
{
	int r = own_directories_lock(&agent->own.locks, agent->config->state_dir,
				     agent->config->run_dir, reterr);

	if (r < 0)
		return r;
	store_take_no_locks();
	return reconstruct_check_mark(agent->config, reterr);
}

/* Once its directory is locked, so that it is read while all else is looked at. */
static int begin_store(struct agent *agent, struct failure *reterr)
{
	int r;

	if (config_has_no_store(agent->config))
		return 0;
	r = cluster_mode_make_directory(agent, reterr);
	if (r < 0)
		return r;
	agent->own.opening = store_open_begin(agent->own.store_dir);
	return 0;
}

static int lock_databases(struct agent *agent, struct failure *reterr)
{
	return own_databases_lock(&agent->own.locks, agent->own.store_dir, agent->config->run_dir,
				  reterr);
}

static int start_pools(struct agent *agent, struct failure *reterr)
{
	struct worker_limits workers = {
		.threads = (unsigned int) agent->config->worker_threads,
		.threads_max = (unsigned int) agent->config->worker_threads_max,
		.set_aside_usec = SET_ASIDE_USEC,
	};
	/* An unmount waits for an RCU grace period, without a processor; those that wait together
	 * share it. */
	struct worker_limits unmounters = workers;
	/* Long by nature, so that none of them is ever taken for stuck; see operation/io_slot.h for
	 * how many of them may use one device. */
	struct worker_limits walkers = { .threads = WALKERS_MAX,
					 .threads_max = WALKERS_MAX,
					 .set_aside_usec = SET_ASIDE_USEC };
	int r;

	if (workers.threads_max < workers.threads)
		workers.threads_max = workers.threads;
	unmounters.threads_max = workers.threads_max;
	unmounters.threads =
		unmounters.threads_max < UNMOUNTERS ? unmounters.threads_max : UNMOUNTERS;
	r = worker_return_new(agent->event, PRIORITY_RESULTS, &agent->to_loop);
	if (r >= 0)
		r = worker_pool_new("worker", agent->to_loop, &workers, &agent->pools.workers);
	if (r >= 0)
		r = worker_pool_new("unmount", agent->to_loop, &unmounters,
				    &agent->pools.unmounters);
	if (r >= 0) {
		worker_pool_on_hang(agent->pools.workers, hung_threads_report, NULL);
		worker_pool_on_hang(agent->pools.unmounters, hung_threads_report, NULL);
	}
	if (r >= 0)
		r = worker_pool_new("walker", agent->to_loop, &walkers, &agent->pools.walkers);
	return r < 0 ? failed(reterr, r, "cannot start worker threads") : 0;
}

/* ---- the tables ---- */

/* From inside a change of a table: only notes that a turn is due. */
static void request_turn(void *userdata)
{
	agent_request_turn(userdata);
}

/* The dirty set before the tables that report to it. */
static int make_tables(struct agent *agent, struct failure *reterr)
{
	int r = sd_event_add_defer(agent->event, &agent->turn, agent_on_turn, agent);

	if (r >= 0)
		r = sd_event_source_set_priority(agent->turn, PRIORITY_TURN);
	if (r >= 0)
		r = agent_open_resync(agent);
	if (r >= 0)
		r = heap_trim_new(agent->event, HEAP_QUIET_USEC, agent_release_changes, agent,
				  &agent->own.heap_trim);
	if (r >= 0)
		r = dirty_set_new(request_turn, agent, &agent->dirty);
	if (r >= 0)
		r = desired_new(agent->dirty, &agent->desired);
	if (r >= 0)
		r = actual_new(agent->dirty, &agent->actual);
	agent_fill_options(agent);
	if (r >= 0)
		r = agent_open_drivers(agent);
	if (r >= 0)
		r = agent_open_mount_waiters(agent);
	if (r >= 0)
		r = agent_open_pod_mounts(agent);
	if (r >= 0)
		r = look_up_errors_new(&agent->reporter, &agent->look_up_errors);
	if (r >= 0)
		r = agent_open_pod_conditions(agent);
	if (r >= 0)
		r = walks_new(&agent->reporter, &agent->views.copies, &agent->walks);
	if (r >= 0)
		r = agent_open_statistics(agent);
	if (r >= 0)
		r = agent_open_directory_usage(agent);
	if (r >= 0)
		r = size_limits_new(&agent->reporter, &agent->pools.statistics,
				    &agent->views.size_limits);
	if (r >= 0)
		r = volume_events_new(agent->actual, &agent->views.events);
	if (r >= 0)
		r = step_log_new(agent->actual, &agent->views.steps);
	if (r >= 0)
		r = metrics_new(&agent->views.tables, &agent->views.metrics);
	return r < 0 ? failed(reterr, r, "cannot make the tables") : 0;
}

/* While it is drained there is no store, and nothing is set up. */
static const struct object *find_object(void *userdata, const struct object_reference *reference)
{
	const struct agent *agent = userdata;

	return store_get(agent->store, reference->kind, reference->name_space, reference->name);
}

static int each_object(void *userdata, enum object_kind kind,
		       int (*visit)(const struct object *object, void *visit_userdata),
		       void *visit_userdata)
{
	const struct agent *agent = userdata;

	return store_list(agent->store, kind, NULL, visit, visit_userdata);
}

/* After the ledger, which says what was mounted. */
static int open_links(struct agent *agent, struct failure *reterr)
{
	int r = volume_links_new(agent->config->run_dir, agent->event, agent->desired,
				 agent->actual, &agent->views.links);

	return r < 0 ? failed(reterr, r, "cannot keep links by name") : 0;
}

/* Before anything is mounted, unmounted or served. */
static int wait_for_links(struct agent *agent, struct failure *reterr)
{
	volume_links_wait(agent->views.links);
	return 0;
}

static int open_holds(struct agent *agent, struct failure *reterr)
{
	return pod_holds_open(&agent->holds, reterr);
}

static void stages_after(void *userdata, const struct step *step, struct stage_list *ret)
{
	volume_links_stages(((const struct agent *) userdata)->views.links, step, ret);
}

static int make_operations(struct agent *agent, struct failure *reterr)
{
	const struct object_finder objects = { find_object, each_object, cluster_mode_is_unknown,
					       agent };
	struct operations_options options = {
		.event = agent->event,
		.host = &agent->host,
		.node_labels = &agent->config->labels,
		.actual = agent->actual,
		.objects = objects,
		.workers = agent->pools.workers,
		.unmounters = agent->pools.unmounters,
		.walkers = agent->pools.walkers,
		.back_off_first_usec = BACK_OFF_FIRST_USEC,
		.back_off_max_usec = BACK_OFF_MAX_USEC,
		.ended = agent_on_ended,
		.note = agent_note_unfinished,
		.stages_after = stages_after,
		.retry = agent_on_retry,
		.slow = agent_on_slow,
		.slow_usec = SLOW_USEC,
		.limit_usec = (uint64_t) agent->config->operation_seconds * USEC_PER_SEC,
		.userdata = agent,
	};
	int r = operations_new(&options, &agent->operations);

	desired_set_objects(agent->desired, &objects);
	if (r >= 0)
		r = unstage_calls_open(&agent->holds);
	if (r >= 0)
		r = volume_users_open(&agent->holds);
	return r < 0 ? failed(reterr, r, "cannot create the operations") : 0;
}

/* ---- what is wanted ---- */

static int note_node(const struct object *node, void *userdata)
{
	token_issuer_object_changed(userdata, node);
	return 0;
}

static int end_holds_by_status(const struct object *pod, void *userdata)
{
	pod_holds_pod_changed(&((struct agent *) userdata)->holds, pod);
	return 0;
}

static void on_synced(void *userdata, const struct object *pod)
{
	struct agent *agent = userdata;

	look_up_errors_note(agent->look_up_errors, pod);
	if (pod_conditions_resolved(agent->views.pods, pod))
		agent_request_turn(agent);
	mount_waiters_pod_changed(agent->waits, pod->meta.uid);
	agent_mark_entries(agent, pod->meta.uid);
}

static void on_renewed(void *userdata, const char *unique_name)
{
	operation_retry_now(((const struct agent *) userdata)->operations, unique_name);
}

void agent_on_sources_ready(void *userdata)
{
	struct agent *agent = userdata;
	struct actual_volume *volume;

	agent->sources_complete = true;
	log_message(LOG_INFO, "initial manifest sync complete; unmounts enabled");
	for (volume = actual_first(agent->actual); volume; volume = volume->hh.next)
		(void) dirty_add(agent->dirty, volume->unique_name);
	ephemeral_volumes_resync(agent->controllers.ephemeral);
	snapshot_schedules_resync(agent->controllers.schedules);
	volume_directories_changed(agent->controllers.directories, NULL);
	csi_controllers_resync(agent->controllers.csi);
	volumes_in_use_sources_ready(agent->controllers.volumes_in_use);
	volume_faults_check_all(agent->mounts.faults);
	size_limits_check_all(agent->views.size_limits);
	agent_request_turn(agent);
}

static int keep_events(struct agent *agent)
{
	const struct events_options options = {
		.store = agent->store,
		.node_name = agent->config->node_name,
		.event = agent->event,
		.priority = PRIORITY_STORE,
		.capacity = (size_t) agent->config->events.max,
		.age_usec = (uint64_t) agent->config->events.seconds_max * USEC_PER_SEC,
	};

	return events_new(&options, &agent->events);
}

int agent_watch_store(struct agent *agent)
{
	/* No volume is made from what comes and goes all the time. */
	unsigned int kinds = ((1U << KIND_COUNT) - 1) & ~(1U << KIND_EVENT | 1U << KIND_LEASE);

	agent->watch = store_watch_free(agent->watch);
	return store_watch_new(agent->store, kinds, store_resource_version(agent->store),
			       request_turn, agent, &agent->watch);
}

/* The messages of the store name the options, so that a refused client knows what to raise. */
static struct store *store_with_limits(struct store *store, const struct config *config)
{
	const struct store_quota quota = {
		.bytes = { [STORE_ON_DISK] = (size_t) config->objects_bytes_max.stored,
			   [STORE_IN_MEMORY] = (size_t) config->objects_bytes_max.in_memory },
		.names = { [STORE_ON_DISK] = "objects-bytes-max",
			   [STORE_IN_MEMORY] = "memory-objects-bytes-max" },
	};

	store_set_quota(store, &quota);
	return store;
}

/* The watch begins at the version that the full pass sees: nothing falls in between. */
static int open_store(struct agent *agent, struct failure *reterr)
{
	struct populator_options options = {
		.desired = agent->desired,
		.actual = agent->actual,
		.node_name = agent->config->node_name,
		.synced = on_synced,
		.renewed = on_renewed,
		.must_wait = agent_pod_must_wait,
		.explain_claim = agent_explain_claim,
		.uses = cluster_mode_uses,
		.lost = agent_resync,
		.waits_for_moves = !cluster_mode(agent),
		.userdata = agent,
	};
	int r = store_open_embedded(agent->event, TAKE_PTR(agent->own.opening), &agent->store,
				    reterr);

	if (r >= 0)
		r = store_epoch_check(&agent->holds, reterr);
	if (r < 0)
		return r;
	store_check_uids(agent->store, uid_use_check, &agent->holds);
	store_check_new(agent->store, source_paths_check, &agent->host);
	options.store = store_with_limits(agent->store, agent->config);
	r = keep_events(agent);
	if (r >= 0 && !cluster_mode(agent))
		r = own_objects_new(agent->event, agent->store, agent->config,
				    &agent->controllers.own_objects);
	if (r >= 0)
		r = populator_new(&options, &agent->populator);
	if (r >= 0)
		r = agent_open_claim_reasons(agent);
	if (r >= 0)
		r = agent_watch_store(agent);
	if (r >= 0 && !cluster_mode(agent))
		r = agent_open_claim_controllers(agent);
	if (r < 0)
		return failed(reterr, r, "cannot watch the store");
	(void) store_list(agent->store, KIND_NODE, NULL, note_node, agent->own.tokens.issuer);
	/* Before what writes at once: a write that the server does not get would be lost. */
	r = cluster_mode_open(agent, reterr);
	if (r >= 0 && cluster_mode_makes_volumes(agent))
		r = agent_open_directories(agent, reterr);
	if (r >= 0 && !cluster_mode(agent))
		r = agent_open_csi_controllers(agent, reterr);
	if (r >= 0)
		r = agent_open_volumes_in_use(agent, reterr);
	if (r < 0)
		return r;
	(void) store_list(agent->store, KIND_POD, NULL, end_holds_by_status, agent);
	populator_full_pass(agent->populator, monotonic_usec());
	return 0;
}

static int open_manifests(struct agent *agent, struct failure *reterr)
{
	struct manifest_source_options options = {
		.directory = agent->config->manifest_dir,
		.node_name = agent->config->node_name,
		.run_dir = agent->config->run_dir,
		.settle_usec = MANIFEST_SETTLE_USEC,
		.ready = agent_on_sources_ready,
		.record = agent_record_event,
		.userdata = agent,
	};

	return manifest_source_new(agent->event, agent->store, &options, &agent->manifests, reterr);
}

/* Last, because objects that are read are acted upon at once. */
static int open_sources(struct agent *agent, struct failure *reterr)
{
	int r;

	if (config_has_no_store(agent->config)) {
		agent->sources_complete = true; /* nothing is wanted: all managed volumes go */
		return 0;
	}
	r = open_store(agent, reterr);
	if (r < 0 || cluster_mode(agent))
		return r;
	return open_manifests(agent, reterr);
}

/* After the sources: drivers tell the store who they are. */
static int watch_drivers(struct agent *agent, struct failure *reterr)
{
	return drivers_start(agent->drivers, agent->store, reterr);
}

/* In this order: each box may use those before it. agent_free() copes with a half-built agent. */
int agent_new(sd_event *event, const struct config *config, struct agent **ret,
	      struct failure *reterr)
{
	static int (*const boxes[])(struct agent * agent, struct failure * reterr) = {
		make_own_directories,
		open_root,
		lock_own_directories,
		begin_store,
		start_pools,
		make_tables,
		agent_open_tokens,
		agent_open_ledger,
		open_holds,
		open_links,
		make_operations,
		agent_open_drift,
		open_sources,
		wait_for_links,
		lock_databases,
		watch_drivers,
		agent_open_volume_faults,
		agent_end_hand_back,
	};
	struct agent *agent = calloc(1, sizeof(*agent));
	int r = 0;

	assert(event && config);
	if (!agent)
		return failed(reterr, -ENOMEM, "cannot start");
	agent->event = event;
	agent->config = config;
	agent->root.fd = agent->root.directory_fd = -EBADF;
	for (size_t i = 0; i < ARRAY_SIZE(boxes) && r >= 0; i++)
		r = boxes[i](agent, reterr);
	if (r < 0) {
		agent_free(agent);
		return r;
	}
	agent_request_turn(agent);
	*ret = agent;
	return 0;
}

/* In reverse, but threads end, and their last results are reported, before what hears of them. */
struct agent *agent_free(struct agent *agent)
{
	if (!agent)
		return NULL;
	agent->manifests = manifest_source_free(agent->manifests);
	cluster_stop(agent->cluster);
	drivers_stop(agent->drivers);
	agent->controllers.csi = csi_controllers_free(agent->controllers.csi);
	operations_stop(agent->operations);
	agent->pools.workers = worker_pool_free(agent->pools.workers);
	agent->pools.unmounters = worker_pool_free(agent->pools.unmounters);
	agent->pools.walkers = worker_pool_free(agent->pools.walkers);
	agent->cluster = cluster_free(agent->cluster);
	statistics_stop(agent->views.statistics);
	agent->pools.statistics = NULL; /* nothing more is counted */
	volume_directories_stop(agent->controllers.directories);
	agent->to_loop = worker_return_free(agent->to_loop);
	agent->views.directory_usage = directory_usage_free(agent->views.directory_usage);
	statistics_free(agent->views.statistics);
	agent->views.size_limits = size_limits_free(agent->views.size_limits);
	mount_waiters_free(agent->waits);
	subpaths_free(agent->pod_mounts.subpaths);
	agent->mounts.drift = drift_free(agent->mounts.drift);
	agent->mounts.faults = volume_faults_free(agent->mounts.faults);
	sd_event_source_disable_unref(agent->holds.removals);
	unstage_gate_free(agent->holds.gate);
	busy_watch_free(agent->holds.users);
	server_probes_free(agent->holds.probes);
	operations_free(agent->operations);
	volume_directories_free(agent->controllers.directories);
	agent->drivers = drivers_free(agent->drivers);
	agent->host.csi_drivers = NULL;
	agent->controllers.volumes_in_use = volumes_in_use_free(agent->controllers.volumes_in_use);
	agent_close_claim_controllers(agent);
	store_watch_free(agent->watch);
	claim_reasons_free(agent->controllers.claim_reasons);
	populator_free(agent->populator);
	agent->controllers.own_objects = own_objects_free(agent->controllers.own_objects);
	agent->events = events_free(agent->events);
	store_epoch_note(&agent->holds);
	store_free(agent->store);
	agent->own.opening = store_open_cancel(agent->own.opening);
	if (agent->ledger)
		(void) ledger_commit(agent->ledger, NULL);
	ledger_free(agent->ledger);
	agent->takeover = takeover_free(agent->takeover);
	agent->foreign_volumes = foreign_volumes_free(agent->foreign_volumes);
	hold_watch_free(agent->holds.watch);
	holds_free(agent->holds.table);
	look_up_errors_free(agent->look_up_errors);
	walks_free(agent->walks);
	agent_close_views(agent);
	plan_done(&agent->plan);
	actual_free(agent->actual);
	desired_free(agent->desired);
	dirty_set_free(agent->dirty);
	sd_event_source_disable_unref(agent->own.resync);
	agent->own.heap_trim = heap_trim_free(agent->own.heap_trim);
	sd_event_source_disable_unref(agent->turn);
	agent_close_tokens(agent);
	mount_table_free(agent->mounts.table);
	(void) idmap_cache_free(agent->host.idmaps);
	(void) payload_cache_free(agent->host.payloads);
	(void) way_memory_free(agent->host.own.asked.memory);
	own_locks_done(&agent->own.locks);
	mount_root_done(&agent->root);
	free(agent->own.store_dir);
	free(agent);
	return NULL;
}

struct store *agent_store(struct agent *agent)
{
	return agent->store;
}

bool agent_is_ready(const struct agent *agent)
{
	return agent->sources_complete;
}

void agent_report_ready(struct agent *agent, void (*report)(void *userdata), void *userdata)
{
	assert(!agent->sources_complete);
	agent->notify.ready = report;
	agent->notify.userdata = userdata;
}
