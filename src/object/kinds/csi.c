/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi - storage.k8s.io/v1 CSIDriver, CSINode and CSIStorageCapacity
 *
 * CSIDriver is decoded for the volume plugin; the others are checked, kept and given out again.
 */
#include "object/kinds.h"

#include "object/kinds/csi_driver.h"
#include "object/schema/schemas.h"
#include "object/select/name_index.h"
#include "object/select/selector_json.h"
#include "object/update.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

enum { DRIVER_NAME_BYTES = 64, NODE_ID_BYTES_MAX = 192, TOKEN_SECONDS_LEAST = 600 };

/* clang-format off */
static const struct schema token_request_schema = SCHEMA_OF(SCHEMA_STORAGE, "TokenRequest",
	"A token that the driver requires with each publish.",
	STRING("audience", REQUIRED, "Audience of the token."),
	INTEGER("expirationSeconds", 0, "How long it is valid: 600 or more; 3600."),
);

static const struct schema csi_driver_spec_schema = SCHEMA_OF(SCHEMA_STORAGE, "CSIDriverSpec",
	"What a CSI driver supports and expects to be passed.",
	BOOL("attachRequired", 0, "Volumes must be attached before a node can have them."),
	STRING("fsGroupPolicy", 0, "Whether fsGroup is applied: ReadWriteOnceWithFSType, File or None."),
	BOOL("podInfoOnMount", 0, "The driver is passed the name, namespace and uid of the volume's pod."),
	BOOL("requiresRepublish", 0, "The driver requires periodic NodePublishVolume calls."),
	BOOL("seLinuxMount", 0, "The driver can mount with an SELinux label."),
	BOOL("serviceAccountTokenInSecrets", 0, "Tokens are handed over as a secret, not as part of the volume's context."),
	BOOL("storageCapacity", 0, "Its capacity is published in CSIStorageCapacity objects."),
	OBJECTS(token_request_schema, "tokenRequests", 0, "Tokens of the pod's service account that the driver requires."),
	STRINGS("volumeLifecycleModes", 0, "Persistent, Ephemeral or both."),
);

const struct schema csi_driver_schema = SCHEMA_OF(SCHEMA_STORAGE, "CSIDriver", NULL,
	SCHEMA_HEAD,
	OBJECT(csi_driver_spec_schema, "spec", REQUIRED, "What the driver supports and expects to be passed."),
);

static const struct schema volume_node_resources_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeNodeResources",
	"How many volumes a driver can attach to a node.",
	INTEGER("count", 0, "So many; absent: no bound."),
);

static const struct schema csi_node_driver_schema = SCHEMA_OF(SCHEMA_STORAGE, "CSINodeDriver",
	"One driver that is registered on a node.",
	OBJECT(volume_node_resources_schema, "allocatable", 0, "How many volumes it can attach here."),
	STRING("name", REQUIRED, "The driver."),
	STRING("nodeID", REQUIRED, "The driver's handle of the node."),
	STRINGS("topologyKeys", 0, "Labels of the node that give its topology."),
);

static const struct schema csi_node_spec_schema = SCHEMA_OF(SCHEMA_STORAGE, "CSINodeSpec",
	"The drivers of a node.",
	OBJECTS_BY(csi_node_driver_schema, "name", "drivers", REQUIRED, "The drivers that are registered here."),
);

const struct schema csi_node_schema = SCHEMA_OF(SCHEMA_STORAGE, "CSINode", NULL,
	SCHEMA_HEAD,
	OBJECT(csi_node_spec_schema, "spec", REQUIRED, "The drivers."),
);

const struct schema csi_storage_capacity_schema = SCHEMA_OF(SCHEMA_STORAGE, "CSIStorageCapacity", NULL,
	SCHEMA_HEAD,
	QUANTITY("capacity", 0, "So much is left in all."),
	QUANTITY("maximumVolumeSize", 0, "So large can one volume be."),
	OBJECT(label_selector_schema, "nodeTopology", 0, "The nodes it is about; absent: none."),
	STRING("storageClassName", REQUIRED, "The class it is about."),
);
/* clang-format on */

int csi_driver_name_validate(const char *name, const struct field *field, struct violations *found)
{
	char lower[DRIVER_NAME_BYTES];
	size_t length = strlen(name);

	if (length == 0)
		return field_required(field, "", found);
	if (length >= sizeof(lower))
		return field_too_long(field, "may not be more than 63 bytes", found);
	for (size_t i = 0; i <= length; i++)
		lower[i] = (char) tolower((unsigned char) name[i]);
	return field_check_subdomain(field, lower, found);
}

/* ---- CSIDriver ---- */

static int default_bool(struct cJSON *spec, const char *key, bool value)
{
	return json_get(spec, key) ? 0 : json_set_bool(spec, key, value);
}

