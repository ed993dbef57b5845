/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_volume_match - which of some free volumes a claim gets
 *
 * The texts use ' for ". A row's volumes are V(name, size, modes, more of the spec); what is made
 * of them goes through free_volumes, whose order is part of the answer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "controller/binding/volume_match.h"

#include <stdio.h>
#include <string.h>

#define META(annotations, labels, more) "'annotations':{" annotations "},'labels':{" labels "}" more
#define V_WITH(name, meta, size, modes, spec, status)                                              \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name "'," meta         \
	"},'spec':{'capacity':{'storage':'" size "'},'accessModes':[" modes                        \
	"],'hostPath':{'path':'/d'}" spec "},'status':{" status "}}"
#define V(name, size, modes, spec) V_WITH(name, META("", "", ""), size, modes, spec, AVAILABLE)
#define C(size, modes, spec)       C_WITH(META("", "", ""), size, modes, spec)
#define C_WITH(meta, size, modes, spec)                                                            \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':"    \
	"'ns'," meta "},'spec':{'accessModes':[" modes                                             \
	"],'resources':{'requests':{'storage':'" size "'}}" spec "}}"
#define AVAILABLE   "'phase':'Available'"
#define RWO         "'ReadWriteOnce'"
#define ROX         "'ReadOnlyMany'"
#define RWX         "'ReadWriteMany'"
#define CLASS(name) ",'storageClassName':'" name "'"
#define SELECTS(is) ",'selector':{'matchLabels':{'is':'" is "'}}"
#define IS(is)      META("", "'is':'" is "'", "")
#define BETA(name)  META("'volume.beta.kubernetes.io/storage-class':'" name "'", "", "")
#define DELETED     META("", "", ",'deletionTimestamp':'2026-01-01T00:00:00Z'")
#define ANOTHERS    ",'claimRef':{'namespace':'ns','name':'other','uid':'1'}"

