/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_snapshotter - snapshots of CSI drivers' volumes: CreateSnapshot, DeleteSnapshot,
 * ListSnapshots, and the three calls of group snapshots
 *
 * The snapshotters' backend for drivers whose socket offers the controller. One that is not there
 * is waited for; one that cannot take snapshots is refused, and the content says so. Parameters are
 * the class's, but for those of the sidecar; secrets are those that the content names.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "controller/csi/csi_controller.h"
#include "controller/snapshot/snapshot_plan.h"
#include "controller/snapshot/snapshotter.h"
#include "csi/csi_map.h"

#include <string.h>

#define CALL_TIMEOUT_USEC (60 * USEC_PER_SEC) /* as external-snapshotter's */

struct snapshot_call {
	struct csi_snapshotter *owner;
	struct snapshot_call *prev, *next;
	struct csi_call *call;
	sd_event_source *deferred; /* instead of a call: the driver need not be asked */
	enum csi_method method;
	char *handle; /* of QUERY */
	snapshot_done_fn *done;
	void *userdata;
};

struct csi_snapshotter {
	struct controller base; /* the snapshotter watches, not this */
	struct csi_controller_options options;
	struct snapshotter *snapshotter;
	struct snapshot_call *calls;
};

static bool are_groups(const struct csi_snapshotter *snapshotter)
{
	return snapshotter->base.class == &csi_group_snapshotter_class;
}

/* ---- calls ---- */

static struct snapshot_call *call_new(struct csi_snapshotter *owner,
				      const struct snapshot_order *order, snapshot_done_fn *done,
				      void *userdata)
{
	struct snapshot_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->handle = strdup(order->content->given_handle);
	if (!call->handle) {
		free(call);
		return NULL;
	}
	call->owner = owner;
	call->done = done;
	call->userdata = userdata;
	call->next = owner->calls;
	if (call->next)
		call->next->prev = call;
	owner->calls = call;
	return call;
}

static void call_free(struct snapshot_call *call)
{
	if (call->prev)
		call->prev->next = call->next;
	else
		call->owner->calls = call->next;
	if (call->next)
		call->next->prev = call->prev;
	(void) sd_event_source_disable_unref(call->deferred);
	free(call->handle);
	free(call);
}

static void end_call(struct snapshot_call *call, const struct snapshot_end *end)
{
	snapshot_done_fn *done = call->done;
	void *userdata = call->userdata;

	call->call = NULL;
	done(userdata, end);
	call_free(call);
}

/* ---- answers ---- */

static void end_failed(struct snapshot_call *call, int error, bool is_final, const char *text)
{
	struct failure why = { .error = 0 };
	struct snapshot_end end = { .is_final = is_final, .why = &why };

	end.error = failed_plain(&why, error, "%s", text);
	end_call(call, &end);
}

static int64_t nsec_of(const Google__Protobuf__Timestamp *time)
{
	return time ? time->seconds * 1000000000 + time->nanos : 0;
}

static void end_taken(struct snapshot_call *call, const Csi__V1__Snapshot *snapshot)
{
	struct snapshot_result result = { .is_ready = true };
	const struct snapshot_end end = { .result = &result };

	if (!snapshot || !snapshot->snapshot_id || !*snapshot->snapshot_id) {
		end_failed(call, -EBADMSG, true, "the driver names no such snapshot");
		return;
	}
	result.handle = snapshot->snapshot_id;
	result.bytes = snapshot->size_bytes;
	result.is_ready = snapshot->ready_to_use;
	result.creation_nsec = nsec_of(snapshot->creation_time);
	end_call(call, &end);
}

static void end_listed(struct snapshot_call *call, const Csi__V1__ListSnapshotsResponse *reply)
{
	const Csi__V1__Snapshot *found = NULL;

	for (size_t i = 0; i < reply->n_entries && !found; i++)
		if (reply->entries[i]->snapshot &&
		    strcmp(reply->entries[i]->snapshot->snapshot_id, call->handle) == 0)
			found = reply->entries[i]->snapshot;
	end_taken(call, found);
}

