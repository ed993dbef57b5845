/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_environment - what "$(NAME)" in a subPathExpr becomes
 */
#include "object/kinds/environment.h"

#include "base/cleanup.h"
#include "object/json/base64.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- expansion: Kubernetes' own table ---- */

static const char *map_upper(void *userdata, const char *name, size_t length)
{
	static const struct {
		const char *name, *value;
	} values[] = { { "A", "1" }, { "B", "2" }, { "EMPTY", "" }, { "A B", "3" } };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (strlen(values[i].name) == length && memcmp(values[i].name, name, length) == 0)
			return values[i].value;
	return "?";
}

static void test_expansion(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "$(A)", "1" },
		{ "___$(A)___", "___1___" },
		{ "$(A)$(B)", "12" },
		{ "$(EMPTY)", "" },
		{ "$(A B)", "3" },
		{ "$(NONE)", "?" },
		{ "$()", "?" },
		{ "$$", "$" },
		{ "$$(A)", "$(A)" },
		{ "$$$(A)", "$1" },
		{ "$$$$(A)", "$$(A)" },
		{ "$", "$" },
		{ "a$", "a$" },
		{ "$A", "$A" },
		{ "$(A", "$(A" },
		{ "$((A)", "?" },
		{ "$($(A))", "?)" },
		{ "$(A))", "1)" },
		{ "$)$(A)", "$)1" },
		{ "$?$(B)", "$?2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free char *got = expansion_expand(rows[i].text, map_upper, NULL);

		assert_non_null(got);
		assert_string_equal(got, rows[i].expected);
	}
}

static void test_base64(void **state)
{
	static const struct {
		const char *encoded, *text;
		int error;
	} rows[] = {
		{ "", "", 0 },
		{ "YQ==", "a", 0 },
		{ "YWI=", "ab", 0 },
		{ "YWJj", "abc", 0 },
		{ "YW\nJj\r\n", "abc", 0 },
		{ "/+8=", "\xff\xef", 0 },
		{ "YQ=", NULL, -EINVAL },
		{ "Y===", NULL, -EINVAL },
		{ "YQ==YQ==", NULL, -EINVAL },
		{ "_-8=", NULL, -EINVAL },
		{ "YQA=", NULL, -EILSEQ },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free char *text = NULL;

		assert_int_equal(base64_decode_text(rows[i].encoded, &text), rows[i].error);
		if (rows[i].error == 0)
			assert_string_equal(text, rows[i].text);
		else
			assert_null(text);
	}
}

/* ---- a pod's variables ---- */

static struct {
	const struct object *pod, *settings, *keys;
	struct environment_sources sources;
} world;

static const struct object *find(void *userdata, enum object_kind kind, const char *name_space,
				 const char *name)
{
	assert_ptr_equal(userdata, &world);
	assert_string_equal(name_space, "shop");
	if (kind == KIND_CONFIG_MAP && strcmp(name, "settings") == 0)
		return world.settings;
	if (kind == KIND_SECRET && strcmp(name, "keys") == 0)
		return world.keys;
	return NULL;
}

static int setup(void **state)
{
	world.pod = object_of(text_of_file("tests/unit/object/environment.yaml"));
	world.settings = object_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, "
				   "namespace: shop}\ndata: {color: blue, size: XL}\n");
	world.keys = object_of("apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: "
			       "shop}\ndata: {door: b3Blbg==, binary: AAA=}\n");
	world.sources = (struct environment_sources){ find, &world, NULL };
	return 0;
}

static int teardown(void **state)
{
	object_unref(world.pod);
	object_unref(world.settings);
	object_unref(world.keys);
	return 0;
}

static void expect_in(const struct object *pod, const char *container, const char *text,
		      const char *expected)
{
	cleanup_free char *got = NULL;
	struct failure failure = { .error = 0 };

	assert_int_equal(environment_expand(text, pod, container, &world.sources, &got, &failure),
			 0);
	assert_string_equal(got, expected);
}

static void expect(const char *text, const char *expected)
{
	expect_in(world.pod, "main", text, expected);
}

static void expect_error(const char *text, const char *why)
{
	struct failure failure = { .error = 0 };
	char *got = NULL;

	assert_int_equal(
		environment_expand(text, world.pod, "main", &world.sources, &got, &failure),
		-EINVAL);
	assert_null(got);
	assert_int_equal(failure.error, -EINVAL);
	assert_string_equal(failure.text, why);
}

static size_t opened; /* ConfigMaps and Secrets */

static const struct object *find_and_count(void *userdata, enum object_kind kind,
					   const char *name_space, const char *name)
{
	opened++;
	return find(&world, kind, name_space, name);
}

