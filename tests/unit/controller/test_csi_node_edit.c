/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_node_edit - what a driver changes in Node and CSINode (cases 239 and following)
 *
 * The texts use ' for ".
 */
#include "controller/csi/csi_node_edit.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static char *quoted(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	for (char *at = copy; *at; at++)
		*at = *at == '\'' ? '"' : *at == '`' ? '\'' : *at;
	return copy;
}

static struct cJSON *tree_of(const char *text)
{
	const struct json_limits limits = { .bytes = 65536, .depth = 16 };
	cleanup_free char *json = quoted(text);
	struct cJSON *tree;

	assert_int_equal(json_parse(json, strlen(json), &limits, &tree, NULL), 0);
	return tree;
}

static void assert_tree(const struct cJSON *tree, const char *expected)
{
	cleanup_free char *text = json_print(tree), *json = quoted(expected);

	assert_string_equal(text, json);
}

static const struct label zone_a[] = { { "zone", "a" } };
static const struct label zone_and_rack[] = { { "zone", "a" }, { "rack", "7" } };

static const struct csi_node_entry plain = { .driver = "d", .node_id = "n1" };

/* ---- Node ---- */

static void test_node_gets_annotation_and_labels(void **state)
{
	struct csi_node_entry entry = plain;
	cleanup_json struct cJSON *node =
		tree_of("{'metadata':{'annotations':{'a':'b'},'labels':{'l':'m'}}}");

	entry.topology = (struct labels){ zone_a, 1 };
	assert_int_equal(csi_node_edit_node(node, &entry, NULL), 1); /* case 240 */
	assert_tree(node, "{'metadata':{'annotations':{'a':'b','csi.volume.kubernetes.io/nodeid':"
			  "'{\\'d\\':\\'n1\\'}'},'labels':{'l':'m','zone':'a'}}}");
	assert_int_equal(csi_node_edit_node(node, &entry, NULL), 0);
}

/* Sorted by driver, in whatever order they came. */
static void test_annotation_holds_every_driver(void **state)
{
	const struct csi_node_entry first = { .driver = "b", .node_id = "2" };
	const struct csi_node_entry second = { .driver = "a", .node_id = "1" };
	cleanup_json struct cJSON *node = tree_of("{'metadata':{'name':'x'}}");

	assert_int_equal(csi_node_edit_node(node, &first, NULL), 1);
	assert_int_equal(csi_node_edit_node(node, &second, NULL), 1);
	assert_tree(node, "{'metadata':{'name':'x','annotations':{'csi.volume.kubernetes.io/"
			  "nodeid':'{\\'a\\':\\'1\\',\\'b\\':\\'2\\'}'}}}");
	assert_int_equal(csi_node_edit_node_back(node, "b", NULL), 1);
	assert_tree(node, "{'metadata':{'name':'x','annotations':{'csi.volume.kubernetes.io/"
			  "nodeid':'{\\'a\\':\\'1\\'}'}}}");
	assert_int_equal(csi_node_edit_node_back(node, "b", NULL), 0);
	assert_int_equal(csi_node_edit_node_back(node, "a", NULL), 1);
	assert_tree(node, "{'metadata':{'name':'x','annotations':{}}}");
}

static void test_node_id_is_needed(void **state)
{
	struct csi_node_entry entry = plain;
	cleanup_json struct cJSON *node = tree_of("{'metadata':{}}");
	struct failure why;

	entry.node_id = "";
	assert_int_equal(csi_node_edit_node(node, &entry, &why), -EINVAL); /* case 239 */
	assert_tree(node, "{'metadata':{}}");
}

static void test_label_that_contradicts(void **state)
{
	struct csi_node_entry entry = plain;
	cleanup_json struct cJSON *node = tree_of("{'metadata':{'labels':{'zone':'b'}}}");
	struct failure why;

	entry.topology = (struct labels){ zone_and_rack, 2 };
	assert_int_equal(csi_node_edit_node(node, &entry, &why), -EEXIST); /* case 241 */
	assert_non_null(strstr(why.text, "'zone' is 'a'"));
	assert_non_null(strstr(why.text, "'b'"));
	assert_tree(node, "{'metadata':{'labels':{'zone':'b'}}}");
}

