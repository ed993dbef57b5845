/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_world - an agent with real tables and a real ledger; see agent_world.h
 *
 * Its operations never run: a submitted step stays as it is until the test says how it ended.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "fake_events.h"
#include "tests/unit/state/ledger_directory.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct agent_world *world; /* of the running test, for the functions that are wrapped */

int __wrap_operation_may_start(struct operations *operations, const struct step *step,
			       uint64_t now_usec);
int __wrap_operation_submit(struct operations *operations, const struct step *step,
			    uint64_t now_usec);
void __wrap_operation_cancel(struct operations *operations, const char *unique_name,
			     const char *pod_uid);
void __wrap_operation_retry_later(struct operations *operations, const char *unique_name,
				  uint64_t now_usec);
bool __wrap_operation_find(struct operations *operations, const char *unique_name,
			   const char *pod_uid, struct operation_view *ret);
bool __wrap_operation_in_way(struct operations *operations, const char *unique_name,
			     const char *pod_uid, struct operation_view *ret);
int __wrap_operation_walk(struct operations *operations,
			  int (*visit)(const struct operation_view *view, void *userdata),
			  void *userdata);
int __real_ledger_commit(struct ledger *ledger, struct failure *reterr);
bool __wrap_unstage_gate_passes(void *gate, const struct step *step);
void __wrap_unstage_gate_search(struct unstage_gate *gate);
bool __wrap_unstage_gate_check(const struct unstage_gate *gate, const char *unique_name,
			       const char *pod_uid, struct unstage_view *ret);
int __wrap_unstage_gate_walk(const struct unstage_gate *gate,
			     int (*visit)(const struct unstage_view *view, void *userdata),
			     void *userdata);
int __wrap_busy_watch_new(const struct busy_watch_options *options, struct busy_watch **ret);
void __wrap_busy_watch_failed(struct busy_watch *watch, const struct busy_teardown *teardown);
void __wrap_busy_watch_search(struct busy_watch *watch);
void __wrap_busy_watch_over(struct busy_watch *watch, const char *unique_name, const char *pod_uid);
bool __wrap_busy_watch_check(const struct busy_watch *watch, const char *unique_name,
			     const char *pod_uid, struct busy_view *ret);
int __wrap_ledger_commit(struct ledger *ledger, struct failure *reterr);
int __wrap_mount_root_undo(struct mount_root *root, struct failure *reterr);

__attribute__((format(printf, 1, 2))) static void write_down(const char *format, ...)
{
	size_t used = strlen(world->calls);
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(world->calls + used, sizeof(world->calls) - used, format, arguments);
	va_end(arguments);
}

static int count_row(const struct ledger_row *row, void *userdata)
{
	++*(unsigned int *) userdata;
	return 0;
}

static const char *kind_name(enum step_kind kind)
{
	static const char *const names[STEP_KIND_COUNT] = {
		[STEP_UNPUBLISH] = "unpublish", [STEP_STAGE] = "stage",
		[STEP_PUBLISH] = "publish",     [STEP_UNSTAGE] = "unstage",
		[STEP_FORGET] = "forget",
	};

	return names[kind];
}

int __wrap_operation_may_start(struct operations *operations, const struct step *step,
			       uint64_t now_usec)
{
	return world->may_start;
}

/* "submit:publish(1)": with so many rows in the ledger, on disk. */
int __wrap_operation_submit(struct operations *operations, const struct step *step,
			    uint64_t now_usec)
{
	unsigned int rows = 0;

	assert_int_equal(ledger_walk(world->agent.ledger, count_row, &rows), 0);
	write_down("submit:%s(%u) ", kind_name(step->kind), rows);
	return world->submitted;
}

void __wrap_operation_cancel(struct operations *operations, const char *unique_name,
			     const char *pod_uid)
{
	write_down("cancel:%s:%s ", unique_name, pod_uid ?: "-");
}

void __wrap_operation_retry_later(struct operations *operations, const char *unique_name,
				  uint64_t now_usec)
{
	write_down("later:%s ", unique_name);
}

