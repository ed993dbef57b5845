/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_documents - streams of documents: what spoils one, what ends all, and where
 */
#include "object/object.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CLASS_YAML(name)                                                                           \
	"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " name                \
	"}\nprovisioner: x\n"
#define CLASS_JSON(name)                                                                           \
	"{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":"  \
	"\"" name "\"},\"provisioner\":\"x\"}"

static void parse(const char *text, struct document_list *list)
{
	assert_int_equal(documents_parse(text, strlen(text), list, NULL), 0);
}

static void assert_good(const struct document *document, unsigned int line, const char *name)
{
	assert_null(document->failure);
	assert_non_null(document->object);
	assert_int_equal(document->line, line);
	assert_string_equal(document->name, name);
	assert_string_equal(document->object->meta.name, name);
}

static void assert_bad(const struct document *document, unsigned int line, const char *name,
		       const char *why)
{
	assert_null(document->object);
	assert_non_null(document->failure);
	assert_string_equal(document->failure->text, why);
	assert_true(document->failure->error < 0);
	assert_int_equal(document->line, line);
	assert_string_equal(document->name, name);
}

static void test_a_bad_document_spoils_no_other(void **state)
{
	struct document_list list;

	parse(CLASS_YAML("a") "---\n# nothing\n---\n"
			      "kind: Pod\napiVersion: v1\nmetadata: {name: b, namespace: ns}\n"
			      "spec: {containers: []}\n---\n" CLASS_YAML("c"),
	      &list);
	assert_int_equal(list.count, 3);
	assert_good(&list.documents[0], 1, "a");
	assert_bad(&list.documents[1], 8, "b", "spec.containers: Required value");
	assert_string_equal(list.documents[1].kind, "Pod");
	assert_string_equal(list.documents[1].name_space, "ns");
	assert_good(&list.documents[2], 13, "c");
	assert_int_equal(list.failure.error, 0);
	document_list_done(&list);
	assert_int_equal(list.count, 0);
}

static void test_a_broken_rule_spoils_one_document(void **state)
{
	struct document_list list;

	parse(CLASS_YAML("a") "x: &anchor 1\n---\n" CLASS_YAML(
		      "b") "provisioner: y\n---\n" CLASS_YAML("c"),
	      &list);
	assert_int_equal(list.count, 3);
	assert_bad(&list.documents[0], 1, "a",
		   "line 5: anchors are not supported: quote a text that begins with '&'");
	assert_bad(&list.documents[1], 7, "b", "line 11: duplicate key");
	assert_good(&list.documents[2], 13, "c");
	document_list_done(&list);
}

static void test_a_syntax_error_keeps_what_came_before(void **state)
{
	struct document_list list;

	parse(CLASS_YAML("a") "---\nkind: Pod\napiVersion: v1\nmetadata: {name: b}\n"
			      "spec:\n  x\n  y: 1\n---\n" CLASS_YAML("c"),
	      &list);
	assert_int_equal(list.count, 2);
	assert_good(&list.documents[0], 1, "a");
	assert_bad(&list.documents[1], 6, "b", list.failure.text);
	assert_int_equal(list.failure.error, -EINVAL);
	assert_string_equal(list.failure.text,
			    "line 11, column 4: mapping values are not allowed in this context");
	document_list_done(&list);
}

static void test_nothing_is_no_document(void **state)
{
	static const char *const texts[] = { "", "\n \n", "# x\n", "---\n---\n", "\xef\xbb\xbf" };
	struct document_list list;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		parse(texts[i], &list);
		assert_int_equal(list.count, 0);
		assert_int_equal(list.failure.error, 0);
		document_list_done(&list);
	}
}

static void test_what_is_no_object_is_refused(void **state)
{
	struct document_list list;

	parse("- a\n---\nx\n---\na: 1\n---\nkind: Pod\n---\nkind: Pod\napiVersion: v2\n"
	      "metadata: {name: nn}\n---\nkind: [Pod]\napiVersion: v1\n",
	      &list);
	assert_int_equal(list.count, 6);
	assert_bad(&list.documents[0], 1, "", "an object must be a map");
	assert_bad(&list.documents[1], 3, "", "an object must be a map");
	assert_bad(&list.documents[2], 5, "", "kind: Required value");
	assert_bad(&list.documents[3], 7, "", "apiVersion: Required value");
	assert_bad(&list.documents[4], 9, "nn", "no matches for kind \"Pod\" in version \"v2\"");
	assert_int_equal(list.documents[4].failure->error, -EOPNOTSUPP);
	assert_bad(&list.documents[5], 13, "", "kind: Required value");
	document_list_done(&list);
}

