/* SPDX-License-Identifier: Apache-2.0 */
/*
 * persistent_volume - v1.PersistentVolume; see persistent_volume.h
 */
#include "object/kinds/persistent_volume.h"

#include "base/cleanup.h"
#include "object/kinds.h"
#include "object/kinds/claim_spec.h"
#include "object/kinds/volume_source.h"
#include "object/metadata.h"
#include "object/schema/schemas.h"
#include "object/select/selector_json.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANNOTATION_MOUNT_OPTIONS "volume.beta.kubernetes.io/mount-options"
#define ANNOTATION_GID           "pv.beta.kubernetes.io/gid"
#define FINALIZER_VOLUME         "kubernetes.io/pv-protection"

static const char *const phase_names[] = {
	[VOLUME_PHASE_UNSET] = "",        [VOLUME_PENDING] = "Pending",
	[VOLUME_AVAILABLE] = "Available", [VOLUME_BOUND] = "Bound",
	[VOLUME_RELEASED] = "Released",   [VOLUME_FAILED] = "Failed",
	[VOLUME_FAILED + 1] = NULL,
};
static_assert(ARRAY_SIZE(phase_names) == VOLUME_FAILED + 2, "name every phase");

static const char *const reclaim_policy_names[] = {
	[RECLAIM_RETAIN] = "Retain",
	[RECLAIM_DELETE] = "Delete",
	[RECLAIM_RECYCLE] = "Recycle",
	NULL,
};
static_assert(ARRAY_SIZE(reclaim_policy_names) == RECLAIM_RECYCLE + 2, "name every policy");

const char *volume_phase_name(enum volume_phase phase)
{
	assert((size_t) phase + 1 < ARRAY_SIZE(phase_names));
	return phase_names[phase];
}

const char *reclaim_policy_name(enum reclaim_policy policy)
{
	assert((size_t) policy + 1 < ARRAY_SIZE(reclaim_policy_names));
	return reclaim_policy_names[policy];
}

static const char *const no_sources[] = {
	"capacity",
	"accessModes",
	"claimRef",
	"persistentVolumeReclaimPolicy",
	"storageClassName",
	"mountOptions",
	"volumeMode",
	"nodeAffinity",
	"volumeAttributesClassName",
	NULL,
};

static const struct volume_source_names source_names = { no_sources,
							 &persistent_volume_spec_schema };

/* ---- defaults ---- */

int persistent_volume_set_defaults(struct cJSON *tree)
{
	struct cJSON *spec = json_ensure_object(tree, "spec");
	struct cJSON *host_path;
	int r = 0;

	if (!spec)
		return -ENOMEM;
	if (!json_get(spec, "persistentVolumeReclaimPolicy"))
		r = json_set_string(spec, "persistentVolumeReclaimPolicy", "Retain");
	if (r == 0 && !json_get(spec, "volumeMode"))
		r = json_set_string(spec, "volumeMode", "Filesystem");
	host_path = json_get(spec, "hostPath") ? json_ensure_object(spec, "hostPath") : NULL;
	if (r == 0 && host_path)
		r = host_path_set_defaults(host_path);
	return r;
}

/* ---- validation ---- */

/* A local volume without an affinity could be given to a pod of another node. */
static int check_local(const struct cJSON *local, const struct cJSON *spec,
		       const struct field *field, struct violations *found)
{
	const struct field *path = FIELD(FIELD(field, "local"), "path");
	const char *text = json_text(local, "path");
	int r;

	if (*text == '\0')
		return field_required(path, "", found);
	r = field_check_no_backsteps(path, text, found);
	if (r == 0 && !json_get(spec, "nodeAffinity"))
		r = field_required(FIELD(field, "nodeAffinity"),
				   "Local volume requires node affinity", found);
	return r;
}

static int check_flex(const struct cJSON *flex, const struct field *field, struct violations *found)
{
	if (*json_text(flex, "driver") == '\0')
		return field_required(FIELD(field, "driver"), "", found);
	return 0;
}

static int check_csi(const struct cJSON *csi, const struct field *field, struct violations *found)
{
	if (*json_text(csi, "driver") == '\0')
		return field_required(FIELD(field, "driver"), "", found);
	if (*json_text(csi, "volumeHandle") == '\0')
		return field_required(FIELD(field, "volumeHandle"), "", found);
	return 0;
}

/* Sources without a plugin pass: they are stored, and reported when a pod wants one. */
static int check_source(const struct cJSON *spec, const struct field *field,
			struct violations *found)
{
	const struct cJSON *source;
	const char *key;
	int r;

