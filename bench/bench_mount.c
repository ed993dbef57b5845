/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_mount - what mounting volumes costs here, beside the bare system calls of the same run
 *
 *   bench_mount [--quick] [--directory DIR] [--count COUNT] [--more]
 *
 * Pods with one local volume each are mounted and taken down by the agent and by the bare calls,
 * which are the floor; turn by turn, so that what disturbs one disturbs all. --more: also by plain
 * calls in kubelet's layout; then what hearing of every mount costs their maker, from a manifest's
 * rename to its mounted volume, and how soon others' unmounts are healed. Needs root; everything
 * happens in private mount namespaces and in a temporary directory below DIR, which defaults to
 * /var/tmp and should be on a disk.
 */
#include "bench/bench.h"
#include "bench/sample.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { SAMPLES_MAX = 200, SKIPPED = 77 };

static char base_directory[BENCH_PATH_BYTES];
static pid_t main_process;

/* ---- what all parts use ---- */

void bench_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void) fprintf(stderr, "bench_mount: ");
	(void) vfprintf(stderr, format, arguments);
	(void) fprintf(stderr, "\n");
	va_end(arguments);
	/* A child leaves the directory to its parent. */
	if (getpid() == main_process)
		exit(1);
	_exit(1);
}

void bench_path(char *ret, const char *directory, const char *format, ...)
{
	int used = snprintf(ret, BENCH_PATH_BYTES, "%s/", directory);
	va_list arguments;

	va_start(arguments, format);
	used += vsnprintf(ret + used, (size_t) (BENCH_PATH_BYTES - used), format, arguments);
	va_end(arguments);
	if (used >= BENCH_PATH_BYTES)
		bench_fail("path too long: '%s'", ret);
}

void bench_pod_uid(char ret[40], unsigned int index)
{
	(void) snprintf(ret, 40, "00000000-0000-4000-8000-%012u", index);
}

void bench_volume_name(char ret[16], unsigned int index)
{
	(void) snprintf(ret, 16, "pv-%05u", index);
}

void bench_target(char ret[BENCH_PATH_BYTES], unsigned int index)
{
	char uid[40], name[16];

	bench_pod_uid(uid, index);
	bench_volume_name(name, index);
	(void) snprintf(ret, BENCH_PATH_BYTES, "pods/%s/volumes/kubernetes.io~local-volume/%s", uid,
			name);
}

