/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_capacity - classes become objects, on a real store, with a driver of scripted answers
 *
 * The texts use ' for ".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/csi/message_text.h"
#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/csi/csi_controller.h"
#include "csi/csi.pb-c.h"
#include "object/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLASS_MORE(name, parameters, more)                                                         \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name        \
	"'},'provisioner':'d.example.com','parameters':{" parameters                               \
	"},'volumeBindingMode':'WaitForFirstConsumer'" more "}"
#define CLASS(name, parameters) CLASS_MORE(name, parameters, "")
#define TELLS                                                                                      \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'d.example.com'"  \
	"},'spec':{'storageCapacity':true}}"
#define CLAIM(name, class)                                                                         \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name              \
	"','namespace':"                                                                           \
	"'ns'},'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'" class "','resources'" \
										   ":{'requests':" \
										   "{'storage':'"  \
										   "1Gi'}}}}"
#define USE  "volume_capabilities=[{mount={} access_mode={}}]"
#define ZONE "accessible_topology={segments=[{key=zone value=a}]}"
#define MIB  (INT64_C(1) << 20)

struct world {
	struct store_world store;
	struct controller *capacity;
};

/* ---- the driver, and the time ---- */

static const struct csi_topology_segment zone_a[] = { { "zone", "a" } };
static struct csi_driver driver;
static struct csi_call_request pending;
static bool is_pending;
static unsigned int calls, cancels;
static char last[1024];
static time_t later; /* seconds that the monotonic clock is ahead */

int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr);
const struct csi_driver *__wrap_csi_drivers_find(const struct csi_drivers *drivers,
						 const char *name);
struct csi_call *__wrap_csi_call_cancel(struct csi_call *call);
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr)
{
	assert_false(is_pending);
	assert_int_equal(request->method, CSI_GET_CAPACITY);
	assert_string_equal(request->driver, "d.example.com");
	last[0] = '\0';
	message_text(request->message, last, sizeof(last));
	pending = *request;
	is_pending = true;
	calls++;
	*ret = (struct csi_call *) &pending;
	return 0;
}

const struct csi_driver *__wrap_csi_drivers_find(const struct csi_drivers *drivers,
						 const char *name)
{
	return driver.name && strcmp(name, driver.name) == 0 ? &driver : NULL;
}

struct csi_call *__wrap_csi_call_cancel(struct csi_call *call)
{
	assert_ptr_equal(call, &pending);
	is_pending = false;
	cancels++;
	return NULL;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = __real_clock_gettime(clock, ret);

	if (clock == CLOCK_MONOTONIC)
		ret->tv_sec += later;
	return r;
}

/* ---- the world ---- */

static void run(struct world *world)
{
	store_world_settle(&world->store);
}

static void put(struct world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	world_put(&world->store, object);
	run(world);
}

static void answer_with(struct world *world, const struct csi_reply *reply)
{
	assert_true(is_pending);
	is_pending = false;
	pending.done(pending.userdata, reply);
	run(world);
}

static void answer(struct world *world, int64_t bytes)
{
	Csi__V1__GetCapacityResponse told = CSI__V1__GET_CAPACITY_RESPONSE__INIT;

	told.available_capacity = bytes;
	answer_with(world,
		    &(struct csi_reply){ .status = { .code = GRPC_OK }, .message = &told.base });
}

static void answer_badly(struct world *world)
{
	answer_with(world, &(struct csi_reply){ .status = { .code = GRPC_INTERNAL } });
}

/* "1Mi" of the class's object; "" there is none. */
static const char *written(struct world *world, const char *name)
{
	static char text[64];
	const struct object *object =
		store_get(world->store.store, KIND_CSI_STORAGE_CAPACITY, "kube-system", name);
	cleanup_json struct cJSON *tree = object ? object_tree(object) : NULL;

	(void) snprintf(text, sizeof(text), "%s", json_string(json_get(tree, "capacity"), ""));
	return text;
}

