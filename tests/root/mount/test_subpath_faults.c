/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_subpath_faults - each single call while sub-paths are bound and cleaned fails once
 *
 * Whatever fails: the volume keeps what it has, no descriptor leaks, and cleaning without a failure
 * takes away all that is left.
 */
#include "tests/root/sandbox.h"
#include "tests/fault/faults.h"

#include "base/cleanup.h"
#include "mount/path/subpath.h"

#include <fcntl.h>
#include <string.h>

#define VOLUME "root/pods/u1/volumes/plugin/data"

static int root_fd = -EBADF;
static char root_path[256], volume_path[256];

static int bind_one(const char *sub_path, size_t mount_index)
{
	cleanup(subpath_done) struct subpath subpath = SUBPATH_EMPTY;
	const struct subpath_request request = {
		.root_fd = root_fd,
		.root_path = root_path,
		.pod_uid = "u1",
		.volume_name = "data",
		.container = "main",
		.mount_index = mount_index,
		.volume_path = volume_path,
		.sub_path = sub_path,
	};
	int r = subpath_open(&request, &subpath, NULL);

	if (r < 0)
		return r;
	r = subpath_bind(&subpath, NULL);
	if (r < 0)
		subpath_undo(&request, &subpath);
	return r;
}

/* Made, found again, a file, another thing in the old place, and gone. */
static int live(void)
{
	static const struct {
		const char *path;
		size_t index;
	} binds[] = { { "new/deep", 0 }, { "new/deep", 0 }, { "file", 1 }, { "dir", 1 } };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(binds); i++)
		r = bind_one(binds[i].path, binds[i].index);
	return r < 0 ? r : subpath_clean(root_fd, root_path, "u1", "data", NULL);
}

static void make_volume(void)
{
	static const char *const directories[] = { "root",
						   "root/pods",
						   "root/pods/u1",
						   "root/pods/u1/volumes",
						   "root/pods/u1/volumes/plugin",
						   VOLUME,
						   VOLUME "/dir" };

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		sandbox_mkdir(directories[i], 0755);
	sandbox_write(VOLUME "/file", "data");
	sandbox_write(VOLUME "/dir/file", "data");
	(void) snprintf(root_path, sizeof(root_path), "%s", sandbox_path("root"));
	(void) snprintf(volume_path, sizeof(volume_path), "%s", sandbox_path(VOLUME));
	root_fd = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_return_code(root_fd, errno);
}

static void forget_new(void)
{
	(void) unlinkat(sandbox_fd(), VOLUME "/new/deep", AT_REMOVEDIR);
	(void) unlinkat(sandbox_fd(), VOLUME "/new", AT_REMOVEDIR);
}

static void test_each_call_fails_once(void **state)
{
	unsigned int nth = 0, fds, failures = 0;
	bool failed_one;

	make_volume();
	assert_int_equal(live(), 0);
	forget_new();
	fds = sandbox_open_fds();
	do {
		int r;

		faults_arm(++nth);
		r = live();
		failed_one = faults_disarm();
		failures += r < 0;
		if (!failed_one)
			assert_int_equal(r, 0);
		assert_int_equal(subpath_clean(root_fd, root_path, "u1", "data", NULL), 0);
		if (sandbox_mounts_below(root_path) != 0 || sandbox_open_fds() != fds)
			fail_msg("call %u, %s: %u mounts and %u descriptors (%u before) are left",
				 nth, faults_last(), sandbox_mounts_below(root_path),
				 sandbox_open_fds(), fds);
		assert_int_equal(access(sandbox_path("root/pods/u1/volume-subpaths"), F_OK), -1);
		assert_true(sandbox_has(VOLUME "/file", "data"));
		assert_true(sandbox_has(VOLUME "/dir/file", "data"));
		forget_new();
	} while (failed_one);
	print_message("# %u calls, %u of them ended it\n", nth - 1, failures);
	assert_in_range(nth, 60, 1000);
	assert_in_range(failures, nth / 2, nth); /* most failures are reported */
	root_fd = close_keep_errno(root_fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_each_call_fails_once),
	};

	return sandbox_run("subpath_faults", tests, ARRAY_SIZE(tests));
}
