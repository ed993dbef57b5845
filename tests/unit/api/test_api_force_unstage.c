/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_force_unstage - role admin alone forces an unstage, and is answered when it was searched
 */
#include "agent.h"
#include "api_world.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FORCE "/podvol/v1/volumes/kubernetes.io%2Flocal-volume%2Fdisk/force"

static struct {
	int result;
	char asked[256]; /* "volume" */
	unstage_call_fn *done;
	void *userdata;
	unsigned int left;
} gate;

int agent_force_unstage(struct agent *agent, const struct unstage_call_request *request,
			struct unstage_call **ret)
{
	(void) snprintf(gate.asked, sizeof(gate.asked), "%s", request->volume);
	gate.done = request->done;
	gate.userdata = request->userdata;
	*ret = (struct unstage_call *) &gate;
	return gate.result;
}

void unstage_call_cancel(struct unstage_call *call)
{
	assert_ptr_equal(call, &gate);
	gate.left++;
}

static int set_up(void **state)
{
	memset(&gate, 0, sizeof(gate));
	return world_set_up(state);
}

static void test_answered_when_it_was_searched(void **state)
{
	static const struct {
		int error, status;
	} rows[] = { { 0, 200 }, { -EBUSY, 409 }, { -EIO, 500 }, { -ECANCELED, 503 } };
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		world_begin(world, METHOD_POST, FORCE, NULL);
		assert_string_equal(gate.asked, "kubernetes.io/local-volume/disk");
		gate.done(gate.userdata, rows[i].error, "so it went");
		assert_int_equal(world->exchange.status, rows[i].status);
		assert_string_equal(world_string(world, "message"), "so it went");
	}
}

static void test_refused(void **state)
{
	struct world *world = *state;

	gate.result = -ENOENT;
	assert_int_equal(world_request(world, METHOD_POST, FORCE, NULL), 404);
	assert_non_null(strstr(world_string(world, "message"), "nothing to force"));
	gate.result = -EBUSY;
	assert_int_equal(world_request(world, METHOD_POST, FORCE, NULL), 409);
	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_POST, FORCE, NULL), 429);
}

/* Neither by a slash in the volume's name, which begins no other segment of the rule. */
static void test_role_admin_alone(void **state)
{
	struct world *world = *state;

	world_rights = RIGHTS_ALL & ~(unsigned int) RIGHT_SECRETS;
	assert_int_equal(world_request(world, METHOD_POST, FORCE, NULL), 403);
	assert_int_equal(world_request(world, METHOD_POST, "/podvol/v1/volumes/disk/force", NULL),
			 403);
	assert_string_equal(gate.asked, "");
}

static void test_client_that_leaves(void **state)
{
	struct world *world = *state;

	world_begin(world, METHOD_POST, FORCE, NULL);
	exchange_abandon(&world->exchange);
	assert_int_equal(gate.left, 1);
}

#define API_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, world_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		API_TEST(test_answered_when_it_was_searched),
		API_TEST(test_refused),
		API_TEST(test_role_admin_alone),
		API_TEST(test_client_that_leaves),
	};

	return cmocka_run_group_tests_name("api_force_unstage", tests, NULL, NULL);
}
