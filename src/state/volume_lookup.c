/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_lookup - from a volume of a pod to a spec and its plugin; see volume_lookup.h
 *
 * Each check has its kubelet counterpart in the populator's createVolumeSpec. Where kubelet asks
 * the API server this asks the store's cache, which holds exactly what is committed.
 */
#include "state/volume_lookup.h"

#include <assert.h>
#include <string.h>

bool volume_has_claim(const struct pod_volume *volume)
{
	assert(volume);

	return volume->source == SOURCE_CLAIM || volume->source == SOURCE_EPHEMERAL;
}

/* getPVCExtractPV */
static int check_claim(const struct object *object, struct failure *reterr)
{
	const struct persistent_volume_claim *claim = object->claim;

	if (object->meta.deletes && !claim->has_protection_finalizer)
		return failed_plain(reterr, -EINVAL, "PVC is being deleted");
	if (claim->phase != CLAIM_BOUND)
		return failed_plain(reterr, -EAGAIN, "PVC is not bound");
	if (claim->volume_name[0] == '\0')
		return failed_plain(reterr, -EINVAL, "PVC has empty pvc.Spec.VolumeName");
	return 0;
}

/* ephemeral.VolumeIsForPod */
static int check_owner(const struct object *claim, const struct object *pod, struct failure *reterr)
{
	if (strcmp(claim->claim->controller_owner_uid, pod->meta.uid) == 0)
		return 0;
	return failed_plain(
		reterr, -EINVAL, "PVC %s/%s was not created for pod %s/%s (pod is not owner)",
		claim->meta.name_space, claim->meta.name, pod->meta.name_space, pod->meta.name);
}

static int in_claim(const struct object *pod, const struct pod_volume *volume,
		    struct failure *reterr)
{
	return failure_prefix(reterr, "error processing PVC %s/%s", pod->meta.name_space,
			      volume->claim_name);
}

/* kubelet checks the owner last. A claim of another owner may never be bound, and then this is the
 * reason to report. */
static int look_up_claim(struct store *store, const struct object *pod,
			 const struct pod_volume *volume, const struct object **ret,
			 struct failure *reterr)
{
	const struct object *claim = store_get(store, KIND_PERSISTENT_VOLUME_CLAIM,
					       pod->meta.name_space, volume->claim_name);
	int error;

	if (claim && volume->source == SOURCE_EPHEMERAL) {
		error = check_owner(claim, pod, reterr);
		if (error < 0)
			return error;
	}
	if (!claim)
		error = failed_plain(reterr, -ENOENT,
				     "failed to fetch PVC from API server: "
				     "persistentvolumeclaims \"%s\" not found",
				     volume->claim_name);
	else
		error = check_claim(claim, reterr);
	if (error < 0) {
		(void) in_claim(pod, volume, reterr);
		return error;
	}
	*ret = claim;
	return 0;
}

/* getPVSpec */
static int look_up_pv(struct store *store, const struct object *claim, const struct object **ret,
		      struct failure *reterr)
{
	const char *name = claim->claim->volume_name;
	const struct object *object = store_get(store, KIND_PERSISTENT_VOLUME, "", name);
	const struct persistent_volume *pv;

	if (!object)
		return failed_plain(reterr, -ENOENT,
				    "failed to fetch PV %s from API server: "
				    "persistentvolumes \"%s\" not found",
				    name, name);

	pv = object->persistent_volume;
	if (!pv->has_claim_ref)
		return failed_plain(reterr, -EINVAL,
				    "found PV object %s but it has a nil pv.Spec.ClaimRef "
				    "indicating it is not yet bound to the claim",
				    name);
	if (strcmp(pv->claim_uid, claim->meta.uid) != 0)
		return failed_plain(reterr, -EINVAL,
				    "found PV object %s but its pv.Spec.ClaimRef.UID %s does not "
				    "point to claim.UID %s",
				    name, pv->claim_uid, claim->meta.uid);
	*ret = object;
	return 0;
}

