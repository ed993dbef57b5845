/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writes - what podvold writes goes to the server, and into the store as the server answers it
 *
 * An update is a JSON merge patch of what differs from the object in the store, its status one to
 * /status; what does not differ is not sent. It names the server's version, except for the own
 * Node, whose fields podvold alone writes; a conflict of a write that can be made again is made
 * again out of what the server has. Updates and deletions name the uid, so that another object of
 * that name is never written, of another cluster either; a creation asks first which cluster it is,
 * where that is not known. One write of an object at a time, in their order. A refusal is the
 * writer's to handle, and is kept for people. A volume whose directory is being made is kept in the
 * store alone until it is finished: the cluster's binder would bind it at once.
 */
#include "cluster/cluster_internal.h"
#include "cluster/provisioning.h"
#include "cluster/write_patch.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "object/json/json.h"

#include <utlist.h>

enum { CONFLICTS_MAX = 5 };

#define HELD_BACK "is Released, and not stored before its claim is known to be deleted"

/* Events and leases are this node's. */
#define SERVER_KINDS (((1U << KIND_COUNT) - 1) & ~(1U << KIND_EVENT | 1U << KIND_LEASE))

enum step { STEP_MAIN, STEP_STATUS, STEP_READ };

struct sending {
	struct sending *prev, *next;
	struct cluster *cluster;
	struct write *write;
	struct request *request;      /* NULL: it waits, or its answer is being stored */
	struct identity_check *check; /* before it is created */
	enum step step;
	bool has_begun, is_stored; /* the store has the answer, and will call */
	unsigned int conflicts;
	uint64_t settled;   /* the server's version that was waited for */
	char *status_patch; /* to be sent next; NULL: none */
	/* Of a delete: as it was when that was sent. A watch may show its end before the answer.
	 * Else what is answered when the watch was faster, and is not stored for that. */
	const struct object *kept;
};

struct writes {
	struct cluster *cluster;
	struct sending *queue;
	sd_event_source *turn;
	char refused[FAILURE_TEXT_BYTES]; /* the last write that was; "": none */
	uint64_t count, refusals;
	bool is_closing;
};

/* ---- the end of a write ---- */

static void run_later(struct writes *writes)
{
	(void) sd_event_source_set_enabled(writes->turn, SD_EVENT_ONESHOT);
}

/* Also when the store answers after writes_free(): then there is no queue. */
static void end(struct sending *sending, int error, const struct object *result,
		const struct failure *why)
{
	struct writes *writes = sending->cluster ? sending->cluster->writes : NULL;
	struct write *write = sending->write;

	if (writes)
		DL_DELETE(writes->queue, sending);
	if (writes && error < 0 && error != -ECANCELED) {
		writes->refusals++;
		(void) snprintf(writes->refused, sizeof(writes->refused), "%s", why->text);
		if (!write->done)
			log_message(LOG_WARNING, "not written: %s", why->text);
	}
	if (write->done)
		write->done(write->userdata, error, result, why);
	(void) write_free(write);
	(void) identity_cancel(sending->check);
	(void) object_unref(sending->kept);
	free(sending->status_patch);
	free(sending);
	if (writes && !writes->is_closing)
		run_later(writes);
}

static void refuse(struct sending *sending, int error, const char *text)
{
	const struct write *write = sending->write;
	struct failure why = { 0 };

	(void) failed_plain(&why, error, "%s '%s' %s", kind_row(write->kind)->singular, write->name,
			    text);
	end(sending, error, NULL, &why);
}

static const struct object *present_of(const struct sending *sending)
{
	const struct write *write = sending->write;

	return store_get(sending->cluster->options.store, write->kind, write->name_space,
			 write->name);
}

/* Of a write that the watch was faster than. */
static const struct object *result_of(const struct sending *sending)
{
	bool deletes = sending->write->verb == ADMIT_DELETE || !sending->cluster;

	return (deletes ? NULL : present_of(sending)) ?: sending->kept;
}

