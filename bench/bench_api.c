/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_api - what the node's API costs: requests, lists, watches, memory, at ten thousand pods
 *
 * The real daemon over its unix socket, beside the same library that serves a constant body of the
 * same size: the same client, in turns, in the same run. Only the ratios mean something on another
 * machine. The pods are another node's, so that nothing is mounted. Wants root; works in a mount
 * namespace and a directory of its own.
 *
 * Client and servers share one processor. Where they may use several, the kernel wakes one server
 * on the client's and the other on an idle one, as it likes and for the whole run, and waking an
 * idle processor of a virtual machine takes longer than all that either server does.
 */
#include "bench/bench_api.h"

#include "base/cleanup.h"

#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DESCRIPTORS = 16384,
	TURNS = 5,
	TOGETHER = 8, /* connections of the measurement of requests per second */
	PATH_BYTES = 256,
	SAMPLES_MAX = 8192,
};

/* Nothing is there that it selects, until a pod is made so. */
#define WATCH_PATH   "/api/v1/pods?watch=true&labelSelector=tier%3Dwatched"
#define WATCHED_PATH "/api/v1/namespaces/default/pods/pod-00003"

static char directory[] = "/var/tmp/podvol-bench-api-XXXXXX";
static char podvol_socket[PATH_BYTES], constant_socket[PATH_BYTES], commit_path[PATH_BYTES];
static pid_t podvold, constant;
static unsigned int pod_count = 10000, watch_count = 1000, divisor = 1;

/* ---- the daemon ---- */

static double rss_bytes(void)
{
	char path[PATH_BYTES], line[PATH_BYTES];
	cleanup_fclose FILE *file = NULL;
	double kib = 0;

	(void) snprintf(path, sizeof(path), "/proc/%d/status", podvold);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %lf", &kib) == 1)
			return kib * 1024;
	api_bench_fail("podvold is gone");
}

static void start_daemon(const char *program)
{
	static const char *const places[] = { "root", "state", "run", "manifests" };
	char arguments[ARRAY_SIZE(places)][2 * PATH_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char path[PATH_BYTES];

		(void) snprintf(path, sizeof(path), "%s/%s", directory, places[i]);
		(void) mkdir(path, 0750);
		(void) snprintf(arguments[i], sizeof(arguments[i]), "--%s-dir=%s",
				i == 3 ? "manifest" : places[i], path);
	}
	podvold = fork();
	if (podvold == 0) {
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void) execl(program, program, arguments[0], arguments[1], arguments[2],
			     arguments[3], "--node-name=bench", "--log-level=error",
			     "--connections-max=4096", "--watches-max=2048", "--idle-seconds=3600",
			     (char *) NULL);
		api_bench_fail("cannot run '%s'", program);
	}
}

static int connect_waiting(const char *path)
{
	for (int tries = 0; tries < 500; tries++) {
		int fd = client_connect(path);

		if (fd >= 0)
			return fd;
		(void) poll(NULL, 0, 20);
	}
	api_bench_fail("no server answers on '%s'", path);
}

/* ---- requests ---- */

/* Makes request number @index of a measurement; fills what it points to. */
typedef void make_request(struct client_request *request, unsigned int index);

static char path_buffer[PATH_BYTES], *body_buffer;

static unsigned int some_pod(unsigned int index)
{
	return (unsigned int) (index * 7919ul % pod_count);
}

static void make_get(struct client_request *request, unsigned int index)
{
	(void) snprintf(path_buffer, sizeof(path_buffer),
			"/api/v1/namespaces/default/pods/pod-%05u", some_pod(index));
	*request = (struct client_request){ "GET", path_buffer, NULL, NULL };
}

static void make_list(struct client_request *request, unsigned int index)
{
	*request = (struct client_request){ "GET", "/api/v1/pods", NULL, NULL };
}

static void make_page(struct client_request *request, unsigned int index)
{
	*request = (struct client_request){ "GET", "/api/v1/pods?limit=500", NULL, NULL };
}

