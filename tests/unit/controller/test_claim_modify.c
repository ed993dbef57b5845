/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_claim_modify - what is next for a claim that wants other attributes, and what its status
 * says
 *
 * The texts use ' for ".
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/csi/claim_modify.h"
#include "object/json/json.h"

#include <stdio.h>
#include <string.h>

#define UID "11111111-2222-3333-4444-000000000001"
#define CLAIM(annotations, wanted, status)                                                         \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':"    \
	"'ns','uid':'" UID "'" annotations "},'spec':{'volumeName':'v','accessModes':["            \
	"'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}" wanted "},'status':{" status \
	"}}"
#define BOUND           "'phase':'Bound'"
#define WANTS(class)    ",'volumeAttributesClassName':'" class "'"
#define HAS(class)      ",'currentVolumeAttributesClassName':'" class "'"
#define IS(state, aims) ",'modifyVolumeStatus':{'status':'" state "'" aims "}"
#define AIM(class)      ",'targetVolumeAttributesClassName':'" class "'"
#define VOLUME(uid, class)                                                                         \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{'capacity':" \
	"{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'csi':{'driver':'d','volumeHandle':"    \
	"'h'},'claimRef':{'namespace':'ns','name':'c','uid':'" uid "'}" class "}}"
#define MINE VOLUME(UID, "")

enum { NEITHER = 0, WANTED = 1, TARGET = 2, BOTH = WANTED | TARGET, CLEAR = 4 };

