/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unstage_gate - no device is taken from under a mount that some other process still has; see
 * unstage_gate.h
 *
 * What cannot be found out keeps the volume as it is, and is tried again with kubelet's back-off;
 * so is one that a process has, which may unmount it and live on. Whether a directory that should
 * hold a device is a mount at all is asked first, so that volumes without a device cost one statx.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "inuse/unstage_gate.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/text.h"
#include "inuse/unstage_search.h"
#include "operation/retry.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>

enum {
	CLEARED_USEC = 1000000,
	RETRY_FIRST_USEC = 500000,
	RETRY_MAX_USEC = 122 * 1000000,
};

enum gate_state {
	GATE_ASKED,     /* waits for a search to begin */
	GATE_SEARCHING, /* its path is lent to a worker */
	GATE_CLEARED,   /* no process has it: may pass until its retry is due */
	GATE_HELD,      /* until its retry is due, or the process that has it ends */
};

struct gate_entry {
	struct unstage_gate *gate;
	enum gate_state state;
	char *key; /* unique name, newline, pod uid */
	char *unique_name, *pod_uid;
	struct unstage_target target;
	const struct failure *failure; /* kept; NULL: none yet */
	struct unstage_force *force;   /* NULL: the next search is not forced */
	uint64_t since_usec, searched_usec, delay_usec;
	int pid_fd;
	sd_event_source *process;
	struct retry_entry retry;
	UT_hash_handle hh; /* by key */
};

/* One pass; belongs to the worker while it runs. */
struct gate_search {
	struct worker_job job;
	struct unstage_gate *gate; /* NULL: freed meanwhile */
	struct gate_entry *entries[UNSTAGE_SEARCH_MAX];
	struct unstage_query questions[UNSTAGE_SEARCH_MAX];
	size_t count;
	int result;
	struct failure failure;
};

struct unstage_gate {
	struct unstage_gate_options options;
	struct gate_entry *entries;
	struct gate_search *running;
	struct retry_queue *retries;
	bool told_hidden;
};

/* ---- entries ---- */

static void entry_free(struct gate_entry *entry)
{
	if (entry->hh.tbl)
		HASH_DEL(entry->gate->entries, entry);
	retry_remove(entry->gate->retries, &entry->retry);
	sd_event_source_disable_unref(entry->process);
	(void) close_keep_errno(entry->pid_fd);
	unstage_force_cancel(entry->force);
	free(entry->key);
	free(entry->unique_name);
	free(entry->pod_uid);
	(void) failure_drop(entry->failure);
	unstage_target_done(&entry->target);
	free(entry);
}

static struct gate_entry *find(const struct unstage_gate *gate, const char *unique_name,
			       const char *pod_uid)
{
	cleanup_free char *key = NULL;
	struct gate_entry *entry;

	key = new_text("%s\n%s", unique_name, pod_uid);
	if (!key)
		return NULL;
	HASH_FIND_STR(gate->entries, key, entry);
	return entry;
}

static struct gate_entry *entry_new(struct unstage_gate *gate, const struct step *step,
				    const struct unstage_target *target)
{
	struct gate_entry *entry = calloc(1, sizeof(*entry));
	const char *pod_uid = step->pod_uid ?: "";

	if (!entry)
		return NULL;
	entry->gate = gate;
	entry->pid_fd = -EBADF;
	entry->since_usec = monotonic_usec();
	entry->unique_name = strdup(step->unique_name);
	entry->pod_uid = strdup(pod_uid);
	entry->key = new_text("%s\n%s", step->unique_name, pod_uid);
	if (entry->unique_name && entry->pod_uid && entry->key &&
	    unstage_target_copy(target, &entry->target) == 0) {
		HASH_ADD_KEYPTR(hh, gate->entries, entry->key, strlen(entry->key), entry);
		if (entry->hh.tbl)
			return entry;
	}
	entry_free(entry);
	return NULL;
}

static void watch_no_more(struct gate_entry *entry)
{
	entry->process = sd_event_source_disable_unref(entry->process);
	entry->pid_fd = close_keep_errno(entry->pid_fd);
	retry_remove(entry->gate->retries, &entry->retry);
}