static void test_changed_driver(void **state)
{
	struct csi_node_entry entry = plain;
	cleanup_json struct cJSON *node = tree_of("{'metadata':{'labels':{}}}");

	entry.topology = (struct labels){ zone_a, 1 };
	assert_int_equal(csi_node_edit_node(node, &entry, NULL), 1);
	entry.node_id = "n2";
	entry.topology = (struct labels){ zone_and_rack + 1, 1 };
	assert_int_equal(csi_node_edit_node(node, &entry, NULL), 1); /* case 242 */
	assert_tree(node, "{'metadata':{'labels':{'zone':'a','rack':'7'},'annotations':{'csi."
			  "volume.kubernetes.io/nodeid':'{\\'d\\':\\'n2\\'}'}}}");
}

static void test_annotation_that_cannot_be_read(void **state)
{
	static const char *const annotations[] = { "no", "[]", "{'d'", "7" };
	struct failure why;

	for (size_t i = 0; i < ARRAY_SIZE(annotations); i++) {
		cleanup_json struct cJSON *node = json_new_object();
		cleanup_free char *before = NULL, *after = NULL;

		(void) json_set_string(
			json_add_object(json_add_object(node, "metadata"), "annotations"),
			CSI_NODE_ID_ANNOTATION, annotations[i]);
		before = json_print(node);
		assert_int_equal(csi_node_edit_node(node, &plain, &why), -EINVAL);
		assert_non_null(strstr(why.text, CSI_NODE_ID_ANNOTATION));
		assert_int_equal(csi_node_edit_node_back(node, "d", &why), -EINVAL);
		after = json_print(node);
		assert_string_equal(after, before);
	}
}

static void test_old_limits_go(void **state)
{
	cleanup_json struct cJSON *node = tree_of(
		"{'metadata':{},'status':{'capacity':{'cpu':'1','attachable-volumes-csi-d':'5'},"
		"'allocatable':{'attachable-volumes-csi-e':'5'}}}");

	assert_int_equal(csi_node_edit_node(node, &plain, NULL), 1);
	assert_int_equal(csi_node_edit_node_back(node, "e", NULL), 1);
	assert_tree(json_get(node, "status"), "{'capacity':{'cpu':'1'},'allocatable':{}}");
}

/* ---- CSINode ---- */

static struct cJSON *csi_node(const char *drivers)
{
	cleanup_free char *text = NULL;

	assert_true(asprintf(&text, "{'metadata':{'name':'x'},'spec':{'drivers':[%s]}}", drivers) >
		    0);
	return tree_of(text);
}

static void assert_drivers(const struct cJSON *tree, const char *expected)
{
	cleanup_free char *text = NULL;

	assert_true(asprintf(&text, "[%s]", expected) > 0);
	assert_tree(json_get_path(tree, "spec.drivers"), text);
}

static void test_entry_is_added(void **state)
{
	static const struct label unsorted[] = { { "z", "1" }, { "a", "2" }, { "z", "1" } };
	struct csi_node_entry entry = plain;
	cleanup_json struct cJSON *tree = csi_node("{'name':'c','nodeID':'i'}");

	entry.topology = (struct labels){ unsorted, 3 };
	entry.max_volumes = 10;
	assert_int_equal(csi_node_edit_entry(tree, &entry, NULL), 1); /* case 243 */
	assert_drivers(tree, "{'name':'c','nodeID':'i'},{'allocatable':{'count':10},'name':'d',"
			     "'nodeID':'n1','topologyKeys':['a','z']}");
	assert_int_equal(csi_node_edit_entry(tree, &entry, NULL), 0); /* case 246 */
}

