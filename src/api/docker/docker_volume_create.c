/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docker_volume_create - a name of docker's for a volume, and its end
 *
 * With pv= and claim= it makes no volume and removes none. A PersistentVolume is reserved by its
 * claimRef, first, then its claim is made, then the record that makes it docker's: a kill in
 * between leaves what the same call takes up again. The claim of pv= or class= goes first: the
 * PersistentVolume becomes Released, as in Kubernetes, and what becomes of its data is the reclaim
 * policy's to say.
 *
 * The engine may not wait for the answer, so nothing here depends on it.
 */
#include "api/docker/docker_volume.h"

#include "base/clock.h"
#include "object/kinds/persistent_volume.h"
#include "object/quantity.h"

#include <stdio.h>
#include <string.h>

enum { TRIES_MAX = 5 };

/* Writes of one call; answered when the last of them is. */
struct writes {
	struct exchange *exchange; /* NULL: the client left */
	struct store *store;
	/* Queues them again when another wrote in between, as the binder may; NULL: does not.
	 */
	int (*again)(struct writes *writes, struct failure *reterr);
	struct docker_volume volume;
	unsigned int tries;
	unsigned int pending;
	int error; /* the first */
	struct failure why;
};

static void writes_abandon(void *work)
{
	struct writes *writes = work;

	writes->exchange = NULL;
}

static void note_error(struct writes *writes, int error, const struct failure *why)
{
	if (error == 0 || writes->error < 0)
		return;
	writes->error = error;
	if (why)
		writes->why = *why;
}

static void answer_writes(struct writes *writes)
{
	struct exchange *exchange = writes->exchange;
	const char *text = writes->why.text[0] ? writes->why.text : strerror(-writes->error);

	if (exchange && writes->error == -ESTALE)
		docker_refuse(exchange, "the volume was changed by another client: try again");
	else if (exchange && writes->error < 0)
		docker_refuse(exchange, "%s", text);
	else if (exchange)
		docker_reply(exchange, NULL, NULL);
	free(writes);
}

/* Nothing is queued any more: again, or the answer. */
static void end_writes(struct writes *writes)
{
	struct failure why = { .error = 0 };

	if (writes->error == -ESTALE && writes->again && writes->tries++ < TRIES_MAX) {
		writes->error = 0;
		note_error(writes, writes->again(writes, &why), &why);
	}
	if (writes->pending == 0)
		answer_writes(writes);
}

static void on_written(void *userdata, int error, const struct object *result,
		       const struct failure *why)
{
	struct writes *writes = userdata;

	note_error(writes, error, why);
	if (--writes->pending == 0)
		end_writes(writes);
}

/* @r: of a store_...() call with on_written. */
static void count_write(struct writes *writes, int r)
{
	if (r < 0)
		note_error(writes, r, NULL);
	else
		writes->pending++;
}

static struct writes *writes_new(struct exchange *exchange)
{
	struct writes *writes = exchange_new_work(exchange, sizeof(*writes));

	if (!writes)
		return NULL;
	writes->exchange = exchange;
	writes->store = agent_store(exchange->agent);
	return writes;
}

static void writes_queued(struct writes *writes)
{
	if (writes->pending == 0) {
		answer_writes(writes);
		return;
	}
	exchange_wait(writes->exchange, writes, writes_abandon);
}

/* ---- the request ---- */

static int copy_option(const char *key, const char *value, const char *what, char *to, size_t bytes,
		       struct failure *reterr)
{
	if (*value == '\0' || strlen(value) >= bytes)
		return failed_plain(reterr, -EINVAL, "%s: '%.80s' is not %s", key, value, what);
	(void) snprintf(to, bytes, "%s", value);
	return 0;
}

static int read_claim(const char *value, struct docker_volume *volume, struct failure *reterr)
{
	static const char what[] = "NAMESPACE/NAME of a claim";
	const char *slash = strchr(value, '/');
	char name_space[sizeof(volume->name_space) + 1] = "";

	if (slash && (size_t) (slash - value) < sizeof(name_space))
		memcpy(name_space, value, (size_t) (slash - value));
	if (copy_option("claim", name_space, what, volume->name_space, sizeof(volume->name_space),
			NULL) < 0)
		return failed_plain(reterr, -EINVAL, "claim: '%.80s' is not %s", value, what);
	return copy_option("claim", slash[1] ? slash + 1 : "", what, volume->claim,
			   sizeof(volume->claim), reterr);
}

