/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_pod - v1.Pod and what its spec says of placement, network and rights
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema preferred_scheduling_term_schema = SCHEMA("PreferredSchedulingTerm", NULL,
	OBJECT(node_selector_term_schema, "preference", REQUIRED),
	INTEGER("weight", REQUIRED),
);

static const struct schema node_affinity_schema = SCHEMA("NodeAffinity", NULL,
	OBJECTS(preferred_scheduling_term_schema, "preferredDuringSchedulingIgnoredDuringExecution"),
	OBJECT(node_selector_schema, "requiredDuringSchedulingIgnoredDuringExecution"),
);

static const struct schema pod_affinity_term_schema = SCHEMA("PodAffinityTerm", NULL,
	OBJECT(label_selector_schema, "labelSelector"),
	STRINGS("matchLabelKeys"),
	STRINGS("mismatchLabelKeys"),
	OBJECT(label_selector_schema, "namespaceSelector"),
	STRINGS("namespaces"),
	STRING("topologyKey", REQUIRED),
);

static const struct schema weighted_pod_affinity_term_schema = SCHEMA("WeightedPodAffinityTerm", NULL,
	OBJECT(pod_affinity_term_schema, "podAffinityTerm", REQUIRED),
	INTEGER("weight", REQUIRED),
);

static const struct schema pod_affinity_schema = SCHEMA("PodAffinity", NULL,
	OBJECTS(weighted_pod_affinity_term_schema, "preferredDuringSchedulingIgnoredDuringExecution"),
	OBJECTS(pod_affinity_term_schema, "requiredDuringSchedulingIgnoredDuringExecution"),
);

static const struct schema pod_anti_affinity_schema = SCHEMA("PodAntiAffinity", NULL,
	OBJECTS(weighted_pod_affinity_term_schema, "preferredDuringSchedulingIgnoredDuringExecution"),
	OBJECTS(pod_affinity_term_schema, "requiredDuringSchedulingIgnoredDuringExecution"),
);

static const struct schema affinity_schema = SCHEMA("Affinity", NULL,
	OBJECT(node_affinity_schema, "nodeAffinity"),
	OBJECT(pod_affinity_schema, "podAffinity"),
	OBJECT(pod_anti_affinity_schema, "podAntiAffinity"),
);

static const struct schema pod_dns_config_option_schema = SCHEMA("PodDNSConfigOption", NULL,
	STRING("name"),
	STRING("value"),
);

static const struct schema pod_dns_config_schema = SCHEMA("PodDNSConfig", NULL,
	STRINGS("nameservers"),
	OBJECTS(pod_dns_config_option_schema, "options"),
	STRINGS("searches"),
);

static const struct schema host_alias_schema = SCHEMA("HostAlias", NULL,
	STRINGS("hostnames"),
	STRING("ip", REQUIRED),
);

static const struct schema pod_os_schema = SCHEMA("PodOS", NULL,
	STRING("name", REQUIRED),
);

static const struct schema pod_readiness_gate_schema = SCHEMA("PodReadinessGate", NULL,
	STRING("conditionType", REQUIRED),
);

static const struct schema pod_resource_claim_schema = SCHEMA("PodResourceClaim", NULL,
	STRING("name", REQUIRED),
	STRING("resourceClaimName"),
	STRING("resourceClaimTemplateName"),
);

static const struct schema pod_scheduling_gate_schema = SCHEMA("PodSchedulingGate", NULL,
	STRING("name", REQUIRED),
);

static const struct schema sysctl_schema = SCHEMA("Sysctl", NULL,
	STRING("name", REQUIRED),
	STRING("value", REQUIRED),
);

static const struct schema pod_security_context_schema = SCHEMA("PodSecurityContext",
	"Users, groups and the like for all containers of a pod.",
	OBJECT(app_armor_profile_schema, "appArmorProfile"),
	INTEGER("fsGroup", 0, "The group that owns its volumes, where their kind knows ownership."),
	STRING("fsGroupChangePolicy", 0, "When ownership is set: Always, or OnRootMismatch."),
	INTEGER("runAsGroup", 0, "Group of its processes."),
	BOOL("runAsNonRoot"),
	INTEGER("runAsUser", 0, "User of its processes."),
	STRING("seLinuxChangePolicy"),
	OBJECT(se_linux_options_schema, "seLinuxOptions", 0, "The SELinux label of its processes."),
	OBJECT(seccomp_profile_schema, "seccompProfile"),
	INTEGERS("supplementalGroups", 0, "Further groups of its processes."),
	STRING("supplementalGroupsPolicy", 0, "Merge with the image's groups, or Strict."),
	OBJECTS(sysctl_schema, "sysctls"),
	OBJECT(windows_security_context_options_schema, "windowsOptions"),
);