static const struct {
	const char *claim, *volume;
	unsigned int there; /* which classes, and whether nothing is in doubt */
	enum claim_modify_next next;
} rows[] = {
	/* Nothing is wanted, or it is so. */
	{ CLAIM("", "", BOUND), MINE, NEITHER, CLAIM_MODIFY_NOTHING },
	{ CLAIM("", WANTS("a"), BOUND HAS("a")), MINE, BOTH, CLAIM_MODIFY_NOTHING },
	{ CLAIM("", "", BOUND HAS("a")), MINE, BOTH, CLAIM_MODIFY_NOTHING },
	{ CLAIM("", WANTS("a"), BOUND), VOLUME(UID, WANTS("a")), BOTH, CLAIM_MODIFY_NOTHING },
	/* It is not bound, or not to this volume. */
	{ CLAIM("", WANTS("a"), "'phase':'Pending'"), MINE, BOTH, CLAIM_MODIFY_NOTHING },
	{ CLAIM("", WANTS("a"), "'phase':'Lost'"), MINE, BOTH, CLAIM_MODIFY_NOTHING },
	{ CLAIM("", WANTS("a"), BOUND), NULL, BOTH, CLAIM_MODIFY_NOTHING },
	{ CLAIM("", WANTS("a"), BOUND), VOLUME("other", ""), BOTH, CLAIM_MODIFY_NOTHING },
	{ CLAIM(",'deletionTimestamp':'2026-01-01T00:00:00Z'", WANTS("a"), BOUND), MINE, BOTH,
	  CLAIM_MODIFY_NOTHING },
	/* It begins. */
	{ CLAIM("", WANTS("a"), BOUND), MINE, WANTED, CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("b"), BOUND HAS("a")), MINE, WANTED, CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("b"), BOUND), VOLUME(UID, WANTS("a")), WANTED, CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("b"), BOUND HAS("a")), MINE, NEITHER, CLAIM_MODIFY_PEND },
	{ CLAIM("", WANTS("b"), BOUND HAS("a") IS("Pending", AIM("b"))), MINE, NEITHER,
	  CLAIM_MODIFY_NOTHING },
	{ CLAIM("", WANTS("c"), BOUND HAS("a") IS("Pending", AIM("b"))), MINE, NEITHER,
	  CLAIM_MODIFY_PEND },
	{ CLAIM("", WANTS("b"), BOUND HAS("a") IS("Pending", AIM("b"))), MINE, BOTH,
	  CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("b"), BOUND HAS("a") IS("Pending", "")), MINE, WANTED,
	  CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("a"), BOUND HAS("a") IS("Pending", AIM("b"))), MINE, WANTED,
	  CLAIM_MODIFY_FORGET },
	/* It goes on, whatever the claim says meanwhile... */
	{ CLAIM("", WANTS("b"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, BOTH,
	  CLAIM_MODIFY_CALL },
	{ CLAIM("", WANTS("c"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, BOTH,
	  CLAIM_MODIFY_CALL },
	{ CLAIM("", WANTS("a"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, BOTH,
	  CLAIM_MODIFY_CALL },
	{ CLAIM("", "", BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, BOTH | CLEAR,
	  CLAIM_MODIFY_CALL },
	{ CLAIM("", WANTS("b"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, BOTH | CLEAR,
	  CLAIM_MODIFY_CALL },
	{ CLAIM("", WANTS("b"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, NEITHER,
	  CLAIM_MODIFY_NOTHING },
	/* ...until nothing is in doubt, or its class is gone. */
	{ CLAIM("", WANTS("c"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, BOTH | CLEAR,
	  CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("a"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, BOTH | CLEAR,
	  CLAIM_MODIFY_FORGET },
	{ CLAIM("", WANTS("c"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, WANTED,
	  CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("c"), BOUND HAS("a") IS("InProgress", AIM("b"))), MINE, TARGET | CLEAR,
	  CLAIM_MODIFY_PEND },
	{ CLAIM("", WANTS("c"), BOUND HAS("a") IS("InProgress", "")), MINE, WANTED,
	  CLAIM_MODIFY_BEGIN },
	/* What cannot be is tried again, for as long as it is wanted. */
	{ CLAIM("", WANTS("b"), BOUND HAS("a") IS("Infeasible", AIM("b"))), MINE, BOTH,
	  CLAIM_MODIFY_CALL },
	{ CLAIM("", WANTS("c"), BOUND HAS("a") IS("Infeasible", AIM("b"))), MINE, BOTH,
	  CLAIM_MODIFY_BEGIN },
	{ CLAIM("", WANTS("a"), BOUND HAS("a") IS("Infeasible", AIM("b"))), MINE, BOTH,
	  CLAIM_MODIFY_FORGET },
};

static void every_row(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *claim = object_of(rows[i].claim);
		cleanup_object const struct object *volume =
			rows[i].volume ? object_of(rows[i].volume) : NULL;
		const struct claim_modify_facts facts = {
			.claim = claim->claim,
			.volume = volume ? volume->persistent_volume : NULL,
			.has_wanted = rows[i].there & WANTED,
			.has_target = rows[i].there & TARGET,
			.is_clear = rows[i].there & CLEAR,
		};

		if (claim_modify_decide(&facts) != rows[i].next)
			fail_msg("row %zu: %d, not %d", i, claim_modify_decide(&facts),
				 rows[i].next);
		if (rows[i].next != CLAIM_MODIFY_NOTHING)
			assert_true(claim_modify_concerns(claim->claim));
	}
}

/* "Type=message;" of all conditions. */
static void print_conditions(const struct cJSON *status, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (const struct cJSON *i = json_first(json_get(status, "conditions")); i;
	     i = json_next(i))
		used += (size_t) snprintf(text + used, size - used, "%s=%s;",
					  json_string(json_get(i, "type"), ""),
					  json_string(json_get(i, "message"), ""));
}

static void what_the_status_says(void **state)
{
	static const struct {
		enum claim_modify_state state;
		const char *text, *status, *target, *current, *conditions;
	} edits[] = {
		{ CLAIM_MODIFY_PENDING, NULL, "Pending", "c", "a", "Resizing=;" },
		{ CLAIM_MODIFY_BEGUN, NULL, "InProgress", "c", "a",
		  "Resizing=;ModifyingVolume=ModifyVolume operation in progress.;" },
		{ CLAIM_MODIFY_FAILED, "no", "InProgress", "b", "a",
		  "Resizing=;ModifyVolumeError=no;" },
		{ CLAIM_MODIFY_INFEASIBLE, "never", "Infeasible", "b", "a",
		  "Resizing=;ModifyVolumeError=never;" },
		{ CLAIM_MODIFY_DONE, NULL, "", "", "b", "Resizing=;" },
		{ CLAIM_MODIFY_FORGOTTEN, NULL, "", "", "a", "Resizing=;" },
	};
	cleanup_object const struct object *claim = object_of(CLAIM(
		"", WANTS("c"),
		BOUND HAS("a")
			IS("InProgress",
			   AIM("b")) ",'conditions':[{'type':'ModifyVolumeError','status':'True','"
				     "message':'x'},"
				     "{'type':'Resizing','status':'True'},"
				     "{'type':'ModifyingVolume','status':'True','message':'y'}]"));

	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		cleanup_object const struct object *made = NULL;
		cleanup_json struct cJSON *tree = NULL;
		char conditions[200];

		assert_int_equal(
			claim_modify_edit(claim, edits[i].state, edits[i].text, &made, NULL), 0);
		assert_string_equal(made->claim->modify_status, edits[i].status);
		assert_string_equal(made->claim->modify_target, edits[i].target);
		assert_string_equal(made->claim->attributes_current, edits[i].current);
		tree = object_tree(made);
		print_conditions(json_get(tree, "status"), conditions, sizeof(conditions));
		assert_string_equal(conditions, edits[i].conditions);
	}
}

static void what_the_volume_says(void **state)
{
	cleanup_object const struct object *volume = object_of(VOLUME(UID, WANTS("a")));
	cleanup_object const struct object *made = NULL;

	assert_int_equal(claim_modify_edit_volume(volume, "b", &made, NULL), 0);
	assert_string_equal(made->persistent_volume->attributes_class, "b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(what_the_status_says),
		cmocka_unit_test(what_the_volume_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
