/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_discovery - every kind of the table is listed, in each of the lists clients read
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct cJSON *get(struct world *world, const char *uri)
{
	const struct json_limits limits = { .bytes = 1 << 20, .depth = 32 };
	struct cJSON *tree = NULL;
	struct failure why;

	assert_int_equal(world_request(world, METHOD_GET, uri, NULL), 200);
	assert_int_equal(
		json_parse(world_reply(world), strlen(world_reply(world)), &limits, &tree, &why),
		0);
	return tree;
}

/* The element whose member @key is @value; NULL: none. */
static const struct cJSON *find(const struct cJSON *list, const char *key, const char *value)
{
	for (const struct cJSON *item = json_first(list); item; item = json_next(item))
		if (strcmp(json_string(json_get(item, key), ""), value) == 0)
			return item;
	return NULL;
}

static bool holds(const struct cJSON *list, const char *text)
{
	for (const struct cJSON *item = json_first(list); item; item = json_next(item))
		if (strcmp(json_string(item, ""), text) == 0)
			return true;
	return false;
}

static void expect_strings(const struct cJSON *list, const char *const *strings)
{
	size_t count = 0;

	for (; strings && strings[count]; count++)
		assert_string_equal(json_string(json_at(list, count), ""), strings[count]);
	assert_int_equal(json_count(list), count);
}

static void expect_equal(const struct cJSON *tree, const char *text)
{
	cleanup_free char *printed = json_print(tree);

	assert_string_equal(printed, text);
}

#define FOR_EACH_KIND(row)                                                                         \
	for (int kind = 0; kind < KIND_COUNT; kind++)                                              \
		for (const struct kind_row *row = kind_row((enum object_kind) kind); row;          \
		     row = NULL)

static void test_versions(void **state)
{
	cleanup_json struct cJSON *tree = get(*state, "/api");

	expect_equal(tree, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
			   "\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\","
			   "\"serverAddress\":\"\"}]}");
}

static void test_every_group(void **state)
{
	cleanup_json struct cJSON *list = get(*state, "/apis/");

	assert_string_equal(json_string(json_get(list, "kind"), ""), "APIGroupList");
	FOR_EACH_KIND(row)
	{
		const struct cJSON *group = find(json_get(list, "groups"), "name", row->group);
		cleanup_json struct cJSON *alone = NULL;
		const struct cJSON *version;
		char text[256];

		if (*row->group == '\0') {
			assert_null(group); /* it is at /api */
			continue;
		}
		assert_int_equal(json_count(json_get(group, "versions")), 1);
		version = json_at(json_get(group, "versions"), 0);
		(void) snprintf(text, sizeof(text), "%s/%s", row->group, row->version);
		assert_string_equal(json_string(json_get(version, "groupVersion"), ""), text);
		assert_string_equal(json_string(json_get(version, "version"), ""), row->version);
		assert_true(json_equal(version, json_get(group, "preferredVersion")));

		(void) snprintf(text, sizeof(text), "/apis/%s", row->group);
		alone = get(*state, text);
		assert_string_equal(json_string(json_get(alone, "kind"), ""), "APIGroup");
		json_remove(alone, "kind");
		json_remove(alone, "apiVersion");
		assert_true(json_equal(alone, group));
	}
}

static struct cJSON *get_resources(struct world *world, const struct kind_row *row)
{
	char uri[256];

	(void) snprintf(uri, sizeof(uri), "%s%s/%s", *row->group ? "/apis/" : "/api", row->group,
			row->version);
	return get(world, uri);
}

static void test_every_resource(void **state)
{
	FOR_EACH_KIND(row)
	{
		cleanup_json struct cJSON *list = get_resources(*state, row);
		const struct cJSON *resources = json_get(list, "resources"), *found, *status;
		char name[128];

		assert_string_equal(json_string(json_get(list, "kind"), ""), "APIResourceList");
		found = find(resources, "name", row->plural);
		assert_non_null(found);
		assert_string_equal(json_string(json_get(found, "kind"), ""), row->name);
		assert_string_equal(json_string(json_get(found, "singularName"), ""),
				    row->singular);
		assert_int_equal(json_bool(json_get(found, "namespaced"), !row->namespaced),
				 row->namespaced);
		assert_true(holds(json_get(found, "verbs"), "list"));
		assert_true(holds(json_get(found, "verbs"), "watch"));
		expect_strings(json_get(found, "shortNames"), row->short_names);
		expect_strings(json_get(found, "categories"), row->categories);

		(void) snprintf(name, sizeof(name), "%s/status", row->plural);
		status = find(resources, "name", name);
		assert_int_equal(status != NULL, row->has_status);
		if (status)
			assert_false(holds(json_get(status, "verbs"), "delete"));
	}
}

static const struct cJSON *find_group(const struct cJSON *list, const char *name)
{
	for (const struct cJSON *item = json_first(json_get(list, "items")); item;
	     item = json_next(item))
		if (strcmp(json_string(json_get(json_get(item, "metadata"), "name"), ""), name) ==
		    0)
			return item;
	return NULL;
}

