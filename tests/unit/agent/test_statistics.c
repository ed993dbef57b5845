/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_statistics - how full volumes are: numbers, errors, and a file system that hangs
 *
 * statfs() is the test's: a path with "hung" in it returns when the test lets it. So is the clock
 * that says how long something took; the end of a call's time is called, not waited for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "object/json/json.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>

enum { TURNS_MAX = 20000, TURN_USEC = 5000 }; /* a hundred seconds */

int __wrap_statfs(const char *path, struct statfs *ret);
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __real_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);

static atomic_uint asked, asked_hung;
static sem_t release;
static time_t later_seconds; /* the clock goes ahead by so much */

static void (*real_done)(struct worker_job *job);
static unsigned int taken; /* answers that came back to the loop */

void __real_worker_submit(struct worker_pool *pool, struct worker_job *job);
void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job);

static struct {
	sd_event_time_handler_t callback;
	void *userdata;
} time_up;

int __wrap_statfs(const char *path, struct statfs *ret)
{
	atomic_fetch_add(&asked, 1);
	if (strstr(path, "hung")) {
		atomic_fetch_add(&asked_hung, 1);
		while (sem_wait(&release) < 0)
			;
	}
	if (strstr(path, "gone")) {
		errno = ENOENT;
		return -1;
	}
	*ret = (struct statfs){ .f_bsize = 65536,
				.f_frsize = 4096,
				.f_blocks = 1000,
				.f_bfree = 400,
				.f_bavail = 300,
				.f_files = 50,
				.f_ffree = 20 };
	return 0;
}

static void take(struct worker_job *job)
{
	taken++;
	real_done(job);
}

void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job)
{
	if (job->done != take)
		real_done = job->done;
	job->done = take;
	__real_worker_submit(pool, job);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);

	ret->tv_sec += later_seconds;
	return r;
}

/* What is due now is due now; what is due later is due when the test says so. */
int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata)
{
	if (usec <= monotonic_usec())
		return __real_sd_event_add_time(event, ret, clock, 0, accuracy, callback, userdata);
	time_up.callback = callback;
	time_up.userdata = userdata;
	return __real_sd_event_add_time(event, ret, clock, UINT64_MAX, accuracy, callback,
					userdata);
}

/* ---- one question ---- */

struct answer {
	struct statistics_call *call;
	struct cJSON *tree;
	unsigned int count;
};

static void on_answer(void *userdata, struct cJSON *tree)
{
	struct answer *answer = userdata;

	answer->tree = tree;
	answer->count++;
}

static void ask(struct agent_world *world, struct answer *ret)
{
	*ret = (struct answer){ 0 };
	assert_int_equal(agent_statistics(&world->agent,
					  &(struct statistics_about){ .pod_uid = NULL }, on_answer,
					  ret, &ret->call),
			 0);
	assert_int_equal(ret->count, 0); /* never before it returned */
}

static void turn_until(struct agent_world *world, const unsigned int *count)
{
	for (int i = 0; i < TURNS_MAX && *count == 0; i++)
		assert_true(sd_event_run(world->agent.event, TURN_USEC) >= 0);
	assert_int_equal(*count, 1);
}

static const struct cJSON *item_of(const struct answer *answer, const char *volume)
{
	const struct cJSON *item = json_first(json_get(answer->tree, "items"));

	for (; item; item = json_next(item))
		if (strcmp(json_string(json_get(item, "volume"), ""), volume) == 0)
			return item;
	fail_msg("no item for %s", volume);
	return NULL;
}

static void expect_number(const struct answer *answer, const char *volume, const char *key,
			  int64_t wanted)
{
	int64_t number = -1;

	assert_true(json_int64(json_get(item_of(answer, volume), key), &number));
	assert_int_equal(number, wanted);
}

static const char *error_of(const struct answer *answer, const char *volume)
{
	return json_string(json_get(item_of(answer, volume), "error"), "");
}

