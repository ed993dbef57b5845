/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover - pods that --takeover found and no source lists; see inuse.h
 *
 * Decides nothing about mounts: it ends holds, and the reconciler does what follows. The search is
 * a job of a worker that owns all it looks at; the agent may go while it runs.
 */
#include "inuse/inuse.h"
#include "config.h"
#include "inuse/unstage_gate.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "mount/holders/mount_holders.h"
#include "mount/mount.h"
#include "operation/retry.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum {
	RETRY_FIRST_USEC = 500000,
	RETRY_MAX_USEC = 122 * 1000000,
};

/* A volume of a pod that is held. */
struct held_volume {
	char *pod_uid, *path;
	struct failure failure; /* who uses it, or why that cannot be said; error 0: nothing */
};

/* One pass over all of them; belongs to the worker while it runs. */
struct takeover_search {
	struct worker_job job;
	struct takeover *takeover; /* NULL: the agent has gone */
	struct held_volume *places;
	size_t count;
	int root_fd; /* of its own: a thread that hangs may outlive the agent */
	char *root_path;
	int hidden; /* processes that may not be looked at */
};

/* What was said of a pod last. */
struct takeover_word {
	struct takeover_word *next;
	char *text;
	char pod_uid[];
};

struct takeover {
	struct inuse *inuse;
	struct takeover_word *words;
	struct takeover_search *running;
	struct retry_queue *retries;
	struct retry_entry retry;
	uint64_t delay_usec;
	bool begun;
};

/* ---- the search, on a worker ---- */

/* What lies below the root is reached through no link and no mount; a hostPath is not below it, may
 * be a file, and leads where its link does. */
static int open_place(const struct takeover_search *search, const struct held_volume *place,
		      struct failure *reterr)
{
	if (path_is_below(place->path, search->root_path))
		return open_beneath(search->root_fd, place->path + strlen(search->root_path) + 1,
				    O_PATH | O_DIRECTORY, PATH_NO_SYMLINKS, reterr);
	return open_host_path(place->path, O_PATH, reterr);
}

/* What is mounted somewhere is found by its mount; a directory of the root's own file system, an
 * emptyDir on disk, by where its bind mounts show. */
static void check_directory(const struct takeover_search *search, struct held_volume *place)
{
	struct failure why = { .error = 0 };
	cleanup_close int fd = open_place(search, place, &why);

	if (fd < 0 && fd != -ENOENT)
		place->failure = why;
	else if (fd >= 0)
		(void) directory_users_check(fd, &place->failure);
}

static void run_search(struct worker_job *job)
{
	struct takeover_search *search = (struct takeover_search *) job;
	cleanup_free struct mount_holder *holders = calloc(search->count + 1, sizeof(*holders));
	struct failure failure = { .error = 0 };
	int r = holders ? 0 : failed(&failure, -ENOMEM, "cannot search other mount namespaces");

	for (size_t i = 0; i < search->count && r >= 0; i++)
		holders[i] = (struct mount_holder){ .mount_point = search->places[i].path,
						    .elsewhere = true };
	if (r >= 0)
		r = mount_holders_search(holders, search->count, &failure);
	search->hidden = r > 0 ? r : 0;
	for (size_t i = 0; i < search->count; i++) {
		struct held_volume *place = &search->places[i];
		char text[MOUNT_HOLDER_TEXT_BYTES];

		if (r < 0) {
			place->failure = failure;
		} else if (holders[i].found) {
			mount_holder_print(&holders[i], text);
			(void) failed_plain(&place->failure, -EBUSY, "%s", text);
		} else if (holders[i].device == 0) {
			check_directory(search, place);
		}
		if (r >= 0)
			(void) close_keep_errno(holders[i].pid_fd);
	}
}

/* ---- what is searched ---- */

static void search_free(struct takeover_search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		free(search->places[i].pod_uid);
		free(search->places[i].path);
	}
	free(search->places);
	free(search->root_path);
	(void) close_keep_errno(search->root_fd);
	free(search);
}

static struct takeover_search *search_new(const struct mount_root *root)
{
	struct takeover_search *search = calloc(1, sizeof(*search));

	if (!search)
		return NULL;
	search->root_fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
	search->root_path = strdup(root->path);
	if (search->root_fd >= 0 && search->root_path)
		return search;
	search_free(search);
	return NULL;
}

static int add_place(struct takeover_search *search, const struct actual_pod *pod)
{
	struct held_volume *grown =
		reallocarray(search->places, search->count + 1, sizeof(*search->places));
	struct held_volume *place;

	if (!grown)
		return -ENOMEM;
	search->places = grown;
	place = &search->places[search->count++];
	*place = (struct held_volume){ .pod_uid = strdup(pod->pod_uid), .path = strdup(pod->path) };
	return place->pod_uid && place->path ? 0 : -ENOMEM;
}

static const struct hold *find_hold(const struct inuse *inuse, const char *pod_uid)
{
	const struct hold *hold;
	size_t i = 0;

	while ((hold = holds_of_pod(inuse->table, pod_uid, i++)))
		if (store_epoch_is_unlisted(hold))
			return hold;
	return NULL;
}

static int add_places(const struct inuse *inuse, struct takeover_search *search)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	int r = 0;

	for (volume = actual_first(inuse->with.actual); volume; volume = volume->hh.next)
		for (pod = volume->pods; pod && r >= 0; pod = pod->hh.next)
			if (find_hold(inuse, pod->pod_uid))
				r = add_place(search, pod);
	return r;
}

