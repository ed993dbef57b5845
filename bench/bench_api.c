/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_api - what the node's API costs: requests, lists, watches, memory, at ten thousand pods
 *
 *   bench_api [--quick]
 *
 * The real daemon over its unix socket, beside the same library that serves a constant body of the
 * same size, which is the floor: the same client, in turns, in the same run. Only the ratios mean
 * something on another machine. Names with "synced" have a commit of SQLite in the floor, too;
 * those with "together" are of eight connections, for each request. The pods are another node's, so
 * that nothing is mounted. Wants root; works in a mount namespace and a directory of its own.
 *
 * Client and servers share one processor. Where they may use several, the kernel wakes one server
 * on the client's and the other on an idle one, as it likes and for the whole run, and waking an
 * idle processor of a virtual machine takes longer than all that either server does.
 */
#include "bench/bench_api.h"
#include "bench/sample.h"

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
	BESIDE_SAMPLES = 1000, /* gets beside long answers */
	OUTPUT_BYTES = 1 << 20,
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

static void close_all(const int *fds, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		(void) close(fds[i]);
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

static size_t one(int fd, const struct client_request *request, double *ret_usec)
{
	double begun = client_now_usec();
	size_t bytes;

	client_send(fd, request);
	bytes = client_receive(fd, NULL);
	*ret_usec = client_now_usec() - begun;
	return bytes;
}

/* The same request for the constant body: the method and body as they are, the size as the path. */
static void make_constant(struct client_request *request, size_t bytes)
{
	static char path[32];

	(void) snprintf(path, sizeof(path), "/%zu", bytes);
	request->path = path;
}

/* Return: microseconds of a request, of as many at once as there are connections, again and again.
 */
static double together(const int fds[TOGETHER], make_request *make, unsigned int first,
		       unsigned int count, size_t constant_bytes)
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
	}
	return (client_now_usec() - begun) / count;
}

/* A figure's name is made of its request's. */
static void print_figure(const char *ending, const char *name, double our_usec, double their_usec)
{
	char figure[PATH_BYTES];

	(void) snprintf(figure, sizeof(figure), "%s%s", name, ending);
	print_sample(figure, pod_count, "pods", our_usec, their_usec);
}

/* What @writes is compared with the constant body and a bare commit, too. */
static void measure(const char *name, make_request *make, unsigned int count, bool writes)
{
	static unsigned int next; /* no two creations of one name */
	int our_fds[TOGETHER], their_fds[TOGETHER];
	unsigned int of_turn = count / divisor / TURNS / TOGETHER * TOGETHER;
	double our_usec, their_usec;
	size_t bytes = 0;

	of_turn = of_turn < TOGETHER ? TOGETHER : of_turn;
	for (int i = 0; i < TOGETHER; i++) {
		our_fds[i] = connect_waiting(podvol_socket);
		their_fds[i] = connect_waiting(constant_socket);
	}
	for (int turn = 0; turn < TURNS; turn++, next += of_turn) {
		struct client_request request;

		for (unsigned int i = 0; i < of_turn; i++, next++) {
			make(&request, next);
			bytes = one(our_fds[0], &request, &our_usec);
			make_constant(&request, bytes);
			(void) one(their_fds[0], &request, &their_usec);
			print_figure("_us", name, our_usec, their_usec);
			if (writes)
				print_figure("_synced_us", name, our_usec,
					     their_usec + bare_commit(commit_path, bytes));
		}
		our_usec = together(our_fds, make, next, of_turn, 0);
		their_usec = together(their_fds, make, next, of_turn, bytes);
		print_figure("_together_us", name, our_usec, their_usec);
	}
	close_all(our_fds, TOGETHER);
	close_all(their_fds, TOGETHER);
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

static size_t list_bytes(void)
{
	const struct client_request list = { "GET", "/api/v1/pods", NULL, NULL };
	int fd = connect_waiting(podvol_socket);
	size_t bytes;

	client_send(fd, &list);
	bytes = client_receive(fd, NULL);
	(void) close(fd);
	return bytes;
}

/* Fills @ret_usec for each of @count requests. Return: bytes of an answer. */
static size_t get_beside(const char *path, const struct client_request *busy, unsigned int count,
			 size_t constant_bytes, double *ret_usec)
{
	pid_t lister = start_lister(path, busy);
	int fd = connect_waiting(path);
	size_t bytes = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct client_request request;

		make_get(&request, i);
		if (constant_bytes > 0)
			make_constant(&request, constant_bytes);
		bytes = one(fd, &request, &ret_usec[i]);
		(void) poll(NULL, 0, 1);
	}
	(void) close(fd);
	(void) kill(lister, SIGKILL);
	(void) waitpid(lister, NULL, 0);
	return bytes;
}

