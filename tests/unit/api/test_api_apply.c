/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_apply - a stream of documents: all or none is begun, others' fields are kept
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define APPLY "/podvol/v1/apply"

static const char stream[] = "apiVersion: v1\n"
			     "kind: Pod\n"
			     "metadata: {name: web, labels: {a: b}}\n"
			     "spec:\n"
			     "  containers: [{name: c, image: i}]\n"
			     "  volumes: [{name: v, emptyDir: {}}]\n"
			     "---\n"
			     "apiVersion: v1\n"
			     "kind: PersistentVolume\n"
			     "metadata: {name: disk}\n"
			     "spec:\n"
			     "  capacity: {storage: 1Gi}\n"
			     "  accessModes: [ReadWriteOnce]\n"
			     "  hostPath: {path: /data}\n";

static void assert_row(struct world *world, unsigned int row, const char *kind, const char *result)
{
	char path[64];

	(void) snprintf(path, sizeof(path), "items.%u.kind", row);
	assert_string_equal(world_string(world, path), kind);
	(void) snprintf(path, sizeof(path), "items.%u.result", row);
	assert_string_equal(world_string(world, path), result);
}

static int apply(struct world *world, const char *text)
{
	world_content = CONTENT_YAML;
	return world_request(world, METHOD_POST, APPLY, text);
}

static void test_a_trial_writes_nothing(void **state)
{
	struct world *world = *state;

	world_content = CONTENT_YAML;
	assert_int_equal(world_request(world, METHOD_POST, APPLY "?dryRun=All", stream), 400);
	assert_int_equal(world_request(world, METHOD_POST, APPLY "?dryRun=x", stream), 422);
	assert_int_equal(world_request(world, METHOD_GET, "/api/v1/persistentvolumes/disk", NULL),
			 404);
}

static void test_create_then_unchanged_then_configured(void **state)
{
	struct world *world = *state;
	cleanup_free char *changed = strdup(stream);

	assert_int_equal(apply(world, stream), 200);
	assert_row(world, 0, "PersistentVolume", "created"); /* before the pod that may use it */
	assert_row(world, 1, "Pod", "created");
	assert_string_equal(world_string(world, "items.1.namespace"), "default");
	assert_string_equal(world_string(world, "items.1.name"), "web");
	assert_int_equal(strlen(world_string(world, "items.1.uid")), 36);

	assert_int_equal(apply(world, stream), 200);
	assert_row(world, 0, "PersistentVolume", "unchanged");
	assert_row(world, 1, "Pod", "unchanged");

	assert_non_null(changed);
	*(strstr(changed, "1Gi")) = '2';
	assert_int_equal(apply(world, changed), 200);
	assert_row(world, 0, "PersistentVolume", "configured");
	assert_row(world, 1, "Pod", "unchanged");
}

static void test_table(void **state)
{
	struct world *world = *state;

	world_form = FORM_TABLE;
	assert_int_equal(apply(world, stream), 200);
	assert_string_equal(world_string(world, "columnDefinitions.4.name"), "Result");
	assert_string_equal(world_string(world, "rows.0.cells.0"), "PersistentVolume");
	assert_string_equal(world_string(world, "rows.0.cells.1"), "-");
	assert_string_equal(world_string(world, "rows.1.cells.4"), "created");
}

static void test_case_467_unknown_fields_are_warned_of(void **state)
{
	struct world *world = *state;

	assert_int_equal(apply(world, "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
				      "  containers: [{name: c, image: i, volumeMounts: "
				      "[{name: v, mountPath: /m, readonly: true}]}]\n"
				      "  volumes: [{name: v, emptyDir: {}}]\n"),
			 200);
	assert_string_equal(world_string(world, "items.0.warning"),
			    "unknown fields, which have no effect: "
			    "spec.containers[0].volumeMounts[0].readonly");
}

static void test_case_468_status_is_dropped(void **state)
{
	struct world *world = *state;

	assert_int_equal(apply(world, "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
				      "spec: {containers: [{name: c, image: i}]}\n"
				      "status: {phase: Succeeded}\n"),
			 200);
	assert_int_equal(
		world_request(world, METHOD_GET, "/api/v1/namespaces/default/pods/web", NULL), 200);
	assert_string_equal(world_string(world, "metadata.name"), "web");
	assert_string_equal(world_string(world, "status.phase"), "");
}

static void test_kinds_of_a_cluster_are_skipped(void **state)
{
	struct world *world = *state;
	cleanup_free char *text = NULL;

	assert_true(asprintf(&text, "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n%s",
			     stream) > 0);
	assert_int_equal(apply(world, text), 200);
	assert_row(world, 0, "PersistentVolume", "created");
	assert_row(world, 1, "Pod", "created");
	assert_row(world, 2, "Service", "skipped");
	assert_string_equal(world_string(world, "items.2.warning"),
			    "podvol does not serve this kind");
	assert_int_equal(apply(world, "apiVersion: v1\nkind: List\nitems: []\n"), 200);
}

