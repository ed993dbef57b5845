/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oci_hook - podvol-oci-hook: an OCI runtime calls it for containers of podvold's pods
 *
 * As createRuntime hook it waits until the volumes of the pod that annotation podvol.io/pod names
 * are mounted, posts the hold of the container's first process and checks that the container was
 * given the volumes. As poststop hook it releases holds whose process is gone: podvold does so by
 * itself, but maybe not before the runtime says that the container is deleted. Which of the two it
 * is follows from the state on standard input. It mounts nothing, and leaves containers without the
 * annotation alone. See podvol-oci-hook(8).
 */
#include "hook/hook.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <syslog.h>

enum {
	WAIT_MSEC = 90000, /* for the volumes, without annotation podvol.io/wait */
	ANSWER_MSEC =
		20000, /* for each other answer of podvold, and for the mounts to be looked up */
	SENTENCE_BYTES = 1024,
};

void hook_fail(const char *format, ...)
{
	char text[SENTENCE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* Names come from annotations: one sentence is one line. */
	for (char *at = text; *at; at++)
		if (iscntrl((unsigned char) *at))
			*at = '?';
	(void) fprintf(stderr, "podvol-oci-hook: %s\n", text);
	openlog("podvol-oci-hook", LOG_PID, LOG_DAEMON);
	syslog(LOG_ERR, "%s", text);
	exit(EXIT_FAILURE);
}

static void on_alarm(int number)
{
	static const char text[] = "podvol-oci-hook: podvold, or a mount, did not answer in time\n";

	(void) !write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILURE);
}

struct podvol_object *hook_read_object(int fd, const char *what)
{
	cleanup_free char *text = malloc(HOOK_INPUT_BYTES_MAX + 1);
	struct podvol_object *object = NULL;
	size_t length = 0;
	ssize_t bytes = 1;

	if (!text)
		hook_fail("out of memory");
	while (bytes > 0 && length <= HOOK_INPUT_BYTES_MAX) {
		bytes = read(fd, text + length, HOOK_INPUT_BYTES_MAX + 1 - length);
		if (bytes < 0 && errno == EINTR)
			bytes = 1;
		else if (bytes < 0)
			hook_fail("cannot read %s: %s", what, strerror(errno));
		else
			length += (size_t) bytes;
	}
	if (length > HOOK_INPUT_BYTES_MAX)
		hook_fail("%s has more than %d bytes", what, HOOK_INPUT_BYTES_MAX);
	if (podvol_object_parse(text, length, &object) < 0)
		hook_fail("%s is not a JSON object", what);
	return object;
}

/* "" when there is none. */
static const char *annotation(const struct hook *hook, const char *name)
{
	char field[128];

	(void) snprintf(field, sizeof(field), "annotations['%s']", name);
	return podvol_object_text(hook->state, field);
}

static unsigned int wait_limit(const struct hook *hook)
{
	const char *text = annotation(hook, "podvol.io/wait");
	uint64_t usec;

	if (*text == '\0')
		return WAIT_MSEC;
	if (duration_parse(text, &usec) < 0 || usec / USEC_PER_MSEC > INT_MAX - ANSWER_MSEC)
		hook_fail("annotation podvol.io/wait: '%s' is not a duration such as 90s or 5m",
			  text);
	return (unsigned int) (usec / USEC_PER_MSEC);
}

/* ---- createRuntime ---- */

static void fail_about_pod(const struct hook *hook, const char *what)
{
	hook_fail("pod '%s': %s: %s", hook->pod, what, podvol_error(hook->podvol));
}

/* Pieces of a path, with the pod's namespace and name escaped between them. Freed with free(). */
static char *pod_path(const struct hook *hook, const char *before, const char *between,
		      const char *after)
{
	const char *slash = strchr(hook->pod, '/');
	cleanup_free char *plain = NULL, *name_space = NULL, *name = NULL;
	char *path = NULL;

	if (!slash || slash == hook->pod || slash[1] == '\0' || strchr(slash + 1, '/'))
		hook_fail("annotation podvol.io/pod: '%s' is not NAMESPACE/NAME", hook->pod);
	plain = strndup(hook->pod, (size_t) (slash - hook->pod));
	name_space = podvol_escape(plain);
	name = podvol_escape(slash + 1);
	if (!name_space || !name ||
	    asprintf(&path, "%s%s%s%s%s", before, name_space, between, name, after) < 0)
		hook_fail("out of memory");
	return path;
}

/* The pod as podvold has it; asked for at once, so that an unknown one is not waited for. */
static struct podvol_object *get_pod(const struct hook *hook)
{
	cleanup_free char *path = pod_path(hook, "/api/v1/namespaces/", "/pods/", "");
	struct podvol_object *object = NULL;

	if (podvol_object_get(hook->podvol, path, &object) < 0)
		fail_about_pod(hook, "cannot be looked up");
	return object;
}

/* The name that the container has in the pod: CRI runtimes know it, others are given it where the
 * pod leaves a choice. Borrowed from state or pod. */
static const char *container_name(const struct hook *hook, struct podvol_object *pod)
{
	const char *name = annotation(hook, "podvol.io/container");

	if (*name == '\0')
		name = annotation(hook, "io.kubernetes.container.name");
	if (*name == '\0' && podvol_object_count(pod, "spec.containers") == 1 &&
	    podvol_object_count(pod, "spec.initContainers") == 0)
		name = podvol_object_text(pod, "spec.containers[0].name");
	if (*name == '\0')
		hook_fail("pod '%s' has several containers: name this one in annotation "
			  "podvol.io/container",
			  hook->pod);
	return name;
}