bool __wrap_operation_find(struct operations *operations, const char *unique_name,
			   const char *pod_uid, struct operation_view *ret)
{
	for (size_t i = 0; i < world->view_count; i++)
		if (strcmp(world->views[i].unique_name, unique_name) == 0 &&
		    strcmp(world->views[i].pod_uid, pod_uid) == 0) {
			*ret = world->views[i];
			return true;
		}
	return false;
}

bool __wrap_operation_in_way(struct operations *operations, const char *unique_name,
			     const char *pod_uid, struct operation_view *ret)
{
	for (size_t i = 0; i < world->view_count; i++)
		if (strcmp(world->views[i].unique_name, unique_name) == 0 &&
		    world->views[i].running) {
			*ret = world->views[i];
			return true;
		}
	return false;
}

int __wrap_operation_walk(struct operations *operations,
			  int (*visit)(const struct operation_view *view, void *userdata),
			  void *userdata)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < world->view_count; i++)
		r = visit(&world->views[i], userdata);
	return r;
}

bool __wrap_unstage_gate_passes(void *gate, const struct step *step)
{
	bool passes = !world->held_back || step->kind != STEP_UNSTAGE;

	if (!passes)
		write_down("held:%s ", kind_name(step->kind));
	return passes;
}

void __wrap_unstage_gate_search(struct unstage_gate *gate)
{
}

bool __wrap_unstage_gate_check(const struct unstage_gate *gate, const char *unique_name,
			       const char *pod_uid, struct unstage_view *ret)
{
	if (world->held_back)
		*ret = *world->held_back;
	return world->held_back != NULL;
}

int __wrap_unstage_gate_walk(const struct unstage_gate *gate,
			     int (*visit)(const struct unstage_view *view, void *userdata),
			     void *userdata)
{
	return world->held_back ? visit(world->held_back, userdata) : 0;
}

/* What the agent would hear from it: world->users_options. */
int __wrap_busy_watch_new(const struct busy_watch_options *options, struct busy_watch **ret)
{
	world->users_options = *options;
	*ret = NULL;
	return 0;
}

void __wrap_busy_watch_failed(struct busy_watch *watch, const struct busy_teardown *teardown)
{
	write_down("busy:%s:%s:%s:%s ", teardown->unique_name, teardown->pod_uid,
		   teardown->mount_point, teardown->folder ?: "-");
}

void __wrap_busy_watch_search(struct busy_watch *watch)
{
}

void __wrap_busy_watch_over(struct busy_watch *watch, const char *unique_name, const char *pod_uid)
{
	world->users = NULL;
}

bool __wrap_busy_watch_check(const struct busy_watch *watch, const char *unique_name,
			     const char *pod_uid, struct busy_view *ret)
{
	if (!world->users || strcmp(world->users->pod_uid, pod_uid) != 0)
		return false;
	*ret = *world->users;
	return true;
}

int __wrap_ledger_commit(struct ledger *ledger, struct failure *reterr)
{
	write_down("commit ");
	if (world->commit_error < 0)
		return failed(reterr, world->commit_error, "cannot write the ledger");
	return __real_ledger_commit(ledger, reterr);
}

int __wrap_mount_root_undo(struct mount_root *root, struct failure *reterr)
{
	write_down("undo ");
	return 0;
}

static char *get_path(const struct volume_request *request)
{
	return strdup("/pods/uid-1/data");
}

