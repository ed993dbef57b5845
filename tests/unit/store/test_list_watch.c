/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_list_watch - what is asked of a kube-apiserver, in which order, and what its answers mean
 *
 * The HTTP client and the timer are taken over: each call is answered by the test.
 */
#include "store/remote/list_watch.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct world {
	sd_event *event;
	struct list_watch *list_watch;
	struct http_request request;
	char path[16384];
	unsigned int calls, cancels; /* at most one call is under way */
	bool is_alone;               /* answers come by HTTP/1.1 */
	uint64_t pause_usec;         /* the last one */
	uint64_t clock_usec;         /* what clock_gettime() says */
	char told[1024];             /* what the callbacks were given, in a word each */
	int status;                  /* of failed() */
	char why[FAILURE_TEXT_BYTES];
};

static struct world *world;

int __wrap_http_client_call(struct http_client *client, const struct http_request *request,
			    struct http_call **ret);
struct http_call *__wrap_http_call_cancel(struct http_call *call);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __real_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);

int __wrap_http_client_call(struct http_client *client, const struct http_request *request,
			    struct http_call **ret)
{
	world->calls++;
	world->request = *request;
	(void) snprintf(world->path, sizeof(world->path), "%s", request->path);
	*ret = (struct http_call *) world;
	return 0;
}

struct http_call *__wrap_http_call_cancel(struct http_call *call)
{
	world->cancels += call != NULL;
	return NULL;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ .tv_sec = (time_t) (world->clock_usec / 1000000),
				  .tv_nsec = (long) (world->clock_usec % 1000000 * 1000) };
	return 0;
}

/* No test waits. */
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	world->pause_usec = usec;
	(void) sd_event_source_set_time_accuracy(source, 1);
	return __real_sd_event_source_set_time_relative(source, 0);
}

static void report(const char *word, const char *name)
{
	size_t length = strlen(world->told);

	(void) snprintf(world->told + length, sizeof(world->told) - length, "%s%s%s%s",
			length ? " " : "", word, *name ? ":" : "", name);
}

static void begin_list(void *userdata)
{
	report("begin", "");
}

static void take(void *userdata, const struct server_object *object)
{
	report(object->object ? "item" : "unknown", object->name);
	if (object->object)
		assert_null(strstr(object->object->json, "managedFields"));
	else
		assert_true(object->why->error < 0);
}

static void end_list(void *userdata, bool went_back)
{
	report(went_back ? "end-back" : "end", "");
}

static void change(void *userdata, const struct server_event *event)
{
	static const char *const words[] = { "added", "modified", "deleted" };

	report(words[event->type], event->object.name);
}

static void failed_try(void *userdata, int status, const struct failure *why)
{
	report("failed", "");
	world->status = status;
	(void) snprintf(world->why, sizeof(world->why), "%s", why->text);
}

/* The pause ends, and the next call is there. */
static void turn(void)
{
	unsigned int before = world->calls;

	while (world->calls == before)
		assert_true(sd_event_run(world->event, UINT64_MAX) > 0);
}

static int begin(void **state, bool is_selective, uint64_t newest)
{
	struct list_watch_options options = { .kind = kind_row(KIND_CONFIG_MAP),
					      .path = "/api/v1/configmaps",
					      .selector = "fieldSelector=a%3Db",
					      .begin_list = begin_list,
					      .take = take,
					      .end_list = end_list,
					      .change = change,
					      .failed = failed_try,
					      .is_selective = is_selective,
					      .newest = newest };

	world = calloc(1, sizeof(*world));
	assert_non_null(world);
	assert_true(sd_event_new(&world->event) >= 0);
	options.event = world->event;
	assert_int_equal(list_watch_new(&options, &world->list_watch), 0);
	turn();
	*state = world;
	return 0;
}

static int set_up(void **state)
{
	return begin(state, false, 0);
}

static int set_up_selective(void **state)
{
	return begin(state, true, 0);
}

static int set_up_cached(void **state)
{
	return begin(state, true, 20);
}

static int tear_down(void **state)
{
	world->list_watch = list_watch_free(world->list_watch);
	(void) sd_event_unref(world->event);
	free(world);
	return 0;
}

static void answer(int status, const char *body)
{
	world->told[0] = '\0';
	world->request.done(world->request.userdata,
			    &(struct http_answer){ .status = status,
						   .is_multiplexed = !world->is_alone,
						   .body = body,
						   .length = strlen(body) });
}

