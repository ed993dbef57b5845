/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf - Kubernetes' protocol buffers as trees, by tables; see protobuf.h
 *
 * "k8s" and NUL, then a runtime.Unknown that says what it holds and holds it.
 */
#include "api/objects/protobuf.h"

#include "base/cleanup.h"
#include "object/json/base64.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const char magic[4] = { 'k', '8', 's', '\0' };

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5, VARINT_BITS = 64 };

struct span {
	const unsigned char *at, *end;
};

struct wire_field {
	uint64_t number, value; /* of a varint */
	int type;
	struct span bytes;
};

/* Return: 0 or -EINVAL. */
static int read_varint(struct span *span, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; shift < VARINT_BITS && span->at < span->end; shift += 7) {
		unsigned char byte = *span->at++;

		*ret |= (uint64_t) (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 0;
	}
	return -EINVAL;
}

static int take(struct span *span, uint64_t length, struct span *ret)
{
	if (length > (uint64_t) (span->end - span->at))
		return -EINVAL;
	*ret = (struct span){ span->at, span->at + length };
	span->at += length;
	return 0;
}

/* Return: 1 a field; 0 the end; -EINVAL. */
static int next_field(struct span *span, struct wire_field *ret)
{
	uint64_t key, length = 0;
	int r;

	if (span->at == span->end)
		return 0;
	if (read_varint(span, &key) < 0)
		return -EINVAL;
	*ret = (struct wire_field){ .number = key >> 3, .type = (int) (key & 7) };
	switch (ret->type) {
	case WIRE_VARINT:
		r = read_varint(span, &ret->value);
		return r < 0 ? r : 1;
	case WIRE_BYTES:
		if (read_varint(span, &length) < 0)
			return -EINVAL;
		break;
	case WIRE_64:
	case WIRE_32:
		length = ret->type == WIRE_64 ? 8 : 4;
		break;
	default:
		return -EINVAL;
	}
	r = take(span, length, &ret->bytes);
	return r < 0 ? r : 1;
}

/* ---- messages ---- */

static int add_string(struct cJSON *parent, const char *key, struct span bytes)
{
	size_t length = (size_t) (bytes.end - bytes.at);
	cleanup_free char *text = strndup((const char *) bytes.at, length);

	if (!text)
		return -ENOMEM;
	if (strlen(text) != length)
		return -EINVAL;
	return json_append_string(parent, key, text);
}

static int add_base64(struct cJSON *parent, const char *key, struct span bytes)
{
	cleanup_free char *text =
		base64_encode((const char *) bytes.at, (size_t) (bytes.end - bytes.at));
	int r = text ? json_append_string(parent, key, text) : -ENOMEM;

	if (text)
		explicit_bzero(text, strlen(text));
	return r;
}

/* An entry of a map: a message of key and value. */
static int add_entry(struct cJSON *map, const struct protobuf_member *member, struct span entry)
{
	struct span empty = { entry.end, entry.end }, key = empty, value = empty;
	cleanup_free char *name = NULL;
	struct wire_field field;
	int r;

	if (!map)
		return -ENOMEM;
	while ((r = next_field(&entry, &field)) > 0) {
		if (field.type != WIRE_BYTES)
			return -EINVAL;
		if (field.number == 1)
			key = field.bytes;
		else if (field.number == 2)
			value = field.bytes;
	}
	if (r < 0)
		return r;
	name = strndup((const char *) key.at, (size_t) (key.end - key.at));
	if (!name)
		return -ENOMEM;
	if (strlen(name) != (size_t) (key.end - key.at))
		return -EINVAL;
	return member->type == PROTOBUF_MAP ? add_string(map, name, value)
					    : add_base64(map, name, value);
}

/* The list or map of that name, made with its first element. */
static struct cJSON *container(struct cJSON *tree, const struct protobuf_member *member)
{
	struct cJSON *present = (struct cJSON *) json_get(tree, member->key);

	if (present)
		return present;
	return member->type == PROTOBUF_STRINGS || member->type == PROTOBUF_MESSAGES
		       ? json_add_array(tree, member->key)
		       : json_add_object(tree, member->key);
}

