/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli - podvolctl: usage, exit statuses, and the verbs that change or describe
 */
#include "cli_world.h"

#include "base/cleanup.h"
#include "cli/verb.h"
#include "client/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char volumes_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Pod\",\"priority\":0},{\"name\":"
	"\"Volume\",\"priority\":0},{\"name\":\"State\",\"priority\":0},{\"name\":\"Path\","
	"\"priority\":0},{\"name\":\"Unique Name\",\"priority\":1},{\"name\":\"Pod UID\","
	"\"priority\":2},{\"name\":\"Next Retry\",\"priority\":2},{\"name\":\"Spec "
	"Name\",\"priority\":2}],\"rows\":[{\"cells\":["
	"\"default/web\",\"data\",\"mounted\",\"/p/data\",\"local/"
	"disk\",\"u-1\",\"-\",\"disk-1\"]}]}";
static const char events_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Reason\"},{\"name\":\"Message\"}],"
	"\"rows\":[{\"cells\":[\"FailedMount\",\"no\"]}]}";
static const char manifests_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"File\"},{\"name\":\"Line\"},{"
	"\"name\":\"Kind\"},{\"name\":\"Namespace\"},{\"name\":\"Name\"},{\"name\":\"Problem\"}],"
	"\"rows\":[{\"cells\":[\"a.yaml\",\"1\",\"StorageClass\",\"-\",\"web\",\"bad\"]},"
	"{\"cells\":[\"b.yaml\",\"1\",\"Pod\",\"-\",\"web2\",\"bad\"]},"
	"{\"cells\":[\"c.yaml\",\"1\",\"Pod\",\"edge\",\"web\",\"bad\"]},"
	"{\"cells\":[\"web.yaml\",\"5\",\"Pod\",\"-\",\"web\",\"bad\"]}]}";
static const char holds_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"ID\"},{\"name\":\"Container\"}],"
	"\"rows\":[{\"cells\":[\"0123456789\",\"main\"]}]}";
static const char applied_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Kind\"},{\"name\":\"Namespace\"},{"
	"\"name\":\"Name\"},{\"name\":\"UID\"},{\"name\":\"Result\"}],\"rows\":[{\"cells\":["
	"\"PersistentVolume\",\"-\",\"disk\",\"u\",\"unchanged\"]},{\"cells\":[\"Pod\",\"default\","
	"\"web\",\"u\",\"created\"]}]}";

