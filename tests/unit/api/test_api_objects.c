/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_api_objects - Kubernetes' verbs on a real store: codes, reasons, texts, forms
 */
#include "api_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CLASSES "/apis/storage.k8s.io/v1/storageclasses"
#define MAPS    "/api/v1/namespaces/default/configmaps"
#define PVS     "/api/v1/persistentvolumes"
#define PODS    "/api/v1/namespaces/default/pods"

static void assert_status(struct world *world, int code, const char *reason, const char *message)
{
	char text[16];

	(void) snprintf(text, sizeof(text), "%d", code);
	assert_int_equal(world->exchange.status, code);
	assert_string_equal(world_string(world, "kind"), "Status");
	assert_string_equal(world_string(world, "apiVersion"), "v1");
	assert_string_equal(world_string(world, "status"), "Failure");
	assert_string_equal(world_string(world, "code"), text);
	assert_string_equal(world_string(world, "reason"), reason);
	if (message)
		assert_string_equal(world_string(world, "message"), message);
}

static void test_create_get_list(void **state)
{
	struct world *world = *state;
	char uid[64];

	assert_int_equal(world_request(world, METHOD_POST, PODS, world_pod_json), 201);
	assert_string_equal(world_string(world, "kind"), "Pod");
	assert_string_equal(world_string(world, "metadata.namespace"), "default");
	(void) snprintf(uid, sizeof(uid), "%s", world_string(world, "metadata.uid"));
	assert_int_equal(strlen(uid), 36);

	assert_int_equal(world_request(world, METHOD_GET, PODS "/web", NULL), 200);
	assert_string_equal(world_string(world, "metadata.uid"), uid);
	assert_string_equal(world->exchange.reply_type, "application/json");

	assert_int_equal(world_request(world, METHOD_GET, "/api/v1/pods", NULL), 200);
	assert_string_equal(world_string(world, "kind"), "PodList");
	assert_string_equal(world_string(world, "apiVersion"), "v1");
	assert_string_equal(world_string(world, "metadata.resourceVersion"), "1");
	assert_string_equal(world_string(world, "items.0.metadata.uid"), uid);

	assert_int_equal(world_request(world, METHOD_GET, "/api/v1/namespaces/other/pods", NULL),
			 200);
	assert_string_equal(world_reply(world),
			    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
			    "\"resourceVersion\":\"1\"},\"items\":[]}");
	assert_int_equal(
		world_request(world, METHOD_GET, "/apis/storage.k8s.io/v1/storageclasses", NULL),
		200);
	assert_string_equal(world_string(world, "kind"), "StorageClassList");
	assert_string_equal(world_string(world, "apiVersion"), "storage.k8s.io/v1");
}

static void test_namespace_comes_from_the_path(void **state)
{
	struct world *world = *state;

	assert_int_equal(
		world_request(world, METHOD_POST, "/api/v1/namespaces/edge/pods", world_pod_json),
		201);
	assert_string_equal(world_string(world, "metadata.namespace"), "edge");
	assert_int_equal(
		world_request(world, METHOD_POST, "/api/v1/namespaces/edge/pods",
			      "{\"metadata\":{\"name\":\"x\",\"namespace\":\"default\"},\"spec\":"
			      "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"),
		400);
	assert_status(world, 400, "BadRequest",
		      "the namespace of the provided object does not match the namespace sent on "
		      "the request");
	/* Kind and version may be left out: the path has them. */
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/namespaces/edge/pods",
				       "{\"metadata\":{\"name\":\"x\"},\"spec\":"
				       "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"),
			 201);
	assert_string_equal(world_string(world, "kind"), "Pod");
}