static void end_group(struct snapshot_call *call, const Csi__V1__VolumeGroupSnapshot *group)
{
	size_t count = group ? group->n_snapshots : 0;
	cleanup_free struct snapshot_member *members = calloc(count + 1, sizeof(*members));
	struct snapshot_result result = { .members = members, .member_count = count };
	const struct snapshot_end end = { .result = &result };

	if (!members || count == 0 || !*group->group_snapshot_id) {
		end_failed(call, members ? -EBADMSG : -ENOMEM, false,
			   "the driver names no such group snapshot");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const Csi__V1__Snapshot *one = group->snapshots[i];

		members[i] = (struct snapshot_member){
			.volume_handle = one->source_volume_id,
			.handle = one->snapshot_id,
			.creation_nsec = nsec_of(one->creation_time),
			.bytes = one->size_bytes,
			.is_ready = one->ready_to_use,
		};
	}
	result.handle = group->group_snapshot_id;
	result.creation_nsec = nsec_of(group->creation_time);
	result.is_ready = group->ready_to_use;
	end_call(call, &end);
}

static void end_answered(struct snapshot_call *call, const ProtobufCMessage *message)
{
	static const struct snapshot_end removed = { .error = 0 };

	if (call->method == CSI_CREATE_SNAPSHOT)
		end_taken(call, ((const Csi__V1__CreateSnapshotResponse *) message)->snapshot);
	else if (call->method == CSI_LIST_SNAPSHOTS)
		end_listed(call, (const Csi__V1__ListSnapshotsResponse *) message);
	else if (call->method == CSI_CREATE_VOLUME_GROUP_SNAPSHOT)
		end_group(call, ((const Csi__V1__CreateVolumeGroupSnapshotResponse *) message)
					->group_snapshot);
	else if (call->method == CSI_GET_VOLUME_GROUP_SNAPSHOT)
		end_group(call, ((const Csi__V1__GetVolumeGroupSnapshotResponse *) message)
					->group_snapshot);
	else
		end_call(call, &removed);
}

static void on_reply(void *userdata, const struct csi_reply *reply)
{
	struct snapshot_call *call = userdata;
	char text[FAILURE_TEXT_BYTES];

	if (csi_classify(&reply->status) == CSI_DONE) {
		end_answered(call, reply->message);
		return;
	}
	(void) snprintf(text, sizeof(text), "%s: %.150s", csi_method_row(call->method)->name,
			reply->status.text);
	end_failed(call, -EIO, csi_classify(&reply->status) == CSI_FINAL || !reply->status.was_sent,
		   text);
}

/* A driver that cannot list: the snapshot is believed to be there. */
static int on_deferred(sd_event_source *source, void *userdata)
{
	struct snapshot_call *call = userdata;
	const struct snapshot_result result = { .handle = call->handle, .is_ready = true };
	const struct snapshot_end end = { .result = &result };

	end_call(call, &end);
	return 0;
}

/* ---- requests ---- */

struct request_maps {
	struct csi_map secrets, parameters;
};

static void request_maps_done(struct request_maps *maps)
{
	csi_map_done(&maps->secrets);
	csi_map_done(&maps->parameters);
}

static int read_parameters(const struct volume_snapshot_class *class, struct request_maps *maps)
{
	int r = 0;

	for (size_t i = 0; class && i < class->parameters.count && r == 0; i++) {
		const struct label *one = &class->parameters.labels[i];

		if (!snapshot_is_own_parameter(one->key))
			r = csi_map_set(&maps->parameters, one->key, one->value);
	}
	return r;
}

static int send(struct snapshot_call *call, const char *driver, enum csi_method method,
		const ProtobufCMessage *message, struct failure *reterr)
{
	const struct csi_call_request request = {
		.driver = driver,
		.method = method,
		.message = message,
		.timeout_usec = CALL_TIMEOUT_USEC,
		.done = on_reply,
		.userdata = call,
	};

	call->method = method;
	return csi_drivers_call(call->owner->options.drivers, &request, &call->call, reterr);
}

static int send_take(struct snapshot_call *call, const struct snapshot_order *order,
		     struct request_maps *maps, struct failure *reterr)
{
	Csi__V1__CreateSnapshotRequest request = CSI__V1__CREATE_SNAPSHOT_REQUEST__INIT;
	char name[SNAPSHOT_NAME_BYTES];
	int r = read_parameters(order->class, maps);

	if (r == 0)
		r = CSI_MAP_FILL(&maps->parameters, &request, create_snapshot, parameters);
	if (r == 0)
		r = CSI_MAP_FILL(&maps->secrets, &request, create_snapshot, secrets);
	if (r < 0)
		return failed(reterr, r, "cannot request a snapshot");
	request.name = (char *) snapshot_name(order->content, name);
	request.source_volume_id = (char *) order->content->volume_handle;
	return send(call, order->content->driver, CSI_CREATE_SNAPSHOT, &request.base, reterr);
}

static int send_remove(struct snapshot_call *call, const struct snapshot_order *order,
		       struct request_maps *maps, struct failure *reterr)
{
	Csi__V1__DeleteSnapshotRequest request = CSI__V1__DELETE_SNAPSHOT_REQUEST__INIT;
	int r = CSI_MAP_FILL(&maps->secrets, &request, delete_snapshot, secrets);

