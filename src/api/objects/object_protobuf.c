/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_protobuf - the tables of the kinds; see protobuf.h
 *
 * Numbers of fields are those of k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1.
 */
#include "api/objects/protobuf.h"

#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct protobuf_member owner_members[] = {
	{ 1, PROTOBUF_STRING, "kind", NULL },     { 3, PROTOBUF_STRING, "name", NULL },
	{ 4, PROTOBUF_STRING, "uid", NULL },      { 5, PROTOBUF_STRING, "apiVersion", NULL },
	{ 6, PROTOBUF_BOOL, "controller", NULL }, { 7, PROTOBUF_BOOL, "blockOwnerDeletion", NULL },
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member meta_members[] = {
	{ 1, PROTOBUF_STRING, "name", NULL },
	{ 2, PROTOBUF_STRING, "generateName", NULL },
	{ 3, PROTOBUF_STRING, "namespace", NULL },
	{ 4, PROTOBUF_IGNORED, NULL, NULL }, /* selfLink */
	{ 5, PROTOBUF_STRING, "uid", NULL },
	{ 6, PROTOBUF_STRING, "resourceVersion", NULL },
	{ 7, PROTOBUF_IGNORED, NULL, NULL },  /* generation */
	{ 8, PROTOBUF_IGNORED, NULL, NULL },  /* creationTimestamp */
	{ 9, PROTOBUF_IGNORED, NULL, NULL },  /* deletionTimestamp */
	{ 10, PROTOBUF_IGNORED, NULL, NULL }, /* deletionGracePeriodSeconds */
	{ 11, PROTOBUF_MAP, "labels", NULL },
	{ 12, PROTOBUF_MAP, "annotations", NULL },
	{ 13, PROTOBUF_MESSAGES, "ownerReferences", owner_members },
	{ 14, PROTOBUF_STRINGS, "finalizers", NULL },
	{ 17, PROTOBUF_IGNORED, NULL, NULL }, /* managedFields */
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member config_map_members[] = {
	{ 1, PROTOBUF_MESSAGE, "metadata", meta_members },
	{ 2, PROTOBUF_MAP, "data", NULL },
	{ 3, PROTOBUF_MAP_OF_BYTES, "binaryData", NULL },
	{ 4, PROTOBUF_BOOL, "immutable", NULL },
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member secret_members[] = {
	{ 1, PROTOBUF_MESSAGE, "metadata", meta_members },
	{ 2, PROTOBUF_MAP_OF_BYTES, "data", NULL },
	{ 3, PROTOBUF_STRING, "type", NULL },
	{ 4, PROTOBUF_MAP, "stringData", NULL },
	{ 5, PROTOBUF_BOOL, "immutable", NULL },
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member namespace_spec_members[] = {
	{ 1, PROTOBUF_STRINGS, "finalizers", NULL },
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member namespace_members[] = {
	{ 1, PROTOBUF_MESSAGE, "metadata", meta_members },
	{ 2, PROTOBUF_MESSAGE, "spec", namespace_spec_members },
	{ 3, PROTOBUF_IGNORED, NULL, NULL }, /* status */
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member reference_members[] = {
	{ 1, PROTOBUF_STRING, "kind", NULL },       { 2, PROTOBUF_STRING, "namespace", NULL },
	{ 3, PROTOBUF_STRING, "name", NULL },       { 4, PROTOBUF_STRING, "uid", NULL },
	{ 5, PROTOBUF_STRING, "apiVersion", NULL }, { 6, PROTOBUF_STRING, "resourceVersion", NULL },
	{ 7, PROTOBUF_STRING, "fieldPath", NULL },  { 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member local_reference_members[] = {
	{ 1, PROTOBUF_STRING, "name", NULL },
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};
static const struct protobuf_member service_account_members[] = {
	{ 1, PROTOBUF_MESSAGE, "metadata", meta_members },
	{ 2, PROTOBUF_MESSAGES, "secrets", reference_members },
	{ 3, PROTOBUF_MESSAGES, "imagePullSecrets", local_reference_members },
	{ 4, PROTOBUF_BOOL, "automountServiceAccountToken", NULL },
	{ 0, PROTOBUF_END_OF_ALL, NULL, NULL },
};

static const struct {
	enum object_kind kind;
	const struct protobuf_member *members;
} kinds[] = {
	{ KIND_CONFIG_MAP, config_map_members },
	{ KIND_SECRET, secret_members },
	{ KIND_NAMESPACE, namespace_members },
	{ KIND_SERVICE_ACCOUNT, service_account_members },
};

static const struct protobuf_member *members_of(enum object_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].members;
	return NULL;
}

bool object_protobuf_has(enum object_kind kind)
{
	return members_of(kind) != NULL;
}

static const struct protobuf_member *choose(void *userdata, const char *name)
{
	const enum object_kind *kind = userdata;

	return strcmp(name, kind_row(*kind)->name) == 0 ? members_of(*kind) : NULL;
}

int object_protobuf_print(enum object_kind kind, const void *bytes, size_t length, char **ret)
{
	cleanup_json_secret struct cJSON *tree = NULL;
	int r;

	assert(bytes && ret && object_protobuf_has(kind));
	r = protobuf_parse(bytes, length, choose, &kind, &tree);
	if (r < 0)
		return r;
	*ret = json_print(tree);
	return *ret ? 0 : -ENOMEM;
}
