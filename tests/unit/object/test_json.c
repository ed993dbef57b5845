/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_json - what JSON is taken, what is refused, and that nothing is lost on the way
 */
#include "object/json/json.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct json_limits limits = { .bytes = 1000, .depth = 4 };

static struct cJSON *parse(const char *text)
{
	struct cJSON *tree = NULL;

	assert_int_equal(json_parse(text, strlen(text), &limits, &tree, NULL), 0);
	return tree;
}

static void assert_refused_bytes(const char *text, size_t length, int error, const char *why)
{
	struct cJSON *tree = NULL;
	struct failure failure = { 0 };

	assert_int_equal(json_parse(text, length, &limits, &tree, &failure), error);
	assert_null(tree);
	assert_string_equal(failure.text, why);
}

static void assert_refused(const char *text, const char *why)
{
	assert_refused_bytes(text, strlen(text), -EINVAL, why);
}

static void assert_round_trip(const char *text)
{
	cleanup_json struct cJSON *tree = parse(text);
	cleanup_free char *printed = json_print(tree);

	assert_string_equal(printed, text);
}

static void test_what_is_read_is_printed(void **state)
{
	assert_round_trip("{}");
	assert_round_trip("[]");
	assert_round_trip("null");
	assert_round_trip("{\"b\":1,\"a\":[true,false,null,\"x\",{\"c\":[]}]}");
	assert_round_trip("{\"\":\"\"}");
	assert_round_trip("\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x92\xbe\"");
	assert_round_trip("\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\x7f\"");
}

static void test_numbers_keep_their_text(void **state)
{
	assert_round_trip("9007199254740993");
	assert_round_trip("-9223372036854775808");
	assert_round_trip("18446744073709551616");
	assert_round_trip("[0,-0,1.50,1e400,-2E-3]");
}

static void test_blanks_are_passed_over(void **state)
{
	cleanup_json struct cJSON *tree = parse(" \t\r\n{ \"a\" : [ 1 , 2 ] ,\n\"b\" : { } } \n");
	cleanup_free char *printed = json_print(tree);

	assert_string_equal(printed, "{\"a\":[1,2],\"b\":{}}");
}

static void test_escapes_are_decoded(void **state)
{
	cleanup_json struct cJSON *tree =
		parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\uDCBE\"");

	assert_string_equal(json_string(tree, NULL),
			    "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xbe");
}

static void test_grammar_is_kept(void **state)
{
	assert_refused("", "line 1, column 1: a value is expected");
	assert_refused("\n  x", "line 2, column 3: a value is expected");
	assert_refused("{\"a\":1,}", "line 1, column 8: a key in quotes is expected");
	assert_refused("{a:1}", "line 1, column 2: a key in quotes is expected");
	assert_refused("{\"a\" 1}", "line 1, column 6: ':' is expected");
	assert_refused("{\"a\":1", "line 1, column 7: ',' or '}' is expected");
	assert_refused("[1 2]", "line 1, column 4: ',' or ']' is expected");
	assert_refused("[1,]", "line 1, column 4: a value is expected");
	assert_refused("01", "line 1: something follows the end of the JSON value");
	assert_refused("-", "line 1, column 2: a value is expected");
	assert_refused("1.", "line 1, column 3: a digit is expected");
	assert_refused("1e+", "line 1, column 4: a digit is expected");
	assert_refused("+1", "line 1, column 1: a value is expected");
	assert_refused("NaN", "line 1, column 1: a value is expected");
	assert_refused("tru", "line 1, column 1: a value is expected");
	assert_refused("'a'", "line 1, column 1: a value is expected");
	assert_refused("\"a", "line 1, column 3: a string does not end");
	assert_refused("\"a\\", "line 1, column 4: unknown escape in a string");
	assert_refused("\"\\x\"", "line 1, column 3: unknown escape in a string");
	assert_refused("\"a\nb\"", "line 1, column 3: a control character in a string");
	assert_refused("/**/1", "line 1, column 1: a value is expected");
}

