/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_holds - holds: posted, ended, shown, and what follows for the pod's volumes
 *
 * A hold counts from the moment it is in the ledger. It ends with its process or cgroup; when the
 * client releases it; or, naming neither, with a status that reports its container as terminated. A
 * status never ends a hold whose process is running. Decides nothing about mounts: the reconciler
 * reads the table.
 */
#include "inuse/inuse.h"
#include "config.h"
#include "inuse/hold_watch.h"
#include "state/state.h"
#include "store/store.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv1a.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/timestamp.h"
#include "source/manifest_mark.h"
#include "state/ledger.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* ---- in words ---- */

enum { WHO_BYTES = 160 };

/* "container 'main' is running: process 123 'nginx', hold 0123456789" */
static void describe_hold(const struct hold *hold, char text[WHO_BYTES])
{
	char name[PROCESS_NAME_BYTES];

	switch (hold->kind) {
	case HOLD_PROCESS:
		process_name(hold->pid, name);
		(void) snprintf(text, WHO_BYTES,
				"container '%s' is running: process %d '%s', hold %s",
				hold->container, (int) hold->pid, name, hold->id);
		break;
	case HOLD_CGROUP:
		(void) snprintf(text, WHO_BYTES, "container '%s' is running, hold %s: cgroup '%s'",
				hold->container, hold->id, hold->cgroup);
		break;
	case HOLD_EXPLICIT:
	case HOLD_KIND_COUNT:
		(void) snprintf(text, WHO_BYTES, "container '%s' is held until hold %s is released",
				hold->container, hold->id);
		break;
	}
}

bool pod_holds_explain(const struct inuse *inuse, const char *pod_uid, struct failure *ret)
{
	const struct hold *hold = holds_of_pod(inuse->table, pod_uid, 0);
	char who[WHO_BYTES];

	if (!hold)
		return false;
	describe_hold(hold, who);
	(void) failed_plain(ret, -EBUSY, "%s%s", who,
			    holds_of_pod(inuse->table, pod_uid, 1) ? ", and others" : "");
	return true;
}

static struct log_subject subject_of(const struct hold *hold, char key[POD_KEY_BYTES])
{
	(void) snprintf(key, POD_KEY_BYTES, "%s/%s", hold->pod_namespace, hold->pod_name);
	return (struct log_subject){ .pod = key, .pod_uid = hold->pod_uid };
}

/* ---- the end of a hold ---- */

/* Nothing holds the pod any more: whatever waited for that is due now. */
static void pod_released(struct inuse *inuse, const char *uid, const char *name_space,
			 const char *name)
{
	const char *unique_name;

	for (size_t i = 0; (unique_name = actual_volume_of_pod(inuse->with.actual, uid, i)); i++)
		(void) dirty_add(inuse->with.dirty, unique_name);
	inuse->with.pod_released(inuse->with.userdata, uid, name_space, name);
}

/* The hold frees its strings when it is removed. */
struct released_pod {
	char uid[HOLD_POD_UID_BYTES], name_space[64], name[254];
};

static void drop_hold(struct inuse *inuse, const struct hold *hold, const char *why)
{
	struct released_pod pod;
	char key[POD_KEY_BYTES];
	struct log_subject subject = subject_of(hold, key);

	(void) snprintf(pod.uid, sizeof(pod.uid), "%s", hold->pod_uid);
	(void) snprintf(pod.name_space, sizeof(pod.name_space), "%s", hold->pod_namespace);
	(void) snprintf(pod.name, sizeof(pod.name), "%s", hold->pod_name);
	log_about(LOG_INFO, &subject, "container '%s' %s, hold %s ended", hold->container, why,
		  hold->id);
	hold_watch_remove(inuse->watch, hold->id);
	holds_remove(inuse->table, hold->id);
	if (!holds_has_pod(inuse->table, pod.uid))
		pod_released(inuse, pod.uid, pod.name_space, pod.name);
}

/* A row that cannot be taken from the ledger now is judged again at the next start. */
void pod_holds_end(struct inuse *inuse, const struct hold *hold, const char *why)
{
	struct failure failure = { .error = 0 };

	if (ledger_forget_hold(*inuse->with.ledger, hold->id, &failure) < 0)
		log_message(LOG_WARNING, "ignoring: %s", failure.text);
	drop_hold(inuse, hold, why);
}

