/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mountinfo - lines of /proc/PID/mountinfo
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "mount/table/mountinfo.h"

#include <string.h>
#include <sys/sysmacros.h>

static int parse(const char *text, char buffer[512], struct mountinfo_line *ret)
{
	(void) snprintf(buffer, 512, "%s", text);
	return mountinfo_parse(buffer, ret);
}

static void test_the_line_of_the_manual_page(void **state)
{
	struct mountinfo_line line;
	char buffer[512];

	assert_int_equal(parse("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root "
			       "rw,errors=continue",
			       buffer, &line),
			 0);
	assert_int_equal(line.mount_id, 36);
	assert_int_equal(line.parent_id, 35);
	assert_int_equal(line.device, makedev(98, 0));
	assert_string_equal(line.root, "/mnt1");
	assert_string_equal(line.mount_point, "/mnt2");
	assert_string_equal(line.options, "rw,noatime");
	assert_string_equal(line.type, "ext3");
	assert_string_equal(line.source, "/dev/root");
	assert_string_equal(line.super_options, "rw,errors=continue");
}

static void test_any_number_of_optional_fields(void **state)
{
	struct mountinfo_line line;
	char buffer[512];

	assert_int_equal(parse("1 1 0:5 / / rw - tmpfs none rw", buffer, &line), 0);
	assert_string_equal(line.type, "tmpfs");
	assert_int_equal(parse("1 1 0:5 / / rw shared:1 master:2 propagate_from:3 new:4 - tmpfs "
			       "none rw",
			       buffer, &line),
			 0);
	assert_string_equal(line.source, "none");
	assert_int_equal(line.peer_group, 1);
	assert_int_equal(line.master_group, 2);
	assert_int_equal(parse("1 1 0:5 / / rw - tmpfs none rw", buffer, &line), 0);
	assert_int_equal(line.peer_group, 0);
	assert_int_equal(line.master_group, 0);
	assert_int_equal(parse("1 1 0:5 / / rw shared:x - tmpfs none rw", buffer, &line), -EINVAL);
}

static void test_escapes(void **state)
{
	struct mountinfo_line line;
	char buffer[512];

	assert_int_equal(parse("1 1 0:5 /a\\040b /c\\011d\\012e\\134040 rw - tmpfs no\\043ne rw",
			       buffer, &line),
			 0);
	assert_string_equal(line.root, "/a b");
	assert_string_equal(line.mount_point, "/c\td\ne\\040"); /* undone once only */
	assert_string_equal(line.source, "no#ne");

	/* No escapes, although they begin like some. */
	assert_int_equal(parse("1 1 0:5 / /a\\04 rw - tmpfs \\ rw", buffer, &line), 0);
	assert_string_equal(line.mount_point, "/a\\04");
	assert_string_equal(line.source, "\\");
	assert_int_equal(parse("1 1 0:5 / /a\\409 rw - tmpfs n rw", buffer, &line), 0);
	assert_string_equal(line.mount_point, "/a\\409");
}

static void test_an_empty_source(void **state)
{
	struct mountinfo_line line;
	char buffer[512];

	assert_int_equal(parse("1 1 0:5 / /m rw - tmpfs  rw", buffer, &line), 0);
	assert_string_equal(line.source, "");
	assert_string_equal(line.super_options, "rw");
}

static void test_lines_that_are_none(void **state)
{
	static const char *const bad[] = {
		"",
		"1",
		"x 1 0:5 / / rw - tmpfs none rw",
		"1 x 0:5 / / rw - tmpfs none rw",
		"-1 1 0:5 / / rw - tmpfs none rw",
		"1 1 05 / / rw - tmpfs none rw",
		"1 1 0:5x / / rw - tmpfs none rw",
		"1 1 : / / rw - tmpfs none rw",
		"1 1 4096:0 / / rw - tmpfs none rw",
		"1 1 0:1048576 / / rw - tmpfs none rw",
		"99999999999999999999 1 0:5 / / rw - tmpfs none rw",
		"1 1 0:5 /  rw - tmpfs none rw",
		"1 1 0:5 / / rw shared:1 tmpfs none rw",
		"1 1 0:5 / / rw -",
		"1 1 0:5 / / rw - tmpfs",
		"1 1 0:5 / / rw - tmpfs none",
		"1 1 0:5 / / rw -  none rw",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct mountinfo_line line = { .mount_id = 7 };
		char buffer[512];

		if (parse(bad[i], buffer, &line) != -EINVAL)
			fail_msg("accepted: '%s'", bad[i]);
		assert_int_equal(line.mount_id, 7);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_line_of_the_manual_page),
		cmocka_unit_test(test_any_number_of_optional_fields),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_an_empty_source),
		cmocka_unit_test(test_lines_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
