/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_lock - one podvold to a directory: root, state and run directory
 *
 * An flock on the directory itself, by whatever name it is reached. It goes with the process at
 * once, also when one of its threads hangs: see base/lock_holder.h.
 */
#pragma once

#include "base/failure.h"
#include "base/lock_holder.h"

/**
 * directory_lock - lock a directory, or say who has it [start-up]
 * @fd:   of the directory; O_PATH will do; stays the caller's
 * @kind: "root": of which kind of directory the text speaks
 *
 * Return: 0; -EBUSY another process has it (the text names its pid when known); else as open(2),
 * flock(2) and lock_holder_new().
 */
int directory_lock(int fd, const char *kind, const char *path, struct lock_holder **ret,
		   struct failure *reterr);

/**
 * database_lock - keep other programs from opening one of our SQLite files [start-up]
 * @name: of the file in @directory, which is there
 *
 * SQLite takes no locks here, because they would outlive the process with a thread that hangs. To
 * others the file would look unused: the last one to close it puts its log into it and removes the
 * log, and what is written to that from then on is lost. So the bytes that SQLite locks are locked
 * for it, by an open file description that goes with the process.
 *
 * Return: 0; -EBUSY another program has it open; else as open(2), fcntl(2), lock_holder_new().
 */
int database_lock(const char *directory, const char *name, struct lock_holder **ret,
		  struct failure *reterr);

/**
 * directory_check_private - is a directory root's (or this process's user's), and written by no
 * other?
 * @fd:   may be O_PATH
 * @kind: "state", "run": for the message, which names --KIND-dir
 *
 * Return: 0; -EPERM it is not; else as fstat(2).
 */
int directory_check_private(int fd, const char *kind, const char *path, struct failure *reterr);
