/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector - label selectors and node selectors, evaluated against labels
 *
 * Node selectors: terms are ORed, the expressions of a term ANDed; no term, or a term without
 * expressions and fields, matches nothing. matchFields are ignored, so that a term of matchFields
 * alone passes everywhere (cases 341 to 345; kubelet supplies labels only).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label {
	const char *key, *value;
};

struct labels {
	const struct label *labels;
	size_t count;
};

enum selector_operator {
	OPERATOR_IN,
	OPERATOR_NOT_IN,
	OPERATOR_EXISTS,
	OPERATOR_DOES_NOT_EXIST,
	OPERATOR_GT,
	OPERATOR_LT,
};

struct selector_requirement {
	const char *key;
	enum selector_operator op;
	const char *const *values;
	size_t value_count;
};

struct label_selector {
	const struct selector_requirement *requirements; /* matchLabels first; all must hold */
	size_t count;
};

struct node_selector_term {
	struct label_selector expressions;
	bool has_fields;
};

struct node_selector {
	const struct node_selector_term *terms;
	size_t count;
};

/* NULL: there is none of this key. Borrowed. */
const char *label_value(const struct labels *labels, const char *key);
/* Two of 64 bits for each label and its value: what lacks bits that a selector requires does not
 * match it; what has them may. */
uint64_t labels_bits(const struct labels *labels);
uint64_t label_selector_bits(const struct label_selector *selector);
bool label_selector_matches(const struct label_selector *selector, const struct labels *labels);
bool node_selector_matches(const struct node_selector *selector, const struct labels *node_labels);
