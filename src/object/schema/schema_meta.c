/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_meta - metadata, selectors of labels: what objects of all groups have in common
 *
 * The fields are those of Kubernetes 1.32.
 */
#include "object/schema/schemas.h"

/* clang-format off */
static const struct schema managed_fields_entry_schema = SCHEMA_OF(SCHEMA_META, "ManagedFieldsEntry",
	"Which fields one writer set last; kept as sent.",
	STRING("apiVersion"),
	STRING("fieldsType"),
	ANY_OBJECT("fieldsV1"),
	STRING("manager"),
	STRING("operation"),
	STRING("subresource"),
	TIME("time"),
);

static const struct schema owner_reference_schema = SCHEMA_OF(SCHEMA_META, "OwnerReference",
	"An object without which this one has no reason to exist.",
	STRING("apiVersion", REQUIRED, "Group and version of the owner."),
	BOOL("blockOwnerDeletion", 0, "Foreground deletion of the owner waits for this object."),
	BOOL("controller", 0, "The one owner that manages this object."),
	STRING("kind", REQUIRED, "Kind of the owner."),
	STRING("name", REQUIRED, "Name of the owner."),
	STRING("uid", REQUIRED, "Uid of the owner."),
);

const struct schema object_meta_schema = SCHEMA_OF(SCHEMA_META, "ObjectMeta",
	"What all objects have: names, labels, versions and times.",
	STRING_MAP("annotations", 0, "Keys and values for programs; selectors do not match them."),
	TIME("creationTimestamp", 0, "When it was made."),
	INTEGER("deletionGracePeriodSeconds", 0, "Seconds it has to terminate."),
	TIME("deletionTimestamp", 0, "When its deletion was requested; it is removed with its last finalizer."),
	STRING_SET("finalizers", 0, "Must be empty before the object is removed; each is removed by its controller."),
	STRING("generateName", 0, "Prefix of a name that the server generates."),
	INTEGER("generation", 0, "Counts the changes of what is wanted."),
	STRING_MAP("labels", 0, "Keys and values that selectors match."),
	OBJECTS(managed_fields_entry_schema, "managedFields", 0, "Which writer set which fields; kept as sent."),
	STRING("name", 0, "Its name, once per kind and namespace; a lowercase RFC 1123 subdomain."),
	STRING("namespace", 0, "The namespace; \"default\" where none is given."),
	OBJECTS_BY(owner_reference_schema, "uid", "ownerReferences", 0, "Objects without which this one has no reason to exist."),
	STRING("resourceVersion", 0, "Which version this is; two versions are equal or not, no more."),
	STRING("selfLink", 0, "Not used any more."),
	STRING("uid", 0, "Unique for all time: another object of the same name has another."),
);

static const struct schema label_selector_requirement_schema = SCHEMA_OF(SCHEMA_META, "LabelSelectorRequirement",
	"One condition on a label.",
	STRING("key", REQUIRED, "The label."),
	STRING("operator", REQUIRED, "In, NotIn, Exists or DoesNotExist."),
	STRINGS("values", 0, "For In and NotIn."),
);

const struct schema label_selector_schema = SCHEMA_OF(SCHEMA_META, "LabelSelector",
	"Labels that objects must have; all conditions hold at once.",
	OBJECTS(label_selector_requirement_schema, "matchExpressions", 0, "Further conditions."),
	STRING_MAP("matchLabels", 0, "Labels and the values they must have."),
);
