/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_reference - references to other objects, selectors of nodes, of fields and of resources
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
const struct schema object_reference_schema = SCHEMA("ObjectReference",
	"Another object, by kind and name.",
	STRING("apiVersion", 0, "Group and version of its kind."),
	STRING("fieldPath", 0, "A part of the object."),
	STRING("kind", 0, "Its kind."),
	STRING("name", 0, "Its name."),
	STRING("namespace", 0, "Its namespace."),
	STRING("resourceVersion", 0, "A version of it."),
	STRING("uid", 0, "Its uid: another object of that name is not meant."),
);

const struct schema local_object_reference_schema = SCHEMA("LocalObjectReference",
	"An object in the same namespace, by name.",
	STRING("name", 0, "Its name."),
);

const struct schema secret_reference_schema = SCHEMA("SecretReference",
	"A Secret, by namespace and name.",
	STRING("name", 0, "Its name."),
	STRING("namespace", 0, "Its namespace."),
);

const struct schema typed_local_object_reference_schema = SCHEMA("TypedLocalObjectReference",
	"An object of the same namespace from which a volume is filled.",
	STRING("apiGroup", 0, "The group of its kind; absent: the core group."),
	STRING("kind", REQUIRED, "Its kind."),
	STRING("name", REQUIRED, "Its name."),
);

const struct schema typed_object_reference_schema = SCHEMA("TypedObjectReference",
	"An object from which a volume is filled.",
	STRING("apiGroup", 0, "The group of its kind; absent: the core group."),
	STRING("kind", REQUIRED, "Its kind."),
	STRING("name", REQUIRED, "Its name."),
	STRING("namespace", 0, "Its namespace: the claim's; another one is refused."),
);

static const struct schema node_selector_requirement_schema = SCHEMA("NodeSelectorRequirement",
	"One condition on a label or field of a node.",
	STRING("key", REQUIRED, "The label or field."),
	STRING("operator", REQUIRED, "In, NotIn, Exists, DoesNotExist, Gt or Lt."),
	STRINGS("values", 0, "For In and NotIn; one integer for Gt and Lt."),
);

const struct schema node_selector_term_schema = SCHEMA("NodeSelectorTerm",
	"Conditions that hold at once.",
	OBJECTS(node_selector_requirement_schema, "matchExpressions", 0, "Conditions on labels."),
	OBJECTS(node_selector_requirement_schema, "matchFields", 0, "Conditions on fields."),
);

const struct schema node_selector_schema = SCHEMA("NodeSelector",
	"Nodes by their labels; one term that holds is enough.",
	OBJECTS(node_selector_term_schema, "nodeSelectorTerms", REQUIRED, "One match is enough; an empty list matches no node."),
);

static const struct schema topology_selector_label_requirement_schema = SCHEMA("TopologySelectorLabelRequirement",
	"The values that a label of the node may have.",
	STRING("key", REQUIRED, "The label."),
	STRINGS("values", REQUIRED, "One of these."),
);

const struct schema topology_selector_term_schema = SCHEMA("TopologySelectorTerm",
	"A part of the topology, by labels of nodes.",
	OBJECTS(topology_selector_label_requirement_schema, "matchLabelExpressions", 0, "Conditions that hold at once."),
);

const struct schema object_field_selector_schema = SCHEMA("ObjectFieldSelector", NULL,
	STRING("apiVersion", 0, "The version that the path is of: v1."),
	STRING("fieldPath", REQUIRED, "The field: metadata.labels['app'], spec.nodeName, ..."),
);

const struct schema resource_field_selector_schema = SCHEMA("ResourceFieldSelector", NULL,
	STRING("containerName", 0, "The container; required in a volume."),
	QUANTITY("divisor", 0, "The unit of the number; 1."),
	STRING("resource", REQUIRED, "limits.cpu, requests.memory, ..."),
);
