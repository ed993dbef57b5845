/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_selinux - volumes that are mounted with a label: the option's text, what is written
 * down, and when there is no label
 *
 * SELinux is said to be enabled: nothing here needs it.
 */
#include "tests/unit/csi/csi_world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LABEL    "system_u:object_r:container_file_t:s0:c10,c0"
#define OPTION   "context=\"" LABEL "\""
#define ONE_POD  "  accessModes: [ReadWriteOncePod]\n"
#define SECURITY "{seLinuxOptions: {level: 's0:c10,c0'}}"
#define LABELS   "{attachRequired: false, seLinuxMount: true}"

static int setup(void **state)
{
	if (csi_world_setup(state) < 0)
		return -1;
	csi_world.host.has_selinux = true;
	csi_world.capabilities = CAN_STAGE;
	csi_world_volume("", ONE_POD);
	csi_world_security(SECURITY);
	csi_world_driver(LABELS);
	return 0;
}

static struct csi_ran stage(void)
{
	return csi_world_run(csi_world.plugin->new_device_mounter);
}

static void test_the_label_is_an_option_and_is_kept(void **state)
{
	assert_int_equal(stage().result, 0);
	assert_non_null(strstr(csi_world.diary, "mount_flags=[" OPTION "]"));
	assert_non_null(strstr(csi_world_read(STAGING "/vol_data.json"),
			       "\"seLinuxMountContext\":\"" LABEL "\""));
	csi_world.diary[0] = '\0';
	assert_true(csi_world_publish().result >= 0);
	assert_non_null(strstr(csi_world.diary, "mount_flags=[" OPTION "]"));
	assert_non_null(strstr(csi_world_read(TARGET "/vol_data.json"),
			       "\"seLinuxMountContext\":\"" LABEL "\""));
}

static void test_it_comes_behind_the_volumes_own_options(void **state)
{
	csi_world_volume("", ONE_POD "  mountOptions: [noatime, discard]\n");
	csi_world_security("{seLinuxOptions: {level: s0, user: staff_u, type: spc_t, role: r}}");
	assert_int_equal(stage().result, 0);
	assert_non_null(strstr(csi_world.diary,
			       "mount_flags=[noatime discard "
			       "context=\"staff_u:object_r:container_file_t:s0\"]"));
}

static void assert_no_label(void)
{
	csi_world.diary[0] = '\0';
	assert_int_equal(stage().result, 0);
	assert_non_null(strstr(csi_world.diary, "NodeStageVolume"));
	assert_null(strstr(csi_world.diary, "context="));
	assert_null(strstr(csi_world_read(STAGING "/vol_data.json"), "seLinux"));
}

static void test_when_there_is_none(void **state)
{
	csi_world.host.has_selinux = false;
	assert_no_label();
	csi_world.host.has_selinux = true;

	csi_world_driver("{attachRequired: false}");
	assert_no_label();
	csi_world_driver(LABELS);

	csi_world_volume("", "  accessModes: [ReadWriteOnce]\n"); /* others may want another one */
	assert_no_label();
	csi_world_volume("", ONE_POD);

	csi_world_security("{seLinuxOptions: {user: u}}"); /* the engine draws the level */
	assert_no_label();
	csi_world_security("{}");
	assert_no_label();
}

/* One mount has one label: not a pod's that wants another one, or none. */
static void test_staged_with_another_label(void **state)
{
	struct csi_ran ran;

	assert_int_equal(stage().result, 0);
	csi_world_security("{seLinuxOptions: {level: s0}}");
	csi_world.diary[0] = '\0';
	ran = csi_world_publish();
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_null(strstr(csi_world.diary, "NodePublishVolume"));
	assert_false(csi_world_has(TARGET));
	assert_string_equal(
		ran.report.failure.text,
		"volume 'pv1' is staged with the SELinux label '" LABEL
		"', not 'system_u:object_r:container_file_t:s0': it is unstaged once no "
		"pod wants it");
	csi_world_security("{}");
	assert_int_equal(csi_world_publish().result, -EBUSY);
	csi_world_security(SECURITY);
	assert_true(csi_world_publish().result >= 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, csi_world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_label_is_an_option_and_is_kept),
		TEST(test_it_comes_behind_the_volumes_own_options),
		TEST(test_when_there_is_none),
		TEST(test_staged_with_another_label),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
