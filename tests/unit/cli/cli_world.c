/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli_world - see cli_world.h
 */
#include "cli_world.h"

#include "base/cleanup.h"
#include "cli/direct/archive_direct.h"
#include "cli/cli.h"
#include "cli/direct/direct.h"
#include "client/handle.h"
#include "object/json/json.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 24, CALLS_MAX_HERE = 64 };

struct podvol {
	char error[512];
	int status;
};

static const struct answer *answers;
static size_t answer_count;
char sent[LOG_BYTES], sent_body[LOG_BYTES], sent_accept[128], connected_to[128];
char *out_text, *err_text;
bool no_discovery;
char direct_call[256];
int direct_result;
struct archive_summary direct_summary;
const char *direct_answer;

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

const char *podvol_socket(const struct podvol *podvol)
{
	return connected_to;
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

#define RESOURCE(kind, plural, singular, shorts, scope)                                            \
	"{\"resource\":\"" plural "\",\"responseKind\":{\"kind\":\"" kind "\"},\"scope\":\"" scope \
	"\",\"singularResource\":\"" singular "\",\"shortNames\":[" shorts "]}"

/* Asked before most verbs: not among what a test compares. */
static const char *discovery(const char *path)
{
	if (strcmp(path, "/api") == 0)
		return "{\"items\":[{\"metadata\":{},\"versions\":[{\"version\":\"v1\","
		       "\"resources\":[" RESOURCE("Pod", "pods", "pod", "\"po\"", "Namespaced") "," RESOURCE(
			       "PersistentVolume", "persistentvolumes", "persistentvolume",
			       "\"pv\"",
			       "Cluster") "," RESOURCE("PersistentVolumeClaim",
						       "persistentvolumeclaims",
						       "persistentvolumeclaim", "\"pvc\"",
						       "Namespaced") "," RESOURCE("Event", "events",
										  "event", "\"ev\"",
										  "Namespaced") "]}"
												"]}"
												"]"
												"}";
	if (strcmp(path, "/apis") == 0)
		return "{\"items\":[{\"metadata\":{\"name\":\"storage.k8s.io\"},\"versions\":[{"
		       "\"version\":\"v1\",\"resources\":[" RESOURCE(
			       "StorageClass", "storageclasses", "storageclass", "\"sc\"",
			       "Cluster") "]}]}]}";
	return NULL;
}

int podvol_request(struct podvol *podvol, const struct podvol_request *request,
		   struct podvol_reply *ret)
{
	const char *found = discovery(request->path);
	size_t used = strlen(sent);
	char line[1024];

	if (found && !no_discovery) {
		*ret = (struct podvol_reply){ .status = 200,
					      .body = strdup(found),
					      .length = strlen(found) };
		return 0;
	}
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

/* ---- calls that do not block: each ends in the next podvol_process() ---- */

static struct {
	char *path;
	void (*done)(void *userdata, int result, struct podvol_reply *reply);
	void *userdata;
} calls[CALLS_MAX_HERE];
static int call_count;

int podvol_call(struct podvol *podvol, const struct podvol_request *request,
		void (*done)(void *userdata, int result, struct podvol_reply *reply),
		void *userdata, struct podvol_call **ret)
{
	if (call_count == CALLS_MAX_HERE)
		return -EAGAIN;
	calls[call_count].path = strdup(request->path);
	calls[call_count].done = done;
	calls[call_count].userdata = userdata;
	*ret = (struct podvol_call *) &calls[call_count++];
	return 0;
}

/* Always ready. */
int podvol_fd(struct podvol *podvol)
{
	static int fd = -EBADF;

	if (fd < 0)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fd;
}

int podvol_process(struct podvol *podvol)
{
	while (call_count > 0) {
		struct podvol_request request = { .method = "POST" };
		struct podvol_reply reply = { 0 };
		int r;

		call_count--;
		request.path = calls[call_count].path;
		r = podvol_request(podvol, &request, &reply);
		calls[call_count].done(calls[call_count].userdata, r, &reply);
		podvol_reply_done(&reply);
		free(calls[call_count].path);
	}
	return 0;
}

/* Watches are test_follow's: none here. */
int podvol_watch_open(struct podvol *podvol, const struct podvol_watch_request *request,
		      struct podvol_watch **ret)
{
	return -ENOMEM;
}

int podvol_watch_fd(const struct podvol_watch *watch)
{
	return -EINVAL;
}

int podvol_watch_process(struct podvol_watch *watch)
{
	return -EINVAL;
}

const char *podvol_watch_error(const struct podvol_watch *watch)
{
	return "";
}

int podvol_watch_status(const struct podvol_watch *watch)
{
	return 0;
}

void podvol_watch_free(struct podvol_watch *watch)
{
}

/* ---- without a daemon ---- */

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

/* Answers what the test wants, to whatever was asked. */
int archive_direct_backup(const struct archive_direct *asked, struct archive_summary *ret,
			  struct failure *reterr)
{
	(void) snprintf(direct_call, sizeof(direct_call), "backup %s%s%s%s%s", asked->directory,
			asked->is_snapshot ? " snapshot" : "", asked->base ? " since " : "",
			asked->base ?: "", asked->part_count > 0 ? " parts" : "");
	*ret = direct_summary;
	return direct_result < 0 ? failed_plain(reterr, direct_result, "it does not work") : 0;
}

int archive_direct_restore(const struct archive_direct *asked, struct archive_summary *ret,
			   bool *ret_begun, struct failure *reterr)
{
	(void) snprintf(
		direct_call, sizeof(direct_call), "restore %s%s%s%s%s%s%s", asked->directory,
		asked->allow_content ? " overwrite" : "", asked->allow_used ? " in-use" : "",
		asked->allow_devices ? " devices" : "", asked->allow_links_out ? " links-out" : "",
		asked->allow_privileges ? " setuid" : "", asked->part_count > 0 ? " parts" : "");
	*ret = direct_summary;
	*ret_begun = direct_summary.entries > 0;
	if (!asked->allow_used) {
		int r = asked->check_unwanted(asked->userdata, reterr);

		*ret_begun &= r == 0;
		if (r < 0)
			return r;
	}
	return direct_result < 0 ? failed_plain(reterr, direct_result, "it does not work") : 0;
}

int csi_direct_call(const struct csi_direct *asked, struct cJSON **ret, struct failure *reterr)
{
	static const struct json_limits limits = { .bytes = 65536, .depth = 32 };

	(void) snprintf(direct_call, sizeof(direct_call), "%s %s %s %llu", asked->endpoint,
			asked->method, asked->text, (unsigned long long) asked->timeout_usec);
	if (direct_result < 0)
		return failed_plain(reterr, direct_result, "'%s' is not a method", asked->method);
	return json_parse(direct_answer, strlen(direct_answer), &limits, ret, reterr);
}

int plugin_direct_list(plugin_direct_fn *fn, void *userdata, struct failure *reterr)
{
	fn(userdata, false, "good", "/etc/podvol/plugins/good");
	fn(userdata, true, "open", "others than root may write it");
	return 0;
}

int plugin_direct_test(const struct plugin_test *test, struct failure *reterr)
{
	(void) snprintf(direct_call, sizeof(direct_call), "plugin %s %s %s", test->name,
			test->directory, test->file ?: "-");
	if (direct_result < 0)
		return failed_plain(reterr, direct_result, "no such plugin");
	test->fn(test->userdata, direct_result > 0, "publish", "mounted nothing");
	return direct_result;
}

int direct_unmount(const char *target, const char *root_dir, struct failure *reterr)
{
	return direct("unmount", "-", target, root_dir, reterr);
}

/* ---- running ---- */

int run_with(const struct answer *list, size_t count, const char *words)
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