static void test_limits(void **state)
{
	static const struct {
		int64_t told;
		const char *expected;
	} limits[] = {
		{ 1, "{'allocatable':{'count':1},'name':'d','nodeID':'n1'}" },
		{ INT64_C(1) << 40, /* case 244 */
		  "{'allocatable':{'count':2147483647},'name':'d','nodeID':'n1'}" },
		{ 2147483647, "{'allocatable':{'count':2147483647},'name':'d','nodeID':'n1'}" },
		{ 0, "{'name':'d','nodeID':'n1'}" },
		{ -5, "{'name':'d','nodeID':'n1'}" }, /* case 245; the log is csi_node.c's */
	};
	struct csi_node_entry entry = plain;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		cleanup_json struct cJSON *tree = csi_node("");

		entry.max_volumes = limits[i].told;
		assert_int_equal(csi_node_edit_entry(tree, &entry, NULL), 1);
		assert_drivers(tree, limits[i].expected);
	}
}

/* What is stored may not be changed in place, so it goes, and comes at the end. */
static void test_changed_entry_goes_to_the_end(void **state)
{
	cleanup_json struct cJSON *tree = csi_node(
		"{'name':'d','nodeID':'old','topologyKeys':['q']},{'name':'e','nodeID':'i'}");
	struct csi_node_entry entry = plain;

	entry.topology = (struct labels){ zone_and_rack, 2 };
	assert_int_equal(csi_node_edit_entry(tree, &entry, NULL), 1);
	assert_drivers(tree, "{'name':'e','nodeID':'i'}");
	assert_int_equal(csi_node_edit_entry(tree, &entry, NULL), 1);
	assert_drivers(tree, "{'name':'e','nodeID':'i'},{'name':'d','nodeID':'n1',"
			     "'topologyKeys':['rack','zone']}");
	assert_int_equal(csi_node_edit_entry(tree, &entry, NULL), 0);
}

static void test_one_goes_and_the_others_stay(void **state)
{
	cleanup_json struct cJSON *tree = csi_node(
		"{'name':'c','nodeID':'1'},{'name':'d','nodeID':'2'},{'name':'e','nodeID':'3'}");

	assert_int_equal(csi_node_edit_entry_back(tree, "d"), 1);
	assert_drivers(tree, "{'name':'c','nodeID':'1'},{'name':'e','nodeID':'3'}");
	assert_int_equal(csi_node_edit_entry_back(tree, "d"), 0);
	assert_drivers(tree, "{'name':'c','nodeID':'1'},{'name':'e','nodeID':'3'}");
}

/* In-tree volumes are not translated: schedulers and controllers must not believe they are. */
static void test_migrated_plugins(void **state)
{
	cleanup_json struct cJSON *tree = csi_node("");
	struct cJSON *annotations;

	assert_int_equal(csi_node_edit_migrated(tree), 0);
	annotations = json_ensure_object(json_ensure_object(tree, "metadata"), "annotations");
	assert_int_equal(json_set_string(annotations, "other", "stays"), 0);
	assert_int_equal(csi_node_edit_migrated(tree), 0);
	assert_int_equal(
		json_set_string(annotations, CSI_MIGRATED_ANNOTATION, "kubernetes.io/gce-pd"), 0);
	assert_int_equal(csi_node_edit_migrated(tree), 1);
	assert_null(json_get(annotations, CSI_MIGRATED_ANNOTATION));
	assert_string_equal(json_string(json_get(annotations, "other"), ""), "stays");
	assert_int_equal(csi_node_edit_migrated(tree), 0);
}

static void test_new_object_is_owned_by_the_node(void **state)
{
	cleanup_json struct cJSON *tree = csi_node_tree("x", "u-1");

	assert_tree(tree, "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':"
			  "'x','ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'x',"
			  "'uid':'u-1'}]},'spec':{'drivers':[]}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node_gets_annotation_and_labels),
		cmocka_unit_test(test_annotation_holds_every_driver),
		cmocka_unit_test(test_node_id_is_needed),
		cmocka_unit_test(test_label_that_contradicts),
		cmocka_unit_test(test_changed_driver),
		cmocka_unit_test(test_annotation_that_cannot_be_read),
		cmocka_unit_test(test_old_limits_go),
		cmocka_unit_test(test_entry_is_added),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_changed_entry_goes_to_the_end),
		cmocka_unit_test(test_one_goes_and_the_others_stay),
		cmocka_unit_test(test_migrated_plugins),
		cmocka_unit_test(test_new_object_is_owned_by_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