	r = volume_source_validate(spec, &source_names, field, found);
	if (r < 0)
		return r;
	source = volume_source_first(spec, &source_names);
	key = json_key(source);
	if (strcmp(key, "local") == 0)
		return check_local(source, spec, field, found);
	if (strcmp(key, "hostPath") == 0)
		return host_path_validate(source, FIELD(field, key), found);
	if (strcmp(key, "csi") == 0)
		return check_csi(source, FIELD(field, key), found);
	if (strcmp(key, "flexVolume") == 0)
		return check_flex(source, FIELD(field, key), found);
	if (strcmp(key, "nfs") == 0)
		return nfs_validate(source, FIELD(field, key), found);
	return 0;
}

/* One resource, as in Kubernetes: what else would be written there is a mistake. */
static int check_capacity(const struct cJSON *capacity, const struct field *field,
			  struct violations *found)
{
	static const char *const supported[] = { "storage", NULL };

	if (json_count(capacity) == 0)
		return field_required(field, "", found);
	JSON_FOREACH (item, capacity) {
		if (strcmp(json_key(item), "storage") != 0)
			return field_not_supported(field, json_key(item), supported, found);
	}
	return field_check_quantity(FIELD_KEY(field, "storage"), json_get(capacity, "storage"),
				    true, found);
}

static int check_affinity(const struct cJSON *affinity, const struct field *field,
			  struct violations *found)
{
	const struct field *required = FIELD(field, "required");

	if (!affinity)
		return 0;
	if (!json_get(affinity, "required"))
		return field_required(required, "must specify required node constraints", found);
	return node_selector_validate(json_get(affinity, "required"), required, found);
}

/* Kubernetes takes a reference without a namespace and then never binds it; here it is refused. */
static int check_claim_ref(const struct cJSON *ref, const struct field *field,
			   struct violations *found)
{
	int r;

	if (!ref)
		return 0;
	r = field_check_subdomain(FIELD(field, "name"), json_text(ref, "name"), found);
	if (r == 0)
		r = field_check_label(FIELD(field, "namespace"), json_text(ref, "namespace"),
				      found);
	return r;
}

/* Recycling empties the directory; of "/" it would empty the node. */
static int check_recycle(const struct cJSON *spec, const struct field *field,
			 struct violations *found)
{
	const char *policy = json_text(spec, "persistentVolumeReclaimPolicy");
	const char *path = json_text(json_get(spec, "hostPath"), "path");

	if (strcmp(policy, "Recycle") == 0 && *path == '/' && path[strspn(path, "/")] == '\0')
		return field_forbidden(FIELD(field, "persistentVolumeReclaimPolicy"),
				       "may not be 'recycle' for a hostPath mount of '/'", found);
	return 0;
}

/* In Kubernetes' order: with several mistakes the first to be reported is the same. */
int persistent_volume_validate(const struct cJSON *tree, struct violations *found)
{
	static const char *const policies[] = { "Delete", "Recycle", "Retain", NULL };
	const struct cJSON *spec = json_get(tree, "spec");
	const struct field *field = FIELD(NULL, "spec");
	int r;

	r = check_capacity(json_get(spec, "capacity"), FIELD(field, "capacity"), found);
	if (r == 0)
		r = volume_common_validate(spec, field, found);
	if (r == 0)
		r = field_check_one_of(FIELD(field, "persistentVolumeReclaimPolicy"),
				       json_text(spec, "persistentVolumeReclaimPolicy"), policies,
				       true, found);
	if (r == 0)
		r = check_affinity(json_get(spec, "nodeAffinity"), FIELD(field, "nodeAffinity"),
				   found);
	if (r == 0)
		r = check_source(spec, field, found);
	if (r == 0)
		r = check_recycle(spec, field, found);
	if (r == 0)
		r = check_claim_ref(json_get(spec, "claimRef"), FIELD(field, "claimRef"), found);
	if (r == 0)
		r = field_check_one_of(FIELD(FIELD(NULL, "status"), "phase"),
				       json_text(json_get(tree, "status"), "phase"),
				       phase_names + VOLUME_PENDING, true, found);
	return r;
}

/* ---- updates ---- */

static bool is_source(const char *member)
{
	for (size_t i = 0; no_sources[i]; i++)
		if (strcmp(no_sources[i], member) == 0)
			return false;
	return true;
}

/* What is none of the known members is the source, whatever its name. */
static bool has_sources_of(const struct cJSON *spec, const struct cJSON *other)
{
	JSON_FOREACH (item, other)
		if (is_source(json_key(item)) && !json_equal(json_get(spec, json_key(item)), item))
			return false;
	return true;
}

static bool same_source(const struct cJSON *old, const struct cJSON *now)
{
	return has_sources_of(old, now) && has_sources_of(now, old);
}

