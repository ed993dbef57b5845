/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_local_idmap - local volumes of pods that ask for their fsGroup as a map of the mount
 *
 * Where there is one no file is touched; where there is none the files are walked, and that is
 * reported.
 */
#include "tests/root/kernel_calls.h"
#include "tests/root/volume.h"

#include "base/cleanup.h"
#include "mount/bind/idmap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

#define TARGET(pod) "root/pods/" pod "/volumes/kubernetes.io~local-volume/pv1"

enum { DISK = 2000, FIRST = 3000, SECOND = 4000 };

static struct stat look(const char *relative)
{
	struct stat status;

	assert_return_code(stat(sandbox_path(relative), &status), errno);
	return status;
}

static void make_disk(gid_t gid)
{
	sandbox_write("disk/file", "data");
	assert_return_code(chown(sandbox_path("disk"), 0, gid), errno);
	assert_return_code(chown(sandbox_path("disk/file"), 0, gid), errno);
	assert_return_code(chmod(sandbox_path("disk/file"), 0640), errno);
}

static void begin(struct test_volume *volume, gid_t gid)
{
	test_volume_init(volume, "kubernetes.io/local-volume", true);
	sandbox_mkdir("disk", 0755);
	make_disk(gid);
	volume->pv.source = PV_SOURCE_LOCAL;
	volume->pv.local_path = strdup(sandbox_path("disk"));
	volume->pod.has_fs_group = true;
	volume->pod.fs_group_idmap = true;
	volume->pod.fs_group = FIRST;
	assert_int_equal(idmap_cache_new(&volume->host.idmaps), 0);
}

static void end(struct test_volume *volume)
{
	(void) idmap_cache_free(volume->host.idmaps);
	free((char *) volume->pv.local_path);
	test_volume_done(volume);
}

static int set_up(struct test_volume *volume, const char *pod_uid)
{
	volume->request.pod_uid = pod_uid;
	return test_volume_run(volume, volume->plugin->new_mounter);
}

static void tear_down(struct test_volume *volume, const char *pod_uid)
{
	volume->request.pod_uid = pod_uid;
	assert_int_equal(test_volume_run(volume, volume->plugin->new_unmounter), STAGE_NEXT);
}

static bool was_told(const struct test_volume *volume, const char *reason, const char *words)
{
	for (unsigned int i = 0; i < volume->report.event_count; i++)
		if (strcmp(volume->report.events[i].reason, reason) == 0)
			return strstr(volume->report.events[i].text, words) != NULL;
	return false;
}

/* A kernel that cannot is one where files are walked: other tests have that. */
static void skip_unless_mapped(struct test_volume *volume)
{
	if (!was_told(volume, "VolumeIdmapRefused", "cannot"))
		return;
	tear_down(volume, "u1");
	end(volume);
	skip();
}

static void assert_untouched(void)
{
	assert_int_equal(look("disk").st_gid, DISK);
	assert_int_equal(look("disk").st_mode & 07777, 0755);
	assert_int_equal(look("disk/file").st_gid, DISK);
	assert_int_equal(look("disk/file").st_mode & 07777, 0640);
}

static void assert_walked(const struct test_volume *volume, const char *why)
{
	assert_true(was_told(volume, "VolumeIdmapRefused", why));
	assert_int_equal(volume->report.failure.error, 0);
	assert_string_equal(volume->report.failure.text, "");
	assert_int_equal(look("disk").st_gid, FIRST);
	assert_int_equal(look("disk/file").st_gid, FIRST);
	assert_int_equal(look("disk/file").st_mode & 07777, 0660);
	assert_int_equal(look(TARGET("u1")).st_gid, FIRST);
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 1);
}

/* Also while another pod, with another group, uses the volume. */
static void test_each_pod_has_its_view(void **state)
{
	struct test_volume volume;

	begin(&volume, DISK);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	skip_unless_mapped(&volume);
	assert_string_equal(volume.stage, "bind the source");

	/* Once more, as after a restart: nothing is done, nor walked through the map. */
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_string_equal(volume.stage, "prepare the target");
	assert_untouched();

	volume.pod.fs_group = SECOND;
	assert_int_equal(set_up(&volume, "u2"), STAGE_LIST_DONE);
	assert_int_equal(volume.report.event_count, 0);
	assert_int_equal(look(TARGET("u1")).st_gid, FIRST);
	assert_int_equal(look(TARGET("u1") "/file").st_gid, FIRST);
	assert_int_equal(look(TARGET("u2")).st_gid, SECOND);
	assert_int_equal(look(TARGET("u2") "/file").st_gid, SECOND);
	assert_untouched();
	tear_down(&volume, "u1");
	tear_down(&volume, "u2");
	assert_int_equal(sandbox_mounts_below(sandbox_path("root")), 0);
	end(&volume);
}

