/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_payload - which paths a volume may hold, and what becomes of many files
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/files/payload.h"

#include <string.h>

static int add(struct payload *payload, const char *path, const char *text, struct failure *failure)
{
	return payload_add(payload,
			   &(struct payload_file){ .path = (char *) path,
						   .data = (char *) text,
						   .length = strlen(text),
						   .mode = 0644 },
			   failure);
}

static void test_paths(void **state)
{
	static const struct {
		const char *path;
		int result;
	} rows[] = {
		{ "i/am/well/behaved.txt", 0 }, /* case 155 */
		{ "/dev/null", -EINVAL },       /* case 157 */
		{ "..sneaky.txt", -EINVAL },    /* case 158 */
		{ "hello/../etc/x", -EINVAL },  /* case 159 */
		{ "", -EINVAL },                /* case 160 */
		{ "foo////bar", 0 },            /* case 161 */
		{ "./bar", 0 },                 /* case 162 */
		{ "a/..b", 0 },                 /* case 163 */
		{ "..", -EINVAL },
		{ "a/..", -EINVAL },
		{ ".", -EINVAL },
		{ "././", -EINVAL },
		{ "..data", -EINVAL },
		{ "...", -EINVAL },
		{ ".hidden", 0 },
		{ "a/...", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct failure failure = { 0 };

		assert_int_equal(payload_check_path(rows[i].path, &failure), rows[i].result);
		assert_int_equal(failure.error, rows[i].result);
	}
}

/* case 156 */
static void test_long_paths(void **state)
{
	char path[PAYLOAD_PATH_BYTES_MAX + 2];
	char name[PAYLOAD_NAME_BYTES_MAX + 2];

	for (size_t i = 0; i + 1 < sizeof(path); i++)
		path[i] = i % 2 == 0 ? 'a' : '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(payload_check_path(path, NULL), -EINVAL);
	path[sizeof(path) - 2] = '\0';
	assert_int_equal(payload_check_path(path, NULL), 0);

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(payload_check_path(name, NULL), -EINVAL);
	name[sizeof(name) - 2] = '\0';
	assert_int_equal(payload_check_path(name, NULL), 0);
}

/* case 161: sorted, cleaned, the later of two wins. */
static void test_files_are_sorted_and_each_there_once(void **state)
{
	struct payload payload = { .count = 0 };

	assert_int_equal(add(&payload, "foo/bar", "old", NULL), 0);
	assert_int_equal(add(&payload, "zip", "z", NULL), 0);
	assert_int_equal(add(&payload, "./foo////bar", "new", NULL), 0);
	assert_int_equal(add(&payload, "foo-bar", "", NULL), 0);
	assert_int_equal(payload_finish(&payload, NULL), 0);
	assert_int_equal(payload.count, 3);
	assert_string_equal(payload.files[0].path, "foo/bar");
	assert_int_equal(payload.files[0].length, 3);
	assert_memory_equal(payload.files[0].data, "new", 3);
	assert_string_equal(payload.files[1].path, "foo-bar");
	assert_string_equal(payload.files[2].path, "zip");
	assert_int_equal(payload.bytes, 4);
	payload_done(&payload);
	assert_int_equal(payload.count, 0);
}

static void test_a_file_is_no_directory(void **state)
{
	struct payload payload = { .count = 0 };
	struct failure failure = { 0 };

	assert_int_equal(add(&payload, "a/b/c", "", NULL), 0);
	assert_int_equal(add(&payload, "a-", "", NULL), 0);
	assert_int_equal(add(&payload, "a/b", "", NULL), 0);
	assert_int_equal(payload_finish(&payload, &failure), -EINVAL);
	assert_string_equal(failure.text, "path 'a/b/c' leads through 'a/b', which is a file, too");
	payload_done(&payload);
}

static void test_limits(void **state)
{
	struct payload payload = { .count = 0 };
	struct payload_file file = { .path = "a", .length = PAYLOAD_BYTES_MAX };
	char *bytes = calloc(1, PAYLOAD_BYTES_MAX);

	assert_non_null(bytes);
	file.data = bytes;
	assert_int_equal(payload_add(&payload, &file, NULL), 0);
	assert_int_equal(add(&payload, "b", "1", NULL), -E2BIG);
	assert_int_equal(add(&payload, "b", "", NULL), 0);
	payload_done(&payload);
	free(bytes);

	for (size_t i = 0; i < PAYLOAD_FILES_MAX; i++)
		assert_int_equal(add(&payload, "a", "", NULL), 0);
	assert_int_equal(add(&payload, "a", "", NULL), -E2BIG);
	payload_done(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_files_are_sorted_and_each_there_once),
		cmocka_unit_test(test_a_file_is_no_directory),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
