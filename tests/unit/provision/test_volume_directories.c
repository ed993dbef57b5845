/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_directories - one search for users serves all removals of a base path that are due,
 * and none that became due while it ran
 *
 * Searches and removals are made up and run on the real threads; real ones:
 * tests/root/mount/test_users_below.c and tests/system/provision/test_provision.
 */
#include "provision/volume_directories.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "controller/local/local_provisioner.h"
#include "controller/snapshot/local_snapshotter.h"
#include "mount/holders/users_below.h"
#include "mount/remove/volume_directory.h"
#include "status/copies.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ORDERS_MAX = 1000 };

struct users_below {
	unsigned int number; /* of the search; from 1 */
};

int __wrap_local_provisioner_new(const struct local_provisioner_options *options,
				 struct local_provisioner **ret);
int __wrap_local_snapshotter_new(const struct local_provisioner_options *options,
				 struct local_snapshotter **ret);
int __wrap_users_below_search(const char *base_path, struct users_below **ret,
			      struct failure *reterr);
struct users_below *__wrap_users_below_free(struct users_below *users);
bool __wrap_users_below_is_current(const struct users_below *users);
int __wrap_volume_directory_remove(const struct volume_directory *directory,
				   struct failure *reterr);

/* One removal that was ordered, and what came of it. */
struct order {
	unsigned int begun_before; /* searches that had begun when it was ordered */
	unsigned int served_by;    /* 0: it searches itself */
	bool is_kept;              /* it fails */
	unsigned int ends;
	int error;
};

/* Written by the threads under the lock. */
static struct {
	pthread_mutex_t lock;
	unsigned int searches, removals, kept_users;
	int search_error;
	unsigned int late_search; /* what this one found tells nothing any more, */
	bool all_are_late;        /* or what any found */
	bool waits;               /* a search goes on only with... */
	sem_t may_end;            /* ... this, */
	sem_t has_begun;          /* and says that it began */
	struct order orders[ORDERS_MAX];
	struct local_provisioner_options options;
} made_up = { .lock = PTHREAD_MUTEX_INITIALIZER };

int __wrap_local_provisioner_new(const struct local_provisioner_options *options,
				 struct local_provisioner **ret)
{
	made_up.options = *options;
	*ret = NULL;
	return 0;
}

int __wrap_local_snapshotter_new(const struct local_provisioner_options *options,
				 struct local_snapshotter **ret)
{
	*ret = NULL;
	return 0;
}

int __wrap_users_below_search(const char *base_path, struct users_below **ret,
			      struct failure *reterr)
{
	struct users_below *users = calloc(1, sizeof(*users));
	bool waits;

	(void) pthread_mutex_lock(&made_up.lock);
	waits = made_up.waits; /* the test may change it once this has begun */
	users->number = ++made_up.searches;
	made_up.kept_users++;
	(void) pthread_mutex_unlock(&made_up.lock);
	(void) sem_post(&made_up.has_begun);
	if (waits)
		(void) sem_wait(&made_up.may_end);
	if (made_up.search_error < 0) {
		(void) __wrap_users_below_free(users);
		return failed(reterr, made_up.search_error, "cannot search");
	}
	*ret = users;
	return 0;
}

struct users_below *__wrap_users_below_free(struct users_below *users)
{
	(void) pthread_mutex_lock(&made_up.lock);
	made_up.kept_users -= users != NULL;
	(void) pthread_mutex_unlock(&made_up.lock);
	free(users);
	return NULL;
}

bool __wrap_users_below_is_current(const struct users_below *users)
{
	return !made_up.all_are_late && users->number != made_up.late_search;
}

int __wrap_volume_directory_remove(const struct volume_directory *directory, struct failure *reterr)
{
	struct order *order = &made_up.orders[strtoul(directory->name, NULL, 10)];

	(void) pthread_mutex_lock(&made_up.lock);
	made_up.removals++;
	order->served_by = directory->users ? directory->users->number : 0;
	(void) pthread_mutex_unlock(&made_up.lock);
	return order->is_kept ? failed_plain(reterr, -EBUSY, "it is used") : 0;
}

