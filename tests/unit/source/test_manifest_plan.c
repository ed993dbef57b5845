/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manifest_plan - the rules of source.h as tables: one row, one situation, one answer
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "base/cleanup.h"
#include "object/kinds/pod.h"
#include "source/manifest_plan.h"

#define POD(meta, volumes)                                                                         \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'ns'" meta             \
	"},'spec':{'containers':[{'name':'c','image':'i'}],'volumes':[" volumes "]}}"
#define VOLUME(path)  "{'name':'v','hostPath':{'path':'" path "'}}"
#define BACKWARDS     "{'hostPath':{'path':'/a'},'name':'v'}"
#define DELETES       ",'deletionTimestamp':'2026-01-02T03:04:05Z','finalizers':['x.io/y']"
#define ONE           POD("", VOLUME("/a"))
#define OTHER_VOLUMES POD("", VOLUME("/b"))
#define ON(node)                                                                                   \
	"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'ns'},'spec':{"        \
	"'nodeName':'" node "','containers':[{'name':'c','image':'i'}]}}"
#define CLAIM                                                                                      \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'p','namespace':"    \
	"'ns'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':"        \
	"'1Gi'}}}}"

struct row {
	const char *what;
	const char *wanted, *stored; /* NULL: none */
	/* The mark of the stored object: of which file, with which document; "" made by others. */
	const char *marked_file;
	bool same_hash, is_gone;
	enum manifest_absence absence;
	enum manifest_step step;
};

static const struct row rows[] = {
	{ "new", ONE, NULL, "", false, false, 0, MANIFEST_STEP_CREATE },
	{ "unchanged", ONE, ONE, "a.yaml", true, false, 0, MANIFEST_STEP_NONE },
	{ "in another file now", ONE, ONE, "b.yaml", true, false, 0, MANIFEST_STEP_UPDATE },
	{ "comes back", ONE, ONE, "a.yaml", true, true, 0, MANIFEST_STEP_UPDATE },
	{ "edited, same volumes", ONE, ONE, "a.yaml", false, false, 0, MANIFEST_STEP_UPDATE },
	{ "members in another order", POD("", BACKWARDS), ONE, "a.yaml", false, false, 0,
	  MANIFEST_STEP_UPDATE },
	{ "other volumes", OTHER_VOLUMES, ONE, "a.yaml", false, false, 0, MANIFEST_STEP_REPLACE },
	{ "no volumes any more", POD("", ""), ONE, "a.yaml", false, false, 0,
	  MANIFEST_STEP_REPLACE },
	{ "never had volumes", POD("", ""), POD("", ""), "a.yaml", false, false, 0,
	  MANIFEST_STEP_UPDATE },
	{ "first volumes", ONE, POD("", ""), "a.yaml", false, false, 0, MANIFEST_STEP_REPLACE },
	{ "other volumes, back from being lost", OTHER_VOLUMES, ONE, "a.yaml", false, true, 0,
	  MANIFEST_STEP_REPLACE },
	{ "old one is going", OTHER_VOLUMES, POD(DELETES, VOLUME("/a")), "a.yaml", false, false, 0,
	  MANIFEST_STEP_WAIT },
	{ "deleted by name", ONE, POD(DELETES, VOLUME("/a")), "a.yaml", true, false, 0,
	  MANIFEST_STEP_WAIT },
	{ "made through the API", ONE, ONE, "", false, false, 0, MANIFEST_STEP_REFUSE },
	{ "going, made through the API", ONE, POD(DELETES, ""), "", false, false, 0,
	  MANIFEST_STEP_REFUSE },
	{ "for another node", ON("b"), ON("a"), "a.yaml", false, false, 0, MANIFEST_STEP_REPLACE },
	{ "for the same node", ON("a"), ON("a"), "a.yaml", false, false, 0, MANIFEST_STEP_UPDATE },
	{ "names its node no more", POD("", ""), ON("a"), "a.yaml", false, false, 0,
	  MANIFEST_STEP_UPDATE },
	{ "edited claim", CLAIM, CLAIM, "a.yaml", false, false, 0, MANIFEST_STEP_UPDATE },

	{ "vanished, not judged", NULL, ONE, "a.yaml", false, false, MANIFEST_ABSENCE_UNJUDGED,
	  MANIFEST_STEP_NONE },
	{ "removed pod", NULL, ONE, "a.yaml", false, false, MANIFEST_ABSENCE_REMOVED,
	  MANIFEST_STEP_DELETE },
	{ "lost pod", NULL, ONE, "a.yaml", false, false, MANIFEST_ABSENCE_LOST,
	  MANIFEST_STEP_MARK_GONE },
	{ "removed claim", NULL, CLAIM, "a.yaml", false, false, MANIFEST_ABSENCE_REMOVED,
	  MANIFEST_STEP_MARK_GONE },
	{ "lost claim", NULL, CLAIM, "a.yaml", false, false, MANIFEST_ABSENCE_LOST,
	  MANIFEST_STEP_MARK_GONE },
	{ "pod lost earlier", NULL, ONE, "a.yaml", false, true, MANIFEST_ABSENCE_REMOVED,
	  MANIFEST_STEP_NONE },
	{ "never of a manifest", NULL, ONE, "", false, false, MANIFEST_ABSENCE_REMOVED,
	  MANIFEST_STEP_NONE },
	{ "going already", NULL, POD(DELETES, ""), "a.yaml", false, false, MANIFEST_ABSENCE_REMOVED,
	  MANIFEST_STEP_NONE },
	{ "never stored", NULL, NULL, "", false, false, MANIFEST_ABSENCE_REMOVED,
	  MANIFEST_STEP_NONE },
};