/* A volume that is mounted, under a path of its name. */
static void mount_at(struct agent_world *world, const char *name, const char *path, bool block)
{
	const struct actual_entry entry = { .unique_name = name,
					    .plugin_name = "example.com/fake",
					    .plugin = &world->plugin,
					    .spec_name = name,
					    .block = block,
					    .pod_uid = POD,
					    .pod_key = "default/web",
					    .outer_name = name,
					    .path = path };
	const struct step_result result = { .kind = STEP_PUBLISH,
					    .unique_name = name,
					    .pod_uid = POD };

	assert_int_equal(actual_begin(world->agent.actual, &entry), 0);
	actual_apply(world->agent.actual, &result);
}

static int set_up(void **state)
{
	struct agent_world *world;

	atomic_store(&asked, 0);
	atomic_store(&asked_hung, 0);
	taken = 0;
	later_seconds = 0;
	assert_int_equal(sem_init(&release, 0, 0), 0);
	assert_int_equal(new_agent_world(state), 0);
	world = *state;
	assert_int_equal(worker_return_new(world->agent.event, 0, &world->agent.to_loop), 0);
	assert_int_equal(agent_open_statistics(&world->agent), 0);
	return 0;
}

static int tear_down(void **state)
{
	struct agent_world *world = *state;

	statistics_stop(world->agent.views.statistics);
	world->agent.to_loop = worker_return_free(world->agent.to_loop);
	(void) statistics_free(world->agent.views.statistics);
	assert_int_equal(sem_destroy(&release), 0);
	return free_agent_world(state);
}

static void test_numbers(void **state)
{
	struct agent_world *world = *state;
	struct answer answer;

	mount_at(world, "data", "/data", false);
	ask(world, &answer);
	turn_until(world, &answer.count);
	assert_int_equal(json_count(json_get(answer.tree, "items")), 1);
	expect_number(&answer, "data", "capacityBytes", 4096000);
	expect_number(&answer, "data", "usedBytes", 2457600);
	expect_number(&answer, "data", "availableBytes", 1228800);
	expect_number(&answer, "data", "inodes", 50);
	expect_number(&answer, "data", "inodesUsed", 30);
	expect_number(&answer, "data", "inodesFree", 20);
	assert_string_equal(error_of(&answer, "data"), "");
	json_free(answer.tree);
}

static struct {
	struct volume_metrics_call call;
	volume_metrics_fn *done;
	void *userdata;
	/* What it answers with lives as long as it does, as a driver's. */
	struct volume_metrics metrics;
	struct failure failure;
	unsigned int freed;
} plugin_call;

static void free_plugin_call(struct volume_metrics_call *call)
{
	assert_ptr_equal(call, &plugin_call.call);
	plugin_call.metrics = (struct volume_metrics){ 0 };
	plugin_call.failure = (struct failure){ 0 };
	plugin_call.freed++;
}

static int start_metrics(const struct volume_request *request, const char *path,
			 volume_metrics_fn *done, void *userdata, struct volume_metrics_call **ret)
{
	assert_string_equal(request->unique_name, "data");
	assert_string_equal(path, "/data");
	plugin_call.call.free = free_plugin_call;
	plugin_call.done = done;
	plugin_call.userdata = userdata;
	*ret = &plugin_call.call;
	return 0;
}

