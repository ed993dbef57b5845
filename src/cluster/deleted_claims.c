/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deleted_claims - proof that the claim of a volume made here was deleted, on record in the volume
 *
 * A server that calls a volume Released has seen its claim go. Data is removed for no less than
 * this: the same volume (uid) was stored here, for that claim, before; the server has no such claim
 * when it is asked by name (again and again, with back-off, while it does not say that); and it is
 * still the same cluster. Then the volume gets the annotation
 * podvol.io/claim-deleted, and only afterwards is it stored as Released. A kill before that leaves
 * it as it was, and the next list begins again. A volume that was created again, from a backup,
 * has another uid: its data stays.
 */
#define HASH_NONFATAL_OOM 1 /* a failed insertion is an error code, not the end of the process */

#include "cluster/cluster_internal.h"
#include "cluster/provisioning.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "object/json/json.h"
#include "object/kinds/persistent_volume.h"

struct proof {
	UT_hash_handle hh;            /* by uid */
	struct deleted_claims *owner; /* NULL: freed, and the store still has the write */
	const struct object *volume;  /* Released, as the server has it */
	struct request *request;      /* NULL: it is checked or written */
	struct identity_check *check;
	sd_event_source *timer; /* asks again */
	unsigned int failures;
	bool is_written; /* the store has the write, and will call */
};

enum { AGAIN_SECONDS = 5, AGAIN_SECONDS_MAX = 300 };

struct deleted_claims {
	struct cluster *cluster;
	struct proof *proofs;
};

static const struct object *stored(const struct cluster *cluster, const struct object *volume)
{
	return store_get(cluster->options.store, KIND_PERSISTENT_VOLUME, "", volume->meta.name);
}

static void proof_free(struct proof *proof)
{
	(void) object_unref(proof->volume);
	free(proof);
}

static void drop(struct proof *proof)
{
	HASH_DEL(proof->owner->proofs, proof);
	(void) request_cancel(proof->request);
	(void) identity_cancel(proof->check);
	proof->timer = sd_event_source_disable_unref(proof->timer);
	proof->owner = NULL;
	if (!proof->is_written)
		proof_free(proof);
}

/* ---- on record ---- */

/* Was it stored here for this claim, before it was released? */
static bool was_seen(const struct object *known, const struct object *volume)
{
	const struct persistent_volume *before = known ? known->persistent_volume : NULL;

	return before && strcmp(before->claim_uid, volume->persistent_volume->claim_uid) == 0 &&
	       (before->origin.is_unfinished || (strcmp(known->meta.uid, volume->meta.uid) == 0 &&
						 before->phase != VOLUME_RELEASED));
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata);

/* Asked again later. Without memory for that the volume comes again with the next list. */
static void give_up(struct proof *proof)
{
	struct cluster *cluster = proof->owner->cluster;
	uint64_t seconds = (uint64_t) AGAIN_SECONDS << (proof->failures < 6 ? proof->failures : 6);

	proof->failures++;
	if (seconds > AGAIN_SECONDS_MAX)
		seconds = AGAIN_SECONDS_MAX;
	proof->timer = sd_event_source_disable_unref(proof->timer);
	if (sd_event_add_time_relative(cluster->options.event, &proof->timer, CLOCK_MONOTONIC,
				       seconds * USEC_PER_SEC, USEC_PER_SEC, on_timer, proof) < 0) {
		provisioning_list_again(cluster, KIND_PERSISTENT_VOLUME);
		drop(proof);
	}
}

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct proof *proof = userdata;

	proof->is_written = false;
	if (!proof->owner) {
		proof_free(proof);
		return;
	}
	if (error == 0) {
		drop(proof);
		return;
	}
	log_message(LOG_WARNING, "volume '%s' is Released, and stays: %s", proof->volume->meta.name,
		    why->text);
	give_up(proof);
}

static int add_record(struct cJSON *tree, void *userdata)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	return json_set_string(json_ensure_object(metadata, "annotations"),
			       ANNOTATION_CLAIM_DELETED, userdata);
}

static void on_identity(void *userdata, enum identity_verdict verdict)
{
	struct proof *proof = userdata;
	struct store *store = proof->owner->cluster->options.store;
	const struct object *present = stored(proof->owner->cluster, proof->volume);
	cleanup_object const struct object *made = NULL;
	struct failure why = { 0 };
	char uid[OBJECT_UID_BYTES_MAX + 1];

	proof->check = NULL;
	(void) snprintf(uid, sizeof(uid), "%s", proof->volume->persistent_volume->claim_uid);
	if (verdict != IDENTITY_SAME || !was_seen(present, proof->volume) ||
	    object_edit(present, add_record, uid, &made, &why) < 0 ||
	    store_update(store, made, NULL, on_written, proof) < 0)
		give_up(proof);
	else
		proof->is_written = true;
}

