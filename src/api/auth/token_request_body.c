/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_request_body - see service_tokens.h
 *
 * What the server answers with is not read: metadata, status.
 */
#include "api/auth/service_tokens.h"

#include "api/objects/protobuf.h"

#include <string.h>

static const struct protobuf_member reference_members[] = {
	{ 1, PROTOBUF_STRING, "kind", NULL }, { 2, PROTOBUF_STRING, "apiVersion", NULL },
	{ 3, PROTOBUF_STRING, "name", NULL }, { 4, PROTOBUF_STRING, "uid", NULL },
	{ 0, PROTOBUF_END, NULL, NULL },
};
static const struct protobuf_member spec_members[] = {
	{ 1, PROTOBUF_STRINGS, "audiences", NULL },
	{ 3, PROTOBUF_MESSAGE, "boundObjectRef", reference_members },
	{ 4, PROTOBUF_INTEGER, "expirationSeconds", NULL },
	{ 0, PROTOBUF_END, NULL, NULL },
};
static const struct protobuf_member request_members[] = {
	{ 2, PROTOBUF_MESSAGE, "spec", spec_members },
	{ 0, PROTOBUF_END, NULL, NULL },
};
static const struct protobuf_member attribute_members[] = {
	{ 1, PROTOBUF_STRING, "namespace", NULL }, { 2, PROTOBUF_STRING, "verb", NULL },
	{ 3, PROTOBUF_STRING, "group", NULL },     { 4, PROTOBUF_STRING, "version", NULL },
	{ 5, PROTOBUF_STRING, "resource", NULL },  { 6, PROTOBUF_STRING, "subresource", NULL },
	{ 7, PROTOBUF_STRING, "name", NULL },      { 0, PROTOBUF_END, NULL, NULL },
};
static const struct protobuf_member path_members[] = {
	{ 1, PROTOBUF_STRING, "path", NULL },
	{ 2, PROTOBUF_STRING, "verb", NULL },
	{ 0, PROTOBUF_END, NULL, NULL },
};
static const struct protobuf_member review_spec_members[] = {
	{ 1, PROTOBUF_MESSAGE, "resourceAttributes", attribute_members },
	{ 2, PROTOBUF_MESSAGE, "nonResourceAttributes", path_members },
	{ 0, PROTOBUF_END, NULL, NULL },
};
static const struct protobuf_member review_members[] = {
	{ 2, PROTOBUF_MESSAGE, "spec", review_spec_members },
	{ 0, PROTOBUF_END, NULL, NULL },
};
/* Of which nothing but its type is read. */
static const struct protobuf_member no_members[] = { { 0, PROTOBUF_END, NULL, NULL } };
static const struct protobuf_member *choose_token_request(void *userdata, const char *kind)
{
	return request_members;
}

static const struct protobuf_member *choose_review(void *userdata, const char *kind)
{
	return strcmp(kind, "SelfSubjectAccessReview") == 0 ? review_members : no_members;
}

int token_request_parse(const void *bytes, size_t length, struct cJSON **ret)
{
	return protobuf_parse(bytes, length, choose_token_request, NULL, ret);
}

int self_review_parse(const void *bytes, size_t length, struct cJSON **ret)
{
	return protobuf_parse(bytes, length, choose_review, NULL, ret);
}
