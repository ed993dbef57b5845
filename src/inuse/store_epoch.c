/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_epoch - what a store that forgot its pods must not take from them; see inuse.h
 *
 * A pod without an object is otherwise one that was deleted: its teardown goes on where the last
 * process left it. What the store said of itself lies beside the ledger, so that both vanish with
 * what they describe.
 */
#include "inuse/inuse.h"
#include "config.h"
#include "store/store.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "state/ledger.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

/* In place of a container: no client can post these. */
#define FORGOTTEN    "(forgotten by the store)"
#define UNREADABLE   "(its object cannot be read)"
#define UNLISTED     "(taken over, not listed)"
#define ELSEWHERE    "(of a node with another name)"
#define VERSION_FILE "store-version"

/* ---- how far the store was ---- */

/* Return: 0 where it is unknown. */
static uint64_t noted_version(int directory_fd)
{
	struct failure why = { .error = 0 };
	uint64_t version = 0;
	char *text = NULL;

	if (secret_file_read(directory_fd, VERSION_FILE, &text, &why) < 0) {
		if (why.error != -ENOENT)
			log_message(LOG_WARNING, "ignoring: %s", why.text);
		return 0;
	}
	(void) sscanf(text, "%" SCNu64, &version);
	(void) secret_text_free(text);
	return version;
}

static void report_version(int directory_fd, uint64_t version)
{
	struct failure why = { .error = 0 };
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRIu64 "\n", version);
	if (secret_file_write(directory_fd, VERSION_FILE, text, &why) < 0)
		log_message(LOG_WARNING, "ignoring: %s", why.text);
}

/* ---- pods that it does not know ---- */

struct pod_search {
	const char *uid;
	const struct object *found;
};

static int take_match(const struct object *object, void *userdata)
{
	struct pod_search *search = userdata;

	if (strcmp(object->meta.uid, search->uid) != 0)
		return 0;
	search->found = object;
	return 1;
}

/* @key: "namespace/name", where it is known: then nothing is searched. NULL: the store has none. */
static const struct object *find_pod(const struct inuse *inuse, const char *key, const char *uid)
{
	const char *slash = strchr(key, '/');
	struct pod_search search = { .uid = uid };
	char name_space[POD_KEY_BYTES];

	if (!slash || (size_t) (slash - key) >= sizeof(name_space)) {
		(void) store_list(*inuse->with.store, KIND_POD, NULL, take_match, &search);
		return search.found;
	}
	(void) snprintf(name_space, sizeof(name_space), "%.*s", (int) (slash - key), key);
	search.found = store_get(*inuse->with.store, KIND_POD, name_space, slash + 1);
	return search.found && strcmp(search.found->meta.uid, uid) == 0 ? search.found : NULL;
}

/* A pod never changes its node, so the node has changed its name. */
static bool is_elsewhere(const struct inuse *inuse, const struct object *pod)
{
	return *pod->pod->node_name &&
	       strcmp(pod->pod->node_name, inuse->with.config->node_name) != 0;
}

struct lost_pods {
	bool store_is_lost;
	size_t forgotten, unreadable, elsewhere;
	const char *node_name; /* of one that is elsewhere */
};

/* One that is chosen here counts against no limit: what is mounted was allowed once. */
static int choose_id(const struct inuse *inuse, char id[HOLD_ID_BYTES])
{
	unsigned char bytes[(HOLD_ID_BYTES - 1) / 2];

	do {
		if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes))
			return -errno;
		print_hex(bytes, sizeof(bytes), id);
	} while (holds_find(inuse->table, id));
	return 0;
}

static int hold_pod(struct inuse *inuse, const struct actual_pod *pod, const char *why,
		    struct failure *reterr)
{
	const char *slash = strchr(pod->pod_key, '/');
	char name_space[POD_KEY_BYTES] = "";
	const struct hold *kept;
	struct hold hold = { .kind = HOLD_EXPLICIT,
			     .pod_uid = pod->pod_uid,
			     .pod_namespace = name_space,
			     .pod_name = slash ? slash + 1 : pod->pod_uid,
			     .container = why,
			     .cgroup = "",
			     .since_usec = realtime_usec() };
	int r = choose_id(inuse, hold.id);

	if (slash)
		(void) snprintf(name_space, sizeof(name_space), "%.*s",
				(int) (slash - pod->pod_key), pod->pod_key);
	if (r < 0)
		return failed(reterr, r, "cannot hold a pod");
	r = holds_add(inuse->table, &hold, &kept, reterr);
	if (r < 0 || ledger_put_hold(*inuse->with.ledger, kept, reterr) >= 0)
		return r;
	/* Without its hold the next start would take down what this one takes over. */
	if (pod->taken_over)
		return reterr->error;
	/* The ledger is tried again at the next start: what is held now is what counts. */
	log_message(LOG_WARNING, "ignoring: %s", reterr->text);
	return 0;
}

/* Then that the store has no object does not mean that it was deleted. */
static bool is_unreadable(const struct inuse *inuse, const struct actual_pod *pod)
{
	const char *slash = strchr(pod->pod_key, '/');
	char name_space[POD_KEY_BYTES] = "";

	if (!slash)
		return false;
	(void) snprintf(name_space, sizeof(name_space), "%.*s", (int) (slash - pod->pod_key),
			pod->pod_key);
	return store_is_unreadable(*inuse->with.store,
				   &(struct store_key){ KIND_POD, name_space, slash + 1 });
}

/* Why the store does not say that this pod is over; NULL: its object speaks for it. */
static const char *why_held(const struct inuse *inuse, const struct actual_pod *pod,
			    struct lost_pods *lost)
{
	const struct object *object;

