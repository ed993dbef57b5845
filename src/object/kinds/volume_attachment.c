/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_attachment - storage.k8s.io/v1 VolumeAttachment
 *
 * The attacher writes its status; the volume plugin reads it once before it stages.
 */
#include "object/kinds/volume_attachment.h"

#include "object/json/arena.h"
#include "object/kinds.h"
#include "object/schema/schemas.h"
#include "object/select/selector_json.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>

/* clang-format off */
static const struct schema volume_attachment_source_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeAttachmentSource",
	"The volume, by name or written out.",
	OBJECT(persistent_volume_spec_schema, "inlineVolumeSpec", 0, "The volume, written out."),
	STRING("persistentVolumeName", 0, "The volume, by name."),
);

static const struct schema volume_attachment_spec_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeAttachmentSpec",
	"The volume, its node and the driver that attaches it.",
	STRING("attacher", REQUIRED, "The driver that attaches."),
	STRING("nodeName", REQUIRED, "The node."),
	OBJECT(volume_attachment_source_schema, "source", REQUIRED, "The volume."),
);

static const struct schema volume_error_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeError",
	"Why something did not work, and when.",
	STRING("message", 0, "Why."),
	TIME("time", 0, "When."),
);

static const struct schema volume_attachment_status_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeAttachmentStatus",
	"Whether it is attached, or why not.",
	OBJECT(volume_error_schema, "attachError", 0, "Why it could not be attached."),
	BOOL("attached", REQUIRED, "It is attached."),
	STRING_MAP("attachmentMetadata", 0, "The driver's publish context, for staging."),
	OBJECT(volume_error_schema, "detachError", 0, "Why it could not be detached."),
);

const struct schema volume_attachment_schema = SCHEMA_OF(SCHEMA_STORAGE, "VolumeAttachment", NULL,
	SCHEMA_HEAD,
	OBJECT(volume_attachment_spec_schema, "spec", REQUIRED, "The volume, its node and the driver that attaches it; cannot be changed."),
	OBJECT(volume_attachment_status_schema, "status", 0, "Whether it is attached, or why not."),
);
/* clang-format on */

bool volume_attachment_validate(const struct field *attachment)
{
	static const char detail[] =
		"must specify exactly one of inlineVolumeSpec and persistentVolumeName";
	const struct field *spec = FIELD(attachment, "spec"), *source = FIELD(spec, "source");
	const struct field *name = FIELD(source, "persistentVolumeName");
	bool is_inline = json_get(source->item, "inlineVolumeSpec") != NULL, goes_on = true;

	if (!csi_driver_name_validate(FIELD(spec, "attacher")))
		return false;
	if (!is_inline && *field_text(name) == '\0')
		goes_on = field_required(source, detail);
	else if (is_inline && *field_text(name) != '\0')
		goes_on = field_forbidden(source, detail);
	else if (!is_inline)
		goes_on = field_check_subdomain(name);
	return goes_on && field_check_subdomain(FIELD(spec, "nodeName"));
}

const struct fixed_field volume_attachment_fixed[] = {
	{ .path = "spec", .type = VIOLATION_INVALID },
	{ 0 },
};

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
		.attacher = arena_text(arena, spec, "attacher"),
		.node_name = arena_text(arena, spec, "nodeName"),
		.volume_name = arena_text_at(arena, spec, "source.persistentVolumeName"),
		.attached = json_bool(json_get(status, "attached"), false),
		.metadata = labels_decode(json_get(status, "attachmentMetadata"), arena),
		.has_attach_error = json_is_object(attach_error),
		.has_detach_error = json_is_object(detach_error),
		.attach_error = arena_text(arena, attach_error, "message"),
		.detach_error = arena_text(arena, detach_error, "message"),
	};
	object->volume_attachment = attachment;
	return 0;
}
