/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace - v1.Namespace
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"

#include <errno.h>

/* clang-format off */
static const struct schema namespace_spec_schema = SCHEMA("NamespaceSpec",
	"What blocks the deletion of a namespace.",
	STRINGS("finalizers", 0, "Must be empty before the object is removed; each is removed by its controller."),
);

static const struct schema namespace_condition_schema = SCHEMA("NamespaceCondition", NULL,
	TIME("lastTransitionTime"),
	STRING("message"),
	STRING("reason"),
	STRING("status", REQUIRED),
	STRING("type", REQUIRED),
);

static const struct schema namespace_status_schema = SCHEMA("NamespaceStatus",
	"Whether a namespace is active or terminating.",
	OBJECTS_BY(namespace_condition_schema, "type", "conditions", 0, "What holds it back."),
	STRING("phase", 0, "Active or Terminating."),
);

const struct schema namespace_schema = SCHEMA("Namespace", NULL,
	SCHEMA_HEAD,
	OBJECT(namespace_spec_schema, "spec", 0, "What blocks its deletion."),
	OBJECT(namespace_status_schema, "status", 0, "Whether it is active or terminating."),
);
/* clang-format on */

/* Nothing here waits for the end of what it holds, so it has no finalizer of its own. */
int namespace_set_defaults(struct cJSON *tree)
{
	struct cJSON *status = json_ensure_object(tree, "status");

	if (!status)
		return -ENOMEM;
	return json_get(status, "phase") ? 0 : json_set_string(status, "phase", "Active");
}

/* Stricter than other names: it is part of others'. */
bool namespace_validate(const struct field *namespace)
{
	static const char *const phases[] = { "Active", "Terminating", NULL };

	return field_check_label(FIELD(namespace, "metadata.name")) &&
	       field_check_one_of(FIELD(namespace, "status.phase"), phases, true);
}
