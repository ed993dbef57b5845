/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded - open or make the SQLite store of this node
 *
 * The file is read on a thread of its own, so that a start can look at other things meanwhile. A
 * file that is no store, or a newer one, is refused, never overwritten. An object that no longer
 * decodes is kept, logged and not served, and its name stays taken.
 */
#pragma once

#include "store/store.h"

/* A store that is being read, by one thread alone. */
struct store_opening;

/* Once, before any file of SQLite is opened: memory for the pages of a file is allocated page by
 * page, and not for twenty at once, of which an idle process uses two or three. */
void store_memory_begin(void);

/* The database is state_dir/store.db; made with mode 0600 when absent. Blocks for nothing. Return:
 * NULL: no memory. */
struct store_opening *store_open_begin(const char *state_dir);
/* Waits until all is read, and closes it again. Accepts NULL. Return: NULL. */
struct store_opening *store_open_cancel(struct store_opening *opening);

/**
 * store_open_embedded - the store, once all of it is read
 * @event:   loop on which callbacks come
 * @opening: what store_open_begin() returned, NULL included; taken, also on failure
 * @reterr:  says which file and why
 *
 * Blocks (start-up only) until everything is read.
 *
 * Return: 0; -EUCLEAN damaged or no store; -EPROTO made by a newer podvol; -EBUSY another process
 * has it; -ENOMEM; else what SQLite met (-EIO, -ENOSPC, -EACCES).
 */
int store_open_embedded(sd_event *event, struct store_opening *opening, struct store **ret,
			struct failure *reterr);
