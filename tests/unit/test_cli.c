/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli - podvolctl with a library of canned answers: what it asks, prints and returns
 *
 * Output is compared exactly. The library's calls about pods and tables are the real ones; only the
 * transport below them is ours.
 */
#undef main /* podvolctl's is podvolctl_main here */

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/direct.h"
#include "client/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

int podvolctl_main(int argc, char **argv);

enum { LOG_BYTES = 8192, ARGUMENTS_MAX = 16 };

struct podvol {
	char error[512];
	int status;
};

struct answer {
	const char *request; /* "GET /path", as far as it must agree */
	int error;
	int status;
	const char *body; /* or the sentence of an error */
};

static const struct answer *answers;
static size_t answer_count;
static char sent[LOG_BYTES]; /* "METHOD path\n" of every request */
static char sent_body[LOG_BYTES], sent_accept[128], connected_to[128];
static char *out_text, *err_text;

/* ---- the library ---- */

int podvol_connect(const char *socket_path, struct podvol **ret)
{
	if (socket_path && *socket_path != '/')
		return -EINVAL;
	(void) snprintf(connected_to, sizeof(connected_to), "%s", socket_path ? socket_path : "");
	*ret = calloc(1, sizeof(**ret));
	return 0;
}

void podvol_free(struct podvol *podvol)
{
	free(podvol);
}

const char *podvol_error(const struct podvol *podvol)
{
	return podvol->error;
}

int podvol_status(const struct podvol *podvol)
{
	return podvol->status;
}

int handle_failed(struct podvol *podvol, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(podvol->error, sizeof(podvol->error), format, arguments);
	va_end(arguments);
	return error;
}

int podvol_request(struct podvol *podvol, const struct podvol_request *request,
		   struct podvol_reply *ret)
{
	char line[1024];
	size_t used = strlen(sent);

	(void) snprintf(line, sizeof(line), "%s %s", request->method, request->path);
	(void) snprintf(sent + used, sizeof(sent) - used, "%s\n", line);
	(void) snprintf(sent_accept, sizeof(sent_accept), "%s",
			request->accept ? request->accept : "");
	(void) snprintf(sent_body, sizeof(sent_body), "%.*s", (int) request->body_length,
			request->body ? (const char *) request->body : "");
	podvol->error[0] = '\0';
	for (size_t i = 0; i < answer_count; i++) {
		if (strncmp(line, answers[i].request, strlen(answers[i].request)) != 0)
			continue;
		podvol->status = answers[i].status;
		if (answers[i].error < 0)
			return handle_failed(podvol, answers[i].error, "%s", answers[i].body);
		if (ret)
			*ret = (struct podvol_reply){ .status = answers[i].status,
						      .body = strdup(answers[i].body),
						      .length = strlen(answers[i].body) };
		return 0;
	}
	podvol->status = 404;
	return handle_failed(podvol, -ENOENT, "nothing is there");
}

void podvol_reply_done(struct podvol_reply *reply)
{
	free(reply->body);
	reply->body = NULL;
}

/* ---- without a daemon ---- */

static char direct_call[256];
static int direct_result;

static int direct(const char *what, const char *file, const char *target, const char *root_dir,
		  struct failure *reterr)
{
	(void) snprintf(direct_call, sizeof(direct_call), "%s %s %s %s", what, file, target,
			root_dir);
	if (direct_result < 0)
		return failed_plain(reterr, direct_result, "no plugin claims it");
	return 0;
}

int direct_mount(const char *file, const char *target, const char *root_dir, struct failure *reterr)
{
	return direct("mount", file, target, root_dir, reterr);
}

int direct_unmount(const char *target, const char *root_dir, struct failure *reterr)
{
	return direct("unmount", "-", target, root_dir, reterr);
}

/* ---- running ---- */

static int run_with(const struct answer *list, size_t count, const char *words)
{
	char *argv[ARGUMENTS_MAX], *at = strdup(words), *all = at;
	FILE *saved_out = stdout, *saved_err = stderr;
	size_t out_length, err_length;
	int argc = 0, status;

	answers = list;
	answer_count = count;
	sent[0] = sent_body[0] = sent_accept[0] = direct_call[0] = '\0';
	free(out_text);
	free(err_text);
	for (char *word; (word = strsep(&at, " ")) && argc < ARGUMENTS_MAX - 1;)
		argv[argc++] = word;
	argv[argc] = NULL;
	stdout = open_memstream(&out_text, &out_length);
	stderr = open_memstream(&err_text, &err_length);
	status = podvolctl_main(argc, argv);
	(void) fclose(stdout);
	(void) fclose(stderr);
	stdout = saved_out;
	stderr = saved_err;
	free(all);
	return status;
}

