/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_store - a store that is an array, for tests of what reads the store
 *
 * Objects come from YAML by the real decoder. A test that links this wraps store_get() and
 * store_list(). Each change is handed to one listener, as a watch would.
 */
#pragma once

#include "store/store.h"

enum { FAKE_STORE_OBJECTS_MAX = 64 };

struct store {
	const struct object *objects[FAKE_STORE_OBJECTS_MAX];
	size_t count;
	void (*listener)(const struct store_change *change, void *userdata);
	void *userdata;
};

/* Adds the object, or replaces the one of its name; the text is a format. */
void fake_store_put(struct store *store, const char *yaml, ...)
	__attribute__((format(printf, 2, 3)));
void fake_store_delete(struct store *store, enum object_kind kind, const char *name);
void fake_store_done(struct store *store);
