/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_world - see drift_world.h
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "drift_world.h"

#include "drift/drift_jobs.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct drift_world drift_world;

static struct worker_job *waiting; /* in reverse */

__attribute__((format(printf, 1, 2))) static void write_down(const char *format, ...)
{
	size_t used = strlen(drift_world.diary);
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(drift_world.diary + used, sizeof(drift_world.diary) - used, format,
			 arguments);
	va_end(arguments);
}

/* ---- what stands in for threads and kernel ---- */

void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job);
void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job)
{
	job->next = waiting;
	waiting = job;
}

int __wrap_mount_watch_new(const struct mount_watch_options *options, struct mount_watch **ret,
			   struct failure *reterr);
int __wrap_mount_watch_new(const struct mount_watch_options *options, struct mount_watch **ret,
			   struct failure *reterr)
{
	drift_world.watch = *options;
	*ret = (struct mount_watch *) &drift_world;
	return 0;
}

struct mount_watch *__wrap_mount_watch_free(struct mount_watch *watch);
struct mount_watch *__wrap_mount_watch_free(struct mount_watch *watch)
{
	return NULL;
}

void __wrap_mount_watch_rearm_table(struct mount_watch *watch);
void __wrap_mount_watch_rearm_table(struct mount_watch *watch)
{
	drift_world.rearmed++;
}

bool __wrap_mount_watch_reports_ids(const struct mount_watch *watch);
bool __wrap_mount_watch_reports_ids(const struct mount_watch *watch)
{
	return drift_world.reports_ids;
}

void __wrap_mount_watch_count(const struct mount_watch *watch, struct mount_watch_counts *ret);
void __wrap_mount_watch_count(const struct mount_watch *watch, struct mount_watch_counts *ret)
{
	*ret = (struct mount_watch_counts){ .events = 7, .own = 5, .overflows = 1 };
}

int __wrap_fd_facts(int fd, struct mount_facts *ret, struct failure *reterr);
int __wrap_fd_facts(int fd, struct mount_facts *ret, struct failure *reterr)
{
	*ret = (struct mount_facts){ .mount_id = ROOT_ID, .is_mount_root = true };
	if (drift_world.root_anew_id)
		ret->mount_id = (uint64_t) drift_world.root_anew_id;
	return 0;
}

static int answer(int error, struct failure *reterr)
{
	return error < 0 ? failed(reterr, error, "the kernel refuses") : 0;
}

static int look_at(struct known_mount *known, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		known[i].fate = i == 0 ? drift_world.root_fate : drift_world.fate;
		if (known[i].fate == MOUNT_THERE && known[i].expects &&
		    known[i].attributes == drift_world.attributes)
			known[i].fate = MOUNT_SAME;
		known[i].attributes = drift_world.attributes;
	}
	return drift_world.look_error;
}

int __wrap_mount_look_at_known(struct known_mount *known, size_t count, struct failure *reterr);
int __wrap_mount_look_at_known(struct known_mount *known, size_t count, struct failure *reterr)
{
	write_down("known:%zu ", count);
	return answer(look_at(known, count), reterr);
}

static void copy_others(struct table_entries *ret)
{
	*ret = (struct table_entries){ 0 };
	for (size_t i = 0; i < drift_world.other_count; i++)
		assert_int_equal(table_entries_add(ret, table_entry_new(&drift_world.others[i])),
				 0);
}

int __wrap_mount_compare_all(struct known_mount *known, size_t count, const char *root_path,
			     uint64_t root_id, struct table_entries *ret_others,
			     struct failure *reterr);
int __wrap_mount_compare_all(struct known_mount *known, size_t count, const char *root_path,
			     uint64_t root_id, struct table_entries *ret_others,
			     struct failure *reterr)
{
	write_down("all:%zu ", count);
	assert_string_equal(root_path, "/pods");
	if (look_at(known, count) == 0)
		copy_others(ret_others);
	return answer(drift_world.look_error, reterr);
}