static void make_selected(struct client_request *request, unsigned int index)
{
	*request = (struct client_request){ "GET", "/api/v1/pods?labelSelector=tier%3Dt3", NULL,
					    NULL };
}

static void make_create(struct client_request *request, unsigned int index)
{
	free(body_buffer);
	body_buffer = pod_json("new", index);
	*request = (struct client_request){ "POST", "/api/v1/namespaces/default/pods",
					    "application/json", body_buffer };
}

static void make_patch(struct client_request *request, unsigned int index)
{
	free(body_buffer);
	if (asprintf(&body_buffer, "{\"metadata\":{\"annotations\":{\"round\":\"%08u\"}}}", index) <
	    0)
		api_bench_fail("no memory");
	make_get(request, index);
	*request = (struct client_request){ "PATCH", path_buffer, "application/merge-patch+json",
					    body_buffer };
}

/* ---- measuring ---- */

struct figures {
	double p50_usec, p99_usec, most_usec, per_second;
};

struct samples {
	double usec[SAMPLES_MAX];
	size_t count;
	double together_usec; /* of all requests of several connections */
	size_t together;
};

static struct samples ours, theirs, commits;

static int compare(const void *a, const void *b)
{
	double difference = *(const double *) a - *(const double *) b;

	return (difference > 0) - (difference < 0);
}

static void add_sample(struct samples *samples, double usec)
{
	if (samples->count < SAMPLES_MAX)
		samples->usec[samples->count++] = usec;
}

static struct figures figures_of(struct samples *samples)
{
	struct figures figures = { 0 };

	qsort(samples->usec, samples->count, sizeof(double), compare);
	figures.p50_usec = samples->usec[samples->count / 2];
	figures.p99_usec = samples->usec[samples->count * 99 / 100];
	figures.most_usec = samples->usec[samples->count - 1];
	if (samples->together > 0)
		figures.per_second = (double) samples->together * 1e6 / samples->together_usec;
	return figures;
}

static size_t one(int fd, const struct client_request *request, struct samples *samples)
{
	double begun = client_now_usec();
	size_t bytes;

	client_send(fd, request);
	bytes = client_receive(fd, NULL);
	add_sample(samples, client_now_usec() - begun);
	return bytes;
}

/* The same request for the constant body: the method and body as they are, the size as the path. */
static void make_constant(struct client_request *request, size_t bytes)
{
	static char path[32];

	(void) snprintf(path, sizeof(path), "/%zu", bytes);
	request->path = path;
}

/* As many requests at once as there are connections, again and again. */
static void together(const int fds[TOGETHER], struct samples *samples, make_request *make,
		     unsigned int first, unsigned int count, size_t constant_bytes)
{
	double begun = client_now_usec();

	for (unsigned int i = 0; i < count; i += TOGETHER) {
		for (unsigned int j = 0; j < TOGETHER; j++) {
			struct client_request request;

			make(&request, first + i + j);
			if (constant_bytes > 0)
				make_constant(&request, constant_bytes);
			client_send(fds[j], &request);
		}
		for (unsigned int j = 0; j < TOGETHER; j++)
			(void) client_receive(fds[j], NULL);
		samples->together += TOGETHER;
	}
	samples->together_usec += client_now_usec() - begun;
}

static void print_row(const char *name, size_t bytes)
{
	struct figures our = figures_of(&ours), their = figures_of(&theirs);

	(void) printf("%-26s %9zu %9.0f %9.0f %8.0f %9.0f %9.0f %8.0f %7.2f %7.2f", name, bytes,
		      our.p50_usec, our.p99_usec, our.per_second, their.p50_usec, their.p99_usec,
		      their.per_second, our.p50_usec / their.p50_usec,
		      our.p99_usec / their.p99_usec);
	if (our.per_second > 0)
		(void) printf(" %7.2f", their.per_second / our.per_second);
	if (commits.count > 0)
		(void) printf(" %9.0f %9.2f", figures_of(&commits).p50_usec,
			      our.p50_usec / (their.p50_usec + figures_of(&commits).p50_usec));
	(void) putchar('\n');
	(void) fflush(stdout);
}

