/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_documents - manifests of any origin
 *
 * Whatever comes in: every document is an object or a failure with a text, an object's bytes read
 * back as the same bytes, and the same object printed as YAML is the same object again.
 */
#include "fuzz.h"

#include "object/json/json.h"
#include "object/object.h"

#include <stdlib.h>
#include <string.h>

static const struct json_limits limits = { .bytes = OBJECT_BYTES_MAX, .depth = OBJECT_DEPTH_MAX };

static void check_bytes(const struct object *object)
{
	const struct object *again = NULL;

	HOLDS(strlen(object->json) == object->json_length);
	HOLDS(object_parse_json(object->json, object->json_length, &again, NULL) == 0);
	HOLDS(strcmp(again->json, object->json) == 0);
	(void) object_unref(again);
}

static void check_yaml(const struct object *object)
{
	struct cJSON *tree = NULL;
	struct document_list list;
	char *yaml;

	HOLDS(json_parse(object->json, object->json_length, &limits, &tree, NULL) == 0);
	yaml = json_print_yaml(tree);
	HOLDS(yaml != NULL);
	HOLDS(documents_parse(yaml, strlen(yaml), &list, NULL) == 0);
	HOLDS(list.count == 1 && list.documents[0].object);
	HOLDS(strcmp(list.documents[0].object->json, object->json) == 0);
	document_list_done(&list);
	free(yaml);
	json_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct document_list list;

	HOLDS(documents_parse((const char *) data, size, &list, NULL) == 0);
	HOLDS((list.failure.error == 0) == (list.failure.text[0] == '\0'));
	HOLDS(list.failure.error == 0 || list.count > 0);
	for (size_t i = 0; i < list.count; i++) {
		const struct document *document = &list.documents[i];

		HOLDS(document->line > 0);
		HOLDS((document->object != NULL) == !document->failure);
		HOLDS(document->object || document->failure->text[0] != '\0');
		if (document->object) {
			check_bytes(document->object);
			check_yaml(document->object);
		}
	}
	document_list_done(&list);
	return 0;
}
