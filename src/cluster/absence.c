/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absence - is a pod that a list lacked really gone?
 *
 * It is asked for by name. Gone: the server answers that it is not found; or that it may not be
 * read (a node may read its own pods alone, so a current server answers 403 for one that is not
 * there) and a list of just this name, of this node, is empty; or another pod has its name. Then
 * the identity of the cluster is asked once more, and then the pod: the server may have been
 * another one just for the first answer. Any other answer, or none, proves nothing, and is asked
 * for again, later and later. The other pod is not stored from here: events older than it may wait
 * in pods.c, which would take it away again; the watch adds it, in the order of versions.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/timer.h"

enum { AGAIN_FIRST_SECONDS = 1, AGAIN_MAX_SECONDS = 60 };

struct absence {
	UT_hash_handle hh; /* by uid */
	struct absences *absences;
	const struct object *pod;     /* as it is stored */
	const struct object *present; /* as the server has it, by the same uid; NULL: it has not */
	struct request *request;
	struct identity_check *check;
	sd_event_source *timer;
	unsigned int pause_seconds;
	bool is_verified; /* the identity was asked since it was found absent */
};

struct absences {
	struct cluster *cluster;
	struct absence *by_uid;
};

static void drop(struct absence *absence)
{
	HASH_DEL(absence->absences->by_uid, absence);
	(void) request_cancel(absence->request);
	(void) identity_cancel(absence->check);
	(void) sd_event_source_disable_unref(absence->timer);
	(void) object_unref(absence->pod);
	(void) object_unref(absence->present);
	free(absence);
}

static void retry_later(struct absence *absence)
{
	absence->is_verified = false;
	absence->present = object_unref(absence->present);
	timer_set_in(absence->timer, absence->pause_seconds * USEC_PER_SEC);
	absence->pause_seconds *= 2;
	if (absence->pause_seconds > AGAIN_MAX_SECONDS)
		absence->pause_seconds = AGAIN_MAX_SECONDS;
}

/* ---- what it is worth ---- */

static int send_request(struct absence *absence, bool lists);

static void conclude(struct absence *absence)
{
	struct cluster *cluster = absence->absences->cluster;
	cleanup_object const struct object *present = object_ref(absence->present);
	cleanup_object const struct object *pod = object_ref(absence->pod);
	const struct object_meta *meta = &pod->meta;

	if (present) {
		pods_put(cluster, present);
		return;
	}
	log_message(LOG_INFO, "pod '%s/%s' is gone from the kube-apiserver", meta->name_space,
		    meta->name);
	pods_gone(cluster, meta->name_space, meta->name, meta->uid);
}

static void on_identity(void *userdata, enum identity_verdict verdict)
{
	struct absence *absence = userdata;

	absence->check = NULL;
	absence->is_verified = verdict == IDENTITY_SAME;
	if (absence->is_verified && absence->present)
		conclude(absence);
	else if (!absence->is_verified || send_request(absence, false) < 0)
		retry_later(absence);
}

/* A pod that is there takes nothing away; one that is not, twice, and between the two the server
 * is that of this cluster. */
static void prove(struct absence *absence)
{
	if (absence->is_verified && !absence->present)
		conclude(absence);
	else if (identity_check_start(absence->absences->cluster, on_identity, absence,
				      &absence->check) < 0)
		retry_later(absence);
}

static void found(struct absence *absence, const struct object *object)
{
	absence->present = object_unref(absence->present);
	if (strcmp(object->meta.uid, absence->pod->meta.uid) == 0)
		absence->present = object_ref(object);
	prove(absence);
}

/* ---- asking ---- */

struct one {
	const struct object *object;
	size_t count;
};

static void count_listed(void *userdata, const struct server_object *object)
{
	struct one *one = userdata;

	if (one->count++ == 0)
		one->object = object_ref(object->object);
}

