/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_meta - metadata, selectors of labels: what objects of all groups have in common
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/shapes.h"

static const struct shape_field managed_fields_entry_fields[] = {
	{ .name = "apiVersion", .type = SHAPE_STRING },
	{ .name = "fieldsType", .type = SHAPE_STRING },
	{ .name = "fieldsV1", .type = SHAPE_OBJECT },
	{ .name = "manager", .type = SHAPE_STRING },
	{ .name = "operation", .type = SHAPE_STRING },
	{ .name = "subresource", .type = SHAPE_STRING },
	{ .name = "time", .type = SHAPE_TIME },
	{ 0 },
};

static const struct shape managed_fields_entry_shape = {
	.name = "ManagedFieldsEntry",
	.package = SHAPE_META,
	.description = "Which fields one writer set last; kept as sent.",
	.fields = managed_fields_entry_fields,
};

static const struct shape_field owner_reference_fields[] = {
	{ .name = "apiVersion",
	  .type = SHAPE_STRING,
	  .description = "Group and version of the owner.",
	  .required = true },
	{ .name = "blockOwnerDeletion",
	  .type = SHAPE_BOOL,
	  .description = "The owner waits for this object when it goes." },
	{ .name = "controller",
	  .type = SHAPE_BOOL,
	  .description = "The one owner that manages this object." },
	{ .name = "kind",
	  .type = SHAPE_STRING,
	  .description = "Kind of the owner.",
	  .required = true },
	{ .name = "name",
	  .type = SHAPE_STRING,
	  .description = "Name of the owner.",
	  .required = true },
	{ .name = "uid",
	  .type = SHAPE_STRING,
	  .description = "Uid of the owner.",
	  .required = true },
	{ 0 },
};

static const struct shape owner_reference_shape = {
	.name = "OwnerReference",
	.package = SHAPE_META,
	.description = "An object without which this one has no reason to exist.",
	.fields = owner_reference_fields,
};

static const struct shape_field object_meta_fields[] = {
	{ .name = "annotations",
	  .type = SHAPE_STRING_MAP,
	  .description = "Words for programs; nothing is selected by them." },
	{ .name = "creationTimestamp", .type = SHAPE_TIME, .description = "When it was made." },
	{ .name = "deletionGracePeriodSeconds",
	  .type = SHAPE_INTEGER,
	  .description = "Seconds it is given to go." },
	{ .name = "deletionTimestamp",
	  .type = SHAPE_TIME,
	  .description = "When its deletion was asked for; it goes with its last finalizer." },
	{ .name = "finalizers",
	  .type = SHAPE_STRINGS,
	  .merge_key = "",
	  .description = "Who must let go before it can vanish." },
	{ .name = "generateName",
	  .type = SHAPE_STRING,
	  .description = "What a name that the server makes begins with." },
	{ .name = "generation",
	  .type = SHAPE_INTEGER,
	  .description = "Counts the changes of what is wanted." },
	{ .name = "labels",
	  .type = SHAPE_STRING_MAP,
	  .description = "Words by which objects are selected." },
	{ .name = "managedFields",
	  .type = SHAPE_OBJECTS,
	  .of = &managed_fields_entry_shape,
	  .description = "Which writer set which fields; kept as sent." },
	{ .name = "name",
	  .type = SHAPE_STRING,
	  .description = "Its name, once per kind and namespace; a lowercase RFC 1123 subdomain." },
	{ .name = "namespace",
	  .type = SHAPE_STRING,
	  .description = "The namespace; \"default\" where none is given." },
	{ .name = "ownerReferences",
	  .type = SHAPE_OBJECTS,
	  .of = &owner_reference_shape,
	  .merge_key = "uid",
	  .description = "Objects without which this one has no reason to exist." },
	{ .name = "resourceVersion",
	  .type = SHAPE_STRING,
	  .description = "Which version this is; two versions are equal or not, no more." },
	{ .name = "selfLink", .type = SHAPE_STRING, .description = "Not used any more." },
	{ .name = "uid",
	  .type = SHAPE_STRING,
	  .description = "Who it is for all time: another object of the same name has another." },
	{ 0 },
};

const struct shape object_meta_shape = {
	.name = "ObjectMeta",
	.package = SHAPE_META,
	.description = "What all objects have: names, labels, versions and times.",
	.fields = object_meta_fields,
};

static const struct shape_field label_selector_requirement_fields[] = {
	{ .name = "key", .type = SHAPE_STRING, .description = "The label.", .required = true },
	{ .name = "operator",
	  .type = SHAPE_STRING,
	  .description = "In, NotIn, Exists or DoesNotExist.",
	  .required = true },
	{ .name = "values", .type = SHAPE_STRINGS, .description = "For In and NotIn." },
	{ 0 },
};

static const struct shape label_selector_requirement_shape = {
	.name = "LabelSelectorRequirement",
	.package = SHAPE_META,
	.description = "One condition on a label.",
	.fields = label_selector_requirement_fields,
};

static const struct shape_field label_selector_fields[] = {
	{ .name = "matchExpressions",
	  .type = SHAPE_OBJECTS,
	  .of = &label_selector_requirement_shape,
	  .description = "Further conditions." },
	{ .name = "matchLabels",
	  .type = SHAPE_STRING_MAP,
	  .description = "Labels and the values they must have." },
	{ 0 },
};

const struct shape label_selector_shape = {
	.name = "LabelSelector",
	.package = SHAPE_META,
	.description = "Labels that objects must have; all conditions hold at once.",
	.fields = label_selector_fields,
};
