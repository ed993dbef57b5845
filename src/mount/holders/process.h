/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process - what /proc says of one process or thread, for those who look for users of a mount
 *
 * Everything is asked of a directory that was opened once, so that it is about one process even
 * when its number is used again; one that ended answers -ESRCH or -ENOENT. Nothing here looks a
 * name up in a mount or asks a file system for an attribute: a dead server does not stop it.
 * Changes nothing.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MOUNT_TABLE_BYTES_MAX = 128 * 1024 * 1024, /* bytes of one table of mounts */
	COMMAND_BYTES = 16,
};

/* Is it about us and not about a process that ended, or may not be looked at? */
static inline bool process_error_is_ours(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* Does the error prove that the task is gone? No other one does: a call that failed has seen
 * nothing. */
static inline bool process_error_is_gone(int error)
{
	return error == -ENOENT || error == -ESRCH;
}

/* The error of a call on a task's directory: -ESRCH when the task ended meanwhile, for which some
 * files of /proc have other errors (EACCES, EINVAL). */
int process_error_of(int process_fd, int error);

/* A directory below @fd ("4711", "task", "fd"), to be read; O_NOFOLLOW. Return: a descriptor. */
int process_open_directory(int fd, const char *name);

/* The inode of its mount namespace. Return: 0; -EACCES, -EPERM it may not be looked at. */
int process_namespace(int process_fd, uint64_t *ret);

/* A short file of /proc, by a path below @fd, in one read; ended by NUL. Return: 0; else as the
 * calls. */
int process_read_short(int fd, const char *name, char *text, size_t size);

/* Its "comm" as it is; "" when it cannot be read. */
void process_command(int process_fd, char command[COMMAND_BYTES]);

/* Its real uid, as our user namespace names it; -1 cast to uid_t when it cannot be read. */
uid_t process_uid(int process_fd);

/* Its table of mounts, ended by NUL; free with free(). -E2BIG it has more than @bytes_max. */
int process_mounts(int process_fd, size_t bytes_max, char **ret);

/* A pidfd of a process that is in @mount_namespace still, 0: in any; -EBADF: it is not, or there
 * are none. */
int process_pin(pid_t pid, uint64_t mount_namespace);

/**
 * process_link_mount - the mount that a link of /proc leads to: "cwd", "root", "exe"
 * @ret: the reused small id, as in a table of mounts
 *
 * The kernel jumps to where it leads: no name is looked up.
 */
int process_link_mount(int process_fd, const char *link, uint64_t *ret);

/* The mount of a descriptor, by what "fdinfo/<fd>" says: opens nothing but that. */
int process_descriptor_mount(int process_fd, const char *fd, uint64_t *ret);

/* Is it a zombie, or gone? Then it has no mounts and nothing open. One whose first thread alone
 * ended lives on. */
bool process_has_ended(int process_fd);

/* Does a thread of it wait in the kernel where nothing can end it? Then its memory map may be
 * locked, and is not read. */
bool process_is_stuck(int process_fd);

/**
 * process_walk_threads - those that have directories or descriptors of their own
 * @visit: with the thread's directory; false ends the walk
 *
 * So has each that lives in another mount namespace, and each when the first one ended. Return: 0;
 * else some were not looked at, and which is not known.
 */
int process_walk_threads(int process_fd, pid_t pid, bool (*visit)(int task_fd, void *userdata),
			 void *userdata);

/* A mapped file; several pieces of one that follow each other are reported once. */
struct process_map {
	dev_t device;
	const char *path;
	char link[64]; /* "map_files/..." below the process's directory */
};
/* Reads what a lock of the process guards: see process_is_stuck(). Return: 0 all of them were
 * visited, or the process is gone; else as the calls: others were not. */
int process_walk_maps(int process_fd, void (*visit)(const struct process_map *map, void *userdata),
		      void *userdata);

/* ---- a table of mounts as text ---- */

/* A copy of one line, to be taken apart. NULL: no memory. */
char *table_copy_line(const char *line);
/* "" after the last. */
const char *table_next_line(const char *line);
