/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim_resize - what is next for a claim that asks for more, state by state
 *
 * The texts use ' for ".
 */
#include "controller/csi/claim_resize.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "tests/unit/store/store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define UID "11111111-2222-3333-4444-000000000001"
#define GI  (INT64_C(1) << 30)

/* @status: members behind phase and capacity. */
static const struct object *claim_of(const char *request, const char *status, const char *more)
{
	char text[1500];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
			"'namespace':'ns','uid':'" UID "'%s},'spec':{'accessModes':["
			"'ReadWriteOnce'],'storageClassName':'fast','volumeName':'v','resources':{"
			"'requests':{'storage':'%s'}}},'status':{%s}}",
			more, request, status);
	return object_of(text);
}

static const struct object *volume_of(const char *size, const char *uid)
{
	char text[1000];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},"
			"'spec':{'accessModes':['ReadWriteOnce'],'capacity':{'storage':'%s'},"
			"'claimRef':{'namespace':'ns','name':'c','uid':'%s'},'csi':{'driver':"
			"'d.example.com','volumeHandle':'h'}}}",
			size, uid);
	return object_of(text);
}

#define BOUND "'phase':'Bound','capacity':{'storage':'1Gi'}"
#define AIMS(size, state)                                                                          \
	BOUND ",'allocatedResources':{'storage':'" size "'},'allocatedResourceStatuses':{"         \
	      "'storage':'" state "'}"

static void test_what_is_next(void **state)
{
	static const struct {
		const char *request, *status;
		enum claim_resize_next next;
		int64_t gib;
	} rows[] = {
		{ "1Gi", BOUND, CLAIM_RESIZE_NOTHING, 0 },
		{ "512Mi", BOUND, CLAIM_RESIZE_NOTHING, 0 },
		{ "2Gi", BOUND, CLAIM_RESIZE_BEGIN, 2 },
		{ "2Gi", "'phase':'Pending'", CLAIM_RESIZE_NOTHING, 0 },
		{ "2Gi", "'phase':'Bound'", CLAIM_RESIZE_NOTHING, 0 }, /* what it has is unknown */
		/* What was begun is ended, whatever is asked for meanwhile. */
		{ "2Gi", AIMS("2Gi", "ControllerResizeInProgress"), CLAIM_RESIZE_EXPAND, 2 },
		{ "3Gi", AIMS("2Gi", "ControllerResizeInProgress"), CLAIM_RESIZE_EXPAND, 2 },
		{ "1Gi", AIMS("2Gi", "ControllerResizeInProgress"), CLAIM_RESIZE_EXPAND, 2 },
		/* What failed for good is tried again, or something else is, or nothing. */
		{ "4Gi", AIMS("4Gi", "ControllerResizeInfeasible"), CLAIM_RESIZE_EXPAND, 4 },
		{ "3Gi", AIMS("4Gi", "ControllerResizeInfeasible"), CLAIM_RESIZE_BEGIN, 3 },
		{ "5Gi", AIMS("4Gi", "ControllerResizeInfeasible"), CLAIM_RESIZE_BEGIN, 5 },
		{ "1Gi", AIMS("4Gi", "ControllerResizeInfeasible"), CLAIM_RESIZE_FORGET, 1 },
		/* The node's turn, unless even more is asked for. */
		{ "2Gi", AIMS("2Gi", "NodeResizePending"), CLAIM_RESIZE_NOTHING, 2 },
		{ "3Gi", AIMS("2Gi", "NodeResizePending"), CLAIM_RESIZE_BEGIN, 3 },
		{ "2Gi", AIMS("2Gi", "NodeResizeInProgress"), CLAIM_RESIZE_NOTHING, 2 },
		{ "2Gi", AIMS("2Gi", "NodeResizeInfeasible"), CLAIM_RESIZE_NOTHING, 2 },
	};
	cleanup_object const struct object *volume = volume_of("1Gi", UID);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *claim =
			claim_of(rows[i].request, rows[i].status, "");
		struct claim_resize next;

		assert_int_equal(
			claim_resize_decide(claim->claim, volume->persistent_volume, &next), 0);
		if (next.next != rows[i].next || next.bytes != rows[i].gib * GI)
			fail_msg("row %zu: %d, %lld bytes", i, (int) next.next,
				 (long long) next.bytes);
	}
}