static void test_json_streams(void **state)
{
	struct document_list list;

	parse(" \n" CLASS_JSON("a")
		      CLASS_JSON("b") "\n---\n" CLASS_JSON("c") "\n--- \n\n---\n" CLASS_YAML("d"),
	      &list);
	assert_int_equal(list.count, 4);
	assert_good(&list.documents[0], 2, "a");
	assert_good(&list.documents[1], 2, "b");
	assert_good(&list.documents[2], 4, "c");
	assert_good(&list.documents[3], 8, "d");
	document_list_done(&list);
}

/* What an export of a cluster holds. */
static void test_lists_of_one_kind(void **state)
{
	struct document_list list;

	parse("{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClassList\",\"items\":["
	      "{\"metadata\":{\"name\":\"a\"},\"provisioner\":\"x\"}," CLASS_JSON("b") "]}",
	      &list);
	assert_int_equal(list.count, 2);
	assert_good(&list.documents[0], 1, "a");
	assert_good(&list.documents[1], 1, "b");
	assert_false(list.has_empty_list);
	document_list_done(&list);

	parse("apiVersion: v1\nkind: List\nitems: []\n", &list);
	assert_int_equal(list.count, 0);
	assert_true(list.has_empty_list);
	document_list_done(&list);
}

static void test_kinds_of_a_cluster(void **state)
{
	struct document_list list;

	parse("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n---\n"
	      "apiVersion: v1\nkind: Podd\nmetadata: {name: p}\n",
	      &list);
	assert_int_equal(list.count, 2);
	assert_true(list.documents[0].is_foreign_kind);
	assert_false(list.documents[1].is_foreign_kind);
	assert_null(list.documents[0].object);
	document_list_done(&list);
}

static void test_unknown_fields_are_noted(void **state)
{
	struct document_list list;

	parse(CLASS_YAML("a") "reclaimpolicy: Retain\nparameters: {any: thing}\nx: "
			      "1\n---\n" CLASS_YAML("b"),
	      &list);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.documents[0].unknown_fields, "reclaimpolicy, x");
	assert_null(list.documents[1].unknown_fields);
	document_list_done(&list);
}

static void test_a_byte_order_mark_is_passed_over(void **state)
{
	struct document_list list;

	parse("\xef\xbb\xbf" CLASS_JSON("a"), &list);
	assert_good(&list.documents[0], 1, "a");
	document_list_done(&list);
	parse("\xef\xbb\xbf" CLASS_YAML("a"), &list);
	assert_good(&list.documents[0], 1, "a");
	document_list_done(&list);
}

static void test_json_errors(void **state)
{
	struct document_list list;

	/* a duplicate key spoils its value, a syntax error the rest */
	parse("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\n\"x\":1,\"x\":2}\n" CLASS_JSON(
		      "b") "\n{\"kind\":\"Pod\",\"metadata\":{\"name\":\"c\"},\n}\n" CLASS_JSON("d"),
	      &list);
	assert_int_equal(list.count, 3);
	assert_bad(&list.documents[0], 1, "a", "line 2: duplicate key");
	assert_good(&list.documents[1], 3, "b");
	assert_bad(&list.documents[2], 4, "c", "line 5, column 1: a key in quotes is expected");
	assert_string_equal(list.documents[2].kind, "Pod");
	assert_string_equal(list.failure.text, "line 5, column 1: a key in quotes is expected");
	document_list_done(&list);
}

/* case 466: kubelet reads a manifest that begins with '{' as YAML. */
static void test_yaml_in_flow_style(void **state)
{
	static const char flow[] = "{apiVersion: storage.k8s.io/v1, kind: StorageClass,\n"
				   " metadata: {name: a}, # of the shop\n provisioner: x,\n}\n";
	struct document_list list;
	char text[1024];

	parse(flow, &list);
	assert_int_equal(list.count, 1);
	assert_good(&list.documents[0], 1, "a");
	document_list_done(&list);

	(void) snprintf(text, sizeof(text), "%s\n---\n%s---\n%s", CLASS_JSON("b"), flow,
			CLASS_YAML("d"));
	parse(text, &list);
	assert_int_equal(list.count, 3);
	assert_good(&list.documents[0], 1, "b");
	assert_good(&list.documents[1], 3, "a");
	assert_good(&list.documents[2], 8, "d");
	document_list_done(&list);

	/* no YAML either: the message is JSON's */
	parse("{apiVersion: v1", &list);
	assert_int_equal(list.count, 1);
	assert_bad(&list.documents[0], 1, "", "line 1, column 2: a key in quotes is expected");
	document_list_done(&list);
}

