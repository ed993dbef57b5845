/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_environment - sub-path expressions of any origin, with the variables of any pod
 *
 * The input is an expression on a line of its own and a pod as YAML, whose first container has the
 * variables. One without a reference comes out with its dollar signs undone and nothing else; a
 * refusal has a text.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "object/json/json.h"
#include "object/kinds/environment.h"
#include "object/kinds/pod.h"

#include <string.h>

/* One ConfigMap that is always there, whatever its name. */
static const struct object *find(void *userdata, enum object_kind kind, const char *name_space,
				 const char *name)
{
	HOLDS(kind == KIND_CONFIG_MAP || kind == KIND_SECRET);
	HOLDS(name_space && name);
	return kind == KIND_CONFIG_MAP ? userdata : NULL;
}

static const struct object *make_config_map(void)
{
	static const char yaml[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
				   "data: {a: x, b: $(A), A: ../.., empty: ''}\n";
	const struct object *object;
	struct document_list list;

	HOLDS(documents_parse(yaml, strlen(yaml), &list, NULL) == 0);
	HOLDS(list.count == 1 && list.documents[0].object);
	object = object_ref(list.documents[0].object);
	document_list_done(&list);
	return object;
}

static void check_expansion(const char *text, const struct object *pod,
			    const struct object *config_map)
{
	size_t budget = strlen(config_map->json) * 4; /* an input can use it up */
	const struct environment_sources sources = { find, (void *) config_map, &budget };
	struct failure why = { 0 };
	char *expanded = NULL;
	int r;

	if (pod->pod->container_count == 0)
		return;
	r = environment_expand(text, pod, pod->pod->containers[0].name, &sources, &expanded, &why);
	HOLDS(r == 0 || r == -EINVAL || r == -E2BIG);
	if (r < 0) {
		HOLDS(why.text[0] != '\0' && !expanded);
		return;
	}
	if (!strchr(text, '$'))
		HOLDS(strcmp(text, expanded) == 0);
	free(expanded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct object *config_map;
	const char *input = (const char *) data;
	const char *line = size > 0 ? memchr(input, '\n', size) : NULL;
	struct document_list list;
	char *text;

	if (!config_map)
		config_map = make_config_map();
	if (!line)
		return 0;
	text = strndup(input, (size_t) (line - input));
	HOLDS(text);
	HOLDS(documents_parse(line + 1, size - (size_t) (line - input) - 1, &list, NULL) == 0);
	for (size_t i = 0; i < list.count; i++)
		if (list.documents[i].object && list.documents[i].object->kind == KIND_POD)
			check_expansion(text, list.documents[i].object, config_map);
	document_list_done(&list);
	free(text);
	return 0;
}
