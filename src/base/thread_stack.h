/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_stack - where in the kernel a thread of this process waits, for people
 *
 * For a thread that hangs this is the one fact that tells which server or device does not answer.
 */
#pragma once

#include <stddef.h>

enum { THREAD_STACK_BYTES = 192 };

/**
 * thread_stack_read - "request_wait_answer < fuse_do_getattr < vfs_fstat": innermost first
 * @thread_id: as gettid(2) says; one that has ended is fine
 *
 * /proc/self/task/ID/stack, for which one needs CAP_SYS_ADMIN and a kernel that has it; else the
 * one function of wchan; else "". Neither waits for the thread. Never fails.
 */
void thread_stack_read(int thread_id, char ret[THREAD_STACK_BYTES]);

/* The text of such a file as above; for who has one already. Pure. */
void thread_stack_format(const char *text, char ret[THREAD_STACK_BYTES]);
