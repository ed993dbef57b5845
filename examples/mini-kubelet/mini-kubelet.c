/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini-kubelet - runs the pods that podvold knows, with their volumes, by crun
 *
 *   mini-kubelet -i IMAGES -s STATE [-k SOCKET] [-H HOOK] [-o CRUN-OPTION]...
 *
 * An image is a directory below IMAGES. Each container is started by a process of its own, so that
 * one whose volumes cannot be mounted holds up no other; podvol-oci-hook tells podvold who holds
 * the volumes. Status goes through podvold, in a cluster to its server; a pod that is being deleted
 * is deleted there when its containers ended and its volumes are unmounted. Killed at any point and
 * started again, this program goes on: what it must know is in STATE, crun and podvold, but for the
 * exit code of what ended meanwhile. It restarts no container and has no network. Build it with:
 *   cc -D_GNU_SOURCE mini-kubelet.c -o mini-kubelet $(pkg-config --cflags --libs podvol)
 */
#include <dirent.h>
#include <err.h>
#include <poll.h>
#include <podvol.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTAINERS_MAX = 16, POLLED_MAX = 4096, WORDS_MAX = 32, PATH_BYTES = 1024 };
enum { STATUS_BYTES = 16384, TIME_BYTES = 40, EXIT_UNKNOWN = 137 };
enum { MOUNT_MSEC = 60000, AGAIN_MSEC = 1000 };

enum stage { CONTAINER_NEW, CONTAINER_STARTING, CONTAINER_RUNNING, CONTAINER_ENDED };

struct container {
	char id[128];    /* "<pod uid>-<name>": crun's name for it */
	char image[128]; /* as spec has it */
	enum stage stage;
	pid_t starter, pid;
	int pidfd, exit_code; /* pidfd -1: it does not run, as far as we know */
	bool is_asked_to_end;
	char ended_at[TIME_BYTES];
};

struct pod {
	struct pod *next;
	char uid[40], name[512]; /* "namespace/name" */
	struct container containers[CONTAINERS_MAX];
	size_t container_count;
	bool is_there, is_deleting, is_final, is_unmounted; /* as podvold says */
	bool has_ended;
	const char *phase;
	long grace_msec, kill_at, again_at;               /* 0: not now */
	struct podvol_call *call;                         /* at most one */
	char reported[STATUS_BYTES], asked[STATUS_BYTES]; /* status that was written, is being */
};

static struct pod *pods;
static const char *images, *state, *socket_path, *hook = "/usr/libexec/podvol-oci-hook";
static const char *crun_words[WORDS_MAX] = { "crun" };
static size_t crun_word_count = 1;
static struct podvol *podvol;
static sigset_t unblocked; /* the signals' mask that this program was started with */

