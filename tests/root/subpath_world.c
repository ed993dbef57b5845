/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subpath_world - a volume of a pod in the sandbox; see subpath_world.h
 */
#include "subpath_world.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

static struct {
	int root_fd;
	char root_path[256];
	char volume_path[256];
	struct failure failure;
} world = { .root_fd = -EBADF };

int subpath_world_setup(void **state)
{
	static const char *const directories[] = { ROOT, ROOT "/pods", POD_DIR, POD_DIR "/volumes",
						   POD_DIR "/volumes/kubernetes.io~empty-dir" };

	if (kernel_calls_setup(state) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		sandbox_mkdir(directories[i], 0750);
	sandbox_mkdir(VOLUME, 0777);
	sandbox_mkdir("outside", 0755);
	sandbox_mkdir("outside/dir", 0755);
	sandbox_write("outside/dir/secret", "secret");
	world.failure = (struct failure){ .error = 0 };
	world.root_fd = open(sandbox_path(ROOT), O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void) snprintf(world.root_path, sizeof(world.root_path), "%s", sandbox_path(ROOT));
	(void) snprintf(world.volume_path, sizeof(world.volume_path), "%s", sandbox_path(VOLUME));
	return world.root_fd < 0 ? -1 : 0;
}

static unsigned int count_entries(const char *relative)
{
	cleanup_closedir DIR *directory = opendir(sandbox_path(relative));
	unsigned int count = 0;

	while (directory && readdir(directory))
		count++;
	return count;
}

int subpath_world_teardown(void **state)
{
	int result = 0;

	if (count_entries("outside") != 3 || count_entries("outside/dir") != 3 ||
	    !sandbox_has("outside/dir/secret", "secret")) {
		print_error("something outside was changed\n");
		result = -1;
	}
	world.root_fd = close_keep_errno(world.root_fd);
	return kernel_calls_teardown(state) != 0 ? -1 : result;
}

struct subpath_request subpath_world_request(const char *sub_path)
{
	return (struct subpath_request){
		.root_fd = world.root_fd,
		.root_path = world.root_path,
		.pod_uid = "u1",
		.volume_name = "data",
		.container = "main",
		.volume_path = world.volume_path,
		.sub_path = sub_path,
	};
}

int subpath_world_bind_request(const struct subpath_request *request)
{
	cleanup(subpath_done) struct subpath subpath = SUBPATH_EMPTY;
	int r;

	world.failure = (struct failure){ .error = 0 };
	r = subpath_open(request, &subpath, &world.failure);
	if (r < 0)
		return r;
	r = subpath_bind(&subpath, &world.failure);
	if (r < 0)
		subpath_undo(request, &subpath);
	return r;
}

int subpath_world_bind(const char *sub_path)
{
	const struct subpath_request request = subpath_world_request(sub_path);

	return subpath_world_bind_request(&request);
}

const struct failure *subpath_world_failure(void)
{
	return &world.failure;
}

int subpath_world_clean(const char *volume_name)
{
	world.failure = (struct failure){ .error = 0 };
	return subpath_clean(world.root_fd, world.root_path, "u1", volume_name, &world.failure);
}

void subpath_world_link(const char *points_to, const char *relative)
{
	assert_return_code(symlink(points_to, sandbox_path(relative)), errno);
}

bool sandbox_is_there(const char *relative)
{
	return faccessat(sandbox_fd(), relative, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

unsigned int sandbox_mode(const char *relative)
{
	struct stat status;

	assert_return_code(lstat(sandbox_path(relative), &status), errno);
	return status.st_mode & 07777;
}
