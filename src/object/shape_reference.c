/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_reference - references to other objects, selectors of nodes, of fields and of resources
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

const struct shape object_reference_shape = {
	.name = "ObjectReference",
	.description = "Another object, by kind and name.",
	.fields = {
		STRING("apiVersion"),
		STRING("fieldPath"),
		STRING("kind"),
		STRING("name"),
		STRING("namespace"),
		STRING("resourceVersion"),
		STRING("uid"),
		{ 0 },
	},
};

const struct shape local_object_reference_shape = {
	.name = "LocalObjectReference",
	.description = "An object in the same namespace, by name.",
	.fields = {
		STRING("name"),
		{ 0 },
	},
};

const struct shape secret_reference_shape = {
	.name = "SecretReference",
	.description = "A Secret, by namespace and name.",
	.fields = {
		STRING("name"),
		STRING("namespace"),
		{ 0 },
	},
};

const struct shape typed_local_object_reference_shape = {
	.name = "TypedLocalObjectReference",
	.description = "An object of the same namespace from which a volume is filled.",
	.fields = {
		STRING("apiGroup"),
		STRING("kind", REQUIRED),
		STRING("name", REQUIRED),
		{ 0 },
	},
};

const struct shape typed_object_reference_shape = {
	.name = "TypedObjectReference",
	.description = "An object from which a volume is filled.",
	.fields = {
		STRING("apiGroup"),
		STRING("kind", REQUIRED),
		STRING("name", REQUIRED),
		STRING("namespace"),
		{ 0 },
	},
};

static const struct shape node_selector_requirement_shape = {
	.name = "NodeSelectorRequirement",
	.description = "One condition on a label or field of a node.",
	.fields = {
		STRING("key", REQUIRED, "The label or field."),
		STRING("operator", REQUIRED, "In, NotIn, Exists, DoesNotExist, Gt or Lt."),
		STRINGS("values", 0, "For In and NotIn; one integer for Gt and Lt."),
		{ 0 },
	},
};

const struct shape node_selector_term_shape = {
	.name = "NodeSelectorTerm",
	.description = "Conditions that hold at once.",
	.fields = {
		OBJECTS(node_selector_requirement_shape, "matchExpressions", 0, "Conditions on labels."),
		OBJECTS(node_selector_requirement_shape, "matchFields", 0, "Conditions on fields; passed over for volumes."),
		{ 0 },
	},
};

const struct shape node_selector_shape = {
	.name = "NodeSelector",
	.description = "Nodes by their labels; one term that holds is enough.",
	.fields = {
		OBJECTS(node_selector_term_shape, "nodeSelectorTerms", REQUIRED, "One that holds is enough; none holds nowhere."),
		{ 0 },
	},
};

static const struct shape topology_selector_label_requirement_shape = {
	.name = "TopologySelectorLabelRequirement",
	.description = "The values that a label of the node may have.",
	.fields = {
		STRING("key", REQUIRED),
		STRINGS("values", REQUIRED),
		{ 0 },
	},
};

const struct shape topology_selector_term_shape = {
	.name = "TopologySelectorTerm",
	.description = "A part of the topology, by labels of nodes.",
	.fields = {
		OBJECTS(topology_selector_label_requirement_shape, "matchLabelExpressions"),
		{ 0 },
	},
};

const struct shape object_field_selector_shape = {
	.name = "ObjectFieldSelector",
	.fields = {
		STRING("apiVersion"),
		STRING("fieldPath", REQUIRED),
		{ 0 },
	},
};

const struct shape resource_field_selector_shape = {
	.name = "ResourceFieldSelector",
	.fields = {
		STRING("containerName"),
		QUANTITY("divisor"),
		STRING("resource", REQUIRED),
		{ 0 },
	},
};
