/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_file - one file of the directory, read and parsed; may block, so a worker does it
 *
 * Knows names and bytes. What a file means for the store is decided elsewhere.
 */
#pragma once

#include "object/object.h"

#include <stdbool.h>
#include <sys/stat.h>

struct manifest_part_sender;

/* Tells one content from another without reading it. */
struct manifest_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

/* What a document said. */
struct manifest_document {
	uint64_t hash;   /* of its canonical text */
	bool names_node; /* a pod's spec.nodeName is its own, not the default */
};

struct manifest_file {
	struct manifest_file *next;
	bool is_present;
	bool was_changing;  /* written while it was read: worth another look, not to be used
			     */
	bool is_unclosed;   /* written and open for writing still: it may be half of what it will be
			     */
	bool is_as_applied; /* its text is the known one, and was not parsed */
	struct manifest_identity identity;
	uint64_t text;                     /* the hash of its text; 0: not to be kept as known */
	struct failure failure;            /* the file as a whole could not be read or parsed */
	struct document_list documents;    /* as they are to be created: see manifest_mark.h */
	struct manifest_document *sources; /* of each of them */
	size_t source_count;
	char name[];
};

/* Names that are taken: *.yaml, *.yml, *.json, but neither hidden ones nor editors' copies. */
bool manifest_name_is_taken(const char *name);

/* Was the file changed or replaced between two looks? Then it is not the same. */
bool manifest_identity_is_same(const struct manifest_identity *a,
			       const struct manifest_identity *b);
/* From what fstat() said. */
void manifest_identity_of(const struct stat *status, struct manifest_identity *ret);

/* May reading again help though nothing in the directory changes? @error: negative or 0. Such a
 * file has an empty identity. */
bool manifest_error_passes(int error);

/**
 * manifest_file_read - look at a name and, when it is a regular file, parse it
 * @directory_fd: the directory; symbolic links below it are followed
 * @name:         one component
 * @node_name:    for pods that name none
 * @known_text:   the hash of a text that is not to be parsed; 0: none
 * @sender:       for what is read of it until all is; NULL: none
 *
 * A name that is not there gives a file with is_present false. One that leads nowhere, or to what
 * is no regular file, is there and has failed: it says nothing of what it had before.
 *
 * Return: freed with manifest_file_free(); NULL: no memory. Any thread; blocks.
 */
struct manifest_file *manifest_file_read(int directory_fd, const char *name, const char *node_name,
					 uint64_t known_text,
					 const struct manifest_part_sender *sender);
/* With its documents. Accepts NULL. Return: NULL. */
struct manifest_file *manifest_file_free(struct manifest_file *file);
