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

bool csi_driver_name_validate(const struct field *driver)
{
	const char *name = field_text(driver);
	char lower[DRIVER_NAME_BYTES];
	size_t length = strlen(name);

	if (length == 0)
		return field_required(driver, "");
	if (length >= sizeof(lower))
		return field_too_long(driver, "may not be more than 63 bytes");
	for (size_t i = 0; i <= length; i++)
		lower[i] = (char) tolower((unsigned char) name[i]);
	return field_check_subdomain_in(driver, lower);
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

static bool check_token(const struct field *token)
{
	return field_check_range(FIELD(token, "expirationSeconds"), TOKEN_SECONDS_LEAST,
				 INT64_C(1) << 32);
}

static bool check_mode(const struct field *mode)
{
	static const char *const modes[] = { "Ephemeral", "Persistent", NULL };

	return field_check_one_of(mode, modes, false);
}

bool csi_driver_validate(const struct field *driver)
{
	static const char *const policies[] = { "File", "None", "ReadWriteOnceWithFSType", NULL };
	const struct field *spec = FIELD(driver, "spec");
	const struct field *tokens = FIELD(spec, "tokenRequests");
	const struct field *in_secrets = FIELD(spec, "serviceAccountTokenInSecrets");

	if (!csi_driver_name_validate(FIELD(driver, "metadata.name")) ||
	    !field_check_one_of(FIELD(spec, "fsGroupPolicy"), policies, true) ||
	    !field_check_each(FIELD(spec, "volumeLifecycleModes"), check_mode))
		return false;
	if (in_secrets->item && json_count(tokens->item) == 0 &&
	    !field_forbidden(in_secrets, "has no meaning without tokenRequests"))
		return false;
	return field_check_each(tokens, check_token) && field_check_unique(tokens, "audience");
}

/* Volumes are mounted by these: a change would leave those without an attachment behind. */
const struct fixed_field csi_driver_fixed[] = {
	{ .path = "spec.attachRequired", .type = VIOLATION_INVALID },
	{ .path = "spec.volumeLifecycleModes", .type = VIOLATION_INVALID },
	{ 0 },
};

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

static bool check_driver(const struct field *driver)
{
	const struct field *id = FIELD(driver, "nodeID"),
			   *count = FIELD(driver, "allocatable.count");
	int64_t number;

	if (!csi_driver_name_validate(FIELD(driver, "name")) || !field_check_present(id))
		return false;
	if (strlen(field_text(id)) > NODE_ID_BYTES_MAX &&
	    !field_invalid(id, field_text(id), "must be 192 characters or less"))
		return false;
	return !json_int64(count->item, &number) || number >= 0 ||
	       field_invalid_number(count, number, "must be greater than or equal to 0");
}

bool csi_node_validate(const struct field *node)
{
	const struct field *drivers = FIELD(node, "spec.drivers");

	return field_check_each(drivers, check_driver) && field_check_unique(drivers, "name");
}

/* Drivers come and go, but one that stays says of itself what it said. */
bool csi_node_validate_update(const struct object *old, const struct object *new_object,
			      struct violations *found)
{
	cleanup_json struct cJSON *before = object_tree(old), *now = object_tree(new_object);
	cleanup_name_index struct name_index index = { 0 };
	const struct field *drivers = FIELD(FIELD_ROOT(now, found), "spec.drivers");

	if (!before || !now ||
	    name_index_init(&index, json_get_path(before, "spec.drivers"), "name") < 0)
		return violations_broken(found, -ENOMEM);
	JSON_FOREACH (item, drivers->item) {
		const struct name_entry *known = name_index_find(&index, json_text(item, "name"));

		if (known && !json_equal(known->item, item))
			return field_invalid(drivers, known->name, "field is immutable");
	}
	return true;
}

/* ---- CSIStorageCapacity ---- */

bool csi_storage_capacity_validate(const struct field *capacity)
{
	return field_check_subdomain(FIELD(capacity, "storageClassName")) &&
	       field_check_quantity(FIELD(capacity, "capacity"), false) &&
	       field_check_quantity(FIELD(capacity, "maximumVolumeSize"), false) &&
	       label_selector_validate(FIELD(capacity, "nodeTopology"));
}

const struct fixed_field csi_storage_capacity_fixed[] = {
	{ .path = "nodeTopology", .type = VIOLATION_INVALID },
	{ .path = "storageClassName", .type = VIOLATION_INVALID },
	{ 0 },
};
