/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_views - node views as JSON and as Tables, compared exactly
 */
#include "api_world.h"

#include "api/view_table.h"
#include "base/cleanup.h"
#include "tests/unit/object/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* 2026-11-21T08:15:30Z */
#define NOW_USEC (1795248930ULL * 1000000)

static const char volumes_json[] =
	"{\"items\":[{\"pod\":\"default/web\",\"podUID\":\"u1\",\"volume\":\"data\",\"uniqueName\":"
	"\"kubernetes.io/local-volume/disk\",\"plugin\":\"kubernetes.io/local-volume\",\"source\":"
	"\"/mnt/disk\",\"path\":\"/var/lib/kubelet/pods/u1/volumes/x/disk\",\"readOnly\":true,"
	"\"state\":\"mounted\",\"step\":\"\",\"since\":\"2026-11-21T08:15:00.5Z\",\"attempts\":0,"
	"\"tookMicroseconds\":1234,\"limitBytes\":16777216,\"enforcedBy\":\"image\","
	"\"usedBytes\":4096,\"inodesUsed\":2,\"countedAt\":\"2026-11-21T08:15:20Z\"},"
	"{\"pod\":\"default/db\",\"podUID\":\"u2\",\"volume\":\"log\",\"uniqueName\":\"h\","
	"\"plugin\":\"kubernetes.io/host-path\",\"source\":\"/log\",\"path\":\"/log\",\"readOnly\":"
	"false,\"state\":\"pending\",\"step\":\"SetUp\",\"error\":\"no such file\",\"attempts\":3,"
	"\"nextRetry\":\"2026-11-21T08:15:38Z\"}]}";

static void assert_rows(const char *view, const struct view_columns *columns, const char *expected)
{
	const struct json_limits limits = { .bytes = 1 << 20, .depth = 32 };
	cleanup_json struct cJSON *tree = NULL, *table = NULL;
	cleanup_free char *text = NULL;
	struct failure why;
	const char *rows;

	assert_int_equal(json_parse(view, strlen(view), &limits, &tree, &why), 0);
	table = view_table(tree, columns, NOW_USEC);
	text = json_print(table);
	assert_non_null(text);
	rows = strstr(text, "\"rows\":");
	assert_non_null(rows);
	assert_string_equal(rows, expected);
}

static void test_volume_table(void **state)
{
	cleanup_json struct cJSON *tree = tree_of_file("tests/unit/api/volume_rows.json");
	cleanup_free char *expected = json_print(tree);

	assert_rows(volumes_json, &view_volume_columns, strstr(expected, "\"rows\":"));
}

/* What comes first of what is not as it should be. */
static void test_why(void **state)
{
	static const char *const rows[][2] = {
		{ "\"error\":\"e\",\"fault\":\"f\",\"drift\":\"d\"", "f" },
		{ "\"error\":\"e\",\"progress\":\"p\"", "e" },
		{ "\"leftOver\":\"l\",\"drift\":\"d\"", "d" },
		{ "\"error\":\"\",\"progress\":\"7 entries\"", "7 entries" },
		{ "\"state\":\"mounted\"", "-" },
	};
	static const struct view_columns *const all = &view_volume_columns;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct json_limits limits = { .bytes = 1000, .depth = 8 };
		cleanup_json struct cJSON *item = NULL;
		char view[128], text[VIEW_CELL_BYTES] = "";

		(void) snprintf(view, sizeof(view), "{%s}", rows[i][0]);
		assert_int_equal(json_parse(view, strlen(view), &limits, &item, NULL), 0);
		for (size_t k = 0; k < all->count; k++)
			if (strcmp(all->columns[k].name, "Why") == 0)
				all->columns[k].format(item, "", NOW_USEC, text);
		assert_string_equal(text, rows[i][1]);
	}
}

