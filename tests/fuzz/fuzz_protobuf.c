/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_protobuf - reviews and objects in protocol buffers, of any origin
 *
 * The first byte of the input says which. What is read can be written as JSON, and an object names
 * the kind that it was read as.
 */
#include "fuzz.h"

#include "api/auth/service_tokens.h"
#include "api/objects/protobuf.h"
#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <string.h>

static void check_review(const uint8_t *bytes, size_t size)
{
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *text = NULL;
	int r = self_review_parse(bytes, size, &tree);

	HOLDS((r == 0) == (tree != NULL) && (r == 0 || r == -EINVAL));
	if (r < 0)
		return;
	text = json_print(tree);
	HOLDS(text && size >= 4 && memcmp(bytes, "k8s", 4) == 0);
}

static void check_object(enum object_kind kind, const uint8_t *bytes, size_t size)
{
	const struct json_limits limits = { .bytes = SIZE_MAX, .depth = 16 };
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *text = NULL;
	int r = object_protobuf_print(kind, bytes, size, &text);

	HOLDS((r == 0) == (text != NULL) && (r == 0 || r == -EINVAL || r == -EOPNOTSUPP));
	/* Keys that come twice are found here. */
	if (r == 0 && json_parse(text, strlen(text), &limits, &tree, NULL) == 0)
		HOLDS(strcmp(json_string(json_get(tree, "kind"), ""), kind_row(kind)->name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum object_kind kinds[] = { KIND_CONFIG_MAP, KIND_SECRET, KIND_NAMESPACE,
						  KIND_SERVICE_ACCOUNT };

	if (size == 0)
		return 0;
	if (*data >= '1' && *data < '1' + (int) ARRAY_SIZE(kinds))
		check_object(kinds[*data - '1'], data + 1, size - 1);
	else
		check_review(data + 1, size - 1);
	return 0;
}
