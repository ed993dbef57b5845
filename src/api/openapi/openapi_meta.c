/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_meta - the schemas of what the API speaks of beside objects: lists, options, answers
 *
 * They serve the OpenAPI documents only; requests are read where they are acted upon.
 */
#include "api/openapi/openapi.h"

#include "object/schema/schema_rows.h"

#define PACKAGE "io.k8s.apimachinery.pkg.apis.meta.v1"
#define TYPE_FIELDS                                                                                \
	STRING("apiVersion", 0, "Group and version of this representation of an object."),         \
		STRING("kind", 0, "Name of the kind in its group.")

const struct schema openapi_list_meta_schema = {
	.name = "ListMeta",
	.package = PACKAGE,
	.description = "What a list says of itself.",
	.fields = {
		STRING("continue", 0, "Token that asks for the rest of a list cut by limit."),
		INTEGER("remainingItemCount", 0, "How many objects the rest has, where that is known."),
		STRING("resourceVersion", 0, "Version of the store from which a watch can go on."),
		STRING("selfLink", 0, "Not filled in any more."),
		{ 0 },
	},
};

static const struct schema preconditions_schema = {
	.name = "Preconditions",
	.package = PACKAGE,
	.description = "What must hold of an object for it to be deleted.",
	.fields = {
		STRING("resourceVersion", 0, "The version that the object must have."),
		STRING("uid", 0, "The uid that the object must have."),
		{ 0 },
	},
};

static const struct schema delete_options_schema = {
	.name = "DeleteOptions",
	.package = PACKAGE,
	.description = "How to delete; the body of a DELETE.",
	.fields = {
		TYPE_FIELDS,
		STRINGS("dryRun", 0, "\"All\": check everything, change nothing."),
		INTEGER("gracePeriodSeconds", 0, "Seconds before the object goes; 0: at once."),
		BOOL("orphanDependents", 0, "Older form of propagationPolicy."),
		OBJECT(preconditions_schema, "preconditions", 0, "Refuse unless these hold."),
		STRING("propagationPolicy", 0, "Orphan, Background or Foreground."),
		{ 0 },
	},
};

static const struct schema cause_schema = {
	.name = "StatusCause",
	.package = PACKAGE,
	.description = "One reason of a refusal.",
	.fields = {
		STRING("field", 0, "The field of the object, as spec.volumes[0].name."),
		STRING("message", 0, "The reason for people."),
		STRING("reason", 0, "The reason for programs."),
		{ 0 },
	},
};

static const struct schema details_schema = {
	.name = "StatusDetails",
	.package = PACKAGE,
	.description = "What a Status is about.",
	.fields = {
		OBJECTS(cause_schema, "causes", 0, "Each reason of a refusal."),
		STRING("group", 0, "Group of the resource."),
		STRING("kind", 0, "The resource or kind."),
		STRING("name", 0, "Name of the object."),
		INTEGER("retryAfterSeconds", 0, "When to try again."),
		STRING("uid", 0, "Uid of the object."),
		{ 0 },
	},
};

static const struct schema status_schema = {
	.name = "Status",
	.package = PACKAGE,
	.description =
						   "Answer to a request that returns no object.",
	.fields = {
		TYPE_FIELDS,
		INTEGER("code", 0, "The status code of HTTP."),
		OBJECT(details_schema, "details", 0, "What it is about."),
		STRING("message", 0, "What happened, for people."),
		OBJECT(openapi_list_meta_schema, "metadata", 0, "Empty."),
		STRING("reason", 0, "What happened, for programs."),
		STRING("status", 0, "Success or Failure."),
		{ 0 },
	},
};

static const struct schema watch_event_schema = {
	.name = "WatchEvent",
	.package = PACKAGE,
	.description = "One line of a watch.",
	.fields = {
		ANY_OBJECT("object", REQUIRED, "The object, or a Status when type is ERROR."),
		STRING("type", REQUIRED, "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."),
		{ 0 },
	},
};

static const struct schema patch_schema = {
	.name = "Patch",
	.package = PACKAGE,
	.description = "A JSON patch, a merge patch or a strategic merge patch: the media type of "
		       "the request says which.",
	.fields = { { 0 } },
};

const struct schema *const openapi_meta_schemas[] = {
	&delete_options_schema, &status_schema, &watch_event_schema, &patch_schema, NULL,
};
