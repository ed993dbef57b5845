/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini-kubelet - runs the pods that podvold knows, with their volumes, by crun
 *
 *   mini-kubelet -i IMAGES -s STATE [-k SOCKET] [-H HOOK] [-o CRUN-OPTION]...
 *
 * An image is a directory below IMAGES. Each container is started by a process of its own, so that
 * one whose volumes cannot be mounted holds up no other: it waits for the volumes and has crun run
 * the container; podvol-oci-hook tells podvold who holds the volumes. Killed at any point and
 * started again, this program goes on: what it must know is in STATE, in crun and in podvold.
 * It shows how podvol.h is used; it restarts no container and has no network. Build it with:
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
#include <unistd.h>

enum { CONTAINERS_MAX = 1024, WORDS_MAX = 32, PATH_BYTES = 1024, MOUNT_MSEC = 60000 };

struct container {
	char id[128];  /* "<pod uid>-<name>": crun's name for it */
	char pod[512]; /* "namespace/name"; "" for what was left over */
	size_t index;  /* in spec.containers */
	pid_t starter; /* 0: none runs */
	int pidfd;     /* -1: not running, as far as we know */
	bool is_wanted, is_started;
};

static struct container containers[CONTAINERS_MAX];
static size_t container_count;
static const char *images, *state, *socket_path, *hook = "/usr/libexec/podvol-oci-hook";
static const char *crun_words[WORDS_MAX] = { "crun" };
static size_t crun_word_count = 1;
static struct podvol *podvol;
static sigset_t unblocked; /* the signals' mask that this program was started with */

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

/* What crun says: status ("" when it knows no such container) and pid of the first process. */
static void look_at(const struct container *container, char status[32], int *pid)
{
	struct podvol_object *object = NULL;
	FILE *file = tmpfile();
	char text[16384];

	*status = '\0';
	*pid = 0;
	if (file && crun(file, (const char *const[]){ "state", container->id, NULL })) {
		rewind(file);
		(void) podvol_object_parse(text, fread(text, 1, sizeof(text), file), &object);
		(void) snprintf(status, 32, "%s", podvol_object_text(object, "status"));
		*pid = atoi(podvol_object_text(object, "pid"));
		podvol_object_free(object);
	}
	if (file)
		(void) fclose(file);
}

/* ---- a container is started, in a process of its own ---- */

static void pod_path(const struct container *container, const char *end, char ret[PATH_BYTES])
{
	const char *slash = strchr(container->pod, '/');

	(void) snprintf(ret, PATH_BYTES, "/api/v1/namespaces/%.*s/pods/%s%s",
			(int) (slash - container->pod), container->pod, slash + 1, end);
}

/* The container's bundle, with its configuration and nothing else. */
static void bundle_path(const struct container *container, const char *end, char ret[PATH_BYTES])
{
	(void) snprintf(ret, PATH_BYTES, "%s/%s%s", state, container->id, end);
}

/* The elements of one list in another; @before is written first when there are any. */
static void print_elements(FILE *file, const char *before, const char *list)
{
	size_t length = strlen(list);

	if (length > 2)
		(void) fprintf(file, "%s%.*s", before, (int) (length - 2), list + 1);
}

/* The hold is posted before a process of the container looks at a volume, and ends with it. */
static void print_hooks(FILE *file, const struct container *container)
{
	(void) fprintf(file,
		       ",\"annotations\":{\"podvol.io/pod\":\"%s\",\"podvol.io/container\":\"%s\","
		       "\"run.oci.hooks.stderr\":\"/dev/stderr\"},\"hooks\":{\"createRuntime\":"
		       "[{\"path\":\"%s\",\"env\":[\"PODVOL_SOCKET=%s\"]}]}",
		       container->pod, container->id + 37, hook, podvol_socket(podvol));
}

/* What podvold says is to be mounted, in a runtime configuration that has what crun must have. */
static bool write_config(const struct container *container, struct podvol_object *pod,
			 struct podvol_object *plan)
{
	char path[PATH_BYTES], field[64];
	FILE *file;

