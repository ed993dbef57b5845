/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_text - objects from the text of a manifest, for tests
 */
#pragma once

#include "object/json/json.h"
#include "object/object.h"

/* The one object of @yaml, which must be valid. Give it to object_unref(). */
const struct object *object_of(const char *yaml);

/* @yaml must hold one document that is refused with exactly @text. */
void assert_refused(const char *yaml, const char *text);

/* The tree of an object's bytes. Give it to json_free(). */
struct cJSON *tree_of(const struct object *object);

/* Any tree from JSON text that is right. Give it to json_free(). */
struct cJSON *tree_of_json(const char *json);

/* A file of the source tree, "tests/patch/apply.json"; until the next one is read. */
const char *text_of_file(const char *path);

/* The tree of such a file of JSON. Give it to json_free(). */
struct cJSON *tree_of_file(const char *path);
