/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_node - v1.Node
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

static const struct schema config_map_node_config_source_schema = {
	.name = "ConfigMapNodeConfigSource",
	.fields = {
		STRING("kubeletConfigKey", REQUIRED),
		STRING("name", REQUIRED),
		STRING("namespace", REQUIRED),
		STRING("resourceVersion"),
		STRING("uid"),
		{ 0 },
	},
};

static const struct schema node_config_source_schema = {
	.name = "NodeConfigSource",
	.fields = {
		OBJECT(config_map_node_config_source_schema, "configMap"),
		{ 0 },
	},
};

static const struct schema taint_schema = {
	.name = "Taint",
	.description = "What keeps pods off a node that do not tolerate it.",
	.fields = {
		STRING("effect", REQUIRED),
		STRING("key", REQUIRED),
		TIME("timeAdded"),
		STRING("value"),
		{ 0 },
	},
};

static const struct schema node_spec_schema = {
	.name = "NodeSpec",
	.description = "What a node is to be.",
	.fields = {
		OBJECT(node_config_source_schema, "configSource"),
		STRING("externalID"),
		STRING("podCIDR"),
		STRING_SET("podCIDRs"),
		STRING("providerID", 0, "The cloud's own name for it."),
		OBJECTS(taint_schema, "taints", 0, "What keeps pods off that do not tolerate it."),
		BOOL("unschedulable", 0, "No new pods, please."),
		{ 0 },
	},
};

static const struct schema node_address_schema = {
	.name = "NodeAddress",
	.description = "One address of a node.",
	.fields = {
		STRING("address", REQUIRED),
		STRING("type", REQUIRED),
		{ 0 },
	},
};

static const struct schema node_condition_schema = {
	.name = "NodeCondition",
	.description = "One thing that is true of a node, or is not.",
	.fields = {
		TIME("lastHeartbeatTime"),
		TIME("lastTransitionTime"),
		STRING("message"),
		STRING("reason"),
		STRING("status", REQUIRED),
		STRING("type", REQUIRED),
		{ 0 },
	},
};

static const struct schema node_config_status_schema = {
	.name = "NodeConfigStatus",
	.fields = {
		OBJECT(node_config_source_schema, "active"),
		OBJECT(node_config_source_schema, "assigned"),
		STRING("error"),
		OBJECT(node_config_source_schema, "lastKnownGood"),
		{ 0 },
	},
};

static const struct schema daemon_endpoint_schema = {
	.name = "DaemonEndpoint",
	.fields = {
		INTEGER("Port", REQUIRED),
		{ 0 },
	},
};

static const struct schema node_daemon_endpoints_schema = {
	.name = "NodeDaemonEndpoints",
	.fields = {
		OBJECT(daemon_endpoint_schema, "kubeletEndpoint"),
		{ 0 },
	},
};

static const struct schema node_features_schema = {
	.name = "NodeFeatures",
	.fields = {
		BOOL("supplementalGroupsPolicy"),
		{ 0 },
	},
};

static const struct schema container_image_schema = {
	.name = "ContainerImage",
	.fields = {
		STRINGS("names"),
		INTEGER("sizeBytes"),
		{ 0 },
	},
};

static const struct schema node_system_info_schema = {
	.name = "NodeSystemInfo",
	.description = "Kernel, operating system and identity of a node.",
	.fields = {
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
		{ 0 },
	},
};

static const struct schema node_runtime_handler_features_schema = {
	.name = "NodeRuntimeHandlerFeatures",
	.fields = {
		BOOL("recursiveReadOnlyMounts"),
		BOOL("userNamespaces"),
		{ 0 },
	},
};

static const struct schema node_runtime_handler_schema = {
	.name = "NodeRuntimeHandler",
	.fields = {
		OBJECT(node_runtime_handler_features_schema, "features"),
		STRING("name"),
		{ 0 },
	},
};

static const struct schema attached_volume_schema = {
	.name = "AttachedVolume",
	.description = "A volume that is attached to a node.",
	.fields = {
		STRING("devicePath", REQUIRED),
		STRING("name", REQUIRED),
		{ 0 },
	},
};

static const struct schema node_status_schema = {
	.name = "NodeStatus",
	.description = "What a node is and how it does.",
	.fields = {
		OBJECTS_BY(node_address_schema, "type", "addresses", 0, "Where it can be reached."),
		QUANTITY_MAP("allocatable", 0, "What pods may use of it."),
		QUANTITY_MAP("capacity", 0, "What it has."),
		OBJECTS_BY(node_condition_schema, "type", "conditions", 0, "What is true of it, or is not."),
		OBJECT(node_config_status_schema, "config"),
		OBJECT(node_daemon_endpoints_schema, "daemonEndpoints"),
		OBJECT(node_features_schema, "features"),
		OBJECTS(container_image_schema, "images"),
		OBJECT(node_system_info_schema, "nodeInfo", 0, "Kernel, operating system and identity."),
		STRING("phase"),
		OBJECTS(node_runtime_handler_schema, "runtimeHandlers"),
		OBJECTS(attached_volume_schema, "volumesAttached", 0, "Volumes that are attached here."),
		STRINGS("volumesInUse", 0, "Volumes that pods here have, by their unique names."),
		{ 0 },
	},
};

const struct schema node_schema = {
	.name = "Node",
	.fields = {
		SCHEMA_HEAD,
		OBJECT(node_spec_schema, "spec", 0, "What it is to be."),
		OBJECT(node_status_schema, "status", 0, "What it is and how it does."),
		{ 0 },
	},
};
