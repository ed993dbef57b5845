/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_wraps - a wrapper for each call of fault_calls.h: it fails when it is its turn, else it is
 * the real one
 *
 * The linker puts them in place (--wrap, or --wrap of what a library is handed). SQLite and cJSON
 * are shared libraries and take their functions at run time.
 */
#include "base/syscalls.h"
#include "fault_calls.h"
#include "faults.h"

#include <blkid/blkid.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>
#include <yaml.h>

/* The linker looks for a wrapper in place of whatever a shared library calls, too. */
#pragma GCC visibility push(default)

/* A wrapper of one call: its result type, name, failure, parameters and arguments. */
#define WRAP(type, name, failure, parameters, arguments)                                           \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fault_of(FAULT_##name) ? (failure) : __real_##name arguments;               \
	}

/* The same for calls that return their error and leave errno alone. */
#define WRAP_CODE(sign, name, parameters, arguments)                                               \
	int __real_##name parameters;                                                              \
	int __wrap_##name parameters;                                                              \
	int __wrap_##name parameters                                                               \
	{                                                                                          \
		int kept = errno;                                                                  \
		int error = fault_of(FAULT_##name);                                                \
                                                                                                   \
		errno = kept;                                                                      \
		return error ? sign error : __real_##name arguments;                               \
	}

/* ---- descriptors and files ---- */

WRAP(int, access, -1, (const char *path, int mode), (path, mode))
WRAP(int, faccessat, -1, (int fd, const char *path, int mode, int flags), (fd, path, mode, flags))
WRAP(int, fstat, -1, (int fd, struct stat *ret), (fd, ret))
WRAP(int, stat, -1, (const char *path, struct stat *ret), (path, ret))
WRAP(int, fstatat, -1, (int fd, const char *path, struct stat *ret, int flags),
     (fd, path, ret, flags))
WRAP(int, statx, -1, (int fd, const char *path, int flags, unsigned int mask, struct statx *ret),
     (fd, path, flags, mask, ret))
WRAP(int, fstatfs, -1, (int fd, struct statfs *ret), (fd, ret))
WRAP(int, statfs, -1, (const char *path, struct statfs *ret), (path, ret))
WRAP(int, statvfs, -1, (const char *path, struct statvfs *ret), (path, ret))
WRAP(int, fsync, -1, (int fd), (fd))
WRAP(ssize_t, read, -1, (int fd, void *ret, size_t size), (fd, ret, size))
WRAP(ssize_t, pread, -1, (int fd, void *ret, size_t size, off_t offset), (fd, ret, size, offset))
WRAP(ssize_t, write, -1, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRAP(ssize_t, readlink, -1, (const char *path, char *ret, size_t size), (path, ret, size))
WRAP(ssize_t, readlinkat, -1, (int fd, const char *path, char *ret, size_t size),
     (fd, path, ret, size))
WRAP(ssize_t, getdents64, -1, (int fd, void *ret, size_t size), (fd, ret, size))
WRAP(struct dirent *, readdir, NULL, (DIR * dir), (dir))
WRAP(DIR *, opendir, NULL, (const char *path), (path))
WRAP(DIR *, fdopendir, NULL, (int fd), (fd))
WRAP(FILE *, fopen, NULL, (const char *path, const char *mode), (path, mode))
WRAP(int, getentropy, -1, (void *ret, size_t size), (ret, size))
WRAP(ssize_t, getrandom, -1, (void *ret, size_t size, unsigned int flags), (ret, size, flags))
WRAP(int, pipe2, -1, (int fds[2], int flags), (fds, flags))
WRAP(int, poll, -1, (struct pollfd * fds, nfds_t count, int msec), (fds, count, msec))
WRAP(int, eventfd, -1, (unsigned int start, int flags), (start, flags))
WRAP(int, timerfd_create, -1, (int clock, int flags), (clock, flags))
WRAP(int, pidfd_open, -1, (pid_t pid, unsigned int flags), (pid, flags))
WRAP(int, inotify_init1, -1, (int flags), (flags))
WRAP(int, inotify_add_watch, -1, (int fd, const char *path, uint32_t mask), (fd, path, mask))
WRAP(int, name_to_handle_at, -1,
     (int fd, const char *name, struct file_handle *ret, int *ret_mount, int flags),
     (fd, name, ret, ret_mount, flags))
WRAP(int, fanotify_init, -1, (unsigned int flags, unsigned int event_flags), (flags, event_flags))
WRAP(int, fanotify_mark, -1,
     (int fd, unsigned int flags, uint64_t mask, int dir_fd, const char *path),
     (fd, flags, mask, dir_fd, path))
WRAP(ssize_t, recv, -1, (int fd, void *ret, size_t size, int flags), (fd, ret, size, flags))
WRAP(int, flock, -1, (int fd, int operation), (fd, operation))

int __real_close(int fd);
int __wrap_close(int fd);
int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __real_openat(int fd, const char *path, int flags, mode_t mode);
int __wrap_openat(int fd, const char *path, int flags, mode_t mode);
int __real_fcntl(int fd, int command, long argument);
int __wrap_fcntl(int fd, int command, long argument);
int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);

/* As Linux does it: the descriptor is gone all the same. */
int __wrap_close(int fd)
{
	int error = fault_of(FAULT_close);
	int result = __real_close(fd);

	if (!error || result < 0)
		return result;
	errno = error;
	return -1;
}

int __wrap_open(const char *path, int flags, mode_t mode)
{
	return fault_of(FAULT_open) ? -1 : __real_open(path, flags, mode);
}

int __wrap_openat(int fd, const char *path, int flags, mode_t mode)
{
	return fault_of(FAULT_openat) ? -1 : __real_openat(fd, path, flags, mode);
}

int __wrap_fcntl(int fd, int command, long argument)
{
	return fault_of(FAULT_fcntl) ? -1 : __real_fcntl(fd, command, argument);
}

int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	return fault_of(FAULT_ioctl) ? -1 : __real_ioctl(fd, request, argument);
}

