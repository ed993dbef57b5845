/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_server_probe - servers that answer, that say they are gone, and that say nothing
 *
 * A server that says nothing is one whose question has not been run yet: the workers begin when a
 * test lets them.
 */
#include "inuse/server_probe.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/vfs.h>

#include <cmocka.h>

int __wrap_fstatfs(int fd, struct statfs *answer);
void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job);

static int said; /* errno of the answer */
static struct worker_job *waiting[16];
static size_t count;

int __wrap_fstatfs(int fd, struct statfs *answer)
{
	assert_true(fd >= 0);
	memset(answer, 0, sizeof(*answer));
	errno = said;
	return said ? -1 : 0;
}

void __wrap_worker_submit(struct worker_pool *pool, struct worker_job *job)
{
	assert_true(count < ARRAY_SIZE(waiting));
	waiting[count++] = job;
}

static void run_all(void)
{
	while (count > 0) {
		struct worker_job *job = waiting[--count];

		job->run(job);
		job->done(job);
	}
}

static int set_up(void **state)
{
	said = 0;
	count = 0;
	return server_probes_new((struct worker_pool *) &count, (struct server_probes **) state);
}

static int tear_down(void **state)
{
	server_probes_free(*state);
	return 0;
}

static void test_answer_is_told_once(void **state)
{
	assert_int_equal(server_probes_check(*state, "/", 1), SERVER_UNKNOWN);
	assert_int_equal(count, 1);
	run_all();
	assert_int_equal(server_probes_check(*state, "/", 2), SERVER_ANSWERS);
	assert_int_equal(server_probes_check(*state, "/", 3), SERVER_UNKNOWN); /* asked again */
	assert_int_equal(count, 1);
	run_all();
}

static void test_silence_takes_a_while(void **state)
{
	assert_int_equal(server_probes_check(*state, "/", 1), SERVER_UNKNOWN);
	assert_int_equal(server_probes_check(*state, "/", SERVER_SILENT_USEC), SERVER_UNKNOWN);
	assert_int_equal(server_probes_check(*state, "/", SERVER_SILENT_USEC + 1), SERVER_SILENT);
	assert_int_equal(count, 1);
	run_all();
	assert_int_equal(server_probes_check(*state, "/", SERVER_SILENT_USEC + 2), SERVER_ANSWERS);
}

static void test_server_that_is_gone(void **state)
{
	static const struct {
		int error;
		enum server_state state;
	} answers[] = {
		{ ENOTCONN, SERVER_SILENT },  { EHOSTDOWN, SERVER_SILENT },
		{ ETIMEDOUT, SERVER_SILENT }, { ECONNABORTED, SERVER_SILENT },
		{ EACCES, SERVER_ANSWERS },   { ESTALE, SERVER_ANSWERS },
		{ ENOSYS, SERVER_ANSWERS },   { EIO, SERVER_ANSWERS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		said = answers[i].error;
		assert_int_equal(server_probes_check(*state, "/", 1), SERVER_UNKNOWN);
		run_all();
		assert_int_equal(server_probes_check(*state, "/", 2), answers[i].state);
	}
}

static void test_few_at_a_time(void **state)
{
	char path[16];

	for (int i = 0; i <= SERVER_PROBES_MAX; i++) {
		(void) snprintf(path, sizeof(path), "/%d", i);
		assert_int_equal(server_probes_check(*state, path, 1), SERVER_UNKNOWN);
	}
	assert_int_equal(count, SERVER_PROBES_MAX);
	run_all();
	assert_int_equal(server_probes_check(*state, path, 2), SERVER_UNKNOWN);
	assert_int_equal(count, 1);
	run_all();
}

/* What hangs when everything ends is freed when it comes back. */
static void test_end_during_a_question(void **state)
{
	assert_int_equal(server_probes_check(*state, "/", 1), SERVER_UNKNOWN);
	*state = server_probes_free(*state);
	run_all();
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_answer_is_told_once),   TEST(test_silence_takes_a_while),
		TEST(test_server_that_is_gone),   TEST(test_few_at_a_time),
		TEST(test_end_during_a_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
