/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_mounter - NodePublishVolume and NodeUnpublishVolume: every field, every class of
 * failure, who owns the volume, and what lies on disk after each
 */
#include "tests/unit/csi/csi_world.h"
#include "tests/unit/object/object_text.h"

#include "base/clock.h"
#include "token/token_source.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define AT_STAGING "staging_target_path=R/" STAGING "/globalmount "
#define PUBLISH(context, staging)                                                                  \
	"NodePublishVolume{volume_id=vol-1 " context staging "target_path=R/" TARGET               \
	"/mount volume_capability="
#define PLAIN  "{mount={} access_mode={mode=1}}"
#define ONCE   "  accessModes: [ReadWriteOnce]\n"
#define INLINE "pods/u1/volumes/kubernetes.io~csi/v"

/* Ownership is real elsewhere: here it is only asked for. */
static unsigned int owned;
static int ownership_error;

int __wrap_ownership_begin(int root_fd, const struct ownership *ownership,
			   const atomic_bool *cancel, struct ownership_job **ret,
			   struct failure *reterr);
int __wrap_ownership_begin(int root_fd, const struct ownership *ownership,
			   const atomic_bool *cancel, struct ownership_job **ret,
			   struct failure *reterr)
{
	assert_true(root_fd >= 0 && ret);
	assert_int_equal(ownership->gid, getgid());
	owned++;
	*ret = NULL;
	return ownership_error < 0 ? failed(reterr, ownership_error, "cannot walk") : 1;
}

static int setup(void **state)
{
	owned = 0;
	ownership_error = 0;
	return csi_world_setup(state);
}

/* case 271 */
static void test_publish_plainly(void **state)
{
	struct csi_ran ran = csi_world_publish();

	assert_int_equal(ran.result, STAGE_LIST_DONE);
	assert_calls(PUBLISH("", AT_STAGING) PLAIN "}");
	csi_world_assert_volume(TARGET, true, true);
	assert_string_equal(csi_world_read(TARGET "/vol_data.json"),
			    "{\"attachmentID\":\"csi-dd56c8ae9f1f8dd1a80cfb1f18c6c38b35f6a9cac3bebd"
			    "1325ddc6868faaf9cf\",\"driverName\":\"d\",\"nodeName\":\"n\","
			    "\"specVolID\":\"pv1\",\"volumeHandle\":\"vol-1\","
			    "\"volumeLifecycleMode\":\"Persistent\"}\n");
	assert_int_equal(ran.report.renew_usec, 0);
}

static void test_every_field(void **state)
{
	char expected[1024];

	csi_world.capabilities = CAN_STAGE | CAN_GROUP;
	csi_world_fs_group();
	csi_world_volume(", fsType: xfs, volumeAttributes: {a: ay}, "
			 "nodePublishSecretRef: {namespace: sn, name: s}",
			 ONCE "  mountOptions: [noatime]\n");
	csi_world.spec.read_only = true;
	csi_world_driver("{attachRequired: true}");
	csi_world_attach("{attached: true, attachmentMetadata: {dev: /dev/x}}");
	csi_world.secret =
		object_of("apiVersion: v1\nkind: Secret\nmetadata: {namespace: sn, name: "
			  "s}\nstringData: {user: me}\n");
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	(void) snprintf(expected, sizeof(expected),
			PUBLISH("publish_context=[{key=dev value=/dev/x}] ",
				AT_STAGING) "{mount={fs_type=xfs mount_flags=[noatime] "
					    "volume_mount_group=%lu} "
					    "access_mode={mode=1}} readonly=1 secrets=[{key=user "
					    "value=me}] "
					    "volume_context=[{key=a value=ay}]}",
			(unsigned long) getgid());
	assert_calls(expected);
}

/* case 259: without STAGE_UNSTAGE_VOLUME no staging path is passed */
static void test_no_staging_path_without_staging(void **state)
{
	csi_world.capabilities = 0;
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_calls(PUBLISH("", "") PLAIN "}");
}