static void test_plugin_is_asked_first(void **state)
{
	struct agent_world *world = *state;
	struct answer answer;

	plugin_call.freed = 0;
	world->plugin.start_metrics = start_metrics;
	mount_at(world, "data", "/data", false);
	ask(world, &answer);
	plugin_call.metrics = (struct volume_metrics){ .capacity = 7,
						       .has_condition = true,
						       .condition = "well" };
	plugin_call.done(plugin_call.userdata, &plugin_call.metrics, NULL);
	assert_int_equal(answer.count, 1);
	assert_int_equal(plugin_call.freed, 1);
	assert_int_equal(atomic_load(&asked), 0);
	expect_number(&answer, "data", "capacityBytes", 7);
	assert_string_equal(json_string(json_get(item_of(&answer, "data"), "condition"), ""),
			    "well");
	json_free(answer.tree);

	ask(world, &answer);
	plugin_call.failure.error = -EOPNOTSUPP;
	plugin_call.done(plugin_call.userdata, &plugin_call.metrics, &plugin_call.failure);
	turn_until(world, &answer.count);
	assert_int_equal(plugin_call.freed, 2);
	expect_number(&answer, "data", "capacityBytes", 4096000); /* the file system's */
	json_free(answer.tree);
}

static int asked_result;

static int ask_metrics(const struct volume_request *request, struct volume_metrics *ret,
		       struct failure *reterr)
{
	assert_string_equal(request->unique_name, "data");
	assert_non_null(request->pod_uid);
	*ret = (struct volume_metrics){ .capacity = 9, .used = 4, .inodes = 3, .inodes_free = 1 };
	return asked_result < 0 ? failed_plain(reterr, asked_result, "it is broken") : 0;
}

static void test_plugin_is_asked_on_a_thread(void **state)
{
	static const struct {
		int result;
		int64_t capacity;
		const char *error;
	} rows[] = { { 0, 9, "" }, { -EOPNOTSUPP, 4096000, "" }, { -EIO, -1, "it is broken" } };
	struct agent_world *world = *state;
	struct answer answer;

	world->plugin.ask_metrics = ask_metrics;
	mount_at(world, "data", "/data", false);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		asked_result = rows[i].result;
		ask(world, &answer);
		turn_until(world, &answer.count);
		if (rows[i].capacity >= 0)
			expect_number(&answer, "data", "capacityBytes", rows[i].capacity);
		assert_string_equal(json_string(json_get(item_of(&answer, "data"), "error"), ""),
				    rows[i].error);
		json_free(answer.tree);
	}
}

static void test_errors_stay_with_their_volume(void **state)
{
	struct agent_world *world = *state;
	struct answer answer;

	mount_at(world, "data", "/data", false);
	mount_at(world, "lost", "/gone", false);
	mount_at(world, "disk", "/dev/null", true); /* no block device has no size */
	ask(world, &answer);
	turn_until(world, &answer.count);
	expect_number(&answer, "data", "inodes", 50);
	assert_string_equal(error_of(&answer, "lost"), "No such file or directory");
	assert_string_equal(error_of(&answer, "disk"), "Inappropriate ioctl for device");
	assert_null(json_get(item_of(&answer, "lost"), "capacityBytes"));
	json_free(answer.tree);
}

static void test_nothing_is_mounted(void **state)
{
	struct agent_world *world = *state;
	struct answer answer;

	want_data(world); /* wanted is not mounted */
	ask(world, &answer);
	turn_until(world, &answer.count);
	assert_int_equal(json_count(json_get(answer.tree, "items")), 0);
	assert_int_equal(atomic_load(&asked), 0);
	json_free(answer.tree);
}

/* Waits until the threads have asked so often. */
static void await_asked(struct agent_world *world, const atomic_uint *counter, unsigned int count)
{
	for (int i = 0; i < TURNS_MAX && atomic_load(counter) < count; i++)
		assert_true(sd_event_run(world->agent.event, TURN_USEC) >= 0);
	assert_int_equal(atomic_load(counter), count);
}

static void let_go(struct agent_world *world, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		assert_int_equal(sem_post(&release), 0);
}

