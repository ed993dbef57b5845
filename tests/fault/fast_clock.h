/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_clock - time runs many times as fast for the code under test, so that its waits and
 * back-offs cost a test milliseconds
 *
 * The monotonic clock and whatever is set by it are translated: timers of the loop and of timerfd.
 * The real clock is as it was; waits on condition variables, for threads to end, are patient.
 */
#ifndef PODVOL_TESTS_FAST_CLOCK_H
#define PODVOL_TESTS_FAST_CLOCK_H

/* 1: as it is. Before the first use of the clock. */
void fast_clock_set(unsigned int factor);

#endif