static int check_mode(const struct persistent_volume *pv, const struct pod_volume *volume,
		      struct pod_volume_use use, struct failure *reterr)
{
	if (pv->mode == VOLUME_MODE_UNSET)
		return failed_plain(reterr, -EINVAL, "cannot get volumeMode for volume: %s",
				    pv->object->meta.name);
	if (use.mounted && pv->mode != VOLUME_MODE_FILESYSTEM)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "volume %s has volumeMode Block, but is specified in "
				    "volumeMounts",
				    volume->name);
	if (use.as_device && pv->mode != VOLUME_MODE_BLOCK)
		return failed_plain(reterr, -EOPNOTSUPP,
				    "volume %s has volumeMode Filesystem, but is specified in "
				    "volumeDevices",
				    volume->name);
	return 0;
}

static int look_up_claim_spec(struct store *store, const struct object *pod,
			      const struct pod_volume *volume, struct volume_lookup *ret,
			      struct failure *reterr)
{
	const struct object *pv = NULL;
	int error;

	error = look_up_claim(store, pod, volume, &ret->claim, reterr);
	if (error < 0)
		return error;
	error = look_up_pv(store, ret->claim, &pv, reterr);
	if (error < 0) {
		(void) in_claim(pod, volume, reterr);
		return error;
	}
	error = check_mode(pv->persistent_volume, volume, pod_volume_use(pod->pod, volume->name),
			   reterr);
	if (error < 0)
		return error;

	ret->spec = (struct volume_spec){
		.name = pv->meta.name,
		.pv = pv,
		.read_only = volume->claim_read_only,
		.block = pv->persistent_volume->mode == VOLUME_MODE_BLOCK,
	};
	return 0;
}

static int find_plugin(const struct object *pod, const struct pod_volume *volume,
		       struct volume_lookup *ret, struct failure *reterr)
{
	int error = plugin_for_spec(&ret->spec, &ret->plugin, reterr);

	if (error < 0) {
		(void) failure_prefix(reterr,
				      "failed to get Plugin from volumeSpec for volume \"%s\"",
				      volume->name);
		return reterr ? reterr->error = -EOPNOTSUPP : -EOPNOTSUPP;
	}
	if (ret->spec.source && ret->plugin->inline_read_only)
		ret->spec.read_only = ret->plugin->inline_read_only(&ret->spec);
	ret->device_mountable =
		ret->plugin->can_device_mount && ret->plugin->can_device_mount(&ret->spec);
	return plugin_unique_name(ret->plugin, &ret->spec, pod->meta.uid, &ret->unique_name,
				  reterr);
}

/* The pod gets its new volume, once that is whole. */
static int check_move(struct store *store, const struct object *pod,
		      const struct pod_volume *volume, struct failure *reterr)
{
	const struct object *claim = store_get(store, KIND_PERSISTENT_VOLUME_CLAIM,
					       pod->meta.name_space, volume->claim_name);

	if (!claim || !claim->claim->move_to[0] || claim->meta.deletes)
		return 0;
	return failed_plain(reterr, -EBUSY, "waits for the move of claim '%s/%s' to %s'%s'",
			    claim->meta.name_space, claim->meta.name,
			    claim_move_path(claim->claim) ? "" : "StorageClass ",
			    claim->claim->move_to);
}

int volume_lookup(struct store *store, bool waits_for_moves, const struct object *pod,
		  const struct pod_volume *volume, struct volume_lookup *ret,
		  struct failure *reterr)
{
	struct volume_lookup found = { .claim = NULL };
	int error = 0;

	assert(store && pod && pod->kind == KIND_POD && volume && ret);

	if (waits_for_moves && volume_has_claim(volume))
		error = check_move(store, pod, volume, reterr);
	if (error == 0 && volume_has_claim(volume))
		error = look_up_claim_spec(store, pod, volume, &found, reterr);
	else if (error == 0)
		found.spec = (struct volume_spec){
			.name = volume->name,
			.pod = pod,
			.source = volume,
		};
	if (error == 0)
		error = find_plugin(pod, volume, &found, reterr);
	if (error < 0)
		return error;

	*ret = found;
	return 0;
}