static void test_one_that_hangs_delays_nobody(void **state)
{
	struct agent_world *world = *state;
	struct answer first, second;

	mount_at(world, "stuck", "/hung", false);
	mount_at(world, "data", "/data", false);
	ask(world, &first);
	await_asked(world, &asked, 2);
	turn_until(world, &taken); /* that of "data" */
	assert_int_equal(first.count, 0);
	later_seconds = 3;
	assert_int_equal(time_up.callback(NULL, 0, time_up.userdata), 0);
	assert_int_equal(first.count, 1);
	assert_int_equal(strncmp(error_of(&first, "stuck"), "no answer for 3", 15), 0);
	assert_string_equal(error_of(&first, "data"), "");
	json_free(first.tree);

	/* The next caller is answered at once, and does not ask again. */
	ask(world, &second);
	turn_until(world, &second.count);
	assert_int_equal(strncmp(error_of(&second, "stuck"), "no answer for 3", 15), 0);
	expect_number(&second, "data", "inodes", 50);
	json_free(second.tree);
	assert_int_equal(atomic_load(&asked_hung), 1);
	let_go(world, 1);
}

static void test_one_that_came_back_is_asked_again(void **state)
{
	struct agent_world *world = *state;
	struct answer first, second;

	mount_at(world, "slow", "/hung", false);
	ask(world, &first);
	await_asked(world, &asked_hung, 1);
	let_go(world, 1);
	turn_until(world, &first.count);
	expect_number(&first, "slow", "inodes", 50);
	json_free(first.tree);

	ask(world, &second);
	await_asked(world, &asked_hung, 2);
	let_go(world, 1);
	turn_until(world, &second.count);
	json_free(second.tree);
}

static void test_callers_share_an_answer(void **state)
{
	struct agent_world *world = *state;
	struct answer first, second;

	mount_at(world, "slow", "/hung", false);
	ask(world, &first);
	ask(world, &second);
	await_asked(world, &asked_hung, 1);
	let_go(world, 1);
	turn_until(world, &first.count);
	turn_until(world, &second.count);
	assert_true(json_equal(first.tree, second.tree));
	assert_int_equal(atomic_load(&asked_hung), 1);
	json_free(first.tree);
	json_free(second.tree);
}

/* Each holds a list of all volumes until the one that hangs is given up. */
static void test_callers_are_bounded(void **state)
{
	enum { MANY = 1000 };
	static struct answer answers[MANY];
	struct agent_world *world = *state;
	size_t count = 0;
	int r = 0;

	mount_at(world, "slow", "/hung", false);
	while (count < MANY && r == 0) {
		answers[count] = (struct answer){ 0 };
		r = agent_statistics(&world->agent, &(struct statistics_about){ .pod_uid = NULL },
				     on_answer, &answers[count], &answers[count].call);
		count += r == 0;
	}
	assert_int_equal(r, -ENOBUFS);
	await_asked(world, &asked_hung, 1);
	let_go(world, 1);
	turn_until(world, &answers[0].count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(answers[i].count, 1);
		json_free(answers[i].tree);
	}
	ask(world, &answers[0]);
	statistics_cancel(answers[0].call);
	await_asked(world, &asked_hung, 2);
	let_go(world, 1);
}

static void test_caller_leaves(void **state)
{
	struct agent_world *world = *state;
	struct answer leaver, stayer;

	mount_at(world, "slow", "/hung", false);
	ask(world, &leaver);
	ask(world, &stayer);
	statistics_cancel(leaver.call);
	await_asked(world, &asked_hung, 1);
	let_go(world, 1);
	turn_until(world, &stayer.count);
	assert_int_equal(leaver.count, 0);
	json_free(stayer.tree);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_numbers),
		TEST(test_plugin_is_asked_first),
		TEST(test_plugin_is_asked_on_a_thread),
		TEST(test_errors_stay_with_their_volume),
		TEST(test_nothing_is_mounted),
		TEST(test_one_that_hangs_delays_nobody),
		TEST(test_one_that_came_back_is_asked_again),
		TEST(test_callers_share_an_answer),
		TEST(test_callers_are_bounded),
		TEST(test_caller_leaves),
	};

	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
