/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim_statistics - what a scrape tells of claims, and how seldom anybody is asked for it
 *
 * The statistics are the test's: it counts who asks, and answers when it likes.
 */
#include "status/status.h"

#include "status/statistics.h"
#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct {
	unsigned int asked, left;
	int error;
	statistics_fn *done;
	void *userdata;
} world;
static time_t now_seconds;
static struct claim_statistics *claims;

int __wrap_statistics_request(struct statistics *statistics, const struct statistics_about *about,
			      statistics_fn *done, void *userdata, struct statistics_call **ret);
int __wrap_statistics_request(struct statistics *statistics, const struct statistics_about *about,
			      statistics_fn *done, void *userdata, struct statistics_call **ret)
{
	world.asked++;
	if (world.error < 0)
		return world.error;
	world.done = done;
	world.userdata = userdata;
	*ret = (struct statistics_call *) &world;
	return 0;
}

void __wrap_statistics_cancel(struct statistics_call *call);
void __wrap_statistics_cancel(struct statistics_call *call)
{
	assert_ptr_equal(call, &world);
	world.left++;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){ .tv_sec = now_seconds };
	return 0;
}

static int set_up(void **state)
{
	memset(&world, 0, sizeof(world));
	now_seconds = 1000;
	assert_int_equal(claim_statistics_new((struct statistics *) &world, &claims), 0);
	return 0;
}

static int tear_down(void **state)
{
	claims = claim_statistics_free(claims);
	return 0;
}

static void answer(const char *items)
{
	struct cJSON *tree = NULL;
	struct failure failure;
	statistics_fn *done = world.done;
	cleanup_free char *text = NULL;

	assert_non_null(done);
	world.done = NULL;
	assert_true(asprintf(&text, "{\"items\":[%s]}", items) > 0);
	if (json_parse_yaml(text, strlen(text), &tree, &failure) < 0)
		fail_msg("%s", failure.text);
	done(world.userdata, tree);
}

/* Caller frees. */
static char *scrape(void)
{
	char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	claim_statistics_print(claims, file);
	assert_int_equal(fclose(file), 0);
	return text;
}

static void expect(const char *line, bool is_there)
{
	cleanup_free char *text = scrape();

	if ((strstr(text, line) != NULL) != is_there)
		fail_msg("%s'%s' in:\n%s", is_there ? "no " : "", line, text);
}

#define LABELS(name)     "{namespace=\"n\",persistentvolumeclaim=\"" name "\"} "
#define ITEM(name, more) "{\"namespace\":\"n\",\"claim\":\"" name "\"" more "}"
#define FULL                                                                                       \
	",\"capacityBytes\":10,\"usedBytes\":4,\"availableBytes\":6,\"inodes\":5,\"inodesUsed\":"  \
	"2,"                                                                                       \
	"\"inodesFree\":3"

static void test_kubelets_names(void **state)
{
	static const char *const lines[] = {
		"# TYPE kubelet_volume_stats_capacity_bytes gauge\n",
		"kubelet_volume_stats_capacity_bytes" LABELS("a") "10\n",
		"kubelet_volume_stats_available_bytes" LABELS("a") "6\n",
		"kubelet_volume_stats_used_bytes" LABELS("a") "4\n",
		"kubelet_volume_stats_inodes" LABELS("a") "5\n",
		"kubelet_volume_stats_inodes_free" LABELS("a") "3\n",
		"kubelet_volume_stats_inodes_used" LABELS("a") "2\n",
		"kubelet_volume_stats_health_status_abnormal" LABELS("a") "1\n",
		"kubelet_volume_stats_capacity_bytes" LABELS("device") "7\n",
	};

	expect(LABELS("a"), false);
	answer(ITEM("a", FULL ",\"abnormal\":true") "," ITEM(
		"device", ",\"capacityBytes\":7") ",{\"volume\":\"scratch\",\"capacityBytes\":9}");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		expect(lines[i], true);
	expect("used_bytes" LABELS("device"), false);
	expect("counted_timestamp_seconds{", false);
	expect("abnormal" LABELS("device"), false);
	expect("} 9\n", false);
}

/* Bytes of a part of the files are no use of the volume. */
static void test_a_count_has_its_time(void **state)
{
	expect(LABELS("a"), false);
	answer(ITEM("a", FULL ",\"countedAt\":\"1970-01-01T00:01:40.500Z\"") "," ITEM(
		"b", FULL ",\"usedIsMore\":true"));
	expect("podvol_volume_counted_timestamp_seconds" LABELS("a") "100\n", true);
	expect("stats_used_bytes" LABELS("a") "4\n", true);
	expect("stats_capacity_bytes" LABELS("b") "10\n", true);
	expect("used_bytes" LABELS("b"), false);
	expect("inodes_used" LABELS("b"), false);
	expect("counted_timestamp_seconds" LABELS("b"), false);
}

static void test_one_row_for_all_pods_of_a_claim(void **state)
{
	cleanup_free char *text = NULL;
	char *first;

	expect("capacity_bytes{", false);
	answer(ITEM("b", FULL) "," ITEM("a", FULL) "," ITEM("b", FULL));
	text = scrape();
	first = strstr(text, "capacity_bytes" LABELS("b"));
	assert_non_null(first);
	assert_null(strstr(first + 1, "capacity_bytes" LABELS("b")));
	assert_non_null(strstr(text, "capacity_bytes" LABELS("a")));
}

static void test_scrapes_ask_seldom(void **state)
{
	for (int i = 0; i < 5; i++)
		expect("{", false);
	assert_int_equal(world.asked, 1); /* and it hangs */
	now_seconds += 600;
	expect("{", false);
	assert_int_equal(world.asked, 1);
	answer(ITEM("a", ",\"error\":\"no answer\""));
	expect(LABELS("a"), false); /* and asks */
	assert_int_equal(world.asked, 2);
	answer(ITEM("a", FULL));
	now_seconds += 59;
	expect(LABELS("a"), true);
	assert_int_equal(world.asked, 2);
	now_seconds += 1;
	expect(LABELS("a"), true);
	assert_int_equal(world.asked, 3);
}

/* No scrape for a while: old numbers would look like new ones. */
static void test_old_numbers_are_not_told(void **state)
{
	expect("{", false);
	answer(ITEM("a", FULL));
	now_seconds += 299;
	expect(LABELS("a"), true);
	now_seconds += 1;
	expect(LABELS("a"), false);
	answer(ITEM("a", FULL));
	expect(LABELS("a"), true);
}

static void test_refusals_and_the_end(void **state)
{
	world.error = -ENOBUFS;
	expect("{", false);
	expect("{", false);
	assert_int_equal(world.asked, 2); /* a failed question is no reason to wait */
	world.error = 0;
	expect("{", false);
	claims = claim_statistics_free(claims);
	assert_int_equal(world.left, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kubelets_names),       TEST(test_one_row_for_all_pods_of_a_claim),
		TEST(test_kubelets_names),       TEST(test_a_count_has_its_time),
		TEST(test_scrapes_ask_seldom),   TEST(test_old_numbers_are_not_told),
		TEST(test_refusals_and_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
