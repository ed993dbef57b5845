/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_ownership - what giving a volume to a group (fsGroup) costs, beside chown -R and the plain
 * walk that kubelet does
 *
 *   bench_ownership [--quick] [--more] [--files FILES]
 *
 * One tree of FILES small files (200,000 when not said) in directories of 100, of root, as a new
 * volume has them. Two cases: all entries have to change (group and mode), and none. Each is done
 * by our walk and by chown -R (group only), which is the floor, turn by turn, so that what disturbs
 * one disturbs both: elapsed time, and the processor time of all threads. --more: also by an
 * lstat, lchown, chmod of every entry by path; and two more cases: one entry in a hundred has to
 * change; all have to and belong to a user who may write to the directories, where names are not
 * trusted.
 * Needs root; the tree lies in a temporary directory below TMPDIR or /var/tmp.
 */
#include "bench/sample.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mount/mount.h"

#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	GROUP = 4242,
	OTHER_OWNER = 1234,
	FILES_DEFAULT = 200000,
	FILES_QUICK = 2000,
	FILES_OF_DIRECTORY = 100,
	ROUNDS = 3,
	PATH_BYTES = 256,
	SKIPPED = 77,
};

enum method { PODVOL, CHOWN_R, PLAIN, METHOD_COUNT };
enum scene { ALL, NONE, FEW, ALL_UNGUARDED, SCENE_COUNT };

static char tree[PATH_BYTES];
static unsigned long file_count = FILES_DEFAULT;

static void fail(const char *what)
{
	(void) fprintf(stderr, "bench_ownership: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the tree ---- */

static void make_tree(void)
{
	char path[PATH_BYTES + 64];

	for (unsigned long i = 0; i < file_count; i++) {
		if (i % FILES_OF_DIRECTORY == 0) {
			(void) snprintf(path, sizeof(path), "%s/d%lu", tree,
					i / FILES_OF_DIRECTORY);
			if (mkdir(path, 0755) < 0)
				fail(path);
		}
		(void) snprintf(path, sizeof(path), "%s/d%lu/f%lu", tree, i / FILES_OF_DIRECTORY,
				i);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

		if (fd < 0 || write(fd, "sixteen bytes..\n", 16) != 16 || close(fd) < 0)
			fail(path);
	}
}

static unsigned long visited, reset_each;
static uid_t reset_owner;

static int reset_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	bool is_directory = type == FTW_D || type == FTW_DP;

	if (visited++ % reset_each != 0)
		return 0;
	if (lchown(path, reset_owner, 0) < 0 || chmod(path, is_directory ? 0755 : 0644) < 0)
		fail(path);
	return 0;
}

/* The root is among those that are reset: it is the first that nftw() shows. */
static void reset(enum scene scene)
{
	if (scene == NONE)
		return;
	visited = 0;
	reset_each = scene == FEW ? 100 : 1;
	reset_owner = scene == ALL_UNGUARDED ? OTHER_OWNER : 0;
	if (nftw(tree, reset_entry, 64, FTW_PHYS) != 0)
		fail("nftw");
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	if (remove(path) < 0)
		fail(path);
	return 0;
}

/* ---- the three ways ---- */

static void do_podvol(void)
{
	const struct ownership ownership = { .gid = GROUP };
	cleanup_close int fd = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct failure failure = { 0 };

	if (fd < 0 || ownership_apply(fd, &ownership, NULL, NULL, &failure) < 0)
		fail(failure.text);
}

static void do_chown_r(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		(void) execlp("chown", "chown", "-R", ":4242", tree, (char *) NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fail("chown -R");
}

/* kubelet's algorithm: every entry, whatever it has, by its path. */
static int change_plainly(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	bool is_directory = type == FTW_D || type == FTW_DP;
	mode_t mode = (status->st_mode & 07777) | (is_directory ? S_ISGID | 0770 : 0660);

	if (lchown(path, (uid_t) -1, GROUP) < 0)
		fail(path);
	if (!S_ISLNK(status->st_mode) && chmod(path, mode) < 0)
		fail(path);
	return 0;
}

static void do_plain(void)
{
	if (nftw(tree, change_plainly, 64, FTW_PHYS) != 0)
		fail("nftw");
}

/* ---- measuring ---- */

static double timeval_msec(struct timeval time)
{
	return (double) time.tv_sec * 1000 + (double) time.tv_usec / 1000;
}

/* Of all threads, and of children that were waited for. */
static double processor_msec(void)
{
	double msec = 0;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		struct rusage usage;

		if (getrusage(who, &usage) < 0)
			fail("getrusage");
		msec += timeval_msec(usage.ru_utime) + timeval_msec(usage.ru_stime);
	}
	return msec;
}

/* @plain_name: NULL: without kubelet's way */
static void measure(enum scene scene, const char *name, const char *processor_name,
		    const char *plain_name)
{
	static void (*const methods[METHOD_COUNT])(void) = { do_podvol, do_chown_r, do_plain };

	for (int round = 0; round < ROUNDS; round++) {
		double msec[METHOD_COUNT], processor[METHOD_COUNT];

		for (int method = 0; method < (plain_name ? METHOD_COUNT : PLAIN); method++) {
			uint64_t begun_usec;

			reset(scene);
			sync(); /* what the reset wrote is not this method's to pay */
			processor[method] = processor_msec();
			begun_usec = monotonic_usec();
			methods[method]();
			msec[method] = (double) (monotonic_usec() - begun_usec) / 1000;
			processor[method] = processor_msec() - processor[method];
		}
		print_sample(name, file_count, "files", msec[PODVOL], msec[CHOWN_R]);
		print_sample(processor_name, file_count, "files", processor[PODVOL],
			     processor[CHOWN_R]);
		if (plain_name)
			print_sample(plain_name, file_count, "files", msec[PODVOL], msec[PLAIN]);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "quick", no_argument, NULL, 'q' },
						 { "files", required_argument, NULL, 'f' },
						 { "more", no_argument, NULL, 'm' },
						 { 0 } };
	const char *base = getenv("TMPDIR");
	bool more = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == 'q')
			file_count = FILES_QUICK;
		else if (option == 'f')
			file_count = strtoul(optarg, NULL, 10);
		else if (option == 'm')
			more = true;
		else
			return 2;
	}
	if (geteuid() != 0) {
		(void) printf("needs root\n");
		return SKIPPED;
	}
	(void) snprintf(tree, sizeof(tree), "%s/podvol-bench-XXXXXX", base ? base : "/var/tmp");
	if (!mkdtemp(tree))
		fail(tree);
	make_tree();
	measure(ALL, "all_ms", "all_cpu_ms", more ? "all_plain_ms" : NULL);
	do_plain(); /* now everything matches */
	measure(NONE, "none_ms", "none_cpu_ms", more ? "none_plain_ms" : NULL);
	if (more) {
		measure(FEW, "few_ms", "few_cpu_ms", "few_plain_ms");
		measure(ALL_UNGUARDED, "unguarded_ms", "unguarded_cpu_ms", "unguarded_plain_ms");
	}
	(void) nftw(tree, remove_entry, 64, FTW_PHYS | FTW_DEPTH);
	return 0;
}
