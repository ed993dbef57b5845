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
static int check_mode(const struct cJSON *holder, const char *name, const struct field *field,
		      struct violations *found)
{
	int64_t mode;

	if (!json_int64(json_get(holder, name), &mode) || (mode >= 0 && mode <= MODE_MAX))
		return 0;
	return field_invalid_number(FIELD(field, name), mode,
				    "must be a number between 0 and 0777 (octal), both inclusive",
				    found);
}

/* Relative, without "..", and not beginning with "..", which is kubelet's own in these volumes. */
static int check_path(const struct cJSON *holder, const struct field *field,
		      struct violations *found)
{
	const char *path = json_text(holder, "path");
	const struct field *at = FIELD(field, "path");
	int r;

	if (*path == '\0')
		return field_required(at, "", found);
	r = field_check_descending(at, path, found);
	if (r == 0 && strncmp(path, "..", 2) == 0)
		r = field_invalid(at, path, "must not start with '..'", found);
	return r;
}

static int check_items(const struct cJSON *source, const struct field *field,
		       struct violations *found)
{
	const struct field *items = FIELD(field, "items");
	size_t index = 0;
	int r = check_mode(source, "defaultMode", field, found);

	for (const struct cJSON *item = json_first(json_get(source, "items")); item && r == 0;
	     item = json_next(item)) {
		const struct field *at = FIELD_AT(items, index++);

		if (*json_text(item, "key") == '\0')
			return field_required(FIELD(at, "key"), "", found);
		r = check_path(item, at, found);
		if (r == 0)
			r = check_mode(item, "mode", at, found);
	}
	return r;
}

int config_map_source_validate(const struct cJSON *source, const struct field *field,
			       struct violations *found)
{
	assert(source && field);
	if (*json_text(source, "name") == '\0')
		return field_required(FIELD(field, "name"), "", found);
	return check_items(source, field, found);
}

int secret_source_validate(const struct cJSON *source, const struct field *field,
			   struct violations *found)
{
	assert(source && field);
	if (*json_text(source, "secretName") == '\0')
		return field_required(FIELD(field, "secretName"), "", found);
	return check_items(source, field, found);
}

/* Exactly one of the two: Kubernetes' own words, also the odd "resource". */
static int check_downward_item(const struct cJSON *item, const struct field *field,
			       struct violations *found)
{
	const struct cJSON *ref = json_get(item, "fieldRef");
	const struct cJSON *resource = json_get(item, "resourceFieldRef");
	int r = check_path(item, field, found);

	if (r < 0)
		return r;
	if (!ref && !resource)
		return field_required(field, "one of fieldRef and resourceFieldRef is required",
				      found);
	if (ref && resource)
		return field_invalid(field, "resource",
				     "fieldRef and resourceFieldRef can not be specified "
				     "simultaneously",
				     found);
	if (ref && *json_text(ref, "fieldPath") == '\0')
		return field_required(FIELD(FIELD(field, "fieldRef"), "fieldPath"), "", found);
	if (resource && *json_text(resource, "resource") == '\0')
		return field_required(FIELD(FIELD(field, "resourceFieldRef"), "resource"), "",
				      found);
	return check_mode(item, "mode", field, found);
}

int downward_api_source_validate(const struct cJSON *source, const struct field *field,
				 struct violations *found)
{
	const struct field *items = FIELD(field, "items");
	size_t index = 0;
	int r = check_mode(source, "defaultMode", field, found);

	assert(source && field);
	for (const struct cJSON *item = json_first(json_get(source, "items")); item && r == 0;
	     item = json_next(item))
		r = check_downward_item(item, FIELD_AT(items, index++), found);
	return r;
}

/* Kubernetes issues no token for less. */
static int check_token(const struct cJSON *token, const struct field *field,
		       struct violations *found)
{
	int64_t seconds;

	if (json_int64(json_get(token, "expirationSeconds"), &seconds) &&
	    seconds < TOKEN_SECONDS_LEAST)
		return field_invalid_number(FIELD(field, "expirationSeconds"), seconds,
					    "may not specify a duration less than 10 minutes",
					    found);
	return check_path(token, field, found);
}

/* By name or by signer; labels are of a signer's bundles. */
static int check_trust_bundle(const struct cJSON *bundle, const struct field *field,
			      struct violations *found)
{
	bool named = *json_text(bundle, "name") != '\0';
	bool signed_by = *json_text(bundle, "signerName") != '\0';
	const struct cJSON *selector = json_get(bundle, "labelSelector");
	int r = 0;

	if (named && signed_by)
		r = field_invalid(field, json_text(bundle, "name"),
				  "only one of name and signerName may be used", found);
	else if (!named && !signed_by)
		r = field_required(field, "either name or signerName must be specified", found);
	else if (named && selector)
		r = field_invalid(FIELD(field, "labelSelector"), "",
				  "labelSelector must be unset if name is specified", found);
	if (r == 0 && selector)
		r = label_selector_validate(selector, FIELD(field, "labelSelector"), found);
	return r < 0 ? r : check_path(bundle, field, found);
}

/* A list of maps with one member each, like volumes; unknown members are newer sources. */
static int check_projection(const struct cJSON *item, const struct field *field,
			    struct violations *found)
{
	static const struct {
		const char *key;
		int (*validate)(const struct cJSON *source, const struct field *field,
				struct violations *found);
	} known[] = {
		{ "configMap", config_map_source_validate },
		{ "secret", config_map_source_validate },
		{ "downwardAPI", downward_api_source_validate },
		{ "serviceAccountToken", check_token },
		{ "clusterTrustBundle", check_trust_bundle },
	};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct cJSON *source = json_get(item, known[i].key);
		const struct field *at = FIELD(field, known[i].key);
		int r;

		if (!source)
			continue;
		if (++count > 1)
			return field_forbidden(at, "may not specify more than 1 volume type",
					       found);
		r = known[i].validate(source, at, found);
		if (r < 0)
			return r;
	}
	if (json_count(item) == 0)
		return field_required(field, "must specify a volume type", found);
	return 0;
}

int projected_source_validate(const struct cJSON *source, const struct field *field,
			      struct violations *found)
{
	const struct field *sources = FIELD(field, "sources");
	size_t index = 0;
	int r = check_mode(source, "defaultMode", field, found);

	assert(source && field);
	for (const struct cJSON *item = json_first(json_get(source, "sources")); item && r == 0;
	     item = json_next(item))
		r = check_projection(item, FIELD_AT(sources, index++), found);
	return r;
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
