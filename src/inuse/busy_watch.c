/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_watch - who uses a volume whose teardown failed because it is busy; see busy_watch.h
 *
 * Without memory a volume is not searched for: its teardown is tried with the back-off all the
 * same.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "inuse/busy_watch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/text.h"
#include "object/json/json_tree.h"

#include <assert.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	BATCH_MAX = 64,         /* volumes looked for in one search */
	DUE_SLACK_USEC = 50000, /* a timer may be this early */
};

struct process {
	struct busy_entry *entry;
	sd_event_source *source;
};

struct busy_entry {
	struct busy_watch *watch;
	char *key; /* unique name, newline, pod uid */
	char *unique_name, *pod_uid;
	char *mount_point, *folder;
	uint64_t since_usec;
	uint64_t next_usec; /* no search before then */
	bool asked;         /* waits for a search to begin */
	bool searching;     /* one runs that asks for it */
	bool answered;
	uint64_t process_ended_usec; /* the last one that was watched */
	struct busy_holders holders;
	struct failure failure;
	struct process processes[BUSY_HOLDERS_MAX];
	UT_hash_handle hh; /* by key */
};

/* One search; belongs to the worker while it runs, but for @cancelled. */
struct busy_search {
	struct worker_job job;
	struct busy_watch *watch; /* NULL: freed meanwhile */
	size_t count;
	struct busy_entry *entries[BATCH_MAX]; /* the loop's own; NULL: forgotten meanwhile */
	struct busy_query *queries;
	char *texts[2 * BATCH_MAX]; /* what the queries point to */
	int result;
	struct failure failure;
	atomic_bool cancelled;
};

struct busy_watch {
	struct busy_watch_options options;
	struct busy_entry *entries;
	struct busy_search *running;
};

/* ---- entries ---- */

static void watch_no_more(struct busy_entry *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(entry->processes); i++)
		entry->processes[i].source =
			sd_event_source_disable_unref(entry->processes[i].source);
	busy_holders_done(&entry->holders);
}

static void entry_free(struct busy_entry *entry)
{
	if (entry->hh.tbl)
		HASH_DEL(entry->watch->entries, entry);
	watch_no_more(entry);
	free(entry->key);
	free(entry->unique_name);
	free(entry->pod_uid);
	free(entry->mount_point);
	free(entry->folder);
	free(entry);
}

static struct busy_entry *find(const struct busy_watch *watch, const char *unique_name,
			       const char *pod_uid)
{
	cleanup_free char *key = NULL;
	struct busy_entry *entry;

	if (!watch->entries)
		return NULL;
	key = new_text("%s\n%s", unique_name, pod_uid);
	if (!key)
		return NULL;
	HASH_FIND_STR(watch->entries, key, entry);
	return entry;
}

static struct busy_entry *entry_new(struct busy_watch *watch, const struct busy_teardown *teardown)
{
	struct busy_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->watch = watch;
	entry->since_usec = monotonic_usec();
	entry->unique_name = strdup(teardown->unique_name);
	entry->pod_uid = strdup(teardown->pod_uid);
	entry->mount_point = strdup(teardown->mount_point);
	entry->folder = teardown->folder ? strdup(teardown->folder) : NULL;
	entry->key = new_text("%s\n%s", teardown->unique_name, teardown->pod_uid);
	if (entry->unique_name && entry->pod_uid && entry->mount_point && entry->key &&
	    (entry->folder || !teardown->folder)) {
		HASH_ADD_KEYPTR(hh, watch->entries, entry->key, strlen(entry->key), entry);
		if (entry->hh.tbl)
			return entry;
	}
	entry_free(entry);
	return NULL;
}

static struct busy_view view_of(const struct busy_entry *entry)
{
	return (struct busy_view){
		.unique_name = entry->unique_name,
		.pod_uid = entry->pod_uid,
		.since_usec = entry->since_usec,
		.searching = entry->asked || entry->searching,
		.holders = entry->answered ? &entry->holders : NULL,
		.failure = entry->failure.error < 0 ? &entry->failure : NULL,
	};
}

/* ---- processes that were found ---- */

static void forget_process(struct busy_entry *entry, pid_t pid)
{
	struct busy_holders *holders = &entry->holders;
	size_t kept = 0;

	for (size_t i = 0; i < holders->count; i++) {
		if (holders->list[i].pid == pid) {
			(void) close_keep_errno(holders->list[i].pid_fd);
			holders->total--;
		} else {
			holders->list[kept++] = holders->list[i];
		}
	}
	holders->count = kept;
}

