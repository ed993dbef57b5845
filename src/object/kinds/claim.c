/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim - v1.PersistentVolumeClaim; see persistent_volume.h and claim_spec.h
 */
#include "object/kinds/claim_spec.h"

#include "base/cleanup.h"
#include "base/fnv1a.h"
#include "object/kinds.h"
#include "object/metadata.h"
#include "object/select/selector_json.h"
#include "object/update.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANNOTATION_BOUND_BY_CONTROLLER "pv.kubernetes.io/bound-by-controller"
#define ANNOTATION_BIND_COMPLETED      "pv.kubernetes.io/bind-completed"
#define ANNOTATION_CLASS               "volume.beta.kubernetes.io/storage-class"

static const char *const phase_names[] = {
	[CLAIM_PHASE_UNSET] = "",
	[CLAIM_PENDING] = "Pending",
	[CLAIM_BOUND] = "Bound",
	[CLAIM_LOST] = "Lost",
	NULL,
};
static_assert(ARRAY_SIZE(phase_names) == CLAIM_LOST + 2, "name every phase");

static const struct {
	const char *name;
	enum access_mode mode;
} access_mode_table[] = {
	{ "ReadOnlyMany", ACCESS_READ_ONLY_MANY },
	{ "ReadWriteMany", ACCESS_READ_WRITE_MANY },
	{ "ReadWriteOnce", ACCESS_READ_WRITE_ONCE },
	{ "ReadWriteOncePod", ACCESS_READ_WRITE_ONCE_POD },
};

/* ---- what claims and volumes have in common ---- */

static unsigned int access_mode(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(access_mode_table); i++) {
		if (strcmp(access_mode_table[i].name, name) == 0)
			return access_mode_table[i].mode;
	}
	return 0;
}

enum access_mode access_mode_decode(const struct cJSON *mode)
{
	return (enum access_mode) access_mode(json_string(mode, ""));
}

unsigned int access_modes_decode(const struct cJSON *modes)
{
	unsigned int set = 0;

	JSON_FOREACH (item, modes)
		set |= access_mode(json_string(item, ""));
	return set;
}

/* Only one pod may have it, or several nodes: both at once cannot be kept. */
static bool check_access_modes(const struct field *modes)
{
	const char *names[ARRAY_SIZE(access_mode_table) + 1] = { 0 };
	unsigned int set = access_modes_decode(modes->item);

	for (size_t i = 0; i < ARRAY_SIZE(access_mode_table); i++)
		names[i] = access_mode_table[i].name;
	if (json_count(modes->item) == 0)
		return field_required(modes, "at least 1 access mode is required");
	FIELD_FOREACH (at, modes)
		if (!field_check_one_of(&at, names, false))
			return false;
	if ((set & ACCESS_READ_WRITE_ONCE_POD) && set != ACCESS_READ_WRITE_ONCE_POD)
		return field_forbidden(modes,
				       "may not use ReadWriteOncePod with other access modes");
	return true;
}

enum volume_mode volume_mode_decode(const struct cJSON *mode)
{
	const char *name = json_string(mode, "");

	if (*name == '\0')
		return VOLUME_MODE_UNSET;
	return strcmp(name, "Block") == 0 ? VOLUME_MODE_BLOCK : VOLUME_MODE_FILESYSTEM;
}

const char *volume_mode_name(enum volume_mode mode)
{
	static const char *const names[] = {
		[VOLUME_MODE_UNSET] = "",
		[VOLUME_MODE_FILESYSTEM] = "Filesystem",
		[VOLUME_MODE_BLOCK] = "Block",
	};

	assert((size_t) mode < ARRAY_SIZE(names));
	return names[mode];
}

bool volume_common_validate(const struct field *spec)
{
	static const char *const modes[] = { "Block", "Filesystem", NULL };
	const struct field *class = FIELD(spec, "storageClassName");

	return check_access_modes(FIELD(spec, "accessModes")) &&
	       field_check_one_of(FIELD(spec, "volumeMode"), modes, true) &&
	       (*field_text(class) == '\0' || field_check_subdomain(class));
}

/* An absent one is zero and not set. */
struct quantity quantity_decode(const struct cJSON *item)
{
	struct quantity quantity = { 0 };

	if (json_is_string(item))
		(void) quantity_parse(json_string(item, ""), &quantity, NULL); /* validated */
	return quantity;
}

const char *claim_move_name(const struct object *claim, char buffer[CLAIM_MOVE_NAME_BYTES])
{
	(void) snprintf(buffer, CLAIM_MOVE_NAME_BYTES, "pvc-%s-%016" PRIx64, claim->meta.uid,
			fnv1a_add_text(FNV1A_FIRST, claim->claim->volume_name));
	return buffer;
}

