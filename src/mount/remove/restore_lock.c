/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore_lock - a lock and a mark on a volume's directory; see restore_lock.h
 */
#include "mount/remove/restore_lock.h"

#include "base/cleanup.h"
#include "mount/path/safe_path.h"
#include "mount/remove/volume_directory.h"
#include "mount/remove/volume_lock.h"

#include <assert.h>
#include <string.h>
#include <sys/xattr.h>

int restore_lock_take(int fd, const char *path, int *ret_lock_fd, struct failure *reterr)
{
	cleanup(volume_lock_releasep) int lock_fd = -EBADF;
	int r;

	assert(fd >= 0 && path && ret_lock_fd);
	r = volume_lock_take(fd, VOLUME_LOCK_EXCLUSIVE, path, &lock_fd, reterr);
	if (r < 0)
		return r;
	/* One that is there says that a restore was broken off, and stays. */
	if (fsetxattr(fd, VOLUME_PARTIAL_MARK, RESTORE_CLAIMED, strlen(RESTORE_CLAIMED),
		      XATTR_CREATE) < 0 &&
	    errno != EEXIST && errno != EOPNOTSUPP)
		return failed(reterr, -errno, "cannot mark '%s' as being restored", path);
	*ret_lock_fd = TAKE_FD(lock_fd);
	return 0;
}

void restore_lock_end(int fd)
{
	assert(fd >= 0);
	if (!volume_directory_is_partial(fd))
		(void) fremovexattr(fd, VOLUME_PARTIAL_MARK);
}

int restore_lock_check(int fd, const char *path, struct failure *reterr)
{
	cleanup(volume_lock_releasep) int lock_fd = -EBADF;
	int r;

	assert(fd >= 0 && path);
	if (getxattr(fd_path(fd).text, VOLUME_PARTIAL_MARK, NULL, 0) < 0)
		return 0;
	r = volume_lock_take(fd, VOLUME_LOCK_SHARED, path, &lock_fd, reterr);
	if (r < 0)
		(void) failure_prefix(reterr, "not mounted meanwhile");
	return r;
}