/* ---- the world ---- */

struct world {
	sd_event *event;
	struct worker_return *to_loop;
	struct copies copies;
	struct volume_directories *directories;
	unsigned int ordered, ended;
};

static struct world *the_world;

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct volume_directories_options options = { .copies = &world->copies };

	assert_non_null(world);
	memset(made_up.orders, 0, sizeof(made_up.orders));
	made_up.searches = made_up.removals = 0;
	made_up.search_error = 0;
	made_up.all_are_late = made_up.waits = false;
	made_up.late_search = 0;
	assert_int_equal(sem_init(&made_up.may_end, 0, 0), 0);
	assert_int_equal(sem_init(&made_up.has_begun, 0, 0), 0);
	assert_int_equal(sd_event_new(&world->event), 0);
	assert_int_equal(worker_return_new(world->event, 0, &world->to_loop), 0);
	options.to_loop = world->to_loop;
	assert_int_equal(volume_directories_new(&options, &world->directories), 0);
	*state = the_world = world;
	return 0;
}

static void stop(struct world *world)
{
	volume_directories_stop(world->directories);
	world->to_loop = worker_return_free(world->to_loop);
	world->directories = volume_directories_free(world->directories);
}

static int tear_down(void **state)
{
	struct world *world = *state;

	if (world->directories)
		stop(world);
	assert_int_equal(made_up.kept_users, 0);
	sd_event_unref(world->event);
	free(world);
	return 0;
}

static void on_done(void *userdata, int error, const struct directory_choice *choice,
		    const struct failure *why)
{
	struct order *order = userdata;

	order->ends++;
	order->error = error;
	the_world->ended++;
}

static void order_removals(struct world *world, unsigned int count, const char *base_path)
{
	char name[16];
	const struct directory_order order = { .deed = DIRECTORY_REMOVE,
					       .base_paths = &base_path,
					       .base_count = 1,
					       .name = name,
					       .mark = "uid" };

	for (; count > 0; count--) {
		struct order *made = &made_up.orders[world->ordered];

		(void) snprintf(name, sizeof(name), "%u", world->ordered++);
		(void) pthread_mutex_lock(&made_up.lock);
		made->begun_before = made_up.searches;
		(void) pthread_mutex_unlock(&made_up.lock);
		assert_int_equal(made_up.options.start(made_up.options.start_userdata, &order,
						       on_done, made),
				 0);
	}
}

static void run_until_all_ended(struct world *world)
{
	while (world->ended < world->ordered)
		assert_true(sd_event_run(world->event, 10000000) > 0);
}

/* Each once, and none by a search that began before it was ordered. */
static void expect_all_served(const struct world *world)
{
	for (unsigned int i = 0; i < world->ordered; i++) {
		assert_int_equal(made_up.orders[i].ends, 1);
		assert_true(made_up.orders[i].served_by > made_up.orders[i].begun_before);
	}
}

/* ---- tests ---- */

static void test_one_alone_gets_a_search(void **state)
{
	struct world *world = *state;

	order_removals(world, 1, "/base");
	run_until_all_ended(world);
	expect_all_served(world);
	assert_int_equal(made_up.searches, 1);
	assert_int_equal(made_up.orders[0].error, 0);
}

/* The first one's search begins at once; all others wait for the next. */
static void test_two_searches_serve_a_thousand(void **state)
{
	struct world *world = *state;

	order_removals(world, 1000, "/base");
	run_until_all_ended(world);
	expect_all_served(world);
	assert_int_equal(made_up.removals, 1000);
	assert_int_equal(made_up.searches, 2);
}

static void test_who_comes_during_a_search_waits_for_the_next(void **state)
{
	struct world *world = *state;

	made_up.waits = true;
	order_removals(world, 1, "/base");
	assert_int_equal(sem_wait(&made_up.has_begun), 0);
	order_removals(world, 10, "/base");
	assert_int_equal(made_up.searches, 1);
	(void) sem_post(&made_up.may_end);
	(void) sem_post(&made_up.may_end);
	run_until_all_ended(world);
	expect_all_served(world);
	assert_int_equal(made_up.orders[0].served_by, 1);
	assert_int_equal(made_up.orders[1].served_by, 2);
	assert_int_equal(made_up.searches, 2);
}

