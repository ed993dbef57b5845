/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_worker - jobs go to threads and come back to the loop
 *
 * Nothing here sleeps: jobs wait on semaphores that the test posts, the loop waits for descriptors.
 * eventfd_write, timerfd_settime and pthread_create are interposed to count and to fail.
 */
#include "base/worker.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <cmocka.h>

static atomic_uint wake_writes, timer_settings;
static bool threads_fail;

int __real_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value);
int __wrap_eventfd_write(int fd, eventfd_t value)
{
	atomic_fetch_add(&wake_writes, 1);
	return __real_eventfd_write(fd, value);
}

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
	atomic_fetch_add(&timer_settings, 1);
	return __real_timerfd_settime(fd, flags, when, old);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	if (threads_fail)
		return EAGAIN;
	return __real_pthread_create(thread, attributes, start, argument);
}

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct worker_pool *workers, *walkers;
	unsigned int done;
	pthread_t loop_thread;
};

/* A job that tells who it met and can be held. */
struct test_job {
	struct worker_job job;
	struct world *world;
	sem_t *started, *go; /* may be NULL */
	unsigned int runs, dones, order;
	char thread_name[16];
	pthread_t thread;
};

static void job_run(struct worker_job *job)
{
	struct test_job *self = (struct test_job *) job;

	(void) pthread_getname_np(pthread_self(), self->thread_name, sizeof(self->thread_name));
	self->thread = pthread_self();
	self->runs++;
	if (self->started)
		(void) sem_post(self->started);
	if (self->go)
		(void) sem_wait(self->go);
}

static void job_done(struct worker_job *job)
{
	struct test_job *self = (struct test_job *) job;

	assert_true(pthread_equal(pthread_self(), self->world->loop_thread));
	self->dones++;
	self->order = ++self->world->done;
}

static struct test_job new_job(struct world *world)
{
	return (struct test_job){ .job = { .run = job_run, .done = job_done }, .world = world };
}

/* Turn the loop until so many jobs came back; a job that never does ends the test by its timeout.
 */
static void run_until_done(struct world *world, unsigned int count)
{
	while (world->done < count)
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
	assert_int_equal(world->done, count);
}

static void open_pools(struct world *world, const struct worker_limits *limits)
{
	assert_int_equal(worker_pool_new("test-worker", world->to_loop, limits, &world->workers),
			 0);
	assert_int_equal(worker_pool_new("test-walker", world->to_loop,
					 &(struct worker_limits){ .threads = 1,
								  .threads_max = 1,
								  .set_aside_usec = USEC_PER_SEC },
					 &world->walkers),
			 0);
}

/* Turn the loop until the first job was set aside, then wait for the spare thread's job to begin.
 */
static void wait_for_spare(struct world *world, sem_t *started)
{
	struct worker_counts counts;

	worker_pool_count(world->workers, &counts);
	while (counts.set_aside == 0) {
		assert_true(sd_event_run(world->event, 100 * USEC_PER_SEC) > 0);
		worker_pool_count(world->workers, &counts);
	}
	assert_int_equal(sem_wait(started), 0);
}

static const struct worker_limits two_threads = { .threads = 2,
						  .threads_max = 4,
						  .set_aside_usec = 5 * USEC_PER_SEC };
/* A job is stuck almost at once, so that tests need not wait for it. */
static const struct worker_limits impatient = { .threads = 1,
						.threads_max = 2,
						.set_aside_usec = 2000 };

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	assert_true(sd_event_new(&world->event) >= 0);
	assert_int_equal(worker_return_new(world->event, SD_EVENT_PRIORITY_NORMAL, &world->to_loop),
			 0);
	world->loop_thread = pthread_self();
	threads_fail = false;
	wake_writes = 0;
	timer_settings = 0;
	*state = world;
	return 0;
}

/* An impatient pool closes before its threads have ended, and what they may still look at is then
 * kept for good: the leak checker would find it. */
static void close_pool(struct worker_pool *pool)
{
	struct worker_counts counts;

	assert_null(worker_pool_free(pool));
	if (!pool)
		return;
	do {
		(void) sched_yield();
		worker_pool_count(pool, &counts);
	} while (counts.threads > 0);
}

static int tear_down(void **state)
{
	struct world *world = *state;

	close_pool(world->workers);
	close_pool(world->walkers);
	assert_null(worker_return_free(world->to_loop));
	sd_event_unref(world->event);
	free(world);
	return 0;
}

