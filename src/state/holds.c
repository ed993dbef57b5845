/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holds - which containers of which pods are known to live; see holds.h
 *
 * By id, and under each pod's uid the list of its holds, so that asking about a pod costs what is
 * its own. Decides nothing about volumes.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/holds.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

struct hold_entry {
	struct hold hold; /* first: what the table lends out is this */
	struct held_pod *pod;
	struct hold_entry *prev, *next; /* of the same pod, oldest first */
	UT_hash_handle hh;              /* by id */
	char texts[];
};

struct held_pod {
	struct hold_entry *entries; /* at least one */
	size_t count;
	UT_hash_handle hh; /* by uid */
	char uid[];
};

struct hold_writer {
	size_t count; /* of its holds: at least one */
	UT_hash_handle hh;
	char name[];
};

struct holds {
	struct hold_entry *by_id;
	struct hold_writer *by_writer;
	struct held_pod *by_pod;
	size_t max;
};

static const char *const kind_names[] = {
	[HOLD_EXPLICIT] = "explicit",
	[HOLD_PROCESS] = "process",
	[HOLD_CGROUP] = "cgroup",
};
static_assert(ARRAY_SIZE(kind_names) == HOLD_KIND_COUNT, "name every kind");

const char *hold_kind_name(enum hold_kind kind)
{
	assert(kind < HOLD_KIND_COUNT);
	return kind_names[kind];
}

int holds_new(size_t max, struct holds **ret)
{
	struct holds *holds = calloc(1, sizeof(*holds));

	assert(ret && max > 0);
	if (!holds)
		return -ENOMEM;
	holds->max = max;
	*ret = holds;
	return 0;
}

struct holds *holds_free(struct holds *holds)
{
	struct hold_entry *entry, *next;

	if (!holds)
		return NULL;
	HASH_ITER (hh, holds->by_id, entry, next)
		holds_remove(holds, entry->hold.id);
	free(holds);
	return NULL;
}

/* ---- look-ups ---- */

static struct held_pod *find_pod(const struct holds *holds, const char *pod_uid)
{
	struct held_pod *pod;

	HASH_FIND_STR(holds->by_pod, pod_uid, pod);
	return pod;
}

static struct hold_entry *find_entry(const struct holds *holds, const char *id)
{
	struct hold_entry *entry;

	HASH_FIND_STR(holds->by_id, id, entry);
	return entry;
}

const struct hold *holds_find(const struct holds *holds, const char *id)
{
	struct hold_entry *entry;

	assert(holds && id);
	entry = find_entry(holds, id);
	return entry ? &entry->hold : NULL;
}

bool holds_has_pod(const struct holds *holds, const char *pod_uid)
{
	assert(holds && pod_uid);
	return find_pod(holds, pod_uid) != NULL;
}

const struct hold *holds_of_pod(const struct holds *holds, const char *pod_uid, size_t position)
{
	const struct held_pod *pod;
	const struct hold_entry *entry;

	assert(holds && pod_uid);
	pod = find_pod(holds, pod_uid);
	entry = pod ? pod->entries : NULL;
	while (entry && position-- > 0)
		entry = entry->next;
	return entry ? &entry->hold : NULL;
}

const struct hold *holds_of_earlier_pod(const struct holds *holds, const char *name_space,
					const char *name, const char *uid)
{
	const struct held_pod *pod;

	assert(holds && name_space && name && uid);
	for (pod = holds->by_pod; pod; pod = pod->hh.next) {
		const struct hold *hold = &pod->entries->hold;

		if (strcmp(hold->pod_name, name) == 0 &&
		    strcmp(hold->pod_namespace, name_space) == 0 && strcmp(pod->uid, uid) != 0)
			return hold;
	}
	return NULL;
}

const struct hold *holds_first(const struct holds *holds)
{
	assert(holds);
	return holds->by_id ? &holds->by_id->hold : NULL;
}

const struct hold *holds_next(const struct hold *hold)
{
	const struct hold_entry *next = ((const struct hold_entry *) hold)->hh.next;

	return next ? &next->hold : NULL;
}

size_t holds_count(const struct holds *holds)
{
	return HASH_COUNT(holds->by_id);
}

/* ---- changes ---- */

/* Never that of another hold, also not of one that ended: a second delete deletes nothing
 * else. */
static int choose_id(const struct holds *holds, char id[HOLD_ID_BYTES])
{
	uint64_t number;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -errno;
		(void) snprintf(id, HOLD_ID_BYTES, "%010llx",
				(unsigned long long) (number & 0xffffffffffU));
	} while (find_entry(holds, id));
	return 0;
}

static const char *keep_text(const char *text, char **at)
{
	size_t bytes = strlen(text) + 1;
	char *kept = *at;

	memcpy(kept, text, bytes);
	*at += bytes;
	return kept;
}

/* One allocation, whatever texts it has. */
static struct hold_entry *entry_new(const struct hold *fields)
{
	size_t bytes = strlen(fields->pod_uid) + strlen(fields->pod_namespace) +
		       strlen(fields->pod_name) + strlen(fields->container) +
		       strlen(fields->cgroup) + (fields->writer ? strlen(fields->writer) : 0) + 6;
	struct hold_entry *entry = calloc(1, sizeof(*entry) + bytes);
	char *at;

	if (!entry)
		return NULL;
	entry->hold = *fields;
	at = entry->texts;
	entry->hold.pod_uid = keep_text(fields->pod_uid, &at);
	entry->hold.pod_namespace = keep_text(fields->pod_namespace, &at);
	entry->hold.pod_name = keep_text(fields->pod_name, &at);
	entry->hold.container = keep_text(fields->container, &at);
	entry->hold.cgroup = keep_text(fields->cgroup, &at);
	if (fields->writer)
		entry->hold.writer = keep_text(fields->writer, &at);
	return entry;
}

