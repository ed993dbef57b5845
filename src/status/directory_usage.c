/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_usage - see directory_usage.h
 *
 * A window is a tenth of a second with its share of the budget: what a portion leaves of that is
 * the next volume's, and with nothing left the timer waits for the next window. The timer also
 * watches the portion on the thread.
 *
 * A tree may be large, or grow as fast as it is counted: after a second's budget it waits behind
 * the others, open, and after FILES_MAX it has had enough.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/directory_usage.h"

#include "base/clock.h"
#include "base/hash_table.h"
#include "object/json/json.h"
#include "reconcile/reconcile.h"
#include "status/view_time.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <utlist.h>

enum {
	WINDOWS_PER_SECOND = 10,
	WINDOW_USEC = USEC_PER_SEC / WINDOWS_PER_SECOND,
	PORTION = 64,                 /* entries, between looks at whether it is to end */
	HUNG_USEC = 5 * USEC_PER_SEC, /* a portion that takes longer is set aside */
	HUNG_MAX = 3,                 /* so many threads may be lost to it */
	BEGUN_MAX = 4, /* counts at the same time: each keeps 32 descriptors and 1 MiB at most */
	FILES_MAX = 10000000, /* of one count */
	FRESH_USEC = 10 * USEC_PER_SEC,
	REST = 10, /* times what counting took */
};

struct portion;

/* A volume that was asked about. */
struct directory {
	char *unique_name, *path;
	struct usage_view known;
	uint64_t ended_usec, took_usec;    /* of the last count, well or not; 0 none did */
	struct portion *portion;           /* NULL: it is not being counted */
	struct directory *previous, *next; /* of those whose turn is to come */
	bool is_due;                       /* in that list */
	UT_hash_handle hh;                 /* by unique_name */
};

/* The count of one, on a thread or between two portions. */
struct portion {
	struct worker_job job; /* first: the pool hands it back */
	struct directory_usage *usage;
	struct directory *directory; /* NULL: it was forgotten meanwhile */
	char *path;
	uint64_t begun_usec, submitted_usec;
	atomic_bool cancelled;
	bool set_aside;
	bool waits; /* for its next turn */
	/* The thread's while it runs. */
	uint64_t entries_max, entries;
	struct tree_count *count;
	struct tree_usage so_far;
	int result; /* as tree_count_go_on() */
};

struct directory_usage {
	struct directory_usage_options options;
	struct directory *list, *due;
	struct portion *current; /* NULL: none is being counted, but for those set aside */
	bool on_thread;          /* current is */
	sd_event_source *timer;
	uint64_t window_usec, left; /* when this one began, and what is left of it */
	uint64_t turn_left;         /* of current's turn */
	unsigned int hung, begun;   /* begun: with those that hang and those that wait */
	uint64_t files_total, counts_total;
};

bool directory_usage_takes(const struct desired_pod *want)
{
	const struct persistent_volume *pv = want ? spec_pv(&want->spec) : NULL;
	const struct pod_volume *source = want ? want->spec.source : NULL;

	if (pv)
		return pv->source == PV_SOURCE_LOCAL || pv->source == PV_SOURCE_HOST_PATH;
	return source &&
	       (source->source == SOURCE_HOST_PATH || source->source == SOURCE_CONFIG_MAP ||
		source->source == SOURCE_DOWNWARD_API ||
		(source->source == SOURCE_EMPTY_DIR && !*source->medium));
}

/* ---- counting, on a thread ---- */

static void count_portion(struct portion *portion)
{
	uint64_t before = portion->so_far.inodes;

	portion->entries = 0;
	portion->result = 1;
	while (portion->result > 0 && portion->entries < portion->entries_max &&
	       !atomic_load(&portion->cancelled)) {
		uint64_t left = portion->entries_max - portion->entries;

		portion->result = tree_count_go_on(portion->count, left < PORTION ? left : PORTION,
						   &portion->so_far);
		portion->entries = portion->so_far.inodes - before;
	}
	if (portion->result > 0 && portion->so_far.inodes >= FILES_MAX)
		portion->result = -EFBIG;
}

