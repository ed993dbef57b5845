/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scheduling - could a pod run on a node, with Kubernetes' words when it could not
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduling_world.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define HERE     NODE("'host':'1','kubernetes.io/hostname':'n1'")
#define CONFLICT "node(s) didn't find available persistent volumes to bind"
#define NO_ROOM  "node(s) did not have enough free storage"
#define LATE     CLASS("late", "p.example.com", WAITS)
#define STATIC   CLASS("late", NO_ONE, WAITS)
#define DRIVER                                                                                     \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'p.example.com'"  \
	"},'spec':{'storageCapacity':true}}"

static void claims_that_no_node_helps(void **state)
{
	static const struct expectation rows[] = {
		/* case 401 */
		{ { NULL }, POD("p", "{'name':'e','emptyDir':{}}"), HERE, "" },
		/* case 402 */
		{ { NULL }, POD("p", USES("x")), HERE, "persistentvolumeclaim \"x\" not found" },
		{ { NULL },
		  POD("p", "{'name':'e','ephemeral':{'volumeClaimTemplate':{'spec':{"
			   "'accessModes':['ReadWriteOnce'],'resources':{'requests':{"
			   "'storage':'1Gi'}}}}}}"),
		  HERE,
		  "waiting for ephemeral volume controller to create the persistentvolumeclaim "
		  "\"p-e\"" },
		/* case 403 */
		{ { CLAIM("a", "", "") },
		  POD("p", USES("a")),
		  HERE,
		  "pod has unbound immediate PersistentVolumeClaims" },
		{ { CLAIM("a", "", ",'volumeName':'v'" IN("late")), LATE },
		  POD("p", USES("a")),
		  HERE,
		  "pod has unbound immediate PersistentVolumeClaims" },
		{ { CLAIM("a", "", IN("none")) },
		  POD("p", USES("a")),
		  HERE,
		  "pod has unbound immediate PersistentVolumeClaims" },
	};

	check_all(scheduling_volume_binding, rows, ARRAY_SIZE(rows));
}

