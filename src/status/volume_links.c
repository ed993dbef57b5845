/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_links - links by name follow the actual state; see volume_links.h
 *
 * Which links there are is remembered, so that a volume that is planned and has not changed costs
 * no system call. The last stage of a set-up makes them on its worker, before the table hears of
 * the mount; what it could not make is tried again on the loop, with the back-off of operations, as
 * long as the volume is mounted. A link that cannot be made or removed is logged and stops nothing:
 * the volume is mounted all the same.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "status/volume_links.h"

#include "base/beside.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "base/timer.h"
#include "mount/files/name_links.h"
#include "operation/operation.h"
#include "state/actual.h"
#include "state/desired.h"

#include <assert.h>
#include <string.h>

enum { POD_KEY_ROOM = 512 };

/* The links of one volume of a pod. A pod that was made again under the same name takes them over
 * when it has the same path mounted. */
struct linked {
	size_t pod_key_length;
	bool is_made;    /* false: from before the start, may be missing */
	bool is_missing; /* one of them could not be made */
	bool has_any;
	char *name;          /* of the only link; NULL: there are none, or perhaps several */
	UT_hash_handle hh;   /* by key */
	const char *pod_uid; /* behind the key */
	char key[];          /* "namespace/name path" */
};

struct volume_links {
	int fd;                /* -EBADF: there are none */
	struct beside pruning; /* at the start; the table is that thread's meanwhile */
	const struct desired *desired;
	const struct actual *actual;
	struct linked *table;
	sd_event_source *timer; /* the next try of what could not be made */
	uint64_t delay_usec;    /* before it; 0: none is missing */
};

static struct linked *find(const struct volume_links *links, const char *pod_key, const char *path)
{
	size_t length;
	cleanup_free char *key = new_pair(pod_key, ' ', path, &length);
	struct linked *linked = NULL;

	if (key)
		HASH_FIND(hh, links->table, key, length, linked);
	return linked;
}

static void forget(struct volume_links *links, struct linked *linked)
{
	if (linked->hh.tbl)
		HASH_DEL(links->table, linked);
	free(linked->name);
	free(linked);
}

/* NULL: no memory. */
static struct linked *remember(struct volume_links *links, const struct actual_pod *pod,
			       bool is_made)
{
	struct linked *linked, *before = find(links, pod->pod_key, pod->path);
	size_t name = strlen(pod->pod_key), path = strlen(pod->path), uid = strlen(pod->pod_uid);

	linked = calloc(1, sizeof(*linked) + name + 1 + path + 1 + uid + 1);
	if (linked && before) {
		linked->has_any = before->has_any;
		linked->name = TAKE_PTR(before->name);
	}
	if (before)
		forget(links, before);
	if (!linked)
		return NULL;
	linked->is_made = is_made;
	linked->pod_key_length = name;
	memcpy(linked->key, pod->pod_key, name);
	linked->key[name] = ' ';
	memcpy(linked->key + name + 1, pod->path, path);
	linked->pod_uid = memcpy(linked->key + name + 1 + path + 1, pod->pod_uid, uid);
	HASH_ADD(hh, links->table, key, name + 1 + path, linked);
	if (linked->hh.tbl)
		return linked;
	forget(links, linked);
	return NULL;
}

/* All links that lead to the volume are removed with it. */
static void forget_name(struct linked *linked)
{
	free(linked->name);
	linked->name = NULL;
	linked->has_any = true;
}

static void add_name(struct linked *linked, const char *name)
{
	if (linked->name && strcmp(linked->name, name) == 0)
		return;
	if (linked->has_any) {
		forget_name(linked);
		return;
	}
	linked->name = strdup(name);
	linked->has_any = true;
}

/* The two parts of "namespace/name", in @text. False: it is known from disk alone. */
static bool split(const char *pod_key, size_t length, char text[POD_KEY_ROOM],
		  struct link_name *ret)
{
	char *slash;

	(void) snprintf(text, POD_KEY_ROOM, "%.*s", (int) length, pod_key);
	slash = strchr(text, '/');
	if (!slash)
		return false;
	*slash = '\0';
	*ret = (struct link_name){ .name_space = text, .pod = slash + 1 };
	return true;
}

static void remove_links(struct volume_links *links, struct linked *linked)
{
	struct failure failure = { .error = 0 };
	struct link_name name;
	char text[POD_KEY_ROOM];

	if (split(linked->key, linked->pod_key_length, text, &name)) {
		name.volume = linked->name;
		if (name_links_remove(links->fd, &name, linked->key + linked->pod_key_length + 1,
				      &failure) < 0)
			log_message(LOG_WARNING, "ignoring: %s", failure.text);
	}
	forget(links, linked);
}

static const struct desired_pod *find_want(const struct volume_links *links,
					   const char *unique_name, const char *pod_uid)
{
	const struct desired_volume *volume = desired_find(links->desired, unique_name);

	return volume ? desired_find_pod(volume, pod_uid) : NULL;
}