static void on_room_changed(void *userdata, const char *name)
{
	fail();
}

static void start(struct world *world)
{
	const struct csi_controller_options options = {
		.common = { .event = world->store.event,
			    .store = world->store.store,
			    .node_name = "n",
			    .userdata = world },
		.drivers = (struct csi_drivers *) &driver,
		.room_changed = on_room_changed,
	};

	assert_int_equal(csi_controller_new(&csi_capacity_class, &options, &world->capacity), 0);
	run(world);
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	store_world_open(&world->store);
	driver = (struct csi_driver){
		.name = "d.example.com",
		.segments = zone_a,
		.segment_count = 1,
		.capabilities_known = true,
		.has_controller = true,
		.controller_capabilities = 1 << CSI_CAN_GET_CAPACITY,
		.plugin_capabilities = CSI_PLUGIN_VOLUME_ACCESSIBILITY_CONSTRAINTS,
	};
	is_pending = false;
	calls = cancels = 0;
	later = 0;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	world->capacity = controller_free(world->capacity);
	store_world_close(&world->store);
	free(world);
	return 0;
}

/* One class, whose object says 1Mi. */
static void begin(struct world *world)
{
	put(world, TELLS);
	put(world, CLASS("fast", ""));
	start(world);
	answer(world, MIB);
	assert_string_equal(written(world, "fast"), "1Mi");
	assert_int_equal(calls, 1);
}

static void delete_object(struct world *world)
{
	assert_int_equal(
		world_delete(&world->store, KIND_CSI_STORAGE_CAPACITY, "kube-system", "fast"), 0);
	run(world);
}

/* ---- tests ---- */

static void the_driver_is_told_class_and_place(void **state)
{
	struct world *world = *state;

	put(world, TELLS);
	put(world, CLASS("fast", "'tier':'gold','csi.storage.k8s.io/fstype':'ext4'"));
	start(world);
	assert_string_equal(last, "{" USE " parameters=[{key=tier value=gold}] " ZONE "}");
	answer(world, MIB);
	assert_string_equal(written(world, "fast"), "1Mi");

	driver.plugin_capabilities = 0;
	csi_controller_driver_changed(world->capacity, "d.example.com");
	run(world);
	assert_string_equal(last, "{" USE " parameters=[{key=tier value=gold}]}");
	answer(world, 2 * MIB);
	assert_string_equal(written(world, "fast"), "2Mi");
}

static void what_changes_makes_it_ask_anew(void **state)
{
	struct world *world = *state;

	begin(world);
	csi_controller_room_changed(world->capacity, "other.example.com");
	assert_false(is_pending);
	csi_controller_room_changed(world->capacity, "d.example.com");
	answer(world, 2 * MIB);
	assert_string_equal(written(world, "fast"), "2Mi");
	csi_controller_driver_changed(world->capacity, "d.example.com");
	answer(world, 3 * MIB);
	assert_string_equal(written(world, "fast"), "3Mi");
	put(world, CLASS_MORE("fast", "", ",'allowVolumeExpansion':true"));
	answer(world, 4 * MIB);
	assert_string_equal(written(world, "fast"), "4Mi");
	assert_int_equal(calls, 4);
}

/* Any number of changes while it answers make one more question. */
static void an_answer_that_is_old_already(void **state)
{
	struct world *world = *state;

	begin(world);
	for (unsigned int i = 0; i < 9; i++)
		csi_controller_room_changed(world->capacity, "d.example.com");
	answer(world, 2 * MIB);
	assert_string_equal(written(world, "fast"), "1Mi");
	answer(world, 3 * MIB);
	assert_string_equal(written(world, "fast"), "3Mi");
	assert_int_equal(calls, 3);
}