/* What a controller wrote since is not in the document and stays. */
static void test_keeps_what_it_does_not_name(void **state)
{
	struct world *world = *state;

	assert_int_equal(apply(world, stream), 200);
	world_content = CONTENT_MERGE_PATCH;
	assert_int_equal(world_request(world, METHOD_PATCH, "/api/v1/persistentvolumes/disk",
				       "{\"metadata\":{\"annotations\":{\"by\":\"us\"}},"
				       "\"spec\":{\"claimRef\":{"
				       "\"namespace\":\"default\",\"name\":\"c\"}}}"),
			 200);
	assert_int_equal(apply(world, stream), 200);
	assert_row(world, 0, "PersistentVolume", "unchanged");
	assert_int_equal(world_request(world, METHOD_GET, "/api/v1/persistentvolumes/disk", NULL),
			 200);
	assert_string_equal(world_string(world, "spec.claimRef.name"), "c");
	assert_string_equal(world_string(world, "metadata.annotations.by"), "us");
}

#define ANNOTATIONS "metadata.annotations."
#define MAP         "/api/v1/namespaces/default/configmaps/conf"

static const char *map_member(struct world *world, const char *path)
{
	assert_int_equal(world_request(world, METHOD_GET, MAP, NULL), 200);
	return world_string(world, path);
}

/* What the document names no more goes; what others wrote stays; what is no more known stays. */
static void test_what_a_document_drops_goes(void **state)
{
	struct world *world = *state;

	assert_int_equal(apply(world, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n"
				      "data: {keep: a, drop: b}\n"),
			 200);
	world_content = CONTENT_MERGE_PATCH;
	assert_int_equal(world_request(world, METHOD_PATCH, MAP,
				       "{\"data\":{\"theirs\":\"c\",\"keep\":\"x\"}}"),
			 200);
	assert_int_equal(apply(world, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n"
				      "data: {keep: a}\n"),
			 200);
	assert_row(world, 0, "ConfigMap", "configured");
	assert_string_equal(map_member(world, "data.keep"), "a");
	assert_string_equal(map_member(world, "data.drop"), "");
	assert_string_equal(map_member(world, "data.theirs"), "c");
}

/* The annotation is kubectl's: what that wrote is what we take away, and the other way round. */
static void test_the_annotation_is_kubectls(void **state)
{
	struct world *world = *state;
	const struct object *object;

	assert_int_equal(
		world_request(
			world, METHOD_POST, "/api/v1/namespaces/default/configmaps",
			"{\"metadata\":{\"name\":\"conf\",\"annotations\":{\"kubectl.kubernetes"
			".io/last-applied-configuration\":\"{\\\"apiVersion\\\":\\\"v1\\\","
			"\\\"data\\\":{\\\"a\\\":\\\"1\\\",\\\"b\\\":\\\"2\\\"}}\\n\"}},"
			"\"data\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}}"),
		201);
	assert_int_equal(apply(world, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n"
				      "data: {a: '1'}\n"),
			 200);
	assert_string_equal(map_member(world, "data.a"), "1");
	assert_string_equal(map_member(world, "data.b"), "");
	assert_string_equal(map_member(world, "data.c"), "3");
	object = store_get(world->agent.store, KIND_CONFIG_MAP, "default", "conf");
	assert_non_null(strstr(object->json,
			       "\"kubectl.kubernetes.io/last-applied-configuration\":\"{"
			       "\\\"apiVersion\\\":\\\"v1\\\",\\\"kind\\\":\\\"ConfigMap\\\","
			       "\\\"metadata\\\":{\\\"name\\\":\\\"conf\\\","
			       "\\\"namespace\\\":\\\"default\\\"},"
			       "\\\"data\\\":{\\\"a\\\":\\\"1\\\"}}\\n\""));
}

