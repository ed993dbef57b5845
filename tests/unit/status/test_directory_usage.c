/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_directory_usage - whose files are counted, how many in a window, and what hangs
 *
 * The trees are the test's: "/12" has so many entries, "/hung" answers when the test lets it, "/no"
 * cannot be opened. So are the clock, which stands still, and the timers, which the test ends.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "reconcile/reconcile.h"
#include "state/state.h"
#include "status/directory_usage.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECOND = 1000000, WINDOW = SECOND / 10, TURNS_MAX = 4000, TURN_USEC = 5000 };

struct tree_count {
	uint64_t left, counted;
	bool hangs;
};

static struct {
	sd_event *event;
	struct worker_return *to_loop;
	struct worker_pool *pool;
	struct dirty_set *dirty;
	struct actual *actual;
	struct directory_usage *usage;
	sd_event_time_handler_t timer; /* NULL: none */
	uint64_t timer_usec, now_usec;
	unsigned int counted;
	char last[64]; /* path that was counted last */
} world;
static const struct volume_plugin plugin = { .name = "example.com/fake" };
static atomic_uint opened, closed;
static sem_t release;

int __wrap_tree_count_open(const char *path, struct tree_count **ret);
int __wrap_tree_count_go_on(struct tree_count *count, uint64_t entries_max, struct tree_usage *ret);
struct tree_count *__wrap_tree_count_free(struct tree_count *count);
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source);
sd_event_source *__real_sd_event_source_disable_unref(sd_event_source *source);

int __wrap_tree_count_open(const char *path, struct tree_count **ret)
{
	if (strcmp(path, "/no") == 0)
		return -EACCES;
	*ret = calloc(1, sizeof(**ret));
	assert_non_null(*ret);
	(*ret)->hangs = strncmp(path, "/hung", 5) == 0;
	(*ret)->left = (*ret)->hangs ? 1 : strtoull(path + 1, NULL, 10);
	atomic_fetch_add(&opened, 1);
	return 0;
}

int __wrap_tree_count_go_on(struct tree_count *count, uint64_t entries_max, struct tree_usage *ret)
{
	uint64_t entries = count->left < entries_max ? count->left : entries_max;

	while (count->hangs && sem_wait(&release) < 0)
		;
	count->left -= entries;
	count->counted += entries;
	*ret = (struct tree_usage){ .bytes = count->counted * 512, .inodes = count->counted };
	return count->left > 0;
}

struct tree_count *__wrap_tree_count_free(struct tree_count *count)
{
	atomic_fetch_add(&closed, count != NULL);
	free(count);
	return NULL;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	ret->tv_sec = (time_t) (world.now_usec / SECOND);
	ret->tv_nsec = (long) (world.now_usec % SECOND) * 1000;
	return 0;
}

/* A source that never comes; @callback is what the test calls. */
int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata)
{
	world.timer = callback;
	world.timer_usec = usec;
	return sd_event_add_defer(event, ret, NULL, NULL) < 0
		       ? -ENOMEM
		       : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source)
{
	if (source)
		world.timer = NULL;
	return __real_sd_event_source_disable_unref(source);
}

static void on_counted(void *userdata, const char *path)
{
	world.counted++;
	(void) snprintf(world.last, sizeof(world.last), "%s", path);
}

/* ---- the world ---- */

static void begin(uint64_t files_per_second)
{
	const struct directory_usage_options options = { .event = world.event,
							 .actual = world.actual,
							 .pool = &world.pool,
							 .files_per_second = files_per_second,
							 .counted = on_counted };

	world.usage = directory_usage_free(world.usage);
	assert_int_equal(directory_usage_new(&options, &world.usage), 0);
}