static void every_situation_has_its_step(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		cleanup_object const struct object *wanted =
			row->wanted ? object_of(row->wanted) : NULL;
		cleanup_object const struct object *old =
			row->stored ? object_of(row->stored) : NULL;
		struct manifest_facts facts = {
			.wanted = wanted,
			.file = wanted ? "a.yaml" : NULL,
			.hash = 7,
			.names_node = wanted && wanted->kind == KIND_POD &&
				      wanted->pod->node_name[0] != '\0',
			.stored = old,
			.absence = row->absence,
		};

		facts.mark.is_marked = row->marked_file[0] != '\0';
		facts.mark.is_gone = row->is_gone;
		facts.mark.hash = row->same_hash ? 7 : 8;
		(void) snprintf(facts.mark.file, sizeof(facts.mark.file), "%s", row->marked_file);
		if (manifest_decide(&facts) != row->step)
			fail_msg("%s: step %d, not %d", row->what, manifest_decide(&facts),
				 row->step);
	}
}

/* What came from a file that may not have been read yet. */
static void another_file_waits_for_the_end_of_the_start(void **state)
{
	cleanup_object const struct object *wanted = object_of(OTHER_VOLUMES);
	cleanup_object const struct object *old = object_of(ONE);
	struct manifest_facts facts = { .wanted = wanted,
					.file = "b.yaml",
					.hash = 7,
					.stored = old,
					.mark = { .is_marked = true, .hash = 8, .file = "a.yaml" },
					.is_starting = true };

	assert_int_equal(manifest_decide(&facts), MANIFEST_STEP_WAIT);
	facts.is_unread = true;
	assert_int_equal(manifest_decide(&facts), MANIFEST_STEP_WAIT);
	facts.is_unread = false;
	facts.mark.is_gone = true; /* its file was lost before the start */
	assert_int_equal(manifest_decide(&facts), MANIFEST_STEP_REPLACE);
	facts.mark.is_gone = false;
	facts.file = "a.yaml";
	assert_int_equal(manifest_decide(&facts), MANIFEST_STEP_REPLACE);
	facts.file = "b.yaml";
	facts.is_starting = false;
	assert_int_equal(manifest_decide(&facts), MANIFEST_STEP_REPLACE);
}

#define GOOD .directory_is_readable = true, .directory_is_same = true

static const struct {
	const char *what;
	struct manifest_deletion_batch_facts facts;
	bool is_lost;
} deletion_batches[] = {
	{ "one of two pods", { GOOD, 0, 0, 2, 2, 1, 1 }, false },
	{ "the only file", { GOOD, 0, 0, 1, 1, 1, 1 }, false },
	{ "both of two pods", { GOOD, 0, 0, 2, 2, 2, 2 }, true },
	{ "all pods of a larger directory", { GOOD, 0, 0, 9, 3, 3, 3 }, true },
	{ "most pods", { GOOD, 0, 0, 9, 9, 8, 8 }, false },
	{ "the only pod beside other files", { GOOD, 0, 0, 3, 1, 1, 1 }, false },
	{ "the only pod and all other files", { GOOD, 0, 0, 3, 1, 3, 1 }, true },
	{ "other files only", { GOOD, 0, 0, 3, 1, 2, 0 }, false },
	{ "no pod was there", { GOOD, 0, 0, 1, 0, 1, 0 }, false },
	{ "unreadable", { false, true, 0, 0, 9, 9, 1, 1 }, true },
	{ "another directory", { true, false, 0, 0, 9, 9, 1, 1 }, true },
	{ "at start, some are left", { GOOD, 1, 1, 1, 1, 0, 0 }, false },
	{ "at start, none is left", { GOOD, 1, 0, 5, 5, 0, 0 }, true },
	{ "at start, none is left, one was", { GOOD, 1, 0, 0, 0, 0, 0 }, true },
	{ "at start, unreadable", { false, true, 1, 1, 1, 1, 0, 0 }, true },
};

static void every_deletion_batch_is_judged(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(deletion_batches); i++) {
		enum manifest_absence verdict =
			manifest_judge_deletion_batch(&deletion_batches[i].facts);

		if (verdict != (deletion_batches[i].is_lost ? MANIFEST_ABSENCE_LOST
							    : MANIFEST_ABSENCE_REMOVED))
			fail_msg("%s", deletion_batches[i].what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_situation_has_its_step),
		cmocka_unit_test(another_file_waits_for_the_end_of_the_start),
		cmocka_unit_test(every_deletion_batch_is_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
