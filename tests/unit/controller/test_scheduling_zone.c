/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scheduling_zone - labels of zones and regions, of volumes and of the node
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "scheduling_world.h"

#include "base/cleanup.h"

#define ZONE(v)        "'topology.kubernetes.io/zone':'" v "'"
#define REGION(v)      "'topology.kubernetes.io/region':'" v "'"
#define BETA_ZONE(v)   "'failure-domain.beta.kubernetes.io/zone':'" v "'"
#define BETA_REGION(v) "'failure-domain.beta.kubernetes.io/region':'" v "'"
#define NOT_THERE      "node(s) had no available volume zone"

#define WITH(volume_labels)                                                                        \
	{                                                                                          \
		BOUND("a", "v"), PLAIN_VOLUME("v", volume_labels)                                  \
	}
#define MINE POD("p", USES("a"))

static void labels_of_volume_and_node(void **state)
{
	static const struct expectation rows[] = {
		/* case 423 */
		{ WITH(ZONE("a")), MINE, NODE("'x':'y'"), "" },
		/* case 424 */
		{ WITH(BETA_ZONE("a")), MINE, NODE(BETA_ZONE("a")), "" },
		/* case 425 */
		{ WITH(BETA_ZONE("a")), MINE, NODE(BETA_ZONE("b")), NOT_THERE },
		/* case 426 */
		{ WITH(ZONE("a__c")), MINE, NODE(ZONE("a")), "" },
		{ WITH(ZONE("a__c")), MINE, NODE(ZONE("c")), "" },
		{ WITH(ZONE("a__c")), MINE, NODE(ZONE("a__c")), NOT_THERE },
		/* case 427 */
		{ WITH(REGION("r1")), MINE, NODE(REGION("r2")), NOT_THERE },
		{ WITH(BETA_REGION("r1")), MINE, NODE(REGION("r2")), NOT_THERE },
		/* case 428 */
		{ WITH(BETA_ZONE("a")), MINE, NODE(ZONE("a")), "" },
		/* case 429 */
		{ WITH(ZONE("a")), MINE, NODE(BETA_ZONE("a")), NOT_THERE },
		/* case 430 */
		{ WITH("'other':'a'"), MINE, NODE(ZONE("a")), "" },
		{ WITH(ZONE("a") "," REGION("r1")), MINE, NODE(ZONE("a") "," REGION("r2")),
		  NOT_THERE },
	};

	check_all(scheduling_volume_zone, rows, ARRAY_SIZE(rows));
}

static void claims_without_a_volume(void **state)
{
	static const struct expectation rows[] = {
		/* case 431 */
		{ { CLAIM("a", "", IN("s")), CLASS("s", "p/q", WAITS) },
		  MINE,
		  NODE(ZONE("a")),
		  "" },
		/* case 432 */
		{ { CLAIM("a", "", IN("s")), CLASS("s", "p/q", "") },
		  MINE,
		  NODE(ZONE("a")),
		  "PersistentVolume had no name" },
		/* case 433 */
		{ { CLAIM("a", "", "") },
		  MINE,
		  NODE(ZONE("a")),
		  "PersistentVolumeClaim had no pv name and storageClass name" },
		/* case 434 */
		{ { CLAIM("a", "", IN("s")) },
		  MINE,
		  NODE(ZONE("a")),
		  "storageclass.storage.k8s.io \"s\" not found" },
		{ { NULL }, MINE, NODE(ZONE("a")), "persistentvolumeclaim \"a\" not found" },
		{ { BOUND("a", "v") }, MINE, NODE(ZONE("a")), "persistentvolume \"v\" not found" },
		{ { NULL }, POD("p", "{'name':'e','emptyDir':{}}"), NODE(ZONE("a")), "" },
	};

	check_all(scheduling_volume_zone, rows, ARRAY_SIZE(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_of_volume_and_node),
		cmocka_unit_test(claims_without_a_volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