/* The aggregated lists say the same as the single ones. */
static void test_all_at_once(void **state)
{
	static const struct {
		enum api_form form;
		const char *version, *type;
	} forms[] = {
		{ FORM_GROUPS, "apidiscovery.k8s.io/v2",
		  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" },
		{ FORM_GROUPS_BETA, "apidiscovery.k8s.io/v2beta1",
		  "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList" },
	};
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		cleanup_json struct cJSON *core = NULL, *others = NULL;

		world_form = forms[i].form;
		core = get(world, "/api");
		others = get(world, "/apis");
		assert_string_equal(world->exchange.reply_type, forms[i].type);
		assert_string_equal(json_string(json_get(others, "apiVersion"), ""),
				    forms[i].version);
		assert_int_equal(json_count(json_get(core, "items")), 1);
		FOR_EACH_KIND(row)
		{
			const struct cJSON *group, *version, *found;

			group = find_group(*row->group ? others : core, row->group);
			version = json_at(json_get(group, "versions"), 0);
			assert_string_equal(json_string(json_get(version, "version"), ""),
					    row->version);
			found = find(json_get(version, "resources"), "resource", row->plural);
			assert_string_equal(
				json_string(json_get(json_get(found, "responseKind"), "kind"), ""),
				row->name);
			assert_string_equal(json_string(json_get(found, "scope"), ""),
					    row->namespaced ? "Namespaced" : "Cluster");
			expect_strings(json_get(found, "shortNames"), row->short_names);
			expect_strings(json_get(found, "categories"), row->categories);
			assert_int_equal(json_count(json_get(found, "subresources")),
					 row->has_status);
		}
	}
}

/* A group has one version: discovery would hide the kinds of a second. */
static void test_groups_have_one_version(void **state)
{
	FOR_EACH_KIND(row)
	{
		for (int other = 0; other < KIND_COUNT; other++) {
			const struct kind_row *second = kind_row((enum object_kind) other);

			if (strcmp(row->group, second->group) == 0)
				assert_string_equal(row->version, second->version);
		}
	}
}

static void test_not_found(void **state)
{
	static const char *const uris[] = { "/api/v2", "/apis/nobody.example.com",
					    "/apis/storage.k8s.io/v1beta1",
					    "/apis/nobody.example.com/v1" };

	for (size_t i = 0; i < ARRAY_SIZE(uris); i++) {
		assert_int_equal(world_request(*state, METHOD_GET, uris[i], NULL), 404);
		assert_string_equal(world_string(*state, "reason"), "NotFound");
	}
	assert_int_equal(world_request(*state, METHOD_POST, "/apis", "{}"), 405);
}

static void test_indexes(void **state)
{
	cleanup_json struct cJSON *all = get(*state, "/"), *views = get(*state, "/podvol/v1/");
	const struct cJSON *paths = json_get(all, "paths");

	assert_true(holds(paths, "/api/v1"));
	assert_true(holds(paths, "/apis/storage.k8s.io/v1"));
	assert_true(holds(paths, "/version"));
	assert_true(holds(paths, "/podvol/v1/operations"));
	for (const struct cJSON *path = json_first(paths); path; path = json_next(path)) {
		assert_null(strpbrk(json_string(path, "*"), "*{"));
		world_begin(*state, METHOD_GET, json_string(path, ""), NULL);
		/* Some answer later, and some have nothing to show in this world. */
		if (((struct world *) *state)->exchange.status == 404)
			assert_string_not_equal(world_string(*state, "message"),
						"the server could not find the requested resource");
		exchange_abandon(&((struct world *) *state)->exchange);
	}

	paths = json_get(views, "paths");
	assert_true(holds(paths, "/podvol/v1/volumes/{volume}"));
	for (const struct cJSON *path = json_first(paths); path; path = json_next(path))
		for (const struct cJSON *other = json_next(path); other; other = json_next(other))
			assert_string_not_equal(json_string(path, ""), json_string(other, ""));
}

/* What is asked for in a form that a path does not have is refused, and says what there is. */
static void test_forms(void **state)
{
	struct world *world = *state;

	world_prepare(world, METHOD_GET, "/apis", NULL);
	world->exchange.accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
	api_dispatch(&world->exchange);
	assert_int_equal(world->exchange.status, 406);
	assert_non_null(strstr(world_string(world, "message"), "as=APIGroupDiscoveryList"));

	world_prepare(world, METHOD_GET, "/healthz", NULL);
	world->exchange.accept = "text/html";
	api_dispatch(&world->exchange);
	assert_int_equal(world->exchange.status, 200);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(test_versions),
		WITH_WORLD(test_every_group),
		WITH_WORLD(test_every_resource),
		WITH_WORLD(test_all_at_once),
		cmocka_unit_test(test_groups_have_one_version),
		WITH_WORLD(test_not_found),
		WITH_WORLD(test_indexes),
		WITH_WORLD(test_forms),
	};

	return cmocka_run_group_tests_name("discovery", tests, NULL, NULL);
}
