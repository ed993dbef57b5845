/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_print_yaml - trees as YAML documents, through libyaml's emitter
 *
 * A string that kubelet's reader would take for something else is quoted, so that what we print can
 * be stored again. The client library has JSON only and leaves this file out.
 */
#include "object/json/json_tree.h"

#include "object/json/text_buffer.h"
#include "object/json/yaml.h"

#include <string.h>
#include <yaml.h>

static int append_yaml(void *data, unsigned char *bytes, size_t length)
{
	struct text_buffer *buffer = data;

	text_buffer_put(buffer, (const char *) bytes, length);
	return !buffer->failed;
}

static bool emit_scalar(yaml_emitter_t *emitter, const char *text, yaml_scalar_style_t style)
{
	yaml_event_t event;

	return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *) text,
					    (int) strlen(text), 1, 1, style) &&
	       yaml_emitter_emit(emitter, &event);
}

static bool emit_string(yaml_emitter_t *emitter, const char *text)
{
	char number[YAML_NUMBER_BYTES];

	if (yaml_scalar_type(text, number) != YAML_SCALAR_STRING)
		return emit_scalar(emitter, text, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
	return emit_scalar(emitter, text,
			   strchr(text, '\n') ? YAML_LITERAL_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE);
}

static bool emit_value(yaml_emitter_t *emitter, const struct cJSON *item);

static bool emit_children(yaml_emitter_t *emitter, const struct cJSON *container)
{
	bool is_object = json_has_type(cJSON_Object, container);
	yaml_event_t event;
	int ready;

	ready = is_object ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
								YAML_ANY_MAPPING_STYLE)
			  : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
								 YAML_ANY_SEQUENCE_STYLE);
	if (!ready || !yaml_emitter_emit(emitter, &event))
		return false;
	for (const struct cJSON *item = container->child; item; item = item->next) {
		if (is_object && !emit_string(emitter, json_key(item)))
			return false;
		if (!emit_value(emitter, item))
			return false;
	}
	ready = is_object ? yaml_mapping_end_event_initialize(&event)
			  : yaml_sequence_end_event_initialize(&event);
	return ready && yaml_emitter_emit(emitter, &event);
}

static bool emit_value(yaml_emitter_t *emitter, const struct cJSON *item)
{
	switch (item->type & 0xff) {
	case cJSON_NULL:
		return emit_scalar(emitter, "null", YAML_PLAIN_SCALAR_STYLE);
	case cJSON_True:
		return emit_scalar(emitter, "true", YAML_PLAIN_SCALAR_STYLE);
	case cJSON_False:
		return emit_scalar(emitter, "false", YAML_PLAIN_SCALAR_STYLE);
	case cJSON_Raw:
		return emit_scalar(emitter, item->valuestring, YAML_PLAIN_SCALAR_STYLE);
	case cJSON_String:
		return emit_string(emitter, item->valuestring);
	case cJSON_Array:
	case cJSON_Object:
		return emit_children(emitter, item);
	default:
		return false;
	}
}

static bool emit_document(yaml_emitter_t *emitter, const struct cJSON *tree)
{
	yaml_event_t event;

	return yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
	       yaml_emitter_emit(emitter, &event) &&
	       yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
	       yaml_emitter_emit(emitter, &event) && emit_value(emitter, tree) &&
	       yaml_document_end_event_initialize(&event, 1) &&
	       yaml_emitter_emit(emitter, &event) && yaml_stream_end_event_initialize(&event) &&
	       yaml_emitter_emit(emitter, &event);
}

char *json_print_yaml(const struct cJSON *tree)
{
	struct text_buffer buffer = { 0 };
	yaml_emitter_t emitter;

	if (!tree || !yaml_emitter_initialize(&emitter))
		return NULL;
	yaml_emitter_set_output(&emitter, append_yaml, &buffer);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, -1);
	if (!emit_document(&emitter, tree))
		buffer.failed = true;
	yaml_emitter_delete(&emitter);
	return text_buffer_take(&buffer);
}