static void test_each_base_path_has_its_own(void **state)
{
	struct world *world = *state;

	order_removals(world, 50, "/base");
	order_removals(world, 50, "/other");
	run_until_all_ended(world);
	expect_all_served(world);
	assert_in_range(made_up.searches, 2, 4);
}

/* A base path that hangs keeps no other one's from being removed. */
static void test_a_search_that_hangs_is_its_own_base_paths(void **state)
{
	struct world *world = *state;

	made_up.waits = true;
	order_removals(world, 20, "/hangs");
	assert_int_equal(sem_wait(&made_up.has_begun), 0);
	made_up.waits = false;
	order_removals(world, 20, "/base");
	while (world->ended < 20)
		assert_true(sd_event_run(world->event, 10000000) > 0);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(made_up.orders[i].ends, 0);
	(void) sem_post(&made_up.may_end);
	run_until_all_ended(world);
	expect_all_served(world);
}

static void test_one_that_is_kept_keeps_no_other(void **state)
{
	struct world *world = *state;

	made_up.orders[3].is_kept = true;
	order_removals(world, 10, "/base");
	run_until_all_ended(world);
	expect_all_served(world);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(made_up.orders[i].error, i == 3 ? -EBUSY : 0);
}

/* Then each removal searches itself, and keeps what it cannot see. */
static void test_a_search_that_fails_proves_nothing(void **state)
{
	struct world *world = *state;

	made_up.search_error = -EMFILE;
	order_removals(world, 10, "/base");
	run_until_all_ended(world);
	assert_int_equal(made_up.removals, 10);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(made_up.orders[i].served_by, 0);
}

/* All but the first that a search serves. */
static void test_what_waited_too_long_gets_another(void **state)
{
	struct world *world = *state;
	unsigned int late = 0;

	made_up.late_search = 2;
	order_removals(world, 11, "/base");
	run_until_all_ended(world);
	expect_all_served(world);
	assert_int_equal(made_up.removals, 11);
	for (unsigned int i = 1; i < 11; i++)
		late += made_up.orders[i].served_by > 2;
	assert_int_equal(late, 9);
}

/* Each search leads to a removal then. */
static void test_searches_that_are_always_too_late_end(void **state)
{
	struct world *world = *state;

	made_up.all_are_late = true;
	order_removals(world, 10, "/base");
	run_until_all_ended(world);
	expect_all_served(world);
	assert_int_equal(made_up.removals, 10);
	assert_in_range(made_up.searches, 10, 11);
}

/* What waits for a search then is not removed, and says so. */
static void test_podvold_stops(void **state)
{
	struct world *world = *state;

	made_up.waits = true;
	order_removals(world, 1, "/base");
	assert_int_equal(sem_wait(&made_up.has_begun), 0);
	order_removals(world, 10, "/base");
	(void) sem_post(&made_up.may_end);
	stop(world);
	assert_int_equal(made_up.removals, 0);
	for (unsigned int i = 0; i < world->ordered; i++) {
		assert_int_equal(made_up.orders[i].ends, 1);
		assert_int_equal(made_up.orders[i].error, -ECANCELED);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_one_alone_gets_a_search),
		TEST(test_two_searches_serve_a_thousand),
		TEST(test_who_comes_during_a_search_waits_for_the_next),
		TEST(test_each_base_path_has_its_own),
		TEST(test_a_search_that_hangs_is_its_own_base_paths),
		TEST(test_one_that_is_kept_keeps_no_other),
		TEST(test_a_search_that_fails_proves_nothing),
		TEST(test_what_waited_too_long_gets_another),
		TEST(test_searches_that_are_always_too_late_end),
		TEST(test_podvold_stops),
	};

	return cmocka_run_group_tests_name("volume_directories", tests, NULL, NULL);
}