static void runs_on_a_thread_and_returns_to_the_loop(void **state)
{
	struct world *world = *state;
	struct test_job job = new_job(world);
	struct worker_counts counts;

	open_pools(world, &two_threads);
	worker_pool_count(world->workers, &counts);
	assert_int_equal(counts.threads, 0);

	worker_submit(world->workers, &job.job);
	run_until_done(world, 1);
	assert_int_equal(job.runs, 1);
	assert_int_equal(job.dones, 1);
	assert_string_equal(job.thread_name, "test-worker");
	assert_false(pthread_equal(job.thread, world->loop_thread));
	assert_int_equal(job.job.started_usec, 0);
	assert_int_equal(job.job.thread_id, 0);
}

static void jobs_of_one_thread_keep_their_order(void **state)
{
	struct world *world = *state;
	struct test_job jobs[20];

	open_pools(world, &two_threads);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		jobs[i] = new_job(world);
		worker_submit(world->walkers, &jobs[i].job);
	}
	run_until_done(world, ARRAY_SIZE(jobs));
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
		assert_int_equal(jobs[i].order, i + 1);
}

static void a_burst_wakes_the_loop_once(void **state)
{
	struct world *world = *state;
	struct test_job *jobs = calloc(1000, sizeof(*jobs));

	assert_non_null(jobs);
	open_pools(world, &two_threads);
	for (size_t i = 0; i < 1000; i++) {
		jobs[i] = new_job(world);
		worker_submit(i % 2 ? world->workers : world->walkers, &jobs[i].job);
	}

	/* The loop does not turn until both pools are done with everything. */
	for (unsigned int left = 1; left > 0;) {
		struct worker_counts workers, walkers;

		worker_pool_count(world->workers, &workers);
		worker_pool_count(world->walkers, &walkers);
		left = workers.queued + workers.running + walkers.queued + walkers.running;
		(void) sched_yield();
	}
	run_until_done(world, 1000);
	assert_int_equal(wake_writes, 1);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(jobs[i].runs, 1);
	free(jobs);
}

static void a_view_sees_where_a_job_runs(void **state)
{
	struct world *world = *state;
	struct test_job job = new_job(world);
	struct worker_counts counts;
	sem_t started, go;

	assert_int_equal(sem_init(&started, 0, 0), 0);
	assert_int_equal(sem_init(&go, 0, 0), 0);
	open_pools(world, &two_threads);
	job.started = &started;
	job.go = &go;
	worker_submit(world->workers, &job.job);
	assert_int_equal(sem_wait(&started), 0);

	assert_true(job.job.thread_id > 0);
	assert_int_not_equal(job.job.thread_id, gettid());
	assert_true(job.job.started_usec > 0 && job.job.started_usec <= monotonic_usec());
	worker_pool_count(world->workers, &counts);
	assert_int_equal(counts.running, 1);
	assert_int_equal(counts.queued, 0);
	assert_int_equal(counts.set_aside, 0);
	assert_int_equal(counts.threads, 1);

	(void) sem_post(&go);
	run_until_done(world, 1);
	(void) sem_destroy(&started);
	(void) sem_destroy(&go);
}

static void a_stuck_job_stops_nobody_else(void **state)
{
	struct world *world = *state;
	struct test_job stuck = new_job(world), other = new_job(world), later = new_job(world);
	struct worker_counts counts;
	sem_t started, go;

	assert_int_equal(sem_init(&started, 0, 0), 0);
	assert_int_equal(sem_init(&go, 0, 0), 0);
	open_pools(world, &impatient);
	stuck.started = &started;
	stuck.go = &go;
	worker_submit(world->workers, &stuck.job);
	assert_int_equal(sem_wait(&started), 0);
	worker_submit(world->workers, &other.job);

	/* Only the spare thread can have done this. */
	run_until_done(world, 1);
	assert_int_equal(other.dones, 1);
	assert_int_equal(stuck.dones, 0);
	worker_pool_count(world->workers, &counts);
	assert_int_equal(counts.set_aside, 1);
	assert_int_equal(counts.threads, 2);

	/* When it comes back it is one too many, and the pool has its old size again. */
	(void) sem_post(&go);
	run_until_done(world, 2);
	do {
		(void) sched_yield();
		worker_pool_count(world->workers, &counts);
	} while (counts.threads > 1);
	assert_int_equal(counts.set_aside, 0);
	worker_submit(world->workers, &later.job);
	run_until_done(world, 3);
	(void) sem_destroy(&started);
	(void) sem_destroy(&go);
}

