/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults - the nth system call or allocation of the code under test fails, once
 *
 * Linked with $(faults_ldflags), which wraps the calls.
 */
#ifndef PODVOL_TESTS_FAULTS_H
#define PODVOL_TESTS_FAULTS_H

#include <stdbool.h>

/* From now on the nth wrapped call fails: system calls with EIO, allocations with ENOMEM. */
void faults_arm(unsigned int nth);

/* No call fails any more. Returns whether one did: false says that there were fewer than n. */
bool faults_disarm(void);

/* The name of the call that failed last. */
const char *faults_last(void);

#endif
