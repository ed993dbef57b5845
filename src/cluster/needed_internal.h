/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed_internal - the table of objects that pods lead to, for the files needed*.c alone; needed.c
 * says what happens to one
 */
#pragma once

#include "cluster/cluster_internal.h"
#include "cluster/doubts.h"
#include "cluster/watch_rights.h"

enum { ASKED_UID_BYTES = 128 };

struct item {
	UT_hash_handle hh; /* by key */
	struct needed *needed;
	enum object_kind kind;
	char *name_space, *name;
	struct request *request;
	char asked_uid[ASKED_UID_BYTES]; /* stored when @request was sent; "": nothing was */
	struct list_watch *list_watch;   /* NULL: it is read */
	sd_event_source *timer;
	unsigned int pause_seconds;
	struct watch_right *right; /* of a claim or volume; NULL: it is of another kind */
	uint64_t read_usec;        /* monotonic, of the last good answer */
	bool ends_watch;           /* refused: read it instead */
	bool is_absent;            /* the server said so last */
	bool was_listed;           /* by the list that is read, or was read last */
	unsigned int watch_refusals;
	uint64_t watch_usec; /* monotonic: no watch is tried before */
	char *key;           /* "kind:namespace/name" */
};

struct needed {
	struct cluster *cluster;
	struct item *items;
	struct watch_rights *rights;
	struct doubts *doubts;
	size_t file_watches, claim_watches;
	sd_event_source *sweep;
};

/* Borrowed; NULL: there is none. */
const struct object *needed_stored(const struct item *item);
struct item *needed_find(const struct needed *needed, const struct object_reference *reference);
/* It is asked for no more; what is stored stays. */
void needed_drop(struct item *item);
void needed_remove_stored(struct cluster *cluster, const struct object *object);