static void on_mirrored(void *userdata, int error, const struct object *result,
			const struct failure *why)
{
	struct sending *sending = userdata;

	/* The server has deleted it, and a watch has shown it; another one of its name stays. */
	if (sending->kept && (error == -ENOENT || error == -ESTALE))
		end(sending, 0, result_of(sending), NULL);
	else
		end(sending, error, result, why);
}

/* ---- what is stored ---- */

static void take_object(struct sending *sending, const struct object *object)
{
	if (provisioning_holds_back(sending->cluster, object))
		refuse(sending, -EAGAIN, HELD_BACK);
	else if (store_mirror(sending->cluster->options.store, object, on_mirrored, sending) < 0)
		refuse(sending, -ENOMEM, "is written, and not stored here");
	else
		sending->is_stored = true;
}

static void keep_here(struct sending *sending)
{
	cleanup_object const struct object *made = NULL;
	struct failure why = { 0 };
	int r = present_of(sending) ? -EEXIST
				    : write_patch_created(sending->write->object, &made, &why);

	if (r == 0)
		take_object(sending, made);
	else
		refuse(sending, r, "cannot be kept");
}

/* ---- sending ---- */

static void on_answer(void *userdata, const struct http_answer *answer);

static int send(struct sending *sending, const char *method, const char *suffix, const char *body)
{
	const struct write *write = sending->write;
	char path[CLUSTER_PATH_BYTES], query[64];
	const struct http_request request = {
		.method = method,
		.path = path,
		.body = body,
		.content_type = !body                          ? NULL
				: strcmp(method, "PATCH") == 0 ? "application/merge-patch+json"
							       : "application/json",
		.done = on_answer,
		.userdata = sending,
	};
	bool creates = strcmp(method, "POST") == 0;

	(void) snprintf(query, sizeof(query), "%s%s", suffix,
			write->dry_run && sending->step != STEP_READ ? "?dryRun=All" : "");
	if (!cluster_path(kind_row(write->kind), write->name_space, creates ? NULL : write->name,
			  query, path))
		return -EINVAL;
	return requests_send(sending->cluster->requests, &request, &sending->request);
}

static int send_created(struct sending *sending)
{
	cleanup_free char *body = write_create_text(sending->write->object);

	return body ? send(sending, "POST", "", body) : -ENOMEM;
}

static void on_identity(void *userdata, enum identity_verdict verdict)
{
	struct sending *sending = userdata;

	sending->check = NULL;
	if (verdict != IDENTITY_SAME)
		refuse(sending, -EAGAIN,
		       verdict == IDENTITY_OTHER
			       ? "is not created: another cluster answers"
			       : "is not created: it is not known which cluster answers");
	else if (send_created(sending) < 0)
		refuse(sending, -ENOMEM, "cannot be sent");
}

/* No uid tells another cluster that it is not meant. */
static int send_create(struct sending *sending)
{
	struct cluster *cluster = sending->cluster;

	if (pods_are_verified(cluster->pods) || identity_is_blank(cluster->identity))
		return send_created(sending);
	return identity_check_start(cluster, on_identity, sending, &sending->check);
}

static int send_delete(struct sending *sending)
{
	cleanup_free char *body = NULL;

	sending->kept = object_ref(present_of(sending));
	if (!sending->kept)
		return -ENOENT;
	body = write_delete_text(sending->write, sending->kept);
	return body ? send(sending, "DELETE", "", body) : -ENOMEM;
}

static int send_status(struct sending *sending)
{
	cleanup_free char *body = TAKE_PTR(sending->status_patch);

	sending->step = STEP_STATUS;
	return send(sending, "PATCH", "/status", body);
}

static store_done_fn store_read_then_again;

