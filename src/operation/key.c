/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key - which operations exclude each other, and when a failed one may be tried again; see key.h
 *
 * Records hang on their volume, because only keys of the same volume can match: admission costs a
 * hash look-up and a walk over the few operations of one volume.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "operation/key.h"

#include "base/cleanup.h"
#include "base/hash_table.h"

#include <assert.h>
#include <string.h>
#include <utlist.h>

struct key_volume {
	char *name;
	struct key_record *records;
	UT_hash_handle hh;
};

struct key_table {
	struct back_off back_off;
	struct key_volume *volumes;
};

int key_table_new(const struct back_off *back_off, struct key_table **ret)
{
	struct key_table *table;

	assert(back_off && ret);
	assert(back_off->first_usec > 0 && back_off->max_usec >= back_off->first_usec);
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->back_off = *back_off;
	*ret = table;
	return 0;
}

static void record_free(struct key_record *record)
{
	free((char *) record->key.pod);
	free((char *) record->key.node);
	free(record);
}

/* Its records must be gone. */
static void volume_free(struct key_table *table, struct key_volume *volume)
{
	HASH_DEL(table->volumes, volume);
	free(volume->name);
	free(volume);
}

struct key_table *key_table_free(struct key_table *table)
{
	struct key_volume *volume, *next_volume;

	if (!table)
		return NULL;
	HASH_ITER (hh, table->volumes, volume, next_volume) {
		struct key_record *record, *next;

		DL_FOREACH_SAFE (volume->records, record, next)
			record_free(record);
		volume_free(table, volume);
	}
	free(table);
	return NULL;
}

static struct key_volume *find_volume(const struct key_table *table, const char *name)
{
	struct key_volume *volume;

	HASH_FIND_STR(table->volumes, name, volume);
	return volume;
}

/* An empty part stands for every pod, or every node. */
static bool matches(const char *a, const char *b)
{
	return !*a || !*b || strcmp(a, b) == 0;
}

static bool is_same(const struct operation_key *a, const struct operation_key *b)
{
	return strcmp(a->pod, b->pod) == 0 && strcmp(a->node, b->node) == 0;
}

/* While @record's operation runs. */
static bool keeps_out(const struct key_record *record, const struct operation_key *key)
{
	return record->pending && (record->key.alone || key->alone) &&
	       matches(record->key.node, key->node);
}

/* The record that decides: any pending match first; else an exact match before a wildcard match. An
 * empty volume matches nothing. */
static struct key_record *find_match(const struct key_table *table, const struct operation_key *key)
{
	const struct key_volume *volume = *key->volume ? find_volume(table, key->volume) : NULL;
	struct key_record *record, *found = NULL;

	if (!volume)
		return NULL;
	DL_FOREACH (volume->records, record) {
		if (keeps_out(record, key))
			return record;
		if (!matches(record->key.pod, key->pod) || !matches(record->key.node, key->node))
			continue;
		if (record->pending)
			return record;
		if (!found || is_same(&record->key, key))
			found = record;
	}
	return found;
}

/* Another operation than the one that failed need not wait: kubelet's rule as well. */
static int check_key(const struct key_record *record, const char *name, uint64_t now_usec)
{
	if (record && record->pending)
		return -EBUSY;
	if (record && strcmp(record->name, name) == 0 && now_usec < record->retry_usec)
		return -EAGAIN;
	return 0;
}

int key_may_begin(const struct key_table *table, const struct operation_key *key, const char *name,
		  uint64_t now_usec)
{
	assert(table && key && name);
	assert(key->volume && key->pod && key->node);
	return check_key(find_match(table, key), name, now_usec);
}

static int volume_add(struct key_table *table, const char *name, struct key_volume **ret)
{
	struct key_volume *volume = calloc(1, sizeof(*volume));

	if (volume)
		volume->name = strdup(name);
	if (!volume || !volume->name) {
		free(volume);
		return -ENOMEM;
	}
	HASH_ADD_KEYPTR(hh, table->volumes, volume->name, strlen(volume->name), volume);
	if (!volume->hh.tbl) {
		free(volume->name);
		free(volume);
		return -ENOMEM;
	}
	*ret = volume;
	return 0;
}