static void spare_threads_have_a_limit(void **state)
{
	struct world *world = *state;
	struct test_job jobs[4];
	struct worker_counts counts;
	sem_t started, go;

	assert_int_equal(sem_init(&started, 0, 0), 0);
	assert_int_equal(sem_init(&go, 0, 0), 0);
	open_pools(world, &impatient);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		jobs[i] = new_job(world);
		jobs[i].started = &started;
		jobs[i].go = &go;
		worker_submit(world->workers, &jobs[i].job);
	}
	assert_int_equal(sem_wait(&started), 0);
	wait_for_spare(world, &started);

	/* Both threads are held. Nothing can be gained by looking again, so nothing is armed. */
	worker_pool_count(world->workers, &counts);
	assert_int_equal(counts.threads, 2);
	assert_int_equal(counts.queued, 2);
	assert_int_equal(sd_event_run(world->event, 20 * USEC_PER_MSEC), 0);
	assert_int_equal(sem_trywait(&started), -1);

	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
		(void) sem_post(&go);
	run_until_done(world, ARRAY_SIZE(jobs));
	(void) sem_destroy(&started);
	(void) sem_destroy(&go);
}

/* The first comes back while jobs wait: its thread ends, and the second, now the only one, must
 * still be found when it gets stuck. */
static void a_second_stuck_job_is_found_after_the_first_came_back(void **state)
{
	struct world *world = *state;
	struct test_job first = new_job(world), second = new_job(world), third = new_job(world),
			last = new_job(world);
	sem_t first_go, second_go, third_go, started;

	assert_int_equal(sem_init(&first_go, 0, 0), 0);
	assert_int_equal(sem_init(&second_go, 0, 0), 0);
	assert_int_equal(sem_init(&third_go, 0, 0), 0);
	assert_int_equal(sem_init(&started, 0, 0), 0);
	open_pools(world, &impatient);
	first.started = second.started = third.started = &started;
	first.go = &first_go;
	second.go = &second_go;
	third.go = &third_go;

	worker_submit(world->workers, &first.job);
	worker_submit(world->workers, &second.job);
	assert_int_equal(sem_wait(&started), 0);
	wait_for_spare(world, &started);
	worker_submit(world->workers, &third.job);
	worker_submit(world->workers, &last.job);

	(void) sem_post(&first_go);  /* its thread ends */
	(void) sem_post(&second_go); /* its thread goes on with the third, which hangs */
	run_until_done(world, 3);    /* first, second and, by a new spare thread, the last */
	assert_int_equal(last.dones, 1);
	assert_int_equal(third.dones, 0);
	(void) sem_post(&third_go);
	run_until_done(world, 4);
	(void) sem_destroy(&first_go);
	(void) sem_destroy(&second_go);
	(void) sem_destroy(&third_go);
	(void) sem_destroy(&started);
}

static void free_threads_need_no_timer(void **state)
{
	struct world *world = *state;

	open_pools(world, &two_threads);
	for (unsigned int i = 1; i <= 10; i++) {
		struct test_job job = new_job(world);
		struct worker_counts counts;

		worker_submit(world->workers, &job.job);
		run_until_done(world, i);
		do { /* the thread is free a moment after its job came back */
			(void) sched_yield();
			worker_pool_count(world->workers, &counts);
		} while (counts.running > 0);
	}
	assert_int_equal(timer_settings, 0);
	/* An idle pool has nothing for the loop. */
	assert_int_equal(sd_event_run(world->event, 0), 0);
}

static void closing_tells_queued_jobs_without_a_run(void **state)
{
	struct world *world = *state;
	struct test_job held = new_job(world), queued = new_job(world);
	struct worker_pool *closed;
	struct worker_counts counts;
	sem_t started, go;

	assert_int_equal(sem_init(&started, 0, 0), 0);
	assert_int_equal(sem_init(&go, 0, 0), 0);
	open_pools(world, &impatient);
	held.started = &started;
	held.go = &go;
	worker_submit(world->workers, &held.job);
	worker_submit(world->workers, &queued.job);
	assert_int_equal(sem_wait(&started), 0);

	closed = world->workers;
	world->workers = worker_pool_free(world->workers);
	assert_int_equal(queued.dones, 1);
	assert_int_equal(queued.runs, 0);
	assert_int_equal(held.dones, 0);

	(void) sem_post(&go);
	run_until_done(world, 2);
	assert_int_equal(held.dones, 1);
	do {
		(void) sched_yield();
		worker_pool_count(closed, &counts);
	} while (counts.threads > 0);
	(void) sem_destroy(&started);
	(void) sem_destroy(&go);
}

