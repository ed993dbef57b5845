/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_reclaim - which directories may be removed: only when everything says so
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
#include "controller/local/local_reclaim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define UID   "11111111-2222-3333-4444-000000000001"
#define OTHER "11111111-2222-3333-4444-000000000002"

struct row {
	const char *provisioner, *deleted, *policy, *phase, *base, *path;
	const char *more; /* annotations */
	enum reclaim_verdict verdict;
	const char *says;
};

static const struct object *volume_of(const struct row *row)
{
	char text[1024];

	(void) snprintf(
		text, sizeof(text),
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v',"
		"'annotations':{'pv.kubernetes.io/provisioned-by':'%s','podvol.io/claim-deleted':"
		"'%s','podvol.io/base-path':'%s'%s}},'spec':{'capacity':{'storage':'1Gi'},"
		"'accessModes':['ReadWriteOnce'],'persistentVolumeReclaimPolicy':'%s','local':{"
		"'path':'%s'},'claimRef':{'namespace':'ns','name':'c','uid':'" UID
		"'},'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
		"'host','operator':'In','values':['h']}]}]}}},'status':{'phase':'%s'}}",
		row->provisioner, row->deleted, row->base, row->more, row->policy, row->path,
		row->phase);
	return object_of(text);
}

static const struct label host[] = { { "host", "h" } };
static const struct labels here = { host, 1 };

static void what_may_be_removed(void **state)
{
	static const struct row rows[] = {
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b/v", "", RECLAIM_REMOVE, "" },
		{ "podvol/local", UID, "Delete", "Released", "/b/", "/b/a/v", "", RECLAIM_REMOVE,
		  "" },
		{ "openebs.io/local", UID, "Delete", "Released", "/b", "/b/v", "", RECLAIM_REMOVE,
		  "" },
		{ "rancher.io/local-path", UID, "Delete", "Released", "/b", "/b/v", "",
		  RECLAIM_REMOVE, "" },
		/* The directory of an image, and not the image. */
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b/v/volume.img",
		  ",'podvol.io/capacity':'image'", RECLAIM_REMOVE, "" },
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b/v",
		  ",'podvol.io/capacity':'image'", RECLAIM_REFUSED, "does not end with" },
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b/volume.img",
		  ",'podvol.io/capacity':'image'", RECLAIM_REFUSED, "does not end with" },
		/* Not managed, or not now. */
		{ "example.com/p", UID, "Delete", "Released", "/b", "/b/v", "", RECLAIM_NOT_OURS,
		  "" },
		{ "", UID, "Delete", "Released", "/b", "/b/v", "", RECLAIM_NOT_OURS, "" },
		{ "podvol/local", UID, "Retain", "Released", "/b", "/b/v", "", RECLAIM_NOT_OURS,
		  "" },
		{ "podvol/local", UID, "Delete", "Bound", "/b", "/b/v", "", RECLAIM_NOT_OURS, "" },
		{ "podvol/local", UID, "Delete", "Available", "/b", "/b/v", "", RECLAIM_NOT_OURS,
		  "" },
		{ "podvol/local", UID, "Delete", "Failed", "/b", "/b/v", "", RECLAIM_NOT_OURS, "" },
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b/v",
		  ",'podvol.io/unfinished':'yes'", RECLAIM_NOT_OURS, "" },
		/* A claim that is merely missing, and the deletion of another one. */
		{ "podvol/local", "", "Delete", "Released", "/b", "/b/v", "", RECLAIM_REFUSED,
		  "no deletion of it is on record" },
		{ "podvol/local", OTHER, "Delete", "Released", "/b", "/b/v", "", RECLAIM_REFUSED,
		  "no deletion of it is on record" },
		/* Paths that lead out. */
		{ "podvol/local", UID, "Delete", "Released", "/b", "/c/v", "", RECLAIM_REFUSED,
		  "base path" },
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b", "", RECLAIM_REFUSED,
		  "base path" },
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b/", "", RECLAIM_REFUSED,
		  "base path" },
		{ "podvol/local", UID, "Delete", "Released", "/b", "/b//v", "", RECLAIM_REFUSED,
		  "base path" },
		{ "podvol/local", UID, "Delete", "Released", "/b", "/bc/v", "", RECLAIM_REFUSED,
		  "base path" },
		{ "podvol/local", UID, "Delete", "Released", "/", "/v", "", RECLAIM_REFUSED,
		  "base path" },
		{ "podvol/local", UID, "Delete", "Released", "", "/v", "", RECLAIM_REFUSED,
		  "base path" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_object const struct object *volume = volume_of(&rows[i]);
		const struct reclaim_facts facts = { .volume = volume->persistent_volume,
						     .sources_complete = true,
						     .node = &here };
		struct failure why = { .error = 0 };

		if (local_reclaim_decide(&facts, &why) != rows[i].verdict ||
		    !strstr(why.text, rows[i].says))
			fail_msg("row %zu: %s", i, why.text);
	}
}

static const struct row good = { "podvol/local", UID, "Delete",       "Released", "/b",
				 "/b/v",         "",  RECLAIM_REMOVE, "" };

