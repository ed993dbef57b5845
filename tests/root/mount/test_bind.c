/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bind - bind mounts between pinned ends, on the real kernel and without its newer calls
 */
#include "tests/root/kernel_calls.h"

#include "base/cleanup.h"
#include "mount/bind/options.h"
#include "mount/mount.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

static int open_path(const char *relative)
{
	int fd = open(sandbox_path(relative), O_PATH | O_CLOEXEC);

	assert_return_code(fd, errno);
	return fd;
}

static int bind_paths(const char *source, const char *target,
		      const struct mount_attributes *attributes, struct failure *reterr)
{
	cleanup_close int source_fd = open_path(source);
	cleanup_close int target_fd = open_path(target);

	return bind_at(source_fd, target_fd, attributes, reterr);
}

static int unmount_with(const char *relative, int flags, struct failure *reterr)
{
	struct place place = PLACE_EMPTY; /* borrows all */

	place.parent_fd = sandbox_fd();
	place.name = place.path = (char *) sandbox_path(relative) + strlen(sandbox_dir()) + 1;
	return unmount_place(&place, flags, reterr);
}

static void unmount(const char *relative)
{
	struct failure failure = { 0 };

	if (unmount_with(relative, 0, &failure) != 0)
		fail_msg("%s", failure.text);
}

static unsigned long flags_of(const char *relative)
{
	struct statvfs status;

	assert_return_code(statvfs(sandbox_path(relative), &status), errno);
	return status.f_flag;
}

/* The optional fields of a mount's line: "shared:1". */
static void propagation_of(const char *relative, char text[64])
{
	cleanup_fclose FILE *mountinfo = fopen("/proc/self/mountinfo", "re");
	const char *wanted = sandbox_path(relative);
	char line[4096], point[1024];

	assert_non_null(mountinfo);
	snprintf(text, 64, "not there");
	while (fgets(line, sizeof(line), mountinfo))
		if (sscanf(line, "%*s %*s %*s %*s %1023s", point) == 1 &&
		    strcmp(point, wanted) == 0)
			assert_int_equal(sscanf(line, "%*s %*s %*s %*s %*s %*s %63s", text), 1);
}

static void make_two(void)
{
	sandbox_mkdir("source", 0755);
	sandbox_write("source/file", "data");
	sandbox_mkdir("target", 0750);
}

/* case 93, difference: kubelet mounts twice, `bind` and `bind,remount`; podvold makes one mount. */
/* Asked of the clone's descriptor, which after the attachment is the mount at the target. */
static void test_bind_tells_its_id(void **state)
{
	cleanup_close int source_fd = -EBADF, target_fd = -EBADF, tree_fd = -EBADF;
	bool can_tell;
	struct place place = PLACE_EMPTY; /* borrows all */
	struct mount_facts facts;
	uint64_t mount_id = 1;

	make_two();
	source_fd = open_path("source");
	target_fd = open_path("target");
	assert_int_equal(bind_at_with_id(source_fd, target_fd, NULL, &mount_id, NULL), 0);
	place.parent_fd = sandbox_fd();
	place.name = place.path = "target";
	assert_int_equal(place_facts(&place, &facts, NULL), 0);
	assert_true(facts.is_mount_root);
	tree_fd = open_tree(source_fd, "", AT_EMPTY_PATH);
	can_tell = tree_fd >= 0 && !(move_mount(-EBADF, "", -EBADF, "", 0) < 0 && errno == ENOSYS);
	/* The fallback, which is taken when either call is missing, cannot. */
	assert_int_equal(mount_id, can_tell ? facts.mount_id : 0);
	unmount("target");
}

