/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent - what a step is about to do, as the actual table and the ledger keep it
 *
 * An intent is a row that says "uncertain": there may be a mount from now on. Only set-ups have
 * one; nothing is committed here, a turn commits all of its intents at once.
 */
#include "agent/parts.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* What an intent says; owns the two paths that the plugin made. */
struct intent {
	struct ledger_row row;
	char *path, *device_mount_path;
	char pod_key[POD_KEY_BYTES];
};

static void intent_done(struct intent *intent)
{
	free(intent->path);
	free(intent->device_mount_path);
}

/* What is true of the volume whatever is done to it. */
static void describe_volume(const struct step *step, struct actual_entry *ret)
{
	const struct desired_volume *want = step->want;

	*ret = (struct actual_entry){
		.unique_name = want->unique_name,
		.plugin_name = want->plugin->name,
		.plugin = want->plugin,
		.spec_name = step->want_pod->spec.name,
		.device_mountable = want->device_mountable,
		.block = want->block,
	};
}

/* Where the device will be mounted; what an earlier stage found out is kept. */
static int describe_stage(const struct step *step, const struct volume_request *request,
			  struct intent *ret)
{
	const struct volume_plugin *plugin = step->want->plugin;

	if (plugin->get_device_mount_path) {
		ret->device_mount_path = plugin->get_device_mount_path(request);
		if (!ret->device_mount_path)
			return -ENOMEM;
	}
	ret->row.device_path = step->have ? step->have->device_path : "";
	ret->row.device_mount_path = ret->device_mount_path ?: "";
	return 0;
}

static int describe_publish(const struct step *step, const struct volume_request *request,
			    struct intent *ret)
{
	const struct desired_pod *want_pod = step->want_pod;
	const struct persistent_volume *pv = spec_pv(&want_pod->spec);
	struct actual_entry *entry = &ret->row.entry;

	ret->path = step->want->plugin->get_path(request);
	if (!ret->path)
		return -ENOMEM;
	entry->pod_uid = want_pod->pod_uid;
	entry->pod_key = pod_key(want_pod->pod->pod, ret->pod_key);
	entry->outer_name = want_pod->outer_names[0]; /* for people; the path is the same */
	entry->path = ret->path;
	entry->read_only = want_pod->spec.read_only;
	entry->single_writer = pv && pv->access_modes == ACCESS_READ_WRITE_ONCE_POD;
	entry->remount_generation = want_pod->remount_generation;
	return 0;
}

/* Uncertain from here on: a kill during the step must find that there may be a mount. */
static int describe_intent(const struct agent *agent, const struct step *step, struct intent *ret)
{
	const struct desired_pod *want_pod = step->want_pod;
	struct volume_request request = {
		.host = &agent->host,
		.spec = &want_pod->spec,
		.volume_name = want_pod->spec.name,
		.pod = want_pod->pod,
		.pod_uid = want_pod->pod_uid,
	};

	ret->row.state = MOUNT_UNCERTAIN;
	describe_volume(step, &ret->row.entry);
	return step->kind == STEP_STAGE ? describe_stage(step, &request, ret)
					: describe_publish(step, &request, ret);
}

int agent_note_intent(struct agent *agent, const struct step *step)
{
	cleanup(intent_done) struct intent intent = { .path = NULL };
	int r;

	assert(agent && step);
	if (step->kind != STEP_STAGE && step->kind != STEP_PUBLISH)
		return 0; /* a teardown's row is there since its set-up */
	r = describe_intent(agent, step, &intent);
	if (r >= 0)
		r = actual_begin(agent->actual, &intent.row.entry);
	if (r < 0 || step->remount) /* it has its row, and what is mounted stays so */
		return r;
	return ledger_put(agent->ledger, &intent.row);
}