static int read_size(const char *value, struct docker_volume *volume, struct failure *reterr)
{
	struct quantity size;

	if (quantity_parse(value, &size, NULL) < 0)
		return failed_plain(reterr, -EINVAL, "size: '%.80s' is not a quantity: write 10Gi",
				    value);
	return copy_option("size", value, "a quantity", volume->size, sizeof(volume->size), reterr);
}

static int read_option(const char *key, const char *value, struct docker_volume *volume,
		       struct failure *reterr)
{
	if (strcmp(key, "pv") == 0)
		return copy_option(key, value, "the name of a PersistentVolume", volume->pv,
				   sizeof(volume->pv), reterr);
	if (strcmp(key, "claim") == 0)
		return read_claim(value, volume, reterr);
	if (strcmp(key, "class") == 0)
		return copy_option(key, value, "the name of a StorageClass", volume->storage_class,
				   sizeof(volume->storage_class), reterr);
	if (strcmp(key, "size") == 0)
		return read_size(value, volume, reterr);
	return failed_plain(
		reterr, -EINVAL,
		"'%.80s' is not an option: there are pv=, claim=, class= and size=", key);
}

static int read_options(const struct cJSON *options, struct docker_volume *volume,
			struct failure *reterr)
{
	int r = 0;

	for (const struct cJSON *item = json_first(options); item && r == 0; item = json_next(item))
		r = read_option(json_key(item), json_string(item, ""), volume, reterr);
	if (r < 0)
		return r;
	if (!!*volume->pv + !!*volume->claim + !!*volume->storage_class != 1)
		return failed_plain(reterr, -EINVAL,
				    "name one volume: -o pv=NAME, -o claim=NAMESPACE/NAME, or -o "
				    "class=NAME with -o size=SIZE");
	if (!*volume->storage_class != !*volume->size)
		return failed_plain(reterr, -EINVAL, "class= and size= must be given together");
	return 0;
}

/* With options that were read, or as it is stored: a claim made for it has another name then. */
static bool is_the_same(const struct docker_volume *a, const struct docker_volume *b)
{
	bool owns = docker_volume_owns_claim(a) || docker_volume_owns_claim(b);

	if (strcmp(a->pv, b->pv) != 0 || strcmp(a->storage_class, b->storage_class) != 0 ||
	    strcmp(a->size, b->size) != 0)
		return false;
	return owns ||
	       (strcmp(a->name_space, b->name_space) == 0 && strcmp(a->claim, b->claim) == 0);
}

/* ---- may it be had? ---- */

struct survey {
	const struct docker_volume *wanted;
	size_t count;
	char taken_by[API_DOCKER_NAME_BYTES_MAX + 1]; /* another volume of the same pv; "" none */
};

static int match_record(const struct object *object, void *userdata)
{
	struct survey *survey = userdata;
	struct docker_volume other;

	if (!docker_volume_read(object, &other))
		return 0;
	survey->count++;
	if (*survey->wanted->pv && strcmp(other.pv, survey->wanted->pv) == 0)
		(void) snprintf(survey->taken_by, sizeof(survey->taken_by), "%s", other.name);
	return 0;
}

static int check_others(struct store *store, const struct docker_volume *volume,
			struct failure *reterr)
{
	struct survey survey = { .wanted = volume };

	(void) store_list(store, KIND_CONFIG_MAP, DOCKER_NAMESPACE, match_record, &survey);
	if (*survey.taken_by)
		return failed_plain(reterr, -EBUSY, "pv '%s' is the volume '%.80s' already",
				    volume->pv, survey.taken_by);
	if (survey.count >= API_DOCKER_VOLUMES_MAX)
		return failed_plain(reterr, -EDQUOT, "there are %d volumes already",
				    API_DOCKER_VOLUMES_MAX);
	return 0;
}

static int check_mode(enum volume_mode mode, struct failure *reterr)
{
	if (mode != VOLUME_MODE_BLOCK)
		return 0;
	return failed_plain(reterr, -EINVAL,
			    "is a block device (volumeMode Block), and docker mounts directories");
}