static void test_nothing_may_follow(void **state)
{
	assert_refused("{}\n\n{}", "line 3: something follows the end of the JSON value");
	assert_refused_bytes("1\0", 2, -EINVAL,
			     "line 1: something follows the end of the JSON value");
}

static void test_nul_is_refused(void **state)
{
	assert_refused("\"a\\u0000b\"", "line 1, column 9: \\u0000 is not allowed in a string");
	assert_refused_bytes("\"a\0b\"", 5, -EINVAL,
			     "line 1, column 3: a control character in a string");
	assert_refused_bytes("\"\\\0\"", 4, -EINVAL,
			     "line 1, column 3: unknown escape in a string");
	assert_refused_bytes("\0", 1, -EINVAL, "line 1, column 1: a value is expected");
}

static void test_bad_utf8_is_refused(void **state)
{
	static const char *const bad[] = {
		"\"\x80\"",
		"\"\xc3\"",
		"\"\xc3(\"",
		"\"\xc0\xaf\"",
		"\"\xe0\x80\xaf\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"\"\xf8\x88\x80\x80\x80\"",
		"\"\xe2\x82\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_refused(bad[i], "line 1, column 2: bad UTF-8 in a string");
}

static void test_half_surrogates_are_refused(void **state)
{
	assert_refused("\"\\ud83d\"", "line 1, column 8: half of a surrogate pair in a string");
	assert_refused("\"\\ud83dx\\udcbe\"",
		       "line 1, column 8: half of a surrogate pair in a string");
	assert_refused("\"\\ud83d\\u0041\"",
		       "line 1, column 14: half of a surrogate pair in a string");
	assert_refused("\"\\udcbe\"", "line 1, column 8: half of a surrogate pair in a string");
	assert_refused("\"\\udc00\"", "line 1, column 8: half of a surrogate pair in a string");
	assert_refused("\"\\u12g4\"", "line 1, column 6: \\u wants four hexadecimal digits");
}

static void test_duplicate_keys_are_refused(void **state)
{
	assert_refused("{\"a\":1,\n\"b\":2,\n\"a\":3}", "line 3: duplicate key");
	assert_refused("{\"x\":{\"a\":1,\"\\u0061\":2}}", "line 1: duplicate key");
	assert_round_trip("{\"a\":{\"a\":1},\"A\":{\"a\":2}}");
}

/* More keys than are compared pair by pair. */
static void test_duplicates_among_many_are_found(void **state)
{
	char text[900] = "{";
	size_t used = 1;

	for (int i = 0; i < 40; i++)
		used += (size_t) snprintf(text + used, sizeof(text) - used, "\"k%d\":%d,\n",
					  i == 33 ? 7 : i, i);
	(void) snprintf(text + used - 2, sizeof(text) - used + 2, "}");
	assert_refused(text, "line 34: duplicate key");
}

struct noted {
	const char *text;
	char all[64];
};

static void note(const char *key, size_t at, size_t length, void *userdata)
{
	struct noted *noted = userdata;
	size_t used = strlen(noted->all);

	(void) snprintf(noted->all + used, sizeof(noted->all) - used, "%s=%.*s;", key, (int) length,
			noted->text + at);
}

static void test_members_of_the_outermost_object_are_noted(void **state)
{
	struct noted noted = {
		.text = "{\"a\": {\"b\":{\"c\":1}} ,\"\\u0064\":[{\"e\":2}],\"f\":\"g\"}"
	};
	const struct json_limits noting = {
		.bytes = 1000, .depth = 4, .note = note, .userdata = &noted
	};
	cleanup_json struct cJSON *tree = NULL;

	assert_int_equal(json_parse(noted.text, strlen(noted.text), &noting, &tree, NULL), 0);
	assert_string_equal(noted.all, "a={\"b\":{\"c\":1}};d=[{\"e\":2}];f=\"g\";");
}

static void test_limits_hold(void **state)
{
	char text[1100];

	assert_round_trip("[[[[]]]]");
	assert_refused("[[[[[]]]]]", "line 1, column 5: values are nested too deeply");
	assert_refused("{\"a\":[{\"b\":[{}]}]}", "line 1, column 13: values are nested too deeply");
	memset(text, ' ', sizeof(text));
	assert_refused_bytes(text, 1001, -E2BIG,
			     "1001 bytes of JSON are more than the 1000 allowed");
}

static void test_values_are_counted(void **state)
{
	static const struct json_limits wide = { .bytes = 1 << 23, .depth = 4 };
	static char text[1 << 22] = "[";
	struct cJSON *tree = NULL;
	struct failure failure = { 0 };

	for (size_t i = 1; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "0,", 2);
	memcpy(text + sizeof(text) - 2, "0]", 2);
	assert_int_equal(json_parse(text, sizeof(text), &wide, &tree, &failure), -E2BIG);
	assert_string_equal(failure.text,
			    "line 1, column 4000000: there are more than 2000000 values");
}

static void test_integers_are_exact(void **state)
{
	cleanup_json struct cJSON *tree =
		parse("{\"max\":9223372036854775807,\"min\":-9223372036854775808,"
		      "\"over\":9223372036854775808,\"f\":1.0,\"e\":1e3,\"s\":\"1\",\"big\":"
		      "9007199254740993}");
	int64_t value = 7;

	assert_true(json_int64(json_get(tree, "max"), &value));
	assert_true(value == INT64_MAX);
	assert_true(json_int64(json_get(tree, "min"), &value));
	assert_true(value == INT64_MIN);
	assert_true(json_int64(json_get(tree, "big"), &value));
	assert_true(value == 9007199254740993);
	assert_false(json_int64(json_get(tree, "over"), &value));
	assert_false(json_int64(json_get(tree, "f"), &value));
	assert_false(json_int64(json_get(tree, "e"), &value));
	assert_false(json_int64(json_get(tree, "s"), &value));
	assert_false(json_int64(NULL, &value));
	assert_true(value == 9007199254740993); /* untouched */
}

static void test_absent_is_no_error(void **state)
{
	cleanup_json struct cJSON *tree = parse("{\"n\":null,\"a\":[1,\"x\"],\"Key\":true}");

	assert_null(json_get(NULL, "a"));
	assert_null(json_get(json_get(tree, "a"), "a"));
	assert_null(json_get(tree, "key")); /* case counts */
	assert_null(json_at(json_get(tree, "a"), 2));
	assert_null(json_at(tree, 3));
	assert_null(json_first(json_get(tree, "Key")));
	assert_null(json_next(NULL));
	assert_int_equal(json_count(NULL), 0);
	assert_int_equal(json_count(tree), 3);
	assert_string_equal(json_string(json_get(tree, "n"), "-"), "-");
	assert_string_equal(json_string(json_at(json_get(tree, "a"), 1), "-"), "x");
	assert_true(json_bool(NULL, true));
	assert_true(json_bool(json_get(tree, "Key"), false));
	assert_string_equal(json_key(NULL), "");
	assert_string_equal(json_key(json_first(tree)), "n");
	assert_string_equal(json_key(json_first(json_get(tree, "a"))), "");
	assert_true(json_is_null(json_get(tree, "n")));
	assert_true(json_is_array(json_get(tree, "a")));
	assert_true(json_is_object(tree));
	assert_true(json_is_bool(json_get(tree, "Key")));
	assert_true(json_is_string(json_at(json_get(tree, "a"), 1)));
	assert_false(json_is_string(json_at(json_get(tree, "a"), 0)));
}

static void test_trees_are_built(void **state)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *list = json_add_array(tree, "list"), *inner;
	cleanup_free char *printed = NULL;

	assert_int_equal(json_set_string(tree, "s", "a\"b"), 0);
	assert_int_equal(json_set_int(tree, "i", INT64_MIN), 0);
	assert_int_equal(json_set_bool(tree, "b", false), 0);
	assert_int_equal(json_set_string(tree, "s", "new"), 0); /* in its place */
	assert_int_equal(json_set_int(list, NULL, 1), 0);
	assert_int_equal(json_set_string(json_add_object(list, NULL), "k", "v"), 0);
	inner = json_ensure_object(tree, "o");
	assert_ptr_equal(json_ensure_object(tree, "o"), inner);
	assert_null(json_ensure_object(tree, "s"));
	json_remove(tree, "b");
	json_remove(tree, "none");
	printed = json_print(tree);
	assert_string_equal(printed, "{\"list\":[1,{\"k\":\"v\"}],\"s\":\"new\","
				     "\"i\":-9223372036854775808,\"o\":{}}");
}

