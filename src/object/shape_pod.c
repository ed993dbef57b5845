/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_pod - v1.Pod and what its spec says of placement, network and rights
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape preferred_scheduling_term_shape = {
	.name = "PreferredSchedulingTerm",
	.fields = {
		OBJECT(node_selector_term_shape, "preference", REQUIRED),
		INTEGER("weight", REQUIRED),
		{ 0 },
	},
};

static const struct shape node_affinity_shape = {
	.name = "NodeAffinity",
	.fields = {
		OBJECTS(preferred_scheduling_term_shape, "preferredDuringSchedulingIgnoredDuringExecution"),
		OBJECT(node_selector_shape, "requiredDuringSchedulingIgnoredDuringExecution"),
		{ 0 },
	},
};

static const struct shape pod_affinity_term_shape = {
	.name = "PodAffinityTerm",
	.fields = {
		OBJECT(label_selector_shape, "labelSelector"),
		STRINGS("matchLabelKeys"),
		STRINGS("mismatchLabelKeys"),
		OBJECT(label_selector_shape, "namespaceSelector"),
		STRINGS("namespaces"),
		STRING("topologyKey", REQUIRED),
		{ 0 },
	},
};

static const struct shape weighted_pod_affinity_term_shape = {
	.name = "WeightedPodAffinityTerm",
	.fields = {
		OBJECT(pod_affinity_term_shape, "podAffinityTerm", REQUIRED),
		INTEGER("weight", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_affinity_shape = {
	.name = "PodAffinity",
	.fields = {
		OBJECTS(weighted_pod_affinity_term_shape, "preferredDuringSchedulingIgnoredDuringExecution"),
		OBJECTS(pod_affinity_term_shape, "requiredDuringSchedulingIgnoredDuringExecution"),
		{ 0 },
	},
};

static const struct shape pod_anti_affinity_shape = {
	.name = "PodAntiAffinity",
	.fields = {
		OBJECTS(weighted_pod_affinity_term_shape, "preferredDuringSchedulingIgnoredDuringExecution"),
		OBJECTS(pod_affinity_term_shape, "requiredDuringSchedulingIgnoredDuringExecution"),
		{ 0 },
	},
};

static const struct shape affinity_shape = {
	.name = "Affinity",
	.fields = {
		OBJECT(node_affinity_shape, "nodeAffinity"),
		OBJECT(pod_affinity_shape, "podAffinity"),
		OBJECT(pod_anti_affinity_shape, "podAntiAffinity"),
		{ 0 },
	},
};

static const struct shape pod_dns_config_option_shape = {
	.name = "PodDNSConfigOption",
	.fields = {
		STRING("name"),
		STRING("value"),
		{ 0 },
	},
};

static const struct shape pod_dns_config_shape = {
	.name = "PodDNSConfig",
	.fields = {
		STRINGS("nameservers"),
		OBJECTS(pod_dns_config_option_shape, "options"),
		STRINGS("searches"),
		{ 0 },
	},
};

static const struct shape host_alias_shape = {
	.name = "HostAlias",
	.fields = {
		STRINGS("hostnames"),
		STRING("ip", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_os_shape = {
	.name = "PodOS",
	.fields = {
		STRING("name", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_readiness_gate_shape = {
	.name = "PodReadinessGate",
	.fields = {
		STRING("conditionType", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_resource_claim_shape = {
	.name = "PodResourceClaim",
	.fields = {
		STRING("name", REQUIRED),
		STRING("resourceClaimName"),
		STRING("resourceClaimTemplateName"),
		{ 0 },
	},
};

static const struct shape pod_scheduling_gate_shape = {
	.name = "PodSchedulingGate",
	.fields = {
		STRING("name", REQUIRED),
		{ 0 },
	},
};

static const struct shape sysctl_shape = {
	.name = "Sysctl",
	.fields = {
		STRING("name", REQUIRED),
		STRING("value", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_security_context_shape = {
	.name = "PodSecurityContext",
	.description = "Users, groups and the like for all containers of a pod.",
	.fields = {
		OBJECT(app_armor_profile_shape, "appArmorProfile"),
		INTEGER("fsGroup", 0, "The group that owns its volumes, where their kind knows ownership."),
		STRING("fsGroupChangePolicy", 0, "When ownership is set: Always, or OnRootMismatch."),
		INTEGER("runAsGroup", 0, "Group of its processes."),
		BOOL("runAsNonRoot"),
		INTEGER("runAsUser", 0, "User of its processes."),
		STRING("seLinuxChangePolicy"),
		OBJECT(se_linux_options_shape, "seLinuxOptions", 0, "The SELinux label of its processes."),
		OBJECT(seccomp_profile_shape, "seccompProfile"),
		INTEGERS("supplementalGroups", 0, "Further groups of its processes."),
		STRING("supplementalGroupsPolicy", 0, "Merge with the image's groups, or Strict."),
		OBJECTS(sysctl_shape, "sysctls"),
		OBJECT(windows_security_context_options_shape, "windowsOptions"),
		{ 0 },
	},
};

static const struct shape toleration_shape = {
	.name = "Toleration",
	.fields = {
		STRING("effect"),
		STRING("key"),
		STRING("operator"),
		INTEGER("tolerationSeconds"),
		STRING("value"),
		{ 0 },
	},
};

static const struct shape topology_spread_constraint_shape = {
	.name = "TopologySpreadConstraint",
	.fields = {
		OBJECT(label_selector_shape, "labelSelector"),
		STRINGS("matchLabelKeys"),
		INTEGER("maxSkew", REQUIRED),
		INTEGER("minDomains"),
		STRING("nodeAffinityPolicy"),
		STRING("nodeTaintsPolicy"),
		STRING("topologyKey", REQUIRED),
		STRING("whenUnsatisfiable", REQUIRED),
		{ 0 },
	},
};

static const struct shape pod_spec_shape = {
	.name = "PodSpec",
	.description = "What a pod is to be: its containers and the volumes they share.",
	.fields = {
		INTEGER("activeDeadlineSeconds"),
		OBJECT(affinity_shape, "affinity", 0, "Where it would rather run, or must."),
		BOOL("automountServiceAccountToken"),
		OBJECTS_BY(container_shape, "name", "containers", REQUIRED, "The containers; at least one."),
		OBJECT(pod_dns_config_shape, "dnsConfig"),
		STRING("dnsPolicy"),
		BOOL("enableServiceLinks"),
		OBJECTS_BY(ephemeral_container_shape, "name", "ephemeralContainers", 0, "Containers added later, for looking around."),
		OBJECTS_BY(host_alias_shape, "ip", "hostAliases"),
		BOOL("hostIPC"),
		BOOL("hostNetwork", 0, "Its network is the node's."),
		BOOL("hostPID", 0, "It sees the node's processes."),
		BOOL("hostUsers", 0, "False: its users are mapped, volumes with them."),
		STRING("hostname"),
		OBJECTS_BY(local_object_reference_shape, "name", "imagePullSecrets"),
		OBJECTS_BY( container_shape, "name", "initContainers", 0, "Containers that end, one after another, before the others start."),
		STRING("nodeName", 0, "The node it runs on; podvold acts only on pods of its own node."),
		STRING_MAP("nodeSelector", 0, "Labels that the node must have."),
		OBJECT(pod_os_shape, "os"),
		QUANTITY_MAP("overhead", 0, "What it needs beside its containers."),
		STRING("preemptionPolicy"),
		INTEGER("priority"),
		STRING("priorityClassName"),
		OBJECTS(pod_readiness_gate_shape, "readinessGates"),
		OBJECTS_BY(pod_resource_claim_shape, "name", "resourceClaims", RETAIN_KEYS),
		OBJECT(resource_requirements_shape, "resources"),
		STRING("restartPolicy", 0, "Always, OnFailure or Never."),
		STRING("runtimeClassName"),
		STRING("schedulerName"),
		OBJECTS_BY(pod_scheduling_gate_shape, "name", "schedulingGates"),
		OBJECT(pod_security_context_shape, "securityContext", 0, "Users, groups and the like for all containers."),
		STRING("serviceAccount"),
		STRING("serviceAccountName", 0, "The identity of its processes."),
		BOOL("setHostnameAsFQDN"),
		BOOL("shareProcessNamespace"),
		STRING("subdomain"),
		INTEGER("terminationGracePeriodSeconds", 0, "Seconds its containers are given to end."),
		OBJECTS(toleration_shape, "tolerations", 0, "Taints of nodes that do not keep it away."),
		OBJECTS_BY(topology_spread_constraint_shape, "topologyKey", "topologySpreadConstraints"),
		OBJECTS_BY(volume_shape, "name", "volumes", RETAIN_KEYS, "Volumes that the containers can mount."),
		{ 0 },
	},
};

const struct shape pod_shape = {
	.name = "Pod",
	.fields = {
		SHAPE_HEAD,
		OBJECT(pod_spec_shape, "spec", 0, "What it is to be."),
		OBJECT(pod_status_shape, "status", 0, "What became of it."),
		{ 0 },
	},
};
