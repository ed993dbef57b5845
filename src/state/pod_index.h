/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_index - of which volumes a pod has entries in a table
 *
 * So that a question about one pod costs that pod's volumes, never all of them. Each table keeps
 * one beside its entries; names are borrowed from these entries. The loop thread only.
 */
#ifndef PODVOL_STATE_POD_INDEX_H
#define PODVOL_STATE_POD_INDEX_H

#include <stddef.h>
#include <uthash.h>

struct pod_names {
	char *pod_uid;
	const char **names;
	size_t count, capacity;
	UT_hash_handle hh;
};

struct pod_index {
	struct pod_names *pods;
};

/* Return: 0 or -ENOMEM. The name must live until it is removed; adding it twice is a mistake. */
int pod_index_add(struct pod_index *index, const char *pod_uid, const char *unique_name);
void pod_index_remove(struct pod_index *index, const char *pod_uid, const char *unique_name);

/* The @position-th name, in no order; NULL past the last. Valid until the index changes. */
const char *pod_index_at(const struct pod_index *index, const char *pod_uid, size_t position);

#endif