const char *claim_move_path(const struct persistent_volume_claim *claim)
{
	return claim->move_to[0] == '/' ? claim->move_to : NULL;
}

const char *storage_class_of(const struct cJSON *tree)
{
	const char *annotation = metadata_annotation(tree, ANNOTATION_CLASS);

	if (annotation)
		return annotation;
	return json_string(json_get(json_get(tree, "spec"), "storageClassName"), NULL);
}

bool is_bound_by_controller(const struct cJSON *tree)
{
	return metadata_annotation(tree, ANNOTATION_BOUND_BY_CONTROLLER) != NULL;
}

/* ---- the spec ---- */

/* The class is no default here: which one is, is decided when the claim is made. */
int claim_spec_set_defaults(struct cJSON *spec)
{
	int r = data_source_set_defaults(spec);

	if (r < 0 || json_get(spec, "volumeMode"))
		return r;
	return json_set_string(spec, "volumeMode", "Filesystem");
}

bool claim_spec_validate(const struct field *spec)
{
	const struct field *storage = FIELD_KEY(FIELD(spec, "resources.requests"), "storage");

	if (!volume_common_validate(spec))
		return false;
	if (!storage->item)
		return field_required(storage, "");
	return field_check_quantity(storage, true) &&
	       label_selector_validate(FIELD(spec, "selector")) && data_source_validate(spec);
}

/* ---- the kind ---- */

int claim_set_defaults(struct cJSON *tree)
{
	struct cJSON *spec = json_ensure_object(tree, "spec");

	return spec ? claim_spec_set_defaults(spec) : -ENOMEM;
}

bool claim_validate(const struct field *claim)
{
	return claim_spec_validate(FIELD(claim, "spec")) &&
	       field_check_one_of(FIELD(claim, "status.phase"), phase_names + CLAIM_PENDING,
				  true) &&
	       field_check_quantity(FIELD_KEY(FIELD(claim, "status.capacity"), "storage"), false);
}

/* What may still be decided after creation: the volume, the class if none was named, a larger
 * request. */
static int hide_mutable(struct cJSON *spec, const struct cJSON *old_spec)
{
	struct cJSON *resources;

	if (*json_text(old_spec, "volumeName") == '\0')
		json_remove(spec, "volumeName");
	if (!json_get(old_spec, "storageClassName"))
		json_remove(spec, "storageClassName");
	json_remove(spec, "volumeAttributesClassName");
	resources = json_ensure_object(spec, "resources");
	if (!resources)
		return -ENOMEM;
	json_remove(resources, "requests");
	return 0;
}

static int hide_moved(struct cJSON *spec, const struct cJSON *old_spec)
{
	json_remove(spec, "volumeName");
	json_remove(spec, "storageClassName");
	return hide_mutable(spec, old_spec);
}

/* The end of a move: the claim gets the one volume that was made for it, and the class that it was
 * moved to. */
static bool is_end_of_move(const struct object *old, const struct object *new_object)
{
	const struct persistent_volume_claim *before = old->claim, *now = new_object->claim;
	char name[CLAIM_MOVE_NAME_BYTES];

	return before->move_to[0] && !now->move_to[0] &&
	       strcmp(now->storage_class,
		      claim_move_path(before) ? before->storage_class : before->move_to) == 0 &&
	       strcmp(now->volume_name, claim_move_name(old, name)) == 0;
}

static bool refuse_spec(struct violations *found)
{
	return field_forbidden(FIELD(FIELD_ROOT(NULL, found), "spec"),
			       "spec is immutable after creation except resources.requests and "
			       "volumeAttributesClassName for bound claims");
}

bool claim_check_rebound(const struct object *old, const struct object *new_object,
			 struct violations *found)
{
	return !is_end_of_move(old, new_object) || refuse_spec(found);
}

bool claim_validate_update(const struct object *old, const struct object *new_object,
			   struct violations *found)
{
	const struct persistent_volume_claim *before = old->claim, *now = new_object->claim;
	const struct field *request =
		FIELD_KEY(FIELD(FIELD_ROOT(NULL, found), "spec.resources.requests"), "storage");
	cleanup_update_member struct update_member pair;
	bool same = false;
	int r = update_member_init(&pair, old, new_object, "spec");

	if (r == 0)
		r = update_is_same(
			&pair, is_end_of_move(old, new_object) ? hide_moved : hide_mutable, &same);
	if (r < 0)
		return violations_broken(found, r);
	if (!same)
		return refuse_spec(found);
	if (quantity_compare(&now->request, &before->request) < 0 &&
	    quantity_compare(&now->request, &before->status_capacity) < 0)
		return field_forbidden(request, "field can not be less than status.capacity");
	return true;
}

bool has_finalizer(const struct cJSON *metadata, const char *name)
{
	return json_has_string(json_get(metadata, "finalizers"), name);
}