/* ---- what changes directories and mounts ---- */

WRAP(int, openat2, -1, (int fd, const char *path, const struct open_how *how, size_t size),
     (fd, path, how, size))
WRAP(int, open_tree, -1, (int fd, const char *path, unsigned int flags), (fd, path, flags))
WRAP(int, mount_setattr, -1,
     (int fd, const char *path, unsigned int flags, struct mount_attr *attr, size_t size),
     (fd, path, flags, attr, size))
WRAP(int, move_mount, -1,
     (int from_fd, const char *from, int to_fd, const char *to, unsigned int flags),
     (from_fd, from, to_fd, to, flags))
WRAP(int, fsopen, -1, (const char *type, unsigned int flags), (type, flags))
WRAP(int, fsconfig, -1, (int fd, unsigned int command, const char *key, const void *value, int aux),
     (fd, command, key, value, aux))
WRAP(int, fsmount, -1, (int fd, unsigned int flags, unsigned int attributes),
     (fd, flags, attributes))
WRAP(int, mount, -1,
     (const char *source, const char *target, const char *type, unsigned long flags,
      const void *data),
     (source, target, type, flags, data))
WRAP(int, umount2, -1, (const char *path, int flags), (path, flags))
WRAP(int, mkdirat, -1, (int fd, const char *path, mode_t mode), (fd, path, mode))
WRAP(int, unlinkat, -1, (int fd, const char *path, int flags), (fd, path, flags))
WRAP(int, symlinkat, -1, (const char *target, int fd, const char *path), (target, fd, path))
WRAP(int, renameat, -1, (int from_fd, const char *from, int to_fd, const char *to),
     (from_fd, from, to_fd, to))
