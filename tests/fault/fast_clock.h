/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_clock - time runs many times as fast for the code under test, so that its waits and
 * back-offs cost a test milliseconds
 *
 * The monotonic clock and whatever is set by it are translated: timers of the loop and of timerfd.
 * Waits on condition variables, for threads to end, are patient. The real clock is as it was, until
 * it is set: then it stands still, or is another one at each look.
 */
#pragma once

#include <stdint.h>

/* 1: as it is. Before the first use of the clock. */
void fast_clock_set(unsigned int factor);

/* The real clock stands at so many seconds after 1970, which may be less than none. */
void real_clock_set(int64_t seconds);
/* It is years ahead and years behind, by turns. */
void real_clock_swing(void);
/* The machine's own again. */
void real_clock_reset(void);