static int check_claim(struct store *store, const struct docker_volume *volume,
		       struct failure *reterr)
{
	const struct object *claim =
		store_get(store, KIND_PERSISTENT_VOLUME_CLAIM, volume->name_space, volume->claim);
	int r = claim ? check_mode(claim->claim->mode, reterr)
		      : failed_plain(reterr, -ENOENT, "there is no such claim");

	if (r < 0)
		(void) failure_prefix(reterr, "claim '%s/%s'", volume->name_space, volume->claim);
	return r;
}

static int check_pv(const struct object *pv, struct failure *reterr)
{
	const struct persistent_volume *volume;

	if (!pv)
		return failed_plain(reterr, -ENOENT, "there is no such PersistentVolume");
	volume = pv->persistent_volume;
	if (pv->meta.deletes)
		return failed_plain(reterr, -EBUSY, "is being deleted");
	if (volume->has_claim_ref && strcmp(volume->claim_namespace, DOCKER_NAMESPACE) != 0)
		return failed_plain(reterr, -EBUSY,
				    "belongs to the claim '%s/%s': say -o claim=%s/%s",
				    volume->claim_namespace, volume->claim_name,
				    volume->claim_namespace, volume->claim_name);
	return check_mode(volume->mode, reterr);
}

/* ---- writing ---- */

static int reserve(struct cJSON *tree, void *userdata)
{
	const struct docker_volume *volume = userdata;
	struct cJSON *spec = json_ensure_object(tree, "spec"), *ref;

	json_remove(spec, "claimRef");
	ref = json_add_object(spec, "claimRef");
	(void) json_set_string(ref, "namespace", volume->name_space);
	(void) json_set_string(ref, "name", volume->claim);
	return 0;
}

/* Bound beforehand from both sides: no other claim comes in between. */
static int queue_pv_writes(struct writes *writes, struct failure *reterr)
{
	struct docker_volume *volume = &writes->volume;
	const struct object *pv = store_get(writes->store, KIND_PERSISTENT_VOLUME, "", volume->pv);
	const struct store_precondition expected = { .uid = pv->meta.uid,
						     .resource_version =
							     pv->meta.resource_version };
	const struct store_precondition follows = { .follows = true };
	cleanup_object const struct object *reserved = NULL;
	cleanup_object const struct object *claim = NULL;
	int r = object_edit(pv, reserve, volume, &reserved, reterr);

	if (r == 0)
		r = docker_claim_new(volume, pv, &claim, reterr);
	if (r < 0)
		return r;
	count_write(writes, store_update(writes->store, reserved, &expected, on_written, writes));
	if (writes->error == 0)
		count_write(writes, store_create_expecting(writes->store, claim, &follows,
							   on_written, writes));
	return 0;
}

/* The provisioner of its class makes the volume. */
static int queue_claim(struct writes *writes, struct failure *reterr)
{
	cleanup_object const struct object *claim = NULL;
	int r = docker_claim_new(&writes->volume, NULL, &claim, reterr);

	if (r == 0)
		count_write(writes, store_create(writes->store, claim, on_written, writes));
	return r;
}

/* The claim has a name of its own each time: one that still goes away is in no one's way. */
static void name_claim(struct docker_volume *volume)
{
	(void) snprintf(volume->name_space, sizeof(volume->name_space), DOCKER_NAMESPACE);
	(void) snprintf(volume->claim, sizeof(volume->claim), "%s-%08jx", volume->object_name,
			(uintmax_t) (realtime_usec() / USEC_PER_MSEC) & 0xffffffff);
}

static int check(struct store *store, const struct docker_volume *volume, struct failure *reterr)
{
	int r = check_others(store, volume, reterr);

	if (r == 0 && *volume->storage_class &&
	    !store_get(store, KIND_STORAGE_CLASS, "", volume->storage_class))
		return failed_plain(reterr, -ENOENT, "class '%s': there is no such StorageClass",
				    volume->storage_class);
	if (r < 0 || *volume->storage_class)
		return r;
	if (!*volume->pv)
		return check_claim(store, volume, reterr);
	r = check_pv(store_get(store, KIND_PERSISTENT_VOLUME, "", volume->pv), reterr);
	if (r < 0)
		(void) failure_prefix(reterr, "pv '%s'", volume->pv);
	return r;
}