static int set_up(void **state)
{
	const struct worker_limits limits = { .threads = 1,
					      .threads_max = 8,
					      .set_aside_usec = 4 * SECOND };
	struct timespec now;

	memset(&world, 0, sizeof(world));
	atomic_store(&opened, 0);
	atomic_store(&closed, 0);
	assert_int_equal(__real_clock_gettime(CLOCK_MONOTONIC, &now), 0);
	world.now_usec = (uint64_t) now.tv_sec * SECOND;
	assert_int_equal(sem_init(&release, 0, 0), 0);
	assert_int_equal(sd_event_new(&world.event), 0);
	assert_int_equal(worker_return_new(world.event, 0, &world.to_loop), 0);
	assert_int_equal(worker_pool_new("test", world.to_loop, &limits, &world.pool), 0);
	assert_int_equal(dirty_set_new(NULL, NULL, &world.dirty), 0);
	assert_int_equal(actual_new(world.dirty, &world.actual), 0);
	begin(100);
	return 0;
}

static int tear_down(void **state)
{
	world.pool = worker_pool_free(world.pool);
	world.to_loop = worker_return_free(world.to_loop);
	world.usage = directory_usage_free(world.usage);
	assert_int_equal(atomic_load(&opened), atomic_load(&closed));
	world.actual = actual_free(world.actual);
	dirty_set_free(world.dirty);
	sd_event_unref(world.event);
	assert_int_equal(sem_destroy(&release), 0);
	return 0;
}

/* A mounted volume whose name is its path. */
static void mount_one(const char *path)
{
	const struct actual_entry entry = { .unique_name = path,
					    .plugin_name = plugin.name,
					    .plugin = &plugin,
					    .spec_name = path,
					    .pod_uid = "uid",
					    .pod_key = "default/web",
					    .outer_name = path,
					    .path = path };

	assert_int_equal(actual_begin(world.actual, &entry), 0);
}

static struct usage_view want(const char *path, int result)
{
	struct usage_view view = { .error = 0 };

	assert_int_equal(directory_usage_want(world.usage, path, path, &view), result);
	return view;
}

static bool waits_for_window(const void *unused)
{
	return world.timer && world.timer_usec <= world.now_usec + WINDOW;
}

static bool has_counted(const void *count)
{
	return world.counted == *(const unsigned int *) count;
}

static bool has_closed(const void *count)
{
	return atomic_load(&closed) == *(const unsigned int *) count;
}

static bool has_opened(const void *count)
{
	return atomic_load(&opened) == *(const unsigned int *) count;
}

static void turn_until(bool (*is_so)(const void *what), const void *what)
{
	for (int i = 0; i < TURNS_MAX && !is_so(what); i++)
		assert_true(sd_event_run(world.event, TURN_USEC) >= 0);
	assert_true(is_so(what));
}

static void turn_until_counted(unsigned int count)
{
	turn_until(has_counted, &count);
}

/* Whatever the timer is for: its time has come. */
static void end_timer(void)
{
	sd_event_time_handler_t timer = world.timer;

	assert_non_null(timer);
	world.timer = NULL;
	world.now_usec = world.timer_usec;
	assert_int_equal(timer(NULL, world.now_usec, world.usage), 0);
}

/* ---- tests ---- */

/* A window has eleven: what the first leaves is the second's. */
static void test_windows_share_a_budget(void **state)
{
	mount_one("/5");
	mount_one("/40");
	(void) want("/5", 1);
	(void) want("/40", 1);
	turn_until(waits_for_window, NULL);
	assert_int_equal(world.counted, 1);
	assert_int_equal(want("/5", 0).usage.inodes, 5);
	assert_int_equal(want("/5", 0).counted_usec, world.now_usec);
	for (uint64_t counted = 6; counted < 40; counted += 11) {
		assert_int_equal(want("/40", 0).usage.inodes, counted);
		assert_int_equal(want("/40", 0).counted_usec, 0);
		end_timer();
		turn_until(counted == 39 ? has_counted : waits_for_window, &(unsigned int){ 2 });
	}
	assert_int_equal(want("/40", 0).usage.inodes, 40);
	assert_int_equal(want("/40", 0).usage.bytes, 40 * 512);
}