	bundle_path(container, "", path);
	(void) mkdir(path, 0700);
	bundle_path(container, "/config.json", path);
	file = fopen(path, "we");
	if (!file)
		return false;
#define JSON(member)                                                                               \
	(snprintf(field, sizeof(field), "spec.containers[%zu]." member, container->index),         \
	 podvol_object_json(pod, field))
	(void) fputs("{\"ociVersion\":\"1.0.0\",\"process\":{\"cwd\":\"/\",\"args\":[", file);
	print_elements(file, "", JSON("command"));
	print_elements(file, podvol_object_count(pod, field) > 0 ? "," : "", JSON("args"));
	(void) fprintf(file,
		       "],\"env\":[\"PATH=/bin\"],\"user\":{\"uid\":0,\"gid\":0}},"
		       "\"root\":{\"readonly\":true,\"path\":\"%s/%s},\"mounts\":["
		       "{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"},"
		       "{\"destination\":\"/dev\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"}",
		       images, JSON("image") + 1);
#undef JSON
	print_elements(file, ",", podvol_object_json(plan, "mounts"));
	(void) fputs("],\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"mount\"}],"
		     "\"devices\":[",
		     file);
	print_elements(file, "", podvol_object_json(plan, "linux.devices"));
	(void) fputs("]}", file);
	print_hooks(file, container);
	(void) fputs("}", file);
	return fclose(file) == 0;
}

static bool run(const struct container *container, struct podvol_object *pod)
{
	struct podvol_object *plan = NULL;
	struct podvol_reply reply = { 0 };
	char bundle[PATH_BYTES];
	bool done = false;

	bundle_path(container, "", bundle);
	if (podvol_container_mounts_as(podvol, container->pod, container->id + 37, "oci",
				       MOUNT_MSEC, &reply) == 0 &&
	    podvol_object_parse(reply.body, reply.length, &plan) == 0)
		done = write_config(container, pod, plan) &&
		       crun(stderr, (const char *const[]){ "run", "--detach", "--bundle", bundle,
							   container->id, NULL });
	podvol_object_free(plan);
	podvol_reply_done(&reply);
	return done;
}

/* What a kill left of it is taken on from there. */
static bool start(const struct container *container, struct podvol_object *pod)
{
	char status[32];
	int pid;

	look_at(container, status, &pid);
	if (*status == '\0')
		return run(container, pod);
	return strcmp(status, "created") != 0 ||
	       crun(stderr, (const char *const[]){ "start", container->id, NULL });
}

