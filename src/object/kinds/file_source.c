/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_source - see file_source.h
 */
#include "object/kinds/file_source.h"

#include "base/cleanup.h"
#include "object/select/selector_json.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { DEFAULT_MODE = 0644, MODE_MAX = 0777, TOKEN_SECONDS = 3600, TOKEN_SECONDS_LEAST = 600 };

/* ---- defaults ---- */

/* The bits that kubelet gives such files by default. */
int file_source_set_mode(struct cJSON *source)
{
	assert(source);
	if (json_get(source, "defaultMode"))
		return 0;
	return json_set_int(source, "defaultMode", DEFAULT_MODE);
}

/* fieldRef.apiVersion; all else of an item has no default. */
static int default_items(const struct cJSON *source)
{
	const struct cJSON *items = json_get(source, "items");

	JSON_FOREACH (item, items) {
		struct cJSON *ref;

		if (!json_get(item, "fieldRef") ||
		    json_get(json_get(item, "fieldRef"), "apiVersion"))
			continue;
		ref = json_ensure_object((struct cJSON *) item, "fieldRef");
		if (json_set_string(ref, "apiVersion", "v1") < 0)
			return -ENOMEM;
	}
	return 0;
}

int downward_api_source_set_defaults(struct cJSON *source)
{
	int r = default_items(source);

	return r < 0 ? r : file_source_set_mode(source);
}

int projected_source_set_defaults(struct cJSON *source)
{
	const struct cJSON *sources = json_get(source, "sources");

	JSON_FOREACH (item, sources) {
		struct cJSON *token = NULL;

		if (default_items(json_get(item, "downwardAPI")) < 0)
			return -ENOMEM;
		if (json_get(item, "serviceAccountToken"))
			token = json_ensure_object((struct cJSON *) item, "serviceAccountToken");
		if (token && !json_get(token, "expirationSeconds") &&
		    json_set_int(token, "expirationSeconds", TOKEN_SECONDS) < 0)
			return -ENOMEM;
	}
	return file_source_set_mode(source);
}

/* ---- validation ---- */

/* Permission bits alone: no setuid, no sticky bit by way of a manifest. */
static bool check_mode(const struct field *mode)
{
	int64_t bits;

	return !json_int64(mode->item, &bits) || (bits >= 0 && bits <= MODE_MAX) ||
	       field_invalid_number(mode, bits,
				    "must be a number between 0 and 0777 (octal), both inclusive");
}

/* Relative, without "..", and not beginning with "..", which is kubelet's own in these volumes. */
static bool check_path(const struct field *path)
{
	if (*field_text(path) == '\0')
		return field_required(path, "");
	return field_check_descending(path) &&
	       (strncmp(field_text(path), "..", 2) != 0 ||
		field_invalid(path, field_text(path), "must not start with '..'"));
}

static bool check_item(const struct field *item)
{
	if (*json_text(item->item, "key") == '\0')
		return field_required(FIELD(item, "key"), "");
	return check_path(FIELD(item, "path")) && check_mode(FIELD(item, "mode"));
}

/* @name: where the object's name stands. */
static bool check_entries(const struct field *source, const char *name)
{
	if (*json_text(source->item, name) == '\0')
		return field_required(FIELD(source, name), "");
	return check_mode(FIELD(source, "defaultMode")) &&
	       field_check_each(FIELD(source, "items"), check_item);
}

bool config_map_source_validate(const struct field *source)
{
	return check_entries(source, "name");
}

bool secret_source_validate(const struct field *source)
{
	return check_entries(source, "secretName");
}

/* Exactly one of the two: Kubernetes' own words, also the odd "resource". */
static bool check_downward_item(const struct field *item)
{
	const struct field *ref = FIELD(item, "fieldRef");
	const struct field *resource = FIELD(item, "resourceFieldRef");

	if (!check_path(FIELD(item, "path")))
		return false;
	if (!ref->item && !resource->item)
		return field_required(item, "one of fieldRef and resourceFieldRef is required");
	if (ref->item && resource->item)
		return field_invalid(
			item, "resource",
			"fieldRef and resourceFieldRef can not be specified simultaneously");
	if (ref->item && *json_text(ref->item, "fieldPath") == '\0')
		return field_required(FIELD(ref, "fieldPath"), "");
	if (resource->item && *json_text(resource->item, "resource") == '\0')
		return field_required(FIELD(resource, "resource"), "");
	return check_mode(FIELD(item, "mode"));
}

bool downward_api_source_validate(const struct field *source)
{
	return check_mode(FIELD(source, "defaultMode")) &&
	       field_check_each(FIELD(source, "items"), check_downward_item);
}

/* Kubernetes issues no token for less. */
static bool check_token(const struct field *token)
{
	const struct field *expiration = FIELD(token, "expirationSeconds");
	int64_t seconds;

	if (json_int64(expiration->item, &seconds) && seconds < TOKEN_SECONDS_LEAST)
		return field_invalid_number(expiration, seconds,
					    "may not specify a duration less than 10 minutes");
	return check_path(FIELD(token, "path"));
}