static void test_refusals_in_kubernetes_words(void **state)
{
	struct world *world = *state;

	(void) world_request(world, METHOD_GET, PODS "/absent", NULL);
	assert_status(world, 404, "NotFound", "pods \"absent\" not found");
	assert_string_equal(world_string(world, "details.name"), "absent");
	assert_string_equal(world_string(world, "details.kind"), "pods");

	(void) world_request(world, METHOD_GET, "/apis/storage.k8s.io/v1/storageclasses/fast",
			     NULL);
	assert_status(world, 404, "NotFound", "storageclasses.storage.k8s.io \"fast\" not found");
	assert_string_equal(world_string(world, "details.group"), "storage.k8s.io");

	assert_int_equal(world_request(world, METHOD_POST, PVS, world_pv_json), 201);
	(void) world_request(world, METHOD_POST, PVS, world_pv_json);
	assert_status(world, 409, "AlreadyExists", "persistentvolumes \"disk\" already exists");

	(void) world_request(world, METHOD_DELETE, PVS "/absent", NULL);
	assert_status(world, 404, "NotFound", "persistentvolumes \"absent\" not found");

	(void) world_request(world, METHOD_POST, PVS, "{\"metadata\":{");
	assert_status(world, 400, "BadRequest", NULL);
	(void) world_request(world, METHOD_POST, PVS, NULL);
	assert_status(world, 400, "BadRequest", "the request has no body");
	(void) world_request(world, METHOD_POST, PVS, "[]");
	assert_status(world, 400, "BadRequest", "the body is not an object");
	(void) world_request(world, METHOD_POST, PVS, "{\"metadata\":5,\"spec\":{}}");
	assert_status(world, 422, "Invalid", NULL);
	(void) world_request(world, METHOD_POST, PVS, world_pod_json);
	assert_status(world, 400, "BadRequest",
		      "the object in the body is not a PersistentVolume of v1, which is what the "
		      "path names");
}

static void test_invalid_names_the_field(void **state)
{
	struct world *world = *state;

	(void) world_request(world, METHOD_POST, PODS,
			     "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"containers\":[{\"name\":"
			     "\"c\",\"image\":\"i\"}],\"volumes\":[{\"name\":\"v\",\"hostPath\":{"
			     "\"path\":\"/x\",\"type\":\"Dir\"}}]}}");
	assert_status(world, 422, "Invalid", NULL);
	assert_non_null(strstr(world_string(world, "message"), "Pod \"web\" is invalid: "));
	assert_string_equal(world_string(world, "details.causes.0.field"),
			    "spec.volumes[0].hostPath.type");
	assert_string_equal(world_string(world, "details.causes.0.reason"),
			    "FieldValueNotSupported");
	/* Nothing was stored. */
	assert_int_equal(world_request(world, METHOD_GET, PODS "/web", NULL), 404);
}

static int make_update(struct world *world, const char *version, const char *size)
{
	char body[1024];

	(void) snprintf(body, sizeof(body),
			"{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{"
			"\"name\":\"disk\"%s%s%s},\"spec\":{\"capacity\":{\"storage\":\"%s\"},"
			"\"accessModes\":[\"ReadWriteOnce\"],\"hostPath\":{\"path\":\"/data\"}}}",
			version ? ",\"resourceVersion\":\"" : "", version ? version : "",
			version ? "\"" : "", size);
	return world_request(world, METHOD_PUT, PVS "/disk", body);
}

static void test_update(void **state)
{
	struct world *world = *state;

	(void) make_update(world, NULL, "2Gi");
	assert_status(world, 404, "NotFound", "persistentvolumes \"disk\" not found");
	assert_int_equal(world_request(world, METHOD_POST, PVS, world_pv_json), 201);

	assert_int_equal(make_update(world, "1", "2Gi"), 200);
	assert_string_equal(world_string(world, "spec.capacity.storage"), "2Gi");
	assert_string_equal(world_string(world, "metadata.resourceVersion"), "2");
	(void) make_update(world, "1", "3Gi");
	assert_status(
		world, 409, "Conflict",
		"Operation cannot be fulfilled on persistentvolumes \"disk\": the object has "
		"been modified; please apply your changes to the latest version and try again");
	/* Without a version it replaces what is there. */
	assert_int_equal(make_update(world, NULL, "3Gi"), 200);

	(void) world_request(world, METHOD_PUT, PVS "/other", world_pv_json);
	assert_status(world, 400, "BadRequest",
		      "the name of the object (disk) does not match the name on the URL (other)");
}

static void test_status_has_its_own_path(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST, PODS, world_pod_json), 201);
	assert_int_equal(
		world_request(world, METHOD_PUT, PODS "/web/status",
			      "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"containers\":[{"
			      "\"name\":\"other\",\"image\":\"x\"}]},\"status\":{\"phase\":"
			      "\"Succeeded\"}}"),
		200);
	assert_string_equal(world_string(world, "status.phase"), "Succeeded");
	assert_string_equal(world_string(world, "spec.containers.0.name"), "c");
	/* The object's own path leaves the status alone. */
	assert_int_equal(world_request(world, METHOD_PUT, PODS "/web", world_pod_json), 200);
	assert_string_equal(world_string(world, "status.phase"), "Succeeded");
}

