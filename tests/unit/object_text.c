/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_text - see object_text.h
 */
#include "tests/unit/object_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

const struct object *object_of(const char *yaml)
{
	struct document_list list;
	struct failure failure = { 0 };
	const struct object *object;

	assert_int_equal(documents_parse(yaml, strlen(yaml), &list, &failure), 0);
	assert_int_equal(list.count, 1);
	if (!list.documents[0].object)
		print_message("refused: %s\n", list.documents[0].failure.text);
	object = object_ref(list.documents[0].object);
	assert_non_null(object);
	document_list_done(&list);
	return object;
}

void assert_refused(const char *yaml, const char *text)
{
	struct document_list list;

	assert_int_equal(documents_parse(yaml, strlen(yaml), &list, NULL), 0);
	assert_int_equal(list.count, 1);
	assert_null(list.documents[0].object);
	assert_string_equal(list.documents[0].failure.text, text);
	document_list_done(&list);
}

struct cJSON *tree_of_json(const char *json)
{
	static const struct json_limits limits = { .bytes = 1 << 20, .depth = 64 };
	struct failure failure = { 0 };
	struct cJSON *tree = NULL;

	if (json_parse(json, strlen(json), &limits, &tree, &failure) < 0)
		print_message("bad JSON in the test: %s\n", failure.text);
	assert_non_null(tree);
	return tree;
}

struct cJSON *tree_of(const struct object *object)
{
	return tree_of_json(object->json);
}
