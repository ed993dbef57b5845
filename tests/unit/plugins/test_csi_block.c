/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_block - raw devices of CSI drivers: every message, and what lies on disk; what
 * containers get is block_map's, and only asked for here
 */
#include "tests/unit/csi/csi_world.h"

#include "plugins/block_map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BASE      "plugins/kubernetes.io/csi/volumeDevices/"
#define DATA      BASE "pv1/data/vol_data.json"
#define STAGED    "staging_target_path=R/" BASE "staging/pv1"
#define BLOCK     " volume_capability={block={} access_mode={mode=1}}"
#define STAGE     "NodeStageVolume{volume_id=vol-1 " STAGED BLOCK "}"
#define PUBLISHED " target_path=R/" BASE "publish/pv1/u1"
#define PUBLISH   "NodePublishVolume{volume_id=vol-1 " STAGED PUBLISHED BLOCK "}"
#define UNPUBLISH "NodeUnpublishVolume{volume_id=vol-1" PUBLISHED "}"
#define UNSTAGE   "NodeUnstageVolume{volume_id=vol-1 " STAGED "}"
#define RAW       "  accessModes: [ReadWriteOnce]\n  volumeMode: Block\n  mountOptions: [noatime]\n"

static struct {
	char map[256], unmap[256];
	int map_error;
	bool is_device; /* what the driver put there */
} fake;

int __wrap_block_map_device(const struct block_map *map, const char *device_path,
			    struct failure *reterr);
int __wrap_block_map_device(const struct block_map *map, const char *device_path,
			    struct failure *reterr)
{
	(void) snprintf(fake.map, sizeof(fake.map), "%s %s %s %s %s", map->global_map_path,
			map->pod_map_path, map->volume_name, map->pod_uid,
			device_path + strlen(csi_world.root));
	return fake.map_error < 0 ? failed(reterr, fake.map_error, "cannot map") : 0;
}

int __wrap_block_unmap_device(const struct block_map *map, struct failure *reterr);
int __wrap_block_unmap_device(const struct block_map *map, struct failure *reterr)
{
	(void) snprintf(fake.unmap, sizeof(fake.unmap), "%s %s", map->global_map_path,
			map->pod_uid);
	return 0;
}

int __real_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr);
int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr);
int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr)
{
	int r = __real_place_facts(place, ret, reterr);

	if (r == 0 && fake.is_device && strcmp(place->name, "u1") == 0)
		ret->mode = S_IFBLK | 0600;
	return r;
}

static int setup(void **state)
{
	memset(&fake, 0, sizeof(fake));
	fake.is_device = true;
	if (csi_world_setup(state) < 0)
		return -1;
	csi_world_volume("", RAW);
	csi_world.target = TARGET_FILE;
	return 0;
}

static struct csi_ran device(stage_list_fn *slot)
{
	struct csi_ran ran;

	csi_world.request.pod_uid = NULL;
	ran = csi_world_run(slot);
	csi_world.request.pod_uid = "u1";
	return ran;
}

static struct csi_ran stage(void)
{
	return device(csi_world.plugin->new_device_mapper);
}

static struct csi_ran unstage(void)
{
	return device(csi_world.plugin->new_device_unmapper);
}

static struct csi_ran publish(void)
{
	return csi_world_run(csi_world.plugin->new_block_mapper);
}

static struct csi_ran unpublish(void)
{
	return csi_world_run(csi_world.plugin->new_block_unmapper);
}

static void test_stage(void **state)
{
	assert_int_equal(stage().result, 0);
	assert_calls(STAGE); /* no mount flags */
	assert_true(csi_world_has(BASE "staging/pv1"));
	assert_string_equal(csi_world_read(DATA),
			    "{\"attachmentID\":\"csi-dd56c8ae9f1f8dd1a80cfb1f18c6c38b35f6a9cac3bebd"
			    "1325ddc6868faaf9cf\",\"driverName\":\"d\",\"nodeName\":\"n\","
			    "\"specVolID\":\"pv1\",\"volumeHandle\":\"vol-1\"}\n");
}

