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

/* The text that was decoded before stays where it is the same. */
static const char *decode_text(const struct cJSON *item, struct arena *arena, const char *before)
{
	const char *text = json_string(item, "");

	return before && strcmp(before, text) == 0 ? before : arena_string(arena, text);
}

void metadata_decode_stamp(const struct cJSON *metadata, struct arena *arena,
			   struct object_meta *meta)
{
	int64_t generation = 0;

	(void) json_int64(json_get(metadata, "generation"), &generation);
	meta->uid = decode_text(json_get(metadata, "uid"), arena, meta->uid);
	meta->deletion_timestamp = decode_text(json_get(metadata, "deletionTimestamp"), arena,
					       meta->deletion_timestamp);
	meta->creation_usec = timestamp_parse(json_text(metadata, "creationTimestamp"));
	meta->resource_version =
		strtoull(json_string(json_get(metadata, "resourceVersion"), "0"), NULL, 10);
	meta->generation = generation > 0 ? (uint64_t) generation : 0;
	meta->deletes = *meta->deletion_timestamp != '\0';
}

void metadata_decode(const struct cJSON *tree, struct arena *arena, struct object_meta *ret)
{
	const struct cJSON *metadata = json_get(tree, "metadata");

	*ret = (struct object_meta){
		.name = arena_text(arena, metadata, "name"),
		.name_space = arena_text(arena, metadata, "namespace"),
		.labels = labels_decode(json_get(metadata, "labels"), arena),
	};
	metadata_decode_stamp(metadata, arena, ret);
}

const char *metadata_annotation(const struct cJSON *tree, const char *key)
{
	return json_string(json_get(json_get(json_get(tree, "metadata"), "annotations"), key),
			   NULL);
}