int csi_driver_set_defaults(struct cJSON *tree)
{
	struct cJSON *spec = json_ensure_object(tree, "spec");
	int r = spec ? default_bool(spec, "attachRequired", true) : -ENOMEM;

	if (r == 0)
		r = default_bool(spec, "podInfoOnMount", false);
	if (r == 0)
		r = default_bool(spec, "storageCapacity", false);
	if (r == 0)
		r = default_bool(spec, "requiresRepublish", false);
	if (r == 0)
		r = default_bool(spec, "seLinuxMount", false);
	if (r == 0 && !json_get(spec, "fsGroupPolicy"))
		r = json_set_string(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
	if (r == 0 && json_count(json_get(spec, "volumeLifecycleModes")) == 0) {
		json_remove(spec, "volumeLifecycleModes");
		r = json_set_string(json_add_array(spec, "volumeLifecycleModes"), NULL,
				    "Persistent");
	}
	return r;
}

static int check_tokens(const struct cJSON *list, const struct field *field,
			struct violations *found)
{
	cleanup_name_index struct name_index audiences = { 0 };
	const struct name_entry *again;
	size_t index = 0;
	int r = 0;

	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = field_check_range(FIELD(FIELD_AT(field, index++), "expirationSeconds"),
				      json_get(item, "expirationSeconds"), TOKEN_SECONDS_LEAST,
				      INT64_C(1) << 32, found);
	if (r < 0)
		return r;
	if (name_index_init(&audiences, list, "audience") < 0)
		return violations_broken(found, -ENOMEM);
	again = name_index_duplicate(&audiences);
	return again ? field_duplicate(FIELD(FIELD_AT(field, again->position), "audience"),
				       again->name, found)
		     : 0;
}

int csi_driver_validate(const struct cJSON *tree, struct violations *found)
{
	static const char *const policies[] = { "File", "None", "ReadWriteOnceWithFSType", NULL };
	static const char *const modes[] = { "Ephemeral", "Persistent", NULL };
	const struct cJSON *spec = json_get(tree, "spec");
	const struct cJSON *list = json_get(spec, "volumeLifecycleModes");
	const struct field *field = FIELD(NULL, "spec");
	size_t index = 0;
	int r;

	assert(tree);
	r = csi_driver_name_validate(json_text_at(tree, "metadata.name"),
				     FIELD(FIELD(NULL, "metadata"), "name"), found);
	if (r == 0)
		r = field_check_one_of(FIELD(field, "fsGroupPolicy"),
				       json_text(spec, "fsGroupPolicy"), policies, true, found);
	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = field_check_one_of(FIELD_AT(FIELD(field, "volumeLifecycleModes"), index++),
				       json_string(item, ""), modes, false, found);
	if (r == 0 && json_get(spec, "serviceAccountTokenInSecrets") &&
	    json_count(json_get(spec, "tokenRequests")) == 0)
		r = field_forbidden(FIELD(field, "serviceAccountTokenInSecrets"),
				    "has no meaning without tokenRequests", found);
	if (r == 0)
		r = check_tokens(json_get(spec, "tokenRequests"), FIELD(field, "tokenRequests"),
				 found);
	return r;
}

/* Volumes are mounted by these: a change would leave those without an attachment behind. */
int csi_driver_validate_update(const struct object *old, const struct object *new_object,
			       struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ .path = "spec.attachRequired", .type = VIOLATION_INVALID },
		{ .path = "spec.volumeLifecycleModes", .type = VIOLATION_INVALID },
		{ 0 },
	};

	return update_check_fixed(old, new_object, fixed, found);
}

static enum fs_group_policy decode_policy(const char *policy)
{
	if (strcmp(policy, "ReadWriteOnceWithFSType") == 0)
		return FS_GROUP_POLICY_READ_WRITE_ONCE_WITH_FS_TYPE;
	if (strcmp(policy, "File") == 0)
		return FS_GROUP_POLICY_FILE;
	return strcmp(policy, "None") == 0 ? FS_GROUP_POLICY_NONE : FS_GROUP_POLICY_UNSET;
}

static bool has_mode(const struct cJSON *spec, const char *mode)
{
	return json_has_string(json_get(spec, "volumeLifecycleModes"), mode);
}

static void decode_token_requests(const struct cJSON *list, struct arena *arena,
				  struct csi_driver_spec *driver)
{
	struct csi_token_request *requests =
		arena_array(arena, json_count(list), sizeof(*requests));
	size_t count = 0;

	for (const struct cJSON *item = json_first(list); item && requests;
	     item = json_next(item)) {
		requests[count].audience = arena_text(arena, item, "audience");
		(void) json_int64(json_get(item, "expirationSeconds"),
				  &requests[count++].expiration_seconds);
	}
	driver->token_requests = requests;
	driver->token_request_count = count;
}

