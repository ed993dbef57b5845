/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bind_new - a claim and the volume that it names, created by one commit, are bound in it: as
 * the binder's own writes leave them, or not at all
 *
 * database_commit() is interposed: it is counted, and fails when set to. So is object_edit_new():
 * it may not take the loop's time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "binder_world.h"
#include "tests/unit/store/failing_commit.h"

#include "base/cleanup.h"
#include "object/edit_new.h"
#include "object/json/json.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_t loop;

int __real_object_edit_new(const struct object *object,
			   int (*edit)(struct cJSON *tree, void *userdata), void *userdata,
			   char **ret_before);
int __wrap_object_edit_new(const struct object *object,
			   int (*edit)(struct cJSON *tree, void *userdata), void *userdata,
			   char **ret_before);

int __wrap_object_edit_new(const struct object *object,
			   int (*edit)(struct cJSON *tree, void *userdata), void *userdata,
			   char **ret_before)
{
	assert_false(pthread_equal(pthread_self(), loop));
	return __real_object_edit_new(object, edit, userdata, ret_before);
}

/* Queued for the next commit; the store takes its reference. */
static void queue(struct world *world, const char *text)
{
	cleanup_object const struct object *object = object_of(text);

	assert_int_equal(store_create(world->store.store, object, NULL, NULL), 0);
}

static const struct {
	const char *claim, *volume;
} pairs[] = {
	{ CLAIM("", NAMES("v"), ""), VOLUME("v", "", "", "") },
	{ CLAIM("", NAMES("v"), ""), VOLUME("v", "'a':'b'", REF(""), "") },
	{ CLAIM("'a':'b'", NAMES("v"), "'phase':'Pending'"),
	  VOLUME("v", "", REF_UID(UID), "'phase':'Available'") },
	{ CLAIM(IS_DONE, NAMES("v"), ""), VOLUME("v", "", "", "'reason':'x'") },
	/* In another order than podvold's, and with as little as may be. */
	{ "{'status':{},'spec':{'volumeName':'v','volumeAttributesClassName':'fast','accessModes':["
	  "'ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}},'metadata':{'uid':'" UID
	  "','name':'c','namespace':'ns'},"
	  "'kind':'PersistentVolumeClaim','apiVersion':'v1'}",
	  "{'spec':{'hostPath':{'path':'/d'},'accessModes':['ReadWriteOnce','ReadOnlyMany'],"
	  "'volumeAttributesClassName':'fast','capacity':{'storage':'2Gi'}},'kind':"
	  "'PersistentVolume','apiVersion':'v1','metadata':{'name':'v'}}" },
};

/* What differs by when it was written. */
static struct cJSON *timeless(const struct object *object)
{
	struct cJSON *tree = object_tree(object);
	struct cJSON *metadata = json_ensure_object(tree, "metadata");
	struct cJSON *spec = json_ensure_object(tree, "spec");

	assert_non_null(tree);
	json_remove(metadata, "resourceVersion");
	json_remove(metadata, "generation");
	json_remove(metadata, "creationTimestamp");
	if (object->kind == KIND_PERSISTENT_VOLUME) {
		json_remove(metadata, "uid");
		json_remove(json_ensure_object(spec, "claimRef"), "resourceVersion");
	}
	return tree;
}

