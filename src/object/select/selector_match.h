/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector_match - which objects of a kind a request means: labelSelector and fieldSelector
 *
 * Labels: "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b,c)", "a", "!a", "a>1", "a<1", joined by
 * commas; all must hold. Fields: "metadata.name=x", "status.phase!=Running", only those that
 * Kubernetes knows for the kind; an unknown one is refused, never passed over.
 */
#pragma once

#include "object/kind.h"

struct selector_match;

enum {
	SELECTOR_MATCH_VALUES_MAX = 256,     /* of one "in" or "notin" */
	SELECTOR_MATCH_WORD_BYTES_MAX = 512, /* of a field's path or value */
};

/**
 * selector_match_parse - read both selectors
 * @labels, @fields: as in the query; NULL or "": all
 * @ret:             NULL when all objects are meant; else for selector_match_free()
 *
 * Return: 0; -EINVAL with what is wrong; -ENOMEM.
 */
int selector_match_parse(const struct kind_row *row, const char *labels, const char *fields,
			 struct selector_match **ret, struct failure *reterr);
/* Accepts NULL. Return: NULL. */
struct selector_match *selector_match_free(struct selector_match *selector_match);

/* A selection that is NULL matches every object. Without memory nothing matches. */
bool selector_match_matches(const struct selector_match *selector_match,
			    const struct object *object);
/* The same of an object that is shown with another status.phase than it has. @phase: NULL: it is
 * not.
 */
bool selector_match_shown(const struct selector_match *selector_match, const struct object *object,
			  const char *phase);
/* label_selector_bits() of the labels; 0: none is required. Accepts NULL. */
uint64_t selector_match_bits(const struct selector_match *selector_match);
/* Is the field among what is selected by? */
bool selector_match_has_field(const struct selector_match *selector_match, const char *path);
