/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csi_json_read - a message of JSON
 *
 * A message under construction is at every moment one that can be freed: a count grows after its
 * element is whole, and a oneof's case is set after its member.
 */
#include "csi/csi_json_internal.h"

#include "object/json/base64.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { DEPTH_MAX = 16, PATH_BYTES = 160 };

/* Where reading is, for what is said when it cannot go on. */
struct place {
	char path[PATH_BYTES]; /* "volumeCapability.mount.mountFlags[2]" */
	unsigned int depth;
	struct failure *reterr;
};

static int read_message(struct place *place, const struct cJSON *json,
			const ProtobufCMessageDescriptor *descriptor, ProtobufCMessage **ret);

static int wrong(const struct place *place, const char *what)
{
	return failed_plain(place->reterr, -EINVAL, "%s%s%s", place->path,
			    place->path[0] ? " " : "the message ", what);
}

static int no_memory(const struct place *place)
{
	return failed(place->reterr, -ENOMEM, "cannot make a message");
}

/* Return: the length to which place_leave() goes back. */
static size_t place_enter(struct place *place, const char *name)
{
	size_t length = strlen(place->path);

	(void) snprintf(place->path + length, sizeof(place->path) - length, "%s%.100s",
			length > 0 && *name != '[' ? "." : "", name);
	return length;
}

static void place_leave(struct place *place, size_t length)
{
	place->path[length] = '\0';
}

/* A number, or a string that holds one, as the mapping allows for all integers. */
static int read_integer(const struct place *place, const struct cJSON *json, int64_t min,
			int64_t max, int64_t *ret)
{
	const char *text = json_string(json, NULL);
	char *end = NULL;
	int64_t value;

	if (text) {
		errno = 0;
		value = strtoll(text, &end, 10);
		if (errno != 0 || end == text || *end || isspace((unsigned char) *text))
			return wrong(place, "is not an integer of its size");
	} else if (!json_int64(json, &value)) {
		return wrong(place, "is not an integer of its size");
	}
	if (value < min || value > max)
		return wrong(place, "is not an integer of its size");
	*ret = value;
	return 0;
}

static int read_enum(const struct place *place, const struct cJSON *json,
		     const ProtobufCEnumDescriptor *type, int *ret)
{
	const char *name = json_string(json, NULL);
	const ProtobufCEnumValue *value;
	int64_t number;

	if (!name) {
		if (!json_int64(json, &number) || number < INT32_MIN || number > INT32_MAX)
			return wrong(place, "is neither a name nor a number");
		*ret = (int) number;
		return 0;
	}
	value = protobuf_c_enum_descriptor_get_value_by_name(type, name);
	if (!value)
		return failed_plain(place->reterr, -EINVAL, "%s: '%.60s' is not a %s", place->path,
				    name, type->name);
	*ret = value->value;
	return 0;
}

static int read_string(const struct place *place, const struct cJSON *json, char **ret)
{
	const char *text = json_string(json, NULL);
	char *copy;

	if (!text)
		return wrong(place, "is not a string");
	copy = strdup(text);
	if (!copy)
		return no_memory(place);
	*ret = copy;
	return 0;
}

static int read_bytes(const struct place *place, const struct cJSON *json, ProtobufCBinaryData *ret)
{
	const char *text = json_string(json, NULL);
	char *bytes;
	size_t length;
	int r = text ? base64_decode(text, &bytes, &length) : -EINVAL;

	if (r == -ENOMEM)
		return no_memory(place);
	if (r < 0)
		return wrong(place, "is not base64");
	*ret = (ProtobufCBinaryData){ .len = length, .data = (uint8_t *) bytes };
	return 0;
}

/* Return: the nanoseconds of ".25", 0 for "", -1 for anything else; @text moves behind it. */
static int32_t read_fraction(const char **text)
{
	int32_t nanos = 0;
	int digits = 0;

	if (**text != '.')
		return 0;
	for ((*text)++; **text >= '0' && **text <= '9' && digits < FRACTION_DIGITS; (*text)++) {
		nanos = nanos * 10 + (**text - '0');
		digits++;
	}
	if (digits == 0)
		return -1;
	for (; digits < FRACTION_DIGITS; digits++)
		nanos *= 10;
	return nanos;
}