static void portion_run(struct worker_job *job)
{
	struct portion *portion = (struct portion *) job;

	if (!portion->count && !atomic_load(&portion->cancelled))
		portion->result = tree_count_open(portion->path, &portion->count);
	if (portion->result >= 0 && portion->count)
		count_portion(portion);
	if (portion->result <= 0 || atomic_load(&portion->cancelled))
		portion->count = tree_count_free(portion->count);
}

static void portion_free(struct portion *portion)
{
	tree_count_free(portion->count);
	free(portion->path);
	free(portion);
}

static void portion_closed(struct worker_job *job)
{
	portion_free((struct portion *) job);
}

/* To close a descriptor may take long: that is a thread's, too. */
static void portion_end(struct directory_usage *usage, struct portion *portion)
{
	usage->begun--;
	if (!portion->count || !*usage->options.pool) {
		portion_free(portion);
		return;
	}
	atomic_store(&portion->cancelled, true);
	portion->job.done = portion_closed;
	worker_submit(*usage->options.pool, &portion->job);
}

/* ---- whose turn it is ---- */

static void go_on(struct directory_usage *usage);
static void portion_done(struct worker_job *job);

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

static void arm(struct directory_usage *usage, uint64_t until_usec)
{
	usage->timer = sd_event_source_disable_unref(usage->timer);
	(void) sd_event_add_time(usage->options.event, &usage->timer, CLOCK_MONOTONIC, until_usec,
				 WINDOW_USEC / 10, on_timer, usage);
}

static void leave_queue(struct directory_usage *usage, struct directory *directory)
{
	if (directory->is_due)
		DL_DELETE2(usage->due, directory, previous, next);
	directory->is_due = false;
}

static struct portion *portion_new(struct directory_usage *usage, struct directory *directory)
{
	struct portion *portion = calloc(1, sizeof(*portion));

	if (portion)
		portion->path = strdup(directory->path);
	if (!portion || !portion->path) {
		free(portion);
		return NULL;
	}
	portion->usage = usage;
	portion->directory = directory;
	portion->job.run = portion_run;
	portion->job.done = portion_done;
	portion->result = 1;
	portion->begun_usec = monotonic_usec();
	directory->portion = portion;
	usage->begun++;
	usage->counts_total++;
	return portion;
}

static struct directory *next_in_queue(const struct directory_usage *usage)
{
	struct directory *directory;

	DL_FOREACH2(usage->due, directory, next)
	if (directory->portion || usage->begun < BEGUN_MAX)
		return directory;
	return NULL;
}

/* The next in the queue, as what is being counted. False: there is none, or no memory. */
static bool begin_next(struct directory_usage *usage)
{
	struct directory *directory = next_in_queue(usage);

	if (!directory || usage->hung >= HUNG_MAX)
		return false;
	leave_queue(usage, directory);
	usage->current = directory->portion ? directory->portion : portion_new(usage, directory);
	if (!usage->current)
		return false;
	usage->current->waits = false;
	usage->turn_left = usage->options.files_per_second;
	return true;
}

static void enter_queue(struct directory_usage *usage, struct directory *directory)
{
	DL_APPEND2(usage->due, directory, previous, next);
	directory->is_due = true;
}

/* Its turn is over, and others wait. */
static void let_others(struct directory_usage *usage)
{
	struct portion *portion = usage->current;

	if (!portion || usage->turn_left > 0 || !usage->due)
		return;
	portion->waits = true;
	enter_queue(usage, portion->directory);
	usage->current = NULL;
}

/* The thread has it until portion_done(). */
static void submit(struct directory_usage *usage, uint64_t now_usec)
{
	struct portion *portion = usage->current;

	portion->entries_max = usage->left;
	portion->submitted_usec = now_usec;
	usage->on_thread = true;
	arm(usage, now_usec + HUNG_USEC);
	worker_submit(*usage->options.pool, &portion->job);
}