static const struct schema toleration_schema = SCHEMA("Toleration", NULL,
	STRING("effect"),
	STRING("key"),
	STRING("operator"),
	INTEGER("tolerationSeconds"),
	STRING("value"),
);

static const struct schema topology_spread_constraint_schema = SCHEMA("TopologySpreadConstraint", NULL,
	OBJECT(label_selector_schema, "labelSelector"),
	STRINGS("matchLabelKeys"),
	INTEGER("maxSkew", REQUIRED),
	INTEGER("minDomains"),
	STRING("nodeAffinityPolicy"),
	STRING("nodeTaintsPolicy"),
	STRING("topologyKey", REQUIRED),
	STRING("whenUnsatisfiable", REQUIRED),
);

static const struct schema pod_spec_schema = SCHEMA("PodSpec",
	"The desired state of a pod: its containers and the volumes they share.",
	INTEGER("activeDeadlineSeconds"),
	OBJECT(affinity_schema, "affinity", 0, "Where it prefers or has to run."),
	BOOL("automountServiceAccountToken"),
	OBJECTS_BY(container_schema, "name", "containers", REQUIRED, "The containers; at least one."),
	OBJECT(pod_dns_config_schema, "dnsConfig"),
	STRING("dnsPolicy"),
	BOOL("enableServiceLinks"),
	OBJECTS_BY(ephemeral_container_schema, "name", "ephemeralContainers", 0, "Containers added later, for debugging."),
	OBJECTS_BY(host_alias_schema, "ip", "hostAliases"),
	BOOL("hostIPC"),
	BOOL("hostNetwork", 0, "Its network is the node's."),
	BOOL("hostPID", 0, "It sees the node's processes."),
	BOOL("hostUsers", 0, "False: its users are mapped, volumes with them."),
	STRING("hostname"),
	OBJECTS_BY(local_object_reference_schema, "name", "imagePullSecrets"),
	OBJECTS_BY( container_schema, "name", "initContainers", 0, "Containers that end, one after another, before the others start."),
	STRING("nodeName", 0, "The node it runs on; podvold acts only on pods of its own node."),
	STRING_MAP("nodeSelector", 0, "Labels that the node must have."),
	OBJECT(pod_os_schema, "os"),
	QUANTITY_MAP("overhead", 0, "What it needs beside its containers."),
	STRING("preemptionPolicy"),
	INTEGER("priority"),
	STRING("priorityClassName"),
	OBJECTS(pod_readiness_gate_schema, "readinessGates"),
	OBJECTS_BY(pod_resource_claim_schema, "name", "resourceClaims", RETAIN_KEYS),
	OBJECT(resource_requirements_schema, "resources"),
	STRING("restartPolicy", 0, "Always, OnFailure or Never."),
	STRING("runtimeClassName"),
	STRING("schedulerName"),
	OBJECTS_BY(pod_scheduling_gate_schema, "name", "schedulingGates"),
	OBJECT(pod_security_context_schema, "securityContext", 0, "Users, groups and the like for all containers."),
	STRING("serviceAccount"),
	STRING("serviceAccountName", 0, "The identity of its processes."),
	BOOL("setHostnameAsFQDN"),
	BOOL("shareProcessNamespace"),
	STRING("subdomain"),
	INTEGER("terminationGracePeriodSeconds", 0, "Seconds its containers have to terminate."),
	OBJECTS(toleration_schema, "tolerations", 0, "Taints of nodes that do not keep it away."),
	OBJECTS_BY(topology_spread_constraint_schema, "topologyKey", "topologySpreadConstraints"),
	OBJECTS_BY(volume_schema, "name", "volumes", RETAIN_KEYS, "Volumes that the containers can mount."),
);

const struct schema pod_schema = SCHEMA("Pod", NULL,
	SCHEMA_HEAD,
	OBJECT(pod_spec_schema, "spec", 0, "Desired state."),
	OBJECT(pod_status_schema, "status", 0, "Observed state."),
);