static int expand_within(size_t *budget, const char *text, struct failure *why)
{
	struct environment_sources sources = { find_and_count, NULL, budget };
	cleanup_free char *got = NULL;

	opened = 0;
	return environment_expand(text, world.pod, "main", &sources, &got, why);
}

/* The loop reads them: once each, and not without end. */
static void test_reading_is_bounded(void **state)
{
	struct failure why = { .error = 0 };
	size_t budget = SIZE_MAX, needed;

	assert_int_equal(expand_within(&budget, "$(FROM_MAP)$(FROM_SECRET)", &why), 0);
	/* "settings" and "keys" are named seven times; "nowhere" is looked for each time. */
	assert_int_equal(opened, 2 + 4);
	needed = SIZE_MAX - budget;
	budget = needed;
	assert_int_equal(expand_within(&budget, "$(FROM_MAP)", &why), 0);
	assert_int_equal(budget, 0);
	assert_int_equal(expand_within(&budget, "$(FROM_MAP)", &why), -E2BIG);
	assert_non_null(strstr(why.text, "too much is to be read"));
	budget = world.pod->json_length + 10;
	assert_true(expand_within(&budget, "$(FROM_MAP)", &why) < 0);
	assert_non_null(strstr(why.text, "too much is to be read"));
	budget = world.pod->json_length;
	assert_true(expand_within(&budget, "$(FROM_MAP)", &why) < 0);
}

static void test_values(void **state)
{
	expect("logs/$(PLAIN)/x", "logs/text/x");
	expect("$(NESTED)", "a-text-$(PLAIN)");
	expect("$$(PLAIN)", "$(PLAIN)");
	expect("no variable", "no variable");
	/* what comes later is not there yet, and stays as it is */
	expect("$(LATER)", "see $(AFTER)");
	expect("$(TWICE)", "second");
	expect_in(world.pod, "init", "$(WHO)", "init");
}

static void test_fields(void **state)
{
	expect("$(NAME).$(NAMESPACE).$(POD_UID)", "web.shop.u-1");
	expect("$(NODE)/$(ACCOUNT)/$(IP)", "node1/robot/10.0.0.7");
	expect("$(IPS)", "10.0.0.7,fd00::7");
	expect("$(LABEL)/$(SLASH)/$(NOTE)", "front/z/hello");
	expect_error("$(NOLABEL)", "missing value for NOLABEL");
	expect_error("$(BADFIELD)", "variable 'BADFIELD': unsupported fieldPath: spec.magic");
	expect_error("$(USES_BAD)", "variable 'USES_BAD': unsupported fieldPath: spec.magic");
}

static void test_resources(void **state)
{
	expect("$(CPU)-$(MILLI)-$(MEMORY)-$(REQUEST)", "2-1500-64-1");
	expect_error("$(NOLIMIT)", "variable 'NOLIMIT': resource 'limits.nothing' of container "
				   "'main': it is not set");
}

static void test_maps_and_secrets(void **state)
{
	expect("$(FROM_MAP)-$(FROM_SECRET)", "blue-open");
	expect("$(size)-$(S_door)", "XL-open");
	expect("$(color)", "env-wins");
	expect_error("$(X=color)", "missing value for X=color"); /* no name of a variable */
	expect_error("$(S_binary)", "variable 'S_binary': cannot use it as a variable: Invalid or "
				    "incomplete multibyte or wide character");
	expect_error("$(NO_KEY)",
		     "variable 'NO_KEY': couldn't find key none in ConfigMap shop/settings");
	expect_error("$(NO_MAP)", "variable 'NO_MAP': configmap \"nowhere\" not found");
	expect_error("$(NO_SECRET)", "variable 'NO_SECRET': secret \"nowhere\" not found");
	expect_error("$(OPTIONAL)", "missing value for OPTIONAL");
}

static void test_nothing_is_an_error(void **state)
{
	expect_error("$(EMPTY)", "missing value for EMPTY");
	expect_error("$(A)/$(PLAIN)/$(B)", "missing value for A, B");
	expect_error("x$()", "missing value for ");
}

static void test_a_lost_source_is_named(void **state)
{
	const struct object *settings = world.settings;

	world.settings = NULL;
	expect("$(PLAIN)", "text");
	expect_error("$(size)", "missing value for size: configmap \"settings\" not found");
	world.settings = settings;
}