static void retry_later(struct volume_links *links)
{
	if (timer_is_set(links->timer))
		return;
	links->delay_usec = links->delay_usec == 0 ? BACK_OFF_FIRST_USEC : 2 * links->delay_usec;
	if (links->delay_usec > BACK_OFF_MAX_USEC)
		links->delay_usec = BACK_OFF_MAX_USEC;
	timer_set_in(links->timer, links->delay_usec);
}

static void miss(struct volume_links *links, struct linked *linked, bool is_retry,
		 const struct failure *failure)
{
	log_message(is_retry ? LOG_DEBUG : LOG_WARNING, "retrying later: %s", failure->text);
	linked->is_missing = true;
	retry_later(links);
}

/* @are_made: by the last stage of the step. */
static void make_links(struct volume_links *links, const char *unique_name,
		       const struct actual_pod *pod, bool are_made, bool is_retry)
{
	const struct desired_pod *want = find_want(links, unique_name, pod->pod_uid);
	size_t count = want ? want->outer_name_count : 1;
	struct failure failure = { .error = 0 };
	struct linked *linked;
	struct link_name name;
	char text[POD_KEY_ROOM];

	if (!split(pod->pod_key, strlen(pod->pod_key), text, &name))
		return;
	linked = remember(links, pod, true);
	if (!linked) { /* what is not known would never be removed */
		log_message(LOG_WARNING, "ignoring: out of memory for links by name");
		return;
	}
	if (!want) /* the step may have made more of them than are known now */
		forget_name(linked);
	for (size_t i = 0; i < count; i++) {
		name.volume = want ? want->outer_names[i] : pod->outer_name;
		if (!are_made && name_link_make(links->fd, &name, pod->path, &failure) < 0)
			miss(links, linked, is_retry, &failure);
		else
			add_name(linked, name.volume);
	}
}

/* NULL: there is no link, or another pod has it. */
static struct linked *find_own(const struct volume_links *links, const struct actual_pod *pod)
{
	struct linked *linked = pod->path ? find(links, pod->pod_key, pod->path) : NULL;

	return linked && strcmp(linked->pod_uid, pod->pod_uid) == 0 ? linked : NULL;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct volume_links *links = userdata;
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	for (volume = actual_first(links->actual); volume; volume = volume->hh.next)
		for (pod = volume->pods; pod; pod = pod->hh.next) {
			const struct linked *linked = find_own(links, pod);

			/* One that is no longer wanted would take the name from a later pod. */
			if (linked && linked->is_missing && pod->state == MOUNT_DONE &&
			    find_want(links, volume->unique_name, pod->pod_uid))
				make_links(links, volume->unique_name, pod, false, true);
		}
	if (!timer_is_set(links->timer))
		links->delay_usec = 0;
	return 0;
}

/* The mount is in doubt. What was there before the start stays until a step has looked. */
void volume_links_planned(void *userdata, const char *unique_name)
{
	struct volume_links *links = userdata;
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	if (!links || links->fd < 0)
		return;
	volume = actual_find(links->actual, unique_name);
	for (pod = volume ? volume->pods : NULL; pod; pod = pod->hh.next) {
		struct linked *linked = find_own(links, pod);

		if (linked && pod->state != MOUNT_DONE && !pod->from_rebuild)
			remove_links(links, linked);
	}
}

void volume_links_started(void *userdata, const struct step *step)
{
	struct volume_links *links = userdata;
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	struct linked *linked;

	if (!links || links->fd < 0 || step->kind != STEP_UNPUBLISH)
		return;
	volume = actual_find(links->actual, step->unique_name);
	pod = volume ? actual_find_pod(volume, step->pod_uid) : NULL;
	linked = pod ? find_own(links, pod) : NULL;
	if (linked)
		remove_links(links, linked);
}

/* The links are those that a step made before the start. */
static bool is_complete(const struct volume_links *links, const struct linked *linked,
			const char *unique_name)
{
	const struct desired_pod *want = find_want(links, unique_name, linked->pod_uid);

	return linked->name && want && want->outer_name_count == 1 &&
	       strcmp(linked->name, want->outer_names[0]) == 0;
}

static bool has_links(const struct volume_links *links, const char *unique_name,
		      const struct actual_pod *pod)
{
	struct linked *linked = find_own(links, pod);

	if (linked && !linked->is_made)
		linked->is_made = is_complete(links, linked, unique_name);
	return linked && linked->is_made;
}

/* Of an image there is no path: the runtime mounts it. */
static bool may_have_links(const struct actual_pod *pod)
{
	return pod && pod->path && pod->path[0] == '/';
}

/* ---- the last stage of a set-up ---- */

struct making {
	int fd;
	char pod_key[POD_KEY_ROOM];
	struct link_name name;
	char *target;
	size_t count;
	char *volumes[];
};

static void making_free(void *data)
{
	struct making *making = data;

	for (size_t i = 0; i < making->count; i++)
		free(making->volumes[i]);
	free(making->target);
	free(making);
}

/* What fails is tried again, and logged, when the step has ended. */
static int make_on_worker(void *data, struct stage_report *report)
{
	struct making *making = data;

	for (size_t i = 0; i < making->count; i++) {
		making->name.volume = making->volumes[i];
		if (name_link_make(making->fd, &making->name, making->target, NULL) < 0)
			return STAGE_NEXT;
	}
	report->has_links = true;
	return STAGE_NEXT;
}

