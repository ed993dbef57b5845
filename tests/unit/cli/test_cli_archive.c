/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli_archive - podvolctl backup and restore: which directory it is, and what is said
 *
 * As root only, which these verbs ask for.
 */
#include "cli_world.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define VOLUMES   "GET /api/v1/persistentvolumes/"
#define CLAIMS    "GET /api/v1/namespaces/default/persistentvolumeclaims/"
#define SNAPSHOTS "GET /apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots/"
#define CONTENTS  "GET /apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents/"
#define OTHERS    "GET /api/v1/namespaces/other/persistentvolumeclaims/"

static const struct answer list[] = {
	{ VOLUMES "local", 0, 200, "{\"spec\":{\"local\":{\"path\":\"/srv/a\"}}}" },
	{ VOLUMES "host", 0, 200, "{\"spec\":{\"hostPath\":{\"path\":\"/srv/b\"}}}" },
	{ VOLUMES "csi", 0, 200, "{\"spec\":{\"csi\":{\"driver\":\"d\"}}}" },
	{ CLAIMS "bound", 0, 200, "{\"spec\":{\"volumeName\":\"local\"}}" },
	{ CLAIMS "pending", 0, 200, "{\"spec\":{}}" },
	{ OTHERS "bound", 0, 200, "{\"spec\":{\"volumeName\":\"host\"}}" },
	{ SNAPSHOTS "monday", 0, 200,
	  "{\"status\":{\"readyToUse\":true,\"boundVolumeSnapshotContentName\":\"local\"}}" },
	{ SNAPSHOTS "csi", 0, 200,
	  "{\"status\":{\"readyToUse\":true,\"boundVolumeSnapshotContentName\":\"csi\"}}" },
	{ SNAPSHOTS "late", 0, 200,
	  "{\"status\":{\"readyToUse\":false,\"boundVolumeSnapshotContentName\":\"csi\"}}" },
	{ CONTENTS "local", 0, 200,
	  "{\"spec\":{\"driver\":\"podvol/local\"},\"status\":{\"snapshotHandle\":\"/srv/s\"}}" },
	{ CONTENTS "csi", 0, 200,
	  "{\"spec\":{\"driver\":\"d\"},\"status\":{\"snapshotHandle\":\"/srv/s\"}}" },
};

/* Neither standard stream may be a terminal. */
static int set_up(void **state)
{
	direct_result = 0;
	direct_call[0] = '\0';
	direct_summary = (struct archive_summary){ .entries = 3, .bytes = 5 << 20 };
	if (geteuid() != 0)
		skip();
	assert_non_null(freopen("/dev/null", "r", stdin));
	return 0;
}

static void test_which_directory(void **state)
{
	assert_int_equal(RUN(list, "restore local"), EXIT_DONE);
	assert_string_equal(direct_call, "restore /srv/a");
	assert_string_equal(err_text, "restored: 3 entries, 5.0 MiB\n");
	assert_int_equal(RUN(list, "restore pv/host"), EXIT_DONE);
	assert_string_equal(direct_call, "restore /srv/b");
	assert_int_equal(RUN(list, "restore pvc/bound"), EXIT_DONE);
	assert_string_equal(direct_call, "restore /srv/a");
	assert_int_equal(RUN(list, "restore persistentvolumeclaim/bound -n other"), EXIT_DONE);
	assert_string_equal(direct_call, "restore /srv/b");
	assert_int_equal(RUN_ALONE("restore --directory /etc"), EXIT_DONE);
	assert_string_equal(direct_call, "restore /etc");
	assert_string_equal(sent, "");
}

/* Of snapshots, and of parts that stand for the stream. Standard output is no terminal in tests. */
static void test_increments(void **state)
{
	assert_int_equal(RUN(list, "backup vs/monday"), EXIT_DONE);
	assert_string_equal(direct_call, "backup /srv/s snapshot");
	assert_int_equal(RUN(list, "backup pvc/bound --since monday"), EXIT_DONE);
	assert_string_equal(direct_call, "backup /srv/a since /srv/s");
	assert_int_equal(RUN(list, "backup pvc/bound --since volumesnapshot/monday"), EXIT_DONE);
	assert_string_equal(direct_call, "backup /srv/a since /srv/s");
	assert_int_equal(RUN_ALONE("backup --directory /etc --since /srv/t"), EXIT_DONE);
	assert_string_equal(direct_call, "backup /etc since /srv/t");
	direct_summary.removed = 2;
	assert_int_equal(RUN(list, "backup local full.tar"), EXIT_DONE);
	assert_string_equal(direct_call, "backup /srv/a parts");
	assert_string_equal(err_text, "backed up: 3 entries, 5.0 MiB; 2 removed, 0 unchanged\n");
	assert_int_equal(RUN(list, "restore local full.tar one.tar"), EXIT_DONE);
	assert_string_equal(direct_call, "restore /srv/a parts");
}