static int read_timestamp(const struct place *place, const struct cJSON *json,
			  ProtobufCMessage *message)
{
	const ProtobufCFieldDescriptor *fields = message->descriptor->fields;
	const char *text = json_string(json, "");
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int32_t nanos = rest ? read_fraction(&rest) : -1;

	if (nanos < 0 || strcmp(rest, "Z") != 0)
		return wrong(place, "is not a time like 2024-02-29T12:00:00Z");
	*(int64_t *) field_member(message, &fields[0]) = timegm(&tm);
	*(int32_t *) field_member(message, &fields[1]) = nanos;
	return 0;
}

static int read_element(struct place *place, const struct cJSON *json,
			const ProtobufCFieldDescriptor *field, void *element);

static int read_nested(struct place *place, const struct cJSON *json,
		       const ProtobufCMessageDescriptor *descriptor, ProtobufCMessage **ret)
{
	bool wrapper = message_is_wrapper(descriptor);
	ProtobufCMessage *message;
	int r;

	if (!wrapper && !message_is_timestamp(descriptor))
		return read_message(place, json, descriptor, ret);
	message = malloc(descriptor->sizeof_message);
	if (!message)
		return no_memory(place);
	protobuf_c_message_init(descriptor, message);
	r = wrapper ? read_element(place, json, descriptor->fields,
				   field_member(message, descriptor->fields))
		    : read_timestamp(place, json, message);
	if (r < 0)
		csi_message_free(message);
	else
		*ret = message;
	return r;
}

static int read_number(struct place *place, const struct cJSON *json,
		       const ProtobufCFieldDescriptor *field, void *element)
{
	bool has_sign = true, wide = field_element_size(field) == 8;
	int64_t value = 0;
	int r;

	if (field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_FIXED32 ||
	    field->type == PROTOBUF_C_TYPE_UINT64 || field->type == PROTOBUF_C_TYPE_FIXED64)
		has_sign = false;
	r = read_integer(place, json,
			 !has_sign ? 0
			 : wide    ? INT64_MIN
				   : INT32_MIN,
			 wide       ? INT64_MAX
			 : has_sign ? INT32_MAX
				    : UINT32_MAX,
			 &value);
	if (r < 0)
		return r;
	if (wide)
		*(int64_t *) element = value;
	else
		*(int32_t *) element = (int32_t) value;
	return 0;
}

static int read_element(struct place *place, const struct cJSON *json,
			const ProtobufCFieldDescriptor *field, void *element)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		if (!json_is_bool(json))
			return wrong(place, "is neither true nor false");
		*(protobuf_c_boolean *) element = json_bool(json, false);
		return 0;
	case PROTOBUF_C_TYPE_ENUM:
		return read_enum(place, json, field->descriptor, element);
	case PROTOBUF_C_TYPE_STRING:
		return read_string(place, json, element);
	case PROTOBUF_C_TYPE_BYTES:
		return read_bytes(place, json, element);
	case PROTOBUF_C_TYPE_MESSAGE:
		return read_nested(place, json, field->descriptor, element);
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_DOUBLE: /* no message of CSI has one */
		assert(false);
		return -EINVAL;
	default:
		return read_number(place, json, field, element);
	}
}

/* One entry of a map: its key is the member's name. */
static int read_entry(struct place *place, const struct cJSON *json,
		      const ProtobufCMessageDescriptor *descriptor, ProtobufCMessage **ret)
{
	ProtobufCMessage *message = malloc(descriptor->sizeof_message);
	char **key;
	int r;

	if (!message)
		return no_memory(place);
	protobuf_c_message_init(descriptor, message);
	key = field_member(message, &descriptor->fields[0]);
	*key = strdup(json_key(json));
	r = *key ? read_element(place, json, &descriptor->fields[1],
				field_member(message, &descriptor->fields[1]))
		 : no_memory(place);
	if (r < 0)
		csi_message_free(message);
	else
		*ret = message;
	return r;
}

