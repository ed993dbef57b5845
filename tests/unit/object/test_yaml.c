/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_yaml - scalars as kubelet reads them, and what of YAML is refused
 */
#include "object/json/yaml.h"

#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The JSON of the first document. */
static void assert_reads(const char *yaml, const char *json)
{
	struct yaml_reader *reader = yaml_reader_new(yaml, strlen(yaml), 8, 1);
	struct yaml_document document;
	cleanup_free char *printed = NULL;

	assert_int_equal(yaml_reader_next(reader, &document), 1);
	assert_string_equal(document.failure.text, "");
	printed = json_print(document.tree);
	assert_string_equal(printed, json);
	json_free(document.tree);
	assert_null(yaml_reader_free(reader));
}

/* The first document fails alone (@r 1) or with the stream (-EINVAL). */
static void assert_fails_bytes(const char *yaml, size_t length, int r, const char *why)
{
	struct yaml_reader *reader = yaml_reader_new(yaml, length, 8, 1);
	struct yaml_document document;

	assert_int_equal(yaml_reader_next(reader, &document), r);
	assert_string_equal(document.failure.text, why);
	assert_int_equal(document.failure.error, -EINVAL);
	json_free(document.tree);
	(void) yaml_reader_free(reader);
}

static void assert_fails(const char *yaml, int r, const char *why)
{
	assert_fails_bytes(yaml, strlen(yaml), r, why);
}

/* The right column follows go-yaml v2 (resolve.go) and Go's encoding/json. */
static const struct {
	const char *text, *json;
} scalars[] = {
	{ "yes", "true" },
	{ "Yes", "true" },
	{ "YES", "true" },
	{ "on", "true" },
	{ "On", "true" },
	{ "y", "true" },
	{ "Y", "true" },
	{ "True", "true" },
	{ "TRUE", "true" },
	{ "no", "false" },
	{ "Off", "false" },
	{ "n", "false" },
	{ "FALSE", "false" },
	{ "yEs", "\"yEs\"" },
	{ "tRUE", "\"tRUE\"" },
	{ "~", "null" },
	{ "null", "null" },
	{ "NULL", "null" },
	{ "nULL", "\"nULL\"" },
	{ "", "null" },
	{ "0", "0" },
	{ "-0", "0" },
	{ "012", "10" },
	{ "-012", "-10" },
	{ "0o14", "12" },
	{ "0O14", "12" },
	{ "0x1F", "31" },
	{ "-0X1f", "-31" },
	{ "0b1100", "12" },
	{ "-0b11", "-3" },
	{ "+12", "12" },
	{ "1_000", "1000" },
	{ "0x_ff", "255" },
	{ "08", "8" },
	{ "019", "19" },
	{ "0644", "420" },
	{ "0o8", "\"0o8\"" },
	{ "0x", "\"0x\"" },
	{ "0b2", "\"0b2\"" },
	{ "1.5", "1.5" },
	{ "1.0", "1" },
	{ "-.5", "-0.5" },
	{ ".5", "0.5" },
	{ "5.", "5" },
	{ "1e3", "1000" },
	{ "1E+3", "1000" },
	{ "1e-7", "1e-7" },
	{ "1.5e21", "1.5e+21" },
	{ "1e20", "100000000000000000000" },
	{ "0.000001", "0.000001" },
	{ "123456789.125", "123456789.125" },
	{ "0.1", "0.1" },
	{ "-0.0", "-0" },
	{ "1e400", "\"1e400\"" },
	{ "._5", "\"._5\"" },
	{ ".", "\".\"" },
	{ "1.2.3", "\"1.2.3\"" },
	{ "9223372036854775807", "9223372036854775807" },
	{ "-9223372036854775808", "-9223372036854775808" },
	{ "18446744073709551615", "18446744073709551615" },
	{ "18446744073709551616", "18446744073709552000" },
	{ "9007199254740993", "9007199254740993" },
	{ "2026-11-21", "\"2026-11-21\"" },
	{ "2026-11-21T08:35:00Z", "\"2026-11-21T08:35:00Z\"" },
	{ "12:30", "\"12:30\"" },
	{ "1Gi", "\"1Gi\"" },
	{ "500m", "\"500m\"" },
	{ "'yes'", "\"yes\"" },
	{ "\"12\"", "\"12\"" },
	{ "'~'", "\"~\"" },
	{ "!!str yes", "\"yes\"" },
	{ "! 12", "\"12\"" },
	{ "!!int \"12\"", "12" },
	{ "!!float 3", "3" },
	{ "!!bool yes", "true" },
	{ "!!null ~", "null" },
	{ "!!timestamp 2026-11-21", "\"2026-11-21\"" },
	{ "a b", "\"a b\"" },
	{ "-", "[null]" },
	{ "+", "\"+\"" },
	{ "=", "\"=\"" },
	{ "/dev/sda", "\"/dev/sda\"" },
};

static void test_scalars_mean_what_kubelet_thinks(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(scalars); i++) {
		char yaml[80], json[80];

		(void) snprintf(yaml, sizeof(yaml),
				strcmp(scalars[i].text, "-") ? "a: %s\n" : "a:\n%s\n",
				scalars[i].text);
		(void) snprintf(json, sizeof(json), "{\"a\":%s}", scalars[i].json);
		assert_reads(yaml, json);
	}
}

