/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sub_path_expr - the sub-path of a mount, by itself and by variables
 */
#include "container/sub_path_expr.h"

#include "base/cleanup.h"
#include "tests/unit/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define POD                                                                                        \
	"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: ns, uid: u-1,\n"              \
	"  labels: {app: shop, a.b/c: slashed}, annotations: {note: told}}\n"                      \
	"spec:\n  nodeName: n1\n  serviceAccountName: sa\n  volumes: [{name: v}]\n"                \
	"  initContainers: [{name: first, env: [{name: A, value: init}],\n"                        \
	"    volumeMounts: [{name: v, mountPath: /v, subPathExpr: '%s'}]}]\n"                      \
	"  containers: [{name: main, env: %s,\n"                                                   \
	"    volumeMounts: [{name: v, mountPath: /v, %s: '%s'}]}]\n"                               \
	"status: {podIP: 10.0.0.7, hostIP: 192.168.0.1}\n"

#define ENV                                                                                        \
	"[{name: A, value: one}, {name: B, value: '$(A)-two'}, {name: A, value: '$(A)x'},\n"       \
	"{name: LATE, value: '$(NEXT)'}, {name: NEXT, value: n}, {name: NONE, value: '$(NO)'},\n"  \
	"{name: EMPTY}, {name: COST, value: '$$(A)'}, {name: UP, value: ../x},\n"                  \
	"{name: ROOT, value: /etc},\n"                                                             \
	"{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}},\n"                        \
	"{name: SPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}},\n"                 \
	"{name: ID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}},\n"                          \
	"{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}},\n"                       \
	"{name: ACCOUNT, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}},\n"          \
	"{name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}},\n"                          \
	"{name: LABEL, valueFrom: {fieldRef: {fieldPath: 'metadata.labels[''a.b/c'']'}}},\n"       \
	"{name: GONE, valueFrom: {fieldRef: {fieldPath: 'metadata.labels[''gone'']'}}},\n"         \
	"{name: NOTE, valueFrom: {fieldRef: {fieldPath: 'metadata.annotations[''note'']'}}},\n"    \
	"{name: ODD, valueFrom: {fieldRef: {fieldPath: spec.priority}}},\n"                        \
	"{name: MAP, valueFrom: {configMapKeyRef: {name: m, key: k}}}]"

static int sub_path_with(const char *env, const char *key, const char *text, char **ret,
			 struct failure *reterr)
{
	const struct pod_container *container;
	const struct object *pod;
	char yaml[8192];
	int r;

	assert_true(snprintf(yaml, sizeof(yaml), POD, "$(A)", env, key, text) < (int) sizeof(yaml));
	pod = object_of(yaml);
	container = &pod->pod->containers[1];
	r = sub_path_of_mount(pod, container, &container->mounts[0], ret, reterr);
	(void) object_unref(pod);
	return r;
}

static void test_expanded(void **state)
{
	static const char *const rows[][2] = {
		{ "plain/path", "plain/path" },
		{ "$(B)", "one-two" },
		{ "$(A)", "onex" }, /* the last of a name */
		{ "x$(A)/$(B)y", "xonex/one-twoy" },
		{ "$(LATE)", "$(NEXT)" }, /* only those before it */
		{ "$(NONE)", "$(NO)" },   /* what a value names in vain stays */
		{ "$(COST)", "$(A)" },    /* escaped in the value */
		{ "$$(A)", "$(A)" },      /* escaped here */
		{ "$$$(A)", "$onex" },    /* and after an escape */
		{ "$A-$(-$", "$A-$(-$" }, /* no reference */
		{ "a$(EMPTY)b", "ab" },
		{ "$(POD)/$(SPACE)/$(ID)", "web/ns/u-1" },
		{ "$(NODE)/$(ACCOUNT)/$(IP)", "n1/sa/10.0.0.7" },
		{ "$(LABEL)/$(NOTE)/$(GONE)", "slashed/told/" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failure why = { 0 };
		cleanup_free char *path = NULL;

		if (sub_path_with(ENV, "subPathExpr", rows[i][0], &path, &why) < 0)
			fail_msg("%s: %s", rows[i][0], why.text);
		assert_string_equal(path, rows[i][1]);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "$(NO)", "subPathExpr '$(NO)': missing value for 'NO'" },
		{ "$(a)", "subPathExpr '$(a)': missing value for 'a'" },
		{ "$()", "subPathExpr '$()': missing value for ''" },
		{ "$(UP)", "subPath must not contain '..'" },
		{ "x/$(UP)", "subPath must not contain '..'" },
		{ "$(ROOT)", "subPath '/etc' must not be an absolute path" },
		{ "$(ODD)", "subPathExpr '$(ODD)': variable 'ODD' comes from 'spec.priority', "
			    "which has no value here" },
		{ "$(MAP)", "subPathExpr '$(MAP)': variable 'MAP' comes from 'configMapKeyRef', "
			    "which has no value here" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failure why = { 0 };
		char *path = NULL;

		assert_int_equal(sub_path_with(ENV, "subPathExpr", rows[i][0], &path, &why),
				 -EINVAL);
		assert_string_equal(why.text, rows[i][1]);
		assert_null(path);
	}
}

/* A dollar sign in a plain subPath is one. */
static void test_sub_path_is_not_expanded(void **state)
{
	cleanup_free char *path = NULL;

	assert_int_equal(sub_path_with(ENV, "subPath", "$(A)/$$", &path, NULL), 0);
	assert_string_equal(path, "$(A)/$$");
}

static void test_each_container_has_its_own(void **state)
{
	cleanup_free char *path = NULL;
	const struct pod_container *first;
	const struct object *pod;
	char yaml[8192];

	(void) snprintf(yaml, sizeof(yaml), POD, "$(A)", "[]", "subPath", "x");
	pod = object_of(yaml);
	first = &pod->pod->containers[0];
	assert_int_equal(sub_path_of_mount(pod, first, &first->mounts[0], &path, NULL), 0);
	assert_string_equal(path, "init");
	(void) object_unref(pod);
}

/* Twenty lines that would be a million bytes, and twenty that are none but take as long. */
static void test_bombs(void **state)
{
	static const char *const seeds[] = { "0123456789", "" };

	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
		struct failure why = { 0 };
		char env[4096], *path = NULL;
		size_t used =
			(size_t) snprintf(env, sizeof(env), "[{name: V0, value: '%s'}", seeds[i]);

		for (int k = 1; k < 20; k++)
			used += (size_t) snprintf(env + used, sizeof(env) - used,
						  ",\n {name: V%d, value: '$(V%d)$(V%d)'}", k,
						  k - 1, k - 1);
		(void) snprintf(env + used, sizeof(env) - used, "]");
		assert_int_equal(sub_path_with(env, "subPathExpr", "$(V19)", &path, &why), -EINVAL);
		assert_null(path);
		assert_non_null(strstr(why.text, i == 0 ? "longer than" : "too many variables"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expanded),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_sub_path_is_not_expanded),
		cmocka_unit_test(test_each_container_has_its_own),
		cmocka_unit_test(test_bombs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
