/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_write - writes: what they expect, how they are answered, and in which order
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "store_world.h"

#include <stdio.h>
#include <string.h>

static void created_object_is_there_after_the_answer(void **state)
{
	cleanup_object const struct object *volume = make_volume("one", "a");
	struct store_world *world = *state;
	struct answer answer = { .came = false };
	const struct object *stored;

	assert_int_equal(store_create(world->store, volume, answer_take, &answer), 0);
	assert_false(answer.came);
	assert_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one"));

	assert_int_equal(answer_wait(world, &answer), 0);
	stored = store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one");
	assert_non_null(stored);
	assert_int_equal(answer.resource_version, 1);
	assert_int_equal(stored->meta.resource_version, 1);
	assert_int_equal(store_resource_version(world->store), 1);
	assert_string_not_equal(stored->meta.uid, "");
	assert_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "on"));
	assert_null(store_get(world->store, KIND_PERSISTENT_VOLUME, "one", "one"));
	assert_null(store_get(world->store, KIND_POD, "", "one"));
}

static void second_create_of_a_name_is_refused(void **state)
{
	cleanup_object const struct object *volume = make_volume("one", "a");
	struct store_world *world = *state;
	struct answer first = { .came = false }, second = { .came = false };

	assert_int_equal(store_create(world->store, volume, answer_take, &first), 0);
	assert_int_equal(store_create(world->store, volume, answer_take, &second), 0);
	assert_int_equal(answer_wait(world, &second), -EEXIST);
	assert_int_equal(first.error, 0);
	assert_true(first.order < second.order);
	assert_string_equal(second.text, "persistentvolume 'one' exists already");
	assert_int_equal(world_create(world, volume), -EEXIST);
}

static void invalid_object_changes_nothing(void **state)
{
	cleanup_object const struct object *claim = make_claim("ns", "c", NULL);
	cleanup_object const struct object *smaller = object_of(
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c',"
		"'namespace':'ns'},'spec':{'accessModes':['ReadOnlyMany'],"
		"'resources':{'requests':{'storage':'1Gi'}}}}");
	struct store_world *world = *state;
	struct answer answer = { .came = false };

	assert_int_equal(world_create(world, claim), 0);
	assert_int_equal(store_update(world->store, smaller, NULL, answer_take, &answer), 0);
	assert_int_equal(answer_wait(world, &answer), -EINVAL);
	assert_string_not_equal(answer.text, "");
	assert_int_equal(store_resource_version(world->store), 1);
	assert_int_equal(store_get(world->store, claim->kind, "ns", "c")->meta.resource_version, 1);
}

static void update_makes_a_new_version_and_keeps_the_uid(void **state)
{
	cleanup_object const struct object *a = make_volume("one", "a");
	cleanup_object const struct object *b = make_volume("one", "b");
	struct store_world *world = *state;
	struct answer created = { .came = false }, updated = { .came = false };

	assert_int_equal(store_create(world->store, a, answer_take, &created), 0);
	assert_int_equal(answer_wait(world, &created), 0);
	assert_int_equal(store_update(world->store, b, NULL, answer_take, &updated), 0);
	assert_int_equal(answer_wait(world, &updated), 0);
	assert_int_equal(updated.resource_version, 2);
	assert_string_equal(updated.uid, created.uid);
	assert_non_null(
		strstr(store_get(world->store, a->kind, "", "one")->json, "\"test\":\"b\""));
}

static void update_without_a_change_makes_no_version(void **state)
{
	cleanup_object const struct object *a = make_volume("one", "a");
	struct store_world *world = *state;
	struct answer answer = { .came = false };

	/* Versions of more digits than before must not look like a change. */
	for (unsigned int i = 0; i < 12; i++) {
		cleanup_object const struct object *next = make_volume("one", i % 2 ? "x" : "y");

		assert_int_equal(i ? world_update(world, next) : world_create(world, next), 0);
	}
	assert_int_equal(world_update(world, a), 0);
	assert_int_equal(store_resource_version(world->store), 13);
	assert_int_equal(store_update(world->store, a, NULL, answer_take, &answer), 0);
	assert_int_equal(answer_wait(world, &answer), 0);
	assert_int_equal(answer.resource_version, 13);
	assert_int_equal(store_resource_version(world->store), 13);
}