/* case 268 */
static void test_target_is_the_drivers_to_make(void **state)
{
	struct stat st;
	char path[256];
	struct csi_ran ran;

	csi_world.target = TARGET_NOTHING;
	ran = csi_world_publish();
	assert_int_equal(ran.result, -ENOENT); /* it said that there is one */
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	csi_world_assert_volume(TARGET, true, false);
	(void) snprintf(path, sizeof(path), "%s/" TARGET, csi_world.root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
}

static void test_target_that_is_a_link(void **state)
{
	struct csi_ran ran;

	csi_world_fs_group();
	csi_world_driver("{attachRequired: false, fsGroupPolicy: File}");
	csi_world.target = TARGET_LINK;
	ran = csi_world_publish();
	assert_int_equal(ran.result, -ELOOP);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	assert_int_equal(owned, 0);
	csi_world.keeps_target = true;
	assert_int_equal(csi_world_unpublish().result,
			 -ENOTEMPTY); /* the driver's link: it stays */
	csi_world_assert_volume(TARGET, true, true);
}

/* ---- pod info and tokens ---- */

/* case 270 */
static void test_pod_info(void **state)
{
	csi_world_driver("{attachRequired: false, podInfoOnMount: true}");
	csi_world_volume(", volumeAttributes: {csi.storage.k8s.io/pod.name: forged, a: ay}", ONCE);
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_calls(PUBLISH("", AT_STAGING) PLAIN
		     " volume_context=[{key=csi.storage.k8s.io/pod.name value=p} {key=a value=ay} "
		     "{key=csi.storage.k8s.io/pod.namespace value=ns} "
		     "{key=csi.storage.k8s.io/pod.uid value=u1} "
		     "{key=csi.storage.k8s.io/serviceAccount.name value=acc} "
		     "{key=csi.storage.k8s.io/ephemeral value=false}]}");
}

static int issue(void *userdata, const struct token_order *want, struct issued_token *ret,
		 struct failure *reterr)
{
	assert_ptr_equal(userdata, &csi_world);
	assert_string_equal(want->pod->meta.uid, "u1");
	assert_string_equal(want->service_account->meta.name, "acc");
	assert_int_equal(want->seconds, *want->audience ? 600 : 3600);
	*ret = (struct issued_token){ .text = strdup(*want->audience ? "for-gcp" : "for-all"),
				      .expires_usec = 3600000000 };
	return 0;
}

/* case 272, case 273 */
static void test_tokens(void **state)
{
	static const struct token_source source = { issue, &csi_world };

	csi_world.host.tokens = &source;
	csi_world_driver("{attachRequired: false, tokenRequests: [{audience: ''}, "
			 "{audience: gcp, expirationSeconds: 600}]}");
	csi_world.account = object_of("apiVersion: v1\nkind: ServiceAccount\n"
				      "metadata: {namespace: ns, name: acc}\n");
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_calls(PUBLISH("", AT_STAGING) PLAIN
		     " volume_context=[{key=csi.storage.k8s.io/serviceAccount.tokens value="
		     "{\"\":{\"token\":\"for-all\",\"expirationTimestamp\":"
		     "\"1970-01-01T01:00:00Z\"},\"gcp\":{\"token\":\"for-gcp\","
		     "\"expirationTimestamp\":\"1970-01-01T01:00:00Z\"}}}]}");
}

/* What CVE-2023-2878 and CVE-2024-3744 were about: drivers log the context. */
static void test_tokens_as_a_secret(void **state)
{
	static const struct token_source source = { issue, &csi_world };

	csi_world.host.tokens = &source;
	csi_world_driver("{attachRequired: false, serviceAccountTokenInSecrets: true, "
			 "tokenRequests: [{audience: ''}]}");
	csi_world.account = object_of("apiVersion: v1\nkind: ServiceAccount\n"
				      "metadata: {namespace: ns, name: acc}\n");
	csi_world.secret = object_of("apiVersion: v1\nkind: Secret\nmetadata: {namespace: sn, "
				     "name: s}\nstringData: {k: w}\n");
	csi_world_volume(", nodePublishSecretRef: {namespace: sn, name: s}", ONCE);
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_non_null(strstr(csi_world.diary, "{key=k value=w}"));
	assert_non_null(strstr(csi_world.diary,
			       " secrets=[{key=csi.storage.k8s.io/serviceAccount.tokens value="
			       "{\"\":{\"token\":\"for-all\","));
	assert_null(strstr(csi_world.diary, "volume_context"));
}

static void test_tokens_that_nobody_can_issue(void **state)
{
	static const struct token_source source = { issue, &csi_world };
	struct csi_ran ran;

	csi_world_driver("{attachRequired: false, tokenRequests: [{audience: ''}]}");
	ran = csi_world_publish();
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	csi_world.host.tokens = &source;
	ran = csi_world_publish();
	assert_string_equal(ran.report.failure.text, "serviceaccount 'ns/acc' not found");
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_calls("");
	assert_false(csi_world_has("pods"));
}

/* ---- volumes that are written out in a pod ---- */

/* case 249 */
static void test_inline_volume(void **state)
{
	csi_world_driver("{attachRequired: true, volumeLifecycleModes: [Ephemeral], "
			 "podInfoOnMount: true}");
	csi_world_inline(", fsType: ext4, readOnly: true, volumeAttributes: {a: ay}, "
			 "nodePublishSecretRef: {name: s}");
	csi_world.secret =
		object_of("apiVersion: v1\nkind: Secret\nmetadata: {namespace: ns, name: "
			  "s}\nstringData: {k: w}\n");
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_calls(
		"NodePublishVolume{volume_id=csi-3df5ffc60026e8207ea59c1564beebc5d9845fde03ed04"
		"1b10fa368ddd17875f target_path=R/" INLINE
		"/mount volume_capability={mount={fs_type=ext4} access_mode={mode=1}} "
		"readonly=1 secrets=[{key=k value=w}] volume_context=[{key=a value=ay} "
		"{key=csi.storage.k8s.io/pod.name value=p} "
		"{key=csi.storage.k8s.io/pod.namespace value=ns} "
		"{key=csi.storage.k8s.io/pod.uid value=u1} "
		"{key=csi.storage.k8s.io/serviceAccount.name value=acc} "
		"{key=csi.storage.k8s.io/ephemeral value=true}]}");
	assert_non_null(strstr(csi_world_read(INLINE "/vol_data.json"),
			       "\"volumeLifecycleMode\":\"Ephemeral\""));
}

/* case 256: without a CSIDriver object only Persistent is allowed */
static void test_modes_that_are_not_allowed(void **state)
{
	struct csi_ran ran;

	csi_world_driver("{attachRequired: false, volumeLifecycleModes: [Ephemeral]}");
	ran = csi_world_publish();
	assert_string_equal(ran.report.failure.text,
			    "volume mode \"Persistent\" not supported by driver d");
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);

	csi_world_inline("");
	csi_world_driver("{volumeLifecycleModes: [Persistent]}");
	assert_int_equal(csi_world_publish().report.error_class, ERROR_TRANSIENT);
	object_unref(csi_world.driver);
	csi_world.driver = NULL;
	ran = csi_world_publish();
	assert_non_null(strstr(ran.report.failure.text, "\"Ephemeral\" not supported"));
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_int_equal(csi_world.calls, 0);
}