static void volumes_that_are_bound(void **state)
{
	static const struct expectation rows[] = {
		{ { BOUND("a", "v"), VOLUME("v", "", "", "1Gi", "1") },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		/* case 404 */
		{ { BOUND("a", "v"), VOLUME("v", "", "", "1Gi", "2") },
		  POD("p", USES("a")),
		  HERE,
		  "node(s) had volume node affinity conflict" },
		/* case 405 */
		{ { BOUND("a", "v") },
		  POD("p", USES("a")),
		  HERE,
		  "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)" },
	};

	check_all(scheduling_volume_binding, rows, ARRAY_SIZE(rows));
}

static void volumes_that_could_be_bound(void **state)
{
	static const struct expectation rows[] = {
		/* case 406 */
		{ { CLAIM("a", "", IN("late")), STATIC, VOLUME("here", "", IN("late"), "5Gi", "1"),
		    VOLUME("there", "", IN("late"), "1Gi", "2") },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		/* case 407 */
		{ { CLAIM("a", "", IN("late")), STATIC,
		    VOLUME("there", "", IN("late"), "1Gi", "2") },
		  POD("p", USES("a")),
		  HERE,
		  CONFLICT },
		/* case 408: in both orders of the claims */
		{ { CLAIM_SIZE("a", "", IN("late"), "1Gi"), CLAIM_SIZE("b", "", IN("late"), "2Gi"),
		    STATIC, VOLUME("v", "", IN("late"), "1Gi", "1"),
		    VOLUME("w", "", IN("late"), "2Gi", "1") },
		  POD("p", USES("a") "," USES("b")),
		  HERE,
		  "" },
		{ { CLAIM_SIZE("a", "", IN("late"), "1Gi"), CLAIM_SIZE("b", "", IN("late"), "2Gi"),
		    STATIC, VOLUME("v", "", IN("late"), "2Gi", "1"),
		    VOLUME("w", "", IN("late"), "1Gi", "1") },
		  POD("p", USES("b") "," USES("a")),
		  HERE,
		  "" },
		/* case 409 */
		{ { CLAIM("a", "", IN("late")), CLAIM("b", "", IN("late")), STATIC,
		    VOLUME("v", "", IN("late"), "5Gi", "1") },
		  POD("p", USES("a") "," USES("b")),
		  HERE,
		  CONFLICT },
		/* case 410 */
		{ { BOUND("a", "v"), VOLUME("v", "", "", "1Gi", "2"), CLAIM("b", "", IN("late")),
		    STATIC },
		  POD("p", USES("a") "," USES("b")),
		  HERE,
		  "node(s) had volume node affinity conflict; " CONFLICT },
		/* One made for the claim comes before a smaller one, or keeps it from others. */
		{ { CLAIM("a", "", IN("late")), STATIC,
		    VOLUME("made", "", ",'claimRef':{'namespace':'ns','name':'a'}", "9Gi", "2"),
		    VOLUME("v", "", IN("late"), "1Gi", "1") },
		  POD("p", USES("a")),
		  HERE,
		  CONFLICT },
		{ { CLAIM("a", "", IN("late")), STATIC,
		    VOLUME("made", "", ",'claimRef':{'namespace':'ns','name':'b'}" IN("late"),
			   "9Gi", "1") },
		  POD("p", USES("a")),
		  HERE,
		  CONFLICT },
		/* case 418 */
		{ { CLAIM("a", SELECTED("n2"), IN("late")), LATE },
		  POD("p", USES("a")),
		  HERE,
		  CONFLICT },
		{ { CLAIM("a", SELECTED("n1"), IN("late")), LATE }, POD("p", USES("a")), HERE, "" },
	};

	check_all(scheduling_volume_binding, rows, ARRAY_SIZE(rows));
}

enum { CROWD = 1100 };

static void store_text(struct store_world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	assert_int_equal(world_create(world, object), 0);
}

/* What is bound already, and sorts before, hides nothing. */
static void one_that_is_free_among_many(void **state)
{
	cleanup_object const struct object *pod = object_of(POD("p", USES("a")));
	cleanup_object const struct object *node = object_of(HERE);
	struct scheduling_verdict verdict = { .count = 0 };
	struct scheduling_query question = { .pod = pod->pod, .node = node };
	struct store_world world;
	char text[1024];

	store_world_open(&world);
	store_text(&world, CLAIM("a", "", IN("late")));
	store_text(&world, STATIC);
	store_text(&world, VOLUME("z", "", IN("late"), "1Gi", "1"));
	for (unsigned int i = 0; i < CROWD; i++) {
		(void) snprintf(text, sizeof(text),
				VOLUME("crowd-%u", "",
				       ",'claimRef':{'namespace':'ns','name':'other'}", "1Gi", "1"),
				i);
		store_text(&world, text);
	}
	question.store = world.store;
	scheduling_volume_binding(&question, &verdict);
	store_world_close(&world);
	assert_int_equal(verdict.count, 0);
}

#define TOPOLOGY(value)                                                                            \
	CLASS("late", "p.example.com",                                                             \
	      WAITS                                                                                \
	      ",'allowedTopologies':[{'matchLabelExpressions':[{'key':'host','values':['" value    \
	      "']}]}]")
#define CAPACITY(class, quantities, topology)                                                      \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{'name':'c',"    \
	"'namespace':'ns'},'storageClassName':'" class "'" quantities topology "}"
#define GIB(n)   ",'capacity':'" n "Gi'"
#define ON(host) ",'nodeTopology':{'matchLabels':{'host':'" host "'}}"

static void volumes_that_could_be_made(void **state)
{
	static const struct expectation rows[] = {
		{ { CLAIM("a", "", IN("late")), LATE }, POD("p", USES("a")), HERE, "" },
		/* case 411 */
		{ { CLAIM("a", "", IN("late")), TOPOLOGY("2") },
		  POD("p", USES("a")),
		  HERE,
		  CONFLICT },
		{ { CLAIM("a", "", IN("late")), TOPOLOGY("1") }, POD("p", USES("a")), HERE, "" },
		/* case 412 */
		{ { CLAIM("a", "", IN("late")), STATIC }, POD("p", USES("a")), HERE, CONFLICT },
		/* case 413 */
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER },
		  POD("p", USES("a")),
		  HERE,
		  NO_ROOM },
		/* case 414 */
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER, CAPACITY("late", GIB("1"), ON("1")) },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER,
		    CAPACITY("late", GIB("9") ",'maximumVolumeSize':'1Mi'", ON("1")) },
		  POD("p", USES("a")),
		  HERE,
		  NO_ROOM },
		/* case 415 */
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER, CAPACITY("late", GIB("1"), ON("2")) },
		  POD("p", USES("a")),
		  HERE,
		  NO_ROOM },
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER, CAPACITY("late", GIB("1"), "") },
		  POD("p", USES("a")),
		  HERE,
		  NO_ROOM },
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER,
		    CAPACITY("late", GIB("1"), ",'nodeTopology':{}") },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		/* case 416 */
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER, CAPACITY("slow", GIB("1"), ON("1")) },
		  POD("p", USES("a")),
		  HERE,
		  NO_ROOM },
		/* case 417 */
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER, CAPACITY("late", "", ON("1")) },
		  POD("p", USES("a")),
		  HERE,
		  NO_ROOM },
		{ { CLAIM("a", "", IN("late")), LATE, DRIVER,
		    CAPACITY("late", GIB("1"),
			     ",'nodeTopology':{'matchExpressions':[{'key':'host','operator':'In',"
			     "'values':['1']},{'key':'kubernetes.io/hostname','operator':'Exists'},"
			     "{'key':'no','operator':'DoesNotExist'},{'key':'host','operator':"
			     "'NotIn','values':['2']}]}") },
		  POD("p", USES("a")),
		  HERE,
		  "" },
	};

	check_all(scheduling_volume_binding, rows, ARRAY_SIZE(rows));
}

