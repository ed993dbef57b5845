/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load - rows become objects; see load.h
 */
#include "store/load.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "base/log.h"
#include "object/kind.h"

#include <assert.h>
#include <string.h>

/* ---- bad rows ---- */

struct unreadable {
	struct unreadable *next;
	char kind[64], name_space[64], name[254];
};

/* By name: creating it again would overwrite what a later version may be able to read. */
static int remember_unreadable(struct unreadable **list, const struct database_row *row)
{
	struct unreadable *unreadable = calloc(1, sizeof(*unreadable));

	if (!unreadable)
		return -ENOMEM;
	(void) snprintf(unreadable->kind, sizeof(unreadable->kind), "%s", row->kind);
	(void) snprintf(unreadable->name_space, sizeof(unreadable->name_space), "%s",
			row->name_space);
	(void) snprintf(unreadable->name, sizeof(unreadable->name), "%s", row->name);
	unreadable->next = *list;
	*list = unreadable;
	return 0;
}

bool unreadable_has(const struct unreadable *list, const struct store_key *key)
{
	const char *kind = kind_row(key->kind)->name;

	for (; list; list = list->next)
		if (strcmp(list->kind, kind) == 0 &&
		    strcmp(list->name_space, key->name_space) == 0 &&
		    strcmp(list->name, key->name) == 0)
			return true;
	return false;
}

struct unreadable *unreadable_free(struct unreadable *list)
{
	struct unreadable *first;

	while ((first = list)) {
		list = first->next;
		free(first);
	}
	return NULL;
}

/* ---- the sum ---- */

static uint64_t add_name(uint64_t sum, const char *name)
{
	return fnv1a_add_bytes(sum, name, strlen(name) + 1);
}

/* Of one row, a hundredth of what decoding costs; sums of rows are added, so that their order does
 * not count. */
static uint64_t sum_of(const struct database_row *row)
{
	uint64_t sum = add_name(FNV1A_FIRST, row->kind);

	sum = add_name(add_name(sum, row->name_space), row->name);
	return fnv1a_add_words(sum, row->json, row->json_length);
}

static int add_row(const struct database_row *row, void *userdata)
{
	*(uint64_t *) userdata += sum_of(row);
	return 0;
}

static bool is_checked(const struct load *load, struct database *database)
{
	uint64_t recorded, sum = 0, version;

	return load->program != 0 && database_checked(database, load->program, &recorded) &&
	       database_load(database, add_row, &sum, &version, NULL) == 0 && sum == recorded;
}

static int add_object(const struct object *object, void *userdata)
{
	return add_row(
		&(struct database_row){
			.kind = kind_row(object->kind)->name,
			.name_space = object->meta.name_space,
			.name = object->meta.name,
			.json = object->json,
			.json_length = object->json_length,
		},
		userdata);
}

void load_record(const struct cache *cache, unsigned int unstored_kinds, uint64_t program,
		 struct database *database)
{
	uint64_t sum = 0, recorded;

	if (program == 0)
		return;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (store_place(kind) == STORE_ON_DISK && !(unstored_kinds & 1U << kind))
			(void) cache_walk(cache, kind, NULL, add_object, &sum);
	if (!database_checked(database, program, &recorded) || recorded != sum)
		database_note_check(database, program, sum);
}

/* ---- rows ---- */

struct rows {
	const struct load *load;
	bool are_checked;
	uint64_t version; /* of events: none may be newer */
	bool has_newer;
	const struct object **objects; /* in the order of the file */
	size_t count, room;
};

static bool is_of_row(const struct object *object, const struct database_row *row)
{
	return strcmp(kind_row(object->kind)->name, row->kind) == 0 &&
	       strcmp(object->meta.name_space, row->name_space) == 0 &&
	       strcmp(object->meta.name, row->name) == 0;
}

static int take(struct rows *rows, const struct object *object)
{
	if (ARRAY_ROOM(rows->objects, rows->count, rows->room, 256) < 0)
		return -ENOMEM;
	rows->objects[rows->count++] = object_ref(object);
	return 0;
}

static int compare_objects(const void *first, const void *second)
{
	const struct object *a = *(const struct object *const *) first;
	const struct object *b = *(const struct object *const *) second;
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	if (order == 0)
		order = strcmp(a->meta.name_space, b->meta.name_space);
	return order != 0 ? order : strcmp(a->meta.name, b->meta.name);
}

/* In the cache's own order, in which each is put behind the last. */
static int keep_all(const struct rows *rows)
{
	size_t in_kind[KIND_COUNT] = { 0 };
	int r = 0;

	if (rows->count == 0)
		return 0;
	qsort(rows->objects, rows->count, sizeof(rows->objects[0]), compare_objects);
	for (size_t i = 0; i < rows->count; i++)
		in_kind[rows->objects[i]->kind]++;
	for (int kind = 0; kind < KIND_COUNT && r == 0; kind++)
		if (in_kind[kind] > 0)
			r = cache_reserve(rows->load->cache, kind, in_kind[kind]);
	for (size_t i = 0; i < rows->count && r == 0; i++)
		(void) cache_put(rows->load->cache, rows->objects[i]);
	return r;
}

/* The rows as they lie in the file: in the order of their names each would be a read of its own. */
static int load_all(struct rows *rows, struct database *database,
		    int (*visit)(const struct database_row *row, void *userdata),
		    uint64_t *ret_version, struct failure *reterr)
{
	int r = database_load(database, visit, rows, ret_version, reterr);

	if (r == 0)
		r = keep_all(rows);
	for (size_t i = 0; i < rows->count; i++)
		(void) object_unref(rows->objects[i]);
	free(rows->objects);
	return r == -ENOMEM ? failed(reterr, r, "cannot load the store") : r;
}

static int load_row(const struct database_row *row, void *userdata)
{
	cleanup_object const struct object *object = NULL;
	struct rows *rows = userdata;
	struct failure reason = { .error = 0 };
	int r;

	r = (rows->are_checked ? object_parse_own : object_parse_json)(row->json, row->json_length,
								       &object, &reason);
	if (r == -ENOMEM)
		return r;
	if (r == 0 && !is_of_row(object, row))
		r = failed_plain(&reason, -EINVAL, "it is stored under another name than its own");
	if (r < 0) {
		log_message(LOG_ERR, "stored %s '%s/%s' cannot be read; it is kept, not served: %s",
			    row->kind, row->name_space, row->name, reason.text);
		return remember_unreadable(rows->load->unreadables, row);
	}
	return take(rows, object);
}

int load_objects(const struct load *load, struct database *database, uint64_t *ret_version,
		 struct failure *reterr)
{
	struct rows rows = { .load = load, .are_checked = is_checked(load, database) };

	return load_all(&rows, database, load_row, ret_version, reterr);
}

/* Newer ones are of a store that was here before: this one is older, or new. */
static int load_event(const struct database_row *row, void *userdata)
{
	cleanup_object const struct object *object = NULL;
	struct rows *rows = userdata;

	if (object_parse_json(row->json, row->json_length, &object, NULL) < 0 ||
	    object->meta.resource_version > rows->version) {
		rows->has_newer = true;
		return 0;
	}
	return is_of_row(object, row) ? take(rows, object) : load_row(row, rows);
}

int load_events(const struct load *load, struct database *database, uint64_t version,
		struct failure *reterr)
{
	struct rows rows = { .load = load, .version = version };
	uint64_t ignored;
	int r = load_all(&rows, database, load_event, &ignored, reterr);

	return r == 0 && rows.has_newer ? database_clear(database, reterr) : r;
}
