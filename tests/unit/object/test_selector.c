/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_selector - which labels a selector matches, and which selectors are refused
 */
#include "object/select/selector.h"

#include "base/cleanup.h"
#include "object/kinds/persistent_volume.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define VOLUME_YAML                                                                                \
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv}\nspec:\n"                    \
	"  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n  local: {path: /x}\n"        \
	"  nodeAffinity: {required: {nodeSelectorTerms: %s}}\n"
#define CLAIM_YAML                                                                                 \
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: pvc}\nspec:\n"              \
	"  accessModes: [ReadWriteOnce]\n  resources: {requests: {storage: 1Gi}}\n"                \
	"  selector: %s\n"

static const struct label node_label_list[] = {
	{ "kubernetes.io/hostname", "node-1" },
	{ "zone", "a" },
	{ "cores", "16" },
	{ "odd", "x16" },
};
static const struct labels node_labels = { node_label_list, ARRAY_SIZE(node_label_list) };

static bool node_matches(const char *terms)
{
	char yaml[1000];
	const struct object *object;
	bool matches;

	(void) snprintf(yaml, sizeof(yaml), VOLUME_YAML, terms);
	object = object_of(yaml);
	assert_non_null(object->persistent_volume->node_affinity);
	matches = node_selector_matches(object->persistent_volume->node_affinity, &node_labels);
	(void) object_unref(object);
	return matches;
}

static bool labels_match(const char *selector)
{
	static const struct label list[] = { { "app", "web" }, { "tier", "" } };
	static const struct labels labels = { list, ARRAY_SIZE(list) };
	char yaml[1000];
	const struct object *object;
	bool matches;
	uint64_t bits;

	(void) snprintf(yaml, sizeof(yaml), CLAIM_YAML, selector);
	object = object_of(yaml);
	assert_non_null(object->claim->selector);
	matches = label_selector_matches(object->claim->selector, &labels);
	bits = label_selector_bits(object->claim->selector);
	assert_true(!matches || (labels_bits(&labels) & bits) == bits);
	(void) object_unref(object);
	return matches;
}

/* case 341: a volume of another host. */
static void test_another_host_does_not_match_case_341(void **state)
{
	assert_false(node_matches("[{matchExpressions: [{key: kubernetes.io/hostname, operator: "
				  "In, values: [other]}]}]"));
	assert_true(node_matches("[{matchExpressions: [{key: kubernetes.io/hostname, operator: In, "
				 "values: [other, node-1]}]}]"));
}

/* case 342, a difference: no terms match nothing, but such a volume is refused when written. */
static void test_no_terms_match_nothing_case_342(void **state)
{
	const struct node_selector none = { 0 };
	const struct node_selector_term empty = { 0 };
	const struct node_selector with_empty = { &empty, 1 };
	char yaml[1000];

	assert_false(node_selector_matches(&none, &node_labels));
	assert_false(node_selector_matches(&with_empty, &node_labels));
	assert_false(node_matches("[{}]"));
	(void) snprintf(yaml, sizeof(yaml), VOLUME_YAML, "[]");
	assert_refused(yaml, "spec.nodeAffinity.required.nodeSelectorTerms: Required value: must "
			     "have at least one node selector term");
}

/* case 343: terms are alternatives. */
static void test_one_of_two_terms_is_enough_case_343(void **state)
{
	assert_true(node_matches("[{matchExpressions: [{key: zone, operator: In, values: [b]}]}, "
				 "{matchExpressions: [{key: zone, operator: In, values: [a]}]}]"));
	assert_true(node_matches("[{}, {matchExpressions: [{key: zone, operator: Exists}]}]"));
}

/* case 344: only labels are known, so a term of fields alone passes. */
static void test_fields_are_passed_over_case_344(void **state)
{
	assert_true(node_matches(
		"[{matchFields: [{key: metadata.name, operator: In, values: [other]}]}]"));
	assert_false(node_matches(
		"[{matchFields: [{key: metadata.name, operator: In, values: [node-1]}], "
		"matchExpressions: [{key: zone, operator: In, values: [b]}]}]"));
}

/* case 345: the expressions of a term must all hold. */
static void test_expressions_of_a_term_are_anded_case_345(void **state)
{
	assert_false(node_matches("[{matchExpressions: [{key: zone, operator: In, values: [a]}, "
				  "{key: cores, operator: In, values: ['8']}]}]"));
	assert_true(node_matches("[{matchExpressions: [{key: zone, operator: In, values: [a]}, "
				 "{key: cores, operator: In, values: ['16']}]}]"));
}

