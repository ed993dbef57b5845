/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_expand - a volume whose PersistentVolume grew: NodeExpandVolume behind the publish, and
 * what becomes of its failures
 */
#include "tests/unit/csi/csi_world.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define EXPAND                                                                                     \
	"NodeExpandVolume{volume_id=vol-1 volume_path=R/" TARGET                                   \
	"/mount capacity_range={required_bytes=1073741824} staging_target_path=R/" STAGING         \
	"/globalmount volume_capability={mount={} access_mode={mode=1}}}"

static int setup(void **state)
{
	if (csi_world_setup(state) < 0)
		return -1;
	csi_world.capabilities = CAN_STAGE | CAN_EXPAND;
	csi_world_claim("512Mi");
	return 0;
}

static const char *expansion(void)
{
	return strstr(csi_world.diary, "NodeExpandVolume") ?: "";
}

static const char *event_reason(const struct csi_ran *ran)
{
	return ran->report.event_count > 0 ? ran->report.events[0].reason : "";
}

/* case 335, difference: behind one more publish, which repeats what is. 512Mi by the claim, 1Gi by
 * the volume; once, for then the claim says so */
static void test_grows_once(void **state)
{
	struct csi_ran ran = csi_world_publish();

	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_string_equal(expansion(), EXPAND);
	assert_int_equal(ran.report.grown_bytes, 1073741824);
	assert_string_equal(event_reason(&ran), "FileSystemResizeSuccessful");

	csi_world.diary[0] = '\0';
	csi_world_claim("1Gi");
	ran = csi_world_publish();
	assert_string_equal(expansion(), "");
	assert_int_equal(ran.report.grown_bytes, 0);
}

/* case 336 */
static void test_readers_do_not_grow_it(void **state)
{
	struct csi_ran ran;

	csi_world.spec.read_only = true;
	ran = csi_world_publish();
	assert_string_equal(expansion(), "");
	assert_int_equal(ran.report.grown_bytes, 0);
}

/* case 293: the driver cannot, and nothing claims that it did */
static void test_driver_that_cannot(void **state)
{
	struct csi_ran ran;

	csi_world.capabilities = CAN_STAGE;
	ran = csi_world_publish();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_string_equal(expansion(), "");
	assert_int_equal(ran.report.grown_bytes, 0);
}

/* case 291: in use; case 292: infeasible. The volume is published and stays so, and is not tried
 * again before the next set-up. */
static void test_not_now(void **state)
{
	static const enum grpc_code codes[] = { GRPC_FAILED_PRECONDITION, GRPC_INVALID_ARGUMENT,
						GRPC_OUT_OF_RANGE, GRPC_NOT_FOUND };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct csi_ran ran;

		csi_world.answers[CSI_NODE_EXPAND_VOLUME].code = codes[i];
		ran = csi_world_publish();
		assert_int_equal(ran.result, STAGE_LIST_DONE);
		assert_int_equal(ran.report.grown_bytes, 0);
		assert_true(ran.report.growth_error < 0);
		assert_int_equal(ran.report.is_growth_infeasible,
				 codes[i] != GRPC_FAILED_PRECONDITION);
		assert_false(ran.report.grows_later);
		assert_true(csi_world_has(TARGET "/mount"));
	}
}

/* case 475: whatever the driver says of a growth, the volume is published as large as it was; its
 * pod has it, and the growth is tried again. */
static void test_failure_keeps_it_published(void **state)
{
	static const enum grpc_code codes[] = { GRPC_INTERNAL, GRPC_DEADLINE_EXCEEDED };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct csi_ran ran;

		csi_world.answers[CSI_NODE_EXPAND_VOLUME].code = codes[i];
		ran = csi_world_publish();
		assert_int_equal(ran.result, STAGE_LIST_DONE);
		assert_int_equal(ran.report.grown_bytes, 0);
		assert_true(ran.report.growth_error < 0);
		assert_true(ran.report.grows_later);
		assert_false(ran.report.is_growth_infeasible);
		assert_null(ran.report.failed_at);
		assert_true(csi_world_has(TARGET "/mount"));
		assert_true(csi_world_has(TARGET "/vol_data.json"));
	}
}

/* case 475, difference: kubelet does not mount it then. */
static void test_missing_secret_keeps_it_published(void **state)
{
	struct csi_ran ran;

	csi_world_volume(", nodeExpandSecretRef: {namespace: sn, name: s}",
			 "  accessModes: [ReadWriteOnce]\n");
	ran = csi_world_publish();
	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_string_equal(expansion(), "");
	assert_string_equal(ran.report.not_grown.text, "secret 'sn/s' of volume 'pv1' not found");
	assert_true(ran.report.grows_later);
	csi_world.secret =
		object_of("apiVersion: v1\nkind: Secret\nmetadata: {namespace: sn, name: "
			  "s}\nstringData: {k: w}\n");
	csi_world.diary[0] = '\0';
	ran = csi_world_publish();
	assert_int_equal(ran.report.grown_bytes, 1073741824);
	assert_non_null(strstr(expansion(), " secrets=[{key=k value=w}]}"));
	assert_null(strstr(csi_world.diary, "secrets=[{key=k value=w}] volume_context"));
}

/* Without staging no staging path is passed. */
static void test_without_staging(void **state)
{
	csi_world.capabilities = CAN_EXPAND;
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_null(strstr(expansion(), "staging_target_path"));
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, csi_world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD(test_grows_once),
		WORLD(test_readers_do_not_grow_it),
		WORLD(test_driver_that_cannot),
		WORLD(test_not_now),
		WORLD(test_failure_keeps_it_published),
		WORLD(test_missing_secret_keeps_it_published),
		WORLD(test_without_staging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
