/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_object - values that are shared, never changed, and equal to their bytes
 */
#include "object/object.h"

#include "base/cleanup.h"
#include "object/admit.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"
#include "object/kinds/pod.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char pod_yaml[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, generation: 3, "
			       "resourceVersion: '18446744073709551615'}\n"
			       "spec: {containers: [{name: c}], volumes: [{name: v}]}\n";

static void test_references_keep_an_object(void **state)
{
	const struct object *object = object_of(pod_yaml), *other = object_ref(object);

	assert_ptr_equal(object, other);
	assert_null(object_unref(object));
	assert_string_equal(other->pod->volumes[0].name, "v"); /* ASan would object */
	assert_null(object_unref(other));
	assert_null(object_ref(NULL));
	assert_null(object_unref(NULL));
}

static void *ref_and_unref(void *userdata)
{
	for (int i = 0; i < 20000; i++)
		(void) object_unref(object_ref(userdata));
	return NULL;
}

static void test_threads_share_an_object(void **state)
{
	const struct object *object = object_of(pod_yaml);
	pthread_t threads[2];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ref_and_unref, (void *) object),
				 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_string_equal(object->meta.name, "web");
	(void) object_unref(object); /* the last one, or LSan objects */
}

static void test_cleanup_drops_a_reference(void **state)
{
	const struct object *object = object_of(pod_yaml);

	{
		cleanup_object const struct object *second = object_ref(object);

		assert_ptr_equal(second, object);
	}
	(void) object_unref(object);
}

static void test_metadata(void **state)
{
	const struct object *object = object_of(pod_yaml);

	assert_int_equal(object->kind, KIND_POD);
	assert_string_equal(object->meta.name, "web");
	assert_string_equal(object->meta.name_space, "default");
	assert_string_equal(object->meta.uid, "");
	assert_string_equal(object->meta.deletion_timestamp, "");
	assert_true(object->meta.resource_version == UINT64_MAX);
	assert_int_equal(object->meta.generation, 3);
	assert_false(object->meta.deletes);
	assert_int_equal(object->meta.labels.count, 0);
	(void) object_unref(object);
}

static void test_a_tree_stays_its_owners(void **state)
{
	cleanup_json struct cJSON *tree = tree_of_json(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},"
		"\"spec\":{\"containers\":[{\"name\":\"c\"}],\"volumes\":null}}");
	cleanup_json struct cJSON *before = json_copy(tree);
	const struct object *object = NULL;

	assert_int_equal(object_from_json(tree, &object, NULL), 0);
	assert_true(json_equal(tree, before)); /* defaults went into the object only */
	assert_non_null(strstr(object->json, "restartPolicy"));
	(void) object_unref(object);
}

static void test_what_is_not_served(void **state)
{
	cleanup_json struct cJSON *tree = tree_of_json(
		"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"a\"}}");
	const struct object *object = NULL;
	struct failure failure;

	assert_int_equal(object_from_json(tree, &object, &failure), -EOPNOTSUPP);
	assert_string_equal(failure.text, "no matches for kind \"Service\" in version \"v1\"");
	assert_null(object);
}

static void test_stored_bytes_are_read(void **state)
{
	const struct object *object = object_of(pod_yaml), *again = NULL;
	struct failure failure;

	assert_int_equal(object_parse_json(object->json, object->json_length, &again, NULL), 0);
	assert_string_equal(again->json, object->json);
	(void) object_unref(again);
	again = NULL;
	assert_int_equal(object_parse_json(object->json, object->json_length - 1, &again, &failure),
			 -EINVAL);
	assert_null(again);
	assert_non_null(strstr(failure.text, "',' or '}' is expected"));
	(void) object_unref(object);
}

static int set_label(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "labels"), "a", userdata);
}

static int spoil(struct cJSON *tree, void *userdata)
{
	json_remove(tree, "spec");
	return 0;
}

static int refuse(struct cJSON *tree, void *userdata)
{
	return -EAGAIN;
}

static void test_edits_make_new_objects(void **state)
{
	const struct object *object = object_of(pod_yaml), *edited = NULL;
	struct failure failure;

	assert_int_equal(object_edit(object, set_label, "b", &edited, NULL), 0);
	assert_int_equal(object->meta.labels.count, 0);
	assert_int_equal(edited->meta.labels.count, 1);
	assert_string_equal(edited->meta.labels.labels[0].value, "b");
	(void) object_unref(edited);
	edited = NULL;
	assert_int_equal(object_edit(object, spoil, NULL, &edited, &failure), -EINVAL);
	assert_string_equal(failure.text, "spec.containers: Required value");
	assert_int_equal(object_edit(object, refuse, NULL, &edited, NULL), -EAGAIN);
	assert_null(edited);
	(void) object_unref(object);
}

static void assert_reference(const char *yaml, const char *expected)
{
	const struct object *object = object_of(yaml);
	cleanup_json struct cJSON *reference = json_new_object();
	cleanup_free char *text = NULL;

	object_write_reference(object, reference);
	text = json_print(reference);
	assert_string_equal(text, expected);
	(void) object_unref(object);
}

