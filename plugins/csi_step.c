/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_step - what all steps of CSI volumes have in common; see kinds.h
 */
#include "plugins/csi.h"

#include "base/cleanup.h"
#include "plugins/layout.h"

#include <assert.h>

void csi_step_done(struct csi_step *step)
{
	assert(step);
	csi_caller_done(&step->caller);
	csi_contexts_done(&step->contexts);
	csi_volume_done(&step->volume);
	free(step->staging_path);
	free(step->target_path);
	free(step->mount_path);
	free(step->data_path);
}

void csi_step_free(void *data)
{
	csi_step_done(data);
	free(data);
}

static int step_init(struct csi_step *step, const struct csi_slot *slot,
		     const struct volume_request *request, struct failure *reterr)
{
	int r = slot->tears_down ? csi_volume_init_names(&step->volume, request, reterr)
				 : csi_volume_init(&step->volume, request, slot->secret, reterr);

	step->caller = (struct csi_caller){
		.drivers = request->host->csi_drivers,
		.driver = step->volume.driver,
		.about = step->volume.unique_name,
	};
	return r < 0 ? r : slot->take_place(step, request, reterr);
}

int csi_slot_begin(const struct csi_slot *slot, const struct volume_request *request,
		   struct stage_list *ret, struct failure *reterr)
{
	void *data;
	int r;

	assert(slot && slot->size >= sizeof(struct csi_step) && request && request->host);
	assert(request->volume_name && (slot->tears_down || request->spec));
	data = calloc(1, slot->size);
	if (!data)
		return failed(reterr, -ENOMEM, "cannot work on volume '%s'", request->volume_name);
	*ret = (struct stage_list){ slot->stages, slot->stage_count, data, slot->free };
	r = step_init(data, slot, request, reterr);
	if (r < 0)
		stage_list_done(ret);
	return r;
}

void csi_step_take_places(struct csi_step *step, char *mount_path, char *data_path,
			  enum vol_data_place kind, unsigned int kept_levels)
{
	assert(step && mount_path && data_path && !step->mount_path);
	step->mount_path = mount_path;
	step->data_path = data_path;
	step->place =
		(struct csi_place){ step->volume.host, mount_path, data_path, kind, kept_levels };
}

int csi_step_take_place(struct csi_step *step, char *mount_path, enum vol_data_place kind,
			unsigned int kept_levels, struct failure *reterr)
{
	char *data_path = csi_path_beside(mount_path, VOL_DATA_FILE);

	if (!data_path) {
		free(mount_path);
		return failed(reterr, -ENOMEM, "cannot build the path of '%s'", step->volume.name);
	}
	csi_step_take_places(step, mount_path, data_path, kind, kept_levels);
	return 0;
}

/* One that is there may be mounted, by a server that is dead: it is not opened. */
int csi_step_make_directory(const struct csi_step *step, struct failure *reterr)
{
	const struct plugin_host *host = step->volume.host;
	cleanup(place_done) struct place place = PLACE_EMPTY;
	struct mount_facts facts;
	int r = place_make(host->root_fd, host->root_dir, step->mount_path, 0750, &place, reterr);

	if (r < 0)
		return r;
	r = place_facts(&place, &facts, NULL);
	if (is_corrupted_mount_error(r) || (r == 0 && facts.is_mount_root))
		return 0;
	r = make_directory(&place, 0750, NULL, reterr);
	if (r < 0)
		return r;
	(void) close(r);
	return 0;
}

int csi_step_path(const struct csi_step *step, const char *relative, char **ret,
		  struct failure *reterr)
{
	*ret = layout_absolute(step->volume.host->root_dir, relative);
	return *ret ? 0
		    : failed(reterr, -ENOMEM, "cannot build the path of '%s'", step->volume.name);
}

int csi_step_start_request(void *data, struct stage_report *report,
			   void (*finish)(void *token, int result), void *token)
{
	struct csi_step *step = data;
	const struct csi_stage_end end = { report, finish, token };
	int r;

	report->error_class = ERROR_TRANSIENT;
	r = csi_volume_check(&step->volume, &report->failure);
	return r < 0 ? r : csi_caller_start(&step->caller, &end, NULL, NULL);
}

int csi_step_start_stage(void *data, struct stage_report *report,
			 void (*finish)(void *token, int result), void *token)
{
	struct csi_step *step = data;
	const struct csi_stage_end end = { report, finish, token };

	step->caller.keeps_final = true;
	return csi_call_stage(&step->caller, &step->volume, &step->contexts, step->staging_path,
			      &end);
}

/* A call that cannot be made is a growth that failed. */
static int expand(void *data, const ProtobufCMessage *reply)
{
	struct csi_step *step = data;
	struct stage_report *report = step->caller.report;

	if (step->volume.expand_bytes == 0 || !(step->caller.capabilities & CSI_CAN(EXPAND_VOLUME)))
		return STAGE_NEXT;
	report->growth_error = csi_volume_check_expand_secret(&step->volume, &report->not_grown);
	if (report->growth_error < 0)
		return STAGE_NEXT;
	if (csi_call_expand(&step->caller, &step->volume, &step->publish) == 0)
		return 1;
	report->not_grown = report->failure;
	report->growth_error = report->failure.error;
	return STAGE_NEXT;
}