static long now_msec(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* "crun OPTIONS WORDS...", its output to @output. True: it exited with 0. */
static bool crun(FILE *output, const char *const *words)
{
	const char *argv[WORDS_MAX * 2];
	int status, child;

	memcpy(argv, crun_words, sizeof(crun_words));
	for (size_t i = 0; i == 0 || words[i - 1]; i++)
		argv[crun_word_count + i] = words[i];
	child = fork();
	if (child == 0) {
		(void) sigprocmask(SIG_SETMASK, &unblocked, NULL);
		(void) dup2(fileno(output), STDOUT_FILENO);
		(void) dup2(fileno(output), STDERR_FILENO);
		(void) execvp("crun", (char *const *) argv);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

#define CRUN(output, ...) crun(output, (const char *const[]){ __VA_ARGS__, NULL })
/* Of its configuration and the pid of its first process. Valid until the third next call. */
static const char *bundle(const char *id, const char *end)
{
	static char paths[3][PATH_BYTES];
	static size_t next;
	char *path = paths[next++ % 3];

	(void) snprintf(path, PATH_BYTES, "%s/%s%s", state, id, end);
	return path;
}

/* What crun says, valid until the next call; "" when it knows no such container. */
static const char *status_of(const struct container *container)
{
	struct podvol_object *object = NULL;
	static char text[16384], status[32];
	FILE *file = tmpfile();

	*status = '\0';
	if (file && CRUN(file, "state", container->id)) {
		rewind(file);
		(void) podvol_object_parse(text, fread(text, 1, sizeof(text), file), &object);
		(void) snprintf(status, 32, "%s", podvol_object_text(object, "status"));
		podvol_object_free(object);
	}
	(void) (file && fclose(file));
	return status;
}

static const char *pod_path(const struct pod *pod, const char *end)
{
	static char path[PATH_BYTES];
	const char *slash = strchr(pod->name, '/');

	(void) snprintf(path, PATH_BYTES, "/api/v1/namespaces/%.*s/pods/%s%s",
			(int) (slash - pod->name), pod->name, slash + 1, end);
	return path;
}

/* The elements of one list in another; @before is written first when there are any. */
static void print_elements(FILE *file, const char *before, const char *list)
{
	size_t length = strlen(list);

	if (length > 2)
		(void) fprintf(file, "%s%.*s", before, (int) (length - 2), list + 1);
}

/* What podvold says is to be mounted, and what crun must have; the hook posts the hold. */
static bool write_config(const struct pod *pod, const struct container *container,
			 struct podvol_object *object, struct podvol_object *plan)
{
	const char *devices = podvol_object_json(plan, "linux.devices");
	char field[64];
	FILE *file;

	(void) mkdir(bundle(container->id, ""), 0700);
	file = fopen(bundle(container->id, "/config.json"), "we");
	if (!file)
		return false;
#define JSON(member)                                                                               \
	(sprintf(field, "spec.containers[%td]." member, container - pod->containers),              \
	 podvol_object_json(object, field))
	(void) fputs("{\"ociVersion\":\"1.0.0\",\"process\":{\"cwd\":\"/\",\"args\":[", file);
	print_elements(file, "", JSON("command"));
	print_elements(file, podvol_object_count(object, field) > 0 ? "," : "", JSON("args"));
#undef JSON
	(void) fprintf(file,
		       "],\"env\":[\"PATH=/bin\"],\"user\":{\"uid\":0,\"gid\":0}},"
		       "\"root\":{\"readonly\":true,\"path\":\"%s/%s},\"mounts\":["
		       "{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"},"
		       "{\"destination\":\"/dev\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"}",
		       images, container->image + 1);
	print_elements(file, ",", podvol_object_json(plan, "mounts"));
	(void) fprintf(
		file,
		"],\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"mount\"}],"
		"\"devices\":%s},\"annotations\":{\"podvol.io/pod\":\"%s\","
		"\"podvol.io/container\":\"%s\",\"run.oci.hooks.stderr\":\"/dev/stderr\"},"
		"\"hooks\":{\"createRuntime\":[{\"path\":\"%s\",\"env\":[\"PODVOL_SOCKET=%s\"]}]}}",
		*devices ? devices : "[]", pod->name, container->id + 37, hook,
		podvol_socket(podvol));
	return fclose(file) == 0;
}

/* Of its first process, as crun wrote it; 0: not known. */
static pid_t read_pid(const char *id)
{
	FILE *file = fopen(bundle(id, "/pid"), "re");
	pid_t pid = 0;

	(void) (file && fscanf(file, "%d", &pid));
	(void) (file && fclose(file));
	return pid;
}

/* Until the container is our child, its parent is a process of crun that outlives "crun create".
 * That is waited for, also when it ended before it was looked for. */
static bool wait_for_parent(pid_t container)
{
	const int unreaped = WEXITED | WNOHANG | WNOWAIT;
	siginfo_t ended = { 0 };

	while (waitid(P_PID, (id_t) container, NULL, unreaped) < 0)
		if (wait(NULL) < 0)
			return false;
	while (waitid(P_ALL, 0, &ended, unreaped) == 0 && ended.si_pid > 0 &&
	       ended.si_pid != container)
		(void) waitpid(ended.si_pid, NULL, 0);
	return true;
}

static bool create(const struct pod *pod, const struct container *container,
		   struct podvol_object *object)
{
	struct podvol_object *plan = NULL;
	struct podvol_reply reply = { 0 };
	bool done = podvol_container_mounts_as(podvol, pod->name, container->id + 37, "oci",
					       MOUNT_MSEC, &reply) == 0 &&
		    podvol_object_parse(reply.body, reply.length, &plan) == 0 &&
		    write_config(pod, container, object, plan) &&
		    CRUN(stderr, "create", "--bundle", bundle(container->id, ""), "--pid-file",
			 bundle(container->id, "/pid"), container->id) &&
		    wait_for_parent(read_pid(container->id));

	podvol_object_free(plan);
	podvol_reply_done(&reply);
	return done;
}

/* What a kill left of it is taken on from there. */
static bool start(const struct pod *pod, struct container *container, struct podvol_object *object)
{
	if (*status_of(container) == '\0' && !create(pod, container, object))
		return false;
	return strcmp(status_of(container), "created") != 0 || CRUN(stderr, "start", container->id);
}

/* Tries until it is done or killed; ends with the program, for the next one begins again. */
static void start_and_exit(const struct pod *pod, struct container *container)
{
	struct podvol_object *object = NULL;

	(void) setpgid(0, 0);
	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void) prctl(PR_SET_CHILD_SUBREAPER, 1); /* of the container, then its parent is */
	if (podvol_connect(socket_path, &podvol) < 0)
		_exit(1);
	while (podvol_object_get(podvol, pod_path(pod, ""), &object) < 0 ||
	       !start(pod, container, object)) {
		warnx("container '%s': %s", container->id,
		      *podvol_error(podvol) ? podvol_error(podvol) : "crun did not start it");
		podvol_object_free(object);
		object = NULL;
		(void) poll(NULL, 0, 1000);
	}
	_exit(0);
}

