/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_index - of which volumes a pod has entries in a table; see pod_index.h
 *
 * A pod has few volumes, so that its names are an array that is searched from the end.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/pod_index.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

enum { NAMES_FIRST_CAPACITY = 2 };

static struct pod_names *find(const struct pod_index *index, const char *pod_uid)
{
	struct pod_names *pod;

	HASH_FIND_STR(index->pods, pod_uid, pod);
	return pod;
}

static void forget(struct pod_index *index, struct pod_names *pod)
{
	if (pod->hh.tbl)
		HASH_DEL(index->pods, pod);
	free(pod->names);
	free(pod->pod_uid);
	free(pod);
}

static struct pod_names *insert(struct pod_index *index, const char *pod_uid)
{
	struct pod_names *pod = calloc(1, sizeof(*pod));

	if (!pod)
		return NULL;
	pod->pod_uid = strdup(pod_uid);
	if (pod->pod_uid)
		HASH_ADD_KEYPTR(hh, index->pods, pod->pod_uid, strlen(pod->pod_uid), pod);
	if (pod->hh.tbl)
		return pod;
	forget(index, pod);
	return NULL;
}

static int grow(struct pod_names *pod)
{
	size_t capacity = pod->capacity > 0 ? 2 * pod->capacity : NAMES_FIRST_CAPACITY;
	const char **names = reallocarray(pod->names, capacity, sizeof(*names));

	if (!names)
		return -ENOMEM;
	pod->names = names;
	pod->capacity = capacity;
	return 0;
}

int pod_index_add(struct pod_index *index, const char *pod_uid, const char *unique_name)
{
	struct pod_names *pod;

	assert(index && pod_uid && unique_name);

	pod = find(index, pod_uid);
	if (!pod)
		pod = insert(index, pod_uid);
	if (!pod)
		return -ENOMEM;
	if (pod->count == pod->capacity && grow(pod) < 0) {
		if (pod->count == 0)
			forget(index, pod);
		return -ENOMEM;
	}
	pod->names[pod->count++] = unique_name;
	return 0;
}

void pod_index_remove(struct pod_index *index, const char *pod_uid, const char *unique_name)
{
	struct pod_names *pod;
	size_t i;

	assert(index && pod_uid && unique_name);

	pod = find(index, pod_uid);
	assert(pod);
	for (i = pod->count; i > 0 && strcmp(pod->names[i - 1], unique_name) != 0; i--)
		;
	assert(i > 0);
	pod->names[i - 1] = pod->names[--pod->count];
	if (pod->count == 0)
		forget(index, pod);
}

const char *pod_index_at(const struct pod_index *index, const char *pod_uid, size_t position)
{
	const struct pod_names *pod;

	assert(index && pod_uid);

	pod = find(index, pod_uid);
	return pod && position < pod->count ? pod->names[position] : NULL;
}
