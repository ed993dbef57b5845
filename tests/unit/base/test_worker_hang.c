/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_worker_hang - all threads of a pool hang: who waits, who is notified, and how it ends
 *
 * Jobs hang on semaphores that the test posts; a pool takes them for stuck at once.
 */
#include "base/worker.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { THREADS_MAX = 3 };

struct hang {
	struct worker_job job;
	sem_t *go; /* NULL: does not hang */
	bool is_done;
};

static struct {
	sd_event *event;
	struct worker_return *to_loop;
	struct worker_pool *pool;
	unsigned int told;
	struct worker_counts last;
	sem_t go;
} world;

static void on_notified(void *userdata, const struct worker_counts *counts)
{
	assert_ptr_equal(userdata, &world);
	world.told++;
	world.last = *counts;
}

static void run(struct worker_job *job)
{
	struct hang *hang = (struct hang *) job;

	if (hang->go)
		(void) sem_wait(hang->go);
}

static void done(struct worker_job *job)
{
	((struct hang *) job)->is_done = true;
}

static int set_up(void **state)
{
	const struct worker_limits limits = { .threads = 1,
					      .threads_max = THREADS_MAX,
					      .set_aside_usec = 2000 };

	world.told = 0;
	assert_int_equal(sem_init(&world.go, 0, 0), 0);
	assert_true(sd_event_new(&world.event) >= 0);
	assert_int_equal(worker_return_new(world.event, 0, &world.to_loop), 0);
	assert_int_equal(worker_pool_new("test", world.to_loop, &limits, &world.pool), 0);
	worker_pool_on_hang(world.pool, on_notified, &world);
	return 0;
}

static int tear_down(void **state)
{
	assert_null(worker_pool_free(world.pool));
	assert_null(worker_return_free(world.to_loop));
	sd_event_unref(world.event);
	(void) sem_destroy(&world.go);
	return 0;
}

static void submit(struct hang *hang, sem_t *go)
{
	*hang = (struct hang){ .job = { .run = run, .done = done }, .go = go };
	worker_submit(world.pool, &hang->job);
}

static void run_until_told(unsigned int count)
{
	while (world.told < count)
		assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
	assert_int_equal(world.told, count);
}

static void run_until_done(const struct hang *hang)
{
	while (!hang->is_done)
		assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
}

static void let_all_go(const struct hang hangs[THREADS_MAX])
{
	for (size_t i = 0; i < THREADS_MAX; i++)
		assert_int_equal(sem_post(&world.go), 0);
	for (size_t i = 0; i < THREADS_MAX; i++)
		run_until_done(&hangs[i]);
}

static void test_all_hang_and_one_comes_back(void **state)
{
	struct hang hangs[THREADS_MAX], waiting, later;
	struct worker_counts counts;

	for (size_t i = 0; i < THREADS_MAX; i++)
		submit(&hangs[i], &world.go);
	submit(&waiting, NULL);
	run_until_told(1);
	assert_true(world.last.all_hang);
	assert_int_equal(world.last.set_aside, THREADS_MAX);
	assert_int_equal(world.last.threads_max, THREADS_MAX);
	assert_int_equal(world.last.queued, 1);
	submit(&later, NULL);
	assert_int_equal(sd_event_run(world.event, 10000), 0); /* said once, and nothing wakes up */
	assert_false(waiting.is_done);

	assert_int_equal(sem_post(&world.go), 0); /* one of them comes back */
	run_until_done(&waiting);
	run_until_done(&later);
	run_until_told(2);
	assert_false(world.last.all_hang);

	let_all_go(hangs);
	do
		worker_pool_count(world.pool, &counts);
	while (counts.threads > 1); /* those that are too many end */
	assert_int_equal(counts.set_aside, 0);
	assert_false(counts.all_hang);
}

/* Nothing waits, so nothing is delayed. */
static void test_all_hang_and_nobody_waits(void **state)
{
	struct hang hangs[THREADS_MAX], later;

	for (size_t i = 0; i < THREADS_MAX; i++)
		submit(&hangs[i], &world.go);
	for (unsigned int threads = 0; threads < THREADS_MAX;) {
		struct worker_counts counts;

		assert_true(sd_event_run(world.event, 100 * USEC_PER_SEC) > 0);
		worker_pool_count(world.pool, &counts);
		threads = counts.threads - (counts.queued > 0);
	}
	assert_int_equal(world.told, 0);
	submit(&later, NULL);
	run_until_told(1);
	assert_true(world.last.all_hang);
	let_all_go(hangs);
	run_until_done(&later);
	run_until_told(2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_hang_and_one_comes_back, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_all_hang_and_nobody_waits, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("worker_hang", tests, NULL, NULL);
}
