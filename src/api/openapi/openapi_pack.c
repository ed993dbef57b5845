/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_pack - an OpenAPI document in protocol buffers: gnostic's openapi.v2.Document
 *
 * The document is a tree already, and writing protocol buffers is two rules (a tag and a number; a
 * tag, a length and bytes). So a table says which member of which object has which field number,
 * and one walk writes it: no second tree in structs, and no generated code for forty messages.
 */
#include "api/openapi/openapi.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

/* ---- writing ---- */

struct packer {
	unsigned char *bytes;
	size_t used, allocated;
	bool failed; /* no memory; what comes after is passed over */
};

enum { WIRE_NUMBER = 0, WIRE_BYTES = 2, NUMBER_BYTES_MAX = 10 };

static bool reserve(struct packer *packer, size_t more)
{
	unsigned char *grown;
	size_t allocated = packer->allocated ? packer->allocated : 65536;

	while (allocated - packer->used < more)
		allocated *= 2;
	if (packer->failed || allocated == packer->allocated)
		return !packer->failed;
	grown = realloc(packer->bytes, allocated);
	if (!grown) {
		packer->failed = true;
		return false;
	}
	packer->bytes = grown;
	packer->allocated = allocated;
	return true;
}

/* Seven bits at a time, the lowest first. */
static size_t print_number(uint64_t number, unsigned char text[NUMBER_BYTES_MAX])
{
	size_t length = 0;

	do {
		text[length] = (unsigned char) ((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
		number >>= 7;
		length++;
	} while (number > 0);
	return length;
}

static void put_number(struct packer *packer, uint64_t number)
{
	if (reserve(packer, NUMBER_BYTES_MAX))
		packer->used += print_number(number, packer->bytes + packer->used);
}

static void put_tag(struct packer *packer, unsigned int field, unsigned int wire)
{
	put_number(packer, (uint64_t) field << 3 | wire);
}

static void put_text(struct packer *packer, unsigned int field, const char *text)
{
	size_t length = strlen(text);

	put_tag(packer, field, WIRE_BYTES);
	put_number(packer, length);
	if (!reserve(packer, length))
		return;
	memcpy(packer->bytes + packer->used, text, length);
	packer->used += length;
}

static void put_bool(struct packer *packer, unsigned int field, bool value)
{
	put_tag(packer, field, WIRE_NUMBER);
	put_number(packer, value);
}

/* A message within the message: its length is known, and put before it, at its end. */
static size_t begin(struct packer *packer, unsigned int field)
{
	put_tag(packer, field, WIRE_BYTES);
	return packer->used;
}

static void end(struct packer *packer, size_t start)
{
	unsigned char text[NUMBER_BYTES_MAX];
	size_t length = print_number(packer->used - start, text);

	if (!reserve(packer, length))
		return;
	memmove(packer->bytes + start + length, packer->bytes + start, packer->used - start);
	memcpy(packer->bytes + start, text, length);
	packer->used += length;
}

/* ---- which member is which field ---- */

enum how {
	HOW_TEXT,
	HOW_BOOL,
	HOW_TEXTS,      /* each element is the field once */
	HOW_MESSAGE,    /* of @of */
	HOW_MAP,        /* each member is a message of its own: name = 1, value = 2 */
	HOW_PARAMETERS, /* each element is a parameter: see put_parameter() */
};

struct message;

struct message_field {
	const char *key; /* of the JSON object */
	unsigned int number;
	enum how how;
	const struct message *of;
	/* The value is that field of a message that has nothing else; 0: it is not. In a map
	 * @within is about the whole map, @value_within about each value. */
	unsigned int within, value_within;
};

struct message {
	const struct message_field *fields; /* ended by a NULL key */
	unsigned int extensions;            /* number of vendor_extension: x-...; 0 none */
};

#define FIELDS(...)                                                                                \
	.fields = (const struct message_field[])                                                   \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define TEXT(key_, number_)                                                                        \
	{                                                                                          \
		.key = key_, .number = number_                                                     \
	}
#define MEMBER(key_, number_, ...)                                                                 \
	{                                                                                          \
		.key = key_, .number = number_, __VA_ARGS__                                        \
	}
#define MESSAGE(of_) .how = HOW_MESSAGE, .of = &of_##_message
#define MAP(of_)     .how = HOW_MAP, .of = &of_##_message

static const struct message schema_message;

static const struct message info_message = { FIELDS(TEXT("title", 1), TEXT("version", 2)) };

static const struct message schema_message = {
	.extensions = 31,
	FIELDS(TEXT("$ref", 1), TEXT("format", 2), TEXT("description", 4),
	       MEMBER("required", 19, .how = HOW_TEXTS),
	       MEMBER("additionalProperties", 21, MESSAGE(schema), .within = 1),
	       MEMBER("type", 22, .within = 1), MEMBER("items", 23, MESSAGE(schema), .within = 1),
	       MEMBER("properties", 25, MAP(schema), .within = 1))
};

static const struct message body_parameter_message = { FIELDS(
	TEXT("description", 1), TEXT("name", 2), TEXT("in", 3),
	MEMBER("required", 4, .how = HOW_BOOL), MEMBER("schema", 5, MESSAGE(schema))) };

static const struct message query_parameter_message = { FIELDS(
	MEMBER("required", 1, .how = HOW_BOOL), TEXT("in", 2), TEXT("description", 3),
	TEXT("name", 4), TEXT("type", 6)) };

static const struct message path_parameter_message = { FIELDS(
	MEMBER("required", 1, .how = HOW_BOOL), TEXT("in", 2), TEXT("description", 3),
	TEXT("name", 4), TEXT("type", 5)) };

static const struct message response_message = { FIELDS(
	TEXT("description", 1), MEMBER("schema", 2, MESSAGE(schema), .within = 1)) };

static const struct message operation_message = {
	.extensions = 13,
	FIELDS(TEXT("operationId", 5), MEMBER("produces", 6, .how = HOW_TEXTS),
	       MEMBER("consumes", 7, .how = HOW_TEXTS),
	       MEMBER("parameters", 8, .how = HOW_PARAMETERS),
	       MEMBER("responses", 9, MAP(response), .within = 1, .value_within = 1))
};

static const struct message path_message = { FIELDS(
	MEMBER("get", 2, MESSAGE(operation)), MEMBER("put", 3, MESSAGE(operation)),
	MEMBER("post", 4, MESSAGE(operation)), MEMBER("delete", 5, MESSAGE(operation)),
	MEMBER("patch", 8, MESSAGE(operation)), MEMBER("parameters", 9, .how = HOW_PARAMETERS)) };

static const struct message document_message = { FIELDS(
	TEXT("swagger", 1), MEMBER("info", 2, MESSAGE(info)),
	MEMBER("paths", 8, MAP(path), .within = 2),
	MEMBER("definitions", 9, MAP(schema), .within = 1)) };

/* ---- the walk ---- */

static void put_members(struct packer *packer, const struct cJSON *tree,
			const struct message *message);

static void put_message(struct packer *packer, unsigned int field, const struct cJSON *tree,
			const struct message *message)
{
	size_t start = begin(packer, field);

	put_members(packer, tree, message);
	end(packer, start);
}

/* A parameter is one of several messages, at the end of three choices. */
static void put_parameter(struct packer *packer, unsigned int field, const struct cJSON *tree)
{
	enum { PARAMETER = 1, BODY = 1, NON_BODY = 2, QUERY = 3, PATH = 4 };
	const char *in = json_text(tree, "in");
	size_t item = begin(packer, field), parameter = begin(packer, PARAMETER), non_body;

	if (strcmp(in, "body") == 0) {
		put_message(packer, BODY, tree, &body_parameter_message);
	} else {
		non_body = begin(packer, NON_BODY);
		if (strcmp(in, "path") == 0)
			put_message(packer, PATH, tree, &path_parameter_message);
		else
			put_message(packer, QUERY, tree, &query_parameter_message);
		end(packer, non_body);
	}
	end(packer, parameter);
	end(packer, item);
}

static void put_map(struct packer *packer, const struct cJSON *map,
		    const struct message_field *field, unsigned int number)
{
	enum { NAME = 1, VALUE = 2 };

	JSON_FOREACH (member, map) {
		size_t entry = begin(packer, number), value;

		put_text(packer, NAME, json_key(member));
		if (field->value_within) {
			value = begin(packer, VALUE);
			put_message(packer, field->value_within, member, field->of);
			end(packer, value);
		} else {
			put_message(packer, VALUE, member, field->of);
		}
		end(packer, entry);
	}
}

static void put_list(struct packer *packer, const struct cJSON *list,
		     const struct message_field *field, unsigned int number)
{
	JSON_FOREACH (item, list) {
		if (field->how == HOW_TEXTS)
			put_text(packer, number, json_string(item, ""));
		else
			put_parameter(packer, number, item);
	}
}

static void put_value(struct packer *packer, const struct cJSON *value,
		      const struct message_field *field, unsigned int number)
{
	switch (field->how) {
	case HOW_TEXT:
		put_text(packer, number, json_string(value, ""));
		return;
	case HOW_BOOL:
		put_bool(packer, number, json_bool(value, false));
		return;
	case HOW_MESSAGE:
		put_message(packer, number, value, field->of);
		return;
	case HOW_MAP:
		put_map(packer, value, field, number);
		return;
	case HOW_TEXTS:
	case HOW_PARAMETERS:
		put_list(packer, value, field, number);
		return;
	}
	assert(!"every how is handled");
}

/* What begins with x- is kept as text: any JSON is YAML. */
static void put_extension(struct packer *packer, unsigned int number, const struct cJSON *member)
{
	enum { NAME = 1, VALUE = 2, YAML = 2 };
	cleanup_free char *text = json_print(member);
	size_t entry, value;

	if (!text) {
		packer->failed = true;
		return;
	}
	entry = begin(packer, number);
	put_text(packer, NAME, json_key(member));
	value = begin(packer, VALUE);
	put_text(packer, YAML, text);
	end(packer, value);
	end(packer, entry);
}

static const struct message_field *find_field(const struct message *message, const char *key)
{
	for (const struct message_field *field = message->fields; field->key; field++)
		if (strcmp(field->key, key) == 0)
			return field;
	return NULL;
}

static void put_members(struct packer *packer, const struct cJSON *tree,
			const struct message *message)
{
	JSON_FOREACH (member, tree) {
		const struct message_field *field = find_field(message, json_key(member));
		size_t start;

		if (field && field->within) {
			start = begin(packer, field->number);
			put_value(packer, member, field, field->within);
			end(packer, start);
		} else if (field) {
			put_value(packer, member, field, field->number);
		} else if (message->extensions && strncmp(json_key(member), "x-", 2) == 0) {
			put_extension(packer, message->extensions, member);
		}
	}
}

int openapi_pack(const struct cJSON *document, char **ret, size_t *ret_length)
{
	struct packer packer = { 0 };

	assert(document && ret && ret_length);
	put_members(&packer, document, &document_message);
	if (packer.failed || !packer.bytes) {
		free(packer.bytes);
		return -ENOMEM;
	}
	*ret = (char *) packer.bytes;
	*ret_length = packer.used;
	return 0;
}
