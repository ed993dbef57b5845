/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_pod_status - the status of v1.Pod
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

static const struct schema pod_condition_schema = {
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

static const struct schema resource_health_schema = {
	.name = "ResourceHealth",
	.fields = {
		STRING("health"),
		STRING("resourceID", REQUIRED),
		{ 0 },
	},
};

static const struct schema resource_status_schema = {
	.name = "ResourceStatus",
	.fields = {
		STRING("name", REQUIRED),
		OBJECTS(resource_health_schema, "resources"),
		{ 0 },
	},
};

static const struct schema container_state_running_schema = {
	.name = "ContainerStateRunning",
	.fields = {
		TIME("startedAt"),
		{ 0 },
	},
};

static const struct schema container_state_terminated_schema = {
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

static const struct schema container_state_waiting_schema = {
	.name = "ContainerStateWaiting",
	.fields = {
		STRING("message"),
		STRING("reason"),
		{ 0 },
	},
};

static const struct schema container_state_schema = {
	.name = "ContainerState",
	.description = "Waiting, running or ended: one of the three.",
	.fields = {
		OBJECT(container_state_running_schema, "running"),
		OBJECT(container_state_terminated_schema, "terminated"),
		OBJECT(container_state_waiting_schema, "waiting"),
		{ 0 },
	},
};

static const struct schema linux_container_user_schema = {
	.name = "LinuxContainerUser",
	.fields = {
		INTEGER("gid", REQUIRED),
		INTEGERS("supplementalGroups"),
		INTEGER("uid", REQUIRED),
		{ 0 },
	},
};

static const struct schema container_user_schema = {
	.name = "ContainerUser",
	.fields = {
		OBJECT(linux_container_user_schema, "linux"),
		{ 0 },
	},
};

static const struct schema volume_mount_status_schema = {
	.name = "VolumeMountStatus",
	.fields = {
		STRING("mountPath", REQUIRED),
		STRING("name", REQUIRED),
		BOOL("readOnly"),
		STRING("recursiveReadOnly"),
		{ 0 },
	},
};

static const struct schema container_status_schema = {
	.name = "ContainerStatus",
	.description = "What became of one container.",
	.fields = {
		QUANTITY_MAP("allocatedResources"),
		OBJECTS_BY(resource_status_schema, "name", "allocatedResourcesStatus"),
		STRING("containerID"),
		STRING("image", REQUIRED),
		STRING("imageID", REQUIRED),
		OBJECT(container_state_schema, "lastState"),
		STRING("name", REQUIRED),
		BOOL("ready", REQUIRED),
		OBJECT(resource_requirements_schema, "resources"),
		INTEGER("restartCount", REQUIRED),
		BOOL("started"),
		OBJECT(container_state_schema, "state"),
		OBJECT(container_user_schema, "user"),
		OBJECTS_BY(volume_mount_status_schema, "mountPath", "volumeMounts", 0, "How its volumes were mounted in the end."),
		{ 0 },
	},
};

static const struct schema host_ip_schema = {
	.name = "HostIP",
	.fields = {
		STRING("ip", REQUIRED),
		{ 0 },
	},
};

static const struct schema pod_ip_schema = {
	.name = "PodIP",
	.fields = {
		STRING("ip", REQUIRED),
		{ 0 },
	},
};

static const struct schema pod_resource_claim_status_schema = {
	.name = "PodResourceClaimStatus",
	.fields = {
		STRING("name", REQUIRED),
		STRING("resourceClaimName"),
		{ 0 },
	},
};

const struct schema pod_status_schema = {
	.name = "PodStatus",
	.description = "What became of a pod.",
	.fields = {
		OBJECTS_BY(pod_condition_schema, "type", "conditions", 0, "What is true of it, or is not."),
		OBJECTS(container_status_schema, "containerStatuses", 0, "What became of its containers; volumes go when all have ended."),
		OBJECTS(container_status_schema, "ephemeralContainerStatuses", 0, "What became of its ephemeral containers."),
		STRING("hostIP", 0, "Address of its node."),
		OBJECTS_BY(host_ip_schema, "ip", "hostIPs"),
		OBJECTS(container_status_schema, "initContainerStatuses", 0, "What became of its init containers."),
		STRING("message", 0, "Why it is so, for people."),
		STRING("nominatedNodeName"),
		STRING("phase", 0, "Pending, Running, Succeeded, Failed or Unknown."),
		STRING("podIP", 0, "Its address."),
		OBJECTS_BY(pod_ip_schema, "ip", "podIPs"),
		STRING("qosClass"),
		STRING("reason", 0, "Why it is so, in one word."),
		STRING("resize"),
		OBJECTS_BY(pod_resource_claim_status_schema, "name", "resourceClaimStatuses", RETAIN_KEYS),
		TIME("startTime", 0, "When the node took it."),
		{ 0 },
	},
};
