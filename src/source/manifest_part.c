/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_part - see manifest_part.h
 */
#include "source/manifest_part.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void part_free(struct manifest_part *part)
{
	for (size_t i = 0; i < part->count; i++)
		(void) object_unref(part->documents[i].object);
	free(part->documents);
	free(part);
}

static void part_done(struct worker_job *job)
{
	struct manifest_part *part = (struct manifest_part *) job;

	part->take(part, part->userdata);
	part_free(part);
}

static void add_documents(struct manifest_part *part, const struct manifest_file *file,
			  size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct document *document = &file->documents.documents[i];

		if (document->object)
			part->documents[part->count++] = (struct manifest_part_document){
				.object = object_ref(document->object),
				.source = file->sources[i],
				.index = i,
				.line = document->line,
			};
	}
}

void manifest_part_send(const struct manifest_part_sender *sender, const struct manifest_file *file,
			size_t first, size_t end)
{
	size_t length = strlen(file->name);
	struct manifest_part *part = calloc(1, sizeof(*part) + length + 1);

	assert(first < end && end <= file->documents.count);
	if (!part)
		return;
	part->documents = calloc(end - first, sizeof(part->documents[0]));
	if (!part->documents) {
		part_free(part);
		return;
	}
	part->job.done = part_done;
	part->take = sender->take;
	part->userdata = sender->userdata;
	part->text = file->text;
	memcpy(part->name, file->name, length);
	add_documents(part, file, first, end);
	worker_pool_report(sender->pool, &part->job);
}
