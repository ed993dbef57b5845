/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock - the two clocks, in microseconds
 *
 * Waits and back-offs use the monotonic clock; only time stamps for people and objects use the real
 * one.
 */
#ifndef PODVOL_BASE_CLOCK_H
#define PODVOL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define USEC_PER_SEC  1000000ULL
#define USEC_PER_MSEC 1000ULL

static inline uint64_t clock_usec(clockid_t clock)
{
	struct timespec now;

	(void) clock_gettime(clock, &now); /* cannot fail for the clocks named below */
	return (uint64_t) now.tv_sec * USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}

static inline uint64_t monotonic_usec(void)
{
	return clock_usec(CLOCK_MONOTONIC);
}

static inline uint64_t realtime_usec(void)
{
	return clock_usec(CLOCK_REALTIME);
}

#endif