/* Rows are chosen and ordered by members; what cannot be is refused. */
static void test_filters(void **state)
{
	static const struct {
		const char *query, *first, *second;
	} rows[] = {
		{ "namespace=default", "u1", "u2" },
		{ "namespace=def", "", "" },
		{ "namespace=other", "", "" },
		{ "fieldSelector=state!%3Dmounted", "u2", "" },
		{ "fieldSelector=state=mounted,readOnly==true", "u1", "" },
		{ "fieldSelector=state=mounted,attempts=3", "", "" },
		{ "sortBy=attempts", "u1", "u2" },
		{ "sortBy=pod", "u2", "u1" },
	};
	static const char *const refused[] = {
		"labelSelector=a%3Db",    "fieldSelector=none=1", "fieldSelector=state",
		"fieldSelector==mounted", "sortBy=none",          "sortBy=",
	};
	struct world *world = *state;
	char path[128];

	world->agent.volumes = volumes_json;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		(void) snprintf(path, sizeof(path), "/podvol/v1/volumes?%s", rows[i].query);
		assert_int_equal(world_request(world, METHOD_GET, path, NULL), 200);
		assert_string_equal(world_string(world, "items.0.podUID"), rows[i].first);
		assert_string_equal(world_string(world, "items.1.podUID"), rows[i].second);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		(void) snprintf(path, sizeof(path), "/podvol/v1/volumes?%s", refused[i]);
		assert_int_equal(world_request(world, METHOD_GET, path, NULL), 400);
	}
	assert_int_equal(
		world_request(world, METHOD_GET, "/podvol/v1/drivers?namespace=default", NULL),
		400);
}

static void test_took(void **state)
{
	static const struct {
		const char *usec, *text;
	} rows[] = {
		{ "0", "-" },          { "-5", "-" },         { "7", "7us" },
		{ "999", "999us" },    { "1000", "1.0ms" },   { "99949", "99.9ms" },
		{ "100000", "100ms" }, { "999999", "999ms" }, { "1500000", "1.50s" },
		{ "\"x\"", "-" },
	};
	static const char key[] = "tookMicroseconds";
	static const struct view_columns *const all = &view_volume_columns;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct json_limits limits = { .bytes = 1000, .depth = 8 };
		cleanup_json struct cJSON *item = NULL;
		char view[128], text[VIEW_CELL_BYTES] = "";

		(void) snprintf(view, sizeof(view), "{\"%s\":%s}", key, rows[i].usec);
		assert_int_equal(json_parse(view, strlen(view), &limits, &item, NULL), 0);
		for (size_t k = 0; k < all->count; k++)
			if (strcmp(all->columns[k].key, key) == 0)
				all->columns[k].format(item, key, NOW_USEC, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void test_other_tables(void **state)
{
	assert_rows("{\"items\":[{\"file\":\"a.yaml\",\"line\":3,\"kind\":\"Pod\",\"namespace\":"
		    "\"default\",\"name\":\"web\",\"text\":\"bad\",\"since\":"
		    "\"2026-11-21T08:15:29Z\"}]}",
		    &view_manifest_columns,
		    "\"rows\":[{\"cells\":[\"a.yaml\",\"3\",\"Pod\",\"default\",\"web\",\"1s\","
		    "\"bad\"]}]}");
	assert_rows(
		"{\"items\":[{\"uniqueName\":\"p/x\",\"pod\":\"default/web\",\"podUID\":\"u\","
		"\"step\":\"SetUp\",\"stage\":\"bind\",\"since\":\"2026-11-21T08:15:20Z\","
		"\"attempts\":1,\"nextRetry\":\"2026-11-21T08:15:00Z\",\"progress\":\"7 "
		"entries\",\"error\":\"\"}]}",
		&view_operation_columns,
		"\"rows\":[{\"cells\":[\"default/web\",\"-\",\"SetUp\",\"10s\",\"1\",\"now\",\"-\","
		"\"bind\",\"p/x\",\"7 entries\",\"7 "
		"entries\",\"-\",\"-\",\"-\",\"no\",\"-\",\"u\",\"-\"]}]}");
	assert_rows("{}", &view_operation_columns, "\"rows\":[]}");
}

static void test_volumes(void **state)
{
	struct world *world = *state;

	world->agent.volumes = volumes_json;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/volumes", NULL), 200);
	assert_string_equal(world_reply(world), volumes_json);
	assert_int_equal(
		world_request(world, METHOD_GET, "/podvol/v1/volumes?pod=default/db", NULL), 200);
	assert_string_equal(world_string(world, "items.0.podUID"), "u2");
	assert_string_equal(world_string(world, "items.1.podUID"), "");

	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/volumes", NULL), 200);
	assert_string_equal(world_string(world, "kind"), "Table");
	assert_string_equal(world_string(world, "apiVersion"), "meta.k8s.io/v1");
	assert_string_equal(world_string(world, "columnDefinitions.3.name"), "State");
	assert_string_equal(world_string(world, "columnDefinitions.3.priority"), "0");
	assert_string_equal(world_string(world, "columnDefinitions.3.description"), "state");
	assert_string_equal(world_string(world, "columnDefinitions.6.name"), "Claim");
	assert_string_equal(world_string(world, "columnDefinitions.6.priority"), "1");
	assert_string_equal(world_string(world, "columnDefinitions.14.priority"), "2");

	world_form = FORM_YAML;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/volumes", NULL), 200);
	assert_string_equal(world->exchange.reply_type, "application/yaml");
}

static void test_one_volume(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/volumes/a%2Fb", NULL), 404);
	assert_string_equal(world_string(world, "message"), "volume \"a/b\" not found");
	world->agent.volume = volumes_json;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/volumes/a%2Fb", NULL), 200);
	assert_string_equal(world_string(world, "items.0.volume"), "data");
}

static void test_versions(void **state)
{
	struct world *world = *state;

	world->agent.version = "{\"podvol\":\"0.1.0\",\"kubernetes\":\"v1.32.0\"}";
	assert_int_equal(world_request(world, METHOD_GET, "/version", NULL), 200);
	assert_string_equal(world_string(world, "major"), "1");
	assert_string_equal(world_string(world, "minor"), "32");
	assert_string_equal(world_string(world, "gitVersion"), "v1.32.0+podvol-0.1.0");
	assert_int_equal(strncmp(world_string(world, "platform"), "linux/", 6), 0);
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/version", NULL), 200);
	assert_string_equal(world_reply(world), world->agent.version);
	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, "/podvol/v1/version", NULL), 200);
	assert_string_equal(world_string(world, "rows.1.cells.0"), "kubernetes");
	assert_string_equal(world_string(world, "rows.1.cells.1"), "v1.32.0");
}

