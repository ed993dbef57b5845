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

/* OPERATOR_LT + 1: none of them, which validation refuses. */
static enum selector_operator operator_decode(const struct cJSON *requirement)
{
	const char *name = json_text(requirement, "operator");
	int op = OPERATOR_IN;

	while (operator_names[op] && strcmp(operator_names[op], name) != 0)
		op++;
	return (enum selector_operator) op;
}

/* ---- validation ---- */

/* How many values each operator takes; an unknown one takes any number. */
static bool check_values(const struct field *values, enum selector_operator op)
{
	size_t count = json_count(values->item);

	switch (op) {
	case OPERATOR_IN:
	case OPERATOR_NOT_IN:
		return count > 0 ||
		       field_required(values,
				      "must be specified when `operator` is 'In' or 'NotIn'");
	case OPERATOR_EXISTS:
	case OPERATOR_DOES_NOT_EXIST:
		return count == 0 || field_forbidden(values, "may not be specified when `operator` "
							     "is 'Exists' or 'DoesNotExist'");
	case OPERATOR_GT:
	case OPERATOR_LT:
		return count == 1 || field_required(values, "must be specified single value when "
							    "`operator` is 'Lt' or 'Gt'");
	}
	return true;
}

static bool check_requirements(const struct field *list, const char *const *operators)
{
	FIELD_FOREACH (at, list) {
		const struct field *op = FIELD(&at, "operator");

		if (*json_text(at.item, "key") == '\0')
			return field_required(FIELD(&at, "key"), "");
		if (!field_check_one_of(op, operators, false) ||
		    !check_values(FIELD(&at, "values"), operator_decode(at.item)))
			return false;
	}
	return true;
}

bool label_selector_validate(const struct field *selector)
{
	return check_requirements(FIELD(selector, "matchExpressions"), label_operators);
}

static bool check_term(const struct field *term)
{
	return check_requirements(FIELD(term, "matchExpressions"), operator_names) &&
	       check_requirements(FIELD(term, "matchFields"), operator_names);
}

bool node_selector_validate(const struct field *selector)
{
	const struct field *terms = FIELD(selector, "nodeSelectorTerms");

	if (json_count(terms->item) == 0)
		return field_required(terms, "must have at least one node selector term");
	return field_check_each(terms, check_term);
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
