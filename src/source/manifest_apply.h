/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_apply - carry out what manifest_plan decides, one write per object at a time
 *
 * An answer that tells of another writer asks the plan again; a full disk asks again later; an
 * object that is not valid is reported and waits for its file to change. Decides nothing itself.
 */
#pragma once

#include "source/manifest_catalog.h"
#include "store/store.h"

struct manifest_pending;

struct manifest_apply {
	struct store *store;              /* borrowed */
	struct manifest_catalog *catalog; /* borrowed */
	const char *node_name;            /* borrowed */
	struct manifest_pending *pendings;
	size_t pending_count, uid_waiters;           /* keys that wait for a uid */
	struct manifest_key *waiting, *last_waiting; /* for fewer to be pending; in their order */
	sd_event_source *retry_timer;
	uint64_t retry_usec; /* until the next attempt; doubles */
	bool has_news;       /* the set of problems changed */
	bool has_started;    /* what is stored was compared with the first listing */
	/* What is to be written of this file has to be parsed first. */
	void (*unread)(struct manifest_entry *entry, void *userdata);
	/* A write ended, for better or worse. */
	void (*answered)(void *userdata);
	void *userdata;
};

/* The members above retry_timer and the last three are the caller's to fill before. */
int manifest_apply_init(struct manifest_apply *apply, sd_event *event);

/* Writes under way go on; their answers are no longer heard. */
void manifest_apply_done(struct manifest_apply *apply);

/* Do what is to be done about one object: now, or when fewer writes are under way. The key may be
 * forgotten. */
void manifest_apply_key(struct manifest_apply *apply, struct manifest_key *key);

/* An object is stored as it is now: a definition that has it in place of its document keeps no
 * older version in memory. */
void manifest_apply_stored(struct manifest_apply *apply, const struct object *stored);

/* A uid may be free that was in use; NULL: any. What was refused with it becomes affected. */
void manifest_apply_uid_freed(struct manifest_apply *apply, const char *uid);
