/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_container - containers of pods, with all that hangs on them
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape config_map_key_selector_shape = {
	.name = "ConfigMapKeySelector",
	.fields = {
		STRING("key", REQUIRED),
		STRING("name"),
		BOOL("optional"),
		{ 0 },
	},
};

static const struct shape secret_key_selector_shape = {
	.name = "SecretKeySelector",
	.fields = {
		STRING("key", REQUIRED),
		STRING("name"),
		BOOL("optional"),
		{ 0 },
	},
};

static const struct shape env_var_source_shape = {
	.name = "EnvVarSource",
	.fields = {
		OBJECT(config_map_key_selector_shape, "configMapKeyRef"),
		OBJECT(object_field_selector_shape, "fieldRef"),
		OBJECT(resource_field_selector_shape, "resourceFieldRef"),
		OBJECT(secret_key_selector_shape, "secretKeyRef"),
		{ 0 },
	},
};

static const struct shape env_var_shape = {
	.name = "EnvVar",
	.fields = {
		STRING("name", REQUIRED),
		STRING("value"),
		OBJECT(env_var_source_shape, "valueFrom"),
		{ 0 },
	},
};

static const struct shape config_map_env_source_shape = {
	.name = "ConfigMapEnvSource",
	.fields = {
		STRING("name"),
		BOOL("optional"),
		{ 0 },
	},
};

static const struct shape secret_env_source_shape = {
	.name = "SecretEnvSource",
	.fields = {
		STRING("name"),
		BOOL("optional"),
		{ 0 },
	},
};

static const struct shape env_from_source_shape = {
	.name = "EnvFromSource",
	.fields = {
		OBJECT(config_map_env_source_shape, "configMapRef"),
		STRING("prefix"),
		OBJECT(secret_env_source_shape, "secretRef"),
		{ 0 },
	},
};

static const struct shape exec_action_shape = {
	.name = "ExecAction",
	.fields = {
		STRINGS("command"),
		{ 0 },
	},
};

static const struct shape http_header_shape = {
	.name = "HTTPHeader",
	.fields = {
		STRING("name", REQUIRED),
		STRING("value", REQUIRED),
		{ 0 },
	},
};

static const struct shape http_get_action_shape = {
	.name = "HTTPGetAction",
	.fields = {
		STRING("host"),
		OBJECTS(http_header_shape, "httpHeaders"),
		STRING("path"),
		INT_OR_STRING("port", REQUIRED),
		STRING("scheme"),
		{ 0 },
	},
};

static const struct shape sleep_action_shape = {
	.name = "SleepAction",
	.fields = {
		INTEGER("seconds", REQUIRED),
		{ 0 },
	},
};

static const struct shape tcp_socket_action_shape = {
	.name = "TCPSocketAction",
	.fields = {
		STRING("host"),
		INT_OR_STRING("port", REQUIRED),
		{ 0 },
	},
};

static const struct shape grpc_action_shape = {
	.name = "GRPCAction",
	.fields = {
		INTEGER("port", REQUIRED),
		STRING("service"),
		{ 0 },
	},
};

static const struct shape lifecycle_handler_shape = {
	.name = "LifecycleHandler",
	.fields = {
		OBJECT(exec_action_shape, "exec"),
		OBJECT(http_get_action_shape, "httpGet"),
		OBJECT(sleep_action_shape, "sleep"),
		OBJECT(tcp_socket_action_shape, "tcpSocket"),
		{ 0 },
	},
};

static const struct shape lifecycle_shape = {
	.name = "Lifecycle",
	.fields = {
		OBJECT(lifecycle_handler_shape, "postStart"),
		OBJECT(lifecycle_handler_shape, "preStop"),
		{ 0 },
	},
};