static void go_on(struct directory_usage *usage)
{
	uint64_t now_usec = monotonic_usec();

	if (usage->on_thread || !*usage->options.pool || (!usage->current && !begin_next(usage)))
		return;
	if (now_usec - usage->window_usec >= WINDOW_USEC) {
		usage->window_usec = now_usec;
		usage->left = usage->options.files_per_second / WINDOWS_PER_SECOND + 1;
	}
	if (usage->left > 0)
		submit(usage, now_usec);
	else
		arm(usage, usage->window_usec + WINDOW_USEC);
}

/* It stays the thread's, and the volume has no other count until it comes back. */
static void set_aside(struct directory_usage *usage)
{
	struct portion *portion = usage->current;

	portion->set_aside = true;
	atomic_store(&portion->cancelled, true);
	usage->hung++;
	usage->current = NULL;
	usage->on_thread = false;
	if (!portion->directory)
		return;
	portion->directory->known.error = -ETIMEDOUT;
	usage->options.counted(usage->options.userdata, portion->directory->path);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct directory_usage *usage = userdata;

	if (usage->on_thread)
		set_aside(usage);
	go_on(usage);
	return 0;
}

/* ---- what was counted ---- */

static void take_result(struct directory_usage *usage, const struct portion *portion)
{
	struct directory *directory = portion->directory;
	uint64_t now_usec = monotonic_usec();

	directory->portion = NULL;
	directory->ended_usec = now_usec;
	/* How long its server was silent says nothing of how long the next one takes. */
	directory->took_usec = portion->set_aside ? 0 : now_usec - portion->begun_usec;
	directory->known.error = portion->result > 0 ? -ETIMEDOUT : portion->result;
	if (portion->result == 0) {
		directory->known.usage = portion->so_far;
		directory->known.counted_usec = now_usec;
	}
	usage->options.counted(usage->options.userdata, directory->path);
}

/* One that could not be looked at costs as much as a file. */
static void pay(struct directory_usage *usage, uint64_t entries)
{
	entries += entries == 0;
	usage->files_total += entries;
	usage->left -= entries < usage->left ? entries : usage->left;
	usage->turn_left -= entries < usage->turn_left ? entries : usage->turn_left;
}

static void portion_done(struct worker_job *job)
{
	struct portion *portion = (struct portion *) job;
	struct directory_usage *usage = portion->usage;
	struct directory *directory = portion->directory;
	bool is_over = portion->result <= 0 || !directory || portion->set_aside;

	pay(usage, portion->entries);
	usage->hung -= portion->set_aside;
	if (usage->current == portion) {
		usage->on_thread = false;
		usage->current = is_over ? NULL : portion;
		usage->timer = sd_event_source_disable_unref(usage->timer);
	}
	if (directory && directory->known.counted_usec == 0)
		directory->known.usage = portion->so_far;
	if (directory && is_over)
		take_result(usage, portion);
	if (is_over)
		portion_end(usage, portion);
	else
		let_others(usage);
	go_on(usage);
}

/* ---- the volumes ---- */

static void directory_free(struct directory_usage *usage, struct directory *directory)
{
	leave_queue(usage, directory);
	HASH_DEL(usage->list, directory);
	free(directory->unique_name);
	free(directory->path);
	free(directory);
}

/* Its count ends at once, or when the thread looks. */
static void forget(struct directory_usage *usage, struct directory *directory)
{
	struct portion *portion = directory->portion;

	directory_free(usage, directory);
	if (!portion)
		return;
	portion->directory = NULL;
	if (portion->waits || (portion == usage->current && !usage->on_thread)) {
		usage->current = portion->waits ? usage->current : NULL;
		portion_end(usage, portion);
		go_on(usage);
		return;
	}
	atomic_store(&portion->cancelled, true);
}

static struct directory *add(struct directory_usage *usage, const char *unique_name,
			     const char *path)
{
	struct directory *directory = calloc(1, sizeof(*directory));

	if (!directory)
		return NULL;
	directory->unique_name = strdup(unique_name);
	directory->path = strdup(path);
	if (directory->unique_name && directory->path)
		HASH_ADD_KEYPTR(hh, usage->list, directory->unique_name, strlen(unique_name),
				directory);
	if (directory->hh.tbl)
		return directory;
	free(directory->unique_name);
	free(directory->path);
	free(directory);
	return NULL;
}