static void on_ended(void *userdata, const char *id)
{
	struct inuse *inuse = userdata;
	const struct hold *hold = holds_find(inuse->table, id);

	assert(hold);
	pod_holds_end(inuse, hold, "ended");
}

int pod_holds_remove(struct inuse *inuse, const char *pod_uid, const char *id,
		     struct failure *reterr)
{
	const struct hold *hold;
	int r;

	assert(inuse && pod_uid && id);
	hold = holds_find(inuse->table, id);
	if (!hold || strcmp(hold->pod_uid, pod_uid) != 0)
		return failed_plain(reterr, -ENOENT, "the pod has no hold '%s'", id);
	r = ledger_forget_hold(*inuse->with.ledger, id, reterr);
	if (r < 0)
		return -EIO;
	drop_hold(inuse, hold, "was released");
	return 0;
}

/* ---- container statuses ---- */

static const struct cJSON *find_state(const struct cJSON *status, const char *container)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
					     "ephemeralContainerStatuses" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct cJSON *item = json_find(json_get(status, lists[i]), "name", container);

		if (item)
			return json_get(item, "state");
	}
	return NULL;
}

/* Identifies the termination that the status reports; 0: none. A restarted container terminates
 * again, with other times. */
static uint64_t read_end(const struct object *pod, const char *container)
{
	cleanup_json struct cJSON *tree = object_tree(pod);
	cleanup_free char *text = NULL;
	const struct cJSON *terminated;

	terminated = json_get(find_state(json_get(tree, "status"), container), "terminated");
	if (!terminated)
		return 0;
	text = json_print(terminated);
	return text ? fnv1a_add_text(FNV1A_FIRST, text) | 1 : 0;
}

/* A pod that succeeded or failed has no running container, whatever else its status reports. */
static bool is_over(const struct object *pod)
{
	return strcmp(pod->pod->phase, "Succeeded") == 0 || strcmp(pod->pod->phase, "Failed") == 0;
}

static bool status_ends(const struct object *pod, const struct hold *hold)
{
	uint64_t end;

	if (hold->kind != HOLD_EXPLICIT)
		return false;
	if (is_over(pod))
		return true;
	end = read_end(pod, hold->container);
	return end != 0 && end != hold->ended_before;
}

void pod_holds_pod_changed(struct inuse *inuse, const struct object *pod)
{
	const struct hold *hold;
	size_t i = 0;

	assert(inuse && pod && pod->kind == KIND_POD);
	while ((hold = holds_of_pod(inuse->table, pod->meta.uid, i))) {
		if (store_epoch_recognizes(inuse, hold, pod))
			pod_holds_end(inuse, hold, "is listed");
		else if (status_ends(pod, hold))
			pod_holds_end(inuse, hold, "is reported as terminated");
		else
			i++;
	}
}

/* ---- a pod that waits for the one before it ---- */

static const struct hold *find_hold_before(const struct inuse *inuse, const struct object *pod)
{
	const struct hold *hold = holds_of_earlier_pod(inuse->table, pod->meta.name_space,
						       pod->meta.name, pod->meta.uid);
	struct manifest_mark mark;

	/* Out of memory: keep waiting, which unmounts nothing. */
	if (hold && manifest_mark_read(pod, &mark) >= 0 && !mark.is_marked)
		return NULL;
	return hold;
}

bool pod_holds_must_wait(void *userdata, const struct object *pod)
{
	const struct inuse *inuse = userdata;

	assert(pod && pod->kind == KIND_POD);
	return find_hold_before(inuse, pod) != NULL;
}

bool pod_holds_explain_wait(const struct inuse *inuse, const struct object *pod,
			    struct failure *ret)
{
	const struct hold *hold;
	char who[WHO_BYTES];

	if (desired_volume_of_pod(inuse->with.desired, pod->meta.uid, 0))
		return false;
	hold = find_hold_before(inuse, pod);
	if (!hold)
		return false;
	describe_hold(hold, who);
	(void) failed_plain(ret, -EBUSY, "waits for the pod before the manifest changed: %s", who);
	return true;
}

/* ---- posting ---- */

static bool has_container(const struct pod *pod, const char *container)
{
	for (size_t i = 0; i < pod->container_count; i++)
		if (strcmp(pod->containers[i].name, container) == 0)
			return true;
	return false;
}

