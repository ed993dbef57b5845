/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_versions - the server's versions of objects, and where objects are at the server
 */
#include "cluster/cluster_internal.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void note(struct cluster *cluster, const char *uid, uint64_t version)
{
	const struct object object = { .meta = { .uid = uid, .resource_version = version } };

	versions_note(cluster, &object);
}

static void test_the_version_of_each_uid(void **state)
{
	struct cluster cluster = { 0 };

	assert_int_equal(versions_find(&cluster, "a"), 0);
	versions_forget(&cluster, "a");
	note(&cluster, "a", 7);
	note(&cluster, "ab", 8);
	note(&cluster, "a", 9);
	assert_int_equal(versions_find(&cluster, "a"), 9);
	assert_int_equal(versions_find(&cluster, "ab"), 8);
	/* A restored etcd goes back. */
	note(&cluster, "a", 3);
	assert_int_equal(versions_find(&cluster, "a"), 3);
	versions_forget(&cluster, "a");
	assert_int_equal(versions_find(&cluster, "a"), 0);
	assert_int_equal(versions_find(&cluster, "ab"), 8);
	versions_free(&cluster);
	assert_int_equal(versions_find(&cluster, "ab"), 0);
}

static void expect_path(enum object_kind kind, const char *name_space, const char *name,
			const char *suffix, const char *wanted)
{
	char path[CLUSTER_PATH_BYTES];

	assert_true(cluster_path(kind_row(kind), name_space, name, suffix, path));
	assert_string_equal(path, wanted);
}

static void test_paths(void **state)
{
	expect_path(KIND_POD, "n", "web", "/status", "/api/v1/namespaces/n/pods/web/status");
	expect_path(KIND_POD, NULL, NULL, "", "/api/v1/pods");
	expect_path(KIND_NODE, "", "node.example.com", "", "/api/v1/nodes/node.example.com");
	expect_path(KIND_CSI_NODE, "", "a", "?dryRun=All",
		    "/apis/storage.k8s.io/v1/csinodes/a?dryRun=All");
}

/* What could lead elsewhere at the server is no name. */
static void test_names_that_are_no_part_of_a_path(void **state)
{
	static const char *const names[] = { "a/b", "..", ".", "a?b", "a%2fb", "a b", "a#b" };
	char path[CLUSTER_PATH_BYTES], name[CLUSTER_PATH_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_false(cluster_path(kind_row(KIND_POD), "n", names[i], "", path));
		assert_false(cluster_path(kind_row(KIND_POD), names[i], "web", "", path));
	}
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(cluster_path(kind_row(KIND_POD), "n", name, "", path));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_version_of_each_uid),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_names_that_are_no_part_of_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