static const struct shape probe_shape = {
	.name = "Probe",
	.fields = {
		OBJECT(exec_action_shape, "exec"),
		INTEGER("failureThreshold"),
		OBJECT(grpc_action_shape, "grpc"),
		OBJECT(http_get_action_shape, "httpGet"),
		INTEGER("initialDelaySeconds"),
		INTEGER("periodSeconds"),
		INTEGER("successThreshold"),
		OBJECT(tcp_socket_action_shape, "tcpSocket"),
		INTEGER("terminationGracePeriodSeconds"),
		INTEGER("timeoutSeconds"),
		{ 0 },
	},
};

static const struct shape container_port_shape = {
	.name = "ContainerPort",
	.fields = {
		INTEGER("containerPort", REQUIRED),
		STRING("hostIP"),
		INTEGER("hostPort"),
		STRING("name"),
		STRING("protocol"),
		{ 0 },
	},
};

static const struct shape container_resize_policy_shape = {
	.name = "ContainerResizePolicy",
	.fields = {
		STRING("resourceName", REQUIRED),
		STRING("restartPolicy", REQUIRED),
		{ 0 },
	},
};

static const struct shape resource_claim_shape = {
	.name = "ResourceClaim",
	.fields = {
		STRING("name", REQUIRED),
		STRING("request"),
		{ 0 },
	},
};

const struct shape resource_requirements_shape = {
	.name = "ResourceRequirements",
	.fields = {
		OBJECTS(resource_claim_shape, "claims"),
		QUANTITY_MAP("limits", 0, "At most so much."),
		QUANTITY_MAP("requests", 0, "At least so much; what is not named is as the limit."),
		{ 0 },
	},
};

const struct shape app_armor_profile_shape = {
	.name = "AppArmorProfile",
	.fields = {
		STRING("localhostProfile"),
		STRING("type", REQUIRED),
		{ 0 },
	},
};

static const struct shape capabilities_shape = {
	.name = "Capabilities",
	.fields = {
		STRINGS("add"),
		STRINGS("drop"),
		{ 0 },
	},
};

const struct shape se_linux_options_shape = {
	.name = "SELinuxOptions",
	.fields = {
		STRING("level"),
		STRING("role"),
		STRING("type"),
		STRING("user"),
		{ 0 },
	},
};

const struct shape seccomp_profile_shape = {
	.name = "SeccompProfile",
	.fields = {
		STRING("localhostProfile"),
		STRING("type", REQUIRED),
		{ 0 },
	},
};

const struct shape windows_security_context_options_shape = {
	.name = "WindowsSecurityContextOptions",
	.fields = {
		STRING("gmsaCredentialSpec"),
		STRING("gmsaCredentialSpecName"),
		BOOL("hostProcess"),
		STRING("runAsUserName"),
		{ 0 },
	},
};

static const struct shape security_context_shape = {
	.name = "SecurityContext",
	.fields = {
		BOOL("allowPrivilegeEscalation"),
		OBJECT(app_armor_profile_shape, "appArmorProfile"),
		OBJECT(capabilities_shape, "capabilities"),
		BOOL("privileged", 0, "It may do what root on the node may."),
		STRING("procMount"),
		BOOL("readOnlyRootFilesystem"),
		INTEGER("runAsGroup"),
		BOOL("runAsNonRoot"),
		INTEGER("runAsUser", 0, "User of its processes; wins over the pod's."),
		OBJECT(se_linux_options_shape, "seLinuxOptions"),
		OBJECT(seccomp_profile_shape, "seccompProfile"),
		OBJECT(windows_security_context_options_shape, "windowsOptions"),
		{ 0 },
	},
};

static const struct shape volume_device_shape = {
	.name = "VolumeDevice",
	.description = "Where in a container a volume of the pod appears as a block device.",
	.fields = {
		STRING("devicePath", REQUIRED, "Where the device appears in the container."),
		STRING("name", REQUIRED, "The claim, by its volume's name in the pod."),
		{ 0 },
	},
};