static void test_operators(void **state)
{
	static const struct {
		const char *expression;
		bool matches;
	} cases[] = {
		{ "key: zone, operator: NotIn, values: [a]", false },
		{ "key: zone, operator: NotIn, values: [b]", true },
		{ "key: none, operator: NotIn, values: [b]", true },
		{ "key: none, operator: In, values: ['']", false },
		{ "key: zone, operator: Exists", true },
		{ "key: none, operator: Exists", false },
		{ "key: zone, operator: DoesNotExist", false },
		{ "key: none, operator: DoesNotExist", true },
		{ "key: cores, operator: Gt, values: ['15']", true },
		{ "key: cores, operator: Gt, values: ['16']", false },
		{ "key: cores, operator: Lt, values: ['17']", true },
		{ "key: cores, operator: Lt, values: ['16']", false },
		{ "key: odd, operator: Gt, values: ['1']", false },
		{ "key: cores, operator: Gt, values: [1x]", false },
		{ "key: cores, operator: Lt, values: ['99999999999999999999']", false },
		{ "key: none, operator: Lt, values: ['1']", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char terms[200];

		(void) snprintf(terms, sizeof(terms), "[{matchExpressions: [{%s}]}]",
				cases[i].expression);
		if (node_matches(terms) != cases[i].matches)
			print_message("%s\n", terms);
		assert_int_equal(node_matches(terms), cases[i].matches);
	}
}

static void test_label_selectors(void **state)
{
	assert_true(labels_match("{}"));
	assert_true(labels_match("{matchLabels: {app: web}}"));
	assert_true(labels_match("{matchLabels: {tier: ''}}"));
	assert_false(labels_match("{matchLabels: {app: web, tier: x}}"));
	assert_false(labels_match("{matchLabels: {other: ''}}"));
	assert_true(labels_match("{matchLabels: {app: web}, matchExpressions: "
				 "[{key: app, operator: NotIn, values: [db]}]}"));
	assert_false(labels_match("{matchLabels: {app: web}, matchExpressions: "
				  "[{key: app, operator: DoesNotExist}]}"));
}

static void assert_selector_refused(const char *format, const char *selector, const char *why)
{
	char yaml[1000];

	(void) snprintf(yaml, sizeof(yaml), format, selector);
	assert_refused(yaml, why);
}

static void test_selectors_are_checked(void **state)
{
	assert_selector_refused(CLAIM_YAML, "{matchExpressions: [{operator: Exists}]}",
				"spec.selector.matchExpressions[0].key: Required value");
	assert_selector_refused(
		CLAIM_YAML, "{matchExpressions: [{key: a, operator: Gt, values: ['1']}]}",
		"spec.selector.matchExpressions[0].operator: Unsupported value: \"Gt\": supported "
		"values: \"DoesNotExist\", \"Exists\", \"In\", \"NotIn\"");
	assert_selector_refused(CLAIM_YAML, "{matchExpressions: [{key: a, operator: In}]}",
				"spec.selector.matchExpressions[0].values: Required value: must be "
				"specified when `operator` is 'In' or 'NotIn'");
	assert_selector_refused(
		CLAIM_YAML, "{matchExpressions: [{key: a, operator: Exists, values: [b]}]}",
		"spec.selector.matchExpressions[0].values: Forbidden: may not be specified when "
		"`operator` is 'Exists' or 'DoesNotExist'");
	assert_selector_refused(CLAIM_YAML, "{matchLabels: {a: 1}}",
				"spec.selector.matchLabels[a]: Invalid value: must be a "
				"string, not a number");
	assert_selector_refused(
		VOLUME_YAML,
		"[{}, {matchExpressions: [{key: a, operator: Lt, values: ['1', '2']}]}]",
		"spec.nodeAffinity.required.nodeSelectorTerms[1].matchExpressions[0].values: "
		"Required value: must be specified single value when `operator` is 'Lt' or 'Gt'");
	assert_selector_refused(
		VOLUME_YAML, "[{matchFields: [{key: a}]}]",
		"spec.nodeAffinity.required.nodeSelectorTerms[0].matchFields[0].operator: Required "
		"value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_another_host_does_not_match_case_341),
		cmocka_unit_test(test_no_terms_match_nothing_case_342),
		cmocka_unit_test(test_one_of_two_terms_is_enough_case_343),
		cmocka_unit_test(test_fields_are_passed_over_case_344),
		cmocka_unit_test(test_expressions_of_a_term_are_anded_case_345),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_label_selectors),
		cmocka_unit_test(test_selectors_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