static void test_long_numbers_are_strings(void **state)
{
	char number[YAML_NUMBER_BYTES], text[1000];

	memset(text, '1', sizeof(text));
	text[999] = '\0';
	assert_int_equal(yaml_scalar_type(text, number), YAML_SCALAR_STRING);
	text[300] = '\0'; /* fits a double */
	assert_int_equal(yaml_scalar_type(text, number), YAML_SCALAR_NUMBER);
}

static void test_keys_are_strings(void **state)
{
	assert_reads("yes: 1\n12: 2\n1.50: 3\nx: 4\n'~': 5\n",
		     "{\"true\":1,\"12\":2,\"1.5\":3,\"x\":4,\"~\":5}");
	assert_fails("a: 1\n~: 2\n", 1, "line 2: a key must not be null");
	assert_fails("? [a]\n: 1\n", 1, "line 1: a key must be a scalar");
	assert_fails("? {a: 1}\n: 1\n", 1, "line 1: a key must be a scalar");
	assert_fails("no: 1\n'false': 2\n", 1, "line 2: duplicate key");
}

static void test_structure_is_kept(void **state)
{
	assert_reads("a:\n- b: {c: [1, x]}\n  d:\n- |\n  one\n  two\n- >-\n  one\n  two\n",
		     "{\"a\":[{\"b\":{\"c\":[1,\"x\"]},\"d\":null},\"one\\ntwo\\n\",\"one two\"]}");
	assert_reads("!!map {a: !!seq [1]}\n", "{\"a\":[1]}");
	assert_reads("\xef\xbb\xbf"
		     "a: 1\n",
		     "{\"a\":1}");
	assert_reads("a: \"caf\\u00e9 \\x41\\n\"\n", "{\"a\":\"caf\xc3\xa9 A\\n\"}");
	assert_reads("%YAML 1.1\n---\na: 1\n...\n", "{\"a\":1}");
}

static void test_what_kubelet_would_expand_is_refused(void **state)
{
	assert_fails("a: &x 1\nb: *x\n", 1,
		     "line 1: anchors are not supported: quote a text that begins with '&'");
	assert_fails("a: 1\nb: &x {c: 1}\n", 1,
		     "line 2: anchors are not supported: quote a text that begins with '&'");
	assert_fails("a: &x [1]\n", 1,
		     "line 1: anchors are not supported: quote a text that begins with '&'");
	assert_fails("a: 1\nb: *x\n", 1,
		     "line 2: aliases are not supported: quote a text that begins with '*'");
	assert_fails("a:\n  <<: {b: 1}\n", 1, "line 2: merge keys are not supported: \"<<\"");
	assert_reads("'<<': 1\nb: <<\n", "{\"<<\":1,\"b\":\"<<\"}");
}

static void test_numbers_that_json_has_not_are_refused(void **state)
{
	assert_fails("a: .inf\n", 1, "line 1: not a finite number");
	assert_fails("a: -.INF\n", 1, "line 1: not a finite number");
	assert_fails("a:\n  - .NaN\n", 1, "line 2: not a finite number");
	assert_fails("a: 0x10000000000000000\n", 1,
		     "line 1: a number of more than 64 bits: quote it if it is a text");
}

static void test_tags_are_refused(void **state)
{
	assert_fails("a: !!binary aGk=\n", 1,
		     "line 1: unknown tag: quote a text that begins with '!'");
	assert_fails("a: !x 1\n", 1, "line 1: unknown tag: quote a text that begins with '!'");
	assert_fails("a: !!set {b}\n", 1, "line 1: unknown tag: quote a text that begins with '!'");
	assert_fails("a: !!seq {b: 1}\n", 1,
		     "line 1: unknown tag: quote a text that begins with '!'");
	assert_fails("a: !!map [1]\n", 1, "line 1: unknown tag: quote a text that begins with '!'");
	assert_fails("a: !!int x\n", 1, "line 1: does not fit its tag");
	assert_fails("a: !!int 1.5\n", 1, "line 1: does not fit its tag");
	assert_fails("a: !!bool 1\n", 1, "line 1: does not fit its tag");
}

static void test_nul_and_bad_bytes_are_refused(void **state)
{
	assert_fails("a: \"x\\0y\"\n", 1, "line 1: NUL in a string");
	assert_fails_bytes("a: x\0y\n", 7, -EINVAL,
			   "line 1: control characters are not allowed (byte 4)");
	assert_fails("a: 1\nb: \xff\n", -EINVAL, "line 1: invalid leading UTF-8 octet (byte 8)");
	assert_fails("a: \"\\ud800\"\n", -EINVAL,
		     "line 1, column 7: found invalid Unicode character escape code, while parsing "
		     "a quoted scalar that began on line 1");
}

static void test_duplicate_keys_have_their_line(void **state)
{
	assert_fails("a:\n  b: 1\n  c: 2\n  b: 3\n", 1, "line 4: duplicate key");
	assert_fails("a: {b: 1, b: 2}\n", 1, "line 1: duplicate key");
}