static void test_a_root_of_the_group_needs_no_map(void **state)
{
	struct test_volume volume;

	begin(&volume, FIRST);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_int_equal(volume.report.event_count, 0);
	assert_string_equal(volume.stage, "bind the source"); /* no walk comes after */
	assert_int_equal(look("disk/file").st_mode & 07777, 0640);
	tear_down(&volume, "u1");
	end(&volume);
}

static void test_where_it_is_not_allowed(void **state)
{
	struct test_volume volume;

	begin(&volume, DISK);
	volume.host.idmaps = idmap_cache_free(volume.host.idmaps);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_walked(&volume, "option idmapped-fs-group");
	tear_down(&volume, "u1");
	end(&volume);
}

static void test_root_s_group(void **state)
{
	struct test_volume volume;

	begin(&volume, 0);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_walked(&volume, "group 0 is never mapped");
	tear_down(&volume, "u1");
	end(&volume);
}

/* A mount is idmapped once: the runtime's map comes first, for the pod cannot do without it. */
static void test_a_pod_with_a_user_namespace(void **state)
{
	struct test_volume volume;

	begin(&volume, DISK);
	volume.pod.user_namespace = true;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_walked(&volume, "hostUsers: false");
	tear_down(&volume, "u1");
	end(&volume);
}

/* With one of the calls taken away. */
static void test_where_the_kernel_cannot(void **state)
{
	struct test_volume volume;

	begin(&volume, DISK);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_walked(&volume, "Function not implemented");

	/* The next pod's files are not walked while this one has them, as without a map. */
	volume.pod.fs_group = SECOND;
	assert_int_equal(set_up(&volume, "u2"), STAGE_LIST_DONE);
	assert_true(was_told(&volume, "VolumeIdmapRefused", "Function not implemented"));
	assert_true(was_told(&volume, "AlreadyMountedVolume", "may not be shareable"));
	assert_int_equal(look("disk/file").st_gid, FIRST);
	tear_down(&volume, "u1");
	tear_down(&volume, "u2");
	end(&volume);
}

static void test_where_the_file_system_cannot(void **state)
{
	struct test_volume volume;

	begin(&volume, DISK);
	assert_return_code(mount("ramfs", sandbox_path("disk"), "ramfs", 0, NULL), errno);
	make_disk(DISK);
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	if (volume.report.event_count > 0) /* one day ramfs may */
		assert_walked(&volume, "cannot");
	tear_down(&volume, "u1");
	assert_return_code(umount2(sandbox_path("disk"), 0), errno);
	end(&volume);
}

static void test_read_only_stays_as_it_is(void **state)
{
	struct test_volume volume;

	begin(&volume, DISK);
	volume.spec.read_only = true;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_int_equal(look(TARGET("u1")).st_gid, DISK);
	assert_untouched();
	tear_down(&volume, "u1");
	end(&volume);
}

/* The walk that stands in was broken off: the root is last, so the next set-up goes on. */
static void test_an_interrupted_walk_is_finished(void **state)
{
	struct test_volume volume;

	begin(&volume, DISK);
	volume.pod.has_fs_group = false;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	volume.pod.has_fs_group = true;
	assert_int_equal(set_up(&volume, "u1"), STAGE_LIST_DONE);
	assert_int_equal(look("disk").st_gid, FIRST);
	assert_int_equal(look("disk/file").st_gid, FIRST);
	tear_down(&volume, "u1");
	end(&volume);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SANDBOX_TEST_WITHOUT(0, test_each_pod_has_its_view),
		SANDBOX_TEST_WITHOUT(0, test_a_root_of_the_group_needs_no_map),
		SANDBOX_TEST_WITHOUT(0, test_where_it_is_not_allowed),
		SANDBOX_TEST_WITHOUT(0, test_root_s_group),
		SANDBOX_TEST_WITHOUT(0, test_a_pod_with_a_user_namespace),
		SANDBOX_TEST_WITHOUT(WITHOUT_OPEN_TREE, test_where_the_kernel_cannot),
		SANDBOX_TEST_WITHOUT(WITHOUT_MOUNT_SETATTR, test_where_the_kernel_cannot),
		SANDBOX_TEST_WITHOUT(WITHOUT_MOVE_MOUNT, test_where_the_kernel_cannot),
		SANDBOX_TEST_WITHOUT(0, test_where_the_file_system_cannot),
		SANDBOX_TEST_WITHOUT(0, test_read_only_stays_as_it_is),
		SANDBOX_TEST_WITHOUT(0, test_an_interrupted_walk_is_finished),
	};

	return sandbox_run("local_idmap", tests, ARRAY_SIZE(tests));
}
