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
#include "object/object_text.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANNOTATION_MOUNT_OPTIONS "volume.beta.kubernetes.io/mount-options"
#define ANNOTATION_GID           "pv.beta.kubernetes.io/gid"

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
static bool check_local(const struct field *local)
{
	const struct field *path = FIELD(local, "path");
	const struct field *affinity = FIELD(local->parent, "nodeAffinity");

	if (*field_text(path) == '\0')
		return field_required(path, "");
	return field_check_no_backsteps(path) &&
	       (affinity->item || field_required(affinity, "Local volume requires node affinity"));
}

static bool check_flex(const struct field *flex)
{
	return field_check_present(FIELD(flex, "driver"));
}

static bool check_csi(const struct field *csi)
{
	if (*json_text(csi->item, "driver") == '\0')
		return field_required(FIELD(csi, "driver"), "");
	return field_check_present(FIELD(csi, "volumeHandle"));
}

/* Sources without a plugin pass: they are stored, and reported when a pod wants one. */
static bool check_source(const struct field *spec)
{
	static const struct {
		const char *key;
		bool (*validate)(const struct field *source);
	} known[] = {
		{ "local", check_local }, { "hostPath", host_path_validate },
		{ "csi", check_csi },     { "flexVolume", check_flex },
		{ "nfs", nfs_validate },
	};
	const struct cJSON *source;

	if (!volume_source_validate(spec, &source_names))
		return false;
	source = volume_source_first(spec->item, &source_names);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].key, json_key(source)) == 0)
			return known[i].validate(FIELD(spec, known[i].key));
	return true;
}

/* One resource, as in Kubernetes: what else would be written there is a mistake. */
static bool check_capacity(const struct field *capacity)
{
	static const char *const supported[] = { "storage", NULL };

	if (json_count(capacity->item) == 0)
		return field_required(capacity, "");
	JSON_FOREACH (item, capacity->item) {
		if (strcmp(json_key(item), "storage") != 0)
			return field_not_supported(capacity, json_key(item), supported);
	}
	return field_check_quantity(FIELD_KEY(capacity, "storage"), true);
}

static bool check_affinity(const struct field *affinity)
{
	const struct field *required = FIELD(affinity, "required");

	if (!affinity->item)
		return true;
	if (!required->item)
		return field_required(required, "must specify required node constraints");
	return node_selector_validate(required);
}

/* Kubernetes takes a reference without a namespace and then never binds it; here it is refused. */
static bool check_claim_ref(const struct field *ref)
{
	return !ref->item || (field_check_subdomain(FIELD(ref, "name")) &&
			      field_check_label(FIELD(ref, "namespace")));
}

/* Recycling empties the directory; of "/" it would empty the node. */
static bool check_recycle(const struct field *spec)
{
	const struct field *policy = FIELD(spec, "persistentVolumeReclaimPolicy");
	const char *path = json_text_at(spec->item, "hostPath.path");

	if (strcmp(field_text(policy), "Recycle") == 0 && *path == '/' &&
	    path[strspn(path, "/")] == '\0')
		return field_forbidden(policy, "may not be 'recycle' for a hostPath mount of '/'");
	return true;
}

/* In Kubernetes' order: with several mistakes the first to be reported is the same. */
bool persistent_volume_validate(const struct field *volume)
{
	static const char *const policies[] = { "Delete", "Recycle", "Retain", NULL };
	const struct field *spec = FIELD(volume, "spec");

	return check_capacity(FIELD(spec, "capacity")) && volume_common_validate(spec) &&
	       field_check_one_of(FIELD(spec, "persistentVolumeReclaimPolicy"), policies, true) &&
	       check_affinity(FIELD(spec, "nodeAffinity")) && check_source(spec) &&
	       check_recycle(spec) && check_claim_ref(FIELD(spec, "claimRef")) &&
	       field_check_one_of(FIELD(volume, "status.phase"), phase_names + VOLUME_PENDING,
				  true);
}

