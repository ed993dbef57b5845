/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_node - v1.Node
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema config_map_node_config_source_schema = SCHEMA("ConfigMapNodeConfigSource", NULL,
	STRING("kubeletConfigKey", REQUIRED),
	STRING("name", REQUIRED),
	STRING("namespace", REQUIRED),
	STRING("resourceVersion"),
	STRING("uid"),
);

static const struct schema node_config_source_schema = SCHEMA("NodeConfigSource", NULL,
	OBJECT(config_map_node_config_source_schema, "configMap"),
);

static const struct schema taint_schema = SCHEMA("Taint",
	"What keeps pods off a node that do not tolerate it.",
	STRING("effect", REQUIRED),
	STRING("key", REQUIRED),
	TIME("timeAdded"),
	STRING("value"),
);

static const struct schema node_spec_schema = SCHEMA("NodeSpec", "The desired state of a node.",
	OBJECT(node_config_source_schema, "configSource"),
	STRING("externalID"),
	STRING("podCIDR"),
	STRING_SET("podCIDRs"),
	STRING("providerID", 0, "The cloud's own name for it."),
	OBJECTS(taint_schema, "taints", 0, "What keeps pods off that do not tolerate it."),
	BOOL("unschedulable", 0, "No new pods are scheduled here."),
);

static const struct schema node_address_schema = SCHEMA("NodeAddress", "One address of a node.",
	STRING("address", REQUIRED),
	STRING("type", REQUIRED),
);

static const struct schema node_condition_schema = SCHEMA("NodeCondition",
	"A condition of a node.",
	TIME("lastHeartbeatTime"),
	TIME("lastTransitionTime"),
	STRING("message"),
	STRING("reason"),
	STRING("status", REQUIRED),
	STRING("type", REQUIRED),
);

static const struct schema node_config_status_schema = SCHEMA("NodeConfigStatus", NULL,
	OBJECT(node_config_source_schema, "active"),
	OBJECT(node_config_source_schema, "assigned"),
	STRING("error"),
	OBJECT(node_config_source_schema, "lastKnownGood"),
);

static const struct schema daemon_endpoint_schema = SCHEMA("DaemonEndpoint", NULL,
	INTEGER("Port", REQUIRED),
);

static const struct schema node_daemon_endpoints_schema = SCHEMA("NodeDaemonEndpoints", NULL,
	OBJECT(daemon_endpoint_schema, "kubeletEndpoint"),
);

static const struct schema node_features_schema = SCHEMA("NodeFeatures", NULL,
	BOOL("supplementalGroupsPolicy"),
);

static const struct schema container_image_schema = SCHEMA("ContainerImage", NULL,
	STRINGS("names"),
	INTEGER("sizeBytes"),
);

static const struct schema node_system_info_schema = SCHEMA("NodeSystemInfo",
	"Kernel, operating system and identity of a node.",
	STRING("architecture", REQUIRED),
	STRING("bootID", REQUIRED),
	STRING("containerRuntimeVersion", REQUIRED),
	STRING("kernelVersion", REQUIRED),
	STRING("kubeProxyVersion", REQUIRED),
	STRING("kubeletVersion", REQUIRED),
	STRING("machineID", REQUIRED),
	STRING("operatingSystem", REQUIRED),
	STRING("osImage", REQUIRED),
	STRING("systemUUID", REQUIRED),
);

static const struct schema node_runtime_handler_features_schema = SCHEMA("NodeRuntimeHandlerFeatures", NULL,
	BOOL("recursiveReadOnlyMounts"),
	BOOL("userNamespaces"),
);

static const struct schema node_runtime_handler_schema = SCHEMA("NodeRuntimeHandler", NULL,
	OBJECT(node_runtime_handler_features_schema, "features"),
	STRING("name"),
);

static const struct schema attached_volume_schema = SCHEMA("AttachedVolume",
	"A volume that is attached to a node.",
	STRING("devicePath", REQUIRED),
	STRING("name", REQUIRED),
);

static const struct schema node_status_schema = SCHEMA("NodeStatus",
	"Identity and state of a node.",
	OBJECTS_BY(node_address_schema, "type", "addresses", 0, "Where it can be reached."),
	QUANTITY_MAP("allocatable", 0, "What pods may use of it."),
	QUANTITY_MAP("capacity", 0, "What it has."),
	OBJECTS_BY(node_condition_schema, "type", "conditions", 0, "Its conditions."),
	OBJECT(node_config_status_schema, "config"),
	OBJECT(node_daemon_endpoints_schema, "daemonEndpoints"),
	OBJECT(node_features_schema, "features"),
	OBJECTS(container_image_schema, "images"),
	OBJECT(node_system_info_schema, "nodeInfo", 0, "Kernel, operating system and identity."),
	STRING("phase"),
	OBJECTS(node_runtime_handler_schema, "runtimeHandlers"),
	OBJECTS(attached_volume_schema, "volumesAttached", 0, "Volumes that are attached here."),
	STRINGS("volumesInUse", 0, "Volumes that pods here have, by their unique names."),
);

const struct schema node_schema = SCHEMA("Node", NULL,
	SCHEMA_HEAD,
	OBJECT(node_spec_schema, "spec", 0, "Desired state."),
	OBJECT(node_status_schema, "status", 0, "Its identity and state."),
);