static void change_of_a_number_beside_the_version_is_a_change(void **state)
{
	static const char text[] =
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':"
		"'n','annotations':{'count':'%s'}},'spec':{'capacity':{'storage':"
		"'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/d'}}}";
	struct store_world *world = *state;
	char json[sizeof(text) + 8];

	/* The values that the version before and this version will have. */
	(void) snprintf(json, sizeof(json), text, "1");
	cleanup_object const struct object *one = object_of(json);
	(void) snprintf(json, sizeof(json), text, "2");
	cleanup_object const struct object *two = object_of(json);

	assert_int_equal(world_create(world, one), 0);
	assert_int_equal(world_update(world, two), 0);
	assert_int_equal(store_resource_version(world->store), 2);
	assert_non_null(
		strstr(store_get(world->store, one->kind, "", "n")->json, "\"count\":\"2\""));
}

static int update_expecting(struct store_world *world, const char *uid, uint64_t version)
{
	static unsigned int label;
	struct store_precondition expected = { .uid = uid, .resource_version = version };
	struct answer answer = { .came = false };
	char text[16];

	(void) snprintf(text, sizeof(text), "l%u", ++label);
	cleanup_object const struct object *volume = make_volume("one", text);

	assert_int_equal(store_update(world->store, volume, &expected, answer_take, &answer), 0);
	return answer_wait(world, &answer);
}

static void preconditions_hold_or_conflict(void **state)
{
	cleanup_object const struct object *volume = make_volume("one", "a");
	struct store_precondition other = { .uid = "other" };
	struct store_world *world = *state;
	struct answer created = { .came = false }, removed = { .came = false };

	assert_int_equal(update_expecting(world, NULL, 0), -ENOENT);
	assert_int_equal(store_create(world->store, volume, answer_take, &created), 0);
	assert_int_equal(answer_wait(world, &created), 0);
	assert_int_equal(update_expecting(world, "other", 0), -ESTALE);
	assert_int_equal(update_expecting(world, created.uid, 0), 0);
	assert_int_equal(update_expecting(world, NULL, 1), -ESTALE);
	assert_int_equal(update_expecting(world, created.uid, 2), 0);

	assert_int_equal(store_delete(world->store, &(struct store_key){ volume->kind, "", "one" },
				      &other, answer_take, &removed),
			 0);
	assert_int_equal(answer_wait(world, &removed), -ESTALE);
	assert_non_null(store_get(world->store, volume->kind, "", "one"));
}

static void writes_to_one_object_follow_each_other(void **state)
{
	cleanup_object const struct object *a = make_class("c");
	struct store_precondition expected = { .resource_version = 1 };
	struct store_world *world = *state;
	struct answer answers[4] = { { .came = false } };

	/* All four are queued before the first is committed, and judged one after the other. */
	assert_int_equal(store_create(world->store, a, answer_take, &answers[0]), 0);
	assert_int_equal(store_update(world->store, a, &expected, answer_take, &answers[1]), 0);
	assert_int_equal(store_delete(world->store, &(struct store_key){ a->kind, "", "c" },
				      &expected, answer_take, &answers[2]),
			 0);
	assert_int_equal(store_delete(world->store, &(struct store_key){ a->kind, "", "nobody" },
				      NULL, answer_take, &answers[3]),
			 0);
	assert_int_equal(answer_wait(world, &answers[3]), -ENOENT);
	assert_int_equal(answers[0].error, 0);
	assert_int_equal(answers[1].error, 0);
	assert_int_equal(answers[1].resource_version, 1);
	assert_int_equal(answers[2].error, 0);
	for (unsigned int i = 1; i < 4; i++)
		assert_int_equal(answers[i].order, answers[i - 1].order + 1);
}

struct edit {
	struct answer answer; /* first: done's userdata is this one, too */
	const char *label;    /* NULL: refuses */
	unsigned int calls;
	uint64_t seen; /* version */
};

