/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector - see selector.h
 */
#include "object/select/selector.h"

#include "base/fnv1a.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *label_value(const struct labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->labels[i].key, key) == 0)
			return labels->labels[i].value;
	}
	return NULL;
}

static bool is_listed(const struct selector_requirement *requirement, const char *value)
{
	for (size_t i = 0; i < requirement->value_count; i++) {
		if (strcmp(requirement->values[i], value) == 0)
			return true;
	}
	return false;
}

static bool whole_number(const char *text, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

/* Gt, Lt: both sides are integers, or it does not hold. */
static bool compares(const struct selector_requirement *requirement, const char *value)
{
	int64_t left, right;

	if (!value || requirement->value_count != 1 || !whole_number(value, &left) ||
	    !whole_number(requirement->values[0], &right))
		return false;
	return requirement->op == OPERATOR_GT ? left > right : left < right;
}

static bool requirement_holds(const struct selector_requirement *requirement,
			      const struct labels *labels)
{
	const char *value = label_value(labels, requirement->key);

	switch (requirement->op) {
	case OPERATOR_IN:
		return value && is_listed(requirement, value);
	case OPERATOR_NOT_IN:
		return !value || !is_listed(requirement, value);
	case OPERATOR_EXISTS:
		return value != NULL;
	case OPERATOR_DOES_NOT_EXIST:
		return !value;
	case OPERATOR_GT:
	case OPERATOR_LT:
		return compares(requirement, value);
	}
	assert(!"a requirement has an unknown operator");
	return false;
}

static uint64_t label_bits(const char *key, const char *value)
{
	uint64_t sum = fnv1a_add(fnv1a_add_text(FNV1A_FIRST, key), '=');

	sum = fnv1a_add_text(sum, value);
	return UINT64_C(1) << (sum & 63) | UINT64_C(1) << (sum >> 32 & 63);
}

uint64_t labels_bits(const struct labels *labels)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < labels->count; i++)
		bits |= label_bits(labels->labels[i].key, labels->labels[i].value);
	return bits;
}

uint64_t label_selector_bits(const struct label_selector *selector)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < selector->count; i++) {
		const struct selector_requirement *one = &selector->requirements[i];
		uint64_t common = one->op == OPERATOR_IN && one->value_count > 0 ? UINT64_MAX : 0;

		/* Of several values those bits that all have. */
		for (size_t j = 0; common != 0 && j < one->value_count; j++)
			common &= label_bits(one->key, one->values[j]);
		bits |= common;
	}
	return bits;
}

bool label_selector_matches(const struct label_selector *selector, const struct labels *labels)
{
	assert(selector && labels);
	for (size_t i = 0; i < selector->count; i++) {
		if (!requirement_holds(&selector->requirements[i], labels))
			return false;
	}
	return true;
}

bool node_selector_matches(const struct node_selector *selector, const struct labels *node_labels)
{
	assert(selector && node_labels);
	for (size_t i = 0; i < selector->count; i++) {
		const struct node_selector_term *term = &selector->terms[i];

		if (term->expressions.count == 0 && !term->has_fields)
			continue; /* an empty term matches nothing */
		if (label_selector_matches(&term->expressions, node_labels))
			return true;
	}
	return false;
}