int csi_step_start_publish(struct csi_step *step, const char *staging_path,
			   const struct csi_stage_end *end)
{
	step->caller.keeps_final = true;
	step->publish = (struct csi_publish){ &step->contexts, staging_path, step->target_path };
	return csi_call_publish(&step->caller, &step->volume, &step->publish, end, expand, step);
}

static bool is_infeasible(enum grpc_code code)
{
	return code == GRPC_INVALID_ARGUMENT || code == GRPC_OUT_OF_RANGE || code == GRPC_NOT_FOUND;
}

/* The stage before made the call that failed: it is named, not the one that ends the step. */
static int report_final(const struct csi_caller *caller, struct stage_report *report)
{
	report->failed_at = csi_method_row(caller->method)->name;
	return failed_plain(&report->failure, caller->final->error, "%s", caller->final->text);
}

void csi_step_note_growth(const struct csi_step *step, struct stage_report *report)
{
	const struct csi_caller *caller = &step->caller;

	if (report->growth_error == 0 && caller->method != CSI_NODE_EXPAND_VOLUME)
		return;
	if (report->growth_error == 0 && !caller->final) {
		report->grown_bytes = step->volume.expand_bytes;
		stage_event_add(report, false, "Normal", "FileSystemResizeSuccessful",
				"volume '%s' is %lld bytes large now", step->volume.name,
				(long long) step->volume.expand_bytes);
		return;
	}
	if (report->growth_error == 0)
		report->growth_error = failed_plain(&report->not_grown, caller->final->error, "%s",
						    caller->final->text);
	report->failed_at = NULL; /* the stage goes on */
	report->is_growth_infeasible = is_infeasible(caller->code);
	/* In use, or impossible: trying again at once would end the same. The next set-up tries. */
	report->grows_later =
		!report->is_growth_infeasible && caller->code != GRPC_FAILED_PRECONDITION;
}

/* Whether or not there is a target: what the driver has in its books may be more. */
int csi_step_start_unpublish(void *data, struct stage_report *report,
			     void (*finish)(void *token, int result), void *token)
{
	struct csi_step *step = data;
	const struct csi_stage_end end = { report, finish, token };

	return csi_call_unpublish(&step->caller, step->volume.handle, step->target_path, &end);
}

/* Inside of the answer: both calls are one stage. */
static int unstage(void *data, const ProtobufCMessage *reply)
{
	struct csi_step *step = data;
	int r;

	if (!(step->caller.capabilities & CSI_CAN(STAGE_UNSTAGE_VOLUME)))
		return STAGE_NEXT;
	r = csi_call_unstage(&step->caller, step->volume.handle, step->staging_path, NULL);
	return r < 0 ? r : 1;
}

int csi_step_start_unstage(void *data, struct stage_report *report,
			   void (*finish)(void *token, int result), void *token)
{
	struct csi_step *step = data;
	const struct csi_stage_end end = { report, finish, token };

	return csi_caller_start(&step->caller, &end, unstage, step);
}

int csi_step_recall(void *data, struct stage_report *report)
{
	struct csi_step *step = data;
	int r = csi_volume_recall(&step->volume, &step->place, &report->failure);

	report->error_class = ERROR_TRANSIENT;
	if (r == -ENODATA) {
		r = csi_data_remove(&step->place, &report->failure);
		return r < 0 ? r : STAGE_LIST_DONE;
	}
	step->caller.driver = step->volume.driver;
	return r < 0 ? r : STAGE_NEXT;
}

/* Better than kubelet, which forgets a volume whose driver says that it is gone when it is mounted
 * all the same: it is not. */
int csi_step_clear(void *data, struct stage_report *report)
{
	struct csi_step *step = data;
	int r;

	report->error_class = ERROR_UNCERTAIN;
	r = csi_data_remove(&step->place, &report->failure);
	if (r == -EBUSY)
		(void) failure_prefix(&report->failure, "driver '%s' reports volume '%s' as gone",
				      step->volume.driver, step->volume.handle);
	return r < 0 ? r : STAGE_NEXT;
}

int csi_step_final(const struct csi_step *step, struct stage_report *report)
{
	if (!step->caller.final || step->caller.method == CSI_NODE_EXPAND_VOLUME)
		return 0;
	report->error_class = ERROR_FINAL;
	return report_final(&step->caller, report);
}

int csi_step_write_data(struct csi_step *step, struct failure *reterr)
{
	const struct csi_volume *volume = &step->volume;
	cleanup_free char *attachment =
		csi_attachment_name(volume->handle, volume->driver, volume->host->node_name);
	bool is_staging = step->place.kind == VOL_DATA_STAGING;
	const struct vol_data data = {
		.spec_name = is_staging ? NULL : volume->name,
		.volume_handle = volume->handle,
		.driver_name = volume->driver,
		.node_name = is_staging ? NULL : (char *) volume->host->node_name,
		.attachment_id = is_staging ? NULL : attachment,
		.lifecycle_mode = step->place.kind != VOL_DATA_POD ? NULL
				  : volume->is_ephemeral           ? (char *) "Ephemeral"
								   : (char *) "Persistent",
		.selinux_mount_context = volume->selinux_label,
	};

	if (!attachment)
		return failed(reterr, -ENOMEM, "cannot write '%s'", step->data_path);
	return csi_data_write(&step->place, &data, reterr);
}
