/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace - v1.Namespace
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/field.h"
#include "object/kinds.h"
#include "object/shapes.h"

#include <assert.h>
#include <errno.h>

static const struct shape_field namespace_spec_fields[] = {
	{ .name = "finalizers",
	  .type = SHAPE_STRINGS,
	  .description = "Who must let go before it can vanish." },
	{ 0 },
};

static const struct shape namespace_spec_shape = {
	.name = "NamespaceSpec",
	.description = "What holds a namespace back from going.",
	.fields = namespace_spec_fields,
};

static const struct shape_field namespace_condition_fields[] = {
	{ .name = "lastTransitionTime", .type = SHAPE_TIME },
	{ .name = "message", .type = SHAPE_STRING },
	{ .name = "reason", .type = SHAPE_STRING },
	{ .name = "status", .type = SHAPE_STRING, .required = true },
	{ .name = "type", .type = SHAPE_STRING, .required = true },
	{ 0 },
};

static const struct shape namespace_condition_shape = {
	.name = "NamespaceCondition",
	.fields = namespace_condition_fields,
};

static const struct shape_field namespace_status_fields[] = {
	{ .name = "conditions",
	  .type = SHAPE_OBJECTS,
	  .of = &namespace_condition_shape,
	  .merge_key = "type",
	  .description = "What holds it back." },
	{ .name = "phase", .type = SHAPE_STRING, .description = "Active or Terminating." },
	{ 0 },
};

static const struct shape namespace_status_shape = {
	.name = "NamespaceStatus",
	.description = "Whether a namespace is in use or going.",
	.fields = namespace_status_fields,
};

static const struct shape_field namespace_fields[] = {
	SHAPE_HEAD,
	{ .name = "spec",
	  .type = SHAPE_OBJECT,
	  .of = &namespace_spec_shape,
	  .description = "What holds it back from going." },
	{ .name = "status",
	  .type = SHAPE_OBJECT,
	  .of = &namespace_status_shape,
	  .description = "Whether it is in use or going." },
	{ 0 },
};

const struct shape namespace_shape = {
	.name = "Namespace",
	.fields = namespace_fields,
};

/* Nobody here waits for the end of what it holds, so it has no finalizer of its own. */
int namespace_set_defaults(struct cJSON *tree)
{
	struct cJSON *status = json_ensure_object(tree, "status");

	if (!status)
		return -ENOMEM;
	return json_get(status, "phase") ? 0 : json_set_string(status, "phase", "Active");
}

/* Stricter than other names: it is part of others'. */
int namespace_validate(const struct cJSON *tree, struct violations *found)
{
	static const char *const phases[] = { "Active", "Terminating", NULL };
	int r;

	assert(tree);
	r = field_check_label(FIELD(FIELD(NULL, "metadata"), "name"),
			      json_string(json_get_path(tree, "metadata.name"), ""), found);
	if (r == 0)
		r = field_check_one_of(FIELD(FIELD(NULL, "status"), "phase"),
				       json_string(json_get_path(tree, "status.phase"), ""), phases,
				       true, found);
	return r;
}
