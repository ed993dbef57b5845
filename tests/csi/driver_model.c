/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_model - see driver_model.h
 */
#include "driver_model.h"

#include "base/cleanup.h"
#include "csi/csi.pb-c.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

struct driver_model model;

/* ---- the books ---- */

static struct model_mount *find_staged(const char *volume)
{
	for (size_t i = 0; i < ARRAY_SIZE(model.staged); i++)
		if (model.staged[i].is_used && strcmp(model.staged[i].volume, volume) == 0)
			return &model.staged[i];
	return NULL;
}

static struct model_mount *find_published(const char *target)
{
	for (size_t i = 0; i < ARRAY_SIZE(model.published); i++)
		if (model.published[i].is_used && strcmp(model.published[i].path, target) == 0)
			return &model.published[i];
	return NULL;
}

static const struct model_mount *live_target(const char *volume)
{
	for (size_t i = 0; i < ARRAY_SIZE(model.published); i++)
		if (model.published[i].is_used && strcmp(model.published[i].volume, volume) == 0)
			return &model.published[i];
	return NULL;
}

static struct model_mount *take_slot(struct model_mount *slots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!slots[i].is_used)
			return &slots[i];
	fail_msg("the model has no slot left");
	return NULL;
}

static bool is_set_up(const struct model_call *call)
{
	return call->request.method == CSI_NODE_STAGE_VOLUME ||
	       call->request.method == CSI_NODE_PUBLISH_VOLUME;
}

static bool is_of_device(const struct model_call *call)
{
	return call->request.method == CSI_NODE_STAGE_VOLUME ||
	       call->request.method == CSI_NODE_UNSTAGE_VOLUME;
}

static bool is_about_volume(const struct model_call *call)
{
	return *call->volume;
}

static struct model_mount *find_entry(const struct model_call *call)
{
	return is_of_device(call) ? find_staged(call->volume) : find_published(call->path);
}

bool model_is_empty(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(model.staged); i++)
		if (model.staged[i].is_used)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(model.published); i++)
		if (model.published[i].is_used)
			return false;
	return true;
}

/* ---- what CSI forbids ---- */

static bool has_stage(void)
{
	return model.capabilities & 1U << 1;
}

static void check_stage(const struct model_call *call, uint64_t arguments)
{
	const struct model_mount *before = find_staged(call->volume);

	if (!has_stage())
		model.violated("stage of '%s', which the driver does not do", call->volume);
	if (before && strcmp(before->path, call->path) != 0)
		model.violated("stage of '%s' at '%s', while at '%s'", call->volume, call->path,
			       before->path);
	if (before && before->arguments != arguments)
		model.violated("stage of '%s' again with other arguments", call->volume);
	if (live_target(call->volume) && !(before && before->is_sure))
		model.violated("stage of '%s', published at '%s'", call->volume,
			       live_target(call->volume)->path);
}

static void check_unstage(const struct model_call *call)
{
	const struct model_mount *before = find_staged(call->volume);
	const struct model_mount *live = live_target(call->volume);

	if (live)
		model.violated("unstage of '%s', published at '%s'", call->volume, live->path);
	if (before && strcmp(before->path, call->path) != 0)
		model.violated("unstage of '%s' at '%s', staged at '%s'", call->volume, call->path,
			       before->path);
}

static void check_publish(const struct model_call *call, uint64_t arguments)
{
	const struct model_mount *before = find_published(call->path);
	const struct model_mount *staged = find_staged(call->volume);
	bool is_inline = strncmp(call->volume, "csi-", 4) == 0;

	if (before && strcmp(before->volume, call->volume) != 0)
		model.violated("publish of '%s' on '%s', where '%s' is", call->volume, call->path,
			       before->volume);
	else if (before && before->arguments != arguments)
		model.violated("publish of '%s' again with other arguments", call->volume);
	if (has_stage() && !is_inline && !(staged && staged->is_sure))
		model.violated("publish of '%s', which is not staged", call->volume);
	else if (has_stage() && !is_inline && strcmp(staged->path, call->from) != 0)
		model.violated("publish of '%s' from '%s', staged at '%s'", call->volume,
			       call->from, staged->path);
}

static void check_unpublish(const struct model_call *call)
{
	const struct model_mount *before = find_published(call->path);

	if (before && strcmp(before->volume, call->volume) != 0)
		model.violated("unpublish of '%s' at '%s', where '%s' is", call->volume, call->path,
			       before->volume);
}