static void test_not_its_volume(void **state)
{
	cleanup_object const struct object *claim = claim_of("2Gi", BOUND, "");
	cleanup_object const struct object *goes =
		claim_of("2Gi", BOUND, ",'deletionTimestamp':'2026-01-01T00:00:00Z'");
	cleanup_object const struct object *volume = volume_of("1Gi", UID);
	cleanup_object const struct object *other = volume_of("1Gi", "1-2");
	struct claim_resize next;

	assert_int_equal(claim_resize_decide(claim->claim, NULL, &next), 0);
	assert_int_equal(next.next, CLAIM_RESIZE_NOTHING);
	assert_int_equal(claim_resize_decide(claim->claim, other->persistent_volume, &next), 0);
	assert_int_equal(next.next, CLAIM_RESIZE_NOTHING);
	assert_int_equal(claim_resize_decide(goes->claim, volume->persistent_volume, &next), 0);
	assert_int_equal(next.next, CLAIM_RESIZE_NOTHING);
}

/* The way of one resize: what the status says at each step, and what is next then. */
static const char *status_of(const struct object *claim)
{
	static char text[600];
	cleanup_json struct cJSON *tree = object_tree(claim);
	const struct cJSON *status = json_get(tree, "status");
	const struct cJSON *condition = json_at(json_get(status, "conditions"), 0);

	(void) snprintf(
		text, sizeof(text), "%s %s %s %s",
		json_string(json_get_path(status, "capacity.storage"), "-"),
		json_string(json_get_path(status, "allocatedResources.storage"), "-"),
		json_string(json_get_path(status, "allocatedResourceStatuses.storage"), "-"),
		json_string(json_get(condition, "type"), "-"));
	return text;
}

static const struct object *step(const struct object *claim, enum claim_resize_state to,
				 int64_t bytes, const char *wanted)
{
	const struct object *made = NULL;

	assert_int_equal(claim_resize_edit(claim, to, bytes, "no luck", &made, NULL), 0);
	assert_string_equal(status_of(made), wanted);
	(void) object_unref(claim);
	return made;
}

static void test_what_the_status_says(void **state)
{
	const struct object *claim = claim_of("2Gi", BOUND, "");

	claim = step(claim, CLAIM_RESIZE_BEGUN, 2 * GI,
		     "1Gi 2Gi ControllerResizeInProgress Resizing");
	claim = step(claim, CLAIM_RESIZE_FAILED, 2 * GI,
		     "1Gi 2Gi ControllerResizeInProgress ControllerResizeError");
	claim = step(claim, CLAIM_RESIZE_INFEASIBLE, 2 * GI,
		     "1Gi 2Gi ControllerResizeInfeasible ControllerResizeError");
	claim = step(claim, CLAIM_RESIZE_ON_NODE, 2 * GI,
		     "1Gi 2Gi NodeResizePending FileSystemResizePending");
	claim = step(claim, CLAIM_RESIZE_NODE_BEGUN, 0,
		     "1Gi 2Gi NodeResizeInProgress FileSystemResizePending");
	claim = step(claim, CLAIM_RESIZE_NODE_FAILED, 0,
		     "1Gi 2Gi NodeResizeInProgress FileSystemResizePending");
	claim = step(claim, CLAIM_RESIZE_NODE_INFEASIBLE, 0,
		     "1Gi 2Gi NodeResizeInfeasible FileSystemResizePending");
	claim = step(claim, CLAIM_RESIZE_DONE, 2 * GI, "2Gi 2Gi - -");
	claim = step(claim, CLAIM_RESIZE_FORGOTTEN, 0, "2Gi 2Gi - -");
	(void) object_unref(claim);
}

/* What the node says counts when it is its turn; one that is quicker than the controller has failed
 * all the same. */
