/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load - the rows of a store become its objects, at a start; on the thread that opens it
 *
 * One bad row does not stop the start: it is reported and kept, not served, and its name stays
 * taken.
 *
 * A store that is closed records a sum over all its rows, and the program that holds them for
 * valid. When the next process is that same program and the sum is still right, types, defaults and
 * rules are not looked at again. A row that is torn, was changed by hand or was written by another
 * program changes the sum, and so does a bad one: then every row is checked in full. The sum finds
 * damage; who may write the file may write the sum, too.
 */
#pragma once

#include "base/failure.h"
#include "store/cache.h"
#include "store/database.h"

/* A list of rows that this version cannot decode; NULL is an empty one. */
struct unreadable;

bool unreadable_has(const struct unreadable *list, const struct store_key *key);
/* Return: NULL. */
struct unreadable *unreadable_free(struct unreadable *list);

/* Where the rows go. */
struct load {
	struct cache *cache;
	struct unreadable **unreadables;
	uint64_t program; /* program_id() */
};

/**
 * load_objects - fill the cache; blocks
 * @ret_version: the newest one that was committed
 *
 * Return: 0; -ENOMEM; as database_load().
 */
int load_objects(const struct load *load, struct database *database, uint64_t *ret_version,
		 struct failure *reterr);

/* The same for the file of events. Some that are newer than @version are of another store: then all
 * are removed. */
int load_events(const struct load *load, struct database *database, uint64_t version,
		struct failure *reterr);

/* The database has the rows of what is in the cache but for @unstored_kinds (a set of 1 << kind):
 * record that for the next process. Without a record that process checks all rows; blocks. */
void load_record(const struct cache *cache, unsigned int unstored_kinds, uint64_t program,
		 struct database *database);
