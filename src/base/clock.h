/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock - the two clocks, in microseconds
 *
 * Waits and back-offs use the monotonic clock; only time stamps for people and objects use the real
 * one.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#define USEC_PER_SEC  1000000ULL
#define USEC_PER_MSEC 1000ULL

static inline uint64_t monotonic_usec(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for these two clocks */
	return (uint64_t) now.tv_sec * USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}

/* It may be set, in either direction, at any moment: no wait, no order and no name may depend
 * on it. 0 means "never" wherever a time is kept, so the first second of 1970, with which a machine
 * without a clock of its own may begin, and all before it count as the one after it. */
static inline uint64_t realtime_usec(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec < 1)
		return USEC_PER_SEC;
	return (uint64_t) now.tv_sec * USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}

/* ---- duration.c ---- */

/* "30s", "1h30m", "500ms": lengths of time as people and Kubernetes write them. */

/* No wait lasts longer: 30 days. */
#define DURATION_USEC_MAX (30ULL * 24 * 3600 * 1000000)

/**
 * duration_parse - read a duration
 * @text: numbers with units h, m, s, ms, us in any order ("1h30m", "1.5" is refused); a bare number
 * means seconds
 * @ret_usec: microseconds
 *
 * Return: 0; -EINVAL no duration; -ERANGE longer than DURATION_USEC_MAX.
 */
int duration_parse(const char *text, uint64_t *ret_usec);