/* What @writes is compared with the constant body and a bare commit, too. */
static void measure(const char *name, make_request *make, unsigned int count, bool writes)
{
	static unsigned int next; /* no two creations of one name */
	int our_fds[TOGETHER], their_fds[TOGETHER];
	unsigned int of_turn = count / divisor / TURNS / TOGETHER * TOGETHER;
	size_t bytes = 0;

	of_turn = of_turn < TOGETHER ? TOGETHER : of_turn;
	ours = theirs = commits = (struct samples){ .count = 0 };
	for (int i = 0; i < TOGETHER; i++) {
		our_fds[i] = connect_waiting(podvol_socket);
		their_fds[i] = connect_waiting(constant_socket);
	}
	for (int turn = 0; turn < TURNS; turn++, next += of_turn) {
		struct client_request request;

		for (unsigned int i = 0; i < of_turn; i++, next++) {
			make(&request, next);
			bytes = one(our_fds[0], &request, &ours);
			make_constant(&request, bytes);
			(void) one(their_fds[0], &request, &theirs);
			if (writes)
				add_sample(&commits, bare_commit(commit_path, bytes));
		}
		together(our_fds, &ours, make, next, of_turn, 0);
		together(their_fds, &theirs, make, next, of_turn, bytes);
	}
	for (int i = 0; i < TOGETHER; i++) {
		(void) close(our_fds[i]);
		(void) close(their_fds[i]);
	}
	print_row(name, bytes);
}

/* ---- one request beside long answers ---- */

/* Who asks for a long answer again and again, and does not take the processor from who waits. */
static pid_t start_lister(const char *path, const struct client_request *request)
{
	pid_t child = fork();

	if (child == 0) {
		int fd = connect_waiting(path);

		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		client_use_all_processors();
		for (;;) {
			client_send(fd, request);
			(void) client_receive(fd, NULL);
		}
	}
	return child;
}

static size_t get_beside(const char *path, const struct client_request *busy,
			 struct samples *samples, size_t constant_bytes)
{
	pid_t lister = start_lister(path, busy);
	unsigned int count = 1000 / divisor / TURNS;
	int fd = connect_waiting(path);
	size_t bytes = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct client_request request;

		make_get(&request, i);
		if (constant_bytes > 0)
			make_constant(&request, constant_bytes);
		bytes = one(fd, &request, samples);
		(void) poll(NULL, 0, 1);
	}
	(void) close(fd);
	(void) kill(lister, SIGKILL);
	(void) waitpid(lister, NULL, 0);
	return bytes;
}

static void measure_beside_lists(const char *name, const char *path)
{
	struct client_request busy = { "GET", path, NULL, NULL };
	int fd = connect_waiting(podvol_socket);
	size_t bytes = 0, list_bytes;

	ours = theirs = commits = (struct samples){ .count = 0 };
	client_send(fd, &busy);
	list_bytes = client_receive(fd, NULL);
	(void) close(fd);
	for (int turn = 0; turn < TURNS; turn++) {
		struct client_request same = busy;

		bytes = get_beside(podvol_socket, &busy, &ours, 0);
		make_constant(&same, list_bytes);
		same.path = strdup(same.path);
		(void) get_beside(constant_socket, &same, &theirs, bytes);
		free((char *) same.path);
	}
	print_row(name, bytes);
	(void) printf("%-26s longest: %.0f us, beside the constant body %.0f us\n", "",
		      figures_of(&ours).most_usec, figures_of(&theirs).most_usec);
}

/* ---- watches ---- */

static void open_watches(int *fds, unsigned int count, const char *path,
			 const struct client_request *request)
{
	for (unsigned int i = 0; i < count; i++) {
		fds[i] = connect_waiting(path);
		client_send(fds[i], request);
		client_receive_head(fds[i]);
	}
}

