/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source - a directory of manifests becomes objects in the store
 *
 * Reading and parsing happen on a thread; the loop only compares and writes. The rules are about
 * never taking away what works (design, promise 5); they stand below.
 */
#pragma once

#include "base/failure.h"
#include "store/store.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

/*
 * What is read. Regular files named *.yaml, *.yml or *.json in the directory itself, also through
 * symbolic links; no hidden files, no editors' copies. A rename into the directory and a close
 * after writing are taken at once, a write without a close when the file was quiet for the settling
 * time; until it is closed it may bring new objects, and what it had before stays in force, for a
 * writer may have stopped half way. A file that changes while it is read is read again. A swapped
 * link "..data" (ConfigMap volumes) and an overflow of events are answered by a listing, where only
 * files of another device, inode, size, mtime or ctime are read.
 *
 * Which file has an object. The first by file name, then by place in the file; every other one is a
 * problem, and takes over when the first lets go.
 *
 * What a bad document does. Nothing: it is reported until it is fixed, and what its file had
 * before stays, the whole file's when it is unknown which object the document was to be (its
 * kind or name cannot be read, the stream broke off, the file is empty or unreadable, a link that
 * leads nowhere, or no regular file). At start what is stored is what its file had before.
 *
 * What is written. An object when its document or its file's name changed. From the document comes
 * everything but status, finalizers, annotations of *kubernetes.io, spec.volumeName, a claim's
 * spec.storageClassName and spec.claimRef, which stay where the document does not name them. An
 * object of the same name made through the API is never touched; the document is a problem until
 * that object is deleted. An object deleted through the API while a manifest has it comes back,
 * with a new uid.
 *
 * Uids. metadata.uid of a document counts when the object is first stored, and not again. A pod
 * keeps its uid while spec.volumes and a spec.nodeName of its document stay the same, whatever else
 * changes or wherever its manifest moves; with others the old pod is deleted (by its uid), and when
 * it is gone a new one is created. A uid that another pod still has on this node is a problem until
 * that pod, its holds, its mounts and its directory are gone.
 *
 * What vanished. A document that was edited out of its file deletes its Pod. Files that vanished
 * with no pause longer than the settling time are judged together, as one batch (at the latest
 * after ten settling times). Their pods are deleted, unless the directory was lost:
 *  - it cannot be read, or is another one than before (device, inode and time of birth), or
 *  - every manifest that had pods is gone, and there was more than one, or
 *  - the only manifest that had pods is gone, and with it every other manifest, or
 *  - at start: none of the files named by stored objects is there.
 * So removing the one and only manifest deletes its pods, but `rm *` does not. Files that came
 * during the batch do not count, files that came back are not gone.
 *
 * Pods of a lost directory stay, marked with ANNOTATION_MANIFEST_STATE, until their manifest comes
 * back or they are deleted by name; so does every object of another kind whose manifest
 * vanished, for whatever reason.
 *
 * Annotations say from which file an object came and whether it is gone, so a restart knows.
 */

#define ANNOTATION_MANIFEST       "podvol.io/manifest"       /* file name below the directory */
#define ANNOTATION_MANIFEST_STATE "podvol.io/manifest-state" /* "gone": no longer in a manifest */

struct manifest_problem;
struct manifest_source;

struct manifest_source_options {
	const char *directory; /* absolute; may be absent; watched for */
	const char *node_name; /* spec.nodeName of pods that name none */
	/* Absolute, for root alone; keeps until the next start which texts were applied; NULL: not
	 * kept, every file is parsed. */
	const char *run_dir;
	uint64_t settle_usec; /* a file must be quiet this long after a write without close; a close
				 or rename is taken at once */
	/* Called when every file present at start has been read and its writes were answered (or
	 * failed). */
	void (*ready)(void *userdata);
	/* Called once for each new problem of a document; NULL: in the journal alone. */
	void (*record)(void *userdata, const struct object *about, const char *type,
		       const char *reason, const char *text);
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
/* Stops watching; writes that are queued stay with the store. Accepts NULL. Return: NULL. */
struct manifest_source *manifest_source_free(struct manifest_source *source);

/* A pod's uid may be free that was in use on this node; NULL: any may be. A pod that was refused
 * for it is tried again. Accepts a @source of NULL. */
void manifest_source_uid_freed(struct manifest_source *source, const char *uid);

/* One file with what is wrong with it, for `get manifests` and describe. */
struct manifest_problem {
	const char *file;  /* name below the directory; "." for the directory itself */
	unsigned int line; /* 0: unknown */
	const char *kind, *name_space, *name; /* "" as far as unknown */
	const char *text; /* what is wrong and, where something old stays in force, that it does */
	uint64_t since_usec; /* real time */
};

/* Every problem; borrowed during the call. Return: 0, or what @visit returned when that
 * was not 0. */
int manifest_source_problems(struct manifest_source *source,
			     int (*visit)(const struct manifest_problem *problem, void *userdata),
			     void *userdata);

/* {"items": [{file, line, kind, namespace, name, text, since}]}; the caller's. Accepts NULL: no
 * items. */
struct cJSON *manifest_source_view(struct manifest_source *source);

/* A file that still holds this object, or NULL; `podvolctl unmount` of such a pod is refused,
 * naming it. Accepts a @source of NULL. */
const char *manifest_source_file_of(struct manifest_source *source, const struct object *object);

enum {
	MANIFEST_FILES_MAX = 20000,   /* files in the directory */
	MANIFEST_PROBLEMS_MAX = 1000, /* reported ones; more are counted */
};
