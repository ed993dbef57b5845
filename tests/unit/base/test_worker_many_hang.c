/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_worker_many_hang - many jobs that hang delay those behind them by little
 *
 * The clock is the test's: it goes to the time that the pool's timer is set to as soon as the next
 * job hangs, so that no time passes.
 */
#include "base/worker.h"

#include "base/clock.h"

#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <cmocka.h>

enum {
	HANGS = 40,
	/* Each after a whole second would be 40 of them; now 1 + 1/2 + ... + 1/10 and then tenths.
	 */
	DELAY_MAX_USEC = 7 * USEC_PER_SEC,
};

struct hang {
	struct worker_job job;
	bool hangs, is_done;
};

static sem_t go;
static _Atomic uint64_t ahead_usec, due_usec; /* of the clock; of the timer */
static atomic_int timer_fd;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *ret);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *ret);

static uint64_t timespec_usec(const struct timespec *time)
{
	return (uint64_t) time->tv_sec * USEC_PER_SEC + (uint64_t) time->tv_nsec / 1000;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);
	uint64_t usec = timespec_usec(ret) + atomic_load(&ahead_usec);

	ret->tv_sec = (time_t) (usec / USEC_PER_SEC);
	ret->tv_nsec = (long) (usec % USEC_PER_SEC) * 1000;
	return r;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *ret)
{
	atomic_store(&timer_fd, fd);
	atomic_store(&due_usec, timespec_usec(&when->it_value));
	return 0;
}

static void run(struct worker_job *job)
{
	if (((struct hang *) job)->hangs)
		(void) sem_wait(&go);
}

static void done(struct worker_job *job)
{
	((struct hang *) job)->is_done = true;
}

/* To the time that the timer is set to. */
static void let_time_pass(void)
{
	const struct itimerspec at_once = { .it_value = { .tv_nsec = 1 } };
	uint64_t due = atomic_exchange(&due_usec, 0), now = monotonic_usec();

	if (due == 0)
		return;
	if (due > now)
		atomic_fetch_add(&ahead_usec, due - now);
	assert_int_equal(__real_timerfd_settime(atomic_load(&timer_fd), 0, &at_once, NULL), 0);
}

static void what_waits_behind_many_comes_soon(void **state)
{
	const struct worker_limits limits = { .threads = 1,
					      .threads_max = HANGS + 1,
					      .set_aside_usec = USEC_PER_SEC };
	struct hang jobs[HANGS + 1] = { 0 }, *fine = &jobs[HANGS];
	struct worker_return *to_loop;
	struct worker_counts counts;
	struct worker_pool *pool;
	sd_event *event;

	assert_int_equal(sem_init(&go, 0, 0), 0);
	assert_return_code(sd_event_new(&event), 0);
	assert_int_equal(worker_return_new(event, 0, &to_loop), 0);
	assert_int_equal(worker_pool_new("test", to_loop, &limits, &pool), 0);
	for (size_t i = 0; i <= HANGS; i++) {
		jobs[i].job.run = run;
		jobs[i].job.done = done;
		jobs[i].hangs = i < HANGS;
		worker_submit(pool, &jobs[i].job);
	}
	for (size_t i = 0; i < HANGS; i++) {
		while (atomic_load(&jobs[i].job.started_usec) == 0)
			(void) sched_yield();
		while (!fine->is_done && atomic_load(&jobs[i + 1].job.started_usec) == 0) {
			worker_pool_count(pool, &counts);
			if (counts.threads == i + 1) /* else one starts, and takes no time */
				let_time_pass();
			assert_return_code(sd_event_run(event, 1000), 0);
		}
	}
	while (!fine->is_done)
		assert_return_code(sd_event_run(event, 1000), 0);
	assert_in_range(atomic_load(&ahead_usec), USEC_PER_SEC / 2, DELAY_MAX_USEC);
	for (size_t i = 0; i < HANGS; i++)
		(void) sem_post(&go);
	assert_null(worker_pool_free(pool));
	assert_null(worker_return_free(to_loop));
	sd_event_unref(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_waits_behind_many_comes_soon) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
