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

/* Of podvold's own; zeroed: none is held. */
struct own_locks {
	struct lock_holder *state, *run;    /* the directories */
	struct lock_holder *store, *ledger; /* the databases in them */
};

/**
 * own_directories_make - podvold's own, where no service manager made them [start-up]
 *
 * Return: 0; else as make_host_directories() and volume_locks_open(), which is for the second.
 */
int own_directories_make(const char *state_dir, const char *run_dir, struct failure *reterr);

/**
 * own_directories_lock - lock both; each is root's (or this process's user's), and written by no
 * other [start-up]
 *
 * Return: 0; -EPERM it is not, and the message names --state-dir or --run-dir; else as
 * directory_lock() and fstat(2).
 */
int own_directories_lock(struct own_locks *locks, const char *state_dir, const char *run_dir,
			 struct failure *reterr);

/**
 * own_databases_lock - keep other programs from opening our SQLite files [start-up]
 * @store_dir: NULL: no store is open
 *
 * SQLite takes no locks here, because they would outlive the process with a thread that hangs. To
 * others the files would look unused: the last one to close one puts its log into it and removes
 * the log, and what is written to that from then on is lost. So the bytes that SQLite locks are
 * locked for it, by an open file description that goes with the process. Once they are open: a
 * damaged ledger was moved aside before that.
 *
 * Return: 0; -EBUSY another program has one open; else as open(2), fcntl(2), lock_holder_new().
 */
int own_databases_lock(struct own_locks *locks, const char *store_dir, const char *run_dir,
		       struct failure *reterr);

/* Lets go of all, the databases first. */
void own_locks_done(struct own_locks *locks);
