/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_reference - references to other objects, selectors of nodes, of fields and of resources
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field object_reference_fields[] = {
	{ .name = "apiVersion", .type = SHAPE_STRING },
	{ .name = "fieldPath", .type = SHAPE_STRING },
	{ .name = "kind", .type = SHAPE_STRING },
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "namespace", .type = SHAPE_STRING },
	{ .name = "resourceVersion", .type = SHAPE_STRING },
	{ .name = "uid", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape object_reference_shape = {
	.name = "ObjectReference",
	.description = "Another object, by kind and name.",
	.fields = object_reference_fields,
};

static const struct shape_field local_object_reference_fields[] = {
	{ .name = "name", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape local_object_reference_shape = {
	.name = "LocalObjectReference",
	.description = "An object in the same namespace, by name.",
	.fields = local_object_reference_fields,
};

static const struct shape_field secret_reference_fields[] = {
	{ .name = "name", .type = SHAPE_STRING },
	{ .name = "namespace", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape secret_reference_shape = {
	.name = "SecretReference",
	.description = "A Secret, by namespace and name.",
	.fields = secret_reference_fields,
};

static const struct shape_field typed_local_object_reference_fields[] = {
	{ .name = "apiGroup", .type = SHAPE_STRING },
	{ .name = "kind", .type = SHAPE_STRING, .required = true },
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape typed_local_object_reference_shape = {
	.name = "TypedLocalObjectReference",
	.description = "An object of the same namespace from which a volume is filled.",
	.fields = typed_local_object_reference_fields,
};

static const struct shape_field typed_object_reference_fields[] = {
	{ .name = "apiGroup", .type = SHAPE_STRING },
	{ .name = "kind", .type = SHAPE_STRING, .required = true },
	{ .name = "name", .type = SHAPE_STRING, .required = true },
	{ .name = "namespace", .type = SHAPE_STRING },
	{ 0 },
};

const struct shape typed_object_reference_shape = {
	.name = "TypedObjectReference",
	.description = "An object from which a volume is filled.",
	.fields = typed_object_reference_fields,
};

static const struct shape_field node_selector_requirement_fields[] = {
	{ .name = "key",
	  .type = SHAPE_STRING,
	  .description = "The label or field.",
	  .required = true },
	{ .name = "operator",
	  .type = SHAPE_STRING,
	  .description = "In, NotIn, Exists, DoesNotExist, Gt or Lt.",
	  .required = true },
	{ .name = "values",
	  .type = SHAPE_STRINGS,
	  .description = "For In and NotIn; one integer for Gt and Lt." },
	{ 0 },
};

static const struct shape node_selector_requirement_shape = {
	.name = "NodeSelectorRequirement",
	.description = "One condition on a label or field of a node.",
	.fields = node_selector_requirement_fields,
};

static const struct shape_field node_selector_term_fields[] = {
	{ .name = "matchExpressions",
	  .type = SHAPE_OBJECTS,
	  .of = &node_selector_requirement_shape,
	  .description = "Conditions on labels." },
	{ .name = "matchFields",
	  .type = SHAPE_OBJECTS,
	  .of = &node_selector_requirement_shape,
	  .description = "Conditions on fields; passed over for volumes." },
	{ 0 },
};

const struct shape node_selector_term_shape = {
	.name = "NodeSelectorTerm",
	.description = "Conditions that hold at once.",
	.fields = node_selector_term_fields,
};

static const struct shape_field node_selector_fields[] = {
	{ .name = "nodeSelectorTerms",
	  .type = SHAPE_OBJECTS,
	  .of = &node_selector_term_shape,
	  .description = "One that holds is enough; none holds nowhere.",
	  .required = true },
	{ 0 },
};

const struct shape node_selector_shape = {
	.name = "NodeSelector",
	.description = "Nodes by their labels; one term that holds is enough.",
	.fields = node_selector_fields,
};

static const struct shape_field topology_selector_label_requirement_fields[] = {
	{ .name = "key", .type = SHAPE_STRING, .required = true },
	{ .name = "values", .type = SHAPE_STRINGS, .required = true },
	{ 0 },
};

static const struct shape topology_selector_label_requirement_shape = {
	.name = "TopologySelectorLabelRequirement",
	.description = "The values that a label of the node may have.",
	.fields = topology_selector_label_requirement_fields,
};

static const struct shape_field topology_selector_term_fields[] = {
	{ .name = "matchLabelExpressions",
	  .type = SHAPE_OBJECTS,
	  .of = &topology_selector_label_requirement_shape },
	{ 0 },
};

const struct shape topology_selector_term_shape = {
	.name = "TopologySelectorTerm",
	.description = "A part of the topology, by labels of nodes.",
	.fields = topology_selector_term_fields,
};

static const struct shape_field object_field_selector_fields[] = {
	{ .name = "apiVersion", .type = SHAPE_STRING },
	{ .name = "fieldPath", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape object_field_selector_shape = {
	.name = "ObjectFieldSelector",
	.fields = object_field_selector_fields,
};

static const struct shape_field resource_field_selector_fields[] = {
	{ .name = "containerName", .type = SHAPE_STRING },
	{ .name = "divisor", .type = SHAPE_QUANTITY },
	{ .name = "resource", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

const struct shape resource_field_selector_shape = {
	.name = "ResourceFieldSelector",
	.fields = resource_field_selector_fields,
};
