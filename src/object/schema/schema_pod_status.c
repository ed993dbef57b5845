/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_pod_status - the status of v1.Pod
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema pod_condition_schema = SCHEMA("PodCondition", NULL,
	TIME("lastProbeTime"),
	TIME("lastTransitionTime"),
	STRING("message"),
	STRING("reason"),
	STRING("status", REQUIRED),
	STRING("type", REQUIRED),
);

static const struct schema resource_health_schema = SCHEMA("ResourceHealth", NULL,
	STRING("health"),
	STRING("resourceID", REQUIRED),
);

static const struct schema resource_status_schema = SCHEMA("ResourceStatus", NULL,
	STRING("name", REQUIRED),
	OBJECTS(resource_health_schema, "resources"),
);

static const struct schema container_state_running_schema = SCHEMA("ContainerStateRunning", NULL,
	TIME("startedAt"),
);

static const struct schema container_state_terminated_schema = SCHEMA("ContainerStateTerminated", NULL,
	STRING("containerID"),
	INTEGER("exitCode", REQUIRED),
	TIME("finishedAt"),
	STRING("message"),
	STRING("reason"),
	INTEGER("signal"),
	TIME("startedAt"),
);

static const struct schema container_state_waiting_schema = SCHEMA("ContainerStateWaiting", NULL,
	STRING("message"),
	STRING("reason"),
);

static const struct schema container_state_schema = SCHEMA("ContainerState",
	"Waiting, running or ended: one of the three.",
	OBJECT(container_state_running_schema, "running"),
	OBJECT(container_state_terminated_schema, "terminated"),
	OBJECT(container_state_waiting_schema, "waiting"),
);

static const struct schema linux_container_user_schema = SCHEMA("LinuxContainerUser", NULL,
	INTEGER("gid", REQUIRED),
	INTEGERS("supplementalGroups"),
	INTEGER("uid", REQUIRED),
);

static const struct schema container_user_schema = SCHEMA("ContainerUser", NULL,
	OBJECT(linux_container_user_schema, "linux"),
);

static const struct schema volume_mount_status_schema = SCHEMA("VolumeMountStatus", NULL,
	STRING("mountPath", REQUIRED),
	STRING("name", REQUIRED),
	BOOL("readOnly"),
	STRING("recursiveReadOnly"),
);

static const struct schema container_status_schema = SCHEMA("ContainerStatus",
	"The status of one container.",
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
);

static const struct schema host_ip_schema = SCHEMA("HostIP", NULL,
	STRING("ip", REQUIRED),
);

static const struct schema pod_ip_schema = SCHEMA("PodIP", NULL,
	STRING("ip", REQUIRED),
);

static const struct schema pod_resource_claim_status_schema = SCHEMA("PodResourceClaimStatus", NULL,
	STRING("name", REQUIRED),
	STRING("resourceClaimName"),
);

const struct schema pod_status_schema = SCHEMA("PodStatus", "The observed state of a pod.",
	OBJECTS_BY(pod_condition_schema, "type", "conditions", 0, "Its conditions."),
	OBJECTS(container_status_schema, "containerStatuses", 0, "The status of its containers; volumes are unmounted once all have ended."),
	OBJECTS(container_status_schema, "ephemeralContainerStatuses", 0, "The status of its ephemeral containers."),
	STRING("hostIP", 0, "Address of its node."),
	OBJECTS_BY(host_ip_schema, "ip", "hostIPs"),
	OBJECTS(container_status_schema, "initContainerStatuses", 0, "The status of its init containers."),
	STRING("message", 0, "The reason, for humans."),
	STRING("nominatedNodeName"),
	STRING("phase", 0, "Pending, Running, Succeeded, Failed or Unknown."),
	STRING("podIP", 0, "Its address."),
	OBJECTS_BY(pod_ip_schema, "ip", "podIPs"),
	STRING("qosClass"),
	STRING("reason", 0, "The reason, in one word."),
	STRING("resize"),
	OBJECTS_BY(pod_resource_claim_status_schema, "name", "resourceClaimStatuses", RETAIN_KEYS),
	TIME("startTime", 0, "When the node took it."),
);
