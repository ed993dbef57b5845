/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_problem - what is wrong in the directory, put together for people from where it is known
 */
#pragma once

#include "source/manifest_catalog.h"
#include "source/manifest_dir.h"
#include "source/source.h"

/* About the directory as a whole; zeroed: nothing wrong. */
struct manifest_directory_note {
	char text[FAILURE_TEXT_BYTES]; /* "" */
	uint64_t since_usec;
	size_t kept_pods; /* pods that stay although their manifests were lost */
	uint64_t kept_since_usec;
};

/* After a listing. Logs what is new. Return: true when it differs from before. */
bool manifest_directory_note_set(struct manifest_directory_note *note,
				 const struct manifest_listing *listing, uint64_t now_usec);

/* More or fewer pods are kept. */
void manifest_directory_note_keep(struct manifest_directory_note *note, int more);

/* The first definition of an object that the file has; NULL: none. */
const struct manifest_definition *manifest_definition_in(const struct manifest_entry *entry,
							 const struct manifest_key *key);

/* What document a note is about. In place of a Secret's name there may be what it holds: one that
 * is no name is left out. */
void manifest_note_name(struct manifest_note *note, const struct document *document);

/* To the journal, and as an event of the object that the document was to be, as far as that is
 * known, or else of the node. */
void manifest_note_report(const struct manifest_note *note, const char *file, struct store *store,
			  const struct manifest_source_options *options);

/* One item of manifest_source_view(). Return: 0. */
int manifest_problem_view(const struct manifest_problem *problem, void *items);

/* As manifest_source_problems(): the directory first, then the files by name. */
int manifest_problems_walk(const struct manifest_directory_note *note,
			   struct manifest_catalog *catalog,
			   int (*visit)(const struct manifest_problem *problem, void *userdata),
			   void *userdata);
