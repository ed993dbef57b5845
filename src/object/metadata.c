/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata - see metadata.h
 *
 * A uid becomes a directory name below the root directory, and manifests may bring one; so it is
 * checked here although the API server, which makes them itself, does not.
 */
#include "object/metadata.h"

#include "object/select/selector_json.h"
#include "object/timestamp.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 253, ANNOTATIONS_BYTES_MAX = 256 * 1024 };

int metadata_set_defaults(const struct kind_row *row, struct cJSON *tree)
{
	struct cJSON *metadata = json_ensure_object(tree, "metadata");

	if (!metadata)
		return -ENOMEM;
	if (!row->namespaced)
		json_remove(metadata, "namespace");
	else if (*json_text(metadata, "namespace") == '\0')
		return json_set_string(metadata, "namespace", "default");
	return 0;
}

static bool is_path_safe(const char *uid)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	return strlen(uid) <= OBJECT_UID_BYTES_MAX && uid[strspn(uid, allowed)] == '\0' &&
	       *uid != '.';
}

static bool check_annotations(const struct field *annotations)
{
	size_t bytes = 0;

	JSON_FOREACH (item, annotations->item)
		bytes += strlen(json_key(item)) + strlen(json_string(item, ""));
	return bytes <= ANNOTATIONS_BYTES_MAX ||
	       field_invalid(annotations, "", "may not be more than 262144 bytes");
}

static bool check_resource_version(const struct field *version)
{
	const char *text = field_text(version);

	errno = 0;
	(void) strtoull(text, NULL, 10);
	return (text[strspn(text, "0123456789")] == '\0' && errno == 0) ||
	       field_invalid(version, text, "must be a number");
}

/* "example.com:foo:name": each part as a name of its own. */
static bool check_name(const struct kind_row *row, const struct field *name)
{
	if (!row->has_signer_name || strlen(field_text(name)) > NAME_BYTES_MAX)
		return field_check_subdomain(name);
	for (const char *at = field_text(name); at;) {
		size_t length = strcspn(at, ":");
		char part[NAME_BYTES_MAX + 1];

		(void) snprintf(part, sizeof(part), "%.*s", (int) length, at);
		if (!field_check_subdomain_in(name, part))
			return false;
		at = at[length] ? at + length + 1 : NULL;
	}
	return true;
}

bool metadata_validate(const struct kind_row *row, const struct field *metadata)
{
	const struct field *name = FIELD(metadata, "name"), *uid = FIELD(metadata, "uid");

	assert(row);
	if (*field_text(name) == '\0')
		return field_required(name, "name is required");
	return check_name(row, name) &&
	       (!row->namespaced || field_check_label(FIELD(metadata, "namespace"))) &&
	       (is_path_safe(field_text(uid)) ||
		field_invalid(uid, field_text(uid),
			      "must be at most 128 of the characters A-Z, a-z, 0-9, '-', '_' and "
			      "'.', not beginning with '.'")) &&
	       check_annotations(FIELD(metadata, "annotations")) &&
	       check_resource_version(FIELD(metadata, "resourceVersion"));
}

void metadata_decode(const struct cJSON *tree, struct arena *arena, struct object_meta *ret)
{
	const struct cJSON *metadata = json_get(tree, "metadata");
	int64_t generation = 0;

	(void) json_int64(json_get(metadata, "generation"), &generation);
	*ret = (struct object_meta){
		.name = arena_text(arena, metadata, "name"),
		.name_space = arena_text(arena, metadata, "namespace"),
		.uid = arena_text(arena, metadata, "uid"),
		.labels = labels_decode(json_get(metadata, "labels"), arena),
		.deletion_timestamp = arena_text(arena, metadata, "deletionTimestamp"),
		.creation_usec = timestamp_parse(json_text(metadata, "creationTimestamp")),
		.resource_version =
			strtoull(json_string(json_get(metadata, "resourceVersion"), "0"), NULL, 10),
		.generation = generation > 0 ? (uint64_t) generation : 0,
	};
	ret->deletes = *ret->deletion_timestamp != '\0';
}

const char *metadata_annotation(const struct cJSON *tree, const char *key)
{
	return json_string(json_get(json_get(json_get(tree, "metadata"), "annotations"), key),
			   NULL);
}

void object_write_reference(const struct object *object, struct cJSON *reference)
{
	const struct kind_row *row = kind_row(object->kind);
	const struct object_meta *meta = &object->meta;
	char text[API_VERSION_BYTES];

	(void) json_set_string(reference, "apiVersion", kind_api_version(row, text));
	(void) json_set_string(reference, "kind", row->name);
	if (row->namespaced)
		(void) json_set_string(reference, "namespace", meta->name_space);
	(void) json_set_string(reference, "name", meta->name);
	(void) json_set_string(reference, "uid", meta->uid);
	if (meta->resource_version == 0)
		return;
	(void) snprintf(text, sizeof(text), "%" PRIu64, meta->resource_version);
	(void) json_set_string(reference, "resourceVersion", text);
}