static void close_all(const int *fds, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		(void) close(fds[i]);
}

/* From the sending of a change until the last watch has its line. */
static double change_usec(int writer, int epoll, unsigned int count,
			  const struct client_request *change)
{
	double begun = client_now_usec(), taken;

	client_send(writer, change);
	while (count > 0) {
		struct epoll_event events[256];
		int n = epoll_wait(epoll, events, ARRAY_SIZE(events), 10000);

		if (n <= 0)
			api_bench_fail("%u watches do not tell the change by %s", count,
				       change->path);
		for (int i = 0; i < n; i++)
			count -= client_event_is_there(events[i].data.fd) ? 1 : 0;
	}
	taken = client_now_usec() - begun;
	(void) client_receive(writer, NULL);
	return taken;
}

static int epoll_of(const int *fds, unsigned int count)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	for (unsigned int i = 0; i < count; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fds[i] };

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) < 0)
			api_bench_fail("epoll");
	}
	return epoll;
}

/* About the bytes of an event: the object's and the words around it. */
static size_t event_bytes(int fd)
{
	const struct client_request get = { "GET", WATCHED_PATH, NULL, NULL };

	client_send(fd, &get);
	return client_receive(fd, NULL) + strlen("{\"type\":\"MODIFIED\",\"object\":}\n");
}

static void make_change(struct client_request *request, const char *tier, unsigned int round)
{
	free(body_buffer);
	if (asprintf(&body_buffer,
		     "{\"metadata\":{\"labels\":{\"tier\":\"%s\",\"round\":\"r%u\"}}}", tier,
		     round) < 0)
		api_bench_fail("no memory");
	*request = (struct client_request){ "PATCH", WATCHED_PATH, "application/merge-patch+json",
					    body_buffer };
}

static void measure_watches(unsigned int count)
{
	int our_writer = connect_waiting(podvol_socket), our_epoll;
	int their_writer = connect_waiting(constant_socket), their_epoll;
	struct client_request watch = { "GET", WATCH_PATH, NULL, NULL }, change;
	int *fds = calloc(2ul * count, sizeof(*fds));
	size_t bytes = event_bytes(our_writer);
	char text[PATH_BYTES];

	if (!fds)
		api_bench_fail("no memory");
	ours = theirs = commits = (struct samples){ .count = 0 };
	open_watches(fds, count, podvol_socket, &watch);
	(void) snprintf(text, sizeof(text), "/watch/%zu", bytes);
	watch.path = text;
	open_watches(fds + count, count, constant_socket, &watch);
	our_epoll = epoll_of(fds, count);
	their_epoll = epoll_of(fds + count, count);
	for (unsigned int i = 0; i < 100 / divisor + 2; i++) {
		make_change(&change, "watched", i);
		add_sample(&ours, change_usec(our_writer, our_epoll, count, &change));
		change.path = "/change";
		add_sample(&theirs, change_usec(their_writer, their_epoll, count, &change));
		add_sample(&commits, bare_commit(commit_path, bytes));
	}
	(void) snprintf(text, sizeof(text), "a change, %u watches", count);
	print_row(text, bytes);
	make_change(&change, "t3", 0);
	(void) change_usec(our_writer, our_epoll, count, &change);
	close_all(fds, 2 * count);
	close_all((const int[]){ our_writer, their_writer, our_epoll, their_epoll }, 4);
	free(fds);
}

/* ---- memory ---- */

static void print_memory(const char *what, double before)
{
	(void) printf("memory of %s, with %u of them: %.0f bytes\n", what, watch_count,
		      (rss_bytes() - before) / watch_count);
}