WRAP(int, fchown, -1, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
WRAP(int, fchownat, -1, (int fd, const char *path, uid_t uid, gid_t gid, int flags),
     (fd, path, uid, gid, flags))
WRAP(int, fchmodat2, -1, (int fd, const char *path, mode_t mode, unsigned int flags),
     (fd, path, mode, flags))
WRAP(ssize_t, listmount, -1,
     (const struct mount_id_request *request, uint64_t *ids, size_t count, unsigned int flags),
     (request, ids, count, flags))
WRAP(int, statmount, -1,
     (const struct mount_id_request *request, void *ret, size_t size, unsigned int flags),
     (request, ret, size, flags))

/* ---- processes and threads ---- */

WRAP(pid_t, waitpid, -1, (pid_t pid, int *ret, int flags), (pid, ret, flags))
WRAP_CODE(+, pthread_create,
	  (pthread_t * ret, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
	  (ret, attributes, run, argument))
WRAP_CODE(+, posix_spawn,
	  (pid_t * ret, const char *path, const posix_spawn_file_actions_t *actions,
	   const posix_spawnattr_t *attributes, char *const *argv, char *const *environment),
	  (ret, path, actions, attributes, argv, environment))

/* ---- allocations ---- */

WRAP(void *, malloc, NULL, (size_t size), (size))
WRAP(void *, calloc, NULL, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, NULL, (void *old, size_t size), (old, size))
WRAP(void *, reallocarray, NULL, (void *old, size_t count, size_t size), (old, count, size))
WRAP(char *, strdup, NULL, (const char *text), (text))
WRAP(char *, strndup, NULL, (const char *text, size_t size), (text, size))
WRAP(FILE *, open_memstream, NULL, (char **ret, size_t *ret_size), (ret, ret_size))

int __real_vasprintf(char **ret, const char *format, va_list arguments);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments);
int __wrap_asprintf(char **ret, const char *format, ...);

int __wrap_vasprintf(char **ret, const char *format, va_list arguments)
{
	if (fault_of(FAULT_vasprintf)) {
		*ret = NULL;
		return -1;
	}
	return __real_vasprintf(ret, format, arguments);
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list arguments;
	int result;

	if (fault_of(FAULT_asprintf)) {
		*ret = NULL;
		return -1;
	}
	va_start(arguments, format);
	result = __real_vasprintf(ret, format, arguments);
	va_end(arguments);
	return result;
}

/* ---- libraries ---- */

WRAP_CODE(-, sd_event_add_io,
	  (sd_event * event, sd_event_source **ret, int fd, uint32_t events,
	   sd_event_io_handler_t handler, void *userdata),
	  (event, ret, fd, events, handler, userdata))
WRAP_CODE(-, sd_event_add_defer,
	  (sd_event * event, sd_event_source **ret, sd_event_handler_t handler, void *userdata),
	  (event, ret, handler, userdata))
WRAP(blkid_probe, blkid_new_probe, NULL, (void), ())
WRAP(int, blkid_do_safeprobe, -1, (blkid_probe probe), (probe))
WRAP(int, blkid_probe_set_device, -1,
     (blkid_probe probe, int fd, blkid_loff_t offset, blkid_loff_t size), (probe, fd, offset, size))

int __real_sd_event_source_set_enabled(sd_event_source *source, int enabled);
int __wrap_sd_event_source_set_enabled(sd_event_source *source, int enabled);
struct MHD_Response *__real_MHD_create_response_from_buffer(size_t size, void *bytes,
							    enum MHD_ResponseMemoryMode mode);
struct MHD_Response *__wrap_MHD_create_response_from_buffer(size_t size, void *bytes,
							    enum MHD_ResponseMemoryMode mode);
struct MHD_Response *__real_MHD_create_response_from_callback(uint64_t size, size_t block,
							      MHD_ContentReaderCallback read,
							      void *userdata,
							      MHD_ContentReaderFreeCallback done);
struct MHD_Response *__wrap_MHD_create_response_from_callback(uint64_t size, size_t block,
							      MHD_ContentReaderCallback read,
							      void *userdata,
							      MHD_ContentReaderFreeCallback done);
int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);

/* Only a descriptor that is switched on takes something: a place in the kernel's set. */
int __wrap_sd_event_source_set_enabled(sd_event_source *source, int enabled)
{
	bool may_fail = enabled != SD_EVENT_OFF && sd_event_source_get_io_fd(source) >= 0;
	int error = may_fail ? fault_of(FAULT_sd_event_source_set_enabled) : 0;

	return error ? -error : __real_sd_event_source_set_enabled(source, enabled);
}