/* A watch, after what it was asked to last. */
static void end_in_time(void)
{
	world->clock_usec += 2 * LIST_WATCH_SECONDS * 1000000ULL;
	answer(200, "");
}

static void line(const char *text)
{
	world->told[0] = '\0';
	world->request.line(world->request.userdata, text, strlen(text));
}

#define LIST(version, next, items)                                                                 \
	"{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"     \
	"\"" version "\",\"continue\":\"" next "\"},\"items\":[" items "]}"
#define ITEM(name)                                                                                 \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"u\","                  \
	"\"resourceVersion\":\"3\",\"managedFields\":[{\"manager\":\"kubectl\"}]},"                \
	"\"data\":{\"k\":\"v\"}}"
#define BAD_ITEM "{\"metadata\":{\"name\":\"bad\",\"namespace\":\"n\"},\"data\":7}"
#define EVENT(type, name, version)                                                                 \
	"{\"type\":\"" type "\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","         \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"resourceVersion\":\"" version   \
	"\"}}}"
#define PATH "/api/v1/configmaps?fieldSelector=a%3Db&"

static void assert_watches_from(const char *version)
{
	char expected[256];

	(void) snprintf(expected, sizeof(expected),
			"%swatch=1&allowWatchBookmarks=true&resourceVersion=%s&timeoutSeconds=",
			PATH, version);
	assert_memory_equal(world->path, expected, strlen(expected));
	assert_non_null(world->request.line);
}

static void assert_lists(void)
{
	assert_string_equal(world->path, PATH "limit=100");
	assert_null(world->request.line);
}

/* After the first list. */
static void list_one(void)
{
	answer(200, LIST("10", "", ITEM("a")));
	assert_watches_from("10");
}

static void test_a_list_in_pages_then_a_watch(void **state)
{
	assert_string_equal(world->told, "begin");
	assert_lists();
	answer(200, LIST("10", "x/y=", ITEM("a") "," ITEM("b")));
	assert_string_equal(world->told, "item:a item:b");
	assert_string_equal(world->path, PATH "limit=100&continue=x%2Fy%3D");
	answer(200, LIST("10", "", ITEM("c")));
	assert_string_equal(world->told, "item:c end");
	assert_watches_from("10");
	assert_int_equal(world->calls, 3);
}

static void test_events_and_bookmarks_move_the_version(void **state)
{
	list_one();
	line(EVENT("ADDED", "b", "11"));
	assert_string_equal(world->told, "added:b");
	line(EVENT("MODIFIED", "a", "12"));
	assert_string_equal(world->told, "modified:a");
	line(EVENT("DELETED", "a", "13"));
	assert_string_equal(world->told, "deleted:a");
	line(EVENT("BOOKMARK", "", "20"));
	assert_string_equal(world->told, "");
	end_in_time();
	assert_string_equal(world->told, "");
	turn();
	assert_watches_from("20");
}

/* A server that is stopped ends its watches without an error; the next one may have an older etcd.
 */
static void test_a_watch_that_ends_early_leads_to_a_list(void **state)
{
	list_one();
	world->clock_usec += LIST_WATCH_SECONDS * 1000000ULL - 1;
	answer(200, "");
	assert_string_equal(world->told, "");
	turn();
	assert_string_equal(world->told, "begin");
	assert_lists();
	answer(200, LIST("7", "", ""));
	assert_string_equal(world->told, "end-back");
}

static void assert_watches_for(unsigned int seconds)
{
	unsigned long asked = strtoul(strstr(world->path, "timeoutSeconds=") + 15, NULL, 10);

	assert_true(asked >= seconds && asked <= 2 * seconds);
	assert_int_equal(world->request.timeout_usec, (asked + LIST_WATCH_GRACE_SECONDS) * 1000000);
}

/* Of a connection that it has to itself nothing else shows that it is dead. */
static void test_a_watch_that_is_alone_is_shorter(void **state)
{
	list_one();
	assert_watches_for(LIST_WATCH_SECONDS);
	world->is_alone = true;
	answer(410, "{}");
	turn();
	list_one();
	assert_watches_for(LIST_WATCH_ALONE_SECONDS);
}

/* Silence is no failure: the next one waits no longer for it. */
static void test_silent_watches_keep_the_pause_short(void **state)
{
	list_one();
	for (int i = 0; i < 10; i++) {
		end_in_time();
		assert_true(world->pause_usec <= 2 * LIST_WATCH_PAUSE_MIN_MSEC * 1000ULL);
		turn();
		assert_watches_from("10");
	}
}

