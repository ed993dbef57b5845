/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_catalog - which file defines which object, as last understood; on the loop thread
 *
 * A file that broke keeps what it defined before: a bad document changes nothing. Where several
 * define the same object the first by file name, then by place in the file, has it; the others are
 * reported. One changed file costs what it holds, however many files there are. Touches neither
 * disk nor store.
 */
#pragma once

#include "base/hash_table.h"
#include "source/manifest_file.h"
#include "source/manifest_plan.h"

struct manifest_key;
struct manifest_entry;
struct manifest_gone;
struct manifest_part;

/* One document of one file. */
struct manifest_definition {
	struct manifest_definition *next_in_entry, *next_in_key;
	struct manifest_entry *entry;
	struct manifest_key *key;
	const struct object *object;
	uint64_t hash;
	size_t index;        /* of the document in its file */
	unsigned int line;   /* where it begins */
	uint64_t since_usec; /* real time; when the file was first read with it */
	bool names_node;     /* as in struct manifest_document */
	bool is_unread;      /* @object is what is stored; the document is not in memory */
	bool is_carried;     /* came with a part of its file before */
};

/* Something is wrong with a file or one of its documents. */
struct manifest_note {
	struct manifest_note *next;
	unsigned int line;
	char kind[64], name_space[64], name[254];
	char text[FAILURE_TEXT_BYTES + 64];
	uint64_t since_usec;
};

/* One file. */
struct manifest_entry {
	UT_hash_handle hh;
	struct manifest_identity identity;
	struct manifest_definition *definitions;
	struct manifest_note *notes;
	uint64_t text; /* the hash of its text, all of which is in the definitions; 0: not so */
	size_t pod_count, note_count;
	size_t unkept_notes;         /* beyond MANIFEST_PROBLEMS_MAX: only counted */
	unsigned int scan;           /* number of the last listing that had it */
	unsigned int deletion_batch; /* number of the batch during which it came */
	bool is_unclear; /* which objects it is about was unknown when it was read last */
	bool is_partial; /* a new file, of which parts have come */
	char name[];
};

/* One object: defined by files, or remembered because none defines it any more. */
struct manifest_key {
	UT_hash_handle hh;
	struct manifest_key *next_affected, *next_orphan, *next_waiting;
	struct manifest_definition *definitions; /* the first one has it */
	enum manifest_absence absence;           /* meaningful without definitions */
	unsigned int put;           /* the last manifest_catalog_put() whose file has it */
	bool lost_file;             /* its last file vanished; false: it vanished from its file */
	bool is_affected;           /* in the list below */
	bool is_orphan;             /* in its owner's list of keys to be judged */
	bool is_kept;               /* a pod that stays although its manifest was lost */
	struct manifest_gone *gone; /* the vanished file, for the time of its batch */
	bool is_writing;            /* the source's own write is under way */
	bool is_waiting;            /* for other writes to end before its own is made */
	bool ask_again;             /* something changed meanwhile */
	bool retries;               /* could not be stored: waits for the timer */
	bool waits_for_uid;         /* a pod was refused that brings a uid: it may be in use */
	unsigned int conflicts;     /* in a row, with other writers */
	char *used_uid;             /* of the deleted one that its next one replaces */
	struct manifest_note *refusal; /* why it is not stored as its file has it; NULL */
	enum object_kind kind;
	const char *name_space, *name; /* into @bytes */
	char bytes[];
};

struct manifest_catalog {
	struct manifest_entry *entries;
	struct manifest_key *keys;
	struct manifest_key *affected; /* to be looked at; in no order */
	size_t pod_entry_count;        /* entries with pods */
	size_t note_count, unkept_notes;
	unsigned int puts;
};

void manifest_catalog_done(struct manifest_catalog *catalog);

struct manifest_entry *manifest_catalog_entry(const struct manifest_catalog *catalog,
					      const char *name);
struct manifest_key *manifest_catalog_key(const struct manifest_catalog *catalog,
					  const struct object *object);

/**
 * manifest_catalog_put - what a file holds now
 * @file:     read and present; its objects are referenced, the file stays the caller's
 * @now_usec: real time, for new problems
 * @ret:      the entry
 *
 * Every object that the file defines or defined becomes affected.
 *
 * Return: 0; -ENOMEM: the catalog is as before, read the file again.
 */
int manifest_catalog_put(struct manifest_catalog *catalog, const struct manifest_file *file,
			 uint64_t now_usec, struct manifest_entry **ret);

/* What a new file holds so far: it has no entry yet, or one of such parts. Return: 0; -ENOMEM: some
 * of it is missing until the whole file comes. @ret: where there was memory for an entry. */
int manifest_catalog_add_part(struct manifest_catalog *catalog, const struct manifest_part *part,
			      uint64_t now_usec, struct manifest_entry **ret);

/* For manifest_catalog_part.c and manifest_stand_in.c: the entry of this name, made when absent,
 * NULL: no memory; and a definition into the list of its key. */
struct manifest_entry *manifest_catalog_add_entry(struct manifest_catalog *catalog,
						  const char *name);
void manifest_definition_link(struct manifest_definition *definition);
/* Has a document that could not be read this kind, namespace and name? */
bool manifest_key_is_meant(const struct manifest_key *key, const char *kind, const char *name_space,
			   const char *name);

/**
 * manifest_catalog_stand_in - what is stored stands for what its file does not say clearly
 * @entry:  the file that it came from, as far as it could be read at the start
 * @stored: with the mark of that file
 * @hash:   of the document that was applied
 *
 * It is a definition of the file then, until the file says something clear. Nothing is done when no
 * broken document can be the one of @stored, or when the file defines it.
 *
 * Return: 1 it stands; 0 not; -ENOMEM.
 */
int manifest_catalog_stand_in(struct manifest_catalog *catalog, struct manifest_entry *entry,
			      const struct object *stored, uint64_t hash, uint64_t now_usec);

/* The file is gone; so are its definitions. */
void manifest_catalog_remove(struct manifest_catalog *catalog, struct manifest_entry *entry);

/* The key of an object, made when absent. NULL: no memory. */
struct manifest_key *manifest_catalog_add_key(struct manifest_catalog *catalog,
					      const struct object *object);

void manifest_catalog_affect(struct manifest_catalog *catalog, struct manifest_key *key);
/* The next affected key, which is no longer affected; NULL: none. */
struct manifest_key *manifest_catalog_take_affected(struct manifest_catalog *catalog);

/* Forget a key that is not defined, written or remembered; others are left. */
void manifest_catalog_forget(struct manifest_catalog *catalog, struct manifest_key *key);

/* Say why a key is not stored as its file has it; NULL: it is. Return: true when that is news. */
bool manifest_key_refuse(struct manifest_key *key, const char *text, uint64_t now_usec);