/* A mode taken away is a change as well. */
static bool same_mode(const struct cJSON *old, const struct cJSON *now)
{
	return json_text_is(old, "volumeMode", json_text(now, "volumeMode"));
}

/* It may be added, not changed. */
static bool same_affinity(const struct cJSON *old, const struct cJSON *now)
{
	const struct cJSON *before = json_get(old, "nodeAffinity");

	return !before || json_equal(before, json_get(now, "nodeAffinity"));
}

int persistent_volume_validate_update(const struct object *old, const struct object *new_object,
				      struct violations *found)
{
	static const struct {
		bool (*is_same)(const struct cJSON *old, const struct cJSON *now);
		const char *member, *text;
	} fixed[] = {
		{ same_source, "persistentvolumesource",
		  "spec.persistentvolumesource is immutable after creation" },
		{ same_mode, "volumeMode", "field is immutable" },
		{ same_affinity, "nodeAffinity", "field is immutable" },
	};
	cleanup_update_member struct update_member pair;
	int r = update_member_init(&pair, old, new_object, "spec");

	if (r < 0)
		return violations_broken(found, r);
	for (size_t i = 0; i < ARRAY_SIZE(fixed) && r == 0; i++)
		if (!fixed[i].is_same(pair.old, pair.now))
			r = field_forbidden(FIELD(FIELD(NULL, "spec"), fixed[i].member),
					    fixed[i].text, found);
	return r;
}

/* ---- decoding ---- */

/* What is absent is the first value; what is in no list was refused by validation. */
static int name_position(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++) {
		if (strcmp(names[i], name) == 0)
			return i;
	}
	return 0;
}

/* In the order of enum pv_source_kind; what is none of these is PV_SOURCE_OTHER. */
static void decode_source(const struct cJSON *spec, struct arena *arena,
			  struct persistent_volume *volume)
{
	static const char *const with_plugin[] = {
		[PV_SOURCE_LOCAL] = "local",     [PV_SOURCE_HOST_PATH] = "hostPath",
		[PV_SOURCE_CSI] = "csi",         [PV_SOURCE_NFS] = "nfs",
		[PV_SOURCE_FLEX] = "flexVolume",
	};
	static_assert(ARRAY_SIZE(with_plugin) == PV_SOURCE_OTHER, "name every source");
	const struct cJSON *source = volume_source_first(spec, &source_names);
	const char *path = json_text(source, "path");
	int kind = 0;

	while (kind < PV_SOURCE_OTHER && strcmp(with_plugin[kind], json_key(source)) != 0)
		kind++;
	volume->source = (enum pv_source_kind) kind;
	volume->source_key = arena_string(arena, json_key(source));
	volume->local_path = arena_string(arena, kind == PV_SOURCE_LOCAL ? path : "");
	volume->host_path = arena_string(arena, kind == PV_SOURCE_HOST_PATH ? path : "");
	volume->host_path_type =
		arena_string(arena, kind == PV_SOURCE_HOST_PATH ? json_text(source, "type") : "");
	volume->fs_type =
		arena_string(arena, kind == PV_SOURCE_LOCAL ? json_text(source, "fsType") : "");
	volume->program.nfs = kind == PV_SOURCE_NFS ? nfs_source_decode(source, arena) : NULL;
	volume->program.flex = kind == PV_SOURCE_FLEX ? flex_source_decode(source, arena) : NULL;
	volume->csi = kind == PV_SOURCE_CSI
			      ? csi_source_decode(source, json_get(spec, "mountOptions"), arena)
			      : NULL;
}

/* Comma-separated; empty parts are none. */
static void split_options(const char *text, struct arena *arena, struct persistent_volume *volume)
{
	size_t most = 1, count = 0;
	const char **options;

	for (const char *at = text; *at; at++)
		most += *at == ',' ? 1 : 0;
	options = arena_array(arena, most, sizeof(*options));
	while (options && *text) {
		size_t length = strcspn(text, ",");

		if (length > 0)
			options[count++] = arena_string_length(arena, text, length);
		text += length + (text[length] == ',' ? 1 : 0);
	}
	volume->mount_options = count > 0 ? options : NULL;
	volume->mount_option_count = count;
}

static void decode_mount_options(const struct cJSON *tree, struct arena *arena,
				 struct persistent_volume *volume)
{
	const struct cJSON *list = json_get(json_get(tree, "spec"), "mountOptions");
	const char *annotation = metadata_annotation(tree, ANNOTATION_MOUNT_OPTIONS);
	const char **options = arena_array(arena, json_count(list), sizeof(*options));
	size_t count = 0;

	for (const struct cJSON *item = json_first(list); item && options; item = json_next(item))
		options[count++] = arena_string(arena, json_string(item, ""));
	volume->mount_options = options;
	volume->mount_option_count = count;
	if (annotation) /* wins completely, even when it is empty */
		split_options(annotation, arena, volume);
}

