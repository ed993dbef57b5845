/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_own_objects - the Node of this node and the namespaces that objects name
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/store_world.h"

#include "csinode/own_objects.h"
#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct label labels[] = { { "kubernetes.io/arch", "amd64" }, { "zone", "a" } };
static char node_name[] = "edge-1";
static const struct config config = { .node_name = node_name,
				      .labels = { .labels = labels, .count = 2 } };

/* Everything queued before is answered once this is. */
static void settle(struct store_world *world)
{
	for (int i = 0; i < 3; i++) /* a namespace may be asked for by a watch */
		(void) world_delete(world, KIND_LEASE, "default", "none");
}

static struct own_objects *begin(struct store_world *world)
{
	struct own_objects *own = NULL;

	assert_int_equal(own_objects_new(world->event, world->store, &config, &own), 0);
	settle(world);
	return own;
}

static struct cJSON *node_tree(struct store_world *world)
{
	const struct object *node = store_get(world->store, KIND_NODE, "", "edge-1");

	assert_non_null(node);
	return object_tree(node);
}

static const char *text_at(const struct cJSON *tree, const char *path)
{
	return json_string(json_get_path(tree, path), "?");
}

static void test_the_node_is_made(void **state)
{
	struct own_objects *own = begin(*state);
	cleanup_json struct cJSON *tree = node_tree(*state);
	const struct cJSON *condition = json_at(json_get_path(tree, "status.conditions"), 0);
	const struct cJSON *address = json_at(json_get_path(tree, "status.addresses"), 0);

	assert_string_equal(text_at(tree, "metadata.labels.zone"), "a");
	assert_string_equal(text_at(condition, "type"), "Ready");
	assert_string_equal(text_at(condition, "status"), "True");
	assert_string_equal(text_at(address, "type"), "Hostname");
	assert_string_equal(text_at(address, "address"), "edge-1");
	assert_string_equal(text_at(tree, "status.nodeInfo.architecture"), "amd64");
	assert_string_equal(text_at(tree, "status.nodeInfo.operatingSystem"), "linux");
	assert_true(strlen(text_at(tree, "status.nodeInfo.kernelVersion")) > 1);
	assert_true(strlen(text_at(tree, "status.nodeInfo.osImage")) > 1);
	assert_in_range(text_at(tree, "status.capacity.cpu")[0], '1', '9');
	assert_true(strlen(text_at(tree, "status.capacity.memory")) > 2);
	(void) own_objects_free(own);
}

/* Annotations, taints and labels of others stay over a restart; podvold's win where they differ. */
static void test_what_others_wrote_stays(void **state)
{
	struct store_world *world = *state;
	cleanup_object const struct object *given =
		object_of("{'apiVersion':'v1','kind':'Node','metadata':{'name':'edge-1','labels':"
			  "{'zone':'old','rack':'7'},'annotations':{'who':'me'}},'spec':"
			  "{'unschedulable':true},'status':{'phase':'Pending'}}");
	cleanup_json struct cJSON *tree = NULL;
	struct own_objects *own;

	assert_int_equal(world_create(world, given), 0);
	own = begin(world);
	tree = node_tree(world);
	assert_string_equal(text_at(tree, "metadata.labels.zone"), "a");
	assert_string_equal(text_at(tree, "metadata.labels.rack"), "7");
	assert_string_equal(text_at(tree, "metadata.annotations.who"), "me");
	assert_true(json_bool(json_get_path(tree, "spec.unschedulable"), false));
	assert_null(json_get_path(tree, "status.phase"));
	(void) own_objects_free(own);
}

static bool has_namespace(struct store_world *world, const char *name)
{
	const struct object *object = store_get(world->store, KIND_NAMESPACE, "", name);
	cleanup_json struct cJSON *tree = object ? object_tree(object) : NULL;

	if (object)
		assert_string_equal(text_at(tree, "status.phase"), "Active");
	return object != NULL;
}

static int create_claim(struct store_world *world, const char *name_space)
{
	cleanup_object const struct object *claim = make_claim(name_space, "data", NULL);

	return world_create(world, claim);
}

static void test_namespaces_that_are_always_there(void **state)
{
	struct own_objects *own = begin(*state);

	assert_true(has_namespace(*state, "default"));
	assert_true(has_namespace(*state, "kube-system"));
	assert_false(has_namespace(*state, "edge"));
	(void) own_objects_free(own);
}

/* A difference from Kubernetes, which wants the namespace first. */
static void test_a_namespace_comes_with_its_first_object(void **state)
{
	struct store_world *world = *state;
	struct own_objects *own = begin(world);

	assert_int_equal(create_claim(world, "edge"), 0);
	settle(world);
	assert_true(has_namespace(world, "edge"));
	assert_int_equal(world_delete(world, KIND_NAMESPACE, "", "edge"), 0);
	assert_false(has_namespace(world, "edge"));
	(void) own_objects_free(own);
	own = begin(world); /* its claim is still there */
	assert_true(has_namespace(world, "edge"));
	(void) own_objects_free(own);
}

