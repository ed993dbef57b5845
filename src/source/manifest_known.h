/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_known - what was stored from which file before this process; on the loop thread
 *
 * A file whose text is the one that was applied need not be parsed again: what is stored stands for
 * its documents. That is believed only if this program with these libraries wrote the record
 * (others may understand a text otherwise), and if the stored objects of the file are as many as
 * its documents and have their hashes. The whole text counts and no time of the file does, as two
 * edits may have the same. A record that is missing or old costs parsing and nothing else.
 */
#pragma once

#include "source/manifest_catalog.h"
#include "store/store.h"

struct manifest_known_file;

/* Zero is one that knows nothing. */
struct manifest_known {
	struct manifest_known_file *files;
	uint64_t program; /* as loaded; 0: unknown */
};

/**
 * manifest_known_load - remember what is stored from manifests, and what the record has about it
 * @run_dir: where the record is; NULL: there is none
 *
 * Return: 0, -ENOMEM. Blocks (start-up only).
 */
int manifest_known_load(struct manifest_known *known, struct store *store, const char *run_dir);
void manifest_known_done(struct manifest_known *known);

/* The hash of the text from which all that is stored of this file was made; 0: it must be parsed.
 */
uint64_t manifest_known_text(const struct manifest_known *known, const char *name);

/**
 * manifest_known_take - a file was read for the first time; from now on it is to be parsed
 * @file: when its text was known it gets what is stored for its documents
 *
 * Return: 0; -EAGAIN: what was stored of it was taken by an earlier look, parse it; -ENOMEM: read
 * it again.
 */
int manifest_known_take(struct manifest_known *known, struct manifest_file *file);

/* How many of the files from which something was stored are in the catalog? */
size_t manifest_known_left(const struct manifest_known *known,
			   const struct manifest_catalog *catalog);

/* Record what the catalog's files have, for the next process. @known: what manifest_known_load()
 * began with. Blocks (the end of the daemon only). */
void manifest_known_save(const struct manifest_known *known, const struct manifest_catalog *catalog,
			 const char *run_dir);
