/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group - writes that are admitted together and committed as one transaction
 *
 * A write is judged against the newest version: the one an earlier write of the same group makes,
 * else the committed one. Only one group is under way, so what it was judged against cannot fail
 * without it. Judges and remembers; stores nothing and calls no one.
 */
#pragma once

#include "object/admit.h"
#include "store/cache.h"
#include "store/database.h"
#include "store/mirror.h"
#include "store/pairs.h"
#include "store/store.h"

#include <stdbool.h>
#include <sys/types.h>

/* A requested write; owned by the queue, then by the group. */
struct write {
	struct write *next;
	enum admit_verb verb;
	enum object_kind kind;
	const struct object *object;   /* NULL for a delete */
	char *name_space, *name, *uid; /* uid NULL: expects nothing */
	uint64_t expected_version;     /* 0: expects nothing */
	bool follows;                  /* refused when the write before it is */
	bool dry_run;
	bool ends_move;
	bool has_grace; /* of a delete, for the server */
	int64_t grace_seconds;
	bool touches;        /* changes nothing: see touch.h */
	bool mirrors;        /* a server's object: it was admitted there, and is taken as it is */
	store_edit_fn *edit; /* makes @object again when there is another version; NULL: refused */
	store_done_fn *done;
	void *userdata;
};

/* @key: "namespace, name" of what is written. Return: the write or NULL: no memory. */
struct write *write_new(enum admit_verb verb, enum object_kind kind, const char *name_space,
			const char *name, const struct store_precondition *precondition);
/* Of a whole object, of which a reference is taken. Return: the same. */
struct write *write_of(enum admit_verb verb, const struct object *object,
		       const struct store_precondition *precondition);
struct write *write_free(struct write *write);

enum verdict {
	VERDICT_CHANGES,   /* becomes one change, and one row unless its kind lives in memory */
	VERDICT_UNCHANGED, /* answered with what is there */
	VERDICT_DRY_RUN,   /* answered as if it had become a row */
	VERDICT_REFUSED,
};

struct admitted {
	struct write *write;
	enum verdict verdict;
	bool relies_on_group; /* judged against a version that this group makes */
	bool is_relied_on;    /* by such a one */
	unsigned int hash;
	uint64_t resource_version;
	const struct object *old;    /* own reference; NULL: none */
	const struct object *result; /* own reference; NULL: removes, or refused */
	char *unbound;               /* the text of @result before it was bound; NULL: it was not */
	struct failure *failure;     /* of the group; zeroed unless something failed */
};

struct group {
	struct admitted members[STORE_GROUP_MAX];
	size_t count;
	uint64_t hashes[16]; /* a bit for each hash of a member that changes something */
	struct database_write rows[STORE_GROUP_MAX];
	size_t row_count;
	struct database_write unsynced_rows[STORE_GROUP_MAX]; /* of KIND_UNSYNCED */
	size_t unsynced_count;
	uint64_t resource_version; /* of the last member that changes something */
	bool has_unsynced;         /* a change whose version the disk may not have: Event, Lease */
	bool ended_refused;        /* the last member, or that of the group before */
	struct store_quota quota;
	ssize_t growth[STORE_PLACES]; /* what the members make of the cache's bytes */
	struct {
		store_uid_check_fn *check; /* NULL: stored pods alone are asked */
		void *userdata;
	} uids;
	struct {
		store_check_fn *check; /* NULL: none */
		void *userdata;
	} news;
	store_bind_fn *bind;     /* NULL: none is bound in the write that creates it */
	store_bind_fn *bind_new; /* of the groups to come: the thread has this one */
	unsigned int
		unstored_kinds; /* set of 1 << kind: never on disk, whatever their durability */
	struct {
		unsigned int kinds; /* whose writes go to a server */
		store_upstream_fn *take;
		void *userdata;
	} upstream;
	/* Apart, and read and written only of what fails: a megabyte that is resident only where it
	 * is used. */
	struct failure failures[STORE_GROUP_MAX];
};

/* Begin an empty group; the first change gets @resource_version + 1. */
void group_begin(struct group *group, uint64_t resource_version);

/**
 * group_add - judge a write; takes it
 * @cache:    committed objects; room for a created one is reserved in it
 * @is_taken: the name belongs to a stored object that cannot be read
 * @now_usec: real time
 *
 * The group must have room.
 */
void group_add(struct group *group, struct cache *cache, struct write *write, bool is_taken,
	       uint64_t now_usec);

/* The group was not stored: who changed something or relied on that gets this failure. */
void group_fail(struct group *group, const struct failure *failure);

/* Frees what the members hold. */
void group_end(struct group *group);

/* For pairs.c: does any member that changes something have this hash? And the hash of a key. */
bool group_may_have(const struct group *group, unsigned int hash);
unsigned int group_hash(enum object_kind kind, const char *name_space, const char *name);

/* ---- queue ---- */

/*
 * The inside of the embedded store, for the files of this folder alone
 *
 * embedded.c owns the queue of writes; mirror.c adds writes to it that no admission judges.
 */

/* Return: 0; -ECANCELED the store is closing; -ENOBUFS STORE_QUEUE_MAX writes are queued. */
int store_check_open(const struct store *store);
/* Takes @write, to be admitted in its turn. */
void store_queue_write(struct store *store, struct write *write);
/* The group under way and what all groups share. Borrowed. */
struct group *store_group(struct store *store);