static void test_stage_fails(void **state)
{
	csi_world.answers[CSI_NODE_STAGE_VOLUME].code = GRPC_UNAVAILABLE;
	assert_int_equal(stage().report.error_class, ERROR_UNCERTAIN);
	assert_true(csi_world_has(DATA) && csi_world_has(BASE "staging/pv1"));
	csi_world.answers[CSI_NODE_STAGE_VOLUME].code = GRPC_INTERNAL;
	assert_int_equal(stage().report.error_class, ERROR_FINAL);
	assert_false(csi_world_has(BASE "pv1") || csi_world_has(BASE "staging/pv1"));
}

/* case 287 */
static void test_publish(void **state)
{
	char path[256];
	struct csi_ran ran;

	assert_int_equal(stage().result, 0);
	csi_world.diary[0] = '\0';
	csi_world_driver("{attachRequired: false, podInfoOnMount: false}");
	ran = publish();
	assert_int_equal(ran.result, 0);
	assert_calls(PUBLISH);
	assert_string_equal(fake.map, BASE "pv1/dev pods/u1/volumeDevices/kubernetes.io~csi pv1 u1 "
					   "/" BASE "publish/pv1/u1");
	(void) snprintf(path, sizeof(path), "%s/" BASE "publish/pv1/u1", csi_world.root);
	assert_string_equal(ran.report.device_path, path);
}

/* case 287: the staging path is passed even to a driver that does not stage */
static void test_publish_without_staging(void **state)
{
	csi_world.capabilities = 0;
	assert_int_equal(stage().result, STAGE_LIST_DONE);
	assert_false(csi_world_has(BASE "staging"));
	assert_int_equal(publish().result, 0);
	assert_calls(PUBLISH);
}

static void test_publish_fails(void **state)
{
	assert_int_equal(stage().result, 0);
	csi_world.answers[CSI_NODE_PUBLISH_VOLUME].code = GRPC_INTERNAL;
	assert_int_equal(publish().report.error_class, ERROR_FINAL);
	assert_string_equal(fake.map, "");
	assert_true(csi_world_has(DATA)); /* the device is staged still */
}

/* Whatever fails after the driver published leaves it to be taken back. */
static void test_mapping_fails(void **state)
{
	struct csi_ran ran;

	assert_int_equal(stage().result, 0);
	fake.map_error = -EBUSY;
	assert_int_equal(publish().report.error_class, ERROR_UNCERTAIN);
	fake.is_device = false;
	ran = publish();
	assert_int_equal(ran.result, -ENOTBLK);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
}

static void test_unpublish_and_unstage(void **state)
{
	assert_int_equal(stage().result, 0);
	assert_int_equal(publish().result, 0);
	csi_world.diary[0] = '\0';
	assert_int_equal(unpublish().result, 0);
	assert_string_equal(fake.unmap, BASE "pv1/dev u1");
	assert_true(csi_world_has(DATA)); /* other pods may have it */
	assert_int_equal(unstage().result, 0);
	assert_calls(UNPUBLISH "\n" UNSTAGE);
	assert_false(csi_world_has(BASE "pv1") || csi_world_has(BASE "staging/pv1") ||
		     csi_world_has(BASE "publish/pv1"));
}

/* case 288 */
static void test_unpublish_without_its_file(void **state)
{
	assert_int_equal(stage().result, 0);
	assert_int_equal(unpublish().result, 0);
	assert_calls(STAGE "\n" UNPUBLISH);
}

static void test_unstage_waits_for_pods(void **state)
{
	assert_int_equal(stage().result, 0);
	csi_world_make(BASE "pv1/dev/u2");
	csi_world.diary[0] = '\0';
	assert_int_equal(unstage().result, -EBUSY);
	assert_calls("");
	assert_true(csi_world_has(DATA));
}

static void test_nothing_is_there(void **state)
{
	assert_int_equal(unstage().result, STAGE_LIST_DONE);
	assert_int_equal(unpublish().result, STAGE_LIST_DONE);
	assert_int_equal(csi_world.calls, 0);
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, csi_world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD(test_stage),
		WORLD(test_stage_fails),
		WORLD(test_publish),
		WORLD(test_publish_without_staging),
		WORLD(test_publish_fails),
		WORLD(test_mapping_fails),
		WORLD(test_unpublish_and_unstage),
		WORLD(test_unpublish_without_its_file),
		WORLD(test_unstage_waits_for_pods),
		WORLD(test_nothing_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
