/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_stages - each kind of step finds its slot, its name, its key and its request
 */
#include "operation/step_stages.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const char *slot_called;
static struct volume_request seen;

static int note(const char *slot, const struct volume_request *request, struct stage_list *ret)
{
	slot_called = slot;
	seen = *request;
	ret->count = 3;
	return 0;
}

#define SLOT(name)                                                                                 \
	static int name(const struct volume_request *request, struct stage_list *ret,              \
			struct failure *reterr)                                                    \
	{                                                                                          \
		(void) reterr;                                                                     \
		return note(#name, request, ret);                                                  \
	}
SLOT(new_mounter)
SLOT(new_unmounter)
SLOT(new_device_mounter)
SLOT(new_device_unmounter)
SLOT(new_device_mapper)
SLOT(new_block_mapper)
SLOT(new_block_unmapper)
SLOT(new_device_unmapper)

static int new_refused(const struct volume_request *request, struct stage_list *ret,
		       struct failure *reterr)
{
	return failed_plain(reterr, -EINVAL, "no");
}

static char *get_device_mount_path(const struct volume_request *request)
{
	return strdup(request->spec->name);
}

static const struct volume_plugin full = {
	.name = "example.com/full",
	.new_mounter = new_mounter,
	.new_unmounter = new_unmounter,
	.new_device_mounter = new_device_mounter,
	.new_device_unmounter = new_device_unmounter,
	.new_device_mapper = new_device_mapper,
	.new_block_mapper = new_block_mapper,
	.new_block_unmapper = new_block_unmapper,
	.new_device_unmapper = new_device_unmapper,
	.get_device_mount_path = get_device_mount_path,
};
static const struct volume_plugin mounting = { .name = "example.com/mounting",
					       .mounts_any_type = true };
static const struct volume_plugin optioned = { .name = "example.com/optioned",
					       .supports_mount_options = true };
static const struct volume_plugin bare = { .name = "example.com/bare" };
static const struct volume_plugin refusing = { .name = "example.com/refusing",
					       .new_mounter = new_refused };
static const struct plugin_host host = { .root_dir = "/r" };

static struct desired_pod want_pod = { .pod_uid = "uid", .spec = { .name = "inner" } };
static struct desired_volume want;
static struct actual_volume have;

static struct step make_step(enum step_kind kind, const struct volume_plugin *plugin, bool block)
{
	bool sets_up = kind == STEP_STAGE || kind == STEP_PUBLISH;
	bool has_pod = kind == STEP_PUBLISH || kind == STEP_UNPUBLISH;

	want = (struct desired_volume){ .plugin = plugin, .block = block };
	have = (struct actual_volume){ .plugin = plugin,
				       .plugin_name = "example.com/gone",
				       .spec_name = "recorded",
				       .block = block,
				       .device_path = "/dev/x",
				       .device_mount_path = "/g" };
	return (struct step){ .kind = kind,
			      .unique_name = "v",
			      .pod_uid = has_pod ? "uid" : NULL,
			      .want = sets_up ? &want : NULL,
			      .want_pod = sets_up ? &want_pod : NULL,
			      .have = &have };
}

struct expectation {
	enum step_kind kind;
	bool block;
	const char *slot, *name;
};

static void every_step_has_its_slot_and_name(void **state)
{
	static const struct expectation expected[] = {
		{ STEP_PUBLISH, false, "new_mounter", "volume_mount" },
		{ STEP_PUBLISH, true, "new_block_mapper", "map_volume" },
		{ STEP_UNPUBLISH, false, "new_unmounter", "volume_unmount" },
		{ STEP_UNPUBLISH, true, "new_block_unmapper", "unmap_volume" },
		{ STEP_STAGE, false, "new_device_mounter", "mount_device" },
		{ STEP_STAGE, true, "new_device_mapper", "mount_device" },
		{ STEP_UNSTAGE, false, "new_device_unmounter", "unmount_device" },
		{ STEP_UNSTAGE, true, "new_device_unmapper", "unmap_device" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		struct step step = make_step(expected[i].kind, &full, expected[i].block);
		struct stage_list list = { 0 };
		cleanup_free char *path = NULL;

		slot_called = NULL;
		assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
		assert_string_equal(slot_called, expected[i].slot);
		assert_string_equal(step_operation_name(&step), expected[i].name);
		assert_int_equal(list.count, 3);
		if (expected[i].kind == STEP_STAGE)
			assert_string_equal(path, "inner");
		else
			assert_null(path);
	}
}

static void set_up_is_asked_with_the_want(void **state)
{
	struct step step = make_step(STEP_PUBLISH, &full, false);
	struct stage_list list = { 0 };
	char *path = NULL;

	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	assert_ptr_equal(seen.host, &host);
	assert_ptr_equal(seen.spec, &want_pod.spec);
	assert_string_equal(seen.volume_name, "inner");
	assert_string_equal(seen.pod_uid, "uid");
	assert_string_equal(seen.device_mount_path, "/g");
	assert_false(seen.is_staged);
	have.device_state = MOUNT_DONE;
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	assert_true(seen.is_staged);
	have.staged_nothing = true;
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	assert_false(seen.is_staged);

	step.have = NULL;
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	assert_string_equal(seen.device_mount_path, "");
	assert_string_equal(seen.device_path, "");
	assert_false(seen.is_staged);
}

static void teardown_is_asked_with_what_is_recorded(void **state)
{
	struct step step = make_step(STEP_UNSTAGE, &full, false);
	struct stage_list list = { 0 };
	char *path = NULL;

	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	assert_null(seen.spec);
	assert_null(seen.pod);
	assert_null(seen.pod_uid);
	assert_string_equal(seen.volume_name, "recorded");
	assert_string_equal(seen.device_path, "/dev/x");
	assert_string_equal(seen.device_mount_path, "/g");
}

static void what_a_plugin_lacks(void **state)
{
	struct stage_list list = { 0 };
	struct failure why = { 0 };
	char *path = NULL;
	struct step step = make_step(STEP_STAGE, &bare, false);

	/* no device step, or nothing to take down (hostPath): nothing to do */
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	step = make_step(STEP_UNSTAGE, &bare, true);
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	assert_int_equal(list.count, 0);

	step = make_step(STEP_PUBLISH, &bare, true);
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, &why), -EOPNOTSUPP);
	assert_string_equal(why.text, "volume plugin 'example.com/bare' has no block volumes");
	step = make_step(STEP_UNPUBLISH, &bare, false);
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, NULL), 0);
	step = make_step(STEP_UNPUBLISH, NULL, false);
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, &why), -EOPNOTSUPP);
	assert_string_equal(why.text, "there is no volume plugin 'example.com/gone'");
	step = make_step(STEP_PUBLISH, &refusing, false);
	assert_int_equal(step_stages(&host, NULL, &step, &list, &path, &why), -EINVAL);
	assert_string_equal(why.text, "no");
}

