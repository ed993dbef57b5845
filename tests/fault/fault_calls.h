/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_calls - the calls that can be made to fail, and the errors that fit each
 *
 * The first error is the one of faults_arm(). Calls whose failure the man pages exclude, such as
 * clock_gettime(2), are not here. What a thread or a library can report only as one error has
 * that one. Shared by faults.c and fault_wraps.c; tests include faults.h.
 */
#pragma once

#define FAULT_CALLS(CALL)                                                                          \
	CALL(access, EIO, ENOMEM)                                                                  \
	CALL(asprintf, ENOMEM)                                                                     \
	CALL(blkid_do_safeprobe, EIO)                                                              \
	CALL(blkid_new_probe, ENOMEM)                                                              \
	CALL(blkid_probe_set_device, EIO)                                                          \
	CALL(calloc, ENOMEM)                                                                       \
	CALL(cjson_malloc, ENOMEM)                                                                 \
	CALL(close, EIO)                                                                           \
	CALL(eventfd, EMFILE)                                                                      \
	CALL(faccessat, EIO)                                                                       \
	CALL(fanotify_init, EMFILE, ENOMEM)                                                        \
	CALL(fanotify_mark, ENOMEM, ENOSPC)                                                        \
	CALL(fchmod, EIO)                                                                          \
	CALL(fchmodat2, EIO, ENOSPC)                                                               \
	CALL(fchownat, EIO, ENOSPC)                                                                \
	CALL(fcntl, EIO, EMFILE)                                                                   \
	CALL(fchown, EIO, ENOSPC)                                                                  \
	CALL(fdopendir, EIO, ENOMEM)                                                               \
	CALL(flock, EIO, EINTR)                                                                    \
	CALL(fopen, EIO, EMFILE)                                                                   \
	CALL(fsconfig, EIO, ENOMEM)                                                                \
	CALL(fsmount, EIO, EMFILE, ENOMEM)                                                         \
	CALL(fsopen, EIO, EMFILE)                                                                  \
	CALL(fstat, EIO)                                                                           \
	CALL(fstatat, EIO, ENOMEM)                                                                 \
	CALL(fstatfs, EIO, EINTR)                                                                  \
	CALL(fsync, EIO, ENOSPC)                                                                   \
	CALL(getdents64, EIO)                                                                      \
	CALL(getentropy, EIO)                                                                      \
	CALL(getrandom, EAGAIN, EINTR)                                                             \
	CALL(inotify_add_watch, ENOSPC, ENOMEM)                                                    \
	CALL(inotify_init1, EMFILE)                                                                \
	CALL(ioctl, EIO, EBUSY)                                                                    \
	CALL(listmount, EIO, ENOMEM)                                                               \
	CALL(malloc, ENOMEM)                                                                       \
	CALL(mkdirat, EIO, ENOSPC)                                                                 \
	CALL(mount, EIO, EBUSY, ENOMEM)                                                            \
	CALL(mount_setattr, EIO, EBUSY)                                                            \
	CALL(move_mount, EIO, EBUSY, ENOSPC)                                                       \
	CALL(name_to_handle_at, EIO, ENOMEM)                                                       \
	CALL(open, EIO, EMFILE, EINTR)                                                             \
	CALL(open_memstream, ENOMEM)                                                               \
	CALL(open_tree, EIO, EMFILE, ENOMEM)                                                       \
	CALL(openat, EIO, EMFILE, EINTR)                                                           \
	CALL(openat2, EIO, EMFILE, ENOMEM, EAGAIN)                                                 \
	CALL(opendir, EIO, EMFILE)                                                                 \
	CALL(pidfd_open, EMFILE, ENOMEM)                                                           \
	CALL(pipe2, EMFILE)                                                                        \
	CALL(poll, EINTR, ENOMEM)                                                                  \
	CALL(posix_spawn, EAGAIN, ENOMEM)                                                          \
	CALL(pread, EIO, EINTR)                                                                    \
	CALL(pthread_create, EAGAIN)                                                               \
	CALL(read, EIO, EINTR)                                                                     \
	CALL(readdir, EIO)                                                                         \
	CALL(readlink, EIO, ENOMEM)                                                                \
	CALL(readlinkat, EIO, ENOMEM)                                                              \
	CALL(realloc, ENOMEM)                                                                      \
	CALL(reallocarray, ENOMEM)                                                                 \
	CALL(recv, EIO, EINTR)                                                                     \
	CALL(renameat, EIO, ENOSPC)                                                                \
	CALL(response_from_buffer, ENOMEM)                                                         \
	CALL(response_from_callback, ENOMEM)                                                       \
	CALL(sd_event_add_defer, ENOMEM)                                                           \
	CALL(sd_event_add_io, ENOMEM, EMFILE)                                                      \
	CALL(sd_event_add_time, ENOMEM, EMFILE)                                                    \
	CALL(sd_event_source_set_enabled, ENOMEM)                                                  \
	CALL(sqlite_malloc, ENOMEM)                                                                \
	CALL(sqlite_open, EMFILE, EIO)                                                             \
	CALL(sqlite_pread, EIO)                                                                    \
	CALL(sqlite_pwrite, ENOSPC, EIO)                                                           \
	CALL(sqlite_truncate, EIO)                                                                 \
	CALL(stat, EIO, ENOMEM)                                                                    \
	CALL(statfs, EIO, EINTR)                                                                   \
	CALL(statmount, EIO, ENOMEM)                                                               \
	CALL(statvfs, EIO, EINTR)                                                                  \
	CALL(statx, EIO, ENOMEM)                                                                   \
	CALL(strdup, ENOMEM)                                                                       \
	CALL(strndup, ENOMEM)                                                                      \
	CALL(symlinkat, EIO, ENOSPC)                                                               \
	CALL(timerfd_create, EMFILE)                                                               \
	CALL(umount2, EIO, EBUSY)                                                                  \
	CALL(unlinkat, EIO, EBUSY)                                                                 \
	CALL(vasprintf, ENOMEM)                                                                    \
	CALL(waitpid, EINTR)                                                                       \
	CALL(write, EIO, ENOSPC, EINTR)                                                            \
	CALL(yaml_parser_parse, ENOMEM)

#define FAULT_CALL_NUMBER(name, ...) FAULT_##name,
enum fault_call { FAULT_CALLS(FAULT_CALL_NUMBER) FAULT_CALL_COUNT };

/* Counts a visit; the errno that it shall fail with, also in errno; 0: it does not. */
int fault_of(enum fault_call call);
