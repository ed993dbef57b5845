/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics - how full each mounted volume is
 *
 * The loop thread only; statfs() runs on threads of a pool of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <systemd/sd-event.h>

struct cJSON;
struct directory_usage;
struct plugin_host;
struct statistics;
struct statistics_call;
struct volume_tables;
struct worker_pool;
struct worker_return;

enum {
	STATISTICS_WAIT_USEC = 2000000,
	STATISTICS_CALLS_MAX = 16, /* each holds a list of all volumes while one of them hangs */
};

/* All pointers are borrowed. */
struct statistics_options {
	sd_event *event;
	struct worker_return *to_loop;
	const struct plugin_host *host;
	const struct volume_tables *tables;
	/* Counts the files of directories; NULL in it: statfs() only. */
	struct directory_usage *const *usage;
	/* A mounted volume is queried: other checks of it may run, too. */
	void (*asked)(void *userdata, const char *unique_name);
	void *userdata;
};

/* @options is copied. Return: 0 or negative errno. */
int statistics_new(const struct statistics_options *options, struct statistics **ret);
/* Before worker_return_free(): ends the threads; what still hangs is left behind. Accepts NULL. */
void statistics_stop(struct statistics *statistics);
/* After it. No call is left. Accepts NULL. Return: NULL. */
struct statistics *statistics_free(struct statistics *statistics);
/* Borrowed; NULL once it was stopped. */
struct worker_pool *statistics_pool(const struct statistics *statistics);

/* Once, on the loop, never before statistics_request() returned. @tree is the callee's, in the form
 * of docs/api.md; NULL: no memory. */
typedef void statistics_fn(void *userdata, struct cJSON *tree);

/* Which volumes; with no member set all. */
struct statistics_about {
	const char *pod_uid; /* those of one pod, cost: these; NULL: of the whole node */
	bool claims_only;    /* not those that are of no claim */
};

/**
 * statistics_request - measure how full mounted volumes are
 *
 * Queries run on threads. One without a result within STATISTICS_WAIT_USEC is reported in its item;
 * while it hangs it is not repeated, so that it costs the next caller nothing.
 *
 * Return: 0; -ENOBUFS too many callers; -ENOMEM.
 */
int statistics_request(struct statistics *statistics, const struct statistics_about *about,
		       statistics_fn *done, void *userdata, struct statistics_call **ret);
/* The files of the volume at @path were counted: a hook of directory_usage.h, of a struct
 * statistics.
 */
void statistics_counted(void *statistics, const char *path);
/* The caller left: @done is not called any more. Not after it was called. */
void statistics_cancel(struct statistics_call *call);

/* What claims' volumes hold, in Prometheus' form: as it was found out last. Accepts NULL. */
void statistics_print_metrics(struct statistics *statistics, FILE *file);