/* With its last process the hold ends by itself. */
static void discard(const char *id)
{
	(void) CRUN(stderr, "delete", "--force", id);
	(void) remove(bundle(id, "/config.json"));
	(void) remove(bundle(id, "/pid"));
	(void) remove(bundle(id, ""));
}

/* It is a child of this program, unless that was started again. */
static void end(struct container *container)
{
	time_t now = time(NULL);
	int status;

	if (container->pidfd >= 0)
		(void) close(container->pidfd);
	container->pidfd = -1;
	container->stage = CONTAINER_ENDED;
	container->exit_code = EXIT_UNKNOWN;
	(void) strftime(container->ended_at, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	if (container->pid > 0 && waitpid(container->pid, &status, WNOHANG) == container->pid)
		container->exit_code =
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* It was started, or may have been by this program before. */
static void take_on(struct container *container)
{
	container->pid = read_pid(container->id);
	if (strcmp(status_of(container), "running") == 0)
		container->pidfd = (int) syscall(SYS_pidfd_open, container->pid, 0);
	container->stage = CONTAINER_RUNNING;
	if (container->pidfd < 0)
		end(container);
}

static void stop(const struct pod *pod, struct container *container)
{
	bool is_late = pod->kill_at > 0 && now_msec() >= pod->kill_at;

	if (container->stage == CONTAINER_STARTING) {
		if (kill(-container->starter, SIGKILL) < 0)
			(void) kill(container->starter, SIGKILL);
		(void) waitpid(container->starter, NULL, 0);
	}
	if (container->stage < CONTAINER_RUNNING)
		take_on(container);
	else if (is_late || !container->is_asked_to_end)
		container->is_asked_to_end =
			CRUN(stderr, "kill", container->id, is_late ? "KILL" : "TERM");
}

static void advance_container(const struct pod *pod, struct container *container)
{
	struct pollfd ended = { .fd = container->pidfd, .events = POLLIN };

	if (container->stage == CONTAINER_RUNNING && poll(&ended, 1, 0) > 0)
		end(container);
	else if (container->stage != CONTAINER_ENDED && pod->kill_at > 0)
		stop(pod, container);
	else if (container->stage == CONTAINER_NEW && (container->starter = fork()) >= 0) {
		container->stage = CONTAINER_STARTING;
		if (container->starter == 0)
			start_and_exit(pod, container);
	} else if (container->stage == CONTAINER_STARTING &&
		   waitpid(container->starter, NULL, WNOHANG) != 0)
		take_on(container);
}

static void print_container(FILE *file, const struct container *container)
{
	(void) fprintf(file,
		       "{\"name\":\"%s\",\"image\":%s,\"imageID\":\"\",\"ready\":%s,"
		       "\"restartCount\":0,\"containerID\":\"crun://%s\",\"state\":",
		       container->id + 37, container->image,
		       container->stage == CONTAINER_RUNNING ? "true" : "false", container->id);
	if (container->stage == CONTAINER_ENDED)
		(void) fprintf(file,
			       "{\"terminated\":{\"exitCode\":%d,\"reason\":\"%s\","
			       "\"finishedAt\":\"%s\"}}}",
			       container->exit_code, container->exit_code ? "Error" : "Completed",
			       container->ended_at);
	else
		(void) fputs(container->stage == CONTAINER_RUNNING ? "{\"running\":{}}}" : "{}}",
			     file);
}

static const char *find_phase(struct pod *pod)
{
	size_t ended = 0, failed = 0, begun = 0;

	for (size_t i = 0; i < pod->container_count; i++) {
		begun += pod->containers[i].stage >= CONTAINER_RUNNING;
		ended += pod->containers[i].stage == CONTAINER_ENDED;
		failed += pod->containers[i].exit_code != 0;
	}
	pod->has_ended = ended == pod->container_count;
	if (pod->has_ended)
		return failed > 0 ? "Failed" : "Succeeded";
	return begun > 0 ? "Running" : "Pending";
}

static void print_status(struct pod *pod)
{
	FILE *file = fmemopen(pod->asked, STATUS_BYTES, "w");

	if (!file)
		return;
	(void) fprintf(file, "{\"status\":{\"phase\":\"%s\",\"containerStatuses\":[", pod->phase);
	for (size_t i = 0; i < pod->container_count; i++) {
		(void) fputs(i > 0 ? "," : "", file);
		print_container(file, &pod->containers[i]);
	}
	(void) fputs("]}}", file);
	(void) fclose(file);
}

static void on_answer(void *userdata, int result, struct podvol_reply *reply)
{
	struct pod *pod = userdata;

	pod->call = NULL;
	/* What was deleted goes from the list when podvold knows it. */
	pod->again_at = result == 0 && !pod->is_unmounted ? 0 : now_msec() + AGAIN_MSEC;
	if (result < 0)
		warnx("pod '%s': %s", pod->name, podvol_error(podvol));
	else if (*pod->asked)
		(void) memcpy(pod->reported, pod->asked, STATUS_BYTES);
	else
		pod->is_unmounted = true;
}

static void ask(struct pod *pod, const struct podvol_request *request)
{
	if (podvol_call(podvol, request, on_answer, pod, &pod->call) < 0)
		pod->again_at = now_msec() + AGAIN_MSEC;
}

static void change(struct pod *pod, const char *method, const char *end, const char *body)
{
	const struct podvol_request request = {
		.method = method,
		.path = pod_path(pod, end),
		.content_type = *end ? "application/merge-patch+json" : NULL,
		.body = body,
		.body_length = strlen(body)
	};

	ask(pod, &request);
}

static void take_down(struct pod *pod)
{
	struct podvol_request *request = NULL;
	char body[128];

	*pod->asked = '\0';
	(void) snprintf(body, sizeof(body),
			"{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"%s\"}}", pod->uid);
	if (pod->is_unmounted)
		change(pod, "DELETE", "", body);
	else if (podvol_pod_wait_request(podvol, pod->uid, PODVOL_UNMOUNTED, MOUNT_MSEC,
					 &request) == 0)
		ask(pod, request);
	podvol_request_free(request);
}

static void forget(struct pod **at)
{
	struct pod *pod = *at;

	for (size_t i = 0; i < pod->container_count; i++)
		discard(pod->containers[i].id);
	podvol_call_cancel(pod->call);
	*at = pod->next;
	free(pod);
}

/* What comes next for a pod. Return: false when it left the list. */
static bool advance(struct pod **at)
{
	struct pod *pod = *at;

	if ((pod->is_deleting || pod->is_final || !pod->is_there) && pod->kill_at == 0)
		pod->kill_at = now_msec() + pod->grace_msec;
	for (size_t i = 0; i < pod->container_count; i++)
		advance_container(pod, &pod->containers[i]);
	pod->phase = find_phase(pod);
	if (pod->has_ended && (!pod->is_there || (pod->is_final && !pod->is_deleting))) {
		forget(at);
		return false;
	}
	if (pod->call || !pod->is_there || now_msec() < pod->again_at)
		return true;
	print_status(pod);
	if (strcmp(pod->asked, pod->reported) != 0)
		change(pod, "PATCH", "/status", pod->asked);
	else if (pod->is_deleting && pod->has_ended)
		take_down(pod);
	return true;
}

static struct pod *find(const char *uid)
{
	for (struct pod *pod = pods; pod; pod = pod->next)
		if (strncmp(pod->uid, uid, 36) == 0)
			return pod;
	return NULL;
}

/* @field[] is overwritten; @at: "" for a pod, "items[3]." for one of a list */
#define TEXT(...) (snprintf(field, sizeof(field), __VA_ARGS__), podvol_object_text(object, field))

static struct pod *add(struct podvol_object *object, const char *at)
{
	struct pod *pod = calloc(1, sizeof(*pod));
	char field[128];
	size_t count;

	if (!pod)
		return NULL;
	(void) snprintf(pod->uid, sizeof(pod->uid), "%.36s", TEXT("%smetadata.uid", at));
	(void) snprintf(pod->name, 256, "%s/", TEXT("%smetadata.namespace", at));
	(void) strncat(pod->name, TEXT("%smetadata.name", at), 253);
	(void) snprintf(field, sizeof(field), "%sspec.containers", at);
	count = podvol_object_count(object, field);
	for (size_t i = 0; i < count && i < CONTAINERS_MAX; i++) {
		struct container *container = &pod->containers[pod->container_count++];

		container->pidfd = -1;
		(void) snprintf(container->id, sizeof(container->id), "%s-%s", pod->uid,
				TEXT("%sspec.containers[%zu].name", at, i));
		(void) TEXT("%sspec.containers[%zu].image", at, i);
		(void) snprintf(container->image, sizeof(container->image), "%s",
				podvol_object_json(object, field));
	}
	pod->next = pods;
	pods = pod;
	return pod;
}

static void take_in(struct podvol_object *object, const char *at, bool is_there)
{
	char field[128];
	struct pod *pod = find(TEXT("%smetadata.uid", at));
	bool is_deleting = *TEXT("%smetadata.deletionTimestamp", at) != '\0';
	const char *phase = TEXT("%sstatus.phase", at);
	bool is_final = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;

	if (!pod && is_there && (is_deleting || !is_final))
		pod = add(object, at);
	if (!pod)
		return;
	pod->is_there = is_there;
	pod->is_deleting = is_deleting;
	pod->is_final = is_final;
	pod->grace_msec = atol(TEXT("%smetadata.deletionGracePeriodSeconds", at)) * 1000;
}
#undef TEXT

/* All there is: other pods are gone, and bundles of other pods are left from an earlier run. */
static void take_in_list(struct podvol_object *object)
{
	const struct dirent *entry;
	DIR *directory;
	char text[128];

	for (struct pod *pod = pods; pod; pod = pod->next)
		pod->is_there = false;
	for (size_t i = 0; i < podvol_object_count(object, "items"); i++) {
		(void) snprintf(text, sizeof(text), "items[%zu].", i);
		take_in(object, text, true);
	}
	directory = opendir(state);
	while (directory && (entry = readdir(directory)))
		if (strlen(entry->d_name) > 37 && !find(entry->d_name))
			discard(entry->d_name);
	(void) (directory && closedir(directory));
}

static void on_change(void *userdata, const struct podvol_event *event)
{
	struct podvol_object *object = NULL;

	if (event->type == PODVOL_INTERRUPTED ||
	    podvol_object_parse(event->object, event->length, &object) < 0)
		return;
	if (event->type == PODVOL_LISTED)
		take_in_list(object);
	else
		take_in(object, "", event->type != PODVOL_DELETED);
	podvol_object_free(object);
}

/* Until podvold has something to tell, a process ends, or it is time to try again. */
static void wait_for_something(const struct podvol_watch *watch)
{
	static struct pollfd fds[POLLED_MAX];
	const struct timespec second = { .tv_sec = 1 };
	bool is_due = false;
	nfds_t count = 2;

	fds[0] = (struct pollfd){ .fd = podvol_watch_fd(watch), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = podvol_fd(podvol), .events = POLLIN };
	for (const struct pod *pod = pods; pod; pod = pod->next) {
		is_due = is_due || pod->again_at > 0 || (pod->kill_at > 0 && !pod->has_ended);
		for (size_t i = 0; i < pod->container_count && count < POLLED_MAX; i++)
			fds[count++] =
				(struct pollfd){ .fd = pod->containers[i].pidfd, .events = POLLIN };
	}
	(void) ppoll(fds, count, is_due ? &second : NULL, &unblocked);
}

static void on_child(int number)
{
}

int main(int argc, char **argv)
{
	struct podvol_watch_request request = { .path = "/api/v1/pods", .changed = on_change };
	struct podvol_watch *watch = NULL;
	static char root[PATH_BYTES];
	sigset_t child;
	int option;

	while ((option = getopt(argc, argv, "i:s:k:H:o:")) != -1) {
		images = option == 'i' ? optarg : images;
		state = option == 's' ? optarg : state;
		socket_path = option == 'k' ? optarg : socket_path;
		hook = option == 'H' ? optarg : hook;
		if (option == 'o' && crun_word_count < WORDS_MAX - 2)
			crun_words[crun_word_count++] = optarg;
	}
	if (!images || !state || optind < argc)
		errx(2, "usage: %s -i IMAGES -s STATE [-k SOCKET] [-H HOOK] [-o OPTION]...", *argv);
	(void) mkdir(state, 0700);
	state = realpath(state, NULL); /* crun runs elsewhere */
	images = realpath(images, NULL);
	if (!images || !state)
		err(1, "cannot find IMAGES or STATE");
	(void) snprintf(root, sizeof(root), "--root=%s/crun", state);
	crun_words[crun_word_count++] = root;
	(void) sigemptyset(&child);
	(void) sigaddset(&child, SIGCHLD);
	(void) sigprocmask(SIG_BLOCK, &child, &unblocked);
	(void) signal(SIGCHLD, on_child);
	(void) prctl(PR_SET_CHILD_SUBREAPER, 1); /* of containers, for their exit codes */
	if (podvol_connect(socket_path, &podvol) < 0 ||
	    podvol_watch_open(podvol, &request, &watch) < 0)
		errx(1, "cannot begin: out of memory, or no path of a socket");
	while (podvol_watch_process(watch) == 0) {
		for (struct pod **at = &pods; *at;)
			at = advance(at) ? &(*at)->next : at;
		wait_for_something(watch);
		(void) podvol_process(podvol);
	}
	errx(1, "%s", podvol_watch_error(watch));
}