/* By name or by signer; labels are of a signer's bundles. */
static bool check_trust_bundle(const struct field *bundle)
{
	const struct field *selector = FIELD(bundle, "labelSelector");
	const char *name = json_text(bundle->item, "name");
	bool signed_by = *json_text(bundle->item, "signerName") != '\0';
	bool goes_on = true;

	if (*name && signed_by)
		goes_on =
			field_invalid(bundle, name, "only one of name and signerName may be used");
	else if (!*name && !signed_by)
		goes_on = field_required(bundle, "either name or signerName must be specified");
	else if (*name && selector->item)
		goes_on = field_invalid(selector, "",
					"labelSelector must be unset if name is specified");
	return goes_on && label_selector_validate(selector) && check_path(FIELD(bundle, "path"));
}

/* A list of maps with one member each, like volumes; unknown members are newer sources. */
static bool check_projection(const struct field *projection)
{
	static const struct {
		const char *key;
		bool (*validate)(const struct field *source);
	} known[] = {
		{ "configMap", config_map_source_validate },
		{ "secret", config_map_source_validate },
		{ "downwardAPI", downward_api_source_validate },
		{ "serviceAccountToken", check_token },
		{ "clusterTrustBundle", check_trust_bundle },
	};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct field *at = FIELD(projection, known[i].key);

		if (!at->item)
			continue;
		if (++count > 1)
			return field_forbidden(at, "may not specify more than 1 volume type");
		if (!known[i].validate(at))
			return false;
	}
	return json_count(projection->item) > 0 ||
	       field_required(projection, "must specify a volume type");
}

bool projected_source_validate(const struct field *source)
{
	return check_mode(FIELD(source, "defaultMode")) &&
	       field_check_each(FIELD(source, "sources"), check_projection);
}

/* ---- decoding ---- */

/* @key: of its name. */
static struct pod_volume_object decode_object(enum object_kind kind, const struct cJSON *source,
					      const char *key, struct arena *arena)
{
	return (struct pod_volume_object){
		.kind = kind,
		.optional = json_bool(json_get(source, "optional"), false),
		.name = arena_text(arena, source, key),
	};
}

static void decode_one(enum object_kind kind, const struct cJSON *source, const char *key,
		       struct arena *arena, struct pod_volume *volume)
{
	struct pod_volume_object *object = arena_array(arena, 1, sizeof(*object));

	if (!object)
		return; /* the arena knows */
	*object = decode_object(kind, source, key, arena);
	volume->objects = object;
	volume->object_count = 1;
}

void config_map_source_decode(const struct cJSON *source, struct arena *arena,
			      struct pod_volume *volume)
{
	decode_one(KIND_CONFIG_MAP, source, "name", arena, volume);
}

void secret_source_decode(const struct cJSON *source, struct arena *arena,
			  struct pod_volume *volume)
{
	decode_one(KIND_SECRET, source, "secretName", arena, volume);
}

void downward_api_source_decode(const struct cJSON *source, struct arena *arena,
				struct pod_volume *volume)
{
	volume->shows_pod = true;
}

static void decode_trust_bundles(const struct cJSON *sources, struct arena *arena,
				 struct pod_volume *volume)
{
	struct pod_trust_bundle *bundles =
		arena_array(arena, json_count(sources) + 1, sizeof(*bundles));

	for (const struct cJSON *item = json_first(sources); item && bundles;
	     item = json_next(item)) {
		const struct cJSON *bundle = json_get(item, "clusterTrustBundle");

		if (!bundle)
			continue;
		bundles[volume->trust_bundle_count++] = (struct pod_trust_bundle){
			.name = arena_text(arena, bundle, "name"),
			.signer_name = arena_text(arena, bundle, "signerName"),
			.selector = label_selector_decode(json_get(bundle, "labelSelector"), arena),
		};
	}
	volume->trust_bundles = bundles;
}

void projected_source_decode(const struct cJSON *source, struct arena *arena,
			     struct pod_volume *volume)
{
	static const struct {
		const char *key;
		enum object_kind kind;
	} named[] = { { "configMap", KIND_CONFIG_MAP }, { "secret", KIND_SECRET } };
	const struct cJSON *sources = json_get(source, "sources");
	struct pod_volume_object *objects =
		arena_array(arena, json_count(sources) + 1, sizeof(*objects));

	for (const struct cJSON *item = json_first(sources); item && objects;
	     item = json_next(item)) {
		for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
			const struct cJSON *object = json_get(item, named[i].key);

			if (object)
				objects[volume->object_count++] =
					decode_object(named[i].kind, object, "name", arena);
		}
		volume->shows_pod = volume->shows_pod || json_get(item, "downwardAPI");
		volume->has_tokens = volume->has_tokens || json_get(item, "serviceAccountToken");
	}
	volume->objects = objects;
	decode_trust_bundles(sources, arena, volume);
}
