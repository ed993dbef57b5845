/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_meta - the shapes of what the API speaks of beside objects: lists, options, answers
 *
 * They serve the OpenAPI documents only; requests are read where they are acted upon.
 */
#include "api/openapi.h"

#define PACKAGE "io.k8s.apimachinery.pkg.apis.meta.v1"
#define TYPE_FIELDS                                                                                \
	{ .name = "apiVersion",                                                                    \
	  .type = SHAPE_STRING,                                                                    \
	  .description = "Group and version of this representation of an object." },               \
	{                                                                                          \
		.name = "kind", .type = SHAPE_STRING,                                              \
		.description = "Name of the kind in its group."                                    \
	}

const struct shape openapi_list_meta_shape = {
	.name = "ListMeta",
	.package = PACKAGE,
	.description = "What a list says of itself.",
	.fields =
		(const struct shape_field[]){
			{ .name = "continue",
			  .type = SHAPE_STRING,
			  .description = "Token that asks for the rest of a list cut by limit." },
			{ .name = "remainingItemCount",
			  .type = SHAPE_INTEGER,
			  .description = "How many objects the rest has, where that is known." },
			{ .name = "resourceVersion",
			  .type = SHAPE_STRING,
			  .description = "Version of the store from which a watch can go on." },
			{ .name = "selfLink",
			  .type = SHAPE_STRING,
			  .description = "Not filled in any more." },
			{ 0 },
		}
};

static const struct shape preconditions_shape = {
	.name = "Preconditions",
	.package = PACKAGE,
	.description = "What must hold of an object for it to be deleted.",
	.fields =
		(const struct shape_field[]){
			{ .name = "resourceVersion",
			  .type = SHAPE_STRING,
			  .description = "The version that the object must have." },
			{ .name = "uid",
			  .type = SHAPE_STRING,
			  .description = "The uid that the object must have." },
			{ 0 },
		}
};

static const struct shape delete_options_shape = {
	.name = "DeleteOptions",
	.package = PACKAGE,
	.description = "How to delete; the body of a DELETE.",
	.fields =
		(const struct shape_field[]){
			TYPE_FIELDS,
			{ .name = "dryRun",
			  .type = SHAPE_STRINGS,
			  .description = "\"All\": check everything, change nothing." },
			{ .name = "gracePeriodSeconds",
			  .type = SHAPE_INTEGER,
			  .description = "Seconds before the object goes; 0: at once." },
			{ .name = "orphanDependents",
			  .type = SHAPE_BOOL,
			  .description = "Older form of propagationPolicy." },
			{ .name = "preconditions",
			  .type = SHAPE_OBJECT,
			  .of = &preconditions_shape,
			  .description = "Refuse unless these hold." },
			{ .name = "propagationPolicy",
			  .type = SHAPE_STRING,
			  .description = "Orphan, Background or Foreground." },
			{ 0 },
		}
};

static const struct shape cause_shape = {
	.name = "StatusCause",
	.package = PACKAGE,
	.description = "One reason of a refusal.",
	.fields =
		(const struct shape_field[]){
			{ .name = "field",
			  .type = SHAPE_STRING,
			  .description = "The field of the object, as spec.volumes[0].name." },
			{ .name = "message",
			  .type = SHAPE_STRING,
			  .description = "The reason for people." },
			{ .name = "reason",
			  .type = SHAPE_STRING,
			  .description = "The reason for programs." },
			{ 0 },
		}
};

static const struct shape details_shape = { .name = "StatusDetails",
					    .package = PACKAGE,
					    .description = "What a Status is about.",
					    .fields = (const struct shape_field[]){
						    { .name = "causes",
						      .type = SHAPE_OBJECTS,
						      .of = &cause_shape,
						      .description = "Each reason of a refusal." },
						    { .name = "group",
						      .type = SHAPE_STRING,
						      .description = "Group of the resource." },
						    { .name = "kind",
						      .type = SHAPE_STRING,
						      .description = "The resource or kind." },
						    { .name = "name",
						      .type = SHAPE_STRING,
						      .description = "Name of the object." },
						    { .name = "retryAfterSeconds",
						      .type = SHAPE_INTEGER,
						      .description = "When to try again." },
						    { .name = "uid",
						      .type = SHAPE_STRING,
						      .description = "Uid of the object." },
						    { 0 },
					    } };

static const struct shape status_shape = { .name = "Status",
					   .package = PACKAGE,
					   .description =
						   "Answer to a request that returns no object.",
					   .fields = (const struct shape_field[]){
						   TYPE_FIELDS,
						   { .name = "code",
						     .type = SHAPE_INTEGER,
						     .description = "The status code of HTTP." },
						   { .name = "details",
						     .type = SHAPE_OBJECT,
						     .of = &details_shape,
						     .description = "What it is about." },
						   { .name = "message",
						     .type = SHAPE_STRING,
						     .description = "What happened, for people." },
						   { .name = "metadata",
						     .type = SHAPE_OBJECT,
						     .of = &openapi_list_meta_shape,
						     .description = "Empty." },
						   { .name = "reason",
						     .type = SHAPE_STRING,
						     .description =
							     "What happened, for programs." },
						   { .name = "status",
						     .type = SHAPE_STRING,
						     .description = "Success or Failure." },
						   { 0 },
					   } };

static const struct shape watch_event_shape = {
	.name = "WatchEvent",
	.package = PACKAGE,
	.description = "One line of a watch.",
	.fields =
		(const struct shape_field[]){
			{ .name = "object",
			  .type = SHAPE_OBJECT,
			  .description = "The object, or a Status when type is ERROR.",
			  .required = true },
			{ .name = "type",
			  .type = SHAPE_STRING,
			  .description = "ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.",
			  .required = true },
			{ 0 },
		}
};

static const struct shape patch_shape = {
	.name = "Patch",
	.package = PACKAGE,
	.description = "A JSON patch, a merge patch or a strategic merge patch: the media type of "
		       "the request says which.",
};

const struct shape *const openapi_meta_shapes[] = {
	&delete_options_shape, &status_shape, &watch_event_shape, &patch_shape, NULL,
};