/* Once a teardown may have begun it is too late, unless another hold keeps all that there is. */
static int check_pod(const struct inuse *inuse, const struct hold_request *request,
		     const struct object **ret, struct failure *reterr)
{
	const struct object *pod =
		store_get(*inuse->with.store, KIND_POD, request->name_space, request->name);

	if (pod && strcmp(pod->meta.uid, request->uid) != 0)
		pod = NULL;
	if (pod && !has_container(pod->pod, request->container))
		return failed_plain(reterr, -EINVAL, "pod '%s/%s' has no container '%s'",
				    request->name_space, request->name, request->container);
	if (pod && *pod->pod->node_name &&
	    strcmp(pod->pod->node_name, inuse->with.config->node_name) != 0)
		return failed_plain(reterr, -EINVAL, "pod '%s/%s' is on node '%s'",
				    request->name_space, request->name, pod->pod->node_name);
	if ((!pod || populator_is_finished(pod)) && !holds_has_pod(inuse->table, request->uid))
		return failed_plain(reterr, -ESTALE,
				    "pod '%s/%s' is being taken down: there is nothing left to "
				    "hold",
				    request->name_space, request->name);
	*ret = pod;
	return 0;
}

/* Return: 0 with the descriptor to watch, -EBADF for none. */
static int make_hold(const struct hold_request *request, const struct object *pod, struct hold *ret,
		     int *ret_fd, struct failure *reterr)
{
	struct hold_identity identity;
	int r;

	*ret = (struct hold){
		.kind = request->pid ? HOLD_PROCESS : HOLD_EXPLICIT,
		.pod_uid = request->uid,
		.pod_namespace = request->name_space,
		.pod_name = request->name,
		.container = request->container,
		.cgroup = request->cgroup,
		.writer = request->writer,
		.since_usec = realtime_usec(),
	};
	*ret_fd = -EBADF;
	if (request->pid && *request->cgroup)
		return failed_plain(reterr, -EINVAL, "pid cannot be combined with cgroup");
	if (request->pid < 0 || request->pid > INT_MAX)
		return failed_plain(reterr, -EINVAL, "%lld is not a process id",
				    (long long) request->pid);
	if (strlen(request->cgroup) >= HOLD_CGROUP_BYTES_MAX)
		return failed_plain(reterr, -EINVAL, "the path of the cgroup is too long");
	ret->pid = (pid_t) request->pid;
	if (*request->cgroup)
		ret->kind = HOLD_CGROUP;
	if (ret->kind == HOLD_EXPLICIT) {
		ret->ended_before = pod ? read_end(pod, request->container) : 0;
		return 0;
	}
	r = hold_target_open(ret, &identity, ret_fd, reterr);
	if (r < 0)
		return r;
	ret->start_time = identity.start_time;
	ret->cgroup_id = identity.cgroup_id;
	return 0;
}

/* Watched first: an entry of the ledger must have a watch. @fd is taken. */
static int keep_hold(struct inuse *inuse, const struct hold *hold, int fd, struct failure *reterr)
{
	int r = fd >= 0 ? hold_watch_add(inuse->watch, hold, fd) : 0;

	if (r < 0)
		return failed(reterr, r, "cannot watch container '%s'", hold->container);
	if (ledger_put_hold(*inuse->with.ledger, hold, reterr) < 0) {
		hold_watch_remove(inuse->watch, hold->id);
		return -EIO;
	}
	return 0;
}

int pod_holds_add(struct inuse *inuse, const struct hold_request *request,
		  char ret_id[HOLD_ID_BYTES], struct failure *reterr)
{
	cleanup_close int fd = -EBADF;
	char key[POD_KEY_BYTES], who[WHO_BYTES];
	const struct object *pod = NULL;
	const struct hold *hold;
	struct hold fields;
	int r;

	assert(inuse && request && request->name_space && request->name && request->uid);
	assert(request->container && request->cgroup && ret_id);
	assert(strlen(request->uid) < HOLD_POD_UID_BYTES);
	r = check_pod(inuse, request, &pod, reterr);
	if (r >= 0)
		r = make_hold(request, pod, &fields, &fd, reterr);
	if (r >= 0) {
		r = holds_add(inuse->table, &fields, &hold, reterr);
		r = r == -ENOSPC ? -EDQUOT : r;
	}
	if (r < 0)
		return r;
	r = keep_hold(inuse, hold, TAKE_FD(fd), reterr);
	if (r < 0) {
		holds_remove(inuse->table, hold->id);
		return r;
	}
	describe_hold(hold, who);
	log_about(
		LOG_INFO,
		&(struct log_subject){ .pod = subject_of(hold, key).pod, .pod_uid = hold->pod_uid },
		"%s", who);
	(void) snprintf(ret_id, HOLD_ID_BYTES, "%s", hold->id);
	return 0;
}

