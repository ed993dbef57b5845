/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_snapshot_schedule - due times, names, and which snapshot of a schedule goes
 */
#include "controller/snapshot/snapshot_schedule_plan.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HOUR (3600 * USEC_PER_SEC)
#define CLASS(parameters)                                                                          \
	"apiVersion: snapshot.storage.k8s.io/v1\nkind: VolumeSnapshotClass\n"                      \
	"metadata: {name: k}\ndriver: d\ndeletionPolicy: Delete\nparameters: {" parameters "}\n"
#define CLAIM                                                                                      \
	"apiVersion: v1\nkind: PersistentVolumeClaim\n"                                            \
	"metadata: {name: c, namespace: ns, uid: 11111111-2222-3333-4444-000000000001}\n"          \
	"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"

static int parse(const char *class_yaml, struct snapshot_schedule *ret)
{
	cleanup_object const struct object *class = object_of(class_yaml);
	struct failure why = { .error = 0 };

	return snapshot_schedule_parse(class->volume_snapshot_class, ret, &why);
}

static void test_parameters(void **state)
{
	struct snapshot_schedule schedule = { 0 };

	assert_int_equal(parse(CLASS("podvol.io/schedule: 24h"), &schedule), 0);
	assert_int_equal(schedule.every_usec, 24 * HOUR);
	assert_int_equal(schedule.keep, SCHEDULE_KEEP_DEFAULT);
	assert_int_equal(schedule.keep_age_usec, 0);
	assert_int_equal(parse(CLASS("podvol.io/schedule: 1h, podvol.io/keep-age: 48h"), &schedule),
			 0);
	assert_int_equal(schedule.keep, 0);
	assert_int_equal(schedule.keep_age_usec, 48 * HOUR);
	assert_int_equal(parse(CLASS("podvol.io/schedule: 1h, podvol.io/keep: '1000'"), &schedule),
			 0);
	assert_int_equal(schedule.keep, 1000);
}

static void test_parameters_that_are_none(void **state)
{
	const char *const bad[] = {
		CLASS("podvol.io/keep: '3'"),
		CLASS("podvol.io/schedule: ''"),
		CLASS("podvol.io/schedule: 0s"),
		CLASS("podvol.io/schedule: 1500ms"),
		CLASS("podvol.io/schedule: 721h"),
		CLASS("podvol.io/schedule: 1h, podvol.io/keep: '1001'"),
		CLASS("podvol.io/schedule: 1h, podvol.io/keep: '-1'"),
		CLASS("podvol.io/schedule: 1h, podvol.io/keep: '3 '"),
		CLASS("podvol.io/schedule: 1h, podvol.io/keep: ''"),
		CLASS("podvol.io/schedule: 1h, podvol.io/keep-age: ever"),
	};
	struct snapshot_schedule schedule = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse(bad[i], &schedule), -EINVAL);
	assert_int_equal(schedule.every_usec, 0);
}

/* By its name, its claim's uid and its time alike. */
static void test_whose_it_is(void **state)
{
	cleanup_object const struct object *claim = object_of(CLAIM), *made = NULL;
	struct failure why = { .error = 0 };
	const struct snapshot_schedule daily = { .every_usec = 24 * HOUR };
	uint64_t due = snapshot_schedule_due(&daily, 1790000000 * USEC_PER_SEC), seen = 0;
	const char *const changes[] = { "000001\"", "000002\"", "00Z", "01Z", "c-2026", "d-2026" };

	assert_int_equal(due % (24 * HOUR), 0);
	assert_int_equal(snapshot_schedule_due(&daily, due), due);
	assert_int_equal(snapshot_schedule_due(&daily, due + 24 * HOUR - 1), due);
	assert_int_equal(snapshot_schedule_make(claim, "k", due, &made, &why), 0);
	assert_string_equal(made->meta.name, "c-20260921-000000");
	assert_string_equal(made->volume_snapshot->class_name, "k");
	assert_true(snapshot_schedule_made(made->volume_snapshot, claim, &seen));
	assert_int_equal(seen, due);
	assert_false(snapshot_schedule_holds(made));
	for (size_t i = 0; i < ARRAY_SIZE(changes); i += 2) {
		cleanup_free char *text = strdup(made->json);
		char *at = strstr(text, changes[i]);
		cleanup_object const struct object *other = NULL;

		assert_non_null(at);
		memcpy(at, changes[i + 1], strlen(changes[i + 1]));
		other = object_of(text);
		assert_false(snapshot_schedule_made(other->volume_snapshot, claim, &seen));
	}
}

