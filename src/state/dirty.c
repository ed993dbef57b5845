/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirty - the set of unique volume names that are to be reconciled; see dirty.h
 *
 * A hash table that keeps the order of insertion: adding, finding and taking the oldest name cost
 * the same however many there are. Knows names only, never a table.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "state/dirty.h"

#include "base/cleanup.h"
#include "base/hash_table.h"

#include <assert.h>
#include <string.h>

struct dirty_name {
	char *unique_name;
	UT_hash_handle hh;
};

struct dirty_set {
	void (*wake)(void *userdata);
	void *userdata;
	struct dirty_name *names;
	bool full_pass;
};

int dirty_set_new(void (*wake)(void *userdata), void *userdata, struct dirty_set **ret)
{
	struct dirty_set *set = calloc(1, sizeof(*set));

	if (!set)
		return -ENOMEM;

	set->wake = wake;
	set->userdata = userdata;
	*ret = set;
	return 0;
}

struct dirty_set *dirty_set_free(struct dirty_set *set)
{
	struct dirty_name *name, *next;

	if (!set)
		return NULL;

	HASH_ITER (hh, set->names, name, next) {
		HASH_DEL(set->names, name);
		free(name->unique_name);
		free(name);
	}
	free(set);
	return NULL;
}

static struct dirty_name *dirty_name_new(const char *unique_name)
{
	struct dirty_name *name = calloc(1, sizeof(*name));

	if (!name)
		return NULL;

	name->unique_name = strdup(unique_name);
	if (!name->unique_name) {
		free(name);
		return NULL;
	}
	return name;
}

static int insert_name(struct dirty_set *set, const char *unique_name)
{
	struct dirty_name *name = dirty_name_new(unique_name);

	if (!name)
		return -ENOMEM;

	HASH_ADD_KEYPTR(hh, set->names, name->unique_name, strlen(name->unique_name), name);
	if (!name->hh.tbl) {
		free(name->unique_name);
		free(name);
		return -ENOMEM;
	}
	return 0;
}

int dirty_add(struct dirty_set *set, const char *unique_name)
{
	bool was_empty;
	struct dirty_name *name;
	int error;

	assert(set && unique_name);

	HASH_FIND_STR(set->names, unique_name, name);
	if (name)
		return 0;

	was_empty = !set->names && !set->full_pass;
	error = insert_name(set, unique_name);
	if (error < 0)
		set->full_pass = true;
	if (was_empty && set->wake)
		set->wake(set->userdata);
	return error;
}

char *dirty_take(struct dirty_set *set)
{
	struct dirty_name *name;
	char *unique_name;

	assert(set);

	name = set->names;
	if (!name)
		return NULL;

	HASH_DEL(set->names, name);
	unique_name = name->unique_name;
	free(name);
	return unique_name;
}

size_t dirty_count(const struct dirty_set *set)
{
	assert(set);

	return HASH_COUNT(set->names);
}

bool dirty_take_full_pass(struct dirty_set *set)
{
	bool full_pass;

	assert(set);

	full_pass = set->full_pass;
	set->full_pass = false;
	return full_pass;
}

void dirty_request_full_pass(struct dirty_set *set)
{
	assert(set);

	set->full_pass = true;
}