static void test_health(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_GET, "/healthz", NULL), 200);
	assert_string_equal(world_reply(world), "ok");
	assert_int_equal(world_request(world, METHOD_GET, "/livez", NULL), 200);
	assert_int_equal(world_request(world, METHOD_GET, "/readyz", NULL), 200);
	world->agent.ready = false;
	assert_int_equal(world_request(world, METHOD_GET, "/readyz", NULL), 500);
	assert_string_equal(world_reply(world),
			    "[-]sources failed: one is late\nreadyz check failed\n");
	world->agent.stuck = "volume_mount hangs";
	assert_int_equal(world_request(world, METHOD_GET, "/healthz", NULL), 500);
	assert_string_equal(world_reply(world),
			    "[-]operations failed: volume_mount hangs\nhealthz check failed\n");
	assert_int_equal(world_request(world, METHOD_GET, "/livez", NULL), 200);
	world->agent.ready = true;
	assert_int_equal(world_request(world, METHOD_GET, "/readyz?verbose", NULL), 200);
	assert_string_equal(world_reply(world), "[+]sources ok\nreadyz check passed\n");
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_volume_table),
		cmocka_unit_test(test_took),
		cmocka_unit_test(test_why),
		IN_WORLD(test_filters),
		cmocka_unit_test(test_other_tables),
		IN_WORLD(test_volumes),
		IN_WORLD(test_one_volume),
		IN_WORLD(test_versions),
		IN_WORLD(test_health),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