/* ---- which one goes ---- */

enum { READY = 1, DELETED = 2, HELD = 4, LIST_MAX = 8 };

struct world {
	struct object objects[LIST_MAX];
	struct volume_snapshot snapshots[LIST_MAX];
	struct scheduled_snapshot list[LIST_MAX];
	size_t count;
};

/* One each hour, the first of them an hour after 1970. Which goes: its hour, 0 none. */
static size_t surplus(const struct snapshot_schedule *schedule, const int *flags, size_t count,
		      uint64_t now_usec, uint64_t *ret_next)
{
	struct world world = { .count = count };
	const struct volume_snapshot *found;

	for (size_t i = 0; i < count; i++) {
		world.objects[i].meta.deletes = flags[i] & DELETED;
		world.snapshots[i].object = &world.objects[i];
		world.snapshots[i].state.is_ready = flags[i] & READY;
		world.list[i] = (struct scheduled_snapshot){ &world.snapshots[i], (i + 1) * HOUR,
							     flags[i] & HELD };
	}
	found = snapshot_schedule_surplus(schedule, world.list, count, now_usec, ret_next);
	return found ? (size_t) (found - world.snapshots) + 1 : 0;
}

#define SURPLUS(schedule, now, next, ...)                                                          \
	surplus(schedule, (const int[]){ __VA_ARGS__ },                                            \
		sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int), now, next)

static void test_by_count(void **state)
{
	const struct snapshot_schedule two = { .every_usec = HOUR, .keep = 2 };
	uint64_t next = 0;

	assert_int_equal(SURPLUS(&two, 9 * HOUR, &next, READY, READY), 0);
	assert_int_equal(next, UINT64_MAX);
	assert_int_equal(SURPLUS(&two, 9 * HOUR, &next, READY, READY, READY, READY), 1);
	assert_int_equal(SURPLUS(&two, 9 * HOUR, &next, DELETED | READY, READY, READY, READY), 2);
	assert_int_equal(SURPLUS(&two, 9 * HOUR, &next, HELD | READY, READY, READY, READY), 2);
	/* What is not ready takes the place of none, and does not go itself. */
	assert_int_equal(SURPLUS(&two, 9 * HOUR, &next, READY, READY, 0, 0), 0);
	assert_int_equal(SURPLUS(&two, 9 * HOUR, &next, 0, READY, READY, READY), 2);
	assert_int_equal(SURPLUS(&two, 9 * HOUR, &next, READY, READY, DELETED | READY), 0);
}

/* They were made while the clock was ahead. */
static void test_what_is_of_the_future(void **state)
{
	const struct snapshot_schedule two = { .every_usec = HOUR, .keep = 2 };
	uint64_t next = 0;

	assert_int_equal(SURPLUS(&two, 2 * HOUR, &next, READY, READY, READY, READY), 0);
	assert_int_equal(SURPLUS(&two, 3 * HOUR, &next, READY, READY, READY, READY), 1);
	assert_int_equal(SURPLUS(&two, 1 * HOUR - 1, &next, READY, READY, READY, READY), 0);
}

static void test_by_age(void **state)
{
	const struct snapshot_schedule young = { .every_usec = HOUR, .keep_age_usec = 3 * HOUR };
	uint64_t next = 0;

	assert_int_equal(SURPLUS(&young, 4 * HOUR - 1, &next, READY, READY, READY), 0);
	assert_int_equal(next, 4 * HOUR);
	assert_int_equal(SURPLUS(&young, 4 * HOUR, &next, READY, READY, READY), 1);
	assert_int_equal(next, 5 * HOUR);
	/* The last good one stays however old it is. */
	assert_int_equal(SURPLUS(&young, 99 * HOUR, &next, READY, READY, 0), 1);
	assert_int_equal(SURPLUS(&young, 99 * HOUR, &next, READY, 0, DELETED | READY), 0);
	assert_int_equal(next, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters),  cmocka_unit_test(test_parameters_that_are_none),
		cmocka_unit_test(test_whose_it_is), cmocka_unit_test(test_by_count),
		cmocka_unit_test(test_by_age),      cmocka_unit_test(test_what_is_of_the_future),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