/* ---- fsGroup ---- */

#define MODE(mode) "  accessModes: [" mode "]\n"
#define POLICY(p)  "{attachRequired: false, fsGroupPolicy: " p "}"

static const struct {
	const char *number; /* of the case */
	const char *csi, *spec, *driver;
	uint32_t capabilities;
	bool read_only, is_owned;
} group_rows[] = {
	{ "case 269", ", fsType: ext4", ONCE, POLICY("File"), 0, true, false },
	{ "case 274", "", ONCE, POLICY("ReadWriteOnceWithFSType"), 0, false, false },
	{ "case 275", ", fsType: ext4", ONCE, POLICY("ReadWriteOnceWithFSType"), 0, false, true },
	{ "and with ReadWriteOncePod", ", fsType: ext4", MODE("ReadWriteOncePod"),
	  POLICY("ReadWriteOnceWithFSType"), 0, false, true },
	{ "case 276", ", fsType: ext4", MODE("ReadWriteMany"), POLICY("ReadWriteOnceWithFSType"), 0,
	  false, false },
	{ "case 277", ", fsType: ext4", ONCE, POLICY("None"), 0, false, false },
	{ "case 278", "", MODE("ReadWriteMany"), POLICY("File"), 0, false, true },
	{ "case 279", ", fsType: ext4", ONCE, POLICY("File"), CAN_GROUP, false, false },
};

