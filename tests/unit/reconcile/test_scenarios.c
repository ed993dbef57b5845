/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scenarios - what the reconciler plans, turn by turn, by the files in tests/scenario
 *
 * A file is about one volume. "volume" says what it is, "want" which pods want it, "have" what is
 * there. Each of its "turns" changes something (a pod wants it or does not, a step begins or has
 * ended, all pods are known), then the whole plan is compared with "plan" and entries with "state".
 * Words that are not read fail the test, so that no file says something that is not tested.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/state/fake_objects.h"
#include "object/json/json.h"
#include "reconcile/reconcile.h"

#include <assert.h>
#include <string.h>

#define VOLUME "example.com/fake/pv"

enum { PODS_MAX = 4, SCENARIOS_MAX = 256, SCENARIOS_MIN = 30, SCENARIO_BYTES_MAX = 65536 };

struct world {
	struct dirty_set *dirty;
	struct desired *desired;
	struct actual *actual;
	struct plan plan;
	struct reconcile_conditions conditions;
	struct fake_pv pv;
	struct fake_pod pods[PODS_MAX];
	bool device_mountable, block, remounts, stages_device, unknown_plugin, from_rebuild;
	uint64_t generations[PODS_MAX];
};

static const char *const pod_names[PODS_MAX] = { "a", "b", "c", "d" };

static size_t pod_index(const char *name)
{
	size_t i;

	for (i = 0; i < PODS_MAX && strcmp(pod_names[i], name) != 0; i++)
		;
	if (i == PODS_MAX)
		print_error("# '%s' is not a pod of a scenario\n", name);
	assert_true(i < PODS_MAX);
	return i;
}

static void expect_keys(const struct cJSON *object, const char *known)
{
	const struct cJSON *item;
	char key[64];

	assert_true(json_is_object(object));
	for (item = json_first(object); item; item = json_next(item)) {
		(void) snprintf(key, sizeof(key), " %s ", json_key(item));
		if (!strstr(known, key))
			print_error("# unknown word '%s'\n", json_key(item));
		assert_non_null(strstr(known, key));
	}
}

/* ---- what there is at first ---- */

static unsigned int read_access_modes(const struct cJSON *modes)
{
	const struct cJSON *mode;
	unsigned int set = 0;

	for (mode = json_first(modes); mode; mode = json_next(mode)) {
		const char *name = json_string(mode, "");

		if (strcmp(name, "ReadWriteOncePod") == 0)
			set |= ACCESS_READ_WRITE_ONCE_POD;
		else if (strcmp(name, "ReadWriteOnce") == 0)
			set |= ACCESS_READ_WRITE_ONCE;
		else
			fail_msg("'%s' is not an access mode of a scenario", name);
	}
	return set ? set : ACCESS_READ_WRITE_ONCE;
}

static void read_volume(struct world *world, const struct cJSON *volume)
{
	if (volume)
		expect_keys(volume,
			    " device_mountable block remounts stages_device plugin access_modes ");
	world->device_mountable = json_bool(json_get(volume, "device_mountable"), true);
	world->block = json_bool(json_get(volume, "block"), false);
	world->remounts = json_bool(json_get(volume, "remounts"), false);
	world->stages_device = json_bool(json_get(volume, "stages_device"), false);
	world->unknown_plugin = strcmp(json_string(json_get(volume, "plugin"), ""), "unknown") == 0;
	fake_pv_init(&world->pv, "pv", read_access_modes(json_get(volume, "access_modes")));
	for (size_t i = 0; i < PODS_MAX; i++)
		fake_pod_init(&world->pods[i], pod_names[i], pod_names[i]);
}

static const struct volume_plugin *plugin_of(const struct world *world)
{
	if (world->stages_device)
		return &fake_device_plugin;
	return world->remounts ? &fake_remount_plugin : &fake_plugin;
}

static void want(struct world *world, const char *pod)
{
	struct volume_spec spec = { .name = "pv", .pv = &world->pv.object, .block = world->block };

	assert_true(desired_add(world->desired, &(struct desired_want){
							.unique_name = VOLUME,
							.plugin = plugin_of(world),
							.device_mountable = world->device_mountable,
							.spec = &spec,
							.pod = &world->pods[pod_index(pod)].object,
							.outer_names = (const char *[]){ "data" },
							.outer_name_count = 1,
						}) >= 0);
}

static struct actual_entry entry_of(const struct world *world, const char *pod)
{
	return (struct actual_entry){
		.unique_name = VOLUME,
		.plugin_name = world->unknown_plugin ? "example.com/gone" : plugin_of(world)->name,
		.plugin = world->unknown_plugin ? NULL : plugin_of(world),
		.spec_name = "pv",
		.device_mountable = world->device_mountable,
		.block = world->block,
		.pod_uid = pod,
		.remount_generation = pod ? world->generations[pod_index(pod)] : 0,
	};
}

static void begin(struct world *world, const char *pod)
{
	struct actual_entry entry = entry_of(world, pod);

	assert_int_equal(actual_begin(world->actual, &entry), 0);
}