static int make_edit(void *userdata, const struct object *present, const struct object **ret,
		     struct failure *why)
{
	struct edit *edit = userdata;

	edit->calls++;
	edit->seen = present->meta.resource_version;
	if (!edit->label)
		return failed_plain(why, -EINVAL, "does not fit");
	*ret = make_volume("one", edit->label);
	return 0;
}

/* Three edits made out of version 1: the second meets version 2 before that is stored. */
static void edits_are_made_again_and_not_refused(void **state)
{
	const struct store_precondition first_version = { .resource_version = 1 };
	cleanup_object const struct object *volume = make_volume("one", "a");
	cleanup_object const struct object *edited = make_volume("one", "b");
	struct store_world *world = *state;
	struct edit edits[] = { { .label = "unused" }, { .label = "c" }, { .label = NULL } };

	assert_int_equal(world_create(world, volume), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(store_edit(world->store, edited, &first_version, make_edit,
					    answer_take, &edits[i]),
				 0);
	assert_int_equal(answer_wait(world, &edits[2].answer), -EINVAL);
	assert_string_equal(edits[2].answer.text, "does not fit");
	assert_int_equal(edits[0].calls, 0);
	assert_int_equal(edits[0].answer.resource_version, 2);
	assert_int_equal(edits[1].calls, 1);
	assert_int_equal(edits[1].seen, 2);
	assert_int_equal(edits[1].answer.resource_version, 3);
	assert_int_equal(edits[2].seen, 3);
	assert_non_null(strstr(store_get(world->store, KIND_PERSISTENT_VOLUME, "", "one")->json,
			       "\"test\":\"c\""));
	assert_int_equal(world_delete(world, KIND_PERSISTENT_VOLUME, "", "one"), 0);
	assert_int_equal(
		store_edit(world->store, edited, &first_version, make_edit, answer_take, &edits[0]),
		0);
	edits[0].answer.came = false;
	assert_int_equal(answer_wait(world, &edits[0].answer), -ENOENT);
}

static void write_falls_with_the_one_it_follows(void **state)
{
	static const struct store_precondition follows = { .follows = true };
	static const struct store_precondition stale = { .resource_version = 9, .follows = true };
	cleanup_object const struct object *a = make_volume("one", "a");
	cleanup_object const struct object *b = make_volume("one", "b");
	cleanup_object const struct object *c = make_volume("one", "c");
	struct store_world *world = *state;
	struct answer answers[6] = { { .came = false } };

	assert_int_equal(store_create(world->store, a, answer_take, &answers[0]), 0);
	assert_int_equal(store_update(world->store, b, &follows, answer_take, &answers[1]), 0);
	assert_int_equal(store_update(world->store, a, &stale, answer_take, &answers[2]), 0);
	assert_int_equal(store_update(world->store, a, &follows, answer_take, &answers[3]), 0);
	assert_int_equal(store_update(world->store, a, &follows, answer_take, &answers[4]), 0);
	assert_int_equal(store_update(world->store, c, NULL, answer_take, &answers[5]), 0);
	assert_int_equal(answer_wait(world, &answers[5]), 0);
	assert_int_equal(answers[1].error, 0);
	for (unsigned int i = 2; i < 5; i++)
		assert_int_equal(answers[i].error, -ESTALE);
	assert_string_equal(answers[4].text,
			    "persistentvolume 'one' skipped: an earlier write of the group failed");
	assert_int_equal(answers[5].resource_version, 3);
}

static void write_falls_with_the_last_one_of_the_group_before(void **state)
{
	static const struct store_precondition follows = { .follows = true };
	cleanup_object const struct object *volume = make_volume("one", "a");
	cleanup_object const struct object *other = make_volume("other", "a");
	struct store_world *world = *state;
	struct answer refused = { .came = false }, answer = { .came = false };

	assert_int_equal(world_create(world, volume), 0);
	for (unsigned int i = 1; i < STORE_GROUP_MAX; i++)
		assert_int_equal(store_update(world->store, volume, NULL, NULL, NULL), 0);
	assert_int_equal(store_create(world->store, volume, answer_take, &refused), 0);
	assert_int_equal(store_update(world->store, other, &follows, answer_take, &answer), 0);
	assert_int_equal(answer_wait(world, &answer), -ESTALE);
	assert_int_equal(refused.error, -EEXIST);
}

static void delete_removes_or_waits_for_finalizers(void **state)
{
	cleanup_object const struct object *volume = make_class("s");
	cleanup_object const struct object *held = make_claim("ns", "held", "example.com/keep");
	struct store_world *world = *state;
	const struct object *stored;

	assert_int_equal(world_create(world, volume), 0);
	assert_int_equal(world_delete(world, volume->kind, "", "s"), 0);
	assert_null(store_get(world->store, volume->kind, "", "s"));
	assert_int_equal(world_delete(world, volume->kind, "", "s"), -ENOENT);

	assert_int_equal(world_create(world, held), 0);
	assert_int_equal(world_delete(world, held->kind, "ns", "held"), 0);
	stored = store_get(world->store, held->kind, "ns", "held");
	assert_non_null(stored);
	assert_true(stored->meta.deletes);
}

struct again {
	struct store_world *world;
	const struct object *object;
	struct answer answer;
	int queued;
};

static void write_again(void *userdata, int error, const struct object *result,
			const struct failure *why)
{
	struct again *again = userdata;

	assert_int_equal(error, 0);
	again->queued =
		store_update(again->world->store, again->object, NULL, answer_take, &again->answer);
}

static void a_callback_may_write(void **state)
{
	cleanup_object const struct object *a = make_volume("one", "a");
	cleanup_object const struct object *b = make_volume("one", "b");
	struct again again = { .world = *state, .object = b };

	assert_int_equal(store_create(again.world->store, a, write_again, &again), 0);
	assert_int_equal(answer_wait(again.world, &again.answer), 0);
	assert_int_equal(again.queued, 0);
	assert_int_equal(again.answer.resource_version, 2);
}

static void closing_answers_what_was_queued(void **state)
{
	cleanup_object const struct object *a = make_volume("one", "a");
	cleanup_object const struct object *b = make_volume("two", "b");
	struct again again = { .world = *state, .object = b };
	struct answer answer = { .came = false };

	assert_int_equal(store_create(again.world->store, a, write_again, &again), 0);
	assert_int_equal(store_create(again.world->store, b, answer_take, &answer), 0);
	store_world_reopen(again.world);
	assert_true(answer.came);
	assert_int_equal(answer.error, 0);
	assert_int_equal(again.queued, -ECANCELED);
	assert_false(again.answer.came);
	assert_non_null(store_get(again.world->store, a->kind, "", "one"));
	assert_non_null(store_get(again.world->store, a->kind, "", "two"));
}

static int append_name(const struct object *object, void *userdata)
{
	char *names = userdata;
	size_t used = strlen(names);

	(void) snprintf(names + used, 128 - used, "%s/%s ", object->meta.name_space,
			object->meta.name);
	return strcmp(object->meta.name, "stop") == 0 ? 7 : 0;
}

static void lists_are_sorted(void **state)
{
	static const char *const keys[][2] = { { "b", "1" },   { "a", "2" }, { "b", "0" },
					       { "a-b", "1" }, { "a", "1" }, { "c", "stop" },
					       { "d", "1" } };
	struct store_world *world = *state;
	char names[128] = "";

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		cleanup_object const struct object *claim =
			make_claim(keys[i][0], keys[i][1], NULL);

		assert_int_equal(world_create(world, claim), 0);
	}
	assert_int_equal(
		store_list(world->store, KIND_PERSISTENT_VOLUME_CLAIM, NULL, append_name, names),
		7);
	assert_string_equal(names, "a/1 a/2 a-b/1 b/0 b/1 c/stop ");
	names[0] = '\0';
	assert_int_equal(
		store_list(world->store, KIND_PERSISTENT_VOLUME_CLAIM, "b", append_name, names), 0);
	assert_string_equal(names, "b/0 b/1 ");
	assert_int_equal(store_list(world->store, KIND_POD, NULL, append_name, names), 0);
}