/* The pid may be another process's by the time podvold looks it up: the descriptor is of the one
 * that the runtime meant. */
static void post_hold(const struct hook *hook, const char *container)
{
	const struct podvol_hold hold = { .container = container, .pid = hook->pid };
	struct pollfd end = { .fd = hook->pid_fd, .events = POLLIN };
	cleanup_free char *id = NULL;

	if (podvol_hold_add(hook->podvol, hook->pod, &hold, &id) < 0)
		fail_about_pod(hook, "podvold refuses the hold");
	if (poll(&end, 1, 0) == 0)
		return;
	(void) podvol_hold_remove(hook->podvol, hook->pod, id);
	hook_fail("pod '%s': process %d of the container has ended", hook->pod, hook->pid);
}

/* As JSON, so that the text "7" is not taken for the number. */
static int read_pid(const struct hook *hook)
{
	const char *text = podvol_object_json(hook->state, "pid");
	char *end;
	long pid;

	if (*text == '\0')
		hook_fail("the container's state on standard input has no pid");
	pid = strtol(text, &end, 10);
	if (*end != '\0' || pid <= 0 || pid > INT_MAX)
		hook_fail("the container's state on standard input: pid: must be the number of a "
			  "process, and is %.40s",
			  text);
	return (int) pid;
}

/* Held before the mounts are looked at: what is right then stays so. When the start fails the
 * runtime ends the process, and with it the hold. */
static void create_runtime(struct hook *hook)
{
	unsigned int limit = wait_limit(hook);
	struct podvol_table *volumes = NULL;
	struct podvol_object *pod;

	(void) alarm((limit + ANSWER_MSEC) / 1000);
	hook->pid = read_pid(hook);
	hook->pid_fd = pidfd_open(hook->pid, 0);
	if (hook->pid_fd < 0)
		hook_fail("process %d of the container: %s", hook->pid, strerror(errno));
	pod = get_pod(hook);
	if (podvol_pod_mount(hook->podvol, hook->pod, limit, &volumes) < 0)
		fail_about_pod(hook, "its volumes are not mounted");
	post_hold(hook, container_name(hook, pod));
	bound_mounts_check(hook, volumes);
	podvol_table_free(volumes);
	podvol_object_free(pod);
	(void) close(hook->pid_fd);
}

/* ---- poststop ---- */

static int get_holds(const struct hook *hook, struct podvol_table **ret)
{
	cleanup_free char *path = pod_path(hook, "/podvol/v1/pods/", "/", "/holds");
	const struct podvol_request request = {
		.method = "GET",
		.path = path,
		.accept = "application/json;as=Table;v=v1;g=meta.k8s.io",
		.timeout_msec = ANSWER_MSEC / 2
	};
	struct podvol_reply reply = { 0 };
	int r;

	r = podvol_request(hook->podvol, &request, &reply);
	if (r == 0)
		r = podvol_table_parse(reply.body, reply.length, ret);
	podvol_reply_done(&reply);
	return r;
}

static bool is_gone(const char *pid)
{
	long number = strtol(pid, NULL, 10);

	return number > 0 && number <= INT_MAX && kill((pid_t) number, 0) < 0 && errno == ESRCH;
}

size_t hook_find_column(const struct podvol_table *table, const char *name)
{
	size_t column = 0;

	if (podvol_table_column(table, name, &column) < 0)
		hook_fail("podvold lists no column '%s': it is of another version", name);
	return column;
}

/* Without podvold, or when it knows no such pod, nothing is left to do: the next start of podvold
 * ends the holds of processes that are gone. */
static void poststop(const struct hook *hook)
{
	struct podvol_table *holds = NULL;
	int r;

	(void) alarm(ANSWER_MSEC / 1000);
	r = get_holds(hook, &holds);
	if (r < 0 && r != -ENOENT && r != -ECONNREFUSED && r != -EAGAIN)
		fail_about_pod(hook, "cannot list its holds");
	for (size_t i = 0; i < podvol_table_rows(holds); i++) {
		const char *id = podvol_table_cell(holds, i, hook_find_column(holds, "ID"));

		if (!is_gone(podvol_table_cell(holds, i, hook_find_column(holds, "PID"))))
			continue;
		r = podvol_hold_remove(hook->podvol, hook->pod, id);
		if (r < 0 && r != -ENOENT)
			fail_about_pod(hook, "cannot release its hold");
	}
	podvol_table_free(holds);
}

int main(int argc, char **argv)
{
	struct hook hook = { .podvol = NULL };

	if (argc > 1)
		hook_fail(
			"'%s': it takes no arguments, but the container's state on standard input; "
			"see podvol-oci-hook(8)",
			argv[1]);
	(void) signal(SIGPIPE, SIG_IGN);
	(void) signal(SIGALRM, on_alarm);
	(void) alarm(ANSWER_MSEC / 1000);
	hook.state = hook_read_object(STDIN_FILENO, "the container's state on standard input");
	hook.pod = annotation(&hook, "podvol.io/pod");
	if (*hook.pod != '\0') {
		if (podvol_connect(NULL, &hook.podvol) < 0)
			hook_fail("PODVOL_SOCKET is not the path of a socket");
		if (strcmp(podvol_object_text(hook.state, "status"), "stopped") == 0)
			poststop(&hook);
		else
			create_runtime(&hook);
	}
	podvol_free(hook.podvol);
	podvol_object_free(hook.state);
	return EXIT_SUCCESS;
}
