/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_index - where the members of an object, or the elements of a list, are
 *
 * Trees are linked lists: to look n texts up among n members takes n steps each. An index is sorted
 * by a sum of each text, so that neither the length of a common beginning nor an order that the
 * writer chose makes it slow: n log n numbers are compared, and texts only where their sums are the
 * same.
 */
#pragma once

#include "base/cleanup.h"
#include "object/json/json.h"

struct json_index_entry {
	uint64_t sum;
	const char *text; /* NULL: taken out by the owner of the index */
	const struct cJSON *item;
	size_t place; /* in the list, from 0 */
};

struct json_index {
	struct json_index_entry *entries; /* NULL: there is no index */
	size_t count, compared;           /* entries; comparisons up to now */
};

/**
 * json_index_make - an index of the members of an object or of the elements of a list
 * @container: borrowed; what the index names must not be freed before its entry is taken out
 * @key:       NULL: members by their keys; "": elements by themselves; else by their member @key
 *
 * Return: 0; -ENOENT: an element has no such text, that is a string or number; -ENOMEM. Nothing is
 * to be freed then.
 */
int json_index_make(const struct cJSON *container, const char *key, struct json_index *ret);
void json_index_done(struct json_index *index);
#define cleanup_json_index cleanup(json_index_done)

/* The first with this text; NULL: none. */
struct json_index_entry *json_index_find(struct json_index *index, const char *text);
/* One whose text came before in the list; NULL: none. */
const struct cJSON *json_index_duplicate(const struct json_index *index);