static void assert_decides(const struct reclaim_facts *facts, enum reclaim_verdict verdict,
			   const char *says)
{
	struct failure why = { .error = 0 };

	assert_int_equal(local_reclaim_decide(facts, &why), verdict);
	if (!strstr(why.text, says))
		fail_msg("'%s' does not say '%s'", why.text, says);
}

static void what_else_must_hold(void **state)
{
	cleanup_object const struct object *volume = volume_of(&good);
	const struct reclaim_facts all = { .volume = volume->persistent_volume,
					   .sources_complete = true,
					   .node = &here };
	struct reclaim_facts facts = all;

	assert_decides(&facts, RECLAIM_REMOVE, "");
	facts.claim_exists = true;
	assert_decides(&facts, RECLAIM_NOT_OURS, "");
	facts = all;
	facts.sources_complete = false;
	assert_decides(&facts, RECLAIM_WAIT, "not every source");
	facts = all;
	facts.is_in_use = true;
	assert_decides(&facts, RECLAIM_WAIT, "still in use");
	facts = all;
	facts.neighbour = volume;
	assert_decides(&facts, RECLAIM_REFUSED, "same path");
}

static void a_volume_that_was_deleted_before_its_claim(void **state)
{
	struct row row = good;
	cleanup_object const struct object *volume = NULL;
	struct reclaim_facts facts = { .sources_complete = true, .node = &here };

	row.more = "},'deletionTimestamp':'2026-01-01T00:00:00Z','labels':{'a':'b'";
	volume = volume_of(&row);
	facts.volume = volume->persistent_volume;
	/* Without its finalizer it went by hand. */
	assert_decides(&facts, RECLAIM_NOT_OURS, "");
	facts.outlives_data = true;
	assert_decides(&facts, RECLAIM_REMOVE, "");
	facts.claim_exists = true;
	assert_decides(&facts, RECLAIM_NOT_OURS, "");
}

static void case_443_a_node_that_is_gone(void **state)
{
	static const struct label elsewhere[] = { { "host", "other" } };
	static const struct labels other_node = { elsewhere, 1 };
	cleanup_object const struct object *volume = volume_of(&good);
	struct reclaim_facts facts = { .volume = volume->persistent_volume,
				       .sources_complete = true,
				       .node = &other_node };

	/* It is unknown whether the data is gone. */
	assert_decides(&facts, RECLAIM_REFUSED, "no node");

	/* case 448, a difference: local-path would call that a success; podvold keeps the volume.
	 */
	facts.node = NULL;
	assert_decides(&facts, RECLAIM_REFUSED, "no node");
}

static void paths_that_touch(void **state)
{
	static const struct {
		const char *a, *b;
		bool touch;
	} rows[] = {
		{ "/a/b", "/a/b", true },   { "/a/b", "/a//b/", true }, { "/a", "/a/b", true },
		{ "/a/b/c", "/a/b", true }, { "/a/b", "/a/c", false },  { "/a/b", "/a/bc", false },
		{ "/", "/a", true },        { "/a/b", "/b", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(local_paths_touch(rows[i].a, rows[i].b), rows[i].touch);
		assert_int_equal(local_paths_touch(rows[i].b, rows[i].a), rows[i].touch);
	}
}

/* Its driver stands twice in the volume; one that was edited is not believed. */
static void a_plugins_place_is_driver_and_name(void **state)
{
#define OF_PLUGIN(driver)                                                                          \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v','annotations':{"      \
	"'podvol.io/base-path':'podvol.io/p'}},'spec':{'capacity':{'storage':'1Mi'},"              \
	"'accessModes':['ReadWriteOnce'],'flexVolume':{'driver':'" driver "'}}}"
	cleanup_object const struct object *volume = object_of(OF_PLUGIN("podvol.io/p"));
	cleanup_object const struct object *other = object_of(OF_PLUGIN("podvol.io/q"));
	struct local_place place;

	assert_int_equal(local_place_of(volume->persistent_volume, &place, NULL), 0);
	assert_string_equal(place.base_path, "podvol.io/p");
	assert_string_equal(place.name, "v");
	assert_string_equal(local_data_of(volume->persistent_volume), "v");
	assert_int_equal(local_place_of(other->persistent_volume, &place, NULL), -EINVAL);
}

static void a_place_is_base_path_and_name(void **state)
{
	cleanup_object const struct object *volume = volume_of(&good);
	struct local_place place;

	assert_int_equal(local_place_of(volume->persistent_volume, &place, NULL), 0);
	assert_string_equal(place.base_path, "/b");
	assert_string_equal(place.name, "v");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_be_removed),
		cmocka_unit_test(what_else_must_hold),
		cmocka_unit_test(a_volume_that_was_deleted_before_its_claim),
		cmocka_unit_test(case_443_a_node_that_is_gone),
		cmocka_unit_test(paths_that_touch),
		cmocka_unit_test(a_plugins_place_is_driver_and_name),
		cmocka_unit_test(a_place_is_base_path_and_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