/* What only comes about cannot be made: of a status that a client sends nothing is left. */
static void test_status_begins(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST, PVS,
				       "{\"metadata\":{\"name\":\"disk\"},\"spec\":{\"capacity\":{"
				       "\"storage\":\"1Gi\"},\"accessModes\":[\"ReadWriteOnce\"],"
				       "\"hostPath\":{\"path\":\"/data\"}},\"status\":{\"phase\":"
				       "\"Released\",\"message\":\"x\"}}"),
			 201);
	assert_string_equal(world_string(world, "status.phase"), "Pending");
	assert_string_equal(world_string(world, "status.message"), "");
	assert_int_equal(world_request(world, METHOD_POST, "/api/v1/nodes",
				       "{\"metadata\":{\"name\":\"other\"},\"status\":{"
				       "\"phase\":\"Running\"}}"),
			 201);
	assert_string_equal(world_string(world, "status.phase"), "Running");
}

static void test_delete(void **state)
{
	struct world *world = *state;
	char uid[64], body[256];

	assert_int_equal(world_request(world, METHOD_POST, PODS, world_pod_json), 201);
	(void) snprintf(uid, sizeof(uid), "%s", world_string(world, "metadata.uid"));

	(void) world_request(world, METHOD_DELETE, PODS "/web",
			     "{\"preconditions\":{\"uid\":\"another\"}}");
	assert_int_equal(world->exchange.status, 409);
	assert_int_equal(world_request(world, METHOD_DELETE, PODS "/web", "{\"dryRun\":[\"All\"]}"),
			 200);
	assert_int_equal(world_request(world, METHOD_GET, PODS "/web", NULL), 200);

	(void) snprintf(body, sizeof(body), "{\"preconditions\":{\"uid\":\"%s\"}}", uid);
	assert_int_equal(world_request(world, METHOD_DELETE, PODS "/web", body), 200);
	assert_string_equal(world_string(world, "kind"), "Pod");
	assert_string_equal(world_string(world, "metadata.uid"), uid);
	assert_int_equal(world_request(world, METHOD_GET, PODS "/web", NULL), 404);
}

/* Kinds of which typed clients expect the object itself are distinguished from all others. */
static void test_delete_is_answered_as_in_kubernetes(void **state)
{
	struct world *world = *state;

	assert_int_equal(world_request(world, METHOD_POST, MAPS, "{\"metadata\":{\"name\":\"m\"}}"),
			 201);
	assert_int_equal(world_request(world, METHOD_DELETE, MAPS "/m", NULL), 200);
	assert_string_equal(world_string(world, "status"), "Success");
	assert_string_equal(world_string(world, "details.name"), "m");
	assert_int_equal(world_request(world, METHOD_POST, CLASSES,
				       "{\"metadata\":{\"name\":\"s\"},\"provisioner\":\"a.b/c\"}"),
			 201);
	assert_int_equal(world_request(world, METHOD_DELETE, CLASSES "/s", NULL), 200);
	assert_string_equal(world_string(world, "kind"), "StorageClass");
}

/* A finalizer holds the object back: the answer is the object, marked, and 202.
 * A difference from Kubernetes, which answers 200. */
static void test_delete_with_finalizer(void **state)
{
	struct world *world = *state;

	assert_int_equal(
		world_request(world, METHOD_POST, PODS,
			      "{\"metadata\":{\"name\":\"web\",\"finalizers\":[\"a.b/c\"]},"
			      "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"),
		201);
	assert_int_equal(world_request(world, METHOD_DELETE, PODS "/web", NULL), 202);
	assert_string_equal(world_string(world, "kind"), "Pod");
	assert_true(*world_string(world, "metadata.deletionTimestamp") != '\0');
	assert_int_equal(world_request(world, METHOD_GET, PODS "/web", NULL), 200);
}