	if (r < 0)
		return failed(reterr, r, "cannot request the deletion of a snapshot");
	request.snapshot_id = (char *) order->content->snapshot_handle;
	return send(call, order->content->driver, CSI_DELETE_SNAPSHOT, &request.base, reterr);
}

static int send_query(struct snapshot_call *call, const struct snapshot_order *order,
		      struct request_maps *maps, struct failure *reterr)
{
	Csi__V1__ListSnapshotsRequest request = CSI__V1__LIST_SNAPSHOTS_REQUEST__INIT;
	int r = CSI_MAP_FILL(&maps->secrets, &request, list_snapshots, secrets);

	if (r < 0)
		return failed(reterr, r, "cannot request a snapshot");
	request.snapshot_id = call->handle;
	return send(call, order->content->driver, CSI_LIST_SNAPSHOTS, &request.base, reterr);
}

/* Volumes' handles, or those of snapshots. @ret: freed with free(). */
static char **handles_of(const struct volume_snapshot_content *content, bool volumes)
{
	char **handles = calloc(content->member_count + 1, sizeof(*handles));

	for (size_t i = 0; handles && i < content->member_count; i++)
		handles[i] = (char *) (volumes ? content->members[i].volume_handle
					       : content->members[i].handle);
	return handles;
}

static int send_group_take(struct snapshot_call *call, const struct snapshot_order *order,
			   struct request_maps *maps, struct failure *reterr)
{
	Csi__V1__CreateVolumeGroupSnapshotRequest request =
		CSI__V1__CREATE_VOLUME_GROUP_SNAPSHOT_REQUEST__INIT;
	cleanup_free char **handles = handles_of(order->content, true);
	char name[SNAPSHOT_NAME_BYTES];
	int r = handles ? read_parameters(order->class, maps) : -ENOMEM;

	if (r == 0)
		r = CSI_MAP_FILL(&maps->parameters, &request, create_volume_group_snapshot,
				 parameters);
	if (r == 0)
		r = CSI_MAP_FILL(&maps->secrets, &request, create_volume_group_snapshot, secrets);
	if (r < 0)
		return failed(reterr, r, "cannot request a group snapshot");
	request.name = (char *) snapshot_name(order->content, name);
	request.source_volume_ids = handles;
	request.n_source_volume_ids = order->content->member_count;
	return send(call, order->content->driver, CSI_CREATE_VOLUME_GROUP_SNAPSHOT, &request.base,
		    reterr);
}

static int send_group_remove(struct snapshot_call *call, const struct snapshot_order *order,
			     struct request_maps *maps, struct failure *reterr)
{
	Csi__V1__DeleteVolumeGroupSnapshotRequest request =
		CSI__V1__DELETE_VOLUME_GROUP_SNAPSHOT_REQUEST__INIT;
	cleanup_free char **handles = handles_of(order->content, false);
	int r = handles ? CSI_MAP_FILL(&maps->secrets, &request, delete_volume_group_snapshot,
				       secrets)
			: -ENOMEM;

	if (r < 0)
		return failed(reterr, r, "cannot request the deletion of a group snapshot");
	request.group_snapshot_id = (char *) order->content->snapshot_handle;
	request.snapshot_ids = handles;
	request.n_snapshot_ids = order->content->member_count;
	return send(call, order->content->driver, CSI_DELETE_VOLUME_GROUP_SNAPSHOT, &request.base,
		    reterr);
}

static int send_group_query(struct snapshot_call *call, const struct snapshot_order *order,
			    struct request_maps *maps, struct failure *reterr)
{
	Csi__V1__GetVolumeGroupSnapshotRequest request =
		CSI__V1__GET_VOLUME_GROUP_SNAPSHOT_REQUEST__INIT;
	cleanup_free char **handles = handles_of(order->content, false);
	int r = handles ? CSI_MAP_FILL(&maps->secrets, &request, get_volume_group_snapshot, secrets)
			: -ENOMEM;

	if (r < 0)
		return failed(reterr, r, "cannot request a group snapshot");
	request.group_snapshot_id = call->handle;
	request.snapshot_ids = handles;
	request.n_snapshot_ids = order->content->member_count;
	return send(call, order->content->driver, CSI_GET_VOLUME_GROUP_SNAPSHOT, &request.base,
		    reterr);
}

