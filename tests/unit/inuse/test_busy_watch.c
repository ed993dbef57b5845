/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_busy_watch - when busy volumes are searched for, what is reported, and who is waited for
 *
 * The search is made up and runs on a real worker, the processes are real. Real searches:
 * tests/root/mount/test_busy_holders.c and tests/system/inuse/test_busy.
 */
#include "inuse/busy_watch.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

int __wrap_busy_holders_search(struct busy_query *queries, size_t count,
			       const atomic_bool *cancelled, struct failure *reterr);

enum { TURNS_MAX = 100 };

/* What the searches find, and what they were asked; written and read while none runs. */
static struct {
	pid_t users[2]; /* 0: none */
	int result;
	bool until_cancelled;
	unsigned int searches;
	size_t asked;
	char name[BUSY_NAME_BYTES];
	char mount_point[64], folder[64];
} made_up;

int __wrap_busy_holders_search(struct busy_query *queries, size_t count,
			       const atomic_bool *cancelled, struct failure *reterr)
{
	made_up.searches++;
	made_up.asked += count;
	(void) snprintf(made_up.mount_point, sizeof(made_up.mount_point), "%s",
			queries[0].mount_point);
	(void) snprintf(made_up.folder, sizeof(made_up.folder), "%s", queries[0].folder ?: "-");
	while (made_up.until_cancelled && !atomic_load(cancelled))
		sched_yield();
	if (made_up.until_cancelled)
		return failed(reterr, -ECANCELED, "cancelled");
	for (size_t i = 0; i < count && made_up.result == 0; i++)
		for (size_t j = 0; j < ARRAY_SIZE(made_up.users); j++) {
			struct busy_holder *holder =
				&queries[i].holders.list[queries[i].holders.count];

			if (made_up.users[j] == 0)
				continue;
			*holder = (struct busy_holder){ .kind = BUSY_OPEN_FILE, .count = 1 };
			holder->pid = made_up.users[j];
			holder->pid_fd = pidfd_open(holder->pid, 0);
			(void) snprintf(holder->name, sizeof(holder->name), "%s", made_up.name);
			queries[i].holders.count++;
			queries[i].holders.total++;
		}
	return made_up.result < 0 ? failed(reterr, made_up.result, "no luck") : 0;
}

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct worker_pool *workers;
	struct busy_watch *watch;
	unsigned int found, turns, retries;
	char retried[64];
};

static void on_found(void *userdata, const struct busy_view *view)
{
	((struct world *) userdata)->found++;
	assert_non_null(view->holders);
}

static void on_turn(void *userdata)
{
	((struct world *) userdata)->turns++;
}

static void on_retry(void *userdata, const char *unique_name, const char *pod_uid)
{
	struct world *world = userdata;

	world->retries++;
	(void) snprintf(world->retried, sizeof(world->retried), "%s:%s", unique_name, pod_uid);
}

static int set_up(void **state)
{
	static const struct worker_limits limits = { .threads = 1,
						     .threads_max = 2,
						     .set_aside_usec = 1000000 };
	struct world *world = calloc(1, sizeof(*world));
	struct busy_watch_options options = {
		.found = on_found, .turn = on_turn, .retry = on_retry, .userdata = world
	};

	assert_non_null(world);
	memset(&made_up, 0, sizeof(made_up));
	assert_int_equal(sd_event_new(&world->event), 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->to_loop), 0);
	assert_int_equal(worker_pool_new("worker", world->to_loop, &limits, &world->workers), 0);
	options.event = world->event;
	options.workers = world->workers;
	assert_int_equal(busy_watch_new(&options, &world->watch), 0);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	worker_pool_free(world->workers);
	worker_return_free(world->to_loop);
	busy_watch_free(world->watch);
	sd_event_unref(world->event);
	free(world);
	return 0;
}