#define ONE_POD_CLAIM(annotations, spec)                                                           \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'a','namespace':"    \
	"'ns','annotations':{" annotations "}},'spec':{'accessModes':['ReadWriteOncePod'],"        \
	"'resources':{'requests':{'storage':'1Gi'}}" spec "}}"
#define ONE_POD         ONE_POD_CLAIM("'pv.kubernetes.io/bind-completed':'yes'", ",'volumeName':'v'")
#define ONE_POD_WAITING ONE_POD_CLAIM("", IN("late"))
#define ONE_POD_CHOSEN  ONE_POD_CLAIM(SELECTED("n1"), IN("late"))

static void a_claim_of_one_pod(void **state)
{
	static const struct expectation rows[] = {
		{ { ONE_POD }, POD("p", USES("a")), HERE, "" },
		{ { ONE_POD, POD("p", USES("a")) }, POD("p", USES("a")), HERE, "" },
		{ { ONE_POD, POD("q", USES("a")) },
		  POD("p", USES("a")),
		  HERE,
		  "node has pod using PersistentVolumeClaim with the same name and "
		  "ReadWriteOncePod access mode" },
		{ { ONE_POD_CHOSEN, LATE, POD("q", USES("a")) },
		  POD("p", USES("a")),
		  HERE,
		  "node has pod using PersistentVolumeClaim with the same name and "
		  "ReadWriteOncePod access mode" },
		/* Neither has it yet: the first that asks gets it. */
		{ { ONE_POD_WAITING, LATE, POD("q", USES("a")) }, POD("p", USES("a")), HERE, "" },
		{ { ONE_POD, POD("q", USES("a") "," USES("x")) }, POD("p", USES("a")), HERE, "" },
		{ { CLAIM("a", "", ""), POD("q", USES("a")) }, POD("p", USES("a")), HERE, "" },
	};

	check_all(scheduling_volume_restrictions, rows, ARRAY_SIZE(rows));
}

