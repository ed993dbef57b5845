/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage - a step as a short list of stages, each tagged with where it runs; part of plugin.h
 *
 * What a plugin answers a step with and an operation runs. A stage tells what it found out, and
 * what its failure says about the world, in the report that all stages of a list share.
 */
#pragma once

#include "base/failure.h"
#include "mount/file_system_fault.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ownership_progress;

/* What an error says about the world; spec: volume manager, 2.1. */
enum error_class {
	ERROR_FINAL,     /* it did not happen */
	ERROR_TRANSIENT, /* nothing was started: no state changes */
	ERROR_UNCERTAIN, /* it may have happened or be happening still */
};

/* What a kill would leave half done, as the ledger knows it after a restart. */
enum unfinished {
	UNFINISHED_NOTHING,
	UNFINISHED_SET_UP,    /* a stage or publish without its result */
	UNFINISHED_FORMAT,    /* the same, and mkfs had begun: a format without its mount */
	UNFINISHED_OWNERSHIP, /* the same, mounted, and a long walk had begun */
	UNFINISHED_TEARDOWN,  /* an unpublish or unstage without its result */
	UNFINISHED_COUNT
};

struct stage_event {
	bool about_pv;             /* else about the pod */
	const char *type, *reason; /* "Warning", "AlreadyMountedVolume"; static */
	char text[1024];           /* a longer one is cut in the middle */
};

enum { STAGE_EVENTS_MAX = 4 };

/* The directory of a file system whose files a set-up changes. */
struct stage_source {
	uint64_t device;  /* of the file system, as the mount table has it */
	uint64_t inode;   /* of the directory */
	const char *path; /* of the directory within the file system; NULL: none */
};

/* What a list of stages tells while and after it ran. Belongs to the thread that runs the stage. */
struct stage_report {
	const char *failed_at;        /* static; what failed in it, a CSI call; NULL: the stage */
	enum error_class error_class; /* of that failure; a stage sets it, default ERROR_FINAL */
	char device_path[256];        /* "" or the device that was found or made */
	uint64_t mount_id;            /* of the mount that is there now; 0 none or unknown */
	uint64_t mount_mark;          /* mount_mark() of it; 0 none or unknown */
	struct file_system_identity file_system; /* of that mount; id 0 unknown */
	uint64_t renew_usec;       /* real time when a set-up is to be done again; 0 never */
	int64_t grown_bytes;       /* a set-up made the volume so large; 0 it did not grow */
	int growth_error;          /* why it did not, although it should; 0 no such thing */
	bool is_growth_infeasible; /* nor will it: trying again at once would end the same */
	bool grows_later;          /* it may: the set-up is repeated for it, after a back-off */
	bool has_links;            /* by name, all of them: see status/volume_links.h */
	bool needs_stage; /* a set-up did nothing and ended with -ECANCELED: a device comes first */
	unsigned int event_count;
	unsigned int enforced;      /* mounts that were in use and went all the same */
	enum unfinished unfinished; /* of the stage that follows; set by the one before */
	/* The CSI driver that the stages call; "" none. A failure that is transient with -ENOTCONN
	 * waits until this driver is ready: no back-off, one event. */
	char driver[64];
	/* Borrowed from the list. The stages that follow wait, on no thread, while another set-up
	 * has the same source or one that lies in it or around it. The next stage is a worker's. */
	struct stage_source source;
	uint64_t io_slot; /* the number of the device of a STAGE_LONG that follows */
	/* What a long walk counts, for who looks meanwhile. */
	struct ownership_progress *progress;
	atomic_int *tool_pid; /* of a program that a stage runs, for who looks meanwhile */
	const atomic_bool
		*cancelled; /* the want has gone: long stages look at it and end with -ECANCELED */
	/* Last: what is large, and where a report is brief it is not there. */
	struct failure failure;   /* of the stage that failed; means nothing while none did */
	struct failure not_grown; /* text of growth_error; its error is not read */
	struct stage_event events[STAGE_EVENTS_MAX];
};

/* A report without room for texts, of which most steps have none: no stage gets it. Where a step
 * failed without memory for a text, its failure.text is that. free(); NULL: no memory. */
struct stage_report *stage_report_brief(void);
/* With room for all, and what @brief has. free(); NULL: no memory. */
struct stage_report *stage_report_whole(const struct stage_report *brief);
/* Of a list that succeeded. Return: false where @whole has texts, and nothing was done. */
bool stage_report_shorten(const struct stage_report *whole, struct stage_report *ret_brief);

void stage_event_add(struct stage_report *report, bool about_pv, const char *type,
		     const char *reason, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

enum stage_place {
	STAGE_WORKER, /* may block or hang: look-ups, mkdir, probing, mounts, unmounts;
			 neighbours run on one thread, one after the other */
	STAGE_LONG,   /* as a worker's, but takes minutes and keeps a device busy: few at a
			 time in one IO slot, see struct stage_report */
	STAGE_LOOP,   /* starts an asynchronous call and ends by stage_finish(); see operation.h */
};

enum { STAGE_NEXT = 0, STAGE_LIST_DONE = 1 };

struct stage {
	const char *name; /* what describe shows: "bind the source" */
	enum stage_place place;
	/* WORKER, LONG: STAGE_NEXT; STAGE_LIST_DONE when nothing is left to do (already mounted); a
	 * negative errno with report->failure filled. */
	int (*run)(void *data, struct stage_report *report);
	/* LOOP: begins and returns at once; @finish is called later on the loop with a result as of
	 * run. A negative errno means it did not begin. */
	int (*start)(void *data, struct stage_report *report,
		     void (*finish)(void *token, int result), void *token);
};
/* A row of a list, by where it runs; one that is STAGE_LONG names its members. */
#define WORKER_STAGE(text, function)                                                               \
	{                                                                                          \
		.name = (text), .place = STAGE_WORKER, .run = (function)                           \
	}
#define LOOP_STAGE(text, function)                                                                 \
	{                                                                                          \
		.name = (text), .place = STAGE_LOOP, .start = (function)                           \
	}

/* A mounter, unmounter, ... ready to run. */
struct stage_list {
	const struct stage *stages; /* static */
	size_t count;
	void *data; /* what the stages share; owned by the list */
	void (*free_data)(void *data);
};
/* Frees the data of every stage; an empty list is fine. */
void stage_list_done(struct stage_list *list);
