/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - trees that a pod could make; see tree.h
 */
#include "tree.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

void tree_make_deep(const char *relative, unsigned int depth)
{
	int fd = open(sandbox_path(relative), O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (unsigned int i = 0; i < depth; i++) {
		int below_fd;

		assert_return_code(fd, errno);
		assert_return_code(mkdirat(fd, "d", 0755), errno);
		below_fd = openat(fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		(void) close(fd);
		fd = below_fd;
	}
	assert_return_code(fd, errno);
	(void) close(fd);
}

void tree_limit_descriptors(unsigned int count)
{
	static rlim_t before;
	struct rlimit limit;

	assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), errno);
	if (count > 0)
		before = limit.rlim_cur;
	limit.rlim_cur = count > 0 ? count : before;
	assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
}
