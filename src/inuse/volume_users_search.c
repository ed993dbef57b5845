/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_users_search - who uses a volume that is mounted, searched for when a client asks; see
 * volume_users_search.h
 *
 * All that the search touches is copied on the loop and owned by the job.
 */
#include "inuse/volume_users_search.h"

#include "inuse/busy_watch.h"
#include "mount/holders/mount_holders.h"
#include "object/json/json.h"
#include "state/actual.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct volume_users_search {
	struct worker_job job;
	struct inuse *inuse;
	volume_users_search_fn *done; /* NULL: the caller left */
	void *userdata;
	struct busy_query queries[USERS_ASK_MOUNTS_MAX]; /* their strings are owned */
	char *pod_uids[USERS_ASK_MOUNTS_MAX];            /* "" of a device */
	struct mount_holder holders[USERS_ASK_MOUNTS_MAX];
	size_t count;
	bool is_cut;            /* the volume has more mounts */
	int hidden;             /* tasks that the search of namespaces could not look at */
	struct failure failure; /* the first thing that could not be searched; error 0: none */
	atomic_bool cancelled;
};

/* ---- the query ---- */

static void search_free(struct volume_users_search *ask)
{
	for (size_t i = 0; i < ask->count; i++) {
		busy_holders_done(&ask->queries[i].holders);
		(void) close_keep_errno(ask->holders[i].pid_fd);
		free((char *) ask->queries[i].mount_point);
		free((char *) ask->queries[i].folder);
		free(ask->pod_uids[i]);
	}
	free(ask);
}

static int add_mount(struct volume_users_search *ask, const struct actual_volume *volume,
		     const struct actual_pod *pod)
{
	size_t i = ask->count;

	if ((pod ? pod->state : volume->device_state) == MOUNT_ABSENT ||
	    (!pod && !*(volume->device_mount_path ?: "")))
		return 0;
	if (volume->block)
		(void) failed_plain(
			&ask->failure, -EOPNOTSUPP,
			"who has the device of a block volume open is not searched for");
	if (i == USERS_ASK_MOUNTS_MAX) {
		ask->is_cut = true;
		return 0;
	}
	if (volume->block && !pod)
		return 0;
	ask->count++;
	ask->holders[i].pid_fd = -EBADF;
	ask->queries[i].mount_point = volume_users_mount_point(volume, pod);
	ask->queries[i].folder = volume_users_subpaths(ask->inuse, volume, pod);
	ask->pod_uids[i] = strdup(pod ? pod->pod_uid : "");
	return ask->queries[i].mount_point && ask->pod_uids[i] ? 0 : -ENOMEM;
}

/* By the names that the view of a volume takes. */
static bool is_meant(const struct actual_volume *volume, const char *word)
{
	const struct actual_pod *pod = volume->pods;

	while (pod && strcmp(pod->path, word) != 0)
		pod = pod->hh.next;
	return pod || strcmp(volume->unique_name, word) == 0 ||
	       strcmp(volume->spec_name, word) == 0 ||
	       strcmp(volume->device_mount_path ?: "", word) == 0;
}

/* Names of volumes of pods may be several volumes'. */
static int add_volumes(struct volume_users_search *ask, const char *word)
{
	const struct actual_volume *volume = actual_first(ask->inuse->with.actual);
	int r = -ENOENT;

	for (; volume && (r == 0 || r == -ENOENT); volume = volume->hh.next) {
		if (!is_meant(volume, word))
			continue;
		r = add_mount(ask, volume, NULL);
		for (const struct actual_pod *pod = volume->pods; pod && r == 0; pod = pod->hh.next)
			r = add_mount(ask, volume, pod);
	}
	return r;
}

/* ---- the search, on a worker ---- */

static void search_namespaces(struct volume_users_search *ask)
{
	int r;

	for (size_t i = 0; i < ask->count; i++)
		ask->holders[i] = (struct mount_holder){
			.mount_point = ask->queries[i].mount_point,
			.sub_paths_of = *ask->pod_uids[i] ? ask->pod_uids[i] : NULL,
			.elsewhere = true,
			.volume = ask,
			.pid_fd = -EBADF,
		};
	r = mount_holders_search(ask->holders, ask->count, &ask->failure);
	ask->hidden = r > 0 ? r : 0;
	/* A device's place without a mount has nothing of the volume. */
	for (size_t i = 0; i < ask->count && r >= 0 && ask->failure.error == 0; i++)
		if (ask->holders[i].device == 0 && *ask->pod_uids[i])
			(void) failed_plain(
				&ask->failure, -EOPNOTSUPP,
				"'%s' is not a mount, and directories are not searched for",
				ask->queries[i].mount_point);
}

static void run_search(struct worker_job *job)
{
	struct volume_users_search *ask = (struct volume_users_search *) job;
	struct failure failure = { .error = 0 };

	if (busy_holders_search(ask->queries, ask->count, &ask->cancelled, &failure) < 0)
		ask->failure = failure;
	else if (!atomic_load(&ask->cancelled))
		search_namespaces(ask);
}

/* ---- the answer ---- */

/* Is it a user, and not a reason why users are unknown? */
static bool is_user(const struct mount_holder *holder)
{
	return holder->how != HELD_UNREAD && holder->how != HELD_UNSEARCHED &&
	       holder->undecided == 0;
}

