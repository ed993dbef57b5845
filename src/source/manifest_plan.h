/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_plan - what is to be written because a manifest says so, or no longer does; pure
 *
 * No system call, no clock, no store: facts in, one answer out, so that the promise of source.h,
 * never to take away what works, is tested as a table.
 */
#pragma once

#include "source/manifest_mark.h"

#include <stddef.h>

/* Why no manifest has an object (any more). */
enum manifest_absence {
	MANIFEST_ABSENCE_UNJUDGED, /* it may come back in a moment: an editor, a rename, a copy */
	MANIFEST_ABSENCE_REMOVED,  /* the file was removed: the one reason to delete a Pod */
	MANIFEST_ABSENCE_LOST,     /* its directory was emptied, replaced or cannot be read */
};

/* All there is to know about one object: kind, namespace and name are given by either pointer. */
struct manifest_facts {
	const struct object *wanted; /* by the first file that has it; NULL: by none */
	const char *file;            /* that file */
	uint64_t hash;               /* of that document */
	bool names_node;             /* as in struct manifest_document */
	bool is_unread;              /* which is not in memory: @wanted was stored from it */
	const struct object *stored; /* NULL: not there */
	struct manifest_mark mark;   /* of @stored */
	enum manifest_absence absence;
	bool is_starting; /* files are still to be read for the first time */
};

enum manifest_step {
	MANIFEST_STEP_NONE,
	MANIFEST_STEP_CREATE,
	MANIFEST_STEP_UPDATE,
	MANIFEST_STEP_DELETE,    /* and nothing comes after it */
	MANIFEST_STEP_REPLACE,   /* delete; its end asks again and then creates */
	MANIFEST_STEP_WAIT,      /* its deletion is under way, or the start: the end asks again */
	MANIFEST_STEP_MARK_GONE, /* stays, and says that no manifest has it */
	MANIFEST_STEP_READ,      /* parse the file first */
	MANIFEST_STEP_AGAIN,     /* no memory to tell which: later */
	MANIFEST_STEP_REFUSE,    /* made by others through the API: report */
};

/* What is to be done about one object; pure, and every combination of facts has an answer. */
enum manifest_step manifest_decide(const struct manifest_facts *facts);

/*
 * A deletion batch: files that vanished with no longer pause than the settling time between them.
 * Files that came during the batch do not count, files that came back are not gone; a file counts
 * as "with pods" when it had one that is in no other file now.
 */
struct manifest_deletion_batch_facts {
	bool directory_is_readable;
	bool directory_is_same; /* device and inode as before the batch */
	/* At start only the store knows what was there: files named by stored objects. */
	bool is_start;
	size_t known_left; /* at start: how many of those are still there */
	size_t files_before, pod_files_before;
	size_t files_gone, pod_files_gone;
};

/**
 * manifest_judge_deletion_batch - were these files removed, or was their directory lost?
 *
 * Lost: the directory cannot be read or is another one; every manifest with pods vanished and there
 * was more than one; the only manifest with pods vanished together with all the others; at start,
 * none of the files is left.
 *
 * Return: MANIFEST_ABSENCE_REMOVED or MANIFEST_ABSENCE_LOST.
 */
enum manifest_absence
manifest_judge_deletion_batch(const struct manifest_deletion_batch_facts *facts);