/* ---- at start ---- */

static int adopt(const struct hold *hold, void *userdata)
{
	struct inuse *inuse = userdata;
	const struct hold *adopted;

	return holds_add(inuse->table, hold, &adopted, NULL);
}

/* Only a target that surely ended is released: one that cannot be watched may be running. */
static void watch_again(struct inuse *inuse, const struct hold *hold)
{
	struct hold_identity identity = { 0 };
	struct failure failure = { .error = 0 };
	char key[POD_KEY_BYTES];
	struct log_subject subject = subject_of(hold, key);
	int fd = -EBADF, r = hold_target_open(hold, &identity, &fd, &failure);

	if (r >= 0 && !hold_identity_is_of(&identity, hold)) {
		(void) close_keep_errno(fd);
		r = -ESRCH;
	} else if (r >= 0) {
		r = hold_watch_add(inuse->watch, hold, fd);
		if (r < 0)
			(void) failed(&failure, r, "cannot watch it");
	}
	if (r == -ESRCH || (r == -EINVAL && hold->kind == HOLD_PROCESS))
		pod_holds_end(inuse, hold, "ended while podvold did not run");
	else if (r < 0)
		log_about(LOG_ERR, &subject,
			  "container '%s' is held until hold %s is released, because its end "
			  "cannot be watched: %s",
			  hold->container, hold->id, failure.text);
}

int pod_holds_open(struct inuse *inuse, struct failure *reterr)
{
	const struct hold *hold, *next;
	int r = holds_new((size_t) inuse->with.config->holds_max, &inuse->table);

	if (r >= 0)
		r = hold_watch_new(inuse->with.event, inuse->with.holds_priority, on_ended, inuse,
				   &inuse->watch);
	if (r >= 0)
		r = ledger_walk_holds(*inuse->with.ledger, adopt, inuse);
	if (r < 0)
		return failed(reterr, r, "cannot read the holds of the ledger");
	for (hold = holds_first(inuse->table); hold; hold = next) {
		next = holds_next(hold);
		if (hold->kind != HOLD_EXPLICIT)
			watch_again(inuse, hold);
	}
	if (holds_count(inuse->table) > 0)
		log_message(LOG_INFO, "%zu holds of containers known from before the start",
			    holds_count(inuse->table));
	return 0;
}

/* ---- views ---- */

static void add_item(const struct inuse *inuse, const struct hold *hold, struct cJSON *items)
{
	struct cJSON *item = json_add_object(items, NULL);
	char since[TIMESTAMP_BYTES], name[PROCESS_NAME_BYTES], key[POD_KEY_BYTES];

	timestamp_print_milli(hold->since_usec, since);
	(void) json_set_string(item, "id", hold->id);
	(void) json_set_string(item, "pod", subject_of(hold, key).pod);
	(void) json_set_string(item, "podUID", hold->pod_uid);
	(void) json_set_string(item, "container", hold->container);
	(void) json_set_string(item, "kind", hold_kind_name(hold->kind));
	if (hold->kind == HOLD_PROCESS) {
		process_name(hold->pid, name);
		(void) json_set_int(item, "pid", hold->pid);
		(void) json_set_string(item, "process", name);
	}
	if (hold->kind == HOLD_CGROUP)
		(void) json_set_string(item, "cgroup", hold->cgroup);
	(void) json_set_string(item, "since", since);
	(void) json_set_bool(item, "watched", hold_watch_has(inuse->watch, hold->id));
}

struct cJSON *pod_holds_view(struct inuse *inuse, const char *pod_uid)
{
	struct cJSON *list = json_new_object(), *items = json_add_array(list, "items");
	const struct hold *hold;

	assert(inuse);
	if (pod_uid) {
		for (size_t i = 0; (hold = holds_of_pod(inuse->table, pod_uid, i)); i++)
			add_item(inuse, hold, items);
		return list;
	}
	for (hold = holds_first(inuse->table); hold; hold = holds_next(hold))
		add_item(inuse, hold, items);
	return list;
}
