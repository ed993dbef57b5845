/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_pod_status - the status of v1.Pod
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field pod_condition_fields[] = {
	{ .name = "lastProbeTime", .type = SHAPE_TIME },
	{ .name = "lastTransitionTime", .type = SHAPE_TIME },
	{ .name = "message", .type = SHAPE_STRING },
	{ .name = "reason", .type = SHAPE_STRING },
	{ .name = "status", .type = SHAPE_STRING, .required = true },
	{ .name = "type", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape pod_condition_shape = {
	.name = "PodCondition",
	.fields = pod_condition_fields,
};

static const struct shape_field resource_health_fields[] = {
	{ .name = "health", .type = SHAPE_STRING },
	{ .name = "resourceID", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape resource_health_shape = {
	.name = "ResourceHealth",
	.fields = resource_health_fields,
};

static const struct shape_field resource_status_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "resources", .type = SHAPE_OBJECTS, .of = &resource_health_shape },
	{ 0 },
};

static const struct shape resource_status_shape = {
	.name = "ResourceStatus",
	.fields = resource_status_fields,
};

static const struct shape_field container_state_running_fields[] = {
	{ .name = "startedAt", .type = SHAPE_TIME },
	{ 0 },
};

static const struct shape container_state_running_shape = {
	.name = "ContainerStateRunning",
	.fields = container_state_running_fields,
};

static const struct shape_field container_state_terminated_fields[] = {
	{ .name = "containerID", .type = SHAPE_STRING },
	{ .name = "exitCode", .type = SHAPE_INTEGER, .required = true },
	{ .name = "finishedAt", .type = SHAPE_TIME },
	{ .name = "message", .type = SHAPE_STRING },
	{ .name = "reason", .type = SHAPE_STRING },
	{ .name = "signal", .type = SHAPE_INTEGER },
	{ .name = "startedAt", .type = SHAPE_TIME },
	{ 0 },
};

static const struct shape container_state_terminated_shape = {
	.name = "ContainerStateTerminated",
	.fields = container_state_terminated_fields,
};

static const struct shape_field container_state_waiting_fields[] = {
	{ .name = "message", .type = SHAPE_STRING },
	{ .name = "reason", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape container_state_waiting_shape = {
	.name = "ContainerStateWaiting",
	.fields = container_state_waiting_fields,
};

static const struct shape_field container_state_fields[] = {
	{ .name = "running", .type = SHAPE_OBJECT, .of = &container_state_running_shape },
	{ .name = "terminated", .type = SHAPE_OBJECT, .of = &container_state_terminated_shape },
	{ .name = "waiting", .type = SHAPE_OBJECT, .of = &container_state_waiting_shape },
	{ 0 },
};

static const struct shape container_state_shape = {
	.name = "ContainerState",
	.description = "Waiting, running or ended: one of the three.",
	.fields = container_state_fields,
};

static const struct shape_field linux_container_user_fields[] = {
	{ .name = "gid", .type = SHAPE_INTEGER, .required = true },
	{ .name = "supplementalGroups", .type = SHAPE_INTEGERS },
	{ .name = "uid", .type = SHAPE_INTEGER, .required = true },
	{ 0 },
};

static const struct shape linux_container_user_shape = {
	.name = "LinuxContainerUser",
	.fields = linux_container_user_fields,
};

static const struct shape_field container_user_fields[] = {
	{ .name = "linux", .type = SHAPE_OBJECT, .of = &linux_container_user_shape },
	{ 0 },
};

static const struct shape container_user_shape = {
	.name = "ContainerUser",
	.fields = container_user_fields,
};

static const struct shape_field volume_mount_status_fields[] = {
	{ .name = "mountPath", .type = SHAPE_STRING, .required = true },
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "readOnly", .type = SHAPE_BOOL },
	{ .name = "recursiveReadOnly", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape volume_mount_status_shape = {
	.name = "VolumeMountStatus",
	.fields = volume_mount_status_fields,
};

static const struct shape_field container_status_fields[] = {
	{ .name = "allocatedResources", .type = SHAPE_QUANTITY_MAP },
	{ .name = "allocatedResourcesStatus",
	  .type = SHAPE_OBJECTS,
	  .of = &resource_status_shape,
	  .merge_key = "name" },
	{ .name = "containerID", .type = SHAPE_STRING },
	{ .name = "image", .type = SHAPE_STRING, .required = true },
	{ .name = "imageID", .type = SHAPE_STRING, .required = true },
	{ .name = "lastState", .type = SHAPE_OBJECT, .of = &container_state_shape },
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "ready", .type = SHAPE_BOOL, .required = true },
	{ .name = "resources", .type = SHAPE_OBJECT, .of = &resource_requirements_shape },
	{ .name = "restartCount", .type = SHAPE_INTEGER, .required = true },
	{ .name = "started", .type = SHAPE_BOOL },
	{ .name = "state", .type = SHAPE_OBJECT, .of = &container_state_shape },
	{ .name = "user", .type = SHAPE_OBJECT, .of = &container_user_shape },
	{ .name = "volumeMounts",
	  .type = SHAPE_OBJECTS,
	  .of = &volume_mount_status_shape,
	  .merge_key = "mountPath",
	  .description = "How its volumes were mounted in the end." },
	{ 0 },
};

static const struct shape container_status_shape = {
	.name = "ContainerStatus",
	.description = "What became of one container.",
	.fields = container_status_fields,
};

static const struct shape_field host_ip_fields[] = {
	{ .name = "ip", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape host_ip_shape = {
	.name = "HostIP",
	.fields = host_ip_fields,
};

static const struct shape_field pod_ip_fields[] = {
	{ .name = "ip", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape pod_ip_shape = {
	.name = "PodIP",
	.fields = pod_ip_fields,
};

static const struct shape_field pod_resource_claim_status_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "resourceClaimName", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape pod_resource_claim_status_shape = {
	.name = "PodResourceClaimStatus",
	.fields = pod_resource_claim_status_fields,
};

static const struct shape_field pod_status_fields[] = {
	{ .name = "conditions",
	  .type = SHAPE_OBJECTS,
	  .of = &pod_condition_shape,
	  .merge_key = "type",
	  .description = "What is true of it, or is not." },
	{ .name = "containerStatuses",
	  .type = SHAPE_OBJECTS,
	  .of = &container_status_shape,
	  .description = "What became of its containers; volumes go when all have ended." },
	{ .name = "ephemeralContainerStatuses",
	  .type = SHAPE_OBJECTS,
	  .of = &container_status_shape,
	  .description = "What became of its ephemeral containers." },
	{ .name = "hostIP", .type = SHAPE_STRING, .description = "Address of its node." },
	{ .name = "hostIPs", .type = SHAPE_OBJECTS, .of = &host_ip_shape, .merge_key = "ip" },
	{ .name = "initContainerStatuses",
	  .type = SHAPE_OBJECTS,
	  .of = &container_status_shape,
	  .description = "What became of its init containers." },
	{ .name = "message", .type = SHAPE_STRING, .description = "Why it is so, for people." },
	{ .name = "nominatedNodeName", .type = SHAPE_STRING },
	{ .name = "phase",
	  .type = SHAPE_STRING,
	  .description = "Pending, Running, Succeeded, Failed or Unknown." },
	{ .name = "podIP", .type = SHAPE_STRING, .description = "Its address." },
	{ .name = "podIPs", .type = SHAPE_OBJECTS, .of = &pod_ip_shape, .merge_key = "ip" },
	{ .name = "qosClass", .type = SHAPE_STRING },
	{ .name = "reason", .type = SHAPE_STRING, .description = "Why it is so, in one word." },
	{ .name = "resize", .type = SHAPE_STRING },
	{ .name = "resourceClaimStatuses",
	  .type = SHAPE_OBJECTS,
	  .of = &pod_resource_claim_status_shape,
	  .merge_key = "name",
	  .retain_keys = true },
	{ .name = "startTime", .type = SHAPE_TIME, .description = "When the node took it." },
	{ 0 },
};

const struct shape pod_status_shape = {
	.name = "PodStatus",
	.description = "What became of a pod.",
	.fields = pod_status_fields,
};
