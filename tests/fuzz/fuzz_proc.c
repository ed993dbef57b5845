/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_proc - texts of /proc whose parts are chosen by the owner of a process
 *
 * The first byte says which text the rest is: "s" a process's stat, whose name may hold anything,
 * as a hold reads it; "k" the command line of a process that calls itself kubelet; "m" a whole
 * table of mounts.
 *
 * Link with -Wl,--wrap=pread,--wrap=read,--wrap=openat,--wrap=opendir
 */
#include "fuzz.h"

#include "inuse/hold_watch.h"
#include "base/cleanup.h"
#include "mount/table/mount_list.h"
#include "other_kubelet.h"
#include "state/holds.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

ssize_t __real_pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t __real_read(int fd, void *buffer, size_t size);
int __real_openat(int directory_fd, const char *name, int flags, ...);
DIR *__real_opendir(const char *name);
ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
int __wrap_openat(int directory_fd, const char *name, int flags, ...);
DIR *__wrap_opendir(const char *name);

/* What is read instead of files; NULL: the files. */
static const uint8_t *text;
static size_t text_size;
static enum { NOTHING_OPEN, COMM_OPEN, COMMAND_LINE_OPEN } opened;

ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset)
{
	size_t left = (size_t) offset < text_size ? text_size - (size_t) offset : 0;

	if (!text)
		return __real_pread(fd, buffer, size, offset);
	if (size > left)
		size = left;
	if (size > 0)
		memcpy(buffer, text + offset, size);
	return (ssize_t) size;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	static const char name[] = "kubelet\n";

	if (opened == NOTHING_OPEN)
		return __real_read(fd, buffer, size);
	if (opened == COMMAND_LINE_OPEN)
		return __wrap_pread(fd, buffer, size, 0);
	HOLDS(size >= sizeof(name));
	memcpy(buffer, name, sizeof(name) - 1);
	return sizeof(name) - 1;
}

int __wrap_openat(int directory_fd, const char *name, int flags, ...)
{
	if (!text)
		return __real_openat(directory_fd, name, flags, 0);
	opened = strstr(name, "/comm") ? COMM_OPEN : COMMAND_LINE_OPEN;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Any directory with a number in it: the descriptors of this process. */
DIR *__wrap_opendir(const char *name)
{
	return __real_opendir(strcmp(name, "PROC") == 0 ? "/proc/self/fd" : name);
}

/* ---- what reads ---- */

/* In the right text of this very process the time is behind the last parenthesis. */
static void check_stat(void)
{
	const struct hold hold = { .kind = HOLD_PROCESS, .pid = getpid() };
	struct hold_identity identity;
	struct failure why = { 0 };
	int fd = -EBADF;
	int r = hold_target_open(&hold, &identity, &fd, &why);

	HOLDS(r == 0 || r == -EIO || r == -EOPNOTSUPP);
	if (r == 0)
		HOLDS(fd >= 0);
	else
		HOLDS(why.text[0] != '\0');
	(void) close_keep_errno(fd);
}

static void check_command_line(void)
{
	struct failure why = { 0 };
	int r = other_kubelet_check("PROC", "/var/lib/kubelet", &why);

	HOLDS(r == 0 || (r == -EBUSY && why.text[0] != '\0'));
	opened = NOTHING_OPEN;
}

static void check_table(void)
{
	struct table_entries entries = { 0 };
	size_t lines = 1;

	for (size_t i = 0; i < text_size; i++)
		lines += text[i] == '\n';
	HOLDS(mount_list_read(-EBADF, &entries) == 0);
	HOLDS(entries.count <= lines);
	for (size_t i = 0; i < entries.count; i++) {
		const struct mount_entry *entry = &entries.items[i]->entry;

		HOLDS(*entry->mount_point != '\0' && *entry->type != '\0');
		HOLDS(!strchr(entry->options, ' '));
	}
	table_entries_done(&entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	text = data + 1;
	text_size = size - 1;
	if (data[0] == 's')
		check_stat();
	else if (data[0] == 'k')
		check_command_line();
	else
		check_table();
	text = NULL;
	return 0;
}
