/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_container - containers of pods, with all that hangs on them
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema config_map_key_selector_schema = SCHEMA("ConfigMapKeySelector", NULL,
	STRING("key", REQUIRED),
	STRING("name"),
	BOOL("optional"),
);

static const struct schema secret_key_selector_schema = SCHEMA("SecretKeySelector", NULL,
	STRING("key", REQUIRED),
	STRING("name"),
	BOOL("optional"),
);

static const struct schema env_var_source_schema = SCHEMA("EnvVarSource", NULL,
	OBJECT(config_map_key_selector_schema, "configMapKeyRef"),
	OBJECT(object_field_selector_schema, "fieldRef"),
	OBJECT(resource_field_selector_schema, "resourceFieldRef"),
	OBJECT(secret_key_selector_schema, "secretKeyRef"),
);

static const struct schema env_var_schema = SCHEMA("EnvVar", NULL,
	STRING("name", REQUIRED),
	STRING("value"),
	OBJECT(env_var_source_schema, "valueFrom"),
);

static const struct schema config_map_env_source_schema = SCHEMA("ConfigMapEnvSource", NULL,
	STRING("name"),
	BOOL("optional"),
);

static const struct schema secret_env_source_schema = SCHEMA("SecretEnvSource", NULL,
	STRING("name"),
	BOOL("optional"),
);

static const struct schema env_from_source_schema = SCHEMA("EnvFromSource", NULL,
	OBJECT(config_map_env_source_schema, "configMapRef"),
	STRING("prefix"),
	OBJECT(secret_env_source_schema, "secretRef"),
);

static const struct schema exec_action_schema = SCHEMA("ExecAction", NULL,
	STRINGS("command"),
);

static const struct schema http_header_schema = SCHEMA("HTTPHeader", NULL,
	STRING("name", REQUIRED),
	STRING("value", REQUIRED),
);

static const struct schema http_get_action_schema = SCHEMA("HTTPGetAction", NULL,
	STRING("host"),
	OBJECTS(http_header_schema, "httpHeaders"),
	STRING("path"),
	INT_OR_STRING("port", REQUIRED),
	STRING("scheme"),
);

static const struct schema sleep_action_schema = SCHEMA("SleepAction", NULL,
	INTEGER("seconds", REQUIRED),
);

static const struct schema tcp_socket_action_schema = SCHEMA("TCPSocketAction", NULL,
	STRING("host"),
	INT_OR_STRING("port", REQUIRED),
);

static const struct schema grpc_action_schema = SCHEMA("GRPCAction", NULL,
	INTEGER("port", REQUIRED),
	STRING("service"),
);

static const struct schema lifecycle_handler_schema = SCHEMA("LifecycleHandler", NULL,
	OBJECT(exec_action_schema, "exec"),
	OBJECT(http_get_action_schema, "httpGet"),
	OBJECT(sleep_action_schema, "sleep"),
	OBJECT(tcp_socket_action_schema, "tcpSocket"),
);

static const struct schema lifecycle_schema = SCHEMA("Lifecycle", NULL,
	OBJECT(lifecycle_handler_schema, "postStart"),
	OBJECT(lifecycle_handler_schema, "preStop"),
);

static const struct schema probe_schema = SCHEMA("Probe", NULL,
	OBJECT(exec_action_schema, "exec"),
	INTEGER("failureThreshold"),
	OBJECT(grpc_action_schema, "grpc"),
	OBJECT(http_get_action_schema, "httpGet"),
	INTEGER("initialDelaySeconds"),
	INTEGER("periodSeconds"),
	INTEGER("successThreshold"),
	OBJECT(tcp_socket_action_schema, "tcpSocket"),
	INTEGER("terminationGracePeriodSeconds"),
	INTEGER("timeoutSeconds"),
);

static const struct schema container_port_schema = SCHEMA("ContainerPort", NULL,
	INTEGER("containerPort", REQUIRED),
	STRING("hostIP"),
	INTEGER("hostPort"),
	STRING("name"),
	STRING("protocol"),
);

static const struct schema container_resize_policy_schema = SCHEMA("ContainerResizePolicy", NULL,
	STRING("resourceName", REQUIRED),
	STRING("restartPolicy", REQUIRED),
);

static const struct schema resource_claim_schema = SCHEMA("ResourceClaim", NULL,
	STRING("name", REQUIRED),
	STRING("request"),
);

const struct schema resource_requirements_schema = SCHEMA("ResourceRequirements", NULL,
	OBJECTS(resource_claim_schema, "claims"),
	QUANTITY_MAP("limits", 0, "At most so much."),
	QUANTITY_MAP("requests", 0, "At least so much; what is not named is as the limit."),
);

const struct schema app_armor_profile_schema = SCHEMA("AppArmorProfile", NULL,
	STRING("localhostProfile"),
	STRING("type", REQUIRED),
);