static void a_closed_pool_gives_jobs_back_without_a_run(void **state)
{
	struct world *world = *state;
	struct test_job job = new_job(world);
	struct worker_pool *closed;

	open_pools(world, &two_threads);
	closed = world->walkers;
	world->walkers = worker_pool_free(world->walkers);
	worker_submit(closed, &job.job);
	run_until_done(world, 1);
	assert_int_equal(job.runs, 0);
	assert_int_equal(job.dones, 1);
}

static void jobs_that_came_back_are_told_when_the_way_back_goes(void **state)
{
	struct world *world = *state;
	struct test_job job = new_job(world);

	open_pools(world, &two_threads);
	worker_submit(world->walkers, &job.job);
	while (atomic_load(&wake_writes) == 0)
		(void) sched_yield();
	world->workers = worker_pool_free(world->workers);
	world->walkers = worker_pool_free(world->walkers);
	assert_int_equal(job.dones, 0);
	world->to_loop = worker_return_free(world->to_loop);
	assert_int_equal(job.dones, 1);
}

static void without_threads_the_caller_works(void **state)
{
	struct world *world = *state;
	struct test_job job = new_job(world);

	open_pools(world, &two_threads);
	threads_fail = true;
	worker_submit(world->workers, &job.job);
	assert_int_equal(job.runs, 1);
	assert_int_equal(job.dones, 0); /* never from inside worker_submit() */
	assert_true(pthread_equal(job.thread, pthread_self()));
	run_until_done(world, 1);
}

static void run_and_look_at_signals(struct worker_job *job)
{
	struct test_job *self = (struct test_job *) job;
	sigset_t blocked;

	(void) pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	self->runs = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGCHLD);
}

static void threads_take_no_signals(void **state)
{
	struct world *world = *state;
	struct test_job job = new_job(world);
	sigset_t mine;

	open_pools(world, &two_threads);
	job.job.run = run_and_look_at_signals;
	worker_submit(world->workers, &job.job);
	run_until_done(world, 1);
	assert_int_equal(job.runs, 1);
	(void) pthread_sigmask(SIG_SETMASK, NULL, &mine);
	assert_false(sigismember(&mine, SIGTERM));
}

/* Reachable for the leak checker: a stuck thread's pool stays for as long as the process. */
static struct worker_return *volatile left_behind;
static struct worker_pool *volatile left_pool;
static struct test_job stuck_for_good;
static sem_t stuck_started, stuck_go;

static void closing_does_not_wait_for_a_stuck_job(void **state)
{
	struct world *world = *state;
	uint64_t begun_usec;

	assert_int_equal(sem_init(&stuck_started, 0, 0), 0);
	assert_int_equal(sem_init(&stuck_go, 0, 0), 0);
	open_pools(world, &impatient);
	left_behind = world->to_loop;
	left_pool = world->workers;
	stuck_for_good = new_job(world);
	stuck_for_good.started = &stuck_started;
	stuck_for_good.go = &stuck_go;
	worker_submit(world->workers, &stuck_for_good.job);
	assert_int_equal(sem_wait(&stuck_started), 0);

	begun_usec = monotonic_usec();
	world->workers = worker_pool_free(world->workers);
	world->walkers = worker_pool_free(world->walkers);
	world->to_loop = worker_return_free(world->to_loop);
	assert_true(monotonic_usec() - begun_usec < 20 * USEC_PER_SEC);
	assert_int_equal(stuck_for_good.dones, 0);

	/* It comes back into memory that is still there. */
	(void) sem_post(&stuck_go);
}

#define WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD(runs_on_a_thread_and_returns_to_the_loop),
		WORLD(jobs_of_one_thread_keep_their_order),
		WORLD(a_burst_wakes_the_loop_once),
		WORLD(a_view_sees_where_a_job_runs),
		WORLD(a_stuck_job_stops_nobody_else),
		WORLD(spare_threads_have_a_limit),
		WORLD(a_second_stuck_job_is_found_after_the_first_came_back),
		WORLD(free_threads_need_no_timer),
		WORLD(closing_tells_queued_jobs_without_a_run),
		WORLD(a_closed_pool_gives_jobs_back_without_a_run),
		WORLD(jobs_that_came_back_are_told_when_the_way_back_goes),
		WORLD(without_threads_the_caller_works),
		WORLD(threads_take_no_signals),
		WORLD(closing_does_not_wait_for_a_stuck_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
