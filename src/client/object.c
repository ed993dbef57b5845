/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object - one JSON object, asked for its fields by their paths
 *
 * So that a program that links the library needs no JSON parser of its own. Texts are handed out as
 * long as the object lives; those that had to be made (numbers) are kept with it, each once.
 */
#include "client/handle.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { OBJECT_DEPTH = 64, KEY_BYTES = 512 };

struct made_text {
	struct made_text *next;
	char text[];
};

struct podvol_object {
	struct cJSON *tree;
	struct made_text *made;
};

int podvol_object_parse(const char *text, size_t length, struct podvol_object **ret)
{
	const struct json_limits limits = { .bytes = length + 1, .depth = OBJECT_DEPTH };
	struct podvol_object *object;
	int r;

	if (!text || !ret)
		return -EINVAL;
	object = calloc(1, sizeof(*object));
	if (!object)
		return -ENOMEM;
	r = json_parse(text, length, &limits, &object->tree, NULL);
	if (r < 0 || !json_is_object(object->tree)) {
		podvol_object_free(object);
		return r == -ENOMEM ? r : -EBADMSG;
	}
	*ret = object;
	return 0;
}

int podvol_object_get(struct podvol *podvol, const char *path, struct podvol_object **ret)
{
	const struct podvol_request request = { .method = "GET", .path = path };
	struct podvol_reply reply = { 0 };
	int r;

	if (!podvol || !ret)
		return -EINVAL;
	r = podvol_request(podvol, &request, &reply);
	if (r == 0)
		r = podvol_object_parse(reply.body, reply.length, ret);
	podvol_reply_done(&reply);
	if (r == -EBADMSG && podvol_status(podvol) < 400)
		return handle_failed(podvol, -EPROTO, "the answer is not a JSON object");
	return r;
}

void podvol_object_free(struct podvol_object *object)
{
	struct made_text *made;

	if (!object)
		return;
	while ((made = object->made)) {
		object->made = made->next;
		free(made);
	}
	json_free(object->tree);
	free(object);
}

/* ---- paths ---- */

/* "[12]" or "['a key']" at *@at, which moves behind it. NULL: no such thing there. */
static const struct cJSON *step_into_brackets(const struct cJSON *item, const char **at)
{
	const char *start = *at + 1;
	char key[KEY_BYTES], *end;
	size_t length;

	if (*start != '\'') {
		size_t index = strtoul(start, &end, 10);

		if (end == start || *end != ']' || !json_is_array(item))
			return NULL;
		*at = end + 1;
		return json_at(item, index);
	}
	length = strcspn(start + 1, "'");
	if (length >= sizeof(key) || strncmp(start + 1 + length, "']", 2) != 0)
		return NULL;
	memcpy(key, start + 1, length);
	key[length] = '\0';
	*at = start + length + 3;
	return json_get(item, key);
}

static const struct cJSON *step_into_member(const struct cJSON *item, const char **at)
{
	const char *start = **at == '.' ? *at + 1 : *at;
	size_t length = strcspn(start, ".[");
	char key[KEY_BYTES];

	if (length == 0 || length >= sizeof(key))
		return NULL;
	memcpy(key, start, length);
	key[length] = '\0';
	*at = start + length;
	return json_get(item, key);
}

static const struct cJSON *find(const struct podvol_object *object, const char *field)
{
	const struct cJSON *item = object ? object->tree : NULL;

	while (item && field && *field)
		item = *field == '[' ? step_into_brackets(item, &field)
				     : step_into_member(item, &field);
	return item;
}

static const char *keep(struct podvol_object *object, const char *text)
{
	struct made_text *made;
	size_t bytes = strlen(text) + 1;

	for (made = object->made; made; made = made->next)
		if (strcmp(made->text, text) == 0)
			return made->text;
	made = malloc(sizeof(*made) + bytes);
	if (!made)
		return "";
	memcpy(made->text, text, bytes);
	made->next = object->made;
	object->made = made;
	return made->text;
}

const char *podvol_object_text(struct podvol_object *object, const char *field)
{
	const struct cJSON *item = find(object, field);
	char number[32];
	int64_t value;

	if (json_is_bool(item))
		return json_bool(item, false) ? "true" : "false";
	if (!json_int64(item, &value))
		return json_string(item, "");
	(void) snprintf(number, sizeof(number), "%" PRId64, value);
	return keep(object, number);
}

const char *podvol_object_json(struct podvol_object *object, const char *field)
{
	const struct cJSON *item = find(object, field);
	cleanup_free char *text = item ? json_print(item) : NULL;

	return text ? keep(object, text) : "";
}

size_t podvol_object_count(const struct podvol_object *object, const char *field)
{
	return json_count(find(object, field));
}