/* Two at once, both of a caller that lives. True: one without a waiting caller is in the way. */
static bool check_others(const struct model_call *call)
{
	bool is_blocked = false;

	for (size_t i = 0; i < ARRAY_SIZE(model.calls); i++) {
		const struct model_call *other = &model.calls[i];

		if (!other->is_used || other->is_blocked || other == call ||
		    strcmp(other->volume, call->volume) != 0)
			continue;
		if (!is_of_device(call) && !is_of_device(other) &&
		    strcmp(call->path, other->path) != 0)
			continue;
		if (other->is_heard)
			model.violated("%s of '%s' while %s runs",
				       csi_method_row(call->request.method)->name, call->volume,
				       csi_method_row(other->request.method)->name);
		is_blocked = true;
	}
	return is_blocked;
}

static void check_order(const struct model_call *call, uint64_t arguments)
{
	if (*call->volume == '\0' || *call->path != '/')
		model.violated("%s without volume or path",
			       csi_method_row(call->request.method)->name);
	switch (call->request.method) {
	case CSI_NODE_STAGE_VOLUME:
		check_stage(call, arguments);
		return;
	case CSI_NODE_UNSTAGE_VOLUME:
		check_unstage(call);
		return;
	case CSI_NODE_PUBLISH_VOLUME:
		check_publish(call, arguments);
		return;
	default:
		check_unpublish(call);
	}
}

/* Before anything is done, so that a death at any moment leaves it in the books. */
static void note_begin(struct model_call *call, uint64_t arguments)
{
	struct model_mount *entry = find_entry(call);

	call->was_there = entry;
	call->was_sure = entry && entry->is_sure;
	if (!is_set_up(call)) {
		if (entry)
			entry->is_sure = false;
		return;
	}
	if (entry)
		return;
	entry = is_of_device(call) ? take_slot(model.staged, ARRAY_SIZE(model.staged))
				   : take_slot(model.published, ARRAY_SIZE(model.published));
	*entry = (struct model_mount){ .is_used = true,
				       .block = call->block,
				       .arguments = arguments };
	(void) snprintf(entry->volume, sizeof(entry->volume), "%s", call->volume);
	(void) snprintf(entry->path, sizeof(entry->path), "%s", call->path);
}

/* As if it had not come. */
static void take_back_begin(const struct model_call *call)
{
	struct model_mount *entry = find_entry(call);

	if (!is_about_volume(call) || !entry)
		return;
	entry->is_used = call->was_there;
	entry->is_sure = call->was_sure;
}

static void note_end(const struct model_call *call, bool is_ok, bool is_final)
{
	struct model_mount *entry = find_entry(call);

	if (!entry || !call->is_heard)
		return;
	if (is_set_up(call) && is_ok)
		entry->is_sure = true;
	else if (is_set_up(call) ? is_final && !entry->is_sure : is_ok)
		entry->is_used = false;
}

/* ---- acts ---- */

static bool is_mount_point(const char *path)
{
	struct statx facts;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &facts) == 0 &&
	       facts.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static void unmount_all(const char *path)
{
	while (is_mount_point(path))
		assert_return_code(umount2(path, UMOUNT_NOFOLLOW), errno);
}

static void storage_of(const struct model_call *call, char ret[MODEL_PATH_BYTES])
{
	(void) snprintf(ret, MODEL_PATH_BYTES, "%s/%.80s", model.storage, call->volume);
	(void) mkdir(ret, 0755);
}

/* Of local use; nothing is behind it. */
static bool make_device(const char *path)
{
	return mknod(path, S_IFBLK | 0600, makedev(240, 1)) == 0 || errno == EEXIST;
}

bool model_can_make_devices(void)
{
	char path[MODEL_PATH_BYTES];
	bool can;

	(void) snprintf(path, sizeof(path), "%s/device", model.storage);
	can = make_device(path);
	(void) unlink(path);
	return can;
}

/* False: it cannot, as a driver would say. */
static bool mount_there(const struct model_call *call)
{
	char storage[MODEL_PATH_BYTES];

	if (call->block)
		return is_of_device(call) || make_device(call->path); /* staged: nothing is seen */
	if (is_mount_point(call->path))
		return true;
	storage_of(call, storage);
	if (!is_of_device(call))
		(void) mkdir(call->path, 0750);
	return mount(storage, call->path, NULL, MS_BIND, NULL) == 0;
}

static void unmount_there(const struct model_call *call)
{
	unmount_all(call->path);
	if (!is_of_device(call) && rmdir(call->path) < 0)
		(void) unlink(call->path);
}

static bool act(const struct model_call *call)
{
	if (!is_about_volume(call))
		return true;
	if (is_set_up(call))
		return mount_there(call);
	unmount_there(call);
	return true;
}