static void drop_pod(struct holds *holds, struct held_pod *pod)
{
	HASH_DEL(holds->by_pod, pod);
	free(pod);
}

static struct held_pod *pod_new(struct holds *holds, const char *uid)
{
	size_t length = strlen(uid);
	struct held_pod *pod = calloc(1, sizeof(*pod) + length + 1);

	if (!pod)
		return NULL;
	memcpy(pod->uid, uid, length);
	HASH_ADD_KEYPTR(hh, holds->by_pod, pod->uid, length, pod);
	if (pod->hh.tbl)
		return pod;
	free(pod);
	return NULL;
}

/* A pod is in its index for its holds only: without memory for the hold it goes again. */
static int insert(struct holds *holds, struct hold_entry *entry)
{
	struct held_pod *pod = find_pod(holds, entry->hold.pod_uid);

	if (!pod)
		pod = pod_new(holds, entry->hold.pod_uid);
	if (!pod)
		return -ENOMEM;
	HASH_ADD_KEYPTR(hh, holds->by_id, entry->hold.id, strlen(entry->hold.id), entry);
	if (!entry->hh.tbl) {
		if (pod->count == 0)
			drop_pod(holds, pod);
		return -ENOMEM;
	}
	entry->pod = pod;
	DL_APPEND(pod->entries, entry);
	pod->count++;
	return 0;
}

/* ---- writers ---- */

static struct hold_writer *find_writer(const struct holds *holds, const char *name)
{
	struct hold_writer *writer = NULL;

	if (name)
		HASH_FIND_STR(holds->by_writer, name, writer);
	return writer;
}

static size_t share_of_writer(const struct holds *holds)
{
	return holds->max < HOLDS_OF_WRITER_SHARE ? 1 : holds->max / HOLDS_OF_WRITER_SHARE;
}

static int count_writer(struct holds *holds, const char *name)
{
	struct hold_writer *writer = find_writer(holds, name);
	size_t length = name ? strlen(name) : 0;

	if (!name)
		return 0;
	if (!writer) {
		writer = calloc(1, sizeof(*writer) + length + 1);
		if (!writer)
			return -ENOMEM;
		memcpy(writer->name, name, length);
		HASH_ADD_KEYPTR(hh, holds->by_writer, writer->name, length, writer);
		if (!writer->hh.tbl) {
			free(writer);
			return -ENOMEM;
		}
	}
	writer->count++;
	return 0;
}

static void discount_writer(struct holds *holds, const char *name)
{
	struct hold_writer *writer = find_writer(holds, name);

	if (!writer || --writer->count > 0)
		return;
	HASH_DEL(holds->by_writer, writer);
	free(writer);
}

/* ---- adding ---- */

static int check_room(const struct holds *holds, const struct hold *fields, struct failure *reterr)
{
	const struct held_pod *pod = find_pod(holds, fields->pod_uid);
	const struct hold_writer *writer = find_writer(holds, fields->writer);

	if (holds_count(holds) >= holds->max)
		return failed_plain(reterr, -ENOSPC,
				    "there are %zu holds already, the limit of holds-max",
				    holds->max);
	if (pod && pod->count >= HOLDS_PER_POD_MAX)
		return failed_plain(reterr, -ENOSPC,
				    "the pod has %d holds already, the limit of one pod",
				    HOLDS_PER_POD_MAX);
	if (writer && writer->count >= share_of_writer(holds))
		return failed_plain(reterr, -ENOSPC,
				    "user '%s' has %zu holds already, of pods that were deleted "
				    "as well: the limit of one user, a quarter of holds-max",
				    fields->writer, writer->count);
	return 0;
}

int holds_add(struct holds *holds, const struct hold *fields, const struct hold **ret,
	      struct failure *reterr)
{
	struct hold_entry *entry;
	int r;

	assert(holds && fields && ret);
	assert(fields->pod_uid && *fields->pod_uid && fields->pod_namespace && fields->pod_name);
	assert(fields->container && fields->cgroup && fields->kind < HOLD_KIND_COUNT);

	r = fields->id[0] ? 0 : check_room(holds, fields, reterr);
	if (r < 0)
		return r;
	if (find_entry(holds, fields->id))
		return failed_plain(reterr, -EEXIST, "hold '%s' already exists", fields->id);
	entry = entry_new(fields);
	if (!entry)
		return failed(reterr, -ENOMEM, "cannot keep a hold");
	r = fields->id[0] ? 0 : choose_id(holds, entry->hold.id);
	if (r >= 0)
		r = count_writer(holds, entry->hold.writer);
	if (r >= 0) {
		r = insert(holds, entry);
		if (r < 0)
			discount_writer(holds, entry->hold.writer);
	}
	if (r < 0) {
		free(entry);
		return failed(reterr, r, "cannot keep a hold");
	}
	*ret = &entry->hold;
	return 0;
}

void holds_remove(struct holds *holds, const char *id)
{
	struct hold_entry *entry;

	assert(holds && id);
	entry = find_entry(holds, id);
	if (!entry)
		return;
	HASH_DEL(holds->by_id, entry);
	DL_DELETE(entry->pod->entries, entry);
	discount_writer(holds, entry->hold.writer);
	if (--entry->pod->count == 0)
		drop_pod(holds, entry->pod);
	free(entry);
}