static void test_an_object_that_is_not_understood_is_there(void **state)
{
	answer(200, LIST("10", "", BAD_ITEM "," ITEM("a")));
	assert_string_equal(world->told, "unknown:bad item:a end");
}

static const int refusals[] = { 302, 400, 401, 403, 404, 410, 429, 500, 502, 503, 504 };

static void test_no_refusal_ends_a_list(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		answer(200, LIST("10", "next", ITEM("a")));
		answer(refusals[i], "{}");
		assert_string_equal(world->told, "failed");
		assert_int_equal(world->status, refusals[i]);
		turn();
		assert_string_equal(world->told, "failed begin");
		assert_lists();
	}
}

static void test_no_refusal_of_a_watch_deletes(void **state)
{
	list_one();
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		answer(refusals[i], "{}");
		assert_string_equal(world->told, "failed");
		turn();
		if (refusals[i] == 410 || refusals[i] == 504) {
			assert_string_equal(world->told, "failed begin");
			assert_lists();
			list_one();
		} else {
			assert_string_equal(world->told, "failed");
			assert_watches_from("10");
		}
	}
}

static void test_a_broken_connection_changes_nothing(void **state)
{
	const struct failure why = { .error = -ECONNRESET, .text = "reset by peer" };
	struct http_answer broken = { .error = -ECONNRESET, .why = &why, .body = "" };

	list_one();
	world->told[0] = '\0';
	broken.status = 200;
	world->request.done(world->request.userdata, &broken);
	assert_string_equal(world->told, "failed");
	assert_string_equal(world->why, "reset by peer");
	turn();
	assert_lists();
}

static void test_an_older_event_leads_to_a_list(void **state)
{
	list_one();
	line(EVENT("BOOKMARK", "", "9"));
	assert_string_equal(world->told, "failed");
	assert_string_equal(world->why, "/api/v1/configmaps: watch: version 9 after 10");
	turn();
	assert_lists();
}

static const char *const lists[] = {
	"",
	"{",
	"{}",
	"<html>",
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}",
	"{\"kind\":\"SecretList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},"
	"\"items\":[]}",
	"{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"}"
	"}",
	"{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[]}",
	LIST("1x", "", ""),
	LIST("1", "", ITEM("a") ",{}"),
};

static void test_half_a_list_is_none(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		answer(200, lists[i]);
		assert_string_equal(world->told, "failed");
		turn();
		assert_lists();
	}
	answer(200, LIST("10", "next", ITEM("a")));
	answer(200, LIST("11", "", ITEM("b")));
	assert_string_equal(world->told, "item:b failed");
	assert_non_null(strstr(world->why, "of resourceVersions 10 and 11"));
}

static const char *const events[] = {
	"{",
	"{\"type\":\"ADDED\"}",
	"{\"type\":\"GONE\",\"object\":{}}",
	"{\"type\":\"DELETED\",\"object\":{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":"
	"{\"name\":\"a\",\"resourceVersion\":\"11\"}}}",
	EVENT("DELETED", "a", ""),
	EVENT("DELETED", "", "11"),
	"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"old\"}}",
};

static void test_what_is_no_event_leads_to_a_list(void **state)
{
	list_one();
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		line(events[i]);
		assert_string_equal(world->told, "failed");
		assert_int_equal(world->cancels, i + 1);
		turn();
		assert_lists();
		list_one();
	}
	line("{\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"etcd is away\"}}");
	assert_non_null(strstr(world->why, "etcd is away (500)"));
	turn();
	assert_watches_from("10");
}

static void test_an_older_list_says_so(void **state)
{
	list_one();
	line(EVENT("MODIFIED", "a", "50"));
	answer(410, "{}");
	turn();
	answer(200, LIST("7", "", ""));
	assert_string_equal(world->told, "end-back");
	answer(410, "{}");
	turn();
	answer(200, LIST("8", "", ""));
	assert_string_equal(world->told, "end");
}

