/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_archive - an archive that is to be restored into a volume
 *
 * Whatever it holds, nothing outside the volume is made, changed or linked to, no device is made
 * and the volume is known to be a part when it was not restored whole. The volume lies in memory
 * where there is such a file system.
 *
 * Link with -Wl,--wrap=syncfs
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mount/archive/volume_archive.h"
#include "mount/remove/volume_directory.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int __wrap_syncfs(int fd);

int __wrap_syncfs(int fd)
{
	return fd >= 0 ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void) (type == FTW_DP ? rmdir(path) : unlink(path));
	return 0;
}

static int check_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	HOLDS(!S_ISCHR(status->st_mode) && !S_ISBLK(status->st_mode));
	return 0;
}

/* "outside" stands beside the volume, with one file that has one name. */
static void check_outside(const char *top)
{
	char path[128];
	struct stat status;

	(void) snprintf(path, sizeof(path), "%s/outside", top);
	HOLDS(lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
	      status.st_size == 0 && (status.st_mode & 07777) == 0600);
	HOLDS(stat(top, &status) == 0 && status.st_nlink <= 3);
}

/* As a stream, or as a part of a backup. */
static void restore(const char *top, const uint8_t *data, size_t size, bool is_part)
{
	char path[128];
	cleanup_close int stream_fd = memfd_create("archive", MFD_CLOEXEC), root_fd = -EBADF;
	struct archive_request request = { .allow_links_out = size % 2 == 0 };
	struct archive_part part = { .name = "part" };
	struct archive_counts counts;
	struct failure why = { .error = 0 };
	int r;

	(void) snprintf(path, sizeof(path), "%s/volume", top);
	HOLDS(mkdir(path, 0700) == 0);
	root_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HOLDS(root_fd >= 0 && stream_fd >= 0);
	HOLDS(write(stream_fd, data, size) == (ssize_t) size);
	HOLDS(lseek(stream_fd, 0, SEEK_SET) == 0);
	part.fd = stream_fd;
	request.root_fd = root_fd;
	request.parts = &part;
	request.part_count = is_part ? 1 : 0;
	request.stream_fd = stream_fd;
	r = volume_archive_read(&request, &counts, &why);
	HOLDS(r == 0 || (r < 0 && why.text[0] != '\0'));
	HOLDS(r < 0 || !volume_directory_is_partial(root_fd));
	check_outside(top);
	HOLDS(nftw(path, check_one, 16, FTW_PHYS) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char top[] = "/dev/shm/podvol-fuzz.XXXXXX", other[] = "/tmp/podvol-fuzz.XXXXXX";
	const char *made = mkdtemp(top) ? top : mkdtemp(other);
	char path[128];
	int fd;

	HOLDS(made);
	(void) snprintf(path, sizeof(path), "%s/outside", made);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	HOLDS(fd >= 0);
	(void) close(fd);
	restore(made, data, size, false);
	(void) snprintf(path, sizeof(path), "%s/volume", made);
	(void) nftw(path, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	restore(made, data, size, true);
	(void) nftw(made, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	return 0;
}
