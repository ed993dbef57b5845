/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults - the nth system call or allocation of the code under test fails, once
 *
 * Linked with $(faults_ldflags), which wraps the calls that fault_calls.h lists. What libc and
 * other libraries call inside is not seen; SQLite and cJSON are, once faults_hook_libraries() was
 * called. Threads of the test itself say that they are no code under test.
 */
#pragma once

#include <stdbool.h>

/* ---- the nth of all calls ---- */

/* From now on the nth wrapped call fails: system calls with EIO, allocations with ENOMEM. */
void faults_arm(unsigned int nth);

/* No call fails any more. Returns whether one did: false says that there were fewer than n. */
bool faults_disarm(void);

/* The name of the call that failed last. */
const char *faults_last(void);

/* ---- the nth of one call, with one of its errors ---- */

struct fault_point {
	unsigned int call;
	unsigned int nth; /* from 1; 0: nothing fails, calls are counted */
	int error;
};
/* Ended by faults_disarm(). */
void faults_arm_at(const struct fault_point *point);

unsigned int faults_call_count(void);
const char *faults_call_name(unsigned int call);
/* The errors that fit it, ended by 0. */
const int *faults_call_errors(unsigned int call);
/* How often it was called since it was armed. */
unsigned int faults_visits(unsigned int call);

/* From now on the place where a call fails is written to stderr, as addresses for addr2line(1). */
void faults_report_place(void);

/* The calling thread is the test itself: nothing of it counts or fails. */
void faults_exempt_thread(bool exempt);

/* Before the first use of either library. */
void faults_hook_libraries(void);