static int queue_create(struct writes *writes, struct failure *reterr)
{
	struct docker_volume *volume = &writes->volume;
	const struct store_precondition follows = { .follows = docker_volume_owns_claim(volume) };
	cleanup_object const struct object *record = NULL;
	int r = check(writes->store, volume, reterr);

	if (r == 0 && docker_volume_owns_claim(volume)) {
		name_claim(volume);
		r = *volume->pv ? queue_pv_writes(writes, reterr) : queue_claim(writes, reterr);
	}
	if (r == 0)
		r = docker_record_new(volume, &record, reterr);
	if (r == 0 && writes->error == 0)
		count_write(writes, store_create_expecting(writes->store, record, &follows,
							   on_written, writes));
	return r;
}

static void create(struct exchange *exchange, const struct docker_volume *volume)
{
	struct writes *writes = writes_new(exchange);
	struct failure why = { .error = 0 };

	if (!writes)
		return;
	writes->volume = *volume;
	writes->again = queue_create;
	note_error(writes, queue_create(writes, &why), &why);
	writes_queued(writes);
}

void docker_volume_create(struct exchange *exchange)
{
	cleanup_json struct cJSON *body = docker_body(exchange);
	const char *name = body ? docker_word(exchange, body, "Name") : NULL;
	struct store *store = agent_store(exchange->agent);
	struct docker_volume volume = { .creation_usec = 0 }, present;
	struct failure why = { .error = 0 };

	if (!name)
		return;
	(void) snprintf(volume.name, sizeof(volume.name), "%s", name);
	docker_object_name(name, volume.object_name);
	if (read_options(json_get(body, "Opts"), &volume, &why) < 0)
		docker_refuse(exchange, "%s", why.text);
	else if (!docker_volume_find(store, name, &present))
		create(exchange, &volume);
	else if (is_the_same(&volume, &present))
		docker_reply(exchange, NULL, NULL);
	else
		docker_refuse(exchange, "the volume '%s' already exists with other options", name);
}

/* ---- remove ---- */

/* Also by a pod that is gone from the store and is still being unmounted. */
static bool find_user(struct agent *agent, const struct docker_volume *volume, char *pod,
		      size_t bytes)
{
	cleanup_json struct cJSON *tree = agent_view_volumes(agent, NULL);
	size_t length = strlen(volume->object_name);

	JSON_FOREACH (item, json_get(tree, "items")) {
		const char *key = json_text(item, "pod");
		const char *slash = strchr(key, '/');

		if (!slash || strncmp(slash + 1, volume->object_name, length) != 0 ||
		    slash[1 + length] != '-')
			continue;
		(void) snprintf(pod, bytes, "%s", key);
		return true;
	}
	return false;
}

/* The claim was deleted already, by hand or by a call that broke off. */
static void on_claim_deleted(void *userdata, int error, const struct object *result,
			     const struct failure *why)
{
	on_written(userdata, error == -ENOENT ? 0 : error, result, why);
}

void docker_volume_remove(struct exchange *exchange)
{
	cleanup_json struct cJSON *body = docker_body(exchange);
	struct docker_volume volume;
	struct writes *writes;
	char pod[320];

	if (!body || !docker_named(exchange, body, &volume))
		return;
	if (find_user(exchange->agent, &volume, pod, sizeof(pod))) {
		docker_refuse(exchange, "the volume '%s' is mounted, for pod '%s'", volume.name,
			      pod);
		return;
	}
	writes = writes_new(exchange);
	if (!writes)
		return;
	if (docker_volume_owns_claim(&volume))
		count_write(writes,
			    store_delete(writes->store,
					 &(struct store_key){ KIND_PERSISTENT_VOLUME_CLAIM,
							      volume.name_space, volume.claim },
					 NULL, on_claim_deleted, writes));
	if (writes->error == 0)
		count_write(writes,
			    store_delete(writes->store,
					 &(struct store_key){ KIND_CONFIG_MAP, DOCKER_NAMESPACE,
							      volume.object_name },
					 NULL, on_written, writes));
	writes_queued(writes);
}