/* Without a question there is no timer; what was counted lately is not counted again. */
static void test_counted_again_when_it_is_old(void **state)
{
	mount_one("/5");
	assert_int_equal(directory_usage_want(world.usage, "/none", "/none",
					      &(struct usage_view){ .error = 0 }),
			 -ENOENT);
	(void) want("/5", 1);
	turn_until_counted(1);
	assert_null(world.timer);
	world.now_usec += 10 * SECOND - 1;
	(void) want("/5", 0);
	assert_null(world.timer);
	world.now_usec++;
	(void) want("/5", 0);
	turn_until_counted(2);
	assert_int_equal(atomic_load(&opened), 2);
}

/* Ten times as long as counting took. */
static void test_what_takes_long_rests_long(void **state)
{
	uint64_t began_usec = world.now_usec, took_usec;

	mount_one("/1000");
	(void) want("/1000", 1);
	while (world.counted == 0) {
		turn_until(waits_for_window, NULL);
		end_timer();
		for (int i = 0; i < TURNS_MAX && world.counted == 0 && !waits_for_window(NULL); i++)
			assert_true(sd_event_run(world.event, TURN_USEC) >= 0);
	}
	took_usec = world.now_usec - began_usec;
	assert_true(took_usec >= 9 * SECOND && took_usec < 10 * SECOND);
	world.now_usec += took_usec * 10 - 1;
	(void) want("/1000", 0);
	assert_int_equal(atomic_load(&opened), 1);
	world.now_usec++;
	(void) want("/1000", 0);
	turn_until(waits_for_window, NULL);
	assert_int_equal(atomic_load(&opened), 2);
}

static void test_an_error_is_no_use_of_nothing(void **state)
{
	struct usage_view view;

	mount_one("/no");
	(void) want("/no", 1);
	turn_until_counted(1);
	view = want("/no", 0);
	assert_int_equal(view.error, -EACCES);
	assert_int_equal(view.counted_usec, 0);
}

/* The next one's turn comes; the volume that hangs is not counted twice, and three at most hang. */
static void test_one_that_hangs(void **state)
{
	static const char *const hung[] = { "/hung1", "/hung2", "/hung3" };

	mount_one("/5");
	mount_one("/2");
	for (unsigned int i = 0; i < ARRAY_SIZE(hung); i++) {
		mount_one(hung[i]);
		(void) want(hung[i], 1);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(hung); i++) {
		if (i == 2) {
			(void) want("/5", 1);
			assert_string_equal(world.last, "/hung2");
		}
		turn_until(has_opened, &(unsigned int){ i + 1 });
		end_timer();
		assert_int_equal(world.counted, i + 1);
		assert_string_equal(world.last, hung[i]);
		assert_int_equal(want(hung[i], 0).error, -ETIMEDOUT);
	}
	(void) want("/2", 1);
	assert_null(world.timer); /* no thread is left for the two */
	for (unsigned int i = 0; i < ARRAY_SIZE(hung); i++)
		assert_int_equal(sem_post(&release), 0);
	turn_until_counted(8); /* each of the three once more, and the two */
	assert_int_equal(want("/5", 0).usage.inodes, 5);
	assert_int_equal(want("/hung1", 0).error, 0);
	assert_int_equal(atomic_load(&opened), 5);
	/* It does not rest ten times as long as its server was silent. */
	world.now_usec += 10 * SECOND;
	(void) want("/hung1", 0);
	turn_until(has_opened, &(unsigned int){ 6 });
	assert_int_equal(sem_post(&release), 0);
	turn_until_counted(9);
}

/* One window after another until so many counts began. */
static void end_windows_until_opened(unsigned int count)
{
	for (unsigned int i = 0; i < TURNS_MAX && !has_opened(&count); i++) {
		assert_true(sd_event_run(world.event, TURN_USEC) >= 0);
		if (waits_for_window(NULL))
			end_timer();
	}
	assert_true(has_opened(&count));
}

