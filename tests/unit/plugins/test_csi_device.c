/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_device - NodeStageVolume and NodeUnstageVolume: every field, every class of failure, and
 * what lies on disk after each
 */
#include "tests/unit/csi/csi_world.h"
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define STAGE(fields)                                                                              \
	"NodeStageVolume{volume_id=vol-1" fields " staging_target_path=R/" STAGING                 \
	"/globalmount volume_capability="
#define RWO         "access_mode={mode=1}"
#define PLAIN_STAGE STAGE("") "{mount={} " RWO "}}"
#define UNSTAGE     "NodeUnstageVolume{volume_id=vol-1 staging_target_path=R/" STAGING "/globalmount}"

/* What the kernel says of the staging directory. */
static struct {
	bool is_mounted;
	int error;
} kernel;

int __real_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr);
int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr);
int __wrap_place_facts(const struct place *place, struct mount_facts *ret, struct failure *reterr)
{
	int r = __real_place_facts(place, ret, reterr);

	if (r < 0 || strcmp(place->name, "globalmount") != 0)
		return r;
	ret->is_mount_root = kernel.is_mounted;
	ret->mount_id = 4711;
	return kernel.error;
}

static int setup(void **state)
{
	kernel.is_mounted = false;
	kernel.error = 0;
	return csi_world_setup(state);
}

static struct csi_ran stage(void)
{
	csi_world.request.pod_uid = NULL;
	return csi_world_run(csi_world.plugin->new_device_mounter);
}

static struct csi_ran unstage(void)
{
	csi_world.request.pod_uid = NULL;
	csi_world.request.objects = NULL;
	return csi_world_run(csi_world.plugin->new_device_unmounter);
}

static void assert_staging_is(bool there)
{
	assert_int_equal(csi_world_has(STAGING), there);
	assert_int_equal(csi_world_has(STAGING "/globalmount"), there);
	assert_int_equal(csi_world_has(STAGING "/vol_data.json"), there);
}

/* case 247, case 253 */
static void test_stage_plainly(void **state)
{
	struct csi_ran ran = stage();

	assert_int_equal(ran.result, 0);
	assert_calls(PLAIN_STAGE);
	assert_staging_is(true);
	assert_string_equal(csi_world_read(STAGING "/vol_data.json"),
			    "{\"driverName\":\"d\",\"volumeHandle\":\"vol-1\"}\n");
	assert_int_equal(ran.report.mount_id, 0); /* the driver mounted nothing */
}

