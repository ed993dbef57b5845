/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tree_make - what stands at a path is replaced on every kind of file system, and what is
 * mounted there is not
 */
#include "tests/root/file_systems.h"

#include "base/cleanup.h"
#include "mount/archive/tree_make.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int make_file(const char *name, struct failure *why)
{
	cleanup_close int root_fd = open(sandbox_path("tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct tree_maker *maker = tree_maker_new(root_fd);
	int fd;

	assert_non_null(maker);
	fd = tree_make_file(maker, name, why);
	tree_maker_free(maker);
	if (fd < 0)
		return fd;
	(void) close(fd);
	return 0;
}

/* On overlay "below" is of the lower layer: it has another device number than its directory. */
static void test_what_stands_there_is_replaced(void **state)
{
	for (const char *const *type = file_systems; *type; type++) {
		struct failure why = { .error = 0 };

		print_message("# %s\n", *type);
		sandbox_mkdir("tree", 0755);
		file_system_mount(*type, "tree");
		if (strcmp(*type, "overlay") != 0)
			sandbox_write("tree/below", "before");
		sandbox_write("tree/above", "before");
		if (make_file("below", &why) < 0)
			fail_msg("%s", why.text);
		assert_true(sandbox_has("tree/below", ""));
		sandbox_write("other", "mounted");
		assert_return_code(mount(sandbox_path("other"), sandbox_path("tree/above"), NULL,
					 MS_BIND, NULL),
				   errno);
		assert_int_equal(make_file("above", &why), -EXDEV);
		assert_string_equal(why.text, "something is mounted there");
		assert_true(sandbox_has("other", "mounted"));
		assert_return_code(umount2(sandbox_path("tree/above"), 0), errno);
		assert_return_code(umount2(sandbox_path("tree"), 0), errno);
		assert_return_code(rmdir(sandbox_path("tree")), errno);
		file_system_clean(*type);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_what_stands_there_is_replaced),
	};

	return sandbox_run("tree_make", tests, ARRAY_SIZE(tests));
}
