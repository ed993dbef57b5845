/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_print - trees into JSON without blanks
 *
 * cJSON's printer costs more than reading does; this one copies runs of bytes.
 */
#include "object/json/json_tree.h"

#include "object/json/text_buffer.h"

#include <stdio.h>
#include <string.h>

static bool needs_escape(unsigned char byte)
{
	return byte < 0x20 || byte == '"' || byte == '\\';
}

static void put_escape(struct text_buffer *buffer, unsigned char byte)
{
	static const char shorts[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *found = byte ? strchr(shorts, byte) : NULL;
	char text[8];
	int length;

	if (found)
		length = snprintf(text, sizeof(text), "\\%c", names[found - shorts]);
	else
		length = snprintf(text, sizeof(text), "\\u%04x", byte);
	text_buffer_put(buffer, text, (size_t) length);
}

static void put_string(struct text_buffer *buffer, const char *text)
{
	text_buffer_put(buffer, "\"", 1);
	for (;;) {
		size_t run = 0;

		while (!needs_escape((unsigned char) text[run]))
			run++;
		text_buffer_put(buffer, text, run);
		text += run;
		if (*text == '\0')
			break;
		put_escape(buffer, (unsigned char) *text++);
	}
	text_buffer_put(buffer, "\"", 1);
}

static void put_value(struct text_buffer *buffer, const struct cJSON *item);

static void put_children(struct text_buffer *buffer, const struct cJSON *container)
{
	bool is_object = cJSON_IsObject(container);

	text_buffer_put(buffer, is_object ? "{" : "[", 1);
	for (const struct cJSON *item = container->child; item; item = item->next) {
		if (item != container->child)
			text_buffer_put(buffer, ",", 1);
		if (is_object) {
			put_string(buffer, json_key(item));
			text_buffer_put(buffer, ":", 1);
		}
		put_value(buffer, item);
	}
	text_buffer_put(buffer, is_object ? "}" : "]", 1);
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
	case cJSON_Object:
		put_children(buffer, item);
		break;
	default:
		buffer->failed = true; /* json_set() marks so what lost a member */
	}
}

char *json_print(const struct cJSON *tree)
{
	struct text_buffer buffer = { 0 };

	if (!tree)
		return NULL;
	put_value(&buffer, tree);
	return text_buffer_take(&buffer);
}