/* The places of its members, and what is decoded, are what its text says. */
static void assert_whole(const struct object *object)
{
	cleanup_object const struct object *again = NULL;

	assert_int_equal(object->json_length, strlen(object->json));
	assert_int_equal(object_parse_own(object->json, object->json_length, &again, NULL), 0);
	assert_memory_equal(&object->metadata, &again->metadata, sizeof(object->metadata));
	assert_memory_equal(&object->spec, &again->spec, sizeof(object->spec));
	if (object->kind == KIND_PERSISTENT_VOLUME) {
		const struct persistent_volume *is = object->persistent_volume;
		const struct persistent_volume *said = again->persistent_volume;

		assert_string_equal(is->claim_uid, said->claim_uid);
		assert_string_equal(is->claim_name, said->claim_name);
		assert_string_equal(is->claim_namespace, said->claim_namespace);
		assert_string_equal(is->reason, said->reason);
		assert_int_equal(is->bound_by_controller, said->bound_by_controller);
		assert_int_equal(is->phase, said->phase);
	} else {
		const struct persistent_volume_claim *is = object->claim, *said = again->claim;

		assert_string_equal(is->volume_name, said->volume_name);
		assert_string_equal(is->attributes_current, said->attributes_current);
		assert_int_equal(is->bind_completed, said->bind_completed);
		assert_int_equal(is->bound_by_controller, said->bound_by_controller);
		assert_int_equal(is->phase, said->phase);
		assert_int_equal(quantity_value(&is->status_capacity),
				 quantity_value(&said->status_capacity));
	}
}

static void take_timeless(struct world *world, struct cJSON *ret[2])
{
	assert_bound(world, "v");
	assert_whole(claim(world)->object);
	assert_whole(volume(world, "v")->object);
	ret[0] = timeless(claim(world)->object);
	ret[1] = timeless(volume(world, "v")->object);
}

/* By writes of the binder, each after a commit of its own. */
static void record_apart(const char *claim_text, const char *volume_text, struct cJSON *ret[2])
{
	struct world *world;

	assert_int_equal(binder_world_setup((void **) &world), 0);
	put(world, volume_text);
	put(world, claim_text);
	start_and_run(world);
	take_timeless(world, ret);
	assert_int_equal(binder_world_teardown((void **) &world), 0);
}

static void bind_together(const char *first, const char *second, struct cJSON *const wanted[2])
{
	struct cJSON *made[2];
	struct world *world;

	assert_int_equal(binder_world_setup((void **) &world), 0);
	start_and_run(world);
	commits = 0;
	queue(world, first);
	queue(world, second);
	run(world);
	assert_int_equal(commits, 1);
	assert_int_equal(store_resource_version(world->store.store), 2);
	for (size_t times = 0; times < 2; times++) {
		take_timeless(world, made);
		for (size_t i = 0; i < 2; i++) {
			assert_true(json_equal(made[i], wanted[i]));
			json_free(made[i]);
		}
		world->binder = pv_binder_free(world->binder);
		store_world_reopen(&world->store);
		start_and_run(world);
	}
	assert_int_equal(store_resource_version(world->store.store), 2);
	assert_int_equal(binder_world_teardown((void **) &world), 0);
}

static void created_together_is_bound_as_by_the_binders_writes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct cJSON *wanted[2];

		record_apart(pairs[i].claim, pairs[i].volume, wanted);
		bind_together(pairs[i].volume, pairs[i].claim, wanted);
		bind_together(pairs[i].claim, pairs[i].volume, wanted);
		json_free(wanted[0]);
		json_free(wanted[1]);
	}
}

/* As a manifest's objects are: they become what is stored, and are created from again. */
static const struct object *hand_over(const char *text)
{
	cleanup_object const struct object *object = object_of(text);
	struct cJSON *tree = object_tree(object);
	const struct object *proposal;

	assert_int_equal(object_propose(tree, &proposal, NULL), 0);
	json_free(tree);
	object_hand_over(proposal);
	return proposal;
}