static void test_who_owns_the_volume(void **state)
{
	csi_world_fs_group();
	for (size_t i = 0; i < sizeof(group_rows) / sizeof(group_rows[0]); i++) {
		owned = 0;
		csi_world.diary[0] = '\0';
		csi_world.capabilities = CAN_STAGE | group_rows[i].capabilities;
		csi_world_volume(group_rows[i].csi, group_rows[i].spec);
		csi_world_driver(group_rows[i].driver);
		csi_world.spec.read_only = group_rows[i].read_only;
		assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
		assert_int_equal(owned, group_rows[i].is_owned);
		assert_int_equal(!!strstr(csi_world.diary, "volume_mount_group="),
				 !!(group_rows[i].capabilities & CAN_GROUP));
		assert_int_equal(!!strstr(csi_world.diary, "readonly=1"), group_rows[i].read_only);
	}
}

static void test_nobody_guesses_a_policy(void **state)
{
	struct csi_ran ran;

	csi_world_driver(POLICY("''"));
	ran = csi_world_publish();
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_string_equal(ran.report.failure.text, "CSIDriver 'd' has no fsGroupPolicy");
}

static void test_no_group_no_walk(void **state)
{
	csi_world_driver(POLICY("File"));
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	assert_int_equal(owned, 0);
}

/* case 280 */
static void test_ownership_fails(void **state)
{
	struct csi_ran ran;

	csi_world_fs_group();
	csi_world_driver(POLICY("File"));
	ownership_error = -EIO;
	ran = csi_world_publish();
	assert_int_equal(ran.result, -EIO);
	assert_int_equal(ran.report.error_class, ERROR_UNCERTAIN);
	csi_world_assert_volume(TARGET, true, true);
}

/* ---- failures ---- */

/* case 265, first half */
static void test_uncertain_failure_leaves_all(void **state)
{
	csi_world.answers[CSI_NODE_PUBLISH_VOLUME].code = GRPC_UNAVAILABLE;
	assert_int_equal(csi_world_publish().report.error_class, ERROR_UNCERTAIN);
	csi_world_assert_volume(TARGET, true, false);
	/* and the pod goes */
	assert_int_equal(csi_world_unpublish().result, 0);
	assert_false(csi_world_has("pods/u1"));
}

/* case 266 */
static void test_final_failure_leaves_nothing(void **state)
{
	csi_world_make(TARGET "/mount"); /* the driver had made it before it failed */
	csi_world.answers[CSI_NODE_PUBLISH_VOLUME].code = GRPC_INTERNAL;
	assert_int_equal(csi_world_publish().report.error_class, ERROR_FINAL);
	assert_false(csi_world_has("pods/u1"));
}