int new_agent_world(void **state)
{
	struct agent *agent;

	world = calloc(1, sizeof(*world));
	assert_non_null(world);
	agent = &world->agent;
	fake_pod_init(&world->pod, "web", POD);
	world->pod.volume.medium = "";
	fake_pv_init(&world->pv, "pv", ACCESS_READ_WRITE_ONCE);
	world->plugin = (struct volume_plugin){ .name = "example.com/fake", .get_path = get_path };
	assert_int_equal(new_directory((void **) &world->directory), 0);
	agent->ledger = open_ledger(world->directory, 0);
	agent->config = &world->config;
	agent->sources_complete = true;
	assert_return_code(sd_event_new(&agent->event), errno);
	assert_return_code(sd_event_add_defer(agent->event, &agent->turn, agent_on_turn, agent),
			   errno);
	assert_return_code(sd_event_source_set_enabled(agent->turn, SD_EVENT_OFF), errno);
	assert_int_equal(dirty_set_new(NULL, NULL, &agent->dirty), 0);
	assert_int_equal(desired_new(agent->dirty, &agent->desired), 0);
	assert_int_equal(actual_new(agent->dirty, &agent->actual), 0);
	agent_fill_options(agent);
	fake_events.count = 0;
	assert_int_equal(agent_open_mount_waiters(agent), 0);
	assert_int_equal(agent_open_pod_mounts(agent), 0);
	assert_int_equal(step_log_new(agent->actual, &agent->views.steps), 0);
	assert_int_equal(volume_events_new(agent->actual, &agent->views.events), 0);
	world->config.holds_max = 100;
	world->config.node_name = "node";
	assert_int_equal(pod_holds_open(&agent->holds, NULL), 0);
	assert_int_equal(metrics_new(&agent->views.tables, &agent->views.metrics), 0);
	*state = world;
	return 0;
}

int free_agent_world(void **state)
{
	struct agent *agent = &world->agent;

	mount_waiters_free(agent->waits);
	subpaths_free(agent->pod_mounts.subpaths);
	step_log_free(agent->views.steps);
	volume_events_free(agent->views.events);
	metrics_free(agent->views.metrics);
	plan_done(&agent->plan);
	actual_free(agent->actual);
	desired_free(agent->desired);
	dirty_set_free(agent->dirty);
	ledger_free(agent->ledger);
	hold_watch_free(agent->holds.watch);
	holds_free(agent->holds.table);
	sd_event_source_disable_unref(agent->turn);
	sd_event_unref(agent->event);
	assert_int_equal(remove_directory_tree((void **) &world->directory), 0);
	free(world);
	return 0;
}

void want(struct agent_world *this, const char *const *names, size_t count)
{
	struct volume_spec spec = { .name = "data",
				    .pod = &this->pod.object,
				    .source = &this->pod.volume };

	assert_true(desired_add(this->agent.desired, &(struct desired_want){
							     .unique_name = VOLUME,
							     .plugin = &this->plugin,
							     .spec = &spec,
							     .pod = &this->pod.object,
							     .outer_names = names,
							     .outer_name_count = count,
						     }) >= 0);
}

void want_data(struct agent_world *this)
{
	want(this, (const char *[]){ "data" }, 1);
}

void want_no_more(struct agent_world *this)
{
	desired_remove(this->agent.desired, VOLUME, POD);
}

void turn(struct agent_world *this)
{
	this->calls[0] = '\0';
	assert_int_equal(agent_on_turn(NULL, &this->agent), 0);
}

void expect_calls(const struct agent_world *this, const char *calls)
{
	assert_string_equal(this->calls, calls);
}

void end_step(struct agent_world *this, enum step_kind kind, const char *name, int error,
	      enum error_class error_class)
{
	struct stage_report report = { .failure = { error, "it broke" } };
	struct operation_ended ended = {
		.result = { .kind = kind,
			    .unique_name = VOLUME,
			    .pod_uid = kind == STEP_STAGE || kind == STEP_UNSTAGE ? NULL : POD,
			    .error = error,
			    .error_class = error_class,
			    .touched = true },
		.name = name,
		.pod = kind == STEP_PUBLISH || kind == STEP_STAGE ? &this->pod.object : NULL,
		.report = &report,
		.attempt = 1,
		.ran_usec = 1500000,
		.retry_usec = error < 0 ? monotonic_usec() + 500000 : 0,
	};

	agent_on_ended(&this->agent, &ended);
}

void expect_ledger(struct agent_world *this, const char *rows)
{
	assert_int_equal(__real_ledger_commit(this->agent.ledger, NULL), 0);
	expect_names(this->agent.ledger, rows);
}

int state_of_pod(const struct agent_world *this)
{
	const struct actual_volume *volume = actual_find(this->agent.actual, VOLUME);
	const struct actual_pod *pod = volume ? actual_find_pod(volume, POD) : NULL;

	return pod ? (int) pod->state : -1;
}