static void a_commit_that_fails_leaves_both_as_they_were(void **state)
{
	cleanup_object const struct object *claim_object = hand_over(pairs[1].claim);
	cleanup_object const struct object *volume_object = hand_over(pairs[1].volume);
	struct world *world = *state;
	struct answer answers[2] = { { .came = false } };

	start_and_run(world);
	next_error = -ENOSPC;
	assert_int_equal(store_create(world->store.store, volume_object, answer_take, &answers[0]),
			 0);
	assert_int_equal(store_create(world->store.store, claim_object, answer_take, &answers[1]),
			 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(answer_wait(&world->store, &answers[i]), -ENOSPC);
	assert_false(has(claim_object, "Bound"));
	assert_false(has(claim_object, "bind-completed"));
	assert_false(has(volume_object, "Bound"));
	assert_false(has(volume_object, UID));
	assert_whole(claim_object);
	assert_whole(volume_object);

	assert_int_equal(world_create(&world->store, volume_object), 0);
	run(world);
	assert_null(get(world, KIND_PERSISTENT_VOLUME_CLAIM, "c"));
	assert_int_equal(volume(world, "v")->phase, VOLUME_AVAILABLE);
	put(world, pairs[1].claim);
	run(world);
	assert_bound(world, "v");
}

/* A write of the same group that was judged against one of them. */
static void what_others_rely_on_is_bound_later(void **state)
{
	cleanup_object const struct object *changed =
		object_of(VOLUME("v", "'kept':'yes'", "", ""));
	struct world *world = *state;

	start_and_run(world);
	queue(world, pairs[0].volume);
	assert_int_equal(store_update(world->store.store, changed, NULL, NULL, NULL), 0);
	queue(world, pairs[0].claim);
	run(world);
	assert_bound(world, "v");
	assert_true(has(volume(world, "v")->object, "\"kept\":\"yes\""));
	assert_int_equal(store_resource_version(world->store.store), 3 + 2);
}

static void what_does_not_fit_is_not_bound(void **state)
{
	struct world *world = *state;

	start_and_run(world);
	queue(world, VOLUME("v", "", CLASS("other"), ""));
	queue(world, pairs[0].claim);
	run(world);
	assert_int_equal(claim(world)->phase, CLAIM_PENDING);
	assert_false(volume(world, "v")->has_claim_ref);
	assert_string_equal(world->events, "c/VolumeMismatch ");
}

/* The same one whether the binder or the commit binds it. */
static void assert_last_claim_wins(bool is_together)
{
	struct world *world;

	assert_int_equal(binder_world_setup((void **) &world), 0);
	start_and_run(world);
	queue(world, pairs[0].volume);
	if (!is_together)
		run(world);
	queue(world, "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'d',"
		     "'namespace':'ns'},'spec':{'volumeName':'v','accessModes':['ReadWriteOnce'],"
		     "'resources':{'requests':{'storage':'1Gi'}}}}");
	queue(world, pairs[0].claim);
	run(world);
	assert_bound(world, "v");
	assert_int_equal(get(world, KIND_PERSISTENT_VOLUME_CLAIM, "d")->claim->phase,
			 CLAIM_PENDING);
	assert_string_equal(world->events, "d/FailedBinding ");
	assert_int_equal(binder_world_teardown((void **) &world), 0);
}

static void the_last_of_two_claims_gets_the_volume(void **state)
{
	assert_last_claim_wins(false);
	assert_last_claim_wins(true);
}

static void a_large_one_is_left_to_the_binder(void **state)
{
	struct world *world = *state;
	cleanup_free char *text = NULL;
	char value[70000];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_true(asprintf(&text, VOLUME("v", "'a':'%s'", "", ""), value) > 0);
	start_and_run(world);
	queue(world, text);
	queue(world, pairs[0].claim);
	run(world);
	assert_bound(world, "v");
	assert_int_equal(store_resource_version(world->store.store), 2 + 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, binder_world_setup, binder_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(created_together_is_bound_as_by_the_binders_writes),
		TEST(a_commit_that_fails_leaves_both_as_they_were),
		TEST(what_others_rely_on_is_bound_later),
		TEST(what_does_not_fit_is_not_bound),
		cmocka_unit_test(the_last_of_two_claims_gets_the_volume),
		TEST(a_large_one_is_left_to_the_binder),
	};

	loop = pthread_self();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