static int read_message(struct span span, const struct protobuf_member *members,
			struct cJSON *tree);

static int add_bytes(struct cJSON *tree, const struct protobuf_member *member, struct span bytes)
{
	switch (member->type) {
	case PROTOBUF_STRING:
		json_remove(tree, member->key); /* the last one counts */
		if (bytes.at == bytes.end)
			return 0; /* as in JSON, where an empty one is left out */
		return add_string(tree, member->key, bytes);
	case PROTOBUF_STRINGS:
		return add_string(container(tree, member), NULL, bytes);
	case PROTOBUF_MESSAGE:
		return read_message(bytes, member->of, container(tree, member));
	case PROTOBUF_MESSAGES:
		return read_message(bytes, member->of,
				    json_add_object(container(tree, member), NULL));
	case PROTOBUF_MAP:
	case PROTOBUF_MAP_OF_BYTES:
		return add_entry(container(tree, member), member, bytes);
	default:
		return -EINVAL;
	}
}

static int add_member(struct cJSON *tree, const struct protobuf_member *member,
		      const struct wire_field *field)
{
	bool is_number = member->type == PROTOBUF_INTEGER || member->type == PROTOBUF_BOOL;

	if (member->type == PROTOBUF_IGNORED)
		return 0;
	if (field->type != (is_number ? WIRE_VARINT : WIRE_BYTES))
		return -EINVAL;
	if (member->type == PROTOBUF_INTEGER)
		return json_set_int(tree, member->key, (int64_t) field->value);
	if (member->type == PROTOBUF_BOOL)
		return json_set_bool(tree, member->key, field->value != 0);
	return add_bytes(tree, member, field->bytes);
}

/* As deep as the members go, which is bounded. */
static int read_message(struct span span, const struct protobuf_member *members, struct cJSON *tree)
{
	struct wire_field field;
	int r;

	if (!tree)
		return -ENOMEM;
	while ((r = next_field(&span, &field)) > 0) {
		const struct protobuf_member *member = members;

		while (member->type != PROTOBUF_END && member->type != PROTOBUF_END_OF_ALL &&
		       member->number != field.number)
			member++;
		if (member->type == PROTOBUF_END_OF_ALL)
			return -EOPNOTSUPP;
		r = member->type == PROTOBUF_END ? 0 : add_member(tree, member, &field);
		if (r < 0)
			return r;
	}
	return r;
}

static const struct protobuf_member type_members[] = {
	{ 1, PROTOBUF_STRING, "apiVersion", NULL },
	{ 2, PROTOBUF_STRING, "kind", NULL },
	{ 0, PROTOBUF_END, NULL, NULL },
};

/* What the envelope says is of no matter but its type and what it holds. */
static int read_envelope(struct span span, struct cJSON *tree, struct span *ret_raw)
{
	struct wire_field field;
	int r;

	while ((r = next_field(&span, &field)) > 0) {
		if (field.type != WIRE_BYTES)
			return -EINVAL;
		if (field.number == 1)
			r = read_message(field.bytes, type_members, tree);
		else if (field.number == 2)
			*ret_raw = field.bytes;
		if (r < 0)
			return r;
	}
	return r;
}

int protobuf_parse(const void *bytes, size_t length, protobuf_chooser *choose, void *userdata,
		   struct cJSON **ret)
{
	cleanup_json_secret struct cJSON *tree = json_new_object();
	struct span span = { bytes, (const unsigned char *) bytes + length }, raw = { NULL, NULL };
	const struct protobuf_member *members = NULL;
	int r;

	assert(bytes && choose && ret);
	if (length < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EINVAL;
	span.at += sizeof(magic);
	r = tree ? read_envelope(span, tree, &raw) : -ENOMEM;
	if (r == 0)
		members = choose(userdata, json_text(tree, "kind"));
	if (r == 0)
		r = members ? read_message(raw, members, tree) : -EINVAL;
	if (r == 0)
		*ret = TAKE_PTR(tree);
	return r;
}
