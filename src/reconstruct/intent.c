/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent - what a step is about to do, as the actual table and the ledger keep it
 *
 * The intent of a set-up is an "uncertain" row: there may be a mount from now on. That of a
 * teardown is the entry's own row, marked as begun. A turn commits all of its intents at once; only
 * what is long and left half done by a kill is committed by itself.
 */
#include "reconstruct/reconstruct.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "object/object_text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* An intent; owns the two paths that the plugin made. */
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

/* ---- what a step is to serve ---- */

static uint64_t add_spec(uint64_t sum, const struct object *object)
{
	struct json_bytes spec = object_spec_text(object);

	sum = fnv1a_add_text(sum, object->meta.uid);
	return fnv1a_add_words(sum, spec.start, spec.length);
}

/* Of all that a set-up is made from, but what takes_set_up() looks at; and of the option that says
 * what may be a source. */
static uint64_t want_mark(const struct intents *intents, const struct step *step)
{
	const struct desired_pod *want_pod = step->want_pod;
	uint64_t sum = fnv1a_add(FNV1A_FIRST, want_pod->spec.read_only);

	sum = fnv1a_add_text(sum, intents->host->own.allowed ?: "");
	if (want_pod->spec.pv)
		sum = add_spec(sum, want_pod->spec.pv);
	if (!want_pod->spec.pv || step->kind == STEP_PUBLISH)
		sum = fnv1a_add_text(add_spec(sum, want_pod->pod), want_pod->outer_names[0]);
	return sum | 1;
}

/* What is true of the volume whatever is done to it. */
static void describe_volume(const struct intents *intents, const struct step *step,
			    struct actual_entry *ret)
{
	const struct desired_volume *want = step->want;

