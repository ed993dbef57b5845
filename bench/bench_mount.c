/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_mount - what mounting volumes costs here, beside the bare system calls of the same run
 *
 *   bench_mount [--quick] [--directory DIR] [--only COUNT | --latency]
 *
 * Pods with one local volume each are mounted and taken down by the agent, by the bare calls and,
 * at the largest count, by plain calls in kubelet's layout; turn by turn, so that what disturbs one
 * disturbs all. The table shows medians and ratios. Then the latency from a manifest's rename to
 * its mounted volume. Needs root; everything happens in private mount namespaces and in a temporary
 * directory below DIR, which defaults to /var/tmp and should be on a disk.
 */
#include "bench/bench.h"

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
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

enum { RUNS_MAX = 9, SAMPLES_MAX = 300, MOST = 10000 };

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

/* ---- tables ---- */

static int compare(const void *a, const void *b)
{
	double difference = *(const double *) a - *(const double *) b;

	return (difference > 0) - (difference < 0);
}

static double median_of(const struct bench_result *results, unsigned int count, size_t member)
{
	double values[RUNS_MAX];

	for (unsigned int i = 0; i < count; i++)
		memcpy(&values[i], (const char *) &results[i] + member, sizeof(values[i]));
	qsort(values, count, sizeof(values[0]), compare);
	return values[count / 2];
}

#define MEDIAN(results, member) median_of(results, runs, offsetof(struct bench_result, member))

static void print_heading(void)
{
	struct utsname kernel;

	(void) uname(&kernel);
	printf("Linux %s, %ld processors; medians, milliseconds; CPU and peak memory of podvol\n",
	       kernel.release, sysconf(_SC_NPROCESSORS_ONLN));
	printf("%7s | %9s %9s %6s %9s | %9s %9s %6s | %9s %9s %9s %7s\n", "volumes", "mount",
	       "bare", "ratio", "plain", "unmount", "bare", "ratio", "CPU", "read", "parse", "MiB");
}

static void bench_count(unsigned int count, unsigned int runs, bool with_plain)
{
	struct bench_result ours[RUNS_MAX], bare[RUNS_MAX], plain[RUNS_MAX] = { 0 };
	struct measurement agent = { .calls = agent_run, .count = count };
	struct measurement calls = { .calls = bare_calls, .count = count };
	struct measurement kubelets = { .calls = plain_calls, .count = count };

	for (unsigned int run = 0; run < runs; run++) {
		measure(&calls, &bare[run], sizeof(bare[run]));
		measure(&agent, &ours[run], sizeof(ours[run]));
		if (with_plain)
			measure(&kubelets, &plain[run], sizeof(plain[run]));
	}
	printf("%7u | %9.2f %9.2f %6.2f ", count, MEDIAN(ours, mount_usec) / 1e3,
	       MEDIAN(bare, mount_usec) / 1e3, MEDIAN(ours, mount_usec) / MEDIAN(bare, mount_usec));
	if (with_plain)
		printf("%9.2f ", MEDIAN(plain, mount_usec) / 1e3);
	else
		printf("%9s ", "-");
	printf("| %9.2f %9.2f %6.2f ", MEDIAN(ours, unmount_usec) / 1e3,
	       MEDIAN(bare, unmount_usec) / 1e3,
	       MEDIAN(ours, unmount_usec) / MEDIAN(bare, unmount_usec));
	printf("| %9.2f %9.2f %9.2f %7.1f\n", MEDIAN(ours, mount_cpu_usec) / 1e3,
	       MEDIAN(ours, load_usec) / 1e3, MEDIAN(ours, parse_usec) / 1e3,
	       MEDIAN(ours, peak_kib) / 1024);
	(void) fflush(stdout);
}