static int record_add(struct key_volume *volume, const struct operation_key *key,
		      struct key_record **ret)
{
	struct key_record *record = calloc(1, sizeof(*record));

	if (!record)
		return -ENOMEM;
	record->key.volume = volume->name;
	record->key.alone = key->alone;
	record->key.pod = strdup(key->pod);
	record->key.node = strdup(key->node);
	record->of = volume;
	if (!record->key.pod || !record->key.node) {
		record_free(record);
		return -ENOMEM;
	}
	DL_APPEND(volume->records, record);
	*ret = record;
	return 0;
}

/* A volume that was made for nothing goes again: records and volumes come and go together. */
static int add_new(struct key_table *table, const struct operation_key *key,
		   struct key_record **ret)
{
	struct key_volume *volume = find_volume(table, key->volume);
	int r = 0;

	if (!volume)
		r = volume_add(table, key->volume, &volume);
	if (r < 0)
		return r;
	r = record_add(volume, key, ret);
	if (r < 0 && !volume->records)
		volume_free(table, volume);
	return r;
}

/* The record of a failed operation becomes that of the new one, as kubelet does it: one
 * whole-volume operation takes over what one pod's left behind, and the other way round. */
static int take_over(struct key_record *record, const struct operation_key *key)
{
	char *pod, *node;

	record->key.alone = key->alone;
	if (is_same(&record->key, key))
		return 0;
	pod = strdup(key->pod);
	node = strdup(key->node);
	if (!pod || !node) {
		free(pod);
		free(node);
		return -ENOMEM;
	}
	free((char *) record->key.pod);
	free((char *) record->key.node);
	record->key.pod = pod;
	record->key.node = node;
	return 0;
}

int key_begin(struct key_table *table, const struct operation_key *key, const char *name,
	      uint64_t now_usec, struct key_record **ret)
{
	struct key_record *record;
	int r;

	assert(table && key && name && ret);
	assert(key->volume && key->pod && key->node);
	record = find_match(table, key);
	r = check_key(record, name, now_usec);
	if (r < 0)
		return r;

	r = record ? take_over(record, key) : add_new(table, key, &record);
	if (r < 0)
		return r;
	if (!record->name || strcmp(record->name, name) != 0) {
		record->delay_usec = 0;
		record->failures = 0;
		record->failing_usec = 0;
	}
	record->name = name;
	record->pending = true;
	record->retry_usec = 0;
	*ret = record;
	return 0;
}

static void record_remove(struct key_table *table, struct key_record *record)
{
	struct key_volume *volume = record->of;

	DL_DELETE(volume->records, record);
	record_free(record);
	if (!volume->records)
		volume_free(table, volume);
}

uint64_t key_end(struct key_table *table, struct key_record *record, bool succeeded,
		 uint64_t now_usec)
{
	assert(table && record && record->pending);
	if (succeeded) {
		record_remove(table, record);
		return 0;
	}
	if (record->delay_usec == 0)
		record->delay_usec = table->back_off.first_usec;
	else if (record->delay_usec > table->back_off.max_usec / 2)
		record->delay_usec = table->back_off.max_usec;
	else
		record->delay_usec *= 2;
	if (record->failures++ == 0)
		record->failing_usec = now_usec;
	record->pending = false;
	record->retry_usec = now_usec + record->delay_usec;
	return record->retry_usec;
}

void key_retry_now(struct key_record *record, uint64_t now_usec)
{
	assert(record && !record->pending);
	record->retry_usec = now_usec;
	record->delay_usec /= 2;
}

void key_wait(struct key_record *record)
{
	assert(record && !record->pending);
	record->retry_usec = UINT64_MAX;
}

void key_drop(struct key_table *table, struct key_record *record)
{
	assert(table && record && !record->pending);
	record_remove(table, record);
}

struct key_record *key_records(const struct key_table *table, const char *volume)
{
	const struct key_volume *found;

	assert(table && volume);
	found = find_volume(table, volume);
	return found ? found->records : NULL;
}

struct key_record *key_next(const struct key_table *table, const struct key_record *record)
{
	const struct key_volume *volume;

	assert(table);
	if (!record)
		return table->volumes ? table->volumes->records : NULL;
	if (record->next)
		return record->next;
	volume = record->of->hh.next;
	return volume ? volume->records : NULL;
}