/* NULL: no memory, or the pod is known from disk alone. */
static struct making *making_new(const struct volume_links *links, const struct actual_pod *pod,
				 const struct desired_pod *want)
{
	struct making *making =
		calloc(1, sizeof(*making) + want->outer_name_count * sizeof(*making->volumes));
	bool is_whole;

	if (!making)
		return NULL;
	making->fd = links->fd;
	making->target = strdup(pod->path);
	is_whole = making->target &&
		   split(pod->pod_key, strlen(pod->pod_key), making->pod_key, &making->name);
	while (is_whole && making->count < want->outer_name_count) {
		char *name = strdup(want->outer_names[making->count]);

		making->volumes[making->count++] = name;
		is_whole = name != NULL;
	}
	if (is_whole)
		return making;
	making_free(making);
	return NULL;
}

void volume_links_stages(void *userdata, const struct step *step, struct stage_list *ret)
{
	static const struct stage stages[] = { WORKER_STAGE("make links by name", make_on_worker) };
	const struct volume_links *links = userdata;
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	struct making *making;

	if (!links || links->fd < 0 || step->kind != STEP_PUBLISH)
		return;
	volume = actual_find(links->actual, step->unique_name);
	pod = volume ? actual_find_pod(volume, step->pod_uid) : NULL;
	if (!may_have_links(pod) || has_links(links, step->unique_name, pod))
		return;
	making = making_new(links, pod, step->want_pod);
	if (making)
		*ret = (struct stage_list){ stages, ARRAY_SIZE(stages), making, making_free };
}

/* Remembered here alone: a pod whose teardown runs is still mounted in the table. */
void volume_links_ended(void *userdata, const struct operation_ended *ended)
{
	struct volume_links *links = userdata;
	const struct actual_volume *volume;
	const struct actual_pod *pod;

	if (!links || links->fd < 0 || ended->result.kind != STEP_PUBLISH)
		return;
	volume = actual_find(links->actual, ended->result.unique_name);
	pod = volume ? actual_find_pod(volume, ended->result.pod_uid) : NULL;
	if (may_have_links(pod) && pod->state == MOUNT_DONE &&
	    !has_links(links, ended->result.unique_name, pod))
		make_links(links, ended->result.unique_name, pod, ended->report->has_links, false);
}

/* ---- at start ---- */

static bool is_known(void *links, const struct link_name *name, const char *target)
{
	char pod_key[POD_KEY_ROOM];
	struct linked *linked;

	(void) snprintf(pod_key, sizeof(pod_key), "%s/%s", name->name_space, name->pod);
	linked = find(links, pod_key, target);
	if (linked)
		add_name(linked, name->volume);
	return linked != NULL;
}

/* What was mounted when podvold ended, and no teardown of which had begun. */
static int remember_mounted(struct volume_links *links)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	int r = 0;

	for (volume = actual_first(links->actual); volume && r >= 0; volume = volume->hh.next)
		for (pod = volume->pods; pod && r >= 0; pod = pod->hh.next)
			if (pod->path && pod->was_mounted && pod->left == UNFINISHED_NOTHING &&
			    !remember(links, pod, false))
				r = -ENOMEM;
	return r;
}

/* On a thread: it takes as long as looking at all volumes does, and nothing needs the links. */
static void prune(void *userdata)
{
	struct volume_links *links = userdata;
	struct failure failure = { .error = 0 };

	if (name_links_prune(links->fd, is_known, links, &failure) < 0)
		log_message(LOG_WARNING, "ignoring: %s", failure.text);
}

int volume_links_new(const char *run_dir, sd_event *event, const struct desired *desired,
		     const struct actual *actual, struct volume_links **ret)
{
	struct volume_links *links = calloc(1, sizeof(*links));
	struct failure failure = { .error = 0 };

	assert(run_dir && event && desired && actual);
	if (!links)
		return -ENOMEM;
	*links = (struct volume_links){ .desired = desired, .actual = actual };
	if (timer_new(event, 0, on_retry, links, &links->timer) < 0) {
		free(links);
		return -ENOMEM;
	}
	links->fd = name_links_open(run_dir, &failure);
	if (links->fd < 0)
		log_message(LOG_WARNING, "ignoring, there are no links by name: %s", failure.text);
	else if (remember_mounted(links) < 0)
		log_message(LOG_WARNING, "ignoring: out of memory for links by name");
	else
		beside_start(&links->pruning, "links", prune, links);
	*ret = links;
	return 0;
}

void volume_links_wait(struct volume_links *links)
{
	beside_wait(&links->pruning);
}

struct volume_links *volume_links_free(struct volume_links *links)
{
	struct linked *linked, *next;

	if (!links)
		return NULL;
	beside_wait(&links->pruning);
	sd_event_source_disable_unref(links->timer);
	HASH_ITER (hh, links->table, linked, next)
		forget(links, linked);
	(void) close_keep_errno(links->fd);
	free(links);
	return NULL;
}
