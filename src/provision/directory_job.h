/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_job - one order of the local provisioner as a job of a thread
 *
 * It copies what the order says, runs the one call of the mount layer, or of an executable plugin,
 * that the order is, and keeps what came of it. Knows no queue and decides no order: those are
 * volume_directories.c's.
 */
#pragma once

#include "base/failure.h"
#include "base/worker.h"
#include "controller/controller.h"
#include "controller/local/local_provisioner.h"
#include "mount/archive/volume_copy.h"
#include "mount/remove/volume_directory.h"
#include "operation/io_slot.h"
#include "status/copies.h"

struct base_removals;
struct crew;
struct plugin_host;
struct users_below;

enum { BASE_PATHS_MAX = 16 };

enum directory_job_state {
	JOB_NOT_RUN,
	JOB_RAN,
	JOB_TOO_LATE, /* its search is out of date: it needs another */
};

/* Belongs to a thread until it is over; owns its strings. */
struct directory_job {
	struct worker_job job;
	struct crew *crew;
	const struct own_directories *own;
	struct io_slot_place place;
	enum directory_deed deed;
	char *base_paths[BASE_PATHS_MAX];
	size_t base_count;
	char *name, *mark, *capacity, *fs_type;
	mode_t mode;
	uint64_t bytes;
	bool is_named, is_unused;
	struct {
		char *base_path, *name, *mark, *capacity; /* NULL: nothing is copied */
		bool is_snapshot, is_unused;
		const atomic_bool *cancel;
	} source;
	struct {
		const struct plugin_host *host;
		char *storage_class, *fs_type;
		struct cJSON *options;
	} plugin; /* whose base path is one */
	struct copies *copies;
	struct copy copy;                      /* with a source */
	struct directory_search *search;       /* that a removal waited for; NULL: none */
	struct directory_job *previous, *next; /* of those that wait for one search */
	bool is_search;                        /* the first member of a struct directory_search */
	directory_done_fn *done;
	void *userdata;
	enum directory_job_state state;
	int error;
	struct volume_choice choice;
	struct volume_snapshot_facts facts;
	struct failure why;
};

/* A search for users, which removals of one base path share. */
struct directory_search {
	struct directory_job job;
	struct base_removals *removals; /* of its base path */
	struct directory_job *served;   /* while it runs */
	size_t references;              /* its own, and of what it served */
	struct users_below *users;      /* that it found; NULL: it failed */
	atomic_bool has_served;         /* the first removal that it serves has begun */
};

/* What all jobs borrow. */
struct directory_job_options {
	const struct own_directories *own;
	struct copies *copies;
	const struct plugin_host *host;
	const atomic_bool *is_stopping; /* ends a copy */
};

/* @order: copied. Return: 0 or -ENOMEM. */
int directory_job_new(const struct directory_job_options *options,
		      const struct directory_order *order, directory_done_fn *done, void *userdata,
		      struct directory_job **ret);
/* A search for the users of all that is below a base path. Return: 0 or -ENOMEM. */
int directory_search_new(const char *base_path, struct directory_search **ret);
/* Says to the one who ordered it what came of it, and frees it; on the loop. */
void directory_job_end(struct directory_job *job);
/* A search goes with the last removal that uses it. */
void directory_job_use_search(struct directory_job *job, struct directory_search *search);
void directory_job_leave_search(struct directory_job *job);
void directory_search_release(struct directory_search *search);
