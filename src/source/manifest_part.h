/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_part - what was read of a file so far, for the loop while the rest is being parsed
 *
 * A file of thousands of documents takes long to parse; the loop stores the first ones meanwhile.
 * What a part says the whole file says, too: later documents can add to it, not take it back. Parts
 * are made on the thread that reads the file, and come to the loop before the file itself.
 */
#pragma once

#include "base/worker.h"
#include "source/manifest_file.h"

struct manifest_part_document {
	const struct object *object; /* a reference */
	struct manifest_document source;
	size_t index; /* in the file */
	unsigned int line;
};

struct manifest_part {
	struct worker_job job; /* first: the pointers are converted */
	void (*take)(const struct manifest_part *part, void *userdata);
	void *userdata;
	uint64_t text; /* the hash of the whole file's text */
	size_t count;
	struct manifest_part_document *documents;
	char name[];
};

/* Who gets the parts: @take, on the loop of @pool; the part is freed behind it. */
struct manifest_part_sender {
	struct worker_pool *pool;
	void (*take)(const struct manifest_part *part, void *userdata);
	void *userdata;
};

/* The documents from @first up to, not with, @end that became objects. Without memory nothing is
 * sent: the file itself has them, too. */
void manifest_part_send(const struct manifest_part_sender *sender, const struct manifest_file *file,
			size_t first, size_t end);
