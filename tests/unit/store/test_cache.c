/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cache - objects sorted by namespace and name: found, replaced, removed, walked
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_world.h"

#include "base/cleanup.h"
#include "store/cache.h"

#include <stdio.h>
#include <string.h>

static void put(struct cache *cache, const struct object *object)
{
	assert_int_equal(cache_reserve(cache, object->kind, 1), 0);
	(void) object_unref(cache_put(cache, object));
}

static int check_order(const struct object *object, void *userdata)
{
	const struct object **last = userdata;
	int order = -1;

	if (*last) {
		order = strcmp((*last)->meta.name_space, object->meta.name_space);
		if (order == 0)
			order = strcmp((*last)->meta.name, object->meta.name);
	}
	assert_true(order < 0);
	*last = object;
	return 0;
}

static void any_order_of_coming_and_going_stays_sorted(void **state)
{
	enum { COUNT = 500 };
	struct cache cache = { 0 };
	char name[16], space[16];

	for (unsigned int i = 0; i < COUNT; i++) {
		unsigned int n = i * 7919 % COUNT;

		(void) snprintf(name, sizeof(name), "n%u", n);
		(void) snprintf(space, sizeof(space), "s%u", n % 7);
		cleanup_object const struct object *claim = make_claim(space, name, NULL);

		put(&cache, claim);
		put(&cache, claim);
	}
	assert_int_equal(cache.kinds[KIND_PERSISTENT_VOLUME_CLAIM].count, COUNT);
	for (unsigned int n = 0; n < COUNT; n++) {
		const struct object *found, *last = NULL;

		(void) snprintf(name, sizeof(name), "n%u", n);
		(void) snprintf(space, sizeof(space), "s%u", n % 7);
		found = cache_get(&cache, KIND_PERSISTENT_VOLUME_CLAIM, space, name);
		assert_non_null(found);
		assert_string_equal(found->meta.name, name);
		assert_null(cache_get(&cache, KIND_PERSISTENT_VOLUME_CLAIM, "s9", name));
		assert_null(cache_get(&cache, KIND_POD, space, name));
		if (n % 3)
			continue;
		assert_ptr_equal(cache_remove(&cache, KIND_PERSISTENT_VOLUME_CLAIM, space, name),
				 found);
		(void) object_unref(found);
		assert_null(cache_remove(&cache, KIND_PERSISTENT_VOLUME_CLAIM, space, name));
		assert_int_equal(
			cache_walk(&cache, KIND_PERSISTENT_VOLUME_CLAIM, NULL, check_order, &last),
			0);
	}
	cache_done(&cache);
}

static void replaced_object_is_given_back(void **state)
{
	cleanup_object const struct object *a = make_volume("v", "a");
	cleanup_object const struct object *b = make_volume("v", "b");
	struct cache cache = { 0 };
	const struct object *old;

	put(&cache, a);
	old = cache_put(&cache, b);
	assert_ptr_equal(old, a);
	(void) object_unref(old);
	assert_ptr_equal(cache_get(&cache, KIND_PERSISTENT_VOLUME, "", "v"), b);
	cache_done(&cache);
}

static int add_name(const struct object *object, void *userdata)
{
	char *names = userdata;

	(void) snprintf(names + strlen(names), 64 - strlen(names), "%s ", object->meta.name);
	return 0;
}

/* Behind any name, there or not, of any namespace. */
static void assert_count_is_of_walk(const struct cache *cache)
{
	static const char *const spaces[] = { NULL, "a", "aa", "ab", "b", "c", "" };

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		for (size_t j = 1; j < ARRAY_SIZE(spaces); j++) {
			for (const char *name = "0123456"; *name; name++) {
				const struct store_key after = {
					KIND_PERSISTENT_VOLUME_CLAIM, spaces[j],
					(const char[]){ *name == '0' ? '\0' : *name, '\0' }
				};
				char names[64] = "";

				assert_int_equal(cache_walk_after(cache, spaces[i], &after, 0,
								  add_name, names),
						 0);
				assert_int_equal(cache_count_after(cache, spaces[i], &after),
						 strlen(names) / 2);
			}
		}
	}
}

static void walk_of_a_namespace_sees_no_neighbour(void **state)
{
	static const char *const keys[][2] = { { "a", "1" },   { "ab", "2" }, { "a", "3" },
					       { "a-b", "4" }, { "b", "5" },  { "aa", "6" } };
	struct cache cache = { 0 };
	char names[64] = "";

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup_object const struct object *claim =
			make_claim(keys[i][0], keys[i][1], NULL);

		put(&cache, claim);
	}
	assert_int_equal(cache_walk(&cache, KIND_PERSISTENT_VOLUME_CLAIM, "a", add_name, names), 0);
	assert_string_equal(names, "1 3 ");
	names[0] = '\0';
	assert_int_equal(cache_walk(&cache, KIND_PERSISTENT_VOLUME_CLAIM, "c", add_name, names), 0);
	assert_string_equal(names, "");
	assert_count_is_of_walk(&cache);
	cache_done(&cache);
}

static const struct object *make_labelled(unsigned int number, const char *tier)
{
	char text[512];

	(void) snprintf(text, sizeof(text),
			"{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'n%03u',"
			"'namespace':'a','labels':{'app':'web','tier':'%s'}}}",
			number, tier);
	return object_of(text);
}

static const char *wanted_tier;

static int count_object(const struct object *object, void *userdata)
{
	assert_string_equal(label_value(&object->meta.labels, "tier"), wanted_tier);
	++*(unsigned int *) userdata;
	return 0;
}

static unsigned int count_with(const struct cache *cache, const char *tier)
{
	const struct store_key first = { KIND_CONFIG_MAP, "", "" };
	const struct label label = { "tier", tier };
	unsigned int count = 0;

	wanted_tier = tier;
	assert_int_equal(cache_walk_after(cache, "a", &first,
					  labels_bits(&(struct labels){ &label, 1 }), count_object,
					  &count),
			 0);
	return count;
}

/* Others may have the same bits, but not these. */
static void walk_by_label_leaves_the_others_out(void **state)
{
	struct cache cache = { 0 };

	for (unsigned int i = 0; i < 100; i++) {
		cleanup_object const struct object *map =
			make_labelled(i, i % 10 == 3 ? "front" : "back");

		put(&cache, map);
	}
	assert_int_equal(count_with(&cache, "front"), 10);
	assert_int_equal(count_with(&cache, "back"), 90);
	assert_int_equal(count_with(&cache, "none"), 0);

	/* Replaced and removed, the others keep what is theirs. */
	cleanup_object const struct object *moved = make_labelled(3, "back");

	put(&cache, moved);
	(void) object_unref(cache_remove(&cache, KIND_CONFIG_MAP, "a", "n012"));
	assert_int_equal(count_with(&cache, "front"), 9);
	assert_int_equal(count_with(&cache, "back"), 90);
	cache_done(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_of_coming_and_going_stays_sorted),
		cmocka_unit_test(replaced_object_is_given_back),
		cmocka_unit_test(walk_of_a_namespace_sees_no_neighbour),
		cmocka_unit_test(walk_by_label_leaves_the_others_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