int __wrap_mount_compare_ids(const uint64_t *ids, size_t count, struct table_entries *ret,
			     struct failure *reterr);
int __wrap_mount_compare_ids(const uint64_t *ids, size_t count, struct table_entries *ret,
			     struct failure *reterr)
{
	write_down("ids:%zu ", count);
	copy_others(ret);
	return 0;
}

int __wrap_place_open(int root_fd, const char *root_path, const char *path, struct place *ret,
		      struct failure *reterr);
int __wrap_place_open(int root_fd, const char *root_path, const char *path, struct place *ret,
		      struct failure *reterr)
{
	assert_string_equal(path, "uid-1/data");
	*ret = (struct place){ .parent_fd = -EBADF };
	return 0;
}

int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr);
int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr)
{
	*ret = (struct mount_facts){ .mount_id = drift_world.top[drift_world.top_at] };
	return 0;
}

int __wrap_unmount_place(const struct place *place, int flags, struct failure *reterr);
int __wrap_unmount_place(const struct place *place, int flags, struct failure *reterr)
{
	assert_int_equal(flags, 0);
	write_down("unmount:%llu ", (unsigned long long) drift_world.top[drift_world.top_at++]);
	return 0;
}

int __wrap_mount_set_back(const struct place *place, uint64_t mount_id, uint64_t attributes,
			  struct failure *reterr);
int __wrap_mount_set_back(const struct place *place, uint64_t mount_id, uint64_t attributes,
			  struct failure *reterr)
{
	write_down("set-back:%llu:%llx ", (unsigned long long) mount_id,
		   (unsigned long long) attributes);
	return answer(drift_world.set_back_error, reterr);
}

int __wrap_mount_root_renew(struct mount_root *root, struct failure *reterr);
int __wrap_mount_root_renew(struct mount_root *root, struct failure *reterr)
{
	write_down("root ");
	return answer(drift_world.root_error, reterr);
}

/* ---- driving ---- */

static void run_waiting(void)
{
	while (waiting) {
		const struct drift *drift = drift_world.world->agent.mounts.drift;
		const struct drift_job *check = drift ? drift->jobs->check : NULL;
		struct worker_job *job = waiting;

		waiting = job->next;
		job->run(job);
		if (check && job == &check->job)
			drift_world.returned = check->known_count;
		job->done(job);
	}
}

/* A look that follows another waits for a moment. Turns are the test's own business. */
void run_jobs(void)
{
	struct agent *agent = &drift_world.world->agent;

	run_waiting();
	while (agent->mounts.drift && agent->mounts.drift->jobs->wanted != CHECK_NONE) {
		(void) sd_event_source_set_enabled(agent->turn, SD_EVENT_OFF);
		assert_true(sd_event_run(agent->event, 1000000) >= 0);
		run_waiting();
	}
}

static void report_event(uint64_t mount_id, bool is_attached, bool is_detached)
{
	struct mount_change change = { mount_id, is_attached, is_detached, SOMEBODY };

	drift_world.watch.changed(drift_world.watch.userdata, &change, 1);
}

void attached(uint64_t mount_id)
{
	report_event(mount_id, true, false);
}

void detached(uint64_t mount_id)
{
	report_event(mount_id, false, true);
}

void moved(uint64_t mount_id)
{
	report_event(mount_id, true, true);
}

void attached_and_detached(uint64_t mount_id)
{
	const struct mount_change changes[] = { { mount_id, true, false, SOMEBODY },
						{ mount_id, false, true, SOMEBODY } };

	drift_world.watch.changed(drift_world.watch.userdata, changes, ARRAY_SIZE(changes));
}

void mounted_as(uint64_t mount_id)
{
	struct stage_report report = { .failure = { .error = 0 } };
	struct operation_ended ended = {
		.result = { .kind = STEP_PUBLISH,
			    .unique_name = VOLUME,
			    .pod_uid = POD,
			    .touched = true,
			    .mount_id = mount_id },
		.name = "volume_mount",
		.pod = &drift_world.world->pod.object,
		.report = &report,
		.attempt = 1,
	};

	agent_on_ended(&drift_world.world->agent, &ended);
}

