/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store - the one kind of input: Kubernetes objects to get, list, watch, create, update and delete
 *
 * All functions are called on the loop thread and never block: reads come from a cache that holds
 * exactly what is committed, writes are checked at once, queued, committed to SQLite in groups by a
 * thread of the store and answered through a callback on the loop.
 *
 * Order: the cache changes, then watchers are woken, then the writer's callback runs. A second
 * write to the same object waits for the first. A kill leaves what was answered, and no half write.
 *
 * Kinds that are not synced (enum kind_durability) are read, written and watched like all others:
 * leases are gone with the store, events survive a kill and a full disk stops none of them; their
 * resourceVersions are not given a second time.
 */
#pragma once

#include "object/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct store;

/* From now on SQLite takes no locks in this process, the ledger's included: who calls this has
 * locked the directories of both. SQLite's own stay with a thread that hangs after the process was
 * killed, and would keep the next one out of its own files. A file system layer other than SQLite's
 * default is left alone. */
void store_take_no_locks(void);

enum store_place { STORE_ON_DISK, STORE_IN_MEMORY, STORE_PLACES }; /* of the objects of a kind */
enum store_place store_place(enum object_kind kind);

/* How much the objects of each place may have in all, as JSON; 0: any amount. */
struct store_quota {
	size_t bytes[STORE_PLACES];
	const char *names[STORE_PLACES]; /* of the options, for messages; static */
};

/**
 * store_set_quota - refuse writes that would make the objects outgrow a budget
 * @quota: copied
 *
 * An object is created up to the budget and grows by an update up to a quarter more, so that
 * controllers can still work on what is there. Whatever shrinks or deletes is never refused, nor
 * is what was stored before. A refused write is -EDQUOT.
 */
void store_set_quota(struct store *store, const struct store_quota *quota);

/* What the objects of a place have now, as the budget counts it. */
size_t store_bytes(const struct store *store, enum store_place place);

/* Waits for queued writes, answers them, closes. Return: NULL. */
struct store *store_free(struct store *store);

/**
 * store_uid_check_fn - is the uid that a new pod brings free on this node? On the loop, while the
 * write is admitted: looks at tables, may look up one name, changes nothing
 *
 * Return: 0; a negative errno, and @why says what still uses the uid.
 */
typedef int store_uid_check_fn(void *userdata, const struct object *pod, struct failure *why);

/* After the stored pods; NULL: only those count. */
void store_check_uids(struct store *store, store_uid_check_fn *check, void *userdata);

/* May this new pod or persistent volume be stored on this node? On the loop, while the write is
 * admitted: looks at nothing but the object and tables. Return: as above, with field and reason. */
typedef int store_check_fn(void *userdata, const struct object *object, struct failure *why);

/* Asked from now on; NULL: never. What is stored already is not judged. */
void store_check_new(struct store *store, store_check_fn *check, void *userdata);

/* The committed object, or NULL. Borrowed until the loop turns; take a reference to keep it. */
const struct object *store_get(struct store *store, enum object_kind kind, const char *name_space,
			       const char *name);

/* One object by name; name_space "" for kinds without namespaces. */
struct store_key {
	enum object_kind kind;
	const char *name_space, *name;
};

/* Does this name belong to a stored object that cannot be decoded? Then that store_get() has
 * nothing does not mean that nothing is there. */
bool store_is_unreadable(const struct store *store, const struct store_key *key);

/**
 * store_list - all objects of a kind, sorted by namespace and name
 * @name_space: only this one, or NULL for all
 * @visit:      called for each; a value other than 0 ends the walk and is returned
 *
 * Return: 0, or what @visit returned.
 */
int store_list(struct store *store, enum object_kind kind, const char *name_space,
	       int (*visit)(const struct object *object, void *userdata), void *userdata);

/* The same from the first object behind @after on, whether that one is still there or not; names
 * that are "": from the first. @bits: only those whose labels have them (labels_bits()). */
int store_list_after(struct store *store, const char *name_space, const struct store_key *after,
		     uint64_t bits, int (*visit)(const struct object *object, void *userdata),
		     void *userdata);
/* How many that are, whatever their labels; looks at none of them. */
size_t store_count_after(struct store *store, const char *name_space,
			 const struct store_key *after);

/* The resourceVersion of the newest committed change; a list taken now carries it. */
uint64_t store_resource_version(struct store *store);
/* The oldest one at which a watch can begin: changes after it are still in the ring. */
uint64_t store_oldest_version(struct store *store);

/**
 * store_done_fn - a write is over; on the loop thread
 * @error:  0 committed; negative errno as below
 * @result: the object as stored (after a delete: as it was last); NULL on failure. Borrowed.
 * @why:    text for people on failure
 */
typedef void store_done_fn(void *userdata, int error, const struct object *result,
			   const struct failure *why);