static void test_leading_blanks_belong_to_yaml(void **state)
{
	struct document_list list;

	parse("\n  apiVersion: storage.k8s.io/v1\n  kind: StorageClass\n  metadata: {name: a}\n"
	      "  provisioner: x\n",
	      &list);
	assert_int_equal(list.count, 1);
	assert_good(&list.documents[0], 2, "a");
	document_list_done(&list);
}

static void test_lists_are_flattened(void **state)
{
	struct document_list list;

	parse("apiVersion: v1\nkind: List\nitems:\n"
	      "- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, "
	      "provisioner: x}\n"
	      "- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n"
	      "- apiVersion: v1\n  kind: List\n  items:\n"
	      "  - {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, "
	      "provisioner: x}\n"
	      "- 7\n",
	      &list);
	assert_int_equal(list.count, 4);
	assert_good(&list.documents[0], 4, "a");
	assert_bad(&list.documents[1], 5, "b", "spec.containers: Required value");
	assert_good(&list.documents[2], 9, "c");
	assert_bad(&list.documents[3], 10, "", "an object must be a map");
	document_list_done(&list);
}

/* What broke a rule is one bad document, not its items. */
static void test_a_list_that_breaks_a_rule(void **state)
{
	struct document_list list;

	parse("apiVersion: v1\nkind: List\nitems:\n"
	      "- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, "
	      "provisioner: x}\n"
	      "kind: List\n",
	      &list);
	assert_int_equal(list.count, 1);
	assert_bad(&list.documents[0], 1, "", "line 5: duplicate key");
	document_list_done(&list);
}

static void test_lists_of_json_have_lines(void **state)
{
	struct document_list list;

	parse("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n" CLASS_JSON(
		      "a") ",\n\n" CLASS_JSON("b") "]}",
	      &list);
	assert_int_equal(list.count, 2);
	assert_good(&list.documents[0], 2, "a");
	assert_good(&list.documents[1], 4, "b");
	document_list_done(&list);
	parse("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}", &list);
	assert_int_equal(list.count, 0);
	document_list_done(&list);
	parse("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":{}}", &list);
	assert_int_equal(list.count, 1);
	assert_bad(&list.documents[0], 1, "", "no matches for kind \"List\" in version \"v1\"");
	document_list_done(&list);
}

static void test_defaulted_namespaces_are_named(void **state)
{
	struct document_list list;

	parse("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c}]}\n",
	      &list);
	assert_string_equal(list.documents[0].name_space, "default");
	document_list_done(&list);
}

static void test_bytes_are_limited(void **state)
{
	static char text[DOCUMENTS_BYTES_MAX + 1];
	struct document_list list;
	struct failure failure;

	memset(text, '\n', sizeof(text));
	assert_int_equal(documents_parse(text, sizeof(text), &list, &failure), -E2BIG);
	assert_string_equal(failure.text, "16777217 bytes are more than the 16777216 allowed");
	assert_int_equal(documents_parse(text, sizeof(text) - 1, &list, &failure), 0);
	document_list_done(&list);
}

static void test_documents_are_limited(void **state)
{
	enum { MORE = DOCUMENTS_COUNT_MAX + 5 };
	static char text[6 * MORE + 1];
	struct document_list list;

	for (size_t i = 0; i < MORE; i++)
		memcpy(text + 6 * i, "a\n---\n", 6);
	parse(text, &list);
	assert_int_equal(list.count, DOCUMENTS_COUNT_MAX + 1);
	assert_string_equal(list.failure.text, "line 100001: more than 50000 documents");
	assert_int_equal(list.failure.error, -E2BIG);
	assert_string_equal(list.documents[DOCUMENTS_COUNT_MAX].failure->text, list.failure.text);
	document_list_done(&list);

	documents_set_max(3);
	parse(text, &list);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.failure.text, "line 7: more than 3 documents");
	document_list_done(&list);
	documents_set_max(DOCUMENTS_COUNT_MAX);
}

