/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_remote_watch - list and watch over TLS while the server ends, comes back and refuses
 *
 * The server is podvold's own. Link with -Wl,--wrap=sd_event_source_set_time_relative. Nothing is
 * gone but what was deleted: after a broken connection a whole list lacks it, else a watch says so.
 */
#include "tls_world.h"

#include "store/remote/list_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { PATIENCE_USEC = 60 * 1000000 };

#define MAPS "/api/v1/namespaces/default/configmaps"
#define MAP(name)                                                                                  \
	"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name "\"}}"

static struct seen {
	unsigned int lists, items, listed_items, added, deleted, failures;
	int status; /* of the last failure */
} seen;

static struct list_watch *list_watch;

int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __real_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);

/* Pauses between tries are short here; libcurl's timer is as it is. */
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	const char *what = NULL;

	(void) sd_event_source_get_description(source, &what);
	if (!what || strcmp(what, "kube-apiserver-list-watch") != 0)
		return __real_sd_event_source_set_time_relative(source, usec);
	(void) sd_event_source_set_time_accuracy(source, 1);
	return __real_sd_event_source_set_time_relative(source, 1000);
}

static void begin_list(void *userdata)
{
	seen.items = 0;
}

static void take(void *userdata, const struct server_object *object)
{
	assert_non_null(object->object);
	seen.items++;
}

static void end_list(void *userdata, bool went_back)
{
	assert_false(went_back);
	seen.lists++;
	seen.listed_items = seen.items;
}

static void change(void *userdata, const struct server_event *event)
{
	seen.added += event->type == SERVER_ADDED;
	seen.deleted += event->type == SERVER_DELETED;
}

static void failed_try(void *userdata, int status, const struct failure *why)
{
	assert_true(why->text[0] != '\0');
	seen.failures++;
	seen.status = status;
}

static void wait_for(const struct served *served, const unsigned int *counter, unsigned int value)
{
	while (*counter < value)
		assert_true(sd_event_run(served->world->event, PATIENCE_USEC) > 0);
}

/* The first list came. */
static int set_up(void **state)
{
	struct list_watch_options options = { .kind = kind_row(KIND_CONFIG_MAP),
					      .path = "/api/v1/configmaps",
					      .selector = "",
					      .begin_list = begin_list,
					      .take = take,
					      .end_list = end_list,
					      .change = change,
					      .failed = failed_try };
	struct served *served;

	assert_int_equal(served_set_up(state), 0);
	served = *state;
	seen = (struct seen){ 0 };
	connect_as(served, NULL, NULL, served->ca_file);
	options.event = served->world->event;
	options.client = served->client;
	assert_int_equal(list_watch_new(&options, &list_watch), 0);
	wait_for(served, &seen.lists, 1);
	assert_int_equal(seen.listed_items, 0);
	return 0;
}

static int tear_down(void **state)
{
	list_watch = list_watch_free(list_watch);
	return served_tear_down(state);
}

static void make_maps(const struct served *served)
{
	assert_int_equal(world_request(served->world, METHOD_POST, MAPS, MAP("stays")), 201);
	/* A watch from 0 begins with what is there, in any order: one object has one. */
	wait_for(served, &seen.added, 1);
	assert_int_equal(world_request(served->world, METHOD_POST, MAPS, MAP("map")), 201);
	wait_for(served, &seen.added, 2);
}

static void delete_map(const struct served *served)
{
	assert_int_equal(world_request(served->world, METHOD_DELETE, MAPS "/map", NULL), 200);
}

static void test_a_server_that_ends_deletes_nothing(void **state)
{
	struct served *served = *state;

	make_maps(served);
	stop_serving(served);
	wait_for(served, &seen.failures, 2);
	assert_int_equal(seen.deleted, 0);
	delete_map(served);
	serve_again(served);
	/* A list after the broken connection has what stays; the watch from it goes on. */
	wait_for(served, &seen.lists, 2);
	assert_int_equal(seen.listed_items, 1);
	assert_int_equal(seen.deleted, 0);
	assert_int_equal(world_request(served->world, METHOD_POST, MAPS, MAP("map")), 201);
	wait_for(served, &seen.added, 3);
	delete_map(served);
	wait_for(served, &seen.deleted, 1);
	assert_int_equal(seen.deleted, 1);
	assert_int_equal(seen.lists, 2);
}

static void test_a_refused_token_deletes_nothing(void **state)
{
	struct served *served = *state;

	make_maps(served);
	use_token(served, "expired");
	stop_serving(served);
	serve_again(served);
	while (seen.status != 401)
		wait_for(served, &seen.failures, seen.failures + 1);
	assert_int_equal(seen.deleted, 0);
	delete_map(served); /* before the next list may be answered */
	use_token(served, NULL);
	wait_for(served, &seen.lists, 2);
	assert_int_equal(seen.listed_items, 1);
	assert_int_equal(seen.deleted, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_server_that_ends_deletes_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_refused_token_deletes_nothing, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