/* Another pod's mount of the same volume. False: no memory. */
static bool move_to(struct directory *directory, const char *path)
{
	char *copy;

	if (strcmp(directory->path, path) == 0)
		return true;
	copy = strdup(path);
	if (!copy)
		return false;
	free(directory->path);
	directory->path = copy;
	return true;
}

static bool is_fresh(const struct directory *directory)
{
	uint64_t age_usec = monotonic_usec() - directory->ended_usec;

	return directory->ended_usec > 0 &&
	       (age_usec < FRESH_USEC || age_usec < directory->took_usec * REST);
}

int directory_usage_want(struct directory_usage *usage, const char *unique_name, const char *path,
			 struct usage_view *ret)
{
	struct directory *directory = NULL;
	bool is_first;

	if (!usage || !actual_find(usage->options.actual, unique_name))
		return -ENOENT;
	HASH_FIND_STR(usage->list, unique_name, directory);
	is_first = !directory;
	if (!directory)
		directory = add(usage, unique_name, path);
	if (!directory)
		return -ENOENT;
	if (!directory->portion && !directory->is_due && !is_fresh(directory) &&
	    move_to(directory, path)) {
		enter_queue(usage, directory);
		go_on(usage);
	}
	*ret = directory->known;
	return is_first;
}

void directory_usage_forget(void *box, const char *unique_name, const char *pod_uid)
{
	struct directory_usage *usage = box;
	struct directory *directory = NULL;

	if (usage)
		HASH_FIND_STR(usage->list, unique_name, directory);
	if (directory)
		forget(usage, directory);
}

void directory_usage_step_started(void *usage, const struct step *step)
{
	if (step_takes_down(step->kind))
		directory_usage_forget(usage, step->unique_name, step->pod_uid);
}

/* ---- showing ---- */

void directory_usage_describe(const void *box, struct cJSON *item, const char *unique_name,
			      const char *pod_uid)
{
	const struct directory_usage *usage = box;
	const struct directory *directory = NULL;

	if (usage)
		HASH_FIND_STR(usage->list, unique_name, directory);
	if (!directory || directory->known.counted_usec == 0)
		return;
	(void) json_set_int(item, "usedBytes", (int64_t) directory->known.usage.bytes);
	(void) json_set_int(item, "inodesUsed", (int64_t) directory->known.usage.inodes);
	view_set_time(item, "countedAt", directory->known.counted_usec);
}

void directory_usage_print_metrics(const struct directory_usage *usage, FILE *file)
{
	if (!usage)
		return;
	(void) fprintf(
		file,
		"# HELP podvol_directory_usage_files_total Files that were looked at to count "
		"what volumes take.\n# TYPE podvol_directory_usage_files_total counter\n"
		"podvol_directory_usage_files_total %" PRIu64 "\n"
		"# HELP podvol_directory_usage_counts_total Counts of a volume's files that "
		"began.\n# TYPE podvol_directory_usage_counts_total counter\n"
		"podvol_directory_usage_counts_total %" PRIu64 "\n",
		usage->files_total, usage->counts_total);
}

/* ---- start and stop ---- */

int directory_usage_new(const struct directory_usage_options *options, struct directory_usage **ret)
{
	assert(options->files_per_second > 0 && options->counted);
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->options = *options;
	return 0;
}

/* What a thread that hangs has is the thread's; it ends with the process. */
struct directory_usage *directory_usage_free(struct directory_usage *usage)
{
	struct directory *directory, *next;

	if (!usage)
		return NULL;
	usage->timer = sd_event_source_disable_unref(usage->timer);
	HASH_ITER (hh, usage->list, directory, next) {
		if (directory->portion && directory->portion->waits)
			portion_free(directory->portion);
		directory_free(usage, directory);
	}
	if (usage->current && !usage->on_thread)
		portion_free(usage->current);
	free(usage);
	return NULL;
}