static void test_how_many_follows_memory(void **state)
{
	static const uint64_t gib = 1024 * 1024 * 1024;

	assert_int_equal(documents_max_for(0), 30000);
	assert_int_equal(documents_max_for(gib), 30000);
	assert_int_equal(documents_max_for(4 * gib), 65536);
	assert_int_equal(documents_max_for(64 * gib), 250000);
}

/* Of all documents together, in both syntaxes. */
static void test_values_are_limited(void **state)
{
	enum { EACH = 4000, MANY = DOCUMENTS_COUNT_MAX * DOCUMENT_NODES_MEAN / EACH + 1 };
	static const char *const syntaxes[] = { "---\na: [", "{\"a\": [" };

	for (size_t syntax = 0; syntax < ARRAY_SIZE(syntaxes); syntax++) {
		cleanup_free char *text = NULL;
		struct document_list list;
		size_t length;
		FILE *file = open_memstream(&text, &length);

		assert_non_null(file);
		for (int i = 0; i < MANY; i++) {
			(void) fputs(syntaxes[syntax], file);
			for (int n = 0; n < EACH; n++)
				(void) fputs("0, ", file);
			(void) fputs(syntax == 0 ? "0]\n" : "0]}\n", file);
		}
		assert_int_equal(fclose(file), 0);
		parse(text, &list);
		assert_int_equal(list.failure.error, -E2BIG);
		assert_non_null(strstr(list.failure.text, "there are more than "));
		assert_int_equal(list.count, MANY - 1);
		document_list_done(&list);
	}
}

/* It fails alone. */
static void test_values_of_one_object_are_limited(void **state)
{
	cleanup_free char *text = NULL;
	struct document_list list;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	(void) fputs("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {", file);
	for (int n = 0; n < OBJECT_NODES_MAX; n++)
		(void) fprintf(file, "k%d: v, ", n);
	(void) fputs("}\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\n", file);
	assert_int_equal(fclose(file), 0);
	parse(text, &list);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.documents[0].failure->error, -E2BIG);
	assert_string_equal(list.documents[0].failure->text,
			    "the object holds more than 12000 values");
	assert_non_null(list.documents[1].object);
	document_list_done(&list);
}

static void test_objects_are_limited(void **state)
{
	static char text[OBJECT_BYTES_MAX + 1000];
	static const char begin[] = CLASS_YAML("a") "parameters: {a: ";
	struct document_list list;
	size_t size = OBJECT_BYTES_MAX;

	memcpy(text, begin, strlen(begin));
	memset(text + strlen(begin), 'x', size);
	memcpy(text + strlen(begin) + size, "}\n", 3);
	parse(text, &list);
	assert_int_equal(list.count, 1);
	assert_null(list.documents[0].object);
	assert_non_null(strstr(list.documents[0].failure->text, "is too large: 1572864"));
	assert_int_equal(list.documents[0].failure->error, -EINVAL);
	document_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_bad_document_spoils_no_other),
		cmocka_unit_test(test_a_broken_rule_spoils_one_document),
		cmocka_unit_test(test_a_syntax_error_keeps_what_came_before),
		cmocka_unit_test(test_nothing_is_no_document),
		cmocka_unit_test(test_what_is_no_object_is_refused),
		cmocka_unit_test(test_json_streams),
		cmocka_unit_test(test_a_byte_order_mark_is_passed_over),
		cmocka_unit_test(test_json_errors),
		cmocka_unit_test(test_yaml_in_flow_style),
		cmocka_unit_test(test_leading_blanks_belong_to_yaml),
		cmocka_unit_test(test_lists_are_flattened),
		cmocka_unit_test(test_a_list_that_breaks_a_rule),
		cmocka_unit_test(test_lists_of_json_have_lines),
		cmocka_unit_test(test_defaulted_namespaces_are_named),
		cmocka_unit_test(test_lists_of_one_kind),
		cmocka_unit_test(test_kinds_of_a_cluster),
		cmocka_unit_test(test_unknown_fields_are_noted),
		cmocka_unit_test(test_bytes_are_limited),
		cmocka_unit_test(test_documents_are_limited),
		cmocka_unit_test(test_how_many_follows_memory),
		cmocka_unit_test(test_values_are_limited),
		cmocka_unit_test(test_values_of_one_object_are_limited),
		cmocka_unit_test(test_objects_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
