/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret - v1.Secret
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "base/cleanup.h"
#include "object/json/base64.h"
#include "object/kinds.h"
#include "object/metadata.h"
#include "object/schema/schemas.h"
#include "object/update.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* clang-format off */
const struct schema secret_schema = SCHEMA("Secret", NULL,
	SCHEMA_HEAD,
	BYTES_MAP("data", 0, "Its entries, as base64."),
	BOOL("immutable", 0, "Its entries can no longer be changed."),
	STRING_MAP("stringData", 0, "Entries as text; they become data when it is written and are never read back."),
	STRING("type", 0, "The type of its entries; default: Opaque."),
);
/* clang-format on */

/* ---- defaults ---- */

/* stringData is for writing alone: it becomes data, where it wins, and is never kept. */
static int fold_strings(struct cJSON *tree)
{
	const struct cJSON *strings = json_get(tree, "stringData");
	struct cJSON *data;

	if (!strings)
		return 0;
	data = json_count(strings) > 0 ? json_ensure_object(tree, "data") : NULL;
	JSON_FOREACH (item, strings) {
		const char *text = json_string(item, "");
		cleanup_free char *encoded = base64_encode(text, strlen(text));

		if (!encoded || json_set_string(data, json_key(item), encoded) < 0)
			return -ENOMEM;
	}
	json_remove(tree, "stringData");
	return 0;
}

int secret_set_defaults(struct cJSON *tree)
{
	int r = fold_strings(tree);

	if (r == 0 && *json_text(tree, "type") == '\0')
		r = json_set_string(tree, "type", "Opaque");
	return r;
}

/* ---- validation ---- */

/* What a type promises to its users. */
static const struct promise {
	const char *type;
	const char *keys[2]; /* that data has; NULL: no more */
	bool one_is_enough;
} promises[] = {
	{ "kubernetes.io/dockercfg", { ".dockercfg" }, false },
	{ "kubernetes.io/dockerconfigjson", { ".dockerconfigjson" }, false },
	{ "kubernetes.io/basic-auth", { "username", "password" }, true },
	{ "kubernetes.io/ssh-auth", { "ssh-privatekey" }, false },
	{ "kubernetes.io/tls", { "tls.crt", "tls.key" }, false },
};

static int check_promise(const struct promise *promise, const struct cJSON *data,
			 struct violations *found)
{
	size_t count = promise->keys[1] ? 2 : 1, present = 0;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		present += json_get(data, promise->keys[i]) ? 1 : 0;
	if (promise->one_is_enough && present > 0)
		return 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		const char *key = promise->keys[i];

		if (!json_get(data, key))
			r = field_required(FIELD_KEY(FIELD(NULL, "data"), key), "", found);
	}
	return r;
}

static int check_type(const struct cJSON *tree, struct violations *found)
{
	static const char account[] = "kubernetes.io/service-account.name";
	const char *type = json_text(tree, "type");
	const char *name = metadata_annotation(tree, account);

	for (size_t i = 0; i < ARRAY_SIZE(promises); i++) {
		if (strcmp(promises[i].type, type) == 0)
			return check_promise(&promises[i], json_get(tree, "data"), found);
	}
	if (strcmp(type, "kubernetes.io/service-account-token") == 0 && (!name || !*name))
		return field_required(
			FIELD_KEY(FIELD(FIELD(NULL, "metadata"), "annotations"), account), "",
			found);
	return 0;
}

int secret_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *data = json_get(tree, "data");
	const struct field *field = FIELD(NULL, "data");
	int r;

	assert(tree);
	r = entries_check_keys(data, field, found);
	if (r == 0 && entries_bytes(data, true) > ENTRIES_BYTES_MAX)
		r = field_too_long(field, "may not be more than 1048576 bytes", found);
	return r < 0 ? r : check_type(tree, found);
}

/* Its readers rely on the type that it was made with. */
int secret_validate_update(const struct object *old, const struct object *new_object,
			   struct violations *found)
{
	static const char *const entries[] = { "data", NULL };
	static const struct fixed_field fixed[] = { { .path = "type", .type = VIOLATION_INVALID },
						    { 0 } };
	int r = update_check_fixed(old, new_object, fixed, found);

	return r < 0 ? r : entries_check_update(old, new_object, entries, found);
}