static void measure_beside_lists(void)
{
	const struct client_request busy = { "GET", "/api/v1/pods", NULL, NULL };
	unsigned int count = BESIDE_SAMPLES / divisor / TURNS;
	double podvol[BESIDE_SAMPLES], other[BESIDE_SAMPLES];
	struct client_request same = busy;
	char path[PATH_BYTES];

	(void) snprintf(path, sizeof(path), "/%zu", list_bytes());
	same.path = path;
	for (int turn = 0; turn < TURNS; turn++) {
		size_t bytes = get_beside(podvol_socket, &busy, count, 0, podvol);

		(void) get_beside(constant_socket, &same, count, bytes, other);
		for (unsigned int i = 0; i < count; i++)
			print_figure("_us", "get_beside_lists", podvol[i], other[i]);
	}
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
	open_watches(fds, count, podvol_socket, &watch);
	(void) snprintf(text, sizeof(text), "/watch/%zu", bytes);
	watch.path = text;
	open_watches(fds + count, count, constant_socket, &watch);
	our_epoll = epoll_of(fds, count);
	their_epoll = epoll_of(fds + count, count);
	for (unsigned int i = 0; i < 100 / divisor + 2; i++) {
		double our_usec, their_usec;

		make_change(&change, "watched", i);
		our_usec = change_usec(our_writer, our_epoll, count, &change);
		change.path = "/change";
		their_usec = change_usec(their_writer, their_epoll, count, &change);
		print_sample("watch_us", count, "watches", our_usec, their_usec);
		print_sample("watch_synced_us", count, "watches", our_usec,
			     their_usec + bare_commit(commit_path, bytes));
	}
	make_change(&change, "t3", 0);
	(void) change_usec(our_writer, our_epoll, count, &change);
	close_all(fds, 2 * count);
	close_all((const int[]){ our_writer, their_writer, our_epoll, their_epoll }, 4);
	free(fds);
}

/* ---- memory ---- */

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
	print_sample("connection_bytes", watch_count, "connections",
		     (rss_bytes() - before) / watch_count, NO_FLOOR);
	before = rss_bytes();
	for (unsigned int i = 0; i < watch_count; i++) {
		client_send(fds[i], &watch);
		client_receive_head(fds[i]);
	}
	print_sample("watch_bytes", watch_count, "watches", (rss_bytes() - before) / watch_count,
		     NO_FLOOR);
	close_all(fds, watch_count);
	free(fds);
}

/* The floor of an object's memory is its JSON. */
static void measure_objects(void)
{
	int fd = connect_waiting(podvol_socket);
	double before = rss_bytes(), begun = client_now_usec();

	pods_store(fd, pod_count);
	print_sample("apply_pod_us", pod_count, "pods", (client_now_usec() - begun) / pod_count,
		     NO_FLOOR);
	(void) close(fd);
	print_sample("object_bytes", pod_count, "pods", (rss_bytes() - before) / pod_count,
		     (double) list_bytes() / pod_count);
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

/* The server of constant bodies has made the largest one before it is measured. */
static void warm_up(void)
{
	const struct client_request request = { "GET", "/1", NULL, NULL };
	int fd = connect_waiting(constant_socket);

	client_send(fd, &request);
	(void) client_receive(fd, NULL);
	(void) close(fd);
}

static void measure_all(void)
{
	measure_objects();
	measure_connections();
	measure("get", make_get, 4000, false);
	measure("page", make_page, 400, false);
	measure("label", make_selected, 200, false);
	measure("list", make_list, 80, false);
	measure("create", make_create, 800, true);
	measure("patch", make_patch, 800, true);
	measure_watches(1);
	measure_watches(watch_count / 10);
	measure_watches(watch_count);
	measure_beside_lists();
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
	(void) setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES); /* the reader sleeps meanwhile */
	client_use_one_processor();
	constant = constant_server_start(constant_socket);
	start_daemon("./podvold");
	warm_up();
	measure_all();
	free(body_buffer);
	return 0;
}
