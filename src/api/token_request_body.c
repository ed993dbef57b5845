/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_request_body - see token_request_body.h
 *
 * "k8s" and NUL, then a runtime.Unknown that says what it holds and holds it.
 */
#include "api/token_request_body.h"

#include "base/cleanup.h"

#include <assert.h>
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

/* One row of a message; strings repeat where @repeats. */
struct member {
	uint64_t number;
	const char *key;
	int type;
	const struct member *of; /* a message below; NULL: a string or a number */
	bool repeats;
};

static int add_string(struct cJSON *tree, const struct member *member, struct span bytes)
{
	size_t length = (size_t) (bytes.end - bytes.at);
	cleanup_free char *text = strndup((const char *) bytes.at, length);
	struct cJSON *list;

	if (!text)
		return -ENOMEM;
	if (strlen(text) != length)
		return -EINVAL;
	if (!member->repeats)
		return json_set_string(tree, member->key, text);
	list = (struct cJSON *) json_get(tree, member->key);
	return json_set_string(list ? list : json_add_array(tree, member->key), NULL, text);
}

static int read_message(struct span span, const struct member *members, struct cJSON *tree);

static int add_member(struct cJSON *tree, const struct member *member,
		      const struct wire_field *field)
{
	if (field->type != member->type)
		return -EINVAL;
	if (member->of)
		return read_message(field->bytes, member->of,
				    json_ensure_object(tree, member->key));
	return field->type == WIRE_VARINT ? json_set_int(tree, member->key, (int64_t) field->value)
					  : add_string(tree, member, field->bytes);
}

/* As deep as the members go, which is bounded. */
static int read_message(struct span span, const struct member *members, struct cJSON *tree)
{
	struct wire_field field;
	int r;

	if (!tree)
		return -ENOMEM;
	while ((r = next_field(&span, &field)) > 0) {
		const struct member *member = members;

		while (member->key && member->number != field.number)
			member++;
		r = member->key ? add_member(tree, member, &field) : 0;
		if (r < 0)
			return r;
	}
	return r;
}

static const struct member reference_members[] = {
	{ 1, "kind", WIRE_BYTES, NULL, false },
	{ 2, "apiVersion", WIRE_BYTES, NULL, false },
	{ 3, "name", WIRE_BYTES, NULL, false },
	{ 4, "uid", WIRE_BYTES, NULL, false },
	{ 0 },
};
static const struct member spec_members[] = {
	{ 1, "audiences", WIRE_BYTES, NULL, true },
	{ 3, "boundObjectRef", WIRE_BYTES, reference_members, false },
	{ 4, "expirationSeconds", WIRE_VARINT, NULL, false },
	{ 0 },
};
static const struct member request_members[] = {
	{ 2, "spec", WIRE_BYTES, spec_members, false },
	{ 0 },
};
static const struct member attribute_members[] = {
	{ 1, "namespace", WIRE_BYTES, NULL, false }, { 2, "verb", WIRE_BYTES, NULL, false },
	{ 3, "group", WIRE_BYTES, NULL, false },     { 4, "version", WIRE_BYTES, NULL, false },
	{ 5, "resource", WIRE_BYTES, NULL, false },  { 6, "subresource", WIRE_BYTES, NULL, false },
	{ 7, "name", WIRE_BYTES, NULL, false },      { 0 },
};
static const struct member path_members[] = {
	{ 1, "path", WIRE_BYTES, NULL, false },
	{ 2, "verb", WIRE_BYTES, NULL, false },
	{ 0 },
};
static const struct member review_spec_members[] = {
	{ 1, "resourceAttributes", WIRE_BYTES, attribute_members, false },
	{ 2, "nonResourceAttributes", WIRE_BYTES, path_members, false },
	{ 0 },
};
static const struct member review_members[] = {
	{ 2, "spec", WIRE_BYTES, review_spec_members, false },
	{ 0 },
};
/* Of which nothing but its type is read. */
static const struct member no_members[] = { { 0 } };
static const struct member type_members[] = {
	{ 1, "apiVersion", WIRE_BYTES, NULL, false },
	{ 2, "kind", WIRE_BYTES, NULL, false },
	{ 0 },
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

static int parse(const void *bytes, size_t length, const struct member *members, struct cJSON **ret)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct span span = { bytes, (const unsigned char *) bytes + length }, raw = { NULL, NULL };
	int r;

	assert(bytes && ret);
	if (length < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EINVAL;
	span.at += sizeof(magic);
	r = tree ? read_envelope(span, tree, &raw) : -ENOMEM;
	if (r == 0 && !members)
		members = strcmp(json_string(json_get(tree, "kind"), ""),
				 "SelfSubjectAccessReview") == 0
				  ? review_members
				  : no_members;
	if (r == 0)
		r = read_message(raw, members, tree);
	if (r == 0)
		*ret = TAKE_PTR(tree);
	return r;
}

int token_request_parse(const void *bytes, size_t length, struct cJSON **ret)
{
	return parse(bytes, length, request_members, ret);
}

int self_review_parse(const void *bytes, size_t length, struct cJSON **ret)
{
	return parse(bytes, length, NULL, ret);
}