static void test_ensure_object_replaces_null(void **state)
{
	cleanup_json struct cJSON *tree = parse("{\"a\":null,\"b\":1}");
	cleanup_free char *printed = NULL;

	assert_non_null(json_ensure_object(tree, "a"));
	printed = json_print(tree);
	assert_string_equal(printed, "{\"a\":{},\"b\":1}");
}

static void test_strings_become_utf8(void **state)
{
	cleanup_json struct cJSON *tree = json_new_object();
	cleanup_free char *printed = NULL;

	assert_int_equal(json_set_string(tree, "a", "x\xff\xc3z\xc3\xa9"), 0);
	printed = json_print(tree);
	assert_string_equal(printed, "{\"a\":\"x\xef\xbf\xbd\xef\xbf\xbdz\xc3\xa9\"}");
}

static void test_nothing_is_built_on_nothing(void **state)
{
	assert_int_equal(json_set_int(NULL, "a", 1), -ENOMEM);
	assert_null(json_add_object(NULL, "a"));
	assert_int_equal(json_set(NULL, "a", json_new_array()), -ENOMEM);
	assert_null(json_print(NULL));
	assert_null(json_print_yaml(NULL));
	assert_null(json_copy(NULL));
	json_remove(NULL, "a");
}

static void test_a_lost_member_fails_the_tree(void **state)
{
	cleanup_json struct cJSON *tree = json_new_object();

	assert_int_equal(json_set(json_add_object(tree, "inner"), "x", NULL), -ENOMEM);
	assert_null(json_print(tree));
	assert_null(json_print_yaml(tree));
}