static void test_events_and_leases_make_none(void **state)
{
	struct store_world *world = *state;
	struct own_objects *own = begin(world);
	cleanup_object const struct object *lease =
		object_of("{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':"
			  "{'name':'l','namespace':'gone'}}");

	assert_int_equal(world_create(world, lease), 0);
	settle(world);
	assert_false(has_namespace(world, "gone"));
	(void) own_objects_free(own);
}

/* Many objects of many namespaces at once, more than one group of the store. */
static void test_a_burst(void **state)
{
	struct store_world *world = *state;
	struct own_objects *own = begin(world);

	for (int i = 0; i < 600; i++) {
		cleanup_object const struct object *claim = NULL;
		char name_space[16], name[16];

		(void) snprintf(name_space, sizeof(name_space), "n%d", i % 5);
		(void) snprintf(name, sizeof(name), "c%d", i);
		claim = make_claim(name_space, name, NULL);
		assert_int_equal(store_create(world->store, claim, NULL, NULL), 0);
	}
	settle(world);
	settle(world);
	for (int i = 0; i < 5; i++) {
		char name_space[16];

		(void) snprintf(name_space, sizeof(name_space), "n%d", i);
		assert_true(has_namespace(world, name_space));
	}
	(void) own_objects_free(own);
}

/* ---- service accounts ---- */

static bool has_account(struct store_world *world, const char *name_space)
{
	return store_get(world->store, KIND_SERVICE_ACCOUNT, name_space, "default") != NULL;
}

static void make(struct store_world *world, const char *yaml)
{
	const struct object *object = object_of(yaml);

	assert_int_equal(store_create(world->store, object, NULL, NULL), 0);
	(void) object_unref(object);
	settle(world);
	settle(world);
}

#define POD(name_space, spec)                                                                      \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\",\"namespace\":"    \
	"\"" name_space "\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]," spec    \
	"}}"
#define TOKEN                                                                                      \
	"\"volumes\":[{\"name\":\"t\",\"projected\":{\"sources\":["                                \
	"{\"serviceAccountToken\":{\"path\":\"t\"}}]}}]"
#define CLAIM "\"volumes\":[{\"name\":\"d\",\"persistentVolumeClaim\":{\"claimName\":\"d\"}}]"
#define DRIVER                                                                                     \
	"{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSIDriver\",\"metadata\":{\"name\":"     \
	"\"d\"},\"spec\":{}}"

/* A difference from Kubernetes, which has one in each namespace. */
static void test_an_account_comes_with_a_token(void **state)
{
	struct own_objects *own = begin(*state);

	make(*state, POD("plain", "\"nodeName\":\"n\""));
	make(*state, POD("named", "\"serviceAccountName\":\"robot\"," TOKEN));
	make(*state, POD("default-one", TOKEN));
	make(*state, POD("claimed", CLAIM));
	assert_false(has_account(*state, "plain"));
	assert_false(has_account(*state, "named"));
	assert_false(has_account(*state, "claimed"));
	assert_true(has_account(*state, "default-one"));
	make(*state, DRIVER);
	assert_true(has_account(*state, "claimed"));
	assert_false(has_account(*state, "plain"));
	(void) own_objects_free(own);
}

/* As in a cluster: also that of a pod from before the start, and one that a client deletes. */
static void test_an_account_comes_back(void **state)
{
	struct own_objects *own;

	make(*state, POD("ns", TOKEN));
	assert_false(has_account(*state, "ns"));
	own = begin(*state);
	settle(*state);
	assert_true(has_account(*state, "ns"));
	assert_int_equal(world_delete(*state, KIND_SERVICE_ACCOUNT, "ns", "default"), 0);
	settle(*state);
	assert_true(has_account(*state, "ns"));
	(void) own_objects_free(own);
}

/* ---- a store that refuses ---- */

static unsigned int refused; /* accounts and namespaces that are to come */

int __real_store_create(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata);
int __wrap_store_create(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata);
int __wrap_store_create(struct store *store, const struct object *object, store_done_fn *done,
			void *userdata)
{
	if (refused == 0 ||
	    (object->kind != KIND_SERVICE_ACCOUNT && object->kind != KIND_NAMESPACE))
		return __real_store_create(store, object, done, userdata);
	refused--;
	return -ENOBUFS;
}

static bool all_is_there(void *userdata)
{
	return has_account(userdata, "ns") &&
	       store_get(((struct store_world *) userdata)->store, KIND_NAMESPACE, "", "ns");
}

static void test_what_is_refused_is_asked_for_again(void **state)
{
	struct own_objects *own = begin(*state);

	refused = 4;
	make(*state, POD("ns", TOKEN));
	assert_false(all_is_there(*state));
	store_world_run(*state, all_is_there, *state);
	assert_int_equal(refused, 0);
	(void) own_objects_free(own);
}

#define IN_STORE(test)                                                                             \
	cmocka_unit_test_setup_teardown(test, store_world_setup, store_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_STORE(test_the_node_is_made),
		IN_STORE(test_what_others_wrote_stays),
		IN_STORE(test_namespaces_that_are_always_there),
		IN_STORE(test_a_namespace_comes_with_its_first_object),
		IN_STORE(test_events_and_leases_make_none),
		IN_STORE(test_a_burst),
		IN_STORE(test_an_account_comes_with_a_token),
		IN_STORE(test_an_account_comes_back),
		IN_STORE(test_what_is_refused_is_asked_for_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
