/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_volume - who a CSI volume is and what it is made from; see csi_volume.h
 */
#include "plugins/csi_volume.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "csi/csi.pb-c.h"

#include <assert.h>
#include <string.h>

void csi_volume_done(struct csi_volume *volume)
{
	assert(volume);
	free(volume->unique_name);
	free(volume->name);
	free(volume->driver);
	free(volume->handle);
	free(volume->pod_uid);
	free(volume->selinux_label);
	if (volume->mount_flags)
		free(volume->mount_flags[volume->source->mount_flag_count]);
	free(volume->mount_flags);
	object_unref(volume->pv);
	object_unref(volume->pod);
	object_unref(volume->driver_object);
	object_unref(volume->attachment);
	object_unref(volume->account);
	object_unref(volume->secret);
	object_unref(volume->expand_secret);
	*volume = (struct csi_volume){ 0 };
}

int csi_volume_init_names(struct csi_volume *volume, const struct volume_request *request,
			  struct failure *reterr)
{
	assert(volume && request->host && request->unique_name && request->volume_name);
	*volume = (struct csi_volume){
		.host = request->host,
		.unique_name = strdup(request->unique_name),
		.name = strdup(request->volume_name),
		.pod_uid = request->pod_uid ? strdup(request->pod_uid) : NULL,
		.keeps_traces = request->keeps_traces,
	};
	if (!volume->unique_name || !volume->name || (request->pod_uid && !volume->pod_uid))
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", request->volume_name);
	return 0;
}

/* ---- what it is made from ---- */

static const struct object *find(const struct volume_request *request, enum object_kind kind,
				 const char *name_space, const char *name)
{
	const struct object_reference reference = { kind, name_space, name };

	if (!request->objects || *name == '\0')
		return NULL;
	return object_ref(request->objects->find(request->objects->userdata, &reference));
}

static struct csi_secret_reference pick_secret(const struct csi_volume *volume,
					       enum csi_secret secret)
{
	const struct csi_source *source = volume->source;
	struct csi_secret_reference reference = source->node_publish_secret;

	if (secret == CSI_SECRET_STAGE)
		reference = source->node_stage_secret;
	else if (secret == CSI_SECRET_EXPAND)
		reference = source->node_expand_secret;
	if (volume->is_ephemeral && volume->pod)
		reference.name_space = volume->pod->meta.name_space;
	return reference;
}

/* The PV says how large it shall be, its claim how large it is on this node. */
static void plan_growth(struct csi_volume *volume, const struct volume_request *request)
{
	const struct persistent_volume *pv = volume->pv ? volume->pv->persistent_volume : NULL;
	const struct quantity *is = request->claim ? &request->claim->claim->status_capacity : NULL;
	struct csi_secret_reference secret;

	if (!pv || !is || !is->is_set || volume->read_only ||
	    quantity_compare(&pv->capacity, is) <= 0)
		return;
	volume->expand_bytes = quantity_value(&pv->capacity);
	secret = pick_secret(volume, CSI_SECRET_EXPAND);
	volume->expand_secret = find(request, KIND_SECRET, secret.name_space, secret.name);
}

static int find_objects(struct csi_volume *volume, const struct volume_request *request,
			enum csi_secret secret, struct failure *reterr)
{
	cleanup_free char *attachment =
		csi_attachment_name(volume->handle, volume->driver, request->host->node_name);

	if (!attachment)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", volume->name);
	volume->driver_object = find(request, KIND_CSI_DRIVER, "", volume->driver);
	if (csi_volume_needs_attach(volume))
		volume->attachment = find(request, KIND_VOLUME_ATTACHMENT, "", attachment);
	volume->secret_reference = pick_secret(volume, secret);
	volume->secret = find(request, KIND_SECRET, volume->secret_reference.name_space,
			      volume->secret_reference.name);
	if (secret == CSI_SECRET_PUBLISH)
		plan_growth(volume, request);
	if (secret == CSI_SECRET_PUBLISH && volume->pod && csi_volume_driver(volume) &&
	    csi_volume_driver(volume)->token_request_count > 0)
		volume->account = find(request, KIND_SERVICE_ACCOUNT, volume->pod->meta.name_space,
				       volume->pod->pod->service_account_name);
	return 0;
}