static void begin_update(struct sending *sending)
{
	const struct object *present = present_of(sending);
	uint64_t version = present ? versions_find(sending->cluster, present->meta.uid) : 0;
	cleanup_free char *body = NULL;
	struct failure why = { 0 };
	int r;

	if (!present) {
		refuse(sending, -ENOENT, "does not exist");
		return;
	}
	/* Known before the store has its object: a patch of an older one leaves what is new. */
	if (version != sending->settled &&
	    mirror_after(sending->cluster, store_read_then_again, sending) == 0) {
		sending->settled = version;
		sending->is_stored = true;
		return;
	}
	r = write_edit_again(sending->write, present, &why);
	if (r < 0) {
		end(sending, r, NULL, &why);
		return;
	}
	if (write_is_unfinished(present) && write_is_unfinished(sending->write->object)) {
		take_object(sending, sending->write->object);
		return;
	}
	if (write_is_unfinished(present)) {
		r = send_create(sending);
		if (r < 0)
			refuse(sending, r, "cannot be sent");
		return;
	}
	/* Stored by a podvold before this one: its finalizers may be others by now. */
	if (present->kind == KIND_PERSISTENT_VOLUME && version == 0 && sending->conflicts == 0) {
		sending->conflicts++;
		sending->step = STEP_READ;
		if (send(sending, "GET", "", NULL) < 0)
			refuse(sending, -ENOMEM, "cannot be sent");
		return;
	}
	free(TAKE_PTR(sending->status_patch));
	r = write_patch_make(present, sending->write->object, version, &body,
			     &sending->status_patch);
	if (r == 0 && *body == '\0' && *sending->status_patch == '\0') {
		end(sending, 0, present, NULL);
		return;
	}
	if (r == 0)
		r = *body ? send(sending, "PATCH", "", body) : send_status(sending);
	if (r < 0)
		refuse(sending, r, "cannot be sent");
}

static void take_deletion(struct sending *sending);

static void begin(struct sending *sending)
{
	int r = 0;

	sending->has_begun = true;
	sending->step = STEP_MAIN;
	switch (sending->write->verb) {
	case ADMIT_CREATE:
		if (write_is_unfinished(sending->write->object)) {
			keep_here(sending);
			return;
		}
		r = send_create(sending);
		break;
	case ADMIT_DELETE:
		if (write_is_unfinished(present_of(sending))) {
			sending->kept = object_ref(present_of(sending));
			take_deletion(sending);
			return;
		}
		r = send_delete(sending);
		break;
	case ADMIT_UPDATE:
		begin_update(sending); /* answers by itself */
		return;
	}
	if (r < 0)
		refuse(sending, r, r == -ENOENT ? "does not exist" : "cannot be sent");
}

/* ---- answers ---- */

/* A watch was faster than the answer: what it has shown is newer, and stays. The write ends behind
 * that: else the writer finds what was stored before both. */
static void keep_newer(struct sending *sending, const struct object *answered)
{
	sending->kept = object_ref(answered);
	if (mirror_after(sending->cluster, on_mirrored, sending) < 0)
		end(sending, 0, answered, NULL);
	else
		sending->is_stored = true;
}

/* What was deleted and has no finalizers is gone; pods are the watch's to say. */
static void take_deletion(struct sending *sending)
{
	const struct write *write = sending->write;
	const struct store_key key = { write->kind, write->name_space, write->name };
	const struct object *deleted = sending->kept;

	if (write->kind == KIND_POD || write->dry_run || !present_of(sending))
		end(sending, 0, deleted, NULL);
	else if (store_mirror_delete(sending->cluster->options.store, &key, deleted->meta.uid,
				     on_mirrored, sending) < 0)
		end(sending, 0, deleted, NULL);
	else
		sending->is_stored = true;
}

/* Return: false: it is not to be tried again. */
static bool try_again(struct sending *sending, const struct http_answer *answer)
{
	/* What was finished has been created, and the answer was lost. */
	bool can_read = sending->write->edit || write_is_unfinished(present_of(sending));

	if (answer->status != 409 || sending->write->verb != ADMIT_UPDATE || !can_read ||
	    sending->conflicts >= CONFLICTS_MAX)
		return false;
	sending->conflicts++;
	sending->step = STEP_READ;
	return send(sending, "GET", "", NULL) == 0;
}

