/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_calls - stands between the code under test and the kernel: takes system calls away
 *
 * Linked with $(kernel_calls_ldflags), which wraps the calls. A call that is taken away answers
 * ENOSYS, as an older kernel or a seccomp profile has it; how often is counted, so that a test can
 * tell that the fallback was really taken.
 */
#pragma once

#include "sandbox.h"

enum {
	WITHOUT_OPENAT2 = 1,
	WITHOUT_OPEN_TREE = 2,
	WITHOUT_MOUNT_SETATTR = 4,
	WITHOUT_MOVE_MOUNT = 8,
	WITHOUT_FSOPEN = 16,
	WITHOUT_FCHMODAT2 = 32,
	WITHOUT_LISTMOUNT = 64,
};

/* A test in the sandbox with some calls taken away; it fails when none of them was missed. */
#define SANDBOX_TEST_WITHOUT(calls, function)                                                      \
	{                                                                                          \
#function " (" #calls ")", function, kernel_calls_setup, kernel_calls_teardown,    \
			(void *) (uintptr_t) (calls)                                               \
	}

int kernel_calls_setup(void **state);
int kernel_calls_teardown(void **state);

/* The calls that are taken away now. */
void kernel_calls_take_away(unsigned int calls);

struct kernel_call_counts {
	unsigned int missed;            /* answered ENOSYS */
	unsigned int openat2;           /* all calls of it */
	unsigned int attached;          /* mounts that became visible: move_mount, MS_MOVE */
	unsigned int attached_writable; /* of these, not read-only at that moment */
};
struct kernel_call_counts *kernel_calls_counts(void);

/* The next openat2 calls fail with this errno instead; 0 ends it. */
void kernel_calls_fail_openat2(int error);