/* The watches begin on the connections that were idle before. */
static void measure_connections(void)
{
	const struct client_request request = { "GET", "/livez", NULL, NULL };
	const struct client_request watch = { "GET", WATCH_PATH, NULL, NULL };
	int *fds = calloc(watch_count, sizeof(*fds));
	double before = rss_bytes();

	if (!fds)
		api_bench_fail("no memory");
	for (unsigned int i = 0; i < watch_count; i++) {
		fds[i] = connect_waiting(podvol_socket);
		client_send(fds[i], &request);
		(void) client_receive(fds[i], NULL);
	}
	print_memory("an idle connection", before);
	before = rss_bytes();
	for (unsigned int i = 0; i < watch_count; i++) {
		client_send(fds[i], &watch);
		client_receive_head(fds[i]);
	}
	print_memory("an idle watch, without its connection", before);
	close_all(fds, watch_count);
	free(fds);
}

static void measure_objects(void)
{
	const struct client_request all = { "GET", "/api/v1/pods", NULL, NULL };
	int fd = connect_waiting(podvol_socket);
	double before = rss_bytes(), begun = client_now_usec(), taken;

	pods_store(fd, pod_count);
	taken = client_now_usec() - begun;
	(void) printf("%u pods applied in %.1f s\n", pod_count, taken / 1e6);
	(void) printf("memory of an object: %.0f bytes", (rss_bytes() - before) / pod_count);
	client_send(fd, &all);
	(void) printf(", its JSON %.0f bytes\n", (double) client_receive(fd, NULL) / pod_count);
	(void) close(fd);
}

/* ---- all of it ---- */

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void) remove(path);
	return 0;
}

/* The daemon mounts its root directory on itself and leaves it so. */
static void clean_up(void)
{
	char root[PATH_BYTES];

	if (podvold > 0) {
		(void) kill(podvold, SIGTERM);
		(void) waitpid(podvold, NULL, 0);
	}
	if (constant > 0)
		(void) kill(constant, SIGKILL);
	(void) snprintf(root, sizeof(root), "%s/root", directory);
	(void) umount2(root, MNT_DETACH | UMOUNT_NOFOLLOW);
	(void) nftw(directory, remove_entry, 64, FTW_PHYS | FTW_DEPTH | FTW_MOUNT);
}

static void print_head(void)
{
	(void) printf("%-26s %9s %9s %9s %8s %9s %9s %8s %7s %7s %7s %9s %9s\n", "", "bytes",
		      "p50 us", "p99 us", "per s", "c p50", "c p99", "c per s", "p50/c", "p99/c",
		      "c/per s", "sync p50", "p50/(c+s)");
}

static void measure_all(void)
{
	measure_objects();
	measure_connections();
	(void) printf("\nus of one connection, requests per second of %d; c: a constant body; "
		      "s: a bare commit\n",
		      TOGETHER);
	print_head();
	measure("get", make_get, 4000, false);
	measure("list, limit=500", make_page, 400, false);
	measure("list, a label", make_selected, 200, false);
	measure("list, all", make_list, 80, false);
	measure("create", make_create, 800, true);
	measure("patch", make_patch, 800, true);
	measure_watches(1);
	measure_watches(watch_count / 10);
	measure_watches(watch_count);
	measure_beside_lists("get beside lists", "/api/v1/pods");
}

int main(int argc, char **argv)
{
	const struct rlimit limit = { DESCRIPTORS, DESCRIPTORS };
	bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;

	if (geteuid() != 0 || (argc > 1 && !quick)) {
		(void) fprintf(stderr, "usage, as root: bench_api [--quick]\n");
		return 2;
	}
	if (quick) {
		pod_count = 300;
		watch_count = 50;
		divisor = 40;
	}
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		api_bench_fail("cannot have %d open files", DESCRIPTORS);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    !mkdtemp(directory))
		api_bench_fail("no place to work in");
	(void) snprintf(podvol_socket, sizeof(podvol_socket), "%s/run/podvol.sock", directory);
	(void) snprintf(constant_socket, sizeof(constant_socket), "%s/constant.sock", directory);
	(void) snprintf(commit_path, sizeof(commit_path), "%s/commit.db", directory);
	(void) atexit(clean_up);
	client_use_one_processor();
	constant = constant_server_start(constant_socket);
	start_daemon("./podvold");
	measure_all();
	free(body_buffer);
	return 0;
}