	*ret = (struct actual_entry){
		.unique_name = want->unique_name,
		.plugin_name = want->plugin->name,
		.plugin = want->plugin,
		.spec_name = step->want_pod->spec.name,
		.device_mountable = want->device_mountable,
		.block = want->block,
		.served = want->plugin->traits & VOLUME_IS_ITS_MOUNT ? want_mark(intents, step) : 0,
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

/* Set up before: by us, or by the daemon before, which may have died before anything was mounted.
 */
static bool was_mounted(const struct step *step)
{
	const struct actual_pod *pod = NULL;

	if (step->kind == STEP_PUBLISH && step->have)
		pod = actual_find_pod(step->have, step->want_pod->pod_uid);
	return pod && pod->was_mounted;
}

/* Uncertain from here on: after a kill during the step there may be a mount. A mounted volume stays
 * so in the ledger: whether its data can have been lost is checked after that kill. */
static int describe_intent(const struct intents *intents, const struct step *step,
			   struct intent *ret)
{
	const struct desired_pod *want_pod = step->want_pod;
	struct volume_request request = {
		.host = intents->host,
		.plugin = step->want->plugin,
		.spec = &want_pod->spec,
		.volume_name = want_pod->spec.name,
		.pod = want_pod->pod,
		.pod_uid = want_pod->pod_uid,
	};

	ret->row.state = was_mounted(step) ? MOUNT_DONE : MOUNT_UNCERTAIN;
	ret->row.unfinished = UNFINISHED_SET_UP;
	describe_volume(intents, step, &ret->row.entry);
	return step->kind == STEP_STAGE ? describe_stage(step, &request, ret)
					: describe_publish(step, &request, ret);
}

/* A group is given, and a volume grown, by a set-up alone. */
static bool takes_set_up(const struct desired_pod *want_pod)
{
	const struct persistent_volume *pv = spec_pv(&want_pod->spec);
	const struct object *claim = want_pod->claim;

	if (want_pod->spec.block || (want_pod->pod->pod->has_fs_group && !want_pod->spec.read_only))
		return true;
	return pv && claim && quantity_compare(&pv->capacity, &claim->claim->status_capacity) > 0;
}

bool intent_is_served(const struct intents *intents, const struct step *step)
{
	const struct actual_volume *have = step->have;
	const struct actual_pod *pod;
	uint64_t served = 0;

	if (!have || (step->kind != STEP_STAGE && step->kind != STEP_PUBLISH))
		return false;
	pod = step->kind == STEP_PUBLISH ? actual_find_pod(have, step->want_pod->pod_uid) : NULL;
	if (pod && pod->from_rebuild)
		served = pod->served;
	else if (step->kind == STEP_STAGE && have->device_from_rebuild)
		served = have->device_served;
	return served != 0 && (have->plugin->traits & VOLUME_IS_ITS_MOUNT) &&
	       !takes_set_up(step->want_pod) && served == want_mark(intents, step);
}

/* ---- entries that are there ---- */

/* What the ledger keeps of an entry, @pod NULL for the device; borrows from it. */
static void entry_row(const struct actual_volume *volume, const struct actual_pod *pod,
		      struct ledger_row *ret)
{
	*ret = (struct ledger_row){
		.entry = {
			.unique_name = volume->unique_name,
			.plugin_name = volume->plugin_name,
			.spec_name = volume->spec_name,
			.device_mountable = volume->device_mountable,
			.block = volume->block,
			.mount_mark = pod ? pod->mount_mark : volume->device_mount_mark,
			.served = pod ? pod->served : volume->device_served,
		},
		.state = pod ? pod->state : volume->device_state,
		.device_path = volume->device_path,
		.device_mount_path = volume->device_mount_path,
	};
	if (!pod)
		return;
	ret->entry.pod_uid = pod->pod_uid;
	ret->entry.pod_key = pod->pod_key;
	ret->entry.outer_name = pod->outer_name;
	ret->entry.path = pod->path;
	ret->entry.read_only = pod->read_only;
	ret->entry.single_writer = pod->single_writer;
}

/* False: no such entry, and @ret is not written. What is begun may be there. */
static bool find_row(const struct intents *intents, const char *unique_name, const char *pod_uid,
		     struct ledger_row *ret)
{
	const struct actual_volume *volume = actual_find(intents->actual, unique_name);
	const struct actual_pod *pod = NULL;

	if (volume && pod_uid && *pod_uid)
		pod = actual_find_pod(volume, pod_uid);
	if (!volume || (pod_uid && *pod_uid && !pod))
		return false;
	entry_row(volume, pod, ret);
	if (ret->state == MOUNT_ABSENT)
		ret->state = MOUNT_UNCERTAIN;
	return true;
}

static int note_teardown(const struct intents *intents, const struct step *step)
{
	struct ledger_row row;

	if (!find_row(intents, step->unique_name, step->pod_uid, &row))
		return 0;
	row.unfinished = UNFINISHED_TEARDOWN;
	return ledger_put(*intents->ledger, &row);
}

int intent_note_unfinished(const struct intents *intents, const char *unique_name,
			   const char *pod_uid, enum unfinished unfinished, struct failure *reterr)
{
	struct ledger_row row;

	assert(intents && unique_name);
	if (!find_row(intents, unique_name, pod_uid, &row))
		return failed_plain(reterr, -ENOENT, "volume '%s' is not known any more",
				    unique_name);
	row.unfinished = unfinished;
	if (ledger_put(*intents->ledger, &row) < 0)
		return failed(reterr, -ENOMEM, "cannot note in the ledger what begins");
	return ledger_commit(*intents->ledger, reterr);
}

int intent_note(const struct intents *intents, const struct step *step)
{
	cleanup(intent_done) struct intent intent = { .path = NULL };
	int r;

	assert(intents && step);
	if (step->kind != STEP_STAGE && step->kind != STEP_PUBLISH)
		return note_teardown(intents, step);
	r = describe_intent(intents, step, &intent);
	if (r >= 0)
		r = actual_begin(intents->actual, &intent.row.entry);
	if (r < 0 || step->remount) /* it has its row, and what is mounted stays so */
		return r;
	return ledger_put(*intents->ledger, &intent.row);
}

/* ---- the ledger and the table ---- */

/* A step that failed and may have done something is to be taken up after a kill. */
static enum unfinished unfinished_after(const struct step_result *result, enum mount_state state)
{
	if (result->error == 0)
		return UNFINISHED_NOTHING;
	if (step_takes_down(result->kind))
		return result->touched ? UNFINISHED_TEARDOWN : UNFINISHED_NOTHING;
	return state == MOUNT_UNCERTAIN ? UNFINISHED_SET_UP : UNFINISHED_NOTHING;
}

int intent_note_result(const struct intents *intents, const struct step_result *result)
{
	const struct actual_volume *volume = actual_find(intents->actual, result->unique_name);
	const struct actual_pod *pod =
		volume && result->pod_uid ? actual_find_pod(volume, result->pod_uid) : NULL;
	struct ledger_row row = { .state = MOUNT_ABSENT };

	assert(intents && result);
	if (volume && (pod || !result->pod_uid))
		entry_row(volume, pod, &row);
	if (row.state == MOUNT_ABSENT)
		return ledger_forget(*intents->ledger, result->unique_name, result->pod_uid);
	row.unfinished = unfinished_after(result, row.state);
	return ledger_put(*intents->ledger, &row);
}

/* A row without an entry: its volume was removed. */
static int visit_row(const struct ledger_row *row, void *userdata)
{
	const struct intents *intents = userdata;
	const struct actual_volume *volume = actual_find(intents->actual, row->entry.unique_name);
	const struct actual_pod *pod =
		volume && row->entry.pod_uid ? actual_find_pod(volume, row->entry.pod_uid) : NULL;
	enum mount_state state = MOUNT_ABSENT;

	if (pod)
		state = pod->state;
	else if (volume && !row->entry.pod_uid)
		state = volume->device_state;
	if (state != MOUNT_ABSENT)
		return 0;
	return ledger_forget(*intents->ledger, row->entry.unique_name, row->entry.pod_uid);
}

static int put_entry(const struct intents *intents, const struct actual_volume *volume,
		     const struct actual_pod *pod)
{
	struct ledger_row row;

	entry_row(volume, pod, &row);
	return row.state == MOUNT_DONE ? ledger_put(*intents->ledger, &row) : 0;
}

/* The row of a running step is kept: only finished ones are written again. */
static int put_entries(const struct intents *intents)
{
	const struct actual_volume *volume;
	const struct actual_pod *pod;
	int r = 0;

	for (volume = actual_first(intents->actual); volume && r >= 0; volume = volume->hh.next) {
		r = put_entry(intents, volume, NULL);
		for (pod = volume->pods; pod && r >= 0; pod = pod->hh.next)
			r = put_entry(intents, volume, pod);
	}
	return r;
}

int intent_compare_ledger(const struct intents *intents)
{
	int r = ledger_walk(*intents->ledger, visit_row, (void *) intents);

	return r < 0 ? r : put_entries(intents);
}