static void test_broken_syntax_has_its_line(void **state)
{
	assert_fails("a: 1\nb: [1\nc: 2\n", -EINVAL,
		     "line 3, column 2: did not find expected ',' or ']', while parsing a flow "
		     "sequence that began on line 2");
	assert_fails("a: 1\n\tb: 2\n", -EINVAL,
		     "line 2, column 1: found a tab character that violates indentation, while "
		     "scanning a plain scalar that began on line 1");
	assert_fails("a: 'x\n", -EINVAL,
		     "line 2, column 1: found unexpected end of stream, while scanning a quoted "
		     "scalar that began on line 1");
}

static void test_depth_ends_the_stream(void **state)
{
	assert_reads("[[[[[[[[]]]]]]]]", "[[[[[[[[]]]]]]]]");
	assert_fails("a: 1\nb:\n  [[[[[[[[1]]]]]]]]", -EINVAL,
		     "line 3: values are nested too deeply");
}

static void test_directives_are_limited(void **state)
{
	char text[2000];
	size_t used = 0;

	for (int i = 0; i < 17; i++)
		used += (size_t) snprintf(text + used, sizeof(text) - used, "%%TAG !t%d! tag:x:\n",
					  i);
	(void) snprintf(text + used, sizeof(text) - used, "---\na: 1\n");
	assert_fails(text, -EINVAL, "line 17: there are too many directives");
	assert_reads(strchr(text, '\n') + 1, "{\"a\":1}");
}

/* A document that breaks a rule does not spoil the next; empty ones are passed over. */
static void test_documents_are_apart(void **state)
{
	static const char text[] = "# only a comment\n---\n---\na: &x 1\nb: 2\n---\n~\n---\n"
				   "# c\nc: 3\n...\n---\nd: [\n---\ne: 5\n";
	struct yaml_reader *reader = yaml_reader_new(text, strlen(text), 8, 11);
	struct yaml_document document;

	assert_int_equal(yaml_reader_next(reader, &document), 1);
	assert_string_equal(
		document.failure.text,
		"line 14: anchors are not supported: quote a text that begins with '&'");
	assert_int_equal(document.line, 14);
	json_free(document.tree);

	assert_int_equal(yaml_reader_next(reader, &document), 1);
	assert_int_equal(document.failure.error, 0);
	assert_int_equal(document.line, 20);
	assert_non_null(json_get(document.tree, "c"));
	json_free(document.tree);

	assert_int_equal(yaml_reader_next(reader, &document), -EINVAL);
	assert_int_equal(document.line, 23);
	assert_non_null(json_get(document.tree, "d")); /* what had been read */
	json_free(document.tree);
	(void) yaml_reader_free(reader);
}

static void test_an_empty_stream_has_none(void **state)
{
	static const char *const texts[] = { "", "\n\n", "# x\n", "---\n", "---\n...\n---\n" };
	struct yaml_document document;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct yaml_reader *reader = yaml_reader_new(texts[i], strlen(texts[i]), 8, 1);

		assert_int_equal(yaml_reader_next(reader, &document), 0);
		assert_null(document.tree);
		(void) yaml_reader_free(reader);
	}
	assert_null(yaml_reader_free(NULL));
}

/* What we print as YAML reads back as it was, whatever the strings look like. */
static void test_printed_yaml_reads_back(void **state)
{
	static const char json[] =
		"{\"a\":[\"yes\",\"12\",\"~\",\"\",\"1e3\",\".inf\",\"<<\",\"null\",\"0x1F\",\"x\","
		"\"one\\ntwo\",\"one\\n\\n\",\" x \",\"a: b\",\"# c\",\"- d\",\"\\t\",\"%TAG\","
		"\"2026-11-21\",\"&x\",\"*x\",\"!x\",\"caf\xc3\xa9\",\"\\u0001\",\"a\\r\\nb\"],"
		"\"on\":true,\"<<\":null,\"1\":1,\"e\":{\"f\":[]}}";
	cleanup_json struct cJSON *tree = tree_of_json(json);
	cleanup_free char *yaml = json_print_yaml(tree);

	assert_reads(yaml, json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars_mean_what_kubelet_thinks),
		cmocka_unit_test(test_long_numbers_are_strings),
		cmocka_unit_test(test_keys_are_strings),
		cmocka_unit_test(test_structure_is_kept),
		cmocka_unit_test(test_what_kubelet_would_expand_is_refused),
		cmocka_unit_test(test_numbers_that_json_has_not_are_refused),
		cmocka_unit_test(test_tags_are_refused),
		cmocka_unit_test(test_nul_and_bad_bytes_are_refused),
		cmocka_unit_test(test_duplicate_keys_have_their_line),
		cmocka_unit_test(test_broken_syntax_has_its_line),
		cmocka_unit_test(test_depth_ends_the_stream),
		cmocka_unit_test(test_directives_are_limited),
		cmocka_unit_test(test_documents_are_apart),
		cmocka_unit_test(test_an_empty_stream_has_none),
		cmocka_unit_test(test_printed_yaml_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