/* ---- answers ---- */

static const ProtobufCMessage *reply_to(enum csi_method method)
{
	static Csi__V1__NodeServiceCapability__RPC rpcs[8];
	static Csi__V1__NodeServiceCapability capabilities[8], *pointers[8];
	static Csi__V1__NodeGetCapabilitiesResponse told;
	static const Csi__V1__NodeStageVolumeResponse staged =
		CSI__V1__NODE_STAGE_VOLUME_RESPONSE__INIT;
	static const Csi__V1__NodeUnstageVolumeResponse unstaged =
		CSI__V1__NODE_UNSTAGE_VOLUME_RESPONSE__INIT;
	static const Csi__V1__NodePublishVolumeResponse published =
		CSI__V1__NODE_PUBLISH_VOLUME_RESPONSE__INIT;
	static const Csi__V1__NodeUnpublishVolumeResponse unpublished =
		CSI__V1__NODE_UNPUBLISH_VOLUME_RESPONSE__INIT;

	switch (method) {
	case CSI_NODE_STAGE_VOLUME:
		return &staged.base;
	case CSI_NODE_UNSTAGE_VOLUME:
		return &unstaged.base;
	case CSI_NODE_PUBLISH_VOLUME:
		return &published.base;
	case CSI_NODE_UNPUBLISH_VOLUME:
		return &unpublished.base;
	default:
		break;
	}
	told = (Csi__V1__NodeGetCapabilitiesResponse) CSI__V1__NODE_GET_CAPABILITIES_RESPONSE__INIT;
	for (unsigned int bit = 1; bit < ARRAY_SIZE(rpcs); bit++) {
		if (!(model.capabilities & 1U << bit))
			continue;
		csi__v1__node_service_capability__rpc__init(&rpcs[bit]);
		csi__v1__node_service_capability__init(&capabilities[bit]);
		rpcs[bit].type = bit;
		capabilities[bit].type_case = CSI__V1__NODE_SERVICE_CAPABILITY__TYPE_RPC;
		capabilities[bit].rpc = &rpcs[bit];
		pointers[told.n_capabilities++] = &capabilities[bit];
	}
	told.capabilities = pointers;
	return &told.base;
}

static void report(struct model_call *call, enum grpc_code code, bool was_sent)
{
	struct csi_reply reply = {
		.status = { .code = code, .from_server = was_sent, .was_sent = was_sent }
	};

	if (code == GRPC_OK)
		reply.message = reply_to(call->request.method);
	else
		(void) snprintf(reply.status.text, sizeof(reply.status.text), "drawn");
	call->is_used = false;
	if (call->is_heard)
		call->request.done(call->request.userdata, &reply);
}

static void answer(struct model_call *call, enum grpc_code code)
{
	struct grpc_result status = { .code = code, .from_server = true, .was_sent = true };
	bool is_final = csi_classify(&status) == CSI_FINAL;

	if (is_about_volume(call)) {
		if (is_final && is_set_up(call) && !call->was_sure)
			unmount_there(call);
		note_end(call, code == GRPC_OK, is_final);
	}
	report(call, code, true);
}

/* The connection is gone with the driver. */
static void lose_driver(struct model_call *call)
{
	model.is_there = false;
	report(call, GRPC_UNAVAILABLE, true);
}

void model_finish(struct model_call *call, enum model_outcome outcome, enum grpc_code code)
{
	assert_true(call->is_used && (code != GRPC_OK || outcome == MODEL_WORKS));
	if (call->is_blocked) {
		report(call, GRPC_ABORTED, true);
		return;
	}
	switch (outcome) {
	case MODEL_WORKS:
		answer(call, act(call) ? GRPC_OK : GRPC_FAILED_PRECONDITION);
		return;
	case MODEL_FAILS_BEFORE:
		answer(call, code);
		return;
	case MODEL_FAILS_AFTER:
		(void) act(call);
		answer(call, code);
		return;
	case MODEL_NEVER_SENT:
		take_back_begin(call);
		report(call, GRPC_UNAVAILABLE, false);
		return;
	case MODEL_TOO_LATE:
		if (call->is_heard) {
			struct csi_reply reply = { .status = { .code = GRPC_DEADLINE_EXCEEDED,
							       .was_sent = true } };

			call->is_heard = false; /* and goes on */
			call->request.done(call->request.userdata, &reply);
		}
		return;
	case MODEL_DIES_AFTER:
		(void) act(call);
		lose_driver(call);
		return;
	default:
		lose_driver(call);
	}
}