/* What a write expects of the present object; zero members expect nothing. */
struct store_precondition {
	const char *uid;
	uint64_t resource_version;
	/* -ESTALE when the write queued just before this one, in the same turn, fails. So the steps
	 * of one decision need no commit each, and no versions. */
	bool follows;
	/* Admitted in its turn and answered as if it were stored, with the version of the present
	 * object (0 for a new one); nothing is. */
	bool dry_run;
	bool ends_move; /* of a claim: for podvold itself, see admit.h */
	bool has_grace; /* of a delete, for a kube-apiserver */
	int64_t grace_seconds;
};

/**
 * store_create, store_update, store_delete - queue a write
 * @object:       the whole object; a reference is taken. Passes object_admit() when its turn comes.
 * @precondition: copied; may be NULL
 * @done:         may be NULL for those who do not care; errors are then logged
 *
 * store_create_expecting is store_create with follows and dry_run of a precondition.
 *
 * store_update without a resourceVersion in @precondition replaces whatever is there. An update
 * that changes nothing is answered with the present object and makes no new version. store_delete
 * sets deletionTimestamp while finalizers remain.
 *
 * Errors given to @done: -EEXIST create; -ENOENT update, delete; -ESTALE the precondition does not
 * hold (conflict); -EINVAL not admitted; -EDQUOT see store_set_quota(); -ENOSPC, -EIO not stored;
 * -ECANCELED the store closed before.
 *
 * @done is never called before these functions returned. When a group could not be stored every
 * write of it gets the same error; nothing of it is there, and later ones are tried again.
 *
 * Return: 0 queued; -ENOBUFS too many queued writes (STORE_QUEUE_MAX); -ECANCELED the store is
 * closing; -ENOMEM. Then @done is not called.
 */
int store_create(struct store *store, const struct object *object, store_done_fn *done,
		 void *userdata);
int store_create_expecting(struct store *store, const struct object *object,
			   const struct store_precondition *precondition, store_done_fn *done,
			   void *userdata);
int store_update(struct store *store, const struct object *object,
		 const struct store_precondition *precondition, store_done_fn *done,
		 void *userdata);
int store_delete(struct store *store, const struct store_key *key,
		 const struct store_precondition *precondition, store_done_fn *done,
		 void *userdata);

/**
 * store_edit_fn - make an object out of the present one; on the loop thread
 * @ret: own reference. Return: 0; a negative errno, which refuses the write.
 */
typedef int store_edit_fn(void *userdata, const struct object *present, const struct object **ret,
			  struct failure *why);

/**
 * store_edit - store_update for a change that fits whatever is there: no conflict, nothing lost
 * @object:       made out of the version that @precondition names, which it must
 * @edit:         called when the turn comes and there is another version by then; at most once
 *
 * Else as store_update; -ENOENT when nothing is there.
 */
int store_edit(struct store *store, const struct object *object,
	       const struct store_precondition *precondition, store_edit_fn *edit,
	       store_done_fn *done, void *userdata);

enum store_change_type { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };

struct store_change {
	enum store_change_type type;
	uint64_t resource_version;
	const struct object *object;   /* as it is now; for STORE_DELETED as it was last */
	const struct object *previous; /* NULL for STORE_ADDED */
	bool touched;                  /* as it was before: see touch.h */
};

struct store_watch;
#define STORE_TOUCHES (1U << 31)

/**
 * store_watch_new - a cursor into the ring of changes
 * @kinds: set of 1 << enum object_kind; STORE_TOUCHES: touches of these (touch.h), too
 * @since: resourceVersion after which changes are wanted; store_resource_version(): from now on
 * @wake:  on the loop, once, when there is something to read after the cursor had reached the end;
 * it may make and free watches, this one too
 *
 * A new watch with changes waiting already is not woken for them: read it once. Free every watch
 * before the store.
 *
 * Return: 0; -ESTALE @since has left the ring, or lies in the future: list again; -ENOMEM.
 */
int store_watch_new(struct store *store, unsigned int kinds, uint64_t since,
		    void (*wake)(void *userdata), void *userdata, struct store_watch **ret);
/* Also from inside @wake, its own or another's. Accepts NULL. Return: NULL. */
struct store_watch *store_watch_free(struct store_watch *watch);

/* The next change of a wanted kind; borrowed until the next call or the loop turns. Return: 1; 0 at
 * the end, @wake will be called; -ESTALE fell off the ring: list and watch again. */
int store_watch_next(struct store_watch *watch, const struct store_change **ret);

/* In a quiet time: forgets changes that every watch has read, but STORE_RING_QUIET_CHANGES. */
void store_trim(struct store *store);

enum {
	STORE_QUEUE_MAX = 100000,        /* queued writes */
	STORE_GROUP_MAX = 256,           /* writes in one commit */
	STORE_GROUP_BYTES_MAX = 131072,  /* of their objects, as JSON, and one object more */
	STORE_RING_CHANGES = 8192,       /* changes a watcher may lag behind */
	STORE_RING_QUIET_CHANGES = 1024, /* that are kept when a burst of them is over */
	STORE_RING_BYTES_MAX = 67108864, /* of their objects, as JSON */
};