static void test_bind_shows_the_source(void **state)
{
	struct failure failure = { 0 };

	make_two();
	assert_int_equal(bind_paths("source", "target", NULL, &failure), 0);
	assert_true(sandbox_has("target/file", "data"));
	assert_int_equal(mkdir(sandbox_path("target/new"), 0700), 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
	unmount("target");
	assert_false(sandbox_has("target/file", "data"));
}

/* case 92, difference: kubelet binds writable and remounts; podvold's appears with its attributes.
 */
static void test_bind_read_only_from_the_first_moment(void **state)
{
	const struct mount_attributes read_only = { .set = MOUNT_ATTR_RDONLY };
	struct failure failure = { 0 };

	make_two();
	assert_int_equal(bind_paths("source", "target", &read_only, &failure), 0);
	assert_int_equal(kernel_calls_counts()->attached, 1);
	assert_int_equal(kernel_calls_counts()->attached_writable, 0);
	assert_true(flags_of("target") & ST_RDONLY);
	assert_false(flags_of("source") & ST_RDONLY);
	assert_int_equal(mkdir(sandbox_path("target/new"), 0700), -1);
	assert_int_equal(mkdir(sandbox_path("source/new"), 0700), 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
	unmount("target");
}

/* case 94, difference: of `vers=2,ro,_netdev,bind` what is a mount's is honoured, in one mount. */
static void test_bind_with_options_as_words(void **state)
{
	struct mount_attributes attributes;
	cleanup_free char *data = NULL;
	struct failure failure = { 0 };

	make_two();
	assert_int_equal(
		mount_options_split("vers=2,ro,_netdev,bind,noexec", &attributes, &data, &failure),
		0);
	assert_string_equal(data, "vers=2");
	assert_int_equal(bind_paths("source", "target", &attributes, &failure), 0);
	assert_int_equal(flags_of("target") & (ST_RDONLY | ST_NOEXEC), ST_RDONLY | ST_NOEXEC);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
	unmount("target");
}

static void test_attributes_are_added_to_the_source_s(void **state)
{
	const struct mount_attributes first = {
		.set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME,
		.clear = MOUNT_ATTR__ATIME,
	};
	const struct mount_attributes second = { .set = MOUNT_ATTR_NOEXEC };
	const struct mount_attributes third = { .clear = MOUNT_ATTR_NOSUID };
	struct failure failure = { 0 };

	make_two();
	sandbox_mkdir("second", 0750);
	sandbox_mkdir("third", 0750);
	assert_int_equal(bind_paths("source", "target", &first, &failure), 0);
	assert_int_equal(flags_of("target") & (ST_NOSUID | ST_NODEV | ST_NOATIME | ST_NOEXEC),
			 ST_NOSUID | ST_NODEV | ST_NOATIME);
	assert_int_equal(bind_paths("target", "second", &second, &failure), 0);
	assert_int_equal(flags_of("second") & (ST_NOSUID | ST_NODEV | ST_NOATIME | ST_NOEXEC),
			 ST_NOSUID | ST_NODEV | ST_NOATIME | ST_NOEXEC);
	assert_int_equal(bind_paths("second", "third", &third, &failure), 0);
	assert_int_equal(flags_of("third") & (ST_NOSUID | ST_NODEV | ST_NOATIME | ST_NOEXEC),
			 ST_NODEV | ST_NOATIME | ST_NOEXEC);
	unmount("third");
	unmount("second");
	unmount("target");
}

static void test_files_and_device_nodes(void **state)
{
	const struct mount_attributes read_only = { .set = MOUNT_ATTR_RDONLY };
	struct failure failure = { 0 };
	struct stat status;

	sandbox_write("source", "data");
	sandbox_write("target", "");
	assert_int_equal(bind_paths("source", "target", &read_only, &failure), 0);
	assert_true(sandbox_has("target", "data"));
	unmount("target");

	assert_return_code(mknod(sandbox_path("node"), S_IFCHR | 0600, makedev(1, 3)), errno);
	assert_int_equal(bind_paths("node", "target", NULL, &failure), 0);
	assert_return_code(stat(sandbox_path("target"), &status), errno);
	assert_true(S_ISCHR(status.st_mode));
	unmount("target");
}

static void test_submounts_only_when_recursive(void **state)
{
	const struct mount_attributes recursive = { .recursive = true };
	struct failure failure = { 0 };

	make_two();
	sandbox_mkdir("source/sub", 0755);
	assert_return_code(mount("none", sandbox_path("source/sub"), "tmpfs", 0, NULL), errno);
	sandbox_write("source/sub/deep", "deep");

	assert_int_equal(bind_paths("source", "target", NULL, &failure), 0);
	assert_false(sandbox_has("target/sub/deep", "deep"));
	unmount("target");
	assert_int_equal(bind_paths("source", "target", &recursive, &failure), 0);
	assert_true(sandbox_has("target/sub/deep", "deep"));
	assert_return_code(umount2(sandbox_path("target/sub"), 0), errno);
	unmount("target");
	assert_return_code(umount2(sandbox_path("source/sub"), 0), errno);
}

static void test_recursive_read_only_covers_submounts(void **state)
{
	const struct mount_attributes both = { .set = MOUNT_ATTR_RDONLY, .recursive = true };
	struct failure failure = { 0 };

	make_two();
	sandbox_mkdir("source/sub", 0755);
	assert_return_code(mount("none", sandbox_path("source/sub"), "tmpfs", 0, NULL), errno);
	if (bind_paths("source", "target", &both, &failure) == -EOPNOTSUPP) {
		/* Refused, as the next test wants it of a kernel without the calls. */
		assert_return_code(umount2(sandbox_path("source/sub"), 0), errno);
		print_message("# %s\n", failure.text);
		skip();
	}
	assert_int_equal(failure.error, 0);
	assert_true(flags_of("target/sub") & ST_RDONLY);
	assert_false(flags_of("source/sub") & ST_RDONLY);
	assert_return_code(umount2(sandbox_path("target/sub"), 0), errno);
	unmount("target");
	assert_return_code(umount2(sandbox_path("source/sub"), 0), errno);
}

/* mount(2) can remount one mount only: leaving submounts writable is no answer. */
static void test_recursive_read_only_is_refused_without(void **state)
{
	const struct mount_attributes both = { .set = MOUNT_ATTR_RDONLY, .recursive = true };
	struct failure failure = { 0 };

	make_two();
	assert_int_equal(bind_paths("source", "target", &both, &failure), -EOPNOTSUPP);
	assert_non_null(strstr(failure.text, "mount_setattr"));
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

static void test_propagation(void **state)
{
	static const struct {
		uint64_t propagation;
		const char *expected;
	} rows[] = {
		{ 0, "shared:" }, /* what a shared parent makes of it */
		{ MS_PRIVATE, "-" },
		{ MS_SHARED, "shared:" },
		{ MS_SLAVE, "-" }, /* it has no master, so it is private */
	};
	struct failure failure = { 0 };

	make_two();
	assert_return_code(mount(NULL, sandbox_dir(), NULL, MS_SHARED, NULL), errno);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct mount_attributes attributes = { .propagation = rows[i].propagation,
							     .set = MOUNT_ATTR_NODEV };
		char text[64];

		assert_int_equal(bind_paths("source", "target", &attributes, &failure), 0);
		propagation_of("target", text);
		if (strncmp(text, rows[i].expected, strlen(rows[i].expected)) != 0 &&
		    strncmp(text, "master:", 7) != 0)
			fail_msg("row %zu: '%s'", i, text);
		if (rows[i].propagation == MS_PRIVATE)
			assert_string_equal(text, "-");
		assert_true(flags_of("target") & ST_NODEV);
		unmount("target");
	}
}

static void test_a_failure_leaves_nothing(void **state)
{
	const struct mount_attributes read_only = { .set = MOUNT_ATTR_RDONLY };
	struct failure failure = { 0 };

	make_two();
	/* A file on a directory: ENOTDIR on older kernels, EINVAL on newer ones. */
	assert_true(bind_paths("source/file", "target", &read_only, &failure) < 0);
	assert_true(strlen(failure.text) > 0);
	assert_true(bind_paths("source/file", "target", NULL, &failure) < 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

/* What a process that was killed in between left behind is in no one's way. */
static void test_leftovers_of_a_killed_process(void **state)
{
	const struct mount_attributes read_only = { .set = MOUNT_ATTR_RDONLY };
	struct failure failure = { 0 };

	make_two();
	assert_return_code(mkdir("/run/podvol-bind", 0700), errno);
	assert_return_code(mkdir("/run/podvol-bind/private", 0700), errno);
	for (int i = 0; i < 2; i++)
		assert_return_code(mount("none", "/run/podvol-bind/private", "tmpfs", 0, NULL),
				   errno);
	assert_int_equal(bind_paths("source", "target", &read_only, &failure), 0);
	assert_true(flags_of("target") & ST_RDONLY);
	unmount("target");
}

static void test_unmount_says_why_not(void **state)
{
	struct failure failure = { 0 };
	cleanup_close int inside_fd = -EBADF;

	make_two();
	assert_int_equal(unmount_with("target", 0, &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "target"));
	assert_int_equal(unmount_with("missing", 0, &failure), -ENOENT);

	assert_int_equal(bind_paths("source", "target", NULL, &failure), 0);
	inside_fd = open(sandbox_path("target/file"), O_RDONLY | O_CLOEXEC);
	assert_return_code(inside_fd, errno);
	assert_int_equal(unmount_with("target", 0, &failure), -EBUSY);
	assert_int_equal(unmount_with("target", MNT_DETACH, &failure), 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 0);
}

static void test_unmount_takes_the_top_and_follows_no_link(void **state)
{
	struct failure failure = { 0 };

	make_two();
	assert_int_equal(bind_paths("source", "target", NULL, &failure), 0);
	assert_return_code(symlink("target", sandbox_path("link")), errno);
	assert_int_equal(unmount_with("link", 0, &failure), -EINVAL);
	assert_int_equal(bind_paths("source", "target", NULL, &failure), 0);
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 2);
	unmount("target");
	assert_int_equal(sandbox_mounts_below(sandbox_path("target")), 1);
	unmount("target");
}

#define NEWER_CALLS (WITHOUT_OPEN_TREE | WITHOUT_MOUNT_SETATTR | WITHOUT_MOVE_MOUNT)
#define WITH_AND_WITHOUT(function)                                                                 \
	SANDBOX_TEST_WITHOUT(0, function), SANDBOX_TEST_WITHOUT(WITHOUT_OPEN_TREE, function),      \
		SANDBOX_TEST_WITHOUT(WITHOUT_MOVE_MOUNT, function),                                \
		SANDBOX_TEST_WITHOUT(NEWER_CALLS, function)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_AND_WITHOUT(test_bind_shows_the_source),
		SANDBOX_TEST_WITHOUT(0, test_bind_tells_its_id),
		SANDBOX_TEST_WITHOUT(NEWER_CALLS, test_bind_tells_its_id),
		WITH_AND_WITHOUT(test_bind_read_only_from_the_first_moment),
		SANDBOX_TEST_WITHOUT(WITHOUT_MOUNT_SETATTR,
				     test_bind_read_only_from_the_first_moment),
		WITH_AND_WITHOUT(test_bind_with_options_as_words),
		WITH_AND_WITHOUT(test_attributes_are_added_to_the_source_s),
		WITH_AND_WITHOUT(test_files_and_device_nodes),
		WITH_AND_WITHOUT(test_submounts_only_when_recursive),
		SANDBOX_TEST_WITHOUT(0, test_recursive_read_only_covers_submounts),
		SANDBOX_TEST_WITHOUT(WITHOUT_MOUNT_SETATTR,
				     test_recursive_read_only_is_refused_without),
		WITH_AND_WITHOUT(test_propagation),
		WITH_AND_WITHOUT(test_a_failure_leaves_nothing),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPEN_TREE, test_leftovers_of_a_killed_process),
		SANDBOX_TEST(test_unmount_says_why_not),
		SANDBOX_TEST(test_unmount_takes_the_top_and_follows_no_link),
	};

	return sandbox_run("bind", tests, ARRAY_SIZE(tests));
}
