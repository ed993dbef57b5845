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

/* clang-format off */
const struct schema openapi_list_meta_schema = SCHEMA_OF(PACKAGE, "ListMeta",
	"Metadata of the list.",
	STRING("continue", 0, "Token that asks for the rest of a list cut by limit."),
	INTEGER("remainingItemCount", 0, "How many objects the rest has, where that is known."),
	STRING("resourceVersion", 0, "Version of the store from which a watch can go on."),
	STRING("selfLink", 0, "Not filled in any more."),
);

static const struct schema preconditions_schema = SCHEMA_OF(PACKAGE, "Preconditions",
	"Preconditions of a deletion.",
	STRING("resourceVersion", 0, "The version that the object must have."),
	STRING("uid", 0, "The uid that the object must have."),
);

static const struct schema delete_options_schema = SCHEMA_OF(PACKAGE, "DeleteOptions",
	"How to delete; the body of a DELETE.",
	TYPE_FIELDS,
	STRINGS("dryRun", 0, "\"All\": check everything, change nothing."),
	INTEGER("gracePeriodSeconds", 0, "Seconds before the object is deleted; 0: at once."),
	BOOL("orphanDependents", 0, "Older form of propagationPolicy."),
	OBJECT(preconditions_schema, "preconditions", 0, "Refuse unless these hold."),
	STRING("propagationPolicy", 0, "Orphan, Background or Foreground."),
);

static const struct schema cause_schema = SCHEMA_OF(PACKAGE, "StatusCause",
	"One reason of a refusal.",
	STRING("field", 0, "The field of the object, as spec.volumes[0].name."),
	STRING("message", 0, "The reason for people."),
	STRING("reason", 0, "The reason for programs."),
);

static const struct schema details_schema = SCHEMA_OF(PACKAGE, "StatusDetails",
	"What a Status is about.",
	OBJECTS(cause_schema, "causes", 0, "Each reason of a refusal."),
	STRING("group", 0, "Group of the resource."),
	STRING("kind", 0, "The resource or kind."),
	STRING("name", 0, "Name of the object."),
	INTEGER("retryAfterSeconds", 0, "When to try again."),
	STRING("uid", 0, "Uid of the object."),
);

static const struct schema status_schema = SCHEMA_OF(PACKAGE, "Status",
	"Answer to a request that returns no object.",
	TYPE_FIELDS,
	INTEGER("code", 0, "The status code of HTTP."),
	OBJECT(details_schema, "details", 0, "What it is about."),
	STRING("message", 0, "What happened, for people."),
	OBJECT(openapi_list_meta_schema, "metadata", 0, "Empty."),
	STRING("reason", 0, "What happened, for programs."),
	STRING("status", 0, "Success or Failure."),
);

static const struct schema watch_event_schema = SCHEMA_OF(PACKAGE, "WatchEvent",
	"One line of a watch.",
	ANY_OBJECT("object", REQUIRED, "The object, or a Status when type is ERROR."),
	STRING("type", REQUIRED, "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."),
);

static const struct schema patch_schema = SCHEMA_OF(PACKAGE, "Patch",
	"A JSON patch, a merge patch or a strategic merge patch: the media type of the request says which.",
);
/* clang-format on */

const struct schema *const openapi_meta_schemas[] = {
	&delete_options_schema, &status_schema, &watch_event_schema, &patch_schema, NULL,
};
