/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_stats - how full a volume is and whether it is well, as a driver says
 */
#include "tests/unit/csi/csi_world.h"

#include "plugins/csi.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

extern const struct volume_plugin csi_volume_plugin;

static struct {
	unsigned int count;
	struct volume_metrics fullness;
	struct failure failure;
} told;

static Csi__V1__VolumeUsage usages[3], *usage_pointers[3];
static Csi__V1__VolumeCondition condition;
static Csi__V1__NodeGetVolumeStatsResponse reply;

static void on_notified(void *userdata, const struct volume_metrics *fullness,
			const struct failure *failure)
{
	struct volume_metrics_call **call = userdata;

	told.count++;
	told.fullness = *fullness;
	told.failure = failure ? *failure : (struct failure){ .error = 0 };
	(*call)->free(*call);
	*call = NULL;
}

static void add_usage(Csi__V1__VolumeUsage__Unit unit, int64_t total, int64_t used,
		      int64_t available)
{
	Csi__V1__VolumeUsage *usage = &usages[reply.n_usage];

	csi__v1__volume_usage__init(usage);
	usage->unit = unit;
	usage->total = total;
	usage->used = used;
	usage->available = available;
	usage_pointers[reply.n_usage++] = usage;
}

static int setup(void **state)
{
	memset(&told, 0, sizeof(told));
	csi__v1__node_get_volume_stats_response__init(&reply);
	reply.usage = usage_pointers;
	if (csi_world_setup(state) < 0)
		return -1;
	csi_world.stats = &reply.base;
	csi_world.capabilities = CAN_STAGE | CAN_STATS;
	return 0;
}

static int ask(void)
{
	static struct volume_metrics_call *call;
	const struct volume_request request = { .host = &csi_world.host,
						.spec = &csi_world.spec,
						.unique_name = csi_world.unique_name,
						.pod_uid = "u1",
						.volume_name = csi_world.request.volume_name };
	int r = csi_volume_plugin.start_metrics(&request, "/target", on_notified, &call, &call);

	assert_int_equal(told.count, 0);
	csi_world_answer();
	assert_int_equal(told.count, r == 0);
	assert_null(call);
	return r;
}

/* Handle and target, and no staging path. */
static void test_figures(void **state)
{
	add_usage(CSI__V1__VOLUME_USAGE__UNIT__BYTES, 1000, 300, 600);
	add_usage(CSI__V1__VOLUME_USAGE__UNIT__INODES, 50, 20, 30);
	add_usage(CSI__V1__VOLUME_USAGE__UNIT__UNKNOWN, 7, 7, 7);
	assert_int_equal(ask(), 0);
	assert_calls("NodeGetVolumeStats{volume_id=vol-1 volume_path=/target}");
	assert_int_equal(told.failure.error, 0);
	assert_true(told.fullness.has_bytes && told.fullness.has_inodes);
	assert_int_equal(told.fullness.capacity, 1000);
	assert_int_equal(told.fullness.used, 300);
	assert_int_equal(told.fullness.available, 600);
	assert_int_equal(told.fullness.inodes, 50);
	assert_int_equal(told.fullness.inodes_used, 20);
	assert_int_equal(told.fullness.inodes_free, 30);
	assert_false(told.fullness.has_condition);
}

/* case 289, difference: the caller gets that answer, and asks the file system */
static void test_driver_that_tells_none(void **state)
{
	csi_world.capabilities = CAN_STAGE;
	assert_int_equal(ask(), 0);
	assert_calls("");
	assert_int_equal(told.failure.error, -EOPNOTSUPP);
}

/* case 290 */
static void test_no_usage(void **state)
{
	assert_int_equal(ask(), 0);
	assert_int_equal(told.failure.error, -ENODATA);
	assert_string_equal(told.failure.text,
			    "driver 'd' reports no statistics of volume 'vol-1'");
}

static void test_condition(void **state)
{
	csi__v1__volume_condition__init(&condition);
	condition.abnormal = true;
	condition.message = "disk fails";
	reply.volume_condition = &condition;
	assert_int_equal(ask(), 0); /* from a driver that does not know conditions */
	assert_int_equal(told.failure.error, -ENODATA);

	told.count = 0;
	csi_world.capabilities |= 1 << 4;
	assert_int_equal(ask(), 0);
	assert_int_equal(told.failure.error, 0);
	assert_true(told.fullness.has_condition && told.fullness.abnormal);
	assert_string_equal(told.fullness.condition, "disk fails");
}

static void test_failures(void **state)
{
	csi_world.answers[CSI_NODE_GET_VOLUME_STATS].code = GRPC_NOT_FOUND;
	assert_int_equal(ask(), 0);
	assert_non_null(strstr(told.failure.text, "code = NotFound desc = told so"));
	told.count = 0;
	csi_world.is_gone = true;
	assert_int_equal(ask(), -ENOTCONN);
}

static void test_inline_volume(void **state)
{
	csi_world_inline("");
	add_usage(CSI__V1__VOLUME_USAGE__UNIT__BYTES, -1, 1, 1);
	assert_int_equal(ask(), 0);
	assert_calls("NodeGetVolumeStats{volume_id=csi-3df5ffc60026e8207ea59c1564beebc5d9845fde03ed"
		     "041b10fa368ddd17875f volume_path=/target}");
	assert_int_equal(told.fullness.capacity, 0);
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, csi_world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD(test_figures),  WORLD(test_driver_that_tells_none),
		WORLD(test_no_usage), WORLD(test_condition),
		WORLD(test_failures), WORLD(test_inline_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
