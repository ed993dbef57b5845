/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_users - who uses a volume is answered when it was searched, to any client that may read
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

#define USERS "/podvol/v1/volumes/kubernetes.io%2Flocal-volume%2Fdisk/users"

static struct {
	int result;
	char asked[256]; /* "volume" */
	volume_users_search_fn *done;
	void *userdata;
	unsigned int left;
} box;

int agent_search_users(struct agent *agent, const char *volume, volume_users_search_fn *done,
		       void *userdata, struct volume_users_search **ret)
{
	(void) snprintf(box.asked, sizeof(box.asked), "%s", volume);
	box.done = done;
	box.userdata = userdata;
	*ret = (struct volume_users_search *) &box;
	return box.result;
}

void volume_users_search_cancel(struct volume_users_search *ask)
{
	assert_ptr_equal(ask, &box);
	box.left++;
}

static int set_up(void **state)
{
	memset(&box, 0, sizeof(box));
	return world_set_up(state);
}

static void test_answered_when_it_was_searched(void **state)
{
	struct world *world = *state;
	struct cJSON *tree = json_new_object();

	world_rights = RIGHT_READ;
	world_begin(world, METHOD_GET, USERS, NULL);
	assert_string_equal(box.asked, "kubernetes.io/local-volume/disk");
	assert_int_equal(world->exchange.status, 0);
	(void) json_set_string(tree, "result", "no users");
	box.done(box.userdata, tree);
	assert_int_equal(world->exchange.status, 200);
	assert_string_equal(world_string(world, "result"), "no users");
	world_begin(world, METHOD_GET, USERS, NULL);
	box.done(box.userdata, NULL);
	assert_int_equal(world->exchange.status, 500);
}

static void test_refused(void **state)
{
	static const struct {
		int error, status;
	} rows[] = { { -ENOENT, 404 }, { -EBUSY, 429 }, { -ENOMEM, 500 } };
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		box.result = rows[i].error;
		assert_int_equal(world_request(world, METHOD_GET, USERS, NULL), rows[i].status);
	}
	box.asked[0] = '\0';
	world_may_wait = false;
	assert_int_equal(world_request(world, METHOD_GET, USERS, NULL), 429);
	world_may_wait = true;
	world_rights = 0;
	assert_int_equal(world_request(world, METHOD_GET, USERS, NULL), 403);
	assert_string_equal(box.asked, "");
}

static void test_client_that_leaves(void **state)
{
	struct world *world = *state;

	world_begin(world, METHOD_GET, USERS, NULL);
	exchange_abandon(&world->exchange);
	assert_int_equal(box.left, 1);
}

#define API_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, world_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		API_TEST(test_answered_when_it_was_searched),
		API_TEST(test_refused),
		API_TEST(test_client_that_leaves),
	};

	return cmocka_run_group_tests_name("api_users", tests, NULL, NULL);
}
