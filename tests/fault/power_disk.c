/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_disk - a disk in memory for SQLite; see power_disk.h
 *
 * What SQLite asks of a device (sectors, what it promises) is answered as its own file system on
 * Linux answers; a test compares the two.
 */
#include "power_disk.h"

#include "base/cleanup.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const endings[DISK_NAMES] = { "store.db", "store.db-journal", "store.db-wal" };
static const char *const kind_names[DISK_CHANGE_KINDS] = {
	"write", "truncate", "sync", "failed sync", "make", "remove", "sync of the names"
};

static struct power_disk *used;

struct disk_file {
	sqlite3_file base;
	int content, name;
	bool syncs_names;    /* with its first sync */
	bool is_removed_too; /* when it is closed */
};

/* ---- bytes ---- */

static void make_room(struct disk_content *content, size_t size)
{
	if (size <= content->allocated)
		return;
	content->allocated = 2 * size;
	content->bytes = realloc(content->bytes, content->allocated);
	assert(content->bytes);
}

void disk_content_truncate(struct disk_content *content, size_t size)
{
	make_room(content, size);
	if (size > content->size)
		memset(content->bytes + content->size, 0, size - content->size);
	content->size = size;
}

void disk_content_write(struct disk_content *content, size_t offset, const uint8_t *bytes,
			size_t length)
{
	if (offset + length > content->size)
		disk_content_truncate(content, offset + length);
	memcpy(content->bytes + offset, bytes, length);
}

/* ---- what is remembered ---- */

static struct disk_change *remember(enum disk_change_kind kind, int content)
{
	struct power_disk *disk = used;

	if (disk->change_count == disk->change_room) {
		disk->change_room = disk->change_room ? 2 * disk->change_room : 256;
		disk->changes =
			reallocarray(disk->changes, disk->change_room, sizeof(*disk->changes));
		assert(disk->changes);
	}
	disk->changes[disk->change_count] =
		(struct disk_change){ .kind = kind, .content = content };
	return &disk->changes[disk->change_count++];
}

static int make_content(int name)
{
	int content = used->content_count++;

	assert(content < DISK_CONTENTS_MAX);
	used->names[name] = content;
	remember(DISK_MAKE, content)->name = name;
	return content;
}

void power_disk_describe(const struct power_disk *disk, size_t change, char *text, size_t size)
{
	const struct disk_change *what = &disk->changes[change];
	int name = what->name;

	for (int i = 0; i < DISK_NAMES; i++)
		if (what->kind != DISK_MAKE && what->kind != DISK_REMOVE &&
		    disk->names[i] == what->content)
			name = i;
	(void) snprintf(text, size, "change %zu: %s of %s (content %d), %zu bytes at %zu", change,
			kind_names[what->kind], endings[name], what->content, what->length,
			what->offset);
}

/* ---- one file ---- */

static int file_close(sqlite3_file *base)
{
	struct disk_file *file = (struct disk_file *) base;

	if (file->is_removed_too && used->names[file->name] == file->content) {
		used->names[file->name] = -1;
		remember(DISK_REMOVE, file->content)->name = file->name;
	}
	return SQLITE_OK;
}

static struct disk_content *content_of(sqlite3_file *base)
{
	return &used->contents[((struct disk_file *) base)->content];
}

static int file_read(sqlite3_file *base, void *buffer, int amount, sqlite3_int64 offset)
{
	const struct disk_content *content = content_of(base);
	size_t at = (size_t) offset, wanted = (size_t) amount;
	size_t there = at < content->size ? content->size - at : 0;

	if (there >= wanted) {
		memcpy(buffer, content->bytes + at, wanted);
		return SQLITE_OK;
	}
	memset(buffer, 0, wanted);
	if (there > 0)
		memcpy(buffer, content->bytes + at, there);
	return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int amount, sqlite3_int64 offset)
{
	struct disk_change *change = remember(DISK_WRITE, ((struct disk_file *) base)->content);

	change->offset = (size_t) offset;
	change->length = (size_t) amount;
	change->bytes = malloc((size_t) amount);
	assert(change->bytes);
	memcpy(change->bytes, bytes, (size_t) amount);
	disk_content_write(content_of(base), change->offset, bytes, change->length);
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	remember(DISK_TRUNCATE, ((struct disk_file *) base)->content)->length = (size_t) size;
	disk_content_truncate(content_of(base), (size_t) size);
	return SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags)
{
	struct disk_file *file = (struct disk_file *) base;

	if (++used->syncs == used->failing_sync) {
		(void) remember(DISK_SYNC_FAILED, file->content);
		return SQLITE_IOERR_FSYNC;
	}
	(void) remember(DISK_SYNC, file->content);
	if (file->syncs_names)
		(void) remember(DISK_SYNC_NAMES, -1);
	file->syncs_names = false;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = (sqlite3_int64) content_of(base)->size;
	return SQLITE_OK;
}