static void on_listed(void *userdata, const struct http_answer *answer)
{
	struct absence *absence = userdata;
	struct one one = { 0 };
	const struct server_taker taker = { .object = count_listed, .userdata = &one };
	struct server_list page;
	struct failure why = { 0 };

	absence->request = NULL;
	contact_note(absence->absences->cluster, answer);
	if (answer->error == 0 && answer->status == 200 &&
	    server_list_read(kind_row(KIND_POD), answer->body, answer->length, &taker, &page,
			     &why) == 0 &&
	    page.next[0] == '\0' && (one.count == 0 || one.object)) {
		if (one.object)
			found(absence, one.object);
		else
			prove(absence);
	} else {
		retry_later(absence);
	}
	(void) object_unref(one.object);
}

/* Of the server itself, and of this pod: no word of a proxy. */
static bool is_about(const struct http_answer *answer, const struct absence *absence,
		     const char *reason)
{
	struct server_status status;

	return server_status_read(answer->body, answer->length, &status) == 0 &&
	       strcmp(status.reason, reason) == 0 && strcmp(status.kind, "pods") == 0 &&
	       strcmp(status.name, absence->pod->meta.name) == 0;
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct absence *absence = userdata;
	cleanup_object const struct object *object = NULL;
	struct failure why = { 0 };
	int status = answer->error ? 0 : answer->status;

	absence->request = NULL;
	contact_note(absence->absences->cluster, answer);
	if (status == 200 && server_object_read(kind_row(KIND_POD), absence->pod->meta.name,
						answer->body, answer->length, &object, &why) == 0)
		found(absence, object);
	else if (status == 404 && is_about(answer, absence, "NotFound"))
		prove(absence);
	else if (status != 403 || !is_about(answer, absence, "Forbidden") ||
		 send_request(absence, true) < 0)
		retry_later(absence);
}

static int send_request(struct absence *absence, bool lists)
{
	struct cluster *cluster = absence->absences->cluster;
	const struct object_meta *meta = &absence->pod->meta;
	char path[CLUSTER_PATH_BYTES], selector[CLUSTER_PATH_BYTES];
	const struct http_request request = { .method = "GET",
					      .path = path,
					      .done = lists ? on_listed : on_answer,
					      .userdata = absence };
	bool fits;

	(void) snprintf(selector, sizeof(selector),
			"?fieldSelector=metadata.name%%3D%s%%2Cspec.nodeName%%3D%s", meta->name,
			cluster->options.node_name);
	fits = cluster_path(kind_row(KIND_POD), meta->name_space, lists ? NULL : meta->name,
			    lists ? selector : "", path);
	return fits ? requests_send(cluster->requests, &request, &absence->request) : -EINVAL;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct absence *absence = userdata;

	if (send_request(absence, false) < 0)
		retry_later(absence);
	return 0;
}

void absences_add(struct absences *absences, const struct object *pod)
{
	struct absence *absence;

	HASH_FIND_STR(absences->by_uid, pod->meta.uid, absence);
	if (absence)
		return;
	absence = calloc(1, sizeof(*absence));
	if (!absence)
		return; /* the next list lacks it, too */
	absence->absences = absences;
	absence->pod = object_ref(pod);
	absence->pause_seconds = AGAIN_FIRST_SECONDS;
	HASH_ADD_KEYPTR(hh, absences->by_uid, absence->pod->meta.uid, strlen(pod->meta.uid),
			absence);
	if (!absence->hh.tbl) {
		(void) object_unref(absence->pod);
		free(absence);
		return;
	}
	if (sd_event_add_time_relative(absences->cluster->options.event, &absence->timer,
				       CLOCK_MONOTONIC, 0, 0, on_timer, absence) < 0)
		drop(absence);
}

void absences_remove(struct absences *absences, const char *uid)
{
	struct absence *absence;

	HASH_FIND_STR(absences->by_uid, uid, absence);
	if (absence)
		drop(absence);
}

size_t absences_count(const struct absences *absences)
{
	return HASH_COUNT(absences->by_uid);
}

int absences_new(struct cluster *cluster, struct absences **ret)
{
	struct absences *absences = calloc(1, sizeof(*absences));

	if (!absences)
		return -ENOMEM;
	absences->cluster = cluster;
	*ret = absences;
	return 0;
}

struct absences *absences_free(struct absences *absences)
{
	struct absence *absence, *next;

	if (!absences)
		return NULL;
	HASH_ITER (hh, absences->by_uid, absence, next)
		drop(absence);
	free(absences);
	return NULL;
}
