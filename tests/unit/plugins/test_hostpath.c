/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hostpath - what each hostPath type accepts, refuses and makes, on a scratch directory
 *
 * Real files, no root; the block device's cases are in tests/root/plugins/test_hostpath.c.
 */
#include "base/cleanup.h"
#include "plugins/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cmocka.h>

static char directory[PATH_MAX];
static const struct volume_plugin *host_path;

/* "DIR/relative" in one of four static buffers that are used in turn. */
static const char *below(const char *relative)
{
	static char buffers[4][PATH_MAX + 64];
	static unsigned int next;
	char *buffer = buffers[next++ % ARRAY_SIZE(buffers)];

	(void) snprintf(buffer, sizeof(buffers[0]), "%s/%s", directory, relative);
	return buffer;
}

static int setup(void **state)
{
	const char *base = getenv("TMPDIR");

	(void) umask(022);
	host_path = plugin_by_name("kubernetes.io/host-path");
	(void) snprintf(directory, sizeof(directory), "%s/podvol-hostpath.XXXXXX",
			base ? base : "/tmp");
	return mkdtemp(directory) ? 0 : -1;
}

/* Whatever the cases made, by name; deepest first. */
static int teardown(void **state)
{
	static const char *const names[] = {
		"a/b/c", "a/b", "a", "file", "link", "socket", "fifo"
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (unlink(below(names[i])) < 0)
			(void) rmdir(below(names[i]));
	return rmdir(directory);
}

static void make_file_with(const char *relative, const char *text)
{
	cleanup_fclose FILE *file = fopen(below(relative), "w");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) >= 0, 1);
}

static struct stat look(const char *relative)
{
	struct stat st;

	assert_int_equal(stat(below(relative), &st), 0);
	return st;
}

static void make_socket(const char *relative)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_true((size_t) snprintf(address.sun_path, sizeof(address.sun_path), "%s",
				      below(relative)) < sizeof(address.sun_path));
	assert_int_equal(bind(fd, &address, sizeof(address)), 0);
}

/* Runs the plugin's stages on an inline volume. */
static int set_up(const char *path, const char *type, struct failure *reterr)
{
	const struct pod_volume source = { .name = "v",
					   .source = SOURCE_HOST_PATH,
					   .source_key = "hostPath",
					   .host_path = path,
					   .host_path_type = type };
	const struct volume_spec spec = { .name = "v", .source = &source };
	const struct volume_request request = { .spec = &spec, .volume_name = "v", .pod_uid = "u" };
	struct stage_report report = { 0 };
	struct stage_list list;
	int result;

	assert_int_equal(host_path->new_mounter(&request, &list, NULL), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.stages[0].place, STAGE_WORKER);
	result = list.stages[0].run(list.data, &report);
	stage_list_done(&list);
	if (reterr)
		*reterr = report.failure;
	return result;
}

static void expect_accepted(const char *relative, const char *type)
{
	assert_int_equal(set_up(below(relative), type, NULL), 0);
}

/* @complaint follows the path in kubelet's words. */
static void expect_refused(const char *relative, const char *type, const char *complaint)
{
	char expected[PATH_MAX + 256];
	struct failure failure = { 0 };

	assert_true(set_up(below(relative), type, &failure) < 0);
	(void) snprintf(expected, sizeof(expected), "hostPath type check failed: %s %s",
			below(relative), complaint);
	assert_string_equal(failure.text, expected);
}

/* case 13 */
static void test_unset_type_accepts_what_is_missing(void **state)
{
	expect_accepted("a", "");
	assert_int_equal(access(below("a"), F_OK), -1);
}

/* case 14 */
static void test_backsteps_come_first(void **state)
{
	struct failure failure;

	assert_int_equal(set_up("/x/../y", "", &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "invalid HostPath"));
	assert_int_equal(set_up("/x/../y", "Foo", &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "invalid HostPath"));
}

static void test_relative_paths_are_refused(void **state)
{
	struct failure failure;

	assert_int_equal(set_up("x/y", "", &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "must be absolute"));
}

/* case 15 */
static void test_directory_or_create_makes_all_levels(void **state)
{
	expect_accepted("a/b/c", "DirectoryOrCreate");
	assert_int_equal(look("a").st_mode, S_IFDIR | 0755);
	assert_int_equal(look("a/b").st_mode, S_IFDIR | 0755);
	assert_int_equal(look("a/b/c").st_mode, S_IFDIR | 0755);
}

/* case 16, case 39, nothing is changed, and there is no teardown that could remove it */
static void test_directory_or_create_keeps_what_is_there(void **state)
{
	assert_int_equal(mkdir(below("a"), 0700), 0);
	expect_accepted("a", "DirectoryOrCreate");
	assert_int_equal(look("a").st_mode, S_IFDIR | 0700);
	assert_int_equal(look("a").st_uid, geteuid());
	assert_null(host_path->new_unmounter);
	assert_null(host_path->construct_volume_spec);
}

/* case 17 */
static void test_directory_or_create_on_a_file(void **state)
{
	make_file_with("file", "x");
	expect_refused("file", "DirectoryOrCreate", "is not a directory");
}

/* case 18 */
static void test_directory_or_create_on_a_link_to_a_directory(void **state)
{
	assert_int_equal(mkdir(below("a"), 0755), 0);
	assert_int_equal(symlink(below("a"), below("link")), 0);
	expect_accepted("link", "DirectoryOrCreate");
}