/* One mount elsewhere is a copy of each mount of the volume. */
static bool is_repeated(const struct volume_users_search *ask, size_t at)
{
	const struct mount_holder *holder = &ask->holders[at], *other = ask->holders;

	for (; other < holder; other++)
		if (other->found && other->pid == holder->pid && other->how == holder->how &&
		    other->mount_namespace == holder->mount_namespace &&
		    strcmp(other->where, holder->where) == 0)
			return true;
	return false;
}

static void add_elsewhere(struct cJSON *items, struct mount_holder *holder, const char *text)
{
	struct cJSON *item = json_add_object(items, NULL);
	char number[24];

	busy_make_text(holder->where);
	busy_make_text(holder->command);
	(void) snprintf(number, sizeof(number), "%" PRIu64, holder->mount_namespace);
	(void) json_set_string(item, "kind", "mount elsewhere");
	if (holder->pid > 0) {
		(void) json_set_int(item, "pid", holder->pid);
		(void) json_set_int(item, "uid", holder->uid);
	}
	(void) json_set_string(item, "command", holder->command);
	(void) json_set_string(item, "name", holder->where);
	(void) json_set_int(item, "count", 1);
	(void) json_set_string(item, "mountNamespace", number);
	(void) json_set_string(item, "text", text);
}

/* Return: how many users they are, those that are not in the list included. */
static size_t add_users(struct volume_users_search *ask, struct cJSON *items)
{
	size_t total = 0;

	for (size_t i = 0; i < ask->count; i++) {
		struct busy_holders *busy = &ask->queries[i].holders;
		struct mount_holder *holder = &ask->holders[i];
		char text[MOUNT_HOLDER_TEXT_BYTES];

		for (size_t j = 0; j < busy->count; j++) {
			busy_make_text(busy->list[j].command);
			busy_make_text(busy->list[j].name);
			volume_users_add(items, &busy->list[j]);
		}
		total += busy->total;
		if (!holder->found || is_repeated(ask, i))
			continue;
		mount_holder_print(holder, text);
		busy_make_text(text);
		if (is_user(holder))
			add_elsewhere(items, holder, text);
		else if (ask->failure.error == 0)
			(void) failed_plain(&ask->failure, -EIO, "%s", text);
		total += is_user(holder);
	}
	return total;
}

static void print_result(const struct volume_users_search *ask, size_t total, size_t hidden,
			 bool cut_short, char *text, size_t size)
{
	if (total > 0)
		(void) snprintf(text, size, "%zu user%s", total, total > 1 ? "s" : "");
	else if (ask->failure.error < 0)
		(void) snprintf(text, size, "unknown: %s", ask->failure.text);
	else if (cut_short)
		(void) snprintf(text, size, "unknown: the search was cut short");
	else if (hidden > 0)
		(void) snprintf(text, size, "unknown: %zu processes could not be inspected",
				hidden);
	else
		(void) snprintf(text, size, "no users");
}

static struct cJSON *make_answer(struct volume_users_search *ask)
{
	struct cJSON *tree = json_new_object(), *items = json_add_array(tree, "users");
	const struct busy_holders *any = &ask->queries[0].holders; /* of all of them the same */
	size_t total = add_users(ask, items), hidden = (size_t) ask->hidden;
	bool cut_short = ask->is_cut || any->cut_short;
	char text[FAILURE_TEXT_BYTES + 16];

	if (any->hidden > hidden)
		hidden = any->hidden;
	print_result(ask, total, hidden, cut_short, text, sizeof(text));
	(void) json_set_string(tree, "result", text);
	(void) json_set_int(tree, "total", (int64_t) total);
	(void) json_set_int(tree, "hidden", (int64_t) hidden);
	(void) json_set_bool(tree, "cutShort", cut_short);
	if (ask->failure.error < 0)
		(void) json_set_string(tree, "failure", ask->failure.text);
	return tree;
}

static void search_done(struct worker_job *job)
{
	struct volume_users_search *ask = (struct volume_users_search *) job;

	ask->inuse->asking = NULL;
	if (ask->done)
		ask->done(ask->userdata, make_answer(ask));
	search_free(ask);
}

/* ---- queries ---- */

int volume_users_search(struct inuse *inuse, const char *volume, volume_users_search_fn *done,
			void *userdata, struct volume_users_search **ret)
{
	struct volume_users_search *ask;
	int r;

	assert(inuse && volume && done && ret);
	ask = calloc(1, sizeof(*ask));
	if (!ask)
		return -ENOMEM;
	ask->inuse = inuse;
	r = add_volumes(ask, volume);
	if (r == 0 && inuse->asking)
		r = -EBUSY;
	if (r < 0) {
		search_free(ask);
		return r;
	}
	ask->done = done;
	ask->userdata = userdata;
	ask->job.run = run_search;
	ask->job.done = search_done;
	inuse->asking = ask;
	*ret = ask;
	worker_submit(*inuse->with.workers, &ask->job);
	return 0;
}

void volume_users_search_cancel(struct volume_users_search *ask)
{
	assert(ask);
	ask->done = NULL;
	atomic_store(&ask->cancelled, true);
}
