/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_pod_status - the status of v1.Pod
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape pod_condition_shape = {
	.name = "PodCondition",
	.fields = {
		TIME("lastProbeTime"),
		TIME("lastTransitionTime"),
		STRING("message"),
		STRING("reason"),
		STRING("status", REQUIRED),
		STRING("type", REQUIRED),
		{ 0 },
	},
};

static const struct shape resource_health_shape = {
	.name = "ResourceHealth",
	.fields = {
		STRING("health"),
		STRING("resourceID", REQUIRED),
		{ 0 },
	},
};

static const struct shape resource_status_shape = {
	.name = "ResourceStatus",
	.fields = {
		STRING("name", REQUIRED),
		OBJECTS(resource_health_shape, "resources"),
		{ 0 },
	},
};

static const struct shape container_state_running_shape = {
	.name = "ContainerStateRunning",
	.fields = {
		TIME("startedAt"),
		{ 0 },
	},
};

static const struct shape container_state_terminated_shape = {
	.name = "ContainerStateTerminated",
	.fields = {
		STRING("containerID"),
		INTEGER("exitCode", REQUIRED),
		TIME("finishedAt"),
		STRING("message"),
		STRING("reason"),
		INTEGER("signal"),
		TIME("startedAt"),
		{ 0 },
	},
};

static const struct shape container_state_waiting_shape = {
	.name = "ContainerStateWaiting",
	.fields = {
		STRING("message"),
		STRING("reason"),
		{ 0 },
	},
};

static const struct shape container_state_shape = {
	.name = "ContainerState",
	.description = "Waiting, running or ended: one of the three.",
	.fields = {
		OBJECT(container_state_running_shape, "running"),
		OBJECT(container_state_terminated_shape, "terminated"),
		OBJECT(container_state_waiting_shape, "waiting"),
		{ 0 },
	},
};

static const struct shape linux_container_user_shape = {
	.name = "LinuxContainerUser",
	.fields = {
		INTEGER("gid", REQUIRED),
		INTEGERS("supplementalGroups"),
		INTEGER("uid", REQUIRED),
		{ 0 },
	},
};

static const struct shape container_user_shape = {
	.name = "ContainerUser",
	.fields = {
		OBJECT(linux_container_user_shape, "linux"),
		{ 0 },
	},
};

static const struct shape volume_mount_status_shape = {
	.name = "VolumeMountStatus",
	.fields = {
		STRING("mountPath", REQUIRED),
		STRING("name", REQUIRED),
		BOOL("readOnly"),
		STRING("recursiveReadOnly"),
		{ 0 },
	},
};

static const struct shape container_status_shape = {
	.name = "ContainerStatus",
	.description = "What became of one container.",
	.fields = {
		QUANTITY_MAP("allocatedResources"),
		OBJECTS_BY(resource_status_shape, "name", "allocatedResourcesStatus"),
		STRING("containerID"),
		STRING("image", REQUIRED),
		STRING("imageID", REQUIRED),
		OBJECT(container_state_shape, "lastState"),
		STRING("name", REQUIRED),
		BOOL("ready", REQUIRED),
		OBJECT(resource_requirements_shape, "resources"),
		INTEGER("restartCount", REQUIRED),
		BOOL("started"),
		OBJECT(container_state_shape, "state"),
		OBJECT(container_user_shape, "user"),
		OBJECTS_BY(volume_mount_status_shape, "mountPath", "volumeMounts", 0, "How its volumes were mounted in the end."),
		{ 0 },
	},
};

static const struct shape host_ip_shape = {
	.name = "HostIP",
	.fields = {
		STRING("ip", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_ip_shape = {
	.name = "PodIP",
	.fields = {
		STRING("ip", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_resource_claim_status_shape = {
	.name = "PodResourceClaimStatus",
	.fields = {
		STRING("name", REQUIRED),
		STRING("resourceClaimName"),
		{ 0 },
	},
};

const struct shape pod_status_shape = {
	.name = "PodStatus",
	.description = "What became of a pod.",
	.fields = {
		OBJECTS_BY(pod_condition_shape, "type", "conditions", 0, "What is true of it, or is not."),
		OBJECTS(container_status_shape, "containerStatuses", 0, "What became of its containers; volumes go when all have ended."),
		OBJECTS(container_status_shape, "ephemeralContainerStatuses", 0, "What became of its ephemeral containers."),
		STRING("hostIP", 0, "Address of its node."),
		OBJECTS_BY(host_ip_shape, "ip", "hostIPs"),
		OBJECTS(container_status_shape, "initContainerStatuses", 0, "What became of its init containers."),
		STRING("message", 0, "Why it is so, for people."),
		STRING("nominatedNodeName"),
		STRING("phase", 0, "Pending, Running, Succeeded, Failed or Unknown."),
		STRING("podIP", 0, "Its address."),
		OBJECTS_BY(pod_ip_shape, "ip", "podIPs"),
		STRING("qosClass"),
		STRING("reason", 0, "Why it is so, in one word."),
		STRING("resize"),
		OBJECTS_BY(pod_resource_claim_status_shape, "name", "resourceClaimStatuses", RETAIN_KEYS),
		TIME("startTime", 0, "When the node took it."),
		{ 0 },
	},
};