static void repeat_search(struct gate_entry *entry)
{
	watch_no_more(entry);
	entry->state = GATE_ASKED;
	entry->gate->options.changed(entry->gate->options.userdata, entry->unique_name);
}

static void on_due(void *userdata, struct retry_entry *retry)
{
	struct gate_entry *entry =
		(struct gate_entry *) ((char *) retry - offsetof(struct gate_entry, retry));

	/* A leave that was not taken is worth nothing later; a search that failed is done again. */
	if (entry->state == GATE_CLEARED)
		entry_free(entry);
	else
		repeat_search(entry);
}

/* ---- waiting ---- */

/* Others may keep it: it is held back as before, and may be forced, until the search ended. */
static int on_process_ended(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct gate_entry *entry = userdata;

	log_about(LOG_INFO, &(struct log_subject){ .volume = entry->unique_name },
		  "a process that kept the volume ended: searching again");
	entry->delay_usec = 0;
	repeat_search(entry);
	return 0;
}

static void retry_later(struct gate_entry *entry)
{
	entry->delay_usec = entry->delay_usec ? 2 * entry->delay_usec : RETRY_FIRST_USEC;
	if (entry->delay_usec > RETRY_MAX_USEC)
		entry->delay_usec = RETRY_MAX_USEC;
	entry->state = GATE_HELD;
	retry_add(entry->gate->retries, &entry->retry, monotonic_usec() + entry->delay_usec);
}

static struct unstage_view view_of(const struct gate_entry *entry)
{
	return (struct unstage_view){
		.unique_name = entry->unique_name,
		.pod_uid = entry->pod_uid,
		.keeps = entry->target.directory ? "files" : "device",
		.searching = entry->state != GATE_HELD,
		.since_usec = entry->since_usec,
		.failure = entry->failure,
	};
}

/* Once for each answer. */
static void report_reason(struct gate_entry *entry, const struct failure *why)
{
	const struct unstage_gate_options *options = &entry->gate->options;
	bool is_new = !entry->failure || strcmp(entry->failure->text, why->text) != 0;
	struct unstage_view view;

	(void) failure_drop(entry->failure);
	entry->failure = failure_keep(why);
	view = view_of(entry);
	if (is_new)
		options->held(options->userdata, &view);
}

static void hold_back(struct gate_entry *entry, struct mount_holder *holder)
{
	struct unstage_gate *gate = entry->gate;
	char text[MOUNT_HOLDER_TEXT_BYTES];
	struct failure why;
	int r = -EBADF;

	mount_holder_print(holder, text);
	(void) failed_plain(&why, -EBUSY, "%s", text);
	report_reason(entry, &why);
	entry->pid_fd = TAKE_FD(holder->pid_fd);
	if (entry->pid_fd >= 0)
		r = sd_event_add_io(gate->options.event, &entry->process, entry->pid_fd, EPOLLIN,
				    on_process_ended, entry);
	if (r >= 0)
		r = sd_event_source_set_priority(entry->process, gate->options.priority);
	if (r < 0)
		watch_no_more(entry);
	retry_later(entry);
}

/* ---- the search ---- */

/* On a worker: only what the search itself owns is touched. */
static void run_search(struct worker_job *job)
{
	struct gate_search *search = (struct gate_search *) job;

	search->failure = (struct failure){ .error = 0 };
	search->result = unstage_search_run(search->questions, search->count, &search->failure);
}

static void search_free(struct gate_search *search)
{
	for (size_t i = 0; i < search->count; i++)
		unstage_query_done(&search->questions[i]);
	free(search);
}

