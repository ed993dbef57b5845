/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_node - v1.Node
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape config_map_node_config_source_shape = {
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

static const struct shape node_config_source_shape = {
	.name = "NodeConfigSource",
	.fields = {
		OBJECT(config_map_node_config_source_shape, "configMap"),
		{ 0 },
	},
};

static const struct shape taint_shape = {
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

static const struct shape node_spec_shape = {
	.name = "NodeSpec",
	.description = "What a node is to be.",
	.fields = {
		OBJECT(node_config_source_shape, "configSource"),
		STRING("externalID"),
		STRING("podCIDR"),
		STRING_SET("podCIDRs"),
		STRING("providerID", 0, "The cloud's own name for it."),
		OBJECTS(taint_shape, "taints", 0, "What keeps pods off that do not tolerate it."),
		BOOL("unschedulable", 0, "No new pods, please."),
		{ 0 },
	},
};

static const struct shape node_address_shape = {
	.name = "NodeAddress",
	.description = "One address of a node.",
	.fields = {
		STRING("address", REQUIRED),
		STRING("type", REQUIRED),
		{ 0 },
	},
};

static const struct shape node_condition_shape = {
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

static const struct shape node_config_status_shape = {
	.name = "NodeConfigStatus",
	.fields = {
		OBJECT(node_config_source_shape, "active"),
		OBJECT(node_config_source_shape, "assigned"),
		STRING("error"),
		OBJECT(node_config_source_shape, "lastKnownGood"),
		{ 0 },
	},
};

static const struct shape daemon_endpoint_shape = {
	.name = "DaemonEndpoint",
	.fields = {
		INTEGER("Port", REQUIRED),
		{ 0 },
	},
};

static const struct shape node_daemon_endpoints_shape = {
	.name = "NodeDaemonEndpoints",
	.fields = {
		OBJECT(daemon_endpoint_shape, "kubeletEndpoint"),
		{ 0 },
	},
};

static const struct shape node_features_shape = {
	.name = "NodeFeatures",
	.fields = {
		BOOL("supplementalGroupsPolicy"),
		{ 0 },
	},
};

static const struct shape container_image_shape = {
	.name = "ContainerImage",
	.fields = {
		STRINGS("names"),
		INTEGER("sizeBytes"),
		{ 0 },
	},
};

static const struct shape node_system_info_shape = {
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

static const struct shape node_runtime_handler_features_shape = {
	.name = "NodeRuntimeHandlerFeatures",
	.fields = {
		BOOL("recursiveReadOnlyMounts"),
		BOOL("userNamespaces"),
		{ 0 },
	},
};

static const struct shape node_runtime_handler_shape = {
	.name = "NodeRuntimeHandler",
	.fields = {
		OBJECT(node_runtime_handler_features_shape, "features"),
		STRING("name"),
		{ 0 },
	},
};

static const struct shape attached_volume_shape = {
	.name = "AttachedVolume",
	.description = "A volume that is attached to a node.",
	.fields = {
		STRING("devicePath", REQUIRED),
		STRING("name", REQUIRED),
		{ 0 },
	},
};

static const struct shape node_status_shape = {
	.name = "NodeStatus",
	.description = "What a node is and how it does.",
	.fields = {
		OBJECTS_BY(node_address_shape, "type", "addresses", 0, "Where it can be reached."),
		QUANTITY_MAP("allocatable", 0, "What pods may use of it."),
		QUANTITY_MAP("capacity", 0, "What it has."),
		OBJECTS_BY(node_condition_shape, "type", "conditions", 0, "What is true of it, or is not."),
		OBJECT(node_config_status_shape, "config"),
		OBJECT(node_daemon_endpoints_shape, "daemonEndpoints"),
		OBJECT(node_features_shape, "features"),
		OBJECTS(container_image_shape, "images"),
		OBJECT(node_system_info_shape, "nodeInfo", 0, "Kernel, operating system and identity."),
		STRING("phase"),
		OBJECTS(node_runtime_handler_shape, "runtimeHandlers"),
		OBJECTS(attached_volume_shape, "volumesAttached", 0, "Volumes that are attached here."),
		STRINGS("volumesInUse", 0, "Volumes that pods here have, by their unique names."),
		{ 0 },
	},
};

const struct shape node_shape = {
	.name = "Node",
	.fields = {
		SHAPE_HEAD,
		OBJECT(node_spec_shape, "spec", 0, "What it is to be."),
		OBJECT(node_status_shape, "status", 0, "What it is and how it does."),
		{ 0 },
	},
};