/* ---- what follows ---- */

static void retry_later(struct takeover *takeover)
{
	takeover->delay_usec = takeover->delay_usec ? 2 * takeover->delay_usec : RETRY_FIRST_USEC;
	if (takeover->delay_usec > RETRY_MAX_USEC)
		takeover->delay_usec = RETRY_MAX_USEC;
	retry_add(takeover->retries, &takeover->retry, monotonic_usec() + takeover->delay_usec);
}

/* Why the pod stays; NULL: nothing uses it. */
static const struct failure *find_user(const struct takeover_search *search, const char *pod_uid)
{
	for (size_t i = 0; i < search->count; i++)
		if (strcmp(search->places[i].pod_uid, pod_uid) == 0 &&
		    search->places[i].failure.error < 0)
			return &search->places[i].failure;
	return NULL;
}

/* What is said of a pod, once for each new answer. */
static void report(struct takeover *takeover, const char *pod_uid, const char *text)
{
	struct takeover_word *word = takeover->words;
	const struct log_subject subject = { .pod_uid = pod_uid };
	char *copy = strdup(text);

	while (word && strcmp(word->pod_uid, pod_uid) != 0)
		word = word->next;
	if (word && strcmp(word->text, text) == 0) {
		free(copy);
		return;
	}
	log_about(LOG_NOTICE, &subject, "pod uid '%s' was taken over and is not listed: %s",
		  pod_uid, text);
	if (!word && copy) {
		word = calloc(1, sizeof(*word) + strlen(pod_uid) + 1);
		if (word) {
			memcpy(word->pod_uid, pod_uid, strlen(pod_uid));
			word->next = takeover->words;
			takeover->words = word;
		}
	}
	if (!word || !copy) {
		free(copy); /* said again the next time */
		return;
	}
	free(word->text);
	word->text = copy;
}

/* Return: is the pod to be searched for again? */
static bool check_owner(struct takeover *takeover, const struct takeover_search *search,
			const char *pod_uid)
{
	struct inuse *inuse = takeover->inuse;
	const struct failure *user = find_user(search, pod_uid);
	const struct hold *hold = find_hold(inuse, pod_uid);
	bool removes = inuse->with.config->takeover.how == CONFIG_TAKEOVER_REMOVE;
	char text[2 * FAILURE_TEXT_BYTES];

	if (!hold)
		return false;
	if (user && user->error == -EBUSY)
		(void) snprintf(text, sizeof(text), "its volumes are in use and stay: %s",
				user->text);
	else if (user)
		(void) snprintf(text, sizeof(text),
				"its volumes stay: cannot determine whether they are in use: %s; "
				"searching again",
				user->text);
	else
		(void) snprintf(
			text, sizeof(text),
			"its volumes stay, though no process uses them: list the pod, start "
			"podvold with --takeover=remove, or 'podvolctl release %s %s'",
			pod_uid, hold->id);
	if (!user && removes) {
		pod_holds_end(inuse, hold, "is not in use");
		return false;
	}
	report(takeover, pod_uid, text);
	return removes || (user && user->error != -EBUSY);
}

static void search_done(struct worker_job *job)
{
	struct takeover_search *search = (struct takeover_search *) job;
	struct takeover *takeover = search->takeover;
	bool again = false;

	if (takeover) {
		takeover->running = NULL;
		/* As before an unstage. */
		unstage_gate_log_hidden(search->hidden);
		for (size_t i = 0; i < search->count; i++)
			again |= check_owner(takeover, search, search->places[i].pod_uid);
		if (again)
			retry_later(takeover);
	}
	search_free(search);
}

static void begin(struct takeover *takeover)
{
	struct takeover_search *search = search_new(takeover->inuse->with.root);

	if (!search || add_places(takeover->inuse, search) < 0) {
		if (search)
			search_free(search);
		retry_later(takeover);
		return;
	}
	if (search->count == 0) {
		search_free(search);
		return;
	}
	search->takeover = takeover;
	search->job.run = run_search;
	search->job.done = search_done;
	takeover->running = search;
	worker_submit(*takeover->inuse->with.workers, &search->job);
}

static void on_due(void *userdata, struct retry_entry *entry)
{
	begin(userdata);
}

void takeover_settled(struct takeover *takeover)
{
	if (!takeover || takeover->begun ||
	    !takeover->inuse->with.is_complete(takeover->inuse->with.userdata))
		return;
	takeover->begun = true;
	begin(takeover);
}

int takeover_new(struct inuse *inuse, struct takeover **ret)
{
	struct takeover *takeover = calloc(1, sizeof(*takeover));
	int r;

	assert(inuse && ret);
	if (!takeover)
		return -ENOMEM;
	takeover->inuse = inuse;
	r = retry_queue_new(inuse->with.event, on_due, takeover, &takeover->retries);
	if (r < 0) {
		free(takeover);
		return r;
	}
	*ret = takeover;
	return 0;
}

struct takeover *takeover_free(struct takeover *takeover)
{
	if (!takeover)
		return NULL;
	if (takeover->running)
		takeover->running->takeover = NULL;
	while (takeover->words) {
		struct takeover_word *word = takeover->words;

		takeover->words = word->next;
		free(word->text);
		free(word);
	}
	retry_queue_free(takeover->retries);
	free(takeover);
	return NULL;
}
