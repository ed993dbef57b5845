/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies - what is copied right now (snapshots that are taken, volumes that are filled), and how
 * far each is
 *
 * Copies nothing itself: the threads that do count entries and bytes, and no file is asked for
 * this. The loop thread only, but for copy_begins().
 */
#pragma once

#include "mount/archive/volume_copy.h"
#include "object/kind.h"

#include <stdio.h>

struct cJSON;
struct reporter;
struct store_key;
struct walks;

/* Part of its owner; zeroed before. */
struct copy {
	struct copy *prev, *next;
	enum object_kind kind; /* of the object that it is made for */
	char *name_space, *name;
	char *target;                /* the volume or the snapshot that is made */
	_Atomic uint64_t begun_usec; /* monotonic; 0: it waits for a thread */
	struct copy_progress progress;
};

struct copies {
	struct copy *first;
	struct walks *walks;                   /* reports them; NULL: not yet */
	uint64_t done, failed, entries, bytes; /* of all that ended since the start */
};

/* @about: for whom; @target: copied. Return: 0; -ENOMEM. */
int copies_add(struct copies *copies, struct copy *copy, const struct store_key *about,
	       const char *target);
/* It ended, or never began; one that was not added is fine. @error: 0 it is whole; -ECANCELED says
 * nothing. */
void copies_remove(struct copies *copies, struct copy *copy, int error);
/* On the thread that copies. */
void copy_begins(struct copy *copy);

enum { COPY_TEXT_BYTES = 160 };
/* "120000 entries, 1.2 GiB copied, 41000 entries a second". */
void copy_text(const struct copy *copy, uint64_t now_usec, char ret[COPY_TEXT_BYTES]);

/* A row for each, as those of operations are. */
void copies_view(const struct copies *copies, struct cJSON *items);
void copies_print_metrics(const struct copies *copies, FILE *file);
/* An event about each. Return: are there any? */
bool copies_report(const struct copies *copies, const struct reporter *reporter);
