/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_thread_stack - where a thread waits in the kernel, in one line
 */
#include "base/thread_stack.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void test_of_a_dead_server(void **state)
{
	char text[THREAD_STACK_BYTES];

	thread_stack_format("[<0>] request_wait_answer+0x112/0x210 [fuse]\n"
			    "[<0>] fuse_do_getattr+0xef/0x200\n"
			    "[<0>] __do_sys_newfstatat+0x23/0x60\n"
			    "[<0>] __x64_sys_newfstatat+0x1a/0x20\n"
			    "[<0>] do_syscall_64+0x71/0x280\n"
			    "[<0>] entry_SYSCALL_64_after_hwframe+0x76/0x7e\n",
			    text);
	assert_string_equal(text, "request_wait_answer < fuse_do_getattr");
}

static void test_other_texts(void **state)
{
	static const char *const nothing[] = {
		"", "\n", "[<0>]", "[<0>] ", "[<0>] +0x1/0x2\n", "0xffffffffffffffff\n"
	};
	char text[THREAD_STACK_BYTES];

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
		thread_stack_format(nothing[i], text);
		assert_string_equal(text, "");
	}
	thread_stack_format("[<0>] one", text); /* cut off */
	assert_string_equal(text, "one");
}

/* Whole names as long as there is room. */
static void test_deep_stacks_are_cut(void **state)
{
	char stack[4096] = "", text[THREAD_STACK_BYTES];
	size_t used = 0;

	for (unsigned int i = 0; i < 60; i++)
		used += (size_t) snprintf(stack + used, sizeof(stack) - used,
					  "[<0>] function_%02u+0x1/0x2\n", i);
	thread_stack_format(stack, text);
	assert_true(strlen(text) > THREAD_STACK_BYTES - 20);
	assert_int_equal(strspn(strrchr(text, '<'), "< function_0123456789"),
			 strlen("< function_00"));
}

struct waiting {
	sem_t began, go;
	int thread_id;
};

static void *wait_in_kernel(void *userdata)
{
	struct waiting *waiting = userdata;

	waiting->thread_id = gettid();
	(void) sem_post(&waiting->began);
	(void) sem_wait(&waiting->go);
	return NULL;
}

/* Without privileges there is only wchan, and some kernels have neither: never anything wrong. */
static void test_a_thread_of_ours(void **state)
{
	char text[THREAD_STACK_BYTES] = "";
	struct waiting waiting;
	pthread_t thread;

	assert_int_equal(sem_init(&waiting.began, 0, 0), 0);
	assert_int_equal(sem_init(&waiting.go, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_in_kernel, &waiting), 0);
	assert_int_equal(sem_wait(&waiting.began), 0);
	if (geteuid() == 0 && access("/proc/self/stack", R_OK) == 0) {
		while (!strstr(text, "futex"))
			thread_stack_read(waiting.thread_id, text);
	}
	assert_int_equal(sem_post(&waiting.go), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	thread_stack_read(0, text);
	assert_string_equal(text, "");
	thread_stack_read(INT32_MAX, text); /* of no thread */
	assert_string_equal(text, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_a_dead_server),
		cmocka_unit_test(test_other_texts),
		cmocka_unit_test(test_deep_stacks_are_cut),
		cmocka_unit_test(test_a_thread_of_ours),
	};

	return cmocka_run_group_tests_name("thread_stack", tests, NULL, NULL);
}