static const struct row {
	const char *name, *claim, *volumes[4];
	const char *expected; /* NULL: none, because of: */
	const char *why;
} rows[] = {
	{ "case 365",
	  C("8G", RWO, ""),
	  { V_WITH("a", META("", "", ""), "1G", RWO "," ROX, ANOTHERS, "'phase':'Bound'"),
	    V("b", "5G", RWO "," ROX, ""), V("d", "10G", RWO "," ROX, "") },
	  "d",
	  NULL },
	{ "case 366",
	  C("1G", RWO, ""),
	  { V_WITH("a", META("", "", ""), "1G", RWO "," ROX, ANOTHERS, "'phase':'Bound'"),
	    V("d", "10G", RWO "," ROX, ""), V("e", "5G", RWO "," ROX, "") },
	  "e",
	  NULL },
	{ "case 367",
	  C("999G", RWO, ""),
	  { V("d", "10G", RWO "," ROX, "") },
	  NULL,
	  "requested PV is too small" },
	{ "case 368",
	  C("5G", RWX "," RWO "," ROX, ""),
	  { V("gce", "10G", RWO "," ROX, ""), V("nfs", "5G", RWO "," ROX "," RWX, "") },
	  "nfs",
	  NULL },
	{ "case 369",
	  C("1G", RWO, ""),
	  { V("all", "5G", RWO "," ROX "," RWX, ""), V("both", "5G", RWO "," ROX, ""),
	    V("one", "5G", RWO, "") },
	  "one",
	  NULL },
	{ "fewer modes come before a smaller size",
	  C("1G", RWO, ""),
	  { V("small", "1G", RWO "," ROX, ""), V("large", "9G", RWO, "") },
	  "large",
	  NULL },
	{ "case 370",
	  C("5G", ROX "," RWX "," RWO, ""),
	  { V("nfs", "5G", RWX "," RWO "," ROX, ""), V("gce", "10G", ROX "," RWO, "") },
	  "nfs",
	  NULL },
	{ "no volume has the modes",
	  C("1G", RWX, ""),
	  { V("gce", "10G", RWO "," ROX, "") },
	  NULL,
	  "incompatible accessMode" },
	{ "case 371",
	  C("1G", RWO, SELECTS("x")),
	  { V("small", "1G", RWO, ""), V_WITH("large", IS("x"), "9G", RWO, "", AVAILABLE) },
	  "large",
	  NULL },
	{ "case 372",
	  C("1G", RWO, SELECTS("y")),
	  { V("small", "1G", RWO, ""), V_WITH("large", IS("x"), "9G", RWO, "", AVAILABLE) },
	  NULL,
	  "the selector does not match its labels" },
	{ "case 373",
	  C("1G", RWO, CLASS("silver")),
	  { V("small", "1G", RWO, ""), V("silver", "9G", RWO, CLASS("silver")) },
	  "silver",
	  NULL },
	{ "the annotation is the class, on both sides",
	  C_WITH(BETA("silver"), "1G", RWO, ""),
	  { V("small", "1G", RWO, ""), V("gold", "2G", RWO, CLASS("gold")),
	    V_WITH("beta", BETA("silver"), "9G", RWO, "", AVAILABLE) },
	  "beta",
	  NULL },
	{ "case 374",
	  C("1G", RWO, CLASS("")),
	  { V("silver", "9G", RWO, CLASS("silver")) },
	  NULL,
	  "no free volume has storageClassName" },
	{ "case 375", C("1G", RWO, ""), { V("none", "1G", RWO, CLASS("")) }, "none", NULL },
	{ "case 376", C("1E", RWO, ""), { V("huge", "1000E", RWO, "") }, "huge", NULL },
	{ "a huge claim",
	  C("1000E", RWO, ""),
	  { V("one", "1E", RWO, "") },
	  NULL,
	  "requested PV is too small" },
	{ "case 377",
	  C("1G", RWO, ",'volumeMode':'Block'"),
	  { V("v", "1G", RWO, "") },
	  NULL,
	  "incompatible volumeMode" },
	{ "case 382",
	  C("1G", RWO, ""),
	  { V_WITH("v", META("", "", ""), "1G", RWO, "", "'phase':'Released'") },
	  NULL,
	  "none is free" },
	{ "case 383",
	  C("1G", RWO, ""),
	  { V_WITH("v", DELETED, "1G", RWO, "", AVAILABLE), V("w", "2G", RWO, "") },
	  "w",
	  NULL },
	{ "one that is being deleted is not all there is",
	  C("1G", RWO, ""),
	  { V_WITH("v", DELETED, "1G", RWO, "", AVAILABLE) },
	  NULL,
	  "it is being deleted" },
	{ "one that nobody has looked at yet",
	  C("1G", RWO, ""),
	  { V_WITH("v", META("", "", ""), "1G", RWO, "", "") },
	  "v",
	  NULL },
	{ "equal ones go by name",
	  C("1G", RWO, ""),
	  { V("w", "1G", RWO, ""), V("v", "1024e6", RWO, ""), V("u", "1000M", RWO, "") },
	  "u",
	  NULL },
	{ "none at all", C("1G", RWO, ""), { NULL }, NULL, "none is free" },
	/* The volume that comes nearest gives the reason, wherever it stands. */
	{ "the nearest",
	  C("5G", RWO, ""),
	  { V("a", "1G", RWO, CLASS("gold")), V("b", "2G", RWO, ""), V("d", "9G", RWX, "") },
	  NULL,
	  "requested PV is too small" },
};

static void put(struct free_volumes *free_volumes, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	if (volume_is_free(object->persistent_volume))
		assert_int_equal(free_volumes_put(free_volumes, object->persistent_volume), 0);
}

static void each_row(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *claim = object_of(rows[i].claim);
		struct free_volumes free_volumes = { .volumes = NULL };
		const struct persistent_volume *best;
		char why[VOLUME_WHY_BYTES] = "";

		print_message("# %s\n", rows[i].name);
		for (size_t k = 0; k < ARRAY_SIZE(rows[i].volumes) && rows[i].volumes[k]; k++)
			put(&free_volumes, rows[i].volumes[k]);
		best = volume_match(claim->claim, free_volumes.volumes, free_volumes.count, why);
		assert_string_equal(best ? best->object->meta.name : "none",
				    rows[i].expected ? rows[i].expected : "none");
		if (!strstr(why, rows[i].why ? rows[i].why : ""))
			fail_msg("'%s' does not say '%s'", why, rows[i].why);
		assert_int_equal(why[0] == '\0', rows[i].why == NULL);
		free_volumes_done(&free_volumes);
	}
}