static int (*const senders[2][3])(struct snapshot_call *call, const struct snapshot_order *order,
				  struct request_maps *maps, struct failure *reterr) = {
	{ [SNAPSHOT_TAKE] = send_take,
	  [SNAPSHOT_QUERY] = send_query,
	  [SNAPSHOT_REMOVE] = send_remove },
	{ [SNAPSHOT_TAKE] = send_group_take,
	  [SNAPSHOT_QUERY] = send_group_query,
	  [SNAPSHOT_REMOVE] = send_group_remove },
};

static int begin(struct snapshot_call *call, const struct snapshot_order *order, bool can_list,
		 struct failure *reterr)
{
	cleanup(request_maps_done) struct request_maps maps = { .secrets = { 0 } };
	int r;

	if (order->deed == SNAPSHOT_QUERY && !can_list && !are_groups(call->owner))
		return sd_event_add_defer(call->owner->options.common.event, &call->deferred,
					  on_deferred, call);
	r = csi_controller_read_secret(
		call->owner->options.common.store,
		&(struct csi_secret_reference){ order->content->secret_namespace,
						order->content->secret_name },
		&maps.secrets, reterr);
	if (r < 0)
		return r;
	return senders[are_groups(call->owner)][order->deed](call, order, &maps, reterr);
}

/* ---- the backend ---- */

/* Also those whose driver is unknown. */
static bool serves(void *backend, const char *driver)
{
	return strcmp(driver, LOCAL_SNAPSHOT_DRIVER) != 0;
}

static int start(void *backend, const struct snapshot_order *order, snapshot_done_fn *done,
		 void *done_userdata, struct failure *reterr)
{
	struct csi_snapshotter *snapshotter = backend;
	const char *name = order->content->driver;
	const struct csi_driver *driver = csi_drivers_find(snapshotter->options.drivers, name);
	struct snapshot_call *call;
	int r;

	if (!driver || !driver->capabilities_known)
		return failed_plain(reterr, -EAGAIN, "driver '%s' is not registered on this node",
				    name);
	if (are_groups(snapshotter) && !driver->takes_group_snapshots)
		return failed_plain(reterr, -EAGAIN,
				    "driver '%s' takes no group snapshots (no "
				    "CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT)",
				    name);
	if (!are_groups(snapshotter) && !csi_driver_can(driver, CSI_CAN_CREATE_DELETE_SNAPSHOT))
		return failed_plain(reterr, -EAGAIN,
				    "driver '%s' takes no snapshots (no CREATE_DELETE_SNAPSHOT)",
				    name);
	call = call_new(snapshotter, order, done, done_userdata);
	if (!call)
		return failed(reterr, -ENOMEM, "cannot ask driver '%s'", name);
	r = begin(call, order, csi_driver_can(driver, CSI_CAN_LIST_SNAPSHOTS), reterr);
	if (r >= 0)
		return 0;
	call_free(call);
	return r;
}

static const struct snapshot_backend backend = { .serves = serves, .start = start };

/* ---- life ---- */

static int open_snapshotter(void *userdata)
{
	struct csi_snapshotter *snapshotter = userdata;
	const struct csi_controller_options *options = &snapshotter->options;
	const struct snapshotter_options inner = {
		.common = options->common,
		.backend = &backend,
		.backend_userdata = snapshotter,
		.are_groups = are_groups(snapshotter),
	};

	return snapshotter_new(&inner, &snapshotter->snapshotter);
}

static void close_snapshotter(void *userdata)
{
	static const struct failure why = { -ECANCELED, "podvold is shutting down" };
	static const struct snapshot_end stopped = { .error = -ECANCELED, .why = &why };
	struct csi_snapshotter *snapshotter = userdata;

	snapshotter_stop(snapshotter->snapshotter);
	while (snapshotter->calls) {
		struct snapshot_call *call = snapshotter->calls;

		call->call = call->call ? csi_call_cancel(call->call) : NULL;
		end_call(call, &stopped);
	}
	(void) snapshotter_free(snapshotter->snapshotter);
}

static void driver_changed(void *userdata, const char *driver)
{
	snapshotter_all_due(((struct csi_snapshotter *) userdata)->snapshotter);
}

static void resync(void *userdata)
{
	snapshotter_resync(((struct csi_snapshotter *) userdata)->snapshotter);
}

#define CLASS                                                                                      \
	{                                                                                          \
		CONTROLLER_OF(csi_snapshotter),                                                    \
			.open = open_snapshotter, .close = close_snapshotter,                      \
			.driver_changed = driver_changed, .resync = resync,                        \
	}

const struct controller_class csi_snapshotter_class = CLASS;
const struct controller_class csi_group_snapshotter_class = CLASS;