#define CSI_VOLUME(name)                                                                           \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name                   \
	"'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'csi':{"          \
	"'driver':'d.example.com','volumeHandle':'h-" name "'}}}"
#define CSI_NODE(count)                                                                            \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n1'},'spec':{"     \
	"'drivers':[{'name':'d.example.com','nodeID':'n1','allocatable':{'count':" count "}}]}}"

#define MADE CLASS("late", "d.example.com", WAITS)

static void so_many_volumes_of_a_driver(void **state)
{
	static const struct expectation rows[] = {
		{ { CSI_NODE("1"), BOUND("a", "v"), CSI_VOLUME("v") },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		{ { CSI_NODE("1"), BOUND("a", "v"), CSI_VOLUME("v"), BOUND("b", "w"),
		    CSI_VOLUME("w"), POD("q", USES("b")) },
		  POD("p", USES("a")),
		  HERE,
		  "node(s) exceed max volume count" },
		{ { CSI_NODE("2"), BOUND("a", "v"), CSI_VOLUME("v"), BOUND("b", "w"),
		    CSI_VOLUME("w"), POD("q", USES("b")) },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		/* One that the node has already costs nothing. */
		{ { CSI_NODE("0"), BOUND("a", "v"), CSI_VOLUME("v"), POD("q", USES("a")) },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		/* One that the driver will make counts, too. */
		{ { CSI_NODE("0"), CLAIM("a", "", IN("late")), MADE },
		  POD("p", USES("a")),
		  HERE,
		  "node(s) exceed max volume count" },
		{ { BOUND("a", "v"), CSI_VOLUME("v") }, POD("p", USES("a")), HERE, "" },
		/* A pod that waits takes nothing, not even what it has already. */
		{ { CSI_NODE("1"), MADE, CLAIM("a", "", IN("late")), CLAIM("b", "", IN("late")),
		    POD("q", USES("b")) },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		{ { CSI_NODE("1"), MADE, CLAIM("a", "", IN("late")), CLAIM("b", "", IN("late")),
		    BOUND("c", "v"), CSI_VOLUME("v"), POD("q", USES("b") "," USES("c")) },
		  POD("p", USES("a")),
		  HERE,
		  "" },
		/* One that was given the node does, before its volume is there. */
		{ { CSI_NODE("1"), MADE, CLAIM("a", "", IN("late")),
		    CLAIM("b", SELECTED("n1"), IN("late")), POD("q", USES("b")) },
		  POD("p", USES("a")),
		  HERE,
		  "node(s) exceed max volume count" },
	};

	check_all(scheduling_volume_limits, rows, ARRAY_SIZE(rows));
}

static void all_together(void **state)
{
	static const struct expectation rows[] = {
		{ { ONE_POD, CLAIM("b", "", ""), POD("q", USES("a")) },
		  POD("p", USES("a") "," USES("b") "," USES("x")),
		  HERE,
		  "node has pod using PersistentVolumeClaim with the same name and "
		  "ReadWriteOncePod access mode; pod has unbound immediate "
		  "PersistentVolumeClaims; persistentvolumeclaim \"x\" not found" },
	};

	check_all(scheduling_check, rows, ARRAY_SIZE(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_that_no_node_helps),
		cmocka_unit_test(volumes_that_are_bound),
		cmocka_unit_test(volumes_that_could_be_bound),
		cmocka_unit_test(one_that_is_free_among_many),
		cmocka_unit_test(volumes_that_could_be_made),
		cmocka_unit_test(a_claim_of_one_pod),
		cmocka_unit_test(so_many_volumes_of_a_driver),
		cmocka_unit_test(all_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