/* The one that passes most questions; of those that lack size the largest. */
static void the_nearest_is_named_with_what_it_lacks(void **state)
{
	static const struct {
		const char *claim, *volumes[3], *why;
	} misses[] = {
		{ C("10Gi", RWO, ""),
		  { V("a", "1Gi", RWO, ""), V("b", "5Gi", RWO, ""), V("c", "90Gi", RWX, "") },
		  "nearest is \"b\": requested PV is too small, 5Gi of 10Gi" },
		{ C("10G", RWX, ""),
		  { V("a", "20G", RWO "," ROX, ""), V("b", "90G", RWX, CLASS("x")) },
		  "nearest is \"a\": incompatible accessMode, it has RWO ROX, the claim asks for "
		  "RWX" },
		{ C("1G", RWO, CLASS("fast")),
		  { V("a", "1G", RWO, CLASS("slow")) },
		  "no free volume has storageClassName \"fast\"" },
		{ C("1G", RWO, SELECTS("x")),
		  { V("a", "1G", RWO, "") },
		  "nearest is \"a\": the selector does not match its labels" },
		{ C("1G", RWO, ",'volumeMode':'Block'"),
		  { V("a", "1G", RWO, "") },
		  "nearest is \"a\": incompatible volumeMode, it is Filesystem" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(misses); i++) {
		cleanup_object const struct object *claim = object_of(misses[i].claim);
		struct free_volumes free_volumes = { .volumes = NULL };
		char why[VOLUME_WHY_BYTES] = "";

		for (size_t k = 0; k < ARRAY_SIZE(misses[i].volumes) && misses[i].volumes[k]; k++)
			put(&free_volumes, misses[i].volumes[k]);
		assert_null(
			volume_match(claim->claim, free_volumes.volumes, free_volumes.count, why));
		assert_string_equal(why, misses[i].why);
		free_volumes_done(&free_volumes);
	}
}

static void what_is_asked_depends_on_who_chose(void **state)
{
	cleanup_object const struct object *claim =
		object_of(C("1G", RWO, CLASS("silver") SELECTS("x")));
	cleanup_object const struct object *gold = object_of(V("v", "1G", RWO, CLASS("gold")));
	cleanup_object const struct object *silver =
		object_of(V("v", "1G", RWO, CLASS("silver") ANOTHERS));

	assert_null(volume_misfit(claim->claim, gold->persistent_volume, RELATION_MADE));
	assert_string_equal(volume_misfit(claim->claim, gold->persistent_volume, RELATION_NAMED),
			    "storageClassName does not match");
	assert_null(volume_misfit(claim->claim, silver->persistent_volume, RELATION_NAMED));
	assert_string_equal(volume_misfit(claim->claim, silver->persistent_volume, RELATION_FREE),
			    "it is not available");
}

static void assert_names(const struct free_volumes *free_volumes, const char *expected)
{
	char text[128] = "";

	for (size_t i = 0; i < free_volumes->count; i++)
		(void) snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
				free_volumes->volumes[i]->object->meta.name);
	assert_string_equal(text, expected);
}

static void free_volumes_come_and_go(void **state)
{
	cleanup_object const struct object *large = object_of(V("large", "3G", RWO, ""));
	cleanup_object const struct object *larger = object_of(V("large", "4G", RWO, ""));
	struct free_volumes free_volumes = { .volumes = NULL };
	char text[512];

	put(&free_volumes, V("b", "2G", RWO, ""));
	put(&free_volumes, V("a", "2G", RWO, ""));
	put(&free_volumes, V("large", "3G", RWO, ""));
	put(&free_volumes, V("a", "2G", RWO, "")); /* again */
	assert_names(&free_volumes, "a b large ");
	/* Another size is another place. */
	free_volumes_remove(&free_volumes, larger->persistent_volume);
	assert_names(&free_volumes, "a b large ");
	free_volumes_remove(&free_volumes, large->persistent_volume);
	assert_names(&free_volumes, "a b ");
	free_volumes_remove(&free_volumes, free_volumes.volumes[0]);
	assert_names(&free_volumes, "b ");
	for (int i = 99; i >= 0; i--) {
		(void) snprintf(text, sizeof(text), V("n%02d", "1G", RWO, ""), i);
		put(&free_volumes, text);
	}
	assert_int_equal(free_volumes.count, 101);
	assert_string_equal(free_volumes.volumes[42]->object->meta.name, "n42");
	free_volumes_done(&free_volumes);
	assert_int_equal(free_volumes.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row),
		cmocka_unit_test(the_nearest_is_named_with_what_it_lacks),
		cmocka_unit_test(what_is_asked_depends_on_who_chose),
		cmocka_unit_test(free_volumes_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
