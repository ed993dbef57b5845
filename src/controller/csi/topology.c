/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology - where storage may be; see topology.h
 */
#include "controller/csi/topology.h"

#include "object/json/json.h"

#include <string.h>

const char *topology_label(const struct labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->labels[i].key, key) == 0)
			return labels->labels[i].value;
	return NULL;
}

static bool term_matches(const struct cJSON *term, const struct labels *node)
{
	const struct cJSON *expressions = json_get(term, "matchLabelExpressions");

	JSON_FOREACH (i, expressions) {
		const char *key = json_text(i, "key");

		if (!json_has_string(json_get(i, "values"), topology_label(node, key)))
			return false;
	}
	return true;
}

/* No memory: the careful answer, no. */
bool topology_allows(const struct storage_class *storage_class, const struct labels *node)
{
	cleanup_json struct cJSON *tree = NULL;
	const struct cJSON *terms;

	if (!strstr(storage_class->object->json, "\"allowedTopologies\""))
		return true;
	tree = object_tree(storage_class->object);
	terms = json_get(tree, "allowedTopologies");
	if (tree && json_count(terms) == 0)
		return true;
	JSON_FOREACH (term, terms)
		if (term_matches(term, node))
			return true;
	return false;
}

static bool expression_matches(const struct cJSON *expression, const struct labels *labels)
{
	const char *operator= json_text(expression, "operator");
	const char *value = topology_label(labels, json_text(expression, "key"));
	bool listed = json_has_string(json_get(expression, "values"), value);

	if (strcmp(operator, "In") == 0)
		return listed;
	if (strcmp(operator, "NotIn") == 0)
		return !listed;
	if (strcmp(operator, "Exists") == 0)
		return value != NULL;
	return strcmp(operator, "DoesNotExist") == 0 && !value;
}

bool topology_selects(const struct cJSON *selector, const struct labels *labels)
{
	const struct cJSON *expressions = json_get(selector, "matchExpressions");

	if (!json_is_object(selector))
		return false;
	JSON_FOREACH (i, json_get(selector, "matchLabels")) {
		const char *value = topology_label(labels, json_key(i));

		if (!value || strcmp(value, json_string(i, "")) != 0)
			return false;
	}
	JSON_FOREACH (i, expressions)
		if (!expression_matches(i, labels))
			return false;
	return true;
}
