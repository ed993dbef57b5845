/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_container - containers of pods, with all that hangs on them
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field config_map_key_selector_fields[] = {
	{ .name = "key", .type = SHAPE_STRING, .required = true },
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "optional", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape config_map_key_selector_shape = {
	.name = "ConfigMapKeySelector",
	.fields = config_map_key_selector_fields,
};

static const struct shape_field secret_key_selector_fields[] = {
	{ .name = "key", .type = SHAPE_STRING, .required = true },
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "optional", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape secret_key_selector_shape = {
	.name = "SecretKeySelector",
	.fields = secret_key_selector_fields,
};

static const struct shape_field env_var_source_fields[] = {
	{ .name = "configMapKeyRef", .type = SHAPE_OBJECT, .of = &config_map_key_selector_shape },
	{ .name = "fieldRef", .type = SHAPE_OBJECT, .of = &object_field_selector_shape },
	{ .name = "resourceFieldRef", .type = SHAPE_OBJECT, .of = &resource_field_selector_shape },
	{ .name = "secretKeyRef", .type = SHAPE_OBJECT, .of = &secret_key_selector_shape },
	{ 0 },
};

static const struct shape env_var_source_shape = {
	.name = "EnvVarSource",
	.fields = env_var_source_fields,
};

static const struct shape_field env_var_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "value", .type = SHAPE_STRING },
	{ .name = "valueFrom", .type = SHAPE_OBJECT, .of = &env_var_source_shape },
	{ 0 },
};

static const struct shape env_var_shape = {
	.name = "EnvVar",
	.fields = env_var_fields,
};

static const struct shape_field config_map_env_source_fields[] = {
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "optional", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape config_map_env_source_shape = {
	.name = "ConfigMapEnvSource",
	.fields = config_map_env_source_fields,
};

static const struct shape_field secret_env_source_fields[] = {
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "optional", .type = SHAPE_BOOL },
	{ 0 },
};

static const struct shape secret_env_source_shape = {
	.name = "SecretEnvSource",
	.fields = secret_env_source_fields,
};

static const struct shape_field env_from_source_fields[] = {
	{ .name = "configMapRef", .type = SHAPE_OBJECT, .of = &config_map_env_source_shape },
	{ .name = "prefix", .type = SHAPE_STRING },
	{ .name = "secretRef", .type = SHAPE_OBJECT, .of = &secret_env_source_shape },
	{ 0 },
};

static const struct shape env_from_source_shape = {
	.name = "EnvFromSource",
	.fields = env_from_source_fields,
};

static const struct shape_field exec_action_fields[] = {
	{ .name = "command", .type = SHAPE_STRINGS },
	{ 0 },
};

static const struct shape exec_action_shape = {
	.name = "ExecAction",
	.fields = exec_action_fields,
};

static const struct shape_field http_header_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "value", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape http_header_shape = {
	.name = "HTTPHeader",
	.fields = http_header_fields,
};