/* There is no other process. */
static int file_lock(sqlite3_file *base, int lock)
{
	return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *base, int *is_reserved)
{
	*is_reserved = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument)
{
	return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *base)
{
	return 4096;
}

static int file_characteristics(sqlite3_file *base)
{
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* Version 1: a log needs no shared memory, for the store is the only one to open it. */
static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_check_lock,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
};

/* ---- names ---- */

static int name_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	for (int i = 0; i < DISK_NAMES; i++)
		if (slash && strcmp(slash + 1, endings[i]) == 0)
			return i;
	return -1;
}

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags,
		     int *ret_flags)
{
	struct disk_file *file = (struct disk_file *) base;
	int name = name_of(path);

	file->base.pMethods = NULL;
	if (name < 0)
		return SQLITE_CANTOPEN;
	if (used->names[name] < 0 && !(flags & SQLITE_OPEN_CREATE))
		return SQLITE_CANTOPEN;
	*file = (struct disk_file){
		.base.pMethods = &file_methods,
		.content = used->names[name] < 0 ? make_content(name) : used->names[name],
		.name = name,
		.syncs_names = (flags & SQLITE_OPEN_CREATE) &&
			       (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)),
		.is_removed_too = flags & SQLITE_OPEN_DELETEONCLOSE,
	};
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync_names)
{
	int name = name_of(path);

	if (name < 0 || used->names[name] < 0)
		return SQLITE_IOERR_DELETE_NOENT;
	remember(DISK_REMOVE, used->names[name])->name = name;
	used->names[name] = -1;
	if (sync_names)
		(void) remember(DISK_SYNC_NAMES, -1);
	return SQLITE_OK;
}

/* As on Linux: a file without bytes is not worth recovering. */
static int disk_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret)
{
	int name = name_of(path);

	*ret = name >= 0 && used->names[name] >= 0 &&
	       (flags != SQLITE_ACCESS_EXISTS || used->contents[used->names[name]].size > 0);
	return SQLITE_OK;
}

static int disk_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full)
{
	(void) snprintf(full, (size_t) size, "%s", path);
	return SQLITE_OK;
}

/* ---- the disk ---- */

struct power_disk *power_disk_new(void)
{
	struct power_disk *disk = calloc(1, sizeof(*disk)), *before = used;

	assert(disk);
	for (int i = 0; i < DISK_NAMES; i++)
		disk->names[i] = -1;
	used = disk;
	(void) make_content(0);
	used = before;
	return disk;
}

struct power_disk *power_disk_free(struct power_disk *disk)
{
	if (!disk)
		return NULL;
	assert(disk != used);
	for (size_t i = 0; i < disk->change_count; i++)
		free(disk->changes[i].bytes);
	for (int i = 0; i < disk->content_count; i++)
		free(disk->contents[i].bytes);
	free(disk->changes);
	free(disk);
	return NULL;
}

void power_disk_use(struct power_disk *disk)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *own;

	if (!vfs.zName) {
		own = sqlite3_vfs_find(NULL);
		vfs = *own; /* time, randomness */
		vfs.iVersion = 1;
		vfs.zName = "power-disk";
		vfs.szOsFile = sizeof(struct disk_file);
		vfs.xOpen = disk_open;
		vfs.xDelete = disk_delete;
		vfs.xAccess = disk_access;
		vfs.xFullPathname = disk_full_path;
	}
	if (disk && !used)
		(void) sqlite3_vfs_register(&vfs, 1);
	if (!disk && used)
		(void) sqlite3_vfs_unregister(&vfs);
	used = disk;
}