#define RUN(list, words) run_with(list, ARRAY_SIZE(list), "podvolctl " words)
#define RUN_ALONE(words) run_with(NULL, 0, "podvolctl " words)

static const char pods_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Name\",\"priority\":0},{\"name\":"
	"\"Status\",\"priority\":0},{\"name\":\"Node\",\"priority\":1}],\"rows\":[{\"cells\":["
	"\"web\",\"Running\",\"n1\"],\"object\":{\"metadata\":{\"name\":\"web\",\"namespace\":"
	"\"default\"}}},{\"cells\":[\"d\xc3\xa4tabase\",\"x\\u001b[31m\",\"n2\"],\"object\":{"
	"\"metadata\":{\"name\":\"db\",\"namespace\":\"edge\"}}}]}";
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
/* Of another kind, another pod, another namespace, and the one that is asked about. */
static const char manifests_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"File\"},{\"name\":\"Line\"},{"
	"\"name\":\"Kind\"},{\"name\":\"Namespace\"},{\"name\":\"Name\"},{\"name\":\"Problem\"}],"
	"\"rows\":[{\"cells\":[\"a.yaml\",\"1\",\"StorageClass\",\"-\",\"web\",\"bad\"]},"
	"{\"cells\":[\"b.yaml\",\"1\",\"Pod\",\"-\",\"web2\",\"bad\"]},"
	"{\"cells\":[\"c.yaml\",\"1\",\"Pod\",\"edge\",\"web\",\"bad\"]},"
	"{\"cells\":[\"web.yaml\",\"5\",\"Pod\",\"-\",\"web\",\"bad\"]}]}";
static const char applied_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Kind\"},{\"name\":\"Namespace\"},{"
	"\"name\":\"Name\"},{\"name\":\"UID\"},{\"name\":\"Result\"}],\"rows\":[{\"cells\":["
	"\"PersistentVolume\",\"-\",\"disk\",\"u\",\"unchanged\"]},{\"cells\":[\"Pod\",\"default\","
	"\"web\",\"u\",\"created\"]}]}";

