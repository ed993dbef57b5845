/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_node - v1.Node
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field config_map_node_config_source_fields[] = {
	{ .name = "kubeletConfigKey", .type = SHAPE_STRING, .required = true },
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "namespace", .type = SHAPE_STRING, .required = true },
	{ .name = "resourceVersion", .type = SHAPE_STRING },
	{ .name = "uid", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape config_map_node_config_source_shape = {
	.name = "ConfigMapNodeConfigSource",
	.fields = config_map_node_config_source_fields,
};

static const struct shape_field node_config_source_fields[] = {
	{ .name = "configMap", .type = SHAPE_OBJECT, .of = &config_map_node_config_source_shape },
	{ 0 },
};

static const struct shape node_config_source_shape = {
	.name = "NodeConfigSource",
	.fields = node_config_source_fields,
};

static const struct shape_field taint_fields[] = {
	{ .name = "effect", .type = SHAPE_STRING, .required = true },
	{ .name = "key", .type = SHAPE_STRING, .required = true },
	{ .name = "timeAdded", .type = SHAPE_TIME },
	{ .name = "value", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape taint_shape = {
	.name = "Taint",
	.description = "What keeps pods off a node that do not tolerate it.",
	.fields = taint_fields,
};

static const struct shape_field node_spec_fields[] = {
	{ .name = "configSource", .type = SHAPE_OBJECT, .of = &node_config_source_shape },
	{ .name = "externalID", .type = SHAPE_STRING },
	{ .name = "podCIDR", .type = SHAPE_STRING },
	{ .name = "podCIDRs", .type = SHAPE_STRINGS, .merge_key = "" },
	{ .name = "providerID",
	  .type = SHAPE_STRING,
	  .description = "The cloud's own name for it." },
	{ .name = "taints",
	  .type = SHAPE_OBJECTS,
	  .of = &taint_shape,
	  .description = "What keeps pods off that do not tolerate it." },
	{ .name = "unschedulable", .type = SHAPE_BOOL, .description = "No new pods, please." },
	{ 0 },
};

static const struct shape node_spec_shape = {
	.name = "NodeSpec",
	.description = "What a node is to be.",
	.fields = node_spec_fields,
};

static const struct shape_field node_address_fields[] = {
	{ .name = "address", .type = SHAPE_STRING, .required = true },
	{ .name = "type", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape node_address_shape = {
	.name = "NodeAddress",
	.description = "One address of a node.",
	.fields = node_address_fields,
};

static const struct shape_field node_condition_fields[] = {
	{ .name = "lastHeartbeatTime", .type = SHAPE_TIME },
	{ .name = "lastTransitionTime", .type = SHAPE_TIME },
	{ .name = "message", .type = SHAPE_STRING },
	{ .name = "reason", .type = SHAPE_STRING },
	{ .name = "status", .type = SHAPE_STRING, .required = true },
	{ .name = "type", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape node_condition_shape = {
	.name = "NodeCondition",
	.description = "One thing that is true of a node, or is not.",
	.fields = node_condition_fields,
};

static const struct shape_field node_config_status_fields[] = {
	{ .name = "active", .type = SHAPE_OBJECT, .of = &node_config_source_shape },
	{ .name = "assigned", .type = SHAPE_OBJECT, .of = &node_config_source_shape },
	{ .name = "error", .type = SHAPE_STRING },
	{ .name = "lastKnownGood", .type = SHAPE_OBJECT, .of = &node_config_source_shape },
	{ 0 },
};

static const struct shape node_config_status_shape = {
	.name = "NodeConfigStatus",
	.fields = node_config_status_fields,
};

static const struct shape_field daemon_endpoint_fields[] = {
	{ .name = "Port", .type = SHAPE_INTEGER, .required = true },
	{ 0 },
};

static const struct shape daemon_endpoint_shape = {
	.name = "DaemonEndpoint",
	.fields = daemon_endpoint_fields,
};

static const struct shape_field node_daemon_endpoints_fields[] = {
	{ .name = "kubeletEndpoint", .type = SHAPE_OBJECT, .of = &daemon_endpoint_shape },
	{ 0 },
};

static const struct shape node_daemon_endpoints_shape = {
	.name = "NodeDaemonEndpoints",
	.fields = node_daemon_endpoints_fields,
};

static const struct shape_field node_features_fields[] = {
	{ .name = "supplementalGroupsPolicy", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape node_features_shape = {
	.name = "NodeFeatures",
	.fields = node_features_fields,
};

static const struct shape_field container_image_fields[] = {
	{ .name = "names", .type = SHAPE_STRINGS },
	{ .name = "sizeBytes", .type = SHAPE_INTEGER },
	{ 0 },
};

static const struct shape container_image_shape = {
	.name = "ContainerImage",
	.fields = container_image_fields,
};

static const struct shape_field node_system_info_fields[] = {
	{ .name = "architecture", .type = SHAPE_STRING, .required = true },
	{ .name = "bootID", .type = SHAPE_STRING, .required = true },
	{ .name = "containerRuntimeVersion", .type = SHAPE_STRING, .required = true },
	{ .name = "kernelVersion", .type = SHAPE_STRING, .required = true },
	{ .name = "kubeProxyVersion", .type = SHAPE_STRING, .required = true },
	{ .name = "kubeletVersion", .type = SHAPE_STRING, .required = true },
	{ .name = "machineID", .type = SHAPE_STRING, .required = true },
	{ .name = "operatingSystem", .type = SHAPE_STRING, .required = true },
	{ .name = "osImage", .type = SHAPE_STRING, .required = true },
	{ .name = "systemUUID", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape node_system_info_shape = {
	.name = "NodeSystemInfo",
	.description = "Kernel, operating system and identity of a node.",
	.fields = node_system_info_fields,
};

static const struct shape_field node_runtime_handler_features_fields[] = {
	{ .name = "recursiveReadOnlyMounts", .type = SHAPE_BOOL },
	{ .name = "userNamespaces", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape node_runtime_handler_features_shape = {
	.name = "NodeRuntimeHandlerFeatures",
	.fields = node_runtime_handler_features_fields,
};

static const struct shape_field node_runtime_handler_fields[] = {
	{ .name = "features", .type = SHAPE_OBJECT, .of = &node_runtime_handler_features_shape },
	{ .name = "name", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape node_runtime_handler_shape = {
	.name = "NodeRuntimeHandler",
	.fields = node_runtime_handler_fields,
};

static const struct shape_field attached_volume_fields[] = {
	{ .name = "devicePath", .type = SHAPE_STRING, .required = true },
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape attached_volume_shape = {
	.name = "AttachedVolume",
	.description = "A volume that is attached to a node.",
	.fields = attached_volume_fields,
};

static const struct shape_field node_status_fields[] = {
	{ .name = "addresses",
	  .type = SHAPE_OBJECTS,
	  .of = &node_address_shape,
	  .merge_key = "type",
	  .description = "Where it can be reached." },
	{ .name = "allocatable",
	  .type = SHAPE_QUANTITY_MAP,
	  .description = "What pods may use of it." },
	{ .name = "capacity", .type = SHAPE_QUANTITY_MAP, .description = "What it has." },
	{ .name = "conditions",
	  .type = SHAPE_OBJECTS,
	  .of = &node_condition_shape,
	  .merge_key = "type",
	  .description = "What is true of it, or is not." },
	{ .name = "config", .type = SHAPE_OBJECT, .of = &node_config_status_shape },
	{ .name = "daemonEndpoints", .type = SHAPE_OBJECT, .of = &node_daemon_endpoints_shape },
	{ .name = "features", .type = SHAPE_OBJECT, .of = &node_features_shape },
	{ .name = "images", .type = SHAPE_OBJECTS, .of = &container_image_shape },
	{ .name = "nodeInfo",
	  .type = SHAPE_OBJECT,
	  .of = &node_system_info_shape,
	  .description = "Kernel, operating system and identity." },
	{ .name = "phase", .type = SHAPE_STRING },
	{ .name = "runtimeHandlers", .type = SHAPE_OBJECTS, .of = &node_runtime_handler_shape },
	{ .name = "volumesAttached",
	  .type = SHAPE_OBJECTS,
	  .of = &attached_volume_shape,
	  .description = "Volumes that are attached here." },
	{ .name = "volumesInUse",
	  .type = SHAPE_STRINGS,
	  .description = "Volumes that pods here have, by their unique names." },
	{ 0 },
};

static const struct shape node_status_shape = {
	.name = "NodeStatus",
	.description = "What a node is and how it does.",
	.fields = node_status_fields,
};

static const struct shape_field node_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &node_spec_shape,
	  .description = "What it is to be." },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &node_status_shape,
	  .description = "What it is and how it does." },
	{ 0 },
};

const struct shape node_shape = {
	.name = "Node",
	.fields = node_fields,
};
