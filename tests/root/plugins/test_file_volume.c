/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file_volume - files that belong in memory are written nowhere else, and the teardown of a
 * secret overwrites what podvold wrote, and no other's files
 */
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "mount/files/atomic_writer.h"

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define PATH   "pods/u1/volumes/kubernetes.io~secret/scratch"
#define VOLUME "root/" PATH

static void begin(struct test_volume *volume)
{
	cleanup_close int fd = -EBADF;

	test_volume_init(volume, "kubernetes.io/secret", false);
	fd = make_directories(volume->host.root_fd, PATH, 0755, NULL);
	assert_true(fd >= 0);
}

static int tear_down(struct test_volume *volume)
{
	return test_volume_run(volume, volume->plugin->new_unmounter);
}

/* The volume is hidden: what is seen in its place is foreign. */
static void test_what_others_mounted_is_not_overwritten(void **state)
{
	struct test_volume volume;

	begin(&volume);
	sandbox_mkdir("theirs", 0755);
	sandbox_mkdir("theirs/sub", 0755);
	sandbox_write("theirs/file", "theirs");
	sandbox_write("theirs/sub/file", "theirs, too");
	assert_return_code(mount(sandbox_path("theirs"), sandbox_path(VOLUME), NULL, MS_BIND, NULL),
			   errno);
	(void) tear_down(&volume);
	assert_true(sandbox_has("theirs/file", "theirs"));
	assert_true(sandbox_has("theirs/sub/file", "theirs, too"));
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 0);
	test_volume_done(&volume);
}

/* A file system that no emptyDir has is not even taken away. */
static void test_another_file_system_is_left(void **state)
{
	struct test_volume volume;

	begin(&volume);
	assert_return_code(mount("proc", sandbox_path(VOLUME), "proc", 0, NULL), errno);
	assert_int_equal(tear_down(&volume), -EBUSY);
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 1);
	assert_return_code(umount2(sandbox_path(VOLUME), 0), errno);
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

/* ---- an overwriting that fails ---- */

static int wipe_error;
static char told[512];

int __real_atomic_write_wipe(int directory_fd, const char *path, struct failure *reterr);
int __wrap_atomic_write_wipe(int directory_fd, const char *path, struct failure *reterr);
int __wrap_atomic_write_wipe(int directory_fd, const char *path, struct failure *reterr)
{
	if (wipe_error == 0)
		return __real_atomic_write_wipe(directory_fd, path, reterr);
	return failed(reterr, wipe_error, "cannot overwrite '%s'", path);
}

void __wrap_log_message(int priority, const char *format, ...);
void __wrap_log_message(int priority, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(told, sizeof(told), format, arguments);
	va_end(arguments);
	assert_int_equal(priority, LOG_WARNING);
}

static void test_what_was_not_overwritten_is_told(void **state)
{
	struct test_volume volume;

	begin(&volume);
	told[0] = '\0';
	assert_return_code(mount("tmpfs", sandbox_path(VOLUME), "tmpfs", 0, NULL), errno);
	wipe_error = -EIO;
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	wipe_error = 0;
	assert_int_equal(sandbox_mounts_below(sandbox_path(VOLUME)), 0);
	assert_non_null(strstr(told,
			       "were not overwritten before their memory was given back: cannot "
			       "overwrite"));
	told[0] = '\0';
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	assert_string_equal(told, "");
	test_volume_done(&volume);
}

/* ---- memory that goes before anything is written ---- */

#define FIELDS "root/pods/u1/volumes/kubernetes.io~downward-api/scratch"

static bool unmounts_at_once;

int __real_mount_filesystem(const char *type, const char *source, const char *options,
			    int target_fd, struct failure *reterr);
int __wrap_mount_filesystem(const char *type, const char *source, const char *options,
			    int target_fd, struct failure *reterr);
int __wrap_mount_filesystem(const char *type, const char *source, const char *options,
			    int target_fd, struct failure *reterr)
{
	int r = __real_mount_filesystem(type, source, options, target_fd, reterr);

	if (r == 0 && unmounts_at_once)
		assert_return_code(umount2(sandbox_path(FIELDS), MNT_DETACH), errno);
	return r;
}

static const struct object *pod_with_fields(void)
{
	static const char text[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\","
		"\"namespace\":\"default\",\"uid\":\"u1\"},\"spec\":{\"containers\":[{\"name\":"
		"\"c\",\"image\":\"i\"}],\"volumes\":[{\"name\":\"scratch\",\"downwardAPI\":"
		"{\"items\":[{\"path\":\"name\",\"fieldRef\":{\"fieldPath\":"
		"\"metadata.name\"}}]}}]}}";
	const struct object *pod = NULL;
	struct failure failure = { 0 };

	if (object_parse_json(text, sizeof(text) - 1, &pod, &failure) < 0)
		fail_msg("%s", failure.text);
	return pod;
}

/* On the disk below it could be read from the disk. */
static void test_nothing_is_written_below_the_memory(void **state)
{
	cleanup_object const struct object *pod = pod_with_fields();
	struct test_volume volume;

	test_volume_init(&volume, "kubernetes.io/downward-api", false);
	volume.request.pod = volume.spec.pod = pod;
	volume.spec.source = &pod->pod->volumes[0];
	unmounts_at_once = true;
	assert_int_equal(test_volume_run(&volume, volume.plugin->new_mounter), -ESTALE);
	unmounts_at_once = false;
	assert_string_equal(volume.stage, "write the files");
	assert_int_equal(rmdir(sandbox_path(FIELDS)), 0); /* it is empty */

	assert_int_equal(test_volume_run(&volume, volume.plugin->new_mounter), STAGE_NEXT);
	assert_true(sandbox_has(FIELDS "/name", "web"));
	assert_int_equal(tear_down(&volume), STAGE_NEXT);
	test_volume_done(&volume);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST(test_what_others_mounted_is_not_overwritten),
		SANDBOX_TEST(test_another_file_system_is_left),
		SANDBOX_TEST(test_what_was_not_overwritten_is_told),
		SANDBOX_TEST(test_nothing_is_written_below_the_memory),
	};

	return sandbox_run("file_volume", tests, ARRAY_SIZE(tests));
}
