/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_lock - a lock and a mark on a volume's directory; see restore_lock.h
 */
#include "mount/restore_lock.h"

#include "base/cleanup.h"
#include "mount/directory_lock.h"
#include "mount/safe_path.h"
#include "mount/volume_directory.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>

int restore_lock_take(int fd, const char *path, struct failure *reterr)
{
	assert(fd >= 0 && path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			       ? failed_plain(reterr, -EBUSY,
					      "'%s' is being backed up, restored or removed by "
					      "somebody else",
					      path)
			       : failed(reterr, -errno, "cannot lock '%s'", path);
	/* One that is there says that a restore was broken off, and stays. */
	if (fsetxattr(fd, VOLUME_PARTIAL_MARK, RESTORE_CLAIMED, strlen(RESTORE_CLAIMED),
		      XATTR_CREATE) < 0 &&
	    errno != EEXIST && errno != EOPNOTSUPP)
		return failed(reterr, -errno, "cannot mark '%s' as being restored", path);
	return 0;
}

void restore_lock_leave(int fd)
{
	assert(fd >= 0);
	if (!volume_directory_is_partial(fd))
		(void) fremovexattr(fd, VOLUME_PARTIAL_MARK);
}

int restore_lock_check(int fd, const char *path, struct failure *reterr)
{
	const struct fd_path by_name = fd_path(fd);
	cleanup_close int lock_fd = -EBADF;
	int pid;

	assert(fd >= 0 && path);
	if (getxattr(by_name.text, VOLUME_PARTIAL_MARK, NULL, 0) < 0)
		return 0;
	lock_fd = open(by_name.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock_fd < 0 || flock(lock_fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	pid = directory_lock_owner(lock_fd);
	if (pid > 0)
		return failed_plain(reterr, -EBUSY,
				    "'%s' is being restored by pid %d: it is not mounted meanwhile",
				    path, pid);
	return failed_plain(reterr, -EBUSY, "'%s' is being restored: it is not mounted meanwhile",
			    path);
}
