/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - a directory of manifests becomes objects in the store
 *
 * Reading and parsing happen on a thread; the loop only compares and writes. The rules are about
 * never taking away what works (design, promise 5):
 *  - a document that does not parse, or is not valid, changes nothing; it is reported until it is
 * mended;
 *  - a manifest that vanished deletes its Pod only while the directory is readable, is the same
 * directory (device, inode) and was not emptied or replaced at one stroke; nothing but Pods is ever
 * deleted;
 *  - every other object stays, marked as no longer in a manifest, until somebody deletes it by
 * name;
 *  - a pod gets a uid when first stored and keeps it while its volumes are unchanged; a changed
 * volume list is a new uid: the old pod is deleted first, then the new one created. What came from
 * which file is kept in annotations of the objects, so a restart knows it.
 */
#ifndef PODVOL_SOURCE_SOURCE_H
#define PODVOL_SOURCE_SOURCE_H

#include "base/failure.h"
#include "store/store.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

#define ANNOTATION_MANIFEST       "podvol.io/manifest"       /* file name below the directory */
#define ANNOTATION_MANIFEST_STATE "podvol.io/manifest-state" /* "gone": no longer in a manifest */

struct manifest_source;

struct manifest_source_options {
	const char *directory; /* may be absent; watched for */
	const char *node_name; /* spec.nodeName of pods that name none */
	uint64_t settle_usec; /* a file must be quiet this long after a write without close; a close
				 or rename is taken at once */
	/* Called when every file present at start has been read and its writes were answered (or
	 * failed). */
	void (*ready)(void *userdata);
	/* Called when the set of problems below changed. */
	void (*changed)(void *userdata);
	void *userdata;
};

/**
 * manifest_source_new - start watching; the first scan begins with the loop
 * @store:   borrowed; must outlive the source
 * @options: copied
 *
 * Return: 0; -ENOMEM, -EMFILE (inotify instances).
 */
int manifest_source_new(sd_event *event, struct store *store,
			const struct manifest_source_options *options, struct manifest_source **ret,
			struct failure *reterr);
struct manifest_source *manifest_source_free(struct manifest_source *source);

/* One file with what is wrong with it, for `get manifests` and describe. */
struct manifest_problem {
	const char *file;  /* name below the directory; "." for the directory itself */
	unsigned int line; /* 0: unknown */
	const char *kind, *name_space, *name; /* "" as far as unknown */
	const char *text; /* what is wrong and, where something old stays in force, that it does */
	uint64_t since_usec; /* real time */
};

int manifest_source_problems(struct manifest_source *source,
			     int (*visit)(const struct manifest_problem *problem, void *userdata),
			     void *userdata);

/* A file that still holds this object, or NULL; `podvolctl unmount` of such a pod is refused,
 * naming it. */
const char *manifest_source_file_of(struct manifest_source *source, const struct object *object);

enum {
	MANIFEST_FILES_MAX = 20000,   /* files in the directory */
	MANIFEST_PROBLEMS_MAX = 1000, /* reported ones; more are counted */
};

#endif
