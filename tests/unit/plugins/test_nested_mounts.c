/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nested_mounts - the directories that a volume needs for other mounts inside it
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "plugins/pod_target.h"

#include <errno.h>
#include <string.h>

enum { MOUNTS_MAX = 6 };

static int note(const char *path, void *userdata)
{
	char *text = userdata;
	size_t length = strlen(text);

	(void) snprintf(text + length, 256 - length, "%s ", path);
	return 0;
}

/* The first path is the volume's own mount, the others are of other volumes; NULL ends. */
static int walk(const char *const *paths, char text[256], struct failure *failure)
{
	struct pod_volume_mount mounts[MOUNTS_MAX];
	struct pod_container container = { .name = "c", .mounts = mounts };
	const struct pod pod = { .containers = &container, .container_count = 1 };

	text[0] = '\0';
	for (size_t i = 0; paths[i]; i++)
		mounts[container.mount_count++] =
			(struct pod_volume_mount){ .name = i == 0 ? "v" : "other",
						   .mount_path = paths[i] };
	return nested_mounts(&pod, "v", note, text, failure);
}

#define PATHS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_rows(void **state)
{
	const struct {
		const char *const *paths;
		const char *wanted;
	} rows[] = {
		{ PATHS("/dir", "/dir/nested"), "nested " }, /* case 151 */
		{ PATHS("/dir", "/dir/nested", "/dir/nested/double", "/dir/nested2"),
		  "nested nested2 " },          /* case 152 */
		{ PATHS("/mnt", "/mnt7"), "" }, /* case 153 */
		{ PATHS("/dir/", "/dir//a/./b/"), "a/b " },
		{ PATHS("/dir", "/dir/x/../../else"), "" },
		{ PATHS("/dir", "/dir/x/../y"), "y " },
		{ PATHS("/", "/etc", "/etc/x"), "etc " },
		{ PATHS("/dir", "/dir"), "" },
		{ PATHS("/dir"), "" },
	};
	char text[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(walk(rows[i].paths, text, NULL), 0);
		assert_string_equal(text, rows[i].wanted);
	}
}

/* case 154 */
static void test_above_its_root(void **state)
{
	struct failure failure = { 0 };
	char text[256];

	assert_int_equal(walk(PATHS("foo/../../dir", "/x"), text, &failure), -EINVAL);
	assert_string_equal(failure.text,
			    "invalid container mount point 'foo/../../dir' of container 'c'");
	assert_int_equal(walk(PATHS("..", "/x"), text, &failure), -EINVAL);
	assert_int_equal(walk(PATHS("..foo", "..foo/x"), text, NULL), 0);
	assert_string_equal(text, "x ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_above_its_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
