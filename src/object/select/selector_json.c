/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_json - see selector_json.h
 */
#include "object/select/selector_json.h"

#include "base/cleanup.h"

#include <assert.h>
#include <string.h>

static const char *const operator_names[] = {
	[OPERATOR_IN] = "In",
	[OPERATOR_NOT_IN] = "NotIn",
	[OPERATOR_EXISTS] = "Exists",
	[OPERATOR_DOES_NOT_EXIST] = "DoesNotExist",
	[OPERATOR_GT] = "Gt",
	[OPERATOR_LT] = "Lt",
	NULL,
};
static_assert(ARRAY_SIZE(operator_names) == OPERATOR_LT + 2, "name every operator");

/* Label selectors know no Gt and Lt. */
static const char *const label_operators[] = { "DoesNotExist", "Exists", "In", "NotIn", NULL };

static enum selector_operator operator_decode(const struct cJSON *requirement)
{
	const char *name = json_text(requirement, "operator");
	int op = OPERATOR_IN;

	while (operator_names[op] && strcmp(operator_names[op], name) != 0)
		op++;
	assert(operator_names[op]); /* validated */
	return (enum selector_operator) op;
}

/* ---- validation ---- */

/* How many values each operator takes; an unknown one was refused before. */
static int check_values(const struct cJSON *requirement, enum selector_operator op,
			const struct field *field, struct violations *found)
{
	const struct field *values = FIELD(field, "values");
	size_t count = json_count(json_get(requirement, "values"));

	switch (op) {
	case OPERATOR_IN:
	case OPERATOR_NOT_IN:
		if (count == 0)
			return field_required(
				values, "must be specified when `operator` is 'In' or 'NotIn'",
				found);
		return 0;
	case OPERATOR_EXISTS:
	case OPERATOR_DOES_NOT_EXIST:
		if (count > 0)
			return field_forbidden(values,
					       "may not be specified when `operator` is 'Exists' "
					       "or 'DoesNotExist'",
					       found);
		return 0;
	case OPERATOR_GT:
	case OPERATOR_LT:
		if (count != 1)
			return field_required(values,
					      "must be specified single value when `operator` is "
					      "'Lt' or 'Gt'",
					      found);
		return 0;
	}
	return 0;
}

static int check_requirements(const struct cJSON *list, const char *const *operators,
			      const struct field *field, struct violations *found)
{
	size_t index = 0;

	JSON_FOREACH (item, list) {
		const struct field *at = FIELD_AT(field, index++);
		int r;

		if (*json_text(item, "key") == '\0')
			return field_required(FIELD(at, "key"), "", found);
		r = field_check_one_of(FIELD(at, "operator"),
				       json_string(json_get(item, "operator"), NULL), operators,
				       false, found);
		if (r == 0)
			r = check_values(item, operator_decode(item), at, found);
		if (r < 0)
			return r;
	}
	return 0;
}

int label_selector_validate(const struct cJSON *selector, const struct field *field,
			    struct violations *found)
{
	return check_requirements(json_get(selector, "matchExpressions"), label_operators,
				  FIELD(field, "matchExpressions"), found);
}

int node_selector_validate(const struct cJSON *selector, const struct field *field,
			   struct violations *found)
{
	const struct cJSON *terms = json_get(selector, "nodeSelectorTerms");
	const struct field *at = FIELD(field, "nodeSelectorTerms");
	size_t index = 0;
	int r = 0;

	if (json_count(terms) == 0)
		return field_required(at, "must have at least one node selector term", found);
	for (const struct cJSON *term = json_first(terms); term && r == 0; term = json_next(term)) {
		const struct field *place = FIELD_AT(at, index++);

		r = check_requirements(json_get(term, "matchExpressions"), operator_names,
				       FIELD(place, "matchExpressions"), found);
		if (r == 0)
			r = check_requirements(json_get(term, "matchFields"), operator_names,
					       FIELD(place, "matchFields"), found);
	}
	return r;
}

/* ---- decoding ---- */

static const char *const *strings_decode(const struct cJSON *list, struct arena *arena,
					 size_t *ret_count)
{
	const char **strings = arena_array(arena, json_count(list), sizeof(*strings));
	size_t count = 0;

	for (const struct cJSON *item = json_first(list); item && strings; item = json_next(item))
		strings[count++] = arena_string(arena, json_string(item, ""));
	*ret_count = count;
	return strings;
}

/* matchLabels are "In" with a single value: one kind of requirement to evaluate. */
static const char *const *one_string(const char *text, struct arena *arena, size_t *ret_count)
{
	const char **strings = arena_array(arena, 1, sizeof(*strings));

	if (strings)
		strings[0] = arena_string(arena, text);
	*ret_count = strings ? 1 : 0;
	return strings;
}

/* @labels become requirements as well; NULL where there are none. */
static struct label_selector requirements_decode(const struct cJSON *labels,
						 const struct cJSON *expressions,
						 struct arena *arena)
{
	size_t most = json_count(labels) + json_count(expressions), count = 0;
	struct selector_requirement *all = arena_array(arena, most, sizeof(*all));

	if (!all)
		return (struct label_selector){ 0 };
	JSON_FOREACH (item, labels) {
		struct selector_requirement *one = &all[count++];

		one->key = arena_string(arena, json_key(item));
		one->op = OPERATOR_IN;
		one->values = one_string(json_string(item, ""), arena, &one->value_count);
	}
	JSON_FOREACH (item, expressions) {
		struct selector_requirement *one = &all[count++];

		one->key = arena_text(arena, item, "key");
		one->op = operator_decode(item);
		one->values = strings_decode(json_get(item, "values"), arena, &one->value_count);
	}
	return (struct label_selector){ .requirements = all, .count = count };
}

const struct label_selector *label_selector_decode(const struct cJSON *selector,
						   struct arena *arena)
{
	struct label_selector *decoded;

	if (!json_is_object(selector))
		return NULL;
	decoded = arena_array(arena, 1, sizeof(*decoded));
	if (decoded)
		*decoded = requirements_decode(json_get(selector, "matchLabels"),
					       json_get(selector, "matchExpressions"), arena);
	return decoded;
}

const struct node_selector *node_selector_decode(const struct cJSON *selector, struct arena *arena)
{
	const struct cJSON *list = json_get(selector, "nodeSelectorTerms");
	struct node_selector *decoded;
	struct node_selector_term *terms;
	size_t count = 0;

	if (!json_is_object(selector))
		return NULL;
	decoded = arena_array(arena, 1, sizeof(*decoded));
	terms = arena_array(arena, json_count(list), sizeof(*terms));
	if (!decoded)
		return NULL;
	for (const struct cJSON *item = json_first(list); item && terms; item = json_next(item)) {
		terms[count].expressions =
			requirements_decode(NULL, json_get(item, "matchExpressions"), arena);
		terms[count++].has_fields = json_count(json_get(item, "matchFields")) > 0;
	}
	*decoded = (struct node_selector){ .terms = terms, .count = count };
	return decoded;
}

/* In the order of the manifest; look-ups are linear, and the lists short. */
struct labels labels_decode(const struct cJSON *map, struct arena *arena)
{
	struct label *labels = arena_array(arena, json_count(map), sizeof(*labels));
	size_t count = 0;

	for (const struct cJSON *item = json_first(map); item && labels; item = json_next(item)) {
		labels[count].key = arena_string(arena, json_key(item));
		labels[count++].value = arena_string(arena, json_string(item, ""));
	}
	return (struct labels){ .labels = labels, .count = count };
}
