/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret - v1.Secret
 *
 * Nothing here acts upon it yet: it is checked, kept and given out again.
 */
#include "base/cleanup.h"
#include "object/json/base64.h"
#include "object/kinds.h"
#include "object/schema/schemas.h"
#include "object/update.h"

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

static bool check_promise(const struct promise *promise, const struct field *data)
{
	size_t count = promise->keys[1] ? 2 : 1, present = 0;

	for (size_t i = 0; i < count; i++)
		present += json_get(data->item, promise->keys[i]) ? 1 : 0;
	if (promise->one_is_enough && present > 0)
		return true;
	for (size_t i = 0; i < count; i++) {
		const struct field *entry = FIELD_KEY(data, promise->keys[i]);

		if (!entry->item && !field_required(entry, ""))
			return false;
	}
	return true;
}

static bool check_type(const struct field *secret)
{
	const struct field *account = FIELD_KEY(FIELD(secret, "metadata.annotations"),
						"kubernetes.io/service-account.name");
	const char *type = json_text(secret->item, "type");

	for (size_t i = 0; i < ARRAY_SIZE(promises); i++) {
		if (strcmp(promises[i].type, type) == 0)
			return check_promise(&promises[i], FIELD(secret, "data"));
	}
	return strcmp(type, "kubernetes.io/service-account-token") != 0 ||
	       field_check_present(account);
}

bool secret_validate(const struct field *secret)
{
	const struct field *data = FIELD(secret, "data");

	return entries_check_keys(data) &&
	       (entries_bytes(data->item, true) <= ENTRIES_BYTES_MAX ||
		field_too_long(data, "may not be more than 1048576 bytes")) &&
	       check_type(secret);
}

/* Its readers rely on the type that it was made with. */
const struct fixed_field secret_fixed[] = {
	{ .path = "type", .type = VIOLATION_INVALID },
	{ 0 },
};

bool secret_validate_update(const struct object *old, const struct object *new_object,
			    struct violations *found)
{
	static const char *const entries[] = { "data", NULL };

	return entries_check_update(old, new_object, entries, found);
}
