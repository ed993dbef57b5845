/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume - see volume.h
 *
 * Loop devices are taken by LOOP_CTL_GET_FREE and detached by their own descriptor: no other is
 * ever touched.
 */
#include "volume.h"

#include "base/cleanup.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { ATTEMPTS_MAX = 32 };

void test_volume_init(struct test_volume *volume, const char *plugin, bool pv)
{
	struct failure failure = { 0 };

	*volume = (struct test_volume){ .plugin = plugin_by_name(plugin) };
	assert_non_null(volume->plugin);
	if (access(sandbox_path("root"), F_OK) < 0)
		sandbox_mkdir("root", 0750);
	volume->host = (struct plugin_host){
		.root_dir = strdup(sandbox_path("root")),
		.root_fd = open(sandbox_path("root"), O_PATH | O_DIRECTORY | O_CLOEXEC),
		.node_name = "node",
	};
	assert_int_equal(mount_table_new(&volume->host.mount_table, &failure), 0);
	volume->pv = (struct persistent_volume){
		.local_path = "", .fs_type = "", .host_path = "", .host_path_type = ""
	};
	volume->source = (struct pod_volume){
		.name = "scratch", .host_path = "", .host_path_type = "", .medium = ""
	};
	volume->pv_object.persistent_volume = &volume->pv;
	volume->pv.object = &volume->pv_object;
	volume->pod_object.pod = &volume->pod;
	volume->spec = (struct volume_spec){ .name = pv ? "pv1" : "scratch" };
	if (pv) {
		volume->spec.pv = &volume->pv_object;
	} else {
		volume->spec.pod = &volume->pod_object;
		volume->spec.source = &volume->source;
	}
	volume->request = (struct volume_request){ .host = &volume->host,
						   .plugin = volume->plugin,
						   .spec = &volume->spec,
						   .volume_name = volume->spec.name,
						   .pod = &volume->pod_object,
						   .pod_uid = "u1",
						   .is_staged = true,
						   .device_path = "",
						   .device_mount_path = "" };
}

void test_volume_done(struct test_volume *volume)
{
	volume->host.mount_table = mount_table_free(volume->host.mount_table);
	(void) close_keep_errno(volume->host.root_fd);
	free((char *) volume->host.root_dir);
}

int test_volume_run(struct test_volume *volume, stage_list_fn *slot)
{
	struct stage_list list = { 0 };
	int result;

	volume->report = (struct stage_report){ 0 };
	volume->stage = "";
	result = slot(&volume->request, &list, &volume->report.failure);
	if (result < 0)
		return result;
	result = STAGE_NEXT;
	for (size_t i = 0; i < list.count && result == STAGE_NEXT; i++) {
		volume->stage = list.stages[i].name;
		result = list.stages[i].run(list.data, &volume->report);
	}
	stage_list_done(&list);
	if (*volume->report.device_path)
		(void) snprintf(volume->device_path, sizeof(volume->device_path), "%s",
				volume->report.device_path);
	volume->request.device_path = volume->device_path;
	if (result < 0)
		print_message("# %s: %s\n", volume->stage, volume->report.failure.text);
	return result;
}

static int attach_free(int control_fd, int file_fd, struct test_loop *loop)
{
	struct loop_config config = { .fd = (unsigned int) file_fd };
	int number = ioctl(control_fd, LOOP_CTL_GET_FREE);

	if (number < 0)
		return -errno;
	(void) snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", number);
	loop->fd = open(loop->path, O_RDWR | O_CLOEXEC);
	if (loop->fd < 0)
		return -errno;
	if (ioctl(loop->fd, LOOP_CONFIGURE, &config) == 0)
		return 0;
	loop->fd = close_keep_errno(loop->fd);
	return -errno;
}

void test_loop_attach(struct test_loop *loop, const char *file, unsigned int mebibytes)
{
	cleanup_close int control_fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	cleanup_close int file_fd = -EBADF;
	int result = -errno;

	sandbox_write(file, "");
	file_fd = open(sandbox_path(file), O_RDWR | O_CLOEXEC);
	assert_return_code(file_fd, errno);
	assert_return_code(ftruncate(file_fd, (off_t) mebibytes << 20), errno);
	for (int i = 0; control_fd >= 0 && i < ATTEMPTS_MAX; i++) {
		result = attach_free(control_fd, file_fd, loop);
		if (result != -EBUSY)
			break;
	}
	if (result == 0)
		return;
	print_message("no loop device: %s\n", strerror(-result));
	skip();
}

void test_loop_detach(struct test_loop *loop)
{
	assert_return_code(ioctl(loop->fd, LOOP_CLR_FD), errno);
	loop->fd = close_keep_errno(loop->fd);
}

void test_loop_type(const struct test_loop *loop, char type[32])
{
	blkid_probe probe = blkid_new_probe_from_filename(loop->path);
	const char *value = "";

	assert_non_null(probe);
	(void) blkid_probe_enable_superblocks(probe, 1);
	if (blkid_do_safeprobe(probe) == 0)
		(void) blkid_probe_lookup_value(probe, "TYPE", &value, NULL);
	(void) snprintf(type, 32, "%s", value);
	blkid_free_probe(probe);
}
