/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_unmounter - NodeUnpublishVolume, and how a volume is known again after a restart: by its
 * file, or without it
 */
#include "tests/unit/csi/csi_world.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNPUBLISH "NodeUnpublishVolume{volume_id=vol-1 target_path=R/" TARGET "/mount}"
#define INLINE    "pods/u1/volumes/kubernetes.io~csi/v"

static void remove_file_at(const char *relative)
{
	char path[256];

	(void) snprintf(path, sizeof(path), "%s/%s", csi_world.root, relative);
	assert_int_equal(remove(path), 0);
}

/* ---- teardown ---- */

static void test_unpublish(void **state)
{
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	csi_world.diary[0] = '\0';
	csi_world.capabilities = 0; /* is not asked */
	assert_int_equal(csi_world_unpublish().result, 0);
	assert_calls(UNPUBLISH);
	assert_false(csi_world_has("pods/u1"));
	assert_true(csi_world_has("pods"));
}

static void test_directory_that_a_driver_left(void **state)
{
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	csi_world.keeps_target = true;
	assert_int_equal(csi_world_unpublish().result, 0);
	assert_false(csi_world_has("pods/u1"));
}

/* case 283 */
static void test_unpublish_without_a_target(void **state)
{
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	remove_file_at(TARGET "/mount");
	csi_world.diary[0] = '\0';
	assert_int_equal(csi_world_unpublish().result, 0);
	assert_calls(UNPUBLISH);
	assert_false(csi_world_has("pods/u1"));
}

/* case 282, case 352: whose volume that was is unknown, and so nothing is done to it */
static void test_unpublish_inline_without_its_file(void **state)
{
	struct csi_ran ran;

	csi_world_driver("{volumeLifecycleModes: [Ephemeral]}");
	csi_world_inline("");
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	remove_file_at(INLINE "/vol_data.json");
	csi_world.diary[0] = '\0';
	ran = csi_world_unpublish();
	assert_int_equal(ran.result, -ENOENT);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_calls("");
	assert_true(csi_world_has(INLINE "/mount"));
}

/* difference: the unique name says what the lost file said (case 282) */
static void test_unpublish_without_its_file(void **state)
{
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	remove_file_at(TARGET "/vol_data.json");
	csi_world.diary[0] = '\0';
	assert_int_equal(csi_world_unpublish().result, 0);
	assert_calls(UNPUBLISH);
	assert_false(csi_world_has("pods/u1"));
}

/* A kill between the removals: what is left is empty. */
static void test_teardown_goes_on_where_it_was_killed(void **state)
{
	csi_world_make(TARGET);
	assert_int_equal(csi_world_unpublish().result, STAGE_LIST_DONE);
	assert_int_equal(csi_world.calls, 0);
	assert_false(csi_world_has("pods/u1"));
	assert_int_equal(csi_world_unpublish().result, STAGE_LIST_DONE);
}

/* case 286 */
static void test_unpublish_fails(void **state)
{
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	csi_world.answers[CSI_NODE_UNPUBLISH_VOLUME].code = GRPC_INTERNAL;
	assert_true(csi_world_unpublish().result < 0);
	csi_world_assert_volume(TARGET, true, true);
	csi_world.answers[CSI_NODE_UNPUBLISH_VOLUME].code = GRPC_OK;
	assert_int_equal(csi_world_unpublish().result, 0);
	assert_false(csi_world_has("pods/u1"));
}

static void test_freed_while_a_call_is_under_way(void **state)
{
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	csi_world_run_and_leave(csi_world.plugin->new_unmounter);
	assert_int_equal(csi_world.cancels, 1);
}

/* ---- after a restart ---- */

static int construct(const char *pod_uid, const char *name, struct volume_spec *ret)
{
	*ret = (struct volume_spec){ .name = NULL };
	return csi_world.plugin->construct_volume_spec(&csi_world.host, pod_uid, name, false, ret,
						       NULL);
}

static void test_known_again_by_its_file(void **state)
{
	struct volume_spec spec;
	char *name = NULL;

	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_int_equal(construct("u1", "pv1", &spec), 0);
	assert_string_equal(spec.name, "pv1");
	assert_true(csi_world.plugin->can_device_mount(&spec));
	assert_int_equal(csi_world.plugin->get_volume_name(&spec, &name, NULL), 0);
	assert_string_equal(name, "d^vol-1");
	free(name);
	object_unref(spec.pv);
}

static void test_inline_known_again(void **state)
{
	struct volume_spec spec;

	csi_world_driver("{volumeLifecycleModes: [Ephemeral]}");
	csi_world_inline("");
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_int_equal(construct("u1", "v", &spec), 0);
	assert_string_equal(spec.name, "v");
	assert_null(spec.pv);
	assert_false(csi_world.plugin->can_device_mount(&spec));
}

/* case 352: an error, and nothing else happens */
static void test_not_known_without_its_file(void **state)
{
	struct volume_spec spec;

	csi_world_make(TARGET "/mount");
	assert_true(construct("u1", "pv1", &spec) < 0);
	assert_true(construct("u1", "nothing", &spec) < 0);
	assert_true(construct("u1", "../pv1", &spec) < 0);
	assert_true(construct("", "d/nohash", &spec) < 0);
	assert_true(csi_world_has(TARGET "/mount"));
}

static void test_staged_known_again(void **state)
{
	struct volume_request request = csi_world.request;
	struct volume_spec spec;
	char *name = NULL, *path, *expected;

	csi_world.request.pod_uid = NULL;
	assert_int_equal(csi_world_run(csi_world.plugin->new_device_mounter).result, 0);
	name = csi_world.plugin->get_found_name("kubernetes.io/csi/d^vol-1");
	assert_string_equal(name, "d/" VOL_1_HASH);
	assert_int_equal(construct("", name, &spec), 0);
	free(name);
	assert_int_equal(csi_world.plugin->get_volume_name(&spec, &name, NULL), 0);
	assert_string_equal(name, "d^vol-1");
	free(name);
	request.spec = &spec;
	path = csi_world.plugin->get_device_mount_path(&request);
	assert_true(asprintf(&expected, "%s/" STAGING "/globalmount", csi_world.root) > 0);
	assert_string_equal(path, expected);
	free(path);
	free(expected);
	object_unref(spec.pv);
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, csi_world_setup, csi_world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD(test_unpublish),
		WORLD(test_directory_that_a_driver_left),
		WORLD(test_unpublish_without_a_target),
		WORLD(test_unpublish_inline_without_its_file),
		WORLD(test_unpublish_without_its_file),
		WORLD(test_teardown_goes_on_where_it_was_killed),
		WORLD(test_unpublish_fails),
		WORLD(test_freed_while_a_call_is_under_way),
		WORLD(test_known_again_by_its_file),
		WORLD(test_inline_known_again),
		WORLD(test_not_known_without_its_file),
		WORLD(test_staged_known_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
