/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_attachment - storage.k8s.io/v1 VolumeAttachment
 *
 * Whoever attaches writes its status; the volume plugin reads it once before it stages.
 */
#include "object/volume_attachment.h"

#include "object/arena.h"
#include "object/csi.h"
#include "object/kinds.h"
#include "object/selector_json.h"
#include "object/shapes.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>

static const struct shape_field volume_attachment_source_fields[] = {
	{ .name = "inlineVolumeSpec",
	  .type = SHAPE_OBJECT,
	  .of = &persistent_volume_spec_shape,
	  .description = "The volume, written out." },
	{ .name = "persistentVolumeName",
	  .type = SHAPE_STRING,
	  .description = "The volume, by name." },
	{ 0 },
};

static const struct shape volume_attachment_source_shape = {
	.name = "VolumeAttachmentSource",
	.package = SHAPE_STORAGE,
	.description = "The volume, by name or written out.",
	.fields = volume_attachment_source_fields,
};

static const struct shape_field volume_attachment_spec_fields[] = {
	{ .name = "attacher",
	  .type = SHAPE_STRING,
	  .description = "The driver that attaches.",
	  .required = true },
	{ .name = "nodeName", .type = SHAPE_STRING, .description = "The node.", .required = true },
	{ .name = "source",
	  .type = SHAPE_OBJECT,
	  .of = &volume_attachment_source_shape,
	  .description = "The volume.",
	  .required = true },
	{ 0 },
};

static const struct shape volume_attachment_spec_shape = {
	.name = "VolumeAttachmentSpec",
	.package = SHAPE_STORAGE,
	.description = "Which volume is to be attached where, and by whom.",
	.fields = volume_attachment_spec_fields,
};

static const struct shape_field volume_error_fields[] = {
	{ .name = "message", .type = SHAPE_STRING, .description = "Why." },
	{ .name = "time", .type = SHAPE_TIME, .description = "When." },
	{ 0 },
};

static const struct shape volume_error_shape = {
	.name = "VolumeError",
	.package = SHAPE_STORAGE,
	.description = "Why something did not work, and when.",
	.fields = volume_error_fields,
};

static const struct shape_field volume_attachment_status_fields[] = {
	{ .name = "attachError",
	  .type = SHAPE_OBJECT,
	  .of = &volume_error_shape,
	  .description = "Why it could not be attached." },
	{ .name = "attached",
	  .type = SHAPE_BOOL,
	  .description = "It is attached.",
	  .required = true },
	{ .name = "attachmentMetadata",
	  .type = SHAPE_STRING_MAP,
	  .description = "What the driver said, for staging." },
	{ .name = "detachError",
	  .type = SHAPE_OBJECT,
	  .of = &volume_error_shape,
	  .description = "Why it could not be detached." },
	{ 0 },
};

static const struct shape volume_attachment_status_shape = {
	.name = "VolumeAttachmentStatus",
	.package = SHAPE_STORAGE,
	.description = "Whether it is attached, or why not.",
	.fields = volume_attachment_status_fields,
};

static const struct shape_field volume_attachment_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &volume_attachment_spec_shape,
	  .description = "Which volume is to be attached where, and by whom; cannot be changed.",
	  .required = true },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &volume_attachment_status_shape,
	  .description = "Whether it is attached, or why not." },
	{ 0 },
};

const struct shape volume_attachment_shape = {
	.name = "VolumeAttachment",
	.package = SHAPE_STORAGE,
	.fields = volume_attachment_fields,
};

int volume_attachment_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *spec = json_get(tree, "spec"), *source = json_get(spec, "source");
	const struct field *field = FIELD(NULL, "spec");
	const char *name = json_string(json_get(source, "persistentVolumeName"), "");
	bool is_inline = json_get(source, "inlineVolumeSpec") != NULL;
	int r;

	assert(tree);
	r = csi_driver_name_validate(json_string(json_get(spec, "attacher"), ""),
				     FIELD(field, "attacher"), found);
	if (r == 0 && !is_inline && *name == '\0')
		r = field_required(
			FIELD(field, "source"),
			"must specify exactly one of inlineVolumeSpec and persistentVolumeName",
			found);
	else if (r == 0 && is_inline && *name != '\0')
		r = field_forbidden(
			FIELD(field, "source"),
			"must specify exactly one of inlineVolumeSpec and persistentVolumeName",
			found);
	else if (r == 0 && *name != '\0')
		r = field_check_subdomain(FIELD(FIELD(field, "source"), "persistentVolumeName"),
					  name, found);
	if (r == 0)
		r = field_check_subdomain(FIELD(field, "nodeName"),
					  json_string(json_get(spec, "nodeName"), ""), found);
	return r;
}

int volume_attachment_validate_update(const struct object *old, const struct object *new_object,
				      struct violations *found)
{
	static const struct fixed_field fixed[] = { { .path = "spec", .type = VIOLATION_INVALID },
						    { 0 } };

	return update_check_fixed(old, new_object, fixed, found);
}

static const char *decode_error(const struct cJSON *error, struct arena *arena)
{
	return arena_string(arena, json_string(json_get(error, "message"), ""));
}

int volume_attachment_decode(const struct cJSON *tree, struct arena *arena, struct object *object,
			     struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec"), *status = json_get(tree, "status");
	const struct cJSON *attach_error = json_get(status, "attachError");
	const struct cJSON *detach_error = json_get(status, "detachError");
	struct volume_attachment *attachment = arena_array(arena, 1, sizeof(*attachment));

	assert(tree && arena && object->kind == KIND_VOLUME_ATTACHMENT);
	if (!attachment)
		return failed(reterr, -ENOMEM, "cannot decode a VolumeAttachment");
	*attachment = (struct volume_attachment){
		.object = object,
		.attacher = arena_string(arena, json_string(json_get(spec, "attacher"), "")),
		.node_name = arena_string(arena, json_string(json_get(spec, "nodeName"), "")),
		.volume_name = arena_string(
			arena, json_string(json_get_path(spec, "source.persistentVolumeName"), "")),
		.attached = json_bool(json_get(status, "attached"), false),
		.metadata = labels_decode(json_get(status, "attachmentMetadata"), arena),
		.has_attach_error = json_is_object(attach_error),
		.has_detach_error = json_is_object(detach_error),
		.attach_error = decode_error(attach_error, arena),
		.detach_error = decode_error(detach_error, arena),
	};
	object->volume_attachment = attachment;
	return 0;
}