static void test_forms(void **state)
{
	struct world *world = *state;

	world_content = CONTENT_YAML;
	assert_int_equal(world_request(world, METHOD_POST, PODS,
				       "metadata:\n  name: web\napiVersion: v1\nkind: Pod\n"
				       "spec:\n  containers:\n  - {name: c, image: i}\n"),
			 201);
	(void) world_request(world, METHOD_POST, PODS, "a: [\n");
	assert_status(world, 400, "BadRequest", NULL);
	(void) world_request(world, METHOD_POST, PODS, "---\n---\n");
	assert_status(world, 400, "BadRequest", "the body holds 0 documents and must hold one");
	(void) world_request(world, METHOD_POST, PODS,
			     "apiVersion: v1\nkind: Pod\nmetadata: {name: web2}\nspec: {}\n");
	assert_status(world, 422, "Invalid", NULL);

	world_form = FORM_YAML;
	assert_int_equal(world_request(world, METHOD_GET, PODS "/web", NULL), 200);
	assert_string_equal(world->exchange.reply_type, "application/yaml");
	assert_non_null(strstr(world_reply(world), "\n  name: web\n"));
	assert_int_equal(world_request(world, METHOD_GET, PODS, NULL), 200);
	assert_non_null(strstr(world_reply(world), "kind: PodList\n"));

	world_form = FORM_TABLE;
	assert_int_equal(world_request(world, METHOD_GET, PODS, NULL), 200);
	assert_string_equal(world_string(world, "kind"), "Table");
	assert_string_equal(world_string(world, "columnDefinitions.0.name"), "Name");
	assert_string_equal(world_string(world, "rows.0.cells.0"), "web");
	assert_string_equal(world_string(world, "rows.0.object.metadata.namespace"), "default");
	assert_int_equal(world_request(world, METHOD_GET, PODS "/web", NULL), 200);
	assert_string_equal(world_string(world, "rows.0.cells.0"), "web");
}

static void test_what_is_not_served_is_refused(void **state)
{
	struct world *world = *state;
	static const char *const queries[] = { "labelSelector=a%3D%3D%3D", "fieldSelector=a%3Db",
					       "continue=x", "limit=-1", "resourceVersion=x" };
	static const char *const paths[] = {
		"/api/v2/pods",
		"/api/v1/services",
		"/api/v1/pods/web",
		"/apis/storage.k8s.io/v1/pods",
		"/apis/apps/v1/deployments",
		"/api/v1/namespaces/default/persistentvolumes",
		PODS "/web/log",
		PODS "/web/status/x",
		"/api/v1/watch/pods",
		"/api/v1/namespaces/default/configmaps/c/status",
		"/podvol/v1/volumes/a/b",
	};
	char uri[256];

	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		(void) snprintf(uri, sizeof(uri), PODS "?%s", queries[i]);
		(void) world_request(world, METHOD_GET, uri, NULL);
		assert_status(world, 400, "BadRequest", NULL);
	}
	assert_int_equal(world_request(world, METHOD_GET, PODS "?watch=false&limit=500", NULL),
			 200);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		(void) world_request(world, METHOD_GET, paths[i], NULL);
		assert_status(world, 404, "NotFound",
			      "the server could not find the requested resource");
	}
	(void) world_request(world, METHOD_OTHER, PODS "/web", "{}");
	assert_status(world, 405, "MethodNotAllowed", NULL);
	(void) world_request(world, METHOD_DELETE, "/api/v1/pods", NULL);
	assert_status(world, 405, "MethodNotAllowed", NULL);
	(void) world_request(world, METHOD_POST, "/api/v1/pods", world_pod_json);
	assert_status(world, 405, "MethodNotAllowed", NULL);
	(void) world_request(world, METHOD_POST, "/healthz", NULL);
	assert_status(world, 405, "MethodNotAllowed", NULL);
}

/* The client left: the write happens, without an answer. */
static void test_abandoned_write_happens(void **state)
{
	struct world *world = *state;

	world_begin(world, METHOD_POST, PODS, world_pod_json);
	assert_int_equal(world->answers, 0);
	exchange_abandon(&world->exchange);
	for (int i = 0; i < 50 && !store_get(world->agent.store, KIND_POD, "default", "web"); i++)
		assert_true(sd_event_run(world->event, 20000) >= 0);
	assert_non_null(store_get(world->agent.store, KIND_POD, "default", "web"));
	assert_int_equal(world->answers, 0);
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
	const struct CMUnitTest tests[] = {
		IN_WORLD(test_create_get_list),
		IN_WORLD(test_namespace_comes_from_the_path),
		IN_WORLD(test_refusals_in_kubernetes_words),
		IN_WORLD(test_invalid_names_the_field),
		IN_WORLD(test_update),
		IN_WORLD(test_status_has_its_own_path),
		IN_WORLD(test_status_begins),
		IN_WORLD(test_delete),
		IN_WORLD(test_delete_is_answered_as_in_kubernetes),
		IN_WORLD(test_delete_with_finalizer),
		IN_WORLD(test_forms),
		IN_WORLD(test_what_is_not_served_is_refused),
		IN_WORLD(test_abandoned_write_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