struct MHD_Response *__wrap_MHD_create_response_from_buffer(size_t size, void *bytes,
							    enum MHD_ResponseMemoryMode mode)
{
	if (fault_of(FAULT_response_from_buffer))
		return NULL;
	return __real_MHD_create_response_from_buffer(size, bytes, mode);
}

struct MHD_Response *__wrap_MHD_create_response_from_callback(uint64_t size, size_t block,
							      MHD_ContentReaderCallback read,
							      void *userdata,
							      MHD_ContentReaderFreeCallback done)
{
	if (fault_of(FAULT_response_from_callback))
		return NULL;
	return __real_MHD_create_response_from_callback(size, block, read, userdata, done);
}

int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
	if (!fault_of(FAULT_yaml_parser_parse))
		return __real_yaml_parser_parse(parser, event);
	*event = (yaml_event_t){ .type = YAML_NO_EVENT };
	parser->error = YAML_MEMORY_ERROR;
	return 0;
}

static void *json_malloc(size_t size)
{
	return fault_of(FAULT_cjson_malloc) ? NULL : __real_malloc(size);
}

/* ---- SQLite ---- */

static sqlite3_mem_methods sqlite_memory;
static int (*sqlite_open)(const char *path, int flags, int mode);
static ssize_t (*sqlite_pread)(int fd, void *ret, size_t size, off_t offset);
static ssize_t (*sqlite_pwrite)(int fd, const void *bytes, size_t size, off_t offset);
static int (*sqlite_truncate)(int fd, off_t size);

static void *fault_sqlite_malloc(int size)
{
	return fault_of(FAULT_sqlite_malloc) ? NULL : sqlite_memory.xMalloc(size);
}

static void *fault_sqlite_realloc(void *old, int size)
{
	return fault_of(FAULT_sqlite_malloc) ? NULL : sqlite_memory.xRealloc(old, size);
}

static int fault_sqlite_open(const char *path, int flags, int mode)
{
	return fault_of(FAULT_sqlite_open) ? -1 : sqlite_open(path, flags, mode);
}

static ssize_t fault_sqlite_pread(int fd, void *ret, size_t size, off_t offset)
{
	return fault_of(FAULT_sqlite_pread) ? -1 : sqlite_pread(fd, ret, size, offset);
}

static ssize_t fault_sqlite_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	return fault_of(FAULT_sqlite_pwrite) ? -1 : sqlite_pwrite(fd, bytes, size, offset);
}

static int fault_sqlite_truncate(int fd, off_t size)
{
	return fault_of(FAULT_sqlite_truncate) ? -1 : sqlite_truncate(fd, size);
}

/* The real one of SQLite's system calls, with the wrapper in its place. */
static sqlite3_syscall_ptr replace(sqlite3_vfs *vfs, const char *name, sqlite3_syscall_ptr ours)
{
	sqlite3_syscall_ptr real = vfs->xGetSystemCall(vfs, name);

	(void) vfs->xSetSystemCall(vfs, name, ours);
	return real;
}

#define REPLACE(name, real, ours)                                                                  \
	((real) = (__typeof__(real)) (void (*)(void)) replace(sqlite3_vfs_find(NULL), name,        \
							      (sqlite3_syscall_ptr) (ours)))

void faults_hook_libraries(void)
{
	cJSON_Hooks hooks = { .malloc_fn = json_malloc, .free_fn = free };
	sqlite3_mem_methods memory;
	void *here;

	(void) backtrace(&here, 1); /* loads a library the first time */
	cJSON_InitHooks(&hooks);
	(void) sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
	memory = sqlite_memory;
	memory.xMalloc = fault_sqlite_malloc;
	memory.xRealloc = fault_sqlite_realloc;
	(void) sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
	(void) sqlite3_initialize();
	REPLACE("open", sqlite_open, fault_sqlite_open);
	REPLACE("pread", sqlite_pread, fault_sqlite_pread);
	REPLACE("pwrite", sqlite_pwrite, fault_sqlite_pwrite);
	REPLACE("ftruncate", sqlite_truncate, fault_sqlite_truncate);
}