static const char many_in_one[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  "
				  "containers:\n  - name: main\n    image: i\n    env:\n"
				  "    - {name: A, value: ";

/* Each doubles the one before. */
static void test_variables_are_bounded(void **state)
{
	static char yaml[16384];
	struct failure failure = { .error = 0 };
	const struct object *pod;
	size_t used;
	char *got = NULL;

	used = (size_t) snprintf(yaml, sizeof(yaml),
				 "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  "
				 "containers:\n  - name: main\n    image: i\n    env:\n"
				 "    - {name: V0, value: a123456789}\n");
	for (int i = 1; i < 64; i++)
		used += (size_t) snprintf(yaml + used, sizeof(yaml) - used,
					  "    - {name: V%d, value: '$(V%d)$(V%d)'}\n", i, i - 1,
					  i - 1);
	pod = object_of(yaml);
	assert_int_equal(environment_expand("$(V63)", pod, "main", &world.sources, &got, &failure),
			 -E2BIG);
	assert_non_null(strstr(failure.text, "take more than"));
	object_unref(pod);

	/* within one value, too */
	used = (size_t) snprintf(yaml, sizeof(yaml), "%s", many_in_one);
	memset(yaml + used, 'x', 6000);
	used += 6000;
	used += (size_t) snprintf(yaml + used, sizeof(yaml) - used, "}\n    - {name: B, value: '");
	for (int i = 0; i < 300; i++)
		used += (size_t) snprintf(yaml + used, sizeof(yaml) - used, "$(A)");
	(void) snprintf(yaml + used, sizeof(yaml) - used,
			"'}\n    - {name: C, value: "
			"$(B)$(B)$(B)$(B)}\n");
	pod = object_of(yaml);
	assert_int_equal(environment_expand("$(C)", pod, "main", &world.sources, &got, &failure),
			 -E2BIG);
	object_unref(pod);
}

static int note_object(void *userdata, enum object_kind kind, const char *name)
{
	char *told = userdata;
	size_t length = strlen(told);

	(void) snprintf(told + length, 100 - length, "%s:%s ",
			kind == KIND_SECRET ? "secret" : "map", name);
	return strcmp(name, "refused") == 0 ? -ENOENT : 0;
}

#define POD_WITH(mounts)                                                                           \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n"                      \
	"spec:\n  volumes: [{name: v, emptyDir: {}}]\n  containers:\n  - name: main\n    image: "  \
	"none\n    volumeMounts: [" mounts "]\n"                                                   \
	"    envFrom: [{configMapRef: {name: a}}, {secretRef: {name: b}}]\n"                       \
	"    env:\n"                                                                               \
	"    - {name: A, value: plain}\n"                                                          \
	"    - {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}\n"                       \
	"    - {name: C, valueFrom: {secretKeyRef: {name: d, key: k, optional: true}}}\n"          \
	"    - {name: D, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n"                     \
	"    - {name: E, valueFrom: {secretKeyRef: {name: refused, key: k}}}\n"                    \
	"    - {name: F, valueFrom: {secretKeyRef: {name: after, key: k}}}\n"                      \
	"  - name: side\n    image: none\n    envFrom: [{secretRef: {name: side}}]\n"

static void test_objects_of_a_sub_path(void **state)
{
	const struct object *with = object_of(POD_WITH("{name: v, mountPath: /v, subPathExpr: x}"));
	const struct object *without = object_of(POD_WITH("{name: v, mountPath: /v, subPath: x}"));
	char told[100] = "";

	assert_int_equal(environment_objects(with, note_object, told), -ENOENT);
	assert_string_equal(told, "map:a secret:b map:c secret:d secret:refused ");
	told[0] = '\0';
	assert_int_equal(environment_objects(without, note_object, told), 0);
	assert_string_equal(told, "");
	object_unref(with);
	object_unref(without);
}

static int count_object(void *userdata, enum object_kind kind, const char *name)
{
	++*(unsigned int *) userdata;
	return 0;
}

static void test_objects_are_bounded(void **state)
{
	static char yaml[200000];
	const struct object *pod;
	unsigned int count = 0;
	size_t used;

	used = (size_t) snprintf(yaml, sizeof(yaml), "%s",
				 "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
				 "  volumes: [{name: v, emptyDir: {}}]\n  containers:\n  - name: "
				 "main\n    image: none\n"
				 "    volumeMounts: [{name: v, mountPath: /v, subPathExpr: x}]\n"
				 "    envFrom:\n");
	for (unsigned int i = 0; i < ENVIRONMENT_OBJECTS_MAX + 1; i++)
		used += (size_t) snprintf(yaml + used, sizeof(yaml) - used,
					  "    - {secretRef: {name: s%u}}\n", i);
	pod = object_of(yaml);
	assert_int_equal(environment_objects(pod, count_object, &count), 0);
	assert_int_equal(count, ENVIRONMENT_OBJECTS_MAX);
	object_unref(pod);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expansion),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_reading_is_bounded),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_maps_and_secrets),
		cmocka_unit_test(test_nothing_is_an_error),
		cmocka_unit_test(test_a_lost_source_is_named),
		cmocka_unit_test(test_variables_are_bounded),
		cmocka_unit_test(test_objects_of_a_sub_path),
		cmocka_unit_test(test_objects_are_bounded),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