static void a_driver_that_fails_is_not_asked_at_once(void **state)
{
	struct world *world = *state;

	begin(world);
	csi_controller_room_changed(world->capacity, "d.example.com");
	answer_badly(world);
	assert_false(is_pending);
	assert_string_equal(written(world, "fast"), "1Mi");
	csi_controller_room_changed(world->capacity, "d.example.com");
	assert_false(is_pending);
	later = 2;
	csi_controller_room_changed(world->capacity, "d.example.com");
	answer(world, -1); /* nonsense */
	assert_string_equal(written(world, "fast"), "1Mi");
	assert_false(is_pending);
	/* It is asked once more, whatever else there is to do. */
	later = 10;
	delete_object(world);
	answer(world, 2 * MIB);
	assert_string_equal(written(world, "fast"), "2Mi");
}

static void what_is_edited_or_gone_is_written_again(void **state)
{
	struct world *world = *state;

	begin(world);
	delete_object(world);
	assert_string_equal(written(world, "fast"), "1Mi");
	assert_int_equal(calls, 1);
	assert_int_equal(world_delete(&world->store, KIND_STORAGE_CLASS, "", "fast"), 0);
	run(world);
	assert_string_equal(written(world, "fast"), "");
	assert_int_equal(calls, 1);
}

/* The object bears the class's name, and cannot be moved. */
static void another_place_makes_another_object(void **state)
{
	static const struct csi_topology_segment zone_b[] = { { "zone", "b" } };
	struct world *world = *state;
	const struct object *object;

	begin(world);
	driver.segments = zone_b;
	csi_controller_driver_changed(world->capacity, "d.example.com");
	run(world);
	answer(world, 2 * MIB);
	assert_string_equal(written(world, "fast"), "2Mi");
	object = store_get(world->store.store, KIND_CSI_STORAGE_CAPACITY, "kube-system", "fast");
	assert_non_null(strstr(object->json, "{\"zone\":\"b\"}"));
}

static void a_restart_takes_away_what_is_left(void **state)
{
	struct world *world = *state;

	begin(world);
	world->capacity = controller_free(world->capacity);
	assert_int_equal(world_delete(&world->store, KIND_STORAGE_CLASS, "", "fast"), 0);
	run(world);
	assert_string_equal(written(world, "fast"), "1Mi");
	start(world);
	assert_string_equal(written(world, "fast"), "");
}

static void a_call_is_broken_off_at_the_end(void **state)
{
	struct world *world = *state;

	begin(world);
	csi_controller_room_changed(world->capacity, "d.example.com");
	assert_true(is_pending);
	world->capacity = controller_free(world->capacity);
	assert_int_equal(cancels, 1);
}

static void let_timers_run(struct world *world)
{
	for (unsigned int i = 0; i < 8; i++)
		assert_true(sd_event_run(world->store.event, 0) >= 0);
}

/* The clock of the loop's timers goes as it does. That figures are asked for when a claim waits,
 * and are never older than a minute then, is a difference from Kubernetes. */
static void test_while_a_claim_waits(void **state)
{
	struct world *world = *state;

	later = -62;
	begin(world);
	let_timers_run(world);
	later = 0;
	put(world, CLAIM("c", "slow"));
	assert_int_equal(calls, 1);
	put(world, CLAIM("d", "fast"));
	let_timers_run(world);
	assert_int_equal(calls, 2);
	answer(world, 2 * MIB);
	assert_string_equal(written(world, "fast"), "2Mi");
	/* Now they are new enough for another one, too. */
	put(world, CLAIM("e", "fast"));
	assert_int_equal(calls, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_driver_is_told_class_and_place),
		TEST(what_changes_makes_it_ask_anew),
		TEST(an_answer_that_is_old_already),
		TEST(a_driver_that_fails_is_not_asked_at_once),
		TEST(what_is_edited_or_gone_is_written_again),
		TEST(another_place_makes_another_object),
		TEST(a_restart_takes_away_what_is_left),
		TEST(a_call_is_broken_off_at_the_end),
		TEST(test_while_a_claim_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