/* An administrator deletes a pod that a restored etcd lost: there is nothing left to delete. */
static bool is_lost_pod(struct sending *sending, const struct http_answer *answer)
{
	const struct object *present = present_of(sending);

	return sending->write->verb == ADMIT_DELETE && sending->write->kind == KIND_POD &&
	       (answer->status == 404 || answer->status == 403) && present &&
	       pods_are_verified(sending->cluster->pods) &&
	       pods_is_kept(sending->cluster->pods, present->meta.uid);
}

static void take_refusal(struct sending *sending, const struct http_answer *answer)
{
	const struct write *write = sending->write;
	struct failure why = { 0 };
	char path[CLUSTER_PATH_BYTES];
	int r;

	if (try_again(sending, answer))
		return;
	if (is_lost_pod(sending, answer)) {
		cleanup_object const struct object *present = object_ref(present_of(sending));

		pods_gone(sending->cluster, write->name_space, write->name, present->meta.uid);
		end(sending, 0, present, NULL);
		return;
	}
	(void) snprintf(path, sizeof(path), "%s '%s%s%s'", kind_row(write->kind)->singular,
			write->name_space, *write->name_space ? "/" : "", write->name);
	r = contact_explain(path, answer, &why);
	if (answer->status == 404)
		needed_read(
			sending->cluster->needed,
			&(struct object_reference){ write->kind, write->name_space, write->name });
	if (answer->status == 409 && write->verb == ADMIT_CREATE)
		r = -EEXIST;
	end(sending, r, NULL, &why);
}

static void store_read_then_again(void *userdata, int error, const struct object *result,
				  const struct failure *why)
{
	struct sending *sending = userdata;
	struct failure late = { 0 };

	if (!sending->cluster) {
		(void) failed_plain(&late, -ECANCELED, "podvold is shutting down");
		on_mirrored(sending, -ECANCELED, NULL, &late);
		return;
	}
	sending->is_stored = false;
	if (error < 0 && error != -ENOENT)
		end(sending, error, NULL, why);
	else
		begin(sending);
}

static void take_success(struct sending *sending, const struct object *object)
{
	bool is_old =
		versions_find(sending->cluster, object->meta.uid) > object->meta.resource_version;

	if (write_answer_is_of_another(sending->write, present_of(sending), object)) {
		if (sending->write->verb == ADMIT_CREATE)
			end(sending, 0, object, NULL);
		else
			refuse(sending, -ESTALE, "was replaced: read it again");
		return;
	}
	if (sending->step == STEP_READ && is_old) {
		/* The watch has shown more meanwhile, which the store may not have yet. */
		if (sending->conflicts++ >= CONFLICTS_MAX || send(sending, "GET", "", NULL) < 0)
			refuse(sending, -ESTALE, "was changed meanwhile: read it again");
		return;
	}
	if (sending->step == STEP_READ) {
		versions_note(sending->cluster, object);
		if (provisioning_holds_back(sending->cluster, object))
			refuse(sending, -EAGAIN, HELD_BACK);
		else if (store_mirror(sending->cluster->options.store, object,
				      store_read_then_again, sending) < 0)
			refuse(sending, -ENOMEM, "cannot be stored");
		else
			sending->is_stored = true;
		return;
	}
	if (sending->write->dry_run) {
		end(sending, 0, object, NULL);
		return;
	}
	if (!is_old)
		versions_note(sending->cluster, object);
	if (sending->step == STEP_MAIN && sending->status_patch && *sending->status_patch) {
		if (send_status(sending) < 0)
			refuse(sending, -ENOMEM, "cannot be sent");
		return;
	}
	if (write_ends_object(object)) {
		sending->kept = object_ref(object);
		take_deletion(sending);
	} else if (is_old) {
		keep_newer(sending, object);
	} else {
		take_object(sending, object);
	}
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct sending *sending = userdata;
	cleanup_object const struct object *object = NULL;
	const struct write *write = sending->write;
	struct failure why = { 0 };
	int r;

	sending->request = NULL;
	contact_note(sending->cluster, answer);
	if (answer->error < 0 || answer->status < 200 || answer->status > 299) {
		take_refusal(sending, answer);
		return;
	}
	if (write->verb == ADMIT_DELETE) {
		if (write_answer_has_finalizers(write, answer, &object))
			take_object(sending, object);
		else
			take_deletion(sending);
		return;
	}
	r = server_object_read(kind_row(write->kind), write->name, answer->body, answer->length,
			       &object, &why);
	if (r < 0)
		end(sending, r, NULL, &why);
	else
		take_success(sending, object);
}