static void test_modes_of_what_is_made(void **state)
{
	struct stat st;
	char path[256];

	(void) umask(0);
	assert_int_equal(stage().result, 0);
	(void) snprintf(path, sizeof(path), "%s/" STAGING "/globalmount", csi_world.root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	(void) snprintf(path, sizeof(path), "%s/" STAGING "/vol_data.json", csi_world.root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

static void test_every_field(void **state)
{
	char expected[1024];

	csi_world.capabilities = CAN_STAGE | CAN_GROUP;
	csi_world_fs_group();
	csi_world_volume(", fsType: ext4, volumeAttributes: {b: bee, a: ay}, "
			 "nodeStageSecretRef: {namespace: sn, name: s}",
			 "  accessModes: [ReadWriteMany, ReadWriteOnce]\n"
			 "  mountOptions: [noatime, discard]\n");
	csi_world_driver("{attachRequired: true}");
	csi_world_attach("{attached: true, attachmentMetadata: {dev: /dev/x}}");
	csi_world.secret =
		object_of("apiVersion: v1\nkind: Secret\nmetadata: {namespace: sn, name: "
			  "s}\nstringData: {user: u, pass: 'p w'}\n");

	assert_int_equal(stage().result, 0);
	/* case 250: the first mode counts; case 254: mount flags; case 279: the group's number */
	(void) snprintf(
		expected, sizeof(expected),
		STAGE(" publish_context=[{key=dev value=/dev/x}]") "{mount={fs_type=ext4 "
								   "mount_flags=[noatime discard] "
								   "volume_mount_group=%lu} "
								   "access_mode={mode=5}} "
								   "secrets=[{key=user value=u} "
								   "{key=pass value=p w}] "
								   "volume_context=[{key=b "
								   "value=bee} {key=a value=ay}]}",
		(unsigned long) getgid());
	assert_calls(expected);
}

static void test_modes_as_the_driver_knows_them(void **state)
{
	static const struct {
		const char *modes;
		uint32_t capabilities;
		const char *mode;
	} rows[] = {
		{ "[ReadWriteOnce]", 0, "1" },
		{ "[ReadWriteOnce]", CAN_SINGLE_NODE, "7" }, /* case 252 */
		{ "[ReadWriteOncePod]", 0, "1" },
		{ "[ReadWriteOncePod]", CAN_SINGLE_NODE, "6" }, /* case 251 */
		{ "[ReadOnlyMany]", CAN_SINGLE_NODE, "3" },
		{ "[ReadWriteMany]", 0, "5" },
		{ "[ReadOnlyMany, ReadWriteOnce]", 0, "3" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];

		(void) snprintf(text, sizeof(text), "  accessModes: %s\n", rows[i].modes);
		csi_world_volume("", text);
		csi_world.capabilities = CAN_STAGE | rows[i].capabilities;
		csi_world.diary[0] = '\0';
		assert_int_equal(stage().result, 0);
		(void) snprintf(text, sizeof(text), "access_mode={mode=%s}", rows[i].mode);
		assert_non_null(strstr(csi_world.diary, text));
	}
}

/* case 255 */
static void test_no_attachment_is_read_where_none_is_required(void **state)
{
	csi_world_attach("{attached: true, attachmentMetadata: {dev: /dev/x}}");
	assert_int_equal(stage().result, 0);
	assert_calls(PLAIN_STAGE);
}

static void assert_nothing_was_begun(struct csi_ran ran)
{
	assert_true(ran.result < 0);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_int_equal(csi_world.calls, 0);
	assert_false(csi_world_has("plugins"));
}

/* case 256: without a CSIDriver object an attachment is required; case 257: transient, no directory
 */
static void test_attachment_missing(void **state)
{
	object_unref(csi_world.driver);
	csi_world.driver = NULL;
	assert_nothing_was_begun(stage());
}

/* case 258 */
static void test_attachment_not_ready(void **state)
{
	static const char *const states[] = {
		"{attached: false}",
		"{attached: false, attachError: {message: out of slots}}",
		"{attached: true, attachError: {message: out of slots}}",
	};

	csi_world_driver("{}");
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct csi_ran ran;

		csi_world_attach(states[i]);
		ran = stage();
		assert_nothing_was_begun(ran);
		assert_non_null(
			strstr(ran.report.failure.text, i ? "out of slots" : "not attached"));
	}
}

/* case 259 */
static void test_driver_that_does_not_stage(void **state)
{
	csi_world.capabilities = 0;
	assert_int_equal(stage().result, STAGE_LIST_DONE);
	assert_calls("");
	assert_staging_is(true);

	assert_int_equal(unstage().result, 0);
	assert_calls("");
	assert_staging_is(false);
}

/* case 260 */
static void test_secret_is_not_read_when_nothing_is_staged(void **state)
{
	csi_world.capabilities = 0;
	csi_world_volume(", nodeStageSecretRef: {namespace: sn, name: s}",
			 "  accessModes: [ReadWriteOnce]\n");
	assert_int_equal(stage().result, STAGE_LIST_DONE);
}

static void test_secret_missing(void **state)
{
	struct csi_ran ran;

	csi_world_volume(", nodeStageSecretRef: {namespace: sn, name: s}",
			 "  accessModes: [ReadWriteOnce]\n");
	ran = stage();
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_string_equal(ran.report.failure.text, "secret 'sn/s' of volume 'pv1' not found");
	assert_calls("");
	assert_false(csi_world_has("plugins"));
}

static void test_secret_that_is_no_text(void **state)
{
	struct csi_ran ran;

	csi_world_volume(", nodeStageSecretRef: {namespace: sn, name: s}",
			 "  accessModes: [ReadWriteOnce]\n");
	csi_world.secret =
		object_of("apiVersion: v1\nkind: Secret\nmetadata: {namespace: sn, name: "
			  "s}\ndata: {k: AGE=}\n");
	ran = stage();
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_non_null(strstr(ran.report.failure.text, "entry 'k' of secret 'sn/s' is not text"));
}

/* ---- failures ---- */

struct verdict {
	enum grpc_code code;
	enum error_class error_class;
};

/* case 261, case 262, case 264: the codes as kubelet sorts them */
static void test_classes_of_failures(void **state)
{
	static const struct verdict rows[] = {
		{ GRPC_CANCELLED, ERROR_UNCERTAIN },
		{ GRPC_UNKNOWN, ERROR_FINAL },
		{ GRPC_INVALID_ARGUMENT, ERROR_FINAL },
		{ GRPC_DEADLINE_EXCEEDED, ERROR_UNCERTAIN },
		{ GRPC_NOT_FOUND, ERROR_FINAL },
		{ GRPC_ALREADY_EXISTS, ERROR_FINAL },
		{ GRPC_PERMISSION_DENIED, ERROR_FINAL },
		{ GRPC_RESOURCE_EXHAUSTED, ERROR_UNCERTAIN },
		{ GRPC_FAILED_PRECONDITION, ERROR_FINAL },
		{ GRPC_ABORTED, ERROR_UNCERTAIN },
		{ GRPC_OUT_OF_RANGE, ERROR_FINAL },
		{ GRPC_UNIMPLEMENTED, ERROR_FINAL },
		{ GRPC_INTERNAL, ERROR_FINAL },
		{ GRPC_UNAVAILABLE, ERROR_UNCERTAIN },
		{ GRPC_DATA_LOSS, ERROR_FINAL },
		{ GRPC_UNAUTHENTICATED, ERROR_FINAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct csi_ran ran;

		csi_world.answers[CSI_NODE_STAGE_VOLUME].code = rows[i].code;
		ran = stage();
		assert_true(ran.result < 0 && ran.result != -ECANCELED && ran.result != -ENOTCONN);
		assert_int_equal(ran.report.error_class, rows[i].error_class);
		/* an uncertain failure leaves everything, a final one nothing */
		assert_staging_is(rows[i].error_class == ERROR_UNCERTAIN);
	}
}

static void test_text_of_a_failure(void **state)
{
	struct csi_ran ran;

	csi_world.answers[CSI_NODE_STAGE_VOLUME].code = GRPC_INVALID_ARGUMENT;
	ran = stage();
	assert_string_equal(ran.report.failure.text,
			    "NodeStageVolume by driver 'd' failed: rpc error: code = "
			    "InvalidArgument desc = told so");
	assert_int_equal(ran.result, -EINVAL);
}

/* case 263: after a timeout, a final failure says that it is not staged */
static void test_timeout_then_final(void **state)
{
	csi_world.answers[CSI_NODE_STAGE_VOLUME].code = GRPC_DEADLINE_EXCEEDED;
	assert_int_equal(stage().report.error_class, ERROR_UNCERTAIN);
	assert_staging_is(true);
	csi_world.answers[CSI_NODE_STAGE_VOLUME].code = GRPC_INTERNAL;
	assert_int_equal(stage().report.error_class, ERROR_FINAL);
	assert_staging_is(false);
}

/* A volume that may be staged from before a restart stays one: its file must not go. */
static void test_final_failure_keeps_what_a_restart_found(void **state)
{
	assert_int_equal(stage().result, 0);
	csi_world.request.keeps_traces = true;
	csi_world.answers[CSI_NODE_STAGE_VOLUME].code = GRPC_INTERNAL;
	assert_int_equal(stage().report.error_class, ERROR_FINAL);
	assert_staging_is(true);
}

/* case 264, difference: not a byte left us, so nothing happened by this call */
static void test_never_sent(void **state)
{
	csi_world.answers[CSI_NODE_STAGE_VOLUME].code = GRPC_UNAVAILABLE;
	csi_world.answers[CSI_NODE_STAGE_VOLUME].not_sent = true;
	assert_int_equal(stage().report.error_class, ERROR_TRANSIENT);
	assert_staging_is(true);
}

static void test_question_fails(void **state)
{
	csi_world.answers[CSI_NODE_GET_CAPABILITIES].code = GRPC_INTERNAL;
	assert_int_equal(stage().report.error_class, ERROR_TRANSIENT);
	assert_calls("");
	assert_false(csi_world_has("plugins"));
}

static void test_driver_is_gone(void **state)
{
	struct csi_ran ran;

	csi_world.is_gone = true;
	ran = stage();
	assert_int_equal(ran.result, -ENOTCONN);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_false(csi_world_has("plugins"));
}

static void test_one_limit_for_all_calls(void **state)
{
	assert_int_equal(stage().result, 0);
	assert_true(csi_world.timeouts[CSI_NODE_GET_CAPABILITIES] <= 120000000);
	assert_true(csi_world.timeouts[CSI_NODE_GET_CAPABILITIES] > 110000000);
	assert_true(csi_world.timeouts[CSI_NODE_STAGE_VOLUME] <=
		    csi_world.timeouts[CSI_NODE_GET_CAPABILITIES]);
}

static void test_freed_while_a_call_is_under_way(void **state)
{
	csi_world_run_and_leave(csi_world.plugin->new_device_mounter);
	assert_int_equal(csi_world.cancels, 1);
}

static void test_direct_mode_has_no_drivers(void **state)
{
	struct csi_ran ran;

	csi_world.host.csi_drivers = NULL;
	ran = stage();
	assert_int_equal(ran.result, -EOPNOTSUPP);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
}

/* ---- unstage ---- */

static void test_unstage(void **state)
{
	assert_int_equal(stage().result, 0);
	csi_world.diary[0] = '\0';
	assert_int_equal(unstage().result, 0);
	assert_calls(UNSTAGE);
	assert_staging_is(false);
	assert_true(csi_world_has("plugins/kubernetes.io/csi/d"));
}

/* case 284 */
static void test_unstage_what_was_never_there(void **state)
{
	assert_int_equal(unstage().result, STAGE_LIST_DONE);
	assert_int_equal(csi_world.calls, 0);
}

/* kubelet takes a lost file for a volume that is not staged */
static void test_unstage_without_its_file(void **state)
{
	char path[256];

	assert_int_equal(stage().result, 0);
	(void) snprintf(path, sizeof(path), "%s/" STAGING "/vol_data.json", csi_world.root);
	assert_int_equal(unlink(path), 0);
	csi_world.diary[0] = '\0';
	assert_int_equal(unstage().result, 0);
	assert_calls(UNSTAGE);
	assert_false(csi_world_has(STAGING));
}

static void test_unstage_with_a_file_that_nobody_understands(void **state)
{
	char path[256];
	FILE *file;
	struct csi_ran ran;

	assert_int_equal(stage().result, 0);
	(void) snprintf(path, sizeof(path), "%s/" STAGING "/vol_data.json", csi_world.root);
	file = fopen(path, "we");
	assert_int_equal(fclose(file), 0);
	ran = unstage();
	assert_true(ran.result < 0);
	assert_true(csi_world_has(STAGING "/globalmount"));
	assert_true(csi_world_has(STAGING "/vol_data.json"));
}

static void test_unstage_fails(void **state)
{
	assert_int_equal(stage().result, 0);
	csi_world.answers[CSI_NODE_UNSTAGE_VOLUME].code = GRPC_INTERNAL;
	assert_true(unstage().result < 0);
	assert_staging_is(true);
	csi_world.answers[CSI_NODE_UNSTAGE_VOLUME].code = GRPC_OK;
	assert_int_equal(unstage().result, 0);
	assert_staging_is(false);
}

static void test_unstage_without_its_driver(void **state)
{
	struct csi_ran ran;

	assert_int_equal(stage().result, 0);
	csi_world.is_gone = true;
	ran = unstage();
	assert_int_equal(ran.result, -ENOTCONN);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_staging_is(true);
}

/* A path that is not kubelet's is not cleared: the unique name says where to look. */
static void test_recorded_path_of_another_form(void **state)
{
	assert_int_equal(stage().result, 0);
	csi_world.diary[0] = '\0';
	csi_world.request.device_mount_path = "/etc/globalmount";
	assert_int_equal(unstage().result, 0);
	assert_calls(UNSTAGE);
}

/* case 285, difference: kubelet calls it unstaged */
static void test_still_mounted_is_not_unstaged(void **state)
{
	struct csi_ran ran;

	assert_int_equal(stage().result, 0);
	kernel.is_mounted = true;
	ran = unstage();
	assert_int_equal(ran.result, -EBUSY);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_non_null(
		strstr(ran.report.failure.text, "driver 'd' reports volume 'vol-1' as gone"));
	assert_staging_is(true);
}

/* A dead server's mount is a mount: it is not opened, and it is staged again as it is. */
static void test_mount_of_a_dead_server(void **state)
{
	assert_int_equal(stage().result, 0);
	kernel.error = -ENOTCONN;
	assert_int_equal(stage().result, 0);
	assert_int_equal(unstage().result, -EBUSY);
	assert_staging_is(true);
}

static void test_the_mount_is_known(void **state)
{
	kernel.is_mounted = true;
	assert_int_equal(stage().report.mount_id, 4711);
}

static void test_what_a_driver_left_stays(void **state)
{
	assert_int_equal(stage().result, 0);
	csi_world_make(STAGING "/globalmount/left");
	assert_int_equal(unstage().result, -ENOTEMPTY);
	assert_true(csi_world_has(STAGING "/globalmount/left"));
	assert_true(csi_world_has(STAGING "/vol_data.json"));
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, csi_world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD(test_stage_plainly),
		WORLD(test_modes_of_what_is_made),
		WORLD(test_every_field),
		WORLD(test_modes_as_the_driver_knows_them),
		WORLD(test_no_attachment_is_read_where_none_is_required),
		WORLD(test_attachment_missing),
		WORLD(test_attachment_not_ready),
		WORLD(test_driver_that_does_not_stage),
		WORLD(test_secret_is_not_read_when_nothing_is_staged),
		WORLD(test_secret_missing),
		WORLD(test_secret_that_is_no_text),
		WORLD(test_classes_of_failures),
		WORLD(test_text_of_a_failure),
		WORLD(test_timeout_then_final),
		WORLD(test_final_failure_keeps_what_a_restart_found),
		WORLD(test_never_sent),
		WORLD(test_question_fails),
		WORLD(test_driver_is_gone),
		WORLD(test_one_limit_for_all_calls),
		WORLD(test_freed_while_a_call_is_under_way),
		WORLD(test_direct_mode_has_no_drivers),
		WORLD(test_unstage),
		WORLD(test_unstage_what_was_never_there),
		WORLD(test_unstage_without_its_file),
		WORLD(test_unstage_with_a_file_that_nobody_understands),
		WORLD(test_unstage_fails),
		WORLD(test_unstage_without_its_driver),
		WORLD(test_recorded_path_of_another_form),
		WORLD(test_still_mounted_is_not_unstaged),
		WORLD(test_mount_of_a_dead_server),
		WORLD(test_the_mount_is_known),
		WORLD(test_what_a_driver_left_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