/* The word of before 1.22 counts where the present one is missing. */
static const char *storage_provisioner(const struct cJSON *tree)
{
	const char *name = metadata_annotation(tree, ANNOTATION_PROVISIONER);

	return name ? name : metadata_annotation(tree, ANNOTATION_PROVISIONER_BETA);
}

static const char *controller_owner(const struct cJSON *metadata)
{
	const struct cJSON *owners = json_get(metadata, "ownerReferences");

	JSON_FOREACH (item, owners) {
		if (json_bool(json_get(item, "controller"), false))
			return json_text(item, "uid");
	}
	return "";
}

const char *claim_phase_name(enum claim_phase phase)
{
	assert((size_t) phase + 1 < ARRAY_SIZE(phase_names));
	return phase_names[phase];
}

/* A phase of a later Kubernetes counts as none. */
static enum claim_phase phase_decode(const struct cJSON *item)
{
	int phase = 0;

	while (phase_names[phase] && strcmp(phase_names[phase], json_string(item, "")) != 0)
		phase++;
	return phase_names[phase] ? (enum claim_phase) phase : CLAIM_PHASE_UNSET;
}

void claim_note_protection(struct object *object, bool is_protected)
{
	struct persistent_volume_claim *claim =
		(struct persistent_volume_claim *) (uintptr_t) object->claim;

	claim->has_protection_finalizer = is_protected;
}

void claim_derive(const struct object *from, struct arena *arena, struct object *object)
{
	struct persistent_volume_claim *claim = arena_array(arena, 1, sizeof(*claim));

	if (!claim)
		return;
	*claim = *from->claim;
	claim->object = object;
	object->claim = claim;
}

static void decode_binding(const struct cJSON *tree, struct arena *arena,
			   struct persistent_volume_claim *claim)
{
	const struct cJSON *status = json_get(tree, "status");
	const struct cJSON *modify = json_get(status, "modifyVolumeStatus");

	claim->volume_name = arena_text(arena, json_get(tree, "spec"), "volumeName");
	claim->attributes_current = arena_text(arena, status, "currentVolumeAttributesClassName");
	claim->modify_status = arena_text(arena, modify, "status");
	claim->modify_target = arena_text(arena, modify, "targetVolumeAttributesClassName");
	claim->status_capacity = quantity_decode(json_get(json_get(status, "capacity"), "storage"));
	claim->phase = phase_decode(json_get(status, "phase"));
	claim->bind_completed = metadata_annotation(tree, ANNOTATION_BIND_COMPLETED) != NULL;
	claim->bound_by_controller = is_bound_by_controller(tree);
}

int claim_decode_binding(const struct cJSON *tree, struct arena *arena, struct object *object)
{
	struct persistent_volume_claim *claim =
		(struct persistent_volume_claim *) (uintptr_t) object->claim;
	struct persistent_volume_claim decoded = *claim;

	decode_binding(tree, arena, &decoded);
	if (arena_exhausted(arena))
		return -ENOMEM;
	*claim = decoded;
	return 0;
}

int claim_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
		 struct failure *reterr)
{
	const struct cJSON *metadata = json_get(tree, "metadata"), *spec = json_get(tree, "spec");
	const struct cJSON *requests = json_get(json_get(spec, "resources"), "requests");
	struct persistent_volume_claim *claim = arena_array(arena, 1, sizeof(*claim));

	if (!claim)
		return failed(reterr, -ENOMEM, "cannot decode a claim");
	*claim = (struct persistent_volume_claim){
		.object = object,
		.has_storage_class = storage_class_of(tree) != NULL,
		.storage_class = arena_string(arena, storage_class_of(tree)),
		.attributes_class = arena_text(arena, spec, "volumeAttributesClassName"),
		.access_modes = access_modes_decode(json_get(spec, "accessModes")),
		.mode = volume_mode_decode(json_get(spec, "volumeMode")),
		.request = quantity_decode(json_get(requests, "storage")),
		.selector = label_selector_decode(json_get(spec, "selector"), arena),
		.has_protection_finalizer = has_finalizer(metadata, FINALIZER_CLAIM),
		.controller_owner_uid = arena_string(arena, controller_owner(metadata)),
		.data_source = data_source_decode(spec, arena),
		.selected_node =
			arena_string(arena, metadata_annotation(tree, ANNOTATION_SELECTED_NODE)),
		.storage_provisioner = arena_string(arena, storage_provisioner(tree)),
		.deleted_by = arena_string(arena, metadata_annotation(tree, ANNOTATION_DELETED_BY)),
		.move_to = arena_string(arena, metadata_annotation(tree, ANNOTATION_MOVE_TO)),
	};
	decode_binding(tree, arena, claim);
	object->claim = claim;
	return 0;
}