/* ---- updates ---- */

static bool is_source(const struct json_bytes *member)
{
	for (size_t i = 0; no_sources[i]; i++)
		if (json_bytes_are(member, no_sources[i]))
			return false;
	return true;
}

static bool is_fixed(const struct json_bytes *member)
{
	return is_source(member) || json_bytes_are(member, "volumeMode") ||
	       json_bytes_are(member, "nodeAffinity");
}

/* By the texts, so that a binding parses nothing of the old version. */
static bool keeps_fixed(const struct object *old, const struct object *new_object)
{
	struct json_bytes before = object_spec_text(old);
	struct json_bytes now = object_spec_text(new_object);

	return before.length > 0 && now.length > 0 &&
	       json_text_same_members(before.start, now.start, is_fixed);
}

/* What is none of the known members is the source, whatever its name. */
static bool has_sources_of(const struct cJSON *spec, const struct cJSON *other)
{
	JSON_FOREACH (item, other)
		if (is_source(&(struct json_bytes){ json_key(item), strlen(json_key(item)) }) &&
		    !json_equal(json_get(spec, json_key(item)), item))
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

bool persistent_volume_validate_update(const struct object *old, const struct object *new_object,
				       struct violations *found)
{
	static const struct {
		bool (*is_same)(const struct cJSON *old, const struct cJSON *now);
		const char *path, *text;
	} fixed[] = {
		{ same_source, "spec.persistentvolumesource",
		  "spec.persistentvolumesource is immutable after creation" },
		{ same_mode, "spec.volumeMode", "field is immutable" },
		{ same_affinity, "spec.nodeAffinity", "field is immutable" },
	};
	cleanup_update_member struct update_member pair = { 0 };
	int r;

	if (keeps_fixed(old, new_object))
		return true;
	r = update_member_init(&pair, old, new_object, "spec");
	if (r < 0)
		return violations_broken(found, r);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!fixed[i].is_same(pair.old, pair.now) &&
		    !field_forbidden(FIELD(FIELD_ROOT(NULL, found), fixed[i].path), fixed[i].text))
			return false;
	return true;
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

void persistent_volume_note_protection(struct object *object, bool is_protected)
{
	struct persistent_volume *volume =
		(struct persistent_volume *) (uintptr_t) object->persistent_volume;

	volume->has_protection_finalizer = is_protected;
}

void persistent_volume_derive(const struct object *from, struct arena *arena, struct object *object)
{
	struct persistent_volume *volume = arena_array(arena, 1, sizeof(*volume));

	if (!volume)
		return;
	*volume = *from->persistent_volume;
	volume->object = object;
	object->persistent_volume = volume;
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

static void decode_binding(const struct cJSON *tree, struct arena *arena,
			   struct persistent_volume *volume)
{
	const struct cJSON *status = json_get(tree, "status");

	volume->bound_by_controller = is_bound_by_controller(tree);
	volume->reason = arena_text(arena, status, "reason");
	volume->phase = (enum volume_phase) name_position(phase_names, json_text(status, "phase"));
	decode_claim_ref(json_get(json_get(tree, "spec"), "claimRef"), arena, volume);
}

int persistent_volume_decode_binding(const struct cJSON *tree, struct arena *arena,
				     struct object *object)
{
	struct persistent_volume *volume =
		(struct persistent_volume *) (uintptr_t) object->persistent_volume;
	struct persistent_volume decoded = *volume;

	decode_binding(tree, arena, &decoded);
	if (arena_exhausted(arena))
		return -ENOMEM;
	*volume = decoded;
	return 0;
}

int persistent_volume_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			     struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec");
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
	decode_binding(tree, arena, volume);
	decode_source(spec, arena, volume);
	decode_provisioning(tree, arena, volume);
	decode_mount_options(tree, arena, volume);
	decode_gid(tree, volume);
	object->persistent_volume = volume;
	return 0;
}