/* After a second it waits, open, behind the others; it goes with its volume then, too. */
static void test_a_large_one_lets_others(void **state)
{
	uint64_t began_usec = world.now_usec;
	struct usage_view view;

	mount_one("/1000");
	mount_one("/2000");
	mount_one("/5");
	(void) want("/1000", 1);
	(void) want("/2000", 1);
	(void) want("/5", 1);
	end_windows_until_opened(3);
	turn_until_counted(1);
	assert_string_equal(world.last, "/5");
	assert_true(world.now_usec - began_usec < 3 * SECOND);
	view = want("/1000", 0);
	assert_in_range(view.usage.inodes, 100, 111);
	assert_int_equal(atomic_load(&closed), 1);
	directory_usage_forget(world.usage, "/2000", "uid");
	turn_until(has_closed, &(unsigned int){ 2 });
	while (world.counted == 1) {
		assert_true(sd_event_run(world.event, TURN_USEC) >= 0);
		if (waits_for_window(NULL))
			end_timer();
	}
	assert_int_equal(want("/1000", 0).usage.inodes, 1000);
}

/* Each has descriptors of its own. The fifth's turn comes when one has ended. */
static void test_four_are_begun(void **state)
{
	static const char *const names[] = { "/1001", "/1002", "/1003", "/1004", "/1005" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		mount_one(names[i]);
		(void) want(names[i], 1);
	}
	end_windows_until_opened(5);
	assert_int_equal(atomic_load(&closed), 1);
}

/* A tree that grows as fast as it is counted. */
static void test_one_without_end(void **state)
{
	struct usage_view view;

	begin(1000000);
	mount_one("/1000000000");
	(void) want("/1000000000", 1);
	for (unsigned int i = 0; i < TURNS_MAX && world.counted == 0; i++) {
		assert_true(sd_event_run(world.event, TURN_USEC) >= 0);
		if (waits_for_window(NULL))
			end_timer();
	}
	view = want("/1000000000", 0);
	assert_int_equal(view.error, -EFBIG);
	assert_int_equal(view.counted_usec, 0);
	assert_in_range(view.usage.inodes, 10000000, 10100000);
}

/* Two pods have it, and that of the first went while it was counted. */
static void test_the_path_of_who_asks(void **state)
{
	struct usage_view view;

	mount_one("/5");
	assert_int_equal(directory_usage_want(world.usage, "/5", "/no", &view), 1);
	turn_until_counted(1);
	assert_int_equal(want("/5", 0).error, -EACCES);
	world.now_usec += 10 * SECOND;
	(void) want("/5", 0);
	turn_until_counted(2);
	assert_int_equal(want("/5", 0).error, 0);
	assert_int_equal(want("/5", 0).usage.inodes, 5);
}

/* Between two portions, and of one on the thread: its descriptors are closed, and the next begins.
 */
static void test_a_volume_that_goes(void **state)
{
	const struct step step = { .kind = STEP_UNPUBLISH, .unique_name = "/40", .pod_uid = "uid" };

	mount_one("/40");
	mount_one("/5");
	mount_one("/hung");
	(void) want("/40", 1);
	(void) want("/5", 1);
	turn_until(waits_for_window, NULL);
	directory_usage_step_started(world.usage, &step);
	turn_until(has_closed, &(unsigned int){ 1 });
	assert_int_equal(world.counted, 0);
	end_timer();
	turn_until_counted(1);
	assert_string_equal(world.last, "/5");
	(void) want("/hung", 1);
	turn_until(has_opened, &(unsigned int){ 3 });
	directory_usage_forget(world.usage, "/hung", "uid");
	assert_int_equal(sem_post(&release), 0);
	turn_until(has_closed, &(unsigned int){ 3 });
	assert_int_equal(world.counted, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_windows_share_a_budget, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_counted_again_when_it_is_old, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_what_takes_long_rests_long, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_error_is_no_use_of_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_one_that_hangs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_large_one_lets_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_four_are_begun, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_without_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_path_of_who_asks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_volume_that_goes, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