enum { MANY = 1000 };

static bool all_came(void *userdata)
{
	const struct answer *answers = userdata;

	return answers[MANY - 1].came;
}

static void many_writes_survive_a_reopening(void **state)
{
	struct store_world *world = *state;
	cleanup_free struct answer *answers = calloc(MANY, sizeof(*answers));

	assert_non_null(answers);
	for (unsigned int i = 0; i < MANY; i++) {
		char name[16];

		(void) snprintf(name, sizeof(name), "v%04u", i * 7919 % MANY);
		cleanup_object const struct object *volume = make_volume(name, "a");

		assert_int_equal(store_create(world->store, volume, answer_take, &answers[i]), 0);
	}
	store_world_run(world, all_came, answers);
	for (unsigned int i = 1; i < MANY; i++) {
		assert_int_equal(answers[i].error, 0);
		assert_int_equal(answers[i].order, answers[i - 1].order + 1);
	}

	assert_int_equal(world_delete(world, KIND_PERSISTENT_VOLUME, "", "v0500"), 0);
	store_world_reopen(world);
	assert_int_equal(store_resource_version(world->store), MANY + 1);
	for (unsigned int i = 0; i < MANY; i++) {
		const struct object *volume;
		char name[16];

		(void) snprintf(name, sizeof(name), "v%04u", i);
		volume = store_get(world->store, KIND_PERSISTENT_VOLUME, "", name);
		assert_true((i == 500) == !volume || (volume && volume->meta.deletes));
	}
}