/* Annotations have a limit of their own: a long document is applied and not remembered. */
static void test_a_long_document(void **state)
{
	struct world *world = *state;
	enum { BYTES = 300 * 1024 };
	cleanup_free char *text = malloc(BYTES + 256);
	int used;

	assert_non_null(text);
	used = snprintf(text, 256,
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata:\n  a: ");
	memset(text + used, 'x', BYTES);
	text[used + BYTES] = '\0';
	assert_int_equal(apply(world, text), 200);
	assert_int_equal(apply(world, text), 200);
	assert_row(world, 0, "ConfigMap", "unchanged");
	assert_string_equal(map_member(world, ANNOTATIONS "kubectl"), "");
}

static void test_a_bad_document_stops_all(void **state)
{
	struct world *world = *state;
	char text[2048];

	(void) snprintf(text, sizeof(text),
			"%s---\napiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {}\n",
			stream);
	assert_int_equal(apply(world, text), 422);
	assert_non_null(strstr(world_string(world, "message"), "document 3 (line "));
	assert_non_null(
		strstr(world_string(world, "message"),
		       ", Pod default/bad) is refused, nothing was stored: spec.containers"));

	(void) snprintf(text, sizeof(text), "%s---\nkind: [\n", stream);
	assert_int_equal(apply(world, text), 400);
	(void) snprintf(text, sizeof(text), "%s---\napiVersion: apps/v1\nkind: Deploymentt\n",
			stream);
	assert_int_equal(apply(world, text), 400);
	assert_int_equal(apply(world, "# nothing\n"), 400);
	assert_string_equal(world_string(world, "message"),
			    "there is no document: the file or request is empty");
	assert_int_equal(world_request(world, METHOD_POST, APPLY, NULL), 400);

	assert_null(store_get(world->agent.store, KIND_PERSISTENT_VOLUME, "", "disk"));
	assert_null(store_get(world->agent.store, KIND_POD, "default", "web"));
}

/* Found only when its turn comes: the answer says how far it got. */
static void test_not_admitted(void **state)
{
	struct world *world = *state;
	cleanup_free char *changed = strdup(stream);

	assert_int_equal(apply(world, stream), 200);
	assert_non_null(changed);
	memcpy(strstr(changed, "image: i}"), "image: j}", 9); /* a pod's image may change */
	memcpy(strstr(changed, "name: v,"), "name: w,", 8);   /* its volumes may not */
	*(strstr(changed, "1Gi")) = '2';
	assert_int_equal(apply(world, changed), 422);
	assert_non_null(strstr(world_string(world, "message"), "Pod \"web\" is invalid: spec"));
	assert_non_null(strstr(world_string(world, "message"), "(1 of 2 documents were stored)"));
}

static void test_a_stale_version_is_a_conflict(void **state)
{
	struct world *world = *state;

	assert_int_equal(apply(world, stream), 200);
	assert_int_equal(apply(world,
			       "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: "
			       "disk, resourceVersion: \"77\"}\nspec: {capacity: {storage: "
			       "1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /d}}\n"),
			 409);
	assert_string_equal(world_string(world, "reason"), "Conflict");
}

static unsigned int creates;

int __real_store_create(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata);
int __wrap_store_create(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata);

int __wrap_store_create(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata)
{
	creates++;
	return __real_store_create(store, object, done, userdata);
}

/* @count volumes, each object @times times in a row with another size. */
static char *many_documents(size_t count, size_t times)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	assert_non_null(file);
	for (size_t i = 0; i < count; i++)
		(void) fprintf(file,
			       "---\napiVersion: v1\nkind: PersistentVolume\n"
			       "metadata: {name: d%zu}\nspec: {capacity: {storage: %zuGi}, "
			       "accessModes: [ReadWriteOnce], hostPath: {path: /d}}\n",
			       i / times, i % times + 1);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* More documents than are queued at a time, among them each object twice. */
static void test_many(void **state)
{
	struct world *world = *state;
	struct worker_pool *readers = world->readers;
	const unsigned int count = 3 * API_APPLY_IN_FLIGHT;
	cleanup_free char *text = many_documents(count, 2);

	creates = 0;
	world_content = CONTENT_YAML;
	world->readers = NULL; /* so nothing pauses */
	world_begin(world, METHOD_POST, APPLY, text);
	world->readers = readers;
	assert_int_equal(creates, API_APPLY_IN_FLIGHT);
	world_turn(world);
	assert_int_equal(world->exchange.status, 200);
	assert_row(world, 0, "PersistentVolume", "created");
	assert_row(world, 1, "PersistentVolume", "configured");
	assert_row(world, count - 1, "PersistentVolume", "configured");
	assert_non_null(store_get(world->agent.store, KIND_PERSISTENT_VOLUME, "", "d95"));
}

/* Documents of 40 kB: two in a turn of the loop at most. */
static void test_large_documents_let_the_loop_turn(void **state)
{
	struct world *world = *state;
	char value[40001], text[11 * sizeof(value)];
	size_t used = 0;

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (int i = 0; i < 10; i++)
		used += (size_t) snprintf(text + used, sizeof(text) - used,
					  "---\napiVersion: v1\nkind: ConfigMap\n"
					  "metadata: {name: c%d}\ndata: {a: %s}\n",
					  i, value);
	creates = 0;
	world_content = CONTENT_YAML;
	world_begin(world, METHOD_POST, APPLY, text);
	for (int i = 0; i < 1000 && world->answers == 0; i++) {
		unsigned int before = creates;

		assert_true(sd_event_run(world->event, 10000) >= 0);
		assert_in_range(creates - before, 0, 2);
	}
	assert_int_equal(world->exchange.status, 200);
	assert_int_equal(creates, 10);
}

/* Of a kind that is passed over, so that nothing is stored. */
static void test_too_many_documents(void **state)
{
	static const struct {
		int count, status;
	} cases[] = { { API_APPLY_DOCUMENTS_MAX, 200 }, { API_APPLY_DOCUMENTS_MAX + 1, 413 } };
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *text = NULL;
		size_t length = 0;
		FILE *file = open_memstream(&text, &length);

		assert_non_null(file);
		for (int n = 0; n < cases[i].count; n++)
			(void) fputs("---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\n",
				     file);
		assert_int_equal(fclose(file), 0);
		world_content = CONTENT_YAML;
		world_begin(world, METHOD_POST, APPLY, text);
		world_turn(world);
		assert_int_equal(world->exchange.status, cases[i].status);
	}
	assert_non_null(strstr(world_reply(world),
			       "the request holds 10001 documents, at most 10000 are applied"));
}

