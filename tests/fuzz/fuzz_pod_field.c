/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_pod_field - fields of pods as the downward API names them, in variables and in files
 *
 * The input is a field's path on a line of its own, a resourceFieldRef as JSON on another, and a
 * pod as JSON. What a variable may have a file may have, with the same value; a refusal has a text.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kinds/pod_field.h"

#include <string.h>

static const struct json_limits limits = { .bytes = 65536, .depth = 32 };

static void check(int r, const char *value, const struct failure *why)
{
	HOLDS(r == 0 || r == -EINVAL);
	HOLDS((r == 0) == (value != NULL));
	HOLDS(r == 0 || why->text[0] != '\0');
}

static void check_field(const struct cJSON *pod, const char *path)
{
	cleanup_free char *variable = NULL, *file = NULL;
	struct failure why = { 0 };
	int r = pod_field_value(pod, path, &variable, &why);
	int of_file;

	check(r, variable, &why);
	why.text[0] = '\0';
	of_file = pod_file_field_value(pod, path, &file, &why);
	check(of_file, file, &why);
	if (r == 0 && of_file == 0)
		HOLDS(strcmp(variable, file) == 0);
}

static void check_resource(const struct cJSON *pod, const struct cJSON *reference)
{
	const struct node_resources nodes[] = { { 0 }, { 2000, 1 << 30, 1 << 30 } };

	for (int i = 0; i < 3; i++) {
		cleanup_free char *value = NULL;
		struct failure why = { 0 };
		int r = pod_resource_value(pod, NULL, reference, i < 2 ? &nodes[i] : NULL, &value,
					   &why);

		check(r, value, &why);
		HOLDS(r < 0 || strspn(value, "-0123456789") == strlen(value));
	}
}

/* A line of its own, NUL-terminated; moves on behind it. NULL: there is none. */
static char *take_line(const char **at, size_t *left)
{
	const char *end = *left > 0 ? memchr(*at, '\n', *left) : NULL;
	size_t length = end ? (size_t) (end - *at) : 0;
	char *line = end ? strndup(*at, length) : NULL;

	if (!line)
		return NULL;
	*at += length + 1;
	*left -= length + 1;
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *) data;
	cleanup_free char *path = take_line(&at, &size);
	cleanup_free char *resource = path ? take_line(&at, &size) : NULL;
	cleanup_json struct cJSON *pod = NULL, *reference = NULL;

	if (!resource || json_parse(at, size, &limits, &pod, NULL) < 0)
		return 0;
	check_field(pod, path);
	if (json_parse(resource, strlen(resource), &limits, &reference, NULL) == 0)
		check_resource(pod, reference);
	return 0;
}