static void test_others_refer_to_it(void **state)
{
	assert_reference("apiVersion: v1\nkind: PersistentVolumeClaim\n"
			 "metadata: {name: c, namespace: apps, uid: u, resourceVersion: '7'}\n"
			 "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "
			 "1Gi}}}\n",
			 "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\","
			 "\"namespace\":\"apps\",\"name\":\"c\",\"uid\":\"u\","
			 "\"resourceVersion\":\"7\"}");
	/* Of no namespace, and not stored yet. */
	assert_reference("apiVersion: storage.k8s.io/v1\nkind: StorageClass\n"
			 "metadata: {name: fast, uid: u}\nprovisioner: podvol/local\n",
			 "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\","
			 "\"name\":\"fast\",\"uid\":\"u\"}");
}

static const struct object *edited(const struct object *object)
{
	const struct object *proposal = NULL;

	assert_int_equal(object_edit(object, set_label, "b", &proposal, NULL), 0);
	return proposal;
}

/* A proposal that its writer gave away becomes the result itself; of one that others hold it is
 * made new. */
static const struct object *admitted(enum admit_verb verb, const struct object *old,
				     const struct object *from, bool is_held)
{
	struct admission admission = {
		.verb = verb, .old = old, .resource_version = old ? 2 : 1, .now_usec = 1000000
	};
	const struct object *proposal = edited(from), *result = NULL;
	const struct object *holder = is_held ? object_ref(proposal) : NULL;

	admission.proposed = proposal;
	assert_int_equal(object_admit(&admission, &result, NULL), 0);
	assert_int_equal(result == proposal, !is_held);
	(void) object_unref(proposal);
	(void) object_unref(holder);
	return result;
}

static void assert_same_object(const struct object *a, const struct object *b)
{
	assert_string_equal(a->json, b->json);
	assert_int_equal(a->json_length, b->json_length);
	assert_string_equal(a->meta.name, b->meta.name);
	assert_string_equal(a->meta.uid, b->meta.uid);
	assert_int_equal(a->meta.resource_version, b->meta.resource_version);
	assert_int_equal(a->meta.generation, b->meta.generation);
	assert_true(a->meta.creation_usec == b->meta.creation_usec);
	assert_int_equal(a->meta.labels.count, 1);
	assert_string_equal(b->meta.labels.labels[0].value, "b");
}

static void test_a_proposal_becomes_the_object(void **state)
{
	static const char *const texts[] = {
		"apiVersion: v1\nkind: Pod\nmetadata: {name: web, uid: u-1}\n"
		"spec: {containers: [{name: c}], volumes: [{name: v}]}\n",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, uid: u-2}\nspec: "
		"{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n",
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv, uid: u-3}\nspec: "
		"{capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct object *document = object_of(texts[i]);
		const struct object *held = admitted(ADMIT_CREATE, NULL, document, true);
		const struct object *given = admitted(ADMIT_CREATE, NULL, document, false);
		const struct object *next_held = admitted(ADMIT_UPDATE, held, held, true);
		const struct object *next_given = admitted(ADMIT_UPDATE, given, given, false);

		assert_same_object(held, given);
		assert_same_object(next_held, next_given);
		if (given->kind == KIND_PERSISTENT_VOLUME_CLAIM)
			assert_true(given->claim->has_protection_finalizer);
		if (given->kind == KIND_PERSISTENT_VOLUME)
			assert_true(given->persistent_volume->has_protection_finalizer);
		(void) object_unref(document);
		(void) object_unref(held);
		(void) object_unref(given);
		(void) object_unref(next_held);
		(void) object_unref(next_given);
	}
}

/* By as much as that of the one before it: the store takes no memory for it. */
static void test_the_text_of_a_second_proposal_grows_in_place(void **state)
{
	static const char yaml[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";

	for (unsigned int i = 0; i < 2; i++) {
		cleanup_object const struct object *object = object_of(yaml);
		cleanup_object const struct object *proposal = NULL, *result = NULL;
		struct admission admission = { .verb = ADMIT_CREATE, .resource_version = 7 };
		struct cJSON *tree = object_tree(object);
		const char *before;

		assert_int_equal(object_propose(tree, &proposal, NULL), 0);
		json_free(tree);
		before = proposal->json;
		admission.proposed = proposal;
		assert_int_equal(object_admit(&admission, &result, NULL), 0);
		assert_ptr_equal(result, proposal);
		assert_non_null(strstr(result->json, "\"resourceVersion\":\"7\""));
		assert_int_equal(result->json_length, strlen(result->json));
		if (i > 0)
			assert_ptr_equal(result->json, before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_proposal_becomes_the_object),
		cmocka_unit_test(test_the_text_of_a_second_proposal_grows_in_place),
		cmocka_unit_test(test_references_keep_an_object),
		cmocka_unit_test(test_threads_share_an_object),
		cmocka_unit_test(test_cleanup_drops_a_reference),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_a_tree_stays_its_owners),
		cmocka_unit_test(test_what_is_not_served),
		cmocka_unit_test(test_stored_bytes_are_read),
		cmocka_unit_test(test_edits_make_new_objects),
		cmocka_unit_test(test_others_refer_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