static const struct object *make_pod(const char *name, const char *uid)
{
	char text[400];

	(void) snprintf(
		text, sizeof(text),
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'n'%s%s%s},"
		"'spec':{'containers':[{'name':'c','image':'i'}]}}",
		name, uid ? ",'uid':'" : "", uid ? uid : "", uid ? "'" : "");
	return object_of(text);
}

static void uid_of_a_pod_is_not_given_twice(void **state)
{
	cleanup_object const struct object *first = make_pod("first", "same");
	cleanup_object const struct object *second = make_pod("second", "same");
	cleanup_object const struct object *third = make_pod("third", NULL);
	struct answer answers[2] = { { .came = false }, { .came = false } };
	struct store_world *world = *state;

	/* In one group, where neither is committed. */
	assert_int_equal(store_create(world->store, first, answer_take, &answers[0]), 0);
	assert_int_equal(store_create(world->store, second, answer_take, &answers[1]), 0);
	assert_int_equal(answer_wait(world, &answers[0]), 0);
	assert_int_equal(answer_wait(world, &answers[1]), -EINVAL);
	assert_string_equal(answers[1].text, "metadata.uid: Invalid value: \"same\": is the uid of "
					     "pod 'n/first'");

	/* Against what is stored. */
	assert_int_equal(world_create(world, second), -EINVAL);
	assert_null(store_get(world->store, KIND_POD, "n", "second"));
	assert_int_equal(world_create(world, third), 0);

	/* It is free again when its pod is gone. */
	assert_int_equal(world_delete(world, KIND_POD, "n", "first"), 0);
	assert_int_equal(world_create(world, second), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_world_setup, store_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(created_object_is_there_after_the_answer),
		TEST(second_create_of_a_name_is_refused),
		TEST(invalid_object_changes_nothing),
		TEST(update_makes_a_new_version_and_keeps_the_uid),
		TEST(update_without_a_change_makes_no_version),
		TEST(change_of_a_number_beside_the_version_is_a_change),
		TEST(uid_of_a_pod_is_not_given_twice),
		TEST(preconditions_hold_or_conflict),
		TEST(writes_to_one_object_follow_each_other),
		TEST(edits_are_made_again_and_not_refused),
		TEST(write_falls_with_the_one_it_follows),
		TEST(write_falls_with_the_last_one_of_the_group_before),
		TEST(delete_removes_or_waits_for_finalizers),
		TEST(a_callback_may_write),
		TEST(closing_answers_what_was_queued),
		TEST(lists_are_sorted),
		TEST(many_writes_survive_a_reopening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