static void test_get_table(void **state)
{
	const struct answer list[] = { { "GET /api/v1", 0, 200, pods_table } };

	assert_int_equal(RUN(list, "get pods"), EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/namespaces/default/pods\n");
	assert_string_equal(sent_accept, TYPE_TABLE);
	assert_string_equal(err_text, "");
	assert_string_equal(out_text, "NAME       STATUS\n"
				      "web        Running\n"
				      "d\xc3\xa4tabase   x?[31m\n");
	assert_int_equal(RUN(list, "get po -A -o wide"), EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/pods\n");
	assert_string_equal(out_text, "NAMESPACE   NAME       STATUS    NODE\n"
				      "default     web        Running   n1\n"
				      "edge        d\xc3\xa4tabase   x?[31m    n2\n");
	assert_int_equal(RUN(list, "-n a/b get pod web -o name"), EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/namespaces/a%2Fb/pods/web\n");
	assert_string_equal(out_text, "pod/web\npod/db\n");
}

static void test_get_paths(void **state)
{
	static const struct {
		const char *words, *request;
	} rows[] = {
		{ "podvolctl get pv", "GET /api/v1/persistentvolumes\n" },
		{ "podvolctl get PVC c -n x",
		  "GET /api/v1/namespaces/x/persistentvolumeclaims/c\n" },
		{ "podvolctl get sc", "GET /apis/storage.k8s.io/v1/storageclasses\n" },
		{ "podvolctl get volumes", "GET /podvol/v1/volumes\n" },
		{ "podvolctl get volume kubernetes.io/x",
		  "GET /podvol/v1/volumes/kubernetes.io%2Fx\n" },
		{ "podvolctl get manifests", "GET /podvol/v1/manifests\n" },
		{ "podvolctl get operations", "GET /podvol/v1/operations\n" },
		{ "podvolctl get events -A", "GET /api/v1/events\n" },
		{ "podvolctl events", "GET /api/v1/events\n" },
		{ "podvolctl events -n x", "GET /api/v1/namespaces/x/events\n" },
		{ "podvolctl mounts web", "GET /podvol/v1/pods/web/volumes\n" },
		{ "podvolctl mounts -n x web", "GET /podvol/v1/pods/x/web/volumes\n" },
		{ "podvolctl mounts y/web -n x", "GET /podvol/v1/pods/y/web/volumes\n" },
	};
	const struct answer list[] = { { "GET ", 0, 200, pods_table } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(run_with(list, 1, rows[i].words), EXIT_DONE);
		assert_string_equal(sent, rows[i].request);
	}
}

static void test_other_formats(void **state)
{
	const struct answer list[] = { { "GET /api/v1", 0, 200, "{\"a\":1}" },
				       { "GET /podvol", 0, 200, volumes_table } };
	const struct answer none[] = {
		{ "GET ", 0, 200, "{\"kind\":\"Table\",\"columnDefinitions\":[],\"rows\":[]}" }
	};

	assert_int_equal(RUN(list, "get pods -o json"), EXIT_DONE);
	assert_string_equal(sent_accept, "application/json");
	assert_string_equal(out_text, "{\"a\":1}\n");
	assert_int_equal(RUN(list, "get pods --output=yaml"), EXIT_DONE);
	assert_string_equal(sent_accept, "application/yaml");
	assert_int_equal(RUN(list, "get volumes -oname"), EXIT_DONE);
	assert_string_equal(out_text, "volume/local/disk\n");
	assert_int_equal(RUN(none, "get pods"), EXIT_DONE);
	assert_string_equal(out_text, "");
	assert_string_equal(err_text, "Nothing found.\n");
}

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
		assert_int_equal(RUN(list, "wait web"), rows[i].exit_status);
		assert_int_equal(RUN(list, "describe pod web"), rows[i].exit_status);
		assert_int_equal(RUN(list, "delete pod web"), rows[i].exit_status);
	}
}

static void test_usage(void **state)
{
	static const struct {
		const char *words, *complaint;
	} rows[] = {
		{ "podvolctl", "which verb? 'podvolctl --help' lists them" },
		{ "podvolctl fetch", "there is no verb 'fetch': 'podvolctl --help' lists them" },
		{ "podvolctl --bad", "there is no option '--bad': 'podvolctl --help' lists them" },
		{ "podvolctl get", "'get' takes KIND [NAME], and something is missing" },
		{ "podvolctl get a b c", "'get' takes KIND [NAME]" },
		{ "podvolctl version x", "'version' takes no argument" },
		{ "podvolctl version --wait", "'version' knows no option '--wait'" },
		{ "podvolctl get pods -o xml",
		  "--output 'xml' is none of table, wide, json, yaml, name" },
		{ "podvolctl get pods -o", "option '-o' needs a value" },
		{ "podvolctl wait web --timeout soon",
		  "--timeout 'soon' is no duration: write 30s, 2m or 1h" },
		{ "podvolctl wait web --for ever",
		  "--for 'ever' is neither 'mounted' nor 'unmounted'" },
		{ "podvolctl get things",
		  "there is no kind 'things': pods, volumes, pv, pvc, sc, events, manifests and "
		  "operations are known" },
		{ "podvolctl describe node n", "'node' cannot be described: pod and volume can" },
		{ "podvolctl delete volume x", "'volume' is no kind of stored object" },
		{ "podvolctl apply",
		  "which file? Name it with -f FILE, or -f - for standard input" },
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
		{ "POST /podvol/v1/pods/default/web/mount?timeout=120000ms", 0, 200,
		  volumes_table },
	};
	const struct answer late[] = {
		{ "POST /podvol/v1/apply", 0, 200, applied_table },
		{ "POST ", -ETIMEDOUT, 504, "volume 'data' is at SetUp: EIO, 3 attempts" },
	};

	write_file("kind: Pod\n");
	assert_int_equal(run_on_file(list, 2, "mount", ""), EXIT_DONE);
	assert_string_equal(sent, "POST /podvol/v1/apply\n");
	assert_string_equal(sent_body, "kind: Pod\n");
	assert_string_equal(out_text, "persistentvolume/disk unchanged\npod/web created\n");

	assert_int_equal(run_on_file(list, 2, "mount --timeout 2m", ""), EXIT_DONE);
	assert_string_equal(out_text, "persistentvolume/disk unchanged\npod/web created\n"
				      "POD           VOLUME   STATE     PATH\n"
				      "default/web   data     mounted   /p/data\n");

	assert_int_equal(run_on_file(late, 2, "mount --wait", ""), EXIT_TIMED_OUT);
	assert_string_equal(sent, "POST /podvol/v1/apply\n"
				  "POST /podvol/v1/pods/default/web/mount?timeout=30000ms\n");
	assert_string_equal(err_text, "podvolctl: volume 'data' is at SetUp: EIO, 3 attempts\n");

	assert_int_equal(run_on_file(list, 2, "apply", ""), EXIT_DONE);
	assert_int_equal(unlink(file_path), 0);
	assert_int_equal(run_on_file(list, 2, "apply", ""), EXIT_FAILED);
	assert_non_null(strstr(err_text, "No such file or directory"));
}

static void test_unmount_and_wait(void **state)
{
	const struct answer list[] = { { "POST ", 0, 200, "{}" }, { "DELETE ", 0, 200, "{}" } };
	const struct answer held[] = { { "DELETE ", 0, 202, "{}" } };

	assert_int_equal(RUN(list, "unmount web"), EXIT_DONE);
	assert_string_equal(sent, "POST /podvol/v1/pods/web/unmount?timeout=0ms\n");
	assert_string_equal(out_text, "pod 'web' deleted\n");
	assert_int_equal(RUN(list, "unmount edge/web --wait"), EXIT_DONE);
	assert_string_equal(sent, "POST /podvol/v1/pods/edge/web/unmount?timeout=30000ms\n");
	assert_string_equal(out_text, "pod 'edge/web' unmounted\n");
	assert_int_equal(RUN(list, "wait web --for unmounted --timeout 1s"), EXIT_DONE);
	assert_string_equal(sent, "POST /podvol/v1/pods/web/wait?for=unmounted&timeout=1000ms\n");
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
		{ "GET /podvol/v1/pods/", 0, 200, volumes_table },
		{ "GET /podvol/v1/volumes/", 0, 200, volumes_table },
		{ "GET /podvol/v1/manifests", 0, 200, manifests_table },
		{ "GET /api/v1/namespaces/default/events", 0, 200, events_table },
	};

	assert_int_equal(RUN(list, "describe pod u-1"), EXIT_DONE);
	assert_string_equal(sent,
			    "GET /podvol/v1/pods/u-1/volumes\n"
			    "GET /podvol/v1/manifests\n"
			    "GET /api/v1/namespaces/default/events?fieldSelector=involvedObject."
			    "kind%3DPod%2CinvolvedObject.name%3Dweb\n");
	assert_string_equal(out_text, "Name:               web\n"
				      "Namespace:          default\n"
				      "UID:                u-1\n"
				      "Volumes:\n"
				      "  data:\n"
				      "    Plugin:         -\n"
				      "    Source:         -\n"
				      "    Unique name:    local/disk\n"
				      "    State:          mounted\n"
				      "    Path:           /p/data\n"
				      "    Access:         -\n"
				      "    Step:           -\n"
				      "    Stage:          -\n"
				      "    Since:          -\n"
				      "    Took:           -\n"
				      "    Error:          -\n"
				      "    Attempts:       -\n"
				      "    Next retry:     -\n"
				      "Manifest refused:\n"
				      "  File:             web.yaml\n"
				      "  Line:             5\n"
				      "  Since:            -\n"
				      "  Problem:          bad\n"
				      "Events:\n"
				      "REASON        MESSAGE\n"
				      "FailedMount   no\n");
	assert_int_equal(RUN(list, "describe volume local/disk"), EXIT_DONE);
	assert_string_equal(sent, "GET /podvol/v1/volumes/local%2Fdisk\n");
	assert_non_null(strstr(out_text, "Name:               disk-1\n"));
	assert_non_null(strstr(out_text, "Device mount path:  -\nPods:\n  default/web:\n"
					 "    State:          mounted\n"));
}

