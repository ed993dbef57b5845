/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_shift - preloaded, lets one program live at another time of the day
 *
 * CLOCK_SHIFT is how many seconds it is later for it. What it asks of the real clock, and what it
 * sets timers to, goes through here; the kernel's clock is everybody's and stays.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>

static time_t shift(void)
{
	const char *text = getenv("CLOCK_SHIFT");

	return text ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static int (*real)(clockid_t, struct timespec *);
	int r;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
	r = real(clock, now);
	if (clock == CLOCK_REALTIME)
		now->tv_sec += shift();
	return r;
}

/* The only absolute times that podvold sets timers to and that are not monotonic are long past
 * 1970. */
int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
	static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
	struct itimerspec shifted = *when;

	if (!real)
		real = (int (*)(int, int, const struct itimerspec *, struct itimerspec *)) dlsym(
			RTLD_NEXT, "timerfd_settime");
	if ((flags & TFD_TIMER_CANCEL_ON_SET) && when->it_value.tv_sec > 1000000000)
		shifted.it_value.tv_sec -= shift();
	return real(fd, flags, &shifted, old);
}