static const struct shape volume_mount_shape = {
	.name = "VolumeMount",
	.description = "Where in a container a volume of the pod appears.",
	.fields = {
		STRING("mountPath", REQUIRED, "Where it appears in the container."),
		STRING("mountPropagation", 0, "Which mounts pass between node and container: None, HostToContainer or Bidirectional."),
		STRING("name", REQUIRED, "The volume, by its name in the pod."),
		BOOL("readOnly", 0, "It cannot be written to here."),
		STRING("recursiveReadOnly", 0, "Nor what is mounted below it: Disabled, IfPossible or Enabled."),
		STRING("subPath", 0, "Only this part of the volume; relative, without '..'."),
		STRING("subPathExpr", 0, "The same with $(VARIABLES) of the container."),
		{ 0 },
	},
};

const struct shape container_shape = {
	.name = "Container",
	.description = "One program of a pod, with what it sees.",
	.fields = {
		STRINGS("args", 0, "Words for the program."),
		STRINGS("command", 0, "The program, in place of the image's."),
		OBJECTS_BY(env_var_shape, "name", "env", 0, "Variables."),
		OBJECTS(env_from_source_shape, "envFrom"),
		STRING("image", 0, "What it runs."),
		STRING("imagePullPolicy"),
		OBJECT(lifecycle_shape, "lifecycle"),
		OBJECT(probe_shape, "livenessProbe"),
		STRING("name", REQUIRED, "Its name, once per pod."),
		OBJECTS_BY(container_port_shape, "containerPort", "ports"),
		OBJECT(probe_shape, "readinessProbe"),
		OBJECTS(container_resize_policy_shape, "resizePolicy"),
		OBJECT(resource_requirements_shape, "resources", 0, "What it may use; limits of memory and of huge pages bound its volumes."),
		STRING("restartPolicy"),
		OBJECT(security_context_shape, "securityContext", 0, "User, privileges and the like."),
		OBJECT(probe_shape, "startupProbe"),
		BOOL("stdin"),
		BOOL("stdinOnce"),
		STRING("terminationMessagePath"),
		STRING("terminationMessagePolicy"),
		BOOL("tty"),
		OBJECTS_BY(volume_device_shape, "devicePath", "volumeDevices", 0, "Volumes of the pod that it sees as block devices."),
		OBJECTS_BY(volume_mount_shape, "mountPath", "volumeMounts", 0, "Volumes of the pod that it sees as directories or files."),
		STRING("workingDir"),
		{ 0 },
	},
};

const struct shape ephemeral_container_shape = {
	.name = "EphemeralContainer",
	.description = "A container that is added to a running pod, for looking around.",
	.fields = {
		STRINGS("args", 0, "Words for the program."),
		STRINGS("command", 0, "The program, in place of the image's."),
		OBJECTS_BY(env_var_shape, "name", "env", 0, "Variables."),
		OBJECTS(env_from_source_shape, "envFrom"),
		STRING("image", 0, "What it runs."),
		STRING("imagePullPolicy"),
		OBJECT(lifecycle_shape, "lifecycle"),
		OBJECT(probe_shape, "livenessProbe"),
		STRING("name", REQUIRED, "Its name, once per pod."),
		OBJECTS_BY(container_port_shape, "containerPort", "ports"),
		OBJECT(probe_shape, "readinessProbe"),
		OBJECTS(container_resize_policy_shape, "resizePolicy"),
		OBJECT(resource_requirements_shape, "resources", 0, "What it may use; limits of memory and of huge pages bound its volumes."),
		STRING("restartPolicy"),
		OBJECT(security_context_shape, "securityContext", 0, "User, privileges and the like."),
		OBJECT(probe_shape, "startupProbe"),
		BOOL("stdin"),
		BOOL("stdinOnce"),
		STRING("targetContainerName", 0, "The container whose processes it sees."),
		STRING("terminationMessagePath"),
		STRING("terminationMessagePolicy"),
		BOOL("tty"),
		OBJECTS_BY(volume_device_shape, "devicePath", "volumeDevices", 0, "Volumes of the pod that it sees as block devices."),
		OBJECTS_BY(volume_mount_shape, "mountPath", "volumeMounts", 0, "Volumes of the pod that it sees as directories or files."),
		STRING("workingDir"),
		{ 0 },
	},
};
