/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_reference - references to other objects, selectors of nodes, of fields and of resources
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

const struct schema object_reference_schema = {
	.name = "ObjectReference",
	.description = "Another object, by kind and name.",
	.fields = {
		STRING("apiVersion", 0, "Group and version of its kind."),
		STRING("fieldPath", 0, "A part of the object."),
		STRING("kind", 0, "Its kind."),
		STRING("name", 0, "Its name."),
		STRING("namespace", 0, "Its namespace."),
		STRING("resourceVersion", 0, "A version of it."),
		STRING("uid", 0, "Its uid: another object of that name is not meant."),
		{ 0 },
	},
};

const struct schema local_object_reference_schema = {
	.name = "LocalObjectReference",
	.description = "An object in the same namespace, by name.",
	.fields = {
		STRING("name", 0, "Its name."),
		{ 0 },
	},
};

const struct schema secret_reference_schema = {
	.name = "SecretReference",
	.description = "A Secret, by namespace and name.",
	.fields = {
		STRING("name", 0, "Its name."),
		STRING("namespace", 0, "Its namespace."),
		{ 0 },
	},
};

const struct schema typed_local_object_reference_schema = {
	.name = "TypedLocalObjectReference",
	.description = "An object of the same namespace from which a volume is filled.",
	.fields = {
		STRING("apiGroup", 0, "The group of its kind; absent: the core group."),
		STRING("kind", REQUIRED, "Its kind."),
		STRING("name", REQUIRED, "Its name."),
		{ 0 },
	},
};

const struct schema typed_object_reference_schema = {
	.name = "TypedObjectReference",
	.description = "An object from which a volume is filled.",
	.fields = {
		STRING("apiGroup", 0, "The group of its kind; absent: the core group."),
		STRING("kind", REQUIRED, "Its kind."),
		STRING("name", REQUIRED, "Its name."),
		STRING("namespace", 0, "Its namespace: the claim's; another one is refused."),
		{ 0 },
	},
};

static const struct schema node_selector_requirement_schema = {
	.name = "NodeSelectorRequirement",
	.description = "One condition on a label or field of a node.",
	.fields = {
		STRING("key", REQUIRED, "The label or field."),
		STRING("operator", REQUIRED, "In, NotIn, Exists, DoesNotExist, Gt or Lt."),
		STRINGS("values", 0, "For In and NotIn; one integer for Gt and Lt."),
		{ 0 },
	},
};

const struct schema node_selector_term_schema = {
	.name = "NodeSelectorTerm",
	.description = "Conditions that hold at once.",
	.fields = {
		OBJECTS(node_selector_requirement_schema, "matchExpressions", 0, "Conditions on labels."),
		OBJECTS(node_selector_requirement_schema, "matchFields", 0, "Conditions on fields; passed over for volumes."),
		{ 0 },
	},
};

const struct schema node_selector_schema = {
	.name = "NodeSelector",
	.description = "Nodes by their labels; one term that holds is enough.",
	.fields = {
		OBJECTS(node_selector_term_schema, "nodeSelectorTerms", REQUIRED, "One that holds is enough; none holds nowhere."),
		{ 0 },
	},
};

static const struct schema topology_selector_label_requirement_schema = {
	.name = "TopologySelectorLabelRequirement",
	.description = "The values that a label of the node may have.",
	.fields = {
		STRING("key", REQUIRED, "The label."),
		STRINGS("values", REQUIRED, "One of these."),
		{ 0 },
	},
};

const struct schema topology_selector_term_schema = {
	.name = "TopologySelectorTerm",
	.description = "A part of the topology, by labels of nodes.",
	.fields = {
		OBJECTS(topology_selector_label_requirement_schema, "matchLabelExpressions", 0, "Conditions that hold at once."),
		{ 0 },
	},
};

const struct schema object_field_selector_schema = {
	.name = "ObjectFieldSelector",
	.fields = {
		STRING("apiVersion", 0, "The version that the path is of: v1."),
		STRING("fieldPath", REQUIRED, "The field: metadata.labels['app'], spec.nodeName, ..."),
		{ 0 },
	},
};

const struct schema resource_field_selector_schema = {
	.name = "ResourceFieldSelector",
	.fields = {
		STRING("containerName", 0, "The container; required in a volume."),
		QUANTITY("divisor", 0, "The unit of the number; 1."),
		STRING("resource", REQUIRED, "limits.cpu, requests.memory, ..."),
		{ 0 },
	},
};
