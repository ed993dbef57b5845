/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_clock - see fast_clock.h
 */
#include "fast_clock.h"

#include "fault_calls.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <systemd/sd-event.h>
#include <time.h>

#pragma GCC visibility push(default) /* as in fault_wraps.c */

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __real_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t handler, void *userdata);
int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t handler, void *userdata);
int __real_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *ret_old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *ret_old);
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				  const struct timespec *until);

static uint64_t speed = 1, begun_usec;

enum { TEN_YEARS = 10 * 365 * 86400 };
enum { REAL_OWN, REAL_STANDS, REAL_SWINGS };
/* Threads of the code under test look, too. */
static atomic_int real_kind;
static atomic_llong real_seconds;
static atomic_uint real_looks;

/* A handler gets the time it was due at, too. Never given back: a process of tests is short. */
enum { TIMERS_MAX = 16384, PATIENCE_SEC = 5 };
static struct timer {
	sd_event_time_handler_t handler;
	void *userdata;
} timers[TIMERS_MAX];
static unsigned int timer_count;

static uint64_t usec_of(const struct timespec *time)
{
	return (uint64_t) time->tv_sec * 1000000 + (uint64_t) time->tv_nsec / 1000;
}

static struct timespec timespec_of(uint64_t usec)
{
	return (struct timespec){ .tv_sec = (time_t) (usec / 1000000),
				  .tv_nsec = (long) (usec % 1000000) * 1000 };
}

static uint64_t fast_of(uint64_t real_usec)
{
	return begun_usec + (real_usec - begun_usec) * speed;
}

/* Rounded up: a timer that comes early would find nothing due. 0 and "never" are what they are. */
static uint64_t real_of(uint64_t fast_usec)
{
	if (speed == 1 || fast_usec == UINT64_MAX || fast_usec <= begun_usec)
		return fast_usec;
	return begun_usec + (fast_usec - begun_usec + speed - 1) / speed;
}

void fast_clock_set(unsigned int factor)
{
	struct timespec now;

	(void) __real_clock_gettime(CLOCK_MONOTONIC, &now);
	begun_usec = usec_of(&now);
	speed = factor;
}

void real_clock_set(int64_t seconds)
{
	atomic_store(&real_seconds, seconds);
	atomic_store(&real_kind, REAL_STANDS);
}

void real_clock_swing(void)
{
	atomic_store(&real_kind, REAL_SWINGS);
}

void real_clock_reset(void)
{
	atomic_store(&real_kind, REAL_OWN);
}

/* As it was set last. */
static void change_real(struct timespec *ret)
{
	switch (atomic_load(&real_kind)) {
	case REAL_STANDS:
		*ret = (struct timespec){ .tv_sec = atomic_load(&real_seconds) };
		return;
	case REAL_SWINGS:
		ret->tv_sec += atomic_fetch_add(&real_looks, 1) % 2 ? TEN_YEARS : -TEN_YEARS;
		return;
	default:
		return;
	}
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int result = __real_clock_gettime(clock, ret);

	if (clock == CLOCK_REALTIME)
		change_real(ret);
	if (clock == CLOCK_MONOTONIC && speed > 1)
		*ret = timespec_of(fast_of(usec_of(ret)));
	return result;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct timer *timer = userdata;

	return timer->handler(source, fast_of(usec), timer->userdata);
}

int __wrap_sd_event_add_time(sd_event *event, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t handler, void *userdata)
{
	int error = fault_of(FAULT_sd_event_add_time);
	struct timer *timer;

	if (error)
		return -error;
	if (speed == 1)
		return __real_sd_event_add_time(event, ret, clock, usec, accuracy, handler,
						userdata);
	assert(timer_count < TIMERS_MAX);
	timer = &timers[timer_count++];
	*timer = (struct timer){ handler, userdata };
	return __real_sd_event_add_time(event, ret, clock, real_of(usec), 1, on_timer, timer);
}

int __wrap_sd_event_source_set_time(sd_event_source *source, uint64_t usec)
{
	return __real_sd_event_source_set_time(source, real_of(usec));
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
			   struct itimerspec *ret_old)
{
	struct itimerspec real = *when;

	/* A timer that wants to know when the clock is set goes by the real one. */
	if (flags & TFD_TIMER_ABSTIME && !(flags & TFD_TIMER_CANCEL_ON_SET))
		real.it_value = timespec_of(real_of(usec_of(&when->it_value)));
	return __real_timerfd_settime(fd, flags, &real, ret_old);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				  const struct timespec *until)
{
	struct timespec patient;

	(void) __real_clock_gettime(CLOCK_MONOTONIC, &patient);
	patient.tv_sec += PATIENCE_SEC;
	return __real_pthread_cond_timedwait(condition, mutex, speed > 1 ? &patient : until);
}