static int read_repeated(struct place *place, const struct cJSON *json,
			 const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
	bool map = field_is_map(field);
	size_t size = field_element_size(field), *count = field_quantifier(message, field);
	uint8_t *elements;
	unsigned int index = 0;

	if (map ? !json_is_object(json) : !json_is_array(json))
		return wrong(place, map ? "is not an object" : "is not a list");
	if (json_count(json) == 0)
		return 0;
	elements = calloc(json_count(json), size);
	if (!elements)
		return no_memory(place);
	*(uint8_t **) field_member(message, field) = elements;
	for (const struct cJSON *item = json_first(json); item; item = json_next(item), index++) {
		char number[16];
		size_t before;
		int r;

		(void) snprintf(number, sizeof(number), "[%u]", index);
		before = place_enter(place, map ? json_key(item) : number);
		r = map ? read_entry(place, item, field->descriptor,
				     (ProtobufCMessage **) (void *) (elements + *count * size))
			: read_element(place, item, field, elements + *count * size);
		if (r < 0)
			return r;
		(*count)++;
		place_leave(place, before);
	}
	return 0;
}

static int read_oneof(struct place *place, const struct cJSON *json,
		      const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
	uint32_t *which = field_quantifier(message, field);
	int r;

	if (*which != 0)
		return wrong(place, "cannot be combined with another member that is given");
	r = read_element(place, json, field, field_member(message, field));
	if (r == 0)
		*which = field->id;
	return r;
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *descriptor,
						  const char *name)
{
	for (unsigned int i = 0; i < descriptor->n_fields; i++) {
		char json_name[FIELD_NAME_BYTES];

		field_json_name(&descriptor->fields[i], json_name);
		if (strcmp(name, json_name) == 0 || strcmp(name, descriptor->fields[i].name) == 0)
			return &descriptor->fields[i];
	}
	return NULL;
}

/* By both of its names? */
static bool is_twice(const struct cJSON *json, const ProtobufCFieldDescriptor *field)
{
	char json_name[FIELD_NAME_BYTES];

	field_json_name(field, json_name);
	return strcmp(json_name, field->name) != 0 && json_get(json, json_name) &&
	       json_get(json, field->name);
}

static int read_field(struct place *place, const struct cJSON *json,
		      const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return read_repeated(place, json, field, message);
	if (field_in_oneof(field))
		return read_oneof(place, json, field, message);
	return read_element(place, json, field, field_member(message, field));
}

static int read_members(struct place *place, const struct cJSON *json, ProtobufCMessage *message)
{
	JSON_FOREACH (item, json) {
		const ProtobufCFieldDescriptor *field =
			find_field(message->descriptor, json_key(item));
		size_t before = place_enter(place, json_key(item));
		int r;

		if (!field)
			return failed_plain(place->reterr, -EINVAL, "%s: %s has no such field",
					    place->path, message->descriptor->short_name);
		if (is_twice(json, field))
			return wrong(place, "is given twice");
		r = json_is_null(item) ? 0 : read_field(place, item, field, message);
		if (r < 0)
			return r;
		place_leave(place, before);
	}
	return 0;
}

static int read_message(struct place *place, const struct cJSON *json,
			const ProtobufCMessageDescriptor *descriptor, ProtobufCMessage **ret)
{
	ProtobufCMessage *message;
	int r;

	if (!json_is_object(json))
		return wrong(place, "is not an object");
	if (place->depth == DEPTH_MAX)
		return wrong(place, "is nested too deeply");
	message = malloc(descriptor->sizeof_message);
	if (!message)
		return no_memory(place);
	protobuf_c_message_init(descriptor, message);
	place->depth++;
	r = read_members(place, json, message);
	place->depth--;
	if (r < 0)
		csi_message_free(message);
	else
		*ret = message;
	return r;
}

int csi_json_read(const struct cJSON *json, const ProtobufCMessageDescriptor *descriptor,
		  ProtobufCMessage **ret, struct failure *reterr)
{
	struct place place = { .reterr = reterr };

	assert(descriptor && ret);

	if (json)
		return read_message(&place, json, descriptor, ret);
	*ret = malloc(descriptor->sizeof_message);
	if (!*ret)
		return no_memory(&place);
	protobuf_c_message_init(descriptor, *ret);
	return 0;
}