static void end(struct world *world, enum step_kind kind, const char *pod, int error,
		enum error_class error_class)
{
	actual_apply(world->actual, &(struct step_result){ .kind = kind,
							   .unique_name = VOLUME,
							   .pod_uid = pod,
							   .error = error,
							   .error_class = error_class,
							   .touched = true });
}

/* By the ways that lead to a state: there is no other. */
static void bring(struct world *world, enum step_kind kind, const char *pod, const char *state)
{
	struct actual_entry entry = entry_of(world, pod);

	if (world->from_rebuild) {
		assert_string_equal(state, "uncertain");
		assert_int_equal(actual_add_rebuilt(world->actual, &entry,
						    pod ? MOUNT_ABSENT : MOUNT_UNCERTAIN, "", ""),
				 0);
		return;
	}
	begin(world, pod);
	if (strcmp(state, "mounted") == 0)
		end(world, kind, pod, 0, ERROR_FINAL);
	else if (strcmp(state, "uncertain") == 0)
		end(world, kind, pod, -EIO, ERROR_UNCERTAIN);
	else
		assert_string_equal(state, "absent");
}

static void read_have(struct world *world, const struct cJSON *have)
{
	const struct cJSON *pod;

	if (!have)
		return;
	expect_keys(have, " device pods from_rebuild ");
	world->from_rebuild = json_bool(json_get(have, "from_rebuild"), false);
	if (json_get(have, "device"))
		bring(world, STEP_STAGE, NULL, json_string(json_get(have, "device"), ""));
	for (pod = json_first(json_get(have, "pods")); pod; pod = json_next(pod))
		bring(world, STEP_PUBLISH, pod_names[pod_index(json_key(pod))],
		      json_string(pod, ""));
}

/* ---- turns ---- */

static const char *const step_names[] = {
	[STEP_UNPUBLISH] = "unpublish", [STEP_STAGE] = "stage",   [STEP_PUBLISH] = "publish",
	[STEP_UNSTAGE] = "unstage",     [STEP_FORGET] = "forget",
};
static_assert(ARRAY_SIZE(step_names) == STEP_KIND_COUNT, "name every kind");

static enum step_kind step_kind_of(const char *name)
{
	size_t i;

	for (i = 0; i < STEP_KIND_COUNT && strcmp(step_names[i], name) != 0; i++)
		;
	assert_true(i < STEP_KIND_COUNT);
	return (enum step_kind) i;
}

static const struct {
	const char *name;
	enum error_class error_class;
	bool touched, needs_stage;
} errors[] = {
	{ "final", ERROR_FINAL, true, false },
	{ "transient", ERROR_TRANSIENT, false, false },
	{ "uncertain", ERROR_UNCERTAIN, true, false },
	{ "touched", ERROR_FINAL, true, false },
	{ "untouched", ERROR_FINAL, false, false },
	{ "needs stage", ERROR_TRANSIENT, true, true },
};

static void read_error(const char *name, struct step_result *result)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors) && strcmp(errors[i].name, name) != 0; i++)
		;
	assert_true(i < ARRAY_SIZE(errors));
	result->error = -EIO;
	result->error_class = errors[i].error_class;
	result->touched = errors[i].touched;
	result->needs_stage = errors[i].needs_stage;
}

static void read_ended(struct world *world, const struct cJSON *ended)
{
	const char *pod = json_string(json_get(ended, "pod"), NULL);
	struct step_result result = {
		.kind = step_kind_of(json_string(json_get(ended, "step"), "")),
		.unique_name = VOLUME,
		.pod_uid = pod,
	};

	expect_keys(ended, " step pod error ");
	if (result.kind == STEP_STAGE || result.kind == STEP_PUBLISH)
		begin(world, pod);
	if (json_get(ended, "error"))
		read_error(json_string(json_get(ended, "error"), ""), &result);
	actual_apply(world->actual, &result);
}

static void change(struct world *world, const struct cJSON *turn)
{
	const char *pod;

	if ((pod = json_string(json_get(turn, "want"), NULL)))
		want(world, pod);
	if ((pod = json_string(json_get(turn, "unwant"), NULL)))
		desired_remove(world->desired, VOLUME, pod);
	if ((pod = json_string(json_get(turn, "remount"), NULL))) {
		desired_request_remount(world->desired, VOLUME, pod);
		world->generations[pod_index(pod)]++;
	}
	if ((pod = json_string(json_get(turn, "begin"), NULL)))
		begin(world, pod);
	if (json_get(turn, "ended"))
		read_ended(world, json_get(turn, "ended"));
	world->conditions.may_unmount =
		json_bool(json_get(turn, "may_unmount"), world->conditions.may_unmount);
}