/* ---- the queue ---- */

/* Does one before it have the same name? */
static bool must_wait(const struct writes *writes, const struct sending *sending)
{
	const struct write *write = sending->write;

	for (const struct sending *earlier = writes->queue; earlier != sending;
	     earlier = earlier->next)
		if (write->follows || (earlier->write->kind == write->kind &&
				       strcmp(earlier->write->name, write->name) == 0 &&
				       strcmp(earlier->write->name_space, write->name_space) == 0))
			return true;
	return false;
}

static int on_turn(sd_event_source *source, void *userdata)
{
	struct writes *writes = userdata;
	struct sending *sending, *next;

	DL_FOREACH_SAFE (writes->queue, sending, next)
		if (!sending->has_begun && !must_wait(writes, sending))
			begin(sending);
	return 0;
}

static int take_write(void *userdata, struct write *write)
{
	struct writes *writes = userdata;
	struct sending *sending = calloc(1, sizeof(*sending));

	if (!sending)
		return -ENOMEM;
	sending->cluster = writes->cluster;
	sending->write = write;
	writes->count++;
	DL_APPEND(writes->queue, sending);
	run_later(writes);
	return 0;
}

/* Between the end of this and that of the store nothing is written here that the server lacks. */
static int refuse_write(void *userdata, struct write *write)
{
	return -ECANCELED;
}

/* ---- life ---- */

int writes_new(struct cluster *cluster)
{
	struct writes *writes = calloc(1, sizeof(*writes));
	int r;

	if (!writes)
		return -ENOMEM;
	writes->cluster = cluster;
	cluster->writes = writes;
	r = sd_event_add_defer(cluster->options.event, &writes->turn, on_turn, writes);
	if (r >= 0)
		r = sd_event_source_set_enabled(writes->turn, SD_EVENT_OFF);
	if (r < 0)
		return r;
	store_set_upstream(cluster->options.store, SERVER_KINDS, take_write, writes);
	return 0;
}

struct writes *writes_free(struct writes *writes)
{
	struct sending *sending;
	struct failure why = { 0 };

	if (!writes)
		return NULL;
	writes->is_closing = true;
	store_set_upstream(writes->cluster->options.store, SERVER_KINDS, refuse_write, NULL);
	(void) failed_plain(&why, -ECANCELED, "podvold is shutting down");
	while ((sending = writes->queue)) {
		if (!sending->is_stored) {
			(void) request_cancel(sending->request);
			end(sending, -ECANCELED, NULL, &why);
			continue;
		}
		DL_DELETE(writes->queue, sending);
		sending->cluster = NULL;
	}
	(void) sd_event_source_disable_unref(writes->turn);
	free(writes);
	return NULL;
}

void writes_view(const struct cluster *cluster, struct cJSON *view)
{
	const struct writes *writes = cluster->writes;

	(void) json_set_int(view, "writes", (int64_t) writes->count);
	(void) json_set_int(view, "writesRefused", (int64_t) writes->refusals);
	if (*writes->refused)
		(void) json_set_string(view, "lastRefusedWrite", writes->refused);
}