static void test_pauses_grow_and_honour_the_server(void **state)
{
	struct http_answer busy = { .status = 429, .body = "{}", .length = 2 };
	uint64_t least = LIST_WATCH_PAUSE_MIN_MSEC * 1000ULL;

	for (int i = 0; i < 10; i++) {
		answer(503, "{}");
		assert_true(world->pause_usec >= least && world->pause_usec <= 2 * least);
		least = least * 2 < LIST_WATCH_PAUSE_MAX_MSEC * 1000ULL
				? least * 2
				: LIST_WATCH_PAUSE_MAX_MSEC * 1000ULL;
		turn();
	}
	busy.retry_after_seconds = 200;
	world->request.done(world->request.userdata, &busy);
	assert_true(world->pause_usec >= 200000000 && world->pause_usec <= 400000000);
	turn();
	list_one();
	end_in_time();
	assert_true(world->pause_usec <= 2 * LIST_WATCH_PAUSE_MIN_MSEC * 1000ULL);
}

static void assert_asks_cache(const char *version)
{
	char expected[256];

	(void) snprintf(expected, sizeof(expected),
			"%sresourceVersion=%s&resourceVersionMatch=NotOlderThan", PATH, version);
	assert_string_equal(world->path, expected);
	assert_null(world->request.line);
}

static void assert_lists_whole(void)
{
	assert_string_equal(world->path, PATH);
	assert_null(world->request.line);
}

/* Where no version is known, the first list is as new as etcd. */
static void test_whole_lists(void **state)
{
	assert_lists_whole();
	answer(200, LIST("10", "", ITEM("a")));
	assert_string_equal(world->told, "item:a end");
	assert_watches_from("10");
	line(EVENT("MODIFIED", "a", "50"));
	answer(410, "{}");
	turn();
	assert_asks_cache("50");
	answer(200, LIST("50", "", ""));
	assert_string_equal(world->told, "end");
}

static void test_a_watch_cache_that_has_not_come_to_it(void **state)
{
	static const int statuses[] = { 400, 410, 504 };
	char version[8] = "20";

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		assert_asks_cache(version);
		answer(statuses[i], "{}");
		assert_string_equal(world->told, "begin");
		assert_lists_whole();
		(void) snprintf(version, sizeof(version), "2%zu", i);
		answer(200, i == 0   ? LIST("20", "", "")
			    : i == 1 ? LIST("21", "", "")
				     : LIST("22", "", ""));
		assert_string_equal(world->told, "end");
		answer(410, "{}");
		turn();
	}
}

/* Each way is tried in turn. */
static void test_whole_lists_that_fail(void **state)
{
	static const struct {
		int status;
		const char *body;
	} answers[] = {
		{ 500, "{}" },
		{ 200, LIST("19", "", ITEM("a")) },
		{ 200, LIST("20", "more", "") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		assert_asks_cache("20");
		answer(answers[i].status, answers[i].body);
		assert_non_null(strstr(world->told, "failed"));
		assert_null(strstr(world->told, "end"));
		turn();
		assert_lists_whole();
		answer(504, "{}");
		assert_string_equal(world->told, "failed");
		turn();
		assert_lists();
		answer(504, "{}");
		turn();
	}
}

static void test_a_watch_cache_of_a_server_that_went_back(void **state)
{
	assert_asks_cache("20");
	answer(504, "{}");
	assert_lists_whole();
	answer(200, LIST("8", "", ""));
	assert_string_equal(world->told, "end-back");
	answer(410, "{}");
	turn();
	assert_asks_cache("8");
}

#define CACHED(name) cmocka_unit_test_setup_teardown(name, set_up_cached, tear_down)
#define TEST(name)   cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_a_list_in_pages_then_a_watch),
		TEST(test_events_and_bookmarks_move_the_version),
		TEST(test_a_watch_that_ends_early_leads_to_a_list),
		TEST(test_a_watch_that_is_alone_is_shorter),
		TEST(test_silent_watches_keep_the_pause_short),
		TEST(test_an_object_that_is_not_understood_is_there),
		TEST(test_no_refusal_ends_a_list),
		TEST(test_no_refusal_of_a_watch_deletes),
		TEST(test_a_broken_connection_changes_nothing),
		TEST(test_an_older_event_leads_to_a_list),
		TEST(test_half_a_list_is_none),
		TEST(test_what_is_no_event_leads_to_a_list),
		TEST(test_an_older_list_says_so),
		TEST(test_pauses_grow_and_honour_the_server),
		cmocka_unit_test_setup_teardown(test_whole_lists, set_up_selective, tear_down),
		CACHED(test_a_watch_cache_that_has_not_come_to_it),
		CACHED(test_whole_lists_that_fail),
		CACHED(test_a_watch_cache_of_a_server_that_went_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