/* A user may have pre-bound the volume: then namespace and name are there, and no uid. */
static void decode_claim_ref(const struct cJSON *ref, struct arena *arena,
			     struct persistent_volume *volume)
{
	volume->has_claim_ref = ref != NULL;
	volume->claim_namespace = arena_text(arena, ref, "namespace");
	volume->claim_name = arena_text(arena, ref, "name");
	volume->claim_uid = arena_text(arena, ref, "uid");
}

/* What is no number is passed over, as kubelet does. */
static void decode_gid(const struct cJSON *tree, struct persistent_volume *volume)
{
	const char *text = metadata_annotation(tree, ANNOTATION_GID);
	unsigned long long value;

	if (!text || *text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return;
	errno = 0;
	value = strtoull(text, NULL, 10);
	if (errno != 0 || value >= (gid_t) -1)
		return;
	volume->has_gid = true;
	volume->gid = (gid_t) value;
}

void persistent_volume_decode_finalizers(const struct cJSON *metadata, struct object *object)
{
	struct persistent_volume *volume =
		(struct persistent_volume *) (uintptr_t) object->persistent_volume;

	volume->has_protection_finalizer = has_finalizer(metadata, FINALIZER_VOLUME);
}

static void decode_provisioning(const struct cJSON *tree, struct arena *arena,
				struct persistent_volume *volume)
{
	volume->has_protection_finalizer =
		has_finalizer(json_get(tree, "metadata"), FINALIZER_VOLUME);
	volume->origin.is_unfinished = metadata_annotation(tree, ANNOTATION_UNFINISHED) != NULL;
	volume->origin.is_called_off =
		strcmp(metadata_annotation(tree, ANNOTATION_UNFINISHED) ?: "",
		       UNFINISHED_CALLED_OFF) == 0;
	volume->origin.provisioned_by =
		arena_string(arena, metadata_annotation(tree, ANNOTATION_PROVISIONED_BY));
	volume->origin.base_path =
		arena_string(arena, metadata_annotation(tree, ANNOTATION_BASE_PATH));
	volume->origin.capacity =
		arena_string(arena, metadata_annotation(tree, ANNOTATION_CAPACITY));
	volume->origin.claim_deleted =
		arena_string(arena, metadata_annotation(tree, ANNOTATION_CLAIM_DELETED));
	volume->origin.deleted_by =
		arena_string(arena, metadata_annotation(tree, ANNOTATION_DELETED_BY));
	volume->origin.moved_from =
		arena_string(arena, metadata_annotation(tree, ANNOTATION_MOVED_FROM));
	volume->origin.moved_to =
		arena_string(arena, metadata_annotation(tree, ANNOTATION_MOVED_TO));
	volume->origin.is_marked_by_claim =
		strcmp(metadata_annotation(tree, ANNOTATION_MARKED_BY) ?: "", "claim") == 0;
}

const char *persistent_volume_mark(const struct persistent_volume *volume)
{
	return volume->origin.is_marked_by_claim ? volume->claim_uid : volume->object->meta.uid;
}

int persistent_volume_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			     struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec"), *status = json_get(tree, "status");
	struct persistent_volume *volume = arena_array(arena, 1, sizeof(*volume));

	if (!volume)
		return failed(reterr, -ENOMEM, "cannot decode a volume");
	volume->object = object;
	volume->capacity = quantity_decode(json_get(json_get(spec, "capacity"), "storage"));
	volume->access_modes = access_modes_decode(json_get(spec, "accessModes"));
	volume->first_access_mode = access_mode_decode(json_first(json_get(spec, "accessModes")));
	volume->mode = volume_mode_decode(json_get(spec, "volumeMode"));
	volume->storage_class = arena_string(arena, storage_class_of(tree));
	volume->attributes_class = arena_text(arena, spec, "volumeAttributesClassName");
	volume->reclaim_policy = (enum reclaim_policy) name_position(
		reclaim_policy_names, json_text(spec, "persistentVolumeReclaimPolicy"));
	volume->node_affinity =
		node_selector_decode(json_get(json_get(spec, "nodeAffinity"), "required"), arena);
	volume->bound_by_controller = is_bound_by_controller(tree);
	volume->reason = arena_text(arena, status, "reason");
	volume->phase = (enum volume_phase) name_position(phase_names, json_text(status, "phase"));
	decode_source(spec, arena, volume);
	decode_provisioning(tree, arena, volume);
	decode_mount_options(tree, arena, volume);
	decode_claim_ref(json_get(spec, "claimRef"), arena, volume);
	decode_gid(tree, volume);
	object->persistent_volume = volume;
	return 0;
}