/* ---- SELinux ---- */

/* One pod alone may have it, and says which label its files are to have: then the whole mount gets
 * it, and file after file need not be changed. */
static bool wants_label(const struct csi_volume *volume)
{
	const struct csi_driver_spec *driver = csi_volume_driver(volume);
	const unsigned int modes = volume->pv ? volume->pv->persistent_volume->access_modes : 0;

	return volume->host->has_selinux && !volume->block && modes == ACCESS_READ_WRITE_ONCE_POD &&
	       driver && driver->selinux_mount && volume->pod && *volume->pod->pod->selinux_level;
}

/* As container engines label files of a container that gives no more than user and level. */
static int take_label(struct csi_volume *volume, struct failure *reterr)
{
	size_t count = volume->source->mount_flag_count;
	const struct pod *pod = volume->pod ? volume->pod->pod : NULL;

	if (!wants_label(volume))
		return 0;
	volume->mount_flags = calloc(count + 1, sizeof(*volume->mount_flags));
	volume->selinux_label =
		new_text("%s:object_r:container_file_t:%s",
			 *pod->selinux_user ? pod->selinux_user : "system_u", pod->selinux_level);
	if (!volume->mount_flags || !volume->selinux_label)
		return failed(reterr, -ENOMEM, "cannot prepare volume '%s'", volume->name);
	for (size_t i = 0; i < count; i++)
		volume->mount_flags[i] = (char *) volume->source->mount_flags[i];
	return asprintf(&volume->mount_flags[count], "context=\"%s\"", volume->selinux_label) < 0
		       ? failed(reterr, -ENOMEM, "cannot prepare volume '%s'", volume->name)
		       : 0;
}

static int take_names(struct csi_volume *volume, const struct volume_request *request,
		      struct failure *reterr)
{
	volume->driver = strdup(volume->source->driver);
	volume->handle = volume->is_ephemeral
				 ? csi_inline_handle(request->pod_uid, request->volume_name)
				 : strdup(volume->source->volume_handle);
	return volume->driver && volume->handle
		       ? 0
		       : failed(reterr, -ENOMEM, "cannot prepare volume '%s'", volume->name);
}

int csi_volume_init(struct csi_volume *volume, const struct volume_request *request,
		    enum csi_secret secret, struct failure *reterr)
{
	const struct volume_spec *spec = request->spec;
	const struct persistent_volume *pv = spec_pv(spec);
	int r = csi_volume_init_names(volume, request, reterr);

	if (r < 0)
		return r;
	volume->pv = object_ref(spec->pv);
	volume->pod = object_ref(request->pod);
	volume->source = pv ? pv->csi : spec->source ? spec->source->csi : NULL;
	volume->is_ephemeral = !pv;
	volume->read_only = spec->read_only;
	volume->block = spec->block;
	if (!volume->source || (volume->is_ephemeral && !request->pod_uid))
		return failed_plain(reterr, -EINVAL, "volume '%s' has no csi source", spec->name);
	r = take_names(volume, request, reterr);
	if (r == 0)
		r = find_objects(volume, request, secret, reterr);
	return r < 0 ? r : take_label(volume, reterr);
}

/* ---- what was written when it was set up ---- */

static int recall_from_name(struct csi_volume *volume)
{
	return csi_split_unique_name(volume->unique_name, &volume->driver, &volume->handle);
}

int csi_volume_recall(struct csi_volume *volume, const struct csi_place *place,
		      struct failure *reterr)
{
	struct vol_data data = { .driver_name = NULL };
	int r = csi_data_read(place, &data, reterr);

	if (r == -ENOENT && recall_from_name(volume) == 0)
		return 0;
	if (r < 0)
		return r;
	volume->driver = TAKE_PTR(data.driver_name);
	volume->handle = TAKE_PTR(data.volume_handle);
	vol_data_done(&data);
	return 0;
}

/* ---- what has to be right ---- */

static int check_mode(const struct csi_volume *volume, struct failure *reterr)
{
	const struct csi_driver_spec *driver = csi_volume_driver(volume);
	bool is_allowed = volume->is_ephemeral ? driver && driver->is_ephemeral
					       : !driver || driver->is_persistent;

	if (is_allowed)
		return 0;
	return failed_plain(reterr, -EOPNOTSUPP, "volume mode \"%s\" not supported by driver %s%s",
			    volume->is_ephemeral ? "Ephemeral" : "Persistent", volume->driver,
			    driver ? "" : ": there is no CSIDriver object that says so");
}

