/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults - the nth system call or allocation fails, once; see faults.h
 */
#include "faults.h"

#include "base/syscalls.h"
#include "fault_calls.h"

#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define NAME(name, ...)   #name,
#define ERRORS(name, ...) (const int[]){ __VA_ARGS__, 0 },

static const char *const call_names[] = { FAULT_CALLS(NAME) };
static const int *const call_errors[] = { FAULT_CALLS(ERRORS) };

enum { STACK_MAX = 32 };

static atomic_bool armed;
static atomic_uint visits[FAULT_CALL_COUNT], all_visits;
static atomic_bool failed_one;
static unsigned int fails_at; /* of all calls; 0: as @point says */
static struct fault_point point;
static _Thread_local bool exempt;
static const char *last = "none";
static bool reports_place;

static void arm(void)
{
	for (unsigned int i = 0; i < FAULT_CALL_COUNT; i++)
		atomic_store(&visits[i], 0);
	atomic_store(&all_visits, 0);
	atomic_store(&failed_one, false);
	atomic_store(&armed, true);
}

void faults_arm(unsigned int nth)
{
	fails_at = nth;
	arm();
}

void faults_arm_at(const struct fault_point *at)
{
	fails_at = 0;
	point = *at;
	arm();
}

bool faults_disarm(void)
{
	atomic_store(&armed, false);
	return atomic_load(&failed_one);
}

const char *faults_last(void)
{
	return last;
}

unsigned int faults_call_count(void)
{
	return FAULT_CALL_COUNT;
}

const char *faults_call_name(unsigned int call)
{
	return call_names[call];
}

const int *faults_call_errors(unsigned int call)
{
	return call_errors[call];
}

unsigned int faults_visits(unsigned int call)
{
	return atomic_load(&visits[call]);
}

void faults_exempt_thread(bool is_exempt)
{
	exempt = is_exempt;
}

void faults_report_place(void)
{
	reports_place = true;
}

static void print_place(void)
{
	void *stack[STACK_MAX];

	exempt = true;
	backtrace_symbols_fd(stack, backtrace(stack, STACK_MAX), STDERR_FILENO);
	exempt = false;
}

/* One of them at most: a counter reaches a number once, whatever the threads do. */
int fault_of(enum fault_call call)
{
	unsigned int nth, nth_of_all;
	int error;

	if (exempt || !atomic_load(&armed))
		return 0;
	nth = atomic_fetch_add(&visits[call], 1) + 1;
	nth_of_all = atomic_fetch_add(&all_visits, 1) + 1;
	if (fails_at > 0 ? nth_of_all != fails_at : call != point.call || nth != point.nth)
		return 0;
	error = fails_at > 0 ? call_errors[call][0] : point.error;
	last = call_names[call];
	if (reports_place)
		print_place();
	atomic_store(&failed_one, true);
	errno = error;
	return error;
}