/* A template works on the objects, and several answers are one List. */
/* Names, kinds and pairs: each asked for alone, and what is missing does not hide the rest. */
/* Who does not answer what it serves cannot be asked for a kind; views need no such answer. */
static void test_exit_statuses(void **state)
{
	static const struct {
		int error, status, exit_status;
	} rows[] = {
		{ -ENOENT, 404, EXIT_NOT_FOUND },       { -ETIMEDOUT, 504, EXIT_TIMED_OUT },
		{ -ECONNREFUSED, 0, EXIT_UNREACHABLE }, { -EACCES, 0, EXIT_UNREACHABLE },
		{ -EACCES, 403, EXIT_FAILED },          { -EBADMSG, 422, EXIT_FAILED },
		{ -EPROTO, 0, EXIT_UNREACHABLE },       { -ETIMEDOUT, 0, EXIT_TIMED_OUT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct answer list[] = { { "", rows[i].error, rows[i].status, "it's so" } };

		assert_int_equal(RUN(list, "get pods"), rows[i].exit_status);
		assert_string_equal(err_text, "podvolctl: it's so\n");
		assert_string_equal(out_text, "");
		/* A pod that is to be mounted may come: test_waiting of the system tests. */
		assert_int_equal(RUN(list, "wait web --for unmounted --timeout 1ms"),
				 rows[i].exit_status);
		assert_int_equal(RUN(list, "describe pod web"), rows[i].exit_status);
		assert_int_equal(RUN(list, "delete pod web"), rows[i].exit_status);
	}
}

static void test_usage(void **state)
{
	static const struct {
		const char *words, *complaint;
	} rows[] = {
		{ "podvolctl", "must specify a verb: see 'podvolctl --help'" },
		{ "podvolctl fetch", "unknown verb 'fetch': see 'podvolctl --help'" },
		{ "podvolctl --bad", "unknown option '--bad': see 'podvolctl --help'" },
		{ "podvolctl get", "'get' needs KIND[,KIND...] [NAME...] | KIND/NAME...: see "
				   "'podvolctl get --help'" },
		{ "podvolctl mounts", "'mounts' needs POD: see 'podvolctl mounts --help'" },
		{ "podvolctl explain-state a b", "'explain-state' takes POD | VOLUME | CLAIM" },
		{ "podvolctl describe pods", "must specify a name of 'pod'" },
		{ "podvolctl describe manifest m",
		  "'manifest' cannot be described: get shows them" },
		{ "podvolctl get pod/a b", "cannot mix 'b' with KIND/NAME arguments" },
		{ "podvolctl get pod a -l x=y", "a name cannot be combined with a selector" },
		{ "podvolctl get pod a -A", "a name cannot be combined with --all-namespaces" },
		{ "podvolctl get pods -w --sort-by=.metadata.name",
		  "--sort-by cannot be combined with --watch" },
		{ "podvolctl get pods,pv --sort-by=.metadata.name",
		  "--sort-by orders one list, as a table, json or yaml" },
		{ "podvolctl get pods -o jsonpath={.a", "jsonpath: '}' is missing at ''" },
		{ "podvolctl get pods -o jsonpath={..a}",
		  "jsonpath: '..' is not served: kubectl has it, over the address of --listen" },
		{ "podvolctl get pods -o custom-columns=NAME",
		  "-o custom-columns= takes NAME:.path,... with at most 64 columns, not 'NAME'" },
		{ "podvolctl delete",
		  "must specify KIND NAME, KIND --all, KIND -l LABELS or -f FILE" },
		{ "podvolctl delete pod", "must specify a name of 'pod'" },
		{ "podvolctl delete pod x -f y", "-f cannot be combined with 'pod'" },
		{ "podvolctl version x", "'version' takes no argument" },
		{ "podvolctl version --wait", "'version' has no option '--wait'" },
		{ "podvolctl get pods -o xml",
		  "--output 'xml' is none of table, wide, json, yaml, name, jsonpath=TEMPLATE, "
		  "custom-columns=NAME:.path,..." },
		{ "podvolctl wait --bad web",
		  "unknown option '--bad': see 'podvolctl wait --help'" },
		{ "podvolctl wait a/b/c",
		  "'a/b/c' is not a pod's name: [NAMESPACE/]NAME of a-z, 0-9, '-' and '.'" },
		{ "podvolctl unit-name A_B",
		  "'default/A_B' is not a pod's name: [NAMESPACE/]NAME of a-z, 0-9, '-' and '.'" },
		{ "podvolctl events -o jsonpath={.a}",
		  "--output 'jsonpath={.a}' is none of table, wide, json, yaml, name" },
		{ "podvolctl get pods -o", "option '-o' needs a value" },
		{ "podvolctl wait web --timeout soon",
		  "--timeout 'soon' is not a duration: write 30s, 2m or 1h" },
		{ "podvolctl wait web --for ever",
		  "--for 'ever' is neither 'mounted' nor 'unmounted'" },
		{ "podvolctl get things", "unknown kind 'things': see 'podvolctl kinds'" },
		{ "podvolctl delete volume x", "'volume' is not a kind of stored object" },
		{ "podvolctl apply", "must specify -f FILE, or -f - for standard input" },
		{ "podvolctl mount -f x TARGET",
		  "mount takes a TARGET, 'TARGET', only with --direct" },
		{ "podvolctl mount --direct -f x", "mount --direct takes -f FILE and one TARGET" },
		{ "podvolctl get pods --socket here",
		  "cannot use the socket 'here': an absolute path is needed" },
		{ "podvolctl get pods --namespace=",
		  "--namespace is empty: name one, or leave it out" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char expected[256];

		(void) snprintf(expected, sizeof(expected), "podvolctl: %s\n", rows[i].complaint);
		assert_int_equal(run_with(NULL, 0, rows[i].words), EXIT_USAGE);
		assert_string_equal(err_text, expected);
		assert_string_equal(out_text, "");
		assert_string_equal(sent, "");
	}
}

static char file_path[64];

static void write_file(const char *text)
{
	FILE *file;
	int fd;

	(void) snprintf(file_path, sizeof(file_path), "/tmp/podvol-cli-XXXXXX");
	fd = mkstemp(file_path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_non_null(file);
	(void) fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int run_on_file(const struct answer *list, size_t count, const char *before,
		       const char *after)
{
	char words[256];

	(void) snprintf(words, sizeof(words), "podvolctl %s -f %s%s", before, file_path, after);
	return run_with(list, count, words);
}

static void test_mount(void **state)
{
	const struct answer list[] = {
		{ "POST /podvol/v1/apply", 0, 200, applied_table },
		{ "POST /podvol/v1/pods/default/web/wait?for=mounted&timeout=", 0, 200, "" },
		{ "POST /podvol/v1/pods/default/web/mount?timeout=0ms", 0, 200, volumes_table },
	};
	const struct answer late[] = {
		{ "POST /podvol/v1/apply", 0, 200, applied_table },
		{ "POST ", -ETIMEDOUT, 504, "volume 'data' is at SetUp: EIO, 3 attempts" },
	};

	write_file("kind: Pod\n");
	assert_int_equal(run_on_file(list, ARRAY_SIZE(list), "mount", ""), EXIT_DONE);
	assert_string_equal(sent, "POST /podvol/v1/apply\n");
	assert_string_equal(sent_body, "kind: Pod\n");
	assert_string_equal(out_text, "persistentvolume/disk unchanged\npod/web created\n");

	assert_int_equal(run_on_file(list, ARRAY_SIZE(list), "mount --timeout 2m", ""), EXIT_DONE);
	assert_string_equal(out_text, "persistentvolume/disk unchanged\npod/web created\n"
				      "POD           VOLUME   STATE     PATH\n"
				      "default/web   data     mounted   /p/data\n");

	assert_int_equal(run_on_file(late, 2, "mount --timeout 1ms", ""), EXIT_TIMED_OUT);
	assert_non_null(strstr(sent, "POST /podvol/v1/apply\n"
				     "POST /podvol/v1/pods/default/web/wait?for=mounted&"));
	assert_string_equal(err_text,
			    "podvolctl: pod 'default/web': volume 'data' is at SetUp: EIO, 3 "
			    "attempts\n");

	assert_int_equal(run_on_file(list, 2, "apply", ""), EXIT_DONE);
	assert_int_equal(unlink(file_path), 0);
	assert_int_equal(run_on_file(list, 2, "apply", ""), EXIT_FAILED);
	assert_non_null(strstr(err_text, "No such file or directory"));
}

/* A directory's manifests in the order of their names, hidden and other files left out. */
static void test_directories(void **state)
{
	const struct answer list[] = { { "POST /podvol/v1/apply", 0, 200, applied_table },
				       { "DELETE ", 0, 200, "{}" } };
	char directory[] = "/tmp/podvol-cli-XXXXXX", path[128], words[256];
	static const char *const names[] = { "b.yaml", "a.json", ".c.yaml", "d.txt" };

	assert_non_null(mkdtemp(directory));
	(void) snprintf(words, sizeof(words), "podvolctl apply -f %s", directory);
	assert_int_equal(run_with(list, 2, words), EXIT_FAILED);
	assert_non_null(strstr(err_text, "holds no *.yaml"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		FILE *file;

		(void) snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		file = fopen(path, "we");
		assert_non_null(file);
		(void) fprintf(file,
			       "kind: PersistentVolume\napiVersion: v1\nmetadata:\n  name: v%zu\n"
			       "---\nkind: Pod\napiVersion: v1\nmetadata:\n  name: p%zu\n"
			       "  namespace: x\n",
			       i, i);
		assert_int_equal(fclose(file), 0);
	}
	assert_int_equal(run_with(list, 2, words), EXIT_DONE);
	assert_string_equal(sent, "POST /podvol/v1/apply\nPOST /podvol/v1/apply\n");
	assert_non_null(strstr(sent_body, "name: p0"));
	/* What is deleted goes the other way: users before what they use. The documents are
	 * invalid. */
	(void) snprintf(words, sizeof(words), "podvolctl delete -f %s/a.json -f %s/b.yaml",
			directory, directory);
	assert_int_equal(run_with(list, 2, words), EXIT_DONE);
	assert_string_equal(sent, "DELETE /api/v1/namespaces/x/pods/p0\n"
				  "DELETE /api/v1/persistentvolumes/v0\n"
				  "DELETE /api/v1/namespaces/x/pods/p1\n"
				  "DELETE /api/v1/persistentvolumes/v1\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void) snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(directory), 0);
}

static void test_delete_several(void **state)
{
	const struct answer list[] = { { "DELETE /api/v1/namespaces/default/pods/b", 0, 200, "{}" },
				       { "DELETE /api/v1/persistentvolumes", 0, 200, "{}" } };

	assert_int_equal(RUN(list, "delete pods a b"), EXIT_NOT_FOUND);
	assert_string_equal(out_text, "pod 'b' deleted\n");
	assert_int_equal(RUN(list, "delete pods a b --ignore-not-found"), EXIT_DONE);
	assert_int_equal(RUN(list, "delete pod/b pv/v"), EXIT_DONE);
	assert_string_equal(out_text, "pod 'b' deleted\npersistentvolume 'v' deleted\n");
}

/* Dashes within names are escaped: "--" is between the two, and only there. */
static void test_units_of_pods(void **state)
{
	const struct answer list[] = {
		{ "POST /podvol/v1/pods/", 0, 200, "{}" },
	};

	assert_int_equal(RUN_ALONE("unit-name web"), EXIT_DONE);
	assert_string_equal(out_text, "podvol-pod@default--web.service\n");
	assert_int_equal(RUN_ALONE("unit-name -n a--b c"), EXIT_DONE);
	assert_string_equal(out_text, "podvol-pod@a\\x2d\\x2db--c.service\n");
	assert_int_equal(RUN_ALONE("unit-name a/b--c.d"), EXIT_DONE);
	assert_string_equal(out_text, "podvol-pod@a--b\\x2d\\x2dc.d.service\n");

	assert_int_equal(RUN(list, "wait --for unmounted podvol-pod@a\\x2d\\x2db--c.service"), 0);
	assert_non_null(strstr(sent, "/pods/a--b/c/wait"));
	assert_int_equal(RUN(list, "wait --for unmounted podvol-pod@a--b\\x2d\\x2dc.d.service"), 0);
	assert_non_null(strstr(sent, "/pods/a/b--c.d/wait"));
	assert_int_equal(RUN(list, "wait --for unmounted podvol-pod@a\\x2d\\x2db.service"), 0);
	assert_non_null(strstr(sent, "/pods/a/b/wait"));

	assert_int_equal(RUN_ALONE("wait podvol-pod@a\\x2d\\x2db\\x2d\\x2dc.service"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("wait podvol-pod@a--b\\x2.service"), EXIT_USAGE);
	assert_int_equal(RUN_ALONE("wait podvol-pod@.service"), EXIT_USAGE);
	assert_non_null(strstr(err_text, "does not name one pod"));
}

static void test_unmount_and_wait(void **state)
{
	const struct answer list[] = { { "GET /podvol/v1/pods/", 0, 200, holds_table },
				       { "POST ", 0, 200, "{}" },
				       { "DELETE ", 0, 200, "{}" } };
	const struct answer unknown[] = { { "GET ", -ENOENT, 404, "" } };
	const struct answer held[] = { { "DELETE ", 0, 202, "{}" } };

	assert_int_equal(RUN(list, "unmount web"), EXIT_DONE);
	assert_string_equal(sent,
			    "GET /podvol/v1/pods/web/volumes\n"
			    "POST /podvol/v1/pods/web/unmount?ignoreNotFound=true&timeout=0ms\n");
	assert_string_equal(out_text, "pod 'web' deleted\n");
	assert_int_equal(RUN(list, "unmount edge/web --wait"), EXIT_DONE);
	assert_string_equal(
		sent,
		"GET /podvol/v1/pods/edge/web/volumes\n"
		"POST /podvol/v1/pods/edge/web/unmount?ignoreNotFound=true&timeout=30000ms\n");
	assert_string_equal(out_text, "pod 'edge/web' unmounted\n");
	assert_int_equal(RUN(list, "unmount pod/web po/db"), EXIT_DONE);
	assert_string_equal(sent,
			    "GET /podvol/v1/pods/web/volumes\n"
			    "POST /podvol/v1/pods/web/unmount?ignoreNotFound=true&timeout=0ms\n"
			    "GET /podvol/v1/pods/db/volumes\n"
			    "POST /podvol/v1/pods/db/unmount?ignoreNotFound=true&timeout=0ms\n");
	assert_string_equal(out_text, "pod 'web' deleted\npod 'db' deleted\n");
	assert_int_equal(RUN(unknown, "unmount web --wait"), EXIT_NOT_FOUND);
	assert_string_equal(sent, "GET /podvol/v1/pods/web/volumes\n");
	assert_int_equal(RUN(list, "unmount"), EXIT_USAGE);
	assert_int_equal(RUN(list, "wait web -l a=b"), EXIT_USAGE);
	assert_int_equal(RUN(list, "unmount --direct a b"), EXIT_USAGE);
	assert_int_equal(RUN(list, "wait web --for unmounted --timeout 1s"), EXIT_DONE);
	assert_string_equal(sent, "POST /podvol/v1/pods/web/wait?for=unmounted&timeout=0ms\n");
	assert_int_equal(RUN(list, "delete pvc c -n x"), EXIT_DONE);
	assert_string_equal(sent, "DELETE /api/v1/namespaces/x/persistentvolumeclaims/c\n");
	assert_string_equal(out_text, "persistentvolumeclaim 'c' deleted\n");
	assert_int_equal(RUN(held, "delete pvc c"), EXIT_DONE);
	assert_string_equal(out_text, "persistentvolumeclaim 'c' is being deleted: its finalizers "
				      "hold it while it is in use\n");
}

static void test_direct(void **state)
{
	direct_result = 0;
	assert_int_equal(RUN_ALONE("mount --direct -f pv.yaml /mnt"), EXIT_DONE);
	assert_string_equal(direct_call, "mount pv.yaml /mnt /var/lib/kubelet");
	assert_int_equal(RUN_ALONE("unmount --direct /mnt --root-dir /r"), EXIT_DONE);
	assert_string_equal(direct_call, "unmount - /mnt /r");
	direct_result = -ENOENT;
	assert_int_equal(RUN_ALONE("mount --direct -f pv.yaml /mnt"), EXIT_FAILED);
	assert_string_equal(err_text, "podvolctl: no plugin claims it\n");
	assert_int_equal(RUN_ALONE("unmount --direct /mnt"), EXIT_FAILED);
	assert_string_equal(sent, "");
}

static void test_describe(void **state)
{
	const struct answer list[] = {
		{ "GET /podvol/v1/pods/u-1/holds", 0, 200, holds_table },
		{ "GET /podvol/v1/pods/", 0, 200, volumes_table },
		{ "GET /podvol/v1/volumes/local%2Fdisk/users", 0, 200,
		  "{\"result\":\"1 user\",\"users\":[{\"text\":\"process 7 'sh': root\"}],"
		  "\"failure\":\"not all\"}" },
		{ "GET /podvol/v1/volumes/", 0, 200, volumes_table },
		{ "GET /podvol/v1/manifests", 0, 200, manifests_table },
		{ "GET /api/v1/namespaces/default/events", 0, 200, events_table },
	};

	assert_int_equal(RUN(list, "describe pod u-1"), EXIT_DONE);
	assert_string_equal(sent,
			    "GET /podvol/v1/pods/u-1/volumes\n"
			    "GET /podvol/v1/pods/u-1/holds\n"
			    "GET /podvol/v1/manifests\n"
			    "GET /api/v1/namespaces/default/events?fieldSelector=involvedObject."
			    "kind%3DPod%2CinvolvedObject.name%3Dweb\n"
			    "GET /api/v1/namespaces/default/events?fieldSelector=involvedObject."
			    "kind%3DPod%2CinvolvedObject.name%3Dweb\n");
	assert_string_equal(out_text, "Name:               web\n"
				      "Namespace:          default\n"
				      "UID:                u-1\n"
				      "Volumes:\n"
				      "  data:\n"
				      "    Unique name:    local/disk\n"
				      "    State:          mounted\n"
				      "    Path:           /p/data\n"
				      "Holds:\n"
				      "ID           CONTAINER\n"
				      "0123456789   main\n"
				      "Manifest refused:\n"
				      "  File:             web.yaml\n"
				      "  Line:             5\n"
				      "  Since:            -\n"
				      "  Problem:          bad\n"
				      "Events:\n"
				      "REASON        MESSAGE\n"
				      "FailedMount   no\n");
	assert_int_equal(RUN(list, "describe volume local/disk"), EXIT_DONE);
	assert_string_equal(sent, "GET /podvol/v1/volumes/local%2Fdisk\n"
				  "GET /podvol/v1/volumes/local%2Fdisk/users\n");
	assert_non_null(strstr(out_text, "Users:              1 user\n"));
	assert_non_null(strstr(out_text, "process 7 'sh': root\n  Not searched:     not all\n"));
	assert_non_null(strstr(out_text, "Name:               disk-1\n"));
	assert_non_null(strstr(out_text, "Unique name:        local/disk\nPods:\n  default/web:\n"
					 "    State:          mounted\n"));
}

/* The version that was looked at goes with the change: what another client changed is a conflict.
 */
static void test_label(void **state)
{
	const struct answer list[] = {
		{ "GET /api/v1/namespaces/default/pods/web", 0, 200,
		  "{\"metadata\":{\"name\":\"web\",\"resourceVersion\":\"7\",\"labels\":{\"a\":"
		  "\"b\"}}}" },
		{ "PATCH /api/v1/namespaces/default/pods/web", 0, 200, "{}" },
	};

	assert_int_equal(RUN(list, "label pod web c=d a- e="), EXIT_DONE);
	assert_non_null(strstr(sent_body, "\"labels\":{\"c\":\"d\",\"a\":null,\"e\":\"\"}"));
	assert_non_null(strstr(sent_body, "\"resourceVersion\":\"7\""));
	assert_string_equal(out_text, "pod/web labeled\n");
	assert_int_equal(RUN(list, "annotate pod/web a=x"), EXIT_DONE);
	assert_non_null(strstr(sent_body, "\"annotations\":{\"a\":\"x\"}"));
	assert_int_equal(RUN(list, "label pod web a=x"), EXIT_FAILED);
	assert_string_equal(sent, "GET /api/v1/namespaces/default/pods/web\n");
}

/* Options are read before the verb is known: one name must be one letter, with a value or without.
 */
static void test_options_agree(void **state)
{
	const struct option_row *rows[64];
	size_t count = options_of_all(NULL);

	assert_in_range(count, 10, ARRAY_SIZE(rows));
	assert_int_equal(options_of_all(rows), count);
	for (const struct verb *verb = verbs; verb->name; verb++) {
		for (const struct option_row *const *row = verb->options; *row; row++) {
			size_t i = 0;

			while (i < count && strcmp(rows[i]->name, (*row)->name) != 0)
				i++;
			assert_in_range(i, 0, count - 1);
			assert_int_equal(rows[i]->letter, (*row)->letter);
			assert_int_equal(rows[i]->value == NULL, (*row)->value == NULL);
			assert_int_equal((*row)->word == WORD_CHOICE, (*row)->choices != NULL);
		}
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(!rows[i]->letter || rows[i]->letter != rows[k]->letter);
}

static void test_help_and_verbs(void **state)
{
	char *line, *rest, *all;

	assert_int_equal(RUN_ALONE("--help"), EXIT_DONE);
	assert_non_null(strstr(out_text, "\n  describe       show details"));
	assert_non_null(strstr(out_text, "      --socket=PATH        where the daemon"));
	assert_null(strstr(out_text, "list-verbs"));
	assert_int_equal(RUN_ALONE("get --help"), EXIT_DONE);
	assert_non_null(strstr(out_text, "  -o, --output=FORMAT      table, wide"));
	assert_int_equal(RUN_ALONE("wait --help"), EXIT_DONE);
	assert_non_null(strstr(out_text, "podvolctl wait [OPTION...] POD... | -l LABELS\n"));
	assert_non_null(strstr(out_text, "      --timeout=D"));
	assert_null(strstr(out_text, "--direct"));

	assert_int_equal(RUN_ALONE("--list-verbs"), EXIT_DONE);
	assert_non_null(
		strstr(out_text, "wait\tnamespace,selector,for,timeout\tPOD... | -l LABELS\n"));
	/* Every verb has its help. */
	all = strdup(out_text);
	for (rest = all; (line = strsep(&rest, "\n")) && *line;) {
		char words[64];

		(void) snprintf(words, sizeof(words), "podvolctl %.*s -h",
				(int) strcspn(line, "\t"), line);
		assert_int_equal(run_with(NULL, 0, words), EXIT_DONE);
		assert_string_equal(err_text, "");
	}
	free(all);
}

/* Nothing is asked for there. */
static void test_move_in_a_cluster(void **state)
{
	const struct answer list[] = {
		{ "GET /podvol/v1/version", 0, 200, "{\"store\":\"kube-apiserver\"}" },
	};

	assert_int_equal(RUN(list, "move pvc/data --to slow"), EXIT_FAILED);
	assert_string_equal(sent, "GET /podvol/v1/version\n");
	assert_non_null(strstr(err_text, "this node belongs to a cluster"));
}

static void test_version(void **state)
{
	const struct answer gone[] = { { "", -ECONNREFUSED, 0, "no answer" } };

	assert_int_equal(RUN(gone, "version --socket /x"), EXIT_UNREACHABLE);
	assert_string_equal(connected_to, "/x");
	assert_int_equal(strncmp(out_text, "podvolctl 0.", 12), 0);
	assert_string_equal(err_text, "podvolctl: no answer\n");
	assert_int_equal(RUN_ALONE("--version"), EXIT_DONE);
	assert_int_equal(strncmp(out_text, "podvolctl 0.", 12), 0);
	assert_int_equal(RUN_ALONE("help edit"), EXIT_DONE);
	assert_int_equal(strncmp(out_text, "podvolctl edit ", 15), 0);
	assert_int_equal(RUN_ALONE("help"), EXIT_DONE);
	assert_non_null(strstr(out_text, "Verbs:\n"));
	assert_int_equal(RUN_ALONE("help nothing"), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_statuses),  cmocka_unit_test(test_usage),
		cmocka_unit_test(test_mount),          cmocka_unit_test(test_directories),
		cmocka_unit_test(test_delete_several), cmocka_unit_test(test_unmount_and_wait),
		cmocka_unit_test(test_units_of_pods),  cmocka_unit_test(test_direct),
		cmocka_unit_test(test_describe),       cmocka_unit_test(test_label),
		cmocka_unit_test(test_options_agree),  cmocka_unit_test(test_help_and_verbs),
		cmocka_unit_test(test_version),        cmocka_unit_test(test_move_in_a_cluster),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	free(out_text);
	free(err_text);
	return result;
}
