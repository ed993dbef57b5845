/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_class - storage.k8s.io/v1 StorageClass; see persistent_volume.h
 */
#include "object/kinds/persistent_volume.h"

#include "object/kinds.h"
#include "object/metadata.h"
#include "object/schema/schemas.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* clang-format off */
const struct schema storage_class_schema = SCHEMA_OF(SCHEMA_STORAGE, "StorageClass", NULL,
	SCHEMA_HEAD,
	BOOL("allowVolumeExpansion", 0, "Its claims may be expanded."),
	OBJECTS(topology_selector_term_schema, "allowedTopologies", 0, "Where its volumes may be provisioned."),
	STRINGS("mountOptions", 0, "Options of the mounts of its volumes."),
	STRING_MAP("parameters", 0, "Parameters for the provisioner."),
	STRING("provisioner", REQUIRED, "Who makes its volumes."),
	STRING("reclaimPolicy", 0, "What happens to its volumes when their claims are deleted: Delete or Retain."),
	STRING("volumeBindingMode", 0, "Immediate, or WaitForFirstConsumer: when a pod wants it."),
);
/* clang-format on */

/* Kubernetes' own; a class says what becomes of volumes that do not say. */
int storage_class_set_defaults(struct cJSON *tree)
{
	int r = 0;

	if (!json_get(tree, "reclaimPolicy"))
		r = json_set_string(tree, "reclaimPolicy", "Delete");
	if (r == 0 && !json_get(tree, "volumeBindingMode"))
		r = json_set_string(tree, "volumeBindingMode", "Immediate");
	return r;
}

bool storage_class_validate(const struct field *class)
{
	static const char *const policies[] = { "Delete", "Retain", NULL };
	static const char *const modes[] = { "Immediate", "WaitForFirstConsumer", NULL };

	if (*json_text(class->item, "provisioner") == '\0')
		return field_required(FIELD(class, "provisioner"), "");
	return field_check_one_of(FIELD(class, "reclaimPolicy"), policies, false) &&
	       field_check_one_of(FIELD(class, "volumeBindingMode"), modes, false);
}

/* Volumes were made by these: a change would speak of volumes that do not exist. */
const struct fixed_field storage_class_fixed[] = {
	{ "provisioner", VIOLATION_FORBIDDEN, "updates to provisioner are forbidden." },
	{ "parameters", VIOLATION_FORBIDDEN, "updates to parameters are forbidden." },
	{ "reclaimPolicy", VIOLATION_FORBIDDEN, "updates to reclaimPolicy are forbidden." },
	{ "volumeBindingMode", VIOLATION_FORBIDDEN, "field is immutable" },
	{ 0 },
};

/* The beta annotation counts as well, as in Kubernetes. */
static bool is_default(const struct cJSON *tree)
{
	const char *stable =
		metadata_annotation(tree, "storageclass.kubernetes.io/is-default-class");
	const char *beta =
		metadata_annotation(tree, "storageclass.beta.kubernetes.io/is-default-class");

	return (stable && strcmp(stable, "true") == 0) || (beta && strcmp(beta, "true") == 0);
}

int storage_class_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			 struct failure *reterr)
{
	struct storage_class *class = arena_array(arena, 1, sizeof(*class));
	const char *policy = json_text(tree, "reclaimPolicy");
	const char *mode = json_text(tree, "volumeBindingMode");

	assert(tree && arena && object->kind == KIND_STORAGE_CLASS);
	if (!class)
		return failed(reterr, -ENOMEM, "cannot decode a class");
	*class = (struct storage_class){
		.object = object,
		.provisioner = arena_text(arena, tree, "provisioner"),
		.reclaim_policy = strcmp(policy, "Retain") == 0 ? RECLAIM_RETAIN : RECLAIM_DELETE,
		.waits_for_first_consumer = strcmp(mode, "WaitForFirstConsumer") == 0,
		.is_default = is_default(tree),
		.allow_volume_expansion = json_bool(json_get(tree, "allowVolumeExpansion"), false),
	};
	object->storage_class = class;
	return 0;
}
