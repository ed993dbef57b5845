/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_store - what a store that forgot its pods must not take from them; see lost_store.h
 *
 * A pod without an object is otherwise one that was deleted: its teardown goes on where the last
 * process left it. What was told of the store lies beside the ledger, so that both vanish with what
 * they describe.
 */
#include "agent/lost_store.h"

#include "agent/parts.h"
#include "base/secret_file.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "state/ledger_holds.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

/* In place of a container: nobody can post this one. */
#define FORGOTTEN    "(forgotten by the store)"
#define VERSION_FILE "store-version"

/* ---- how far the store was ---- */

/* Return: 0 where nobody knows. */
static uint64_t told_version(int directory_fd)
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

static void tell_version(int directory_fd, uint64_t version)
{
	struct failure why = { .error = 0 };
	char text[24];

	(void) snprintf(text, sizeof(text), "%" PRIu64 "\n", version);
	if (secret_file_write(directory_fd, VERSION_FILE, text, &why) < 0)
		log_message(LOG_WARNING, "ignoring: %s", why.text);
}

/* ---- pods that it does not know ---- */

static int match_uid(const struct object *object, void *userdata)
{
	return strcmp(object->meta.uid, userdata) == 0;
}

static bool knows_pod(const struct agent *agent, const char *uid)
{
	return store_list(agent->store, KIND_POD, NULL, match_uid, (void *) uid) != 0;
}

/* One that is chosen here counts against no limit: what is mounted was allowed once. */
static int choose_id(const struct agent *agent, char id[HOLD_ID_BYTES])
{
	unsigned char bytes[(HOLD_ID_BYTES - 1) / 2];

	do {
		if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes))
			return -errno;
		for (size_t i = 0; i < sizeof(bytes); i++)
			(void) snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	} while (holds_find(agent->holds.table, id));
	return 0;
}

static int hold_pod(struct agent *agent, const struct actual_pod *pod, struct failure *reterr)
{
	const char *slash = strchr(pod->pod_key, '/');
	char name_space[POD_KEY_BYTES] = "";
	const struct hold *kept;
	struct hold hold = { .kind = HOLD_EXPLICIT,
			     .pod_uid = pod->pod_uid,
			     .pod_namespace = name_space,
			     .pod_name = slash ? slash + 1 : pod->pod_uid,
			     .container = FORGOTTEN,
			     .cgroup = "",
			     .since_usec = realtime_usec() };
	int r = choose_id(agent, hold.id);

	if (slash)
		(void) snprintf(name_space, sizeof(name_space), "%.*s",
				(int) (slash - pod->pod_key), pod->pod_key);
	if (r < 0)
		return failed(reterr, r, "cannot hold a pod");
	r = holds_add(agent->holds.table, &hold, &kept, reterr);
	/* The ledger is tried again at the next start: what is held now is what counts. */
	if (r >= 0 && ledger_put_hold(agent->ledger, kept, reterr) < 0)
		log_message(LOG_WARNING, "ignoring: %s", reterr->text);
	return r;
}

static int hold_unknown(struct agent *agent, size_t *ret_count, struct failure *reterr)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	int r = 0;

	*ret_count = 0;
	for (volume = actual_first(agent->actual); volume; volume = volume->hh.next)
		for (pod = volume->pods; pod && r >= 0; pod = pod->hh.next) {
			/* What was just taken over no store could know: whoever asked for that
			 * said that what nobody wants may go. */
			if (pod->taken_over || holds_has_pod(agent->holds.table, pod->pod_uid) ||
			    knows_pod(agent, pod->pod_uid))
				continue;
			r = hold_pod(agent, pod, reterr);
			*ret_count += r >= 0;
		}
	return r;
}

/* A store that was put back knows them again. */
static void release_known(struct agent *agent)
{
	const struct hold *hold = holds_first(agent->holds.table), *next;
	struct failure why = { .error = 0 };

	for (; hold; hold = next) {
		next = holds_next(hold);
		if (strcmp(hold->container, FORGOTTEN) != 0 || !knows_pod(agent, hold->pod_uid))
			continue;
		if (ledger_forget_hold(agent->ledger, hold->id, &why) < 0)
			log_message(LOG_WARNING, "ignoring: %s", why.text);
		holds_remove(agent->holds.table, hold->id);
	}
}

int lost_store_check(struct agent *agent, struct failure *reterr)
{
	uint64_t version, told;
	cleanup_close int directory_fd = -EBADF;
	size_t held = 0;
	int r = 0;

	assert(agent && agent->store);
	version = store_resource_version(agent->store);
	directory_fd = secret_directory_open(agent->config->run_dir, reterr);
	if (directory_fd < 0)
		log_message(LOG_WARNING, "ignoring: %s", reterr->text);
	told = directory_fd < 0 ? 0 : told_version(directory_fd);
	release_known(agent);
	/* One that was never written to knows no pod. What --takeover finds is no pod's yet, and
	 * goes its own way. */
	if (version < told || version == 0)
		r = hold_unknown(agent, &held, reterr);
	if (r < 0)
		return r;
	if (held > 0)
		log_message(LOG_ERR,
			    "the store was emptied, or an older one was put in its place: %zu pods "
			    "that it does not know are held, and their volumes stay mounted until "
			    "'podvolctl release UID HOLD'",
			    held);
	if (directory_fd >= 0)
		tell_version(directory_fd, version);
	return 0;
}

void lost_store_note(struct agent *agent)
{
	cleanup_close int directory_fd = -EBADF;

	assert(agent);
	if (!agent->store || agent->config->drain)
		return;
	directory_fd = secret_directory_open(agent->config->run_dir, NULL);
	if (directory_fd >= 0)
		tell_version(directory_fd, store_resource_version(agent->store));
}