static void take_answer(struct gate_entry *entry, struct gate_search *search, size_t index)
{
	struct unstage_query *question = &search->questions[index];
	struct mount_holder *holder = &question->holder;
	struct unstage_force *force = TAKE_PTR(question->force);
	const struct failure *why =
		question->failure.error < 0 ? &question->failure : &search->failure;

	entry->searched_usec = monotonic_usec();
	if (force)
		unstage_force_end(force, why, holder);
	if (entry->force) { /* said while a search ran that knew nothing of it */
		entry->state = GATE_ASKED;
	} else if (search->result < 0 || why->error < 0) {
		report_reason(entry, why);
		retry_later(entry);
	} else if (holder->found) {
		hold_back(entry, holder);
	} else {
		entry->state = GATE_CLEARED;
		retry_add(entry->gate->retries, &entry->retry, entry->searched_usec + CLEARED_USEC);
	}
	/* Also when it stays: who drains waits for nothing more then. */
	entry->gate->options.changed(entry->gate->options.userdata, entry->unique_name);
}

void unstage_gate_log_hidden(int count)
{
	if (count > 0)
		log_message(LOG_WARNING,
			    "%d processes cannot be looked at (CAP_SYS_PTRACE, a security module): "
			    "what they have open of a lazily unmounted volume is not protected",
			    count);
}

static void report_hidden(struct unstage_gate *gate, int count)
{
	if (!gate->told_hidden)
		unstage_gate_log_hidden(count);
	gate->told_hidden = count > 0;
}

/* The turn that this brings begins the next search; not here, where the workers may be gone. */
static void search_the_rest(struct unstage_gate *gate)
{
	const struct gate_entry *entry = gate->entries;

	while (entry && entry->state != GATE_ASKED)
		entry = entry->hh.next;
	if (entry)
		gate->options.changed(gate->options.userdata, entry->unique_name);
}

static void search_done(struct worker_job *job)
{
	struct gate_search *search = (struct gate_search *) job;
	struct unstage_gate *gate = search->gate;

	if (gate) {
		gate->running = NULL;
		report_hidden(gate, search->result);
		for (size_t i = 0; i < search->count; i++)
			take_answer(search->entries[i], search, i);
		search_the_rest(gate);
	}
	search_free(search);
}

static bool add_to_search(struct gate_search *search, struct gate_entry *entry)
{
	struct unstage_query *question = &search->questions[search->count];

	if (unstage_target_copy(&entry->target, &question->target) < 0)
		return false;
	question->holder.pid_fd = -EBADF;
	question->force = TAKE_PTR(entry->force);
	search->entries[search->count++] = entry;
	return true;
}

/* No one would ask again. */
static void lose(const struct unstage_gate *gate)
{
	if (gate->options.lost)
		gate->options.lost(gate->options.userdata);
}

void unstage_gate_search(struct unstage_gate *gate)
{
	struct gate_search *search;
	struct gate_entry *entry;

	assert(gate);
	if (gate->running || !gate->entries)
		return;
	search = calloc(1, sizeof(*search));
	if (!search) {
		lose(gate);
		return;
	}
	search->gate = gate;
	/* A pool that closes runs no job. */
	search->result = failed_plain(&search->failure, -ECANCELED, "podvold is shutting down");
	search->job.run = run_search;
	search->job.done = search_done;
	for (entry = gate->entries; entry && search->count < UNSTAGE_SEARCH_MAX;
	     entry = entry->hh.next) {
		if (entry->state != GATE_ASKED)
			continue;
		if (!add_to_search(search, entry)) {
			lose(gate);
			break;
		}
		entry->state = GATE_SEARCHING;
	}
	if (search->count == 0) {
		search_free(search);
		return;
	}
	gate->running = search;
	worker_submit(gate->options.workers, &search->job);
}

/* ---- questions ---- */

/* NULL and "" are nothing to take. */
static char *or_null(char *path)
{
	return path && *path ? path : NULL;
}

/* Return: what the step takes away, borrowed; all NULL: nothing. */
static struct unstage_target target_of(const struct step *step)
{
	const struct actual_volume *have = step->have;
	const struct actual_pod *pod;

