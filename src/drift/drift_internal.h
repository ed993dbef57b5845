/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drift_internal - what the drift_*.c files share; no other file includes it
 *
 * drift.c decides what a change means, drift_index.c finds the mount that it is about,
 * drift_start.c compares the mounts of before the start, drift_check.c has threads look,
 * drift_work.c has them set back, drift_report.c says it to people.
 */
#pragma once

#include "drift/drift.h"
#include "mount/holders/process.h"
#include "mount/table/mount_compare.h"
#include "mount/table/mount_watch.h"
#include "operation/retry.h"

enum drift_kind {
	DRIFT_NONE,
	DRIFT_UNMOUNTED,
	DRIFT_MOVED,
	DRIFT_COVERED,   /* by a mount on its target, or on a directory above that */
	DRIFT_REMOUNTED, /* with other attributes */
	DRIFT_STACKED,   /* our own mounts on one target: all but the lowest are taken away */
	DRIFT_KINDS
};

/* Who did it, as far as the kernel reports. */
struct drift_culprit {
	pid_t pid;                   /* 0 unknown */
	char command[COMMAND_BYTES]; /* "" it had ended before we could ask */
};

/* What is known of one mount: of a volume for a pod, or of a device. */
struct drift_mount {
	const char *unique_name, *pod_uid, *path; /* in @bytes, one behind the other */
	uint64_t mount_id;                        /* 0: not mounted, or has no mount of its own */
	uint64_t attributes;
	bool attributes_known, read_only;
	bool has_mount;      /* of its own: it had an id once */
	uint32_t known_at;   /* in the table of what checks compare; where it has an id */
	bool is_from_before; /* the first check saw a mount there; until a step ends well */
	bool is_confirmed; /* by the first check: it is what the ledger says, alone at its place */

	enum drift_kind kind;
	struct drift_culprit culprit;
	bool data_lost;           /* they were in the memory behind the mount */
	uint64_t cover_id;        /* of what is on top; 0: nothing any more */
	uint64_t attributes_now;  /* while remounted */
	char *what;               /* is on top, or how many; NULL: none, or no memory */
	uint64_t since_usec;      /* monotonic, as all times here */
	uint64_t begin_usec;      /* not healed before */
	uint64_t healed_usec;     /* the last time */
	unsigned int heal_count;  /* one soon after the other */
	struct retry_entry retry; /* until begin_usec */

	UT_hash_handle hh, by_id, by_path; /* hh: by unique name and pod uid, with NUL between */
	char bytes[];
};

struct drift_jobs; /* drift_work.c's */

struct drift {
	struct drift_options options;
	struct mount_watch *watch; /* NULL: nothing can be watched here */
	struct drift_mount *mounts, *ids, *paths;
	struct known_mount *known; /* those with an id, as a check is given them */
	uint32_t known_count, known_room;
	uint64_t newest_id; /* none of the above ever had a higher one */
	struct retry_queue *retries;
	struct drift_jobs *jobs;
	uint64_t root_id;       /* of the root directory's mount */
	uint64_t root_cover_id; /* of what hides it; 0 nothing */
	bool root_lost;         /* until it is bound again */
	bool checked;           /* the first check is over */
	bool check_again;       /* when the step that is under way has ended */
	bool saw_detached;      /* before the first check was over */
	size_t covered;         /* mounts with a cover_id */
	uint64_t seen[DRIFT_KINDS], healed[DRIFT_KINDS];
	uint64_t checks;
};

/* ---- drift_index.c ---- */

/* NULL: it is not known; @pod_uid NULL: the device. */
struct drift_mount *drift_index_find(const struct drift *drift, const char *unique_name,
				     const char *pod_uid);
struct drift_mount *drift_index_by_id(const struct drift *drift, uint64_t mount_id);
struct drift_mount *drift_index_by_path(const struct drift *drift, const char *path);
/* Found or made, from what the actual table says of it; NULL: it is not in the table, has no place
 * below the root directory, or there is no memory. */