static pid_t process_of(const struct busy_entry *entry, int fd)
{
	for (size_t i = 0; i < entry->holders.count; i++)
		if (entry->holders.list[i].pid_fd == fd)
			return entry->holders.list[i].pid;
	return 0;
}

static int on_process_ended(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct process *process = userdata;
	struct busy_entry *entry = process->entry;
	const struct busy_watch_options *options = &entry->watch->options;

	process->source = sd_event_source_disable_unref(process->source);
	forget_process(entry, process_of(entry, fd));
	entry->process_ended_usec = monotonic_usec();
	options->retry(options->userdata, entry->unique_name, entry->pod_uid);
	return 0;
}

/* One that cannot be watched is noticed with the back-off. */
static void watch_processes(struct busy_entry *entry)
{
	const struct busy_watch_options *options = &entry->watch->options;

	for (size_t i = 0; i < entry->holders.count; i++) {
		struct process *process = &entry->processes[i];
		int fd = entry->holders.list[i].pid_fd;

		process->entry = entry;
		if (fd < 0 || sd_event_add_io(options->event, &process->source, fd, EPOLLIN,
					      on_process_ended, process) < 0)
			continue;
		(void) sd_event_source_set_priority(process->source, options->priority);
	}
}

/* ---- the search ---- */

/* On a worker: only what the search itself owns is touched. */
static void run_search(struct worker_job *job)
{
	struct busy_search *search = (struct busy_search *) job;

	search->result = busy_holders_search(search->queries, search->count, &search->cancelled,
					     &search->failure);
}

static void search_free(struct busy_search *search)
{
	for (size_t i = 0; i < search->count && search->queries; i++)
		busy_holders_done(&search->queries[i].holders);
	for (size_t i = 0; i < ARRAY_SIZE(search->texts); i++)
		free(search->texts[i]);
	free(search->queries);
	free(search);
}

void busy_make_text(char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length;) {
		size_t step = utf8_sequence((const unsigned char *) text + i, length - i);

		if (step == 0 || (unsigned char) text[i] < ' ' || text[i] == 0x7f) {
			text[i] = '?';
			step = 1;
		}
		i += step;
	}
}

static bool is_same_use(const struct busy_holder *left, const struct busy_holder *right)
{
	return left->pid == right->pid && left->kind == right->kind &&
	       strcmp(left->name, right->name) == 0;
}

/* The same users as before are no news, in whatever number they come. */
static bool is_news(const struct busy_entry *entry, const struct busy_holders *holders)
{
	if (!entry->answered)
		return true;
	for (size_t i = 0; i < holders->count; i++) {
		size_t j = 0;

		while (j < entry->holders.count &&
		       !is_same_use(&holders->list[i], &entry->holders.list[j]))
			j++;
		if (j == entry->holders.count)
			return true;
	}
	return false;
}

static void take_answer(struct busy_entry *entry, const struct busy_search *search,
			struct busy_holders *holders)
{
	const struct busy_watch_options *options = &entry->watch->options;
	bool is_new = search->result < 0 ? entry->failure.error != search->result
					 : is_news(entry, holders);
	struct busy_view view;

	entry->searching = false;
	if (search->result == -ECANCELED)
		return;
	for (size_t i = 0; i < holders->count; i++) {
		busy_make_text(holders->list[i].command);
		busy_make_text(holders->list[i].name);
	}
	watch_no_more(entry);
	entry->failure = search->failure;
	entry->holders = *holders;
	entry->answered = true;
	*holders = (struct busy_holders){ .count = 0 }; /* its descriptors are the entry's now */
	watch_processes(entry);
	view = view_of(entry);
	if (is_new)
		options->found(options->userdata, &view);
}

static bool is_anything_asked(const struct busy_watch *watch)
{
	const struct busy_entry *entry = watch->entries;

	while (entry && !entry->asked)
		entry = entry->hh.next;
	return entry;
}

/* The next search begins with a turn; not here, where the workers may be gone. */
static void search_done(struct worker_job *job)
{
	struct busy_search *search = (struct busy_search *) job;
	struct busy_watch *watch = search->watch;

	if (watch) {
		watch->running = NULL;
		for (size_t i = 0; i < search->count; i++)
			if (search->entries[i])
				take_answer(search->entries[i], search,
					    &search->queries[i].holders);
		if (is_anything_asked(watch))
			watch->options.turn(watch->options.userdata);
	}
	search_free(search);
}

