/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size_limits - see size_limits.h
 *
 * One job counts one volume after the other; the timer runs from the end of a round.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/size_limits.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "mount/capacity/capacity.h"
#include "status/status.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define CONDITION "VolumeOverSizeLimit"

enum {
	INTERVAL_USEC = 10 * 1000 * 1000,
	SHARE = 50,                    /* a round takes at most one part in so many */
	COUNT_USEC = 60 * 1000 * 1000, /* of one volume: what is more counts as over */
	TEXT_BYTES = 400,
};

struct limited {
	char *unique_name, *pod_uid;
	bool is_over;
	char *text;        /* what it says of that; NULL: it is not over, or no memory */
	UT_hash_handle hh; /* by unique_name, which names the pod */
};

struct count {
	struct worker_job job; /* first: the pool hands it back */
	struct size_limits *limits;
	char *unique_name, *path;
	uint64_t limit_bytes, begun_usec;
	struct tree_usage usage;
	int result;
};

struct size_limits {
	const struct reporter *reporter;
	struct worker_pool *const *pool; /* made later */
	struct limited *list;
	struct limited *next; /* of the round; NULL: none is under way */
	struct count *count;  /* on a thread, or NULL */
	sd_event_source *timer;
	uint64_t round_usec; /* what counting took in this round */
};

/* ---- counting, on a thread ---- */

static void count_run(struct worker_job *job)
{
	struct count *count = (struct count *) job;
	cleanup_close int fd = open(count->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	count->begun_usec = monotonic_usec();
	count->result =
		fd < 0 ? -errno
		       : tree_usage_count(fd, count->begun_usec + COUNT_USEC, &count->usage);
}

static void count_free(struct count *count)
{
	free(count->unique_name);
	free(count->path);
	free(count);
}

/* ---- reporting ---- */

/* As kubelet says it when it evicts. */
static void print_text(const struct desired_pod *want, const struct count *count, char *text)
{
	(void) snprintf(text, TEXT_BYTES,
			"Usage of EmptyDir volume \"%.63s\" exceeds the limit: %s%" PRIu64
			" of %" PRIu64 " bytes. Nothing is evicted%s",
			want->outer_names[0], count->result > 0 ? "more than " : "",
			count->usage.bytes, count->limit_bytes, advice_clause(-ENOSPC));
}

static void report(struct size_limits *limits, struct limited *limited,
		   const struct desired_pod *want, const struct count *count)
{
	const struct reporter *reporter = limits->reporter;
	char text[TEXT_BYTES] = "", key[POD_KEY_BYTES];

	if (limited->is_over)
		print_text(want, count, text);
	free(limited->text);
	limited->text = *text ? strdup(text) : NULL;
	log_about(limited->is_over ? LOG_WARNING : LOG_NOTICE,
		  &(struct log_subject){ .pod = pod_key(want->pod->pod, key),
					 .volume = limited->unique_name,
					 .pod_uid = limited->pod_uid },
		  "%s", *text ? text : "the emptyDir is within its limit again");
	reporter->record(reporter->userdata, want->pod, *text ? "Warning" : "Normal",
			 *text ? "VolumeOverSizeLimit" : "VolumeWithinSizeLimit",
			 *text ? text : "the emptyDir is within its limit again");
	if (*reporter->store)
		condition_write(*reporter->store, want->pod, CONDITION, text);
}

/* ---- the volumes ---- */

/* Is it an emptyDir on disk, which has no file system of its own? NULL: no. */
static bool is_directory(const struct desired_pod *want)
{
	const struct pod_volume *source = want ? want->spec.source : NULL;

	return source && !want->spec.pv && source->source == SOURCE_EMPTY_DIR && !*source->medium;
}

static const struct desired_pod *want_of(const struct size_limits *limits,
					 const struct limited *limited)
{
	const struct desired_volume *want =
		desired_find(limits->reporter->tables->desired, limited->unique_name);

	return want ? desired_find_pod(want, limited->pod_uid) : NULL;
}

static void forget(struct size_limits *limits, struct limited *limited)
{
	if (limits->next == limited)
		limits->next = limited->hh.next;
	HASH_DEL(limits->list, limited);
	free(limited->unique_name);
	free(limited->pod_uid);
	free(limited->text);
	free(limited);
}

static void add(struct size_limits *limits, const char *unique_name, const char *pod_uid)
{
	struct limited *limited;

	HASH_FIND_STR(limits->list, unique_name, limited);
	if (limited)
		return;
	limited = calloc(1, sizeof(*limited));
	if (!limited)
		return;
	limited->unique_name = strdup(unique_name);
	limited->pod_uid = strdup(pod_uid);
	if (limited->unique_name && limited->pod_uid)
		HASH_ADD_KEYPTR(hh, limits->list, limited->unique_name,
				strlen(limited->unique_name), limited);
	if (limited->unique_name && limited->pod_uid && limited->hh.tbl)
		return;
	free(limited->unique_name);
	free(limited->pod_uid);
	free(limited);
}

/* ---- a round ---- */

static void go_on(struct size_limits *limits);
static void count_done(struct worker_job *job);

/* Return: false there is nothing to count. */
static bool begin_count(struct size_limits *limits, const struct limited *limited)
{
	const struct desired_pod *want = want_of(limits, limited);
	const struct actual_volume *have =
		actual_find(limits->reporter->tables->actual, limited->unique_name);
	const struct actual_pod *pod = have ? actual_find_pod(have, limited->pod_uid) : NULL;
	struct count *count;

	if (!*limits->pool || !want || !pod || pod->state != MOUNT_DONE)
		return false;
	count = calloc(1, sizeof(*count));
	if (!count)
		return false;
	*count = (struct count){
		.job = { .run = count_run, .done = count_done },
		.limits = limits,
		.unique_name = strdup(limited->unique_name),
		.path = strdup(pod->path),
		.limit_bytes = (uint64_t) want->spec.source->size_limit_bytes,
		.result = -ECANCELED,
	};
	if (!count->unique_name || !count->path) {
		count_free(count);
		return false;
	}
	limits->count = count;
	worker_submit(*limits->pool, &count->job);
	return true;
}

/* What took too long to be counted is no proof that it is within. */
static void check_size(struct size_limits *limits, const struct count *count)
{
	const struct desired_pod *want;
	struct limited *limited;
	bool is_over = count->usage.bytes > count->limit_bytes;

	HASH_FIND_STR(limits->list, count->unique_name, limited);
	want = limited ? want_of(limits, limited) : NULL;
	if (!want || count->result < 0 || (count->result > 0 && !is_over) ||
	    is_over == limited->is_over)
		return;
	limited->is_over = is_over;
	report(limits, limited, want, count);
}

static void count_done(struct worker_job *job)
{
	struct count *count = (struct count *) job;
	struct size_limits *limits = count->limits;

	limits->count = NULL;
	if (count->begun_usec > 0)
		limits->round_usec += monotonic_usec() - count->begun_usec;
	check_size(limits, count);
	go_on(limits);
	count_free(count);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	size_limits_check(userdata);
	return 0;
}

static void arm(struct size_limits *limits)
{
	uint64_t wait_usec = limits->round_usec * SHARE;

	if (!limits->list || !*limits->pool)
		return;
	if (wait_usec < INTERVAL_USEC)
		wait_usec = INTERVAL_USEC;
	limits->timer = sd_event_source_disable_unref(limits->timer);
	if (sd_event_add_time_relative(limits->reporter->event, &limits->timer, CLOCK_MONOTONIC,
				       wait_usec, 1000000, on_timer, limits) < 0)
		log_message(LOG_ERR, "sizes of emptyDirs are counted on request only");
}

static void go_on(struct size_limits *limits)
{
	while (limits->next && !limits->count) {
		const struct limited *limited = limits->next;

		limits->next = limited->hh.next;
		(void) begin_count(limits, limited);
	}
	if (!limits->next && !limits->count)
		arm(limits);
}

void size_limits_check(struct size_limits *limits)
{
	if (!limits || limits->count || !limits->list)
		return;
	limits->next = limits->list;
	limits->round_usec = 0;
	go_on(limits);
}

/* ---- what makes it count ---- */

static void note_mounted(struct size_limits *limits, const char *unique_name, const char *pod_uid)
{
	const struct desired_volume *want =
		desired_find(limits->reporter->tables->desired, unique_name);
	const struct desired_pod *pod = want && pod_uid ? desired_find_pod(want, pod_uid) : NULL;
	bool is_first = !limits->list;

	/* As for kubelet, 0 is no limit. */
	if (!is_directory(pod) || pod->spec.source->size_limit_bytes <= 0)
		return;
	add(limits, unique_name, pod_uid);
	if (is_first && !limits->count)
		arm(limits);
}

void size_limits_step_ended(void *userdata, const struct operation_ended *ended)
{
	const struct step_result *result = &ended->result;
	struct size_limits *limits = userdata;
	struct limited *limited;

	if (!limits || result->error < 0 || !result->pod_uid)
		return;
	if (result->kind == STEP_PUBLISH) {
		note_mounted(limits, result->unique_name, result->pod_uid);
		return;
	}
	HASH_FIND_STR(limits->list, result->unique_name, limited);
	if (limited)
		forget(limits, limited);
	if (!limits->list)
		limits->timer = sd_event_source_disable_unref(limits->timer);
}

void size_limits_check_all(struct size_limits *limits)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	for (volume = limits ? actual_first(limits->reporter->tables->actual) : NULL; volume;
	     volume = volume->hh.next)
		for (pod = volume->pods; pod; pod = pod->hh.next)
			note_mounted(limits, volume->unique_name, pod->pod_uid);
}

