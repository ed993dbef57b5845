/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_text - see object_text.h
 */
#include "tests/unit/object/object_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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
		print_message("refused: %s\n", list.documents[0].failure->text);
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
	assert_string_equal(list.documents[0].failure->text, text);
	document_list_done(&list);
}

struct cJSON *tree_of_json(const char *json)
{
	static const struct json_limits limits = { .bytes = 8 << 20, .depth = OBJECT_DEPTH_MAX };
	struct failure failure = { 0 };
	struct cJSON *tree = NULL;

	if (json_parse(json, strlen(json), &limits, &tree, &failure) < 0)
		fail_msg("%s: %.200s", failure.text, json);
	return tree;
}

const char *text_of_file(const char *path)
{
	const char *top = getenv("top_srcdir");
	static char text[65536];
	char whole[4096];
	FILE *file;

	(void) snprintf(whole, sizeof(whole), "%s/%s", top ? top : ".", path);
	file = fopen(whole, "re");
	if (!file)
		fail_msg("%s: %s", whole, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	assert_true(feof(file));
	assert_int_equal(fclose(file), 0);
	return text;
}

struct cJSON *tree_of_file(const char *path)
{
	return tree_of_json(text_of_file(path));
}

struct cJSON *tree_of(const struct object *object)
{
	return tree_of_json(object->json);
}