static bool add_to_search(struct busy_search *search, struct busy_entry *entry)
{
	size_t i = search->count;
	struct busy_query *query = &search->queries[i];

	search->texts[2 * i] = strdup(entry->mount_point);
	search->texts[2 * i + 1] = entry->folder ? strdup(entry->folder) : NULL;
	if (!search->texts[2 * i] || (entry->folder && !search->texts[2 * i + 1]))
		return false;
	query->mount_point = search->texts[2 * i];
	query->folder = search->texts[2 * i + 1];
	search->entries[i] = entry;
	search->count++;
	entry->asked = false;
	entry->searching = true;
	return true;
}

static size_t count_asked(const struct busy_watch *watch)
{
	const struct busy_entry *entry = watch->entries;
	size_t count = 0;

	for (; entry && count < BATCH_MAX; entry = entry->hh.next)
		count += entry->asked;
	return count;
}

void busy_watch_search(struct busy_watch *watch)
{
	size_t asked = watch->running ? 0 : count_asked(watch);
	struct busy_search *search = asked > 0 ? calloc(1, sizeof(*search)) : NULL;
	struct busy_entry *entry;

	if (!search)
		return; /* without memory the next turn asks again */
	search->queries = calloc(asked, sizeof(*search->queries));
	search->watch = watch;
	search->result = -ECANCELED; /* a pool that closes runs no job */
	search->job.run = run_search;
	search->job.done = search_done;
	for (entry = watch->entries; entry && search->queries && search->count < asked;
	     entry = entry->hh.next)
		if (entry->asked && !add_to_search(search, entry))
			break;
	if (search->count == 0) {
		search_free(search);
		return;
	}
	watch->running = search;
	worker_submit(watch->options.workers, &search->job);
}

/* ---- what happens to a teardown ---- */

void busy_watch_failed(struct busy_watch *watch, const struct busy_teardown *teardown)
{
	const struct busy_watch_options *options = &watch->options;
	struct busy_entry *entry;

	assert(teardown && teardown->unique_name && teardown->pod_uid && teardown->mount_point);
	entry = find(watch, teardown->unique_name, teardown->pod_uid);
	if (!entry)
		entry = entry_new(watch, teardown);
	if (!entry)
		return;
	if (entry->process_ended_usec >= teardown->begun_usec)
		options->retry(options->userdata, entry->unique_name, entry->pod_uid);
	if (entry->asked || entry->searching ||
	    monotonic_usec() + DUE_SLACK_USEC < entry->next_usec)
		return;
	entry->next_usec = teardown->retry_usec;
	entry->asked = true;
	options->turn(options->userdata);
}

void busy_watch_over(struct busy_watch *watch, const char *unique_name, const char *pod_uid)
{
	struct busy_entry *entry = find(watch, unique_name, pod_uid);
	struct busy_search *search = watch->running;
	size_t left = 0;

	if (!entry)
		return;
	for (size_t i = 0; search && i < search->count; i++) {
		if (search->entries[i] == entry)
			search->entries[i] = NULL;
		left += search->entries[i] != NULL;
	}
	if (search && left == 0)
		atomic_store(&search->cancelled, true);
	entry_free(entry);
}

bool busy_watch_check(const struct busy_watch *watch, const char *unique_name, const char *pod_uid,
		      struct busy_view *ret)
{
	const struct busy_entry *entry;

	assert(watch && unique_name && pod_uid && ret);
	entry = find(watch, unique_name, pod_uid);
	if (!entry)
		return false;
	*ret = view_of(entry);
	return true;
}

/* ---- all of them ---- */

int busy_watch_new(const struct busy_watch_options *options, struct busy_watch **ret)
{
	struct busy_watch *watch = calloc(1, sizeof(*watch));

	assert(options && options->event && options->workers && options->found && options->retry);
	if (!watch)
		return -ENOMEM;
	watch->options = *options;
	*ret = watch;
	return 0;
}

struct busy_watch *busy_watch_free(struct busy_watch *watch)
{
	struct busy_entry *entry, *next;

	if (!watch)
		return NULL;
	/* Left on a thread that is stuck: it is freed when that comes back, if ever. */
	if (watch->running) {
		atomic_store(&watch->running->cancelled, true);
		watch->running->watch = NULL;
	}
	HASH_ITER (hh, watch->entries, entry, next)
		entry_free(entry);
	free(watch);
	return NULL;
}