struct drift_mount *drift_index_ensure(struct drift *drift, const char *unique_name,
				       const char *pod_uid);
void drift_index_set_id(struct drift *drift, struct drift_mount *mount, uint64_t mount_id);
/* What the last check saw, and is not to report again. */
void drift_index_expect(struct drift *drift, const struct drift_mount *mount, bool as_expected);
void drift_index_set_cover(struct drift *drift, struct drift_mount *mount, uint64_t cover_id);
void drift_index_remove(struct drift *drift, struct drift_mount *mount);

/* ---- drift.c ---- */

/* The mount is not where it was. */
void drift_lost(struct drift *drift, struct drift_mount *mount, enum drift_kind kind,
		const struct drift_culprit *culprit);
/* What others have mounted: does it hide a managed mount? */
void drift_note_other(struct drift *drift, const struct mount_entry *other, pid_t pid);
/* What hid something is gone. */
void drift_uncovered(struct drift *drift, uint64_t cover_id);
void drift_note_attributes(struct drift *drift, struct drift_mount *mount, uint64_t attributes);
/* What was wrong is right again; @healed: by us. */
void drift_over(struct drift *drift, struct drift_mount *mount, bool healed);
/* An incident; who begins it has filled in its kind's members. */
void drift_begin(struct drift *drift, struct drift_mount *mount, enum drift_kind kind,
		 const struct drift_culprit *culprit);
/* What is on top of it, or how many; before drift_begin(). */
void drift_set_what(struct drift_mount *mount, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void drift_root_is_lost(struct drift *drift, const struct drift_culprit *culprit);
void drift_root_is_back(struct drift *drift, uint64_t root_id);
void drift_cover(struct drift *drift, struct drift_mount *mount, const struct mount_entry *other,
		 const struct drift_culprit *culprit);
/* Do the volume's data live in the mount, and go with it? */
bool drift_lives_in_mount(const struct drift *drift, const char *unique_name, const char *pod_uid);
bool drift_is_held(const struct drift *drift, const struct drift_mount *mount);

/* ---- drift_start.c ---- */

/* What was mounted below the root directory when podvold started, in mount order. */
void drift_note_first(struct drift *drift, const struct table_entries *mounts);

/* ---- drift_check.c ---- */

enum drift_check { CHECK_NONE, CHECK_ATTRIBUTES, CHECK_ALL };

/* Soon; @at_once: nothing is expected to happen that would make it worth waiting. */
void drift_request_check(struct drift *drift, enum drift_check check, bool at_once);
/* podvold itself mounts or unmounts: looks that are not urgent wait for the end of it. */
void drift_own_work(struct drift *drift);
/* Which mount is this? Asked by drift_begin_identity(), for all that came with it at once. */
void drift_request_identity(struct drift *drift, uint64_t mount_id, pid_t pid);
void drift_begin_identity(struct drift *drift);
/* It is gone, or elsewhere: what was asked before, or is being answered, means nothing. */
void drift_drop_identity(struct drift *drift, uint64_t mount_id);

/* ---- drift_work.c ---- */

int drift_jobs_new(struct drift *drift, struct drift_jobs **ret);
struct drift_jobs *drift_jobs_free(struct drift_jobs *jobs);
/* Its attributes, on a thread; what fails is reported. */
void drift_request_set_back(struct drift *drift, struct drift_mount *mount);
/* All but the lowest of the mounts at its path, whose ids these are, lowest first. */
void drift_request_fold(struct drift *drift, struct drift_mount *mount, const uint64_t *ids,
			size_t count);
void drift_request_root(struct drift *drift);

/* ---- drift_report.c ---- */

/* With the command, unless it has ended. */
struct drift_culprit drift_who(pid_t pid);
/* To the journal and as events; over: @healed by podvold, or ended by itself. */
void drift_report_begin(const struct drift *drift, const struct drift_mount *mount);
void drift_report_over(const struct drift *drift, const struct drift_mount *mount, bool healed);
