/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doubts - answers that wait for the identity of the cluster: order, one question, the limit
 */
#include "cluster/cluster_internal.h"
#include "cluster/doubts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct cluster cluster;
static void (*answer)(void *userdata, enum identity_verdict verdict);
static void *asker;
static unsigned int questions, same, other;

int __wrap_identity_check_start(struct cluster *of, void (*done)(void *, enum identity_verdict),
				void *userdata, struct identity_check **ret);
struct identity_check *__wrap_identity_cancel(struct identity_check *check);

int __wrap_identity_check_start(struct cluster *of, void (*done)(void *, enum identity_verdict),
				void *userdata, struct identity_check **ret)
{
	answer = done;
	asker = userdata;
	*ret = (struct identity_check *) &cluster; /* not NULL; never looked into */
	questions++;
	return 0;
}

struct identity_check *__wrap_identity_cancel(struct identity_check *check)
{
	return NULL;
}

static void decided(void *userdata, const struct object *object, bool is_absent, bool is_same)
{
	same += is_same;
	other += !is_same;
}

static int set_up(void **state)
{
	struct doubts *doubts = NULL;

	questions = same = other = 0;
	assert_int_equal(doubts_new(&cluster, decided, NULL, &doubts), 0);
	*state = doubts;
	return 0;
}

static int tear_down(void **state)
{
	*state = doubts_free(*state);
	return 0;
}

/* What comes while a question is on its way waits for the next. */
static void test_one_question_for_all_that_came_before(void **state)
{
	assert_int_equal(doubts_add(*state, NULL, false), 0);
	assert_int_equal(doubts_add(*state, NULL, false), 0);
	assert_int_equal(doubts_add(*state, NULL, true), 0);
	assert_int_equal(questions, 1);
	answer(asker, IDENTITY_SAME);
	assert_int_equal(same, 1);
	assert_int_equal(questions, 2);
	answer(asker, IDENTITY_OTHER);
	assert_int_equal(same, 1);
	assert_int_equal(other, 2);
	assert_int_equal(questions, 2);
}

static void test_the_limit(void **state)
{
	assert_int_equal(doubts_add(*state, NULL, false), 0); /* asked */
	for (int i = 0; i < DOUBTS_MAX; i++)
		assert_int_equal(doubts_add(*state, NULL, false), 0);
	assert_int_equal(doubts_add(*state, NULL, false), -ENOBUFS);
	answer(asker, IDENTITY_UNKNOWN);
	assert_int_equal(doubts_add(*state, NULL, false), 0);
	assert_int_equal(other, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_question_for_all_that_came_before, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_the_limit, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
