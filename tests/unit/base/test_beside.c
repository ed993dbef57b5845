/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_beside - work on a thread of its own, while its caller does something else
 *
 * pthread_create() is interposed to fail.
 */
#include "base/beside.h"

#include "base/cleanup.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static bool thread_fails;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	return thread_fails ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

struct work {
	sem_t may_end;
	pthread_t thread;
	unsigned int runs;
};

static void run(void *userdata)
{
	struct work *work = userdata;

	while (sem_wait(&work->may_end) < 0)
		;
	work->thread = pthread_self();
	work->runs++;
}

static int set_up(void **state)
{
	static struct work work;

	thread_fails = false;
	work = (struct work){ .runs = 0 };
	*state = &work;
	return sem_init(&work.may_end, 0, 0);
}

static int tear_down(void **state)
{
	return sem_destroy(&((struct work *) *state)->may_end);
}

/* The work cannot end before its caller goes on. */
static void the_caller_goes_on(void **state)
{
	struct work *work = *state;
	struct beside beside;

	beside_start(&beside, "test", run, work);
	assert_int_equal(sem_post(&work->may_end), 0);
	beside_wait(&beside);
	assert_int_equal(work->runs, 1);
	assert_false(pthread_equal(work->thread, pthread_self()));
}

static void work_is_done_once(void **state)
{
	struct work *work = *state;
	struct beside beside;

	for (int i = 0; i < 2; i++) {
		thread_fails = i == 1;
		beside_start(&beside, "test", run, work);
		assert_int_equal(sem_post(&work->may_end), 0);
		beside_wait(&beside);
		beside_wait(&beside);
		assert_int_equal(work->runs, i + 1);
	}
}

static void without_a_thread_the_wait_does_it(void **state)
{
	struct work *work = *state;
	struct beside beside;

	thread_fails = true;
	assert_int_equal(sem_post(&work->may_end), 0);
	beside_start(&beside, "test", run, work);
	assert_int_equal(work->runs, 0);
	beside_wait(&beside);
	assert_int_equal(work->runs, 1);
	assert_true(pthread_equal(work->thread, pthread_self()));
}

static void what_was_never_started_is_over(void **state)
{
	struct beside beside = { .run = NULL };

	beside_wait(&beside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_caller_goes_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(work_is_done_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_thread_the_wait_does_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_never_started_is_over, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