static void test_too_many_values(void **state)
{
	struct world *world = *state;
	cleanup_free char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	(void) fprintf(file, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n");
	for (int i = 0; i < OBJECT_NODES_MAX; i++)
		(void) fprintf(file, "  k%d: v\n", i);
	assert_int_equal(fclose(file), 0);
	world_content = CONTENT_YAML;
	world_begin(world, METHOD_POST, APPLY, text);
	world_turn(world);
	assert_int_equal(world->exchange.status, 413);
	assert_non_null(strstr(world_reply(world), "the object holds more than 12000 values"));
}

/* A long stream is read on a thread; nothing of it is stored when the client leaves meanwhile. */
static void test_long_streams_are_read_elsewhere(void **state)
{
	struct world *world = *state;
	cleanup_free char *text = many_documents(600, 1);

	creates = 0;
	world_content = CONTENT_YAML;
	assert_true(strlen(text) > API_READ_HERE_BYTES);
	world_begin(world, METHOD_POST, APPLY, text);
	assert_int_equal(creates, 0);
	exchange_abandon(&world->exchange);
	for (int i = 0; i < 20; i++)
		assert_true(sd_event_run(world->event, 10000) >= 0);
	assert_int_equal(creates, 0);
	assert_int_equal(world->answers, 0);

	assert_int_equal(apply(world, text), 200);
	assert_int_equal(creates, 600);
	assert_row(world, 599, "PersistentVolume", "created");

	/* One that is still being read when everything ends. */
	world_begin(world, METHOD_POST, APPLY, text);
}

static void test_a_client_that_leaves(void **state)
{
	struct world *world = *state;

	world_content = CONTENT_YAML;
	world_begin(world, METHOD_POST, APPLY, stream);
	assert_int_equal(world->answers, 0);
	exchange_abandon(&world->exchange);
	for (int i = 0; i < 50 && !store_get(world->agent.store, KIND_POD, "default", "web"); i++)
		assert_true(sd_event_run(world->event, 20000) >= 0);
	assert_int_equal(world->answers, 0);
}

static void test_secrets_are_for_root(void **state)
{
	static const char secret[] = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n"
				     "stringData: {a: b}\n---\n"
				     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\n";
	struct world *world = *state;

	world_rights = RIGHT_READ | RIGHT_WRITE;
	assert_int_equal(apply(world, secret), 403);
	assert_non_null(strstr(world_string(world, "message"), "root"));
	assert_null(store_get(world->agent.store, KIND_CONFIG_MAP, "default", "map"));
	world_rights |= RIGHT_SECRETS;
	assert_int_equal(apply(world, secret), 200);
	assert_non_null(store_get(world->agent.store, KIND_SECRET, "default", "key"));
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_create_then_unchanged_then_configured),
		IN_WORLD(test_a_trial_writes_nothing),
		IN_WORLD(test_table),
		IN_WORLD(test_keeps_what_it_does_not_name),
		IN_WORLD(test_what_a_document_drops_goes),
		IN_WORLD(test_the_annotation_is_kubectls),
		IN_WORLD(test_a_long_document),
		IN_WORLD(test_a_bad_document_stops_all),
		IN_WORLD(test_not_admitted),
		IN_WORLD(test_a_stale_version_is_a_conflict),
		IN_WORLD(test_case_467_unknown_fields_are_warned_of),
		IN_WORLD(test_case_468_status_is_dropped),
		IN_WORLD(test_kinds_of_a_cluster_are_skipped),
		IN_WORLD(test_many),
		IN_WORLD(test_large_documents_let_the_loop_turn),
		IN_WORLD(test_too_many_documents),
		IN_WORLD(test_too_many_values),
		IN_WORLD(test_long_streams_are_read_elsewhere),
		IN_WORLD(test_a_client_that_leaves),
		IN_WORLD(test_secrets_are_for_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