/* ---- what podvold calls ---- */

static uint64_t hash_message(const ProtobufCMessage *message)
{
	uint8_t bytes[4096];
	size_t length = protobuf_c_message_get_packed_size(message);
	uint64_t hash = 0xcbf29ce484222325;

	assert_true(length <= sizeof(bytes));
	(void) protobuf_c_message_pack(message, bytes);
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static void copy_text(char *to, size_t size, const char *from)
{
	assert_true(strlen(from) < size);
	(void) snprintf(to, size, "%s", from);
}

static void copy_message(struct model_call *call, const ProtobufCMessage *message)
{
	const Csi__V1__VolumeCapability *capability = NULL;
	const char *volume = "", *path = "", *from = "";

	switch (call->request.method) {
	case CSI_NODE_STAGE_VOLUME: {
		const Csi__V1__NodeStageVolumeRequest *stage = (const void *) message;

		volume = stage->volume_id;
		path = stage->staging_target_path;
		capability = stage->volume_capability;
		break;
	}
	case CSI_NODE_UNSTAGE_VOLUME: {
		const Csi__V1__NodeUnstageVolumeRequest *unstage = (const void *) message;

		volume = unstage->volume_id;
		path = unstage->staging_target_path;
		break;
	}
	case CSI_NODE_PUBLISH_VOLUME: {
		const Csi__V1__NodePublishVolumeRequest *publish = (const void *) message;

		volume = publish->volume_id;
		path = publish->target_path;
		from = publish->staging_target_path;
		capability = publish->volume_capability;
		call->read_only = publish->readonly;
		break;
	}
	case CSI_NODE_UNPUBLISH_VOLUME: {
		const Csi__V1__NodeUnpublishVolumeRequest *unpublish = (const void *) message;

		volume = unpublish->volume_id;
		path = unpublish->target_path;
		break;
	}
	default:
		break;
	}
	call->block = capability &&
		      capability->access_type_case == CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_BLOCK;
	copy_text(call->volume, sizeof(call->volume), volume);
	copy_text(call->path, sizeof(call->path), path);
	copy_text(call->from, sizeof(call->from), from);
}

static struct model_call *take_call(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(model.calls); i++)
		if (!model.calls[i].is_used)
			return &model.calls[i];
	fail_msg("too many calls at once");
	return NULL;
}

int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr);
int __wrap_csi_drivers_call(struct csi_drivers *drivers, const struct csi_call_request *request,
			    struct csi_call **ret, struct failure *reterr)
{
	struct model_call *call;
	uint64_t arguments;

	if (!model.is_there)
		return failed_plain(reterr, -ENOTCONN, "no driver");
	call = take_call();
	*call = (struct model_call){
		.request = *request, .is_used = true, .is_heard = true, .number = ++model.call_count
	};
	call->request.message = NULL;
	copy_message(call, request->message);
	*ret = (struct csi_call *) call;
	if (!is_about_volume(call))
		return 0;
	arguments = hash_message(request->message);
	call->is_blocked = check_others(call);
	if (!call->is_blocked) {
		check_order(call, arguments);
		note_begin(call, arguments);
	}
	return 0;
}

struct csi_call *__wrap_csi_call_cancel(struct csi_call *call);
struct csi_call *__wrap_csi_call_cancel(struct csi_call *call)
{
	if (call)
		((struct model_call *) call)->is_heard = false;
	return NULL;
}

/* ---- life ---- */

void model_begin(void)
{
	memset(model.staged, 0, sizeof(model.staged));
	memset(model.published, 0, sizeof(model.published));
	memset(model.calls, 0, sizeof(model.calls));
	model.call_count = 0;
	model.is_there = true;
}

unsigned int model_count_calls(void)
{
	unsigned int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(model.calls); i++)
		count += model.calls[i].is_used;
	return count;
}

struct model_call *model_call_at(unsigned int position)
{
	for (size_t i = 0; i < ARRAY_SIZE(model.calls); i++)
		if (model.calls[i].is_used && position-- == 0)
			return &model.calls[i];
	return NULL;
}

void model_caller_died(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(model.calls); i++) {
		struct model_call *call = &model.calls[i];

		call->is_heard = false;
		if (call->is_blocked || !is_about_volume(call))
			call->is_used = false;
	}
}

void model_died(void)
{
	model.is_there = false;
	for (size_t i = 0; i < ARRAY_SIZE(model.calls); i++)
		if (model.calls[i].is_used)
			report(&model.calls[i], GRPC_UNAVAILABLE, true);
}