/* Return: the median, in microseconds. */
static double bench_latency(const char *name, const struct latency_plan *plan)
{
	double samples[SAMPLES_MAX];
	struct measurement measurement = { .latency = plan,
					   .count = plan->mounted + plan->samples };

	measure(&measurement, samples, plan->samples * sizeof(samples[0]));
	qsort(samples, plan->samples, sizeof(samples[0]), compare);
	printf("%-44s p50 %7.2f ms   p99 %7.2f ms   worst %7.2f ms\n", name,
	       samples[plan->samples / 2] / 1e3, samples[plan->samples * 99 / 100] / 1e3,
	       samples[plan->samples - 1] / 1e3);
	(void) fflush(stdout);
	return samples[plan->samples / 2];
}

/* What hearing of every mount costs their maker, and how soon others' unmounts are healed.
 */
static void bench_drift(unsigned int samples, unsigned int runs)
{
	struct bench_result hearing[RUNS_MAX], deaf[RUNS_MAX];
	struct measurement with = { .calls = agent_run, .count = 1000 };
	struct measurement without = { .calls = agent_run_deaf, .count = 1000 };
	double mended, bare;

	for (unsigned int run = 0; run < runs; run++) {
		measure(&without, &deaf[run], sizeof(deaf[run]));
		measure(&with, &hearing[run], sizeof(hearing[run]));
	}
	printf("1,000 volumes with the watch of mounts / without: mounted %.2f (CPU %.2f), "
	       "unmounted "
	       "%.2f (CPU %.2f)\n",
	       MEDIAN(hearing, mount_usec) / MEDIAN(deaf, mount_usec),
	       MEDIAN(hearing, mount_cpu_usec) / MEDIAN(deaf, mount_cpu_usec),
	       MEDIAN(hearing, unmount_usec) / MEDIAN(deaf, unmount_usec),
	       MEDIAN(hearing, unmount_cpu_usec) / MEDIAN(deaf, unmount_cpu_usec));
	bare = bench_latency("unmounted and bound by two calls; 1,000 mounted",
			     &(struct latency_plan){ LATENCY_BARE, 1000, samples });
	mended = bench_latency("unmounted by another until mounted again",
			       &(struct latency_plan){ LATENCY_MENDED, 1000, samples });
	printf("%-44s ratio %.1f\n", "  to the two calls", mended / bare);
	(void) bench_latency("remounted by another until set back",
			     &(struct latency_plan){ LATENCY_SET_BACK, 1000, samples });
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "quick", no_argument, NULL, 'q' },
						 { "directory", required_argument, NULL, 'd' },
						 { "only", required_argument, NULL, 'o' },
						 { "latency", no_argument, NULL, 'l' },
						 { 0 } };
	static const unsigned int counts[] = { 1, 100, 1000, MOST };
	const char *directory = "/var/tmp";
	unsigned int runs = 5, samples = 200, only = 0, most = MOST;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'q')
			runs = 1, samples = 50, most = 1000;
		else if (option == 'd')
			directory = optarg;
		else if (option == 'o')
			only = most = (unsigned int) strtoul(optarg, NULL, 10);
		else if (option == 'l')
			most = 0;
		else
			return 2;
	}
	if (geteuid() != 0) {
		printf("needs root\n");
		return 77;
	}
	main_process = getpid();
	bench_path(base_directory, directory, "podvol-bench.XXXXXX");
	if (!mkdtemp(base_directory))
		bench_fail("cannot make '%s': %s", base_directory, strerror(errno));
	(void) atexit(remove_base);

	if (most > 0)
		print_heading();
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i] <= most && only == 0)
			bench_count(counts[i], runs, counts[i] >= 1000);
	if (only > 0) {
		bench_count(only, runs, false);
		return 0;
	}

	(void) bench_latency("pod, claim bound before; nothing mounted",
			     &(struct latency_plan){ LATENCY_POD, 0, samples });
	(void) bench_latency("pod, claim bound before; 1,000 mounted",
			     &(struct latency_plan){ LATENCY_POD, 800, samples });
	(void) bench_latency("pod, claim and volume; nothing mounted",
			     &(struct latency_plan){ LATENCY_ALL, 0, samples });
	bench_drift(samples, runs);
	return 0;
}
