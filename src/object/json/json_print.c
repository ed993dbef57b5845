/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_print - trees into JSON without blanks
 *
 * cJSON's printer costs more than reading does; this one copies runs of bytes.
 */
#include "object/json/json_tree.h"

#include "object/json/json_run.h"
#include "object/json/text_buffer.h"

#include <string.h>

enum { ESCAPE_BYTES = 6 }; /* of the longest one */

/* A string may be nothing but escapes. Return: how many bytes of @to were written. */
static size_t write_escape(char to[ESCAPE_BYTES], unsigned char byte)
{
	static const char hex[] = "0123456789abcdef";
	static const char names[] = {
		['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
	};

	to[0] = '\\';
	if (names[byte]) {
		to[1] = names[byte];
		return 2;
	}
	memcpy(to + 1, "u00", 3);
	to[4] = hex[byte >> 4];
	to[5] = hex[byte & 0xf];
	return ESCAPE_BYTES;
}

/* Bytes one by one, as more escapes follow the first one soon; at most @length of them. */
static size_t put_few(struct text_buffer *buffer, const char *text, size_t length)
{
	enum { FEW = 64 };
	size_t count = length < FEW ? length : FEW;
	char *to = text_buffer_room(buffer, count * ESCAPE_BYTES), *end = to;

	for (size_t i = 0; to && i < count; i++) {
		if (json_needs_escape((unsigned char) text[i]))
			end += write_escape(end, (unsigned char) text[i]);
		else
			*end++ = text[i];
	}
	buffer->used += (size_t) (end - to);
	return count;
}

static void put_escaped(struct text_buffer *buffer, const char *text, size_t length)
{
	while (length > 0 && !buffer->failed) {
		size_t run = json_plain_run(text, length, false);

		text_buffer_put(buffer, text, run);
		run += put_few(buffer, text + run, length - run);
		text += run;
		length -= run;
	}
}

static void put_byte(struct text_buffer *buffer, char byte)
{
	char *to = text_buffer_room(buffer, 1);

	if (!to)
		return;
	*to = byte;
	buffer->used++;
}

/* Copied first, and looked at in whole words: what is behind it needs no escape. */
static void put_string(struct text_buffer *buffer, const char *text)
{
	size_t length = strlen(text);
	char *to = text_buffer_room(buffer, length + 2 + sizeof(uint64_t));

	if (!to)
		return;
	*to++ = '"';
	memcpy(to, text, length);
	memset(to + length, ' ', sizeof(uint64_t));
	if (json_is_plain(to, length)) {
		to[length] = '"';
		buffer->used += length + 2;
		return;
	}
	put_byte(buffer, '"');
	put_escaped(buffer, text, length);
	put_byte(buffer, '"');
}

static void put_value(struct text_buffer *buffer, const struct cJSON *item);

static void put_key(struct text_buffer *buffer, const struct cJSON *item, bool is_first)
{
	if (!is_first)
		put_byte(buffer, ',');
	put_string(buffer, json_key(item));
	put_byte(buffer, ':');
}

static void put_object(struct text_buffer *buffer, const struct cJSON *object)
{
	put_byte(buffer, '{');
	for (const struct cJSON *item = object->child; item; item = item->next) {
		put_key(buffer, item, item == object->child);
		put_value(buffer, item);
	}
	put_byte(buffer, '}');
}

static void put_array(struct text_buffer *buffer, const struct cJSON *array)
{
	put_byte(buffer, '[');
	for (const struct cJSON *item = array->child; item; item = item->next) {
		if (item != array->child)
			put_byte(buffer, ',');
		put_value(buffer, item);
	}
	put_byte(buffer, ']');
}

void json_print_members(struct text_buffer *buffer, const struct cJSON *object,
			void (*note)(const char *key, size_t at, size_t length, void *userdata),
			void *userdata)
{
	if (!json_has_type(cJSON_Object, object)) {
		buffer->failed = true;
		return;
	}
	put_byte(buffer, '{');
	for (const struct cJSON *item = object->child; item; item = item->next) {
		size_t at;

		put_key(buffer, item, item == object->child);
		at = buffer->used;
		put_value(buffer, item);
		note(json_key(item), at, buffer->used - at, userdata);
	}
	put_byte(buffer, '}');
}

static void put_value(struct text_buffer *buffer, const struct cJSON *item)
{
	switch (item->type & 0xff) {
	case cJSON_NULL:
		text_buffer_put(buffer, "null", 4);
		break;
	case cJSON_True:
		text_buffer_put(buffer, "true", 4);
		break;
	case cJSON_False:
		text_buffer_put(buffer, "false", 5);
		break;
	case cJSON_Raw:
		text_buffer_put(buffer, item->valuestring, strlen(item->valuestring));
		break;
	case cJSON_String:
		put_string(buffer, item->valuestring);
		break;
	case cJSON_Array:
		put_array(buffer, item);
		break;
	case cJSON_Object:
		put_object(buffer, item);
		break;
	default:
		buffer->failed = true; /* json_set() marks so what lost a member */
	}
}

void json_print_into(struct text_buffer *buffer, const struct cJSON *tree)
{
	if (tree)
		put_value(buffer, tree);
	else
		buffer->failed = true;
}

char *json_print(const struct cJSON *tree)
{
	struct text_buffer buffer = { 0 };

	json_print_into(&buffer, tree);
	return text_buffer_take(&buffer);
}