static int check_attachment(const struct csi_volume *volume, struct failure *reterr)
{
	const struct volume_attachment *attachment =
		volume->attachment ? volume->attachment->volume_attachment : NULL;

	if (!csi_volume_needs_attach(volume))
		return 0;
	if (!attachment)
		return failed_plain(reterr, -ENOLINK,
				    "volume '%s' is not attached: there is no VolumeAttachment of "
				    "it for node '%s'",
				    volume->name, volume->host->node_name);
	/* Of one that was staged, what is said about it later concerns the next stage. */
	if (volume->pod_uid)
		return 0;
	if (attachment->object->meta.deletes)
		return failed_plain(reterr, -ENOLINK,
				    "volume '%s' is being detached: VolumeAttachment '%s' is being "
				    "deleted",
				    volume->name, attachment->object->meta.name);
	if (attachment->has_attach_error)
		return failed_plain(reterr, -ENOLINK, "volume '%s' cannot be attached: %s",
				    volume->name, attachment->attach_error);
	if (!attachment->attached)
		return failed_plain(reterr, -ENOLINK,
				    "volume '%s' is not attached yet: VolumeAttachment '%s'",
				    volume->name, attachment->object->meta.name);
	return 0;
}

static int check_policy(const struct csi_volume *volume, struct failure *reterr)
{
	const struct csi_driver_spec *driver = csi_volume_driver(volume);

	if (!driver || driver->fs_group_policy != FS_GROUP_POLICY_UNSET)
		return 0;
	return failed_plain(reterr, -EINVAL, "CSIDriver '%s' has no fsGroupPolicy", volume->driver);
}

static int check_one_secret(const struct csi_volume *volume,
			    const struct csi_secret_reference *reference,
			    const struct object *secret, struct failure *reterr)
{
	if (*reference->name == '\0' || secret)
		return 0;
	return failed_plain(reterr, -ENOKEY, "secret '%s/%s' of volume '%s' not found",
			    reference->name_space, reference->name, volume->name);
}

int csi_volume_check_secret(const struct csi_volume *volume, struct failure *reterr)
{
	return check_one_secret(volume, &volume->secret_reference, volume->secret, reterr);
}

int csi_volume_check_expand_secret(const struct csi_volume *volume, struct failure *reterr)
{
	return check_one_secret(volume, &volume->source->node_expand_secret, volume->expand_secret,
				reterr);
}

int csi_volume_check(const struct csi_volume *volume, struct failure *reterr)
{
	int r = check_mode(volume, reterr);

	assert(volume->source && volume->driver);
	if (r == 0)
		r = check_policy(volume, reterr);
	if (r == 0)
		r = check_attachment(volume, reterr);
	if (r == 0 && volume->pod_uid)
		r = csi_volume_check_secret(volume, reterr);
	return r;
}

/* ---- fsGroup ---- */

static bool has_single_node_mode(const struct csi_volume *volume)
{
	const unsigned int single = ACCESS_READ_WRITE_ONCE | ACCESS_READ_WRITE_ONCE_POD;

	return !volume->pv || volume->pv->persistent_volume->access_modes & single;
}

bool csi_volume_wants_ownership(const struct csi_volume *volume, uint32_t capabilities)
{
	const struct csi_driver_spec *driver = csi_volume_driver(volume);
	enum fs_group_policy policy =
		driver ? driver->fs_group_policy : FS_GROUP_POLICY_READ_WRITE_ONCE_WITH_FS_TYPE;

	assert(volume->source);
	if (!volume->pod || !volume->pod->pod->has_fs_group || volume->read_only ||
	    capabilities & CSI_CAN(VOLUME_MOUNT_GROUP))
		return false;
	switch (policy) {
	case FS_GROUP_POLICY_FILE:
		return true;
	case FS_GROUP_POLICY_READ_WRITE_ONCE_WITH_FS_TYPE:
		return *volume->source->fs_type && has_single_node_mode(volume);
	default:
		return false;
	}
}