static const struct schema capabilities_schema = SCHEMA("Capabilities", NULL,
	STRINGS("add"),
	STRINGS("drop"),
);

const struct schema se_linux_options_schema = SCHEMA("SELinuxOptions", NULL,
	STRING("level", 0, "The MCS level: s0:c1,c2."),
	STRING("role", 0, "The role."),
	STRING("type", 0, "The type."),
	STRING("user", 0, "The SELinux user."),
);

const struct schema seccomp_profile_schema = SCHEMA("SeccompProfile", NULL,
	STRING("localhostProfile"),
	STRING("type", REQUIRED),
);

const struct schema windows_security_context_options_schema = SCHEMA("WindowsSecurityContextOptions", NULL,
	STRING("gmsaCredentialSpec"),
	STRING("gmsaCredentialSpecName"),
	BOOL("hostProcess"),
	STRING("runAsUserName"),
);

static const struct schema security_context_schema = SCHEMA("SecurityContext", NULL,
	BOOL("allowPrivilegeEscalation"),
	OBJECT(app_armor_profile_schema, "appArmorProfile"),
	OBJECT(capabilities_schema, "capabilities"),
	BOOL("privileged", 0, "It may do what root on the node may."),
	STRING("procMount"),
	BOOL("readOnlyRootFilesystem"),
	INTEGER("runAsGroup"),
	BOOL("runAsNonRoot"),
	INTEGER("runAsUser", 0, "User of its processes; wins over the pod's."),
	OBJECT(se_linux_options_schema, "seLinuxOptions"),
	OBJECT(seccomp_profile_schema, "seccompProfile"),
	OBJECT(windows_security_context_options_schema, "windowsOptions"),
);

static const struct schema volume_device_schema = SCHEMA("VolumeDevice",
	"Where in a container a volume of the pod appears as a block device.",
	STRING("devicePath", REQUIRED, "Where the device appears in the container."),
	STRING("name", REQUIRED, "The claim, by its volume's name in the pod."),
);

static const struct schema volume_mount_schema = SCHEMA("VolumeMount",
	"Where in a container a volume of the pod appears.",
	STRING("mountPath", REQUIRED, "Where it appears in the container."),
	STRING("mountPropagation", 0, "Which mounts pass between node and container: None, HostToContainer or Bidirectional."),
	STRING("name", REQUIRED, "The volume, by its name in the pod."),
	BOOL("readOnly", 0, "It cannot be written to here."),
	STRING("recursiveReadOnly", 0, "Nor what is mounted below it: Disabled, IfPossible or Enabled."),
	STRING("subPath", 0, "Only this part of the volume; relative, without '..'."),
	STRING("subPathExpr", 0, "The same with $(VARIABLES) of the container."),
);

/* Behind the description: what only one kind of container has, in its place of the alphabet. */
#define CONTAINER(NAME, DESCRIPTION, ...) SCHEMA(NAME, DESCRIPTION, \
	STRINGS("args", 0, "Arguments to the entrypoint."), \
	STRINGS("command", 0, "The entrypoint, in place of the image's."), \
	OBJECTS_BY(env_var_schema, "name", "env", 0, "Variables."), \
	OBJECTS(env_from_source_schema, "envFrom"), \
	STRING("image", 0, "What it runs."), \
	STRING("imagePullPolicy"), \
	OBJECT(lifecycle_schema, "lifecycle"), \
	OBJECT(probe_schema, "livenessProbe"), \
	STRING("name", REQUIRED, "Its name, once per pod."), \
	OBJECTS_BY(container_port_schema, "containerPort", "ports"), \
	OBJECT(probe_schema, "readinessProbe"), \
	OBJECTS(container_resize_policy_schema, "resizePolicy"), \
	OBJECT(resource_requirements_schema, "resources", 0, "What it may use; limits of memory and of huge pages bound its volumes."), \
	STRING("restartPolicy"), \
	OBJECT(security_context_schema, "securityContext", 0, "User, privileges and the like."), \
	OBJECT(probe_schema, "startupProbe"), \
	BOOL("stdin"), \
	BOOL("stdinOnce"), \
	__VA_ARGS__ \
	STRING("terminationMessagePath"), \
	STRING("terminationMessagePolicy"), \
	BOOL("tty"), \
	OBJECTS_BY(volume_device_schema, "devicePath", "volumeDevices", 0, "Volumes of the pod that it sees as block devices."), \
	OBJECTS_BY(volume_mount_schema, "mountPath", "volumeMounts", 0, "Volumes of the pod that it sees as directories or files."), \
	STRING("workingDir"),)

const struct schema container_schema = CONTAINER("Container", "One program of a pod, with what it sees.");

const struct schema ephemeral_container_schema = CONTAINER("EphemeralContainer",
	"A container added to a running pod, for debugging.",
	STRING("targetContainerName", 0, "The container whose processes it sees."),
);