static void test_final_failure_keeps_what_is_in_the_target(void **state)
{
	csi_world_make(TARGET "/mount/data");
	csi_world.answers[CSI_NODE_PUBLISH_VOLUME].code = GRPC_INTERNAL;
	assert_int_equal(csi_world_publish().report.error_class, ERROR_FINAL);
	assert_true(csi_world_has(TARGET "/mount/data"));
	assert_true(csi_world_has(TARGET "/vol_data.json"));
}

/* case 267: the table keeps the state, and the disk what a teardown needs */
static void test_republish_fails(void **state)
{
	static const enum grpc_code codes[] = { GRPC_INTERNAL, GRPC_DEADLINE_EXCEEDED };

	csi_world_driver("{attachRequired: false, requiresRepublish: true}");
	assert_int_equal(csi_world_publish().result, STAGE_LIST_DONE);
	csi_world.request.keeps_traces = true;
	for (size_t i = 0; i < 2; i++) {
		struct csi_ran ran;

		csi_world.answers[CSI_NODE_PUBLISH_VOLUME].code = codes[i];
		ran = csi_world_publish();
		assert_true(ran.result < 0);
		csi_world_assert_volume(TARGET, true, true);
	}
}

static void test_republish_is_due(void **state)
{
	uint64_t now_usec = realtime_usec();
	struct csi_ran ran;

	csi_world_driver("{attachRequired: false, requiresRepublish: true}");
	ran = csi_world_publish();
	assert_true(ran.report.renew_usec > now_usec + 60 * USEC_PER_SEC);
	assert_true(ran.report.renew_usec < now_usec + 300 * USEC_PER_SEC);
}

static void test_remount_is_what_the_driver_says(void **state)
{
	const struct volume_plugin *csi = csi_world.plugin;
	const struct object_finder *objects = csi_world.request.objects;

	assert_false(csi->requires_remount(&csi_world.spec, objects));
	assert_false(csi->requires_remount(&csi_world.spec, NULL));
	csi_world_driver("{requiresRepublish: true}");
	assert_true(csi->requires_remount(&csi_world.spec, objects));
}

/* case 281 */
static void test_driver_is_gone(void **state)
{
	struct csi_ran ran;

	csi_world.is_gone = true;
	ran = csi_world_publish();
	assert_int_equal(ran.result, -ENOTCONN);
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_false(csi_world_has("pods"));
}

static void test_publish_secret_missing(void **state)
{
	struct csi_ran ran;

	csi_world_volume(", nodePublishSecretRef: {namespace: sn, name: s}", ONCE);
	ran = csi_world_publish();
	assert_int_equal(ran.report.error_class, ERROR_TRANSIENT);
	assert_string_equal(ran.report.failure.text, "secret 'sn/s' of volume 'pv1' not found");
	assert_int_equal(csi_world.calls, 0);
}

int main(void)
{
#define WORLD(test) cmocka_unit_test_setup_teardown(test, setup, csi_world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD(test_publish_plainly),
		WORLD(test_every_field),
		WORLD(test_no_staging_path_without_staging),
		WORLD(test_target_is_the_drivers_to_make),
		WORLD(test_target_that_is_a_link),
		WORLD(test_pod_info),
		WORLD(test_tokens),
		WORLD(test_tokens_as_a_secret),
		WORLD(test_tokens_that_nobody_can_issue),
		WORLD(test_inline_volume),
		WORLD(test_modes_that_are_not_allowed),
		WORLD(test_who_owns_the_volume),
		WORLD(test_nobody_guesses_a_policy),
		WORLD(test_no_group_no_walk),
		WORLD(test_ownership_fails),
		WORLD(test_uncertain_failure_leaves_all),
		WORLD(test_final_failure_leaves_nothing),
		WORLD(test_final_failure_keeps_what_is_in_the_target),
		WORLD(test_republish_fails),
		WORLD(test_republish_is_due),
		WORLD(test_remount_is_what_the_driver_says),
		WORLD(test_driver_is_gone),
		WORLD(test_publish_secret_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