static void test_no_increments(void **state)
{
	assert_int_equal(RUN(list, "backup local --since monday full.tar"), EXIT_USAGE);
	assert_non_null(strstr(err_text, "--since cannot be combined with parts"));
	assert_int_equal(RUN_ALONE("backup --directory /etc --since monday"), EXIT_USAGE);
	assert_non_null(strstr(err_text, "--since takes the directory of a snapshot, not"));
	assert_int_equal(RUN(list, "backup local --since late"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: snapshot 'default/late' is not ready to use\n");
	assert_int_equal(RUN(list, "backup vs/csi"), EXIT_FAILED);
	assert_string_equal(err_text,
			    "podvolctl: snapshot 'csi' is one of driver 'd': only those of "
			    "podvol/local are directories of this node\n");
	assert_int_equal(RUN(list, "backup vs/nothing"), EXIT_NOT_FOUND);
	assert_string_equal(direct_call, "");
}

static void test_which_is_none(void **state)
{
	assert_int_equal(RUN(list, "restore csi"), EXIT_FAILED);
	assert_string_equal(err_text,
			    "podvolctl: volume 'csi' is not a directory of this node: only "
			    "local and hostPath volumes can be backed up and "
			    "restored\n");
	assert_int_equal(RUN(list, "restore pvc/pending"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: claim 'pending' has no volume yet\n");
	assert_int_equal(RUN(list, "restore nothing"), EXIT_NOT_FOUND);
	assert_int_equal(RUN_ALONE("restore"), EXIT_USAGE);
	assert_string_equal(direct_call, "");
}

static void test_what_may_be_told(void **state)
{
	assert_int_equal(RUN(list, "restore local --overwrite --in-use --devices --links-out"),
			 EXIT_DONE);
	assert_string_equal(direct_call, "restore /srv/a overwrite in-use devices links-out");
}

static void test_what_is_said(void **state)
{
	direct_summary.lost = 2;
	assert_int_equal(RUN(list, "restore local"), EXIT_FAILED);
	assert_string_equal(err_text, "restored: 3 entries, 5.0 MiB\npodvolctl: 2 extended "
				      "attributes are not kept by the file system at '/srv/a'\n");
	direct_result = -EINVAL;
	assert_int_equal(RUN(list, "restore local"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: it does not work\npodvolctl: the volume holds a "
				      "part only, 3 entries of the archive: restore it again\n");
	direct_summary.entries = 0;
	assert_int_equal(RUN(list, "restore local"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: it does not work\n");
}

/* Who is named by a directory alone is never asked for. */
static void test_one_that_a_pod_wants(void **state)
{
	const struct answer used[] = {
		list[0],
		{ "GET /podvol/v1/volumes/local", 0, 200,
		  "{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Pod\",\"priority\":0}],"
		  "\"rows\":[{\"cells\":[\"default/web\"]}]}" },
	};
	const struct answer silent[] = { list[0],
					 { "GET /podvol/v1/volumes/local", 0, 500, "no" } };

	assert_int_equal(RUN(used, "restore local"), EXIT_FAILED);
	assert_string_equal(err_text,
			    "podvolctl: pod 'default/web' uses it: delete the pod first\n");
	assert_int_equal(RUN(used, "restore local --in-use"), EXIT_DONE);
	assert_int_equal(RUN(used, "restore --directory /srv/a"), EXIT_DONE);
	assert_int_equal(RUN(silent, "restore local"), EXIT_FAILED);
	assert_non_null(strstr(err_text, "cannot determine who uses it"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_which_directory, set_up),
		cmocka_unit_test_setup(test_increments, set_up),
		cmocka_unit_test_setup(test_no_increments, set_up),
		cmocka_unit_test_setup(test_which_is_none, set_up),
		cmocka_unit_test_setup(test_what_may_be_told, set_up),
		cmocka_unit_test_setup(test_what_is_said, set_up),
		cmocka_unit_test_setup(test_one_that_a_pod_wants, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