	if (step->kind == STEP_UNPUBLISH && !have->block && have->plugin &&
	    have->plugin->traits & VOLUME_REMOVES_FILES) {
		pod = actual_find_pod(have, step->pod_uid);
		return (struct unstage_target){ .directory = pod ? or_null(pod->path) : NULL,
						.pod_uid = (char *) step->pod_uid };
	}
	if (step->kind != STEP_UNSTAGE && (step->kind != STEP_UNPUBLISH || !have->block))
		return (struct unstage_target){ 0 };
	if (have->block)
		return (struct unstage_target){ .device_path = or_null(have->device_path) };
	if (have->staged_nothing && have->plugin && have->plugin->traits & VOLUME_STAGES_DEVICE)
		return (struct unstage_target){ 0 };
	return (struct unstage_target){ .mount_point = or_null(have->device_mount_path) };
}

/* It may have been staged again since, and be another's now. */
static void search_again(struct gate_entry *entry)
{
	if (monotonic_usec() - entry->searched_usec < CLEARED_USEC)
		return;
	watch_no_more(entry);
	entry->state = GATE_ASKED;
}

bool unstage_gate_passes(void *userdata, const struct step *step)
{
	struct unstage_gate *gate = userdata;
	const struct unstage_target target = target_of(step);
	struct gate_entry *entry;

	assert(gate && step);
	if (!target.directory && !target.mount_point && !target.device_path)
		return true;
	entry = find(gate, step->unique_name, step->pod_uid ?: "");
	if (!entry && !entry_new(gate, step, &target))
		lose(gate);
	else if (entry && entry->state == GATE_HELD)
		search_again(entry);
	if (!entry || entry->state != GATE_CLEARED)
		return false;
	entry_free(entry);
	return true;
}

int unstage_gate_force(struct unstage_gate *gate, const char *unique_name, const char *pod_uid,
		       struct unstage_force *force)
{
	struct gate_entry *entry;

	assert(gate && unique_name && pod_uid && force);
	entry = find(gate, unique_name, pod_uid);
	if (!entry || entry->state == GATE_CLEARED)
		return -ENOENT;
	if (entry->force)
		return -EBUSY;
	entry->force = force;
	if (entry->state == GATE_HELD) {
		watch_no_more(entry);
		entry->state = GATE_ASKED;
	}
	gate->options.changed(gate->options.userdata, entry->unique_name);
	return 0;
}

bool unstage_gate_check(const struct unstage_gate *gate, const char *unique_name,
			const char *pod_uid, struct unstage_view *ret)
{
	const struct gate_entry *entry;

	assert(gate && unique_name && pod_uid && ret);
	entry = find(gate, unique_name, pod_uid);
	if (!entry)
		return false;
	*ret = view_of(entry);
	return true;
}

int unstage_gate_walk(const struct unstage_gate *gate,
		      int (*visit)(const struct unstage_view *view, void *userdata), void *userdata)
{
	const struct gate_entry *entry;

	assert(gate && visit);
	for (entry = gate->entries; entry; entry = entry->hh.next) {
		struct unstage_view view = view_of(entry);
		int r = visit(&view, userdata);

		if (r != 0)
			return r;
	}
	return 0;
}

/* ---- the gate ---- */

int unstage_gate_new(const struct unstage_gate_options *options, struct unstage_gate **ret)
{
	struct unstage_gate *gate = calloc(1, sizeof(*gate));
	int r;

	assert(options && options->event && options->workers && options->changed && ret);
	assert(options->held);
	if (!gate)
		return -ENOMEM;
	gate->options = *options;
	r = retry_queue_new(options->event, on_due, gate, &gate->retries);
	if (r < 0) {
		free(gate);
		return r;
	}
	*ret = gate;
	return 0;
}

struct unstage_gate *unstage_gate_free(struct unstage_gate *gate)
{
	struct gate_entry *entry, *next;

	if (!gate)
		return NULL;
	/* Left on a thread that is stuck: it is freed when that comes back, if ever. */
	if (gate->running)
		gate->running->gate = NULL; /* with what is forced in it, which is not reported */
	HASH_ITER (hh, gate->entries, entry, next)
		entry_free(entry);
	retry_queue_free(gate->retries);
	free(gate);
	return NULL;
}
