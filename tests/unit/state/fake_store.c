/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_store - a store that is an array; see fake_store.h
 *
 * Looks for names from the start: a test has a handful of objects.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_store.h"

#include "base/cleanup.h"

#include <string.h>

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name);
int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata);

uint64_t __wrap_store_resource_version(struct store *store);

/* Another one at each look: a test changes objects between any two. */
uint64_t __wrap_store_resource_version(struct store *store)
{
	static uint64_t version;

	return ++version;
}

static size_t find(const struct store *store, enum object_kind kind, const char *name_space,
		   const char *name)
{
	size_t i;

	for (i = 0; i < store->count; i++)
		if (store->objects[i]->kind == kind &&
		    strcmp(store->objects[i]->meta.name, name) == 0 &&
		    strcmp(store->objects[i]->meta.name_space, name_space) == 0)
			break;
	return i;
}

const struct object *__wrap_store_get(struct store *store, enum object_kind kind,
				      const char *name_space, const char *name)
{
	size_t i = find(store, kind, name_space, name);

	return i < store->count ? store->objects[i] : NULL;
}

int __wrap_store_list(struct store *store, enum object_kind kind, const char *name_space,
		      int (*visit)(const struct object *object, void *userdata), void *userdata)
{
	int result = 0;

	assert_null(name_space);
	for (size_t i = 0; i < store->count && result == 0; i++)
		if (store->objects[i]->kind == kind)
			result = visit(store->objects[i], userdata);
	return result;
}

static const struct object *parse(const char *text)
{
	struct document_list list = { .count = 0 };
	struct failure failure = { 0 };
	const struct object *object;

	assert_int_equal(documents_parse(text, strlen(text), &list, &failure), 0);
	assert_int_equal(list.count, 1);
	if (!list.documents[0].object)
		print_error("# %s\n# %s\n", list.documents[0].failure->text, text);
	assert_non_null(list.documents[0].object);
	object = object_ref(list.documents[0].object);
	document_list_done(&list);
	return object;
}

static void announce(struct store *store, enum store_change_type type, const struct object *object,
		     const struct object *previous)
{
	struct store_change change = { .type = type, .object = object, .previous = previous };

	if (store->listener)
		store->listener(&change, store->userdata);
}

void fake_store_put(struct store *store, const char *yaml, ...)
{
	const struct object *object, *previous = NULL;
	char text[4096];
	va_list arguments;
	size_t i;

	va_start(arguments, yaml);
	assert_true((size_t) vsnprintf(text, sizeof(text), yaml, arguments) < sizeof(text));
	va_end(arguments);

	object = parse(text);
	i = find(store, object->kind, object->meta.name_space, object->meta.name);
	assert_true(i < FAKE_STORE_OBJECTS_MAX);
	if (i < store->count)
		previous = store->objects[i];
	else
		store->count++;
	store->objects[i] = object;
	announce(store, previous ? STORE_MODIFIED : STORE_ADDED, object, previous);
	object_unref(previous);
}

void fake_store_delete(struct store *store, enum object_kind kind, const char *name)
{
	const char *name_space = kind == KIND_PERSISTENT_VOLUME ? "" : "default";
	size_t i = find(store, kind, name_space, name);
	const struct object *object;

	assert_true(i < store->count);
	object = store->objects[i];
	store->objects[i] = store->objects[--store->count];
	announce(store, STORE_DELETED, object, object);
	object_unref(object);
}

void fake_store_done(struct store *store)
{
	while (store->count > 0)
		object_unref(store->objects[--store->count]);
}
