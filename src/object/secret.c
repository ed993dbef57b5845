/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret - v1.Secret
 *
 * Nobody here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/shapes.h"

static const struct shape_field secret_fields[] = {
	SHAPE_HEAD,
	{ .name = "data", .type = SHAPE_BYTES_MAP, .description = "Its entries, as base64." },
	{ .name = "immutable",
	  .type = SHAPE_BOOL,
	  .description = "Its entries may not be changed any more." },
	{ .name = "stringData",
	  .type = SHAPE_STRING_MAP,
	  .description =
		  "Entries as text; they become data when it is written and are never read back." },
	{ .name = "type",
	  .type = SHAPE_STRING,
	  .description = "What its entries are; Opaque where nothing is said." },
	{ 0 },
};

const struct shape secret_shape = {
	.name = "Secret",
	.fields = secret_fields,
};
