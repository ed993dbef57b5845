/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_pod - v1.Pod and what its spec says of placement, network and rights
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field preferred_scheduling_term_fields[] = {
	{ .name = "preference",
	  .type = SHAPE_OBJECT,
	  .of = &node_selector_term_shape,
	  .required = true },
	{ .name = "weight", .type = SHAPE_INTEGER, .required = true },
	{ 0 },
};

static const struct shape preferred_scheduling_term_shape = {
	.name = "PreferredSchedulingTerm",
	.fields = preferred_scheduling_term_fields,
};

static const struct shape_field node_affinity_fields[] = {
	{ .name = "preferredDuringSchedulingIgnoredDuringExecution",
	  .type = SHAPE_OBJECTS,
	  .of = &preferred_scheduling_term_shape },
	{ .name = "requiredDuringSchedulingIgnoredDuringExecution",
	  .type = SHAPE_OBJECT,
	  .of = &node_selector_shape },
	{ 0 },
};

static const struct shape node_affinity_shape = {
	.name = "NodeAffinity",
	.fields = node_affinity_fields,
};

static const struct shape_field pod_affinity_term_fields[] = {
	{ .name = "labelSelector", .type = SHAPE_OBJECT, .of = &label_selector_shape },
	{ .name = "matchLabelKeys", .type = SHAPE_STRINGS },
	{ .name = "mismatchLabelKeys", .type = SHAPE_STRINGS },
	{ .name = "namespaceSelector", .type = SHAPE_OBJECT, .of = &label_selector_shape },
	{ .name = "namespaces", .type = SHAPE_STRINGS },
	{ .name = "topologyKey", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape pod_affinity_term_shape = {
	.name = "PodAffinityTerm",
	.fields = pod_affinity_term_fields,
};

static const struct shape_field weighted_pod_affinity_term_fields[] = {
	{ .name = "podAffinityTerm",
	  .type = SHAPE_OBJECT,
	  .of = &pod_affinity_term_shape,
	  .required = true },
	{ .name = "weight", .type = SHAPE_INTEGER, .required = true },
	{ 0 },
};

static const struct shape weighted_pod_affinity_term_shape = {
	.name = "WeightedPodAffinityTerm",
	.fields = weighted_pod_affinity_term_fields,
};

static const struct shape_field pod_affinity_fields[] = {
	{ .name = "preferredDuringSchedulingIgnoredDuringExecution",
	  .type = SHAPE_OBJECTS,
	  .of = &weighted_pod_affinity_term_shape },
	{ .name = "requiredDuringSchedulingIgnoredDuringExecution",
	  .type = SHAPE_OBJECTS,
	  .of = &pod_affinity_term_shape },
	{ 0 },
};

static const struct shape pod_affinity_shape = {
	.name = "PodAffinity",
	.fields = pod_affinity_fields,
};

static const struct shape_field pod_anti_affinity_fields[] = {
	{ .name = "preferredDuringSchedulingIgnoredDuringExecution",
	  .type = SHAPE_OBJECTS,
	  .of = &weighted_pod_affinity_term_shape },
	{ .name = "requiredDuringSchedulingIgnoredDuringExecution",
	  .type = SHAPE_OBJECTS,
	  .of = &pod_affinity_term_shape },
	{ 0 },
};

static const struct shape pod_anti_affinity_shape = {
	.name = "PodAntiAffinity",
	.fields = pod_anti_affinity_fields,
};

static const struct shape_field affinity_fields[] = {
	{ .name = "nodeAffinity", .type = SHAPE_OBJECT, .of = &node_affinity_shape },
	{ .name = "podAffinity", .type = SHAPE_OBJECT, .of = &pod_affinity_shape },
	{ .name = "podAntiAffinity", .type = SHAPE_OBJECT, .of = &pod_anti_affinity_shape },
	{ 0 },
};

static const struct shape affinity_shape = {
	.name = "Affinity",
	.fields = affinity_fields,
};

static const struct shape_field pod_dns_config_option_fields[] = {
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "value", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape pod_dns_config_option_shape = {
	.name = "PodDNSConfigOption",
	.fields = pod_dns_config_option_fields,
};

static const struct shape_field pod_dns_config_fields[] = {
	{ .name = "nameservers", .type = SHAPE_STRINGS },
	{ .name = "options", .type = SHAPE_OBJECTS, .of = &pod_dns_config_option_shape },
	{ .name = "searches", .type = SHAPE_STRINGS },
	{ 0 },
};

static const struct shape pod_dns_config_shape = {
	.name = "PodDNSConfig",
	.fields = pod_dns_config_fields,
};

static const struct shape_field host_alias_fields[] = {
	{ .name = "hostnames", .type = SHAPE_STRINGS },
	{ .name = "ip", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape host_alias_shape = {
	.name = "HostAlias",
	.fields = host_alias_fields,
};

static const struct shape_field pod_os_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape pod_os_shape = {
	.name = "PodOS",
	.fields = pod_os_fields,
};

static const struct shape_field pod_readiness_gate_fields[] = {
	{ .name = "conditionType", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape pod_readiness_gate_shape = {
	.name = "PodReadinessGate",
	.fields = pod_readiness_gate_fields,
};

static const struct shape_field pod_resource_claim_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "resourceClaimName", .type = SHAPE_STRING },
	{ .name = "resourceClaimTemplateName", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape pod_resource_claim_shape = {
	.name = "PodResourceClaim",
	.fields = pod_resource_claim_fields,
};

static const struct shape_field pod_scheduling_gate_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape pod_scheduling_gate_shape = {
	.name = "PodSchedulingGate",
	.fields = pod_scheduling_gate_fields,
};

static const struct shape_field sysctl_fields[] = {
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "value", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape sysctl_shape = {
	.name = "Sysctl",
	.fields = sysctl_fields,
};

static const struct shape_field pod_security_context_fields[] = {
	{ .name = "appArmorProfile", .type = SHAPE_OBJECT, .of = &app_armor_profile_shape },
	{ .name = "fsGroup",
	  .type = SHAPE_INTEGER,
	  .description = "The group that owns its volumes, where their kind knows ownership." },
	{ .name = "fsGroupChangePolicy",
	  .type = SHAPE_STRING,
	  .description = "When ownership is set: Always, or OnRootMismatch." },
	{ .name = "runAsGroup", .type = SHAPE_INTEGER, .description = "Group of its processes." },
	{ .name = "runAsNonRoot", .type = SHAPE_BOOL },
	{ .name = "runAsUser", .type = SHAPE_INTEGER, .description = "User of its processes." },
	{ .name = "seLinuxChangePolicy", .type = SHAPE_STRING },
	{ .name = "seLinuxOptions",
	  .type = SHAPE_OBJECT,
	  .of = &se_linux_options_shape,
	  .description = "The SELinux label of its processes." },
	{ .name = "seccompProfile", .type = SHAPE_OBJECT, .of = &seccomp_profile_shape },
	{ .name = "supplementalGroups",
	  .type = SHAPE_INTEGERS,
	  .description = "Further groups of its processes." },
	{ .name = "supplementalGroupsPolicy",
	  .type = SHAPE_STRING,
	  .description = "Merge with the image's groups, or Strict." },
	{ .name = "sysctls", .type = SHAPE_OBJECTS, .of = &sysctl_shape },
	{ .name = "windowsOptions",
	  .type = SHAPE_OBJECT,
	  .of = &windows_security_context_options_shape },
	{ 0 },
};

static const struct shape pod_security_context_shape = {
	.name = "PodSecurityContext",
	.description = "Users, groups and the like for all containers of a pod.",
	.fields = pod_security_context_fields,
};

static const struct shape_field toleration_fields[] = {
	{ .name = "effect", .type = SHAPE_STRING },
	{ .name = "key", .type = SHAPE_STRING },
	{ .name = "operator", .type = SHAPE_STRING },
	{ .name = "tolerationSeconds", .type = SHAPE_INTEGER },
	{ .name = "value", .type = SHAPE_STRING },
	{ 0 },
};

static const struct shape toleration_shape = {
	.name = "Toleration",
	.fields = toleration_fields,
};

static const struct shape_field topology_spread_constraint_fields[] = {
	{ .name = "labelSelector", .type = SHAPE_OBJECT, .of = &label_selector_shape },
	{ .name = "matchLabelKeys", .type = SHAPE_STRINGS },
	{ .name = "maxSkew", .type = SHAPE_INTEGER, .required = true },
	{ .name = "minDomains", .type = SHAPE_INTEGER },
	{ .name = "nodeAffinityPolicy", .type = SHAPE_STRING },
	{ .name = "nodeTaintsPolicy", .type = SHAPE_STRING },
	{ .name = "topologyKey", .type = SHAPE_STRING, .required = true },
	{ .name = "whenUnsatisfiable", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape topology_spread_constraint_shape = {
	.name = "TopologySpreadConstraint",
	.fields = topology_spread_constraint_fields,
};

static const struct shape_field pod_spec_fields[] = {
	{ .name = "activeDeadlineSeconds", .type = SHAPE_INTEGER },
	{ .name = "affinity",
	  .type = SHAPE_OBJECT,
	  .of = &affinity_shape,
	  .description = "Where it would rather run, or must." },
	{ .name = "automountServiceAccountToken", .type = SHAPE_BOOL },
	{ .name = "containers",
	  .type = SHAPE_OBJECTS,
	  .of = &container_shape,
	  .merge_key = "name",
	  .description = "The containers; at least one.",
	  .required = true },
	{ .name = "dnsConfig", .type = SHAPE_OBJECT, .of = &pod_dns_config_shape },
	{ .name = "dnsPolicy", .type = SHAPE_STRING },
	{ .name = "enableServiceLinks", .type = SHAPE_BOOL },
	{ .name = "ephemeralContainers",
	  .type = SHAPE_OBJECTS,
	  .of = &ephemeral_container_shape,
	  .merge_key = "name",
	  .description = "Containers added later, for looking around." },
	{ .name = "hostAliases",
	  .type = SHAPE_OBJECTS,
	  .of = &host_alias_shape,
	  .merge_key = "ip" },
	{ .name = "hostIPC", .type = SHAPE_BOOL },
	{ .name = "hostNetwork", .type = SHAPE_BOOL, .description = "Its network is the node's." },
	{ .name = "hostPID", .type = SHAPE_BOOL, .description = "It sees the node's processes." },
	{ .name = "hostUsers",
	  .type = SHAPE_BOOL,
	  .description = "False: its users are mapped, volumes with them." },
	{ .name = "hostname", .type = SHAPE_STRING },
	{ .name = "imagePullSecrets",
	  .type = SHAPE_OBJECTS,
	  .of = &local_object_reference_shape,
	  .merge_key = "name" },
	{ .name = "initContainers",
	  .type = SHAPE_OBJECTS,
	  .of = &container_shape,
	  .merge_key = "name",
	  .description = "Containers that end, one after another, before the others start." },
	{ .name = "nodeName",
	  .type = SHAPE_STRING,
	  .description = "The node it runs on; podvold acts only on pods of its own node." },
	{ .name = "nodeSelector",
	  .type = SHAPE_STRING_MAP,
	  .description = "Labels that the node must have." },
	{ .name = "os", .type = SHAPE_OBJECT, .of = &pod_os_shape },
	{ .name = "overhead",
	  .type = SHAPE_QUANTITY_MAP,
	  .description = "What it needs beside its containers." },
	{ .name = "preemptionPolicy", .type = SHAPE_STRING },
	{ .name = "priority", .type = SHAPE_INTEGER },
	{ .name = "priorityClassName", .type = SHAPE_STRING },
	{ .name = "readinessGates", .type = SHAPE_OBJECTS, .of = &pod_readiness_gate_shape },
	{ .name = "resourceClaims",
	  .type = SHAPE_OBJECTS,
	  .of = &pod_resource_claim_shape,
	  .merge_key = "name",
	  .retain_keys = true },
	{ .name = "resources", .type = SHAPE_OBJECT, .of = &resource_requirements_shape },
	{ .name = "restartPolicy",
	  .type = SHAPE_STRING,
	  .description = "Always, OnFailure or Never." },
	{ .name = "runtimeClassName", .type = SHAPE_STRING },
	{ .name = "schedulerName", .type = SHAPE_STRING },
	{ .name = "schedulingGates",
	  .type = SHAPE_OBJECTS,
	  .of = &pod_scheduling_gate_shape,
	  .merge_key = "name" },
	{ .name = "securityContext",
	  .type = SHAPE_OBJECT,
	  .of = &pod_security_context_shape,
	  .description = "Users, groups and the like for all containers." },
	{ .name = "serviceAccount", .type = SHAPE_STRING },
	{ .name = "serviceAccountName",
	  .type = SHAPE_STRING,
	  .description = "The identity of its processes." },
	{ .name = "setHostnameAsFQDN", .type = SHAPE_BOOL },
	{ .name = "shareProcessNamespace", .type = SHAPE_BOOL },
	{ .name = "subdomain", .type = SHAPE_STRING },
	{ .name = "terminationGracePeriodSeconds",
	  .type = SHAPE_INTEGER,
	  .description = "Seconds its containers are given to end." },
	{ .name = "tolerations",
	  .type = SHAPE_OBJECTS,
	  .of = &toleration_shape,
	  .description = "Taints of nodes that do not keep it away." },
	{ .name = "topologySpreadConstraints",
	  .type = SHAPE_OBJECTS,
	  .of = &topology_spread_constraint_shape,
	  .merge_key = "topologyKey" },
	{ .name = "volumes",
	  .type = SHAPE_OBJECTS,
	  .of = &volume_shape,
	  .merge_key = "name",
	  .description = "Volumes that the containers can mount.",
	  .retain_keys = true },
	{ 0 },
};

static const struct shape pod_spec_shape = {
	.name = "PodSpec",
	.description = "What a pod is to be: its containers and the volumes they share.",
	.fields = pod_spec_fields,
};

static const struct shape_field pod_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &pod_spec_shape,
	  .description = "What it is to be." },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &pod_status_shape,
	  .description = "What became of it." },
	{ 0 },
};

const struct shape pod_shape = {
	.name = "Pod",
	.fields = pod_fields,
};
