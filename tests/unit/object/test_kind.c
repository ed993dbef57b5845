/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kind - the table of kinds and the words people use for them
 */
#include "object/kind.h"

#include "base/cleanup.h"
#include "object/schema/table.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_every_row_is_whole(void **state)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		assert_int_equal(row->kind, kind);
		assert_non_null(row->schema);
		assert_true(row->description && *row->description);
		assert_true(row->schema_package && *row->schema_package);
		assert_non_null(row->columns[0].name);
		for (size_t i = 0; row->columns[i].name; i++)
			assert_int_equal(!!row->columns[i].cell + !!row->columns[i].path +
						 (row->columns[i].type >= CELL_TEXT),
					 1);
		for (size_t i = 0; row->singular[i]; i++)
			assert_int_equal(row->singular[i], tolower(row->name[i]));
	}
}

/* Whether a kind is called so by people, in full or in short. */
static bool is_called(const struct kind_row *row, const char *word)
{
	if (strcmp(row->plural, word) == 0 || strcmp(row->singular, word) == 0)
		return true;
	for (const char *const *name = row->short_names; name && *name; name++) {
		if (strcmp(*name, word) == 0)
			return true;
	}
	return false;
}

static size_t count_called(const char *word)
{
	size_t count = 0;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		count += is_called(kind_row((enum object_kind) kind), word) ? 1 : 0;
	return count;
}

static void test_a_word_means_one_kind(void **state)
{
	static const char *const words[] = { "po", "pv", "pvc", "sc",  "cm",      "no",  "ns",
					     "ev", "sa", "vs",  "vsc", "vsclass", "vscs" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		assert_int_equal(count_called(words[i]), 1);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		assert_int_equal(count_called(row->plural), 1);
		assert_int_equal(count_called(row->singular), 1);
		for (const char *const *name = row->short_names; name && *name; name++)
			assert_int_equal(count_called(*name), 1);
	}
}

static void test_only_these_are_special(void **state)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct kind_row *row = kind_row((enum object_kind) kind);

		assert_int_equal(row->secret, kind == KIND_SECRET);
		assert_int_equal(row->durability == KIND_UNSYNCED, kind == KIND_EVENT);
		assert_int_equal(row->durability == KIND_VOLATILE, kind == KIND_LEASE);
	}
}

static void test_documents_name_kinds(void **state)
{
	assert_int_equal(kind_by_name("v1", "Pod")->kind, KIND_POD);
	assert_int_equal(kind_by_name("v1", "PersistentVolume")->kind, KIND_PERSISTENT_VOLUME);
	assert_int_equal(kind_by_name("v1", "PersistentVolumeClaim")->kind,
			 KIND_PERSISTENT_VOLUME_CLAIM);
	assert_int_equal(kind_by_name("storage.k8s.io/v1", "StorageClass")->kind,
			 KIND_STORAGE_CLASS);
}

static void test_other_groups_and_versions_are_not_served(void **state)
{
	static const char *const pairs[][2] = {
		{ "v1", "StorageClass" },
		{ "storage.k8s.io/v1beta1", "StorageClass" },
		{ "storage.k8s.io", "StorageClass" },
		{ "storage.k8s.io/", "StorageClass" },
		{ "storage.k8s.iox/v1", "StorageClass" },
		{ "v2", "Pod" },
		{ "/v1", "Pod" },
		{ "v1", "pod" },
		{ "v1", "Service" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		assert_null(kind_by_name(pairs[i][0], pairs[i][1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_is_whole),
		cmocka_unit_test(test_a_word_means_one_kind),
		cmocka_unit_test(test_only_these_are_special),
		cmocka_unit_test(test_documents_name_kinds),
		cmocka_unit_test(test_other_groups_and_versions_are_not_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
