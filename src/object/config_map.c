/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_map - v1.ConfigMap
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/shapes.h"

static const struct shape_field config_map_fields[] = {
	SHAPE_HEAD,
	{ .name = "binaryData",
	  .type = SHAPE_BYTES_MAP,
	  .description = "Entries that are bytes, as base64." },
	{ .name = "data", .type = SHAPE_STRING_MAP, .description = "Entries that are text." },
	{ .name = "immutable",
	  .type = SHAPE_BOOL,
	  .description = "Its entries may not be changed any more." },
	{ 0 },
};

const struct shape config_map_shape = {
	.name = "ConfigMap",
	.fields = config_map_fields,
};