static const struct shape_field http_get_action_fields[] = {
	{ .name = "host", .type = SHAPE_STRING },
	{ .name = "httpHeaders", .type = SHAPE_OBJECTS, .of = &http_header_shape },
	{ .name = "path", .type = SHAPE_STRING },
	{ .name = "port", .type = SHAPE_INT_OR_STRING, .required = true },
	{ .name = "scheme", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape http_get_action_shape = {
	.name = "HTTPGetAction",
	.fields = http_get_action_fields,
};

static const struct shape_field sleep_action_fields[] = {
	{ .name = "seconds", .type = SHAPE_INTEGER, .required = true },
	{ 0 },
};

static const struct shape sleep_action_shape = {
	.name = "SleepAction",
	.fields = sleep_action_fields,
};

static const struct shape_field tcp_socket_action_fields[] = {
	{ .name = "host", .type = SHAPE_STRING },
	{ .name = "port", .type = SHAPE_INT_OR_STRING, .required = true },
	{ 0 },
};

static const struct shape tcp_socket_action_shape = {
	.name = "TCPSocketAction",
	.fields = tcp_socket_action_fields,
};

static const struct shape_field grpc_action_fields[] = {
	{ .name = "port", .type = SHAPE_INTEGER, .required = true },
	{ .name = "service", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape grpc_action_shape = {
	.name = "GRPCAction",
	.fields = grpc_action_fields,
};

static const struct shape_field lifecycle_handler_fields[] = {
	{ .name = "exec", .type = SHAPE_OBJECT, .of = &exec_action_shape },
	{ .name = "httpGet", .type = SHAPE_OBJECT, .of = &http_get_action_shape },
	{ .name = "sleep", .type = SHAPE_OBJECT, .of = &sleep_action_shape },
	{ .name = "tcpSocket", .type = SHAPE_OBJECT, .of = &tcp_socket_action_shape },
	{ 0 },
};

static const struct shape lifecycle_handler_shape = {
	.name = "LifecycleHandler",
	.fields = lifecycle_handler_fields,
};

static const struct shape_field lifecycle_fields[] = {
	{ .name = "postStart", .type = SHAPE_OBJECT, .of = &lifecycle_handler_shape },
	{ .name = "preStop", .type = SHAPE_OBJECT, .of = &lifecycle_handler_shape },
	{ 0 },
};

static const struct shape lifecycle_shape = {
	.name = "Lifecycle",
	.fields = lifecycle_fields,
};

static const struct shape_field probe_fields[] = {
	{ .name = "exec", .type = SHAPE_OBJECT, .of = &exec_action_shape },
	{ .name = "failureThreshold", .type = SHAPE_INTEGER },
	{ .name = "grpc", .type = SHAPE_OBJECT, .of = &grpc_action_shape },
	{ .name = "httpGet", .type = SHAPE_OBJECT, .of = &http_get_action_shape },
	{ .name = "initialDelaySeconds", .type = SHAPE_INTEGER },
	{ .name = "periodSeconds", .type = SHAPE_INTEGER },
	{ .name = "successThreshold", .type = SHAPE_INTEGER },
	{ .name = "tcpSocket", .type = SHAPE_OBJECT, .of = &tcp_socket_action_shape },
	{ .name = "terminationGracePeriodSeconds", .type = SHAPE_INTEGER },
	{ .name = "timeoutSeconds", .type = SHAPE_INTEGER },
	{ 0 },
};

static const struct shape probe_shape = {
	.name = "Probe",
	.fields = probe_fields,
};

static const struct shape_field container_port_fields[] = {
	{ .name = "containerPort", .type = SHAPE_INTEGER, .required = true },
	{ .name = "hostIP", .type = SHAPE_STRING },
	{ .name = "hostPort", .type = SHAPE_INTEGER },
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "protocol", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape container_port_shape = {
	.name = "ContainerPort",
	.fields = container_port_fields,
};

static const struct shape_field container_resize_policy_fields[] = {
	{ .name = "resourceName", .type = SHAPE_STRING, .required = true },
	{ .name = "restartPolicy", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape container_resize_policy_shape = {
	.name = "ContainerResizePolicy",
	.fields = container_resize_policy_fields,
};

static const struct shape_field resource_claim_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "request", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape resource_claim_shape = {
	.name = "ResourceClaim",
	.fields = resource_claim_fields,
};

static const struct shape_field resource_requirements_fields[] = {
	{ .name = "claims", .type = SHAPE_OBJECTS, .of = &resource_claim_shape },
	{ .name = "limits", .type = SHAPE_QUANTITY_MAP, .description = "At most so much." },
	{ .name = "requests",
	  .type = SHAPE_QUANTITY_MAP,
	  .description = "At least so much; what is not named is as the limit." },
	{ 0 },
};

const struct shape resource_requirements_shape = {
	.name = "ResourceRequirements",
	.fields = resource_requirements_fields,
};

static const struct shape_field app_armor_profile_fields[] = {
	{ .name = "localhostProfile", .type = SHAPE_STRING },
	{ .name = "type", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape app_armor_profile_shape = {
	.name = "AppArmorProfile",
	.fields = app_armor_profile_fields,
};

static const struct shape_field capabilities_fields[] = {
	{ .name = "add", .type = SHAPE_STRINGS },
	{ .name = "drop", .type = SHAPE_STRINGS },
	{ 0 },
};

static const struct shape capabilities_shape = {
	.name = "Capabilities",
	.fields = capabilities_fields,
};

static const struct shape_field se_linux_options_fields[] = {
	{ .name = "level", .type = SHAPE_STRING },
	{ .name = "role", .type = SHAPE_STRING },
	{ .name = "type", .type = SHAPE_STRING },
	{ .name = "user", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape se_linux_options_shape = {
	.name = "SELinuxOptions",
	.fields = se_linux_options_fields,
};

static const struct shape_field seccomp_profile_fields[] = {
	{ .name = "localhostProfile", .type = SHAPE_STRING },
	{ .name = "type", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape seccomp_profile_shape = {
	.name = "SeccompProfile",
	.fields = seccomp_profile_fields,
};

static const struct shape_field windows_security_context_options_fields[] = {
	{ .name = "gmsaCredentialSpec", .type = SHAPE_STRING },
	{ .name = "gmsaCredentialSpecName", .type = SHAPE_STRING },
	{ .name = "hostProcess", .type = SHAPE_BOOL },
	{ .name = "runAsUserName", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape windows_security_context_options_shape = {
	.name = "WindowsSecurityContextOptions",
	.fields = windows_security_context_options_fields,
};

static const struct shape_field security_context_fields[] = {
	{ .name = "allowPrivilegeEscalation", .type = SHAPE_BOOL },
	{ .name = "appArmorProfile", .type = SHAPE_OBJECT, .of = &app_armor_profile_shape },
	{ .name = "capabilities", .type = SHAPE_OBJECT, .of = &capabilities_shape },
	{ .name = "privileged",
	  .type = SHAPE_BOOL,
	  .description = "It may do what root on the node may." },
	{ .name = "procMount", .type = SHAPE_STRING },
	{ .name = "readOnlyRootFilesystem", .type = SHAPE_BOOL },
	{ .name = "runAsGroup", .type = SHAPE_INTEGER },
	{ .name = "runAsNonRoot", .type = SHAPE_BOOL },
	{ .name = "runAsUser",
	  .type = SHAPE_INTEGER,
	  .description = "User of its processes; wins over the pod's." },
	{ .name = "seLinuxOptions", .type = SHAPE_OBJECT, .of = &se_linux_options_shape },
	{ .name = "seccompProfile", .type = SHAPE_OBJECT, .of = &seccomp_profile_shape },
	{ .name = "windowsOptions",
	  .type = SHAPE_OBJECT,
	  .of = &windows_security_context_options_shape },
	{ 0 },
};

static const struct shape security_context_shape = {
	.name = "SecurityContext",
	.fields = security_context_fields,
};

static const struct shape_field volume_device_fields[] = {
	{ .name = "devicePath",
	  .type = SHAPE_STRING,
	  .description = "Where the device appears in the container.",
	  .required = true },
	{ .name = "name",
	  .type = SHAPE_STRING,
	  .description = "The claim, by its volume's name in the pod.",
	  .required = true },
	{ 0 },
};

static const struct shape volume_device_shape = {
	.name = "VolumeDevice",
	.description = "Where in a container a volume of the pod appears as a block device.",
	.fields = volume_device_fields,
};

static const struct shape_field volume_mount_fields[] = {
	{ .name = "mountPath",
	  .type = SHAPE_STRING,
	  .description = "Where it appears in the container.",
	  .required = true },
	{ .name = "mountPropagation",
	  .type = SHAPE_STRING,
	  .description = "Which mounts pass between node and container: None, HostToContainer or "
			 "Bidirectional." },
	{ .name = "name",
	  .type = SHAPE_STRING,
	  .description = "The volume, by its name in the pod.",
	  .required = true },
	{ .name = "readOnly", .type = SHAPE_BOOL, .description = "It cannot be written to here." },
	{ .name = "recursiveReadOnly",
	  .type = SHAPE_STRING,
	  .description = "Nor what is mounted below it: Disabled, IfPossible or Enabled." },
	{ .name = "subPath",
	  .type = SHAPE_STRING,
	  .description = "Only this part of the volume; relative, without '..'." },
	{ .name = "subPathExpr",
	  .type = SHAPE_STRING,
	  .description = "The same with $(VARIABLES) of the container." },
	{ 0 },
};

static const struct shape volume_mount_shape = {
	.name = "VolumeMount",
	.description = "Where in a container a volume of the pod appears.",
	.fields = volume_mount_fields,
};

static const struct shape_field container_fields[] = {
	{ .name = "args", .type = SHAPE_STRINGS, .description = "Words for the program." },
	{ .name = "command",
	  .type = SHAPE_STRINGS,
	  .description = "The program, in place of the image's." },
	{ .name = "env",
	  .type = SHAPE_OBJECTS,
	  .of = &env_var_shape,
	  .merge_key = "name",
	  .description = "Variables." },
	{ .name = "envFrom", .type = SHAPE_OBJECTS, .of = &env_from_source_shape },
	{ .name = "image", .type = SHAPE_STRING, .description = "What it runs." },
	{ .name = "imagePullPolicy", .type = SHAPE_STRING },
	{ .name = "lifecycle", .type = SHAPE_OBJECT, .of = &lifecycle_shape },
	{ .name = "livenessProbe", .type = SHAPE_OBJECT, .of = &probe_shape },
	{ .name = "name",
	  .type = SHAPE_STRING,
	  .description = "Its name, once per pod.",
	  .required = true },
	{ .name = "ports",
	  .type = SHAPE_OBJECTS,
	  .of = &container_port_shape,
	  .merge_key = "containerPort" },
	{ .name = "readinessProbe", .type = SHAPE_OBJECT, .of = &probe_shape },
	{ .name = "resizePolicy", .type = SHAPE_OBJECTS, .of = &container_resize_policy_shape },
	{ .name = "resources",
	  .type = SHAPE_OBJECT,
	  .of = &resource_requirements_shape,
	  .description = "What it may use; limits of memory and of huge pages bound its volumes." },
	{ .name = "restartPolicy", .type = SHAPE_STRING },
	{ .name = "securityContext",
	  .type = SHAPE_OBJECT,
	  .of = &security_context_shape,
	  .description = "User, privileges and the like." },
	{ .name = "startupProbe", .type = SHAPE_OBJECT, .of = &probe_shape },
	{ .name = "stdin", .type = SHAPE_BOOL },
	{ .name = "stdinOnce", .type = SHAPE_BOOL },
	{ .name = "terminationMessagePath", .type = SHAPE_STRING },
	{ .name = "terminationMessagePolicy", .type = SHAPE_STRING },
	{ .name = "tty", .type = SHAPE_BOOL },
	{ .name = "volumeDevices",
	  .type = SHAPE_OBJECTS,
	  .of = &volume_device_shape,
	  .merge_key = "devicePath",
	  .description = "Volumes of the pod that it sees as block devices." },
	{ .name = "volumeMounts",
	  .type = SHAPE_OBJECTS,
	  .of = &volume_mount_shape,
	  .merge_key = "mountPath",
	  .description = "Volumes of the pod that it sees as directories or files." },
	{ .name = "workingDir", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape container_shape = {
	.name = "Container",
	.description = "One program of a pod, with what it sees.",
	.fields = container_fields,
};

static const struct shape_field ephemeral_container_fields[] = {
	{ .name = "args", .type = SHAPE_STRINGS, .description = "Words for the program." },
	{ .name = "command",
	  .type = SHAPE_STRINGS,
	  .description = "The program, in place of the image's." },
	{ .name = "env",
	  .type = SHAPE_OBJECTS,
	  .of = &env_var_shape,
	  .merge_key = "name",
	  .description = "Variables." },
	{ .name = "envFrom", .type = SHAPE_OBJECTS, .of = &env_from_source_shape },
	{ .name = "image", .type = SHAPE_STRING, .description = "What it runs." },
	{ .name = "imagePullPolicy", .type = SHAPE_STRING },
	{ .name = "lifecycle", .type = SHAPE_OBJECT, .of = &lifecycle_shape },
	{ .name = "livenessProbe", .type = SHAPE_OBJECT, .of = &probe_shape },
	{ .name = "name",
	  .type = SHAPE_STRING,
	  .description = "Its name, once per pod.",
	  .required = true },
	{ .name = "ports",
	  .type = SHAPE_OBJECTS,
	  .of = &container_port_shape,
	  .merge_key = "containerPort" },
	{ .name = "readinessProbe", .type = SHAPE_OBJECT, .of = &probe_shape },
	{ .name = "resizePolicy", .type = SHAPE_OBJECTS, .of = &container_resize_policy_shape },
	{ .name = "resources",
	  .type = SHAPE_OBJECT,
	  .of = &resource_requirements_shape,
	  .description = "What it may use; limits of memory and of huge pages bound its volumes." },
	{ .name = "restartPolicy", .type = SHAPE_STRING },
	{ .name = "securityContext",
	  .type = SHAPE_OBJECT,
	  .of = &security_context_shape,
	  .description = "User, privileges and the like." },
	{ .name = "startupProbe", .type = SHAPE_OBJECT, .of = &probe_shape },
	{ .name = "stdin", .type = SHAPE_BOOL },
	{ .name = "stdinOnce", .type = SHAPE_BOOL },
	{ .name = "targetContainerName",
	  .type = SHAPE_STRING,
	  .description = "The container whose processes it sees." },
	{ .name = "terminationMessagePath", .type = SHAPE_STRING },
	{ .name = "terminationMessagePolicy", .type = SHAPE_STRING },
	{ .name = "tty", .type = SHAPE_BOOL },
	{ .name = "volumeDevices",
	  .type = SHAPE_OBJECTS,
	  .of = &volume_device_shape,
	  .merge_key = "devicePath",
	  .description = "Volumes of the pod that it sees as block devices." },
	{ .name = "volumeMounts",
	  .type = SHAPE_OBJECTS,
	  .of = &volume_mount_shape,
	  .merge_key = "mountPath",
	  .description = "Volumes of the pod that it sees as directories or files." },
	{ .name = "workingDir", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape ephemeral_container_shape = {
	.name = "EphemeralContainer",
	.description = "A container that is added to a running pod, for looking around.",
	.fields = ephemeral_container_fields,
};
