/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamp - see stamp.h
 */
#include "object/stamp.h"

#include "object/object_text.h"
#include "object/timestamp.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* "[]", and what is no list, are no bytes. */
static struct json_bytes list_of(struct json_bytes value)
{
	return value.length > strlen("[]") && value.start[0] == '[' ? value
								    : (struct json_bytes){ 0 };
}

/* A quote within a string stands behind a backslash, so no other string holds the name with both.
 */
static bool has(const struct json_bytes *list, const char *finalizer)
{
	char quoted[128] = "\"";
	size_t length = strlen(finalizer);

	assert(length + strlen("\"\"") <= sizeof(quoted));
	if (list->length == 0)
		return false;
	memcpy(quoted + 1, finalizer, length);
	quoted[length + 1] = '"';
	return memmem(list->start, list->length, quoted, length + 2) != NULL;
}

bool stamp_has_finalizers(const struct object *object)
{
	const struct json_bytes metadata = object_metadata_text(object);

	return metadata.length > 0 &&
	       list_of(json_text_member(metadata.start, "finalizers")).length > 0;
}

static bool is_stamped(const struct json_bytes *key)
{
	return json_bytes_are(key, "uid") || json_bytes_are(key, "resourceVersion") ||
	       json_bytes_are(key, "generation") || json_bytes_are(key, "creationTimestamp") ||
	       json_bytes_are(key, "deletionTimestamp") ||
	       json_bytes_are(key, "deletionGracePeriodSeconds") ||
	       json_bytes_are(key, "finalizers");
}

static void put(struct text_buffer *buffer, const char *text)
{
	text_buffer_put(buffer, text, strlen(text));
}

/* Return: the list of finalizers, which is not among them. */
static struct json_bytes put_writers(struct text_buffer *buffer, const char *metadata)
{
	struct json_bytes finalizers = { 0 };
	struct json_text_walk walk;

	json_text_begin(&walk, metadata);
	while (json_text_next(&walk)) {
		if (json_bytes_are(&walk.key, "finalizers"))
			finalizers = list_of(walk.value);
		if (is_stamped(&walk.key))
			continue;
		text_buffer_put(buffer, walk.key.start - 1,
				(size_t) (walk.value.start - walk.key.start) + walk.value.length +
					1);
		put(buffer, ",");
	}
	return finalizers;
}

static void put_number(struct text_buffer *buffer, uint64_t number)
{
	char text[24], *at = text + sizeof(text);

	do {
		*--at = (char) ('0' + number % 10);
		number /= 10;
	} while (number > 0);
	text_buffer_put(buffer, at, (size_t) (text + sizeof(text) - at));
}

static void put_time(struct text_buffer *buffer, const char *key, uint64_t usec)
{
	char text[TIMESTAMP_BYTES];

	timestamp_print(usec, text);
	put(buffer, key);
	put(buffer, text);
	put(buffer, "\"");
}

static void put_finalizers(struct text_buffer *buffer, const struct json_bytes *list,
			   struct object_stamp *stamp)
{
	bool is_there = stamp->finalizer && has(list, stamp->finalizer);
	bool adds = stamp->adds_finalizer && stamp->finalizer && !is_there;

	stamp->has_finalizer = is_there || adds;
	if (list->length == 0 && !adds)
		return;
	put(buffer, ",\"finalizers\":[");
	if (list->length > 0)
		text_buffer_put(buffer, list->start + 1, list->length - 2);
	if (adds) {
		put(buffer, list->length > 0 ? ",\"" : "\"");
		put(buffer, stamp->finalizer);
		put(buffer, "\"");
	}
	put(buffer, "]");
}

void stamp_print(struct text_buffer *buffer, const struct object *object,
		 struct object_stamp *stamp)
{
	const struct json_bytes metadata = object_metadata_text(object);
	const char *json = object->json, *behind = metadata.start + metadata.length;
	struct json_bytes finalizers;

	assert(metadata.length > 0); /* each has a name */
	text_buffer_put(buffer, json, (size_t) (metadata.start - json));
	put(buffer, "{");
	finalizers = put_writers(buffer, metadata.start);
	put(buffer, "\"uid\":\"");
	put(buffer, stamp->uid);
	put(buffer, "\",\"resourceVersion\":\"");
	put_number(buffer, stamp->resource_version);
	put(buffer, "\",\"generation\":");
	put_number(buffer, stamp->generation);
	put_time(buffer, ",\"creationTimestamp\":\"", stamp->created_usec);
	if (stamp->deleted_usec > 0) {
		put_time(buffer, ",\"deletionTimestamp\":\"", stamp->deleted_usec);
		put(buffer, ",\"deletionGracePeriodSeconds\":0");
	}
	put_finalizers(buffer, &finalizers, stamp);
	put(buffer, "}");
	text_buffer_put(buffer, behind, (size_t) (json + object->json_length - behind));
}