static pid_t start_user(void)
{
	pid_t pid = fork();

	assert_return_code(pid, errno);
	if (pid == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void) pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void fail_for(struct world *world, const char *unique_name, uint64_t back_off_usec)
{
	uint64_t now = monotonic_usec();

	busy_watch_failed(world->watch, &(struct busy_teardown){
						.unique_name = unique_name,
						.pod_uid = "uid",
						.mount_point = "/volume",
						.folder = "/folder",
						.begun_usec = now,
						.retry_usec = now + back_off_usec,
					});
}

static struct busy_view look(struct world *world)
{
	struct busy_view view = { 0 };

	assert_true(busy_watch_check(world->watch, "v", "uid", &view));
	return view;
}

/* Turns the loop until no search runs. */
static void search(struct world *world)
{
	struct busy_view view = { .searching = true };

	busy_watch_search(world->watch);
	for (int i = 0; i < TURNS_MAX && view.searching; i++) {
		assert_true(sd_event_run(world->event, 2000000) >= 0);
		view = look(world);
	}
	assert_false(view.searching);
}

static void test_failure_is_searched_for_once(void **state)
{
	struct world *world = *state;
	struct busy_view view;

	busy_watch_search(world->watch);
	assert_false(busy_watch_check(world->watch, "v", "uid", &view));
	made_up.users[0] = getpid();
	fail_for(world, "v", 60000000);
	assert_int_equal(world->turns, 1);
	assert_true(look(world).searching);
	assert_null(look(world).holders);
	search(world);
	assert_int_equal(world->found, 1);
	assert_int_equal(look(world).holders->total, 1);
	assert_string_equal(made_up.mount_point, "/volume");
	assert_string_equal(made_up.folder, "/folder");

	fail_for(world, "v", 60000000); /* before its back-off is over */
	busy_watch_search(world->watch);
	assert_int_equal(made_up.searches, 1);
	assert_int_equal(world->turns, 1);
}

static void test_the_same_users_are_no_news(void **state)
{
	struct world *world = *state;

	made_up.users[0] = getpid();
	for (int i = 0; i < 3; i++) {
		fail_for(world, "v", 0);
		search(world);
	}
	assert_int_equal(made_up.searches, 3);
	assert_int_equal(world->found, 1);
	(void) snprintf(made_up.name, sizeof(made_up.name), "another");
	fail_for(world, "v", 0);
	search(world);
	assert_int_equal(world->found, 2);
}

static void test_one_search_for_all_of_a_turn(void **state)
{
	struct world *world = *state;

	fail_for(world, "v", 0);
	fail_for(world, "w", 0);
	search(world);
	assert_int_equal(made_up.searches, 1);
	assert_int_equal(made_up.asked, 2);
	assert_int_equal(look(world).holders->total, 0);
}

/* The other one is still known, and is not searched for again. */
static void test_each_end_is_a_reason_to_try(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(made_up.users); i++)
		made_up.users[i] = start_user();
	fail_for(world, "v", 60000000);
	search(world);
	assert_int_equal(look(world).holders->total, 2);
	end(made_up.users[0]);
	assert_true(sd_event_run(world->event, 2000000) > 0);
	assert_int_equal(world->retries, 1);
	assert_string_equal(world->retried, "v:uid");
	assert_int_equal(look(world).holders->total, 1);
	assert_int_equal(look(world).holders->list[0].pid, made_up.users[1]);
	end(made_up.users[1]);
	assert_true(sd_event_run(world->event, 2000000) > 0);
	assert_int_equal(world->retries, 2);
	assert_int_equal(look(world).holders->total, 0);
	assert_int_equal(made_up.searches, 1);
}

/* It ended while the attempt ran that then failed: there is no second end to wait for. */
static void test_end_during_an_attempt(void **state)
{
	struct world *world = *state;
	struct busy_teardown teardown = { .unique_name = "v",
					  .pod_uid = "uid",
					  .mount_point = "/volume",
					  .begun_usec = monotonic_usec() };

	made_up.users[0] = start_user();
	fail_for(world, "v", 60000000);
	search(world);
	end(made_up.users[0]);
	assert_true(sd_event_run(world->event, 2000000) > 0);
	assert_int_equal(world->retries, 1);
	busy_watch_failed(world->watch, &teardown);
	assert_int_equal(world->retries, 2);
	teardown.begun_usec = monotonic_usec() + 1;
	busy_watch_failed(world->watch, &teardown);
	assert_int_equal(world->retries, 2);
}

static void test_what_is_over_is_not_searched_for(void **state)
{
	struct world *world = *state;
	struct busy_view view;

	made_up.until_cancelled = true;
	fail_for(world, "v", 0);
	busy_watch_search(world->watch);
	busy_watch_over(world->watch, "v", "other");
	assert_true(look(world).searching);
	busy_watch_over(world->watch, "v", "uid"); /* else the search would not end */
	assert_false(busy_watch_check(world->watch, "v", "uid", &view));
	assert_true(sd_event_run(world->event, 2000000) > 0);
	assert_int_equal(world->found, 0);
	busy_watch_over(world->watch, "v", "uid");

	made_up.until_cancelled = false;
	fail_for(world, "v", 0);
	search(world);
	assert_int_equal(world->found, 1);
}

/* What fails while a search runs is asked for by the next, which a turn begins. */
static void test_failure_during_a_search(void **state)
{
	struct world *world = *state;
	unsigned int turns;

	fail_for(world, "v", 0);
	busy_watch_search(world->watch);
	fail_for(world, "w", 0);
	busy_watch_search(world->watch); /* nothing: one runs */
	turns = world->turns;
	assert_true(sd_event_run(world->event, 2000000) > 0);
	assert_int_equal(world->turns, turns + 1);
	assert_int_equal(made_up.asked, 1);
	busy_watch_search(world->watch);
	assert_true(sd_event_run(world->event, 2000000) > 0);
	assert_int_equal(made_up.asked, 2);
}

static void test_failed_search_is_told(void **state)
{
	struct world *world = *state;

	made_up.result = -EMFILE;
	fail_for(world, "v", 0);
	search(world);
	assert_int_equal(world->found, 1);
	assert_int_equal(look(world).failure->error, -EMFILE);
	assert_int_equal(look(world).holders->total, 0);
	made_up.result = 0;
	fail_for(world, "v", 0);
	search(world);
	assert_null(look(world).failure);
}

/* Names come from untrusted processes, and go into JSON and onto terminals. */
static void test_names_become_text(void **state)
{
	struct world *world = *state;

	made_up.users[0] = getpid();
	(void) snprintf(made_up.name, sizeof(made_up.name),
			"a\nb\033c\xff"
			"d\u00e4");
	fail_for(world, "v", 0);
	search(world);
	assert_string_equal(look(world).holders->list[0].name, "a?b?c?d\u00e4");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_failure_is_searched_for_once),
		TEST(test_the_same_users_are_no_news),
		TEST(test_one_search_for_all_of_a_turn),
		TEST(test_each_end_is_a_reason_to_try),
		TEST(test_end_during_an_attempt),
		TEST(test_what_is_over_is_not_searched_for),
		TEST(test_failure_during_a_search),
		TEST(test_failed_search_is_told),
		TEST(test_names_become_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