double bench_now_usec(void)
{
	struct timespec now;

	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

size_t bench_count_mounts(const char *text)
{
	cleanup_fclose FILE *table = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	size_t size = 0, count = 0;

	if (!table)
		bench_fail("cannot read the mount table");
	while (getline(&line, &size, table) > 0)
		count += strstr(line, text) != NULL;
	return count;
}

/* ---- a child for each measurement ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* Within one file system and after every namespace with mounts below has gone. */
static void remove_tree(const char *path)
{
	(void) nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void remove_base(void)
{
	if (getpid() == main_process)
		remove_tree(base_directory);
}

struct measurement {
	void (*calls)(const struct bench_place *place, unsigned int count,
		      struct bench_result *ret);
	unsigned int count;
	const struct latency_plan *latency; /* instead of calls */
};

static void run_program(const char *const argv[])
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		(void) execvp(argv[0], (char *const *) argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		bench_fail("'%s' failed", argv[0]);
}

static void make_sources(const char *sources, unsigned int count)
{
	char path[BENCH_PATH_BYTES], name[16];

	if (mkdir(sources, 0755) < 0)
		bench_fail("cannot make '%s': %s", sources, strerror(errno));
	for (unsigned int i = 0; i < count; i++) {
		bench_volume_name(name, i);
		bench_path(path, sources, "%s", name);
		if (mkdir(path, 0755) < 0)
			bench_fail("cannot make '%s': %s", path, strerror(errno));
	}
}

/* A new file system for sources and targets, and a tmpfs for what lives in /run. */
static void make_place(const struct bench_place *place, unsigned int volumes)
{
	char image[BENCH_PATH_BYTES], run[BENCH_PATH_BYTES];
	const char *const make_file_system[] = { "mkfs.ext4", "-q",    "-E",  "lazy_itable_init=0",
						 "-N",        "65536", image, NULL };
	cleanup_close int image_fd = -EBADF;
	const char *const mount_it[] = { "mount", "-o", "loop", image, place->disk, NULL };

	bench_path(image, place->directory, "image");
	bench_path(run, place->directory, "run");
	image_fd = open(image, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (image_fd < 0 || ftruncate(image_fd, (off_t) 1 << 30) < 0 ||
	    mkdir(place->disk, 0755) < 0 || mkdir(run, 0700) < 0)
		bench_fail("cannot begin: %s", strerror(errno));
	run_program(make_file_system);
	run_program(mount_it);
	if (mount("tmpfs", run, "tmpfs", 0, "mode=0755") < 0)
		bench_fail("no tmpfs: %s", strerror(errno));
	make_sources(place->sources, volumes);
	sync(); /* what was written before does not count */
}

static void run_child(const struct measurement *measurement, const struct bench_place *place,
		      int to_parent)
{
	static double samples[SAMPLES_MAX];
	struct bench_result result = { 0 };
	const void *answer = &result;
	size_t bytes = sizeof(result);

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		bench_fail("no mount namespace of its own: %s", strerror(errno));
	make_place(place, measurement->count);
	if (measurement->latency) {
		latency_run(place, measurement->latency, samples);
		answer = samples;
		bytes = measurement->latency->samples * sizeof(samples[0]);
	} else {
		measurement->calls(place, measurement->count, &result);
	}
	if (write(to_parent, answer, bytes) != (ssize_t) bytes)
		bench_fail("cannot answer");
	_exit(0);
}

static void measure(const struct measurement *measurement, void *ret, size_t bytes)
{
	static unsigned int number;
	struct bench_place place;
	int ends[2], status;
	pid_t child;

	bench_path(place.directory, base_directory, "%u", number++);
	bench_path(place.disk, place.directory, "disk");
	bench_path(place.sources, place.disk, "sources");
	if (mkdir(place.directory, 0700) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		bench_fail("cannot begin: %s", strerror(errno));
	child = fork();
	if (child == 0)
		run_child(measurement, &place, ends[1]);
	(void) close(ends[1]);
	if (child < 0 || read(ends[0], ret, bytes) != (ssize_t) bytes)
		bench_fail("a measurement failed");
	(void) close(ends[0]);
	if (waitpid(child, &status, 0) != child || status != 0)
		bench_fail("a measurement failed");
	remove_tree(place.directory);
}

/* ---- what is measured ---- */

static void bench_count(unsigned int count)
{
	struct measurement agent = { .calls = agent_run, .count = count };
	struct measurement calls = { .calls = bare_calls, .count = count };
	struct bench_result podvol, bare;

	measure(&calls, &bare, sizeof(bare));
	measure(&agent, &podvol, sizeof(podvol));
	print_sample("mounted_ms", count, "volumes", podvol.mount_usec / 1e3,
		     bare.mount_usec / 1e3);
	print_sample("unmounted_ms", count, "volumes", podvol.unmount_usec / 1e3,
		     bare.unmount_usec / 1e3);
	print_sample("mounted_cpu_ms", count, "volumes", podvol.mount_cpu_usec / 1e3, NO_FLOOR);
	print_sample("read_ms", count, "volumes", podvol.load_usec / 1e3, NO_FLOOR);
	print_sample("parsed_ms", count, "volumes", podvol.parse_usec / 1e3, NO_FLOOR);
	print_sample("peak_mib", count, "volumes", podvol.peak_kib / 1024, NO_FLOOR);
	(void) fflush(stdout);
}

/* @floor: the latencies beside which these stand; NULL: none */
static void bench_latency(const char *name, const struct latency_plan *plan, const double *floor,
			  double ret_usec[SAMPLES_MAX])
{
	struct measurement measurement = { .latency = plan,
					   .count = plan->mounted + plan->samples };

	measure(&measurement, ret_usec, plan->samples * sizeof(ret_usec[0]));
	for (unsigned int i = 0; i < plan->samples; i++)
		print_sample(name, plan->mounted, "volumes", ret_usec[i] / 1e3,
			     floor ? floor[i] / 1e3 : NO_FLOOR);
}

static void bench_latencies(unsigned int samples)
{
	double found[SAMPLES_MAX], bare[SAMPLES_MAX];

	bench_latency("bound_pod_ms", &(struct latency_plan){ LATENCY_POD, 0, samples }, NULL,
		      found);
	bench_latency("bound_pod_ms", &(struct latency_plan){ LATENCY_POD, 800, samples }, NULL,
		      found);
	bench_latency("pod_ms", &(struct latency_plan){ LATENCY_ALL, 0, samples }, NULL, found);
	bench_latency("bare_ms", &(struct latency_plan){ LATENCY_BARE, 1000, samples }, NULL, bare);
	bench_latency("remounted_ms", &(struct latency_plan){ LATENCY_MENDED, 1000, samples }, bare,
		      found);
	bench_latency("set_back_ms", &(struct latency_plan){ LATENCY_SET_BACK, 1000, samples },
		      bare, found);
}

/* What hearing of every mount costs their maker, and kubelet's layout beside it. */
static void bench_others(void)
{
	struct measurement with = { .calls = agent_run, .count = 1000 };
	struct measurement without = { .calls = agent_run_deaf, .count = 1000 };
	struct measurement kubelets = { .calls = plain_calls, .count = 1000 };
	struct bench_result hearing, deaf, plain;

	measure(&kubelets, &plain, sizeof(plain));
	measure(&without, &deaf, sizeof(deaf));
	measure(&with, &hearing, sizeof(hearing));
	print_sample("mounted_plain_ms", 1000, "volumes", hearing.mount_usec / 1e3,
		     plain.mount_usec / 1e3);
	print_sample("watched_mounted_ms", 1000, "volumes", hearing.mount_usec / 1e3,
		     deaf.mount_usec / 1e3);
	print_sample("watched_unmounted_ms", 1000, "volumes", hearing.unmount_usec / 1e3,
		     deaf.unmount_usec / 1e3);
	(void) fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "quick", no_argument, NULL, 'q' },
						 { "directory", required_argument, NULL, 'd' },
						 { "count", required_argument, NULL, 'c' },
						 { "more", no_argument, NULL, 'm' },
						 { 0 } };
	unsigned int counts[] = { 1000, 10000 }, runs = 5, samples = SAMPLES_MAX;
	const char *directory = "/var/tmp";
	bool more = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'q')
			runs = 1, samples = 50, counts[0] = 100, counts[1] = 0;
		else if (option == 'd')
			directory = optarg;
		else if (option == 'c')
			counts[0] = (unsigned int) strtoul(optarg, NULL, 10), counts[1] = 0;
		else if (option == 'm')
			more = true;
		else
			return 2;
	}
	if (geteuid() != 0 || access("/dev/loop-control", W_OK) < 0) {
		printf("%s\n", geteuid() != 0 ? "needs root: it mounts" : "no loop devices here");
		return SKIPPED;
	}
	main_process = getpid();
	bench_path(base_directory, directory, "podvol-bench.XXXXXX");
	if (!mkdtemp(base_directory))
		bench_fail("cannot make '%s': %s", base_directory, strerror(errno));
	(void) atexit(remove_base);

	for (unsigned int run = 0; run < runs; run++) {
		for (size_t i = 0; i < ARRAY_SIZE(counts) && counts[i] > 0; i++)
			bench_count(counts[i]);
		if (more)
			bench_others();
	}
	if (more)
		bench_latencies(samples);
	return 0;
}