static void test_turn_of_the_node(void **state)
{
	static const struct {
		const char *status;
		enum claim_resize_state to;
		int result;
	} rows[] = {
		{ AIMS("2Gi", "NodeResizePending"), CLAIM_RESIZE_NODE_BEGUN, 0 },
		{ AIMS("2Gi", "NodeResizeInProgress"), CLAIM_RESIZE_NODE_BEGUN, -EALREADY },
		{ AIMS("2Gi", "NodeResizeInfeasible"), CLAIM_RESIZE_NODE_BEGUN, -EALREADY },
		{ AIMS("2Gi", "ControllerResizeInProgress"), CLAIM_RESIZE_NODE_BEGUN, -EALREADY },
		{ BOUND, CLAIM_RESIZE_NODE_BEGUN, -EALREADY },
		{ AIMS("2Gi", "NodeResizePending"), CLAIM_RESIZE_NODE_FAILED, 0 },
		{ AIMS("2Gi", "ControllerResizeInProgress"), CLAIM_RESIZE_NODE_INFEASIBLE, 0 },
		{ AIMS("2Gi", "ControllerResizeInfeasible"), CLAIM_RESIZE_NODE_INFEASIBLE,
		  -EALREADY },
		{ BOUND, CLAIM_RESIZE_NODE_FAILED, -EALREADY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *claim = claim_of("2Gi", rows[i].status, "");
		cleanup_object const struct object *made = NULL;
		struct failure why;

		if (claim_resize_edit(claim, rows[i].to, 0, "no luck", &made, &why) !=
		    rows[i].result)
			fail_msg("row %zu", i);
	}
}

/* It still waits for the node, which says once why it has to. */
static void test_what_the_node_says(void **state)
{
	const struct object *claim = claim_of("2Gi", BOUND, ""), *again = NULL;
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *conditions;

	claim = step(claim, CLAIM_RESIZE_ON_NODE, 2 * GI,
		     "1Gi - NodeResizePending FileSystemResizePending");
	claim = step(claim, CLAIM_RESIZE_NODE_FAILED, 0,
		     "1Gi - NodeResizeInProgress FileSystemResizePending");
	assert_int_equal(
		claim_resize_edit(claim, CLAIM_RESIZE_NODE_FAILED, 0, "no luck", &again, NULL), 0);
	assert_string_equal(again->json, claim->json);
	tree = object_tree(again);
	conditions = json_get_path(tree, "status.conditions");
	assert_int_equal(json_count(conditions), 2);
	assert_string_equal(json_string(json_get(json_at(conditions, 1), "type"), ""),
			    "NodeResizeError");
	assert_string_equal(json_string(json_get(json_at(conditions, 1), "message"), ""),
			    "no luck");
	(void) object_unref(again);
	(void) object_unref(claim);
}

/* Conditions of others stay, and one of podvold's that says the same keeps its time. */
static void test_conditions_of_others(void **state)
{
	cleanup_object const struct object *claim = claim_of(
		"2Gi",
		AIMS("2Gi",
		     "ControllerResizeInProgress") ",'conditions':[{'type':'Other','status':"
						   "'True'},{'type':"
						   "'ControllerResizeError','status':'True',"
						   "'message':'no luck','lastTransitionTime':"
						   "'2026-01-01T00:00:00Z'}]",
		"");
	cleanup_object const struct object *made = NULL;
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *conditions;

	assert_int_equal(
		claim_resize_edit(claim, CLAIM_RESIZE_FAILED, 2 * GI, "no luck", &made, NULL), 0);
	tree = object_tree(made);
	conditions = json_get_path(tree, "status.conditions");
	assert_int_equal(json_count(conditions), 2);
	assert_string_equal(json_string(json_get(json_at(conditions, 0), "type"), ""), "Other");
	assert_string_equal(json_string(json_get(json_at(conditions, 1), "lastTransitionTime"), ""),
			    "2026-01-01T00:00:00Z");
}

static void test_why_it_failed(void **state)
{
	static const struct {
		const char *type, *wanted; /* NULL: no such thing */
	} rows[] = {
		{ "ControllerResizeError", "no luck" },
		{ "NodeResizeError", "no luck" },
		{ "Resizing", NULL },
		{ "SomeResizeError", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char status[500];
		cleanup_object const struct object *claim = NULL;
		cleanup_free char *text = NULL;

		(void) snprintf(status, sizeof(status),
				BOUND ",'conditions':[{'type':'Other','message':'x'},{'type':'%s',"
				      "'status':'True','message':'no luck'}]",
				rows[i].type);
		claim = claim_of("2Gi", status, "");
		text = claim_resize_error(claim);
		assert_string_equal(text ?: "none", rows[i].wanted ?: "none");
	}
}

static void test_volume(void **state)
{
	cleanup_object const struct object *volume = volume_of("1Gi", UID), *made = NULL;

	assert_int_equal(claim_resize_edit_volume(volume, 3 * GI, &made, NULL), 0);
	assert_int_equal(quantity_value(&made->persistent_volume->capacity), 3 * GI);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_next),
		cmocka_unit_test(test_not_its_volume),
		cmocka_unit_test(test_turn_of_the_node),
		cmocka_unit_test(test_what_the_node_says),
		cmocka_unit_test(test_what_the_status_says),
		cmocka_unit_test(test_conditions_of_others),
		cmocka_unit_test(test_why_it_failed),
		cmocka_unit_test(test_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
