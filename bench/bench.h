/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench - what the parts of the benchmark share
 *
 * Every measurement is a child process in a mount namespace of its own, so that none sees the
 * mounts, the memory or the page tables of another. Times are microseconds of the monotonic clock.
 * A failure ends the program: a benchmark that did half of its work has no result.
 */
#ifndef PODVOL_BENCH_BENCH_H
#define PODVOL_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_PATH_BYTES = 256 };

/* Where a measurement works. */
struct bench_place {
	char directory[BENCH_PATH_BYTES]; /* state, run, manifests */
	char disk[BENCH_PATH_BYTES];      /* a new file system below it */
	char sources[BENCH_PATH_BYTES];   /* of the volumes, on that disk: pv-00000, ... */
};

struct bench_result {
	double mount_usec, unmount_usec; /* of all volumes */
	double parse_usec;               /* JSON to objects, all of them */
	double load_usec;                /* from agent_new() to its return: the store is read */
	double mount_cpu_usec;           /* processor time of all threads while mounting */
	double unmount_cpu_usec;
	double peak_kib;
};

/* Prints what failed and ends the program. */
void bench_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* "<directory>/<name>", which must fit. */
void bench_path(char *ret, const char *directory, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The names of pod and volume number @index. */
void bench_pod_uid(char ret[40], unsigned int index);
void bench_volume_name(char ret[16], unsigned int index);
/* Relative to the root directory: pods/<uid>/volumes/kubernetes.io~local-volume/<volume> */
void bench_target(char ret[BENCH_PATH_BYTES], unsigned int index);

double bench_now_usec(void);

/* Lines of this namespace's mount table that contain @text. */
size_t bench_count_mounts(const char *text);

/* ---- bare_calls.c: the same directories and mounts by system calls alone ---- */

/* As podvold lays it out: the root directory is its own mount; ends named by descriptors. */
void bare_calls(const struct bench_place *place, unsigned int count, struct bench_result *ret);
/* As kubelet lays it out: mount(2) by path, sources and targets below the same mount. */
void plain_calls(const struct bench_place *place, unsigned int count, struct bench_result *ret);

/* ---- agent_run.c: the daemon's own boxes in this process ---- */

void agent_run(const struct bench_place *place, unsigned int count, struct bench_result *ret);
/* The same without hearing what becomes of mounts. */
void agent_run_deaf(const struct bench_place *place, unsigned int count, struct bench_result *ret);

/* ---- latency.c: from a manifest's rename, or a foreign unmount, to the mounted volume ---- */

enum latency_kind {
	LATENCY_POD,      /* the manifest is a pod; claim and volume are stored and bound already */
	LATENCY_ALL,      /* the manifest holds pod, claim and volume, which must be bound first */
	LATENCY_MENDED,   /* this process unmounts a volume, podvold mounts it again */
	LATENCY_SET_BACK, /* this process remounts one read-only, podvold makes it writable */
	LATENCY_BARE,     /* this process unmounts and binds; podvold stands still */
};

struct latency_plan {
	enum latency_kind kind;
	unsigned int mounted; /* volumes that are mounted before */
	unsigned int samples;
};

/* @ret_usec: room for plan->samples, unsorted */
void latency_run(const struct bench_place *place, const struct latency_plan *plan,
		 double *ret_usec);

/* ---- objects.c: the pods, claims and volumes of a measurement ---- */

struct store;
struct agent;
struct config;
typedef struct sd_event sd_event;

enum bench_object { BENCH_VOLUME, BENCH_CLAIM, BENCH_POD, BENCH_OBJECT_COUNT };

/* One object as JSON, in a buffer that the next call reuses. @bound: as a finished binding looks.
 */
const char *bench_object_json(const struct bench_place *place, enum bench_object kind,
			      unsigned int index, bool bound);

/* Store them; returns the time that parsing took. @kinds: set of 1 << enum bench_object. */
double bench_fill_store(const struct bench_place *place, unsigned int first, unsigned int count,
			unsigned int kinds);

/* The configuration of an agent that works in this place. */
void bench_config(const struct bench_place *place, struct config *ret);

/* How many volumes were published and unpublished in this process so far. */
extern unsigned int bench_published, bench_unpublished;

#endif