void size_limits_print_metrics(const struct size_limits *limits, FILE *file)
{
	const struct limited *limited;
	size_t count = 0;

	if (!limits)
		return;
	for (limited = limits->list; limited; limited = limited->hh.next)
		count += limited->is_over;
	(void) fprintf(
		file,
		"# HELP podvol_volumes_over_size_limit EmptyDirs on disk that take more than "
		"their sizeLimit.\n# TYPE podvol_volumes_over_size_limit gauge\n"
		"podvol_volumes_over_size_limit %zu\n",
		count);
}

/* ---- start and stop ---- */

int size_limits_new(const struct reporter *reporter, struct worker_pool *const *pool,
		    struct size_limits **ret)
{
	assert(reporter && pool && ret);
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->reporter = reporter;
	(*ret)->pool = pool;
	return 0;
}

struct size_limits *size_limits_free(struct size_limits *limits)
{
	struct limited *limited, *next;

	if (!limits)
		return NULL;
	(void) sd_event_source_disable_unref(limits->timer);
	HASH_ITER (hh, limits->list, limited, next)
		forget(limits, limited);
	free(limits);
	return NULL;
}

const char *size_limits_find(const struct size_limits *limits, const char *unique_name)
{
	struct limited *limited = NULL;

	if (limits)
		HASH_FIND_STR(limits->list, unique_name, limited);
	return limited ? limited->text : NULL;
}