/* Each looked up by itself would take a second of the loop. */
static void test_equal_in_another_order(void **state)
{
	enum { MEMBERS = 20000 };
	struct cJSON *a = json_new_object(), *b = json_new_object();
	char key[32];

	for (int i = 0; i < MEMBERS; i++) {
		(void) snprintf(key, sizeof(key), "k%d", i);
		(void) json_append_string(a, key, key);
		(void) snprintf(key, sizeof(key), "k%d", MEMBERS - 1 - i);
		(void) json_append_string(b, key, key);
	}
	assert_true(json_equal(a, b));
	(void) json_set_string(b, "k7", "other");
	assert_false(json_equal(a, b));
	json_remove(b, "k7");
	assert_false(json_equal(a, b));
	(void) json_append_string(b, "other", "k7");
	assert_false(json_equal(a, b));
	json_free(a);
	json_free(b);
}

static void test_equal_ignores_the_order_of_members(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} pairs[] = {
		{ "{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true },
		{ "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
		{ "{\"a\":1,\"b\":2}", "{\"a\":1}", false },
		{ "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false },
		{ "[1,2]", "[2,1]", false },
		{ "[1]", "[1,2]", false },
		{ "[1,2]", "[1]", false },
		{ "1", "1.0", false },
		{ "\"1\"", "1", false },
		{ "true", "false", false },
		{ "null", "null", true },
		{ "{\"a\":{\"b\":\"x\"}}", "{\"a\":{\"b\":\"x\"}}", true },
		{ "{\"a\":{\"b\":\"x\"}}", "{\"a\":{\"b\":\"y\"}}", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		cleanup_json struct cJSON *a = parse(pairs[i].a), *b = parse(pairs[i].b);

		assert_int_equal(json_equal(a, b), pairs[i].equal);
	}
	assert_true(json_equal(NULL, NULL));
}

static void test_copies_are_independent(void **state)
{
	cleanup_json struct cJSON *tree = parse("{\"a\":[1,\"x\"]}"), *copy = json_copy(tree);

	assert_true(json_equal(tree, copy));
	json_remove(copy, "a");
	assert_int_equal(json_count(tree), 1);
}

static void test_yaml_is_printed(void **state)
{
	cleanup_json struct cJSON *tree = parse("{\"a\":[1,\"x\",{\"b\":null}],\"t\":true,\"e\":{},"
						"\"l\":[],\"s\":\"one\\ntwo\\n\"}");
	cleanup_free char *yaml = json_print_yaml(tree);

	assert_string_equal(yaml,
			    "a:\n- 1\n- x\n- b: null\nt: true\ne: {}\nl: []\ns: |\n  one\n  two\n");
}

/* Freeing a tree with these in it overwrites them. */
static const char *secrets[2];
static unsigned int wiped;

void __real_cJSON_Delete(struct cJSON *tree);
void __wrap_cJSON_Delete(struct cJSON *tree);
void __wrap_cJSON_Delete(struct cJSON *tree)
{
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		wiped += secrets[i] && *secrets[i] == '\0';
	__real_cJSON_Delete(tree);
}

static void test_secrets_are_overwritten(void **state)
{
	static const char text[] =
		"{\"a\":{\"b\":[1,{\"c\":\"hidden\"}]},\"d\":\"too\",\"e\":null}";
	struct cJSON *tree = parse(text);

	secrets[0] =
		json_string(json_get(json_next(json_first(json_get_path(tree, "a.b"))), "c"), "");
	secrets[1] = json_string(json_get(tree, "d"), "");
	assert_string_equal(secrets[0], "hidden");
	assert_string_equal(secrets[1], "too");
	json_free_secret(tree);
	assert_int_equal(wiped, 2);
	secrets[0] = secrets[1] = NULL;
	json_free_secret(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_read_is_printed),
		cmocka_unit_test(test_numbers_keep_their_text),
		cmocka_unit_test(test_blanks_are_passed_over),
		cmocka_unit_test(test_escapes_are_decoded),
		cmocka_unit_test(test_grammar_is_kept),
		cmocka_unit_test(test_nothing_may_follow),
		cmocka_unit_test(test_nul_is_refused),
		cmocka_unit_test(test_bad_utf8_is_refused),
		cmocka_unit_test(test_half_surrogates_are_refused),
		cmocka_unit_test(test_duplicate_keys_are_refused),
		cmocka_unit_test(test_duplicates_among_many_are_found),
		cmocka_unit_test(test_members_of_the_outermost_object_are_noted),
		cmocka_unit_test(test_limits_hold),
		cmocka_unit_test(test_values_are_counted),
		cmocka_unit_test(test_integers_are_exact),
		cmocka_unit_test(test_absent_is_no_error),
		cmocka_unit_test(test_trees_are_built),
		cmocka_unit_test(test_ensure_object_replaces_null),
		cmocka_unit_test(test_strings_become_utf8),
		cmocka_unit_test(test_nothing_is_built_on_nothing),
		cmocka_unit_test(test_a_lost_member_fails_the_tree),
		cmocka_unit_test(test_equal_in_another_order),
		cmocka_unit_test(test_equal_ignores_the_order_of_members),
		cmocka_unit_test(test_copies_are_independent),
		cmocka_unit_test(test_yaml_is_printed),
		cmocka_unit_test(test_secrets_are_overwritten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