static void test_help_and_verbs(void **state)
{
	char *line, *rest, *all;

	assert_int_equal(RUN_ALONE("--help"), EXIT_DONE);
	assert_non_null(strstr(out_text, "\n  describe       all that is known"));
	assert_non_null(strstr(out_text, "      --socket=PATH        where the daemon"));
	assert_null(strstr(out_text, "list-verbs"));
	assert_int_equal(RUN_ALONE("get --help"), EXIT_DONE);
	assert_non_null(strstr(out_text, "  -o, --output=FORMAT      table, wide"));
	assert_int_equal(RUN_ALONE("wait --help"), EXIT_DONE);
	assert_non_null(strstr(out_text, "podvolctl wait [OPTION...] POD\n"));
	assert_non_null(strstr(out_text, "      --timeout=D"));
	assert_null(strstr(out_text, "--direct"));

	assert_int_equal(RUN_ALONE("--list-verbs"), EXIT_DONE);
	assert_non_null(strstr(out_text, "wait\tnamespace,for,timeout\tPOD\n"));
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

static void test_version(void **state)
{
	const struct answer gone[] = { { "", -ECONNREFUSED, 0, "nobody answers" } };

	assert_int_equal(RUN(gone, "version --socket /x"), EXIT_UNREACHABLE);
	assert_string_equal(connected_to, "/x");
	assert_int_equal(strncmp(out_text, "podvolctl 0.", 12), 0);
	assert_string_equal(err_text, "podvolctl: nobody answers\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get_table),
		cmocka_unit_test(test_get_paths),
		cmocka_unit_test(test_other_formats),
		cmocka_unit_test(test_exit_statuses),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_mount),
		cmocka_unit_test(test_unmount_and_wait),
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_help_and_verbs),
		cmocka_unit_test(test_version),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	free(out_text);
	free(err_text);
	return result;
}