static void only_an_unpublish_cleans_sub_paths(void **state)
{
	static const struct {
		enum step_kind kind;
		bool block;
		size_t count;
	} rows[] = { { STEP_UNPUBLISH, false, 1 },
		     { STEP_UNPUBLISH, true, 0 },
		     { STEP_PUBLISH, false, 0 },
		     { STEP_STAGE, false, 0 },
		     { STEP_UNSTAGE, false, 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct step step = make_step(rows[i].kind, &full, rows[i].block);
		struct stage_list list;

		assert_int_equal(step_stages_before(&host, &step, &list, NULL), 0);
		assert_int_equal(list.count, rows[i].count);
		stage_list_done(&list);
	}
}

static bool saw_memory_only;

int __wrap_stuck_unmount(int root_fd, const char *root_path, const struct stuck_volume *volume,
			 enum unmount_manner manner, unsigned int *ret_used,
			 struct failure *reterr);
int __wrap_stuck_unmount(int root_fd, const char *root_path, const struct stuck_volume *volume,
			 enum unmount_manner manner, unsigned int *ret_used, struct failure *reterr)
{
	saw_memory_only = volume->memory_only;
	return 0;
}

static void the_plugin_says_what_it_mounts(void **state)
{
	static const struct {
		const struct volume_plugin *plugin;
		bool memory_only;
	} rows[] = { { &mounting, false }, { &optioned, true }, { &bare, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct step step = make_step(STEP_UNPUBLISH, rows[i].plugin, false);
		struct actual_pod pod = { .pod_uid = "uid", .path = "/r/p" };
		struct stage_report report = { .event_count = 0 };
		struct stage_list list;

		HASH_ADD_KEYPTR(hh, have.pods, pod.pod_uid, strlen(pod.pod_uid), &pod);
		step.manner = UNMOUNT_LAZY;
		assert_int_equal(step_stages_before(&host, &step, &list, NULL), 0);
		assert_int_equal(list.count, 2);
		assert_int_equal(list.stages[0].run(list.data, &report), STAGE_NEXT);
		assert_int_equal(saw_memory_only, rows[i].memory_only);
		stage_list_done(&list);
		HASH_CLEAR(hh, have.pods);
	}
}

static void keys_are_kubelets(void **state)
{
	struct step step = make_step(STEP_PUBLISH, &full, false);

	assert_string_equal(step_key(&step).volume, "v");
	assert_string_equal(step_key(&step).pod, "uid");
	assert_string_equal(step_key(&step).node, "");
	assert_false(step_key(&step).alone);
	want.device_mountable = true;
	assert_string_equal(step_key(&step).pod, "uid");
	assert_true(step_key(&step).alone);

	step = make_step(STEP_UNPUBLISH, &full, false);
	have.device_mountable = true;
	assert_string_equal(step_key(&step).pod, "uid");
	assert_false(step_key(&step).alone);
	step = make_step(STEP_STAGE, &full, false);
	assert_string_equal(step_key(&step).pod, "");
	step = make_step(STEP_FORGET, &full, false);
	assert_string_equal(step_key(&step).pod, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_has_its_slot_and_name),
		cmocka_unit_test(set_up_is_asked_with_the_want),
		cmocka_unit_test(teardown_is_asked_with_what_is_recorded),
		cmocka_unit_test(what_a_plugin_lacks),
		cmocka_unit_test(only_an_unpublish_cleans_sub_paths),
		cmocka_unit_test(the_plugin_says_what_it_mounts),
		cmocka_unit_test(keys_are_kubelets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