	if (holds_has_pod(inuse->table, pod->pod_uid))
		return NULL;
	object = find_pod(inuse, pod->pod_key, pod->pod_uid);
	/* Another agent's containers may use it, and no hold of theirs says so. */
	if (!object && pod->taken_over)
		return UNLISTED;
	if (!object && is_unreadable(inuse, pod))
		return UNREADABLE;
	if (!object)
		return lost->store_is_lost ? FORGOTTEN : NULL;
	if (!is_elsewhere(inuse, object))
		return NULL;
	lost->node_name = object->pod->node_name;
	return ELSEWHERE;
}

static int hold_lost(struct inuse *inuse, struct lost_pods *lost, struct failure *reterr)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	int r = 0;

	for (volume = actual_first(inuse->with.actual); volume; volume = volume->hh.next)
		for (pod = volume->pods; pod && r >= 0; pod = pod->hh.next) {
			const char *why = why_held(inuse, pod, lost);

			if (!why)
				continue;
			r = hold_pod(inuse, pod, why, reterr);
			if (strcmp(why, FORGOTTEN) == 0)
				lost->forgotten += r >= 0;
			else if (strcmp(why, ELSEWHERE) == 0)
				lost->elsewhere += r >= 0;
			else if (strcmp(why, UNREADABLE) == 0)
				lost->unreadable += r >= 0;
		}
	return r;
}

static bool is_for_lost_pod(const struct hold *hold)
{
	return strcmp(hold->container, FORGOTTEN) == 0 || strcmp(hold->container, ELSEWHERE) == 0 ||
	       strcmp(hold->container, UNREADABLE) == 0 || store_epoch_is_unlisted(hold);
}

bool store_epoch_is_unlisted(const struct hold *hold)
{
	return strcmp(hold->container, UNLISTED) == 0;
}

bool store_epoch_recognizes(const struct inuse *inuse, const struct hold *hold,
			    const struct object *pod)
{
	return is_for_lost_pod(hold) && !is_elsewhere(inuse, pod);
}

/* A takeover that a kill ended before its rows were in the ledger holds nothing. */
static bool is_over(const struct inuse *inuse, const struct hold *hold, const struct object *pod)
{
	if (pod)
		return !is_elsewhere(inuse, pod);
	return store_epoch_is_unlisted(hold) &&
	       !actual_volume_of_pod(inuse->with.actual, hold->pod_uid, 0);
}

/* A store that was put back knows them again, and so does a node that has its name again. */
static void release_known(struct inuse *inuse)
{
	const struct hold *hold = holds_first(inuse->table), *next;
	struct failure why = { .error = 0 };

	for (; hold; hold = next) {
		const struct object *pod;

		next = holds_next(hold);
		if (!is_for_lost_pod(hold))
			continue;
		pod = find_pod(inuse, "", hold->pod_uid);
		if (!is_over(inuse, hold, pod))
			continue;
		if (ledger_forget_hold(*inuse->with.ledger, hold->id, &why) < 0)
			log_message(LOG_WARNING, "ignoring: %s", why.text);
		holds_remove(inuse->table, hold->id);
	}
}

static void report_lost(const struct inuse *inuse, const struct lost_pods *lost)
{
	if (lost->forgotten > 0)
		log_message(LOG_ERR,
			    "the store was emptied, or an older one was put in its place: %zu pods "
			    "that it does not know are held, and their volumes stay mounted until "
			    "'podvolctl release UID HOLD'",
			    lost->forgotten);
	if (lost->unreadable > 0)
		log_message(LOG_ERR,
			    "%zu pods whose stored objects cannot be read are held, and their "
			    "volumes stay mounted until the objects can be read, or 'podvolctl "
			    "release UID HOLD'",
			    lost->unreadable);
	if (lost->elsewhere > 0)
		log_message(LOG_ERR,
			    "this node is called '%s', and %zu pods whose volumes are mounted here "
			    "belong to node '%s': they are held, and their volumes stay mounted, "
			    "until podvold is started with --node-name=%s, or 'podvolctl release "
			    "UID HOLD'",
			    inuse->with.config->node_name, lost->elsewhere, lost->node_name,
			    lost->node_name);
}

int store_epoch_check(struct inuse *inuse, struct failure *reterr)
{
	struct lost_pods lost = { .node_name = "" };
	uint64_t version, noted;
	cleanup_close int directory_fd = -EBADF;
	int r;

	assert(inuse && *inuse->with.store);
	version = store_resource_version(*inuse->with.store);
	directory_fd = secret_directory_open(inuse->with.config->run_dir, reterr);
	if (directory_fd < 0)
		log_message(LOG_WARNING, "ignoring: %s", reterr->text);
	noted = directory_fd < 0 ? 0 : noted_version(directory_fd);
	release_known(inuse);
	/* One that was never written to knows no pod. */
	lost.store_is_lost = version < noted || version == 0;
	r = hold_lost(inuse, &lost, reterr);
	if (r < 0)
		return r;
	report_lost(inuse, &lost);
	if (directory_fd >= 0)
		report_version(directory_fd, version);
	return 0;
}

void store_epoch_note(struct inuse *inuse)
{
	cleanup_close int directory_fd = -EBADF;

	assert(inuse);
	/* A start that failed may end before this box has its options. */
	if (!inuse->with.store || !*inuse->with.store)
		return;
	directory_fd = secret_directory_open(inuse->with.config->run_dir, NULL);
	if (directory_fd >= 0)
		report_version(directory_fd, store_resource_version(*inuse->with.store));
}