int csi_driver_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
		      struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec");
	struct csi_driver_spec *driver = arena_array(arena, 1, sizeof(*driver));

	assert(tree && arena && object->kind == KIND_CSI_DRIVER);
	if (!driver)
		return failed(reterr, -ENOMEM, "cannot decode a CSIDriver");
	*driver = (struct csi_driver_spec){
		.object = object,
		.attach_required = json_bool(json_get(spec, "attachRequired"), true),
		.pod_info_on_mount = json_bool(json_get(spec, "podInfoOnMount"), false),
		.requires_republish = json_bool(json_get(spec, "requiresRepublish"), false),
		.selinux_mount = json_bool(json_get(spec, "seLinuxMount"), false),
		.tokens_in_secrets =
			json_bool(json_get(spec, "serviceAccountTokenInSecrets"), false),
		.storage_capacity = json_bool(json_get(spec, "storageCapacity"), false),
		.is_persistent = has_mode(spec, "Persistent"),
		.is_ephemeral = has_mode(spec, "Ephemeral"),
		.fs_group_policy = decode_policy(json_text(spec, "fsGroupPolicy")),
	};
	decode_token_requests(json_get(spec, "tokenRequests"), arena, driver);
	object->csi_driver = driver;
	return 0;
}

/* ---- CSINode ---- */

static int check_driver(const struct cJSON *driver, const struct field *field,
			struct violations *found)
{
	const char *id = json_text(driver, "nodeID");
	int64_t count;
	int r;

	r = csi_driver_name_validate(json_text(driver, "name"), FIELD(field, "name"), found);
	if (r == 0 && *id == '\0')
		r = field_required(FIELD(field, "nodeID"), "", found);
	else if (r == 0 && strlen(id) > NODE_ID_BYTES_MAX)
		r = field_invalid(FIELD(field, "nodeID"), id, "must be 192 characters or less",
				  found);
	if (r == 0 && json_int64(json_get_path(driver, "allocatable.count"), &count) && count < 0)
		r = field_invalid_number(FIELD(FIELD(field, "allocatable"), "count"), count,
					 "must be greater than or equal to 0", found);
	return r;
}

int csi_node_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *list = json_get_path(tree, "spec.drivers");
	const struct field *field = FIELD(FIELD(NULL, "spec"), "drivers");
	cleanup_name_index struct name_index names = { 0 };
	const struct name_entry *again;
	size_t index = 0;
	int r = 0;

	assert(tree);
	for (const struct cJSON *item = json_first(list); item && r == 0; item = json_next(item))
		r = check_driver(item, FIELD_AT(field, index++), found);
	if (r < 0)
		return r;
	if (name_index_init(&names, list, "name") < 0)
		return violations_broken(found, -ENOMEM);
	again = name_index_duplicate(&names);
	return again ? field_duplicate(FIELD(FIELD_AT(field, again->position), "name"), again->name,
				       found)
		     : 0;
}

/* Drivers come and go, but one that stays says of itself what it said. */
int csi_node_validate_update(const struct object *old, const struct object *new_object,
			     struct violations *found)
{
	cleanup_json struct cJSON *before = object_tree(old), *now = object_tree(new_object);
	cleanup_name_index struct name_index index = { 0 };
	const struct cJSON *list = json_get_path(now, "spec.drivers");

	if (!before || !now ||
	    name_index_init(&index, json_get_path(before, "spec.drivers"), "name") < 0)
		return violations_broken(found, -ENOMEM);
	JSON_FOREACH (item, list) {
		const struct name_entry *known = name_index_find(&index, json_text(item, "name"));

		if (known && !json_equal(known->item, item))
			return field_invalid(FIELD(FIELD(NULL, "spec"), "drivers"), known->name,
					     "field is immutable", found);
	}
	return 0;
}

/* ---- CSIStorageCapacity ---- */

int csi_storage_capacity_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *topology = json_get(tree, "nodeTopology");
	int r;

	assert(tree);
	r = field_check_subdomain(FIELD(NULL, "storageClassName"),
				  json_text(tree, "storageClassName"), found);
	if (r == 0)
		r = field_check_quantity(FIELD(NULL, "capacity"), json_get(tree, "capacity"), false,
					 found);
	if (r == 0)
		r = field_check_quantity(FIELD(NULL, "maximumVolumeSize"),
					 json_get(tree, "maximumVolumeSize"), false, found);
	if (r == 0)
		r = label_selector_validate(topology, FIELD(NULL, "nodeTopology"), found);
	return r;
}

int csi_storage_capacity_validate_update(const struct object *old, const struct object *new_object,
					 struct violations *found)
{
	static const struct fixed_field fixed[] = {
		{ .path = "nodeTopology", .type = VIOLATION_INVALID },
		{ .path = "storageClassName", .type = VIOLATION_INVALID },
		{ 0 },
	};

	return update_check_fixed(old, new_object, fixed, found);
}
