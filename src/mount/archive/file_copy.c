/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_copy - the content of one file into another; see file_copy.h
 */
#include "mount/archive/file_copy.h"

#include "base/cleanup.h"

#include <assert.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum { PORTION_BYTES = 8 * 1024 * 1024, BUFFER_BYTES = 256 * 1024 };

int file_next_extent(int fd, uint64_t from, uint64_t size, struct file_extent *ret)
{
	off_t start = lseek(fd, (off_t) from, SEEK_DATA), end;

	*ret = (struct file_extent){ .start = from, .length = size - from };
	if (start < 0 && errno == ENXIO) {
		*ret = (struct file_extent){ .start = size };
		return 0;
	}
	if (start < 0)
		return errno == EINVAL || errno == EOPNOTSUPP ? 0 : -errno;
	if ((uint64_t) start >= size) {
		*ret = (struct file_extent){ .start = size };
		return 0;
	}
	end = lseek(fd, start, SEEK_HOLE);
	if (end < 0)
		return -errno;
	if ((uint64_t) end > size)
		end = (off_t) size;
	*ret = (struct file_extent){ .start = (uint64_t) start,
				     .length = (uint64_t) (end - start) };
	return 0;
}

/* By hand. Return: bytes, 0 at the end of the file, or an error. */
static ssize_t copy_through_memory(int from_fd, int to_fd, off_t at, size_t length)
{
	cleanup_free char *buffer = malloc(BUFFER_BYTES);
	ssize_t got, put = 0;

	if (!buffer)
		return -ENOMEM;
	got = pread(from_fd, buffer, length < BUFFER_BYTES ? length : BUFFER_BYTES, at);
	if (got < 0)
		return -errno;
	while (put < got) {
		ssize_t n = pwrite(to_fd, buffer + put, (size_t) (got - put), at + put);

		if (n < 0)
			return -errno;
		put += n;
	}
	return got;
}

/* Not between all file systems, and not of all files, does the kernel copy itself. */
static ssize_t copy_portion(int from_fd, int to_fd, off_t at, size_t length)
{
	off_t from = at, to = at;
	ssize_t n = copy_file_range(from_fd, &from, to_fd, &to, length, 0);

	if (n > 0)
		return n;
	if (n < 0 && errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS &&
	    errno != EBADF && errno != ETXTBSY && errno != EPERM)
		return -errno;
	return copy_through_memory(from_fd, to_fd, at, length);
}

static int copy_extent(int from_fd, int to_fd, const struct file_extent *extent,
		       const atomic_bool *cancel, _Atomic uint64_t *copied)
{
	uint64_t at = extent->start, end = extent->start + extent->length;

	while (at < end) {
		size_t length = end - at < PORTION_BYTES ? (size_t) (end - at) : PORTION_BYTES;
		ssize_t n;

		if (cancel && atomic_load(cancel))
			return -ECANCELED;
		n = copy_portion(from_fd, to_fd, (off_t) at, length);
		if (n <= 0)
			return (int) n; /* cut off meanwhile: the rest stays a hole */
		at += (uint64_t) n;
		if (copied)
			atomic_fetch_add(copied, (uint64_t) n);
	}
	return 0;
}

int file_copy(int from_fd, int to_fd, const atomic_bool *cancel, _Atomic uint64_t *copied,
	      struct failure *reterr)
{
	struct stat status;
	uint64_t at = 0, size;
	int r = 0;

	assert(from_fd >= 0 && to_fd >= 0);
	if (ioctl(to_fd, FICLONE, from_fd) == 0)
		return 1;
	if (fstat(from_fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect the file");
	size = (uint64_t) status.st_size;
	if (ftruncate(to_fd, status.st_size) < 0)
		return failed(reterr, -errno, "cannot make the copy as large");
	while (r == 0 && at < size) {
		struct file_extent extent;

		r = file_next_extent(from_fd, at, size, &extent);
		if (r == 0)
			r = copy_extent(from_fd, to_fd, &extent, cancel, copied);
		at = extent.start + extent.length;
	}
	return r < 0 ? failed(reterr, r, "cannot copy the file") : 0;
}