/* Tries until it is done or killed; ends with the program, for the next one begins again. */
static void start_and_exit(const struct container *container)
{
	struct podvol_object *pod = NULL;
	char path[PATH_BYTES];

	(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
	pod_path(container, "", path);
	if (podvol_connect(socket_path, &podvol) < 0)
		_exit(1);
	while (podvol_object_get(podvol, path, &pod) < 0 || !start(container, pod)) {
		warnx("container '%s': %s", container->id,
		      *podvol_error(podvol) ? podvol_error(podvol) : "crun did not start it");
		podvol_object_free(pod);
		pod = NULL;
		(void) poll(NULL, 0, 1000);
	}
	_exit(0);
}

static struct container *find(const char *id)
{
	for (size_t i = 0; i < container_count; i++)
		if (strcmp(containers[i].id, id) == 0)
			return &containers[i];
	return NULL;
}

static struct container *add(const char *id)
{
	struct container *container = find(id);

	if (container || container_count == CONTAINERS_MAX)
		return container;
	container = &containers[container_count++];
	*container = (struct container){ .pidfd = -1 };
	(void) snprintf(container->id, sizeof(container->id), "%s", id);
	return container;
}

/* The volumes may go: podvold takes them down when a pod has succeeded. False: no answer. */
static bool report_succeeded(const struct container *last)
{
	static const char body[] = "{\"status\":{\"phase\":\"Succeeded\"}}";
	struct podvol_request request = { .method = "PATCH",
					  .content_type = "application/merge-patch+json",
					  .body = body,
					  .body_length = sizeof(body) - 1 };
	char path[PATH_BYTES];

	for (size_t i = 0; i < container_count; i++)
		if (strncmp(containers[i].id, last->id, 37) == 0 && &containers[i] != last)
			return true;
	pod_path(last, "/status", path);
	request.path = path;
	return podvol_request(podvol, &request, NULL) == 0 || podvol_status(podvol) != 0;
}

/* With its last process the hold ends by itself. */
static void forget(struct container *container)
{
	char path[PATH_BYTES];

	if (container->starter > 0) {
		(void) kill(container->starter, SIGKILL);
		(void) waitpid(container->starter, NULL, 0);
	}
	(void) crun(stderr, (const char *const[]){ "delete", "--force", container->id, NULL });
	bundle_path(container, "/config.json", path);
	(void) unlink(path);
	bundle_path(container, "", path);
	(void) rmdir(path);
	if (container->pidfd >= 0)
		(void) close(container->pidfd);
	*container = containers[--container_count];
}

/* What comes next for a container. Return: false when it left the table. */
static bool advance(struct container *container)
{
	struct pollfd end = { .fd = container->pidfd, .events = POLLIN };
	char status[32];
	int pid;

	if (container->starter > 0 && waitpid(container->starter, NULL, WNOHANG) > 0) {
		container->starter = 0;
		container->is_started = true;
		look_at(container, status, &pid);
		if (strcmp(status, "running") == 0)
			container->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
	}
	if (container->pidfd >= 0 && poll(&end, 1, 0) > 0) {
		(void) close(container->pidfd);
		container->pidfd = -1;
	}
	if (container->is_wanted && container->is_started && container->pidfd < 0)
		container->is_wanted = !report_succeeded(container);
	if (!container->is_wanted) {
		forget(container);
		return false;
	}
	if (!container->is_started && container->starter == 0) {
		container->starter = fork();
		if (container->starter == 0)
			start_and_exit(container);
	}
	return true;
}

/* @at: "" for a pod, "items[3]." for one of a list. */
static void take_in(struct podvol_object *object, const char *at, bool is_wanted)
{
	char field[128], id[128];
	struct container *container;
	size_t count;

#define TEXT(...) (snprintf(field, sizeof(field), __VA_ARGS__), podvol_object_text(object, field))
	is_wanted = is_wanted && *TEXT("%smetadata.deletionTimestamp", at) == '\0' &&
		    strcmp(TEXT("%sstatus.phase", at), "Succeeded") != 0;
	(void) snprintf(field, sizeof(field), "%sspec.containers", at);
	count = podvol_object_count(object, field);
	for (size_t i = 0; i < count; i++) {
		(void) snprintf(id, sizeof(id), "%.36s-", TEXT("%smetadata.uid", at));
		(void) strncat(id, TEXT("%sspec.containers[%zu].name", at, i), 63);
		container = is_wanted ? add(id) : find(id);
		if (!container)
			continue;
		container->is_wanted = is_wanted;
		container->index = i;
		(void) snprintf(container->pod, 256, "%s/", TEXT("%smetadata.namespace", at));
		(void) strncat(container->pod, TEXT("%smetadata.name", at), 253);
	}
#undef TEXT
}

/* All there is: containers of pods that are not in it, and bundles of those that an earlier run of
 * this program started, are not wanted. */
static void take_in_list(struct podvol_object *object)
{
	DIR *directory = opendir(state);
	const struct dirent *entry;
	char text[128];

	for (size_t i = 0; i < container_count; i++)
		containers[i].is_wanted = false;
	while (directory && (entry = readdir(directory)))
		if (sscanf(entry->d_name, "%127[^.]", text) == 1 && strlen(text) > 37)
			(void) add(text);
	(void) (directory && closedir(directory));
	for (size_t i = 0; i < podvol_object_count(object, "items"); i++) {
		(void) snprintf(text, sizeof(text), "items[%zu].", i);
		take_in(object, text, true);
	}
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

/* Until podvold has something to tell, a container ends, or a starter does (SIGCHLD). */
static void wait_for_something(const struct podvol_watch *watch)
{
	struct pollfd fds[1 + CONTAINERS_MAX];

	fds[0] = (struct pollfd){ .fd = podvol_watch_fd(watch), .events = POLLIN };
	for (size_t i = 0; i < container_count; i++)
		fds[1 + i] = (struct pollfd){ .fd = containers[i].pidfd, .events = POLLIN };
	(void) ppoll(fds, 1 + container_count, NULL, &unblocked);
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
		errx(2, "usage: mini-kubelet -i IMAGES -s STATE [-k SOCKET] [-H HOOK] "
			"[-o CRUN-OPTION]...");
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
	if (podvol_connect(socket_path, &podvol) < 0 ||
	    podvol_watch_open(podvol, &request, &watch) < 0)
		errx(1, "cannot begin: out of memory, or no path of a socket");
	while (podvol_watch_process(watch) == 0) {
		for (size_t i = 0; i < container_count;)
			i += advance(&containers[i]);
		wait_for_something(watch);
	}
	errx(1, "%s", podvol_watch_error(watch));
}