void other_mounted_as(uint64_t mount_id)
{
	const struct actual_entry entry = { .unique_name = "other",
					    .pod_uid = "uid-2",
					    .pod_key = "default/other",
					    .outer_name = "other",
					    .path = OTHER_PATH,
					    .plugin_name = "example.com/fake",
					    .plugin = &drift_world.world->plugin,
					    .spec_name = "other" };
	const struct step_result result = { .kind = STEP_PUBLISH,
					    .unique_name = "other",
					    .pod_uid = "uid-2",
					    .mount_id = mount_id };

	assert_int_equal(actual_begin(drift_world.world->agent.actual, &entry), 0);
	actual_apply(drift_world.world->agent.actual, &result);
	drift_step_ended(drift_world.drift, &(struct operation_ended){ .result = result });
}

void add_other(uint64_t mount_id, const char *mount_point, const char *root)
{
	assert_true(drift_world.other_count < OTHERS_MAX);
	drift_world.others[drift_world.other_count++] = (struct mount_entry){
		.mount_id = mount_id,
		.device = 8,
		.root = root,
		.mount_point = mount_point,
		.type = "ext4",
		.source = "/dev/sda",
		.options = "rw",
	};
}

void expect_event(const char *reason, const char *word)
{
	const struct fake_event *event;

	assert_true(fake_events.count > 0);
	event = &fake_events.list[fake_events.count - 1];
	assert_string_equal(event->reason, reason);
	if (!strstr(event->text, word))
		fail_msg("'%s' is not in '%s'", word, event->text);
}

/* ---- fixtures ---- */

static struct agent *set_up(void **state)
{
	struct agent *agent;

	assert_int_equal(new_agent_world(state), 0);
	drift_world = (struct drift_world){
		.world = *state, .reports_ids = true, .fate = MOUNT_THERE, .root_fate = MOUNT_THERE
	};
	agent = &drift_world.world->agent;
	agent->root.path = "/pods";
	agent->root.fd = open("/", O_PATH | O_CLOEXEC);
	agent->pools.workers = (struct worker_pool *) &drift_world; /* nothing runs on it */
	drift_world.world->config.drift.heals = true;
	waiting = NULL;
	return agent;
}

static void open_drift(struct agent *agent)
{
	assert_int_equal(agent_open_drift(agent, NULL), 0);
	drift_world.drift = agent->mounts.drift;
}

static void forget_what_was(void)
{
	drift_world.diary[0] = '\0';
	fake_events.count = 0;
}

int set_up_mounted(void **state)
{
	struct agent *agent = set_up(state);

	open_drift(agent);
	run_jobs();
	want_data(drift_world.world);
	turn(drift_world.world);
	mounted_as(MANAGED);
	turn(drift_world.world);
	forget_what_was();
	return 0;
}

int set_up_restarted(void **state)
{
	struct agent *agent = set_up(state);
	struct actual_entry entry = { .unique_name = VOLUME,
				      .plugin_name = "example.com/fake",
				      .plugin = &drift_world.world->plugin,
				      .spec_name = "data",
				      .pod_uid = POD,
				      .pod_key = "default/web",
				      .outer_name = "data",
				      .path = PATH };

	assert_int_equal(actual_add_rebuilt(agent->actual, &entry, MOUNT_ABSENT, "", ""), 0);
	open_drift(agent);
	forget_what_was();
	return 0;
}

int tear_down_drift(void **state)
{
	struct agent *agent = &drift_world.world->agent;

	agent->mounts.drift = drift_free(agent->mounts.drift);
	run_jobs(); /* what a stuck thread brings back late */
	(void) close(agent->root.fd);
	return free_agent_world(state);
}
