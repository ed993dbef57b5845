/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_class - the calls of an executable plugin for volumes of a StorageClass; see exec_class.h
 *
 * A call for a volume holds the lock that its stage and unstage hold, so none of them meets
 * another, also not one that a killed podvold left.
 */
#include "plugins/exec_class.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "base/text.h"
#include "object/json/json.h"
#include "plugins/exec/exec.h"
#include "plugins/layout.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static void set_text(struct cJSON *facts, const char *key, const char *text)
{
	if (text)
		(void) json_set_string(facts, key, text);
}

static struct cJSON *gather_facts(const struct exec_class_call *call, enum exec_slot slot)
{
	struct cJSON *facts = json_new_object();

	set_text(facts, "snapshot", call->snapshot);
	set_text(facts, "sourceVolume", call->source_volume);
	set_text(facts, "sourceSnapshot", call->source_snapshot);
	set_text(facts, "fsType", call->fs_type);
	(void) json_set(facts, "options",
			call->options ? json_copy(call->options) : json_new_object());
	if (slot == EXEC_CREATE || slot == EXEC_CLONE || slot == EXEC_EXPAND)
		(void) json_set_int(facts, "capacityBytes", call->bytes);
	return facts;
}

static int begin(const struct exec_class_call *call, enum exec_slot slot, struct exec_step *step,
		 struct failure *reterr)
{
	const char *name = exec_name_of(call->driver), *handle = call->volume ?: call->snapshot;

	if (!name)
		return failed_plain(reterr, -EIO, "'%s' is not the name of a plugin",
				    call->driver + strlen(EXEC_DRIVER_PREFIX));
	*step = (struct exec_step){
		.host = call->host,
		.name = strdup(name),
		.handle = call->volume ? strdup(call->volume) : NULL,
		.pod_uid = strdup(""),
		.unique_name = new_text(EXEC_PLUGIN_NAME "/%s^%s", name, handle ?: ""),
		.facts = gather_facts(call, slot),
	};
	return step->name && step->pod_uid && step->unique_name && step->facts &&
			       (step->handle || !call->volume)
		       ? 0
		       : failed(reterr, -ENOMEM, "cannot ask plugin '%s'", name);
}

/* Its record in /run may be lost, and only the directory still shows that it is in use here. */
static int check_unstaged(const struct exec_step *step, struct failure *reterr)
{
	cleanup_free char *directory = new_text("%s^%s", step->name, step->handle);
	cleanup_free char *path = NULL;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct mount_facts facts;
	int r = directory ? layout_child(EXEC_STAGING_BASE, directory, &path, reterr) : -ENOMEM;

	if (r == 0)
		r = place_open(step->host->root_fd, step->host->root_dir, path, &place, reterr);
	if (r == 0)
		r = place_facts(&place, &facts, reterr);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r
		     : failed_plain(reterr, -EBUSY,
				    "it is staged on this node: '%s/%s' is there; it is deleted "
				    "when it is unstaged",
				    step->host->root_dir, path);
}

/* What a clone is being made of is not deleted: clones share the lock.
 * @ret_fd: holds it; left as it is where none is needed */
static int lock_source(const struct exec_class_call *call, enum exec_slot slot,
		       const struct exec_step *step, int *ret_fd, struct failure *reterr)
{
	bool is_clone = slot == EXEC_CLONE;
	const char *source = is_clone ? call->source_volume ?: call->source_snapshot
				      : call->volume ?: call->snapshot;
	uint64_t key = fnv1a_add_text(fnv1a_add_text(FNV1A_FIRST, "source of clones"), step->name);

	if (!is_clone && slot != EXEC_DELETE && slot != EXEC_DELETE_SNAPSHOT)
		return 0;
	*ret_fd = exec_step_lock(step, fnv1a_add_text(key, source), is_clone, reterr);
	if (*ret_fd == -EBUSY)
		return failed_plain(reterr, -EBUSY,
				    "plugin '%s', %s: '%s' is being cloned or deleted", step->name,
				    exec_slot_name(slot), source);
	return *ret_fd < 0 ? *ret_fd : 0;
}

static int refuse(const struct exec_class_call *call, enum exec_slot slot, struct failure *reterr)
{
	return failed_plain(reterr, -EOPNOTSUPP, "class '%s': plugin '%s' has no slot %s",
			    call->storage_class, exec_name_of(call->driver), exec_slot_name(slot));
}

/* @report: of a call that failed. The loop knows these errors alone; -EPERM would mean that the
 * volume is foreign. */
static int fail(const struct exec_class_call *call, int error, const struct stage_report *report,
		struct failure *reterr)
{
	bool is_uncertain = report->error_class == ERROR_UNCERTAIN;
	int r = error == -EBUSY || error == -ENOMEM ? error : is_uncertain ? -EINPROGRESS : -EIO;

	return failed_plain(reterr, r, "class '%s': %s", call->storage_class, report->failure.text);
}

int exec_class_run(const struct exec_class_call *call, enum exec_slot slot, bool *ret_is_atomic,
		   struct failure *reterr)
{
	struct stage_report report = { .error_class = ERROR_TRANSIENT };
	cleanup_json struct cJSON *answer = NULL;
	struct exec_step step = { .host = NULL };
	cleanup_close int source_fd = -EBADF;
	const struct exec_call asked = { .name = exec_slot_name(slot),
					 .ret_answer = &answer,
					 .slot = 1U << slot };
	int r;

	assert(call && call->host && reterr);
	assert(call->snapshot || slot < EXEC_SNAPSHOT);
	r = begin(call, slot, &step, &report.failure);
	if (r == 0 && slot == EXEC_DELETE)
		r = check_unstaged(&step, &report.failure);
	if (r == 0)
		r = lock_source(call, slot, &step, &source_fd, &report.failure);
	if (r == 0)
		r = exec_step_invoke(&step, &asked, &report);
	exec_step_done(&step);
	if (r == EXEC_UNSUPPORTED)
		return refuse(call, slot, reterr);
	if (r < 0)
		return fail(call, r, &report, reterr);
	if (ret_is_atomic)
		*ret_is_atomic = json_bool(json_get(answer, "atomic"), false);
	return 0;
}

int exec_class_probe(const struct exec_class_call *call, struct failure *reterr)
{
	static const enum exec_slot needed[] = { EXEC_CREATE, EXEC_DELETE };
	struct stage_report report = { .error_class = ERROR_TRANSIENT };
	cleanup(exec_program_done) struct exec_program program = { .path = NULL };
	struct exec_step step = { .host = NULL };
	int r;

	assert(call && call->host && reterr);
	r = begin(call, EXEC_CREATE, &step, &report.failure);
	if (r == 0)
		r = exec_program_find(step.name, &program, &report.failure);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(needed); i++)
		if (!(program.slots & 1U << needed[i])) {
			exec_step_done(&step);
			return refuse(call, needed[i], reterr);
		}
	if (r == 0)
		r = exec_step_call(&step, "probe", &report);
	exec_step_done(&step);
	return r < 0 ? fail(call, r, &report, reterr) : 0;
}