static void expect_plan(const struct world *world, const struct cJSON *expected)
{
	char planned[512] = "", wanted[512] = "";
	const struct cJSON *item;
	size_t length = 0;

	for (size_t i = 0; i < world->plan.count; i++) {
		const struct step *step = &world->plan.steps[i];

		length += (size_t) snprintf(
			planned + length, sizeof(planned) - length, "%s%s%s%s; ",
			step_names[step->kind], step->pod_uid ? " " : "",
			step->pod_uid ? step->pod_uid : "", step->remount ? " again" : "");
		assert_true(length < sizeof(planned));
	}
	assert_true(json_is_array(expected));
	length = 0;
	for (item = json_first(expected); item; item = json_next(item)) {
		length += (size_t) snprintf(wanted + length, sizeof(wanted) - length, "%s; ",
					    json_string(item, "?"));
		assert_true(length < sizeof(wanted));
	}
	assert_string_equal(planned, wanted);
}

static const char *state_of(const struct world *world, const char *what)
{
	const struct actual_volume *volume = actual_find(world->actual, VOLUME);
	const struct actual_pod *pod;

	if (!volume || strcmp(what, "volume") == 0)
		return volume ? "there" : "gone";
	if (strcmp(what, "device") == 0)
		return mount_state_name(volume->device_state);
	pod = actual_find_pod(volume, pod_names[pod_index(what)]);
	return pod ? mount_state_name(pod->state) : "gone";
}

static void play_turn(struct world *world, const struct cJSON *turn)
{
	const struct cJSON *state;

	expect_keys(turn, " want unwant remount begin ended may_unmount plan state ");
	change(world, turn);
	world->plan.count = 0;
	assert_int_equal(reconcile_volume(world->desired, world->actual, VOLUME, &world->conditions,
					  &world->plan),
			 0);
	expect_plan(world, json_get(turn, "plan"));
	for (state = json_first(json_get(turn, "state")); state; state = json_next(state))
		assert_string_equal(state_of(world, json_key(state)), json_string(state, ""));
}

/* ---- files ---- */

static struct cJSON *read_scenario(const char *path)
{
	struct json_limits limits = { .bytes = SCENARIO_BYTES_MAX, .depth = 16 };
	cleanup_fclose FILE *file = fopen(path, "re");
	struct failure failure = { 0 };
	static char text[SCENARIO_BYTES_MAX];
	struct cJSON *tree = NULL;
	size_t length;

	assert_non_null(file);
	length = fread(text, 1, sizeof(text), file);
	assert_true(length > 0 && length < sizeof(text));
	if (json_parse(text, length, &limits, &tree, &failure) < 0)
		fail_msg("%s: %s", path, failure.text);
	return tree;
}

static void play(struct world *world, const struct cJSON *scenario)
{
	const struct cJSON *item;
	unsigned int number = 0;

	expect_keys(scenario, " name why volume want have may_unmount turns ");
	assert_true(strlen(json_string(json_get(scenario, "why"), "")) > 10);
	read_volume(world, json_get(scenario, "volume"));
	read_have(world, json_get(scenario, "have"));
	world->conditions.may_unmount = json_bool(json_get(scenario, "may_unmount"), true);
	for (item = json_first(json_get(scenario, "want")); item; item = json_next(item))
		want(world, json_string(item, ""));

	assert_true(json_count(json_get(scenario, "turns")) > 0);
	for (item = json_first(json_get(scenario, "turns")); item; item = json_next(item)) {
		print_message("# turn %u\n", ++number);
		play_turn(world, item);
	}
}

static void test_scenario(void **state)
{
	cleanup_json struct cJSON *scenario = read_scenario(*state);
	struct world world = { .plan = { .count = 0 } };

	print_message("# %s\n", json_string(json_get(scenario, "name"), "?"));
	fake_references = 0;
	assert_int_equal(dirty_set_new(NULL, NULL, &world.dirty), 0);
	assert_int_equal(desired_new(world.dirty, &world.desired), 0);
	assert_int_equal(actual_new(world.dirty, &world.actual), 0);

	play(&world, scenario);

	plan_done(&world.plan);
	desired_free(world.desired);
	actual_free(world.actual);
	dirty_set_free(world.dirty);
	assert_int_equal(fake_references, 0);
}

static int is_scenario(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

int main(void)
{
	static struct CMUnitTest tests[SCENARIOS_MAX];
	static char paths[SCENARIOS_MAX][512];
	struct dirent **entries = NULL;
	int count = scandir(SCENARIO_DIRECTORY, &entries, is_scenario, alphasort), result;

	if (count < SCENARIOS_MIN || count > SCENARIOS_MAX) {
		printf("Bail out! %d scenarios in %s\n", count, SCENARIO_DIRECTORY);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		(void) snprintf(paths[i], sizeof(paths[i]), "%s/%s", SCENARIO_DIRECTORY,
				entries[i]->d_name);
		tests[i] = (struct CMUnitTest){ .name = entries[i]->d_name,
						.test_func = test_scenario,
						.initial_state = paths[i] };
	}
	result = _cmocka_run_group_tests("scenarios", tests, (size_t) count, NULL, NULL);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return result;
}