/* case 19, a difference: kubelet succeeds and makes nothing, podvold says so */
static void test_directory_or_create_on_a_dangling_link(void **state)
{
	struct failure failure;

	assert_int_equal(symlink(below("gone"), below("link")), 0);
	assert_int_equal(set_up(below("link"), "DirectoryOrCreate", &failure), -ENOENT);
	assert_non_null(strstr(failure.text, "hostPath type check failed"));
	assert_int_equal(access(below("gone"), F_OK), -1);
}

/* case 20 */
static void test_directory(void **state)
{
	assert_int_equal(mkdir(below("a"), 0755), 0);
	expect_accepted("a", "Directory");
}

/* case 21 */
static void test_directory_missing(void **state)
{
	expect_refused("a", "Directory", "is not a directory");
	assert_int_equal(access(below("a"), F_OK), -1);
}

/* case 22 */
static void test_file_or_create_makes_an_empty_file(void **state)
{
	expect_accepted("file", "FileOrCreate");
	assert_int_equal(look("file").st_mode, S_IFREG | 0644);
	assert_int_equal(look("file").st_size, 0);
}

/* case 23 */
static void test_file_or_create_makes_no_parent(void **state)
{
	assert_int_equal(set_up(below("a/file"), "FileOrCreate", NULL), -ENOENT);
	assert_int_equal(access(below("a"), F_OK), -1);
}

/* case 24 */
static void test_file_or_create_on_a_directory(void **state)
{
	assert_int_equal(mkdir(below("a"), 0755), 0);
	expect_refused("a", "FileOrCreate", "is not a file");
}

/* case 25 */
static void test_file_or_create_keeps_content(void **state)
{
	make_file_with("file", "precious");
	expect_accepted("file", "FileOrCreate");
	assert_int_equal(look("file").st_size, 8);
}

/* A link another user may turn: no file is made where it leads. */
static void test_file_or_create_on_a_dangling_link(void **state)
{
	assert_int_equal(symlink(below("gone"), below("link")), 0);
	assert_int_equal(set_up(below("link"), "FileOrCreate", NULL), -EEXIST);
	assert_int_equal(access(below("gone"), F_OK), -1);
}

/* case 26 */
static void test_file(void **state)
{
	make_file_with("file", "x");
	expect_accepted("file", "File");
}

/* case 27 */
static void test_file_on_a_directory(void **state)
{
	assert_int_equal(mkdir(below("a"), 0755), 0);
	expect_refused("a", "File", "is not a file");
}

/* case 28 */
static void test_file_on_a_socket(void **state)
{
	make_socket("socket");
	expect_refused("socket", "File", "is not a file");
}

/* case 29, and the look does not wait for a writer */
static void test_file_on_a_fifo(void **state)
{
	assert_int_equal(mkfifo(below("fifo"), 0644), 0);
	expect_refused("fifo", "File", "is not a file");
}

/* case 30 */
static void test_socket(void **state)
{
	make_socket("socket");
	expect_accepted("socket", "Socket");
}

/* case 31 */
static void test_socket_on_a_file(void **state)
{
	make_file_with("file", "x");
	expect_refused("file", "Socket", "is not a socket file");
}

/* case 32 */
static void test_char_device(void **state)
{
	assert_int_equal(set_up("/dev/null", "CharDevice", NULL), 0);
	expect_refused("file", "CharDevice", "is not a character device");
}

/* case 35 */
static void test_block_device_on_a_file(void **state)
{
	make_file_with("file", "x");
	expect_refused("file", "BlockDevice", "is not a block device");
}

/* case 36 */
static void test_unknown_type(void **state)
{
	struct failure failure;

	assert_int_equal(set_up(below("a"), "Foo", &failure), -EINVAL);
	assert_non_null(strstr(failure.text, "Foo is an invalid volume type"));
}

/* case 38, the volume is not managed, so no fsGroup is applied */
static void test_nothing_is_owned(void **state)
{
	const struct pod_volume source = { .host_path = "/data", .host_path_type = "" };
	const struct volume_spec spec = { .name = "v", .source = &source, .read_only = true };
	const struct volume_request request = { .spec = &spec };
	cleanup_free char *path = host_path->get_path(&request), *name = NULL;

	assert_false(host_path->get_attributes(&spec).managed);
	assert_false(host_path->get_attributes(&spec).selinux_relabel);
	assert_true(host_path->get_attributes(&spec).read_only);
	assert_string_equal(path, "/data");
	assert_int_equal(host_path->get_volume_name(&spec, &name, NULL), 0);
	assert_string_equal(name, "/data");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_unset_type_accepts_what_is_missing),
		CASE(test_backsteps_come_first),
		CASE(test_relative_paths_are_refused),
		CASE(test_directory_or_create_makes_all_levels),
		CASE(test_directory_or_create_keeps_what_is_there),
		CASE(test_directory_or_create_on_a_file),
		CASE(test_directory_or_create_on_a_link_to_a_directory),
		CASE(test_directory_or_create_on_a_dangling_link),
		CASE(test_directory),
		CASE(test_directory_missing),
		CASE(test_file_or_create_makes_an_empty_file),
		CASE(test_file_or_create_makes_no_parent),
		CASE(test_file_or_create_on_a_directory),
		CASE(test_file_or_create_keeps_content),
		CASE(test_file_or_create_on_a_dangling_link),
		CASE(test_file),
		CASE(test_file_on_a_directory),
		CASE(test_file_on_a_socket),
		CASE(test_file_on_a_fifo),
		CASE(test_socket),
		CASE(test_socket_on_a_file),
		CASE(test_char_device),
		CASE(test_block_device_on_a_file),
		CASE(test_unknown_type),
		CASE(test_nothing_is_owned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