/* ---- asking ---- */

/* The server says of this very claim that it is not there; or another one has its name. */
static bool is_gone(const struct proof *proof, const struct http_answer *answer)
{
	const struct persistent_volume *volume = proof->volume->persistent_volume;
	cleanup_object const struct object *claim = NULL;
	struct server_status status;
	struct failure why = { 0 };

	if (answer->error)
		return false;
	if (answer->status == 404)
		return server_status_read(answer->body, answer->length, &status) == 0 &&
		       strcmp(status.reason, "NotFound") == 0 &&
		       strcmp(status.kind, "persistentvolumeclaims") == 0 &&
		       strcmp(status.name, volume->claim_name) == 0;
	return answer->status == 200 &&
	       server_object_read(kind_row(KIND_PERSISTENT_VOLUME_CLAIM), volume->claim_name,
				  answer->body, answer->length, &claim, &why) == 0 &&
	       strcmp(claim->meta.uid, volume->claim_uid) != 0;
}

static void on_answer(void *userdata, const struct http_answer *answer)
{
	struct proof *proof = userdata;

	proof->request = NULL;
	contact_note(proof->owner->cluster, answer);
	if (!is_gone(proof, answer) ||
	    identity_check_start(proof->owner->cluster, on_identity, proof, &proof->check) < 0)
		give_up(proof);
}

static int send_request(struct proof *proof)
{
	const struct persistent_volume *volume = proof->volume->persistent_volume;
	char path[CLUSTER_PATH_BYTES];
	const struct http_request request = {
		.method = "GET", .path = path, .done = on_answer, .userdata = proof
	};

	if (!cluster_path(kind_row(KIND_PERSISTENT_VOLUME_CLAIM), volume->claim_namespace,
			  volume->claim_name, "", path))
		return -EINVAL;
	return requests_send(proof->owner->cluster->requests, &request, &proof->request);
}

/* What the watch has shown meanwhile decides whether there is still something to prove. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct proof *proof = userdata;

	if (!was_seen(stored(proof->owner->cluster, proof->volume), proof->volume))
		drop(proof);
	else if (send_request(proof) < 0)
		give_up(proof);
	return 0;
}

static bool is_to_prove(const struct object *known, const struct object *object)
{
	const struct persistent_volume *volume = object->persistent_volume;

	return volume->phase == VOLUME_RELEASED && volume->reclaim_policy == RECLAIM_DELETE &&
	       volume->claim_uid[0] &&
	       strcmp(volume->origin.claim_deleted, volume->claim_uid) != 0 &&
	       was_seen(known, object);
}

bool deleted_claims_prove(struct deleted_claims *deleted_claims, const struct object *object)
{
	struct proof *proof;

	HASH_FIND_STR(deleted_claims->proofs, object->meta.uid, proof);
	if (!is_to_prove(stored(deleted_claims->cluster, object), object)) {
		/* It was Released, and is not, or is Retain by now. */
		if (proof && !proof->is_written)
			drop(proof);
		return false;
	}
	if (proof)
		return true;
	proof = calloc(1, sizeof(*proof));
	if (!proof) {
		provisioning_list_again(deleted_claims->cluster, KIND_PERSISTENT_VOLUME);
		return true;
	}
	proof->owner = deleted_claims;
	proof->volume = object_ref(object);
	HASH_ADD_KEYPTR(hh, deleted_claims->proofs, proof->volume->meta.uid,
			strlen(object->meta.uid), proof);
	if (!proof->hh.tbl) {
		provisioning_list_again(deleted_claims->cluster, KIND_PERSISTENT_VOLUME);
		proof_free(proof);
	} else if (send_request(proof) < 0)
		give_up(proof);
	return true;
}

/* ---- life ---- */

int deleted_claims_new(struct cluster *cluster, struct deleted_claims **ret)
{
	struct deleted_claims *deleted_claims = calloc(1, sizeof(*deleted_claims));

	if (!deleted_claims)
		return -ENOMEM;
	deleted_claims->cluster = cluster;
	*ret = deleted_claims;
	return 0;
}

struct deleted_claims *deleted_claims_free(struct deleted_claims *deleted_claims)
{
	struct proof *proof, *next;

	if (!deleted_claims)
		return NULL;
	HASH_ITER (hh, deleted_claims->proofs, proof, next)
		drop(proof);
	free(deleted_claims);
	return NULL;
}
